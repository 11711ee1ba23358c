// From the user's polygons to the triangles that are simulated, and the checks of their shape.
#include <stdlib.h>

#include "mesh/mesh_inside.h"

weft_status mesh_check_positions(const mesh* m, weft_error* error)
{
    for (int v = 0; v < m->vertex_count; v++)
    {
        vec3 x = m->position[v];
        if (!v3_is_finite(x) || fmax(fabs(x.x), fmax(fabs(x.y), fabs(x.z))) > COORDINATE_MAX)
        {
            return error_set(
                error, WEFT_BAD_INPUT, m->file, 0,
                "vertex %d lies at (%g, %g, %g): coordinates must be finite and below %g m; check scale and "
                "transform",
                v + (m->file ? 1 : 0), x.x, x.y, x.z, COORDINATE_MAX);
        }
    }
    return WEFT_OK;
}

// Counts the triangles and refuses faces that are too large to split.
static weft_status triangulate_count(mesh* m, weft_error* error)
{
    int64_t triangles = 0;
    for (int face = 0; face < m->face_count; face++)
    {
        int corners = m->face_start[face + 1] - m->face_start[face];
        if (corners > POLYGON_MAX)
        {
            char label[LABEL_SIZE];
            return error_set(error, WEFT_BAD_INPUT, m->file, mesh_face_line(m, face),
                             "%s has %d corners: at most %d are possible; split it in the modelling program",
                             mesh_face_label(m, face, label), corners, POLYGON_MAX);
        }
        triangles += int_max(corners - 2, 0);
    }
    if (triangles < 1 || triangles > COUNT_MAX)
    {
        return error_set(error, WEFT_BAD_INPUT, m->file, 0, "the mesh has %lld triangles: 1 to %d are possible",
                         (long long)triangles, COUNT_MAX);
    }
    m->triangle_count = (int)triangles;
    return WEFT_OK;
}

// All triangles share the first corner.
static void split_as_fan(int corners, int* corner)
{
    for (int k = 0; k < corners - 2; k++)
    {
        corner[3 * k] = 0;
        corner[3 * k + 1] = k + 1;
        corner[3 * k + 2] = k + 2;
    }
}

static weft_status triangulate_face(mesh* m, int face, int first, polygon* scratch, bool forgiving, weft_error* error)
{
    int begin = m->face_start[face], corners = m->face_start[face + 1] - begin;
    int* corner = m->triangle_corner + 3 * first;
    bool good = true;
    if (corners == 3)
    {
        corner[0] = 0, corner[1] = 1, corner[2] = 2;
    }
    else
    {
        good = polygon_split(scratch, m->position, m->face_vertex + begin, corners, corner);
    }
    if (!good && forgiving)
    {
        split_as_fan(corners, corner);
    }
    else if (!good)
    {
        char label[LABEL_SIZE];
        return error_set(
            error, WEFT_BAD_INPUT, m->file, mesh_face_line(m, face),
            "%s crosses itself, is folded or has no area, so it cannot be split into triangles: split it in "
            "the modelling program",
            mesh_face_label(m, face, label));
    }
    for (int k = 0; k < 3 * (corners - 2); k++)
    {
        corner[k] += begin;
        m->triangle[3 * first + k] = m->face_vertex[corner[k]];
        m->triangle_face[first + k / 3] = face;
    }
    return WEFT_OK;
}

static weft_status triangulate_split(mesh* m, bool forgiving, weft_error* error)
{
    mem_free(m->triangle);
    mem_free(m->triangle_face);
    mem_free(m->triangle_corner);
    m->triangle = MEM_NEW(3 * m->triangle_count, int);
    m->triangle_face = MEM_NEW(m->triangle_count, int);
    m->triangle_corner = MEM_NEW(3 * m->triangle_count, int);
    polygon* scratch = polygon_create();
    bool room = m->triangle && m->triangle_face && m->triangle_corner && scratch;
    weft_status status = room ? WEFT_OK : mesh_no_memory(m, error);
    int first = 0;
    for (int face = 0; face < m->face_count && status == WEFT_OK; face++)
    {
        status = triangulate_face(m, face, first, scratch, forgiving, error);
        first += m->face_start[face + 1] - m->face_start[face] - 2;
    }
    polygon_destroy(scratch);
    return status;
}

// Area against the longest side: below the limit a triangle has no plane and no stiffness that makes sense.
static bool triangle_is_degenerate(vec3 a, vec3 b, vec3 c)
{
    vec3 ab = v3_sub(b, a), bc = v3_sub(c, b), ca = v3_sub(a, c);
    double longest_sq = fmax(v3_dot(ab, ab), fmax(v3_dot(bc, bc), v3_dot(ca, ca)));
    return !(0.5 * v3_length(v3_cross(ab, ca)) > AREA_MIN * longest_sq);
}

static bool is_flat(const mesh* m, int t)
{
    const int* v = m->triangle + 3 * t;
    return triangle_is_degenerate(m->position[v[0]], m->position[v[1]], m->position[v[2]]);
}

static weft_status triangulate_check_areas(const mesh* m, weft_error* error)
{
    for (int t = 0; t < m->triangle_count; t++)
    {
        if (is_flat(m, t))
        {
            char label[LABEL_SIZE];
            int face = m->triangle_face[t];
            return error_set(
                error, WEFT_BAD_INPUT, m->file, mesh_face_line(m, face),
                "%s has a triangle without area (its corners lie on a line or on one another): remove it or "
                "clean up the mesh",
                mesh_face_label(m, face, label));
        }
    }
    return WEFT_OK;
}

weft_status mesh_warn_unused(const mesh* m, weft_error* error)
{
    unsigned char* used = MEM_NEW(m->vertex_count, unsigned char);
    if (!used)
    {
        return mesh_no_memory(m, error);
    }
    for (int k = 0; k < m->face_start[m->face_count]; k++)
    {
        used[m->face_vertex[k]] = 1;
    }
    int unused = 0, first = -1;
    for (int v = 0; v < m->vertex_count; v++)
    {
        if (!used[v])
        {
            first = unused++ == 0 ? v : first;
        }
    }
    mem_free(used);
    if (unused > 0)
    {
        log_warning("%s: %d of %d vertices belong to no %s (the first is vertex %d); they carry no cloth",
                    m->file ? m->file : "mesh", unused, m->vertex_count, form_face_word(m->form),
                    first + (m->file ? 1 : 0));
    }
    return WEFT_OK;
}

weft_status mesh_triangulate(mesh* m, weft_error* error)
{
    WEFT_ASSERT(m && m->form == MESH_SHEET);
    TRY(mesh_check_positions(m, error));
    TRY(triangulate_count(m, error));
    TRY(triangulate_split(m, false, error));
    TRY(triangulate_check_areas(m, error));
    return mesh_check_topology(m, error);
}

weft_status mesh_split(mesh* m, weft_error* error)
{
    WEFT_ASSERT(m);
    TRY(mesh_check_positions(m, error));
    if (m->form == MESH_LINES)
    {
        return mesh_make_segments(m, error);
    }
    TRY(triangulate_count(m, error));
    return triangulate_split(m, true, error);
}

void mesh_round(mesh* m)
{
    for (int v = 0; v < m->vertex_count; v++)
    {
        m->position[v] = v3_round(m->position[v]);
    }
}

// ---- defects

static int compare_ints(const void* a, const void* b)
{
    int x = *(const int*)a, y = *(const int*)b;
    return (x > y) - (x < y);
}

// One edge with its `count` sides. Triangles on it that have the third vertex in common cover each other; sorting finds
// them, so that a million on one edge take no longer than elsewhere. third is scratch, [count].
static void defects_add_edge(const mesh* m, const side* sides, int count, int* third, mesh_defects* d)
{
    for (int k = 0; k < count; k++)
    {
        third[k] = m->triangle[sides[k].slot];
    }
    if (count > 1)
    {
        qsort(third, (size_t)count, sizeof(int), compare_ints);
    }
    for (int k = 1; k < count; k++)
    {
        d->repeated += third[k] == third[k - 1];
    }
    d->open_edges += count == 1;
    if (count > 2)
    {
        d->first_crowded = d->crowded++ == 0 ? m->triangle_face[sides[2].slot / 3] : d->first_crowded;
    }
    d->disagreeing += count == 2 && side_runs_up(m->triangle, sides[0]) == side_runs_up(m->triangle, sides[1]);
}

weft_status mesh_find_defects(const mesh* m, mesh_defects* out)
{
    *out = (mesh_defects){.first_flat = -1, .first_crowded = -1};
    side* sides = NULL;
    int slot_count = 3 * m->triangle_count;
    int* third = MEM_NEW(slot_count, int);
    if (!third || sides_build(m->triangle, m->triangle_count, m->vertex_count, &sides) != WEFT_OK)
    {
        mem_free(third);
        return WEFT_NO_MEMORY;
    }
    for (int k = 0, count; k < slot_count; k += count)
    {
        count = sides_on_edge(sides, k, slot_count);
        defects_add_edge(m, sides + k, count, third, out);
    }
    mem_free(sides);
    mem_free(third);
    out->repeated = (out->repeated + 2) / 3; // each is seen from its three edges
    for (int t = 0; t < m->triangle_count; t++)
    {
        if (is_flat(m, t))
        {
            out->first_flat = out->flat++ == 0 ? m->triangle_face[t] : out->first_flat;
        }
    }
    return WEFT_OK;
}
