// `weft render --show strength`: for each unknown the strong connections of the matrix as lines in the rest shape, at
// the first frame and at the one that is asked for. Figure 2 of Tamstorf, Jones and McCormick 2015. Negative entries
// are blue, positive ones red and on top.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/render.h"

enum
{
    UNKNOWNS = 3,
    USUAL_WIDTH = 1500,
    USUAL_PANEL = 520 // height
};

static const double USUAL_THETA = 0.48; // of the paper's first algorithm

static const weft_color paper = {1.0f, 1.0f, 1.0f}, ink = {0.22f, 0.24f, 0.27f};
static const weft_color negative = {0.13f, 0.36f, 0.72f}, positive = {0.84f, 0.12f, 0.10f};

// The rest shapes of all cloths on one sheet of paper: each seen along its thinnest direction, beside each other.
typedef struct flat_rest
{
    weft_vec2* at; // [vertices of the system] m, y up
    weft_vec2 min, max;
    double spacing; // mean length of a triangle's side, of the coarsest cloth, m
} flat_rest;

// ---- the rest shape on paper

static double dot(weft_vec3 a, weft_vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static weft_vec3 cross(weft_vec3 a, weft_vec3 b)
{
    return (weft_vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static weft_vec3 unit(weft_vec3 a)
{
    double inv_length = 1.0 / fmax(sqrt(dot(a, a)), 1e-300);
    return (weft_vec3){inv_length * a.x, inv_length * a.y, inv_length * a.z};
}

static weft_vec3 mean(const weft_vec3* points, int count)
{
    weft_vec3 sum = {0, 0, 0};
    for (int k = 0; k < count; k++)
    {
        sum = (weft_vec3){sum.x + points[k].x, sum.y + points[k].y, sum.z + points[k].z};
    }
    double inv_count = 1.0 / (count > 0 ? count : 1);
    return (weft_vec3){inv_count * sum.x, inv_count * sum.y, inv_count * sum.z};
}

// The direction in which the points vary least: powers of trace(C) I - C, whose largest eigenvalue is C's smallest.
static weft_vec3 thinnest_direction(const weft_vec3* points, int count)
{
    enum
    {
        POWERS = 200
    };
    weft_vec3 middle = mean(points, count), c[3] = {{0, 0, 0}};
    for (int k = 0; k < count; k++)
    {
        const double d[3] = {points[k].x - middle.x, points[k].y - middle.y, points[k].z - middle.z};
        for (int i = 0; i < 3; i++)
        {
            c[i] = (weft_vec3){c[i].x + d[i] * d[0], c[i].y + d[i] * d[1], c[i].z + d[i] * d[2]};
        }
    }
    double trace = c[0].x + c[1].y + c[2].z;
    weft_vec3 n = unit((weft_vec3){trace - c[0].x + 1e-3 * trace, trace - c[1].y, trace - c[2].z});
    for (int k = 0; k < POWERS && trace > 0.0; k++)
    {
        n = unit((weft_vec3){trace * n.x - dot(c[0], n), trace * n.y - dot(c[1], n), trace * n.z - dot(c[2], n)});
    }
    double most = fabs(n.x) > fabs(n.y) ? n.x : n.y;
    most = fabs(n.z) > fabs(most) ? n.z : most;
    return most < 0.0 ? (weft_vec3){-n.x, -n.y, -n.z} : n;
}

// What points right and up on paper: y goes up, and a level sheet is seen from above.
static void paper_axes(weft_vec3 normal, weft_vec3* right, weft_vec3* up)
{
    weft_vec3 towards = fabs(normal.y) < 0.9 ? (weft_vec3){0, 1, 0} : (weft_vec3){0, 0, -1};
    *right = unit(cross(towards, normal));
    *up = cross(normal, *right);
}

static double mean_side(const weft_cache_body* body)
{
    double sum = 0.0;
    for (int k = 0; k < 3 * body->triangle_count; k++)
    {
        weft_vec3 a = body->rest[body->triangles[k]];
        weft_vec3 b = body->rest[body->triangles[k % 3 < 2 ? k + 1 : k - 2]];
        weft_vec3 d = {b.x - a.x, b.y - a.y, b.z - a.z};
        sum += sqrt(dot(d, d));
    }
    return body->triangle_count > 0 ? sum / (3 * body->triangle_count) : 0.0;
}

static void stretch_box(weft_vec2 point, weft_vec2* min, weft_vec2* max)
{
    *min = (weft_vec2){fmin(min->x, point.x), fmin(min->y, point.y)};
    *max = (weft_vec2){fmax(max->x, point.x), fmax(max->y, point.y)};
}

static weft_vec2 project(weft_vec3 point, weft_vec3 right, weft_vec3 up)
{
    return (weft_vec2){dot(point, right), dot(point, up)};
}

// One cloth, to the right of what is there.
static void flat_rest_add(flat_rest* r, const weft_cache_body* body, const int* vertices)
{
    weft_vec3 right, up;
    paper_axes(thinnest_direction(body->rest, body->vertex_count), &right, &up);
    weft_vec2 min = {INFINITY, INFINITY}, max = {-INFINITY, -INFINITY};
    for (int k = 0; k < body->vertex_count; k++)
    {
        stretch_box(project(body->rest[k], right, up), &min, &max);
    }
    double gap = 0.1 * (max.x - min.x);
    weft_vec2 shift = {r->max.x >= r->min.x ? r->max.x + gap - min.x : 0.0, -min.y};
    for (int k = body->vertex_count - 1; k >= 0; k--) // of welded duplicates the first one counts
    {
        weft_vec2 p = project(body->rest[k], right, up);
        r->at[vertices[k]] = (weft_vec2){p.x + shift.x, p.y + shift.y};
        stretch_box(r->at[vertices[k]], &r->min, &r->max);
    }
    r->spacing = fmax(r->spacing, mean_side(body));
}

static weft_status flat_rest_create(weft_cache* cache, const frame_matrix* m, flat_rest* out)
{
    *out = (flat_rest){.min = {INFINITY, INFINITY}, .max = {-INFINITY, -INFINITY}};
    out->at = calloc((size_t)weft_system_vertex_count(m->system) + 1, sizeof(weft_vec2));
    for (int body = 0; body < m->body_count && out->at; body++)
    {
        if (m->vertices[body]) // an obstacle has no unknowns
        {
            flat_rest_add(out, weft_cache_body_at(cache, body), m->vertices[body]);
        }
    }
    return out->at ? WEFT_OK : WEFT_NO_MEMORY;
}

// ---- panels

typedef struct panel
{
    double left, top, width, height; // px
} panel;

// From metres on paper to pixels: as large as the panel allows, in its middle.
typedef struct paper_scale
{
    double scale;     // px / m
    weft_vec2 origin; // px, of (0, 0)
} paper_scale;

static paper_scale panel_scale(const panel* p, const flat_rest* r)
{
    double wide = fmax(r->max.x - r->min.x, 1e-300), tall = fmax(r->max.y - r->min.y, 1e-300);
    double scale = fmin(p->width / wide, p->height / tall);
    return (paper_scale){scale,
                         {p->left + 0.5 * p->width - 0.5 * scale * (r->min.x + r->max.x),
                          p->top + 0.5 * p->height + 0.5 * scale * (r->min.y + r->max.y)}};
}

static weft_vec2 to_pixels(const paper_scale* s, weft_vec2 p)
{
    return (weft_vec2){s->origin.x + s->scale * p.x, s->origin.y - s->scale * p.y};
}

// Lines stay apart on fine meshes and do not look lost on coarse ones.
static double line_width(const paper_scale* s, const flat_rest* r)
{
    return fmin(2.2, fmax(0.9, 0.16 * s->scale * r->spacing));
}

static void draw_connections(const weft_canvas* canvas, const panel* p, const flat_rest* r,
                             const weft_connection* connections, int count)
{
    paper_scale scale = panel_scale(p, r);
    double width = line_width(&scale, r);
    for (int pass = 0; pass < 2; pass++) // red lines are few and shall be seen
    {
        for (int k = 0; k < count; k++)
        {
            const weft_connection* c = &connections[k];
            if ((c->strength > 0.0) == (pass == 1))
            {
                weft_vec2 from = to_pixels(&scale, r->at[c->i]), to = to_pixels(&scale, r->at[c->j]);
                weft_canvas_line(canvas, from, to, pass == 1 ? 1.4 * width : width, pass == 1 ? positive : negative);
            }
        }
    }
}

static weft_status draw_unknown(const weft_canvas* canvas, const panel* p, const flat_rest* r,
                                const weft_system* system, int unknown, double theta)
{
    int count = 0;
    weft_status status = weft_system_strength(system, unknown, theta, NULL, 0, &count);
    weft_connection* connections = malloc(((size_t)count + 1) * sizeof(*connections));
    if (!connections)
    {
        return WEFT_NO_MEMORY;
    }
    if (status == WEFT_OK)
    {
        status = weft_system_strength(system, unknown, theta, connections, count, &count);
    }
    if (status == WEFT_OK)
    {
        draw_connections(canvas, p, r, connections, count);
    }
    free(connections);
    return status;
}

// Three panels in a row, a title over each.
static weft_status draw_frame(const weft_canvas* canvas, const panel* row, const frame_matrix* m, const flat_rest* r,
                              int frame, double theta)
{
    double margin = 0.03 * row->width, letters = fmax(7.0, 0.012 * row->width), cell = row->width / UNKNOWNS;
    weft_status status = WEFT_OK;
    for (int unknown = 0; unknown < UNKNOWNS && status == WEFT_OK; unknown++)
    {
        panel p = {row->left + unknown * cell + 0.5 * margin, row->top + 3.0 * letters, cell - margin,
                   row->height - 3.0 * letters - 0.5 * margin};
        char title[64];
        snprintf(title, sizeof(title), "%c, FRAME %d", "XYZ"[unknown], frame);
        double wide = weft_canvas_text_width(title, letters);
        weft_canvas_text(canvas, title, (weft_vec2){p.left + 0.5 * (p.width - wide), row->top + 2.0 * letters}, letters,
                         ink);
        status = draw_unknown(canvas, &p, r, m->system, unknown, theta);
    }
    return status;
}

// ---- the picture

static weft_status draw_row(const weft_canvas* canvas, const panel* row, weft_cache* cache, const render_options* o,
                            int frame, weft_error* error)
{
    frame_matrix m;
    flat_rest r = {0};
    weft_status status = frame_matrix_create(o->dir, cache, frame, &m, error);
    if (status == WEFT_OK)
    {
        status = flat_rest_create(cache, &m, &r);
    }
    if (status == WEFT_OK)
    {
        status = draw_frame(canvas, row, &m, &r, frame, o->theta >= 0.0 ? o->theta : USUAL_THETA);
    }
    free(r.at);
    frame_matrix_finish(&m);
    return status;
}

// The first frame above the one that is asked for; once when they are the same.
int render_strength(picture* p, const render_options* o, int frame)
{
    int rows = frame > 0 ? 2 : 1;
    weft_canvas canvas = {.width = o->has_size ? o->width : USUAL_WIDTH,
                          .height = o->has_size ? o->height : rows * USUAL_PANEL};
    canvas.rgb = malloc(3 * (size_t)canvas.width * (size_t)canvas.height);
    weft_error error = {0};
    weft_status status = canvas.rgb ? WEFT_OK : WEFT_NO_MEMORY;
    if (status == WEFT_OK)
    {
        weft_canvas_fill(&canvas, paper);
    }
    for (int k = 0; k < rows && status == WEFT_OK; k++)
    {
        double height = (double)canvas.height / rows;
        panel row = {0.0, k * height, canvas.width, height};
        status = draw_row(&canvas, &row, p->cache, o, k == 0 ? 0 : frame, &error);
    }
    int code = status == WEFT_OK ? render_write(&canvas, o, "strength", frame) : render_report(status, &error);
    free(canvas.rgb);
    return code;
}
