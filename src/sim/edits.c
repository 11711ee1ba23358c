// What edits have made of a scene, in a checkpoint: the section `edits` has plain data (core/pack.h) that one function
// names field by field, for saving and loading alike.
#include "sim/edits.h"

#include "core/pack.h"
#include "sim/fingerprint.h"

static const section_shape edits_shape = {"edits", 1, 1, -1};

weft_status edit_error(weft_status status, weft_error* error)
{
    return status == WEFT_NO_MEMORY ? error_set(error, status, NULL, 0, "%s", weft_status_text(status)) : status;
}

weft_status edits_begin(weft_sim* sim, weft_error* error)
{
    TRY(sim_build(sim, error));
    if (!sim->edits.begun)
    {
        sim->edits.scene = sim_fingerprint(sim);
        sim->edits.begun = true;
    }
    return WEFT_OK;
}

static void pack_world(packer* p, weft_sim_def* def)
{
    PACK(p, def->gravity);
}

weft_status edits_save(const weft_sim* sim, section_writer* out, weft_error* error)
{
    if (!sim->edits.begun)
    {
        return WEFT_OK;
    }
    packer p = {0};
    weft_sim_def def = sim->def;
    pack_world(&p, &def);
    weft_status status = p.failed ? edit_error(WEFT_NO_MEMORY, error) : WEFT_OK;
    if (status == WEFT_OK)
    {
        section_put(out, edits_shape.name, edits_shape.version, 1, p.size, p.bytes);
    }
    pack_finish(&p);
    return status;
}

weft_status edits_load(weft_sim* sim, edits_before* before, sections* from, weft_error* error)
{
    *before = (edits_before){.gravity = sim->def.gravity};
    const section* found;
    TRY(sections_take(from, &edits_shape, &found, error));
    if (sim->edits.begun)
    {
        return error_set(error, WEFT_BAD_INPUT, from->path, 0,
                         "the simulation has been edited: read the checkpoint into one that was made anew");
    }
    if (!found)
    {
        return WEFT_OK;
    }
    packer p = pack_reader(found->items, found->count);
    weft_sim_def def = sim->def;
    pack_world(&p, &def);
    if (p.failed || p.at != p.size || !v3_is_finite(def.gravity))
    {
        return sections_cannot_be(from, "`edits` that are none of a run", error);
    }
    TRY(edits_begin(sim, error));
    before->any = true;
    sim->def.gravity = def.gravity;
    sim_weigh(sim);
    return WEFT_OK;
}

void edits_load_undo(weft_sim* sim, edits_before* before)
{
    if (before->any)
    {
        sim->def.gravity = before->gravity;
        sim_weigh(sim);
        sim->edits = (edits){0};
    }
}

void edits_load_keep(weft_sim* sim, edits_before* before)
{
    (void)sim;
    *before = (edits_before){0};
}
