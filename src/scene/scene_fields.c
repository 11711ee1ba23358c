// Reading typed values from a tree by tables of keys, with errors that say where, what was expected and what to do.
#include <string.h>

#include "scene/scene_data.h"

enum
{
    FIELDS_MAX = 96
};

// "file:line:column: path: message" for the file, "override `a.b=c`: message" for an override.
static weft_status read_error_at(const scene_reader* r, const tree_node* node, bool at_key, const char* format,
                                 va_list arguments)
{
    char message[700];
    print_text_list(message, sizeof(message), format, arguments);
    if (node->origin)
    {
        return error_set(r->error, WEFT_BAD_INPUT, r->scene->file, 0, "override `%.200s`: %s", node->origin, message);
    }
    char path[256];
    tree_path(node, path, sizeof(path));
    error_set(r->error, WEFT_BAD_INPUT, r->scene->file, at_key ? node->key_line : node->line, "%s%s%s", path,
              path[0] ? ": " : "", message);
    if (r->error)
    {
        r->error->column = at_key ? node->key_column : node->column;
    }
    return WEFT_BAD_INPUT;
}

weft_status read_error(const scene_reader* r, const tree_node* node, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    weft_status status = read_error_at(r, node, false, format, arguments);
    va_end(arguments);
    return status;
}

weft_status read_error_key(const scene_reader* r, const tree_node* node, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    weft_status status = read_error_at(r, node, true, format, arguments);
    va_end(arguments);
    return status;
}

weft_status read_no_memory(const scene_reader* r)
{
    return error_set(r->error, WEFT_NO_MEMORY, r->scene->file, 0, "there is no memory for the scene");
}

weft_status read_wrong_kind(const scene_reader* r, const tree_node* node, const char* expected)
{
    example shown;
    if (!example_find(node, &shown))
    {
        return read_error(r, node, "expected %s, found %s", expected, tree_kind_text(node->kind));
    }
    return read_error(r, node, "expected %s, found %s; for example %s%s%s%s", expected, tree_kind_text(node->kind),
                      shown.text, shown.unit ? " (" : "", shown.unit ? shown.unit : "", shown.unit ? ")" : "");
}

enum
{
    NUMBER_SIZE = 32
};

// As people write it: whole numbers with all their digits, as far as they are exact.
static const char* number_text(double value, char text[NUMBER_SIZE])
{
    bool whole = value == floor(value) && fabs(value) < 1e16;
    print_text(text, NUMBER_SIZE, whole ? "%.0f" : "%g", value);
    return text;
}

static weft_status check_limits(const scene_reader* r, const tree_node* node, const field* limits, double value)
{
    double minimum = limits->minimum, maximum = limits->maximum;
    bool any = minimum == 0.0 && maximum == 0.0;
    bool inside = limits->above ? value > minimum && value <= maximum : value >= minimum && value <= maximum;
    if (any || inside)
    {
        return WEFT_OK;
    }
    char least[NUMBER_SIZE], most[NUMBER_SIZE], given[NUMBER_SIZE];
    number_text(minimum, least);
    number_text(maximum, most);
    number_text(value, given);
    if (maximum < HUGE_VAL)
    {
        return read_error(r, node, "must be %s %s and at most %s, not %s", limits->above ? "above" : "at least", least,
                          most, given);
    }
    if (limits->above && minimum == 0.0)
    {
        return read_error(r, node, "must be positive, not %s", given);
    }
    if (minimum == 0.0)
    {
        return read_error(r, node, "must not be negative, but is %s", given);
    }
    return read_error(r, node, "must be %s %s, not %s", limits->above ? "above" : "at least", least, given);
}

weft_status read_number(const scene_reader* r, const tree_node* node, const field* limits, double* out)
{
    if (node->kind != TREE_NUMBER)
    {
        return read_wrong_kind(r, node, "a number");
    }
    TRY(check_limits(r, node, limits, node->number));
    *out = node->number;
    return WEFT_OK;
}

weft_status read_int(const scene_reader* r, const tree_node* node, const field* limits, int* out)
{
    if (node->kind != TREE_NUMBER)
    {
        return read_wrong_kind(r, node, "a whole number");
    }
    if (node->number != floor(node->number))
    {
        return read_error(r, node, "must be a whole number, not %g", node->number);
    }
    TRY(check_limits(r, node, limits, node->number));
    *out = (int)node->number;
    return WEFT_OK;
}

weft_status read_vec3(const scene_reader* r, const tree_node* node, vec3* out)
{
    if (node->kind != TREE_ARRAY)
    {
        return read_wrong_kind(r, node, "a list of three numbers [x, y, z]");
    }
    if (node->child_count != 3)
    {
        return read_error(r, node, "expected three numbers [x, y, z], found %d", node->child_count);
    }
    static const field any = {.key = ""};
    double value[3];
    const tree_node* child = node->first;
    for (int k = 0; k < 3; k++, child = child->next)
    {
        TRY(read_number(r, child, &any, &value[k]));
    }
    *out = v3(value[0], value[1], value[2]);
    return WEFT_OK;
}

weft_status read_direction(const scene_reader* r, const tree_node* node, vec3* out)
{
    TRY(read_vec3(r, node, out));
    double length = v3_length(*out);
    if (!(length > 0.0) || !isfinite(length))
    {
        return read_error(r, node, "must be a direction, whose length is neither zero nor beyond all numbers");
    }
    return WEFT_OK;
}

weft_status read_truth(const scene_reader* r, const tree_node* node, int* out)
{
    *out = node->kind == TREE_BOOL && node->truth;
    return node->kind == TREE_BOOL ? WEFT_OK : read_wrong_kind(r, node, "true or false");
}

weft_status read_string(const scene_reader* r, const tree_node* node, const char** out)
{
    if (node->kind != TREE_STRING)
    {
        return read_wrong_kind(r, node, "a string");
    }
    *out = node->string;
    return WEFT_OK;
}

weft_status read_array(const scene_reader* r, const tree_node* node)
{
    if (node->kind == TREE_OBJECT)
    {
        return read_error(r, node, "expected a list [...], found an object: put [ ] around it");
    }
    return node->kind == TREE_ARRAY ? WEFT_OK : read_wrong_kind(r, node, "a list [...]");
}

// "a, b, c", cut when it does not fit.
static void join_words(const char* const* words, int count, char* out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (int k = 0; k < count && used < size; k++)
    {
        used += (size_t)snprintf(out + used, size - used, "%s%s", k > 0 ? ", " : "", words[k]);
    }
}

weft_status read_unknown_name(const scene_reader* r, const tree_node* node, const char* what, const char* name,
                              const char* const* names, int count)
{
    const char* near = suggest_name(name, names, count);
    if (near)
    {
        return read_error(r, node, "there is no %s `%.60s`, did you mean `%s`?", what, name, near);
    }
    char known[400];
    join_words(names, count, known, sizeof(known));
    return read_error(r, node, "there is no %s `%.60s`; there is %s", what, name, known[0] ? known : "none at all");
}

weft_status read_choice(const scene_reader* r, const tree_node* node, const char* const* words, int count, int* out)
{
    const char* word = "";
    TRY(read_string(r, node, &word));
    for (int k = 0; k < count; k++)
    {
        if (strcmp(word, words[k]) == 0)
        {
            *out = k;
            return WEFT_OK;
        }
    }
    char known[400];
    join_words(words, count, known, sizeof(known));
    const char* near = suggest_name(word, words, count);
    return read_error(r, node, "unknown name `%.60s`%s%s%s; known: %s", word, near ? ", did you mean `" : "",
                      near ? near : "", near ? "`?" : "", known);
}

static weft_status unknown_key(const scene_reader* r, const tree_node* child, const field* fields, int count)
{
    const char* names[FIELDS_MAX];
    WEFT_ASSERT(count <= FIELDS_MAX);
    for (int k = 0; k < count; k++)
    {
        names[k] = fields[k].key;
    }
    const char* near = suggest_name(child->key, names, count);
    if (!near && child->origin && !child->parent->parent)
    {
        // Overrides know two short names more.
        static const char* const short_names[] = {"cells", "tessellation"};
        near = suggest_name(child->key, short_names, 2);
    }
    if (near)
    {
        return read_error_key(r, child, "unknown key `%.60s`, did you mean `%s`?", child->key, near);
    }
    char known[500];
    join_words(names, count, known, sizeof(known));
    return read_error_key(r, child, "unknown key `%.60s`; keys here: %s", child->key, known);
}

static weft_status read_field(const scene_reader* r, const tree_node* node, const field* f, void* place)
{
    switch (f->kind)
    {
    case FIELD_NUMBER:
        return read_number(r, node, f, place);
    case FIELD_INT:
        return read_int(r, node, f, place);
    case FIELD_VEC3:
        return read_vec3(r, node, place);
    case FIELD_STRING:
        return read_string(r, node, place);
    case FIELD_NODE:
        *(const tree_node**)place = node;
        return WEFT_OK;
    }
    return WEFT_OK;
}

weft_status read_fields(const scene_reader* r, const tree_node* node, const field* fields, int count, void* out)
{
    if (node->kind != TREE_OBJECT)
    {
        return read_wrong_kind(r, node, "an object {...}");
    }
    for (const tree_node* child = node->first; child; child = child->next)
    {
        const field* found = NULL;
        for (int k = 0; k < count && !found; k++)
        {
            found = strcmp(child->key, fields[k].key) == 0 ? &fields[k] : NULL;
        }
        if (!found)
        {
            return unknown_key(r, child, fields, count);
        }
        TRY(read_field(r, child, found, (char*)out + found->offset));
    }
    return WEFT_OK;
}
