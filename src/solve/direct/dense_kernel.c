// Tile products, triangular solves and assembly of fronts (dense.h), compiled once for each CPU kind.
//
// The work horse subtracts A B^T from a group of tiles that stay in registers while k runs: 24 x 8 with AVX-512,
// 8 x 4 with AVX2. Blocking, for cores with 32 KB and 512 KB caches or more: a group's rows of A (K_BLOCK tile
// columns, 24 KB) stay in the first cache while the tiles of B (J_BLOCK slabs, 256 KB) stream from the second.
//
// Fused multiply-add is asked for by name where the CPU kind has it, so the kinds differ in the last bits.
#include "solve/direct/dense.h"

#include <math.h>
#include <string.h>

#include "math/wide.h"

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
    PARTS = TILE / LANES, // vectors a tile's column
    K_BLOCK = 16,
    J_BLOCK = 32
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

typedef struct tile_range
{
    int begin, end;
} tile_range;

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

// ---- triangular solves
//
// The number of right-hand sides is a constant to the compiler, so that a tile of L is loaded once for all of them and
// their sums stay in registers. Each has its sums in the same order as if it were alone.

enum
{
    SIDES_MAX = 3 // that go together
};

// A right-hand side's piece of a vector.
typedef struct side_pointers
{
    double* at[SIDES_MAX];
} side_pointers;

WIDE_INLINE side_pointers sides_at(int count, const double* first, size_t apart)
{
    side_pointers p = {{0}};
    for (int r = 0; r < count; r++)
    {
        p.at[r] = (double*)first + (size_t)r * apart;
    }
    return p;
}

// y -= L x for the 8 rows of a slab and k_count columns.
WIDE_INLINE void slab_multiply(int sides, const double* L, side_pointers x, int k_count, side_pointers y)
{
    for (int p = 0; p < TILE; p += LANES)
    {
        // Two sums, so that additions do not wait for each other.
        lane even[SIDES_MAX], odd[SIDES_MAX];
        for (int r = 0; r < sides; r++)
        {
            even[r] = lane_load(y.at[r] + p);
            odd[r] = lane_set(0.0);
        }
        for (int k = 0; k < k_count; k += 2)
        {
            lane first = lane_load(L + TILE * k + p), second = lane_load(L + TILE * (k + 1) + p);
            for (int r = 0; r < sides; r++)
            {
                even[r] = lane_subtract_product(even[r], first, lane_broadcast(x.at[r] + k));
                odd[r] = lane_subtract_product(odd[r], second, lane_broadcast(x.at[r] + k + 1));
            }
        }
        for (int r = 0; r < sides; r++)
        {
            lane_store(y.at[r] + p, even[r] + odd[r]);
        }
    }
}

// One unknown of all right-hand sides, a lane each.
typedef double quad __attribute__((vector_size(32)));

typedef struct pivot_block
{
    quad y[TILE];
} pivot_block;

WIDE_INLINE pivot_block pivots_take(int sides, side_pointers x)
{
    pivot_block b;
#pragma GCC unroll 8
    for (int j = 0; j < TILE; j++)
    {
        b.y[j] = sides == 1 ? (quad){x.at[0][j], 0.0, 0.0, 0.0} : (quad){x.at[0][j], x.at[1][j], x.at[2][j], 0.0};
    }
    return b;
}

WIDE_INLINE void pivots_give(int sides, const pivot_block* b, side_pointers x)
{
#pragma GCC unroll 8
    for (int j = 0; j < TILE; j++)
    {
        for (int r = 0; r < sides; r++)
        {
            x.at[r][j] = b->y[j][r];
        }
    }
}

WIDE_INLINE void pivot_tile_solve(int sides, const double* tile, side_pointers x)
{
    pivot_block b = pivots_take(sides, x);
#pragma GCC unroll 8
    for (int j = 0; j < TILE; j++)
    {
        b.y[j] *= tile[TILE * j + j];
#pragma GCC unroll 8
        for (int k = j + 1; k < TILE; k++)
        {
            b.y[k] -= tile[TILE * j + k] * b.y[j];
        }
    }
    pivots_give(sides, &b, x);
}

WIDE_INLINE void solve_pivots_sized(int sides, const front* f, size_t x_apart, double* x)
{
    for (int i = 0; i < f->pivot_tiles; i++)
    {
        const double* slab = front_slab(f, i);
        side_pointers y = sides_at(sides, x + i * TILE, x_apart);
        slab_multiply(sides, slab, sides_at(sides, x, x_apart), i * TILE, y);
        pivot_tile_solve(sides, slab + (size_t)i * TILE_SIZE, y);
    }
}

WIDE_INLINE void multiply_rows_sized(int sides, const front* f, side_pointers x, const double* y, size_t y_apart,
                                     tile_range slabs)
{
    for (int i = slabs.begin; i < slabs.end; i++)
    {
        slab_multiply(sides, front_slab(f, f->pivot_tiles + i), x, f->pivot_tiles * TILE,
                      sides_at(sides, y + i * TILE, y_apart));
    }
}

// Lane j is the sum of the lanes of a[j]: ((0 + 4) + (2 + 6)) + ((1 + 5) + (3 + 7)).
WIDE_INLINE wide sums_of_each(const wide* a)
{
    wide fours[4], twos[2];
    for (int j = 0; j < 4; j++)
    {
        fours[j] = __builtin_shufflevector(a[j], a[j + 4], 0, 1, 2, 3, 8, 9, 10, 11) +
                   __builtin_shufflevector(a[j], a[j + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
    for (int j = 0; j < 2; j++)
    {
        twos[j] = __builtin_shufflevector(fours[j], fours[j + 2], 0, 1, 8, 9, 4, 5, 12, 13) +
                  __builtin_shufflevector(fours[j], fours[j + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    }
    return __builtin_shufflevector(twos[0], twos[1], 0, 8, 2, 10, 4, 12, 6, 14) +
           __builtin_shufflevector(twos[0], twos[1], 1, 9, 3, 11, 5, 13, 7, 15);
}

// x -= sum over slabs of L(i, column)^T y_i; y begins with the first of these slabs.
WIDE_INLINE void column_multiply(int sides, const front* f, int column, tile_range slabs, side_pointers y,
                                 side_pointers x)
{
    lane sum[SIDES_MAX][TILE][PARTS];
    memset(sum, 0, sizeof(sum));
    for (int i = slabs.begin; i < slabs.end; i++)
    {
        const double* tile = front_slab(f, i) + (size_t)column * TILE_SIZE;
        for (int p = 0; p < PARTS; p++)
        {
            lane right[SIDES_MAX];
            for (int r = 0; r < sides; r++)
            {
                right[r] = lane_load(y.at[r] + TILE * (i - slabs.begin) + LANES * p);
            }
            for (int j = 0; j < TILE; j++)
            {
                lane left = lane_load(tile + TILE * j + LANES * p);
                for (int r = 0; r < sides; r++)
                {
                    sum[r][j][p] = lane_subtract_product(sum[r][j][p], left, right[r]);
                }
            }
        }
    }
    for (int r = 0; r < sides; r++)
    {
        wide each[TILE];
        memcpy(each, sum[r], sizeof(each));
        wide_store(x.at[r], wide_load(x.at[r]) + sums_of_each(each));
    }
}

WIDE_INLINE void multiply_rows_transposed_sized(int sides, const front* f, side_pointers y, const double* x,
                                                size_t x_apart, tile_range columns)
{
    tile_range slabs = {f->pivot_tiles, f->pivot_tiles + f->row_tiles};
    for (int j = columns.begin; j < columns.end; j++)
    {
        column_multiply(sides, f, j, slabs, y, sides_at(sides, x + j * TILE, x_apart));
    }
}

WIDE_INLINE void pivot_tile_solve_transposed(int sides, const double* tile, side_pointers x)
{
    pivot_block b = pivots_take(sides, x);
#pragma GCC unroll 8
    for (int j = TILE - 1; j >= 0; j--)
    {
#pragma GCC unroll 8
        for (int k = j + 1; k < TILE; k++)
        {
            b.y[j] -= tile[TILE * j + k] * b.y[k];
        }
        b.y[j] *= tile[TILE * j + j];
    }
    pivots_give(sides, &b, x);
}

WIDE_INLINE void solve_pivots_transposed_sized(int sides, const front* f, size_t x_apart, double* x)
{
    for (int i = f->pivot_tiles - 1; i >= 0; i--)
    {
        side_pointers y = sides_at(sides, x + i * TILE, x_apart);
        side_pointers below = sides_at(sides, x + (i + 1) * TILE, x_apart);
        column_multiply(sides, f, i, (tile_range){i + 1, f->pivot_tiles}, below, y);
        pivot_tile_solve_transposed(sides, front_slab(f, i) + (size_t)i * TILE_SIZE, y);
    }
}

// Calls a function above for SIDES_MAX right-hand sides at a time, and for what is left one by one.
#define FOR_SIDES(count, call)                                                                                         \
    for (int first = 0; first < (count);)                                                                              \
    {                                                                                                                  \
        if ((count)-first >= SIDES_MAX)                                                                                \
        {                                                                                                              \
            enum                                                                                                       \
            {                                                                                                          \
                sides = SIDES_MAX                                                                                      \
            };                                                                                                         \
            call;                                                                                                      \
            first += sides;                                                                                            \
        }                                                                                                              \
        else                                                                                                           \
        {                                                                                                              \
            enum                                                                                                       \
            {                                                                                                          \
                sides = 1                                                                                              \
            };                                                                                                         \
            call;                                                                                                      \
            first += sides;                                                                                            \
        }                                                                                                              \
    }

static void dense_solve_pivots(const front* f, const dense_sides* s, double* x)
{
    FOR_SIDES(s->count, solve_pivots_sized(sides, f, s->x_apart, x + (size_t)first * s->x_apart))
}

static void dense_multiply_rows(const front* f, const dense_sides* s, const double* x, double* y, int slab_begin,
                                int slab_end)
{
    tile_range slabs = {slab_begin, slab_end};
    FOR_SIDES(s->count, multiply_rows_sized(sides, f, sides_at(sides, x + (size_t)first * s->x_apart, s->x_apart),
                                            y + (size_t)first * s->y_apart, s->y_apart, slabs))
}

static void dense_multiply_rows_transposed(const front* f, const dense_sides* s, const double* y, double* x,
                                           int column_begin, int column_end)
{
    tile_range columns = {column_begin, column_end};
    FOR_SIDES(s->count,
              multiply_rows_transposed_sized(sides, f, sides_at(sides, y + (size_t)first * s->y_apart, s->y_apart),
                                             x + (size_t)first * s->x_apart, s->x_apart, columns))
}

static void dense_solve_pivots_transposed(const front* f, const dense_sides* s, double* x)
{
    FOR_SIDES(s->count, solve_pivots_transposed_sized(sides, f, s->x_apart, x + (size_t)first * s->x_apart))
}

extern const dense_kernels KERNEL_NAME(dense_kernels);
const dense_kernels KERNEL_NAME(dense_kernels) = {
    .update_panel = dense_update_panel,
    .factor_diagonal = dense_factor_diagonal,
    .solve_panel = dense_solve_panel,
    .update_trailing = dense_update_trailing,
    .extend_add = dense_extend_add,
    .solve_pivots = dense_solve_pivots,
    .multiply_rows = dense_multiply_rows,
    .multiply_rows_transposed = dense_multiply_rows_transposed,
    .solve_pivots_transposed = dense_solve_pivots_transposed,
};
