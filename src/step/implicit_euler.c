// Backward Euler with one Newton step (Baraff and Witkin 1998, section 3):
//
//     (M + h D + h^2 K) dv = h (f - h K v),   v += dv,   x += h v
#include <string.h>

#include "step/step.h"

// Relative residual at which the first solve of a substep is looked at for contacts that pull.
static const double EARLY_LOOK = 1e-2;

enum
{
    LIMIT_TURNS = 8 // solves of a substep that hold threads
};

static weft_status stage_assemble(world* w)
{
    const model* m = w->model;
    for (int i = 0; i < m->vertex_count; i++)
    {
        w->rhs_start[i] = v3_scale(w->h, m->external[i]);
    }
    element_motion motion = {.x = w->state.x, .v = w->state.v, .h = w->h, .time = w->time + w->h, .ahead = true};
    if (w->contact)
    {
        cushions_push(w->contact, w->state.v, w->rhs_start);
    }
    return world_assemble(w, &motion, w->rhs_start);
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

// After contacts were let go: the mesh's part is as it was, and as long as the pattern is too only cushions change.
static weft_status assemble_again(world* w, bool* kept)
{
    contact* c = w->contact;
    *kept = false;
    uint64_t pattern = contact_pattern(c);
    bool coupled = c->coupling_count > 0;
    cushions_change(c, &w->A, -1.0, w->pool);
    change_rhs(w, -1.0);
    TRY(stage_constrain(w));
    if (contact_pattern(c) != pattern || !coupled || c->coupling_count == 0)
    {
        return stage_assemble(w);
    }
    cushions_change(c, &w->A, 1.0, w->pool);
    change_rhs(w, 1.0);
    *kept = true;
    return WEFT_OK;
}

// Constraint forces: (A dv - b) / h of the unfiltered system.
static vec3 reaction(const world* w, int i)
{
    const bsr_pattern* pattern = w->A.pattern;
    vec3 sum = v3_scale(-1.0, w->rhs[i]);
    for (int s = pattern->row_start[i]; s < pattern->row_start[i + 1]; s++)
    {
        sum = v3_add(sum, m3_mul_v(w->A.values + 9 * (size_t)s, w->dv[pattern->column[s]]));
    }
    return v3_scale(1.0 / w->h, sum);
}

static void end_velocities(world* w)
{
    for (int i = 0; i < w->model->vertex_count; i++)
    {
        w->v_next[i] = v3_add(w->state.v[i], w->dv[i]);
    }
}

// A rough answer shows what pulls hard; an exact one of that system is not worth its iterations.
typedef struct early_look
{
    world* w;
    int changed; // contacts that were let go
} early_look;

static bool look_early(void* user)
{
    early_look* look = user;
    end_velocities(look->w);
    look->changed = world_release(look->w, reaction, look->w->v_next, true);
    return look->changed > 0;
}

static weft_status solve_first(world* w, early_look* look)
{
    linear_system system = world_system(w, w->rhs, w->z);
    // The first guess is the last acceleration.
    for (int i = 0; i < w->model->vertex_count; i++)
    {
        w->dv[i] = v3_scale(w->h, w->state.acceleration[i]);
    }
    system.earlier[0] = w->state.earlier[0];
    system.earlier[1] = w->state.earlier[1];
    system.look = w->contact ? (solve_look){EARLY_LOOK, look_early, look} : (solve_look){0};
    TRY(world_solve(w, &system, w->dv, 0));
    end_velocities(w);
    return WEFT_OK;
}

static weft_status solve_again(world* w, int changed)
{
    linear_system system = world_system(w, w->rhs, w->z);
    TRY(world_solve(w, &system, w->dv, changed));
    end_velocities(w);
    return WEFT_OK;
}

// Threads that are too long are held, and what then pulls is let go; some turns bring both to order.
static weft_status hold_threads(world* w)
{
    for (int turn = 0; turn < LIMIT_TURNS && strain_limit_update(w); turn++)
    {
        strain_limit_lift(w);
        TRY(strain_limit_lay(w));
        TRY(solve_again(w, 0));
        if (world_release(w, reaction, w->v_next, false) > 0)
        {
            bool kept;
            strain_limit_lift(w);
            TRY(assemble_again(w, &kept));
            TRY(strain_limit_lay(w));
            TRY(solve_again(w, 0));
        }
    }
    return WEFT_OK;
}

static weft_status stage_solve(world* w)
{
    early_look look = {.w = w};
    strain_limit_begin(w);
    TRY(solve_first(w, &look));
    int changed = look.changed > 0 ? look.changed : world_release(w, reaction, w->v_next, false);
    for (int turn = 1; changed > 0; turn++)
    {
        bool kept;
        TRY(assemble_again(w, &kept));
        TRY(solve_again(w, kept ? changed : 0));
        changed = turn < RELEASES_MAX ? world_release(w, reaction, w->v_next, false) : 0;
    }
    return w->limit.count > 0 ? hold_threads(w) : WEFT_OK;
}

static weft_status stage_advance(world* w)
{
    const state* s = &w->state;
    for (int i = 0; i < w->model->vertex_count; i++)
    {
        w->x_next[i] = v3_madd(s->x[i], w->h, w->v_next[i]);
    }
    world_conclude(w, reaction);
    w->work += strain_limit_work(w);
    return WEFT_OK;
}

static weft_status first_system(world* w)
{
    TRY(stage_detect(w));
    TRY(stage_constrain(w));
    return stage_assemble(w);
}

static const stage stages[] = {
    {"detect", stage_detect},   {"constrain", stage_constrain}, {"assemble", stage_assemble}, {"solve", stage_solve},
    {"advance", stage_advance}, {"judge", stage_judge},         {"respond", stage_respond},   {NULL, NULL},
};

const time_method method_implicit_euler = {
    .name = "implicit-euler",
    .summary = "backward Euler, one Newton step, halved when it goes wrong",
    .stages = stages,
    .needs = NEEDS_MATRIX,
    .first_system = first_system,
    .energy_rise_max = 1e-4,
    .holds_strain = true,
};
