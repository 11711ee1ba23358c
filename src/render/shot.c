// What one picture needs before anything is drawn: bounds, camera, the directions of the lights and their shadow maps'
// matrices, the ground. All floats are relative to the middle of the meshes. What is seen of the ground itself follows
// from the view alone, so that it stands still over a film while the meshes' bounds change from frame to frame.
#include <string.h>

#include "render/picture.h"

static const double backdrop = 4.0; // an obstacle larger than this many times the cloth

static double box_length(const weft_box* box)
{
    return box->min.x <= box->max.x ? v3_length(v3_sub(box->max, box->min)) : 0.0;
}

// Of all meshes, but obstacles up to `limit` only.
static weft_box shot_box(const weft_render_mesh* meshes, int mesh_count, double limit)
{
    weft_box box = weft_box_empty();
    for (int k = 0; k < mesh_count; k++)
    {
        weft_box own = weft_box_empty();
        weft_box_add_triangles(&own, meshes[k].positions, meshes[k].triangles, meshes[k].triangle_count);
        if (meshes[k].role == WEFT_MESH_CLOTH || box_length(&own) <= limit)
        {
            const vec3 ends[] = {own.min, own.max};
            weft_box_add(&box, ends, 2); // an empty box is not finite and adds nothing
        }
    }
    return box;
}

// A floor of many metres shall not take the shadow maps' resolution from the cloth: it is drawn, and what of it lies
// outside their sphere has no shadow.
static void shot_bounds(shot* s, const weft_view* view, const weft_render_mesh* meshes, int mesh_count)
{
    weft_box cloth = shot_box(meshes, mesh_count, -1.0), all = shot_box(meshes, mesh_count, INFINITY);
    bool has_cloth = box_length(&cloth) > 0.0;
    weft_box box = has_cloth ? shot_box(meshes, mesh_count, backdrop * box_length(&cloth)) : all;
    bool empty = !(box.min.x <= box.max.x);
    s->origin = empty ? view->target : v3_scale(0.5, v3_add(box.min, box.max));
    s->radius = empty ? 1.0 : fmax(0.5 * v3_length(v3_sub(box.max, box.min)), 1e-6);
    vec3 low = v3_sub(s->origin, all.min), high = v3_sub(all.max, s->origin);
    vec3 far = v3(fmax(low.x, high.x), fmax(low.y, high.y), fmax(low.z, high.z));
    s->reach = has_cloth && box_length(&all) > box_length(&box) ? v3_length(far) : s->radius;
}

static void shot_camera(shot* s, const weft_view* view, double aspect)
{
    s->eye = v3_sub(view->eye, s->origin);
    vec3 target = v3_sub(view->target, s->origin);
    if (v3_length(v3_sub(s->eye, target)) == 0.0)
    {
        target = v3_sub(s->eye, v3(0, 0, 1));
    }
    // The planes keep as close to the meshes as they can, for the depth buffer's sake; the ground is not cut by them.
    double distance = v3_length(s->eye);
    double near_z = fmax(distance - 1.5 * s->reach, 0.01 * fmax(s->radius, distance));
    double far_z = distance + 1.5 * s->reach;
    mat4 look = mat4_look(s->eye, target, view->up);
    mat4 projection = mat4_perspective(view->fov, aspect, near_z, far_z);
    s->camera = mat4_mul(&projection, &look);
    // The rows of the look matrix are the camera's axes: right, up, backward.
    float tall = (float)tan(0.5 * view->fov), wide = (float)aspect * tall;
    for (int k = 0; k < 3; k++)
    {
        s->rays[k] = wide * look.m[4 * k];
        s->rays[3 + k] = tall * look.m[4 * k + 1];
        s->rays[6 + k] = -look.m[4 * k + 2];
    }
    // Clip depth of a step of 0.4 % of the radius at the meshes' distance.
    double at = fmax(distance, 2.0 * near_z);
    s->edge_bias = 2.0 * far_z * near_z / (far_z - near_z) * 0.004 * s->radius / (at * at);
}

static int64_t shot_triangles(const weft_render_mesh* meshes, int mesh_count)
{
    int64_t sum = 0;
    for (int k = 0; k < mesh_count; k++)
    {
        sum += meshes[k].triangle_count;
    }
    return sum;
}

static const double KEY_DISC = 0.075; // radius of the key light as seen from the cloth, rad

// Even points of a disc (Vogel's spiral) around the key light, and even directions of the upper half sphere.
static void shot_lights(shot* s, const weft_view* view, int64_t triangle_count)
{
    const double golden = PI * (3.0 - sqrt(5.0));
    // Each light draws every triangle once, so large meshes get fewer.
    int level = (triangle_count > 30000) + (triangle_count > 150000) + (triangle_count > 1000000);
    s->key_count = (const int[]){KEY_LIGHTS, KEY_LIGHTS, 12, 8}[level];
    s->sky_count = (const int[]){SKY_LIGHTS, 22, 16, 10}[level];
    s->light = view_light(view);
    vec3 x = v3_normalize(v3_cross(fabs(s->light.y) < 0.9 ? v3(0, 1, 0) : v3(1, 0, 0), s->light));
    vec3 y = v3_cross(s->light, x);
    for (int k = 0; k < s->key_count; k++)
    {
        double r = KEY_DISC * sqrt((k + 0.5) / s->key_count);
        vec3 d = v3_madd(v3_madd(s->light, r * cos(golden * k), x), r * sin(golden * k), y);
        s->key[k] = mat4_sphere(d, s->radius, 4.0 / KEY_MAP_SIZE);
    }
    for (int k = 0; k < KEY_LIGHTS; k++)
    {
        // Another order than the lights': neighbours in the one are no neighbours in the other.
        double r = sqrt((k * 7 % KEY_LIGHTS + 0.5) / KEY_LIGHTS), angle = golden * (k * 7 % KEY_LIGHTS);
        s->disc[2 * k] = (float)(r * cos(angle));
        s->disc[2 * k + 1] = (float)(r * sin(angle));
    }
    for (int k = 0; k < s->sky_count; k++)
    {
        // Denser towards the zenith, where directions matter more; the share is that of its ring.
        double begin = (double)k / s->sky_count, end = (k + 1.0) / s->sky_count;
        double up = pow(0.5 * (begin + end), 0.75), around = sqrt(1.0 - up * up);
        vec3 d = v3(around * cos(golden * k), up, around * sin(golden * k));
        s->sky[k] = mat4_sphere(d, s->radius, 4.0 / SKY_MAP_SIZE);
        const float entry[4] = {(float)d.x, (float)d.y, (float)d.z, (float)(pow(end, 0.75) - pow(begin, 0.75))};
        memcpy(s->sky_direction + 4 * k, entry, sizeof(entry));
    }
}

static void shot_ground(shot* s, const weft_view* view)
{
    float height = (float)(view->ground_height - s->origin.y);
    float half = (float)(3.2 * s->radius + fabs(height));
    memcpy(s->patch, (float[4]){-half, -half, 2.0f * half, height}, sizeof(s->patch));
    // The farther the ground, the farther apart the shadows of the disc's points: blur by half of that.
    double apart = 2.0 * KEY_DISC * fabs(height) / (sqrt(KEY_LIGHTS) * 2.0 * s->radius);
    s->spread = (float)fmin(fmax(0.006, 0.5 * apart), 0.05);
    // Lines stand on round numbers of metres, some four across a picture; the offset keeps its float small.
    double reach = fmax(v3_length(v3_sub(view->eye, view->target)), 1e-6);
    double spacing = pow(10.0, ceil(log10(0.25 * reach)));
    memcpy(s->grid,
           (float[4]){(float)spacing, (float)fmod(s->origin.x, spacing), (float)fmod(s->origin.z, spacing),
                      (float)reach},
           sizeof(s->grid));
}

void shot_set(const weft_view* view, const weft_render_mesh* meshes, int mesh_count, double aspect, shot* out)
{
    memset(out, 0, sizeof(*out));
    shot_bounds(out, view, meshes, mesh_count);
    shot_camera(out, view, aspect);
    shot_lights(out, view, shot_triangles(meshes, mesh_count));
    shot_ground(out, view);
}
