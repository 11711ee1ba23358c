// The very last resort of a substep: cloth stays where it is, but for what pins and bodies prescribe, and forgets its
// velocity. No physics, but finite as long as the state is: the next substep starts from rest, and the run goes on.
#include <string.h>

#include "step/step.h"

static vec3 no_reaction(const world* w, int vertex)
{
    (void)w;
    (void)vertex;
    return v3(0, 0, 0);
}

static weft_status stage_stand(world* w)
{
    int count = w->model->vertex_count;
    memset(w->v_next, 0, (size_t)count * sizeof(vec3));
    world_prescribe(w, w->v_next);
    for (int i = 0; i < count; i++)
    {
        w->x_next[i] = v3_madd(w->state.x[i], w->h, w->v_next[i]);
    }
    world_conclude(w, no_reaction);
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
