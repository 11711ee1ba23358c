// Local/global (Liu, Bargteil, O'Brien and Kavan 2013): one step of backward Euler as the least of
//
//     g(x) = 1/2 |x - y|_M^2 + h^2 (E(x) - x . f_ext) + damping,    y = x_n + h exp(-drag h) v_n
//
// The elastic energy of a spring is itself a least, over the directions d of its rest length, of a quadratic form in x
// (the paper's lemma), so that g falls by turns: the best d for this x (local), the best x for these d (global). The
// matrix A of the latter is constant, and is factored once. Both together are
//
//     x <- x - A^-1 grad g(x),
//
// and grad g is inertia less forces: no d is ever stored, and what is not exact in A^-1 costs iterations, not accuracy.
// (The paper's signs: its potential has - x . f_ext, and its global step (M + h^2 L) x = h^2 J d + M y + h^2 f_ext.)
//
// Damping of a spring is a spring whose rest length is that of the last step, so it fits into the same form; air is
// taken at the start of the step. Points that are pinned are held in the factor, lines, planes and ties are put right
// after each global step, and so is contact: rows as inequalities (contact/project.c).
#include <string.h>

#include "step/global_step.h"

enum
{
    SWEEPS_BETWEEN = 2, // over the rows of contact, after each global step
    SWEEPS_LAST = 20    // after the last one
};

typedef struct local_global_data
{
    global_step global;
    vec3 *y, *loads; // [vertex_count] m; N, that do not depend on x
} local_global_data;

static const char* const counters[] = {"local_global_iterations", "factorizations", NULL};

static const method_setting settings[] = {
    {.name = "iterations",
     .summary = "Local and global steps in a time step",
     .value = 10,
     .minimum = 1,
     .maximum = 1e6,
     .whole = true},
    {.name = "drag",
     .summary = "Velocities fade by exp(-drag t)",
     .unit = "1/s",
     .value = 0,
     .minimum = 0,
     .maximum = HUGE_VAL},
    {.name = NULL},
};

// ---- a substep

static void velocities_of(const world* w, const vec3* x, vec3* v)
{
    for (int i = 0; i < w->model->vertex_count; i++)
    {
        v[i] = v3_scale(1.0 / w->h, v3_sub(x[i], w->state.x[i]));
    }
}

// What pins and ties prescribe, at the end of the substep.
static void put_right(world* w, vec3* x)
{
    if (w->filter_count == 0 && w->model->ties.count == 0)
    {
        return;
    }
    velocities_of(w, x, w->v_next);
    world_prescribe(w, w->v_next);
    for (int i = 0; i < w->model->vertex_count; i++)
    {
        x[i] = v3_madd(w->state.x[i], w->h, w->v_next[i]);
    }
}

static weft_status stage_predict(world* w)
{
    local_global_data* d = w->data;
    const model* m = w->model;
    if (m->ties.count > 0)
    {
        TRY(binding_constrain(w));
    }
    world_collect_held(w);
    w->stats->constraints = w->filter_count + m->ties.count;
    bool made;
    global_step_hold(&d->global, w->filter, w->filter_count);
    TRY(global_step_factor(&d->global, w, &made));
    world_count(w, counters[1], made);
    element_motion start = {.x = w->state.x, .v = w->state.v, .h = w->h, .time = w->time + w->h};
    world_load_forces(w, &start, m->external, d->loads);
    double fade = exp(-world_setting(w, "drag") * w->h);
    for (int i = 0; i < m->vertex_count; i++)
    {
        d->y[i] = v3_madd(w->state.x[i], w->h * fade, w->state.v[i]);
        w->x_next[i] = d->y[i];
    }
    put_right(w, w->x_next);
    return WEFT_OK;
}

// -grad g, N s^2
static void descend(world* w, const vec3* x, vec3* out)
{
    const local_global_data* d = w->data;
    const model* m = w->model;
    double h2 = w->h * w->h;
    element_motion motion = {
        .x = x, .v = w->state.v, .x_last = w->state.x, .v_last = w->state.v, .h = w->h, .time = w->time + w->h};
    world_inner_forces(w, &motion, d->loads, out);
    for (int i = 0; i < m->vertex_count; i++)
    {
        out[i] = v3_madd(v3_scale(h2, out[i]), -m->mass[i], v3_sub(x[i], d->y[i]));
    }
}

static weft_status stage_iterate(world* w)
{
    local_global_data* d = w->data;
    int turns = (int)world_setting(w, "iterations");
    double missing;
    for (int turn = 0; turn < turns; turn++)
    {
        descend(w, w->x_next, w->rhs);
        global_step_solve(&d->global, w, w->rhs, w->dv);
        for (int i = 0; i < w->model->vertex_count; i++)
        {
            w->x_next[i] = v3_add(w->x_next[i], w->dv[i]);
        }
        put_right(w, w->x_next);
        if (w->contact)
        {
            TRY(contact_project(w->contact, w->x_next, turn + 1 < turns ? SWEEPS_BETWEEN : SWEEPS_LAST, &missing));
        }
    }
    world_count(w, counters[0], turns);
    return WEFT_OK;
}

// Constraint forces: what the gradient leaves.
static vec3 reaction(const world* w, int i)
{
    return v3_scale(-1.0 / (w->h * w->h), w->rhs[i]);
}

static weft_status stage_advance(world* w)
{
    velocities_of(w, w->x_next, w->v_next);
    if (w->held_count > 0 || w->contact)
    {
        descend(w, w->x_next, w->rhs);
    }
    element_motion start = {.x = w->state.x, .v = w->state.v, .h = w->h, .time = w->time + w->h};
    w->work = held_work(w, reaction) + world_element_work(w, &start, w->v_next);
    if (w->contact)
    {
        world_remember(w, reaction);
    }
    return WEFT_OK;
}

// ---- the method

static weft_status prepare(world* w, void* data)
{
    local_global_data* d = data;
    d->y = MEM_NEW(w->model->vertex_count, vec3);
    d->loads = MEM_NEW(w->model->vertex_count, vec3);
    return d->y && d->loads ? global_step_create(&d->global, w->model) : WEFT_NO_MEMORY;
}

static void finish(void* data)
{
    local_global_data* d = data;
    global_step_finish(&d->global);
    mem_free(d->y);
    mem_free(d->loads);
}

static const stage stages[] = {
    {"detect", stage_detect},
    {"predict", stage_predict},
    {"iterate", stage_iterate},
    {"advance", stage_advance},
    {"judge", stage_judge},
    {"respond", stage_respond},
    {NULL, NULL},
};

extern const time_method method_local_global;
const time_method method_local_global = {
    .name = "local-global",
    .summary = "backward Euler by turns of local and global steps with a matrix that is factored once",
    .stages = stages,
    .needs = NEEDS_FORCE | NEEDS_PROJECT,
    .data_size = sizeof(local_global_data),
    .prepare = prepare,
    .finish = finish,
    .energy_rise_max = INFINITY,
    .counters = counters,
    .settings = settings,
};
