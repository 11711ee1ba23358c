// Decimal numbers against the C library's, which is correct in the C locale.
#include "common.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/core.h"

static void expect_number(const char* text, double value)
{
    const char* s = text;
    double got = 0.0;
    assert_true(decimal_parse(&s, &got));
    assert_int_equal(*s, 0);
    if (memcmp(&got, &value, sizeof(got)) != 0)
    {
        fail_msg("%s became %.17g instead of %.17g", text, got, value);
    }
}

static void test_numbers(void** state)
{
    (void)state;
    char text[64];
    for (uint64_t k = 0; k < 200000; k++)
    {
        int digits = 1 + (int)(random_bits(5, 3 * k) % 20);
        int exponent = (int)(random_bits(5, 3 * k + 1) % 80) - 40;
        double x = (random_unit(5, 3 * k + 2) - 0.5) * pow(10.0, exponent);
        snprintf(text, sizeof(text), k % 2 ? "%.*e" : "%.*g", digits, x);
        expect_number(text, strtod(text, NULL));
    }
    expect_number("9007199254740993", 9007199254740992.0);
    expect_number("9007199254740993.00000000000000000001", 9007199254740994.0);
    expect_number("1e23", 1e23);
    expect_number("8.5e-324", strtod("8.5e-324", NULL));
    expect_number("1e999999999999", INFINITY);
    expect_number("-0", -0.0);
    expect_number("0.000000000000000000000000000000000000000000001e45", 1.0);
    const char* none[] = {"", ".", "-", "+.", "e5", "nan", "inf", "x1", "-.e1"};
    for (size_t k = 0; k < sizeof(none) / sizeof(none[0]); k++)
    {
        const char* s = none[k];
        double x;
        assert_false(decimal_parse(&s, &x));
    }
}

// A locale with a decimal comma changes nothing. Skipped where none is installed.
static void test_numbers_locale(void** state)
{
    (void)state;
    const char* names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE", "fr_FR"};
    bool set = false;
    for (size_t k = 0; k < sizeof(names) / sizeof(names[0]) && !set; k++)
    {
        set = setlocale(LC_ALL, names[k]) != NULL;
    }
    if (!set)
    {
        print_message("no locale with a decimal comma is installed: not tested\n");
        skip();
    }
    expect_number("1.5", 1.5);
    expect_number("1.50000000000000000000001e-30", 1.5e-30);
    setlocale(LC_ALL, "C");
}

static void test_not_finite(void** state)
{
    (void)state;
    const char* yes[] = {"nan", "NaN", "-inf", "+Infinity", "INF", "1.#IND", "-1.#INF"};
    for (size_t k = 0; k < sizeof(yes) / sizeof(yes[0]); k++)
    {
        assert_true(decimal_is_not_finite(yes[k]));
    }
    const char* no[] = {"", "-", "n", "in", "1.5", "1.", "x"};
    for (size_t k = 0; k < sizeof(no) / sizeof(no[0]); k++)
    {
        assert_false(decimal_is_not_finite(no[k]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_numbers_locale),
        cmocka_unit_test(test_not_finite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
