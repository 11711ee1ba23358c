// Dense arithmetic of the sparse Cholesky. A front is the lower triangle of a small dense matrix, cut into 8 x 8 tiles:
//
//     [ L11      ]   pivot_tiles tiles of columns that are eliminated here
//     [ L21   U  ]   row_tiles tiles of rows that wait; U is what they pass on to the parent
//
// A slab is a row of tiles; inside a tile the 8 rows of a column lie side by side. So each operand of a tile product
// is one stream of whole cache lines: nothing is ever packed or copied, and row i of a front is lane i % 8 of slab
// i / 8. Sizes that are no multiple of 8 are filled up with unit pivots and zero rows.
#ifndef WEFT_DENSE_H
#define WEFT_DENSE_H

#include "core/core.h"

enum
{
    TILE = 8,
    TILE_SIZE = TILE * TILE
};

typedef struct front
{
    double* L; // slab i holds tiles (i, 0 .. min(i, pivot_tiles - 1)); diagonals hold 1 / L_jj once factored
    double* U; // slab i holds tiles (i, 0 .. i); above the diagonal of a diagonal tile is no one's
    int pivot_tiles, row_tiles;
} front;

static inline size_t slab_triangle(int slab)
{
    return (size_t)slab * ((size_t)slab + 1) / 2 * TILE_SIZE;
}

// Slab of L, counted from the first pivot row.
static inline double* front_slab(const front* f, int slab)
{
    int pivots = f->pivot_tiles;
    return slab <= pivots ? f->L + slab_triangle(slab)
                          : f->L + slab_triangle(pivots) + (size_t)(slab - pivots) * (size_t)pivots * TILE_SIZE;
}

// Slab of U, counted from the first row below the pivots.
static inline double* front_update_slab(const front* f, int slab)
{
    return f->U + slab_triangle(slab);
}

typedef enum pivot_result
{
    PIVOT_OK,
    PIVOT_NOT_POSITIVE,
    PIVOT_NOT_FINITE
} pivot_result;

// Right-hand sides: vectors x and y of the next one lie so many numbers further on.
typedef struct dense_sides
{
    int count;
    bool inverted; // diagonal tiles hold their inverses
    size_t x_apart, y_apart;
} dense_sides;

// One row for each CPU kind. Ranges count tiles; every tile has its sums in one order, whatever the ranges.
typedef struct dense_kernels
{
    // L(i, j) -= sum over k < column_begin of L(i, k) L(j, k)^T: slabs i, tile columns j <= i.
    void (*update_panel)(const front* f, int column_begin, int column_end, int slab_begin, int slab_end);
    // Factors the diagonal block of these tile columns. After a bad pivot the rest is computed with 1 in its place.
    pivot_result (*factor_diagonal)(const front* f, int column_begin, int column_end);
    // L(i, .) = L(i, .) L_block^-T for slabs below the diagonal block.
    void (*solve_panel)(const front* f, int column_begin, int column_end, int slab_begin, int slab_end);
    // U(i, j) -= L21(i, .) L21(j, .)^T.
    void (*update_trailing)(const front* f, int slab_begin, int slab_end);
    // Adds the lower triangle of a child's U to the front: row i of the child is row position[i] here, increasing.
    void (*extend_add)(const front* f, const double* child, const int* position, int row_count, int slab_begin,
                       int slab_end);
    // The diagonal tiles of a factored front become their inverses, for solves that come often: a substitution in a
    // tile waits at each row. What factors other fronts does not look at them.
    void (*invert_pivots)(const front* f);
    // Triangular solves, for several right-hand sides at once, so that L is read once for all of them.
    // x = L11^-1 x, x is [8 * pivot_tiles].
    void (*solve_pivots)(const front* f, const dense_sides* sides, double* x);
    // y -= L21 x, y is [8 * row_tiles].
    void (*multiply_rows)(const front* f, const dense_sides* sides, const double* x, double* y, int slab_begin,
                          int slab_end);
    // x -= L21^T y for tile columns.
    void (*multiply_rows_transposed)(const front* f, const dense_sides* sides, const double* y, double* x,
                                     int column_begin, int column_end);
    // x = L11^-T x.
    void (*solve_pivots_transposed)(const front* f, const dense_sides* sides, double* x);
} dense_kernels;

const dense_kernels* dense_kernels_for(cpu_kind cpu);

#endif
