// A time method that a test adds, by this file and a row in toy_tables.c: Verlet's, explicit, of two steps.
//
//     v = (x_n - x_n-1) / h_n-1 + h f(x_n, v_n) / m,    x += h v
//
// where `drag` (1/s), a setting, slows v by the factor 1 / (1 + h drag). It has everything that a method may own: an
// earlier state, data, a counter, a field, settings.
#include "step/step.h"

typedef struct verlet_data
{
    int count;
    double* fastest; // [count] m/s, of each vertex since the last checkpoint: for pictures
} verlet_data;

static const char* const counters[] = {"force_evaluations", NULL};

// Velocities that the way of the last substep had; those of the state at the start.
static vec3 last_velocity(const state* s, int i)
{
    const past_state* last = s->history;
    return s->history_filled > 0 ? v3_scale(1.0 / last->h, v3_sub(s->x[i], last->x[i])) : s->v[i];
}

static weft_status stage_force(world* w)
{
    const model* m = w->model;
    element_motion motion = {.x = w->state.x, .v = w->state.v, .h = w->h, .time = w->time + w->h};
    world_forces(w, &motion, ELEMENT_INACTIVE, 0, m->external, w->rhs);
    for (int i = 0; i < m->vertex_count; i++)
    {
        w->rhs[i] = v3_scale(w->h, w->rhs[i]);
    }
    if (w->contact)
    {
        cushions_push(w->contact, w->state.v, w->rhs);
    }
    world_count(w, counters[0], 1.0);
    return WEFT_OK;
}

static vec3 reaction(const world* w, int i)
{
    vec3 change = v3_scale(w->model->mass[i], v3_sub(w->v_next[i], w->state.v[i]));
    return v3_scale(1.0 / w->h, v3_sub(change, w->rhs[i]));
}

static weft_status stage_advance(world* w)
{
    verlet_data* data = w->data;
    const model* m = w->model;
    double slow = 1.0 / (1.0 + w->h * world_setting(w, "drag") * world_setting(w, "times"));
    for (int i = 0; i < m->vertex_count; i++)
    {
        vec3 v = v3_madd(last_velocity(&w->state, i), 1.0 / m->mass[i], w->rhs[i]);
        w->v_next[i] = v3_scale(slow, v);
    }
    world_prescribe(w, w->v_next);
    for (int i = 0; i < m->vertex_count; i++)
    {
        w->x_next[i] = v3_madd(w->state.x[i], w->h, w->v_next[i]);
        data->fastest[i] = fmax(data->fastest[i], v3_length(w->v_next[i]));
    }
    if (w->contact)
    {
        world_remember(w, reaction);
    }
    return WEFT_OK;
}

static weft_status prepare(world* w, void* data)
{
    verlet_data* d = data;
    d->count = w->model->vertex_count;
    d->fastest = MEM_NEW(d->count, double);
    return d->fastest ? WEFT_OK : WEFT_NO_MEMORY;
}

static void forget(void* data)
{
    verlet_data* d = data;
    for (int i = 0; i < d->count; i++)
    {
        d->fastest[i] = 0.0;
    }
}

static void finish(void* data)
{
    mem_free(((verlet_data*)data)->fastest);
}

static void fastest_values(const world* w, const void* data, float* out)
{
    const verlet_data* d = data;
    (void)w;
    for (int i = 0; i < d->count; i++)
    {
        out[i] = (float)d->fastest[i];
    }
}

static const method_field fields[] = {{{"fastest", 0}, fastest_values}, {{NULL, 0}, NULL}};

static const method_setting settings[] = {
    {.name = "drag", .summary = "How fast velocities fall", .unit = "1/s", .maximum = HUGE_VAL},
    {.name = "times", .summary = "So often", .value = 1, .minimum = 1, .maximum = 9, .whole = true},
    {.name = NULL},
};

static const stage stages[] = {
    {"detect", stage_detect}, {"constrain", stage_constrain}, {"force", stage_force}, {"advance", stage_advance},
    {"judge", stage_judge},   {"respond", stage_respond},     {NULL, NULL},
};

extern const time_method method_toy_verlet;
const time_method method_toy_verlet = {
    .name = "toy-verlet",
    .summary = "explicit, of two steps",
    .stages = stages,
    .needs = NEEDS_FORCE,
    .history = 1,
    .data_size = sizeof(verlet_data),
    .prepare = prepare,
    .forget = forget,
    .finish = finish,
    .energy_rise_max = INFINITY,
    .counters = counters,
    .fields = fields,
    .settings = settings,
};
