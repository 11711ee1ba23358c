// The public collider: takes triangles, strands and bodies in, follows their positions, and hands out pairs.
//
// Trees are rebuilt when they have degraded: when the sum of half perimeters of their nodes, divided by that of their
// features, has grown by half since the build, or when the scene has moved so far from the origin of the boxes that
// floats lose it. Pairs come out sorted and are decided in double, so no result depends on when that happens.
#include <string.h>
#include <unistd.h>

#include "collide/broad.h"

enum
{
    COLLIDER_COOKIE = 0x57434f4c, // "WCOL"
    FEATURES_MAX = 200000000,     // triangles, strand edges or vertices, so that all edges are an int
    VERTEX_GRAIN = 4096
};

#define DEGRADED 1.5 // growth of the ratio of half perimeters that asks for a build
#define FAR_OUT 16.0 // distance of the scene from its origin, in sizes of the scene, that does

weft_collider_def weft_collider_def_default(void)
{
    return (weft_collider_def){
        .body_count = 1, .pair_limit = 100000000, .worker_count = 1, .kernels = "auto", .cookie = COLLIDER_COOKIE};
}

// ---- create

static weft_status check_counts(const weft_collider_def* def, weft_error* error)
{
    const char* wrong = NULL;
    bool counts = def->vertex_count >= 0 && def->vertex_count <= FEATURES_MAX && def->triangle_count >= 0 &&
                  def->triangle_count <= FEATURES_MAX && def->edge_count >= 0 && def->edge_count <= FEATURES_MAX;
    wrong = !counts ? "counts of vertices, triangles and edges lie between 0 and 200 million" : wrong;
    wrong = def->body_count < 1 ? "body_count is at least 1" : wrong;
    wrong = def->excluded_body_count < 0 || def->excluded_vertex_count < 0 ? "counts are not negative" : wrong;
    wrong = def->pair_limit < 1 || def->pair_limit > 1000000000 ? "pair_limit lies between 1 and 1000 million" : wrong;
    return wrong ? error_set(error, WEFT_BAD_INPUT, NULL, 0, "%s", wrong) : WEFT_OK;
}

// Vertices exist and none is there twice in a feature.
static weft_status check_features(const weft_collider_def* def, const int* corner, int arity, int count,
                                  const char* what, weft_error* error)
{
    for (int k = 0; k < arity * count; k++)
    {
        int v = corner[k], last = corner[k % arity ? k - 1 : k + arity - 1];
        if (v < 0 || v >= def->vertex_count || v == last)
        {
            return error_set(error, WEFT_BAD_INPUT, NULL, 0, "%s %d has vertex %d %s", what, k / arity, v,
                             v == last ? "twice: leave it out"
                                       : "which is not there: vertices run from 0 to vertex_count - 1");
        }
    }
    return WEFT_OK;
}

static int core_count(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > 256 ? 256 : (int)n;
}

static weft_status copy_features(weft_collider* c, const weft_collider_def* def, int* edge_count)
{
    TRY(edges_build(def, &c->corner[FEATURE_EDGE], edge_count));
    c->corner[FEATURE_FACE] = MEM_NEW(3 * (size_t)def->triangle_count, int);
    c->corner[FEATURE_VERTEX] = MEM_NEW(def->vertex_count, int);
    if (!c->corner[FEATURE_FACE] || !c->corner[FEATURE_VERTEX])
    {
        return WEFT_NO_MEMORY;
    }
    for (int k = 0; k < 3 * def->triangle_count; k++)
    {
        c->corner[FEATURE_FACE][k] = def->triangles[k];
    }
    for (int v = 0; v < def->vertex_count; v++)
    {
        c->corner[FEATURE_VERTEX][v] = v;
    }
    return WEFT_OK;
}

static weft_status collider_init(weft_collider* c, const weft_collider_def* def, weft_error* error)
{
    TRY(check_counts(def, error));
    TRY(check_features(def, def->triangles, 3, def->triangle_count, "triangle", error));
    TRY(check_features(def, def->edges, 2, def->edge_count, "edge", error));
    if (!cpu_kind_parse(def->kernels, &c->cpu))
    {
        return error_set(error, WEFT_UNSUPPORTED, NULL, 0,
                         "kernels `%s` are unknown or not for this CPU, which runs up to `%s`; use \"auto\"",
                         def->kernels, cpu_kind_name(cpu_best()));
    }
    c->kernels = broad_kernels_for(c->cpu);
    c->sift = sift_kernels_for(c->cpu);
    c->vertex_count = def->vertex_count;
    c->pair_limit = def->pair_limit;
    TRY(cull_rules_init(&c->rules, def, error));
    int count[FEATURE_KINDS] = {def->vertex_count, 0, def->triangle_count};
    TRY(copy_features(c, def, &count[FEATURE_EDGE]));
    for (int kind = 0; kind < FEATURE_KINDS; kind++)
    {
        TRY(bvh_init(&c->tree[kind], c->corner[kind], kind + 1, count[kind], &c->rules));
    }
    TRY(window_init(c));
    c->start = MEM_NEW(def->vertex_count + 1, vec3);
    c->end = MEM_NEW(def->vertex_count + 1, vec3);
    c->boxes = MEM_NEW(def->vertex_count, vertex_box);
    if (!c->start || !c->end || !c->boxes)
    {
        return WEFT_NO_MEMORY;
    }
    if (c->pool)
    {
        return WEFT_OK;
    }
    c->pool_is_own = true;
    return workers_create(def->worker_count > 0 ? def->worker_count : core_count(), &def->tasks, &c->pool);
}

weft_status collider_no_memory(weft_status status, weft_error* error)
{
    return status == WEFT_NO_MEMORY ? error_set(error, status, NULL, 0, "%s", weft_status_text(status)) : status;
}

weft_status weft_collider_create(const weft_collider_def* def, weft_collider** out, weft_error* error)
{
    return collider_create(def, NULL, out, error);
}

weft_status collider_create(const weft_collider_def* def, workers* pool, weft_collider** out, weft_error* error)
{
    WEFT_ASSERT(def && out && def->cookie == COLLIDER_COOKIE);
    WEFT_ASSERT(def->triangles || def->triangle_count <= 0);
    WEFT_ASSERT(def->edges || def->edge_count <= 0);
    WEFT_ASSERT(def->excluded_bodies || def->excluded_body_count <= 0);
    WEFT_ASSERT(def->excluded_vertices || def->excluded_vertex_count <= 0);
    *out = NULL;
    weft_collider* c = MEM_NEW(1, weft_collider);
    if (c)
    {
        c->pool = pool;
    }
    weft_status status = c ? collider_init(c, def, error) : WEFT_NO_MEMORY;
    if (status != WEFT_OK)
    {
        weft_collider_destroy(c);
        return collider_no_memory(status, error);
    }
    *out = c;
    return WEFT_OK;
}

void weft_collider_destroy(weft_collider* c)
{
    if (!c)
    {
        return;
    }
    for (int kind = 0; kind < FEATURE_KINDS; kind++)
    {
        bvh_finish(&c->tree[kind]);
        mem_free(c->corner[kind]);
    }
    cull_rules_finish(&c->rules);
    window_finish(&c->window);
    smooth_finish(&c->smooth);
    extender_finish(&c->extender);
    build_scratch_finish(&c->scratch);
    pair_finder_finish(&c->finder);
    mem_free(c->start);
    mem_free(c->end);
    mem_free(c->boxes);
    mem_free(c->ends);
    mem_free(c->vertex_face.pair);
    mem_free(c->edge_edge.pair);
    mem_free(c->candidates[0].pair);
    mem_free(c->candidates[1].pair);
    mem_free(c->sifted[0].pair);
    mem_free(c->sifted[1].pair);
    mem_free(c->doubted[0].pair);
    mem_free(c->doubted[1].pair);
    mem_free(c->kept);
    mem_free(c->near.item);
    mem_free(c->impacts.item);
    workers_destroy(c->pool_is_own ? c->pool : NULL);
    mem_free(c);
}

const int* weft_collider_edges(const weft_collider* c, int* count)
{
    WEFT_ASSERT(c && count);
    *count = c->tree[FEATURE_EDGE].count;
    return c->corner[FEATURE_EDGE];
}

weft_status collider_split_boxes(weft_collider* c, bool apart)
{
    if (apart == c->apart)
    {
        return WEFT_OK;
    }
    c->ready = false;
    c->ends = c->ends ? c->ends : MEM_NEW(c->vertex_count, vertex_box);
    bool room = c->ends;
    for (int kind = 0; kind < FEATURE_KINDS; kind++)
    {
        bvh* tree = &c->tree[kind];
        tree->node_end = tree->node_end ? tree->node_end : MEM_NEW(tree->node_capacity, box8);
        room = room && tree->node_end;
    }
    c->apart = apart && room;
    return room ? WEFT_OK : WEFT_NO_MEMORY;
}

// ---- update

typedef struct update_context
{
    weft_collider* c;
    const vec3 *start, *end; // NULL: only the boxes
    atomic_int bad;          // the first vertex that is not finite
    atomic_bool moved;       // an obstacle did
    atomic_bool left;        // one did so by more than the window allows
} update_context;

static bool obstacle_moved(const update_context* u, int begin, int end)
{
    const cull_rules* rules = &u->c->rules;
    for (int v = begin; v < end && rules->body; v++)
    {
        if (rules->passive[rules->body[v]] && (memcmp(&u->start[v], &u->c->start[v], sizeof(vec3)) != 0 ||
                                               memcmp(&u->end[v], &u->c->end[v], sizeof(vec3)) != 0))
        {
            return true;
        }
    }
    return false;
}

// Boxes of the vertices [begin, end).
static void bound_vertices(update_context* u, int begin, int end)
{
    weft_collider* c = u->c;
    int bad = c->kernels->vertex_boxes(c->start, c->apart ? c->start : c->end, c->origin, c->boxes, begin, end);
    if (c->apart)
    {
        int other = c->kernels->vertex_boxes(c->end, c->end, c->origin, c->ends, begin, end);
        bad = bad < 0 || (other >= 0 && other < bad) ? other : bad;
    }
    int first = atomic_load(&u->bad);
    while (bad >= 0 && (first < 0 || bad < first) && !atomic_compare_exchange_weak(&u->bad, &first, bad))
    {
    }
}

static void update_chunk(void* context, int begin, int end)
{
    update_context* u = context;
    weft_collider* c = u->c;
    size_t size = (size_t)(end - begin) * sizeof(vec3);
    if (u->start)
    {
        if (obstacle_moved(u, begin, end))
        {
            atomic_store_explicit(&u->moved, true, memory_order_relaxed);
        }
        if (c->window.valid && window_left(c, begin, end, u->start, u->end))
        {
            atomic_store_explicit(&u->left, true, memory_order_relaxed);
        }
        memcpy(c->start + begin, u->start + begin, size);
        memcpy(c->end + begin, u->end + begin, size);
    }
    c->window.valid ? (void)0 : bound_vertices(u, begin, end);
}

// Of vertices that the trees hold.
static void bound_chunk(void* context, int begin, int end)
{
    update_context* u = context;
    const int* vertex = u->c->window.vertex;
    for (int k = begin, next; k < end; k = next)
    {
        next = k + 1;
        while (next < end && vertex[next] == vertex[k] + next - k)
        {
            next++;
        }
        bound_vertices(u, vertex[k], vertex[k] + next - k);
    }
}
static vec3 scene_middle(const weft_collider* c)
{
    vec3 low = c->start[0], high = low;
    for (int v = 0; v < c->vertex_count; v++)
    {
        vec3 a = c->start[v], b = c->end[v];
        low = v3(fmin(low.x, fmin(a.x, b.x)), fmin(low.y, fmin(a.y, b.y)), fmin(low.z, fmin(a.z, b.z)));
        high = v3(fmax(high.x, fmax(a.x, b.x)), fmax(high.y, fmax(a.y, b.y)), fmax(high.z, fmax(a.z, b.z)));
    }
    return v3_add(v3_scale(0.5, low), v3_scale(0.5, high));
}

static void refit_all(weft_collider* c, bool still_obstacles)
{
    for (int kind = 0; kind < FEATURE_KINDS; kind++)
    {
        bvh* tree = &c->tree[kind];
        bvh_refit(tree, c->kernels, c->pool, c->boxes, tree->node, still_obstacles);
        if (c->apart)
        {
            bvh_refit(tree, c->kernels, c->pool, c->ends, tree->node_end, still_obstacles);
        }
    }
}

// Half perimeters of nodes over those of features, faces and edges together; vertices may have none.
static double tree_ratio(const weft_collider* c)
{
    double nodes = 0.0, features = 0.0;
    for (int kind = FEATURE_EDGE; kind <= FEATURE_FACE; kind++)
    {
        double n, f;
        bvh_measure(&c->tree[kind], c->kernels, c->pool, &n, &f);
        nodes += n;
        features += f;
    }
    return features > 0.0 ? nodes / features : 0.0;
}

static bool scene_far_out(const weft_collider* c)
{
    float side[6];
    bool far = false;
    if (bvh_bounds(&c->tree[FEATURE_VERTEX], side))
    {
        double size = 0.0;
        for (int k = 0; k < 3; k++)
        {
            size = fmax(size, (double)side[k] + (double)side[k + 3]);
        }
        for (int k = 0; k < 3; k++)
        {
            far = far || fabs((double)side[k + 3] - (double)side[k]) > 2.0 * FAR_OUT * size;
        }
    }
    return far;
}

static weft_status not_finite(int vertex, weft_error* error)
{
    return error_set(error, WEFT_NOT_FINITE, NULL, 0, "the position of vertex %d is not finite", vertex);
}

static weft_status rebuild(weft_collider* c, double margin, weft_error* error)
{
    c->ready = c->window.valid = false;
    c->origin = scene_middle(c);
    update_context u = {.c = c, .bad = -1};
    parallel_for(c->pool, c->vertex_count, VERTEX_GRAIN, update_chunk, &u);
    TRY(u.bad >= 0 ? not_finite(u.bad, error) : WEFT_OK);
    c->window.used ? window_choose(c, margin) : (void)0;
    weft_status status = WEFT_OK;
    for (int kind = 0; kind < FEATURE_KINDS && status == WEFT_OK; kind++)
    {
        status = bvh_build(&c->tree[kind], c->boxes, &c->rules, &c->scratch);
    }
    c->window.used ? (void)0 : build_scratch_finish(&c->scratch);
    c->window.valid = c->window.used && status == WEFT_OK;
    TRY(status);
    refit_all(c, false);
    c->built_ratio = tree_ratio(c);
    c->build_count++;
    c->ready = true;
    return WEFT_OK;
}

// Whether the trees hold all that can be near.
static bool window_holds(const weft_collider* c, double margin)
{
    return !c->window.used || window_covers(&c->window, &c->window.moving, margin);
}

void collider_forget(weft_collider* c)
{
    c->build_count = 0;
}

bool collider_refit(weft_collider* c)
{
    c->window.used ? window_follow(c) : (void)0;
    refit_all(c, true);
    return window_holds(c, c->margin);
}

weft_status weft_collider_update(weft_collider* c, const vec3* start, const vec3* end, double margin, weft_error* error)
{
    WEFT_ASSERT(c && ((start && end) || c->vertex_count == 0));
    if (!(margin >= 0.0) || !isfinite(margin))
    {
        return error_set(error, WEFT_BAD_INPUT, NULL, 0, "margin %g: it is in metres, finite and not negative", margin);
    }
    c->smooth.valid = false;
    bool first = !c->ready; // also after a failure, when the boxes are not all of one step
    c->ready = false;
    update_context u = {.c = c, .start = start, .end = end, .bad = -1};
    parallel_for(c->pool, c->vertex_count, VERTEX_GRAIN, update_chunk, &u);
    if (c->window.valid)
    {
        parallel_for(c->pool, c->window.vertex_count, VERTEX_GRAIN, bound_chunk, &u);
    }
    if (u.bad >= 0)
    {
        return not_finite(u.bad, error);
    }
    c->margin = margin;
    c->window.used ? window_follow(c) : (void)0;
    weft_status status = WEFT_OK;
    if (c->vertex_count > 0 && (c->build_count == 0 || u.left || !window_holds(c, margin)))
    {
        status = rebuild(c, margin, error);
    }
    else
    {
        refit_all(c, !first && !u.moved);
        bool degraded = tree_ratio(c) > DEGRADED * c->built_ratio || scene_far_out(c);
        status = degraded ? rebuild(c, margin, error) : WEFT_OK;
    }
    c->ready = status == WEFT_OK;
    return collider_no_memory(status, error);
}

// ---- pairs

pair_search collider_search(const weft_collider* c, weft_pair_kind kind, double margin)
{
    bool edges = kind == WEFT_EDGE_EDGE;
    double largest = 3e38;
    return (pair_search){
        .kernels = c->kernels,
        .pool = c->pool,
        .pair_limit = c->pair_limit,
        .walk = {.queries = &c->tree[edges ? FEATURE_EDGE : FEATURE_VERTEX],
                 .targets = &c->tree[edges ? FEATURE_EDGE : FEATURE_FACE],
                 .ascending = edges,
                 .apart = c->apart,
                 .margin = margin,
                 .margin_up = (float)(fmin(margin, largest) * (1.0 + 0x1p-20)) + (margin > 0.0 ? 1e-37f : 0.0f),
                 .margin_down = fmaxf(0.0f, (float)(fmin(margin, largest) * (1.0 - 0x1p-20)) - 1e-37f),
                 .start = c->start,
                 .end = c->end,
                 .rules = c->rules.body ? &c->rules : NULL,
                 .smooth = c->smooth.valid ? &c->smooth : NULL}};
}

weft_status collider_find(weft_collider* c, weft_pair_kind kind, double margin, pair_list* out, weft_error* error)
{
    TRY(window_holds(c, margin) ? WEFT_OK : rebuild(c, margin, error));
    pair_search search = collider_search(c, kind, margin);
    TRY(pairs_walk(&c->finder, &search, error));
    return pairs_sort(&c->finder, &search, out, error);
}

void collider_vertices(const weft_collider* c, weft_pair_kind kind, weft_pair pair, int vertex[4])
{
    const int* second = c->corner[kind == WEFT_EDGE_EDGE ? FEATURE_EDGE : FEATURE_FACE];
    if (kind == WEFT_EDGE_EDGE)
    {
        memcpy(vertex, second + 2 * (size_t)pair.first, 2 * sizeof(int));
        memcpy(vertex + 2, second + 2 * (size_t)pair.second, 2 * sizeof(int));
        return;
    }
    vertex[0] = pair.first;
    memcpy(vertex + 1, second + 3 * (size_t)pair.second, 3 * sizeof(int));
}

weft_status collider_not_ready(weft_error* error)
{
    return error_set(error, WEFT_BAD_INPUT, NULL, 0, "the collider has no positions: call weft_collider_update first");
}

weft_status weft_collider_pairs(weft_collider* c, weft_pairs* out, weft_error* error)
{
    WEFT_ASSERT(c && out);
    *out = (weft_pairs){0};
    if (!c->ready)
    {
        return collider_not_ready(error);
    }
    weft_status status = collider_find(c, WEFT_VERTEX_FACE, c->margin, &c->vertex_face, error);
    if (status == WEFT_OK)
    {
        status = collider_find(c, WEFT_EDGE_EDGE, c->margin, &c->edge_edge, error);
    }
    if (status != WEFT_OK)
    {
        return collider_no_memory(status, error);
    }
    *out = (weft_pairs){c->vertex_face.pair, c->vertex_face.count, c->edge_edge.pair, c->edge_edge.count};
    return WEFT_OK;
}
