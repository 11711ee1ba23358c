// Table 1 of Liu et al. 2013, its rows beside ours, of the scenes that ship.
#ifndef WEFT_BENCH_LOCAL_GLOBAL_TABLE_H
#define WEFT_BENCH_LOCAL_GLOBAL_TABLE_H

#include "step/global_step.h"

double factor_nonzeros(const chol_symbolic* s);
// Bytes a second of a triad loop, the best of some rounds.
weft_status stream_speed(workers* pool, int rounds, double* out);
// Prints a row for each object as text or JSON; *rows counts them.
weft_status local_global_table(int rounds, bool json, int* rows);

#endif
