// Linear systems (with filters, as Baraff and Witkin pose them) and the solvers that take them. Knows matrices,
// not cloth.
#ifndef WEFT_SOLVE_H
#define WEFT_SOLVE_H

#include "core/core.h"
#include "core/sections.h"
#include "math/vec.h"
#include "sparse/sparse.h"
#include "weft/solver.h"

// A vertex whose motion is prescribed in 1, 2 or 3 directions: S_i = I - sum of the outer products of its
// directions, which are orthonormal.
typedef struct filter_record
{
    int vertex;
    int direction_count; // 1, 2 or 3
    vec3 direction[3];
    double S[9]; // the projection, row-major symmetric
} filter_record;

// Orthonormalises `count` directions (dependent ones are dropped) and fills the projection.
filter_record filter_record_make(int vertex, const vec3* directions, int count);
// From a projection matrix; false when S is no orthogonal projection to 1e-6.
bool filter_record_from_projection(int vertex, const double* S, filter_record* out);

// General equality constraints J x = J z, row after row: ties of a vertex to others.
typedef struct tie_rows
{
    int count;
    const int* start;    // [count + 1]
    const int* unknown;  // [start[count]] 3 * vertex + axis, in any order
    const double* value; // [start[count]]
} tie_rows;

// A caller that can tell from a rough answer that it will ask for another: conjugate gradients show it x once, when the
// residual has come down to `at` of the reference, and stop where it says so, with OK and without `converged`.
typedef struct solve_look
{
    double at; // 0: none
    bool (*is_enough)(void* user);
    void* user;
} solve_look;

// S A x = S b, (I - S) x = (I - S) z. S is the orthogonal projection onto what the filter and the ties leave free.
// Solvers of the table never see ties: solver_object_solve hands them the reduced system (tied.h).
typedef struct linear_system
{
    bsr_matrix A;                // symmetric positive definite
    const vec3* b;               // [rows]
    const vec3* z;               // [rows] or NULL for zero; only its filtered part counts
    const filter_record* filter; // [filter_count], sorted by vertex, one record a vertex
    int filter_count;
    tie_rows ties;         // all zero: none
    const vec3* positions; // [rows] or NULL: for the near kernel of multigrid
    const double* kernel;  // [3 * rows * kernel_count] column after column, or NULL: made from positions
    int kernel_count;
    int element_vertices;     // most vertices of one of the semidefinite elements that A sums up, 0: unknown
    uint64_t pattern_version; // moves when the pattern or the set of constraints changes
    // [rows], the second maybe NULL: answers of earlier systems. With them the first guess is no more than a direction,
    // too, in which the answer may lie. NULL: none, x is the guess.
    const vec3* earlier[2];
    solve_look look;
    bool mirrored; // A_ij and A_ji^T are the same numbers: nobody has to look at both. Not known of files
} linear_system;

static inline bool system_has_ties(const linear_system* system)
{
    return system->ties.count > 0 && system->ties.start[system->ties.count] > 0;
}

// The filter alone, without ties.
void filter_apply(const linear_system* system, vec3* x);      // x = S x
void filter_complement(const linear_system* system, vec3* x); // x = (I - S) x
// Whether all of v is zero: what a sum of squares cannot tell when they are below the range of double.
bool vector_is_zero(const vec3* v, int count);
// x = (I - S) z, the start and the reference of the stopping rule.
void filter_prescribed(const linear_system* system, vec3* x);
// Likewise of a system that may have ties.
weft_status system_start(const linear_system* system, vec3* x);

// What a solver was asked for, with names resolved.
typedef struct solve_options
{
    const char* preconditioner; // NULL: the solver's own default
    const char* variant;        // of mpcg: "original" or "corrected"; NULL: the latter
    double tolerance;
    double diag_tolerance; // what `auto` holds a block diagonal to; 0: `tolerance`
    int max_iterations;    // 0: the solver's own limit
    bool no_residual2;     // nobody looks at that of conjugate gradients that converge: a product less
    weft_sa_def sa;        // settings of multigrid; all zero: the defaults
    workers* pool;
    cpu_kind cpu;
    // For experiments: decomposed:NAME takes all that is not held as one component, zero blocks and all: what leaving
    // out held rows gains by itself.
    bool join;
    // For experiments, NULL: none. Conjugate gradients show it the start (iteration 0) and each iterate: x, the
    // residual r = S (b - A x) as the recursion holds it, and delta = r . M^-1 r. It must not write to them.
    void (*observe)(void* context, int iteration, double delta, const vec3* x, const vec3* r);
    void* observe_context;
} solve_options;

enum
{
    SOLVER_MEMORY = 5
};

struct sa_plan; // of multigrid: sa/sa.h

// What benchmarks hold a factor against: a matrix of one number for each pair of vertices, solved for three sides.
typedef struct scalar_trial
{
    const bsr_pattern* pattern;
    const double* values; // [blocks of the pattern]
    const vec3* b;        // [rows]
    vec3* x;              // [rows] the answer
    int rounds;
    double (*clock)(void); // s
} scalar_trial;

typedef struct scalar_times
{
    double factor, solve; // s, the best of all rounds, on one thread
    double nonzeros;
} scalar_times;

// analyze: the pattern or the set of constraints changed. factor: only values changed. solve: x holds the first
// guess, receives the best iterate even on failure, and nothing is allocated.
typedef struct linear_solver
{
    const char* name;    // what scene files and the command line say
    const char* summary; // one line for `weft list`
    size_t state_size;
    weft_status (*analyze)(void* state, const solve_options* options, const linear_system* system);
    weft_status (*factor)(void* state, const linear_system* system);
    weft_status (*solve)(void* state, const linear_system* system, vec3* x, weft_solve_stats* stats);
    void (*finish)(void* state);
    // Forgets what makes a solve depend on earlier ones and not on pattern and values alone. NULL: there is no such
    // thing.
    void (*forget)(void* state);
    // Multigrid only, else NULL: the aggregate of each vertex as `level` sees it (-1: none); returns their number, -1
    // when there is no such level.
    int (*aggregates)(const void* state, int level, int* aggregate);
    // SOLVER_MEMORY numbers of the state that outlive `forget`: a checkpoint keeps them. NULL: there are none.
    double* (*memory)(void* state);
    // Work of the last factorisation, beside which iterations and later factors are reckoned. NULL: no factor.
    double (*flops)(const void* state);
    // After `factor` and `solve` of a system with the same pattern, of which `changed` small parts are others now:
    // solves with what was made for that one, and leaves it and all counts as they are. NOT_CONVERGED: not worth it, x
    // is as far as it came. Nothing is allocated. NULL: the solver cannot.
    weft_status (*solve_again)(void* state, const linear_system* system, int changed, vec3* x, weft_solve_stats* stats);
    // Times of this solver without a state, for benchmarks; `way` counts its ways from 0, NOT_FOUND after the last.
    // NULL: it has none.
    weft_status (*scalar)(const scalar_trial* trial, int way, scalar_times* out);
    // Solvers that split only, else NULL: the component of each vertex in the last solve (-1: held in all directions);
    // returns their number.
    int (*components)(const void* state, int* component);
    // Multigrid only, else all NULL: what a checkpoint keeps besides. `settle` forgets all but what `save` writes
    // (false: that is nothing), so that the next solve is that of a state which `take` has given it and that owns it.
    weft_status (*save)(const void* state, section_writer* out);
    bool (*settle)(void* state);
    void (*take)(void* state, struct sa_plan* plan);
} linear_solver;

// A preconditioner of mpcg, for scene files and the command line.
typedef struct preconditioner_row
{
    const char *name, *summary;
} preconditioner_row;

const preconditioner_row* cg_preconditioners(int* count);

extern const linear_solver solver_auto, solver_mpcg, solver_diag_pcg, solver_diag_ppcg, solver_sa_pcg, solver_sa_ppcg,
    solver_sa_cycle, solver_cholesky, solver_cholmod;
extern const linear_solver decomposed_auto, decomposed_mpcg, decomposed_diag_pcg, decomposed_diag_ppcg,
    decomposed_sa_pcg, decomposed_sa_ppcg, decomposed_sa_cycle, decomposed_cholesky, decomposed_cholmod;

// The table of all solvers of this build, in the order of `weft list`.
const linear_solver* const* linear_solvers(int* count);

// Finds a solver; on failure the error names the nearest one.
weft_status linear_solver_find(const char* name, const linear_solver** out, weft_error* error);

// Whether preconditioner and variant, either of which may be NULL, have names that a solver here knows.
weft_status solver_settings_check(const linear_solver* solver, const char* preconditioner, const char* variant,
                                  weft_error* error);

// A solver with its state: analyses and factors only when needed, times setup and solve apart.
typedef struct solver_object
{
    const linear_solver* solver;
    solve_options options;
    void* state;
    uint64_t analyzed_version;
    bool analyzed;
    bool solved;       // the last solve has left what another may start from
    struct tied* tied; // made when a system with ties comes, NULL before
} solver_object;

weft_status solver_object_init(solver_object* object, const char* name, const solve_options* options,
                               weft_error* error);
weft_status solver_object_solve(solver_object* object, const linear_system* system, vec3* x, weft_solve_stats* stats);
// The same for a system with the pattern of the last solve, from which it differs in the values, constraints and
// right-hand side of `changed` contacts or the like. What was set up for that one serves, as long as it is good enough;
// x comes with its solution as the first guess.
weft_status solver_object_solve_again(solver_object* object, const linear_system* system, int changed, vec3* x,
                                      weft_solve_stats* stats);
// For steps, after a solve that did not converge or met what is not definite: a direct solve, whose answer counts even
// if rounding keeps it from the tolerance. Adds to the stats of the solve before. Fails where that is no answer either.
weft_status solver_object_rescue(const solver_object* object, const linear_system* system, vec3* x,
                                 weft_solve_stats* stats);
// Forgets everything, so that the next solve is as cold as after a start.
void solver_object_drop(solver_object* object);
// Forgets what makes the next solve differ from that of a run that has nothing but `memory`: nothing for most solvers.
void solver_object_forget(solver_object* object);
// Likewise of a run that has all that solver_object_save writes.
void solver_object_settle(solver_object* object);
// What outlives solver_object_forget, SOLVER_MEMORY numbers; NULL: nothing.
double* solver_object_memory(const solver_object* object);

// What a checkpoint says of a solver.
typedef struct solver_saved
{
    double memory[SOLVER_MEMORY]; // zero: none
    struct sa_plan* plan;         // of multigrid; NULL: none
} solver_saved;

// plan: with that of multigrid, which is worth as much as the whole state that goes with it.
weft_status solver_object_save(const solver_object* object, bool plan, section_writer* out);
weft_status solver_object_load(solver_saved* out, sections* from, weft_error* error);
// Drops what the solver has and takes that over; *saved is empty afterwards.
void solver_object_take(solver_object* object, solver_saved* saved);
void solver_saved_finish(solver_saved* saved);
void solver_object_finish(solver_object* object);

#endif
