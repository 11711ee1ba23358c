// weft solve: linear systems from files, solved in order by one solver object.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "weft/solver.h"

typedef struct solve_command
{
    const char** prefixes; // [prefix_count]
    int prefix_count;
    weft_solver_def def;
    int repeat;
    const char* output;     // NULL: none
    const char* components; // NULL: none, else a file for the last system's
    bool json;
    bool energy_error; // compare with a tight solve
    weft_error error;  // of a setting
} solve_command;

// One system and what came of it. runs are cold where the system is the first, so that reuse shows in the later ones.
typedef struct solve_record
{
    weft_system* system;
    weft_solve_stats* runs; // [repeat]
    int best;               // the run with the smallest setup and solve together
    weft_status status;     // of the last run; every run ends the same way
    double energy_error;    // NaN: not asked for, or the tight solve failed
} solve_record;

// sa.NAME=VALUE; on failure the error says what is wrong.
static bool read_setting(solve_command* c, const char* text)
{
    const char* equals = strchr(text, '=');
    char name[64];
    double value;
    if (strncmp(text, "sa.", 3) != 0 || !equals || (size_t)(equals - text) >= sizeof(name) ||
        !parse_double(equals + 1, &value))
    {
        return false;
    }
    snprintf(name, sizeof(name), "%.*s", (int)(equals - text) - 3, text + 3);
    return weft_sa_set(&c->def.sa, name, value, &c->error) == WEFT_OK;
}

static bool read_value(option_scan* scan, const char* name, solve_command* c)
{
    const char* value = option_value(scan);
    if (!value)
    {
        return false;
    }
    if (strcmp(name, "--solver") == 0)
    {
        c->def.solver = value;
        return true;
    }
    if (strcmp(name, "--preconditioner") == 0)
    {
        c->def.preconditioner = value;
        return true;
    }
    if (strcmp(name, "--variant") == 0)
    {
        c->def.variant = value;
        return true;
    }
    if (strcmp(name, "--components") == 0)
    {
        c->components = value;
        return true;
    }
    if (strcmp(name, "-o") == 0)
    {
        c->output = value;
        return true;
    }
    if (strcmp(name, "--tolerance") == 0)
    {
        return parse_double(value, &c->def.tolerance) && c->def.tolerance > 0.0;
    }
    if (strcmp(name, "--max-iterations") == 0)
    {
        return parse_int(value, 1, 1000000000, &c->def.max_iterations);
    }
    if (strcmp(name, "--threads") == 0)
    {
        return parse_int(value, 1, 256, &c->def.worker_count);
    }
    if (strcmp(name, "--set") == 0)
    {
        return read_setting(c, value);
    }
    return strcmp(name, "--repeat") == 0 && parse_int(value, 1, 1000, &c->repeat);
}

static bool option_is_known(const char* name)
{
    static const char* const names[] = {"--solver",  "--preconditioner", "--tolerance", "--max-iterations",
                                        "--threads", "--repeat",         "--set",       "-o",
                                        "--variant", "--components"};
    for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
    {
        if (strcmp(name, names[k]) == 0)
        {
            return true;
        }
    }
    return false;
}

static int read_options(int argc, char** argv, solve_command* c)
{
    // Known before anything can be wrong, so that every error has the right form.
    for (int k = 1; k < argc; k++)
    {
        c->json = c->json || strcmp(argv[k], "--json") == 0;
    }
    option_scan scan = {.command = "solve", .argc = argc, .argv = argv, .at = 1};
    while (option_next(&scan))
    {
        const char* name = scan.name;
        if (!name)
        {
            c->prefixes[c->prefix_count++] = scan.value;
        }
        else if (option_is(&scan, "--json"))
        {
            continue;
        }
        else if (option_is(&scan, "--energy-error"))
        {
            c->energy_error = true;
        }
        else if (!option_is_known(name))
        {
            return report_usage("solve", c->json, "there is no option `%s`", name);
        }
        else if (!read_value(&scan, name, c))
        {
            const char* why = c->error.message;
            return report_usage("solve", c->json, "`%s` cannot be `%s`%s%s", name, scan.value ? scan.value : "",
                                why[0] ? ": " : "", why);
        }
    }
    return c->prefix_count > 0 ? EXIT_DONE : report_usage("solve", c->json, "give the PREFIX of a system");
}

// NaN and infinity have no form in JSON.
static void put_number(const char* name, double value)
{
    printf(isfinite(value) ? ",\"%s\":%.17g" : ",\"%s\":null", name, value);
}

static void put_levels(const weft_solve_stats* s)
{
    printf(",\"levels\":[");
    for (int k = 0; k < s->level_count; k++)
    {
        const weft_level_stats* l = &s->levels[k];
        printf("%s{\"rows\":%d,\"block_size\":%d,\"blocks\":%d}", k > 0 ? "," : "", l->rows, l->block_size, l->blocks);
    }
    printf("]");
    put_number("operator_complexity", s->operator_complexity);
    printf(",\"refreshed\":%s,\"escalations\":%d", s->refreshed ? "true" : "false", s->escalations);
}

static void put_record(const solve_command* c, const solve_record* r, const char* prefix)
{
    const weft_solve_stats* best = &r->runs[r->best];
    printf("{\"prefix\":");
    put_json_string(prefix);
    printf(",\"solver\":");
    put_json_string(best->solver);
    printf(",\"n\":%d,\"iterations\":%d,\"converged\":%s", weft_system_vertex_count(r->system), best->iterations,
           best->converged ? "true" : "false");
    put_number("residual", best->residual);
    put_number("residual2", best->residual2);
    put_number("rate", best->rate);
    put_number("energy_error", r->energy_error);
    put_number("setup_s", best->setup_s);
    put_number("solve_s", best->solve_s);
    put_number("bytes", best->bytes);
    put_number("bytes_held", best->bytes_held);
    put_number("row_products", best->row_products);
    printf(",\"components\":%d", best->components);
    if (best->level_count > 0)
    {
        put_levels(best);
    }
    printf(",\"runs\":[");
    for (int k = 0; k < c->repeat; k++)
    {
        printf("%s{\"setup_s\":%.9g,\"solve_s\":%.9g}", k > 0 ? "," : "", r->runs[k].setup_s, r->runs[k].solve_s);
    }
    printf("]");
    if (r->status != WEFT_OK)
    {
        printf(",\"message\":");
        put_json_string(weft_status_text(r->status));
    }
    printf("}");
}

// One system gives a plain object, several an object with the list `solves`.
static void put_records(const solve_command* c, const solve_record* records)
{
    bool several = c->prefix_count > 1;
    printf(several ? "{\"solves\":[" : "");
    for (int k = 0; k < c->prefix_count; k++)
    {
        printf(k > 0 ? "," : "");
        put_record(c, &records[k], c->prefixes[k]);
    }
    printf(several ? "]}\n" : "\n");
}

static const char* what_to_try(weft_status status)
{
    switch (status)
    {
    case WEFT_NOT_CONVERGED:
        return "allow more with --max-iterations, ask for less with --tolerance, or use --solver cholesky";
    case WEFT_NOT_DEFINITE:
        return "the matrix or its filtered part has a negative or zero direction; check masses and stiffness";
    case WEFT_UNSUPPORTED:
        return "multigrid takes up to 12 kernel vectors, and a preconditioner belongs to `mpcg`";
    case WEFT_NOT_FINITE:
        return "values are too large or too small to work with; check units";
    default:
        return "see `weft help solve`";
    }
}

static void print_records(const solve_command* c, const solve_record* records)
{
    for (int k = 0; k < c->prefix_count; k++)
    {
        const solve_record* r = &records[k];
        const weft_solve_stats* s = &r->runs[r->best];
        printf(
            "%s: %s, %d vertices, %d iterations, residual %.3g (2-norm %.3g), setup %.4f s, solve %.4f s, %.1f MB%s\n",
            c->prefixes[k], s->solver, weft_system_vertex_count(r->system), s->iterations, s->residual, s->residual2,
            s->setup_s, s->solve_s, 1e-6 * s->bytes, s->converged ? "" : ", not converged");
        for (int l = 0; l < s->level_count; l++)
        {
            printf("%s%d", l == 0 ? "  levels " : " > ", s->levels[l].rows);
        }
        if (s->level_count > 0)
        {
            static const char* const escalated[] = {"", ", escalated: stronger hierarchy", ", escalated: direct solve"};
            printf(", operator complexity %.2f%s\n", s->operator_complexity, escalated[s->escalations]);
        }
        if (s->components > 0)
        {
            printf("  %d component%s\n", s->components, s->components == 1 ? "" : "s");
        }
        if (c->energy_error)
        {
            printf(isnan(r->energy_error) ? "  energy error unknown: no tight solve to compare with\n"
                                          : "  energy error %.3g of the start's\n",
                   r->energy_error);
        }
        if (r->status != WEFT_OK)
        {
            fprintf(stderr, "weft: %s: %s; %s\n", c->prefixes[k], weft_status_text(r->status), what_to_try(r->status));
        }
    }
}

static weft_status fill_error(weft_error* error, weft_status status, const char* message)
{
    memset(error, 0, sizeof(*error));
    error->status = status;
    snprintf(error->message, sizeof(error->message), "%s", message);
    return status;
}

static weft_status read_systems(const solve_command* c, solve_record* records, weft_error* error)
{
    for (int k = 0; k < c->prefix_count; k++)
    {
        records[k].runs = calloc((size_t)c->repeat, sizeof(weft_solve_stats));
        if (!records[k].runs)
        {
            return fill_error(error, WEFT_NO_MEMORY, "out of memory");
        }
        weft_status status = weft_system_read(c->prefixes[k], &records[k].system, error);
        if (status != WEFT_OK)
        {
            return status;
        }
    }
    return WEFT_OK;
}

// A failed solve is a result; a refused or starved one ends the command.
static bool status_ends(weft_status status)
{
    return status != WEFT_OK && exit_code(status) != EXIT_FAILED;
}

static weft_status run_once(const solve_command* c, weft_solver* solver, solve_record* records, weft_vec3* x, int run)
{
    weft_solver_drop(solver);
    for (int k = 0; k < c->prefix_count; k++)
    {
        solve_record* r = &records[k];
        r->status = weft_solver_solve(solver, r->system, x, &r->runs[run]);
        if (status_ends(r->status))
        {
            return r->status;
        }
        r->energy_error = NAN;
        if (c->energy_error && run == c->repeat - 1)
        {
            weft_system_energy_error(r->system, x, &r->energy_error, NULL); // NaN tells of a failure
        }
        const weft_solve_stats *now = &r->runs[run], *best = &r->runs[r->best];
        if (now->setup_s + now->solve_s < best->setup_s + best->solve_s)
        {
            r->best = run;
        }
    }
    return WEFT_OK;
}

static weft_vec3* allocate_solution(const solve_command* c, const solve_record* records)
{
    int most = 0;
    for (int k = 0; k < c->prefix_count; k++)
    {
        int count = weft_system_vertex_count(records[k].system);
        most = count > most ? count : most;
    }
    return malloc((size_t)most * sizeof(weft_vec3));
}

// One number a line: the component of each vertex, -1 where it is held.
static weft_status write_components(const solve_command* c, const weft_solver* solver, const weft_system* system,
                                    weft_error* error)
{
    int count = weft_system_vertex_count(system), components;
    int* component = malloc(((size_t)count + 1) * sizeof(int));
    weft_status status = component ? weft_solver_components(solver, component, &components) : WEFT_NO_MEMORY;
    FILE* file = status == WEFT_OK ? fopen(c->components, "w") : NULL;
    for (int i = 0; i < count && file; i++)
    {
        fprintf(file, "%d\n", component[i]);
    }
    free(component);
    if (status != WEFT_OK)
    {
        return fill_error(error, status,
                          status == WEFT_NOT_FOUND ? "--components goes with --solver decomposed:NAME"
                                                   : "out of memory");
    }
    bool written = file && !ferror(file);
    written = file && fclose(file) == 0 && written;
    return written ? WEFT_OK : fill_error(error, WEFT_IO, "the file of --components cannot be written");
}

static weft_status solve_all(const solve_command* c, solve_record* records, weft_error* error)
{
    weft_solver* solver = NULL;
    weft_status status = weft_solver_create(&c->def, &solver, error);
    if (status == WEFT_OK)
    {
        status = read_systems(c, records, error);
    }
    weft_vec3* x = status == WEFT_OK ? allocate_solution(c, records) : NULL;
    if (status == WEFT_OK && !x)
    {
        status = fill_error(error, WEFT_NO_MEMORY, "out of memory");
    }
    for (int run = 0; run < c->repeat && status == WEFT_OK; run++)
    {
        status = run_once(c, solver, records, x, run);
        if (status == WEFT_UNSUPPORTED && c->def.preconditioner) // known, but not to this solver
        {
            fill_error(error, status, "the solver does not offer this preconditioner; see `weft list solvers`");
        }
        else if (status != WEFT_OK)
        {
            fill_error(error, status, weft_status_text(status));
        }
    }
    if (status == WEFT_OK && c->output)
    {
        int last = c->prefix_count - 1;
        status = weft_vector_write(x, weft_system_vertex_count(records[last].system), c->output, error);
    }
    if (status == WEFT_OK && c->components)
    {
        status = write_components(c, solver, records[c->prefix_count - 1].system, error);
    }
    free(x);
    weft_solver_destroy(solver);
    return status;
}

static int report_records(const solve_command* c, const solve_record* records)
{
    if (c->json)
    {
        put_records(c, records);
    }
    else
    {
        print_records(c, records);
    }
    for (int k = 0; k < c->prefix_count; k++)
    {
        if (records[k].status != WEFT_OK)
        {
            return exit_code(records[k].status);
        }
    }
    return EXIT_DONE;
}

int command_solve(int argc, char** argv)
{
    solve_command c = {.def = weft_solver_def_default(), .repeat = 1};
    c.def.worker_count = 0;
    c.prefixes = calloc((size_t)argc, sizeof(*c.prefixes));
    solve_record* records = calloc((size_t)argc, sizeof(*records));
    int code = EXIT_MACHINE;
    if (c.prefixes && records)
    {
        code = read_options(argc, argv, &c);
        if (code == EXIT_DONE)
        {
            weft_error error = {0};
            weft_status status = solve_all(&c, records, &error);
            code = status == WEFT_OK ? report_records(&c, records) : report_error(&error, c.json);
        }
    }
    for (int k = 0; records && k < argc; k++)
    {
        weft_system_destroy(records[k].system);
        free(records[k].runs);
    }
    free(records);
    free(c.prefixes);
    return code;
}
