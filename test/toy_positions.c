// A time method that a test adds, by this file and a row in toy_tables.c: it moves positions until the constraints of
// elements hold, as far as their compliance wants it (Macklin, Mueller and Chentanez 2016, with one sweep at a time).
// Elements that have no constraint are none of its business; neither is air.
#include "step/step.h"

enum
{
    SWEEPS = 20
};

static const char* const counters[] = {"projections", NULL};

static weft_status stage_predict(world* w)
{
    const model* m = w->model;
    for (int i = 0; i < m->vertex_count; i++)
    {
        w->rhs[i] = v3_scale(w->h, m->external[i]);
        w->v_next[i] = v3_madd(w->state.v[i], 1.0 / m->mass[i], w->rhs[i]);
    }
    world_prescribe(w, w->v_next);
    for (int i = 0; i < m->vertex_count; i++)
    {
        w->x_next[i] = v3_madd(w->state.x[i], w->h, w->v_next[i]);
        w->dv[i] = v3_scale(1.0 / m->mass[i], v3(1, 1, 1)); // 1/kg along each axis
    }
    for (int k = 0; k < w->filter_count; k++)
    {
        w->dv[w->filter[k].vertex] = v3(0, 0, 0); // what is held in some direction does not move here
    }
    return WEFT_OK;
}

static void move_element(world* w, const element_group* group, int e)
{
    element_motion motion = {.x = w->x_next, .v = w->state.v, .h = w->h};
    element_context context = {group, &motion};
    const int elements[BATCH] = {e, e, e, e, e, e, e, e};
    const int* vertex = group->vertices + e * group->kind->arity;
    constraint_batch c;
    group->kind->constraint(&context, elements, &c);
    double weight = c.compliance[0] / (w->h * w->h);
    vec3 gradient[ARITY_MAX];
    for (int a = 0; a < group->kind->arity; a++)
    {
        gradient[a] = v3(c.gradient[a][0][0], c.gradient[a][1][0], c.gradient[a][2][0]);
        weight += w->dv[vertex[a]].x * v3_dot(gradient[a], gradient[a]);
    }
    for (int a = 0; a < group->kind->arity && weight > 0.0; a++)
    {
        vec3* x = &w->x_next[vertex[a]];
        *x = v3_madd(*x, -w->dv[vertex[a]].x * c.value[0] / weight, gradient[a]);
    }
    world_count(w, counters[0], 1.0);
}

static weft_status stage_project(world* w)
{
    for (int sweep = 0; sweep < SWEEPS; sweep++)
    {
        for (int g = 0; g < w->model->groups.count; g++)
        {
            const element_group* group = &w->model->groups.list[g];
            for (int e = 0; e < group->count && group->kind->constraint; e++)
            {
                move_element(w, group, e);
            }
        }
    }
    return WEFT_OK;
}

static vec3 reaction(const world* w, int i)
{
    vec3 change = v3_scale(w->model->mass[i], v3_sub(w->v_next[i], w->state.v[i]));
    return v3_scale(1.0 / w->h, v3_sub(change, w->rhs[i]));
}

static weft_status stage_advance(world* w)
{
    for (int i = 0; i < w->model->vertex_count; i++)
    {
        w->v_next[i] = v3_scale(1.0 / w->h, v3_sub(w->x_next[i], w->state.x[i]));
    }
    if (w->contact)
    {
        world_remember(w, reaction);
    }
    return WEFT_OK;
}

static const stage stages[] = {
    {"detect", stage_detect},   {"constrain", stage_constrain}, {"predict", stage_predict}, {"project", stage_project},
    {"advance", stage_advance}, {"judge", stage_judge},         {"respond", stage_respond}, {NULL, NULL},
};

extern const time_method method_toy_positions;
const time_method method_toy_positions = {
    .name = "toy-positions",
    .summary = "moves positions until constraints hold",
    .stages = stages,
    .needs = NEEDS_CONSTRAINT,
    .energy_rise_max = INFINITY,
    .counters = counters,
};
