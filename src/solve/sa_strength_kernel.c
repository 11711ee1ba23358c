// Strength of connection, eight nodes or eight pairs of nodes at a time, one a lane.
//
// A_ii^-1/2 by Jacobi's eigenvalue method. The spectral radius of the scaled block M, which is not symmetric and may
// have complex eigenvalues, by Gelfand's formula: rho = lim |M^p|^(1/p). Six squarings give p = 64 and at most the
// 64th root of the condition of M's eigenvectors too much: a few percent on cloth, 13 % for a Jordan block. What is
// below some thousandths of the block's norm comes out as zero.
#include "math/wide.h"
#include "solve/sa.h"

enum
{
    SWEEPS = 6,
    SQUARINGS = 6,
    B_MAX = SA_KERNEL_MAX
};

WIDE_INLINE double real_at(const void* values, int precision, size_t k)
{
    return precision == 32 ? (double)((const float*)values)[k] : ((const double*)values)[k];
}

// Lane by lane the blocks at slot[lane].
WIDE_INLINE void gather(const sa_strength_pass* c, const int B, const int* slot, wide* m)
{
    int size = B * B;
    for (int k = 0; k < size; k++)
    {
        for (int lane = 0; lane < WIDE; lane++)
        {
            m[k][lane] = real_at(c->level->A, c->precision, (size_t)size * (size_t)slot[lane] + (size_t)k);
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

WIDE_INLINE void roots_of(const sa_strength_pass* c, const int B, int begin, int end)
{
    wide a[B_MAX * B_MAX], v[B_MAX * B_MAX];
    for (int i = begin; i < end; i += WIDE)
    {
        int slot[WIDE];
        for (int lane = 0; lane < WIDE; lane++)
        {
            slot[lane] = c->level->pattern.diagonal[int_min(i + lane, end - 1)];
        }
        gather(c, B, slot, a);
        for (int k = 0; k < B * B; k++)
        {
            v[k] = wide_set(k % (B + 1) == 0 ? 1.0 : 0.0);
        }
        for (int sweep = 0; sweep < SWEEPS; sweep++)
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
        wide top = a[0];
        for (int k = 1; k < B; k++)
        {
            top = wide_max(top, a[k * (B + 1)]);
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
                for (int lane = 0; lane < WIDE && i + lane < end; lane++)
                {
                    c->root[(size_t)(i + lane) * (size_t)(B * B) + (size_t)(p * B + q)] = sum[lane];
                }
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
    gather(c, B, slot, m);
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

extern const sa_strength_kernels KERNEL_NAME(sa_strength_kernels);
const sa_strength_kernels KERNEL_NAME(sa_strength_kernels) = {roots, pairs};
