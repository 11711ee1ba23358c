// weft bench sa-speed: wall time of a cold setup and solve, sa-ppcg against the other solvers, on `pinned` and with
// half of the vertices on a plane. Rounds go through all solvers in turn, so that a change of the machine's load hits
// all of them; the best round counts. diag-pcg is held against its byte floor at the bandwidth of a triad loop of the
// same rounds. Can be killed and called again: finished solves are in the log (figures of several runs then meet in one
// table). Options: --cells LIST (200,400,1000), --plane-cells N (400; 0: none), --rounds N (3), --solvers LIST,
// --direct-max N (cholesky and cholmod only up to so many cells, 400), those of sa_systems.h and results.h.
#include <math.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/sa_systems.h"

enum
{
    SOLVER_COUNT = 6,
    SIZE_MAX_COUNT = 16,
    TRIAD_PASSES = 20
};

static const char* const solver_names[SOLVER_COUNT] = {"sa-ppcg", "diag-pcg", "diag-ppcg",
                                                       "sa-pcg",  "cholesky", "cholmod"};

typedef struct speed
{
    sa_options options;
    results log;
    const char* solvers;
    int cells[SIZE_MAX_COUNT], size_count, plane_cells, direct_max;
    triad bandwidth;
    workers* pool;
} speed;

static bool is_asked(const speed* s, const sa_case* c, int solver)
{
    const linear_solver* found;
    bool direct = strncmp(solver_names[solver], "chol", 4) == 0;
    return bench_has(s->solvers, solver_names[solver]) && (!direct || c->cells <= s->direct_max) &&
           linear_solver_find(solver_names[solver], &found, NULL) == WEFT_OK;
}

static weft_solver_def solver_def(const speed* s, int solver)
{
    weft_solver_def def = s->options.def;
    def.solver = solver_names[solver];
    return def;
}

static void triad_key(const speed* s, const sa_case* c, int round, char out[SA_KEY_SIZE])
{
    char name[SA_KEY_SIZE];
    sa_case_name(c, name);
    int room = SA_KEY_SIZE - 64;
    snprintf(out, SA_KEY_SIZE, "%.*s | triad threads=%d round=%d", room, name, s->options.threads, round);
}

// Bandwidth of this round, right before its diag-pcg.
static weft_status measure_triad(speed* s, const sa_case* c, int round)
{
    char key[SA_KEY_SIZE];
    triad_key(s, c, round, key);
    if (results_find(&s->log, key))
    {
        return WEFT_OK;
    }
    double best = INFINITY;
    for (int k = 0; k < TRIAD_PASSES; k++)
    {
        best = fmin(best, triad_seconds(&s->bandwidth, s->pool));
    }
    return results_add(&s->log, key, "\"bytes_a_second\":%.6g", triad_bytes(&s->bandwidth) / best);
}

static weft_status solve_case(speed* s, const sa_case* c)
{
    sa_system made = {0};
    weft_status status = WEFT_OK;
    for (int round = 1; round <= s->options.rounds && status == WEFT_OK; round++)
    {
        char suffix[32];
        snprintf(suffix, sizeof(suffix), " round=%d", round);
        for (int solver = 0; solver < SOLVER_COUNT && status == WEFT_OK; solver++)
        {
            weft_solver_def def = solver_def(s, solver);
            status = is_asked(s, c, solver) ? sa_solve_once(&s->log, c, &s->options, &def, suffix, &made) : WEFT_OK;
            status = status == WEFT_OK && solver == 0 ? measure_triad(s, c, round) : status;
        }
    }
    sa_system_finish(&made);
    return status;
}

// ---- tables

static double seconds_of(const char* line)
{
    return results_number(line, "setup_s") + results_number(line, "solve_s");
}

// The line of the fastest round, or NULL.
static const char* best_line(const speed* s, const sa_case* c, int solver)
{
    const char* best = NULL;
    weft_solver_def def = solver_def(s, solver);
    for (int round = 1; round <= s->options.rounds && is_asked(s, c, solver); round++)
    {
        char suffix[32];
        snprintf(suffix, sizeof(suffix), " round=%d", round);
        const char* line = sa_solve_line(&s->log, c, &def, suffix);
        best = line && !(seconds_of(best) <= seconds_of(line)) ? line : best;
    }
    return best;
}

static double best_bandwidth(const speed* s, const sa_case* c)
{
    double best = NAN;
    for (int round = 1; round <= s->options.rounds; round++)
    {
        char key[SA_KEY_SIZE];
        triad_key(s, c, round, key);
        best = fmax(best, results_number(results_find(&s->log, key), "bytes_a_second"));
    }
    return best;
}

// Time of solver a over that of solver b; NaN where one did not run or converge.
static double time_ratio(const speed* s, const sa_case* c, int a, int b)
{
    const char *first = best_line(s, c, a), *second = best_line(s, c, b);
    bool both = results_number(first, "converged") > 0.0 && results_number(second, "converged") > 0.0;
    return both ? seconds_of(first) / seconds_of(second) : NAN;
}

// Time of a diag-pcg iteration over that of moving its bytes once.
static double over_floor(const speed* s, const sa_case* c)
{
    const char* line = best_line(s, c, 1);
    double bytes = floor_iteration(results_number(line, "vertices"), results_number(line, "blocks"));
    double iteration = results_number(line, "solve_s") / results_number(line, "iterations");
    return iteration / (bytes / best_bandwidth(s, c));
}

static void print_solver(const speed* s, const sa_case* c, int solver)
{
    const char* line = best_line(s, c, solver);
    double iterations = results_number(line, "iterations");
    char rate[64] = "-", count[32] = "-";
    if (iterations > 0.0)
    {
        snprintf(count, sizeof(count), "%.0f", iterations);
        snprintf(rate, sizeof(rate), "%.3g", 1e3 * results_number(line, "solve_s") / iterations);
    }
    printf("  %-10s %9.3f %9.3f %9.3f %10s %10s %9.2f %9.2e %9.2e %9.0f%s\n", solver_names[solver],
           results_number(line, "setup_s"), results_number(line, "solve_s"), seconds_of(line), count, rate,
           time_ratio(s, c, 1, solver), results_number(line, "residual2"), results_number(line, "energy_error"),
           1e-6 * results_number(line, "bytes"), results_number(line, "converged") > 0.0 ? "" : "  NOT CONVERGED");
}

static void print_case(const speed* s, const sa_case* c)
{
    printf("\n%s, %d vertices, triad %.1f GB/s\n"
           "  solver       setup s   solve s    both s iterations    ms each  speed-up  residual    energy        MB\n"
           "                                                                             (2-norm)     error\n",
           c->scene, sa_case_vertices(c), 1e-9 * best_bandwidth(s, c));
    for (int solver = 0; solver < SOLVER_COUNT; solver++)
    {
        if (best_line(s, c, solver))
        {
            print_solver(s, c, solver);
        }
    }
    printf(
        "  speed-up is diag-pcg's time over the solver's; an iteration of diag-pcg takes %.2f times its byte floor\n",
        over_floor(s, c));
}

static double bar_of(int cells)
{
    return cells >= 1000 ? 7.0 : cells >= 400 ? 3.5 : cells >= 200 ? 1.5 : NAN;
}

static void print_verdict(const sa_case* c, const char* what, double value, double bar)
{
    if (isnan(value) || isnan(bar))
    {
        printf("%-7s %4d cells: %s %.2f: %s\n", c->scene, c->cells, what, value,
               isnan(value) ? "not measured" : "no bar at this size");
        return;
    }
    printf("%-7s %4d cells: %s %.2f (bar: at least %.3g): %s\n", c->scene, c->cells, what, value, bar,
           value >= bar ? "passed" : "MISSED");
}

static sa_case size_case(const speed* s, int size)
{
    return sa_case_make(&s->options, "pinned", s->cells[size], false);
}

static sa_case plane_case(const speed* s)
{
    return sa_case_make(&s->options, "plane", s->plane_cells, false);
}

static void print_tables(const speed* s)
{
    printf("sa-speed: best of %d rounds, ", s->options.rounds);
    sa_print_settings(&s->options);
    sa_case plane = plane_case(s);
    for (int size = 0; size < s->size_count; size++)
    {
        sa_case c = size_case(s, size);
        print_case(s, &c);
    }
    if (s->plane_cells > 0)
    {
        print_case(s, &plane);
    }
    printf("\n");
    for (int size = 0; size < s->size_count; size++)
    {
        sa_case c = size_case(s, size);
        print_verdict(&c, "diag-pcg's time over sa-ppcg's", time_ratio(s, &c, 1, 0), bar_of(c.cells));
    }
    if (s->plane_cells > 0)
    {
        print_verdict(&plane, "sa-pcg's time over sa-ppcg's", time_ratio(s, &plane, 3, 0), 3.0);
        print_verdict(&plane, "diag-pcg's time over diag-ppcg's", time_ratio(s, &plane, 1, 2), 1.0);
    }
}

static void print_case_json(const speed* s, const sa_case* c)
{
    char t[4][32];
    const char* separator = "";
    printf("{\"scene\":\"%s\",\"cells\":%d,\"vertices\":%d,\"triad_bytes_a_second\":%s,\"diag_pcg_over_sa_ppcg\":%s,"
           "\"sa_pcg_over_sa_ppcg\":%s,\"diag_pcg_iteration_over_floor\":%s,\"solves\":[",
           c->scene, c->cells, sa_case_vertices(c), results_json(best_bandwidth(s, c), t[0]),
           results_json(time_ratio(s, c, 1, 0), t[1]), results_json(time_ratio(s, c, 3, 0), t[2]),
           results_json(over_floor(s, c), t[3]));
    for (int solver = 0; solver < SOLVER_COUNT; solver++)
    {
        const char* line = best_line(s, c, solver);
        printf(line ? "%s\n%s" : "%.0s%.0s", separator, line ? line : "");
        separator = line ? "," : separator;
    }
    printf("]}");
}

static void print_json(const speed* s)
{
    printf("{\"benchmark\":\"sa-speed\",\"threads\":%d,\"rounds\":%d,\"cases\":[\n", s->options.threads,
           s->options.rounds);
    for (int size = 0; size < s->size_count; size++)
    {
        sa_case c = size_case(s, size);
        print_case_json(s, &c);
        printf(size + 1 < s->size_count || s->plane_cells > 0 ? ",\n" : "");
    }
    if (s->plane_cells > 0)
    {
        sa_case c = plane_case(s);
        print_case_json(s, &c);
    }
    printf("]}\n");
}

static weft_status solve_all(speed* s)
{
    weft_status status = triad_init(&s->bandwidth);
    for (int size = 0; size < s->size_count && status == WEFT_OK; size++)
    {
        sa_case c = size_case(s, size);
        status = solve_case(s, &c);
    }
    if (status == WEFT_OK && s->plane_cells > 0)
    {
        sa_case c = plane_case(s);
        status = solve_case(s, &c);
    }
    return status;
}

static int run(int argc, char** argv, bool json)
{
    static const char all[] = "sa-ppcg,diag-pcg,diag-ppcg,sa-pcg,cholesky,cholmod";
    bench_known(argc, argv, SA_OPTIONS " --cells= --plane-cells= --solvers= --direct-max=");
    speed s = {
        .solvers = bench_words(argc, argv, "--solvers", all, all),
        .plane_cells = bench_option(argc, argv, "--plane-cells", 400),
        .direct_max = bench_option(argc, argv, "--direct-max", 400),
    };
    s.size_count = bench_numbers(argc, argv, "--cells", "200,400,1000", s.cells, SIZE_MAX_COUNT);
    weft_status status = sa_options_read(argc, argv, &s.options);
    if (status != WEFT_OK)
    {
        return 2;
    }
    s.options.rounds = bench_count(argc, argv, "--rounds", 3);
    s.options.energy_max = bench_option(argc, argv, "--energy-max", 200000);
    status = workers_create(s.options.threads, NULL, &s.pool);
    status = status == WEFT_OK ? results_open(&s.log, "sa-speed", argc, argv) : status;
    status = status == WEFT_OK ? solve_all(&s) : status;
    if (status == WEFT_OK)
    {
        json ? print_json(&s) : print_tables(&s);
    }
    results_close(&s.log);
    triad_finish(&s.bandwidth);
    workers_destroy(s.pool);
    return status == WEFT_OK ? 0 : bench_failed("sa-speed", status);
}

const benchmark bench_sa_speed = {"sa-speed", "time of a cold setup and solve, sa-ppcg against the other solvers", run};
