// weft bench drop: the scenes drop-horizontal and drop-vertical of Tamstorf, Jones and McCormick 2015 from start to
// end, with several solvers. Every frame goes to the inspector. Reported for each: crossings, setup and solve a step,
// its ratio diag-pcg / sa-ppcg, the share of steps in which multigrid made all of its hierarchy anew, and how far the
// end is from that of the first solver: the centre of mass relative to the way that it has come, the energy relative to
// what was lost since the start. Each solver simulates for itself: in drop-vertical the folds part with time, so times
// are means over whole animations. Exit status 1 when there is a crossing or a run broke down. Can be killed and called
// again: finished animations are in the log.
// Options: --cells LIST (30,100,200), --scenes LIST, --tessellation LIST (regular,irregular), --solvers LIST
// (diag-pcg,sa-ppcg,auto), --frames N (15 and 25), --threads N (2), --set PATH=VALUE, those of results.h.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/contact_run.h"
#include "bench/results.h"

enum
{
    SETS_MAX = 8,
    SIZES_MAX = 8,
    SOLVER_COUNT = 3,
    KEY_MAX = 512
};

static const char* const solver_names[SOLVER_COUNT] = {"diag-pcg", "sa-ppcg", "auto"};

typedef struct settings
{
    const char *scenes, *tessellations, *solvers;
    const char* sets[SETS_MAX];
    int set_count, threads, frames, cells[SIZES_MAX], size_count;
    bool json;
    results log;
    int failures, rows;
} settings;

static contact_case case_of(const settings* s, const char* scene, const char* tessellation, int cells, int solver)
{
    return (contact_case){.scene = scene,
                          .solver = solver_names[solver],
                          .tessellation = tessellation,
                          .sets = s->sets,
                          .set_count = s->set_count,
                          .cells = cells,
                          .frames = s->frames > 0 ? s->frames : -1,
                          .friction = -1.0,
                          .threads = s->threads,
                          .inspect = true};
}

static weft_status measure(settings* s, const contact_case* c, const char* key)
{
    contact_totals t;
    TRY(contact_run(c, NULL, NULL, &t));
    if (t.message[0])
    {
        fprintf(stderr, "weft bench drop: %s: %s\n", key, t.message);
    }
    double steps = fmax(t.steps, 1);
    return results_add(
        &s->log, key,
        "\"vertices\":%d,\"frames\":%d,\"steps\":%d,\"completed\":%d,\"crossings\":%lld,\"squeezed\":%lld,"
        "\"last_resort\":%.6g,\"solve_s\":%.6g,\"contact_s\":%.6g,\"step_s\":%.6g,\"iterations\":%.6g,\"full_setups\":"
        "%.6g,\"max_stretch\":%.6g,\"start_x\":%.9g,\"start_y\":%.9g,\"start_z\":%.9g,\"x\":%.9g,\"y\":%.9g,\"z\":%.9g,"
        "\"start_energy\":%.9g,\"energy\":%.9g,\"seconds\":%.5g",
        t.vertices, t.frames, t.steps, t.completed, (long long)t.crossings, (long long)t.squeezed,
        (double)t.last_resort / (t.vertices * steps), t.solve_s / steps, t.contact_s / steps, t.step_s / steps,
        (double)t.iterations / steps, t.full_setups / steps, t.max_stretch, t.start_center.x, t.start_center.y,
        t.start_center.z, t.center.x, t.center.y, t.center.z, t.start_energy.total, t.energy.total, t.seconds);
}

static vec3 place(const char* line, bool start)
{
    return v3(results_number(line, start ? "start_x" : "x"), results_number(line, start ? "start_y" : "y"),
              results_number(line, start ? "start_z" : "z"));
}

// How far an end is from that of the first solver, as shares.
static void compare(const char* line, const char* first, double* center, double* energy)
{
    vec3 way = v3_sub(place(first, false), place(first, true));
    *center = v3_length(v3_sub(place(line, false), place(first, false))) / v3_length(way);
    double end = results_number(first, "energy"), lost = results_number(first, "start_energy") - end;
    *energy = fabs(results_number(line, "energy") - end) / fabs(lost);
}

static void print_row(settings* s, const contact_case* c, const char* line, const char* first, const char* sa)
{
    double center, energy, ratio = results_number(line, "solve_s") / results_number(sa, "solve_s");
    compare(line, first, &center, &energy);
    bool completed = results_number(line, "completed") == 1.0;
    s->failures += results_number(line, "crossings") != 0.0 || !completed;
    if (s->json)
    {
        char text[3][32];
        printf("%s{\"scene\":\"%s\",\"tessellation\":\"%s\",\"solver\":\"%s\",\"over_sa\":%s,\"center_difference\":%s,"
               "\"energy_difference\":%s,\"run\":%s}",
               s->rows > 0 ? ",\n" : "", c->scene, c->tessellation, c->solver, results_json(ratio, text[0]),
               results_json(center, text[1]), results_json(energy, text[2]), line);
    }
    else
    {
        printf("%-15s %-9s %8.0f %-8s %9.0f %11.3f %10.3f %10.2f %9.1f %11.1f %8.2f %8.2f %8.0f%s\n", c->scene,
               c->tessellation, results_number(line, "vertices"), c->solver, results_number(line, "crossings"),
               100.0 * results_number(line, "last_resort"), 1e3 * results_number(line, "solve_s"), ratio,
               results_number(line, "iterations"), 100.0 * results_number(line, "full_setups"), 100.0 * center,
               100.0 * energy, results_number(line, "seconds"), completed ? "" : "  broke down");
        fflush(stdout);
    }
    s->rows++;
}

// One animation with all solvers.
static weft_status run_group(settings* s, const char* scene, const char* tessellation, int cells)
{
    const char *lines[SOLVER_COUNT] = {0}, *first = NULL;
    for (int k = 0; k < SOLVER_COUNT; k++)
    {
        char key[KEY_MAX];
        contact_case c = case_of(s, scene, tessellation, cells, k);
        contact_key(&c, key, sizeof(key));
        if (!bench_has(s->solvers, c.solver))
        {
            continue;
        }
        if (!results_find(&s->log, key))
        {
            TRY(measure(s, &c, key));
        }
        lines[k] = results_find(&s->log, key);
        first = first ? first : lines[k];
    }
    for (int k = 0; k < SOLVER_COUNT; k++)
    {
        contact_case c = case_of(s, scene, tessellation, cells, k);
        if (lines[k])
        {
            print_row(s, &c, lines[k], first, lines[1]);
        }
    }
    return WEFT_OK;
}

static weft_status run_size(settings* s, int cells)
{
    static const char* const scenes[] = {"drop-horizontal", "drop-vertical"};
    static const char* const tessellations[] = {"regular", "irregular"};
    for (int k = 0; k < 4; k++)
    {
        bool asked = bench_has(s->scenes, scenes[k / 2]) && bench_has(s->tessellations, tessellations[k % 2]);
        TRY(asked ? run_group(s, scenes[k / 2], tessellations[k % 2], cells) : WEFT_OK);
    }
    return WEFT_OK;
}

static void read_options(int argc, char** argv, settings* s)
{
    static const char scenes[] = "drop-horizontal,drop-vertical", kinds[] = "regular,irregular";
    static const char solvers[] = "diag-pcg,sa-ppcg,auto";
    bench_known(argc, argv, "--cells= --scenes= --tessellation= --solvers= --frames= --threads= --set= --log= --fresh");
    s->scenes = bench_words(argc, argv, "--scenes", scenes, scenes);
    s->tessellations = bench_words(argc, argv, "--tessellation", kinds, kinds);
    s->solvers = bench_words(argc, argv, "--solvers", solvers, solvers);
    s->size_count = bench_numbers(argc, argv, "--cells", "30,100,200", s->cells, SIZES_MAX);
    s->frames = bench_option(argc, argv, "--frames", 0);
    s->threads = bench_count(argc, argv, "--threads", 2);
    s->set_count = bench_texts(argc, argv, "--set", s->sets, SETS_MAX);
}

static void print_head(const settings* s)
{
    if (s->json)
    {
        printf("{\"benchmark\":\"drop\",\"threads\":%d,\"rows\":[\n", s->threads);
        return;
    }
    printf("whole animations, %d threads; setup and solve, means a step; centre and energy: %% from those of the first "
           "solver\n"
           "scene           mesh      vertices solver   crossings last resort   solve ms    over sa iterations full "
           "setups %%  centre   energy  seconds\n",
           s->threads);
}

static int run(int argc, char** argv, bool json)
{
    settings s = {.json = json};
    read_options(argc, argv, &s);
    weft_status status = results_open(&s.log, "drop", argc, argv);
    if (status != WEFT_OK)
    {
        return bench_failed("drop", status);
    }
    print_head(&s);
    for (int k = 0; k < s.size_count && status == WEFT_OK; k++)
    {
        status = run_size(&s, s.cells[k]);
    }
    if (json)
    {
        printf("],\"failures\":%d}\n", s.failures);
    }
    else
    {
        printf("%d animations, %d with a crossing or broken down\n", s.rows, s.failures);
    }
    results_close(&s.log);
    return status != WEFT_OK ? bench_failed("drop", status) : s.failures > 0;
}

const benchmark bench_drop = {"drop", "drop-horizontal and drop-vertical of the SA paper with three solvers", run};
