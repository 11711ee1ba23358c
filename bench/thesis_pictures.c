// Pictures of the thesis as SVG: connections dark where they are implicit, orange where they are explicit, pale where
// they are slack (figures 4.8 to 4.10), and blocks of a matrix that are not zero (4.3, 4.7, 4.11), the last once more
// with the particles of each component one after the other (6.2).
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
    int height; // of the picture, WIDTH wide
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
    double size = fmax(high[0] - low[0], high[1] - low[1]), scale = WIDTH / (1.06 * size);
    int height = (int)ceil(scale * (high[1] - low[1] + 0.06 * size));
    return (frame){low[0] - 0.03 * size, low[1] - 0.03 * size, scale, height};
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
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" style=\"background:#fff\">\n",
            WIDTH, f.height, WIDTH);
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

// ---- matrices

enum
{
    PANEL = 300,
    PARTICLES = 100,
    PANELS = 4
};

// Blocks that are not zero, row by row, and the order in which they are drawn.
typedef struct panel
{
    const char* title;
    bool block[PARTICLES][PARTICLES];
    int order[PARTICLES];     // particle at each place
    int component[PARTICLES]; // of each particle; -1: held
    int components;
    bool boxes; // around components of more than one particle
} panel;

static bool is_held(const weft_sim* sim, int vertex)
{
    bool held = false;
    for (int k = 0; k < sim->world.filter_count; k++)
    {
        const filter_record* record = &sim->world.filter[k];
        held = held || (record->vertex == vertex && record->direction_count == 3);
    }
    return held;
}

// Particles in the order of the sheet's rows, as the thesis has them.
static void panel_read(panel* p, const weft_sim* sim)
{
    const bsr_matrix* A = &sim->world.A;
    const int* user = sim->bodies[0].user_vertex;
    for (int i = 0; i < A->pattern->row_count; i++)
    {
        p->order[user[i]] = user[i];
        p->component[user[i]] = is_held(sim, i) ? -1 : -2;
        for (int s = A->pattern->row_start[i]; s < A->pattern->row_start[i + 1]; s++)
        {
            for (int k = 0; k < 9; k++)
            {
                bool any = A->values[9 * (size_t)s + (size_t)k] != 0.0;
                p->block[user[i]][user[A->pattern->column[s]]] |= any;
            }
        }
    }
}

// Particles that hang together; held ones are dead ends.
static void panel_part(panel* p)
{
    int queue[PARTICLES], place = 0;
    for (int seed = 0; seed < PARTICLES; seed++)
    {
        int head = 0, tail = 0;
        p->component[seed] == -2 ? (void)(queue[tail++] = seed, p->component[seed] = p->components++) : (void)0;
        for (; head < tail; head++)
        {
            for (int j = 0; j < PARTICLES; j++)
            {
                if (p->component[j] == -2 && p->block[queue[head]][j])
                {
                    p->component[j] = p->component[seed];
                    queue[tail++] = j;
                }
            }
        }
        for (int k = 0; k < tail; k++)
        {
            p->order[place++] = queue[k];
        }
    }
    for (int i = 0; i < PARTICLES; i++)
    {
        p->component[i] == -1 ? (void)(p->order[place++] = i) : (void)0;
    }
}

static int second_largest(const panel* p)
{
    int size[PARTICLES] = {0}, most[2] = {0};
    for (int i = 0; i < PARTICLES; i++)
    {
        p->component[i] >= 0 ? size[p->component[i]]++ : 0;
    }
    for (int k = 0; k < p->components; k++)
    {
        most[1] = int_max(most[1], int_min(most[0], size[k]));
        most[0] = int_max(most[0], size[k]);
    }
    return most[1];
}

static void draw_boxes(const panel* p, double dot, FILE* out)
{
    for (int start = 0, end; start < PARTICLES; start = end)
    {
        int component = p->component[p->order[start]];
        for (end = start + 1; end < PARTICLES && p->component[p->order[end]] == component; end++)
        {
        }
        if (component >= 0 && end - start > 1)
        {
            fprintf(out,
                    "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"none\" stroke=\"#d62728\" "
                    "stroke-width=\"1.5\"/>\n",
                    dot * start, dot * start, dot * (end - start), dot * (end - start));
        }
    }
}

static void draw_panel(const panel* p, FILE* out)
{
    double dot = (double)PANEL / PARTICLES;
    int count = 0;
    fprintf(out, "<rect width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#999\"/>\n<path fill=\"#1b2a41\" d=\"", PANEL,
            PANEL);
    for (int k = 0; k < PARTICLES * PARTICLES; k++)
    {
        if (p->block[p->order[k / PARTICLES]][p->order[k % PARTICLES]])
        {
            count++;
            fprintf(out, "M%.0f %.0fh%.0fv%.0fh-%.0fz", dot * (k % PARTICLES), dot * (k / PARTICLES), dot, dot, dot);
        }
    }
    fprintf(out, "\"/>\n");
    p->boxes ? draw_boxes(p, dot, out) : (void)0;
    fprintf(out, "<text x=\"0\" y=\"%d\" font-family=\"sans-serif\" font-size=\"13\">%s: ", PANEL + 18, p->title);
    p->boxes ? fprintf(out, "%d components</text>\n", p->components) : fprintf(out, "%d blocks</text>\n", count);
}

static void draw_panels(const void* context, FILE* out)
{
    const panel* panels = context;
    const int width = PANELS * (PANEL + 20) + 20;
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" style=\"background:#fff\">\n",
            width, PANEL + 50, width);
    for (int k = 0; k < PANELS; k++)
    {
        fprintf(out, "<g transform=\"translate(%d 20)\">\n", 20 + k * (PANEL + 20));
        draw_panel(&panels[k], out);
        fprintf(out, "</g>\n");
    }
    fprintf(out, "</svg>\n");
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

// 10 x 10 particles as they are after 0.3 s, or where that comes first with two components of a fifth of them each.
static weft_status read_panel(const thesis_case* c, bool parted, panel* plain, panel* reordered)
{
    weft_sim* sim = thesis_sim(c);
    weft_status status = sim ? WEFT_OK : WEFT_UNSUPPORTED;
    for (int k = 0; k < (int)(0.3 / c->step) && status == WEFT_OK; k++)
    {
        status = run_for(sim, 1);
        memset(plain->block, 0, sizeof(plain->block));
        panel_read(plain, sim);
        *reordered = (panel){.boxes = true};
        panel_read(reordered, sim);
        panel_part(reordered);
        if (parted && second_largest(reordered) >= PARTICLES / 5)
        {
            break;
        }
    }
    weft_sim_destroy(sim);
    return status;
}

// Everything implicit, stretch alone, what aimex makes of it, and that in components.
static weft_status draw_matrices(const char* folder)
{
    static const struct
    {
        const char *title, *method;
        double criterion, step, shear;
        bool bend_explicit;
    } rows[] = {{"4.3 implicit", "implicit-euler", 0.0, 5e-3, 100, false},
                {"4.7 stretch implicit", "imex", 0.0, 1e-3, 100, false},
                {"4.11 aimex, on a table", "aimex", 0.2, 2e-3, 30, true}};
    static panel panels[PANELS];
    memset(panels, 0, sizeof(panels));
    for (int k = 0; k < PANELS - 1; k++)
    {
        thesis_case c = {.scene = k == PANELS - 2 ? THESIS_TABLE : THESIS_CORNERS,
                         .side = 10,
                         .spacing = 0.05,
                         .density = 0.3,
                         .stretch = 1000,
                         .shear = rows[k].shear,
                         .bend = 0.01,
                         .stretch_damping = 0.01,
                         .shear_damping = 0.001,
                         .step = rows[k].step,
                         .method = rows[k].method,
                         .criterion = rows[k].criterion,
                         .bend_explicit = rows[k].bend_explicit};
        panels[k].title = rows[k].title;
        TRY(read_panel(&c, k == PANELS - 2, &panels[k], &panels[PANELS - 1]));
    }
    panels[PANELS - 1].title = "6.2 the same, reordered";
    return page_file(folder, "matrices.svg", draw_panels, panels);
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
