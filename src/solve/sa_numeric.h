// The arithmetic of the hierarchy, for one CPU kind and one precision. Included by sa_float_kernel.c and
// sa_double_kernel.c, which define REAL and SA_TABLE.
//
// Functions take block sizes as constants where they are 3 or 6, so that loops unroll; other sizes run through the same
// code. A row of blocks times a vector is summed entry by entry and reduced at the end of the row: each block is
// one stream of products, whatever its shape.
#include <math.h>

#include "math/wide.h"
#include "solve/prefilter.h"
#include "solve/sa.h"

typedef REAL r4 __attribute__((vector_size(4 * sizeof(REAL))));
typedef REAL r8 __attribute__((vector_size(8 * sizeof(REAL))));

enum
{
    B_MAX = SA_KERNEL_MAX
};

WIDE_INLINE r4 load4(const REAL* p)
{
    r4 a;
    memcpy(&a, p, sizeof(a));
    return a;
}

WIDE_INLINE r8 load8(const REAL* p)
{
    r8 a;
    memcpy(&a, p, sizeof(a));
    return a;
}

WIDE_INLINE void store4(REAL* p, r4 a)
{
    memcpy(p, &a, sizeof(a));
}

WIDE_INLINE void store8(REAL* p, r8 a)
{
    memcpy(p, &a, sizeof(a));
}

// Calls fn with the constants that a level's blocks have.
#define BY_BLOCK(fn, B, ...)                                                                                           \
    switch (B)                                                                                                         \
    {                                                                                                                  \
    case 3:                                                                                                            \
        fn(3, __VA_ARGS__);                                                                                            \
        break;                                                                                                         \
    case 6:                                                                                                            \
        fn(6, __VA_ARGS__);                                                                                            \
        break;                                                                                                         \
    default:                                                                                                           \
        fn(B, __VA_ARGS__);                                                                                            \
    }
#define BY_BLOCKS(fn, B, K, ...)                                                                                       \
    if ((B) == 3 && (K) == 6)                                                                                          \
    {                                                                                                                  \
        fn(3, 6, __VA_ARGS__);                                                                                         \
    }                                                                                                                  \
    else if ((B) == 6 && (K) == 6)                                                                                     \
    {                                                                                                                  \
        fn(6, 6, __VA_ARGS__);                                                                                         \
    }                                                                                                                  \
    else if ((B) == 3 && (K) == 3)                                                                                     \
    {                                                                                                                  \
        fn(3, 3, __VA_ARGS__);                                                                                         \
    }                                                                                                                  \
    else                                                                                                               \
    {                                                                                                                  \
        fn(B, K, __VA_ARGS__);                                                                                         \
    }

// Rows of B x K blocks in scratch memory lie in whole vectors, filled up with zeros.
#define STRIDE(K) ((K) == 6 ? 8 : (K) == 3 ? 4 : (K))

// ---- products

// y = sum over slots of block x_column; blocks are B x C, row-major.
WIDE_INLINE void row_product(const int B, const int C, const int* column, int slot, int end, const REAL* values,
                             const REAL* x, REAL* y)
{
    const REAL* block = values + (size_t)(B * C) * (size_t)slot;
    if (B == 3 && C == 3)
    {
        r8 sum = {0};
        REAL last = 0;
        for (; slot < end; slot++, block += 9)
        {
            r4 q = load4(x + 3 * (size_t)column[slot]);
            sum += load8(block) * __builtin_shufflevector(q, q, 0, 1, 2, 0, 1, 2, 0, 1);
            last += block[8] * q[2];
        }
        y[0] = sum[0] + sum[1] + sum[2];
        y[1] = sum[3] + sum[4] + sum[5];
        y[2] = sum[6] + sum[7] + last;
    }
    else if (B == 6 && C == 6)
    {
        r8 s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
        r4 s4 = {0};
        for (; slot < end; slot++, block += 36)
        {
            const REAL* xj = x + 6 * (size_t)column[slot];
            r4 low = load4(xj), high = load4(xj + 2);
            r8 e0 = __builtin_shufflevector(low, high, 0, 1, 2, 3, 6, 7, 0, 1);
            s0 += load8(block) * e0;
            s1 += load8(block + 8) * __builtin_shufflevector(low, high, 4, 5, 6, 7, 0, 1, 2, 3);
            s2 += load8(block + 16) * __builtin_shufflevector(low, high, 6, 7, 0, 1, 2, 3, 6, 7);
            s3 += load8(block + 24) * e0;
            s4 += load4(block + 32) * high;
        }
        y[0] = (s0[0] + s0[1] + s0[2]) + (s0[3] + s0[4] + s0[5]);
        y[1] = (s0[6] + s0[7] + s1[0]) + (s1[1] + s1[2] + s1[3]);
        y[2] = (s1[4] + s1[5] + s1[6]) + (s1[7] + s2[0] + s2[1]);
        y[3] = (s2[2] + s2[3] + s2[4]) + (s2[5] + s2[6] + s2[7]);
        y[4] = (s3[0] + s3[1] + s3[2]) + (s3[3] + s3[4] + s3[5]);
        y[5] = (s3[6] + s3[7] + s4[0]) + (s4[1] + s4[2] + s4[3]);
    }
    else if (B == 3 && C == 6)
    {
        r8 s0 = {0}, s1 = {0};
        REAL a = 0, b = 0;
        for (; slot < end; slot++, block += 18)
        {
            const REAL* xj = x + 6 * (size_t)column[slot];
            r4 low = load4(xj), high = load4(xj + 2);
            s0 += load8(block) * __builtin_shufflevector(low, high, 0, 1, 2, 3, 6, 7, 0, 1);
            s1 += load8(block + 8) * __builtin_shufflevector(low, high, 4, 5, 6, 7, 0, 1, 2, 3);
            a += block[16] * high[2];
            b += block[17] * high[3];
        }
        y[0] = (s0[0] + s0[1] + s0[2]) + (s0[3] + s0[4] + s0[5]);
        y[1] = (s0[6] + s0[7] + s1[0]) + (s1[1] + s1[2] + s1[3]);
        y[2] = (s1[4] + s1[5] + s1[6]) + (s1[7] + a + b);
    }
    else
    {
        for (int r = 0; r < B; r++)
        {
            y[r] = 0;
        }
        for (; slot < end; slot++, block += B * C)
        {
            const REAL* xj = x + (size_t)C * (size_t)column[slot];
            for (int r = 0; r < B; r++)
            {
                for (int c = 0; c < C; c++)
                {
                    y[r] += block[r * C + c] * xj[c];
                }
            }
        }
    }
}

// out = m v for a symmetric B x B matrix.
WIDE_INLINE void symmetric_apply(const int B, const REAL* m, const REAL* v, REAL* out)
{
    if (B == 6)
    {
        r8 sum = load8(m) * v[0];
        for (int c = 1; c < 6; c++)
        {
            sum += load8(m + 6 * c) * v[c];
        }
        for (int r = 0; r < 6; r++)
        {
            out[r] = sum[r];
        }
        return;
    }
    for (int r = 0; r < B; r++)
    {
        REAL sum = m[r] * v[0];
        for (int c = 1; c < B; c++)
        {
            sum += m[c * B + r] * v[c];
        }
        out[r] = sum;
    }
}

WIDE_INLINE void first_rows(const int B, const sa_pass* c, int begin, int end)
{
    const REAL* restrict b = c->b;
    REAL* restrict y = c->y, * restrict d = c->d;
    REAL c2 = (REAL)c->c2;
    for (int i = begin; i < end; i++)
    {
        REAL z[B_MAX];
        symmetric_apply(B, (const REAL*)c->level->inverse + (size_t)i * (size_t)(B * B), b + (size_t)B * (size_t)i, z);
        for (int r = 0; r < B; r++)
        {
            size_t k = (size_t)B * (size_t)i + (size_t)r;
            d[k] = y[k] = c2 * z[r];
        }
    }
}

static void first(void* context, int begin, int end)
{
    const sa_pass* c = context;
    BY_BLOCK(first_rows, c->level->block, c, begin, end)
}

WIDE_INLINE void step_rows(const int B, const sa_pass* c, int begin, int end)
{
    const bsr_pattern* p = &c->level->pattern;
    const REAL* restrict b = c->b, * restrict x = c->x, * restrict A = c->level->A;
    REAL* restrict y = c->y, * restrict d = c->d;
    REAL c1 = (REAL)c->c1, c2 = (REAL)c->c2;
    for (int i = begin; i < end; i++)
    {
        REAL t[B_MAX], z[B_MAX];
        size_t at = (size_t)B * (size_t)i;
        row_product(B, B, p->column, p->row_start[i], p->row_start[i + 1], A, x, t);
        for (int r = 0; r < B; r++)
        {
            t[r] = b[at + (size_t)r] - t[r];
        }
        symmetric_apply(B, (const REAL*)c->level->inverse + at * (size_t)B, t, z);
        for (int r = 0; r < B; r++)
        {
            size_t k = at + (size_t)r;
            d[k] = c1 * d[k] + c2 * z[r];
            y[k] = x[k] + d[k];
        }
    }
}

static void step(void* context, int begin, int end)
{
    const sa_pass* c = context;
    BY_BLOCK(step_rows, c->level->block, c, begin, end)
}

WIDE_INLINE void residual_rows(const int B, const sa_pass* c, int begin, int end)
{
    const bsr_pattern* p = &c->level->pattern;
    const REAL* restrict b = c->b, * restrict x = c->x, * restrict A = c->level->A;
    REAL* restrict y = c->y;
    for (int i = begin; i < end; i++)
    {
        REAL t[B_MAX];
        row_product(B, B, p->column, p->row_start[i], p->row_start[i + 1], A, x, t);
        for (int r = 0; r < B; r++)
        {
            size_t k = (size_t)B * (size_t)i + (size_t)r;
            y[k] = b[k] - t[r];
        }
    }
}

static void residual(void* context, int begin, int end)
{
    const sa_pass* c = context;
    BY_BLOCK(residual_rows, c->level->block, c, begin, end)
}

WIDE_INLINE void restrict_rows(const int B, const int K, const sa_pass* c, int begin, int end)
{
    const sa_level* l = c->level;
    const REAL* restrict x = c->x, * restrict P = l->P;
    REAL* restrict y = c->y;
    for (int i = begin; i < end; i++)
    {
        REAL* out = y + (size_t)K * (size_t)i;
        if (K == 6)
        {
            r8 sum = {0};
            for (int k = l->R_start[i]; k < l->R_start[i + 1]; k++)
            {
                const REAL* block = P + (size_t)(B * K) * (size_t)l->R_slot[k];
                const REAL* v = x + (size_t)B * (size_t)l->R_row[k];
                for (int r = 0; r < B; r++)
                {
                    sum += load8(block + 6 * r) * v[r];
                }
            }
            for (int q = 0; q < 6; q++)
            {
                out[q] = sum[q];
            }
            continue;
        }
        for (int q = 0; q < K; q++)
        {
            out[q] = 0;
        }
        for (int k = l->R_start[i]; k < l->R_start[i + 1]; k++)
        {
            const REAL* block = P + (size_t)(B * K) * (size_t)l->R_slot[k];
            const REAL* v = x + (size_t)B * (size_t)l->R_row[k];
            for (int r = 0; r < B; r++)
            {
                for (int q = 0; q < K; q++)
                {
                    out[q] += block[r * K + q] * v[r];
                }
            }
        }
    }
}

static void restrict_to(void* context, int begin, int end)
{
    const sa_pass* c = context;
    BY_BLOCKS(restrict_rows, c->level->block, c->level->coarse_block, c, begin, end)
}

WIDE_INLINE void prolong_rows(const int B, const int K, const sa_pass* c, int begin, int end)
{
    const sa_level* l = c->level;
    const REAL* restrict x = c->x;
    REAL* restrict y = c->y;
    for (int i = begin; i < end; i++)
    {
        REAL t[B_MAX];
        row_product(B, K, l->P_column, l->P_start[i], l->P_start[i + 1], l->P, x, t);
        for (int r = 0; r < B; r++)
        {
            y[(size_t)B * (size_t)i + (size_t)r] += t[r];
        }
    }
}

static void prolong(void* context, int begin, int end)
{
    const sa_pass* c = context;
    BY_BLOCKS(prolong_rows, c->level->block, c->level->coarse_block, c, begin, end)
}

WIDE_INLINE void lanczos_multiply_rows(const int B, const sa_pass* c, int begin, int end, double* dot)
{
    const bsr_pattern* p = &c->level->pattern;
    const REAL* restrict b = c->b, * restrict x = c->x, * restrict A = c->level->A;
    REAL* restrict y = c->y;
    REAL c1 = (REAL)c->c1;
    for (int i = begin; i < end; i++)
    {
        REAL t[B_MAX];
        row_product(B, B, p->column, p->row_start[i], p->row_start[i + 1], A, x, t);
        for (int r = 0; r < B; r++)
        {
            size_t k = (size_t)B * (size_t)i + (size_t)r;
            y[k] = t[r] - c1 * b[k];
            *dot += (double)x[k] * (double)y[k];
        }
    }
}

static double lanczos_multiply(void* context, int begin, int end)
{
    const sa_pass* c = context;
    double dot = 0.0;
    BY_BLOCK(lanczos_multiply_rows, c->level->block, c, begin, end, &dot)
    return dot;
}

WIDE_INLINE void lanczos_scale_rows(const int B, const sa_pass* c, int begin, int end, double* dot)
{
    const REAL* restrict b = c->b;
    REAL* restrict y = c->y, * restrict d = c->d;
    REAL c1 = (REAL)c->c1;
    for (int i = begin; i < end; i++)
    {
        size_t at = (size_t)B * (size_t)i;
        REAL z[B_MAX];
        for (int r = 0; r < B; r++)
        {
            y[at + (size_t)r] -= c1 * b[at + (size_t)r];
        }
        symmetric_apply(B, (const REAL*)c->level->inverse + at * (size_t)B, y + at, z);
        for (int r = 0; r < B; r++)
        {
            d[at + (size_t)r] = z[r];
            *dot += (double)z[r] * (double)y[at + (size_t)r];
        }
    }
}

static double lanczos_scale(void* context, int begin, int end)
{
    const sa_pass* c = context;
    double dot = 0.0;
    BY_BLOCK(lanczos_scale_rows, c->level->block, c, begin, end, &dot)
    return dot;
}

// ---- setup

static void load(void* context, int begin, int end)
{
    const sa_load* c = context;
    const bsr_matrix* A = &c->system->A;
    REAL* restrict to = c->level->A;
    for (int i = begin; i < end; i++)
    {
        for (int slot = A->pattern->row_start[i]; slot < A->pattern->row_start[i + 1]; slot++)
        {
            double buffer[9];
            const double* block =
                c->index ? prefilter_block(c->system, c->index, slot, i, buffer) : A->values + 9 * (size_t)slot;
            for (int k = 0; k < 9; k++)
            {
                to[9 * (size_t)slot + (size_t)k] = (REAL)(c->scale * block[k]);
            }
        }
    }
}

// The inverse of a symmetric positive definite block by Cholesky, in double; false when it has none.
static bool invert_spd(int B, const REAL* a, REAL* out)
{
    double L[B_MAX * B_MAX] = {0}, inverse[B_MAX * B_MAX] = {0};
    for (int j = 0; j < B; j++)
    {
        for (int i = j; i < B; i++)
        {
            double sum = a[i * B + j];
            for (int k = 0; k < j; k++)
            {
                sum -= L[i * B + k] * L[j * B + k];
            }
            if (i == j && !(sum > 0.0 && isfinite(sum)))
            {
                return false;
            }
            L[i * B + j] = i == j ? sqrt(sum) : sum / L[j * B + j];
        }
    }
    for (int c = 0; c < B; c++) // L^-1
    {
        for (int r = c; r < B; r++)
        {
            double sum = r == c ? 1.0 : 0.0;
            for (int k = c; k < r; k++)
            {
                sum -= L[r * B + k] * inverse[k * B + c];
            }
            inverse[r * B + c] = sum / L[r * B + r];
        }
    }
    for (int r = 0; r < B; r++)
    {
        for (int c = 0; c <= r; c++)
        {
            double sum = 0.0;
            for (int k = r; k < B; k++)
            {
                sum += inverse[k * B + r] * inverse[k * B + c];
            }
            out[r * B + c] = out[c * B + r] = (REAL)sum;
        }
    }
    return true;
}

static double invert(void* context, int begin, int end)
{
    const sa_level* l = context;
    size_t size = (size_t)l->block * (size_t)l->block;
    double bad = 0.0;
    for (int i = begin; i < end; i++)
    {
        const REAL* a = (const REAL*)l->A + size * (size_t)l->pattern.diagonal[i];
        REAL* out = (REAL*)l->inverse + size * (size_t)i;
        bad += !(l->block == 3   ? invert_spd(3, a, out)
                 : l->block == 6 ? invert_spd(6, a, out)
                                 : invert_spd(l->block, a, out));
    }
    return bad;
}

// t = sum over slots of A from, in double: t is B rows of K, each filled up to STRIDE(K).
WIDE_INLINE void kernel_product(const int B, const int K, const sa_relaxation* c, int i, double* t)
{
    const bsr_pattern* p = &c->level->pattern;
    const int stride = STRIDE(K);
    memset(t, 0, (size_t)(B * stride) * sizeof(double));
    for (int slot = p->row_start[i]; slot < p->row_start[i + 1]; slot++)
    {
        const REAL* a = (const REAL*)c->level->A + (size_t)(B * B) * (size_t)slot;
        const double* from = c->from + (size_t)(B * K) * (size_t)p->column[slot];
        for (int q = 0; q < B && K == 6; q++)
        {
            wide row = wide_load(from + 6 * q); // the last two are the next row's and go where no one looks
            for (int r = 0; r < B; r++)
            {
                wide_store(t + 8 * r, wide_load(t + 8 * r) + row * (double)a[r * B + q]);
            }
        }
        for (int e = 0; e < B * B && K != 6; e++)
        {
            for (int k = 0; k < K; k++)
            {
                t[e / B * stride + k] += (double)a[e] * from[e % B * K + k];
            }
        }
    }
}

WIDE_INLINE void relax_rows(const int B, const int K, const sa_relaxation* c, int begin, int end)
{
    const int stride = STRIDE(K);
    for (int i = begin; i < end; i++)
    {
        double t[B_MAX * B_MAX];
        kernel_product(B, K, c, i, t);
        const REAL* inverse = (const REAL*)c->level->inverse + (size_t)(B * B) * (size_t)i;
        size_t at = (size_t)(B * K) * (size_t)i;
        for (int r = 0; r < B; r++)
        {
            for (int k = 0; k < K; k++)
            {
                double sum = 0.0;
                for (int q = 0; q < B; q++)
                {
                    sum += (double)inverse[r * B + q] * t[q * stride + k];
                }
                c->to[at + (size_t)(r * K + k)] = c->from[at + (size_t)(r * K + k)] - c->omega * sum;
            }
        }
    }
}

static void relax(void* context, int begin, int end)
{
    const sa_relaxation* c = context;
    BY_BLOCKS(relax_rows, c->level->block, c->level->coarse_block, c, begin, end)
}

// t += a p: t is B rows of STRIDE(K), a is B x B, p is B rows of K (some reals behind it may be read).
WIDE_INLINE void block_add_product(const int B, const int K, REAL* t, const REAL* a, const REAL* p)
{
    if (K == 6)
    {
        r8 zero = {0};
        r8 row[B_MAX];
        for (int q = 0; q < B; q++)
        {
            row[q] = __builtin_shufflevector(load8(p + 6 * q), zero, 0, 1, 2, 3, 4, 5, 8, 9);
        }
        for (int r = 0; r < B; r++)
        {
            r8 sum = load8(t + 8 * r);
            for (int q = 0; q < B; q++)
            {
                sum += row[q] * a[r * B + q];
            }
            store8(t + 8 * r, sum);
        }
    }
    else if (K == 3)
    {
        r4 zero = {0};
        r4 row[B_MAX];
        for (int q = 0; q < B; q++)
        {
            row[q] = __builtin_shufflevector(load4(p + 3 * q), zero, 0, 1, 2, 4);
        }
        for (int r = 0; r < B; r++)
        {
            r4 sum = load4(t + 4 * r);
            for (int q = 0; q < B; q++)
            {
                sum += row[q] * a[r * B + q];
            }
            store4(t + 4 * r, sum);
        }
    }
    else
    {
        for (int r = 0; r < B; r++)
        {
            for (int q = 0; q < B; q++)
            {
                for (int k = 0; k < K; k++)
                {
                    t[r * K + k] += a[r * B + q] * p[q * K + k];
                }
            }
        }
    }
}

// c += p^T t: c is K rows of STRIDE(K), p is B x K, t is B rows of STRIDE(K).
WIDE_INLINE void block_add_transposed(const int B, const int K, REAL* c, const REAL* p, const REAL* t)
{
    if (K == 6)
    {
        r8 row[B_MAX];
        for (int q = 0; q < B; q++)
        {
            row[q] = load8(t + 8 * q);
        }
        for (int r = 0; r < 6; r++)
        {
            r8 sum = load8(c + 8 * r);
            for (int q = 0; q < B; q++)
            {
                sum += row[q] * p[q * 6 + r];
            }
            store8(c + 8 * r, sum);
        }
    }
    else
    {
        int stride = STRIDE(K);
        for (int r = 0; r < K; r++)
        {
            for (int q = 0; q < B; q++)
            {
                for (int k = 0; k < K; k++)
                {
                    c[r * stride + k] += p[q * K + r] * t[q * stride + k];
                }
            }
        }
    }
}

static int find_sorted(const int* list, int count, int value)
{
    int k = 0;
    while (k < count && list[k] < value)
    {
        k++;
    }
    return k < count && list[k] == value ? k : -1;
}

enum
{
    ROW_MAX = 64 // coarse blocks of a row of P that scratch on the stack holds
};

// One row of P: sum the products A_ij Q_j by aggregate, then scale by the inverse of the diagonal.
WIDE_INLINE void smooth_row(const int B, const int K, const sa_smoothing* c, int i, REAL* t)
{
    const sa_level* l = c->level;
    const bsr_pattern* p = &l->pattern;
    const int stride = STRIDE(K);
    int first_slot = l->P_start[i], count = l->P_start[i + 1] - first_slot;
    memset(t, 0, (size_t)(count * B * stride) * sizeof(REAL));
    int own = find_sorted(l->P_column + first_slot, count, l->aggregate[i]);
    int strong = c->strong ? c->strong->row_start[i] : 0, strong_end = c->strong ? c->strong->row_start[i + 1] : 0;
    for (int slot = p->row_start[i]; slot < p->row_start[i + 1]; slot++)
    {
        int j = p->column[slot];
        const REAL* a = (const REAL*)l->A + (size_t)(B * B) * (size_t)slot;
        if (c->strong && j != i)
        {
            while (strong < strong_end && c->strong->column[strong] < j)
            {
                strong++;
            }
            if (strong == strong_end || c->strong->column[strong] != j)
            {
                // A weak entry goes to the diagonal, so that sums over a row and with them translations are kept.
                block_add_product(B, K, t + own * B * stride, a, (const REAL*)l->Q + (size_t)(B * K) * (size_t)i);
                continue;
            }
        }
        if (l->aggregate[j] < 0)
        {
            continue;
        }
        int at = find_sorted(l->P_column + first_slot, count, l->aggregate[j]);
        block_add_product(B, K, t + at * B * stride, a, (const REAL*)l->Q + (size_t)(B * K) * (size_t)j);
    }
    const REAL* inverse = (const REAL*)l->inverse + (size_t)(B * B) * (size_t)i;
    const REAL* q = (const REAL*)l->Q + (size_t)(B * K) * (size_t)i;
    REAL omega = (REAL)c->omega;
    for (int s = 0; s < count; s++)
    {
        REAL* out = (REAL*)l->P + (size_t)(B * K) * (size_t)(first_slot + s);
        const REAL* ts = t + s * B * stride;
        for (int r = 0; r < B; r++)
        {
            for (int k = 0; k < K; k++)
            {
                REAL sum = 0;
                for (int m = 0; m < B; m++)
                {
                    sum += inverse[r * B + m] * ts[m * stride + k];
                }
                out[r * K + k] = (s == own ? q[r * K + k] : (REAL)0) - omega * sum;
            }
        }
    }
}

WIDE_INLINE void smooth_rows(const int B, const int K, const sa_smoothing* c, int begin, int end)
{
    REAL t[ROW_MAX * 6 * 8];
    for (int i = begin; i < end; i++)
    {
        int count = c->level->P_start[i + 1] - c->level->P_start[i];
        if (count == 0)
        {
            continue; // a special node
        }
        if (count * B * STRIDE(K) <= ROW_MAX * 6 * 8)
        {
            smooth_row(B, K, c, i, t);
        }
        else
        {
            REAL* large = MEM_NEW((size_t)(count * B * STRIDE(K)), REAL);
            if (large)
            {
                smooth_row(B, K, c, i, large);
            }
            else
            {
                c->level->radius = NAN; // looked at after the pass: no memory
            }
            mem_free(large);
        }
    }
}

static void smooth(void* context, int begin, int end)
{
    const sa_smoothing* c = context;
    BY_BLOCKS(smooth_rows, c->level->block, c->level->coarse_block, c, begin, end)
}

// Scratch of one chunk of the Galerkin product.
typedef struct galerkin_scratch
{
    REAL* t;     // one row of A P
    REAL* sum;   // upper blocks of the chunk's coarse rows
    int* offset; // [SA_CHUNK] first of them for each row
} galerkin_scratch;

// t = row i of A P, blocks in the order of AP_column.
WIDE_INLINE void ap_row(const int B, const int K, const sa_level* l, int i, REAL* t)
{
    const int* list = l->AP_column + l->AP_start[i];
    int count = l->AP_start[i + 1] - l->AP_start[i];
    const int stride = STRIDE(K);
    memset(t, 0, (size_t)(count * B * stride) * sizeof(REAL));
    for (int slot = l->pattern.row_start[i]; slot < l->pattern.row_start[i + 1]; slot++)
    {
        int j = l->pattern.column[slot];
        const REAL* a = (const REAL*)l->A + (size_t)(B * B) * (size_t)slot;
        int at = 0;
        for (int s = l->P_start[j]; s < l->P_start[j + 1]; s++)
        {
            while (list[at] < l->P_column[s])
            {
                at++;
            }
            block_add_product(B, K, t + at * B * stride, a, (const REAL*)l->P + (size_t)(B * K) * (size_t)s);
        }
    }
}

WIDE_INLINE void galerkin_chunk(const int B, const int K, const sa_product* c, int chunk, galerkin_scratch* g)
{
    const sa_level* l = c->level;
    const bsr_pattern* p = &c->coarse->pattern;
    const int stride = STRIDE(K);
    int begin = chunk * SA_CHUNK, end = int_min(begin + SA_CHUNK, l->coarse_rows), total = 0;
    for (int I = begin; I < end; I++)
    {
        g->offset[I - begin] = total;
        total += p->row_start[I + 1] - p->diagonal[I];
    }
    memset(g->sum, 0, (size_t)(total * K * stride) * sizeof(REAL));
    for (int k = l->chunk_start[chunk]; k < l->chunk_start[chunk + 1]; k++)
    {
        int i = l->chunk_row[k];
        ap_row(B, K, l, i, g->t);
        const int* list = l->AP_column + l->AP_start[i];
        int count = l->AP_start[i + 1] - l->AP_start[i];
        for (int s = l->P_start[i]; s < l->P_start[i + 1]; s++)
        {
            int I = l->P_column[s];
            if (I < begin || I >= end)
            {
                continue;
            }
            const int* column = p->column + p->diagonal[I];
            int slot = 0;
            for (int at = 0; at < count; at++)
            {
                if (list[at] < I)
                {
                    continue;
                }
                while (column[slot] < list[at])
                {
                    slot++;
                }
                block_add_transposed(B, K, g->sum + (size_t)(g->offset[I - begin] + slot) * (size_t)(K * stride),
                                     (const REAL*)l->P + (size_t)(B * K) * (size_t)s, g->t + at * B * stride);
            }
        }
    }
    for (int I = begin; I < end; I++)
    {
        const REAL* from = g->sum + (size_t)g->offset[I - begin] * (size_t)(K * stride);
        REAL* to = (REAL*)c->coarse->A + (size_t)(K * K) * (size_t)p->diagonal[I];
        int blocks = p->row_start[I + 1] - p->diagonal[I];
        for (int r = 0; r < blocks * K; r++)
        {
            memcpy(to + (size_t)r * (size_t)K, from + (size_t)r * (size_t)stride, (size_t)K * sizeof(REAL));
        }
        for (int r = 0; r < K; r++) // the diagonal block, symmetric to the bit
        {
            for (int q = 0; q < r; q++)
            {
                to[r * K + q] = to[q * K + r];
            }
        }
    }
}

// Most blocks of a row of A P, and most upper blocks of a chunk.
static void galerkin_sizes(const sa_product* c, int begin, int end, int* row, int* sum)
{
    const sa_level* l = c->level;
    const bsr_pattern* p = &c->coarse->pattern;
    *row = *sum = 0;
    for (int chunk = begin; chunk < end; chunk++)
    {
        for (int k = l->chunk_start[chunk]; k < l->chunk_start[chunk + 1]; k++)
        {
            int i = l->chunk_row[k];
            *row = int_max(*row, l->AP_start[i + 1] - l->AP_start[i]);
        }
        int total = 0;
        for (int I = chunk * SA_CHUNK; I < int_min((chunk + 1) * SA_CHUNK, l->coarse_rows); I++)
        {
            total += p->row_start[I + 1] - p->diagonal[I];
        }
        *sum = int_max(*sum, total);
    }
}

static void galerkin(void* context, int begin, int end)
{
    const sa_product* c = context;
    int B = c->level->block, K = c->level->coarse_block, row, sum, offset[SA_CHUNK];
    galerkin_sizes(c, begin, end, &row, &sum);
    galerkin_scratch g = {MEM_NEW((size_t)row * (size_t)(B * STRIDE(K)), REAL),
                          MEM_NEW((size_t)sum * (size_t)(K * STRIDE(K)), REAL), offset};
    if (g.t && g.sum)
    {
        for (int chunk = begin; chunk < end; chunk++)
        {
            BY_BLOCKS(galerkin_chunk, B, K, c, chunk, &g)
        }
    }
    else
    {
        c->coarse->radius = NAN; // looked at after the pass: no memory
    }
    mem_free(g.t);
    mem_free(g.sum);
}

static void mirror(void* context, int begin, int end)
{
    sa_level* l = context;
    const bsr_pattern* p = &l->pattern;
    int B = l->block;
    size_t size = (size_t)(B * B);
    for (int i = begin; i < end; i++)
    {
        for (int slot = p->row_start[i]; slot < p->diagonal[i]; slot++)
        {
            const REAL* from = (const REAL*)l->A + size * (size_t)bsr_pattern_find(p, p->column[slot], i);
            REAL* to = (REAL*)l->A + size * (size_t)slot;
            for (int r = 0; r < B; r++)
            {
                for (int c = 0; c < B; c++)
                {
                    to[r * B + c] = from[c * B + r];
                }
            }
        }
    }
}

extern const sa_kernels SA_TABLE;
const sa_kernels SA_TABLE = {sizeof(REAL), load, invert,   relax,       smooth,  galerkin,         mirror,
                             first,        step, residual, restrict_to, prolong, lanczos_multiply, lanczos_scale};
