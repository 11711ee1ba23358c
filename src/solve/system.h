// A linear system that owns its arrays: what strangers hand over and what files hold.
#ifndef WEFT_SYSTEM_H
#define WEFT_SYSTEM_H

#include "solve/solve.h"

struct weft_system
{
    bsr_pattern pattern;
    double* values;        // [9 * block_count]
    vec3* b;               // [row_count]
    vec3* z;               // [row_count] or NULL for zero
    filter_record* filter; // [filter_count] sorted by vertex
    int filter_count;
    int tie_count;     // rows of J
    int* tie_start;    // [tie_count + 1], NULL without ties
    int* tie_unknown;  // [tie_start[tie_count]] 3 * vertex + axis, sorted within a row
    double* tie_value; // likewise
    double* kernel;    // [3 * row_count * kernel_count] column after column, or NULL
    int kernel_count;
    vec3* positions;      // [row_count] or NULL
    int element_vertices; // 0: unknown
};

// The view that solvers take; lives as long as the system.
linear_system system_view(const weft_system* system, uint64_t pattern_version);

// Sorts the columns of each row (blocks move along) and finds the diagonal. A missing diagonal block is -1 in
// `diagonal`; *duplicate is a row that holds a column twice, -1: none.
weft_status system_sort_rows(weft_system* system, int* duplicate);

// b as ones where none was given.
weft_status system_default_b(weft_system* system);

// Records from [9 * row_count] projections. *bad is the first vertex whose block is no projection, -1: none.
weft_status system_set_filter(weft_system* system, const double* S, int* bad);

// Copies ties, in any order within a row, and sorts them. *bad is the index of an entry whose
// unknown is outside, or that names an unknown twice in a row, or has a value that is not finite; -1: none.
weft_status system_set_ties(weft_system* system, int count, const int* start, const int* unknown, const double* value,
                            int64_t* bad);

// The first thing in the matrix that no solver can take. Rows and columns count unknowns from 0.
typedef enum system_fault_kind
{
    FAULT_NONE,
    FAULT_NOT_FINITE,
    FAULT_DIAGONAL,
    FAULT_ASYMMETRIC
} system_fault_kind;

typedef struct system_fault
{
    system_fault_kind kind;
    int row, column;
    double value, mirror; // the entry and the one across the diagonal
} system_fault;

// Without a fault, blocks that have no mirror image (they are zero then, to the tolerance of symmetry) are dropped, so
// that the pattern is symmetric.
system_fault system_check_matrix(weft_system* system);
weft_status system_fault_report(const system_fault* fault, const char* file, int line, weft_error* error);

// Index of the first value that is not finite, -1: all are.
int64_t system_find_not_finite(const double* values, size_t count);

#endif
