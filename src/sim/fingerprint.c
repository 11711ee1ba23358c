// A hash of bodies, model and settings: two simulations with the same hash go the same way from the same state. The
// test test_resume_keys.c holds it against every key of the scene schema. It takes what the user gave (where bodies
// start, their names, contact) and what was made of that (order of vertices, masses, elements): a checkpoint has
// vertices in scene order, so that a later Weft with another order must not read it.
#include "sim/fingerprint.h"

#include <string.h>

static uint64_t hash_string(uint64_t hash, const char* text)
{
    return hash_bytes(hash, text ? text : "", text ? strlen(text) + 1 : 1);
}

// With its length, so that two arrays in a row do not run into each other.
static uint64_t hash_array(uint64_t hash, const void* items, int count, size_t item_size)
{
    uint64_t length = items ? (uint64_t)count : 0;
    return hash_bytes(hash_bytes(hash, &length, sizeof(length)), items, (size_t)length * item_size);
}

static uint64_t hash_follow(uint64_t hash, const pin_motion* m)
{
    for (int k = 0; m->follow && k < m->vertex_count; k++)
    {
        const pin_follow* f = &m->follow[k];
        const double numbers[] = {f->face[0],   f->face[1],   f->face[2], f->weight[0],
                                  f->weight[1], f->weight[2], f->offset};
        hash = hash_bytes(hash, numbers, sizeof(numbers));
    }
    return hash;
}

static uint64_t hash_pins(uint64_t hash, const pin_set* set)
{
    for (int k = 0; k < set->motion_count; k++)
    {
        const pin_motion* m = &set->motions[k];
        const motion* way = &m->motion;
        const double numbers[] = {(double)m->fix, m->direction.x, m->direction.y, m->direction.z,
                                  way->axis.x,    way->axis.y,    way->axis.z,    way->center.x,
                                  way->center.y,  way->center.z,  m->release};
        const double times[] = {m->sample_rate, m->sample_start};
        hash = hash_bytes(hash, numbers, sizeof(numbers));
        hash = hash_array(hash, way->keys, way->key_count, sizeof(weft_pin_key));
        hash = hash_array(hash, m->samples, m->sample_count * m->vertex_count, sizeof(vec3));
        hash = m->samples ? hash_bytes(hash, times, sizeof(times)) : hash;
        hash = hash_follow(hash, m);
    }
    for (int k = 0; k < set->count; k++)
    {
        const int numbers[] = {set->pins[k].vertex, set->pins[k].motion, set->pins[k].place, 0};
        hash = hash_bytes(hash, numbers, sizeof(numbers));
        hash = hash_bytes(hash, &set->pins[k].start, sizeof(vec3));
    }
    for (int k = 0; k < set->soft_count; k++)
    {
        const pin* p = &set->soft[k];
        const double numbers[] = {p->vertex,  p->motion,  p->place,  p->start.x,
                                  p->start.y, p->start.z, p->weight, set->motions[p->motion].stiffness};
        hash = hash_bytes(hash, numbers, sizeof(numbers));
    }
    return hash;
}

static uint64_t hash_ties(uint64_t hash, const tie_set* set)
{
    for (int k = 0; k < set->count; k++)
    {
        const tie* t = &set->ties[k];
        const double numbers[] = {t->point[0], t->point[1],  t->share[0],  t->share[1],  t->face[0], t->face[1],
                                  t->face[2],  t->weight[0], t->weight[1], t->weight[2], t->offset};
        hash = hash_bytes(hash, numbers, sizeof(numbers));
    }
    return hash;
}

// Only where they count: they may change in a run with another solver.
static uint64_t hash_multigrid(uint64_t hash, const weft_sim* sim)
{
    const char* name;
    double value;
    bool counts = sim->world.solver.solver->aggregates != NULL;
    for (int k = 0; counts && weft_sa_get(&sim->def.sa, k, &name, &value) == WEFT_OK; k++)
    {
        hash = hash_bytes(hash_string(hash, name), &value, sizeof(value));
    }
    return hash;
}

// Nothing for models without connections, and for the defaults of `hooke`: they keep the hash that they had.
static uint64_t hash_connections(uint64_t hash, const body* b)
{
    const connection_options* c = &b->connections;
    const double numbers[] = {c->damper, c->stretch_damping, c->shear_damping, c->bend_start};
    bool chosen =
        c->damper != b->model->damper || c->stretch_damping >= 0.0 || c->shear_damping >= 0.0 || c->bend_start >= 0.0;
    return b->model->connections && chosen ? hash_bytes(hash, numbers, sizeof(numbers)) : hash;
}

// A material without what sheets are measured by keeps the hash that it had.
static uint64_t hash_material(uint64_t hash, const weft_material* m)
{
    const double* all = &m->density;
    bool more = false;
    for (int k = MATERIAL_BASIC; k < MATERIAL_NUMBERS; k++)
    {
        more = more || all[k] != 0.0;
    }
    return hash_bytes(hash, all, (more ? MATERIAL_NUMBERS : MATERIAL_BASIC) * sizeof(double));
}

// Seams that close later have elements of these which are not there yet.
static uint64_t hash_lines(uint64_t hash, const body* b)
{
    for (int k = 0; k < b->band_count; k++)
    {
        const double numbers[] = {b->bands[k].rest_scale, b->bands[k].stiffness};
        hash = hash_array(hash, b->bands[k].vertices, b->bands[k].vertex_count, sizeof(int));
        hash = hash_bytes(hash, numbers, sizeof(numbers));
    }
    for (int k = 0; k < b->fold_count; k++)
    {
        hash = hash_array(hash, b->folds[k].vertices, b->folds[k].vertex_count, sizeof(int));
        hash = hash_bytes(hash, &b->folds[k].angle, sizeof(double));
    }
    return hash;
}

static uint64_t hash_body(uint64_t hash, const body* b)
{
    const mesh* m = &b->rest;
    const double numbers[] = {b->friction.rub, b->friction.hold, b->thickness, b->vertex_mass, b->flat_rest};
    hash = hash_bytes(hash_string(hash, b->name), numbers, sizeof(numbers));
    hash = hash_string(hash_string(hash, b->model->name), b->bending);
    hash = hash_material(hash, &b->material);
    for (int k = 0; k < b->region_count; k++)
    {
        // What elements have not by themselves: the rest of it is in their rest data.
        hash = material_measures(&b->regions[k]) ? hash_material(hash, &b->regions[k]) : hash;
    }
    hash = hash_connections(hash, b);
    hash = hash_lines(hash, b);
    hash = hash_array(hash, m->position, m->vertex_count, sizeof(vec3));
    hash = hash_array(hash, m->face_start, m->face_count + 1, sizeof(int));
    hash = hash_array(hash, m->face_vertex, m->face_start[m->face_count], sizeof(int));
    // Cloth keeps the hash that it had when there was nothing else: checkpoints of then are still read.
    hash = b->kind == body_table[0] ? hash : hash_string(hash, b->kind->name);
    hash = b->tear > 0.0 ? hash_bytes(hash, &b->tear, sizeof(b->tear)) : hash;
    hash = m->tetrahedron ? hash_array(hash, m->tetrahedron, 4 * m->tetrahedron_count, sizeof(int)) : hash;
    const double sewing[2] = {b->stitch_start, b->stitch_close};
    hash = b->stitch ? hash_bytes(hash_array(hash, b->stitch, 2 * b->stitch_count, sizeof(int)), sewing, sizeof(sewing))
                     : hash;
    hash = b->thread ? hash_array(hash, b->thread, b->thread_count, sizeof(weft_thread)) : hash;
    hash = hash_array(hash, b->rest_uv, 3 * m->triangle_count, sizeof(vec2));
    hash = hash_array(hash, b->start, m->vertex_count, sizeof(vec3));
    hash = hash_array(hash, b->velocity, m->vertex_count, sizeof(vec3));
    hash = hash_array(hash, b->scene_vertex, m->vertex_count, sizeof(int));
    return hash_array(hash, b->outputs, b->output_count, sizeof(int));
}

static uint64_t hash_obstacle(uint64_t hash, const obstacle* o)
{
    const mesh* m = &o->mesh;
    const motion* way = &o->motion;
    const double numbers[] = {o->friction.rub, o->friction.hold, o->thickness,    way->axis.x,
                              way->axis.y,     way->axis.z,      way->center.x,   way->center.y,
                              way->center.z,   o->sample_rate,   o->sample_start, o->sample_count};
    const double round[] = {o->sample_offset, o->sample_loop};
    hash = hash_bytes(hash_string(hash, o->name), numbers, sizeof(numbers));
    // Only where there are some: checkpoints of bodies without stay what they are.
    hash = o->vertex_thickness ? hash_array(hash, o->vertex_thickness, m->vertex_count, sizeof(double)) : hash;
    hash = o->vertex_friction ? hash_array(hash, o->vertex_friction, m->vertex_count, sizeof(friction)) : hash;
    hash = o->sample_offset != 0.0 || o->sample_loop ? hash_bytes(hash, round, sizeof(round)) : hash;
    hash = hash_array(hash, way->keys, way->key_count, sizeof(weft_pin_key));
    hash = hash_array(hash, m->position, m->vertex_count, sizeof(vec3));
    hash = hash_array(hash, m->triangle, 3 * m->triangle_count, sizeof(int));
    hash = m->weld ? hash_array(hash, m->weld, m->given_count, sizeof(int)) : hash; // it says what its files hold
    return hash_bytes(hash, &o->fingerprint, sizeof(o->fingerprint));
}

static uint64_t hash_bodies(uint64_t hash, const weft_sim* sim)
{
    const int counts[] = {sim->body_count, sim->obstacle_count, sim->exclusion_count, sim->def.contact != 0};
    hash = hash_bytes(hash, counts, sizeof(counts));
    for (int k = 0; k < sim->body_count; k++)
    {
        hash = hash_body(hash, &sim->bodies[k]);
    }
    for (int k = 0; k < sim->obstacle_count; k++)
    {
        hash = hash_obstacle(hash, &sim->obstacles[k]);
    }
    for (int k = 0; k < sim->exclusion_count; k++)
    {
        const exclusion* e = &sim->exclusions[k];
        hash = hash_string(hash, sim_body_name(sim, sim_body_number(sim, e->first)));
        hash = hash_string(hash, sim_body_name(sim, sim_body_number(sim, e->second)));
        hash = hash_array(hash, e->vertices, e->vertex_count, sizeof(int));
    }
    return hash;
}

static uint64_t hash_model(uint64_t hash, const model* m)
{
    hash = hash_array(hash, m->mass, m->vertex_count, sizeof(double));
    hash = hash_array(hash, m->external, m->vertex_count, sizeof(vec3));
    for (int g = 0; g < m->groups.count; g++)
    {
        const element_group* group = &m->groups.list[g];
        hash = hash_string(hash, group->kind->name);
        hash = hash_array(hash, group->vertices, group->count, (size_t)group->kind->arity * sizeof(int));
        hash = hash_array(hash, group->rest, group->count, (size_t)group->kind->rest_stride * sizeof(double));
    }
    return hash_ties(hash_pins(hash, &m->pins), &m->ties);
}

// Of the method, and of the one that it falls back on: what others are set to changes nothing.
static uint64_t hash_method(uint64_t hash, const weft_sim* sim)
{
    const time_method* const methods[] = {sim->method->method, sim->method->fallback};
    for (int m = 0; m < 2; m++)
    {
        int count = method_setting_count(methods[m]);
        int first = count > 0 ? method_setting_find(methods[m]->name, NULL) : 0;
        for (int k = 0; k < count; k++)
        {
            hash = hash_string(hash, methods[m]->settings[k].name);
            hash = hash_bytes(hash, &sim->def.settings[first + k], sizeof(double));
        }
    }
    return hash_string(hash, sim->method->method->name);
}

// What bodies have of their own, likewise; nothing of those that have not.
static uint64_t hash_chosen(uint64_t hash, const weft_sim* sim)
{
    const time_method* const methods[] = {sim->method->method, sim->method->fallback};
    for (int k = 0; k < 2 * sim->body_count; k++)
    {
        const double* chosen = sim->bodies[k / 2].chosen;
        const time_method* method = methods[k % 2];
        int count = method_setting_count(method);
        int first = count > 0 ? method_setting_find(method->name, NULL) : 0;
        for (int s = 0; s < count && chosen; s++)
        {
            const double place[3] = {k, s, chosen[first + s]};
            hash = isnan(place[2]) ? hash : hash_bytes(hash, place, sizeof(place));
        }
    }
    return hash;
}

static uint64_t hash_settings(uint64_t hash, const weft_sim* sim)
{
    const weft_sim_def* d = &sim->def;
    const double numbers[] = {d->time_step,    d->tolerance,       d->max_stretch,     d->gravity.x,
                              d->gravity.y,    d->gravity.z,       d->air.density,     d->air.drag,
                              d->air.friction, d->air.wind.x,      d->air.wind.y,      d->air.wind.z,
                              d->air.gust,     d->air.gust_period, d->air.gust_length, d->max_iterations,
                              d->max_halvings, d->friction,        d->static_friction};
    hash = hash_bytes(hash, numbers, sizeof(numbers));
    // Those of older runs stay; what each number is goes in with it.
    const double slip[2] = {1.0, d->air.slip}, strain[2] = {2.0, d->max_strain};
    hash = slip[1] > 0.0 ? hash_bytes(hash, slip, sizeof(slip)) : hash;
    hash = strain[1] > 0.0 ? hash_bytes(hash, strain, sizeof(strain)) : hash;
    const double particles[4] = {3.0, d->particle_distance, d->particle_stiffness, d->particle_damping};
    hash = particles[1] > 0.0 ? hash_bytes(hash, particles, sizeof(particles)) : hash;
    hash = hash_chosen(hash_method(hash, sim), sim);
    hash = hash_string(hash, sim->solver_name);
    hash = hash_string(hash, sim->preconditioner);
    hash = sim->solver_variant ? hash_string(hash, sim->solver_variant) : hash; // those of older runs stay
    hash = hash_multigrid(hash, sim);
    return hash_string(hash, cpu_kind_name(sim->cpu));
}

uint64_t sim_fingerprint(const weft_sim* sim)
{
    if (sim->edits.begun)
    {
        return sim->edits.scene;
    }
    uint64_t hash = hash_settings(0xCBF29CE484222325u, sim);
    return hash_model(hash_bodies(hash, sim), &sim->model);
}
