/// The linear solver alone, for strangers: a symmetric block-sparse matrix, a filter, a right-hand side.
///
///     S A x = S b,   (I - S) x = (I - S) z
///
/// S is block diagonal: for each vertex the orthogonal projection onto the directions in which it is free.
/// WEFT_EXPERIMENTAL: multigrid will add to the settings.
#ifndef WEFT_SOLVER_H
#define WEFT_SOLVER_H

#include "weft/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A system in memory. All arrays are copied by weft_system_create.
typedef struct weft_system_def
{
    int vertex_count;
    const int* row_start;        ///< [vertex_count + 1]
    const int* column;           ///< [row_start[vertex_count]], any order, no duplicates within a row
    const double* values;        ///< [9 * block count], blocks row-major; both triangles
    const weft_vec3* b;          ///< [vertex_count] or NULL for ones
    const weft_vec3* z;          ///< [vertex_count] or NULL for zero
    const double* filter;        ///< [9 * vertex_count] projections S_i, or NULL for the identity
    const double* kernel;        ///< [3 * vertex_count * kernel_count] column after column, or NULL
    int kernel_count;
    const weft_vec3* positions;  ///< [vertex_count] or NULL
} weft_system_def;

typedef struct weft_system weft_system;

WEFT_API weft_status weft_system_create(const weft_system_def* def, weft_system** out, weft_error* error);
WEFT_API void weft_system_destroy(weft_system* system); ///< NULL is fine
WEFT_API int weft_system_vertex_count(const weft_system* system);

/// Reads PREFIX.weftsys if it is there, else PREFIX.mtx and the optional files beside it.
WEFT_API weft_status weft_system_read(const char* prefix, weft_system** out, weft_error* error);
/// Writes the Matrix Market set, or with binary != 0 PREFIX.weftsys. Each file is written whole or not at all.
WEFT_API weft_status weft_system_write(const weft_system* system, const char* prefix, int binary, weft_error* error);
/// Writes a solution as an array file.
WEFT_API weft_status weft_vector_write(const weft_vec3* x, int vertex_count, const char* path, weft_error* error);

/// Start from weft_solver_def_default().
typedef struct weft_solver_def
{
    const char* solver;         ///< a name from weft_list(WEFT_LIST_SOLVERS, ...)
    const char* preconditioner; ///< NULL for the solver's own
    double tolerance;           ///< relative, in the norm of the preconditioner's inverse
    int max_iterations;         ///< 0: the solver's own limit
    int worker_count;           ///< 1: no threads are made; 0: one a core
    weft_task_hooks tasks;      ///< zero for the built-in pool
    const char* kernels;        ///< "auto", "base", "avx2", "avx512"
    uint32_t cookie;            ///< proves that the default was used; do not set
} weft_solver_def;

typedef struct weft_solve_stats
{
    const char* solver;      ///< the name of what ran
    int iterations;          ///< 0 for direct solvers
    int converged;
    double residual;         ///< relative, in the norm of the preconditioner's inverse
    double residual2;        ///< relative, true 2-norm
    double rate;             ///< mean convergence rate of the solve; NaN without iterations
    double setup_s, solve_s; ///< wall clock
    double bytes;            ///< most memory held by matrix and solver
} weft_solve_stats;

typedef struct weft_solver weft_solver;

WEFT_API weft_solver_def weft_solver_def_default(void);
WEFT_API weft_status weft_solver_create(const weft_solver_def* def, weft_solver** out, weft_error* error);
/// x is [vertex_count]; the start is (I - S) z. x receives the best iterate even when the status is not OK.
WEFT_API weft_status weft_solver_solve(weft_solver* solver, const weft_system* system, weft_vec3* x,
                                       weft_solve_stats* stats);
WEFT_API void weft_solver_drop(weft_solver* solver); ///< forgets what only saves time
WEFT_API void weft_solver_destroy(weft_solver* solver); ///< NULL is fine

#ifdef __cplusplus
}
#endif
#endif
