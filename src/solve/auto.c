// The solver `auto`: cholesky, sa-ppcg or diag-ppcg, whichever a fixed cost model expects to be quickest. Counts and
// the matrix decide, never clocks: the model's microseconds are those of two threads of one machine, of which only the
// ratios matter (`weft bench sa-table1` holds them against what is measured).
//
// A solve is chosen as one of many: with a share of what is done once, setups and analyses. Later solves take the
// iterations that were seen in place of those that were expected.
#include <math.h>

#include "solve/sa/sa.h"

enum
{
    DIRECT_VERTICES_MAX = 120000, // beyond, the factor takes more than some 1.5 GB
    DECIDE_ALWAYS = 5,            // solves that each decide anew; then every DECIDE_EVERY-th
    DECIDE_EVERY = 10,
    CHANGE_OVER = 30 // solves over which a change of solver must pay
};

typedef enum auto_choice
{
    CHOICE_DIAG,
    CHOICE_SA,
    CHOICE_DIRECT,
    CHOICE_COUNT
} auto_choice;

// Of a factor of a flat sheet without contact, over n^1.5; layers that contacts couple take several times as many.
static const double FLOPS_A_SHEET = 1450.0;
static const double FOLDED_DIAG = 3.0;  // iterations of diag-ppcg on folded cloth over those on flat sheets
static const double FLOPS_SPREAD = 1.2; // up to which sheets without contact differ
static const double FLOPS_A_MICROSECOND = 1450.0 / 0.0245;

static const linear_solver* const choices[CHOICE_COUNT] = {&solver_diag_ppcg, &solver_sa_ppcg, &solver_cholesky};

// What checkpoints keep: without it the first solves of each frame would try again what is known to be slow.
typedef union auto_memory
{
    struct
    {
        double changes; // share of the last solves before which the pattern changed: contacts come and go
        // Iterations (flops of a direct solve) seen over those expected; 0: not seen. Of sa-ppcg those of smooth cloth
        // and, in the last place, of folded: what a smooth sheet took before its folds were seen says nothing of the
        // smoother for them.
        double factor[CHOICE_COUNT + 1];
    };
    double numbers[SOLVER_MEMORY];
} auto_memory;

typedef struct auto_state
{
    const linear_solver* inner; // NULL: none yet
    auto_choice choice;
    bool analyzed;    // by the inner solver, for this pattern
    int solves;       // since the last analysis or checkpoint
    bool kept;        // the inner solver has kept over a checkpoint what a first solve would have to set up
    double expected;  // iterations of the last solve by the model, or flops
    int patience;     // iterations of diag-ppcg after which another solver would have been done
    bool folded;      // sa-ppcg would smooth by an incomplete factor
    uint64_t pattern; // fingerprint of the last solve's
    auto_memory seen;
    solve_options options;
    union
    {
        max_align_t align;
        char bytes[2048];
    } state;
} auto_state;

static double* factor_of(auto_state* a, int choice)
{
    return a->seen.factor + (choice == CHOICE_SA && a->folded ? CHOICE_COUNT : choice);
}

// ---- the model

static double trace_rows(void* context, int begin, int end)
{
    const bsr_matrix* A = context;
    double sum = 0.0;
    for (int k = A->pattern->row_start[begin]; k < A->pattern->row_start[end]; k++)
    {
        const double* a = A->values + 9 * (size_t)k;
        sum += a[0] + a[4] + a[8];
    }
    return sum;
}

static double trace_diagonals(void* context, int begin, int end)
{
    const bsr_matrix* A = context;
    double sum = 0.0;
    for (int i = begin; i < end; i++)
    {
        const double* a = A->values + 9 * (size_t)A->pattern->diagonal[i];
        sum += a[0] + a[4] + a[8];
    }
    return sum;
}

// The condition of the block-scaled matrix is about twice the ratio of diagonal to mass, and the mass is the sum of all
// blocks, since stiffness kills translations. Iterations are 1.7 times its root at tolerance 1e-5.
static double diag_iterations(const solve_options* options, const linear_system* system, double digits)
{
    bsr_matrix A = system->A;
    int rows = A.pattern->row_count;
    double all = parallel_sum(options->pool, rows, ROW_GRAIN, trace_rows, &A);
    double diagonal = parallel_sum(options->pool, rows, ROW_GRAIN, trace_diagonals, &A);
    double ratio = all > 1e-9 * diagonal ? diagonal / all : 1e9;
    return 2.0 + fmin(3.0 * rows, 1.7 * sqrt(2.0 * ratio) * digits);
}

// Microseconds that so many bytes take: what is passed over again and again stays in the caches while it is small.
// Rates are bytes a microsecond.
static double pass_time(double bytes, double near_rate)
{
    const double near = 16e6, far = 64e6, far_rate = 24e3;
    double share = fmin(1.0, fmax(0.0, (bytes - near) / (far - near)));
    return bytes * ((1.0 - share) / near_rate + share / far_rate);
}

// Iterations of sa-ppcg, and what one of them takes over the time of its bytes. Folded cloth takes more of them. Rates
// come from smooth sheets without contact; on folded ones, and where contacts come and go, an iteration costs less
// beside a direct solve, whose factor fills more (docs/multigrid.md).
typedef struct sa_expectation
{
    double iterations, share;
} sa_expectation;

static sa_expectation expect_sa(bool folded, double changes, double vertices)
{
    const double share = 0.6;
    double decades = fmax(-0.5, log10(vertices / 1e4));
    return folded ? (sa_expectation){22.0 + 6.0 * decades, share}
                  : (sa_expectation){8.0 + 2.2 * decades, 1.0 - (1.0 - share) * changes};
}

static double tolerance_of(const solve_options* o, auto_choice choice)
{
    return choice == CHOICE_DIAG && o->diag_tolerance > 0.0 ? o->diag_tolerance : o->tolerance;
}

typedef struct auto_costs
{
    double iterations[CHOICE_COUNT]; // expected; flops of a direct solve
    double once[CHOICE_COUNT];       // setup or analysis that a first solve has and others do without
    double each[CHOICE_COUNT];       // microseconds of any solve
    double diag_iteration;           // and of one iteration of diag-ppcg
} auto_costs;

static auto_costs costs_of(auto_state* a, const linear_system* system)
{
    const solve_options* o = &a->options;
    double n = system->A.pattern->row_count, blocks = system->A.pattern->block_count;
    double digits = log(1.0 / o->tolerance) / log(1e5);
    double diag_digits = log(1.0 / tolerance_of(o, CHOICE_DIAG)) / log(1e5);
    sa_expectation sa = expect_sa(a->folded, a->seen.changes, n);
    double density = blocks / (13.0 * n);
    auto_costs c = {.iterations = {diag_iterations(o, system, diag_digits) * (a->folded ? FOLDED_DIAG : 1.0),
                                   digits * sa.iterations, FLOPS_A_SHEET * n * sqrt(n) * density * density}};
    for (int k = 0; k < CHOICE_COUNT; k++)
    {
        double factor = *factor_of(a, k);
        c.iterations[k] *= factor > 0.0 ? factor : 1.0;
    }
    c.diag_iteration = 8.0 + pass_time(76.0 * blocks + 360.0 * n, 55e3);
    c.each[CHOICE_DIAG] = c.iterations[CHOICE_DIAG] * c.diag_iteration;
    // A refresh, and a tenth of a full setup, which crumpling cloth needs again and again.
    c.once[CHOICE_SA] = 0.15 * blocks;
    c.each[CHOICE_SA] = 100.0 + 0.032 * blocks + 0.1 * c.once[CHOICE_SA] +
                        c.iterations[CHOICE_SA] * (60.0 + sa.share * pass_time(276.0 * blocks + 840.0 * n, 31e3));
    c.each[CHOICE_SA] += a->folded ? 0.012 * blocks : 0.0; // the factor and a look at its radius
    c.each[CHOICE_DIRECT] = 400.0 + 1.1 * n + c.iterations[CHOICE_DIRECT] / FLOPS_A_MICROSECOND;
    c.once[CHOICE_DIRECT] = 5.0 * n;
    c.each[CHOICE_DIRECT] += a->seen.changes * 2.0 * n; // most analyses keep the order
    c.each[CHOICE_SA] += a->seen.changes * 0.03 * blocks;
    if (n > DIRECT_VERTICES_MAX)
    {
        c.each[CHOICE_DIRECT] = INFINITY;
    }
    if (system->kernel_count > SA_KERNEL_MAX)
    {
        c.each[CHOICE_SA] = INFINITY;
    }
    return c;
}

// What is done once is done.
static bool has_begun(const auto_state* a, int choice)
{
    return a->inner == choices[choice] && (a->solves > 0 || a->kept);
}

static double first_cost(const auto_state* a, const auto_costs* c, int choice)
{
    return c->each[choice] + (has_begun(a, choice) ? 0.0 : c->once[choice]);
}

// What the next solve and those after it cost. The first one may not be much dearer than the cheapest first one.
static auto_choice cheapest(const auto_state* a, const auto_costs* c)
{
    const double dearer = 1.25, stay = 0.95; // a change must gain something
    double first = INFINITY, least = INFINITY;
    auto_choice best = CHOICE_DIAG;
    for (int k = 0; k < CHOICE_COUNT; k++)
    {
        first = fmin(first, first_cost(a, c, k));
    }
    for (int k = 0; k < CHOICE_COUNT; k++)
    {
        double cost = has_begun(a, k) ? stay * c->each[k] : c->each[k] + c->once[k] / CHANGE_OVER;
        bool allowed = a->solves > 0 || first_cost(a, c, k) <= dearer * first;
        if (allowed && cost < least)
        {
            least = cost;
            best = (auto_choice)k;
        }
    }
    return best;
}

// ---- the solver

static void finish_inner(auto_state* a)
{
    if (a->inner)
    {
        a->inner->finish(&a->state);
    }
    a->inner = NULL;
    a->analyzed = a->kept = false;
}

static void auto_finish(void* state)
{
    auto_state* a = state;
    finish_inner(a);
    *a = (auto_state){0};
}

static weft_status auto_analyze(void* state, const solve_options* options, const linear_system* system)
{
    (void)system;
    auto_state* a = state;
    a->options = *options;
    a->analyzed = false;
    return WEFT_OK;
}

static bool is_folded(const auto_state* a, const linear_system* system)
{
    sa_hierarchy h = {.pool = a->options.pool};
    int smoother = a->options.sa.smoother;
    return smoother == 2 || (smoother == 0 && sa_is_folded(&h, system));
}

static void decide(auto_state* a, const linear_system* system)
{
    const linear_solver* solver = &solver_diag_pcg;
    a->choice = CHOICE_DIAG;
    if (!a->options.preconditioner)
    {
        a->folded = is_folded(a, system);
        auto_costs c = costs_of(a, system);
        a->choice = cheapest(a, &c);
        double other = fmin(c.each[CHOICE_SA] + c.once[CHOICE_SA], c.each[CHOICE_DIRECT] + c.once[CHOICE_DIRECT]);
        a->patience = (int)fmin(1e6, 20.0 + 0.7 * other / c.diag_iteration);
        double factor = *factor_of(a, a->choice);
        a->expected = c.iterations[a->choice] / (factor > 0.0 ? factor : 1.0);
        solver = choices[a->choice];
    }
    if (solver != a->inner)
    {
        finish_inner(a);
        a->inner = solver;
        WEFT_ASSERT(solver->state_size <= sizeof(a->state));
    }
}

static void watch_pattern(auto_state* a, const linear_system* system)
{
    const double memory = 0.9;
    uint64_t pattern = a->analyzed ? a->pattern : bsr_pattern_fingerprint(system->A.pattern);
    bool changed = a->solves > 0 && pattern != a->pattern;
    a->seen.changes = memory * a->seen.changes + (changed ? 1.0 - memory : 0.0);
    a->pattern = pattern;
}

static bool has_patience(const auto_state* a)
{
    return a->choice == CHOICE_DIAG && !a->options.preconditioner && !a->options.max_iterations;
}

static weft_status prepare_inner(auto_state* a, const linear_system* system)
{
    if (!a->analyzed)
    {
        solve_options options = a->options;
        options.tolerance = tolerance_of(&a->options, a->choice);
        options.max_iterations = has_patience(a) ? a->patience : options.max_iterations;
        TRY(a->inner->analyze(&a->state, &options, system));
        a->analyzed = true;
    }
    return a->inner->factor(&a->state, system);
}

// What goes on over a checkpoint is looked at once.
static bool is_time_to_decide(const auto_state* a)
{
    return a->solves % DECIDE_EVERY == 0 || (a->solves < DECIDE_ALWAYS && !a->kept);
}

static weft_status auto_factor(void* state, const linear_system* system)
{
    auto_state* a = state;
    watch_pattern(a, system);
    if (!a->inner || is_time_to_decide(a))
    {
        decide(a, system);
    }
    return prepare_inner(a, system);
}

// What was seen of the solvers that did not run fades: cloth that came to rest may suit another one than before.
static void watch_iterations(auto_state* a, double iterations)
{
    const double fading = 0.005;
    for (int k = 0; k <= CHOICE_COUNT; k++)
    {
        a->seen.factor[k] += a->seen.factor[k] > 0.0 ? fading * (1.0 - a->seen.factor[k]) : 0.0;
    }
    double *factor = factor_of(a, a->choice), now = a->expected > 0.0 ? iterations / a->expected : 0.0;
    *factor = *factor > 0.0 ? 0.5 * (*factor + now) : now; // one hard step is no reason to change
}

// A sheet that fell freely has met something: diag-ppcg, which needed next to nothing, would need hundreds of
// iterations. Another solver goes on from its iterate.
static weft_status solve_otherwise(auto_state* a, const linear_system* system, vec3* x, weft_solve_stats* stats)
{
    int before = stats->iterations;
    watch_iterations(a, 3.0 * (double)before);
    decide(a, system);
    TRY(prepare_inner(a, system));
    weft_status status = a->inner->solve(&a->state, system, x, stats);
    stats->iterations += before;
    return status;
}

// Of a solve that the caller has stopped: as many as it would have taken.
static double whole_iterations(const auto_state* a, const weft_solve_stats* stats, int iterations)
{
    bool is_part = !stats->converged && stats->rate > 0.0 && stats->rate < 1.0 && stats->residual < 1.0;
    double left = is_part ? log(fmin(1.0, a->options.tolerance / stats->residual)) / log(stats->rate) : 0.0;
    return iterations + fmin(left, 100.0);
}

static weft_status auto_solve(void* state, const linear_system* system, vec3* x, weft_solve_stats* stats)
{
    auto_state* a = state;
    weft_status status = a->inner->solve(&a->state, system, x, stats);
    int tried = 0;
    if (status == WEFT_NOT_CONVERGED && has_patience(a))
    {
        tried = stats->iterations;
        status = solve_otherwise(a, system, x, stats);
    }
    double iterations = whole_iterations(a, stats, stats->iterations - tried);
    stats->solver = a->inner->name;
    watch_iterations(a, a->inner->flops ? fmax(a->expected, a->inner->flops(&a->state) / FLOPS_SPREAD) : iterations);
    a->solves++;
    return status;
}

// Second solves say nothing about the next first one, so nothing is learnt from them.
static weft_status auto_solve_again(void* state, const linear_system* system, int changed, vec3* x,
                                    weft_solve_stats* stats)
{
    auto_state* a = state;
    if (!a->inner->solve_again)
    {
        return WEFT_NOT_CONVERGED;
    }
    weft_status status = a->inner->solve_again(&a->state, system, changed, x, stats);
    stats->solver = a->inner->name;
    return status;
}

static void auto_forget_counts(auto_state* a)
{
    a->solves = 0;
    a->kept = false;
}

// The next solve decides anew, by what checkpoints keep alone. Analyses depend on the pattern and stay.
static void auto_forget(void* state)
{
    auto_state* a = state;
    auto_forget_counts(a);
    if (a->inner && a->inner->forget)
    {
        a->inner->forget(&a->state);
    }
}

static weft_status auto_save(const void* state, section_writer* out)
{
    const auto_state* a = state;
    return a->inner && a->inner->save ? a->inner->save(&a->state, out) : WEFT_OK;
}

static bool auto_settle(void* state)
{
    auto_state* a = state;
    bool may_keep = a->inner && a->inner->settle;
    auto_forget_counts(a);
    may_keep ? (void)(a->kept = a->inner->settle(&a->state)) : auto_forget(a);
    return a->kept;
}

// The one solver that has plans was the last one.
static void auto_take(void* state, struct sa_plan* plan)
{
    auto_state* a = state;
    finish_inner(a);
    a->inner = &solver_sa_ppcg;
    a->inner->take(&a->state, plan);
    a->kept = true;
}

static int auto_aggregates(const void* state, int level, int* aggregate)
{
    const auto_state* a = state;
    return a->inner && a->inner->aggregates ? a->inner->aggregates(&a->state, level, aggregate) : -1;
}

static double* auto_memory_of(void* state)
{
    return ((auto_state*)state)->seen.numbers;
}

const linear_solver solver_auto = {
    .name = "auto",
    .summary = "cholesky, sa-ppcg or diag-ppcg, chosen by counts and a fixed cost model",
    .state_size = sizeof(auto_state),
    .analyze = auto_analyze,
    .factor = auto_factor,
    .solve = auto_solve,
    .finish = auto_finish,
    .forget = auto_forget,
    .aggregates = auto_aggregates,
    .memory = auto_memory_of,
    .solve_again = auto_solve_again,
    .save = auto_save,
    .settle = auto_settle,
    .take = auto_take,
};
