// What `auto` takes: by the matrix at first, then by the iterations that it has seen; never by a clock.
#include "common.h"

#include <stdlib.h>
#include <string.h>

#include "common_system.h"

static weft_solver* new_auto(double tolerance)
{
    weft_solver_def def = weft_solver_def_default();
    def.tolerance = tolerance;
    weft_solver* solver = NULL;
    assert_int_equal(weft_solver_create(&def, &solver, NULL), WEFT_OK);
    return solver;
}

static weft_solve_stats solve(weft_solver* solver, const weft_system* system)
{
    vec3* x = calloc((size_t)weft_system_vertex_count(system), sizeof(vec3));
    weft_solve_stats stats;
    assert_int_equal(weft_solver_solve(solver, system, x, &stats), WEFT_OK);
    double error = 1.0;
    assert_int_equal(weft_system_energy_error(system, x, &error, NULL), WEFT_OK);
    assert_true(error < 1e-3);
    free(x);
    return stats;
}

// Half of the vertices may only slide on a tilted plane, askew to the cloth: hard for a block diagonal.
static void hold_on_plane(weft_system* system)
{
    int n = weft_system_vertex_count(system);
    double middle = 0.0;
    for (int i = 0; i < n; i++)
    {
        middle += system->positions[i].x / n;
    }
    mem_free(system->filter);
    system->filter = MEM_NEW(n, filter_record);
    system->filter_count = 0;
    vec3 normal = v3_normalize(v3(0.3, 0.2, 0.9));
    for (int i = 0; i < n; i++)
    {
        if (system->positions[i].x < middle)
        {
            system->filter[system->filter_count++] = filter_record_make(i, &normal, 1);
        }
    }
}

// Soft cloth and short steps are easy, a few vertices are solved directly, a fine stiff sheet wants multigrid.
static void test_by_the_matrix(void** unused)
{
    (void)unused;
    static const struct
    {
        const char *scene, *overrides[2], *expected;
    } cases[] = {
        {"pinned", {"cells=40", "time_step=0.0001"}, "diag-ppcg"},
        {"pinned", {"cells=100", "time_step=0.002"}, "sa-ppcg"},
        {"two-corners", {"cells=60", "solver.name=auto"}, "sa-ppcg"},
        {"two-corners", {"cells=20", "solver.name=auto"}, "cholesky"},
    };
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++)
    {
        weft_system* system = test_scene_system(cases[k].scene, cases[k].overrides, 2, 3);
        weft_solver* solver = new_auto(1e-5);
        weft_solve_stats stats = solve(solver, system);
        for (int again = 0; again < 3; again++) // an analysis may be too dear for one solve and not for many
        {
            stats = solve(solver, system);
        }
        print_message("          %s, %s, %s: %s, %d iterations\n", cases[k].scene, cases[k].overrides[0],
                      cases[k].overrides[1], stats.solver, stats.iterations);
        assert_string_equal(stats.solver, cases[k].expected);
        weft_solver_destroy(solver);
        weft_system_destroy(system);
    }
}

// The estimate of diag-ppcg's iterations knows nothing of planes. The first solve tries it, gives it up when another
// solver would have been done, and goes on with that; later ones do not try again. When all is forgotten it goes the
// same way again, to the iteration.
static void test_learns(void** unused)
{
    (void)unused;
    const char* overrides[] = {"cells=30", "time_step=0.002"};
    weft_system* system = test_scene_system("pinned", overrides, 2, 3);
    weft_solver* solver = new_auto(1e-5);
    hold_on_plane(system);
    int tried = 0;
    for (int round = 0; round < 2; round++)
    {
        weft_solve_stats first = solve(solver, system), later = {0};
        assert_string_not_equal(first.solver, "diag-ppcg");
        assert_true(first.converged && (round == 0 || first.iterations == tried));
        tried = first.iterations;
        for (int k = 0; k < 12; k++)
        {
            later = solve(solver, system);
            assert_string_not_equal(later.solver, "diag-ppcg");
            assert_true(later.iterations < tried - 20); // what the try took
        }
        print_message("          %s with %d iterations, then %s with %d\n", first.solver, first.iterations,
                      later.solver, later.iterations);
        weft_solver_drop(solver);
    }
    weft_solver_destroy(solver);
    weft_system_destroy(system);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_the_matrix),
        cmocka_unit_test(test_learns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
