// Edits between steps: pins. The model's pins are made anew beside the present ones and take their place; a move is a
// pin with two samples, where its vertices are and where they are to be a step later. Pins that a cloth was given have
// ids like those of edits; one that is moved becomes one of edits.
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
    // What was mended is made of the pins that there were: a checkpoint would mend it again with these.
    return sim->mends.count > 0 ? generation_next(sim, true, error) : WEFT_OK;
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

// ---- pins by id

// Where it is among the pins of edits; -1: it is not.
static int find_edited(const weft_sim* sim, weft_pin_id id)
{
    for (int k = 0; k < sim->edits.pin_count; k++)
    {
        if (sim->edits.pins[k].id == id)
        {
            return k;
        }
    }
    return -1;
}

// The cloth that was given a pin of that id, and still has it as it was given; -1: none.
static int find_given(const weft_sim* sim, weft_pin_id id)
{
    for (int k = 0; k < sim->body_count; k++)
    {
        const body* b = &sim->bodies[k];
        int index = id - b->first_pin;
        if (id > 0 && index >= 0 && index < b->pin_count)
        {
            return b->pins_taken[index] ? -1 : k;
        }
    }
    return -1;
}

static weft_status check_pin(const weft_sim* sim, weft_pin_id id, weft_error* error)
{
    return weft_sim_has_pin(sim, id)
               ? WEFT_OK
               : error_set(error, WEFT_NOT_FOUND, NULL, 0, "there is no pin with the id %d%s", id,
                           id > 0 && id <= sim->edits.pin_ids
                               ? " any more"
                               : "; weft_sim_pin gives ids, and weft_sim_cloth_pin those of a cloth's own pins");
}

int weft_sim_has_pin(const weft_sim* sim, weft_pin_id pin)
{
    WEFT_ASSERT(sim);
    return find_edited(sim, pin) >= 0 || find_given(sim, pin) >= 0;
}

int weft_sim_cloth_pin_count(const weft_sim* sim, weft_cloth_id cloth)
{
    WEFT_ASSERT(sim && cloth >= 0 && cloth < sim->body_count);
    return sim->bodies[cloth].pin_count;
}

weft_pin_id weft_sim_cloth_pin(const weft_sim* sim, weft_cloth_id cloth, int index)
{
    WEFT_ASSERT(index >= 0 && index < weft_sim_cloth_pin_count(sim, cloth));
    return sim->bodies[cloth].first_pin + index;
}

int weft_sim_pin_vertices(const weft_sim* sim, weft_pin_id pin, weft_cloth_id* cloth, const int** vertices)
{
    WEFT_ASSERT(sim && vertices);
    int at = find_edited(sim, pin), given = at < 0 ? find_given(sim, pin) : -1;
    *vertices = NULL;
    if (at < 0 && given < 0)
    {
        return 0;
    }
    const weft_pin* p =
        at >= 0 ? &sim->edits.pins[at].pin : &sim->bodies[given].pins[pin - sim->bodies[given].first_pin];
    *vertices = p->vertices;
    cloth ? (void)(*cloth = at >= 0 ? sim->edits.pins[at].body : given) : (void)0;
    return p->vertex_count;
}

// ---- moving and letting go

// Puts a pin among those of edits, which go by id. There is room.
static int insert_pin(edits* all, const edited_pin* e)
{
    int at = all->pin_count++;
    for (; at > 0 && all->pins[at - 1].id > e->id; at--)
    {
        all->pins[at] = all->pins[at - 1];
    }
    all->pins[at] = *e;
    return at;
}

static void remove_pin(edits* all, int at)
{
    all->pin_count--;
    memmove(all->pins + at, all->pins + at + 1, (size_t)(all->pin_count - at) * sizeof(edited_pin));
}

// A pin that a cloth was given is among those of edits from now on, as it is.
static weft_status take_pin(weft_sim* sim, weft_pin_id id, int cloth, int* at, weft_error* error)
{
    body* b = &sim->bodies[cloth];
    const weft_pin* given = &b->pins[id - b->first_pin];
    if (given->vertex_count == 0)
    {
        return error_set(error, WEFT_BAD_INPUT, NULL, 0, "the pin %d of cloth `%s` has no vertex", id, b->name);
    }
    edits* all = &sim->edits;
    edited_pin e = {.id = id, .body = cloth, .pinned = b->added, .start = MEM_NEW(given->vertex_count, vec3)};
    weft_status status = e.start ? pin_copy(b, given, &e.pin, error) : WEFT_NO_MEMORY;
    if (status != WEFT_OK || !mem_grow((void**)&all->pins, &all->pin_capacity, all->pin_count + 1, sizeof(edited_pin)))
    {
        edited_pin_finish(&e);
        return edit_error(status == WEFT_OK ? WEFT_NO_MEMORY : status, error);
    }
    for (int k = 0; k < given->vertex_count; k++)
    {
        e.start[k] = b->start[given->vertices[k]];
    }
    *at = insert_pin(all, &e);
    b->pins_taken[id - b->first_pin] = 1;
    return WEFT_OK;
}

// The motion of the set that these samples lead; NULL: there is none.
static pin_motion* led_motion(pin_set* set, const vec3* samples)
{
    for (int k = 0; k < set->motion_count; k++)
    {
        if (set->motions[k].samples == samples)
        {
            return &set->motions[k];
        }
    }
    return NULL;
}

static void begin_now(const weft_sim* sim, pin_motion* m)
{
    m->sample_rate = 1.0 / sim->def.time_step;
    m->sample_start = weft_sim_time(sim);
}

// A pin that was moved before gets its new way into the arrays of the old one, which the model's pins look at: so that
// dragging allocates nothing. False: it was not moved yet.
static bool lead_again(weft_sim* sim, edited_pin* e, const weft_vec3* targets)
{
    int n = e->pin.vertex_count;
    const body* b = &sim->bodies[e->body];
    cluster* c = cluster_of(sim, e->body);
    bool moved = e->pin.sample_count == 2 && e->pin.key_count == 0 && !e->pin.follow;
    pin_motion* m = moved ? led_motion(&sim->model.pins, e->pin.samples) : NULL;
    pin_motion* own = c && m ? led_motion(&c->sim.model.pins, e->pin.samples) : NULL;
    if (!m || (c && !own))
    {
        return false;
    }
    vec3* way = (vec3*)e->pin.samples; // a copy that the pin owns
    for (int k = 0; k < n; k++)
    {
        way[k] = sim->world.state.x[b->scene_vertex[e->pin.vertices[k]]];
        way[n + k] = targets[k];
    }
    begin_now(sim, m);
    e->pin.sample_rate = m->sample_rate;
    e->pin.sample_start = m->sample_start;
    if (c)
    {
        begin_now(sim, own);
        (void)cluster_take_pins(sim, c); // which has room for them
    }
    return true;
}

// From where the pin's vertices are to where they are to be.
static weft_status lead_pin(weft_sim* sim, edited_pin* e, const weft_vec3* targets, weft_error* error)
{
    if (lead_again(sim, e, targets))
    {
        return WEFT_OK;
    }
    int n = e->pin.vertex_count;
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

weft_status weft_sim_move(weft_sim* sim, weft_pin_id pin, const weft_vec3* targets, weft_error* error)
{
    WEFT_ASSERT(sim && targets);
    TRY(check_pin(sim, pin, error));
    const int* vertices;
    int n = weft_sim_pin_vertices(sim, pin, NULL, &vertices);
    for (int k = 0; k < n; k++)
    {
        if (!(v3_dot(targets[k], targets[k]) < far_away_sq))
        {
            return error_set(error, WEFT_BAD_INPUT, NULL, 0, "target %d of the pin %d is not finite or too far away", k,
                             pin);
        }
    }
    TRY(edits_begin(sim, error));
    int at = find_edited(sim, pin), given = at < 0 ? find_given(sim, pin) : -1;
    TRY(given >= 0 ? take_pin(sim, pin, given, &at, error) : WEFT_OK);
    weft_status status = lead_pin(sim, &sim->edits.pins[at], targets, error);
    if (status != WEFT_OK && given >= 0)
    {
        edited_pin_finish(&sim->edits.pins[at]);
        remove_pin(&sim->edits, at);
        sim->bodies[given].pins_taken[pin - sim->bodies[given].first_pin] = 0;
    }
    return status;
}

static weft_status let_go_given(weft_sim* sim, weft_pin_id pin, int cloth, weft_error* error)
{
    body* b = &sim->bodies[cloth];
    unsigned char* taken = &b->pins_taken[pin - b->first_pin];
    *taken = 1;
    weft_status status = renew_pins(sim, cloth, error);
    *taken = status == WEFT_OK;
    return status;
}

weft_status weft_sim_unpin(weft_sim* sim, weft_pin_id pin, weft_error* error)
{
    WEFT_ASSERT(sim);
    TRY(check_pin(sim, pin, error));
    TRY(edits_begin(sim, error));
    int at = find_edited(sim, pin);
    if (at < 0)
    {
        return let_go_given(sim, pin, find_given(sim, pin), error);
    }
    edits* all = &sim->edits;
    edited_pin gone = all->pins[at];
    remove_pin(all, at);
    weft_status status = renew_pins(sim, gone.body, error);
    if (status != WEFT_OK)
    {
        insert_pin(all, &gone);
        return status;
    }
    edited_pin_finish(&gone);
    return WEFT_OK;
}
