// weft fit: from measurements of a fabric to a material block of scenes.
//
//     bending = rho g c^3 with the bending length c, half of the overhang at 41.5 degrees (Peirce 1930, ASTM D1388)
//     shear   = T / (4 e) with the extension e of a strip cut at 45 degrees under T (FAST: 123 / EB5 at 5 gf/cm)
//
// Several measurements of one quantity are their mean. What was not measured is the base's, and is said.
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/fit.h"

static const double earth = 9.80665; // m/s^2

typedef struct fit_options
{
    const char *file, *out, *base;
    bool json;
} fit_options;

typedef struct fitted
{
    double density;                 // kg/m^2; 0: not measured, as are the others
    double bending[FIT_DIRECTIONS]; // N m; FIT_BOTH: of rows without a direction
    double shear;                   // N/m
    fit_stretch stretch[2];         // warp, weft
} fitted;

// The mean of a quantity in a direction; 0: it was not measured.
static double mean_of(const fit_sheet* sheet, fit_quantity quantity, fit_direction direction)
{
    double sum = 0.0;
    int count = 0;
    for (int k = 0; k < sheet->count; k++)
    {
        bool is = sheet->rows[k].quantity == quantity && sheet->rows[k].direction == direction;
        sum += is ? sheet->rows[k].value : 0.0;
        count += is;
    }
    return count > 0 ? sum / count : 0.0;
}

// Over all directions.
static double mean_of_all(const fit_sheet* sheet, fit_quantity quantity)
{
    double sum = 0.0;
    int count = 0;
    for (int d = 0; d < FIT_BIAS; d++)
    {
        double mean = mean_of(sheet, quantity, (fit_direction)d);
        sum += mean;
        count += mean > 0.0;
    }
    return count > 0 ? sum / count : 0.0;
}

static int line_of(const fit_sheet* sheet, fit_quantity quantity, fit_direction direction)
{
    for (int k = 0; k < sheet->count; k++)
    {
        if (sheet->rows[k].quantity == quantity && sheet->rows[k].direction == direction)
        {
            return sheet->rows[k].line;
        }
    }
    return 0;
}

// A rigidity that a sheet states comes before lengths.
static weft_status fit_bending(const fit_sheet* sheet, fitted* out, weft_error* error)
{
    for (int d = 0; d < FIT_DIRECTIONS; d++)
    {
        double stated = mean_of(sheet, FIT_BENDING, (fit_direction)d);
        double length = mean_of(sheet, FIT_BENDING_LENGTH, (fit_direction)d);
        double overhang = mean_of(sheet, FIT_OVERHANG, (fit_direction)d);
        length = length > 0.0 && overhang > 0.0 ? 0.5 * (length + 0.5 * overhang) : fmax(length, 0.5 * overhang);
        if (stated == 0.0 && length > 0.0 && out->density == 0.0)
        {
            int line = line_of(sheet, overhang > 0.0 ? FIT_OVERHANG : FIT_BENDING_LENGTH, (fit_direction)d);
            return fit_fail(error, sheet, line,
                            "a length becomes a rigidity by the fabric's weight, which is missing: add a line "
                            "`weight,,150,g/m2`");
        }
        out->bending[d] = stated > 0.0 ? stated : out->density * earth * length * length * length;
    }
    double both = out->bending[FIT_BOTH], *warp = &out->bending[FIT_WARP], *weft = &out->bending[FIT_WEFT];
    *warp = *warp > 0.0 ? *warp : both > 0.0 ? both : *weft;
    *weft = *weft > 0.0 ? *weft : both > 0.0 ? both : *warp;
    double bias = out->bending[FIT_BIAS], most = *warp > 0.0 ? 4.0 / (1.0 / *warp + 1.0 / *weft) : 0.0;
    if (bias > 0.0 && !(bias < most))
    {
        int line = line_of(sheet, FIT_BENDING, FIT_BIAS);
        line = line ? line : line_of(sheet, FIT_BENDING_LENGTH, FIT_BIAS);
        line = line ? line : line_of(sheet, FIT_OVERHANG, FIT_BIAS);
        return fit_fail(error, sheet, line,
                        *warp > 0.0 ? "bending of %.3g N m at 45 degrees is no bending of a sheet with %.3g along warp "
                                      "and %.3g along weft: it is below 4 / (1 / warp + 1 / weft) = %.3g; look at its "
                                      "unit, or leave it out"
                                    : "bending of %.3g N m at 45 degrees alone says nothing about warp and weft "
                                      "(%.0f, %.0f, %.0f): measure these, or leave its direction empty",
                        bias, *warp, *weft, most);
    }
    return WEFT_OK;
}

static double shear_of(const fit_sheet* sheet)
{
    double stated = mean_of_all(sheet, FIT_SHEAR), sum = 0.0;
    int count = 0;
    for (int k = 0; k < sheet->count; k++)
    {
        bool is = sheet->rows[k].quantity == FIT_EXTENSION && sheet->rows[k].direction == FIT_BIAS;
        sum += is ? sheet->rows[k].load / (4.0 * sheet->rows[k].value) : 0.0;
        count += is;
    }
    return stated > 0.0 ? stated : count > 0 ? sum / count : 0.0;
}

static weft_status fit_all(const fit_sheet* sheet, fitted* out, weft_error* error)
{
    *out = (fitted){.density = mean_of_all(sheet, FIT_WEIGHT), .shear = shear_of(sheet)};
    weft_status status = fit_bending(sheet, out, error);
    for (int k = 0; k < 2 && status == WEFT_OK; k++)
    {
        status = fit_stretch_of(sheet, k == 0 ? FIT_WARP : FIT_WEFT, &out->stretch[k], error);
    }
    for (int k = 0; k < 2 && status == WEFT_OK; k++)
    {
        out->stretch[k] = out->stretch[k].points > 0 ? out->stretch[k] : out->stretch[1 - k];
    }
    return status;
}

// ---- the block

static void put_stretch(FILE* out, const char* name, const fit_stretch* s)
{
    if (s->points > 0 && s->knee > 0.0)
    {
        fprintf(out, ",\n  \"%s\": {\"soft\": %.6g, \"knee\": %.6g, \"stiff\": %.6g}", name, s->soft, s->knee,
                s->stiff);
    }
    else if (s->points > 0)
    {
        fprintf(out, ",\n  \"%s\": %.6g", name, s->soft);
    }
}

static void put_block(FILE* out, const fit_options* o, const fitted* f)
{
    const double *b = f->bending, warp = b[FIT_WARP], weft = b[FIT_WEFT];
    fprintf(out, "{\n  \"base\": \"%s\"", o->base);
    if (f->density > 0.0)
    {
        fprintf(out, ",\n  \"density\": %.6g", f->density);
    }
    put_stretch(out, "stretch_warp", &f->stretch[0]);
    put_stretch(out, "stretch_weft", &f->stretch[1]);
    if (f->shear > 0.0)
    {
        fprintf(out, ",\n  \"shear\": %.6g", f->shear);
    }
    if (warp > 0.0 && (warp != weft || b[FIT_BIAS] > 0.0))
    {
        fprintf(out, ",\n  \"bending\": {\"warp\": %.6g, \"weft\": %.6g", warp, weft);
        b[FIT_BIAS] > 0.0 ? fprintf(out, ", \"bias\": %.6g", b[FIT_BIAS]) : 0;
        fprintf(out, "}");
    }
    else if (warp > 0.0)
    {
        fprintf(out, ",\n  \"bending\": %.6g", warp);
    }
    fprintf(out, "\n}\n");
}

static void say_what_is_missing(const fit_options* o, const fitted* f)
{
    const char* missing[] = {f->density > 0.0 ? NULL : "weight", f->stretch[0].points > 0 ? NULL : "stretch",
                             f->shear > 0.0 ? NULL : "shear", f->bending[FIT_WARP] > 0.0 ? NULL : "bending"};
    for (int k = 0; k < 4; k++)
    {
        missing[k] ? fprintf(stderr, "weft: note: no %s was measured; it is that of `%s`\n", missing[k], o->base) : 0;
    }
    for (int k = 0; k < 2; k++)
    {
        if (f->stretch[k].misfit > 0.05)
        {
            fprintf(stderr,
                    "weft: note: %s is off by up to %.0f %% of the largest load: the curve is not one of two straight "
                    "lines, the second steeper\n",
                    k == 0 ? "stretch_warp" : "stretch_weft", 100.0 * f->stretch[k].misfit);
        }
    }
}

// Whole or not at all.
static int write_block(const fit_options* o, const fitted* f)
{
    char part[4096];
    weft_error error = {.status = WEFT_IO};
    if (snprintf(part, sizeof(part), "%s.part", o->out) >= (int)sizeof(part))
    {
        return report_usage("fit", o->json, "the name of the file is too long");
    }
    FILE* out = fopen(part, "w");
    bool good = out != NULL;
    if (out)
    {
        put_block(out, o, f);
        good = !ferror(out);
        good = fclose(out) == 0 && good;
    }
    if (good && rename(part, o->out) == 0)
    {
        return EXIT_DONE;
    }
    snprintf(error.message, sizeof(error.message), "cannot write `%s`: %s", o->out, strerror(errno));
    out ? (void)unlink(part) : (void)0;
    return report_error(&error, o->json);
}

// ---- the command

static int read_option(option_scan* scan, fit_options* o)
{
    if (!scan->name)
    {
        if (o->file)
        {
            return report_usage("fit", o->json, "one file at a time, not `%s` too", scan->value);
        }
        o->file = scan->value;
        return EXIT_DONE;
    }
    if (option_is(scan, "--json"))
    {
        return EXIT_DONE;
    }
    bool out = option_is(scan, "-o");
    if (!out && !option_is(scan, "--base"))
    {
        return report_usage("fit", o->json, "unknown option `%s`", scan->name);
    }
    const char* value = option_value(scan);
    if (!value || !*value)
    {
        return report_usage("fit", o->json, "%s needs %s", out ? "-o" : "--base", out ? "a file" : "a material");
    }
    *(out ? &o->out : &o->base) = value;
    return EXIT_DONE;
}

int command_fit(int argc, char** argv)
{
    fit_options o = {.base = "cotton"};
    for (int k = 1; k < argc; k++)
    {
        o.json = o.json || strcmp(argv[k], "--json") == 0;
    }
    option_scan scan = {.command = "fit", .argc = argc, .argv = argv, .at = 1};
    while (option_next(&scan))
    {
        int status = read_option(&scan, &o);
        if (status != EXIT_DONE)
        {
            return status;
        }
    }
    if (!o.file)
    {
        return report_usage("fit", o.json, "a sheet of measurements is missing: weft fit FILE.csv");
    }
    weft_error error = {0};
    weft_material base;
    fit_sheet sheet = {0};
    fitted f;
    weft_status status = weft_material_find(o.base, &base, &error);
    status = status == WEFT_OK ? fit_read(o.file, &sheet, &error) : status;
    status = status == WEFT_OK ? fit_all(&sheet, &f, &error) : status;
    if (status == WEFT_OK && sheet.passed_over[0] && !o.json)
    {
        fprintf(stderr, "weft: note: columns that are passed over: %s\n", sheet.passed_over);
    }
    fit_sheet_free(&sheet);
    if (status != WEFT_OK)
    {
        return report_error(&error, o.json);
    }
    o.json ? (void)0 : say_what_is_missing(&o, &f);
    if (o.out)
    {
        return write_block(&o, &f);
    }
    put_block(stdout, &o, &f);
    return EXIT_DONE;
}
