// The section `tears` of a checkpoint, in plain data (core/pack.h): of each cloth its topology, the vertices that were
// torn off, from which, and with which faces; then of how many vertices each mend was since the model was built. A
// model that was mended has its elements and colours in another order than one that was built from the same mesh: going
// on from a checkpoint builds the mesh of then, and mends it again.
#include <string.h>

#include "core/pack.h"
#include "sim/edits.h"
#include "sim/tear_mend.h"

static const section_shape tears_shape = {"tears", 2, 1, -1};

static void save_body(packer* p, const body* b)
{
    int count = b->torn_count, topology = b->topology, starts = count > 0 ? count + 1 : 0;
    int faces = count > 0 ? b->torn_face_start[count] : 0;
    const int *from = b->torn_from, *start = b->torn_face_start, *face = b->torn_face;
    PACK(p, topology);
    PACK_ARRAY(p, &from, &count);
    PACK_ARRAY(p, &start, &starts);
    PACK_ARRAY(p, &face, &faces);
}

weft_status tears_save(const weft_sim* sim, section_writer* out, weft_error* error)
{
    packer p = {0};
    bool any = false;
    for (int k = 0; k < sim->body_count; k++)
    {
        save_body(&p, &sim->bodies[k]);
        any = any || sim->bodies[k].torn_count > 0;
    }
    int mends = sim->mends.count;
    const int* size = sim->mends.size;
    PACK_ARRAY(&p, &size, &mends);
    weft_status status = p.failed ? edit_error(WEFT_NO_MEMORY, error) : WEFT_OK;
    if (any && status == WEFT_OK)
    {
        section_put(out, tears_shape.name, tears_shape.version, 1, p.size, p.bytes);
    }
    pack_finish(&p);
    return status;
}

// ---- loading

// A cloth's tears, lent from the bytes.
typedef struct saved_body
{
    tear_list list;
    int topology, starts;
} saved_body;

static void read_body(packer* p, saved_body* out)
{
    const int *origin = NULL, *start = NULL, *face = NULL;
    int count = 0, starts = 0, faces = 0;
    PACK(p, out->topology);
    PACK_ARRAY(p, &origin, &count);
    PACK_ARRAY(p, &start, &starts);
    PACK_ARRAY(p, &face, &faces);
    out->list = (tear_list){.from = (int*)origin, .face_start = (int*)start, .face = (int*)face};
    out->list.count = origin ? count : 0;
    out->list.face_count = face ? faces : 0;
    out->starts = start ? starts : 0;
}

// The file is untrusted: every number is looked at.
static bool is_sound(const body* b, const saved_body* saved)
{
    const tear_list* list = &saved->list;
    bool good = saved->topology >= 0 && (list->count > 0) == (saved->topology > 0) && (list->count == 0 || !b->removed);
    good = good && (list->count == 0 || (saved->starts == list->count + 1 && list->face_start[0] == 0 &&
                                         b->rest.face_start && list->face_start[list->count] == list->face_count));
    for (int k = 0; k < list->count && good; k++)
    {
        good = list->from[k] >= 0 && list->from[k] < b->rest.vertex_count + k &&
               list->face_start[k + 1] >= list->face_start[k] && list->face_start[k + 1] <= list->face_count;
    }
    for (int f = 0; f < list->face_count && good; f++)
    {
        good = list->face[f] >= 0 && list->face[f] < b->rest.face_count;
    }
    return good;
}

static weft_status forged(sections* from, weft_error* error)
{
    return sections_cannot_be(from, "`tears` that are none of a run", error);
}

// Some of a list, with lists of their own.
static weft_status copy_part(const tear_list* list, int first, int count, tear_list* out)
{
    for (int k = first; k < first + count; k++)
    {
        TRY(tears_add(out, list->from[k]));
        for (int f = list->face_start[k]; f < list->face_start[k + 1]; f++)
        {
            TRY(tears_take(out, list->face[f]));
        }
    }
    return WEFT_OK;
}

void tear_replay_finish(tear_replay* r)
{
    mem_free(r->size);
    tears_finish(&r->tears);
    *r = (tear_replay){0};
}

// What the model was built of; the rest, if there is any, is done again.
static weft_status load_body(body* b, const saved_body* saved, int later)
{
    body before;
    tear_list whole = {0};
    if (saved->list.count == 0)
    {
        return WEFT_OK;
    }
    weft_status status = copy_part(&saved->list, 0, saved->list.count - later, &whole);
    status = status == WEFT_OK ? body_tear(b, &whole, &before) : status;
    b->topology = status == WEFT_OK ? saved->topology : b->topology;
    tears_finish(&whole);
    return status;
}

// Sizes of the mends; they are of the one cloth that has torn.
static weft_status read_mends(packer* p, const saved_body* saved, int bodies, tear_replay* out, sections* from,
                              weft_error* error)
{
    const int* size = NULL;
    int count = 0;
    PACK_ARRAY(p, &size, &count);
    *out = (tear_replay){.body = -1, .count = size ? count : 0};
    out->size = MEM_NEW(out->count + 1, int);
    if (p->failed || p->at != p->size || !out->size)
    {
        return p->failed || p->at != p->size ? forged(from, error) : edit_error(WEFT_NO_MEMORY, error);
    }
    int64_t sum = 0;
    for (int k = 0; k < out->count; k++)
    {
        TRY(size[k] > 0 ? WEFT_OK : forged(from, error));
        out->size[k] = size[k];
        sum += size[k];
    }
    for (int k = 0; k < bodies && out->count > 0; k++)
    {
        out->body = saved[k].list.count > 0 ? k : out->body;
    }
    if (out->count == 0)
    {
        return WEFT_OK;
    }
    TRY(out->body >= 0 && sum <= saved[out->body].list.count ? WEFT_OK : forged(from, error));
    out->topology = saved[out->body].topology;
    const tear_list* all = &saved[out->body].list;
    return edit_error(copy_part(all, all->count - (int)sum, (int)sum, &out->tears), error);
}

static weft_status load_all(weft_sim* sim, tear_replay* later, packer* p, sections* from, weft_error* error)
{
    saved_body* saved = MEM_NEW(sim->body_count, saved_body);
    weft_status status = saved ? WEFT_OK : edit_error(WEFT_NO_MEMORY, error);
    for (int k = 0; k < sim->body_count && status == WEFT_OK; k++)
    {
        read_body(p, &saved[k]);
        status = !p->failed && is_sound(&sim->bodies[k], &saved[k]) ? WEFT_OK : forged(from, error);
    }
    status = status == WEFT_OK ? read_mends(p, saved, sim->body_count, later, from, error) : status;
    for (int k = 0; k < sim->body_count && status == WEFT_OK; k++)
    {
        body before = sim->bodies[k];
        status = edit_error(load_body(&sim->bodies[k], &saved[k], k == later->body ? later->tears.count : 0), error);
        k >= sim->edits.body_count ? body_tear_keep(&sim->bodies[k], &before) : (void)0; // edits.c keeps the others
    }
    mem_free(saved);
    return status;
}

weft_status tears_load(weft_sim* sim, tear_replay* later, sections* from, weft_error* error)
{
    *later = (tear_replay){.body = -1};
    const section* found;
    TRY(sections_take(from, &tears_shape, &found, error));
    if (!found)
    {
        return WEFT_OK;
    }
    packer p = pack_reader(found->items, found->count);
    return load_all(sim, later, &p, from, error);
}

weft_status tears_replay(weft_sim* sim, const tear_replay* later, sections* from, weft_error* error)
{
    for (int k = 0, first = 0; k < later->count; first += later->size[k++])
    {
        bool done = false;
        tear_list part = {0};
        weft_status status = edit_error(copy_part(&later->tears, first, later->size[k], &part), error);
        for (int t = 0; t < part.count && status == WEFT_OK; t++) // a mend splits what was there before it
        {
            status = part.from[t] < sim->bodies[later->body].rest.vertex_count ? WEFT_OK : forged(from, error);
        }
        status = status == WEFT_OK ? sim_mend(sim, &sim->bodies[later->body], &part, &done, error) : status;
        tears_finish(&part);
        TRY(status);
        TRY(done ? WEFT_OK : forged(from, error));
    }
    if (later->count > 0)
    {
        sim->bodies[later->body].topology = later->topology;
    }
    return WEFT_OK;
}
