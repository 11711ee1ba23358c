// What solver, contact and method know of each vertex beside its motion, as numbers for pictures, in this order. Contact:
// the normal force, of the face of an obstacle that presses most and of all that cushions hold away, as the last substep
// leaves it for the next. Methods without a matrix move what touches and know of no force.
#include "sim/cluster.h"

static const weft_sim_field aggregate_field = {"aggregate", 1}, component_field = {"component", 1},
                            contact_field = {"contact", 0};

static bool has_components(const weft_sim* sim)
{
    const linear_solver* solver = sim->built ? sim->world.solver.solver : NULL;
    return solver && solver->components;
}

// Aggregates, then components.
static int solver_fields(const weft_sim* sim)
{
    const linear_solver* solver = sim->built ? sim->world.solver.solver : NULL;
    return (solver && solver->aggregates ? 1 : 0) + (has_components(sim) ? 1 : 0);
}

static bool is_component(const weft_sim* sim, int field)
{
    return has_components(sim) && field == solver_fields(sim) - 1;
}

static bool has_contact(const weft_sim* sim)
{
    return sim->built && (sim->method->method->needs & NEEDS_MATRIX) != 0;
}

// The method's index-th; NULL past the end.
static const method_field* method_field_at(const weft_sim* sim, int index)
{
    const method_field* field = sim->built ? sim->method->method->fields : NULL;
    for (; field && field->info.name && index > 0; index--)
    {
        field++;
    }
    return field && field->info.name ? field : NULL;
}

int weft_sim_field_count(const weft_sim* sim)
{
    WEFT_ASSERT(sim);
    int count = 0;
    while (method_field_at(sim, count))
    {
        count++;
    }
    return solver_fields(sim) + has_contact(sim) + count;
}

const weft_sim_field* weft_sim_field_at(const weft_sim* sim, int field)
{
    WEFT_ASSERT(field >= 0 && field < weft_sim_field_count(sim));
    int first = solver_fields(sim);
    if (is_component(sim, field))
    {
        return &component_field;
    }
    if (field == first && has_contact(sim))
    {
        return &contact_field;
    }
    return field < first ? &aggregate_field : &method_field_at(sim, field - first - has_contact(sim))->info;
}

// A number of each vertex by the solver's last solve; -1 where there is none.
static weft_status solver_values(const weft_sim* sim, bool components, float* out)
{
    int count = sim->model.vertex_count;
    int* number = MEM_NEW(count, int);
    if (!number)
    {
        return WEFT_NO_MEMORY;
    }
    const solver_object* object = &sim->world.solver;
    const linear_solver* solver = object->solver;
    bool there = object->analyzed;
    there = there && (components ? solver->components(object->state, number) > 0
                                 : solver->aggregates(object->state, 0, number) >= 0);
    for (int i = 0; i < count; i++)
    {
        out[i] = there ? (float)number[i] : -1.0f;
    }
    mem_free(number);
    return WEFT_OK;
}

static void contact_values(const weft_sim* sim, float* out)
{
    const contact_memory* memory = sim->world.state.contact.memory;
    for (int i = 0; i < sim->model.vertex_count; i++)
    {
        out[i] = memory ? (float)(memory[i].force + memory[i].load) : 0.0f;
    }
}

static weft_status scene_values(const weft_sim* sim, int field, float* out)
{
    int first = solver_fields(sim);
    if (field < first)
    {
        return solver_values(sim, is_component(sim, field), out);
    }
    if (field == first && has_contact(sim))
    {
        contact_values(sim, out);
        return WEFT_OK;
    }
    const method_field* of_method = method_field_at(sim, field - first - has_contact(sim));
    of_method->values(&sim->world, sim->world.method.data, out);
    return WEFT_OK;
}

weft_status weft_sim_field_values(const weft_sim* sim, weft_cloth_id cloth, int field, float* out)
{
    WEFT_ASSERT(field >= 0 && field < weft_sim_field_count(sim) && out);
    WEFT_ASSERT(cloth >= 0 && cloth < sim->body_count);
    const cluster* c = cluster_of(sim, cloth);
    const weft_sim* home = c ? &c->sim : sim;
    const body* b = c ? cluster_body(c, cloth) : &sim->bodies[cloth];
    float* values = MEM_NEW(home->model.vertex_count, float);
    weft_status status = values ? scene_values(home, field, values) : WEFT_NO_MEMORY;
    for (int k = 0; k < b->output_count && status == WEFT_OK; k++)
    {
        out[k] = values[b->scene_vertex[b->outputs ? b->outputs[k] : k]];
    }
    mem_free(values);
    return status;
}
