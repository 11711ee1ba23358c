// weft bench direct: the own sparse Cholesky against CHOLMOD on one system of a real step, in one run. Analysis is
// timed apart; factor and solve are the best of all rounds. Without CHOLMOD in the build only the own one is timed.
// Options: --cells N (200: 40,401 vertices), --threads N, --rounds N, --step K.
#include <stdio.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/common.h"

typedef struct direct_times
{
    double analyze, factor_solve; // s
    double bytes;
} direct_times;

static weft_status measure(weft_sim* sim, const char* name, int rounds, direct_times* out)
{
    world* w = &sim->world;
    solve_options options = {.tolerance = 1e-10, .pool = w->pool, .cpu = w->cpu};
    solver_object solver = {0};
    TRY(solver_object_init(&solver, name, &options, NULL));
    linear_system system = world_system(w, w->rhs, w->z);
    *out = (direct_times){0.0, 1e9, 0.0};
    weft_status status = WEFT_OK;
    double first = 0.0;
    for (int k = 0; k <= rounds && status == WEFT_OK; k++)
    {
        weft_solve_stats stats = {0};
        memset(w->dv, 0, (size_t)w->model->vertex_count * sizeof(vec3));
        status = solver_object_solve(&solver, &system, w->dv, &stats);
        double both = stats.setup_s + stats.solve_s;
        first = k == 0 ? both : first;
        out->factor_solve = k > 0 ? fmin(out->factor_solve, both) : out->factor_solve;
        out->bytes = stats.bytes;
    }
    out->analyze = first - out->factor_solve;
    solver_object_finish(&solver);
    return status;
}

static int run(int argc, char** argv, bool json)
{
    static const char* const names[] = {"cholesky", "cholmod"};
    bench_known(argc, argv, "--cells= --threads= --rounds= --step=");
    int cells = bench_count(argc, argv, "--cells", 200), threads = bench_count(argc, argv, "--threads", 2);
    int rounds = bench_count(argc, argv, "--rounds", 5), step = bench_count(argc, argv, "--step", 5);
    char cells_text[64];
    snprintf(cells_text, sizeof(cells_text), "cells=%d", cells);
    const char* overrides[] = {cells_text};
    weft_sim* sim = bench_sim("drooping", overrides, 1, threads);
    if (!sim)
    {
        return 2;
    }
    for (int k = 1; k < step; k++)
    {
        weft_sim_step(sim, NULL, NULL);
    }
    weft_step_stats stats = {0};
    world* w = &sim->world;
    w->stats = &stats;
    w->h = w->settings.time_step;
    weft_status status = world_first_system(w);
    direct_times times[2];
    int count = 0;
    const linear_solver* found;
    for (; count < 2 && status == WEFT_OK; count++)
    {
        if (linear_solver_find(names[count], &found, NULL) != WEFT_OK)
        {
            break;
        }
        status = measure(sim, names[count], rounds, &times[count]);
    }
    if (status == WEFT_OK && json)
    {
        printf(
            "{\"benchmark\":\"direct\",\"vertices\":%d,\"threads\":%d,\"cholesky_s\":%.5g,\"cholesky_analyze_s\":%.5g",
            w->model->vertex_count, threads, times[0].factor_solve, times[0].analyze);
        if (count == 2)
        {
            printf(",\"cholmod_s\":%.5g,\"cholmod_analyze_s\":%.5g,\"ratio\":%.4g", times[1].factor_solve,
                   times[1].analyze, times[0].factor_solve / times[1].factor_solve);
        }
        printf("}\n");
    }
    else if (status == WEFT_OK)
    {
        printf("drooping, step %d, %d vertices, hinge bending, cotton, h 2 ms, %d threads, best of %d\n", step,
               w->model->vertex_count, threads, rounds);
        for (int k = 0; k < count; k++)
        {
            printf("%-9s analyze %.3f s, factor and solve %.3f s, %.0f MB\n", names[k], times[k].analyze,
                   times[k].factor_solve, 1e-6 * times[k].bytes);
        }
        printf(count == 2 ? "cholesky takes %.2f times the time of cholmod\n"
                          : "this build has no cholmod: script/build cholmod\n",
               count == 2 ? times[0].factor_solve / times[1].factor_solve : 0.0);
    }
    weft_sim_destroy(sim);
    return status == WEFT_OK ? 0 : bench_failed("direct", status);
}

const benchmark bench_direct = {"direct", "the own sparse Cholesky against CHOLMOD (build with script/build cholmod)",
                                run};
