// See tear_mend.h. All that can fail and leaves the simulation as it is comes first; then the model changes in place,
// and what is stale after a failure there is built anew from the bodies and the state.
#include "sim/tear_mend.h"

#include <stdlib.h>
#include <string.h>

#include "sim/cluster.h"
#include "sim/edits.h"

typedef struct mender
{
    weft_sim* sim;
    body* b;
    const tear_list* tears;
    int* from; // [tears.count] scene vertices
    moved_corners moved;
    torn_corner* faces; // [moved.count] the same corners, of the body's triangles
    element_list_change* elements; // [groups]
    group_change* changes;         // [groups]
    bool found;
} mender;

// One sheet by itself, of one material: numbers of what comes after it would change, and ties name faces.
static bool can_mend(const weft_sim* sim, const body* b)
{
    const world* w = &sim->world;
    return sim->built && !sim->whole && !sim->mends.stale && sim->clusters.count == 0 && sim_live_count(sim) == 1 &&
           !b->triangle_region && sim->model.ties.count == 0 && sim->seam_count == 0 && w->method.method &&
           b->first + b->rest.vertex_count == sim->model.vertex_count && b->kind->form == MESH_SHEET;
}

static void mender_finish(mender* m)
{
    for (int g = 0; g < m->sim->model.groups.count; g++)
    {
        m->elements ? element_list_change_finish(&m->elements[g]) : (void)0;
        if (m->changes)
        {
            mem_free(m->changes[g].element);
            mem_free(m->changes[g].was);
            mem_free(m->changes[g].was_rest);
        }
    }
    mem_free(m->elements);
    mem_free(m->changes);
    mem_free(m->moved.item);
    mem_free(m->faces);
    mem_free(m->from);
}

// ---- corners

typedef struct wanted_corner
{
    int v[3], corner, to; // of the scene
    int face;             // of the body
} wanted_corner;

typedef struct wanted_corners
{
    wanted_corner* item;
    int count, capacity;
} wanted_corners;

// Triangles of faces that go along with a new vertex, as the model has them.
static weft_status want_corners(const mender* m, wanted_corners* out, const int* taken)
{
    const mesh* rest = &m->b->rest;
    for (int t = 0; t < rest->triangle_count; t++)
    {
        int k = taken[rest->triangle_face[t]] - 1;
        for (int c = 0; c < 3 && k >= 0; c++)
        {
            if (rest->triangle[3 * t + c] != m->tears->from[k])
            {
                continue;
            }
            if (!mem_grow((void**)&out->item, &out->capacity, out->count + 1, sizeof(wanted_corner)))
            {
                return WEFT_NO_MEMORY;
            }
            wanted_corner* w = &out->item[out->count++];
            *w = (wanted_corner){.corner = c, .to = m->sim->model.vertex_count + k, .face = t};
            for (int a = 0; a < 3; a++)
            {
                w->v[a] = m->b->scene_vertex[rest->triangle[3 * t + a]];
            }
        }
    }
    return WEFT_OK;
}

static weft_status find_corners(mender* m, const wanted_corners* wanted, uint8_t* split)
{
    const model* o = &m->sim->model;
    for (int k = 0; k < m->tears->count; k++)
    {
        split[m->from[k]] = 1;
    }
    for (int t = 0; t < o->triangle_count; t++)
    {
        const int* v = o->triangle + 3 * (size_t)t;
        for (int k = 0; k < wanted->count && (split[v[0]] || split[v[1]] || split[v[2]]); k++)
        {
            const wanted_corner* w = &wanted->item[k];
            if (memcmp(v, w->v, sizeof(w->v)) != 0)
            {
                continue;
            }
            if (!mem_grow((void**)&m->moved.item, &m->moved.capacity, m->moved.count + 1, sizeof(moved_corner)))
            {
                return WEFT_NO_MEMORY;
            }
            m->moved.item[m->moved.count++] = (moved_corner){t, w->corner, w->to};
        }
    }
    return WEFT_OK;
}

static weft_status keep_faces(mender* m, const wanted_corners* wanted)
{
    m->faces = MEM_NEW(wanted->count + 1, torn_corner);
    for (int k = 0; k < wanted->count && m->faces; k++)
    {
        m->faces[k] = (torn_corner){wanted->item[k].face, wanted->item[k].corner, wanted->item[k].to};
    }
    return m->faces ? WEFT_OK : WEFT_NO_MEMORY;
}

static weft_status find_moved(mender* m)
{
    int* taken = MEM_NEW(m->b->rest.face_count, int);
    uint8_t* split = MEM_NEW(m->sim->model.vertex_count, uint8_t);
    wanted_corners wanted = {0};
    weft_status status = taken && split ? WEFT_OK : WEFT_NO_MEMORY;
    for (int k = 0; k < m->tears->count && status == WEFT_OK; k++)
    {
        for (int f = m->tears->face_start[k]; f < m->tears->face_start[k + 1]; f++)
        {
            taken[m->tears->face[f]] = k + 1;
        }
    }
    status = status == WEFT_OK ? want_corners(m, &wanted, taken) : status;
    status = status == WEFT_OK ? find_corners(m, &wanted, split) : status;
    status = status == WEFT_OK ? keep_faces(m, &wanted) : status;
    m->found = m->moved.count == wanted.count;
    mem_free(taken);
    mem_free(split);
    mem_free(wanted.item);
    return status;
}

// ---- groups

static int compare_ints(const void* a, const void* b)
{
    int p = *(const int*)a, q = *(const int*)b;
    return (p > q) - (p < q);
}

// Places that change: of what goes, which what comes takes; then at the end, or where the last ones were.
static weft_status list_places(const element_group* group, const element_list_change* e, group_change* out)
{
    int arity = group->kind->arity, stride = group->kind->rest_stride, more = e->come_count - e->gone_count;
    int count = 0, room = e->gone_count + abs(more) + 1;
    *out = (group_change){.before = group->count};
    out->element = MEM_NEW(room, int);
    out->was = MEM_NEW((size_t)room * (size_t)arity, int);
    out->was_rest = MEM_NEW((size_t)room * (size_t)stride, double);
    if (!out->element || !out->was || !out->was_rest)
    {
        return WEFT_NO_MEMORY;
    }
    e->gone_count > 0 ? memcpy(out->element, e->place, (size_t)e->gone_count * sizeof(int)) : NULL;
    count = e->gone_count;
    for (int k = 0; k < abs(more); k++)
    {
        out->element[count++] = more > 0 ? group->count + k : group->count - 1 - k;
    }
    qsort(out->element, (size_t)count, sizeof(int), compare_ints);
    for (int k = 0; k < count; k++)
    {
        if (k > 0 && out->element[k] == out->element[k - 1])
        {
            continue;
        }
        int at = out->count, place = out->element[k];
        out->element[out->count++] = place;
        if (place < group->count)
        {
            memcpy(out->was + at * arity, group->vertices + place * arity, (size_t)arity * sizeof(int));
            memcpy(out->was_rest + at * stride, group->rest + (size_t)place * (size_t)stride,
                   (size_t)stride * sizeof(double));
        }
    }
    return WEFT_OK;
}

static void element_put(element_group* group, int place, const int* vertices, const double* rest)
{
    size_t arity = (size_t)group->kind->arity, stride = (size_t)group->kind->rest_stride;
    memmove(group->vertices + arity * (size_t)place, vertices, arity * sizeof(int));
    memmove(group->rest + stride * (size_t)place, rest, stride * sizeof(double));
}

static void change_group(element_group* group, const element_list_change* e)
{
    int arity = group->kind->arity, stride = group->kind->rest_stride;
    for (int k = 0; k < e->come_count; k++)
    {
        int place = k < e->gone_count ? e->place[k] : group->count++;
        element_put(group, place, e->vertices + k * arity, e->rest + (size_t)k * (size_t)stride);
    }
    for (int k = e->gone_count - 1; k >= e->come_count; k--)
    {
        int last = --group->count;
        element_put(group, e->place[k], group->vertices + last * arity, group->rest + (size_t)last * (size_t)stride);
    }
}

// ---- what can fail and changes nothing

static weft_status prepare_groups(mender* m)
{
    element_groups* groups = &m->sim->model.groups;
    m->changes = MEM_NEW(groups->count, group_change);
    if (!m->changes)
    {
        return WEFT_NO_MEMORY;
    }
    for (int g = 0; g < groups->count; g++)
    {
        element_group* group = &groups->list[g];
        TRY(list_places(group, &m->elements[g], &m->changes[g]));
        TRY(element_group_reserve(group, group->kind, group->count + m->elements[g].come_count));
        m->sim->model.assembler.groups[g].list.vertices = group->vertices; // they may have moved
    }
    return WEFT_OK;
}

static weft_status prepare(mender* m)
{
    weft_sim* sim = m->sim;
    size_t before = (size_t)m->b->rest.vertex_count, count = (size_t)m->tears->count;
    m->from = MEM_NEW(count + 1, int);
    m->elements = MEM_NEW(sim->model.groups.count, element_list_change);
    if (!m->from || !m->elements ||
        !mem_grow((void**)&sim->mends.size, &sim->mends.capacity, sim->mends.count + 1, sizeof(int)))
    {
        return WEFT_NO_MEMORY;
    }
    for (size_t k = 0; k < count; k++)
    {
        m->from[k] = m->b->scene_vertex[m->tears->from[k]];
    }
    TRY(find_moved(m));
    TRY(m->found ? patch_compare(sim, m->b, &m->moved, m->elements, &m->found) : WEFT_OK);
    if (!m->found)
    {
        return WEFT_OK;
    }
    TRY(prepare_groups(m));
    bool ok = array_grow((void**)&m->b->scene_vertex, before, before + count, sizeof(int)) &&
              array_grow((void**)&m->b->user_vertex, before, before + count, sizeof(int));
    return ok ? WEFT_OK : WEFT_NO_MEMORY;
}

// ---- the model and what follows from it

static void number_torn(const mender* m, int before)
{
    body* b = m->b;
    b->scene_count = b->rest.vertex_count; // nothing is joined where cloth can tear
    for (int k = 0; k < m->tears->count; k++)
    {
        b->scene_vertex[before + k] = b->first + before + k;
        b->user_vertex[before + k] = before + k;
    }
}

static weft_status change_model(const mender* m)
{
    model* o = &m->sim->model;
    size_t before = (size_t)o->vertex_count, n = before + (size_t)m->tears->count;
    if (!array_grow((void**)&o->mass, before, n, sizeof(double)) ||
        !array_grow((void**)&o->loose, before, n, sizeof(uint8_t)) ||
        !array_grow((void**)&o->rigid, before, n, sizeof(double)) ||
        !array_grow((void**)&o->external, before, n, sizeof(vec3)) ||
        !array_grow((void**)&o->rest, before, n, sizeof(vec3)))
    {
        return WEFT_NO_MEMORY;
    }
    o->vertex_count = (int)n;
    for (int k = 0; k < m->tears->count; k++)
    {
        o->rest[before + (size_t)k] = o->rest[m->from[k]];
    }
    for (int k = 0; k < m->moved.count; k++)
    {
        const moved_corner* c = &m->moved.item[k];
        o->triangle[3 * c->triangle + c->corner] = c->to;
    }
    for (int g = 0; g < o->groups.count; g++)
    {
        change_group(&o->groups.list[g], &m->elements[g]);
    }
    sim_model_masses(m->sim);
    sim_weigh(m->sim);
    o->generation++;
    return WEFT_OK;
}

static weft_status change_pattern(const mender* m)
{
    model* o = &m->sim->model;
    element_list lists[GROUP_MAX];
    list_change changes[GROUP_MAX];
    for (int g = 0; g < o->groups.count; g++)
    {
        const element_group* group = &o->groups.list[g];
        const group_change* c = &m->changes[g];
        lists[g] = (element_list){group->count, group->kind->arity, group->vertices};
        changes[g] = (list_change){c->element, c->count, c->was, c->before};
    }
    return assembler_mend(&o->assembler, o->vertex_count, lists, changes);
}

static weft_status renew_solver(weft_sim* sim, weft_error* error)
{
    double kept[SOLVER_MEMORY], *memory = solver_object_memory(&sim->world.solver);
    memory ? memcpy(kept, memory, sizeof(kept)) : NULL;
    solver_object_finish(&sim->world.solver);
    TRY(sim_build_solver(sim, error));
    double* fresh = solver_object_memory(&sim->world.solver);
    memory&& fresh ? memcpy(fresh, kept, sizeof(kept)) : NULL;
    return WEFT_OK;
}

static weft_status change_rest(const mender* m, int before, weft_error* error)
{
    weft_sim* sim = m->sim;
    mend how = {.before = before, .from = m->from, .count = m->tears->count, .groups = m->changes};
    TRY(change_model(m));
    TRY(change_pattern(m));
    TRY(renew_solver(sim, error));
    TRY(world_mend(&sim->world, &how));
    torn_vertices torn = {before, m->tears->count, m->from, m->faces, m->moved.count};
    return sim_mend_contact(sim, &torn, error);
}

static weft_status commit(const mender* m, weft_error* error)
{
    weft_sim* sim = m->sim;
    body before;
    int count = m->b->rest.vertex_count, scene = sim->model.vertex_count;
    TRY(body_tear(m->b, m->tears, &before));
    weft_status status = state_mend(&sim->world.state, m->tears->count, m->from);
    if (status != WEFT_OK)
    {
        body_tear_undo(m->b, &before);
        return status;
    }
    body_tear_keep(m->b, &before);
    number_torn(m, count);
    status = change_rest(m, scene, error);
    sim->mends.stale = status != WEFT_OK;
    sim->mends.size[sim->mends.count] = m->tears->count;
    sim->mends.count += status == WEFT_OK;
    return status;
}

weft_status sim_mend(weft_sim* sim, body* b, const tear_list* tears, bool* done, weft_error* error)
{
    *done = false;
    if (!can_mend(sim, b))
    {
        return WEFT_OK;
    }
    mender m = {.sim = sim, .b = b, .tears = tears};
    weft_status status = world_settle(&sim->world);
    status = status == WEFT_OK ? prepare(&m) : status;
    if (status == WEFT_OK && m.found)
    {
        status = commit(&m, error);
        *done = status == WEFT_OK;
    }
    mender_finish(&m);
    return edit_error(status, error);
}
