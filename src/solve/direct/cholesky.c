// The solver `cholesky`: Weft's own sparse Cholesky behind the table of linear solvers. Symbolic structure is kept as
// long as the pattern of blocks stays, also when the set of constraints changes: a constrained vertex keeps its place
// in the matrix (prefilter.h). The order outlasts patterns in which contacts come and go: a new dissection is worth it
// when the factors have cost as much more than they did with it.
#include "solve/direct/cholesky.h"

#include <math.h>
#include <string.h>

#include "solve/cg/cg.h"
#include "solve/prefilter.h"

// In a second solve: what an iteration costs of a factorisation goes by the flops of both, and the tolerance of
// conjugate gradients is that of their norm, which the first factor distorts where stiff rows were let go.
static const double AGAIN_FLOP = 5.0;   // one of an iteration beside one of a factorisation
static const double AGAIN_CHANGE = 3.0; // iterations that a changed contact costs
static const double AGAIN_SHARPER = 0.1;
static const double DISSECT_FLOPS = 4e4; // of a factorisation, that a dissection costs a vertex

typedef struct cholesky_state
{
    solve_options options;
    chol_symbolic symbolic;
    chol_numeric numeric;
    int* filter_index; // [rows]
    vec3 *r, *y, *Ax;  // [rows]
    cg cg;             // of second solves
    bool own;          // the order was made for this very pattern
    bool forgotten;    // a resumed run has no order of an earlier pattern
    double least;      // flops of the pattern that the order was made for
    double wasted;     // flops of all factors since then above that
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
    cg_finish(&c->cg);
    *c = (cholesky_state){0};
}

static bool cholesky_knows(const cholesky_state* c, const bsr_pattern* pattern)
{
    const bsr_pattern* known = &c->symbolic.pattern;
    return c->numeric.L && known->row_count == pattern->row_count && known->block_count == pattern->block_count &&
           memcmp(known->row_start, pattern->row_start, ((size_t)known->row_count + 1) * sizeof(int)) == 0 &&
           memcmp(known->column, pattern->column, (size_t)known->block_count * sizeof(int)) == 0;
}

static weft_status precondition(void* context, const vec3* r, vec3* h);

// Arrays of a number of rows.
static weft_status cholesky_rows(cholesky_state* c, const solve_options* options, const linear_system* system)
{
    int count = system->A.pattern->row_count;
    if (c->Ax && c->cg.row_count == count)
    {
        return WEFT_OK;
    }
    cholesky_finish(c);
    TRY(cg_init(&c->cg, options, system));
    c->cg.precondition = precondition;
    c->cg.context = c;
    c->filter_index = MEM_NEW(count, int);
    c->r = MEM_NEW(count, vec3);
    c->y = MEM_NEW(count, vec3);
    c->Ax = MEM_NEW(count, vec3);
    return c->filter_index && c->r && c->y && c->Ax ? WEFT_OK : WEFT_NO_MEMORY;
}

static weft_status cholesky_dissect(cholesky_state* c, const bsr_pattern* pattern)
{
    chol_symbolic_finish(&c->symbolic);
    TRY(chol_symbolic_create(pattern, 3, NULL, &c->symbolic));
    c->own = true;
    c->least = c->symbolic.flops;
    c->wasted = 0.0;
    return WEFT_OK;
}

// With the order that is there, unless it has cost a dissection already or would with this pattern alone.
static weft_status cholesky_symbolic(cholesky_state* c, const bsr_pattern* pattern)
{
    double limit = DISSECT_FLOPS * pattern->row_count;
    if (!c->symbolic.order || c->forgotten || c->wasted > limit)
    {
        return cholesky_dissect(c, pattern);
    }
    chol_symbolic next;
    TRY(chol_symbolic_create(pattern, 3, c->symbolic.order, &next));
    chol_symbolic_finish(&c->symbolic);
    c->symbolic = next;
    c->own = false;
    return next.flops - c->least > limit ? cholesky_dissect(c, pattern) : WEFT_OK;
}

static weft_status cholesky_fit(cholesky_state* c, const bsr_pattern* pattern)
{
    bool known = cholesky_knows(c, pattern) && (c->own || !c->forgotten);
    weft_status status = known ? WEFT_OK : cholesky_symbolic(c, pattern);
    c->forgotten = false;
    return status == WEFT_OK ? chol_numeric_fit(&c->symbolic, 1, &c->numeric) : status;
}

static weft_status cholesky_analyze(void* state, const solve_options* options, const linear_system* system)
{
    cholesky_state* c = state;
    if (options->preconditioner && strcmp(options->preconditioner, "none") != 0)
    {
        return WEFT_UNSUPPORTED; // there is nothing to precondition
    }
    weft_status status = cholesky_rows(c, options, system);
    status = status == WEFT_OK ? cholesky_fit(c, system->A.pattern) : status;
    if (status != WEFT_OK)
    {
        cholesky_finish(c);
        return status;
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
    TRY(c->forgotten ? cholesky_fit(c, system->A.pattern) : WEFT_OK);
    c->wasted += fmax(0.0, c->symbolic.flops - c->least);
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

static weft_status precondition(void* context, const vec3* r, vec3* h)
{
    cholesky_apply(context, r, h);
    return WEFT_OK;
}

// Conjugate gradients with the factor of the first solve: as many iterations as rows have changed, or fewer. The answer
// is held to what the direct one is.
static weft_status cholesky_solve_again(void* state, const linear_system* system, int changed, vec3* x,
                                        weft_solve_stats* stats)
{
    cholesky_state* c = state;
    double iteration = AGAIN_FLOP * 4.0 * (double)c->symbolic.factor_size;
    double limit = c->symbolic.flops / iteration;
    if (AGAIN_CHANGE * changed > limit)
    {
        return WEFT_NOT_CONVERGED;
    }
    c->cg.options = c->options;
    c->cg.options.no_residual2 = false; // it decides
    c->cg.options.tolerance = AGAIN_SHARPER * fmin(c->options.tolerance, direct_tolerance_max);
    c->cg.iteration_limit = (int64_t)limit;
    cg_constrain(&c->cg, system);
    weft_status status = cg_solve(&c->cg, system, x, stats);
    stats->bytes = cholesky_bytes(c);
    stats->converged = status == WEFT_OK && stats->residual2 <= c->options.tolerance;
    return status == WEFT_OK && !stats->converged ? WEFT_NOT_CONVERGED : status;
}

static double cholesky_flops(const void* state)
{
    return ((const cholesky_state*)state)->symbolic.flops;
}

// Called at each checkpoint.
static void cholesky_forget(void* state)
{
    cholesky_state* c = state;
    c->forgotten = true;
    c->wasted = 0.0;
}

const linear_solver solver_cholesky = {
    .name = "cholesky",
    .summary = "direct: sparse Cholesky over nested dissection, parallel",
    .state_size = sizeof(cholesky_state),
    .analyze = cholesky_analyze,
    .factor = cholesky_factor,
    .solve = cholesky_solve,
    .finish = cholesky_finish,
    .forget = cholesky_forget,
    .flops = cholesky_flops,
    .solve_again = cholesky_solve_again,
};
