// How triangles hang together: their sides sorted by edge, and the checks that make them a surface.
//
// Sides are sorted by two passes of counting sort, first by the high and then by the low vertex: linear time whatever
// the number of triangles around a vertex. Orientation is spread from triangle to triangle over shared edges; in each
// connected piece the smaller side is turned over. A Moebius strip has no such choice.
#include "mesh/mesh_inside.h"

// Turns counts [n + 1] into starts.
static void starts_from_counts(int* count, int n)
{
    int sum = 0;
    for (int k = 0; k <= n; k++)
    {
        int here = count[k];
        count[k] = sum;
        sum += here;
    }
}

static side side_of_slot(const int* triangle, int slot)
{
    int t = slot / 3, k = slot % 3;
    int a = triangle[3 * t + (k + 1) % 3], b = triangle[3 * t + (k + 2) % 3];
    return (side){int_min(a, b), int_max(a, b), slot};
}

// by_high and sides are [3 * triangle_count]; start is [vertex_count + 1], zeroed.
static void sides_sort(const int* triangle, int slot_count, int vertex_count, int* start, int* by_high, side* sides)
{
    for (int slot = 0; slot < slot_count; slot++)
    {
        start[side_of_slot(triangle, slot).high]++;
    }
    starts_from_counts(start, vertex_count);
    for (int slot = 0; slot < slot_count; slot++)
    {
        by_high[start[side_of_slot(triangle, slot).high]++] = slot;
    }
    for (int v = 0; v <= vertex_count; v++)
    {
        start[v] = 0;
    }
    for (int slot = 0; slot < slot_count; slot++)
    {
        start[side_of_slot(triangle, slot).low]++;
    }
    starts_from_counts(start, vertex_count);
    for (int k = 0; k < slot_count; k++)
    {
        side s = side_of_slot(triangle, by_high[k]);
        sides[start[s.low]++] = s;
    }
}

weft_status sides_build(const int* triangle, int triangle_count, int vertex_count, side** out)
{
    WEFT_ASSERT(triangle_count <= COUNT_MAX);
    int slot_count = 3 * triangle_count;
    int* start = MEM_NEW((size_t)vertex_count + 1, int);
    int* by_high = MEM_NEW(slot_count, int);
    *out = MEM_NEW(slot_count, side);
    bool room = start && by_high && *out;
    if (room)
    {
        sides_sort(triangle, slot_count, vertex_count, start, by_high, *out);
    }
    else
    {
        mem_free(*out);
        *out = NULL;
    }
    mem_free(start);
    mem_free(by_high);
    return room ? WEFT_OK : WEFT_NO_MEMORY;
}

static weft_status topology_refuse_repeated(const mesh* m, int face, int other, weft_error* error)
{
    char first[LABEL_SIZE], second[LABEL_SIZE];
    if (face == other)
    {
        return error_set(error, WEFT_BAD_INPUT, m->file, mesh_face_line(m, face),
                         "%s folds back onto itself: split it in the modelling program",
                         mesh_face_label(m, face, first));
    }
    return error_set(error, WEFT_BAD_INPUT, m->file, mesh_face_line(m, other),
                     "%s covers the same three vertices as %s: remove one of the two", mesh_face_label(m, other, first),
                     mesh_face_label(m, face, second));
}

static weft_status topology_refuse_crowded(const mesh* m, const side* sides, int count, weft_error* error)
{
    char label[3][LABEL_SIZE];
    int base = m->file ? 1 : 0;
    for (int k = 0; k < 3; k++)
    {
        mesh_face_label(m, m->triangle_face[sides[k].slot / 3], label[k]);
    }
    return error_set(
        error, WEFT_BAD_INPUT, m->file, mesh_face_line(m, m->triangle_face[sides[2].slot / 3]),
        "the edge between vertices %d and %d is in %d triangles (%s, %s, %s%s), but cloth has at most two on "
        "an edge: remove faces or separate the parts",
        sides[0].low + base, sides[0].high + base, count, label[0], label[1], label[2], count > 3 ? ", ..." : "");
}

// One edge with its `count` sides.
static weft_status topology_check_edge(const mesh* m, const side* sides, int count, weft_error* error)
{
    for (int k = 1; k < count; k++)
    {
        if (m->triangle[sides[k].slot] == m->triangle[sides[k - 1].slot])
        {
            int face = m->triangle_face[sides[k - 1].slot / 3], other = m->triangle_face[sides[k].slot / 3];
            return topology_refuse_repeated(m, face, other, error);
        }
    }
    return count > 2 ? topology_refuse_crowded(m, sides, count, error) : WEFT_OK;
}

// mate is [3 * triangle_count]: the other side of the same edge, -1 on the boundary. *out_agree: no two triangles run
// through an edge in the same direction.
static weft_status topology_pair(const mesh* m, const side* sides, int* mate, bool* out_agree, weft_error* error)
{
    *out_agree = true;
    int slot_count = 3 * m->triangle_count;
    for (int k = 0, count; k < slot_count; k += count)
    {
        count = sides_on_edge(sides, k, slot_count);
        TRY(topology_check_edge(m, sides + k, count, error));
        mate[sides[k].slot] = count == 2 ? sides[k + 1].slot : -1;
        if (count == 2)
        {
            mate[sides[k + 1].slot] = sides[k].slot;
            *out_agree &= side_runs_up(m->triangle, sides[k]) != side_runs_up(m->triangle, sides[k + 1]);
        }
    }
    return WEFT_OK;
}

static bool slots_agree(const int* triangle, int slot, int mate)
{
    side a = side_of_slot(triangle, slot), b = side_of_slot(triangle, mate);
    return side_runs_up(triangle, a) != side_runs_up(triangle, b);
}

static weft_status topology_refuse_twisted(const mesh* m, int slot, int mate, weft_error* error)
{
    char first[LABEL_SIZE], second[LABEL_SIZE];
    int face = m->triangle_face[slot / 3], other = m->triangle_face[mate / 3];
    return error_set(
        error, WEFT_BAD_INPUT, m->file, mesh_face_line(m, other),
        "the surface is one-sided (like a Moebius strip): no way of turning faces over makes %s and %s agree; "
        "cut the mesh open there",
        mesh_face_label(m, face, first), mesh_face_label(m, other, second));
}

// What spreading orientation over one connected piece needs and finds.
typedef struct spread
{
    const int* mate;  // [3 * triangle_count]
    signed char* way; // [triangle_count] 0: not reached, 1: as it is, -1: to be turned over
    int* queue;       // [triangle_count] triangles in order of arrival
} spread;

// Reaches the piece of the first triangle; *out_count triangles are in the queue then.
static weft_status spread_piece(const mesh* m, spread* s, int first, int* out_count, weft_error* error)
{
    int count = 0;
    s->queue[count++] = first;
    s->way[first] = 1;
    for (int k = 0; k < count; k++)
    {
        int t = s->queue[k];
        for (int slot = 3 * t; slot < 3 * t + 3; slot++)
        {
            int mate = s->mate[slot];
            if (mate < 0)
            {
                continue;
            }
            signed char way = slots_agree(m->triangle, slot, mate) ? s->way[t] : (signed char)-s->way[t];
            if (s->way[mate / 3] == 0)
            {
                s->way[mate / 3] = way;
                s->queue[count++] = mate / 3;
            }
            else if (s->way[mate / 3] != way)
            {
                return topology_refuse_twisted(m, slot, mate, error);
            }
        }
    }
    *out_count = count;
    return WEFT_OK;
}

// Fewer triangles shall turn; the piece's first decides a tie.
static void spread_prefer_fewer(spread* s, int count)
{
    int turned = 0;
    for (int k = 0; k < count; k++)
    {
        turned += s->way[s->queue[k]] < 0;
    }
    if (2 * (int64_t)turned > count)
    {
        for (int k = 0; k < count; k++)
        {
            s->way[s->queue[k]] = (signed char)-s->way[s->queue[k]];
        }
    }
}

static void swap_ints(int* a, int* b)
{
    int c = *a;
    *a = *b;
    *b = c;
}

// Reverses a face behind its first corner.
static void face_turn_over(mesh* m, int face)
{
    for (int i = m->face_start[face] + 1, j = m->face_start[face + 1] - 1; i < j; i++, j--)
    {
        swap_ints(&m->face_vertex[i], &m->face_vertex[j]);
        if (m->face_texcoord)
        {
            swap_ints(&m->face_texcoord[i], &m->face_texcoord[j]);
        }
        if (m->face_given)
        {
            swap_ints(&m->face_given[i], &m->face_given[j]);
        }
    }
}

// Follows its face: swaps two corners and finds where each corner went.
static void triangle_turn_over(mesh* m, int t)
{
    int begin = m->face_start[m->triangle_face[t]];
    int count = m->face_start[m->triangle_face[t] + 1] - begin;
    swap_ints(&m->triangle[3 * t + 1], &m->triangle[3 * t + 2]);
    swap_ints(&m->triangle_corner[3 * t + 1], &m->triangle_corner[3 * t + 2]);
    for (int k = 3 * t; k < 3 * t + 3; k++)
    {
        m->triangle_corner[k] = begin + (count - (m->triangle_corner[k] - begin)) % count;
    }
}

// The triangles of a face follow each other and always turn together: they agree on its diagonals.
static void topology_turn_over(mesh* m, const signed char* way)
{
    int turned = 0, first = -1;
    for (int t = 0; t < m->triangle_count; t++)
    {
        if (way[t] > 0)
        {
            continue;
        }
        int face = m->triangle_face[t];
        if (t == 0 || m->triangle_face[t - 1] != face)
        {
            face_turn_over(m, face);
            first = turned++ == 0 ? face : first;
        }
        triangle_turn_over(m, t);
    }
    char label[LABEL_SIZE];
    log_warning("%s:%d: %s%s against its neighbours; %d of %d faces were turned over", m->file ? m->file : "mesh",
                mesh_face_line(m, first), mesh_face_label(m, first, label),
                turned > 1 ? " is the first that runs" : " runs", turned, m->face_count);
}

static weft_status topology_orient(mesh* m, const int* mate, weft_error* error)
{
    spread s = {mate, MEM_NEW(m->triangle_count, signed char), MEM_NEW(m->triangle_count, int)};
    weft_status status = s.way && s.queue ? WEFT_OK : mesh_no_memory(m, error);
    for (int t = 0; t < m->triangle_count && status == WEFT_OK; t++)
    {
        int count = 0;
        if (s.way[t] == 0)
        {
            status = spread_piece(m, &s, t, &count, error);
            spread_prefer_fewer(&s, count);
        }
    }
    if (status == WEFT_OK)
    {
        topology_turn_over(m, s.way);
    }
    mem_free(s.way);
    mem_free(s.queue);
    return status;
}

weft_status mesh_check_topology(mesh* m, weft_error* error)
{
    side* sides = NULL;
    int* mate = MEM_NEW(3 * m->triangle_count, int);
    if (!mate || sides_build(m->triangle, m->triangle_count, m->vertex_count, &sides) != WEFT_OK)
    {
        mem_free(mate);
        return mesh_no_memory(m, error);
    }
    bool agree = true;
    weft_status status = topology_pair(m, sides, mate, &agree, error);
    mem_free(sides);
    if (status == WEFT_OK && !agree)
    {
        status = topology_orient(m, mate, error);
    }
    mem_free(mate);
    return status;
}
