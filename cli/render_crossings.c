// weft render --show crossings: triangles that cross in a frame, by the inspector: red where they are new, orange where
// the run lists them as left of its start or squeezed. All else is pale.
#include <stdio.h>
#include <stdlib.h>

#include "cli/render.h"
#include "weft/inspect.h"

enum
{
    PANEL_WIDTH = 960,
    PANEL_HEIGHT = 960,
    PAIRS_MAX = 1000000
};

static const weft_color cloth_color = {0.82F, 0.83F, 0.86F}, body_color = {0.62F, 0.64F, 0.66F};
static const weft_color listed_color = {0.95F, 0.60F, 0.10F}, new_color = {0.86F, 0.08F, 0.10F};

typedef struct crossings
{
    const char* dir;
    int frame;
    int body_count;
    weft_color** colors;       // [body_count][vertex_count]
    weft_inspect_body* bodies; // [body_count] those that are there in the frame; the others are empty
    weft_inspector* inspector;
    weft_squeezed_split* split;
    weft_cache_squeezed* lists;
    int64_t found, listed;
} crossings;

static void crossings_finish(crossings* c)
{
    for (int k = 0; k < c->body_count && c->colors; k++)
    {
        free(c->colors[k]);
    }
    free(c->colors);
    free(c->bodies);
    weft_squeezed_split_destroy(c->split);
    weft_cache_squeezed_destroy(c->lists);
    weft_inspector_destroy(c->inspector);
}

static weft_status crossings_create(crossings* c, picture* p, weft_error* error)
{
    c->body_count = p->body_count;
    c->colors = calloc((size_t)p->body_count + 1, sizeof(*c->colors));
    c->bodies = calloc((size_t)p->body_count + 1, sizeof(*c->bodies));
    for (int k = 0; k < p->body_count && c->colors && c->bodies; k++)
    {
        const weft_cache_body* b = weft_cache_topology_at(p->cache, k, weft_cache_topology_of(p->cache, k, c->frame));
        bool there = weft_cache_present(p->cache, k, c->frame);
        c->colors[k] = calloc((size_t)b->vertex_count + 1, sizeof(weft_color));
        c->bodies[k] = (weft_inspect_body){.obstacle = b->obstacle,
                                           .vertex_count = b->vertex_count,
                                           .triangle_count = there ? b->triangle_count : 0,
                                           .triangles = b->triangles,
                                           .segment_count = there ? b->segment_count : 0,
                                           .segments = b->segments};
        for (int i = 0; i < b->vertex_count && c->colors[k]; i++)
        {
            c->colors[k][i] = b->obstacle ? body_color : cloth_color;
        }
        if (!c->colors[k])
        {
            return WEFT_NO_MEMORY;
        }
    }
    if (!c->colors || !c->bodies)
    {
        return WEFT_NO_MEMORY;
    }
    weft_inspect_def def = weft_inspect_def_default();
    def.worker_count = 0;
    def.crossings_only = 1;
    def.pair_limit = PAIRS_MAX;
    weft_status status = weft_inspector_create(&def, c->bodies, c->body_count, &c->inspector, error);
    status = status == WEFT_OK ? weft_squeezed_split_create(c->bodies, c->body_count, &c->split) : status;
    return status == WEFT_OK ? weft_cache_squeezed_read(c->dir, p->cache, &c->lists, error) : status;
}

static void color_pairs(crossings* c, const weft_inspection* found, weft_color color)
{
    for (int k = 0; k < 2 * found->pair_count; k++)
    {
        const weft_crossing* pair = &found->pairs[k / 2];
        int body = pair->body[k % 2], triangle = pair->triangle[k % 2];
        const weft_inspect_body* b = &c->bodies[body];
        bool segment = triangle >= b->triangle_count;
        const int* corner =
            segment ? b->segments + 2 * (size_t)(triangle - b->triangle_count) : b->triangles + 3 * (size_t)triangle;
        for (int j = 0; j < (segment ? 2 : 3); j++)
        {
            c->colors[body][corner[j]] = color;
        }
    }
}

// Takes out of the crossings what the run lists for the frame.
static weft_status take_listed(crossings* c, const weft_vec3* const* x, weft_inspection* found)
{
    const weft_squeezed* pairs = NULL;
    int64_t taken = 0;
    int count = weft_cache_unsettled_at(c->lists, c->frame, &pairs);
    if (count < 0) // the start of a run that settles
    {
        c->listed = found->crossings;
        *found = (weft_inspection){0};
        return WEFT_OK;
    }
    weft_squeezed_list left = {.pair_count = count, .pairs = pairs};
    weft_status status = weft_squeezed_split_frame(c->split, &left, x, found, &taken);
    c->listed += taken;
    weft_squeezed_list squeezed = {.pair_count = weft_cache_squeezed_at(c->lists, c->frame, &squeezed.pairs)};
    squeezed.closed_count = weft_cache_squeezed_until(c->lists, c->frame, &squeezed.closed);
    status = status == WEFT_OK ? weft_squeezed_split_frame(c->split, &squeezed, x, found, &taken) : status;
    c->listed += taken;
    return status;
}

static weft_status panel_crossings(picture* p, int index, void* context, char* label, weft_error* error)
{
    (void)index;
    crossings* c = context;
    weft_inspection found;
    weft_status status = weft_inspector_frame(c->inspector, (const weft_vec3* const*)p->positions, &found, error);
    if (status != WEFT_OK)
    {
        return status;
    }
    c->found = found.crossings;
    color_pairs(c, &found, listed_color);
    status = take_listed(c, (const weft_vec3* const*)p->positions, &found);
    color_pairs(c, &found, new_color);
    for (int k = 0; k < p->body_count; k++)
    {
        p->meshes[k].colors = p->tubes[k].segments ? NULL : c->colors[k]; // lines are drawn with other vertices
    }
    snprintf(label, LABEL_SIZE, "%lld NEW (RED), %lld LISTED (ORANGE)", (long long)(c->found - c->listed),
             (long long)c->listed);
    return status;
}

int render_crossings(picture* p, const render_options* o, int frame)
{
    crossings c = {.dir = o->dir, .frame = frame};
    weft_error error = {0};
    weft_status status = crossings_create(&c, p, &error);
    const panels job = {.count = 1,
                        .width = PANEL_WIDTH,
                        .height = PANEL_HEIGHT,
                        .set = panel_crossings,
                        .context = &c,
                        .stem = "crossings",
                        .first_frame = frame,
                        .name_frame = frame};
    int code = status == WEFT_OK ? render_panels(p, o, &job) : render_report(status, &error);
    crossings_finish(&c);
    return code;
}
