// Smoothed-aggregation multigrid for block matrices (Tamstorf, Jones, McCormick 2015, sections 5 to 8): the hierarchy,
// its setup and the V-cycle. The finest level has 3 x 3 blocks, the others K x K, K being the number of near-kernel
// vectors rounded up to a multiple of 3 (the added ones are zero and get dropped like any dependent column).
//
//     sa_build   strength -> aggregates -> local QR -> P = (I - omega D^-1 A) P_hat -> A_c = P^T A P, level by level
//     sa_cycle   z = M^-1 r: Chebyshev down, direct solve of the coarsest level, Chebyshev up; symmetric
//
// Matrices and vectors of the hierarchy are `real`: float or double, as settings.precision says. Everything that
// decides (strength, QR, spectral radii) is computed in double from them.
#ifndef WEFT_SA_H
#define WEFT_SA_H

#include <string.h>

#include "solve/direct/cholesky.h"
#include "solve/solve.h"

enum
{
    SA_KERNEL_MAX = 12,      // near-kernel vectors
    SA_PAD = 8,              // reals that kernels may read past the end of an array
    SA_CHUNK_MIN = 128,      // coarse rows a chunk of the Galerkin product
    SA_CHUNK_MAX = 512,      // few large ones make fewer rows of A P twice
    SA_TASKS = 32,           // of the Galerkin product, each with memory of its own
    SA_TILE = 16384,         // nodes a task of the aggregation
    SA_PACK_BLOCKS = 800000, // from here on 16 bits pay: a product then comes from memory, not from caches
    SA_P_ROW_MAX = 32,       // blocks of a row of P; a node with more is interpolated from its own aggregate alone
    SA_PRODUCTS_MAX = 4096,  // of a row of A P that are listed
    SA_LOWER_MAX = 64,       // blocks of a row of the incomplete factor; more are left out
    SA_HALF_BLOCK = 12,      // numbers of a block of the factor: three rows of three and a zero
    SA_COUNT_MAX = 1000000,  // iterations that a checkpoint may say were lost
    SA_BASIS = 10,           // Lanczos iterations that look for its radius
    SA_RENEWED = 2,          // those that follow a radius when values change
    SA_RENEWED_CONTACTS = 6  // and when contacts do, which spoil an incomplete factor in new places
};

// Rows a chunk of the passes of a cycle: some hundred kilobytes of matrix.
static inline int sa_grain(int block)
{
    return block == 3 ? ROW_GRAIN : ROW_GRAIN / 4;
}

// A pivot of the incomplete factor below this share of its A_ii is weak.
#define SA_WEAK 0.03
// Sweeps of the factor are damped from this radius on: beyond 2 they would not converge.
#define SA_DAMPED 1.7

// M = E (I + L) D (I + L)^T E^T of the finest level: sa_incomplete.c, sa_fill.c. Rows and columns are ranks: places in
// the order of elimination.
typedef struct sa_incomplete
{
    int *cluster, *colour;             // [rows] of each row, [cluster_count] of each cluster
    int *rank, *order;                 // [rows] row to rank, rank to row
    int *cluster_start, *colour_start; // [count + 1] ranks; clusters by colour
    int cluster_count, colour_count;
    int *fill_start, *fill;                        // [rows + 1] other rows that a row has blocks of L with besides
    int *lower_start, *lower_column, *lower_slot;  // L by rows, and the slots of A, -1: fill
    int *upper_start, *upper_column, *upper_place; // L^T between clusters by rows, and where its blocks stand in L
    // What the row of a block of L and the row of that block's column have in common: for each block how many columns,
    // then their places in the one row and the other, a byte each.
    int* shared_start; // [rows + 1]
    uint16_t* shared;
    int capacity, upper_capacity, shared_capacity; // blocks; pairs
    uint16_t *lower, *upper;                       // [SA_HALF_BLOCK a block] in 16 bits: math/half.h
    void* scale;                                   // [rows] triangles of sa_incomplete_passes.h: E^-1
    float* pivot;                                  // [9 a rank] D^-1
    float* y;                                      // [4 a rank] of the solves
    float* shift;                                  // [rows] share of A_ii that is added to it
    unsigned char* weak;                           // [rows] of the last factorisation
    float* basis;                                  // [SA_BASIS * 3 * rows] of Lanczos
} sa_incomplete;

// Clusters of one colour run at once: no block of L couples two of them.
static inline bool sa_apart(const sa_incomplete* f, int i, int j)
{
    return f->cluster[i] != f->cluster[j] && f->colour[f->cluster[i]] == f->colour[f->cluster[j]];
}

// A matrix without its blocks below the diagonal whose column lies in the chunk of rows of theirs: sa_half.c. A row has
// the slots [row_start, before) and [diagonal, next row_start) of its matrix, one after the other.
typedef struct sa_half
{
    int* start;           // [rows + 1] blocks
    int *before, *behind; // [rows] slots: the end of those before the chunk, the first of those behind it
    void* A;              // real [9 a block]
    size_t bytes;
} sa_half;

// Strong connections of a level, without the diagonal. Columns are sorted within a row.
typedef struct sa_graph
{
    int* row_start; // [rows + 1]
    int* column;
    float* weight; // spectral radius of the connection
} sa_graph;

// Connections that smooth the interpolation: those above the limit of one of both ends.
typedef struct sa_filter
{
    const float* rho; // [slots] NULL: all do
    const float* limit;
} sa_filter;

static inline bool sa_smooths(const sa_filter* f, int slot, int i, int j)
{
    return !f->rho || i == j || f->rho[slot] > (f->limit[i] < f->limit[j] ? f->limit[i] : f->limit[j]);
}

// Rows of A P that sum up more have no lists of products: a vertex with very many neighbours. They are searched.
static inline bool sa_is_listed(int slots, int products)
{
    return slots <= 256 && products <= SA_PRODUCTS_MAX;
}

typedef struct sa_level
{
    int rows, block;     // nodes, unknowns a node
    bsr_pattern pattern; // of A; borrowed from the system on the finest level
    void* A;             // real [block^2 a slot]; NULL on a packed level
    sa_half half;        // of the finest level of folded cloth, for the products of a cycle; else without numbers
    // The finest level in 16 bits, see sa_packed.h; source has the numbers themselves, while a setup runs.
    int16_t* packed;      // [9 a slot]
    float *root, *unroot; // [9 a row] R and R^-1
    const struct sa_load* source;
    void* inverse; // real [block^2 a row] of the diagonal blocks
    double radius; // estimate of the spectral radius of D^-1 A, with its margin
    // Of the finest level of folded cloth, else NULL: what smooths in place of Chebyshev and D.
    sa_incomplete* incomplete;
    double incomplete_radius; // of M^-1 A, likewise

    // To the next level; all NULL on the last.
    int* aggregate; // [rows] node of the next level, -1: a special node, which takes no part below
    int coarse_rows, coarse_block;
    int *P_start, *P_column; // interpolation by rows: block x coarse_block blocks
    void* P;
    int *R_start, *R_row, *R_slot; // its transpose: for each coarse row the fine rows and the slots of P
    void* R;                       // on folded cloth the blocks of P in that order, which is quicker; else NULL
    int *AP_start, *AP_column;     // structure of A P
    int *chunk_start, *chunk_row;  // for chunk_size coarse rows the fine rows that reach them
    int chunk_size;
    // Products, row after row. Into a row of A P: for each of its blocks how many A_ij P_j it sums up, and which, the
    // slot in row i and the block in row j of P, a byte each. Out of it, P_i^T (A P)_i into coarse rows: their places
    // there, counted from the diagonal, for each block of P_i and each column of A P from its own on.
    int *in_start, *out_start;
    uint8_t* in_more; // one less than how many
    uint16_t *in_pair, *out_place;

    double* kernel;         // [rows * block * coarse_block] near kernel, row after row
    void* Q;                // real [rows * block * coarse_block] tentative interpolation; gone after the setup
    unsigned char* dropped; // [rows * block] 1: this unknown stands for a dropped column of the level above; or NULL

    void *x, *y, *b, *r, *d; // real [rows * block] vectors of the cycle
    void* top;               // likewise: what the last estimate of the radius found
} sa_level;

// Rows of the finest P as the setup made them, of the vertices whose rows the constraints of this solve have changed.
typedef struct sa_stash
{
    int* vertex; // [count]
    int count, capacity;
    char* values;              // their rows, one after the other
    int size, values_capacity; // bytes
} sa_stash;

// The finest matrix as it comes.
typedef struct sa_load
{
    const linear_system* system;
    const int* index; // filter record of each vertex, -1: none; NULL: no prefiltering
    sa_level* level;
    double scale;
    unsigned char* mark; // [rows] of rows that have other numbers than before; of `reload` alone
} sa_load;

// What setup and cycle consist of, for `weft bench sa-phases`.
typedef enum sa_phase
{
    SA_LOAD,
    SA_INVERT,
    SA_RADIUS,
    SA_INCOMPLETE,
    SA_KERNEL,
    SA_STRENGTH,
    SA_GRAPH,
    SA_AGGREGATE,
    SA_TENTATIVE,
    SA_P_STRUCTURE,
    SA_P_VALUES,
    SA_COARSE_STRUCTURE,
    SA_GALERKIN,
    SA_FACTOR,
    SA_CONVERT, // from here on the cycle
    SA_FIRST,
    SA_STEP,
    SA_RESIDUAL,
    SA_RESTRICT,
    SA_PROLONG,
    SA_DIRECT,
    SA_PHASE_COUNT
} sa_phase;

typedef struct sa_profile
{
    double seconds[WEFT_LEVEL_MAX][SA_PHASE_COUNT];
    int calls[WEFT_LEVEL_MAX][SA_PHASE_COUNT];
} sa_profile;

typedef struct sa_hierarchy
{
    weft_sa_def settings;
    workers* pool;
    cpu_kind cpu;
    int precision; // 32 or 64: what is in use; a float hierarchy that breaks down is built again in double
    bool packed;   // the finest matrix is in 16 bits
    bool folded;   // the finest level is smoothed by an incomplete factor
    bool insist;   // a full setup takes that factor whatever the cloth looks like
    sa_load source;
    bool keep;           // keep Q, kernel and all else of the setup: for tests
    sa_profile* profile; // receives the time of each phase; NULL: no clock is looked at
    bool prefilter;      // built for the filtered matrix
    bool kept;           // constraints may be newer than the interpolation
    int* index;          // [rows] filter record of each vertex, or NULL
    sa_stash stash;
    double* partial;     // [chunks of the finest rows]
    unsigned char* mark; // [rows] of sa_mend; NULL without reuse
    int level_count;
    sa_level levels[WEFT_LEVEL_MAX];
    bool direct; // the last level is solved directly; else its block diagonal is all that is needed
    chol_symbolic symbolic;
    chol_numeric numeric;
    double* direct_x; // [unknowns of the last level]
    void* scratch;    // of the Galerkin product: real [scratch_size]
    size_t scratch_size;
    int element_vertices;              // of the system
    double matrix_scale, vector_scale; // powers of two that bring A and r near 1, so that float holds them
    size_t bytes, bytes_most;          // of the hierarchy, without the system: now, and at most during the setup
} sa_hierarchy;

weft_sa_def sa_default(void);
weft_status sa_check(const weft_sa_def* settings, weft_error* error); // BAD_INPUT names what is out of range

// prefilter: build for S A S + sigma (I - S) instead of A. NOT_DEFINITE when a diagonal block is not positive definite.
weft_status sa_build(sa_hierarchy* h, const linear_system* system, bool prefilter);
// New values in the structure that sa_build made; aggregates and, without `renew`, interpolation stay. Needs
// settings.reuse.
typedef struct sa_update
{
    bool pattern;     // another one, of as many rows: the structures of the coarse matrices and the radii are made anew
    bool constraints; // they are not those of the last solve
    bool renew;       // the interpolation's numbers are made anew, for today's positions and matrix
} sa_update;

weft_status sa_refresh(sa_hierarchy* h, const linear_system* system, const sa_update* update);

// What a checkpoint keeps of a hierarchy with more than one level, and of the solver that it serves: sa_plan.c.
typedef struct sa_plan_head
{
    double radius, incomplete_radius; // of the finest level
    double ratio, energy;             // cg_memory
    uint64_t pattern;                 // fingerprint of the matrix's
    int32_t level_count, kernel_block, packed, folded, insist, direct, prefilter;
    int32_t cluster_count; // of the incomplete factor, 0: there is none
    // Of the solver.
    int32_t first_iterations, last_iterations, lost, patience, smooth_iterations, refuted;
    int32_t reckoned, pause, wait, unused; // cg_memory; zero
    int32_t rows[WEFT_LEVEL_MAX];
} sa_plan_head;

typedef struct sa_plan
{
    sa_plan_head head;
    // Of each level but the last: aggregate [rows], P_start [rows + 1], P_column. Of the factor: cluster [rows],
    // fill_start [rows + 1], fill.
    int32_t* lists;
    float* reals; // of the finest level: top [3 * rows], of the factor shift [rows]
    size_t list_count, real_count;
} sa_plan;

sa_plan* sa_plan_make(const sa_hierarchy* h, const sa_plan_head* counts); // NULL: no memory
void sa_plan_save(const sa_plan* plan, section_writer* out);
weft_status sa_plan_load(sa_plan** out, sections* from, weft_error* error); // NULL: the file has none
// A hierarchy without numbers, which the next sa_refresh makes whole when it renews the interpolation.
weft_status sa_plan_restore(const sa_plan* plan, sa_hierarchy* h);
void sa_plan_finish(sa_plan* plan); // NULL is fine
// The same pattern, of which a few rows have other values or constraints; false when that is no small thing, or when
// the hierarchy cannot: then it is not to be used without a refresh.
bool sa_mend(sa_hierarchy* h, const linear_system* system);
void sa_finish(sa_hierarchy* h); // keeps settings, pool, cpu, keep, insist
// Fits the scale of single precision to the residuals of a solve; r is the first of them.
void sa_start(sa_hierarchy* h, const vec3* r);
// z = M^-1 r, both [rows]; they may be the same.
void sa_cycle(sa_hierarchy* h, const vec3* r, vec3* z);
void sa_stats(const sa_hierarchy* h, weft_solve_stats* stats);
// aggregate[i] of each finest node as `level` sees it, -1: none; returns the number of aggregates, -1: no such level.
int sa_aggregates(const sa_hierarchy* h, int level, int* aggregate);

// Adds the time since *since, which becomes now, to a phase of a level. Start with sa_clock.
double sa_clock(const sa_hierarchy* h);
void sa_lap(const sa_hierarchy* h, const sa_level* l, sa_phase phase, double* since);

// Runs a pass of the cycle, with denormals off.
void sa_run_pass(workers* pool, int count, int grain, parallel_fn* pass, void* context);

// ---- parts of the setup, each with its own test

// Whether a good part of the cloth is bent so much from vertex to vertex that block Jacobi does not smooth it.
bool sa_is_folded(const sa_hierarchy* h, const linear_system* system);
weft_status sa_incomplete_build(sa_hierarchy* h, sa_level* l);
weft_status sa_incomplete_refresh(sa_hierarchy* h, sa_level* l);   // new values
weft_status sa_incomplete_structure(sa_hierarchy* h, sa_level* l); // of a plan, without values
weft_status sa_incomplete_repeat(sa_hierarchy* h, sa_level* l);    // the same values, once, with the shifts as they are
weft_status sa_incomplete_restructure(sa_hierarchy* h, sa_level* l); // another pattern of as many rows
// What was decided about a factor, for the next refresh to make one of.
typedef struct sa_factor_plan
{
    const int32_t* cluster;
    int cluster_count;
    const int32_t *fill_start, *fill;
    const float* shift;
} sa_factor_plan;
weft_status sa_incomplete_restore(sa_hierarchy* h, sa_level* l, const sa_factor_plan* plan);
// More shift for the next factor, where `top` is or everywhere.
void sa_incomplete_stiffen(sa_level* l, bool everywhere);
void sa_incomplete_finish(sa_incomplete* f);                    // NULL is fine
weft_status sa_fill_choose(sa_hierarchy* h, const sa_level* l); // `fill`, by a factor without it

// Strength: rho(A_ii^-1/2 A_ij A_jj^-1/2) for each slot, 0 on the diagonal, symmetric to the bit.
weft_status sa_strength(const sa_hierarchy* h, const sa_level* level, float* rho);
// special[i] is set for nodes without strong connections or with a very dominant diagonal.
weft_status sa_strong_graph(const sa_hierarchy* h, const sa_level* level, const float* rho, double theta, sa_graph* out,
                            unsigned char* special);
void sa_graph_finish(sa_graph* graph);
// limit [rows]: share times the largest of a row.
void sa_limits(const sa_hierarchy* h, const sa_level* level, const float* rho, double share, float* limit,
               unsigned char* special);
// Fills aggregate [rows]; returns the number of aggregates, -1 without memory.
int sa_aggregate(workers* pool, const sa_graph* graph, int rows, const unsigned char* special, int distance,
                 int tile_rows, int* aggregate);
// The reference: algorithms 1 and 2, tile after tile in the order given (NULL: as they lie). sa_aggregate does the same
// in the order of sa_tile_compare.
int sa_aggregate_serially(const sa_graph* graph, int rows, const unsigned char* special, int distance, const int* tiles,
                          int tile_rows, int* aggregate);
int sa_tile_compare(const void* a, const void* b); // of tile numbers, for qsort

double sa_power_of_two(double value);
// Fills kernel and coarse_block of the finest level; fits the kernel of any level to its matrix.
weft_status sa_fill_kernel(sa_hierarchy* h, const linear_system* system, bool prefilter);
weft_status sa_relax_kernel(sa_hierarchy* h, sa_level* l);
// Q of a level; kernel and dropped of the next.
weft_status sa_tentative(sa_hierarchy* h, sa_level* l, sa_level* coarse);
// The structures of P and its transpose; of A P and the coarse matrix.
weft_status sa_structure_P(sa_hierarchy* h, sa_level* l, const sa_filter* filter);
weft_status sa_transpose_P(sa_hierarchy* h, sa_level* l);
weft_status sa_structure_coarse(sa_hierarchy* h, sa_level* l, sa_level* coarse);

// Lists of keys, one for each row, or one key a row when start is NULL; keys are divided first, negative ones left out,
// and with a divisor a key that repeats the last one of its row too.
typedef struct sa_lists
{
    int rows;
    const int *start, *key;
    int divisor;
} sa_lists;

// For each key the rows that have it, increasing, and where in the lists it stands (item may be NULL).
weft_status sa_invert_lists(sa_hierarchy* h, const sa_lists* in, int keys, int** start, int** row, int** item);

static inline int sa_chunks(const sa_level* l)
{
    return (l->coarse_rows + l->chunk_size - 1) / l->chunk_size;
}

void sa_find_radius(sa_hierarchy* h, sa_level* l); // NaN when the matrix is not finite
// Likewise of the incomplete factor, which is made again with more shift where it comes from when it is large. kept: so
// many Lanczos iterations that go on from the last ones, 0: a first look.
weft_status sa_settle_factor(sa_hierarchy* h, sa_level* l, int kept);
// The radius of the factor turned out to be too small: a long look, and more damping in any case.
weft_status sa_distrust_factor(sa_hierarchy* h, sa_level* l);
// A few iterations that see whether other values have made a radius larger.
weft_status sa_renew_radius(sa_hierarchy* h, sa_level* l);
// Largest eigenvalue of a symmetric tridiagonal matrix.
double sa_tridiagonal_max(const double* diagonal, const double* off, int count);

// Memory that counts: `count` reals and what may be read behind them; ints.
size_t sa_real_size(const sa_hierarchy* h);
void* sa_real_new(sa_hierarchy* h, size_t count);
void* sa_ints_new(sa_hierarchy* h, size_t count);
void* sa_places_new(sa_hierarchy* h, size_t count);
// Notes that so many bytes of scratch are there besides.
void sa_note_scratch(sa_hierarchy* h, size_t bytes);
// Scratch of a level that is there when its coarse matrix is made: kernel, Q, graph, strengths.
size_t sa_scratch_of(const sa_hierarchy* h, const sa_level* l);
// Counted bytes that sa_trim frees.
size_t sa_setup_bytes(const sa_level* l);
void sa_trim_kernel(sa_hierarchy* h, sa_level* l); // frees what only a full setup needs
void sa_trim_product(sa_level* l);                 // the structure of the product with P
void sa_trim(sa_hierarchy* h, sa_level* l);        // all that a cycle does without

// The half of the finest matrix where cloth is folded: its structure and memory; away with it; the values of a row.
weft_status sa_half_make(sa_hierarchy* h, sa_level* l);
void sa_half_finish(sa_hierarchy* h, sa_half* half);
static inline void sa_half_row(const sa_level* l, size_t size /* bytes of a block */, int i)
{
    const bsr_pattern* p = &l->pattern;
    if (!l->half.A)
    {
        return;
    }
    char* to = (char*)l->half.A + size * (size_t)l->half.start[i];
    size_t before = size * (size_t)(l->half.before[i] - p->row_start[i]);
    memcpy(to, (const char*)l->A + size * (size_t)p->row_start[i], before);
    memcpy(to + before, (const char*)l->A + size * (size_t)p->diagonal[i],
           size * (size_t)(p->row_start[i + 1] - p->diagonal[i]));
}

// The finest matrix: its memory, its values, both.
weft_status sa_alloc_finest(sa_hierarchy* h);
weft_status sa_load_values(sa_hierarchy* h, const linear_system* system);
weft_status sa_load_scaled(sa_hierarchy* h, const linear_system* system); // its values in the scale that is there
weft_status sa_load_finest(sa_hierarchy* h, const linear_system* system);
// P of the finest level for the constraints of this system.
weft_status sa_constrain_P(sa_hierarchy* h, const linear_system* system);
void sa_copy_P(const sa_hierarchy* h, const sa_level* l); // R
weft_status sa_invert_diagonal(const sa_hierarchy* h, sa_level* l);
weft_status sa_alloc_level(sa_hierarchy* h, sa_level* l);   // memory of vectors and inverse
weft_status sa_alloc_P(sa_hierarchy* h, sa_level* l);       // and of the interpolation's numbers
weft_status sa_prepare_level(sa_hierarchy* h, sa_level* l); // vectors and inverse
weft_status sa_level_radius(sa_hierarchy* h, sa_level* l);  // NOT_FINITE when there is none
weft_status sa_interpolation(sa_hierarchy* h, sa_level* l, const sa_filter* filter);
void sa_smooth_P(const sa_hierarchy* h, sa_level* l, const sa_filter* filter);  // the numbers of P from Q
int sa_kernel_block(const sa_hierarchy* h, const linear_system* system);        // its vectors, a multiple of three
weft_status sa_galerkin(sa_hierarchy* h, sa_level* l, sa_level* coarse);        // structure and values
weft_status sa_galerkin_values(sa_hierarchy* h, sa_level* l, sa_level* coarse); // values alone
weft_status sa_factor_last(sa_hierarchy* h);
weft_status sa_factor_values(sa_hierarchy* h);

// ---- kernels, one table for each CPU kind and precision; ranges count rows of `level` unless said otherwise
// What a pass over a level needs; unused pointers are NULL. All are real [rows * block].
typedef struct sa_pass
{
    const sa_level* level;
    const void *x, *b;
    void *y, *d;
    double c1, c2;
} sa_pass;

// x = omega M^-1 b, or added to it, over clusters of one colour.
typedef struct sa_sweep
{
    const sa_level* level;
    const void* b;
    void* to; // x
    bool add;
    double omega;
    int cluster; // the first of the colour
} sa_sweep;

void sa_incomplete_sweep(const sa_hierarchy* h, const sa_sweep* sweep); // all colours, there and back

typedef struct sa_smoothing
{
    sa_level* level;
    sa_filter filter;
    double omega;
} sa_smoothing;

typedef struct sa_product
{
    const sa_level* level;
    sa_level* coarse;
    void* scratch;   // real [SA_TASKS * stride]
    size_t row_room; // reals for a row of A P; the rest is for the sums of a chunk
    size_t stride;
} sa_product;

typedef struct sa_relaxation
{
    const sa_level* level;
    const double* from;
    double* to;
    double omega;
} sa_relaxation;

typedef struct sa_kernels
{
    size_t real_size;
    void (*load)(void* load, int begin, int end);        // A of the finest level from the system
    void (*reload)(void* load, int begin, int end);      // likewise, and marks rows that were others
    double (*pack)(void* load, int begin, int end);      // likewise in 16 bits; the number of blocks that do not fit
    double (*invert)(void* level, int begin, int end);   // inverse; the number of blocks that have none
    void (*relax)(void* relaxation, int begin, int end); // to = (I - omega D^-1 A) from
    void (*smooth)(void* smoothing, int begin, int end); // P from Q
    void (*galerkin)(void* product, int begin, int end); // upper blocks of coarse rows; ranges count tasks
    void (*mirror)(void* level, int begin, int end);     // lower blocks from upper ones
    void (*first)(void* pass, int begin, int end);       // d = y = c2 D^-1 b
    void (*step)(void* pass, int begin, int end);        // d = c1 d + c2 D^-1 (b - A x), y = x + d
    void (*residual)(void* pass, int begin, int end);    // y = b - A x
    void (*restrict_to)(void* pass, int begin, int end); // y = P^T x; ranges count coarse rows
    void (*prolong)(void* pass, int begin, int end);     // y += P x
    double (*lanczos_multiply)(void* pass, int begin, int end); // y = A x - c1 b; x . y
    double (*lanczos_scale)(void* pass, int begin, int end);    // y -= c1 b, d = D^-1 y; y . d
} sa_kernels;

const sa_kernels* sa_kernels_for(cpu_kind cpu, int precision);
// Those of the passes over a level, which may be packed.
const sa_kernels* sa_passes_for(const sa_hierarchy* h, const sa_level* l);

// The incomplete factor; ranges count clusters of one colour unless said otherwise.
typedef struct sa_incomplete_kernels
{
    size_t triangle_size;
    double (*scale)(void* level, int begin, int end);      // ranks; the number of blocks that have no E
    double (*factor)(void* sweep, int begin, int end);     // the number of weak pivots
    void (*factor_again)(void* level, int begin, int end); // ranks, of which all others have their rows
    void (*mirror)(void* incomplete, int begin, int end);  // ranks
    void (*forward)(void* sweep, int begin, int end);
    void (*backward)(void* sweep, int begin, int end);
    void (*subtract)(void* pass, int begin, int end); // rows: y -= c1 b
    double (*dot)(void* pass, int begin, int end);    // rows: y . d
} sa_incomplete_kernels;

const sa_incomplete_kernels* sa_incomplete_kernels_for(cpu_kind cpu);

typedef struct sa_strength_pass
{
    const sa_level* level;
    int precision;
    double* root; // [block^2 * rows] A_ii^-1/2
    float* rho;   // [slots]
} sa_strength_pass;

typedef struct sa_strength_kernels
{
    void (*roots)(void* pass, int begin, int end);
    void (*pairs)(void* pass, int begin, int end);     // slots right of the diagonal
    double (*scales)(void* level, int begin, int end); // root and unroot of a packed level; blocks that have none
} sa_strength_kernels;

const sa_strength_kernels* sa_strength_kernels_for(cpu_kind cpu);

#endif
