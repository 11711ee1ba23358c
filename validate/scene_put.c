// Scenes of experiments as text: one cloth that is a rectangle, or an OBJ file in its place.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "validate/rig.h"

void scene_put(scene_text* s, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int room = SCENE_SIZE - s->length;
    int needed = vsnprintf(s->text + s->length, (size_t)room, format, arguments);
    va_end(arguments);
    s->full = s->full || needed >= room;
    s->length += s->full ? 0 : needed;
}

static void put_string(scene_text* s, const char* text)
{
    scene_put(s, "\"");
    for (; *text; text++)
    {
        scene_put(s, *text == '"' || *text == '\\' ? "\\%c" : (unsigned char)*text < 0x20 ? "\\u%04x" : "%c", *text);
    }
    scene_put(s, "\"");
}

void scene_begin(scene_text* s, const trial* t, double time_step, double gravity)
{
    *s = (scene_text){.length = 0};
    scene_put(s, "{\"time_step\": %.17g, \"gravity\": [0, %.17g, 0], \"solver\": {\"name\": \"cholesky\"},\n",
              time_step, gravity);
    scene_put(s, "\"method\": ");
    put_string(s, t->method);
    if (t->model || t->bending)
    {
        scene_put(s, ", \"model\": {");
        if (t->model)
        {
            scene_put(s, "\"name\": ");
            put_string(s, t->model);
        }
        if (t->bending)
        {
            scene_put(s, "%s\"bending\": ", t->model ? ", " : "");
            put_string(s, t->bending);
        }
        scene_put(s, "}");
    }
    scene_put(s, ",\n");
}

// ---- OBJ files

// A turn by a right angle, a times, about an axis.
static void quarter(double v[3], int axis, int a)
{
    for (a = (a % 4 + 4) % 4; a > 0; a--)
    {
        int i = (axis + 1) % 3, k = (axis + 2) % 3;
        double old = v[i];
        v[i] = -v[k];
        v[k] = old;
    }
}

// Quarter turns about x, y, z that take the file's longer and other axis to x and z, by [longer][other]; what is
// upright is measured on grids alone. Scenes turn by such angles exactly.
static const int turns_flat[3][3][3] = {
    {{0, 0, 0}, {-1, 0, 0}, {0, 0, 0}}, {{0, 1, -1}, {0, 0, 0}, {0, 0, -1}}, {{0, 1, 0}, {1, 0, 1}, {0, 0, 0}}};

// The file, scaled to the length, its middle in the origin, its longer side along x.
static void put_obj(scene_text* s, const trial* t, const specimen* sheet)
{
    double scale = sheet->length / t->mesh_size[0], middle[3];
    const int* turns = turns_flat[t->mesh_axes[0]][t->mesh_axes[1]];
    memcpy(middle, t->mesh_min, sizeof(middle));
    middle[t->mesh_axes[0]] += 0.5 * t->mesh_size[0];
    middle[t->mesh_axes[1]] += 0.5 * t->mesh_size[1];
    for (int axis = 0; axis < 3; axis++)
    {
        quarter(middle, axis, turns[axis]);
    }
    scene_put(s, "{\"obj\": ");
    put_string(s, t->mesh);
    scene_put(s, ", \"scale\": %.17g}", scale);
    scene_put(s, ", \"transform\": {\"rotate\": [%d, %d, %d], \"translate\": [%.17g, %.17g, %.17g]}", 90 * turns[0],
              90 * turns[1], 90 * turns[2], -scale * middle[0], -scale * middle[1], -scale * middle[2]);
}

static bool is_file(const trial* t)
{
    return strcmp(t->mesh, "regular") != 0 && strcmp(t->mesh, "irregular") != 0;
}

static void put_mesh(scene_text* s, const trial* t, const specimen* sheet)
{
    if (is_file(t))
    {
        put_obj(s, t, sheet);
        return;
    }
    int across = sheet->across > 0 ? sheet->across : (int)(sheet->cells * sheet->width / sheet->length + 0.5);
    scene_put(s,
              "{\"grid\": {\"size\": [%.17g, %.17g], \"cells\": [%d, %d], \"plane\": \"%s\", \"tessellation\": \"%s\", "
              "\"seed\": 7}}",
              sheet->length, sheet->width, sheet->cells, across < 2 ? 2 : across, sheet->upright ? "xy" : "xz",
              t->mesh);
}

void scene_material(scene_text* s, const trial* t)
{
    const weft_material* m = &t->material;
    scene_put(s,
              " \"material\": {\"density\": %.17g, \"stretch_warp\": %.17g, \"stretch_weft\": %.17g, \"shear\": %.17g, "
              "\"bending\": %.17g, \"damping\": %.17g}",
              m->density, m->stretch_warp, m->stretch_weft, m->shear, m->bending, m->damping);
}

void scene_cloth(scene_text* s, const trial* t, const specimen* sheet)
{
    double angle = sheet->warp_degrees * 3.14159265358979323846 / 180.0, warp[3] = {0.0, 0.0, 0.0};
    // In the mesh's own frame, before it is turned.
    warp[is_file(t) ? t->mesh_axes[0] : 0] = cos(angle);
    warp[is_file(t) ? t->mesh_axes[1] : sheet->upright ? 1 : 2] = sin(angle);
    scene_put(s, "\"cloth\": [{\"name\": \"specimen\", \"mesh\": ");
    put_mesh(s, t, sheet);
    scene_put(s, ",\n \"warp\": [%.17g, %.17g, %.17g],\n", warp[0], warp[1], warp[2]);
    scene_material(s, t);
}

void scene_end(scene_text* s)
{
    scene_put(s, "}\n");
}
