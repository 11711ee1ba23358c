// The bodies as one mesh: vertices and triangles counted through, edges with the triangles on them, connected pieces,
// and which of those are closed. Sides are sorted by two passes of counting sort, so that a million triangles around
// one edge cost no more than others.
#include <string.h>

#include "inspect/frame.h"

// ---- arrays of all bodies

static weft_status model_count(const weft_inspect_body* bodies, inspect_model* m, weft_error* error)
{
    int64_t vertices = 0, triangles = 0;
    for (int k = 0; k < m->body_count; k++)
    {
        WEFT_ASSERT(bodies[k].vertex_count >= 0 && bodies[k].triangle_count >= 0 && bodies[k].segment_count >= 0);
        WEFT_ASSERT(bodies[k].triangles || bodies[k].triangle_count == 0);
        WEFT_ASSERT(bodies[k].segments || bodies[k].segment_count == 0);
        m->first_vertex[k] = (int)vertices;
        m->first_triangle[k] = (int)triangles;
        vertices += bodies[k].vertex_count;
        triangles += (int64_t)bodies[k].triangle_count + bodies[k].segment_count;
        if (vertices > INT32_MAX / 3 || triangles > INT32_MAX / 3)
        {
            return error_set(error, WEFT_BAD_INPUT, NULL, 0, "there are more than %d vertices or triangles",
                             INT32_MAX / 3);
        }
        m->first_segment[k] = (int)triangles - bodies[k].segment_count;
    }
    m->first_vertex[m->body_count] = m->vertex_count = (int)vertices;
    m->first_triangle[m->body_count] = m->triangle_count = (int)triangles;
    return WEFT_OK;
}

static weft_status model_copy_segments(const weft_inspect_body* body, int index, inspect_model* m, weft_error* error)
{
    int first = m->first_segment[index], base = m->first_vertex[index];
    for (int k = 0; k < body->segment_count; k++)
    {
        const int* v = body->segments + 2 * (size_t)k;
        if (v[0] < 0 || v[0] >= body->vertex_count || v[1] < 0 || v[1] >= body->vertex_count)
        {
            return error_set(error, WEFT_BAD_INPUT, NULL, 0, "segment %d of body %d names vertices %d and %d of %d", k,
                             index, v[0], v[1], body->vertex_count);
        }
        int* to = m->triangles + 3 * ((size_t)first + (size_t)k);
        to[0] = base + v[0], to[1] = to[2] = base + v[1];
        m->body_of[first + k] = index;
    }
    return WEFT_OK;
}

static weft_status model_copy_body(const weft_inspect_body* body, int index, inspect_model* m, weft_error* error)
{
    int first = m->first_triangle[index], base = m->first_vertex[index];
    for (int k = 0; k < 3 * body->triangle_count; k++)
    {
        int v = body->triangles[k];
        if (v < 0 || v >= body->vertex_count)
        {
            return error_set(error, WEFT_BAD_INPUT, NULL, 0, "triangle %d of body %d names vertex %d of %d", k / 3,
                             index, v, body->vertex_count);
        }
        m->triangles[3 * (size_t)first + k] = base + v;
        m->body_of[first + k / 3] = index;
    }
    m->obstacle[index] = body->obstacle != 0;
    m->has_rest[index] = body->rest != NULL;
    if (body->rest && body->vertex_count > 0)
    {
        memcpy(m->rest + base, body->rest, (size_t)body->vertex_count * sizeof(vec3));
    }
    return model_copy_segments(body, index, m, error);
}

// ---- sides of triangles, sorted by edge

typedef struct edge_side
{
    int low, high, slot;
} edge_side;

static edge_side side_at(const inspect_model* m, int slot)
{
    const int* t = m->triangles + (size_t)(slot - slot % 3);
    int a = t[(slot + 1) % 3], b = t[(slot + 2) % 3];
    return (edge_side){int_min(a, b), int_max(a, b), slot};
}

// Counts become starts; start is [count + 1].
static void counts_to_starts(int* start, int count)
{
    int sum = 0;
    for (int k = 0; k <= count; k++)
    {
        int here = start[k];
        start[k] = sum;
        sum += here;
    }
}

// by_high and out are [3 * triangle_count], start is [vertex_count + 1].
static void sides_sort_all(const inspect_model* m, int* start, int* by_high, edge_side* out)
{
    int slots = 3 * m->triangle_count;
    size_t start_size = ((size_t)m->vertex_count + 1) * sizeof(int);
    memset(start, 0, start_size);
    for (int s = 0; s < slots; s++)
    {
        start[side_at(m, s).high]++;
    }
    counts_to_starts(start, m->vertex_count);
    for (int s = 0; s < slots; s++)
    {
        by_high[start[side_at(m, s).high]++] = s;
    }
    memset(start, 0, start_size);
    for (int s = 0; s < slots; s++)
    {
        start[side_at(m, s).low]++;
    }
    counts_to_starts(start, m->vertex_count);
    for (int k = 0; k < slots; k++)
    {
        edge_side side = side_at(m, by_high[k]);
        out[start[side.low]++] = side;
    }
}

static bool side_upward(const inspect_model* m, const edge_side* side)
{
    const int* t = m->triangles + (size_t)(side->slot - side->slot % 3);
    return t[(side->slot + 1) % 3] == side->low;
}

// Two sides make mates. Anything but two that run in opposite directions leaves the piece open.
static void model_match_sides(inspect_model* m, const edge_side* side)
{
    int slots = 3 * m->triangle_count;
    memset(m->closed, 1, (size_t)m->piece_count);
    for (int begin = 0, end; begin < slots; begin = end)
    {
        for (end = begin + 1; end < slots && side[end].low == side[begin].low && side[end].high == side[begin].high;)
        {
            end++;
        }
        bool pair = end - begin == 2 && side[begin].low != side[begin].high;
        for (int k = begin; k < end; k++)
        {
            m->mate[side[k].slot] = pair ? side[begin + end - 1 - k].slot : -1;
        }
        if (!pair || side_upward(m, &side[begin]) == side_upward(m, &side[begin + 1]))
        {
            m->closed[m->piece_of[side[begin].slot / 3]] = 0; // all of them have a vertex in common
        }
    }
}

// ---- pieces

static int root_of(int* parent, int v)
{
    while (parent[v] != v)
    {
        parent[v] = parent[parent[v]];
        v = parent[v];
    }
    return v;
}

// The smaller root wins. Pieces are numbered in the order of their first triangles; parent is [vertex_count].
static void model_number_pieces(inspect_model* m, int* parent, int* number)
{
    for (int v = 0; v < m->vertex_count; v++)
    {
        parent[v] = v;
        number[v] = -1;
    }
    for (int k = 0; k < 3 * m->triangle_count; k++)
    {
        int a = root_of(parent, m->triangles[k]), b = root_of(parent, m->triangles[k - k % 3]);
        parent[int_max(a, b)] = int_min(a, b);
    }
    for (int t = 0; t < m->triangle_count; t++)
    {
        int* own = &number[root_of(parent, m->triangles[3 * (size_t)t])];
        *own = *own < 0 ? m->piece_count++ : *own;
        m->piece_of[t] = *own;
    }
}

static void model_sort_pieces(inspect_model* m)
{
    for (int t = 0; t < m->triangle_count; t++)
    {
        m->piece_start[m->piece_of[t]]++;
    }
    counts_to_starts(m->piece_start, m->piece_count);
    for (int t = 0; t < m->triangle_count; t++)
    {
        m->piece_triangles[m->piece_start[m->piece_of[t]]++] = t;
    }
    for (int p = m->piece_count; p > 0; p--)
    {
        m->piece_start[p] = m->piece_start[p - 1];
    }
    m->piece_start[0] = 0;
}

// ---- all together

static bool model_allocate(inspect_model* m)
{
    m->triangles = MEM_NEW(3 * (size_t)m->triangle_count, int);
    m->body_of = MEM_NEW(m->triangle_count, int);
    m->rest = MEM_NEW(m->vertex_count, vec3);
    m->first_use = MEM_NEW(m->vertex_count, int);
    m->mate = MEM_NEW(3 * (size_t)m->triangle_count, int);
    m->piece_of = MEM_NEW(m->triangle_count, int);
    m->piece_start = MEM_NEW((size_t)m->triangle_count + 1, int);
    m->piece_triangles = MEM_NEW(m->triangle_count, int);
    m->closed = MEM_NEW(m->triangle_count, unsigned char);
    return m->triangles && m->body_of && m->rest && m->first_use && m->mate && m->piece_of && m->piece_start &&
           m->piece_triangles && m->closed;
}

static void model_find_uses(inspect_model* m)
{
    for (int v = 0; v < m->vertex_count; v++)
    {
        m->first_use[v] = -1;
    }
    for (int k = 3 * m->triangle_count - 1; k >= 0; k--)
    {
        m->first_use[m->triangles[k]] = k;
    }
}

static weft_status model_connect(inspect_model* m)
{
    size_t slots = 3 * (size_t)m->triangle_count, vertices = (size_t)m->vertex_count + 1;
    int *start = MEM_NEW(vertices, int), *other = MEM_NEW(slots > vertices ? slots : vertices, int);
    edge_side* side = MEM_NEW(slots, edge_side);
    bool room = start && other && side;
    if (room)
    {
        model_number_pieces(m, start, other);
        model_sort_pieces(m);
        model_find_uses(m);
        sides_sort_all(m, start, other, side);
        model_match_sides(m, side);
    }
    mem_free(start);
    mem_free(other);
    mem_free(side);
    return room ? WEFT_OK : WEFT_NO_MEMORY;
}

static double rest_scale(const inspect_model* m)
{
    double largest = 0.0;
    for (int v = 0; v < m->vertex_count; v++)
    {
        vec3 p = m->rest[v];
        double here = fmax(fabs(p.x), fmax(fabs(p.y), fabs(p.z)));
        largest = isfinite(here) && here > largest ? here : largest;
    }
    return largest > 0.0 ? ldexp(1.0, int_max(-1000, int_min(1000, -ilogb(largest)))) : 1.0;
}

static weft_status model_fill(const weft_inspect_body* bodies, inspect_model* m, weft_error* error)
{
    TRY(model_count(bodies, m, error));
    if (!model_allocate(m))
    {
        return error_set(error, WEFT_NO_MEMORY, NULL, 0, "no memory for %d triangles", m->triangle_count);
    }
    for (int k = 0; k < m->body_count; k++)
    {
        TRY(model_copy_body(&bodies[k], k, m, error));
    }
    m->rest_scale = rest_scale(m);
    weft_status status = model_connect(m);
    return status == WEFT_OK
               ? status
               : error_set(error, status, NULL, 0, "no memory to connect %d triangles", m->triangle_count);
}

weft_status model_build(const weft_inspect_body* bodies, int body_count, inspect_model* m, weft_error* error)
{
    *m = (inspect_model){.body_count = body_count};
    m->first_vertex = MEM_NEW((size_t)body_count + 1, int);
    m->first_triangle = MEM_NEW((size_t)body_count + 1, int);
    m->first_segment = MEM_NEW(body_count, int);
    m->obstacle = MEM_NEW(body_count, unsigned char);
    m->has_rest = MEM_NEW(body_count, unsigned char);
    if (!m->first_vertex || !m->first_triangle || !m->first_segment || !m->obstacle || !m->has_rest)
    {
        return error_set(error, WEFT_NO_MEMORY, NULL, 0, "no memory for %d bodies", body_count);
    }
    return model_fill(bodies, m, error);
}

void model_finish(inspect_model* m)
{
    mem_free(m->first_vertex);
    mem_free(m->first_triangle);
    mem_free(m->first_segment);
    mem_free(m->obstacle);
    mem_free(m->has_rest);
    mem_free(m->triangles);
    mem_free(m->body_of);
    mem_free(m->rest);
    mem_free(m->first_use);
    mem_free(m->mate);
    mem_free(m->piece_of);
    mem_free(m->piece_start);
    mem_free(m->piece_triangles);
    mem_free(m->closed);
    *m = (inspect_model){0};
}
