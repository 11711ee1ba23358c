// The solver `cholesky`: Weft's own sparse Cholesky behind the table of linear solvers. Order and symbolic structure
// are kept as long as the pattern of blocks stays, also when the set of constraints changes: a constrained vertex keeps
// its place in the matrix (prefilter.h).
#include "solve/direct/cholesky.h"

#include <string.h>

#include "solve/prefilter.h"

typedef struct cholesky_state
{
    solve_options options;
    chol_symbolic symbolic;
    chol_numeric numeric;
    int* filter_index; // [rows]
    vec3 *r, *y, *Ax;  // [rows]
} cholesky_state;

static void cholesky_finish(void* state)
{
    cholesky_state* c = state;
    chol_symbolic_finish(&c->symbolic);
    chol_numeric_finish(&c->numeric);
    mem_free(c->filter_index);
    mem_free(c->r);
    mem_free(c->y);
    mem_free(c->Ax);
    *c = (cholesky_state){0};
}

static bool cholesky_knows(const cholesky_state* c, const bsr_pattern* pattern)
{
    const bsr_pattern* known = &c->symbolic.pattern;
    return c->numeric.L && known->row_count == pattern->row_count && known->block_count == pattern->block_count &&
           memcmp(known->row_start, pattern->row_start, ((size_t)known->row_count + 1) * sizeof(int)) == 0 &&
           memcmp(known->column, pattern->column, (size_t)known->block_count * sizeof(int)) == 0;
}

static weft_status cholesky_build(cholesky_state* c, const bsr_pattern* pattern)
{
    int count = pattern->row_count;
    TRY(chol_symbolic_create(pattern, 3, &c->symbolic));
    TRY(chol_numeric_create(&c->symbolic, 1, &c->numeric));
    c->filter_index = MEM_NEW(count, int);
    c->r = MEM_NEW(count, vec3);
    c->y = MEM_NEW(count, vec3);
    c->Ax = MEM_NEW(count, vec3);
    return c->filter_index && c->r && c->y && c->Ax ? WEFT_OK : WEFT_NO_MEMORY;
}

static weft_status cholesky_analyze(void* state, const solve_options* options, const linear_system* system)
{
    cholesky_state* c = state;
    if (options->preconditioner && strcmp(options->preconditioner, "none") != 0)
    {
        return WEFT_UNSUPPORTED; // there is nothing to precondition
    }
    if (!cholesky_knows(c, system->A.pattern))
    {
        cholesky_finish(c);
        weft_status status = cholesky_build(c, system->A.pattern);
        if (status != WEFT_OK)
        {
            cholesky_finish(c);
            return status;
        }
    }
    c->options = *options;
    return WEFT_OK;
}

static chol_engine cholesky_engine(const cholesky_state* c)
{
    return (chol_engine){c->options.pool, dense_kernels_for(c->options.cpu)};
}

typedef struct cholesky_values
{
    const linear_system* system;
    const int* filter_index;
} cholesky_values;

static const double* cholesky_load(const void* context, const chol_entry* entry, double* buffer)
{
    const cholesky_values* v = context;
    return prefilter_block(v->system, v->filter_index, entry->slot, entry->vertex, buffer);
}

static weft_status cholesky_factor(void* state, const linear_system* system)
{
    cholesky_state* c = state;
    prefilter_index(system, c->filter_index);
    cholesky_values values = {system, c->filter_index};
    chol_source source = {cholesky_load, &values};
    chol_engine engine = cholesky_engine(c);
    return chol_factor(&c->symbolic, &c->numeric, &source, &engine);
}

static void cholesky_apply(void* state, const vec3* b, vec3* x)
{
    cholesky_state* c = state;
    chol_engine engine = cholesky_engine(c);
    chol_solve(&c->symbolic, &c->numeric, &engine, &b->x, &x->x);
}

static double cholesky_bytes(const cholesky_state* c)
{
    const bsr_pattern* p = &c->symbolic.pattern;
    double matrix =
        (double)p->block_count * (9 * sizeof(double) + sizeof(int)) + (double)p->row_count * 2 * sizeof(int);
    double vectors = (double)p->row_count * (3 * sizeof(vec3) + sizeof(int));
    return matrix + vectors + chol_symbolic_bytes(&c->symbolic) + chol_numeric_bytes(&c->symbolic);
}

static weft_status cholesky_solve(void* state, const linear_system* system, vec3* x, weft_solve_stats* stats)
{
    cholesky_state* c = state;
    direct_solve d = {
        .pool = c->options.pool,
        .cpu = c->options.cpu,
        .tolerance = c->options.tolerance,
        .solve = cholesky_apply,
        .state = c,
        .r = c->r,
        .y = c->y,
        .Ax = c->Ax,
    };
    stats->bytes = cholesky_bytes(c);
    return direct_solve_run(&d, system, x, stats);
}

const linear_solver solver_cholesky = {
    .name = "cholesky",
    .summary = "direct: sparse Cholesky over nested dissection, parallel",
    .state_size = sizeof(cholesky_state),
    .analyze = cholesky_analyze,
    .factor = cholesky_factor,
    .solve = cholesky_solve,
    .finish = cholesky_finish,
};
