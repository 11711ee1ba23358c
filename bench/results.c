#include "bench/results.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "bench/common.h"

enum
{
    LINE_MAX_LENGTH = 8192
};

// A key as it lies between quotation marks.
static void escape(const char* key, char* out, size_t size)
{
    size_t n = 0;
    for (; *key && n + 2 < size; key++)
    {
        if (*key == '"' || *key == '\\')
        {
            out[n++] = '\\';
        }
        out[n++] = *key;
    }
    out[n] = 0;
}

static weft_status keep_line(results* r, const char* text, size_t length)
{
    if (!mem_grow((void**)&r->lines, &r->capacity, r->count + 1, sizeof(char*)))
    {
        return WEFT_NO_MEMORY;
    }
    char* line = MEM_NEW(length + 1, char);
    if (!line)
    {
        return WEFT_NO_MEMORY;
    }
    memcpy(line, text, length);
    line[length] = 0;
    r->lines[r->count++] = line;
    return WEFT_OK;
}

// Whole lines only: one that a kill cut short is no result. *cut says that the file ends in such a line.
static weft_status read_lines(results* r, bool* cut)
{
    FILE* file = fopen(r->path, "r");
    char line[LINE_MAX_LENGTH];
    weft_status status = WEFT_OK;
    *cut = false;
    while (file && status == WEFT_OK && fgets(line, sizeof(line), file))
    {
        size_t length = strcspn(line, "\n");
        *cut = line[length] != '\n';
        if (!*cut && strncmp(line, "{\"key\":\"", 8) == 0 && line[length - 1] == '}')
        {
            status = keep_line(r, line, length);
        }
    }
    if (file)
    {
        fclose(file);
    }
    return status;
}

weft_status results_open(results* r, const char* name, int argc, char** argv)
{
    char usual[256];
    snprintf(usual, sizeof(usual), "weft-bench-%s.jsonl", name);
    *r = (results){0};
    snprintf(r->path, sizeof(r->path), "%s", bench_text(argc, argv, "--log", usual));
    bool fresh = bench_flag(argc, argv, "--fresh"), cut = false;
    weft_status status = fresh ? WEFT_OK : read_lines(r, &cut);
    r->file = status == WEFT_OK ? fopen(r->path, fresh ? "w" : "a") : NULL;
    if (!r->file)
    {
        fprintf(stderr, "weft bench %s: cannot write `%s`\n", name, r->path);
        results_close(r);
        return status == WEFT_OK ? WEFT_IO : status;
    }
    if (cut)
    {
        fputc('\n', r->file);
    }
    return WEFT_OK;
}

const char* results_find(const results* r, const char* key)
{
    char escaped[LINE_MAX_LENGTH];
    escape(key, escaped, sizeof(escaped));
    size_t length = strlen(escaped);
    for (int k = r->count - 1; k >= 0; k--)
    {
        const char* at = r->lines[k] + 8;
        if (strncmp(at, escaped, length) == 0 && at[length] == '"')
        {
            return r->lines[k];
        }
    }
    return NULL;
}

weft_status results_add(results* r, const char* key, const char* fields, ...)
{
    char escaped[LINE_MAX_LENGTH / 2], rest[LINE_MAX_LENGTH / 2 - 16], line[LINE_MAX_LENGTH];
    escape(key, escaped, sizeof(escaped));
    va_list arguments;
    va_start(arguments, fields);
    vsnprintf(rest, sizeof(rest), fields, arguments);
    va_end(arguments);
    snprintf(line, sizeof(line), "{\"key\":\"%s\",%s}", escaped, rest);
    weft_status status = keep_line(r, line, strlen(line));
    bool written = fprintf(r->file, "%s\n", line) > 0 && fflush(r->file) == 0;
    return status == WEFT_OK && !written ? WEFT_IO : status;
}

void results_close(results* r)
{
    if (r->file)
    {
        fclose(r->file);
    }
    for (int k = 0; k < r->count; k++)
    {
        mem_free(r->lines[k]);
    }
    mem_free(r->lines);
    *r = (results){0};
}

double results_number(const char* line, const char* field)
{
    char name[128];
    snprintf(name, sizeof(name), ",\"%s\":", field);
    const char* at = line ? strstr(line, name) : NULL;
    char* end = NULL;
    double value = at ? strtod(at + strlen(name), &end) : NAN;
    return at && end > at + strlen(name) ? value : NAN;
}

const char* results_json(double value, char out[32])
{
    snprintf(out, 32, isfinite(value) ? "%.9g" : "null", value);
    return out;
}
