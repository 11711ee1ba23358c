// Global steps that know what touches: with N the prescribed directions of vertices, a row each,
//
//     P^-1 = A^-1 - A^-1 N^T D^-1 N A^-1,    D = N A^-1 N^T,
//
// solves S A S x = S b at once, where conjugate gradients with the factor of A alone first have to learn which cloth
// hangs from what is held. Of A^-1 it takes entries between vertices that are held, which are products of columns of
// L^-1 (chol_columns.h); these stay for as long as the factor does. Where there are more rows than D is to have, some
// stand for those around them, evenly along the order of vertices: P is then less than S A S, never more.
#ifndef WEFT_GLOBAL_TOUCHES_H
#define WEFT_GLOBAL_TOUCHES_H

#include "solve/direct/chol_columns.h"
#include "step/global_step.h"

enum
{
    TOUCH_ROWS = 256,   // most of D
    TOUCH_COLUMNS = 512 // that are kept
};

typedef struct touch_row
{
    int column; // its vertex's
    vec3 direction;
} touch_row;

typedef struct global_touches
{
    chol_paths paths;
    int vertex[TOUCH_COLUMNS];   // of each column, -1: none
    int64_t used[TOUCH_COLUMNS]; // when it was last wanted
    int64_t now;                 // counts sets of rows
    double* columns;             // [TOUCH_COLUMNS][paths.longest] of L^-1
    double* inverse;             // [TOUCH_COLUMNS][TOUCH_COLUMNS] entries of A^-1
    int* column_of;              // [vertex_count] -1: none
    uint64_t factor;             // whose columns these are, 0: none
    touch_row rows[TOUCH_ROWS];  // [row_count] in the order of the filter
    double right[TOUCH_ROWS];    // of the system of D
    chol_stretch* stretches;     // [TOUCH_COLUMNS][paths.deepest] of each column
    int* stretch_count;          // [TOUCH_COLUMNS]
    double* D;                   // its factor in tiles
    int row_count;               // 0: none, or D could not be factored
    int turn;                    // vertices whose turn is below this one have their rows
} global_touches;

weft_status global_touches_create(global_touches* t, const global_step* g);
void global_touches_finish(global_touches* t); // zeroed or half-built is fine
// Takes the filter of the world as it is now.
void global_touches_take(global_touches* t, global_step* g, const world* w);
bool global_touches_knows(const global_touches* t, int vertex); // rows of what is prescribed there
// x = P^-1 b, with zero at held vertices. So A x is b where nothing is prescribed.
void global_touches_solve(global_touches* t, global_step* g, const world* w, const vec3* b, vec3* x);

#endif
