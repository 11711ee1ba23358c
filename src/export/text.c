// Numbers as text, many of them: printf is several times as slow and writes what the locale says.
#include <math.h>
#include <string.h>

#include "export/export.h"

enum
{
    DIGITS = 9,  // significant; a float needs no more
    LONGEST = 32 // characters of a number
};

static const double powers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13};
static const uint64_t whole_powers[] = {1,           10,           100,           1000,          10000,
                                        100000,      1000000,      10000000,      100000000,     1000000000,
                                        10000000000, 100000000000, 1000000000000, 10000000000000};

void export_text_flush(export_text* text)
{
    whole_file_write(text->file, text->buffer, (size_t)text->used);
    text->used = 0;
}

static char* room_for(export_text* text, int size)
{
    if (text->used + size > (int)sizeof(text->buffer))
    {
        export_text_flush(text);
    }
    return text->buffer + text->used;
}

void export_text_put(export_text* text, const char* words)
{
    for (const char* c = words; *c; c++)
    {
        *room_for(text, 1) = *c;
        text->used++;
    }
}

// At least `digits` of them, with leading zeros.
static int put_digits(char* out, uint64_t value, int digits)
{
    char backwards[24];
    int count = 0;
    while (value > 0 || count < digits)
    {
        backwards[count++] = (char)('0' + value % 10);
        value /= 10;
    }
    for (int k = 0; k < count; k++)
    {
        out[k] = backwards[count - 1 - k];
    }
    return count;
}

void export_text_int(export_text* text, int value)
{
    char* out = room_for(text, LONGEST);
    int64_t wide = value;
    int length = 0;
    if (wide < 0)
    {
        out[length++] = '-';
        wide = -wide;
    }
    text->used += length + put_digits(out + length, (uint64_t)wide, 1);
}

// The digits of whole / 10^decimals without zeros at the end.
static int put_fixed(char* out, uint64_t whole, int decimals)
{
    int length = put_digits(out, whole / whole_powers[decimals], 1);
    uint64_t rest = whole % whole_powers[decimals];
    if (rest == 0)
    {
        return length;
    }
    out[length++] = '.';
    length += put_digits(out + length, rest, decimals);
    while (out[length - 1] == '0')
    {
        length--;
    }
    return length;
}

static int put_scientific(char* out, double size)
{
    int exponent = (int)floor(log10(size));
    uint64_t whole = (uint64_t)((long double)size * powl(10.0L, DIGITS - 1 - exponent) + 0.5L);
    int length = put_fixed(out, whole, DIGITS - 1);
    out[length++] = 'e';
    out[length++] = exponent < 0 ? '-' : '+';
    return length + put_digits(out + length, (uint64_t)(exponent < 0 ? -exponent : exponent), 2);
}

// Digits behind the point, so that DIGITS are significant; size is in [1e-5, 1e9).
static int decimals_of(double size)
{
    int decimals = DIGITS - 1;
    for (; decimals > 0 && size >= powers[DIGITS - decimals]; decimals--)
    {
    }
    for (double scaled = size; scaled < 1.0; scaled *= 10.0)
    {
        decimals++;
    }
    return decimals;
}

void export_text_number(export_text* text, double value)
{
    char* out = room_for(text, LONGEST);
    double size = fabs(value);
    int length = 0;
    if (size < 1e-30)
    {
        *out = '0';
        text->used++;
        return;
    }
    if (value < 0.0)
    {
        out[length++] = '-';
    }
    if (size < 1e-5 || size >= 1e9)
    {
        length += put_scientific(out + length, size);
    }
    else
    {
        int decimals = decimals_of(size);
        length += put_fixed(out + length, (uint64_t)(size * powers[decimals] + 0.5), decimals);
    }
    text->used += length;
}
