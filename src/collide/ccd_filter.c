// The fast part of continuous collision detection (ccd.c has the mathematics): says no or yes only where rounding
// cannot change the answer.
//
// f and the g_k are written in Bernstein form over an interval of t, so that the smallest and the largest coefficient
// bound the polynomial there, and halving the interval is a matter of means. In (1) of ccd.c n is taken as E x H with
// the polygon's sides E = q_1 - q_0, H = q_last - q_0, which are differences of the given points, and f as q_0 . (E x
// H): the same polynomials, from small numbers.
//
// Error bound. Let u = 2^-53 and gamma_j = j u / (1 - j u). Every operation here is a sum, a product or a halving of
// numbers far from underflow and overflow (ccd_in_range), so that each contributes a factor (1 + d), |d| <= u. Let
// |E|_x be the larger of the sizes of E's x at both ends of the step, likewise for the others; then
//   - components of E, H, q carry one factor;
//   - a component of a cross product of two of them, say E_y H_z - E_z H_y, carries four (two from the components, one
//     product, one sum) on each term: error at most gamma_4 N_x with N_x = |E|_y |H|_z + |E|_z |H|_y. The middle
//     coefficient of E x H is the mean of two such, one sum more: gamma_5;
//   - coefficients of f are means, with positive weights of sum 1, of terms q . N: one factor from q, five from N, one
//     product, two sums in the dot product, one sum of two dot products, at most two for the weights: gamma_12 P_f with
//     P_f = |q|_x N_x + |q|_y N_y + |q|_z N_z;
//   - coefficients of g_k are means of terms c . N: five factors each, one product, two sums, two sums of dot products,
//   two
//     for the weights: gamma_17 P_k with P_k = C_x N_x + ... and C made of q_k, q_{k+1} as N is of E, H;
//   - halving replaces coefficients by means of neighbours, one sum each (the half is exact), three in a row for a
//   cubic and
//     four for a quartic: at most 4 u P more a level, 96 u P at DEPTH = 24.
// In all less than 114 u P, and P itself is computed with a relative error below 12 u: 128 u P = 2^-46 P is safe. The
// bound is a product of sizes of differences: it grows and shrinks with the coordinates, and does not see where the
// origin is.
//
// Before f and g are halved, one direction is tried: that from the origin to the polygon's nearest point halfway. Where
// all corners lie beyond a plane across it at both ends of the step, they do so at all times. That is what tells
// neighbours in a flat sheet apart, where f and, for parallel edges, all g are zero. The direction d is taken as it is;
// d . q carries one factor from q, one product and two sums: gamma_4, and 8 u times the sum of sizes is safe.
#include <math.h>

#include "collide/ccd.h"

enum
{
    DEPTH = 24,        // halvings at most
    DEPTH_ENOUGH = 21, // 2^-21 < 1e-6: the interval is short enough to report its start
    NODE_LIMIT = 96,   // intervals looked at before exact arithmetic is the cheaper way
    F_TERMS = 4,
    G_TERMS = 5
};

static const double error_factor = 0x1p-46;

// The corners and two sides, at both ends of the step.
typedef struct polygon
{
    vec3 q[CCD_CORNERS][2];
    vec3 E[2], H[2];
} polygon;

static inline double min(double a, double b)
{
    return a < b ? a : b;
}

static inline double max(double a, double b)
{
    return a > b ? a : b;
}

// A quadratic vector in Bernstein form, and bounds of its components.
typedef struct quadratic
{
    vec3 c[3];
    vec3 bound;
} quadratic;

static vec3 size_max(vec3 a, vec3 b)
{
    return v3(max(fabs(a.x), fabs(b.x)), max(fabs(a.y), fabs(b.y)), max(fabs(a.z), fabs(b.z)));
}

// The cross product of a and b, which move linearly from a[0] to a[1]; sizes are their size_max.
static quadratic cross_moving(const vec3 a[2], vec3 a_size, const vec3 b[2], vec3 b_size)
{
    vec3 middle = v3_add(v3_cross(a[0], b[1]), v3_cross(a[1], b[0]));
    return (quadratic){
        .c = {v3_cross(a[0], b[0]), v3_scale(0.5, middle), v3_cross(a[1], b[1])},
        .bound = v3(a_size.y * b_size.z + a_size.z * b_size.y, a_size.z * b_size.x + a_size.x * b_size.z,
                    a_size.x * b_size.y + a_size.y * b_size.x),
    };
}

typedef struct filter
{
    int count;
    int nodes;
    double f_error, g_error[CCD_CORNERS];
    double time;
} filter;

// One interval of t. g[k] is kept up to date only while bit k of `inside` is not set: the g_k that are known to be
// positive need no more care.
typedef struct interval
{
    double f[F_TERMS];
    double g[CCD_CORNERS][G_TERMS];
    unsigned inside;
    double start; // of the interval; its length is 2^-depth
    int depth;
} interval;

// ---- the intervals

// The first half of a polynomial goes to left, the second replaces c.
static void halve(double* c, double* left, int terms)
{
    for (int level = 0; level < terms; level++)
    {
        left[level] = c[0];
        for (int i = 0; i < terms - 1 - level; i++)
        {
            c[i] = 0.5 * (c[i] + c[i + 1]);
        }
    }
    // The last coefficient of each level stayed where it was: c is the second half, in order.
}

static int definite_sign(const double* c, int terms, double error)
{
    double low = c[0], high = c[0];
    for (int i = 1; i < terms; i++)
    {
        low = min(low, c[i]);
        high = max(high, c[i]);
    }
    return low > error ? 1 : high < -error ? -1 : 0;
}

static void interval_halve(const interval* whole, int count, interval* left, interval* right)
{
    *right = *whole;
    left->inside = whole->inside;
    left->start = whole->start;
    left->depth = right->depth = whole->depth + 1;
    right->start = whole->start + ldexp(1.0, -right->depth);
    halve(right->f, left->f, F_TERMS);
    for (int k = 0; k < count; k++)
    {
        if (!(whole->inside & 1u << k))
        {
            halve(right->g[k], left->g[k], G_TERMS);
        }
    }
}

static ccd_verdict interval_decide(filter* s, interval* at)
{
    if (definite_sign(at->f, F_TERMS, s->f_error) != 0)
    {
        return CCD_NO;
    }
    for (int k = 0; k < s->count; k++)
    {
        int sign = at->inside & 1u << k ? 1 : definite_sign(at->g[k], G_TERMS, s->g_error[k]);
        if (sign < 0)
        {
            return CCD_NO;
        }
        at->inside |= sign > 0 ? 1u << k : 0u;
    }
    bool all_inside = at->inside == (1u << s->count) - 1u;
    double first = at->f[0], last = at->f[F_TERMS - 1];
    bool changes = (first > s->f_error && last < -s->f_error) || (first < -s->f_error && last > s->f_error);
    if (all_inside && changes && at->depth >= DEPTH_ENOUGH)
    {
        s->time = at->start;
        return CCD_YES;
    }
    if (at->depth == DEPTH || ++s->nodes > NODE_LIMIT)
    {
        return CCD_UNSURE;
    }
    interval left, right;
    interval_halve(at, s->count, &left, &right);
    ccd_verdict verdict = interval_decide(s, &left);
    return verdict != CCD_NO ? verdict : interval_decide(s, &right);
}

// ---- the polynomials

static void make_f(const vec3 q[2], const quadratic* n, double f[F_TERMS])
{
    f[0] = v3_dot(q[0], n->c[0]);
    f[1] = (2.0 * v3_dot(q[0], n->c[1]) + v3_dot(q[1], n->c[0])) / 3.0;
    f[2] = (v3_dot(q[0], n->c[2]) + 2.0 * v3_dot(q[1], n->c[1])) / 3.0;
    f[3] = v3_dot(q[1], n->c[2]);
}

static void make_g(const quadratic* c, const quadratic* n, double g[G_TERMS])
{
    g[0] = v3_dot(c->c[0], n->c[0]);
    g[1] = 0.5 * (v3_dot(c->c[0], n->c[1]) + v3_dot(c->c[1], n->c[0]));
    g[2] = (v3_dot(c->c[0], n->c[2]) + 4.0 * v3_dot(c->c[1], n->c[1]) + v3_dot(c->c[2], n->c[0])) / 6.0;
    g[3] = 0.5 * (v3_dot(c->c[1], n->c[2]) + v3_dot(c->c[2], n->c[1]));
    g[4] = v3_dot(c->c[2], n->c[2]);
}

// Whether all corners stay on one side of a coordinate plane: a difference of doubles has the sign of the true one.
static inline bool one_side(const polygon* p, int count)
{
    vec3 low = p->q[0][0], high = low;
    for (int k = 0; k < count; k++)
    {
        for (int end = 0; end < 2; end++)
        {
            vec3 c = p->q[k][end];
            low = v3(min(low.x, c.x), min(low.y, c.y), min(low.z, c.z));
            high = v3(max(high.x, c.x), max(high.y, c.y), max(high.z, c.z));
        }
    }
    return low.x > 0.0 || low.y > 0.0 || low.z > 0.0 || high.x < 0.0 || high.y < 0.0 || high.z < 0.0;
}

// The point of the segment from a to b that is nearest to the origin, roughly.
static vec3 segment_nearest(vec3 a, vec3 b)
{
    vec3 d = v3_sub(b, a);
    double length_sq = v3_dot(d, d), s = length_sq > 0.0 ? -v3_dot(a, d) / length_sq : 0.0;
    return v3_madd(a, max(0.0, min(1.0, s)), d);
}

static inline bool has_separating_direction(const polygon* p, int count)
{
    vec3 middle[CCD_CORNERS], nearest = {0};
    double best = INFINITY;
    for (int k = 0; k < count; k++)
    {
        middle[k] = v3_scale(0.5, v3_add(p->q[k][0], p->q[k][1]));
    }
    for (int k = 0; k < count; k++)
    {
        vec3 c = segment_nearest(middle[k], middle[k + 1 < count ? k + 1 : 0]);
        double distance_sq = v3_dot(c, c);
        nearest = distance_sq < best ? c : nearest;
        best = min(best, distance_sq);
    }
    vec3 sizes = v3(fabs(nearest.x), fabs(nearest.y), fabs(nearest.z));
    bool beyond = true;
    for (int k = 0; k < count; k++)
    {
        for (int end = 0; end < 2; end++)
        {
            vec3 q = p->q[k][end];
            double error = 0x1p-50 * v3_dot(sizes, v3(fabs(q.x), fabs(q.y), fabs(q.z)));
            beyond = beyond && v3_dot(nearest, q) > error;
        }
    }
    return beyond;
}

// count is a constant where this is called: the loops are unrolled.
static inline ccd_verdict polygon_decide(const polygon* p, int count, double* time)
{
    if (one_side(p, count))
    {
        return CCD_NO;
    }
    filter s = {.count = count};
    interval whole = {.inside = 0};
    quadratic n = cross_moving(p->E, size_max(p->E[0], p->E[1]), p->H, size_max(p->H[0], p->H[1]));
    make_f(p->q[0], &n, whole.f);
    s.f_error = error_factor * v3_dot(size_max(p->q[0][0], p->q[0][1]), n.bound);
    if (definite_sign(whole.f, F_TERMS, s.f_error) != 0)
    {
        return CCD_NO;
    }
    vec3 size[CCD_CORNERS] = {{0}};
    for (int k = 0; k < count; k++)
    {
        size[k] = size_max(p->q[k][0], p->q[k][1]);
    }
    for (int k = 0; k < count; k++)
    {
        int next = k + 1 < count ? k + 1 : 0;
        quadratic c = cross_moving(p->q[k], size[k], p->q[next], size[next]);
        make_g(&c, &n, whole.g[k]);
        s.g_error[k] = error_factor * v3_dot(c.bound, n.bound);
        if (definite_sign(whole.g[k], G_TERMS, s.g_error[k]) < 0)
        {
            return CCD_NO;
        }
    }
    if (has_separating_direction(p, count))
    {
        return CCD_NO;
    }
    ccd_verdict verdict = interval_decide(&s, &whole);
    *time = s.time;
    return verdict;
}

static ccd_verdict filter_vertex_face(const vec3* at[2], double* time)
{
    polygon p;
    for (int end = 0; end < 2; end++)
    {
        const vec3* x = at[end];
        p.q[0][end] = v3_sub(x[1], x[0]);
        p.q[1][end] = v3_sub(x[2], x[0]);
        p.q[2][end] = v3_sub(x[3], x[0]);
        p.E[end] = v3_sub(x[2], x[1]);
        p.H[end] = v3_sub(x[3], x[1]);
    }
    return polygon_decide(&p, 3, time);
}

static ccd_verdict filter_edge_edge(const vec3* at[2], double* time)
{
    polygon p;
    for (int end = 0; end < 2; end++)
    {
        const vec3* x = at[end];
        p.q[0][end] = v3_sub(x[0], x[2]);
        p.q[1][end] = v3_sub(x[1], x[2]);
        p.q[2][end] = v3_sub(x[1], x[3]);
        p.q[3][end] = v3_sub(x[0], x[3]);
        p.E[end] = v3_sub(x[1], x[0]);
        p.H[end] = v3_sub(x[2], x[3]);
    }
    return polygon_decide(&p, 4, time);
}

ccd_verdict ccd_filter(weft_pair_kind kind, const vec3 start[4], const vec3 end[4], double* time)
{
    const vec3* at[2] = {start, end};
    return kind == WEFT_VERTEX_FACE ? filter_vertex_face(at, time) : filter_edge_edge(at, time);
}
