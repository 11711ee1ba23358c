// weft system: the linear systems that steps solve first, as files.
#define _GNU_SOURCE
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "weft/cache.h"
#include "weft/scene.h"

enum
{
    RANGES_MAX = 32
};

// Steps first, first + every, ... up to last.
typedef struct step_range
{
    int first, last, every;
} step_range;

typedef struct system_options
{
    const char *scene, *prefix, *from; // from: a run's folder, or NULL
    step_range range[RANGES_MAX];
    int range_count;
    bool several; // not one step alone: the files' names hold the step
    int threads;
    bool binary;
    const char* overrides[OVERRIDES_MAX];
    int override_count;
} system_options;

// "K", "A:B" or "A:B:N", each N-th of them.
static bool parse_range(const char* text, step_range* out)
{
    char part[3][32] = {"", "", ""}, more;
    int count = sscanf(text, "%31[^:]:%31[^:]:%31[^:]%c", part[0], part[1], part[2], &more);
    *out = (step_range){.every = 1};
    if (!text[0] || text[strlen(text) - 1] == ':' || count > 3 || !parse_int(part[0], 1, 1000000000, &out->first))
    {
        return false;
    }
    out->last = out->first;
    return (count < 2 || parse_int(part[1], out->first, 1000000000, &out->last)) &&
           (count < 3 || parse_int(part[2], 1, 1000000000, &out->every));
}

// Ranges between commas.
static bool parse_steps(const char* text, system_options* o)
{
    o->several = strpbrk(text, ":,") != NULL;
    o->range_count = 0;
    for (;; text++)
    {
        char part[100];
        size_t length = strcspn(text, ",");
        if (length >= sizeof(part) || o->range_count == RANGES_MAX)
        {
            return false;
        }
        snprintf(part, sizeof(part), "%.*s", (int)length, text);
        if (!parse_range(part, &o->range[o->range_count++]))
        {
            return false;
        }
        text += length;
        if (!*text)
        {
            return true;
        }
    }
}

// Without --step the first one that there is.
static bool is_wanted(const system_options* o, int step, int first)
{
    bool wanted = o->range_count == 0 && step == first;
    for (int k = 0; k < o->range_count; k++)
    {
        const step_range* r = &o->range[k];
        wanted |= step >= r->first && step <= r->last && (step - r->first) % r->every == 0;
    }
    return wanted;
}

static int last_step(const system_options* o, int first)
{
    int last = first;
    for (int k = 0; k < o->range_count; k++)
    {
        last = o->range[k].last > last ? o->range[k].last : last;
    }
    return last;
}

// Why an option was not taken.
static int refuse(const char* name, const char* value)
{
    static const struct
    {
        const char *name, *wish;
    } known[] = {{"--step", "numbers of steps from 1 on: K, A:B or A:B:N where A is at most B, at most 32 of them, with commas "
                            "between"},
                 {"--from", "the folder of a run of this scene"},
                 {"--threads", "0 (all cores) to 256"},
                 {"--set", "KEY=VALUE, at most 256 of them"},
                 {"-o", "the beginning of the files' names"}};
    for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++)
    {
        if (strcmp(name, known[k].name) == 0)
        {
            return value ? report_usage("system", false, "`%s %s`: it takes %s", name, value, known[k].wish)
                         : report_usage("system", false, "`%s` wants a value: %s", name, known[k].wish);
        }
    }
    return report_usage("system", false, "unknown option `%s`", name);
}

static int read_options(int argc, char** argv, system_options* o)
{
    *o = (system_options){0};
    option_scan scan = {.command = "system", .argc = argc, .argv = argv, .at = 1};
    while (option_next(&scan))
    {
        const char* name = scan.name;
        if (!name)
        {
            o->scene = scan.value;
            continue;
        }
        if (option_is(&scan, "--binary"))
        {
            o->binary = true;
            continue;
        }
        const char* value = option_value(&scan);
        bool good = value != NULL;
        if (good && strcmp(name, "--step") == 0)
        {
            good = parse_steps(value, o);
        }
        else if (good && strcmp(name, "--threads") == 0)
        {
            good = parse_int(value, 0, 256, &o->threads);
        }
        else if (good && strcmp(name, "--from") == 0)
        {
            o->from = value;
        }
        else if (good && strcmp(name, "-o") == 0)
        {
            o->prefix = value;
        }
        else if (good && strcmp(name, "--set") == 0 && o->override_count < OVERRIDES_MAX)
        {
            o->overrides[o->override_count++] = value;
        }
        else
        {
            good = false;
        }
        if (!good)
        {
            return refuse(name, value);
        }
    }
    if (!o->scene || !o->prefix)
    {
        return report_usage("system", false, "give a scene and -o PREFIX");
    }
    return EXIT_DONE;
}

// Of the step that comes next.
static weft_status write_system(const system_options* o, weft_sim* sim, weft_error* error)
{
    char prefix[PATH_MAX];
    int step = (int)weft_sim_step_count(sim) + 1;
    int length = o->several ? snprintf(prefix, sizeof(prefix), "%s-%d", o->prefix, step)
                            : snprintf(prefix, sizeof(prefix), "%s", o->prefix);
    if (length >= (int)sizeof(prefix))
    {
        snprintf(error->message, sizeof(error->message), "the name after -o is too long");
        return WEFT_BAD_INPUT;
    }
    weft_system* system = NULL;
    weft_status status = weft_sim_system(sim, &system, error);
    if (status == WEFT_OK)
    {
        status = weft_system_write(system, prefix, o->binary, error);
    }
    if (status == WEFT_OK)
    {
        printf("%s: step %d, %d vertices\n", prefix, step, weft_system_vertex_count(system));
        fflush(stdout);
    }
    weft_system_destroy(system);
    return status;
}

// A simulation before the first step that is asked for, or at the checkpoint of --from.
static weft_status make_sim(const system_options* o, const weft_scene* scene, weft_sim** sim, weft_error* error)
{
    if (!o->from)
    {
        return weft_scene_create_sim(scene, o->threads, sim, error);
    }
    weft_status status = weft_scene_build_sim(scene, o->threads, sim, error);
    return status == WEFT_OK ? weft_cache_load_checkpoint(o->from, weft_scene_steps_per_frame(scene), *sim, error)
                             : status;
}

static weft_status check_steps(const system_options* o, int first, weft_error* error)
{
    for (int k = 0; k < o->range_count; k++)
    {
        if (o->range[k].first < first)
        {
            snprintf(error->message, sizeof(error->message),
                     "step %d is over: the checkpoint of %.200s goes on with step %d; --step from there on, or none for that one",
                     o->range[k].first, o->from, first);
            return WEFT_BAD_INPUT;
        }
    }
    return WEFT_OK;
}

static weft_status write_systems(const system_options* o, weft_error* error)
{
    weft_scene* scene = NULL;
    weft_sim* sim = NULL;
    weft_status status = weft_scene_load(o->scene, o->overrides, o->override_count, &scene, error);
    if (status == WEFT_OK)
    {
        status = make_sim(o, scene, &sim, error);
    }
    int first = status == WEFT_OK ? (int)weft_sim_step_count(sim) + 1 : 1, last = last_step(o, first);
    if (status == WEFT_OK)
    {
        status = check_steps(o, first, error);
    }
    for (int step = first; step <= last && status == WEFT_OK; step++)
    {
        status = is_wanted(o, step, first) ? write_system(o, sim, error) : WEFT_OK;
        if (status == WEFT_OK && step < last)
        {
            status = weft_sim_step(sim, NULL, error);
        }
    }
    weft_sim_destroy(sim);
    weft_scene_destroy(scene);
    return status;
}

int command_system(int argc, char** argv)
{
    system_options o;
    int usage = read_options(argc, argv, &o);
    if (usage != EXIT_DONE)
    {
        return usage;
    }
    weft_error error = {0};
    weft_status status = write_systems(&o, &error);
    error.status = status;
    return status == WEFT_OK ? EXIT_DONE : report_error(&error, false);
}
