// A system in parts that do not touch: what decomposed.c solves one by one. Not public.
#ifndef WEFT_DECOMPOSED_H
#define WEFT_DECOMPOSED_H

#include "solve/solve.h"

// A component of two rows or more, as a system of its own.
typedef struct parting_part
{
    int number;      // of the component
    int first, rows; // its rows in `member`
    int block_first; // of its blocks
    bsr_pattern pattern;
    int filter_first, filter_count;
    uint64_t signature; // of rows, pattern and constraints
} parting_part;

typedef struct parting
{
    bool join;                 // all that is not held counts as connected
    int row_count, held_count; // rows; rows that are held in all directions
    int component_count, part_count, single_count;
    int largest;    // rows of the largest component
    int* component; // [rows] -1: held
    int* queue;     // [rows] scratch
    int* tree;      // [3 * tree_count] rows i, j and the block between them: what held one component together last time
    int tree_count; // 0: it was not one
    int* size;      // [rows] rows of each component
    int* part_of;   // [rows] part of each component, -1: a single row
    int* member;    // [rows] rows by part, ascending in each; then the singles
    int* local;     // [rows] place of a row in its part
    int* record;    // [rows] filter record of a row, -1: none
    parting_part* parts;
    int part_capacity, row_capacity, block_capacity, filter_capacity, kernel_capacity;
    unsigned char* keep; // [blocks of A] 1: in a part
    int* row_start;      // [rows + parts]
    int *column, *diagonal;
    double* values;          // [9 a block] of the parts
    vec3 *b, *z, *positions; // [rows] by member; b less what held rows bring
    vec3* x;                 // [rows + parts] one to spare behind each part, which wide loads may read
    filter_record* filter;
    double* kernel; // [3 * rows * kernel_count]
} parting;

// The components of the graph of blocks that are not zero, with held rows as dead ends; numbered by their first rows.
weft_status parting_find(parting* s, const linear_system* system);
// Whether one component has nearly all rows: then copying it costs more than its few fellows and held rows are worth,
// and the system is left as it is.
bool parting_is_whole(const parting* s);
// The parts, largest first, as systems.
weft_status parting_extract(parting* s, const linear_system* system, workers* pool);
linear_system parting_system(const parting* s, const linear_system* system, int part);
vec3* parting_x(const parting* s, int part);
void parting_gather(const parting* s, const vec3* x);                         // first guesses of all parts
void parting_scatter(const parting* s, const linear_system* system, vec3* x); // solutions, and what is held
// x of single row number `at`, exactly; *residual is what rounding leaves of the right-hand side, relative.
weft_status parting_single(const parting* s, const linear_system* system, int at, vec3* x, double* residual);
double parting_bytes(const parting* s);
void parting_finish(parting* s);

#endif
