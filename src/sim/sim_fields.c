// What solver and method know of each vertex beside its motion, as numbers for pictures.
#include "sim/sim.h"

static const weft_sim_field aggregate_field = {"aggregate", 1};

static const linear_solver* multigrid_of(const weft_sim* sim)
{
    const linear_solver* solver = sim->built ? sim->world.solver.solver : NULL;
    return solver && solver->aggregates ? solver : NULL;
}

int weft_sim_field_count(const weft_sim* sim)
{
    WEFT_ASSERT(sim);
    return multigrid_of(sim) ? 1 : 0;
}

const weft_sim_field* weft_sim_field_at(const weft_sim* sim, int field)
{
    WEFT_ASSERT(field >= 0 && field < weft_sim_field_count(sim));
    return &aggregate_field;
}

weft_status weft_sim_field_values(const weft_sim* sim, weft_cloth_id cloth, int field, float* out)
{
    WEFT_ASSERT(field >= 0 && field < weft_sim_field_count(sim) && out);
    WEFT_ASSERT(cloth >= 0 && cloth < sim->body_count);
    const body* b = &sim->bodies[cloth];
    int count = sim->model.vertex_count;
    int* aggregate = MEM_NEW(count, int);
    if (!aggregate)
    {
        return WEFT_NO_MEMORY;
    }
    const solver_object* object = &sim->world.solver;
    bool there = object->analyzed && object->solver->aggregates(object->state, 0, aggregate) >= 0;
    for (int k = 0; k < b->output_count; k++)
    {
        int i = b->outputs ? b->outputs[k] : k;
        out[k] = there ? (float)aggregate[b->scene_vertex[i]] : -1.0f;
    }
    mem_free(aggregate);
    return WEFT_OK;
}
