// A body whose vertices are split: copies of its arrays with the new vertices at their ends.
#include <string.h>

#include "sim/tear.h"

// ---- lists

weft_status tears_add(tear_list* list, int from)
{
    int starts = list->capacity;
    if (!mem_grow((void**)&list->face_start, &starts, list->count + 2, sizeof(int)) ||
        !mem_grow((void**)&list->from, &list->capacity, list->count + 2, sizeof(int)))
    {
        return WEFT_NO_MEMORY;
    }
    list->from[list->count++] = from;
    list->face_start[list->count] = list->face_count;
    return WEFT_OK;
}

weft_status tears_take(tear_list* list, int face)
{
    if (!mem_grow((void**)&list->face, &list->face_capacity, list->face_count + 1, sizeof(int)))
    {
        return WEFT_NO_MEMORY;
    }
    list->face[list->face_count++] = face;
    list->face_start[list->count] = list->face_count;
    return WEFT_OK;
}

void tears_finish(tear_list* list)
{
    mem_free(list->from);
    mem_free(list->face_start);
    mem_free(list->face);
    *list = (tear_list){0};
}

// ---- bodies

// A copy of count items with room for more; an array that is NULL stays so.
static bool grown(void** array, int count, int more, size_t size)
{
    if (!*array && count > 0)
    {
        return true;
    }
    void* copy = mem_alloc((size_t)(count + more), size);
    if (copy && count > 0)
    {
        memcpy(copy, *array, (size_t)count * size);
    }
    *array = copy;
    return copy != NULL;
}

enum
{
    TORN_ARRAYS = 13
};

// All arrays of a body that tears or closed seams change.
static void arrays_of(const body* b, void* out[TORN_ARRAYS])
{
    void* all[TORN_ARRAYS] = {b->rest.position,   b->rest.edge_mask,   b->start,         b->sewn,
                              b->velocity,        b->rest.face_vertex, b->rest.triangle, b->torn_from,
                              b->torn_face_start, b->torn_face,        b->outputs,       b->one,
                              b->sewing};
    memcpy(out, all, sizeof(all));
}

// Frees the arrays of one that the other has not.
static void drop_others(const body* of, const body* other)
{
    void *mine[TORN_ARRAYS], *theirs[TORN_ARRAYS];
    arrays_of(of, mine);
    arrays_of(other, theirs);
    for (int k = 0; k < TORN_ARRAYS; k++)
    {
        mine[k] != theirs[k] ? mem_free(mine[k]) : (void)0;
    }
}

void body_tear_undo(body* b, const body* before)
{
    drop_others(b, before);
    *b = *before;
}

void body_tear_keep(const body* b, body* before)
{
    drop_others(before, b);
}

static bool make_room(body* b, const tear_list* list)
{
    int n = b->rest.vertex_count, more = list->count, corners = b->rest.face_start[b->rest.face_count];
    int faces = b->torn_count > 0 ? b->torn_face_start[b->torn_count] : 0;
    bool ok = grown((void**)&b->rest.position, n, more, sizeof(vec3));
    ok = grown((void**)&b->rest.edge_mask, n, more, 1) && ok;
    ok = grown((void**)&b->start, n, more, sizeof(vec3)) && ok;
    ok = grown((void**)&b->sewn, n, more, sizeof(vec3)) && ok;
    ok = grown((void**)&b->velocity, n, more, sizeof(vec3)) && ok;
    ok = grown((void**)&b->outputs, b->output_count, more, sizeof(int)) && ok;
    ok = grown((void**)&b->rest.face_vertex, corners, 0, sizeof(int)) && ok;
    ok = grown((void**)&b->rest.triangle, 3 * b->rest.triangle_count, 0, sizeof(int)) && ok;
    ok = grown((void**)&b->torn_from, b->torn_count, more, sizeof(int)) && ok;
    ok = grown((void**)&b->torn_face_start, b->torn_count > 0 ? b->torn_count + 1 : 0, more + 1, sizeof(int)) && ok;
    return grown((void**)&b->torn_face, faces, list->face_count + 1, sizeof(int)) && ok;
}

// Corners of a face, and of its triangles, that were at one vertex are at another.
static void face_move(body* b, const int* face_triangle, int face, int from, int to)
{
    mesh* m = &b->rest;
    for (int c = m->face_start[face]; c < m->face_start[face + 1]; c++)
    {
        m->face_vertex[c] = m->face_vertex[c] == from ? to : m->face_vertex[c];
    }
    for (int t = face_triangle[face]; t < m->triangle_count && m->triangle_face[t] == face; t++)
    {
        for (int k = 0; k < 3; k++)
        {
            m->triangle[3 * t + k] = m->triangle[3 * t + k] == from ? to : m->triangle[3 * t + k];
        }
    }
}

static void add_vertex(body* b, int from)
{
    int i = b->rest.vertex_count++;
    b->rest.position[i] = b->rest.position[from];
    b->start[i] = b->start[from];
    b->rest.edge_mask ? (void)(b->rest.edge_mask[i] = 0) : (void)0;
    b->sewn ? (void)(b->sewn[i] = b->sewn[from]) : (void)0;
    b->velocity ? (void)(b->velocity[i] = b->velocity[from]) : (void)0;
    b->outputs ? (void)(b->outputs[b->output_count] = i) : (void)0;
    b->output_count++;
}

static void apply(body* b, const tear_list* list, const int* face_triangle)
{
    for (int k = 0; k < list->count; k++)
    {
        add_vertex(b, list->from[k]);
        b->torn_from[b->torn_count] = list->from[k];
        int at = b->torn_count > 0 ? b->torn_face_start[b->torn_count] : 0;
        for (int f = list->face_start[k]; f < list->face_start[k + 1]; f++)
        {
            b->torn_face[at++] = list->face[f];
            face_move(b, face_triangle, list->face[f], list->from[k], b->rest.vertex_count - 1);
        }
        b->torn_face_start[++b->torn_count] = at;
    }
    b->topology++;
}

weft_status body_tear(body* b, const tear_list* list, body* before)
{
    *before = *b;
    int* face_triangle = MEM_NEW(b->rest.face_count, int);
    if (!face_triangle || !make_room(b, list))
    {
        mem_free(face_triangle);
        body_tear_undo(b, before);
        return WEFT_NO_MEMORY;
    }
    for (int t = b->rest.triangle_count - 1; t >= 0; t--)
    {
        face_triangle[b->rest.triangle_face[t]] = t;
    }
    apply(b, list, face_triangle);
    mem_free(face_triangle);
    return WEFT_OK;
}

int body_torn_from(const body* b, int vertex, int count)
{
    while (vertex >= count)
    {
        vertex = b->torn_from[vertex - b->came_with];
    }
    return vertex;
}
