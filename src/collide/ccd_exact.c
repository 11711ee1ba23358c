// The exact part of continuous collision detection (ccd.c has the mathematics and its numbers (1) to (4)).
//
// All coordinates are whole multiples of one power of two; scaled by it they are whole, and so are the coefficients of
// all polynomials in t. The roots of one polynomial F in [0, 1] are looked at in order; whether a root is a collision
// is a matter of signs of other polynomials there, found by Tarski's query on an interval that holds this root alone
// (big.h), so that irrational, multiple and shared roots need no special care.
//
// Sizes: a coordinate has at most 193 bits (lowest bit 2^-152, highest 2^40), f some 600, g 790, the last remainder of
// a query's chain 20,100. Two roots of f are at least 2^-1300 apart, which bounds the depth of the bisection.
#include <math.h>

#include "collide/big.h"
#include "collide/ccd.h"

enum
{
    POOL_DIGITS = 24576, // 192 KiB. Counted line by line: polygon 5,000, a query's chain 6,500, three counting chains
                         // 3,500, values at points 1,000; the tests reach 12,500 with the widest coordinates
    POINT_BITS = 42 // of the time that is reported
};

typedef struct poly3
{
    poly x, y, z;
} poly3;

typedef struct polygon
{
    big_pool* pool;
    int count;
    poly3 corner[CCD_CORNERS]; // q_k
    poly3 cross[CCD_CORNERS];  // c_k
    poly inside[CCD_CORNERS];  // g_k
    poly coplanar;             // f
} polygon;

// A number in [0, 1]: `low` itself, or the only root of F strictly between low and high, neither of which is one.
typedef struct moment
{
    const poly* F; // NULL: low
    dyadic low, high;
} moment;

// ---- the polygon

static poly3 poly3_sub(big_pool* pool, const poly3* a, const poly3* b)
{
    return (poly3){poly_sub(pool, &a->x, &b->x), poly_sub(pool, &a->y, &b->y), poly_sub(pool, &a->z, &b->z)};
}

static poly3 poly3_add(big_pool* pool, const poly3* a, const poly3* b)
{
    return (poly3){poly_add(pool, &a->x, &b->x), poly_add(pool, &a->y, &b->y), poly_add(pool, &a->z, &b->z)};
}

// a b - c d
static poly minor(big_pool* pool, const poly* a, const poly* b, const poly* c, const poly* d)
{
    poly left = poly_mul(pool, a, b), right = poly_mul(pool, c, d);
    return poly_sub(pool, &left, &right);
}

static poly3 poly3_cross(big_pool* pool, const poly3* a, const poly3* b)
{
    return (poly3){minor(pool, &a->y, &b->z, &a->z, &b->y), minor(pool, &a->z, &b->x, &a->x, &b->z),
                   minor(pool, &a->x, &b->y, &a->y, &b->x)};
}

static poly poly3_dot(big_pool* pool, const poly3* a, const poly3* b)
{
    poly x = poly_mul(pool, &a->x, &b->x), y = poly_mul(pool, &a->y, &b->y), z = poly_mul(pool, &a->z, &b->z);
    x = poly_add(pool, &x, &y);
    return poly_add(pool, &x, &z);
}

// Exponent of the lowest bit that is set in any coordinate.
static int lowest_exponent(const vec3 start[4], const vec3 end[4])
{
    int lowest = INT32_MAX;
    for (int k = 0; k < 8; k++)
    {
        vec3 p = k < 4 ? start[k] : end[k - 4];
        const double coordinate[3] = {p.x, p.y, p.z};
        for (int i = 0; i < 3; i++)
        {
            int exponent;
            uint64_t mantissa = (uint64_t)ldexp(frexp(fabs(coordinate[i]), &exponent), 53);
            lowest = mantissa ? int_min(lowest, exponent - 53 + __builtin_ctzll(mantissa)) : lowest;
        }
    }
    return lowest;
}

// The motion of one coordinate: its start, and what it gains over the step.
static poly motion(big_pool* pool, double start, double end, int exponent)
{
    big at_start = big_from_double(pool, start, exponent);
    return poly_linear(at_start, big_sub(pool, big_from_double(pool, end, exponent), at_start));
}

static void polygon_make(polygon* p, weft_pair_kind kind, const vec3 start[4], const vec3 end[4])
{
    int exponent = lowest_exponent(start, end);
    poly3 point[4];
    for (int k = 0; k < 4; k++)
    {
        point[k] =
            (poly3){motion(p->pool, start[k].x, end[k].x, exponent), motion(p->pool, start[k].y, end[k].y, exponent),
                    motion(p->pool, start[k].z, end[k].z, exponent)};
    }
    const ccd_corners* corners = &ccd_corners_of[kind];
    p->count = corners->count;
    for (int k = 0; k < p->count; k++)
    {
        p->corner[k] = poly3_sub(p->pool, &point[corners->of[k][0]], &point[corners->of[k][1]]);
    }
    poly3 normal = {{.degree = -1}, {.degree = -1}, {.degree = -1}};
    for (int k = 0; k < p->count; k++)
    {
        p->cross[k] = poly3_cross(p->pool, &p->corner[k], &p->corner[(k + 1) % p->count]);
        normal = poly3_add(p->pool, &normal, &p->cross[k]);
    }
    for (int k = 0; k < p->count; k++)
    {
        p->inside[k] = poly3_dot(p->pool, &p->cross[k], &normal);
    }
    p->coplanar = poly3_dot(p->pool, &p->cross[0], &p->corner[2]);
}

// ---- signs at a moment

static int sign_at(big_pool* pool, const poly* g, const moment* at)
{
    if (!at->F || g->degree <= 0)
    {
        return poly_sign(pool, g, at->low);
    }
    int mark = pool->used;
    poly_chain chain = poly_chain_make(pool, at->F, g);
    int sign = poly_chain_changes(pool, &chain, at->low) - poly_chain_changes(pool, &chain, at->high);
    pool->used = mark;
    return sign;
}

// (3): the origin on edge k.
static bool on_edge(const polygon* p, int k, const moment* at)
{
    int mark = p->pool->used;
    const poly3* cross = &p->cross[k];
    poly dot = poly3_dot(p->pool, &p->corner[k], &p->corner[(k + 1) % p->count]);
    bool on = sign_at(p->pool, &cross->x, at) == 0 && sign_at(p->pool, &cross->y, at) == 0 &&
              sign_at(p->pool, &cross->z, at) == 0 && sign_at(p->pool, &dot, at) <= 0;
    p->pool->used = mark;
    return on;
}

// (2) and (3), where f = 0.
static bool in_polygon(const polygon* p, int unused, const moment* at)
{
    (void)unused;
    bool flat = true;
    for (int k = 0; k < p->count; k++)
    {
        int sign = sign_at(p->pool, &p->inside[k], at);
        if (sign < 0)
        {
            return false;
        }
        flat = flat && sign == 0;
    }
    if (!flat)
    {
        return true;
    }
    for (int k = 0; k < p->count; k++)
    {
        if (on_edge(p, k, at))
        {
            return true;
        }
    }
    return false;
}

static bool always(const polygon* p, int k, const moment* at)
{
    (void)p;
    (void)k;
    (void)at;
    return true;
}

// ---- the first root of F in [0, 1] that a test accepts

typedef struct search
{
    const polygon* p;
    bool (*accepts)(const polygon* p, int k, const moment* at);
    int k; // handed to accepts
    double time;
} search;

// The largest number of POINT_BITS bits that is not above the point, in [0, 1].
static double point_below(big_pool* pool, dyadic point)
{
    int cut = int_max(0, point.shift - POINT_BITS);
    return ldexp(big_to_double(big_shift_down(pool, point.numerator, cut)), cut - point.shift);
}

// (numerator + 1/2 steps) / 2^shift: middle of the interval from `low` of length 2^-shift, and its end.
static dyadic point_after(big_pool* pool, dyadic low, int halves)
{
    big doubled = big_shift_up(pool, low.numerator, 1);
    return (dyadic){big_add(pool, doubled, big_from_uint(pool, (uint64_t)halves)), low.shift + 1};
}

// Shrinks the interval of length 2^-low.shift around the root until low is close enough below it.
static double root_below(big_pool* pool, const poly_chain* chain, dyadic low)
{
    int at_low = poly_chain_changes(pool, chain, low);
    while (low.shift < POINT_BITS)
    {
        dyadic middle = point_after(pool, low, 1);
        if (poly_sign(pool, &chain->item[0], middle) == 0)
        {
            low = middle;
            break;
        }
        bool before = at_low - poly_chain_changes(pool, chain, middle) > 0;
        low = before ? point_after(pool, low, 0) : middle;
    }
    return point_below(pool, low);
}

static bool search_point(search* s, dyadic point)
{
    moment at = {NULL, point, point};
    if (!s->accepts(s->p, s->k, &at))
    {
        return false;
    }
    s->time = point_below(s->p->pool, point);
    return true;
}

// Roots strictly inside the interval of length 2^-low.shift, whose ends are none, from left to right.
static bool search_inside(search* s, const poly* F, dyadic low)
{
    if (F->degree <= 0)
    {
        return false;
    }
    big_pool* pool = s->p->pool;
    poly_chain chain = poly_chain_make(pool, F, NULL);
    int mark = pool->used;
    for (;;)
    {
        dyadic middle = point_after(pool, low, 1), high = point_after(pool, low, 2);
        int at_low = poly_chain_changes(pool, &chain, low);
        int roots = at_low - poly_chain_changes(pool, &chain, high);
        if (roots == 0)
        {
            return false;
        }
        if (roots == 1)
        {
            moment at = {F, low, high};
            bool found = s->accepts(s->p, s->k, &at);
            s->time = found ? root_below(pool, &chain, low) : s->time;
            return found;
        }
        dyadic left = point_after(pool, low, 0);
        if (poly_sign(pool, F, middle) == 0)
        {
            poly rest = poly_deflate(pool, F, middle);
            return search_inside(s, &rest, left) || search_point(s, middle) || search_inside(s, &rest, middle);
        }
        int before = at_low - poly_chain_changes(pool, &chain, middle);
        if (before > 0 && before < roots && search_inside(s, F, left))
        {
            return true;
        }
        // The digits of this round go back to the pool: roots that lie close together take many.
        low = big_keep(pool, mark, before == roots ? left : middle);
    }
}

static bool search_first(search* s, const poly* F)
{
    big_pool* pool = s->p->pool;
    dyadic zero = {{0}, 0}, one = {big_from_uint(pool, 1), 0};
    if (poly_sign(pool, F, zero) == 0 && search_point(s, zero))
    {
        return true;
    }
    poly rest = poly_deflate(pool, F, zero);
    rest = poly_deflate(pool, &rest, one);
    return search_inside(s, &rest, zero) || (poly_sign(pool, F, one) == 0 && search_point(s, one));
}

// ---- coplanar motion

// The first time at which the origin lies on edge k, given that it does not at t = 0: a common root of the components
// of c_k, or, when these vanish for all t (motion along one line), the first root of the dot product.
static bool edge_first(const polygon* p, int k, double* time)
{
    const poly* component[3] = {&p->cross[k].x, &p->cross[k].y, &p->cross[k].z};
    search s = {.p = p, .accepts = on_edge, .k = k};
    bool found = false;
    int mark = p->pool->used, axis = 0;
    while (axis < 3 && component[axis]->degree < 0)
    {
        axis++;
    }
    if (axis < 3)
    {
        found = search_first(&s, component[axis]);
    }
    else
    {
        poly dot = poly3_dot(p->pool, &p->corner[k], &p->corner[(k + 1) % p->count]);
        s.accepts = always;
        found = search_first(&s, &dot);
    }
    p->pool->used = mark;
    *time = s.time;
    return found;
}

// (4)
static bool coplanar_first(const polygon* p, double* time)
{
    dyadic zero = {{0}, 0};
    moment start = {NULL, zero, zero};
    *time = 0.0;
    if (in_polygon(p, 0, &start))
    {
        return true;
    }
    double first = INFINITY;
    for (int k = 0; k < p->count; k++)
    {
        double own;
        first = edge_first(p, k, &own) ? fmin(first, own) : first;
    }
    *time = first;
    return first <= 1.0;
}

bool ccd_exact(weft_pair_kind kind, const vec3 start[4], const vec3 end[4], double* time)
{
    uint64_t digits[POOL_DIGITS];
    big_pool pool = {digits, 0, POOL_DIGITS, 0};
    polygon p = {.pool = &pool};
    polygon_make(&p, kind, start, end);
    if (p.coplanar.degree < 0)
    {
        return coplanar_first(&p, time);
    }
    search s = {.p = &p, .accepts = in_polygon};
    bool found = search_first(&s, &p.coplanar);
    *time = s.time;
    return found;
}
