// Unknown-based smoothed aggregation. A is seen as 3 x 3 blocks A_pq of n x n scalar matrices, unknown p of vertex i at
// p n + i. On each level, for each unknown p apart:
//
//     strong:   |a_ij| > theta sqrt(a_ii a_jj) in A_pp, theta = 0.08, halved from level to level (Vanek et al. 1996)
//     P_pp    = (I - omega_p D^-1 A_pp) P^_pp,   omega_p = 4 / (3 rho(D^-1 A_pp)),   P^_pp of ones: the constant vector
//     P       = diag(P_11, P_22, P_33)           (2)
//     A_c     = P^T A P                          of the whole matrix, with its coupling blocks
//
// One forward sweep of Gauss-Seidel before and one backward sweep after the correction, Cholesky on the coarsest level,
// CG around it. All of it serial, in double. Everything that couples unknowns enters through A_c and the sweeps alone.
#include "bench/unknown_based.h"

#include <math.h>
#include <string.h>

#include "bench/csr.h"
#include "solve/system.h"

enum
{
    LEVEL_MAX = 12,
    DENSE_MAX = 500,     // unknowns up to which a level is factored
    POWER_STEPS = 20,    // of the estimate of rho
    COARSEST_SWEEPS = 10 // symmetric ones, on a last level that is too large to be factored
};

static const double THETA = 0.08, RHO_MARGIN = 1.1;

// ---- hierarchy

typedef struct level
{
    csr A, P;
    int* unknown;      // [rows] 0, 1 or 2: the displacement that a row belongs to
    double* diagonal;  // [rows]
    double *x, *r, *b; // [rows] of the cycle: solution, residual, right-hand side (unused on the finest level)
} level;

typedef struct hierarchy
{
    level levels[LEVEL_MAX];
    int count;
    double* factor; // [rows^2] lower Cholesky factor of the last level, NULL: it is too large
} hierarchy;

static void hierarchy_finish(hierarchy* h)
{
    for (int k = 0; k < LEVEL_MAX; k++)
    {
        level* l = &h->levels[k];
        csr_finish(&l->A);
        csr_finish(&l->P);
        mem_free(l->unknown);
        mem_free(l->diagonal);
        mem_free(l->x);
        mem_free(l->r);
        mem_free(l->b);
    }
    mem_free(h->factor);
    *h = (hierarchy){0};
}

static weft_status level_alloc(level* l)
{
    size_t n = (size_t)l->A.rows;
    l->diagonal = MEM_NEW(n, double);
    l->x = MEM_NEW(n, double);
    l->r = MEM_NEW(n, double);
    l->b = MEM_NEW(n, double);
    if (!l->diagonal || !l->x || !l->r || !l->b)
    {
        return WEFT_NO_MEMORY;
    }
    for (int i = 0; i < l->A.rows; i++)
    {
        for (int k = l->A.start[i]; k < l->A.start[i + 1]; k++)
        {
            l->diagonal[i] = l->A.column[k] == i ? l->A.value[k] : l->diagonal[i];
        }
    }
    return WEFT_OK;
}

// An entry of one of the blocks A_pp, off the diagonal.
static bool within_unknown(const level* l, int i, int k)
{
    int j = l->A.column[k];
    return j != i && l->unknown[j] == l->unknown[i];
}

static bool is_strong(const level* l, int i, int k, double theta)
{
    return within_unknown(l, i, k) && fabs(l->A.value[k]) > theta * sqrt(l->diagonal[i] * l->diagonal[l->A.column[k]]);
}

// ---- aggregates; -1: none yet

// A root takes all of its strong neighbours, when none of them is taken. Rows without any stay out of all levels below.
static bool may_root(const level* l, const int* aggregate, int i, double theta)
{
    int neighbours = 0;
    for (int k = l->A.start[i]; k < l->A.start[i + 1]; k++)
    {
        bool strong = is_strong(l, i, k, theta);
        if (strong && aggregate[l->A.column[k]] >= 0)
        {
            return false;
        }
        neighbours += strong;
    }
    return aggregate[i] < 0 && neighbours > 0;
}

static void take_neighbours(const level* l, int* aggregate, int i, double theta, int number)
{
    aggregate[i] = number;
    for (int k = l->A.start[i]; k < l->A.start[i + 1]; k++)
    {
        int j = l->A.column[k];
        if (is_strong(l, i, k, theta) && aggregate[j] < 0)
        {
            aggregate[j] = number;
        }
    }
}

// The aggregate of the first pass to which i is tied the most, -1: none.
static int strongest_aggregate(const level* l, const int* aggregate, int i, double theta)
{
    int found = -1;
    double most = 0.0;
    for (int k = l->A.start[i]; k < l->A.start[i + 1]; k++)
    {
        int j = l->A.column[k];
        double strength = fabs(l->A.value[k]) / sqrt(l->diagonal[j]);
        if (is_strong(l, i, k, theta) && aggregate[j] >= 0 && strength > most)
        {
            most = strength;
            found = aggregate[j];
        }
    }
    return found;
}

static bool has_strong(const level* l, int i, double theta)
{
    bool found = false;
    for (int k = l->A.start[i]; k < l->A.start[i + 1] && !found; k++)
    {
        found = is_strong(l, i, k, theta);
    }
    return found;
}

// Fills aggregate and joined, both [rows]; returns how many aggregates there are.
static int make_aggregates(const level* l, double theta, int* aggregate, int* joined)
{
    int count = 0, n = l->A.rows;
    for (int i = 0; i < n; i++)
    {
        aggregate[i] = -1;
    }
    for (int i = 0; i < n; i++)
    {
        if (may_root(l, aggregate, i, theta))
        {
            take_neighbours(l, aggregate, i, theta, count++);
        }
    }
    for (int i = 0; i < n; i++)
    {
        joined[i] = aggregate[i] < 0 ? strongest_aggregate(l, aggregate, i, theta) : aggregate[i];
    }
    for (int i = 0; i < n; i++)
    {
        if (joined[i] < 0 && has_strong(l, i, theta))
        {
            take_neighbours(l, joined, i, theta, count++);
        }
    }
    return count;
}

// ---- interpolation

static double dot(const double* a, const double* b, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
    {
        sum += a[i] * b[i];
    }
    return sum;
}

// One step of the power method with D^-1 A_pp on the rows of each unknown; rho[p] in the norm of D, y is scratch.
static void power_step(const level* l, double* x, double* y, double rho[3])
{
    double before[3] = {0}, after[3] = {0};
    for (int i = 0; i < l->A.rows; i++)
    {
        double sum = l->diagonal[i] * x[i];
        for (int k = l->A.start[i]; k < l->A.start[i + 1]; k++)
        {
            sum += within_unknown(l, i, k) ? l->A.value[k] * x[l->A.column[k]] : 0.0;
        }
        y[i] = sum / l->diagonal[i];
        before[l->unknown[i]] += x[i] * x[i] * l->diagonal[i];
        after[l->unknown[i]] += y[i] * y[i] * l->diagonal[i];
    }
    for (int p = 0; p < 3; p++)
    {
        rho[p] = before[p] > 0.0 ? sqrt(after[p] / before[p]) : 1.0;
    }
    for (int i = 0; i < l->A.rows; i++)
    {
        x[i] = y[i] / rho[l->unknown[i]];
    }
}

static void estimate_rho(const level* l, double rho[3])
{
    for (int i = 0; i < l->A.rows; i++)
    {
        l->x[i] = random_unit(2015, (uint64_t)i) - 0.5;
    }
    for (int step = 0; step < POWER_STEPS; step++)
    {
        power_step(l, l->x, l->r, rho);
    }
}

// T = I - omega_p D^-1 A_pp, without the blocks that couple unknowns.
static weft_status jacobi_matrix(const level* l, csr* T)
{
    double rho[3];
    estimate_rho(l, rho);
    int n = l->A.rows;
    TRY(csr_alloc(T, n, n, l->A.start[n]));
    for (int i = 0; i < n; i++)
    {
        double omega = 4.0 / (3.0 * RHO_MARGIN * rho[l->unknown[i]]);
        csr_begin_row(T, i);
        csr_append(T, i, i, 1.0 - omega);
        for (int k = l->A.start[i]; k < l->A.start[i + 1]; k++)
        {
            if (within_unknown(l, i, k))
            {
                csr_append(T, i, l->A.column[k], -omega * l->A.value[k] / l->diagonal[i]);
            }
        }
    }
    return WEFT_OK;
}

static weft_status tentative_matrix(int rows, const int* aggregate, int count, csr* out)
{
    TRY(csr_alloc(out, rows, count, rows));
    for (int i = 0; i < rows; i++)
    {
        csr_begin_row(out, i);
        if (aggregate[i] >= 0)
        {
            csr_append(out, i, aggregate[i], 1.0);
        }
    }
    return WEFT_OK;
}

static weft_status interpolation(const level* l, const int* aggregate, int count, csr* P)
{
    csr T = {0}, tentative = {0};
    weft_status status = jacobi_matrix(l, &T);
    status = status == WEFT_OK ? tentative_matrix(l->A.rows, aggregate, count, &tentative) : status;
    status = status == WEFT_OK ? csr_multiply(&T, &tentative, P) : status;
    csr_finish(&T);
    csr_finish(&tentative);
    return status;
}

static weft_status galerkin(const csr* A, const csr* P, csr* out)
{
    csr AP = {0}, R = {0};
    weft_status status = csr_multiply(A, P, &AP);
    status = status == WEFT_OK ? csr_transpose(P, &R) : status;
    status = status == WEFT_OK ? csr_multiply(&R, &AP, out) : status;
    csr_finish(&AP);
    csr_finish(&R);
    return status;
}

// ---- setup

// The next level; count stays when there is nothing to gain from one.
static weft_status coarsen_with(hierarchy* h, int* aggregate, int* joined)
{
    level *fine = &h->levels[h->count - 1], *coarse = fine + 1;
    int count = make_aggregates(fine, ldexp(THETA, 1 - h->count), aggregate, joined);
    if (count == 0 || count > fine->A.rows * 4 / 5)
    {
        return WEFT_OK;
    }
    h->count++;
    TRY(interpolation(fine, joined, count, &fine->P));
    TRY(galerkin(&fine->A, &fine->P, &coarse->A));
    coarse->unknown = MEM_NEW(count, int);
    if (!coarse->unknown)
    {
        return WEFT_NO_MEMORY;
    }
    for (int i = 0; i < fine->A.rows; i++)
    {
        if (joined[i] >= 0)
        {
            coarse->unknown[joined[i]] = fine->unknown[i];
        }
    }
    return level_alloc(coarse);
}

static weft_status coarsen(hierarchy* h)
{
    int rows = h->levels[h->count - 1].A.rows;
    int *aggregate = MEM_NEW(rows, int), *joined = MEM_NEW(rows, int);
    weft_status status = aggregate && joined ? coarsen_with(h, aggregate, joined) : WEFT_NO_MEMORY;
    mem_free(aggregate);
    mem_free(joined);
    return status;
}

static weft_status factor_last(hierarchy* h)
{
    const level* l = &h->levels[h->count - 1];
    int n = l->A.rows;
    if (n > DENSE_MAX)
    {
        return WEFT_OK;
    }
    double* L = h->factor = MEM_NEW(n * n, double);
    if (!L)
    {
        return WEFT_NO_MEMORY;
    }
    for (int i = 0; i < n; i++)
    {
        for (int k = l->A.start[i]; k < l->A.start[i + 1]; k++)
        {
            L[i * n + l->A.column[k]] = l->A.value[k];
        }
    }
    for (int i = 0; i < n; i++)
    {
        for (int j = 0; j <= i; j++)
        {
            double rest = L[i * n + j] - dot(L + i * n, L + j * n, j);
            if (i == j && !(rest > 0.0))
            {
                return WEFT_NOT_DEFINITE;
            }
            L[i * n + j] = i == j ? sqrt(rest) : rest / L[j * n + j];
        }
    }
    return WEFT_OK;
}

static weft_status hierarchy_build(hierarchy* h)
{
    TRY(level_alloc(&h->levels[0]));
    int before = 0;
    for (h->count = 1; h->count > before && h->count < LEVEL_MAX && h->levels[h->count - 1].A.rows > DENSE_MAX;)
    {
        before = h->count;
        TRY(coarsen(h));
    }
    return factor_last(h);
}

// ---- cycle

static void relax_row(const level* l, const double* b, int i)
{
    double rest = b[i];
    for (int k = l->A.start[i]; k < l->A.start[i + 1]; k++)
    {
        rest -= l->A.value[k] * l->x[l->A.column[k]];
    }
    l->x[i] += rest / l->diagonal[i];
}

static void sweep_forward(const level* l, const double* b)
{
    for (int i = 0; i < l->A.rows; i++)
    {
        relax_row(l, b, i);
    }
}

static void sweep_backward(const level* l, const double* b)
{
    for (int i = l->A.rows - 1; i >= 0; i--)
    {
        relax_row(l, b, i);
    }
}

static void solve_last(const hierarchy* h, const double* b)
{
    const level* l = &h->levels[h->count - 1];
    int n = l->A.rows;
    const double* L = h->factor;
    for (int k = 0; k < COARSEST_SWEEPS && !L; k++)
    {
        sweep_forward(l, b);
        sweep_backward(l, b);
    }
    for (int i = 0; i < n && L; i++)
    {
        l->x[i] = (b[i] - dot(L + i * n, l->x, i)) / L[i * n + i];
    }
    for (int i = n - 1; i >= 0 && L; i--)
    {
        for (int j = i + 1; j < n; j++)
        {
            l->x[i] -= L[j * n + i] * l->x[j];
        }
        l->x[i] /= L[i * n + i];
    }
}

// levels[number].x = M^-1 b
static void cycle(const hierarchy* h, int number, const double* b)
{
    const level* l = &h->levels[number];
    int n = l->A.rows;
    memset(l->x, 0, (size_t)n * sizeof(double));
    if (number == h->count - 1)
    {
        solve_last(h, b);
        return;
    }
    sweep_forward(l, b);
    csr_apply(&l->A, l->x, l->r);
    for (int i = 0; i < n; i++)
    {
        l->r[i] = b[i] - l->r[i];
    }
    const level* below = l + 1;
    memset(below->b, 0, (size_t)below->A.rows * sizeof(double));
    csr_add_transposed(&l->P, l->r, below->b);
    cycle(h, number + 1, below->b);
    csr_apply(&l->P, below->x, l->r);
    for (int i = 0; i < n; i++)
    {
        l->x[i] += l->r[i];
    }
    sweep_backward(l, b);
}

// ---- conjugate gradients

// r holds the right-hand side and becomes the residual; the solution itself is not kept, nobody asks for it.
static void iterate(const hierarchy* h, double* r, double* p, double* s, int max_iterations, double tolerance,
                    unknown_based_stats* out)
{
    const level* l = &h->levels[0];
    int n = l->A.rows;
    cycle(h, 0, r);
    memcpy(p, l->x, (size_t)n * sizeof(double));
    double first = dot(r, l->x, n), rz = first, first2 = dot(r, r, n);
    while (rz > tolerance * tolerance * first && out->iterations < max_iterations)
    {
        csr_apply(&l->A, p, s);
        double alpha = rz / dot(p, s, n);
        for (int i = 0; i < n; i++)
        {
            r[i] -= alpha * s[i];
        }
        cycle(h, 0, r);
        double next = dot(r, l->x, n), beta = next / rz;
        for (int i = 0; i < n; i++)
        {
            p[i] = l->x[i] + beta * p[i];
        }
        rz = next;
        out->iterations++;
    }
    out->converged = rz <= tolerance * tolerance * first;
    out->residual2 = sqrt(dot(r, r, n) / first2);
    out->rate = out->iterations > 0 ? pow(sqrt(rz / first), 1.0 / out->iterations) : NAN;
}

static weft_status take_finest(const weft_system* system, bool coupled, level* l, double* b)
{
    linear_system view = system_view(system, 1);
    int n = system->pattern.row_count;
    l->unknown = MEM_NEW(3 * n, int);
    if (!l->unknown)
    {
        return WEFT_NO_MEMORY;
    }
    for (int row = 0; row < 3 * n; row++)
    {
        l->unknown[row] = row / n;
    }
    return csr_take_system(&view, coupled, &l->A, b);
}

static void take_stats(const hierarchy* h, unknown_based_stats* out)
{
    double entries = 0.0;
    for (int k = 0; k < h->count; k++)
    {
        const csr* A = &h->levels[k].A;
        entries += A->start[A->rows];
    }
    const csr* finest = &h->levels[0].A;
    out->unknowns = finest->rows;
    out->level_count = h->count;
    out->operator_complexity = entries / finest->start[finest->rows];
}

weft_status unknown_based_solve(const weft_system* system, bool coupled, double tolerance, int max_iterations,
                                unknown_based_stats* out)
{
    *out = (unknown_based_stats){0};
    int n = 3 * system->pattern.row_count;
    hierarchy h = {0};
    double *r = MEM_NEW(n, double), *p = MEM_NEW(n, double), *s = MEM_NEW(n, double);
    double start = timer_now();
    weft_status status = r && p && s ? take_finest(system, coupled, &h.levels[0], r) : WEFT_NO_MEMORY;
    status = status == WEFT_OK ? hierarchy_build(&h) : status;
    if (status == WEFT_OK)
    {
        take_stats(&h, out);
        out->setup_s = timer_now() - start;
        iterate(&h, r, p, s, max_iterations, tolerance, out);
        out->solve_s = timer_now() - start - out->setup_s;
    }
    mem_free(r);
    mem_free(p);
    mem_free(s);
    hierarchy_finish(&h);
    return status;
}
