// The filter: orthonormal directions, projections, and the parts of a vector, against sums written out here.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "solve/solve.h"

static vec3 random_vec3(uint64_t seed, uint64_t index)
{
    return v3(2.0 * random_unit(seed, 3 * index) - 1.0, 2.0 * random_unit(seed, 3 * index + 1) - 1.0,
              2.0 * random_unit(seed, 3 * index + 2) - 1.0);
}

static void assert_near(double a, double b, double slack)
{
    if (!(fabs(a - b) <= slack))
    {
        fail_msg("%.17g is not %.17g to %g", a, b, slack);
    }
}

static void check_projection(const filter_record* record)
{
    double trace = record->S[0] + record->S[4] + record->S[8];
    assert_near(trace, 3.0 - record->direction_count, 1e-14);
    for (int i = 0; i < 3; i++)
    {
        for (int j = 0; j < 3; j++)
        {
            double square = 0.0;
            for (int k = 0; k < 3; k++)
            {
                square += record->S[3 * i + k] * record->S[3 * k + j];
            }
            assert_near(square, record->S[3 * i + j], 1e-14);
            assert_true(record->S[3 * i + j] == record->S[3 * j + i]);
        }
    }
    for (int a = 0; a < record->direction_count; a++)
    {
        for (int b = 0; b < record->direction_count; b++)
        {
            assert_near(v3_dot(record->direction[a], record->direction[b]), a == b, 1e-14);
        }
        assert_near(v3_length(m3_mul_v(record->S, record->direction[a])), 0.0, 1e-14);
    }
}

// S must also vanish on every direction that was given, whatever became of it.
static void test_random_directions(void** state)
{
    (void)state;
    for (int trial = 0; trial < 2000; trial++)
    {
        vec3 d[3];
        int count = trial % 4;
        double scale = pow(10.0, trial % 41 - 20);
        for (int k = 0; k < count; k++)
        {
            d[k] = v3_scale(scale, random_vec3(11, (uint64_t)(3 * trial + k)));
        }
        filter_record record = filter_record_make(trial, d, count);
        assert_int_equal(record.vertex, trial);
        assert_int_equal(record.direction_count, count);
        check_projection(&record);
        for (int k = 0; k < count; k++)
        {
            assert_near(v3_length(m3_mul_v(record.S, d[k])) / v3_length(d[k]), 0.0, 1e-13);
        }
    }
}

// Directions at a small angle are two; the same direction twice, or zero, is not.
static void test_dependent_directions(void** state)
{
    (void)state;
    for (int trial = 0; trial < 200; trial++)
    {
        vec3 a = random_vec3(5, (uint64_t)trial), b = random_vec3(6, (uint64_t)trial);
        vec3 same[3] = {a, v3_scale(-3.0, a), v3(0, 0, 0)};
        filter_record record = filter_record_make(0, same, 3);
        assert_int_equal(record.direction_count, 1);
        check_projection(&record);

        vec3 plane[3] = {a, b, v3_madd(v3_scale(0.3, a), -2.0, b)};
        record = filter_record_make(0, plane, 3);
        assert_int_equal(record.direction_count, 2);
        check_projection(&record);

        vec3 near[2] = {a, v3_madd(a, 1e-6, b)};
        record = filter_record_make(0, near, 2);
        assert_int_equal(record.direction_count, 2);
        check_projection(&record);
        assert_near(v3_length(m3_mul_v(record.S, b)), 0.0, 1e-8);
    }
}

static void test_three_directions_give_zero(void** state)
{
    (void)state;
    for (int trial = 0; trial < 100; trial++)
    {
        vec3 d[3] = {random_vec3(1, (uint64_t)trial), random_vec3(2, (uint64_t)trial), random_vec3(3, (uint64_t)trial)};
        filter_record record = filter_record_make(0, d, 3);
        for (int k = 0; k < 9; k++)
        {
            assert_true(record.S[k] == 0.0);
        }
    }
}

static void test_from_projection(void** state)
{
    (void)state;
    for (int trial = 0; trial < 500; trial++)
    {
        vec3 d[3] = {random_vec3(7, (uint64_t)trial), random_vec3(8, (uint64_t)trial), random_vec3(9, (uint64_t)trial)};
        filter_record made = filter_record_make(4, d, trial % 4), back;
        assert_true(filter_record_from_projection(4, made.S, &back));
        assert_int_equal(back.direction_count, made.direction_count);
        check_projection(&back);
        assert_memory_equal(back.S, made.S, sizeof(made.S));

        // With the digits of a short text file it is cleaned up instead.
        double rounded[9];
        for (int k = 0; k < 9; k++)
        {
            rounded[k] = round(made.S[k] * 1e7) * 1e-7;
        }
        assert_true(filter_record_from_projection(4, rounded, &back));
        check_projection(&back);
        for (int k = 0; k < 9; k++)
        {
            assert_near(back.S[k], made.S[k], 1e-6);
        }
    }
}

static void test_refuses_what_is_no_projection(void** state)
{
    (void)state;
    const double bad[][9] = {
        {2, 0, 0, 0, 1, 0, 0, 0, 1},     {1, 0.1, 0, 0, 1, 0, 0, 0, 0}, {0.5, 0, 0, 0, 1, 0, 0, 0, 1},
        {-1, 0, 0, 0, 1, 0, 0, 0, 1},    {NAN, 0, 0, 0, 1, 0, 0, 0, 1}, {INFINITY, 0, 0, 0, 1, 0, 0, 0, 1},
        {1, 0, 0, 0, 1, 0, 0, 0, 1e300},
    };
    for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++)
    {
        filter_record record;
        assert_false(filter_record_from_projection(0, bad[k], &record));
    }
}

enum
{
    ROWS = 9
};

static void test_parts_of_a_vector(void** state)
{
    (void)state;
    bsr_pattern pattern = {.row_count = ROWS};
    vec3 x[ROWS], z[ROWS], free_part[ROWS], fixed_part[ROWS], prescribed[ROWS];
    filter_record filter[4];
    for (int k = 0; k < 4; k++)
    {
        vec3 d[3] = {random_vec3(21, (uint64_t)k), random_vec3(22, (uint64_t)k), random_vec3(23, (uint64_t)k)};
        filter[k] = filter_record_make(2 * k + 1, d, k == 3 ? 1 : k + 1);
    }
    for (int i = 0; i < ROWS; i++)
    {
        x[i] = random_vec3(31, (uint64_t)i);
        z[i] = random_vec3(32, (uint64_t)i);
        free_part[i] = fixed_part[i] = x[i];
    }
    linear_system system = {.A = {&pattern, NULL}, .z = z, .filter = filter, .filter_count = 4};
    filter_apply(&system, free_part);
    filter_complement(&system, fixed_part);
    filter_prescribed(&system, prescribed);
    for (int i = 0; i < ROWS; i++)
    {
        vec3 expected = v3(0, 0, 0), expected_z = v3(0, 0, 0);
        const filter_record* record = i % 2 == 1 && i < 8 ? &filter[i / 2] : NULL;
        for (int d = 0; record && d < record->direction_count; d++)
        {
            expected = v3_madd(expected, v3_dot(record->direction[d], x[i]), record->direction[d]);
            expected_z = v3_madd(expected_z, v3_dot(record->direction[d], z[i]), record->direction[d]);
        }
        assert_near(v3_length(v3_sub(fixed_part[i], expected)), 0.0, 1e-14);
        assert_near(v3_length(v3_sub(prescribed[i], expected_z)), 0.0, 1e-14);
        assert_near(v3_length(v3_sub(v3_add(free_part[i], fixed_part[i]), x[i])), 0.0, 1e-14);
    }
    system.z = NULL;
    filter_prescribed(&system, prescribed);
    for (int i = 0; i < ROWS; i++)
    {
        assert_true(v3_length(prescribed[i]) == 0.0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_directions),
        cmocka_unit_test(test_dependent_directions),
        cmocka_unit_test(test_three_directions_give_zero),
        cmocka_unit_test(test_from_projection),
        cmocka_unit_test(test_refuses_what_is_no_projection),
        cmocka_unit_test(test_parts_of_a_vector),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
