// CHOLMOD beside the factor of local/global; see local_global_cholmod.h.
#include "bench/local_global_cholmod.h"

#include <stdio.h>
#include <string.h>

#include "bench/curtain.h"

// What is solved: rows of held vertices are those of the identity.
static void held_values(const global_step* g, const bsr_pattern* pattern, double* values)
{
    for (int i = 0; i < pattern->row_count; i++)
    {
        for (int slot = pattern->row_start[i]; slot < pattern->row_start[i + 1]; slot++)
        {
            int j = pattern->column[slot];
            bool held = g->held[i] || g->held[j];
            values[slot] = !held ? g->values[slot] : i == j ? 1.0 : 0.0;
        }
    }
}

static double farthest(const vec3* a, const vec3* b, int count)
{
    double most = 0.0, size = 0.0;
    for (int i = 0; i < count; i++)
    {
        most = fmax(most, v3_length(v3_sub(a[i], b[i])));
        size = fmax(size, v3_length(b[i]));
    }
    return most / size;
}

static void print_way(const own_times* own, const scalar_times* times, int way, double off, bool json)
{
    if (json)
    {
        printf(
            ",\n{\"part\":\"cholmod\",\"way\":%d,\"nnz\":%.0f,\"factor_ms\":%.4g,\"solve_ms\":%.4g,\"turn_ratio\":%.4g,"
            "\"factor_ratio\":%.4g,\"off\":%.3g}",
            way, times->nonzeros, 1e3 * times->factor, 1e3 * times->solve, own->turn / times->solve,
            own->factor / times->factor, off);
        return;
    }
    printf("CHOLMOD, %s: nnz(L) %.0f, factor %.2f ms, cholmod_solve2 of three sides %.3f ms (answers differ by %.1g)\n"
           "  one turn takes %.2f of its solve (1 wanted), a factor %.2f of its factor (2 wanted)\n",
           way == 0 ? "supernodal over METIS" : "as it chooses", times->nonzeros, 1e3 * times->factor,
           1e3 * times->solve, off, own->turn / times->solve, own->factor / times->factor);
}

static weft_status measure_ways(const linear_solver* solver, const scalar_trial* trial, const own_times* own,
                                cholmod_output* out)
{
    weft_status status = WEFT_OK;
    for (int way = 0; status == WEFT_OK; way++)
    {
        scalar_times times;
        status = solver->scalar(trial, way, &times);
        if (status == WEFT_OK)
        {
            print_way(own, &times, way, farthest(trial->x, own->x, trial->pattern->row_count), out->json);
            out->rows++;
        }
    }
    return status == WEFT_NOT_FOUND ? WEFT_OK : status;
}

weft_status local_global_cholmod(const global_step* g, const bsr_pattern* pattern, const own_times* own, int rounds,
                                 cholmod_output* out)
{
    const linear_solver* solver;
    if (linear_solver_find("cholmod", &solver, NULL) != WEFT_OK)
    {
        out->json ? (void)0 : (void)printf("this build has no cholmod to compare with: script/build cholmod\n");
        return WEFT_OK;
    }
    double* values = MEM_NEW(pattern->block_count, double);
    vec3 *b = MEM_NEW(pattern->row_count, vec3), *x = MEM_NEW(pattern->row_count, vec3);
    weft_status status = WEFT_NO_MEMORY;
    if (values && b && x)
    {
        held_values(g, pattern, values);
        for (int i = 0; i < pattern->row_count; i++)
        {
            b[i] = g->held[i] ? v3(0, 0, 0) : own->b[i];
        }
        scalar_trial trial = {pattern, values, b, x, 4 * rounds, processor_seconds};
        status = measure_ways(solver, &trial, own, out);
    }
    mem_free(values);
    mem_free(b);
    mem_free(x);
    return status;
}
