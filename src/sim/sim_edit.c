// Edits between steps of what the whole scene or a whole cloth has: gravity, air, materials, forces. What is wrong is
// refused before anything changes. Gravity, forces and the wind write their numbers into the model; what changes
// elements makes the next generation of it.
#include "sim/edits.h"

weft_status edit_error(weft_status status, weft_error* error)
{
    return status == WEFT_NO_MEMORY ? error_set(error, status, NULL, 0, "%s", weft_status_text(status)) : status;
}

weft_status edit_find_cloth(const weft_sim* sim, weft_cloth_id id, body** out, weft_error* error)
{
    if (!weft_sim_has_cloth(sim, id))
    {
        return error_set(error, WEFT_NOT_FOUND, NULL, 0, "there is no cloth with the id %d%s", id,
                         id >= 0 && id < sim->body_count ? " any more: it was removed" : "");
    }
    *out = &sim->bodies[id];
    return WEFT_OK;
}

weft_status weft_sim_set_gravity(weft_sim* sim, weft_vec3 gravity, weft_error* error)
{
    WEFT_ASSERT(sim);
    if (!v3_is_finite(gravity))
    {
        return error_set(error, WEFT_BAD_INPUT, NULL, 0, "gravity is finite");
    }
    TRY(edits_begin(sim, error));
    sim->def.gravity = gravity;
    clusters_weigh(sim);
    sim->edits.begun = true;
    return WEFT_OK;
}

// Air that comes must suit the method with every cloth.
static weft_status air_suits(const weft_sim* sim, weft_error* error)
{
    for (int k = 0; k < sim->body_count; k++)
    {
        TRY(sim->bodies[k].removed ? WEFT_OK : method_suits(sim, &sim->bodies[k], error));
    }
    return WEFT_OK;
}

weft_status weft_sim_set_wind(weft_sim* sim, const weft_air* air, weft_error* error)
{
    WEFT_ASSERT(sim && air);
    const char* mistake = air_check(air);
    if (mistake)
    {
        return error_set(error, WEFT_BAD_INPUT, NULL, 0, "%s", mistake);
    }
    TRY(edits_begin(sim, error));
    weft_air before = sim->def.air;
    sim->def.air = *air;
    weft_status status = WEFT_OK;
    if (before.density > 0.0 && air->density > 0.0)
    {
        clusters_set_air(sim, air);
    }
    else if (before.density > 0.0 || air->density > 0.0)
    {
        status = edit_error(air_suits(sim, error), error);
        status = status == WEFT_OK ? generation_next(sim, true, error) : status;
    }
    sim->def.air = status == WEFT_OK ? *air : before;
    sim->edits.begun |= status == WEFT_OK;
    return status;
}

weft_status weft_sim_set_material(weft_sim* sim, weft_cloth_id cloth, const weft_material* material, weft_error* error)
{
    WEFT_ASSERT(sim && material);
    body* b;
    TRY(edit_find_cloth(sim, cloth, &b, error));
    TRY(material_check(b, material, b->vertex_mass, error));
    TRY(edits_begin(sim, error));
    weft_material before = b->material;
    const char* bending = b->bending;
    b->material = *material;
    weft_status status = edit_error(body_choose_bending(sim, b, error), error);
    status = status == WEFT_OK ? generation_next(sim, true, error) : status;
    b->material = status == WEFT_OK ? *material : before;
    b->bending = status == WEFT_OK ? b->bending : bending;
    sim->edits.begun |= status == WEFT_OK;
    return status;
}

weft_status weft_sim_set_force(weft_sim* sim, weft_cloth_id cloth, const weft_force* forces, int force_count,
                               weft_error* error)
{
    WEFT_ASSERT(sim && (forces || force_count == 0) && force_count >= 0);
    body* b;
    TRY(edit_find_cloth(sim, cloth, &b, error));
    TRY(edits_begin(sim, error));
    weft_force* fresh;
    TRY(edit_error(forces_copy(b, forces, force_count, &fresh, error), error));
    forces_free(b->forces, b->force_count);
    b->forces = fresh;
    b->force_count = force_count;
    clusters_weigh(sim);
    sim->edits.begun = true;
    return WEFT_OK;
}

int weft_sim_generation(const weft_sim* sim)
{
    return sim->model.generation;
}
