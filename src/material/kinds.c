// The element kinds of cloth, groups of elements, and their energies in a fixed order.
#include <string.h>

#include "material/bending.h"
#include "material/constraints.h"
#include "material/creases.h"
#include "material/criterion.h"
#include "material/directors.h"
#include "material/exact.h"
#include "material/material.h"
#include "material/membrane.h"

KERNELS_DECLARE(element_kernels, membrane_kernels);
KERNELS_DECLARE(element_kernels, taut_kernels);
KERNELS_DECLARE(element_kernels, hinge_kernels);
KERNELS_DECLARE(element_kernels, curvature_kernels);
KERNELS_DECLARE(element_kernels, beyond_kernels);
KERNELS_DECLARE(element_kernels, air_kernels);

const element_kind kind_membrane = {
    .name = "membrane",
    .arity = 3,
    .rest_stride = MEMBRANE_STRIDE,
    .kernels = KERNELS_OF(membrane_kernels),
    .exact = membrane_exact,
    .constraint = membrane_constraint,
    .constraint_rows = 3,
    .constraint_damping = 7,
    .explicit_criterion = membrane_criterion,
};
const element_kind kind_taut = {
    .name = "taut",
    .arity = 3,
    .rest_stride = TAUT_STRIDE,
    .kernels = KERNELS_OF(taut_kernels),
    .exact = taut_exact,
    .constraint = taut_constraint,
    .constraint_rows = 2,
    .constraint_damping = 8,
    .explicit_criterion = taut_criterion,
};
const element_kind kind_hinge = {
    .name = "hinge",
    .arity = 4,
    .rest_stride = HINGE_STRIDE,
    .shape = {FORM_FACTORS, {1, 1, 1, 1}},
    .kernels = KERNELS_OF(hinge_kernels),
    .exact = hinge_exact,
    .constraint = hinge_constraint,
    .constraint_damping = 2,
    .explicit_criterion = factor_criterion,
    .role = ROLE_BEND,
};
const element_kind kind_curvature = {
    .name = "curvature",
    .arity = 6,
    .rest_stride = CURVATURE_STRIDE,
    .shape = {FORM_FACTORS, CURVATURE_FACTORS},
    .kernels = KERNELS_OF(curvature_kernels),
    .exact = curvature_exact,
    .constraint = curvature_constraint,
    .constraint_rows = 3,
    .constraint_damping = 9,
    .explicit_criterion = factor_criterion,
    .role = ROLE_BEND,
};
// Two more numbers an element than linear cloth has, which most cloth is.
const element_kind kind_beyond = {
    .name = "beyond",
    .arity = 6,
    .rest_stride = BEYOND_STRIDE,
    .shape = {FORM_FACTORS, CURVATURE_FACTORS},
    .kernels = KERNELS_OF(beyond_kernels),
    .exact = beyond_exact,
    .explicit_criterion = factor_criterion,
    .role = ROLE_BEND,
};
const element_kind kind_exact = {
    .name = "exact",
    .arity = 6,
    .rest_stride = CURVATURE_STRIDE,
    .shape = {FORM_FACTORS, CURVATURE_FACTORS},
    .kernels = KERNELS_OF(curvature_kernels),
    .exact = curvature_exact,
    .explicit_criterion = factor_criterion,
    .role = ROLE_BEND,
    .prepare = directors_prepare,
};
const element_kind kind_air = {
    .name = "air",
    .arity = 3,
    .rest_stride = 1,
    .shape = {.form = FORM_ONE_BLOCK},
    .is_load = true,
    .kernels = KERNELS_OF(air_kernels),
    .explicit_criterion = air_criterion,
    .role = ROLE_LOAD,
};

enum
{
    ENERGY_GRAIN = 1024 // elements a partial sum
};

const element_kernels* element_kernels_for(const element_kind* kind, cpu_kind cpu)
{
    return kind->kernels[cpu];
}

weft_status element_group_reserve(element_group* group, const element_kind* kind, int count)
{
    group->kind = kind;
    int vertex_capacity = group->capacity * kind->arity, rest_capacity = group->capacity * kind->rest_stride;
    if (count > INT32_MAX / (kind->arity * kind->arity) || count > INT32_MAX / kind->rest_stride ||
        !mem_grow((void**)&group->vertices, &vertex_capacity, count * kind->arity, sizeof(int)) ||
        !mem_grow((void**)&group->rest, &rest_capacity, count * kind->rest_stride, sizeof(double)))
    {
        return WEFT_NO_MEMORY;
    }
    group->capacity = int_min(vertex_capacity / kind->arity, rest_capacity / kind->rest_stride);
    return WEFT_OK;
}

void element_group_finish(element_group* group)
{
    mem_free(group->vertices);
    mem_free(group->rest);
    directors_finish(group->directors);
    creases_finish(group->creases);
    *group = (element_group){0};
}

weft_status element_groups_add(element_groups* groups, const element_kind* kind)
{
    if (element_groups_find(groups, kind))
    {
        return WEFT_OK;
    }
    if (!mem_grow((void**)&groups->list, &groups->capacity, groups->count + 1, sizeof(element_group)))
    {
        return WEFT_NO_MEMORY;
    }
    groups->list[groups->count++] = (element_group){.kind = kind};
    return WEFT_OK;
}

element_group* element_groups_find(const element_groups* groups, const element_kind* kind)
{
    for (int g = 0; g < groups->count; g++)
    {
        if (groups->list[g].kind == kind)
        {
            return &groups->list[g];
        }
    }
    return NULL;
}

void element_groups_drop_empty(element_groups* groups)
{
    int kept = 0;
    for (int g = 0; g < groups->count; g++)
    {
        if (groups->list[g].count > 0)
        {
            groups->list[kept++] = groups->list[g];
            continue;
        }
        element_group_finish(&groups->list[g]);
    }
    groups->count = kept;
}

void element_groups_finish(element_groups* groups)
{
    for (int g = 0; g < groups->count; g++)
    {
        element_group_finish(&groups->list[g]);
    }
    mem_free(groups->list);
    *groups = (element_groups){0};
}

// ---- sums over the active elements

// The next run of active elements in [*begin, end) starts at *begin; returns its end, `end` itself past the last.
static int next_active(const uint8_t* flags, int* begin, int end)
{
    if (!flags)
    {
        return end;
    }
    while (*begin < end && flags[*begin] & ELEMENT_INACTIVE)
    {
        ++*begin;
    }
    int last = *begin;
    while (last < end && !(flags[last] & ELEMENT_INACTIVE))
    {
        last++;
    }
    return last;
}

typedef struct energy_context
{
    element_context element;
    const element_kernels* kernels;
    const uint8_t* flags;
    energy_sums* partial;
} energy_context;

static void energy_chunk(void* context, int begin, int end)
{
    energy_context* e = context;
    energy_sums* sums = &e->partial[begin / ENERGY_GRAIN];
    *sums = (energy_sums){0};
    while (begin < end)
    {
        int last = next_active(e->flags, &begin, end);
        if (begin < last)
        {
            e->kernels->energy(&e->element, begin, last, sums);
        }
        begin = last;
    }
}

int element_energy_chunks(const element_group* group)
{
    return group->count > 0 ? (group->count - 1) / ENERGY_GRAIN + 1 : 0;
}

void element_group_energy(const element_group* group, const uint8_t* flags, workers* pool, cpu_kind cpu,
                          const element_motion* motion, energy_sums* partial, energy_sums* total)
{
    energy_context e = {{group, motion}, element_kernels_for(group->kind, cpu), flags, partial};
    if (group->count == 0 || !e.kernels->energy)
    {
        return;
    }
    if (group->kind->prepare)
    {
        group->kind->prepare(group, motion, pool);
    }
    parallel_for(pool, group->count, ENERGY_GRAIN, energy_chunk, &e);
    for (int k = 0; k < element_energy_chunks(group); k++)
    {
        total->stretch += partial[k].stretch;
        total->shear += partial[k].shear;
        total->bend += partial[k].bend;
        total->dissipation += partial[k].dissipation;
        total->max_stretch = fmax(total->max_stretch, partial[k].max_stretch);
    }
}

double element_group_work(const element_group* group, const uint8_t* flags, cpu_kind cpu, const element_motion* start,
                          const vec3* v_end)
{
    double work = 0.0;
    element_context context = {group, start};
    const element_kernels* kernels = element_kernels_for(group->kind, cpu);
    for (int begin = 0; begin < group->count && kernels->work;)
    {
        int last = next_active(flags, &begin, group->count);
        work += kernels->work(&context, begin, last, v_end);
        begin = last;
    }
    return work;
}
