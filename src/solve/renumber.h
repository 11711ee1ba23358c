// A system in an order in which neighbours of the matrix are neighbours in memory: that of strangers and files is often
// the one in which a mesh was made, which may cost an eighth of a solve.
#ifndef WEFT_RENUMBER_H
#define WEFT_RENUMBER_H

#include "solve/system.h"

// Serves all systems of as many rows, so that what a solver keeps from one to the next goes on fitting.
typedef struct renumbering
{
    int row_count;                // 0: nothing is decided yet
    int *old_of_new, *new_of_old; // [row_count] NULL: the given order is good
    bsr_pattern pattern;
    int* slot; // [block_count] of the given pattern
    int block_capacity;
    double* values; // [9 * block_count]
    int value_capacity;
    vec3 *b, *z, *positions, *x; // [row_count] z and positions where the system has them
    double* kernel;              // likewise
    int kernel_capacity;
    filter_record* filter;
    int filter_capacity;
    int* tie_unknown;
    int tie_capacity;
} renumbering;

// Looks at the order of a system with another number of rows than the last one. Without memory the given order stays.
void renumbering_decide(renumbering* r, const weft_system* system);
// The system in the new order, which lives as long as both; `view` is the one in the given order. same_pattern: that of
// the last call.
weft_status renumbering_view(renumbering* r, workers* pool, const weft_system* system, bool same_pattern,
                             linear_system* view);
void renumbering_gather(const renumbering* r, const vec3* given, vec3* x); // x[new] = given[old]
void renumbering_scatter(const renumbering* r, const vec3* x, vec3* given);
// Numbers that a solver says of its rows, in the given order; in place.
weft_status renumbering_restore(const renumbering* r, int* of_row);
void renumbering_finish(renumbering* r); // zeroed is fine

#endif
