// The solver `auto`: cholesky, sa-ppcg or diag-pcg, whichever moves fewer bytes by a fixed cost model. Counts and the
// matrix decide, never clocks. Fitted on cotton from 961 to 160,801 vertices.
//
// CG: the condition of the block-scaled matrix is about twice the ratio of diagonal to mass, and the mass is the sum of
// all blocks, since stiffness kills translations. Iterations are 1.7 times its root at tolerance 1e-5.
// Cholesky: 2300 n^1.5 operations for 13 blocks a row, growing with the square of the blocks, 0.35 bytes' worth each,
// and factors of 500 n log2 n bytes that are read some four times; a fifth more for analyses and warm starts.
// Multigrid: a setup of some 90 iterations of CG, and 13 of its own, each worth six.
#include <math.h>

#include "solve/sa.h"

enum
{
    AUTO_DIRECT_MAX = 120000 // vertices; beyond, the factor takes more than some 1.5 GB
};

typedef struct auto_state
{
    const linear_solver* inner; // NULL: none yet
    bool decided;               // the choice stands until the next analysis or checkpoint
    bool analyzed;              // by the inner solver, for this pattern
    solve_options options;
    union
    {
        max_align_t align;
        char bytes[2048];
    } state;
} auto_state;

typedef struct trace_sums
{
    double diagonal, all;
} trace_sums;

static trace_sums traces_of(const bsr_matrix* A)
{
    trace_sums sums = {0};
    for (int k = 0; k < A->pattern->block_count; k++)
    {
        const double* a = A->values + 9 * (size_t)k;
        sums.all += a[0] + a[4] + a[8];
    }
    for (int i = 0; i < A->pattern->row_count; i++)
    {
        const double* a = A->values + 9 * (size_t)A->pattern->diagonal[i];
        sums.diagonal += a[0] + a[4] + a[8];
    }
    return sums;
}

static const linear_solver* auto_choose(const solve_options* options, const linear_system* system)
{
    double n = system->A.pattern->row_count, blocks = system->A.pattern->block_count;
    if (options->preconditioner)
    {
        return &solver_diag_pcg;
    }
    trace_sums sums = traces_of(&system->A);
    double ratio = sums.all > 1e-9 * sums.diagonal ? sums.diagonal / sums.all : 1e9;
    double digits = log(1.0 / options->tolerance) / log(1e5);
    double iterations = fmin(3.0 * n, 1.7 * sqrt(2.0 * ratio) * digits);
    double iteration = 76.0 * blocks + 360.0 * n;
    double cg = (iterations + 2.0) * iteration, multigrid = (90.0 + 78.0 * digits) * iteration;
    double density = blocks / (13.0 * n);
    double direct = 0.35 * 2300.0 * n * sqrt(n) * density * density + 2000.0 * n * log2(n + 2.0);
    if (n <= AUTO_DIRECT_MAX && 1.2 * direct < fmin(cg, multigrid))
    {
        return &solver_cholesky;
    }
    return multigrid < cg && system->kernel_count <= SA_KERNEL_MAX ? &solver_sa_ppcg : &solver_diag_pcg;
}

static void auto_finish(void* state)
{
    auto_state* a = state;
    if (a->inner)
    {
        a->inner->finish(&a->state);
    }
    *a = (auto_state){0};
}

static weft_status auto_analyze(void* state, const solve_options* options, const linear_system* system)
{
    (void)system;
    auto_state* a = state;
    a->options = *options;
    a->decided = a->analyzed = false;
    return WEFT_OK;
}

static weft_status auto_factor(void* state, const linear_system* system)
{
    auto_state* a = state;
    if (!a->decided)
    {
        const linear_solver* choice = auto_choose(&a->options, system);
        if (choice != a->inner)
        {
            solve_options options = a->options;
            auto_finish(a);
            a->options = options;
            a->inner = choice;
            WEFT_ASSERT(choice->state_size <= sizeof(a->state));
        }
        a->decided = true;
    }
    if (!a->analyzed)
    {
        TRY(a->inner->analyze(&a->state, &a->options, system));
        a->analyzed = true;
    }
    return a->inner->factor(&a->state, system);
}

static weft_status auto_solve(void* state, const linear_system* system, vec3* x, weft_solve_stats* stats)
{
    auto_state* a = state;
    weft_status status = a->inner->solve(&a->state, system, x, stats);
    stats->solver = a->inner->name;
    return status;
}

// The choice depends on the matrix that it met first. Analyses depend on the pattern alone and stay.
static void auto_forget(void* state)
{
    auto_state* a = state;
    a->decided = false;
    if (a->inner && a->inner->forget)
    {
        a->inner->forget(&a->state);
    }
}

static int auto_aggregates(const void* state, int level, int* aggregate)
{
    const auto_state* a = state;
    return a->inner && a->inner->aggregates ? a->inner->aggregates(&a->state, level, aggregate) : -1;
}

const linear_solver solver_auto = {"auto",
                                   "cholesky, sa-ppcg or diag-pcg, chosen by counts and a fixed cost model",
                                   sizeof(auto_state),
                                   auto_analyze,
                                   auto_factor,
                                   auto_solve,
                                   auto_finish,
                                   auto_forget,
                                   auto_aggregates};
