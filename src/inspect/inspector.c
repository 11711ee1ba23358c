// The public inspector: takes bodies and frames in, leaves out what is not finite, asks for crossings, nested bodies,
// distance and strain. Everything a frame needs is allocated once, but for lists of what was found.
#include "inspect/frame.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COORDINATE_LIMIT 1e100 // what the bounds of signs.c rest on

enum
{
    DEF_COOKIE = 0x1259ec7,
    GRAIN = 1024
};

struct weft_inspector
{
    weft_inspect_def def;
    inspect_model model;
    inspect_frame frame;
    crossing_list list;
    weft_crossing* pairs; // [pair_capacity] of the last frame
    int pair_capacity;
};

weft_inspect_def weft_inspect_def_default(void)
{
    return (weft_inspect_def){
        .worker_count = 1,
        .pair_limit = 1000,
        .crossing_limit = 1000000,
        .cookie = DEF_COOKIE,
    };
}

const char* weft_crossing_kind_name(weft_crossing_kind kind)
{
    static const char* const names[] = {"through", "overlap", "edge", "degenerate", "nested"};
    WEFT_ASSERT((unsigned)kind < sizeof(names) / sizeof(names[0]));
    return names[kind];
}

// ---- making

static weft_status frame_create(const inspect_model* m, inspect_frame* f)
{
    f->model = m;
    f->x = MEM_NEW(m->vertex_count, vec3);
    f->left_out = MEM_NEW(m->triangle_count, unsigned char);
    f->rank = MEM_NEW(m->triangle_count, unsigned char);
    f->hull = MEM_NEW(m->triangle_count, box);
    TRY(hull_tree_create(m->triangle_count, &f->tree));
    return f->x && f->left_out && f->rank && f->hull ? WEFT_OK : WEFT_NO_MEMORY;
}

static int thread_count(const weft_inspect_def* def)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return def->worker_count > 0 ? def->worker_count : cores > 0 && cores < INT32_MAX ? (int)cores : 1;
}

static weft_status inspector_build(weft_inspector* i, const weft_inspect_body* bodies, int body_count,
                                   weft_error* error)
{
    TRY(model_build(bodies, body_count, &i->model, error));
    i->list.limit = i->def.crossing_limit;
    i->list.listed_limit = i->def.pair_limit;
    i->list.buffer = MEM_NEW((size_t)int_min(WAVE_CHUNKS, i->model.triangle_count / CHUNK + 1) * CHUNK_HITS, hit);
    if (!i->list.buffer || frame_create(&i->model, &i->frame) != WEFT_OK ||
        workers_create(thread_count(&i->def), &i->def.tasks, &i->frame.pool) != WEFT_OK)
    {
        return error_set(error, WEFT_NO_MEMORY, NULL, 0, "no memory to inspect %d triangles", i->model.triangle_count);
    }
    return WEFT_OK;
}

weft_status weft_inspector_create(const weft_inspect_def* def, const weft_inspect_body* bodies, int body_count,
                                  weft_inspector** out, weft_error* error)
{
    WEFT_ASSERT(def && def->cookie == DEF_COOKIE && out && body_count >= 0 && (bodies || body_count == 0));
    WEFT_ASSERT(def->worker_count >= 0 && def->pair_limit >= 0 && def->crossing_limit > 0 && def->test_limit >= 0);
    *out = NULL;
    weft_inspector* inspector = MEM_NEW(1, weft_inspector);
    if (!inspector)
    {
        return error_set(error, WEFT_NO_MEMORY, NULL, 0, "no memory for an inspector");
    }
    inspector->def = *def;
    weft_status status = inspector_build(inspector, bodies, body_count, error);
    if (status != WEFT_OK)
    {
        weft_inspector_destroy(inspector);
        return status;
    }
    *out = inspector;
    return WEFT_OK;
}

void weft_inspector_destroy(weft_inspector* inspector)
{
    if (!inspector)
    {
        return;
    }
    inspect_frame* f = &inspector->frame;
    workers_destroy(f->pool);
    hull_tree_finish(&f->tree);
    mem_free(f->x);
    mem_free(f->left_out);
    mem_free(f->rank);
    mem_free(f->hull);
    mem_free(inspector->list.listed);
    mem_free(inspector->list.pair);
    mem_free(inspector->list.buffer);
    mem_free(inspector->pairs);
    model_finish(&inspector->model);
    mem_free(inspector);
}

// ---- a frame's triangles

static bool is_bounded(double x)
{
    return fabs(x) <= COORDINATE_LIMIT; // false for NaN
}

// Copies positions; counts coordinates that are not finite and finds the scale of the others.
static int64_t frame_load(inspect_frame* f, const vec3* const* positions)
{
    const inspect_model* m = f->model;
    int64_t nonfinite = 0;
    double largest = 0.0;
    for (int b = 0; b < m->body_count; b++)
    {
        int first = m->first_vertex[b], count = m->first_vertex[b + 1] - first;
        for (int v = 0; v < count; v++)
        {
            vec3 p = f->x[first + v] = positions[b][v];
            int bad = !is_bounded(p.x) + !is_bounded(p.y) + !is_bounded(p.z);
            nonfinite += bad;
            largest = bad ? largest : fmax(largest, fmax(fabs(p.x), fmax(fabs(p.y), fabs(p.z))));
        }
    }
    bool moderate = largest == 0.0 || (largest > 0x1p-100 && largest < 0x1p100);
    f->scale = moderate ? 1.0 : ldexp(1.0, int_max(-1000, int_min(1000, -ilogb(largest))));
    return nonfinite;
}

static bool vertex_is_bounded(vec3 p)
{
    return is_bounded(p.x) && is_bounded(p.y) && is_bounded(p.z);
}

static void frame_measure(void* context, int begin, int end)
{
    inspect_frame* f = context;
    for (int t = begin; t < end; t++)
    {
        const int* c = f->model->triangles + 3 * (size_t)t;
        vec3 x[3] = {f->x[c[0]], f->x[c[1]], f->x[c[2]]};
        f->left_out[t] = !vertex_is_bounded(x[0]) || !vertex_is_bounded(x[1]) || !vertex_is_bounded(x[2]);
        f->hull[t] = box_with(box_with(box_with(box_empty(), x[0]), x[1]), x[2]);
        f->rank[t] = f->left_out[t] ? 0 : (unsigned char)flat_make(x[0], x[1], x[2]).count;
    }
}

static int64_t frame_degenerate_count(const inspect_frame* f)
{
    int64_t count = 0;
    for (int t = 0; t < f->model->triangle_count; t++)
    {
        count += !f->left_out[t] && f->rank[t] < (triangle_is_segment(f->model, t) ? 2 : 3);
    }
    return count;
}

// ---- what was found

static void list_clear(crossing_list* list)
{
    list->count = list->nested = 0;
    list->truncated = list->apart = false;
    list->listed_count = list->pair_count = 0;
    if (list->pair)
    {
        memset(list->pair, 0, (size_t)list->pair_capacity * sizeof(uint64_t));
    }
}

static int compare_hits(const void* left, const void* right)
{
    const hit *a = left, *b = right;
    bool nested_a = a->kind == WEFT_CROSSING_NESTED, nested_b = b->kind == WEFT_CROSSING_NESTED;
    if (nested_a != nested_b)
    {
        return nested_a ? 1 : -1;
    }
    return a->a != b->a ? (a->a < b->a ? -1 : 1) : a->b < b->b ? -1 : a->b > b->b;
}

static weft_crossing public_crossing(const inspect_model* m, hit h)
{
    int a = m->body_of[h.a], b = m->body_of[h.b];
    return (weft_crossing){{a, b}, {h.a - m->first_triangle[a], h.b - m->first_triangle[b]}, h.kind};
}

static weft_status inspector_list(weft_inspector* i, weft_inspection* out)
{
    crossing_list* list = &i->list;
    void* pairs = i->pairs;
    if (!mem_grow(&pairs, &i->pair_capacity, list->listed_count, sizeof(weft_crossing)))
    {
        return WEFT_NO_MEMORY;
    }
    i->pairs = pairs;
    if (list->listed_count > 0)
    {
        qsort(list->listed, (size_t)list->listed_count, sizeof(hit), compare_hits);
    }
    for (int k = 0; k < list->listed_count; k++)
    {
        i->pairs[k] = public_crossing(&i->model, list->listed[k]);
    }
    out->pairs = i->pairs;
    out->pair_count = list->listed_count;
    out->crossings = list->count;
    out->nested = list->nested;
    out->truncated = list->truncated;
    return WEFT_OK;
}

// ---- a frame

static int64_t test_limit(const weft_inspector* i)
{
    return i->def.test_limit > 0 ? i->def.test_limit : 50000000 + 50 * (int64_t)i->model.triangle_count;
}

static weft_status inspector_look(weft_inspector* i, weft_inspection* out)
{
    inspect_frame* f = &i->frame;
    parallel_for(f->pool, i->model.triangle_count, GRAIN, frame_measure, f);
    hull_tree_build(&f->tree, f->hull, f->left_out, i->model.triangle_count, f->pool);
    out->degenerate = frame_degenerate_count(f);
    list_clear(&i->list);
    f->tests_left = test_limit(i);
    TRY(crossings_find(f, &i->list));
    if (!i->list.truncated)
    {
        TRY(nested_find(f, &i->list));
    }
    f->tests_left = test_limit(i);
    out->min_distance = INFINITY;
    out->max_strain = NAN;
    if (!i->def.crossings_only)
    {
        out->min_distance = i->list.apart ? 0.0 : min_distance_find(f, &i->list.truncated);
        out->max_strain = max_strain_find(f);
    }
    return inspector_list(i, out);
}

weft_status weft_inspector_frame(weft_inspector* inspector, const weft_vec3* const* positions, weft_inspection* out,
                                 weft_error* error)
{
    WEFT_ASSERT(inspector && (positions || inspector->model.body_count == 0) && out);
    *out = (weft_inspection){.nonfinite = frame_load(&inspector->frame, positions)};
    weft_status status = inspector_look(inspector, out);
    if (status != WEFT_OK)
    {
        *out = (weft_inspection){0};
        return error_set(error, status, NULL, 0, "no memory to list crossings");
    }
    return WEFT_OK;
}
