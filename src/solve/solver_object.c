// A solver with its state: analyses when the pattern moved, factors, solves, and times setup and solve apart. Below it
// the public weft_solver, which adds a pool of threads and finds out by itself whether a pattern is the last one.
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "solve/renumber.h"
#include "solve/sa/sa.h"
#include "solve/ties/tied.h"

weft_status solver_object_init(solver_object* object, const char* name, const solve_options* options, weft_error* error)
{
    *object = (solver_object){.options = *options};
    const weft_sa_def* sa = &options->sa;
    if (sa->degree == 0 && sa->precision == 0 && sa->coarsest == 0 && sa->margin == 0.0) // none was given
    {
        object->options.sa = sa_default();
    }
    TRY(sa_check(&object->options.sa, error));
    TRY(linear_solver_find(name, &object->solver, error));
    TRY(solver_settings_check(object->solver, options->preconditioner, options->variant, error));
    object->state = mem_alloc(1, object->solver->state_size);
    return object->state ? WEFT_OK : error_set(error, WEFT_NO_MEMORY, NULL, 0, "no memory for the solver `%s`", name);
}

static weft_status solver_object_setup(solver_object* object, const linear_system* system)
{
    if (!object->analyzed || object->analyzed_version != system->pattern_version)
    {
        object->analyzed = false;
        TRY(object->solver->analyze(object->state, &object->options, system));
        object->analyzed = true;
        object->analyzed_version = system->pattern_version;
    }
    return object->solver->factor(object->state, system);
}

// What the stats say before a solver has said anything.
static weft_solve_stats solver_object_no_stats(const solver_object* object)
{
    return (weft_solve_stats){
        .solver = object->solver->name, .residual = NAN, .residual2 = NAN, .rate = NAN, .operator_complexity = NAN};
}

// The system without its ties, and the first guess that goes with it.
static weft_status solver_object_reduce(solver_object* object, const linear_system* system, const vec3* x,
                                        linear_system* out)
{
    object->tied = object->tied ? object->tied : MEM_NEW(1, tied);
    return object->tied ? tied_reduce(object->tied, &object->options, system, x, out) : WEFT_NO_MEMORY;
}

// An iteration multiplies each row once, unless the solver says otherwise.
static void count_products(const linear_system* system, weft_solve_stats* stats)
{
    if (stats->row_products == 0.0 && stats->iterations > 0)
    {
        stats->row_products = (double)stats->iterations * system->A.pattern->row_count;
    }
}

weft_status solver_object_solve(solver_object* object, const linear_system* system, vec3* x, weft_solve_stats* stats)
{
    weft_solve_stats own;
    stats = stats ? stats : &own;
    *stats = solver_object_no_stats(object);
    double start = timer_now();
    bool ties = system_has_ties(system);
    linear_system reduced = *system;
    reduced.earlier[0] = ties ? NULL : reduced.earlier[0]; // answers and looks are those of the system with its ties
    reduced.look = ties ? (solve_look){0} : reduced.look;
    weft_status status = ties ? solver_object_reduce(object, system, x, &reduced) : WEFT_OK;
    status = status == WEFT_OK ? solver_object_setup(object, &reduced) : status;
    double ready = timer_now();
    if (status == WEFT_OK)
    {
        status = object->solver->solve(object->state, &reduced, ties ? object->tied->y : x, stats);
        stats->bytes_held = stats->bytes_held > 0.0 ? stats->bytes_held : stats->bytes;
        count_products(&reduced, stats);
        if (ties)
        {
            tied_expand(object->tied, &object->options, system, x, stats);
        }
    }
    object->solved = status == WEFT_OK;
    stats->setup_s = ready - start;
    stats->solve_s = timer_now() - ready;
    return status;
}

// Ties change the reduced matrix in more than a few rows.
static bool solver_object_may_again(const solver_object* object, const linear_system* system)
{
    return object->solver->solve_again && object->analyzed && object->solved && !system_has_ties(system);
}

weft_status solver_object_solve_again(solver_object* object, const linear_system* system, int changed, vec3* x,
                                      weft_solve_stats* stats)
{
    if (!solver_object_may_again(object, system))
    {
        return solver_object_solve(object, system, x, stats);
    }
    *stats = solver_object_no_stats(object);
    double start = timer_now();
    weft_status status = object->solver->solve_again(object->state, system, changed, x, stats);
    double tried = timer_now() - start;
    int iterations = stats->iterations;
    count_products(system, stats);
    if (status != WEFT_OK)
    {
        status = solver_object_solve(object, system, x, stats);
        stats->iterations += iterations;
    }
    stats->solve_s += tried;
    return status;
}

void solver_object_drop(solver_object* object)
{
    if (object->state)
    {
        object->solver->finish(object->state);
        memset(object->state, 0, object->solver->state_size);
    }
    object->analyzed = object->solved = false;
}

void solver_object_forget(solver_object* object)
{
    object->solved = false;
    if (object->state && object->solver->forget)
    {
        object->solver->forget(object->state);
    }
}

void solver_object_settle(solver_object* object)
{
    if (object->state && object->solver->settle)
    {
        object->solved = false;
        object->solver->settle(object->state);
        return;
    }
    solver_object_forget(object);
}

double* solver_object_memory(const solver_object* object)
{
    return object->state && object->solver->memory ? object->solver->memory(object->state) : NULL;
}

static const section_shape memory_shape = {"solver", 2, sizeof(double), SOLVER_MEMORY};

weft_status solver_object_save(const solver_object* object, bool plan, section_writer* out)
{
    const double* memory = solver_object_memory(object);
    if (memory)
    {
        section_put(out, memory_shape.name, memory_shape.version, sizeof(double), SOLVER_MEMORY, memory);
    }
    return plan && object->state && object->solver->save ? object->solver->save(object->state, out) : WEFT_OK;
}

static weft_status load_memory(double memory[SOLVER_MEMORY], sections* from, weft_error* error)
{
    const section* found;
    TRY(sections_take(from, &memory_shape, &found, error));
    for (int k = 0; k < SOLVER_MEMORY; k++)
    {
        memory[k] = found ? ((const double*)found->items)[k] : 0.0;
        if (!isfinite(memory[k]))
        {
            return sections_cannot_be(from, "numbers of the solver that are not finite", error);
        }
    }
    return WEFT_OK;
}

weft_status solver_object_load(solver_saved* out, sections* from, weft_error* error)
{
    TRY(load_memory(out->memory, from, error));
    return sa_plan_load(&out->plan, from, error);
}

void solver_object_take(solver_object* object, solver_saved* saved)
{
    solver_object_drop(object);
    double* memory = solver_object_memory(object);
    memory ? (void)memcpy(memory, saved->memory, sizeof(saved->memory)) : (void)0;
    if (object->state && object->solver->take && saved->plan)
    {
        object->solver->take(object->state, saved->plan);
        saved->plan = NULL;
    }
    solver_saved_finish(saved);
}

void solver_saved_finish(solver_saved* saved)
{
    sa_plan_finish(saved->plan);
    saved->plan = NULL;
}

void solver_object_finish(solver_object* object)
{
    if (object->state)
    {
        object->solver->finish(object->state);
        mem_free(object->state);
    }
    tied_finish(object->tied);
    *object = (solver_object){0};
}

enum
{
    SOLVER_COOKIE = 0x57454654
};

// The pattern and the set of constraints of the last solve, to see whether the next one has the same.
typedef struct solver_memory
{
    int row_count, block_count, filter_count;
    int* row_start; // [row_count + 1]
    int* column;    // [block_count]
    int* filter;    // [2 * filter_count] vertex and number of directions
} solver_memory;

struct weft_solver
{
    solver_object object;
    workers* pool;
    char *preconditioner, *variant;
    solver_memory last;
    uint64_t pattern_version;
    renumbering order;
    vec3* x; // [x_capacity] the solution while it is worked on: wide loads may reach past the caller's array
    int x_capacity;
};

static void solver_memory_finish(solver_memory* last)
{
    mem_free(last->row_start);
    mem_free(last->column);
    mem_free(last->filter);
    *last = (solver_memory){0};
}

static bool solver_memory_matches(const solver_memory* last, const weft_system* system)
{
    const bsr_pattern* p = &system->pattern;
    if (!last->row_start || last->row_count != p->row_count || last->block_count != p->block_count ||
        last->filter_count != system->filter_count ||
        memcmp(last->row_start, p->row_start, ((size_t)p->row_count + 1) * sizeof(int)) != 0 ||
        memcmp(last->column, p->column, (size_t)p->block_count * sizeof(int)) != 0)
    {
        return false;
    }
    for (int k = 0; k < system->filter_count; k++)
    {
        const filter_record* record = &system->filter[k];
        if (last->filter[2 * k] != record->vertex || last->filter[2 * k + 1] != record->direction_count)
        {
            return false;
        }
    }
    return true;
}

// Without memory for a copy nothing is remembered, and the next solve analyses again.
static void solver_memory_keep(solver_memory* last, const weft_system* system)
{
    const bsr_pattern* p = &system->pattern;
    solver_memory_finish(last);
    solver_memory kept = {p->row_count,
                          p->block_count,
                          system->filter_count,
                          MEM_NEW(p->row_count + 1, int),
                          MEM_NEW(p->block_count, int),
                          MEM_NEW(2 * (size_t)system->filter_count, int)};
    if (!kept.row_start || !kept.column || !kept.filter)
    {
        solver_memory_finish(&kept);
        return;
    }
    memcpy(kept.row_start, p->row_start, ((size_t)p->row_count + 1) * sizeof(int));
    memcpy(kept.column, p->column, (size_t)p->block_count * sizeof(int));
    for (int k = 0; k < system->filter_count; k++)
    {
        kept.filter[2 * k] = system->filter[k].vertex;
        kept.filter[2 * k + 1] = system->filter[k].direction_count;
    }
    *last = kept;
}

weft_solver_def weft_solver_def_default(void)
{
    return (weft_solver_def){
        .solver = "auto",
        .tolerance = 1e-5,
        .worker_count = 1,
        .kernels = "auto",
        .sa = sa_default(),
        .cookie = SOLVER_COOKIE,
    };
}

static int solver_worker_count(const weft_solver_def* def)
{
    if (def->worker_count > 0)
    {
        return def->worker_count;
    }
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores > 0 && cores < 4096 ? (int)cores : 1;
}

static weft_status solver_build(const weft_solver_def* def, weft_solver* solver, weft_error* error)
{
    solve_options options = {.tolerance = def->tolerance, .max_iterations = def->max_iterations, .sa = def->sa};
    if (!cpu_kind_parse(def->kernels, &options.cpu))
    {
        return error_set(error, WEFT_BAD_INPUT, NULL, 0,
                         "kernels `%s` are unknown or beyond this CPU; use auto, base, avx2 or avx512", def->kernels);
    }
    if (def->preconditioner)
    {
        solver->preconditioner = mem_strdup(def->preconditioner);
        options.preconditioner = solver->preconditioner;
    }
    if (def->variant)
    {
        solver->variant = mem_strdup(def->variant);
        options.variant = solver->variant;
    }
    if ((def->preconditioner && !solver->preconditioner) || (def->variant && !solver->variant) ||
        workers_create(solver_worker_count(def), &def->tasks, &solver->pool) != WEFT_OK)
    {
        return error_set(error, WEFT_NO_MEMORY, NULL, 0, "no memory for the solver");
    }
    options.pool = solver->pool;
    return solver_object_init(&solver->object, def->solver, &options, error);
}

weft_status weft_solver_create(const weft_solver_def* def, weft_solver** out, weft_error* error)
{
    WEFT_ASSERT(def && out && def->cookie == SOLVER_COOKIE);
    WEFT_ASSERT(def->solver && def->worker_count >= 0 && def->max_iterations >= 0);
    *out = NULL;
    if (!(def->tolerance >= 0.0) || !isfinite(def->tolerance))
    {
        return error_set(error, WEFT_BAD_INPUT, NULL, 0, "the tolerance is %g; it must be finite and not negative",
                         def->tolerance);
    }
    weft_solver* solver = MEM_NEW(1, weft_solver);
    if (!solver)
    {
        return error_set(error, WEFT_NO_MEMORY, NULL, 0, "no memory for the solver");
    }
    weft_status status = solver_build(def, solver, error);
    if (status != WEFT_OK)
    {
        weft_solver_destroy(solver);
        return status;
    }
    *out = solver;
    return WEFT_OK;
}

// In the order that is good for the solver, which takes its time of the setup.
static weft_status solve_renumbered(weft_solver* solver, const weft_system* system, bool same_pattern,
                                    linear_system* view, weft_vec3* x, weft_solve_stats* stats)
{
    renumbering* order = &solver->order;
    double start = timer_now();
    TRY(renumbering_view(order, solver->pool, system, same_pattern, view));
    renumbering_gather(order, x, order->x);
    double taken = timer_now() - start;
    weft_status status = solver_object_solve(&solver->object, view, order->x, stats);
    renumbering_scatter(order, order->x, x);
    stats->setup_s += taken;
    return status;
}

weft_status weft_solver_solve(weft_solver* solver, const weft_system* system, weft_vec3* x, weft_solve_stats* stats)
{
    WEFT_ASSERT(solver && system && x);
    weft_solve_stats own;
    stats = stats ? stats : &own;
    *stats = solver_object_no_stats(&solver->object);
    bool same_pattern = solver_memory_matches(&solver->last, system);
    if (!same_pattern)
    {
        solver->pattern_version++;
        solver_memory_keep(&solver->last, system);
    }
    linear_system view = system_view(system, solver->pattern_version);
    TRY(system_start(&view, x));
    renumbering_decide(&solver->order, system);
    if (solver->order.old_of_new)
    {
        return solve_renumbered(solver, system, same_pattern, &view, x, stats);
    }
    int count = system->pattern.row_count;
    if (!mem_grow((void**)&solver->x, &solver->x_capacity, count, sizeof(vec3)))
    {
        return WEFT_NO_MEMORY;
    }
    memcpy(solver->x, x, (size_t)count * sizeof(vec3));
    weft_status status = solver_object_solve(&solver->object, &view, solver->x, stats);
    memcpy(x, solver->x, (size_t)count * sizeof(vec3));
    return status;
}

weft_status weft_solver_aggregates(const weft_solver* solver, int level, int* aggregate, int* count)
{
    WEFT_ASSERT(solver && aggregate && count);
    const solver_object* object = &solver->object;
    *count = object->solver->aggregates && object->analyzed
                 ? object->solver->aggregates(object->state, level, aggregate)
                 : -1;
    return *count >= 0 ? renumbering_restore(&solver->order, aggregate) : WEFT_NOT_FOUND;
}

weft_status weft_solver_components(const weft_solver* solver, int* component, int* count)
{
    WEFT_ASSERT(solver && component && count);
    const solver_object* object = &solver->object;
    bool there = object->solver->components && object->analyzed;
    *count = there ? object->solver->components(object->state, component) : 0;
    return there ? renumbering_restore(&solver->order, component) : WEFT_NOT_FOUND;
}

void weft_solver_drop(weft_solver* solver)
{
    WEFT_ASSERT(solver);
    solver_object_drop(&solver->object);
}

void weft_solver_destroy(weft_solver* solver)
{
    if (!solver)
    {
        return;
    }
    solver_object_finish(&solver->object);
    workers_destroy(solver->pool);
    mem_free(solver->preconditioner);
    mem_free(solver->variant);
    solver_memory_finish(&solver->last);
    renumbering_finish(&solver->order);
    mem_free(solver->x);
    mem_free(solver);
}
