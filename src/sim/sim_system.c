// The linear system of the next step, as the user may take it along: unfiltered, in the user's order. That of several
// clusters has a block for each, and nothing between them.
#include <string.h>

#include "sim/cluster.h"
#include "solve/solve.h"

// One cluster, or the simulation where it has none.
typedef struct system_part
{
    weft_sim* sim;
    const int* member; // NULL: all bodies
    int* user;         // [vertex_count] the user's order over all cloths, one after the other
} system_part;

typedef struct system_arrays
{
    system_part* parts; // [part_count]
    int part_count;
    int *row_start, *column, *tie_start, *tie_unknown;
    double *values, *filter, *tie_value;
    vec3 *b, *z, *positions;
    int tie_count; // rows
} system_arrays;

static void arrays_free(system_arrays* a)
{
    for (int p = 0; p < a->part_count; p++)
    {
        mem_free(a->parts[p].user);
    }
    mem_free(a->parts);
    mem_free(a->row_start);
    mem_free(a->column);
    mem_free(a->tie_start);
    mem_free(a->tie_unknown);
    mem_free(a->tie_value);
    mem_free(a->values);
    mem_free(a->filter);
    mem_free(a->b);
    mem_free(a->z);
    mem_free(a->positions);
}

static int* user_of_part(const weft_sim* sim, const system_part* p)
{
    int* user = MEM_NEW(p->sim->model.vertex_count, int);
    for (int k = 0; k < p->sim->body_count && user; k++)
    {
        const body *own = &p->sim->bodies[k], *b = &sim->bodies[p->member ? p->member[k] : k];
        // By the user's vertices; of a closed seam the smallest counts, and has the place of all.
        for (int i = 0, place = 0; i < own->rest.vertex_count; i++)
        {
            bool first = own->user_vertex[own->scene_vertex[i] - own->first] == i;
            user[own->scene_vertex[i]] = first ? b->first + place : user[own->scene_vertex[i]];
            place += first;
        }
    }
    return user;
}

static weft_status find_parts(weft_sim* sim, system_arrays* a)
{
    const clusters* all = &sim->clusters;
    a->parts = MEM_NEW(int_max(all->count, 1), system_part);
    while (a->parts && a->part_count < int_max(all->count, 1))
    {
        system_part* p = &a->parts[a->part_count++];
        p->sim = all->count > 0 ? &all->list[a->part_count - 1]->sim : sim;
        p->member = all->count > 0 ? all->list[a->part_count - 1]->member : NULL;
        p->user = user_of_part(sim, p);
        TRY(p->user ? WEFT_OK : WEFT_NO_MEMORY);
    }
    return a->parts ? WEFT_OK : WEFT_NO_MEMORY;
}

static weft_status prepare_part(const system_part* p)
{
    world* w = &p->sim->world;
    weft_step_stats stats = {0};
    w->stats = &stats;
    w->h = w->settings.time_step * (STEP_TICKS >> w->state.halvings) / STEP_TICKS;
    w->time = time_at(w, 0);
    weft_status status = world_first_system(w);
    w->stats = NULL;
    return status;
}

static weft_status arrays_alloc(int vertex_count, system_arrays* a)
{
    size_t n = (size_t)vertex_count, blocks = 0, ties = 0;
    for (int p = 0; p < a->part_count; p++)
    {
        blocks += (size_t)a->parts[p].sim->world.A.pattern->block_count;
        ties += (size_t)a->parts[p].sim->model.ties.count;
    }
    a->row_start = MEM_NEW(n + 1, int);
    a->column = MEM_NEW(blocks, int);
    a->tie_start = MEM_NEW(3 * ties + 1, int);
    a->tie_unknown = MEM_NEW(TIE_ENTRIES * ties, int);
    a->tie_value = MEM_NEW(TIE_ENTRIES * ties, double);
    a->values = MEM_NEW(9 * blocks, double);
    a->filter = MEM_NEW(9 * n, double);
    a->b = MEM_NEW(n, vec3);
    a->z = MEM_NEW(n, vec3);
    a->positions = MEM_NEW(n, vec3);
    bool ok = blocks <= INT32_MAX && a->row_start && a->column && a->tie_start && a->tie_unknown && a->tie_value &&
              a->values && a->filter && a->b && a->z && a->positions;
    return ok ? WEFT_OK : WEFT_NO_MEMORY;
}

// Lengths of rows, each behind its place.
static void count_rows(const system_part* part, system_arrays* a)
{
    const bsr_pattern* p = part->sim->world.A.pattern;
    for (int i = 0; i < p->row_count; i++)
    {
        a->row_start[part->user[i] + 1] = p->row_start[i + 1] - p->row_start[i];
    }
}

static void fill_rows(const system_part* part, system_arrays* a)
{
    const world* w = &part->sim->world;
    const bsr_pattern* p = w->A.pattern;
    for (int i = 0; i < p->row_count; i++)
    {
        int u = part->user[i], begin = p->row_start[i], count = p->row_start[i + 1] - begin;
        for (int k = 0; k < count; k++)
        {
            a->column[a->row_start[u] + k] = part->user[p->column[begin + k]];
        }
        memcpy(a->values + 9 * (size_t)a->row_start[u], w->A.values + 9 * (size_t)begin,
               9 * (size_t)count * sizeof(double));
        mat3 identity = m3_diagonal(1.0);
        memcpy(a->filter + 9 * (size_t)u, identity.m, sizeof(identity.m));
        a->b[u] = w->rhs[i];
        a->positions[u] = w->at[i];
    }
    for (int k = 0; k < w->filter_count; k++)
    {
        memcpy(a->filter + 9 * (size_t)part->user[w->filter[k].vertex], w->filter[k].S, 9 * sizeof(double));
    }
    for (int k = 0; k < w->held_count; k++)
    {
        a->z[part->user[w->held[k]]] = w->z[w->held[k]];
    }
}

static void fill_ties(const system_part* part, system_arrays* a)
{
    tie_rows ties = world_ties(&part->sim->world);
    for (int row = 0; row < ties.count; row++)
    {
        int at = a->tie_start[a->tie_count];
        for (int k = ties.start[row]; k < ties.start[row + 1]; k++, at++)
        {
            a->tie_unknown[at] = 3 * part->user[ties.unknown[k] / 3] + ties.unknown[k] % 3;
            a->tie_value[at] = ties.value[k];
        }
        a->tie_start[++a->tie_count] = at;
    }
}

static int arrays_fill(int vertex_count, system_arrays* a)
{
    int element_vertices = 0;
    for (int p = 0; p < a->part_count; p++)
    {
        count_rows(&a->parts[p], a);
    }
    for (int u = 0; u < vertex_count; u++)
    {
        a->row_start[u + 1] += a->row_start[u];
    }
    for (int p = 0; p < a->part_count; p++)
    {
        fill_rows(&a->parts[p], a);
        fill_ties(&a->parts[p], a);
        const world* w = &a->parts[p].sim->world;
        element_vertices = int_max(element_vertices, world_system(w, NULL, NULL).element_vertices);
    }
    return element_vertices;
}

static weft_status make_system(weft_sim* sim, system_arrays* a, weft_system** out, weft_error* error)
{
    TRY(find_parts(sim, a));
    for (int p = 0; p < a->part_count; p++)
    {
        TRY(prepare_part(&a->parts[p]));
    }
    int n = sim->model.vertex_count;
    TRY(arrays_alloc(n, a));
    int element_vertices = arrays_fill(n, a);
    weft_system_def def = {.vertex_count = n,
                           .row_start = a->row_start,
                           .column = a->column,
                           .values = a->values,
                           .b = a->b,
                           .z = a->z,
                           .filter = a->filter,
                           .positions = a->positions,
                           .tie_count = a->tie_count,
                           .tie_start = a->tie_start,
                           .tie_unknown = a->tie_unknown,
                           .tie_value = a->tie_value,
                           .element_vertices = element_vertices};
    return weft_system_create(&def, out, error);
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
    TRY(clusters_prepare(sim, error));
    system_arrays a = {0};
    weft_status status = make_system(sim, &a, out, error);
    arrays_free(&a);
    return status;
}
