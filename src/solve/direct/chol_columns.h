// Columns of L^-1. That of a vertex, u = L^-1 e, is what the forward half of a solve makes of a unit load there. It is
// zero but in the pivots of the nodes from the vertex's own up to the root, so it is kept as these alone, the root's
// first: two columns then share a head, up to the lowest node that both have above them, and
//
//     (A^-1)_ij = u_i . u_j
//
// is a product of two heads. Likewise (A^-1 b)_i = u_i . (L^-1 b), between the halves of a solve.
#ifndef WEFT_CHOL_COLUMNS_H
#define WEFT_CHOL_COLUMNS_H

#include "solve/direct/cholesky.h"

typedef struct chol_paths
{
    int* node;   // [vertex_count] that eliminates the vertex
    int* depth;  // [node_count] numbers of a column before those of the node: of all nodes above it
    int longest; // numbers of the longest column
    int deepest; // nodes of the longest way
} chol_paths;

// For scalar matrices, block_size 1.
weft_status chol_paths_create(chol_paths* p, const chol_symbolic* symbolic);
void chol_paths_finish(chol_paths* p); // zeroed or half-built is fine

// The column of a vertex, [longest] of which what the vertex has is written. What numeric->x and y held is lost.
void chol_column(const chol_paths* p, const chol_symbolic* symbolic, chol_numeric* numeric, const chol_engine* engine,
                 int vertex, double* column);
// How many numbers the columns of two vertices share.
int chol_columns_shared(const chol_paths* p, const chol_symbolic* symbolic, int a, int b);

// A stretch of a column and where it lies in numeric->x.
typedef struct chol_stretch
{
    int column, count;
    size_t x;
} chol_stretch;

// Stretches of a vertex's column, [deepest] at most. Returns how many there are.
int chol_stretches(const chol_paths* p, const chol_symbolic* symbolic, int vertex, chol_stretch* out);

// Compiled for each CPU kind. Counts are multiples of 8.
typedef struct chol_column_kernels
{
    double (*product)(const double* a, const double* b, int count);
    // out[k] = column . x of side k, three sides that are `apart` from each other
    void (*take)(const double* column, const chol_stretch* list, int count, const double* x, size_t apart, double* out);
    // x of side k += share[k] column
    void (*add)(const double* column, const chol_stretch* list, int count, const double* share, double* x,
                size_t apart);
} chol_column_kernels;

const chol_column_kernels* chol_column_kernels_for(cpu_kind cpu);

#endif
