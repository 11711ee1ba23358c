// What benchmarks write besides numbers: tables for the terminal and for a page, and the page, which needs nothing but
// itself and is readable by light and by dark.
#ifndef WEFT_BENCH_PAGE_H
#define WEFT_BENCH_PAGE_H

#include <stdio.h>

#include "weft/types.h"

enum
{
    GRID_ROWS = 32,
    GRID_COLUMNS = 20,
    GRID_TEXT = 48
};

typedef struct text_grid
{
    const char* title;
    char cell[GRID_ROWS][GRID_COLUMNS][GRID_TEXT]; // row 0: heads
    int row_count, column_count;
} text_grid;

// Each fills a cell and moves *column on.
void grid_put(text_grid* g, int row, int* column, const char* format, ...) __attribute__((format(printf, 4, 5)));
void grid_put_number(text_grid* g, int row, int* column, double value); // three digits; NaN is a dash
void grid_put_count(text_grid* g, int row, int* column, int value);     // 1,002,001
void grid_print(const text_grid* g, FILE* out);
void grid_write(const text_grid* g, FILE* out); // HTML; cells that say "MISSED" or "met" stand out

// A sentence for the terminal, wrapped.
void page_print(FILE* out, const char* sentence);

void page_begin(FILE* out, const char* title);
void page_text(FILE* out, const char* element, const char* text); // <element>text</element>
void page_escape(FILE* out, const char* text);
void page_end(FILE* out);

// Writes FOLDER/NAME, whole or not at all, as `write` does it; makes the folder. Prints what went wrong.
typedef void page_writer(const void* context, FILE* out);
weft_status page_file(const char* folder, const char* name, page_writer* write, const void* context);

#endif
