// From candidates to what is near, and to what collides: every candidate is tested, in parallel, and those that pass
// are packed in the order of the candidates.
//
// Two passes over fixed chunks: the first tests, marks what fails and counts; the second writes and takes the marks
// off. Records are made in the second, for the few that pass.
#include "collide/broad.h"

enum
{
    NARROW_GRAIN = 512
};

typedef struct narrow_context
{
    weft_collider* c;
    const narrow_search* search;
    weft_pair_kind kind;
    weft_pair* pair; // [count] of candidates; between the passes `second` is inverted where the test failed
    int* kept;       // of each chunk; then where its records start
    char* out;
} narrow_context;

static void test_chunk(void* context, int begin, int end)
{
    narrow_context* n = context;
    int kept = 0;
    for (int k = begin; k < end; k++)
    {
        bool passed = n->search->test(n->c, n->kind, n->pair[k], n->search->context, NULL);
        n->pair[k].second = passed ? n->pair[k].second : ~n->pair[k].second;
        kept += passed;
    }
    n->kept[begin / NARROW_GRAIN] = kept;
}

static void write_chunk(void* context, int begin, int end)
{
    narrow_context* n = context;
    char* out = n->out + (size_t)n->kept[begin / NARROW_GRAIN] * n->search->item_size;
    for (int k = begin; k < end; k++)
    {
        if (n->pair[k].second < 0)
        {
            n->pair[k].second = ~n->pair[k].second;
            continue;
        }
        n->search->test(n->c, n->kind, n->pair[k], n->search->context, out);
        out += n->search->item_size;
    }
}

// Turns counts into starts, from `sum` on; returns the new sum.
static int starts_of(int* kept, int chunks, int sum)
{
    for (int k = 0; k < chunks; k++)
    {
        int here = kept[k];
        kept[k] = sum;
        sum += here;
    }
    return sum;
}

static int chunks_of(int count)
{
    return (count + NARROW_GRAIN - 1) / NARROW_GRAIN;
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
    }
    return WEFT_OK;
}

weft_status collider_test(weft_collider* c, const narrow_search* search, narrow_list* out)
{
    pair_list* list = c->candidates;
    list = search->among == AMONG_SIFTED ? c->sifted : search->among == AMONG_DOUBTED ? c->doubted : list;
    out->count = 0;
    int first_chunks = chunks_of(list[0].count);
    if (!scratch_grow((void**)&c->kept, &c->kept_capacity, first_chunks + chunks_of(list[1].count), sizeof(int)))
    {
        return WEFT_NO_MEMORY;
    }
    narrow_context n[2];
    for (int k = 0; k < 2; k++)
    {
        n[k] = (narrow_context){c, search, kinds[k], list[k].pair, c->kept + (k ? first_chunks : 0), NULL};
        parallel_for(c->pool, list[k].count, NARROW_GRAIN, test_chunk, &n[k]);
    }
    int sum = starts_of(c->kept, first_chunks + chunks_of(list[1].count), 0);
    if (!scratch_grow(&out->item, &out->capacity, sum, search->item_size))
    {
        return WEFT_NO_MEMORY;
    }
    for (int k = 0; k < 2; k++)
    {
        n[k].out = out->item;
        parallel_for(c->pool, list[k].count, NARROW_GRAIN, write_chunk, &n[k]);
    }
    out->count = sum;
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
    if (out)
    {
        *(weft_near*)out = (weft_near){
            .kind = kind,
            .first = pair.first,
            .second = pair.second,
            .vertex = {vertex[0], vertex[1], vertex[2], vertex[3]},
            .weight = {found.weight[0], found.weight[1], found.weight[2], found.weight[3]},
            .normal = found.normal,
            .distance = found.distance,
        };
    }
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
    if (out)
    {
        *(weft_impact*)out = (weft_impact){.kind = kind,
                                           .first = pair.first,
                                           .second = pair.second,
                                           .vertex = {vertex[0], vertex[1], vertex[2], vertex[3]},
                                           .time = ccd.time,
                                           .exact = ccd.exact};
    }
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
