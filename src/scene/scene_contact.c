// "contact": whether there is any, thickness and friction of bodies that do not say, and pairs of bodies, or of parts
// of them, that are not tested against each other.
#include <string.h>

#include "scene/scene_data.h"

enum
{
    NAMES_MAX = 64 // of which a suggestion is chosen
};

typedef struct contact_keys
{
    double friction, thickness;
    const tree_node *enabled, *exclude;
} contact_keys;

static const field contact_fields[] = {
    {"enabled", FIELD_NODE, offsetof(contact_keys, enabled), ANY_NUMBER},
    {"friction", FIELD_NUMBER, offsetof(contact_keys, friction), NOT_NEGATIVE},
    {"thickness", FIELD_NUMBER, offsetof(contact_keys, thickness), POSITIVE},
    {"exclude", FIELD_NODE, offsetof(contact_keys, exclude), ANY_NUMBER},
};

typedef struct exclude_keys
{
    const tree_node *pair, *where;
} exclude_keys;

static const field exclude_fields[] = {
    {"pair", FIELD_NODE, offsetof(exclude_keys, pair), ANY_NUMBER},
    {"where", FIELD_NODE, offsetof(exclude_keys, where), ANY_NUMBER},
};

typedef struct body
{
    const char* name;
    const mesh* mesh;
    bool is_cloth;
} body;

static body body_at(const weft_scene* scene, int index)
{
    if (index < scene->cloth_count)
    {
        return (body){scene->cloths[index].name, &scene->cloths[index].mesh, true};
    }
    const scene_obstacle* o = &scene->obstacles[index - scene->cloth_count];
    return (body){o->name, &o->mesh, false};
}

static weft_status body_find(const scene_reader* r, const tree_node* node, body* out)
{
    const char* names[NAMES_MAX];
    const char* name = "";
    int count = r->scene->cloth_count + r->scene->obstacle_count;
    TRY(read_string(r, node, &name));
    for (int k = 0; k < count; k++)
    {
        *out = body_at(r->scene, k);
        if (strcmp(out->name, name) == 0)
        {
            return WEFT_OK;
        }
        names[int_min(k, NAMES_MAX - 1)] = out->name;
    }
    const char* near = suggest_name(name, names, int_min(count, NAMES_MAX));
    return read_error(r, node, "there is no cloth or obstacle `%.60s`%s%s%s", name, near ? ", did you mean `" : "",
                      near ? near : "", near ? "`?" : "");
}

static weft_status exclusion_read(const scene_reader* r, const tree_node* node, scene_exclusion* out)
{
    exclude_keys keys = {0};
    out->node = node;
    TRY(check_where(r, node));
    TRY(read_fields(r, node, exclude_fields, FIELD_COUNT(exclude_fields), &keys));
    if (!keys.pair || keys.pair->kind != TREE_ARRAY || keys.pair->child_count != 2)
    {
        return read_error(
            r, keys.pair ? keys.pair : node,
            "an exclusion needs \"pair\": [\"NAME\", \"NAME\"], two cloths or obstacles; the same twice: a "
            "cloth with itself");
    }
    body first, second;
    TRY(body_find(r, keys.pair->first, &first));
    TRY(body_find(r, keys.pair->last, &second));
    if (!first.is_cloth && !second.is_cloth)
    {
        return read_error(r, keys.pair, "obstacles are never tested against each other: a pair needs a cloth");
    }
    out->first = first.name;
    out->second = second.name;
    return keys.where ? selection_read(r, keys.where, first.mesh, &out->vertices, &out->vertex_count) : WEFT_OK;
}

weft_status contact_read_settings(const scene_reader* r, const tree_node* node)
{
    contact_keys keys = {.friction = r->scene->friction, .thickness = r->scene->thickness};
    TRY(read_fields(r, node, contact_fields, FIELD_COUNT(contact_fields), &keys));
    r->scene->friction = keys.friction;
    r->scene->thickness = keys.thickness;
    return keys.enabled ? read_truth(r, keys.enabled, &r->scene->def.contact) : WEFT_OK;
}

weft_status contact_read_exclusions(const scene_reader* r, const tree_node* node)
{
    contact_keys keys = {0};
    TRY(read_fields(r, node, contact_fields, FIELD_COUNT(contact_fields), &keys));
    if (!keys.exclude)
    {
        return WEFT_OK;
    }
    TRY(read_array(r, keys.exclude));
    r->scene->exclusions = MEM_NEW(int_max(keys.exclude->child_count, 1), scene_exclusion);
    if (!r->scene->exclusions)
    {
        return read_no_memory(r);
    }
    for (const tree_node* child = keys.exclude->first; child; child = child->next)
    {
        TRY(exclusion_read(r, child, &r->scene->exclusions[r->scene->exclusion_count++]));
    }
    return WEFT_OK;
}
