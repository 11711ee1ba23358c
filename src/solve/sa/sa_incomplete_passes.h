// Incomplete Cholesky of the finest level and its triangular solves, for one CPU kind: sa_incomplete.c. A part of
// sa_float_kernel.c. Ranges count clusters of one colour; rows and columns are ranks.
//
// With (1 + shift) A_ii = E_i E_i^T the factor is that of the scaled matrix E_i^-1 A_ij E_j^-T, which has ones on its
// diagonal:
//
//     W_ij = E_i^-1 A_ij E_j^-T - sum over m of W_im L_jm^T,   L_ij = W_ij D_j^-1,   D_i = I - sum over j of W_ij
//     L_ij^T.
//
// In single precision, but for L itself, which is kept in 16 bits, three rows of three numbers and a zero: an iteration
// is what it reads. Rounding L by 1/2048 is far below the shift, and M stays symmetric and definite, as both solves
// read the same numbers.

#ifdef __F16C__
#include <immintrin.h>
#endif

#include "math/half.h"

// Lower triangles of 3 x 3, by rows.
typedef struct triangle
{
    float a, b, c, d, e, f; // a; b c; d e f
} triangle;

// The inverse of the lower Cholesky factor of a symmetric matrix; false when it is not definite.
static bool invert_root(const double* m, triangle* out)
{
    double a = sqrt(m[0]), b = m[3] / a, d = m[6] / a;
    double c = sqrt(m[4] - b * b), e = (m[7] - b * d) / c, f = sqrt(m[8] - d * d - e * e);
    *out = (triangle){(float)(1.0 / a),      (float)(-b / (a * c)),
                      (float)(1.0 / c),      (float)((b * e - c * d) / (a * c * f)),
                      (float)(-e / (c * f)), (float)(1.0 / f)};
    return a > 0.0 && c > 0.0 && f > 0.0 && isfinite(out->a) && isfinite(out->c) && isfinite(out->f); // NaN is not
}

// The columns of a triangle, and of its transpose, filled up with zeros: L v is their sum, each times a number of v.
// The zeros change nothing, and a row of the solves stays in vectors.
typedef struct three
{
    r4 x, y, z;
} three;

WIDE_INLINE three triangle_columns(const triangle* t)
{
    const r8 zero = {0};
    r8 m;
    memcpy(&m, t, sizeof(*t)); // the rest is not looked at
    return (three){__builtin_shufflevector(m, zero, 0, 1, 3, 8), __builtin_shufflevector(m, zero, 8, 2, 4, 8),
                   __builtin_shufflevector(m, zero, 8, 8, 5, 8)};
}

WIDE_INLINE three triangle_rows(const triangle* t)
{
    const r8 zero = {0};
    r8 m;
    memcpy(&m, t, sizeof(*t));
    return (three){__builtin_shufflevector(m, zero, 0, 8, 8, 8), __builtin_shufflevector(m, zero, 1, 2, 8, 8),
                   __builtin_shufflevector(m, zero, 3, 4, 5, 8)};
}

WIDE_INLINE r4 three_times(three m, float x, float y, float z)
{
    return m.x * x + m.y * y + m.z * z;
}

// Numbers of L.
WIDE_INLINE r8 half8(const uint16_t* p)
{
#ifdef __F16C__
    return (r8)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i*)p));
#else
    return (r8){half_to_float(p[0]), half_to_float(p[1]), half_to_float(p[2]), half_to_float(p[3]),
                half_to_float(p[4]), half_to_float(p[5]), half_to_float(p[6]), half_to_float(p[7])};
#endif
}

WIDE_INLINE r4 half4(const uint16_t* p)
{
#ifdef __F16C__
    return (r4)_mm_cvtph_ps(_mm_loadl_epi64((const __m128i*)p));
#else
    return (r4){half_to_float(p[0]), half_to_float(p[1]), half_to_float(p[2]), half_to_float(p[3])};
#endif
}

// ---- factor
//
// A 3 x 3 block in the making is three columns of four numbers. Products of blocks are sums of three columns, each
// times three numbers of the other factor; where a register holds 16 numbers the three columns are made at once, from
// the same sums in the same order.
typedef float r16 __attribute__((vector_size(64)));
typedef union columns
{
    r4 column[4]; // the last one is never looked at
    r16 all;
} columns;

#ifdef __AVX512F__
// x in the four numbers of column 0, y of column 1, z of column 2.
#define BY_COLUMN(x, y, z) _mm512_setr_epi32(x, x, x, x, y, y, y, y, z, z, z, z, z, z, z, z)

// Sum over k of column k of X times number k of each column of Y: `place` says where the latter stand.
WIDE_INLINE r16 columns_times(r16 X, __m512 Y, const __m512i place[3])
{
    __m512 x = (__m512)X;
    __m512 first = _mm512_mul_ps(_mm512_shuffle_f32x4(x, x, 0x00), _mm512_permutexvar_ps(place[0], Y));
    __m512 second = _mm512_mul_ps(_mm512_shuffle_f32x4(x, x, 0x55), _mm512_permutexvar_ps(place[1], Y));
    __m512 third = _mm512_mul_ps(_mm512_shuffle_f32x4(x, x, 0xAA), _mm512_permutexvar_ps(place[2], Y));
    return (r16)_mm512_add_ps(_mm512_add_ps(first, second), third);
}

// The nine numbers of a block; behind them nothing is read.
WIDE_INLINE __m512 load_block(const float* m)
{
    return _mm512_maskz_loadu_ps(0x1FF, m);
}

// A triangle, with a zero behind it.
WIDE_INLINE __m512 load_triangle(const triangle* t)
{
    return _mm512_maskz_loadu_ps(0x3F, t);
}

// X Y^T, X in columns, Y a block of L; X m. Of L four numbers more are read.
WIDE_INLINE r16 times_transposed(const columns* X, const uint16_t* Y)
{
    const __m512i place[3] = {BY_COLUMN(0, 4, 8), BY_COLUMN(1, 5, 9), BY_COLUMN(2, 6, 10)};
    return columns_times(X->all, _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i*)Y)), place);
}

WIDE_INLINE r16 times_block(const columns* X, const float* m)
{
    const __m512i place[3] = {BY_COLUMN(0, 1, 2), BY_COLUMN(3, 4, 5), BY_COLUMN(6, 7, 8)};
    return columns_times(X->all, load_block(m), place);
}

// E_i^-1 A_ij E_j^-T.
WIDE_INLINE r16 scaled_block(const float* A, const triangle* left, const triangle* right)
{
    const __m512i left_place = _mm512_setr_epi32(0, 1, 3, 8, 6, 2, 4, 8, 6, 6, 5, 8, 8, 8, 8, 8);
    const __m512i by_row[3] = {BY_COLUMN(0, 1, 2), BY_COLUMN(3, 4, 5), BY_COLUMN(6, 7, 8)};
    const __m512i right_place[3] = {BY_COLUMN(0, 1, 3), BY_COLUMN(6, 2, 4), BY_COLUMN(6, 6, 5)};
    columns E = {.all = (r16)_mm512_permutexvar_ps(left_place, load_triangle(left))};
    return columns_times(columns_times(E.all, load_block(A), by_row), load_triangle(right), right_place);
}

#undef BY_COLUMN
#else
// X times the transpose of nine numbers by rows.
WIDE_INLINE r16 times_rows(const columns* X, const float* Y)
{
    const r4* x = X->column;
    columns out = {.column = {x[0] * Y[0] + x[1] * Y[1] + x[2] * Y[2], x[0] * Y[3] + x[1] * Y[4] + x[2] * Y[5],
                              x[0] * Y[6] + x[1] * Y[7] + x[2] * Y[8]}};
    return out.all;
}

WIDE_INLINE r16 times_transposed(const columns* X, const uint16_t* Y)
{
    r8 a = half8(Y);
    r4 b = half4(Y + 8);
    const float rows[9] = {a[0], a[1], a[2], a[4], a[5], a[6], b[0], b[1], b[2]};
    return times_rows(X, rows);
}

WIDE_INLINE r16 times_block(const columns* X, const float* m)
{
    const float transposed[9] = {m[0], m[3], m[6], m[1], m[4], m[7], m[2], m[5], m[8]};
    return times_rows(X, transposed);
}

WIDE_INLINE r16 scaled_block(const float* A, const triangle* left, const triangle* right)
{
    r4 r0 = load4(A), r1 = load4(A + 3), r2 = load4(A + 6);
    r4 s0 = r0 * left->a, s1 = r0 * left->b + r1 * left->c, s2 = r0 * left->d + r1 * left->e + r2 * left->f;
    r4 X0 = {s0[0], s1[0], s2[0], 0}, X1 = {s0[1], s1[1], s2[1], 0}, X2 = {s0[2], s1[2], s2[2], 0};
    columns W = {
        .column = {X0 * right->a, X0 * right->b + X1 * right->c, X0 * right->d + X1 * right->e + X2 * right->f}};
    return W.all;
}
#endif

typedef uint32_t u16 __attribute__((vector_size(64)));
typedef uint16_t h16 __attribute__((vector_size(32)));

// half_of of sixteen numbers.
WIDE_INLINE h16 halves_of(r16 values)
{
    u16 bits = (u16)values, sign = bits >> 16 & 0x8000, size = bits & 0x7FFFFFFF;
    size += 0xFFF + (size >> 13 & 1);
    u16 normal = (u16)(size >= 113U << 23), half = (size - (112U << 23)) >> 13, large = (u16)(half > 0x7BFF);
    half = (half & ~large) | (large & 0x7BFF);
    return __builtin_convertvector(sign | (half & normal), h16);
}

// A block of L by rows; the fourth number of a column is zero.
WIDE_INLINE void store_rows(uint16_t* to, const columns* X)
{
    h16 rows = halves_of(__builtin_shufflevector(X->all, X->all, 0, 4, 8, 3, 1, 5, 9, 3, 2, 6, 10, 3, 3, 3, 3, 3));
    memcpy(to, &rows, SA_HALF_BLOCK * sizeof(uint16_t));
}

// The sum over m of W_im L_jm^T, m being what both rows share. `row` has W_i, `L` the row j.
WIDE_INLINE r16 eliminated(const columns* row, const uint16_t* L, const uint16_t* shared, int count)
{
    r16 sum = {0};
    for (int k = 0; k < count; k++)
    {
        sum += times_transposed(row + (shared[k] >> 8), L + SA_HALF_BLOCK * (size_t)(shared[k] & 0xFF));
    }
    return sum;
}

// D_i^-1, the columns of I - D_i given; the identity, and false, where the pivot is weak.
static bool invert_pivot(const columns* taken, float* out)
{
    float m[9], less[9], unused[9];
    for (int k = 0; k < 9; k++)
    {
        m[k] = (k % 4 == 0 ? 1.0f : 0.0f) - 0.5f * (taken->column[k % 3][k / 3] + taken->column[k / 3][k % 3]);
        less[k] = m[k] - (k % 4 == 0 ? (float)SA_WEAK : 0.0f);
    }
    if (invert_spd3(less, unused) && invert_spd3(m, out))
    {
        return true;
    }
    for (int k = 0; k < 9; k++)
    {
        out[k] = k % 4 == 0 ? 1.0f : 0.0f;
    }
    return false;
}

static bool factor_row(const sa_level* l, const sa_incomplete* f, int k)
{
    const triangle* scale = f->scale;
    const uint16_t* shared = f->shared + f->shared_start[k];
    int begin = f->lower_start[k];
    columns row[SA_LOWER_MAX], taken = {.all = {0}};
    for (int at = begin; at < f->lower_start[k + 1]; at++)
    {
        columns *W = row + (at - begin), product;
        int j = f->lower_column[at], slot = f->lower_slot[at];
        uint16_t* L = f->lower + SA_HALF_BLOCK * (size_t)at;
        W->all = slot < 0 ? (r16){0} : scaled_block((const float*)l->A + 9 * (size_t)slot, &scale[k], &scale[j]);
        W->all -= eliminated(row, f->lower + SA_HALF_BLOCK * (size_t)f->lower_start[j], shared + 1, *shared);
        shared += 1 + *shared;
        product.all = times_block(W, f->pivot + 9 * (size_t)j);
        store_rows(L, &product);
        taken.all += times_transposed(W, L);
    }
    return invert_pivot(&taken, f->pivot + 9 * (size_t)k);
}

// E^-1 of each row; the number of those that have none. Ranges count ranks.
static double incomplete_scale(void* context, int begin, int end)
{
    const sa_level* l = context;
    const sa_incomplete* f = l->incomplete;
    double bad = 0.0;
    for (int k = begin; k < end; k++)
    {
        int i = f->order[k];
        const float* A = (const float*)l->A + 9 * (size_t)l->pattern.diagonal[i];
        double m[9];
        for (int e = 0; e < 9; e++)
        {
            m[e] = (double)A[e] * (1.0 + (double)f->shift[i]);
        }
        bad += !invert_root(m, (triangle*)f->scale + k);
    }
    return bad;
}

// The number of weak pivots; they are marked.
static double incomplete_factor(void* context, int begin, int end)
{
    const sa_sweep* s = context;
    const sa_incomplete* f = s->level->incomplete;
    double weak = 0.0;
    for (int k = f->cluster_start[s->cluster + begin]; k < f->cluster_start[s->cluster + end]; k++)
    {
        f->weak[f->order[k]] = !factor_row(s->level, f, k);
        weak += f->weak[f->order[k]];
    }
    return weak;
}

// Rows alone, with those before them as they are. Ranges count ranks.
static void incomplete_factor_again(void* context, int begin, int end)
{
    const sa_level* l = context;
    for (int k = begin; k < end; k++)
    {
        factor_row(l, l->incomplete, k);
    }
}

// The blocks of L^T between clusters, row after row: the way back gathers them, since clusters that run at once may
// reach the same rows. Ranges count ranks.
static void incomplete_mirror(void* context, int begin, int end)
{
    const sa_incomplete* f = context;
    for (int k = f->upper_start[begin]; k < f->upper_start[end]; k++)
    {
        const uint16_t* from = f->lower + SA_HALF_BLOCK * (size_t)f->upper_place[k];
        uint16_t* to = f->upper + SA_HALF_BLOCK * (size_t)k;
        for (int e = 0; e < SA_HALF_BLOCK; e++)
        {
            to[e] = e % 4 == 3 ? 0 : from[e % 4 * 4 + e / 4];
        }
    }
}

// ---- solves: y and what it becomes have four numbers a row, so that a row is one load and one store

// A block of L is twelve numbers: where a register holds 16 it is read at once, with four of the next one behind it that
// nobody looks at. The sums and their order are the same.
#ifdef __AVX512F__
// Sum over blocks of L_j y_column; what y has in its fourth place meets zeros.
WIDE_INLINE r4 factor_product(const uint16_t* block, const int* column, int count, const float* y)
{
    const __m512i transposed = _mm512_setr_epi32(0, 4, 8, 3, 1, 5, 9, 3, 2, 6, 10, 3, 3, 3, 3, 3);
    __m512 sum = _mm512_setzero_ps();
    for (const int* end = column + count; column < end; column++, block += SA_HALF_BLOCK)
    {
        __m512 rows = _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i*)block));
        __m512 q = _mm512_broadcast_f32x4(_mm_loadu_ps(y + 4 * (ptrdiff_t)*column));
        sum = _mm512_add_ps(sum, _mm512_mul_ps(rows, q));
    }
    sum = _mm512_permutexvar_ps(transposed, sum);
    return (r4)_mm512_castps512_ps128(sum) + (r4)_mm512_extractf32x4_ps(sum, 1) + (r4)_mm512_extractf32x4_ps(sum, 2);
}
#else
// Sum over blocks of L_j y_column; what y has in its fourth place meets zeros.
WIDE_INLINE r4 factor_product(const uint16_t* block, const int* column, int count, const float* y)
{
    r8 first = {0}; // two rows
    r4 last = {0};
    for (const int* end = column + count; column < end; column++, block += SA_HALF_BLOCK)
    {
        r4 q = load4(y + 4 * (ptrdiff_t)*column);
        first += half8(block) * __builtin_shufflevector(q, q, 0, 1, 2, 3, 0, 1, 2, 3);
        last += half4(block + 8) * q;
    }
    r4 low = __builtin_shufflevector(first, first, 0, 4, 1, 5),
       high = __builtin_shufflevector(first, first, 2, 6, 2, 6);
    r4 x = __builtin_shufflevector(low, last, 0, 1, 4, 7), z = __builtin_shufflevector(low, last, 2, 3, 5, 7);
    return x + z + __builtin_shufflevector(high, last, 0, 1, 6, 7);
}
#endif

// (I + L) y = E^-1 b.
static void incomplete_forward(void* context, int begin, int end)
{
    const sa_sweep* s = context;
    const sa_incomplete* f = s->level->incomplete;
    // Copies: for all the compiler knows a store could change what they are copies of.
    const int *start = f->lower_start, *column = f->lower_column, *order = f->order;
    const uint16_t* lower = f->lower;
    const float* b = s->b;
    const triangle* scale = f->scale;
    float* y = f->y;
    int last = f->cluster_start[s->cluster + end];
    for (int k = f->cluster_start[s->cluster + begin]; k < last; k++)
    {
        const float* bi = b + 3 * (ptrdiff_t)order[k];
        r4 e = three_times(triangle_columns(scale + k), bi[0], bi[1], bi[2]);
        store4(y + 4 * (ptrdiff_t)k, e - factor_product(lower + SA_HALF_BLOCK * (ptrdiff_t)start[k], column + start[k],
                                                        start[k + 1] - start[k], y));
    }
}

// y = D^-1 y of rows, before any of them is scattered to.
static void divide_rows(const sa_incomplete* f, int begin, int end)
{
    const float* pivot = f->pivot + 9 * (ptrdiff_t)begin;
    float* y = f->y;
    for (int k = begin; k < end; k++, pivot += 9)
    {
        float* yk = y + 4 * (ptrdiff_t)k;
        three m = {load4(pivot), load4(pivot + 3), load4(pivot + 6)};
        store4(yk, three_times(m, yk[0], yk[1], yk[2]));
    }
}

// x = omega E^-T v, or added to it.
WIDE_INLINE void put_row(const sa_sweep* s, const triangle* scale, r4 v, float* to)
{
    r4 z = (float)s->omega * three_times(triangle_rows(scale), v[0], v[1], v[2]);
    for (int c = 0; c < 3; c++)
    {
        to[c] = (s->add ? to[c] : 0) + z[c];
    }
}

// (I + L^T) v = D^-1 y, v in the place of y, which is D^-1 y by then: rows of other clusters are gathered, those of
// this one, from rank `first` on, scattered, which spares a second copy of L.
static void backward_cluster(const sa_sweep* s, const sa_incomplete* f, int first, int end)
{
    const int *start = f->lower_start, *column = f->lower_column, *upper_start = f->upper_start;
    float* y = f->y;
    for (int k = end - 1; k >= first; k--)
    {
        int up = upper_start[k];
        r4 v = load4(y + 4 * (ptrdiff_t)k) - factor_product(f->upper + SA_HALF_BLOCK * (ptrdiff_t)up,
                                                            f->upper_column + up, upper_start[k + 1] - up, y);
        v[3] = 0;
        store4(y + 4 * (ptrdiff_t)k, v);
        const uint16_t* L = f->lower + SA_HALF_BLOCK * (ptrdiff_t)start[k + 1];
        const int* stop = column + start[k];
        for (const int* j = column + start[k + 1]; j > stop && j[-1] >= first; j--)
        {
            L -= SA_HALF_BLOCK;
            float* yj = y + 4 * (ptrdiff_t)j[-1];
            store4(yj, load4(yj) - (half4(L) * v[0] + half4(L + 4) * v[1] + half4(L + 8) * v[2]));
        }
        put_row(s, (const triangle*)f->scale + k, v, (float*)s->to + 3 * (ptrdiff_t)f->order[k]);
    }
}

static void incomplete_backward(void* context, int begin, int end)
{
    const sa_sweep* s = context;
    const sa_incomplete* f = s->level->incomplete;
    const int* start = f->cluster_start + s->cluster;
    divide_rows(f, start[begin], start[end]);
    for (int c = end - 1; c >= begin; c--)
    {
        backward_cluster(s, f, start[c], start[c + 1]);
    }
}

// ---- Lanczos with M in place of D

static void incomplete_subtract(void* context, int begin, int end)
{
    const sa_pass* c = context;
    const float* b = c->b;
    float *y = c->y, c1 = (float)c->c1;
    for (size_t k = 3 * (size_t)begin; k < 3 * (size_t)end; k++)
    {
        y[k] -= c1 * b[k];
    }
}

static double incomplete_dot(void* context, int begin, int end)
{
    const sa_pass* c = context;
    const float *y = c->y, *d = c->d;
    double dot = 0.0;
    for (size_t k = 3 * (size_t)begin; k < 3 * (size_t)end; k++)
    {
        dot += (double)y[k] * (double)d[k];
    }
    return dot;
}

extern const sa_incomplete_kernels KERNEL_NAME(sa_incomplete_kernels);
const sa_incomplete_kernels KERNEL_NAME(sa_incomplete_kernels) = {
    .triangle_size = sizeof(triangle),
    .scale = incomplete_scale,
    .factor = incomplete_factor,
    .factor_again = incomplete_factor_again,
    .mirror = incomplete_mirror,
    .forward = incomplete_forward,
    .backward = incomplete_backward,
    .subtract = incomplete_subtract,
    .dot = incomplete_dot,
};
