// Krylov solvers and preconditioners of PETSc, those of Trilinos ML among them, on a problem; over all ranks of MPI.
#ifndef WEFT_PEERS_PETSC_H
#define WEFT_PEERS_PETSC_H

#include <stdbool.h>

#include "bench/peers/problem.h"

// Around everything else. Options of PETSc's own come from PETSC_OPTIONS alone.
bool petsc_start(void);
void petsc_end(void);
int petsc_rank(void);
int petsc_rank_count(void);
const char* petsc_version_text(void);
double cpu_now(void); // seconds of processor time that this rank has used
// The ranks meet; those that wait leave their core to others. All ranks get rank 0's value.
int petsc_meet(int value);

// Each rank holds some of the rows.
typedef struct petsc_problem petsc_problem;

petsc_problem* petsc_problem_create(const problem* p); // NULL: it failed, PETSc says why on standard error
void petsc_problem_destroy(petsc_problem* p);          // NULL is fine

typedef enum stop_norm
{
    STOP_TWO_NORM, // |r|
    STOP_OWN_NORM  // sqrt(r . P^-1 r) with the preconditioner P
} stop_norm;

typedef struct peer_run
{
    double setup_s, solve_s; // wall clock, from the assembled matrix
    double cpu_s;            // of both, summed over all ranks or threads: what other load on the machine changes less
    int iterations;
    bool converged;
    int level_count; // 0 without multigrid
    char unused[96]; // the first option that nothing asked for, "": none
} peer_run;

// A new solver with `options` (as PETSc's command line takes them; one more, -near_kernel N, gives it only the first N
// vectors of the near kernel), set up and run from zero until the residual is
// `tolerance` times the right-hand side. x is [rows], filled on rank 0. False: PETSc failed, and says why on standard
// error.
bool petsc_solve(petsc_problem* p, const char* options, stop_norm norm, double tolerance, vec3* x, peer_run* out);

#endif
