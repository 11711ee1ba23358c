// Ties in a step: J dv = -J v - 0.9 C / h at the state that the step starts from, so that tied points move together and
// what they have drifted apart (by curved motion, or pushed by contact) goes back by 0.9 each substep. Pins and
// contacts have the first word: where they contradict a tie, they stand.
#include <string.h>

#include "step/step.h"

static const double pull_back = 0.9; // share of the drift

weft_status binding_create(binding* b, const tie_set* set)
{
    if (set->count == 0)
    {
        return WEFT_OK;
    }
    b->start = MEM_NEW(3 * (size_t)set->count + 1, int);
    b->unknown = MEM_NEW((size_t)TIE_ENTRIES * (size_t)set->count, int);
    b->value = MEM_NEW((size_t)TIE_ENTRIES * (size_t)set->count, double);
    b->rhs = MEM_NEW(3 * (size_t)set->count, double);
    return b->start && b->unknown && b->value && b->rhs ? WEFT_OK : WEFT_NO_MEMORY;
}

void binding_finish(binding* b)
{
    mem_free(b->start);
    mem_free(b->unknown);
    mem_free(b->value);
    mem_free(b->rhs);
    null_space_finish(&b->space);
    *b = (binding){0};
}

tie_rows world_ties(const world* w)
{
    const binding* b = &w->binding;
    return (tie_rows){3 * w->model->ties.count, b->start, b->unknown, b->value};
}

// -J v - 0.9 C / h
static void binding_want(world* w)
{
    binding* b = &w->binding;
    const tie_set* set = &w->model->ties;
    for (int k = 0; k < set->count; k++)
    {
        vec3 error = tie_error(&set->ties[k], w->state.x);
        const double drift[3] = {error.x, error.y, error.z};
        for (int axis = 0; axis < 3; axis++)
        {
            double sum = -pull_back / w->h * drift[axis];
            for (int e = b->start[3 * k + axis]; e < b->start[3 * k + axis + 1]; e++)
            {
                const vec3* v = &w->state.v[b->unknown[e] / 3];
                sum -= b->value[e] * (&v->x)[b->unknown[e] % 3];
            }
            b->rhs[3 * k + axis] = sum;
        }
    }
}

weft_status binding_constrain(world* w)
{
    const tie_set* set = &w->model->ties;
    binding* b = &w->binding;
    tie_set_rows(set, w->state.x, b->start, b->unknown, b->value);
    binding_want(w);
    // What no filter prescribes starts from zero.
    for (int m = 0, k = 0; m < set->member_count; m++)
    {
        while (k < w->filter_count && w->filter[k].vertex < set->members[m])
        {
            k++;
        }
        if (k == w->filter_count || w->filter[k].vertex != set->members[m])
        {
            w->z[set->members[m]] = v3(0, 0, 0);
        }
    }
    linear_system system = {.A = {.pattern = &w->model->assembler.pattern},
                            .z = w->z,
                            .filter = w->filter,
                            .filter_count = w->filter_count,
                            .ties = world_ties(w)};
    TRY(null_space_build(&b->space, &system, b->rhs));
    null_space_satisfy(&b->space, &system, w->z);
    return WEFT_OK;
}

void binding_prescribe(const world* w, vec3* v, vec3* scratch)
{
    const tie_set* set = &w->model->ties;
    memset(scratch, 0, (size_t)w->model->vertex_count * sizeof(vec3));
    for (int m = 0; m < set->member_count; m++)
    {
        int i = set->members[m];
        scratch[i] = v3_sub(v[i], v3_add(w->state.v[i], w->z[i]));
    }
    null_space_project(&w->binding.space, scratch);
    for (int m = 0; m < set->member_count; m++)
    {
        int i = set->members[m];
        v[i] = v3_add(v3_add(w->state.v[i], w->z[i]), scratch[i]);
    }
}

// Both are sorted by vertex.
void world_collect_held(world* w)
{
    const tie_set* set = &w->model->ties;
    w->held_count = 0;
    for (int k = 0, m = 0; k < w->filter_count || m < set->member_count;)
    {
        int a = k < w->filter_count ? w->filter[k].vertex : INT32_MAX;
        int b = m < set->member_count ? set->members[m] : INT32_MAX;
        w->held[w->held_count++] = int_min(a, b);
        k += a <= b;
        m += b <= a;
    }
}
