// Preconditioners that sweep over the vertices, forward and back:
//
//     P = (I + L) D (I + L)^T,   D block diagonal, L strictly lower in the blocks of M = S A S + sigma (I - S).
//
// Symmetric Gauss-Seidel (SSOR with omega = 1) has D = diag(M) and L = M_lower D^-1; incomplete Cholesky without fill
// has those of a factorisation that drops what M has no block for.
#ifndef WEFT_SWEEPS_H
#define WEFT_SWEEPS_H

#include "solve/solve.h"

// "Lower" is an order of its own: rows come in chunks of neighbours, chunks in colours, such that two chunks of one
// colour have no block in common. The order is colour after colour and within a chunk that of the rows. It follows from
// the pattern alone, and chunks of one colour may be swept at once.
typedef struct sweeps
{
    int row_count, chunk_count, colour_count;
    int *colour, *stamp;       // [chunk_count] of a chunk; scratch
    int *chunk, *colour_start; // [chunk_count] by colour; [colour_count + 1] into it
    int *lower_start, *lower_column,
        *lower_slot; // [rows + 1]; columns before the row, in the order, and their slots of A
    int *upper_start, *upper_column, *upper_place; // [rows + 1]; columns behind the row, and their places in `lower`
    double *lower, *upper;                         // [9 * entries] L, and its transpose
    double* pivot;                                 // [9 * rows] D^-1
    int row_capacity, entry_capacity;
    double shift;   // share of A_ii that is added to it, found out by breakdowns; 0 at first
    int breakdowns; // of the last factorisation
} sweeps;

weft_status sweeps_analyze(sweeps* s, const linear_system* system);
// index is that of prefilter_index. NOT_DEFINITE: a block on the diagonal of M is not.
weft_status sweeps_factor_ssor(sweeps* s, const solve_options* options, const linear_system* system, const int* index);
weft_status sweeps_factor_ic(sweeps* s, const solve_options* options, const linear_system* system, const int* index);
// h = P^-1 r
void sweeps_apply(const sweeps* s, workers* pool, cpu_kind cpu, const vec3* r, vec3* h);
double sweeps_bytes(const sweeps* s);
void sweeps_finish(sweeps* s);

enum
{
    SWEEP_CHUNK = 256 // rows: 64 cost iterations, 1024 leave few to sweep at once
};

typedef struct sweep_kernels
{
    // h = r - L h for rows [begin, end), in this order
    void (*forward)(const sweeps* s, const vec3* r, vec3* h, int begin, int end);
    // h = D^-1 h - L^T h, from the last row to the first
    void (*backward)(const sweeps* s, vec3* h, int begin, int end);
} sweep_kernels;

const sweep_kernels* sweep_kernels_for(cpu_kind cpu);

#endif
