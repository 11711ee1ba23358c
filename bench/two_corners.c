// weft bench two-corners: the scene two-corners (81 x 81 vertices, 60 frames of 5 steps at 24 frames a second) from
// start to end, in memory. Blender 3.4's cloth took 9.8 s for the same sheet on the machine of reference (quality 5, no
// collision). Options: --threads N, --frames N.
#include <stdio.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/common.h"

static int run(int argc, char** argv, bool json)
{
    bench_known(argc, argv, "--threads= --frames=");
    int threads = bench_count(argc, argv, "--threads", 2), frames = bench_count(argc, argv, "--frames", 60);
    const char* overrides[] = {"contact.enabled=false"}; // as the peer ran
    weft_sim* sim = bench_sim("two-corners", overrides, 1, threads);
    if (!sim)
    {
        return 2;
    }
    double start = timer_now(), solve = 0.0, stretch = 0.0;
    int64_t iterations = 0, rejected = 0;
    weft_status status = WEFT_OK;
    for (int step = 0; step < 5 * frames && status == WEFT_OK; step++)
    {
        weft_step_stats stats;
        status = weft_sim_step(sim, &stats, NULL);
        iterations += stats.iterations;
        rejected += stats.rejected;
        solve += stats.setup_s + stats.solve_s;
        stretch = fmax(stretch, stats.max_stretch);
    }
    double seconds = timer_now() - start, steps = 5.0 * frames;
    if (json)
    {
        printf("{\"benchmark\":\"two-corners\",\"vertices\":%d,\"frames\":%d,\"threads\":%d,\"seconds\":%.4g,\"solve_"
               "s\":%.4g,"
               "\"iterations_a_step\":%.4g,\"rejected\":%lld,\"max_stretch\":%.5g}\n",
               sim->model.vertex_count, frames, threads, seconds, solve, (double)iterations / steps,
               (long long)rejected, stretch);
    }
    else
    {
        printf(
            "two-corners: %d vertices, %d frames, %d threads: %.2f s (%.1f ms a step, %.0f %% in the solver), %.1f "
            "iterations a step,\n"
            "%lld substeps rejected, largest stretch %.4f; Blender on the machine of reference: 9.8 s for 60 frames\n",
            sim->model.vertex_count, frames, threads, seconds, 1e3 * seconds / steps, 100 * solve / seconds,
            (double)iterations / steps, (long long)rejected, stretch);
    }
    weft_sim_destroy(sim);
    return status == WEFT_OK ? 0 : bench_failed("two-corners", status);
}

const benchmark bench_two_corners = {"two-corners", "a falling sheet of 81 x 81 vertices, 60 frames, from start to end",
                                     run};
