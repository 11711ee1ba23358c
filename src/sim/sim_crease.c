// Creases of a simulation (material/creases.h): worn at the end of each step, and the section `creases` of a checkpoint,
// what the triangles of each cloth that creases have kept, in the order of cloths and of their triangles.
#include <string.h>

#include "material/creases.h"
#include "sim/cluster.h"
#include "sim/edits.h"

static const section_shape creases_shape = {"creases", 1, sizeof(crease), -1};

weft_status crease_take(body* b)
{
    weft_material m = body_material_fullest(b);
    if (m.crease_curvature > 0.0)
    {
        b->crease = MEM_NEW(b->rest.triangle_count, crease);
        return b->crease ? WEFT_OK : WEFT_NO_MEMORY;
    }
    return WEFT_OK;
}

static bool any_creases(const weft_sim* sim)
{
    bool any = false;
    for (int k = 0; k < sim->body_count; k++)
    {
        any = any || sim->bodies[k].crease;
    }
    return any;
}

static void lay(weft_sim* sim)
{
    creases_lay(&sim->model.groups);
    for (int k = 0; k < sim->clusters.count; k++)
    {
        creases_lay(&sim->clusters.list[k]->sim.model.groups);
    }
}

void sim_wear(weft_sim* sim)
{
    if (!any_creases(sim)) // most cloth
    {
        return;
    }
    for (int k = 0; k < sim->clusters.count; k++)
    {
        const weft_sim* own = &sim->clusters.list[k]->sim;
        creases_wear(&own->model.groups, own->world.state.x, sim->pool);
    }
    sim->clusters.count == 0 ? creases_wear(&sim->model.groups, sim->world.state.x, sim->pool) : (void)0;
    lay(sim);
}

// ---- in a checkpoint

static size_t kept_by(const body* b)
{
    return b->crease && !b->removed ? (size_t)b->rest.triangle_count : 0;
}

weft_status creases_save(const weft_sim* sim, section_writer* out, weft_error* error)
{
    size_t count = 0, at = 0;
    for (int k = 0; k < sim->body_count; k++)
    {
        count += kept_by(&sim->bodies[k]);
    }
    if (count == 0)
    {
        return WEFT_OK;
    }
    crease* all = MEM_NEW(count, crease);
    if (!all)
    {
        return edit_error(WEFT_NO_MEMORY, error);
    }
    for (int k = 0; k < sim->body_count; k++)
    {
        const body* b = &sim->bodies[k];
        kept_by(b) > 0 ? (void)memcpy(all + at, b->crease, kept_by(b) * sizeof(crease)) : (void)0;
        at += kept_by(b);
    }
    section_put(out, creases_shape.name, creases_shape.version, sizeof(crease), count, all);
    mem_free(all);
    return WEFT_OK;
}

weft_status creases_load(const weft_sim* sim, const struct crease** out, sections* from, weft_error* error)
{
    const section* found;
    TRY(sections_take(from, &creases_shape, &found, error));
    size_t count = 0;
    for (int k = 0; k < sim->body_count; k++)
    {
        count += kept_by(&sim->bodies[k]);
    }
    if (!found && count > 0)
    {
        return sections_lacks(from, creases_shape.name, error);
    }
    const crease* all = *out = found ? found->items : NULL;
    bool sound = !found || found->count == count;
    for (size_t i = 0; i < count && sound; i++)
    {
        sound = crease_is_sound(&all[i]);
    }
    if (!sound)
    {
        return sections_cannot_be(from, "`creases` that are none of a run", error);
    }
    return WEFT_OK;
}

void creases_take(weft_sim* sim, const crease* all)
{
    size_t at = 0;
    for (int k = 0; k < sim->body_count; k++)
    {
        body* b = &sim->bodies[k];
        kept_by(b) > 0 ? (void)memcpy(b->crease, all + at, kept_by(b) * sizeof(crease)) : (void)0;
        at += kept_by(b);
    }
    lay(sim);
}
