// Global steps of what is held in part and of cushions: with the matrix A of global_step.h and the blocks B of
// cushions,
//
//     S (A + B) S x = S b,
//
// by conjugate gradients with P of global_touches.h as preconditioner, which is S A S where few vertices are held.
// Neither the blocks of A nor those of cushions are put
// together: A is one number for each pair of vertices, and a cushion knows what it answers.
#ifndef WEFT_GLOBAL_FILTERED_H
#define WEFT_GLOBAL_FILTERED_H

#include "step/directions.h"
#include "step/global_touches.h"

typedef struct global_filtered
{
    vec3 *r, *s, *z; // [vertex_count]
    directions kept; // since the filter was taken
    global_touches touches;
    int* record_start; // [chunks + 1] the first record of the filter in each chunk of rows
} global_filtered;

weft_status global_filtered_create(global_filtered* c, const global_step* g);
void global_filtered_finish(global_filtered* c); // zeroed or half-built is fine

void global_filtered_take(global_filtered* c, global_step* g, const world* w); // the filter, as it is now

// At most so many iterations, from zero, until what x is off, in the norm of S (A + B) S, is that share of what zero is
// off. It begins with the directions of earlier solves with the same filter and cushions. However few there were, x
// lowers the quadratic form whose gradient is -b at zero. Returns how many solves with the factor it took.
int global_filtered_solve(global_filtered* c, global_step* g, const world* w, const vec3* b, int most, double share,
                          vec3* x);

#endif
