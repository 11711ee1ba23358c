// Materials that vary within a sheet: which one a triangle, an edge between two of them, or a vertex has.
//
// An edge has the mean of its two triangles, a vertex the mean of those around it by their area. Without regions all
// have the body's, to the bit.
#include "material/material.h"

const weft_material* triangle_material(const cloth_shape* shape, int t)
{
    return shape->materials ? &shape->materials[t] : &shape->material;
}

void material_add(weft_material* sum, double share, const weft_material* m)
{
    sum->density += share * m->density;
    sum->stretch_warp += share * m->stretch_warp;
    sum->stretch_weft += share * m->stretch_weft;
    sum->shear += share * m->shear;
    sum->bending += share * m->bending;
    sum->damping += share * m->damping;
    weft_material own = *m;
    bending_complete(&own);
    sum->bending_weft += share * own.bending_weft;
    sum->bending_bias += share * own.bending_bias;
}

weft_material hinge_material(const cloth_shape* shape, const hinge* it)
{
    if (!shape->materials)
    {
        return shape->material;
    }
    weft_material mean = {0};
    material_add(&mean, 0.5, &shape->materials[it->left]);
    material_add(&mean, 0.5, &shape->materials[it->right]);
    return mean;
}

weft_material side_material(const cloth_shape* shape, int t, int side)
{
    int h = shape->triangle_hinge[3 * t + side];
    return h >= 0 ? hinge_material(shape, &shape->hinges[h]) : *triangle_material(shape, t);
}

bool shape_bends(const cloth_shape* shape)
{
    bool bends = !shape->materials && shape->material.bending > 0.0;
    for (int t = 0; t < shape->triangle_count && shape->materials && !bends; t++)
    {
        bends = shape->materials[t].bending > 0.0;
    }
    return bends;
}
