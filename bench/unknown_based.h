// The negative control of Tamstorf, Jones and McCormick 2015, section 4: unknown-based multigrid, which coarsens and
// interpolates each of the three displacements apart from the others. Plain scalar code for the benchmark alone.
#ifndef WEFT_BENCH_UNKNOWN_BASED_H
#define WEFT_BENCH_UNKNOWN_BASED_H

#include <stdbool.h>

#include "weft/solver.h"

typedef struct unknown_based_stats
{
    int unknowns, iterations, converged, level_count;
    double rate;      // mean convergence rate in the norm of the preconditioner's inverse; NaN without iterations
    double residual2; // relative, 2-norm
    double operator_complexity, setup_s, solve_s;
} unknown_based_stats;

// Solves the prefiltered system by CG around a V-cycle until the residual in the norm of M^-1 is `tolerance` of the
// start's. coupled: the whole matrix (1) of the paper; else only its diagonal blocks diag(A_11, A_22, A_33).
weft_status unknown_based_solve(const weft_system* system, bool coupled, double tolerance, int max_iterations,
                                unknown_based_stats* out);

#endif
