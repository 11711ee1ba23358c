// weft bench thesis-total: what the thesis's methods give together. Row after row one more of them is switched on:
//   original    backward Euler, modified conjugate gradients as Baraff and Witkin have them, block-diagonal (A-Block)
//   guess       + starts from the last step's acceleration, with the corrected stopping rule (5.2)
//   constrained + the constrained preconditioner (5.3)
//   aimex       + explicit where that is stable, bending always, blocks of zeros taken out (4.4)
//   decomposed  + component by component (chapter 6)
// and beside them what Weft does by default: backward Euler with `auto`, on the same springs and on Baraff and Witkin's
// triangles. "Taken together, the above three methods roughly double to triple the speed of existing cloth simulation
// methods" (chapter 7).
// All rows step side by side, the order turns, and of each step the best of --rounds runs counts: processor seconds of
// the whole step, of the step without what finds contacts and responds to them (of the thesis's time that was some
// 5 %), and seconds in the solver. All solve to tol^2 = 0.01 k, the thesis's, or
// --tolerance. Steps are not halved and nothing takes over, so that all rows take as many; those that Weft would have
// thrown away are counted (`wrong`). With --halvings N they are thrown away, as in any other run, and counted
// (`rejected`). The bend springs' linear start is what an explicit step bears at the corners, so that all rows have one
// model. Can be killed and called again. Options: --scenes LIST (corners,sphere,table,ground,tube), --sizes LIST (1000
// particles; 1000,4000,10000,40000 for all), --seconds S (0.5), --step S (0.01), --density (0.2 kg/m^2), --stretch
// (1000 N/m), --shear (1000 N/m, of diagonals), --bending (1e-5 N m), --bend explicit or criterion, --tolerance T,
// --halvings N (0), --rounds N (2), --out DIR (CSV, plot), those of results.h.
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/page.h"
#include "bench/plot.h"
#include "bench/results.h"
#include "bench/thesis.h"

enum
{
    TIMES = 3, // of a step: whole, without contact, in the solver
    KEY_MAX = 384,
    SIZES_MAX = 8,
    TEXT_MAX = 4096
};

enum
{
    ORIGINAL,
    GUESS,
    CONSTRAINED,
    AIMEX,
    DECOMPOSED,
    AUTO,
    AUTO_TRIANGLES,
    ROWS
};

typedef struct entrant
{
    const char *name, *model, *method, *solver, *preconditioner, *variant; // the last two quoted, or null
    bool compact;
} entrant;

static const entrant entrants[ROWS] = {
    [ORIGINAL] = {"original", "choi-ko", "implicit-euler", "mpcg", "\"block\"", "\"original\"", false},
    [GUESS] = {"+ guess", "choi-ko", "implicit-euler", "mpcg", "\"block\"", "null", false},
    [CONSTRAINED] = {"+ constrained", "choi-ko", "implicit-euler", "mpcg", "\"constrained\"", "null", false},
    [AIMEX] = {"+ aimex", "choi-ko", "aimex", "mpcg", "\"constrained\"", "null", true},
    [DECOMPOSED] = {"+ decomposed", "choi-ko", "aimex", "decomposed:mpcg", "\"constrained\"", "null", true},
    [AUTO] = {"auto", "choi-ko", "implicit-euler", "auto", "null", "null", false},
    [AUTO_TRIANGLES] = {"auto, triangles", "baraff-witkin", "implicit-euler", "auto", "null", "null", false},
};

// Sums over the steps of a run.
typedef struct tally
{
    double steps, particles;
    double seconds, dynamics_s, solver_s; // best of the rounds, step by step
    double iterations, row_products, components;
    double substeps, rejected, wrong, failed;
} tally;

static const struct
{
    const char* name;
    size_t at;
} fields[] = {{"steps", offsetof(tally, steps)},
              {"particles", offsetof(tally, particles)},
              {"seconds", offsetof(tally, seconds)},
              {"solver_s", offsetof(tally, solver_s)},
              {"dynamics_s", offsetof(tally, dynamics_s)},
              {"iterations", offsetof(tally, iterations)},
              {"row_products", offsetof(tally, row_products)},
              {"components", offsetof(tally, components)},
              {"substeps", offsetof(tally, substeps)},
              {"rejected", offsetof(tally, rejected)},
              {"wrong", offsetof(tally, wrong)},
              {"failed", offsetof(tally, failed)}};

enum
{
    FIELDS = sizeof(fields) / sizeof(fields[0])
};

typedef struct total
{
    const char *scenes, *bend, *out;
    int sizes[SIZES_MAX], size_count, halvings, rounds, steps;
    double step, tolerance, density, stretch, shear, bending;
    bool json;
    results log;
} total;

// ---- scenes

static const struct
{
    const char *name, *mesh, *rest; // of mesh: cells along u and v
    double width, height;           // m
} scenes[] = {
    {"corners",
     "\"mesh\":{\"grid\":{\"size\":1,\"cells\":[%d,%d]}},"
     "\"pins\":[{\"where\":{\"corner\":[\"top-left\",\"top-right\"]}}]",
     "\"contact\":{\"enabled\":false}", 1.0, 1.0},
    {"sphere",
     "\"mesh\":{\"grid\":{\"size\":1,\"cells\":[%d,%d]}},"
     "\"transform\":{\"rotate\":[0,20,0],\"translate\":[0.08,0.27,0.04]}",
     "\"obstacles\":[{\"name\":\"sphere\",\"shape\":{\"sphere\":{\"radius\":0.25}}}]", 1.0, 1.0},
    {"table", "\"mesh\":{\"grid\":{\"size\":1,\"cells\":[%d,%d]}},\"transform\":{\"translate\":[0,0.03,0]}",
     "\"obstacles\":[{\"name\":\"table\",\"shape\":{\"box\":{\"size\":[0.6,0.04,0.6]}}}]", 1.0, 1.0},
    {"ground",
     "\"mesh\":{\"grid\":{\"size\":1,\"cells\":[%d,%d]}},"
     "\"transform\":{\"rotate\":[8,0,3],\"translate\":[0,0.17,0]}",
     "\"obstacles\":[{\"name\":\"ground\",\"shape\":{\"box\":{\"center\":[0,-0.1,0],\"size\":[4,0.2,4]}}}]", 1.0, 1.0},
    // The skirt of `skirt`, on a body that turns at once and does not step.
    {"tube",
     "\"mesh\":{\"grid\":{\"size\":[1.2,0.55],\"cells\":[%d,%d],\"plane\":\"xy\",\"shape\":\"tube\"}},"
     "\"warp\":[0,1,0],\"transform\":{\"translate\":[0,0.775,0]},"
     "\"pins\":[{\"where\":{\"edge\":\"top\"},\"path\":[{\"time\":0},{\"time\":2,\"angle\":180}],\"axis\":[0,1,0]}]",
     "\"obstacles\":[{\"name\":\"hips\",\"shape\":{\"capsule\":{\"from\":[0,0.95,0],\"to\":[0,1.1,0],\"radius\":0.16}},"
     "\"motion\":{\"path\":[{\"time\":0},{\"time\":2,\"angle\":180}],\"axis\":[0,1,0]}},"
     "{\"name\":\"left\",\"shape\":{\"capsule\":{\"from\":[0.09,0.1,0],\"to\":[0.09,0.85,0],\"radius\":0.06}},"
     "\"motion\":{\"path\":[{\"time\":0},{\"time\":2,\"angle\":180}],\"axis\":[0,1,0]}},"
     "{\"name\":\"right\",\"shape\":{\"capsule\":{\"from\":[-0.09,0.1,0],\"to\":[-0.09,0.85,0],\"radius\":0.06}},"
     "\"motion\":{\"path\":[{\"time\":0},{\"time\":2,\"angle\":180}],\"axis\":[0,1,0]}}]",
     1.2, 0.55},
};

enum
{
    SCENES = sizeof(scenes) / sizeof(scenes[0])
};

// Cells that are nearly square, for about so many particles.
static void cells_of(int scene, int particles, int cells[2])
{
    double across = sqrt(particles * scenes[scene].width / scenes[scene].height);
    bool tube = strcmp(scenes[scene].name, "tube") == 0;
    cells[0] = int_max((int)lround(across) - !tube, 3);
    cells[1] = int_max((int)lround(particles / across) - 1, 2);
}

// k_stretch and k_shear of connections as a material: docs/springs.md.
static void scene_text(const total* a, int scene, int particles, const entrant* e, char* text)
{
    char mesh[TEXT_MAX / 2], model[128];
    int cells[2];
    cells_of(scene, particles, cells);
    snprintf(mesh, sizeof(mesh), scenes[scene].mesh, cells[0], cells[1]);
    double spacing = scenes[scene].width / cells[0], corner = 0.25 * a->density * spacing * spacing;
    bool springs = strcmp(e->model, "choi-ko") == 0;
    snprintf(model, sizeof(model), springs ? "{\"name\":\"%s\",\"bend_start\":%.9g}" : "\"%s\"", e->model,
             0.1 * corner / (a->step * a->step));
    double stretch = a->stretch + 0.3 * a->shear;
    snprintf(text, TEXT_MAX,
             "{\"time_step\":%.17g,\"model\":%s,\"method\":\"%s\","
             "\"solver\":{\"name\":\"%s\",\"preconditioner\":%s,\"variant\":%s,\"tolerance\":%.17g},"
             "\"step_control\":{\"max_halvings\":%d},"
             "\"cloth\":[{\"name\":\"sheet\",%s,\"material\":{\"density\":%.17g,\"stretch_warp\":%.17g,"
             "\"stretch_weft\":%.17g,\"shear\":%.17g,\"bending\":%.17g,\"damping\":1e-5}}],%s}",
             a->step, model, e->method, e->solver, e->preconditioner, e->variant, a->tolerance, a->halvings, mesh,
             a->density, stretch, stretch, 0.5 * a->shear, a->bending, scenes[scene].rest);
}

static weft_sim* make_sim(const total* a, int scene, int particles, const entrant* e)
{
    char text[TEXT_MAX];
    weft_error error = {0};
    weft_scene* parsed = NULL;
    weft_sim* sim = NULL;
    scene_text(a, scene, particles, e, text);
    weft_status status = weft_scene_parse(scenes[scene].name, text, NULL, 0, &parsed, &error);
    status = status == WEFT_OK ? weft_scene_create_sim(parsed, 1, &sim, &error) : status;
    weft_scene_destroy(parsed);
    if (status == WEFT_OK)
    {
        weft_sim_def_set(&sim->def, "aimex", "criterion", 0.2, NULL);
        weft_sim_def_set(&sim->def, "aimex", "bend_explicit", strcmp(a->bend, "explicit") == 0, NULL);
        weft_sim_def_set(&sim->def, "aimex", "compact", e->compact, NULL);
        status = sim_build(sim, &error);
    }
    if (status != WEFT_OK)
    {
        fprintf(stderr, "weft bench: %s, %s: %s\n", scenes[scene].name, e->name, error.message);
        weft_sim_destroy(sim);
        return NULL;
    }
    a->halvings == 0 ? method_object_finish(&sim->world.fallback) : (void)0;
    return sim;
}

// ---- a run

// Counts are those of the first round; best has TIMES numbers a step.
static void step_once(weft_sim* sim, int round, double* best, tally* t)
{
    weft_step_stats stats = {0};
    thesis_clock clock;
    if (t->failed > 0.0 || thesis_step(sim, &stats, NULL, &clock) != WEFT_OK)
    {
        t->failed = 1.0;
        return;
    }
    const double times[TIMES] = {clock.whole_s, clock.whole_s - clock.contact_s, stats.setup_s + stats.solve_s};
    for (int k = 0; k < TIMES; k++)
    {
        best[k] = round == 0 ? times[k] : fmin(best[k], times[k]);
    }
    if (round == 0)
    {
        t->steps += 1.0;
        t->iterations += stats.iterations;
        t->row_products += stats.row_products;
        t->components += stats.components;
        t->substeps += stats.substeps;
        t->rejected += stats.rejected;
        t->wrong += stats.forced;
    }
}

static weft_status run_round(const total* a, int scene, int particles, int round, double* best, tally* out)
{
    weft_sim* sims[ROWS] = {0};
    bool ok = true;
    for (int row = 0; row < ROWS; row++)
    {
        sims[row] = make_sim(a, scene, particles, &entrants[row]);
        ok = ok && sims[row];
        out[row].particles = sims[row] ? sims[row]->model.vertex_count : 0.0;
    }
    for (int k = 0; ok && k < a->steps; k++)
    {
        for (int turn = 0; turn < ROWS; turn++)
        {
            int row = (turn + k + round) % ROWS;
            step_once(sims[row], round, best + TIMES * ((size_t)row * (size_t)a->steps + (size_t)k), &out[row]);
        }
    }
    for (int row = 0; row < ROWS; row++)
    {
        weft_sim_destroy(sims[row]);
    }
    return ok ? WEFT_OK : WEFT_UNSUPPORTED;
}

static weft_status run_case(const total* a, int scene, int particles, tally out[ROWS])
{
    double* best = MEM_NEW(TIMES * ROWS * (size_t)a->steps, double);
    weft_status status = best ? WEFT_OK : WEFT_NO_MEMORY;
    memset(out, 0, ROWS * sizeof(*out));
    for (int round = 0; round < a->rounds && status == WEFT_OK; round++)
    {
        status = run_round(a, scene, particles, round, best, out);
    }
    for (int k = 0; best && k < ROWS * a->steps; k++)
    {
        const double* times = best + TIMES * (size_t)k;
        out[k / a->steps].seconds += times[0];
        out[k / a->steps].dynamics_s += times[1];
        out[k / a->steps].solver_s += times[2];
    }
    mem_free(best);
    return status;
}

// ---- the log

static double* field_at(tally* t, int field)
{
    return (double*)((char*)t + fields[field].at);
}

static void key_of(const total* a, int scene, int particles, int row, char* key)
{
    snprintf(key, KEY_MAX,
             "%s %d %s k %g steps %d tolerance %g density %g stretch %g shear %g bending %g %s halvings %d rounds %d",
             scenes[scene].name, particles, entrants[row].name, a->step, a->steps, a->tolerance, a->density, a->stretch,
             a->shear, a->bending, a->bend, a->halvings, a->rounds);
}

static bool read_case(const total* a, int scene, int particles, tally out[ROWS])
{
    char key[KEY_MAX];
    bool there = true;
    for (int row = 0; row < ROWS; row++)
    {
        key_of(a, scene, particles, row, key);
        const char* line = results_find(&a->log, key);
        there = there && line;
        for (int f = 0; f < FIELDS; f++)
        {
            *field_at(&out[row], f) = results_number(line, fields[f].name);
        }
    }
    return there;
}

static weft_status write_case(total* a, int scene, int particles, tally out[ROWS])
{
    char key[KEY_MAX], text[512];
    for (int row = 0; row < ROWS; row++)
    {
        int length = 0;
        for (int f = 0; f < FIELDS; f++)
        {
            length += snprintf(text + length, sizeof(text) - (size_t)length, "%s\"%s\":%.9g", f ? "," : "",
                               fields[f].name, *field_at(&out[row], f));
        }
        key_of(a, scene, particles, row, key);
        TRY(results_add(&a->log, key, "%s", text));
    }
    return WEFT_OK;
}

static weft_status measure(total* a, int scene, int particles, tally out[ROWS])
{
    if (read_case(a, scene, particles, out))
    {
        return WEFT_OK;
    }
    fprintf(stderr, "%s, %d particles\n", scenes[scene].name, particles);
    TRY(run_case(a, scene, particles, out));
    return write_case(a, scene, particles, out);
}

// ---- what came out

static void print_case(const total* a, int scene, const tally t[ROWS])
{
    printf("\n%s, %.0f particles\n"
           "                 seconds  speed-up  without contact  speed-up  solver s  speed-up  iterations  row "
           "products  components  substeps  %s\n",
           scenes[scene].name, t[0].particles, a->halvings > 0 ? "rejected  forced" : "   wrong");
    for (int row = 0; row < ROWS; row++)
    {
        const tally* r = &t[row];
        printf("%-15s %8.3f  %8.2f  %15.3f  %8.2f  %8.3f  %8.2f  %10.0f  %12.4g  %10.1f  %8.0f", entrants[row].name,
               r->seconds, t[0].seconds / r->seconds, r->dynamics_s, t[0].dynamics_s / r->dynamics_s, r->solver_s,
               t[0].solver_s / r->solver_s, r->iterations, r->row_products, r->components / r->steps, r->substeps);
        a->halvings > 0 ? printf("  %8.0f", r->rejected) : 0;
        printf("  %8.0f%s\n", r->wrong, r->failed > 0.0 ? "  FAILED" : "");
    }
    double whole = t[ORIGINAL].seconds / t[DECOMPOSED].seconds, solver = t[ORIGINAL].solver_s / t[DECOMPOSED].solver_s;
    printf("  in all at least 2: %s (%.2f; without contact %.2f; solver alone %.2f); thesis: 2 to 3\n",
           whole >= 2.0 ? "met" : "MISSED", whole, t[ORIGINAL].dynamics_s / t[DECOMPOSED].dynamics_s, solver);
}

static void print_json_case(const total* a, int scene, const tally t[ROWS], bool first)
{
    printf("%s{\"scene\":\"%s\",\"particles\":%.0f,\"rows\":[", first ? "" : ",", scenes[scene].name, t[0].particles);
    for (int row = 0; row < ROWS; row++)
    {
        printf("%s{\"name\":\"%s\"", row ? "," : "", entrants[row].name);
        for (int f = 0; f < FIELDS; f++)
        {
            tally copy = t[row];
            printf(",\"%s\":%.9g", fields[f].name, *field_at(&copy, f));
        }
        printf("}");
    }
    printf("],\"in_all\":%.4g,\"dynamics_in_all\":%.4g,\"solver_in_all\":%.4g}",
           t[ORIGINAL].seconds / t[DECOMPOSED].seconds, t[ORIGINAL].dynamics_s / t[DECOMPOSED].dynamics_s,
           t[ORIGINAL].solver_s / t[DECOMPOSED].solver_s);
    (void)a;
}

static void write_csv(const void* context, FILE* out)
{
    const total* a = context;
    fprintf(out,
            "scene,row,model,method,solver,time_step_s,tolerance,density_kg_m2,stretch_N_m,shear_N_m,bending_N_m,bend,"
            "halvings,rounds");
    for (int f = 0; f < FIELDS; f++)
    {
        fprintf(out, ",%s", fields[f].name);
    }
    for (int k = 0; k < SCENES * a->size_count * ROWS; k++)
    {
        tally t[ROWS];
        int scene = k / ROWS / a->size_count, row = k % ROWS;
        if (!bench_has(a->scenes, scenes[scene].name) || !read_case(a, scene, a->sizes[k / ROWS % a->size_count], t))
        {
            continue;
        }
        const entrant* e = &entrants[row];
        fprintf(out, "\n%s,\"%s\",%s,%s,%s,%g,%g,%g,%g,%g,%g,%s,%d,%d", scenes[scene].name, e->name, e->model,
                e->method, e->solver, a->step, a->tolerance, a->density, a->stretch, a->shear, a->bending, a->bend,
                a->halvings, a->rounds);
        for (int f = 0; f < FIELDS; f++)
        {
            fprintf(out, ",%.9g", *field_at(&t[row], f));
        }
    }
    fprintf(out, "\n");
}

// Speed-up over the original, a curve a scene, row after row.
static void write_plot(const void* context, FILE* out)
{
    const total* a = context;
    static double x[SCENES * SIZES_MAX][ROWS], y[SCENES * SIZES_MAX][ROWS];
    plot p = {.title = "speed-up over the original, whole steps, largest size",
              .x_title = "switched on: 0 original, 1 guess, 2 constrained, 3 aimex, 4 decomposed",
              .y_title = "times",
              .y_guide = 2.0};
    for (int scene = 0; scene < SCENES; scene++)
    {
        tally t[ROWS];
        if (!bench_has(a->scenes, scenes[scene].name) || !read_case(a, scene, a->sizes[a->size_count - 1], t))
        {
            continue;
        }
        for (int row = 0; row <= DECOMPOSED; row++)
        {
            x[scene][row] = row;
            y[scene][row] = t[0].seconds / t[row].seconds;
        }
        plot_add(&p, (plot_line){.x = x[scene],
                                 .y = y[scene],
                                 .count = DECOMPOSED + 1,
                                 .colour = scene,
                                 .marker = scene % PLOT_MARKERS});
        plot_add_key(
            &p, (plot_key){.name = scenes[scene].name, .colour = scene, .marker = scene % PLOT_MARKERS, .line = true});
    }
    plot_write(&p, out);
}

// ---- command

static weft_status run_cases(total* a)
{
    bool first = true;
    for (int k = 0; k < a->size_count * SCENES; k++)
    {
        tally t[ROWS];
        int scene = k % SCENES;
        if (!bench_has(a->scenes, scenes[scene].name))
        {
            continue;
        }
        TRY(measure(a, scene, a->sizes[k / SCENES], t));
        a->json ? print_json_case(a, scene, t, first) : print_case(a, scene, t);
        fflush(stdout);
        first = false;
    }
    if (a->out)
    {
        TRY(page_file(a->out, "thesis-total.csv", write_csv, a));
        TRY(page_file(a->out, "thesis-total.svg", write_plot, a));
    }
    return WEFT_OK;
}

static void read_options(total* a, int argc, char** argv)
{
    bench_known(argc, argv,
                "--scenes= --sizes= --seconds= --step= --tolerance= --density= --stretch= --shear= --bending= --bend= "
                "--halvings= "
                "--rounds= --out= --log= --fresh");
    static const char all[] = "corners,sphere,table,ground,tube";
    a->scenes = bench_words(argc, argv, "--scenes", all, all);
    a->size_count = bench_numbers(argc, argv, "--sizes", "1000", a->sizes, SIZES_MAX);
    double seconds = bench_number(argc, argv, "--seconds", 0.5);
    a->step = bench_number(argc, argv, "--step", 0.01);
    a->tolerance = bench_number(argc, argv, "--tolerance", 0.1 * sqrt(fmax(a->step, 0.0)));
    a->density = bench_number(argc, argv, "--density", 0.2);
    a->stretch = bench_number(argc, argv, "--stretch", 1000.0);
    a->shear = bench_number(argc, argv, "--shear", 1000.0);
    a->bending = bench_number(argc, argv, "--bending", 1e-5);
    a->bend = bench_words(argc, argv, "--bend", "explicit", "explicit,criterion");
    a->halvings = bench_option(argc, argv, "--halvings", 0);
    a->rounds = bench_count(argc, argv, "--rounds", 2);
    a->out = bench_text(argc, argv, "--out", NULL);
    if (!(a->tolerance > 0.0 && a->tolerance < 1.0))
    {
        bench_refuse(argc, argv, "--tolerance must be between 0 and 1");
    }
    if (!(a->step >= 1e-4 && a->step <= 0.1) || !(seconds >= a->step && seconds <= 100.0))
    {
        bench_refuse(argc, argv, "--step must be from 0.0001 to 0.1 s, --seconds from one step to 100");
    }
    for (int k = 0; k < a->size_count; k++)
    {
        if (a->sizes[k] < 16 || a->sizes[k] > 1000000)
        {
            bench_refuse(argc, argv, "--sizes must be from 16 to 1000000 particles");
        }
    }
    a->steps = (int)lround(seconds / a->step);
}

static int run(int argc, char** argv, bool json)
{
    total a = {.json = json};
    read_options(&a, argc, argv);
    printf(json ? "{\"benchmark\":\"thesis-total\",\"step\":%g,\"steps\":%d,\"tolerance\":%g,\"density\":%g,"
                  "\"stretch\":%g,\"shear\":%g,"
                  "\"bending\":%g,\"halvings\":%d,\"rounds\":%d,\"cases\":["
                : "k = %g s, %d steps, tolerance %g, density %g kg/m^2, stretch %g, shear %g N/m, bending %g N m, "
                  "halvings %d, best of "
                  "%d\n",
           a.step, a.steps, a.tolerance, a.density, a.stretch, a.shear, a.bending, a.halvings, a.rounds);
    weft_status status = results_open(&a.log, "thesis-total", argc, argv);
    status = status == WEFT_OK ? run_cases(&a) : status;
    printf(json ? "]}\n" : "");
    results_close(&a.log);
    return status == WEFT_OK ? 0 : bench_failed("thesis-total", status);
}

const benchmark bench_thesis_total = {
    "thesis-total", "what Boxerman's methods give together, one after the other, beside Weft's default", run};
