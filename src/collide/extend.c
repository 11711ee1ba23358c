// Candidates of few vertices that ended elsewhere than the search had them: what is around their features is added, and
// the rest stays. One vertex that a contact throws off its way must not cost a search of everything.
//
// Boxes of these vertices then span the way to their new ends, and the list is what a search with those boxes gives,
// and some more. It stays sorted, each pair once. What a sift has left gets all of their pairs.
#include <stdlib.h>
#include <string.h>

#include "collide/broad.h"

// ---- what is at a vertex

static weft_status star_build(feature_star* s, const int* corner, int arity, int count, int vertex_count)
{
    if (!array_grow((void**)&s->start, 0, (size_t)vertex_count + 2, sizeof(int)) ||
        !array_grow((void**)&s->feature, 0, (size_t)arity * (size_t)count, sizeof(int)))
    {
        return WEFT_NO_MEMORY;
    }
    for (int k = 0; k < arity * count; k++)
    {
        s->start[corner[k] + 2]++;
    }
    for (int v = 0; v < vertex_count; v++)
    {
        s->start[v + 2] += s->start[v + 1];
    }
    for (int k = 0; k < arity * count; k++)
    {
        s->feature[s->start[corner[k] + 1]++] = k / arity;
    }
    return WEFT_OK;
}

// Lists of pairs start with room: smooth cloth far from all else has none, and in a steady scene nothing is to be
// allocated when the first come.
static weft_status reserve_lists(weft_collider* c)
{
    pair_list* const lists[] = {c->candidates, c->sifted, c->doubted, c->extender.more};
    int room = c->tree[FEATURE_EDGE].count / 4 + 256;
    bool fine = scratch_grow((void**)&c->kept, &c->kept_capacity, room / 64, sizeof(int)) &&
                scratch_grow((void**)&c->extender.around.feature, &c->extender.around.capacity, 256, sizeof(int));
    for (int k = 0; k < 8; k++)
    {
        pair_list* list = &lists[k / 2][k % 2];
        fine = fine && scratch_grow((void**)&list->pair, &list->capacity, room, sizeof(weft_pair));
    }
    return fine ? WEFT_OK : WEFT_NO_MEMORY;
}

weft_status extender_build(weft_collider* c)
{
    extender* x = &c->extender;
    extender_finish(x);
    TRY(reserve_lists(c));
    x->moved = MEM_NEW(c->vertex_count, uint8_t);
    TRY(x->moved ? WEFT_OK : WEFT_NO_MEMORY);
    return extender_renew(c);
}

weft_status extender_renew(weft_collider* c)
{
    extender* x = &c->extender;
    TRY(star_build(&x->star[0], c->corner[FEATURE_EDGE], 2, c->tree[FEATURE_EDGE].count, c->vertex_count));
    return star_build(&x->star[1], c->corner[FEATURE_FACE], 3, c->tree[FEATURE_FACE].count, c->vertex_count);
}

void extender_finish(extender* x)
{
    for (int k = 0; k < 2; k++)
    {
        mem_free(x->star[k].start);
        mem_free(x->star[k].feature);
        mem_free(x->more[k].pair);
    }
    mem_free(x->around.feature);
    mem_free(x->moved);
    *x = (extender){0};
}

// ---- pairs

static bool shares_vertex(const int* a, int a_count, const int* b, int b_count)
{
    bool shares = false;
    for (int i = 0; i < a_count; i++)
    {
        for (int k = 0; k < b_count; k++)
        {
            shares = shares || a[i] == b[k];
        }
    }
    return shares;
}

// One feature with all of another kind that are around it.
static weft_status add_around(weft_collider* c, feature_kind own, int feature, feature_kind other)
{
    extender* x = &c->extender;
    pair_list* list = &x->more[other == FEATURE_EDGE ? WEFT_EDGE_EDGE : WEFT_VERTEX_FACE];
    const int* a = c->corner[own] + (size_t)feature * (size_t)(own + 1);
    double_box box = feature_box(c->start, c->end, a, own + 1);
    TRY(collider_around(c, other, &box, c->margin, &x->around));
    if (!mem_grow((void**)&list->pair, &list->capacity, list->count + x->around.count, sizeof(weft_pair)))
    {
        return WEFT_NO_MEMORY;
    }
    for (int k = 0; k < x->around.count; k++)
    {
        int found = x->around.feature[k];
        const int* b = c->corner[other] + (size_t)found * (size_t)(other + 1);
        bool wanted = !shares_vertex(a, own + 1, b, other + 1) &&
                      (!c->rules.body || cull_features_wanted(&c->rules, a, own + 1, b, other + 1));
        bool swap = other == FEATURE_EDGE ? found < feature : other == FEATURE_VERTEX;
        list->pair[list->count] = swap ? (weft_pair){found, feature} : (weft_pair){feature, found};
        list->count += wanted;
    }
    return WEFT_OK;
}

// A feature of several vertices that have moved is looked at once, by the first of them.
static bool is_own(const weft_collider* c, feature_kind kind, int feature, int v)
{
    const int* corner = c->corner[kind] + (size_t)feature * (size_t)(kind + 1);
    bool own = true;
    for (int k = 0; k <= (int)kind; k++)
    {
        own = own && !(corner[k] < v && c->extender.moved[corner[k]]);
    }
    return own;
}

static weft_status add_star(weft_collider* c, int v)
{
    const feature_star *edges = &c->extender.star[0], *faces = &c->extender.star[1];
    TRY(add_around(c, FEATURE_VERTEX, v, FEATURE_FACE));
    for (int k = edges->start[v]; k < edges->start[v + 1]; k++)
    {
        int e = edges->feature[k];
        TRY(is_own(c, FEATURE_EDGE, e, v) ? add_around(c, FEATURE_EDGE, e, FEATURE_EDGE) : WEFT_OK);
    }
    for (int k = faces->start[v]; k < faces->start[v + 1]; k++)
    {
        int f = faces->feature[k];
        TRY(is_own(c, FEATURE_FACE, f, v) ? add_around(c, FEATURE_FACE, f, FEATURE_VERTEX) : WEFT_OK);
    }
    return WEFT_OK;
}

static weft_status add_stars(weft_collider* c, const int* vertex, int count)
{
    weft_status status = WEFT_OK;
    for (int k = 0; k < count; k++)
    {
        c->extender.moved[vertex[k]] = 1;
    }
    for (int k = 0; k < count && status == WEFT_OK; k++)
    {
        status = add_star(c, vertex[k]);
    }
    for (int k = 0; k < count; k++)
    {
        c->extender.moved[vertex[k]] = 0;
    }
    return status;
}

// ---- merging

static int compare_pairs(const void* a, const void* b)
{
    const weft_pair *p = a, *q = b;
    return p->first != q->first ? (p->first > q->first) - (p->first < q->first)
                                : (p->second > q->second) - (p->second < q->second);
}

// Sorts what is to be added and takes out what is there twice.
static void sort_once(pair_list* more)
{
    int kept = 0;
    if (more->count > 1)
    {
        qsort(more->pair, (size_t)more->count, sizeof(weft_pair), compare_pairs);
    }
    for (int k = 0; k < more->count; k++)
    {
        weft_pair pair = more->pair[k];
        bool twice = kept > 0 && compare_pairs(&pair, &more->pair[kept - 1]) == 0;
        more->pair[kept] = pair;
        kept += !twice;
    }
    more->count = kept;
}

static int count_new(const pair_list* list, const pair_list* more)
{
    int fresh = 0;
    for (int k = 0; k < more->count; k++)
    {
        fresh += list->count == 0 ||
                 !bsearch(&more->pair[k], list->pair, (size_t)list->count, sizeof(weft_pair), compare_pairs);
    }
    return fresh;
}

// From the end on: what is moved overwrites nothing that is still to be read. What is in both stays once.
static weft_status merge(pair_list* list, const pair_list* more)
{
    int fresh = count_new(list, more), a = list->count - 1, b = more->count - 1;
    if (!mem_grow((void**)&list->pair, &list->capacity, list->count + fresh, sizeof(weft_pair)))
    {
        return WEFT_NO_MEMORY;
    }
    list->count += fresh;
    for (int out = list->count - 1; b >= 0; out--)
    {
        int order = a >= 0 ? compare_pairs(&list->pair[a], &more->pair[b]) : -1;
        list->pair[out] = order >= 0 ? list->pair[a] : more->pair[b];
        a -= order >= 0;
        b -= order <= 0;
    }
    return WEFT_OK;
}

// ---- the whole

weft_status collider_extend(weft_collider* c, const int* vertex, int count, const vec3* end, bool* done)
{
    extender* x = &c->extender;
    *done = false;
    if (c->apart || !c->ready || !x->star[0].start)
    {
        return WEFT_OK;
    }
    for (int k = 0; k < count; k++)
    {
        int v = vertex[k];
        c->end[v] = end[v];
        c->kernels->vertex_boxes(c->start, c->end, c->origin, c->boxes, v, v + 1);
    }
    if (!collider_refit(c))
    {
        c->ready = false; // the trees do not hold all that may be near: an update makes them anew
        return WEFT_OK;
    }
    x->more[0].count = x->more[1].count = 0;
    TRY(add_stars(c, vertex, count));
    for (int kind = 0; kind < 2; kind++)
    {
        sort_once(&x->more[kind]);
        TRY(merge(&c->candidates[kind], &x->more[kind]));
        TRY(merge(&c->sifted[kind], &x->more[kind]));
    }
    *done = true;
    return WEFT_OK;
}
