// weft bench wrinkled: sa-ppcg on systems of folded cloth, as it is, with the Chebyshev smoother on the finest level
// (what it was before folds were looked at), and against cholesky. Each system comes with that of the step before, so
// that what solvers keep acts: `cold` is the first solve, `again` the one after it, setup included in both. Times are
// processor time, the best of the rounds, so that other processes disturb them less. Can be killed and called again:
// finished systems are in the log; scenes of which one is missing are simulated again. Options: --cells N (100: some
// 10,000 vertices a scene, 15,000 a garment), --scenes LIST, --garments FOLDER (of tshirt1900.obj and
// dress-v5k-f10k.obj: two scenes more; refined, they are written beside the log), --bendings LIST
// (curvature,hinge), --time-steps LIST in ms (5,2), --threads N (1), --rounds N (2), --set PATH=VALUE (of the scenes),
// --write (write the scenes of the garments that are asked for, and measure nothing), those of results.h.
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

#include "bench/bench.h"
#include "bench/common.h"
#include "bench/garment.h"
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
    int cloths;
    const char* file; // of a garment, and how high it is, m; else NULL
    double height;
} folded_scene;

static const folded_scene scenes[] = {
    {"twist", 1.8, {1.0, 1.5, 2.5}, 1, NULL, 0.0},
    {"sphere", 1.0, {0.5, 0.75, 1.5}, 1, NULL, 0.0},
    {"drop-vertical", 1.0, {0.3, 0.6, 1.0}, 1, NULL, 0.0},
    {"stack", 0.45, {0.3, 0.6, 1.0}, 5, NULL, 0.0},
    {"ring", 1.0, {0.75, 1.25, 2.0}, 1, NULL, 0.0},
    {"skirt", 1.5, {0.75, 1.25, 2.0}, 1, NULL, 0.0},
    {"tshirt", 1.5, {0.3, 0.7, 1.2}, 1, "tshirt1900.obj", 0.7},
    {"dress", 1.5, {0.3, 0.7, 1.2}, 1, "dress-v5k-f10k.obj", 1.1},
};

enum
{
    SCENES = sizeof(scenes) / sizeof(scenes[0])
};

static const char shipped[] = "twist,sphere,drop-vertical,stack,ring,skirt";
static const char all_scenes[] = "twist,sphere,drop-vertical,stack,ring,skirt,tshirt,dress";
static const char* const bendings[] = {"curvature", "hinge"};

enum
{
    BENDINGS = sizeof(bendings) / sizeof(bendings[0])
};

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
    const char *names, *bendings, *garments;
    const char* sets[SETS_MAX];
    int set_count;
} wrinkled;

// One system: a scene at a moment.
typedef struct folded_case
{
    const folded_scene* scene;
    int bending, time_step, step;
} folded_case;

static folded_case case_of(int scene, int bending, int time_step, int moment)
{
    int step = (int)lround(1000.0 * scenes[scene].moment[moment] / time_step);
    return (folded_case){&scenes[scene], bending, time_step, step};
}

static void case_key(const wrinkled* w, const folded_case* c, int v, char out[2 * TEXT])
{
    int at = snprintf(out, 2 * TEXT, "%s %s cells=%d h=%d step=%d threads=%d", c->scene->name, bendings[c->bending],
                      w->cells, c->time_step, c->step, w->threads);
    for (int k = 0; k < w->set_count && at < TEXT; k++)
    {
        at += snprintf(out + at, (size_t)(2 * TEXT - at), " %s", w->sets[k]);
    }
    snprintf(out + at, (size_t)(2 * TEXT - at), " | %s", variants[v].name);
}

static bool is_asked(const wrinkled* w, int scene, int bending)
{
    return bench_has(w->names, scenes[scene].name) && bench_has(w->bendings, bendings[bending]);
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

// Overrides of a scene, each with room for its text.
typedef struct override_list
{
    char text[8][TEXT];
    const char* item[SETS_MAX + 8];
    int count;
} override_list;

static void add_override(override_list* list, const char* format, ...) __attribute__((format(printf, 2, 3)));

static void add_override(override_list* list, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(list->text[list->count], TEXT, format, arguments);
    va_end(arguments);
    list->item[list->count] = list->text[list->count];
    list->count++;
}

// The scene file of a garment, written beside the log; NULL when that failed.
static const char* garment_scene(const wrinkled* w, const folded_scene* scene, char base[2 * TEXT])
{
    char file[2 * TEXT];
    snprintf(file, sizeof(file), "%s/%s", w->garments, scene->file);
    const char* slash = strrchr(w->log.path, '/');
    int folder = slash ? (int)(slash - w->log.path) + 1 : 0;
    snprintf(base, 2 * TEXT, "%.*s%s-%d", folder, w->log.path, scene->name, w->cells);
    if (garment_write(file, base, scene->height, (int)(scene->cells * w->cells * w->cells)) != WEFT_OK)
    {
        return NULL;
    }
    strncat(base, ".json", 2 * TEXT - strlen(base) - 1);
    return base;
}

static weft_sim* new_sim(const wrinkled* w, const folded_scene* scene, int bending, int time_step)
{
    char path[2 * TEXT];
    override_list list = {0};
    int cells = (int)lround(scene->cells * w->cells);
    add_override(&list, "time_step=%g", 0.001 * time_step);
    scene->file ? (void)0 : add_override(&list, "cells=%d", cells);
    add_override(&list, "model.bending=%s", bendings[bending]);
    for (int sheet = 1; sheet < scene->cloths; sheet++)
    {
        add_override(&list, "cloth.%d.mesh.grid.cells=%d", sheet, cells);
    }
    for (int k = 0; k < w->set_count; k++)
    {
        list.item[list.count++] = w->sets[k];
    }
    const char* name = scene->file ? garment_scene(w, scene, path) : scene->name;
    return name ? bench_sim(name, list.item, list.count, w->threads) : NULL;
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

static weft_status run_scene(wrinkled* w, int scene, int bending, int time_step)
{
    weft_sim* sim = NULL;
    weft_status status = WEFT_OK;
    for (int moment = 0; moment < MOMENTS && status == WEFT_OK; moment++)
    {
        folded_case c = case_of(scene, bending, time_step, moment);
        if (is_measured(w, &c))
        {
            continue;
        }
        sim = sim ? sim : new_sim(w, &scenes[scene], bending, time_step);
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
    printf(json ? "%s{\"scene\":\"%s\",\"bending\":\"%s\",\"time_step_ms\":%d,\"step\":%d,\"vertices\":%.0f,\"cold_s\":"
                  "%.6g,\"again_s\":%.6g,"
                  "\"iterations\":%.0f,\"iterations_before\":%.0f,\"complexity\":%.3f,\"to_before\":%.3f,"
                  "\"to_cholesky\":%.3f}"
                : "%s%-14s %-9s %d ms %5d %7.0f %8.4f %8.4f %5.0f %5.0f %6.2f %6.2f %6.2f\n",
           json && s->count > 0 ? ",\n" : "", c->scene->name, bendings[c->bending], c->time_step, c->step,
           results_number(now, "vertices"), results_number(now, "cold_s"), seconds, iterations,
           results_number(before, "iterations"), results_number(now, "complexity"), to_before, to_direct);
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
         : printf("%-14s %-9s %4s %5s %7s %8s %8s %5s %5s %6s %6s %6s\n", "scene", "bending", "h", "step", "verts",
                  "cold", "again", "it", "was", "cplx", "/was", "/chol");
    for (int k = 0; k < SCENES * BENDINGS; k++)
    {
        int scene = k / BENDINGS, bending = k % BENDINGS;
        for (int q = 0; q < w->time_step_count * MOMENTS && is_asked(w, scene, bending); q++)
        {
            folded_case c = case_of(scene, bending, w->time_steps[q / MOMENTS], q % MOMENTS);
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

static weft_status write_garments(const wrinkled* w)
{
    weft_status status = WEFT_OK;
    for (int scene = 0; scene < SCENES && status == WEFT_OK; scene++)
    {
        char path[2 * TEXT];
        bool asked = scenes[scene].file && bench_has(w->names, scenes[scene].name);
        status = asked && !garment_scene(w, &scenes[scene], path) ? WEFT_BAD_INPUT : WEFT_OK;
        asked && status == WEFT_OK ? (void)puts(path) : (void)0;
    }
    return status;
}

static weft_status measure_all(wrinkled* w)
{
    weft_status status = WEFT_OK;
    for (int k = 0; k < SCENES * BENDINGS * w->time_step_count && status == WEFT_OK; k++)
    {
        int scene = k / w->time_step_count / BENDINGS, bending = k / w->time_step_count % BENDINGS;
        int time_step = w->time_steps[k % w->time_step_count];
        status = is_asked(w, scene, bending) ? run_scene(w, scene, bending, time_step) : WEFT_OK;
    }
    return status;
}

static int run(int argc, char** argv, bool json)
{
    bench_known(argc, argv,
                "--cells= --scenes= --garments= --bendings= --time-steps= --threads= --rounds= --set= --log= --fresh "
                "--write");
    wrinkled w = {.cells = bench_count(argc, argv, "--cells", 100),
                  .threads = bench_count(argc, argv, "--threads", 1),
                  .rounds = bench_count(argc, argv, "--rounds", 2),
                  .bendings = bench_words(argc, argv, "--bendings", "curvature", "curvature,hinge"),
                  .garments = bench_text(argc, argv, "--garments", NULL)};
    w.names = bench_words(argc, argv, "--scenes", w.garments ? all_scenes : shipped, all_scenes);
    if (!w.garments && (bench_has(w.names, "tshirt") || bench_has(w.names, "dress")))
    {
        bench_refuse(argc, argv, "garments need --garments FOLDER, of %s and %s", scenes[SCENES - 2].file,
                     scenes[SCENES - 1].file);
    }
    w.time_step_count = bench_numbers(argc, argv, "--time-steps", "5,2", w.time_steps, 2);
    w.set_count = bench_texts(argc, argv, "--set", w.sets, SETS_MAX);
    bool write = bench_flag(argc, argv, "--write");
    weft_status status = results_open(&w.log, "wrinkled", argc, argv);
    status = status != WEFT_OK ? status : write ? write_garments(&w) : measure_all(&w);
    if (status == WEFT_OK && !write)
    {
        print_table(&w, json);
    }
    results_close(&w.log);
    return status == WEFT_OK ? 0 : bench_failed("wrinkled", status);
}

const benchmark bench_wrinkled = {"wrinkled", "sa-ppcg on folded cloth, against what it was and cholesky", run};
