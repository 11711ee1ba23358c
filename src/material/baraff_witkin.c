// The model of Baraff and Witkin 1998: stretch and shear on triangles (membrane_kernel.c), and bending across their
// edges (bending_kernel.c) by `curvature`, a property of the material, by `exact`, which converges to that property on any
// mesh (directors.c), or by `hinge`, as the tables of Tamstorf et al. 2015 have it.
#include <string.h>

#include "material/directors.h"
#include "material/material.h"

static const char* const bendings[] = {"curvature", "hinge", "exact", NULL};
static const element_kind* const kinds[] = {&kind_membrane, &kind_curvature, &kind_hinge, &kind_exact, NULL};

static weft_status append(element_groups* groups, const cloth_shape* shape)
{
    TRY(membrane_append(element_groups_find(groups, &kind_membrane), shape));
    if (!shape_bends(shape))
    {
        return WEFT_OK;
    }
    if (strcmp(shape->bending, bendings[2]) == 0)
    {
        return exact_append(element_groups_find(groups, &kind_exact), shape);
    }
    return strcmp(shape->bending, bendings[0]) == 0
               ? curvature_append(element_groups_find(groups, &kind_curvature), shape)
               : hinge_append(element_groups_find(groups, &kind_hinge), shape);
}

const cloth_model model_baraff_witkin = {
    .name = "baraff-witkin",
    .summary = "stretch, shear and bend on triangles; bending `curvature` (a material property), `exact` (on any mesh) or `hinge`",
    .bendings = bendings,
    .kinds = kinds,
    .append = append,
};
