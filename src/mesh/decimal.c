// Decimal numbers, correctly rounded and independent of the locale.
//
// A number of up to 2^53 times a power of ten of at most 10^22 in size has both factors exact in double, so that one
// multiplication or division rounds once and correctly (Clinger 1990, section 3). All others go to the C library.
#define _GNU_SOURCE
#include <locale.h>
#include <stdlib.h>

#include "mesh/mesh_inside.h"

enum
{
    DIGITS_MAX = 19, // fit in 64 bits
    EXACT_POWER_MAX = 22,
    EXPONENT_LIMIT = 99999 // far beyond double; the rest of an exponent's digits changes nothing
};

// A number's text, taken apart: mantissa * 10^power.
typedef struct decimal
{
    uint64_t mantissa;
    int power;
    bool negative;
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
    int digits = 0, seen = 0;
    bool point = false;
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
        seen = 1;
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

static double decimal_by_library(const char* text)
{
    locale_t locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (locale == (locale_t)0)
    {
        return strtod(text, NULL);
    }
    double value = strtod_l(text, NULL, locale);
    freelocale(locale);
    return value;
}

bool decimal_parse(const char** cursor, double* out)
{
    static const double powers[EXACT_POWER_MAX + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                       1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                       1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const char* s = *cursor;
    decimal d = {.negative = *s == '-', .exact = true};
    s += *s == '-' || *s == '+';
    if (!decimal_scan_mantissa(&s, &d))
    {
        return false;
    }
    decimal_scan_exponent(&s, &d);
    if (d.exact && d.mantissa <= (UINT64_C(1) << 53) && d.power >= -EXACT_POWER_MAX && d.power <= EXACT_POWER_MAX)
    {
        double value = (double)d.mantissa;
        value = d.power < 0 ? value / powers[-d.power] : value * powers[d.power];
        *out = d.negative ? -value : value;
    }
    else
    {
        *out = decimal_by_library(*cursor);
    }
    *cursor = s;
    return true;
}
