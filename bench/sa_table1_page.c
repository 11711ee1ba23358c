// Files of table 1: table1.csv with a line a solve, the paper's figures 6 to 9 as SVG, and a page with all of it.
#include <math.h>
#include <string.h>

#include "bench/plot.h"
#include "bench/sa_table1.h"

enum
{
    POINTS_MAX = 4096
};

// Solvers that figures show, with the colour of each.
static const table1_entrant shown[] = {ENTRANT_SA,   ENTRANT_DIAG,   ENTRANT_CHOLESKY,  ENTRANT_CHOLMOD,
                                       ENTRANT_AUTO, ENTRANT_SA_PCG, ENTRANT_DIAG_PPCG, ENTRANT_COLD};

enum
{
    SHOWN_COUNT = sizeof(shown) / sizeof(shown[0])
};

// A figure and what its lines point into.
typedef struct figure
{
    plot p;
    double room[POINTS_MAX];
    int used;
} figure;

static double* room_for(figure* f, int count)
{
    double* room = f->used + count <= POINTS_MAX ? f->room + f->used : NULL;
    f->used += room ? count : 0;
    return room;
}

static int scene_index(const char* scene)
{
    int index = 0;
    while (index + 1 < TABLE1_SCENES && strcmp(scene, table1_scenes[index]) != 0)
    {
        index++;
    }
    return index;
}

// ---- lines over the size

typedef double row_value(const table1_row* row, int entrant);

static double mean_ms(const table1_row* row, int entrant)
{
    bool direct = entrant == ENTRANT_CHOLESKY || entrant == ENTRANT_CHOLMOD;
    return 1e3 * (direct ? row->later[entrant] : row->seconds[entrant].mean);
}

static double setup_percent(const table1_row* row, int entrant)
{
    return 100.0 * row->setup[entrant] / row->seconds[entrant].mean;
}

// The rows of one scene and tessellation as a line. False where there is nothing to draw.
static bool add_line(figure* f, const table1* t, const char* scene, bool irregular, row_value* value, int entrant,
                     plot_line line)
{
    double *x = room_for(f, TABLE1_SIZE_MAX), *y = x ? room_for(f, TABLE1_SIZE_MAX) : NULL;
    bool any = false;
    for (int k = 0; k < t->row_count && y && line.count < TABLE1_SIZE_MAX; k++)
    {
        const table1_row* row = &t->rows[k];
        if (row->a.c.irregular == irregular && strcmp(row->a.c.scene, scene) == 0)
        {
            x[line.count] = row->vertices;
            y[line.count] = value(row, entrant);
            any = any || isfinite(y[line.count]);
            line.count++;
        }
    }
    line.x = x;
    line.y = y;
    if (any)
    {
        plot_add(&f->p, line);
    }
    return any;
}

static void figure_6(const table1* t, bool irregular, figure* f)
{
    *f = (figure){.p = {.title = irregular ? "Figure 6: setup as a share of the time, irregular"
                                           : "Figure 6: setup as a share of the time, regular",
                        .x_title = "vertices",
                        .y_title = "setup / (setup + solve), %",
                        .log_x = true,
                        .y_guide = NAN}};
    for (int s = 0; s < TABLE1_SCENES; s++)
    {
        plot_line line = {.colour = s, .marker = s};
        bool any = add_line(f, t, table1_scenes[s], irregular, setup_percent, ENTRANT_SA, line);
        line.dashed = true;
        add_line(f, t, table1_scenes[s], irregular, setup_percent, ENTRANT_COLD, line);
        if (any)
        {
            plot_add_key(&f->p, (plot_key){table1_scenes[s], s, s, false, true});
        }
    }
    plot_add_key(&f->p, (plot_key){"reused", -1, -1, false, true});
    plot_add_key(&f->p, (plot_key){"cold", -1, -1, true, true});
}

// Solvers of some scenes over the size: figure 7 and, for one scene, figure 8.
static void solvers_over_size(const table1* t, bool irregular, const char* scenes, figure* f)
{
    bool any_scene[TABLE1_SCENES] = {0};
    for (int e = 0; e < SHOWN_COUNT; e++)
    {
        bool any = false;
        for (int s = 0; s < TABLE1_SCENES; s++)
        {
            plot_line line = {.colour = e, .marker = s, .dashed = shown[e] == ENTRANT_COLD};
            bool drawn = bench_has(scenes, table1_scenes[s]) &&
                         add_line(f, t, table1_scenes[s], irregular, mean_ms, (int)shown[e], line);
            any = any || drawn;
            any_scene[s] = any_scene[s] || drawn;
        }
        if (any)
        {
            plot_add_key(&f->p, (plot_key){table1_names[shown[e]], e, -1, shown[e] == ENTRANT_COLD, true});
        }
    }
    for (int s = 0; s < TABLE1_SCENES; s++)
    {
        if (any_scene[s])
        {
            plot_add_key(&f->p, (plot_key){table1_scenes[s], -1, s, false, false});
        }
    }
}

static void figure_7(const table1* t, bool irregular, figure* f)
{
    *f = (figure){.p = {.title = irregular ? "Figure 7: mean time of a solve with its setup, irregular"
                                           : "Figure 7: mean time of a solve with its setup, regular",
                        .x_title = "vertices",
                        .y_title = "ms",
                        .log_x = true,
                        .log_y = true,
                        .y_guide = NAN}};
    solvers_over_size(t, irregular, "pinned,drooping,re-entrant", f);
}

static bool has_rows(const table1* t, const char* scene, bool irregular)
{
    bool any = false;
    for (int k = 0; k < t->row_count; k++)
    {
        any = any || (strcmp(t->rows[k].a.c.scene, scene) == 0 && t->rows[k].a.c.irregular == irregular);
    }
    return any;
}

// The paper's is the horizontal drop, which no shipped scene has yet: a sheet half of which slides on a plane stands
// in.
static void figure_8(const table1* t, bool irregular, figure* f)
{
    bool plane = has_rows(t, "plane", irregular);
    *f =
        (figure){.p = {.title = plane ? "Figure 8, in place of the horizontal drop: half of the sheet slides on a plane"
                                      : "Figure 8, in place of the horizontal drop: drooping",
                       .x_title = irregular ? "vertices, irregular" : "vertices, regular",
                       .y_title = "ms",
                       .log_x = true,
                       .log_y = true,
                       .y_guide = NAN}};
    solvers_over_size(t, irregular, plane ? "plane" : "drooping", f);
}

// ---- lines over the steps

static void figure_9(const table1_row* row, figure* f, char title[160])
{
    snprintf(title, 160, "Figure 9: time of each solve with its setup, %s, %s, %d vertices", row->a.c.scene,
             row->a.c.irregular ? "irregular" : "regular", row->vertices);
    *f = (figure){.p = {.title = title, .x_title = "step", .y_title = "ms", .log_y = true, .y_guide = NAN}};
    for (int e = 0; e < SHOWN_COUNT; e++)
    {
        int samples = row->a.entrants[shown[e]].samples;
        double *x = samples > 0 ? room_for(f, samples) : NULL, *y = x ? room_for(f, samples) : NULL;
        plot_line line = {.x = x, .y = y, .colour = e, .marker = samples < row->a.count ? 1 : -1};
        line.dashed = shown[e] == ENTRANT_COLD;
        for (int k = 0; k < row->a.count && y && line.count < samples; k++)
        {
            if (sa_animation_is_sampled(&row->a, (int)shown[e], k))
            {
                x[line.count] = row->a.c.step + k;
                y[line.count++] = 1e3 * sa_line_seconds(sa_course_line(&row->course, (int)shown[e], k));
            }
        }
        if (line.count > 0)
        {
            plot_add(&f->p, line);
            plot_add_key(&f->p, (plot_key){table1_names[shown[e]], e, line.marker, line.dashed, true});
        }
    }
}

// Of each table the largest size at which diag-pcg ran at every step, else the largest.
static const table1_row* row_for_steps(const table1* t, int first, int* last)
{
    const table1_row* best = &t->rows[first];
    for (*last = first; *last < t->row_count && table1_same_table(&t->rows[first], &t->rows[*last]); (*last)++)
    {
        const table1_row* row = &t->rows[*last];
        bool dense = row->a.entrants[ENTRANT_DIAG].samples == row->a.count;
        bool best_dense = best->a.entrants[ENTRANT_DIAG].samples == best->a.count;
        best = dense > best_dense || (dense == best_dense && row->vertices > best->vertices) ? row : best;
    }
    return best;
}

// ---- files

static void write_csv(const void* context, FILE* out)
{
    const table1* t = context;
    fputs("scene,tessellation,cells,vertices,step,solver,setup_s,solve_s,iterations,converged,residual,residual2,"
          "refreshed,escalations,took\n",
          out);
    static const char* const fields[] = {"setup_s",  "solve_s",   "iterations", "converged",
                                         "residual", "residual2", "refreshed",  "escalations"};
    for (int r = 0; r < t->row_count; r++)
    {
        const table1_row* row = &t->rows[r];
        for (int k = 0; k < row->a.count * ENTRANT_COUNT; k++)
        {
            int sample = k / ENTRANT_COUNT, entrant = k % ENTRANT_COUNT;
            const char* line = sa_course_line(&row->course, entrant, sample);
            if (!line || row->a.entrants[entrant].measure)
            {
                continue;
            }
            fprintf(out, "%s,%s,%d,%d,%d,%s", row->a.c.scene, row->a.c.irregular ? "irregular" : "regular",
                    row->a.c.cells, row->vertices, row->a.c.step + sample, table1_names[entrant]);
            for (size_t f = 0; f < sizeof(fields) / sizeof(fields[0]); f++)
            {
                double value = results_number(line, fields[f]);
                fprintf(out, isnan(value) ? "," : ",%.9g", value);
            }
            char took[32];
            fprintf(out, ",%s\n", sa_line_took(line, took));
        }
    }
}

static void write_note(void* context, const char* sentence)
{
    page_text(context, "p", sentence);
}

// What is drawn, one after the other: as files of their own and on the page.
typedef weft_status figure_taker(void* context, const char* name, const plot* p);

static weft_status each_figure(const table1* t, figure_taker* take, void* context)
{
    static void (*const figures[])(const table1*, bool, figure*) = {figure_6, figure_7, figure_8};
    figure* f = MEM_NEW(1, figure);
    weft_status status = f ? WEFT_OK : WEFT_NO_MEMORY;
    char name[64], title[160];
    for (int k = 0; k < 6 && status == WEFT_OK; k++)
    {
        bool irregular = k % 2;
        figures[k / 2](t, irregular, f);
        snprintf(name, sizeof(name), "figure-%d-%s.svg", 6 + k / 2, irregular ? "irregular" : "regular");
        status = f->p.line_count > 0 ? take(context, name, &f->p) : WEFT_OK;
    }
    for (int first = 0, last; first < t->row_count && status == WEFT_OK; first = last)
    {
        const table1_row* row = row_for_steps(t, first, &last);
        figure_9(row, f, title);
        snprintf(name, sizeof(name), "figure-9-%s-%s.svg", table1_scenes[scene_index(row->a.c.scene)],
                 row->a.c.irregular ? "irregular" : "regular");
        status = f->p.line_count > 0 ? take(context, name, &f->p) : WEFT_OK;
    }
    mem_free(f);
    return status;
}

static void write_plot(const void* context, FILE* out)
{
    plot_write(context, out);
}

static weft_status take_file(void* context, const char* name, const plot* p)
{
    const table1* t = context;
    return page_file(t->out, name, write_plot, p);
}

static weft_status take_inline(void* context, const char* name, const plot* p)
{
    (void)name;
    plot_write(p, context);
    return WEFT_OK;
}

static void write_page(const void* context, FILE* out)
{
    const table1* t = context;
    page_begin(out, "Table 1: smoothed aggregation against other solvers");
    table1_notes(t, write_note, out);
    for (int first = 0, last; first < t->row_count; first = last)
    {
        char text[1024];
        row_for_steps(t, first, &last);
        snprintf(text, sizeof(text), "%s, %s", t->rows[first].a.c.scene,
                 t->rows[first].a.c.irregular ? "irregular" : "regular");
        page_text(out, "h2", text);
        for (int which = 0; which < TABLE1_GRIDS; which++)
        {
            text_grid grid;
            table1_grid(t, which, first, last, &grid);
            page_text(out, "h3", grid.title);
            grid_write(&grid, out);
        }
        for (int k = first; k < last; k++)
        {
            table1_sampling(&t->rows[k], text, sizeof(text));
            page_text(out, "small", text);
        }
    }
    page_text(out, "h2", "Figures");
    each_figure(t, take_inline, out);
    page_end(out);
}

weft_status table1_write(const table1* t)
{
    TRY(page_file(t->out, "table1.csv", write_csv, t));
    TRY(each_figure(t, take_file, (void*)t));
    return page_file(t->out, "index.html", write_page, t);
}
