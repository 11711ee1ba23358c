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

// Sum of the lanes, always in this order.
WIDE_INLINE double wide_sum(wide a)
{
    return ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]));
}

#endif
