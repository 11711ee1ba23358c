// What multigrid keeps from one solve to the next, and when it lets go of it.
#include "common.h"

#include <stdlib.h>
#include <string.h>

#include "common_system.h"
#include "solve/sa/sa.h"
#include "weft/scene.h"

static weft_solver* new_solver_of(const char* name, int reuse, int precision)
{
    weft_solver_def def = weft_solver_def_default();
    def.solver = name;
    def.sa.coarsest = 60;
    def.sa.reuse = reuse;
    def.sa.precision = precision;
    weft_solver* solver = NULL;
    assert_int_equal(weft_solver_create(&def, &solver, NULL), WEFT_OK);
    return solver;
}

static weft_solver* new_solver(const char* name, int reuse)
{
    return new_solver_of(name, reuse, 0);
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
    for (int precision = 16; precision <= 64; precision *= 2)
    {
        const char* overrides[] = {"cells=40", "tessellation=irregular"};
        weft_system* system = test_scene_system("drooping", overrides, 2, 10);
        size_t n = (size_t)weft_system_vertex_count(system);
        vec3 *first = calloc(n, sizeof(vec3)), *again = calloc(n, sizeof(vec3));
        weft_solver* solver = new_solver_of("sa-ppcg", 1, precision);
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
// pattern: that costs three times the iterations that are usual, then the solve sets up anew and goes on from there.
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
    memset(x, 0, (size_t)n * sizeof(vec3));
    assert_int_equal(weft_solver_solve(solver, stiff, x, &anew), WEFT_OK);
    print_message("          %d iterations with what was kept, %d anew\n", aged.iterations, anew.iterations);
    assert_true(aged.refreshed == 0 && aged.level_count > 1 && aged.iterations <= 36 + anew.iterations);
    assert_true(anew.iterations < 20);
    weft_solver_destroy(solver);
    free(x);
    weft_system_destroy(easy);
    weft_system_destroy(stiff);
}

// One solve of a system, another of a changed one with what was kept, and the first again: the second is right and
// takes few iterations more than a cold one, the third gives the bits of the first, or, where the second has cost so
// much that the interpolation was made anew, takes as many iterations.
static void check_change(const weft_system* before, const weft_system* after, int refreshed, int more, int precision,
                         const char* what)
{
    weft_solver *kept = new_solver_of("sa-ppcg", 1, precision), *cold = new_solver_of("sa-ppcg", 0, precision);
    size_t n = (size_t)weft_system_vertex_count(before);
    vec3 *first = calloc(n, sizeof(vec3)), *x = calloc(n, sizeof(vec3));
    weft_solve_stats stats, anew;
    assert_int_equal(weft_solver_solve(kept, before, first, &stats), WEFT_OK);
    assert_int_equal(stats.refreshed, 0);
    int first_iterations = stats.iterations;
    assert_int_equal(weft_solver_solve(cold, after, x, &anew), WEFT_OK);
    assert_int_equal(weft_solver_solve(kept, after, x, &stats), WEFT_OK);
    assert_true(energy_error(after, x) < 1e-4);
    print_message("          %s: %d iterations, cold %d\n", what, stats.iterations, anew.iterations);
    assert_int_equal(stats.refreshed, refreshed);
    assert_true(stats.iterations <= anew.iterations + more);
    int aged = stats.iterations;
    assert_int_equal(weft_solver_solve(kept, before, x, &stats), WEFT_OK);
    if (stats.refreshed == 4)
    {
        assert_true(aged >= first_iterations + 3 && stats.iterations <= first_iterations + 2 &&
                    energy_error(before, x) < 1e-4);
    }
    else
    {
        assert_memory_equal(first, x, n * sizeof(vec3));
    }
    weft_solver_destroy(kept);
    weft_solver_destroy(cold);
    free(first);
    free(x);
}

// Constraints come: nothing but numbers is made anew. They go: as well.
static void test_constraints_change(void** unused)
{
    (void)unused;
    static const double shares[] = {0.02, 0.1, 0.3};
    for (int turn = 0; turn < 12; turn++)
    {
        const char* overrides[] = {"cells=30", "tessellation=irregular"};
        weft_system *free_of = test_scene_system("pinned", overrides, 2, 10),
                    *held = test_scene_system("pinned", overrides, 2, 10);
        uint64_t random = (uint64_t)turn;
        test_constrain(free_of, 0.0, 0, &random);
        test_constrain(held, shares[turn % 3], turn / 3, &random);
        char what[64];
        snprintf(what, sizeof(what), "%g of the vertices held in %d directions", shares[turn % 3], turn / 3);
        check_change(free_of, held, 1, 5, turn % 2 ? 16 : 32, what);
        // Vertices that were held whole have no interpolation of their own: the smoother has to do it.
        check_change(held, free_of, 1, 8 * (turn % 3) + 10, turn % 2 ? 16 : 32, "released again");
        weft_system_destroy(free_of);
        weft_system_destroy(held);
    }
}

// All vertices of a region come to rest on something, as cloth does on a table: whole aggregates lose one direction,
// two or all, and their columns of P with them. What was kept goes on serving.
static void test_region_held(void** unused)
{
    (void)unused;
    for (int directions = 1; directions <= 3; directions++)
    {
        const char* overrides[] = {"cells=30"};
        weft_system *free_of = test_scene_system("pinned", overrides, 1, 10),
                    *held = test_scene_system("pinned", overrides, 1, 10);
        uint64_t random = 1;
        test_constrain(free_of, 0.0, 0, &random);
        test_constrain(held, 0.0, 0, &random);
        const vec3 axes[3] = {{0, 0, 1}, {0, 1, 0}, {1, 0, 0}};
        for (int i = 0; i < weft_system_vertex_count(held); i++)
        {
            if (i % 31 < 16)
            {
                held->filter[held->filter_count++] = filter_record_make(i, axes, directions);
            }
        }
        char what[64];
        snprintf(what, sizeof(what), "half the sheet held in %d directions", directions);
        check_change(free_of, held, 1, 8, directions % 2 ? 16 : 32, what);
        weft_system_destroy(free_of);
        weft_system_destroy(held);
    }
}

// The same system with springs between vertices that had none: contacts.
static weft_system* with_contacts(const weft_system* system, int count, uint64_t* random)
{
    const bsr_pattern* p = &system->pattern;
    int n = p->row_count;
    int* pairs = calloc(2 * (size_t)count, sizeof(int));
    int *row_start = calloc((size_t)n + 1, sizeof(int)),
        *column = calloc((size_t)(p->block_count + 2 * count), sizeof(int));
    double* values = calloc(9 * (size_t)(p->block_count + 2 * count), sizeof(double));
    for (int k = 0; k < count;)
    {
        int i = (int)test_random(random, 0.0, n), j = (int)test_random(random, 0.0, n);
        bool taken = i == j || bsr_pattern_find(p, i, j) >= 0;
        for (int m = 0; m < k; m++)
        {
            taken =
                taken || (pairs[2 * m] == i && pairs[2 * m + 1] == j) || (pairs[2 * m] == j && pairs[2 * m + 1] == i);
        }
        if (!taken)
        {
            pairs[2 * k] = i;
            pairs[2 * k++ + 1] = j;
        }
    }
    int at = 0;
    for (int i = 0; i < n; i++)
    {
        row_start[i] = at;
        int diagonal = at;
        for (int slot = p->row_start[i]; slot < p->row_start[i + 1]; slot++, at++)
        {
            diagonal = p->column[slot] == i ? at : diagonal;
            column[at] = p->column[slot];
            memcpy(values + 9 * at, system->values + 9 * slot, 9 * sizeof(double));
        }
        for (int k = 0; k < 2 * count; k++)
        {
            if (pairs[k] == i)
            {
                column[at] = pairs[k ^ 1]; // a spring along x
                values[9 * at] = -10.0 * system->values[9 * p->diagonal[pairs[k & ~1]]];
                values[9 * diagonal] -= values[9 * at];
                at++;
            }
        }
    }
    row_start[n] = at;
    double* S = calloc(9 * (size_t)n, sizeof(double));
    for (int i = 0; i < n; i++)
    {
        S[9 * i] = S[9 * i + 4] = S[9 * i + 8] = 1.0;
    }
    for (int f = 0; f < system->filter_count; f++)
    {
        memcpy(S + 9 * system->filter[f].vertex, system->filter[f].S, 9 * sizeof(double));
    }
    weft_system_def def = {.vertex_count = n,
                           .row_start = row_start,
                           .column = column,
                           .values = values,
                           .b = system->b,
                           .z = system->z,
                           .filter = S,
                           .positions = system->positions,
                           .element_vertices = 4};
    weft_system* out = NULL;
    assert_int_equal(weft_system_create(&def, &out, NULL), WEFT_OK);
    free(pairs);
    free(row_start);
    free(column);
    free(values);
    free(S);
    return out;
}

// Contacts come: aggregates and interpolation stay.
static void test_pattern_changes(void** unused)
{
    (void)unused;
    static const int counts[] = {1, 5, 60, 200};
    const char* overrides[] = {"cells=30"};
    weft_system* system = test_scene_system("drooping", overrides, 1, 10);
    for (int turn = 0; turn < 4; turn++)
    {
        uint64_t random = (uint64_t)turn;
        weft_system* touching = with_contacts(system, counts[turn], &random);
        char what[64];
        snprintf(what, sizeof(what), "%d contacts", counts[turn]);
        check_change(system, touching, 2, 5, turn % 2 ? 16 : 32, what);
        check_change(touching, system, 2, 10, turn % 2 ? 16 : 32, "gone again");
        weft_system_destroy(touching);
    }
    weft_system_destroy(system);
}

// What the stats say of memory is what is taken, apart from the public solver's own copy of the pattern.
static void test_memory(void** unused)
{
    (void)unused;
    const char* overrides[] = {"cells=100"};
    weft_system* system = test_scene_system("pinned", overrides, 1, 2);
    int n = weft_system_vertex_count(system), blocks = system->pattern.block_count;
    static const char* const names[] = {"sa-ppcg", "diag-pcg"};
    double held[2], most[2];
    for (int name = 0; name < 2; name++)
    {
        test_ledger ledger = {0};
        test_ledger_open(&ledger);
        weft_solver* solver = new_solver(names[name], 1);
        vec3* x = calloc((size_t)n, sizeof(vec3));
        weft_solve_stats stats;
        assert_int_equal(weft_solver_solve(solver, system, x, &stats), WEFT_OK);
        double matrix = 76.0 * blocks, own = 4.0 * (blocks + n) + 24.0 * n;
        held[name] = (double)ledger.bytes - own + matrix;
        most[name] = (double)ledger.bytes_most - own + matrix;
        print_message("          %s: %.1f MB held, %.1f said; at most %.1f, %.1f said\n", names[name],
                      1e-6 * held[name], 1e-6 * stats.bytes_held, 1e-6 * most[name], 1e-6 * stats.bytes);
        assert_true(fabs(stats.bytes_held / held[name] - 1.0) < 0.05);
        assert_true(fabs(stats.bytes / most[name] - 1.0) < 0.08);
        weft_solver_destroy(solver);
        test_ledger_close();
        free(x);
    }
    assert_true(held[0] < 2.0 * held[1] && most[0] < 2.6 * most[1]);
    weft_system_destroy(system);
}

// Stiffness that grows makes the radius of D^-1 A larger: a kept hierarchy must see that, and its polynomial converge,
// with a limit as without.
static void test_radius_grows(void** unused)
{
    (void)unused;
    weft_system *soft = test_sheet_system(40, 0.3), *stiff = test_sheet_system(40, 1e3);
    vec3* x = calloc((size_t)weft_system_vertex_count(soft), sizeof(vec3));
    static const char* const names[] = {"sa-ppcg", "sa-pcg"};
    for (int name = 0; name < 2; name++)
    {
        weft_solver_def def = weft_solver_def_default();
        def.solver = names[name];
        def.max_iterations = 500;
        def.sa.theta = 0.1; // so that soft springs are strong as well
        def.sa.coarsest = 60;
        weft_solver* solver = NULL;
        weft_solve_stats stats;
        assert_int_equal(weft_solver_create(&def, &solver, NULL), WEFT_OK);
        assert_int_equal(weft_solver_solve(solver, soft, x, &stats), WEFT_OK);
        assert_true(stats.level_count > 1);
        assert_int_equal(weft_solver_solve(solver, stiff, x, &stats), WEFT_OK);
        print_message("          %s: %d iterations, refreshed %d\n", names[name], stats.iterations, stats.refreshed);
        assert_true(energy_error(stiff, x) < 1e-4);
        weft_solver_destroy(solver);
    }
    free(x);
    weft_system_destroy(soft);
    weft_system_destroy(stiff);
}

// Stiffness that grows step by step: what refreshes find of the finest radius beside what a setup finds.
static void test_radius_refreshed(void** unused)
{
    (void)unused;
    sa_hierarchy kept = {.cpu = cpu_best()}, cold = {.cpu = cpu_best()};
    kept.settings = cold.settings = sa_default();
    kept.settings.theta = 0.1;
    kept.settings.coarsest = cold.settings.coarsest = 60;
    double before = 0.0;
    for (int step = 0; step < 12; step++)
    {
        weft_system* system = test_sheet_system(40, 0.3 * pow(2.0, step));
        linear_system view = system_view(system, 1);
        assert_int_equal(step == 0 ? sa_build(&kept, &view, true) : sa_refresh(&kept, &view, &(sa_update){0}), WEFT_OK);
        before = step == 0 ? kept.levels[0].radius : before;
        assert_int_equal(step == 11 ? sa_build(&cold, &view, true) : WEFT_OK, WEFT_OK);
        weft_system_destroy(system);
    }
    print_message("          radius %.3f, refreshed %.3f, cold with its margin %.3f\n", before, kept.levels[0].radius,
                  cold.levels[0].radius);
    assert_true(before < 0.8 * cold.levels[0].radius);
    assert_true(kept.levels[0].radius > 0.87 * cold.levels[0].radius);
    sa_finish(&kept);
    sa_finish(&cold);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_same_values),
        cmocka_unit_test(test_lets_go),
        cmocka_unit_test(test_constraints_change),
        cmocka_unit_test(test_pattern_changes),
        cmocka_unit_test(test_region_held),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_radius_grows),
        cmocka_unit_test(test_radius_refreshed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
