// The multigrid solvers:
//
//     sa-ppcg   CG on the prefiltered system, preconditioned by a hierarchy of S A S + sigma (I - S) (section 8)
//     sa-pcg    CG with the filter, preconditioned by a hierarchy of A that knows nothing of the constraints
//     sa-cycle  the V-cycle of sa-ppcg alone, repeated
//
// Only the hierarchy's finest matrix is prefiltered, while it is copied to the hierarchy's precision: in CG all
// directions lie in the range of S, where S A p is the prefiltered product. The system's rows stay as they are, for
// constraint forces, and there is no second copy in double.
#include <math.h>
#include <string.h>

#include "solve/cg/cg.h"
#include "solve/sa/sa.h"

// When sa-ppcg does not converge it escalates, by counts alone: to a stronger smoother and denser aggregates in double,
// then to a direct solve where one fits. A limit that the caller set stands instead.
enum
{
    CYCLE_LIMIT = 1000,
    RAW_LIMIT = 5000,     // iterations of sa-pcg
    ESCALATE_AFTER = 120, // iterations; the worst of `weft bench sa-box` needs some 90
    STRONG_LIMIT = 400,   // iterations with the stronger hierarchy before the direct solve
    LAST_LIMIT = 2000,    // and where none fits
    STRONG_DEGREE = 4,
    AGED_LIMIT = 3,     // iterations; new numbers for the interpolation cost about as much
    LOST_LIMIT = 6,     // likewise; a full setup costs as much more than a refresh
    LOST_FOLDED = 16,   // likewise of folded cloth, whose iterations come and go besides
    PATIENCE_MAX = 32,  // times that, where full setups have not helped
    KEPT_TIMES = 3,     // times the first or the last iterations, after which a kept hierarchy is built anew
    KEPT_LEAST = 12,    // iterations that count as the first at least
    AGAIN_CHANGED = 64, // contacts that may differ in a second solve with a mended hierarchy
    AGAIN_MORE = 8,     // iterations that a second solve may take more than the first: what a refresh is worth
    DIRECT_MAX = 400000 // vertices; beyond, a factor takes more memory than most machines have
};

static const double STRONG_THETA = 0.25;

typedef struct sa_state
{
    solve_options options;
    sa_hierarchy* hierarchy;
    cg cg;
    bool prefilter, started;
    weft_status built; // of the last setup
    bool escalated;    // the last solve was not done with the hierarchy that was asked for
    // Reuse: after a full setup only numbers are made anew, until the iterations that this has cost are worth a setup.
    bool usable;           // the hierarchy may be refreshed
    int refreshed;         // what was done for this solve, as weft_solve_stats says it
    bool renewed;          // that, and the numbers of the interpolation
    bool moved;            // pattern or constraints may have changed since the last setup
    uint64_t pattern;      // fingerprint of the pattern of the last setup
    int first_iterations;  // of the solve after the last full setup
    int last_iterations;   // of the last solve
    int lost;              // iterations above the first ones since then
    int aged;              // likewise, since the interpolation has its numbers
    int patience;          // how often LOST_LIMIT may be lost: contacts make systems harder, which no setup mends
    bool settled;          // there was a checkpoint: what it does not keep is made anew
    sa_plan* plan;         // of a checkpoint that was read, until a hierarchy is made of it; NULL: none
    int smooth_iterations; // with Chebyshev, while the factor of folded cloth is on trial; 0: it is not
    bool refuted;          // it was, and did not help
} sa_state;

static void sa_state_finish(void* state)
{
    sa_state* s = state;
    if (s->hierarchy)
    {
        sa_finish(s->hierarchy);
    }
    mem_free(s->hierarchy);
    sa_plan_finish(s->plan);
    cg_finish(&s->cg);
    *s = (sa_state){0};
}

static weft_status precondition(void* context, const vec3* r, vec3* h)
{
    sa_state* s = context;
    if (!s->started)
    {
        sa_start(s->hierarchy, r);
        s->started = true;
    }
    sa_cycle(s->hierarchy, r, h);
    return WEFT_OK;
}

// Constraints and contacts come and go with the same vertices: what was set up goes on serving.
static bool may_keep(const sa_state* s, const solve_options* options, const linear_system* system)
{
    return s->usable && s->hierarchy->levels[0].rows == system->A.pattern->row_count &&
           s->options.pool == options->pool && s->options.cpu == options->cpu;
}

// As a run that was never stopped has it.
static weft_status follow_plan(sa_state* s, const sa_plan* plan, const linear_system* system)
{
    const sa_plan_head* head = &plan->head;
    if (head->rows[0] != system->A.pattern->row_count || head->prefilter != s->prefilter || !s->options.sa.reuse)
    {
        return WEFT_OK;
    }
    s->usable = s->settled = true;
    s->pattern = head->pattern;
    s->first_iterations = head->first_iterations;
    s->last_iterations = head->last_iterations;
    s->lost = head->lost;
    s->patience = head->patience;
    s->smooth_iterations = head->smooth_iterations;
    s->refuted = head->refuted;
    s->cg.known = (cg_memory){head->ratio, head->energy, head->reckoned, head->pause, head->wait};
    return sa_plan_restore(plan, s->hierarchy);
}

static weft_status start_anew(sa_state* s, const linear_system* system)
{
    const solve_options* options = &s->options;
    s->hierarchy = MEM_NEW(1, sa_hierarchy);
    if (!s->hierarchy)
    {
        return WEFT_NO_MEMORY;
    }
    s->hierarchy->settings = options->sa;
    s->hierarchy->pool = options->pool;
    s->hierarchy->cpu = options->cpu;
    TRY(cg_init(&s->cg, options, system));
    s->cg.precondition = precondition;
    s->cg.context = s;
    s->cg.flexible = true;
    s->cg.iteration_limit = options->max_iterations ? options->max_iterations : RAW_LIMIT;
    return s->prefilter && system->earlier[0] ? cg_come_near(&s->cg) : WEFT_OK;
}

static weft_status analyze(sa_state* s, const solve_options* options, const linear_system* system, bool prefilter)
{
    if (options->preconditioner)
    {
        return WEFT_UNSUPPORTED;
    }
    if (may_keep(s, options, system))
    {
        cg_constrain(&s->cg, system);
        s->moved = true;
        return WEFT_OK;
    }
    sa_plan* plan = s->plan;
    s->plan = NULL;
    sa_state_finish(s);
    s->options = *options;
    s->prefilter = prefilter;
    weft_status status = start_anew(s, system);
    status = status == WEFT_OK && plan ? follow_plan(s, plan, system) : status;
    sa_plan_finish(plan);
    return status;
}

static weft_status analyze_prefiltered(void* state, const solve_options* options, const linear_system* system)
{
    return analyze(state, options, system, true);
}

static weft_status analyze_raw(void* state, const solve_options* options, const linear_system* system)
{
    return analyze(state, options, system, false);
}

static weft_status factor_anew(sa_state* s, const linear_system* system)
{
    s->usable = s->settled = false;
    s->refreshed = 0;
    s->renewed = false;
    TRY(sa_build(s->hierarchy, system, s->prefilter));
    s->usable = s->options.sa.reuse != 0;
    s->pattern = bsr_pattern_fingerprint(system->A.pattern);
    s->moved = false;
    return WEFT_OK;
}

// A smooth sheet that has folded since, or the other way round, wants another smoother.
static bool looks_otherwise(const sa_state* s, const linear_system* system)
{
    const sa_hierarchy* h = s->hierarchy;
    return s->options.sa.smoother == 0 && !h->insist && sa_is_folded(h, system) != h->folded;
}

// After a checkpoint nothing counts but what it keeps: all else is made anew, as a run that was resumed has to.
static weft_status factor_kept(sa_state* s, const linear_system* system)
{
    bool settled = s->settled, moved = s->moved || settled;
    if (settled && looks_otherwise(s, system))
    {
        return WEFT_UNSUPPORTED;
    }
    uint64_t pattern = moved ? bsr_pattern_fingerprint(system->A.pattern) : s->pattern;
    s->refreshed = pattern == s->pattern ? 1 : 2;
    s->pattern = pattern;
    s->moved = s->settled = false;
    sa_update update = {.pattern = s->refreshed == 2, .constraints = moved, .renew = settled || s->aged >= AGED_LIMIT};
    s->renewed = update.renew;
    s->aged = update.renew ? 0 : s->aged;
    return sa_refresh(s->hierarchy, system, &update);
}

static weft_status factor(void* state, const linear_system* system)
{
    sa_state* s = state;
    int limit = s->hierarchy->folded ? LOST_FOLDED : LOST_LIMIT;
    if (s->usable && s->lost < limit * int_max(1, s->patience) && factor_kept(s, system) == WEFT_OK)
    {
        return WEFT_OK;
    }
    return factor_anew(s, system);
}

// As after a start.
static void forget(void* state)
{
    sa_state* s = state;
    sa_plan_finish(s->plan);
    s->plan = NULL;
    s->usable = s->settled = false;
    s->patience = s->lost = s->aged = s->smooth_iterations = 0;
    s->first_iterations = s->last_iterations = 0;
    s->refuted = false;
    cg_forget(&s->cg);
    if (s->hierarchy)
    {
        s->hierarchy->insist = false;
    }
}

// ---- checkpoints

// A direct solve is soon made anew, and double precision a last resort.
static bool may_be_planned(const sa_state* s)
{
    return s->usable && s->hierarchy->level_count > 1 && s->hierarchy->precision == 32;
}

static weft_status save(const void* state, section_writer* out)
{
    const sa_state* s = state;
    sa_plan_head counts = {.pattern = s->pattern,
                           .first_iterations = s->first_iterations,
                           .last_iterations = s->last_iterations,
                           .lost = s->lost,
                           .patience = s->patience,
                           .smooth_iterations = s->smooth_iterations,
                           .refuted = s->refuted,
                           .ratio = s->cg.known.ratio,
                           .energy = s->cg.known.energy,
                           .reckoned = s->cg.known.reckoned,
                           .pause = s->cg.known.pause,
                           .wait = s->cg.known.wait};
    if (!s->plan && !may_be_planned(s))
    {
        return WEFT_OK;
    }
    sa_plan* plan = s->plan ? s->plan : sa_plan_make(s->hierarchy, &counts);
    plan ? sa_plan_save(plan, out) : (void)0;
    plan == s->plan ? (void)0 : sa_plan_finish(plan);
    return plan ? WEFT_OK : WEFT_NO_MEMORY;
}

static bool settle(void* state)
{
    sa_state* s = state;
    s->plan || may_be_planned(s) ? (void)(s->settled = true) : forget(s);
    s->aged = 0;
    return s->settled;
}

static void take(void* state, sa_plan* plan)
{
    sa_state* s = state;
    sa_plan_finish(s->plan);
    s->plan = plan;
}

// ---- what solves say

// A full setup that iterations asked for, and that took less than a quarter of them away, was not the remedy: the next
// one waits twice as long.
static void learn(sa_state* s, int iterations)
{
    bool helped = 4 * iterations <= 3 * s->last_iterations;
    s->patience = helped ? 1 : int_min(2 * int_max(1, s->patience), PATIENCE_MAX);
}

// What a solve says about the hierarchy: its iterations, as many as a start from nothing would have taken. Cloth at
// rest has a good first guess, and a second solve of a substep the answer of the first.
typedef struct sa_verdict
{
    int iterations; // 0: it says nothing
    bool guessed;   // from one solve's rate: good enough to begin with, not to count on
} sa_verdict;

static sa_verdict verdict_of(const sa_state* s, const weft_solve_stats* stats)
{
    const double near = 0.03; // of the residual of a start from nothing
    if (stats->iterations == 0 || !(stats->rate > 0.0 && stats->rate < 1.0))
    {
        return (sa_verdict){stats->iterations, false};
    }
    if (!stats->converged) // the caller has seen enough, and the first iterations are the fastest; or it failed
    {
        return (sa_verdict){0, true};
    }
    double start = stats->residual / pow(stats->rate, stats->iterations);
    bool guessed = start < near;
    double whole = ceil(log(fmin(0.5, s->options.tolerance)) / log(stats->rate));
    int spared = start < 1.0 ? (int)(log(start) / log(stats->rate)) : 0;
    return (sa_verdict){guessed ? (int)fmin(ESCALATE_AFTER, whole) : stats->iterations + spared, guessed};
}

static void count_lost(sa_state* s, sa_verdict v)
{
    bool ages = s->hierarchy->level_count > 1 || !s->hierarchy->direct; // a direct solve does not
    if (!s->refreshed)
    {
        s->lost > 0 && !v.guessed ? learn(s, v.iterations) : (void)0;
        s->lost = s->aged = 0;
        s->first_iterations = v.iterations;
    }
    else if (s->first_iterations > 0 && ages && !v.guessed)
    {
        s->lost += int_max(0, v.iterations - s->first_iterations);
        s->aged += int_max(0, v.iterations - s->first_iterations);
        s->patience = v.iterations >= 2 * s->first_iterations ? int_min(1, s->patience) : s->patience;
    }
    s->first_iterations = s->first_iterations > 0 || v.guessed ? s->first_iterations : v.iterations;
    s->last_iterations = v.guessed ? s->last_iterations : v.iterations;
}

static void report(const sa_state* s, const linear_system* system, weft_solve_stats* stats)
{
    sa_stats(s->hierarchy, stats);
    stats->refreshed = s->renewed ? 4 : s->refreshed;
    double outside = 76.0 * system->A.pattern->block_count + cg_bytes(&s->cg);
    stats->bytes_held = outside + (double)s->hierarchy->bytes;
    stats->bytes = outside + fmax((double)s->hierarchy->bytes, (double)s->hierarchy->bytes_most);
}

static weft_status solve_once(sa_state* s, const linear_system* system, vec3* x, weft_solve_stats* stats)
{
    s->started = false;
    weft_status status = cg_solve(&s->cg, system, x, stats);
    report(s, system, stats);
    count_lost(s, verdict_of(s, stats));
    return status;
}

// A kept hierarchy that does not precondition is built anew, whatever limit was set: a cold solver would have one that
// does. One that only was too slow is, where no limit was set.
static weft_status solve_anew(sa_state* s, const linear_system* system, vec3* x, weft_solve_stats* stats)
{
    int before = stats->iterations;
    bool go_on = stats->residual < 1.0; // from where it is
    TRY(factor_anew(s, system));
    go_on ? (void)0 : filter_prescribed(system, x);
    s->cg.again = go_on;
    weft_status status = solve_once(s, system, x, stats);
    s->cg.again = false;
    stats->iterations += before;
    return status;
}

// A cycle that is not definite has a factor whose radius is larger than a few Lanczos iterations saw. A second look
// costs less than a setup, and the iterations so far are not lost.
static weft_status solve_damped(sa_state* s, const linear_system* system, vec3* x, weft_solve_stats* stats)
{
    sa_level* finest = &s->hierarchy->levels[0];
    weft_status status = solve_once(s, system, x, stats);
    if (status != WEFT_NOT_DEFINITE || !finest->incomplete || sa_distrust_factor(s->hierarchy, finest) != WEFT_OK)
    {
        return status;
    }
    int before = stats->iterations;
    status = solve_once(s, system, x, stats);
    stats->iterations += before;
    return status;
}

// What a kept hierarchy may take: a new one costs some fifteen iterations, and takes as many as the first one did.
static int64_t kept_limit(const sa_state* s)
{
    int known = int_max(int_max(s->first_iterations, s->last_iterations), KEPT_LEAST);
    return s->prefilter ? int_min(KEPT_TIMES * known, ESCALATE_AFTER) : s->cg.iteration_limit;
}

static weft_status solve(void* state, const linear_system* system, vec3* x, weft_solve_stats* stats)
{
    sa_state* s = state;
    int64_t limit = s->cg.iteration_limit;
    s->cg.iteration_limit = s->refreshed && !s->options.max_iterations ? kept_limit(s) : limit;
    weft_status status = solve_damped(s, system, x, stats);
    s->cg.iteration_limit = limit;
    bool broken = status == WEFT_NOT_DEFINITE || status == WEFT_NOT_FINITE;
    bool slow = status == WEFT_NOT_CONVERGED && s->prefilter && !s->options.max_iterations;
    return s->refreshed && (broken || slow) ? solve_anew(s, system, x, stats) : status;
}

// After a small change of values and constraints, with the hierarchy that is there, mended where it changed. Nothing is
// counted: the next first solve goes on where the last one was.
static weft_status solve_again(void* state, const linear_system* system, int changed, vec3* x, weft_solve_stats* stats)
{
    sa_state* s = state;
    if (s->escalated || changed > AGAIN_CHANGED)
    {
        return WEFT_NOT_CONVERGED;
    }
    s->started = false;
    if (!sa_mend(s->hierarchy, system))
    {
        return WEFT_NOT_CONVERGED;
    }
    int limit = int_max(int_max(s->first_iterations, s->last_iterations), KEPT_LEAST) + AGAIN_MORE;
    s->cg.iteration_limit = s->options.max_iterations ? int_min(limit, s->options.max_iterations) : limit;
    cg_constrain(&s->cg, system);
    s->cg.again = true;
    weft_status status = cg_solve(&s->cg, system, x, stats);
    s->cg.again = false;
    report(s, system, stats);
    stats->refreshed = 3;
    return status;
}

// ---- escalation

static bool may_escalate(const sa_state* s, weft_status status)
{
    return !s->options.max_iterations &&
           (status == WEFT_NOT_CONVERGED || status == WEFT_NOT_DEFINITE || status == WEFT_NOT_FINITE);
}

enum
{
    SLOW = 24,     // iterations from which on a smooth sheet is treated as a folded one, by way of trial
    SLOW_TRIAL = 3 // quarters of those of Chebyshev that the factor of folded cloth may need to be kept
};

// What looks smooth and is slow all the same (a stack of sheets, a fine patch) gets the factor of folded cloth in a
// full setup. It stays when it needs that much less than Chebyshev did.
static bool wants_trial(sa_state* s)
{
    sa_hierarchy* h = s->hierarchy;
    if (!s->usable || s->options.sa.smoother != 0 || s->options.sa.precision == 64)
    {
        return false;
    }
    if (!h->folded && !s->refuted && s->first_iterations >= SLOW)
    {
        s->smooth_iterations = s->first_iterations;
        return h->insist = true;
    }
    bool failed = s->smooth_iterations > 0 && 4 * s->first_iterations > SLOW_TRIAL * s->smooth_iterations;
    s->smooth_iterations = 0; // judged once
    s->refuted |= failed;
    h->insist &= !failed;
    return failed;
}

// A setup that fails is no reason to give up: the solve goes on from there.
static weft_status factor_surely(void* state, const linear_system* system)
{
    sa_state* s = state;
    s->built = wants_trial(s) ? factor_anew(s, system) : factor(s, system);
    return may_escalate(s, s->built) ? WEFT_OK : s->built;
}

static bool direct_fits(const linear_system* system)
{
    return system->A.pattern->row_count <= DIRECT_MAX;
}

// A second attempt with a stronger hierarchy, from the last iterate where it can be trusted.
static weft_status solve_stronger(sa_state* s, const linear_system* system, vec3* x, weft_solve_stats* stats)
{
    sa_hierarchy* h = s->hierarchy;
    h->settings.degree = int_max(h->settings.degree, STRONG_DEGREE);
    h->settings.theta = fmin(h->settings.theta, STRONG_THETA);
    h->settings.precision = 64;
    h->settings.lanczos =
        h->settings.lanczos > 0 ? h->settings.lanczos : sa_default().lanczos; // the bound may be wrong
    weft_status status = factor_anew(s, system);
    s->usable = false; // the next solve starts with what was asked for
    h->settings = s->options.sa;
    TRY(status);
    if (!(stats->residual < 1.0))
    {
        filter_prescribed(system, x);
    }
    int before = stats->iterations;
    s->cg.iteration_limit = direct_fits(system) ? STRONG_LIMIT : LAST_LIMIT;
    h->settings.degree = int_max(h->settings.degree, STRONG_DEGREE); // the cycle looks at it too
    status = solve_once(s, system, x, stats);
    h->settings = s->options.sa;
    stats->iterations += before;
    return status;
}

// Takes x and stats over only when the direct solve does what it should.
static weft_status solve_directly(const sa_state* s, const linear_system* system, vec3* x, weft_solve_stats* stats)
{
    int count = system->A.pattern->row_count;
    vec3* y = MEM_NEW(count, vec3);
    weft_solve_stats last = {0};
    solver_object direct = {0};
    weft_status status = y ? solver_object_init(&direct, solver_cholesky.name, &s->options, NULL) : WEFT_NO_MEMORY;
    if (status == WEFT_OK)
    {
        status = solver_object_solve(&direct, system, y, &last);
    }
    if (status == WEFT_OK || last.residual2 < stats->residual2)
    {
        memcpy(x, y, (size_t)count * sizeof(vec3));
        stats->residual = last.residual;
        stats->residual2 = last.residual2;
        stats->converged = last.converged;
        stats->bytes = fmax(stats->bytes, last.bytes);
        stats->rate = NAN;
        stats->escalations = 2;
    }
    solver_object_finish(&direct);
    mem_free(y);
    return status;
}

static weft_status solve_surely(void* state, const linear_system* system, vec3* x, weft_solve_stats* stats)
{
    sa_state* s = state;
    weft_status status = s->built;
    if (status == WEFT_OK)
    {
        s->cg.iteration_limit = s->options.max_iterations ? s->options.max_iterations : ESCALATE_AFTER;
        status = solve(s, system, x, stats);
    }
    s->escalated = may_escalate(s, status);
    if (s->escalated)
    {
        stats->escalations = 1;
        status = solve_stronger(s, system, x, stats);
        status = status == WEFT_NO_MEMORY ? WEFT_NOT_CONVERGED : status;
    }
    if (may_escalate(s, status) && direct_fits(system))
    {
        weft_status last = solve_directly(s, system, x, stats);
        status = stats->escalations == 2 || last == WEFT_NOT_DEFINITE ? last : status;
    }
    return status;
}

// ---- V-cycles alone

// r = S (b - A x), h = M^-1 r; returns r . h.
static double cycle_residual(sa_state* s, const linear_system* system, const vec3* x)
{
    cg* c = &s->cg;
    memcpy(c->p, x, (size_t)c->row_count * sizeof(vec3));
    bsr_multiply(s->options.pool, s->options.cpu, &system->A, c->p, c->s);
    double dot = 0.0;
    for (int i = 0; i < c->row_count; i++)
    {
        c->r[i] = v3_sub(system->b[i], c->s[i]);
    }
    filter_apply(system, c->r);
    precondition(s, c->r, c->h);
    filter_apply(system, c->h);
    for (int i = 0; i < c->row_count; i++)
    {
        dot += v3_dot(c->r[i], c->h[i]);
    }
    return dot;
}

static double length2(const vec3* v, int count)
{
    double sum = 0.0;
    for (int i = 0; i < count; i++)
    {
        sum += v3_dot(v[i], v[i]);
    }
    return sqrt(sum);
}

static weft_status solve_by_cycles(void* state, const linear_system* system, vec3* x, weft_solve_stats* stats)
{
    sa_state* s = state;
    cg* c = &s->cg;
    s->started = false;
    filter_prescribed(system, x);
    double start = cycle_residual(s, system, x), end = start;
    double start2 = length2(c->r, c->row_count);
    int limit = s->options.max_iterations ? s->options.max_iterations : CYCLE_LIMIT;
    weft_status status = WEFT_OK;
    for (stats->iterations = 0; end > s->options.tolerance * s->options.tolerance * start; stats->iterations++)
    {
        if (stats->iterations == limit)
        {
            status = WEFT_NOT_CONVERGED;
            break;
        }
        for (int i = 0; i < c->row_count; i++)
        {
            x[i] = v3_add(x[i], c->h[i]);
        }
        end = cycle_residual(s, system, x);
    }
    status = !isfinite(end) || (start2 == 0.0 && !vector_is_zero(c->r, c->row_count)) ? WEFT_NOT_FINITE
             : end < 0.0                                                              ? WEFT_NOT_DEFINITE
                                                                                      : status;
    double end2 = length2(c->r, c->row_count);
    if (!(end <= start)) // diverged: the start is the best there was
    {
        filter_prescribed(system, x);
        end = start;
        end2 = start2;
    }
    stats->converged = status == WEFT_OK;
    stats->residual = start > 0.0 ? sqrt(end / start) : 0.0;
    stats->residual2 = start2 > 0.0 ? end2 / start2 : 0.0;
    stats->rate = stats->iterations > 0 ? pow(stats->residual, 1.0 / stats->iterations) : NAN;
    report(s, system, stats);
    count_lost(s, verdict_of(s, stats));
    return status;
}

static int aggregates(const void* state, int level, int* aggregate)
{
    const sa_state* s = state;
    return s->hierarchy ? sa_aggregates(s->hierarchy, level, aggregate) : -1;
}

const linear_solver solver_sa_pcg = {.name = "sa-pcg",
                                     .summary =
                                         "CG with multigrid that knows nothing of the constraints: to compare with",
                                     .state_size = sizeof(sa_state),
                                     .analyze = analyze_raw,
                                     .factor = factor,
                                     .solve = solve,
                                     .finish = sa_state_finish,
                                     .forget = forget,
                                     .save = save,
                                     .settle = settle,
                                     .take = take,
                                     .aggregates = aggregates};

const linear_solver solver_sa_ppcg = {.name = "sa-ppcg",
                                      .summary =
                                          "prefiltered CG with smoothed-aggregation multigrid (Tamstorf et al. 2015)",
                                      .state_size = sizeof(sa_state),
                                      .analyze = analyze_prefiltered,
                                      .factor = factor_surely,
                                      .solve = solve_surely,
                                      .finish = sa_state_finish,
                                      .forget = forget,
                                      .save = save,
                                      .settle = settle,
                                      .take = take,
                                      .aggregates = aggregates,
                                      .solve_again = solve_again};

const linear_solver solver_sa_cycle = {.name = "sa-cycle",
                                       .summary = "the V-cycles of sa-ppcg alone, without CG: to study the multigrid",
                                       .state_size = sizeof(sa_state),
                                       .analyze = analyze_prefiltered,
                                       .factor = factor,
                                       .solve = solve_by_cycles,
                                       .finish = sa_state_finish,
                                       .forget = forget,
                                       .save = save,
                                       .settle = settle,
                                       .take = take,
                                       .aggregates = aggregates};
