// Elements that a cut changes. Those of the triangles around it are made twice by the body's own model, from the
// triangles as they are and as they will be: what both have stays, so that the ends of the patch, where neighbours are
// missing, cancel out. What only the first have goes, and what only the second have comes. Curvature hands the area of
// triangles at borders on to their neighbours, and arcs look along threads: both take a patch of two rings more.
#include <stdlib.h>
#include <string.h>

#include "material/connection.h"
#include "material/spring_set.h"
#include "sim/tear_mend.h"

enum
{
    RINGS = 2,
    RINGS_WIDE = 4
};

typedef struct patch
{
    const weft_sim* sim;
    const body* b;
    const model* m;
    const moved_corners* moved;
    int *head, *next; // [vertices], [3 * triangles] corners at each vertex, -1 ends the list
    int* ring;        // [vertices + torn off] 0: not in the patch; else 1 and how far it is
    int* triangle;    // [triangle_count] of the model, ascending
    int* vertex;      // [vertex_count] of the scene, ascending
    int triangle_count, triangle_capacity, vertex_count, vertex_capacity;
    int* local;          // [3 * triangle_count] corners in places of `vertex`
    vec2* rest;          // [3 * triangle_count]
    vec3* position;      // [vertex_count]
    const char* bending; // of the shape
    element_groups before, after;
} patch;

static void patch_finish(patch* p)
{
    void* arrays[] = {p->head, p->next, p->ring, p->triangle, p->vertex, p->local, p->rest, p->position};
    for (size_t k = 0; k < sizeof(arrays) / sizeof(arrays[0]); k++)
    {
        mem_free(arrays[k]);
    }
    element_groups_finish(&p->before);
    element_groups_finish(&p->after);
}

// ---- which triangles

static weft_status list_corners(patch* p)
{
    const model* m = p->m;
    p->head = mem_raw((size_t)m->vertex_count, sizeof(int));
    p->next = mem_raw(3 * (size_t)m->triangle_count, sizeof(int));
    p->ring = MEM_NEW(m->vertex_count + p->moved->count, int);
    if (!p->head || !p->next || !p->ring)
    {
        return WEFT_NO_MEMORY;
    }
    memset(p->head, -1, (size_t)m->vertex_count * sizeof(int));
    for (int c = 3 * m->triangle_count - 1; c >= 0; c--)
    {
        p->next[c] = p->head[m->triangle[c]];
        p->head[m->triangle[c]] = c;
    }
    return WEFT_OK;
}

static weft_status put(int** list, int* count, int* capacity, int value)
{
    if (!mem_grow((void**)list, capacity, *count + 1, sizeof(int)))
    {
        return WEFT_NO_MEMORY;
    }
    (*list)[(*count)++] = value;
    return WEFT_OK;
}

static weft_status reach(patch* p, int vertex, int ring)
{
    if (p->ring[vertex] > 0)
    {
        return WEFT_OK;
    }
    p->ring[vertex] = ring;
    return put(&p->vertex, &p->vertex_count, &p->vertex_capacity, vertex);
}

static int compare_ints(const void* a, const void* b)
{
    int x = *(const int*)a, y = *(const int*)b;
    return (x > y) - (x < y);
}

static int ints_unique(int* list, int count)
{
    int kept = 0;
    qsort(list, (size_t)count, sizeof(int), compare_ints);
    for (int k = 0; k < count; k++)
    {
        if (kept == 0 || list[kept - 1] != list[k])
        {
            list[kept++] = list[k];
        }
    }
    return kept;
}

static weft_status gather(patch* p, int rings)
{
    for (int k = 0; k < p->moved->count; k++)
    {
        const moved_corner* c = &p->moved->item[k];
        TRY(reach(p, p->m->triangle[3 * c->triangle + c->corner], 1));
    }
    for (int k = 0; k < p->vertex_count && p->ring[p->vertex[k]] <= rings + 1; k++)
    {
        int i = p->vertex[k];
        for (int c = p->head[i]; c >= 0; c = p->next[c])
        {
            TRY(put(&p->triangle, &p->triangle_count, &p->triangle_capacity, c / 3));
            for (int a = 0; a < 3; a++)
            {
                TRY(reach(p, p->m->triangle[3 * (c / 3) + a], p->ring[i] + 1));
            }
        }
    }
    p->triangle_count = ints_unique(p->triangle, p->triangle_count);
    for (int k = 0; k < p->moved->count; k++)
    {
        TRY(reach(p, p->moved->item[k].to, 1));
    }
    p->vertex_count = ints_unique(p->vertex, p->vertex_count);
    return WEFT_OK;
}

// ---- elements of them

static int place_of(const int* list, int count, int value)
{
    int low = 0, high = count;
    while (low < high)
    {
        int middle = (low + high) / 2;
        list[middle] < value ? (void)(low = middle + 1) : (void)(high = middle);
    }
    return low < count && list[low] == value ? low : -1;
}

static weft_status make_local(patch* p)
{
    size_t corners = 3 * (size_t)p->triangle_count;
    p->local = MEM_NEW(corners, int);
    p->rest = MEM_NEW(corners, vec2);
    p->position = MEM_NEW(p->vertex_count, vec3);
    if (!p->local || !p->rest || !p->position)
    {
        return WEFT_NO_MEMORY;
    }
    for (int c = 0; c < 3 * p->triangle_count; c++)
    {
        int from = 3 * p->triangle[c / 3] + c % 3, i = p->m->triangle[from];
        p->local[c] = place_of(p->vertex, p->vertex_count, i);
        p->rest[c] = p->m->triangle_rest[from];
        p->position[p->local[c]] = p->m->rest[i];
    }
    return WEFT_OK;
}

// The corners move, and with them where they are at rest.
static void move_corners(patch* p)
{
    for (int k = 0; k < p->moved->count; k++)
    {
        const moved_corner* c = &p->moved->item[k];
        int* corner = &p->local[3 * place_of(p->triangle, p->triangle_count, c->triangle) + c->corner];
        int to = place_of(p->vertex, p->vertex_count, c->to);
        p->position[to] = p->position[*corner];
        *corner = to;
    }
}

static weft_status append(const patch* p, element_groups* out, const hinge* hinges, int hinge_count,
                          const int* triangle_hinge)
{
    const body* b = p->b;
    cloth_shape shape = {.triangle_count = p->triangle_count,
                         .triangle = p->local,
                         .rest = p->rest,
                         .rest_position = b->flat_rest ? NULL : p->position,
                         .hinge_count = hinge_count,
                         .hinges = hinges,
                         .triangle_hinge = triangle_hinge,
                         .typical_area = b->typical_area,
                         .material = b->material,
                         .bending = p->bending,
                         .connections = b->connections};
    for (const element_kind* const* kind = b->model->kinds; *kind; kind++)
    {
        TRY(element_groups_add(out, *kind));
    }
    TRY(b->model->append(out, &shape));
    if (!(p->sim->def.air.density > 0.0))
    {
        return WEFT_OK;
    }
    TRY(element_groups_add(out, &kind_air));
    return air_append(element_groups_find(out, &kind_air), &shape);
}

static weft_status make_elements(const patch* p, element_groups* out)
{
    hinge* hinges = NULL;
    int hinge_count = 0, *triangle_hinge = MEM_NEW(3 * (size_t)p->triangle_count, int);
    weft_status status = triangle_hinge ? WEFT_OK : WEFT_NO_MEMORY;
    status = status == WEFT_OK
                 ? mesh_hinges(p->local, p->triangle_count, p->vertex_count, &hinges, &hinge_count, triangle_hinge)
                 : status;
    status = status == WEFT_OK ? append(p, out, hinges, hinge_count, triangle_hinge) : status;
    for (int g = 0; g < out->count && status == WEFT_OK; g++)
    {
        element_group* group = &out->list[g];
        for (int k = 0; k < group->count * group->kind->arity; k++)
        {
            group->vertices[k] = p->vertex[group->vertices[k]];
        }
    }
    mem_free(hinges);
    mem_free(triangle_hinge);
    return status;
}

// ---- what differs

static int compare_elements(const element_group* a, int e, const element_group* b, int f)
{
    size_t arity = (size_t)a->kind->arity, stride = (size_t)a->kind->rest_stride;
    int order = memcmp(a->vertices + arity * (size_t)e, b->vertices + arity * (size_t)f, arity * sizeof(int));
    return order ? order : memcmp(a->rest + stride * (size_t)e, b->rest + stride * (size_t)f, stride * sizeof(double));
}

// Places of a group's elements in the order of their bytes: a heap sort, as qsort takes no context.
static void sift_down(const element_group* g, int* order, int k, int count)
{
    for (int child; (child = 2 * k + 1) < count; k = child)
    {
        child += child + 1 < count && compare_elements(g, order[child], g, order[child + 1]) < 0;
        if (compare_elements(g, order[k], g, order[child]) >= 0)
        {
            return;
        }
        int kept = order[k];
        order[k] = order[child];
        order[child] = kept;
    }
}

static int* sorted_elements(const element_group* g)
{
    int* order = MEM_NEW(g->count + 1, int);
    for (int k = 0; k < g->count && order; k++)
    {
        order[k] = k;
    }
    for (int k = g->count / 2 - 1; k >= 0 && order; k--)
    {
        sift_down(g, order, k, g->count);
    }
    for (int k = g->count - 1; k > 0 && order; k--)
    {
        int kept = order[0];
        order[0] = order[k];
        order[k] = kept;
        sift_down(g, order, 0, k);
    }
    return order;
}

// Packs the elements of each group that the other has not to its front; order is theirs.
static void keep_different(element_group* a, element_group* b, const int* in_a, const int* in_b, int* only_a,
                           int* only_b, int counts[2])
{
    int j = 0, k = 0;
    counts[0] = counts[1] = 0;
    while (j < a->count || k < b->count)
    {
        int order = j == a->count ? 1 : k == b->count ? -1 : compare_elements(a, in_a[j], b, in_b[k]);
        if (order < 0)
        {
            only_a[counts[0]++] = in_a[j++];
        }
        else if (order > 0)
        {
            only_b[counts[1]++] = in_b[k++];
        }
        else
        {
            j++;
            k++;
        }
    }
}

static void pack(element_group* g, int* places, int count)
{
    size_t arity = (size_t)g->kind->arity, stride = (size_t)g->kind->rest_stride;
    qsort(places, (size_t)count, sizeof(int), compare_ints);
    for (int k = 0; k < count; k++)
    {
        size_t from = (size_t)places[k], to = (size_t)k;
        memmove(g->vertices + arity * to, g->vertices + arity * from, arity * sizeof(int));
        memmove(g->rest + stride * to, g->rest + stride * from, stride * sizeof(double));
    }
    g->count = count;
}

static weft_status differ(element_group* a, element_group* b)
{
    int *in_a = sorted_elements(a), *in_b = sorted_elements(b), counts[2];
    int *only_a = MEM_NEW(a->count + 1, int), *only_b = MEM_NEW(b->count + 1, int);
    bool ok = in_a && in_b && only_a && only_b;
    if (ok)
    {
        keep_different(a, b, in_a, in_b, only_a, only_b, counts);
        pack(a, only_a, counts[0]);
        pack(b, only_b, counts[1]);
    }
    mem_free(in_a);
    mem_free(in_b);
    mem_free(only_a);
    mem_free(only_b);
    return ok ? WEFT_OK : WEFT_NO_MEMORY;
}

// ---- where the model has them

// The elements of `gone` in the model's group, by what they are; the same twice are taken one after the other.
static weft_status find_gone(const patch* p, const element_group* group, const element_group* gone,
                             element_list_change* out)
{
    uint8_t* taken = MEM_NEW(gone->count + 1, uint8_t);
    out->place = MEM_NEW(gone->count + 1, int);
    if (!taken || !out->place)
    {
        mem_free(taken);
        return WEFT_NO_MEMORY;
    }
    int arity = group->kind->arity;
    for (int e = 0; e < group->count && out->gone_count < gone->count; e++)
    {
        if (p->ring[group->vertices[e * arity]] == 0)
        {
            continue;
        }
        int k = 0;
        while (k < gone->count && (taken[k] || compare_elements(group, e, gone, k) != 0))
        {
            k++;
        }
        if (k < gone->count)
        {
            taken[k] = 1;
            out->place[out->gone_count++] = e;
        }
    }
    mem_free(taken);
    return WEFT_OK;
}

static weft_status take_come(element_group* come, element_list_change* out)
{
    out->vertices = come->vertices;
    out->rest = come->rest;
    out->come_count = come->count;
    come->vertices = NULL;
    come->rest = NULL;
    come->count = come->capacity = 0;
    return WEFT_OK;
}

static weft_status compare(patch* p, element_list_change* out, bool* found)
{
    const element_groups* groups = &p->m->groups;
    bool wide = element_groups_find(groups, &kind_curvature) || element_groups_find(groups, &kind_beyond) || element_groups_find(groups, &kind_arc);
    TRY(list_corners(p));
    TRY(gather(p, wide ? RINGS_WIDE : RINGS));
    TRY(make_local(p));
    TRY(make_elements(p, &p->before));
    move_corners(p);
    TRY(make_elements(p, &p->after));
    *found = true;
    for (int k = 0; k < p->before.count; k++)
    {
        element_group *gone = &p->before.list[k], *come = element_groups_find(&p->after, gone->kind);
        TRY(differ(gone, come));
        const element_group* group = element_groups_find(&p->m->groups, gone->kind);
        if (!group)
        {
            *found = *found && gone->count == 0 && come->count == 0;
            continue;
        }
        element_list_change* to = &out[group - p->m->groups.list];
        TRY(find_gone(p, group, gone, to));
        *found = *found && to->gone_count == gone->count && group->count - gone->count + come->count > 0;
        TRY(take_come(come, to));
    }
    return WEFT_OK;
}

// Springs bend along threads, or from tip to tip, by what all of the sheet is like: what the model has is one of both.
weft_status patch_compare(const weft_sim* sim, const body* b, const moved_corners* moved, element_list_change* out,
                          bool* found)
{
    weft_status status = WEFT_OK;
    *found = false;
    for (int turn = 0; turn < (b->bending ? 1 : 2) && status == WEFT_OK && !*found; turn++)
    {
        for (int g = 0; g < sim->model.groups.count; g++)
        {
            element_list_change_finish(&out[g]);
        }
        patch p = {.sim = sim, .b = b, .m = &sim->model, .moved = moved};
        p.bending = b->bending ? b->bending : spring_bendings[turn];
        status = compare(&p, out, found);
        patch_finish(&p);
    }
    return status;
}

void element_list_change_finish(element_list_change* c)
{
    mem_free(c->place);
    mem_free(c->vertices);
    mem_free(c->rest);
    *c = (element_list_change){0};
}
