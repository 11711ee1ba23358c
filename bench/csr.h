// Scalar matrices in compressed rows: plain serial code for controls in benchmarks.
#ifndef WEFT_BENCH_CSR_H
#define WEFT_BENCH_CSR_H

#include "solve/solve.h"

typedef struct csr
{
    int rows, columns;
    int* start;    // [rows + 1]
    int* column;   // [start[rows]]
    double* value; // likewise
} csr;

weft_status csr_alloc(csr* A, int rows, int columns, int capacity);
void csr_finish(csr* A);

// Rows are filled in order: begin one, then append its entries.
void csr_begin_row(csr* A, int row);
void csr_append(csr* A, int row, int column, double value);

void csr_apply(const csr* A, const double* x, double* y);          // y = A x
void csr_add_transposed(const csr* A, const double* x, double* y); // y += A^T x
weft_status csr_transpose(const csr* A, csr* out);
weft_status csr_multiply(const csr* A, const csr* B, csr* C); // C = A B

// The prefiltered system as direct solvers take it (solve/prefilter.h), unknown after unknown: unknown p of vertex i is
// row p n + i. coupled: all nine blocks A_pq, else the three A_pp alone. b is [3 n]. A is finished by the caller.
weft_status csr_take_system(const linear_system* system, bool coupled, csr* A, double* b);

#endif
