// weft system: the linear system that a step solves first, as files.
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "weft/scene.h"

typedef struct system_options
{
    const char *scene, *prefix;
    int step;
    bool binary;
    const char* overrides[OVERRIDES_MAX];
    int override_count;
} system_options;

static int read_options(int argc, char** argv, system_options* o)
{
    *o = (system_options){.step = 1};
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
            good = parse_int(value, 1, 1000000000, &o->step);
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

static weft_status write_system(const system_options* o, weft_error* error)
{
    weft_scene* scene = NULL;
    weft_sim* sim = NULL;
    weft_system* system = NULL;
    weft_status status = weft_scene_load(o->scene, o->overrides, o->override_count, &scene, error);
    if (status == WEFT_OK)
    {
        status = weft_scene_create_sim(scene, 0, &sim, error);
    }
    while (status == WEFT_OK && weft_sim_step_count(sim) < o->step - 1)
    {
        status = weft_sim_step(sim, NULL, error);
    }
    if (status == WEFT_OK)
    {
        status = weft_sim_system(sim, &system, error);
    }
    if (status == WEFT_OK)
    {
        status = weft_system_write(system, o->prefix, o->binary, error);
    }
    if (status == WEFT_OK)
    {
        printf("%s: step %d, %d vertices\n", o->prefix, o->step, weft_system_vertex_count(system));
    }
    weft_system_destroy(system);
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
    weft_status status = write_system(&o, &error);
    error.status = status;
    return status == WEFT_OK ? EXIT_DONE : report_error(&error, false);
}
