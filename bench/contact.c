// weft bench contact: what contact costs.
//
//   solve:  drop-vertical at 40,401 vertices with sa-ppcg: contact a step beside setup and solve of the same steps;
//   sphere: CPU a step for all of contact, drape of 81 x 81 vertices over the scene sphere, one thread, from the start;
//   body:   the same over a sphere of 50,000 triangles that moves and turns;
//   factor: setup and solve with diag-pcg over those with sa-ppcg in drop-vertical, from the same folded sheets;
//   growth: contact a step and a vertex over log n in drop-vertical, relative to the first size.
//
// Contact is the stages detect, constrain and respond. The sheets of drop-vertical start folded: a coarse sheet falls
// until --from, and its surface, which does not cross itself, is cut into finer triangles. So all sizes have one shape,
// and minutes of falling are saved; --coarse 200 lets the sheet of 40,401 vertices fall by itself. Some
// steps are left out before the first that counts.
// Options: --parts LIST (solve,sphere,body,factor,growth; without it all but `factor`), --cells N (200, of `solve`),
// --sizes LIST (100,200,400,600, of `growth` and `factor`),
// --coarse N (100), --from FRAME (15), --steps N (10, of `solve` and `growth`; a tenth from 400 cells, at least 2),
// --sphere-cells N (80),
// --sphere-frames N (25), --warm-up N (2 steps that do not count), --threads N (2, not of `sphere` and `body`).
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "bench/bench.h"
#include "bench/contact_run.h"

enum
{
    SIZES_MAX = 16,
    LARGE = 400 // cells
};

typedef struct settings
{
    const char* parts;
    const char* solver; // of drop-vertical
    int cells, sizes[SIZES_MAX], size_count, coarse, from, steps, sphere_cells, sphere_frames, threads, warm_up;
    bool json;
} settings;

// ---- a folded sheet

// The state of a square grid, cut finer.
typedef struct sheet
{
    int cells;
    vec3 *x, *v; // [(cells + 1)^2] row by row
} sheet;

static weft_status sheet_make(int cells, sheet* out)
{
    size_t n = (size_t)(cells + 1) * (size_t)(cells + 1);
    *out = (sheet){cells, MEM_NEW(n, vec3), MEM_NEW(n, vec3)};
    return out->x && out->v ? WEFT_OK : WEFT_NO_MEMORY;
}

static void sheet_finish(sheet* s)
{
    mem_free(s->x);
    mem_free(s->v);
    *s = (sheet){0};
}

static weft_sim* drop(const settings* s, int cells)
{
    char text[32];
    snprintf(text, sizeof(text), "cells=%d", cells);
    const char* const overrides[] = {text, s->solver};
    return bench_sim("drop-vertical", overrides, 2, s->threads);
}

static weft_status fall(const settings* s, sheet* out, int* steps)
{
    weft_sim* sim = drop(s, s->coarse);
    *steps = 20 * s->from;
    weft_status status = sim ? sheet_make(s->coarse, out) : WEFT_BAD_INPUT;
    for (int k = 0; k < *steps && status == WEFT_OK; k++)
    {
        status = weft_sim_step(sim, NULL, NULL);
    }
    if (status == WEFT_OK)
    {
        weft_sim_positions(sim, 0, out->x);
        weft_sim_velocities(sim, 0, out->v);
    }
    weft_sim_destroy(sim);
    return status;
}

// Linear in the triangle that holds (s, t) of the cell with corners a (0, 0), b (1, 0), c (1, 1), d (0, 1), which is
// split from a to c.
static vec3 in_cell(const vec3* grid, int stride, double s, double t)
{
    vec3 a = grid[0], b = grid[1], c = grid[stride + 1], d = grid[stride];
    vec3 corner = s >= t ? b : d;
    double along = s >= t ? s - t : t - s, far = s >= t ? t : s;
    return v3_madd(v3_madd(a, along, v3_sub(corner, a)), far, v3_sub(c, a));
}

static weft_status sheet_cut(const sheet* coarse, int cells, sheet* out)
{
    TRY(sheet_make(cells, out));
    int stride = coarse->cells + 1;
    for (int k = 0; k < (cells + 1) * (cells + 1); k++)
    {
        double u = (double)(k % (cells + 1)) * coarse->cells / cells,
               v = (double)(k / (cells + 1)) * coarse->cells / cells;
        int i = int_min((int)u, coarse->cells - 1), j = int_min((int)v, coarse->cells - 1);
        out->x[k] = in_cell(coarse->x + j * stride + i, stride, u - i, v - j);
        out->v[k] = in_cell(coarse->v + j * stride + i, stride, u - i, v - j);
    }
    return WEFT_OK;
}

static weft_status folded_sim(const settings* s, const sheet* coarse, int steps, int cells, weft_sim** out)
{
    sheet fine = {0};
    weft_status status = sheet_cut(coarse, cells, &fine);
    *out = status == WEFT_OK ? drop(s, cells) : NULL;
    status = status == WEFT_OK && !*out ? WEFT_BAD_INPUT : status;
    status = status == WEFT_OK ? weft_sim_set_state(*out, 0, fine.x, fine.v) : status;
    status = status == WEFT_OK ? weft_sim_set_step_count(*out, steps) : status;
    sheet_finish(&fine);
    return status;
}

// ---- measuring

typedef struct times
{
    int vertices, steps;
    double contact, solve, step; // s, means
    double contacts;             // mean
    double iterations, solves;   // mean
    int64_t last_resort;
} times;

static weft_status measure(const settings* s, const sheet* coarse, int fallen, int cells, times* out)
{
    weft_sim* sim = NULL;
    weft_error error = {0};
    weft_status status = folded_sim(s, coarse, fallen, cells, &sim);
    int count = cells < LARGE ? s->steps : int_max(s->steps / 10, 2);
    *out = (times){.steps = count};
    for (int k = 0; k < s->warm_up + count && status == WEFT_OK; k++)
    {
        weft_step_stats stats;
        status = weft_sim_step(sim, &stats, &error);
        if (status == WEFT_OK && k >= s->warm_up)
        {
            out->contact += contact_seconds(&stats) / count;
            out->solve += (stats.setup_s + stats.solve_s) / count;
            out->step += stats.step_s / count;
            out->contacts += (double)stats.contacts / count;
            out->iterations += (double)stats.iterations / count;
            out->solves += (double)stats.solves / count;
            out->last_resort += stats.last_resort;
        }
    }
    if (status != WEFT_OK && error.message[0])
    {
        fprintf(stderr, "weft bench contact: %s\n", error.message);
    }
    out->vertices = status == WEFT_OK ? sim->model.vertex_count : 0;
    weft_sim_destroy(sim);
    return status;
}

static weft_status run_solve(const settings* s, const sheet* coarse, int fallen)
{
    times t;
    TRY(measure(s, coarse, fallen, s->cells, &t));
    if (s->json)
    {
        printf(",\n\"solve\":{\"vertices\":%d,\"steps\":%d,\"contact_s\":%.5g,\"solve_s\":%.5g,\"step_s\":%.5g,"
               "\"ratio\":%.4g,"
               "\"contacts\":%.6g,\"solves\":%.4g,\"iterations\":%.5g}",
               t.vertices, t.steps, t.contact, t.solve, t.step, t.contact / t.solve, t.contacts, t.solves,
               t.iterations);
        return WEFT_OK;
    }
    printf("drop-vertical, %d vertices, %d steps from frame %d: contact %.1f ms a step, sa-ppcg %.1f ms, ratio %.2f; "
           "%.0f contacts, %.2f solves and %.0f iterations a step\n",
           t.vertices, t.steps, s->from, 1e3 * t.contact, 1e3 * t.solve, t.contact / t.solve, t.contacts, t.solves,
           t.iterations);
    fflush(stdout);
    return WEFT_OK;
}

static weft_status run_growth(const settings* s, const sheet* coarse, int fallen)
{
    double first = 0.0;
    printf("%s", s->json ? ",\n\"growth\":["
                         : "growth in drop-vertical\nvertices  contact ms a step  us a vertex  over n log n  contacts "
                           "a vertex  solve ms\n");
    for (int k = 0; k < s->size_count; k++)
    {
        times t;
        TRY(measure(s, coarse, fallen, s->sizes[k], &t));
        double cost = t.contact / (t.vertices * log(t.vertices));
        first = k == 0 ? cost : first;
        if (s->json)
        {
            printf("%s{\"vertices\":%d,\"steps\":%d,\"contact_s\":%.5g,\"growth\":%.4g,\"contacts\":%.6g,\"solve_s\":%."
                   "5g}",
                   k > 0 ? ",\n" : "", t.vertices, t.steps, t.contact, cost / first, t.contacts, t.solve);
        }
        else
        {
            printf("%8d %18.1f %12.2f %13.2f %18.3f %9.1f\n", t.vertices, 1e3 * t.contact, 1e6 * t.contact / t.vertices,
                   cost / first, t.contacts / t.vertices, 1e3 * t.solve);
            fflush(stdout);
        }
    }
    printf("%s", s->json ? "]" : "");
    return WEFT_OK;
}

static weft_status run_factor(const settings* s, const sheet* coarse, int fallen)
{
    printf("%s", s->json
                     ? ",\n\"factor\":["
                     : "drop-vertical, diag-pcg over sa-ppcg\nvertices  diag-pcg ms a step (iterations)  sa-ppcg ms a "
                       "step (iterations)  factor\n");
    for (int k = 0; k < s->size_count; k++)
    {
        settings other = *s;
        times t[2];
        TRY(measure(s, coarse, fallen, s->sizes[k], &t[1]));
        other.solver = "solver.name=diag-pcg";
        TRY(measure(&other, coarse, fallen, s->sizes[k], &t[0]));
        printf(s->json ? "%s{\"vertices\":%d,\"diag_s\":%.5g,\"diag_iterations\":%.5g,\"sa_s\":%.5g,"
                         "\"sa_iterations\":%.5g,\"factor\":%.4g}"
                       : "%s%8d %19.1f (%.1f) %26.1f (%.1f) %12.2f\n",
               s->json && k > 0 ? ",\n" : "", t[0].vertices, (s->json ? 1.0 : 1e3) * t[0].solve, t[0].iterations,
               (s->json ? 1.0 : 1e3) * t[1].solve, t[1].iterations, t[0].solve / t[1].solve);
        fflush(stdout);
    }
    printf("%s", s->json ? "]" : "");
    return WEFT_OK;
}

// CPU of the process from step to step. On a busy machine stages take longer on the clock than of CPU: contact gets its
// share of the step's clock out of the step's CPU.
typedef struct cpu_watch
{
    double last;           // s of CPU at the end of the last step; 0: there was none
    double contact, whole; // s of CPU
    double largest;        // s, of contact in a step
    int steps;
} cpu_watch;

static void watch_step(void* context, const weft_step_stats* stats)
{
    cpu_watch* w = context;
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    double now = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec, spent = now - w->last;
    if (w->last > 0.0)
    {
        double contact = spent * contact_seconds(stats) / stats->step_s;
        w->contact += contact;
        w->whole += spent;
        w->largest = fmax(w->largest, contact);
        w->steps++;
    }
    w->last = now;
}

static weft_status run_sphere(const settings* s, const char* part)
{
    static const char* const large[] = {"obstacles.0.shape.sphere.segments=50",
                                        "obstacles.0.motion={\"path\": [{\"time\": 0}, {\"time\": 1, \"offset\": [0.1, "
                                        "0.05, 0], \"angle\": 40}], \"axis\": [0, 1, 0]}"};
    contact_case c = {.scene = "sphere",
                      .cells = s->sphere_cells,
                      .frames = s->sphere_frames,
                      .friction = -1.0,
                      .sets = large,
                      .set_count = strcmp(part, "body") == 0 ? 2 : 0,
                      .threads = 1};
    contact_totals t;
    cpu_watch w = {0};
    TRY(contact_run(&c, watch_step, &w, &t));
    if (!t.completed)
    {
        fprintf(stderr, "weft bench contact: %s\n", t.message);
        return WEFT_NOT_CONVERGED;
    }
    double contact = 1e3 * w.contact / w.steps, whole = 1e3 * w.whole / w.steps;
    if (s->json)
    {
        printf(",\n\"%s\":{\"vertices\":%d,\"steps\":%d,\"contact_ms\":%.5g,\"largest_ms\":%.5g,\"step_ms\":%.5g,"
               "\"max_stretch\":%.5g}",
               part, t.vertices, w.steps, contact, 1e3 * w.largest, whole, t.max_stretch);
        return WEFT_OK;
    }
    printf("%s, %d vertices, %d steps from the second on, 1 thread, CPU: contact %.2f ms a step (at most %.1f), "
           "the whole "
           "step %.1f ms\n",
           part, t.vertices, w.steps, contact, 1e3 * w.largest, whole);
    fflush(stdout);
    return WEFT_OK;
}

// ---- the command

static void check_sizes(int argc, char** argv, const settings* s)
{
    for (int k = -1; k < s->size_count; k++)
    {
        int cells = k < 0 ? s->cells : s->sizes[k];
        if (cells < s->coarse || cells % s->coarse != 0 || cells > 2000)
        {
            bench_refuse(
                argc, argv,
                "%d cells: sheets are cut from one of %d, so give its multiples, up to 2000, or another --coarse",
                cells, s->coarse);
        }
    }
}

static void read_options(int argc, char** argv, settings* s)
{
    static const char parts[] = "solve,sphere,body,growth", all[] = "solve,sphere,body,factor,growth";
    bench_known(
        argc, argv,
        "--parts= --cells= --sizes= --coarse= --from= --steps= --sphere-cells= --sphere-frames= --threads= --warm-up=");
    s->parts = bench_words(argc, argv, "--parts", parts, all);
    s->cells = bench_count(argc, argv, "--cells", 200);
    s->size_count = bench_numbers(argc, argv, "--sizes", "100,200,400,600", s->sizes, SIZES_MAX);
    s->coarse = bench_count(argc, argv, "--coarse", 100);
    s->from = bench_option(argc, argv, "--from", 15);
    s->steps = bench_count(argc, argv, "--steps", 10);
    s->sphere_cells = bench_count(argc, argv, "--sphere-cells", 80);
    s->sphere_frames = bench_count(argc, argv, "--sphere-frames", 25);
    s->threads = bench_count(argc, argv, "--threads", 2);
    s->warm_up = bench_option(argc, argv, "--warm-up", 2);
    s->size_count = bench_has(s->parts, "growth") || bench_has(s->parts, "factor") ? s->size_count : 0;
    s->cells = bench_has(s->parts, "solve") ? s->cells : s->coarse;
    check_sizes(argc, argv, s);
}

static weft_status run_parts(const settings* s)
{
    sheet coarse = {0};
    int fallen = 0;
    bool folds = bench_has(s->parts, "solve") || bench_has(s->parts, "growth") || bench_has(s->parts, "factor");
    weft_status status = bench_has(s->parts, "sphere") ? run_sphere(s, "sphere") : WEFT_OK;
    status = status == WEFT_OK && bench_has(s->parts, "body") ? run_sphere(s, "body") : status;
    status = status == WEFT_OK && folds ? fall(s, &coarse, &fallen) : status;
    status = status == WEFT_OK && bench_has(s->parts, "solve") ? run_solve(s, &coarse, fallen) : status;
    status = status == WEFT_OK && bench_has(s->parts, "factor") ? run_factor(s, &coarse, fallen) : status;
    status = status == WEFT_OK && bench_has(s->parts, "growth") ? run_growth(s, &coarse, fallen) : status;
    sheet_finish(&coarse);
    return status;
}

static int run(int argc, char** argv, bool json)
{
    settings s = {.json = json, .solver = "solver.name=sa-ppcg"};
    read_options(argc, argv, &s);
    if (json)
    {
        printf("{\"benchmark\":\"contact\",\"threads\":%d,\"coarse\":%d,\"from\":%d", s.threads, s.coarse, s.from);
    }
    weft_status status = run_parts(&s);
    printf("%s", json ? "}\n" : "");
    return status == WEFT_OK ? 0 : bench_failed("contact", status);
}

const benchmark bench_contact = {"contact", "what contact costs: beside the solve, on a sphere, as sheets grow", run};
