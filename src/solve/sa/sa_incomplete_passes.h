// Incomplete Cholesky of the finest level and its triangular solves, for one CPU kind: sa_incomplete.c. A part of
// sa_float_kernel.c. Ranges count clusters of one colour; rows and columns are ranks.
//
// With (1 + shift) A_ii = E_i E_i^T the factor is that of the scaled matrix E_i^-1 A_ij E_j^-T, which has ones on its
// diagonal:
//
//     W_ij = E_i^-1 A_ij E_j^-T - sum over m of W_im L_jm^T,   L_ij = W_ij D_j^-1,   D_i = I - sum over j of W_ij
//     L_ij^T.
//
// In single precision: the shift is a hundred thousand times its error.

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

// L^-1 v and L^-T v.
WIDE_INLINE void triangle_apply(const triangle* t, const float* v, float* out)
{
    float x = v[0], y = v[1], z = v[2];
    out[0] = t->a * x;
    out[1] = t->b * x + t->c * y;
    out[2] = t->d * x + t->e * y + t->f * z;
}

WIDE_INLINE void triangle_apply_transposed(const triangle* t, const float* v, float* out)
{
    float x = v[0], y = v[1], z = v[2];
    out[0] = t->a * x + t->b * y + t->d * z;
    out[1] = t->c * y + t->e * z;
    out[2] = t->f * z;
}

// ---- factor

// Columns of E_i^-1 A_ij E_j^-T.
WIDE_INLINE void scaled_block(const float* A, const triangle* left, const triangle* right, r4* W)
{
    r4 r0 = load4(A), r1 = load4(A + 3), r2 = load4(A + 6);
    r4 s0 = r0 * left->a, s1 = r0 * left->b + r1 * left->c, s2 = r0 * left->d + r1 * left->e + r2 * left->f;
    r4 X0 = {s0[0], s1[0], s2[0], 0}, X1 = {s0[1], s1[1], s2[1], 0}, X2 = {s0[2], s1[2], s2[2], 0};
    W[0] = X0 * right->a;
    W[1] = X0 * right->b + X1 * right->c;
    W[2] = X0 * right->d + X1 * right->e + X2 * right->f;
}

// Columns of X Y^T, added up: from the columns of X and the rows of Y.
WIDE_INLINE void add_outer(const r4* X, const float* Y, r4* sum)
{
    sum[0] += X[0] * Y[0] + X[1] * Y[1] + X[2] * Y[2];
    sum[1] += X[0] * Y[3] + X[1] * Y[4] + X[2] * Y[5];
    sum[2] += X[0] * Y[6] + X[1] * Y[7] + X[2] * Y[8];
}

// The sum over m of W_im L_jm^T, m being before both i and j. `row` has the columns of W_i before j.
WIDE_INLINE void eliminated(const sa_incomplete* f, int begin, int at, const r4* row, r4* sum)
{
    int a = begin, b = f->lower_start[f->lower_column[at]], end = f->lower_start[f->lower_column[at] + 1];
    while (a < at && b < end)
    {
        int left = f->lower_column[a], right = f->lower_column[b];
        if (left == right)
        {
            add_outer(row + 3 * (a - begin), f->lower + 9 * (size_t)b, sum);
        }
        a += left <= right;
        b += right <= left;
    }
}

// D_i^-1, the columns of I - D_i given; the identity, and false, where the pivot is weak.
static bool invert_pivot(const r4* taken, float* out)
{
    float m[9], less[9], unused[9];
    for (int k = 0; k < 9; k++)
    {
        m[k] = (k % 4 == 0 ? 1.0f : 0.0f) - 0.5f * (taken[k % 3][k / 3] + taken[k / 3][k % 3]);
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
    int begin = f->lower_start[k];
    r4 row[3 * SA_LOWER_MAX], taken[3] = {{0}};
    for (int at = begin; at < f->lower_start[k + 1]; at++)
    {
        r4 *W = row + 3 * (at - begin), sum[3] = {{0}};
        int j = f->lower_column[at];
        float *L = f->lower + 9 * (size_t)at, *pivot = f->pivot + 9 * (size_t)j;
        f->lower_slot[at] < 0
            ? (void)(W[0] = W[1] = W[2] = (r4){0})
            : scaled_block((const float*)l->A + 9 * (size_t)f->lower_slot[at], &scale[k], &scale[j], W);
        eliminated(f, begin, at, row, sum);
        for (int c = 0; c < 3; c++)
        {
            W[c] -= sum[c];
        }
        for (int c = 0; c < 3; c++)
        {
            r4 column = W[0] * pivot[c] + W[1] * pivot[3 + c] + W[2] * pivot[6 + c];
            L[c] = column[0];
            L[3 + c] = column[1];
            L[6 + c] = column[2];
        }
        add_outer(W, L, taken);
    }
    return invert_pivot(taken, f->pivot + 9 * (size_t)k);
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

// The blocks of L^T between clusters, row after row: the way back gathers them, since clusters that run at once may
// reach the same rows. Ranges count ranks.
static void incomplete_mirror(void* context, int begin, int end)
{
    const sa_incomplete* f = context;
    for (int k = f->upper_start[begin]; k < f->upper_start[end]; k++)
    {
        const float* from = f->lower + 9 * (size_t)f->upper_place[k];
        for (int e = 0; e < 9; e++)
        {
            f->upper[9 * (size_t)k + (size_t)e] = from[e % 3 * 3 + e / 3];
        }
    }
}

// ---- solves: y and what it becomes have four numbers a row, so that a row is one load and one store

// Sum over blocks of L_j y_column.
WIDE_INLINE void factor_product(const float* values, const int* column, int begin, int end, const float* y, float* out)
{
    const float* block = values + 9 * (size_t)begin;
    r8 sum = {0};
    float last = 0;
    for (int k = begin; k < end; k++, block += 9)
    {
        const float* yj = y + 4 * (size_t)column[k];
        r4 q = load4(yj);
        sum += load8(block) * __builtin_shufflevector(q, q, 0, 1, 2, 0, 1, 2, 0, 1);
        last += block[8] * yj[2];
    }
    out[0] = sum[0] + sum[1] + sum[2];
    out[1] = sum[3] + sum[4] + sum[5];
    out[2] = sum[6] + sum[7] + last;
}

// (I + L) y = E^-1 b.
WIDE_INLINE void forward_row(const sa_sweep* s, const sa_incomplete* f, int k)
{
    float t[3], e[3];
    triangle_apply((const triangle*)f->scale + k, (const float*)s->b + 3 * (size_t)f->order[k], e);
    factor_product(f->lower, f->lower_column, f->lower_start[k], f->lower_start[k + 1], f->y, t);
    store4(f->y + 4 * (size_t)k, (r4){e[0] - t[0], e[1] - t[1], e[2] - t[2], 0});
}

// (I + L^T) v = D^-1 y, v in the place of y, which is D^-1 y by then: rows of other clusters are gathered, those of
// this one scattered, which spares a second copy of L. x = omega E^-T v, or added to it.
WIDE_INLINE void backward_row(const sa_sweep* s, const sa_incomplete* f, int k, int cluster)
{
    float t[3], v[3], z[3], *y = f->y + 4 * (size_t)k, *to = (float*)s->to + 3 * (size_t)f->order[k];
    factor_product(f->upper, f->upper_column, f->upper_start[k], f->upper_start[k + 1], f->y, t);
    for (int c = 0; c < 3; c++)
    {
        v[c] = y[c] - t[c];
    }
    store4(y, (r4){v[0], v[1], v[2], 0});
    // Copies: for all the compiler knows a store could change what they are copies of.
    const int *column = f->lower_column, *first = column + f->lower_start[k];
    const float* L = f->lower + 9 * (size_t)f->lower_start[k + 1];
    float* all = f->y;
    for (column += f->lower_start[k + 1]; column > first && column[-1] >= cluster; column--)
    {
        L -= 9;
        float* yj = all + 4 * (ptrdiff_t)column[-1];
        store4(yj, load4(yj) - (load4(L) * v[0] + load4(L + 3) * v[1] + load4(L + 6) * v[2]));
    }
    triangle_apply_transposed((const triangle*)f->scale + k, v, z);
    for (int c = 0; c < 3; c++)
    {
        to[c] = (s->add ? to[c] : 0) + (float)s->omega * z[c];
    }
}

static void incomplete_forward(void* context, int begin, int end)
{
    const sa_sweep* s = context;
    const sa_incomplete* f = s->level->incomplete;
    for (int k = f->cluster_start[s->cluster + begin]; k < f->cluster_start[s->cluster + end]; k++)
    {
        forward_row(s, f, k);
    }
}

// y = D^-1 y of rows, before any of them is scattered to.
static void divide_rows(const sa_incomplete* f, int begin, int end)
{
    for (int k = begin; k < end; k++)
    {
        float z[3], *y = f->y + 4 * (size_t)k;
        symmetric_apply(3, f->pivot + 9 * (size_t)k, y, z);
        store4(y, (r4){z[0], z[1], z[2], 0});
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
        for (int k = start[c + 1] - 1; k >= start[c]; k--)
        {
            backward_row(s, f, k, start[c]);
        }
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
    .mirror = incomplete_mirror,
    .forward = incomplete_forward,
    .backward = incomplete_backward,
    .subtract = incomplete_subtract,
    .dot = incomplete_dot,
};
