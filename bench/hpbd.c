// weft bench hpbd: position based dynamics with and without a hierarchy (Mueller 2008, figures 3 and 7), the worst edge
// over the first second and what it costs. Contact is off unless said; times are the fastest step of the run, one
// thread unless --threads says otherwise, and then the processor's time of it: others may be using the machine.
//
//     figure   the canvas of 46 x 126 cells, hung from two corners (and with --edge from its upper edge) in still air:
//              levels by sweeps, as a grid and as an irregular mesh, without and with long-range limits
//     sheets   a level sheet released from two corners, 81 x 81 and 161 x 161 vertices
//     wind     steps a second of the scene canvas: the solver alone, with contact against a post, and with itself
//     hang     elongation over the material's, and
//     banner   the weight that tears cloth over its strength, and
//     holds    whether it holds what is less: hpbd_strength.c
//     tears    what one split vertex costs: hpbd_tears.c
//     against  beside local-global, as iterations grow: hpbd_against.c
//
// Options: --parts figure,sheets,wind,hang,banner,holds,tears,against (the first three), --threads N, --steps N, --edge,
// --cells N and --from N (of hang, banner and holds, 80 at most and 1 at least; of tears how many a row has, 46), --sweeps N
// (of these, one of 1, 4, 16), --plot FILE.svg (of against).
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "bench/bench.h"
#include "bench/hpbd.h"

typedef struct outcome
{
    double worst, last; // edge, over the run and at its end
    double projections; // a step
    double seconds;     // of the fastest step
    double mean;        // s, of all
} outcome;

static weft_status measure(const char* scene, const char* const* overrides, int count, int threads, int steps,
                           outcome* out)
{
    weft_sim* sim = bench_sim(scene, overrides, count, threads);
    weft_status status = sim ? WEFT_OK : WEFT_BAD_INPUT;
    *out = (outcome){.seconds = INFINITY};
    for (int k = 0; k < steps && status == WEFT_OK; k++)
    {
        weft_step_stats stats;
        clock_t start = clock();
        status = weft_sim_step(sim, &stats, NULL);
        double seconds = threads == 1 ? (double)(clock() - start) / CLOCKS_PER_SEC : stats.step_s;
        out->worst = fmax(out->worst, stats.max_stretch);
        out->last = stats.max_stretch;
        out->projections = weft_step_counter(&stats, "projections");
        out->seconds = fmin(out->seconds, seconds);
        out->mean += k > 0 ? seconds / (steps - 1) : 0.0; // the first one makes the hierarchy
    }
    weft_sim_destroy(sim);
    return status;
}

typedef struct row
{
    const char* what;
    int levels, sweeps, paper, cycle, coarse;
} row;

static const row rows[] = {
    {"no hierarchy", 1, 2, 0, 0, 1},
    {"no hierarchy", 1, 5, 0, 0, 1},
    {"no hierarchy", 1, 10, 0, 0, 1},
    {"no hierarchy", 1, 20, 0, 0, 1},
    {"no hierarchy", 1, 80, 0, 0, 1},
    {"paper", 3, 2, 1, 0, 1},
    {"paper", 5, 2, 1, 0, 1},
    {"paper, all levels", 0, 2, 1, 0, 1},
    {"corrected", 3, 2, 0, 0, 1},
    {"corrected", 5, 2, 0, 0, 1},
    {"corrected, all levels", 0, 2, 0, 0, 1},
    {"corrected, all levels", 0, 4, 0, 0, 1},
    {"corrected, levels twice", 0, 2, 0, 0, 2},
    {"corrected, V-cycles", 0, 2, 0, 1, 1},
    {"corrected, V-cycles", 0, 4, 0, 1, 1},
};

const char* comma(const bench_place* at)
{
    return (*at->printed)++ > 0 ? "," : "";
}

static weft_status figure_row(const bench_place* at, const row* r, const char* mesh, int limits)
{
    char levels[40], sweeps[40], paper[40], cycle[40], coarse[40], limit[40], tessellation[60];
    snprintf(levels, sizeof(levels), "hpbd.levels=%d", r->levels);
    snprintf(sweeps, sizeof(sweeps), "hpbd.iterations=%d", r->sweeps);
    snprintf(paper, sizeof(paper), "hpbd.hierarchy=%d", r->paper);
    snprintf(cycle, sizeof(cycle), "hpbd.cycle=%d", r->cycle);
    snprintf(coarse, sizeof(coarse), "hpbd.coarse_iterations=%d", r->coarse);
    snprintf(limit, sizeof(limit), "hpbd.limits=%d", limits);
    snprintf(tessellation, sizeof(tessellation), "tessellation=%s", mesh);
    const char* overrides[] = {levels,
                               sweeps,
                               paper,
                               cycle,
                               coarse,
                               limit,
                               tessellation,
                               "contact.enabled=false",
                               "step_control.max_halvings=0",
                               "air.density=0",
                               "cloth.0.pins=[{\"where\": {\"edge\": \"top\"}}]"};
    outcome o;
    weft_status status = measure("canvas", overrides, at->edge ? 11 : 10, at->threads, at->steps, &o);
    if (status != WEFT_OK)
    {
        return status;
    }
    if (at->json)
    {
        printf("%s{\"what\":\"%s\",\"levels\":%d,\"sweeps\":%d,\"mesh\":\"%s\",\"limits\":%d,\"worst\":%.5g,"
               "\"projections\":%.0f,\"ms\":%.4g}",
               comma(at), r->what, r->levels, r->sweeps, mesh, limits, o.worst, o.projections, 1e3 * o.seconds);
        return WEFT_OK;
    }
    printf("%-9s  %-6s  %-23s %6d %6d  %8.3f  %9.0f  %7.2f\n", mesh, limits ? "limits" : "", r->what, r->levels,
           r->sweeps, o.worst, o.projections, 1e3 * o.seconds);
    return WEFT_OK;
}

static weft_status figure(const bench_place* at)
{
    static const char* const meshes[] = {"regular", "irregular"};
    at->json
        ? (void)0
        : (void)printf("canvas, 5,969 vertices, hung from %s, %d steps of 1/60 s\n"
                       "mesh                                   levels sweeps  worst edge  projections  ms a step\n",
                       at->edge ? "its upper edge" : "two corners", at->steps);
    weft_status status = WEFT_OK;
    for (int m = 0; m < 2; m++)
    {
        for (int limits = 0; limits < 2; limits++)
        {
            for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]) && status == WEFT_OK; k++)
            {
                status = figure_row(at, &rows[k], meshes[m], limits);
            }
        }
    }
    return status;
}

static weft_status sheets(const bench_place* at)
{
    at->json ? (void)0
             : (void)printf("two-corners released level, 60 steps of 1/60 s, four substeps of two sweeps: worst "
                            "edge over the run, at its end, ms a step\n");
    weft_status status = WEFT_OK;
    for (int k = 0; k < 4 && status == WEFT_OK; k++)
    {
        int cells = k < 2 ? 80 : 160, limits = k % 2;
        char size[40], limit[40];
        snprintf(size, sizeof(size), "cells=%d", cells);
        snprintf(limit, sizeof(limit), "hpbd.limits=%d", limits);
        const char* overrides[] = {size,
                                   limit,
                                   "method=hpbd",
                                   "model=hooke",
                                   "hpbd.iterations=2",
                                   "hpbd.substeps=4",
                                   "time_step=0.016666666666666666",
                                   "contact.enabled=false",
                                   "step_control.max_halvings=0"};
        outcome o;
        status = measure("two-corners", overrides, 9, at->threads, 60, &o);
        if (status == WEFT_OK)
        {
            at->json
                ? printf("%s{\"what\":\"sheet\",\"cells\":%d,\"limits\":%d,\"worst\":%.5g,\"last\":%.5g,\"ms\":%.4g}",
                         comma(at), cells, limits, o.worst, o.last, 1e3 * o.seconds)
                : printf("%d x %d vertices, limits %s: %.3f, %.3f, %.2f ms\n", cells + 1, cells + 1,
                         limits ? "on" : "off", o.worst, o.last, 1e3 * o.seconds);
        }
    }
    return status;
}

static const char post[] =
    "obstacles=[{\"name\": \"post\", \"shape\": {\"capsule\": {\"from\": [-0.2, -0.9, 0.25], \"to\": [0.1, 0.6, 0.25], "
    "\"radius\": 0.15}}}]";

static weft_status wind(const bench_place* at)
{
    static const struct
    {
        const char *what, *overrides[2];
        int count;
    } cases[] = {{"without contact", {"contact.enabled=false"}, 1},
                 {"against a post", {post, "contact.exclude=[{\"pair\": [\"canvas\", \"canvas\"]}]"}, 2},
                 {"touching itself", {NULL}, 0},
                 {"against a post and itself", {post}, 1}};
    weft_status status = WEFT_OK;
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]) && status == WEFT_OK; k++)
    {
        outcome o;
        status = measure("canvas", cases[k].overrides, cases[k].count, at->threads, 120, &o);
        if (status == WEFT_OK)
        {
            at->json
                ? printf("%s{\"what\":\"wind, %s\",\"worst\":%.5g,\"ms\":%.4g,\"mean_ms\":%.4g}", comma(at),
                         cases[k].what, o.worst, 1e3 * o.seconds, 1e3 * o.mean)
                : printf("canvas in the wind %s: fastest step %.2f ms, mean %.2f ms (%.0f and %.0f steps a second), "
                         "worst edge %.3f\n",
                         cases[k].what, 1e3 * o.seconds, 1e3 * o.mean, 1.0 / o.seconds, 1.0 / o.mean, o.worst);
        }
    }
    return status;
}

static int run(int argc, char** argv, bool json)
{
    bench_known(argc, argv, "--parts= --threads= --steps= --cells= --from= --sweeps= --method= --plot= --edge");
    int printed = 0;
    bench_place at = {.threads = bench_count(argc, argv, "--threads", 1),
                      .steps = bench_count(argc, argv, "--steps", 60),
                      .cells = bench_count(argc, argv, "--cells", 0),
                      .from = bench_count(argc, argv, "--from", 1),
                      .sweeps = bench_count(argc, argv, "--sweeps", 0),
                      .method = bench_text(argc, argv, "--method", NULL),
                      .plot = bench_text(argc, argv, "--plot", NULL),
                      .edge = bench_flag(argc, argv, "--edge"),
                      .json = json,
                      .printed = &printed};
    const char* parts =
        bench_words(argc, argv, "--parts", "figure,sheets,wind", "figure,sheets,wind,hang,banner,holds,tears,against");
    json ? (void)printf("{\"benchmark\":\"hpbd\",\"rows\":[") : (void)0;
    weft_status status = bench_has(parts, "figure") ? figure(&at) : WEFT_OK;
    status = status == WEFT_OK && bench_has(parts, "sheets") ? sheets(&at) : status;
    status = status == WEFT_OK && bench_has(parts, "wind") ? wind(&at) : status;
    status = status == WEFT_OK && bench_has(parts, "hang") ? bench_hpbd_hang(&at) : status;
    status = status == WEFT_OK && bench_has(parts, "banner") ? bench_hpbd_banner(&at, false) : status;
    status = status == WEFT_OK && bench_has(parts, "holds") ? bench_hpbd_banner(&at, true) : status;
    status = status == WEFT_OK && bench_has(parts, "tears") ? bench_hpbd_tears(&at) : status;
    status = status == WEFT_OK && bench_has(parts, "against") ? bench_hpbd_against(&at) : status;
    json ? (void)printf("]}\n") : (void)0;
    return status == WEFT_OK ? 0 : bench_failed("hpbd", status);
}

const benchmark bench_hpbd = {"hpbd", "position based dynamics with a hierarchy: stretch by levels and sweeps", run};
