// The table of linear solvers: what scene files, the command line, tests and benchmarks loop over.
#include <string.h>

#include "solve/solve.h"

// Tiny systems go to the direct solver: below this many vertices a factor costs less than the iterations of CG.
// Counts decide, never clocks.
enum
{
    AUTO_DIRECT_VERTICES = 150
};

typedef struct auto_state
{
    const linear_solver* inner;
    union
    {
        max_align_t align;
        char bytes[2048];
    } state;
} auto_state;

static void auto_finish(void* state)
{
    auto_state* a = state;
    if (a->inner)
    {
        a->inner->finish(&a->state);
    }
    *a = (auto_state){0};
}

static weft_status auto_analyze(void* state, const solve_options* options, const linear_system* system)
{
    auto_state* a = state;
    bool tiny = system->A.pattern->row_count <= AUTO_DIRECT_VERTICES && !options->preconditioner;
    const linear_solver* inner = tiny ? &solver_cholesky : &solver_diag_pcg;
    WEFT_ASSERT(inner->state_size <= sizeof(a->state));
    if (a->inner != inner)
    {
        auto_finish(state);
        a->inner = inner;
    }
    return inner->analyze(&a->state, options, system);
}

static weft_status auto_factor(void* state, const linear_system* system)
{
    auto_state* a = state;
    return a->inner->factor(&a->state, system);
}

static weft_status auto_solve(void* state, const linear_system* system, vec3* x, weft_solve_stats* stats)
{
    auto_state* a = state;
    weft_status status = a->inner->solve(&a->state, system, x, stats);
    stats->solver = a->inner->name;
    return status;
}

static const linear_solver solver_auto = {"auto", "chosen by counts: cholesky for tiny systems, else diag-pcg",
                                          sizeof(auto_state), auto_analyze, auto_factor, auto_solve, auto_finish, false};

static const linear_solver* const solvers[] = {
    &solver_auto,     &solver_mpcg, &solver_diag_pcg, &solver_cholesky,
#ifdef WEFT_CHOLMOD
    &solver_cholmod,
#endif
};

enum
{
    SOLVER_COUNT = sizeof(solvers) / sizeof(solvers[0])
};

const linear_solver* const* linear_solvers(int* count)
{
    *count = SOLVER_COUNT;
    return solvers;
}

weft_status linear_solver_find(const char* name, const linear_solver** out, weft_error* error)
{
    const char* names[SOLVER_COUNT];
    for (int k = 0; k < SOLVER_COUNT; k++)
    {
        names[k] = solvers[k]->name;
        if (strcmp(name, names[k]) == 0)
        {
            *out = solvers[k];
            return WEFT_OK;
        }
    }
    if (strcmp(name, "cholmod") == 0)
    {
        return error_set(error, WEFT_UNSUPPORTED, NULL, 0,
                         "this build has no solver `cholmod`: build with -DWEFT_CHOLMOD=ON (script/build cholmod), or "
                         "use `cholesky`");
    }
    const char* near = suggest_name(name, names, SOLVER_COUNT);
    return error_set(error, WEFT_NOT_FOUND, NULL, 0, "there is no solver `%s`%s%s%s; see `weft list solvers`", name,
                     near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
}
