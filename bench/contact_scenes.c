// weft bench contact-scenes: does anything pass through? Every shipped scene with contact at its own size and length,
// with friction 0, 0.3 and 1, and with 0.3 from starts whose coordinates are moved by up to 1e-6 m at random; every
// frame, as a cache holds it, goes to the inspector, which shares no code with the collision detection. Reported:
// crossings (of all frames), those that the run itself has listed as squeezed apart from them, as `weft inspect` does;
// pairs that bodies or pins closed on (`squeezed`, summed over steps), the share of vertices that only a rigid zone
// could hold, the largest stretch, seconds. Exit status 1 when there is a crossing or a run broke down. Can be killed
// and called again: finished runs are in the log. Options: --scenes LIST, --starts N (5),
// --threads N (2), --frames N and --cells N (instead of the scene's), --short (a few frames of small sheets, two
// starts: for tests), --set PATH=VALUE, --share K/N (of N processes, each with a --log of its own, this is the K-th and
// takes every N-th run), those of results.h.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/contact_run.h"
#include "bench/results.h"

enum
{
    SETS_MAX = 8,
    SCENE_COUNT = 10,
    FRICTION_COUNT = 3,
    KEY_MAX = 512
};

// The short form reaches the first touches of cloth with cloth or bodies.
static const struct
{
    const char* name;
    int short_cells, short_frames;
} scenes[SCENE_COUNT] = {{"drop-horizontal", 16, 4}, {"drop-vertical", 16, 8}, {"sphere", 16, 12}, {"table", 16, 12},
                         {"slope", 12, 28},          {"stack", 10, 8},         {"ring", 16, 12},   {"twist", 24, 32},
                         {"skirt", 24, 24},          {"ball", 16, 16}};
static const char scene_words[] = "drop-horizontal,drop-vertical,sphere,table,slope,stack,ring,twist,skirt,ball";
static const double frictions[FRICTION_COUNT] = {0.0, 0.3, 1.0};

typedef struct settings
{
    const char* scenes;
    const char* sets[SETS_MAX];
    int set_count, starts, threads, frames, cells;
    int share, shares; // counted from 0; runs are dealt out
    int dealt;
    bool is_short, json;
    results log;
    int failures; // runs with a crossing or broken down
    int rows;
} settings;

// Run 0 to 2 are the frictions; then the starts.
static contact_case case_of(const settings* s, int scene, int run)
{
    return (contact_case){.scene = scenes[scene].name,
                          .sets = s->sets,
                          .set_count = s->set_count,
                          .cells = s->cells > 0  ? s->cells
                                   : s->is_short ? scenes[scene].short_cells
                                                 : 0,
                          .frames = s->frames > 0 ? s->frames
                                    : s->is_short ? scenes[scene].short_frames
                                                  : -1,
                          .friction = run < FRICTION_COUNT ? frictions[run] : 0.3,
                          .start = run < FRICTION_COUNT ? 0 : run - FRICTION_COUNT + 1,
                          .jitter = 1e-6,
                          .threads = s->threads,
                          .checkpoints = true,
                          .inspect = true};
}

static weft_status measure(settings* s, const contact_case* c, const char* key)
{
    contact_totals t;
    char stretch[32];
    TRY(contact_run(c, NULL, NULL, &t));
    double vertex_steps = (double)t.vertices * fmax(t.steps, 1);
    if (t.message[0])
    {
        fprintf(stderr, "weft bench contact-scenes: %s: %s\n", key, t.message);
    }
    return results_add(&s->log, key,
                       "\"vertices\":%d,\"frames\":%d,\"steps\":%d,\"crossings\":%lld,\"crossing_frame\":%d,"
                       "\"squeezed_crossings\":%lld,\"squeezed\":%lld,\"last_resort\":%.6g,\"rejected\":%lld,\"max_"
                       "stretch\":%s,\"completed\":%d,"
                       "\"seconds\":%.4g",
                       t.vertices, t.frames, t.steps, (long long)t.crossings, t.crossing_frame,
                       (long long)t.squeezed_crossings, (long long)t.squeezed, (double)t.last_resort / vertex_steps,
                       (long long)t.rejected, results_json(t.max_stretch, stretch), t.completed, t.seconds);
}

static void print_row(settings* s, const contact_case* c, const char* line)
{
    double crossings = results_number(line, "crossings"), completed = results_number(line, "completed");
    s->failures += crossings != 0.0 || completed != 1.0;
    if (s->json)
    {
        printf("%s%s", s->rows > 0 ? ",\n" : "", line);
    }
    else
    {
        printf("%-16s %8.0f %8g %5d %6.0f %6.0f %9.0f %6.0f %8.0f %11.4f %10.4f %8.1f%s\n", c->scene,
               results_number(line, "vertices"), c->friction, c->start, results_number(line, "frames"),
               results_number(line, "steps"), crossings, results_number(line, "squeezed_crossings"),
               results_number(line, "squeezed"), 100.0 * results_number(line, "last_resort"),
               results_number(line, "max_stretch"), results_number(line, "seconds"),
               completed == 1.0 ? "" : "  broke down");
        fflush(stdout);
    }
    s->rows++;
}

static weft_status run_scene(settings* s, int scene)
{
    for (int run = 0; run < FRICTION_COUNT + s->starts; run++)
    {
        char key[KEY_MAX];
        contact_case c = case_of(s, scene, run);
        if (s->dealt++ % s->shares != s->share)
        {
            continue;
        }
        contact_key(&c, key, sizeof(key));
        if (!results_find(&s->log, key))
        {
            TRY(measure(s, &c, key));
        }
        print_row(s, &c, results_find(&s->log, key));
    }
    return WEFT_OK;
}

static weft_status read_share(int argc, char** argv, settings* s)
{
    const char* text = bench_text(argc, argv, "--share", "1/1");
    char end;
    if (sscanf(text, "%d/%d%c", &s->share, &s->shares, &end) != 2 || s->share < 1 || s->share > s->shares)
    {
        fprintf(stderr, "weft bench contact-scenes: --share takes K/N with K from 1 to N, as 2/8, not %s\n", text);
        return WEFT_BAD_INPUT;
    }
    s->share--;
    return WEFT_OK;
}

static void read_options(int argc, char** argv, settings* s)
{
    bench_known(argc, argv, "--scenes= --starts= --threads= --frames= --cells= --short --set= --share= --log= --fresh");
    s->is_short = bench_flag(argc, argv, "--short");
    s->scenes = bench_words(argc, argv, "--scenes", scene_words, scene_words);
    s->starts = bench_option(argc, argv, "--starts", s->is_short ? 2 : 5);
    s->threads = bench_count(argc, argv, "--threads", 2);
    s->frames = bench_option(argc, argv, "--frames", 0);
    s->cells = bench_option(argc, argv, "--cells", 0);
    s->set_count = bench_texts(argc, argv, "--set", s->sets, SETS_MAX);
}

static void print_head(const settings* s)
{
    if (s->json)
    {
        printf("{\"benchmark\":\"contact-scenes\",\"short\":%s,\"rows\":[\n", s->is_short ? "true" : "false");
        return;
    }
    printf(
        "every frame by the inspector; start: seed of a jitter of 1e-6 m, 0: none; last resort: %% of all vertices of "
        "all steps\n"
        "apart: crossings that the steps list as squeezed\n"
        "scene            vertices friction start frames  steps crossings  apart squeezed last resort    stretch  "
        "seconds\n");
}

static int run(int argc, char** argv, bool json)
{
    settings s = {.json = json};
    read_options(argc, argv, &s);
    if (read_share(argc, argv, &s) != WEFT_OK)
    {
        return 2;
    }
    weft_status status = results_open(&s.log, "contact-scenes", argc, argv);
    if (status != WEFT_OK)
    {
        return bench_failed("contact-scenes", status);
    }
    print_head(&s);
    for (int k = 0; k < SCENE_COUNT && status == WEFT_OK; k++)
    {
        status = bench_has(s.scenes, scenes[k].name) ? run_scene(&s, k) : WEFT_OK;
    }
    if (json)
    {
        printf("],\"failures\":%d}\n", s.failures);
    }
    else
    {
        printf("%d runs, %d with a crossing or broken down\n", s.rows, s.failures);
    }
    results_close(&s.log);
    return status != WEFT_OK ? bench_failed("contact-scenes", status) : s.failures > 0;
}

const benchmark bench_contact_scenes = {
    "contact-scenes", "every scene with contact, each frame inspected, three frictions and jittered starts", run};
