// weft bench wrinkled: sa-ppcg on systems of folded cloth, as it is, with the Chebyshev smoother on the finest level
// (what it was before folds were looked at), and against cholesky. Each system comes with that of the step before, so
// that what solvers keep acts: `cold` is the first solve, `again` the one after it, setup included in both. Times are
// processor time, the best of the rounds, so that other processes disturb them less. Can be killed and called again:
// finished systems are in the log; scenes of which one is missing are simulated again. Options: --cells N (100: some
// 10,000 vertices a scene), --scenes LIST, --time-steps LIST in ms (5,2), --threads N (1), --rounds N (2), --set
// PATH=VALUE (of the scenes), those of results.h.
#include <math.h>
#include <string.h>
#include <time.h>

#include "bench/bench.h"
#include "bench/common.h"
#include "bench/results.h"
#include "weft/solver.h"

enum
{
    MOMENTS = 3,
    VARIANTS = 3,
    SETS_MAX = 16,
    TEXT = 256
};

// Scenes that fold: cells for as many vertices as a square sheet of 100 cells has, and seconds, early to late.
typedef struct folded_scene
{
    const char* name;
    double cells; // a hundredth of
    double moment[MOMENTS];
} folded_scene;

static const folded_scene scenes[] = {
    {"twist", 1.8, {1.0, 1.5, 2.5}},  {"sphere", 1.0, {0.5, 0.75, 1.5}}, {"drop-vertical", 1.0, {0.3, 0.6, 1.0}},
    {"stack", 0.45, {0.3, 0.6, 1.0}}, {"ring", 1.0, {0.75, 1.25, 2.0}},  {"skirt", 1.5, {0.75, 1.25, 2.0}},
};

enum
{
    SCENES = sizeof(scenes) / sizeof(scenes[0])
};

static const char all_scenes[] = "twist,sphere,drop-vertical,stack,ring,skirt";

typedef struct variant
{
    const char *name, *solver;
    int smoother;
} variant;

static const variant variants[VARIANTS] = {
    {"now", "sa-ppcg", 0}, {"before", "sa-ppcg", 1}, {"cholesky", "cholesky", 0}};

typedef struct wrinkled
{
    results log;
    int cells, threads, rounds;
    int time_steps[2], time_step_count; // ms
    const char* names;
    const char* sets[SETS_MAX];
    int set_count;
} wrinkled;

// One system: a scene at a moment.
typedef struct folded_case
{
    const folded_scene* scene;
    int time_step, step;
} folded_case;

static folded_case case_of(int scene, int time_step, int moment)
{
    return (folded_case){&scenes[scene], time_step, (int)lround(1000.0 * scenes[scene].moment[moment] / time_step)};
}

static void case_key(const wrinkled* w, const folded_case* c, int v, char out[2 * TEXT])
{
    int at = snprintf(out, 2 * TEXT, "%s cells=%d h=%d step=%d threads=%d", c->scene->name, w->cells, c->time_step,
                      c->step, w->threads);
    for (int k = 0; k < w->set_count && at < TEXT; k++)
    {
        at += snprintf(out + at, (size_t)(2 * TEXT - at), " %s", w->sets[k]);
    }
    snprintf(out + at, (size_t)(2 * TEXT - at), " | %s", variants[v].name);
}

static const char* line_of(const wrinkled* w, const folded_case* c, int v)
{
    char key[2 * TEXT];
    case_key(w, c, v, key);
    return results_find(&w->log, key);
}

// ---- measuring

static double processor_seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

static weft_status timed_solve(weft_solver* solver, const weft_system* system, weft_vec3* x, weft_solve_stats* stats,
                               double* best)
{
    double start = processor_seconds();
    weft_status status = weft_solver_solve(solver, system, x, stats);
    *best = fmin(*best, processor_seconds() - start);
    return status;
}

static weft_status measure(wrinkled* w, const folded_case* c, int v, weft_system* const pair[2])
{
    weft_solver_def def = weft_solver_def_default();
    def.solver = variants[v].solver;
    def.sa.smoother = variants[v].smoother;
    def.worker_count = w->threads;
    int count = weft_system_vertex_count(pair[1]);
    weft_vec3* x = MEM_NEW(count, weft_vec3);
    weft_status status = x ? WEFT_OK : WEFT_NO_MEMORY;
    double cold = INFINITY, again = INFINITY;
    weft_solve_stats stats = {0};
    for (int round = 0; round < w->rounds && status == WEFT_OK; round++)
    {
        weft_solver* solver = NULL;
        status = weft_solver_create(&def, &solver, NULL);
        status = status == WEFT_OK ? timed_solve(solver, pair[0], x, &stats, &cold) : status;
        status = status == WEFT_OK ? timed_solve(solver, pair[1], x, &stats, &again) : status;
        weft_solver_destroy(solver);
    }
    mem_free(x);
    if (status != WEFT_OK)
    {
        return status;
    }
    char key[2 * TEXT], complexity[32];
    case_key(w, c, v, key);
    results_json(stats.operator_complexity, complexity);
    return results_add(&w->log, key,
                       "\"vertices\":%d,\"cold_s\":%.6g,\"again_s\":%.6g,\"iterations\":%d,\"complexity\":%s,"
                       "\"refreshed\":%d,\"escalations\":%d",
                       count, cold, again, stats.iterations, complexity, stats.refreshed, stats.escalations);
}

// ---- simulating

static bool is_measured(const wrinkled* w, const folded_case* c)
{
    return line_of(w, c, 0) && line_of(w, c, 1) && line_of(w, c, 2);
}

static weft_sim* new_sim(const wrinkled* w, int scene, int time_step)
{
    char text[8][TEXT];
    const char* overrides[SETS_MAX + 8];
    int cells = (int)lround(scenes[scene].cells * w->cells), count = 0;
    snprintf(text[count], TEXT, "cells=%d", cells);
    overrides[count] = text[count];
    count++;
    snprintf(text[count], TEXT, "time_step=%g", 0.001 * time_step);
    overrides[count] = text[count];
    count++;
    for (int sheet = 1; sheet < 5 && strcmp(scenes[scene].name, "stack") == 0; sheet++, count++)
    {
        snprintf(text[count], TEXT, "cloth.%d.mesh.grid.cells=%d", sheet, cells);
        overrides[count] = text[count];
    }
    for (int k = 0; k < w->set_count; k++)
    {
        overrides[count++] = w->sets[k];
    }
    return bench_sim(scenes[scene].name, overrides, count, w->threads);
}

// The systems of a step and of the one before it.
static weft_status take_pair(weft_sim* sim, int step, weft_system* pair[2])
{
    weft_error error = {0};
    weft_status status = WEFT_OK;
    for (int k = 0; k < 2 && status == WEFT_OK; k++)
    {
        while (status == WEFT_OK && weft_sim_step_count(sim) < step - 2 + k)
        {
            status = weft_sim_step(sim, NULL, &error);
        }
        status = status == WEFT_OK ? weft_sim_system(sim, &pair[k], &error) : status;
    }
    if (status != WEFT_OK)
    {
        fprintf(stderr, "weft bench: %s\n", error.message);
    }
    return status;
}

static weft_status run_scene(wrinkled* w, int scene, int time_step)
{
    weft_sim* sim = NULL;
    weft_status status = WEFT_OK;
    for (int moment = 0; moment < MOMENTS && status == WEFT_OK; moment++)
    {
        folded_case c = case_of(scene, time_step, moment);
        if (is_measured(w, &c))
        {
            continue;
        }
        sim = sim ? sim : new_sim(w, scene, time_step);
        weft_system* pair[2] = {0};
        status = sim ? take_pair(sim, c.step, pair) : WEFT_BAD_INPUT;
        for (int v = 0; v < VARIANTS && status == WEFT_OK; v++)
        {
            status = measure(w, &c, v, pair);
        }
        weft_system_destroy(pair[0]);
        weft_system_destroy(pair[1]);
    }
    weft_sim_destroy(sim);
    return status;
}

// ---- the table

typedef struct summary
{
    int count;
    double iterations, most_iterations, complexity, ratio, worst;
} summary;

static void add_case(const wrinkled* w, const folded_case* c, bool json, summary* s)
{
    const char *now = line_of(w, c, 0), *before = line_of(w, c, 1), *direct = line_of(w, c, 2);
    double seconds = results_number(now, "again_s"), iterations = results_number(now, "iterations");
    double to_before = seconds / results_number(before, "again_s");
    double to_direct = seconds / results_number(direct, "again_s");
    double ratio = fmax(to_before, to_direct);
    printf(
        json ? "%s{\"scene\":\"%s\",\"time_step_ms\":%d,\"step\":%d,\"vertices\":%.0f,\"cold_s\":%.6g,\"again_s\":%.6g,"
               "\"iterations\":%.0f,\"iterations_before\":%.0f,\"complexity\":%.3f,\"to_before\":%.3f,"
               "\"to_cholesky\":%.3f}"
             : "%s%-14s %d ms %5d %7.0f %8.4f %8.4f %5.0f %5.0f %6.2f %6.2f %6.2f\n",
        json && s->count > 0 ? ",\n" : "", c->scene->name, c->time_step, c->step, results_number(now, "vertices"),
        results_number(now, "cold_s"), seconds, iterations, results_number(before, "iterations"),
        results_number(now, "complexity"), to_before, to_direct);
    s->count++;
    s->iterations += iterations;
    s->most_iterations = fmax(s->most_iterations, iterations);
    s->complexity = fmax(s->complexity, results_number(now, "complexity"));
    s->ratio += ratio;
    s->worst = fmax(s->worst, ratio);
}

static void print_table(const wrinkled* w, bool json)
{
    summary s = {0};
    printf(json ? "{\"benchmark\":\"wrinkled\",\"threads\":%d,\"systems\":[\n"
                : "wrinkled: %d thread(s), processor seconds, setup and solve; cold, and again a step later\n",
           w->threads);
    json ? 0
         : printf("%-14s %4s %5s %7s %8s %8s %5s %5s %6s %6s %6s\n", "scene", "h", "step", "verts", "cold", "again",
                  "it", "was", "cplx", "/was", "/chol");
    for (int scene = 0; scene < SCENES; scene++)
    {
        for (int k = 0; k < w->time_step_count * MOMENTS && bench_has(w->names, scenes[scene].name); k++)
        {
            folded_case c = case_of(scene, w->time_steps[k / MOMENTS], k % MOMENTS);
            add_case(w, &c, json, &s);
        }
    }
    double count = fmax(1.0, (double)s.count);
    printf(json
               ? "],\n\"iterations\":%.2f,\"most_iterations\":%.0f,\"complexity\":%.3f,\"ratio\":%.3f,\"worst\":%.3f}\n"
               : "iterations: mean %.1f, most %.0f; complexity at most %.2f; time over the better of what it was and "
                 "cholesky: mean %.2f, worst %.2f\n",
           s.iterations / count, s.most_iterations, s.complexity, s.ratio / count, s.worst);
}

static int run(int argc, char** argv, bool json)
{
    bench_known(argc, argv, "--cells= --scenes= --time-steps= --threads= --rounds= --set= --log= --fresh");
    wrinkled w = {.cells = bench_count(argc, argv, "--cells", 100),
                  .threads = bench_count(argc, argv, "--threads", 1),
                  .rounds = bench_count(argc, argv, "--rounds", 2),
                  .names = bench_words(argc, argv, "--scenes", all_scenes, all_scenes)};
    w.time_step_count = bench_numbers(argc, argv, "--time-steps", "5,2", w.time_steps, 2);
    w.set_count = bench_texts(argc, argv, "--set", w.sets, SETS_MAX);
    weft_status status = results_open(&w.log, "wrinkled", argc, argv);
    for (int k = 0; k < SCENES * w.time_step_count && status == WEFT_OK; k++)
    {
        int scene = k / w.time_step_count;
        status = bench_has(w.names, scenes[scene].name) ? run_scene(&w, scene, w.time_steps[k % w.time_step_count])
                                                        : WEFT_OK;
    }
    if (status == WEFT_OK)
    {
        print_table(&w, json);
    }
    results_close(&w.log);
    return status == WEFT_OK ? 0 : bench_failed("wrinkled", status);
}

const benchmark bench_wrinkled = {"wrinkled", "sa-ppcg on folded cloth, against what it was and cholesky", run};
