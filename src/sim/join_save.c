// Closed seams in a checkpoint, the section `joins`: of each cloth which stitches are, and where its vertices were
// then, in plain data (core/pack.h).
#include "core/pack.h"
#include "sim/edits.h"
#include "sim/join.h"
#include "sim/tear.h"

static const section_shape joins_shape = {"joins", 2, 1, -1};

weft_status joins_save(const weft_sim* sim, section_writer* out, weft_error* error)
{
    packer p = {0};
    bool any = false;
    for (int k = 0; k < sim->body_count; k++)
    {
        const body* b = &sim->bodies[k];
        const vec3* at = b->rest.position;
        const uint8_t* sewing = b->sewing;
        int count = b->joined > 0 ? b->rest.vertex_count : 0, stitches = b->joined > 0 ? b->stitch_count : 0;
        any = any || b->joined > 0;
        PACK_ARRAY(&p, &at, &count);
        PACK_ARRAY(&p, &sewing, &stitches);
    }
    weft_status status = p.failed ? edit_error(WEFT_NO_MEMORY, error) : WEFT_OK;
    if (any && status == WEFT_OK)
    {
        section_put(out, joins_shape.name, joins_shape.version, 1, p.size, p.bytes);
    }
    pack_finish(&p);
    return status;
}

// Of a cloth, as the file has it.
typedef struct join_record
{
    const vec3* at;        // [count]
    const uint8_t* sewing; // [stitches]
    int count, stitches;
} join_record;

// The file is untrusted: every number is looked at.
static bool is_sound(const body* b, const join_record* r)
{
    bool good = !b->removed && r->count == b->rest.vertex_count && r->stitches == b->stitch_count;
    for (int k = 0; k < r->count && good; k++)
    {
        good = v3_is_finite(r->at[k]) && v3_length(r->at[k]) < 1e12;
    }
    for (int k = 0; k < r->stitches && good; k++)
    {
        good = r->sewing[k] == b->sewing[k] || (b->sewing[k] == STITCH_OPEN && r->sewing[k] == STITCH_CLOSED);
    }
    return good;
}

static join_record record_read(packer* p)
{
    join_record r = {0};
    PACK_ARRAY(p, &r.at, &r.count);
    PACK_ARRAY(p, &r.sewing, &r.stitches);
    r.count = r.at ? r.count : 0;
    r.stitches = r.sewing ? r.stitches : 0;
    return r;
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
        join_record r = record_read(&p);
        if (p.failed || (r.count + r.stitches > 0 && !is_sound(b, &r)))
        {
            return sections_cannot_be(from, "`joins` that are none of a run", error);
        }
        TRY(r.count > 0 ? edit_error(body_join(b, r.sewing, r.at, &before), error) : WEFT_OK);
        k >= sim->edits.body_count ? body_tear_keep(b, &before) : (void)0; // edits.c keeps the others
    }
    return p.at == p.size ? WEFT_OK : sections_cannot_be(from, "`joins` that are none of a run", error);
}
