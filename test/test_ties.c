// Ties J x = J z in every solver of the table, against the dense truth of common_ties.h.
#include "common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common_dense.h"
#include "common_system.h"
#include "common_ties.h"
#include "solve/ties/null_space.h"
#include "solve/sa/sa.h"

// ---- solving

static weft_solver* make_solver(const char* name, const char* preconditioner, double tolerance, int workers)
{
    weft_solver_def def = weft_solver_def_default();
    weft_solver* solver = NULL;
    def.solver = name;
    def.preconditioner = preconditioner;
    def.tolerance = tolerance;
    def.worker_count = workers;
    def.sa.coarsest = 24;
    assert_int_equal(weft_solver_create(&def, &solver, NULL), WEFT_OK);
    return solver;
}

static double largest(const vec3* a, const vec3* b, int n)
{
    double most = 0.0;
    for (int k = 0; k < 3 * n; k++)
    {
        most = fmax(most, fabs((&a[0].x)[k] - (b ? (&b[0].x)[k] : 0.0)));
    }
    return most;
}

// How far J x is from J z.
static double tie_error(const weft_system* s, const vec3* x)
{
    double most = 0.0;
    for (int r = 0; r < s->tie_count; r++)
    {
        double sum = 0.0;
        for (int k = s->tie_start[r]; k < s->tie_start[r + 1]; k++)
        {
            double z = s->z ? (&s->z[0].x)[s->tie_unknown[k]] : 0.0;
            sum += s->tie_value[k] * ((&x[0].x)[s->tie_unknown[k]] - z);
        }
        most = fmax(most, fabs(sum));
    }
    return most;
}

static void check_solver(const weft_system* s, const char* name, const char* preconditioner, const vec3* truth)
{
    int n = s->pattern.row_count;
    vec3* x = MEM_NEW(n, vec3);
    weft_solver* solver = make_solver(name, preconditioner, 1e-12, 1);
    weft_solve_stats stats;
    weft_status status = weft_solver_solve(solver, s, x, &stats);
    if (status != WEFT_OK)
    {
        fail_msg("%s: status %d", name, status);
    }
    double error = largest(x, truth, n), size = largest(truth, NULL, n);
    if (!(error <= 1e-7 * size) || !(tie_error(s, x) <= 1e-12 * size) || !(stats.residual2 < 1e-6))
    {
        fail_msg("%s %s: error %g of %g, ties %g, residual2 %g, %d iterations", name,
                 preconditioner ? preconditioner : "", error, size, tie_error(s, x), stats.residual2, stats.iterations);
    }
    weft_solver_destroy(solver);
    mem_free(x);
}

static void check_all_solvers(const weft_system* s)
{
    int n = s->pattern.row_count, count;
    tie_truth t = tie_truth_of(s);
    vec3 *x = MEM_NEW(n, vec3), *start = MEM_NEW(n, vec3), *own = MEM_NEW(n, vec3);
    tie_truth_solve(&t, s, x, start);
    linear_system view = system_view(s, 1);
    assert_int_equal(system_start(&view, own), WEFT_OK);
    assert_true(largest(own, start, n) < 1e-12);
    const linear_solver* const* solvers = linear_solvers(&count);
    for (int k = 0; k < count; k++)
    {
        check_solver(s, solvers[k]->name, NULL, x);
    }
    check_solver(s, "mpcg", "none", x);
    check_solver(s, "mpcg", "diagonal", x);
    free(t.S);
    mem_free(x);
    mem_free(start);
    mem_free(own);
}

static void test_every_solver(void** state)
{
    (void)state;
    static tie_table r;
    uint64_t random = 7;
    const struct
    {
        double held;
        int faces, edges, general;
    } cases[] = {{0, 1, 0, 0},   {0, 5, 4, 0},   {0, 0, 0, 6}, {0.3, 6, 3, 0},
                 {0.3, 4, 2, 8}, {0.9, 8, 4, 4}, {0, 12, 8, 9}};
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++)
    {
        weft_system* s = test_sheet_system(6, 30.0);
        test_constrain(s, cases[k].held, 0, &random);
        tie_table_random(&r, 36, cases[k].faces, cases[k].edges, cases[k].general, &random);
        tie_table_repeat(&r);
        tie_table_set(s, &r);
        check_all_solvers(s);
        weft_system_destroy(s);
    }
}

// A slave that others follow, a vertex tied to two faces, ties in a ring, all of a face tied, z left out.
static void test_chains(void** state)
{
    (void)state;
    static tie_table r;
    const int chain[][4] = {{0, 1, 2, 3},  {1, 8, 9, 10},   {0, 20, 21, 22},  {20, 30, 31, 32},
                            {32, 0, 5, 6}, {9, 12, 13, 14}, {10, 12, 13, 14}, {8, 12, 13, 14}};
    const double weights[4] = {1.0, -0.5, -0.25, -0.25};
    uint64_t random = 3;
    for (int pass = 0; pass < 2; pass++)
    {
        weft_system* s = test_sheet_system(6, 30.0);
        test_constrain(s, pass ? 0.2 : 0.0, 0, &random);
        r = (tie_table){0};
        for (size_t k = 0; k < sizeof(chain) / sizeof(chain[0]); k++)
        {
            tie_table_tie(&r, chain[k], weights, 4);
        }
        tie_table_set(s, &r);
        if (pass == 0)
        {
            mem_free(s->z);
            s->z = NULL;
        }
        check_all_solvers(s);
        weft_system_destroy(s);
    }
}

// S of the library is that of the truth: what the start and residual2 rest on.
static void test_projection(void** state)
{
    (void)state;
    static tie_table r;
    uint64_t random = 11;
    enum
    {
        N = 36
    };
    weft_system* s = test_sheet_system(6, 30.0);
    test_constrain(s, 0.4, 0, &random);
    tie_table_random(&r, N, 6, 4, 5, &random);
    tie_table_set(s, &r);
    tie_truth t = tie_truth_of(s);
    null_space space = {0};
    linear_system view = system_view(s, 1);
    assert_int_equal(null_space_build(&space, &view, NULL), WEFT_OK);
    vec3 a[N], b[N], c[N];
    long double dense[3 * N];
    for (int k = 0; k < 3 * N; k++)
    {
        dense[k] = (&a[0].x)[k] = test_random(&random, -1, 1);
    }
    test_dense_apply(t.S, dense, 3 * N);
    memcpy(b, a, sizeof(a));
    memcpy(c, a, sizeof(a));
    null_space_project(&space, b);
    null_space_complement(&space, &view, c);
    for (int k = 0; k < 3 * N; k++)
    {
        assert_true(fabs((&b[0].x)[k] - (double)dense[k]) < 1e-12);
        assert_true(fabs((&a[0].x)[k] - (&b[0].x)[k] - (&c[0].x)[k]) < 1e-12);
    }
    // The transposed product: T^T a . y = a . T y.
    memcpy(b, a, sizeof(a));
    null_space_restrict(&space, b);
    for (int k = 0; k < 3 * N; k++)
    {
        (&c[0].x)[k] = test_random(&random, -1, 1);
    }
    double left = 0.0, right = 0.0;
    for (int i = 0; i < N; i++)
    {
        left += v3_dot(b[i], c[i]);
    }
    null_space_expand(&space, c);
    for (int i = 0; i < N; i++)
    {
        right += v3_dot(a[i], c[i]);
    }
    assert_true(fabs(left - right) < 1e-11);
    null_space_finish(&space);
    free(t.S);
    weft_system_destroy(s);
}

// null_space_satisfy moves z such that J z is what was asked for, and what filters hold stays.
static void test_satisfy(void** state)
{
    (void)state;
    static tie_table r;
    uint64_t random = 5;
    weft_system* s = test_sheet_system(8, 30.0);
    test_constrain(s, 0.3, 0, &random);
    tie_table_random(&r, 64, 5, 3, 4, &random);
    tie_table_set(s, &r);
    double rhs[64], most = 0.0;
    for (int k = 0; k < r.count; k++)
    {
        rhs[k] = test_random(&random, -1, 1);
    }
    vec3 z[64];
    memcpy(z, s->z, sizeof(z));
    null_space space = {0};
    linear_system view = system_view(s, 1);
    assert_int_equal(null_space_build(&space, &view, rhs), WEFT_OK);
    null_space_satisfy(&space, &view, z);
    for (int k = 0; k < r.count; k++)
    {
        double sum = -rhs[k];
        for (int e = s->tie_start[k]; e < s->tie_start[k + 1]; e++)
        {
            sum += s->tie_value[e] * (&z[0].x)[s->tie_unknown[e]];
        }
        most = fmax(most, fabs(sum));
    }
    assert_true(most < 1e-11);
    for (int k = 0; k < s->filter_count; k++)
    {
        for (int d = 0; d < s->filter[k].direction_count; d++)
        {
            int i = s->filter[k].vertex;
            assert_true(fabs(v3_dot(s->filter[k].direction[d], v3_sub(z[i], s->z[i]))) < 1e-13);
        }
    }
    null_space_finish(&space);
    weft_system_destroy(s);
}

// ---- larger systems

// A seam: each vertex of the last rows of a second sheet follows a point of a face of the first, one group of all.
static weft_system* seam_system(int side, tie_table* r, uint64_t* random)
{
    weft_system* parts[2] = {test_sheet_system(side, 30.0), test_sheet_system(side, 30.0)};
    weft_system* s = test_join_systems(parts, 2);
    test_constrain(s, 0.02, 0, random);
    *r = (tie_table){0};
    for (int k = 0; k + 1 < side; k++)
    {
        double u = test_random(random, 0, 0.5), v = test_random(random, 0, 0.5);
        int tie[4] = {side * side + k, k, k + 1, side + k};
        double weights[4] = {1, -u, -v, u + v - 1};
        tie_table_tie(r, tie, weights, 4);
    }
    tie_table_set(s, r);
    return s;
}

static void test_long_seam(void** state)
{
    (void)state;
    static tie_table r;
    uint64_t random = 2;
    weft_system* s = seam_system(200, &r, &random);
    int n = s->pattern.row_count;
    vec3 *x = MEM_NEW(n, vec3), *y = MEM_NEW(n, vec3);
    weft_solver *direct = make_solver("cholesky", NULL, 1e-10, 2), *sa = make_solver("sa-ppcg", NULL, 1e-10, 2);
    weft_solve_stats stats;
    assert_int_equal(weft_solver_solve(direct, s, x, &stats), WEFT_OK);
    assert_int_equal(weft_solver_solve(sa, s, y, &stats), WEFT_OK);
    assert_true(largest(x, y, n) < 1e-6 * largest(x, NULL, n));
    assert_true(tie_error(s, y) < 1e-11);
    assert_int_equal(stats.escalations, 0);
    // Fill stays near the seam: a dense group of 600 vertices alone would be 360,000 blocks.
    print_message("blocks %d of %d, %d iterations\n", stats.levels[0].blocks, s->pattern.block_count, stats.iterations);
    assert_true(stats.levels[0].blocks < s->pattern.block_count + 10000);
    weft_solver_destroy(direct);
    weft_solver_destroy(sa);
    mem_free(x);
    mem_free(y);
    weft_system_destroy(s);
}

// One solver object through systems whose values, ties and filters change, and that lose their ties: as cold ones.
static void test_sequence(void** state)
{
    (void)state;
    static tie_table r;
    static const char* const names[] = {"sa-ppcg", "auto", "cholesky", "sa-pcg", "diag-ppcg"};
    uint64_t random = 4;
    for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
    {
        weft_system* s = seam_system(30, &r, &random);
        int n = s->pattern.row_count, refreshed = 0;
        vec3 *x = MEM_NEW(n, vec3), *y = MEM_NEW(n, vec3);
        weft_solver* solver = make_solver(names[k], NULL, 1e-11, 1);
        for (int step = 0; step < 8; step++)
        {
            if (step == 3 || step == 5 || step == 6)
            {
                tie_table none = {0};
                tie_table_random(&r, n, 4 * step, 2, 0, &random);
                tie_table_set(s, step == 5 ? &none : &r);
            }
            if (step == 4)
            {
                test_constrain(s, 0.05, 0, &random);
            }
            for (int i = 0; i < 9 * s->pattern.block_count && step == 2; i++)
            {
                s->values[i] *= 1.1;
            }
            weft_solver* cold = make_solver("cholesky", NULL, 1e-11, 1);
            weft_solve_stats stats;
            assert_int_equal(weft_solver_solve(cold, s, x, NULL), WEFT_OK);
            assert_int_equal(weft_solver_solve(solver, s, y, &stats), WEFT_OK);
            if (!(largest(x, y, n) < 1e-6 * largest(x, NULL, n)) || !(tie_error(s, y) < 1e-11))
            {
                fail_msg("%s, step %d: %g of %g, ties %g", names[k], step, largest(x, y, n), largest(x, NULL, n),
                         tie_error(s, y));
            }
            refreshed += stats.refreshed > 0;
            weft_solver_destroy(cold);
        }
        assert_true(refreshed >= 3 || strcmp(names[k], "sa-ppcg") != 0);
        weft_solver_destroy(solver);
        mem_free(x);
        mem_free(y);
        weft_system_destroy(s);
    }
}

static void test_threads_give_the_same_bits(void** state)
{
    (void)state;
    static tie_table r;
    static const char* const names[] = {"sa-ppcg", "diag-ppcg", "diag-pcg", "cholesky"};
    uint64_t random = 9;
    weft_system* s = seam_system(60, &r, &random);
    int n = s->pattern.row_count;
    vec3 *x = MEM_NEW(n, vec3), *y = MEM_NEW(n, vec3);
    for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
    {
        const int workers[] = {1, 2, 3, 8};
        for (int w = 0; w < 4; w++)
        {
            weft_solver* solver = make_solver(names[k], NULL, 1e-6, workers[w]);
            assert_int_equal(weft_solver_solve(solver, s, w ? y : x, NULL), WEFT_OK);
            weft_solver_destroy(solver);
            assert_true(w == 0 || memcmp(x, y, (size_t)n * sizeof(vec3)) == 0);
        }
    }
    mem_free(x);
    mem_free(y);
    weft_system_destroy(s);
}

// The start of a solve is the guess where the ties leave it free; a good guess costs no iterations.
static void test_first_guess(void** state)
{
    (void)state;
    static tie_table r;
    uint64_t random = 6;
    weft_system* s = seam_system(12, &r, &random);
    int n = s->pattern.row_count;
    vec3* x = MEM_NEW(n, vec3);
    solver_object object;
    solve_options options = {.tolerance = 1e-8, .cpu = cpu_best()};
    weft_solve_stats stats;
    assert_int_equal(solver_object_init(&object, "diag-ppcg", &options, NULL), WEFT_OK);
    linear_system view = system_view(s, 1);
    assert_int_equal(solver_object_solve(&object, &view, x, &stats), WEFT_OK);
    assert_true(stats.iterations > 10);
    assert_int_equal(solver_object_solve(&object, &view, x, &stats), WEFT_OK);
    assert_true(stats.iterations <= 1);
    solver_object_finish(&object);
    mem_free(x);
    weft_system_destroy(s);
}

// Every allocation in turn fails: a status, no crash, nothing lost.
static void test_no_memory(void** state)
{
    (void)state;
    static tie_table r;
    uint64_t random = 8;
    weft_system* s = seam_system(6, &r, &random);
    vec3 x[72];
    test_ledger ledger = {0};
    weft_status status = WEFT_NO_MEMORY;
    for (int k = 1; status != WEFT_OK && k < 500; k++)
    {
        ledger = (test_ledger){.fail_at = k};
        test_ledger_open(&ledger);
        weft_solver_def def = weft_solver_def_default();
        weft_solver* solver = NULL;
        def.solver = "diag-ppcg";
        status = weft_solver_create(&def, &solver, NULL);
        status = status == WEFT_OK ? weft_solver_solve(solver, s, x, NULL) : status;
        weft_solver_destroy(solver);
        test_ledger_close();
        assert_int_equal(ledger.live, 0);
        assert_true(status == WEFT_OK || status == WEFT_NO_MEMORY);
    }
    assert_int_equal(status, WEFT_OK);
    weft_system_destroy(s);
}

static void test_bad_ties_are_refused(void** state)
{
    (void)state;
    const int row_start[2] = {0, 1}, column[1] = {0}, twice[2] = {1, 1}, outside[2] = {0, 3}, start[2] = {0, 2};
    const int falls[3] = {0, 2, 1};
    const double values[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, ones[2] = {1, 1}, nan[2] = {1, NAN};
    const struct
    {
        int count;
        const int *start, *unknown;
        const double* value;
        const char* word;
    } bad[] = {{1, start, twice, ones, "twice"},
               {1, start, outside, ones, "unknowns"},
               {1, start, (const int[]){0, 1}, nan, "finite"},
               {2, falls, (const int[]){0, 1}, ones, "decrease"},
               {-1, start, (const int[]){0, 1}, ones, "negative"}};
    for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++)
    {
        weft_system_def def = {.vertex_count = 1, .row_start = row_start, .column = column, .values = values};
        weft_system* system;
        weft_error error = {0};
        def.tie_count = bad[k].count;
        def.tie_start = bad[k].start;
        def.tie_unknown = bad[k].unknown;
        def.tie_value = bad[k].value;
        assert_int_equal(weft_system_create(&def, &system, &error), WEFT_BAD_INPUT);
        assert_non_null(strstr(error.message, bad[k].word));
    }
}

// Through files and the command: every solver's answer is the one of memory.
static void test_the_command_solves_files(void** state)
{
    (void)state;
    static tie_table r;
    uint64_t random = 12;
    char folder[256], prefix[300], command[1200];
    weft_system* s = seam_system(12, &r, &random);
    int n = s->pattern.row_count, count;
    vec3* x = MEM_NEW(n, vec3);
    weft_solver* direct = make_solver("cholesky", NULL, 1e-12, 1);
    assert_int_equal(weft_solver_solve(direct, s, x, NULL), WEFT_OK);
    weft_solver_destroy(direct);
    snprintf(prefix, sizeof(prefix), "%s/s", test_folder(folder));
    const linear_solver* const* solvers = linear_solvers(&count);
    for (int k = 0; k < 2 * count; k++)
    {
        // First the text files, then beside them the binary one, which is preferred.
        if (k % count == 0)
        {
            assert_int_equal(weft_system_write(s, prefix, k > 0, NULL), WEFT_OK);
        }
        snprintf(command, sizeof(command), "\"$WEFT\" solve s --solver %s --tolerance 1e-11 -o x.mtx > /dev/null",
                 solvers[k % count]->name);
        assert_int_equal(test_shell(folder, command), 0);
        snprintf(command, sizeof(command), "%s/x.mtx", folder);
        FILE* file = fopen(command, "r");
        assert_non_null(file);
        assert_int_equal(fscanf(file, "%*[^\n]\n%*d %*d\n"), 0);
        double worst = 0.0, value;
        for (int e = 0; e < 3 * n; e++)
        {
            assert_int_equal(fscanf(file, "%lf", &value), 1);
            worst = fmax(worst, fabs(value - (&x[0].x)[e]));
        }
        fclose(file);
        assert_true(worst < 1e-7 * largest(x, NULL, n));
    }
    test_folder_remove(folder);
    mem_free(x);
    weft_system_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_solver),
        cmocka_unit_test(test_chains),
        cmocka_unit_test(test_projection),
        cmocka_unit_test(test_satisfy),
        cmocka_unit_test(test_long_seam),
        cmocka_unit_test(test_sequence),
        cmocka_unit_test(test_first_guess),
        cmocka_unit_test(test_threads_give_the_same_bits),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_bad_ties_are_refused),
        cmocka_unit_test(test_the_command_solves_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
