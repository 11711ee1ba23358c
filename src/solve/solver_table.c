// The table of linear solvers: what scene files, the command line, tests and benchmarks loop over.
#include <string.h>

#include "solve/solve.h"

static const linear_solver* const solvers[] = {
    &solver_auto,        &solver_mpcg,        &solver_diag_pcg,     &solver_diag_ppcg,
    &solver_sa_pcg,      &solver_sa_ppcg,     &solver_sa_cycle,     &solver_cholesky,
#ifdef WEFT_CHOLMOD
    &solver_cholmod,
#endif
    &decomposed_auto,    &decomposed_mpcg,    &decomposed_diag_pcg, &decomposed_diag_ppcg,
    &decomposed_sa_pcg,  &decomposed_sa_ppcg, &decomposed_sa_cycle, &decomposed_cholesky,
#ifdef WEFT_CHOLMOD
    &decomposed_cholmod,
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
    if (strcmp(name, "cholmod") == 0 || strcmp(name, "decomposed:cholmod") == 0)
    {
        return error_set(error, WEFT_UNSUPPORTED, NULL, 0,
                         "this build has no solver `%s`: build with -DWEFT_CHOLMOD=ON (script/build cholmod), or "
                         "use `cholesky`",
                         name);
    }
    const char* near = suggest_name(name, names, SOLVER_COUNT);
    return error_set(error, WEFT_NOT_FOUND, NULL, 0, "there is no solver `%s`%s%s%s; see `weft list solvers`", name,
                     near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
}

static weft_status preconditioner_check(const char* name, weft_error* error)
{
    enum
    {
        NAMES_MAX = 16
    };
    const char* names[NAMES_MAX];
    int count;
    const preconditioner_row* rows = cg_preconditioners(&count);
    WEFT_ASSERT(count <= NAMES_MAX);
    for (int k = 0; k < count; k++)
    {
        names[k] = rows[k].name;
        if (strcmp(name, names[k]) == 0)
        {
            return WEFT_OK;
        }
    }
    const char* near = suggest_name(name, names, count);
    return error_set(error, WEFT_UNSUPPORTED, NULL, 0,
                     "there is no preconditioner `%s`%s%s%s; see `weft list preconditioners`", name,
                     near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
}

weft_status solver_settings_check(const linear_solver* solver, const char* preconditioner, const char* variant,
                                  weft_error* error)
{
    TRY(preconditioner ? preconditioner_check(preconditioner, error) : WEFT_OK);
    bool original = variant && strcmp(variant, "original") == 0;
    if (variant && !original && strcmp(variant, "corrected") != 0)
    {
        return error_set(error, WEFT_UNSUPPORTED, NULL, 0,
                         "there is no variant `%s` of a solver; take `corrected` or `original`", variant);
    }
    if (original && solver != &solver_mpcg && solver != &decomposed_mpcg)
    {
        return error_set(error, WEFT_UNSUPPORTED, NULL, 0,
                         "the solver `%s` has no variant `original`; `mpcg` has, and `decomposed:mpcg`", solver->name);
    }
    return WEFT_OK;
}
