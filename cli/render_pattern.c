// `weft render --show pattern`: the blocks of the matrix behind a frame that are not zero, a dot each, in the order of
// the user's vertices and, beside it, component by component (Boxerman 2003, figures 4.3, 4.7, 4.11 and 6.2). Held
// vertices come last there.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/render.h"

enum
{
    SIDE = 640, // pixels of a panel
    MARGIN = 24,
    TITLE = 28
};

typedef struct pattern_picture
{
    frame_matrix matrix;
    weft_connection* list; // [count] of one unknown
    int *component, *order;
    int vertices, components;
    weft_canvas canvas;
} pattern_picture;

static void put_dot(const pattern_picture* p, int panel, int row, int column, weft_color color)
{
    double scale = (double)SIDE / p->vertices;
    int x0 = MARGIN + panel * (SIDE + MARGIN) + (int)(column * scale), y0 = MARGIN + TITLE + (int)(row * scale);
    int size = scale > 1.0 ? (int)scale : 1;
    for (int y = y0; y < y0 + size; y++)
    {
        for (int x = x0; x < x0 + size; x++)
        {
            unsigned char* to = p->canvas.rgb + 3 * ((size_t)y * (size_t)p->canvas.width + (size_t)x);
            to[0] = (unsigned char)(255.0f * color.r);
            to[1] = (unsigned char)(255.0f * color.g);
            to[2] = (unsigned char)(255.0f * color.b);
        }
    }
}

static void put_block(const pattern_picture* p, int i, int j)
{
    const weft_color ink = {0.12f, 0.25f, 0.47f}, held = {0.72f, 0.72f, 0.74f};
    weft_color color = p->component[i] < 0 || p->component[j] < 0 ? held : ink;
    put_dot(p, 0, i, j, color);
    put_dot(p, 0, j, i, color);
    put_dot(p, 1, p->order[i], p->order[j], color);
    put_dot(p, 1, p->order[j], p->order[i], color);
}

// Place of each vertex, components one after the other.
static void make_order(pattern_picture* p)
{
    int at = 0;
    for (int c = 0; c <= p->components; c++)
    {
        for (int i = 0; i < p->vertices; i++)
        {
            if (p->component[i] == (c < p->components ? c : -1))
            {
                p->order[i] = at++;
            }
        }
    }
}

// Blocks of springs are semidefinite: one that is not zero has an entry on its diagonal, and three unknowns show all.
static weft_status put_blocks(pattern_picture* p)
{
    for (int unknown = 0; unknown < 3; unknown++)
    {
        int count;
        weft_status status = weft_system_strength(p->matrix.system, unknown, 0.0, NULL, 0, &count);
        free(p->list);
        p->list = malloc(((size_t)count + 1) * sizeof(weft_connection));
        if (status != WEFT_OK || !p->list)
        {
            return status != WEFT_OK ? status : WEFT_NO_MEMORY;
        }
        status = weft_system_strength(p->matrix.system, unknown, 0.0, p->list, count, &count);
        for (int k = 0; k < count && status == WEFT_OK; k++)
        {
            put_block(p, p->list[k].i, p->list[k].j);
        }
    }
    for (int i = 0; i < p->vertices; i++)
    {
        put_block(p, i, i);
    }
    return WEFT_OK;
}

static weft_status draw(pattern_picture* p, weft_error* error)
{
    const weft_color ink = {0.22f, 0.24f, 0.27f};
    p->vertices = weft_system_vertex_count(p->matrix.system);
    p->component = malloc(((size_t)p->vertices + 1) * sizeof(int));
    p->order = malloc(((size_t)p->vertices + 1) * sizeof(int));
    p->canvas.width = 2 * SIDE + 3 * MARGIN;
    p->canvas.height = SIDE + 2 * MARGIN + TITLE;
    p->canvas.rgb = malloc(3 * (size_t)p->canvas.width * (size_t)p->canvas.height);
    if (!p->component || !p->order || !p->canvas.rgb)
    {
        return WEFT_NO_MEMORY;
    }
    weft_canvas_fill(&p->canvas, (weft_color){1.0f, 1.0f, 1.0f});
    weft_status status = frame_matrix_components(&p->matrix, p->component, &p->components, error);
    if (status != WEFT_OK)
    {
        return status;
    }
    make_order(p);
    char title[64];
    snprintf(title, sizeof(title), "%d COMPONENTS, ONE AFTER THE OTHER", p->components);
    weft_canvas_text(&p->canvas, "BLOCKS THAT ARE NOT ZERO", (weft_vec2){MARGIN, MARGIN + 10.0}, 11.0, ink);
    weft_canvas_text(&p->canvas, title, (weft_vec2){2.0 * MARGIN + SIDE, MARGIN + 10.0}, 11.0, ink);
    return put_blocks(p);
}

int render_pattern(picture* p, const render_options* o, int frame)
{
    pattern_picture picture = {0};
    weft_error error = {0};
    weft_status status = frame_matrix_create(o->dir, p->cache, frame, &picture.matrix, &error);
    status = status == WEFT_OK ? draw(&picture, &error) : status;
    int code = status == WEFT_OK ? render_write(&picture.canvas, o, "pattern", frame) : render_report(status, &error);
    frame_matrix_finish(&picture.matrix);
    free(picture.list);
    free(picture.component);
    free(picture.order);
    free(picture.canvas.rgb);
    return code;
}
