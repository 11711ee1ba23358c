// First guesses from earlier answers. With d_k the directions that are left free of the last answers, and r0 the
// residual of (I - S) z, the start
//
//     x = (I - S) z + sum of alpha_k S d_k,   G alpha = g,   G_jk = d_j . S A S d_k,   g_k = d_k . r0
//
// has the least energy of its error among all of them: cloth that swings or trembles has accelerations that follow from
// the last two or three, though none of them alone is near the next one. It explains g . alpha of the energy r0 . A^-1
// r0 of the answer, and costs a product for each direction.
#include <math.h>
#include <string.h>

#include "solve/cg/cg.h"

typedef struct guess_pass
{
    const cg* c;
    const linear_system* system;
    const vec3* direction[CG_GUESSES];
    vec3* image[CG_GUESSES]; // S A S d
    int k;                   // of the direction under way
    double alpha[CG_GUESSES];
    vec3* x;
} guess_pass;

static void filter_chunk(const guess_pass* a, vec3* v, int begin)
{
    const int* start = a->c->record_start + begin / ROW_GRAIN;
    for (int k = start[0]; k < start[1]; k++)
    {
        const filter_record* record = &a->system->filter[k];
        v[record->vertex] = m3_mul_v(record->S, v[record->vertex]);
    }
}

// p = S d
static void direction_chunk(void* context, int begin, int end)
{
    const guess_pass* a = context;
    memcpy(a->c->p + begin, a->direction[a->k] + begin, (size_t)(end - begin) * sizeof(vec3));
    filter_chunk(a, a->c->p, begin);
}

// The chunk's part of g_k and of G_jk, j <= k. Both have S on one side at least.
static void sums_chunk(void* context, int begin, int end)
{
    const guess_pass* a = context;
    vec3* image = a->image[a->k];
    filter_chunk(a, image, begin);
    double* out = a->c->guess_partial + (size_t)(CG_GUESSES + 1) * (size_t)(begin / ROW_GRAIN);
    memset(out, 0, (CG_GUESSES + 1) * sizeof(double));
    for (int i = begin; i < end; i++)
    {
        out[CG_GUESSES] += v3_dot(a->direction[a->k][i], a->c->r[i]);
        for (int j = 0; j <= a->k; j++)
        {
            out[j] += v3_dot(a->direction[j][i], image[i]);
        }
    }
}

static void sum_chunks(const cg* c, double out[CG_GUESSES + 1])
{
    memset(out, 0, (CG_GUESSES + 1) * sizeof(double));
    for (int chunk = 0; chunk * ROW_GRAIN < c->row_count; chunk++)
    {
        for (int j = 0; j <= CG_GUESSES; j++)
        {
            out[j] += c->guess_partial[(CG_GUESSES + 1) * chunk + j];
        }
    }
}

// The next row of the Cholesky factor of G, and of the solution of its lower half; a direction that depends on those
// before it, or is zero, is left out: false.
static bool factor_row(double L[CG_GUESSES][CG_GUESSES], double y[CG_GUESSES], int k, const double row[CG_GUESSES + 1])
{
    const double least = 1e-8;
    double pivot = row[k], rest = row[CG_GUESSES];
    for (int j = 0; j < k; j++)
    {
        double sum = row[j];
        for (int i = 0; i < j; i++)
        {
            sum -= L[k][i] * L[j][i];
        }
        L[k][j] = sum / L[j][j];
        pivot -= L[k][j] * L[k][j];
        rest -= L[k][j] * y[j];
    }
    L[k][k] = sqrt(fmax(pivot, 0.0));
    y[k] = rest / L[k][k];
    return pivot > least * row[k] && isfinite(y[k]);
}

static void solve_back(double L[CG_GUESSES][CG_GUESSES], const double y[CG_GUESSES], int count,
                       double alpha[CG_GUESSES])
{
    for (int k = count - 1; k >= 0; k--)
    {
        alpha[k] = y[k];
        for (int j = k + 1; j < count; j++)
        {
            alpha[k] -= L[j][k] * alpha[j];
        }
        alpha[k] /= L[k][k];
    }
}

// x = S sum of alpha d, r -= sum of alpha S A S d. x is the first direction.
static void combine_chunk(void* context, int begin, int end)
{
    const guess_pass* a = context;
    for (int i = begin; i < end; i++)
    {
        vec3 sum = v3_scale(a->alpha[0], a->x[i]), r = v3_madd(a->c->r[i], -a->alpha[0], a->image[0][i]);
        for (int k = 1; k < a->k; k++)
        {
            sum = v3_madd(sum, a->alpha[k], a->direction[k][i]);
            r = v3_madd(r, -a->alpha[k], a->image[k][i]);
        }
        a->x[i] = sum;
        a->c->r[i] = r;
    }
    filter_chunk(a, a->x, begin);
}

double cg_start_near(cg* c, const linear_system* system, vec3* x)
{
    guess_pass a = {.c = c,
                    .system = system,
                    .direction = {x, system->earlier[0], system->earlier[1]},
                    .image = {c->images[0], c->images[1], c->s},
                    .x = x};
    workers* pool = c->options.pool;
    const double hopeless = 0.2;
    double L[CG_GUESSES][CG_GUESSES], y[CG_GUESSES], energy = 0.0;
    int count = 0;
    for (a.k = 0; a.k < CG_GUESSES && a.direction[a.k]; a.k++)
    {
        double row[CG_GUESSES + 1];
        parallel_for(pool, c->row_count, ROW_GRAIN, direction_chunk, &a);
        bsr_multiply(pool, c->options.cpu, &system->A, c->p, a.image[a.k]);
        parallel_for(pool, c->row_count, ROW_GRAIN, sums_chunk, &a);
        sum_chunks(c, row);
        if (!factor_row(L, y, a.k, row))
        {
            break;
        }
        energy += y[a.k] * y[a.k];
        count++;
        if (energy < hopeless * c->known.energy) // by that of the last answer: not worth another product
        {
            break;
        }
    }
    if (count == 0)
    {
        filter_prescribed(system, x);
        return 0.0;
    }
    a.k = count;
    solve_back(L, y, count, a.alpha);
    parallel_for(pool, c->row_count, ROW_GRAIN, combine_chunk, &a);
    filter_prescribed(system, c->p);
    for (int i = 0; i < c->row_count; i++)
    {
        x[i] = v3_add(x[i], c->p[i]);
    }
    return energy;
}
