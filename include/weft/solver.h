/// The linear solver alone, for strangers: a symmetric block-sparse matrix, a filter, a right-hand side.
///
///     S A x = S b,   (I - S) x = (I - S) z
///
/// S is the orthogonal projection onto what is left free. Filters make it block diagonal: for each vertex the projection
/// onto the directions in which it is free. Ties J x = J z go beyond single vertices: a vertex that follows a face, an edge
/// that follows an edge.
/// WEFT_EXPERIMENTAL: settings of multigrid may still change.
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
    int tie_count;               ///< rows of J, 0: no ties
    const int* tie_start;        ///< [tie_count + 1] where each row begins, or NULL without ties
    const int* tie_unknown;      ///< [tie_start[tie_count]] 3 * vertex + axis, any order, none twice in a row
    const double* tie_value;     ///< [tie_start[tie_count]] entries of J; rows may depend on each other
    int element_vertices;        ///< A is a diagonal plus semidefinite elements of at most so many vertices; 0: unknown
} weft_system_def;

typedef struct weft_system weft_system;

WEFT_API weft_status weft_system_create(const weft_system_def* def, weft_system** out, weft_error* error);
WEFT_API void weft_system_destroy(weft_system* system); ///< NULL is fine
WEFT_API int weft_system_vertex_count(const weft_system* system);
WEFT_API int weft_system_tie_count(const weft_system* system); ///< rows of J

/// Reads PREFIX.weftsys if it is there, else PREFIX.mtx and the optional files beside it.
WEFT_API weft_status weft_system_read(const char* prefix, weft_system** out, weft_error* error);
/// Writes the Matrix Market set, or with binary != 0 PREFIX.weftsys. Each file is written whole or not at all.
WEFT_API weft_status weft_system_write(const weft_system* system, const char* prefix, int binary, weft_error* error);
/// Writes a solution as an array file.
WEFT_API weft_status weft_vector_write(const weft_vec3* x, int vertex_count, const char* path, weft_error* error);

/// Smoothed-aggregation multigrid (`sa-pcg`, `sa-ppcg`, `sa-cycle`); docs/multigrid.md says what each choice does.
typedef struct weft_sa_def
{
    double theta;    ///< a connection is strong above theta times the largest of its row
    int distance;    ///< radius of the finest level's aggregates: 1 (algorithms 1 and 2 of the paper) or 2
    int vectors;     ///< near kernel without one of your own: 3 translations, or 6 with the rotations of `positions`
    int relax;       ///< sweeps of relaxation that fit the near kernel to the constraints
    double filter;   ///< connections below filter times the largest of their row do not smooth the interpolation; 0: all do
    int lanczos;     ///< iterations that estimate the spectral radius of D^-1 A; 0: a proven bound where one is known
    double margin;   ///< factor on that estimate
    int degree;      ///< of the Chebyshev smoother
    double lower;    ///< lower end of its interval, as a share of the upper end
    int coarsest;    ///< unknowns up to which a level is solved directly
    int precision;   ///< of the hierarchy: 32 or 64 bits; 16: its finest matrix in 16, all else in 32; 0: 16 or 32 by size
    int reuse;       ///< 1: aggregates and interpolation are kept from solve to solve while they serve; 0: never
    int smoother;    ///< of the finest level: 1 Chebyshev, 2 incomplete Cholesky, 0 the latter where `positions` show folds
} weft_sa_def;

/// Start from weft_solver_def_default().
typedef struct weft_solver_def
{
    const char* solver;         ///< a name from weft_list(WEFT_LIST_SOLVERS, ...)
    const char* preconditioner; ///< a name from weft_list(WEFT_LIST_PRECONDITIONERS, ...); NULL for the solver's own
    const char* variant;        ///< of `mpcg`: "original" (Baraff and Witkin's) or "corrected"; NULL: corrected
    double tolerance;           ///< relative, in the norm of the preconditioner's inverse
    int max_iterations;         ///< 0: the solver's own limit
    int worker_count;           ///< 1: no threads are made; 0: one a core
    weft_task_hooks tasks;      ///< zero for the built-in pool
    const char* kernels;        ///< "auto", "base", "avx2", "avx512"
    weft_sa_def sa;
    uint32_t cookie;            ///< proves that the default was used; do not set. Without it the process ends: weft/types.h
} weft_solver_def;

enum
{
    WEFT_LEVEL_MAX = 16
};

typedef struct weft_level_stats
{
    int rows;       ///< nodes of this level
    int block_size; ///< unknowns a node
    int blocks;     ///< stored blocks of its matrix
} weft_level_stats;

typedef struct weft_solve_stats
{
    const char* solver;      ///< the name of what ran
    int iterations;          ///< 0 for direct solvers
    int converged;
    double residual;         ///< relative, in the norm of the preconditioner's inverse
    double residual2;        ///< relative, true 2-norm
    double rate;             ///< mean convergence rate of the solve; NaN without iterations
    double setup_s, solve_s; ///< wall clock
    double bytes;            ///< most memory held by matrix and solver, during the setup
    double bytes_held;       ///< likewise after the setup
    int level_count;         ///< 0 without multigrid
    weft_level_stats levels[WEFT_LEVEL_MAX]; ///< finest first
    int refreshed;           ///< multigrid: 0 all of the hierarchy was made anew, 1 only its numbers, 2 for another pattern, 3 what few contacts changed, 4 numbers and those of the interpolation
                             ///< the structure of its coarse matrices too
    int escalations;         ///< of `sa-ppcg`: 1 a stronger hierarchy was needed, 2 a direct solve
    double operator_complexity; ///< matrix entries of all levels over those of the finest; NaN without multigrid
    int components;          ///< of `decomposed:NAME`: parts that were solved each by itself; 0 with other solvers
    double row_products;     ///< rows of A times a vector in all iterations: the work of solvers that split differs from iterations
} weft_solve_stats;

typedef struct weft_solver weft_solver;

WEFT_API weft_solver_def weft_solver_def_default(void);
/// Field number `index` (0, 1, ...) of `sa`: its name, static, and its value. NOT_FOUND after the last.
WEFT_API weft_status weft_sa_get(const weft_sa_def* sa, int index, const char** name, double* value);
/// Sets a field of `sa` by its name; BAD_INPUT with the range when the value is outside it.
WEFT_API weft_status weft_sa_set(weft_sa_def* sa, const char* name, double value, weft_error* error);
WEFT_API weft_status weft_solver_create(const weft_solver_def* def, weft_solver** out, weft_error* error);
/// x is [vertex_count]; the start is (I - S) z. x receives the best iterate even when the status is not OK.
WEFT_API weft_status weft_solver_solve(weft_solver* solver, const weft_system* system, weft_vec3* x,
                                       weft_solve_stats* stats);
/// After a solve with multigrid: the aggregate of each vertex as level `level` (0: those of the finest) sees it, -1 for
/// vertices that take no part there. aggregate is [vertex_count]; *count is the number of aggregates. NOT_FOUND when
/// the last solve had no such level.
WEFT_API weft_status weft_solver_aggregates(const weft_solver* solver, int level, int* aggregate, int* count);
/// After a solve with `decomposed:NAME`: the component of each vertex, -1 for vertices that are held in all directions.
/// component is [vertex_count]; *count is the number of components. NOT_FOUND with other solvers. Where one component was
/// solved as a whole they are listed here all the same.
WEFT_API weft_status weft_solver_components(const weft_solver* solver, int* component, int* count);
WEFT_API void weft_solver_drop(weft_solver* solver); ///< forgets what only saves time
WEFT_API void weft_solver_destroy(weft_solver* solver); ///< NULL is fine

/// ---- looking at a matrix

/// Two vertices that are strongly connected in one unknown.
typedef struct weft_connection
{
    int i, j;        ///< i < j
    double strength; ///< a_ij / sqrt(a_ii a_jj), in [-1, 1]
} weft_connection;

/// The strong connections of A's own matrix of one unknown (0: x, 1: y, 2: z), without the filter: those with
/// |a_ij| / sqrt(a_ii a_jj) > theta times the largest off the diagonal in row i or in row j. theta is in [0, 1). Sorted by i, then
/// j. out is [capacity] and receives the first ones; it may be NULL when capacity is 0. *count is how many there are.
WEFT_API weft_status weft_system_strength(const weft_system* system, int unknown, double theta, weft_connection* out,
                                          int capacity, int* count);

/// What a solution is worth: |x - x*| / |x0 - x*| in the energy norm sqrt(e . A e), x* a tight solve (made here, at the
/// cost of a direct solver), x0 = (I - S) z the start of every solve. x is [vertex_count]. Fails as that solve does.
WEFT_API weft_status weft_system_energy_error(const weft_system* system, const weft_vec3* x, double* out,
                                              weft_error* error);

#ifdef __cplusplus
}
#endif
#endif
