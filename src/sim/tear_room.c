// Whether a cut may open: its sides start a little apart, and in crumpled cloth something may lie in between. What
// would cross then waits, as does whatever only just touches.
#include "sim/tear.h"

enum
{
    PARTS_MAX = 8 // more of them around one vertex wait for others to tear first
};

typedef struct cut
{
    const weft_sim* sim;
    const body* b;
    int vertex; // of the user
    const int* side;
    vec3 moved[PARTS_MAX]; // where each part of the vertex goes
} cut;

typedef struct corners
{
    int id[3]; // of the scene's vertices; parts of the one that splits are -1, -2, ...
    vec3 x[3];
} corners;

static bool is_around(const body* b, int t, int vertex)
{
    const int* v = b->rest.triangle + 3 * (size_t)t;
    return v[0] == vertex || v[1] == vertex || v[2] == vertex;
}

static corners corners_of(const cut* c, const body* b, int t)
{
    corners out;
    for (int k = 0; k < 3; k++)
    {
        int u = b->rest.triangle[3 * t + k];
        out.id[k] = b->scene_vertex[u];
        out.x[k] = c->sim->world.state.x[out.id[k]];
        if (b == c->b && u == c->vertex)
        {
            int part = c->side[b->rest.triangle_face[t]];
            out.id[k] = -1 - part;
            out.x[k] = c->moved[part];
        }
    }
    return out;
}

static bool are_apart(const corners* a, const corners* b)
{
    for (int axis = 0; axis < 3; axis++)
    {
        double low[2] = {HUGE_VAL, HUGE_VAL}, high[2] = {-HUGE_VAL, -HUGE_VAL};
        for (int k = 0; k < 3; k++)
        {
            double p = (&a->x[k].x)[axis], q = (&b->x[k].x)[axis];
            low[0] = fmin(low[0], p);
            high[0] = fmax(high[0], p);
            low[1] = fmin(low[1], q);
            high[1] = fmax(high[1], q);
        }
        if (low[0] > high[1] || low[1] > high[0])
        {
            return true;
        }
    }
    return false;
}

static double volume(vec3 a, vec3 b, vec3 c, vec3 d)
{
    return v3_dot(v3_cross(v3_sub(b, a), v3_sub(c, a)), v3_sub(d, a));
}

static bool passes(vec3 p, vec3 q, const corners* t)
{
    if (volume(t->x[0], t->x[1], t->x[2], p) * volume(t->x[0], t->x[1], t->x[2], q) > 0.0)
    {
        return false;
    }
    double u = volume(p, q, t->x[0], t->x[1]), v = volume(p, q, t->x[1], t->x[2]), w = volume(p, q, t->x[2], t->x[0]);
    return (u >= 0.0 && v >= 0.0 && w >= 0.0) || (u <= 0.0 && v <= 0.0 && w <= 0.0);
}

static bool has_corner(const corners* t, int id)
{
    return t->id[0] == id || t->id[1] == id || t->id[2] == id;
}

// Edges that end at a corner of the other triangle touch it there, and go on from it.
static bool edges_pass(const corners* a, const corners* b)
{
    for (int k = 0; k < 3; k++)
    {
        int l = (k + 1) % 3;
        if (!has_corner(b, a->id[k]) && !has_corner(b, a->id[l]) && passes(a->x[k], a->x[l], b))
        {
            return true;
        }
    }
    return false;
}

static bool meets_body(const cut* c, const corners* fan, int self, const body* other)
{
    for (int t = 0; t < other->rest.triangle_count; t++)
    {
        if (other == c->b && t == self)
        {
            continue;
        }
        corners s = corners_of(c, other, t);
        if (!are_apart(fan, &s) && (edges_pass(fan, &s) || edges_pass(&s, fan)))
        {
            return true;
        }
    }
    return false;
}

static void move_parts(cut* c, int parts, double gap)
{
    const vec3* x = c->sim->world.state.x;
    vec3 sum[PARTS_MAX] = {0}, at = x[c->b->scene_vertex[c->vertex]];
    for (int t = 0; t < c->b->rest.triangle_count; t++)
    {
        for (int k = 0; k < 3 && is_around(c->b, t, c->vertex); k++)
        {
            vec3* s = &sum[c->side[c->b->rest.triangle_face[t]]];
            *s = v3_add(*s, v3_sub(x[c->b->scene_vertex[c->b->rest.triangle[3 * t + k]]], at));
        }
    }
    for (int part = 0; part < parts; part++)
    {
        double length = v3_length(sum[part]);
        c->moved[part] = length > 0.0 ? v3_madd(at, gap / length, sum[part]) : at;
    }
}

bool tear_has_room(const weft_sim* sim, const body* b, int vertex, const int* side, int parts, double gap)
{
    if (parts > PARTS_MAX)
    {
        return false;
    }
    cut c = {.sim = sim, .b = b, .vertex = vertex, .side = side};
    move_parts(&c, parts, gap);
    for (int t = 0; t < b->rest.triangle_count; t++)
    {
        if (!is_around(b, t, vertex))
        {
            continue;
        }
        corners fan = corners_of(&c, b, t);
        for (int k = 0; k < sim->body_count; k++)
        {
            const body* other = &sim->bodies[k];
            if (!other->removed && meets_body(&c, &fan, t, other))
            {
                return false;
            }
        }
    }
    return true;
}
