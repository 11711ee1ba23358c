// Earlier states that methods of several steps look back on: ends of substeps, the latest first. A change of the state
// from outside empties the history, and so may a method (at a contact, say), which then starts anew with one step.
#include <string.h>

#include "step/step.h"

weft_status history_create(state* s, int count, int vertex_count)
{
    s->history = MEM_NEW(count, past_state);
    s->history_count = s->history ? count : 0;
    bool ok = s->history != NULL;
    for (int k = 0; k < s->history_count; k++)
    {
        s->history[k] = (past_state){.x = MEM_NEW(vertex_count, vec3), .v = MEM_NEW(vertex_count, vec3)};
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

void history_push(state* s, int vertex_count, double h)
{
    if (s->history_count == 0)
    {
        return;
    }
    // The oldest gives its arrays to the newest.
    past_state newest = s->history[s->history_count - 1];
    memmove(s->history + 1, s->history, (size_t)(s->history_count - 1) * sizeof(past_state));
    newest.h = h;
    memcpy(newest.x, s->x, (size_t)vertex_count * sizeof(vec3));
    memcpy(newest.v, s->v, (size_t)vertex_count * sizeof(vec3));
    s->history[0] = newest;
    s->history_filled = int_min(s->history_filled + 1, s->history_count);
}

void history_copy(state* to, const state* from, int vertex_count)
{
    WEFT_ASSERT(to->history_count == from->history_count);
    to->history_filled = from->history_filled;
    for (int k = 0; k < from->history_filled; k++)
    {
        memcpy(to->history[k].x, from->history[k].x, (size_t)vertex_count * sizeof(vec3));
        memcpy(to->history[k].v, from->history[k].v, (size_t)vertex_count * sizeof(vec3));
        to->history[k].h = from->history[k].h;
    }
}
