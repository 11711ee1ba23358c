// `weft render --show connections`: what the method does with each element of stretch and shear in the step that
// follows a frame, as lines: dark where it is implicit, orange where it is explicit, pale where it is slack (Boxerman
// 2003, figures 4.8 to 4.10). A spring is a line between its ends, a triangle the outline of what is inside of it;
// where it has several elements, warp, weft and shear, they lie one inside the other. Bending and air are left out.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/render.h"

enum
{
    PANEL_WIDTH = 960,
    PANEL_HEIGHT = 720,
    STATES = 3
};

static const weft_color state_colors[STATES] = {[WEFT_ELEMENT_IMPLICIT] = {0.11f, 0.16f, 0.25f},
                                                [WEFT_ELEMENT_EXPLICIT] = {0.95f, 0.50f, 0.10f},
                                                [WEFT_ELEMENT_SLACK] = {0.72f, 0.80f, 0.90f}};
static const double thinness = 0.03; // radius by the mean length of lines
static const double inset = 0.10; // by which each outline of a triangle is inside of the last, of the way to its middle

// The lines of one body.
typedef struct body_lines
{
    weft_vec3 *ends, *points; // [2 * count], [WEFT_TUBE_VERTICES * count]
    int *segments, *triangles;
    weft_color *of_line, *colors; // [count], [WEFT_TUBE_VERTICES * count]
    int count, capacity;
} body_lines;

typedef struct connections
{
    frame_matrix matrix;
    weft_element* elements; // [element_count]
    int element_count;
    int *body, *shown; // [vertices of the system] that shows it, and which of its vertices; -1: none
    body_lines* lines; // [body_count]
    int counts[STATES];
} connections;

static void connections_finish(connections* c)
{
    for (int k = 0; k < c->matrix.body_count && c->lines; k++)
    {
        body_lines* l = &c->lines[k];
        free(l->ends);
        free(l->points);
        free(l->segments);
        free(l->triangles);
        free(l->of_line);
        free(l->colors);
    }
    free(c->lines);
    free(c->elements);
    free(c->body);
    free(c->shown);
    frame_matrix_finish(&c->matrix);
}

static bool is_shown(const weft_element* e)
{
    return e->role == WEFT_ELEMENT_STRETCH || e->role == WEFT_ELEMENT_SHEAR;
}

static int line_count(const weft_element* e)
{
    return e->vertex_count == 2 ? 1 : e->vertex_count;
}

// ---- whose is what

static weft_status find_vertices(connections* c, weft_cache* cache)
{
    int n = weft_system_vertex_count(c->matrix.system);
    c->body = malloc(((size_t)n + 1) * sizeof(int));
    c->shown = malloc(((size_t)n + 1) * sizeof(int));
    if (!c->body || !c->shown)
    {
        return WEFT_NO_MEMORY;
    }
    for (int i = 0; i < n; i++)
    {
        c->body[i] = c->shown[i] = -1;
    }
    for (int k = 0; k < c->matrix.body_count; k++)
    {
        for (int i = 0; c->matrix.vertices[k] && i < weft_cache_body_at(cache, k)->vertex_count; i++)
        {
            c->body[c->matrix.vertices[k][i]] = k;
            c->shown[c->matrix.vertices[k][i]] = i;
        }
    }
    return WEFT_OK;
}

static weft_status lines_reserve(connections* c)
{
    c->lines = calloc((size_t)c->matrix.body_count + 1, sizeof(body_lines));
    for (int k = 0; k < c->element_count && c->lines; k++)
    {
        int body = c->body[c->elements[k].vertices[0]];
        if (body >= 0 && is_shown(&c->elements[k]))
        {
            c->lines[body].capacity += line_count(&c->elements[k]);
            c->counts[c->elements[k].state]++;
        }
    }
    bool ok = c->lines != NULL;
    for (int k = 0; k < c->matrix.body_count && ok; k++)
    {
        body_lines* l = &c->lines[k];
        size_t n = (size_t)l->capacity + 1;
        l->ends = malloc(2 * n * sizeof(weft_vec3));
        l->points = malloc(n * WEFT_TUBE_VERTICES * sizeof(weft_vec3));
        l->segments = malloc(2 * n * sizeof(int));
        l->triangles = malloc(3 * n * WEFT_TUBE_TRIANGLES * sizeof(int));
        l->of_line = malloc(n * sizeof(weft_color));
        l->colors = malloc(n * WEFT_TUBE_VERTICES * sizeof(weft_color));
        ok = l->ends && l->points && l->segments && l->triangles && l->of_line && l->colors;
    }
    return ok ? WEFT_OK : WEFT_NO_MEMORY;
}

// ---- lines

static weft_vec3 mix(weft_vec3 a, weft_vec3 b, double share)
{
    return (weft_vec3){a.x + share * (b.x - a.x), a.y + share * (b.y - a.y), a.z + share * (b.z - a.z)};
}

static void add_line(body_lines* l, weft_vec3 a, weft_vec3 b, weft_color color)
{
    int n = l->count++;
    l->ends[2 * n] = a;
    l->ends[2 * n + 1] = b;
    l->segments[2 * n] = 2 * n;
    l->segments[2 * n + 1] = 2 * n + 1;
    l->of_line[n] = color;
}

// `turn`: how many elements of the same vertices came before it.
static void add_element(connections* c, const picture* p, const weft_element* e, int turn)
{
    int body = c->body[e->vertices[0]], n = e->vertex_count;
    weft_vec3 x[WEFT_ELEMENT_VERTEX_MAX], middle = {0, 0, 0};
    for (int k = 0; k < n; k++)
    {
        x[k] = p->positions[body][c->shown[e->vertices[k]]];
        middle = (weft_vec3){middle.x + x[k].x / n, middle.y + x[k].y / n, middle.z + x[k].z / n};
    }
    for (int k = 0; k < n && n > 2; k++)
    {
        x[k] = mix(x[k], middle, inset * (turn + 1));
    }
    for (int k = 0; k < line_count(e); k++)
    {
        add_line(&c->lines[body], x[k], x[(k + 1) % n], state_colors[e->state]);
    }
}

// Warp and weft follow each other; shear is a kind of its own.
static int turn_of(const connections* c, int k)
{
    const weft_element *e = &c->elements[k], *last = k > 0 ? &c->elements[k - 1] : NULL;
    size_t bytes = (size_t)e->vertex_count * sizeof(int);
    bool second = last && last->kind == e->kind && memcmp(last->vertices, e->vertices, bytes) == 0;
    return e->role == WEFT_ELEMENT_SHEAR ? 2 : second;
}

static double mean_length(const body_lines* l)
{
    double sum = 0.0;
    for (int k = 0; k < l->count; k++)
    {
        weft_vec3 a = l->ends[2 * k], b = l->ends[2 * k + 1];
        sum += sqrt((b.x - a.x) * (b.x - a.x) + (b.y - a.y) * (b.y - a.y) + (b.z - a.z) * (b.z - a.z));
    }
    return l->count > 0 ? sum / l->count : 0.0;
}

static void put_mesh(body_lines* l, weft_render_mesh* mesh)
{
    weft_render_tubes(l->ends, l->segments, l->count, thinness * mean_length(l), l->points, l->triangles);
    for (int k = 0; k < WEFT_TUBE_VERTICES * l->count; k++)
    {
        l->colors[k] = l->of_line[k / WEFT_TUBE_VERTICES];
    }
    mesh->face_start = mesh->face_vertices = NULL;
    mesh->face_count = 0;
    mesh->positions = l->points;
    mesh->vertex_count = WEFT_TUBE_VERTICES * l->count;
    mesh->triangles = l->triangles;
    mesh->triangle_count = WEFT_TUBE_TRIANGLES * l->count;
    mesh->colors = l->colors;
    mesh->scalars = NULL;
}

static weft_status panel_connections(picture* p, int index, void* context, char* label, weft_error* error)
{
    (void)index;
    (void)error;
    connections* c = context;
    for (int k = 0; k < c->element_count; k++)
    {
        if (c->body[c->elements[k].vertices[0]] >= 0 && is_shown(&c->elements[k]))
        {
            add_element(c, p, &c->elements[k], turn_of(c, k));
        }
    }
    for (int k = 0; k < p->body_count; k++)
    {
        c->lines[k].count > 0 ? put_mesh(&c->lines[k], &p->meshes[k]) : (void)0;
    }
    snprintf(label, LABEL_SIZE, "%d IMPLICIT (DARK), %d EXPLICIT (ORANGE), %d SLACK (PALE)",
             c->counts[WEFT_ELEMENT_IMPLICIT], c->counts[WEFT_ELEMENT_EXPLICIT], c->counts[WEFT_ELEMENT_SLACK]);
    return WEFT_OK;
}

static weft_status connections_create(connections* c, weft_cache* cache, const render_options* o, int frame,
                                      weft_error* error)
{
    weft_status status = frame_matrix_create(o->dir, cache, frame, &c->matrix, error);
    if (status != WEFT_OK)
    {
        return status;
    }
    c->element_count = weft_sim_elements(c->matrix.sim, NULL, 0);
    c->elements = malloc(((size_t)c->element_count + 1) * sizeof(weft_element));
    if (!c->elements)
    {
        return WEFT_NO_MEMORY;
    }
    weft_sim_elements(c->matrix.sim, c->elements, c->element_count);
    status = find_vertices(c, cache);
    return status == WEFT_OK ? lines_reserve(c) : status;
}

int render_connections(picture* p, const render_options* o, int frame)
{
    connections c = {0};
    weft_error error = {0};
    weft_status status = connections_create(&c, p->cache, o, frame, &error);
    const panels job = {.count = 1,
                        .width = PANEL_WIDTH,
                        .height = PANEL_HEIGHT,
                        .set = panel_connections,
                        .context = &c,
                        .stem = "connections",
                        .first_frame = frame,
                        .name_frame = frame};
    int code = status == WEFT_OK ? render_panels(p, o, &job) : render_report(status, &error);
    connections_finish(&c);
    return code;
}
