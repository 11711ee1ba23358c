// A matrix without its blocks of zeros, for solvers whose work goes with the blocks: what explicit and slack elements
// leave is not multiplied.
#ifndef WEFT_COMPACT_H
#define WEFT_COMPACT_H

#include "sparse/sparse.h"

typedef struct compact_matrix
{
    bsr_pattern pattern;
    double* values;
    uint8_t* kept; // [blocks of what was given] 1: it stays
    int row_capacity, block_capacity;
    uint64_t fingerprint; // of the pattern; 0: there is none yet
} compact_matrix;

// A becomes one without blocks that are zero; diagonals stay. *changed: its pattern is another one than the last.
weft_status compact_run(compact_matrix* c, bsr_matrix* A, workers* pool, bool* changed);
void compact_finish(compact_matrix* c); // zeroed is fine

#endif
