// The motions that filters and ties leave free, as x = T y:
//
//     (I - S_f) x = 0  and  J x = 0   <=>   x = T y for a y that the records below leave as it is.
//
// Each independent row of J is solved for one unknown, a slave, so T is the identity but in the rows of slaves, which
// name the few vertices that they follow. The orthogonal projection S onto the same space is T (T^T T)^-1 T^T.
#ifndef WEFT_NULL_SPACE_H
#define WEFT_NULL_SPACE_H

#include "solve/solve.h"

// Coordinate 3 * member + axis of a vertex in its own frame.
typedef struct tie_term
{
    int coordinate;
    double factor;
} tie_term;

typedef struct tie_expression tie_expression;

typedef struct null_space
{
    int row_count;
    int member_count; // vertices that a tie names, sorted
    int* member;      // [member_count]
    int* index;       // [row_count] member of each vertex, -1: none

    // The filter of y: that of the system, and where slaves are their directions too. Sorted by vertex.
    filter_record* filter;
    int filter_count;
    int* record; // [member_count] record of each member, -1: none

    // Rows of T, of the members that have a slave direction.
    int slave_count;
    int* slave;     // [slave_count] members, sorted
    int* slave_row; // [member_count] row of each member, -1: none
    int* row_start; // [slave_count + 1]
    int* column;    // [row_start[slave_count]] members, sorted within a row
    double* block;  // [9 * row_start[slave_count]] row-major
    vec3* constant; // [slave_count] what null_space_satisfy adds

    // Columns of T: for each member the entries that name it, in the order of rows.
    int* entry_start; // [member_count + 1]
    int* entry;       // index of column and block
    int* entry_row;   // its row

    uint64_t structure; // a number that moves with all of the above but values

    vec3* work[6]; // [member_count]
    arena memory;  // of all that is above
    tie_expression* expressions;
    tie_term* terms;
    int expression_capacity, term_capacity;
} null_space;

// From the filter and the ties of a system that has some; nothing else of it is read but z. Starts from a zeroed struct
// or the last one. rhs [ties.count] or NULL: for null_space_satisfy, the value that each row of J is to have.
weft_status null_space_build(null_space* s, const linear_system* system, const double* rhs);
void null_space_finish(null_space* s);

// All over [row_count], in place.
void null_space_expand(const null_space* s, vec3* x);      // x = T x; x is filtered on the way
void null_space_restrict(const null_space* s, vec3* x);    // x = T^T x
void null_space_coordinates(const null_space* s, vec3* x); // x = y with T y = S x
void null_space_project(const null_space* s, vec3* x);     // x = S x
// The nearest of the null space, where a vertex counts by its mass: momentum stays. mass is [vertices].
void null_space_project_masses(const null_space* s, const double* mass, vec3* x);
void null_space_complement(const null_space* s, const linear_system* system, vec3* x); // x = (I - S) x

// Moves the slaves in z such that J z = rhs as far as filters allow; where rows contradict each other, or the filter,
// the filter and then the earlier row stands.
void null_space_satisfy(const null_space* s, const linear_system* system, vec3* z);

#endif
