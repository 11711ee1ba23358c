// The model of Baraff and Witkin 1998: stretch and shear on triangles (membrane_kernel.c), and bending across their
// edges (bending_kernel.c) by `curvature`, a property of the material, or by `hinge`, as the tables of Tamstorf et al.
// 2015 have it.
#include <string.h>

#include "material/material.h"

static const char* const bendings[] = {"curvature", "hinge", NULL};
static const element_kind* const kinds[] = {&kind_membrane, &kind_curvature, &kind_hinge, NULL};

static weft_status append(element_groups* groups, const cloth_shape* shape)
{
    TRY(membrane_append(element_groups_find(groups, &kind_membrane), shape));
    if (!shape_bends(shape))
    {
        return WEFT_OK;
    }
    return strcmp(shape->bending, bendings[0]) == 0
               ? curvature_append(element_groups_find(groups, &kind_curvature), shape)
               : hinge_append(element_groups_find(groups, &kind_hinge), shape);
}

const cloth_model model_baraff_witkin = {
    .name = "baraff-witkin",
    .summary = "stretch, shear and bend on triangles; bending `curvature` (a material property) or `hinge`",
    .bendings = bendings,
    .kinds = kinds,
    .append = append,
};
