// JSON by jansson. The library checks the grammar but forgets where values stand; a walk over the text, side by side
// with the parsed document (whose objects keep the order of the file), gives every node its line and column.
#include <jansson.h>
#include <string.h>

#include "scene/tree.h"

// Where the walk stands in text that is known to be valid JSON.
typedef struct walk
{
    const char* at;
    int line, column;
} walk;

static void walk_advance(walk* w)
{
    if (*w->at == '\n')
    {
        w->line++;
        w->column = 1;
    }
    else if (((unsigned char)*w->at & 0xC0) != 0x80)
    {
        w->column++;
    }
    w->at++;
}

// Moves over spaces and the marks between values.
static void walk_to_token(walk* w)
{
    while (*w->at != '\0' && strchr(" \t\r\n,:", *w->at))
    {
        walk_advance(w);
    }
}

static void walk_over_string(walk* w)
{
    walk_advance(w);
    while (*w->at != '\0' && *w->at != '"')
    {
        if (*w->at == '\\')
        {
            walk_advance(w);
        }
        walk_advance(w);
    }
    walk_advance(w);
}

static void walk_over_scalar(walk* w)
{
    if (*w->at == '"')
    {
        walk_over_string(w);
        return;
    }
    while (*w->at != '\0' && !strchr(" \t\r\n,:]}", *w->at))
    {
        walk_advance(w);
    }
}

static bool convert_scalar(tree* t, json_t* value, tree_node* node)
{
    switch (json_typeof(value))
    {
    case JSON_STRING:
        node->kind = TREE_STRING;
        node->string = tree_strdup(t, json_string_value(value));
        return node->string != NULL;
    case JSON_INTEGER:
    case JSON_REAL:
        node->kind = TREE_NUMBER;
        node->number = json_number_value(value);
        return true;
    case JSON_TRUE:
    case JSON_FALSE:
        node->kind = TREE_BOOL;
        node->truth = json_is_true(value);
        return true;
    default:
        node->kind = TREE_NULL;
        return true;
    }
}

static tree_node* convert(tree* t, walk* w, json_t* value);

static bool convert_member(tree* t, walk* w, const char* key, json_t* value, tree_node* object)
{
    walk_to_token(w);
    int line = w->line, column = w->column;
    walk_over_string(w);
    tree_node* child = convert(t, w, value);
    if (!child)
    {
        return false;
    }
    child->key = tree_strdup(t, key);
    child->key_line = line;
    child->key_column = column;
    tree_append(object, child);
    return child->key != NULL;
}

static bool convert_children(tree* t, walk* w, json_t* value, tree_node* node)
{
    walk_advance(w);
    if (json_is_object(value))
    {
        node->kind = TREE_OBJECT;
        const char* key;
        json_t* member;
        json_object_foreach(value, key, member)
        {
            if (!convert_member(t, w, key, member, node))
            {
                return false;
            }
        }
    }
    else
    {
        node->kind = TREE_ARRAY;
        for (size_t k = 0; k < json_array_size(value); k++)
        {
            tree_node* child = convert(t, w, json_array_get(value, k));
            if (!child)
            {
                return false;
            }
            tree_append(node, child);
        }
    }
    walk_to_token(w);
    walk_advance(w);
    return true;
}

// The depth of the recursion is bounded by the parser's own limit. NULL: no memory.
static tree_node* convert(tree* t, walk* w, json_t* value)
{
    tree_node* node = tree_new(t, TREE_NULL);
    if (!node)
    {
        return NULL;
    }
    walk_to_token(w);
    node->line = w->line;
    node->column = w->column;
    if (json_is_object(value) || json_is_array(value))
    {
        return convert_children(t, w, value, node) ? node : NULL;
    }
    walk_over_scalar(w);
    return convert_scalar(t, value, node) ? node : NULL;
}

// True when the parser stopped at a closing bracket that stands behind a comma.
static bool is_trailing_comma(const char* text, const json_error_t* report)
{
    if (report->position <= 1 || (text[report->position - 1] != ']' && text[report->position - 1] != '}'))
    {
        return false;
    }
    int k = report->position - 2;
    while (k > 0 && strchr(" \t\r\n", text[k]))
    {
        k--;
    }
    return text[k] == ',';
}

static weft_status parse_error(const char* file, const char* text, const json_error_t* report, weft_error* error)
{
    if (json_error_code(report) == json_error_out_of_memory)
    {
        return error_set(error, WEFT_NO_MEMORY, file, 0, "there is no memory to parse the file");
    }
    int line = int_max(report->line, 0);
    if (is_trailing_comma(text, report))
    {
        error_set(error, WEFT_BAD_INPUT, file, line, "a comma stands before the closing bracket; remove it");
    }
    else if (json_error_code(report) == json_error_null_character)
    {
        error_set(error, WEFT_BAD_INPUT, file, line, "a string holds the character \\u0000; remove it");
    }
    else if (report->position > 0 && text[report->position - 1] == '\'')
    {
        error_set(error, WEFT_BAD_INPUT, file, line, "JSON takes double quotes: write \"...\" instead of '...'");
    }
    else
    {
        error_set(error, WEFT_BAD_INPUT, file, line, "not valid JSON: %s", report->text);
    }
    if (error)
    {
        error->column = int_max(report->column, 0);
    }
    return WEFT_BAD_INPUT;
}

static bool is_obj_name(const char* file)
{
    size_t length = strlen(file);
    return length > 4 && (strcmp(file + length - 4, ".obj") == 0 || strcmp(file + length - 4, ".OBJ") == 0);
}

static weft_status check_text(const char* file, char* text, size_t size, weft_error* error)
{
    if (is_obj_name(file))
    {
        const char* slash = strrchr(file, '/');
        return error_set(error, WEFT_BAD_INPUT, file, 0,
                         "this looks like an OBJ file, not a scene; save {\"cloth\": [{\"mesh\": {\"obj\": "
                         "\"%.200s\"}}]} beside it as a .json file, the least scene, and name that",
                         slash ? slash + 1 : file);
    }
    int64_t value_count;
    TRY(text_blank(file, text, size, &value_count, error));
    if (strspn(text, " \t\r\n") == size)
    {
        return error_set(error, WEFT_BAD_INPUT, file, 1,
                         "the file is empty; the least scene is {\"cloth\": [{\"mesh\": {\"obj\": \"FILE.obj\"}}]}");
    }
    if (value_count > SCENE_VALUES_MAX)
    {
        return error_set(error, WEFT_BAD_INPUT, file, 0,
                         "the file holds more than %d values; a scene names its meshes as OBJ files instead",
                         SCENE_VALUES_MAX);
    }
    return WEFT_OK;
}

weft_status tree_parse(tree* t, const char* file, char* text, size_t size, tree_node** out, weft_error* error)
{
    TRY(check_text(file, text, size, error));
    json_error_t report = {0};
    json_t* document = json_loadb(text, size, JSON_REJECT_DUPLICATES, &report);
    if (!document)
    {
        return parse_error(file, text, &report, error);
    }
    walk w = {text, 1, 1};
    *out = convert(t, &w, document);
    json_decref(document);
    return *out ? WEFT_OK : error_set(error, WEFT_NO_MEMORY, file, 0, "there is no memory to hold the scene");
}

// Nodes of a value outside a file have no place in one.
static void forget_places(tree_node* node)
{
    node->line = node->column = node->key_line = node->key_column = 0;
    for (tree_node* child = node->first; child; child = child->next)
    {
        forget_places(child);
    }
}

weft_status tree_parse_value(tree* t, const char* text, tree_node** out)
{
    json_error_t report = {0};
    json_t* document = json_loads(text, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &report);
    if (!document)
    {
        return json_error_code(&report) == json_error_out_of_memory ? WEFT_NO_MEMORY : WEFT_BAD_INPUT;
    }
    walk w = {text, 1, 1};
    *out = convert(t, &w, document);
    json_decref(document);
    if (!*out)
    {
        return WEFT_NO_MEMORY;
    }
    forget_places(*out);
    return WEFT_OK;
}
