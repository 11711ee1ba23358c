// What the camera of `weft render` takes in. Cloth decides: an obstacle counts as far as it lies within a cloth's
// length of the cloth, a level floor below it only where it lies under it, and one that is much larger not at all. A
// level floor that reaches beyond the picture becomes its ground. The camera stands to the right, or to the left where
// much more of the cloth is seen from there.
#include <math.h>
#include <stdlib.h>

#include "cli/render.h"

static const double large = 4.0; // an obstacle beyond so many lengths of the cloth is a backdrop
static const int enough = 65536; // vertices of a body that are looked at
static const double much = 1.25; // times the cloth that the other side shows
static const double under = 0.1; // lengths of the cloth that a floor shows beside it: more would make the cloth small

static bool box_is_empty(const weft_box* box)
{
    return !(box->min.x <= box->max.x);
}

static double box_length(const weft_box* box)
{
    double x = box->max.x - box->min.x, y = box->max.y - box->min.y, z = box->max.z - box->min.z;
    return box_is_empty(box) ? 0.0 : sqrt(x * x + y * y + z * z);
}

// What of the first box lies in the second grown by `side` along x and z, by `height` along y.
static weft_box box_clip(const weft_box* box, const weft_box* to, double side, double height)
{
    return (weft_box){
        .min = {fmax(box->min.x, to->min.x - side), fmax(box->min.y, to->min.y - height),
                fmax(box->min.z, to->min.z - side)},
        .max = {fmin(box->max.x, to->max.x + side), fmin(box->max.y, to->max.y + height),
                fmin(box->max.z, to->max.z + side)},
    };
}

static weft_vec3 box_nearest(const weft_box* box, weft_vec3 p)
{
    return (weft_vec3){fmin(fmax(p.x, box->min.x), box->max.x), fmin(fmax(p.y, box->min.y), box->max.y),
                       fmin(fmax(p.z, box->min.z), box->max.z)};
}

static void box_join(weft_box* box, const weft_box* other)
{
    bool empty = other->min.x > other->max.x || other->min.y > other->max.y || other->min.z > other->max.z;
    const weft_vec3 ends[] = {other->min, other->max};
    weft_box_add(box, ends, empty ? 0 : 2);
}

// ---- extremes

enum
{
    AXES = 6
};

// The axes first, so that the extremes have the box of all points; then a spiral over the sphere.
static weft_vec3 direction_at(int k)
{
    static const weft_vec3 axes[AXES] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
    if (k < AXES)
    {
        return axes[k];
    }
    const double golden = 2.399963229728653;
    double up = 1.0 - (2.0 * (k - AXES) + 1.0) / (DIRECTIONS - AXES), around = sqrt(1.0 - up * up);
    return (weft_vec3){around * cos(golden * k), up, around * sin(golden * k)};
}

extremes extremes_empty(void)
{
    extremes e = {0};
    for (int k = 0; k < DIRECTIONS; k++)
    {
        e.reach[k] = -INFINITY;
    }
    return e;
}

// Of triangles: vertices that lie around somewhere are not seen.
static void extremes_add(extremes* e, const weft_render_mesh* mesh)
{
    int stride = 1 + mesh->triangle_count / enough; // neighbours lie so close in a fine mesh that some of them tell
    for (int k = 0; k < DIRECTIONS; k++)
    {
        weft_vec3 d = direction_at(k);
        for (int i = 0; i < 3 * mesh->triangle_count; i += i % 3 < 2 ? 1 : 3 * stride - 2)
        {
            weft_vec3 point = mesh->positions[mesh->triangles[i]];
            double reach = d.x * point.x + d.y * point.y + d.z * point.z;
            if (reach > e->reach[k] && reach < INFINITY)
            {
                e->reach[k] = reach;
                e->points[k] = point;
            }
        }
    }
}

// ---- which side

// Area of a body's triangles as seen from the right (0) or from the left (1), from far away.
static double facing_area(const weft_render_mesh* mesh, int side)
{
    const weft_vec3 d = {side == 0 ? 0.66 : -0.66, 0.36, 0.66};
    int stride = 1 + mesh->triangle_count / enough;
    double sum = 0.0;
    for (int t = 0; t < mesh->triangle_count; t += stride)
    {
        const int* corner = mesh->triangles + 3 * (size_t)t;
        weft_vec3 o = mesh->positions[corner[0]], a = mesh->positions[corner[1]], b = mesh->positions[corner[2]];
        a = (weft_vec3){a.x - o.x, a.y - o.y, a.z - o.z};
        b = (weft_vec3){b.x - o.x, b.y - o.y, b.z - o.z};
        double area =
            fabs(d.x * (a.y * b.z - a.z * b.y) + d.y * (a.z * b.x - a.x * b.z) + d.z * (a.x * b.y - a.y * b.x));
        sum += isfinite(area) ? area * stride : 0.0;
    }
    return sum;
}

void framing_look(picture* p)
{
    for (int k = 0; k < p->body_count; k++)
    {
        const weft_render_mesh* mesh = &p->meshes[k];
        weft_box_add_triangles(&p->boxes[k], mesh->positions, mesh->triangles, mesh->triangle_count);
        extremes_add(&p->extremes[k], mesh);
        for (int side = 0; side < 2 && mesh->role == WEFT_MESH_CLOTH; side++)
        {
            p->facing[side] += facing_area(mesh, side);
        }
    }
}

// ---- the choice

static bool is_floor(const weft_box* box, const weft_box* cloth)
{
    bool level = box->max.y - box->min.y <= 1e-6 * box_length(box);
    return level && box->max.y < 0.5 * (cloth->min.y + cloth->max.y);
}

static bool is_obstacle(const picture* p, int body)
{
    return weft_cache_body_at(p->cache, body)->obstacle;
}

// Of all cloths, over the whole run.
static weft_box cloth_box(const picture* p)
{
    weft_box box = weft_box_empty();
    for (int k = 0; k < p->body_count; k++)
    {
        if (!is_obstacle(p, k))
        {
            box_join(&box, &p->boxes[k]);
        }
    }
    return box;
}

// Takes in a body; an obstacle as far as it counts.
static void add_body(framing* f, const picture* p, int body, const weft_box* cloth)
{
    const weft_box* own = &p->boxes[body];
    double length = box_length(cloth);
    double side = !is_obstacle(p, body) ? INFINITY : is_floor(own, cloth) ? under * length : length;
    weft_box near = box_clip(own, cloth, side, length);
    if (near.min.x > near.max.x || near.min.y > near.max.y || near.min.z > near.max.z)
    {
        return;
    }
    for (int k = 0; k < DIRECTIONS; k++)
    {
        f->points[f->count++] = box_nearest(&near, p->extremes[body].points[k]);
    }
}

// An obstacle that is much larger than the cloth: the ground, or left out.
static void pass_backdrop(framing* f, const picture* p, int body, bool ground, const weft_box* cloth)
{
    const weft_box* own = &p->boxes[body];
    if (ground && is_floor(own, cloth))
    {
        bool higher = f->floor < 0 || own->max.y > p->boxes[f->floor].max.y;
        f->floor = higher ? body : f->floor;
    }
    else
    {
        f->lowest = fmin(f->lowest, own->min.y);
    }
}

bool framing_choose(const picture* p, bool ground, framing* out)
{
    *out = (framing){.floor = -1, .lowest = INFINITY};
    out->points = malloc(((size_t)p->body_count * DIRECTIONS + 1) * sizeof(weft_vec3));
    if (!out->points)
    {
        return false;
    }
    out->from_left = p->facing[1] > much * p->facing[0];
    const weft_box cloth = cloth_box(p);
    double length = box_length(&cloth);
    for (int k = 0; k < p->body_count; k++)
    {
        if (is_obstacle(p, k) && box_length(&p->boxes[k]) > large * length)
        {
            pass_backdrop(out, p, k, ground, &cloth);
        }
        else
        {
            add_body(out, p, k, &cloth);
        }
    }
    // The cloth is seen above the floor, unless that is far below.
    double height = out->floor >= 0 ? p->boxes[out->floor].max.y : INFINITY;
    if (height >= cloth.min.y - length && height < cloth.min.y)
    {
        out->points[out->count++] =
            (weft_vec3){0.5 * (cloth.min.x + cloth.max.x), height, 0.5 * (cloth.min.z + cloth.max.z)};
    }
    return true;
}

void framing_view(const framing* f, double aspect, weft_view* view)
{
    // From the left is from the right in a mirror.
    double sign = f->from_left ? -1.0 : 1.0;
    for (int k = 0; k < f->count; k++)
    {
        f->points[k].x *= sign;
    }
    weft_view_frame_points(view, f->points, f->count, aspect);
    view->eye.x *= sign;
    view->target.x *= sign;
}

void framing_finish(framing* f)
{
    free(f->points);
}
