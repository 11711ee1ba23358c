// weft bench kernels: assembly, block product and a diag-pcg iteration against the bandwidth of a triad loop in the
// same run. Options: --cells N (400: 160,801 vertices), --threads N, --rounds N.
#include <stdio.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/common.h"

typedef struct kernel_times
{
    double triad, multiply, assemble, iteration; // s, the best of all rounds
} kernel_times;

static void assemble_once(world* w)
{
    element_motion motion = {.x = w->state.x, .v = w->state.v, .h = w->h, .time = w->time};
    world_assemble(w, &motion, w->rhs_start);
}

static double product_seconds(world* w)
{
    bsr_matrix A = {&w->model->assembler.pattern, w->values};
    double start = timer_now();
    bsr_multiply(w->pool, w->cpu, &A, w->state.v, w->dv);
    return timer_now() - start;
}

// Seconds of an iteration, from two solves of different length.
static double iteration_seconds(world* w, weft_status* status)
{
    enum
    {
        SHORT = 5,
        LONG = 35
    };
    double seconds[2];
    for (int k = 0; k < 2; k++)
    {
        solver_object solver = {0};
        solve_options options = {
            .tolerance = 1e-300, .max_iterations = k ? LONG : SHORT, .pool = w->pool, .cpu = w->cpu};
        *status = solver_object_init(&solver, "diag-pcg", &options, NULL);
        weft_solve_stats stats = {0};
        linear_system system = world_system(w, w->rhs, w->z);
        memset(w->dv, 0, (size_t)w->model->vertex_count * sizeof(vec3));
        if (*status == WEFT_OK)
        {
            *status = solver_object_solve(&solver, &system, w->dv, &stats);
            *status = *status == WEFT_NOT_CONVERGED ? WEFT_OK : *status;
        }
        seconds[k] = stats.solve_s;
        solver_object_finish(&solver);
    }
    return (seconds[1] - seconds[0]) / (LONG - SHORT);
}

static weft_status measure(weft_sim* sim, triad* t, int rounds, kernel_times* best)
{
    world* w = &sim->world;
    weft_step_stats stats = {0};
    weft_status status = WEFT_OK;
    w->stats = &stats;
    w->h = w->settings.time_step;
    stage_constrain(w);
    *best = (kernel_times){1e9, 1e9, 1e9, 1e9};
    for (int round = 0; round < rounds && status == WEFT_OK; round++)
    {
        best->triad = fmin(best->triad, triad_seconds(t, w->pool));
        double start = timer_now();
        assemble_once(w);
        best->assemble = fmin(best->assemble, timer_now() - start);
        best->multiply = fmin(best->multiply, product_seconds(w));
        best->iteration = fmin(best->iteration, iteration_seconds(w, &status));
    }
    return status;
}

static void print_row(const char* bending, const weft_sim* sim, const triad* t, const kernel_times* k, bool json,
                      bool last)
{
    const bsr_pattern* p = &sim->model.assembler.pattern;
    double n = p->row_count, blocks = p->block_count, bandwidth = triad_bytes(t) / k->triad;
    double share = floor_product(n, blocks) / k->multiply / bandwidth;
    double floor = k->iteration / (floor_iteration(n, blocks) / bandwidth);
    if (json)
    {
        printf(
            "%s{\"bending\":\"%s\",\"vertices\":%.0f,\"blocks_a_row\":%.4g,\"triad_gb_s\":%.4g,\"product_ms\":%.4g,"
            "\"product_share_of_triad\":%.4g,\"assembly_ms\":%.4g,\"assembly_in_products\":%.4g,\"iteration_ms\":%.4g,"
            "\"iteration_over_floor\":%.4g}%s\n",
            "", bending, n, blocks / n, 1e-9 * bandwidth, 1e3 * k->multiply, share, 1e3 * k->assemble,
            k->assemble / k->multiply, 1e3 * k->iteration, floor, last ? "" : ",");
        return;
    }
    printf("%-10s %8.0f %7.2f %8.1f %9.2f %8.0f %% %10.2f %9.1f %10.2f %10.2f\n", bending, n, blocks / n,
           1e-9 * bandwidth, 1e3 * k->multiply, 100 * share, 1e3 * k->assemble, k->assemble / k->multiply,
           1e3 * k->iteration, floor);
}

static int run(int argc, char** argv, bool json)
{
    static const char* const bendings[] = {"hinge", "curvature"};
    bench_known(argc, argv, "--cells= --threads= --rounds=");
    int cells = bench_count(argc, argv, "--cells", 400), threads = bench_count(argc, argv, "--threads", 2);
    int rounds = bench_count(argc, argv, "--rounds", 15);
    triad t = {0};
    weft_status status = triad_init(&t);
    if (json)
    {
        printf("{\"benchmark\":\"kernels\",\"threads\":%d,\"rows\":[\n", threads);
    }
    else
    {
        printf("kernels on %d threads, best of %d rounds, cotton, h 2 ms, `%s` kernels\n", threads, rounds,
               cpu_kind_name(cpu_best()));
        printf(
            "bending    vertices  blocks    triad   product   share of   assembly        in  iteration       over\n"
            "                      a row     GB/s        ms      triad         ms  products         ms      floor\n");
    }
    for (int k = 0; k < 2 && status == WEFT_OK; k++)
    {
        char cells_text[64], model_text[64];
        snprintf(cells_text, sizeof(cells_text), "cells=%d", cells);
        snprintf(model_text, sizeof(model_text), "model={\"name\":\"baraff-witkin\",\"bending\":\"%s\"}", bendings[k]);
        const char* overrides[] = {cells_text, model_text, "contact.enabled=false"};
        weft_sim* sim = bench_sim("drooping", overrides, 3, threads);
        kernel_times times;
        status = sim ? measure(sim, &t, rounds, &times) : WEFT_BAD_INPUT;
        if (status == WEFT_OK)
        {
            print_row(bendings[k], sim, &t, &times, json, k == 1);
        }
        weft_sim_destroy(sim);
    }
    if (json)
    {
        printf("]}\n");
    }
    triad_finish(&t);
    return status == WEFT_OK ? 0 : bench_failed("kernels", status);
}

const benchmark bench_kernels = {"kernels", "assembly, block product and CG iteration against the machine's bandwidth",
                                 run};
