// What sa-ppcg does when its hierarchy is no good: a bound of the spectral radius that is far too small makes the
// smoother diverge, and a tolerance below rounding cannot be met.
#include "common.h"

#include <math.h>
#include <stdlib.h>

#include "common_system.h"
#include "solve/system.h"

static weft_status solve(const weft_solver_def* def, const weft_system* system, vec3* x, weft_solve_stats* stats)
{
    weft_solver* solver = NULL;
    assert_int_equal(weft_solver_create(def, &solver, NULL), WEFT_OK);
    weft_status status = weft_solver_solve(solver, system, x, stats);
    weft_solver_destroy(solver);
    return status;
}

static weft_solver_def wrong_bound(void)
{
    weft_solver_def def = weft_solver_def_default();
    def.solver = "sa-ppcg";
    def.tolerance = 1e-8;
    def.sa.coarsest = 60;
    def.sa.lanczos = 0;
    return def;
}

static void test_stronger_hierarchy(void** unused)
{
    (void)unused;
    weft_system* system = test_sheet_system(24, 1e4);
    int n = system->pattern.row_count;
    vec3 *x = calloc((size_t)n, sizeof(vec3)), *expected = calloc((size_t)n, sizeof(vec3));
    weft_solve_stats stats;
    weft_solver_def direct = weft_solver_def_default();
    direct.solver = "cholesky";
    assert_int_equal(solve(&direct, system, expected, &stats), WEFT_OK);

    weft_solver_def def = wrong_bound();
    assert_int_equal(solve(&def, system, x, &stats), WEFT_OK); // no bound is known: Lanczos after all
    assert_int_equal(stats.escalations, 0);

    system->element_vertices = 1; // the truth is above 2
    assert_int_equal(solve(&def, system, x, &stats), WEFT_OK);
    print_message("          with a wrong bound: %d iterations, %d escalations\n", stats.iterations, stats.escalations);
    assert_int_equal(stats.escalations, 1);
    vec3* zero = calloc((size_t)n, sizeof(vec3));
    double size = test_energy_distance(system, zero, expected);
    assert_true(stats.converged && test_energy_distance(system, x, expected) < 1e-6 * size);
    free(zero);

    def.max_iterations = 3; // a limit of the caller's stands
    assert_int_not_equal(solve(&def, system, x, &stats), WEFT_OK);
    assert_true(stats.escalations == 0 && stats.iterations <= 3);
    free(x);
    free(expected);
    weft_system_destroy(system);
}

// Stiffness so far above mass that the tolerance is below what rounding leaves: CG gets nowhere, and the best answer is
// that of the direct solve, which does not meet the tolerance either and says so.
static void test_direct_solve(void** unused)
{
    (void)unused;
    weft_system* system = test_sheet_system(24, 1e7);
    vec3 *x = calloc((size_t)system->pattern.row_count, sizeof(vec3)),
         *again = calloc((size_t)system->pattern.row_count, sizeof(vec3));
    weft_solver_def def = wrong_bound();
    weft_solver* solver = NULL;
    weft_solve_stats stats;
    assert_int_equal(weft_solver_create(&def, &solver, NULL), WEFT_OK);
    assert_int_equal(weft_solver_solve(solver, system, x, &stats), WEFT_NOT_CONVERGED);
    print_message("          stiff: %d iterations, %d escalations, residual %.1e\n", stats.iterations,
                  stats.escalations, stats.residual2);
    assert_int_equal(stats.escalations, 2);
    assert_true(stats.residual2 < 1e-6 && stats.iterations < 1000 && !stats.converged);

    // Nothing of it stays: an easy system afterwards gets the bits that a fresh solver gives.
    weft_system* easy = test_sheet_system(24, 1e3);
    weft_solve_stats after, fresh;
    assert_int_equal(weft_solver_solve(solver, easy, x, &after), WEFT_OK);
    assert_int_equal(solve(&def, easy, again, &fresh), WEFT_OK);
    assert_true(after.iterations == fresh.iterations && after.escalations == 0);
    assert_memory_equal(x, again, (size_t)easy->pattern.row_count * sizeof(vec3));
    weft_solver_destroy(solver);
    free(x);
    free(again);
    weft_system_destroy(system);
    weft_system_destroy(easy);
}

// A vertex that is tied to all others: its row of P stays short, and the coarse matrices stay sparse.
static void test_hub(void** unused)
{
    (void)unused;
    weft_system* sheet = test_sheet_system(60, 1e2);
    int n = sheet->pattern.row_count, blocks = sheet->pattern.block_count + 2 * n + 1;
    int *row_start = calloc((size_t)n + 2, sizeof(int)), *column = calloc((size_t)blocks, sizeof(int));
    double* values = calloc(9 * (size_t)blocks, sizeof(double));
    int count = 0;
    for (int i = 0; i <= n; i++)
    {
        for (int slot = i < n ? sheet->pattern.row_start[i] : 0; slot < (i < n ? sheet->pattern.row_start[i + 1] : 0);
             slot++)
        {
            for (int e = 0; e < 9; e++)
            {
                bool diagonal = sheet->pattern.column[slot] == i && e % 4 == 0;
                values[9 * count + e] = sheet->values[9 * slot + e] + (diagonal ? 1.0 : 0.0);
            }
            column[count++] = sheet->pattern.column[slot];
        }
        for (int j = i < n ? n : 0; j <= n; j++)
        {
            for (int e = 0; e < 9; e += 4)
            {
                values[9 * count + e] = i == n && j == n ? n + 1.0 : -1.0;
            }
            column[count++] = j;
        }
        row_start[i + 1] = count;
    }
    weft_system_def made = {.vertex_count = n + 1, .row_start = row_start, .column = column, .values = values};
    weft_system* system = NULL;
    assert_int_equal(weft_system_create(&made, &system, NULL), WEFT_OK);
    vec3* x = calloc((size_t)n + 1, sizeof(vec3));
    weft_solver_def def = weft_solver_def_default();
    def.solver = "sa-ppcg";
    weft_solve_stats stats;
    assert_int_equal(solve(&def, system, x, &stats), WEFT_OK);
    print_message("          hub: %d iterations, operator complexity %.2f\n", stats.iterations,
                  stats.operator_complexity);
    assert_true(stats.operator_complexity < 2.0 && stats.escalations == 0);
    free(x);
    free(row_start);
    free(column);
    free(values);
    weft_system_destroy(sheet);
    weft_system_destroy(system);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stronger_hierarchy),
        cmocka_unit_test(test_direct_solve),
        cmocka_unit_test(test_hub),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
