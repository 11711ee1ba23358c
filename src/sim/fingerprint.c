// A hash of model and settings: two simulations with the same hash go the same way from the same state.
#include "sim/fingerprint.h"

#include <string.h>

// FNV-1a over 64-bit words, the rest byte by byte.
uint64_t hash_bytes(uint64_t hash, const void* data, size_t size)
{
    const unsigned char* p = data;
    for (; size >= 8; size -= 8, p += 8)
    {
        uint64_t word;
        memcpy(&word, p, 8);
        hash = (hash ^ word) * 0x100000001B3u;
        hash ^= hash >> 29;
    }
    for (; size > 0; size--, p++)
    {
        hash = (hash ^ *p) * 0x100000001B3u;
    }
    return hash;
}

static uint64_t hash_string(uint64_t hash, const char* text)
{
    return hash_bytes(hash, text ? text : "", text ? strlen(text) + 1 : 1);
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
        hash = hash_bytes(hash, numbers, sizeof(numbers));
        hash = hash_bytes(hash, way->keys, (size_t)way->key_count * sizeof(weft_pin_key));
    }
    for (int k = 0; k < set->count; k++)
    {
        const int numbers[] = {set->pins[k].vertex, set->pins[k].motion};
        hash = hash_bytes(hash, numbers, sizeof(numbers));
        hash = hash_bytes(hash, &set->pins[k].start, sizeof(vec3));
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

// Only where they count: runs with other solvers go on from checkpoints of versions without multigrid.
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

static uint64_t hash_obstacle(uint64_t hash, const obstacle* o)
{
    const mesh* m = &o->mesh;
    const motion* way = &o->motion;
    const double numbers[] = {o->friction.rub, o->friction.hold, o->thickness,    way->axis.x,      way->axis.y,    way->axis.z,
                              way->center.x,   way->center.y,   way->center.z,    o->sample_rate, o->sample_start,
                              o->sample_count, m->vertex_count, m->triangle_count};
    hash = hash_bytes(hash_string(hash, o->name), numbers, sizeof(numbers));
    hash = hash_bytes(hash, way->keys, (size_t)way->key_count * sizeof(weft_pin_key));
    hash = hash_bytes(hash, m->position, (size_t)m->vertex_count * sizeof(vec3));
    hash = hash_bytes(hash, m->triangle, 3 * (size_t)m->triangle_count * sizeof(int));
    return hash_bytes(hash, &o->fingerprint, sizeof(o->fingerprint));
}

// Nothing without obstacles and exclusions: runs go on from checkpoints of versions that did not know them.
static uint64_t hash_contact(uint64_t hash, const weft_sim* sim)
{
    for (int k = 0; k < sim->obstacle_count; k++)
    {
        hash = hash_obstacle(hash, &sim->obstacles[k]);
    }
    for (int k = 0; k < sim->exclusion_count; k++)
    {
        const exclusion* e = &sim->exclusions[k];
        hash = hash_string(hash_string(hash, e->first), e->second);
        hash = hash_bytes(hash, e->vertices, (size_t)e->vertex_count * sizeof(int));
    }
    return hash;
}

uint64_t sim_fingerprint(const weft_sim* sim)
{
    const model* m = &sim->model;
    const weft_sim_def* d = &sim->def;
    const double numbers[] = {d->time_step,       d->tolerance,      d->newton_tolerance,  d->max_stretch,
                              d->air.density,     d->air.drag,       d->air.friction,      d->air.wind.x,
                              d->air.wind.y,      d->air.wind.z,     d->air.gust,          d->air.gust_period,
                              d->air.gust_length, d->max_iterations, d->newton_iterations, d->max_halvings};
    uint64_t hash = hash_bytes(0xCBF29CE484222325u, numbers, sizeof(numbers));
    hash = hash_string(hash, sim->method->method->name);
    hash = hash_string(hash, sim->solver_name);
    hash = hash_string(hash, sim->preconditioner);
    hash = hash_multigrid(hash, sim);
    hash = hash_string(hash, cpu_kind_name(sim->cpu));
    hash = hash_bytes(hash, m->mass, (size_t)m->vertex_count * sizeof(double));
    hash = hash_bytes(hash, m->external, (size_t)m->vertex_count * sizeof(vec3));
    for (int g = 0; g < m->groups.count; g++)
    {
        const element_group* group = &m->groups.list[g];
        hash = hash_bytes(hash, group->vertices, (size_t)group->count * (size_t)group->kind->arity * sizeof(int));
        hash = hash_bytes(hash, group->rest, (size_t)group->count * (size_t)group->kind->rest_stride * sizeof(double));
    }
    return hash_ties(hash_contact(hash_pins(hash, &m->pins), sim), &m->ties);
}
