// weft bench tolerance: how tight does a solve have to be for the picture? Each scene runs for some seconds with one
// tolerance after the other, and with the tightest from starts whose coordinates are moved by up to 1e-6 m at random.
// Reported: how far vertices end from where the tightest tolerance brings them, root mean square and largest; how far
// the centre of mass creeps in the second half and the kinetic energy at the end, which tell of rest; iterations and
// milliseconds of setup and solve a step. `sticks` is the sheet of `slope` with friction just above the slope's 0.4663,
// `rests` lies on that slope made level. Cloth that folds is chaotic: what a tolerance changes below
// the spread of the jittered starts, nobody could have known anyway. Can be killed and called again: finished runs are
// in the log. Options: --scenes LIST, --cells N (30), --seconds S (2), --solver NAME (sa-ppcg), --starts N (3),
// --threads N (2),
// --set PATH=VALUE, those of results.h.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/contact_run.h"
#include "bench/results.h"

enum
{
    SETS_MAX = 8,
    TOLERANCE_COUNT = 6,
    KEY_MAX = 512
};

static const char scene_words[] = "pinned,drooping,hang,flag,two-corners,drop-horizontal,drop-vertical,sphere,table,"
                                  "slope,stack,ring,twist,skirt,ball,sticks,rests";
static const char scene_default[] =
    "drooping,flag,two-corners,sphere,table,slope,stack,drop-vertical,twist,skirt,sticks,rests";
static const char* const tolerances[TOLERANCE_COUNT] = {"1e-8", "1e-6", "1e-5",
                                                        "1e-4", "1e-3", "1e-2"}; // tightest first

// Scenes that are made of one that ships.
static const struct
{
    const char *name, *scene;
    const char* sets[2];
} variants[] = {
    {"sticks", "slope", {"contact.friction=0.48", "cloth.0.transform.translate=[0.0, 0.0085, 0]"}},
    {"rests", "slope", {"cloth.0.transform={\"translate\":[0,0.0065,0]}", "obstacles.0.shape.box.rotate=[0,0,0]"}},
};

typedef struct settings
{
    const char *scenes, *solver;
    const char* sets[SETS_MAX];
    int set_count, starts, threads, cells;
    double seconds;
    bool json;
    results log;
    int rows;
} settings;

// One scene, and where its tightest run ended.
typedef struct track
{
    char name[64];
    vec3* expected; // NULL: not run yet in this process
} track;

typedef struct distances
{
    double rms, most; // m
} distances;

static distances apart(const vec3* a, const vec3* b, int count)
{
    distances d = {0};
    for (int i = 0; i < count; i++)
    {
        double way = v3_length(v3_sub(a[i], b[i]));
        d.rms += way * way / count;
        d.most = fmax(d.most, way);
    }
    d.rms = sqrt(d.rms);
    return d;
}

static weft_status simulate(const settings* s, const char* name, const char* tolerance, int start, contact_totals* out,
                            vec3** end)
{
    char text[64];
    const char* scene = name;
    const char* sets[SETS_MAX + 3] = {text};
    int count = 1;
    snprintf(text, sizeof(text), "solver={\"name\":\"%s\",\"tolerance\":%s}", s->solver, tolerance);
    for (size_t k = 0; k < sizeof(variants) / sizeof(variants[0]); k++)
    {
        if (strcmp(name, variants[k].name) == 0)
        {
            scene = variants[k].scene;
            sets[count++] = variants[k].sets[0];
            sets[count++] = variants[k].sets[1];
        }
    }
    memcpy(sets + count, s->sets, (size_t)s->set_count * sizeof(s->sets[0]));
    contact_case c = {.scene = scene,
                      .sets = sets,
                      .set_count = s->set_count + count,
                      .cells = s->cells,
                      .friction = -1.0,
                      .start = start,
                      .jitter = 1e-6,
                      .threads = s->threads,
                      .seconds = s->seconds,
                      .end = end};
    return contact_run(&c, NULL, NULL, out);
}

static weft_status measure(settings* s, track* t, const char* tolerance, int start, const char* key)
{
    contact_totals totals;
    vec3* end = NULL;
    char rms[32], most[32];
    if (!t->expected)
    {
        TRY(simulate(s, t->name, tolerances[0], 0, &totals, &t->expected));
    }
    weft_status status = simulate(s, t->name, tolerance, start, &totals, &end);
    if (status == WEFT_OK)
    {
        distances d = apart(end, t->expected, totals.vertices);
        double steps = fmax(totals.steps, 1);
        status = results_add(&s->log, key,
                             "\"vertices\":%d,\"steps\":%d,\"rms\":%s,\"most\":%s,\"creep\":%.5g,\"kinetic\":%.5g,"
                             "\"iterations\":%.5g,\"solve_ms\":%.5g,\"completed\":%d",
                             totals.vertices, totals.steps, results_json(d.rms, rms), results_json(d.most, most),
                             v3_length(v3_sub(totals.center, totals.half_center)), totals.energy.kinetic,
                             (double)totals.iterations / steps, 1e3 * totals.solve_s / steps, totals.completed);
    }
    mem_free(end);
    return status;
}

static void print_row(settings* s, const track* t, const char* tolerance, int start, const char* line)
{
    if (s->json)
    {
        printf("%s%s", s->rows > 0 ? ",\n" : "", line);
    }
    else
    {
        printf("%-16s %8.0f %9s %5d %12.4f %12.4f %10.2g %10.2g %10.1f %10.2f%s\n", t->name,
               results_number(line, "vertices"), tolerance, start, 1e3 * results_number(line, "rms"),
               1e3 * results_number(line, "most"), 1e3 * results_number(line, "creep"), results_number(line, "kinetic"),
               results_number(line, "iterations"), results_number(line, "solve_ms"),
               results_number(line, "completed") == 1.0 ? "" : "  broke down");
        fflush(stdout);
    }
    s->rows++;
}

static weft_status run_case(settings* s, track* t, const char* tolerance, int start)
{
    char key[KEY_MAX];
    int length = snprintf(key, sizeof(key), "%s cells %d %g s %s %s start %d threads %d", t->name, s->cells, s->seconds,
                          s->solver, tolerance, start, s->threads);
    for (int k = 0; k < s->set_count && length < KEY_MAX; k++)
    {
        length += snprintf(key + length, sizeof(key) - (size_t)length, " %s", s->sets[k]);
    }
    if (!results_find(&s->log, key))
    {
        TRY(measure(s, t, tolerance, start, key));
    }
    print_row(s, t, tolerance, start, results_find(&s->log, key));
    return WEFT_OK;
}

static weft_status run_scene(settings* s, track* t)
{
    for (int k = 1; k <= s->starts; k++)
    {
        TRY(run_case(s, t, tolerances[0], k));
    }
    for (int k = 1; k < TOLERANCE_COUNT; k++)
    {
        TRY(run_case(s, t, tolerances[k], 0));
    }
    return WEFT_OK;
}

static weft_status run_scenes(settings* s)
{
    weft_status status = WEFT_OK;
    for (const char* at = s->scenes; *at && status == WEFT_OK;)
    {
        track t = {0};
        size_t length = strcspn(at, ",");
        snprintf(t.name, sizeof(t.name), "%.*s", (int)length, at);
        status = run_scene(s, &t);
        mem_free(t.expected);
        at += length + (at[length] == ',');
    }
    return status;
}

static int run(int argc, char** argv, bool json)
{
    bench_known(argc, argv, "--scenes= --cells= --seconds= --solver= --starts= --threads= --set= --log= --fresh");
    settings s = {.json = json,
                  .scenes = bench_words(argc, argv, "--scenes", scene_default, scene_words),
                  .solver = bench_text(argc, argv, "--solver", "sa-ppcg"),
                  .starts = bench_option(argc, argv, "--starts", 3),
                  .threads = bench_count(argc, argv, "--threads", 2),
                  .cells = bench_count(argc, argv, "--cells", 30),
                  .seconds = bench_number(argc, argv, "--seconds", 2.0)};
    s.set_count = bench_texts(argc, argv, "--set", s.sets, SETS_MAX);
    weft_status status = results_open(&s.log, "tolerance", argc, argv);
    if (status != WEFT_OK)
    {
        return bench_failed("tolerance", status);
    }
    printf(json ? "{\"benchmark\":\"tolerance\",\"rows\":[\n"
                : "end: distance of vertices from where tolerance 1e-8 brings them; start: seed of a jitter of 1e-6 m\n"
                  "scene            vertices tolerance start  end rms, mm  largest, mm  creep, mm kinetic, J "
                  "iterations  solve, ms\n");
    status = run_scenes(&s);
    printf(json ? "]}\n" : "%d rows\n", s.rows);
    results_close(&s.log);
    return status != WEFT_OK ? bench_failed("tolerance", status) : 0;
}

const benchmark bench_tolerance = {
    "tolerance", "where cloth ends by the solver's tolerance, beside the spread of jittered starts", run};
