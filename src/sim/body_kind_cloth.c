// Cloth: a sheet of triangles, which weighs by its area at rest.
#include "sim/sim.h"

static void add_masses(const body* b, double* mass)
{
    for (int t = 0; t < b->rest.triangle_count; t++)
    {
        double third = triangle_rest_area(b->rest_uv + 3 * t) * body_material(b, t)->density / 3.0;
        for (int k = 0; k < 3; k++)
        {
            mass[b->scene_vertex[b->rest.triangle[3 * t + k]]] += third;
        }
    }
}

extern const body_kind body_kind_cloth;
const body_kind body_kind_cloth = {
    .name = "cloth",
    .summary = "sheets of triangles",
    .form = MESH_SHEET,
    .density = "kg/m^2",
    .prepare = mesh_triangulate,
    .add_masses = add_masses,
};
