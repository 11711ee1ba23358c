// weft validate: experiments with known answers; exit status 1 when a stated bound is broken.
#include "validate/validate.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

typedef struct command_line
{
    validate_options o;
    const char* overrides[OVERRIDES_MAX];
    bool list;
} command_line;

// Options with a value; 1: it is none of them.
static int read_value(option_scan* scan, command_line* c)
{
    const struct
    {
        const char *name, **value;
    } texts[] = {{"--method", &c->o.method},   {"--model", &c->o.model},
                 {"--bending", &c->o.bending}, {"--material", &c->o.material},
                 {"--mesh", &c->o.mesh},       {"--experiments", &c->o.experiments},
                 {"--out", &c->o.out}};
    const struct
    {
        const char* name;
        int* value;
        int low, high;
        const char* expected;
    } numbers[] = {{"--cells", &c->o.cells, 4, 400, "a whole number from 4 to 400"},
                   {"--threads", &c->o.threads, 0, 256, "a whole number from 0 (one a core) to 256"}};
    char name[64];
    snprintf(name, sizeof(name), "%s", scan->name);
    for (size_t k = 0; k < sizeof(texts) / sizeof(texts[0]); k++)
    {
        if (strcmp(name, texts[k].name) == 0)
        {
            const char* value = option_value(scan);
            *texts[k].value = value;
            return value && *value ? EXIT_DONE : report_usage("validate", c->o.json, "%s needs a value", name);
        }
    }
    for (size_t k = 0; k < sizeof(numbers) / sizeof(numbers[0]); k++)
    {
        if (strcmp(name, numbers[k].name) == 0)
        {
            const char* value = option_value(scan);
            bool good = value && parse_int(value, numbers[k].low, numbers[k].high, numbers[k].value);
            return good ? EXIT_DONE
                        : report_value("validate", c->o.json, name, value ? value : "", numbers[k].expected);
        }
    }
    return 1;
}

static int read_override(option_scan* scan, command_line* c)
{
    const char* value = option_value(scan);
    if (!value || !strchr(value, '='))
    {
        return report_usage("validate", c->o.json, "--set needs PATH=VALUE");
    }
    if (c->o.override_count == OVERRIDES_MAX)
    {
        return report_usage("validate", c->o.json, "more than %d times --set", OVERRIDES_MAX);
    }
    c->overrides[c->o.override_count++] = value;
    return EXIT_DONE;
}

static int read_option(option_scan* scan, command_line* c)
{
    if (!scan->name)
    {
        return report_usage("validate", c->o.json,
                            "`%s` is no option; experiments are chosen by --experiments NAME,NAME", scan->value);
    }
    if (option_is(scan, "--json"))
    {
        return EXIT_DONE;
    }
    if (option_is(scan, "--resume"))
    {
        c->o.resume = true;
        return EXIT_DONE;
    }
    if (option_is(scan, "--list"))
    {
        c->list = true;
        return EXIT_DONE;
    }
    if (option_is(scan, "--set"))
    {
        return read_override(scan, c);
    }
    int status = read_value(scan, c);
    return status != 1 ? status : report_usage("validate", c->o.json, "unknown option `%s`", scan->name);
}

int command_validate(int argc, char** argv)
{
    command_line c = {.o = {.material = "cotton"}};
    for (int k = 1; k < argc; k++)
    {
        c.o.json = c.o.json || strcmp(argv[k], "--json") == 0;
    }
    c.o.overrides = c.overrides;
    option_scan scan = {.command = "validate", .argc = argc, .argv = argv, .at = 1};
    while (option_next(&scan))
    {
        int status = read_option(&scan, &c);
        if (status != EXIT_DONE)
        {
            return status;
        }
    }
    for (int k = 0; k < experiment_count && c.list; k++)
    {
        printf("%s\t%s\n", experiments[k]->name, experiments[k]->summary);
    }
    if (c.list)
    {
        return EXIT_DONE;
    }
    if (c.o.resume && !c.o.out)
    {
        return report_usage("validate", c.o.json,
                            "--resume goes on with the measurements of a folder, which --out DIR names");
    }
    c.o.progress = isatty(STDERR_FILENO);
    weft_error error = {0};
    int broken;
    if (validate_run(&c.o, &broken, &error) != WEFT_OK)
    {
        return report_error(&error, c.o.json);
    }
    return broken > 0 ? EXIT_FAILED : EXIT_DONE;
}
