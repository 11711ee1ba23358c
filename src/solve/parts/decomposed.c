// `decomposed:NAME`, for each solver NAME of the table: the system falls apart into components (parting.c), and each is
// solved by itself, in parallel, by the inner solver (Boxerman's thesis, chapter 6). A system of one component goes to
// the inner solver as it is.
//
// Each component is held to the tolerance by its own right-hand side, which is stricter than one rule for all: the
// parts of a sum of squares are each below their share of it. Single vertices are solved by their 3 x 3 block.
//
// The largest components have a solver each, which keeps what it can from step to step while the component stays as it
// is; the others share a few solvers, which analyse each anew. Which component is whose, and which are solved one after
// the other with all threads, follows from sizes alone. A component runs in one thread among others, or with all of
// them by itself: both give the same bits, as loops always do.
#include <math.h>
#include <string.h>

#include "solve/parts/decomposed.h"

enum
{
    OWN = 32,    // components with a solver of their own
    SHARED = 16, // solvers for the others
    LARGE = 8192 // rows with which a component keeps all threads busy
};

// A solver with its state.
typedef struct inner_slot
{
    void* state; // NULL: none yet
    bool analyzed;
    uint64_t signature; // of the component that it has analysed
} inner_slot;

typedef struct decomposed
{
    const linear_solver *self, *inner;
    solve_options options;
    parting parting;
    bool is_whole;    // what `factor` has decided
    inner_slot whole; // of systems that are not split
    inner_slot slots[OWN + SHARED];
    weft_solve_stats* stats; // [parts] of the last solve
    weft_status* status;     // [parts]
    int stats_capacity, status_capacity;
} decomposed;

// ---- memory

static void slot_finish(const decomposed* d, inner_slot* slot)
{
    if (slot->state)
    {
        d->inner->finish(slot->state);
        mem_free(slot->state);
    }
    *slot = (inner_slot){0};
}

static void finish_slots(decomposed* d)
{
    slot_finish(d, &d->whole);
    for (int k = 0; k < OWN + SHARED; k++)
    {
        slot_finish(d, &d->slots[k]);
    }
}

static void decomposed_finish(void* state)
{
    decomposed* d = state;
    finish_slots(d);
    parting_finish(&d->parting);
    mem_free(d->stats);
    mem_free(d->status);
    *d = (decomposed){0};
}

static bool slot_ready(const decomposed* d, inner_slot* slot)
{
    slot->state = slot->state ? slot->state : mem_alloc(1, d->inner->state_size);
    return slot->state != NULL;
}

// ---- setup

static weft_status decomposed_analyze(decomposed* d, const linear_solver* self, const linear_solver* inner,
                                      const solve_options* options)
{
    d->self = self;
    d->inner = inner;
    d->options = *options;
    d->parting.join = options->join;
    d->whole.analyzed = false;
    return WEFT_OK;
}

static weft_status slot_setup(const decomposed* d, inner_slot* slot, const linear_system* system, bool always)
{
    if (!slot_ready(d, slot))
    {
        return WEFT_NO_MEMORY;
    }
    if (always || !slot->analyzed || slot->signature != system->pattern_version)
    {
        solve_options options = d->options;
        options.observe = NULL; // it knows one iteration at a time
        slot->analyzed = false;
        TRY(d->inner->analyze(slot->state, &options, system));
        slot->analyzed = true;
        slot->signature = system->pattern_version;
    }
    return d->inner->factor(slot->state, system);
}

static weft_status whole_setup(decomposed* d, const linear_system* system)
{
    inner_slot* slot = &d->whole;
    if (!slot_ready(d, slot))
    {
        return WEFT_NO_MEMORY;
    }
    if (!slot->analyzed)
    {
        TRY(d->inner->analyze(slot->state, &d->options, system));
        slot->analyzed = true;
    }
    return d->inner->factor(slot->state, system);
}

// ---- parts

typedef struct part_pass
{
    decomposed* d;
    const linear_system* system;
    vec3* x;
    int first; // part of the loop at hand
} part_pass;

// Parts [0, count) are large: each is worked on with all threads.
static int large_count(const parting* s)
{
    int rows = s->row_count - s->held_count, count = 0;
    while (count < s->part_count && (s->parts[count].rows >= LARGE || 2 * (int64_t)s->parts[count].rows > rows))
    {
        count++;
    }
    return count;
}

static void setup_part(part_pass* a, int k)
{
    decomposed* d = a->d;
    linear_system system = parting_system(&d->parting, a->system, k);
    d->status[k] = slot_setup(d, &d->slots[k], &system, false);
}

static void setup_parts(void* context, int begin, int end)
{
    part_pass* a = context;
    for (int k = begin; k < end; k++)
    {
        setup_part(a, a->first + k);
    }
}

// What parts without a solver of their own have to do comes here, too.
static void solve_part(part_pass* a, int k)
{
    decomposed* d = a->d;
    inner_slot* slot = &d->slots[k < OWN ? k : OWN + k % SHARED];
    linear_system system = parting_system(&d->parting, a->system, k);
    weft_solve_stats* stats = &d->stats[k];
    *stats = (weft_solve_stats){.residual = NAN, .residual2 = NAN, .rate = NAN, .operator_complexity = NAN};
    weft_status status = k < OWN ? WEFT_OK : slot_setup(d, slot, &system, true);
    d->status[k] = status == WEFT_OK ? d->inner->solve(slot->state, &system, parting_x(&d->parting, k), stats) : status;
}

// Parts [first, part_count) in as many strands as there are solvers.
static void solve_strands(void* context, int begin, int end)
{
    part_pass* a = context;
    int parts = a->d->parting.part_count;
    for (int strand = begin; strand < end; strand++)
    {
        if (a->first + strand < int_min(OWN, parts))
        {
            solve_part(a, a->first + strand);
            continue;
        }
        int shared = strand - int_max(0, int_min(OWN, parts) - a->first);
        for (int k = OWN; k < parts; k++)
        {
            if (k % SHARED == shared && k >= a->first)
            {
                solve_part(a, k);
            }
        }
    }
}

// The first failure; one that did not converge only where there is no worse.
static weft_status worst_status(const decomposed* d, int count)
{
    weft_status worst = WEFT_OK;
    for (int k = 0; k < count; k++)
    {
        weft_status status = d->status[k];
        bool worse = worst == WEFT_OK || (worst == WEFT_NOT_CONVERGED && status != WEFT_NOT_CONVERGED);
        worst = status != WEFT_OK && worse ? status : worst;
    }
    return worst;
}

static weft_status reserve_parts(decomposed* d)
{
    int count = d->parting.part_count + 1;
    bool good = mem_grow((void**)&d->stats, &d->stats_capacity, count, sizeof(weft_solve_stats)) &&
                mem_grow((void**)&d->status, &d->status_capacity, count, sizeof(weft_status));
    return good ? WEFT_OK : WEFT_NO_MEMORY;
}

static weft_status parting_setup(decomposed* d, const linear_system* system)
{
    TRY(parting_extract(&d->parting, system, d->options.pool));
    TRY(reserve_parts(d));
    int own = int_min(OWN, d->parting.part_count), large = int_min(own, large_count(&d->parting));
    part_pass a = {.d = d, .system = system};
    for (int k = 0; k < large; k++)
    {
        setup_part(&a, k);
    }
    a.first = large;
    parallel_for(d->options.pool, own - large, 1, setup_parts, &a);
    return worst_status(d, own);
}

static weft_status decomposed_factor(void* state, const linear_system* system)
{
    decomposed* d = state;
    TRY(parting_find(&d->parting, system));
    d->is_whole = parting_is_whole(&d->parting);
    return d->is_whole ? whole_setup(d, system) : parting_setup(d, system);
}

// ---- solve

// The largest part's stats, with the counts of all.
static void sum_stats(const decomposed* d, weft_solve_stats* stats)
{
    const parting* s = &d->parting;
    weft_solve_stats sum = {.residual = 0.0, .residual2 = 0.0, .rate = NAN, .operator_complexity = NAN, .converged = 1};
    sum = s->part_count > 0 ? d->stats[0] : sum;
    sum.bytes = sum.bytes_held = parting_bytes(s);
    sum.row_products = 0.0;
    for (int k = 0; k < s->part_count; k++)
    {
        const weft_solve_stats* part = &d->stats[k];
        if (part->iterations > sum.iterations)
        {
            sum.iterations = part->iterations;
            sum.rate = part->rate;
        }
        sum.residual = fmax(sum.residual, part->residual);
        sum.residual2 = fmax(sum.residual2, part->residual2);
        sum.converged = sum.converged && part->converged;
        sum.bytes += part->bytes;
        sum.bytes_held += part->bytes_held > 0.0 ? part->bytes_held : part->bytes;
        sum.escalations = int_max(sum.escalations, part->escalations);
        sum.row_products += (double)part->iterations * s->parts[k].rows;
    }
    *stats = sum;
}

static weft_status solve_singles(const decomposed* d, const linear_system* system, vec3* x, weft_solve_stats* stats)
{
    weft_status worst = WEFT_OK;
    for (int k = 0; k < d->parting.single_count; k++)
    {
        double residual;
        weft_status status = parting_single(&d->parting, system, k, x, &residual);
        worst = worst == WEFT_OK ? status : worst;
        stats->residual = fmax(stats->residual, residual);
        stats->residual2 = fmax(stats->residual2, residual);
    }
    stats->row_products += d->parting.single_count;
    return worst;
}

static weft_status parting_solve(decomposed* d, const linear_system* system, vec3* x, weft_solve_stats* stats)
{
    const parting* s = &d->parting;
    parting_gather(s, x);
    part_pass a = {.d = d, .system = system, .x = x};
    int large = int_min(OWN, large_count(s));
    for (int k = 0; k < int_min(large, s->part_count); k++)
    {
        solve_part(&a, k);
    }
    a.first = large;
    int own = int_max(0, int_min(OWN, s->part_count) - large);
    parallel_for(d->options.pool, own + (s->part_count > OWN ? SHARED : 0), 1, solve_strands, &a);
    parting_scatter(s, system, x);
    sum_stats(d, stats);
    weft_status worst = worst_status(d, s->part_count), singles = solve_singles(d, system, x, stats);
    worst = worst == WEFT_OK || worst == WEFT_NOT_CONVERGED ? (singles != WEFT_OK ? singles : worst) : worst;
    stats->converged = stats->converged && worst == WEFT_OK;
    return worst;
}

static void sign(const decomposed* d, weft_solve_stats* stats)
{
    stats->solver = d->self->name;
    stats->components = d->parting.component_count;
}

static weft_status decomposed_solve(void* state, const linear_system* system, vec3* x, weft_solve_stats* stats)
{
    decomposed* d = state;
    weft_status status =
        d->is_whole ? d->inner->solve(d->whole.state, system, x, stats) : parting_solve(d, system, x, stats);
    sign(d, stats);
    return status;
}

static weft_status decomposed_solve_again(void* state, const linear_system* system, int changed, vec3* x,
                                          weft_solve_stats* stats)
{
    decomposed* d = state;
    if (!d->is_whole || !d->inner->solve_again)
    {
        return WEFT_NOT_CONVERGED;
    }
    weft_status status = d->inner->solve_again(d->whole.state, system, changed, x, stats);
    sign(d, stats);
    return status;
}

// ---- the rest

// What an inner solver learns and a checkpoint would keep has no place for many of them: they start anew.
static void decomposed_forget(void* state)
{
    decomposed* d = state;
    if (d->inner && d->inner->memory)
    {
        finish_slots(d);
        return;
    }
    for (int k = 0; d->inner && d->inner->forget && k <= OWN + SHARED; k++)
    {
        inner_slot* slot = k < OWN + SHARED ? &d->slots[k] : &d->whole;
        if (slot->state)
        {
            d->inner->forget(slot->state);
        }
    }
}

static int decomposed_aggregates(const void* state, int level, int* aggregate)
{
    const decomposed* d = state;
    bool there = d->inner && d->is_whole && d->whole.state && d->inner->aggregates;
    return there ? d->inner->aggregates(d->whole.state, level, aggregate) : -1;
}

static int decomposed_components(const void* state, int* component)
{
    const parting* s = &((const decomposed*)state)->parting;
    if (s->row_count > 0)
    {
        memcpy(component, s->component, (size_t)s->row_count * sizeof(int));
    }
    return s->component_count;
}

// One row of the table for each inner solver.
#define DECOMPOSED(INNER, NAME, AGGREGATES)                                                                            \
    static weft_status analyze_##INNER(void* state, const solve_options* options, const linear_system* system)         \
    {                                                                                                                  \
        (void)system;                                                                                                  \
        return decomposed_analyze(state, &decomposed_##INNER, &solver_##INNER, options);                               \
    }                                                                                                                  \
    const linear_solver decomposed_##INNER = {                                                                         \
        .name = "decomposed:" NAME,                                                                                    \
        .summary = NAME " on each component by itself, in parallel",                                                   \
        .state_size = sizeof(decomposed),                                                                              \
        .analyze = analyze_##INNER,                                                                                    \
        .factor = decomposed_factor,                                                                                   \
        .solve = decomposed_solve,                                                                                     \
        .finish = decomposed_finish,                                                                                   \
        .forget = decomposed_forget,                                                                                   \
        .aggregates = AGGREGATES,                                                                                      \
        .solve_again = decomposed_solve_again,                                                                         \
        .components = decomposed_components,                                                                           \
    };

DECOMPOSED(auto, "auto", decomposed_aggregates)
DECOMPOSED(mpcg, "mpcg", NULL)
DECOMPOSED(diag_pcg, "diag-pcg", NULL)
DECOMPOSED(diag_ppcg, "diag-ppcg", NULL)
DECOMPOSED(sa_pcg, "sa-pcg", decomposed_aggregates)
DECOMPOSED(sa_ppcg, "sa-ppcg", decomposed_aggregates)
DECOMPOSED(sa_cycle, "sa-cycle", decomposed_aggregates)
DECOMPOSED(cholesky, "cholesky", NULL)
#ifdef WEFT_CHOLMOD
DECOMPOSED(cholmod, "cholmod", NULL)
#endif
