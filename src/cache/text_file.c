// Text files line by line, and their numbers.
//
// A decimal m 10^p with m < 2^64 and |p| <= 27 is rounded exactly in 128-bit integers: m 5^p has at most 127 bits, and
// for negative p the quotient m 2^k / 5^-p with a sticky bit for the remainder decides every tie. That covers what 17
// digits of most matrices need and is some five times as fast as the C library, which does the rest.
#define _GNU_SOURCE
#include "cache/system_file.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum
{
    BUFFER_SIZE = 1 << 20, // a line must fit
    DIGITS_MAX = 19,       // fit in 64 bits
    POWER_MAX = 27         // 5^27 < 2^63
};

typedef unsigned __int128 uint128;

weft_status text_file_refuse(const text_file* text, const char* format, ...)
{
    char message[900];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    return error_set(text->error, WEFT_BAD_INPUT, text->path, text->line, "%s", message);
}

weft_status text_file_open(text_file* text, const char* path, weft_error* error)
{
    *text = (text_file){.path = path, .error = error};
    text->stream = fopen(path, "rb");
    if (!text->stream)
    {
        weft_status status = errno == ENOENT || errno == ENOTDIR ? WEFT_NOT_FOUND : WEFT_IO;
        return error_set(error, status, path, 0, "cannot open: %s", strerror(errno));
    }
    struct stat info;
    if (fstat(fileno(text->stream), &info) != 0 || !S_ISREG(info.st_mode))
    {
        text_file_close(text);
        return error_set(error, WEFT_BAD_INPUT, path, 0, "this is not a regular file");
    }
    text->size = info.st_size;
    text->buffer = mem_alloc(BUFFER_SIZE + 1, 1);
    text->locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!text->buffer || text->locale == (locale_t)0)
    {
        text_file_close(text);
        return error_set(error, WEFT_NO_MEMORY, path, 0, "no memory to read");
    }
    return WEFT_OK;
}

void text_file_close(text_file* text)
{
    if (text->stream)
    {
        fclose(text->stream);
    }
    if (text->locale != (locale_t)0)
    {
        freelocale(text->locale);
    }
    mem_free(text->buffer);
    text->stream = NULL;
    text->locale = (locale_t)0;
    text->buffer = NULL;
}

// Moves what is left to the front and reads on; false at the end of the file.
static bool text_file_fill(text_file* text)
{
    size_t left = text->end - text->begin;
    memmove(text->buffer, text->buffer + text->begin, left);
    text->begin = 0;
    text->end = left;
    size_t got = fread(text->buffer + left, 1, BUFFER_SIZE - left, text->stream);
    text->end += got;
    return got > 0;
}

weft_status text_file_next(text_file* text, char** begin, char** end)
{
    *begin = *end = NULL;
    char* newline = text->end > text->begin ? memchr(text->buffer + text->begin, '\n', text->end - text->begin) : NULL;
    while (!newline)
    {
        size_t searched = text->end - text->begin;
        if (searched == BUFFER_SIZE)
        {
            text->line++;
            return text_file_refuse(text, "the line is longer than %d bytes; this is no Matrix Market file",
                                    BUFFER_SIZE);
        }
        if (!text_file_fill(text))
        {
            break;
        }
        newline = memchr(text->buffer + searched, '\n', text->end - searched);
    }
    if (ferror(text->stream))
    {
        return error_set(text->error, WEFT_IO, text->path, text->line, "reading failed");
    }
    if (!newline && text->begin == text->end)
    {
        return WEFT_OK;
    }
    text->line++;
    *begin = text->buffer + text->begin;
    *end = newline ? newline : text->buffer + text->end;
    text->begin = newline ? (size_t)(newline - text->buffer) + 1 : text->end;
    if (*end > *begin && (*end)[-1] == '\r')
    {
        (*end)--;
    }
    **end = '\0';
    return WEFT_OK;
}

static const char* skip_blanks(const char* s)
{
    while (*s == ' ' || *s == '\t')
    {
        s++;
    }
    return s;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

// A number ends with its line or a blank.
static bool is_number_end(char c)
{
    return c == '\0' || c == ' ' || c == '\t';
}

bool text_parse_count(const char** cursor, int64_t* out)
{
    const char* s = skip_blanks(*cursor);
    const char* first = s;
    int64_t value = 0;
    for (; is_digit(*s) && s - first < 18; s++)
    {
        value = 10 * value + (*s - '0');
    }
    if (s == first || !is_number_end(*s))
    {
        return false;
    }
    *out = value;
    *cursor = s;
    return true;
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

static double decimal_to_double(uint64_t mantissa, int power)
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

// Digits with an optional point and exponent; false when the fast way does not apply and the library must read it.
static bool decimal_scan(const char** cursor, uint64_t* mantissa, int* power)
{
    const char* s = *cursor;
    int digits = 0, seen = 0, behind_point = 0;
    bool point = false;
    uint64_t m = 0;
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
        m = 10 * m + (uint64_t)(*s - '0');
        digits += m > 0;
        behind_point += point;
        if (++seen > 400 || digits > DIGITS_MAX)
        {
            return false;
        }
    }
    int exponent = 0;
    if (*s == 'e' || *s == 'E')
    {
        s++;
        bool negative = *s == '-';
        s += *s == '-' || *s == '+';
        const char* first = s;
        for (; is_digit(*s) && s - first < 4; s++)
        {
            exponent = 10 * exponent + (*s - '0');
        }
        if (s == first)
        {
            return false;
        }
        exponent = negative ? -exponent : exponent;
    }
    *mantissa = m;
    *power = exponent - behind_point;
    *cursor = s;
    return seen > 0 && is_number_end(*s) && (m == 0 || abs(*power) <= POWER_MAX);
}

bool text_parse_number(const text_file* text, const char** cursor, double* out)
{
    const char* first = skip_blanks(*cursor);
    const char* s = first + (*first == '-' || *first == '+');
    uint64_t mantissa;
    int power;
    if (decimal_scan(&s, &mantissa, &power))
    {
        double value = mantissa == 0 ? 0.0 : decimal_to_double(mantissa, power);
        *out = *first == '-' ? -value : value;
        *cursor = s;
        return true;
    }
    char* end;
    *out = strtod_l(first, &end, text->locale);
    if (end == first || !is_number_end(*end))
    {
        return false;
    }
    *cursor = end;
    return true;
}
