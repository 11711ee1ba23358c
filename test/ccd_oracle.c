// Coordinates become whole numbers (times a power of two for each axis, which moves no contact), positions polynomials
// of degree 1 in t. Whether the closed primitives touch at t is a statement about signs of polynomials:
//
// Vertex v, face f0 f1 f2. With A = f0 - v, B = f1 - v, C = f2 - v, U = B x C, V = C x A, W = A x B they touch iff
//   (1) D = A . U = 0,
//   (2) for each axis k, no two of U_k, V_k, W_k have opposite signs,
//   (3) for each axis k, A_k, B_k, C_k are not all positive and not all negative.
// Why: N = U + V + W is the face's normal. If D = 0 and N is not 0, then U, V, W are N times the barycentric
// coordinates of v, and (2) says that none is negative; (3) is then implied. If N = 0 then (2) says U = V = W = 0: the
// points and v lie on a line (or the face is one point, and then on the line through it and v), on which (3) says
// that v is between them.
//
// Edges p0 p1 and q0 q1. With d = p1 - p0, e = q1 - q0, w = p0 - q0, n = d x e, S = e x w, R = d x w they touch iff
//   (1) D = w . n = 0,
//   (2) for each axis k, S_k and n_k - S_k have no opposite signs, nor have R_k and n_k - R_k,
//   (3) for each axis k, the four differences p_i - q_j are not all positive and not all negative.
// Why: if D = 0 and n is not 0, the lines meet at p0 + s d = q0 + r e with S = s n, R = r n, and (2) says that s and r
// are in [0, 1]. If n = 0 then (2) says S = R = 0: all four points lie on a line, on which (3) says that the edges
// overlap.
//
// The times of touching are a closed set. Where D is not zero for all t, they are among the roots of D, three at
// most. Where D is zero for all t, the first of them is 0 or a time at which one of the polynomials of (2) and (3)
// vanishes, since between such times no sign changes. So the candidates are 0 and the roots of at most 36 polynomials;
// each is tried, with exact signs, and the earliest that passes is the truth. No case is special.
//
// A query is thrown out at once when (3) fails in the same way at t = 0 and t = 1, hence, being linear, in between;
// comparing doubles is exact.
#include "ccd_oracle.h"

#include <math.h>
#include <stdlib.h>

#include "ccd_roots.h"

enum
{
    QUADRATIC_MAX = 12, // 3 axes of 3, or 6 pairs
    LINEAR_MAX = 12     // 3 axes of 3 or 4
};

struct ccd_oracle
{
    zpoly position[4][3];
    zpoly a[3], b[3], c[3]; // A, B, C or d, e, w
    zpoly plane;            // D
    zpoly cross[9];         // U, V, W or S, R, n
    zpoly quadratic[QUADRATIC_MAX], linear[LINEAR_MAX];
    int quadratic_group, linear_group; // how many make up one condition of (2), of (3)
    int quadratic_count, linear_count;
    zroot candidates[3], first;
};

// ---- memory

static void each_poly(ccd_oracle* o, void (*visit)(zpoly*))
{
    for (int i = 0; i < 4; i++)
    {
        for (int k = 0; k < 3; k++)
        {
            visit(&o->position[i][k]);
        }
    }
    for (int k = 0; k < 3; k++)
    {
        visit(&o->a[k]);
        visit(&o->b[k]);
        visit(&o->c[k]);
    }
    visit(&o->plane);
    for (int i = 0; i < 9; i++)
    {
        visit(&o->cross[i]);
    }
    for (int i = 0; i < 12; i++)
    {
        visit(&o->quadratic[i]);
        visit(&o->linear[i]);
    }
}

ccd_oracle* ccd_oracle_create(void)
{
    ccd_oracle* o = calloc(1, sizeof(*o));
    if (o)
    {
        each_poly(o, zpoly_init);
        zroot_init(&o->first);
        for (int i = 0; i < 3; i++)
        {
            zroot_init(&o->candidates[i]);
        }
    }
    return o;
}

void ccd_oracle_destroy(ccd_oracle* o)
{
    if (!o)
    {
        return;
    }
    each_poly(o, zpoly_clear);
    zroot_clear(&o->first);
    for (int i = 0; i < 3; i++)
    {
        zroot_clear(&o->candidates[i]);
    }
    free(o);
}

// ---- the polynomials

static double coordinate(const weft_vec3* p, int axis)
{
    return axis == 0 ? p->x : axis == 1 ? p->y : p->z;
}

// out = x 2^shift, which is whole.
static void set_whole(mpz_t out, double x, int shift)
{
    int exponent;
    double mantissa = frexp(x, &exponent);
    mpz_set_d(out, ldexp(mantissa, 53));
    int by = exponent - 53 + shift;
    if (by >= 0)
    {
        mpz_mul_2exp(out, out, (unsigned long)by);
    }
    else
    {
        mpz_tdiv_q_2exp(out, out, (unsigned long)-by); // zeros alone are cut
    }
}

// The number of binary digits after the point that x needs.
static int digits_after_point(double x)
{
    if (x == 0.0)
    {
        return -2000;
    }
    int exponent;
    double whole = ldexp(frexp(x, &exponent), 53);
    int digits = 53 - exponent;
    while (fmod(whole, 2.0) == 0.0)
    {
        whole *= 0.5;
        digits--;
    }
    return digits;
}

static void set_positions(ccd_oracle* o, const weft_vec3 start[4], const weft_vec3 end[4])
{
    for (int k = 0; k < 3; k++)
    {
        int shift = -2000;
        for (int i = 0; i < 4; i++)
        {
            int at_start = digits_after_point(coordinate(&start[i], k));
            int at_end = digits_after_point(coordinate(&end[i], k));
            shift = at_start > shift ? at_start : shift;
            shift = at_end > shift ? at_end : shift;
        }
        for (int i = 0; i < 4; i++)
        {
            zpoly* p = &o->position[i][k];
            set_whole(p->c[0], coordinate(&start[i], k), shift);
            set_whole(p->c[1], coordinate(&end[i], k), shift);
            mpz_sub(p->c[1], p->c[1], p->c[0]);
            zpoly_trim(p);
        }
    }
}

static void set_difference(ccd_oracle* o, zpoly out[3], int i, int j)
{
    for (int k = 0; k < 3; k++)
    {
        zpoly_subtract(&out[k], &o->position[i][k], &o->position[j][k]);
    }
}

static void set_cross(zpoly out[3], const zpoly a[3], const zpoly b[3])
{
    for (int k = 0; k < 3; k++)
    {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        zpoly_multiply(&out[k], &a[i], &b[j]);
        zpoly_multiply_subtract(&out[k], &a[j], &b[i]);
    }
}

static void set_dot(zpoly* out, const zpoly a[3], const zpoly b[3])
{
    zpoly_multiply(out, &a[0], &b[0]);
    zpoly_multiply_add(out, &a[1], &b[1]);
    zpoly_multiply_add(out, &a[2], &b[2]);
}

static void copy(zpoly* out, const zpoly* a)
{
    for (int i = 0; i < 4; i++)
    {
        mpz_set(out->c[i], a->c[i]);
    }
    out->degree = a->degree;
}

static void set_vertex_face(ccd_oracle* o)
{
    set_difference(o, o->a, 1, 0);
    set_difference(o, o->b, 2, 0);
    set_difference(o, o->c, 3, 0);
    set_cross(&o->cross[0], o->b, o->c);
    set_cross(&o->cross[3], o->c, o->a);
    set_cross(&o->cross[6], o->a, o->b);
    set_dot(&o->plane, o->a, &o->cross[0]);
    o->quadratic_group = 3;
    o->linear_group = 3;
    o->quadratic_count = 9;
    o->linear_count = 9;
    for (int k = 0; k < 3; k++)
    {
        for (int i = 0; i < 3; i++)
        {
            copy(&o->quadratic[3 * k + i], &o->cross[3 * i + k]);
        }
        copy(&o->linear[3 * k], &o->a[k]);
        copy(&o->linear[3 * k + 1], &o->b[k]);
        copy(&o->linear[3 * k + 2], &o->c[k]);
    }
}

static void set_edge_edge(ccd_oracle* o)
{
    set_difference(o, o->a, 1, 0);
    set_difference(o, o->b, 3, 2);
    set_difference(o, o->c, 0, 2);
    zpoly *s = &o->cross[0], *r = &o->cross[3], *n = &o->cross[6];
    set_cross(s, o->b, o->c);
    set_cross(r, o->a, o->c);
    set_cross(n, o->a, o->b);
    set_dot(&o->plane, o->c, n);
    o->quadratic_group = 2;
    o->linear_group = 4;
    o->quadratic_count = 12;
    o->linear_count = 12;
    for (int k = 0; k < 3; k++)
    {
        copy(&o->quadratic[4 * k], &s[k]);
        zpoly_subtract(&o->quadratic[4 * k + 1], &n[k], &s[k]);
        copy(&o->quadratic[4 * k + 2], &r[k]);
        zpoly_subtract(&o->quadratic[4 * k + 3], &n[k], &r[k]);
        for (int i = 0; i < 4; i++)
        {
            zpoly_subtract(&o->linear[4 * k + i], &o->position[i / 2][k], &o->position[2 + i % 2][k]);
        }
    }
}

// ---- the statement about signs

// Whether signs of a group at the number are all positive or all negative.
static bool one_sided(zroot* at, const zpoly* group, int count)
{
    int first = zroot_sign(at, &group[0]);
    for (int i = 1; i < count && first != 0; i++)
    {
        first = zroot_sign(at, &group[i]) == first ? first : 0;
    }
    return first != 0;
}

// Whether two of a group have opposite signs at the number.
static bool opposed(zroot* at, const zpoly* group, int count)
{
    bool positive = false, negative = false;
    for (int i = 0; i < count; i++)
    {
        int sign = zroot_sign(at, &group[i]);
        positive = positive || sign > 0;
        negative = negative || sign < 0;
    }
    return positive && negative;
}

// (2) and (3); (1) is known.
static bool touches(ccd_oracle* o, zroot* at)
{
    for (int i = 0; i < o->linear_count; i += o->linear_group)
    {
        if (one_sided(at, &o->linear[i], o->linear_group))
        {
            return false;
        }
    }
    for (int i = 0; i < o->quadratic_count; i += o->quadratic_group)
    {
        if (opposed(at, &o->quadratic[i], o->quadratic_group))
        {
            return false;
        }
    }
    return true;
}

// ---- the first time

static void take(ccd_truth* truth, zroot* at, double claim)
{
    enum
    {
        FINE = 48 // 2^-48 is below 1e-12
    };
    double low, high;
    zroot_refine(at, FINE);
    zroot_bounds(at, &low, &high);
    truth->collides = true;
    truth->low = fmin(truth->low, low);
    truth->high = fmin(truth->high, high);
    truth->late = truth->late || (isfinite(claim) && zroot_is_below(at, claim));
}

// Tries the roots of p; those behind the earliest so far cannot matter.
static void try_roots(ccd_oracle* o, const zpoly* p, double claim, ccd_truth* truth)
{
    int count = zpoly_roots(p, o->candidates);
    for (int i = 0; i < count; i++)
    {
        double low, high;
        zroot_bounds(&o->candidates[i], &low, &high);
        if (low < truth->high && touches(o, &o->candidates[i]))
        {
            take(truth, &o->candidates[i], claim);
            return;
        }
    }
}

static void find_first(ccd_oracle* o, double claim, ccd_truth* truth)
{
    zroot_set_zero(&o->first);
    if (zroot_sign(&o->first, &o->plane) == 0 && touches(o, &o->first))
    {
        take(truth, &o->first, claim);
        return;
    }
    if (o->plane.degree >= 0)
    {
        try_roots(o, &o->plane, claim, truth);
        return;
    }
    for (int i = 0; i < o->linear_count; i++)
    {
        try_roots(o, &o->linear[i], claim, truth);
    }
    for (int i = 0; i < o->quadratic_count; i++)
    {
        try_roots(o, &o->quadratic[i], claim, truth);
    }
}

// Whether all of the first primitive's points are below all of the second's along an axis (side -1), or above (1).
static bool beside(const weft_vec3 at[4], int first, int axis, int side)
{
    for (int i = 0; i < first; i++)
    {
        for (int j = first; j < 4; j++)
        {
            double a = coordinate(&at[i], axis), b = coordinate(&at[j], axis);
            if (side < 0 ? a >= b : a <= b)
            {
                return false;
            }
        }
    }
    return true;
}

ccd_truth ccd_oracle_ask(ccd_oracle* o, weft_pair_kind kind, const weft_vec3 start[4], const weft_vec3 end[4],
                         double claim)
{
    ccd_truth truth = {.low = INFINITY, .high = INFINITY};
    int first = kind == WEFT_VERTEX_FACE ? 1 : 2;
    for (int k = 0; k < 3; k++)
    {
        for (int side = -1; side <= 1; side += 2)
        {
            if (beside(start, first, k, side) && beside(end, first, k, side))
            {
                return truth;
            }
        }
    }
    set_positions(o, start, end);
    if (kind == WEFT_VERTEX_FACE)
    {
        set_vertex_face(o);
    }
    else
    {
        set_edge_edge(o);
    }
    find_first(o, claim, &truth);
    return truth;
}
