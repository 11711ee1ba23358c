// weft system: the linear systems that steps solve first, as files.
#define _GNU_SOURCE
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "weft/scene.h"

typedef struct system_options
{
    const char *scene, *prefix;
    int first, last, every; // steps
    bool several;           // a range: the files' names hold the step
    int threads;
    bool binary;
    const char* overrides[OVERRIDES_MAX];
    int override_count;
} system_options;

// "K", "A:B" or "A:B:N", each N-th of them.
static bool parse_steps(const char* text, system_options* o)
{
    char part[3][32] = {"", "", ""}, more;
    int count = sscanf(text, "%31[^:]:%31[^:]:%31[^:]%c", part[0], part[1], part[2], &more);
    o->several = count > 1;
    if (text[strlen(text) - 1] == ':' || count > 3 || !parse_int(part[0], 1, 1000000000, &o->first))
    {
        return false;
    }
    o->last = o->first;
    return (count < 2 || parse_int(part[1], o->first, 1000000000, &o->last)) &&
           (count < 3 || parse_int(part[2], 1, 1000000000, &o->every));
}

static int read_options(int argc, char** argv, system_options* o)
{
    *o = (system_options){.first = 1, .last = 1, .every = 1};
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
            good = value[0] && parse_steps(value, o);
        }
        else if (good && strcmp(name, "--threads") == 0)
        {
            good = parse_int(value, 0, 256, &o->threads);
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
            return report_usage("system", false, "unknown option `%s`, or its value is wrong", name);
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

static weft_status write_systems(const system_options* o, weft_error* error)
{
    weft_scene* scene = NULL;
    weft_sim* sim = NULL;
    weft_status status = weft_scene_load(o->scene, o->overrides, o->override_count, &scene, error);
    if (status == WEFT_OK)
    {
        status = weft_scene_create_sim(scene, o->threads, &sim, error);
    }
    for (int step = 1; step <= o->last && status == WEFT_OK; step++)
    {
        bool wanted = step >= o->first && (step - o->first) % o->every == 0;
        status = wanted ? write_system(o, sim, error) : WEFT_OK;
        if (status == WEFT_OK && step < o->last)
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
