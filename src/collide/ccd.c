// Continuous collision detection of a vertex with a face and of an edge with an edge, all points moving on straight
// lines.
//
// Both are one question. Take the vertex away from the corners of the face, or, for edges a0 a1 and b0 b1, the four
// differences a0-b0, a1-b0, a1-b1, a0-b1: corners q_0 .. q_{m-1} of a triangle or a parallelogram, each moving linearly
// in t. The primitives share a point at time t exactly when the origin lies in that closed polygon. With
//
//     c_k = q_k x q_{k+1},   n = sum of the c_k (twice the vector area),   f = c_0 . q_2,   g_k = c_k . n
//
// (1) a collision at t needs f(t) = 0, a cubic, and g_k(t) >= 0 for all k, quartics;
// (2) where n(t) is not zero, f(t) = 0 and all g_k(t) >= 0 suffice: the origin lies in the polygon's plane, and on the
//     inner side of every edge;
// (3) where n(t) = 0 the polygon has shrunk to a segment or a point, which its edges cover; the origin lies on edge k
// exactly
//     when c_k(t) = 0 and q_k . q_{k+1} <= 0. The sum of the g_k is n . n: if all are zero, so is n;
// (4) if f is zero for all t (coplanar motion) and there is no collision at t = 0, then the first one is on an edge in
// the
//     sense of (3): inside, with n not zero, all g_k would be positive, hence positive a little earlier too.
//
// So a fast filter may say no where f has no root or some g_k is negative throughout, and yes where f changes sign
// while all g_k are positive (ccd_filter.c). What it leaves open is decided by the signs of whole polynomials at roots
// of whole polynomials (ccd_exact.c). Nothing is perturbed and there is no tolerance.
#include "collide/ccd.h"

#include <math.h>

const ccd_corners ccd_corners_of[2] = {
    [WEFT_VERTEX_FACE] = {3, {{1, 0}, {2, 0}, {3, 0}}},
    [WEFT_EDGE_EDGE] = {4, {{0, 2}, {1, 2}, {1, 3}, {0, 3}}},
};

// Products of four differences of such numbers stay far from the limits of doubles: a difference is 0 or at least
// 2^-152 (the last bit of 1e-30), so that such a product is at least 2^-608, and at most 2^168.
bool ccd_in_range(double coordinate)
{
    double size = fabs(coordinate);
    return size == 0.0 || (size >= 1e-30 && size <= 1e12);
}

weft_ccd ccd_decide(weft_pair_kind kind, const vec3 start[4], const vec3 end[4])
{
    weft_ccd out = {.time = INFINITY};
    ccd_verdict verdict = ccd_filter(kind, start, end, &out.time);
    if (verdict == CCD_UNSURE)
    {
        out.exact = 1;
        verdict = ccd_exact(kind, start, end, &out.time) ? CCD_YES : CCD_NO;
    }
    out.collides = verdict == CCD_YES;
    out.time = out.collides ? out.time : INFINITY;
    return out;
}

bool ccd_pierces(vec3 from, vec3 to, const vec3 face[3])
{
    vec3 start[4] = {from, face[0], face[1], face[2]}, end[4] = {to, face[0], face[1], face[2]};
    return ccd_decide(WEFT_VERTEX_FACE, start, end).collides;
}

static weft_status check_range(const vec3 points[4])
{
    weft_status status = WEFT_OK;
    for (int k = 0; k < 4; k++)
    {
        if (!v3_is_finite(points[k]))
        {
            return WEFT_NOT_FINITE;
        }
        if (!ccd_in_range(points[k].x) || !ccd_in_range(points[k].y) || !ccd_in_range(points[k].z))
        {
            status = WEFT_BAD_INPUT;
        }
    }
    return status;
}

weft_status weft_ccd_query(weft_pair_kind kind, const weft_vec3 start[4], const weft_vec3 end[4], weft_ccd* out)
{
    WEFT_ASSERT(start && end && out && (kind == WEFT_VERTEX_FACE || kind == WEFT_EDGE_EDGE));
    weft_status at_start = check_range(start), at_end = check_range(end);
    if (at_start == WEFT_NOT_FINITE || at_end == WEFT_NOT_FINITE)
    {
        return WEFT_NOT_FINITE;
    }
    TRY(at_start);
    TRY(at_end);
    *out = ccd_decide(kind, start, end);
    return WEFT_OK;
}
