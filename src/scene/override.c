// Overrides: PATH=VALUE, applied to the tree before anything is checked, so that a value given on the command line is
// checked like one in the file. PATH is dotted, with indices in lists: "cloth.0.material.bending". VALUE is JSON when
// it parses as JSON and a plain string otherwise. `cells` and `tessellation` alone mean the first grid's, and `cells`
// of a scene without grids the first solid's.
#include <stdlib.h>
#include <string.h>

#include "scene/scene_data.h"

typedef struct override
{
    const scene_reader* r;
    const char* text; // the whole of it; lives as long as the tree
} override;

static weft_status override_error(const override* o, const char* format, ...) __attribute__((format(printf, 2, 3)));

static weft_status override_error(const override* o, const char* format, ...)
{
    char message[600];
    va_list arguments;
    va_start(arguments, format);
    print_text_list(message, sizeof(message), format, arguments);
    va_end(arguments);
    return error_set(o->r->error, WEFT_BAD_INPUT, o->r->scene->file, 0, "override `%.200s`: %s", o->text, message);
}

static tree_node* override_new(const override* o, tree_kind kind)
{
    tree_node* node = tree_new(&o->r->scene->tree, kind);
    if (node)
    {
        node->origin = o->text;
    }
    return node;
}

// Keys whose value may be a name, and the key that the name gets when the value becomes an object.
static const char* override_name_key(const char* key)
{
    if (!key)
    {
        return NULL;
    }
    if (strcmp(key, "material") == 0)
    {
        return "base";
    }
    return strcmp(key, "solver") == 0 || strcmp(key, "model") == 0 ? "name" : NULL;
}

// "cotton" becomes {"base": "cotton"}, so that a field of it can be set.
static weft_status override_open_name(const override* o, tree_node* node, const char* name_key)
{
    tree_node* name = override_new(o, TREE_STRING);
    tree_node* object = override_new(o, TREE_OBJECT);
    if (!name || !object)
    {
        return read_no_memory(o->r);
    }
    *name = *node;
    name->key = name_key;
    object->line = node->line;
    object->column = node->column;
    object->origin = node->origin;
    tree_append(object, name);
    tree_assign(node, object);
    return WEFT_OK;
}

static weft_status override_index(const override* o, const tree_node* array, const char* word, tree_node** out)
{
    char* end;
    long index = strtol(word, &end, 10);
    bool is_number = word[0] >= '0' && word[0] <= '9' && *end == '\0';
    *out = is_number && index < array->child_count ? tree_at(array, (int)index) : NULL;
    if (*out)
    {
        return WEFT_OK;
    }
    char path[256];
    tree_path(array, path, sizeof(path));
    return override_error(o, "`%s` is a list of %d; expected an index from 0 on below that, found `%.60s`", path,
                          array->child_count, word);
}

// The child of node that `word` names; in objects it is made when it is missing.
static weft_status override_descend(const override* o, tree_node* node, const char* word, tree_node** out)
{
    const char* name_key = node->kind == TREE_STRING ? override_name_key(node->key) : NULL;
    if (name_key)
    {
        TRY(override_open_name(o, node, name_key));
    }
    if (node->kind == TREE_ARRAY)
    {
        return override_index(o, node, word, out);
    }
    if (node->kind != TREE_OBJECT)
    {
        char path[256];
        tree_path(node, path, sizeof(path));
        return override_error(o, "`%s` is %s and has no `%.60s`", path, tree_kind_text(node->kind), word);
    }
    *out = tree_member(node, word);
    if (!*out)
    {
        *out = override_new(o, TREE_OBJECT);
        char* key = tree_strdup(&o->r->scene->tree, word);
        if (!*out || !key)
        {
            return read_no_memory(o->r);
        }
        (*out)->key = key;
        tree_append(node, *out);
    }
    return WEFT_OK;
}

static tree_node* override_first_grid(const tree_node* root)
{
    const tree_node* cloths = tree_member(root, "cloth");
    for (const tree_node* cloth = cloths ? cloths->first : NULL; cloth; cloth = cloth->next)
    {
        const tree_node* mesh = tree_member(cloth, "mesh");
        tree_node* grid = mesh ? tree_member(mesh, "grid") : NULL;
        if (grid)
        {
            return grid;
        }
    }
    return NULL;
}

// The shape of the first solid: what "ball" holds, say.
static tree_node* override_first_solid(const tree_node* root)
{
    const tree_node* volumes = tree_member(root, "volumes");
    for (const tree_node* volume = volumes ? volumes->first : NULL; volume; volume = volume->next)
    {
        const tree_node* mesh = tree_member(volume, "mesh");
        const tree_node* solid = mesh ? tree_member(mesh, "solid") : NULL;
        if (solid && solid->first)
        {
            return solid->first;
        }
    }
    return NULL;
}

// Walks the dotted path; `path` is cut up on the way.
static weft_status override_find(const override* o, tree_node* root, char* path, tree_node** out)
{
    tree_node* node = root;
    if (strcmp(path, "cells") == 0 || strcmp(path, "tessellation") == 0)
    {
        node = override_first_grid(root);
        node = !node && path[0] == 'c' ? override_first_solid(root) : node;
        if (!node)
        {
            return override_error(o, "the scene has no grid whose %s could be set", path);
        }
    }
    for (char* word = path; word;)
    {
        char* dot = strchr(word, '.');
        if (dot)
        {
            *dot = '\0';
        }
        if (word[0] == '\0')
        {
            return override_error(o, "the path has an empty part; expected for example `cloth.0.material.bending`");
        }
        TRY(override_descend(o, node, word, &node));
        word = dot ? dot + 1 : NULL;
    }
    *out = node;
    return WEFT_OK;
}

static void override_mark(const override* o, tree_node* node)
{
    node->origin = o->text;
    for (tree_node* child = node->first; child; child = child->next)
    {
        override_mark(o, child);
    }
}

static weft_status override_value(const override* o, const char* text, tree_node** out)
{
    tree* t = &o->r->scene->tree;
    weft_status status = tree_parse_value(t, text, out);
    if (status == WEFT_BAD_INPUT)
    {
        *out = tree_new(t, TREE_STRING);
        char* copy = tree_strdup(t, text);
        if (!*out || !copy)
        {
            return read_no_memory(o->r);
        }
        (*out)->string = copy;
        status = WEFT_OK;
    }
    if (status != WEFT_OK)
    {
        return read_no_memory(o->r);
    }
    override_mark(o, *out);
    return WEFT_OK;
}

weft_status override_apply(const scene_reader* r, tree_node* root, const char* text)
{
    override o = {r, tree_strdup(&r->scene->tree, text)};
    char* path = tree_strdup(&r->scene->tree, text);
    if (!o.text || !path)
    {
        return read_no_memory(r);
    }
    if (!text_is_utf8(text))
    {
        return override_error(&o, "the text is not valid UTF-8");
    }
    char* equals = strchr(path, '=');
    if (!equals || equals == path)
    {
        return override_error(&o, "expected PATH=VALUE, for example `time_step=0.001`");
    }
    *equals = '\0';
    tree_node *node = NULL, *value = NULL;
    TRY(override_value(&o, equals + 1, &value));
    TRY(override_find(&o, root, path, &node));
    tree_assign(node, value);
    return WEFT_OK;
}
