// Boxes, views, automatic framing and the matrices behind them.
#include <string.h>

#include "render/picture.h"

// ---- matrices

mat4 mat4_mul(const mat4* a, const mat4* b)
{
    mat4 c;
    for (int column = 0; column < 4; column++)
    {
        for (int row = 0; row < 4; row++)
        {
            float sum = 0.0f;
            for (int k = 0; k < 4; k++)
            {
                sum += a->m[4 * k + row] * b->m[4 * column + k];
            }
            c.m[4 * column + row] = sum;
        }
    }
    return c;
}

// Right, up and backward axes of a camera; any up that is not along the line of sight.
static void look_axes(vec3 backward, vec3 up, vec3* x, vec3* y, vec3* z)
{
    *z = v3_normalize(backward);
    vec3 side = v3_cross(up, *z);
    if (v3_length(side) < 1e-6 * v3_length(up) || v3_length(up) == 0.0)
    {
        side = fabs(z->y) < 0.9 ? v3_cross(v3(0, 1, 0), *z) : v3_cross(v3(0, 0, -1), *z);
    }
    *x = v3_normalize(side);
    *y = v3_cross(*z, *x);
}

static mat4 mat4_rows(vec3 x, vec3 y, vec3 z, vec3 t)
{
    return (mat4){{(float)x.x, (float)y.x, (float)z.x, 0.0f, (float)x.y, (float)y.y, (float)z.y, 0.0f, (float)x.z,
                   (float)y.z, (float)z.z, 0.0f, (float)t.x, (float)t.y, (float)t.z, 1.0f}};
}

mat4 mat4_look(vec3 eye, vec3 target, vec3 up)
{
    vec3 x, y, z;
    look_axes(v3_sub(eye, target), up, &x, &y, &z);
    return mat4_rows(x, y, z, v3(-v3_dot(x, eye), -v3_dot(y, eye), -v3_dot(z, eye)));
}

mat4 mat4_perspective(double fov, double aspect, double near_z, double far_z)
{
    double scale = 1.0 / tan(0.5 * fov);
    mat4 p;
    memset(&p, 0, sizeof(p));
    p.m[0] = (float)(scale / aspect);
    p.m[5] = (float)scale;
    p.m[10] = (float)((far_z + near_z) / (near_z - far_z));
    p.m[11] = -1.0f;
    p.m[14] = (float)(2.0 * far_z * near_z / (near_z - far_z));
    return p;
}

mat4 mat4_sphere(vec3 direction, double radius, double margin)
{
    vec3 x, y, z;
    look_axes(direction, v3(0, 1, 0), &x, &y, &z);
    double s = 0.5 / (radius * (1.0 + margin));
    return mat4_rows(v3_scale(s, x), v3_scale(s, y), v3_scale(-s, z), v3(0.5, 0.5, 0.5));
}

// ---- boxes

weft_box weft_box_empty(void)
{
    return (weft_box){.min = {INFINITY, INFINITY, INFINITY}, .max = {-INFINITY, -INFINITY, -INFINITY}};
}

void weft_box_add(weft_box* box, const weft_vec3* points, int count)
{
    WEFT_ASSERT(box && count >= 0 && (points || count == 0));
    for (int k = 0; k < count; k++)
    {
        vec3 p = points[k];
        if (v3_is_finite(p))
        {
            box->min = v3(fmin(box->min.x, p.x), fmin(box->min.y, p.y), fmin(box->min.z, p.z));
            box->max = v3(fmax(box->max.x, p.x), fmax(box->max.y, p.y), fmax(box->max.z, p.z));
        }
    }
}

void weft_box_add_triangles(weft_box* box, const weft_vec3* points, const int* triangles, int triangle_count)
{
    WEFT_ASSERT(box && triangle_count >= 0 && ((points && triangles) || triangle_count == 0));
    for (size_t k = 0; k < 3 * (size_t)triangle_count; k++)
    {
        weft_box_add(box, &points[triangles[k]], 1);
    }
}

// ---- views

weft_view weft_view_default(void)
{
    return (weft_view){
        .eye = {1.6, 1.3, 3.2},
        .target = {0, 0, 0},
        .up = {0, 1, 0},
        .fov = 32.0 * PI / 180.0,
        .ground = 1,
        .ground_height = -0.6,
        .background_top = {0.80f, 0.84f, 0.89f},
        .background_bottom = {0.93f, 0.93f, 0.92f},
        .scalar_min = 0.0,
        .scalar_max = 1.0,
        .legend_scale = 1.0,
    };
}

vec3 view_light(const weft_view* view)
{
    if (v3_is_finite(view->light) && v3_length(view->light) > 0.0)
    {
        return v3_normalize(view->light);
    }
    vec3 back = v3_sub(view->eye, view->target);
    back = v3(back.x, 0.0, back.z);
    back = v3_length(back) > 1e-9 ? v3_normalize(back) : v3(0, 0, 1);
    vec3 left = v3(-back.z, 0.0, back.x);
    return v3_normalize(v3_add(v3_add(v3_scale(0.5, back), v3_scale(0.62, left)), v3(0, 0.95, 0)));
}

// From the side on which the box is widest; the flatter it lies, the more from above.
static vec3 frame_direction(vec3 size)
{
    double wide = fmax(size.x, size.z);
    double flatness = 1.0 - fmin(1.0, size.y / (0.7 * wide + 1e-300));
    double elevation = (13.0 + 17.0 * flatness) * PI / 180.0;
    double azimuth = (size.x >= 0.5 * size.z ? 27.0 : 63.0) * PI / 180.0;
    return v3(sin(azimuth) * cos(elevation), sin(elevation), cos(azimuth) * cos(elevation));
}

// Moves the target across the line of sight and the eye along it until the points just fill the frame.
static void frame_fit(weft_view* view, const vec3* points, int count, vec3 direction, double aspect)
{
    const double fill = 0.80;
    double limit_y = fill * tan(0.5 * view->fov), limit_x = limit_y * aspect;
    double distance = v3_length(v3_sub(view->eye, view->target));
    vec3 x, y, z;
    look_axes(direction, view->up, &x, &y, &z);
    for (int pass = 0; pass < 12; pass++)
    {
        double left = 1e300, right = -1e300, low = 1e300, high = -1e300, needed = 0.0;
        for (int k = 0; k < count; k++)
        {
            vec3 d = v3_sub(points[k], view->target);
            if (!v3_is_finite(d))
            {
                continue;
            }
            double depth = distance - v3_dot(d, z);
            double px = v3_dot(d, x), py = v3_dot(d, y);
            needed = fmax(needed, v3_dot(d, z) + fmax(fabs(px) / limit_x, fabs(py) / limit_y));
            left = fmin(left, px / depth);
            right = fmax(right, px / depth);
            low = fmin(low, py / depth);
            high = fmax(high, py / depth);
        }
        view->target = v3_madd(view->target, 0.5 * (left + right) * distance, x);
        view->target = v3_madd(view->target, 0.5 * (low + high) * distance, y);
        distance = fmax(needed, 0.5 * distance);
        view->eye = v3_madd(view->target, distance, z);
    }
    // Shadows lie below: leave them some room.
    vec3 lower = v3_scale(-0.06 * distance * tan(0.5 * view->fov), y);
    view->target = v3_add(view->target, lower);
    view->eye = v3_add(view->eye, lower);
}

void weft_view_frame_points(weft_view* view, const weft_vec3* points, int count, double aspect)
{
    WEFT_ASSERT(view && (points || count == 0) && count >= 0 && aspect > 0.0);
    static const vec3 unit_cube[2] = {{-0.5, -0.5, -0.5}, {0.5, 0.5, 0.5}};
    weft_box box = weft_box_empty();
    weft_box_add(&box, points, count);
    if (!(box.min.x <= box.max.x))
    {
        weft_box_add(&box, unit_cube, 2);
        weft_view_frame(view, &box, aspect);
        return;
    }
    vec3 size = v3_sub(box.max, box.min);
    double reach = fmax(v3_length(size), 1e-6);
    vec3 direction = frame_direction(size);
    view->target = v3_scale(0.5, v3_add(box.min, box.max));
    view->up = v3(0, 1, 0);
    view->eye = v3_madd(view->target, 4.0 * reach, direction);
    view->ground_height = box.min.y - 0.02 * reach;
    frame_fit(view, points, count, direction, aspect);
}

void weft_view_frame(weft_view* view, const weft_box* box, double aspect)
{
    WEFT_ASSERT(box);
    vec3 corners[8];
    for (int k = 0; k < 8; k++)
    {
        corners[k] =
            v3(k & 1 ? box->max.x : box->min.x, k & 2 ? box->max.y : box->min.y, k & 4 ? box->max.z : box->min.z);
    }
    weft_view_frame_points(view, corners, 8, aspect);
}
