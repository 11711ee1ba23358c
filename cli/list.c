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

static void put_number(const char* name, double value, const char* unit, const char* source)
{
    char text[32];
    snprintf(text, sizeof(text), "%.4g %s", value, unit);
    printf("  %-12s  %-16s  %s\n", name, text, source);
}

// Of each fabric every number, its unit and where it is from.
static void put_sources(void)
{
    const char *name, *summary;
    for (int k = 0; weft_list(WEFT_LIST_MATERIALS, k, &name, &summary) == WEFT_OK; k++)
    {
        weft_material m;
        weft_material_sources from;
        if (weft_material_find(name, &m, NULL) != WEFT_OK || weft_material_find_sources(name, &from, NULL) != WEFT_OK)
        {
            continue;
        }
        printf("%s%s\n", k ? "\n" : "", name);
        put_number("density", m.density, "kg/m2", from.density);
        put_number("stretch_warp", m.stretch_warp, "N/m", from.stretch);
        put_number("stretch_weft", m.stretch_weft, "N/m", from.stretch);
        put_number("shear", m.shear, "N/m", from.shear);
        put_number("bending", m.bending, "N m", from.bending);
        put_number("damping", m.damping, "s", from.damping);
        if (from.drape_of)
        {
            char band[32];
            snprintf(band, sizeof(band), "%g to %g %%", from.drape_low, from.drape_high);
            printf("  %-12s  %-16s  literature: Cusick's drape coefficient of %s\n", "drape", band, from.drape_of);
        }
    }
}

int command_list(int argc, char** argv)
{
    static const char* const kinds[] = {"methods", "solvers", "models", "materials",
                                        "scenes",  "formats", "bodies", "preconditioners"};
    if (argc == 3 && strcmp(argv[1], "materials") == 0 && strcmp(argv[2], "--sources") == 0)
    {
        put_sources();
        return EXIT_DONE;
    }
    if (argc == 3 && strcmp(argv[2], "--sources") == 0)
    {
        return report_usage("list", false, "--sources are those of materials: weft list materials --sources");
    }
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
