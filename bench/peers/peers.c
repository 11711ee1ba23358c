// weft-peers: sa-ppcg against algebraic multigrid of others on one linear system, PETSc's GAMG and Trilinos' ML.
//
//     weft-peers PREFIX [--rounds N] [--tolerance T] [--try "PETSC OPTIONS"]... [--no-energy] [--no-diag] [--json]
//     mpirun --bind-to none -n 2 weft-peers PREFIX ...
//
// Weft runs with as many threads as there are ranks, on rank 0, while the others sleep. Everyone starts from (I - S) z
// with cold setups, a new solver each time, in turns; the best of the rounds counts. The peers' time starts with the
// assembled constrained matrix, Weft's with the files' one. Two stopping rules: the 2-norm of the residual at T times
// the start's, the same measure for all, for which Weft's tolerance is made smaller until it holds; and the residual in
// the norm of each preconditioner's inverse, as `weft solve` stops. --try adds a row with options of PETSc's own. Exit
// status: 0 done, 1 a solver failed, 2 wrong input, 3 the machine failed.
#define _GNU_SOURCE
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "bench/peers/petsc.h"
#include "weft/solver.h"

enum
{
    TRY_MAX = 16,
    CONTESTANT_MAX = TRY_MAX + 4,
    DIAG = 1, // place of diag-pcg
    SEARCH_LIMIT = 60
};

// Weft's by its name, others by options of PETSc.
typedef struct contestant
{
    const char *name, *options; // options NULL: one of Weft's
} contestant;

// The best found for these systems among what docs/performance.md lists.
static const contestant built_in[] = {
    {"sa-ppcg", NULL},
    {"diag-pcg", NULL},
    {"petsc-gamg", "-near_kernel 3 -pc_type gamg -pc_gamg_coarse_eq_limit 1000 -mg_levels_ksp_type richardson "
                   "-mg_levels_ksp_max_it 1 -mg_levels_pc_type sor"},
    {"trilinos-ml", "-near_kernel 3 -pc_type ml -pc_ml_nullspace USER -pc_ml_Threshold 0.08 -pc_ml_maxCoarseSize 1000 "
                    "-mg_levels_ksp_max_it 1"},
};

typedef struct settings
{
    const char* prefix;
    int rounds;
    double tolerance;
    bool energy, diag, json;
    contestant all[CONTESTANT_MAX];
    int count;
} settings;

// What a solver did under one stopping rule.
typedef struct outcome
{
    peer_run best;    // of the rounds
    double tolerance; // that it was given
    double residual2, energy_error;
    bool failed;
} outcome;

typedef struct contest
{
    settings set;
    problem of;
    petsc_problem* peers;
    vec3* x; // [rows]
    int threads;
    outcome outcomes[2][CONTESTANT_MAX]; // by stop_norm
} contest;

// ---- command line

static void print_json_text(const char* text)
{
    putchar('"');
    for (const unsigned char* c = (const unsigned char*)text; *c; c++)
    {
        printf(*c < 0x20 ? "\\u%04x" : *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
    }
    putchar('"');
}

static int report(const settings* s, const weft_error* error, int code)
{
    if (petsc_rank() != 0)
    {
        return code;
    }
    if (s->json)
    {
        printf("{\"error\":{\"file\":");
        print_json_text(error->file);
        printf(",\"line\":%d,\"message\":", error->line);
        print_json_text(error->message);
        printf("}}\n");
        return code;
    }
    fprintf(stderr, "weft-peers: %s%s", error->file, error->file[0] ? ":" : "");
    fprintf(stderr, error->line > 0 ? "%d: " : "%.0d", error->line);
    fprintf(stderr, "%s%s\n", error->file[0] && error->line <= 0 ? " " : "", error->message);
    return code;
}

static int exit_code(weft_status status)
{
    bool input = status == WEFT_BAD_INPUT || status == WEFT_NOT_FOUND || status == WEFT_UNSUPPORTED;
    bool machine = status == WEFT_NO_MEMORY || status == WEFT_IO || status == WEFT_DISK_FULL;
    return input ? 2 : machine ? 3 : 1;
}

static weft_status refuse(weft_error* error, const char* argument, const char* takes)
{
    return error_set(error, WEFT_BAD_INPUT, NULL, 0, "%s %s", argument, takes);
}

// The value of `name` at argv[*k], which moves behind it; NULL when that is another option or has none.
static const char* option_value(int argc, char** argv, int* k, const char* name)
{
    size_t length = strlen(name);
    if (strncmp(argv[*k], name, length) == 0 && argv[*k][length] == '=')
    {
        return argv[*k] + length + 1;
    }
    return strcmp(argv[*k], name) == 0 && *k + 1 < argc ? argv[++*k] : NULL;
}

static weft_status read_argument(int argc, char** argv, int* k, settings* s, weft_error* error)
{
    const char* value;
    char* end;
    if ((value = option_value(argc, argv, k, "--rounds")))
    {
        long rounds = strtol(value, &end, 10);
        s->rounds = (int)rounds;
        return *value && !*end && rounds >= 1 && rounds <= 1000
                   ? WEFT_OK
                   : refuse(error, "--rounds", "takes a whole number from 1 to 1000");
    }
    if ((value = option_value(argc, argv, k, "--tolerance")))
    {
        s->tolerance = strtod(value, &end);
        return *value && !*end && s->tolerance >= 1e-12 && s->tolerance < 1.0
                   ? WEFT_OK
                   : refuse(error, "--tolerance", "takes a number from 1e-12 up to 1");
    }
    if ((value = option_value(argc, argv, k, "--try")))
    {
        if (s->count == CONTESTANT_MAX)
        {
            return refuse(error, "--try", "was given too often");
        }
        s->all[s->count++] = (contestant){"--try", value};
        return WEFT_OK;
    }
    bool energy = strcmp(argv[*k], "--no-energy") == 0, diag = strcmp(argv[*k], "--no-diag") == 0;
    s->energy = s->energy && !energy;
    s->diag = s->diag && !diag;
    if (energy || diag || strcmp(argv[*k], "--json") == 0)
    {
        return WEFT_OK;
    }
    if (argv[*k][0] == '-' || s->prefix)
    {
        return refuse(error, argv[*k],
                      "is not understood, or its value is missing: weft-peers PREFIX [--rounds N] [--tolerance T] "
                      "[--try \"PETSC OPTIONS\"]... [--no-energy] [--no-diag] [--json]");
    }
    s->prefix = argv[*k];
    return WEFT_OK;
}

static weft_status read_settings(int argc, char** argv, settings* s, weft_error* error)
{
    *s = (settings){.rounds = 3, .tolerance = 1e-5, .energy = true, .diag = true};
    s->count = sizeof(built_in) / sizeof(built_in[0]);
    memcpy(s->all, built_in, sizeof(built_in));
    for (int k = 1; k < argc; k++)
    {
        s->json = s->json || strcmp(argv[k], "--json") == 0;
    }
    for (int k = 1; k < argc; k++)
    {
        TRY(read_argument(argc, argv, &k, s, error));
    }
    if (!s->diag)
    {
        memmove(s->all + DIAG, s->all + DIAG + 1, (size_t)(--s->count - DIAG) * sizeof(contestant));
    }
    return s->prefix ? WEFT_OK : refuse(error, "PREFIX:", "give the files of one system, without their ending");
}

// A rank that is bound to a core would run all of Weft's threads there.
static weft_status check_cores(int threads, weft_error* error)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) < threads)
    {
        return error_set(error, WEFT_BAD_INPUT, NULL, 0,
                         "%d ranks, but this one may run on %d cores only; start it with `mpirun --bind-to none`",
                         threads, CPU_COUNT(&set));
    }
    return WEFT_OK;
}

// ---- solving

static weft_status solve_weft(contest* c, const char* name, double tolerance, peer_run* out, weft_solve_stats* stats)
{
    weft_solver_def def = weft_solver_def_default();
    weft_solver* solver = NULL;
    weft_error error = {0};
    def.solver = name;
    def.tolerance = tolerance;
    def.worker_count = c->threads;
    TRY(weft_solver_create(&def, &solver, &error));
    double cpu = cpu_now();
    weft_status status = weft_solver_solve(solver, c->of.system, c->x, stats);
    cpu = cpu_now() - cpu;
    weft_solver_destroy(solver);
    *out = (peer_run){.setup_s = stats->setup_s,
                      .solve_s = stats->solve_s,
                      .cpu_s = cpu,
                      .iterations = stats->iterations,
                      .converged = status == WEFT_OK,
                      .level_count = stats->level_count};
    return status;
}

// The tolerance in Weft's own norm at which the 2-norm is small enough. sa-ppcg takes one more iteration at a time, so
// that it does none too many; diag-pcg, which needs hundreds, is aimed.
static weft_status search_tolerance(contest* c, const char* name, double* tolerance)
{
    *tolerance = c->set.tolerance;
    for (int k = 0; k < SEARCH_LIMIT; k++)
    {
        peer_run run;
        weft_solve_stats stats;
        TRY(solve_weft(c, name, *tolerance, &run, &stats));
        double over = problem_residual2(&c->of, c->x) / c->set.tolerance;
        if (over <= 1.0)
        {
            return WEFT_OK;
        }
        *tolerance = fmin(stats.residual, *tolerance) * (run.iterations < 100 ? 0.999 : fmin(0.999, 1.0 / over));
    }
    return WEFT_NOT_CONVERGED;
}

// On rank 0, while the others wait. Returns whether it went well, on all ranks.
static bool solve_ours(contest* c, const contestant* who, outcome* out, stop_norm norm, peer_run* run)
{
    bool good = true;
    if (petsc_rank() == 0)
    {
        weft_solve_stats stats;
        weft_status status = WEFT_OK;
        if (out->tolerance == 0.0)
        {
            out->tolerance = c->set.tolerance;
            status = norm == STOP_TWO_NORM ? search_tolerance(c, who->name, &out->tolerance) : WEFT_OK;
        }
        good = status == WEFT_OK && solve_weft(c, who->name, out->tolerance, run, &stats) == WEFT_OK;
    }
    return petsc_meet(good);
}

static void judge(contest* c, outcome* out, const peer_run* run)
{
    double sum = run->setup_s + run->solve_s, best = out->best.setup_s + out->best.solve_s;
    if (best == 0.0)
    {
        out->residual2 = problem_residual2(&c->of, c->x);
        out->energy_error = problem_energy_error(&c->of, c->x);
    }
    if (best == 0.0 || sum < best)
    {
        out->best = *run;
    }
}

static void solve_one(contest* c, int number, stop_norm norm)
{
    const contestant* who = &c->set.all[number];
    outcome* out = &c->outcomes[norm][number];
    peer_run run = {0};
    if (out->failed)
    {
        return;
    }
    bool ran = who->options ? petsc_solve(c->peers, who->options, norm, c->set.tolerance, c->x, &run)
                            : solve_ours(c, who, out, norm, &run);
    out->failed = !ran || !petsc_meet(run.converged);
    if (petsc_rank() != 0)
    {
        return;
    }
    if (run.unused[0])
    {
        fprintf(stderr, "weft-peers: nothing asked for the option %s\n", run.unused);
    }
    judge(c, out, &run);
}

static void solve_all(contest* c)
{
    for (int round = 0; round < c->set.rounds; round++)
    {
        for (int k = 0; k < 2 * c->set.count; k++)
        {
            solve_one(c, k / 2, k % 2 == 0 ? STOP_TWO_NORM : STOP_OWN_NORM);
        }
    }
}

// ---- printing

static double total(const outcome* o)
{
    return o->best.setup_s + o->best.solve_s;
}

// The fastest of the peers under the common measure; -1 when all failed.
static int better_peer(const contest* c)
{
    int best = -1;
    for (int k = 0; k < c->set.count; k++)
    {
        const outcome* o = c->outcomes[STOP_TWO_NORM];
        if (c->set.all[k].options && !o[k].failed && (best < 0 || total(&o[k]) < total(&o[best])))
        {
            best = k;
        }
    }
    return best;
}

static void print_rows(const contest* c, stop_norm norm)
{
    printf("  %-12s %8s %8s %8s %8s %11s %7s %11s %11s %8s\n", "solver", "setup s", "solve s", "both s", "cpu s",
           "iterations", "levels", "residual", "energy", "over");
    printf("  %-12s %8s %8s %8s %8s %11s %7s %11s %11s %8s\n", "", "", "", "", "", "", "", "(2-norm)", "error",
           "sa-ppcg");
    const outcome* all = c->outcomes[norm];
    for (int k = 0; k < c->set.count; k++)
    {
        const outcome* o = &all[k];
        printf("  %-12s %8.3f %8.3f %8.3f %8.3f %11d %7d %11.2e %11.2e %8.2f%s\n", c->set.all[k].name, o->best.setup_s,
               o->best.solve_s, total(o), o->best.cpu_s, o->best.iterations, o->best.level_count, o->residual2,
               o->energy_error, total(o) / total(&all[0]), o->failed ? "  FAILED" : "");
    }
}

static void print_tables(const contest* c)
{
    printf("%s, %d vertices, %d rank%s or thread%s, best of %d rounds, cold setups, PETSc %s\n", c->set.prefix,
           c->of.rows, c->threads, c->threads > 1 ? "s" : "", c->threads > 1 ? "s" : "", c->set.rounds,
           petsc_version_text());
    for (int k = 0; k < c->set.count; k++)
    {
        if (c->set.all[k].options)
        {
            printf("  %s: -ksp_type cg %s\n", c->set.all[k].name, c->set.all[k].options);
        }
    }
    printf("\nuntil the 2-norm of the residual is %g of the start's\n", c->set.tolerance);
    print_rows(c, STOP_TWO_NORM);
    printf("\nuntil the residual in the norm of the preconditioner's inverse is %g of the start's\n", c->set.tolerance);
    print_rows(c, STOP_OWN_NORM);
    int peer = better_peer(c);
    const outcome* o = c->outcomes[STOP_TWO_NORM];
    double ratio = peer >= 0 ? total(&o[peer]) / total(&o[0]) : NAN;
    printf("\nbetter peer (%s) over sa-ppcg, 2-norm: %.2f, aimed at 3: %s; in processor time %.2f\n",
           peer >= 0 ? c->set.all[peer].name : "none", ratio, ratio >= 3.0 ? "reached" : "not reached",
           peer >= 0 ? o[peer].best.cpu_s / o[0].best.cpu_s : NAN);
}

static void print_json_row(const contest* c, stop_norm norm, int k)
{
    const outcome* o = &c->outcomes[norm][k];
    printf("{\"solver\":");
    print_json_text(c->set.all[k].name);
    printf(",\"options\":");
    print_json_text(c->set.all[k].options ? c->set.all[k].options : "");
    printf(",\"stop\":\"%s\",\"setup_s\":%.6g,\"solve_s\":%.6g,\"cpu_s\":%.6g,\"iterations\":%d,\"levels\":%d,"
           "\"converged\":%d,"
           "\"residual2\":%.6g,\"energy_error\":",
           norm == STOP_TWO_NORM ? "2-norm" : "own", o->best.setup_s, o->best.solve_s, o->best.cpu_s,
           o->best.iterations, o->best.level_count, !o->failed, o->residual2);
    printf(isfinite(o->energy_error) ? "%.6g}" : "null}", o->energy_error);
}

static void print_json(const contest* c)
{
    printf("{\"benchmark\":\"peers\",\"system\":");
    print_json_text(c->set.prefix);
    printf(",\"vertices\":%d,\"threads\":%d,\"rounds\":%d,\"tolerance\":%g,\"petsc\":\"%s\",\"runs\":[", c->of.rows,
           c->threads, c->set.rounds, c->set.tolerance, petsc_version_text());
    for (int k = 0; k < 2 * c->set.count; k++)
    {
        printf(k > 0 ? ",\n" : "\n");
        print_json_row(c, k < c->set.count ? STOP_TWO_NORM : STOP_OWN_NORM, k % c->set.count);
    }
    int peer = better_peer(c);
    const outcome* o = c->outcomes[STOP_TWO_NORM];
    printf("],\n\"better_peer_over_sa_ppcg\":");
    printf(peer >= 0 && !o[0].failed ? "%.4g}\n" : "null}\n", peer >= 0 ? total(&o[peer]) / total(&o[0]) : 0.0);
}

// ---- all of it

static bool any_failed(const contest* c)
{
    bool failed = false;
    for (int k = 0; k < c->set.count; k++)
    {
        failed = failed || c->outcomes[0][k].failed || c->outcomes[1][k].failed;
    }
    return failed;
}

static weft_status prepare(contest* c, weft_error* error)
{
    c->threads = petsc_rank_count();
    TRY(check_cores(c->threads, error));
    TRY(problem_read(&c->of, c->set.prefix, error));
    c->x = MEM_NEW(c->of.rows, vec3);
    c->peers = petsc_problem_create(&c->of);
    if (!c->x || !c->peers)
    {
        return error_set(error, WEFT_NO_MEMORY, c->set.prefix, 0, "no memory for another %d vertices", c->of.rows);
    }
    // Only rank 0 judges; the others wait.
    weft_status status = WEFT_OK;
    if (c->set.energy && petsc_rank() == 0)
    {
        status = problem_solve_tightly(&c->of, error);
    }
    return (weft_status)petsc_meet((int)status);
}

int main(int argc, char** argv)
{
    static contest c;
    weft_error error = {0};
    if (!petsc_start())
    {
        fprintf(stderr, "weft-peers: PETSc does not start\n");
        return 3;
    }
    weft_status status = read_settings(argc, argv, &c.set, &error);
    status = status == WEFT_OK ? prepare(&c, &error) : status;
    int code = status == WEFT_OK ? 0 : report(&c.set, &error, exit_code(status));
    if (status == WEFT_OK)
    {
        solve_all(&c);
        code = any_failed(&c);
    }
    if (status == WEFT_OK && petsc_rank() == 0)
    {
        c.set.json ? print_json(&c) : print_tables(&c);
    }
    petsc_problem_destroy(c.peers);
    problem_finish(&c.of);
    mem_free(c.x);
    petsc_end();
    return code;
}
