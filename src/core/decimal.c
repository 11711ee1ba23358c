// Decimal numbers, correctly rounded and independent of the locale, by the first of three ways that applies:
//
//   m 10^p with m <= 2^53 and |p| <= 22: both factors are exact in double, so that one multiplication or division
//   rounds once and correctly (Clinger 1990, section 3); m 10^p with m < 2^64 and |p| <= 27: in 128-bit integers. m 5^p
//   has at most 127 bits; for negative p the quotient m 2^k / 5^-p with a sticky bit for the remainder decides every
//   tie. That covers most numbers of 17 digits; all others: the C library, some five times as slow.
#define _GNU_SOURCE
#include <ctype.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/core.h"

enum
{
    DIGITS_MAX = 19, // fit in 64 bits
    DOUBLE_POWER_MAX = 22,
    INTEGER_POWER_MAX = 27, // 5^27 < 2^63
    EXPONENT_LIMIT = 99999  // far beyond double; the rest of an exponent's digits changes nothing
};

typedef unsigned __int128 uint128;

// A number's text, taken apart: mantissa * 10^power.
typedef struct decimal
{
    uint64_t mantissa;
    int power;
    bool exact; // no digit was dropped from the mantissa
} decimal;

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

// Digits before and behind the point; false when there is none at all.
static bool decimal_scan_mantissa(const char** cursor, decimal* d)
{
    const char* s = *cursor;
    int digits = 0;
    bool point = false, seen = false;
    for (;; s++)
    {
        if (*s == '.' && !point)
        {
            point = true;
            continue;
        }
        if (!is_digit(*s))
        {
            break;
        }
        seen = true;
        if (digits == DIGITS_MAX)
        {
            d->exact = false;
            continue;
        }
        d->mantissa = 10 * d->mantissa + (uint64_t)(*s - '0');
        digits += d->mantissa > 0;
        d->power -= point;
    }
    *cursor = s;
    return seen;
}

// "e" or "E", a sign and digits. Anything else is left where it is.
static void decimal_scan_exponent(const char** cursor, decimal* d)
{
    const char* s = *cursor;
    if (*s != 'e' && *s != 'E')
    {
        return;
    }
    s++;
    bool negative = *s == '-';
    s += *s == '-' || *s == '+';
    if (!is_digit(*s))
    {
        return;
    }
    int exponent = 0;
    for (; is_digit(*s); s++)
    {
        exponent = int_min(10 * exponent + (*s - '0'), EXPONENT_LIMIT);
    }
    // A mantissa of very many zeros may have a power that the exponent must not overflow.
    if (d->power < -EXPONENT_LIMIT)
    {
        d->exact = false;
    }
    else
    {
        d->power += negative ? -exponent : exponent;
    }
    *cursor = s;
}

// v 2^exponent, rounded to nearest even; `sticky` says that v has lost a non-zero tail.
static double round_to_double(uint128 v, bool sticky, int exponent)
{
    uint64_t high = (uint64_t)(v >> 64);
    int bits = high ? 128 - __builtin_clzll(high) : 64 - __builtin_clzll((uint64_t)v | 1);
    if (bits <= 53)
    {
        return ldexp((double)(uint64_t)v, exponent);
    }
    int shift = bits - 53;
    uint64_t mantissa = (uint64_t)(v >> shift);
    uint128 rest = v & (((uint128)1 << shift) - 1), half = (uint128)1 << (shift - 1);
    if (rest > half || (rest == half && (sticky || (mantissa & 1))))
    {
        mantissa++;
    }
    return ldexp((double)mantissa, exponent + shift);
}

static double decimal_by_integers(uint64_t mantissa, int power)
{
    uint64_t fives = 1;
    for (int k = 0; k < abs(power); k++)
    {
        fives *= 5;
    }
    if (power >= 0)
    {
        return round_to_double((uint128)mantissa * fives, false, power);
    }
    // A quotient of at least 64 bits.
    int shift = __builtin_clzll(mantissa);
    uint128 numerator = (uint128)(mantissa << shift) << 64;
    uint128 quotient = numerator / fives;
    return round_to_double(quotient, quotient * fives != numerator, power - 64 - shift);
}

// The size of the number at `text`, which has no sign. NAN where even the C locale is not to be had.
static double decimal_by_library(const char* text)
{
    locale_t locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (locale == (locale_t)0)
    {
        return NAN;
    }
    double value = strtod_l(text, NULL, locale);
    freelocale(locale);
    return value;
}

static double decimal_value(const decimal* d, const char* text)
{
    static const double powers[DOUBLE_POWER_MAX + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                        1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                        1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (d->mantissa == 0)
    {
        return 0.0;
    }
    if (d->exact && d->mantissa <= (UINT64_C(1) << 53) && abs(d->power) <= DOUBLE_POWER_MAX)
    {
        double m = (double)d->mantissa;
        return d->power < 0 ? m / powers[-d->power] : m * powers[d->power];
    }
    return d->exact && abs(d->power) <= INTEGER_POWER_MAX ? decimal_by_integers(d->mantissa, d->power)
                                                          : decimal_by_library(text);
}

bool decimal_parse(const char** cursor, double* out)
{
    bool negative = **cursor == '-';
    const char* first = *cursor + (negative || **cursor == '+');
    const char* s = first;
    decimal d = {.exact = true};
    if (!decimal_scan_mantissa(&s, &d))
    {
        return false;
    }
    decimal_scan_exponent(&s, &d);
    double value = decimal_value(&d, first);
    *out = negative ? -value : value;
    *cursor = s;
    return true;
}

bool decimal_is_not_finite(const char* word)
{
    word += *word == '-' || *word == '+';
    char lower[3] = {0};
    for (int k = 0; k < 3 && word[k]; k++)
    {
        lower[k] = (char)tolower((unsigned char)word[k]);
    }
    return memcmp(lower, "nan", 3) == 0 || memcmp(lower, "inf", 3) == 0 || strncmp(word, "1.#", 3) == 0;
}
