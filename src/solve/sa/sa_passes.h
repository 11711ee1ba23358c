// Passes of the V-cycle and of Lanczos over a level. A part of sa_numeric.h.

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
            const REAL* xj = x + 3 * (size_t)column[slot];
            r4 q = load4(xj);
            sum += load8(block) * __builtin_shufflevector(q, q, 0, 1, 2, 0, 1, 2, 0, 1);
            last += block[8] * xj[2];
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

// y = row i of A x on the finest level, by the half of its matrix: rows of the chunk from `begin` on, one after the
// other. `others` has four numbers a row, what rows before it have added to it; zero at first.
WIDE_INLINE void half_product(const sa_level* l, const REAL* restrict x, int begin, int i, REAL* restrict others,
                              REAL* restrict y)
{
    const bsr_pattern* p = &l->pattern;
    const int* restrict column = p->column;
    int slot = p->row_start[i], before = l->half.before[i], behind = l->half.behind[i], end = p->row_start[i + 1];
    const REAL* restrict block = (const REAL*)l->half.A + 9 * (size_t)l->half.start[i];
    const REAL* xi = x + 3 * (size_t)i;
    r4 more = load4(others + 4 * (i - begin)); // before the diagonal block adds to it once more
    r8 sum = {0};
    REAL last = 0;
    for (; slot < before; slot++, block += 9)
    {
        const REAL* xj = x + 3 * (size_t)column[slot];
        r4 q = load4(xj);
        sum += load8(block) * __builtin_shufflevector(q, q, 0, 1, 2, 0, 1, 2, 0, 1);
        last += block[8] * xj[2];
    }
    for (slot = p->diagonal[i]; slot < behind; slot++, block += 9)
    {
        const REAL* xj = x + 3 * (size_t)column[slot];
        REAL* other = others + 4 * (column[slot] - begin);
        r4 q = load4(xj);
        sum += load8(block) * __builtin_shufflevector(q, q, 0, 1, 2, 0, 1, 2, 0, 1);
        last += block[8] * xj[2];
        store4(other, load4(other) + (load4(block) * xi[0] + load4(block + 3) * xi[1] + load4(block + 6) * xi[2]));
    }
    for (; slot < end; slot++, block += 9)
    {
        const REAL* xj = x + 3 * (size_t)column[slot];
        r4 q = load4(xj);
        sum += load8(block) * __builtin_shufflevector(q, q, 0, 1, 2, 0, 1, 2, 0, 1);
        last += block[8] * xj[2];
    }
    y[0] = sum[0] + sum[1] + sum[2] + more[0];
    y[1] = sum[3] + sum[4] + sum[5] + more[1];
    y[2] = sum[6] + sum[7] + last + more[2];
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

static void half_residual_rows(const sa_pass* c, int begin, int end)
{
    const REAL* restrict b = c->b;
    REAL *restrict y = c->y, others[4 * ROW_GRAIN] = {0};
    for (int i = begin; i < end; i++)
    {
        REAL t[3];
        half_product(c->level, c->x, begin, i, others, t);
        for (int r = 0; r < 3; r++)
        {
            size_t k = 3 * (size_t)i + (size_t)r;
            y[k] = b[k] - t[r];
        }
    }
}

static void residual(void* context, int begin, int end)
{
    const sa_pass* c = context;
    for (int from = begin; c->level->half.A && from < end; from += ROW_GRAIN)
    {
        half_residual_rows(c, from, int_min(from + ROW_GRAIN, end));
    }
    if (c->level->half.A)
    {
        return;
    }
    BY_BLOCK(residual_rows, c->level->block, c, begin, end)
}

WIDE_INLINE void restrict_rows(const int B, const int K, const sa_pass* c, int begin, int end)
{
    const sa_level* l = c->level;
    const REAL* restrict x = c->x, * restrict P = l->P, * restrict R = l->R;
    REAL* restrict y = c->y;
    for (int i = begin; i < end; i++)
    {
        REAL* out = y + (size_t)K * (size_t)i;
        if (K == 6)
        {
            r8 sum = {0};
            for (int k = l->R_start[i]; k < l->R_start[i + 1]; k++)
            {
                const REAL* block = R ? R + (size_t)(B * K) * (size_t)k : P + (size_t)(B * K) * (size_t)l->R_slot[k];
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
            const REAL* block = R ? R + (size_t)(B * K) * (size_t)k : P + (size_t)(B * K) * (size_t)l->R_slot[k];
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

static double half_lanczos_rows(const sa_pass* c, int begin, int end)
{
    const REAL *restrict b = c->b, *restrict x = c->x;
    REAL *restrict y = c->y, c1 = (REAL)c->c1, others[4 * ROW_GRAIN] = {0};
    double dot = 0.0;
    for (int i = begin; i < end; i++)
    {
        REAL t[3];
        half_product(c->level, x, begin, i, others, t);
        for (int r = 0; r < 3; r++)
        {
            size_t k = 3 * (size_t)i + (size_t)r;
            y[k] = t[r] - c1 * b[k];
            dot += (double)x[k] * (double)y[k];
        }
    }
    return dot;
}

static double lanczos_multiply(void* context, int begin, int end)
{
    const sa_pass* c = context;
    double dot = 0.0;
    for (int from = begin; c->level->half.A && from < end; from += ROW_GRAIN)
    {
        dot += half_lanczos_rows(c, from, int_min(from + ROW_GRAIN, end));
    }
    if (c->level->half.A)
    {
        return dot;
    }
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
