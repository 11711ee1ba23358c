// The energy norm of the error: against dense solutions, at both ends of its range, and from the command line.
#define _POSIX_C_SOURCE 200809L
#include "common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common_system.h"

static double energy_error(const weft_system* system, const vec3* x)
{
    double out = -1.0;
    assert_int_equal(weft_system_energy_error(system, x, &out, NULL), WEFT_OK);
    return out;
}

static weft_system* some_system(int turn, uint64_t* random)
{
    weft_system* parts[] = {test_sheet_system(5, 100.0), test_triangle_system(), test_lonely_system(3, random)};
    weft_system* system = test_join_systems(parts, 3);
    test_constrain(system, 0.1 * turn, turn % 4, random);
    return system;
}

// Between the start, whose error is 1, and the solution the error is linear.
static void test_values(void** unused)
{
    (void)unused;
    uint64_t random = 0;
    for (int turn = 0; turn < 6; turn++)
    {
        weft_system* system = some_system(turn, &random);
        int n = system->pattern.row_count;
        linear_system view = system_view(system, 0);
        vec3 *exact = calloc((size_t)n, sizeof(vec3)), *start = calloc((size_t)n, sizeof(vec3)),
             *x = calloc((size_t)n, sizeof(vec3));
        test_dense_solution(system, exact);
        filter_prescribed(&view, start);
        assert_true(fabs(energy_error(system, start) - 1.0) < 1e-12);
        assert_true(energy_error(system, exact) < 1e-12);
        for (int i = 0; i < n; i++)
        {
            x[i] = v3_add(v3_scale(0.75, exact[i]), v3_scale(0.25, start[i]));
        }
        assert_true(fabs(energy_error(system, x) - 0.25) < 1e-12);
        for (int i = 0; i < n; i++)
        {
            x[i] = test_random_vec(&random, 1.0);
        }
        double expected = test_energy_distance(system, x, exact) / test_energy_distance(system, start, exact);
        assert_true(fabs(energy_error(system, x) - expected) < 1e-10 * expected);
        free(exact);
        free(start);
        free(x);
        weft_system_destroy(system);
    }
}

// A start that is the solution, numbers that are none, a matrix that has no solution.
static void test_edges(void** unused)
{
    (void)unused;
    uint64_t random = 100;
    weft_system* system = some_system(0, &random);
    int n = system->pattern.row_count;
    vec3* x = calloc((size_t)n, sizeof(vec3));
    double out;
    weft_error error = {0};
    memset(system->b, 0, (size_t)n * sizeof(vec3));
    assert_true(energy_error(system, x) == 0.0);
    x[1].y = 1.0;
    assert_true(isinf(energy_error(system, x)));
    x[1].y = NAN;
    assert_int_equal(weft_system_energy_error(system, x, &out, &error), WEFT_NOT_FINITE);
    assert_true(isnan(out) && error.message[0]);
    x[1].y = 0.0;
    system->values[9 * system->pattern.diagonal[7]] = 1e-9;
    system->b[0] = v3(1, 1, 1);
    assert_int_equal(weft_system_energy_error(system, x, &out, &error), WEFT_NOT_DEFINITE);
    assert_true(isnan(out) && strstr(error.message, "tight solve"));
    free(x);
    weft_system_destroy(system);
}

static void test_failing_allocation(void** unused)
{
    (void)unused;
    uint64_t random = 200;
    weft_system* system = some_system(2, &random);
    vec3* x = calloc((size_t)system->pattern.row_count, sizeof(vec3));
    int tried = 0;
    test_ledger l = {0};
    for (int fail_at = 1; l.made >= fail_at - 1; fail_at++, tried++)
    {
        double out;
        l = (test_ledger){.fail_at = fail_at};
        test_ledger_open(&l);
        weft_status status = weft_system_energy_error(system, x, &out, NULL);
        test_ledger_close();
        // Without memory for the direct solver multigrid steps in.
        assert_true(status == WEFT_OK ? out > 0.0 : status == WEFT_NO_MEMORY && isnan(out));
        assert_int_equal(l.live, 0);
    }
    print_message("          %d failing allocations\n", tried);
    free(x);
    weft_system_destroy(system);
}

// What a command prints.
static void run(const char* folder, const char* options, char* text, size_t size)
{
    char line[256], path[300];
    snprintf(line, sizeof(line), "\"$WEFT\" solve s %s > out", options);
    assert_int_equal(test_shell(folder, line), 0);
    snprintf(path, sizeof(path), "%s/out", folder);
    FILE* f = fopen(path, "r");
    assert_non_null(f);
    text[fread(text, 1, size - 1, f)] = 0;
    fclose(f);
}

static void test_command(void** unused)
{
    (void)unused;
    uint64_t random = 300;
    char folder[256], prefix[300], text[4000];
    snprintf(prefix, sizeof(prefix), "%s/s", test_folder(folder));
    weft_system* system = some_system(2, &random);
    assert_int_equal(weft_system_write(system, prefix, 0, NULL), WEFT_OK);
    weft_system_destroy(system);
    run(folder, "--json --solver mpcg", text, sizeof(text));
    assert_non_null(strstr(text, "\"energy_error\":null"));
    run(folder, "--json --solver mpcg --tolerance 1e-3 --energy-error --repeat 2", text, sizeof(text));
    const char* at = strstr(text, "\"energy_error\":");
    assert_non_null(at);
    double value = strtod(at + strlen("\"energy_error\":"), NULL);
    assert_true(value > 0.0 && value < 0.1);
    run(folder, "--solver sa-ppcg --energy-error", text, sizeof(text));
    assert_non_null(strstr(text, "energy error "));
    run(folder, "--solver sa-ppcg", text, sizeof(text));
    assert_null(strstr(text, "energy error"));
    test_folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_failing_allocation),
        cmocka_unit_test(test_command),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
