// Table 1 in words: grids that the terminal and the page share, notes, and JSON.
#include <math.h>
#include <string.h>

#include "bench/sa_table1.h"

// ---- cells

static void put_ms(text_grid* g, int row, int* column, double seconds)
{
    grid_put_number(g, row, column, 1e3 * seconds);
}

static void put_heads(text_grid* g, const char* const* heads, int count)
{
    g->column_count = count;
    for (int k = 0; k < count;)
    {
        grid_put(g, 0, &k, "%s", heads[k]);
    }
}

// ---- grids

static void fill_sa(text_grid* g, int at, const table1_row* r)
{
    const sa_spread* s = &r->seconds[ENTRANT_SA];
    int c = 0;
    grid_put_count(g, at, &c, r->vertices);
    grid_put(g, at, &c, "%d", s->count);
    put_ms(g, at, &c, r->setup[ENTRANT_SA]);
    put_ms(g, at, &c, r->solve[ENTRANT_SA]);
    put_ms(g, at, &c, s->mean);
    grid_put_number(g, at, &c, r->iterations[ENTRANT_SA]);
    grid_put(g, at, &c, "%.0f/%.0f/%.0f", 100.0 * r->full, 100.0 * r->numeric, 100.0 * r->kept);
    put_ms(g, at, &c, s->least);
    put_ms(g, at, &c, s->median);
    put_ms(g, at, &c, s->p95);
    put_ms(g, at, &c, s->most);
    put_ms(g, at, &c, r->seconds[ENTRANT_COLD].mean);
    put_ms(g, at, &c, r->setup[ENTRANT_COLD]);
}

static void fill_others(text_grid* g, int at, const table1_row* r)
{
    int c = 0;
    grid_put_count(g, at, &c, r->vertices);
    put_ms(g, at, &c, r->seconds[ENTRANT_DIAG].mean);
    grid_put_number(g, at, &c, r->iterations[ENTRANT_DIAG]);
    grid_put_number(g, at, &c, r->floor);
    put_ms(g, at, &c, r->seconds[ENTRANT_DIAG].least);
    put_ms(g, at, &c, r->seconds[ENTRANT_DIAG].most);
    put_ms(g, at, &c, r->seconds[ENTRANT_DIAG_PPCG].mean);
    put_ms(g, at, &c, r->seconds[ENTRANT_SA_PCG].mean);
    put_ms(g, at, &c, r->later[ENTRANT_CHOLESKY]);
    put_ms(g, at, &c, r->later[ENTRANT_CHOLMOD]);
    put_ms(g, at, &c, r->seconds[ENTRANT_AUTO].mean);
    grid_put(g, at, &c, "%s", r->auto_took);
    grid_put_number(g, at, &c, r->auto_ratio);
    grid_put(g, at, &c, "%s%s%s", r->auto_best, r->auto_ratio < 0.9 ? " MISSED" : "", "");
}

static void fill_speed(text_grid* g, int at, const table1_row* r)
{
    int c = 0;
    grid_put_count(g, at, &c, r->vertices);
    grid_put_number(g, at, &c, r->speed_up);
    grid_put_number(g, at, &c, r->speed_all);
    grid_put_number(g, at, &c, r->speed_common);
    grid_put_number(g, at, &c, r->speed_median);
    grid_put_number(g, at, &c, r->speed_two);
    grid_put_number(g, at, &c, r->speed_energy);
    grid_put_number(g, at, &c, r->speed_cold);
    grid_put_number(g, at, &c, r->paper_diag);
    char bar[64] = "", direct[64] = "";
    if (!isnan(r->bar))
    {
        snprintf(bar, sizeof(bar), "%g (%g)", r->bar, r->aim);
    }
    if (!isnan(r->bar_cholmod))
    {
        snprintf(direct, sizeof(direct), "%g: %s", r->bar_cholmod,
                 table1_verdict(r->over_cholmod, r->bar_cholmod, INFINITY));
    }
    grid_put(g, at, &c, "%s", bar);
    grid_put(g, at, &c, "%s", table1_verdict(r->speed_up, r->bar, r->aim));
    grid_put_number(g, at, &c, r->over_cholesky);
    grid_put_number(g, at, &c, r->over_cholmod);
    grid_put_number(g, at, &c, r->paper_direct);
    grid_put(g, at, &c, "%s", direct);
}

void table1_grid(const table1* t, int which, int first, int last, text_grid* out)
{
    static const char* const heads[TABLE1_GRIDS][GRID_COLUMNS] = {
        {"vertices", "steps", "setup", "solve", "both", "iterations", "full/num/kept %", "min", "median", "p95", "max",
         "cold", "its setup"},
        {"vertices", "diag-pcg", "iterations", "/floor", "min", "max", "diag-ppcg", "sa-pcg", "cholesky", "cholmod",
         "auto", "took", "best/auto", "best"},
        {"vertices", "diag/sa", "all", "common", "median", "2-norm", "energy", "cold", "paper", "bar (aim)", "",
         "cholesky/sa", "cholmod/sa", "PARDISO", "bar"},
    };
    static const int columns[TABLE1_GRIDS] = {13, 14, 15};
    static const char* const titles[TABLE1_GRIDS] = {"sa-ppcg, ms", "the others, ms", "speed-up of sa-ppcg"};
    static void (*const fill[TABLE1_GRIDS])(text_grid*, int, const table1_row*) = {fill_sa, fill_others, fill_speed};
    *out = (text_grid){.title = titles[which], .row_count = 1};
    put_heads(out, heads[which], columns[which]);
    for (int k = first; k < last && out->row_count < GRID_ROWS; k++)
    {
        fill[which](out, out->row_count++, &t->rows[k]);
    }
}

// ---- notes

void table1_sampling(const table1_row* row, char* out, size_t size)
{
    const sa_animation* a = &row->a;
    size_t n = (size_t)snprintf(out, size, "%d cells: %s %d to %d", a->c.cells, row->whole ? "all steps," : "steps",
                                a->c.step, a->c.step + a->count - 1);
    for (int e = 0; e < ENTRANT_COUNT && n < size; e++)
    {
        int samples = a->entrants[e].samples;
        if (samples > 0 && samples < a->count && e != ENTRANT_TRIAD)
        {
            n += (size_t)snprintf(out + n, size - n, ", %s at %d of %d", table1_names[e], samples, a->count);
        }
        int failures = e == ENTRANT_TRIAD || e == ENTRANT_TRACE ? 0 : sa_course_failures(&row->course, e);
        if (failures > 0 && n < size)
        {
            n += (size_t)snprintf(out + n, size - n, ", %d solves of %s FAILED", failures, table1_names[e]);
        }
    }
    int escalated = 0;
    for (int k = 0; k < a->count; k++)
    {
        escalated += results_number(sa_course_line(&row->course, ENTRANT_SA, k), "escalations") > 0.0;
    }
    if (escalated > 0 && n < size)
    {
        snprintf(out + n, size - n, ", %d solves of sa-ppcg escalated", escalated);
    }
}

void table1_notes(const table1* t, table1_sentence* say, void* context)
{
    char text[1024];
    const weft_sa_def* sa = &t->options.def.sa;
    snprintf(
        text, sizeof(text),
        "Mean times of setup and solve over the first linear systems of consecutive steps, in ms: 1 m of cotton, "
        "hinge bending, h = 2 ms, start (I - S) z, until the residual in the norm of M^-1 is %g of the start's; CG "
        "in double, hierarchy in %s, %d threads.",
        t->options.def.tolerance,
        sa->precision == 64   ? "double"
        : sa->precision == 32 ? "float"
        : sa->precision == 16 ? "float, its finest matrix in 16 bits"
                              : "float (finest matrix in 16 bits from 800,000 blocks on)",
        t->options.threads);
    say(context, text);
    for (int k = 0; k < t->options.override_count; k++)
    {
        snprintf(text, sizeof(text), "Changed: %s.", t->options.overrides[k]);
        say(context, text);
    }
    say(context, "Every solver lives through all steps. full/num/kept: shares of sa-ppcg's setups that were full, "
                 "refreshed its numbers, or kept the hierarchy as it was; the first of a series is full. cold: a new "
                 "sa-ppcg for each solve.");
    say(context,
        "cholesky and cholmod: without the first solve, which analyses the pattern, where there are more. "
        "sa-pcg, without prefiltering, on plane only. /floor: diag-pcg's iteration over the time of its bytes at "
        "the bandwidth of a triad loop run right before it (at most 1.4 is asked; below 1 it runs in caches).");
    say(context, "diag/sa: diag-pcg's time over sa-ppcg's, the lower of two: means over all steps of each (all), and "
                 "over the steps of both (common). median: of the medians. 2-norm, energy: the same at equal 2-norm of "
                 "the residual and at "
                 "equal energy norm of the error, from untimed traced solves at a few steps. cold: against the cold "
                 "sa-ppcg. paper, PARDISO: Table 1 of Tamstorf, Jones and McCormick 2015, by cells a side; our "
                 "re-entrant sheet has three quarters of the vertices of the others.");
    say(context, "best/auto: time of the best of the other solvers over that of auto, at the steps of both but the "
                 "first; at least 0.9 is asked.");
}

// ---- terminal

static void print_note(void* context, const char* sentence)
{
    page_print(context, sentence);
}

static int last_of_table(const table1* t, int first)
{
    int last = first;
    while (last < t->row_count && table1_same_table(&t->rows[first], &t->rows[last]))
    {
        last++;
    }
    return last;
}

void table1_print(const table1* t)
{
    printf("sa-table1\n");
    table1_notes(t, print_note, stdout);
    for (int first = 0, last; first < t->row_count; first = last)
    {
        const sa_case* c = &t->rows[first].a.c;
        last = last_of_table(t, first);
        printf("\n%s, %s\n", c->scene, c->irregular ? "irregular" : "regular");
        for (int which = 0; which < TABLE1_GRIDS; which++)
        {
            text_grid grid;
            table1_grid(t, which, first, last, &grid);
            grid_print(&grid, stdout);
        }
        for (int k = first; k < last; k++)
        {
            char text[1024];
            table1_sampling(&t->rows[k], text, sizeof(text));
            printf("  %s\n", text);
        }
    }
}

// ---- JSON

static void print_field(const char* name, double value)
{
    char text[32];
    printf(",\"%s\":%s", name, results_json(value, text));
}

static void print_solver_json(const table1_row* r, int e)
{
    const sa_spread* s = &r->seconds[e];
    printf("\n{\"name\":\"%s\",\"solves\":%d,\"failures\":%d", table1_names[e], s->count,
           sa_course_failures(&r->course, e));
    print_field("seconds", s->mean);
    print_field("setup_s", r->setup[e]);
    print_field("solve_s", r->solve[e]);
    print_field("iterations", r->iterations[e]);
    print_field("least", s->least);
    print_field("median", s->median);
    print_field("p95", s->p95);
    print_field("most", s->most);
    print_field("seconds_without_first", r->later[e]);
    printf("}");
}

static void print_row_json(const table1_row* r)
{
    const sa_case* c = &r->a.c;
    printf("{\"scene\":\"%s\",\"tessellation\":\"%s\",\"cells\":%d,\"vertices\":%d,\"first_step\":%d,\"steps\":%d,"
           "\"whole\":%s",
           c->scene, c->irregular ? "irregular" : "regular", c->cells, r->vertices, c->step, r->a.count,
           r->whole ? "true" : "false");
    const struct
    {
        const char* name;
        double value;
    } fields[] = {{"share_full", r->full},
                  {"share_numeric", r->numeric},
                  {"share_restructured", r->restructured},
                  {"share_kept", r->kept},
                  {"diag_pcg_over_floor", r->floor},
                  {"triad_bytes_a_second", r->bandwidth},
                  {"speed_up", r->speed_up},
                  {"speed_up_all", r->speed_all},
                  {"speed_up_common", r->speed_common},
                  {"speed_up_median", r->speed_median},
                  {"speed_up_two_norm", r->speed_two},
                  {"speed_up_energy", r->speed_energy},
                  {"speed_up_cold", r->speed_cold},
                  {"paper", r->paper_diag},
                  {"bar", r->bar},
                  {"aim", r->aim},
                  {"cholesky_over_sa", r->over_cholesky},
                  {"cholmod_over_sa", r->over_cholmod},
                  {"paper_pardiso", r->paper_direct},
                  {"bar_cholmod", r->bar_cholmod},
                  {"best_over_auto", r->auto_ratio}};
    for (size_t k = 0; k < sizeof(fields) / sizeof(fields[0]); k++)
    {
        print_field(fields[k].name, fields[k].value);
    }
    printf(",\"auto_took\":\"%s\",\"best\":\"%s\",\"solvers\":[", r->auto_took, r->auto_best);
    const char* separator = "";
    for (int e = 0; e < ENTRANT_COUNT; e++)
    {
        if (!r->a.entrants[e].measure && r->a.entrants[e].samples > 0)
        {
            printf("%s", separator);
            print_solver_json(r, e);
            separator = ",";
        }
    }
    printf("]}");
}

void table1_print_json(const table1* t)
{
    printf("{\"benchmark\":\"sa-table1\",\"threads\":%d,\"tolerance\":%g,\"cases\":[\n", t->options.threads,
           t->options.def.tolerance);
    for (int k = 0; k < t->row_count; k++)
    {
        print_row_json(&t->rows[k]);
        printf(k + 1 < t->row_count ? ",\n" : "");
    }
    printf("]}\n");
}
