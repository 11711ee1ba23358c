// No run ends because its solver gave up: a direct solve takes over, and what rounding keeps from its tolerance counts.
#include "common.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "weft/scene.h"
#include "weft/solver.h"

// Steps of a shipped scene and where they end; what the steps say, summed up.
static weft_step_stats run(const char* const* sets, int set_count, int steps, weft_vec3* positions, int vertices)
{
    weft_scene* scene = NULL;
    weft_sim* sim = NULL;
    weft_error error = {0};
    weft_step_stats stats = {0}, all = {0};
    assert_int_equal(weft_scene_load("hang", sets, set_count, &scene, &error), WEFT_OK);
    assert_int_equal(weft_scene_create_sim(scene, 1, &sim, &error), WEFT_OK);
    for (int k = 0; k < steps; k++)
    {
        weft_status status = weft_sim_step(sim, &stats, &error);
        if (status != WEFT_OK)
        {
            fail_msg("step %d: %s", k + 1, error.message);
        }
        all.rescued += stats.rescued;
        all.solves += stats.solves;
        all.rejected += stats.rejected;
        all.iterations += stats.iterations;
        all.max_stretch = fmax(all.max_stretch, stats.max_stretch);
    }
    assert_int_equal(weft_sim_vertex_count(sim, 0), vertices);
    weft_sim_positions(sim, 0, positions);
    weft_sim_destroy(sim);
    weft_scene_destroy(scene);
    return all;
}

enum
{
    VERTICES = 81
};

static void test_a_limit_that_is_too_low(void** unused)
{
    (void)unused;
    static const char* const few[] = {"cells=8", "solver.name=diag-pcg", "solver.max_iterations=2"};
    static const char* const direct[] = {"cells=8", "solver.name=cholesky"};
    weft_vec3 ours[VERTICES], expected[VERTICES];
    weft_step_stats stats = run(few, 3, 40, ours, VERTICES);
    assert_true(stats.rescued > 20 && stats.rescued <= stats.solves && stats.rejected == 0);
    stats = run(direct, 2, 40, expected, VERTICES);
    assert_int_equal(stats.rescued, 0);
    double apart = 0.0;
    for (int i = 0; i < VERTICES; i++)
    {
        apart =
            fmax(apart, hypot(hypot(ours[i].x - expected[i].x, ours[i].y - expected[i].y), ours[i].z - expected[i].z));
    }
    print_message("          rescued by a direct solve: %.1e m from one\n", apart);
    assert_true(apart < 1e-4);
}

// Stiffness so far above mass that no solver meets the tolerance: the third step was the last.
static void test_a_tolerance_below_rounding(void** unused)
{
    (void)unused;
    static const char* const stiff[] = {
        "cells=8", "solver.tolerance=1e-14",
        "cloth.0.material={\"base\":\"cotton\",\"stretch_warp\":1e16,\"stretch_weft\":1e16,\"density\":0.001}"};
    static const char* const solvers[] = {"solver.name=auto", "solver.name=cholesky"};
    for (int k = 0; k < 2; k++)
    {
        weft_vec3 x[VERTICES];
        const char* sets[] = {stiff[0], stiff[1], stiff[2], solvers[k]};
        weft_step_stats stats = run(sets, 4, 10, x, VERTICES);
        print_message("          %s: %d of %d solves rescued, %d substeps rejected, stretch %g\n", solvers[k],
                      stats.rescued, stats.solves, stats.rejected, stats.max_stretch);
        assert_true(stats.rescued > 0 && stats.max_stretch < 1.001);
    }
}

// The default of scenes, 1e-4, is multigrid's: what direct solvers do, and what `auto` does with a block diagonal, is
// what they do at 1e-5, to the bit.
static void test_the_default_is_for_multigrid(void** unused)
{
    (void)unused;
    static const struct
    {
        const char *name, *step;
        bool direct;
    } cases[] = {{"solver.name=cholesky", "time_step=0.002", true}, {"solver.name=auto", "time_step=0.0005", false}};
    assert_true(weft_sim_def_default().tolerance == 1e-4 && weft_solver_def_default().tolerance == 1e-5);
    for (int k = 0; k < 2; k++)
    {
        const char* sets[] = {"cells=8", cases[k].name, cases[k].step, "solver.tolerance=1e-5"};
        weft_vec3 loose[VERTICES], tight[VERTICES];
        weft_step_stats stats = run(sets, 3, 30, loose, VERTICES);
        assert_true((stats.iterations == 0) == cases[k].direct);
        run(sets, 4, 30, tight, VERTICES);
        assert_memory_equal(loose, tight, sizeof(loose));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_limit_that_is_too_low),
        cmocka_unit_test(test_a_tolerance_below_rounding),
        cmocka_unit_test(test_the_default_is_for_multigrid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
