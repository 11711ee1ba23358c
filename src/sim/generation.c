// Generations of the model. Edits that change elements or bodies build model, world and contact anew from the bodies,
// beside the present ones, which go on living until that has succeeded. Vertices of a cloth are found again by its
// place in the list of cloths and the user's numbers.
#include <string.h>

#include "sim/edits.h"
#include "sim/join.h"
#include "sim/tear.h"

static void orders_swap(weft_sim* sim, generation* g)
{
    for (int k = 0; k < g->count; k++)
    {
        body* b = &sim->bodies[k];
        body_order kept = g->orders[k];
        g->orders[k] = (body_order){b->first, b->scene_vertex, b->user_vertex};
        b->first = kept.first;
        b->scene_vertex = kept.scene_vertex;
        b->user_vertex = kept.user_vertex;
    }
}

weft_status generation_begin(weft_sim* sim, generation* old, weft_error* error)
{
    WEFT_ASSERT(sim->built);
    *old = (generation){.orders = MEM_NEW(sim->body_count, body_order)};
    if (!old->orders)
    {
        return edit_error(WEFT_NO_MEMORY, error);
    }
    while (old->count < sim->body_count && sim->bodies[old->count].scene_vertex) // cloth that was just added has none
    {
        old->count++;
    }
    orders_swap(sim, old);
    routes_drop(sim);
    old->model = sim->model;
    old->world = sim->world;
    old->list = sim->clusters.list;
    old->cluster_count = sim->clusters.count;
    sim->clusters.list = NULL;
    sim->clusters.count = 0;
    old->mend_count = sim->mends.count;
    old->stale = sim->mends.stale;
    sim->mends.count = 0;
    sim->mends.stale = false;
    sim->model = (model){0};
    sim->world = (world){0};
    sim->built = false;
    weft_status status = sim_build(sim, error);
    if (status != WEFT_OK)
    {
        generation_undo(sim, old);
        return status;
    }
    sim->model.generation = old->model.generation + 1;
    return WEFT_OK;
}

void generation_undo(weft_sim* sim, generation* old)
{
    sim_unbuild(sim);
    orders_swap(sim, old);
    sim->model = old->model;
    sim->world = old->world;
    clusters_drop(sim);
    mem_free(sim->clusters.list);
    sim->clusters.list = old->list;
    sim->clusters.count = old->cluster_count;
    sim->mends.count = old->mend_count;
    sim->mends.stale = old->stale;
    sim->built = true;
    mem_free(old->orders);
    *old = (generation){0};
}

void generation_keep(generation* old)
{
    for (int k = 0; k < old->cluster_count; k++)
    {
        cluster_destroy(old->list[k]);
    }
    mem_free(old->list);
    old->world.model = &old->model;
    world_finish(&old->world);
    sim_model_finish(&old->model);
    for (int k = 0; k < old->count; k++)
    {
        mem_free(old->orders[k].scene_vertex);
        mem_free(old->orders[k].user_vertex);
    }
    mem_free(old->orders);
    *old = (generation){0};
}

// ---- carrying the state over

// By the user's vertices: a cloth that has torn has more of them, in another order. What was torn off starts as what it
// was a part of; `count` is how many there were.
static void carry_body(const body* b, const body_order* order, int count, const state* from, state* to)
{
    for (int u = 0; u < b->rest.vertex_count; u++)
    {
        int i = b->scene_vertex[u], was = order->scene_vertex[b->torn_count > 0 ? body_torn_from(b, u, count) : u];
        to->x[i] = from->x[was];
        to->v[i] = from->v[was];
        to->acceleration[i] = from->acceleration[was];
        to->earlier[0][i] = from->earlier[0][was];
        to->earlier[1][i] = from->earlier[1][was];
        to->contact.memory[i] = from->contact.memory[was];
    }
}

// Vertices that a body had.
static int count_before(const generation* old, int k)
{
    int end = k + 1 < old->count ? old->orders[k + 1].first : old->model.vertex_count;
    return end - old->orders[k].first;
}

// The number that a body of the old generation has now, cloths and then obstacles; -1: it was removed.
static int body_now(const weft_sim* sim, const generation* old, int body)
{
    if (body < old->count)
    {
        return sim->bodies[body].removed ? -1 : body;
    }
    int obstacle = body - old->count;
    return sim->obstacles[obstacle].removed ? -1 : sim->body_count + obstacle;
}

static int vertex_now(const weft_sim* sim, const generation* old, int vertex)
{
    int k = old->count - 1;
    while (k > 0 && vertex < old->orders[k].first)
    {
        k--;
    }
    const body* b = &sim->bodies[k];
    return b->removed ? -1 : b->scene_vertex[old->orders[k].user_vertex[vertex - old->orders[k].first]];
}

// What was torn off is where it was a part of, and as unsettled or squeezed.
static weft_status carry_torn_marks(const weft_sim* sim, const generation* old, int k, mark_list* to)
{
    const body* b = &sim->bodies[k];
    const mark_list* from = &old->world.state.contact.marks;
    int count = count_before(old, k);
    for (int u = count; u < b->rest.vertex_count && b->torn_count > 0; u++)
    {
        int was = old->orders[k].scene_vertex[body_torn_from(b, u, count)];
        for (int n = marks_first(from, was); n < from->count && from->item[n].vertex == was; n++)
        {
            squeeze_mark mark = from->item[n];
            mark.vertex = b->scene_vertex[u];
            mark.body = body_now(sim, old, mark.body);
            TRY(mark.body >= 0 ? marks_add(to, mark) : WEFT_OK);
        }
    }
    return WEFT_OK;
}

static weft_status carry_marks(const weft_sim* sim, const generation* old, mark_list* to)
{
    const mark_list* from = &old->world.state.contact.marks;
    for (int k = 0; k < old->count; k++)
    {
        TRY(sim->bodies[k].removed ? WEFT_OK : carry_torn_marks(sim, old, k, to));
    }
    for (int k = 0; k < from->count; k++)
    {
        squeeze_mark mark = from->item[k];
        mark.vertex = vertex_now(sim, old, mark.vertex);
        mark.body = body_now(sim, old, mark.body);
        TRY(mark.vertex >= 0 && mark.body >= 0 ? marks_add(to, mark) : WEFT_OK);
    }
    marks_sort(to);
    return WEFT_OK;
}

static weft_status carry_over(weft_sim* sim, const generation* old, bool same_bodies)
{
    const state* from = &old->world.state;
    state* to = &sim->world.state;
    if (same_bodies)
    {
        TRY(state_copy(to, from));
    }
    for (int k = 0; k < old->count && !same_bodies; k++)
    {
        if (!sim->bodies[k].removed)
        {
            carry_body(&sim->bodies[k], &old->orders[k], count_before(old, k), from, to);
        }
    }
    TRY(same_bodies ? WEFT_OK : carry_marks(sim, old, &to->contact.marks));
    to->step_count = from->step_count;
    to->halvings = from->halvings;
    to->calm = from->calm;
    to->waits = from->waits;
    to->tries = from->tries;
    double* memory = solver_object_memory(&sim->world.solver);
    if (memory)
    {
        memcpy(memory, solver_object_memory(&old->world.solver), SOLVER_MEMORY * sizeof(double));
    }
    return WEFT_OK;
}

weft_status generation_next(weft_sim* sim, bool same_bodies, weft_error* error)
{
    generation old;
    TRY(generation_begin(sim, &old, error));
    weft_status status = controls_reserve(sim);
    status = status == WEFT_OK ? carry_over(sim, &old, same_bodies) : status;
    if (status != WEFT_OK)
    {
        generation_undo(sim, &old);
        return edit_error(status, error);
    }
    clusters_carry(sim, &old.world, old.count, same_bodies);
    generation_keep(&old);
    return WEFT_OK;
}
