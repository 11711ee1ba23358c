// Obstacles: a shape or a mesh, still, moved by keys, deforming by files.
//
// A mesh need not be what cloth must be. Errors: no triangle, a face with fewer than three corners or with one twice,
// coordinates that are not finite. Warnings: triangles without area or one upon another, edges of more than two
// triangles, neighbours that run against each other, vertices of no face. All of that collides as it is.
#include <string.h>

#include "scene/gltf_file.h"
#include "scene/scene_data.h"

// Beyond these a note asks whether the unit is right.
#define MESH_SIZE_MIN 0.01 // m
#define MESH_SIZE_MAX 50.0 // m

typedef struct obstacle_keys
{
    const tree_node *name, *shape, *mesh, *transform, *motion, *deform, *regions;
    const tree_node* friction;
    double thickness;
} obstacle_keys;

static const field obstacle_fields[] = {
    {"name", FIELD_NODE, offsetof(obstacle_keys, name), ANY_NUMBER},
    {"shape", FIELD_NODE, offsetof(obstacle_keys, shape), ANY_NUMBER},
    {"mesh", FIELD_NODE, offsetof(obstacle_keys, mesh), ANY_NUMBER},
    {"transform", FIELD_NODE, offsetof(obstacle_keys, transform), ANY_NUMBER},
    {"friction", FIELD_NODE, offsetof(obstacle_keys, friction), ANY_NUMBER},
    {"thickness", FIELD_NUMBER, offsetof(obstacle_keys, thickness), POSITIVE},
    {"motion", FIELD_NODE, offsetof(obstacle_keys, motion), ANY_NUMBER},
    {"deform", FIELD_NODE, offsetof(obstacle_keys, deform), ANY_NUMBER},
    {"regions", FIELD_NODE, offsetof(obstacle_keys, regions), ANY_NUMBER},
};

typedef struct motion_keys
{
    const tree_node *path, *axis, *center;
} motion_keys;

static const field motion_fields[] = {
    {"path", FIELD_NODE, offsetof(motion_keys, path), ANY_NUMBER},
    {"axis", FIELD_NODE, offsetof(motion_keys, axis), ANY_NUMBER},
    {"center", FIELD_NODE, offsetof(motion_keys, center), ANY_NUMBER},
};

// ---- shapes

static weft_status obstacle_from_shape(const scene_reader* r, const obstacle_keys* keys, scene_obstacle* o)
{
    const tree_node* misplaced = keys->transform ? keys->transform : keys->deform;
    if (misplaced)
    {
        return read_error_key(r, misplaced,
                              "only a \"mesh\" has this key; a shape is placed by its own keys and moved by "
                              "\"motion\"");
    }
    o->is_shape = true;
    TRY(shape_read(r, keys->shape, &o->shape, &o->rotate));
    weft_error reason = {0};
    weft_status status = mesh_from_shape(&o->shape, &o->mesh, &reason);
    if (status != WEFT_OK)
    {
        return mesh_error(r, keys->shape, status, &reason);
    }
    return mesh_find_defects(&o->mesh, &o->defects) == WEFT_OK ? WEFT_OK : read_no_memory(r);
}

// ---- meshes

static void warn_face(const scene_obstacle* o, int face, int count, const char* what)
{
    const mesh* m = &o->mesh;
    log_warning("%s:%d: obstacle `%s`: face %d is the first of %d %s", m->file ? m->file : "mesh",
                m->face_line ? m->face_line[face] : 0, o->name, face + 1, count, what);
}

static void obstacle_warn(const scene_obstacle* o)
{
    const mesh_defects* d = &o->defects;
    if (d->flat > 0)
    {
        warn_face(o, d->first_flat, d->flat, "with a triangle without area; they collide as they are");
    }
    if (d->crowded > 0)
    {
        warn_face(o, d->first_crowded, d->crowded, "at an edge of more than two triangles; they collide as they are");
    }
    if (d->repeated > 0)
    {
        log_warning("%s: obstacle `%s`: %d triangles cover the vertices of another", o->mesh.file, o->name,
                    d->repeated);
    }
    if (d->disagreeing > 0)
    {
        log_warning(
            "%s: obstacle `%s`: at %d edges two triangles run against each other: inside and outside are mixed up",
            o->mesh.file, o->name, d->disagreeing);
    }
}

// Sizes that bodies seldom have: more likely another unit.
static weft_status obstacle_doubt(const scene_reader* r, const scene_obstacle* o)
{
    const mesh* m = &o->mesh;
    vec3 low, high;
    mesh_bounds(m, &low, &high);
    double size = fmax(high.x - low.x, fmax(high.y - low.y, high.z - low.z));
    return size <= MESH_SIZE_MAX && size >= MESH_SIZE_MIN
               ? WEFT_OK
               : scene_warn(r->scene,
                            "obstacle `%s` is %.4g m long: is this in metres? \"scale\" of the mesh changes it",
                            o->name, size);
}

static weft_status obstacle_take_mesh(const scene_reader* r, const obstacle_keys* keys, scene_obstacle* o,
                                      struct gltf_body** body)
{
    TRY(keys->transform ? transform_read(r, keys->transform, &o->transform) : WEFT_OK);
    TRY(keys->deform ? deform_read_keys(r, keys->deform, o) : WEFT_OK);
    TRY(obstacle_mesh_read(r, keys->mesh, o, body));
    mesh_round(&o->mesh);
    weft_error reason = {0};
    weft_status status = mesh_split(&o->mesh, &reason);
    status = status == WEFT_OK ? mesh_warn_unused(&o->mesh, &reason) : status;
    if (status != WEFT_OK)
    {
        return mesh_error(r, keys->mesh, status, &reason);
    }
    if (mesh_find_defects(&o->mesh, &o->defects) != WEFT_OK || obstacle_doubt(r, o) != WEFT_OK)
    {
        return read_no_memory(r);
    }
    obstacle_warn(o);
    return keys->deform ? deform_read(r, keys->deform, o, *body) : WEFT_OK;
}

static weft_status obstacle_from_mesh(const scene_reader* r, const obstacle_keys* keys, scene_obstacle* o)
{
    gltf_body* body = NULL;
    weft_status status = obstacle_take_mesh(r, keys, o, &body);
    gltf_body_destroy(body);
    return status;
}

// ---- any

// An axis alone looks like a motion and is none. A run's own scene.json writes an empty path, which is meant.
static weft_status obstacle_motion_read(const scene_reader* r, const tree_node* node, scene_obstacle* o)
{
    motion_keys keys = {0};
    TRY(read_fields(r, node, motion_fields, FIELD_COUNT(motion_fields), &keys));
    TRY(motion_read(r, keys.path, keys.axis, keys.center, node, &o->motion));
    bool noted =
        keys.path || scene_warn(r->scene,
                                "obstacle `%s`: \"motion\" has no \"path\", so nothing moves; give it keys, for "
                                "example {\"path\": [{\"time\": 0}, {\"time\": 1, \"offset\": [1, 0, 0]}]}",
                                o->name) == WEFT_OK;
    return noted ? WEFT_OK : read_no_memory(r);
}

static weft_status obstacle_read(const scene_reader* r, const tree_node* node, scene_obstacle* o)
{
    obstacle_keys keys = {.thickness = r->scene->thickness};
    o->node = node;
    o->transform.scale = 1.0;
    TRY(read_fields(r, node, obstacle_fields, FIELD_COUNT(obstacle_fields), &keys));
    TRY(name_read(r, keys.name, node, "obstacle", &o->name));
    TRY(friction_read(r, keys.friction, &o->friction));
    o->thickness = keys.thickness;
    if (!keys.shape == !keys.mesh)
    {
        return read_error(r, node,
                          "an obstacle needs either a \"shape\", for example {\"sphere\": {\"radius\": 0.3}}, or a "
                          "\"mesh\", {\"obj\": \"FILE\"}%s",
                          keys.shape ? ", not both" : "");
    }
    if (keys.motion)
    {
        TRY(obstacle_motion_read(r, keys.motion, o));
    }
    TRY(keys.shape ? obstacle_from_shape(r, &keys, o) : obstacle_from_mesh(r, &keys, o));
    return keys.regions ? skins_read(r, keys.regions, o) : WEFT_OK;
}

weft_status obstacles_read(const scene_reader* r, const tree_node* node)
{
    TRY(read_array(r, node));
    if (node->child_count == 0)
    {
        return WEFT_OK;
    }
    r->scene->obstacles = MEM_NEW(node->child_count, scene_obstacle);
    if (!r->scene->obstacles)
    {
        return read_no_memory(r);
    }
    for (const tree_node* child = node->first; child; child = child->next)
    {
        TRY(obstacle_read(r, child, &r->scene->obstacles[r->scene->obstacle_count++]));
    }
    return WEFT_OK;
}
