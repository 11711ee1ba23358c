// Taking one object out of a mesh, and merging vertices that lie together.
//
// Welding goes through the vertices in order: each joins the first kept vertex within the tolerance, or is kept itself.
// Kept vertices are found through a hash of cells as wide as the tolerance; as they are at least that far apart, a cell
// holds only a few.
#include <string.h>

#include "mesh/mesh_inside.h"

enum
{
    NAMES_IN_MESSAGE = 8
};

static weft_status select_unknown(const mesh* m, const char* object, weft_error* error)
{
    if (m->object_count == 0)
    {
        return error_set(error, WEFT_NOT_FOUND, m->file, 0,
                         "has no objects (o or g lines), so '%s' cannot be taken from it: leave the object out",
                         object);
    }
    char names[400] = "";
    size_t used = 0;
    int shown = int_min(m->object_count, NAMES_IN_MESSAGE);
    for (int k = 0; k < shown && used < sizeof(names); k++)
    {
        used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%.40s", k > 0 ? ", " : "", m->object_name[k]);
    }
    const char* nearest = suggest_name(object, (const char* const*)m->object_name, m->object_count);
    return error_set(error, WEFT_NOT_FOUND, m->file, 0, "has no object '%.60s'%s%.60s%s There are %d: %s%s", object,
                     nearest ? "; did you mean '" : ".", nearest ? nearest : "", nearest ? "'?" : "", m->object_count,
                     names, m->object_count > shown ? ", ..." : "");
}

// Keeps the faces of one object, in order.
static void select_faces(mesh* m, int object)
{
    int faces = 0, corners = 0;
    for (int face = 0; face < m->face_count; face++)
    {
        int begin = m->face_start[face], end = m->face_start[face + 1];
        if (m->face_object[face] != object)
        {
            continue;
        }
        m->face_start[faces] = corners;
        m->face_object[faces] = object;
        m->group.face ? m->group.face[faces] = m->group.face[face] : 0;
        m->material.face ? m->material.face[faces] = m->material.face[face] : 0;
        m->face_line[faces++] = m->face_line[face];
        for (int k = begin; k < end; k++)
        {
            m->face_vertex[corners] = m->face_vertex[k];
            if (m->face_texcoord)
            {
                m->face_texcoord[corners] = m->face_texcoord[k];
            }
            corners++;
        }
    }
    m->face_start[faces] = corners;
    m->face_count = faces;
}

// Removes the vertices that no face uses; the others keep their order.
static weft_status select_vertices(mesh* m, weft_error* error)
{
    int* number = MEM_NEW(m->vertex_count, int);
    int* first = m->same ? MEM_NEW(m->vertex_count, int) : NULL; // 1 + the first that stays of those that are one
    if (!number || (m->same && !first))
    {
        mem_free(number);
        mem_free(first);
        return mesh_no_memory(m, error);
    }
    int corner_count = m->face_start[m->face_count];
    for (int k = 0; k < corner_count; k++)
    {
        number[m->face_vertex[k]] = 1;
    }
    int kept = 0;
    for (int v = 0; v < m->vertex_count; v++)
    {
        if (number[v])
        {
            int* one = first ? &first[m->same[v]] : NULL;
            one && *one == 0 ? *one = kept + 1 : 0;
            one ? m->same[kept] = *one - 1 : 0;
            m->position[kept] = m->position[v];
            number[v] = kept++;
        }
    }
    for (int k = 0; k < corner_count; k++)
    {
        m->face_vertex[k] = number[m->face_vertex[k]];
    }
    m->vertex_count = kept;
    mem_free(number);
    mem_free(first);
    return WEFT_OK;
}

weft_status mesh_select(mesh* m, const char* object, weft_error* error)
{
    for (int k = 0; k < m->object_count; k++)
    {
        if (strcmp(m->object_name[k], object) == 0)
        {
            select_faces(m, k);
            return select_vertices(m, error);
        }
    }
    return select_unknown(m, object, error);
}

typedef struct weld_hash
{
    vec3 low;        // corner of the bounding box
    double inv_cell; // 1/m
    int* head;       // [mask + 1] last kept vertex of a bucket, -1: none
    int* next;       // [vertex_count] the one kept before it in the same bucket
    uint64_t mask;
} weld_hash;

// Of all vertices: cells are counted from there, and must not overflow.
static void weld_bounds(const mesh* m, vec3* low, vec3* high)
{
    *low = *high = m->position[0];
    for (int k = 1; k < m->vertex_count; k++)
    {
        vec3 p = m->position[k];
        *low = v3(fmin(low->x, p.x), fmin(low->y, p.y), fmin(low->z, p.z));
        *high = v3(fmax(high->x, p.x), fmax(high->y, p.y), fmax(high->z, p.z));
    }
}

static weft_status weld_hash_create(const mesh* m, double tolerance, weld_hash* out)
{
    vec3 low, high;
    weld_bounds(m, &low, &high);
    // Cells much smaller than the mesh would overflow their integer coordinates; larger ones are as right.
    double extent = fmax(high.x - low.x, fmax(high.y - low.y, high.z - low.z));
    double cell = fmax(tolerance, 0x1p-40 * extent);
    size_t size = 16;
    while (size < (size_t)m->vertex_count)
    {
        size *= 2;
    }
    *out = (weld_hash){.low = low, .inv_cell = 1.0 / cell, .mask = size - 1};
    out->head = MEM_NEW(size, int);
    out->next = MEM_NEW(m->vertex_count, int);
    if (!out->head || !out->next)
    {
        return WEFT_NO_MEMORY;
    }
    memset(out->head, 0xff, size * sizeof(int));
    return WEFT_OK;
}

static void weld_hash_finish(weld_hash* hash)
{
    mem_free(hash->head);
    mem_free(hash->next);
}

static void weld_cell(const weld_hash* hash, vec3 x, int64_t cell[3])
{
    cell[0] = (int64_t)floor((x.x - hash->low.x) * hash->inv_cell);
    cell[1] = (int64_t)floor((x.y - hash->low.y) * hash->inv_cell);
    cell[2] = (int64_t)floor((x.z - hash->low.z) * hash->inv_cell);
}

static uint64_t weld_bucket(const weld_hash* hash, int64_t i, int64_t j, int64_t k)
{
    uint64_t plane = random_bits((uint64_t)i, (uint64_t)j);
    return random_bits(plane, (uint64_t)k) & hash->mask;
}

// The lowest kept vertex within the tolerance of x, or -1.
static int weld_find(const weld_hash* hash, const vec3* position, vec3 x, double tolerance)
{
    int64_t cell[3];
    weld_cell(hash, x, cell);
    int found = -1;
    for (int n = 0; n < 27; n++)
    {
        uint64_t bucket = weld_bucket(hash, cell[0] + n % 3 - 1, cell[1] + n / 3 % 3 - 1, cell[2] + n / 9 - 1);
        for (int v = hash->head[bucket]; v >= 0; v = hash->next[v])
        {
            if ((found < 0 || v < found) && v3_length(v3_sub(position[v], x)) < tolerance)
            {
                found = v;
            }
        }
    }
    return found;
}

static void weld_insert(weld_hash* hash, const vec3* position, int v)
{
    int64_t cell[3];
    weld_cell(hash, position[v], cell);
    uint64_t bucket = weld_bucket(hash, cell[0], cell[1], cell[2]);
    hash->next[v] = hash->head[bucket];
    hash->head[bucket] = v;
}

// Fills m->weld and returns the number of vertices that stay.
static int weld_number(mesh* m, weld_hash* hash, double tolerance)
{
    int kept = 0;
    for (int v = 0; v < m->vertex_count; v++)
    {
        int other = weld_find(hash, m->position, m->position[v], tolerance);
        if (other >= 0)
        {
            m->weld[v] = m->weld[other];
            continue;
        }
        weld_insert(hash, m->position, v);
        m->weld[v] = kept++;
    }
    return kept;
}

// Renumbers the faces' corners; mark is [kept], zeroed. A face that loses a corner is refused. tolerance 0: the file
// says which are one.
static weft_status weld_faces(mesh* m, double tolerance, int* mark, weft_error* error)
{
    for (int face = 0; face < m->face_count; face++)
    {
        for (int k = m->face_start[face]; k < m->face_start[face + 1]; k++)
        {
            int v = m->weld[m->face_vertex[k]];
            if (mesh_corner_repeats(m, face, k, mark, v))
            {
                char label[LABEL_SIZE];
                mesh_face_label(m, face, label);
                return tolerance > 0.0
                           ? error_set(error, WEFT_BAD_INPUT, m->file, mesh_face_line(m, face),
                                       "%s collapses because two of its corners are closer than the weld distance %g: "
                                       "weld with a smaller distance",
                                       label, tolerance)
                           : error_set(error, WEFT_BAD_INPUT, m->file, mesh_face_line(m, face),
                                       "%s collapses because two of its corners are one (`#weft one` in the file): "
                                       "remove that line",
                                       label);
            }
            mark[v] = face + 1;
            m->face_given[k] = m->face_vertex[k];
            m->face_vertex[k] = v;
        }
    }
    return WEFT_OK;
}

// Merged vertices take the place of the first of them. Without any merge the mesh stays as it is.
static weft_status weld_apply(mesh* m, int kept, double tolerance, weft_error* error)
{
    m->given_count = m->vertex_count;
    if (kept == m->vertex_count)
    {
        mem_free(m->weld);
        m->weld = NULL;
        m->given_count = 0;
        return WEFT_OK;
    }
    int* mark = MEM_NEW(kept, int);
    m->face_given = MEM_NEW(m->face_start[m->face_count], int);
    if (!mark || !m->face_given)
    {
        mem_free(mark);
        return mesh_no_memory(m, error);
    }
    weft_status status = weld_faces(m, tolerance, mark, error);
    mem_free(mark);
    TRY(status);
    int next = 0;
    for (int v = 0; v < m->given_count; v++)
    {
        if (m->weld[v] == next)
        {
            m->position[next++] = m->position[v];
        }
    }
    m->vertex_count = kept;
    return WEFT_OK;
}

weft_status mesh_weld(mesh* m, double tolerance, weft_error* error)
{
    if (!(tolerance > 0.0 && tolerance <= COORDINATE_MAX))
    {
        return error_set(error, WEFT_BAD_INPUT, m->file, 0,
                         "the weld distance %g is out of range: give a small positive one", tolerance);
    }
    weld_hash hash;
    m->weld = MEM_NEW(m->vertex_count, int);
    weft_status status = weld_hash_create(m, tolerance, &hash);
    status = m->weld ? status : WEFT_NO_MEMORY;
    int kept = status == WEFT_OK ? weld_number(m, &hash, tolerance) : 0;
    weld_hash_finish(&hash);
    mem_free(m->same); // their distance is zero
    m->same = NULL;
    return status == WEFT_OK ? weld_apply(m, kept, tolerance, error) : mesh_no_memory(m, error);
}

weft_status mesh_weld_same(mesh* m, weft_error* error)
{
    int kept = 0;
    m->weld = m->same;
    m->same = NULL;
    for (int v = 0; v < m->vertex_count; v++)
    {
        m->weld[v] = m->weld[v] == v ? kept++ : m->weld[m->weld[v]];
    }
    return weld_apply(m, kept, 0.0, error);
}
