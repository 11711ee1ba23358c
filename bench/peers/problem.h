// One linear system as all solvers of the comparison see it, and what their answers are worth.
//
// Strangers get the constrained system as one that is positive definite (solve/prefilter.h):
//
//     M y = S (b - A (I - S) z),   M = S A S + sigma (I - S),   x = (I - S) z + y,   start y = 0,
//
// in the order x0 y0 z0 x1 ..., without the vertices that are fixed in all directions (their rows, which hold nothing
// but sigma, are aggregates of their own in GAMG, whose coarse matrices then have zeros on the diagonal), and with the
// six rigid motions of the positions, S applied, as near kernel (the three translations without positions, the kernel
// of the file where it has one).
#ifndef WEFT_PEERS_PROBLEM_H
#define WEFT_PEERS_PROBLEM_H

#include "solve/system.h"

typedef struct problem
{
    weft_system* system;
    linear_system view;
    int rows;    // vertices
    int* index;  // [rows] filter record of each vertex, -1: free
    int* place;  // [rows] number of the vertex among those that strangers see, -1: fixed
    int* vertex; // [free_count] the vertex of each
    int free_count;
    vec3* start;    // [rows] (I - S) z
    vec3* rhs;      // [rows] S (b - A (I - S) z)
    double* kernel; // [3 * rows * kernel_count] orthonormal columns
    int kernel_count;
    vec3* exact; // [rows] a tight solution, NULL when none was asked for
    vec3* work;  // [2 * rows]
} problem;

weft_status problem_read(problem* p, const char* prefix, weft_error* error);
// The tight solution for energy errors, by a direct solver.
weft_status problem_solve_tightly(problem* p, weft_error* error);
void problem_finish(problem* p);

// |S (b - A x)| / |S (b - A start)| in the 2-norm, whatever a solver says of itself.
double problem_residual2(const problem* p, const vec3* x);
// |x - exact| / |start - exact| in the energy norm; NaN without a tight solution.
double problem_energy_error(const problem* p, const vec3* x);

#endif
