// From candidates to what is near, and to what collides: every candidate is tested, in parallel, and those that pass
// are packed in the order of the candidates.
//
// Each is tested once. Records of what passes wait in the list at the place of their chunk, as if all before them had
// passed, and are then moved together; after so many candidates, so that the list needs no room for all of them.
#include <string.h>

#include "collide/broad.h"

enum
{
    NARROW_GRAIN = 512,
    NARROW_BLOCK = 64 * NARROW_GRAIN
};

typedef struct narrow_context
{
    weft_collider* c;
    const narrow_search* search;
    weft_pair_kind kind;
    const weft_pair* pair; // of the block
    char* out;             // its records
    int kept[NARROW_BLOCK / NARROW_GRAIN];
} narrow_context;

static void test_chunk(void* context, int begin, int end)
{
    narrow_context* n = context;
    size_t size = n->search->item_size;
    char* out = n->out + (size_t)begin * size;
    int kept = 0;
    for (int k = begin; k < end; k++)
    {
        kept += n->search->test(n->c, n->kind, n->pair[k], n->search->context, out + (size_t)kept * size);
    }
    n->kept[begin / NARROW_GRAIN] = kept;
}

// Candidates of one block, behind what the list has.
static weft_status test_block(narrow_context* n, int count, narrow_list* list)
{
    size_t size = n->search->item_size;
    if (!mem_grow(&list->item, &list->capacity, list->count + count, size))
    {
        return WEFT_NO_MEMORY;
    }
    n->out = (char*)list->item + (size_t)list->count * size;
    parallel_for(n->c->pool, count, NARROW_GRAIN, test_chunk, n);
    for (int at = 0; at < count; at += NARROW_GRAIN)
    {
        int kept = n->kept[at / NARROW_GRAIN];
        memmove((char*)list->item + (size_t)list->count * size, n->out + (size_t)at * size, (size_t)kept * size);
        list->count += kept;
    }
    return WEFT_OK;
}

static const weft_pair_kind kinds[2] = {WEFT_VERTEX_FACE, WEFT_EDGE_EDGE};

weft_status collider_candidates(weft_collider* c, double margin, weft_error* error)
{
    if (!c->ready)
    {
        return collider_not_ready(error);
    }
    for (int k = 0; k < 2; k++)
    {
        TRY(collider_no_memory(collider_find(c, kinds[k], margin, &c->candidates[k], error), error));
        c->sifted[k].count = 0;
    }
    return WEFT_OK;
}

weft_status collider_test(weft_collider* c, const narrow_search* search, narrow_list* out)
{
    const pair_list* list = collider_lists(c, search->among);
    out->count = 0;
    for (int k = 0; k < 2; k++)
    {
        for (int at = 0; at < list[k].count; at += NARROW_BLOCK)
        {
            narrow_context n = {.c = c, .search = search, .kind = kinds[k], .pair = list[k].pair + at};
            TRY(test_block(&n, int_min(NARROW_BLOCK, list[k].count - at), out));
        }
    }
    return WEFT_OK;
}

weft_status collider_narrow(weft_collider* c, const narrow_search* search, narrow_list* out, weft_error* error)
{
    out->count = 0;
    TRY(collider_candidates(c, search->margin, error));
    return collider_no_memory(collider_test(c, search, out), error);
}

// ---- what is near

static bool near_test(const weft_collider* c, weft_pair_kind kind, weft_pair pair, void* context, void* out)
{
    int vertex[4];
    vec3 x[4];
    collider_vertices(c, kind, pair, vertex);
    for (int k = 0; k < 4; k++)
    {
        x[k] = c->end[vertex[k]];
    }
    closest found = kind == WEFT_VERTEX_FACE ? closest_vertex_face(x) : closest_edge_edge(x);
    *(weft_near*)out = (weft_near){
        .kind = kind,
        .first = pair.first,
        .second = pair.second,
        .vertex = {vertex[0], vertex[1], vertex[2], vertex[3]},
        .weight = {found.weight[0], found.weight[1], found.weight[2], found.weight[3]},
        .normal = found.normal,
        .distance = found.distance,
    };
    return found.distance <= *(const double*)context;
}

weft_status weft_collider_near(weft_collider* c, double distance, const weft_near** out, int* count, weft_error* error)
{
    WEFT_ASSERT(c && out && count);
    *out = NULL;
    *count = 0;
    if (!(distance >= 0.0) || !isfinite(distance))
    {
        return error_set(error, WEFT_BAD_INPUT, NULL, 0, "distance %g: it is in metres, finite and not negative",
                         distance);
    }
    narrow_search search = {distance, near_test, &distance, sizeof(weft_near), AMONG_ALL};
    TRY(collider_narrow(c, &search, &c->near, error));
    *out = c->near.item;
    *count = c->near.count;
    return WEFT_OK;
}

// ---- what collides

typedef struct impact_context
{
    atomic_bool refused; // a coordinate is out of range
} impact_context;

static weft_status impact_query(const weft_collider* c, weft_pair_kind kind, const int vertex[4], weft_ccd* out)
{
    vec3 start[4], end[4];
    for (int k = 0; k < 4; k++)
    {
        start[k] = c->start[vertex[k]];
        end[k] = c->end[vertex[k]];
    }
    return weft_ccd_query(kind, start, end, out);
}

static bool impact_test(const weft_collider* c, weft_pair_kind kind, weft_pair pair, void* context, void* out)
{
    int vertex[4];
    weft_ccd ccd = {0};
    collider_vertices(c, kind, pair, vertex);
    if (impact_query(c, kind, vertex, &ccd) != WEFT_OK)
    {
        atomic_store_explicit(&((impact_context*)context)->refused, true, memory_order_relaxed);
    }
    *(weft_impact*)out = (weft_impact){.kind = kind,
                                       .first = pair.first,
                                       .second = pair.second,
                                       .vertex = {vertex[0], vertex[1], vertex[2], vertex[3]},
                                       .time = ccd.time,
                                       .exact = ccd.exact};
    return ccd.collides;
}

// The first candidate that was refused.
static weft_status impact_refused(const weft_collider* c, weft_error* error)
{
    for (int list = 0; list < 2; list++)
    {
        for (int k = 0; k < c->candidates[list].count; k++)
        {
            weft_pair pair = c->candidates[list].pair[k];
            int v[4];
            weft_ccd ccd;
            collider_vertices(c, kinds[list], pair, v);
            weft_status status = impact_query(c, kinds[list], v, &ccd);
            if (status != WEFT_OK)
            {
                return error_set(error, status, NULL, 0,
                                 "a coordinate of the vertices %d, %d, %d, %d is neither 0 nor between 1e-30 and 1e12 "
                                 "in size: scale the scene, or move it to the origin",
                                 v[0], v[1], v[2], v[3]);
            }
        }
    }
    return WEFT_OK;
}

weft_status weft_collider_impacts(weft_collider* c, const weft_impact** out, int* count, weft_error* error)
{
    WEFT_ASSERT(c && out && count);
    *out = NULL;
    *count = 0;
    impact_context context = {false};
    narrow_search search = {0.0, impact_test, &context, sizeof(weft_impact), AMONG_ALL};
    TRY(collider_narrow(c, &search, &c->impacts, error));
    if (context.refused)
    {
        return impact_refused(c, error);
    }
    *out = c->impacts.item;
    *count = c->impacts.count;
    return WEFT_OK;
}
