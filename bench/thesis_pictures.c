// Pictures of the thesis as SVG: connections dark where they are implicit, orange where they are explicit, pale where
// they are slack (figures 4.8 to 4.10), and blocks of a matrix that are not zero (4.3, 4.7, 4.11).
#include <math.h>
#include <string.h>

#include "bench/page.h"
#include "bench/thesis.h"
#include "material/connection.h"
#include "step/march.h"

enum
{
    WIDTH = 640
};

// Seen from the front and somewhat from above and aside.
static vec2 seen(vec3 p)
{
    double c = cos(0.5), s = sin(0.5), u = c * p.x - s * p.z, depth = s * p.x + c * p.z;
    return (vec2){u, -(0.92 * p.y - 0.39 * depth)};
}

typedef struct frame
{
    double low_x, low_y, scale;
} frame;

static frame frame_of(const weft_sim* sim)
{
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (int i = 0; i < sim->model.vertex_count; i++)
    {
        vec2 q = seen(sim->world.state.x[i]);
        low[0] = fmin(low[0], q.x);
        low[1] = fmin(low[1], q.y);
        high[0] = fmax(high[0], q.x);
        high[1] = fmax(high[1], q.y);
    }
    double size = fmax(high[0] - low[0], high[1] - low[1]);
    return (frame){low[0] - 0.03 * size, low[1] - 0.03 * size, WIDTH / (1.06 * size)};
}

static void draw_group(const weft_sim* sim, int g, uint8_t flag, const frame* f, FILE* out)
{
    const element_group* group = &sim->model.groups.list[g];
    const march_data* d = sim->world.method.data;
    for (int e = 0; e < group->count; e++)
    {
        if (d->split.flags[g][e] == flag)
        {
            vec2 a = seen(sim->world.state.x[group->vertices[2 * e]]);
            vec2 b = seen(sim->world.state.x[group->vertices[2 * e + 1]]);
            fprintf(out, "M%.1f %.1fL%.1f %.1f", f->scale * (a.x - f->low_x), f->scale * (a.y - f->low_y),
                    f->scale * (b.x - f->low_x), f->scale * (b.y - f->low_y));
        }
    }
}

// Bend springs are not drawn.
void thesis_draw_connections(const void* context, FILE* out)
{
    const weft_sim* sim = context;
    frame f = frame_of(sim);
    static const uint8_t flags[] = {ELEMENT_INACTIVE, ELEMENT_EXPLICIT, ELEMENT_IMPLICIT};
    static const char* const colours[] = {"#dbe6f5", "#f28e2b", "#1b2a41"};
    fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" style=\"background:#fff\">\n",
            WIDTH, WIDTH);
    for (int k = 0; k < 3; k++)
    {
        fprintf(out, "<path fill=\"none\" stroke=\"%s\" d=\"", colours[k]);
        for (int g = 0; g < sim->model.groups.count; g++)
        {
            sim->model.groups.list[g].kind == &kind_connection ? draw_group(sim, g, flags[k], &f, out) : (void)0;
        }
        fprintf(out, "\"/>\n");
    }
    fprintf(out, "</svg>\n");
}

void thesis_draw_matrix(const void* context, FILE* out)
{
    const bsr_matrix* A = context;
    int n = A->pattern->row_count, kept = 0;
    double dot = (double)WIDTH / n;
    fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" style=\"background:#fff\">\n",
            WIDTH, WIDTH + 24);
    fprintf(out, "<path fill=\"#000\" d=\"");
    for (int i = 0; i < n; i++)
    {
        for (int s = A->pattern->row_start[i]; s < A->pattern->row_start[i + 1]; s++)
        {
            bool any = false;
            for (int k = 0; k < 9; k++)
            {
                any = any || A->values[9 * (size_t)s + (size_t)k] != 0.0;
            }
            if (any)
            {
                kept++;
                fprintf(out, "M%.1f %.1fh%.1fv%.1fh-%.1fz", dot * A->pattern->column[s], dot * i, dot, dot, dot);
            }
        }
    }
    fprintf(out,
            "\"/>\n<text x=\"4\" y=\"%d\" font-family=\"sans-serif\" font-size=\"14\">%d particles, %d "
            "blocks</text>\n</svg>\n",
            WIDTH + 17, n, kept);
}

// ---- what is drawn

static weft_status run_for(weft_sim* sim, int steps)
{
    weft_step_stats stats;
    weft_error error;
    weft_status status = WEFT_OK;
    for (int k = 0; k < steps && status == WEFT_OK; k++)
    {
        status = weft_sim_step(sim, &stats, &error);
    }
    return status;
}

// One sheet, at the same time, in three lengths of step: all implicit, stretch alone, none.
static weft_status draw_steps(const char* folder)
{
    static const char* const names[] = {"connections-large.svg", "connections-modest.svg", "connections-small.svg"};
    static const double lengths[] = {8e-3, 1e-3, 2e-4};
    for (int k = 0; k < 3; k++)
    {
        thesis_case c = {.scene = THESIS_CORNERS,
                         .side = 24,
                         .spacing = 0.04,
                         .density = 0.3,
                         .stretch = 1000,
                         .shear = 20,
                         .bend = 0.01,
                         .stretch_damping = 0.01,
                         .shear_damping = 0.001,
                         .step = lengths[k],
                         .method = "aimex",
                         .criterion = 0.2,
                         .bend_explicit = true};
        weft_sim* sim = thesis_sim(&c);
        weft_status status = sim ? run_for(sim, (int)(0.4 / lengths[k])) : WEFT_UNSUPPORTED;
        status = status == WEFT_OK ? page_file(folder, names[k], thesis_draw_connections, sim) : status;
        weft_sim_destroy(sim);
        TRY(status);
    }
    return WEFT_OK;
}

// 10 x 10 particles: everything implicit, stretch alone, and what aimex makes of it.
static weft_status draw_matrices(const char* folder)
{
    static const struct
    {
        const char *name, *method;
        double criterion, step;
        bool bend_explicit;
    } rows[] = {{"matrix-implicit.svg", "implicit-euler", 0.0, 5e-3, false},
                {"matrix-stretch.svg", "imex", 0.0, 1e-3, false},
                {"matrix-aimex.svg", "aimex", 0.2, 5e-3, true}};
    for (int k = 0; k < 3; k++)
    {
        thesis_case c = {.scene = THESIS_CORNERS,
                         .side = 10,
                         .spacing = 0.05,
                         .density = 0.3,
                         .stretch = 1000,
                         .shear = 100,
                         .bend = 0.01,
                         .stretch_damping = 0.01,
                         .shear_damping = 0.001,
                         .step = rows[k].step,
                         .method = rows[k].method,
                         .criterion = rows[k].criterion,
                         .bend_explicit = rows[k].bend_explicit};
        weft_sim* sim = thesis_sim(&c);
        weft_status status = sim ? run_for(sim, (int)(0.3 / c.step)) : WEFT_UNSUPPORTED;
        status = status == WEFT_OK ? page_file(folder, rows[k].name, thesis_draw_matrix, &sim->world.A) : status;
        weft_sim_destroy(sim);
        TRY(status);
    }
    return WEFT_OK;
}

// Draped: what hangs is taut, what lies is slack or explicit.
static weft_status draw_draped(const char* folder)
{
    static const char* const names[] = {"connections-table.svg", "connections-sphere.svg"};
    static const thesis_scene scenes[] = {THESIS_TABLE, THESIS_SPHERE};
    for (int k = 0; k < 2; k++)
    {
        thesis_case c = {.scene = scenes[k],
                         .side = 32,
                         .spacing = 0.03,
                         .density = 0.3,
                         .stretch = 300,
                         .shear = 20,
                         .bend = 0.01,
                         .stretch_damping = 0.01,
                         .shear_damping = 0.001,
                         .step = 2e-3,
                         .method = "aimex",
                         .criterion = 0.2,
                         .bend_explicit = true};
        weft_sim* sim = thesis_sim(&c);
        weft_status status = sim ? run_for(sim, 300) : WEFT_UNSUPPORTED;
        status = status == WEFT_OK ? page_file(folder, names[k], thesis_draw_connections, sim) : status;
        weft_sim_destroy(sim);
        TRY(status);
    }
    return WEFT_OK;
}

weft_status thesis_pictures(const char* folder)
{
    TRY(draw_steps(folder));
    TRY(draw_draped(folder));
    return draw_matrices(folder);
}
