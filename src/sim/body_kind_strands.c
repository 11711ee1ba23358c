// Strands: hair, bristles, cords. Polylines that weigh by their length and touch with their radius.
#include "sim/sim.h"

static void add_masses(const body* b, double* mass)
{
    for (int s = 0; s < b->rest.segment_count; s++)
    {
        const int* v = b->rest.segment + 2 * (size_t)s;
        double half = 0.5 * b->material.density * v3_length(v3_sub(b->rest.position[v[1]], b->rest.position[v[0]]));
        mass[b->scene_vertex[v[0]]] += half;
        mass[b->scene_vertex[v[1]]] += half;
    }
}

static const material_key keys[] = {
    {"density", "kg/m", offsetof(weft_material, density), true},
    {"stretch", "N", offsetof(weft_material, stretch_warp), false},
    {"bending", "N m^2", offsetof(weft_material, bending), false},
    {"damping", "s", offsetof(weft_material, damping), false},
    {0},
};

extern const body_kind body_kind_strands;
const body_kind body_kind_strands = {
    .name = "strands",
    .summary = "polylines: hair, bristles, cords",
    .form = MESH_LINES,
    .density = "kg/m",
    .density_max = 5.0,
    .material_keys = keys,
    .material = {.density = 0.005, .stretch_warp = 500.0, .bending = 1e-5, .damping = 1e-3}, // a soft cord of 3 mm
    .has_radius = true,
    .prepare = mesh_segment,
    .add_masses = add_masses,
};
