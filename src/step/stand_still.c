// The very last resort of a substep: cloth stays where it is, but for what pins prescribe and bodies carry, and forgets
// its velocity. No physics, but finite as long as the state is: the next substep starts from rest, and the run goes on.
// What is in a body's layer stays at its depth: led out of it, slivers that shared a vertex gained 13 times what all the
// cloth had.
#include <string.h>

#include "step/step.h"

static vec3 no_reaction(const world* w, int vertex)
{
    (void)w;
    (void)vertex;
    return v3(0, 0, 0);
}

// Bodies that move take along what touches them.
static void carry(const world* w)
{
    const contact* c = w->contact;
    for (int k = 0; c && k < c->touch_count; k++)
    {
        const touch* t = &c->touches[k];
        vec3 along = v3_scale(v3_dot(t->velocity, t->normal), t->normal);
        w->v_next[t->vertex] = t->held ? (t->sticks ? t->velocity : along) : w->v_next[t->vertex];
    }
}

static void prescribe_pins(const world* w)
{
    const filter_record* pins = w->contact ? w->pins : w->filter;
    for (int k = 0; k < w->pin_count; k++)
    {
        int i = pins[k].vertex;
        vec3 wanted = v3_add(w->state.v[i], w->z[i]);
        w->v_next[i] = v3_add(wanted, m3_mul_v(pins[k].S, v3_sub(w->v_next[i], wanted)));
    }
    if (w->model->ties.count > 0)
    {
        binding_prescribe(w, w->v_next, w->dv);
    }
}

static void choose_velocities(const world* w)
{
    memset(w->v_next, 0, (size_t)w->model->vertex_count * sizeof(vec3));
    carry(w);
    prescribe_pins(w);
}

static weft_status stage_stand(world* w)
{
    choose_velocities(w);
    for (int i = 0; i < w->model->vertex_count; i++)
    {
        w->x_next[i] = v3_madd(w->state.x[i], w->h, w->v_next[i]);
    }
    world_conclude(w, no_reaction);
    choose_velocities(w); // without what contact took for the way out of layers, which nobody went
    return WEFT_OK;
}

static const stage stages[] = {
    {"detect", stage_detect}, {"constrain", stage_constrain}, {"advance", stage_stand},
    {"judge", stage_judge},   {"respond", stage_respond},     {NULL, NULL},
};

const time_method method_stand_still = {
    .name = "stand-still",
    .summary = "nothing moves but what is prescribed",
    .stages = stages,
    .energy_rise_max = INFINITY,
};
