// The block matrix-vector product over all rows, and the choice of kernels.
#include "sparse/sparse.h"

KERNELS_CHOICE(sparse_kernels)

typedef struct multiply_context
{
    const sparse_kernels* kernels;
    const bsr_matrix* A;
    const vec3* x;
    vec3* y;
} multiply_context;

static void multiply_chunk(void* context, int begin, int end)
{
    multiply_context* m = context;
    m->kernels->multiply_dot(m->A, m->x, m->y, begin, end);
}

void bsr_multiply(workers* pool, cpu_kind cpu, const bsr_matrix* A, const vec3* x, vec3* y)
{
    multiply_context m = {sparse_kernels_for(cpu), A, x, y};
    parallel_for(pool, A->pattern->row_count, ROW_GRAIN, multiply_chunk, &m);
}
