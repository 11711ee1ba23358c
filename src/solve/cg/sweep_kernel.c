// The two triangular sweeps, for one CPU kind. Rows depend on each other, so the lanes are those of a block.
#include "math/wide.h"
#include "solve/cg/sweeps.h"

typedef double pair __attribute__((vector_size(16)));
typedef double quad __attribute__((vector_size(32)));

// x y z -> x y z x y z x y. Nothing past z is loaded: the next vertex may be another thread's at this moment.
WIDE_INLINE wide spread(const vec3* x)
{
    pair xy;
    memcpy(&xy, x, sizeof(xy));
    quad q = {xy[0], xy[1], x->z, 0.0};
    return __builtin_shufflevector(q, q, 0, 1, 2, 0, 1, 2, 0, 1);
}

// Sum of `count` blocks times the vectors of their columns.
WIDE_INLINE vec3 row_sum(const double* block, const int* column, int count, const vec3* x)
{
    wide sum = {0};
    double last = 0.0;
    for (int k = 0; k < count; k++, block += 9)
    {
        const vec3* xj = &x[column[k]];
        sum += wide_load(block) * spread(xj);
        last += block[8] * xj->z;
    }
    return (vec3){sum[0] + sum[1] + sum[2], sum[3] + sum[4] + sum[5], sum[6] + sum[7] + last};
}

static void forward(const sweeps* s, const vec3* r, vec3* h, int begin, int end)
{
    for (int i = begin; i < end; i++)
    {
        int first = s->lower_start[i];
        vec3 sum = row_sum(s->lower + 9 * (size_t)first, s->lower_column + first, s->lower_start[i + 1] - first, h);
        h[i] = v3_sub(r[i], sum);
    }
}

static void backward(const sweeps* s, vec3* h, int begin, int end)
{
    for (int i = end - 1; i >= begin; i--)
    {
        int first = s->upper_start[i];
        vec3 sum = row_sum(s->upper + 9 * (size_t)first, s->upper_column + first, s->upper_start[i + 1] - first, h);
        h[i] = v3_sub(m3_mul_v(s->pivot + 9 * (size_t)i, h[i]), sum);
    }
}

extern const sweep_kernels KERNEL_NAME(sweep_kernels);
const sweep_kernels KERNEL_NAME(sweep_kernels) = {forward, backward};
