// The state of a world: all that a checkpoint needs and that a step which fails puts back. What a state holds is named
// here once; copies, checkpoints and the undoing of steps go by that.
#include <string.h>

#include "step/step.h"

enum
{
    ARRAY_COUNT = 4
};

static void arrays_of(state* s, vec3** out[ARRAY_COUNT])
{
    vec3** all[ARRAY_COUNT] = {&s->x, &s->v, &s->acceleration, &s->grip};
    memcpy(out, all, sizeof(all));
}

weft_status state_create(state* s, int vertex_count)
{
    *s = (state){.vertex_count = vertex_count};
    vec3** arrays[ARRAY_COUNT];
    arrays_of(s, arrays);
    bool ok = true;
    for (int k = 0; k < ARRAY_COUNT; k++)
    {
        *arrays[k] = MEM_NEW(vertex_count, vec3);
        ok = ok && *arrays[k];
    }
    return ok ? WEFT_OK : WEFT_NO_MEMORY;
}

void state_finish(state* s)
{
    vec3** arrays[ARRAY_COUNT];
    arrays_of(s, arrays);
    for (int k = 0; k < ARRAY_COUNT; k++)
    {
        mem_free(*arrays[k]);
    }
    *s = (state){0};
}

void state_copy(state* to, const state* from)
{
    WEFT_ASSERT(to->vertex_count == from->vertex_count);
    state source = *from; // whose pointers alone are looked at
    vec3 **targets[ARRAY_COUNT], **sources[ARRAY_COUNT];
    arrays_of(to, targets);
    arrays_of(&source, sources);
    for (int k = 0; k < ARRAY_COUNT; k++)
    {
        memcpy(*targets[k], *sources[k], (size_t)from->vertex_count * sizeof(vec3));
    }
    to->step_count = from->step_count;
    to->halvings = from->halvings;
    to->calm = from->calm;
}
