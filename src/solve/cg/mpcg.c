// Conjugate gradients (cg.h) with the preconditioners that are six numbers a vertex:
//
//     mpcg       Baraff and Witkin's modified PCG (1998) as Boxerman's thesis corrects it; P is the identity, the
//                diagonal or the 3 x 3 block diagonal of A
//     diag-pcg   mpcg with the block diagonal: the Diag-PCG of Tamstorf, Jones and McCormick (2015)
//     diag-ppcg  their prefiltered PCG (section 8): CG on M = S A S + sigma (I - S), sigma_i = trace(A_ii) / 3, with
//     the
//                block diagonal of M
//
// M is not built. Directions p and residuals lie in the range of S, where M p = S A p: the product is that of cg.c, and
// the rows of A stay as they are, for the forces of constraints need them. What differs from diag-pcg is P: a block of
// A inverted and then filtered mixes stiff and soft directions of a vertex that is held in only some of them, a
// filtered block inverted does not. All three cost the same an iteration.
#include <string.h>

#include "solve/cg/cg.h"
#include "solve/prefilter.h"

typedef enum mpcg_kind
{
    MPCG_NONE,
    MPCG_DIAGONAL,
    MPCG_BLOCK,
    MPCG_PREFILTERED
} mpcg_kind;

typedef struct mpcg
{
    cg cg;
    mpcg_kind kind;
    double* inv;       // [6 * rows] upper triangle of P^-1: xx xy xz yy yz zz
    int* filter_index; // [rows] record of each vertex, or NULL when nothing is prefiltered
} mpcg;

static void mpcg_finish(void* state)
{
    mpcg* m = state;
    cg_finish(&m->cg);
    mem_free(m->inv);
    mem_free(m->filter_index);
    *m = (mpcg){0};
}

static weft_status prepare(mpcg* m, mpcg_kind kind, const solve_options* options, const linear_system* system)
{
    int n = system->A.pattern->row_count;
    mpcg_finish(m);
    m->kind = kind;
    TRY(cg_init(&m->cg, options, system));
    m->inv = MEM_NEW(6 * (size_t)n, double);
    m->cg.inv = m->inv;
    if (kind == MPCG_PREFILTERED)
    {
        m->filter_index = MEM_NEW(n, int);
    }
    if (!m->inv || (kind == MPCG_PREFILTERED && !m->filter_index))
    {
        return WEFT_NO_MEMORY;
    }
    if (kind == MPCG_PREFILTERED)
    {
        prefilter_index(system, m->filter_index);
    }
    return WEFT_OK;
}

static weft_status mpcg_analyze(void* state, const solve_options* options, const linear_system* system)
{
    static const char* const names[] = {[MPCG_NONE] = "none", [MPCG_DIAGONAL] = "diagonal", [MPCG_BLOCK] = "block"};
    const char* name = options->preconditioner ? options->preconditioner : "block";
    for (int kind = MPCG_NONE; kind <= MPCG_BLOCK; kind++)
    {
        if (strcmp(name, names[kind]) == 0)
        {
            return prepare(state, (mpcg_kind)kind, options, system);
        }
    }
    return WEFT_UNSUPPORTED;
}

// The SA paper's two have no choice of preconditioner.
static weft_status only_block(const solve_options* options)
{
    return options->preconditioner && strcmp(options->preconditioner, "block") != 0 ? WEFT_UNSUPPORTED : WEFT_OK;
}

static weft_status diag_pcg_analyze(void* state, const solve_options* options, const linear_system* system)
{
    TRY(only_block(options));
    return prepare(state, MPCG_BLOCK, options, system);
}

static weft_status diag_ppcg_analyze(void* state, const solve_options* options, const linear_system* system)
{
    TRY(only_block(options));
    return prepare(state, MPCG_PREFILTERED, options, system);
}

// full = P^-1 of a vertex; false when P is not positive definite.
static bool invert_vertex(const mpcg* m, const linear_system* system, int vertex, double* full)
{
    int slot = system->A.pattern->diagonal[vertex];
    const double* a = system->A.values + 9 * (size_t)slot;
    double buffer[9];
    switch (m->kind)
    {
    case MPCG_NONE:
        return true;
    case MPCG_DIAGONAL:
        full[0] = 1.0 / a[0];
        full[4] = 1.0 / a[4];
        full[8] = 1.0 / a[8];
        return a[0] > 0.0 && a[4] > 0.0 && a[8] > 0.0;
    case MPCG_BLOCK:
        return m3_invert_spd(a, full);
    case MPCG_PREFILTERED:
        return m3_invert_spd(prefilter_block(system, m->filter_index, slot, vertex, buffer), full);
    }
    return false;
}

typedef struct factor_context
{
    mpcg* m;
    const linear_system* system;
} factor_context;

// Returns the number of vertices whose diagonal block is not positive definite.
static double factor_chunk(void* context, int begin, int end)
{
    factor_context* f = context;
    double bad = 0.0;
    for (int i = begin; i < end; i++)
    {
        double full[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
        bad += !invert_vertex(f->m, f->system, i, full);
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
    factor_context f = {m, system};
    double bad = parallel_sum(m->cg.options.pool, m->cg.row_count, ROW_GRAIN, factor_chunk, &f);
    return bad > 0.0 ? WEFT_NOT_DEFINITE : WEFT_OK;
}

static weft_status mpcg_solve(void* state, const linear_system* system, vec3* x, weft_solve_stats* stats)
{
    mpcg* m = state;
    double n = m->cg.row_count, matrix = (double)system->A.pattern->block_count * 76.0 + n * 8;
    stats->bytes = matrix + cg_bytes(&m->cg) + n * (6 * sizeof(double) + (m->filter_index ? sizeof(int) : 0));
    return cg_solve(&m->cg, system, x, stats);
}

// The three differ in how they analyse.
#define CG_SOLVER(NAME, SUMMARY, ANALYZE)                                                                              \
    {                                                                                                                  \
        .name = NAME, .summary = SUMMARY, .state_size = sizeof(mpcg), .analyze = ANALYZE, .factor = mpcg_factor,       \
        .solve = mpcg_solve, .finish = mpcg_finish                                                                     \
    }

const linear_solver solver_mpcg =
    CG_SOLVER("mpcg", "filtered CG (Baraff-Witkin, corrected); preconditioner none, diagonal or block", mpcg_analyze);

const linear_solver solver_diag_pcg =
    CG_SOLVER("diag-pcg", "mpcg with the 3 x 3 block diagonal: the SA paper's Diag-PCG", diag_pcg_analyze);

const linear_solver solver_diag_ppcg =
    CG_SOLVER("diag-ppcg", "CG on the prefiltered matrix with its 3 x 3 block diagonal: the SA paper's Diag-PPCG",
              diag_ppcg_analyze);
