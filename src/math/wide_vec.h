// Three-vectors of eight lanes, gathered from element vertices, and an arc tangent of eight lanes.
#ifndef WEFT_WIDE_VEC_H
#define WEFT_WIDE_VEC_H

#include "math/vec.h"
#include "math/wide.h"

#ifdef __AVX2__
#include <immintrin.h>
#endif

typedef struct wvec
{
    wide x, y, z;
} wvec;

WIDE_INLINE wvec wv_sub(wvec a, wvec b)
{
    return (wvec){a.x - b.x, a.y - b.y, a.z - b.z};
}

WIDE_INLINE wvec wv_add(wvec a, wvec b)
{
    return (wvec){a.x + b.x, a.y + b.y, a.z + b.z};
}

WIDE_INLINE wvec wv_scale(wide s, wvec a)
{
    return (wvec){s * a.x, s * a.y, s * a.z};
}

// a + s b
WIDE_INLINE wvec wv_madd(wvec a, wide s, wvec b)
{
    return (wvec){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

WIDE_INLINE wide wv_dot(wvec a, wvec b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

WIDE_INLINE wvec wv_cross(wvec a, wvec b)
{
    return (wvec){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

WIDE_INLINE wvec wv_select(wide_mask which, wvec a, wvec b)
{
    return (wvec){wide_select(which, a.x, b.x), wide_select(which, a.y, b.y), wide_select(which, a.z, b.z)};
}

// Lane k is array[vertices[arity * elements[k] + a]].
#ifdef __AVX512VL__
// Whole vectors, masked so that nothing past the last is read, and eleven shuffles.
WIDE_INLINE wvec wv_gather(const vec3* array, const int* vertices, int arity, int a, const int* elements)
{
    wide p[4];
    for (int k = 0; k < 4; k++)
    {
        const double* low = &array[vertices[(size_t)elements[k] * (size_t)arity + (size_t)a]].x;
        const double* high = &array[vertices[(size_t)elements[k + 4] * (size_t)arity + (size_t)a]].x;
        __m512d first = _mm512_castpd256_pd512(_mm256_maskz_loadu_pd(7, low));
        p[k] = (wide)_mm512_insertf64x4(first, _mm256_maskz_loadu_pd(7, high), 1);
    }
    wide xz01 = __builtin_shufflevector(p[0], p[1], 0, 8, 2, 10, 4, 12, 6, 14);
    wide xz23 = __builtin_shufflevector(p[2], p[3], 0, 8, 2, 10, 4, 12, 6, 14);
    wide y01 = __builtin_shufflevector(p[0], p[1], 1, 9, 3, 11, 5, 13, 7, 15);
    wide y23 = __builtin_shufflevector(p[2], p[3], 1, 9, 3, 11, 5, 13, 7, 15);
    return (wvec){__builtin_shufflevector(xz01, xz23, 0, 1, 8, 9, 4, 5, 12, 13),
                  __builtin_shufflevector(y01, y23, 0, 1, 8, 9, 4, 5, 12, 13),
                  __builtin_shufflevector(xz01, xz23, 2, 3, 10, 11, 6, 7, 14, 15)};
}
#elif defined(__AVX2__)
// The same by halves.
WIDE_INLINE wvec wv_gather(const vec3* array, const int* vertices, int arity, int a, const int* elements)
{
    const __m256i three = _mm256_set_epi64x(0, -1, -1, -1);
    wvec out;
    for (int half = 0; half < 2; half++)
    {
        wide_half p[4], turned[4];
        for (int k = 0; k < 4; k++)
        {
            size_t vertex = (size_t)elements[4 * half + k] * (size_t)arity + (size_t)a;
            p[k] = (wide_half)_mm256_maskload_pd(&array[vertices[vertex]].x, three);
        }
        wide_half_transpose(p, turned);
        memcpy((char*)&out.x + 32 * half, &turned[0], 32);
        memcpy((char*)&out.y + 32 * half, &turned[1], 32);
        memcpy((char*)&out.z + 32 * half, &turned[2], 32);
    }
    return out;
}
#else
WIDE_INLINE wvec wv_gather(const vec3* array, const int* vertices, int arity, int a, const int* elements)
{
    double x[WIDE], y[WIDE], z[WIDE];
    for (int k = 0; k < WIDE; k++)
    {
        const vec3* p = &array[vertices[(size_t)elements[k] * (size_t)arity + (size_t)a]];
        x[k] = p->x;
        y[k] = p->y;
        z[k] = p->z;
    }
    return (wvec){wide_load(x), wide_load(y), wide_load(z)};
}
#endif

// Lane k is array[stride * elements[k] + offset].
WIDE_INLINE wide wide_gather(const double* array, int stride, int offset, const int* elements)
{
    double a[WIDE];
    for (int k = 0; k < WIDE; k++)
    {
        a[k] = array[(size_t)elements[k] * (size_t)stride + (size_t)offset];
    }
    return wide_load(a);
}

// Lane k of out[i] is array[stride * elements[k] + i].
WIDE_INLINE void wide_gather_rows(const double* array, int stride, const int* elements, wide* out /* [WIDE] */)
{
    wide row[WIDE];
    for (int k = 0; k < WIDE; k++)
    {
        row[k] = wide_load(array + (size_t)elements[k] * (size_t)stride);
    }
    wide_transpose(row, out);
}

// 1 / a, or 0 where a is too small to have a direction.
WIDE_INLINE wide wide_safe_inverse(wide a)
{
    wide_mask usable = a > 1e-150;
    return wide_select(usable, 1.0 / wide_select(usable, a, wide_set(1.0)), wide_set(0.0));
}

// A unit vector across a; any, and none where a is zero.
WIDE_INLINE wvec wv_across(wvec a)
{
    wide zero = wide_set(0.0);
    wide_mask flat = wide_abs(a.x) < wide_abs(a.y);
    wvec b = {wide_select(flat, zero, -a.z), wide_select(flat, -a.z, zero), wide_select(flat, a.y, a.x)};
    return wv_scale(wide_safe_inverse(wide_sqrt(wv_dot(b, b))), b);
}

// atan2 to some 2 ulp, with atan2(0, 0) = 0. The argument is reduced to t = min / max in [0, 1], values above
// tan(pi/8) by (t - 1) / (t + 1), the rest is the classical rational approximation of Cephes.
WIDE_INLINE wide wide_atan2(wide y, wide x)
{
    wide ax = wide_abs(x), ay = wide_abs(y);
    wide_mask steep = ay > ax;
    wide low = wide_select(steep, ax, ay), high = wide_select(steep, ay, ax);
    wide t = low / wide_select(high > 0.0, high, wide_set(1.0));
    wide_mask upper = t > 0.41421356237309503;
    wide r = wide_select(upper, (t - 1.0) / (t + 1.0), t);
    wide z = r * r;
    wide p = (((-8.750608600031904122785e-1 * z - 1.615753718733365076637e1) * z - 7.500855792314704667340e1) * z -
              1.228866684490136173410e2) *
                 z -
             6.485021904942025371773e1;
    wide q = ((((z + 2.485846490142306297962e1) * z + 1.650270098316988542046e2) * z + 4.328810604912902668951e2) * z +
              4.853903996359136964868e2) *
                 z +
             1.945506571482613964425e2;
    wide angle = r + r * (z * p / q);
    angle = wide_select(upper, angle + PI / 4, angle);
    angle = wide_select(steep, PI / 2 - angle, angle);
    angle = wide_select(x < 0.0, PI - angle, angle);
    return wide_select(y < 0.0, -angle, angle);
}

// sin(2 pi t) to some 1e-16 for |t| < 2^50: t less its nearest whole number, folded to a quarter, by its series.
WIDE_INLINE wide wide_sin_turns(wide t)
{
    const double whole = 6755399441055744.0; // 1.5 * 2^52: adding it rounds
    wide r = t - ((t + whole) - whole);
    r = wide_select(r > 0.25, 0.5 - r, wide_select(r < -0.25, -0.5 - r, r));
    wide y = 2.0 * PI * r, z = y * y, sum = wide_set(1.0 / 51090942171709440000.0);
    static const double inverse[] = {121645100408832000.0,
                                     355687428096000.0,
                                     1307674368000.0,
                                     6227020800.0,
                                     39916800.0,
                                     362880.0,
                                     5040.0,
                                     120.0,
                                     6.0};
    for (int k = 0; k < 9; k++)
    {
        sum = (k % 2 == 0 ? -1.0 : 1.0) / inverse[k] + z * sum;
    }
    return y + y * z * sum;
}

#endif
