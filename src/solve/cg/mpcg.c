// Conjugate gradients (cg.h) with the preconditioners of Boxerman's thesis, chapter 5:
//
//     mpcg       Baraff and Witkin's modified PCG (1998) as Boxerman corrects it, or with the variant `original` as it
//                was; P is the identity, the diagonal or the 3 x 3 block diagonal of A, or `constrained`, `ssor`, `ic`
//     diag-pcg   mpcg with the block diagonal: the Diag-PCG of Tamstorf, Jones and McCormick (2015)
//     diag-ppcg  their prefiltered PCG (section 8): CG on M = S A S + sigma (I - S), sigma_i = trace(A_ii) / 3, with
//                the block diagonal of M
//
// M is not built. Directions p and residuals lie in the range of S, where M p = S A p: the product is that of cg.c, and
// the rows of A stay as they are, for the forces of constraints need them: (A dv - b) / k of a step k, on a vertex that
// is held. (The thesis takes them from the residuals of the solve, section 3.4.2, and leaves out the division.)
//
// What differs from diag-pcg is P: a block of A inverted and then filtered mixes stiff and soft directions of a vertex
// that is held in only some of them, a filtered block inverted does not. The thesis's constrained preconditioner (5.4),
// P = S C + (I - S) with C the block diagonal of A, is not symmetric as it stands; S C S + (I - S) is, and both do the
// same to residuals, which lie in the range of S: there P h = r has h = S h and S C S h = r. With sigma (I - S) that is
// still so, and it is what diag-ppcg has: the two give the same iterates. In section 5.3.1 of the thesis ndof = 0 is
// said to be free and 3 fixed; by (5.1) it is the other way round: ndof = 3 is free, S_i = I, and ndof = 0 fixed, S_i =
// 0.
//
// `ssor` and `ic` are sweeps (sweeps.h) over the blocks of M.
#include <string.h>

#include "solve/cg/cg.h"
#include "solve/cg/sweeps.h"
#include "solve/prefilter.h"

typedef enum mpcg_kind
{
    MPCG_NONE,
    MPCG_DIAGONAL,
    MPCG_BLOCK,
    MPCG_CONSTRAINED, // and all that follow: of the prefiltered matrix
    MPCG_SSOR,
    MPCG_IC,
    MPCG_KIND_COUNT
} mpcg_kind;

static const preconditioner_row rows[MPCG_KIND_COUNT] = {
    [MPCG_NONE] = {"none", "the identity"},
    [MPCG_DIAGONAL] = {"diagonal", "the diagonal of A"},
    [MPCG_BLOCK] = {"block", "the 3 x 3 blocks on the diagonal of A (the default): the thesis's A-Block"},
    [MPCG_CONSTRAINED] = {"constrained", "S C S + (I - S), C those blocks: the thesis's CP, and that of diag-ppcg"},
    [MPCG_SSOR] = {"ssor", "symmetric Gauss-Seidel over the blocks of S A S + (I - S)"},
    [MPCG_IC] = {"ic", "incomplete Cholesky of S A S + (I - S), without fill, shifted where it breaks down"},
};

const preconditioner_row* cg_preconditioners(int* count)
{
    *count = MPCG_KIND_COUNT;
    return rows;
}

typedef struct mpcg
{
    cg cg;
    mpcg_kind kind;
    double* inv;                       // [6 * rows] upper triangle of P^-1: xx xy xz yy yz zz
    int* filter_index;                 // [rows] record of each vertex, where something is prefiltered
    int inv_capacity, filter_capacity; // rows
    sweeps sweeps;
} mpcg;

static void mpcg_finish(void* state)
{
    mpcg* m = state;
    cg_finish(&m->cg);
    sweeps_finish(&m->sweeps);
    mem_free(m->inv);
    mem_free(m->filter_index);
    *m = (mpcg){0};
}

static bool is_swept(const mpcg* m)
{
    return m->kind == MPCG_SSOR || m->kind == MPCG_IC;
}

static weft_status sweep(void* context, const vec3* r, vec3* h)
{
    const mpcg* m = context;
    sweeps_apply(&m->sweeps, m->cg.options.pool, m->cg.options.cpu, r, h);
    return WEFT_OK;
}

// Arrays stay where they are large enough.
static bool reserve(void** array, int* capacity, int rows_needed, size_t row_size)
{
    if (rows_needed > *capacity)
    {
        mem_free(*array);
        *array = mem_alloc((size_t)rows_needed, row_size);
        *capacity = *array ? rows_needed : 0;
    }
    return *array != NULL;
}

static weft_status prepare(mpcg* m, mpcg_kind kind, const solve_options* options, const linear_system* system)
{
    int n = system->A.pattern->row_count;
    m->kind = kind;
    TRY(cg_renew(&m->cg, options, system));
    if (is_swept(m))
    {
        m->cg.precondition = sweep;
        m->cg.context = m;
        TRY(sweeps_analyze(&m->sweeps, system));
    }
    else if (!reserve((void**)&m->inv, &m->inv_capacity, n, 6 * sizeof(double)))
    {
        return WEFT_NO_MEMORY;
    }
    m->cg.inv = is_swept(m) ? NULL : m->inv;
    if (kind >= MPCG_CONSTRAINED)
    {
        if (!reserve((void**)&m->filter_index, &m->filter_capacity, n, sizeof(int)))
        {
            return WEFT_NO_MEMORY;
        }
        prefilter_index(system, m->filter_index);
    }
    return WEFT_OK;
}

static weft_status mpcg_analyze(void* state, const solve_options* options, const linear_system* system)
{
    mpcg* m = state;
    const char* name = options->preconditioner ? options->preconditioner : "block";
    bool original = options->variant && strcmp(options->variant, "original") == 0;
    for (int kind = 0; kind < MPCG_KIND_COUNT; kind++)
    {
        if (strcmp(name, rows[kind].name) == 0)
        {
            TRY(prepare(m, (mpcg_kind)kind, options, system));
            m->cg.original = original;
            return WEFT_OK;
        }
    }
    return WEFT_UNSUPPORTED;
}

// The SA paper's two have no choice of preconditioner, and no variants.
static weft_status only_block(const solve_options* options)
{
    bool other = options->variant && strcmp(options->variant, "original") == 0;
    return other || (options->preconditioner && strcmp(options->preconditioner, "block") != 0) ? WEFT_UNSUPPORTED
                                                                                               : WEFT_OK;
}

static weft_status diag_pcg_analyze(void* state, const solve_options* options, const linear_system* system)
{
    TRY(only_block(options));
    return prepare(state, MPCG_BLOCK, options, system);
}

static weft_status diag_ppcg_analyze(void* state, const solve_options* options, const linear_system* system)
{
    TRY(only_block(options));
    return prepare(state, MPCG_CONSTRAINED, options, system);
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
    case MPCG_CONSTRAINED:
        return m3_invert_spd(prefilter_block(system, m->filter_index, slot, vertex, buffer), full);
    case MPCG_SSOR:
    case MPCG_IC:
    case MPCG_KIND_COUNT:
        break;
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
    if (is_swept(m))
    {
        return m->kind == MPCG_IC ? sweeps_factor_ic(&m->sweeps, &m->cg.options, system, m->filter_index)
                                  : sweeps_factor_ssor(&m->sweeps, &m->cg.options, system, m->filter_index);
    }
    factor_context f = {m, system};
    double bad = parallel_sum(m->cg.options.pool, m->cg.row_count, ROW_GRAIN, factor_chunk, &f);
    return bad > 0.0 ? WEFT_NOT_DEFINITE : WEFT_OK;
}

static weft_status mpcg_solve(void* state, const linear_system* system, vec3* x, weft_solve_stats* stats)
{
    mpcg* m = state;
    double n = m->cg.row_count, matrix = (double)system->A.pattern->block_count * 76.0 + n * 8;
    stats->bytes = matrix + cg_bytes(&m->cg) + sweeps_bytes(&m->sweeps) + n * (m->inv ? 6 * sizeof(double) : 0) +
                   n * (m->filter_index ? sizeof(int) : 0);
    return cg_solve(&m->cg, system, x, stats);
}

// The shift of an incomplete factor is what earlier solves have found out.
static void mpcg_forget(void* state)
{
    ((mpcg*)state)->sweeps.shift = 0.0;
}

// The three differ in how they analyse.
#define CG_SOLVER(NAME, SUMMARY, ANALYZE)                                                                              \
    {                                                                                                                  \
        .name = NAME, .summary = SUMMARY, .state_size = sizeof(mpcg), .analyze = ANALYZE, .factor = mpcg_factor,       \
        .solve = mpcg_solve, .finish = mpcg_finish, .forget = mpcg_forget                                              \
    }

const linear_solver solver_mpcg =
    CG_SOLVER("mpcg", "filtered CG (Baraff-Witkin, corrected or original); `weft list preconditioners`", mpcg_analyze);

const linear_solver solver_diag_pcg =
    CG_SOLVER("diag-pcg", "mpcg with the 3 x 3 block diagonal: the SA paper's Diag-PCG", diag_pcg_analyze);

const linear_solver solver_diag_ppcg =
    CG_SOLVER("diag-ppcg", "CG on the prefiltered matrix with its 3 x 3 block diagonal: the SA paper's Diag-PPCG",
              diag_ppcg_analyze);
