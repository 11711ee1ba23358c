// Volumes: solids of tetrahedra, which weigh by their volume and touch with their surface.
#include "sim/sim.h"

static void add_masses(const body* b, double* mass)
{
    for (int t = 0; t < b->rest.tetrahedron_count; t++)
    {
        const int* v = b->rest.tetrahedron + 4 * (size_t)t;
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

static const material_key keys[] = {
    {"density", "kg/m^3", offsetof(weft_material, density), true},
    {"young_modulus", "Pa", offsetof(weft_material, stretch_warp), false},
    {"damping", "s", offsetof(weft_material, damping), false},
    {0},
};

extern const body_kind body_kind_volumes;
const body_kind body_kind_volumes = {
    .name = "volumes",
    .summary = "solids of tetrahedra",
    .form = MESH_SOLID,
    .density = "kg/m^3",
    .density_max = 25000.0,
    .material_keys = keys,
    .material = {.density = 30.0, .stretch_warp = 5e4, .damping = 5e-3}, // soft foam
    .prepare = mesh_surface,
    .add_masses = add_masses,
};
