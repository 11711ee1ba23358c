// One substep of length h of
//
//     M dv/dt = g(x, v) + f(x, v),    dx/dt = v
//
// g the elements that are taken implicitly, f the explicit ones (Boxerman 2003, chapter 4). Every form solves one
// system for the velocities u at which g is taken, linearised about (y, w),
//
//     (M + k D + k^2 K) (u - w) = M (v* - w) + k (g(y, w) + F)
//
//                 k            v*, x*                       y            w        x_n+1        v_n+1
//     Euler       h            v_n, x_n                     x_n          v_n      x_n + h u    u          F = f(x_n,
//     v_n) BDF2        h (1+r)/(1+2r)  a0 y_n + a1 y_n-1         x* + k w     v^       x* + k u     u          F =
//     (1+r) f_n - r f_n-1 midpoint    h / 2        v_n, x_n                     x_n + k w    v~       x_n + h u    2 u
//     - v_n  F = f(x_n + k v_n, v~)
//
// r is the ratio of h to the substep before, a0 = (1+r)^2 / (1+2r), a1 = -r^2 / (1+2r), v^ = (1+r) v_n - r v_n-1 and
// v~ = v_n + h/2 (v_n - v_n-1) / h_n-1. Euler linearises about x_n, with -k K v_n on the right side, which costs
// nothing at order 1; the others about where they will be up to O(h^3), because K leaves out parts of the Jacobian:
// about x_n they would fall to order 1.
//
// The thesis writes (4.11) with M^-1 in front: I - k M^-1 df/dv - k^2 M^-1 df/dx, which is symmetric only where all
// masses are equal. Here it is multiplied by M, hence symmetric and definite for any masses. Constraint forces are
// (A (u - w) - b) / k, with (u - w) as solved; the thesis leaves out the 1 / k.
//
// The thesis's amplification factors of 4.1.4 and 4.2.4, 1 - k k_d and 1 / (1 + k k_d + k^2 k_s), are squares: the
// product of both eigenvalues, hence |lambda|^2 of a conjugate pair. A factor is sqrt(1 - k k_d).
//
// Contact is always implicit, and wants x_n+1 = x_n + h u = x_n + h v_n+1: where something touches the substep is taken
// by Euler, and so is the first one after it (the way has a kink there).
#include "step/march.h"

#include <string.h>

static bool has_contact(const world* w)
{
    return w->contact && (w->filter_count > w->pin_count || w->contact->coupling_count > 0);
}

static weft_status march_detect(world* w)
{
    march_data* d = w->data;
    d->touched = false;
    w->cap_mass = split_bends_explicitly(&d->split, w) ? w->model->mass : NULL;
    return stage_detect(w);
}

// The ends of a substep and of the one before.
typedef struct two_steps
{
    const past_state* last;
    double r;      // h over the length of the last
    double a0, a1; // of BDF2
} two_steps;

static two_steps steps_of(const world* w)
{
    const past_state* last = &w->state.history[0];
    double r = w->h / last->h;
    return (two_steps){last, r, (1.0 + r) * (1.0 + r) / (1.0 + 2.0 * r), -r * r / (1.0 + 2.0 * r)};
}

// x* - x_n
static vec3 start_offset(const world* w, const two_steps* t, int i)
{
    return v3_scale(-t->a1, v3_sub(w->state.x[i], t->last->x[i]));
}

// v* of BDF2
static vec3 start_velocity(const world* w, const two_steps* t, int i)
{
    return v3_add(v3_scale(t->a0, w->state.v[i]), v3_scale(t->a1, t->last->v[i]));
}

// Where the substep will be, and the form that it has.
static void choose_form(world* w, march_data* d)
{
    const state* s = &w->state;
    d->touched = d->touched || has_contact(w);
    bool past = s->history_filled > 0;
    d->form = d->touched || (d->scheme->form == MARCH_BDF2 && !past) ? MARCH_EULER : d->scheme->form;
    size_t bytes = (size_t)s->vertex_count * sizeof(vec3);
    d->k = w->h;
    w->grip_share = 1.0;
    memcpy(d->x_at, s->x, bytes);
    memcpy(d->v_at, s->v, bytes);
    if (d->form == MARCH_BDF2)
    {
        two_steps t = steps_of(w);
        d->k = w->h * (1.0 + t.r) / (1.0 + 2.0 * t.r);
        for (int i = 0; i < s->vertex_count; i++)
        {
            d->v_at[i] = v3_madd(s->v[i], t.r, v3_sub(s->v[i], t.last->v[i]));
            d->x_at[i] = v3_madd(v3_add(s->x[i], start_offset(w, &t, i)), d->k, d->v_at[i]);
        }
    }
    if (d->form == MARCH_MIDPOINT)
    {
        d->k = 0.5 * w->h;
        w->grip_share = 0.5;
        for (int i = 0; i < s->vertex_count; i++)
        {
            d->v_at[i] = past ? v3_madd(s->v[i], d->k, s->acceleration[i]) : s->v[i];
        }
        world_prescribe(w, d->v_at);
        for (int i = 0; i < s->vertex_count; i++)
        {
            d->x_at[i] = v3_madd(s->x[i], d->k, d->v_at[i]);
        }
    }
}

// z of velocities u about v_at, from that of displacements h (v_n + z). In free directions there is none.
static void choose_prescribed(world* w, march_data* d)
{
    const state* s = &w->state;
    memcpy(d->z, w->z, (size_t)s->vertex_count * sizeof(vec3));
    if (d->form == MARCH_EULER)
    {
        return;
    }
    two_steps t = d->form == MARCH_BDF2 ? steps_of(w) : (two_steps){0};
    for (int n = 0; n < w->held_count; n++)
    {
        int i = w->held[n];
        vec3 way = v3_scale(w->h, v3_add(s->v[i], w->z[i])); // m, where it is prescribed
        vec3 u = d->form == MARCH_BDF2 ? v3_scale(1.0 / d->k, v3_sub(way, start_offset(w, &t, i)))
                                       : v3_scale(1.0 / w->h, way);
        d->z[i] = v3_sub(u, d->v_at[i]);
    }
    // What is free of these is taken out: first by filters, then by ties.
    for (int n = 0; n < w->filter_count; n++)
    {
        const filter_record* record = &w->filter[n];
        d->z[record->vertex] = v3_sub(d->z[record->vertex], m3_mul_v(record->S, d->z[record->vertex]));
    }
    if (w->model->ties.count > 0)
    {
        memset(d->other, 0, (size_t)s->vertex_count * sizeof(vec3));
        for (int n = 0; n < w->held_count; n++)
        {
            d->other[w->held[n]] = d->z[w->held[n]];
        }
        null_space_project(&w->binding.space, d->other);
        const tie_set* set = &w->model->ties;
        for (int m = 0; m < set->member_count; m++)
        {
            d->z[set->members[m]] = v3_sub(d->z[set->members[m]], d->other[set->members[m]]);
        }
    }
}

// ---- forces

// out += factor times the force of explicit elements; with by_term the elastic force of the implicit ones, too.
static void add_explicit(world* w, march_data* d, const element_motion* motion, double factor, vec3* out)
{
    int count = w->model->vertex_count;
    vec3* sum = d->other;
    memset(sum, 0, (size_t)count * sizeof(vec3));
    if (d->split.explicit > 0)
    {
        world_forces(w, motion, ELEMENT_EXPLICIT, ELEMENT_EXPLICIT, sum, sum);
    }
    if (d->by_term)
    {
        element_motion still = *motion;
        memset(w->dv, 0, (size_t)count * sizeof(vec3));
        still.v = w->dv;
        world_forces(w, &still, ELEMENT_EXPLICIT | ELEMENT_INACTIVE, 0, sum, sum);
    }
    for (int i = 0; i < count; i++)
    {
        out[i] = v3_madd(out[i], factor, sum[i]);
    }
}

// force = F
static void explicit_force(world* w, march_data* d)
{
    const state* s = &w->state;
    memset(d->force, 0, (size_t)s->vertex_count * sizeof(vec3));
    if (d->split.explicit == 0 && !d->by_term)
    {
        return;
    }
    element_motion now = {.x = s->x, .v = s->v, .h = w->h, .time = w->time, .cap_mass = w->cap_mass};
    if (d->form == MARCH_EULER)
    {
        add_explicit(w, d, &now, 1.0, d->force);
    }
    if (d->form == MARCH_BDF2)
    {
        two_steps t = steps_of(w);
        element_motion last = {
            .x = t.last->x, .v = t.last->v, .h = w->h, .time = w->time - t.last->h, .cap_mass = w->cap_mass};
        add_explicit(w, d, &now, 1.0 + t.r, d->force);
        add_explicit(w, d, &last, -t.r, d->force);
    }
    if (d->form == MARCH_MIDPOINT)
    {
        // Leapfrog: half a way with v_n, which pins know better.
        memcpy(w->v_next, s->v, (size_t)s->vertex_count * sizeof(vec3));
        world_prescribe(w, w->v_next);
        for (int i = 0; i < s->vertex_count; i++)
        {
            w->x_next[i] = v3_madd(s->x[i], d->k, w->v_next[i]);
        }
        element_motion half = {
            .x = w->x_next, .v = d->v_at, .h = w->h, .time = w->time + d->k, .cap_mass = w->cap_mass};
        add_explicit(w, d, &half, 1.0, d->force);
    }
}

// ---- the system

static weft_status assemble_values(world* w, march_data* d, const element_motion* motion)
{
    if (!d->by_term)
    {
        return world_assemble(w, motion, w->rhs_start);
    }
    if (!d->values)
    {
        d->values = MEM_NEW(9 * (size_t)w->model->assembler.pattern.block_count, double);
        TRY(d->values ? WEFT_OK : WEFT_NO_MEMORY);
    }
    return world_assemble_damping(w, motion, w->rhs_start, d->values);
}

// M (v* - w)
static vec3 momentum(const world* w, const march_data* d, int i)
{
    const state* s = &w->state;
    two_steps t = d->form == MARCH_BDF2 ? steps_of(w) : (two_steps){0};
    vec3 start = d->form == MARCH_BDF2 ? start_velocity(w, &t, i) : s->v[i];
    return v3_scale(w->model->mass[i], v3_sub(start, d->v_at[i]));
}

// b of linearised elements about (y, w), K times nothing: their forces are gathered apart from their blocks.
static void gather_rhs(world* w, march_data* d, const element_motion* motion)
{
    int count = w->model->vertex_count;
    for (int i = 0; i < count; i++)
    {
        d->force[i] = v3_add(d->force[i], w->model->external[i]);
    }
    if (d->split.implicit > 0)
    {
        world_forces(w, motion, ELEMENT_EXPLICIT | ELEMENT_INACTIVE, ELEMENT_IMPLICIT, d->force, d->force);
    }
    else
    {
        grips_push(w, motion, 1.0, d->form == MARCH_EULER ? d->k : 0.0, d->force); // Euler's y is not x_n+1
    }
    if (d->by_term)
    {
        element_motion still = *motion;
        memset(w->dv, 0, (size_t)count * sizeof(vec3));
        memset(d->other, 0, (size_t)count * sizeof(vec3));
        still.v = w->dv;
        world_forces(w, &still, ELEMENT_EXPLICIT | ELEMENT_INACTIVE, 0, d->other, d->other);
        for (int i = 0; i < count; i++)
        {
            d->force[i] = v3_sub(d->force[i], d->other[i]);
        }
    }
    for (int i = 0; i < count; i++)
    {
        w->rhs[i] = v3_madd(momentum(w, d, i), d->k, d->force[i]);
    }
    if (w->contact)
    {
        cushions_push(w->contact, w->state.v, w->rhs);
    }
}

// Euler's, with the elements' own right side, h (g - h K v).
static void start_rhs(world* w, march_data* d)
{
    for (int i = 0; i < w->model->vertex_count; i++)
    {
        w->rhs_start[i] = v3_scale(w->h, v3_add(w->model->external[i], d->force[i]));
    }
    if (w->contact)
    {
        cushions_push(w->contact, w->state.v, w->rhs_start);
    }
}

static weft_status leave_zeros_out(world* w, march_data* d)
{
    bool some = d->split.explicit + d->split.inactive > 0, changed;
    if (!some || !d->scheme->compact || world_setting(w, "compact") == 0.0)
    {
        return WEFT_OK;
    }
    TRY(compact_run(&d->compact, &w->A, w->pool, &changed));
    w->pattern_version += changed;
    return WEFT_OK;
}

static weft_status assemble_chosen(world* w, march_data* d)
{
    element_motion motion = {.x = d->x_at, .v = d->v_at, .h = d->k, .time = w->time + w->h, .cap_mass = w->cap_mass};
    explicit_force(w, d);
    start_rhs(w, d);
    if (d->diagonal)
    {
        gather_rhs(w, d, &motion);
        return WEFT_OK;
    }
    TRY(assemble_values(w, d, &motion));
    d->whole = w->A;
    TRY(leave_zeros_out(w, d));
    d->form != MARCH_EULER || d->by_term ? gather_rhs(w, d, &motion) : (void)0;
    return WEFT_OK;
}

// The elements' flags are the world's only while elements are asked: energies are of all of them, and so is what the
// method falls back on.
static weft_status march_assemble(world* w)
{
    march_data* d = w->data;
    choose_form(w, d);
    choose_prescribed(w, d);
    element_motion motion = {.x = d->x_at, .v = d->v_at, .h = w->h, .time = w->time + w->h, .cap_mass = w->cap_mass};
    split_decide(&d->split, w, &motion);
    d->by_term = d->scheme->terms && world_setting(w, "terms") > 0.0 && d->split.implicit > 0;
    bool coupled = w->contact && w->contact->coupling_count > 0;
    d->diagonal = d->split.implicit == 0 && !coupled && w->model->ties.count == 0;
    w->flags = d->split.flags;
    weft_status status = assemble_chosen(w, d);
    w->flags = NULL;
    return status;
}

// rhs += sign h f of the cushions
static void change_rhs(world* w, double sign)
{
    int count = w->model->vertex_count;
    memset(w->rhs_start, 0, (size_t)count * sizeof(vec3));
    cushions_push(w->contact, w->state.v, w->rhs_start);
    for (int i = 0; i < count; i++)
    {
        w->rhs[i] = v3_madd(w->rhs[i], sign, w->rhs_start[i]);
    }
}

// After contacts were let go. A substep of Euler stays one, and neither the split nor the mesh's part depends on what
// touches: as long as the pattern is what it was only prescribed velocities and cushions change. *kept: that was so.
static weft_status assemble_again(world* w, bool* kept)
{
    march_data* d = w->data;
    contact* c = w->contact;
    uint64_t pattern = contact_pattern(c);
    int couplings = c->coupling_count;
    bool mine = d->form == MARCH_EULER && !d->by_term;
    if (mine && couplings > 0)
    {
        cushions_change(c, &d->whole, -1.0, w->pool);
        change_rhs(w, -1.0);
    }
    TRY(stage_constrain(w));
    *kept = mine && contact_pattern(c) == pattern && (couplings > 0) == (c->coupling_count > 0);
    if (!*kept)
    {
        return march_assemble(w);
    }
    choose_prescribed(w, d);
    if (couplings > 0)
    {
        cushions_change(c, &d->whole, 1.0, w->pool);
        change_rhs(w, 1.0);
        w->A = d->whole;
        TRY(leave_zeros_out(w, d));
    }
    return WEFT_OK;
}

// ---- the solve

// What constraints exert: (A (u - w) - b) / k.
static vec3 reaction(const world* w, int i)
{
    const march_data* d = w->data;
    vec3 sum = v3_scale(-1.0, w->rhs[i]);
    if (d->diagonal)
    {
        sum = v3_add(sum, grips_resist(w, d->k, i, w->dv[i]));
        return v3_scale(1.0 / d->k, v3_madd(sum, w->model->mass[i], w->dv[i]));
    }
    const bsr_pattern* pattern = w->A.pattern;
    for (int s = pattern->row_start[i]; s < pattern->row_start[i + 1]; s++)
    {
        sum = v3_add(sum, m3_mul_v(w->A.values + 9 * (size_t)s, w->dv[pattern->column[s]]));
    }
    return v3_scale(1.0 / d->k, sum);
}

static void solve_diagonal(world* w, const march_data* d)
{
    for (int i = 0; i < w->model->vertex_count; i++)
    {
        w->dv[i] = v3_scale(1.0 / w->model->mass[i], w->rhs[i]);
    }
    grips_solve_diagonal(w, d->k, w->dv);
    for (int n = 0; n < w->filter_count; n++)
    {
        const filter_record* record = &w->filter[n];
        w->dv[record->vertex] = v3_add(d->z[record->vertex], m3_mul_v(record->S, w->dv[record->vertex]));
    }
}

// Velocities of the ways: x_n+1 = x_n + h times these.
static void ways_of(world* w, const march_data* d)
{
    two_steps t = d->form == MARCH_BDF2 ? steps_of(w) : (two_steps){0};
    for (int i = 0; i < w->model->vertex_count; i++)
    {
        vec3 u = v3_add(d->v_at[i], w->dv[i]);
        w->v_next[i] = d->form == MARCH_BDF2 ? v3_scale(1.0 / w->h, v3_madd(start_offset(w, &t, i), d->k, u)) : u;
    }
}

// changed: so many contacts were let go since the last solve, all else is as it was; 0: it is another system.
static weft_status solve_once(world* w, int changed)
{
    march_data* d = w->data;
    if (d->diagonal)
    {
        solve_diagonal(w, d);
    }
    else
    {
        linear_system system = world_system(w, w->rhs, d->z);
        TRY(world_solve(w, &system, w->dv, changed));
    }
    ways_of(w, d);
    return WEFT_OK;
}

// The first guess is the last acceleration; the other forms have it in v_at.
static void guess(world* w)
{
    const march_data* d = w->data;
    for (int i = 0; i < w->model->vertex_count; i++)
    {
        w->dv[i] = d->form == MARCH_EULER ? v3_scale(w->h, w->state.acceleration[i]) : v3(0, 0, 0);
    }
}

// After contacts were let go the solve starts from what was just found, which is nearer than the last acceleration:
// what touches has the form of Euler, whose unknowns are the same each time.
static weft_status march_solve(world* w)
{
    guess(w);
    TRY(solve_once(w, 0));
    int changed = world_release(w, reaction, w->v_next, false);
    for (int turn = 1; changed > 0; turn++)
    {
        bool kept;
        TRY(assemble_again(w, &kept));
        TRY(solve_once(w, kept ? changed : 0));
        changed = turn < RELEASES_MAX ? world_release(w, reaction, w->v_next, false) : 0;
    }
    split_count(&((march_data*)w->data)->split, w);
    return WEFT_OK;
}

// ---- the end

// Midpoint: 2 u - v_n, and u where it is prescribed, so that a pin that starts to move does not swing for ever.
static void end_of_midpoint(world* w, march_data* d)
{
    const state* s = &w->state;
    memcpy(d->other, w->v_next, (size_t)s->vertex_count * sizeof(vec3));
    for (int i = 0; i < s->vertex_count; i++)
    {
        w->v_next[i] = v3_sub(v3_scale(2.0, d->other[i]), s->v[i]);
    }
    for (int n = 0; n < w->filter_count; n++)
    {
        const filter_record* record = &w->filter[n];
        vec3 *v = &w->v_next[record->vertex], u = d->other[record->vertex];
        *v = v3_add(u, m3_mul_v(record->S, v3_sub(*v, u)));
    }
    const tie_set* set = &w->model->ties;
    for (int m = 0; m < set->member_count; m++)
    {
        w->v_next[set->members[m]] = d->other[set->members[m]];
    }
}

static weft_status march_advance(world* w)
{
    march_data* d = w->data;
    for (int i = 0; i < w->model->vertex_count; i++)
    {
        w->x_next[i] = v3_madd(w->state.x[i], w->h, w->v_next[i]);
        w->v_next[i] = d->form == MARCH_BDF2 ? v3_add(d->v_at[i], w->dv[i]) : w->v_next[i];
    }
    d->form == MARCH_MIDPOINT ? end_of_midpoint(w, d) : (void)0;
    world_conclude(w, reaction);
    w->restart = d->touched;
    return WEFT_OK;
}

static weft_status march_respond(world* w)
{
    TRY(stage_respond(w));
    w->restart = w->restart || w->responded;
    return WEFT_OK;
}

const stage march_stages[] = {
    {"detect", march_detect},   {"constrain", stage_constrain}, {"assemble", march_assemble}, {"solve", march_solve},
    {"advance", march_advance}, {"judge", stage_judge},         {"respond", march_respond},   {NULL, NULL},
};

// A system without implicit elements is M: it has a matrix for those who want to see it.
weft_status march_first_system(world* w)
{
    march_data* d = w->data;
    TRY(march_detect(w));
    TRY(stage_constrain(w));
    TRY(march_assemble(w));
    memcpy(w->z, d->z, (size_t)w->model->vertex_count * sizeof(vec3));
    if (d->diagonal)
    {
        memcpy(d->force, w->rhs, (size_t)w->model->vertex_count * sizeof(vec3));
        element_motion motion = {
            .x = d->x_at, .v = d->v_at, .h = d->k, .time = w->time + w->h, .cap_mass = w->cap_mass};
        w->flags = d->split.flags;
        weft_status status = world_assemble(w, &motion, d->force);
        w->flags = NULL;
        return status;
    }
    return WEFT_OK;
}

// ---- what it keeps

weft_status march_prepare(world* w, march_data* d, const march_scheme* scheme)
{
    int count = w->model->vertex_count + 1;
    d->scheme = scheme;
    d->split = (split){.rule = scheme->rule, .damping = scheme->damping};
    d->x_at = MEM_NEW(count, vec3);
    d->v_at = MEM_NEW(count, vec3);
    d->force = MEM_NEW(count, vec3);
    d->other = MEM_NEW(count, vec3);
    d->z = MEM_NEW(count, vec3);
    bool ok = d->x_at && d->v_at && d->force && d->other && d->z;
    return ok ? split_create(&d->split, w) : WEFT_NO_MEMORY;
}

void march_finish(void* data)
{
    march_data* d = data;
    split_finish(&d->split);
    mem_free(d->x_at);
    mem_free(d->v_at);
    mem_free(d->force);
    mem_free(d->other);
    mem_free(d->z);
    mem_free(d->values);
    compact_finish(&d->compact);
}

static void share_values(const world* w, const void* data, float* out)
{
    split_share(&((const march_data*)data)->split, w->model, out);
}

const method_field march_fields[] = {{{"implicit_share", 0}, share_values}, {{NULL, 0}, NULL}};

uint8_t* const* march_split(const void* data)
{
    return ((const march_data*)data)->split.flags;
}
