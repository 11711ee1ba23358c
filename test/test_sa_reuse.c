// What multigrid keeps from one solve to the next, and when it lets go of it.
#include "common.h"

#include <stdlib.h>
#include <string.h>

#include "common_system.h"
#include "weft/scene.h"

static weft_solver* new_solver(const char* name, int reuse)
{
    weft_solver_def def = weft_solver_def_default();
    def.solver = name;
    def.sa.coarsest = 60;
    def.sa.reuse = reuse;
    weft_solver* solver = NULL;
    assert_int_equal(weft_solver_create(&def, &solver, NULL), WEFT_OK);
    return solver;
}

static double energy_error(const weft_system* system, const vec3* x)
{
    double error = 1.0;
    assert_int_equal(weft_system_energy_error(system, x, &error, NULL), WEFT_OK);
    return error;
}

// Systems of consecutive steps: all but the first are refreshed, each solve is as right as a cold one, and the
// iterations hardly grow.
static void test_steps(void** unused)
{
    (void)unused;
    static const char* const names[] = {"sa-ppcg", "sa-pcg", "sa-cycle"};
    for (int name = 0; name < 3; name++)
    {
        weft_solver *kept = new_solver(names[name], 1), *cold = new_solver(names[name], 0);
        int refreshed = 0, most = 0, most_cold = 0;
        for (int step = 20; step < 28; step++)
        {
            const char* overrides[] = {"cells=30"};
            weft_system* system = test_scene_system("re-entrant", overrides, 1, step);
            vec3* x = calloc((size_t)weft_system_vertex_count(system), sizeof(vec3));
            weft_solve_stats stats;
            assert_int_equal(weft_solver_solve(kept, system, x, &stats), WEFT_OK);
            assert_true(energy_error(system, x) < 1e-4);
            refreshed += stats.refreshed;
            most = int_max(most, stats.iterations);
            assert_int_equal(weft_solver_solve(cold, system, x, &stats), WEFT_OK);
            assert_int_equal(stats.refreshed, 0);
            most_cold = int_max(most_cold, stats.iterations);
            free(x);
            weft_system_destroy(system);
        }
        print_message("          %s: %d of 8 refreshed, at most %d iterations, cold %d\n", names[name], refreshed, most,
                      most_cold);
        assert_true(refreshed >= 5 && most <= most_cold + most_cold / 2 + 2);
        weft_solver_destroy(kept);
        weft_solver_destroy(cold);
    }
}

// The same values again give the bits of a cold solve: a refresh computes what a setup computes.
static void test_same_values(void** unused)
{
    (void)unused;
    for (int precision = 32; precision <= 64; precision += 32)
    {
        const char* overrides[] = {"cells=40", "tessellation=irregular"};
        weft_system* system = test_scene_system("drooping", overrides, 2, 10);
        size_t n = (size_t)weft_system_vertex_count(system);
        vec3 *first = calloc(n, sizeof(vec3)), *again = calloc(n, sizeof(vec3));
        weft_solver* solver = new_solver("sa-ppcg", 1);
        weft_solve_stats stats;
        assert_int_equal(weft_solver_solve(solver, system, first, &stats), WEFT_OK);
        assert_int_equal(stats.refreshed, 0);
        assert_int_equal(weft_solver_solve(solver, system, again, &stats), WEFT_OK);
        assert_int_equal(stats.refreshed, 1);
        assert_memory_equal(first, again, n * sizeof(vec3));
        weft_solver_drop(solver);
        assert_int_equal(weft_solver_solve(solver, system, again, &stats), WEFT_OK);
        assert_int_equal(stats.refreshed, 0);
        assert_memory_equal(first, again, n * sizeof(vec3));
        weft_solver_destroy(solver);
        free(first);
        free(again);
        weft_system_destroy(system);
    }
}

// A hierarchy of a matrix that is nearly diagonal has no coarse levels. It is no good for a stiff one of the same
// pattern: that costs iterations once, and the next solve sets up anew. Then other constraints, which do so as well.
static void test_lets_go(void** unused)
{
    (void)unused;
    weft_system *easy = test_sheet_system(30, 1e4), *stiff = test_sheet_system(30, 1e4);
    int n = weft_system_vertex_count(easy);
    for (int i = 0; i < n; i++)
    {
        for (int k = 0; k < 9; k += 4)
        {
            easy->values[9 * easy->pattern.diagonal[i] + k] += 1e9;
        }
    }
    vec3* x = calloc((size_t)n, sizeof(vec3));
    weft_solver* solver = new_solver("sa-ppcg", 1);
    weft_solve_stats stats, aged, anew;
    assert_int_equal(weft_solver_solve(solver, easy, x, &stats), WEFT_OK);
    assert_int_equal(stats.level_count, 1);
    assert_int_equal(weft_solver_solve(solver, stiff, x, &aged), WEFT_OK);
    assert_true(energy_error(stiff, x) < 1e-4);
    assert_int_equal(weft_solver_solve(solver, stiff, x, &anew), WEFT_OK);
    print_message("          %d iterations with what was kept, %d anew\n", aged.iterations, anew.iterations);
    assert_true(anew.refreshed == 0 && anew.level_count > 1 && anew.iterations < aged.iterations);

    uint64_t random = 1;
    test_constrain(stiff, 0.1, 3, &random);
    assert_int_equal(weft_solver_solve(solver, stiff, x, &stats), WEFT_OK);
    assert_int_equal(stats.refreshed, 0);
    assert_int_equal(weft_solver_solve(solver, stiff, x, &stats), WEFT_OK);
    assert_int_equal(stats.refreshed, 1);
    weft_solver_destroy(solver);
    free(x);
    weft_system_destroy(easy);
    weft_system_destroy(stiff);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_same_values),
        cmocka_unit_test(test_lets_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
