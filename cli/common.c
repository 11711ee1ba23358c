// Errors, exit statuses and options of all subcommands.
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

int exit_code(weft_status status)
{
    switch (status)
    {
    case WEFT_OK:
        return EXIT_DONE;
    case WEFT_BAD_INPUT:
    case WEFT_NOT_FOUND:
    case WEFT_UNSUPPORTED:
    case WEFT_EXISTS:
        return EXIT_INPUT;
    case WEFT_NO_MEMORY:
    case WEFT_IO:
    case WEFT_DISK_FULL:
        return EXIT_MACHINE;
    default:
        return EXIT_FAILED;
    }
}

void report_untangling(const weft_sim* sim, const weft_untangling* done)
{
    if (done->crossings > 0 && done->settles)
    {
        fprintf(stderr,
                "weft: note: the scene starts with %d crossing%s, which the steps part: `unsettled` in stats.jsonl\n",
                done->crossings, done->crossings == 1 ? "" : "s");
    }
    else if (done->crossings > 0)
    {
        fprintf(stderr,
                "weft: note: the scene started with %d crossing%s, untangled in %d round%s: vertex %d of `%s` moved "
                "farthest, %.3g m; the largest strain is %.3g\n",
                done->crossings, done->crossings == 1 ? "" : "s", done->rounds, done->rounds == 1 ? "" : "s",
                done->vertex, done->body >= 0 ? weft_sim_cloth_name(sim, done->body) : "", done->farthest,
                done->max_strain);
    }
}

void put_json_string(const char* text)
{
    putchar('"');
    for (const unsigned char* c = (const unsigned char*)text; *c; c++)
    {
        if (*c == '"' || *c == '\\')
        {
            printf("\\%c", *c);
        }
        else if (*c < 0x20)
        {
            printf("\\u%04x", *c);
        }
        else
        {
            putchar(*c);
        }
    }
    putchar('"');
}

static void put_json_error(const char* file, int line, const char* message)
{
    printf("{\"error\":{\"file\":");
    put_json_string(file);
    printf(",\"line\":%d,\"message\":", line);
    put_json_string(message);
    printf("}}\n");
}

int report_error(const weft_error* error, bool json)
{
    if (json)
    {
        put_json_error(error->file, error->line, error->message);
        return exit_code(error->status);
    }
    fputs("weft: ", stderr);
    if (error->file[0])
    {
        fprintf(stderr, "%s:", error->file);
        if (error->line > 0)
        {
            fprintf(stderr, "%d:", error->line);
        }
        if (error->line > 0 && error->column > 0)
        {
            fprintf(stderr, "%d:", error->column);
        }
        fputc(' ', stderr);
    }
    fprintf(stderr, "%s\n", error->message[0] ? error->message : weft_status_text(error->status));
    return exit_code(error->status);
}

int report_usage(const char* command, bool json, const char* format, ...)
{
    char message[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    if (json)
    {
        put_json_error("", 0, message);
    }
    else
    {
        fprintf(stderr, "weft %s: %s; `weft help %s` shows how it is used\n", command, message, command);
    }
    return EXIT_INPUT;
}

int report_value(const char* command, bool json, const char* name, const char* value, const char* expected)
{
    return report_usage(command, json, "`%s` is no value for %s: it takes %s", value, name, expected);
}

bool option_next(option_scan* scan)
{
    static char name[64];
    if (scan->at >= scan->argc)
    {
        return false;
    }
    char* argument = scan->argv[scan->at++];
    scan->name = NULL;
    scan->value = argument;
    if (argument[0] != '-' || argument[1] == 0)
    {
        return true;
    }
    scan->name = argument;
    scan->value = NULL;
    char* equals = strncmp(argument, "--", 2) == 0 ? strchr(argument, '=') : NULL;
    if (equals && equals - argument < (long)sizeof(name))
    {
        snprintf(name, sizeof(name), "%.*s", (int)(equals - argument), argument);
        scan->name = name;
        scan->value = equals + 1;
    }
    return true;
}

bool option_is(const option_scan* scan, const char* name)
{
    return scan->name && strcmp(scan->name, name) == 0;
}

const char* option_value(option_scan* scan)
{
    if (scan->value)
    {
        return scan->value;
    }
    // A name after -o that looks like an option is one: the name was forgotten.
    bool names_target = option_is(scan, "-o") || option_is(scan, "--output");
    if (scan->at >= scan->argc || (names_target && strncmp(scan->argv[scan->at], "--", 2) == 0))
    {
        return NULL;
    }
    return scan->value = scan->argv[scan->at++];
}

bool parse_int(const char* text, int low, int high, int* out)
{
    char* end;
    errno = 0;
    long value = text ? strtol(text, &end, 10) : 0;
    if (!text || end == text || *end || errno || value < low || value > high)
    {
        return false;
    }
    *out = (int)value;
    return true;
}

bool parse_double(const char* text, double* out)
{
    char* end;
    *out = text ? strtod(text, &end) : 0.0;
    return text && end != text && !*end && isfinite(*out);
}
