// Eight boxes in float at once, and what turns doubles into them. For kernels (*_kernel.c).
//
// A box is six upper bounds: side[0..2] of minus its low corner, side[3..5] of its high corner. The union of boxes is
// then the larger of each side, an empty box has -infinity everywhere, and two boxes a, b are at most `margin` apart
// along every axis when for all k
//     a[k'] + b[k] + margin >= 0,    k' the opposite side of k.
//
// Sides are rounded up, so that what floats call apart is apart. With M the exact side (relative to the origin) and m
// the float, f = M (1 + d) with |d| < 2^-23 after two roundings, and m = f + 2^-22 |f| + TINY:
//     M <= m    and    M >= m - 2^-20 |m| - 2 TINY.
// Sides beyond +-BOX_MAX are put there first. That keeps the order of sides, so that no pair is lost; the second
// bound does not hold at -BOX_MAX and is not used there.
#ifndef WEFT_BOX8_H
#define WEFT_BOX8_H

#include "math/wide.h"

#ifdef __SSE2__
#include <immintrin.h>
#endif

typedef float float8 __attribute__((vector_size(32)));
typedef int32_t int8 __attribute__((vector_size(32)));

#define BOX_MAX 3e38
#define BOX_TINY 1e-37f
#define BOX_ROUND 0x1p-22f

WIDE_INLINE float8 float8_set(float a)
{
    return (float8){a, a, a, a, a, a, a, a};
}

WIDE_INLINE float8 float8_load(const float* p)
{
    float8 a;
    memcpy(&a, p, sizeof(a));
    return a;
}

WIDE_INLINE int8 int8_load(const int* p)
{
    int8 a;
    memcpy(&a, p, sizeof(a));
    return a;
}

WIDE_INLINE int8 int8_set(int a)
{
    return (int8){a, a, a, a, a, a, a, a};
}

WIDE_INLINE float8 float8_max(float8 a, float8 b)
{
#ifdef __AVX__
    return (float8)_mm256_max_ps((__m256)a, (__m256)b);
#elif defined(__SSE2__)
    __m128 x[2], y[2];
    memcpy(x, &a, sizeof(x));
    memcpy(y, &b, sizeof(y));
    x[0] = _mm_max_ps(x[0], y[0]);
    x[1] = _mm_max_ps(x[1], y[1]);
    memcpy(&a, x, sizeof(x));
    return a;
#else
    int8 yes = a > b;
    return (float8)((yes & (int8)a) | (~yes & (int8)b)); // as the instruction has it: b where one is not a number
#endif
}

WIDE_INLINE float8 float8_abs(float8 a)
{
    return (float8)((int8)a & INT32_MAX);
}

WIDE_INLINE float8 float8_select(int8 mask, float8 yes, float8 no)
{
    return (float8)((mask & (int8)yes) | (~mask & (int8)no));
}

WIDE_INLINE float float8_largest(float8 a)
{
    float8 b = float8_max(a, __builtin_shufflevector(a, a, 4, 5, 6, 7, 0, 1, 2, 3));
    b = float8_max(b, __builtin_shufflevector(b, b, 2, 3, 0, 1, 6, 7, 4, 5));
    b = float8_max(b, __builtin_shufflevector(b, b, 1, 0, 3, 2, 5, 4, 7, 6));
    return b[0];
}

// A bit a lane.
WIDE_INLINE unsigned int8_bits(int8 mask)
{
#ifdef __AVX__
    return (unsigned)_mm256_movemask_ps((__m256)mask);
#elif defined(__SSE2__)
    __m128 half[2];
    memcpy(half, &mask, sizeof(half));
    return (unsigned)(_mm_movemask_ps(half[0]) | _mm_movemask_ps(half[1]) << 4);
#else
    unsigned bits = 0;
    for (int k = 0; k < 8; k++)
    {
        bits |= (unsigned)(mask[k] & 1) << k;
    }
    return bits;
#endif
}

// Lanes of `side` that reach all six thresholds, each of which has the same number in all lanes. Without AVX the
// compiler takes comparisons of such wide vectors apart, lane by lane: hence the halves by hand, here and below.
WIDE_INLINE unsigned box8_reach(const float (*side)[8], const float8* threshold)
{
#ifdef __AVX512VL__
    __mmask8 a = _mm256_cmp_ps_mask(_mm256_load_ps(side[0]), (__m256)threshold[0], _CMP_GE_OQ);
    __mmask8 b = _mm256_cmp_ps_mask(_mm256_load_ps(side[3]), (__m256)threshold[3], _CMP_GE_OQ);
    a = _mm256_mask_cmp_ps_mask(a, _mm256_load_ps(side[1]), (__m256)threshold[1], _CMP_GE_OQ);
    b = _mm256_mask_cmp_ps_mask(b, _mm256_load_ps(side[4]), (__m256)threshold[4], _CMP_GE_OQ);
    a = _mm256_mask_cmp_ps_mask(a, _mm256_load_ps(side[2]), (__m256)threshold[2], _CMP_GE_OQ);
    b = _mm256_mask_cmp_ps_mask(b, _mm256_load_ps(side[5]), (__m256)threshold[5], _CMP_GE_OQ);
    return (unsigned)(a & b);
#elif defined(__SSE2__) && !defined(__AVX__)
    unsigned bits = 0;
    for (int half = 0; half < 8; half += 4)
    {
        __m128 all = _mm_cmpge_ps(_mm_load_ps(side[0] + half), _mm_set1_ps(threshold[0][0]));
        for (int k = 1; k < 6; k++)
        {
            all = _mm_and_ps(all, _mm_cmpge_ps(_mm_load_ps(side[k] + half), _mm_set1_ps(threshold[k][0])));
        }
        bits |= (unsigned)_mm_movemask_ps(all) << half;
    }
    return bits;
#else
    int8 all = float8_load(side[0]) >= threshold[0];
    for (int k = 1; k < 6; k++)
    {
        all &= float8_load(side[k]) >= threshold[k];
    }
    return int8_bits(all);
#endif
}

// Lanes in which, for each k, side[k] reaches threshold[k] or other[k] reaches threshold[k + 6].
WIDE_INLINE unsigned box8_reach_one(const float (*side)[8], const float (*other)[8], const float8* threshold)
{
#ifdef __AVX512VL__
    unsigned all = 0xff;
    for (int k = 0; k < 6; k++)
    {
        __mmask8 a = _mm256_cmp_ps_mask(_mm256_load_ps(side[k]), (__m256)threshold[k], _CMP_GE_OQ);
        __mmask8 b = _mm256_cmp_ps_mask(_mm256_load_ps(other[k]), (__m256)threshold[k + 6], _CMP_GE_OQ);
        all &= (unsigned)(a | b);
    }
    return all;
#elif defined(__SSE2__) && !defined(__AVX__)
    unsigned bits = 0;
    for (int half = 0; half < 8; half += 4)
    {
        __m128 all = _mm_castsi128_ps(_mm_set1_epi32(-1));
        for (int k = 0; k < 6; k++)
        {
            __m128 a = _mm_cmpge_ps(_mm_load_ps(side[k] + half), _mm_set1_ps(threshold[k][0]));
            __m128 b = _mm_cmpge_ps(_mm_load_ps(other[k] + half), _mm_set1_ps(threshold[k + 6][0]));
            all = _mm_and_ps(all, _mm_or_ps(a, b));
        }
        bits |= (unsigned)_mm_movemask_ps(all) << half;
    }
    return bits;
#else
    int8 all = (float8_load(side[0]) >= threshold[0]) | (float8_load(other[0]) >= threshold[6]);
    for (int k = 1; k < 6; k++)
    {
        all &= (float8_load(side[k]) >= threshold[k]) | (float8_load(other[k]) >= threshold[k + 6]);
    }
    return int8_bits(all);
#endif
}

// Lanes of `values` that equal `value`, or are greater.
WIDE_INLINE unsigned int8_equal(const int* values, int value)
{
#ifdef __AVX512VL__
    return _mm256_cmpeq_epi32_mask(_mm256_loadu_si256((const __m256i*)values), _mm256_set1_epi32(value));
#elif defined(__SSE2__) && !defined(__AVX__)
    __m128i low = _mm_cmpeq_epi32(_mm_loadu_si128((const __m128i*)values), _mm_set1_epi32(value));
    __m128i high = _mm_cmpeq_epi32(_mm_loadu_si128((const __m128i*)(values + 4)), _mm_set1_epi32(value));
    return (unsigned)(_mm_movemask_ps((__m128)low) | _mm_movemask_ps((__m128)high) << 4);
#else
    return int8_bits(int8_load(values) == int8_set(value));
#endif
}

WIDE_INLINE unsigned int8_greater(const int* values, int value)
{
#ifdef __AVX512VL__
    return _mm256_cmpgt_epi32_mask(_mm256_loadu_si256((const __m256i*)values), _mm256_set1_epi32(value));
#elif defined(__SSE2__) && !defined(__AVX__)
    __m128i low = _mm_cmpgt_epi32(_mm_loadu_si128((const __m128i*)values), _mm_set1_epi32(value));
    __m128i high = _mm_cmpgt_epi32(_mm_loadu_si128((const __m128i*)(values + 4)), _mm_set1_epi32(value));
    return (unsigned)(_mm_movemask_ps((__m128)low) | _mm_movemask_ps((__m128)high) << 4);
#else
    return int8_bits(int8_load(values) > int8_set(value));
#endif
}

// Writes the lanes of `values` whose bit is set, in order; up to eight ints at `out` may be overwritten. Returns how
// many.
WIDE_INLINE int int8_pack(const int* values, unsigned bits, int* out)
{
#ifdef __AVX512VL__
    __m256i packed = _mm256_maskz_compress_epi32((__mmask8)bits, _mm256_loadu_si256((const __m256i*)values));
    _mm256_storeu_si256((__m256i*)out, packed);
    return __builtin_popcount(bits);
#else
    int count = 0; // a loop over the bits that are set would end where no predictor can guess
    for (int k = 0; k < 8; k++)
    {
        out[count] = values[k];
        count += (int)(bits >> k & 1);
    }
    return count;
#endif
}

#endif
