// What edits have made of a scene, in a checkpoint: the section `edits` has plain data (core/pack.h):
//
//     numbers of cloths and obstacles of the scene as given, of pins ever made, of all cloths and obstacles, of pins;
//     the generation
//     gravity, air
//     of each body that was added its name and def; of one that was removed again only the name
//     of each cloth whether it was removed, material, forces, ids of its pins and which edits have taken; of each
//     obstacle whether it was removed
//     of each pin id, cloth, its def, where its vertices were
//
// Loading edits a simulation of the same scene, and can be undone until the whole file has turned out to be good.
#include "sim/edits.h"

#include <string.h>

#include "sim/fingerprint.h"
#include "sim/join.h"
#include "sim/tear.h"

static const section_shape edits_shape = {"edits", 8, 1, -1};

weft_status edits_begin(weft_sim* sim, weft_error* error)
{
    TRY(sim_build(sim, error));
    if (!sim->edits.begun)
    {
        sim->edits.scene = sim_fingerprint(sim);
        sim->edits.body_count = sim->body_count;
        sim->edits.obstacle_count = sim->obstacle_count;
        sim->edits.exclusion_count = sim->exclusion_count;
        sim->edits.seam_count = sim->seam_count;
    }
    return WEFT_OK;
}

typedef struct edit_counts
{
    int32_t scene_bodies, scene_obstacles, pin_ids, bodies, obstacles, pins, generation;
} edit_counts;

static void pack_world(packer* p, edit_counts* counts, weft_sim_def* def)
{
    PACK(p, *counts);
    PACK(p, def->gravity);
    PACK(p, def->air);
}

// ---- saving

static weft_status check_saves(const weft_sim* sim, weft_error* error)
{
    for (int k = sim->edits.obstacle_count; k < sim->obstacle_count; k++)
    {
        const obstacle* o = &sim->obstacles[k];
        if (!o->removed && !o->given)
        {
            return error_set(error, WEFT_UNSUPPORTED, NULL, 0,
                             "the obstacle `%s` was added while the simulation ran, and a function reads its samples: "
                             "no checkpoint can hold it; give its samples as an array",
                             o->name);
        }
    }
    return WEFT_OK;
}

static void save_added(packer* p, const char* name, const unsigned char* given, size_t size)
{
    int count = (int)size;
    pack_string(p, &name);
    PACK_ARRAY(p, &given, &count);
}

static void save_cloth(packer* p, const body* b)
{
    int removed = b->removed, force_count = b->force_count;
    weft_material material = b->material;
    PACK(p, removed);
    pack_material(p, &material);
    double added = b->added;
    PACK(p, added);
    PACK(p, force_count);
    for (int k = 0; k < force_count; k++)
    {
        weft_force force = b->forces[k];
        pack_force(p, &force);
    }
    int first_pin = b->first_pin, pin_count = b->pin_count;
    const unsigned char* taken = b->pins_taken;
    PACK(p, first_pin);
    PACK_ARRAY(p, &taken, &pin_count);
}

static void save_pin(packer* p, const edited_pin* e)
{
    edited_pin copy = *e;
    const vec3* start = e->start;
    PACK(p, copy.id);
    PACK(p, copy.body);
    PACK(p, copy.pinned);
    pack_pin(p, &copy.pin);
    PACK_ARRAY(p, &start, &copy.pin.vertex_count);
}

static void save_all(packer* p, const weft_sim* sim)
{
    const edits* e = &sim->edits;
    edit_counts counts = {e->body_count,       e->obstacle_count, e->pin_ids,           sim->body_count,
                          sim->obstacle_count, e->pin_count,      sim->model.generation};
    weft_sim_def def = sim->def;
    pack_world(p, &counts, &def);
    for (int k = e->body_count; k < sim->body_count; k++)
    {
        save_added(p, sim->bodies[k].name, sim->bodies[k].given, sim->bodies[k].given_size);
    }
    for (int k = e->obstacle_count; k < sim->obstacle_count; k++)
    {
        save_added(p, sim->obstacles[k].name, sim->obstacles[k].given, sim->obstacles[k].given_size);
    }
    for (int k = 0; k < sim->body_count; k++)
    {
        save_cloth(p, &sim->bodies[k]);
    }
    for (int k = 0; k < sim->obstacle_count; k++)
    {
        int removed = sim->obstacles[k].removed;
        PACK(p, removed);
    }
    for (int k = 0; k < e->pin_count; k++)
    {
        save_pin(p, &e->pins[k]);
    }
}

weft_status edits_save(const weft_sim* sim, section_writer* out, weft_error* error)
{
    if (!sim->edits.begun)
    {
        return WEFT_OK;
    }
    TRY(check_saves(sim, error));
    packer p = {0};
    save_all(&p, sim);
    weft_status status = p.failed ? edit_error(WEFT_NO_MEMORY, error) : WEFT_OK;
    if (status == WEFT_OK)
    {
        section_put(out, edits_shape.name, edits_shape.version, 1, p.size, p.bytes);
    }
    pack_finish(&p);
    status = status == WEFT_OK ? edit_ties_save(sim, out, error) : status;
    status = status == WEFT_OK ? tears_save(sim, out, error) : status;
    return status == WEFT_OK ? joins_save(sim, out, error) : status;
}

// ---- loading: what the bytes say goes into the simulation, whose bodies `before` has kept

typedef struct edits_loader
{
    weft_sim* sim;
    packer bytes;
    sections* from;
    weft_error* error;
    edit_counts counts;
} edits_loader;

static weft_status forged(const edits_loader* l)
{
    return sections_cannot_be(l->from, "`edits` that are none of a run", l->error);
}

static weft_status load_world(edits_loader* l)
{
    weft_sim_def def = l->sim->def;
    pack_world(&l->bytes, &l->counts, &def);
    const edit_counts* c = &l->counts;
    const edits* e = &l->sim->edits;
    bool good = !l->bytes.failed && c->scene_bodies == e->body_count && c->scene_obstacles == e->obstacle_count &&
                c->bodies >= e->body_count && c->obstacles >= e->obstacle_count && c->pins >= 0 &&
                c->pin_ids >= c->pins && c->generation >= 1 && v3_is_finite(def.gravity) && !air_check(&def.air);
    l->sim->def = good ? def : l->sim->def;
    return good ? WEFT_OK : forged(l);
}

// A place of a body that was added and removed again.
static weft_status load_empty_cloth(edits_loader* l, const char* name)
{
    weft_sim* sim = l->sim;
    body b = {.removed = true};
    TRY(name_take(sim, name, "cloth", &b.name, l->error));
    if (!mem_grow((void**)&sim->bodies, &sim->body_capacity, sim->body_count + 1, sizeof(body)))
    {
        body_finish(&b);
        return edit_error(WEFT_NO_MEMORY, l->error);
    }
    sim->bodies[sim->body_count++] = b;
    return WEFT_OK;
}

static weft_status load_empty_obstacle(edits_loader* l, const char* name)
{
    weft_sim* sim = l->sim;
    obstacle o = {.removed = true};
    TRY(name_take(sim, name, "obstacle", &o.name, l->error));
    if (!mem_grow((void**)&sim->obstacles, &sim->obstacle_capacity, sim->obstacle_count + 1, sizeof(obstacle)))
    {
        obstacle_finish(&o);
        return edit_error(WEFT_NO_MEMORY, l->error);
    }
    sim->obstacles[sim->obstacle_count++] = o;
    return WEFT_OK;
}

static weft_status keep_bytes(edits_loader* l, const unsigned char* given, int size, unsigned char** out, size_t* count)
{
    *out = mem_alloc((size_t)size, 1);
    if (!*out)
    {
        return edit_error(WEFT_NO_MEMORY, l->error);
    }
    memcpy(*out, given, (size_t)size);
    *count = (size_t)size;
    return WEFT_OK;
}

// Name and bytes of a body that was added; given is NULL where it was removed again.
static weft_status load_given(edits_loader* l, const char** name, const unsigned char** given, int* size)
{
    pack_string(&l->bytes, name);
    PACK_ARRAY(&l->bytes, given, size);
    return l->bytes.failed || !*name ? forged(l) : WEFT_OK;
}

static weft_status load_added_cloth(edits_loader* l)
{
    const char* name = NULL;
    const unsigned char* given = NULL;
    int size = 0;
    TRY(load_given(l, &name, &given, &size));
    if (!given)
    {
        return load_empty_cloth(l, name);
    }
    packer p = pack_reader(given, (size_t)size);
    weft_cloth_def def = {0};
    pack_cloth(&p, &def);
    weft_status status = p.no_memory                  ? edit_error(WEFT_NO_MEMORY, l->error)
                         : p.failed || p.at != p.size ? forged(l)
                                                      : body_append(l->sim, &def, l->error);
    pack_cloth_finish(&def);
    TRY(status);
    body* b = &l->sim->bodies[l->sim->body_count - 1];
    return keep_bytes(l, given, size, &b->given, &b->given_size);
}

static weft_status load_added_obstacle(edits_loader* l)
{
    const char* name = NULL;
    const unsigned char* given = NULL;
    int size = 0;
    TRY(load_given(l, &name, &given, &size));
    if (!given)
    {
        return load_empty_obstacle(l, name);
    }
    packer p = pack_reader(given, (size_t)size);
    weft_obstacle_def def = {0};
    pack_obstacle(&p, &def);
    weft_status status = p.no_memory                  ? edit_error(WEFT_NO_MEMORY, l->error)
                         : p.failed || p.at != p.size ? forged(l)
                                                      : obstacle_append(l->sim, &def, l->error);
    pack_obstacle_finish(&def);
    TRY(status);
    obstacle* o = &l->sim->obstacles[l->sim->obstacle_count - 1];
    return keep_bytes(l, given, size, &o->given, &o->given_size);
}

static weft_status load_forces(edits_loader* l, body* b, int count)
{
    if (count < 0 || (size_t)count > (l->bytes.size - l->bytes.at) / 8)
    {
        return forged(l);
    }
    weft_force *lent = MEM_NEW(count, weft_force), *fresh = NULL;
    for (int k = 0; k < count && lent; k++)
    {
        pack_force(&l->bytes, &lent[k]);
    }
    weft_status status = lent ? forces_copy(b, lent, count, &fresh, l->error) : WEFT_NO_MEMORY;
    mem_free(lent);
    TRY(edit_error(status, l->error));
    if (b->given) // else what it had is kept for undoing
    {
        forces_free(b->forces, b->force_count);
    }
    b->forces = fresh;
    b->force_count = count;
    return WEFT_OK;
}

// Which of its pins have been taken, and their ids: those of the scene are known.
static weft_status load_cloth_pins(edits_loader* l, body* b)
{
    int first_pin, count = 0;
    const unsigned char* taken = NULL;
    PACK(&l->bytes, first_pin);
    PACK_ARRAY(&l->bytes, &taken, &count);
    count = taken ? count : 0;
    bool known = !b->removed && !b->given;
    if (l->bytes.failed || count != b->pin_count || first_pin < (count > 0) || (known && first_pin != b->first_pin) ||
        first_pin > l->counts.pin_ids - count + 1)
    {
        return forged(l);
    }
    for (int k = 0; k < count; k++)
    {
        TRY(taken[k] <= 1 ? WEFT_OK : forged(l));
        b->pins_taken[k] = taken[k];
    }
    b->first_pin = first_pin;
    return WEFT_OK;
}

static weft_status load_cloth(edits_loader* l, body* b)
{
    int removed, force_count;
    weft_material material;
    double added;
    PACK(&l->bytes, removed);
    pack_material(&l->bytes, &material);
    PACK(&l->bytes, added);
    PACK(&l->bytes, force_count);
    bool can = removed || !b->removed;
    if (l->bytes.failed || !can || !isfinite(added) || (removed && (force_count != 0 || b->given)))
    {
        return forged(l);
    }
    if (removed)
    {
        b->removed ? (void)0 : (void)body_bury(b);
        return load_cloth_pins(l, b);
    }
    TRY(material_check(b, &material, b->vertex_mass, l->error));
    b->material = material;
    TRY(body_choose_bending(l->sim, b, l->error));
    b->added = b->given ? added : b->added;
    TRY(load_forces(l, b, force_count));
    return load_cloth_pins(l, b);
}

static weft_status load_obstacle(edits_loader* l, obstacle* o)
{
    int removed;
    PACK(&l->bytes, removed);
    bool can = removed || !o->removed;
    if (l->bytes.failed || !can || (removed && o->given))
    {
        return forged(l);
    }
    removed && !o->removed ? (void)obstacle_bury(o) : (void)0;
    return WEFT_OK;
}

static weft_status load_pin(edits_loader* l, edited_pin* out)
{
    weft_sim* sim = l->sim;
    weft_pin lent = {0};
    const vec3* start = NULL;
    int count = 0, last = sim->edits.pin_count > 0 ? out[-1].id : 0;
    PACK(&l->bytes, out->id);
    PACK(&l->bytes, out->body);
    PACK(&l->bytes, out->pinned);
    pack_pin(&l->bytes, &lent);
    PACK_ARRAY(&l->bytes, &start, &count);
    if (l->bytes.failed || out->id <= last || out->id > l->counts.pin_ids || !isfinite(out->pinned) ||
        !weft_sim_has_cloth(sim, out->body) || count != lent.vertex_count || count == 0)
    {
        return forged(l);
    }
    for (int k = 0; k < count; k++)
    {
        TRY(v3_dot(start[k], start[k]) < far_away_sq ? WEFT_OK : forged(l));
    }
    sim->edits.pin_count++;
    TRY(edit_error(pin_copy(&sim->bodies[out->body], &lent, &out->pin, l->error), l->error));
    out->start = MEM_NEW(count, vec3);
    if (!out->start)
    {
        return edit_error(WEFT_NO_MEMORY, l->error);
    }
    memcpy(out->start, start, (size_t)count * sizeof(vec3));
    return WEFT_OK;
}

static weft_status load_pins(edits_loader* l)
{
    edits* e = &l->sim->edits;
    if ((size_t)l->counts.pins > (l->bytes.size - l->bytes.at) / 8)
    {
        return forged(l);
    }
    if (!mem_grow((void**)&e->pins, &e->pin_capacity, l->counts.pins, sizeof(edited_pin)))
    {
        return edit_error(WEFT_NO_MEMORY, l->error);
    }
    for (int k = 0; k < l->counts.pins; k++)
    {
        TRY(load_pin(l, &e->pins[k]));
    }
    e->pin_ids = l->counts.pin_ids;
    return l->bytes.at == l->bytes.size ? WEFT_OK : forged(l);
}

static weft_status load_all(edits_loader* l)
{
    weft_sim* sim = l->sim;
    TRY(load_world(l));
    while (sim->body_count < l->counts.bodies)
    {
        TRY(load_added_cloth(l));
    }
    while (sim->obstacle_count < l->counts.obstacles)
    {
        TRY(load_added_obstacle(l));
    }
    bool any = false;
    for (int k = 0; k < sim->body_count; k++)
    {
        TRY(load_cloth(l, &sim->bodies[k]));
        any = any || !sim->bodies[k].removed;
    }
    for (int k = 0; k < sim->obstacle_count; k++)
    {
        TRY(load_obstacle(l, &sim->obstacles[k]));
    }
    obstacles_number(sim);
    return any && names_differ(sim) ? load_pins(l) : forged(l);
}

// ---- what was there before

static weft_status before_take(weft_sim* sim, edits_before* before, weft_error* error)
{
    int n = sim->body_count, m = sim->obstacle_count;
    *before = (edits_before){.any = true, .def = sim->def, .body_count = n, .obstacle_count = m};
    before->pin_ids = sim->edits.pin_ids;
    before->bodies = MEM_NEW(n, body);
    before->obstacles = MEM_NEW(m, obstacle);
    if (!before->bodies || !before->obstacles)
    {
        return edit_error(WEFT_NO_MEMORY, error);
    }
    memcpy(before->bodies, sim->bodies, (size_t)n * sizeof(body));
    m > 0 ? memcpy(before->obstacles, sim->obstacles, (size_t)m * sizeof(obstacle)) : NULL;
    return WEFT_OK;
}

static void before_finish(edits_before* before)
{
    mem_free(before->bodies);
    mem_free(before->obstacles);
    *before = (edits_before){0};
}

// The bodies as they were; their order of vertices is that of the generation which is there.
static void before_put_back(weft_sim* sim, edits_before* before)
{
    edit_ties_undo(sim);
    for (int k = 0; k < sim->edits.pin_count; k++)
    {
        edited_pin_finish(&sim->edits.pins[k]);
    }
    mem_free(sim->edits.pins);
    sim->edits = (edits){.pin_ids = before->pin_ids};
    sim->def = before->def;
    while (sim->body_count > before->body_count)
    {
        body_finish(&sim->bodies[--sim->body_count]);
    }
    while (sim->obstacle_count > before->obstacle_count)
    {
        obstacle_finish(&sim->obstacles[--sim->obstacle_count]);
    }
    for (int k = 0; k < sim->body_count; k++)
    {
        body* b = &sim->bodies[k];
        b->forces != before->bodies[k].forces ? forces_free(b->forces, b->force_count) : (void)0;
        b->removed ? (void)0 : body_tear_undo(b, &before->bodies[k]);
        *b = before->bodies[k];
        b->pin_count > 0 ? memset(b->pins_taken, 0, (size_t)b->pin_count) : NULL;
    }
    for (int k = 0; k < sim->obstacle_count; k++)
    {
        sim->obstacles[k] = before->obstacles[k];
    }
    obstacles_number(sim);
}

// A cloth that was buried keeps the order of its vertices until the generation ends.
static void lend_orders(weft_sim* sim, const edits_before* before)
{
    for (int k = 0; k < before->body_count; k++)
    {
        sim->bodies[k].first = before->bodies[k].first;
        sim->bodies[k].scene_vertex = before->bodies[k].scene_vertex;
        sim->bodies[k].user_vertex = before->bodies[k].user_vertex;
    }
}

weft_status edits_load(weft_sim* sim, edits_before* before, sections* from, weft_error* error)
{
    *before = (edits_before){0};
    const section* found;
    TRY(sections_take(from, &edits_shape, &found, error));
    if (sim->edits.begun)
    {
        return error_set(error, WEFT_BAD_INPUT, from->path, 0,
                         "the simulation has been edited: read the checkpoint into one that was made anew");
    }
    if (!found)
    {
        return WEFT_OK;
    }
    TRY(edits_begin(sim, error));
    weft_status status = before_take(sim, before, error);
    if (status == WEFT_OK)
    {
        edits_loader l = {sim, pack_reader(found->items, found->count), from, error, {0}};
        tear_replay later = {0};
        sim->edits.loading = true;
        status = load_all(&l);
        status = status == WEFT_OK ? edit_ties_load(sim, from, error) : status;
        status = status == WEFT_OK ? tears_load(sim, &later, from, error) : status;
        status = status == WEFT_OK ? joins_load(sim, from, error) : status;
        lend_orders(sim, before);
        status = status == WEFT_OK ? generation_begin(sim, &before->generation, error) : status;
        if (status == WEFT_OK && (status = tears_replay(sim, &later, from, error)) != WEFT_OK)
        {
            generation_undo(sim, &before->generation);
        }
        tear_replay_finish(&later);
        sim->model.generation = status == WEFT_OK ? l.counts.generation : sim->model.generation;
        sim->edits.loading = false;
        status == WEFT_OK ? (void)0 : before_put_back(sim, before);
    }
    if (status != WEFT_OK)
    {
        before_finish(before);
        return status;
    }
    sim->edits.begun = true;
    return WEFT_OK;
}

void edits_load_undo(weft_sim* sim, edits_before* before)
{
    if (before->any)
    {
        generation_undo(sim, &before->generation);
        before_put_back(sim, before);
        before_finish(before);
    }
}

void edits_load_keep(weft_sim* sim, edits_before* before)
{
    if (!before->any)
    {
        return;
    }
    generation_keep(&before->generation);
    for (int k = 0; k < before->body_count; k++)
    {
        body* old = &before->bodies[k];
        if (sim->bodies[k].removed)
        {
            old->scene_vertex = old->user_vertex = NULL; // they went with the generation
            body_forget(old);
        }
        else
        {
            old->forces != sim->bodies[k].forces ? forces_free(old->forces, old->force_count) : (void)0;
            body_tear_keep(&sim->bodies[k], old);
        }
    }
    for (int k = 0; k < before->obstacle_count; k++)
    {
        sim->obstacles[k].removed ? obstacle_forget(&before->obstacles[k]) : (void)0;
    }
    before_finish(before);
}
