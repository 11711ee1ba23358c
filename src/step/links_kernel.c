// Links of one colour, eight at a time (links.h).
#include "step/links.h"

#include "math/wide_vec.h"

#ifdef __AVX2__
#include <immintrin.h>
#endif

#ifdef __AVX2__
WIDE_INLINE void put(vec3* x, const int* at, wvec p, int count)
{
    for (int half = 0; half < 2; half++)
    {
        wide_half column[4] = {{0}}, row[4];
        memcpy(&column[0], (const char*)&p.x + 32 * half, 32);
        memcpy(&column[1], (const char*)&p.y + 32 * half, 32);
        memcpy(&column[2], (const char*)&p.z + 32 * half, 32);
        wide_half_transpose(column, row);
        for (int k = 0; k < 4 && 4 * half + k < count; k++)
        {
            vec3* to = &x[at[4 * half + k]];
            _mm_storeu_pd(&to->x, _mm256_castpd256_pd128((__m256d)row[k]));
            _mm_store_sd(&to->z, _mm256_extractf128_pd((__m256d)row[k], 1));
        }
    }
}
#else
WIDE_INLINE void put(vec3* x, const int* at, wvec p, int count)
{
    for (int k = 0; k < count; k++)
    {
        x[at[k]] = v3(p.x[k], p.y[k], p.z[k]);
    }
}
#endif

// Lanes past `count` repeat the first and are not stored.
WIDE_INLINE wide take(const double* array, const int* lane, int count)
{
    return count == WIDE ? wide_load(array) : wide_gather(array, 1, 0, lane);
}

WIDE_INLINE void project_batch(const links* l, bool remember, vec3* x, int at, int count)
{
    int lane[WIDE];
    for (int k = 0; k < WIDE; k++)
    {
        lane[k] = k < count ? k : 0;
    }
    const wide zero = wide_set(0.0);
    wide inv_a = take(l->inv_a + at, lane, count), inv_b = take(l->inv_b + at, lane, count);
    wide soft = take(l->soft + at, lane, count), rest = take(l->length + at, lane, count);
    wide most = take(l->most + at, lane, count), before = remember ? take(l->lambda + at, lane, count) : zero;
    wvec a = wv_gather(x, l->a + at, 1, 0, lane), b = wv_gather(x, l->b + at, 1, 0, lane);
    wvec d = wv_sub(b, a);
    wide length = wide_sqrt(wv_dot(d, d)), weight = inv_a + inv_b + soft;
    wide held = remember ? wide_select(before != zero, soft * before, zero) : zero; // soft may be infinite
    wide step = (rest - length - held) / wide_select(weight > 0.0, weight, wide_set(1.0));
    wide after = wide_min(before + wide_select(weight > 0.0, step, zero), most);
    wide along = (after - before) * wide_safe_inverse(length);
    put(x, l->a + at, wv_madd(a, -(along * inv_a), d), count);
    put(x, l->b + at, wv_madd(b, along * inv_b, d), count);
    for (int k = 0; k < count && remember; k++)
    {
        l->lambda[at + k] = after[k];
    }
}

static void project(const links* l, bool remember, vec3* x, int begin, int end)
{
    int at = begin;
    for (; at + WIDE <= end; at += WIDE)
    {
        remember ? project_batch(l, true, x, at, WIDE) : project_batch(l, false, x, at, WIDE);
    }
    if (at < end)
    {
        project_batch(l, remember, x, at, end - at);
    }
}

WIDE_INLINE void damp_batch(const links* l, const vec3* x, vec3* v, int at, int count)
{
    int lane[WIDE];
    for (int k = 0; k < WIDE; k++)
    {
        lane[k] = k < count ? k : 0;
    }
    wide inv_a = take(l->inv_a + at, lane, count), inv_b = take(l->inv_b + at, lane, count);
    wide soft = take(l->soft_rate + at, lane, count), weight = inv_a + inv_b + soft;
    wvec va = wv_gather(v, l->a + at, 1, 0, lane), vb = wv_gather(v, l->b + at, 1, 0, lane);
    wvec d = wv_sub(wv_gather(x, l->b + at, 1, 0, lane), wv_gather(x, l->a + at, 1, 0, lane));
    wide inv_sq = wide_safe_inverse(wv_dot(d, d));
    wide step = wv_dot(d, wv_sub(vb, va)) * inv_sq / wide_select(weight > 0.0, weight, wide_set(1.0));
    step = wide_select(weight > 0.0, step, wide_set(0.0));
    put(v, l->a + at, wv_madd(va, step * inv_a, d), count);
    put(v, l->b + at, wv_madd(vb, -(step * inv_b), d), count);
}

static void damp(const links* l, const vec3* x, vec3* v, int begin, int end)
{
    int at = begin;
    for (; at + WIDE <= end; at += WIDE)
    {
        damp_batch(l, x, v, at, WIDE);
    }
    if (at < end)
    {
        damp_batch(l, x, v, at, end - at);
    }
}

extern const link_kernels KERNEL_NAME(link_kernels);
const link_kernels KERNEL_NAME(link_kernels) = {project, damp};
