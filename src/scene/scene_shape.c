// Shapes of obstacles: {"sphere": {...}} and so on, checked, as options of mesh/shape.c.
#include <string.h>

#include "scene/scene_data.h"

enum
{
    SEGMENTS_MAX = 10000
};

typedef struct shape_keys
{
    vec3 center, axis, from, to, rotate;
    double side, radius, tube, hole;
    int segments;
    const tree_node *box_size, *segments_node;
} shape_keys;

#define KEY(name, kind, member, ...)                                                                                   \
    {                                                                                                                  \
        name, kind, offsetof(shape_keys, member), __VA_ARGS__                                                          \
    }
#define SEGMENTS_KEY KEY("segments", FIELD_NODE, segments_node, ANY_NUMBER)

static const field plane_fields[] = {
    KEY("point", FIELD_VEC3, center, ANY_NUMBER),
    KEY("normal", FIELD_VEC3, axis, ANY_NUMBER),
    KEY("size", FIELD_NUMBER, side, POSITIVE),
    SEGMENTS_KEY,
};
static const field sphere_fields[] = {
    KEY("center", FIELD_VEC3, center, ANY_NUMBER),
    KEY("radius", FIELD_NUMBER, radius, POSITIVE),
    SEGMENTS_KEY,
};
static const field box_fields[] = {
    KEY("center", FIELD_VEC3, center, ANY_NUMBER),
    KEY("size", FIELD_NODE, box_size, ANY_NUMBER),
    KEY("rotate", FIELD_VEC3, rotate, ANY_NUMBER),
    KEY("hole", FIELD_NUMBER, hole, NOT_NEGATIVE),
    SEGMENTS_KEY,
};
static const field rod_fields[] = {
    KEY("from", FIELD_VEC3, from, ANY_NUMBER),
    KEY("to", FIELD_VEC3, to, ANY_NUMBER),
    KEY("radius", FIELD_NUMBER, radius, POSITIVE),
    SEGMENTS_KEY,
};
static const field torus_fields[] = {
    KEY("center", FIELD_VEC3, center, ANY_NUMBER),
    KEY("axis", FIELD_VEC3, axis, ANY_NUMBER),
    KEY("radius", FIELD_NUMBER, radius, POSITIVE),
    KEY("tube", FIELD_NUMBER, tube, POSITIVE),
    SEGMENTS_KEY,
};

typedef struct shape_row
{
    const field* fields;
    int field_count;
    const char* required[3]; // keys without a default
    const char* example;
} shape_row;

static const shape_row rows[SHAPE_KIND_COUNT] = {
    [SHAPE_PLANE] = {plane_fields, FIELD_COUNT(plane_fields), {NULL}, ""},
    [SHAPE_SPHERE] = {sphere_fields, FIELD_COUNT(sphere_fields), {"radius"}, "\"radius\": 0.3"},
    [SHAPE_BOX] = {box_fields, FIELD_COUNT(box_fields), {"size"}, "\"size\": [1, 0.2, 1]"},
    [SHAPE_CYLINDER] = {rod_fields,
                        FIELD_COUNT(rod_fields),
                        {"from", "to", "radius"},
                        "\"from\": [0, 0, 0], \"to\": [0, 1, 0], \"radius\": 0.1"},
    [SHAPE_CAPSULE] = {rod_fields,
                       FIELD_COUNT(rod_fields),
                       {"from", "to", "radius"},
                       "\"from\": [0, 0, 0], \"to\": [0, 1, 0], \"radius\": 0.1"},
    [SHAPE_TORUS] = {torus_fields, FIELD_COUNT(torus_fields), {"radius", "tube"}, "\"radius\": 0.3, \"tube\": 0.1"},
};

// The one key of {"sphere": {...}}.
static weft_status shape_find(const scene_reader* r, const tree_node* node, shape_kind* out)
{
    static const char expected[] = "plane, sphere, box, cylinder, capsule, torus";
    if (node->kind != TREE_OBJECT)
    {
        return read_wrong_kind(r, node, "an object like {\"sphere\": {\"radius\": 0.3}}");
    }
    if (node->child_count != 1)
    {
        return read_error(r, node, "expected exactly one of %s; found %d", expected, node->child_count);
    }
    const char* names[SHAPE_KIND_COUNT];
    for (int k = 0; k < SHAPE_KIND_COUNT; k++)
    {
        names[k] = shape_name((shape_kind)k);
        if (strcmp(node->first->key, names[k]) == 0)
        {
            *out = (shape_kind)k;
            return WEFT_OK;
        }
    }
    const char* near = suggest_name(node->first->key, names, SHAPE_KIND_COUNT);
    return read_error_key(r, node->first, "unknown shape `%.60s`%s%s%s; known: %s", node->first->key,
                          near ? ", did you mean `" : "", near ? near : "", near ? "`?" : "", expected);
}

static weft_status box_read_size(const scene_reader* r, const tree_node* node, vec3* out)
{
    static const field limits = {"", FIELD_NUMBER, 0, POSITIVE};
    if (node->kind == TREE_NUMBER)
    {
        TRY(read_number(r, node, &limits, &out->x));
        *out = v3(out->x, out->x, out->x);
        return WEFT_OK;
    }
    TRY(read_vec3(r, node, out));
    double checked;
    for (const tree_node* child = node->first; child; child = child->next)
    {
        TRY(read_number(r, child, &limits, &checked));
    }
    return WEFT_OK;
}

static weft_status check_required(const scene_reader* r, const tree_node* node, shape_kind kind)
{
    for (int k = 0; k < 3 && rows[kind].required[k]; k++)
    {
        if (!tree_member(node, rows[kind].required[k]))
        {
            return read_error(r, node, "a %s needs \"%s\", for example {%s}", shape_name(kind), rows[kind].required[k],
                              rows[kind].example);
        }
    }
    return WEFT_OK;
}

// Values that are wrong only together.
static weft_status shape_check(const scene_reader* r, const tree_node* node, const shape_options* o)
{
    bool round = o->kind == SHAPE_CYLINDER || o->kind == SHAPE_CAPSULE;
    double length = v3_length(v3_sub(o->to, o->from));
    if (round && !(length > 0.0))
    {
        return read_error(r, tree_member(node, "to"), "is the same point as \"from\"; a %s needs a length%s",
                          shape_name(o->kind), o->kind == SHAPE_CAPSULE ? ", or take a sphere" : "");
    }
    if (o->kind == SHAPE_TORUS && o->tube >= o->radius)
    {
        return read_error(r, tree_member(node, "tube"),
                          "must be smaller than the radius %g, which is that of the ring through the tube's middle; it "
                          "is %g",
                          o->radius, o->tube);
    }
    double least = fmin(o->size.x, o->size.z);
    if (o->kind == SHAPE_BOX && o->hole >= least)
    {
        return read_error(r, tree_member(node, "hole"),
                          "must be smaller than the box, %g m in x or z; it is %g (0: no hole)", least, o->hole);
    }
    return WEFT_OK;
}

static weft_status shape_take(const scene_reader* r, const tree_node* node, const shape_keys* keys, shape_options* o)
{
    o->center = keys->center;
    o->axis = keys->axis;
    o->from = keys->from;
    o->to = keys->to;
    o->radius = keys->radius;
    o->tube = keys->tube;
    o->hole = keys->hole;
    o->size.x = keys->side;
    const char* axis_key = o->kind == SHAPE_PLANE ? "normal" : "axis";
    if (tree_member(node, axis_key))
    {
        TRY(read_direction(r, tree_member(node, axis_key), &o->axis));
    }
    if (keys->box_size)
    {
        TRY(box_read_size(r, keys->box_size, &o->size));
    }
    if (keys->segments_node)
    {
        field limits = {"", FIELD_INT, 0, shape_segments_min(o->kind), SEGMENTS_MAX, false};
        TRY(read_int(r, keys->segments_node, &limits, &o->segments));
    }
    o->is_turned = keys->rotate.x != 0.0 || keys->rotate.y != 0.0 || keys->rotate.z != 0.0;
    mat3 rotation = rotation_from_degrees(keys->rotate);
    memcpy(o->rotation, rotation.m, sizeof(o->rotation));
    return shape_check(r, node, o);
}

weft_status shape_read(const scene_reader* r, const tree_node* node, shape_options* out, vec3* rotate)
{
    shape_kind kind = SHAPE_PLANE;
    TRY(shape_find(r, node, &kind));
    *out = shape_default(kind);
    shape_keys keys = {.axis = out->axis, .side = out->size.x};
    TRY(read_fields(r, node->first, rows[kind].fields, rows[kind].field_count, &keys));
    TRY(check_required(r, node->first, kind));
    *rotate = keys.rotate;
    return shape_take(r, node->first, &keys, out);
}
