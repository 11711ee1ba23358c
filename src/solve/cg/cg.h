// Conjugate gradients on the constrained problem S A x = S b, (I - S) x = (I - S) z, with any preconditioner: one that
// is block diagonal and fused into the passes, or a hook. Not public; mpcg.c and the multigrid solvers stand on it.
#ifndef WEFT_CG_H
#define WEFT_CG_H

#include "solve/solve.h"

// h = M^-1 r over all rows, M symmetric positive definite on the range of S. r = S r comes filtered and is not zero; h
// need not be filtered. Work in single precision must scale r itself: residuals can be far below its range.
typedef weft_status cg_precondition(void* context, const vec3* r, vec3* h);

enum
{
    CG_GUESSES = 3 // directions of a first guess
};

// What starts from earlier answers have taught.
typedef struct cg_memory
{
    double ratio;    // of the reference and the energy of an answer, 0: not known
    double energy;   // of the last answer
    int reckoned;    // solves that went by the ratio
    int pause, wait; // solves from nothing, as guesses explained little; how many the next time
} cg_memory;

// What a checkpoint may hold.
bool cg_memory_is_sound(const cg_memory* m);

typedef struct cg
{
    // Set by cg_init.
    solve_options options;
    int row_count, capacity; // rows; rows that there is room for
    vec3 *r, *p, *s, *h;     // [row_count]
    double* partial;         // [chunks] a second sum beside the one of parallel_sum
    int* record_start;       // [chunks + 1] first filter record of a chunk

    // For the user to set after cg_init. Without a hook inv is needed.
    int64_t iteration_limit;       // options.max_iterations, or 1000 + 30 a vertex without it
    const double* inv;             // [6 * row_count] upper triangles of M^-1 a vertex: xx xy xz yy yz zz
    cg_precondition* precondition; // NULL: inv
    void* context;                 // of the hook
    // A good hook that is another map each time (it rounds, iterates) wants this; for a constant or a weak one it is no
    // gain.
    bool flexible;
    bool original; // Baraff and Witkin's own start and stopping rule
    // The hook is nearly the inverse. Then a system with earlier answers starts from the best of their span, and that
    // start pays with a cycle for the reference of the stopping rule: it is reckoned from the energy of the answer,
    // which iterations sum up, and the ratio of both in the last solve that had the reference itself.
    bool near;
    vec3* images[CG_GUESSES - 1]; // [row_count] with near
    double* guess_partial;        // [chunks * (CG_GUESSES + 1)] with near
    cg_memory known;
    double reference; // of the last solve, 0: there was none
    bool again;       // the next one is nearly the last one: x is the guess, and the reference the same
} cg;

// For analyze: allocates and keeps where each chunk's filter records begin. Clean up with cg_finish also on failure.
weft_status cg_init(cg* c, const solve_options* options, const linear_system* system);
// The same for one that is zeroed or was set up before, whose arrays it keeps where they are large enough.
weft_status cg_renew(cg* c, const solve_options* options, const linear_system* system);
void cg_finish(cg* c);
void cg_constrain(cg* c, const linear_system* system); // other constraints, as many rows

// x holds the first guess and receives the last iterate. Sets all stats of an iteration, but not `bytes`. A failing
// status of the hook is handed on.
weft_status cg_solve(cg* c, const linear_system* system, vec3* x, weft_solve_stats* stats);
// Memory for starts from earlier answers; sets `near`. They are forgotten with cg_forget.
weft_status cg_come_near(cg* c);
void cg_forget(cg* c);
// The start of a system with earlier answers: r comes as the residual of (I - S) z, and goes as that of x. Returns the
// energy of what was found, 0: nothing, and x is (I - S) z.
double cg_start_near(cg* c, const linear_system* system, vec3* x);

double cg_bytes(const cg* c); // of the vectors here: neither the matrix nor the preconditioner

#endif
