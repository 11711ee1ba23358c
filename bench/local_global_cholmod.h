// cholmod_solve2 beside a turn of local/global, and CHOLMOD's factor beside its own, in one run on one thread.
#ifndef WEFT_BENCH_LOCAL_GLOBAL_CHOLMOD_H
#define WEFT_BENCH_LOCAL_GLOBAL_CHOLMOD_H

#include "step/global_step.h"

typedef struct own_times
{
    double turn, factor; // s
    const vec3 *b, *x;   // [rows] a right-hand side and the own answer
} own_times;

typedef struct cholmod_output
{
    bool json;
    int rows; // printed so far
} cholmod_output;

// Prints both ratios for the matrix of g, or that this build has no CHOLMOD.
weft_status local_global_cholmod(const global_step* g, const bsr_pattern* pattern, const own_times* own, int rounds,
                                 cholmod_output* out);

#endif
