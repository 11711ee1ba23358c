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

// One pair's blocks of all lanes, each as eight numbers in a row and the ninth apart.
typedef struct lane_blocks
{
    double eight[BATCH][8];
    const double* ninth; // [BATCH]
} __attribute__((aligned(64))) lane_blocks;

#ifdef __AVX512F__
// The same as below in 24 shuffles.
WIDE_INLINE void transpose(const double (*block)[BATCH], lane_blocks* out)
{
    wide r[8], t[8], u[8];
    for (int k = 0; k < 8; k++)
    {
        r[k] = wide_load(block[k]);
    }
    for (int k = 0; k < 8; k += 2)
    {
        t[k] = __builtin_shufflevector(r[k], r[k + 1], 0, 8, 2, 10, 4, 12, 6, 14);
        t[k + 1] = __builtin_shufflevector(r[k], r[k + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    }
    for (int k = 0; k < 8; k += 4)
    {
        for (int j = 0; j < 2; j++)
        {
            u[k + j] = __builtin_shufflevector(t[k + j], t[k + j + 2], 0, 1, 8, 9, 4, 5, 12, 13);
            u[k + j + 2] = __builtin_shufflevector(t[k + j], t[k + j + 2], 2, 3, 10, 11, 6, 7, 14, 15);
        }
    }
    for (int k = 0; k < 4; k++)
    {
        wide_store(out->eight[k], __builtin_shufflevector(u[k], u[k + 4], 0, 1, 2, 3, 8, 9, 10, 11));
        wide_store(out->eight[k + 4], __builtin_shufflevector(u[k], u[k + 4], 4, 5, 6, 7, 12, 13, 14, 15));
    }
}
#else
WIDE_INLINE void transpose(const double (*block)[BATCH], lane_blocks* out)
{
    for (int k = 0; k < 8; k++)
    {
        for (int lane = 0; lane < BATCH; lane++)
        {
            out->eight[lane][k] = block[k][lane];
        }
    }
}
#endif

// value += block, or its transpose, which of the first eight numbers is a permutation.
WIDE_INLINE void add_block(double* value, const double* eight, double ninth)
{
    wide_store(value, wide_load(value) + wide_load(eight));
    value[8] += ninth;
}

WIDE_INLINE void add_transposed(double* value, const double* eight, double ninth)
{
    wide b = wide_load(eight);
    wide_store(value, wide_load(value) + __builtin_shufflevector(b, b, 0, 3, 6, 1, 4, 7, 2, 5));
    value[8] += ninth;
}

// Rows [begin, end) take what is theirs. Pairs are the outer loop for every CPU kind, so that sums have one order.
// Asking for the next pair's blocks ahead of time was tried and lost 10 %.
static void scatter(const assembly_group* group, const int* elements, int count, const element_batch* batch,
                    const assembly_target* target, int begin, int end)
{
    int arity = group->list.arity;
    unsigned rows = (unsigned)(end - begin);
    const int* vertex[BATCH];
    const int* slot[BATCH];
    for (int lane = 0; lane < count; lane++)
    {
        vertex[lane] = group->list.vertices + (size_t)elements[lane] * (size_t)arity;
        slot[lane] = group->slot + (size_t)elements[lane] * (size_t)(arity * arity);
    }
    lane_blocks blocks;
    const double(*block)[9][BATCH] = batch->block;
    for (int a = 0; a < arity; a++)
    {
        for (int lane = 0; lane < count; lane++)
        {
            if ((unsigned)(vertex[lane][a] - begin) < rows)
            {
                vec3* rhs = &target->rhs[vertex[lane][a]];
                rhs->x += batch->rhs[a][0][lane];
                rhs->y += batch->rhs[a][1][lane];
                rhs->z += batch->rhs[a][2][lane];
            }
        }
        for (int b = a; b < arity; b++, block++)
        {
            transpose(*block, &blocks);
            blocks.ninth = (*block)[8];
            for (int lane = 0; lane < count; lane++)
            {
                if ((unsigned)(vertex[lane][a] - begin) < rows)
                {
                    double* value = target->values + 9 * (size_t)slot[lane][a * arity + b];
                    add_block(value, blocks.eight[lane], blocks.ninth[lane]);
                }
                if (a != b && (unsigned)(vertex[lane][b] - begin) < rows)
                {
                    double* value = target->values + 9 * (size_t)slot[lane][b * arity + a];
                    add_transposed(value, blocks.eight[lane], blocks.ninth[lane]);
                }
            }
        }
    }
}

extern const sparse_kernels KERNEL_NAME(sparse_kernels);
const sparse_kernels KERNEL_NAME(sparse_kernels) = {multiply_dot, scatter};
