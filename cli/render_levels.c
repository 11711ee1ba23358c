// weft render --show levels: the coarser and coarser meshes of a run's cloths, a panel each, as Mueller 2008 draws a
// hierarchy (figure 5). They are the levels of detail that `weft export --level` writes: those of the mesh alone. A
// simulation keeps pinned particles besides (the field `level` of `weft run --fields`).
#include <stdio.h>

#include "cli/render.h"

enum
{
    PANEL_WIDTH = 640,
    PANEL_HEIGHT = 640
};

typedef struct shown_levels
{
    int first, frame;
} shown_levels;

static int shown_vertices(const picture* p)
{
    int sum = 0;
    for (int k = 0; k < p->body_count; k++)
    {
        sum += weft_cache_body_at(p->cache, k)->obstacle ? 0 : p->meshes[k].vertex_count;
    }
    return sum;
}

static weft_status panel_level(picture* p, int index, void* context, char* label, weft_error* error)
{
    const shown_levels* shown = context;
    weft_status status = weft_cache_coarsen(p->cache, shown->first + index, NULL, error);
    for (int k = 0; k < p->body_count; k++)
    {
        // Views are others now, whatever their addresses are; a body that became the ground stays hidden.
        bool hidden = p->meshes[k].triangle_count == 0;
        p->meshes[k].vertex_count = hidden ? p->meshes[k].vertex_count : 0;
    }
    status = status == WEFT_OK ? picture_load(p, shown->frame, error) : status;
    snprintf(label, LABEL_SIZE, "LEVEL %d: %d PARTICLES", shown->first + index, shown_vertices(p));
    return status;
}

int render_levels(picture* p, const render_options* o, int frame)
{
    weft_error error = {0};
    int levels = 0;
    weft_status status = weft_cache_coarsen(p->cache, 0, &levels, &error);
    if (status != WEFT_OK)
    {
        return render_report(status, &error);
    }
    if (levels == 0 || o->level > levels)
    {
        return report_usage("render", false, "--show levels: the cloths of this run have %d coarse levels", levels);
    }
    bool one = o->level >= 0;
    shown_levels shown = {one ? o->level : 0, frame};
    render_options lined = *o;
    lined.edges = true;
    const panels job = {.count = one ? 1 : levels + 1,
                        .width = PANEL_WIDTH,
                        .height = PANEL_HEIGHT,
                        .set = panel_level,
                        .context = &shown,
                        .stem = "levels",
                        .first_frame = frame,
                        .name_frame = frame};
    return render_panels(p, &lined, &job);
}
