// `weft render --show aggregates`: the aggregates of smoothed-aggregation multigrid as colours on the cloth, a panel
// for each level. Neighbours differ in colour; vertices that take no part are grey.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/render.h"

enum
{
    COLORS = 12,
    PANEL_WIDTH = 640,
    PANEL_HEIGHT = 480,
    PANEL_MIN = 16
};

static const weft_color palette[COLORS] = {
    {0.31f, 0.47f, 0.65f}, {0.95f, 0.56f, 0.17f}, {0.88f, 0.34f, 0.35f}, {0.46f, 0.72f, 0.70f},
    {0.35f, 0.63f, 0.31f}, {0.93f, 0.79f, 0.28f}, {0.69f, 0.48f, 0.63f}, {1.00f, 0.62f, 0.65f},
    {0.61f, 0.46f, 0.37f}, {0.18f, 0.29f, 0.49f}, {0.63f, 0.80f, 0.91f}, {0.55f, 0.82f, 0.49f},
};
static const weft_color grey = {0.62f, 0.63f, 0.65f}, ink = {0.22f, 0.24f, 0.27f};

typedef struct level
{
    int* aggregate; // [vertices of the system], -1: none
    int count, nodes;
} level;

typedef struct hierarchy
{
    frame_matrix matrix;
    level levels[WEFT_LEVEL_MAX];
    int level_count;
    weft_color** colors; // [body_count][vertex_count] of the level at hand
} hierarchy;

// ---- levels

static weft_status hierarchy_read(hierarchy* h, const weft_solver* solver, const weft_solve_stats* stats)
{
    size_t count = (size_t)weft_system_vertex_count(h->matrix.system);
    for (int k = 0; k < WEFT_LEVEL_MAX; k++)
    {
        level* l = &h->levels[k];
        l->aggregate = malloc((count + 1) * sizeof(int));
        if (!l->aggregate)
        {
            return WEFT_NO_MEMORY;
        }
        weft_status status = weft_solver_aggregates(solver, k, l->aggregate, &l->count);
        if (status != WEFT_OK)
        {
            return status == WEFT_NOT_FOUND ? WEFT_OK : status;
        }
        l->nodes = stats->levels[k].rows;
        h->level_count++;
    }
    return WEFT_OK;
}

// The setup is what matters: one iteration, whatever it reaches.
static weft_status hierarchy_solve(hierarchy* h, double theta, weft_error* error)
{
    weft_solver_def def = weft_solver_def_default();
    def.solver = "sa-ppcg";
    def.max_iterations = 1;
    def.worker_count = 0;
    def.sa.theta = theta >= 0.0 ? theta : def.sa.theta;
    weft_solver* solver = NULL;
    weft_solve_stats stats = {0};
    weft_vec3* x = calloc((size_t)weft_system_vertex_count(h->matrix.system) + 1, sizeof(weft_vec3));
    weft_status status = x ? weft_solver_create(&def, &solver, error) : WEFT_NO_MEMORY;
    if (status == WEFT_OK)
    {
        status = weft_solver_solve(solver, h->matrix.system, x, &stats);
        status = status == WEFT_NOT_CONVERGED ? WEFT_OK : status;
    }
    status = status == WEFT_OK ? hierarchy_read(h, solver, &stats) : status;
    if (status == WEFT_OK && h->level_count == 0)
    {
        snprintf(error->message, sizeof(error->message),
                 "the run's %d vertices are too few for multigrid, which solves them directly; use a finer mesh",
                 weft_system_vertex_count(h->matrix.system));
        status = WEFT_BAD_INPUT;
    }
    weft_solver_destroy(solver);
    free(x);
    return status;
}

static void hierarchy_finish(hierarchy* h)
{
    for (int k = 0; k < WEFT_LEVEL_MAX; k++)
    {
        free(h->levels[k].aggregate);
    }
    for (int body = 0; body < h->matrix.body_count && h->colors; body++)
    {
        free(h->colors[body]);
    }
    free(h->colors);
    frame_matrix_finish(&h->matrix);
}

static weft_status hierarchy_create(hierarchy* h, weft_cache* cache, const render_options* o, int frame,
                                    weft_error* error)
{
    weft_status status = frame_matrix_create(o->dir, cache, frame, &h->matrix, error);
    if (status != WEFT_OK)
    {
        return status;
    }
    h->colors = calloc((size_t)h->matrix.body_count, sizeof(*h->colors));
    for (int body = 0; body < h->matrix.body_count && h->colors; body++)
    {
        if (!h->matrix.vertices[body])
        {
            continue; // an obstacle keeps its own colour
        }
        size_t count = (size_t)weft_cache_body_at(cache, body)->vertex_count;
        h->colors[body] = malloc((count + 1) * sizeof(weft_color));
        if (!h->colors[body])
        {
            return WEFT_NO_MEMORY;
        }
    }
    return h->colors ? hierarchy_solve(h, o->theta, error) : WEFT_NO_MEMORY;
}

// ---- colours

// Two aggregates that share a triangle; each such pair is listed both ways.
typedef struct neighbours
{
    int a, b;
} neighbours;

static int compare_neighbours(const void* left, const void* right)
{
    const neighbours *x = left, *y = right;
    return x->a != y->a ? (x->a > y->a) - (x->a < y->a) : (x->b > y->b) - (x->b < y->b);
}

static size_t add_neighbours(neighbours* pairs, size_t count, const weft_cache_body* body, const int* vertices,
                             const int* aggregate)
{
    for (int k = 0; k < 3 * body->triangle_count; k++)
    {
        int a = aggregate[vertices[body->triangles[k]]];
        int b = aggregate[vertices[body->triangles[k % 3 < 2 ? k + 1 : k - 2]]];
        if (a >= 0 && b >= 0 && a != b)
        {
            pairs[count++] = (neighbours){a, b};
            pairs[count++] = (neighbours){b, a};
        }
    }
    return count;
}

// Scattered, so that the colours of aggregates that follow each other along the cloth look unordered.
static int color_wish(int aggregate)
{
    uint32_t hash = (uint32_t)aggregate * 2654435769u;
    return (int)((hash >> 16) % COLORS);
}

// One after the other: the wished colour, or the next one that no neighbour has. Aggregates with more neighbours than
// there are colours may share one with a neighbour.
static void choose_colors(const neighbours* pairs, size_t pair_count, int count, int* chosen)
{
    size_t at = 0;
    for (int a = 0; a < count; a++)
    {
        bool taken[COLORS] = {false};
        for (; at < pair_count && pairs[at].a == a; at++)
        {
            if (pairs[at].b < a)
            {
                taken[chosen[pairs[at].b]] = true;
            }
        }
        int wish = color_wish(a), tries = 0;
        while (tries < COLORS && taken[(wish + tries) % COLORS])
        {
            tries++;
        }
        chosen[a] = (wish + tries) % COLORS;
    }
}

static weft_status hierarchy_color(hierarchy* h, weft_cache* cache, const level* l)
{
    size_t sides = 0, pair_count = 0;
    for (int body = 0; body < h->matrix.body_count; body++)
    {
        sides += 3 * (size_t)weft_cache_body_at(cache, body)->triangle_count;
    }
    neighbours* pairs = malloc((2 * sides + 1) * sizeof(neighbours));
    int* chosen = malloc(((size_t)l->count + 1) * sizeof(int));
    bool ready = pairs && chosen;
    for (int body = 0; body < h->matrix.body_count && ready; body++)
    {
        const int* vertices = h->matrix.vertices[body];
        if (vertices)
        {
            pair_count = add_neighbours(pairs, pair_count, weft_cache_body_at(cache, body), vertices, l->aggregate);
        }
    }
    if (ready)
    {
        qsort(pairs, pair_count, sizeof(neighbours), compare_neighbours);
        choose_colors(pairs, pair_count, l->count, chosen);
    }
    for (int body = 0; body < h->matrix.body_count && ready; body++)
    {
        for (int k = 0; h->colors[body] && k < weft_cache_body_at(cache, body)->vertex_count; k++)
        {
            int a = l->aggregate[h->matrix.vertices[body][k]];
            h->colors[body][k] = a >= 0 ? palette[chosen[a]] : grey;
        }
    }
    free(pairs);
    free(chosen);
    return ready ? WEFT_OK : WEFT_NO_MEMORY;
}

// ---- panels

typedef struct sheet
{
    int columns, rows;
    int first, count; // levels
} sheet;

static sheet sheet_of(const hierarchy* h, int wanted)
{
    sheet s = {.columns = 1, .rows = 1, .first = wanted >= 0 ? wanted : 0, .count = wanted >= 0 ? 1 : h->level_count};
    s.columns = s.count <= 3 ? s.count : s.count == 4 ? 2 : 3;
    s.rows = (s.count + s.columns - 1) / s.columns;
    return s;
}

// Below the cloth, on the ground.
static void label_panel(picture* p, const render_options* o, const hierarchy* h, int index)
{
    weft_canvas canvas = {p->rgb, o->width, o->height};
    double letters = fmax(6.0, 0.022 * fmin(o->width, 4.0 / 3.0 * o->height));
    char label[128];
    snprintf(label, sizeof(label), "LEVEL %d: %d NODES, %d AGGREGATES", index, h->levels[index].nodes,
             h->levels[index].count);
    weft_canvas_text(&canvas, label, (weft_vec2){1.5 * letters, o->height - 1.5 * letters}, letters, ink);
}

static void copy_panel(const picture* p, const render_options* panel, const weft_canvas* whole, int column, int row)
{
    size_t bytes = 3 * (size_t)panel->width;
    for (int y = 0; y < panel->height; y++)
    {
        size_t at = (size_t)(row * panel->height + y) * (size_t)whole->width + (size_t)(column * panel->width);
        memcpy(whole->rgb + 3 * at, p->rgb + bytes * (size_t)y, bytes);
    }
}

static weft_status draw_panels(picture* p, const render_options* panel, hierarchy* h, const sheet* s,
                               const weft_canvas* whole, weft_error* error)
{
    weft_canvas_fill(whole, (weft_color){1.0f, 1.0f, 1.0f});
    for (int body = 0; body < p->body_count; body++)
    {
        p->meshes[body].colors = h->colors[body];
    }
    weft_status status = WEFT_OK;
    for (int k = 0; k < s->count && status == WEFT_OK; k++)
    {
        status = hierarchy_color(h, p->cache, &h->levels[s->first + k]);
        status = status == WEFT_OK ? picture_draw(p, error) : status;
        if (status == WEFT_OK)
        {
            label_panel(p, panel, h, s->first + k);
            copy_panel(p, panel, whole, k % s->columns, k / s->columns);
        }
    }
    return status;
}

// ---- the picture

static int draw_sheet(picture* p, const render_options* o, hierarchy* h, const sheet* s, int frame)
{
    render_options panel = *o;
    if (o->has_size || s->count > 1)
    {
        panel.width = o->has_size ? o->width / s->columns : PANEL_WIDTH;
        panel.height = o->has_size ? o->height / s->rows : PANEL_HEIGHT;
    }
    if (panel.width < PANEL_MIN || panel.height < PANEL_MIN)
    {
        return report_usage("render", false, "--size %dx%d is too small for %d panels", o->width, o->height, s->count);
    }
    int code = picture_prepare(p, &panel, frame);
    if (code != EXIT_DONE)
    {
        return code;
    }
    weft_error error = {0};
    weft_canvas whole = {.width = o->has_size ? o->width : s->columns * panel.width,
                         .height = o->has_size ? o->height : s->rows * panel.height};
    whole.rgb = malloc(3 * (size_t)whole.width * (size_t)whole.height);
    weft_status status = whole.rgb ? draw_panels(p, &panel, h, s, &whole, &error) : WEFT_NO_MEMORY;
    code = status == WEFT_OK ? render_write(&whole, o, "aggregates", frame) : render_report(status, &error);
    free(whole.rgb);
    return code;
}

int render_aggregates(picture* p, const render_options* o, int frame)
{
    hierarchy h = {0};
    weft_error error = {0};
    weft_status status = hierarchy_create(&h, p->cache, o, frame, &error);
    int code;
    if (status != WEFT_OK)
    {
        code = render_report(status, &error);
    }
    else if (o->level >= h.level_count)
    {
        code = report_usage("render", false, "--level %d: the multigrid of this run has the levels 0 to %d", o->level,
                            h.level_count - 1);
    }
    else
    {
        sheet s = sheet_of(&h, o->level);
        code = draw_sheet(p, o, &h, &s, frame);
    }
    hierarchy_finish(&h);
    return code;
}
