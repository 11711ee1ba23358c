// From bodies to the model: one vertex array in an order that keeps neighbours near, element groups, pattern, pins.
#include <string.h>

#include "material/spring.h"
#include "sim/cluster.h"
#include "sim/join.h"

// Whether a vertex is one with an earlier one, by a seam.
static bool is_joined(const body* b, int vertex)
{
    return b->one && b->one[vertex] != vertex;
}

static weft_status order_vertices(body* b, vec3* kept, int* order)
{
    int n = b->rest.vertex_count, came = 0;
    b->scene_count = 0;
    for (int i = 0; i < n; i++)
    {
        order[b->scene_count] = b->scene_count;
        kept[b->scene_count] = b->rest.position[i];
        b->scene_count += !is_joined(b, i);
        came = i < b->came_with ? b->scene_count : came;
    }
    // What was torn off comes last, so that a tear changes no other number.
    TRY(mesh_order(kept, came, order));
    for (int i = 0, k = 0; i < n; i++)
    {
        if (is_joined(b, i))
        {
            b->scene_vertex[i] = b->scene_vertex[b->one[i]];
            continue;
        }
        b->scene_vertex[i] = b->first + order[k];
        b->user_vertex[order[k++]] = i;
    }
    return WEFT_OK;
}

static weft_status order_body(body* b, int first)
{
    int n = b->rest.vertex_count;
    b->first = first;
    b->scene_vertex = MEM_NEW(n, int);
    b->user_vertex = MEM_NEW(n, int);
    vec3* kept = MEM_NEW(n + 1, vec3);
    int* order = MEM_NEW(n + 1, int);
    bool room = b->scene_vertex && b->user_vertex && kept && order;
    weft_status status = room ? order_vertices(b, kept, order) : WEFT_NO_MEMORY;
    mem_free(kept);
    mem_free(order);
    return status;
}

// Segments (arity 2), triangles (3) or tetrahedra (4) of a body, as its mesh has them.
typedef struct simplices
{
    const int* vertex; // [arity * count]
    int arity, count;
} simplices;

// Simplices in scene vertices, sorted by their smallest vertex, so that elements that are near in space are near in
// memory; source is [count], the place that each had.
static weft_status sort_simplices(const body* b, simplices from, int* out, int* source)
{
    int vertices = b->rest.vertex_count;
    int* start = MEM_NEW(vertices + 1, int);
    if (!start)
    {
        return WEFT_NO_MEMORY;
    }
    for (int pass = 0; pass < 2; pass++)
    {
        for (int t = 0; t < from.count; t++)
        {
            int v[4], least = INT32_MAX;
            for (int k = 0; k < from.arity; k++)
            {
                v[k] = b->scene_vertex[from.vertex[from.arity * t + k]];
                least = int_min(least, v[k]);
            }
            if (pass == 0)
            {
                start[least - b->first + 1]++;
                continue;
            }
            int slot = start[least - b->first]++;
            memcpy(out + from.arity * slot, v, (size_t)from.arity * sizeof(int));
            source[slot] = t;
        }
        for (int i = 0; i < vertices && pass == 0; i++)
        {
            start[i + 1] += start[i];
        }
    }
    mem_free(start);
    return WEFT_OK;
}

typedef struct shape_arrays
{
    int *triangle, *segment, *tetrahedron;
    int* source; // of any of them
    vec2* rest;
    weft_material* material; // of triangles; NULL: the body has no regions
    double* segment_rest;
    vec3* tetrahedron_rest;
    vec3* position;
    hinge* hinges;
    int* triangle_hinge;
    double* folds; // by hinge; NULL: there are none
} shape_arrays;

static weft_status shape_arrays_init(const body* b, const model* m, shape_arrays* a)
{
    size_t n = (size_t)b->rest.triangle_count, segments = (size_t)b->rest.segment_count;
    size_t solids = (size_t)b->rest.tetrahedron_count;
    a->triangle = MEM_NEW(3 * n, int);
    a->rest = MEM_NEW(3 * n, vec2);
    a->triangle_hinge = MEM_NEW(3 * n, int);
    a->material = b->triangle_region ? MEM_NEW(n, weft_material) : NULL;
    a->segment = MEM_NEW(2 * segments, int);
    a->segment_rest = MEM_NEW(segments, double);
    a->tetrahedron = MEM_NEW(4 * solids, int);
    a->tetrahedron_rest = MEM_NEW(4 * solids, vec3);
    a->source = MEM_NEW(n + segments + solids, int);
    a->position = MEM_NEW(m->vertex_count, vec3);
    bool room = a->triangle && a->rest && a->triangle_hinge && a->segment && a->segment_rest && a->tetrahedron &&
                a->tetrahedron_rest && a->source && a->position && (a->material || !b->triangle_region);
    return room ? WEFT_OK : WEFT_NO_MEMORY;
}

static weft_status take_triangles(const body* b, shape_arrays* a)
{
    TRY(sort_simplices(b, (simplices){b->rest.triangle, 3, b->rest.triangle_count}, a->triangle, a->source));
    for (int t = 0; t < b->rest.triangle_count; t++)
    {
        memcpy(a->rest + 3 * t, b->rest_uv + 3 * a->source[t], 3 * sizeof(vec2));
    }
    for (int t = 0; t < b->rest.triangle_count && a->material; t++)
    {
        a->material[t] = *body_material(b, a->source[t]);
    }
    return WEFT_OK;
}

static weft_status take_segments(const body* b, shape_arrays* a)
{
    TRY(sort_simplices(b, (simplices){b->rest.segment, 2, b->rest.segment_count}, a->segment, a->source));
    for (int t = 0; t < b->rest.segment_count; t++)
    {
        const int* v = b->rest.segment + 2 * a->source[t];
        a->segment_rest[t] = v3_length(v3_sub(b->rest.position[v[1]], b->rest.position[v[0]]));
    }
    return WEFT_OK;
}

static weft_status take_tetrahedra(const body* b, shape_arrays* a)
{
    TRY(sort_simplices(b, (simplices){b->rest.tetrahedron, 4, b->rest.tetrahedron_count}, a->tetrahedron, a->source));
    for (int k = 0; k < 4 * b->rest.tetrahedron_count; k++)
    {
        a->tetrahedron_rest[k] = b->rest.position[b->rest.tetrahedron[4 * a->source[k / 4] + k % 4]];
    }
    return WEFT_OK;
}

// For what methods make of the surface itself.
static weft_status keep_triangles(const shape_arrays* a, int count, model* m)
{
    int all = m->triangle_count + count, corners = 3 * m->triangle_capacity, rests = corners;
    if (!mem_grow((void**)&m->triangle, &corners, 3 * all, sizeof(int)) ||
        !mem_grow((void**)&m->triangle_rest, &rests, 3 * all, sizeof(vec2)))
    {
        return WEFT_NO_MEMORY;
    }
    m->triangle_capacity = int_min(corners, rests) / 3;
    if (count == 0)
    {
        return WEFT_OK; // lines: there may be no arrays
    }
    memcpy(m->triangle + 3 * m->triangle_count, a->triangle, 3 * (size_t)count * sizeof(int));
    memcpy(m->triangle_rest + 3 * m->triangle_count, a->rest, 3 * (size_t)count * sizeof(vec2));
    m->triangle_count = all;
    return WEFT_OK;
}

// The triangles of the shape are the last ones. Where none had a limit yet, those before have none.
static weft_status keep_limits(const cloth_shape* shape, model* m)
{
    bool limited = m->triangle_limit != NULL;
    for (int t = 0; t < shape->triangle_count && !limited; t++)
    {
        limited = triangle_material(shape, t)->strain_limit > 0.0;
    }
    if (!limited)
    {
        return WEFT_OK;
    }
    int from = m->triangle_limit ? m->triangle_count - shape->triangle_count : 0;
    if (!mem_grow((void**)&m->triangle_limit, &m->limit_capacity, 3 * m->triangle_count, sizeof(double)))
    {
        return WEFT_NO_MEMORY;
    }
    for (int t = from; t < m->triangle_count; t++)
    {
        int own = t - (m->triangle_count - shape->triangle_count);
        const weft_material* a = own >= 0 ? triangle_material(shape, own) : NULL;
        double* out = m->triangle_limit + 3 * (size_t)t;
        out[0] = a && a->strain_limit > 0.0 ? 1.0 + a->strain_limit : INFINITY;
        out[1] = a ? a->stretch_warp : 0.0;
        out[2] = a ? a->stretch_weft : 0.0;
    }
    return WEFT_OK;
}

static weft_status add_shape(const weft_sim* sim, const body* b, model* m, shape_arrays* a)
{
    int n = b->kind->form == MESH_SHEET ? b->rest.triangle_count : 0; // a solid's surface has no elements
    TRY(shape_arrays_init(b, m, a));
    TRY(n > 0 ? take_triangles(b, a) : WEFT_OK);
    TRY(take_segments(b, a));
    TRY(take_tetrahedra(b, a));
    for (int i = 0; i < b->rest.vertex_count; i++)
    {
        a->position[b->scene_vertex[i]] = m->rest[b->scene_vertex[i]] = b->rest.position[i];
    }
    TRY(keep_triangles(a, n, m));
    int hinge_count = 0;
    TRY(mesh_hinges(a->triangle, n, m->vertex_count, &a->hinges, &hinge_count, a->triangle_hinge));
    TRY(body_lines_folds(b, m->vertex_count, a->hinges, hinge_count, &a->folds));
    cloth_shape shape = {.triangle_count = n,
                         .triangle = a->triangle,
                         .rest = a->rest,
                         .rest_position = b->flat_rest ? NULL : a->position,
                         .folds = a->folds,
                         .hinge_count = hinge_count,
                         .hinges = a->hinges,
                         .triangle_hinge = a->triangle_hinge,
                         .segment_count = b->rest.segment_count,
                         .segment = a->segment,
                         .segment_rest = a->segment_rest,
                         .tetrahedron_count = b->rest.tetrahedron_count,
                         .tetrahedron = a->tetrahedron,
                         .tetrahedron_rest = a->tetrahedron_rest,
                         .typical_area = b->typical_area,
                         .material = b->material,
                         .materials = a->material,
                         .crease = b->crease,
                         .source = a->source,
                         .bending = b->bending,
                         .connections = b->connections};
    TRY(b->model->append(&m->groups, &shape));
    TRY(keep_limits(&shape, m));
    TRY(body_lines_append(b, m->vertex_count, &shape, &m->groups));
    return sim->def.air.density > 0.0 ? air_append(element_groups_find(&m->groups, &kind_air), &shape) : WEFT_OK;
}

static weft_status add_elements(const weft_sim* sim, const body* b, model* m)
{
    shape_arrays a = {0};
    weft_status status = add_shape(sim, b, m, &a);
    mem_free(a.triangle);
    mem_free(a.segment);
    mem_free(a.segment_rest);
    mem_free(a.source);
    mem_free(a.tetrahedron);
    mem_free(a.tetrahedron_rest);
    mem_free(a.rest);
    mem_free(a.material);
    mem_free(a.position);
    mem_free(a.hinges);
    mem_free(a.folds);
    mem_free(a.triangle_hinge);
    return status;
}

static void add_forces(const body* b, model* m)
{
    for (int f = 0; f < b->force_count; f++)
    {
        for (int k = 0; k < b->forces[f].vertex_count; k++)
        {
            vec3* external = &m->external[b->scene_vertex[b->forces[f].vertices[k]]];
            *external = v3_add(*external, b->forces[f].force);
        }
    }
}

void sim_weigh(weft_sim* sim)
{
    model* m = &sim->model;
    m->gravity = sim->def.gravity;
    memset(m->external, 0, (size_t)m->vertex_count * sizeof(vec3));
    for (int k = 0; k < sim->body_count; k++)
    {
        add_forces(&sim->bodies[k], m);
    }
    for (int k = 0; k < sim->body_count; k++)
    {
        const body* b = &sim->bodies[k];
        for (int i = b->first; i < b->first + b->scene_count && !b->lifted; i++)
        {
            m->external[i] = v3_madd(m->external[i], m->loose[i] ? 0.0 : m->mass[i], m->gravity);
        }
    }
}

static bool model_in_use(const weft_sim* sim, const cloth_model* model)
{
    bool used = false;
    for (int k = 0; k < sim->body_count; k++)
    {
        used = used || sim->bodies[k].model == model;
    }
    return used;
}

// Groups of all kinds that may come, in the order of the table and not of the cloths; air comes last.
static weft_status open_groups(const weft_sim* sim, element_groups* groups)
{
    for (const cloth_model* const* model = model_table; *model; model++)
    {
        const element_kind* const* kind = (*model)->kinds;
        for (; *kind && model_in_use(sim, *model); kind++)
        {
            TRY(element_groups_add(groups, *kind));
        }
    }
    bool bands = false;
    for (int k = 0; k < sim->body_count; k++)
    {
        bands = bands || sim->bodies[k].band_count > 0;
    }
    TRY(bands ? element_groups_add(groups, &kind_spring) : WEFT_OK);
    if (sim->def.air.density > 0.0)
    {
        TRY(element_groups_add(groups, &kind_air));
        element_groups_find(groups, &kind_air)->air = sim->def.air;
    }
    return WEFT_OK;
}

static weft_status build_pattern(model* m)
{
    element_groups_drop_empty(&m->groups);
    element_list* lists = MEM_NEW(m->groups.count + 1, element_list);
    if (!lists)
    {
        return WEFT_NO_MEMORY;
    }
    m->element_vertices = 0;
    for (int g = 0; g < m->groups.count; g++)
    {
        const element_group* group = &m->groups.list[g];
        m->element_vertices = int_max(m->element_vertices, group->kind->arity);
        lists[g] = (element_list){group->count, group->kind->arity, group->vertices};
    }
    weft_status status = assembler_create(m->vertex_count, lists, m->groups.count, &m->assembler);
    mem_free(lists);
    return status;
}

static weft_status build_state(weft_sim* sim)
{
    model* m = &sim->model;
    state* s = &sim->world.state;
    TRY(state_create(s, m->vertex_count));
    vec3 low = v3(INFINITY, INFINITY, INFINITY), high = v3(-INFINITY, -INFINITY, -INFINITY);
    for (int k = 0; k < sim->body_count; k++)
    {
        const body* b = &sim->bodies[k];
        for (int i = 0; i < b->rest.vertex_count; i++)
        {
            vec3 p = b->start[i];
            s->x[b->scene_vertex[i]] = p;
            s->v[b->scene_vertex[i]] = b->velocity ? b->velocity[i] : v3(0, 0, 0);
            low = v3(fmin(low.x, p.x), fmin(low.y, p.y), fmin(low.z, p.z));
            high = v3(fmax(high.x, p.x), fmax(high.y, p.y), fmax(high.z, p.z));
        }
    }
    m->size = v3_length(v3_sub(high, low));
    return WEFT_OK;
}

static weft_status build_model(weft_sim* sim, weft_error* error)
{
    model* m = &sim->model;
    m->generation = 1;
    for (int k = 0; k < sim->body_count; k++)
    {
        TRY(order_body(&sim->bodies[k], m->vertex_count));
        m->vertex_count += sim->bodies[k].scene_count;
    }
    m->mass = MEM_NEW(m->vertex_count, double);
    m->loose = MEM_NEW(m->vertex_count, uint8_t);
    m->rigid = MEM_NEW(m->vertex_count, double);
    m->external = MEM_NEW(m->vertex_count, vec3);
    m->rest = MEM_NEW(m->vertex_count, vec3);
    if (!m->mass || !m->loose || !m->rigid || !m->external || !m->rest)
    {
        return WEFT_NO_MEMORY;
    }
    TRY(open_groups(sim, &m->groups));
    for (int k = 0; k < sim->body_count; k++)
    {
        TRY(sim->bodies[k].removed ? WEFT_OK : add_elements(sim, &sim->bodies[k], m));
    }
    sim_model_masses(sim);
    sim_weigh(sim);
    TRY(sim_build_pins(sim, &m->pins, error));
    TRY(seams_build(sim));
    return build_pattern(m);
}

// What a block diagonal hides: in its norm cloth that moves as a whole counts as sqrt(m / (h^2 k)) of what it is, a
// hundredth and less, so that 1e-4 there leaves vertices of hanging cloth as far off as 1e-3 of multigrid does, and
// slows cloth that slides on cloth. What `auto` gives to it keeps the digit (`weft bench tolerance --solver diag-pcg`).
static double diag_tolerance(double tolerance)
{
    return fmin(tolerance, fmax(1e-5, 0.1 * tolerance));
}

weft_status sim_build_solver(weft_sim* sim, weft_error* error)
{
    solve_options options = {.preconditioner = sim->preconditioner,
                             .variant = sim->solver_variant,
                             .tolerance = sim->def.tolerance,
                             .diag_tolerance = diag_tolerance(sim->def.tolerance),
                             .max_iterations = sim->def.max_iterations,
                             .no_residual2 = true,
                             .sa = sim->def.sa,
                             .pool = sim->pool,
                             .cpu = sim->cpu};
    return solver_object_init(&sim->world.solver, sim->solver_name, &options, error);
}

static weft_status build_world(weft_sim* sim, weft_error* error)
{
    TRY(build_state(sim));
    world* w = &sim->world;
    TRY(world_create(w, &sim->model));
    w->pool = sim->pool;
    w->cpu = sim->cpu;
    w->obstacles_at = sim_obstacles_at;
    w->detects = sim_route;
    w->user = sim;
    w->settings = (step_settings){.time_step = sim->def.time_step,
                                  .max_halvings = sim->def.max_halvings,
                                  .max_stretch = sim->def.max_stretch,
                                  .max_strain = sim->def.max_strain};
    sim_settings_of_bodies(sim, w->settings.method);
    return sim_build_solver(sim, error);
}

weft_status sim_build(weft_sim* sim, weft_error* error)
{
    if (sim->built)
    {
        return WEFT_OK;
    }
    if (sim->body_count == 0)
    {
        return error_set(error, WEFT_BAD_INPUT, NULL, 0, "there is no cloth: add one before the first step");
    }
    weft_status status = build_model(sim, error);
    if (status == WEFT_OK)
    {
        status = build_world(sim, error);
    }
    // Where there are several bodies they may be stepped in clusters, which have their own.
    if (status == WEFT_OK && sim->def.contact && (sim->whole || sim_live_count(sim) == 1))
    {
        status = sim_build_contact(sim, error);
    }
    if (status == WEFT_OK)
    {
        status = world_take_method(&sim->world, sim->method);
    }
    if (status == WEFT_NO_MEMORY)
    {
        error_set(error, status, NULL, 0, "%s", weft_status_text(status));
    }
    if (status == WEFT_UNSUPPORTED && sim->model.groups.count > GROUP_MAX)
    {
        error_set(error, status, NULL, 0, "the models of the scene have %d kinds of elements together; %d can be",
                  sim->model.groups.count, GROUP_MAX);
    }
    sim->built = status == WEFT_OK;
    sim->built ? (void)0 : sim_unbuild(sim); // the next call begins anew
    return status;
}

void sim_locate(const weft_sim* sim, int scene_vertex, const body** out_body, int* out_vertex)
{
    *out_body = NULL;
    *out_vertex = -1;
    for (int k = 0; k < sim->body_count; k++)
    {
        const body* b = &sim->bodies[k];
        if (scene_vertex >= b->first && scene_vertex - b->first < b->scene_count)
        {
            *out_body = b;
            *out_vertex = b->user_vertex[scene_vertex - b->first];
        }
    }
}
