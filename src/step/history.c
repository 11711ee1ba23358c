// Earlier states that methods of several steps look back on: ends of substeps, the latest first. A change of the state
// from outside empties the history, and so may a method (at a contact, say), which then starts anew with one step.
#include <string.h>

#include "step/step.h"

weft_status history_create(state* s, int count)
{
    WEFT_ASSERT(count <= HISTORY_MAX);
    s->history = MEM_NEW(count, past_state);
    s->history_count = s->history ? count : 0;
    bool ok = s->history != NULL;
    for (int k = 0; k < s->history_count; k++)
    {
        s->history[k] = (past_state){.x = MEM_NEW(s->vertex_count, vec3), .v = MEM_NEW(s->vertex_count, vec3)};
        ok = ok && s->history[k].x && s->history[k].v;
    }
    return ok ? WEFT_OK : WEFT_NO_MEMORY;
}

void history_finish(state* s)
{
    for (int k = 0; k < s->history_count; k++)
    {
        mem_free(s->history[k].x);
        mem_free(s->history[k].v);
    }
    mem_free(s->history);
    s->history = NULL;
    s->history_count = s->history_filled = 0;
}

void history_push(state* s, double h)
{
    if (s->history_count == 0)
    {
        return;
    }
    // The oldest gives its arrays to the newest.
    past_state newest = s->history[s->history_count - 1];
    memmove(s->history + 1, s->history, (size_t)(s->history_count - 1) * sizeof(past_state));
    newest.h = h;
    memcpy(newest.x, s->x, (size_t)s->vertex_count * sizeof(vec3));
    memcpy(newest.v, s->v, (size_t)s->vertex_count * sizeof(vec3));
    s->history[0] = newest;
    s->history_filled = int_min(s->history_filled + 1, s->history_count);
}

void history_copy(state* to, const state* from)
{
    WEFT_ASSERT(to->history_count == from->history_count);
    size_t bytes = (size_t)from->vertex_count * sizeof(vec3);
    to->history_filled = from->history_filled;
    for (int k = 0; k < from->history_filled; k++)
    {
        memcpy(to->history[k].x, from->history[k].x, bytes);
        memcpy(to->history[k].v, from->history[k].v, bytes);
        to->history[k].h = from->history[k].h;
    }
}

// ---- in a checkpoint: `past` has the lengths of substeps, `past-K-...` the state before the K-th last one

enum
{
    VERSION = 1
};

static const char* name_of(int k, const char* what, char name[SECTION_NAME])
{
    snprintf(name, SECTION_NAME, "past-%d-%.10s", (k + 1) % 100, what);
    return name;
}

// Nothing for methods of one step.
void history_save(const state* s, section_writer* out)
{
    double h[HISTORY_MAX];
    char name[SECTION_NAME];
    size_t n = (size_t)s->vertex_count;
    for (int k = 0; k < s->history_filled; k++)
    {
        h[k] = s->history[k].h;
        section_put(out, name_of(k, "positions", name), VERSION, sizeof(vec3), n, s->history[k].x);
        section_put(out, name_of(k, "velocities", name), VERSION, sizeof(vec3), n, s->history[k].v);
    }
    if (s->history_count > 0)
    {
        section_put(out, "past", VERSION, sizeof(double), (size_t)s->history_filled, h);
    }
}

// Vectors whose squares stay below the limit.
static weft_status vectors_load(const char* name, int count, double limit_sq, vec3* out, sections* from,
                                weft_error* error)
{
    const section* found;
    section_shape shape = {name, VERSION, sizeof(vec3), count};
    TRY(sections_take(from, &shape, &found, error));
    if (!found)
    {
        return sections_lacks(from, name, error);
    }
    memcpy(out, found->items, (size_t)count * sizeof(vec3));
    for (int i = 0; i < count; i++)
    {
        if (!(v3_dot(out[i], out[i]) < limit_sq))
        {
            char what[96];
            snprintf(what, sizeof(what), "`%s` of vertex %d that are no numbers of a run", name, i);
            return sections_cannot_be(from, what, error);
        }
    }
    return WEFT_OK;
}

weft_status history_load(state* s, sections* from, weft_error* error)
{
    const section* found;
    section_shape shape = {"past", VERSION, sizeof(double), -1};
    TRY(s->history_count > 0 ? sections_take(from, &shape, &found, error) : WEFT_OK);
    if (s->history_count == 0 || !found)
    {
        return WEFT_OK; // the method starts anew
    }
    if (found->count > (size_t)s->history_count)
    {
        return sections_cannot_be(from, "more earlier states than the method looks back on", error);
    }
    s->history_filled = (int)found->count;
    for (int k = 0; k < s->history_filled; k++)
    {
        char name[SECTION_NAME];
        past_state* past = &s->history[k];
        memcpy(&past->h, (const char*)found->items + (size_t)k * sizeof(double), sizeof(double));
        if (!(past->h > 0.0 && past->h < INFINITY))
        {
            return sections_cannot_be(from, "a substep without a length", error);
        }
        TRY(vectors_load(name_of(k, "positions", name), s->vertex_count, far_away_sq, past->x, from, error));
        TRY(vectors_load(name_of(k, "velocities", name), s->vertex_count, INFINITY, past->v, from, error));
    }
    return WEFT_OK;
}
