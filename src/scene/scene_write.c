// The canonical text of a scene: every default written out, names of materials replaced by their values, selections by
// lists of vertices, numbers with as many digits as bring back the same double. Run from the folder of the run that
// wrote it, it builds the same simulation: there CLOTHNAME.obj holds the mesh of an OBJ cloth in world coordinates at
// the start and says which vertices were welded, so that scale, transform and weld have nothing left to do; the same
// holds for meshes of obstacles and, in NAME.motion.pc2, for the samples that deform them.
#include <string.h>

#include "scene/json_writer.h"
#include "scene/scene_data.h"

// What comes from the material is left out.
static void write_connections(writer* w, const weft_connections* c)
{
    const struct
    {
        const char* key;
        double value;
    } rows[] = {
        {"damper_stretch", c->damper_stretch}, {"damper_shear", c->damper_shear}, {"bend_start", c->bend_start}};
    for (int k = 0; k < 3; k++)
    {
        if (rows[k].value >= 0.0)
        {
            write_number(w, rows[k].key, rows[k].value);
        }
    }
}

static void write_model(writer* w, const char* model, const char* bending, const weft_connections* connections)
{
    const cloth_model* m = cloth_model_find(model);
    connection_options options;
    write_open(w, "model", "{");
    write_text(w, "name", model);
    if (bending)
    {
        write_text(w, "bending", bending);
    }
    if (m->connections && cloth_model_connections(m, connections, &options))
    {
        write_text(w, "damper", damper_names[options.damper]);
        write_connections(w, connections);
    }
    write_close(w, "}");
}

static void write_stretch(writer* w, const char* key, double soft, double knee, double stiff)
{
    if (knee == 0.0)
    {
        write_number(w, key, soft);
        return;
    }
    write_open(w, key, "{");
    write_number(w, "soft", soft);
    write_number(w, "knee", knee);
    write_number(w, "stiff", stiff);
    write_close(w, "}");
}

static void write_bending(writer* w, const weft_material* m)
{
    const struct
    {
        const char* key;
        double value;
    } more[] = {{"weft", m->bending_weft},
                {"bias", m->bending_bias},
                {"curvature", m->bending_curvature},
                {"beyond", m->bending_beyond}};
    if (m->bending_weft == 0.0 && m->bending_bias == 0.0 && m->bending_curvature == 0.0)
    {
        write_number(w, "bending", m->bending);
        return;
    }
    write_open(w, "bending", "{");
    write_number(w, "warp", m->bending);
    for (int k = 0; k < 4; k++)
    {
        if (more[k].value > 0.0)
        {
            write_number(w, more[k].key, more[k].value);
        }
    }
    write_close(w, "}");
}

static void write_material(writer* w, const body_kind* kind, const weft_material* m)
{
    write_open(w, "material", "{");
    if (kind->material_keys)
    {
        for (const material_key* k = kind->material_keys; k->key; k++)
        {
            write_number(w, k->key, *(const double*)((const char*)m + k->offset));
        }
        write_close(w, "}");
        return;
    }
    write_number(w, "density", m->density);
    write_stretch(w, "stretch_warp", m->stretch_warp, m->knee_warp, m->stiff_warp);
    write_stretch(w, "stretch_weft", m->stretch_weft, m->knee_weft, m->stiff_weft);
    write_number(w, "shear", m->shear);
    write_bending(w, m);
    write_number(w, "damping", m->damping);
    if (m->strain_limit > 0.0)
    {
        write_number(w, "strain_limit", m->strain_limit);
    }
    if (m->crease_curvature > 0.0)
    {
        write_open(w, "crease", "{");
        write_number(w, "curvature", m->crease_curvature);
        write_number(w, "share", m->crease_share);
        write_close(w, "}");
    }
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
    write_text(w, "shape", g->l_shape ? "l" : g->tube ? "tube" : "rectangle");
    write_number(w, "flare", g->flare);
    write_number(w, "seed", (double)g->seed);
    write_close(w, "}");
}

// As the run's folder holds it: in place, in metres.
static void write_obj(writer* w, const char* name)
{
    char file[128];
    snprintf(file, sizeof(file), "%s.obj", name);
    write_text(w, "obj", file);
    write_text(w, "object", NULL);
    write_number(w, "scale", 1.0);
    write_number(w, "weld", 0.0);
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
        write_obj(w, cloth->name);
    }
    write_close(w, "}");
}

static void write_transform(writer* w, const scene_transform* t)
{
    write_open(w, "transform", "{");
    write_vec3(w, "translate", t->translate);
    write_vec3(w, "rotate", t->rotate);
    write_number(w, "scale", t->scale);
    write_close(w, "}");
}

static const scene_transform in_place = {.scale = 1.0};

// Of a body by its name, which is there.
static const mesh* mesh_of(const weft_scene* scene, const char* name)
{
    for (int k = 0; k < scene->cloth_count; k++)
    {
        if (strcmp(scene->cloths[k].name, name) == 0)
        {
            return &scene->cloths[k].mesh;
        }
    }
    for (int k = 0; k < scene->obstacle_count - 1; k++)
    {
        if (strcmp(scene->obstacles[k].name, name) == 0)
        {
            return &scene->obstacles[k].mesh;
        }
    }
    return &scene->obstacles[scene->obstacle_count - 1].mesh;
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

static void write_motion(writer* w, const scene_motion* motion)
{
    write_open(w, "path", "[");
    for (int k = 0; k < motion->key_count; k++)
    {
        write_open(w, NULL, "{");
        write_number(w, "time", motion->keys[k].time);
        write_vec3(w, "offset", motion->keys[k].offset);
        write_number(w, "angle", motion->keys[k].angle);
        write_close(w, "}");
    }
    write_close(w, "]");
    write_vec3(w, "axis", motion->axis);
    write_vec3(w, "center", motion->center);
}

// In place and in metres, so that they need no file.
static void write_pin_samples(writer* w, const scene_pin* pin)
{
    write_open(w, "samples", "{");
    write_numbers(w, "positions", &pin->samples[0].x, 3 * pin->sample_count * pin->vertex_count);
    write_number(w, "rate", pin->sample_rate);
    write_number(w, "start", pin->sample_start);
    write_close(w, "}");
}

static void write_pin(writer* w, const scene_pin* pin, const mesh* m)
{
    write_open(w, NULL, "{");
    write_where(w, m->weld, pin->vertices, pin->vertex_count);
    write_fix(w, pin);
    write_motion(w, &pin->motion);
    if (isfinite(pin->release))
    {
        write_number(w, "release", pin->release);
    }
    else
    {
        write_text(w, "release", NULL);
    }
    if (pin->sample_count > 0)
    {
        write_pin_samples(w, pin);
    }
    if (pin->follow)
    {
        write_text(w, "follow", pin->follow);
    }
    if (pin->weights)
    {
        write_numbers(w, "weights", pin->weights, pin->vertex_count);
        write_number(w, "stiffness", pin->stiffness);
    }
    write_close(w, "}");
}

static void write_pins_and_forces(writer* w, const scene_cloth* cloth)
{
    write_open(w, "pins", "[");
    for (int k = 0; k < cloth->pin_count; k++)
    {
        write_pin(w, &cloth->pins[k], &cloth->mesh);
    }
    write_close(w, "]");
    write_open(w, "forces", "[");
    for (int k = 0; k < cloth->force_count; k++)
    {
        write_open(w, NULL, "{");
        write_where(w, cloth->mesh.weld, cloth->forces[k].vertices, cloth->forces[k].vertex_count);
        write_vec3(w, "force", cloth->forces[k].force);
        write_close(w, "}");
    }
    write_close(w, "]");
}

static void write_lines(writer* w, const scene_cloth* cloth)
{
    write_open(w, "bands", "[");
    for (int k = 0; k < cloth->band_count; k++)
    {
        write_open(w, NULL, "{");
        write_where(w, cloth->mesh.weld, cloth->bands[k].vertices, cloth->bands[k].vertex_count);
        write_number(w, "rest_scale", cloth->bands[k].rest_scale);
        write_number(w, "stiffness", cloth->bands[k].stiffness);
        write_close(w, "}");
    }
    write_close(w, "]");
    write_open(w, "folds", "[");
    for (int k = 0; k < cloth->fold_count; k++)
    {
        write_open(w, NULL, "{");
        write_where(w, cloth->mesh.weld, cloth->folds[k].vertices, cloth->folds[k].vertex_count);
        write_number(w, "rest_angle", cloth->folds[k].angle);
        write_close(w, "}");
    }
    write_close(w, "]");
}

static void write_faces(writer* w, const int* faces, int count)
{
    write_open(w, "faces", "[");
    for (int f = 0; f < count; f++)
    {
        write_number(w, NULL, faces[f]);
    }
    write_close(w, "]");
}

static void write_regions(writer* w, const scene_cloth* cloth)
{
    write_open(w, "regions", "[");
    for (int k = 0; k < cloth->region_count; k++)
    {
        write_open(w, NULL, "{");
        write_faces(w, cloth->regions[k].faces, cloth->regions[k].face_count);
        write_material(w, cloth->kind, &cloth->regions[k].material);
        write_close(w, "}");
    }
    write_close(w, "]");
}

static void write_end(writer* w, const int vertex[2], double ratio)
{
    if (vertex[1] < 0)
    {
        write_number(w, NULL, vertex[0]);
        return;
    }
    write_numbers(w, NULL, (double[]){vertex[0], vertex[1], ratio}, 3);
}

static void write_stitches(writer* w, const scene_stitches* s)
{
    if (s->pairs.count + s->thread_count == 0)
    {
        return;
    }
    write_open(w, "stitch", "{");
    write_number(w, "start", s->start);
    write_number(w, "close", s->close);
    write_open(w, "pairs", "[");
    for (int k = 0; k < s->pairs.count; k++)
    {
        const int* v = s->pairs.vertex + 2 * k;
        write_numbers(w, NULL, (double[]){v[0], v[1]}, 2);
    }
    for (int k = 0; k < s->thread_count; k++)
    {
        const weft_thread* t = &s->thread[k];
        write_open(w, NULL, "[");
        write_end(w, t->vertex[0], t->ratio[0]);
        write_end(w, t->vertex[1], t->ratio[1]);
        write_close(w, "]");
    }
    write_close(w, "]");
    write_close(w, "}");
}

static void write_friction(writer* w, scene_friction f)
{
    if (f.kinetic < 0.0)
    {
        write_text(w, "friction", NULL);
        return;
    }
    if (f.resting < 0.0)
    {
        write_number(w, "friction", f.kinetic);
        return;
    }
    write_open(w, "friction", "{");
    write_number(w, "static", f.resting);
    write_number(w, "kinetic", f.kinetic);
    write_close(w, "}");
}

// A run's folder holds the start, in place and in metres, as NAME.start.obj.
static void write_begin(writer* w, const scene_cloth* cloth)
{
    char file[128];
    snprintf(file, sizeof(file), "%s.start.obj", cloth->name);
    write_open(w, "start", "{");
    write_text(w, "obj", file);
    write_number(w, "scale", 1.0);
    write_close(w, "}");
}

static void write_cloth(writer* w, const scene_cloth* cloth)
{
    write_open(w, NULL, "{");
    write_text(w, "name", cloth->name);
    write_mesh(w, cloth);
    if (cloth->kind->form == MESH_SHEET)
    {
        write_text(w, "rest", cloth->rest == REST_UV ? "uv" : "shape");
        write_number(w, "uv_scale", cloth->uv_scale);
        write_vec3(w, "warp", cloth->is_grid ? cloth->warp : cloth->world_warp);
        write_number(w, "tear", cloth->tear);
    }
    write_material(w, cloth->kind, &cloth->material);
    write_model(w, cloth->model, cloth->bending, &cloth->connections);
    // Of grids, which are built again; an OBJ of the run's folder is in place already.
    write_transform(w, cloth->is_grid ? &cloth->transform : &in_place);
    write_vec3(w, "velocity", cloth->velocity);
    write_number(w, "vertex_mass", cloth->vertex_mass);
    write_friction(w, cloth->friction);
    bool radius = cloth->kind->has_radius;
    write_number(w, radius ? "radius" : "thickness", radius ? 0.5 * cloth->thickness : cloth->thickness);
    write_pins_and_forces(w, cloth);
    cloth->kind->form == MESH_SHEET ? write_regions(w, cloth) : (void)0;
    cloth->kind->form == MESH_SHEET ? write_lines(w, cloth) : (void)0;
    write_stitches(w, &cloth->stitches);
    scene_choices_write(w, cloth);
    cloth->rest_position ? write_begin(w, cloth) : (void)0;
    write_close(w, "}");
}

// ---- obstacles

static void write_shape(writer* w, const scene_obstacle* o)
{
    const shape_options* s = &o->shape;
    write_open(w, "shape", "{");
    write_open(w, shape_name(s->kind), "{");
    switch (s->kind)
    {
    case SHAPE_PLANE:
        write_vec3(w, "point", s->center);
        write_vec3(w, "normal", s->axis);
        write_number(w, "size", s->size.x);
        break;
    case SHAPE_SPHERE:
        write_vec3(w, "center", s->center);
        write_number(w, "radius", s->radius);
        break;
    case SHAPE_BOX:
        write_vec3(w, "center", s->center);
        write_vec3(w, "size", s->size);
        write_vec3(w, "rotate", o->rotate);
        write_number(w, "hole", s->hole);
        break;
    case SHAPE_TORUS:
        write_vec3(w, "center", s->center);
        write_vec3(w, "axis", s->axis);
        write_number(w, "radius", s->radius);
        write_number(w, "tube", s->tube);
        break;
    default:
        write_vec3(w, "from", s->from);
        write_vec3(w, "to", s->to);
        write_number(w, "radius", s->radius);
        break;
    }
    write_number(w, "segments", s->segments);
    write_close(w, "}");
    write_close(w, "}");
}

// A run's folder holds the samples, in place and in metres, as NAME.motion.pc2.
static void write_deform(writer* w, const scene_obstacle* o)
{
    char file[128];
    snprintf(file, sizeof(file), "%s.motion.pc2", o->name);
    write_open(w, "deform", "{");
    write_text(w, "pc2", file);
    write_number(w, "rate", o->deform.rate);
    write_number(w, "start", o->deform.start);
    write_number(w, "offset", o->deform.offset / o->deform.speed);
    o->deform.loop ? write_number(w, "loop", o->deform.sample_count) : write_truth(w, "loop", false);
    write_close(w, "}");
}

static void write_skins(writer* w, const scene_obstacle* o)
{
    write_open(w, "regions", "[");
    for (int k = 0; k < o->region_count; k++)
    {
        const scene_skin* skin = &o->regions[k];
        write_open(w, NULL, "{");
        write_faces(w, skin->faces, skin->face_count);
        skin->rubs ? write_friction(w, skin->friction) : (void)0;
        skin->thickness > 0.0 ? write_number(w, "thickness", skin->thickness) : (void)0;
        write_close(w, "}");
    }
    write_close(w, "]");
}

static void write_obstacle(writer* w, const scene_obstacle* o)
{
    write_open(w, NULL, "{");
    write_text(w, "name", o->name);
    if (o->is_shape)
    {
        write_shape(w, o);
    }
    else
    {
        write_open(w, "mesh", "{");
        write_obj(w, o->name);
        write_close(w, "}");
        write_transform(w, &in_place);
    }
    write_friction(w, o->friction);
    write_number(w, "thickness", o->thickness);
    write_open(w, "motion", "{");
    write_motion(w, &o->motion);
    write_close(w, "}");
    if (o->deform.sample_count > 0)
    {
        write_deform(w, o);
    }
    write_skins(w, o);
    write_close(w, "}");
}

static void write_ties(writer* w, const weft_scene* scene)
{
    write_open(w, "ties", "[");
    for (int k = 0; k < scene->tie_count; k++)
    {
        const scene_tie* t = &scene->ties[k];
        write_open(w, NULL, "{");
        write_text(w, "cloth", t->cloth);
        write_text(w, "to", t->to);
        if (t->vertices)
        {
            write_where(w, mesh_of(scene, t->cloth)->weld, t->vertices, t->vertex_count);
        }
        write_text(w, "by", t->edges ? "edges" : "vertices");
        write_close(w, "}");
    }
    write_close(w, "]");
}

static void write_particles(writer* w, const weft_sim_def* def)
{
    write_open(w, "particles", "{");
    write_number(w, "distance", def->particle_distance);
    def->particle_stiffness >= 0.0 ? write_number(w, "stiffness", def->particle_stiffness) : (void)0;
    def->particle_damping >= 0.0 ? write_number(w, "damping", def->particle_damping) : (void)0;
    write_close(w, "}");
}

static void write_contact(writer* w, const weft_scene* scene)
{
    write_open(w, "contact", "{");
    write_truth(w, "enabled", scene->def.contact);
    write_friction(w, (scene_friction){scene->def.friction, scene->def.static_friction});
    write_number(w, "thickness", scene->thickness);
    scene->def.particle_distance > 0.0 ? write_particles(w, &scene->def) : (void)0;
    write_open(w, "exclude", "[");
    for (int k = 0; k < scene->exclusion_count; k++)
    {
        const scene_exclusion* e = &scene->exclusions[k];
        write_open(w, NULL, "{");
        write_open(w, "pair", "[");
        write_text(w, NULL, e->first);
        write_text(w, NULL, e->second);
        write_close(w, "]");
        if (e->vertices)
        {
            write_where(w, mesh_of(scene, e->first)->weld, e->vertices, e->vertex_count);
        }
        write_close(w, "}");
    }
    write_close(w, "]");
    write_close(w, "}");
}

static void write_start(writer* w, const weft_scene* scene)
{
    static const char* const words[] = {"refuse", "resolve", "settle"};
    write_text(w, "initial_contact", words[scene->start]);
    write_open(w, "layers", "[");
    for (int k = 0; k < scene->layer_count; k++)
    {
        int body = scene->layers[k];
        write_text(w, NULL,
                   body < scene->cloth_count ? scene->cloths[body].name
                                             : scene->obstacles[body - scene->cloth_count].name);
    }
    write_close(w, "]");
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
    write_text(w, "variant", def->solver_variant);
    write_number(w, "tolerance", def->tolerance);
    write_number(w, "max_iterations", def->max_iterations);
    write_multigrid(w, &def->sa);
    write_close(w, "}");
    scene_methods_write(w, def);
    write_open(w, "step_control", "{");
    write_number(w, "max_halvings", def->max_halvings);
    write_number(w, "max_stretch", def->max_stretch);
    write_number(w, "max_strain", def->max_strain);
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
    write_number(w, "slip", air->slip);
    write_close(w, "}");
}

static void write_bodies(writer* w, const weft_scene* scene, const body_kind* kind)
{
    int count = 0;
    for (int k = 0; k < scene->cloth_count; k++)
    {
        count += scene->cloths[k].kind == kind;
    }
    if (count == 0)
    {
        return;
    }
    write_open(w, kind->name, "[");
    for (int k = 0; k < scene->cloth_count; k++)
    {
        if (scene->cloths[k].kind == kind)
        {
            write_cloth(w, &scene->cloths[k]);
        }
    }
    write_close(w, "]");
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
    write_model(&w, scene->model, scene->bending, &scene->connections);
    write_text(&w, "kernels", scene->def.kernels);
    for (int k = 0; body_table[k]; k++)
    {
        write_bodies(&w, scene, body_table[k]);
    }
    write_open(&w, "obstacles", "[");
    for (int k = 0; k < scene->obstacle_count; k++)
    {
        write_obstacle(&w, &scene->obstacles[k]);
    }
    write_close(&w, "]");
    write_ties(&w, scene);
    write_contact(&w, scene);
    write_start(&w, scene);
    write_close(&w, "}");
    write_raw(&w, "\n");
    if (w.failed)
    {
        mem_free(w.text);
        return NULL;
    }
    return w.text;
}
