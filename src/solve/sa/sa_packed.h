// The finest level in 16 bits. A part of sa_float_kernel.c.
//
// Unknowns are scaled by the roots of the diagonal blocks: with R_i = D_i^-1/2 the matrix R_i A_ij R_j has ones on its
// diagonal and nothing above one elsewhere, in stiff directions and in soft ones, so that 16 bits behind a fixed
// point hold it with an error of 3e-5 everywhere. (Without the scaling the normal direction of a fine sheet, a
// millionth of the others, would drown.) Only the smoother looks at it; interpolation and coarse matrices are made from
// the system's own numbers. The diagonal is left out of the smoother's scaling: it is one.
//
//     b" = R b, x" = R^-1 x,   residual r = R^-1 (b" - A" x"),   x" += R^-1 P e

#ifdef __AVX2__
#include <immintrin.h>
#endif

typedef int16_t s8 __attribute__((vector_size(16)));
typedef int16_t s4 __attribute__((vector_size(8)));
typedef int32_t i8 __attribute__((vector_size(32)));
typedef int32_t i4 __attribute__((vector_size(16)));
typedef double d4 __attribute__((vector_size(32)));

static const float PACK_ONE = 16384.0f, PACK_MOST = 32767.0f;

// out = m v for a 3 x 3 matrix.
WIDE_INLINE void apply3(const float* m, const float* v, float* out)
{
    float x = m[0] * v[0] + m[1] * v[1] + m[2] * v[2];
    float y = m[3] * v[0] + m[4] * v[1] + m[5] * v[2];
    float z = m[6] * v[0] + m[7] * v[1] + m[8] * v[2];
    out[0] = x;
    out[1] = y;
    out[2] = z;
}

// out = R_i A_ij R_j in whole numbers. Entries above one, which no definite matrix has, and what is no number set bits
// of the first three lanes of `odd`. Four doubles are read where a row has three.
WIDE_INLINE void pack_block(const double* block, const float* left, const float* right, double scale, int16_t* out,
                            i4* odd)
{
    const r4 most = {1.01f * PACK_ONE, 1.01f * PACK_ONE, 1.01f * PACK_ONE, 1.01f * PACK_ONE};
    r4 row[3], column[3];
    for (int k = 0; k < 3; k++)
    {
        d4 wide_row;
        memcpy(&wide_row, block + 3 * k, sizeof(wide_row));
        row[k] = __builtin_convertvector(wide_row * scale, r4);
        column[k] = load4(right + 3 * k);
    }
    for (int r = 0; r < 3; r++)
    {
        r4 t = row[0] * left[3 * r] + row[1] * left[3 * r + 1] + row[2] * left[3 * r + 2];
        r4 u = column[0] * __builtin_shufflevector(t, t, 0, 0, 0, 0) +
               column[1] * __builtin_shufflevector(t, t, 1, 1, 1, 1) +
               column[2] * __builtin_shufflevector(t, t, 2, 2, 2, 2);
        u = u * PACK_ONE;
        *odd |= ~((i4)(u <= most) & (i4)(u >= -most));
        r4 shifted = u + 12582912.0f; // 1.5 * 2^23: what is left of the fraction is rounded off
        i4 number;
        memcpy(&number, &shifted, sizeof(number));
        s4 brief = __builtin_convertvector(number, s4); // the low halves are the numbers
        memcpy(out + 3 * r, &brief, 3 * sizeof(int16_t));
    }
}

// The matrix of the rows; returns how many rows do not fit.
static double pack(void* context, int begin, int end)
{
    static const int16_t identity[9] = {16384, 0, 0, 0, 16384, 0, 0, 0, 16384};
    const sa_load* c = context;
    const sa_level* l = c->level;
    const bsr_pattern* p = &l->pattern;
    double bad = 0.0;
    for (int i = begin; i < end; i++)
    {
        i4 odd = {0};
        for (int slot = p->row_start[i]; slot < p->row_start[i + 1]; slot++)
        {
            double buffer[12];
            pack_block(source_block(c, i, slot, buffer), l->root + 9 * (size_t)i, l->root + 9 * (size_t)p->column[slot],
                       c->scale, l->packed + 9 * (size_t)slot, &odd);
        }
        memcpy(l->packed + 9 * (size_t)p->diagonal[i], identity, sizeof(identity));
        bad += (odd[0] | odd[1] | odd[2]) != 0;
    }
    return bad;
}

// Eight numbers.
WIDE_INLINE r8 unpack8(const int16_t* p)
{
#ifdef __AVX2__
    return (r8)_mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(_mm_loadu_si128((const __m128i*)p)));
#else
    s8 packed;
    memcpy(&packed, p, sizeof(packed));
    return __builtin_convertvector(__builtin_convertvector(packed, i8), r8);
#endif
}

// y = row of A" times x.
WIDE_INLINE void packed_row(const sa_level* l, int i, const float* x, float* y)
{
    const int* column = l->pattern.column;
    const int16_t* block = l->packed + 9 * (size_t)l->pattern.row_start[i];
    r8 sum = {0};
    float last = 0;
    for (int slot = l->pattern.row_start[i]; slot < l->pattern.row_start[i + 1]; slot++, block += 9)
    {
        const float* xj = x + 3 * (size_t)column[slot];
        r4 q = load4(xj);
        sum += unpack8(block) * __builtin_shufflevector(q, q, 0, 1, 2, 0, 1, 2, 0, 1);
        last += (float)block[8] * xj[2];
    }
    const float one = 1.0f / PACK_ONE;
    y[0] = one * (sum[0] + sum[1] + sum[2]);
    y[1] = one * (sum[3] + sum[4] + sum[5]);
    y[2] = one * (sum[6] + sum[7] + last);
}

static void packed_first(void* context, int begin, int end)
{
    const sa_pass* c = context;
    const float* restrict b = c->b;
    float* restrict y = c->y, * restrict d = c->d;
    float c2 = (float)c->c2;
    for (size_t k = 3 * (size_t)begin; k < 3 * (size_t)end; k++)
    {
        d[k] = y[k] = c2 * b[k];
    }
}

static void packed_step(void* context, int begin, int end)
{
    const sa_pass* c = context;
    const float* restrict b = c->b, * restrict x = c->x;
    float* restrict y = c->y, * restrict d = c->d;
    float c1 = (float)c->c1, c2 = (float)c->c2;
    for (int i = begin; i < end; i++)
    {
        float t[3];
        packed_row(c->level, i, x, t);
        for (int r = 0; r < 3; r++)
        {
            size_t k = 3 * (size_t)i + (size_t)r;
            d[k] = c1 * d[k] + c2 * (b[k] - t[r]);
            y[k] = x[k] + d[k];
        }
    }
}

static void packed_residual(void* context, int begin, int end)
{
    const sa_pass* c = context;
    const float* restrict b = c->b, * restrict x = c->x;
    float* restrict y = c->y;
    for (int i = begin; i < end; i++)
    {
        float t[3];
        packed_row(c->level, i, x, t);
        for (int r = 0; r < 3; r++)
        {
            t[r] = b[3 * (size_t)i + (size_t)r] - t[r];
        }
        apply3(c->level->unroot + 9 * (size_t)i, t, y + 3 * (size_t)i);
    }
}

WIDE_INLINE void packed_prolong_rows(const int K, const sa_pass* c, int begin, int end)
{
    const sa_level* l = c->level;
    float* restrict y = c->y;
    for (int i = begin; i < end; i++)
    {
        float t[B_MAX], u[3];
        row_product(3, K, l->P_column, l->P_start[i], l->P_start[i + 1], l->P, c->x, t);
        apply3(l->unroot + 9 * (size_t)i, t, u);
        for (int r = 0; r < 3; r++)
        {
            y[3 * (size_t)i + (size_t)r] += u[r];
        }
    }
}

static void packed_prolong(void* context, int begin, int end)
{
    const sa_pass* c = context;
    BY_BLOCK(packed_prolong_rows, c->level->coarse_block, c, begin, end)
}

static double packed_lanczos_multiply(void* context, int begin, int end)
{
    const sa_pass* c = context;
    const float* restrict b = c->b, * restrict x = c->x;
    float* restrict y = c->y;
    float c1 = (float)c->c1;
    double dot = 0.0;
    for (int i = begin; i < end; i++)
    {
        float t[3];
        packed_row(c->level, i, x, t);
        for (int r = 0; r < 3; r++)
        {
            size_t k = 3 * (size_t)i + (size_t)r;
            y[k] = t[r] - c1 * b[k];
            dot += (double)x[k] * (double)y[k];
        }
    }
    return dot;
}

static double packed_lanczos_scale(void* context, int begin, int end)
{
    const sa_pass* c = context;
    const float* restrict b = c->b;
    float* restrict y = c->y, * restrict d = c->d;
    float c1 = (float)c->c1;
    double dot = 0.0;
    for (size_t k = 3 * (size_t)begin; k < 3 * (size_t)end; k++)
    {
        y[k] -= c1 * b[k];
        d[k] = y[k];
        dot += (double)y[k] * (double)y[k];
    }
    return dot;
}

extern const sa_kernels KERNEL_NAME(sa_kernels_packed);
const sa_kernels KERNEL_NAME(sa_kernels_packed) = {.real_size = sizeof(float),
                                                   .pack = pack,
                                                   .first = packed_first,
                                                   .step = packed_step,
                                                   .residual = packed_residual,
                                                   .restrict_to = restrict_to,
                                                   .prolong = packed_prolong,
                                                   .lanczos_multiply = packed_lanczos_multiply,
                                                   .lanczos_scale = packed_lanczos_scale};
