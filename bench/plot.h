// Plots as SVG, readable by light and by dark, for a page or a file of their own: lines over an axis, and a map of
// ratios in cells.
#ifndef WEFT_BENCH_PLOT_H
#define WEFT_BENCH_PLOT_H

#include <stdbool.h>
#include <stdio.h>

enum
{
    PLOT_LINE_MAX = 48,
    PLOT_KEY_MAX = 16,
    PLOT_COLOURS = 8,
    PLOT_MARKERS = 4
};

typedef struct plot_line
{
    const double *x, *y; // [count]; points that are not finite, or not positive on a log axis, are gaps
    int count;
    int colour; // 0..PLOT_COLOURS - 1
    int marker; // 0..PLOT_MARKERS - 1: square, circle, diamond, triangle; -1: none
    bool dashed;
} plot_line;

// An entry of the legend.
typedef struct plot_key
{
    const char* name;
    int colour; // -1: the ink of the text
    int marker; // -1: none
    bool dashed, line;
} plot_key;

typedef struct plot
{
    const char *title, *x_title, *y_title; // units in the titles
    bool log_x, log_y;
    double y_guide; // a horizontal line to compare with; NaN: none
    plot_line lines[PLOT_LINE_MAX];
    int line_count;
    plot_key keys[PLOT_KEY_MAX];
    int key_count;
} plot;

// Those beyond the room are left out.
void plot_add(plot* p, plot_line line);
void plot_add_key(plot* p, plot_key key);
void plot_write(const plot* p, FILE* out); // an <svg> element

// Lines in a plane from -extent to extent both ways, as far apart one way as the other, without axes.
void plot_plan_write(const plot* p, double extent, FILE* out);

// Ratios, blue above one and orange below; NaN is an empty cell.
typedef struct plot_map
{
    const char *title, *x_title, *y_title;
    const char* const* columns; // [column_count]
    const char* const* rows;    // [row_count]
    int column_count, row_count;
    const double* values; // [row_count * column_count]
} plot_map;

void plot_map_write(const plot_map* m, FILE* out);

#endif
