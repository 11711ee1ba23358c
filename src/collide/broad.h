// The broad phase and proximity, seen from inside: trees of boxes, rules of culling, the search for pairs, the
// collider.
#ifndef WEFT_BROAD_H
#define WEFT_BROAD_H

#include <stdatomic.h>

#include "collide/smooth.h"
#include "core/core.h"
#include "math/vec.h"
#include "mesh/mesh.h"
#include "weft/collide.h"

// ---- culling by body
enum
{
    BODY_MIXED = -1,  // of a node: features of several bodies
    BODY_PASSIVE = -2 // likewise, all of them obstacles
};

// The exclusions of a scene. `body` is NULL when there is nothing to exclude; then no rule is asked.
typedef struct cull_rules
{
    int* body;          // [vertex_count]
    uint8_t* passive;   // [body_count]
    uint64_t* excluded; // [excluded_count] lower body << 32 | higher, sorted
    int excluded_count;
    int* vertex_start; // [vertex_count + 1] into vertex_body, or NULL
    int* vertex_body;  // bodies that a vertex ignores
    int* seam;         // [vertex_count] vertices of one number count as one, negative: by itself; NULL: all are
} cull_rules;

// Checks and copies what the def has; error names the entry.
weft_status cull_rules_init(cull_rules* rules, const weft_collider_def* def, weft_error* error);
void cull_rules_finish(cull_rules* rules);
// Whether features of these bodies (or BODY_MIXED, BODY_PASSIVE) may be a pair.
bool cull_bodies_wanted(const cull_rules* rules, int a, int b);
// Whether these two features may be a pair; the vertices of each are of one body.
bool cull_features_wanted(const cull_rules* rules, const int* a, int a_count, const int* b, int b_count);

// ---- trees of boxes
enum
{
    BVH_WIDTH = 8,
    BVH_LEVELS = 12, // 8^12 > 2^31
    BVH_GRAIN = 512  // nodes a chunk of a refit
};

// Upper bounds of minus the low corner and of the high corner, eight boxes side by side: see box8.h.
typedef struct box8
{
    float side[6][8];
} __attribute__((aligned(64))) box8;

// The swept box of a vertex, or its place at the start or the end, in the same form; the last two are zero, so that it
// is one vector.
typedef struct vertex_box
{
    float side[8];
} __attribute__((aligned(32))) vertex_box;

// Features of one kind, sorted along a Hilbert curve, obstacles last, in groups of eight. Node k of level 0 is the
// k-th group; node k of a higher level holds the boxes of the nodes 8 k to 8 k + 7 below it. The last level is one
// node.
typedef struct bvh
{
    int arity, count;  // vertices a feature; features
    const int* corner; // [arity * count] vertices, as the collider has them
    int* chosen;       // [chosen_count] features that the next build takes, ascending; NULL: all
    int chosen_count;
    int held;        // places in the tree: features, and those that are free in the middle (bvh_mend)
    int level_count; // 0 when there is no feature
    int level_start[BVH_LEVELS], level_size[BVH_LEVELS];
    int node_count, node_capacity;
    box8* node;               // [node_capacity] swept boxes, or those of the start
    box8* node_end;           // [node_capacity] those of the end, or NULL
    int* body;                // [8 * node_capacity] of each box; NULL without rules
    int* id;                  // [8 * groups] features; -1 where a place is free
    int* vertex;              // [8 * arity * groups] their vertices: group by group, corner by corner
    int* last_id;             // [groups] the greatest id
    int moving_groups;        // the groups behind these have obstacles only
    int asking_groups;        // likewise, if all that moves has smaller ids: one set against itself, they find nothing
    const smooth_map* smooth; // by which flat bodies are sorted at rest, or NULL
    smooth_rect* rect;        // [node_capacity] with it: where their features are at rest
} bvh;

// What a build needs for its while; it grows.
typedef struct build_scratch
{
    vec3* middle;             // [capacity]
    int *place_of, *at_place; // [capacity]
    order_scratch order;
    int capacity;
} build_scratch;

weft_status bvh_init(bvh* tree, const int* corner, int arity, int count, const cull_rules* rules);
void bvh_finish(bvh* tree);
// Sorts the chosen features anew by the middles of their boxes. On NO_MEMORY the old order stays.
weft_status bvh_build(bvh* tree, const vertex_box* boxes, const cull_rules* rules, build_scratch* scratch);
// The parts of a build. So many places, eight a group; what the kernels read beside the boxes, of a group and then of
// all nodes above.
void bvh_set_levels(bvh* tree, int places);
void bvh_fill_group(bvh* tree, const cull_rules* rules, int group);
void bvh_fill_inner(bvh* tree, const cull_rules* rules);

// What a tear does to the features of a tree (bvh_mend.c).
typedef struct feature_change
{
    int before;       // features that there were
    const int* now;   // [before] their numbers from now on, -1: gone; NULL: as they were
    const int* added; // [2 * added_count] of features that are new: the number, that before of one that is beside it
    int added_count;
    const int* changed; // [changed_count] features that have other vertices
    int changed_count;
    int shift, shift_from; // what vertices from shift_from on are now higher by
} feature_change;

// Room for the features that `corner` has now; the next build takes them.
weft_status bvh_extend(bvh* tree, const int* corner, int count);
// Likewise, and the order stays as it is, with what is new where it belongs; groups may then have free places.
weft_status bvh_mend(bvh* tree, const cull_rules* rules, const int* corner, int count, const feature_change* change);
void build_scratch_finish(build_scratch* s); // zeroed is fine

// ---- pages: where a search leaves what it finds before it is sorted
enum
{
    PAGE_SIZE = 1024,
    RANK_MAX = 128 // seconds of one query that are sorted by ranks; more are merged
};

typedef struct page_pool
{
    int* items; // [page_count * PAGE_SIZE]
    int* used;  // [page_count] items of the page
    int* next;  // [page_count] page that follows, -1
    int page_count;
    atomic_int claimed; // pages handed out
    atomic_llong tests; // of eight boxes, so far
    long long test_limit;
    atomic_bool stop; // no page was left, or the tests are too many
} page_pool;

// What one chunk of queries found. Chunks are nodes of the query tree at one level.
typedef struct walk_chunk
{
    int first_page; // -1: none
    bool walked;    // to some extent
    bool crowded;   // its lists of nodes did not fit: it is walked again with more room
} walk_chunk;

// One search: every feature of `queries` against those of `targets`.
typedef struct broad_walk
{
    const bvh *queries, *targets;
    bool ascending; // one set against itself: only targets of a greater id
    bool apart;     // boxes of start and end apart
    double margin;
    float margin_up, margin_down; // the margin, rounded away from zero and towards it
    const vec3 *start, *end;      // [vertex_count]
    const cull_rules* rules;      // NULL: none
    const smooth_map* smooth;     // NULL: nothing is known to be smooth
    int level;                    // of the query nodes that are chunks
    page_pool* pool;
    int* found; // [queries->count] number of pairs of each query
} broad_walk;

// The definition of a candidate, in double: boxes of features, and whether two are near. With swept boxes: at most the
// margin apart along every axis. With those of the start and the end apart: as well, unless along one axis and on one
// side both are farther apart; bounds of linear motion are convex, so that they are then in between too. Features that
// move along with each other are told apart by that.
typedef struct double_box
{
    double low[3], high[3];
} double_box;

double_box feature_box(const vec3* start, const vec3* end, const int* vertex, int count);
bool boxes_near(const double_box* a, const double_box* b, double margin);
bool boxes_near_apart(const double_box a[2], const double_box b[2], double margin); // start, end

// ---- kernels, compiled once for each CPU kind; all give the same bits
typedef struct broad_kernels
{
    // Copies positions and bounds the vertices [begin, end). Returns the first that is not finite, or -1.
    int (*vertex_boxes)(const vec3* from, const vec3* to, vec3 origin, vertex_box* out, int begin, int end);
    // Boxes of the groups [begin, end) of level 0, and of nodes of a level above.
    void (*leaf_boxes)(const bvh* tree, const vertex_box* boxes, box8* node, int begin, int end);
    void (*inner_boxes)(const bvh* tree, box8* node, int level, int begin, int end);
    // Sum over the nodes [begin, end) of a level of the half perimeters of their boxes.
    double (*half_perimeters)(const bvh* tree, int level, int begin, int end);
    // Walks one chunk. list is [list_size].
    void (*walk)(const broad_walk* w, int node, walk_chunk* chunk, int* list, int list_size);
    // Sorts count <= RANK_MAX different seconds into pairs of one first. Up to RANK_MAX ints at second may be read.
    void (*rank)(const int* second, int count, int first, weft_pair* out);
} broad_kernels;

const broad_kernels* broad_kernels_for(cpu_kind cpu);

// ---- candidates, sifted
typedef struct sift_job
{
    weft_pair_kind kind;
    const vec3 *start, *end; // [vertex_count]
    const int* corner;       // of edges, or of faces
    const int* first_corner; // of the first features: of edges, or of vertices
    double least;            // m
    // Of `near`: edges and corners of vertices from `obstacles` on count from `border_least` on.
    double border_least;
    int obstacles;
    const uint8_t* awake; // [vertex_count] of `awake`
} sift_job;

// Packs those of count pairs at out that are in doubt; returns how many.
typedef int sift_fn(const sift_job* job, const weft_pair* pair, int count, weft_pair* out);

typedef struct sift_kernels
{
    sift_fn* apart;     // left out: what one direction keeps apart by more than `least`
    sift_fn* near;      // what is no row
    sift_fn* collision; // what does not collide
} sift_kernels;

const sift_kernels* sift_kernels_for(cpu_kind cpu);

// Refits all levels of `node`, one of the tree's, from the boxes of vertices; with still_obstacles the groups of
// obstacles keep theirs.
void bvh_refit(const bvh* tree, const broad_kernels* kernels, workers* pool, const vertex_box* boxes, box8* node,
               bool still_obstacles);
// Sums of half perimeters: of all boxes of nodes, and of features.
void bvh_measure(const bvh* tree, const broad_kernels* kernels, workers* pool, double* nodes, double* features);
// The box of everything; false when there is nothing.
bool bvh_bounds(const bvh* tree, float side[6]);

// ---- sorted pairs
typedef struct pair_list
{
    weft_pair* pair; // [capacity]
    int count, capacity;
} pair_list;

// Scratch of a search; grows and stays.
typedef struct pair_finder
{
    page_pool pages;
    int* found;  // [found_capacity]
    int* offset; // [found_capacity + 1] where the pairs of a query start
    int found_capacity;
    walk_chunk* chunks;
    int chunk_capacity;
    int* list; // scratch of chunks that are crowded
    int list_capacity;
} pair_finder;

typedef struct pair_search
{
    const broad_kernels* kernels;
    workers* pool;
    broad_walk walk;
    int pair_limit;
} pair_search;

// The two halves of a search, apart for benchmarks: find the pairs; put them in order.
weft_status pairs_walk(pair_finder* finder, pair_search* search, weft_error* error);
weft_status pairs_sort(pair_finder* finder, const pair_search* search, pair_list* out, weft_error* error);
void pair_finder_finish(pair_finder* finder);
// Grows an array whose contents need not stay, with a quarter to spare.
bool scratch_grow(void** array, int* capacity, int needed, size_t item_size);

// ---- closest points
typedef struct closest
{
    double weight[4]; // as in weft_near
    vec3 normal;
    double distance;
} closest;

closest closest_vertex_face(const vec3 x[4]);
closest closest_edge_edge(const vec3 x[4]);

// ---- edges: of triangles and strands, each once, sorted by (lower, higher) vertex
weft_status edges_build(const weft_collider_def* def, int** out, int* out_count);

// ---- the collider
// What a narrow test kept: weft_near or weft_impact.
typedef struct narrow_list
{
    void* item;
    int count, capacity;
} narrow_list;

typedef struct around_list
{
    int* feature; // [count]
    int count, capacity;
    long long tests; // of boxes, so far
} around_list;

// Features at each vertex v: feature[start[v] .. start[v + 1]).
typedef struct feature_star
{
    int *start, *feature;
} feature_star;

// What adds candidates of few vertices: extend.c.
typedef struct extender
{
    feature_star star[2]; // edges, faces
    pair_list more[2];    // vertex and face, edge and edge
    around_list around;
    uint8_t* moved; // [vertex_count] is one of these; all zero between
} extender;

typedef enum feature_kind
{
    FEATURE_VERTEX,
    FEATURE_EDGE,
    FEATURE_FACE,
    FEATURE_KINDS
} feature_kind;

// Where trees hold only those obstacles that are near what moves: window.c.
typedef struct near_window
{
    bool used;         // there are more obstacles than that
    bool valid;        // what is chosen is what is near
    double_box inside; // what moves is to stay in it, with the margin
    double_box moving; // around what moves, at the last update
    double pad;        // m, along any axis: obstacles that have moved by less are where they were
    vec3* chosen_at;   // [vertex_count] of obstacles, then
    uint8_t* marked;   // [vertex_count] is one of a chosen feature
    int* vertex;       // [vertex_count] those that are
    int vertex_count;
} near_window;

struct weft_collider
{
    int vertex_count, pair_limit;
    workers* pool;
    bool pool_is_own;
    cpu_kind cpu;
    const broad_kernels* kernels;
    const sift_kernels* sift;
    cull_rules rules;
    int* corner[FEATURE_KINDS]; // vertices of each feature
    bvh tree[FEATURE_KINDS];

    bool ready; // an update has succeeded
    double margin;
    vec3 origin;       // the boxes are relative to it; set by a build
    vec3 *start, *end; // [vertex_count + 1] of the last update
    vertex_box* boxes; // [vertex_count] swept, or of the start
    vertex_box* ends;  // [vertex_count] of the end, or NULL
    bool apart;        // boxes of start and end apart, else swept ones
    smooth_map smooth;
    near_window window;
    build_scratch scratch; // kept with a window, which asks for builds as cloth goes on
    double built_ratio;    // of the sums of half perimeters, right after a build; 0: there was none
    int build_count;       // since the last collider_forget

    pair_finder finder;
    pair_list vertex_face, edge_edge; // what weft_collider_pairs handed out
    pair_list candidates[2];          // of the last search: vertex and face, edge and edge
    pair_list sifted[2];              // of these, what the last sift has left
    pair_list doubted[2];             // of one or the other, what is in doubt for a narrow test
    int* kept;                        // [kept_capacity] of each chunk of candidates
    int kept_capacity;
    narrow_list near, impacts;
    extender extender;
};

// With the caller's threads instead of its own.
weft_status collider_create(const weft_collider_def* def, workers* pool, weft_collider** out, weft_error* error);
// From the next update on: boxes of start and end apart, or swept ones as in a new collider.
weft_status collider_split_boxes(weft_collider* c, bool apart);
// Flat bodies that are smooth are not searched against themselves from now on: where they are at rest, [vertex_count]
// first vertices of the collider. Only for searches after collider_smooth_measure.
weft_status collider_learn_rest(weft_collider* c, const vec3* rest, const int* body, int vertex_count, int body_count);
weft_status smooth_attach(weft_collider* c, int kind); // a tree to the map
// A corner of a face that goes to a torn off vertex.
typedef struct torn_corner
{
    int face, corner, to;
} torn_corner;

// Vertices [first, first + count) are new, each torn off from[k] before them; what there was from `first` on moves up.
typedef struct torn_vertices
{
    int first, count;
    const int* from;           // [count]
    const torn_corner* corner; // [corner_count]
    int corner_count;
} torn_vertices;

// Mends a collider that has learned what is at rest. NOT_FOUND: it is not of the mesh that has torn, or nothing that can
// be mended; then, and after NO_MEMORY, it is only to be destroyed.
weft_status collider_tear(weft_collider* c, const torn_vertices* torn);
// After an update: where bodies are smooth in the step, so that nothing is `near` or closer than neighbours in one body
// may be (find.c, rest_limit). Nothing is where positions are rounded too roughly.
void collider_smooth_measure(weft_collider* c, double near, double rounding);
// Whether what was smooth then cannot meet itself on the way to other ends, either.
bool collider_smooth_holds(weft_collider* c, const vec3* end, double rounding);
// A search of one kind with this margin in the boxes of the last update.
pair_search collider_search(const weft_collider* c, weft_pair_kind kind, double margin);
weft_status collider_find(weft_collider* c, weft_pair_kind kind, double margin, pair_list* out, weft_error* error);
// The four vertices of a pair.
void collider_vertices(const weft_collider* c, weft_pair_kind kind, weft_pair pair, int vertex[4]);
weft_status collider_not_ready(weft_error* error);
weft_status collider_no_memory(weft_status status, weft_error* error); // fills the error of NO_MEMORY

// Whether a candidate is to be kept; `out` has room for its record, which counts where it is.
typedef bool narrow_test_fn(const weft_collider* c, weft_pair_kind kind, weft_pair pair, void* context, void* out);

typedef enum narrow_among
{
    AMONG_ALL,
    AMONG_SIFTED,
    AMONG_DOUBTED
} narrow_among;

pair_list* collider_lists(weft_collider* c, narrow_among among); // of both kinds

// Keeps those candidates of both kinds at this margin that pass the test, in order.
typedef struct narrow_search
{
    double margin;
    narrow_test_fn* test;
    void* context;
    size_t item_size;
    narrow_among among;
} narrow_search;

weft_status collider_narrow(weft_collider* c, const narrow_search* search, narrow_list* out, weft_error* error);
// The two halves apart, for several tests over the same candidates: they stay until the next search. The second does
// not look at the search's margin.
weft_status collider_candidates(weft_collider* c, double margin, weft_error* error);
weft_status collider_test(weft_collider* c, const narrow_search* search, narrow_list* out);
// After both: `count` vertices end elsewhere, at end[vertex], and what is then around their features is added to the
// candidates. Not done where boxes are apart, or the trees do not hold all that is near: update and search again.
weft_status collider_extend(weft_collider* c, const int* vertex, int count, const vec3* end, bool* done);
weft_status extender_build(weft_collider* c);
weft_status extender_renew(weft_collider* c); // after other edges and faces
void extender_finish(extender* x); // zeroed is fine
void collider_forget(weft_collider* c); // trees are made anew by the next update, as in a new collider
// Trees follow boxes of vertices that have changed; false: they do not hold all that is near.
bool collider_refit(weft_collider* c);
// Between the two: puts candidates aside that one direction keeps apart by more than `least` from start to end.
weft_status collider_sift(weft_collider* c, double least);
// The sieves below leave among the doubted what they do not refuse, of all, of what that left, or of what is doubted.
// What may be a row as find.c has it: closer than the reach, at the start or at the end.
typedef struct near_reach
{
    double least;  // m, larger by a thousandth than any reach that counts
    double border; // likewise where an edge or corner of an obstacle meets something
    int obstacles; // vertices from here on are theirs
} near_reach;

weft_status collider_doubt_near(weft_collider* c, narrow_among among, const vec3* start, const vec3* end,
                                const near_reach* reach);
// What may collide on its way, or on that to its rounding, which moves nothing by half of `least`.
weft_status collider_doubt_collision(weft_collider* c, narrow_among among, const vec3* start, const vec3* end,
                                     double least);
// What has a vertex that is awake.
weft_status collider_awake(weft_collider* c, narrow_among among, const uint8_t* awake);

// ---- the window
weft_status window_init(weft_collider* c);
void window_finish(near_window* w);
void window_follow(weft_collider* c); // sees where what moves is
bool window_covers(const near_window* w, const double_box* box, double margin);
// Whether one of the obstacles' vertices in [begin, end) has gone too far.
bool window_left(const weft_collider* c, int begin, int end, const vec3* from, const vec3* to);
void window_choose(weft_collider* c, double margin); // features for the next build of the trees

// ---- what is around one box
// The features whose boxes of the last update (those of the end, where they are apart) are at most `margin` from the
// box along every axis, and some that are little farther; in no order.
weft_status collider_around(const weft_collider* c, feature_kind kind, const double_box* box, double margin,
                            around_list* out);

// ---- winding numbers
typedef struct winding_node
{
    vec3 middle, area; // m, m^2: the sum of the areas' vectors
    double size;       // m^2, the sum of the areas
    mat3 bend;         // m^3, T
    double spread;     // m^4, the integral of the square of the distance from the middle
    double radius;     // m: all triangles are so close to the middle
} winding_node;

// Triangles in groups of eight along a curve, and so on up, as in a bvh.
typedef struct winding_tree
{
    const int* corner; // [3 * count] as the caller has them
    const vec3* x;     // positions of the last update
    int count, level_count;
    int level_start[BVH_LEVELS], level_size[BVH_LEVELS];
    int* order; // [count]
    winding_node* node;
    long long tests; // of nodes and triangles, so far
} winding_tree;

weft_status winding_create(winding_tree* t, const int* corner, int count, const vec3* x); // corner is kept
void winding_finish(winding_tree* t);                                                     // zeroed is fine
void winding_update(winding_tree* t, const vec3* x);                                      // x is kept
// Whether the size of the winding number at p is above the limit.
bool winding_exceeds(winding_tree* t, vec3 p, double limit);

#endif
