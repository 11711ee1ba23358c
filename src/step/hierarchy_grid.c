// Coarser grids of a flat rectangular grid (hierarchy.h): every second row and column, and the first and the last; a
// pin off these stays when no corner of its cell is held, linked to the corners. Edges of a coarse cell are its sides
// and the diagonal that the cell at its first corner has in the cloth. Distances in the rest pose are ways along the
// surface.
#include <stdlib.h>
#include <string.h>

#include "step/hierarchy.h"

static const double even = 1e-6; // of the grid's size: what differs by less is the same

typedef struct sheet
{
    const graph* g;
    const hierarchy_def* def;
    int *list, count;     // its vertices
    double *u, *v;        // [count] m, in its plane
    double *column, *row; // [columns], [rows] m
    int columns, rows;
    int* at;               // [rows * columns] vertex
    int *kept[2], keep[2]; // columns, rows of the level: indices, count
} sheet;

static void sheet_finish(sheet* s)
{
    void* arrays[] = {s->list, s->u, s->v, s->column, s->row, s->at, s->kept[0], s->kept[1]};
    for (size_t k = 0; k < sizeof(arrays) / sizeof(arrays[0]); k++)
    {
        mem_free(arrays[k]);
    }
}

static weft_status sheet_begin(sheet* s, int component)
{
    int n = s->g->vertex_count;
    for (int i = 0; i < n; i++)
    {
        s->count += s->g->component[i] == component;
    }
    size_t room = (size_t)s->count;
    s->list = MEM_NEW(room, int);
    s->u = MEM_NEW(room, double);
    s->v = MEM_NEW(room, double);
    s->column = MEM_NEW(room, double);
    s->row = MEM_NEW(room, double);
    s->at = MEM_NEW(room, int);
    s->kept[0] = MEM_NEW(room, int);
    s->kept[1] = MEM_NEW(room, int);
    if (!s->list || !s->u || !s->v || !s->column || !s->row || !s->at || !s->kept[0] || !s->kept[1])
    {
        return WEFT_NO_MEMORY;
    }
    s->count = 0;
    for (int i = 0; i < n; i++)
    {
        s->list[s->count] = i;
        s->count += s->g->component[i] == component && s->count < (int)room;
        if (s->count == (int)room)
        {
            break;
        }
    }
    return WEFT_OK;
}

// ---- is it a grid?

// Two unit vectors along sides of a triangle at a right angle; false: there is none at the first vertex.
static bool axes_find(const sheet* s, vec3 axis[2])
{
    const graph* g = s->g;
    int i = s->list[0];
    for (int k = g->fan_start[i]; k < g->fan_start[i + 1]; k++)
    {
        const int* v = g->triangle + 3 * g->fan[k];
        for (int c = 0; c < 3; c++)
        {
            vec3 a = v3_sub(g->rest[v[(c + 1) % 3]], g->rest[v[c]]), b = v3_sub(g->rest[v[(c + 2) % 3]], g->rest[v[c]]);
            if (fabs(v3_dot(a, b)) <= even * v3_length(a) * v3_length(b))
            {
                axis[0] = v3_normalize(a);
                axis[1] = v3_normalize(b);
                return true;
            }
        }
    }
    return false;
}

static int compare_doubles(const void* a, const void* b)
{
    double p = *(const double*)a, q = *(const double*)b;
    return (p > q) - (p < q);
}

// The different values of a coordinate; returns how many there are.
static int lines_of(const double* values, int count, double least, double* out)
{
    memcpy(out, values, (size_t)count * sizeof(double));
    qsort(out, (size_t)count, sizeof(double), compare_doubles);
    int kept = 0;
    for (int k = 0; k < count; k++)
    {
        if (kept == 0 || out[k] - out[kept - 1] > least)
        {
            out[kept++] = out[k];
        }
    }
    return kept;
}

static int line_of(const double* lines, int count, double value, double least)
{
    int low = 0, high = count - 1;
    while (low < high)
    {
        int middle = (low + high + 1) / 2;
        lines[middle] <= value + least ? (void)(low = middle) : (void)(high = middle - 1);
    }
    return low;
}

static bool is_flat(sheet* s, const vec3 axis[2], double* size)
{
    vec3 origin = s->g->rest[s->list[0]], normal = v3_cross(axis[0], axis[1]);
    double off = 0.0, most = 0.0;
    for (int k = 0; k < s->count; k++)
    {
        vec3 d = v3_sub(s->g->rest[s->list[k]], origin);
        s->u[k] = v3_dot(d, axis[0]);
        s->v[k] = v3_dot(d, axis[1]);
        off = fmax(off, fabs(v3_dot(d, normal)));
        most = fmax(most, v3_length(d));
    }
    *size = most;
    return off <= even * most;
}

// The rest shapes of triangles are those of the rest pose.
static bool is_true(const sheet* s, double size)
{
    const graph* g = s->g;
    for (int k = 0; k < s->count; k++)
    {
        int a = s->list[k];
        for (int e = g->start[a]; e < g->start[a + 1]; e++)
        {
            if (fabs(v3_length(v3_sub(g->rest[g->other[e]], g->rest[a])) - g->length[e]) > even * size)
            {
                return false;
            }
        }
    }
    return true;
}

static bool is_grid_of(sheet* s)
{
    vec3 axis[2];
    double size;
    if (s->count < 9 || !axes_find(s, axis) || !is_flat(s, axis, &size) || !is_true(s, size))
    {
        return false;
    }
    double least = even * size;
    s->columns = lines_of(s->u, s->count, least, s->column);
    s->rows = lines_of(s->v, s->count, least, s->row);
    if ((int64_t)s->columns * s->rows != s->count)
    {
        return false;
    }
    memset(s->at, -1, (size_t)s->count * sizeof(int));
    for (int k = 0; k < s->count; k++)
    {
        int c = line_of(s->column, s->columns, s->u[k], least), r = line_of(s->row, s->rows, s->v[k], least);
        if (s->at[r * s->columns + c] >= 0)
        {
            return false;
        }
        s->at[r * s->columns + c] = s->list[k];
    }
    return true;
}

// ---- levels

static int vertex_at(const sheet* s, int row, int column)
{
    return s->at[row * s->columns + column];
}

static double apart(const sheet* s, int a, int b)
{
    return v3_length(v3_sub(s->g->rest[b], s->g->rest[a]));
}

// Every second line, and the last.
static int thin_out(int* kept, int count)
{
    int left = 0;
    for (int k = 0; k < count; k++)
    {
        if (k % 2 == 0 || k == count - 1)
        {
            kept[left++] = kept[k];
        }
    }
    return left;
}

static weft_status link_to(const sheet* s, level_parts* p, int a, int b)
{
    return parts_link(p, a, b, apart(s, a, b));
}

// Over two cells along a line, as wide as the cells around it are across.
static weft_status bend_over(const sheet* s, level_parts* p, const int from[2], bool down)
{
    int along = down ? from[0] : from[1], across = down ? from[1] : from[0], axis = down ? 1 : 0;
    const int *lines = s->kept[axis], *others = s->kept[1 - axis];
    if (along + 2 >= s->keep[axis])
    {
        return WEFT_OK;
    }
    int before = others[int_max(across - 1, 0)], after = others[int_min(across + 1, s->keep[1 - axis] - 1)];
    const double* place = down ? s->column : s->row;
    double width = 0.5 * (place[after] - place[before]);
    int a = down ? vertex_at(s, lines[along], others[across]) : vertex_at(s, others[across], lines[along]);
    int b = down ? vertex_at(s, lines[along + 2], others[across]) : vertex_at(s, others[across], lines[along + 2]);
    return parts_bend(p, a, b, apart(s, a, b), width);
}

static weft_status add_links(const sheet* s, level_parts* p)
{
    for (int i = 0; i < s->keep[1]; i++)
    {
        for (int j = 0; j < s->keep[0]; j++)
        {
            int r = s->kept[1][i], c = s->kept[0][j], a = vertex_at(s, r, c);
            bool below = i + 1 < s->keep[1], right = j + 1 < s->keep[0];
            int next_r = below ? s->kept[1][i + 1] : 0, next_c = right ? s->kept[0][j + 1] : 0;
            TRY(right ? link_to(s, p, a, vertex_at(s, r, next_c)) : WEFT_OK);
            TRY(below ? link_to(s, p, a, vertex_at(s, next_r, c)) : WEFT_OK);
            TRY(s->def->bends ? bend_over(s, p, (int[2]){i, j}, false) : WEFT_OK);
            TRY(s->def->bends ? bend_over(s, p, (int[2]){i, j}, true) : WEFT_OK);
            if (!below || !right)
            {
                continue;
            }
            bool down = graph_length(s->g, a, vertex_at(s, r + 1, c + 1)) > 0.0;
            TRY(down ? link_to(s, p, a, vertex_at(s, next_r, next_c))
                     : link_to(s, p, vertex_at(s, r, next_c), vertex_at(s, next_r, c)));
        }
    }
    return WEFT_OK;
}

// The places in a list of lines around one, or twice its own.
static void around(const int* kept, int count, int line, int out[2])
{
    int k = 0;
    while (k + 1 < count && kept[k + 1] <= line)
    {
        k++;
    }
    out[0] = kept[k];
    out[1] = kept[k] == line || k + 1 == count ? kept[k] : kept[k + 1];
}

// Corners of the coarse cell around a place, each once.
static int corners_of(const sheet* s, int row, int column, int* out)
{
    int r[2], c[2], count = 0;
    around(s->kept[1], s->keep[1], row, r);
    around(s->kept[0], s->keep[0], column, c);
    for (int k = 0; k < 4; k++)
    {
        bool again = (k % 2 == 1 && c[1] == c[0]) || (k / 2 == 1 && r[1] == r[0]);
        if (!again)
        {
            out[count++] = vertex_at(s, r[k / 2], c[k % 2]);
        }
    }
    return count;
}

// A pin stays unless a corner that is held by the same stays.
static bool stays(const sheet* s, int vertex, const int* corner, int count)
{
    bool held = false;
    for (int k = 0; k < count; k++)
    {
        held = held || s->def->anchors[corner[k]] == s->def->anchors[vertex];
    }
    return s->def->anchors[vertex] >= 0 && !held;
}

// Vertices of the finer level: `seen` has those of it, and gets those of this one.
static weft_status add_vertices(const sheet* s, level_parts* p, uint8_t* seen)
{
    for (int k = 0; k < s->count; k++)
    {
        int corner[4], vertex = s->at[k], count = corners_of(s, k / s->columns, k % s->columns, corner);
        bool on_grid = count == 1 && corner[0] == vertex;
        if (on_grid || stays(s, vertex, corner, count))
        {
            TRY(parts_vertex(p, vertex));
            for (int c = 0; c < count && !on_grid; c++)
            {
                TRY(link_to(s, p, vertex, corner[c]));
            }
            continue;
        }
        TRY(seen[k] ? parts_into(p, corner[0]) : WEFT_OK);
        for (int c = 0; c < count && seen[k]; c++)
        {
            TRY(parts_parent(p, vertex, corner[c], apart(s, vertex, corner[c])));
        }
        seen[k] = 0;
    }
    return WEFT_OK;
}

static weft_status add_levels(sheet* s, level_parts* parts)
{
    uint8_t* seen = MEM_NEW(s->count, uint8_t);
    weft_status status = seen ? WEFT_OK : WEFT_NO_MEMORY;
    s->keep[0] = s->columns;
    s->keep[1] = s->rows;
    for (int k = 0; k < s->columns; k++)
    {
        s->kept[0][k] = k;
    }
    for (int k = 0; k < s->rows; k++)
    {
        s->kept[1][k] = k;
    }
    seen ? memset(seen, 1, (size_t)s->count) : (void)0;
    for (int l = 1; l < s->def->levels && status == WEFT_OK && int_max(s->keep[0], s->keep[1]) > 2; l++)
    {
        s->keep[0] = thin_out(s->kept[0], s->keep[0]);
        s->keep[1] = thin_out(s->kept[1], s->keep[1]);
        status = add_links(s, &parts[l - 1]);
        status = status == WEFT_OK ? add_vertices(s, &parts[l - 1], seen) : status;
    }
    mem_free(seen);
    return status;
}

weft_status hierarchy_grid(const graph* g, const hierarchy_def* def, int c, level_parts* parts, bool* is_grid)
{
    sheet s = {.g = g, .def = def};
    weft_status status = sheet_begin(&s, c);
    *is_grid = status == WEFT_OK && is_grid_of(&s);
    status = *is_grid ? add_levels(&s, parts) : status;
    sheet_finish(&s);
    return status;
}
