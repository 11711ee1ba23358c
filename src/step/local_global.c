// Local/global (Liu, Bargteil, O'Brien and Kavan 2013): one step of backward Euler as the least of
//
//     g(x) = 1/2 |x - y|_M^2 + h^2 (E(x) - x . f_ext) + damping,    y = x_n + h v~
//
// with v~ what damping from outside leaves of v_n: drag takes its share of all of it, shape damping of what is not
// rigid motion of a piece (shape_damping.h).
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
// taken at the start of the step. Points that are pinned are held in the factor.
//
// Contact prescribes directions and adds cushions, which come and go. To leave them out of the global step and put
// x right afterwards (the paper's section 4.1) makes cloth that rests on something as soft as its iterations are few:
// what hangs from a contact does not learn that it holds. So with contact a global step is the system of A and
// cushions, filtered, by conjugate gradients whose preconditioner is the factor of A put right for what is held
// (global_filtered.h, global_touches.h): as many more solves as cushions are strange to A. What pulls is let go between
// turns. The paper's way is there for the asking (collision = 1): one solve a turn, whatever touches.
#include <string.h>

#include "material/spring.h"
#include "step/local_global.h"
#include "step/mend.h"

enum
{
    COLLISION_SWEEPS = 4 // of the projection after each turn
};

static const char* const counters[] = {"local_global_iterations",
                                       "global_solves",
                                       "factorizations",
                                       "mixes_rejected",
                                       "pin_updates",
                                       "newton_iterations",
                                       "rounds_again",
                                       NULL};

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
    {.name = "damping",
     .summary = "What is not rigid motion of a piece fades by exp(-damping t)",
     .unit = "1/s",
     .value = 0,
     .minimum = 0,
     .maximum = HUGE_VAL},
    {.name = "acceleration",
     .summary = "0: none, 1: Chebyshev, 2: Anderson, 3: quasi-Newton",
     .value = TURNS_QUASI_NEWTON,
     .maximum = TURNS_QUASI_NEWTON,
     .whole = true},
    {.name = "radius",
     .summary = "Of the spectrum that Chebyshev takes for the iteration's",
     .value = 0.99,
     .maximum = 1,
     .above = true},
    {.name = "collision",
     .summary = "0: contact is in the global step, 1: positions are moved out after it, which is faster and softer",
     .value = 0,
     .maximum = 1,
     .whole = true},
    {.name = "newton",
     .summary = "Newton iterations after the turns, at most",
     .value = 0,
     .maximum = 1e6,
     .whole = true},
    {.name = "again",
     .summary = "Rounds of half as many turns again, at most, where contact would leave energy from nowhere",
     .value = 1,
     .maximum = 1e6,
     .whole = true},
    {.name = NULL},
};

// ---- a substep

// Positions of the iterate, and rhs made ready for forces.
static void positions_chunk(void* context, int begin, int end)
{
    world* w = context;
    for (int i = begin; i < end; i++)
    {
        w->x_next[i] = v3_madd(w->state.x[i], w->h, w->v_next[i]);
        w->rhs[i] = v3(0, 0, 0);
    }
}

static bool has_contact(const world* w)
{
    return w->contact && (w->contact->touch_count > 0 || w->contact->cushion_count > 0);
}

// What is held only in part, or together, is not in the factor.
static bool is_filtered(const world* w)
{
    bool partly = has_contact(w) || w->model->ties.count > 0;
    for (int k = 0; k < w->filter_count && !partly; k++)
    {
        partly = w->filter[k].direction_count < 3;
    }
    return partly;
}

static bool is_load(const element_kind* kind)
{
    return kind->is_load;
}

// Neither a load nor in the net.
static bool is_other(const element_kind* kind)
{
    return !kind->is_load && kind != &kind_spring;
}

element_motion local_global_motion(const world* w)
{
    return (element_motion){
        .x = w->x_next, .v = w->v_next, .x_last = w->state.x, .v_last = w->state.v, .h = w->h, .time = w->time + w->h};
}

static const uint8_t* spring_flags(const world* w, const local_global_data* d)
{
    return w->flags ? w->flags[d->springs.group - w->model->groups.list] : NULL;
}

// Drag and shape damping, from v_n to the start of the turns.
static weft_status fade(world* w, local_global_data* d)
{
    const model* m = w->model;
    double drag = world_setting(w, "drag"), damping = world_setting(w, "damping"), left = exp(-drag * w->h);
    for (int i = 0; i < m->vertex_count; i++)
    {
        d->fading[i] = v3_scale(left, w->state.v[i]);
    }
    if (damping > 0.0)
    {
        TRY(d->shapes.start ? WEFT_OK : shape_damping_create(&d->shapes, &m->assembler.pattern));
        shape_damping_apply(&d->shapes, w->pool, m->mass, w->state.x, exp(-damping * w->h), d->fading);
    }
    memcpy(w->v_next, d->fading, (size_t)m->vertex_count * sizeof(vec3));
    return WEFT_OK;
}

static weft_status stage_predict(world* w)
{
    local_global_data* d = w->data;
    const model* m = w->model;
    d->w = w;
    bool made;
    int updates;
    global_step_grip(&d->global, w);
    global_step_hold(&d->global, w->filter, w->pin_count);
    // What touches wants columns of the factor itself.
    d->global.pins.count > 0 && w->contact && w->contact->touch_count > 0 ? global_step_rebase(&d->global) : (void)0;
    TRY(global_step_factor(&d->global, w, &made, &updates));
    world_count(w, counters[2], made);
    world_count(w, counters[4], updates);
    element_motion start = {.x = w->state.x, .v = w->state.v, .h = w->h, .time = w->time + w->h};
    world_forces_of(w, &start, is_load, m->external, d->loads);
    if (d->springs.group)
    {
        element_motion motion = local_global_motion(w);
        spring_net_begin(&d->springs, spring_flags(w, d), w->pool, &motion);
    }
    return fade(w, d);
}

// The gradient and g of rows [begin, end); rhs has the forces of elements that are not springs.
static double descend_chunk(void* context, int begin, int end)
{
    world* w = context;
    const local_global_data* d = w->data;
    double sum = 0.0;
    if (d->springs.group)
    {
        sum = spring_net_kernels_for(w->cpu)->pull(&d->springs, w->x_next, w->state.x, w->rhs, begin, end);
    }
    for (int i = begin; i < end; i++)
    {
        double mass = w->model->mass[i];
        vec3 change = v3_sub(w->v_next[i], d->fading[i]);
        w->rhs[i] = v3_madd(v3_scale(w->h, v3_add(w->rhs[i], d->loads[i])), -mass, change);
        sum += 0.5 * mass * v3_dot(change, change) - w->h * v3_dot(d->loads[i], w->v_next[i]);
    }
    return sum;
}

// rhs = -grad g / h, N s. Returns g / h^2 up to a constant, J.
double local_global_descend(world* w)
{
    const local_global_data* d = w->data;
    double sum = 0.0;
    parallel_for(w->pool, w->model->vertex_count, ROW_GRAIN, positions_chunk, w);
    if (d->has_others)
    {
        element_motion motion = local_global_motion(w);
        energy_sums others = world_elements_of(w, &motion, is_other);
        sum = others.stretch + others.shear + others.bend + others.dissipation;
        world_forces_of(w, &motion, is_other, w->rhs, w->rhs);
    }
    sum += parallel_sum(w->pool, w->model->vertex_count, ROW_GRAIN, descend_chunk, w);
    if (w->grip_count > 0)
    {
        element_motion motion = local_global_motion(w);
        grips_push(w, &motion, w->h, 0.0, w->rhs);
        sum += grips_potential(w, &motion);
    }
    if (w->contact)
    {
        cushions_push(w->contact, w->v_next, w->rhs);
        sum += cushions_potential(w->contact, w->v_next);
    }
    return sum;
}

static weft_status precondition(void* context, const vec3* r, vec3* h)
{
    local_global_data* d = context;
    global_step_solve(&d->global, d->w, r, h);
    return WEFT_OK;
}

// Of a solve in a turn: what is left is the next turn's, as what the local step leaves is. A filter that contact has no
// part in stays the same for all turns, and is strange to A in few places.
static const double filtered_tolerance = 1e-2, contact_tolerance = 0.1;

// With contact the first solve of a substep, or of a round that is taken again, must bring along what hangs on what
// touches; one after constraints have come or gone corrects it, the others go on from its directions, and quasi-Newton
// turns make up for what they leave.
enum
{
    FILTERED_MOST = 40,
    CONTACT_MOST = 12,
    CONTACT_MOST_CHANGED = 3,
    CONTACT_MOST_LATER = 1,
    CONTACT_MOST_HALVED = 3 // of the later ones in substeps that had to be shorter
};

static solve_options tied_options(const world* w)
{
    return (solve_options){
        .tolerance = filtered_tolerance, .max_iterations = FILTERED_MOST, .pool = w->pool, .cpu = w->cpu};
}

static weft_status cg_take(world* w, const linear_system* system, vec3* x)
{
    local_global_data* d = w->data;
    solve_options options = tied_options(w);
    if (!d->cg.r)
    {
        TRY(cg_init(&d->cg, &options, system));
        d->cg.precondition = precondition;
        d->cg.context = d;
    }
    cg_constrain(&d->cg, system);
    weft_solve_stats stats = {0};
    weft_status status = cg_solve(&d->cg, system, x, &stats);
    world_count(w, counters[1], stats.iterations);
    return status == WEFT_NOT_CONVERGED ? WEFT_OK : status; // what is left is the next turn's
}

// The system of A and cushions, filtered, in the unknowns that ties leave.
static weft_status tied_step(world* w)
{
    local_global_data* d = w->data;
    linear_system system = world_system(w, w->rhs, NULL), reduced;
    memset(w->dv, 0, (size_t)w->model->vertex_count * sizeof(vec3));
    solve_options options = tied_options(w);
    d->tied = d->tied ? d->tied : MEM_NEW(1, tied);
    if (!d->tied)
    {
        return WEFT_NO_MEMORY;
    }
    TRY(tied_reduce(d->tied, &options, &system, w->dv, &reduced));
    TRY(cg_take(w, &reduced, d->tied->y));
    weft_solve_stats stats = {0};
    tied_expand(d->tied, &options, &system, w->dv, &stats);
    return WEFT_OK;
}

// Solves of ties, and of cushions where nothing touches a face, are rough, and a quasi-Newton method takes their errors
// for curvature, where Anderson's squares smooth them.
static bool solves_roughly(const world* w)
{
    return w->model->ties.count > 0 || (has_contact(w) && w->contact->touch_count == 0);
}

static int contact_most(const world* w)
{
    const local_global_data* d = w->data;
    bool halved = w->state.halvings > 0;
    if (d->begins || d->again || solves_roughly(w) || (halved && d->constrained))
    {
        return CONTACT_MOST;
    }
    return d->constrained ? CONTACT_MOST_CHANGED : halved ? CONTACT_MOST_HALVED : CONTACT_MOST_LATER;
}

// The system of A and cushions, filtered.
static weft_status filtered_step(world* w)
{
    local_global_data* d = w->data;
    if (w->model->ties.count > 0)
    {
        return tied_step(w);
    }
    bool touches = has_contact(w);
    int most = touches ? contact_most(w) : FILTERED_MOST;
    TRY(d->filtered.r ? WEFT_OK : global_filtered_create(&d->filtered, &d->global));
    d->constrained ? global_filtered_take(&d->filtered, &d->global, w) : (void)0;
    d->constrained = d->begins = false;
    int solves = global_filtered_solve(&d->filtered, &d->global, w, w->rhs, most,
                                       touches ? contact_tolerance : filtered_tolerance, w->dv);
    world_count(w, counters[1], solves);
    return WEFT_OK;
}

bool local_global_projects(const world* w)
{
    return w->contact && world_setting(w, "collision") == 1.0 && !((const local_global_data*)w->data)->solves_contact;
}

// Constraints for the substep, and the iterate that keeps them.
weft_status local_global_constrain(world* w)
{
    TRY(local_global_projects(w) ? world_hold(w) : stage_constrain(w));
    world_prescribe(w, w->v_next);
    ((local_global_data*)w->data)->constrained = true;
    if (!is_filtered(w) || w->model->ties.count == 0)
    {
        return WEFT_OK; // no solve looks at blocks
    }
    global_step_blocks(&((local_global_data*)w->data)->global, w);
    return w->contact ? cushions_couple(w->contact, &w->A, w->pool) : WEFT_OK;
}

// ---- turns

// The image of the turn is moved out of what it would touch.
static weft_status move_out(world* w)
{
    int n = w->model->vertex_count;
    double missing, inv_h = 1.0 / w->h;
    for (int i = 0; i < n; i++)
    {
        w->x_next[i] = v3_madd(w->state.x[i], w->h, v3_add(w->v_next[i], w->dv[i]));
    }
    TRY(contact_project(w->contact, w->x_next, COLLISION_SWEEPS, &missing));
    for (int i = 0; i < n; i++)
    {
        w->dv[i] = v3_sub(v3_scale(inv_h, v3_sub(w->x_next[i], w->state.x[i])), w->v_next[i]);
    }
    return WEFT_OK;
}

static weft_status turn_take(world* w)
{
    local_global_data* d = w->data;
    if (is_filtered(w))
    {
        TRY(filtered_step(w));
    }
    else
    {
        global_step_solve(&d->global, w, w->rhs, w->dv);
        world_count(w, counters[1], 1.0);
    }
    return local_global_projects(w) ? move_out(w) : WEFT_OK;
}

// What is moved out is not where the mixed ones lie: it is not mixed.
static int acceleration_of(const world* w)
{
    int wanted = (int)world_setting(w, "acceleration");
    bool moved = local_global_projects(w) && w->contact->rows.count > 0;
    return moved ? TURNS_PLAIN : wanted == TURNS_QUASI_NEWTON && solves_roughly(w) ? TURNS_ANDERSON : wanted;
}

// A mixed iterate that is worse than the one before gives way. `now` is g of the iterate, *value that of the one
// before.
static void safeguard(world* w, double now, double* value)
{
    local_global_data* d = w->data;
    while (turns_are_mixed(&d->turns) && !(now <= *value))
    {
        turns_retreat(&d->turns, w);
        now = local_global_descend(w);
        world_count(w, counters[3], 1.0);
    }
    *value = now;
}

static weft_status take_turns(world* w, int turns, int releases, double* value)
{
    local_global_data* d = w->data;
    int every = int_max(turns / (RELEASES_ROUGH + 1), 1);
    for (int turn = 0, asked = 0; turn < turns; turn++)
    {
        double now = local_global_descend(w);
        bool asks = turn > 0 && turn % every == 0 && asked < releases;
        asked += asks;
        if (asks && world_release(w, local_global_reaction, w->v_next, false))
        {
            turns_clear(&d->turns);
            *value = INFINITY;
            TRY(local_global_constrain(w));
            now = local_global_descend(w);
        }
        safeguard(w, now, value);
        TRY(turn_take(w));
        turns_mix(&d->turns, w, world_setting(w, "radius"));
    }
    world_count(w, counters[0], turns);
    local_global_projects(w) ? world_prescribe(w, w->v_next) : (void)0; // to be moved out has loosened ties
    safeguard(w, local_global_descend(w), value);
    return WEFT_OK;
}

// The substep again, with what touches in the global step.
static weft_status solve_contact(world* w, int turns, double* value)
{
    local_global_data* d = w->data;
    d->solves_contact = true;
    contact_return_rows(w->contact);
    memcpy(w->v_next, d->fading, (size_t)w->model->vertex_count * sizeof(vec3));
    world_count(w, counters[6], 1.0);
    *value = INFINITY;
    TRY(local_global_constrain(w));
    TRY(turns_begin(&d->turns, w, acceleration_of(w)));
    return take_turns(w, turns, RELEASES_ROUGH, value);
}

static weft_status stage_iterate(world* w)
{
    local_global_data* d = w->data;
    int turns = (int)world_setting(w, "iterations");
    int most = world_setting(w, "newton") > 0.0 ? 0 : (int)world_setting(w, "again");
    double value = INFINITY;
    d->solves_contact = false;
    local_global_projects(w) ? contact_leave_rows(w->contact) : (void)0;
    TRY(local_global_constrain(w));
    TRY(turns_begin(&d->turns, w, acceleration_of(w)));
    d->again = false;
    d->begins = true;
    TRY(take_turns(w, turns, RELEASES_ROUGH, &value));
    if (most > 0 && local_global_projects(w) && w->contact->rows.count > 0 && local_global_crumples(w))
    {
        TRY(solve_contact(w, turns, &value));
    }
    for (int round = 0; round < most && has_contact(w) && local_global_rises(w); round++)
    {
        d->again = true;
        world_count(w, counters[6], 1.0);
        TRY(take_turns(w, (turns + 1) / 2, 0, &value));
    }
    return local_global_newton(w, value);
}

// Constraint forces: what the gradient leaves.
vec3 local_global_reaction(const world* w, int i)
{
    return v3_scale(-1.0 / w->h, w->rhs[i]);
}

static weft_status stage_advance(world* w)
{
    world_conclude(w, local_global_reaction);
    return WEFT_OK;
}

// ---- the method

static weft_status prepare_after(world* w, local_global_data* d, const int* order, double flops)
{
    const element_group* springs = element_groups_find(&w->model->groups, &kind_spring);
    for (int g = 0; g < w->model->groups.count; g++)
    {
        d->has_others = d->has_others || is_other(w->model->groups.list[g].kind);
    }
    if (springs)
    {
        TRY(spring_net_create(&d->springs, springs, w->model->vertex_count));
    }
    d->fading = MEM_NEW(w->model->vertex_count, vec3);
    d->loads = MEM_NEW(w->model->vertex_count, vec3);
    d->before = MEM_NEW(w->model->vertex_count, vec3);
    bool ok = d->fading && d->loads && d->before;
    return ok ? global_step_create_after(&d->global, w->model, order, flops) : WEFT_NO_MEMORY;
}

static weft_status prepare(world* w, void* data)
{
    return prepare_after(w, data, NULL, 0.0);
}

// A factor that is put right for pins has other bits than a new one.
static void forget(void* data)
{
    local_global_data* d = data;
    global_step_save(&d->global);
}

static void finish(void* data)
{
    local_global_data* d = data;
    global_step_finish(&d->global);
    spring_net_finish(&d->springs);
    global_filtered_finish(&d->filtered);
    cg_finish(&d->cg);
    tied_finish(d->tied);
    shape_damping_finish(&d->shapes);
    mem_free(d->fading);
    mem_free(d->loads);
    mem_free(d->before);
    turns_finish(&d->turns);
}

// Dissection takes most of what a new matrix costs. A cut leaves its order good: what is torn off is eliminated next to
// what it was torn off from, whose neighbours it has.
static weft_status mend_after_tear(world* w, void* data, const mend* m)
{
    local_global_data* d = data;
    double flops = d->global.dissected;
    int* order = global_step_order(&d->global, m->count, m->from);
    if (!order)
    {
        return WEFT_NO_MEMORY;
    }
    finish(data);
    *d = (local_global_data){0};
    weft_status status = prepare_after(w, d, order, flops);
    mem_free(order);
    return status;
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
    .model = "corotated", // the energy of the default model for small strains, with projections
    .data_size = sizeof(local_global_data),
    .prepare = prepare,
    .forget = forget,
    .finish = finish,
    .mend = mend_after_tear,
    .ends_early = true,
    .energy_rise_max = INFINITY,
    .counters = counters,
    .settings = settings,
};
