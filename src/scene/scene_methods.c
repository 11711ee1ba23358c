// Settings of methods in scene files: {"newton": {"tolerance": 1e-7}}, a block by the name of each method that has
// some. Read, written and put into the schema by loops over what methods declare.
#include <string.h>

#include "scene/json_writer.h"
#include "scene/scene_data.h"
#include "step/step.h"

const time_method* scene_method_at(int index)
{
    for (const method_row* row = method_table; row->method; row++)
    {
        if (method_setting_count(row->method) > 0 && index-- == 0)
        {
            return row->method;
        }
    }
    return NULL;
}

// ---- reading and writing

typedef struct setting_values
{
    double number[WEFT_SETTING_MAX];
    int whole[WEFT_SETTING_MAX];
} setting_values;

// A block of settings that has all of the method's values, or keeps those of def.
static weft_status block_read(const scene_reader* r, const tree_node* node, const time_method* method,
                              weft_sim_def* def)
{
    field fields[WEFT_SETTING_MAX];
    setting_values values;
    int count = method_setting_count(method), first = method_setting_find(method->name, NULL);
    WEFT_ASSERT(first + count <= WEFT_SETTING_MAX);
    for (int k = 0; k < count; k++)
    {
        const method_setting* s = &method->settings[k];
        size_t offset = s->whole ? offsetof(setting_values, whole) + (size_t)k * sizeof(int)
                                 : offsetof(setting_values, number) + (size_t)k * sizeof(double);
        fields[k] = (field){s->name, s->whole ? FIELD_INT : FIELD_NUMBER, offset, s->minimum, s->maximum, s->above};
        values.number[k] = def->settings[first + k];
        values.whole[k] = s->whole ? (int)def->settings[first + k] : 0;
    }
    TRY(read_fields(r, node, fields, count, &values));
    for (int k = 0; k < count; k++)
    {
        def->settings[first + k] = method->settings[k].whole ? values.whole[k] : values.number[k];
    }
    return WEFT_OK;
}

weft_status scene_method_read(const scene_reader* r, const tree_node* node, const time_method* method)
{
    return block_read(r, node, method, &r->scene->def);
}

// ---- of one body

static weft_status choices_take(const scene_reader* r, const tree_node* node, const time_method* method,
                                scene_cloth* cloth)
{
    weft_sim_def own = r->scene->def;
    TRY(block_read(r, node, method, &own));
    for (const method_setting* s = method->settings; s->name; s++)
    {
        if (tree_member(node, s->name))
        {
            double value = weft_sim_def_get(&own, method->name, s->name);
            cloth->settings[cloth->setting_count++] = (weft_choice){method->name, s->name, value};
        }
    }
    return WEFT_OK;
}

weft_status scene_choices_read(const scene_reader* r, const tree_node* node, scene_cloth* cloth)
{
    const tree_node* blocks[METHODS_MAX] = {NULL};
    field fields[METHODS_MAX];
    int count = 0;
    for (; scene_method_at(count); count++)
    {
        WEFT_ASSERT(count < METHODS_MAX);
        fields[count] =
            (field){scene_method_at(count)->name, FIELD_NODE, (size_t)count * sizeof(blocks[0]), ANY_NUMBER};
    }
    TRY(read_fields(r, node, fields, count, blocks));
    cloth->settings = MEM_NEW(WEFT_SETTING_MAX, weft_choice);
    if (!cloth->settings)
    {
        return read_no_memory(r);
    }
    for (int k = 0; k < count; k++)
    {
        TRY(blocks[k] ? choices_take(r, blocks[k], scene_method_at(k), cloth) : WEFT_OK);
    }
    return WEFT_OK;
}

// Those of a method stand together, as they were read.
void scene_choices_write(writer* w, const scene_cloth* cloth)
{
    const weft_choice* c = cloth->settings;
    cloth->setting_count > 0 ? write_open(w, "settings", "{") : (void)0;
    for (int k = 0; k < cloth->setting_count; k++)
    {
        bool first = k == 0 || c[k - 1].method != c[k].method;
        bool last = k + 1 == cloth->setting_count || c[k + 1].method != c[k].method;
        first ? write_open(w, c[k].method, "{") : (void)0;
        write_number(w, c[k].name, c[k].value);
        last ? write_close(w, "}") : (void)0;
    }
    cloth->setting_count > 0 ? write_close(w, "}") : (void)0;
}

void scene_methods_write(writer* w, const weft_sim_def* def)
{
    const time_method* method;
    for (int k = 0, at = 0; (method = scene_method_at(k)) != NULL; k++)
    {
        write_open(w, method->name, "{");
        for (int s = 0; s < method_setting_count(method); s++)
        {
            write_number(w, method->settings[s].name, def->settings[at++]);
        }
        write_close(w, "}");
    }
}

// ---- examples

static bool method_example(const char* path, const time_method* method, example* out)
{
    out->unit = NULL;
    size_t length = strlen(method->name);
    if (strncmp(path, method->name, length) != 0 || (path[length] != '\0' && path[length] != '.'))
    {
        return false;
    }
    for (const method_setting* s = method->settings; s->name; s++)
    {
        if (path[length] == '\0')
        {
            print_text(out->text, sizeof(out->text), "{\"%s\": %g}", s->name, s->value);
            return true;
        }
        if (strcmp(path + length + 1, s->name) == 0)
        {
            print_text(out->text, sizeof(out->text), "%g", s->value);
            out->unit = s->unit;
            return true;
        }
    }
    return false;
}

bool scene_method_example(const char* path, example* out)
{
    const time_method* method;
    for (int k = 0; (method = scene_method_at(k)) != NULL; k++)
    {
        if (method_example(path, method, out))
        {
            return true;
        }
    }
    return false;
}

// ---- the schema

// Text that grows up to a size, and counts what it would be.
typedef struct schema_text
{
    char* out;
    size_t size, used;
} schema_text;

static void put(schema_text* t, const char* text, size_t length)
{
    for (size_t k = 0; k < length; k++, t->used++)
    {
        if (t->used + 1 < t->size)
        {
            t->out[t->used] = text[k];
        }
    }
}

static void put_setting(schema_text* t, const method_setting* s, bool last)
{
    char line[600], most[48] = "";
    if (s->maximum < HUGE_VAL)
    {
        print_text(most, sizeof(most), "\"maximum\": %.9g, ", s->maximum);
    }
    int length = print_text(
        line, sizeof(line),
        "        \"%s\": {\"type\": \"%s\", \"%s\": %.9g, %s\"default\": %.9g, \"description\": \"%s%s%s.\"}%s\n",
        s->name, s->whole ? "integer" : "number", s->above ? "exclusiveMinimum" : "minimum", s->minimum, most, s->value,
        s->summary, s->unit ? ", " : "", s->unit ? s->unit : "", last ? "" : ",");
    put(t, line, (size_t)length);
}

static void put_references(schema_text* t, const char* indent, bool ends)
{
    const time_method* method;
    for (int k = 0; (method = scene_method_at(k)) != NULL; k++)
    {
        char line[256];
        int length = snprintf(line, sizeof(line), "%s\"%s\": {\"$ref\": \"#/$defs/%s\"}%s\n", indent, method->name,
                              method->name, ends && !scene_method_at(k + 1) ? "" : ",");
        put(t, line, (size_t)length);
    }
}

// What bodies have of their own.
static void put_choices(schema_text* t)
{
    static const char head[] = "    \"settings\": {\n      \"type\": \"object\",\n"
                               "      \"description\": \"Of methods, instead of the scene's.\",\n"
                               "      \"additionalProperties\": false,\n      \"properties\": {\n";
    static const char tail[] = "      }\n    },\n";
    put(t, head, sizeof(head) - 1);
    put_references(t, "        ", true);
    put(t, tail, sizeof(tail) - 1);
}

static void put_blocks(schema_text* t)
{
    const time_method* method;
    for (int k = 0; (method = scene_method_at(k)) != NULL; k++)
    {
        char head[256];
        int length =
            snprintf(head, sizeof(head),
                     "    \"%s\": {\n      \"type\": \"object\",\n      \"description\": \"Of the method %s.\",\n"
                     "      \"additionalProperties\": false,\n      \"properties\": {\n",
                     method->name, method->name);
        put(t, head, (size_t)length);
        int count = method_setting_count(method);
        for (int s = 0; s < count; s++)
        {
            put_setting(t, &method->settings[s], s + 1 == count);
        }
        static const char tail[] = "      }\n    },\n";
        put(t, tail, sizeof(tail) - 1);
    }
}

// Where the text goes on behind a piece that it has.
static const char* behind(const char* text, const char* piece)
{
    const char* at = strstr(text, piece);
    WEFT_ASSERT(at); // scenes/schema.json is ours
    return at + strlen(piece);
}

// What the shipped file has of methods stands between what it has of solvers and of step control, among its keys and
// among its definitions.
size_t scene_schema_write(const char* shipped, char* out, size_t size)
{
    schema_text t = {out, size, 0};
    const char* keys = behind(shipped, "    \"solver\": {\"$ref\": \"#/$defs/solver\"},\n");
    const char* after_keys = strstr(keys, "    \"step_control\": {\"$ref\"");
    const char* blocks = behind(behind(after_keys, "\n    \"sa\": {\n"), "\n    },\n");
    const char* after_blocks = strstr(blocks, "    \"step_control\": {\n");
    WEFT_ASSERT(after_keys && after_blocks);
    put(&t, shipped, (size_t)(keys - shipped));
    put_references(&t, "    ", false);
    put(&t, after_keys, (size_t)(blocks - after_keys));
    put_blocks(&t);
    put_choices(&t);
    put(&t, after_blocks, strlen(after_blocks));
    if (size > 0)
    {
        out[t.used < size ? t.used : size - 1] = '\0';
    }
    return t.used;
}
