// "ties": points of one cloth that follow another.
#include <string.h>

#include "scene/scene_data.h"

enum
{
    NAMES_MAX = 64 // that an error looks through
};

typedef struct tie_keys
{
    const tree_node *cloth, *to, *where, *by;
} tie_keys;

static const field tie_fields[] = {
    {"cloth", FIELD_NODE, offsetof(tie_keys, cloth), ANY_NUMBER},
    {"to", FIELD_NODE, offsetof(tie_keys, to), ANY_NUMBER},
    {"where", FIELD_NODE, offsetof(tie_keys, where), ANY_NUMBER},
    {"by", FIELD_NODE, offsetof(tie_keys, by), ANY_NUMBER},
};

static weft_status cloth_find(const scene_reader* r, const tree_node* node, const scene_cloth** out)
{
    const char* names[NAMES_MAX];
    const char* name = "";
    const weft_scene* scene = r->scene;
    TRY(read_string(r, node, &name));
    for (int k = 0; k < scene->cloth_count; k++)
    {
        *out = &scene->cloths[k];
        if (strcmp((*out)->name, name) == 0)
        {
            return WEFT_OK;
        }
        names[int_min(k, NAMES_MAX - 1)] = (*out)->name;
    }
    for (int k = 0; k < scene->obstacle_count; k++)
    {
        if (strcmp(scene->obstacles[k].name, name) == 0)
        {
            return read_error(
                r, node,
                "`%.60s` is an obstacle; ties hold cloth to cloth: what follows a body is a pin with \"follow\"", name);
        }
    }
    return read_unknown_name(r, node, "cloth", name, names, int_min(scene->cloth_count, NAMES_MAX));
}

static weft_status tie_read(const scene_reader* r, const tree_node* node, scene_tie* out)
{
    static const char* const words[] = {"vertices", "edges"};
    tie_keys keys = {0};
    int by = 0;
    out->node = node;
    TRY(check_where(r, node));
    TRY(read_fields(r, node, tie_fields, FIELD_COUNT(tie_fields), &keys));
    if (!keys.cloth || !keys.to)
    {
        return read_error(r, node,
                          "a tie needs \"cloth\" and \"to\", the names of two cloths, or of one twice; for example "
                          "{\"cloth\": \"patch\", \"to\": \"sheet\"}");
    }
    const scene_cloth *cloth, *to;
    TRY(cloth_find(r, keys.cloth, &cloth));
    TRY(cloth_find(r, keys.to, &to));
    out->cloth = cloth->name;
    out->to = to->name;
    if (keys.by)
    {
        TRY(read_choice(r, keys.by, words, 2, &by));
    }
    out->edges = by == 1;
    return keys.where ? selection_read(r, keys.where, &cloth->mesh, &out->vertices, &out->vertex_count) : WEFT_OK;
}

weft_status ties_read(const scene_reader* r, const tree_node* node)
{
    TRY(read_array(r, node));
    r->scene->ties = MEM_NEW(int_max(node->child_count, 1), scene_tie);
    if (!r->scene->ties)
    {
        return read_no_memory(r);
    }
    for (const tree_node* child = node->first; child; child = child->next)
    {
        TRY(tie_read(r, child, &r->scene->ties[r->scene->tie_count++]));
    }
    return WEFT_OK;
}
