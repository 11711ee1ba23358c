// Products of columns of L^-1 (chol_columns.h), compiled once for each CPU kind.
#include "math/wide.h"
#include "solve/direct/chol_columns.h"

enum
{
    SIDES = 3
};

// Two sums, so that additions do not wait for each other.
static double product(const double* a, const double* b, int count)
{
    wide sum[2] = {wide_set(0.0), wide_set(0.0)};
    int k = 0;
    for (; k + 2 * WIDE <= count; k += 2 * WIDE)
    {
        sum[0] += wide_load(a + k) * wide_load(b + k);
        sum[1] += wide_load(a + k + WIDE) * wide_load(b + k + WIDE);
    }
    for (; k < count; k += WIDE)
    {
        sum[0] += wide_load(a + k) * wide_load(b + k);
    }
    return wide_sum(sum[0] + sum[1]);
}

static void take(const double* column, const chol_stretch* list, int count, const double* x, size_t apart, double* out)
{
    wide sum[SIDES] = {wide_set(0.0), wide_set(0.0), wide_set(0.0)};
    for (int s = 0; s < count; s++)
    {
        const double *u = column + list[s].column, *from = x + list[s].x;
        for (int k = 0; k < list[s].count; k += WIDE)
        {
            wide factor = wide_load(u + k);
            for (int side = 0; side < SIDES; side++)
            {
                sum[side] += factor * wide_load(from + (size_t)side * apart + k);
            }
        }
    }
    for (int side = 0; side < SIDES; side++)
    {
        out[side] = wide_sum(sum[side]);
    }
}

static void add(const double* column, const chol_stretch* list, int count, const double* share, double* x, size_t apart)
{
    for (int s = 0; s < count; s++)
    {
        const double* u = column + list[s].column;
        double* to = x + list[s].x;
        for (int k = 0; k < list[s].count; k += WIDE)
        {
            wide factor = wide_load(u + k);
            for (int side = 0; side < SIDES; side++)
            {
                double* at = to + (size_t)side * apart + k;
                wide_store(at, wide_load(at) + share[side] * factor);
            }
        }
    }
}

extern const chol_column_kernels KERNEL_NAME(chol_column_kernels);
const chol_column_kernels KERNEL_NAME(chol_column_kernels) = {product, take, add};
