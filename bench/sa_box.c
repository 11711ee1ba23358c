// weft bench sa-box: does sa-ppcg hold when cloth is not cotton? Stretch, shear and bending stiffness, damping and time
// step, ten times as large and as small: one at a time, then all 32 corners of that box. Can be killed and called
// again: finished cases are in the log.
// Options: --cells N (200), --scenes LIST (pinned,re-entrant), --tessellation regular|irregular, --parts LIST
// (single,corners), those of sa_systems.h and results.h.
#include <math.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/sa_systems.h"

enum
{
    PARAMETER_COUNT = 5,
    SINGLE_COUNT = 1 + 2 * PARAMETER_COUNT, // the scene as it is, and each parameter both ways
    CORNER_COUNT = 1 << PARAMETER_COUNT,
    SCENE_MAX = 2,
    TEXT_COUNT = PARAMETER_COUNT + 1 // stretch has a value for warp and one for weft
};

static const char* const parameter_names[PARAMETER_COUNT] = {"stretch", "shear", "bending", "damping", "h"};
static const char* const scene_names[SCENE_MAX] = {"pinned", "re-entrant"};

// Powers of ten of the five parameters: -1, 0 or 1.
typedef struct powers
{
    int of[PARAMETER_COUNT];
} powers;

typedef struct box
{
    sa_options options;
    results log;
    const char *scenes, *parts;
    int cells;
    bool irregular;
    double stretch_warp, stretch_weft, shear, bending, damping, h; // of the scene
} box;

// The scene's material and time step with the command line's changes, from which the factors count.
static weft_status read_base(box* b)
{
    weft_error error = {0};
    weft_scene* scene = NULL;
    weft_scene_cloth cloth;
    weft_status status = weft_scene_load("pinned", b->options.overrides, b->options.override_count, &scene, &error);
    if (status == WEFT_OK)
    {
        status = weft_scene_cloth_at(scene, 0, &cloth);
        b->stretch_warp = cloth.material.stretch_warp;
        b->stretch_weft = cloth.material.stretch_weft;
        b->shear = cloth.material.shear;
        b->bending = cloth.material.bending;
        b->damping = cloth.material.damping;
        b->h = weft_scene_sim_def(scene)->time_step;
    }
    else
    {
        fprintf(stderr, "weft bench sa-box: %s\n", error.message);
    }
    weft_scene_destroy(scene);
    return status;
}

// One parameter of the box as overrides; texts hold them.
static void set_parameter(const box* b, int parameter, int power, sa_case* c, char texts[TEXT_COUNT][96])
{
    const double base[PARAMETER_COUNT] = {b->stretch_warp, b->shear, b->bending, b->damping, b->h};
    const char* const paths[PARAMETER_COUNT] = {"cloth.0.material.stretch_warp", "cloth.0.material.shear",
                                                "cloth.0.material.bending", "cloth.0.material.damping", "time_step"};
    double factor = power > 0 ? 10.0 : 0.1;
    snprintf(texts[parameter], sizeof(texts[0]), "%s=%.9g", paths[parameter], factor * base[parameter]);
    sa_case_override(c, texts[parameter]);
    if (parameter == 0)
    {
        snprintf(texts[PARAMETER_COUNT], sizeof(texts[0]), "cloth.0.material.stretch_weft=%.9g",
                 factor * b->stretch_weft);
        sa_case_override(c, texts[PARAMETER_COUNT]);
    }
}

static sa_case case_of(const box* b, int scene, const powers* p, char texts[TEXT_COUNT][96])
{
    sa_case c = sa_case_make(&b->options, scene_names[scene], b->cells, b->irregular);
    for (int k = 0; k < PARAMETER_COUNT; k++)
    {
        if (p->of[k] != 0)
        {
            set_parameter(b, k, p->of[k], &c, texts);
        }
    }
    return c;
}

static powers single(int index)
{
    powers p = {0};
    if (index > 0)
    {
        p.of[(index - 1) / 2] = index % 2 ? 1 : -1;
    }
    return p;
}

// Corners in the order of the ratio of stretch to shear, which is what multigrid feels most.
static powers corner(int index)
{
    static const int stretch_shear[4][2] = {{-1, 1}, {-1, -1}, {1, 1}, {1, -1}};
    powers p = {.of = {stretch_shear[index / 8][0], stretch_shear[index / 8][1]}};
    for (int k = 2; k < PARAMETER_COUNT; k++)
    {
        p.of[k] = index >> (k - 2) & 1 ? 1 : -1;
    }
    return p;
}

static weft_status solve_case(box* b, int scene, powers p)
{
    char texts[TEXT_COUNT][96];
    sa_case c = case_of(b, scene, &p, texts);
    sa_system made = {0};
    weft_solver_def def = b->options.def;
    def.solver = "sa-ppcg";
    weft_status status =
        bench_has(b->scenes, scene_names[scene]) ? sa_solve_once(&b->log, &c, &b->options, &def, "", &made) : WEFT_OK;
    sa_system_finish(&made);
    return status;
}

static weft_status solve_part(box* b, const char* part, powers (*at)(int), int count)
{
    weft_status status = WEFT_OK;
    for (int k = 0; k < count * SCENE_MAX && status == WEFT_OK && bench_has(b->parts, part); k++)
    {
        status = solve_case(b, k % SCENE_MAX, at(k / SCENE_MAX));
    }
    return status;
}

static const char* line_of(const box* b, int scene, powers p)
{
    char texts[TEXT_COUNT][96];
    sa_case c = case_of(b, scene, &p, texts);
    weft_solver_def def = b->options.def;
    def.solver = "sa-ppcg";
    return sa_solve_line(&b->log, &c, &def, "");
}

// Iterations, operator complexity, and what went otherwise than asked: halved steps on the way, a solve that failed.
static void print_cell(const box* b, int scene, powers p)
{
    const char* line = line_of(b, scene, p);
    char note[64] = "";
    if (results_number(line, "rejected") > 0.0)
    {
        snprintf(note, sizeof(note), "steps halved");
    }
    if (results_number(line, "escalations") > 0.0)
    {
        snprintf(note, sizeof(note), results_number(line, "escalations") > 1.0 ? "DIRECT SOLVE" : "ESCALATED");
    }
    if (line && !(results_number(line, "converged") > 0.0))
    {
        bool simulated = results_number(line, "vertices") > 0.0;
        snprintf(note, sizeof(note), simulated ? "NOT CONVERGED" : "NOT SIMULATED");
    }
    printf(" %6.0f %6.2f  %-14s", results_number(line, "iterations"), results_number(line, "operator_complexity"),
           note);
}

static double ratio_of(const box* b, powers p)
{
    return b->stretch_warp / b->shear * pow(10.0, p.of[0] - p.of[1]);
}

static void print_row(const box* b, powers p)
{
    printf("%8.4g  ", ratio_of(b, p));
    for (int k = 0; k < PARAMETER_COUNT; k++)
    {
        printf(" %-7s", p.of[k] > 0 ? "x10" : p.of[k] < 0 ? "/10" : "-");
    }
    for (int scene = 0; scene < SCENE_MAX; scene++)
    {
        if (bench_has(b->scenes, scene_names[scene]))
        {
            print_cell(b, scene, p);
        }
    }
    printf("\n");
}

static void print_head(const box* b)
{
    printf("\n stretch/  ");
    for (int k = 0; k < PARAMETER_COUNT; k++)
    {
        printf(" %-7s", parameter_names[k]);
    }
    for (int scene = 0; scene < SCENE_MAX; scene++)
    {
        printf(bench_has(b->scenes, scene_names[scene]) ? "  %-28s" : "%.0s", scene_names[scene]);
    }
    printf("\n   shear   ");
    printf("%*s", 8 * PARAMETER_COUNT, "");
    for (int scene = 0; scene < SCENE_MAX; scene++)
    {
        printf(bench_has(b->scenes, scene_names[scene]) ? "  iterations, complexity      " : "");
    }
    printf("\n");
}

// What a part came to: cases, how many converged, how many of those by escalation, the most iterations.
typedef struct summary
{
    int count, converged, escalated;
    double most;
} summary;

static summary summarize(const box* b, powers (*at)(int), int count)
{
    summary s = {0};
    for (int k = 0; k < count * SCENE_MAX; k++)
    {
        const char* line = line_of(b, k % SCENE_MAX, at(k / SCENE_MAX));
        bool asked = bench_has(b->scenes, scene_names[k % SCENE_MAX]);
        s.count += asked;
        if (asked && results_number(line, "converged") > 0.0)
        {
            s.converged++;
            s.escalated += results_number(line, "escalations") > 0.0;
            s.most = fmax(s.most, results_number(line, "iterations"));
        }
    }
    return s;
}

static void print_tables(const box* b)
{
    printf("sa-box, %d cells, %s: ", b->cells, b->irregular ? "irregular" : "regular");
    sa_print_settings(&b->options);
    if (bench_has(b->parts, "single"))
    {
        print_head(b);
        for (int k = 0; k < SINGLE_COUNT; k++)
        {
            print_row(b, single(k));
        }
        summary s = summarize(b, single, SINGLE_COUNT);
        printf("one at a time: %d of %d converged (%d escalated), at most %.0f iterations (bar: 60): %s\n", s.converged,
               s.count, s.escalated, s.most, s.converged == s.count && s.most <= 60.0 ? "passed" : "MISSED");
    }
    if (bench_has(b->parts, "corners"))
    {
        print_head(b);
        for (int k = 0; k < CORNER_COUNT; k++)
        {
            print_row(b, corner(k));
        }
        summary s = summarize(b, corner, CORNER_COUNT);
        printf("corners: %d of %d converged (bar: all; %d escalated), at most %.0f iterations: %s\n", s.converged,
               s.count, s.escalated, s.most, s.converged == s.count ? "passed" : "MISSED");
    }
}

static void print_part_json(const box* b, const char* part, powers (*at)(int), int count)
{
    const char* separator = "\n";
    summary s = summarize(b, at, count);
    printf(",\n\"%s\":{\"count\":%d,\"converged\":%d,\"escalated\":%d,\"most_iterations\":%.0f,\"cases\":[", part,
           s.count, s.converged, s.escalated, s.most);
    for (int k = 0; k < count * SCENE_MAX; k++)
    {
        const char* line = line_of(b, k % SCENE_MAX, at(k / SCENE_MAX));
        if (line && bench_has(b->scenes, scene_names[k % SCENE_MAX]))
        {
            printf("%s%s", separator, line);
            separator = ",\n";
        }
    }
    printf("]}");
}

static void print_json(const box* b)
{
    printf("{\"benchmark\":\"sa-box\",\"cells\":%d", b->cells);
    if (bench_has(b->parts, "single"))
    {
        print_part_json(b, "single", single, SINGLE_COUNT);
    }
    if (bench_has(b->parts, "corners"))
    {
        print_part_json(b, "corners", corner, CORNER_COUNT);
    }
    printf("}\n");
}

static int run(int argc, char** argv, bool json)
{
    bench_known(argc, argv, SA_OPTIONS " --cells= --scenes= --tessellation= --parts=");
    box b = {.scenes = bench_words(argc, argv, "--scenes", "pinned,re-entrant", "pinned,re-entrant"),
             .parts = bench_words(argc, argv, "--parts", "single,corners", "single,corners"),
             .cells = bench_count(argc, argv, "--cells", 200),
             .irregular =
                 bench_has(bench_words(argc, argv, "--tessellation", "regular", "regular,irregular"), "irregular")};
    weft_status status = sa_options_read(argc, argv, &b.options);
    if (status != WEFT_OK || read_base(&b) != WEFT_OK)
    {
        return 2;
    }
    status = results_open(&b.log, "sa-box", argc, argv);
    status = status == WEFT_OK ? solve_part(&b, "single", single, SINGLE_COUNT) : status;
    status = status == WEFT_OK ? solve_part(&b, "corners", corner, CORNER_COUNT) : status;
    if (status == WEFT_OK)
    {
        json ? print_json(&b) : print_tables(&b);
    }
    results_close(&b.log);
    return status == WEFT_OK ? 0 : bench_failed("sa-box", status);
}

const benchmark bench_sa_box = {"sa-box", "iterations of sa-ppcg with stiffness, damping and time step changed tenfold",
                                run};
