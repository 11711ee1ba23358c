// A kind of bodies that a test adds, by this file and a row in toy_tables.c: blocks of tetrahedra that weigh by volume.
#include "sim/sim.h"

static void add_masses(const body* b, double* mass)
{
    for (int t = 0; t < b->rest.tetrahedron_count; t++)
    {
        const int* v = b->rest.tetrahedron + 4 * t;
        vec3 e[3], a = b->rest.position[v[0]];
        for (int k = 0; k < 3; k++)
        {
            e[k] = v3_sub(b->rest.position[v[1 + k]], a);
        }
        double share = b->material.density * v3_dot(e[0], v3_cross(e[1], e[2])) / 24.0;
        for (int k = 0; k < 4; k++)
        {
            mass[b->scene_vertex[v[k]]] += share;
        }
    }
}

extern const body_kind body_kind_toy_blocks;
const body_kind body_kind_toy_blocks = {
    .name = "toy-blocks",
    .summary = "tetrahedra",
    .form = MESH_SOLID,
    .density = "kg/m^3",
    .prepare = mesh_surface,
    .add_masses = add_masses,
};
