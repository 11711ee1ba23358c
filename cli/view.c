// weft view: one self-contained page with the animation, the curves and the numbers of one or more runs.
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "weft/view.h"

enum
{
    RUNS_MAX = 16 // more do not fit side by side
};

typedef struct view_options
{
    const char* dirs[RUNS_MAX];
    int dir_count;
    const char* output; // NULL: DIR/view.html, or of several runs compare.html in the first
} view_options;

// Any other ending is likely a slip, and what lies there would be lost: a run's sheet.pc2.
static bool names_page(const char* path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    return dot && dot > name && (strcasecmp(dot, ".html") == 0 || strcasecmp(dot, ".htm") == 0);
}

static int read_options(int argc, char** argv, view_options* o)
{
    *o = (view_options){0};
    option_scan scan = {.command = "view", .argc = argc, .argv = argv, .at = 1};
    while (option_next(&scan))
    {
        if (!scan.name && o->dir_count == RUNS_MAX)
        {
            return report_usage("view", false, "%d runs are as many as a page shows", RUNS_MAX);
        }
        if (!scan.name)
        {
            o->dirs[o->dir_count++] = scan.value;
            continue;
        }
        bool known = option_is(&scan, "-o") || option_is(&scan, "--output");
        o->output = known ? option_value(&scan) : NULL;
        if (!o->output)
        {
            return known ? report_usage("view", false, "-o needs the name of a file")
                         : report_usage("view", false, "unknown option `%s`", scan.name);
        }
        if (!names_page(o->output))
        {
            return report_usage("view", false, "`%s` does not name a page: give -o a name that ends in .html",
                                o->output);
        }
    }
    return o->dir_count > 0 ? EXIT_DONE : report_usage("view", false, "which run? give the folder of one or more");
}

static void show_progress(void* context, int done, int total)
{
    (void)context;
    fprintf(stderr, "\r%3d %%", (int)(100.0 * done / total));
    if (done == total)
    {
        fputs("\r     \r", stderr);
    }
}

// A scene or a name that is no folder: say what makes the folder.
static void explain_missing_run(weft_error* error)
{
    struct stat info;
    if (error->status == WEFT_NOT_FOUND && (stat(error->file, &info) != 0 || !S_ISDIR(info.st_mode)))
    {
        size_t used = strlen(error->message);
        snprintf(error->message + used, sizeof(error->message) - used,
                 "; run the scene first, `weft run SCENE`, then `weft view SCENE-run`");
    }
}

static int write_page(const view_options* o, const char* path)
{
    weft_view_page page = weft_view_page_default();
    page.dirs = o->dirs;
    page.dir_count = o->dir_count;
    page.progress = isatty(STDERR_FILENO) ? show_progress : NULL;
    weft_error error = {0};
    weft_status status = weft_view_write(&page, path, &error);
    if (status != WEFT_OK)
    {
        error.status = status;
        explain_missing_run(&error);
        return report_error(&error, false);
    }
    printf("%s\n", path);
    return EXIT_DONE;
}

int command_view(int argc, char** argv)
{
    view_options options;
    int code = read_options(argc, argv, &options);
    if (code != EXIT_DONE)
    {
        return code;
    }
    if (options.output)
    {
        return write_page(&options, options.output);
    }
    // A comparison leaves the page of the first run alone.
    const char* name = options.dir_count > 1 ? "/compare.html" : "/view.html";
    size_t size = strlen(options.dirs[0]) + strlen(name) + 1;
    char* path = malloc(size);
    if (!path)
    {
        return report_error(&(weft_error){.status = WEFT_NO_MEMORY}, false);
    }
    snprintf(path, size, "%s%s", options.dirs[0], name);
    code = write_page(&options, path);
    free(path);
    return code;
}
