// A step in clusters. Those that the bodies make up now are found and made, of which most are there from the step
// before; each gets its part of the state and is stepped, in the order of first bodies. Where some have met, they are
// joined and stepped again from where they were. Only when all have succeeded does the scene's state change.
#include "sim/cluster.h"

#include <string.h>

int sim_live_count(const weft_sim* sim)
{
    int count = 0;
    for (int k = 0; k < sim->body_count; k++)
    {
        count += !sim->bodies[k].removed;
    }
    return count;
}

static void list_destroy(cluster** list, int count)
{
    for (int k = 0; k < count; k++)
    {
        cluster_destroy(list[k]);
    }
}

void clusters_drop(weft_sim* sim)
{
    clusters* all = &sim->clusters;
    list_destroy(all->list, all->count);
    all->count = 0;
}

void clusters_finish(clusters* all)
{
    list_destroy(all->list, all->count);
    mem_free(all->list);
    mem_free(all->control);
    mem_free(all->home);
    mem_free(all->before);
    mem_free(all->order);
    mem_free(all->where);
    mem_free(all->wide);
    mem_free(all->narrow);
    for (int kind = 0; kind < 3; kind++)
    {
        mem_free(all->feature_first[kind]);
    }
    *all = (clusters){0};
}

static void world_forget(world* w)
{
    solver_object_forget(&w->solver);
    method_object_forget(&w->method);
    method_object_forget(&w->fallback);
    w->contact ? contact_forget(w->contact) : (void)0;
}

void clusters_forget(weft_sim* sim)
{
    world_forget(&sim->world);
    for (int k = 0; k < sim->clusters.count; k++)
    {
        world_forget(&sim->clusters.list[k]->sim.world);
    }
}

bool clusters_never_part(const weft_sim* sim)
{
    return sim->body_count == 1;
}

// Of several bodies those that are stepped together may be others next time, and a run that was resumed begins with
// each apart: what multigrid keeps is not worth following them.
void clusters_settle(weft_sim* sim)
{
    if (!clusters_never_part(sim))
    {
        clusters_forget(sim);
        return;
    }
    solver_object_settle(&sim->world.solver);
    method_object_forget(&sim->world.method);
    method_object_forget(&sim->world.fallback);
    sim->world.contact ? contact_forget(sim->world.contact) : (void)0;
}

void clusters_weigh(weft_sim* sim)
{
    sim_weigh(sim);
    for (int k = 0; k < sim->clusters.count; k++)
    {
        cluster_refresh(sim, sim->clusters.list[k]);
        sim_weigh(&sim->clusters.list[k]->sim);
    }
}

static void set_air(model* m, const weft_air* air)
{
    element_group* group = element_groups_find(&m->groups, &kind_air);
    if (group) // lines and solids have none
    {
        group->air = *air;
    }
}

void clusters_set_air(weft_sim* sim, const weft_air* air)
{
    set_air(&sim->model, air);
    for (int k = 0; k < sim->clusters.count; k++)
    {
        set_air(&sim->clusters.list[k]->sim.model, air);
    }
}

// ---- who knows how to go on

// The world hands over to the bodies.
static void control_spread(weft_sim* sim, const world* from, int count)
{
    body_control c = control_of(from);
    for (int k = 0; k < count; k++)
    {
        c.cluster = sim->clusters.control[k].cluster;
        sim->clusters.control[k] = c;
    }
    sim->clusters.apart = true;
}

void clusters_carry(weft_sim* sim, const world* before, int body_count, bool same_bodies)
{
    sim->clusters.apart ? (void)0 : control_spread(sim, before, body_count);
    for (int k = 0; k < sim->body_count && !same_bodies; k++)
    {
        sim->clusters.control[k].history_filled = 0;
    }
}

// All bodies are in one: the simulation's own world steps. What it keeps from when it last did only saves time, and a
// run that was resumed meanwhile would not have it.
static weft_status step_whole(weft_sim* sim, weft_error* error)
{
    clusters* all = &sim->clusters;
    if (sim->def.contact && !sim->world.contact)
    {
        weft_status status = sim_build_contact(sim, error);
        if (status != WEFT_OK)
        {
            sim_drop_contact(sim);
            return status;
        }
    }
    if (all->apart)
    {
        solver_object_drop(&sim->world.solver);
        world_forget(&sim->world);
        body_control joined = control_join(sim, NULL, sim->body_count);
        control_put(&sim->world, &joined);
        all->apart = false;
    }
    clusters_drop(sim);
    return WEFT_OK;
}

// ---- making them

static cluster* take_from(cluster** list, int count, const weft_sim* sim, int id)
{
    for (int k = 0; k < count; k++)
    {
        cluster* c = list[k];
        if (c && c->member[0] == id && cluster_is_of(c, sim->clusters.home, sim->body_count, id))
        {
            list[k] = NULL;
            return c;
        }
    }
    return NULL;
}

// Those of `home`; what is there already stays. On failure some are missing: then all are to be dropped.
static weft_status make_missing(weft_sim* sim, weft_error* error)
{
    clusters* all = &sim->clusters;
    cluster** old = all->list;
    int old_count = all->count;
    cluster** list = MEM_NEW(sim->body_count, cluster*);
    if (!list)
    {
        return error_set(error, WEFT_NO_MEMORY, NULL, 0, "%s", weft_status_text(WEFT_NO_MEMORY));
    }
    int count = 0;
    weft_status status = WEFT_OK;
    for (int k = 0; k < sim->body_count && status == WEFT_OK; k++)
    {
        if (all->home[k] == k)
        {
            list[count] = take_from(old, old_count, sim, k);
            status = list[count] ? WEFT_OK : cluster_create(sim, all->home, k, &list[count], error);
            count += status == WEFT_OK;
        }
    }
    list_destroy(old, old_count);
    mem_free(old);
    all->list = list;
    all->count = count;
    status = status == WEFT_OK ? clusters_place(sim) : status;
    status == WEFT_OK ? (void)0 : clusters_drop(sim);
    return status;
}

static bool list_fits(const weft_sim* sim)
{
    const clusters* all = &sim->clusters;
    int found = 0, wanted = 0;
    for (int k = 0; k < sim->body_count; k++)
    {
        wanted += all->home[k] == k;
    }
    for (int k = 0; k < all->count; k++)
    {
        found += cluster_is_of(all->list[k], all->home, sim->body_count, all->list[k]->member[0]);
    }
    return found == wanted && found == all->count;
}

static int home_count(const weft_sim* sim)
{
    int count = 0;
    for (int k = 0; k < sim->body_count; k++)
    {
        count += sim->clusters.home[k] == k;
    }
    return count;
}

// The clusters of `home`, with the state dealt out to those that are to step.
static weft_status clusters_make(weft_sim* sim, weft_error* error)
{
    clusters* all = &sim->clusters;
    if (home_count(sim) <= 1)
    {
        return step_whole(sim, error);
    }
    all->apart ? (void)0 : control_spread(sim, &sim->world, sim->body_count);
    TRY(list_fits(sim) ? WEFT_OK : make_missing(sim, error));
    for (int k = 0; k < all->count; k++)
    {
        cluster_refresh(sim, all->list[k]);
    }
    return clusters_deal(sim);
}

static void control_settle(weft_sim* sim)
{
    for (int k = 0; k < sim->body_count; k++)
    {
        sim->clusters.control[k].cluster = sim->clusters.home[k] >= 0 ? sim->clusters.home[k] : k;
    }
}

static weft_status no_memory(weft_status status, weft_error* error)
{
    return status == WEFT_NO_MEMORY ? error_set(error, status, NULL, 0, "%s", weft_status_text(status)) : status;
}

weft_status clusters_prepare(weft_sim* sim, weft_error* error)
{
    clusters* all = &sim->clusters;
    TRY(no_memory(controls_reserve(sim), error));
    if (sim_live_count(sim) == 1)
    {
        return no_memory(step_whole(sim, error), error);
    }
    TRY(no_memory(near_reserve(sim), error));
    for (int k = 0; k < all->count; k++)
    {
        all->list[k]->stepped = false;
    }
    near_find(sim);
    TRY(no_memory(clusters_make(sim, error), error));
    control_settle(sim);
    return WEFT_OK;
}

// ---- stats

static void add_stages(weft_step_stats* to, const weft_step_stats* from)
{
    for (int k = 0; k < from->stage_count; k++)
    {
        int at = 0;
        while (at < to->stage_count && strcmp(to->stage_name[at], from->stage_name[k]) != 0)
        {
            at++;
        }
        if (at < WEFT_STAGE_MAX)
        {
            to->stage_name[at] = from->stage_name[k];
            to->stage_s[at] += from->stage_s[k];
            to->stage_count = int_max(to->stage_count, at + 1);
        }
    }
}

static void add_counters(weft_step_stats* to, const weft_step_stats* from)
{
    for (int k = 0; k < from->counter_count; k++)
    {
        int at = 0;
        while (at < to->counter_count && strcmp(to->counters[at].name, from->counters[k].name) != 0)
        {
            at++;
        }
        if (at == to->counter_count && at < WEFT_COUNTER_MAX)
        {
            to->counters[to->counter_count++] = (weft_counter){from->counters[k].name, 0.0};
        }
        if (at < WEFT_COUNTER_MAX)
        {
            to->counters[at].value += from->counters[k].value;
        }
    }
}

void stats_add_counts(weft_step_stats* to, const weft_step_stats* from)
{
    to->iterations += from->iterations;
    to->solves += from->solves;
    to->row_products += from->row_products;
    to->rescued += from->rescued;
    to->rejected += from->rejected;
    to->forced += from->forced;
    to->setup_s += from->setup_s;
    to->solve_s += from->solve_s;
    add_stages(to, from);
    add_counters(to, from);
}

// What was counted and timed adds up, so that iterations by solves are those of a solve; of substeps there are as many
// as the cluster with the most has.
static void add_stats(weft_step_stats* to, const weft_step_stats* from)
{
    stats_add_counts(to, from);
    to->limited += from->limited;
    to->overstretched += from->overstretched;
    to->substeps = int_max(to->substeps, from->substeps);
    to->constraints += from->constraints;
    to->contacts += from->contacts;
    to->last_resort += from->last_resort;
    to->energy.kinetic += from->energy.kinetic;
    to->energy.stretch += from->energy.stretch;
    to->energy.shear += from->energy.shear;
    to->energy.bend += from->energy.bend;
    to->energy.gravity += from->energy.gravity;
    to->energy.total += from->energy.total;
    to->max_stretch = fmax(to->max_stretch, from->max_stretch);
}

// Of the last solve: what the largest cluster says.
static void take_last_solve(weft_step_stats* to, const weft_step_stats* from)
{
    to->solver = from->solver;
    to->residual = from->residual;
    to->rate = from->rate;
    to->level_count = from->level_count;
    to->operator_complexity = from->operator_complexity;
    to->components = from->components;
}

static void sum_stats(const weft_sim* sim, weft_step_stats* stats)
{
    int most = -1;
    for (int k = 0; k < sim->clusters.count; k++)
    {
        const cluster* c = sim->clusters.list[k];
        add_stats(stats, &c->stats);
        if (c->stepped && c->sim.model.vertex_count > most)
        {
            most = c->sim.model.vertex_count;
            take_last_solve(stats, &c->stats);
        }
    }
}

// ---- a step

// The part of the step that is under way in the whole simulation.
static weft_status world_step(const weft_sim* whole, world* w, weft_step_stats* stats)
{
    w->look = whole->look;
    w->look_user = whole->look_user;
    w->stats = stats;
    weft_status status = step_run(w, whole->part_from, whole->part_until);
    w->stats = NULL;
    return status;
}

static weft_status cluster_step(const weft_sim* whole, cluster* c)
{
    for (int k = 0; k < c->sim.body_count; k++)
    {
        c->swept[k] = box_empty();
    }
    c->sim.world.accepted(&c->sim); // where it starts
    c->stats = (weft_step_stats){.rate = NAN, .operator_complexity = NAN, .solver = ""};
    weft_status status = world_step(whole, &c->sim.world, &c->stats);
    c->stepped = status == WEFT_OK;
    return status;
}

// Clusters that a failed step has joined are again as before; those that it has made are found anew.
static void remember(weft_sim* sim)
{
    clusters* all = &sim->clusters;
    all->apart_before = all->apart;
    for (int k = 0; k < all->control_count; k++)
    {
        all->before[k] = all->control[k].cluster;
    }
}

void clusters_undo(weft_sim* sim)
{
    clusters* all = &sim->clusters;
    for (int k = 0; k < all->count; k++)
    {
        cluster* c = all->list[k];
        c->stepped ? step_undo(&c->sim.world) : (void)0;
        c->stepped = false;
    }
    for (int k = 0; k < all->control_count; k++)
    {
        all->control[k].cluster = all->before[k];
    }
    all->apart = all->apart_before;
}

// One turn: steps those that have not been.
static weft_status step_all(weft_sim* sim, weft_step_stats* stats, const weft_sim** out_failed)
{
    clusters* all = &sim->clusters;
    *out_failed = sim;
    if (all->count == 0)
    {
        return world_step(sim, &sim->world, stats);
    }
    for (int k = 0; k < all->count; k++)
    {
        cluster* c = all->list[k];
        weft_status status = c->stepped ? WEFT_OK : cluster_step(sim, c);
        if (status != WEFT_OK)
        {
            *out_failed = &c->sim;
            return status;
        }
    }
    return WEFT_OK;
}

static weft_status run(weft_sim* sim, weft_step_stats* stats, const weft_sim** out_failed, weft_error* error)
{
    TRY(clusters_prepare(sim, error));
    TRY(step_all(sim, stats, out_failed));
    while (sim->clusters.count > 0 && near_meet(sim))
    {
        *out_failed = NULL;
        TRY(no_memory(clusters_make(sim, error), error));
        control_settle(sim);
        TRY(step_all(sim, stats, out_failed));
    }
    *out_failed = NULL;
    return sim->clusters.count > 0 ? no_memory(clusters_reserve_collect(sim), error) : WEFT_OK;
}

weft_status clusters_step(weft_sim* sim, weft_step_stats* stats, const weft_sim** out_failed, weft_error* error)
{
    *out_failed = NULL;
    TRY(no_memory(controls_reserve(sim), error));
    remember(sim);
    weft_status status = run(sim, stats, out_failed, error);
    sum_stats(sim, stats);
    status == WEFT_OK ? (void)0 : clusters_undo(sim);
    return status;
}
