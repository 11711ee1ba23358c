// Block sparse rows with 3 x 3 blocks: a pattern apart from its values, products, assembly of elements.
#ifndef WEFT_SPARSE_H
#define WEFT_SPARSE_H

#include "core/core.h"
#include "math/vec.h"

// Structure of a square matrix of 3 x 3 blocks. Columns are sorted within a row; the diagonal is always there.
// A symmetric matrix stores both triangles.
typedef struct bsr_pattern
{
    int row_count;
    int block_count;
    int* row_start; // [row_count + 1]
    int* column;    // [block_count]
    int* diagonal;  // [row_count] slot of block (i, i)
} bsr_pattern;

// Blocks row-major, 9 doubles each, in the order of the pattern.
typedef struct bsr_matrix
{
    const bsr_pattern* pattern;
    double* values; // [9 * block_count]
} bsr_matrix;

// Elements of one arity, for building a pattern: vertices is [count][arity].
typedef struct element_list
{
    int count, arity;
    const int* vertices;
} element_list;

// The pattern in which all vertices of an element are coupled with each other.
weft_status bsr_pattern_create(int row_count, const element_list* lists, int list_count, bsr_pattern* out);
void bsr_pattern_finish(bsr_pattern* pattern);
// Slot of block (row, column), -1 when the pattern does not hold it.
int bsr_pattern_find(const bsr_pattern* pattern, int row, int column);
// A number that another pattern has only by a chance of 2^-64.
uint64_t bsr_pattern_fingerprint(const bsr_pattern* pattern);

enum
{
    ROW_GRAIN = 512,  // rows a chunk of every loop over vertices
    THREADS_ALWAYS = 8 // that take part whatever the size
};

// Threads that loops over so many rows feed, two chunks each: with 6,561 vertices (13 chunks) sixteen were slower than
// eight by 2 to 3 %.
static inline int threads_fed(int rows)
{
    return int_max(THREADS_ALWAYS, (rows / ROW_GRAIN + 2) / 2);
}

// y = A x. x and y come from mem_alloc or an arena, whose arrays may be read 8 bytes past their end.
void bsr_multiply(workers* pool, cpu_kind cpu, const bsr_matrix* A, const vec3* x, vec3* y);

// ---- couplings that come and go
//
// A matrix plus a sum of small elements, sum over a, b of weight_a weight_b K between the rows of a and b: cushions of
// contacts. Rows gather what is theirs in the order of the elements, so the sum is the same on any number of threads
// and symmetric to the bit.
enum
{
    COUPLING_ROWS = 4
};

typedef struct coupling
{
    int row[COUPLING_ROWS]; // -1: none
    double weight[COUPLING_ROWS];
    double K[9]; // symmetric
} coupling;

typedef struct coupled_matrix
{
    bsr_pattern pattern;      // of the base and what the couplings add
    double* values;           // [9 * pattern.block_count]
    uint64_t version;         // moves when the pattern does
    int* entry_start;         // [rows + 1] into entry
    int* entry;               // coupling * COUPLING_ROWS + a of each row, ascending
    int *extra_start, *extra; // columns of each row that the base does not have, ascending
    uint64_t extra_hash;
    int entry_capacity, extra_capacity, column_capacity, value_capacity;
} coupled_matrix;

// Where the couplings go; values are left alone.
weft_status coupled_structure(coupled_matrix* m, const bsr_pattern* base, const coupling* list, int count);
// Adds the couplings to A: in place when its pattern holds them, else A becomes the matrix here. After
// coupled_structure with couplings between the same rows.
weft_status coupled_values(coupled_matrix* m, bsr_matrix* A, const coupling* list, workers* pool);
// Adds them, times a sign, to a matrix that coupled_values has left: with -1 to take them out again.
void coupled_add(const coupled_matrix* m, const bsr_matrix* A, const coupling* list, double sign, workers* pool);
void coupled_finish(coupled_matrix* m); // zeroed is fine

// ---- assembly: A = diag(mass) + sum of element blocks, rhs = start + sum of element vectors
//
// Rows own their sums: the rows are cut into chunks of ROW_GRAIN, and a chunk evaluates every element that touches
// one of its rows, in a fixed order. Elements on a chunk's border are evaluated more than once (some 15 % at 160k
// vertices), which costs less than storing and gathering their blocks, and needs neither atomics nor colours. Only the
// blocks on and above the diagonal are summed; then they are mirrored, within a chunk at once and across chunks in a
// second pass, so that A is symmetric to the bit.
enum
{
    BATCH = 8,      // elements that are evaluated together, one a lane
    ARITY_MAX = 6,  // vertices an element
    GROUP_MAX = 32, // element kinds in one scene
    PAIR_MAX = ARITY_MAX * (ARITY_MAX + 1) / 2,
    VERTEX_FACTOR_MAX = 3 // factors a vertex
};

// How a kind hands its blocks out.
typedef enum element_form
{
    FORM_BLOCKS,    // block (a, b) for each a <= b
    FORM_ONE_BLOCK, // block[0] is that of all pairs
    FORM_FACTORS    // block (a, b) = sum over m of (weight factor[a][m]) factor[b][m]^T, m below both factor counts
} element_form;

// What an element kind fills: vectors for each vertex, and blocks in its form. Lanes innermost.
typedef struct element_batch
{
    double rhs[ARITY_MAX][3][BATCH];
    union
    {
        double block[PAIR_MAX][9][BATCH];
        struct
        {
            double weight[BATCH];
            double factor[ARITY_MAX][VERTEX_FACTOR_MAX][3][BATCH];
        };
    };
} __attribute__((aligned(64))) element_batch;

typedef struct element_shape
{
    element_form form;
    int factor_count[ARITY_MAX]; // of each vertex; FORM_FACTORS only
} element_shape;

// Index of block (a, b), a <= b, of an element with `arity` vertices.
static inline int pair_index(int arity, int a, int b)
{
    return a * arity - a * (a - 1) / 2 + b - a;
}

static inline int pair_count(int arity)
{
    return arity * (arity + 1) / 2;
}

typedef void element_evaluate_fn(const void* context, const int* elements /* [BATCH] */, element_batch* out);
// The vectors alone, without blocks.
typedef void element_force_fn(const void* context, const int* elements /* [BATCH] */, double (*out)[3][BATCH]);

// Elements that take part: all, or those whose flags under the mask are as wanted.
typedef struct element_choice
{
    const uint8_t* flags; // [count] or NULL: all
    uint8_t mask, wanted;
} element_choice;

static inline bool element_chosen(const element_choice* choice, int e)
{
    return !choice->flags || (choice->flags[e] & choice->mask) == choice->wanted;
}

typedef struct element_evaluator
{
    element_evaluate_fn* evaluate; // of assembler_run; NULL: it has no part
    element_force_fn* force;       // of assembler_gather; NULL: the group takes no part in it
    const void* context;
    element_choice choice;
    element_shape shape; // of what evaluate fills
} element_evaluator;

// Where a chunk puts the block of one pair of an element: the first of its nine numbers, counted from the chunk's
// first, and what is to be done with it. Those with a plain sum are below PLACE_TWICE.
enum
{
    PLACE_FLIP = 1 << 29,  // the block goes in transposed, because it is above the diagonal that way
    PLACE_TWICE = 1 << 30, // the element holds one vertex twice: both halves are on the diagonal
    PLACE_NONE = INT32_MAX // the row is another chunk's
};

typedef struct assembly_group
{
    element_list list;
    int* chunk_start;   // [chunk_count + 1] into chunk_element
    int* chunk_element; // elements of each chunk, ascending
    int* place;         // [chunk_start[chunk_count] * pairs], beside chunk_element
} assembly_group;

// Elements of one group that are evaluated together. Lanes past the last repeat it and go nowhere.
typedef struct element_lanes
{
    int count;
    int element[BATCH];
    const int* place[BATCH]; // [pairs]
} element_lanes;

typedef struct assembler
{
    bsr_pattern pattern;
    int* mirror_of; // [block_count] slot of block (j, i) for each (i, j) below the diagonal
    int group_count;
    assembly_group* groups;
} assembler;

// UNSUPPORTED with more than GROUP_MAX lists.
weft_status assembler_create(int row_count, const element_list* lists, int list_count, assembler* out);
void assembler_finish(assembler* a);

// Elements of one list that are others now: those whose vertices have changed, are gone or are new.
typedef struct list_change
{
    const int* element; // [count] ascending
    int count;
    const int* was; // [count * arity] their vertices before; those of new ones count nothing
    int before;     // elements before
} list_change;

// The assembler of elements that have changed here and there, of as many rows or more: rows that no changed element
// has, or had, and elements that did not change stay as they are. lists and changes are [group_count]. On failure
// nothing has changed.
weft_status assembler_mend(assembler* a, int row_count, const element_list* lists, const list_change* changes);

// ---- parts of both: where a pair of an element's vertices goes, and mirror_of (NULL: no memory)
int assembly_place(const bsr_pattern* pattern, const int* vertex, int a, int b, int chunk);
int* assembly_mirrors(const bsr_pattern* p);

typedef struct assembly_target
{
    double* values;        // [9 * block_count] overwritten
    vec3* rhs;             // [row_count] overwritten
    const double* mass;    // [row_count]
    const vec3* rhs_start; // [row_count]
} assembly_target;

// evaluators is [group_count].
void assembler_run(const assembler* a, const element_evaluator* evaluators, workers* pool, cpu_kind cpu,
                   const assembly_target* target);
// rhs = rhs_start + sum of element vectors, which may be the same array.
void assembler_gather(const assembler* a, const element_evaluator* evaluators, workers* pool, const vec3* rhs_start,
                      vec3* rhs);

// ---- kernels that are compiled once for each CPU kind; the same operations in the same order, hence the same bits
typedef struct sparse_kernels
{
    // y = A x for rows [begin, end); returns the sum over those rows of x_i . y_i.
    double (*multiply_dot)(const bsr_matrix* A, const vec3* x, vec3* y, int begin, int end);
    // Adds the blocks of a batch on and above the diagonal; `values` are those from the chunk's first row on.
    void (*scatter)(int arity, const element_shape* shape, const element_lanes* lanes, const element_batch* batch,
                    double* values);
    // Adds its vectors to rows [begin, end).
    void (*scatter_vectors)(const element_list* list, const element_lanes* lanes, const element_batch* batch, vec3* rhs,
                            int begin, int end);
    // Fills the blocks below the diagonal of rows [begin, end) from those above it: with `inside` those whose column is
    // in [begin, end) too, else the others.
    void (*mirror)(const bsr_pattern* pattern, const int* mirror_of, double* values, int begin, int end, bool inside);
} sparse_kernels;

const sparse_kernels* sparse_kernels_for(cpu_kind cpu);

#endif
