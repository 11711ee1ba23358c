// Which bodies can touch in a step. Before it, a guess: the box that a body is in now and, going on as it does for
// twice the step, will be in, with a margin of twice the distance at which contact counts and of what weight may do.
// Bodies whose guesses overlap are stepped together. Those that were together stay so until boxes with twice of all
// that are apart, so that clusters do not come and go. After the step, the truth: boxes around all positions at ends of
// substeps, between which vertices move along straight lines. Where those of two clusters come closer than contact
// counts, the step is taken back and taken again together: no guess can let anything pass.
//
// Each decision is of two bodies, and of what they alone do.
#include <stdlib.h>
#include <string.h>

#include "sim/cluster.h"

static const double guess_ahead = 2.0; // steps
static const double guess_reach = 2.0; // of the distance at which contact counts
static const double part_factor = 2.0; // of both, and of the rest: what is to part must be clearly apart

box3 box_empty(void)
{
    return (box3){v3(INFINITY, INFINITY, INFINITY), v3(-INFINITY, -INFINITY, -INFINITY)};
}

void box_add(box3* box, vec3 x)
{
    box->low = v3(fmin(box->low.x, x.x), fmin(box->low.y, x.y), fmin(box->low.z, x.z));
    box->high = v3(fmax(box->high.x, x.x), fmax(box->high.y, x.y), fmax(box->high.z, x.z));
}

static box3 box_grow(box3 box, double margin)
{
    vec3 m = v3(margin, margin, margin);
    return (box3){v3_sub(box.low, m), v3_add(box.high, m)};
}

static bool boxes_meet(const box3* a, const box3* b)
{
    return a->low.x <= b->high.x && b->low.x <= a->high.x && a->low.y <= b->high.y && b->low.y <= a->high.y &&
           a->low.z <= b->high.z && b->low.z <= a->high.z;
}

static bool scratch_fits(const clusters* s)
{
    return s->home && s->order && s->where && s->wide && s->narrow;
}

weft_status near_reserve(weft_sim* sim)
{
    clusters* s = &sim->clusters;
    size_t n = (size_t)sim->body_count;
    if (s->scratch_count == sim->body_count && scratch_fits(s))
    {
        return WEFT_OK;
    }
    clusters_drop(sim); // bodies have changed: places do not count any more
    mem_free(s->home);
    mem_free(s->order);
    mem_free(s->where);
    mem_free(s->wide);
    mem_free(s->narrow);
    s->home = MEM_NEW(n, int);
    s->order = MEM_NEW(n, int);
    s->where = MEM_NEW(2 * n, int);
    s->wide = MEM_NEW(n, box3);
    s->narrow = MEM_NEW(n, box3);
    s->scratch_count = sim->body_count;
    for (int k = 0; k < sim->body_count && s->order; k++)
    {
        s->order[k] = k;
    }
    return scratch_fits(s) ? WEFT_OK : WEFT_NO_MEMORY;
}

// ---- sets of bodies: home[k] leads to a body that stands for itself, the first of its set

static int root_of(int* home, int k)
{
    while (home[k] != k)
    {
        home[k] = home[home[k]];
        k = home[k];
    }
    return k;
}

static void unite(int* home, int a, int b)
{
    int p = root_of(home, a), q = root_of(home, b);
    home[int_max(p, q)] = int_min(p, q);
}

// Every body gets the first of its set; those that were removed are in none.
static void home_settle(weft_sim* sim)
{
    int* home = sim->clusters.home;
    for (int k = 0; k < sim->body_count; k++)
    {
        home[k] = root_of(home, k); // comes before k, and so is settled
    }
    for (int k = 0; k < sim->body_count; k++)
    {
        home[k] = sim->bodies[k].removed ? -1 : home[k];
    }
}

// ---- pairs

// Exclusions of single vertices leave the others to contact.
static bool pair_is_excluded(const weft_sim* sim, int a, int b)
{
    return sim->exclusion_count > 0 && sim_is_excluded(sim, a, -1, b);
}

typedef void pair_fn(weft_sim* sim, int a, int b);

// By insertion: from step to step the order hardly changes.
static void sort_by_low(weft_sim* sim)
{
    clusters* s = &sim->clusters;
    for (int k = 1; k < sim->body_count; k++)
    {
        int body = s->order[k], at = k;
        while (at > 0 && s->wide[s->order[at - 1]].low.x > s->wide[body].low.x)
        {
            s->order[at] = s->order[at - 1];
            at--;
        }
        s->order[at] = body;
    }
}

// Calls out all pairs whose wide boxes meet.
static void meet_wide(weft_sim* sim, pair_fn* fn)
{
    clusters* s = &sim->clusters;
    sort_by_low(sim);
    for (int k = 0; k < sim->body_count; k++)
    {
        const box3* box = &s->wide[s->order[k]];
        for (int j = k + 1; j < sim->body_count && s->wide[s->order[j]].low.x <= box->high.x; j++)
        {
            if (boxes_meet(box, &s->wide[s->order[j]]))
            {
                fn(sim, s->order[k], s->order[j]);
            }
        }
    }
}

// ---- the guess

static box3 guess(const weft_sim* sim, int k, double factor)
{
    const body* b = &sim->bodies[k];
    const state* s = &sim->world.state;
    double h = sim->def.time_step;
    box3 box = box_empty();
    for (int i = b->first; i < b->first + b->scene_count; i++)
    {
        box_add(&box, s->x[i]);
        box_add(&box, v3_madd(s->x[i], factor * guess_ahead * h, s->v[i]));
    }
    double margin = guess_reach * sim_contact_reach(sim, b) + 2.0 * h * h * v3_length(sim->def.gravity);
    return box_grow(box, factor * margin);
}

static void join_near(weft_sim* sim, int a, int b)
{
    clusters* s = &sim->clusters;
    bool together = s->control[a].cluster == s->control[b].cluster;
    if ((together || boxes_meet(&s->narrow[a], &s->narrow[b])) && !pair_is_excluded(sim, a, b))
    {
        unite(s->home, a, b);
    }
}

// Layers that have to change places do so together, however far they are apart. Marks and bodies go by vertex.
static void join_unsettled(weft_sim* sim)
{
    const mark_list* marks = &sim->world.state.contact.marks;
    for (int k = 0, body = 0; k < marks->count; k++)
    {
        const squeeze_mark* mark = &marks->item[k];
        while (body + 1 < sim->body_count && mark->vertex >= sim->bodies[body + 1].first)
        {
            body++;
        }
        if (mark->kind != MARK_SQUEEZED && mark->body < sim->body_count && !sim->bodies[mark->body].removed)
        {
            unite(sim->clusters.home, body, mark->body);
        }
    }
}

void near_find(weft_sim* sim)
{
    clusters* s = &sim->clusters;
    for (int k = 0; k < sim->body_count; k++)
    {
        s->home[k] = k;
        s->narrow[k] = guess(sim, k, 1.0);
        s->wide[k] = guess(sim, k, part_factor);
    }
    for (int k = 0; k < sim->seam_count; k++)
    {
        unite(s->home, sim->seams[k].body, sim->seams[k].to);
    }
    if (sim->def.contact)
    {
        join_unsettled(sim);
        meet_wide(sim, join_near);
    }
    home_settle(sim);
}

// ---- the truth

static void join_met(weft_sim* sim, int a, int b)
{
    int* home = sim->clusters.home;
    if (root_of(home, a) != root_of(home, b) && !pair_is_excluded(sim, a, b))
    {
        unite(home, a, b);
    }
}

bool near_meet(weft_sim* sim)
{
    clusters* s = &sim->clusters;
    for (int k = 0; k < sim->body_count; k++)
    {
        s->home[k] = k;
        s->wide[k] = box_empty();
    }
    for (int n = 0; n < s->count; n++)
    {
        const cluster* c = s->list[n];
        for (int k = 0; k < c->sim.body_count; k++)
        {
            s->home[c->member[k]] = c->member[0];
            s->wide[c->member[k]] = box_grow(c->swept[k], sim_contact_reach(sim, &c->sim.bodies[k]));
        }
    }
    sim->def.contact ? meet_wide(sim, join_met) : (void)0;
    home_settle(sim);
    bool met = false;
    for (int n = 0; n < s->count; n++)
    {
        met = met || !cluster_is_of(s->list[n], s->home, sim->body_count, s->list[n]->member[0]);
    }
    return met;
}
