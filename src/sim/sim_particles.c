// Springs between near vertices of sheets (contact/particles.c), as the simulation asks for them: the spacing of the
// mesh around each vertex, and how far from a body they can act.
//
// The cells of a grid have twice the area of a triangle, so that the spacing is the root of twice the mean area of the
// triangles around a vertex: the length of square cells, at borders too.
#include "sim/sim.h"

static bool is_sheet(const body* b)
{
    return b->rest.triangle_count > 0 && !b->rest.tetrahedron;
}

static void spacings_of(const body* b, double* spacing, int* count)
{
    const mesh* m = &b->rest;
    for (int k = 0; k < 3 * m->triangle_count; k++)
    {
        int vertex = b->scene_vertex[m->triangle[k]];
        spacing[vertex] += body_rest_area(b, k / 3);
        count[vertex]++;
    }
    for (int i = 0; i < m->vertex_count; i++)
    {
        int vertex = b->scene_vertex[i];
        spacing[vertex] = count[vertex] > 0 ? sqrt(2.0 * spacing[vertex] / count[vertex]) : 0.0;
    }
}

weft_status sim_build_particles(const weft_sim* sim, contact* c)
{
    const weft_sim_def* d = &sim->def;
    if (d->particle_distance == 0.0)
    {
        return WEFT_OK;
    }
    const particle_options options = {d->particle_distance, d->particle_stiffness, d->particle_damping};
    TRY(particles_create(c, &options));
    for (int k = 0; k < sim->body_count; k++)
    {
        if (is_sheet(&sim->bodies[k]))
        {
            spacings_of(&sim->bodies[k], c->particles.spacing, c->particles.item); // zero, and not in use yet
        }
    }
    return WEFT_OK;
}

double sim_contact_reach(const weft_sim* sim, const body* b)
{
    double largest = 0.0;
    for (int t = 0; t < b->rest.triangle_count && sim->def.particle_distance > 0.0 && is_sheet(b); t++)
    {
        largest = fmax(largest, body_rest_area(b, t));
    }
    return fmax(CONTACT_REACH * b->thickness, sim->def.particle_distance * sqrt(2.0 * largest));
}
