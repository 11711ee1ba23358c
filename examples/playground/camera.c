// A camera that orbits a point, the ray through a pixel, and what that ray meets.
#include <float.h>

#include "playground.h"

enum
{
    NEAR_PIXELS = 22 // a vertex that far from the mouse is still meant
};

typedef struct frame
{
    weft_vec3 eye, right, up, back;
    double tangent; // of half the angle of view
} frame;

static frame frame_of(const camera* c)
{
    frame f;
    f.back = (weft_vec3){cos(c->pitch) * sin(c->yaw), sin(c->pitch), cos(c->pitch) * cos(c->yaw)};
    f.right = (weft_vec3){cos(c->yaw), 0.0, -sin(c->yaw)};
    f.up = cross(f.back, f.right);
    f.eye = add(c->target, scaled(c->distance, f.back));
    f.tangent = tan(0.5 * c->fov);
    return f;
}

weft_vec3 camera_eye(const camera* c)
{
    return frame_of(c).eye;
}

// How far away the eye must be for this corner of a box to be in the picture.
static double distance_for(const camera* c, const frame* f, weft_vec3 corner)
{
    weft_vec3 d = sub(corner, c->target);
    double tall = 0.9 * f->tangent, wide = tall * (1.0 - c->shift) * c->width / fmax(c->height, 1.0);
    return dot(d, f->back) + fmax(fabs(dot(d, f->right)) / wide, fabs(dot(d, f->up)) / tall);
}

// All bodies are to be in the picture, and what is below them.
void camera_frame(camera* c, const picture* p)
{
    weft_box box = weft_box_empty(), floor = weft_box_empty();
    for (int k = 0; k < p->shape_count; k++)
    {
        const shape* s = &p->shapes[k];
        weft_box_add(shape_is_floor(s) ? &floor : &box, s->x, s->vertex_count);
    }
    double size = length(sub(box.max, box.min));
    c->ground = floor.min.x <= floor.max.x ? floor.min.y : box.min.y - 0.3 * size;
    box.min.y = fmax(c->ground, box.min.y - 0.6 * size);
    c->target = scaled(0.5, add(box.min, box.max));
    c->yaw = 0.45, c->pitch = 0.32, c->fov = 0.6;
    frame f = frame_of(c);
    c->distance = 0.0;
    for (int k = 0; k < 8; k++)
    {
        weft_vec3 corner = {k & 1 ? box.max.x : box.min.x, k & 2 ? box.max.y : box.min.y,
                            k & 4 ? box.max.z : box.min.z};
        c->distance = fmax(c->distance, distance_for(c, &f, corner));
    }
}

ray camera_ray(const camera* c, double x, double y)
{
    frame f = frame_of(c);
    double v = f.tangent * (1.0 - 2.0 * y / c->height),
           u = f.tangent * (2.0 * x - (1.0 + c->shift) * c->width) / c->height;
    return (ray){f.eye, unit(sub(add(scaled(u, f.right), scaled(v, f.up)), f.back))};
}

bool camera_pixel(const camera* c, weft_vec3 at, double* x, double* y)
{
    frame f = frame_of(c);
    weft_vec3 d = sub(at, f.eye);
    double depth = -dot(d, f.back);
    *x = 0.5 * (1.0 + c->shift) * c->width + 0.5 * c->height * dot(d, f.right) / (depth * f.tangent);
    *y = 0.5 * c->height * (1.0 - dot(d, f.up) / (depth * f.tangent));
    return depth > 1e-9;
}

weft_vec3 camera_slide(const camera* c, weft_vec3 at, double x, double y)
{
    frame f = frame_of(c);
    ray r = camera_ray(c, x, y);
    weft_vec3 to = add(r.from, scaled(dot(sub(at, r.from), f.back) / dot(r.to, f.back), r.to));
    to.y = fmax(to.y, c->ground + 0.002 * c->distance); // hands do not reach into the floor
    return to;
}

void camera_matrix(const camera* c, float out[16])
{
    frame f = frame_of(c);
    double near = 0.02 * c->distance, far = 60.0 * c->distance, scale = 1.0 / f.tangent;
    double aspect = (double)c->width / fmax(c->height, 1.0);
    const weft_vec3 axis[3] = {f.right, f.up, f.back};
    double view[3][4];
    for (int i = 0; i < 3; i++)
    {
        view[i][0] = axis[i].x, view[i][1] = axis[i].y, view[i][2] = axis[i].z;
        view[i][3] = -dot(axis[i], f.eye);
    }
    for (int j = 0; j < 4; j++)
    {
        out[4 * j] = (float)(scale / aspect * view[0][j] - c->shift * view[2][j]);
        out[4 * j + 1] = (float)(scale * view[1][j]);
        out[4 * j + 2] =
            (float)((far + near) / (near - far) * view[2][j] + (j == 3 ? 2.0 * far * near / (near - far) : 0.0));
        out[4 * j + 3] = (float)-view[2][j];
    }
}

// ---- picking

// Where the ray meets the triangle, as a distance along it; infinity: not at all.
static double meet(const ray* r, weft_vec3 a, weft_vec3 b, weft_vec3 c)
{
    weft_vec3 e = sub(b, a), g = sub(c, a), p = cross(r->to, g), from = sub(r->from, a), q = cross(from, e);
    double volume = dot(e, p);
    if (fabs(volume) < 1e-300)
    {
        return INFINITY;
    }
    double u = dot(from, p) / volume, v = dot(r->to, q) / volume, t = dot(g, q) / volume;
    return u >= 0.0 && v >= 0.0 && u + v <= 1.0 && t > 0.0 ? t : INFINITY;
}

static int nearest_corner(const shape* s, const int* corners, weft_vec3 at)
{
    int best = corners[0];
    for (int k = 1; k < 3; k++)
    {
        best = length(sub(s->x[corners[k]], at)) < length(sub(s->x[best], at)) ? corners[k] : best;
    }
    return best;
}

// The first triangle on the way; an obstacle's hides what is behind it.
static double pick_faces(const picture* p, const ray* r, pick* out)
{
    double first = INFINITY;
    for (int k = 0; k < p->shape_count; k++)
    {
        const shape* s = &p->shapes[k];
        for (int t = 0; t < s->triangle_count; t++)
        {
            const int* c = s->triangles + 3 * (size_t)t;
            double d = meet(r, s->x[c[0]], s->x[c[1]], s->x[c[2]]);
            if (d < first)
            {
                first = d;
                int vertex = nearest_corner(s, c, add(r->from, scaled(d, r->to)));
                *out = (pick){s->kind == SHAPE_OBSTACLE ? -1 : s->cloth, vertex, s->x[vertex]};
            }
        }
    }
    return first;
}

// Strands and borders are thin: of what is near the mouse and not hidden, what is nearest to it.
static void pick_vertices(const camera* c, const picture* p, const double mouse[2], double limit, pick* out)
{
    double best = NEAR_PIXELS;
    for (int k = 0; k < p->shape_count; k++)
    {
        const shape* s = &p->shapes[k];
        for (int v = 0; v < s->vertex_count && s->kind != SHAPE_OBSTACLE; v++)
        {
            double x, y, d;
            if (camera_pixel(c, s->x[v], &x, &y) && (d = hypot(x - mouse[0], y - mouse[1])) < best &&
                length(sub(s->x[v], camera_eye(c))) < limit)
            {
                best = d;
                *out = (pick){s->cloth, v, s->x[v]};
            }
        }
    }
}

pick camera_pick(const camera* c, const picture* p, double x, double y)
{
    pick found = {.cloth = -1};
    ray r = camera_ray(c, x, y);
    double first = pick_faces(p, &r, &found);
    if (found.cloth < 0)
    {
        const double mouse[2] = {x, y};
        pick_vertices(c, p, mouse, isfinite(first) ? first : DBL_MAX, &found);
    }
    return found;
}
