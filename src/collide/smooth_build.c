// The cells of flat bodies at rest (smooth.c has what they are for): planes, grids, which cells are sound.
//
// A cell is sound where the sheet covers it once: no border of the sheet goes through it, except along the sides of the
// rectangle around the whole, and one point of it is in one triangle. As triangles all turn alike, the number of layers
// changes at borders only. Left out: bodies that are not flat at rest, which have no grid; cells with triangles thinner
// than a tenth of an edge.
#include "collide/smooth.h"

#include <string.h>

#include "collide/broad.h"

static const double flat = 1e-9, cell_edges = 2.0, thin = 0.1;

enum
{
    CELLS_A_FACE = 4, // more are not worth it: the body is narrow and aslant
    SIDE_MAX = 30000
};

void smooth_finish(smooth_map* m)
{
    void* const arrays[] = {m->grid,     m->grid_of, m->at,        m->class_at,  m->corner,     m->inverse,
                            m->live,     m->sound,   m->stride_of, m->cell_face, m->cell_start, m->drift,
                            m->gradient, m->spread,  m->window,    m->lean,      m->again};
    for (size_t k = 0; k < sizeof(arrays) / sizeof(arrays[0]); k++)
    {
        mem_free(arrays[k]);
    }
    for (int k = 0; k < 6; k++)
    {
        mem_free(m->mean[k]);
        mem_free(m->normal[k / 2]);
        m->normal[k / 2] = NULL;
    }
    *m = (smooth_map){0};
}

// ---- bodies

// What is known of the bodies at rest while grids are made.
typedef struct rest_bodies
{
    const weft_collider* c;
    const vec3* rest;
    const int* body;
    int vertex_count, body_count;
    int* first_edge;   // [vertices of the collider + 1] of the edges from each to a higher one
    uint8_t* border;   // [edges] not between two triangles that turn alike
    smooth_grid* grid; // [body_count] that of a body; count[0] 0: none
    int* faces;        // [body_count]
    vec3* normal;      // [body_count] twice the area
    double* size;      // [body_count] m
    vec2 *low, *high;  // [body_count] m, in the plane
} rest_bodies;

static const int* face_of(const weft_collider* c, int f)
{
    return c->corner[FEATURE_FACE] + 3 * (size_t)f;
}

static vec3 face_area(const rest_bodies* r, const int* v)
{
    return v3_cross(v3_sub(r->rest[v[1]], r->rest[v[0]]), v3_sub(r->rest[v[2]], r->rest[v[0]]));
}

// Edges are sorted by both ends.
static void find_first_edges(rest_bodies* r)
{
    const weft_collider* c = r->c;
    for (int e = 0; e < c->tree[FEATURE_EDGE].count; e++)
    {
        r->first_edge[c->corner[FEATURE_EDGE][2 * (size_t)e] + 1] = e + 1;
    }
    for (int i = 0; i < c->vertex_count; i++)
    {
        r->first_edge[i + 1] = int_max(r->first_edge[i + 1], r->first_edge[i]);
    }
}

static int edge_number(const rest_bodies* r, int a, int b)
{
    const int* edge = r->c->corner[FEATURE_EDGE];
    int low = int_min(a, b), high = int_max(a, b), e = r->first_edge[low];
    while (edge[2 * (size_t)e + 1] < high)
    {
        e++;
    }
    return e;
}

// Edges that are not passed once in either direction by the triangles beside them; a bit for each direction, and one
// for what is passed twice.
static void find_border(rest_bodies* r)
{
    const weft_collider* c = r->c;
    for (int k = 0; k < 3 * c->tree[FEATURE_FACE].count; k++)
    {
        const int* v = face_of(c, k / 3);
        int a = v[k % 3], b = v[(k + 1) % 3];
        if (a < r->vertex_count)
        {
            uint8_t *seen = &r->border[edge_number(r, a, b)], way = a < b ? 1 : 2;
            *seen |= *seen & way ? 4 : way;
        }
    }
    for (int e = 0; e < c->tree[FEATURE_EDGE].count; e++)
    {
        r->border[e] = r->border[e] != 3;
    }
}

// Normal, size and a side of each body, by its faces.
static void find_planes(rest_bodies* r)
{
    const weft_collider* c = r->c;
    for (int f = 0; f < c->tree[FEATURE_FACE].count; f++)
    {
        const int* v = face_of(c, f);
        if (v[0] < r->vertex_count)
        {
            int body = r->body[v[0]];
            r->normal[body] = v3_add(r->normal[body], face_area(r, v));
            r->grid[body].origin = r->rest[v[0]];
            r->grid[body].axis[0] = v3_sub(r->rest[v[1]], r->rest[v[0]]);
            r->faces[body]++;
        }
    }
    for (int e = 0; e < c->tree[FEATURE_EDGE].count; e++) // a border, where there is one: rectangles lie along it
    {
        const int* v = c->corner[FEATURE_EDGE] + 2 * (size_t)e;
        if (r->border[e] && v[0] < r->vertex_count)
        {
            r->grid[r->body[v[0]]].axis[0] = v3_sub(r->rest[v[1]], r->rest[v[0]]);
        }
    }
    for (int b = 0; b < r->body_count; b++)
    {
        smooth_grid* g = &r->grid[b];
        g->body = b;
        g->axis[0] = v3_normalize(g->axis[0]);
        g->axis[1] = v3_cross(v3_normalize(r->normal[b]), g->axis[0]);
        g->count[0] = r->faces[b] > 0;
        r->low[b] = (vec2){INFINITY, INFINITY};
        r->high[b] = (vec2){-INFINITY, -INFINITY};
    }
}

// Places of vertices in their planes, and bounds.
static void place_vertices(const rest_bodies* r, smooth_map* m)
{
    for (int i = 0; i < r->vertex_count; i++)
    {
        int b = r->body[i];
        const smooth_grid* g = &r->grid[b];
        vec3 d = v3_sub(r->rest[i], g->origin);
        m->at[i] = (vec2){v3_dot(d, g->axis[0]), v3_dot(d, g->axis[1])};
        r->low[b] = (vec2){fmin(r->low[b].x, m->at[i].x), fmin(r->low[b].y, m->at[i].y)};
        r->high[b] = (vec2){fmax(r->high[b].x, m->at[i].x), fmax(r->high[b].y, m->at[i].y)};
        r->size[b] = fmax(r->size[b], v3_length(d));
    }
}

// Bodies that have no grid: what is not flat, turns over, has edges or vertices without triangles, or is no number; and
// what is not to meet itself anyway.
static void refuse_bodies(const rest_bodies* r, const smooth_map* m)
{
    const weft_collider* c = r->c;
    for (int b = 0; b < r->body_count && c->rules.body; b++)
    {
        r->grid[b].count[0] *= cull_bodies_wanted(&c->rules, b, b);
    }
    for (int i = 0; i < r->vertex_count; i++)
    {
        smooth_grid* g = &r->grid[r->body[i]];
        vec3 d = v3_sub(r->rest[i], g->origin);
        double off = v3_dot(d, v3_cross(g->axis[0], g->axis[1]));
        bool fine = fabs(off) <= flat * r->size[g->body] && isfinite(m->at[i].x) && isfinite(m->at[i].y);
        g->count[0] = fine ? g->count[0] : 0;
    }
    for (int f = 0; f < c->tree[FEATURE_FACE].count; f++)
    {
        const int* v = face_of(c, f);
        if (v[0] < r->vertex_count)
        {
            bool fine = v3_dot(face_area(r, v), r->normal[r->body[v[0]]]) > 0.0;
            r->grid[r->body[v[0]]].count[0] *= fine;
        }
    }
}

// Whether the vertex is in a triangle is seen by its edges: those of strands are borders on both sides.
static weft_status refuse_loose(const rest_bodies* r)
{
    const weft_collider* c = r->c;
    uint8_t* held = MEM_NEW(r->vertex_count + 1, uint8_t);
    uint8_t* side = MEM_NEW(c->tree[FEATURE_EDGE].count + 1, uint8_t);
    if (!held || !side)
    {
        mem_free(held);
        mem_free(side);
        return WEFT_NO_MEMORY;
    }
    for (int k = 0; k < 3 * c->tree[FEATURE_FACE].count; k++)
    {
        const int* v = face_of(c, k / 3);
        if (v[0] < r->vertex_count)
        {
            held[v[k % 3]] = 1;
            side[edge_number(r, v[k % 3], v[(k + 1) % 3])] = 1;
        }
    }
    for (int i = 0; i < r->vertex_count; i++)
    {
        r->grid[r->body[i]].count[0] *= held[i];
    }
    for (int e = 0; e < c->tree[FEATURE_EDGE].count; e++)
    {
        int v = c->corner[FEATURE_EDGE][2 * (size_t)e];
        if (v < r->vertex_count)
        {
            r->grid[r->body[v]].count[0] *= side[e];
        }
    }
    mem_free(held);
    mem_free(side);
    return WEFT_OK;
}

// Cells of bodies that are left, packed into the map.
static void lay_grids(const rest_bodies* r, smooth_map* m)
{
    int* number = m->class_at; // of the grid of each body, until its memory is wanted for classes
    for (int b = 0; b < r->body_count; b++)
    {
        smooth_grid g = r->grid[b];
        number[b] = -1;
        double area = 0.5 * v3_length(r->normal[b]), edge = sqrt(2.0 * area / int_max(1, r->faces[b]));
        double size[2] = {r->high[b].x - r->low[b].x, r->high[b].y - r->low[b].y};
        if (g.count[0] == 0 || !(edge > 0.0) || !(size[0] < SIDE_MAX * edge) || !(size[1] < SIDE_MAX * edge))
        {
            continue;
        }
        for (int k = 0; k < 2; k++)
        {
            g.size[k] = size[k];
            g.count[k] = int_max(1, (int)(size[k] / (cell_edges * edge)));
        }
        if ((int64_t)g.count[0] * g.count[1] > (int64_t)CELLS_A_FACE * r->faces[b])
        {
            continue;
        }
        g.origin = v3_madd(v3_madd(g.origin, r->low[b].x, g.axis[0]), r->low[b].y, g.axis[1]);
        g.stride = g.count[0] + SMOOTH_WINDOW;
        g.first = m->cell_count;
        m->cell_count += g.stride * (g.count[1] + SMOOTH_WINDOW);
        m->live_count += g.count[0] * g.count[1];
        number[b] = m->grid_count;
        m->grid[m->grid_count++] = g;
    }
    for (int i = 0; i < r->c->vertex_count; i++)
    {
        int b = i < r->vertex_count ? r->body[i] : -1;
        m->grid_of[i] = b < 0 ? -1 : number[b];
        m->at[i] = b < 0 ? (vec2){0} : (vec2){m->at[i].x - r->low[b].x, m->at[i].y - r->low[b].y};
    }
}

// ---- cells

static int cell_along(const smooth_grid* g, int axis, double at)
{
    int cell = (int)(at / g->size[axis] * g->count[axis]);
    return int_max(0, int_min(g->count[axis] - 1, cell));
}

// All cells that the rectangle around some vertices has a part of, and those within `more`, in sizes of the whole.
static smooth_rect rect_of(const smooth_map* m, const int* vertex, int count, double more)
{
    int grid = m->grid_of[vertex[0]];
    vec2 low = m->at[vertex[0]], high = low;
    for (int k = 1; k < count; k++)
    {
        vec2 at = m->at[vertex[k]];
        grid = m->grid_of[vertex[k]] == grid ? grid : -1;
        low = (vec2){at.x < low.x ? at.x : low.x, at.y < low.y ? at.y : low.y};
        high = (vec2){at.x > high.x ? at.x : high.x, at.y > high.y ? at.y : high.y};
    }
    if (grid < 0)
    {
        return (smooth_rect){.grid = -1};
    }
    const smooth_grid* g = &m->grid[grid];
    double x = more * g->size[0], y = more * g->size[1];
    return (smooth_rect){grid,
                         {(int16_t)cell_along(g, 0, low.x - x), (int16_t)cell_along(g, 1, low.y - y)},
                         {(int16_t)cell_along(g, 0, high.x + x), (int16_t)cell_along(g, 1, high.y + y)}};
}

smooth_rect smooth_rect_of(const smooth_map* m, const int* vertex, int count)
{
    return rect_of(m, vertex, count, 0.0);
}

void smooth_rect_join(smooth_rect* a, const smooth_rect* b)
{
    a->grid = a->grid == b->grid ? a->grid : -1;
    for (int k = 0; k < 2; k++)
    {
        a->low[k] = a->low[k] < b->low[k] ? a->low[k] : b->low[k];
        a->high[k] = a->high[k] > b->high[k] ? a->high[k] : b->high[k];
    }
}

// What is not sound is never measured.
static void spoil_cells(smooth_map* m, const smooth_rect* rect)
{
    for (int row = rect->low[1]; row <= rect->high[1]; row++)
    {
        for (int column = rect->low[0]; column <= rect->high[0]; column++)
        {
            int cell = smooth_cell(&m->grid[rect->grid], column, row);
            m->sound[cell] = 0;
            m->spread[cell] = INFINITY;
        }
    }
}

// Both ends are on the same side of the rectangle around the body.
static bool on_outside(const smooth_map* m, const int* v)
{
    const smooth_grid* g = &m->grid[m->grid_of[v[0]]];
    const double a[2] = {m->at[v[0]].x, m->at[v[0]].y}, b[2] = {m->at[v[1]].x, m->at[v[1]].y};
    bool on = false;
    for (int k = 0; k < 2; k++)
    {
        double least = flat * g->size[k];
        on = on || (fabs(a[k]) <= least && fabs(b[k]) <= least);
        on = on || (fabs(a[k] - g->size[k]) <= least && fabs(b[k] - g->size[k]) <= least);
    }
    return on;
}

void smooth_spoil(smooth_map* m, const int* edge)
{
    if (m->grid_of[edge[0]] >= 0 && !on_outside(m, edge))
    {
        smooth_rect rect = rect_of(m, edge, 2, 1e-6);
        spoil_cells(m, &rect);
    }
}

static void spoil_borders(const rest_bodies* r, smooth_map* m)
{
    for (int e = 0; e < r->c->tree[FEATURE_EDGE].count; e++)
    {
        const int* v = r->c->corner[FEATURE_EDGE] + 2 * (size_t)e;
        r->border[e] ? smooth_spoil(m, v) : (void)0;
    }
}

static double cross2(vec2 a, vec2 b)
{
    return a.x * b.y - a.y * b.x;
}

static vec2 sub2(vec2 a, vec2 b)
{
    return (vec2){a.x - b.x, a.y - b.y};
}

// 1: the point is inside, 0: outside, 2: on a side, nearly.
static int point_in_face(const smooth_map* m, const int* v, vec2 p)
{
    double area = cross2(sub2(m->at[v[1]], m->at[v[0]]), sub2(m->at[v[2]], m->at[v[0]]));
    int inside = 1;
    for (int k = 0; k < 3; k++)
    {
        vec2 a = m->at[v[k]], b = m->at[v[(k + 1) % 3]];
        double part = cross2(sub2(b, a), sub2(p, a)) / area;
        inside = part < -1e-9 ? 0 : part < 1e-9 && inside ? 2 : inside;
    }
    return inside;
}

// A point somewhere in the cell, on no line of a regular mesh, must be in one triangle.
static void check_layers(smooth_map* m)
{
    const double aside[2] = {0.41731, 0.28914};
    for (int grid = 0; grid < m->grid_count; grid++)
    {
        const smooth_grid* g = &m->grid[grid];
        for (int k = 0; k < g->count[0] * g->count[1]; k++)
        {
            int column = k % g->count[0], row = k / g->count[0], cell = smooth_cell(g, column, row), layers = 0;
            vec2 p = {(column + aside[0]) * g->size[0] / g->count[0], (row + aside[1]) * g->size[1] / g->count[1]};
            for (int f = m->cell_start[cell]; f < m->cell_start[cell + 1]; f++)
            {
                layers += point_in_face(m, m->corner + 3 * (size_t)m->cell_face[f], p);
            }
            m->sound[cell] = m->sound[cell] && layers == 1;
        }
    }
}

// The inverse of the matrix of two sides; false: it is too thin.
static bool invert_face(const smooth_map* m, const int* v, double least, double* inverse, double* altitude)
{
    vec2 a = sub2(m->at[v[1]], m->at[v[0]]), b = sub2(m->at[v[2]], m->at[v[0]]), c = sub2(b, a);
    double area = cross2(a, b), longest = fmax(hypot(a.x, a.y), fmax(hypot(b.x, b.y), hypot(c.x, c.y)));
    inverse[0] = b.y / area;
    inverse[1] = -b.x / area;
    inverse[2] = -a.y / area;
    inverse[3] = a.x / area;
    *altitude = area / longest;
    return *altitude >= least;
}

// Faces of grids, with their cells: counted, then put in place.
static void fill_faces(const rest_bodies* r, smooth_map* m)
{
    m->altitude = INFINITY;
    for (int f = 0, at = 0; f < r->c->tree[FEATURE_FACE].count; f++)
    {
        const int* v = face_of(r->c, f);
        if (m->grid_of[v[0]] < 0)
        {
            continue;
        }
        const smooth_grid* g = &m->grid[m->grid_of[v[0]]];
        smooth_rect rect = rect_of(m, v, 3, 0.0);
        double altitude, edge = fmin(g->size[0] / g->count[0], g->size[1] / g->count[1]) / cell_edges;
        memcpy(m->corner + 3 * (size_t)at, v, 3 * sizeof(int));
        if (invert_face(m, v, thin * edge, m->inverse + 4 * (size_t)at++, &altitude))
        {
            m->altitude = fmin(m->altitude, altitude);
        }
        else
        {
            spoil_cells(m, &rect);
        }
    }
}

static void fill_cells(smooth_map* m, bool count)
{
    for (int f = 0; f < m->face_count; f++)
    {
        smooth_rect rect = rect_of(m, m->corner + 3 * (size_t)f, 3, 0.0);
        for (int row = rect.low[1]; row <= rect.high[1]; row++)
        {
            for (int column = rect.low[0]; column <= rect.high[0]; column++)
            {
                int cell = smooth_cell(&m->grid[rect.grid], column, row);
                if (count)
                {
                    m->cell_start[cell + 2]++;
                }
                else
                {
                    m->cell_face[m->cell_start[cell + 1]++] = f;
                }
            }
        }
    }
}

static void list_live(smooth_map* m)
{
    int at = 0;
    for (int grid = 0; grid < m->grid_count; grid++)
    {
        const smooth_grid* g = &m->grid[grid];
        for (int k = 0; k < g->count[0] * g->count[1]; k++)
        {
            m->live[at] = smooth_cell(g, k % g->count[0], k / g->count[0]);
            m->stride_of[at++] = g->stride;
        }
    }
    for (int k = 0; k < m->cell_count + SMOOTH_WINDOW; k++)
    {
        m->spread[k] = INFINITY;
    }
}

static weft_status make_arrays(const rest_bodies* r, smooth_map* m)
{
    for (int f = 0; f < r->c->tree[FEATURE_FACE].count; f++)
    {
        m->face_count += m->grid_of[face_of(r->c, f)[0]] >= 0;
    }
    m->corner = MEM_NEW(3 * (size_t)m->face_count, int);
    m->inverse = MEM_NEW(4 * (size_t)m->face_count, double);
    m->gradient = (float(*)[6])mem_alloc((size_t)m->face_count, sizeof(m->gradient[0]));
    m->drift = MEM_NEW(m->face_count, float);
    m->live = MEM_NEW(m->live_count, int);
    m->stride_of = MEM_NEW(m->live_count, int);
    m->cell_start = MEM_NEW(m->cell_count + 2, int);
    m->sound = MEM_NEW(m->cell_count, uint8_t);
    m->spread = MEM_NEW(m->cell_count + SMOOTH_WINDOW, float);
    m->lean = MEM_NEW(m->cell_count + SMOOTH_WINDOW, float);
    m->window = MEM_NEW(m->cell_count, uint64_t);
    m->again = MEM_NEW(m->cell_count, uint64_t);
    bool room = m->corner && m->inverse && m->gradient && m->drift && m->live && m->stride_of && m->cell_start &&
                m->sound && m->spread && m->lean && m->window && m->again;
    for (int k = 0; k < 3; k++)
    {
        m->normal[k] = MEM_NEW(m->cell_count + SMOOTH_WINDOW, float);
        room = room && m->normal[k];
    }
    for (int k = 0; k < 6; k++)
    {
        m->mean[k] = MEM_NEW(m->cell_count + SMOOTH_WINDOW, float);
        room = room && m->mean[k];
    }
    return room ? WEFT_OK : WEFT_NO_MEMORY;
}

static bool finish_map(const rest_bodies* r, smooth_map* m)
{
    memset(m->sound, 1, (size_t)m->cell_count);
    fill_faces(r, m);
    fill_cells(m, true);
    for (int k = 0; k < m->cell_count; k++)
    {
        m->cell_start[k + 2] += m->cell_start[k + 1];
    }
    m->cell_face = MEM_NEW(m->cell_start[m->cell_count + 1], int);
    if (!m->cell_face)
    {
        return false;
    }
    fill_cells(m, false);
    spoil_borders(r, m);
    check_layers(m);
    list_live(m);
    return true;
}

// ---- the whole

static weft_status build(rest_bodies* r, smooth_map* m)
{
    int bodies = r->body_count, edges = r->c->tree[FEATURE_EDGE].count;
    r->border = MEM_NEW(edges, uint8_t);
    r->first_edge = MEM_NEW(r->c->vertex_count + 1, int);
    r->grid = MEM_NEW(bodies, smooth_grid);
    r->faces = MEM_NEW(bodies, int);
    r->normal = MEM_NEW(bodies, vec3);
    r->size = MEM_NEW(bodies, double);
    r->low = MEM_NEW(bodies, vec2);
    r->high = MEM_NEW(bodies, vec2);
    m->grid = MEM_NEW(bodies, smooth_grid);
    m->grid_of = MEM_NEW(r->c->vertex_count, int);
    m->at = MEM_NEW(r->c->vertex_count, vec2);
    m->class_at = MEM_NEW(bodies + 3, int);
    if (!r->border || !r->first_edge || !r->grid || !r->faces || !r->normal || !r->size || !r->low || !r->high ||
        !m->grid || !m->grid_of || !m->at || !m->class_at)
    {
        return WEFT_NO_MEMORY;
    }
    find_first_edges(r);
    find_border(r);
    find_planes(r);
    place_vertices(r, m);
    refuse_bodies(r, m);
    TRY(refuse_loose(r));
    lay_grids(r, m);
    TRY(make_arrays(r, m));
    return finish_map(r, m) ? WEFT_OK : WEFT_NO_MEMORY;
}

weft_status smooth_attach(weft_collider* c, int kind)
{
    bvh* tree = &c->tree[kind];
    mem_free(tree->rect);
    tree->rect = MEM_NEW(tree->node_capacity, smooth_rect);
    tree->smooth = tree->rect ? &c->smooth : NULL;
    return tree->rect ? WEFT_OK : WEFT_NO_MEMORY;
}

weft_status collider_learn_rest(weft_collider* c, const vec3* rest, const int* body, int vertex_count, int body_count)
{
    rest_bodies r = {.c = c, .rest = rest, .body = body, .vertex_count = vertex_count, .body_count = body_count};
    smooth_map* m = &c->smooth;
    smooth_finish(m);
    weft_status status = build(&r, m);
    for (int kind = 0; kind < FEATURE_KINDS && status == WEFT_OK; kind++)
    {
        status = smooth_attach(c, kind);
    }
    c->build_count = 0; // in another order
    status = status == WEFT_OK ? extender_build(c) : status;
    mem_free(r.border);
    mem_free(r.first_edge);
    mem_free(r.grid);
    mem_free(r.faces);
    mem_free(r.normal);
    mem_free(r.size);
    mem_free(r.low);
    mem_free(r.high);
    return status;
}
