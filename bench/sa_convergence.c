// weft bench sa-convergence: iterations and mean convergence rate of sa-ppcg and diag-pcg against the size of the
// system, figure 5 of Tamstorf, Jones and McCormick 2015. Its two drop scenes need contact; `plane` and `random` of
// bench/sa_systems.h stand in their place. Can be killed and called again: finished cases are in the log.
// Options: --cells LIST (30,100,200,400,600,1000), --scenes LIST, --tessellation LIST, --diag-max N (diag-pcg only up
// to so many cells, 200), those of sa_systems.h and results.h.
#include <math.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/sa_systems.h"

enum
{
    SCENE_COUNT = 5,
    SIZE_MAX_COUNT = 16
};

static const char* const scene_names[SCENE_COUNT] = {"pinned", "drooping", "re-entrant", "plane", "random"};
static const char* const solver_names[2] = {"sa-ppcg", "diag-pcg"};

typedef struct convergence
{
    sa_options options;
    results log;
    const char *scenes, *tessellations;
    int cells[SIZE_MAX_COUNT], size_count, diag_max;
} convergence;

static weft_solver_def solver_def(const convergence* c, int solver)
{
    weft_solver_def def = c->options.def;
    def.solver = solver_names[solver];
    return def;
}

static bool is_asked(const convergence* c, int scene, int irregular, int solver, int cells)
{
    return bench_has(c->scenes, scene_names[scene]) &&
           bench_has(c->tessellations, irregular ? "irregular" : "regular") && (solver == 0 || cells <= c->diag_max);
}

static weft_status solve_case(convergence* c, int scene, int irregular, int cells)
{
    sa_case made_from = sa_case_make(&c->options, scene_names[scene], cells, irregular);
    sa_system made = {0};
    weft_status status = WEFT_OK;
    for (int solver = 0; solver < 2 && status == WEFT_OK; solver++)
    {
        weft_solver_def def = solver_def(c, solver);
        if (is_asked(c, scene, irregular, solver, cells))
        {
            status = sa_solve_once(&c->log, &made_from, &c->options, &def, "", &made);
        }
    }
    sa_system_finish(&made);
    return status;
}

// Small sizes of all scenes first, so that an interrupted run shows something of everything.
static weft_status solve_all(convergence* c)
{
    weft_status status = WEFT_OK;
    for (int k = 0; k < c->size_count * 2 * SCENE_COUNT && status == WEFT_OK; k++)
    {
        status = solve_case(c, k % SCENE_COUNT, k / SCENE_COUNT % 2, c->cells[k / (2 * SCENE_COUNT)]);
    }
    return status;
}

static const char* line_of(const convergence* c, int scene, int irregular, int solver, int size)
{
    if (!is_asked(c, scene, irregular, solver, c->cells[size]))
    {
        return NULL;
    }
    sa_case made_from = sa_case_make(&c->options, scene_names[scene], c->cells[size], irregular);
    weft_solver_def def = solver_def(c, solver);
    return sa_solve_line(&c->log, &made_from, &def, "");
}

static void print_cell(const char* line, const char* what)
{
    char text[32] = "-";
    bool converged = results_number(line, "converged") > 0.0;
    if (line && strcmp(what, "iterations") == 0)
    {
        snprintf(text, sizeof(text), "%.0f%s %.3f", results_number(line, "iterations"),
                 !converged                                  ? "*"
                 : results_number(line, "escalations") > 0.0 ? "+"
                                                             : "",
                 results_number(line, "rate"));
    }
    else if (line)
    {
        snprintf(text, sizeof(text), "%.2f/%.0f", results_number(line, "operator_complexity"),
                 results_number(line, "levels"));
    }
    printf(" %13s", text);
}

static void print_rows(const convergence* c, int solver, const char* what)
{
    for (int k = 0; k < 2 * SCENE_COUNT; k++)
    {
        int scene = k % SCENE_COUNT, irregular = k / SCENE_COUNT;
        if (!is_asked(c, scene, irregular, 0, 0))
        {
            continue;
        }
        printf("%-8s %-10s %-9s", solver_names[solver], scene_names[scene], irregular ? "irregular" : "regular");
        for (int size = 0; size < c->size_count; size++)
        {
            print_cell(line_of(c, scene, irregular, solver, size), what);
        }
        printf("\n");
    }
}

static void print_head(const convergence* c, const char* title)
{
    printf("\n%-29s", title);
    for (int size = 0; size < c->size_count; size++)
    {
        printf(" %13d", (c->cells[size] + 1) * (c->cells[size] + 1));
    }
    printf("\n");
}

// Growth of a row from the first size of at least 10,201 vertices to the last; NaN without two sizes.
typedef struct growth
{
    int from, to; // sizes
    double first, last;
    bool passed;
} growth;

static growth growth_of(const convergence* c, int scene, int irregular)
{
    growth g = {0, c->size_count - 1, NAN, NAN, false};
    while (g.from < g.to && c->cells[g.from] < 100)
    {
        g.from++;
    }
    const char *first = line_of(c, scene, irregular, 0, g.from), *last = line_of(c, scene, irregular, 0, g.to);
    g.first = results_number(first, "converged") > 0.0 ? results_number(first, "iterations") : NAN;
    g.last = results_number(last, "converged") > 0.0 ? results_number(last, "iterations") : NAN;
    g.passed = g.last <= 3.0 * g.first && g.last <= 40.0;
    return g;
}

static const char* verdict_word(const growth* g)
{
    return g->from == g->to ? "one size shows no growth" : g->passed ? "passed" : "MISSED";
}

static void print_verdict(const convergence* c, int scene, int irregular, bool json)
{
    growth g = growth_of(c, scene, irregular);
    const char* tessellation = irregular ? "irregular" : "regular";
    int from = c->cells[g.from], to = c->cells[g.to];
    char a[32], b[32];
    results_json(g.first, a);
    results_json(g.last, b);
    if (json)
    {
        printf("{\"scene\":\"%s\",\"tessellation\":\"%s\",\"cells\":[%d,%d],\"iterations\":[%s,%s],\"passed\":%s}",
               scene_names[scene], tessellation, from, to, a, b, g.passed ? "true" : "false");
        return;
    }
    printf("%-10s %-9s %4d to %4d cells: %s to %s iterations: %s\n", scene_names[scene], tessellation, from, to, a, b,
           verdict_word(&g));
}

static void print_verdicts(const convergence* c, bool json)
{
    const char* separator = "";
    for (int k = 0; k < 2 * SCENE_COUNT; k++)
    {
        if (is_asked(c, k % SCENE_COUNT, k / SCENE_COUNT, 0, 0))
        {
            printf("%s", separator);
            print_verdict(c, k % SCENE_COUNT, k / SCENE_COUNT, json);
            separator = json ? ",\n" : "";
        }
    }
}

static void print_json(const convergence* c)
{
    const char* separator = "\n";
    printf("{\"benchmark\":\"sa-convergence\",\"cases\":[");
    for (int k = 0; k < 4 * SCENE_COUNT * c->size_count; k++)
    {
        const char* line = line_of(c, k / 4 % SCENE_COUNT, k / 2 % 2, k % 2, k / (4 * SCENE_COUNT));
        if (line)
        {
            printf("%s%s", separator, line);
            separator = ",\n";
        }
    }
    printf("],\n\"verdicts\":[");
    print_verdicts(c, true);
    printf("]}\n");
}

static void print_tables(const convergence* c)
{
    printf("sa-convergence: ");
    sa_print_settings(&c->options);
    print_head(c, "iterations, rate; vertices:");
    print_rows(c, 0, "iterations");
    if (c->diag_max >= c->cells[0])
    {
        print_rows(c, 1, "iterations");
    }
    print_head(c, "operator complexity/levels:");
    print_rows(c, 0, "complexity");
    printf("\n* not converged, + escalated. re-entrant has three quarters of the vertices. Bar: at most triple from "
           "10,201 to "
           "1,002,001 "
           "vertices, and at most 40:\n");
    print_verdicts(c, false);
}

static int run(int argc, char** argv, bool json)
{
    static const char scenes[] = "pinned,drooping,re-entrant,plane,random", kinds[] = "regular,irregular";
    bench_known(argc, argv, SA_OPTIONS " --cells= --scenes= --tessellation= --diag-max=");
    convergence c = {.scenes = bench_words(argc, argv, "--scenes", scenes, scenes),
                     .tessellations = bench_words(argc, argv, "--tessellation", kinds, kinds),
                     .diag_max = bench_option(argc, argv, "--diag-max", 200)};
    c.size_count = bench_numbers(argc, argv, "--cells", "30,100,200,400,600,1000", c.cells, SIZE_MAX_COUNT);
    weft_status status = sa_options_read(argc, argv, &c.options);
    if (status != WEFT_OK)
    {
        return 2;
    }
    status = results_open(&c.log, "sa-convergence", argc, argv);
    status = status == WEFT_OK ? solve_all(&c) : status;
    if (status == WEFT_OK)
    {
        json ? print_json(&c) : print_tables(&c);
    }
    results_close(&c.log);
    return status == WEFT_OK ? 0 : bench_failed("sa-convergence", status);
}

const benchmark bench_sa_convergence = {"sa-convergence",
                                        "iterations of sa-ppcg and diag-pcg against the size of the system", run};
