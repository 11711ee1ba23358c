// Solves a linear system from Matrix Market files (PREFIX.mtx and what lies beside it): solve PREFIX [SOLVER] [X.mtx]
#include <stdio.h>
#include <stdlib.h>
#include <weft/solver.h>

static int fail(const weft_error* error)
{
    fprintf(stderr, "%s%s%s\n", error->file, error->file[0] ? ": " : "", error->message);
    return 2;
}

int main(int argc, char** argv)
{
    if (argc < 2)
    {
        fprintf(stderr, "usage: solve PREFIX [SOLVER] [X.mtx]\n");
        return 2;
    }
    weft_error error = {0};
    weft_system* system = NULL;
    weft_solver* solver = NULL;
    weft_solver_def def = weft_solver_def_default();
    def.solver = argc > 2 ? argv[2] : "sa-ppcg"; // multigrid; def.sa has its settings
    def.tolerance = 1e-8;
    def.worker_count = 0; // one thread a core
    int code = 0;
    if (weft_system_read(argv[1], &system, &error) != WEFT_OK || weft_solver_create(&def, &solver, &error) != WEFT_OK)
    {
        code = fail(&error);
    }
    int n = system ? weft_system_vertex_count(system) : 0;
    weft_vec3* x = calloc((size_t)n + 1, sizeof(weft_vec3));
    if (code == 0 && x)
    {
        weft_solve_stats stats;
        weft_status status = weft_solver_solve(solver, system, x, &stats);
        printf("%s: %d unknowns, %d levels, %d iterations, residual %.2g, %s\n", stats.solver, 3 * n, stats.level_count,
               stats.iterations, stats.residual2, weft_status_text(status));
        code = status != WEFT_OK;
        if (argc > 3 && weft_vector_write(x, n, argv[3], &error) != WEFT_OK)
        {
            code = fail(&error);
        }
    }
    free(x);
    weft_solver_destroy(solver);
    weft_system_destroy(system);
    return code;
}
