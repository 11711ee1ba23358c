// All bodies of a simulation in one collider: vertices of the cloths one after the other, each in the user's order,
// then those of the obstacles; body k of the collider is cloth k, then obstacle k - cloth_count. Exclusions go along.
#include <string.h>

#include "collide/broad.h"
#include "sim/sim.h"

typedef struct parts
{
    int* triangles;
    int* edges; // segments of lines, and triangles with a repeated corner
    int* body;
    int* seam;     // vertices that count as one, by number; -1: by itself
    bool has_seam; // one does not
    uint8_t* passive;
    int* excluded_bodies;
    int* excluded_vertices;
    int triangle_count, edge_count, vertex_count;
    int excluded_body_count, excluded_vertex_count;
    uint8_t* used; // vertices of triangles and edges; what lies around somewhere touches nothing
    int unused_count;
    bool scene_order; // cloth as the world has it; else as the user has
} parts;

static void parts_finish(parts* p)
{
    mem_free(p->triangles);
    mem_free(p->edges);
    mem_free(p->body);
    mem_free(p->seam);
    mem_free(p->passive);
    mem_free(p->excluded_bodies);
    mem_free(p->excluded_vertices);
    mem_free(p->used);
}

static const mesh* mesh_of(const weft_sim* sim, int index)
{
    return index < sim->body_count ? &sim->bodies[index].rest : &sim->obstacles[index - sim->body_count].mesh;
}

// Vertices of a body in the collider: in the scene's order those of a closed seam are one.
static int count_of(const weft_sim* sim, int index, bool scene_order)
{
    return scene_order && index < sim->body_count ? sim->bodies[index].scene_count : mesh_of(sim, index)->vertex_count;
}

static int first_vertex(const weft_sim* sim, int index, bool scene_order)
{
    int first = 0;
    for (int k = 0; k < index; k++)
    {
        first += count_of(sim, k, scene_order);
    }
    return first;
}

static weft_status parts_allocate(const weft_sim* sim, parts* p)
{
    int bodies = sim->body_count + sim->obstacle_count;
    int64_t triangles = 0, segments = 0, vertices = 0, excluded = 0;
    for (int k = 0; k < bodies; k++)
    {
        triangles += mesh_of(sim, k)->triangle_count;
        segments += mesh_of(sim, k)->segment_count;
        vertices += mesh_of(sim, k)->vertex_count;
    }
    for (int k = 0; k < sim->exclusion_count; k++)
    {
        excluded += sim->exclusions[k].vertex_count;
    }
    if (triangles + segments > INT32_MAX / 3 || vertices > INT32_MAX || excluded > INT32_MAX / 2)
    {
        return WEFT_BAD_INPUT;
    }
    p->triangles = MEM_NEW(3 * triangles + 1, int);
    p->edges = MEM_NEW(2 * (triangles + segments) + 1, int);
    p->body = MEM_NEW(vertices + 1, int);
    p->seam = MEM_NEW(vertices + 1, int);
    p->passive = MEM_NEW(bodies + 1, uint8_t);
    p->excluded_bodies = MEM_NEW(2 * sim->exclusion_count + 1, int);
    p->excluded_vertices = MEM_NEW(2 * excluded + 1, int);
    p->used = MEM_NEW(vertices + 1, uint8_t);
    bool ok = p->triangles && p->edges && p->body && p->seam && p->passive && p->excluded_bodies &&
              p->excluded_vertices && p->used;
    return ok ? WEFT_OK : WEFT_NO_MEMORY;
}

static void parts_add_triangle(parts* p, int a, int b, int c)
{
    if (a != b && b != c && c != a)
    {
        int* to = p->triangles + 3 * (size_t)p->triangle_count++;
        to[0] = a, to[1] = b, to[2] = c;
    }
    else if (a != b || b != c)
    {
        int* to = p->edges + 2 * (size_t)p->edge_count++;
        to[0] = a, to[1] = a != b ? b : c;
    }
}

// The collider's number of vertex i of a body whose first has number `first`.
static int vertex_at(const weft_sim* sim, int index, int first, int i, bool scene_order)
{
    return scene_order && index < sim->body_count ? sim->bodies[index].scene_vertex[i] : first + i;
}

// Vertices of a closed seam count as one in the user's order; and in any order those that lie upon each other from the
// start and cannot be one.
static void parts_add_seams(const weft_sim* sim, int index, int first, parts* p)
{
    const body* b = &sim->bodies[index];
    p->has_seam = p->has_seam || (b->one && !p->scene_order); // join_close.c fills it in
    for (int i = 0; b->one && i < b->rest.vertex_count; i++)
    {
        int other = b->one[i] != i ? b->one[i] : b->upon[i];
        int own = vertex_at(sim, index, first, i, p->scene_order);
        int least = vertex_at(sim, index, first, other, p->scene_order);
        if (own != least)
        {
            p->seam[own] = p->seam[least] = least;
            p->has_seam = true;
        }
    }
}

static void parts_add_body(const weft_sim* sim, int index, parts* p)
{
    const mesh* m = mesh_of(sim, index);
    int first = p->vertex_count;
    for (int t = 0; t < m->triangle_count; t++)
    {
        int v[3];
        for (int k = 0; k < 3; k++)
        {
            v[k] = vertex_at(sim, index, first, m->triangle[3 * (size_t)t + (size_t)k], p->scene_order);
        }
        parts_add_triangle(p, v[0], v[1], v[2]);
    }
    for (int s = 0; s < m->segment_count; s++)
    {
        int a = vertex_at(sim, index, first, m->segment[2 * (size_t)s], p->scene_order);
        int b = vertex_at(sim, index, first, m->segment[2 * (size_t)s + 1], p->scene_order);
        parts_add_triangle(p, a, a, b);
    }
    int count = count_of(sim, index, p->scene_order);
    for (int i = 0; i < count; i++)
    {
        p->body[first + i] = index;
        p->seam[first + i] = -1;
    }
    index < sim->body_count ? parts_add_seams(sim, index, first, p) : (void)0;
    p->vertex_count += count;
    p->passive[index] = index >= sim->body_count;
}

static void parts_add_exclusion(const weft_sim* sim, const exclusion* e, parts* p)
{
    int a = sim_body_number(sim, e->first), b = sim_body_number(sim, e->second);
    if (mesh_of(sim, a)->vertex_count == 0 || mesh_of(sim, b)->vertex_count == 0)
    {
        return; // it was removed
    }
    if (!e->vertices)
    {
        int* to = p->excluded_bodies + 2 * (size_t)p->excluded_body_count++;
        to[0] = a, to[1] = b;
        return;
    }
    int first = first_vertex(sim, a, p->scene_order);
    for (int k = 0; k < e->vertex_count; k++)
    {
        int* to = p->excluded_vertices + 2 * (size_t)p->excluded_vertex_count++;
        to[0] = vertex_at(sim, a, first, e->vertices[k], p->scene_order), to[1] = b;
    }
}

static void parts_count_unused(parts* p)
{
    for (size_t k = 0; k < 3 * (size_t)p->triangle_count; k++)
    {
        p->used[p->triangles[k]] = 1;
    }
    for (size_t k = 0; k < 2 * (size_t)p->edge_count; k++)
    {
        p->used[p->edges[k]] = 1;
    }
    for (int v = 0; v < p->vertex_count; v++)
    {
        p->unused_count += !p->used[v];
    }
}

// A vertex that no face uses would be a point that nobody sees, at which cloth catches.
static weft_status parts_exclude_unused(parts* p, int bodies)
{
    parts_count_unused(p);
    int64_t count = p->excluded_vertex_count + (int64_t)p->unused_count * bodies;
    if (p->unused_count == 0)
    {
        return WEFT_OK;
    }
    if (count > INT32_MAX / 2)
    {
        return WEFT_BAD_INPUT;
    }
    int* all = MEM_NEW(2 * count + 1, int);
    if (!all)
    {
        return WEFT_NO_MEMORY;
    }
    memcpy(all, p->excluded_vertices, 2 * (size_t)p->excluded_vertex_count * sizeof(int));
    mem_free(p->excluded_vertices);
    p->excluded_vertices = all;
    for (int v = 0; v < p->vertex_count; v++)
    {
        for (int k = 0; k < bodies && !p->used[v]; k++)
        {
            int* to = all + 2 * (size_t)p->excluded_vertex_count++;
            to[0] = v, to[1] = k;
        }
    }
    return WEFT_OK;
}

static weft_status parts_make(const weft_sim* sim, parts* p)
{
    int bodies = sim->body_count + sim->obstacle_count;
    TRY(parts_allocate(sim, p));
    for (int k = 0; k < bodies; k++)
    {
        parts_add_body(sim, k, p);
    }
    for (int k = 0; k < sim->exclusion_count; k++)
    {
        parts_add_exclusion(sim, &sim->exclusions[k], p);
    }
    return parts_exclude_unused(p, bodies);
}

static weft_status make_collider(weft_sim* sim, bool scene_order, weft_collider** out, weft_error* error)
{
    parts p = {.scene_order = scene_order};
    weft_status status = parts_make(sim, &p);
    if (status == WEFT_OK)
    {
        weft_collider_def def = weft_collider_def_default();
        def.vertex_count = p.vertex_count;
        def.triangles = p.triangles;
        def.triangle_count = p.triangle_count;
        def.edges = p.edges;
        def.edge_count = p.edge_count;
        def.body = p.body;
        def.body_count = sim->body_count + sim->obstacle_count;
        def.seam = p.has_seam ? p.seam : NULL;
        def.passive = p.passive;
        def.excluded_bodies = p.excluded_bodies;
        def.excluded_body_count = p.excluded_body_count;
        def.excluded_vertices = p.excluded_vertices;
        def.excluded_vertex_count = p.excluded_vertex_count;
        def.worker_count = sim->def.worker_count;
        def.tasks = sim->def.tasks;
        def.kernels = cpu_kind_name(sim->cpu);
        status = collider_create(&def, scene_order ? sim->pool : NULL, out, error);
    }
    else
    {
        error_set(error, status, NULL, 0, "%s",
                  status == WEFT_NO_MEMORY ? weft_status_text(status)
                                           : "the bodies have more than 2^31 vertices or triangles");
    }
    parts_finish(&p);
    return status;
}

weft_status weft_sim_create_collider(weft_sim* sim, weft_collider** out, weft_error* error)
{
    WEFT_ASSERT(sim && out);
    *out = NULL;
    return make_collider(sim, false, out, error);
}

weft_status sim_obstacles_at(void* user, double time, vec3* out, weft_error* error)
{
    return obstacles_at(user, time, out, error);
}

// In the plane, or where it lies at rest.
double body_rest_area(const body* b, int t)
{
    if (b->rest_uv)
    {
        return triangle_rest_area(b->rest_uv + 3 * (size_t)t);
    }
    const int* c = b->rest.triangle + 3 * (size_t)t;
    vec3 o = b->rest.position[c[0]];
    vec3 u = v3_sub(b->rest.position[c[1]], o), v = v3_sub(b->rest.position[c[2]], o);
    return 0.5 * v3_length(v3_cross(u, v));
}

// m; 0: there are none.
static double mean_segment(const body* bodies, int count)
{
    double length = 0.0;
    int segments = 0;
    for (int k = 0; k < count; k++)
    {
        const mesh* m = &bodies[k].rest;
        for (int s = 0; s < m->segment_count; s++)
        {
            const int* v = m->segment + 2 * (size_t)s;
            length += v3_length(v3_sub(m->position[v[1]], m->position[v[0]]));
        }
        segments += m->segment_count;
    }
    return segments > 0 ? length / segments : 0.0;
}

// What is searched for around features: the largest thickness, and not less than a part of an edge, so that the
// candidates of a substep last.
static void contact_set_reach(contact* c, const body* bodies, int count)
{
    const double edge_share = 0.02;
    double area = 0.0;
    int triangles = 0;
    for (int k = 0; k < count; k++)
    {
        for (int t = 0; t < bodies[k].rest.triangle_count; t++)
        {
            area += body_rest_area(&bodies[k], t);
        }
        triangles += bodies[k].rest.triangle_count;
    }
    c->edge = triangles > 0 ? sqrt(2.0 * area / triangles) : mean_segment(bodies, count);
    c->reach = edge_share * c->edge;
    for (int i = 0; i < c->vertex_count; i++)
    {
        c->reach = fmax(c->reach, CONTACT_REACH * c->thickness[i]);
    }
}

// Friction by vertex of obstacles, where one of them has it so.
static weft_status contact_set_maps(contact* c, const weft_sim* sim)
{
    bool any = false;
    for (int k = 0; k < sim->obstacle_count; k++)
    {
        any = any || sim->obstacles[k].vertex_friction;
    }
    c->skin = any ? MEM_NEW(int_max(sim->obstacle_vertices, 1), friction) : NULL;
    for (int k = 0; k < sim->obstacle_count && c->skin; k++)
    {
        const obstacle* o = &sim->obstacles[k];
        for (int i = 0; i < o->mesh.vertex_count; i++)
        {
            c->skin[o->first + i] = o->vertex_friction ? o->vertex_friction[i] : o->friction;
        }
    }
    return c->skin || !any ? WEFT_OK : WEFT_NO_MEMORY;
}

// Cloths that seams join become kin: the smallest index of all of them.
static weft_status contact_set_kin(contact* c, const weft_sim* sim)
{
    if (sim->seam_count == 0)
    {
        return WEFT_OK;
    }
    c->kin = MEM_NEW(sim->body_count + sim->obstacle_count, int);
    c->sewn = MEM_NEW(c->cloth_count, vec3);
    if (!c->kin || !c->sewn)
    {
        return WEFT_NO_MEMORY;
    }
    for (int k = 0; k < sim->body_count; k++)
    {
        const body* b = &sim->bodies[k];
        for (int i = 0; i < b->rest.vertex_count; i++)
        {
            c->sewn[b->scene_vertex[i]] = body_sewn(b)[i];
        }
    }
    seams_kin(sim, c->kin);
    return WEFT_OK;
}

// Least heights of triangles at rest.
static weft_status contact_set_room(contact* c, const weft_sim* sim)
{
    c->room = MEM_NEW(c->cloth_count, double);
    for (int k = 0; k < sim->body_count && c->room; k++)
    {
        const body* b = &sim->bodies[k];
        for (int i = b->first; i < b->first + b->scene_count; i++)
        {
            c->room[i] = b->one ? INFINITY : 0.0;
        }
        for (int t = 0; t < b->rest.triangle_count && b->one && !b->removed; t++)
        {
            const vec2* p = b->rest_uv + 3 * (size_t)t;
            double longest =
                fmax(hypot(p[1].x - p[0].x, p[1].y - p[0].y),
                     fmax(hypot(p[2].x - p[1].x, p[2].y - p[1].y), hypot(p[0].x - p[2].x, p[0].y - p[2].y)));
            double height = 2.0 * body_rest_area(b, t) / longest;
            for (int corner = 0; corner < 3; corner++)
            {
                double* room = &c->room[b->scene_vertex[b->rest.triangle[3 * (size_t)t + (size_t)corner]]];
                *room = fmin(*room, height);
            }
        }
    }
    return c->room ? WEFT_OK : WEFT_NO_MEMORY;
}

// Vertices whose gaps are open, and are to become one.
static weft_status contact_mark_open(contact* c, const weft_sim* sim)
{
    c->seam = MEM_NEW(c->cloth_count, int);
    for (int i = 0; i < c->cloth_count && c->seam; i++)
    {
        c->seam[i] = -1;
    }
    for (int k = 0; k < sim->body_count && c->seam; k++)
    {
        const body* b = &sim->bodies[k];
        for (int s = 0; s < b->stitch_count && !b->removed; s++)
        {
            int v = b->scene_vertex[b->stitch[2 * s]], w = b->scene_vertex[b->stitch[2 * s + 1]];
            if (b->sewing[s] == STITCH_OPEN)
            {
                c->seam[v] = c->seam[w] = b->seam[b->stitch[2 * s]] + b->first;
            }
        }
    }
    return c->seam ? WEFT_OK : WEFT_NO_MEMORY;
}

static weft_status contact_set_seams(contact* c, const weft_sim* sim)
{
    bool any = false, open = false;
    for (int k = 0; k < sim->body_count; k++)
    {
        any = any || sim->bodies[k].one;
        open = open || sim->bodies[k].joined < sim->bodies[k].stitch_count;
    }
    TRY(open ? contact_mark_open(c, sim) : WEFT_OK);
    return any ? contact_set_room(c, sim) : WEFT_OK;
}

bool friction_take(double motion, double rest, friction* out)
{
    *out = (friction){.hold = rest >= 0.0 ? rest : motion, .rub = motion};
    return isfinite(motion) && isfinite(rest) && (motion < 0.0 || out->hold >= motion);
}

// Cloth that is being sewn slides.
friction body_friction(const body* b)
{
    return b->lifted ? (friction){0} : b->friction;
}

weft_status sim_build_contact(weft_sim* sim, weft_error* error)
{
    weft_collider* collider;
    TRY(make_collider(sim, true, &collider, error));
    contact* c = MEM_NEW(1, contact);
    if (!c)
    {
        weft_collider_destroy(collider);
        return WEFT_NO_MEMORY;
    }
    sim->world.contact = c;
    int n = sim->model.vertex_count;
    int bodies = sim->body_count + sim->obstacle_count;
    TRY(contact_create(c, collider, n, first_vertex(sim, bodies, true), bodies));
    c->obstacles_at = sim_grown_at;
    c->whole_at = sim_obstacles_at;
    c->grows = sim_grows;
    c->grower = sim;
    c->user = sim;
    for (int i = 0; i < n; i++)
    {
        c->inv_mass[i] = 1.0 / sim->model.mass[i];
    }
    for (int k = 0; k < sim->body_count; k++)
    {
        const body* b = &sim->bodies[k];
        c->friction[k] = body_friction(b);
        c->girth[k] = b->rest.segment_count > 0 ? b->thickness : 0.0;
        for (int i = 0; i < b->rest.vertex_count; i++)
        {
            int vertex = b->scene_vertex[i];
            c->body[vertex] = k;
            c->thickness[vertex] = b->thickness;
            c->rest[vertex] = b->rest.position[i];
        }
    }
    for (int k = 0; k < sim->obstacle_count; k++)
    {
        const obstacle* o = &sim->obstacles[k];
        c->friction[sim->body_count + k] = o->friction;
        for (int i = 0; i < o->mesh.vertex_count; i++)
        {
            int vertex = n + o->first + i;
            c->body[vertex] = sim->body_count + k;
            c->thickness[vertex] = o->vertex_thickness ? o->vertex_thickness[i] : o->thickness;
        }
    }
    TRY(contact_set_maps(c, sim));
    friction_take(sim->def.friction, sim->def.static_friction, &c->unsaid);
    contact_set_reach(c, sim->bodies, sim->body_count);
    TRY(sim_build_particles(sim, c));
    TRY(collider_learn_rest(collider, c->rest, c->body, n, bodies));
    TRY(contact_set_seams(c, sim));
    return contact_set_kin(c, sim);
}

static void drop(contact* c)
{
    c ? contact_finish(c) : (void)0;
    mem_free(c);
}

void sim_drop_contact(weft_sim* sim)
{
    drop(sim->world.contact);
    sim->world.contact = NULL;
}

weft_status sim_mend_contact(weft_sim* sim, const torn_vertices* torn, weft_error* error)
{
    contact* c = sim->world.contact;
    if (!c || !sim->def.contact)
    {
        sim_drop_contact(sim);
        return sim->def.contact ? sim_build_contact(sim, error) : WEFT_OK;
    }
    weft_status status = contact_tear(c, torn);
    if (status == WEFT_NOT_FOUND)
    {
        sim_drop_contact(sim);
        return sim_build_contact(sim, error);
    }
    TRY(status);
    for (int i = 0; i < c->cloth_count; i++)
    {
        c->inv_mass[i] = 1.0 / sim->model.mass[i];
    }
    particles_finish(c);
    return sim_build_particles(sim, c);
}

int weft_sim_collider_vertex_count(const weft_sim* sim)
{
    return first_vertex(sim, sim->body_count + sim->obstacle_count, false);
}

weft_status weft_sim_collider_positions(weft_sim* sim, weft_vec3* out, weft_error* error)
{
    WEFT_ASSERT(sim && out);
    for (int k = 0; k < sim->body_count; k++)
    {
        const body* b = &sim->bodies[k];
        for (int i = 0; i < b->rest.vertex_count; i++)
        {
            *out++ = sim->built ? sim->world.state.x[b->scene_vertex[i]] : b->start[i];
        }
    }
    return obstacles_at(sim, weft_sim_time(sim), out, error);
}
