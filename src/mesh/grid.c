// Rectangles, L shapes and tubes as grids, regular or irregular.
//
// Regular cells are all split along the diagonal from (u, v) to (u + 1, v + 1). Irregular grids move each interior
// vertex by up to a quarter of a cell in either direction and split each cell along a random diagonal; where that would
// give a thin triangle, the better diagonal is taken. Vertices on the outline, the edges of the cut-out included, stay.
// Every random number depends on the seed and the place in the full rectangle alone, so that an L is a part of its
// square. A tube is the rectangle rolled up: its last column of cells ends at the first column of vertices.
#include "mesh/mesh_inside.h"

#define JITTER 0.25          // of a cell, either way
#define DIAGONAL_QUALITY 0.4 // below it the better diagonal is taken; 1 is equilateral, 0.87 half a square
#define SIZE_MIN 1e-9        // m

enum
{
    CELLS_MAX = 32767,         // along one side
    TUBE_CELLS_MIN = 3,        // around
    CELLS_TOTAL_MAX = 67108864 // 8192 x 8192
};

// What a random number decides; three for each place of the grid.
enum
{
    RANDOM_U,
    RANDOM_V,
    RANDOM_DIAGONAL,
    RANDOM_COUNT
};

static double grid_random(const grid_options* o, int i, int j, int what)
{
    int column = o->tube ? i % o->cells_u : i; // the seam is one column
    uint64_t place = (uint64_t)j * (uint64_t)(o->cells_u + 1) + (uint64_t)column;
    return random_unit(o->seed, RANDOM_COUNT * place + (uint64_t)what);
}

static weft_status grid_check(const grid_options* o, weft_error* error)
{
    double sizes[2] = {o->size_u, o->size_v};
    int cells[2] = {o->cells_u, o->cells_v};
    for (int k = 0; k < 2; k++)
    {
        if (!(sizes[k] >= SIZE_MIN && sizes[k] <= COORDINATE_MAX))
        {
            return error_set(error, WEFT_BAD_INPUT, NULL, 0,
                             "the grid's size %g m is out of range: both sides must be from %g to %g m", sizes[k],
                             SIZE_MIN, COORDINATE_MAX);
        }
        if (cells[k] < 1 || cells[k] > CELLS_MAX)
        {
            return error_set(error, WEFT_BAD_INPUT, NULL, 0,
                             "the grid's %d cells are out of range: give 1 to %d cells a side", cells[k], CELLS_MAX);
        }
        if (o->l_shape && cells[k] % 2 != 0)
        {
            return error_set(error, WEFT_BAD_INPUT, NULL, 0,
                             "an L needs an even number of cells a side, because a quarter is cut out: use %d or %d "
                             "instead of %d",
                             cells[k] > 1 ? cells[k] - 1 : 2, cells[k] + 1, cells[k]);
        }
    }
    if (o->tube && o->cells_u < TUBE_CELLS_MIN)
    {
        return error_set(error, WEFT_BAD_INPUT, NULL, 0, "a tube needs at least %d cells around, not %d",
                         TUBE_CELLS_MIN, o->cells_u);
    }
    if ((int64_t)o->cells_u * o->cells_v > CELLS_TOTAL_MAX)
    {
        return error_set(error, WEFT_BAD_INPUT, NULL, 0, "the grid has %lld cells: at most %d in all are possible",
                         (long long)o->cells_u * o->cells_v, CELLS_TOTAL_MAX);
    }
    return WEFT_OK;
}

static bool grid_has_vertex(const grid_options* o, int i, int j)
{
    return o->tube ? i < o->cells_u : !o->l_shape || i <= o->cells_u / 2 || j <= o->cells_v / 2;
}

static bool grid_has_cell(const grid_options* o, int i, int j)
{
    return !o->l_shape || i < o->cells_u / 2 || j < o->cells_v / 2;
}

static unsigned char grid_edge_mask(const grid_options* o, int i, int j)
{
    int mask = o->tube ? 0 : (i == 0 ? EDGE_LEFT : 0) | (i == o->cells_u ? EDGE_RIGHT : 0);
    mask |= (j == 0 ? EDGE_BOTTOM : 0) | (j == o->cells_v ? EDGE_TOP : 0);
    int half_u = o->cells_u / 2, half_v = o->cells_v / 2;
    if (o->l_shape && ((i == half_u && j >= half_v) || (j == half_v && i >= half_u)))
    {
        mask |= EDGE_CUTOUT;
    }
    return (unsigned char)mask;
}

// Where vertex (i, j) lies, in cells.
static vec2 grid_place(const grid_options* o, int i, int j)
{
    vec2 place = {i, j};
    if (o->irregular && grid_edge_mask(o, i, j) == 0)
    {
        place.x += JITTER * (2.0 * grid_random(o, i, j, RANDOM_U) - 1.0);
        place.y += JITTER * (2.0 * grid_random(o, i, j, RANDOM_V) - 1.0);
    }
    return place;
}

// u and v, from the middle of the rectangle, in space.
static vec3 grid_position(const grid_options* o, double u, double v)
{
    if (o->tube)
    {
        double top = o->size_u / (2.0 * PI), angle = u / top;
        double radius = top + o->flare * (0.5 - v / o->size_v) / (2.0 * PI);
        vec3 x = v3(radius * sin(angle), v, radius * cos(angle));
        return o->upright ? x : v3(x.x, x.z, 0.0 - x.y);
    }
    return o->upright ? v3(u, v, 0.0) : v3(u, 0.0, 0.0 - v);
}

// number is [(cells_u + 1) * (cells_v + 1)]: the vertex at each place, -1 in the cut-out.
static void grid_fill_vertices(const grid_options* o, int* number, mesh* m)
{
    int v = 0;
    for (int j = 0; j <= o->cells_v; j++)
    {
        for (int i = 0; i <= o->cells_u; i++)
        {
            int place_index = j * (o->cells_u + 1) + i;
            number[place_index] = -1;
            if (!grid_has_vertex(o, i, j))
            {
                continue;
            }
            vec2 place = grid_place(o, i, j);
            m->position[v] =
                grid_position(o, o->size_u * (place.x / o->cells_u - 0.5), o->size_v * (place.y / o->cells_v - 0.5));
            m->edge_mask[v] = grid_edge_mask(o, i, j);
            number[place_index] = v++;
        }
        if (o->tube)
        {
            number[j * (o->cells_u + 1) + o->cells_u] = number[j * (o->cells_u + 1)];
        }
    }
}

// 4 sqrt(3) area / (sum of squared sides): 1 for an equilateral triangle, negative when turned over.
static double grid_quality(vec2 a, vec2 b, vec2 c)
{
    double bx = b.x - a.x, by = b.y - a.y, cx = c.x - a.x, cy = c.y - a.y;
    double dx = c.x - b.x, dy = c.y - b.y;
    return 2.0 * sqrt(3.0) * (bx * cy - by * cx) / (bx * bx + by * by + cx * cx + cy * cy + dx * dx + dy * dy);
}

// Whether cell (i, j) is split along its rising diagonal, from corner 0 to corner 2.
static bool grid_rising(const grid_options* o, int i, int j)
{
    if (!o->irregular)
    {
        return true;
    }
    vec2 p[4] = {grid_place(o, i, j), grid_place(o, i + 1, j), grid_place(o, i + 1, j + 1), grid_place(o, i, j + 1)};
    double rising = fmin(grid_quality(p[0], p[1], p[2]), grid_quality(p[0], p[2], p[3]));
    double falling = fmin(grid_quality(p[0], p[1], p[3]), grid_quality(p[1], p[2], p[3]));
    bool wanted = grid_random(o, i, j, RANDOM_DIAGONAL) < 0.5;
    bool good = (wanted ? rising : falling) >= DIAGONAL_QUALITY;
    return good ? wanted : rising >= falling;
}

// Two triangles of cell (i, j) with corners c, each starting at the cell's lower or left corner.
static void grid_split_cell(const grid_options* o, int i, int j, const int* c, int* out)
{
    static const int splits[2][6] = {{0, 1, 3, 1, 2, 3}, {0, 1, 2, 0, 2, 3}};
    const int* split = splits[grid_rising(o, i, j)];
    for (int k = 0; k < 6; k++)
    {
        out[k] = c[split[k]];
    }
}

static void grid_fill_faces(const grid_options* o, const int* number, mesh* m)
{
    int corners = o->quads ? 4 : 3;
    int written = 0;
    for (int j = 0; j < o->cells_v; j++)
    {
        for (int i = 0; i < o->cells_u; i++)
        {
            if (!grid_has_cell(o, i, j))
            {
                continue;
            }
            const int* low = number + j * (o->cells_u + 1) + i;
            const int* high = low + o->cells_u + 1;
            int c[4] = {low[0], low[1], high[1], high[0]};
            int* out = m->face_vertex + written;
            if (o->quads)
            {
                out[0] = c[0], out[1] = c[1], out[2] = c[2], out[3] = c[3];
            }
            else
            {
                grid_split_cell(o, i, j, c, out);
            }
            written += o->quads ? 4 : 6;
        }
    }
    for (int face = 0; face <= m->face_count; face++)
    {
        m->face_start[face] = corners * face;
    }
}

weft_status mesh_from_grid(const grid_options* options, mesh* out, weft_error* error)
{
    WEFT_ASSERT(options && out);
    *out = (mesh){0};
    TRY(grid_check(options, error));
    int cells_u = options->cells_u, cells_v = options->cells_v;
    int cut = options->l_shape ? (cells_u / 2) * (cells_v / 2) : 0; // as many vertices as cells are cut out
    int cell_count = cells_u * cells_v - cut;
    int place_count = (cells_u + 1) * (cells_v + 1);
    out->vertex_count = place_count - cut - (options->tube ? cells_v + 1 : 0);
    out->face_count = options->quads ? cell_count : 2 * cell_count;

    int* number = MEM_NEW(place_count, int);
    out->position = MEM_NEW(out->vertex_count, vec3);
    out->edge_mask = MEM_NEW(out->vertex_count, unsigned char);
    out->face_start = MEM_NEW(out->face_count + 1, int);
    out->face_vertex = MEM_NEW((options->quads ? 4 : 6) * cell_count, int);
    if (!number || !out->position || !out->edge_mask || !out->face_start || !out->face_vertex)
    {
        weft_status status = mesh_no_memory(out, error);
        mem_free(number);
        mesh_finish(out);
        return status;
    }
    grid_fill_vertices(options, number, out);
    grid_fill_faces(options, number, out);
    mem_free(number);
    return WEFT_OK;
}
