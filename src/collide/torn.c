// A collider of cloth that has torn, after the one of before the tear. Sorting all features anew along a curve, and
// learning anew where all cloth is at rest, is what a new collider costs; a cut changes a few features. So order is taken
// over: a new feature is put behind the one that it was torn off from. Cells of flat bodies stay as they are but for
// those that the cut goes through: torn off vertices lie at rest where they were.
//
// Left out: colliders with a window, whose trees hold little and are made anew often.
#include <string.h>

#include "collide/broad.h"

typedef struct follower
{
    weft_collider* c;
    weft_collider* old;
    const torn_vertices* torn;
    int *now, *head, *next; // [features of old], [features of old], [features] now: -1 gone; lists of what comes behind
    int* order;             // [features]
} follower;

// What a vertex was before the tear.
static int vertex_was(const torn_vertices* t, int v)
{
    return v < t->first ? v : v < t->first + t->count ? t->from[v - t->first] : v - t->count;
}

static int vertex_now(const torn_vertices* t, int v)
{
    return v < t->first ? v : v + t->count;
}

// ---- features

static void come_behind(follower* f, int old, int feature)
{
    f->next[feature] = f->head[old];
    f->head[old] = feature;
}

static void follow_vertices(follower* f)
{
    for (int v = 0; v < f->old->vertex_count; v++)
    {
        f->now[v] = vertex_now(f->torn, v);
    }
    for (int k = f->torn->count - 1; k >= 0; k--)
    {
        come_behind(f, f->torn->from[k], f->torn->first + k);
    }
}

// -1: there is none. Edges are sorted by both ends.
static int find_edge(const weft_collider* c, int a, int b)
{
    const int* edge = c->corner[FEATURE_EDGE];
    int low = 0, high = c->tree[FEATURE_EDGE].count, first = int_min(a, b), second = int_max(a, b);
    while (low < high)
    {
        size_t middle = (size_t)(low + high) / 2;
        bool less = edge[2 * middle] < first || (edge[2 * middle] == first && edge[2 * middle + 1] < second);
        low = less ? (int)middle + 1 : low;
        high = less ? high : (int)middle;
    }
    bool found = low < c->tree[FEATURE_EDGE].count && edge[2 * (size_t)low] == first && edge[2 * (size_t)low + 1] == second;
    return found ? low : -1;
}

// Numbers of what stays grow alike, so that both lists are walked once.
static bool follow_edges(follower* f)
{
    const weft_collider *c = f->c, *old = f->old;
    const int *is = c->corner[FEATURE_EDGE], *was = old->corner[FEATURE_EDGE];
    int k = 0, count = old->tree[FEATURE_EDGE].count;
    for (int e = 0; e < c->tree[FEATURE_EDGE].count; e++)
    {
        int a = is[2 * (size_t)e], b = is[2 * (size_t)e + 1], order = 1;
        while (k < count && order > 0)
        {
            int p = vertex_now(f->torn, was[2 * (size_t)k]), q = vertex_now(f->torn, was[2 * (size_t)k + 1]);
            order = a != p ? (a > p) - (a < p) : (b > q) - (b < q);
            f->now[k] = order > 0 ? -1 : order == 0 ? e : f->now[k];
            k += order >= 0;
        }
        if (order != 0)
        {
            int from = find_edge(old, vertex_was(f->torn, a), vertex_was(f->torn, b));
            if (from < 0)
            {
                return false;
            }
            come_behind(f, from, e);
        }
    }
    for (; k < count; k++)
    {
        f->now[k] = -1;
    }
    return true;
}

static void follow_faces(follower* f)
{
    for (int k = 0; k < f->old->tree[FEATURE_FACE].count; k++)
    {
        f->now[k] = k;
    }
}

static int list_order(const follower* f, const bvh* was)
{
    int at = 0;
    for (int k = 0; k < was->held; k++)
    {
        int id = was->id[k];
        if (f->now[id] >= 0)
        {
            f->order[at++] = f->now[id];
        }
        for (int e = f->head[id]; e >= 0; e = f->next[e])
        {
            f->order[at++] = e;
        }
    }
    return at;
}

static weft_status follow_tree(weft_collider* c, weft_collider* old, const torn_vertices* torn, int kind, bool* done)
{
    bvh *tree = &c->tree[kind], *was = &old->tree[kind];
    follower f = {.c = c, .old = old, .torn = torn};
    f.now = MEM_NEW(was->count, int);
    f.head = mem_raw((size_t)was->count, sizeof(int));
    f.next = MEM_NEW(tree->count, int);
    f.order = MEM_NEW(tree->count + was->count, int);
    weft_status status = f.now && f.head && f.next && f.order ? WEFT_OK : WEFT_NO_MEMORY;
    if (status == WEFT_OK)
    {
        memset(f.head, -1, (size_t)was->count * sizeof(int));
        *done = kind != FEATURE_EDGE || follow_edges(&f);
        kind == FEATURE_VERTEX ? follow_vertices(&f) : kind == FEATURE_FACE ? follow_faces(&f) : (void)0;
        *done = *done && list_order(&f, was) == tree->count;
        *done ? bvh_order(tree, &c->rules, f.order) : (void)0;
    }
    mem_free(f.now);
    mem_free(f.head);
    mem_free(f.next);
    mem_free(f.order);
    return status;
}

// ---- cells

static weft_status follow_cells(weft_collider* c, weft_collider* old, const torn_vertices* torn)
{
    smooth_map* m = &c->smooth;
    int* grid_of = MEM_NEW(c->vertex_count, int);
    vec2* at = MEM_NEW(c->vertex_count, vec2);
    if (!grid_of || !at)
    {
        mem_free(grid_of);
        mem_free(at);
        return WEFT_NO_MEMORY;
    }
    for (int v = 0; v < c->vertex_count; v++)
    {
        int was = vertex_was(torn, v);
        grid_of[v] = old->smooth.grid_of[was];
        at[v] = old->smooth.at[was];
    }
    smooth_finish(m);
    *m = old->smooth;
    old->smooth = (smooth_map){0};
    mem_free(m->grid_of);
    mem_free(m->at);
    m->grid_of = grid_of;
    m->at = at;
    m->valid = false;
    for (int f = 0, packed = 0; f < c->tree[FEATURE_FACE].count && m->face_count > 0; f++)
    {
        const int* v = c->corner[FEATURE_FACE] + 3 * (size_t)f;
        m->grid_of[v[0]] >= 0 ? memcpy(m->corner + 3 * (size_t)packed++, v, 3 * sizeof(int)) : NULL;
    }
    return WEFT_OK;
}

// Edges at a vertex that one face has.
static void spoil_at(weft_collider* c, int v)
{
    const feature_star* star = &c->extender.star[1];
    const int* face = c->corner[FEATURE_FACE];
    for (int k = star->start[v]; k < star->start[v + 1]; k++)
    {
        for (int corner = 0; corner < 3; corner++)
        {
            int edge[2] = {v, face[3 * (size_t)star->feature[k] + (size_t)corner]}, faces = 0;
            for (int j = star->start[v]; j < star->start[v + 1]; j++)
            {
                const int* other = face + 3 * (size_t)star->feature[j];
                faces += other[0] == edge[1] || other[1] == edge[1] || other[2] == edge[1];
            }
            edge[1] != v && faces == 1 ? smooth_spoil(&c->smooth, edge) : (void)0;
        }
    }
}

static void spoil_cut(weft_collider* c, const torn_vertices* torn)
{
    for (int k = 0; k < torn->count; k++)
    {
        spoil_at(c, torn->from[k]);
        spoil_at(c, torn->first + k);
    }
}

// ---- the whole

weft_status collider_follow(weft_collider* c, weft_collider* old, const torn_vertices* torn, bool* done)
{
    *done = false;
    if (c->window.used || old->window.used || old->build_count == 0 || !old->smooth.grid_of ||
        c->tree[FEATURE_FACE].count != old->tree[FEATURE_FACE].count ||
        c->vertex_count != old->vertex_count + torn->count)
    {
        return WEFT_OK;
    }
    TRY(extender_build(c));
    TRY(follow_cells(c, old, torn));
    spoil_cut(c, torn);
    *done = true;
    for (int kind = 0; kind < FEATURE_KINDS && *done; kind++)
    {
        TRY(smooth_attach(c, kind));
        TRY(follow_tree(c, old, torn, kind, done));
    }
    c->build_count = *done ? 1 : 0;
    c->built_ratio = old->built_ratio;
    c->origin = old->origin;
    return WEFT_OK;
}
