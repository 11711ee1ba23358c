// Nodes of a JSON tree: making, finding, naming.
#include <string.h>

#include "scene/tree.h"

enum
{
    SLAB_NODES = 512,
    PATH_DEPTH = 64 // levels that a path in a message shows
};

void tree_finish(tree* t)
{
    arena_finish(&t->memory);
    *t = (tree){0};
}

tree_node* tree_new(tree* t, tree_kind kind)
{
    if (t->slab_left == 0)
    {
        t->slab = ARENA_NEW(&t->memory, SLAB_NODES, tree_node);
        if (!t->slab)
        {
            return NULL;
        }
        t->slab_left = SLAB_NODES;
    }
    t->slab_left--;
    tree_node* node = t->slab++;
    *node = (tree_node){.kind = kind};
    return node;
}

char* tree_strdup(tree* t, const char* text)
{
    size_t size = strlen(text) + 1;
    char* copy = arena_push(&t->memory, size, 1);
    return copy ? memcpy(copy, text, size) : NULL;
}

void tree_append(tree_node* parent, tree_node* child)
{
    child->parent = parent;
    child->next = NULL;
    if (parent->last)
    {
        parent->last->next = child;
    }
    else
    {
        parent->first = child;
    }
    parent->last = child;
    parent->child_count++;
}

void tree_assign(tree_node* node, const tree_node* value)
{
    tree_node place = *node;
    *node = *value;
    node->parent = place.parent;
    node->next = place.next;
    node->key = place.key;
    node->key_line = place.key_line;
    node->key_column = place.key_column;
    for (tree_node* child = node->first; child; child = child->next)
    {
        child->parent = node;
    }
}

tree_node* tree_member(const tree_node* object, const char* key)
{
    if (object->kind != TREE_OBJECT)
    {
        return NULL;
    }
    for (tree_node* child = object->first; child; child = child->next)
    {
        if (strcmp(child->key, key) == 0)
        {
            return child;
        }
    }
    return NULL;
}

tree_node* tree_at(const tree_node* array, int index)
{
    tree_node* child = array->first;
    for (int k = 0; child && k < index; k++)
    {
        child = child->next;
    }
    return index < 0 ? NULL : child;
}

const char* tree_kind_text(tree_kind kind)
{
    static const char* const texts[] = {"null", "true or false", "a number", "a string", "a list", "an object"};
    return texts[kind];
}

static int tree_index(const tree_node* node)
{
    int index = 0;
    for (const tree_node* child = node->parent->first; child != node; child = child->next)
    {
        index++;
    }
    return index;
}

void tree_path(const tree_node* node, char* out, size_t size)
{
    // From the root down: collect the way up first.
    const tree_node* way[PATH_DEPTH];
    int depth = 0;
    for (; node && node->parent && depth < PATH_DEPTH; node = node->parent)
    {
        way[depth++] = node;
    }
    out[0] = '\0';
    size_t used = 0;
    while (depth > 0 && used < size)
    {
        const tree_node* step = way[--depth];
        const char* dot = used > 0 ? "." : "";
        int length = step->key ? snprintf(out + used, size - used, "%s%.100s", dot, step->key)
                               : snprintf(out + used, size - used, "%s%d", dot, tree_index(step));
        used += (size_t)length;
    }
}
