// What the camera of `weft render` takes in. Cloth decides: an obstacle counts as far as it lies within a cloth's
// length of the cloth, and one that is much larger, such as a floor, not at all. A level floor that reaches beyond the
// picture becomes its ground.
#include <math.h>
#include <stdlib.h>

#include "cli/render.h"

static const double large = 4.0; // an obstacle beyond so many lengths of the cloth is a backdrop

static bool box_is_empty(const weft_box* box)
{
    return !(box->min.x <= box->max.x);
}

static double box_length(const weft_box* box)
{
    double x = box->max.x - box->min.x, y = box->max.y - box->min.y, z = box->max.z - box->min.z;
    return box_is_empty(box) ? 0.0 : sqrt(x * x + y * y + z * z);
}

// What of the first box lies in the second grown by `margin`.
static weft_box box_clip(const weft_box* box, const weft_box* to, double margin)
{
    return (weft_box){
        .min = {fmax(box->min.x, to->min.x - margin), fmax(box->min.y, to->min.y - margin),
                fmax(box->min.z, to->min.z - margin)},
        .max = {fmin(box->max.x, to->max.x + margin), fmin(box->max.y, to->max.y + margin),
                fmin(box->max.z, to->max.z + margin)},
    };
}

static void box_join(weft_box* box, const weft_box* other)
{
    bool empty = other->min.x > other->max.x || other->min.y > other->max.y || other->min.z > other->max.z;
    const weft_vec3 ends[] = {other->min, other->max};
    weft_box_add(box, ends, empty ? 0 : 2);
}

static bool is_floor(const weft_box* box, const weft_box* cloth)
{
    bool level = box->max.y - box->min.y <= 1e-6 * box_length(box);
    return level && box->max.y < 0.5 * (cloth->min.y + cloth->max.y);
}

void framing_choose(const picture* p, bool ground, framing* out)
{
    *out = (framing){.box = weft_box_empty(), .floor = -1, .lowest = INFINITY};
    for (int k = 0; k < p->body_count; k++)
    {
        if (!weft_cache_body_at(p->cache, k)->obstacle)
        {
            box_join(&out->box, &p->boxes[k]);
        }
    }
    const weft_box cloth = out->box;
    double length = box_length(&cloth);
    for (int k = 0; k < p->body_count; k++)
    {
        const weft_box* own = &p->boxes[k];
        if (!weft_cache_body_at(p->cache, k)->obstacle || box_is_empty(own))
        {
            continue;
        }
        weft_box near = box_clip(own, &cloth, length);
        if (box_length(own) <= large * length)
        {
            box_join(&out->box, &near);
        }
        else if (ground && is_floor(own, &cloth))
        {
            bool higher = out->floor < 0 || own->max.y > p->boxes[out->floor].max.y;
            out->floor = higher ? k : out->floor;
        }
        else
        {
            out->lowest = fmin(out->lowest, own->min.y);
        }
    }
    // The cloth is seen above the floor, unless that is far below.
    double height = out->floor >= 0 ? p->boxes[out->floor].max.y : INFINITY;
    if (height >= cloth.min.y - length && height < out->box.min.y)
    {
        out->box.min.y = height;
    }
}
