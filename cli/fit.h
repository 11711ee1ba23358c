// What the files of `weft fit` share: a sheet of measurements, and the fit of a load curve.
#ifndef WEFT_FIT_H
#define WEFT_FIT_H

#include "cli/cli.h"

typedef enum fit_quantity
{
    FIT_WEIGHT,         // kg/m^2
    FIT_BENDING,        // N m
    FIT_BENDING_LENGTH, // m, of which rho g c^3 is the rigidity
    FIT_OVERHANG,       // m, at 41.5 degrees: twice the bending length
    FIT_SHEAR,          // N/m for a radian
    FIT_EXTENSION,      // strain, at a load
    FIT_LINEARITY,      // of KES: energy of extension over that of a straight line
    FIT_WORK,           // J/m^2, energy of extension up to the largest load
    FIT_UNUSED          // known, and of no use to a material
} fit_quantity;

typedef enum fit_direction
{
    FIT_BOTH,
    FIT_WARP,
    FIT_WEFT,
    FIT_BIAS,
    FIT_DIRECTIONS
} fit_direction;

// A row of the file in SI units.
typedef struct fit_row
{
    fit_quantity quantity;
    fit_direction direction;
    double value;
    double load; // N/m, of an extension
    int line;
} fit_row;

typedef struct fit_sheet
{
    const char* file;
    fit_row* rows;
    int count, capacity;
    char passed_over[128]; // columns that are not known, with commas
} fit_sheet;

// The sheet's file as lines of UTF-8.
typedef struct fit_text
{
    char* bytes; // with a zero at the end
    char* next;  // where the next line begins
} fit_text;

weft_status fit_text_read(const fit_sheet* sheet, fit_text* out, weft_error* error);
char* fit_text_line(fit_text* t); // without its end; NULL: there are no more
void fit_text_free(fit_text* t);  // zeroed is fine

weft_status fit_read(const char* file, fit_sheet* out, weft_error* error);
void fit_sheet_free(fit_sheet* sheet);
weft_status fit_fail(weft_error* error, const fit_sheet* sheet, int line, const char* format, ...)
    __attribute__((format(printf, 4, 5)));

// Stretch of threads: force over width is soft times strain up to the knee, and grows by stiff beyond it.
typedef struct fit_stretch
{
    double soft, knee, stiff; // N/m, strain, N/m; knee 0: soft alone
    double misfit;            // largest, over the largest load
    int points;               // 0: nothing was measured
} fit_stretch;

// From the extensions of one direction, and the linearity or work of KES.
weft_status fit_stretch_of(const fit_sheet* sheet, fit_direction direction, fit_stretch* out, weft_error* error);

#endif
