// `weft render --stills N`: a contact sheet, N frames spread evenly over the run, the first and the last among them.
// The camera and the colours of strain are those of a film: the same in every still.
#include <stdio.h>

#include "cli/render.h"

enum
{
    PANEL_WIDTH = 480,
    PANEL_HEIGHT = 360
};

// The frame of the index-th of `count` stills, rounded to the nearest; one alone is the last.
static int still_frame(const picture* p, int count, int index)
{
    int last = p->frame_count - 1;
    return count > 1 ? (int)(((int64_t)2 * index * last + count - 1) / (2 * ((int64_t)count - 1))) : last;
}

static weft_status panel_still(picture* p, int index, void* context, char* label, weft_error* error)
{
    int frame = still_frame(p, *(const int*)context, index);
    double rate = weft_cache_frame_rate(p->cache);
    snprintf(label, LABEL_SIZE, "FRAME %d: %.2f S", frame, frame / rate);
    return picture_load(p, frame, error);
}

int render_stills(picture* p, const render_options* o)
{
    int count = o->stills;
    if (count > p->frame_count)
    {
        count = p->frame_count;
        fprintf(stderr, "weft: %s has %d frames, so %d stills are drawn\n", o->dir, count, count);
    }
    const panels job = {.count = count,
                        .width = PANEL_WIDTH,
                        .height = PANEL_HEIGHT,
                        .set = panel_still,
                        .context = &count,
                        .stem = "stills",
                        .first_frame = still_frame(p, count, 0),
                        .name_frame = -1};
    return render_panels(p, o, &job);
}
