// What an animation of table 1 consists of: sampled steps, solvers at each or at a few of them, and two measurements
// beside the timed solves.
//
// triad   the machine's bandwidth, for diag-pcg's byte floor.
// trace   sa-ppcg and diag-pcg once more, untimed and far beyond their own stop, with an observer that notes at which
//         iteration the residual in the solver's own norm, in the 2-norm, and the error in the energy norm first are
//         `tolerance` of the start. The error is taken from a tight solve x*: with r = S (b - A x), and x* - x in the
//         range of S,
//
//             |x* - x|_A^2 = (x* - x) . A (x* - x) = (x* - x) . r.
#include <math.h>
#include <string.h>

#include "bench/sa_table1.h"
#include "solve/system.h"

enum
{
    SAMPLE_COUNT = 20, // steps of a size that is too large for the whole animation
    SAMPLE_FROM = 10,
    TRIAD_PASSES = 8,
    TRIAD_SAMPLES = 10,
    TRACE_LIMIT = 200000 // iterations; with a limit of its own sa-ppcg does not escalate
};

static const double BEYOND = 1e-4; // of the tolerance: how far a traced solve goes
static const double TIGHT = 1e-13; // of the solve that errors are taken from
static const double NOT_REACHED = -1.0;

const char* const table1_names[ENTRANT_COUNT] = {"sa-ppcg", "sa-ppcg cold", "triad",   "diag-pcg", "diag-ppcg",
                                                 "sa-pcg",  "cholesky",     "cholmod", "auto",     "trace"};
const char* const table1_scenes[TABLE1_SCENES] = {"pinned", "drooping", "re-entrant", "plane"};

// ---- triad

static weft_status measure_triad(const sa_entrant* e, const sa_system* s, results* log, const char* key)
{
    (void)s;
    table1* t = e->settings;
    double best = INFINITY;
    if (!t->bandwidth.a)
    {
        TRY(triad_init(&t->bandwidth)); // its pages are touched: not worth it when all is in the log
    }
    for (int k = 0; k < TRIAD_PASSES; k++)
    {
        best = fmin(best, triad_seconds(&t->bandwidth, t->pool));
    }
    return results_add(log, key, "\"bytes_a_second\":%.6g", triad_bytes(&t->bandwidth) / best);
}

// ---- trace

typedef struct watch
{
    int count;
    const vec3* exact;
    double tolerance;
    double start[MEASURE_COUNT];   // squares
    double reached[MEASURE_COUNT]; // iteration
} watch;

static void observe(void* context, int iteration, double delta, const vec3* x, const vec3* r)
{
    watch* w = context;
    double now[MEASURE_COUNT] = {delta, 0.0, 0.0};
    for (int i = 0; i < w->count; i++)
    {
        now[MEASURE_TWO] += v3_dot(r[i], r[i]);
        now[MEASURE_ENERGY] += v3_dot(v3_sub(w->exact[i], x[i]), r[i]);
    }
    for (int k = 0; k < MEASURE_COUNT; k++)
    {
        if (iteration == 0)
        {
            w->start[k] = now[k];
            w->reached[k] = NOT_REACHED;
        }
        else if (w->reached[k] < 0.0 && now[k] <= w->tolerance * w->tolerance * w->start[k])
        {
            w->reached[k] = iteration;
        }
    }
}

static weft_status solve_as(const char* name, const solve_options* options, const weft_system* system, vec3* x)
{
    solver_object object = {0};
    linear_system view = system_view(system, 1);
    weft_status status = solver_object_init(&object, name, options, NULL);
    if (status == WEFT_OK)
    {
        filter_prescribed(&view, x);
        status = solver_object_solve(&object, &view, x, NULL);
    }
    solver_object_finish(&object);
    return status;
}

static weft_status trace(const char* name, solve_options options, const weft_system* system, watch* w, vec3* x)
{
    options.tolerance = BEYOND * w->tolerance;
    options.max_iterations = TRACE_LIMIT;
    options.observe = observe;
    options.observe_context = w;
    weft_status status = solve_as(name, &options, system, x);
    return status == WEFT_NO_MEMORY ? status : WEFT_OK; // how far it got is the result
}

static weft_status log_trace(results* log, const char* key, const watch* sa, const watch* diag)
{
    char t[2][MEASURE_COUNT][32];
    for (int k = 0; k < MEASURE_COUNT; k++)
    {
        results_json(sa->reached[k] > 0.0 ? sa->reached[k] : NAN, t[0][k]);
        results_json(diag->reached[k] > 0.0 ? diag->reached[k] : NAN, t[1][k]);
    }
    return results_add(log, key,
                       "\"sa_own\":%s,\"sa_two\":%s,\"sa_energy\":%s,\"diag_own\":%s,\"diag_two\":%s,"
                       "\"diag_energy\":%s",
                       t[0][0], t[0][1], t[0][2], t[1][0], t[1][1], t[1][2]);
}

static weft_status measure_trace(const sa_entrant* e, const sa_system* s, results* log, const char* key)
{
    const table1* t = e->settings;
    int count = weft_system_vertex_count(s->system);
    vec3 *exact = MEM_NEW(count, vec3), *x = MEM_NEW(count, vec3);
    watch sa = {.count = count, .exact = exact, .tolerance = e->def.tolerance}, diag = sa;
    solve_options options = {.tolerance = TIGHT, .sa = e->def.sa, .pool = t->pool, .cpu = cpu_best()};
    weft_status status = exact && x ? WEFT_OK : WEFT_NO_MEMORY;
    if (status == WEFT_OK)
    {
        weft_status tight = solve_as("sa-ppcg", &options, s->system, exact);
        status = tight == WEFT_NO_MEMORY ? tight : WEFT_OK;
        for (int i = 0; i < count && tight != WEFT_OK; i++)
        {
            exact[i] = (vec3){NAN, NAN, NAN}; // no error is known, and none is reported
        }
    }
    status = status == WEFT_OK ? trace("sa-ppcg", options, s->system, &sa, x) : status;
    status = status == WEFT_OK ? trace("diag-pcg", options, s->system, &diag, x) : status;
    status = status == WEFT_OK ? log_trace(log, key, &sa, &diag) : status;
    mem_free(exact);
    mem_free(x);
    return status;
}

// ---- an animation

static int every(int asked, int cells, int small, int medium, int large)
{
    return asked > 0 ? asked : cells <= 200 ? small : cells <= 400 ? medium : large;
}

static int thinned(int count, int every)
{
    return (count + every - 1) / every;
}

static bool is_asked(const table1* t, const char* solver)
{
    const linear_solver* found;
    return bench_has(t->solvers, solver) && linear_solver_find(solver, &found, NULL) == WEFT_OK;
}

static void add(table1* t, sa_animation* a, table1_entrant which, const char* solver, int samples, sa_memory memory)
{
    sa_entrant* e = &a->entrants[which];
    *e = (sa_entrant){.name = table1_names[which],
                      .def = t->options.def,
                      .samples = is_asked(t, solver) ? int_min(samples, a->count) : 0,
                      .memory = memory,
                      .settings = t};
    e->def.solver = solver;
}

void table1_animation(table1* t, const char* scene, int cells, bool irregular, table1_row* out)
{
    sa_animation* a = &out->a;
    bool plane = strcmp(scene, "plane") == 0;
    a->c = sa_case_make(&t->options, scene, cells, irregular);
    out->whole = t->steps == 0 && cells <= t->full_max;
    a->c.step = out->whole ? 1 : t->from > 0 ? t->from : SAMPLE_FROM;
    a->count = out->whole ? t->scene_steps : t->steps > 0 ? t->steps : SAMPLE_COUNT;
    a->entrant_count = ENTRANT_COUNT;
    int diag = thinned(a->count, every(t->diag_every, cells, 1, 5, 10));
    int direct =
        cells <= t->direct_max ? thinned(a->count, every(t->direct_every, cells, cells <= 100 ? 1 : 5, 10, 10)) : 0;
    add(t, a, ENTRANT_SA, "sa-ppcg", a->count, SA_MEMORY_ALL);
    add(t, a, ENTRANT_COLD, "sa-ppcg", thinned(a->count, every(t->cold_every, cells, 1, 5, 5)), SA_MEMORY_NONE);
    a->entrants[ENTRANT_COLD].cold = true;
    add(t, a, ENTRANT_TRIAD, "diag-pcg", int_min(diag, TRIAD_SAMPLES), SA_MEMORY_NONE);
    a->entrants[ENTRANT_TRIAD].measure = measure_triad;
    add(t, a, ENTRANT_DIAG, "diag-pcg", diag, SA_MEMORY_NONE);
    add(t, a, ENTRANT_DIAG_PPCG, "diag-ppcg", diag, SA_MEMORY_NONE);
    // Without prefiltering: figure 8, where there is more to filter than pins.
    add(t, a, ENTRANT_SA_PCG, "sa-pcg", plane ? diag : 0, SA_MEMORY_NONE);
    add(t, a, ENTRANT_CHOLESKY, "cholesky", direct, SA_MEMORY_ANALYSIS);
    add(t, a, ENTRANT_CHOLMOD, "cholmod", direct, SA_MEMORY_ANALYSIS);
    add(t, a, ENTRANT_AUTO, "auto", a->count, SA_MEMORY_ALL);
    add(t, a, ENTRANT_TRACE, "diag-pcg", cells <= t->trace_max ? t->trace : 0, SA_MEMORY_NONE);
    a->entrants[ENTRANT_TRACE].measure = measure_trace;
    a->entrants[ENTRANT_TRACE].def.solver = "sa-ppcg"; // whose settings the key must name
}
