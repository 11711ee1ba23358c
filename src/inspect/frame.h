// What the files of this room share: the bodies as one mesh, one frame of them, a tree of boxes.
#ifndef WEFT_FRAME_H
#define WEFT_FRAME_H

#include "inspect/predicates.h"
#include "weft/inspect.h"

// ---- what stays from frame to frame. Vertices and triangles of all bodies are counted through.
typedef struct inspect_model
{
    int body_count;
    int* first_vertex;       // [body_count + 1]
    int* first_triangle;     // [body_count + 1]
    int* first_segment;      // [body_count] its segments follow its triangles, as triangles with a corner twice
    unsigned char* obstacle; // [body_count]
    unsigned char* has_rest; // [body_count]
    double rest_scale;       // power of two that brings rest shapes near 1
    int vertex_count, triangle_count;
    int* triangles; // [3 * triangle_count]
    int* body_of;   // [triangle_count]
    vec3* rest;     // [vertex_count]
    int* first_use; // [vertex_count] the first corner (place in triangles) that is it; -1: none

    // Slot 3 t + k is the side of triangle t opposite to its corner k.
    int* mate;             // [3 * triangle_count] the other slot on the same edge; -1 unless it has exactly two
    int piece_count;       // connected over common vertices
    int* piece_of;         // [triangle_count]
    int* piece_start;      // [piece_count + 1]
    int* piece_triangles;  // [triangle_count]
    unsigned char* closed; // [piece_count] every edge has two triangles that run through it in opposite directions
} inspect_model;

weft_status model_build(const weft_inspect_body* bodies, int body_count, inspect_model* out, weft_error* error);
void model_finish(inspect_model* model); // zeroed or half-built is fine

static inline bool triangle_is_segment(const inspect_model* m, int t)
{
    return t >= m->first_segment[m->body_of[t]];
}

static inline bool triangle_is_obstacle(const inspect_model* m, int t)
{
    return m->obstacle[m->body_of[t]];
}

// ---- boxes
typedef struct box
{
    vec3 min, max;
} box;

static inline box box_empty(void)
{
    return (box){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
}

// Faster than fmin and fmax, which are calls; a NaN on the left is taken over, one on the right is not.
static inline double smaller(double a, double b)
{
    return b < a ? b : a;
}

static inline double larger(double a, double b)
{
    return b > a ? b : a;
}

static inline box box_join(const box* a, const box* b)
{
    return (box){{smaller(a->min.x, b->min.x), smaller(a->min.y, b->min.y), smaller(a->min.z, b->min.z)},
                 {larger(a->max.x, b->max.x), larger(a->max.y, b->max.y), larger(a->max.z, b->max.z)}};
}

static inline box box_with(box a, vec3 p)
{
    box point = {p, p};
    return box_join(&a, &point);
}

static inline bool box_overlap(const box* a, const box* b)
{
    return a->min.x <= b->max.x && b->min.x <= a->max.x && a->min.y <= b->max.y && b->min.y <= a->max.y &&
           a->min.z <= b->max.z && b->min.z <= a->max.z;
}

static inline bool box_holds(const box* a, vec3 p)
{
    return a->min.x <= p.x && p.x <= a->max.x && a->min.y <= p.y && p.y <= a->max.y && a->min.z <= p.z &&
           p.z <= a->max.z;
}

// ---- a tree over the triangles that take part: a balanced one over a Morton curve
enum
{
    HULL_LEAF = 4,  // triangles in a leaf, at most
    HULL_DEPTH = 64 // nodes that a walk has on its stack, at most
};

typedef struct hull_tree
{
    int count;      // triangles in it
    int* item;      // [count] in the order of the curve
    int leaf_count; // a power of two
    box* node;      // [2 * leaf_count] 1 is the root, 2 k and 2 k + 1 are below k, leaf l is leaf_count + l
    uint64_t* code; // [2 * capacity] scratch
    int* scratch;   // [capacity]
} hull_tree;

weft_status hull_tree_create(int capacity, hull_tree* out);
void hull_tree_finish(hull_tree* tree);
// hull is indexed by triangle; those with left_out set are not in the tree.
void hull_tree_build(hull_tree* tree, const box* hull, const unsigned char* left_out, int count, workers* pool);

static inline int hull_tree_leaf_begin(const hull_tree* tree, int leaf)
{
    return (int)((int64_t)leaf * tree->count / tree->leaf_count);
}

// ---- one frame
typedef struct inspect_frame
{
    const inspect_model* model;
    workers* pool;
    vec3* x;                 // [vertex_count]
    unsigned char* left_out; // [triangle_count] has a coordinate that is not finite
    unsigned char* rank;     // [triangle_count] points that span it: 3, or fewer without area
    box* hull;               // [triangle_count]
    hull_tree tree;
    double scale;       // power of two by which products of coordinates neither overflow nor vanish
    int64_t tests_left; // pairs that may still be looked at
} inspect_frame;

static inline flat frame_flat(const inspect_frame* f, int t)
{
    const int* c = f->model->triangles + 3 * (size_t)t;
    vec3 a = f->x[c[0]], b = f->x[c[1]], d = f->x[c[2]];
    return f->rank[t] == 3 ? (flat){{a, b, d}, 3} : flat_make(a, b, d);
}

static inline bool triangles_share_vertex(const inspect_model* m, int s, int t)
{
    const int *a = m->triangles + 3 * (size_t)s, *b = m->triangles + 3 * (size_t)t;
    for (int k = 0; k < 3; k++)
    {
        if (a[k] == b[0] || a[k] == b[1] || a[k] == b[2])
        {
            return true;
        }
    }
    return false;
}

// ---- crossings
typedef struct hit
{
    int a, b; // triangles
    weft_crossing_kind kind;
} hit;

enum
{
    CHUNK = 64,        // triangles
    WAVE_CHUNKS = 256, // chunks between two looks at the limits
    CHUNK_HITS = 1024, // a chunk that finds more, or looks at more pairs, is done again on its own
    CHUNK_TESTS = 1 << 18
};

typedef struct crossing_list
{
    int64_t count, limit;
    int64_t nested;
    bool truncated;
    bool apart;  // some pair without a common vertex crosses: the smallest distance is zero
    hit* listed; // [listed_capacity]
    int listed_count, listed_limit, listed_capacity;
    uint64_t* pair; // [pair_capacity] hash table of pairs of pieces, one of them closed, that cross; 0: free
    int pair_count, pair_capacity;
    hit* buffer; // [chunks of a wave * CHUNK_HITS]
} crossing_list;

weft_status crossings_find(inspect_frame* f, crossing_list* list);
weft_status crossings_add(const inspect_frame* f, crossing_list* list, hit h);
bool crossings_have_pieces(const crossing_list* list, int piece_a, int piece_b);
// Pieces that lie inside others, added to the list.
weft_status nested_find(inspect_frame* f, crossing_list* list);

// ---- measures
double min_distance_find(inspect_frame* f, bool* truncated); // infinity: there are no pairs
double max_strain_find(const inspect_frame* f);              // NaN: there are no triangles

#endif
