// weft bench sa-phases: where the time of multigrid goes. Each phase of the setup and each kernel of the cycle, summed
// over the levels, on 1, 2, ... threads: seconds, bytes that it cannot do without, and how far it is from moving them
// at the bandwidth of a triad loop on the same threads. At the end whole solves, cold, of sa-ppcg and diag-pcg (the
// latter by its iteration). Options: --scene NAME (pinned), --cells N (400), --thread-counts LIST (1,2), --rounds N (5;
// the fastest counts, phase by phase), --step K, --keep DIR, --set, --tessellation, --levels (each level apart). Times
// of the setup are those of a warm process: the first round is thrown away.
#include <math.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/sa_systems.h"
#include "solve/sa/sa.h"
#include "solve/system.h"

enum
{
    THREADS_MAX = 8,
    CYCLES = 5,
    TRIAD_PASSES = 10
};

static const char* const phase_names[SA_PHASE_COUNT] = {"copy of A",
                                                        "inverse diagonals",
                                                        "spectral radius",
                                                        "incomplete factor",
                                                        "near kernel, relaxed",
                                                        "strength",
                                                        "strong graph",
                                                        "aggregates",
                                                        "QR",
                                                        "structure of P",
                                                        "values of P",
                                                        "structure of A_c",
                                                        "Galerkin product",
                                                        "coarsest factor",
                                                        "conversion",
                                                        "first Chebyshev step",
                                                        "Chebyshev steps",
                                                        "residual",
                                                        "restriction",
                                                        "prolongation",
                                                        "coarsest solve"};

typedef struct measured
{
    int threads;
    double bandwidth;                              // bytes a second
    double setup, refresh, cycle;                  // s
    double cold_setup, cold_solve, diag_iteration; // s, by the solvers themselves
    int iterations;                                // of sa-ppcg
    sa_profile full, numeric, solve;               // s, the fastest round of each phase
} measured;

// ---- bytes

typedef struct sizes
{
    double n, B, nb, K, np, nap, nc, ncb, R, steps, lanczos;
} sizes;

static sizes sizes_of(const sa_hierarchy* h, int level)
{
    const sa_level* l = &h->levels[level];
    bool last = level + 1 == h->level_count;
    return (sizes){.n = l->rows,
                   .B = l->block,
                   .nb = l->pattern.block_count,
                   .K = l->coarse_block,
                   .np = last ? 0.0 : l->P_start[l->rows],
                   .nap = last || !l->AP_start ? 0.0 : l->AP_start[l->rows],
                   .nc = l->coarse_rows,
                   .ncb = last ? 0.0 : l[1].pattern.block_count,
                   .R = (double)sa_real_size(h),
                   .steps = h->settings.degree,
                   .lanczos = h->settings.lanczos};
}

// Bytes that a phase reads and writes when nothing is touched twice.
static double bytes_of(const sa_hierarchy* h, int level, sa_phase phase)
{
    sizes s = sizes_of(h, level);
    bool last = level + 1 == h->level_count;
    double matrix = s.nb * (s.B * s.B * s.R + 4.0) + 4.0 * s.n, inverse = s.n * s.B * s.B * s.R;
    double vector = s.n * s.B * s.R, kernel = s.n * s.B * s.K * 8.0;
    double P = s.np * (s.B * s.K * s.R + 4.0), coarse = s.nc * s.K * s.R;
    // A packed level: the smoother takes 16-bit numbers and no inverse, the setup the system's own.
    bool packed = h->levels[level].packed != NULL;
    double scaling = packed ? 36.0 * s.n : 0.0, smoothed = packed ? 22.0 * s.nb + 4.0 * s.n : matrix;
    double smoother_inverse = packed ? 0.0 : inverse;
    matrix = packed ? 76.0 * s.nb + 4.0 * s.n : matrix;
    if (last && phase != SA_INVERT && phase != SA_LOAD)
    {
        return 0.0;
    }
    switch (phase)
    {
    case SA_LOAD:
        return level > 0 ? 0.0 : packed ? 94.0 * s.nb + 3.0 * scaling : s.nb * (76.0 + 9.0 * s.R);
    case SA_INVERT:
        return 2.0 * inverse;
    case SA_RADIUS:
        return s.lanczos * (smoothed + smoother_inverse + 11.0 * vector);
    case SA_INCOMPLETE:
        return h->levels[level].incomplete ? 1.5 * matrix + 13.0 * vector : 0.0;
    case SA_KERNEL:
        return (level == 0 ? kernel : 0.0) + matrix + inverse + 2.0 * kernel;
    case SA_STRENGTH:
        return matrix + 2.0 * s.n * s.B * s.B * 8.0 + 8.0 * s.nb;
    case SA_GRAPH:
        return 24.0 * s.nb;
    case SA_AGGREGATE:
        return 16.0 * s.nb;
    case SA_TENTATIVE:
        return kernel + s.n * s.B * s.K * s.R + s.nc * s.K * s.K * 8.0;
    case SA_P_STRUCTURE:
        return 8.0 * s.nb + 16.0 * s.np;
    case SA_P_VALUES:
        return matrix + P + s.n * s.B * s.K * s.R;
    case SA_COARSE_STRUCTURE:
        return 4.0 * s.nb + 8.0 * s.np + 8.0 * s.nap + 4.0 * s.ncb;
    case SA_GALERKIN:
        return matrix + P + 4.0 * s.nap + s.ncb * s.K * s.K * s.R;
    case SA_CONVERT:
        return level == 0 ? 2.0 * (s.n * 3.0 * (8.0 + s.R) + scaling) : 0.0;
    case SA_FIRST:
        return smoother_inverse + 3.0 * vector;
    case SA_STEP:
        return (2.0 * s.steps - 1.0) * (smoothed + smoother_inverse + 5.0 * vector);
    case SA_RESIDUAL:
        return smoothed + scaling + 3.0 * vector;
    case SA_RESTRICT:
        return P + 8.0 * s.np + vector + coarse;
    case SA_PROLONG:
        return P + scaling + 2.0 * vector + coarse;
    default:
        return 0.0;
    }
}

// ---- measuring

static double total_of(const sa_profile* p, int phase, int level)
{
    double sum = 0.0;
    for (int k = 0; k < WEFT_LEVEL_MAX; k++)
    {
        sum += level < 0 || level == k ? p->seconds[k][phase] : 0.0;
    }
    return sum;
}

static void keep_fastest(sa_profile* best, const sa_profile* round, bool first)
{
    for (int k = 0; k < WEFT_LEVEL_MAX * SA_PHASE_COUNT; k++)
    {
        double* to = &best->seconds[0][0] + k;
        double value = (&round->seconds[0][0])[k];
        *to = first ? value : fmin(*to, value);
    }
}

typedef struct subject
{
    linear_system system;
    sa_options options;
    sa_hierarchy h;
    vec3 *r, *z;
    triad t;
} subject;

static weft_status measure_round(subject* s, measured* m, bool first)
{
    sa_profile profile = {0};
    s->h.profile = &profile;
    double start = timer_now();
    TRY(sa_build(&s->h, &s->system, true));
    double seconds = timer_now() - start;
    m->setup = first ? seconds : fmin(m->setup, seconds);
    keep_fastest(&m->full, &profile, first);

    profile = (sa_profile){0};
    start = timer_now();
    TRY(sa_refresh(&s->h, &s->system, &(sa_update){0}));
    seconds = timer_now() - start;
    m->refresh = first ? seconds : fmin(m->refresh, seconds);
    keep_fastest(&m->numeric, &profile, first);

    sa_start(&s->h, s->r);
    for (int k = 0; k < CYCLES; k++)
    {
        profile = (sa_profile){0};
        start = timer_now();
        sa_cycle(&s->h, s->r, s->z);
        seconds = timer_now() - start;
        m->cycle = first && k == 0 ? seconds : fmin(m->cycle, seconds);
        keep_fastest(&m->solve, &profile, first && k == 0);
    }
    for (int k = 0; k < TRIAD_PASSES; k++)
    {
        m->bandwidth = fmax(m->bandwidth, triad_bytes(&s->t) / triad_seconds(&s->t, s->h.pool));
    }
    s->h.profile = NULL;
    return WEFT_OK;
}

// A whole solve by a solver; diag-pcg stops after a few iterations.
static weft_status solve_cold(subject* s, const char* name, int max_iterations, weft_solve_stats* stats)
{
    solve_options options = {.tolerance = s->options.def.tolerance,
                             .max_iterations = max_iterations,
                             .sa = s->options.def.sa,
                             .pool = s->h.pool,
                             .cpu = s->h.cpu};
    solver_object solver = {0};
    memset(s->z, 0, (size_t)s->system.A.pattern->row_count * sizeof(vec3));
    weft_status status = solver_object_init(&solver, name, &options, NULL);
    status = status == WEFT_OK ? solver_object_solve(&solver, &s->system, s->z, stats) : status;
    solver_object_finish(&solver);
    return status == WEFT_NOT_CONVERGED && max_iterations ? WEFT_OK : status;
}

static weft_status measure_solves(subject* s, measured* m, bool first)
{
    enum
    {
        SHORT = 5,
        LONG = 45
    };
    weft_solve_stats sa, brief, longer;
    TRY(solve_cold(s, "sa-ppcg", 0, &sa));
    TRY(solve_cold(s, "diag-pcg", SHORT, &brief));
    TRY(solve_cold(s, "diag-pcg", LONG, &longer));
    double iteration = (longer.solve_s - brief.solve_s) / (LONG - SHORT);
    if (first || sa.setup_s + sa.solve_s < m->cold_setup + m->cold_solve)
    {
        m->cold_setup = sa.setup_s;
        m->cold_solve = sa.solve_s;
    }
    m->diag_iteration = first ? iteration : fmin(m->diag_iteration, iteration);
    m->iterations = sa.iterations;
    return WEFT_OK;
}

static weft_status measure(subject* s, measured* m)
{
    workers* pool = NULL;
    TRY(workers_create(m->threads, NULL, &pool));
    s->h.pool = pool;
    weft_status status = sa_build(&s->h, &s->system, true); // first touch of the memory
    for (int round = 0; round < s->options.rounds && status == WEFT_OK; round++)
    {
        status = measure_round(s, m, round == 0);
    }
    for (int round = 0; round < s->options.rounds && status == WEFT_OK; round++)
    {
        status = measure_solves(s, m, round == 0);
    }
    workers_destroy(pool);
    s->h.pool = NULL;
    return status;
}

// ---- table

static void print_line(const subject* s, const measured* m, int count, int phase, int level, const char* what)
{
    double bytes = 0.0;
    for (int k = 0; k < s->h.level_count; k++)
    {
        bytes += level < 0 || level == k ? bytes_of(&s->h, k, (sa_phase)phase) : 0.0;
    }
    printf("%-22s %9.3f", what, 1e-6 * bytes);
    for (int k = 0; k < count; k++)
    {
        const sa_profile* p = phase < SA_CONVERT ? &m[k].full : &m[k].solve;
        double seconds = total_of(p, phase, level);
        printf("  %9.3f", 1e3 * seconds);
        bytes > 0.0 ? printf(" %6.2f", seconds * m[k].bandwidth / bytes) : printf("      -");
    }
    printf("\n");
}

static void print_table(const subject* s, const measured* m, int count, bool levels)
{
    printf("%-22s %9s", "", "MB");
    for (int k = 0; k < count; k++)
    {
        printf("  %2d: ms /floor   ", m[k].threads);
    }
    printf("\n");
    for (int phase = 0; phase < SA_PHASE_COUNT; phase++)
    {
        print_line(s, m, count, phase, -1, phase_names[phase]);
        for (int level = 0; level < s->h.level_count && levels; level++)
        {
            char what[32];
            snprintf(what, sizeof(what), "  level %d", level);
            print_line(s, m, count, phase, level, what);
        }
    }
    const char* const names[] = {"full setup",     "refresh",        "cycle",
                                 "sa-ppcg, setup", "sa-ppcg, solve", "diag-pcg iteration"};
    for (int part = 0; part < 6; part++)
    {
        printf("%-22s %9s", names[part], "");
        for (int k = 0; k < count; k++)
        {
            const double all[] = {m[k].setup,      m[k].refresh,    m[k].cycle,
                                  m[k].cold_setup, m[k].cold_solve, m[k].diag_iteration};
            double seconds = all[part];
            printf("  %9.3f       ", 1e3 * seconds);
        }
        printf("\n");
    }
    printf("%-22s %9s", "triad, GB/s", "");
    for (int k = 0; k < count; k++)
    {
        printf("  %9.1f       ", 1e-9 * m[k].bandwidth);
    }
    printf("\n");
    printf("%-22s %9s", "setup + solve, faster", "");
    for (int k = 0; k < count; k++)
    {
        printf("  %9.2f       ", (m[0].cold_setup + m[0].cold_solve) / (m[k].cold_setup + m[k].cold_solve));
    }
    printf("\n%-22s %9s", "triad, faster", "");
    for (int k = 0; k < count; k++)
    {
        printf("  %9.2f       ", m[k].bandwidth / m[0].bandwidth);
    }
    printf("\n%d iterations of sa-ppcg\n", m[0].iterations);
    for (int level = 0; level < s->h.level_count; level++)
    {
        sizes z = sizes_of(&s->h, level);
        const sa_level* l = &s->h.levels[level];
        double made = l->chunk_start ? l->chunk_start[sa_chunks(l)] / z.n : 0.0; // times that a row of A P is made
        printf("level %d: %.0f rows of %.0f, %.1f blocks a row, %.1f blocks of P, %.1f of A P (made %.2f times)\n",
               level, z.n, z.B, z.nb / z.n, z.np / z.n, z.nap / z.n, made);
    }
}

static void print_json(const subject* s, const measured* m, int count)
{
    printf("{\"vertices\":%d,\"runs\":[", s->h.levels[0].rows);
    for (int k = 0; k < count; k++)
    {
        printf("%s{\"threads\":%d,\"bytes_a_second\":%.6g,\"setup_s\":%.6g,\"refresh_s\":%.6g,\"cycle_s\":%.6g,"
               "\"cold_setup_s\":%.6g,\"cold_solve_s\":%.6g,\"iterations\":%d,\"diag_pcg_iteration_s\":%.6g,"
               "\"phases\":{",
               k ? "," : "", m[k].threads, m[k].bandwidth, m[k].setup, m[k].refresh, m[k].cycle, m[k].cold_setup,
               m[k].cold_solve, m[k].iterations, m[k].diag_iteration);
        for (int phase = 0; phase < SA_PHASE_COUNT; phase++)
        {
            double bytes = 0.0;
            for (int level = 0; level < s->h.level_count; level++)
            {
                bytes += bytes_of(&s->h, level, (sa_phase)phase);
            }
            const sa_profile* p = phase < SA_CONVERT ? &m[k].full : &m[k].solve;
            printf("%s\"%s\":{\"bytes\":%.6g,\"s\":%.6g}", phase ? "," : "", phase_names[phase], bytes,
                   total_of(p, phase, -1));
        }
        printf("}}");
    }
    printf("]}\n");
}

static weft_status subject_init(subject* s, const sa_system* made)
{
    int rows = weft_system_vertex_count(made->system);
    s->system = system_view(made->system, 1);
    s->h.settings = s->options.def.sa;
    s->h.cpu = cpu_best();
    s->r = MEM_NEW(rows, vec3);
    s->z = MEM_NEW(rows, vec3);
    if (!s->r || !s->z)
    {
        return WEFT_NO_MEMORY;
    }
    memcpy(s->r, s->system.b, (size_t)rows * sizeof(vec3));
    filter_apply(&s->system, s->r);
    return triad_init(&s->t);
}

static int run(int argc, char** argv, bool json)
{
    subject s = {0};
    measured m[THREADS_MAX] = {0};
    int threads[THREADS_MAX];
    bench_known(argc, argv, SA_OPTIONS " --scene= --cells= --thread-counts= --tessellation= --levels");
    if (sa_options_read(argc, argv, &s.options) != WEFT_OK)
    {
        return 2;
    }
    s.options.rounds = bench_count(argc, argv, "--rounds", 5);
    int count = bench_numbers(argc, argv, "--thread-counts", "1,2", threads, THREADS_MAX);
    sa_case c = sa_case_make(&s.options,
                             bench_words(argc, argv, "--scene", "pinned", "pinned,drooping,re-entrant,plane,random"),
                             bench_count(argc, argv, "--cells", 400),
                             strcmp(bench_text(argc, argv, "--tessellation", "regular"), "irregular") == 0);
    sa_system made = {0};
    weft_status status = sa_system_make(&c, &s.options, &made);
    if (status == WEFT_OK)
    {
        status = subject_init(&s, &made);
    }
    for (int k = 0; k < count && status == WEFT_OK; k++)
    {
        m[k].threads = threads[k];
        status = measure(&s, &m[k]);
    }
    if (status == WEFT_OK)
    {
        json ? print_json(&s, m, count) : print_table(&s, m, count, bench_flag(argc, argv, "--levels"));
    }
    sa_finish(&s.h);
    triad_finish(&s.t);
    mem_free(s.r);
    mem_free(s.z);
    sa_system_finish(&made);
    return status == WEFT_OK ? 0 : bench_failed("sa-phases", status);
}

const benchmark bench_sa_phases = {"sa-phases", "multigrid phase by phase: bytes against seconds, on 1, 2, ... threads",
                                   run};
