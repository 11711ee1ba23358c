// weft bench sa-choices: each choice of the multigrid varied alone around the defaults, on systems of early and late
// steps: iterations, rate, operator complexity, times of a cold setup and solve, memory. A table a case and a summary.
// Then the negative control of the paper's section 4 (bench/unknown_based.h). Rounds go through all choices in turn,
// so that a change of the machine's load hits all of them; the best round counts. Nothing escalates here: a bad choice
// shows its own iterations. Can be killed and called again: finished solves are in the log.
// Options: --cells LIST (100,200), --scenes LIST (pinned,drooping,re-entrant), --steps LIST (5,100), --rounds N (3),
// --choices LIST (all; names as in the first column), --control-cells LIST (24,48,96; 0: none), those of
// sa_systems.h (--set sa.NAME=VALUE moves the defaults) and results.h.
#include <math.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/sa_systems.h"
#include "bench/unknown_based.h"
#include "solve/system.h"

enum
{
    SCENE_COUNT = 3,
    LIST_MAX = 8,
    ITERATION_LIMIT = 1000
};

static const char* const scene_names[SCENE_COUNT] = {"pinned", "drooping", "re-entrant"};

// One value of one choice. Those that are no number in weft_sa_def have a word instead.
typedef struct choice
{
    const char* name; // of the setting
    double value;
    const char* word; // how the value is printed, NULL: as a number
} choice;

static const choice choices[] = {
    {"default", 0, ""},          {"theta", 0.1, NULL},         {"theta", 0.25, NULL},   {"theta", 0.35, NULL},
    {"theta", 0.48, NULL},       {"theta", 0.6, NULL},         {"theta", 0.7, NULL},    {"degree", 1, NULL},
    {"degree", 2, NULL},         {"degree", 3, NULL},          {"degree", 4, NULL},     {"lower", 0.03, NULL},
    {"lower", 0.06, NULL},       {"lower", 0.1, NULL},         {"lower", 0.2, NULL},    {"lower", 0.3, NULL},
    {"lanczos", 5, NULL},        {"lanczos", 10, NULL},        {"lanczos", 20, NULL},   {"lanczos", 0, "bound"},
    {"margin", 1.0, NULL},       {"margin", 1.1, NULL},        {"margin", 1.2, NULL},   {"distance", 1, NULL},
    {"distance", 2, NULL},       {"filter", 0, NULL},          {"filter", 0.05, NULL},  {"filter", 0.15, NULL},
    {"filter", 0.3, NULL},       {"filter", 0.48, NULL},       {"vectors", 3, NULL},    {"vectors", 6, NULL},
    {"rotations", 0, "current"}, {"rotations", 0, "material"}, {"relax", 0, NULL},      {"relax", 1, NULL},
    {"relax", 2, NULL},          {"precision", 16, NULL},      {"precision", 32, NULL}, {"precision", 64, NULL},
    {"solver", 0, "sa-ppcg"},    {"solver", 0, "sa-cycle"},
};

enum
{
    CHOICE_COUNT = sizeof(choices) / sizeof(choices[0])
};

typedef struct choices_run
{
    sa_options options;
    results log;
    const char *scenes, *names;
    int cells[LIST_MAX], size_count;
    int steps[LIST_MAX], step_count;
    int control_cells[LIST_MAX], control_count;
} choices_run;

// ---- what a choice means

static bool is_word(const choice* c, const char* name, const char* word)
{
    return strcmp(c->name, name) == 0 && c->word && strcmp(c->word, word) == 0;
}

static bool is_material(const choice* c)
{
    return is_word(c, "rotations", "material");
}

// The settings of a choice; false with a reason when the library refuses them.
static bool choice_def(const choices_run* r, const choice* c, weft_solver_def* out, weft_error* error)
{
    const char* name;
    double value;
    *out = r->options.def;
    out->solver = is_word(c, "solver", "sa-cycle") ? "sa-cycle" : "sa-ppcg";
    for (int k = 0; weft_sa_get(&out->sa, k, &name, &value) == WEFT_OK; k++)
    {
        if (strcmp(name, c->name) == 0)
        {
            return weft_sa_set(&out->sa, name, c->value, error) == WEFT_OK;
        }
    }
    return true;
}

static bool is_asked(const choices_run* r, const choice* c)
{
    return strcmp(c->name, "default") == 0 || bench_has(r->names, "all") || bench_has(r->names, c->name);
}

static void choice_suffix(const choice* c, int round, char out[48])
{
    snprintf(out, 48, "%s round=%d", is_material(c) ? " rotations=material" : "", round);
}

// ---- cases: scenes fastest, then steps, then sizes

static int case_count(const choices_run* r)
{
    return r->size_count * r->step_count * SCENE_COUNT;
}

static bool case_at(const choices_run* r, int number, sa_case* out)
{
    const char* scene = scene_names[number % SCENE_COUNT];
    int step = r->steps[number / SCENE_COUNT % r->step_count];
    *out = sa_case_make(&r->options, scene, r->cells[number / SCENE_COUNT / r->step_count], false);
    out->step = step;
    return bench_has(r->scenes, scene);
}

// ---- solving

// The current system and, once needed, the one before the first step, whose positions are the sheet's flat ones.
typedef struct case_systems
{
    sa_system current, rest;
} case_systems;

static weft_status make_both(const choices_run* r, const sa_case* c, case_systems* s)
{
    sa_case first = *c;
    first.step = 1;
    if (!s->current.system)
    {
        TRY(sa_system_make(c, &r->options, &s->current));
    }
    return s->rest.system ? WEFT_OK : sa_system_make(&first, &r->options, &s->rest);
}

static void swap_positions(case_systems* s)
{
    vec3* current = s->current.system->positions;
    s->current.system->positions = s->rest.system->positions;
    s->rest.system->positions = current;
}

static weft_status solve_material(choices_run* r, const sa_case* c, const weft_solver_def* def, const char* suffix,
                                  case_systems* s)
{
    if (sa_solve_line(&r->log, c, def, suffix))
    {
        return WEFT_OK;
    }
    TRY(make_both(r, c, s));
    swap_positions(s);
    weft_status status = sa_solve_once(&r->log, c, &r->options, def, suffix, &s->current);
    swap_positions(s);
    return status;
}

static weft_status solve_choice(choices_run* r, const sa_case* c, const choice* what, int round, case_systems* s)
{
    weft_solver_def def;
    weft_error error = {0};
    char suffix[48];
    choice_suffix(what, round, suffix);
    if (!is_asked(r, what) || !choice_def(r, what, &def, &error))
    {
        return WEFT_OK;
    }
    return is_material(what) ? solve_material(r, c, &def, suffix, s)
                             : sa_solve_once(&r->log, c, &r->options, &def, suffix, &s->current);
}

static const char* line_of(const choices_run* r, const sa_case* c, const choice* what, int round)
{
    weft_solver_def def;
    weft_error error = {0};
    char suffix[48];
    choice_suffix(what, round, suffix);
    return is_asked(r, what) && choice_def(r, what, &def, &error) ? sa_solve_line(&r->log, c, &def, suffix) : NULL;
}

// A case whose simulation broke down has a line for the default that says so, and no others.
static bool is_broken(const choices_run* r, const sa_case* c)
{
    return results_number(line_of(r, c, &choices[0], 1), "simulated") == 0.0;
}

static weft_status solve_case(choices_run* r, const sa_case* c)
{
    case_systems s = {0};
    weft_status status = WEFT_OK;
    for (int k = 0; k < r->options.rounds * CHOICE_COUNT && status == WEFT_OK && !is_broken(r, c); k++)
    {
        status = solve_choice(r, c, &choices[k % CHOICE_COUNT], 1 + k / CHOICE_COUNT, &s);
    }
    sa_system_finish(&s.current);
    sa_system_finish(&s.rest);
    return status;
}

static weft_status solve_all(choices_run* r)
{
    weft_status status = WEFT_OK;
    sa_case c;
    for (int k = 0; k < case_count(r) && status == WEFT_OK; k++)
    {
        status = case_at(r, k, &c) ? solve_case(r, &c) : WEFT_OK;
    }
    return status;
}

// ---- figures

static double seconds_of(const char* line)
{
    return results_number(line, "setup_s") + results_number(line, "solve_s");
}

// The line of the fastest round, or NULL.
static const char* best_line(const choices_run* r, const sa_case* c, const choice* what)
{
    const char* best = NULL;
    for (int round = 1; round <= r->options.rounds; round++)
    {
        const char* line = line_of(r, c, what, round);
        best = line && !(seconds_of(best) <= seconds_of(line)) ? line : best;
    }
    return best;
}

static bool has_converged(const char* line)
{
    return results_number(line, "converged") > 0.0;
}

// What a choice costs against the default, over all cases in which both converged.
typedef struct summary
{
    int cases, failed;       // compared; the choice alone did not converge
    double iterations, time; // geometric means of the ratios
    double worst;            // largest ratio of times
} summary;

static summary summary_of(const choices_run* r, const choice* what)
{
    summary s = {0};
    sa_case c;
    for (int k = 0; k < case_count(r); k++)
    {
        const char* line = case_at(r, k, &c) ? best_line(r, &c, what) : NULL;
        const char* base = line ? best_line(r, &c, &choices[0]) : NULL;
        if (!has_converged(line) || !has_converged(base))
        {
            s.failed += has_converged(base);
            continue;
        }
        double time = seconds_of(line) / seconds_of(base);
        s.cases++;
        s.time += log(time);
        s.worst = fmax(s.worst, time);
        s.iterations += log(results_number(line, "iterations") / results_number(base, "iterations"));
    }
    s.time = s.cases > 0 ? exp(s.time / s.cases) : NAN;
    s.iterations = s.cases > 0 ? exp(s.iterations / s.cases) : NAN;
    return s;
}

// ---- tables

static const char* value_text(const choice* c, char out[32])
{
    snprintf(out, 32, "%g", c->value);
    return c->word ? c->word : out;
}

static void print_row(const choices_run* r, const sa_case* c, const choice* what)
{
    char value[32];
    const char *line = best_line(r, c, what), *base = best_line(r, c, &choices[0]);
    if (!line)
    {
        return;
    }
    printf("  %-9s %-8s %10.0f%s %6.3f %10.3f %9.4f %9.4f %9.2f %8.1f\n", what->name, value_text(what, value),
           results_number(line, "iterations"), has_converged(line) ? " " : "*", results_number(line, "rate"),
           results_number(line, "operator_complexity"), results_number(line, "setup_s"),
           results_number(line, "solve_s"), seconds_of(line) / seconds_of(base), 1e-6 * results_number(line, "bytes"));
}

static void print_case(const choices_run* r, const sa_case* c)
{
    printf("\n%s, %d vertices, step %d%s\n", c->scene, sa_case_vertices(c), c->step,
           is_broken(r, c) ? ": the simulation broke down on the way" : "");
    printf("  choice    value    iterations    rate complexity   setup s   solve s      both       MB\n");
    for (int k = 0; k < CHOICE_COUNT; k++)
    {
        print_row(r, c, &choices[k]);
    }
}

static void print_summary(const choices_run* r)
{
    printf("\nall cases, relative to the default (geometric means; * after the cases that did not converge)\n"
           "  choice    value    iterations      both     worst  cases\n");
    for (int k = 0; k < CHOICE_COUNT; k++)
    {
        char value[32];
        summary s = summary_of(r, &choices[k]);
        if (s.cases + s.failed > 0)
        {
            printf("  %-9s %-8s %10.2f %9.2f %9.2f %6d", choices[k].name, value_text(&choices[k], value), s.iterations,
                   s.time, s.worst, s.cases);
            printf(s.failed > 0 ? " %d*\n" : "\n", s.failed);
        }
    }
}

// Choices that this build of the library does not know.
static void print_skipped(const choices_run* r)
{
    for (int k = 0; k < CHOICE_COUNT; k++)
    {
        weft_solver_def def;
        weft_error error = {0};
        char value[32];
        if (is_asked(r, &choices[k]) && !choice_def(r, &choices[k], &def, &error))
        {
            printf("skipped: %s %s (%s)\n", choices[k].name, value_text(&choices[k], value), error.message);
        }
    }
}

// ---- the negative control

// Scenes fastest, then sizes, then steps.
static bool control_at(const choices_run* r, int number, sa_case* out)
{
    const char* scene = scene_names[number % SCENE_COUNT];
    int cells = r->control_cells[number / SCENE_COUNT % r->control_count];
    *out = sa_case_make(&r->options, scene, cells, false);
    out->step = r->steps[number / SCENE_COUNT / r->control_count];
    return bench_has(r->scenes, scene) && cells > 0;
}

static int control_size(const choices_run* r)
{
    return r->control_count * r->step_count * SCENE_COUNT;
}

static void control_key(const choices_run* r, const sa_case* c, bool coupled, char out[SA_KEY_SIZE])
{
    char name[SA_KEY_SIZE];
    sa_case_name(c, name);
    int room = SA_KEY_SIZE - 96;
    snprintf(out, SA_KEY_SIZE, "%.*s | unknown-based %s tolerance=%g", room, name, coupled ? "coupled" : "diagonal",
             r->options.def.tolerance);
}

static weft_status solve_unknown_based(choices_run* r, const sa_case* c, bool coupled, sa_system* made)
{
    char key[SA_KEY_SIZE], t[3][32];
    control_key(r, c, coupled, key);
    if (results_find(&r->log, key))
    {
        return WEFT_OK;
    }
    if (!made->system)
    {
        TRY(sa_system_make(c, &r->options, made));
    }
    unknown_based_stats stats;
    weft_status solved = unknown_based_solve(made->system, coupled, r->options.def.tolerance, ITERATION_LIMIT, &stats);
    fprintf(stderr, "%s: %d iterations, %.2f + %.2f s\n", key, stats.iterations, stats.setup_s, stats.solve_s);
    return solved == WEFT_NO_MEMORY
               ? solved
               : results_add(
                     &r->log, key,
                     "\"unknowns\":%d,\"iterations\":%d,\"converged\":%d,\"rate\":%s,\"residual2\":%s,\"setup_s\":%.6g,"
                     "\"solve_s\":%.6g,\"levels\":%d,\"operator_complexity\":%s,\"status\":%d",
                     stats.unknowns, stats.iterations, stats.converged, results_json(stats.rate, t[0]),
                     results_json(stats.residual2, t[2]), stats.setup_s, stats.solve_s, stats.level_count,
                     results_json(stats.operator_complexity, t[1]), (int)solved);
}

static weft_solver_def diag_def(const choices_run* r)
{
    weft_solver_def def = r->options.def;
    def.solver = "diag-pcg";
    def.max_iterations = 0;
    return def;
}

static weft_status solve_control(choices_run* r, const sa_case* c)
{
    case_systems s = {0};
    weft_solver_def diag = diag_def(r);
    weft_status status = solve_choice(r, c, &choices[0], 1, &s);
    if (status == WEFT_OK && !is_broken(r, c))
    {
        status = sa_solve_once(&r->log, c, &r->options, &diag, " round=1", &s.current);
        status = status == WEFT_OK ? solve_unknown_based(r, c, false, &s.current) : status;
        status = status == WEFT_OK ? solve_unknown_based(r, c, true, &s.current) : status;
    }
    sa_system_finish(&s.current);
    return status;
}

static weft_status solve_controls(choices_run* r)
{
    weft_status status = WEFT_OK;
    sa_case c;
    for (int k = 0; k < control_size(r) && status == WEFT_OK; k++)
    {
        status = control_at(r, k, &c) ? solve_control(r, &c) : WEFT_OK;
    }
    return status;
}

typedef struct control_lines
{
    const char *diagonal, *coupled, *sa, *diag;
} control_lines;

static control_lines control_lines_of(const choices_run* r, const sa_case* c)
{
    char key[2][SA_KEY_SIZE];
    weft_solver_def diag = diag_def(r);
    control_key(r, c, false, key[0]);
    control_key(r, c, true, key[1]);
    return (control_lines){results_find(&r->log, key[0]), results_find(&r->log, key[1]), line_of(r, c, &choices[0], 1),
                           sa_solve_line(&r->log, c, &diag, " round=1")};
}

static void print_count(const char* line)
{
    char text[32];
    snprintf(text, sizeof(text), "%.0f%s", results_number(line, "iterations"), has_converged(line) ? " " : "*");
    printf(" %10s", text);
}

static void print_controls(const choices_run* r)
{
    sa_case c;
    printf(
        "\nunknown-based coarsening (section 4 of the paper): iterations and mean rate on diag(A11, A22, A33) and on\n"
        "the whole A; beside them the nodal sa-ppcg and diag-pcg on the whole A; * not converged\n"
        "  scene      step  cells    A11..A33   rate    whole A   rate complexity    sa-ppcg   diag-pcg\n");
    for (int k = 0; k < control_size(r); k++)
    {
        if (!control_at(r, k, &c))
        {
            continue;
        }
        control_lines l = control_lines_of(r, &c);
        printf("  %-10s %4d %6d ", c.scene, c.step, c.cells);
        print_count(l.diagonal);
        printf(" %6.3f", results_number(l.diagonal, "rate"));
        print_count(l.coupled);
        printf(" %6.3f %10.2f", results_number(l.coupled, "rate"), results_number(l.coupled, "operator_complexity"));
        print_count(l.sa);
        print_count(l.diag);
        printf("\n");
    }
}

// ---- output

static void print_settings(const choices_run* r)
{
    const char* name;
    double value;
    printf(
        "sa-choices: cotton, hinge bending, h 2 ms (where not said otherwise), start (I - S) z, until the residual in\n"
        "the norm of M^-1 is %g of the start's; %d threads, cold: a new setup for each solve; best of %d rounds.\n"
        "default:",
        r->options.def.tolerance, r->options.threads, r->options.rounds);
    for (int k = 0; weft_sa_get(&r->options.def.sa, k, &name, &value) == WEFT_OK; k++)
    {
        printf(" %s %g", name, value);
    }
    for (int k = 0; k < r->options.override_count; k++)
    {
        printf("%s%s", k > 0 ? ", " : "\nchanged: ", r->options.overrides[k]);
    }
    printf("\n");
}

static void print_tables(const choices_run* r)
{
    sa_case c;
    print_settings(r);
    for (int k = 0; k < case_count(r); k++)
    {
        if (case_at(r, k, &c))
        {
            print_case(r, &c);
        }
    }
    printf("\n* not converged within %d iterations. both: setup and solve over those of the default.\n",
           ITERATION_LIMIT);
    print_skipped(r);
    print_summary(r);
    if (r->control_count > 0)
    {
        print_controls(r);
    }
}

static const char* print_line(const char* line, const char* separator)
{
    printf(line ? "%s\n%s" : "%.0s%.0s", separator, line ? line : "");
    return line ? "," : separator;
}

static void print_cases_json(const choices_run* r)
{
    const char* separator = "";
    sa_case c;
    for (int k = 0; k < case_count(r); k++)
    {
        for (int j = 0; j < CHOICE_COUNT && case_at(r, k, &c); j++)
        {
            const char* line = best_line(r, &c, &choices[j]);
            bool again = j > 0 && line == best_line(r, &c, &choices[0]); // the default's value of a choice
            separator = print_line(again ? NULL : line, separator);
        }
    }
}

static void print_summary_json(const choices_run* r)
{
    const char* separator = "";
    for (int k = 0; k < CHOICE_COUNT; k++)
    {
        char value[32], t[3][32];
        summary s = summary_of(r, &choices[k]);
        if (s.cases + s.failed > 0)
        {
            printf("%s\n{\"choice\":\"%s\",\"value\":\"%s\",\"iterations\":%s,\"time\":%s,\"worst_time\":%s,"
                   "\"cases\":%d,\"not_converged\":%d}",
                   separator, choices[k].name, value_text(&choices[k], value), results_json(s.iterations, t[0]),
                   results_json(s.time, t[1]), results_json(s.cases > 0 ? s.worst : NAN, t[2]), s.cases, s.failed);
            separator = ",";
        }
    }
}

static void print_controls_json(const choices_run* r)
{
    const char* separator = "";
    sa_case c;
    for (int k = 0; k < control_size(r); k++)
    {
        if (control_at(r, k, &c))
        {
            control_lines l = control_lines_of(r, &c);
            separator = print_line(l.diagonal, separator);
            separator = print_line(l.coupled, separator);
            separator = print_line(l.sa, separator);
            separator = print_line(l.diag, separator);
        }
    }
}

static void print_json(const choices_run* r)
{
    printf("{\"benchmark\":\"sa-choices\",\"rounds\":%d,\"cases\":[", r->options.rounds);
    print_cases_json(r);
    printf("],\n\"summary\":[");
    print_summary_json(r);
    printf("],\n\"unknown_based\":[");
    print_controls_json(r);
    printf("]}\n");
}

static weft_status read_options(int argc, char** argv, choices_run* r)
{
    bench_known(argc, argv, SA_OPTIONS " --cells= --scenes= --steps= --choices= --control-cells=");
    TRY(sa_options_read(argc, argv, &r->options));
    r->options.rounds = bench_count(argc, argv, "--rounds", 3);
    r->options.def.max_iterations = ITERATION_LIMIT;
    r->scenes = bench_words(argc, argv, "--scenes", "pinned,drooping,re-entrant", "pinned,drooping,re-entrant");
    r->names = bench_text(argc, argv, "--choices", "all");
    r->size_count = bench_numbers(argc, argv, "--cells", "100,200", r->cells, LIST_MAX);
    r->step_count = bench_numbers(argc, argv, "--steps", "5,100", r->steps, LIST_MAX);
    r->control_count = bench_numbers(argc, argv, "--control-cells", "24,48,96", r->control_cells, LIST_MAX);
    r->control_count = r->control_count > 0 && r->control_cells[0] > 0 ? r->control_count : 0;
    bool positive = true;
    for (int k = 0; k < r->step_count; k++)
    {
        positive = positive && r->steps[k] > 0;
    }
    for (int k = 0; k < r->size_count; k++)
    {
        positive = positive && r->cells[k] > 0;
    }
    if (!positive)
    {
        fprintf(stderr, "weft bench: --cells and --steps must be positive\n");
    }
    return positive ? WEFT_OK : WEFT_BAD_INPUT;
}

static int run(int argc, char** argv, bool json)
{
    choices_run r = {0};
    if (read_options(argc, argv, &r) != WEFT_OK)
    {
        return 2;
    }
    weft_status status = results_open(&r.log, "sa-choices", argc, argv);
    status = status == WEFT_OK ? solve_all(&r) : status;
    status = status == WEFT_OK ? solve_controls(&r) : status;
    if (status == WEFT_OK)
    {
        json ? print_json(&r) : print_tables(&r);
    }
    results_close(&r.log);
    return status == WEFT_OK ? 0 : bench_failed("sa-choices", status);
}

const benchmark bench_sa_choices = {"sa-choices", "choices of the multigrid, one at a time, and a negative control",
                                    run};
