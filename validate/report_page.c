// The page of `weft validate`: each experiment with its closed form, its curve and its numbers; and each curve as a
// file of its own.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/page.h"
#include "bench/plot.h"
#include "validate/validate.h"

enum
{
    SERIES_MAX = 14
};

typedef struct figure
{
    const validation* v;
    const experiment* e;
    bool deviation; // what is drawn is the deviation in percent
} figure;

// The closed form once, as a line; what was measured as markers over it, a colour each. Points that are not judged have
// no deviation.
static void figure_write(const void* context, FILE* out)
{
    const figure* f = context;
    static double x[SERIES_MAX + 1][POINT_MAX], y[SERIES_MAX + 1][POINT_MAX];
    static char names[SERIES_MAX][64];
    plot p = {.title = f->e->summary,
              .x_title = f->e->x_title,
              .y_title = f->deviation ? "deviation, %" : f->e->y_title,
              .log_x = f->e->log_x,
              .log_y = f->e->log_y && !f->deviation,
              .y_guide = f->deviation ? 0.0 : NAN};
    bool all = f->v->options->method && strcmp(f->v->options->method, "all") == 0;
    int count = 0;
    for (int k = 0; k < f->v->count; k++)
    {
        const measurement* m = &f->v->list[k];
        if (m->experiment != f->e || m->result.count == 0 || count == SERIES_MAX)
        {
            continue;
        }
        for (int i = 0; i < m->result.count; i++)
        {
            const point* at = &m->result.points[i];
            x[count][i] = at->x;
            y[count][i] = !f->deviation ? at->ours : isnan(at->closed) ? NAN : 100.0 * at->deviation;
            x[SERIES_MAX][i] = count == 0 ? at->x : x[SERIES_MAX][i];
            y[SERIES_MAX][i] = count == 0 ? at->closed : y[SERIES_MAX][i];
        }
        if (count == 0 && !f->deviation)
        {
            plot_add(&p, (plot_line){x[SERIES_MAX], y[SERIES_MAX], m->result.count, -1, -1, false});
            plot_add_key(&p, (plot_key){"closed form", -1, -1, false, true});
        }
        snprintf(names[count], sizeof(names[count]), all ? "%s" : "%.12s, %d", all ? m->method : m->mesh, m->cells);
        plot_add(&p,
                 (plot_line){x[count], y[count], m->result.count, count % PLOT_COLOURS, count % PLOT_MARKERS, true});
        plot_add_key(&p, (plot_key){names[count], count % PLOT_COLOURS, count % PLOT_MARKERS, true, true});
        count++;
    }
    plot_write(&p, out);
}

static bool has_outline(const validation* v, const experiment* e)
{
    for (int k = 0; k < v->count; k++)
    {
        if (v->list[k].experiment == e && v->list[k].result.outline_count > 0)
        {
            return true;
        }
    }
    return false;
}

// Draped specimens from above, one over the other, with the flat specimen and the disc that holds it.
static void outline_write(const void* context, FILE* out)
{
    enum
    {
        ROUND = 121
    };
    const figure* f = context;
    static double x[SERIES_MAX + 2][OUTLINE_MAX], y[SERIES_MAX + 2][OUTLINE_MAX];
    static char names[SERIES_MAX][64];
    plot p = {.title = "the first start of each from above, with the disc and the flat specimen"};
    bool all = f->v->options->method && strcmp(f->v->options->method, "all") == 0;
    for (int c = 0; c < 2; c++)
    {
        for (int i = 0; i < ROUND; i++)
        {
            double angle = 2.0 * 3.14159265358979323846 * i / (ROUND - 1);
            double corner = c == 1 && f->e->is_square ? fmax(fabs(cos(angle)), fabs(sin(angle))) : 1.0;
            x[SERIES_MAX + c][i] = (c ? f->e->rim : f->e->disc) * cos(angle) / corner;
            y[SERIES_MAX + c][i] = (c ? f->e->rim : f->e->disc) * sin(angle) / corner;
        }
        plot_add(&p, (plot_line){x[SERIES_MAX + c], y[SERIES_MAX + c], ROUND, -1, -1, true});
    }
    for (int k = 0, count = 0; k < f->v->count && count < SERIES_MAX; k++)
    {
        const measurement* m = &f->v->list[k];
        if (m->experiment != f->e || m->result.outline_count == 0)
        {
            continue;
        }
        for (int i = 0; i < m->result.outline_count; i++)
        {
            x[count][i] = (double)m->result.outline[i][0];
            y[count][i] = (double)m->result.outline[i][1];
        }
        snprintf(names[count], sizeof(names[count]), all ? "%s" : "%.12s, %d", all ? m->method : m->mesh, m->cells);
        plot_add(&p, (plot_line){x[count], y[count], m->result.outline_count, count % PLOT_COLOURS, -1, false});
        plot_add_key(&p, (plot_key){names[count], count % PLOT_COLOURS, -1, false, true});
        count++;
    }
    plot_plan_write(&p, 1.05 * f->e->rim * (f->e->is_square ? sqrt(2.0) : 1.0), out);
}

static void number_cells(text_grid* g, const measurement* m, int row)
{
    int column = 0;
    const point* worst = result_worst(&m->result);
    grid_put(g, row, &column, "%s", m->method);
    grid_put(g, row, &column, "%.40s", m->mesh);
    grid_put(g, row, &column, "%d", m->cells);
    grid_put(g, row, &column, worst ? "%.4g" : "-", worst ? worst->x : 0.0);
    grid_put(g, row, &column, worst ? "%.6g" : "-", worst ? worst->ours : 0.0);
    grid_put(g, row, &column, worst ? "%.6g" : "-", worst ? worst->closed : 0.0);
    grid_put(g, row, &column, worst ? "%.3f %%" : "-", worst ? 100.0 * worst->deviation : 0.0);
    grid_put(g, row, &column, "%s",
             m->result.refused          ? "MISSED: refused"
             : m->result.failure[0]     ? "MISSED: failed"
             : measurement_is_broken(m) ? "MISSED"
             : m->finest                ? "met"
                                        : "");
}

static void write_numbers(const figure* f, FILE* out)
{
    static text_grid g;
    static const char* const heads[] = {"method", "mesh",        "cells",     "worst at",
                                        "ours",   "closed form", "deviation", "bound"};
    g = (text_grid){.row_count = 1, .column_count = 8};
    for (int c = 0; c < 8;)
    {
        grid_put(&g, 0, &c, "%s", heads[c]);
    }
    for (int k = 0; k < f->v->count && g.row_count < GRID_ROWS; k++)
    {
        if (f->v->list[k].experiment == f->e)
        {
            number_cells(&g, &f->v->list[k], g.row_count++);
        }
    }
    grid_write(&g, out);
    for (int k = 0; k < f->v->count; k++)
    {
        const measurement* m = &f->v->list[k];
        const char* said[] = {m->result.failure, m->result.note};
        for (int i = 0; i < 2; i++)
        {
            char text[REASON_SIZE + 100];
            snprintf(text, sizeof(text), "%s, %.40s, %d cells: %s", m->method, m->mesh, m->cells, said[i]);
            m->experiment == f->e&& said[i][0] ? page_text(out, "p", text) : (void)0;
        }
    }
}

static bool is_in(const validation* v, const experiment* e)
{
    for (int k = 0; k < v->count; k++)
    {
        if (v->list[k].experiment == e)
        {
            return true;
        }
    }
    return false;
}

static void page_write(const void* context, FILE* out)
{
    const validation* v = context;
    const weft_material* m = &v->material;
    char text[512];
    page_begin(out, "Weft beside mechanics");
    snprintf(text, sizeof(text), "Material %s: %g kg/m², stretch %g and %g N/m, shear %g N/m, bending %g N m.",
             v->options->material, m->density, m->stretch_warp, m->stretch_weft, m->shear, m->bending);
    page_text(out, "p", text);
    for (int k = 0; k < experiment_count; k++)
    {
        figure f = {v, experiments[k], false};
        if (!is_in(v, f.e))
        {
            continue;
        }
        page_text(out, "h2", f.e->name);
        snprintf(text, sizeof(text), "Closed form: %s. Bound: %g %%.", f.e->closed_form, 100.0 * f.e->bound);
        page_text(out, "p", text);
        figure_write(&f, out);
        f.deviation = true;
        figure_write(&f, out);
        has_outline(v, f.e) ? outline_write(&f, out) : (void)0;
        write_numbers(&f, out);
    }
    page_end(out);
}

weft_status report_page(const validation* v)
{
    weft_status status = page_file(v->options->out, "index.html", page_write, v);
    for (int k = 0; k < experiment_count && status == WEFT_OK; k++)
    {
        char name[128];
        figure f = {v, experiments[k], false};
        snprintf(name, sizeof(name), "%s.svg", f.e->name);
        status = is_in(v, f.e) ? page_file(v->options->out, name, figure_write, &f) : status;
        f.deviation = true;
        snprintf(name, sizeof(name), "%s-deviation.svg", f.e->name);
        status = is_in(v, f.e) && status == WEFT_OK ? page_file(v->options->out, name, figure_write, &f) : status;
        snprintf(name, sizeof(name), "%s-above.svg", f.e->name);
        status =
            has_outline(v, f.e) && status == WEFT_OK ? page_file(v->options->out, name, outline_write, &f) : status;
    }
    return status;
}
