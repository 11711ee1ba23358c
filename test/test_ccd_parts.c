// The parts of continuous collision detection: whole numbers, polynomials, signs at roots, and the filter against exact
// arithmetic. Answers as a whole are judged in test_ccd.c, by an oracle that shares no source with them.
#include "test/common.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "collide/big.h"
#include "collide/ccd.h"

enum
{
    POOL = 1 << 16
};

static uint64_t pool_digits[POOL];

static big_pool new_pool(void)
{
    return (big_pool){pool_digits, 0, POOL, 0};
}

// ---- whole numbers

// A number of up to `digits` digits, with runs of zeros and ones, which carry far.
static big random_big(big_pool* pool, uint64_t* counter, int digits)
{
    big value = {0};
    int count = (int)test_random(counter, 0.0, digits + 1.0);
    for (int k = 0; k < count; k++)
    {
        uint64_t digit = random_bits(3, (*counter)++);
        double kind = test_random(counter, 0.0, 1.0);
        digit = kind < 0.2 ? 0 : kind < 0.4 ? UINT64_MAX : digit;
        value = big_add(pool, big_shift_up(pool, value, 64), big_from_uint(pool, digit));
    }
    return test_random(counter, 0.0, 1.0) < 0.5 ? big_negate(value) : value;
}

static bool big_equal(big_pool* pool, big a, big b)
{
    return big_sub(pool, a, b).sign == 0;
}

static void whole_numbers_obey_the_laws(void** state)
{
    (void)state;
    uint64_t counter = 0;
    for (int round = 0; round < 20000; round++)
    {
        big_pool pool = new_pool();
        big a = random_big(&pool, &counter, 6), b = random_big(&pool, &counter, 6), c = random_big(&pool, &counter, 4);
        big left = big_mul(&pool, big_add(&pool, a, b), c);
        big right = big_add(&pool, big_mul(&pool, a, c), big_mul(&pool, b, c));
        assert_true(big_equal(&pool, left, right));
        left = big_mul(&pool, big_add(&pool, a, b), big_sub(&pool, a, b));
        right = big_sub(&pool, big_mul(&pool, a, a), big_mul(&pool, b, b));
        assert_true(big_equal(&pool, left, right));
        int bits = (int)test_random(&counter, 0.0, 200.0);
        assert_true(big_equal(&pool, big_shift_down(&pool, big_shift_up(&pool, a, bits), bits), a));
        big power = big_shift_up(&pool, big_from_uint(&pool, 1), bits);
        assert_true(big_equal(&pool, big_shift_up(&pool, a, bits), big_mul(&pool, a, power)));
        if (a.sign != 0)
        {
            assert_int_equal(big_trailing_zeros(big_shift_up(&pool, a, bits)), big_trailing_zeros(a) + bits);
            assert_true(a.digits[a.size - 1] != 0);
        }
    }
}

// Against the compiler's own 128 bits.
static void whole_numbers_equal_those_of_128_bits(void** state)
{
    (void)state;
    for (uint64_t k = 0; k < 20000; k++)
    {
        big_pool pool = new_pool();
        uint64_t x = random_bits(5, 2 * k) >> (k % 60), y = random_bits(5, 2 * k + 1) >> (k % 47);
        unsigned __int128 product = (unsigned __int128)x * y;
        big z = big_mul(&pool, big_from_uint(&pool, x), big_from_uint(&pool, y));
        assert_true((z.size > 0 ? z.digits[0] : 0) == (uint64_t)product);
        assert_true((z.size > 1 ? z.digits[1] : 0) == (uint64_t)(product >> 64));
    }
}

static void doubles_become_whole_numbers(void** state)
{
    (void)state;
    big_pool pool = new_pool();
    big three = big_from_double(&pool, 0.375, -3), half = big_from_double(&pool, -0x1.8p70, 69);
    assert_true(three.sign == 1 && three.size == 1 && three.digits[0] == 3);
    assert_true(half.sign == -1 && half.size == 1 && half.digits[0] == 3);
    assert_int_equal(big_from_double(&pool, -0.0, 5).sign, 0);
    big wide = big_from_double(&pool, 1e12, -152), narrow = big_from_double(&pool, 0x1p-152, -152);
    assert_true(narrow.size == 1 && narrow.digits[0] == 1);
    assert_true(big_equal(&pool, big_shift_down(&pool, wide, 152), big_from_uint(&pool, 1000000000000u)));
}

// ---- polynomials with known roots

// The product of (2^shift t - numerator) over the roots.
static poly poly_from_roots(big_pool* pool, const dyadic* root, int count)
{
    poly product = {.degree = 0, .c = {big_from_uint(pool, 1)}};
    for (int k = 0; k < count; k++)
    {
        big scale = big_shift_up(pool, big_from_uint(pool, 1), root[k].shift);
        poly factor = poly_linear(big_negate(root[k].numerator), scale);
        product = poly_mul(pool, &product, &factor);
    }
    return product;
}

static dyadic dyadic_at(big_pool* pool, int numerator, int shift)
{
    return (dyadic){big_from_uint(pool, (uint64_t)numerator), shift};
}

// Roots are odd multiples of 1/64, single or multiple; the points between which they are counted are even ones.
static void chains_count_roots_and_sum_signs(void** state)
{
    (void)state;
    uint64_t counter = 0;
    for (int round = 0; round < 20000; round++)
    {
        big_pool pool = new_pool();
        dyadic root[3], zero[2];
        int place[3], of_g[2], count = 1 + (int)test_random(&counter, 0.0, 3.0);
        for (int k = 0; k < count; k++)
        {
            place[k] = 2 * (int)test_random(&counter, 0.0, 8.0) + 1;
            root[k] = dyadic_at(&pool, place[k], 6);
        }
        for (int k = 0; k < 2; k++)
        {
            of_g[k] = (int)test_random(&counter, 0.0, 16.0);
            zero[k] = dyadic_at(&pool, of_g[k], 6);
        }
        poly F = poly_from_roots(&pool, root, count), G = poly_from_roots(&pool, zero, 2);
        if (test_random(&counter, 0.0, 1.0) < 0.5)
        {
            F = poly_negate(&F);
        }
        int low = 2 * (int)test_random(&counter, 0.0, 5.0), high = low + 2 * (int)test_random(&counter, 1.0, 5.0);
        int expected_roots = 0, expected_signs = 0;
        for (int k = 0; k < count; k++)
        {
            bool repeated = (k > 0 && place[0] == place[k]) || (k > 1 && place[1] == place[k]);
            bool between = place[k] > low && place[k] < high && !repeated;
            int value = (place[k] - of_g[0]) * (place[k] - of_g[1]);
            expected_roots += between;
            expected_signs += between ? (value > 0) - (value < 0) : 0;
        }
        dyadic from = dyadic_at(&pool, low, 6), to = dyadic_at(&pool, high, 6);
        poly_chain roots = poly_chain_make(&pool, &F, NULL), signs = poly_chain_make(&pool, &F, &G);
        assert_int_equal(poly_chain_changes(&pool, &roots, from) - poly_chain_changes(&pool, &roots, to),
                         expected_roots);
        assert_int_equal(poly_chain_changes(&pool, &signs, from) - poly_chain_changes(&pool, &signs, to),
                         expected_signs);
    }
}

static void deflation_takes_out_a_root_wholly(void** state)
{
    (void)state;
    big_pool pool = new_pool();
    dyadic root[3] = {dyadic_at(&pool, 5, 3), dyadic_at(&pool, 5, 3), dyadic_at(&pool, 7, 4)};
    poly F = poly_from_roots(&pool, root, 3), rest = poly_deflate(&pool, &F, root[0]);
    assert_int_equal(rest.degree, 1);
    assert_int_equal(poly_sign(&pool, &rest, root[2]), 0);
    assert_int_equal(poly_sign(&pool, &rest, dyadic_at(&pool, 1, 0)), 1);
    assert_int_equal(poly_sign(&pool, &F, root[0]), 0);
    assert_int_equal(poly_sign(&pool, &F, dyadic_at(&pool, 9, 4)), 1);
    assert_int_equal(poly_sign(&pool, &F, dyadic_at(&pool, 6, 4)), -1);
}

// ---- the filter

static double family_coordinate(int family, uint64_t* counter)
{
    double r = test_random(counter, 0.0, 1.0), s = test_random(counter, -1.0, 1.0);
    switch (family)
    {
    case 0:
        return s;
    case 1:
        return floor(5.0 * r) - 2.0;
    case 2:
        return copysign(pow(10.0, -29.9 + 41.8 * r), s);
    case 3:
        return 1e5 + 1e-6 * r;
    case 4:
        return 1e-20 * floor(7.0 * r) + (s > 0.8 ? 1e11 : 0.0);
    default:
        return nextafter(1.0 + floor(4.0 * r), s > 0.0 ? 9.0 : 1.0 + floor(4.0 * r)); // whole, or one bit above
    }
}

// Where the filter decides, exact arithmetic says the same, and the times agree.
static void filter_agrees_with_exact_arithmetic(void** state)
{
    (void)state;
    uint64_t counter = 0;
    for (int family = 0; family < 6; family++)
    {
        int decided = 0, yes = 0, rounds = 6000;
        for (int round = 0; round < rounds; round++)
        {
            vec3 at[8];
            for (int k = 0; k < 8; k++)
            {
                at[k].x = family_coordinate(family, &counter);
                at[k].y = family_coordinate(family, &counter);
                at[k].z = family_coordinate(family, &counter);
            }
            weft_pair_kind kind = round % 2 ? WEFT_EDGE_EDGE : WEFT_VERTEX_FACE;
            double fast = 0.0, exact = 0.0;
            ccd_verdict verdict = ccd_filter(kind, at, at + 4, &fast);
            bool truth = ccd_exact(kind, at, at + 4, &exact);
            yes += truth;
            if (verdict != CCD_UNSURE)
            {
                decided++;
                assert_int_equal(verdict == CCD_YES, truth);
                assert_true(!truth || (fast <= exact + 0x1p-42 && fast >= exact - 1e-6));
            }
        }
        print_message("family %d: filter decides %d of %d, %d collide\n", family, decided, rounds, yes);
        assert_true(decided > rounds / 10 && yes > rounds / 100);
    }
}

// The reach of the filter shrinks with the distance, not with the coordinates: a vertex that stops short of a face by a
// relative 1e-12 is told apart at any scale and offset that can hold the difference.
static void filter_is_sharp_at_every_scale(void** state)
{
    (void)state;
    for (int exponent = -17; exponent <= 12; exponent++)
    {
        double scale = pow(10.0, exponent);
        for (int passes = 0; passes < 2; passes++)
        {
            double stop = passes ? -1e-12 : 1e-12;
            vec3 start[4] = {{0.3, 0.2, 1.0}, {0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}}, end[4];
            memcpy(end, start, sizeof(end));
            end[0].z = stop;
            for (int k = 0; k < 4; k++)
            {
                start[k] = v3_scale(scale, start[k]);
                end[k] = v3_scale(scale, end[k]);
            }
            weft_ccd result;
            assert_int_equal(weft_ccd_query(WEFT_VERTEX_FACE, start, end, &result), WEFT_OK);
            assert_int_equal(result.collides, passes);
            assert_int_equal(result.exact, 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers_obey_the_laws),       cmocka_unit_test(whole_numbers_equal_those_of_128_bits),
        cmocka_unit_test(doubles_become_whole_numbers),      cmocka_unit_test(chains_count_roots_and_sum_signs),
        cmocka_unit_test(deflation_takes_out_a_root_wholly), cmocka_unit_test(filter_agrees_with_exact_arithmetic),
        cmocka_unit_test(filter_is_sharp_at_every_scale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
