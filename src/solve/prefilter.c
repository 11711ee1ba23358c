// The prefiltered matrix of the direct solvers and the steps around their solves.
#include "solve/prefilter.h"

#include <math.h>
#include <string.h>

void prefilter_index(const linear_system* system, int* index)
{
    for (int i = 0; i < system->A.pattern->row_count; i++)
    {
        index[i] = -1;
    }
    for (int k = 0; k < system->filter_count; k++)
    {
        index[system->filter[k].vertex] = k;
    }
}

// Symmetric to the bit, although the two products are not.
static void block_symmetrize(double* m)
{
    m[1] = m[3] = 0.5 * (m[1] + m[3]);
    m[2] = m[6] = 0.5 * (m[2] + m[6]);
    m[5] = m[7] = 0.5 * (m[5] + m[7]);
}

const double* prefilter_block(const linear_system* system, const int* index, int slot, int vertex, double* buffer)
{
    const double* block = system->A.values + 9 * (size_t)slot;
    int column = system->A.pattern->column[slot];
    int left = index[vertex], right = index[column];
    if (left < 0 && right < 0)
    {
        return block;
    }
    mat3 m;
    memcpy(m.m, block, sizeof(m.m));
    if (left >= 0)
    {
        m = m3_mul(system->filter[left].S, m.m);
    }
    if (right >= 0)
    {
        m = m3_mul(m.m, system->filter[right].S);
    }
    if (column == vertex)
    {
        double sigma = (block[0] + block[4] + block[8]) / 3.0;
        const double* S = system->filter[left].S;
        for (int k = 0; k < 9; k++)
        {
            m.m[k] += sigma * ((k % 4 == 0 ? 1.0 : 0.0) - S[k]);
        }
        block_symmetrize(m.m);
    }
    memcpy(buffer, m.m, sizeof(m.m));
    return buffer;
}

static double norm_chunk(void* context, int begin, int end)
{
    const vec3* r = context;
    double sum = 0.0;
    for (int i = begin; i < end; i++)
    {
        sum += v3_dot(r[i], r[i]);
    }
    return sum;
}

// r = S (b - A x); returns its 2-norm.
static double direct_residual(const direct_solve* d, const linear_system* system, const vec3* x)
{
    int count = system->A.pattern->row_count;
    bsr_multiply(d->pool, d->cpu, &system->A, x, d->Ax);
    for (int i = 0; i < count; i++)
    {
        d->r[i] = v3_sub(system->b[i], d->Ax[i]);
    }
    filter_apply(system, d->r);
    return sqrt(parallel_sum(d->pool, count, ROW_GRAIN, norm_chunk, d->r));
}

// x += s S y
static void direct_add(const direct_solve* d, const linear_system* system, double s, vec3* x)
{
    filter_apply(system, d->y);
    for (int i = 0; i < system->A.pattern->row_count; i++)
    {
        x[i] = v3_madd(x[i], s, d->y[i]);
    }
}

weft_status direct_solve_run(const direct_solve* d, const linear_system* system, vec3* x, weft_solve_stats* stats)
{
    // Relative; what is far below the tolerance is good enough.
    const double refine_above = fmax(1e-13, 0.01 * fmin(d->tolerance, direct_tolerance_max));
    filter_prescribed(system, x);
    double start = direct_residual(d, system, x);
    double residual = start;
    if (start > 0.0)
    {
        d->solve(d->state, d->r, d->y);
        direct_add(d, system, 1.0, x);
        residual = direct_residual(d, system, x);
        if (residual > refine_above * start)
        {
            d->solve(d->state, d->r, d->y);
            direct_add(d, system, 1.0, x);
            double refined = direct_residual(d, system, x);
            if (refined > residual)
            {
                direct_add(d, system, -1.0, x);
            }
            residual = fmin(residual, refined);
        }
    }
    stats->iterations = 0;
    stats->rate = NAN;
    stats->residual = stats->residual2 = start > 0.0 ? residual / start : residual;
    stats->converged = stats->residual2 <= d->tolerance;
    if (!isfinite(residual) || (start == 0.0 && !vector_is_zero(d->r, system->A.pattern->row_count)))
    {
        stats->converged = 0;
        filter_prescribed(system, x);
        return WEFT_NOT_FINITE;
    }
    return stats->converged ? WEFT_OK : WEFT_NOT_CONVERGED;
}
