// Edits between steps: pins. The model's pins are made anew beside the present ones and take their place; a move is a
// pin with two samples, where its vertices are and where they are to be a step later.
#include <string.h>

#include "sim/edits.h"

void edited_pin_finish(edited_pin* e)
{
    pin_finish(&e->pin);
    mem_free(e->start);
    *e = (edited_pin){0};
}

static weft_status build_cluster_pins(const weft_sim* sim, cluster* c, pin_set* out, weft_error* error)
{
    cluster_refresh(sim, c);
    TRY(cluster_take_pins(sim, c));
    return sim_build_pins(&c->sim, out, error);
}

// After pins of a body have changed.
static weft_status renew_pins(weft_sim* sim, int body, weft_error* error)
{
    pin_set set = {0}, own = {0};
    cluster* c = cluster_of(sim, body);
    weft_status status = sim_build_pins(sim, &set, error);
    status = status == WEFT_OK && c ? build_cluster_pins(sim, c, &own, error) : status;
    if (status != WEFT_OK)
    {
        pin_set_finish(&set);
        pin_set_finish(&own);
        return edit_error(status, error);
    }
    pin_set_finish(&sim->model.pins);
    sim->model.pins = set;
    if (c)
    {
        pin_set_finish(&c->sim.model.pins);
        c->sim.model.pins = own;
    }
    sim->edits.begun = true;
    return WEFT_OK;
}

// Where the vertices of a pin are now.
static vec3* pinned_positions(const weft_sim* sim, const body* b, const weft_pin* pin, int copies)
{
    vec3* x = MEM_NEW((size_t)copies * (size_t)pin->vertex_count, vec3);
    for (int k = 0; k < pin->vertex_count && x; k++)
    {
        x[k] = sim->world.state.x[b->scene_vertex[pin->vertices[k]]];
    }
    return x;
}

static weft_status add_pin(weft_sim* sim, edited_pin* e, const weft_pin* pin, weft_error* error)
{
    edits* all = &sim->edits;
    const body* b = &sim->bodies[e->body];
    TRY(edit_error(pin_copy(b, pin, &e->pin, error), error));
    e->start = pinned_positions(sim, b, &e->pin, 1);
    if (!e->start || !mem_grow((void**)&all->pins, &all->pin_capacity, all->pin_count + 1, sizeof(edited_pin)))
    {
        return edit_error(WEFT_NO_MEMORY, error);
    }
    all->pins[all->pin_count++] = *e;
    weft_status status = renew_pins(sim, e->body, error);
    all->pin_count -= status != WEFT_OK;
    return status;
}

weft_status weft_sim_pin(weft_sim* sim, weft_cloth_id cloth, const weft_pin* pin, weft_pin_id* out, weft_error* error)
{
    WEFT_ASSERT(sim && pin && (pin->vertices || pin->vertex_count == 0));
    WEFT_ASSERT(pin->key_count >= 0 && pin->sample_count >= 0 && (pin->samples || pin->sample_count == 0));
    body* b;
    TRY(edit_find_cloth(sim, cloth, &b, error));
    if (pin->vertex_count <= 0)
    {
        return error_set(error, WEFT_BAD_INPUT, NULL, 0, "cloth `%s`: a pin needs a vertex", b->name);
    }
    TRY(edits_begin(sim, error));
    edited_pin e = {.id = sim->edits.pin_ids + 1, .body = cloth, .pinned = weft_sim_time(sim)};
    weft_status status = add_pin(sim, &e, pin, error);
    if (status != WEFT_OK)
    {
        edited_pin_finish(&e);
        return status;
    }
    sim->edits.pin_ids++;
    if (out)
    {
        *out = e.id;
    }
    return WEFT_OK;
}

static weft_status find_pin(const weft_sim* sim, weft_pin_id id, int* out, weft_error* error)
{
    for (int k = 0; k < sim->edits.pin_count; k++)
    {
        if (sim->edits.pins[k].id == id)
        {
            *out = k;
            return WEFT_OK;
        }
    }
    return error_set(error, WEFT_NOT_FOUND, NULL, 0, "there is no pin with the id %d%s", id,
                     id > 0 && id <= sim->edits.pin_ids ? " any more" : "; weft_sim_pin gives ids");
}

weft_status weft_sim_move(weft_sim* sim, weft_pin_id pin, const weft_vec3* targets, weft_error* error)
{
    WEFT_ASSERT(sim && targets);
    int at;
    TRY(find_pin(sim, pin, &at, error));
    edited_pin* e = &sim->edits.pins[at];
    int n = e->pin.vertex_count;
    for (int k = 0; k < n; k++)
    {
        if (!(v3_dot(targets[k], targets[k]) < far_away_sq))
        {
            return error_set(error, WEFT_BAD_INPUT, NULL, 0, "target %d of the pin %d is not finite or too far away", k,
                             pin);
        }
    }
    vec3* way = pinned_positions(sim, &sim->bodies[e->body], &e->pin, 2);
    if (!way)
    {
        return edit_error(WEFT_NO_MEMORY, error);
    }
    memcpy(way + n, targets, (size_t)n * sizeof(vec3));
    weft_pin before = e->pin;
    e->pin.samples = way;
    e->pin.sample_count = 2;
    e->pin.sample_rate = 1.0 / sim->def.time_step;
    e->pin.sample_start = weft_sim_time(sim);
    e->pin.keys = NULL;
    e->pin.key_count = 0;
    e->pin.follow = NULL;
    weft_status status = renew_pins(sim, e->body, error);
    if (status != WEFT_OK)
    {
        mem_free(way);
        e->pin = before;
        return status;
    }
    before.vertices = NULL; // which stay
    pin_finish(&before);
    return WEFT_OK;
}

weft_status weft_sim_unpin(weft_sim* sim, weft_pin_id pin, weft_error* error)
{
    WEFT_ASSERT(sim);
    int at;
    TRY(find_pin(sim, pin, &at, error));
    edits* all = &sim->edits;
    edited_pin gone = all->pins[at];
    size_t behind = (size_t)(all->pin_count - at - 1) * sizeof(edited_pin);
    memmove(all->pins + at, all->pins + at + 1, behind);
    all->pin_count--;
    weft_status status = renew_pins(sim, gone.body, error);
    if (status != WEFT_OK)
    {
        memmove(all->pins + at + 1, all->pins + at, behind);
        all->pins[at] = gone;
        all->pin_count++;
        return status;
    }
    edited_pin_finish(&gone);
    return WEFT_OK;
}
