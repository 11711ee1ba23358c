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

// Lanes whose blocks are summed together: as many as there are in a register.
#if defined(__AVX2__) && !defined(__AVX512F__)
enum
{
    PIECE = 4
};
typedef wide_half piece;
#else
enum
{
    PIECE = 8
};
typedef wide piece;
#endif

WIDE_INLINE piece piece_load(const double* p)
{
    piece a;
    memcpy(&a, p, sizeof(a));
    return a;
}

// One pair's blocks of the lanes of a piece, and value += the block of one lane, or with `flip` its transpose. Which of
// both is a matter of vertex numbers that no branch predictor can guess: no branch asks for it.
#if defined(__AVX512F__) && !defined(__clang__) // clang has no shuffle by an index at run time
// Eight numbers in a row, of which the transpose is a permutation, and the ninth apart.
typedef struct lane_blocks
{
    wide eight[PIECE];
    double ninth[PIECE];
} lane_blocks;

WIDE_INLINE void lane_blocks_of(const piece* number /* [9] */, lane_blocks* out)
{
    wide_transpose(number, out->eight);
    wide_store(out->ninth, number[8]);
}

WIDE_INLINE void add_block(double* value, const lane_blocks* blocks, int lane, bool flip)
{
    static const wide_mask order[2] = {{0, 1, 2, 3, 4, 5, 6, 7}, {0, 3, 6, 1, 4, 7, 2, 5}};
    wide_store(value, wide_load(value) + __builtin_shuffle(blocks->eight[lane], order[flip]));
    value[8] += blocks->ninth[lane];
}
#elif defined(__AVX2__) && !defined(__AVX512F__)
// The same in two halves.
typedef int64_t half_mask __attribute__((vector_size(32)));

typedef struct lane_blocks
{
    piece four[PIECE][2];
    double ninth[PIECE];
} lane_blocks;

WIDE_INLINE void lane_blocks_of(const piece* number /* [9] */, lane_blocks* out)
{
    for (int half = 0; half < 2; half++)
    {
        piece four[4];
        wide_half_transpose(number + 4 * half, four);
        for (int lane = 0; lane < PIECE; lane++)
        {
            out->four[lane][half] = four[lane];
        }
    }
    memcpy(out->ninth, &number[8], sizeof(out->ninth));
}

WIDE_INLINE void add_block(double* value, const lane_blocks* blocks, int lane, bool flip)
{
    const piece* block = blocks->four[lane];
    half_mask all = (half_mask){0} - (int64_t)flip;
    for (int half = 0; half < 2; half++)
    {
        piece mixed = __builtin_shufflevector(block[half], block[1 - half], 0, 1, 6, 3), sum;
        piece turned = __builtin_shufflevector(mixed, mixed, 0, 3, 2, 1);
        memcpy(&sum, value + 4 * half, sizeof(sum));
        sum += (piece)((all & (half_mask)turned) | (~all & (half_mask)block[half]));
        memcpy(value + 4 * half, &sum, sizeof(sum));
    }
    value[8] += blocks->ninth[lane];
}
#else
typedef struct lane_blocks
{
    double number[9][PIECE];
} lane_blocks;

WIDE_INLINE void lane_blocks_of(const piece* number /* [9] */, lane_blocks* out)
{
    memcpy(out->number, number, sizeof(out->number));
}

WIDE_INLINE void add_block(double* value, const lane_blocks* blocks, int lane, bool flip)
{
    static const int order[2][9] = {{0, 1, 2, 3, 4, 5, 6, 7, 8}, {0, 3, 6, 1, 4, 7, 2, 5, 8}};
    for (int k = 0; k < 9; k++)
    {
        value[k] += blocks->number[order[flip][k]][lane];
    }
}
#endif

// Lanes [first, first + PIECE).
WIDE_INLINE void add_pair(double* values, const element_lanes* lanes, int first, int pair, const lane_blocks* blocks)
{
#pragma GCC unroll 8
    for (int lane = 0; lane < PIECE; lane++)
    {
        int place = lanes->place[first + lane][pair];
        double* value = values + (place & (PLACE_FLIP - 1));
        if (__builtin_expect(place < PLACE_TWICE, 1))
        {
            add_block(value, blocks, lane, place & PLACE_FLIP);
        }
        else if (place != PLACE_NONE)
        {
            add_block(value, blocks, lane, false);
            add_block(value, blocks, lane, true);
        }
    }
}

WIDE_INLINE void load_blocks(const double (*block)[BATCH], int first, lane_blocks* out)
{
    piece number[9];
#pragma GCC unroll 9
    for (int k = 0; k < 9; k++)
    {
        number[k] = piece_load(block[k] + first);
    }
    lane_blocks_of(number, out);
}

static void scatter_blocks(const double (*block)[9][BATCH], int pairs, const element_lanes* lanes, double* values)
{
    for (int pair = 0; pair < pairs; pair++)
    {
        for (int first = 0; first < BATCH; first += PIECE)
        {
            lane_blocks blocks;
            load_blocks(block[pair], first, &blocks);
            add_pair(values, lanes, first, pair, &blocks);
        }
    }
}

static void scatter_one_block(const double (*block)[BATCH], int pairs, const element_lanes* lanes, double* values)
{
    lane_blocks blocks[BATCH / PIECE];
    for (int first = 0; first < BATCH; first += PIECE)
    {
        load_blocks(block, first, &blocks[first / PIECE]);
    }
    for (int pair = 0; pair < pairs; pair++)
    {
        for (int first = 0; first < BATCH; first += PIECE)
        {
            add_pair(values, lanes, first, pair, &blocks[first / PIECE]);
        }
    }
}

typedef double factors[VERTEX_FACTOR_MAX][3][BATCH];

// Sum over m of left[m] right[m]^T.
WIDE_INLINE void product(const factors left, const factors right, int count, int first, lane_blocks* out)
{
    piece number[9];
#pragma GCC unroll 9
    for (int k = 0; k < 9; k++)
    {
        number[k] = piece_load(left[0][k / 3] + first) * piece_load(right[0][k % 3] + first);
        for (int m = 1; m < count; m++)
        {
            number[k] += piece_load(left[m][k / 3] + first) * piece_load(right[m][k % 3] + first);
        }
    }
    lane_blocks_of(number, out);
}

WIDE_INLINE void add_product(const factors left, const factors right, int count, const element_lanes* lanes, int pair,
                             double* values)
{
    for (int first = 0; first < BATCH; first += PIECE)
    {
        lane_blocks blocks;
        product(left, right, count, first, &blocks);
        add_pair(values, lanes, first, pair, &blocks);
    }
}

// Blocks are never stored: their products fill the time in which sums wait for memory.
static void scatter_factors(int arity, const int* factor_count, const element_lanes* lanes, const element_batch* batch,
                            double* values)
{
    wide weight = wide_load(batch->weight);
    for (int a = 0, pair = 0; a < arity; a++)
    {
        factors left;
        for (int k = 0; k < 3 * factor_count[a]; k++)
        {
            wide_store(left[k / 3][k % 3], weight * wide_load(batch->factor[a][k / 3][k % 3]));
        }
        for (int b = a; b < arity; b++, pair++)
        {
            int count = factor_count[a] < factor_count[b] ? factor_count[a] : factor_count[b];
            switch (count)
            {
            case 1:
                add_product(left, batch->factor[b], 1, lanes, pair, values);
                break;
            case 2:
                add_product(left, batch->factor[b], 2, lanes, pair, values);
                break;
            default:
                add_product(left, batch->factor[b], VERTEX_FACTOR_MAX, lanes, pair, values);
                break;
            }
        }
    }
}

// Pairs are the outer loop for every form and CPU kind, so that sums have one order. Asking for the next pair's blocks
// ahead of time was tried and showed no gain.
static void scatter(int arity, const element_shape* shape, const element_lanes* lanes, const element_batch* batch,
                    double* values)
{
    switch (shape->form)
    {
    case FORM_BLOCKS:
        scatter_blocks(batch->block, pair_count(arity), lanes, values);
        break;
    case FORM_ONE_BLOCK:
        scatter_one_block(batch->block[0], pair_count(arity), lanes, values);
        break;
    case FORM_FACTORS:
        scatter_factors(arity, shape->factor_count, lanes, batch, values);
        break;
    }
}

static void scatter_vectors(const element_list* list, const element_lanes* lanes, const element_batch* batch, vec3* rhs,
                            int begin, int end)
{
    unsigned rows = (unsigned)(end - begin);
    for (int a = 0; a < list->arity; a++)
    {
        for (int lane = 0; lane < lanes->count; lane++)
        {
            int i = list->vertices[(size_t)lanes->element[lane] * (size_t)list->arity + (size_t)a];
            if ((unsigned)(i - begin) < rows)
            {
                rhs[i].x += batch->rhs[a][0][lane];
                rhs[i].y += batch->rhs[a][1][lane];
                rhs[i].z += batch->rhs[a][2][lane];
            }
        }
    }
}

WIDE_INLINE void copy_transposed(const double* restrict from, double* restrict to)
{
#ifdef __AVX512F__
    wide b = wide_load(from);
    wide_store(to, __builtin_shufflevector(b, b, 0, 3, 6, 1, 4, 7, 2, 5));
    to[8] = from[8];
#else
    for (int k = 0; k < 9; k++)
    {
        to[k] = from[3 * (k % 3) + k / 3];
    }
#endif
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
            copy_transposed(values + 9 * (size_t)mirror_of[k], values + 9 * (size_t)k);
        }
    }
}

extern const sparse_kernels KERNEL_NAME(sparse_kernels);
const sparse_kernels KERNEL_NAME(sparse_kernels) = {multiply_dot, scatter, scatter_vectors, mirror};
