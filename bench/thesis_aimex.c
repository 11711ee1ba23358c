// weft bench thesis-aimex: the experiments of Boxerman's thesis, section 4.4.3.
//   stable       aimex with steps that alternate between two lengths, vary smoothly and vary at random between them, so
//                that connections are taken now this way, now that; energies never rise above the start's
//   difference   the largest distance of a particle from where backward Euler has it, within one second, in spacings:
//                the thesis says mostly under 0.1, and shows 0.63 and 1.68
//   speed        table 4.1: time and iterations of aimex against the same code with criterion 0, by how it took stretch
//                and shear. The thesis's time is that of dynamics, "a small amount going towards cloth-solid
//                collisions"; here contact takes most of a step of a small sheet, so that both are given, whole steps
//                and steps without what finds contacts and responds to them
//   pictures     with --out: figures 4.8 to 4.10, the same on table and sphere, and 4.3, 4.7, 4.11, 6.2
// Sets are random combinations of the thesis's values (but for air, which acts otherwise here and is left out); cloth
// does not collide with itself, as in the thesis. Can be killed and called again. Options: --parts LIST, --sets N
// (500), --first K (0: the sets from there on), --seed N, --seconds S (1), --steps-max N (2000: sets that would take
// more stop there), --after S (0: both start from where backward Euler, with steps of 5 ms at least, is after S
// seconds: a window of cloth that has folds, for sets with short steps), --out DIR (CSV), those of results.h.
#include <math.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/page.h"
#include "bench/plot.h"
#include "bench/results.h"
#include "bench/thesis.h"
#include "material/connection.h"
#include "step/march.h"

enum
{
    SETS_MAX = 2000,
    ROUNDS = 2, // interleaved; the best counts
    KINDS = 4,  // rows of table 4.1
    KEY_MAX = 128
};

typedef struct aimex
{
    int sets, first, seed, steps_max; // sets [first, sets) of those that the seed draws
    double seconds, after;
    const char *parts, *out;
    bool json;
    results log;
} aimex;

// ---- sets

static thesis_case case_of(int seed, int index)
{
    thesis_draw d = {.seed = (uint64_t)seed * 7919u + 1000000u + (uint64_t)index};
    thesis_case c = {.method = "aimex", .criterion = 0.2, .bend_explicit = true, .compact = true, .tolerance = 1e-5};
    c.scene = (thesis_scene)THESIS_CHOOSE(&d, 0, 1, 2);
    c.side = (int)THESIS_CHOOSE(&d, 10, 20, 40);
    c.spacing = THESIS_CHOOSE(&d, 0.001, 0.01, 0.05, 0.1);
    c.density = THESIS_CHOOSE(&d, 0.03, 0.1, 0.3, 1);
    c.stretch = THESIS_CHOOSE(&d, 10, 100, 1000, 3000);
    c.shear = THESIS_CHOOSE(&d, 10, 100, 1000, 3000);
    c.bend = THESIS_CHOOSE(&d, 0.001, 0.01, 0.1);
    c.stretch_damping = THESIS_CHOOSE(&d, 0, 0.01, 0.1, 1, 10);
    c.shear_damping = THESIS_CHOOSE(&d, 0, 0.01, 0.1, 1, 10);
    c.step = THESIS_CHOOSE(&d, 0.0001, 0.001, 0.005, 0.01, 0.02);
    return c;
}

// ---- a run

typedef struct run_sums
{
    double seconds;  // of whole steps
    double dynamics; // of these without contact
    long long iterations;
    bool failed;
    double steps[2][2]; // [stretch, shear][explicit, implicit] so many steps had most of their active ones so
} run_sums;

// How most of the active connections of a role were taken in the last substep: 1 implicit, 0 explicit, -1: none acts.
static int taken(const weft_sim* sim, spring_role role)
{
    const march_data* d = sim->world.method.data;
    int count[2] = {0};
    for (int g = 0; g < sim->model.groups.count; g++)
    {
        const element_group* group = &sim->model.groups.list[g];
        for (int e = 0; group->kind == &kind_connection && e < group->count; e++)
        {
            bool mine = (int)group->rest[CONNECTION_STRIDE * (size_t)e + CONNECTION_ROLE] == (int)role;
            count[0] += mine && d->split.flags[g][e] == ELEMENT_EXPLICIT;
            count[1] += mine && d->split.flags[g][e] == ELEMENT_IMPLICIT;
        }
    }
    return count[0] + count[1] == 0 ? -1 : count[1] >= count[0];
}

static void step_once(weft_sim* sim, run_sums* sums)
{
    weft_step_stats stats;
    weft_error error;
    thesis_clock clock = {0};
    sums->failed = sums->failed || thesis_step(sim, &stats, &error, &clock) != WEFT_OK;
    sums->seconds += clock.whole_s;
    sums->dynamics += clock.whole_s - clock.contact_s;
    sums->iterations += sums->failed ? 0 : stats.iterations;
    sums->failed = sums->failed || !isfinite(stats.energy.total);
}

static void look(const weft_sim* sim, run_sums* sums)
{
    for (int role = 0; role < 2; role++)
    {
        int how = taken(sim, role == 0 ? SPRING_STRETCH : SPRING_SHEAR);
        how >= 0 ? sums->steps[role][how]++ : 0.0;
    }
}

static double apart(const weft_sim* a, const weft_sim* b)
{
    double most = 0.0;
    for (int i = 0; i < a->model.vertex_count; i++)
    {
        vec3 d = v3_sub(a->world.state.x[i], b->world.state.x[i]);
        most = fmax(most, v3_dot(d, d));
    }
    return sqrt(most);
}

// Where both begin: a simulation of the same sheet, after so many seconds. Nothing is measured on the way.
static weft_status begin_after(const aimex* a, const thesis_case* c, weft_sim* const* sims)
{
    thesis_case before = *c;
    before.step = fmax(c->step, 0.005);
    weft_sim* sim = a->after > 0.0 ? thesis_sim(&before) : NULL;
    weft_status status = a->after > 0.0 && !sim ? WEFT_UNSUPPORTED : WEFT_OK;
    for (int k = 0; sim && k < (int)ceil(a->after / before.step) && status == WEFT_OK; k++)
    {
        status = weft_sim_step(sim, NULL, NULL);
    }
    for (int which = 0; sim && which < 2; which++)
    {
        size_t bytes = (size_t)sim->model.vertex_count * sizeof(vec3);
        memcpy(sims[which]->world.state.x, sim->world.state.x, bytes);
        memcpy(sims[which]->world.state.v, sim->world.state.v, bytes);
    }
    weft_sim_destroy(sim);
    return status;
}

// Both side by side: their distance is looked at after every step, and times are interleaved.
static weft_status run_pair(const aimex* a, const thesis_case* c, run_sums sums[2], double* distance)
{
    thesis_case implicit = *c;
    implicit.criterion = 0.0;
    implicit.bend_explicit = false;
    weft_sim* sims[2] = {thesis_sim(c), thesis_sim(&implicit)};
    bool ok = sims[0] && sims[1];
    int steps = (int)fmin(ceil((a->seconds - a->after) / c->step), a->steps_max);
    ok = ok && begin_after(a, &implicit, sims) == WEFT_OK;
    sums[0] = sums[1] = (run_sums){0};
    *distance = 0.0;
    for (int k = 0; ok && k < steps && !sums[0].failed && !sums[1].failed; k++)
    {
        for (int which = 0; which < 2; which++)
        {
            int turn = (k + which) % 2;
            step_once(sims[turn], &sums[turn]);
        }
        look(sims[0], &sums[0]);
        *distance = fmax(*distance, apart(sims[0], sims[1]) / c->spacing);
    }
    weft_sim_destroy(sims[0]);
    weft_sim_destroy(sims[1]);
    return ok ? WEFT_OK : WEFT_UNSUPPORTED;
}

static int kind_of(const run_sums* s)
{
    bool stretch = s->steps[0][1] > s->steps[0][0], shear = s->steps[1][1] > s->steps[1][0];
    return (stretch ? 0 : 2) + (shear ? 0 : 1);
}

static void key_of(const aimex* a, int set, char* key)
{
    snprintf(key, KEY_MAX, "seed %d set %d seconds %g after %g steps %d", a->seed, set, a->seconds, a->after,
             a->steps_max);
}

static weft_status measure(aimex* a)
{
    for (int k = a->first; k < a->sets; k++)
    {
        char key[KEY_MAX];
        key_of(a, k, key);
        if (results_find(&a->log, key))
        {
            continue;
        }
        thesis_case c = case_of(a->seed, k);
        run_sums best[2], sums[2];
        double distance;
        TRY(run_pair(a, &c, best, &distance));
        for (int round = 1; round < ROUNDS && best[0].seconds + best[1].seconds < 1.0; round++)
        {
            double unused;
            TRY(run_pair(a, &c, sums, &unused));
            for (int which = 0; which < 2; which++)
            {
                best[which].seconds = fmin(best[which].seconds, sums[which].seconds);
                best[which].dynamics = fmin(best[which].dynamics, sums[which].dynamics);
            }
        }
        TRY(results_add(
            &a->log, key,
            "\"scene\":%d,\"side\":%d,\"spacing\":%g,\"density\":%g,\"stretch\":%g,\"shear\":%g,\"bend\":%g,"
            "\"stretch_damping\":%g,\"shear_damping\":%g,\"step\":%g,\"kind\":%d,\"aimex_s\":%.6g,"
            "\"implicit_s\":%.6g,\"aimex_dynamics_s\":%.6g,\"implicit_dynamics_s\":%.6g,\"aimex_iterations\":%lld,"
            "\"implicit_iterations\":%lld,\"distance\":%.6g,"
            "\"failed\":%d",
            c.scene, c.side, c.spacing, c.density, c.stretch, c.shear, c.bend, c.stretch_damping, c.shear_damping,
            c.step, kind_of(&best[0]), best[0].seconds, best[1].seconds, best[0].dynamics, best[1].dynamics,
            best[0].iterations, best[1].iterations, distance, best[0].failed + 2 * best[1].failed));
    }
    return WEFT_OK;
}

// ---- what came out

static const char* line_of(const aimex* a, int k)
{
    char key[KEY_MAX];
    key_of(a, k, key);
    return results_find(&a->log, key);
}

static void print_difference(const aimex* a)
{
    static double sorted[SETS_MAX];
    int count = 0, small = 0, failed[4] = {0};
    for (int k = a->first; k < a->sets; k++)
    {
        const char* line = line_of(a, k);
        failed[(int)results_number(line, "failed")]++;
        if (results_number(line, "failed") == 0.0)
        {
            sorted[count] = results_number(line, "distance");
            small += sorted[count++] < 0.1;
        }
    }
    thesis_sort(sorted, count);
    printf(a->json ? ",\"difference\":{\"sets\":%d,\"below_tenth\":%.4g,\"median\":%.4g,\"q90\":%.4g,\"largest\":%.4g,"
                     "\"aimex_failed\":%d,\"implicit_failed\":%d,\"both_failed\":%d}"
                   : "\nlargest difference from backward Euler, in spacings, %d sets\n"
                     "                 here       the thesis\n"
                     "below 0.1        %-9.3g  most\n"
                     "median           %-9.3g  0.63 shown as average\n"
                     "nine in ten      %-9.3g  -\n"
                     "largest          %-9.3g  1.68\n"
                     "failed: aimex alone %d, backward Euler alone %d, both %d\n",
           count, count ? (double)small / count : NAN, thesis_quantile(sorted, count, 0.5),
           thesis_quantile(sorted, count, 0.9), thesis_quantile(sorted, count, 1.0), failed[1], failed[2], failed[3]);
}

typedef struct speed_row
{
    int runs, solved;
    double time, dynamics, iterations; // sums of ratios
} speed_row;

static speed_row speed_of(const aimex* a, int kind)
{
    speed_row r = {0};
    for (int k = a->first; k < a->sets; k++)
    {
        const char* line = line_of(a, k);
        if (results_number(line, "failed") != 0.0 || results_number(line, "kind") != kind)
        {
            continue;
        }
        double cg = results_number(line, "implicit_iterations");
        r.time += results_number(line, "aimex_s") / results_number(line, "implicit_s");
        r.dynamics += results_number(line, "aimex_dynamics_s") / results_number(line, "implicit_dynamics_s");
        r.iterations += cg > 0.0 ? results_number(line, "aimex_iterations") / cg : 0.0;
        r.solved += cg > 0.0;
        r.runs++;
    }
    return r;
}

static const char* ratio_text(double ratio, bool json, char out[32])
{
    return json ? results_json(ratio, out) : isfinite(ratio) ? (snprintf(out, 32, "%.2f", ratio), out) : "-";
}

static void print_speed(const aimex* a)
{
    static const char* const names[KINDS] = {"implicit/implicit", "implicit/explicit", "explicit/implicit",
                                             "explicit/explicit"};
    static const double thesis_time[KINDS] = {0.83, 0.71, 0.71, 0.47}, thesis_cg[KINDS] = {1.00, 1.02, 0.96, 0.47};
    static const int thesis_runs[KINDS] = {412, 18, 37, 33};
    printf(a->json ? ",\"speed\":["
                   : "\nstretch/shear      runs  thesis   without contact   whole steps  thesis   CG iterations  "
                     "thesis\n");
    for (int kind = 0; kind < KINDS; kind++)
    {
        speed_row r = speed_of(a, kind);
        double runs = r.runs ? r.runs : NAN, solved = r.solved ? r.solved : NAN;
        char number[3][32];
        printf(a->json ? "%s{\"kind\":\"%s\",\"runs\":%d,\"thesis_runs\":%d,\"dynamics\":%s,\"time\":%s,"
                         "\"thesis_time\":%.4g,\"iterations\":%s,\"thesis_iterations\":%.4g}"
                       : "%s%-18s %4d  %6d %17s  %12s  %6.2f  %14s  %6.2f\n",
               a->json && kind > 0 ? "," : "", names[kind], r.runs, thesis_runs[kind],
               ratio_text(r.dynamics / runs, a->json, number[0]), ratio_text(r.time / runs, a->json, number[1]),
               thesis_time[kind], ratio_text(r.iterations / solved, a->json, number[2]), thesis_cg[kind]);
    }
    printf(a->json ? "]" : "");
}

static void write_csv(const void* context, FILE* out)
{
    static const char* const fields[] = {"scene",
                                         "side",
                                         "spacing",
                                         "density",
                                         "stretch",
                                         "shear",
                                         "bend",
                                         "stretch_damping",
                                         "shear_damping",
                                         "step",
                                         "kind",
                                         "aimex_s",
                                         "implicit_s",
                                         "aimex_dynamics_s",
                                         "implicit_dynamics_s",
                                         "aimex_iterations",
                                         "implicit_iterations",
                                         "distance",
                                         "failed"};
    const aimex* a = context;
    fprintf(out, "seed,set,sampled");
    for (size_t f = 0; f < sizeof(fields) / sizeof(fields[0]); f++)
    {
        fprintf(out, ",%s", fields[f]);
    }
    for (int k = a->first; k < a->sets; k++)
    {
        fprintf(out, "\n%d,%d,%.4g", a->seed, k, (a->sets - a->first) / 500.0);
        for (size_t f = 0; f < sizeof(fields) / sizeof(fields[0]); f++)
        {
            fprintf(out, ",%.6g", results_number(line_of(a, k), fields[f]));
        }
    }
    fprintf(out, "\n");
}

static void write_plot(const void* context, FILE* out)
{
    const aimex* a = context;
    static double sorted[SETS_MAX], share[SETS_MAX];
    int count = 0;
    for (int k = a->first; k < a->sets; k++)
    {
        const char* line = line_of(a, k);
        sorted[count] = results_number(line, "distance");
        count += results_number(line, "failed") == 0.0;
    }
    thesis_sort(sorted, count);
    for (int k = 0; k < count; k++)
    {
        share[k] = (k + 0.5) / count;
    }
    plot p = {.title = "largest difference of aimex from backward Euler",
              .x_title = "spacings",
              .y_title = "share of parameter sets below",
              .log_x = true,
              .y_guide = NAN};
    plot_add(&p, (plot_line){.x = sorted, .y = share, .count = count, .marker = -1});
    plot_write(&p, out);
}

// ---- steps that vary

static const char* const patterns[] = {"alternating", "smooth", "random"};

static double step_of(int pattern, int k, double low, double high)
{
    double share = pattern == 0   ? k % 2
                   : pattern == 1 ? 0.5 - 0.5 * cos(0.05 * k)
                                  : (double)(random_bits(99, (uint64_t)k) >> 11) * 0x1p-53;
    return low * pow(high / low, share);
}

// From where stretch and shear are explicit to where both are implicit.
static void step_range(const thesis_case* c, double* low, double* high)
{
    double m = c->density * c->spacing * c->spacing;
    thesis_case soft = *c;
    soft.stretch = soft.shear = fmin(c->stretch, c->shear);
    soft.stretch_damping = soft.shear_damping = fmin(c->stretch_damping, c->shear_damping);
    *low = *high = sqrt(0.05 * m / fmax(c->stretch, c->shear));
    while (thesis_kappa(c, *low) > 0.08)
    {
        *low *= 0.8;
    }
    while (thesis_kappa(&soft, *high) < 1.0)
    {
        *high *= 1.25;
    }
}

static weft_status vary(aimex* a, const thesis_case* base, int pattern, int index)
{
    thesis_case c = *base;
    double low, high, start = 0.0, drop = 0.0, rise = 0.0;
    step_range(&c, &low, &high);
    c.step = low;
    weft_sim* sim = thesis_sim(&c);
    int steps = 2000, explicit = 0, implicit = 0;
    bool ok = sim != NULL;
    run_sums sums = {0};
    for (int k = 0; ok && k < steps && !sums.failed; k++)
    {
        weft_step_stats stats;
        weft_error error;
        sim->world.settings.time_step = step_of(pattern, k, low, high);
        sums.failed = weft_sim_step(sim, &stats, &error) != WEFT_OK || !isfinite(stats.energy.total);
        start = k == 0 ? stats.energy.total : start;
        drop = fmax(drop, fabs(stats.energy.gravity));
        rise = fmax(rise, stats.energy.total - start);
        explicit += taken(sim, SPRING_STRETCH) == 0 && taken(sim, SPRING_SHEAR) == 0;
        implicit += taken(sim, SPRING_STRETCH) == 1 && taken(sim, SPRING_SHEAR) == 1;
    }
    weft_sim_destroy(sim);
    TRY(ok ? WEFT_OK : WEFT_UNSUPPORTED);
    bool stable = !sums.failed && rise < 0.1 * drop;
    printf(a->json ? "%s{\"set\":%d,\"pattern\":\"%s\",\"low\":%g,\"high\":%g,\"all_explicit\":%d,\"all_implicit\":%d,"
                     "\"rise\":%.4g,\"stable\":%s}"
                   : "%s%4d  %-12s %9.2e to %9.2e s  %5d  %5d  %9.2e  %s\n",
           a->json && index + pattern > 0 ? "," : "", index, patterns[pattern], low, high, explicit, implicit,
           rise / drop, a->json ? (stable ? "true" : "false") : (stable ? "stable" : "UNSTABLE"));
    return WEFT_OK;
}

static weft_status part_stable(aimex* a)
{
    static const double sets[][6] = {// density, stretch, shear, dampings, spacing
                                     {0.1, 1000, 100, 0.0, 0.0, 0.05},
                                     {0.3, 100, 1000, 0.01, 0.0, 0.02},
                                     {0.5, 1000, 1000, 0.0, 0.01, 0.025},
                                     {0.03, 3000, 10, 0.1, 0.1, 0.1}};
    printf(a->json ? ",\"stable\":["
                   : "\nsteps that vary, 20 x 20, 2000 steps: steps with stretch and shear explicit, implicit; rise of "
                     "energy over the largest drop\n");
    for (int k = 0; k < 4; k++)
    {
        const double* s = sets[k];
        thesis_case c = {.scene = THESIS_CORNERS,
                         .side = 20,
                         .spacing = s[5],
                         .density = s[0],
                         .stretch = s[1],
                         .shear = s[2],
                         .bend = 0.01,
                         .stretch_damping = s[3],
                         .shear_damping = s[4],
                         .method = "aimex",
                         .criterion = 0.2,
                         .bend_explicit = true,
                         .tolerance = 1e-6};
        for (int pattern = 0; pattern < 3; pattern++)
        {
            TRY(vary(a, &c, pattern, k));
        }
    }
    printf(a->json ? "]" : "");
    return WEFT_OK;
}

// ---- command

static weft_status run_parts(aimex* a)
{
    TRY(bench_has(a->parts, "stable") ? part_stable(a) : WEFT_OK);
    bool difference = bench_has(a->parts, "difference"), speed = bench_has(a->parts, "speed");
    TRY(difference || speed ? measure(a) : WEFT_OK);
    difference ? print_difference(a) : (void)0;
    speed ? print_speed(a) : (void)0;
    TRY(a->out && bench_has(a->parts, "pictures") ? thesis_pictures(a->out) : WEFT_OK);
    if (a->out && (difference || speed))
    {
        TRY(page_file(a->out, "aimex.csv", write_csv, a));
        TRY(page_file(a->out, "aimex-difference.svg", write_plot, a));
    }
    return WEFT_OK;
}

static int run(int argc, char** argv, bool json)
{
    static const char all[] = "stable,difference,speed,pictures";
    bench_known(argc, argv, "--parts= --sets= --first= --seed= --seconds= --steps-max= --after= --out= --log= --fresh");
    aimex a = {.parts = bench_words(argc, argv, "--parts", all, all),
               .sets = int_min(bench_count(argc, argv, "--sets", 500), SETS_MAX),
               .first = bench_option(argc, argv, "--first", 0),
               .seed = bench_option(argc, argv, "--seed", 1),
               .steps_max = bench_count(argc, argv, "--steps-max", 2000),
               .seconds = bench_number(argc, argv, "--seconds", 1.0),
               .after = bench_number(argc, argv, "--after", 0.0),
               .out = bench_text(argc, argv, "--out", NULL),
               .json = json};
    if (!(a.after >= 0.0 && a.after < a.seconds))
    {
        bench_refuse(argc, argv, "--after must be at least 0 and less than --seconds");
    }
    printf(json ? "{\"benchmark\":\"thesis-aimex\",\"seed\":%d,\"sets\":%d" : "seed %d, %d sets\n", a.seed, a.sets);
    weft_status status = results_open(&a.log, "thesis-aimex", argc, argv);
    status = status == WEFT_OK ? run_parts(&a) : status;
    printf(json ? "}\n" : "");
    results_close(&a.log);
    return status == WEFT_OK ? 0 : bench_failed("thesis-aimex", status);
}

const benchmark bench_thesis_aimex = {
    "thesis-aimex", "aimex: stability, difference from backward Euler, speed: Boxerman's thesis, 4.4.3", run};
