// weft bench sa-table1: table 1 and figures 6 to 9 of Tamstorf, Jones and McCormick 2015, over the solves of real
// animations: cotton, hinge bending, h = 2 ms, `pinned`, `drooping` and `re-entrant` as they ship, and `plane` (see
// sa_systems.h) for figure 8. Every solver lives through the animation, so that what is reused from step to step is
// reused here; a cold sa-ppcg stands beside it. Small sizes take all steps of the scene, larger ones consecutive steps
// from its beginning, and expensive solvers only some of those; the output says how many. Can be killed and called
// again: finished solves are in the log.
// Options: --cells LIST (30,60,100,200,400,600,1000), --scenes LIST (pinned,drooping,re-entrant,plane), --tessellation
// LIST (regular,irregular), --solvers LIST, --full-max N (all steps up to so many cells, 100), --steps N (instead, for
// all sizes; 20 beyond full-max), --from K (10), --diag-every K (1 up to 200 cells, 5 up to 400, 10 beyond; diag-ppcg
// and sa-pcg too), --direct-every K (1 up to 100, 5 up to 200, 10 beyond), --cold-every K (1 up to 200, 5 beyond),
// --direct-max N (600), --plane-max N (400), --trace N (3 steps), --trace-max N (400), --out DIR (CSV, SVG, page),
// those of sa_systems.h but for --step, --rounds, --keep and --energy-max, those of results.h.
#include <string.h>

#include "bench/bench.h"
#include "bench/sa_table1.h"

static weft_status read_scene(table1* t)
{
    weft_error error = {0};
    weft_scene* scene = NULL;
    weft_status status = weft_scene_load("pinned", t->options.overrides, t->options.override_count, &scene, &error);
    if (status != WEFT_OK)
    {
        fprintf(stderr, "weft bench sa-table1: %s\n", error.message);
        return status;
    }
    t->scene_steps = weft_scene_frames(scene) * weft_scene_steps_per_frame(scene);
    weft_scene_destroy(scene);
    return WEFT_OK;
}

static void make_rows(table1* t)
{
    for (int kind = 0; kind < 2 * TABLE1_SCENES; kind++)
    {
        const char* scene = table1_scenes[kind / 2];
        bool irregular = kind % 2;
        bool asked = bench_has(t->scenes, scene) && bench_has(t->tessellations, irregular ? "irregular" : "regular");
        for (int size = 0; size < t->size_count && asked; size++)
        {
            if (strcmp(scene, "plane") != 0 || t->cells[size] <= t->plane_max)
            {
                table1_animation(t, scene, t->cells[size], irregular, &t->rows[t->row_count++]);
            }
        }
    }
}

// Size by size, so that a run that is killed leaves whole tables of the small ones.
static weft_status measure(table1* t)
{
    weft_status status = WEFT_OK;
    for (int size = 0; size < t->size_count && status == WEFT_OK; size++)
    {
        for (int k = 0; k < t->row_count && status == WEFT_OK; k++)
        {
            bool now = t->rows[k].a.c.cells == t->cells[size];
            status = now ? sa_animation_run(&t->rows[k].a, &t->options, &t->log) : WEFT_OK;
        }
    }
    return status;
}

static weft_status fill_rows(table1* t)
{
    for (int k = 0; k < t->row_count; k++)
    {
        TRY(sa_course_init(&t->rows[k].course, &t->rows[k].a, &t->log));
        table1_row_fill(&t->rows[k]);
    }
    return WEFT_OK;
}

static void read_options(int argc, char** argv, table1* t)
{
    static const char all[] = "sa-ppcg,diag-pcg,diag-ppcg,sa-pcg,cholesky,cholmod,auto";
    static const char scenes[] = "pinned,drooping,re-entrant,plane", kinds[] = "regular,irregular";
    bench_known(argc, argv,
                "--threads= --tolerance= --set= --log= --fresh --cells= --scenes= --tessellation= --solvers= "
                "--full-max= --steps= --from= --diag-every= --direct-every= --cold-every= --direct-max= --plane-max= "
                "--trace= --trace-max= --out=");
    t->scenes = bench_words(argc, argv, "--scenes", scenes, scenes);
    t->tessellations = bench_words(argc, argv, "--tessellation", kinds, kinds);
    t->solvers = bench_words(argc, argv, "--solvers", all, all);
    t->size_count = bench_numbers(argc, argv, "--cells", "30,60,100,200,400,600,1000", t->cells, TABLE1_SIZE_MAX);
    t->full_max = bench_option(argc, argv, "--full-max", 100);
    t->steps = bench_option(argc, argv, "--steps", 0);
    t->from = bench_option(argc, argv, "--from", 0);
    t->diag_every = bench_option(argc, argv, "--diag-every", 0);
    t->direct_every = bench_option(argc, argv, "--direct-every", 0);
    t->cold_every = bench_option(argc, argv, "--cold-every", 0);
    t->direct_max = bench_option(argc, argv, "--direct-max", 600);
    t->plane_max = bench_option(argc, argv, "--plane-max", 400);
    t->trace = bench_option(argc, argv, "--trace", 3);
    t->trace_max = bench_option(argc, argv, "--trace-max", 400);
    t->out = bench_text(argc, argv, "--out", NULL);
    for (int k = 0; k < t->size_count; k++)
    {
        if (t->cells[k] < 2)
        {
            bench_refuse(argc, argv, "--cells %d: a sheet has at least 2 cells a side", t->cells[k]);
        }
    }
}

static void finish(table1* t)
{
    for (int k = 0; k < t->row_count; k++)
    {
        sa_course_finish(&t->rows[k].course);
    }
    mem_free(t->rows);
    results_close(&t->log);
    triad_finish(&t->bandwidth);
    workers_destroy(t->pool);
}

static int run(int argc, char** argv, bool json)
{
    table1 t = {0};
    read_options(argc, argv, &t);
    if (sa_options_read(argc, argv, &t.options) != WEFT_OK || read_scene(&t) != WEFT_OK)
    {
        return 2;
    }
    t.rows = MEM_NEW(TABLE1_ROWS_MAX, table1_row);
    weft_status status = t.rows ? workers_create(t.options.threads, NULL, &t.pool) : WEFT_NO_MEMORY;
    status = status == WEFT_OK ? results_open(&t.log, "sa-table1", argc, argv) : status;
    if (status == WEFT_OK)
    {
        make_rows(&t);
        status = measure(&t);
    }
    status = status == WEFT_OK ? fill_rows(&t) : status;
    if (status == WEFT_OK)
    {
        json ? table1_print_json(&t) : table1_print(&t);
        status = t.out ? table1_write(&t) : WEFT_OK;
    }
    finish(&t);
    return status == WEFT_OK ? 0 : bench_failed("sa-table1", status);
}

const benchmark bench_sa_table1 = {"sa-table1", "the paper's table 1: solvers side by side over whole animations", run};
