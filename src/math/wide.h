// Eight doubles at once. A kernel is written once against this header and compiled for each CPU kind (files
// *_kernel.c, see CMakeLists.txt); the compiler lowers the vectors to what the kind has. The lane count and the order
// of operations are the same everywhere and nothing is contracted, so every kind gives the same bits, except where
// a kernel asks for wide_fma by name.
#ifndef WEFT_WIDE_H
#define WEFT_WIDE_H

#include <stdint.h>
#include <string.h>

#ifdef KERNEL_CPU
#define KERNEL_JOIN_(a, b) a##_##b
#define KERNEL_JOIN(a, b) KERNEL_JOIN_(a, b)
#define KERNEL_NAME(name) KERNEL_JOIN(name, KERNEL_CPU) // name_base, name_avx2, name_avx512
#endif

enum
{
    WIDE = 8
};

typedef double wide __attribute__((vector_size(64)));
typedef int64_t wide_mask __attribute__((vector_size(64))); // -1 or 0 a lane, as comparisons give
typedef double wide_half __attribute__((vector_size(32)));  // for shuffles where there is no vector of eight

#define WIDE_INLINE static inline __attribute__((always_inline))

WIDE_INLINE wide wide_set(double a)
{
    return (wide){a, a, a, a, a, a, a, a};
}

WIDE_INLINE wide wide_load(const double* p)
{
    wide a;
    memcpy(&a, p, sizeof(a));
    return a;
}

WIDE_INLINE void wide_store(double* p, wide a)
{
    memcpy(p, &a, sizeof(a));
}

WIDE_INLINE wide wide_select(wide_mask mask, wide yes, wide no)
{
    return (wide)((mask & (wide_mask)yes) | (~mask & (wide_mask)no));
}

WIDE_INLINE wide wide_max(wide a, wide b)
{
    return wide_select(a > b, a, b);
}

WIDE_INLINE wide wide_min(wide a, wide b)
{
    return wide_select(a < b, a, b);
}

WIDE_INLINE wide wide_abs(wide a)
{
    return (wide)((wide_mask)a & INT64_MAX);
}

WIDE_INLINE wide wide_sqrt(wide a)
{
    double b[WIDE];
    wide_store(b, a);
    for (int k = 0; k < WIDE; k++)
    {
        b[k] = __builtin_sqrt(b[k]);
    }
    return wide_load(b);
}

// Row k of four becomes lane k: out[i][k] = row[k][i].
WIDE_INLINE void wide_half_transpose(const wide_half* row, wide_half* out)
{
    wide_half t[4];
    for (int k = 0; k < 4; k += 2)
    {
        t[k] = __builtin_shufflevector(row[k], row[k + 1], 0, 4, 2, 6);
        t[k + 1] = __builtin_shufflevector(row[k], row[k + 1], 1, 5, 3, 7);
    }
    for (int k = 0; k < 2; k++)
    {
        out[k] = __builtin_shufflevector(t[k], t[k + 2], 0, 1, 4, 5);
        out[k + 2] = __builtin_shufflevector(t[k], t[k + 2], 2, 3, 6, 7);
    }
}

// The same of eight.
#ifdef __AVX512F__
WIDE_INLINE void wide_transpose(const wide* row, wide* out)
{
    wide t[8], u[8];
    for (int k = 0; k < 8; k += 2)
    {
        t[k] = __builtin_shufflevector(row[k], row[k + 1], 0, 8, 2, 10, 4, 12, 6, 14);
        t[k + 1] = __builtin_shufflevector(row[k], row[k + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    }
    for (int k = 0; k < 8; k += 4)
    {
        for (int j = 0; j < 2; j++)
        {
            u[k + j] = __builtin_shufflevector(t[k + j], t[k + j + 2], 0, 1, 8, 9, 4, 5, 12, 13);
            u[k + j + 2] = __builtin_shufflevector(t[k + j], t[k + j + 2], 2, 3, 10, 11, 6, 7, 14, 15);
        }
    }
    for (int k = 0; k < 4; k++)
    {
        out[k] = __builtin_shufflevector(u[k], u[k + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        out[k + 4] = __builtin_shufflevector(u[k], u[k + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
}
#else
WIDE_INLINE void wide_transpose(const wide* row, wide* out)
{
#pragma GCC unroll 4
    for (int quarter = 0; quarter < 4; quarter++)
    {
        int from = quarter / 2, to = quarter % 2;
        wide_half r[4], turned[4];
        for (int k = 0; k < 4; k++)
        {
            memcpy(&r[k], (const char*)&row[4 * to + k] + 32 * from, sizeof(r[k]));
        }
        wide_half_transpose(r, turned);
        for (int k = 0; k < 4; k++)
        {
            memcpy((char*)&out[4 * from + k] + 32 * to, &turned[k], sizeof(turned[k]));
        }
    }
}
#endif

// Sum of the lanes, always in this order.
WIDE_INLINE double wide_sum(wide a)
{
    return ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]));
}

#endif
