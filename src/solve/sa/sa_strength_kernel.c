// Strength of connection, eight nodes or eight pairs of nodes at a time, one a lane.
//
// A_ii^-1/2 by Jacobi's eigenvalue method. The spectral radius of the scaled block M, which is not symmetric and may
// have complex eigenvalues, by Gelfand's formula: rho = lim |M^p|^(1/p). Six squarings give p = 64 and at most the
// 64th root of the condition of M's eigenvectors too much: a few percent on cloth, 13 % for a Jordan block. What is
// below some thousandths of the block's norm comes out as zero.
#include "math/wide.h"
#include "solve/prefilter.h"
#include "solve/sa/sa.h"

enum
{
    SWEEPS = 6,
    SWEEPS_3 = 4, // of 3 x 3 blocks
    SQUARINGS = 6,
    B_MAX = SA_KERNEL_MAX
};

WIDE_INLINE double real_at(const void* values, int precision, size_t k)
{
    return precision == 32 ? (double)((const float*)values)[k] : ((const double*)values)[k];
}

// The block of row `row` at a slot of a level that has no copy of its own, in double.
static void source_block(const sa_level* l, int row, int slot, double* out)
{
    const sa_load* s = l->source;
    const bsr_matrix* A = &s->system->A;
    double buffer[9];
    bool filtered = s->index && (s->index[row] >= 0 || s->index[A->pattern->column[slot]] >= 0);
    const double* block =
        filtered ? prefilter_block(s->system, s->index, slot, row, buffer) : A->values + 9 * (size_t)slot;
    for (int k = 0; k < 9; k++)
    {
        out[k] = s->scale * block[k];
    }
}

// Lane by lane the blocks at slot[lane].
WIDE_INLINE void gather(const sa_level* l, int precision, const int B, const int* row, const int* slot, wide* m)
{
    int size = B * B;
    for (int lane = 0; lane < WIDE && !l->A; lane++)
    {
        double block[9];
        source_block(l, row[lane], slot[lane], block);
        for (int k = 0; k < 9; k++)
        {
            m[k][lane] = block[k];
        }
    }
    for (int k = 0; k < size && l->A; k++)
    {
        for (int lane = 0; lane < WIDE; lane++)
        {
            m[k][lane] = real_at(l->A, precision, (size_t)size * (size_t)slot[lane] + (size_t)k);
        }
    }
}

// One rotation of Jacobi's method in the plane (p, q): a = J^T a J, v = v J.
WIDE_INLINE void rotate(const int B, wide* a, wide* v, int p, int q)
{
    wide zero = {0}, one = wide_set(1.0);
    wide off = a[p * B + q];
    wide_mask skip = off == zero;
    wide tau = (a[q * B + q] - a[p * B + p]) / wide_select(skip, one, off + off);
    wide t = one / (wide_abs(tau) + wide_sqrt(tau * tau + one));
    t = wide_select(tau < zero, -t, t);
    t = wide_select(skip, zero, t);
    wide c = one / wide_sqrt(t * t + one), s = t * c;
    for (int k = 0; k < B; k++)
    {
        wide x = a[k * B + p], y = a[k * B + q];
        a[k * B + p] = c * x - s * y;
        a[k * B + q] = s * x + c * y;
        x = v[k * B + p];
        y = v[k * B + q];
        v[k * B + p] = c * x - s * y;
        v[k * B + q] = s * x + c * y;
    }
    for (int k = 0; k < B; k++)
    {
        wide x = a[p * B + k], y = a[q * B + k];
        a[p * B + k] = c * x - s * y;
        a[q * B + k] = s * x + c * y;
    }
}

// out = a^-1/2 by Jacobi's method; a becomes diagonal. Returns the smallest eigenvalue.
WIDE_INLINE wide inverse_root(const int B, wide* a, wide* out)
{
    wide v[B_MAX * B_MAX];
    for (int k = 0; k < B * B; k++)
    {
        v[k] = wide_set(k % (B + 1) == 0 ? 1.0 : 0.0);
    }
    for (int sweep = 0; sweep < (B == 3 ? SWEEPS_3 : SWEEPS); sweep++)
    {
        for (int p = 0; p < B; p++)
        {
            for (int q = p + 1; q < B; q++)
            {
                rotate(B, a, v, p, q);
            }
        }
    }
    // Eigenvalues far below the largest are rounding: they are held at its 1e-12th part.
    wide top = a[0], least = a[0];
    for (int k = 1; k < B; k++)
    {
        top = wide_max(top, a[k * (B + 1)]);
        least = wide_min(least, a[k * (B + 1)]);
    }
    wide scale[B_MAX];
    for (int k = 0; k < B; k++)
    {
        scale[k] = wide_set(1.0) / wide_sqrt(wide_max(a[k * (B + 1)], top * 1e-12));
    }
    for (int p = 0; p < B; p++)
    {
        for (int q = 0; q < B; q++)
        {
            wide sum = {0};
            for (int k = 0; k < B; k++)
            {
                sum += v[p * B + k] * scale[k] * v[q * B + k];
            }
            out[p * B + q] = sum;
        }
    }
    return least;
}

// The diagonal blocks of rows i, i + 1, ..., the last one again where there are no more.
WIDE_INLINE void gather_diagonals(const sa_level* l, int precision, const int B, int i, int end, wide* a)
{
    int row[WIDE], slot[WIDE];
    for (int lane = 0; lane < WIDE; lane++)
    {
        row[lane] = int_min(i + lane, end - 1);
        slot[lane] = l->pattern.diagonal[row[lane]];
    }
    gather(l, precision, B, row, slot, a);
}

WIDE_INLINE void roots_of(const sa_strength_pass* c, const int B, int begin, int end)
{
    wide a[B_MAX * B_MAX], root[B_MAX * B_MAX];
    for (int i = begin; i < end; i += WIDE)
    {
        gather_diagonals(c->level, c->precision, B, i, end, a);
        inverse_root(B, a, root);
        for (int k = 0; k < B * B; k++)
        {
            for (int lane = 0; lane < WIDE && i + lane < end; lane++)
            {
                c->root[(size_t)(i + lane) * (size_t)(B * B) + (size_t)k] = root[k][lane];
            }
        }
    }
}

WIDE_INLINE void multiply(const int B, const wide* a, const wide* b, wide* out)
{
    for (int p = 0; p < B; p++)
    {
        for (int q = 0; q < B; q++)
        {
            wide sum = a[p * B] * b[q];
            for (int k = 1; k < B; k++)
            {
                sum += a[p * B + k] * b[k * B + q];
            }
            out[p * B + q] = sum;
        }
    }
}

WIDE_INLINE wide square_sum(const int B, const wide* a)
{
    wide sum = a[0] * a[0];
    for (int k = 1; k < B * B; k++)
    {
        sum += a[k] * a[k];
    }
    return sum;
}

// Spectral radius of each lane's root[row] A root[column].
WIDE_INLINE wide radius_of(const sa_strength_pass* c, const int B, const int* row, const int* slot)
{
    wide m[B_MAX * B_MAX], left[B_MAX * B_MAX], t[B_MAX * B_MAX];
    for (int k = 0; k < B * B; k++)
    {
        for (int lane = 0; lane < WIDE; lane++)
        {
            left[k][lane] = c->root[(size_t)row[lane] * (size_t)(B * B) + (size_t)k];
        }
    }
    gather(c->level, c->precision, B, row, slot, m);
    multiply(B, left, m, t);
    for (int k = 0; k < B * B; k++)
    {
        for (int lane = 0; lane < WIDE; lane++)
        {
            left[k][lane] = c->root[(size_t)c->level->pattern.column[slot[lane]] * (size_t)(B * B) + (size_t)k];
        }
    }
    multiply(B, t, left, m);
    wide norm = wide_sqrt(square_sum(B, m));
    wide inverse = wide_set(1.0) / wide_max(norm, wide_set(1e-150));
    for (int k = 0; k < B * B; k++)
    {
        m[k] = m[k] * inverse;
    }
    for (int k = 0; k < SQUARINGS; k += 2)
    {
        multiply(B, m, m, t);
        multiply(B, t, t, m);
    }
    wide power = square_sum(B, m);
    for (int k = 0; k <= SQUARINGS; k++)
    {
        power = wide_sqrt(power);
    }
    return norm * power;
}

WIDE_INLINE void pairs_of(const sa_strength_pass* c, const int B, int begin, int end)
{
    const bsr_pattern* p = &c->level->pattern;
    int row[WIDE], slot[WIDE], count = 0;
    for (int i = begin; i < end; i++)
    {
        for (int k = p->diagonal[i] + 1; k < p->row_start[i + 1]; k++)
        {
            row[count] = i;
            slot[count++] = k;
            if (count == WIDE)
            {
                wide rho = radius_of(c, B, row, slot);
                for (int lane = 0; lane < WIDE; lane++)
                {
                    c->rho[slot[lane]] = (float)rho[lane];
                }
                count = 0;
            }
        }
    }
    if (count > 0)
    {
        for (int lane = count; lane < WIDE; lane++)
        {
            row[lane] = row[0];
            slot[lane] = slot[0];
        }
        wide rho = radius_of(c, B, row, slot);
        for (int lane = 0; lane < count; lane++)
        {
            c->rho[slot[lane]] = (float)rho[lane];
        }
    }
}

static void roots(void* context, int begin, int end)
{
    const sa_strength_pass* c = context;
    int B = c->level->block;
    B == 3 ? roots_of(c, 3, begin, end) : B == 6 ? roots_of(c, 6, begin, end) : roots_of(c, B, begin, end);
}

static void pairs(void* context, int begin, int end)
{
    const sa_strength_pass* c = context;
    int B = c->level->block;
    B == 3 ? pairs_of(c, 3, begin, end) : B == 6 ? pairs_of(c, 6, begin, end) : pairs_of(c, B, begin, end);
}

// R = D^-1/2 and R^-1 = D R of a packed level.
static double scales(void* context, int begin, int end)
{
    sa_level* l = context;
    double bad = 0.0;
    for (int i = begin; i < end; i += WIDE)
    {
        wide a[9], D[9], root[9], unroot[9];
        gather_diagonals(l, 64, 3, i, end, a);
        memcpy(D, a, sizeof(D));
        wide least = inverse_root(3, a, root);
        multiply(3, D, root, unroot);
        for (int lane = 0; lane < WIDE && i + lane < end; lane++)
        {
            double trace = D[0][lane] + D[4][lane] + D[8][lane];
            bad += !(least[lane] > 1e-11 * trace && trace < 1e30); // NaN is bad as well
            for (int k = 0; k < 9; k++)
            {
                l->root[9 * (size_t)(i + lane) + (size_t)k] = (float)root[k][lane];
                l->unroot[9 * (size_t)(i + lane) + (size_t)k] = (float)unroot[k][lane];
            }
        }
    }
    return bad;
}

extern const sa_strength_kernels KERNEL_NAME(sa_strength_kernels);
const sa_strength_kernels KERNEL_NAME(sa_strength_kernels) = {roots, pairs, scales};
