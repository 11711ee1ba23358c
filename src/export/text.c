// Numbers as text, many of them: printf is several times as slow and writes what the locale says.
#include <math.h>
#include <string.h>

#include "export/export.h"

enum
{
    DIGITS = 9,   // significant; a float needs no more
    LONGEST = 48, // characters of a number, and a block behind it
    BLOCK = 16    // digits that are copied at once, as a copy of a fixed size needs no call; a number has no more
};

static const double powers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13};

// 00 to 99.
static const char pairs[] =
    "0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849"
    "5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899";

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
    size_t length = strlen(words);
    for (size_t done = 0; done < length;)
    {
        size_t piece = length - done < sizeof(text->buffer) ? length - done : sizeof(text->buffer);
        memcpy(room_for(text, (int)piece), words + done, piece);
        text->used += (int)piece;
        done += piece;
    }
}

void export_text_name(export_text* text, const char* name)
{
    for (const char* c = name; *c; c++)
    {
        bool control = (unsigned char)*c < 32 || *c == 127;
        export_text_char(text, control ? '_' : *c);
    }
}

// The digits of a number, the last at end[-1]; where they begin.
static char* digits_before(char* end, uint64_t value)
{
    for (; value >= 100; value /= 100)
    {
        end -= 2;
        memcpy(end, pairs + 2 * (value % 100), 2);
    }
    if (value >= 10)
    {
        end -= 2;
        memcpy(end, pairs + 2 * value, 2);
        return end;
    }
    *--end = (char)('0' + value);
    return end;
}

void export_text_int(export_text* text, int value)
{
    char digits[LONGEST + BLOCK] = {0}, *end = digits + LONGEST;
    char* out = room_for(text, LONGEST);
    int length = 0;
    if (value < 0)
    {
        out[length++] = '-';
    }
    char* begin = digits_before(end, value < 0 ? (uint64_t)(-(int64_t)value) : (uint64_t)value);
    memcpy(out + length, begin, BLOCK);
    text->used += length + (int)(end - begin);
}

// whole / 10^decimals without zeros at the end.
static int put_fixed(char* out, uint64_t whole, int decimals)
{
    char digits[LONGEST + BLOCK] = {0}, *end = digits + LONGEST;
    char* begin = digits_before(end, whole);
    int count = (int)(end - begin), before = count - decimals, length = 0;
    while (decimals > 0 && end[-1] == '0') // the first digit is none
    {
        end--;
        decimals--;
    }
    if (before > 0)
    {
        memcpy(out, begin, BLOCK);
        length = before;
        begin += before;
    }
    else
    {
        out[length++] = '0';
    }
    if (decimals > 0)
    {
        out[length++] = '.';
        for (; before < 0; before++)
        {
            out[length++] = '0';
        }
        memcpy(out + length, begin, BLOCK);
        length += (int)(end - begin);
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
    return length + put_fixed(out + length, (uint64_t)(exponent < 0 ? -exponent : exponent), 0);
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

// Bytes of the UTF-8 character that starts here; 0: it is none.
static int character_size(const char* words)
{
    const unsigned char* c = (const unsigned char*)words;
    int size = c[0] < 0x80 ? 1 : c[0] < 0xc2 ? 0 : c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 : c[0] < 0xf5 ? 4 : 0;
    for (int k = 1; k < size; k++)
    {
        if ((c[k] & 0xc0) != 0x80)
        {
            return 0;
        }
    }
    // Longer than needed, halves of pairs, above the last.
    bool bad = (c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xed && c[1] > 0x9f) || (c[0] == 0xf0 && c[1] < 0x90) ||
               (c[0] == 0xf4 && c[1] > 0x8f);
    return bad ? 0 : size;
}

// The character that starts here, and its bytes: what a reader would refuse, control characters and broken UTF-8,
// becomes a question mark.
static int clean_character(const char* words, char one[5])
{
    int size = character_size(words);
    bool good = size > 0 && (unsigned char)*words >= 0x20 && *words != 0x7f;
    memcpy(one, good ? words : "?", good ? (size_t)size : 1);
    one[good ? size : 1] = '\0';
    return good ? size : 1;
}

void export_text_quoted(export_text* text, const char* words)
{
    export_text_put(text, "\"");
    while (*words)
    {
        char one[5];
        export_text_put(text, *words == '"' || *words == '\\' ? "\\" : "");
        words += clean_character(words, one);
        export_text_put(text, one);
    }
    export_text_put(text, "\"");
}

void export_text_clean(const char* words, char* out)
{
    *out = '\0';
    while (*words)
    {
        words += clean_character(words, out);
        out += strlen(out);
    }
}
