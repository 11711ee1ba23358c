// A system with ties as one without: with x = (I - S) z + T y and T of null_space.h
//
//     A' y = b',   A' = T^T A T + sigma (slaves),   b' = T^T (b - A (I - S) z),
//
// in which the slaves are filtered like pinned vertices and y starts at zero.
#ifndef WEFT_TIED_H
#define WEFT_TIED_H

#include "solve/ties/null_space.h"

typedef struct tied
{
    null_space space;
    bsr_pattern pattern;
    double* values; // [9 * pattern.block_count]
    bool* changed;  // [rows] whether a row of A' differs from that of A
    vec3* start;    // [rows] (I - S) z
    vec3 *b, *y;    // [rows] of the reduced system
    vec3* r;        // [rows] scratch
    uint64_t outer_version, structure, version;
    int row_count;
    double reference; // |S (b - A (I - S) z)|
} tied;

// `out` lives as long as `t` and the system. x [rows] is the first guess of the system, t->y receives that of `out`.
weft_status tied_reduce(tied* t, const solve_options* options, const linear_system* system, const vec3* x,
                        linear_system* out);
// x from t->y, and the stats that are those of the whole system.
void tied_expand(tied* t, const solve_options* options, const linear_system* system, vec3* x, weft_solve_stats* stats);
void tied_finish(tied* t); // NULL is fine; frees t itself

#endif
