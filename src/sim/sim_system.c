// The linear system of the next step, as the user may take it along: unfiltered, in the user's order.
#include <string.h>

#include "sim/sim.h"
#include "solve/solve.h"

// The user's order over all cloths, one after the other.
static int* user_of_scene(const weft_sim* sim)
{
    int* user = MEM_NEW(sim->model.vertex_count, int);
    for (int k = 0; k < sim->body_count && user; k++)
    {
        const body* b = &sim->bodies[k];
        for (int i = 0; i < b->rest.vertex_count; i++)
        {
            user[b->scene_vertex[i]] = b->first + i;
        }
    }
    return user;
}

typedef struct system_arrays
{
    int *user, *scene, *row_start, *column, *tie_unknown;
    double *values, *filter;
    vec3 *b, *z, *positions;
} system_arrays;

static void arrays_free(system_arrays* a)
{
    mem_free(a->user);
    mem_free(a->scene);
    mem_free(a->row_start);
    mem_free(a->column);
    mem_free(a->tie_unknown);
    mem_free(a->values);
    mem_free(a->filter);
    mem_free(a->b);
    mem_free(a->z);
    mem_free(a->positions);
}

static bool arrays_alloc(const weft_sim* sim, system_arrays* a)
{
    size_t n = (size_t)sim->model.vertex_count, blocks = (size_t)sim->world.A.pattern->block_count;
    *a = (system_arrays){.user = user_of_scene(sim),
                         .scene = MEM_NEW(n, int),
                         .row_start = MEM_NEW(n + 1, int),
                         .column = MEM_NEW(blocks, int),
                         .tie_unknown = MEM_NEW(TIE_ENTRIES * (size_t)sim->model.ties.count, int),
                         .values = MEM_NEW(9 * blocks, double),
                         .filter = MEM_NEW(9 * n, double),
                         .b = MEM_NEW(n, vec3),
                         .z = MEM_NEW(n, vec3),
                         .positions = MEM_NEW(n, vec3)};
    return a->user && a->scene && a->row_start && a->column && a->tie_unknown && a->values && a->filter && a->b &&
           a->z && a->positions;
}

static void arrays_fill(const weft_sim* sim, system_arrays* a)
{
    const world* w = &sim->world;
    const bsr_pattern* p = w->A.pattern;
    for (int i = 0; i < p->row_count; i++)
    {
        a->scene[a->user[i]] = i;
    }
    for (int u = 0; u < p->row_count; u++)
    {
        int i = a->scene[u], begin = p->row_start[i], count = p->row_start[i + 1] - begin;
        for (int k = 0; k < count; k++)
        {
            a->column[a->row_start[u] + k] = a->user[p->column[begin + k]];
        }
        memcpy(a->values + 9 * (size_t)a->row_start[u], w->A.values + 9 * (size_t)begin,
               9 * (size_t)count * sizeof(double));
        a->row_start[u + 1] = a->row_start[u] + count;
        mat3 identity = m3_diagonal(1.0);
        memcpy(a->filter + 9 * (size_t)u, identity.m, sizeof(identity.m));
        a->b[u] = w->rhs[i];
        a->positions[u] = w->at[i];
    }
    for (int k = 0; k < w->filter_count; k++)
    {
        int u = a->user[w->filter[k].vertex];
        memcpy(a->filter + 9 * (size_t)u, w->filter[k].S, 9 * sizeof(double));
    }
    for (int k = 0; k < w->held_count; k++)
    {
        a->z[a->user[w->held[k]]] = w->z[w->held[k]];
    }
    tie_rows ties = world_ties(w);
    for (int k = 0; k < (ties.count > 0 ? ties.start[ties.count] : 0); k++)
    {
        a->tie_unknown[k] = 3 * a->user[ties.unknown[k] / 3] + ties.unknown[k] % 3;
    }
}

weft_status weft_sim_system(weft_sim* sim, weft_system** out, weft_error* error)
{
    *out = NULL;
    TRY(sim_build(sim, error));
    if (!sim->method->method->first_system)
    {
        return error_set(error, WEFT_UNSUPPORTED, NULL, 0, "the method `%s` solves no linear system; try `%s`",
                         sim->method->method->name, weft_sim_def_default().method);
    }
    world* w = &sim->world;
    weft_step_stats stats = {0};
    w->stats = &stats;
    w->h = w->settings.time_step * (STEP_TICKS >> w->state.halvings) / STEP_TICKS;
    w->time = time_at(w, 0);
    weft_status prepared = world_first_system(w);
    w->stats = NULL;
    TRY(prepared);
    system_arrays a;
    weft_status status = WEFT_NO_MEMORY;
    if (arrays_alloc(sim, &a))
    {
        arrays_fill(sim, &a);
        tie_rows ties = world_ties(w);
        weft_system_def def = {.vertex_count = sim->model.vertex_count,
                               .row_start = a.row_start,
                               .column = a.column,
                               .values = a.values,
                               .b = a.b,
                               .z = a.z,
                               .filter = a.filter,
                               .positions = a.positions,
                               .tie_count = ties.count,
                               .tie_start = ties.start,
                               .tie_unknown = a.tie_unknown,
                               .tie_value = ties.value,
                               .element_vertices = world_system(w, NULL, NULL).element_vertices};
        status = weft_system_create(&def, out, error);
    }
    arrays_free(&a);
    return status;
}
