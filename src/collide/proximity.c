// Closest points of a vertex and a triangle, and of two segments, all closed.
//
// The squared distance is a convex quadratic of two parameters over a triangle or a square. Its minimum is where the
// gradient vanishes, when that lies inside, or on the border: the triangle's three sides, or an end of one segment
// against the other. All of these are tried and the least that they give is taken. So slivers, points and parallel
// segments need no cases of their own: where the inner point is lost to rounding, a border is as good, and what is
// reported is always the distance of two true points of the features.
//
// The points are first moved to the first of them and scaled by a power of two, so that squares neither overflow nor
// vanish. Left out: distances are good to rounding of the differences of coordinates, not to the last bit.
#include <float.h>

#include "collide/broad.h"

// Points as seen from the first, the largest coordinate about 1.
typedef struct local_points
{
    vec3 x[4];
    double unit; // metres; 0: all points coincide
} local_points;

static inline double more_of(double a, double b)
{
    return a > b ? a : b;
}

static double largest(vec3 a)
{
    return more_of(fabs(a.x), more_of(fabs(a.y), fabs(a.z)));
}

static local_points to_local(const vec3 x[4])
{
    local_points p = {.unit = 0.0};
    double size = 0.0, shrink = 1.0;
    for (int k = 0; k < 4; k++)
    {
        size = more_of(size, largest(x[k]));
    }
    shrink = size > 0.25 * DBL_MAX ? 0.125 : 1.0; // differences may overflow
    size = 0.0;
    for (int k = 0; k < 4; k++)
    {
        p.x[k] = v3_sub(v3_scale(shrink, x[k]), v3_scale(shrink, x[0]));
        size = more_of(size, largest(p.x[k]));
    }
    if (size > 0.0)
    {
        int exponent;
        frexp(size, &exponent);
        exponent = exponent < -1000 ? -1000 : exponent; // the inverse is finite
        double inv_unit = ldexp(1.0, -exponent);
        for (int k = 0; k < 4; k++)
        {
            p.x[k] = v3_scale(inv_unit, p.x[k]);
        }
        p.unit = ldexp(1.0 / shrink, exponent);
    }
    return p;
}

// The least found so far.
typedef struct best_points
{
    double weight[4];
    vec3 between; // sum of weight x
    double distance_sq;
} best_points;

static void try_weights(const local_points* p, double w0, double w1, double w2, double w3, best_points* best)
{
    vec3 between = v3_madd(v3_madd(v3_madd(v3_scale(w0, p->x[0]), w1, p->x[1]), w2, p->x[2]), w3, p->x[3]);
    double distance_sq = v3_dot(between, between);
    if (distance_sq < best->distance_sq)
    {
        *best = (best_points){{w0, w1, w2, w3}, between, distance_sq};
    }
}

// Where on the segment a b the point nearest to p is, from 0 to 1.
static double along_segment(vec3 p, vec3 a, vec3 b)
{
    vec3 d = v3_sub(b, a);
    double length_sq = v3_dot(d, d);
    double t = length_sq > 0.0 ? v3_dot(v3_sub(p, a), d) / length_sq : 0.0;
    return t < 1.0 ? more_of(t, 0.0) : 1.0;
}

// A unit vector perpendicular to d; any when d is zero.
static vec3 perpendicular(vec3 d)
{
    vec3 a = v3(fabs(d.x), fabs(d.y), fabs(d.z));
    vec3 axis = a.x <= a.y && a.x <= a.z ? v3(1, 0, 0) : a.y <= a.z ? v3(0, 1, 0) : v3(0, 0, 1);
    vec3 n = v3_cross(d, axis);
    return largest(n) > 0.0 ? v3_normalize(v3_scale(1.0 / largest(n), n)) : v3(0, 0, 1);
}

static vec3 longer(vec3 a, vec3 b)
{
    return v3_dot(a, a) >= v3_dot(b, b) ? a : b;
}

// The direction of what lies between the points; without one that of `cross`, then one perpendicular to `edge`.
static closest finish(const local_points* p, const best_points* best, vec3 cross, vec3 edge)
{
    double size = largest(best->between), cross_size = largest(cross);
    vec3 scaled = size > 0.0 ? v3_scale(1.0 / size, best->between) : best->between;
    closest out = {.distance = p->unit * size * v3_length(scaled)};
    for (int k = 0; k < 4; k++)
    {
        out.weight[k] = best->weight[k];
    }
    if (size > 0.0)
    {
        out.normal = v3_normalize(scaled);
    }
    else
    {
        out.normal = cross_size > 0.0 ? v3_normalize(v3_scale(1.0 / cross_size, cross)) : perpendicular(edge);
    }
    return out;
}

closest closest_vertex_face(const vec3 x[4])
{
    local_points p = to_local(x);
    best_points best = {.distance_sq = INFINITY};
    vec3 e1 = v3_sub(p.x[2], p.x[1]), e2 = v3_sub(p.x[3], p.x[1]), d = v3_sub(p.x[0], p.x[1]);
    vec3 n = v3_cross(e1, e2);
    // The three sides.
    for (int k = 0; k < 3; k++)
    {
        int a = 1 + k, b = 1 + (k + 1) % 3;
        double t = along_segment(p.x[0], p.x[a], p.x[b]), w[4] = {1.0, 0.0, 0.0, 0.0};
        w[a] = -(1.0 - t);
        w[b] = -t;
        try_weights(&p, w[0], w[1], w[2], w[3], &best);
    }
    // The foot of the perpendicular.
    double n_sq = v3_dot(n, n);
    if (n_sq > 0.0)
    {
        double b2 = v3_dot(v3_cross(d, e2), n) / n_sq, b3 = v3_dot(v3_cross(e1, d), n) / n_sq;
        if (b2 >= 0.0 && b3 >= 0.0 && b2 + b3 <= 1.0)
        {
            try_weights(&p, 1.0, -fmax(0.0, 1.0 - b2 - b3), -b2, -b3, &best);
        }
    }
    return finish(&p, &best, n, longer(longer(e1, e2), v3_sub(e2, e1)));
}

closest closest_edge_edge(const vec3 x[4])
{
    local_points p = to_local(x);
    best_points best = {.distance_sq = INFINITY};
    // An end of one against the other.
    for (int end = 0; end < 2; end++)
    {
        double t = along_segment(p.x[end], p.x[2], p.x[3]);
        try_weights(&p, 1.0 - end, end, -(1.0 - t), -t, &best);
        double s = along_segment(p.x[2 + end], p.x[0], p.x[1]);
        try_weights(&p, 1.0 - s, s, end - 1.0, -end, &best);
    }
    // The common perpendicular: s and t with (x0 + s d1 - x2 - t d2) normal to both.
    vec3 d1 = v3_sub(p.x[1], p.x[0]), d2 = v3_sub(p.x[3], p.x[2]), r = v3_sub(p.x[2], p.x[0]);
    vec3 n = v3_cross(d1, d2);
    double n_sq = v3_dot(n, n);
    if (n_sq > 0.0)
    {
        double s = v3_dot(v3_cross(r, d2), n) / n_sq, t = v3_dot(v3_cross(r, d1), n) / n_sq;
        if (s >= 0.0 && s <= 1.0 && t >= 0.0 && t <= 1.0)
        {
            try_weights(&p, 1.0 - s, s, -(1.0 - t), -t, &best);
        }
    }
    return finish(&p, &best, n, longer(d1, d2));
}
