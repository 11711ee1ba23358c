// The global step of local/global methods: the constant matrix
//
//     A = M + sum over rows of elements of weight S^T S
//
// one number for each pair of vertices, the same for x, y and z, factored once for each length of substep and set of
// held vertices, and solved for three right-hand sides.
#ifndef WEFT_GLOBAL_STEP_H
#define WEFT_GLOBAL_STEP_H

#include "solve/direct/cholesky.h"
#include "step/step.h"

// One for each length of substep that came up.
typedef struct global_factor
{
    double h; // s; 0: none
    chol_numeric numeric;
} global_factor;

typedef struct global_step
{
    chol_symbolic symbolic;
    double* values;                          // [blocks of the pattern]
    double filled;                           // s: the length of substep of values, 0: none
    global_factor factors[HALVINGS_MAX + 1]; // by the number of halvings
    uint8_t* held;                           // [vertex_count] 1: its row is that of the identity
} global_step;

weft_status global_step_create(global_step* g, const model* m);
void global_step_finish(global_step* g); // zeroed or half-built is fine
void global_step_forget(global_step* g); // factors are made anew when they are wanted

// Takes the vertices that are held wholly from the filter. Factors are dropped where that has changed.
void global_step_hold(global_step* g, const filter_record* filter, int count);
// The factor for this substep; *made: it was not there.
weft_status global_step_factor(global_step* g, const world* w, bool* made);
// A as a matrix of 3 x 3 blocks into w->values, for what adds to it.
void global_step_blocks(global_step* g, world* w);
// x = A^-1 b, with zero at held vertices; both may be the same.
void global_step_solve(global_step* g, const world* w, const vec3* b, vec3* x);

#endif
