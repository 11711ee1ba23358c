// The modified preconditioned conjugate gradient method of Baraff and Witkin (1998), as Boxerman's thesis corrects it
// (figure 5.2; Ascher and Boxerman 2003): PCG on the projected problem
//
//     S A x = S b,   (I - S) x = (I - S) z
//
// started from x = S x0 + (I - S) z and stopped when r^T P^-1 r <= tolerance^2 bhat^T P^-1 bhat with
// bhat = S (b - A (I - S) z). P is the identity, the diagonal or the 3 x 3 block diagonal of A.
//
// Three passes over the vertices an iteration: product with p.s, update of x and r with h = P^-1 r and r.h, new
// direction. The filter is applied inside the passes, chunk by chunk. P^-1 is kept as six numbers a vertex.
#include <string.h>

#include "solve/solve.h"

typedef struct mpcg
{
    solve_options options;
    int row_count;
    vec3 *r, *p, *s, *h; // [row_count]
    double* inv;         // [6 * row_count] upper triangle of P^-1: xx xy xz yy yz zz
    int* record_start;   // [chunks + 1] first filter record of a chunk
    int record_capacity;
} mpcg;

enum
{
    ITERATION_LIMIT_BASE = 1000,
    ITERATIONS_A_VERTEX = 30 // rounding makes CG need more than the 3 n of theory when the tolerance is tight
};

static vec3 inv_apply(const double* m, vec3 r)
{
    return (vec3){m[0] * r.x + m[1] * r.y + m[2] * r.z, m[1] * r.x + m[3] * r.y + m[4] * r.z,
                  m[2] * r.x + m[4] * r.y + m[5] * r.z};
}

static void mpcg_finish(void* state)
{
    mpcg* m = state;
    mem_free(m->r);
    mem_free(m->p);
    mem_free(m->s);
    mem_free(m->h);
    mem_free(m->inv);
    mem_free(m->record_start);
    *m = (mpcg){0};
}

static weft_status check_preconditioner(const char* name)
{
    static const char* const known[] = {"none", "diagonal", "block"};
    for (int k = 0; k < 3 && name; k++)
    {
        if (strcmp(name, known[k]) == 0)
        {
            return WEFT_OK;
        }
    }
    return name ? WEFT_UNSUPPORTED : WEFT_OK;
}

static weft_status mpcg_analyze(void* state, const solve_options* options, const linear_system* system)
{
    mpcg* m = state;
    TRY(check_preconditioner(options->preconditioner));
    mpcg_finish(m);
    m->options = *options;
    int n = system->A.pattern->row_count;
    m->row_count = n;
    m->r = MEM_NEW(n, vec3);
    m->p = MEM_NEW(n, vec3);
    m->s = MEM_NEW(n, vec3);
    m->h = MEM_NEW(n, vec3);
    m->inv = MEM_NEW(6 * (size_t)n, double);
    m->record_start = MEM_NEW(n / ROW_GRAIN + 2, int);
    if (!m->r || !m->p || !m->s || !m->h || !m->inv || !m->record_start)
    {
        return WEFT_NO_MEMORY;
    }
    // Records are sorted by vertex: each chunk of rows has a range of them.
    int chunk = 0;
    for (int k = 0; k < system->filter_count; k++)
    {
        while (chunk <= system->filter[k].vertex / ROW_GRAIN)
        {
            m->record_start[chunk++] = k;
        }
    }
    while (chunk <= n / ROW_GRAIN + 1)
    {
        m->record_start[chunk++] = system->filter_count;
    }
    return WEFT_OK;
}

typedef struct factor_context
{
    mpcg* m;
    const bsr_matrix* A;
    bool block, diagonal;
} factor_context;

// Returns the number of vertices whose diagonal block is not positive definite.
static double factor_chunk(void* context, int begin, int end)
{
    factor_context* f = context;
    double bad = 0.0;
    for (int i = begin; i < end; i++)
    {
        const double* a = f->A->values + 9 * (size_t)f->A->pattern->diagonal[i];
        double full[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
        if (f->diagonal)
        {
            bad += !(a[0] > 0.0 && a[4] > 0.0 && a[8] > 0.0);
            full[0] = 1.0 / a[0];
            full[4] = 1.0 / a[4];
            full[8] = 1.0 / a[8];
        }
        else if (f->block)
        {
            bad += !m3_invert_spd(a, full);
        }
        double* inv = f->m->inv + 6 * (size_t)i;
        inv[0] = full[0];
        inv[1] = full[1];
        inv[2] = full[2];
        inv[3] = full[4];
        inv[4] = full[5];
        inv[5] = full[8];
    }
    return bad;
}

static weft_status mpcg_factor(void* state, const linear_system* system)
{
    mpcg* m = state;
    const char* name = m->options.preconditioner ? m->options.preconditioner : "block";
    factor_context f = {m, &system->A, strcmp(name, "block") == 0, strcmp(name, "diagonal") == 0};
    double bad = parallel_sum(m->options.pool, m->row_count, ROW_GRAIN, factor_chunk, &f);
    return bad > 0.0 ? WEFT_NOT_DEFINITE : WEFT_OK;
}

// What the passes of one solve share.
typedef struct pass
{
    mpcg* m;
    const linear_system* system;
    const sparse_kernels* kernels;
    vec3* x;
    double alpha, beta;
} pass;

static void filter_rows(const pass* c, vec3* v, int begin)
{
    int first = c->m->record_start[begin / ROW_GRAIN], last = c->m->record_start[begin / ROW_GRAIN + 1];
    for (int k = first; k < last; k++)
    {
        const filter_record* record = &c->system->filter[k];
        v[record->vertex] = m3_mul_v(record->S, v[record->vertex]);
    }
}

// s = S A p, p . s
static double product_pass(void* context, int begin, int end)
{
    pass* c = context;
    double dot = c->kernels->multiply_dot(&c->system->A, c->m->p, c->m->s, begin, end);
    filter_rows(c, c->m->s, begin);
    return dot; // p = S p, so the filter does not change it
}

// x += alpha p, r -= alpha s, h = P^-1 r, r . h
static double update_pass(void* context, int begin, int end)
{
    pass* c = context;
    const mpcg* m = c->m;
    double dot = 0.0;
    for (int i = begin; i < end; i++)
    {
        c->x[i] = v3_madd(c->x[i], c->alpha, m->p[i]);
        vec3 r = v3_madd(m->r[i], -c->alpha, m->s[i]);
        vec3 h = inv_apply(m->inv + 6 * (size_t)i, r);
        m->r[i] = r;
        m->h[i] = h;
        dot += v3_dot(r, h);
    }
    return dot;
}

// p = S (h + beta p)
static void direction_pass(void* context, int begin, int end)
{
    pass* c = context;
    const mpcg* m = c->m;
    for (int i = begin; i < end; i++)
    {
        m->p[i] = v3_madd(m->h[i], c->beta, m->p[i]);
    }
    filter_rows(c, m->p, begin);
}

// r = S (b - s), h = P^-1 r, r . h with s = A x
static double residual_pass(void* context, int begin, int end)
{
    pass* c = context;
    const mpcg* m = c->m;
    double dot = 0.0;
    for (int i = begin; i < end; i++)
    {
        m->r[i] = v3_sub(c->system->b[i], m->s[i]);
    }
    filter_rows(c, m->r, begin);
    for (int i = begin; i < end; i++)
    {
        m->h[i] = inv_apply(m->inv + 6 * (size_t)i, m->r[i]);
        dot += v3_dot(m->r[i], m->h[i]);
    }
    return dot;
}

static double square_pass(void* context, int begin, int end)
{
    const vec3* v = context;
    double dot = 0.0;
    for (int i = begin; i < end; i++)
    {
        dot += v3_dot(v[i], v[i]);
    }
    return dot;
}

// r = S (b - A y) and h = P^-1 r; returns r . h. y is one of the solver's own arrays.
static double residual_of(pass* c, const vec3* y)
{
    const solve_options* o = &c->m->options;
    bsr_multiply(o->pool, o->cpu, &c->system->A, y, c->m->s);
    return parallel_sum(o->pool, c->m->row_count, ROW_GRAIN, residual_pass, c);
}

static weft_status mpcg_iterate(pass* c, double delta, double target, weft_solve_stats* stats, double* delta_end)
{
    mpcg* m = c->m;
    const solve_options* o = &m->options;
    int n = m->row_count;
    int64_t limit = o->max_iterations ? o->max_iterations : ITERATION_LIMIT_BASE + (int64_t)ITERATIONS_A_VERTEX * n;
    *delta_end = delta;
    while (delta > target)
    {
        if (stats->iterations >= limit)
        {
            return WEFT_NOT_CONVERGED;
        }
        double curvature = parallel_sum(o->pool, n, ROW_GRAIN, product_pass, c);
        if (!(curvature > 0.0))
        {
            return isfinite(curvature) ? WEFT_NOT_DEFINITE : WEFT_NOT_FINITE;
        }
        c->alpha = delta / curvature;
        double next = parallel_sum(o->pool, n, ROW_GRAIN, update_pass, c);
        stats->iterations++;
        c->beta = next / delta;
        *delta_end = delta = next;
        if (!isfinite(delta))
        {
            return WEFT_NOT_FINITE;
        }
        parallel_for(o->pool, n, ROW_GRAIN, direction_pass, c);
    }
    return WEFT_OK;
}

static weft_status mpcg_solve(void* state, const linear_system* system, vec3* x, weft_solve_stats* stats)
{
    mpcg* m = state;
    const solve_options* o = &m->options;
    int n = m->row_count;
    pass c = {m, system, sparse_kernels_for(o->cpu), x, 0.0, 0.0};
    stats->iterations = 0;
    stats->rate = NAN;
    stats->bytes =
        (double)system->A.pattern->block_count * 76.0 + (double)n * (4 * sizeof(vec3) + 6 * sizeof(double) + 8);

    // The reference of the stopping rule, from x = (I - S) z.
    filter_prescribed(system, m->p);
    double reference = residual_of(&c, m->p);
    double reference2 = parallel_sum(o->pool, n, ROW_GRAIN, square_pass, m->r);
    if (!isfinite(reference))
    {
        return WEFT_NOT_FINITE;
    }

    // x = S x0 + (I - S) z; p holds (I - S) z.
    filter_apply(system, x);
    for (int i = 0; i < n; i++)
    {
        x[i] = v3_add(x[i], m->p[i]);
    }
    memcpy(m->p, x, (size_t)n * sizeof(vec3));
    double start = residual_of(&c, m->p), end = start;
    c.beta = 0.0;
    memset(m->p, 0, (size_t)n * sizeof(vec3));
    parallel_for(o->pool, n, ROW_GRAIN, direction_pass, &c);

    // Nothing to solve: (I - S) z is the answer, whatever the guess was.
    if (reference == 0.0)
    {
        filter_prescribed(system, x);
        start = end = 0.0;
    }
    double target = o->tolerance * o->tolerance * reference;
    weft_status status = isfinite(start) ? mpcg_iterate(&c, start, target, stats, &end) : WEFT_NOT_FINITE;
    stats->residual = reference > 0.0 ? sqrt(end / reference) : 0.0;
    stats->converged = status == WEFT_OK;
    if (stats->iterations > 0 && start > 0.0 && end > 0.0)
    {
        stats->rate = pow(end / start, 0.5 / stats->iterations);
    }
    memcpy(m->p, x, (size_t)n * sizeof(vec3));
    residual_of(&c, m->p);
    double end2 = parallel_sum(o->pool, n, ROW_GRAIN, square_pass, m->r);
    stats->residual2 = reference2 > 0.0 ? sqrt(end2 / reference2) : 0.0;
    return status;
}

static weft_status diag_pcg_analyze(void* state, const solve_options* options, const linear_system* system)
{
    solve_options block = *options;
    if (block.preconditioner && strcmp(block.preconditioner, "block") != 0)
    {
        return WEFT_UNSUPPORTED;
    }
    block.preconditioner = "block";
    return mpcg_analyze(state, &block, system);
}

const linear_solver solver_mpcg = {
    "mpcg",       "filtered CG (Baraff-Witkin, corrected); preconditioner none, diagonal or block",
    sizeof(mpcg), mpcg_analyze,
    mpcg_factor,  mpcg_solve,
    mpcg_finish,  NULL};

const linear_solver solver_diag_pcg = {"diag-pcg",   "mpcg with the 3 x 3 block diagonal: the SA paper's Diag-PCG",
                                       sizeof(mpcg), diag_pcg_analyze,
                                       mpcg_factor,  mpcg_solve,
                                       mpcg_finish,  NULL};
