// Whether a cut may open: its sides start a little apart, and in crumpled cloth something may lie in between. What
// would cross then waits. Both where it is and rounded to float, as files have it: cloth that is pressed together, the
// sides of other cuts above all, is a few roundings apart.
#include "sim/tear.h"

enum
{
    PARTS_MAX = 8 // more of them around one vertex wait for others to tear first
};

static const double flat = 1e-9; // m, off a plane: within it

typedef struct cut
{
    const weft_sim* sim;
    const body* b;
    int vertex; // of the user
    const int* side;
    vec3 moved[PARTS_MAX]; // where each part of the vertex goes
    bool rounded;          // positions count as files have them
    double box[6];         // around all of its triangles, before and after, m
    int* fan;              // [fan_count] these
    int fan_count, fan_capacity;
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
        out.x[k] = c->rounded ? v3_round(out.x[k]) : out.x[k];
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
    vec3 normal = v3_cross(v3_sub(t->x[1], t->x[0]), v3_sub(t->x[2], t->x[0]));
    double a = v3_dot(normal, v3_sub(p, t->x[0])), b = v3_dot(normal, v3_sub(q, t->x[0]));
    // Flat cloth is on both sides of itself by roundings; its parts go away from each other.
    if (!(a * b < 0.0) || fmax(fabs(a), fabs(b)) < flat * v3_length(normal))
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

// Whether a triangle, where it is now, is outside of a box on one of its sides.
static bool is_outside(const cut* c, const body* b, int t, const double box[6])
{
    const int* v = b->rest.triangle + 3 * (size_t)t;
    const vec3* x = c->sim->world.state.x;
    const double *p = &x[b->scene_vertex[v[0]]].x, *q = &x[b->scene_vertex[v[1]]].x, *r = &x[b->scene_vertex[v[2]]].x;
    bool outside = false;
    for (int k = 0; k < 3; k++)
    {
        outside = outside || (p[k] < box[k] && q[k] < box[k] && r[k] < box[k]);
        outside = outside || (p[k] > box[k + 3] && q[k] > box[k + 3] && r[k] > box[k + 3]);
    }
    return outside;
}

static bool meets_body(const cut* c, const corners* fan, int self, const body* other)
{
    for (int t = 0; t < other->rest.triangle_count; t++)
    {
        if ((other == c->b && t == self) || is_outside(c, other, t, c->box))
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

static weft_status find_fan(cut* c)
{
    const mesh* m = &c->b->rest;
    for (int t = 0; t < m->triangle_count; t++)
    {
        if (!is_around(c->b, t, c->vertex))
        {
            continue;
        }
        if (!mem_grow((void**)&c->fan, &c->fan_capacity, c->fan_count + 1, sizeof(int)))
        {
            return WEFT_NO_MEMORY;
        }
        c->fan[c->fan_count++] = t;
    }
    return WEFT_OK;
}

static void move_parts(cut* c, int parts, double gap)
{
    const vec3* x = c->sim->world.state.x;
    vec3 sum[PARTS_MAX] = {0}, at = x[c->b->scene_vertex[c->vertex]];
    for (int axis = 0; axis < 3; axis++)
    {
        c->box[axis] = (&at.x)[axis] - gap;
        c->box[axis + 3] = (&at.x)[axis] + gap;
    }
    for (int f = 0; f < 3 * c->fan_count; f++)
    {
        int t = c->fan[f / 3];
        vec3* s = &sum[c->side[c->b->rest.triangle_face[t]]];
        vec3 corner = x[c->b->scene_vertex[c->b->rest.triangle[3 * t + f % 3]]];
        *s = v3_add(*s, v3_sub(corner, at));
        for (int axis = 0; axis < 3; axis++)
        {
            c->box[axis] = fmin(c->box[axis], (&corner.x)[axis] - gap);
            c->box[axis + 3] = fmax(c->box[axis + 3], (&corner.x)[axis] + gap);
        }
    }
    for (int part = 0; part < parts; part++)
    {
        double length = v3_length(sum[part]);
        c->moved[part] = length > 0.0 ? v3_madd(at, gap / length, sum[part]) : at;
    }
}

static bool has_room(const cut* c)
{
    for (int f = 0; f < c->fan_count; f++)
    {
        corners fan = corners_of(c, c->b, c->fan[f]);
        for (int k = 0; k < c->sim->body_count; k++)
        {
            const body* other = &c->sim->bodies[k];
            if (!other->removed && meets_body(c, &fan, c->fan[f], other))
            {
                return false;
            }
        }
    }
    return true;
}

bool tear_has_room(const weft_sim* sim, const body* b, int vertex, const int* side, int parts, double gap)
{
    cut c = {.sim = sim, .b = b, .vertex = vertex, .side = side};
    bool room = parts <= PARTS_MAX && find_fan(&c) == WEFT_OK;
    if (room)
    {
        move_parts(&c, parts, gap);
        room = has_room(&c);
        c.rounded = true;
        room = room && has_room(&c);
    }
    mem_free(c.fan);
    return room;
}
