// Ties J x = J z for tests of solvers: rows, made up or at random, and the truth about them. It is dense and in long
// double: an orthonormal basis Q of the rows of the filter and of J by Gram-Schmidt, S = I - Q Q^T, and elimination in
// S A S + (I - S); it shares no code with the library, which never forms S.
#ifndef WEFT_TEST_COMMON_TIES_H
#define WEFT_TEST_COMMON_TIES_H

#include "solve/system.h"

typedef struct tie_table
{
    int count, entry_count;
    int start[2000];
    int unknown[20000];
    double value[20000];
} tie_table;

// The sum of weights times vertices stays: a vertex follows a face, an edge an edge. Three rows.
void tie_table_tie(tie_table* r, const int* vertices, const double* weights, int count);
// Instead of those that are there: vertices over faces, edges over edges, and rows over any six unknowns, among n
// vertices.
void tie_table_random(tie_table* r, int n, int faces, int edges, int general, uint64_t* random);
// Rows that say again what others say: a copy, and the sum of the first two; and one that says nothing.
void tie_table_repeat(tie_table* r);
void tie_table_set(weft_system* s, const tie_table* r); // instead of the system's; none: without ties

typedef struct tie_truth
{
    int size;
    long double* S; // [size * size] freed by the caller
    int rank;
} tie_truth;

tie_truth tie_truth_of(const weft_system* s);
// The solution, and (I - S) z in start.
void tie_truth_solve(const tie_truth* t, const weft_system* s, vec3* x, vec3* start);

#endif
