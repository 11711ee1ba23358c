// weft bench thesis-damping: what material damping does to energy under backward Euler (Boxerman's thesis, section
// 4.2.4, figures 4.4 to 4.6). A sheet held by two corners is released from the horizontal without dampers, with plain
// ones (3.12) and with projected ones (3.14). The thesis shows curves and says "energy dissipates far too quickly" of
// the plain ones, "at approximately the same rate as for the case of no damping" of the projected ones, whose internal
// energy does not oscillate. Here that is given by numbers: the largest difference of total energies over the largest
// drop of gravity's, and the total variation of internal energy. Solved to 1e-6, as the thesis's own tolerance is part
// of what it sees. Nothing is halved and nothing takes over: steps that gain energy are counted and stand.
// Can be killed and called again. Options: --cells N (39), --seconds S (2), --step S (0.01), --plain KD (0.1),
// --projected KD (10), --tolerance T (1e-6), --method NAME (implicit-euler), --out DIR (CSV, plots), those of
// results.h.
#include <math.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/page.h"
#include "bench/plot.h"
#include "bench/results.h"
#include "bench/thesis.h"

enum
{
    STEPS_MAX = 20000,
    KEY_MAX = 256
};

enum
{
    UNDAMPED,
    PLAIN,
    PROJECTED,
    RUNS
};

static const char* const names[RUNS] = {"undamped", "plain", "projected"};

typedef struct sample
{
    double time, kinetic, stretch, shear, bend, gravity, total;
    double wrong; // substeps that were judged wrong and stood
} sample;

typedef struct damping
{
    int cells, steps;
    double step, tolerance, constant[RUNS]; // N s/m
    const char *method, *out;
    bool json;
    results log;
    sample* samples[RUNS]; // [steps]
} damping;

static double internal_of(const sample* s)
{
    return s->stretch + s->shear + s->bend;
}

// ---- runs

static void key_of(const damping* a, int run, int step, char* key)
{
    snprintf(key, KEY_MAX, "%s %s kd %g cells %d k %g tolerance %g step %d", a->method, names[run], a->constant[run],
             a->cells, a->step, a->tolerance, step);
}

static weft_status keep(damping* a, int run, int step, const weft_step_stats* stats)
{
    char key[KEY_MAX];
    const weft_energy* e = &stats->energy;
    key_of(a, run, step, key);
    return results_add(&a->log, key,
                       "\"time\":%.9g,\"kinetic\":%.12g,\"stretch\":%.12g,\"shear\":%.12g,\"bend\":%.12g,"
                       "\"gravity\":%.12g,\"total\":%.12g,\"wrong\":%d",
                       stats->time, e->kinetic, e->stretch, e->shear, e->bend, e->gravity, e->total,
                       stats->rejected + stats->forced);
}

static weft_status simulate(damping* a, int run)
{
    thesis_case c = {.scene = THESIS_CORNERS,
                     .side = a->cells + 1,
                     .spacing = 0.025,
                     .density = 0.5,
                     .stretch = 1000,
                     .shear = 1000,
                     .bend = 0.01,
                     .stretch_damping = a->constant[run],
                     .shear_damping = a->constant[run],
                     .plain = run == PLAIN,
                     .step = a->step,
                     .method = a->method,
                     .solver = "diag-ppcg",
                     .tolerance = a->tolerance};
    fprintf(stderr, "%s\n", names[run]);
    weft_sim* sim = thesis_sim(&c);
    weft_status status = sim ? WEFT_OK : WEFT_UNSUPPORTED;
    for (int k = 0; k < a->steps && status == WEFT_OK; k++)
    {
        weft_step_stats stats;
        status = weft_sim_step(sim, &stats, NULL);
        status = status == WEFT_OK ? keep(a, run, k, &stats) : status;
    }
    weft_sim_destroy(sim);
    return status;
}

static bool read_run(damping* a, int run)
{
    char key[KEY_MAX];
    for (int k = a->steps - 1; k >= 0; k--) // the last first: a run that was killed begins anew
    {
        key_of(a, run, k, key);
        const char* line = results_find(&a->log, key);
        if (!line)
        {
            return false;
        }
        a->samples[run][k] = (sample){.time = results_number(line, "time"),
                                      .kinetic = results_number(line, "kinetic"),
                                      .stretch = results_number(line, "stretch"),
                                      .shear = results_number(line, "shear"),
                                      .bend = results_number(line, "bend"),
                                      .gravity = results_number(line, "gravity"),
                                      .total = results_number(line, "total"),
                                      .wrong = results_number(line, "wrong")};
    }
    return true;
}

static weft_status measure(damping* a)
{
    for (int run = 0; run < RUNS; run++)
    {
        a->samples[run] = MEM_NEW((size_t)a->steps, sample);
        TRY(a->samples[run] ? WEFT_OK : WEFT_NO_MEMORY);
        if (!read_run(a, run))
        {
            TRY(simulate(a, run));
            TRY(read_run(a, run) ? WEFT_OK : WEFT_UNSUPPORTED);
        }
    }
    return WEFT_OK;
}

// ---- what came out

// Gravity's energy is 0 at the start or counts from there: the drop is what it falls by.
static double largest_drop(const damping* a)
{
    double drop = 0.0;
    for (int run = 0; run < RUNS; run++)
    {
        for (int k = 0; k < a->steps; k++)
        {
            drop = fmax(drop, a->samples[run][0].gravity - a->samples[run][k].gravity);
        }
    }
    return drop;
}

typedef struct outcome
{
    double apart, apart_at; // largest difference of total energy from the undamped, J, and when
    double left;            // total energy at the end, from that of the first step, J
    double variation;       // of internal energy, J
    double quick;           // of what internal energy has beside its mean over 90 ms, J: without the load of the swing
    double wrong;           // steps
} outcome;

// Internal energy less its mean over 90 ms, half of them before and half after.
static double quick_at(const damping* a, int run, int k)
{
    int half = int_max((int)lround(0.04 / a->step), 1), first = int_max(k - half, 0);
    int last = int_min(k + half, a->steps - 1);
    double sum = 0.0;
    for (int i = first; i <= last; i++)
    {
        sum += internal_of(&a->samples[run][i]);
    }
    return internal_of(&a->samples[run][k]) - sum / (last - first + 1);
}

static outcome outcome_of(const damping* a, int run)
{
    const sample *mine = a->samples[run], *other = a->samples[UNDAMPED];
    outcome o = {.left = mine[a->steps - 1].total - mine[0].total};
    for (int k = 0; k < a->steps; k++)
    {
        double apart = fabs(mine[k].total - other[k].total);
        o.apart_at = apart > o.apart ? mine[k].time : o.apart_at;
        o.apart = fmax(o.apart, apart);
        o.variation += k > 0 ? fabs(internal_of(&mine[k]) - internal_of(&mine[k - 1])) : 0.0;
        o.quick += k > 0 ? fabs(quick_at(a, run, k) - quick_at(a, run, k - 1)) : 0.0;
        o.wrong += mine[k].wrong > 0.0;
    }
    return o;
}

static const char* verdict(bool met)
{
    return met ? "met" : "MISSED";
}

static void print(const damping* a)
{
    static const char* const thesis[RUNS] = {"dissipates slowly, internal energy oscillates",
                                             "dissipates far too quickly", "as without damping, no oscillations"};
    outcome o[RUNS];
    double drop = largest_drop(a);
    printf("%d x %d particles of 0.025 m, k = %g s, %g s, %s, tolerance %g; largest drop of gravity's energy %.4g J\n"
           "            kd     difference  at     lost in all  variation  of undamped  steps that gain  the thesis\n",
           a->cells + 1, a->cells + 1, a->step, a->steps * a->step, a->method, a->tolerance, drop);
    for (int run = 0; run < RUNS; run++)
    {
        o[run] = outcome_of(a, run);
        printf("%-11s %-6g %6.1f %%    %-5.2f  %6.1f %%     %-9.4g  %-11.3f  %-15.0f  %s\n", names[run],
               a->constant[run], 100.0 * o[run].apart / drop, o[run].apart_at, -100.0 * o[run].left / drop,
               o[run].variation, o[run].variation / o[UNDAMPED].variation, o[run].wrong, thesis[run]);
    }
    double projected = o[PROJECTED].apart / drop, plain = o[PLAIN].apart / drop;
    double variation = o[PROJECTED].variation / o[UNDAMPED].variation, quick = o[PROJECTED].quick / o[UNDAMPED].quick;
    printf("projected and undamped never differ by more than 15 %%: %s (%.1f %%)\n"
           "plain and undamped differ by more than 30 %%: %s (%.1f %%)\n"
           "variation of internal energy, projected at most two thirds of undamped: %s (%.3f)\n"
           "  of what is quicker than 90 ms, the oscillations: %s (%.3f); of the rest, the load of the swing: %.3f\n",
           verdict(projected <= 0.15), 100.0 * projected, verdict(plain > 0.30), 100.0 * plain,
           verdict(variation <= 2.0 / 3.0), variation, verdict(quick <= 2.0 / 3.0), quick,
           (o[PROJECTED].variation - o[PROJECTED].quick) / (o[UNDAMPED].variation - o[UNDAMPED].quick));
}

static void print_json(const damping* a)
{
    double drop = largest_drop(a), whole = outcome_of(a, UNDAMPED).variation;
    printf("{\"benchmark\":\"thesis-damping\",\"cells\":%d,\"step\":%g,\"seconds\":%g,\"method\":\"%s\",\"tolerance\":"
           "%g,\"drop\":%.6g,\"runs\":[",
           a->cells, a->step, a->steps * a->step, a->method, a->tolerance, drop);
    for (int run = 0; run < RUNS; run++)
    {
        outcome o = outcome_of(a, run);
        printf("%s{\"damping\":\"%s\",\"kd\":%g,\"difference\":%.6g,\"lost\":%.6g,\"variation\":%.6g,"
               "\"variation_share\":%.6g,\"quick_variation\":%.6g,\"gaining_steps\":%.0f}",
               run ? "," : "", names[run], a->constant[run], o.apart / drop, -o.left / drop, o.variation,
               o.variation / whole, o.quick, o.wrong);
    }
    printf("]}\n");
}

// ---- files

static void write_csv(const void* context, FILE* out)
{
    const damping* a = context;
    fprintf(out, "damping,kd_N_s_m,cells,time_step_s,tolerance,time_s,kinetic_J,stretch_J,shear_J,bend_J,gravity_J,"
                 "total_J,judged_wrong\n");
    for (int run = 0; run < RUNS; run++)
    {
        for (int k = 0; k < a->steps; k++)
        {
            const sample* s = &a->samples[run][k];
            fprintf(out, "%s,%g,%d,%g,%g,%.6g,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%.0f\n", names[run], a->constant[run],
                    a->cells, a->step, a->tolerance, s->time, s->kinetic, s->stretch, s->shear, s->bend, s->gravity,
                    s->total, s->wrong);
        }
    }
}

typedef struct plot_job
{
    const damping* a;
    bool internal;
} plot_job;

static void write_plot(const void* context, FILE* out)
{
    const plot_job* job = context;
    const damping* a = job->a;
    plot p = {.title = job->internal ? "internal energy" : "total energy",
              .x_title = "time, s",
              .y_title = job->internal ? "stretch + shear + bend, J" : "total, J",
              .y_guide = NAN};
    size_t n = (size_t)a->steps;
    double* values = MEM_NEW(2 * RUNS * n, double);
    for (int run = 0; values && run < RUNS; run++)
    {
        double *x = values + 2 * (size_t)run * n, *y = x + n;
        for (size_t k = 0; k < n; k++)
        {
            const sample* s = &a->samples[run][k];
            x[k] = s->time;
            y[k] = job->internal ? internal_of(s) : s->total;
        }
        plot_add(&p, (plot_line){.x = x, .y = y, .count = a->steps, .colour = run, .marker = -1});
        plot_add_key(&p, (plot_key){.name = names[run], .colour = run, .marker = -1, .line = true});
    }
    plot_write(&p, out);
    mem_free(values);
}

static weft_status write_files(const damping* a)
{
    plot_job total = {a, false}, internal = {a, true};
    TRY(page_file(a->out, "thesis-damping.csv", write_csv, a));
    TRY(page_file(a->out, "thesis-damping-total.svg", write_plot, &total));
    return page_file(a->out, "thesis-damping-internal.svg", write_plot, &internal);
}

// ---- command

static void read_options(damping* a, int argc, char** argv)
{
    bench_known(argc, argv,
                "--cells= --seconds= --step= --plain= --projected= --tolerance= --method= --out= --log= --fresh");
    double seconds = bench_number(argc, argv, "--seconds", 2.0);
    a->cells = bench_count(argc, argv, "--cells", 39);
    a->step = bench_number(argc, argv, "--step", 0.01);
    a->tolerance = bench_number(argc, argv, "--tolerance", 1e-6);
    a->constant[PLAIN] = bench_number(argc, argv, "--plain", 0.1);
    a->constant[PROJECTED] = bench_number(argc, argv, "--projected", 10.0);
    a->method = bench_text(argc, argv, "--method", "implicit-euler");
    a->out = bench_text(argc, argv, "--out", NULL);
    if (!(a->step > 0.0 && a->step <= 0.1) || !(seconds >= 2.0 * a->step && seconds <= STEPS_MAX * a->step))
    {
        bench_refuse(argc, argv, "--step must be above 0 and at most 0.1 s, --seconds from 2 to %d steps", STEPS_MAX);
    }
    if (!(a->constant[PLAIN] >= 0.0) || !(a->constant[PROJECTED] >= 0.0) || !(a->tolerance > 0.0 && a->tolerance < 1.0))
    {
        bench_refuse(argc, argv, "--plain and --projected must be from 0, --tolerance between 0 and 1");
    }
    a->steps = (int)lround(seconds / a->step);
}

static int run(int argc, char** argv, bool json)
{
    damping a = {.json = json};
    read_options(&a, argc, argv);
    weft_status status = results_open(&a.log, "thesis-damping", argc, argv);
    status = status == WEFT_OK ? measure(&a) : status;
    if (status == WEFT_OK)
    {
        (json ? print_json : print)(&a);
        status = a.out ? write_files(&a) : WEFT_OK;
    }
    results_close(&a.log);
    for (int k = 0; k < RUNS; k++)
    {
        mem_free(a.samples[k]);
    }
    return status == WEFT_OK ? 0 : bench_failed("thesis-damping", status);
}

const benchmark bench_thesis_damping = {
    "thesis-damping", "energies without, with plain and with projected damping: Boxerman's thesis, 4.2.4", run};
