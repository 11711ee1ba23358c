// Triangular solves of fronts (dense.h), compiled once for each CPU kind.
//
// The number of right-hand sides is a constant to the compiler, so that a tile of L is loaded once for all of them and
// their sums stay in registers. Each has its sums in the same order as if it were alone.
#include "solve/direct/dense_lane.h"

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

// ---- diagonal tiles that hold their inverse

// -1 in lanes of a column that belong to the inverse, from its row on, or to its transpose, up to there.
static const int64_t lower_lanes[2 * TILE] = {0, 0, 0, 0, 0, 0, 0, 0, -1, -1, -1, -1, -1, -1, -1, -1};
static const int64_t upper_lanes[2 * TILE] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};

WIDE_INLINE lane lane_masked(const double* p, const int64_t* mask)
{
    typedef int64_t lane_bits __attribute__((vector_size(LANES * 8)));
    lane_bits bits;
    memcpy(&bits, mask, sizeof(bits));
    return (lane)((lane_bits)lane_load(p) & bits);
}

// x = T x with T the lower or upper half of the tile: products alone, where a substitution waits at every row.
WIDE_INLINE void inverse_multiply(int sides, const double* tile, bool upper, side_pointers x)
{
    lane sum[PARTS][2][SIDES_MAX];
    memset(sum, 0, sizeof(sum));
    for (int p = 0; p < PARTS; p++)
    {
#pragma GCC unroll 8
        for (int k = 0; k < TILE; k++)
        {
            const int64_t* mask = (upper ? upper_lanes + TILE - 1 : lower_lanes + TILE) - k + LANES * p;
            lane left = lane_masked(tile + TILE * k + LANES * p, mask);
            for (int r = 0; r < sides; r++)
            {
                sum[p][k % 2][r] = lane_subtract_product(sum[p][k % 2][r], left, lane_broadcast(x.at[r] + k));
            }
        }
    }
    for (int p = 0; p < PARTS; p++)
    {
        for (int r = 0; r < sides; r++)
        {
            lane_store(x.at[r] + LANES * p, sum[p][0][r] + sum[p][1][r]);
        }
    }
}

// A factored diagonal tile becomes -L^-1 in its lower half and the transpose of that in its upper one: both
// substitutions then go down columns.
static void tile_invert(double* tile)
{
    double inverse[TILE_SIZE] = {0};
    for (int j = 0; j < TILE; j++)
    {
        inverse[TILE * j + j] = tile[TILE * j + j];
        for (int i = j + 1; i < TILE; i++)
        {
            double sum = 0.0;
            for (int k = j; k < i; k++)
            {
                sum += tile[TILE * k + i] * inverse[TILE * j + k];
            }
            inverse[TILE * j + i] = -sum * tile[TILE * i + i];
        }
    }
    for (int j = 0; j < TILE; j++)
    {
        for (int i = j; i < TILE; i++)
        {
            tile[TILE * j + i] = tile[TILE * i + j] = -inverse[TILE * j + i];
        }
    }
}

void KERNEL_NAME(dense_invert_pivots)(const front* f)
{
    for (int i = 0; i < f->pivot_tiles; i++)
    {
        tile_invert(front_slab(f, i) + (size_t)i * TILE_SIZE);
    }
}

// ---- fronts

WIDE_INLINE void solve_pivots_sized(int sides, const front* f, bool inverted, size_t x_apart, double* x)
{
    for (int i = 0; i < f->pivot_tiles; i++)
    {
        const double* slab = front_slab(f, i);
        side_pointers y = sides_at(sides, x + i * TILE, x_apart);
        slab_multiply(sides, slab, sides_at(sides, x, x_apart), i * TILE, y);
        inverted ? inverse_multiply(sides, slab + (size_t)i * TILE_SIZE, false, y)
                 : pivot_tile_solve(sides, slab + (size_t)i * TILE_SIZE, y);
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

WIDE_INLINE void solve_pivots_transposed_sized(int sides, const front* f, bool inverted, size_t x_apart, double* x)
{
    for (int i = f->pivot_tiles - 1; i >= 0; i--)
    {
        side_pointers y = sides_at(sides, x + i * TILE, x_apart);
        side_pointers below = sides_at(sides, x + (i + 1) * TILE, x_apart);
        column_multiply(sides, f, i, (tile_range){i + 1, f->pivot_tiles}, below, y);
        const double* tile = front_slab(f, i) + (size_t)i * TILE_SIZE;
        inverted ? inverse_multiply(sides, tile, true, y) : pivot_tile_solve_transposed(sides, tile, y);
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

void KERNEL_NAME(dense_solve_pivots)(const front* f, const dense_sides* s, double* x)
{
    FOR_SIDES(s->count, solve_pivots_sized(sides, f, s->inverted, s->x_apart, x + (size_t)first * s->x_apart))
}

void KERNEL_NAME(dense_multiply_rows)(const front* f, const dense_sides* s, const double* x, double* y, int slab_begin,
                                      int slab_end)
{
    tile_range slabs = {slab_begin, slab_end};
    FOR_SIDES(s->count, multiply_rows_sized(sides, f, sides_at(sides, x + (size_t)first * s->x_apart, s->x_apart),
                                            y + (size_t)first * s->y_apart, s->y_apart, slabs))
}

void KERNEL_NAME(dense_multiply_rows_transposed)(const front* f, const dense_sides* s, const double* y, double* x,
                                                 int column_begin, int column_end)
{
    tile_range columns = {column_begin, column_end};
    FOR_SIDES(s->count,
              multiply_rows_transposed_sized(sides, f, sides_at(sides, y + (size_t)first * s->y_apart, s->y_apart),
                                             x + (size_t)first * s->x_apart, s->x_apart, columns))
}

void KERNEL_NAME(dense_solve_pivots_transposed)(const front* f, const dense_sides* s, double* x)
{
    FOR_SIDES(s->count,
              solve_pivots_transposed_sized(sides, f, s->inverted, s->x_apart, x + (size_t)first * s->x_apart))
}
