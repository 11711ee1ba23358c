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

// value += block, or with `flip` its transpose, which of the first eight numbers is a permutation. Which of both is a
// matter of vertex numbers that no branch predictor can guess: the order of the numbers is looked up instead.
static const wide_mask number_order[2] = {{0, 1, 2, 3, 4, 5, 6, 7}, {0, 3, 6, 1, 4, 7, 2, 5}};

WIDE_INLINE void add_block(double* value, const double* eight, double ninth, int flip)
{
#if defined(__AVX512F__) && !defined(__clang__) // clang has no shuffle by an index at run time
    wide_store(value, wide_load(value) + __builtin_shuffle(wide_load(eight), number_order[flip]));
#else
    for (int k = 0; k < 8; k++)
    {
        value[k] += eight[number_order[flip][k]];
    }
#endif
    value[8] += ninth;
}

// Rows [begin, end) take what is theirs: right-hand sides and the blocks on and above the diagonal. Pairs are the outer
// loop for every CPU kind, so that sums have one order. Asking for the next pair's blocks ahead of time was tried
// and showed no gain.
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
                int va = vertex[lane][a], vb = vertex[lane][b], flip = va > vb, row = flip ? vb : va;
                if ((unsigned)(row - begin) < rows)
                {
                    double* value = target->values + 9 * (size_t)slot[lane][flip ? b * arity + a : a * arity + b];
                    add_block(value, blocks.eight[lane], blocks.ninth[lane], flip);
                    // An element that holds a vertex twice has both halves on the diagonal.
                    if (va == vb && a != b)
                    {
                        add_block(value, blocks.eight[lane], blocks.ninth[lane], 1);
                    }
                }
            }
        }
    }
}

// Blocks below the diagonal are those above it, transposed.
static void mirror(const bsr_pattern* pattern, const int* mirror_of, double* values, int begin, int end, bool inside)
{
    for (int i = begin; i < end; i++)
    {
        // Columns are sorted: those before the chunk, then those inside it, then the diagonal.
        int middle = pattern->row_start[i];
        while (pattern->column[middle] < begin)
        {
            middle++;
        }
        int first = inside ? middle : pattern->row_start[i], last = inside ? pattern->diagonal[i] : middle;
        for (int k = first; k < last; k++)
        {
            const double* from = values + 9 * (size_t)mirror_of[k];
            double* to = values + 9 * (size_t)k;
            wide b = wide_load(from);
            wide_store(to, __builtin_shufflevector(b, b, 0, 3, 6, 1, 4, 7, 2, 5));
            to[8] = from[8];
        }
    }
}

extern const sparse_kernels KERNEL_NAME(sparse_kernels);
const sparse_kernels KERNEL_NAME(sparse_kernels) = {multiply_dot, scatter, mirror};
