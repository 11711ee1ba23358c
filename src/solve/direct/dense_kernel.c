// Tile products and assembly of fronts (dense.h), compiled once for each CPU kind.
//
// The work horse subtracts A B^T from a group of tiles that stay in registers while k runs: 24 x 8 with AVX-512,
// 8 x 4 with AVX2. Blocking, for cores with 32 KB and 512 KB caches or more: a group's rows of A (K_BLOCK tile
// columns, 24 KB) stay in the first cache while the tiles of B (J_BLOCK slabs, 256 KB) stream from the second.
//
// Fused multiply-add is asked for by name where the CPU kind has it, so the kinds differ in the last bits.
#include "solve/direct/dense.h"

#include <math.h>
#include <string.h>

#include "solve/direct/dense_lane.h"

enum
{
    K_BLOCK = 16,
    J_BLOCK = 32
};

// c[s] -= a[s] b^T over k_count columns, for `slabs` tiles and COLUMNS of their columns. Sizes are constants to the
// compiler, so that the sums stay in registers.
WIDE_INLINE void tile_product_sized(int slabs, double* const* c, const double* const* a, const double* b, int k_count,
                                    int column)
{
    lane sum[GROUP * PARTS][COLUMNS];
    for (int s = 0; s < slabs; s++)
    {
        for (int p = 0; p < PARTS; p++)
        {
            for (int n = 0; n < COLUMNS; n++)
            {
                sum[s * PARTS + p][n] = lane_load(c[s] + TILE * (column + n) + LANES * p);
            }
        }
    }
    for (int k = 0; k < k_count; k++)
    {
        lane left[GROUP * PARTS];
        for (int s = 0; s < slabs; s++)
        {
            for (int p = 0; p < PARTS; p++)
            {
                left[s * PARTS + p] = lane_load(a[s] + TILE * k + LANES * p);
            }
        }
        for (int n = 0; n < COLUMNS; n++)
        {
            lane right = lane_broadcast(b + TILE * k + column + n);
            for (int s = 0; s < slabs * PARTS; s++)
            {
                sum[s][n] = lane_subtract_product(sum[s][n], left[s], right);
            }
        }
    }
    for (int s = 0; s < slabs; s++)
    {
        for (int p = 0; p < PARTS; p++)
        {
            for (int n = 0; n < COLUMNS; n++)
            {
                lane_store(c[s] + TILE * (column + n) + LANES * p, sum[s * PARTS + p][n]);
            }
        }
    }
}

// c[s] -= a[s] b^T for 1 .. GROUP slabs.
static void tile_product(int slabs, double* const* c, const double* const* a, const double* b, int k_count)
{
    for (int column = 0; column < TILE; column += COLUMNS)
    {
#if defined(__AVX512F__)
        if (slabs == 3)
        {
            tile_product_sized(3, c, a, b, k_count, column);
        }
        else if (slabs == 2)
        {
            tile_product_sized(2, c, a, b, k_count, column);
        }
        else
#endif
        {
            tile_product_sized(1, c, a, b, k_count, column);
        }
    }
    (void)slabs;
}

// Which triangle a product goes to: the pivot columns (operands are slabs of the whole front) or U (slabs below).
typedef struct target
{
    const front* f;
    bool trailing;
} target;

static double* target_slab(const target* t, int slab)
{
    return t->trailing ? front_update_slab(t->f, slab) : front_slab(t->f, slab);
}

static const double* target_operand(const target* t, int slab)
{
    return front_slab(t->f, t->trailing ? slab + t->f->pivot_tiles : slab);
}

// C(i, j) -= sum over k of L(i, k) L(j, k)^T for the `count` slabs from i on and all j with j <= slab.
static void group_product(const target* t, int i, int count, tile_range j_range, tile_range k_range)
{
    const double* a[GROUP];
    double* c[GROUP];
    for (int s = 0; s < count; s++)
    {
        a[s] = target_operand(t, i + s) + (size_t)k_range.begin * TILE_SIZE;
        c[s] = target_slab(t, i + s) + (size_t)j_range.begin * TILE_SIZE;
    }
    int k_count = (k_range.end - k_range.begin) * TILE;
    for (int j = j_range.begin; j < int_min(j_range.end, i + count); j++)
    {
        // Near the diagonal the upper slabs of the group have no tile in this column.
        int first = int_max(0, j - i);
        const double* b = target_operand(t, j) + (size_t)k_range.begin * TILE_SIZE;
        tile_product(count - first, c + first, a + first, b, k_count);
        for (int s = 0; s < count; s++)
        {
            c[s] += TILE_SIZE;
        }
    }
}

static void target_product(const target* t, tile_range i_range, tile_range j_range, tile_range k_range)
{
    for (int k = k_range.begin; k < k_range.end; k += K_BLOCK)
    {
        tile_range k_block = {k, int_min(k + K_BLOCK, k_range.end)};
        for (int j = j_range.begin; j < j_range.end; j += J_BLOCK)
        {
            tile_range j_block = {j, int_min(j + J_BLOCK, j_range.end)};
            for (int i = i_range.begin; i < i_range.end; i += GROUP)
            {
                group_product(t, i, int_min(GROUP, i_range.end - i), j_block, k_block);
            }
        }
    }
}

static void dense_update_panel(const front* f, int column_begin, int column_end, int slab_begin, int slab_end)
{
    target t = {f, false};
    target_product(&t, (tile_range){slab_begin, slab_end}, (tile_range){column_begin, column_end},
                   (tile_range){0, column_begin});
}

static void dense_update_trailing(const front* f, int slab_begin, int slab_end)
{
    target t = {f, true};
    target_product(&t, (tile_range){slab_begin, slab_end}, (tile_range){0, slab_end}, (tile_range){0, f->pivot_tiles});
}

// Cholesky of one tile in place: zeros above the diagonal, inverses on it.
static pivot_result tile_factor(double* a)
{
    pivot_result result = PIVOT_OK;
    for (int j = 0; j < TILE; j++)
    {
        double pivot = a[TILE * j + j];
        if (!(pivot > 0.0) || !isfinite(pivot))
        {
            if (result == PIVOT_OK)
            {
                result = isfinite(pivot) ? PIVOT_NOT_POSITIVE : PIVOT_NOT_FINITE;
            }
            pivot = 1.0;
        }
        double inverse = 1.0 / sqrt(pivot);
        for (int i = 0; i < TILE; i++)
        {
            a[TILE * j + i] = i < j ? 0.0 : a[TILE * j + i] * inverse;
        }
        for (int k = j + 1; k < TILE; k++)
        {
            double factor = a[TILE * j + k];
            for (int p = 0; p < TILE; p += LANES)
            {
                lane column = lane_load(a + TILE * k + p);
                lane_store(a + TILE * k + p,
                           lane_subtract_product(column, lane_load(a + TILE * j + p), lane_set(factor)));
            }
        }
        a[TILE * j + j] = inverse;
    }
    return result;
}

// X = X L^-T for `count` tiles x[s] with the factored diagonal tile L: the rows are independent.
WIDE_INLINE void tile_solve_sized(int count, double* const* x, const double* L)
{
    for (int p = 0; p < TILE; p += LANES)
    {
        lane column[GROUP][TILE];
        for (int s = 0; s < count; s++)
        {
            for (int j = 0; j < TILE; j++)
            {
                column[s][j] = lane_load(x[s] + TILE * j + p);
            }
        }
        for (int j = 0; j < TILE; j++)
        {
            for (int s = 0; s < count; s++)
            {
                column[s][j] *= lane_set(L[TILE * j + j]);
            }
            for (int k = j + 1; k < TILE; k++)
            {
                lane factor = lane_broadcast(L + TILE * j + k);
                for (int s = 0; s < count; s++)
                {
                    column[s][k] = lane_subtract_product(column[s][k], column[s][j], factor);
                }
            }
        }
        for (int s = 0; s < count; s++)
        {
            for (int j = 0; j < TILE; j++)
            {
                lane_store(x[s] + TILE * j + p, column[s][j]);
            }
        }
    }
}

static void tile_solve(int count, double* const* x, const double* L)
{
    if (count == GROUP)
    {
        tile_solve_sized(GROUP, x, L);
        return;
    }
    for (int s = 0; s < count; s++)
    {
        tile_solve_sized(1, x + s, L);
    }
}

// Rows of `count` slabs against the block of tile columns: column after column, each first updated by those before.
static void group_solve(const front* f, int i, int count, int column_begin, int column_end)
{
    for (int j = column_begin; j < column_end; j++)
    {
        const double* a[GROUP];
        double* c[GROUP];
        for (int s = 0; s < count; s++)
        {
            a[s] = front_slab(f, i + s) + (size_t)column_begin * TILE_SIZE;
            c[s] = front_slab(f, i + s) + (size_t)j * TILE_SIZE;
        }
        const double* b = front_slab(f, j);
        tile_product(count, c, a, b + (size_t)column_begin * TILE_SIZE, (j - column_begin) * TILE);
        tile_solve(count, c, b + (size_t)j * TILE_SIZE);
    }
}

static void dense_solve_panel(const front* f, int column_begin, int column_end, int slab_begin, int slab_end)
{
    for (int i = slab_begin; i < slab_end; i += GROUP)
    {
        group_solve(f, i, int_min(GROUP, slab_end - i), column_begin, column_end);
    }
}

static pivot_result dense_factor_diagonal(const front* f, int column_begin, int column_end)
{
    pivot_result result = PIVOT_OK;
    for (int j = column_begin; j < column_end; j++)
    {
        // Solve the slab against the tiles before it, then what is left of its diagonal tile.
        group_solve(f, j, 1, column_begin, j);
        const double* a = front_slab(f, j) + (size_t)column_begin * TILE_SIZE;
        double* diagonal = front_slab(f, j) + (size_t)j * TILE_SIZE;
        tile_product(1, &diagonal, &a, a, (j - column_begin) * TILE);
        pivot_result tile = tile_factor(diagonal);
        result = result == PIVOT_OK ? tile : result;
    }
    return result;
}

// Where the rows of one of the child's slabs go: add 8 * (column in the front) to reach an entry.
typedef struct row_targets
{
    double* pivot[TILE]; // in L
    double* rest[TILE];  // in U
} row_targets;

static row_targets row_targets_of(const front* f, const int* position, int count)
{
    row_targets t;
    memset(&t, 0, sizeof(t));
    int pivots = f->pivot_tiles * TILE;
    for (int l = 0; l < count; l++)
    {
        int row = position[l];
        t.pivot[l] = front_slab(f, row / TILE) + row % TILE;
        if (row >= pivots)
        {
            int below = row - pivots;
            t.rest[l] = front_update_slab(f, below / TILE) + below % TILE;
        }
    }
    return t;
}

WIDE_INLINE void columns_add(int count, double* const* row, int shift, const double* source, const int* position,
                             tile_range columns)
{
    for (int j = columns.begin; j < columns.end; j++)
    {
        size_t offset = (size_t)(position[j] - shift) * TILE;
        for (int l = 0; l < count; l++)
        {
            row[l][offset] += source[TILE * j + l];
        }
    }
}

// Lanes of a slab in columns where all of its rows are below the diagonal.
static void slab_add(int count, double* const* row, int shift, const double* source, const int* position,
                     tile_range columns)
{
    if (count == TILE)
    {
        columns_add(TILE, row, shift, source, position, columns);
    }
    else
    {
        columns_add(count, row, shift, source, position, columns);
    }
}

static void dense_extend_add(const front* f, const double* child, const int* position, int row_count, int slab_begin,
                             int slab_end)
{
    int pivots = f->pivot_tiles * TILE;
    int split = 0; // the child's rows before it become pivots here
    while (split < row_count && position[split] < pivots)
    {
        split++;
    }
    for (int slab = slab_begin; slab < slab_end; slab++)
    {
        int first = slab * TILE;
        int count = int_min(TILE, row_count - first);
        const double* source = child + slab_triangle(slab);
        row_targets t = row_targets_of(f, position + first, count);
        slab_add(count, t.pivot, 0, source, position, (tile_range){0, int_min(first, split)});
        slab_add(count, t.rest, pivots, source, position, (tile_range){split, first});

        // The diagonal tile: only what lies on and below the diagonal.
        for (int j = first; j < first + count; j++)
        {
            bool pivot = j < split;
            size_t offset = (size_t)(pivot ? position[j] : position[j] - pivots) * TILE;
            for (int l = j - first; l < count; l++)
            {
                (pivot ? t.pivot : t.rest)[l][offset] += source[TILE * j + l];
            }
        }
    }
}

extern const dense_kernels KERNEL_NAME(dense_kernels);
const dense_kernels KERNEL_NAME(dense_kernels) = {
    .update_panel = dense_update_panel,
    .factor_diagonal = dense_factor_diagonal,
    .solve_panel = dense_solve_panel,
    .update_trailing = dense_update_trailing,
    .extend_add = dense_extend_add,
    .invert_pivots = KERNEL_NAME(dense_invert_pivots),
    .solve_pivots = KERNEL_NAME(dense_solve_pivots),
    .multiply_rows = KERNEL_NAME(dense_multiply_rows),
    .multiply_rows_transposed = KERNEL_NAME(dense_multiply_rows_transposed),
    .solve_pivots_transposed = KERNEL_NAME(dense_solve_pivots_transposed),
};
