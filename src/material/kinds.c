// The table of element kinds, their groups, and energies in a fixed order.
#include <string.h>

#include "material/bending.h"
#include "material/exact.h"
#include "material/material.h"
#include "material/membrane.h"

#ifdef WEFT_X86_KERNELS
#define KERNELS(name)                                                                                                  \
    {                                                                                                                  \
        &name##_base, &name##_avx2, &name##_avx512                                                                     \
    }
#define DECLARE_KERNELS(name) extern const element_kernels name##_base, name##_avx2, name##_avx512
#else
#define KERNELS(name)                                                                                                  \
    {                                                                                                                  \
        &name##_base, &name##_base, &name##_base                                                                       \
    }
#define DECLARE_KERNELS(name) extern const element_kernels name##_base
#endif

DECLARE_KERNELS(membrane_kernels);
DECLARE_KERNELS(hinge_kernels);
DECLARE_KERNELS(curvature_kernels);

const element_kind kind_membrane = {"membrane", 3, MEMBRANE_STRIDE, KERNELS(membrane_kernels), membrane_exact};
const element_kind kind_hinge = {"hinge", 4, HINGE_STRIDE, KERNELS(hinge_kernels), hinge_exact};
const element_kind kind_curvature = {"curvature", 6, CURVATURE_STRIDE, KERNELS(curvature_kernels), curvature_exact};
const element_kind kind_air = {"air", 3, 1, {&air_kernels, &air_kernels, &air_kernels}, NULL};

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
    *group = (element_group){0};
}

typedef struct energy_context
{
    element_context element;
    const element_kernels* kernels;
    energy_sums* partial;
} energy_context;

static void energy_chunk(void* context, int begin, int end)
{
    energy_context* e = context;
    energy_sums* sums = &e->partial[begin / ENERGY_GRAIN];
    *sums = (energy_sums){0};
    e->kernels->energy(&e->element, begin, end, sums);
}

int element_energy_chunks(const element_group* group)
{
    return group->count > 0 ? (group->count - 1) / ENERGY_GRAIN + 1 : 0;
}

void element_group_energy(const element_group* group, workers* pool, cpu_kind cpu, const element_motion* motion,
                          energy_sums* partial, energy_sums* total)
{
    if (group->count == 0)
    {
        return;
    }
    energy_context e = {{group, motion}, element_kernels_for(group->kind, cpu), partial};
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
