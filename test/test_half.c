// Numbers in 16 bits: against the definition of the format, computed in double.
#include "common.h"

#include "math/half.h"

// Every bit pattern with a normal exponent is what the standard says, and comes back as itself.
static void test_every_number(void** unused)
{
    (void)unused;
    for (uint32_t h = 0; h < 0x10000; h++)
    {
        int exponent = (int)(h >> 10 & 31);
        double mantissa = 1.0 + (h & 1023) / 1024.0, sign = h & 0x8000 ? -1.0 : 1.0;
        if (exponent == 31)
        {
            continue; // infinities and what is no number are never written
        }
        double truth = exponent == 0 ? 0.0 : sign * ldexp(mantissa, exponent - 15);
        assert_true((double)half_to_float((uint16_t)h) == truth);
        if (exponent > 0)
        {
            assert_int_equal(half_of((float)truth), h);
        }
    }
}

// To the nearest, halfway cases to even, and signs alike; below the normal range zero, above it the largest.
static void test_rounding(void** unused)
{
    (void)unused;
    uint64_t random = 16;
    for (int k = 0; k < 200000; k++)
    {
        float value = (float)(ldexp(test_random(&random, 1.0, 2.0), (int)test_random(&random, -14.0, 15.0)));
        double back = (double)half_to_float(half_of(value)), unit = ldexp(1.0, ilogb((double)value) - 10);
        assert_true(fabs(back - (double)value) <= 0.5 * unit);
        assert_true((double)half_to_float(half_of(-value)) == -back);
    }
    for (int k = 0; k < 1023; k++)
    {
        uint16_t low = (uint16_t)(0x3C00 + k), even = k % 2 ? (uint16_t)(low + 1) : low;
        float middle = 0.5F * (half_to_float(low) + half_to_float((uint16_t)(low + 1)));
        assert_int_equal(half_of(middle), even);
    }
    assert_int_equal(half_of(6.0e-5F), 0);
    assert_int_equal(half_of(-1e-30F), 0x8000);
    assert_int_equal(half_of(1e30F), 0x7BFF);
    assert_true(half_to_float(0x7BFF) == 65504.0F);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_number), cmocka_unit_test(test_rounding)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
