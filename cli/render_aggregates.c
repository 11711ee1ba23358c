// `weft render --show aggregates`: the aggregates of smoothed-aggregation multigrid as colours on the cloth, a panel
// for each level. Neighbours differ in colour; vertices that take no part are grey. `--show components` likewise
// colours the parts that the system falls into, with vertices that are held in white (Boxerman 2003, figures 6.4
// to 6.6).
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/render.h"

enum
{
    COLORS = 12,
    PANEL_WIDTH = 640,
    PANEL_HEIGHT = 480
};

static const weft_color palette[COLORS] = {
    {0.31f, 0.47f, 0.65f}, {0.95f, 0.56f, 0.17f}, {0.88f, 0.34f, 0.35f}, {0.46f, 0.72f, 0.70f},
    {0.35f, 0.63f, 0.31f}, {0.93f, 0.79f, 0.28f}, {0.69f, 0.48f, 0.63f}, {1.00f, 0.62f, 0.65f},
    {0.61f, 0.46f, 0.37f}, {0.18f, 0.29f, 0.49f}, {0.63f, 0.80f, 0.91f}, {0.55f, 0.82f, 0.49f},
};
static const weft_color grey = {0.62f, 0.63f, 0.65f}, white = {1.0f, 1.0f, 1.0f};

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
    bool components;     // the one level shows them
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

// One iteration finds them, too.
weft_status frame_matrix_components(const frame_matrix* m, int* component, int* count, weft_error* error)
{
    weft_solver_def def = weft_solver_def_default();
    def.solver = "decomposed:mpcg";
    def.max_iterations = 1;
    weft_solver* solver = NULL;
    weft_vec3* x = calloc((size_t)weft_system_vertex_count(m->system) + 1, sizeof(weft_vec3));
    weft_status status = x ? weft_solver_create(&def, &solver, error) : WEFT_NO_MEMORY;
    if (status == WEFT_OK)
    {
        status = weft_solver_solve(solver, m->system, x, NULL);
        status = status == WEFT_NOT_CONVERGED ? WEFT_OK : status;
    }
    status = status == WEFT_OK ? weft_solver_components(solver, component, count) : status;
    weft_solver_destroy(solver);
    free(x);
    return status;
}

// The field of a run with --fields, or -1.
static int component_field(const weft_cache* cache, int body)
{
    for (int k = 0; k < weft_cache_field_count(cache, body); k++)
    {
        if (strcmp(weft_cache_field_at(cache, body, k)->name, "component") == 0)
        {
            return k;
        }
    }
    return -1;
}

// What the run itself says of the step that ended in the frame: a matrix that is made anew from positions lacks the velocities of
// that step, and what is implicit follows from both.
static weft_status split_as_run(hierarchy* h, weft_cache* cache, int frame, weft_error* error)
{
    level* l = &h->levels[0];
    int count = 0;
    for (int body = 0; body < h->matrix.body_count; body++)
    {
        int field = h->matrix.vertices[body] ? component_field(cache, body) : -1;
        if (h->matrix.vertices[body] && (field < 0 || frame == 0))
        {
            return WEFT_OK;
        }
        int vertices = weft_cache_body_at(cache, body)->vertex_count;
        float* value = h->matrix.vertices[body] ? malloc(((size_t)vertices + 1) * sizeof(float)) : NULL;
        if (h->matrix.vertices[body] && !value)
        {
            return WEFT_NO_MEMORY;
        }
        weft_status status = value ? weft_cache_read_field(cache, body, field, frame, value, error) : WEFT_OK;
        for (int v = 0; value && status == WEFT_OK && v < vertices; v++)
        {
            l->aggregate[h->matrix.vertices[body][v]] = (int)value[v];
            count = (int)value[v] >= count ? (int)value[v] + 1 : count;
        }
        free(value);
        if (status != WEFT_OK)
        {
            return status;
        }
    }
    l->count = count;
    return WEFT_OK;
}

static weft_status hierarchy_split(hierarchy* h, weft_cache* cache, int frame, weft_error* error)
{
    level* l = &h->levels[0];
    l->nodes = weft_system_vertex_count(h->matrix.system);
    l->aggregate = malloc(((size_t)l->nodes + 1) * sizeof(int));
    h->level_count = 1;
    h->components = true;
    weft_status status =
        l->aggregate ? frame_matrix_components(&h->matrix, l->aggregate, &l->count, error) : WEFT_NO_MEMORY;
    return status == WEFT_OK ? split_as_run(h, cache, frame, error) : status;
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
    if (!h->colors)
    {
        return WEFT_NO_MEMORY;
    }
    return o->show == SHOW_COMPONENTS ? hierarchy_split(h, cache, frame, error) : hierarchy_solve(h, o->theta, error);
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
            h->colors[body][k] = a >= 0 ? palette[chosen[a]] : h->components ? white : grey;
        }
    }
    free(pairs);
    free(chosen);
    return ready ? WEFT_OK : WEFT_NO_MEMORY;
}

// ---- the picture

typedef struct shown_levels
{
    hierarchy* hierarchy;
    int first;
} shown_levels;

static weft_status panel_level(picture* p, int index, void* context, char* label, weft_error* error)
{
    (void)error;
    const shown_levels* shown = context;
    hierarchy* h = shown->hierarchy;
    int at = shown->first + index;
    for (int body = 0; body < p->body_count; body++)
    {
        p->meshes[body].colors = h->colors[body];
    }
    if (h->components)
    {
        snprintf(label, LABEL_SIZE, "%d COMPONENT%s", h->levels[0].count,
                 h->levels[0].count == 1 ? "" : "S");
        return hierarchy_color(h, p->cache, &h->levels[0]);
    }
    snprintf(label, LABEL_SIZE, "LEVEL %d: %d NODES, %d AGGREGATES", at, h->levels[at].nodes, h->levels[at].count);
    return hierarchy_color(h, p->cache, &h->levels[at]);
}

static int draw_levels(picture* p, const render_options* o, hierarchy* h, int frame)
{
    bool one = o->level >= 0;
    shown_levels shown = {h, one ? o->level : 0};
    const panels job = {.count = one ? 1 : h->level_count,
                        .width = PANEL_WIDTH,
                        .height = PANEL_HEIGHT,
                        .set = panel_level,
                        .context = &shown,
                        .stem = h->components ? "components" : "aggregates",
                        .first_frame = frame,
                        .name_frame = frame};
    return render_panels(p, o, &job);
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
        code = draw_levels(p, o, &h, frame);
    }
    hierarchy_finish(&h);
    return code;
}
