// weft bench local-global: the experiments of Liu et al. 2013 on the curtain, a sheet of 1 m and 1 kg that swings from
// two corners, all springs of one stiffness k, without damping and contact, in steps of 1/30 s. Errors are the paper's
// (15): (g - g*) / (g0 - g*) of one step, g0 at y, g* the least that Newton to convergence and 2,000 accelerated turns
// find. Times are of the processor, on one thread. Parts (--parts LIST):
//   match       errors after 1, 10, 100 and 1000 plain turns by k: the paper states the errors, but no k
//   curve       errors and times of all methods at --k N/m (50, the nearest)
//   frames      ten frames, every fourth: errors in the time of one Newton iteration, turns and time to 1e-4
//   speed       one turn against the bytes of the factor, and against CHOLMOD where the build has it
//   stiffness, resolution   figure 3: mean errors of plain turns over 50 frames
//   table       table 1: factor, its bytes and a turn of all six objects, the paper's rows beside them
//   contact     whole frames at 60 Hz with self-contact and a body
//   semi        how often the matrix of the semi-implicit step is indefinite
// Options: --cells N (80), --k K (50), --frame N (20), --rounds N (5), --turns N (10; of contact).
#include <stdio.h>

#include "bench/bench.h"
#include "bench/common.h"
#include "bench/curtain.h"
#include "bench/local_global_cholmod.h"
#include "bench/local_global_contact.h"
#include "bench/local_global_table.h"
#include "step/global_step.h"

static const char parts_all[] = "match,curve,frames,speed,table,contact,stiffness,resolution,semi";

static const char* const way_names[WAY_COUNT] = {"local/global", "Chebyshev",  "Anderson",
                                                 "quasi-Newton", "Newton-PCG", "Newton-Cholesky"};

// What the paper prints of its curtain (figure 2).
static const struct
{
    int turns;
    double ms, error;
} paper[] = {{1, 5.4, 0.361}, {10, 50.6, 0.196}, {100, 501, 0.0402}, {1000, 5050, 2.98e-4}};

enum
{
    PAPER_COUNT = sizeof(paper) / sizeof(paper[0])
};

typedef struct settings
{
    const char* parts;
    int cells, frame, rounds, turns;
    double k;
    bool json;
    int rows;
} settings;

// ---- output: a row is text, or an object of the list of rows

static void row(settings* s, const char* text, const char* json)
{
    s->json ? printf("%s{%s}", s->rows > 0 ? ",\n" : "", json) : printf("%s\n", text);
    s->rows++;
    fflush(stdout);
}

static void head(const settings* s, const char* text)
{
    if (!s->json)
    {
        printf("%s\n", text);
    }
}

// ---- parts

// Plain errors by k at one frame, and their distance from the paper's.
static weft_status part_match(settings* s)
{
    static const double list[] = {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000};
    char text[256], json[256];
    head(s, "\nk, N/m   h^2 k/m  error after 1, 10, 100, 1000 plain turns        distance (root mean square of log10)\n"
            "paper             0.361     0.196     0.0402    0.000298");
    for (size_t n = 0; n < sizeof(list) / sizeof(list[0]); n++)
    {
        curtain c;
        double e[PAPER_COUNT], distance = 0.0;
        weft_status status = curtain_create(&c, s->cells, list[n], 1.0 / 30.0);
        status = status == WEFT_OK ? curtain_advance(&c, s->frame) : status;
        status = status == WEFT_OK ? curtain_reference(&c) : status;
        for (int k = 0; k < PAPER_COUNT && status == WEFT_OK; k++)
        {
            status = curtain_error(&c, PLAIN, paper[k].turns, &e[k]);
            distance += pow(log10(fmax(e[k], 1e-12) / paper[k].error), 2) / PAPER_COUNT;
        }
        curtain_finish(&c);
        TRY(status);
        double vertices = (s->cells + 1.0) * (s->cells + 1.0);
        snprintf(text, sizeof(text), "%-8g %7.3g  %-9.3g %-9.3g %-9.3g %-9.3g  %.2f", list[n],
                 list[n] * vertices / 900.0, e[0], e[1], e[2], e[3], sqrt(distance));
        snprintf(json, sizeof(json), "\"part\":\"match\",\"k\":%g,\"errors\":[%.4g,%.4g,%.4g,%.4g],\"distance\":%.3g",
                 list[n], e[0], e[1], e[2], e[3], sqrt(distance));
        row(s, text, json);
    }
    return WEFT_OK;
}

static void curve_row(settings* s, int way, int turns, double seconds, double error)
{
    char text[256], json[256], beside[64] = "";
    for (int k = 0; k < PAPER_COUNT && way == PLAIN; k++)
    {
        if (paper[k].turns == turns)
        {
            snprintf(beside, sizeof(beside), "  %6g %8.3g", paper[k].ms, paper[k].error);
        }
    }
    if (way == NEWTON_PCG && turns == 1)
    {
        snprintf(beside, sizeof(beside), "  %6g %8.4g", 181.0, 0.2496);
    }
    snprintf(text, sizeof(text), "%-16s %6d %10.3f %10.3g%s", way_names[way], turns, 1e3 * seconds, error, beside);
    snprintf(json, sizeof(json), "\"part\":\"curve\",\"way\":\"%s\",\"turns\":%d,\"ms\":%.4g,\"error\":%.4g",
             way_names[way], turns, 1e3 * seconds, error);
    row(s, text, json);
}

static weft_status part_curve(settings* s, curtain* c)
{
    static const int turns[2][8] = {{1, 3, 10, 30, 100, 300, 1000, 0}, {1, 2, 3, 5, 10, 20, 40, 0}};
    head(s, "\nmethod            turns  ours, ms      error   paper, ms    error");
    TRY(curtain_reference(c));
    for (int way = 0; way < WAY_COUNT; way++)
    {
        for (const int* n = turns[way >= NEWTON_PCG]; *n > 0; n++)
        {
            double error, seconds;
            TRY(curtain_measure(c, way, *n, *n > 30 ? 1 : s->rounds, &error, &seconds));
            curve_row(s, way, *n, seconds, error);
        }
    }
    return WEFT_OK;
}

// Seconds of one turn, from runs that differ by 20 of them.
static weft_status turn_seconds(curtain* c, int way, int rounds, double* seconds)
{
    double error, few, many;
    TRY(curtain_measure(c, way, 10, rounds, &error, &few));
    TRY(curtain_measure(c, way, 30, rounds, &error, &many));
    *seconds = (many - few) / 20.0;
    return WEFT_OK;
}

typedef struct frame_row
{
    double newton_s, newton_error, error[2]; // of the faster Newton; plain and accelerated in its time
    int within[2], turns[2];                 // turns in its time, and to 1e-4
    double seconds[2];                       // to 1e-4
    bool elsewhere;
} frame_row;

static weft_status frame_measure(curtain* c, int rounds, frame_row* r)
{
    double error, seconds, each;
    TRY(curtain_reference(c));
    r->elsewhere = c->elsewhere;
    TRY(curtain_measure(c, NEWTON_CHOLESKY, 1, rounds, &r->newton_error, &r->newton_s));
    TRY(curtain_measure(c, NEWTON_PCG, 1, rounds, &error, &seconds));
    if (seconds < r->newton_s)
    {
        r->newton_s = seconds;
        r->newton_error = error;
    }
    for (int k = 0; k < 2; k++)
    {
        int way = k == 0 ? PLAIN : QUASI_NEWTON;
        TRY(turn_seconds(c, way, rounds, &each));
        r->within[k] = int_max(1, (int)(r->newton_s / each));
        TRY(curtain_error(c, way, r->within[k], &r->error[k]));
        TRY(curtain_turns_to(c, way, 1e-4, &r->turns[k]));
        r->seconds[k] = r->turns[k] * each;
    }
    return WEFT_OK;
}

static weft_status part_frames(settings* s, curtain* c)
{
    enum
    {
        FRAMES = 10
    };
    int better[2] = {0}, eighth = 0, fifth = 0;
    char text[300], json[400];
    head(s, "\nframe  one Newton iteration   in its time: local/global   quasi-Newton     to 1e-4: local/global  "
            "quasi-Newton\n"
            "           ms      error        turns    error     turns    error       turns      ms     turns     ms");
    for (int n = 0; n < FRAMES; n++)
    {
        frame_row r = {0};
        TRY(curtain_advance(c, n > 0 ? 4 : 0));
        TRY(frame_measure(c, s->rounds, &r));
        better[0] += r.error[0] < r.newton_error;
        better[1] += r.error[1] < r.newton_error;
        eighth += 8 * r.turns[1] <= r.turns[0];
        fifth += 5.0 * r.seconds[1] <= r.seconds[0];
        snprintf(text, sizeof(text), "%5d %8.2f %10.3g   %10d %8.3g %9d %8.3g  %10d %7.0f %9d %6.0f%s",
                 (int)c->w->state.step_count, 1e3 * r.newton_s, r.newton_error, r.within[0], r.error[0], r.within[1],
                 r.error[1], r.turns[0], 1e3 * r.seconds[0], r.turns[1], 1e3 * r.seconds[1],
                 r.elsewhere ? "  other minimum" : "");
        snprintf(json, sizeof(json),
                 "\"part\":\"frames\",\"frame\":%d,\"newton_ms\":%.4g,\"newton_error\":%.4g,\"plain_error\":%.4g,"
                 "\"accelerated_error\":%.4g,\"plain_turns\":%d,\"accelerated_turns\":%d,\"other_minimum\":%s",
                 (int)c->w->state.step_count, 1e3 * r.newton_s, r.newton_error, r.error[0], r.error[1], r.turns[0],
                 r.turns[1], r.elsewhere ? "true" : "false");
        row(s, text, json);
    }
    snprintf(text, sizeof(text),
             "lower error than Newton: local/global in %d of %d frames (8 wanted), quasi-Newton in %d (all wanted)\n"
             "1e-4 by quasi-Newton in an eighth of the plain turns: %d, in a fifth of the time: %d of %d frames",
             better[0], FRAMES, better[1], eighth, fifth, FRAMES);
    head(s, text);
    return WEFT_OK;
}

static double solve_seconds(global_step* g, curtain* c, int rounds)
{
    double best = INFINITY;
    for (int k = 0; k < 20 * rounds; k++)
    {
        double begin = processor_seconds();
        global_step_solve(g, c->w, c->w->state.v, c->w->dv);
        best = fmin(best, processor_seconds() - begin);
    }
    return best;
}

// A pin that comes, and a new factor.
static weft_status pin_seconds(global_step* g, curtain* c, int rounds, double* comes, double* factor)
{
    filter_record held[2] = {{.vertex = 0, .direction_count = 3}, {.vertex = c->w->model->vertex_count / 2}};
    held[1].direction_count = 3;
    *comes = *factor = INFINITY;
    for (int k = 0; k < 2 * rounds; k++)
    {
        bool made;
        int updates;
        double begin = processor_seconds();
        k % 2 == 0 ? global_step_forget(g) : (void)0;
        global_step_hold(g, held, 1 + k % 2);
        TRY(global_step_factor(g, c->w, &made, &updates));
        double* best = made ? factor : comes;
        *best = fmin(*best, processor_seconds() - begin);
    }
    return WEFT_OK;
}

static weft_status part_speed(settings* s, curtain* c)
{
    global_step g = {0};
    double turn[2], stream, ten, error, comes = NAN, factor = NAN;
    char text[500], json[400];
    TRY(curtain_reference(c));
    TRY(stream_speed(c->w->pool, s->rounds, &stream));
    TRY(turn_seconds(c, PLAIN, 4 * s->rounds, &turn[0]));
    TRY(turn_seconds(c, QUASI_NEWTON, 4 * s->rounds, &turn[1]));
    TRY(curtain_measure(c, PLAIN, 10, 4 * s->rounds, &error, &ten));
    weft_status status = global_step_create(&g, c->w->model);
    status = status == WEFT_OK ? pin_seconds(&g, c, s->rounds, &comes, &factor) : status;
    if (status == WEFT_OK)
    {
        double bytes = 8.0 * (double)g.symbolic.factor_size, solve = solve_seconds(&g, c, s->rounds);
        double floor = 2.0 * bytes / stream;
        snprintf(
            text, sizeof(text),
            "\nnnz(L) %.0f, %.2f MB with the zeros of its tiles; triad %.1f GB/s: L read twice in %.3f ms\n"
            "one solve of three sides %.3f ms, one turn %.3f ms (quasi-Newton %.3f ms): %.2f and %.2f (%.2f) times "
            "that\n"
            "ten turns of a step %.2f ms (paper: 50.6), a new factor %.2f ms (paper: 113), a pin that comes %.2f ms",
            factor_nonzeros(&g.symbolic), 1e-6 * bytes, 1e-9 * stream, 1e3 * floor, 1e3 * solve, 1e3 * turn[0],
            1e3 * turn[1], solve / floor, turn[0] / floor, turn[1] / floor, 1e3 * ten, 1e3 * factor, 1e3 * comes);
        snprintf(json, sizeof(json),
                 "\"part\":\"speed\",\"nnz\":%.0f,\"bytes\":%.0f,\"triad\":%.4g,\"solve_ms\":%.4g,\"turn_ms\":%.4g,"
                 "\"accelerated_ms\":%.4g,\"ratio\":%.4g,\"ten_ms\":%.4g,\"factor_ms\":%.4g,\"pin_ms\":%.4g",
                 factor_nonzeros(&g.symbolic), bytes, stream, 1e3 * solve, 1e3 * turn[0], 1e3 * turn[1],
                 turn[0] / floor, 1e3 * ten, 1e3 * factor, 1e3 * comes);
        row(s, text, json);
        own_times own = {turn[0], factor, c->w->state.v, c->w->dv};
        cholmod_output out = {s->json, s->rows};
        status = local_global_cholmod(&g, &c->w->model->assembler.pattern, &own, s->rounds, &out);
        s->rows = out.rows;
    }
    global_step_finish(&g);
    return status;
}

// Mean errors of plain turns over 50 frames.
static weft_status mean_row(settings* s, const char* part, int cells, double k)
{
    static const int turns[] = {1, 2, 5, 10, 20, 50, 100};
    enum
    {
        FRAMES = 50,
        COUNT = sizeof(turns) / sizeof(turns[0])
    };
    curtain c;
    double mean[COUNT] = {0};
    weft_status status = curtain_create(&c, cells, k, 1.0 / 30.0);
    for (int n = 0; n < FRAMES && status == WEFT_OK; n++)
    {
        status = curtain_advance(&c, 1);
        status = status == WEFT_OK ? curtain_reference(&c) : status;
        for (int m = 0; m < COUNT && status == WEFT_OK; m++)
        {
            double error = 0.0;
            status = curtain_error(&c, PLAIN, turns[m], &error);
            mean[m] += error / FRAMES;
        }
    }
    curtain_finish(&c);
    TRY(status);
    char text[256], json[256];
    int at = snprintf(text, sizeof(text), "%3d x %-3d %8g ", cells + 1, cells + 1, k);
    int to = snprintf(json, sizeof(json), "\"part\":\"%s\",\"cells\":%d,\"k\":%g,\"errors\":[", part, cells, k);
    for (int m = 0; m < COUNT; m++)
    {
        at += snprintf(text + at, sizeof(text) - (size_t)at, " %8.3g", mean[m]);
        to += snprintf(json + to, sizeof(json) - (size_t)to, "%s%.4g", m > 0 ? "," : "", mean[m]);
    }
    snprintf(json + to, sizeof(json) - (size_t)to, "]");
    row(s, text, json);
    return WEFT_OK;
}

static weft_status part_means(settings* s, bool resolution)
{
    head(s, "\nvertices    k, N/m  mean error after 1, 2, 5, 10, 20, 50, 100 turns");
    if (resolution)
    {
        for (int cells = 10; cells <= 40; cells *= 2)
        {
            TRY(mean_row(s, "resolution", cells, s->k * cells / s->cells));
        }
        return WEFT_OK;
    }
    for (double k = 1.0; k <= 10000.0; k *= 10.0)
    {
        TRY(mean_row(s, "stiffness", 20, k));
    }
    return WEFT_OK;
}

// The matrix of one Newton step from x_n: is it definite?
static weft_status semi_definite(curtain* c, bool* definite)
{
    world* w = c->w;
    element_motion motion = {.x = w->state.x, .v = w->state.v, .x_last = w->state.x, .h = c->h, .exact = true};
    double unused;
    TRY(curtain_attempt(c, PLAIN, 1, &unused)); // for the pins
    TRY(world_assemble(w, &motion, w->model->external));
    linear_system system = world_system(w, w->rhs, NULL);
    weft_solve_stats stats = {0};
    weft_status status = solver_object_solve(&c->cholesky, &system, w->dv, &stats);
    *definite = status != WEFT_NOT_DEFINITE;
    return status == WEFT_NOT_DEFINITE || status == WEFT_NOT_CONVERGED ? WEFT_OK : status;
}

static weft_status part_semi(settings* s)
{
    head(s, "\nstep, s  indefinite matrices of the semi-implicit step in two seconds");
    for (int rate = 120; rate >= 30; rate /= 2)
    {
        curtain c;
        int bad = 0, steps = 2 * rate;
        weft_status status = curtain_create(&c, 40, s->k * 40.0 / s->cells, 1.0 / rate);
        for (int n = 0; n < steps && status == WEFT_OK; n++)
        {
            bool definite = true;
            status = semi_definite(&c, &definite);
            status = status == WEFT_OK ? curtain_advance(&c, 1) : status;
            bad += !definite;
        }
        curtain_finish(&c);
        TRY(status);
        char text[128], json[128];
        snprintf(text, sizeof(text), "1/%-6d %d of %d", rate, bad, steps);
        snprintf(json, sizeof(json), "\"part\":\"semi\",\"rate\":%d,\"steps\":%d,\"indefinite\":%d", rate, steps, bad);
        row(s, text, json);
    }
    return WEFT_OK;
}

// Parts that look at one curtain, each at its own frames.
static weft_status parts_of_curtain(settings* s)
{
    static const struct
    {
        const char* name;
        weft_status (*run)(settings* s, curtain* c);
    } table[] = {{"curve", part_curve}, {"frames", part_frames}, {"speed", part_speed}};
    for (size_t k = 0; k < sizeof(table) / sizeof(table[0]); k++)
    {
        if (bench_has(s->parts, table[k].name))
        {
            curtain c;
            weft_status status = curtain_create(&c, s->cells, s->k, 1.0 / 30.0);
            status = status == WEFT_OK ? curtain_advance(&c, s->frame) : status;
            status = status == WEFT_OK ? table[k].run(s, &c) : status;
            curtain_finish(&c);
            TRY(status);
        }
    }
    return WEFT_OK;
}

static weft_status run_parts(settings* s)
{
    if (bench_has(s->parts, "match"))
    {
        TRY(part_match(s));
    }
    TRY(parts_of_curtain(s));
    if (bench_has(s->parts, "table"))
    {
        TRY(local_global_table(s->rounds, s->json, &s->rows));
    }
    if (bench_has(s->parts, "contact"))
    {
        TRY(local_global_contact(s->rounds, s->turns, s->json, &s->rows));
    }
    if (bench_has(s->parts, "stiffness"))
    {
        TRY(part_means(s, false));
    }
    if (bench_has(s->parts, "resolution"))
    {
        TRY(part_means(s, true));
    }
    return bench_has(s->parts, "semi") ? part_semi(s) : WEFT_OK;
}

static int run(int argc, char** argv, bool json)
{
    bench_known(argc, argv, "--parts= --cells= --k= --frame= --rounds= --turns=");
    settings s = {.parts = bench_words(argc, argv, "--parts", parts_all, parts_all),
                  .cells = bench_count(argc, argv, "--cells", 80),
                  .frame = bench_option(argc, argv, "--frame", 20),
                  .rounds = bench_count(argc, argv, "--rounds", 5),
                  .turns = bench_count(argc, argv, "--turns", 10),
                  .k = bench_number(argc, argv, "--k", 50.0),
                  .json = json};
    printf(json ? "{\"benchmark\":\"local-global\",\"rows\":[\n"
                : "curtain %d x %d, 1 m, 1 kg, k %g N/m, 1/30 s, frame %d, one thread, processor time, best of %d\n",
           s.cells + 1, s.cells + 1, s.k, s.frame, s.rounds);
    weft_status status = run_parts(&s);
    printf(json ? "]}\n" : "%d rows\n", s.rows);
    return status == WEFT_OK ? 0 : bench_failed("local-global", status);
}

const benchmark bench_local_global = {
    "local-global", "turns of local/global against Newton: the curtain of Liu et al. 2013, and its speed", run};
