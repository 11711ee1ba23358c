// The model of Baraff and Witkin 1998: stretch and shear on triangles (membrane_kernel.c), and bending across their
// edges (bending_kernel.c) by `curvature`, a property of the material, by `exact`, which converges to that property on any
// mesh (directors.c), or by `hinge`, as the tables of Tamstorf et al. 2015 have it.
#include <string.h>

#include "material/directors.h"
#include "material/material.h"

static const char* const bendings[] = {"auto", "curvature", "hinge", "exact", NULL};
static const char* const automatic[] = {"exact", "curvature", NULL};
static const element_kind* const kinds[] = {&kind_membrane, &kind_curvature, &kind_hinge,
                                            &kind_exact,    &kind_beyond,    &kind_taut,  NULL};

static bool changes_beyond(const cloth_shape* shape)
{
    bool changes = shape->material.bending_curvature > 0.0;
    for (int t = 0; t < shape->triangle_count && shape->materials && !changes; t++)
    {
        changes = shape->materials[t].bending_curvature > 0.0;
    }
    return changes;
}

static weft_status append(element_groups* groups, const cloth_shape* shape)
{
    TRY(membrane_append(element_groups_find(groups, &kind_membrane), shape));
    TRY(taut_append(element_groups_find(groups, &kind_taut), shape));
    if (!shape_bends(shape))
    {
        return WEFT_OK;
    }
    if (strcmp(shape->bending, "exact") == 0)
    {
        return exact_append(element_groups_find(groups, &kind_exact), shape);
    }
    const element_kind* bowed = changes_beyond(shape) ? &kind_beyond : &kind_curvature;
    return strcmp(shape->bending, "curvature") == 0
               ? curvature_append(element_groups_find(groups, bowed), shape)
               : hinge_append(element_groups_find(groups, &kind_hinge), shape);
}

const cloth_model model_baraff_witkin = {
    .name = "baraff-witkin",
    .summary = "stretch, shear and bend on triangles; bending `exact` (a material property on any mesh), `curvature` or `hinge`",
    .bendings = bendings,
    .automatic = automatic,
    .kinds = kinds,
    .measures = MEASURE_DIRECTIONS | MEASURE_BIAS | MEASURE_BEYOND | MEASURE_KNEE | MEASURE_LIMIT |
                MEASURE_CREASE,
    .append = append,
};
