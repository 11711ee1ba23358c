// weft bench thesis-preconditioner: no preconditioner, A-Block and the constrained one (Boxerman's thesis, section
// 5.3.1, figures 5.3 to 5.10), SSOR and incomplete Cholesky beside them, on the systems of the same simulations, with
// the corrected MPCG and tol^2 = 0.01 k. Norms differ between preconditioners, so ratios are also given to the energy
// error with which CP ends (`equal`, on each --energy-every-th system). Can be killed and called again. Options as
// thesis-guess, --scenes LIST (corners,sphere); without cloth-cloth contact only as far as none occurs.
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/common.h"
#include "bench/thesis_solve.h"

enum
{
    CP,
    BLOCK,
    NONE,
    SSOR,
    IC,
    ENTRANTS
};

static const thesis_entrant entrants[ENTRANTS] = {
    [CP] = {"CP", "mpcg", "constrained", NULL, false}, [BLOCK] = {"A-Block", "mpcg", "block", NULL, false},
    [NONE] = {"none", "mpcg", "none", NULL, false},    [SSOR] = {"SSOR", "mpcg", "ssor", NULL, false},
    [IC] = {"IC", "mpcg", "ic", NULL, false},
};

static double ratio(const thesis_table* t, int scene, int a, int b, size_t field)
{
    return thesis_sum(t, scene, a, field) / thesis_sum(t, scene, b, field);
}

// Of iterations a solve over particles.
static double exponent(const thesis_table* t, int scene, int entrant)
{
    double* values = calloc(2 * (size_t)t->set_count, sizeof(double));
    for (int k = 0; values && k < t->set_count; k++)
    {
        const thesis_total* total = thesis_at(t, scene, k, entrant);
        values[k] = total->vertices;
        values[t->set_count + k] = total->iterations / total->systems;
    }
    double slope = values ? thesis_exponent(values, values + t->set_count, t->set_count) : NAN;
    free(values);
    return slope;
}

static const char* mark(bool met)
{
    return met ? "met" : "MISSED";
}

static void print_bars(const thesis_table* t, int scene)
{
    const size_t field = offsetof(thesis_total, iterations);
    const size_t equal = offsetof(thesis_total, equal);
    double cp_none = ratio(t, scene, CP, NONE, field), cp_block = ratio(t, scene, CP, BLOCK, field);
    double even_none = ratio(t, scene, CP, NONE, equal), even_block = ratio(t, scene, CP, BLOCK, equal);
    if (strcmp(t->scene[scene], "corners") == 0)
    {
        double cost = ratio(t, scene, CP, BLOCK, offsetof(thesis_total, seconds)) - 1.0;
        printf("  A-Block equals CP: %s. CP %.0f %% below none (thesis: about 30). Time of CP over A-Block: %+.1f %% "
               "(thesis: 0.8)\n",
               mark(cp_block == 1.0), 100.0 * (1.0 - cp_none), 100.0 * cost);
        return;
    }
    printf("  at equal energy error CP at most 0.7 of none: %s (%.3f; by the stopping rule %.3f). CP not above "
           "A-Block: %s "
           "(%.3f; by the stopping rule %.3f)\n",
           mark(even_none <= 0.7), even_none, cp_none, mark(even_block <= 1.0), even_block, cp_block);
}

static void print(const thesis_table* t)
{
    printf("%d sets of %d (seed %d), %s, %s, tol^2 = 0.01 k\n", t->set_count, t->o.sets, t->o.seed, t->o.model,
           t->o.method);
    for (int scene = 0; scene < t->scene_count; scene++)
    {
        printf("%s\n  %-8s %12s %8s %14s %12s %10s\n", t->scene[scene], "", "iterations", "of none", "equal energy",
               "energy error", "exponent");
        for (int k = 0; k < ENTRANTS; k++)
        {
            static const char* const thesis[ENTRANTS] = {[CP] = "thesis: 0.436", [NONE] = "thesis: 0.512"};
            bool sphere = strcmp(t->scene[scene], "sphere") == 0;
            printf("  %-8s %12.0f %8.3f %14.3f %12.2e %10.3f %s\n", entrants[k].name,
                   thesis_sum(t, scene, k, offsetof(thesis_total, iterations)),
                   ratio(t, scene, k, NONE, offsetof(thesis_total, iterations)),
                   ratio(t, scene, k, NONE, offsetof(thesis_total, equal)),
                   thesis_sum(t, scene, k, offsetof(thesis_total, energy_error)) / t->set_count, exponent(t, scene, k),
                   sphere && thesis[k] ? thesis[k] : "");
        }
        print_bars(t, scene);
    }
}

static void print_json(const thesis_table* t)
{
    printf(
        "{\"benchmark\":\"thesis-preconditioner\",\"seed\":%d,\"share\":%g,\"sets\":%d,\"model\":\"%s\",\"scenes\":[",
        t->o.seed, t->o.share, t->set_count, t->o.model);
    for (int scene = 0; scene < t->scene_count; scene++)
    {
        printf("%s{\"scene\":\"%s\"", scene ? "," : "", t->scene[scene]);
        for (int k = 0; k < ENTRANTS; k++)
        {
            char slope[32];
            printf(",\"%s\":{\"iterations\":%.0f,\"equal\":%.0f,\"exponent\":%s}", entrants[k].name,
                   thesis_sum(t, scene, k, offsetof(thesis_total, iterations)),
                   thesis_sum(t, scene, k, offsetof(thesis_total, equal)), results_json(exponent(t, scene, k), slope));
        }
        printf("}");
    }
    printf("]}\n");
}

static int run(int argc, char** argv, bool json)
{
    thesis_table t = {.list = entrants, .count = ENTRANTS, .reference = CP};
    thesis_options_read(argc, argv, json, "corners,sphere", "implicit-euler", 1.0, &t.o);
    weft_status status = thesis_collect(&t, "thesis-preconditioner", true, argc, argv);
    if (status == WEFT_OK)
    {
        (json ? print_json : print)(&t);
        status = thesis_write(&t, "thesis-preconditioner", "iterations a solve", offsetof(thesis_total, iterations));
    }
    thesis_close(&t);
    return status == WEFT_OK ? 0 : bench_failed("thesis-preconditioner", status);
}

const benchmark bench_thesis_preconditioner = {"thesis-preconditioner",
                                               "no preconditioner, A-Block, CP, SSOR, IC (Boxerman 2003, 5.3.1)", run};
