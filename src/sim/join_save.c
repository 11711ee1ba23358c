// Joined cloths in a checkpoint, the section `joins`: of each cloth whether it is, and where its vertices were then, in
// plain data (core/pack.h).
#include "core/pack.h"
#include "sim/edits.h"
#include "sim/join.h"
#include "sim/tear.h"

static const section_shape joins_shape = {"joins", 1, 1, -1};

weft_status joins_save(const weft_sim* sim, section_writer* out, weft_error* error)
{
    packer p = {0};
    bool any = false;
    for (int k = 0; k < sim->body_count; k++)
    {
        const body* b = &sim->bodies[k];
        const vec3* at = b->rest.position;
        int count = b->joined ? b->rest.vertex_count : 0;
        any = any || b->joined;
        PACK_ARRAY(&p, &at, &count);
    }
    weft_status status = p.failed ? edit_error(WEFT_NO_MEMORY, error) : WEFT_OK;
    if (any && status == WEFT_OK)
    {
        section_put(out, joins_shape.name, joins_shape.version, 1, p.size, p.bytes);
    }
    pack_finish(&p);
    return status;
}

// The file is untrusted: every number is looked at.
static bool is_sound(const body* b, const vec3* at, int count)
{
    bool good = b->joinable && !b->removed && count == b->rest.vertex_count;
    for (int k = 0; k < count && good; k++)
    {
        good = v3_is_finite(at[k]) && v3_length(at[k]) < 1e12;
    }
    return good;
}

weft_status joins_load(weft_sim* sim, sections* from, weft_error* error)
{
    const section* found;
    TRY(sections_take(from, &joins_shape, &found, error));
    if (!found)
    {
        return WEFT_OK;
    }
    packer p = pack_reader(found->items, found->count);
    for (int k = 0; k < sim->body_count; k++)
    {
        body *b = &sim->bodies[k], before = *b;
        const vec3* at = NULL;
        int count = 0;
        PACK_ARRAY(&p, &at, &count);
        count = at ? count : 0;
        if (p.failed || (count > 0 && !is_sound(b, at, count)))
        {
            return sections_cannot_be(from, "`joins` that are none of a run", error);
        }
        TRY(count > 0 ? edit_error(body_join(b, at, &before), error) : WEFT_OK);
        k >= sim->edits.body_count ? body_tear_keep(b, &before) : (void)0; // edits.c keeps the others
    }
    return p.at == p.size ? WEFT_OK : sections_cannot_be(from, "`joins` that are none of a run", error);
}
