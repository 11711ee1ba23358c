// The table of linear solvers: what scene files, the command line, tests and benchmarks loop over.
#include <string.h>

#include "solve/solve.h"

static const linear_solver* const solvers[] = {
    &solver_auto,    &solver_mpcg,    &solver_diag_pcg, &solver_diag_ppcg,
    &solver_sa_pcg,  &solver_sa_ppcg, &solver_sa_cycle, &solver_cholesky,
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
