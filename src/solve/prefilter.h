// What the direct solvers share: the constrained system as one that is positive definite,
//
//     M y = S (b - A (I - S) z),   M = S A S + sigma (I - S),   x = (I - S) z + S y,
//
// with sigma_i = trace(A_ii) / 3 for each vertex, a mean of A's Rayleigh quotients, so that the condition of M is no
// worse than that of A.
#ifndef WEFT_PREFILTER_H
#define WEFT_PREFILTER_H

#include "solve/solve.h"

// Record of each vertex: index[vertex], -1 where the vertex is free.
void prefilter_index(const linear_system* system, int* index);

// Block `slot` of M, whose row is `vertex`: where it lies when nothing filters it, else in buffer [9].
const double* prefilter_block(const linear_system* system, const int* index, int slot, int vertex, double* buffer);

typedef void direct_solve_fn(void* state, const vec3* b, vec3* x);

// What direct solvers aim at where a looser tolerance is asked for: digits that cost them next to nothing, and that
// contact and rest in a scene with the default of scenes may rely on.
static const double direct_tolerance_max = 1e-5;

// The steps around a direct solve: start, residual, one step of refinement where it helps, stats.
typedef struct direct_solve
{
    workers* pool;
    cpu_kind cpu;
    double tolerance;
    direct_solve_fn* solve; // x = M^-1 b
    void* state;
    vec3 *r, *y, *Ax; // [rows] scratch
} direct_solve;

weft_status direct_solve_run(const direct_solve* d, const linear_system* system, vec3* x, weft_solve_stats* stats);

#endif
