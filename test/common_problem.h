// Constrained systems made at random, and their direct solve, which shares nothing with the library's solvers.
#ifndef WEFT_TEST_COMMON_PROBLEM_H
#define WEFT_TEST_COMMON_PROBLEM_H

#include "solve/solve.h"

typedef struct problem
{
    int n;
    bsr_pattern pattern;
    double* values;
    vec3 *b, *z;
    vec3* given;           // [3 * n] directions as given: not orthonormal
    int* given_count;      // [n]
    filter_record* filter; // [n], filter_count of them used
    int filter_count;
    vec3* basis;      // [3 * n] orthonormal free directions
    int* basis_count; // [n]
} problem;

void problem_alloc(problem* p, int n, const int* pairs, int pair_count);
void problem_finish(problem* p);
linear_system problem_system(const problem* p);
// The free directions of a vertex: an orthonormal basis of what is orthogonal to the given ones.
int problem_free_basis(const vec3* given, int given_count, vec3* basis);
// A full matrix with eigenvalues from 1 down to 1 / condition in even ratios, turned by random reflections.
void problem_random(problem* p, int n, double condition, uint64_t* random);
// A chain in which each vertex is tied to the next two by random semidefinite blocks, and to its place by `hold`. The
// eigenvalues lie between hold and hold + 8.
void problem_chain(problem* p, int n, double hold, uint64_t* random);
// (I - S) z of a vertex: z less its part in the free directions.
vec3 problem_prescribed(const problem* p, int i);
void problem_multiply(const problem* p, const vec3* x, vec3* y);
// x, and in held (I - S) z.
void problem_reference(const problem* p, vec3* x, vec3* held);
double problem_energy_norm(const problem* p, const vec3* a, const vec3* minus);

#endif
