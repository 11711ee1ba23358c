// Block matrix-vector product and scatter of element blocks, for one CPU kind.
#include "math/wide.h"
#include "sparse/sparse.h"

typedef double quad __attribute__((vector_size(32)));

// x y z -> x y z x y z x y
WIDE_INLINE wide spread(const vec3* x)
{
    quad q;
    memcpy(&q, x, sizeof(q)); // 8 bytes more than a vec3: see bsr_multiply
    return __builtin_shufflevector(q, q, 0, 1, 2, 0, 1, 2, 0, 1);
}

// A block is nine doubles: eight go through one vector, the ninth apart.
static double multiply_dot(const bsr_matrix* A, const vec3* x, vec3* y, int begin, int end)
{
    const int* restrict row_start = A->pattern->row_start;
    const int* restrict column = A->pattern->column;
    double dot = 0.0;
    for (int i = begin; i < end; i++)
    {
        wide sum = {0};
        double last = 0.0;
        const double* restrict block = A->values + 9 * (size_t)row_start[i];
        for (int k = row_start[i]; k < row_start[i + 1]; k++, block += 9)
        {
            const vec3* xj = &x[column[k]];
            sum += wide_load(block) * spread(xj);
            last += block[8] * xj->z;
        }
        vec3 yi = {sum[0] + sum[1] + sum[2], sum[3] + sum[4] + sum[5], sum[6] + sum[7] + last};
        y[i] = yi;
        dot += x[i].x * yi.x + x[i].y * yi.y + x[i].z * yi.z;
    }
    return dot;
}

static void scatter(const assembly_group* group, const int* elements, int count, const element_batch* batch,
                    const assembly_target* target, int begin, int end)
{
    int arity = group->list.arity;
    for (int lane = 0; lane < count; lane++)
    {
        const int* vertex = group->list.vertices + (size_t)elements[lane] * (size_t)arity;
        const int* slot = group->slot + (size_t)elements[lane] * (size_t)(arity * arity);
        for (int a = 0; a < arity; a++)
        {
            if (vertex[a] < begin || vertex[a] >= end)
            {
                continue;
            }
            vec3* rhs = &target->rhs[vertex[a]];
            rhs->x += batch->rhs[a][0][lane];
            rhs->y += batch->rhs[a][1][lane];
            rhs->z += batch->rhs[a][2][lane];
            for (int b = 0; b < arity; b++)
            {
                double* restrict value = target->values + 9 * (size_t)slot[a * arity + b];
                if (a <= b)
                {
                    const double(*restrict block)[BATCH] = batch->block[pair_index(arity, a, b)];
                    for (int c = 0; c < 9; c++)
                    {
                        value[c] += block[c][lane];
                    }
                }
                else
                {
                    const double(*restrict block)[BATCH] = batch->block[pair_index(arity, b, a)];
                    for (int c = 0; c < 9; c++)
                    {
                        value[c] += block[c % 3 * 3 + c / 3][lane];
                    }
                }
            }
        }
    }
}

extern const sparse_kernels KERNEL_NAME(sparse_kernels);
const sparse_kernels KERNEL_NAME(sparse_kernels) = {multiply_dot, scatter};
