// The canonical text of a scene: every default written out, names of materials replaced by their values, selections by
// lists of vertices, numbers with as many digits as bring back the same double. Run from the folder of the run that
// wrote it, it builds the same simulation: there CLOTHNAME.obj holds the welded mesh of an OBJ cloth in world
// coordinates at the start, and its vt are the rest shape in metres, so that scale, transform, weld and uv_scale have
// nothing left to do.
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "scene/scene_data.h"

typedef struct writer
{
    char* text;
    int used, capacity;
    int depth;    // of the brackets that are open
    bool pending; // the next value needs a comma before it
    bool failed;  // no memory
} writer;

static void write_raw(writer* w, const char* text)
{
    size_t length = strlen(text);
    if (w->failed || length > (size_t)(INT32_MAX - 1 - w->used) ||
        !mem_grow((void**)&w->text, &w->capacity, w->used + (int)length + 1, 1))
    {
        w->failed = true;
        return;
    }
    memcpy(w->text + w->used, text, length + 1);
    w->used += (int)length;
}

static void write_string(writer* w, const char* text)
{
    write_raw(w, "\"");
    for (; *text; text++)
    {
        unsigned char c = (unsigned char)*text;
        char piece[8];
        if (c == '"' || c == '\\')
        {
            snprintf(piece, sizeof(piece), "\\%c", c);
        }
        else
        {
            snprintf(piece, sizeof(piece), c < 0x20 ? "\\u%04x" : "%c", c);
        }
        write_raw(w, piece);
    }
    write_raw(w, "\"");
}

// The shortest of 15 to 17 digits that reads back as the same double, in any locale.
static void write_double(writer* w, double value)
{
    char text[40];
    for (int digits = 15; digits <= 17; digits++)
    {
        snprintf(text, sizeof(text), "%.*g", digits, value);
        if (strtod(text, NULL) == value)
        {
            break;
        }
    }
    char* point = strstr(text, localeconv()->decimal_point);
    if (point)
    {
        *point = '.';
    }
    write_raw(w, value == 0.0 && signbit(value) ? "-0.0" : text); // "-0" would be read as an integer
}

// Starts a new line with a key; NULL in lists.
static void write_key(writer* w, const char* key)
{
    write_raw(w, w->pending ? ",\n" : w->used > 0 ? "\n" : "");
    for (int k = 0; k < w->depth; k++)
    {
        write_raw(w, "  ");
    }
    if (key)
    {
        write_string(w, key);
        write_raw(w, ": ");
    }
    w->pending = true;
}

static void write_open(writer* w, const char* key, const char* bracket)
{
    write_key(w, key);
    write_raw(w, bracket);
    w->depth++;
    w->pending = false;
}

static void write_close(writer* w, const char* bracket)
{
    bool empty = !w->pending;
    w->depth--;
    w->pending = false;
    if (!empty)
    {
        write_key(w, NULL);
    }
    write_raw(w, bracket);
    w->pending = true;
}

static void write_number(writer* w, const char* key, double value)
{
    write_key(w, key);
    write_double(w, value);
}

static void write_text(writer* w, const char* key, const char* value)
{
    write_key(w, key);
    if (value)
    {
        write_string(w, value);
    }
    else
    {
        write_raw(w, "null");
    }
}

static void write_numbers(writer* w, const char* key, const double* values, int count)
{
    write_key(w, key);
    for (int k = 0; k < count; k++)
    {
        write_raw(w, k > 0 ? ", " : "[");
        write_double(w, values[k]);
    }
    write_raw(w, "]");
}

static void write_vec3(writer* w, const char* key, vec3 v)
{
    write_numbers(w, key, (double[]){v.x, v.y, v.z}, 3);
}

static void write_where(writer* w, const int* vertices, int count)
{
    write_open(w, "where", "{");
    write_key(w, "vertices");
    for (int k = 0; k < count; k++)
    {
        char piece[16];
        snprintf(piece, sizeof(piece), "%s%d", k > 0 ? ", " : "[", vertices[k]);
        write_raw(w, piece);
    }
    write_raw(w, "]");
    write_close(w, "}");
}

static void write_model(writer* w, const char* model, const char* bending)
{
    write_open(w, "model", "{");
    write_text(w, "name", model);
    write_text(w, "bending", bending);
    write_close(w, "}");
}

static void write_material(writer* w, const weft_material* m)
{
    write_open(w, "material", "{");
    write_number(w, "density", m->density);
    write_number(w, "stretch_warp", m->stretch_warp);
    write_number(w, "stretch_weft", m->stretch_weft);
    write_number(w, "shear", m->shear);
    write_number(w, "bending", m->bending);
    write_number(w, "damping", m->damping);
    write_close(w, "}");
}

static void write_grid(writer* w, const grid_options* g)
{
    write_open(w, "grid", "{");
    write_numbers(w, "size", (double[]){g->size_u, g->size_v}, 2);
    write_numbers(w, "cells", (double[]){g->cells_u, g->cells_v}, 2);
    write_text(w, "tessellation", g->irregular ? "irregular" : "regular");
    write_text(w, "faces", g->quads ? "quads" : "triangles");
    write_text(w, "plane", g->upright ? "xy" : "xz");
    write_text(w, "shape", g->l_shape ? "l" : "rectangle");
    write_number(w, "seed", (double)g->seed);
    write_close(w, "}");
}

static void write_mesh(writer* w, const scene_cloth* cloth)
{
    write_open(w, "mesh", "{");
    if (cloth->is_grid)
    {
        write_grid(w, &cloth->grid);
    }
    else
    {
        char file[128];
        snprintf(file, sizeof(file), "%s.obj", cloth->name);
        write_text(w, "obj", file);
        write_text(w, "object", NULL);
        write_number(w, "scale", 1.0);
        write_number(w, "weld", 0.0);
    }
    write_close(w, "}");
}

// Of grids, which are built again; an OBJ of the run's folder is in place already.
static void write_transform(writer* w, const scene_cloth* cloth)
{
    scene_transform t = cloth->is_grid ? cloth->transform : (scene_transform){.scale = 1.0};
    write_open(w, "transform", "{");
    write_vec3(w, "translate", t.translate);
    write_vec3(w, "rotate", t.rotate);
    write_number(w, "scale", t.scale);
    write_close(w, "}");
}

static void write_fix(writer* w, const scene_pin* pin)
{
    if (pin->fix == WEFT_FIX_POINT)
    {
        write_text(w, "fix", "point");
        return;
    }
    write_open(w, "fix", "{");
    write_vec3(w, pin->fix == WEFT_FIX_LINE ? "line" : "plane", pin->direction);
    write_close(w, "}");
}

static void write_pin(writer* w, const scene_pin* pin)
{
    write_open(w, NULL, "{");
    write_where(w, pin->vertices, pin->vertex_count);
    write_fix(w, pin);
    write_open(w, "path", "[");
    for (int k = 0; k < pin->key_count; k++)
    {
        write_open(w, NULL, "{");
        write_number(w, "time", pin->keys[k].time);
        write_vec3(w, "offset", pin->keys[k].offset);
        write_number(w, "angle", pin->keys[k].angle);
        write_close(w, "}");
    }
    write_close(w, "]");
    write_vec3(w, "axis", pin->axis);
    write_vec3(w, "center", pin->center);
    if (isfinite(pin->release))
    {
        write_number(w, "release", pin->release);
    }
    else
    {
        write_text(w, "release", NULL);
    }
    write_close(w, "}");
}

static void write_pins_and_forces(writer* w, const scene_cloth* cloth)
{
    write_open(w, "pins", "[");
    for (int k = 0; k < cloth->pin_count; k++)
    {
        write_pin(w, &cloth->pins[k]);
    }
    write_close(w, "]");
    write_open(w, "forces", "[");
    for (int k = 0; k < cloth->force_count; k++)
    {
        write_open(w, NULL, "{");
        write_where(w, cloth->forces[k].vertices, cloth->forces[k].vertex_count);
        write_vec3(w, "force", cloth->forces[k].force);
        write_close(w, "}");
    }
    write_close(w, "]");
}

static void write_cloth(writer* w, const scene_cloth* cloth)
{
    write_open(w, NULL, "{");
    write_text(w, "name", cloth->name);
    write_mesh(w, cloth);
    write_text(w, "rest", cloth->rest == REST_UV ? "uv" : "shape");
    write_number(w, "uv_scale", cloth->is_grid ? cloth->uv_scale : 1.0);
    write_vec3(w, "warp", cloth->is_grid ? cloth->warp : cloth->world_warp);
    write_material(w, &cloth->material);
    write_model(w, cloth->model, cloth->bending);
    write_transform(w, cloth);
    write_vec3(w, "velocity", cloth->velocity);
    write_number(w, "vertex_mass", cloth->vertex_mass);
    write_pins_and_forces(w, cloth);
    write_close(w, "}");
}

static void write_multigrid(writer* w, const weft_sa_def* sa)
{
    const char* name;
    double value;
    write_open(w, "sa", "{");
    for (int k = 0; weft_sa_get(sa, k, &name, &value) == WEFT_OK; k++)
    {
        write_number(w, name, value);
    }
    write_close(w, "}");
}

static void write_solver(writer* w, const weft_sim_def* def)
{
    write_text(w, "method", def->method);
    write_open(w, "solver", "{");
    write_text(w, "name", def->solver);
    write_text(w, "preconditioner", def->preconditioner);
    write_number(w, "tolerance", def->tolerance);
    write_number(w, "max_iterations", def->max_iterations);
    write_multigrid(w, &def->sa);
    write_close(w, "}");
    write_open(w, "newton", "{");
    write_number(w, "tolerance", def->newton_tolerance);
    write_number(w, "iterations", def->newton_iterations);
    write_close(w, "}");
    write_open(w, "step_control", "{");
    write_number(w, "max_halvings", def->max_halvings);
    write_number(w, "max_stretch", def->max_stretch);
    write_close(w, "}");
}

static void write_air(writer* w, const weft_air* air)
{
    write_open(w, "air", "{");
    write_number(w, "density", air->density);
    write_number(w, "drag", air->drag);
    write_number(w, "friction", air->friction);
    write_vec3(w, "wind", air->wind);
    write_number(w, "gust", air->gust);
    write_number(w, "gust_period", air->gust_period);
    write_number(w, "gust_length", air->gust_length);
    write_close(w, "}");
}

char* scene_write(const weft_scene* scene)
{
    writer w = {0};
    write_open(&w, NULL, "{");
    if (scene->description)
    {
        write_text(&w, "description", scene->description);
    }
    write_number(&w, "time_step", scene->def.time_step);
    write_number(&w, "steps_per_frame", scene->steps_per_frame);
    write_number(&w, "frames", scene->frames);
    write_vec3(&w, "gravity", scene->def.gravity);
    write_solver(&w, &scene->def);
    write_air(&w, &scene->def.air);
    write_model(&w, scene->model, scene->bending);
    write_text(&w, "kernels", scene->def.kernels);
    write_open(&w, "cloth", "[");
    for (int k = 0; k < scene->cloth_count; k++)
    {
        write_cloth(&w, &scene->cloths[k]);
    }
    write_close(&w, "]");
    write_open(&w, "obstacles", "[");
    write_close(&w, "]");
    write_close(&w, "}");
    write_raw(&w, "\n");
    if (w.failed)
    {
        mem_free(w.text);
        return NULL;
    }
    return w.text;
}
