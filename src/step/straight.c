// Straight ways over flat cloth (graph.h): a line from triangle to triangle costs as many of them as it passes over,
// where a search looks at all cloth around it. Where a cut is in its way, the shortest way round it goes straight to a
// vertex of the cut's border and straight on from there, as long as the border does not bend twice: both legs are lines
// again. What is not flat, or needs more legs, is left to the search (geodesic.c).
#include "step/graph.h"

enum
{
    BORDER_STEPS = 32 // vertices that are tried along the border to each side
};

static const double level_eps = 1e-7; // sine of an angle: what is less lies in the plane, or on the line

typedef enum line_state
{
    LINE_CLEAR,
    LINE_BLOCKED, // by the border at `at`
    LINE_UNKNOWN  // the line leaves the surface
} line_state;

typedef struct line
{
    const graph* g;
    vec3 from, to; // m
    vec3 way;      // to - from
    double length; // m
    int target;
    int at[2]; // vertices of the border where it is blocked
} line;

static vec3 cross_of(const line* l, int t, int corner, vec3* u, vec3* w)
{
    const int* v = l->g->triangle + 3 * (size_t)t;
    vec3 p = l->g->rest[v[corner]];
    *u = v3_sub(l->g->rest[v[(corner + 1) % 3]], p);
    *w = v3_sub(l->g->rest[v[(corner + 2) % 3]], p);
    return v3_cross(*u, *w);
}

static bool is_level(const line* l, vec3 normal)
{
    return fabs(v3_dot(normal, l->way)) <= level_eps * v3_length(normal) * l->length;
}

static int corner_of(const line* l, int t, int vertex)
{
    const int* v = l->g->triangle + 3 * (size_t)t;
    return v[0] == vertex ? 0 : v[1] == vertex ? 1 : 2;
}

// Which side of the line a point is on, seen along the normal: 1 left, -1 right, 0 on it.
static int side_of(const line* l, vec3 normal, int vertex)
{
    vec3 d = v3_sub(l->g->rest[vertex], l->from);
    double sine = v3_dot(normal, v3_cross(l->way, d)), scale = v3_length(normal) * l->length * v3_length(d);
    return fabs(sine) <= level_eps * scale ? 0 : sine > 0.0 ? 1 : -1;
}

static bool is_ahead(const line* l, vec3 d)
{
    return v3_dot(d, l->way) > 0.0;
}

// The triangle beyond the side from a to b; -1: none.
static int beyond(const graph* g, int t, int a, int b)
{
    for (int k = g->fan_start[a]; k < g->fan_start[a + 1]; k++)
    {
        const int* v = g->triangle + 3 * (size_t)g->fan[k];
        if (g->fan[k] != t && (v[0] == b || v[1] == b || v[2] == b))
        {
            return g->fan[k];
        }
    }
    return -1;
}

// Where the line leaves the fan of a vertex that it is at.
typedef struct leave_place
{
    int vertex;      // the next one on the line, -1: it crosses a side
    int triangle;    // it goes through
    int right, left; // corners of the side that it crosses
} leave_place;

static line_state leave_vertex(line* l, int vertex, leave_place* out)
{
    const graph* g = l->g;
    for (int k = g->fan_start[vertex]; k < g->fan_start[vertex + 1]; k++)
    {
        int t = g->fan[k], corner = corner_of(l, t, vertex);
        const int* v = g->triangle + 3 * (size_t)t;
        int a = v[(corner + 1) % 3], b = v[(corner + 2) % 3];
        vec3 u, w, normal = cross_of(l, t, corner, &u, &w);
        if (!is_level(l, normal))
        {
            return LINE_UNKNOWN;
        }
        int side_a = side_of(l, normal, a), side_b = side_of(l, normal, b);
        bool on_a = side_a == 0 && is_ahead(l, u), on_b = side_b == 0 && is_ahead(l, w);
        if (on_a || on_b)
        {
            *out = (leave_place){.vertex = on_a ? a : b, .triangle = t};
            return LINE_CLEAR;
        }
        // Seen along the normal the fan turns to the left: the line is between a on its right and b on its left.
        if (side_a < 0 && side_b > 0 && (is_ahead(l, u) || is_ahead(l, w)))
        {
            *out = (leave_place){.vertex = -1, .triangle = t, .right = a, .left = b};
            return LINE_CLEAR;
        }
    }
    l->at[0] = l->at[1] = vertex;
    return LINE_BLOCKED;
}

static int third_of(const graph* g, int t, int a, int b)
{
    const int* v = g->triangle + 3 * (size_t)t;
    return v[0] != a && v[0] != b ? v[0] : v[1] != a && v[1] != b ? v[1] : v[2];
}

static line_state run_line(line* l, int vertex)
{
    const graph* g = l->g;
    leave_place at = {.vertex = vertex};
    for (int step = 0; step < 2 * g->triangle_count + 8; step++)
    {
        if (at.vertex >= 0)
        {
            if (at.vertex == l->target)
            {
                return LINE_CLEAR;
            }
            line_state state = leave_vertex(l, at.vertex, &at);
            if (state != LINE_CLEAR)
            {
                return state;
            }
            continue;
        }
        int t = beyond(g, at.triangle, at.right, at.left);
        if (t < 0)
        {
            l->at[0] = at.right;
            l->at[1] = at.left;
            return LINE_BLOCKED;
        }
        int tip = third_of(g, t, at.right, at.left);
        vec3 u, w, normal = cross_of(l, t, corner_of(l, t, tip), &u, &w);
        if (!is_level(l, normal))
        {
            return LINE_UNKNOWN;
        }
        // Sides of the triangle that was left face this one: its normal may look the other way in a mesh that turns.
        int side = side_of(l, normal, tip);
        at.triangle = t;
        at.vertex = side == 0 ? tip : -1;
        side > 0 ? (at.left = tip) : (at.right = tip);
    }
    return LINE_UNKNOWN;
}

static line_state draw_line(line* l, const graph* g, int a, int b)
{
    *l = (line){.g = g, .from = g->rest[a], .to = g->rest[b], .target = b};
    l->way = v3_sub(l->to, l->from);
    l->length = v3_length(l->way);
    return l->length > 0.0 ? run_line(l, a) : LINE_UNKNOWN;
}

static bool is_border_side(const graph* g, int a, int b)
{
    int shared = 0;
    for (int k = g->fan_start[a]; k < g->fan_start[a + 1]; k++)
    {
        const int* v = g->triangle + 3 * (size_t)g->fan[k];
        shared += v[0] == b || v[1] == b || v[2] == b;
    }
    return shared == 1;
}

// The next vertex along the border, not back to `last`; -1: none.
static int along_border(const graph* g, int vertex, int last)
{
    for (int k = g->start[vertex]; k < g->start[vertex + 1]; k++)
    {
        if (g->other[k] != last && is_border_side(g, vertex, g->other[k]))
        {
            return g->other[k];
        }
    }
    return -1;
}

// Straight to a vertex of the border and straight on, m; infinite: not so, or longer than `most`.
static double bend_at(const line* l, int a, int vertex, double most)
{
    const graph* g = l->g;
    vec3 at = g->rest[vertex];
    line first, second;
    if (vertex == a || vertex == l->target || v3_length(v3_sub(at, l->from)) + v3_length(v3_sub(l->to, at)) > most ||
        draw_line(&first, g, a, vertex) != LINE_CLEAR || draw_line(&second, g, vertex, l->target) != LINE_CLEAR)
    {
        return INFINITY;
    }
    return first.length + second.length;
}

static double round_border(const line* l, int a, int vertex, int last, double most)
{
    const graph* g = l->g;
    double length = INFINITY;
    for (int k = 0; k < BORDER_STEPS && vertex >= 0 && isinf(length); k++)
    {
        length = bend_at(l, a, vertex, most);
        int next = along_border(g, vertex, last);
        last = vertex;
        vertex = next;
    }
    return length;
}

way_kind straight_way(const graph* g, int a, int b, double most, double* out)
{
    line l;
    line_state state = draw_line(&l, g, a, b);
    *out = state == LINE_CLEAR ? l.length : INFINITY;
    if (state != LINE_BLOCKED)
    {
        return state == LINE_CLEAR ? WAY_STRAIGHT : WAY_UNKNOWN;
    }
    // Blocked at a vertex, the border goes on from it to both sides; else from both ends of the side.
    bool corner = l.at[0] == l.at[1];
    int first = corner ? along_border(g, l.at[0], -1) : l.at[0];
    int second = corner ? along_border(g, l.at[0], first) : l.at[1];
    double one = round_border(&l, a, first, corner ? l.at[0] : l.at[1], most);
    double other = second >= 0 ? round_border(&l, a, second, l.at[0], most) : INFINITY;
    *out = fmin(one, other);
    return WAY_BLOCKED;
}
