// Backward Euler to convergence: v minimises the incremental potential
//
//     Phi(v) = 1/2 |v - v_n|_M^2 + Psi(x_n + h v) + sum k_d / (2 h) (C(x_n + h v) - C(x_n))^2 + air
//
// by Newton steps and a line search that never raises Phi. The Hessian is the clamped one. In cloth that folds it is too
// stiff along folds that grow, ten times and more, so the search goes beyond the whole move where Phi is less curved
// than it said. With newton.hessian = 1 it is, near the end, the exact one of kinds that have it (springs, membranes),
// which doubles the digits where the clamped one gains a factor each time, and the clamped one where that is not
// definite or does not lead down; the next try then waits for two, four, eight iterations. That is no default, as a
// solver that meets an indefinite matrix may try all it has first. Prescribed directions are set first and kept.
#include <string.h>

#include "step/step.h"

enum
{
    LINE_SEARCH_MAX = 40,
    SPENT_TURNS = 10, // iterations when the step has cost what it may
    PATIENCE_MAX = 16
};

// Moves beyond the whole one, in its lengths: less is not worth a look, more is not believed.
static const double STRIDE_MIN = 1.25, STRIDE_MAX = 16.0;

// The line search's candidate.
typedef struct newton_data
{
    vec3 *x, *v;        // [vertex_count]
    double share;        // of the energies at hand that the last move could gain
    int waits, patience; // iterations until the exact Hessian is tried again, and after its next failure
} newton_data;

static const char* const counters[] = {"newton_iterations", "hessians_corrected", NULL};

static const method_setting settings[] = {
    {.name = "tolerance",
     .summary = "Largest displacement of a vertex in the last iteration",
     .unit = "m",
     .value = 1e-6,
     .maximum = HUGE_VAL,
     .above = true},
    {.name = "iterations",
     .summary = "At most so many a step",
     .value = 100,
     .minimum = 1,
     .maximum = 1e6,
     .whole = true},
    {.name = "hessian",
     .summary = "0: clamped, 1: exact, and clamped where that is not definite",
     .value = 0,
     .maximum = 1,
     .whole = true},
    {.name = NULL},
};

// A step ends when it can gain no more than this share of the energies at hand.
static const double gain_min = 1e-9;
// While contacts are let go: what pulls shows long before the end.
static const double gain_rough = 3e-3;
// From here on the exact Hessian is tried.
static const double share_near = 1e-4;
// Less than this share of them is rounding: there is nothing to gain, however far the solution moves.
static const double gain_lost = 1e-15;

// x = x_n + h v
static void positions_of(const world* w, const vec3* v, vec3* x)
{
    for (int i = 0; i < w->model->vertex_count; i++)
    {
        x[i] = v3_madd(w->state.x[i], w->h, v[i]);
    }
}

static element_motion motion_of(const world* w, const vec3* x, const vec3* v)
{
    return (element_motion){
        .x = x, .v = v, .x_last = w->state.x, .v_last = w->state.v, .h = w->h, .time = w->time + w->h};
}

typedef struct inertia_context
{
    const world* w;
    const vec3 *x, *v;
} inertia_context;

// Inertia and constant forces; displacements instead of positions, so that distance from the origin costs no digits.
static double inertia_chunk(void* context, int begin, int end)
{
    inertia_context* c = context;
    const model* m = c->w->model;
    double sum = 0.0;
    for (int i = begin; i < end; i++)
    {
        vec3 d = v3_sub(c->v[i], c->w->state.v[i]);
        sum += 0.5 * m->mass[i] * v3_dot(d, d) - v3_dot(m->external[i], v3_sub(c->x[i], c->w->state.x[i]));
    }
    return sum;
}

static double potential(world* w, const vec3* x, const vec3* v)
{
    element_motion motion = motion_of(w, x, v);
    energy_sums sums = world_elements(w, &motion);
    inertia_context c = {w, x, v};
    double inertia = parallel_sum(w->pool, w->model->vertex_count, ROW_GRAIN, inertia_chunk, &c);
    double contact = w->contact ? cushions_potential(w->contact, v) : 0.0;
    return inertia + (sums.stretch + sums.shear + sums.bend + sums.dissipation) + contact + grips_potential(w, &motion);
}

// The better of two starts: going on with v_n, or standing still.
static double choose_start(world* w)
{
    size_t bytes = (size_t)w->model->vertex_count * sizeof(vec3);
    memcpy(w->v_next, w->state.v, bytes);
    world_prescribe(w, w->v_next);
    positions_of(w, w->v_next, w->x_next);
    double going = potential(w, w->x_next, w->v_next);
    newton_data* other = w->data;
    memset(other->v, 0, bytes);
    world_prescribe(w, other->v);
    positions_of(w, other->v, other->x);
    double still = potential(w, other->x, other->v);
    if (still < going || !isfinite(going))
    {
        memcpy(w->v_next, other->v, bytes);
        memcpy(w->x_next, other->x, bytes);
        return still;
    }
    return going;
}

// A and b = h f - M (v - v_n) at the iterate.
static weft_status linearize(world* w, bool exact)
{
    const model* m = w->model;
    for (int i = 0; i < m->vertex_count; i++)
    {
        vec3 d = v3_sub(w->v_next[i], w->state.v[i]);
        w->rhs_start[i] = v3_madd(v3_scale(w->h, m->external[i]), -m->mass[i], d);
    }
    if (w->contact)
    {
        cushions_push(w->contact, w->v_next, w->rhs_start);
    }
    element_motion motion = motion_of(w, w->x_next, w->v_next);
    motion.exact = exact;
    return world_assemble(w, &motion, w->rhs_start);
}

// Phi at alpha along dv; the candidate is there.
static double candidate_at(world* w, double alpha)
{
    newton_data* candidate = w->data;
    for (int i = 0; i < w->model->vertex_count; i++)
    {
        candidate->v[i] = v3_madd(w->v_next[i], alpha, w->dv[i]);
    }
    positions_of(w, candidate->v, candidate->x);
    return potential(w, candidate->x, candidate->v);
}

static void take_candidate(world* w)
{
    newton_data* candidate = w->data;
    vec3 *x = candidate->x, *v = candidate->v;
    candidate->x = w->x_next;
    candidate->v = w->v_next;
    w->x_next = x;
    w->v_next = v;
}

// Where the whole move fell to `value`, less curved than the Hessian says, as folds that grow are: the least of the
// parabola through both ends lies further on. Returns Phi at the candidate, which is never above `value`.
static double go_further(world* w, double phi, double slope, double value)
{
    double curvature = 2.0 * (value - phi + slope);
    double alpha = curvature * STRIDE_MAX > slope ? slope / curvature : STRIDE_MAX;
    double beyond = alpha >= STRIDE_MIN ? candidate_at(w, alpha) : value;
    if (beyond > value || !isfinite(beyond))
    {
        return candidate_at(w, 1.0);
    }
    return beyond;
}

// Walks along dv until Phi has fallen enough. Returns false when it does not fall, which at the end is rounding.
static bool line_search(world* w, double* phi, double slope)
{
    double alpha = 1.0;
    for (int turn = 0; turn < LINE_SEARCH_MAX; turn++, alpha *= 0.5)
    {
        double value = candidate_at(w, alpha);
        if (value <= *phi - 1e-4 * alpha * slope)
        {
            *phi = turn == 0 ? go_further(w, *phi, slope, value) : value;
            take_candidate(w);
            return true;
        }
    }
    return false;
}

static double largest_move(const world* w)
{
    double largest = 0.0;
    for (int i = 0; i < w->model->vertex_count; i++)
    {
        largest = fmax(largest, v3_dot(w->dv[i], w->dv[i]));
    }
    return w->h * sqrt(largest);
}

static double slope_of(const world* w)
{
    double sum = 0.0;
    for (int i = 0; i < w->model->vertex_count; i++)
    {
        sum += v3_dot(w->rhs[i], w->dv[i]);
    }
    return sum;
}

// Constraint forces: what the gradient leaves at prescribed directions and in ties.
static vec3 reaction(const world* w, int i)
{
    return v3_scale(-1.0 / w->h, w->rhs[i]);
}

// dv of the Hessian at the iterate, and what it can gain at most.
static weft_status direction(world* w, bool exact, double* slope)
{
    TRY(linearize(w, exact));
    memset(w->dv, 0, (size_t)w->model->vertex_count * sizeof(vec3));
    linear_system system = world_system(w, w->rhs, NULL);
    TRY(exact ? world_solve_once(w, &system, w->dv) : world_solve(w, &system, w->dv, 0));
    *slope = slope_of(w);
    return WEFT_OK;
}

static weft_status best_direction(world* w, double* slope)
{
    newton_data* d = w->data;
    if (world_setting(w, "hessian") == 1.0 && d->share < share_near && d->waits == 0)
    {
        weft_status status = direction(w, true, slope);
        if (status == WEFT_OK && *slope > 0.0)
        {
            d->patience = 2;
            return WEFT_OK;
        }
        if (status != WEFT_OK && status != WEFT_NOT_DEFINITE && status != WEFT_NOT_CONVERGED)
        {
            return status;
        }
        world_count(w, counters[1], 1.0);
        d->waits = d->patience;
        d->patience = int_min(2 * d->patience, PATIENCE_MAX);
    }
    d->waits -= d->waits > 0;
    return direction(w, false, slope);
}

// Where no solve finds a direction, as a last resort: down the gradient, by the diagonal.
static void downhill(world* w, double* slope)
{
    newton_data* scratch = w->data;
    for (int i = 0; i < w->model->vertex_count; i++)
    {
        const double* a = w->A.values + 9 * (size_t)w->A.pattern->diagonal[i];
        double stiffness = (a[0] + a[4] + a[8]) / 3.0;
        scratch->v[i] = v3_madd(w->v_next[i], stiffness > 0.0 ? 1.0 / stiffness : 0.0, w->rhs[i]);
    }
    world_prescribe(w, scratch->v);
    for (int i = 0; i < w->model->vertex_count; i++)
    {
        w->dv[i] = v3_sub(scratch->v[i], w->v_next[i]);
    }
    *slope = slope_of(w);
}

static weft_status choose_direction(world* w, double* slope)
{
    weft_status status = best_direction(w, slope);
    if (w->resort && is_numeric(status))
    {
        downhill(w, slope);
        return isfinite(*slope) ? WEFT_OK : status;
    }
    return status;
}

// From the iterate, whose potential is phi. Roughly: as far as what pulls can be told.
static weft_status minimise(world* w, double phi, bool roughly)
{
    if (!isfinite(phi))
    {
        return WEFT_NOT_FINITE;
    }
    double tolerance = world_setting(w, "tolerance"), turns = world_setting(w, "iterations");
    turns = w->spent ? fmin(turns, SPENT_TURNS) : turns;
    double enough = roughly ? gain_rough : gain_min;
    tolerance = roughly ? HUGE_VAL : tolerance;
    newton_data* d = w->data;
    d->waits = 0;
    d->patience = 2;
    d->share = INFINITY;
    for (int turn = 0; turn < turns; turn++)
    {
        double slope;
        TRY(choose_direction(w, &slope));
        world_count(w, counters[0], 1.0);
        // Done when the move is small, and what it can still gain is nothing beside the energies at hand.
        double scale = lively_energy(&w->before.energy) + fabs(phi) + 1e-9 * weight_energy(w->model);
        d->share = slope / scale;
        bool small = largest_move(w) <= tolerance && d->share <= enough;
        if (!line_search(w, &phi, slope) || small || d->share <= gain_lost)
        {
            return linearize(w, false);
        }
    }
    // Phi has fallen all the way. What still moves and gains nothing is cloth that leaves a fold which has no side.
    return w->resort || w->spent || d->share <= gain_min ? linearize(w, false) : WEFT_NOT_CONVERGED;
}

// What pulls is let go, and the potential without it minimised from there.
static weft_status stage_minimise(world* w)
{
    bool roughly = w->contact && w->contact->rows.count > 0;
    double phi = choose_start(w);
    for (int turn = 0; turn <= RELEASES_MAX; turn++)
    {
        TRY(minimise(w, phi, roughly && turn < RELEASES_MAX));
        bool released = turn < RELEASES_MAX && world_release(w, reaction, w->v_next, false);
        if (!released && !roughly)
        {
            break;
        }
        TRY(released ? stage_constrain(w) : WEFT_OK);
        roughly = released;
        world_prescribe(w, w->v_next);
        positions_of(w, w->v_next, w->x_next);
        phi = potential(w, w->x_next, w->v_next);
    }
    world_conclude(w, reaction);
    return WEFT_OK;
}

// What is prescribed is in the first iterate already: z is zero.
static weft_status first_system(world* w)
{
    TRY(stage_detect(w));
    TRY(stage_constrain(w));
    choose_start(w);
    memset(w->z, 0, (size_t)w->model->vertex_count * sizeof(vec3));
    return linearize(w, false);
}

static const stage stages[] = {
    {"detect", stage_detect}, {"constrain", stage_constrain}, {"minimise", stage_minimise},
    {"judge", stage_judge},   {"respond", stage_respond},     {NULL, NULL},
};

static weft_status prepare(world* w, void* data)
{
    newton_data* d = data;
    d->x = MEM_NEW(w->model->vertex_count, vec3);
    d->v = MEM_NEW(w->model->vertex_count, vec3);
    return d->x && d->v ? WEFT_OK : WEFT_NO_MEMORY;
}

static void finish(void* data)
{
    newton_data* d = data;
    mem_free(d->x);
    mem_free(d->v);
}

const time_method method_newton = {
    .name = "newton",
    .summary = "backward Euler minimised to convergence, with line search",
    .stages = stages,
    .needs = NEEDS_MATRIX,
    .data_size = sizeof(newton_data),
    .prepare = prepare,
    .finish = finish,
    .first_system = first_system,
    .energy_rise_max = 1e-7,
    .counters = counters,
    .settings = settings,
};
