// The last word on a system that its solver has given up: a cold sparse Cholesky, freed afterwards. A step can live
// with a residual that rounding leaves far above the tolerance (stiffness of 1e7 times the mass and more); it cannot
// live with none.
#include <math.h>

#include "solve/solve.h"

// A substep that is solved to this part of its right-hand side is one that step control can judge.
static const double residual_max = 1e-3;

weft_status solver_object_rescue(const solver_object* object, const linear_system* system, vec3* x,
                                 weft_solve_stats* stats)
{
    solver_object direct;
    weft_solve_stats own;
    solve_options options = object->options;
    options.max_iterations = 0;
    options.preconditioner = options.variant = NULL;
    weft_status status = solver_object_init(&direct, solver_cholesky.name, &options, NULL);
    if (status == WEFT_OK)
    {
        status = solver_object_solve(&direct, system, x, &own);
        if (status == WEFT_NOT_CONVERGED && own.residual2 <= residual_max)
        {
            status = WEFT_OK;
        }
    }
    solver_object_finish(&direct);
    if (status == WEFT_OK)
    {
        own.iterations += stats->iterations;
        own.setup_s += stats->setup_s;
        own.solve_s += stats->solve_s;
        *stats = own;
    }
    return status;
}
