// weft list: names that scene files and the command line use, one a line: name, tab, summary.
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "weft/export.h"
#include "weft/weft.h"

// What `weft export` writes, besides the files that other commands read and write.
static void put_export_formats(void)
{
    for (int k = 0; weft_export_format_name(k); k++)
    {
        printf("%s\texport: %s\n", weft_export_format_name(k), weft_export_format_summary(k));
    }
}

static bool is_export_format(const char* name)
{
    int k = 0;
    while (weft_export_format_name(k) && strcmp(weft_export_format_name(k), name) != 0)
    {
        k++;
    }
    return weft_export_format_name(k) != NULL;
}

int command_list(int argc, char** argv)
{
    static const char* const kinds[] = {"methods", "solvers", "models", "materials",
                                        "scenes",  "formats", "bodies", "preconditioners"};
    if (argc != 2)
    {
        return report_usage(
            "list", false,
            "list what? methods, solvers, preconditioners, models, materials, scenes, formats or bodies");
    }
    for (int kind = 0; kind < 8; kind++)
    {
        if (strcmp(argv[1], kinds[kind]) != 0)
        {
            continue;
        }
        bool formats = (weft_list_kind)kind == WEFT_LIST_FORMATS;
        if (formats)
        {
            put_export_formats();
        }
        const char *name, *summary;
        for (int k = 0; weft_list((weft_list_kind)kind, k, &name, &summary) == WEFT_OK; k++)
        {
            if (!formats || !is_export_format(name))
            {
                printf("%s\t%s\n", name, summary);
            }
        }
        return EXIT_DONE;
    }
    return report_usage("list", false,
                        "there is no list of `%s`; take methods, solvers, preconditioners, models, materials, scenes, "
                        "formats or bodies",
                        argv[1]);
}
