#include "common_edits.h"

#include "common.h"
#include "cache/checkpoint.h"
#include "common_scene.h"
#include "sim/edits.h"

const char edits_busy[] = EDITS_BUSY("3");

void edits_run(weft_sim* sim, int steps)
{
    for (int k = 0; k < steps; k++)
    {
        weft_error error = {0};
        if (weft_sim_step(sim, NULL, &error) != WEFT_OK)
        {
            fail_msg("step: %s", error.message);
        }
    }
}

uint64_t edits_hash_items(uint64_t hash, const void* items, int count, size_t size)
{
    return items ? hash_bytes(hash, items, (size_t)count * size) : hash;
}

// Of all that a step depends on.
uint64_t edits_hash(const weft_sim* sim)
{
    const state* s = &sim->world.state;
    const model* m = &sim->model;
    int n = s->vertex_count;
    const int64_t numbers[] = {n,
                               s->step_count,
                               s->halvings,
                               s->calm,
                               s->waits,
                               s->tries,
                               m->generation,
                               sim->body_count,
                               sim->obstacle_count,
                               sim->edits.pin_count,
                               sim->edits.pin_ids,
                               sim->seam_count,
                               sim->seam_point_count,
                               sim->edits.begun};
    uint64_t hash = hash_bytes(1, numbers, sizeof(numbers));
    hash = edits_hash_items(hash, s->x, n, sizeof(vec3));
    hash = edits_hash_items(hash, s->v, n, sizeof(vec3));
    hash = edits_hash_items(hash, s->acceleration, n, sizeof(vec3));
    hash = edits_hash_items(hash, s->contact.memory, n, sizeof(contact_memory));
    hash = edits_hash_items(hash, s->contact.bonds, s->contact.bond_count, sizeof(contact_bond));
    hash = edits_hash_items(hash, s->contact.marks.item, s->contact.marks.count, sizeof(squeeze_mark));
    hash = edits_hash_items(hash, m->mass, n, sizeof(double));
    hash = edits_hash_items(hash, m->external, n, sizeof(vec3));
    for (int g = 0; g < m->groups.count; g++)
    {
        const element_group* group = &m->groups.list[g];
        hash = edits_hash_items(hash, group->rest, group->count, (size_t)group->kind->rest_stride * sizeof(double));
        hash = group->kind == &kind_air ? hash_bytes(hash, &group->air, sizeof(group->air)) : hash;
    }
    for (int k = 0; k < sim->exclusion_count; k++)
    {
        const exclusion* e = &sim->exclusions[k];
        const int numbers[] = {sim_body_number(sim, e->first), sim_body_number(sim, e->second), e->vertices != NULL};
        hash = edits_hash_items(hash_bytes(hash, numbers, sizeof(numbers)), e->vertices, e->vertex_count, sizeof(int));
    }
    for (int k = 0; k < m->ties.count; k++)
    {
        const tie* t = &m->ties.ties[k];
        hash = hash_bytes(hash_bytes(hash, t->point, sizeof(t->point)), t->face, sizeof(t->face));
        hash = hash_bytes(hash_bytes(hash, t->weight, sizeof(t->weight)), &t->offset, sizeof(t->offset));
    }
    for (int k = 0; k < sim->body_count; k++)
    {
        hash = edits_hash_items(hash, sim->bodies[k].sewn, sim->bodies[k].rest.vertex_count, sizeof(vec3));
    }
    for (int k = 0; k < m->pins.count; k++)
    {
        const pin* p = &m->pins.pins[k];
        const pin_motion* motion = &m->pins.motions[p->motion];
        vec3 target = motion->follow ? v3(motion->follow[p->place].weight[0], motion->follow[p->place].weight[1],
                                          motion->follow[p->place].offset)
                                     : pin_target(motion, p, NULL, weft_sim_time(sim) + 0.003);
        hash = hash_bytes(hash_bytes(hash, &p->vertex, sizeof(int)), &target, sizeof(target));
    }
    return hash;
}

// A simulation of the same scene, made anew, that goes on from where this one is.
weft_sim* edits_made_anew(weft_sim* sim, const char* text, int workers)
{
    weft_sim* other = scene_sim_text(text, workers);
    weft_error error = {0};
    const char* path = scene_path("edits.weft");
    weft_status status = checkpoint_write(path, sim, 1, &error);
    status = status == WEFT_OK ? sim_build(other, &error) : status;
    status = status == WEFT_OK ? checkpoint_read(path, other, 1, &error) : status;
    if (status != WEFT_OK)
    {
        fail_msg("%s", error.message);
    }
    return other;
}

// It and one that reads its checkpoint go on alike.
void edits_assert_resumes(weft_sim* sim, const char* text)
{
    weft_sim_checkpoint(sim);
    weft_sim* other = edits_made_anew(sim, text, 1);
    assert_true(edits_hash(sim) == edits_hash(other));
    edits_run(sim, 3);
    edits_run(other, 3);
    assert_true(edits_hash(sim) == edits_hash(other));
    weft_sim_destroy(other);
}

vec3 edits_vertex(const weft_sim* sim, int cloth, int vertex)
{
    static vec3 x[1024];
    assert_true(weft_sim_output_count(sim, cloth) <= 1024);
    weft_sim_positions(sim, cloth, x);
    return x[vertex];
}

const int edits_square_faces[] = {0, 1, 2, 1, 3, 2};

void edits_square_at(vec3 center, double size, vec3 out[4])
{
    for (int k = 0; k < 4; k++)
    {
        out[k] = v3_add(center, v3((k & 1 ? 0.5 : -0.5) * size, 0, (k & 2 ? 0.5 : -0.5) * size));
    }
}

weft_status edits_add_square(weft_sim* sim, const char* name, vec3 center, weft_cloth_id* out, weft_error* error)
{
    vec3 x[4];
    edits_square_at(center, 0.1, x);
    weft_cloth_def def = weft_cloth_def_default();
    def.name = name;
    def.positions = x, def.vertex_count = 4;
    def.face_vertices = edits_square_faces, def.face_count = 2;
    return weft_sim_add_cloth(sim, &def, out, error);
}

weft_status edits_add_floor(weft_sim* sim, const char* name, vec3 center, weft_obstacle_id* out, weft_error* error)
{
    vec3 x[4];
    edits_square_at(center, 0.2, x);
    const weft_pin_key keys[] = {{0, {0, 0, 0}, 0}, {10, {0, 0.1, 0}, 0}};
    weft_obstacle_def def = weft_obstacle_def_default();
    def.name = name;
    def.positions = x, def.vertex_count = 4;
    def.face_vertices = edits_square_faces, def.face_count = 2;
    def.keys = keys, def.key_count = 2;
    return weft_sim_add_obstacle(sim, &def, out, error);
}
