// What an iterate is worth: the error in the energy norm against a tight solve, relative to the start,
//
//     |x - x*|_A / |x0 - x*|_A,   x0 = (I - S) z,   |e|_A^2 = e . A e.
//
// This is what conjugate gradients minimise, and unlike residuals it does not depend on the preconditioner. Meant for
// experiments: the tight solve costs more than the one that is judged.
#include <math.h>

#include "solve/system.h"

// x* by the direct solver, with its step of refinement; where there is no memory for it by multigrid.
static weft_status solve_tightly(const weft_system* system, vec3* x, weft_error* error)
{
    static const struct
    {
        const char* name;
        double tolerance;
    } tries[] = {{"cholesky", 1e-11}, {"sa-ppcg", 1e-13}};
    weft_status status = WEFT_NO_MEMORY;
    for (int k = 0; k < 2 && (status == WEFT_NO_MEMORY || status == WEFT_NOT_CONVERGED); k++)
    {
        weft_solver_def def = weft_solver_def_default();
        weft_solver* solver = NULL;
        def.solver = tries[k].name;
        def.tolerance = tries[k].tolerance;
        def.worker_count = 0;
        status = weft_solver_create(&def, &solver, error);
        if (status == WEFT_OK)
        {
            status = weft_solver_solve(solver, system, x, NULL);
        }
        weft_solver_destroy(solver);
    }
    return status == WEFT_OK ? status
                             : error_set(error, status, NULL, 0, "the tight solve to compare with failed: %s",
                                         weft_status_text(status));
}

// |x - y|_A; e and Ae are scratch.
static double energy_distance(const weft_system* system, const vec3* x, const vec3* y, vec3* e, vec3* Ae)
{
    int count = system->pattern.row_count;
    for (int i = 0; i < count; i++)
    {
        e[i] = v3_sub(x[i], y[i]);
    }
    bsr_matrix A = {&system->pattern, system->values};
    bsr_multiply(NULL, cpu_best(), &A, e, Ae);
    double sum = 0.0;
    for (int i = 0; i < count; i++)
    {
        sum += v3_dot(e[i], Ae[i]);
    }
    return isnan(sum) ? sum : sqrt(fmax(sum, 0.0));
}

weft_status weft_system_energy_error(const weft_system* system, const weft_vec3* x, double* out, weft_error* error)
{
    WEFT_ASSERT(system && x && out);
    int count = system->pattern.row_count;
    *out = NAN;
    vec3* work = MEM_NEW(4 * (size_t)count, vec3);
    if (!work)
    {
        return error_set(error, WEFT_NO_MEMORY, NULL, 0, "no memory for a system of %d vertices", count);
    }
    vec3 *exact = work, *start = work + count, *e = work + 2 * (size_t)count, *Ae = work + 3 * (size_t)count;
    weft_status status = solve_tightly(system, exact, error);
    if (status == WEFT_OK)
    {
        linear_system view = system_view(system, 0);
        status = system_start(&view, start);
        double all = energy_distance(system, start, exact, e, Ae), left = energy_distance(system, x, exact, e, Ae);
        *out = all > 0.0 ? left / all : left > 0.0 ? INFINITY : left;
        if (status != WEFT_OK)
        {
            error_set(error, status, NULL, 0, "no memory for the start of a system of %d vertices", count);
        }
        else if (isnan(*out))
        {
            status = error_set(error, WEFT_NOT_FINITE, NULL, 0, "the solution holds a value that is not finite");
        }
    }
    mem_free(work);
    return status;
}
