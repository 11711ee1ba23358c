// weft list: names that scene files and the command line use, one a line: name, tab, summary.
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "weft/weft.h"

int command_list(int argc, char** argv)
{
    static const char* const kinds[] = {"methods", "solvers", "models", "materials", "scenes", "formats"};
    if (argc != 2)
    {
        return report_usage("list", false, "list what? methods, solvers, models, materials, scenes or formats");
    }
    for (int kind = 0; kind < 6; kind++)
    {
        if (strcmp(argv[1], kinds[kind]) != 0)
        {
            continue;
        }
        const char *name, *summary;
        for (int k = 0; weft_list((weft_list_kind)kind, k, &name, &summary) == WEFT_OK; k++)
        {
            printf("%s\t%s\n", name, summary);
        }
        return EXIT_DONE;
    }
    return report_usage("list", false,
                        "there is no list of `%s`; take methods, solvers, models, materials, scenes or formats",
                        argv[1]);
}
