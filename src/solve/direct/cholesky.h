// The parts of the sparse Cholesky: order and symbolic structure, made once a pattern; numeric factor, refilled for
// each set of values; triangular solves. Vertices carry block_size unknowns each, so that 3 x 3 blocks and plain
// scalars (with several right-hand sides at once) go the same way.
//
//     P A P^T = L L^T
#ifndef WEFT_CHOLESKY_H
#define WEFT_CHOLESKY_H

#include "core/core.h"
#include "solve/direct/dense.h"
#include "sparse/sparse.h"

// order[k] is the vertex that is eliminated k-th (its rank is k): nested dissection, the same on every run. Falls back
// to the natural order where the graph is too small or the library fails.
weft_status ordering_dissect(const bsr_pattern* pattern, int* order);

// A supernode: neighbouring columns with one set of rows below them. Its front is dense.
typedef struct chol_node
{
    int column_begin, column_end; // ranks
    int row_begin, row_end;       // in chol_symbolic.rows
    int entry_begin, entry_end;   // in chol_symbolic.entries
    int parent;                   // -1: a root
    int first_child, next_child;  // -1: none; children come in increasing order
    int pivot_tiles, row_tiles;
    size_t L, U;  // where the front's arrays begin in chol_numeric
    size_t x, y;  // where its pivots and rows begin in the padded vectors
    double flops; // of this front
} chol_node;

// A block of the matrix on or below the diagonal, and where it belongs in its front.
typedef struct chol_entry
{
    int slot; // in the pattern; the block's row is `vertex`
    int vertex;
    int row, col; // of the block's first entry in the front
} chol_entry;

// Nodes [begin, end) are a whole subtree that one thread takes; separate memory, so that all may run at once.
typedef struct chol_task
{
    int begin, end;
    double flops;
} chol_task;

typedef struct chol_symbolic
{
    int vertex_count, block_size;
    bsr_pattern pattern; // own copy of what was analysed (the diagonal is not kept)
    int* order;          // [vertex_count] rank to vertex
    size_t* place;       // [vertex_count] rank to the first unknown in the padded vector
    int node_count;
    chol_node* nodes;    // [node_count] children before parents, subtrees contiguous
    int* rows;           // ranks below each node, increasing
    int* position;       // [block_size * row count] each unknown of rows in the front of the node's parent
    chol_entry* entries; // by node
    int entry_count;
    chol_task* tasks; // [task_count] largest first
    int task_count;
    int* top; // [top_count] nodes above the tasks, children first
    int top_count;
    size_t factor_size, update_size; // doubles
    size_t x_size, y_size;           // doubles
    double flops;
} chol_symbolic;

// Fills tasks, top and the places of U of a symbolic structure whose nodes are known.
weft_status chol_plan(chol_symbolic* symbolic);

// order: that of an earlier pattern [row_count], or NULL to dissect this one. Any order gives the same answer, but a
// poor one more work (`flops`).
weft_status chol_symbolic_create(const bsr_pattern* pattern, int block_size, const int* order, chol_symbolic* out);
void chol_symbolic_finish(chol_symbolic* symbolic); // zeroed or half-built is fine
double chol_symbolic_bytes(const chol_symbolic* symbolic);

typedef struct chol_numeric
{
    double* L;            // [factor_size]
    double* U;            // [update_size]
    int sides;            // right-hand sides that there is room for
    bool inverted;        // diagonal tiles hold their inverses: with several sides, that is for many solves
    double* x;            // [sides * x_size] padded vectors, by rank
    double* y;            // [sides * y_size] what each node passes to its ancestors
    unsigned char* pivot; // [node_count] pivot_result of each node
    size_t room[5];       // bytes of each of them
} chol_numeric;

// Room for the numbers of a factor, in what `out` holds where that is enough: zeroed at first. What was in it is lost.
weft_status chol_numeric_fit(const chol_symbolic* symbolic, int sides, chol_numeric* out);
void chol_numeric_finish(chol_numeric* numeric);
double chol_numeric_bytes(const chol_symbolic* symbolic);

// Gives the values of a block, row-major: a pointer to them where they lie, or to `buffer` [block_size^2] filled.
typedef const double* chol_load_fn(const void* context, const chol_entry* entry, double* buffer);

typedef struct chol_source
{
    chol_load_fn* load;
    const void* context;
} chol_source;

// How the arithmetic runs; the numbers do not depend on the pool.
typedef struct chol_engine
{
    workers* pool;
    const dense_kernels* kernels;
} chol_engine;

// NOT_DEFINITE or NOT_FINITE when a pivot says so.
weft_status chol_factor(const chol_symbolic* symbolic, chol_numeric* numeric, const chol_source* source,
                        const chol_engine* engine);
// x = A^-1 b for as many right-hand sides as the factor has room for; both are [vertex_count][block_size][sides] and
// may be the same.
void chol_solve(const chol_symbolic* symbolic, chol_numeric* numeric, const chol_engine* engine, const double* b,
                double* x);
// Its two halves: L u = b, which leaves u in numeric->x, and L^T x = u, which takes it from there.
void chol_forward(const chol_symbolic* symbolic, chol_numeric* numeric, const chol_engine* engine, const double* b);
void chol_backward(const chol_symbolic* symbolic, chol_numeric* numeric, const chol_engine* engine, double* x);

#endif
