// Limits and coarse levels of position based dynamics: when they are made, and one cycle over the levels.
//
// A cycle goes from the coarsest level to level 1. On each, the limits of its links are projected, then those of
// its vertices (cardinality 1: long-range limits and contact with obstacles' faces); children follow their parents by
// what these have moved since q (7). Section 7 of the paper saves q on each level anew, before that is solved, so that
// a child of level l follows what level l + 1 has done and no coarser one: most of the correction is lost. Here q is
// saved once, before the coarsest level. `hierarchy` = 1 is the paper's. `cycle` = 1 is a V: the levels are swept from
// the first to the coarsest before. Vertices of coarse levels are vertices of all finer ones, so that nothing has to be
// restricted on the way.
#include <string.h>

#include "step/pbd.h"

enum
{
    HIERARCHY_PAPER = 1,
    CYCLE_V = 1
};

static weft_status arrays_make(pbd_reach* r, int n)
{
    r->anchors = r->anchors ? r->anchors : MEM_NEW(n, int);
    r->now = r->now ? r->now : MEM_NEW(n, int);
    return r->anchors && r->now ? WEFT_OK : WEFT_NO_MEMORY;
}

// The paper has limits that do not give way, and its k has no units.
static bool is_compliant(const world* w)
{
    return world_setting(w, "hard") == 0.0 && world_setting(w, "legacy") == 0.0 &&
           world_setting(w, "hierarchy") != HIERARCHY_PAPER;
}

// What a cycle keeps.
static weft_status make_room(world* w, pbd_data* d)
{
    pbd_reach* r = &d->reach;
    int saved = d->has_levels && world_setting(w, "cycle") == CYCLE_V ? int_max(r->levels.level_count, 1) : 1;
    mem_free(r->q);
    r->q = MEM_NEW((size_t)saved * (size_t)w->model->vertex_count, vec3);
    return r->q ? WEFT_OK : WEFT_NO_MEMORY;
}

// And how links give way: of the levels as they are.
static weft_status make_cycle(world* w, pbd_data* d, const graph* g)
{
    pbd_reach* r = &d->reach;
    TRY(make_room(w, d));
    softness_finish(&r->soft);
    r->compliant = d->has_levels && is_compliant(w);
    return r->compliant ? softness_create(&r->soft, &r->levels, g, w->model) : WEFT_OK;
}

static weft_status make_from(world* w, pbd_data* d, const graph* g)
{
    pbd_reach* r = &d->reach;
    int chosen = d->has_levels ? (int)world_setting(w, "levels") : 1;
    hierarchy_def def = {.levels = chosen > 0 ? int_min(chosen, LEVELS_MAX) : LEVELS_MAX,
                         .rule = d->has_levels ? (rest_rule)world_setting(w, "rest") : REST_GEODESIC,
                         .grids = d->has_levels && world_setting(w, "meshes") == 0.0,
                         .bends = d->has_levels && world_setting(w, "bending") == 1.0 && is_compliant(w),
                         .anchors = r->now};
    if (graph_groups(g, r->anchors, r->now) < 0)
    {
        return WEFT_NO_MEMORY;
    }
    TRY(d->has_levels ? hierarchy_create(&r->levels, g, &def) : WEFT_OK);
    TRY(make_cycle(w, d, g));
    return world_setting(w, "limits") == 1.0 ? limits_create(&r->limits, g, r->now) : WEFT_OK;
}

// Pins come and go by edits; what they hold in this step is `hold`'s business.
weft_status pbd_reach_make(world* w, pbd_data* d)
{
    pbd_reach* r = &d->reach;
    size_t size = (size_t)w->model->vertex_count * sizeof(int);
    if (!d->has_levels && world_setting(w, "limits") == 0.0)
    {
        return WEFT_OK;
    }
    TRY(arrays_make(r, w->model->vertex_count));
    graph_anchors(w->model, r->now);
    if (r->made && memcmp(r->now, r->anchors, size) == 0)
    {
        return WEFT_OK;
    }
    memcpy(r->anchors, r->now, size);
    limits_finish(&r->limits);
    hierarchy_finish(&r->levels);
    softness_finish(&r->soft);
    graph_finish(&r->graph);
    d->inv_mass[0] = -1.0; // what is held goes to the new levels
    weft_status status = graph_create(&r->graph, w->model);
    status = status == WEFT_OK ? make_from(w, d, &r->graph) : status;
    r->made = status == WEFT_OK;
    return status;
}

weft_status pbd_reach_mend(world* w, pbd_data* d, const mend* m)
{
    pbd_reach* r = &d->reach;
    size_t n = (size_t)w->model->vertex_count, before = (size_t)m->before;
    if (!r->made)
    {
        return WEFT_OK;
    }
    if (!array_grow((void**)&r->anchors, before, n, sizeof(int)) ||
        !array_grow((void**)&r->now, before, n, sizeof(int)))
    {
        return WEFT_NO_MEMORY;
    }
    memset(r->anchors + before, -1, (n - before) * sizeof(int)); // what pins hold does not tear
    TRY(graph_mend(&r->graph, w->model, m->before, m->from));
    TRY(hierarchy_mend(&r->levels, &r->graph, m->before, m->from));
    TRY(graph_components(&r->graph));
    TRY(make_room(w, d));
    TRY(r->compliant ? softness_mend(&r->soft, &r->levels, m->before, m->from) : WEFT_OK);
    pbd_reach_hold(w, d);
    if (r->limits.total == 0)
    {
        return WEFT_OK;
    }
    // A cut may lengthen the way to the pins of all that hangs below it: ways are measured anew.
    limits_finish(&r->limits);
    TRY(graph_groups(&r->graph, r->anchors, r->now) >= 0 ? WEFT_OK : WEFT_NO_MEMORY);
    return limits_create(&r->limits, &r->graph, r->now);
}

void pbd_reach_finish(pbd_reach* r)
{
    limits_finish(&r->limits);
    hierarchy_finish(&r->levels);
    softness_finish(&r->soft);
    graph_finish(&r->graph);
    mem_free(r->anchors);
    mem_free(r->now);
    mem_free(r->q);
    mem_free(r->facing);
    *r = (pbd_reach){0};
}

void pbd_reach_hold(world* w, pbd_data* d)
{
    pbd_reach* r = &d->reach;
    r->compliant ? softness_hold(&r->soft, &r->levels, w->model, d->inv_mass) : hierarchy_hold(&r->levels, d->inv_mass);
}

static void save_level(const level* l, const vec3* x, vec3* q)
{
    for (int k = 0; k < l->vertex_count; k++)
    {
        q[l->vertex[k]] = x[l->vertex[k]];
    }
}

// What a cycle is.
typedef struct reach_cycle
{
    int sweeps; // on each level, each time
    bool paper, down, remember;
} reach_cycle;

// Of a V: the places of a level's vertices before it is first swept. What moved on finer levels before is no part of
// what its children follow: they have moved there by themselves.
static vec3* level_q(const pbd_reach* r, int k)
{
    return r->q + (size_t)k * (size_t)r->levels.vertex_count;
}

static void level_sweep(world* w, pbd_data* d, const level* l, const reach_cycle* c, bool backward)
{
    pbd_reach* r = &d->reach;
    for (int turn = 0; turn < c->sweeps; turn++)
    {
        link_sweep how = {
            .pool = w->pool, .cpu = w->cpu, .backward = (turn % 2 == 1) != backward, .remember = c->remember};
        links_sweep(&l->limits, &how, w->x_next);
        limit_turn limits = {.list = l->vertex, .count = l->vertex_count};
        limits_project(&r->limits, w->pool, d->inv_mass, &limits, w->x_next);
    }
}

static void cycle_begin(world* w, pbd_data* d, const pbd_moment* now, const reach_cycle* c)
{
    pbd_reach* r = &d->reach;
    softness_step soft = {.h = now->h, .sweeps = now->iterations, .coarse_sweeps = c->sweeps * (c->down ? 2 : 1)};
    r->compliant ? softness_begin(&r->soft, &r->levels, &soft) : (void)0;
    c->down ? NULL : memcpy(r->q, w->x_next, (size_t)w->model->vertex_count * sizeof(vec3));
    for (int k = 0; k < r->levels.level_count && c->remember; k++)
    {
        const links* l = &r->levels.levels[k].limits;
        memset(l->lambda, 0, (size_t)l->count * sizeof(double));
    }
}

// What lies on obstacles follows no coarse correction into them: a vertex of the level, which others follow, and in the
// end those of the cloth.
static void press_out(world* w, const pbd_reach* r, int at, const vec3* q)
{
    contact_coarse level = {r->levels.coarsest, at, q};
    w->contact ? contact_project_coarse(w->contact, &level, w->x_next) : (void)0;
}

double pbd_reach_cycle(world* w, pbd_data* d, const pbd_moment* now)
{
    pbd_reach* r = &d->reach;
    int last = r->levels.level_count - 1;
    if (last < 0)
    {
        return 0.0;
    }
    reach_cycle c = {.sweeps = (int)world_setting(w, "coarse_iterations"),
                     .paper = world_setting(w, "hierarchy") == HIERARCHY_PAPER,
                     .down = world_setting(w, "cycle") == CYCLE_V};
    c.remember = r->compliant && (c.sweeps > 1 || c.down);
    double projected = 0.0;
    cycle_begin(w, d, now, &c);
    for (int k = 0; k < last && c.down; k++)
    {
        save_level(&r->levels.levels[k], w->x_next, level_q(r, k));
        level_sweep(w, d, &r->levels.levels[k], &c, false);
        projected += (double)c.sweeps * r->levels.levels[k].limits.count;
    }
    for (int k = last; k >= 0; k--)
    {
        const level* l = &r->levels.levels[k];
        vec3* q = c.down ? level_q(r, k) : r->q;
        c.paper || (c.down && k == last) ? save_level(l, w->x_next, q) : (void)0;
        level_sweep(w, d, l, &c, c.down);
        press_out(w, r, k + 1, q);
        hierarchy_prolong(l, w->pool, d->inv_mass, q, w->x_next);
        projected += (double)c.sweeps * l->limits.count;
    }
    c.down || c.paper ? (void)0 : press_out(w, r, 0, r->q);
    return projected;
}
