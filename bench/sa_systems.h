// Linear systems for the multigrid benchmarks, taken from real simulations, and the solving of them.
//
// Scenes: `pinned`, `drooping` and `re-entrant` as they ship (1 m of cotton, hinge bending, h = 2 ms), simulated with
// sa-ppcg up to the asked step. Two more have constraints that no shipped scene has yet, on A and b of `pinned`'s sheet
// at that step, its pins taken away:
//   plane    the vertices with x below the middle may only slide on a slightly tilted plane: one direction each, z not
//   zero random   a random tenth of the vertices is fixed in all directions, z = 0
#ifndef WEFT_BENCH_SA_SYSTEMS_H
#define WEFT_BENCH_SA_SYSTEMS_H

#include "bench/common.h"
#include "bench/results.h"
#include "weft/solver.h"

enum
{
    SA_SET_MAX = 16,      // --set on the command line
    SA_OVERRIDE_MAX = 24, // with what a benchmark adds
    SA_KEY_SIZE = 1024
};

// What the benchmarks have in common on their command line:
//   --step K (10)  --threads N (2)  --tolerance T (1e-5)  --rounds N (1)  --keep DIR
//   --energy-max N: energy errors up to so many vertices (0: none), at the cost of a direct solve each
//   --set sa.NAME=VALUE (of the solver) or --set PATH=VALUE (of the scene), both may be repeated
typedef struct sa_options
{
    int step, threads, rounds, energy_max;
    const char* keep; // folder for made systems, NULL: none
    const char* overrides[SA_SET_MAX];
    int override_count;
    weft_solver_def def; // tolerance, threads and sa are set
} sa_options;

// For bench_known, with those of the results log.
#define SA_OPTIONS "--step= --threads= --tolerance= --rounds= --keep= --energy-max= --set= --log= --fresh"

weft_status sa_options_read(int argc, char** argv, sa_options* out); // prints what is wrong

typedef struct sa_case
{
    const char* scene; // one of the five names above
    int cells;
    bool irregular;
    int step; // the system is the one that this step solves first, counted from 1
    const char* overrides[SA_OVERRIDE_MAX];
    int override_count;
} sa_case;

sa_case sa_case_make(const sa_options* options, const char* scene, int cells, bool irregular);
void sa_case_override(sa_case* c, const char* path_is_value); // the text must outlive the case
// The case in words, all that its system depends on; the start of keys in the results log.
void sa_case_name(const sa_case* c, char out[SA_KEY_SIZE]);
// Vertices of the grid, before anything is built.
int sa_case_vertices(const sa_case* c);

typedef struct sa_system
{
    weft_system* system;
    int halvings; // with which the next step would begin; the system is that of a whole step all the same
    int rejected; // substeps thrown away on the way
    bool energy;  // measure energy errors
} sa_system;

// Simulates, or reads what --keep holds. Prints what went wrong.
weft_status sa_system_make(const sa_case* c, const sa_options* options, sa_system* out);
void sa_system_finish(sa_system* s);

// For those who go on from step to step: the simulation behind the case at its start (NULL on failure), and the case's
// system of the step that comes next, whichever that is. Both print what went wrong.
weft_sim* sa_case_sim(const sa_case* c, int threads);
weft_status sa_system_take(const sa_case* c, weft_sim* sim, sa_system* out);

// Key of one solve: the case, the solver, and every setting that its figures depend on.
void sa_solve_key(const sa_case* c, const weft_solver_def* def, char out[SA_KEY_SIZE]);
// Solves from (I - S) z, cold (the solver object is made anew), and logs a line of numbers:
// vertices, blocks, iterations, converged, residual, residual2, energy_error, rate, setup_s, solve_s, bytes, levels,
// operator_complexity, escalations, halvings, rejected, status. A solve that fails is a result as well.
weft_status sa_solve_log(results* log, const char* key, const sa_system* s, const weft_solver_def* def);

// The line of the case and solver in the log; solves when there is none yet, and makes the system (zero before the
// first call, finished by the caller) when that is needed. `suffix` goes to the key's end, as " round=2". A simulation
// that breaks down on the way is logged as a case that did not converge.
weft_status sa_solve_once(results* log, const sa_case* c, const sa_options* options, const weft_solver_def* def,
                          const char* suffix, sa_system* made);
// That line, or NULL.
const char* sa_solve_line(const results* log, const sa_case* c, const weft_solver_def* def, const char* suffix);

// The settings that all cases share, for the head of a table.
void sa_print_settings(const sa_options* options);

#endif
