// Names that the faces of a body have, objects, groups and materials, in the forms that formats want them in: the faces
// of each name, and the sets of faces that have all names in common.
#include <string.h>

#include "export/export.h"

const char* const export_layer_word[LAYER_COUNT] = {"object", "group", "material"};

const weft_names* export_layer(const weft_cache_body* body, int layer)
{
    return layer == LAYER_OBJECT ? &body->objects : layer == LAYER_GROUP ? &body->groups : &body->materials;
}

const weft_cache_body* export_names_for_all(const export_job* job, int body)
{
    const weft_cache_body* first = export_topology(job, body, 0);
    for (int k = 1; k < job->frame_count; k++)
    {
        if (export_changes_at(job, body, k) && export_topology(job, body, k)->face_count != first->face_count)
        {
            return NULL;
        }
    }
    return first;
}

static weft_status no_memory(weft_error* error)
{
    return error_set(error, WEFT_NO_MEMORY, NULL, 0, "no memory for the names of faces");
}

// ---- faces of each name

weft_status export_faces_make(const weft_names* names, int face_count, export_faces* out, weft_error* error)
{
    *out = (export_faces){0};
    if (!names->faces || names->count == 0)
    {
        return WEFT_OK;
    }
    out->start = MEM_NEW((size_t)names->count + 2, int);
    out->face = MEM_NEW(int_max(face_count, 1), int);
    if (!out->start || !out->face)
    {
        export_faces_finish(out);
        return no_memory(error);
    }
    int* place = out->start + 1; // counts behind, then moves to the end of each
    for (int f = 0; f < face_count; f++)
    {
        names->faces[f] >= 0 ? place[names->faces[f] + 1]++ : 0;
    }
    for (int k = 1; k <= names->count; k++)
    {
        place[k] += place[k - 1];
    }
    for (int f = 0; f < face_count; f++)
    {
        names->faces[f] >= 0 ? (void)(out->face[place[names->faces[f]]++] = f) : (void)0;
    }
    return WEFT_OK;
}

void export_faces_finish(export_faces* faces)
{
    mem_free(faces->start);
    mem_free(faces->face);
    *faces = (export_faces){0};
}

// ---- sets

static void face_names(const weft_cache_body* body, int face, int name[LAYER_COUNT])
{
    for (int k = 0; k < LAYER_COUNT; k++)
    {
        const int* faces = export_layer(body, k)->faces;
        name[k] = faces && face < body->face_count ? faces[face] : -1;
    }
}

// Open addressing; slot is [mask + 1], set + 1 or 0.
static int find_set(export_sets* sets, int* slot, uint64_t mask, const int name[LAYER_COUNT])
{
    uint64_t at = hash_bytes(0, name, LAYER_COUNT * sizeof(int)) & mask;
    while (slot[at] > 0 && memcmp(sets->set[slot[at] - 1].name, name, LAYER_COUNT * sizeof(int)) != 0)
    {
        at = (at + 1) & mask;
    }
    if (slot[at] == 0)
    {
        if (!mem_grow((void**)&sets->set, &sets->capacity, sets->count + 1, sizeof(export_set)))
        {
            return -1;
        }
        export_set* fresh = &sets->set[sets->count];
        memcpy(fresh->name, name, LAYER_COUNT * sizeof(int));
        fresh->face_count = 0;
        slot[at] = ++sets->count;
    }
    return slot[at] - 1;
}

weft_status export_sets_make(const weft_cache_body* body, export_sets* out, weft_error* error)
{
    *out = (export_sets){0};
    bool named = body->objects.faces || body->groups.faces || body->materials.faces;
    size_t size = 16;
    while (size < 2 * (size_t)body->face_count && named)
    {
        size *= 2;
    }
    int* slot = MEM_NEW(size, int);
    out->face = named ? MEM_NEW(int_max(body->face_count, 1), int) : NULL;
    bool room = slot && (out->face || !named);
    int last = -1, before[LAYER_COUNT] = {0};
    for (int f = 0; room && f < (named ? int_max(body->face_count, 1) : 1); f++)
    {
        int name[LAYER_COUNT];
        face_names(body, f, name);
        last = last >= 0 && memcmp(before, name, sizeof(name)) == 0 ? last : find_set(out, slot, size - 1, name);
        memcpy(before, name, sizeof(name));
        room = last >= 0;
        room &&out->face ? (void)(out->face[f] = last) : (void)0;
        room ? (void)(out->set[last].face_count += named ? 1 : body->face_count) : (void)0;
    }
    mem_free(slot);
    if (!room)
    {
        export_sets_finish(out);
        return no_memory(error);
    }
    return WEFT_OK;
}

void export_sets_finish(export_sets* sets)
{
    mem_free(sets->set);
    mem_free(sets->face);
    *sets = (export_sets){0};
}
