// What bodies weigh: the masses of the model, and the mass of a body without one.
#include <string.h>

#include "sim/sim.h"

static void add_masses(const body* b, model* m)
{
    for (int i = 0; i < b->rest.vertex_count && b->vertex_mass > 0.0; i++)
    {
        m->mass[b->scene_vertex[i]] += b->vertex_mass; // a closed seam has the mass of all
    }
    if (b->vertex_mass == 0.0)
    {
        b->kind->add_masses(b, m->mass);
    }
}

// What the faces around a vertex have in the mean; the body's own where there are none.
static void add_rigidity(const body* b, model* m)
{
    for (int i = 0; i < b->rest.vertex_count; i++)
    {
        m->rigid[b->scene_vertex[i]] = b->material.bending;
    }
    for (int t = 0; t < b->rest.triangle_count && b->triangle_region; t++)
    {
        int region = b->triangle_region[t];
        double bending = region < 0 ? b->material.bending : b->regions[region].bending;
        for (int c = 0; c < 3; c++)
        {
            double* to = &m->rigid[b->scene_vertex[b->rest.triangle[3 * t + c]]];
            *to = 0.5 * (*to + bending);
        }
    }
}

// A vertex that no triangle uses weighs nothing: it gets the mean mass, so that the matrix stays definite, and no weight
// (sim_weigh), so that it stays where it is.
static void mend_masses(model* m)
{
    double sum = 0.0;
    int used = 0;
    for (int i = 0; i < m->vertex_count; i++)
    {
        sum += m->mass[i];
        used += m->mass[i] > 0.0;
    }
    for (int i = 0; i < m->vertex_count; i++)
    {
        m->loose[i] = !(m->mass[i] > 0.0);
        m->mass[i] = m->loose[i] ? sum / used : m->mass[i];
        m->total_mass += m->mass[i];
    }
}

void sim_model_masses(weft_sim* sim)
{
    model* m = &sim->model;
    memset(m->mass, 0, (size_t)m->vertex_count * sizeof(double));
    m->total_mass = 0.0;
    for (int k = 0; k < sim->body_count; k++)
    {
        sim->bodies[k].removed ? (void)0 : add_masses(&sim->bodies[k], m);
        sim->bodies[k].removed ? (void)0 : add_rigidity(&sim->bodies[k], m);
    }
    mend_masses(m);
}

// ---- without a model, which takes a hundred times the memory of a mesh

// Where a body's vertices would be, one for those that a seam has joined.
weft_status weft_sim_mass(const weft_sim* sim, weft_cloth_id cloth, double* out)
{
    WEFT_ASSERT(sim && out && cloth >= 0 && cloth < sim->body_count);
    const body* b = &sim->bodies[cloth];
    *out = 0.0;
    if (b->removed)
    {
        return WEFT_OK;
    }
    int n = b->rest.vertex_count;
    int* place = MEM_NEW(int_max(n, 1), int);
    double* mass = MEM_NEW(int_max(n, 1), double);
    weft_status status = place && mass ? WEFT_OK : WEFT_NO_MEMORY;
    if (status == WEFT_OK)
    {
        body like = *b;
        model m = {.mass = mass};
        like.scene_vertex = place;
        for (int i = 0; i < n; i++)
        {
            place[i] = b->one && b->one[i] != i ? place[b->one[i]] : i;
            mass[i] = 0.0;
        }
        add_masses(&like, &m);
        for (int i = 0; i < n; i++)
        {
            *out += mass[i];
        }
    }
    mem_free(place);
    mem_free(mass);
    return status;
}
