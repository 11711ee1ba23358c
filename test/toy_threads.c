// A kind of bodies that a test adds, by this file and a row in toy_tables.c: threads, polylines that weigh by their
// length and touch with their radius, half of the thickness.
#include "sim/sim.h"

static void add_masses(const body* b, double* mass)
{
    for (int s = 0; s < b->rest.segment_count; s++)
    {
        const int* v = b->rest.segment + 2 * s;
        double length = v3_length(v3_sub(b->rest.position[v[1]], b->rest.position[v[0]]));
        mass[b->scene_vertex[v[0]]] += 0.5 * b->material.density * length;
        mass[b->scene_vertex[v[1]]] += 0.5 * b->material.density * length;
    }
}

extern const body_kind body_kind_toy_threads;
const body_kind body_kind_toy_threads = {
    .name = "toy-threads",
    .summary = "polylines",
    .form = MESH_LINES,
    .density = "kg/m",
    .prepare = mesh_segment,
    .add_masses = add_masses,
};
