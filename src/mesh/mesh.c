// Meshes as plain data: building from arrays, checking of faces, moving, freeing, and how messages name a face.
#include <string.h>

#include "mesh/mesh_inside.h"

void mesh_finish(mesh* m)
{
    mem_free(m->position);
    mem_free(m->face_start);
    mem_free(m->face_vertex);
    mem_free(m->face_line);
    mem_free(m->face_object);
    mem_free(m->stitch);
    mem_free(m->thread);
    mem_free(m->texcoord);
    mem_free(m->face_texcoord);
    for (int k = 0; k < m->object_count && m->object_name; k++)
    {
        mem_free(m->object_name[k]);
    }
    mem_free(m->object_name);
    mem_free(m->triangle);
    mem_free(m->triangle_face);
    mem_free(m->triangle_corner);
    mem_free(m->segment);
    mem_free(m->tetrahedron);
    mem_free(m->tetrahedron_line);
    mem_free(m->tetrahedron_file);
    mem_free(m->edge_mask);
    mem_free(m->weld);
    mem_free(m->side_first);
    mem_free(m->side_start);
    mem_free(m->side_vertex);
    mem_free(m->seam_side);
    mem_free(m->same);
    mesh_drop_labels(m);
    mem_free(m->file);
    *m = (mesh){0};
}

int mesh_face_line(const mesh* m, int face)
{
    return m->face_line ? m->face_line[face] : 0;
}

const char* mesh_face_label(const mesh* m, int face, char label[LABEL_SIZE])
{
    if (m->face_line)
    {
        snprintf(label, LABEL_SIZE, "%s %d on line %d", form_face_word(m->form), face + 1, m->face_line[face]);
    }
    else
    {
        snprintf(label, LABEL_SIZE, "%s %d (counted from 0)", form_face_word(m->form), face);
    }
    return label;
}

weft_status mesh_no_memory(const mesh* m, weft_error* error)
{
    return error_set(error, WEFT_NO_MEMORY, m->file, 0,
                     "there is not enough memory for a mesh of %d vertices and %d faces: close other programs or use a "
                     "coarser mesh",
                     m->vertex_count, m->face_count);
}

// mark is [vertex_count], never face + 1 before.
static weft_status mesh_check_face(const mesh* m, int face, int* mark, weft_error* error)
{
    char label[LABEL_SIZE];
    int base = m->file ? 1 : 0;
    int begin = m->face_start[face], end = m->face_start[face + 1];
    if (end - begin < form_corners_min(m->form))
    {
        return error_set(error, WEFT_BAD_INPUT, m->file, mesh_face_line(m, face),
                         "%s has %d corners: a %s needs at least %s", mesh_face_label(m, face, label),
                         int_max(end - begin, 0), form_face_word(m->form),
                         form_corners_min(m->form) == 3 ? "three" : "two");
    }
    for (int k = begin; k < end; k++)
    {
        int v = m->face_vertex[k];
        if (v < 0 || v >= m->vertex_count)
        {
            return error_set(error, WEFT_BAD_INPUT, m->file, mesh_face_line(m, face),
                             "%s uses vertex %lld, but there are only %d vertices: correct the index or add the vertex",
                             mesh_face_label(m, face, label), (long long)v + base, m->vertex_count);
        }
        if (mesh_corner_repeats(m, face, k, mark, v))
        {
            return error_set(error, WEFT_BAD_INPUT, m->file, mesh_face_line(m, face),
                             "%s has vertex %d as a corner twice: remove the repeated corner or split the %s",
                             mesh_face_label(m, face, label), v + base, form_face_word(m->form));
        }
        mark[v] = face + 1;
    }
    return WEFT_OK;
}

weft_status mesh_check_faces(const mesh* m, weft_error* error)
{
    int* mark = MEM_NEW(m->vertex_count, int);
    if (!mark)
    {
        return mesh_no_memory(m, error);
    }
    weft_status status = WEFT_OK;
    for (int face = 0; face < m->face_count && status == WEFT_OK; face++)
    {
        status = mesh_check_face(m, face, mark, error);
    }
    mem_free(mark);
    return status;
}

// Starts are 0 first and never decrease; *out_corner_count is the last.
// Without starts all faces have `least` corners.
static weft_status arrays_check_starts(const int* face_start, int face_count, int least, int* out_corner_count,
                                       weft_error* error)
{
    if (!face_start)
    {
        *out_corner_count = least * face_count;
        return WEFT_OK;
    }
    if (face_start[0] != 0)
    {
        return error_set(error, WEFT_BAD_INPUT, NULL, 0, "face_start[0] is %d: it must be 0", face_start[0]);
    }
    for (int face = 0; face < face_count; face++)
    {
        if (face_start[face + 1] < face_start[face])
        {
            return error_set(error, WEFT_BAD_INPUT, NULL, 0,
                             "face_start[%d] is smaller than the one before it: starts must not decrease", face + 1);
        }
    }
    *out_corner_count = face_start[face_count];
    return WEFT_OK;
}

static weft_status arrays_check_positions(const vec3* position, int vertex_count, weft_error* error)
{
    for (int v = 0; v < vertex_count; v++)
    {
        vec3 x = position[v];
        if (!v3_is_finite(x) || fmax(fabs(x.x), fmax(fabs(x.y), fabs(x.z))) > COORDINATE_MAX)
        {
            return error_set(error, WEFT_BAD_INPUT, NULL, 0,
                             "vertex %d (counted from 0) is at (%g, %g, %g): coordinates must be finite and below %g m",
                             v, x.x, x.y, x.z, COORDINATE_MAX);
        }
    }
    return WEFT_OK;
}

static weft_status arrays_copy(const vec3* position, const int* face_start, const int* face_vertex, int corner_count,
                               mesh* m)
{
    m->position = MEM_NEW(m->vertex_count, vec3);
    m->face_start = MEM_NEW(m->face_count + 1, int);
    m->face_vertex = MEM_NEW(corner_count, int);
    if (!m->position || !m->face_start || !m->face_vertex)
    {
        return WEFT_NO_MEMORY;
    }
    memcpy(m->position, position, (size_t)m->vertex_count * sizeof(vec3));
    memcpy(m->face_vertex, face_vertex, (size_t)corner_count * sizeof(int));
    for (int face = 0; face <= m->face_count; face++)
    {
        m->face_start[face] = face_start ? face_start[face] : form_corners_min(m->form) * face;
    }
    return WEFT_OK;
}

// out has its form, and nothing else.
static weft_status arrays_take(const vec3* position, int vertex_count, const int* face_start, const int* face_vertex,
                               int face_count, mesh* out, weft_error* error)
{
    if (!position || !face_vertex || vertex_count < form_corners_min(out->form) || face_count < 1)
    {
        const char* word = form_face_word(out->form);
        return error_set(error, WEFT_BAD_INPUT, NULL, 0,
                         "a mesh needs positions and %ss: at least %s vertices (given: %d) and one %s (given: %d)",
                         word, form_corners_min(out->form) == 3 ? "three" : "two", position ? vertex_count : 0, word,
                         face_vertex ? face_count : 0);
    }
    if (vertex_count > COUNT_MAX || face_count > COUNT_MAX)
    {
        return error_set(error, WEFT_BAD_INPUT, NULL, 0, "a mesh may have at most %d vertices and faces", COUNT_MAX);
    }
    int corner_count = 0;
    TRY(arrays_check_starts(face_start, face_count, form_corners_min(out->form), &corner_count, error));
    TRY(arrays_check_positions(position, vertex_count, error));
    out->vertex_count = vertex_count;
    out->face_count = face_count;
    weft_status status = arrays_copy(position, face_start, face_vertex, corner_count, out);
    status = status == WEFT_OK ? mesh_check_faces(out, error) : mesh_no_memory(out, error);
    if (status != WEFT_OK)
    {
        mesh_finish(out);
    }
    return status;
}

weft_status mesh_from_arrays(const vec3* position, int vertex_count, const int* face_start, const int* face_vertex,
                             int face_count, mesh* out, weft_error* error)
{
    WEFT_ASSERT(out);
    *out = (mesh){.form = MESH_SHEET};
    return arrays_take(position, vertex_count, face_start, face_vertex, face_count, out, error);
}

weft_status mesh_lines_from_arrays(const vec3* position, int vertex_count, const int* line_start,
                                   const int* line_vertex, int line_count, mesh* out, weft_error* error)
{
    WEFT_ASSERT(out);
    *out = (mesh){.form = MESH_LINES};
    return arrays_take(position, vertex_count, line_start, line_vertex, line_count, out, error);
}

void mesh_transform(mesh* m, const double* rotation, double scale, vec3 translation)
{
    for (int v = 0; v < m->vertex_count; v++)
    {
        vec3 x = rotation ? m3_mul_v(rotation, m->position[v]) : m->position[v];
        m->position[v] = v3_madd(translation, scale, x);
    }
}

void mesh_bounds(const mesh* m, vec3* low, vec3* high)
{
    int corners = m->face_count > 0 ? m->face_start[m->face_count] : 0, count = corners > 0 ? corners : m->vertex_count;
    *low = *high = m->position[corners > 0 ? m->face_vertex[0] : 0];
    for (int k = 1; k < count; k++)
    {
        vec3 p = m->position[corners > 0 ? m->face_vertex[k] : k];
        *low = v3(fmin(low->x, p.x), fmin(low->y, p.y), fmin(low->z, p.z));
        *high = v3(fmax(high->x, p.x), fmax(high->y, p.y), fmax(high->z, p.z));
    }
}
