// JSON as text, key by key, indented; numbers with as many digits as bring back the same double.
#include "scene/json_writer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void write_raw(writer* w, const char* text)
{
    size_t length = strlen(text);
    if (w->failed || length > (size_t)(INT32_MAX - 1 - w->used) ||
        !mem_grow((void**)&w->text, &w->capacity, w->used + (int)length + 1, 1))
    {
        w->failed = true;
        return;
    }
    memcpy(w->text + w->used, text, length + 1);
    w->used += (int)length;
}

static void write_string(writer* w, const char* text)
{
    write_raw(w, "\"");
    for (; *text; text++)
    {
        unsigned char c = (unsigned char)*text;
        char piece[8];
        if (c == '"' || c == '\\')
        {
            snprintf(piece, sizeof(piece), "\\%c", c);
        }
        else
        {
            snprintf(piece, sizeof(piece), c < 0x20 ? "\\u%04x" : "%c", c);
        }
        write_raw(w, piece);
    }
    write_raw(w, "\"");
}

// The shortest of 15 to 17 digits that reads back as the same double, in any locale.
static void write_double(writer* w, double value)
{
    char text[40];
    for (int digits = 15; digits <= 17; digits++)
    {
        print_text(text, sizeof(text), "%.*g", digits, value);
        const char* cursor = text;
        double back;
        if (!isfinite(value) || (decimal_parse(&cursor, &back) && back == value))
        {
            break;
        }
    }
    write_raw(w, value == 0.0 && signbit(value) ? "-0.0" : text); // "-0" would be read as an integer
}

// Starts a new line with a key; NULL in lists.
void write_key(writer* w, const char* key)
{
    write_raw(w, w->pending ? ",\n" : w->used > 0 ? "\n" : "");
    for (int k = 0; k < w->depth; k++)
    {
        write_raw(w, "  ");
    }
    if (key)
    {
        write_string(w, key);
        write_raw(w, ": ");
    }
    w->pending = true;
}

void write_open(writer* w, const char* key, const char* bracket)
{
    write_key(w, key);
    write_raw(w, bracket);
    w->depth++;
    w->pending = false;
}

void write_close(writer* w, const char* bracket)
{
    bool empty = !w->pending;
    w->depth--;
    w->pending = false;
    if (!empty)
    {
        write_key(w, NULL);
    }
    write_raw(w, bracket);
    w->pending = true;
}

void write_number(writer* w, const char* key, double value)
{
    write_key(w, key);
    write_double(w, value);
}

void write_truth(writer* w, const char* key, bool value)
{
    write_key(w, key);
    write_raw(w, value ? "true" : "false");
    w->pending = true;
}

void write_text(writer* w, const char* key, const char* value)
{
    write_key(w, key);
    if (value)
    {
        write_string(w, value);
    }
    else
    {
        write_raw(w, "null");
    }
}

void write_numbers(writer* w, const char* key, const double* values, int count)
{
    write_key(w, key);
    for (int k = 0; k < count; k++)
    {
        write_raw(w, k > 0 ? ", " : "[");
        write_double(w, values[k]);
    }
    write_raw(w, "]");
}

void write_vec3(writer* w, const char* key, vec3 v)
{
    write_numbers(w, key, (double[]){v.x, v.y, v.z}, 3);
}

void write_where(writer* w, const int* weld, const int* vertices, int count)
{
    write_open(w, "where", "{");
    write_key(w, "vertices");
    for (int k = 0, given = 0; k < count; k++)
    {
        // The first that were given of welded vertices keep their order.
        for (; weld && weld[given] != vertices[k]; given++)
        {
        }
        char piece[16];
        snprintf(piece, sizeof(piece), "%s%d", k > 0 ? ", " : "[", weld ? given : vertices[k]);
        write_raw(w, piece);
    }
    write_raw(w, "]");
    write_close(w, "}");
}
