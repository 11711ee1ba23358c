// The solver `cholmod`: SuiteSparse's supernodal Cholesky on the same prefiltered matrix as `cholesky`, as a yardstick.
// Only in builds with WEFT_CHOLMOD: the library is under GPL terms. Nothing else in Weft touches it.
#include <cholmod.h>
#include <string.h>

#include "solve/prefilter.h"

// The lower triangle is kept as compressed columns; the columns of vertex i hold the blocks (j, i) with j >= i.
typedef struct cholmod_state
{
    solve_options options;
    bool started;
    cholmod_common common;
    cholmod_sparse* A;
    cholmod_factor* L;
    cholmod_dense *b, *x, *y_work, *e_work;
    int* row_start; // [rows + 1] of the analysed pattern
    int* column;    // [blocks]
    int row_count;
    int* filter_index; // [rows]
    vec3 *r, *y, *Ax;  // [rows]
} cholmod_state;

static void cholmod_state_finish(void* state)
{
    cholmod_state* c = state;
    if (c->started)
    {
        cholmod_l_free_sparse(&c->A, &c->common);
        cholmod_l_free_factor(&c->L, &c->common);
        cholmod_l_free_dense(&c->b, &c->common);
        cholmod_l_free_dense(&c->x, &c->common);
        cholmod_l_free_dense(&c->y_work, &c->common);
        cholmod_l_free_dense(&c->e_work, &c->common);
        cholmod_l_finish(&c->common);
    }
    mem_free(c->row_start);
    mem_free(c->column);
    mem_free(c->filter_index);
    mem_free(c->r);
    mem_free(c->y);
    mem_free(c->Ax);
    memset(c, 0, sizeof(*c));
}

static bool cholmod_state_knows(const cholmod_state* c, const bsr_pattern* pattern)
{
    return c->L && c->row_count == pattern->row_count &&
           memcmp(c->row_start, pattern->row_start, ((size_t)c->row_count + 1) * sizeof(int)) == 0 &&
           memcmp(c->column, pattern->column, (size_t)pattern->block_count * sizeof(int)) == 0;
}

// Structure of the scalar lower triangle. Rows of A are used as columns: A is symmetric.
static weft_status cholmod_state_fill_pattern(cholmod_state* c, const bsr_pattern* p)
{
    size_t n = 3 * (size_t)p->row_count;
    size_t entries = 0;
    for (int i = 0; i < p->row_count; i++)
    {
        for (int slot = p->row_start[i]; slot < p->row_start[i + 1]; slot++)
        {
            entries += p->column[slot] > i ? 9 : p->column[slot] == i ? 6 : 0;
        }
    }
    c->A = cholmod_l_allocate_sparse(n, n, entries, true, true, -1, CHOLMOD_REAL, &c->common);
    if (!c->A)
    {
        return WEFT_NO_MEMORY;
    }
    SuiteSparse_long *start = c->A->p, *row = c->A->i;
    SuiteSparse_long count = 0;
    for (int i = 0; i < p->row_count; i++)
    {
        for (int a = 0; a < 3; a++)
        {
            start[3 * i + a] = count;
            for (int slot = p->row_start[i]; slot < p->row_start[i + 1]; slot++)
            {
                for (int b = p->column[slot] == i ? a : 0; b < 3 && p->column[slot] >= i; b++)
                {
                    row[count++] = 3 * (SuiteSparse_long)p->column[slot] + b;
                }
            }
        }
    }
    start[n] = count;
    return WEFT_OK;
}

static weft_status cholmod_state_build(cholmod_state* c, const bsr_pattern* p)
{
    int n = p->row_count;
    cholmod_l_start(&c->common);
    c->started = true;
    c->common.supernodal = CHOLMOD_SUPERNODAL;
    c->common.nmethods = 1;
    c->common.method[0].ordering = CHOLMOD_METIS;
    c->common.postorder = true;
    c->common.quick_return_if_not_posdef = true;
    c->common.print = 0;
    TRY(cholmod_state_fill_pattern(c, p));
    c->L = cholmod_l_analyze(c->A, &c->common);
    c->b = cholmod_l_allocate_dense(3 * (size_t)n, 1, 3 * (size_t)n, CHOLMOD_REAL, &c->common);
    c->row_count = n;
    c->row_start = MEM_NEW(n + 1, int);
    c->column = MEM_NEW(p->block_count, int);
    c->filter_index = MEM_NEW(n, int);
    c->r = MEM_NEW(n, vec3);
    c->y = MEM_NEW(n, vec3);
    c->Ax = MEM_NEW(n, vec3);
    if (!c->L || !c->b || !c->row_start || !c->column || !c->filter_index || !c->r || !c->y || !c->Ax)
    {
        return WEFT_NO_MEMORY;
    }
    memcpy(c->row_start, p->row_start, ((size_t)n + 1) * sizeof(int));
    memcpy(c->column, p->column, (size_t)p->block_count * sizeof(int));
    return WEFT_OK;
}

static weft_status cholmod_state_analyze(void* state, const solve_options* options, const linear_system* system)
{
    cholmod_state* c = state;
    if (options->preconditioner && strcmp(options->preconditioner, "none") != 0)
    {
        return WEFT_UNSUPPORTED;
    }
    if (!cholmod_state_knows(c, system->A.pattern))
    {
        cholmod_state_finish(c);
        weft_status status = cholmod_state_build(c, system->A.pattern);
        if (status != WEFT_OK)
        {
            cholmod_state_finish(c);
            return status;
        }
    }
    c->options = *options;
    return WEFT_OK;
}

static void cholmod_state_fill_values(cholmod_state* c, const linear_system* system)
{
    const bsr_pattern* p = system->A.pattern;
    double* values = c->A->x;
    const SuiteSparse_long* start = c->A->p;
    for (int i = 0; i < p->row_count; i++)
    {
        SuiteSparse_long next[3] = {start[3 * i], start[3 * i + 1], start[3 * i + 2]};
        for (int slot = p->row_start[i]; slot < p->row_start[i + 1]; slot++)
        {
            if (p->column[slot] < i)
            {
                continue;
            }
            double buffer[9];
            const double* block = prefilter_block(system, c->filter_index, slot, i, buffer);
            for (int a = 0; a < 3; a++)
            {
                for (int b = p->column[slot] == i ? a : 0; b < 3; b++)
                {
                    values[next[a]++] = block[3 * a + b];
                }
            }
        }
    }
}

static weft_status cholmod_state_factor(void* state, const linear_system* system)
{
    cholmod_state* c = state;
    prefilter_index(system, c->filter_index);
    cholmod_state_fill_values(c, system);
    const double* values = c->A->x;
    for (size_t k = 0; k < c->A->nzmax; k++)
    {
        if (!isfinite(values[k]))
        {
            return WEFT_NOT_FINITE;
        }
    }
    cholmod_l_factorize(c->A, c->L, &c->common);
    if (c->common.status == CHOLMOD_NOT_POSDEF)
    {
        return WEFT_NOT_DEFINITE;
    }
    return c->common.status < CHOLMOD_OK ? WEFT_NO_MEMORY : WEFT_OK;
}

static void cholmod_state_apply(void* state, const vec3* b, vec3* x)
{
    cholmod_state* c = state;
    size_t bytes = (size_t)c->row_count * sizeof(vec3);
    memcpy(c->b->x, b, bytes);
    memset(x, 0, bytes);
    if (cholmod_l_solve2(CHOLMOD_A, c->L, c->b, NULL, &c->x, NULL, &c->y_work, &c->e_work, &c->common))
    {
        memcpy(x, c->x->x, bytes);
    }
}

static weft_status cholmod_state_solve(void* state, const linear_system* system, vec3* x, weft_solve_stats* stats)
{
    cholmod_state* c = state;
    direct_solve d = {
        .pool = c->options.pool,
        .cpu = c->options.cpu,
        .tolerance = c->options.tolerance,
        .solve = cholmod_state_apply,
        .state = c,
        .r = c->r,
        .y = c->y,
        .Ax = c->Ax,
    };
    const bsr_pattern* p = system->A.pattern;
    double matrix =
        (double)p->block_count * (9 * sizeof(double) + sizeof(int)) + (double)p->row_count * 2 * sizeof(int);
    stats->bytes =
        matrix + (double)c->common.memory_usage + (double)c->row_count * (3 * sizeof(vec3) + 2 * sizeof(int));
    return direct_solve_run(&d, system, x, stats);
}

// ---- one number a pair of vertices, three right-hand sides: the yardstick of local/global methods

void openblas_set_num_threads(int count);
int openblas_get_num_threads(void);

typedef struct scalar_state
{
    cholmod_common common;
    cholmod_sparse* A;
    cholmod_factor* L;
    cholmod_dense *b, *x, *y_work, *e_work;
} scalar_state;

static void scalar_finish(scalar_state* s)
{
    cholmod_l_free_sparse(&s->A, &s->common);
    cholmod_l_free_factor(&s->L, &s->common);
    cholmod_l_free_dense(&s->b, &s->common);
    cholmod_l_free_dense(&s->x, &s->common);
    cholmod_l_free_dense(&s->y_work, &s->common);
    cholmod_l_free_dense(&s->e_work, &s->common);
    cholmod_l_finish(&s->common);
}

// The lower triangle; rows are used as columns.
static bool scalar_fill(scalar_state* s, const scalar_trial* trial)
{
    const bsr_pattern* p = trial->pattern;
    size_t n = (size_t)p->row_count;
    s->A = cholmod_l_allocate_sparse(n, n, (size_t)p->block_count, true, true, -1, CHOLMOD_REAL, &s->common);
    s->b = cholmod_l_allocate_dense(n, 3, n, CHOLMOD_REAL, &s->common);
    if (!s->A || !s->b)
    {
        return false;
    }
    SuiteSparse_long *start = s->A->p, *row = s->A->i, count = 0;
    double *values = s->A->x, *sides = s->b->x;
    for (int i = 0; i < p->row_count; i++)
    {
        start[i] = count;
        for (int slot = p->row_start[i]; slot < p->row_start[i + 1]; slot++)
        {
            if (p->column[slot] >= i)
            {
                row[count] = p->column[slot];
                values[count++] = trial->values[slot];
            }
        }
        sides[i] = trial->b[i].x;
        sides[n + (size_t)i] = trial->b[i].y;
        sides[2 * n + (size_t)i] = trial->b[i].z;
    }
    start[n] = count;
    return true;
}

static weft_status scalar_measure(scalar_state* s, const scalar_trial* trial, scalar_times* out)
{
    *out = (scalar_times){INFINITY, INFINITY, 0.0};
    for (int k = 0; k < trial->rounds; k++)
    {
        double begin = trial->clock();
        cholmod_l_factorize(s->A, s->L, &s->common);
        double factored = trial->clock();
        if (s->common.status != CHOLMOD_OK)
        {
            return WEFT_NOT_DEFINITE;
        }
        cholmod_l_solve2(CHOLMOD_A, s->L, s->b, NULL, &s->x, NULL, &s->y_work, &s->e_work, &s->common);
        out->factor = fmin(out->factor, factored - begin);
        out->solve = fmin(out->solve, trial->clock() - factored);
    }
    out->nonzeros = s->common.lnz;
    const double* x = s->x->x;
    size_t n = s->x->nrow;
    for (size_t i = 0; i < n; i++)
    {
        trial->x[i] = v3(x[i], x[n + i], x[2 * n + i]);
    }
    return WEFT_OK;
}

// Way 0 is supernodal over METIS, as Weft's own factor; way 1 what CHOLMOD chooses by itself.
static weft_status scalar_run(const scalar_trial* trial, int way, scalar_times* out)
{
    if (way > 1)
    {
        return WEFT_NOT_FOUND;
    }
    scalar_state s = {0};
    int threads = openblas_get_num_threads();
    openblas_set_num_threads(1);
    cholmod_l_start(&s.common);
    s.common.print = 0;
    if (way == 0)
    {
        s.common.supernodal = CHOLMOD_SUPERNODAL;
        s.common.nmethods = 1;
        s.common.method[0].ordering = CHOLMOD_METIS;
        s.common.postorder = true;
    }
    weft_status status = WEFT_NO_MEMORY;
    if (scalar_fill(&s, trial))
    {
        s.L = cholmod_l_analyze(s.A, &s.common);
        status = s.L ? scalar_measure(&s, trial, out) : status;
    }
    scalar_finish(&s);
    openblas_set_num_threads(threads);
    return status;
}

const linear_solver solver_cholmod = {
    .name = "cholmod",
    .summary = "direct: SuiteSparse CHOLMOD, supernodal, over METIS",
    .state_size = sizeof(cholmod_state),
    .analyze = cholmod_state_analyze,
    .factor = cholmod_state_factor,
    .solve = cholmod_state_solve,
    .finish = cholmod_state_finish,
    .scalar = scalar_run,
};
