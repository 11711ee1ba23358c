#include "bench/sa_systems.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "solve/system.h"

// ---- options

static weft_status read_set(sa_options* o, const char* text)
{
    const char* equals = strchr(text, '=');
    weft_error error = {0};
    if (strncmp(text, "sa.", 3) == 0 && equals)
    {
        char name[64];
        snprintf(name, sizeof(name), "%.*s", (int)(equals - text) - 3, text + 3);
        const char* end = equals + 1;
        double value;
        if (!decimal_parse(&end, &value) || *end)
        {
            fprintf(stderr, "weft bench: --set %s: sa.%s takes a number\n", text, name);
            return WEFT_BAD_INPUT;
        }
        weft_status status = weft_sa_set(&o->def.sa, name, value, &error);
        if (status != WEFT_OK)
        {
            fprintf(stderr, "weft bench: %s\n", error.message);
        }
        return status;
    }
    if (!equals || o->override_count == SA_SET_MAX)
    {
        fprintf(stderr, "weft bench: --set %s: give PATH=VALUE, at most %d times\n", text, SA_SET_MAX);
        return WEFT_BAD_INPUT;
    }
    o->overrides[o->override_count++] = text;
    return WEFT_OK;
}

weft_status sa_options_read(int argc, char** argv, sa_options* out)
{
    enum
    {
        SETS = 2 * SA_SET_MAX
    };
    *out = (sa_options){.step = bench_count(argc, argv, "--step", 10),
                        .threads = bench_count(argc, argv, "--threads", 2),
                        .rounds = bench_count(argc, argv, "--rounds", 1),
                        .energy_max = bench_option(argc, argv, "--energy-max", 0),
                        .keep = bench_text(argc, argv, "--keep", NULL),
                        .def = weft_solver_def_default()};
    out->def.tolerance = bench_number(argc, argv, "--tolerance", 1e-5);
    out->def.worker_count = out->threads;
    const char* sets[SETS];
    int count = bench_texts(argc, argv, "--set", sets, SETS);
    weft_status status = WEFT_OK;
    for (int k = 0; k < count && status == WEFT_OK; k++)
    {
        status = read_set(out, sets[k]);
    }
    if (!(out->def.tolerance > 0.0))
    {
        fprintf(stderr, "weft bench: --tolerance %g: it must be positive\n", out->def.tolerance);
        return WEFT_BAD_INPUT;
    }
    return status;
}

// ---- cases

sa_case sa_case_make(const sa_options* options, const char* scene, int cells, bool irregular)
{
    sa_case c = {.scene = scene, .cells = cells, .irregular = irregular, .step = options->step};
    for (int k = 0; k < options->override_count; k++)
    {
        sa_case_override(&c, options->overrides[k]);
    }
    return c;
}

void sa_case_override(sa_case* c, const char* path_is_value)
{
    WEFT_ASSERT(c->override_count < SA_OVERRIDE_MAX);
    c->overrides[c->override_count++] = path_is_value;
}

static void append(char* out, const char* format, ...) __attribute__((format(printf, 2, 3)));

static void append(char* out, const char* format, ...)
{
    size_t length = strlen(out);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(out + length, SA_KEY_SIZE - length, format, arguments);
    va_end(arguments);
}

static void name_as(const sa_case* c, const char* scene, char out[SA_KEY_SIZE])
{
    out[0] = 0;
    append(out, "%s %s cells=%d step=%d", scene, c->irregular ? "irregular" : "regular", c->cells, c->step);
    for (int k = 0; k < c->override_count; k++)
    {
        append(out, " %s", c->overrides[k]);
    }
}

void sa_case_name(const sa_case* c, char out[SA_KEY_SIZE])
{
    name_as(c, c->scene, out);
}

int sa_case_vertices(const sa_case* c)
{
    int side = c->cells + 1, half = c->cells / 2;
    return strcmp(c->scene, "re-entrant") == 0 ? side * side - half * half : side * side;
}

// ---- simulation

static bool is_synthetic(const char* scene)
{
    return strcmp(scene, "plane") == 0 || strcmp(scene, "random") == 0;
}

// The scene whose matrix the case has.
static const char* simulated_scene(const sa_case* c)
{
    return is_synthetic(c->scene) ? "pinned" : c->scene;
}

static weft_status failed(const char* what, weft_status status, const weft_error* error)
{
    fprintf(stderr, "weft bench: %s: %s\n", what, error->message[0] ? error->message : weft_status_text(status));
    return status;
}

weft_sim* sa_case_sim(const sa_case* c, int threads)
{
    char cells[64];
    snprintf(cells, sizeof(cells), "cells=%d", c->cells);
    // Only the drop scenes have contact in the paper.
    bool drops = strncmp(c->scene, "drop-", 5) == 0;
    const char* overrides[SA_OVERRIDE_MAX + 4] = {
        cells, c->irregular ? "tessellation=irregular" : "tessellation=regular", "solver.name=sa-ppcg",
        drops ? "contact.enabled=true" : "contact.enabled=false"};
    // The case's own come last, so that they win.
    memcpy(overrides + 4, c->overrides, (size_t)c->override_count * sizeof(char*));
    return bench_sim(simulated_scene(c), overrides, c->override_count + 4, threads);
}

// The system of a whole step, even where the next one would begin with half of it.
static weft_status take(weft_sim* sim, sa_system* out, weft_error* error)
{
    int* halvings = &sim->world.state.halvings;
    out->halvings = *halvings;
    *halvings = 0;
    weft_status status = weft_sim_system(sim, &out->system, error);
    *halvings = out->halvings;
    return status;
}

static weft_status simulate(const sa_case* c, int threads, sa_system* out)
{
    weft_error error = {0};
    char name[SA_KEY_SIZE];
    sa_case_name(c, name);
    weft_sim* sim = sa_case_sim(c, threads);
    weft_status status = sim ? WEFT_OK : WEFT_BAD_INPUT;
    for (int k = 1; k < c->step && status == WEFT_OK; k++)
    {
        weft_step_stats stats;
        status = weft_sim_step(sim, &stats, &error);
        out->rejected += status == WEFT_OK ? stats.rejected : 0;
    }
    if (status == WEFT_OK)
    {
        status = take(sim, out, &error);
    }
    if (sim && status != WEFT_OK)
    {
        failed(name, status, &error);
    }
    weft_sim_destroy(sim);
    return status;
}

// ---- kept systems: DIR/SCENE-CELLS-HASH.weftsys with the figures that the file has no place for in .info beside it

static uint64_t hash_text(const char* text)
{
    uint64_t hash = 0;
    for (uint64_t k = 0; text[k]; k++)
    {
        hash ^= random_bits((unsigned char)text[k], k);
    }
    return hash;
}

static void kept_prefix(const sa_case* c, const char* folder, char* out, size_t size)
{
    char name[SA_KEY_SIZE];
    name_as(c, simulated_scene(c), name);
    snprintf(out, size, "%s/%s-%d-%016llx", folder, simulated_scene(c), c->cells, (unsigned long long)hash_text(name));
}

// .info is written last: a kept system without it is no whole one.
static bool read_info(const char* prefix, sa_system* s, int* element_vertices)
{
    char path[1200];
    snprintf(path, sizeof(path), "%s.info", prefix);
    FILE* file = fopen(path, "r");
    bool read = file && fscanf(file, "halvings %d rejected %d element_vertices %d", &s->halvings, &s->rejected,
                               element_vertices) == 3;
    if (file)
    {
        fclose(file);
    }
    return read;
}

static void write_kept(const sa_case* c, const char* prefix, const sa_system* s)
{
    char path[1200], name[SA_KEY_SIZE];
    weft_error error = {0};
    weft_status status = weft_system_write(s->system, prefix, 1, &error);
    if (status != WEFT_OK)
    {
        failed(prefix, status, &error); // the benchmark goes on without
        return;
    }
    snprintf(path, sizeof(path), "%s.info", prefix);
    name_as(c, simulated_scene(c), name);
    FILE* file = fopen(path, "w");
    if (file)
    {
        fprintf(file, "halvings %d rejected %d element_vertices %d\n%s\n", s->halvings, s->rejected,
                s->system->element_vertices, name);
        fclose(file);
    }
}

static weft_status make_base(const sa_case* c, const sa_options* options, sa_system* out)
{
    char prefix[1100];
    if (!options->keep)
    {
        return simulate(c, options->threads, out);
    }
    if (mkdir(options->keep, 0777) != 0 && errno != EEXIST)
    {
        fprintf(stderr, "weft bench: cannot make the folder `%s`\n", options->keep);
        return WEFT_IO;
    }
    kept_prefix(c, options->keep, prefix, sizeof(prefix));
    int element_vertices = 0;
    if (read_info(prefix, out, &element_vertices))
    {
        weft_error error = {0};
        weft_status status = weft_system_read(prefix, &out->system, &error);
        if (status != WEFT_OK)
        {
            return failed(prefix, status, &error);
        }
        out->system->element_vertices = element_vertices;
        return WEFT_OK;
    }
    TRY(simulate(c, options->threads, out));
    write_kept(c, prefix, out);
    return WEFT_OK;
}

// ---- constraints that no shipped scene has

static double middle_x(const weft_system* s)
{
    double least = s->positions[0].x, most = least;
    for (int i = 1; i < s->pattern.row_count; i++)
    {
        least = fmin(least, s->positions[i].x);
        most = fmax(most, s->positions[i].x);
    }
    return 0.5 * (least + most);
}

// The plane leans a little against all axes, so that its constraints couple the unknowns; it pushes with 2 to 3 cm/s.
static filter_record plane_record(const weft_system* s, int i, vec3* z)
{
    vec3 normal = v3_normalize((vec3){0.1, 1.0, -0.05});
    *z = v3_scale(0.02 + 0.01 * s->positions[i].x, normal);
    return filter_record_make(i, &normal, 1);
}

static filter_record fixed_record(int i, vec3* z)
{
    const vec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    *z = (vec3){0, 0, 0};
    return filter_record_make(i, axes, 3);
}

// Replaces the constraints of the simulated sheet.
static weft_status constrain(weft_system* s, const char* scene)
{
    enum
    {
        SEED = 2015
    };
    bool plane = strcmp(scene, "plane") == 0;
    int n = s->pattern.row_count, capacity = 0;
    double middle = middle_x(s);
    mem_free(s->filter);
    mem_free(s->z);
    s->filter = NULL;
    s->filter_count = 0;
    s->z = MEM_NEW(n, vec3);
    if (!s->z)
    {
        return WEFT_NO_MEMORY;
    }
    for (int i = 0; i < n; i++)
    {
        s->z[i] = (vec3){0, 0, 0};
        if (plane ? s->positions[i].x >= middle : random_unit(SEED, (uint64_t)i) >= 0.1)
        {
            continue;
        }
        if (!mem_grow((void**)&s->filter, &capacity, s->filter_count + 1, sizeof(filter_record)))
        {
            return WEFT_NO_MEMORY;
        }
        s->filter[s->filter_count++] = plane ? plane_record(s, i, &s->z[i]) : fixed_record(i, &s->z[i]);
    }
    return WEFT_OK;
}

// The last part of making a system; cleans up when that or the part before went wrong.
static weft_status complete(const sa_case* c, sa_system* out, weft_status status)
{
    if (status == WEFT_OK && is_synthetic(c->scene))
    {
        status = constrain(out->system, c->scene);
    }
    if (status != WEFT_OK)
    {
        sa_system_finish(out);
    }
    return status;
}

weft_status sa_system_make(const sa_case* c, const sa_options* options, sa_system* out)
{
    *out = (sa_system){0};
    TRY(complete(c, out, make_base(c, options, out)));
    out->energy = weft_system_vertex_count(out->system) <= options->energy_max;
    return WEFT_OK;
}

weft_status sa_system_take(const sa_case* c, weft_sim* sim, sa_system* out)
{
    weft_error error = {0};
    *out = (sa_system){0};
    weft_status status = take(sim, out, &error);
    return status == WEFT_OK ? complete(c, out, status) : failed(c->scene, status, &error);
}

void sa_system_finish(sa_system* s)
{
    weft_system_destroy(s->system);
    *s = (sa_system){0};
}

// ---- solves

void sa_solve_key(const sa_case* c, const weft_solver_def* def, char out[SA_KEY_SIZE])
{
    sa_case_name(c, out);
    append(out, " | %s tolerance=%g threads=%d", def->solver, def->tolerance, def->worker_count);
    if (def->max_iterations > 0)
    {
        append(out, " max_iterations=%d", def->max_iterations);
    }
    if (strncmp(def->solver, "sa-", 3) == 0 || strcmp(def->solver, "auto") == 0)
    {
        const char* name;
        double value;
        for (int k = 0; weft_sa_get(&def->sa, k, &name, &value) == WEFT_OK; k++)
        {
            append(out, " %s=%g", name, value);
        }
    }
}

// A cold solve; its status is a result, that of the solver's making is not.
static weft_status solve_cold(const weft_system* system, const weft_solver_def* def, weft_vec3* x,
                              weft_solve_stats* stats, weft_status* solved)
{
    weft_error error = {0};
    weft_solver* solver = NULL;
    weft_status status = weft_solver_create(def, &solver, &error);
    if (status != WEFT_OK)
    {
        return failed(def->solver, status, &error);
    }
    *solved = weft_solver_solve(solver, system, x, stats);
    weft_solver_destroy(solver);
    return *solved == WEFT_NO_MEMORY ? WEFT_NO_MEMORY : WEFT_OK;
}

// Costs a direct solve. NaN where it is not asked for or fails.
static double energy_error(const sa_system* s, const weft_vec3* x)
{
    double error = NAN;
    if (s->energy)
    {
        weft_system_energy_error(s->system, x, &error, NULL);
    }
    return error;
}

static weft_status log_stats(results* log, const char* key, const sa_system* s, const weft_solve_stats* stats,
                             double energy, weft_status solved)
{
    char t[5][32];
    return results_add(
        log, key,
        "\"vertices\":%d,\"blocks\":%d,\"iterations\":%d,\"converged\":%d,\"residual\":%s,\"residual2\":%s,"
        "\"energy_error\":%s,\"rate\":%s,\"setup_s\":%.6g,\"solve_s\":%.6g,\"bytes\":%.0f,\"bytes_held\":%.0f,"
        "\"levels\":%d,"
        "\"operator_complexity\":%s,\"escalations\":%d,\"halvings\":%d,\"rejected\":%d,\"status\":%d",
        s->system->pattern.row_count, s->system->pattern.block_count, stats->iterations, stats->converged,
        results_json(stats->residual, t[0]), results_json(stats->residual2, t[1]), results_json(energy, t[2]),
        results_json(stats->rate, t[3]), stats->setup_s, stats->solve_s, stats->bytes, stats->bytes_held,
        stats->level_count, results_json(stats->operator_complexity, t[4]), stats->escalations, s->halvings,
        s->rejected, (int)solved);
}

weft_status sa_solve_log(results* log, const char* key, const sa_system* s, const weft_solver_def* def)
{
    weft_vec3* x = MEM_NEW(weft_system_vertex_count(s->system), weft_vec3);
    weft_status status = x ? WEFT_OK : WEFT_NO_MEMORY, solved = WEFT_OK;
    weft_solve_stats stats = {0};
    if (status == WEFT_OK)
    {
        status = solve_cold(s->system, def, x, &stats, &solved);
    }
    if (status == WEFT_OK)
    {
        status = log_stats(log, key, s, &stats, energy_error(s, x), solved);
        // The case and the solver's name are enough to see where it is.
        int length = (int)(strstr(key, " tolerance=") ? strstr(key, " tolerance=") - key : (long)strlen(key));
        fprintf(stderr, "%.*s: %d iterations, %.2f + %.2f s%s\n", length, key, stats.iterations, stats.setup_s,
                stats.solve_s,
                solved != WEFT_OK       ? ", FAILED"
                : stats.escalations > 0 ? ", escalated"
                                        : "");
    }
    mem_free(x);
    return status;
}

static bool is_breakdown(weft_status status)
{
    return status == WEFT_NOT_CONVERGED || status == WEFT_NOT_DEFINITE || status == WEFT_NOT_FINITE;
}

static void key_with(const sa_case* c, const weft_solver_def* def, const char* suffix, char out[SA_KEY_SIZE])
{
    sa_solve_key(c, def, out);
    append(out, "%s", suffix);
}

weft_status sa_solve_once(results* log, const sa_case* c, const sa_options* options, const weft_solver_def* def,
                          const char* suffix, sa_system* made)
{
    char key[SA_KEY_SIZE];
    key_with(c, def, suffix, key);
    if (results_find(log, key))
    {
        return WEFT_OK;
    }
    weft_status status = made->system ? WEFT_OK : sa_system_make(c, options, made);
    if (is_breakdown(status))
    {
        return results_add(log, key, "\"iterations\":null,\"converged\":0,\"simulated\":0,\"status\":%d", (int)status);
    }
    return status == WEFT_OK ? sa_solve_log(log, key, made, def) : status;
}

const char* sa_solve_line(const results* log, const sa_case* c, const weft_solver_def* def, const char* suffix)
{
    char key[SA_KEY_SIZE];
    key_with(c, def, suffix, key);
    return results_find(log, key);
}

void sa_print_settings(const sa_options* options)
{
    const weft_sa_def* sa = &options->def.sa;
    printf("cotton, hinge bending, h 2 ms (where not said otherwise), system of step %d, start (I - S) z,\n"
           "until the residual in the norm of M^-1 is %g of the start's; CG in double, hierarchy in %s, %d threads,\n"
           "cold: a new setup for each solve; theta %g, distance %d, %d vectors, Chebyshev %d, Lanczos %d\n",
           options->step, options->def.tolerance,
           sa->precision == 64   ? "double"
           : sa->precision == 32 ? "float"
           : sa->precision == 16 ? "float, its finest matrix in 16 bits"
                                 : "float (finest matrix in 16 bits from 800,000 blocks on)",
           options->threads, sa->theta, sa->distance, sa->vectors, sa->degree, sa->lanczos);
    for (int k = 0; k < options->override_count; k++)
    {
        printf("%s%s", k > 0 ? ", " : "changed: ", options->overrides[k]);
    }
    printf(options->override_count > 0 ? "\n" : "");
}
