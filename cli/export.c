// weft export: a run's animation in the formats of other programs.
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cli/cli.h"
#include "weft/export.h"

enum
{
    BODIES_MAX = 256
};

typedef struct export_options
{
    const char *dir, *target;
    weft_export_def def;
    const char* bodies[BODIES_MAX];
    bool frames, json;
    int level; // of detail; 0: as simulated
} export_options;

// ---- command line

// "A:B", "A:" to the last frame, ":B" from the first, or "K" alone.
static bool parse_range(const char* text, weft_export_def* def)
{
    char head[32] = "";
    const char* colon = strchr(text, ':');
    size_t length = colon ? (size_t)(colon - text) : strlen(text);
    if (length >= sizeof(head) || (length == 0 && (!colon || !colon[1])))
    {
        return false;
    }
    memcpy(head, text, length);
    def->first = 0;
    if (length > 0 && !parse_int(head, 0, 1000000000, &def->first))
    {
        return false;
    }
    def->last = colon ? -1 : def->first;
    return !colon || !colon[1] || parse_int(colon + 1, def->first, 1000000000, &def->last);
}

static bool take_value(export_options* o, const char* name, const char* value, bool* known)
{
    *known = true;
    if (strcmp(name, "--to") == 0)
    {
        o->def.format = value;
        return true;
    }
    if (strcmp(name, "-o") == 0)
    {
        o->target = value;
        return value[0] != 0;
    }
    if (strcmp(name, "--frames") == 0)
    {
        o->frames = true;
        return parse_range(value, &o->def);
    }
    if (strcmp(name, "--every") == 0)
    {
        return parse_int(value, 1, 1000000000, &o->def.every);
    }
    if (strcmp(name, "--fps") == 0)
    {
        return parse_double(value, &o->def.frame_rate) && o->def.frame_rate >= 1e-6 && o->def.frame_rate <= 1e6;
    }
    if (strcmp(name, "--start") == 0)
    {
        return parse_int(value, 0, 1000000000, &o->def.start);
    }
    if (strcmp(name, "--scale") == 0)
    {
        return parse_double(value, &o->def.scale) && o->def.scale >= 1e-9 && o->def.scale <= 1e9;
    }
    if (strcmp(name, "--up") == 0)
    {
        o->def.up = value[0];
        return strcmp(value, "y") == 0 || strcmp(value, "z") == 0;
    }
    if (strcmp(name, "--level") == 0)
    {
        return parse_int(value, 0, 1000, &o->level);
    }
    if (strcmp(name, "--body") == 0)
    {
        bool room = o->def.body_count < BODIES_MAX;
        o->bodies[room ? o->def.body_count++ : 0] = value;
        return room;
    }
    *known = false;
    return false;
}

// What an option that take_value knows takes.
static const char* expected_of(const char* name)
{
    static const char* const options[][2] = {
        {"-o", "the name of a file or a folder"},
        {"--frames", "frames A:B from 0 with A not above B, one frame K, A: or :B"},
        {"--every", "a whole number from 1"},
        {"--fps", "frames a second from 1e-6 to 1e6"},
        {"--start", "the number of the first frame, from 0"},
        {"--scale", "a number from 1e-9 to 1e9"},
        {"--up", "y or z"},
        {"--level", "a level of detail, from 0, the cloth as simulated"},
    };
    for (size_t k = 0; k < sizeof(options) / sizeof(options[0]); k++)
    {
        if (strcmp(name, options[k][0]) == 0)
        {
            return options[k][1];
        }
    }
    return "a body's name, at most 256 times";
}

// True: the argument is taken.
static bool take_plain(export_options* o, const option_scan* scan)
{
    if (option_is(scan, "--force"))
    {
        o->def.force = 1;
        return true;
    }
    if (option_is(scan, "--plain"))
    {
        o->def.plain = 1;
        return true;
    }
    if (!scan->name && !o->dir)
    {
        o->dir = scan->value;
        return true;
    }
    return option_is(scan, "--json");
}

static int read_options(int argc, char** argv, export_options* o)
{
    *o = (export_options){.def = weft_export_def_default()};
    for (int i = 1; i < argc; i++)
    {
        o->json = o->json || strcmp(argv[i], "--json") == 0;
    }
    option_scan scan = {.command = "export", .argc = argc, .argv = argv, .at = 1};
    while (option_next(&scan))
    {
        if (take_plain(o, &scan))
        {
            continue;
        }
        if (!scan.name)
        {
            return report_usage("export", o->json, "one folder at a time: `%s` and `%s`", o->dir, scan.value);
        }
        const char* name = scan.name;
        const char* value = option_value(&scan);
        bool known = false;
        if (!take_value(o, name, value ? value : "", &known) || !value)
        {
            return !known  ? report_usage("export", o->json, "there is no option `%s`", name)
                   : value ? report_value("export", o->json, name, value, expected_of(name))
                           : report_usage("export", o->json, "%s lacks its value", name);
        }
    }
    if (!o->dir || !o->def.format)
    {
        return report_usage("export", o->json, !o->dir ? "give the folder of a run" : "give a format with --to");
    }
    o->def.bodies = o->def.body_count > 0 ? o->bodies : NULL;
    return EXIT_DONE;
}

// ---- the target

static int format_index(const char* name)
{
    for (int k = 0; weft_export_format_name(k); k++)
    {
        if (strcmp(weft_export_format_name(k), name) == 0)
        {
            return k;
        }
    }
    return -1;
}

// What other programs call a format, or NULL.
static const char* alias_of(const char* name)
{
    static const char* const aliases[][2] = {
        {"glb", "gltf"}, {"alembic", "abc"}, {"usd", "usda"}, {"vtk", "vtp"}, {"pvd", "vtp"}, {"wavefront", "obj"},
    };
    for (size_t k = 0; k < sizeof(aliases) / sizeof(aliases[0]); k++)
    {
        if (strcasecmp(name, aliases[k][0]) == 0)
        {
            return aliases[k][1];
        }
    }
    for (int k = 0; weft_export_format_name(k); k++)
    {
        if (strcasecmp(name, weft_export_format_name(k)) == 0)
        {
            return weft_export_format_name(k);
        }
    }
    return NULL;
}

static int unknown_format(const export_options* o)
{
    const char* meant = alias_of(o->def.format);
    if (meant)
    {
        return report_usage("export", o->json, "there is no format `%s`; did you mean `--to %s`?", o->def.format,
                            meant);
    }
    char names[256] = "";
    for (int k = 0; weft_export_format_name(k); k++)
    {
        size_t length = strlen(names);
        snprintf(names + length, sizeof(names) - length, "%s%s", k > 0 ? ", " : "", weft_export_format_name(k));
    }
    return report_value("export", o->json, "--to", o->def.format, names);
}

// The run's name with the format's ending, or with the format's name where that is a folder; in the folder where the
// user stands.
static bool default_target(const export_options* o, int format, char* out, size_t size)
{
    char* whole = realpath(o->dir, NULL);
    const char* slash = whole ? strrchr(whole, '/') : NULL;
    const char* name = slash && slash[1] ? slash + 1 : "run";
    bool folder = weft_export_format_is_folder(format) != 0;
    int length = snprintf(out, size, "%s%s%s", name, folder ? "-" : "",
                          folder ? weft_export_format_name(format) : weft_export_format_ending(format));
    free(whole);
    return length > 0 && length < (int)size;
}

// ---- exporting

static volatile sig_atomic_t stop_requested;

static void request_stop(int signal_number)
{
    (void)signal_number;
    stop_requested = 1;
}

static int show_progress(void* context, int done, int total)
{
    (void)context;
    if (isatty(STDERR_FILENO))
    {
        fprintf(stderr, "\r%3d%% ", (int)(100.0 * done / total));
        fputs(done == total ? "\r     \r" : "", stderr);
        fflush(stderr);
    }
    return stop_requested;
}

static void put_result(const export_options* o, const char* target, const weft_export_stats* s)
{
    if (!o->json)
    {
        printf("%s: %d frame%s of %d %s, %d file%s, %lld bytes\n", target, s->frames, s->frames == 1 ? "" : "s",
               s->bodies, s->bodies == 1 ? "body" : "bodies", s->files, s->files == 1 ? "" : "s", (long long)s->bytes);
        return;
    }
    printf("{\"target\":");
    put_json_string(target);
    printf(",\"format\":");
    put_json_string(o->def.format);
    printf(",\"frames\":%d,\"bodies\":%d,\"files\":%d,\"bytes\":%lld}\n", s->frames, s->bodies, s->files,
           (long long)s->bytes);
}

// A folder that lacks something is not exported as if it were whole; what is there can be had by naming frames.
static weft_status open_run(const export_options* o, weft_cache** cache, weft_error* error)
{
    weft_status status = weft_cache_open(o->dir, cache, error);
    status = status == WEFT_OK ? weft_cache_check_bodies(o->dir, *cache, error) : status;
    status = status == WEFT_OK && !o->frames ? weft_cache_check_samples(o->dir, *cache, error) : status;
    return status == WEFT_OK && o->level > 0 ? weft_cache_coarsen(*cache, o->level, NULL, error) : status;
}

// A file of the run that may not be read is the input's fault, not the machine's.
static void judge_permission(const export_options* o, weft_error* error)
{
    bool of_run = strncmp(error->file, o->dir, strlen(o->dir)) == 0;
    if (error->status == WEFT_IO && of_run && access(error->file, R_OK) != 0 && errno == EACCES)
    {
        error->status = WEFT_BAD_INPUT;
    }
}

int command_export(int argc, char** argv)
{
    static export_options o;
    int usage = read_options(argc, argv, &o);
    if (usage != EXIT_DONE)
    {
        return usage;
    }
    int format = format_index(o.def.format);
    if (format < 0)
    {
        return unknown_format(&o);
    }
    char name[PATH_MAX];
    if (!o.target && !default_target(&o, format, name, sizeof(name)))
    {
        return report_usage("export", o.json, "the run's name is too long; name the target with -o");
    }
    const char* target = o.target ? o.target : name;
    struct sigaction action = {.sa_handler = request_stop};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);

    o.def.progress = show_progress;
    weft_error error = {0};
    weft_export_stats stats;
    weft_cache* cache = NULL;
    error.status = open_run(&o, &cache, &error);
    if (error.status != WEFT_OK)
    {
        judge_permission(&o, &error);
    }
    else
    {
        error.status = weft_export(cache, &o.def, target, &stats, &error);
    }
    weft_cache_close(cache);
    if (error.status != WEFT_OK)
    {
        fputs(isatty(STDERR_FILENO) ? "\r     \r" : "", stderr); // ends the line of the progress
        return report_error(&error, o.json);
    }
    put_result(&o, target, &stats);
    return EXIT_DONE;
}
