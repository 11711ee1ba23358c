// The state of a world: all that a checkpoint needs and that a step which fails puts back. What arrays a state has
// stands in one table; copies, checkpoints and the undoing of steps go by it.
#include <string.h>

#include "step/step.h"

// Caches hold positions as float: what has left 1e18 m is lost.
const double far_away_sq = 1e36;

typedef struct state_array
{
    const char* section;
    int version;
    bool required; // else zero where a checkpoint has none
    size_t offset; // of the pointer in a state
    size_t item_size;
    bool (*is_sound)(const void* item); // of a file
} state_array;

static bool position_is_sound(const void* item)
{
    const vec3* x = item;
    return v3_dot(*x, *x) < far_away_sq;
}

static bool velocity_is_sound(const void* item)
{
    const vec3* v = item;
    return isfinite(v3_dot(*v, *v));
}

static bool acceleration_is_sound(const void* item)
{
    return v3_is_finite(*(const vec3*)item);
}

static const state_array arrays[] = {
    {"positions", 1, true, offsetof(state, x), sizeof(vec3), position_is_sound},
    {"velocities", 1, true, offsetof(state, v), sizeof(vec3), velocity_is_sound},
    {"acceleration", 1, true, offsetof(state, acceleration), sizeof(vec3), acceleration_is_sound},
    {"acceleration-2", 1, false, offsetof(state, earlier[0]), sizeof(vec3), acceleration_is_sound},
    {"acceleration-3", 1, false, offsetof(state, earlier[1]), sizeof(vec3), acceleration_is_sound},
};

enum
{
    ARRAY_COUNT = sizeof(arrays) / sizeof(arrays[0])
};

static void* array_get(const state* s, int k)
{
    void* pointer;
    memcpy(&pointer, (const char*)s + arrays[k].offset, sizeof(pointer));
    return pointer;
}

static void array_set(state* s, int k, void* pointer)
{
    memcpy((char*)s + arrays[k].offset, &pointer, sizeof(pointer));
}

weft_status state_create(state* s, int vertex_count)
{
    *s = (state){.vertex_count = vertex_count};
    bool ok = true;
    for (int k = 0; k < ARRAY_COUNT; k++)
    {
        array_set(s, k, mem_alloc((size_t)vertex_count, arrays[k].item_size));
        ok = ok && array_get(s, k);
    }
    return ok ? contact_state_create(&s->contact, vertex_count) : WEFT_NO_MEMORY;
}

void state_finish(state* s)
{
    for (int k = 0; k < ARRAY_COUNT; k++)
    {
        mem_free(array_get(s, k));
    }
    contact_state_finish(&s->contact);
    history_finish(s);
    *s = (state){0};
}

weft_status state_copy(state* to, const state* from)
{
    WEFT_ASSERT(to->vertex_count == from->vertex_count);
    for (int k = 0; k < ARRAY_COUNT; k++)
    {
        memcpy(array_get(to, k), array_get(from, k), (size_t)from->vertex_count * arrays[k].item_size);
    }
    to->step_count = from->step_count;
    to->halvings = from->halvings;
    to->calm = from->calm;
    to->waits = from->waits;
    to->tries = from->tries;
    history_copy(to, from);
    return contact_state_copy(&from->contact, &to->contact);
}

void state_swap(state* a, state* b)
{
    state kept = *a;
    *a = *b;
    *b = kept;
}

void state_save(const state* s, section_writer* out)
{
    for (int k = 0; k < ARRAY_COUNT; k++)
    {
        const state_array* a = &arrays[k];
        section_put(out, a->section, a->version, a->item_size, (size_t)s->vertex_count, array_get(s, k));
    }
    history_save(s, out);
    contact_state_save(&s->contact, out);
}

static weft_status array_load(state* s, int k, sections* from, weft_error* error)
{
    const state_array* a = &arrays[k];
    const section* found;
    section_shape shape = {a->section, a->version, a->item_size, s->vertex_count};
    TRY(sections_take(from, &shape, &found, error));
    if (!found)
    {
        return a->required ? sections_lacks(from, a->section, error) : WEFT_OK;
    }
    const char* items = found->items;
    for (int i = 0; i < s->vertex_count; i++)
    {
        if (!a->is_sound(items + (size_t)i * a->item_size))
        {
            char what[96];
            snprintf(what, sizeof(what), "`%s` of vertex %d that are no numbers of a run", a->section, i);
            return sections_cannot_be(from, what, error);
        }
    }
    memcpy(array_get(s, k), items, (size_t)s->vertex_count * a->item_size);
    return WEFT_OK;
}

weft_status state_load(state* s, sections* from, weft_error* error)
{
    for (int k = 0; k < ARRAY_COUNT; k++)
    {
        TRY(array_load(s, k, from, error));
    }
    TRY(history_load(s, from, error));
    return contact_state_load(&s->contact, from, error);
}
