// Products of the setup: the finest matrix, inverse diagonals, relaxation of the kernel, smoothing of the
// interpolation, the Galerkin product. A part of sa_numeric.h.

static void load(void* context, int begin, int end)
{
    const sa_load* c = context;
    const bsr_matrix* A = &c->system->A;
    const bsr_pattern* p = A->pattern;
    REAL* restrict to = c->level->A;
    for (int i = begin; i < end; i++)
    {
        double scale = c->scale;
        for (size_t k = 9 * (size_t)p->row_start[i]; k < 9 * (size_t)p->row_start[i + 1]; k++)
        {
            to[k] = (REAL)(scale * A->values[k]);
        }
        for (int slot = p->row_start[i]; slot < p->row_start[i + 1] && c->index; slot++)
        {
            double buffer[9];
            const double* block = source_block(c, i, slot, buffer);
            for (int k = 0; k < 9 && block == buffer; k++)
            {
                to[9 * (size_t)slot + (size_t)k] = (REAL)(scale * block[k]);
            }
        }
        sa_half_row(c->level, 9 * sizeof(REAL), i);
    }
}

// Likewise of a matrix that is there; a row that gets other numbers is marked.
static void reload(void* context, int begin, int end)
{
    const sa_load* c = context;
    const bsr_pattern* p = c->system->A.pattern;
    for (int i = begin; i < end; i++)
    {
        for (int slot = p->row_start[i]; slot < p->row_start[i + 1]; slot++)
        {
            double buffer[9];
            const double* block = source_block(c, i, slot, buffer);
            REAL now[9], *to = (REAL*)c->level->A + 9 * (size_t)slot;
            for (int k = 0; k < 9; k++)
            {
                now[k] = (REAL)(c->scale * block[k]);
            }
            if (memcmp(now, to, sizeof(now)) != 0)
            {
                memcpy(to, now, sizeof(now));
                c->mark[i] = 1;
            }
        }
        c->mark[i] ? sa_half_row(c->level, 9 * sizeof(REAL), i) : (void)0;
    }
}

// The inverse of a symmetric positive definite 3 x 3 block, in double; false when it is not definite.
static bool invert_spd3(const REAL* m, REAL* out)
{
    double a = m[0], b = m[1], c = m[2], d = m[4], e = m[5], f = m[8];
    double xx = d * f - e * e, xy = c * e - b * f, xz = b * e - c * d;
    double minor = a * d - b * b, det = a * xx + b * xy + c * xz, inverse = 1.0 / det;
    if (!(a > 0.0 && minor > 0.0 && det > 0.0 && isfinite(inverse)))
    {
        return false;
    }
    out[0] = (REAL)(xx * inverse);
    out[1] = out[3] = (REAL)(xy * inverse);
    out[2] = out[6] = (REAL)(xz * inverse);
    out[4] = (REAL)((a * f - c * c) * inverse);
    out[5] = out[7] = (REAL)((b * c - a * e) * inverse);
    out[8] = (REAL)(minor * inverse);
    return true;
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
        REAL block[9];
        const REAL* a = l->block == 3 ? block_of(3, l, i, l->pattern.diagonal[i], block)
                                      : (const REAL*)l->A + size * (size_t)l->pattern.diagonal[i];
        REAL* out = (REAL*)l->inverse + size * (size_t)i;
        bad += !(l->block == 3   ? invert_spd3(a, out)
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
        REAL block[9];
        const REAL* a = block_of(B, c->level, i, slot, block);
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
        r8 row[B_MAX];
        for (int q = 0; q < B; q++)
        {
            row[q] = load8(p + 6 * q); // the last two are the next row's and go where no one looks
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
        r4 row[B_MAX];
        for (int q = 0; q < B; q++)
        {
            row[q] = load4(p + 3 * q);
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

// First place in a sorted list whose value is not below `value`.
static int place_sorted(const int* list, int count, int value)
{
    int low = 0, high = count;
    while (high - low > 8) // then straight on, which is quicker for what is short
    {
        int middle = low + (high - low) / 2;
        *(list[middle] < value ? &low : &high) = middle;
    }
    while (low < high && list[low] < value)
    {
        low++;
    }
    return low;
}

static int find_sorted(const int* list, int count, int value)
{
    int k = place_sorted(list, count, value);
    return k < count && list[k] == value ? k : -1;
}

// One row of P: sum the products A_ij Q_j by aggregate, then scale by the inverse of the diagonal.
WIDE_INLINE void smooth_row(const int B, const int K, const sa_smoothing* c, int i, REAL* t)
{
    const sa_level* l = c->level;
    const bsr_pattern* p = &l->pattern;
    const int stride = STRIDE(K);
    int first_slot = l->P_start[i], count = l->P_start[i + 1] - first_slot;
    memset(t, 0, (size_t)(count * B * stride) * sizeof(REAL));
    int own = find_sorted(l->P_column + first_slot, count, l->aggregate[i]);
    for (int slot = p->row_start[i]; slot < p->row_start[i + 1]; slot++)
    {
        int j = p->column[slot];
        if (l->aggregate[j] < 0)
        {
            continue;
        }
        REAL block[9];
        const REAL* a = block_of(B, l, i, slot, block);
        int at =
            sa_smooths(&c->filter, slot, i, j) ? find_sorted(l->P_column + first_slot, count, l->aggregate[j]) : -1;
        // What is left out acts on the node itself, so that sums over a row, and with them translations, are kept.
        block_add_product(B, K, t + (at >= 0 ? at : own) * B * stride, a,
                          (const REAL*)l->Q + (size_t)(B * K) * (size_t)(at >= 0 ? j : i));
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
    REAL t[SA_P_ROW_MAX * B_MAX * B_MAX];
    for (int i = begin; i < end; i++)
    {
        if (c->level->P_start[i + 1] > c->level->P_start[i]) // else a special node
        {
            smooth_row(B, K, c, i, t);
        }
    }
}

static void smooth(void* context, int begin, int end)
{
    const sa_smoothing* c = context;
    BY_BLOCKS(smooth_rows, c->level->block, c->level->coarse_block, c, begin, end)
}

// Coarse rows wider than this have no places: see sa_level.
static const int PLACE_MAX = 65536;

// t = row i of A P, blocks in the order of AP_column, when its products are not listed.
WIDE_INLINE void ap_row_searched(const int B, const int K, const sa_level* l, int i, REAL* t)
{
    const int* list = l->AP_column + l->AP_start[i];
    int count = l->AP_start[i + 1] - l->AP_start[i];
    const int stride = STRIDE(K);
    memset(t, 0, (size_t)count * (size_t)(B * stride) * sizeof(REAL));
    for (int slot = l->pattern.row_start[i]; slot < l->pattern.row_start[i + 1]; slot++)
    {
        int j = l->pattern.column[slot];
        REAL block[9];
        const REAL* a = block_of(B, l, i, slot, block);
        for (int s = l->P_start[j]; s < l->P_start[j + 1]; s++)
        {
            block_add_product(B, K, t + (size_t)place_sorted(list, count, l->P_column[s]) * (size_t)(B * stride), a,
                              (const REAL*)l->P + (size_t)(B * K) * (size_t)s);
        }
    }
}

// The sum of listed products into t; blocks of the row of A begin at `a`. Sums stay in registers.
WIDE_INLINE void sum_products(const int B, const int K, const sa_level* l, const int* column, const REAL* a,
                              const uint16_t* pair, int count, REAL* t)
{
    if (K == 6)
    {
        r8 sum[B_MAX] = {{0}};
        for (int n = 0; n < count; n++)
        {
            int s = l->P_start[column[pair[n] >> 8]] + (pair[n] & 0xFF);
            const REAL *block = a + (B * B) * (pair[n] >> 8), *p = (const REAL*)l->P + (size_t)(B * 6) * (size_t)s;
            for (int q = 0; q < B; q++)
            {
                r8 row = load8(p + 6 * q); // the last two are the next row's and go where no one looks
                for (int r = 0; r < B; r++)
                {
                    sum[r] += row * block[r * B + q];
                }
            }
        }
        for (int r = 0; r < B; r++)
        {
            store8(t + 8 * r, sum[r]);
        }
        return;
    }
    memset(t, 0, (size_t)(B * STRIDE(K)) * sizeof(REAL));
    for (int n = 0; n < count; n++)
    {
        int s = l->P_start[column[pair[n] >> 8]] + (pair[n] & 0xFF);
        block_add_product(B, K, t, a + (B * B) * (pair[n] >> 8), (const REAL*)l->P + (size_t)(B * K) * (size_t)s);
    }
}

// t = row i of A P, blocks in the order of AP_column.
WIDE_INLINE void ap_row(const int B, const int K, const sa_level* l, int i, REAL* t)
{
    int first = l->pattern.row_start[i], slots = l->pattern.row_start[i + 1] - first;
    if (!sa_is_listed(slots, l->in_start[i + 1] - l->in_start[i]))
    {
        ap_row_searched(B, K, l, i, t);
        return;
    }
    REAL copy[9 * 256];
    const REAL* a = copy;
    for (int slot = 0; slot < slots && B == 3 && !l->A; slot++)
    {
        block_of(B, l, i, first + slot, copy + 9 * slot);
    }
    a = B != 3 || l->A ? (const REAL*)l->A + (size_t)(B * B) * (size_t)first : a;
    const uint16_t* pair = l->in_pair + l->in_start[i];
    for (int at = l->AP_start[i]; at < l->AP_start[i + 1]; at++, t += B * STRIDE(K))
    {
        int count = l->in_more[at] + 1;
        sum_products(B, K, l, l->pattern.column + first, a, pair, count, t);
        pair += count;
    }
}

// Adds P_i^T (A P)_i to the upper blocks of the coarse rows [begin, end), of which offset has the first.
WIDE_INLINE void add_row(const int B, const int K, const sa_product* c, int i, const REAL* t, int begin, int end,
                         const int* offset, REAL* sum)
{
    const sa_level* l = c->level;
    const bsr_pattern* p = &c->coarse->pattern;
    const int stride = STRIDE(K);
    const int* list = l->AP_column + l->AP_start[i];
    int count = l->AP_start[i + 1] - l->AP_start[i];
    const uint16_t* place = l->out_place + l->out_start[i];
    for (int s = l->P_start[i]; s < l->P_start[i + 1]; s++)
    {
        int I = l->P_column[s], first = place_sorted(list, count, I), width = p->row_start[I + 1] - p->diagonal[I];
        REAL block[B_MAX * B_MAX];
        memcpy(block, (const REAL*)l->P + (size_t)(B * K) * (size_t)s, (size_t)(B * K) * sizeof(REAL));
        for (int at = first; at < count && I >= begin && I < end; at++)
        {
            int to = width <= PLACE_MAX ? place[at - first] : place_sorted(p->column + p->diagonal[I], width, list[at]);
            block_add_transposed(B, K, sum + (size_t)(offset[I - begin] + to) * (size_t)(K * stride), block,
                                 t + (size_t)at * (size_t)(B * stride));
        }
        place += count - first;
    }
}

WIDE_INLINE void galerkin_chunk(const int B, const int K, const sa_product* c, int chunk, REAL* t, REAL* sum)
{
    const sa_level* l = c->level;
    const bsr_pattern* p = &c->coarse->pattern;
    const int stride = STRIDE(K);
    int begin = chunk * l->chunk_size, end = int_min(begin + l->chunk_size, l->coarse_rows), total = 0;
    int offset[SA_CHUNK_MAX];
    for (int I = begin; I < end; I++)
    {
        offset[I - begin] = total;
        total += p->row_start[I + 1] - p->diagonal[I];
    }
    memset(sum, 0, (size_t)total * (size_t)(K * stride) * sizeof(REAL));
    for (int k = l->chunk_start[chunk]; k < l->chunk_start[chunk + 1]; k++)
    {
        ap_row(B, K, l, l->chunk_row[k], t);
        add_row(B, K, c, l->chunk_row[k], t, begin, end, offset, sum);
    }
    for (int I = begin; I < end; I++)
    {
        const REAL* from = sum + (size_t)offset[I - begin] * (size_t)(K * stride);
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

static __attribute__((noinline)) void galerkin_tasks(const sa_product* c, int begin, int end)
{
    int B = c->level->block, K = c->level->coarse_block;
    for (int task = begin; task < end; task++)
    {
        REAL *t = (REAL*)c->scratch + (size_t)task * c->stride, *sum = t + c->row_room;
        for (int chunk = task; chunk < sa_chunks(c->level); chunk += SA_TASKS)
        {
            BY_BLOCKS(galerkin_chunk, B, K, c, chunk, t, sum)
        }
    }
}

static void galerkin(void* context, int begin, int end)
{
    unsigned before = flush_denormals();
    galerkin_tasks(context, begin, end);
    restore_denormals(before);
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
