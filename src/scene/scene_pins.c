// Pins and forces of a cloth.
#include <string.h>

#include "scene/scene_data.h"

enum
{
    NAMES_MAX = 64 // that an error looks through
};

// ---- pins

typedef struct pin_keys
{
    const tree_node *where, *fix, *path, *axis, *center, *release, *samples, *follow, *weights, *fade;
    double stiffness;
} pin_keys;

static const field pin_fields[] = {
    {"where", FIELD_NODE, offsetof(pin_keys, where), ANY_NUMBER},
    {"fix", FIELD_NODE, offsetof(pin_keys, fix), ANY_NUMBER},
    {"path", FIELD_NODE, offsetof(pin_keys, path), ANY_NUMBER},
    {"axis", FIELD_NODE, offsetof(pin_keys, axis), ANY_NUMBER},
    {"center", FIELD_NODE, offsetof(pin_keys, center), ANY_NUMBER},
    {"release", FIELD_NODE, offsetof(pin_keys, release), ANY_NUMBER},
    {"samples", FIELD_NODE, offsetof(pin_keys, samples), ANY_NUMBER},
    {"follow", FIELD_NODE, offsetof(pin_keys, follow), ANY_NUMBER},
    {"weights", FIELD_NODE, offsetof(pin_keys, weights), ANY_NUMBER},
    {"fade", FIELD_NODE, offsetof(pin_keys, fade), ANY_NUMBER},
    {"stiffness", FIELD_NUMBER, offsetof(pin_keys, stiffness), POSITIVE},
};

typedef struct fix_keys
{
    const tree_node *line, *plane;
} fix_keys;

static const field fix_fields[] = {
    {"line", FIELD_NODE, offsetof(fix_keys, line), ANY_NUMBER},
    {"plane", FIELD_NODE, offsetof(fix_keys, plane), ANY_NUMBER},
};

static weft_status pin_read_fix(const scene_reader* r, const tree_node* node, scene_pin* pin)
{
    if (node->kind == TREE_STRING)
    {
        static const char* const words[] = {"point"};
        int index;
        pin->fix = WEFT_FIX_POINT;
        return read_choice(r, node, words, 1, &index);
    }
    fix_keys keys = {0};
    if (node->kind != TREE_OBJECT)
    {
        return read_wrong_kind(r, node, "\"point\", {\"line\": [x, y, z]} or {\"plane\": [x, y, z]}");
    }
    TRY(read_fields(r, node, fix_fields, FIELD_COUNT(fix_fields), &keys));
    if (!keys.line == !keys.plane)
    {
        return read_error(r, node, "expected either \"line\": [x, y, z] or \"plane\": [x, y, z] (its normal)");
    }
    pin->fix = keys.line ? WEFT_FIX_LINE : WEFT_FIX_PLANE;
    return read_direction(r, keys.line ? keys.line : keys.plane, &pin->direction);
}

static weft_status pin_read(const scene_reader* r, const tree_node* node, const scene_cloth* cloth, scene_pin* pin)
{
    static const field release_limits = {"", FIELD_NUMBER, 0, NOT_NEGATIVE};
    pin_keys keys = {.stiffness = weft_pin_default().stiffness};
    pin->release = HUGE_VAL;
    TRY(check_where(r, node));
    TRY(read_fields(r, node, pin_fields, FIELD_COUNT(pin_fields), &keys));
    if (!keys.where)
    {
        return read_error(r, node, "a pin needs \"where\", for example {\"edge\": \"top\"}");
    }
    TRY(selection_read(r, keys.where, &cloth->mesh, &pin->vertices, &pin->vertex_count));
    TRY(pin_weights_read(r, keys.weights, keys.fade, &cloth->mesh, pin));
    pin->stiffness = keys.stiffness;
    if (keys.fix)
    {
        TRY(pin_read_fix(r, keys.fix, pin));
    }
    if (keys.release && keys.release->kind != TREE_NULL)
    {
        TRY(read_number(r, keys.release, &release_limits, &pin->release));
    }
    if (keys.samples)
    {
        TRY(pin_samples_read(r, keys.samples, cloth, pin));
    }
    if (keys.follow && keys.samples)
    {
        return read_error_key(r, keys.follow, "a pin follows a body or samples, not both; remove one");
    }
    if (keys.follow && keys.follow->kind != TREE_NULL)
    {
        TRY(read_string(r, keys.follow, &pin->follow));
        pin->follow_node = keys.follow;
    }
    return motion_read(r, keys.path, keys.axis, keys.center, node, &pin->motion);
}

weft_status pins_read(const scene_reader* r, const tree_node* node, scene_cloth* cloth)
{
    TRY(read_array(r, node));
    cloth->pins = MEM_NEW(int_max(node->child_count, 1), scene_pin);
    if (!cloth->pins)
    {
        return read_no_memory(r);
    }
    for (const tree_node* child = node->first; child; child = child->next)
    {
        TRY(pin_read(r, child, cloth, &cloth->pins[cloth->pin_count++]));
    }
    return WEFT_OK;
}

static weft_status check_follow(const scene_reader* r, const scene_pin* pin)
{
    const weft_scene* scene = r->scene;
    const char* names[NAMES_MAX];
    for (int k = 0; k < scene->obstacle_count; k++)
    {
        if (strcmp(scene->obstacles[k].name, pin->follow) == 0)
        {
            return WEFT_OK;
        }
        names[int_min(k, NAMES_MAX - 1)] = scene->obstacles[k].name;
    }
    return read_unknown_name(r, pin->follow_node, "obstacle", pin->follow, names,
                             int_min(scene->obstacle_count, NAMES_MAX));
}

weft_status pins_check(const scene_reader* r)
{
    for (int c = 0; c < r->scene->cloth_count; c++)
    {
        const scene_cloth* cloth = &r->scene->cloths[c];
        for (int k = 0; k < cloth->pin_count; k++)
        {
            TRY(cloth->pins[k].follow ? check_follow(r, &cloth->pins[k]) : WEFT_OK);
        }
    }
    return WEFT_OK;
}

// ---- forces

typedef struct force_keys
{
    const tree_node *where, *force;
} force_keys;

static const field force_fields[] = {
    {"where", FIELD_NODE, offsetof(force_keys, where), ANY_NUMBER},
    {"force", FIELD_NODE, offsetof(force_keys, force), ANY_NUMBER},
};

static weft_status force_read(const scene_reader* r, const tree_node* node, const mesh* m, scene_force* out)
{
    force_keys keys = {0};
    TRY(check_where(r, node));
    TRY(read_fields(r, node, force_fields, FIELD_COUNT(force_fields), &keys));
    if (!keys.where || !keys.force)
    {
        return read_error(r, node, "a force needs \"where\" and \"force\": [x, y, z] in newtons a vertex");
    }
    TRY(read_vec3(r, keys.force, &out->force));
    return selection_read(r, keys.where, m, &out->vertices, &out->vertex_count);
}

weft_status forces_read(const scene_reader* r, const tree_node* node, scene_cloth* cloth)
{
    TRY(read_array(r, node));
    cloth->forces = MEM_NEW(int_max(node->child_count, 1), scene_force);
    if (!cloth->forces)
    {
        return read_no_memory(r);
    }
    for (const tree_node* child = node->first; child; child = child->next)
    {
        TRY(force_read(r, child, &cloth->mesh, &cloth->forces[cloth->force_count++]));
    }
    return WEFT_OK;
}
