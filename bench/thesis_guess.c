// weft bench thesis-guess: the original MPCG, which starts at z, against the corrected one, which starts from the last
// step (Boxerman's thesis, section 5.2: 45 to 75 % of the iterations). tol^2 = 0.01 k, both on the same systems;
// `equal` are iterations to the energy error that the corrected one ends with, as the two stop by different rules. Can
// be killed and called again: finished runs are in the log. Options: --sets N (500), --share S (0.04: that part of
// them), --seed N (1), --seconds S (1), --side M (1), --cells-max N (80), --scenes LIST (corners,sphere,table,ground),
// --model NAME (choi-ko), --method NAME (implicit-euler), --energy-every N (20), --threads N (1), --rounds N (3), --out
// DIR (CSV, SVG), those of results.h.
#include <math.h>
#include <stddef.h>

#include "bench/bench.h"
#include "bench/common.h"
#include "bench/thesis_solve.h"

static const thesis_entrant entrants[] = {
    {"corrected", "mpcg", "block", "corrected", false},
    {"original", "mpcg", "block", "original", false},
};

static void print(const thesis_table* t)
{
    printf("iterations of the corrected MPCG over those of the original, %d sets of %d (seed %d), %s, %s\n",
           t->set_count, t->o.sets, t->o.seed, t->o.model, t->o.method);
    printf("%-8s %12s %12s %8s %12s %14s   thesis: 0.45 to 0.75\n", "scene", "original", "corrected", "ratio", "median",
           "equal energy");
    for (int scene = 0; scene < t->scene_count; scene++)
    {
        double ratios[1024];
        int count = t->set_count < 1024 ? t->set_count : 1024;
        for (int k = 0; k < count; k++)
        {
            ratios[k] = thesis_at(t, scene, k, 0)->iterations / thesis_at(t, scene, k, 1)->iterations;
        }
        double now = thesis_sum(t, scene, 0, offsetof(thesis_total, iterations)),
               was = thesis_sum(t, scene, 1, offsetof(thesis_total, iterations)),
               equal = thesis_sum(t, scene, 0, offsetof(thesis_total, equal)) /
                       thesis_sum(t, scene, 1, offsetof(thesis_total, equal));
        double ratio = now / was;
        printf("%-8s %12.0f %12.0f %8.3f %12.3f %14.3f   %s\n", t->scene[scene], was, now, ratio,
               thesis_median(ratios, count), equal, ratio >= 0.45 && ratio <= 0.75 ? "within" : "outside");
    }
}

static void print_json(const thesis_table* t)
{
    printf("{\"benchmark\":\"thesis-guess\",\"seed\":%d,\"share\":%g,\"sets\":%d,\"model\":\"%s\",\"method\":\"%s\","
           "\"scenes\":[",
           t->o.seed, t->o.share, t->set_count, t->o.model, t->o.method);
    for (int scene = 0; scene < t->scene_count; scene++)
    {
        printf("%s{\"scene\":\"%s\",\"corrected\":%.0f,\"original\":%.0f,\"thesis\":[0.45,0.75]}", scene ? "," : "",
               t->scene[scene], thesis_sum(t, scene, 0, offsetof(thesis_total, iterations)),
               thesis_sum(t, scene, 1, offsetof(thesis_total, iterations)));
    }
    printf("]}\n");
}

static int run(int argc, char** argv, bool json)
{
    thesis_table t = {.list = entrants, .count = 2};
    thesis_options_read(argc, argv, json, "corners,sphere,table,ground", "implicit-euler", 1.0, &t.o);
    weft_status status = thesis_collect(&t, "thesis-guess", true, argc, argv);
    if (status == WEFT_OK)
    {
        (json ? print_json : print)(&t);
        status = thesis_write(&t, "thesis-guess", "iterations a solve", offsetof(thesis_total, iterations));
    }
    thesis_close(&t);
    return status == WEFT_OK ? 0 : bench_failed("thesis-guess", status);
}

const benchmark bench_thesis_guess = {"thesis-guess",
                                      "the original MPCG against the corrected one (Boxerman 2003, 5.2)", run};
