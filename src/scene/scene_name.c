// Names of cloths and obstacles: they become those of files in the run's folder (NAME.obj, NAME.2.obj), hence no dots,
// slashes or spaces, and no two alike.
#include <string.h>

#include "scene/scene_data.h"

enum
{
    BODY_NAME_MAX = 100 // characters
};

static bool is_name_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

static bool is_name(const char* name)
{
    size_t length = strlen(name);
    bool good = length > 0 && length <= BODY_NAME_MAX;
    for (size_t k = 0; k < length; k++)
    {
        good = good && is_name_character(name[k]);
    }
    return good;
}

// What has this name already, as messages say it; NULL: nothing. Bodies without a name yet are passed over.
static const char* name_owner(const weft_scene* scene, const char* name)
{
    for (int k = 0; k < scene->cloth_count; k++)
    {
        if (scene->cloths[k].name && strcmp(scene->cloths[k].name, name) == 0)
        {
            return scene->cloths[k].kind == body_table[0] ? "a cloth" : "a body";
        }
    }
    for (int k = 0; k < scene->obstacle_count; k++)
    {
        if (scene->obstacles[k].name && strcmp(scene->obstacles[k].name, name) == 0)
        {
            return "an obstacle";
        }
    }
    return NULL;
}

static weft_status default_name(const scene_reader* r, const tree_node* owner, const char* prefix, const char** out)
{
    char name[32];
    bool cloth = strcmp(prefix, "obstacle") != 0;
    snprintf(name, sizeof(name), "%s%d", prefix, cloth ? r->scene->cloth_count : r->scene->obstacle_count);
    if (name_owner(r->scene, name))
    {
        return read_error(r, owner, "its default name `%s` is taken; give it a \"name\"", name);
    }
    *out = tree_strdup(&r->scene->tree, name);
    return *out ? WEFT_OK : read_no_memory(r);
}

weft_status name_read(const scene_reader* r, const tree_node* node, const tree_node* owner, const char* prefix,
                      const char** out)
{
    if (!node)
    {
        return default_name(r, owner, prefix, out);
    }
    const char* name = "";
    TRY(read_string(r, node, &name));
    if (!is_name(name))
    {
        return read_error(r, node, "a name of %s %s becomes a file name: 1 to %d letters a-z, digits, - and _",
                          prefix[0] == 'o' ? "an" : "a", prefix, BODY_NAME_MAX);
    }
    const char* taken = name_owner(r->scene, name);
    if (taken)
    {
        return read_error(r, node, "there is %s of the name `%s` already; give each its own", taken, name);
    }
    *out = name;
    return WEFT_OK;
}
