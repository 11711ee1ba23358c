// Several drawings of a run in one picture, in a grid, all from one camera, each with a label.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/render.h"

enum
{
    PANEL_MIN = 16 // pixels a side
};

// A grid that is about square, or one wider where that leaves fewer places empty.
static int panel_columns(int count)
{
    int root = (int)ceil(sqrt(count));
    int gap = (root - count % root) % root, wider_gap = (root + 1 - count % (root + 1)) % (root + 1);
    return wider_gap < gap ? root + 1 : root;
}

// Below the cloth, on the ground.
static void panel_label(const picture* p, const render_options* panel, const char* label)
{
    const weft_color ink = {0.22f, 0.24f, 0.27f};
    weft_canvas canvas = {p->rgb, panel->width, panel->height};
    double letters = fmax(6.0, 0.022 * fmin(panel->width, 4.0 / 3.0 * panel->height));
    weft_canvas_text(&canvas, label, (weft_vec2){1.5 * letters, panel->height - 1.5 * letters}, letters, ink);
}

static void panel_copy(const picture* p, const render_options* panel, const weft_canvas* whole, int column, int row)
{
    size_t bytes = 3 * (size_t)panel->width;
    for (int y = 0; y < panel->height; y++)
    {
        size_t at = (size_t)(row * panel->height + y) * (size_t)whole->width + (size_t)(column * panel->width);
        memcpy(whole->rgb + 3 * at, p->rgb + bytes * (size_t)y, bytes);
    }
}

static weft_status panels_draw(picture* p, const render_options* panel, const panels* job, const weft_canvas* whole,
                               weft_error* error)
{
    int columns = panel_columns(job->count);
    weft_canvas_fill(whole, (weft_color){1.0f, 1.0f, 1.0f});
    weft_status status = WEFT_OK;
    for (int k = 0; k < job->count && status == WEFT_OK; k++)
    {
        char label[LABEL_SIZE] = "";
        status = job->set(p, k, job->context, label, error);
        status = status == WEFT_OK ? picture_draw(p, error) : status;
        if (status == WEFT_OK)
        {
            panel_label(p, panel, label);
            panel_copy(p, panel, whole, k % columns, k / columns);
        }
    }
    return status;
}

int render_panels(picture* p, const render_options* o, const panels* job)
{
    int columns = panel_columns(job->count), rows = (job->count + columns - 1) / columns;
    render_options panel = *o;
    if (o->has_size || job->count > 1)
    {
        panel.width = o->has_size ? o->width / columns : job->width;
        panel.height = o->has_size ? o->height / rows : job->height;
    }
    if (panel.width < PANEL_MIN || panel.height < PANEL_MIN)
    {
        return report_usage("render", false, "--size %dx%d is too small for %d panels", o->width, o->height,
                            job->count);
    }
    int code = picture_prepare(p, &panel, job->first_frame);
    if (code != EXIT_DONE)
    {
        return code;
    }
    weft_error error = {0};
    weft_canvas whole = {.width = o->has_size ? o->width : columns * panel.width,
                         .height = o->has_size ? o->height : rows * panel.height};
    whole.rgb = malloc(3 * (size_t)whole.width * (size_t)whole.height);
    weft_status status = whole.rgb ? panels_draw(p, &panel, job, &whole, &error) : WEFT_NO_MEMORY;
    code = status == WEFT_OK ? render_write(&whole, o, job->stem, job->name_frame) : render_report(status, &error);
    free(whole.rgb);
    return code;
}
