// Vectors of the dense kernels: as many lanes as the CPU kind has, and its fused multiply-add by name. Only for files
// that are compiled for each CPU kind.
#ifndef WEFT_DENSE_LANE_H
#define WEFT_DENSE_LANE_H

#include <string.h>

#include "math/wide.h"
#include "solve/direct/dense.h"

#if defined(__AVX512F__)
#include <immintrin.h>
enum
{
    LANES = 8,
    GROUP = 3,  // slabs whose tiles are in registers together
    COLUMNS = 8 // columns of a tile that are in registers together
};
typedef double lane __attribute__((vector_size(64)));
#elif defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>
enum
{
    LANES = 4,
    GROUP = 1,
    COLUMNS = 4
};
typedef double lane __attribute__((vector_size(32)));
#else
enum
{
    LANES = 2,
    GROUP = 1,
    COLUMNS = 2
};
typedef double lane __attribute__((vector_size(16)));
#endif

enum
{
    PARTS = TILE / LANES // vectors a tile's column
};

WIDE_INLINE lane lane_set(double a)
{
    lane b = {0}; // gcc cannot see that all lanes are set when it does not unroll
    for (int k = 0; k < LANES; k++)
    {
        b[k] = a;
    }
    return b;
}

WIDE_INLINE lane lane_load(const double* p)
{
    lane a;
    memcpy(&a, p, sizeof(a));
    return a;
}

// *p in every lane. By name, because the compiler would otherwise load eight neighbours at once and shuffle them, which
// takes a third of the slots of the multiply-adds.
WIDE_INLINE lane lane_broadcast(const double* p)
{
#if defined(__AVX512F__)
    return _mm512_broadcastsd_pd(_mm_load_sd(p));
#elif defined(__AVX2__) && defined(__FMA__)
    return _mm256_broadcast_sd(p);
#else
    return lane_set(*p);
#endif
}

WIDE_INLINE void lane_store(double* p, lane a)
{
    memcpy(p, &a, sizeof(a));
}

// c - a b
WIDE_INLINE lane lane_subtract_product(lane c, lane a, lane b)
{
#if defined(__AVX512F__)
    return _mm512_fnmadd_pd(a, b, c);
#elif defined(__AVX2__) && defined(__FMA__)
    return _mm256_fnmadd_pd(a, b, c);
#else
    return c - a * b;
#endif
}

typedef struct tile_range
{
    int begin, end;
} tile_range;

// Of dense_solve_kernel.c; see dense_kernels.
void KERNEL_NAME(dense_invert_pivots)(const front* f);
void KERNEL_NAME(dense_solve_pivots)(const front* f, const dense_sides* s, double* x);
void KERNEL_NAME(dense_multiply_rows)(const front* f, const dense_sides* s, const double* x, double* y, int slab_begin,
                                      int slab_end);
void KERNEL_NAME(dense_multiply_rows_transposed)(const front* f, const dense_sides* s, const double* y, double* x,
                                                 int column_begin, int column_end);
void KERNEL_NAME(dense_solve_pivots_transposed)(const front* f, const dense_sides* s, double* x);

#endif
