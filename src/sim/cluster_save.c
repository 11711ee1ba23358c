// Clusters in a checkpoint: the section `clusters` has for each body which others it was stepped with, and what step
// control, history and solver knew there. A scene with one body has none; neither have checkpoints of before there were
// clusters: all bodies were in one, and part in the first step if they are far from each other.
#include <stdio.h>
#include <string.h>

#include "sim/cluster.h"

static const section_shape clusters_shape = {"clusters", 3, sizeof(body_control), -1};

// What the file is to say of body k: where the world knows how to go on, it speaks for all.
static body_control control_now(const weft_sim* sim, int k)
{
    const clusters* all = &sim->clusters;
    body_control c = {.cluster = k};
    if (k < all->control_count)
    {
        c = all->control[k];
    }
    if (!all->apart)
    {
        int cluster = c.cluster;
        c = control_of(&sim->world);
        c.cluster = cluster;
    }
    return c;
}

weft_status clusters_save(const weft_sim* sim, section_writer* out, weft_error* error)
{
    if (sim->body_count == 1)
    {
        return WEFT_OK;
    }
    body_control* items = MEM_NEW(sim->body_count, body_control);
    if (!items)
    {
        return error_set(error, WEFT_NO_MEMORY, NULL, 0, "%s", weft_status_text(WEFT_NO_MEMORY));
    }
    for (int k = 0; k < sim->body_count; k++)
    {
        items[k] = control_now(sim, k);
    }
    section_put(out, clusters_shape.name, clusters_shape.version, sizeof(body_control), (size_t)sim->body_count, items);
    mem_free(items);
    return WEFT_OK;
}

static bool control_is_sound(const weft_sim* sim, const body_control* c)
{
    bool good = c->cluster >= 0 && c->cluster < sim->body_count && c->halvings >= 0 &&
                c->halvings <= sim->def.max_halvings && c->calm >= 0 && c->calm <= STEP_TICKS && c->waits >= 0 &&
                c->waits <= WAITS_MAX && (c->tries | 1) == 1 &&
                c->history_filled >= 0 && c->history_filled <= sim->world.state.history_count;
    for (int k = 0; good && k < c->history_filled; k++)
    {
        good = c->past_h[k] > 0.0 && c->past_h[k] < INFINITY;
    }
    for (int k = 0; k < SOLVER_MEMORY; k++)
    {
        good = good && isfinite(c->solver[k]);
    }
    return good;
}

weft_status clusters_load(const weft_sim* sim, body_control** out, bool* apart, sections* from, weft_error* error)
{
    const section* found;
    TRY(sections_take(from, &clusters_shape, &found, error));
    if (found && found->count != (size_t)sim->body_count)
    {
        return sections_cannot_be(from, "`clusters` of another number of bodies", error);
    }
    *out = MEM_NEW(sim->body_count, body_control);
    if (!*out)
    {
        return error_set(error, WEFT_NO_MEMORY, NULL, 0, "%s", weft_status_text(WEFT_NO_MEMORY));
    }
    *apart = found != NULL;
    found ? (void)memcpy(*out, found->items, found->count * sizeof(body_control)) : (void)0;
    for (int k = 0; k < sim->body_count; k++)
    {
        if (!control_is_sound(sim, &(*out)[k]))
        {
            char what[64];
            snprintf(what, sizeof(what), "`clusters` of body %d that are none of a run", k);
            return sections_cannot_be(from, what, error);
        }
    }
    return WEFT_OK;
}

void clusters_take(weft_sim* sim, body_control* loaded, bool apart)
{
    clusters* all = &sim->clusters;
    clusters_drop(sim);
    mem_free(all->control);
    all->control = loaded;
    all->control_count = all->control_capacity = sim->body_count;
    all->apart = apart;
}
