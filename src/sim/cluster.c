// One cluster: a simulation of some bodies of another. It copies the structs of its bodies, whose meshes, pins and
// forces it borrows, and the parts of lists that concern them, numbered as if its bodies were all.
#include <string.h>

#include "sim/cluster.h"

static int member_of(const cluster* c, int body)
{
    int low = 0, high = c->sim.body_count;
    while (low < high)
    {
        int middle = (low + high) / 2;
        c->member[middle] < body ? (low = middle + 1) : (high = middle);
    }
    return low < c->sim.body_count && c->member[low] == body ? low : -1;
}

void cluster_refresh(const weft_sim* sim, cluster* c)
{
    weft_sim* own = &c->sim;
    own->def = sim->def;
    own->obstacles = sim->obstacles;
    own->obstacle_count = sim->obstacle_count;
    own->obstacle_vertices = sim->obstacle_vertices;
    for (int k = 0; k < own->body_count; k++)
    {
        body* b = &own->bodies[k];
        body kept = *b;
        *b = sim->bodies[c->member[k]];
        b->first = kept.first;
        b->scene_vertex = kept.scene_vertex;
        b->user_vertex = kept.user_vertex;
    }
}

weft_status cluster_take_pins(const weft_sim* sim, cluster* c)
{
    edits* own = &c->sim.edits;
    if (!mem_grow((void**)&own->pins, &own->pin_capacity, sim->edits.pin_count, sizeof(edited_pin)))
    {
        return WEFT_NO_MEMORY;
    }
    own->pin_count = 0;
    for (int k = 0; k < sim->edits.pin_count; k++)
    {
        edited_pin pin = sim->edits.pins[k];
        pin.body = member_of(c, pin.body);
        if (pin.body >= 0)
        {
            own->pins[own->pin_count++] = pin;
        }
    }
    return WEFT_OK;
}

// Ties join what they hold into one cluster: both sides are in it, or none.
static weft_status take_seams(const weft_sim* sim, cluster* c)
{
    weft_sim* own = &c->sim;
    own->seams = MEM_NEW(sim->seam_count, seam);
    own->seam_points = MEM_NEW(sim->seam_point_count, seam_point);
    if (!own->seams || !own->seam_points)
    {
        return WEFT_NO_MEMORY;
    }
    for (int k = 0; k < sim->seam_count; k++)
    {
        seam s = sim->seams[k];
        s.body = member_of(c, s.body);
        s.to = member_of(c, s.to);
        s.first = own->seam_point_count;
        for (int p = 0; p < s.count && s.body >= 0; p++)
        {
            seam_point point = sim->seam_points[sim->seams[k].first + p];
            point.body = s.body;
            point.to = s.to;
            own->seam_points[own->seam_point_count++] = point;
        }
        own->seams[own->seam_count] = s;
        own->seam_count += s.body >= 0;
    }
    return WEFT_OK;
}

static weft_status take_exclusions(const weft_sim* sim, cluster* c)
{
    weft_sim* own = &c->sim;
    own->exclusions = MEM_NEW(sim->exclusion_count, exclusion);
    for (int k = 0; k < sim->exclusion_count && own->exclusions; k++)
    {
        exclusion e = sim->exclusions[k];
        e.first.index = e.first.is_obstacle ? e.first.index : member_of(c, e.first.index);
        e.second.index = e.second.is_obstacle ? e.second.index : member_of(c, e.second.index);
        own->exclusions[own->exclusion_count] = e;
        own->exclusion_count += e.first.index >= 0 && e.second.index >= 0;
    }
    return own->exclusions ? WEFT_OK : WEFT_NO_MEMORY;
}

// Substeps that were accepted: where bodies have been.
static void watch(void* user)
{
    cluster* c = user; // the simulation is its first member
    for (int k = 0; k < c->sim.body_count; k++)
    {
        const body* b = &c->sim.bodies[k];
        for (int i = 0; i < b->scene_count; i++)
        {
            box_add(&c->swept[k], c->sim.world.state.x[b->first + i]);
        }
    }
}

static weft_status cluster_init(weft_sim* sim, const int* home, int id, cluster* c, weft_error* error)
{
    weft_sim* own = &c->sim;
    *own = (weft_sim){.method = sim->method,
                      .solver_name = sim->solver_name,
                      .preconditioner = sim->preconditioner,
                      .solver_variant = sim->solver_variant,
                      .pool = sim->pool,
                      .cpu = sim->cpu,
                      .whole = sim};
    c->member = MEM_NEW(sim->body_count, int);
    for (int k = 0; k < sim->body_count && c->member; k++)
    {
        c->member[own->body_count] = k;
        own->body_count += home[k] == id;
    }
    own->bodies = MEM_NEW(own->body_count, body);
    c->swept = MEM_NEW(own->body_count, box3);
    if (!c->member || !own->bodies || !c->swept)
    {
        return WEFT_NO_MEMORY;
    }
    cluster_refresh(sim, c);
    TRY(cluster_take_pins(sim, c));
    TRY(take_seams(sim, c));
    TRY(take_exclusions(sim, c));
    TRY(sim_build(own, error));
    own->world.accepted = watch;
    return own->world.contact ? features_count(c) : WEFT_OK;
}

weft_status cluster_create(weft_sim* sim, const int* home, int id, cluster** out, weft_error* error)
{
    *out = NULL;
    cluster* c = MEM_NEW(1, cluster);
    weft_status status = c ? cluster_init(sim, home, id, c, error) : WEFT_NO_MEMORY;
    if (status == WEFT_NO_MEMORY)
    {
        error_set(error, status, NULL, 0, "%s", weft_status_text(status));
    }
    if (status != WEFT_OK)
    {
        cluster_destroy(c);
        return status;
    }
    *out = c;
    return WEFT_OK;
}

void cluster_destroy(cluster* c)
{
    if (!c)
    {
        return;
    }
    weft_sim* own = &c->sim;
    own->body_count = own->bodies ? own->body_count : 0;
    sim_unbuild(own);
    mem_free(own->bodies);
    mem_free(own->seams);
    mem_free(own->seam_points);
    mem_free(own->exclusions);
    mem_free(own->edits.pins);
    mem_free(c->member);
    mem_free(c->swept);
    for (int kind = 0; kind < 3; kind++)
    {
        mem_free(c->feature_first[kind]);
    }
    mem_free(c);
}

bool cluster_is_of(const cluster* c, const int* home, int count, int id)
{
    int found = 0;
    for (int k = 0; k < count; k++)
    {
        if (home[k] == id && (found >= c->sim.body_count || c->member[found++] != k))
        {
            return false;
        }
    }
    return found == c->sim.body_count;
}

cluster* cluster_of(const weft_sim* sim, int body)
{
    const clusters* all = &sim->clusters;
    int at = all->count > 0 ? all->where[2 * body] : -1;
    return at >= 0 ? all->list[at] : NULL;
}

const body* cluster_body(const cluster* c, int body)
{
    return &c->sim.bodies[member_of(c, body)];
}
