// Triangles with a rest shape, eight abreast: their deformation gradient, and what is by its columns brought to the
// three vertices.
#ifndef WEFT_TRIANGLE_LANES_H
#define WEFT_TRIANGLE_LANES_H

#include "material/material.h"
#include "math/wide_vec.h"

typedef struct triangle_map
{
    wide b1u, b2u, b1v, b2v; // w_u = b1u (x1 - x0) + b2u (x2 - x0)
} triangle_map;

// The first four numbers of rest data.
WIDE_INLINE triangle_map triangle_load(const double* rest, int stride, const int* elements)
{
    return (triangle_map){wide_gather(rest, stride, 0, elements), wide_gather(rest, stride, 1, elements),
                          wide_gather(rest, stride, 2, elements), wide_gather(rest, stride, 3, elements)};
}

typedef struct gradient
{
    wvec u, v;
} gradient;

// The deformation gradient of positions, or its rate from velocities.
WIDE_INLINE gradient gradient_of(const triangle_map* e, const vec3* x, const int* vertices, const int* elements)
{
    wvec x0 = wv_gather(x, vertices, 3, 0, elements);
    wvec d1 = wv_sub(wv_gather(x, vertices, 3, 1, elements), x0);
    wvec d2 = wv_sub(wv_gather(x, vertices, 3, 2, elements), x0);
    return (gradient){wv_madd(wv_scale(e->b1u, d1), e->b2u, d2), wv_madd(wv_scale(e->b1v, d1), e->b2v, d2)};
}

WIDE_INLINE void put_vector(double (*out)[BATCH], wvec a)
{
    wide_store(out[0], a.x);
    wide_store(out[1], a.y);
    wide_store(out[2], a.z);
}

// Forces by the columns w_u and w_v, to the three vertices.
WIDE_INLINE void put_forces(const triangle_map* e, gradient g, double (*out)[3][BATCH])
{
    wvec f1 = wv_madd(wv_scale(e->b1u, g.u), e->b1v, g.v);
    wvec f2 = wv_madd(wv_scale(e->b2u, g.u), e->b2v, g.v);
    put_vector(out[1], f1);
    put_vector(out[2], f2);
    put_vector(out[0], wv_scale(wide_set(-1.0), wv_add(f1, f2)));
}

// Blocks from the 6 x 6 matrix (uu, uv; uv^T, vv): (1,1), (1,2), (2,2) directly, those of vertex 0 by minus sums, so
// that a translation is in the kernel to rounding.
WIDE_INLINE void put_blocks(const triangle_map* e, const wide* uu, const wide* uv, const wide* vv, element_batch* out)
{
    for (int r = 0; r < 3; r++)
    {
        for (int c = 0; c < 3; c++)
        {
            int k = 3 * r + c, t = 3 * c + r;
            wide b11 = e->b1u * e->b1u * uu[k] + e->b1v * e->b1v * vv[k] + e->b1u * e->b1v * (uv[k] + uv[t]);
            wide b22 = e->b2u * e->b2u * uu[k] + e->b2v * e->b2v * vv[k] + e->b2u * e->b2v * (uv[k] + uv[t]);
            wide b12 =
                e->b1u * e->b2u * uu[k] + e->b1v * e->b2v * vv[k] + e->b1u * e->b2v * uv[k] + e->b1v * e->b2u * uv[t];
            wide b21 =
                e->b1u * e->b2u * uu[k] + e->b1v * e->b2v * vv[k] + e->b1u * e->b2v * uv[t] + e->b1v * e->b2u * uv[k];
            wide b01 = -(b11 + b21), b02 = -(b12 + b22);
            wide_store(out->block[pair_index(3, 1, 1)][k], b11);
            wide_store(out->block[pair_index(3, 1, 2)][k], b12);
            wide_store(out->block[pair_index(3, 2, 2)][k], b22);
            wide_store(out->block[pair_index(3, 0, 1)][k], b01);
            wide_store(out->block[pair_index(3, 0, 2)][k], b02);
            wide_store(out->block[pair_index(3, 0, 0)][k], b11 + b12 + b21 + b22);
        }
    }
}

#endif
