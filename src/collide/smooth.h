// Where a sheet is smooth it cannot meet itself: smooth.c has the reason.
#ifndef WEFT_SMOOTH_H
#define WEFT_SMOOTH_H

#include "core/core.h"
#include "math/vec.h"

// How far gradients may leave the end that was measured, before that says nothing any more; what they keep then.
#define SMOOTH_LASTS 0.25
#define SMOOTH_KEEPS 0.1

enum
{
    SMOOTH_BEHIND = 3, // cells of a window on the lower side of its own, in either direction
    SMOOTH_WINDOW = 8  // cells of a side of it
};

// The plane of a flat body at rest, in cells. Around them is a border of empty ones, so that windows need no end.
typedef struct smooth_grid
{
    int body;
    vec3 origin, axis[2]; // of the plane
    double size[2];       // m, from the origin
    int count[2];         // cells along each axis
    int stride, first;    // of rows; the place of the first row's first cell, border included
} smooth_grid;

// Cells from low to high, both included, of one grid.
typedef struct smooth_rect
{
    int grid; // -1: none
    int16_t low[2], high[2];
} smooth_rect;

typedef struct smooth_map
{
    int grid_count;
    smooth_grid* grid;
    int* grid_of;  // [vertex_count] -1: none
    vec2* at;      // [vertex_count] m, in the plane
    int* class_at; // [grid_count + 3] scratch of builds
    int face_count;
    int* corner;     // [3 * face_count]
    double* inverse; // [4 * face_count] 1/m, of the matrix of two sides at rest
    int cell_count;  // of all grids, with borders
    int live_count;  // those without
    int* live;       // [live_count]
    int* stride_of;  // [live_count] of its grid
    int* cell_face;  // faces that have a part of a cell
    int* cell_start; // [cell_count + 1]
    uint8_t* sound;  // [cell_count] covered by one layer of good triangles
    double altitude; // m, of a triangle of a sound cell, at least
    // of the last measure
    bool valid;
    float (*gradient)[6]; // [face_count] at the start, column by column
    float* drift;         // [face_count] how far it moves until the end
    float* mean[6];       // [cell_count + SMOOTH_WINDOW] of the faces of a cell
    float* spread;    // [cell_count + SMOOTH_WINDOW] how far its faces are off the mean in its plane, and how far they
                      // move until the end; infinite: it is not smooth
    float* lean;      // [cell_count + SMOOTH_WINDOW] how far they are off it across the plane
    float* normal[3]; // [cell_count + SMOOTH_WINDOW] of the plane
    float least;      // eigenvalue where cells agree, after all that is taken off
    uint64_t* window; // [cell_count] of cells around, those that are smooth as this one sees them
    uint64_t* again;  // [cell_count] likewise, on the way to another end
    bool measured_again; // gradients are those of that way
} smooth_map;

// Of faces [begin, end), of live cells [begin, end), and their windows; in this order.
typedef struct smooth_kernels
{
    void (*faces)(smooth_map* m, const vec3* start, const vec3* end, int begin, int count);
    void (*cells)(smooth_map* m, int begin, int end);
    void (*windows)(smooth_map* m, int begin, int end);
} smooth_kernels;

static inline int smooth_cell(const smooth_grid* g, int column, int row)
{
    return g->first + (row + SMOOTH_BEHIND) * g->stride + column + SMOOTH_BEHIND;
}

smooth_rect smooth_rect_of(const smooth_map* m, const int* vertex, int count); // around these, of one body
void smooth_rect_join(smooth_rect* a, const smooth_rect* b);
void smooth_spoil(smooth_map* m, const int* edge); // cells that an edge of a border goes through are not sound
void smooth_finish(smooth_map* m);                 // zeroed is fine

extern const uint64_t smooth_rows[SMOOTH_WINDOW + 1]; // a bit in each of the first n bytes

// Whether two sets of features, in these cells, cannot meet.
static inline bool smooth_apart(const smooth_map* m, const smooth_rect* a, const smooth_rect* b)
{
    if (a->grid < 0 || a->grid != b->grid)
    {
        return false;
    }
    const smooth_grid* g = &m->grid[a->grid];
    int from[2], size[2], own[2];
    for (int k = 0; k < 2; k++)
    {
        int low = a->low[k] < b->low[k] ? a->low[k] : b->low[k],
            high = a->high[k] > b->high[k] ? a->high[k] : b->high[k];
        own[k] = (a->low[k] + a->high[k]) / 2;
        from[k] = low - own[k] + SMOOTH_BEHIND;
        size[k] = high - low + 1;
        if (from[k] < 0 || from[k] + size[k] > SMOOTH_WINDOW)
        {
            return false;
        }
    }
    uint64_t row = ((1u << size[0]) - 1u) << from[0], wanted = row * smooth_rows[size[1]] << 8 * from[1];
    return (m->window[smooth_cell(g, own[0], own[1])] & wanted) == wanted;
}

#endif
