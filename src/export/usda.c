// USD as text. Metadata have their place behind a value, which samples then override.
#include "export/usd.h"

typedef struct layer
{
    export_text* text;
    usd_attribute attribute; // that is being written
    int depth;               // of the prim that is being written; 0: none
    bool fresh;              // nothing is in it yet
    bool sampled;            // the attribute has samples
} layer;

static void put(layer* l, const char* words)
{
    export_text_put(l->text, words);
}

static void indent(layer* l, int more)
{
    for (int k = 0; k < l->depth + more; k++)
    {
        put(l, "    ");
    }
}

// ---- values

static void put_tuples(layer* l, const double* values, int count, int size)
{
    for (int k = 0; k < count; k++)
    {
        put(l, k > 0 ? ", (" : "(");
        for (int c = 0; c < size; c++)
        {
            put(l, c > 0 ? ", " : "");
            export_text_number(l->text, values[(size_t)k * (size_t)size + (size_t)c]);
        }
        put(l, ")");
    }
}

static void put_matrix(layer* l, const double* values)
{
    for (int k = 0; k < 16; k++)
    {
        char number[40];
        print_text(number, sizeof(number), "%.17g", values[k]);
        put(l, k == 0 ? "( (" : k % 4 == 0 ? "), (" : ", ");
        put(l, number);
    }
    put(l, ") )");
}

static void put_words(layer* l, const char* const* words, int count)
{
    for (int k = 0; k < count; k++)
    {
        put(l, k > 0 ? ", " : "");
        export_text_quoted(l->text, words[k]);
    }
}

static void put_ints(layer* l, const int* values, int count)
{
    for (int k = 0; k < count; k++)
    {
        put(l, k > 0 ? ", " : "");
        export_text_int(l->text, values[k]);
    }
}

static void put_floats(layer* l, const double* values, int count)
{
    for (int k = 0; k < count; k++)
    {
        put(l, k > 0 ? ", " : "");
        export_text_number(l->text, values[k]);
    }
}

static void put_value(layer* l, const usd_value* value)
{
    bool array = value->kind >= USD_TOKENS && value->kind != USD_MATRIX;
    put(l, array ? "[" : "");
    switch (value->kind)
    {
    case USD_TOKEN:
    case USD_TOKENS:
        put_words(l, value->of, value->count);
        break;
    case USD_BOOL:
    case USD_INTS:
        put_ints(l, value->of, value->count);
        break;
    case USD_FLOATS:
        put_floats(l, value->of, value->count);
        break;
    case USD_FLOAT2S:
        put_tuples(l, value->of, value->count, 2);
        break;
    case USD_FLOAT3S:
        put_tuples(l, value->of, value->count, 3);
        break;
    case USD_MATRIX:
        put_matrix(l, value->of);
        break;
    }
    put(l, array ? "]" : "");
}

// ---- attributes

static void text_attribute(void* to, const usd_attribute* attribute)
{
    layer* l = to;
    l->attribute = *attribute;
    l->fresh = l->sampled = false;
}

// Type and name, and what comes behind.
static void put_declaration(layer* l, const char* then)
{
    indent(l, 0);
    put(l, l->attribute.uniform ? "uniform " : "");
    put(l, l->attribute.type);
    put(l, " ");
    put(l, l->attribute.name);
    put(l, then);
}

static void text_value(void* to, const usd_value* value)
{
    layer* l = to;
    put_declaration(l, " = ");
    put_value(l, value);
    if (l->attribute.interpolation)
    {
        put(l, " (\n");
        indent(l, 1);
        put(l, "interpolation = ");
        export_text_quoted(l->text, l->attribute.interpolation);
        put(l, "\n");
        indent(l, 0);
        put(l, ")");
    }
    put(l, "\n");
}

static void text_sample(void* to, int code, const usd_value* value)
{
    layer* l = to;
    l->sampled ? (void)0 : put_declaration(l, ".timeSamples = {\n");
    l->sampled = true;
    indent(l, 1);
    export_text_int(l->text, code);
    put(l, ": ");
    put_value(l, value);
    put(l, ",\n");
}

static void text_attribute_end(void* to)
{
    layer* l = to;
    l->sampled ? indent(l, 0) : (void)0;
    put(l, l->sampled ? "}\n" : "");
}

static void text_relation(void* to, const char* name, const char* looks, const char* look)
{
    layer* l = to;
    const char* const words[] = {"rel ", name, " = </run/", looks, "/", look, ">\n"};
    indent(l, 0);
    for (size_t k = 0; k < sizeof(words) / sizeof(words[0]); k++)
    {
        put(l, words[k]);
    }
}

// ---- prims

static void put_metadata(layer* l, const usd_prim* prim)
{
    put(l, " (\n");
    if (prim->schema)
    {
        indent(l, 1);
        put(l, "prepend apiSchemas = [");
        export_text_quoted(l->text, prim->schema);
        put(l, "]\n");
    }
    if (prim->told)
    {
        indent(l, 1);
        put(l, "customData = {\n");
        indent(l, 2);
        put(l, "string name = ");
        export_text_quoted(l->text, prim->told);
        put(l, "\n");
        indent(l, 1);
        put(l, "}\n");
    }
    indent(l, 0);
    put(l, ")");
}

static void text_prim(void* to, const usd_prim* prim)
{
    layer* l = to;
    put(l, l->fresh ? "" : "\n");
    indent(l, 0);
    put(l, "def ");
    put(l, prim->type);
    put(l, " ");
    export_text_quoted(l->text, prim->name);
    prim->schema || prim->told ? put_metadata(l, prim) : (void)0;
    put(l, "\n");
    indent(l, 0);
    put(l, "{\n");
    l->depth++;
    l->fresh = true;
}

static void text_prim_end(void* to)
{
    layer* l = to;
    l->depth--;
    l->fresh = false;
    indent(l, 0);
    put(l, "}\n");
}

static void put_number(layer* l, const char* name, double value)
{
    put(l, "\n    ");
    put(l, name);
    put(l, " = ");
    export_text_number(l->text, value);
}

static void put_quoted(layer* l, const char* name, const char* words)
{
    put(l, "\n    ");
    put(l, name);
    put(l, " = ");
    export_text_quoted(l->text, words);
}

static void text_head(void* to, const usd_head* head)
{
    layer* l = to;
    put(l, "#usda 1.0\n(");
    put_quoted(l, "defaultPrim", head->prim);
    put_quoted(l, "doc", head->doc);
    put_number(l, "endTimeCode", head->last);
    put_number(l, "framesPerSecond", head->rate);
    put_number(l, "metersPerUnit", head->meters);
    put_number(l, "startTimeCode", head->first);
    put_number(l, "timeCodesPerSecond", head->rate);
    put_quoted(l, "upAxis", head->up);
    put(l, "\n)\n");
}

static const usd_encoding text_encoding = {text_head,  text_prim,   text_prim_end,      text_attribute,
                                           text_value, text_sample, text_attribute_end, text_relation};

weft_status export_usda(export_job* job, const char* target, weft_error* error)
{
    whole_file file;
    TRY(whole_file_open(&file, target, error));
    layer l = {.text = MEM_NEW(1, export_text)};
    weft_status status = l.text ? WEFT_OK : error_set(error, WEFT_NO_MEMORY, NULL, 0, "no memory to write the file");
    if (status == WEFT_OK)
    {
        l.text->file = &file;
        status = usd_write(job, &text_encoding, &l, error);
    }
    status == WEFT_OK ? export_text_flush(l.text) : (void)0;
    mem_free(l.text);
    if (status != WEFT_OK)
    {
        whole_file_abandon(&file);
        return status;
    }
    return whole_file_close(&file, error);
}
