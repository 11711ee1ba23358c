// Elastic bands and pressed folds along edges of a sheet (weft_cloth_def.bands, folds).
//
// A band is a spring along each edge of which both ends are selected,
//
//     k = stiffness / (s L),  rest length s L,
//
// with L the edge's length at rest and s the rest_scale, beside the elements of the cloth: the force of a band that is
// drawn to the length l is stiffness (l / (s L) - 1), whatever the mesh. It weighs nothing. Along a seam there is one
// band: each side has it until the two are one.
//
// A fold gives the hinges of its edges a rest angle in place of that of the mesh.
#include <math.h>
#include <string.h>

#include "material/spring.h"
#include "sim/sim.h"

static const double fold_max = 170.0 * PI / 180.0;

static weft_status line_wrong(const body* b, const char* what, int index, weft_error* error, const char* why)
{
    return error_set(error, WEFT_BAD_INPUT, NULL, 0, "%s `%s`: %s %d %s", b->kind->name, b->name, what, index, why);
}

static bool vertices_copy(const int* from, int count, const int** to)
{
    int* copy = MEM_NEW(count, int);
    copy&& count > 0 ? memcpy(copy, from, (size_t)count * sizeof(int)) : NULL;
    *to = copy;
    return copy != NULL;
}

static weft_status check_vertices(const body* b, const char* what, int index, const int* vertices, int count,
                                  weft_error* error)
{
    for (int k = 0; k < count; k++)
    {
        if (vertices[k] < 0 || vertices[k] >= b->rest.vertex_count)
        {
            return error_set(error, WEFT_BAD_INPUT, NULL, 0,
                             "%s `%s`: %s %d names vertex %d; vertices run from 0 to %d", b->kind->name, b->name, what,
                             index, vertices[k], b->rest.vertex_count - 1);
        }
    }
    return WEFT_OK;
}

// [vertex_count] 1: it is among them; by any numbers of vertices.
static unsigned char* mark(const int* vertices, int count, const int* number, int vertex_count)
{
    unsigned char* marked = MEM_NEW(vertex_count, unsigned char);
    for (int k = 0; k < count && marked; k++)
    {
        marked[number ? number[vertices[k]] : vertices[k]] = 1;
    }
    return marked;
}

// Whether the mesh has such an edge; a fold wants one between two triangles, which seams may make later.
static weft_status check_edge(const body* b, const char* what, int index, const int* vertices, int count,
                              weft_error* error)
{
    TRY(check_vertices(b, what, index, vertices, count, error));
    unsigned char* marked = mark(vertices, count, NULL, b->rest.vertex_count);
    bool found = false;
    for (int t = 0; t < b->rest.triangle_count && marked && !found; t++)
    {
        const int* v = b->rest.triangle + 3 * (size_t)t;
        found = marked[v[0]] + marked[v[1]] + marked[v[2]] >= 2;
    }
    mem_free(marked);
    return !marked ? WEFT_NO_MEMORY
           : found ? WEFT_OK
                   : line_wrong(b, what, index, error, "has no edge: select both ends of one at least");
}

static weft_status take_bands(const weft_cloth_def* def, body* b, weft_error* error)
{
    b->bands = MEM_NEW(int_max(def->band_count, 1), weft_band);
    TRY(b->bands ? WEFT_OK : WEFT_NO_MEMORY);
    for (int k = 0; k < def->band_count; k++)
    {
        const weft_band* from = &def->bands[k];
        TRY(check_edge(b, "band", k, from->vertices, from->vertex_count, error));
        if (!(from->rest_scale > 0.0) || !isfinite(from->rest_scale) || !(from->stiffness > 0.0) ||
            !isfinite(from->stiffness))
        {
            return line_wrong(b, "band", k, error, "needs a rest_scale and a stiffness (N) above zero");
        }
        b->bands[k] = *from;
        TRY(vertices_copy(from->vertices, from->vertex_count, &b->bands[k].vertices) ? WEFT_OK : WEFT_NO_MEMORY);
        b->band_count++;
    }
    return WEFT_OK;
}

static weft_status take_folds(const weft_cloth_def* def, body* b, weft_error* error)
{
    b->folds = MEM_NEW(int_max(def->fold_count, 1), weft_fold);
    TRY(b->folds ? WEFT_OK : WEFT_NO_MEMORY);
    for (int k = 0; k < def->fold_count; k++)
    {
        const weft_fold* from = &def->folds[k];
        TRY(check_edge(b, "fold", k, from->vertices, from->vertex_count, error));
        if (!(fabs(from->angle) <= fold_max * (1.0 + 1e-12)))
        {
            return line_wrong(b, "fold", k, error, "has an angle beyond -170 to 170 degrees");
        }
        b->folds[k] = *from;
        TRY(vertices_copy(from->vertices, from->vertex_count, &b->folds[k].vertices) ? WEFT_OK : WEFT_NO_MEMORY);
        b->fold_count++;
    }
    return WEFT_OK;
}

weft_status body_lines_take(const weft_cloth_def* def, body* b, weft_error* error)
{
    if (def->band_count <= 0 && def->fold_count <= 0)
    {
        return WEFT_OK;
    }
    if (b->kind->form != MESH_SHEET || b->tear > 0.0)
    {
        return error_set(error, WEFT_BAD_INPUT, NULL, 0,
                         "%s `%s`: bands and folds are of sheets that do not tear: leave them, or `tear`, out",
                         b->kind->name, b->name);
    }
    if (def->fold_count > 0 && strcmp(b->model->name, "baraff-witkin") != 0)
    {
        return error_set(error, WEFT_BAD_INPUT, NULL, 0,
                         "%s `%s`: the model `%s` has no rest angles: folds need `baraff-witkin`", b->kind->name,
                         b->name, b->model->name);
    }
    TRY(def->band_count > 0 ? take_bands(def, b, error) : WEFT_OK);
    return def->fold_count > 0 ? take_folds(def, b, error) : WEFT_OK;
}

void body_lines_finish(body* b)
{
    for (int k = 0; k < b->band_count; k++)
    {
        mem_free((void*)b->bands[k].vertices);
    }
    for (int k = 0; k < b->fold_count; k++)
    {
        mem_free((void*)b->folds[k].vertices);
    }
    mem_free(b->bands);
    mem_free(b->folds);
}

// ---- elements

weft_status body_lines_folds(const body* b, int vertex_count, const hinge* hinges, int hinge_count, double** out)
{
    if (b->fold_count == 0)
    {
        return WEFT_OK;
    }
    *out = MEM_NEW(int_max(hinge_count, 1), double);
    TRY(*out ? WEFT_OK : WEFT_NO_MEMORY);
    for (int h = 0; h < hinge_count; h++)
    {
        (*out)[h] = NAN;
    }
    for (int k = 0; k < b->fold_count; k++)
    {
        const weft_fold* fold = &b->folds[k];
        unsigned char* marked = mark(fold->vertices, fold->vertex_count, b->scene_vertex, vertex_count);
        TRY(marked ? WEFT_OK : WEFT_NO_MEMORY);
        for (int h = 0; h < hinge_count; h++)
        {
            bool own = marked[hinges[h].vertex[0]] && marked[hinges[h].vertex[1]];
            (*out)[h] = own ? fold->angle : (*out)[h];
        }
        mem_free(marked);
    }
    return WEFT_OK;
}

// An edge is that of its first triangle; the other side of it, where a uv map disagrees, has the mean.
static double edge_length(const cloth_shape* s, int t, int side)
{
    const vec2* p = s->rest + 3 * (size_t)t;
    vec2 a = p[(side + 1) % 3], b = p[(side + 2) % 3];
    return hypot(b.x - a.x, b.y - a.y);
}

static double mean_length(const cloth_shape* s, int t, int side)
{
    int h = s->triangle_hinge[3 * (size_t)t + (size_t)side];
    double own = edge_length(s, t, side);
    if (h < 0)
    {
        return own;
    }
    int other = s->hinges[h].left == t ? s->hinges[h].right : s->hinges[h].left, far = 0;
    while (far < 2 && s->triangle_hinge[3 * (size_t)other + (size_t)far] != h)
    {
        far++;
    }
    return 0.5 * (own + edge_length(s, other, far));
}

static weft_status append_band(const weft_band* band, const unsigned char* marked, const cloth_shape* s, double damping,
                               element_group* group)
{
    for (int k = 0; k < 3 * s->triangle_count; k++)
    {
        int t = k / 3, side = k % 3, h = s->triangle_hinge[k];
        int a = s->triangle[3 * t + (side + 1) % 3], b = s->triangle[3 * t + (side + 2) % 3];
        bool mine = h < 0 || int_min(s->hinges[h].left, s->hinges[h].right) == t;
        if (!marked[a] || !marked[b] || !mine)
        {
            continue;
        }
        double rest = band->rest_scale * mean_length(s, t, side);
        TRY(element_group_reserve(group, &kind_spring, group->count + 1));
        // Not as stretch, by whose largest value steps are judged: a band is drawn out from the start.
        spring_add(group, a, b, band->stiffness / rest, rest, damping, SPRING_SHEAR);
    }
    return WEFT_OK;
}

weft_status body_lines_append(const body* b, int vertex_count, const cloth_shape* shape, element_groups* groups)
{
    for (int k = 0; k < b->band_count; k++)
    {
        const weft_band* band = &b->bands[k];
        unsigned char* marked = mark(band->vertices, band->vertex_count, b->scene_vertex, vertex_count);
        TRY(marked ? WEFT_OK : WEFT_NO_MEMORY);
        weft_status status =
            append_band(band, marked, shape, b->material.damping, element_groups_find(groups, &kind_spring));
        mem_free(marked);
        TRY(status);
    }
    return WEFT_OK;
}
