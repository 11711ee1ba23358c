// Bodies that come and go. Before the first step a body that is added is part of the scene; afterwards it is an edit,
// and what it was given by is kept as bytes for checkpoints. A body that is removed leaves its place empty, so that
// others keep their ids.
#include "sim/edits.h"

// ---- burying

body body_bury(body* b)
{
    body gone = *b;
    *b = (body){.name = gone.name, .removed = true};
    return gone;
}

obstacle obstacle_bury(obstacle* o)
{
    obstacle gone = *o;
    *o = (obstacle){.name = gone.name, .removed = true};
    return gone;
}

void body_forget(body* b)
{
    b->name = NULL;
    body_finish(b);
}

void obstacle_forget(obstacle* o)
{
    o->name = NULL;
    obstacle_finish(o);
}

// ---- adding

// The bytes of a def, which the body keeps; *out is NULL where a function reads samples, which no file can hold.
static weft_status keep_given(packer* p, unsigned char** out, size_t* size, weft_error* error)
{
    if (p->failed)
    {
        pack_finish(p);
        return edit_error(WEFT_NO_MEMORY, error);
    }
    *out = p->bytes;
    *size = p->size;
    return WEFT_OK;
}

static weft_status join_cloth(weft_sim* sim, const weft_cloth_def* def, weft_error* error)
{
    TRY(edits_begin(sim, error));
    TRY(body_append(sim, def, error));
    body* b = &sim->bodies[sim->body_count - 1];
    weft_cloth_def given = *def;
    given.name = b->name;
    packer p = {0};
    pack_cloth(&p, &given);
    weft_status status = keep_given(&p, &b->given, &b->given_size, error);
    status = status == WEFT_OK ? generation_next(sim, false, error) : status;
    if (status != WEFT_OK)
    {
        sim->edits.pin_ids -= b->pin_count;
        body_finish(&sim->bodies[--sim->body_count]);
        return status;
    }
    sim->edits.begun = true;
    return WEFT_OK;
}

weft_status weft_sim_add_cloth(weft_sim* sim, const weft_cloth_def* def, weft_cloth_id* out, weft_error* error)
{
    WEFT_ASSERT(sim && def && def->positions && def->vertex_count >= 0 && def->face_count >= 0);
    WEFT_ASSERT((def->face_vertices || def->tetrahedra) && def->tetrahedron_count >= 0);
    TRY(sim->built ? join_cloth(sim, def, error) : body_append(sim, def, error));
    if (out)
    {
        *out = sim->body_count - 1;
    }
    return WEFT_OK;
}

static weft_status join_obstacle(weft_sim* sim, const weft_obstacle_def* def, weft_error* error)
{
    weft_status status = edits_begin(sim, error);
    if (status != WEFT_OK)
    {
        def->release ? def->release(def->user) : (void)0; // it is refused
        return status;
    }
    TRY(obstacle_append(sim, def, error));
    obstacle* o = &sim->obstacles[sim->obstacle_count - 1];
    weft_obstacle_def given = *def;
    given.name = o->name;
    if (def->sample_count == 0 || def->samples)
    {
        packer p = {0};
        pack_obstacle(&p, &given);
        status = keep_given(&p, &o->given, &o->given_size, error);
    }
    status = status == WEFT_OK ? generation_next(sim, false, error) : status;
    if (status != WEFT_OK)
    {
        obstacle_finish(&sim->obstacles[--sim->obstacle_count]);
        obstacles_number(sim);
        return status;
    }
    sim->edits.begun = true;
    return WEFT_OK;
}

weft_status weft_sim_add_obstacle(weft_sim* sim, const weft_obstacle_def* def, weft_obstacle_id* out, weft_error* error)
{
    WEFT_ASSERT(sim && def && def->vertex_count >= 0 && def->face_count >= 0 && def->key_count >= 0);
    WEFT_ASSERT(def->sample_count >= 0);
    WEFT_ASSERT(def->sample_count == 0 || !def->samples != !def->read_sample);
    TRY(sim->built ? join_obstacle(sim, def, error) : obstacle_append(sim, def, error));
    if (out)
    {
        *out = sim->obstacle_count - 1;
    }
    return WEFT_OK;
}

// ---- removing

static weft_status check_goes(const weft_sim* sim, weft_cloth_id cloth, weft_error* error)
{
    int others = 0;
    for (int k = 0; k < sim->body_count; k++)
    {
        others += k != cloth && !sim->bodies[k].removed;
    }
    if (others == 0)
    {
        return error_set(error, WEFT_BAD_INPUT, NULL, 0, "cloth `%s` is the last one: a simulation has one at least",
                         sim->bodies[cloth].name);
    }
    for (int k = 0; k < sim->seam_count; k++)
    {
        const seam* s = &sim->seams[k];
        if (s->body == cloth || s->to == cloth)
        {
            return error_set(error, WEFT_BAD_INPUT, NULL, 0,
                             "cloth `%s` is tied to `%s`, and ties last as long as the simulation: it has to stay",
                             sim->bodies[s->body].name, sim->bodies[s->to].name);
        }
    }
    return WEFT_OK;
}

static void drop_pins_of(edits* all, int body)
{
    int kept = 0;
    for (int k = 0; k < all->pin_count; k++)
    {
        if (all->pins[k].body == body)
        {
            edited_pin_finish(&all->pins[k]);
            continue;
        }
        all->pins[kept++] = all->pins[k];
    }
    all->pin_count = kept;
}

weft_status weft_sim_remove_cloth(weft_sim* sim, weft_cloth_id cloth, weft_error* error)
{
    WEFT_ASSERT(sim);
    body* b;
    TRY(edit_find_cloth(sim, cloth, &b, error));
    TRY(check_goes(sim, cloth, error));
    TRY(edits_begin(sim, error));
    body gone = body_bury(b);
    b->first = gone.first; // of the generation that is about to end
    b->scene_vertex = gone.scene_vertex;
    b->user_vertex = gone.user_vertex;
    weft_status status = generation_next(sim, false, error);
    if (status != WEFT_OK)
    {
        *b = gone;
        return status;
    }
    gone.scene_vertex = gone.user_vertex = NULL; // they went with it
    body_forget(&gone);
    drop_pins_of(&sim->edits, cloth);
    sim->edits.begun = true;
    return WEFT_OK;
}

weft_status weft_sim_remove_obstacle(weft_sim* sim, weft_obstacle_id id, weft_error* error)
{
    WEFT_ASSERT(sim);
    if (!weft_sim_has_obstacle(sim, id))
    {
        return error_set(error, WEFT_NOT_FOUND, NULL, 0, "there is no obstacle with the id %d%s", id,
                         id >= 0 && id < sim->obstacle_count ? " any more: it was removed" : "");
    }
    const char* follower = sim_follower(sim, sim->obstacles[id].name);
    if (follower)
    {
        return error_set(error, WEFT_BAD_INPUT, NULL, 0, "a pin of cloth `%s` follows `%s`: move or unpin it first",
                         follower, sim->obstacles[id].name);
    }
    TRY(edits_begin(sim, error));
    obstacle gone = obstacle_bury(&sim->obstacles[id]);
    obstacles_number(sim);
    weft_status status = generation_next(sim, false, error);
    if (status != WEFT_OK)
    {
        sim->obstacles[id] = gone;
        obstacles_number(sim);
        return status;
    }
    obstacle_forget(&gone);
    sim->edits.begun = true;
    return WEFT_OK;
}

int weft_sim_has_cloth(const weft_sim* sim, weft_cloth_id cloth)
{
    WEFT_ASSERT(sim);
    return cloth >= 0 && cloth < sim->body_count && !sim->bodies[cloth].removed;
}

int weft_sim_has_obstacle(const weft_sim* sim, weft_obstacle_id obstacle)
{
    WEFT_ASSERT(sim);
    return obstacle >= 0 && obstacle < sim->obstacle_count && !sim->obstacles[obstacle].removed;
}
