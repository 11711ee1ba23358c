// USD in the crate encoding: what the text says, as values of the container. Each value of a sample is written as it
// comes; an attribute's spec and list of samples at its end, a prim's spec at its end, when its properties and children
// are known.
#include "export/crate.h"
#include "export/usd.h"

enum
{
    DEPTH = 5, // the root, run, body or scope, faces or material, and one
    PREPENDED = 0x20,
    EXPLICIT = 0x03 // and it has items
};

typedef struct open_prim
{
    int path, type, told, schema; // tokens, but told, a string; -1: none
    crate_list properties, children;
} open_prim;

typedef struct layer
{
    crate c;
    open_prim open[DEPTH];
    int depth; // of the prim that is being written; 0 is the root
    usd_attribute attribute;
    bool has_value;
    uint64_t value;
    double* code; // [sample_count]
    uint64_t* sample;
    int sample_count, code_capacity, sample_capacity;
} layer;

// ---- values

static uint64_t put_array(layer* l, crate_type type, int64_t count)
{
    if (count == 0)
    {
        return crate_array(type, 0);
    }
    crate_align(&l->c);
    int64_t where = l->c.size;
    crate_put_words(&l->c, &(uint64_t){(uint64_t)count}, 1);
    return crate_array(type, where);
}

static uint64_t put_floats(layer* l, crate_type type, const usd_value* value, int size)
{
    uint64_t array = put_array(l, type, value->count);
    crate_put_floats(&l->c, value->of, (int64_t)value->count * size);
    return array;
}

static uint64_t put_tokens(layer* l, const usd_value* value)
{
    const char* const* words = value->of;
    crate_list tokens = {0};
    for (int k = 0; k < value->count; k++)
    {
        crate_push(&l->c, &tokens, crate_token(&l->c, words[k]));
    }
    uint64_t array = put_array(l, CRATE_TOKEN, tokens.count);
    crate_put_ints(&l->c, tokens.at, tokens.count);
    crate_list_finish(&tokens);
    return array;
}

static uint64_t put_matrix(layer* l, const double* values)
{
    crate_align(&l->c);
    int64_t where = l->c.size;
    crate_put_doubles(&l->c, values, 16);
    return crate_value(CRATE_MATRIX4D, where);
}

static uint64_t put_value(layer* l, const usd_value* value)
{
    switch (value->kind)
    {
    case USD_BOOL:
        return crate_inline(CRATE_BOOL, *(const int*)value->of != 0);
    case USD_TOKEN:
        return crate_inline(CRATE_TOKEN, (uint32_t)crate_token(&l->c, *(const char* const*)value->of));
    case USD_TOKENS:
        return put_tokens(l, value);
    case USD_INTS:
    {
        uint64_t array = put_array(l, CRATE_INT, value->count);
        crate_put_ints(&l->c, value->of, value->count);
        return array;
    }
    case USD_FLOATS:
        return put_floats(l, CRATE_FLOAT, value, 1);
    case USD_FLOAT2S:
        return put_floats(l, CRATE_VEC2F, value, 2);
    case USD_FLOAT3S:
        return put_floats(l, CRATE_VEC3F, value, 3);
    case USD_MATRIX:
        return put_matrix(l, value->of);
    }
    return 0;
}

static uint64_t put_double(layer* l, double value)
{
    crate_align(&l->c);
    int64_t where = l->c.size;
    crate_put_doubles(&l->c, &value, 1);
    return crate_value(CRATE_DOUBLE, where);
}

static uint64_t token_value(layer* l, const char* words)
{
    return crate_inline(CRATE_TOKEN, (uint32_t)crate_token(&l->c, words));
}

// What a list edits, as a head and the list.
static uint64_t put_list(layer* l, crate_type type, unsigned char head, int item)
{
    int64_t where = l->c.size;
    crate_put(&l->c, &head, 1);
    crate_put_words(&l->c, &(uint64_t){1}, 1);
    crate_put_ints(&l->c, &item, 1);
    return crate_value(type, where);
}

static uint64_t put_token_vector(layer* l, const crate_list* tokens)
{
    crate_align(&l->c);
    int64_t where = l->c.size;
    crate_put_words(&l->c, &(uint64_t){(uint64_t)tokens->count}, 1);
    crate_put_ints(&l->c, tokens->at, tokens->count);
    return crate_value(CRATE_TOKEN_VECTOR, where);
}

// The name, {"name": told}: a count, then the key and, behind how far it is away, the value.
static uint64_t put_told(layer* l, int told)
{
    int key = crate_string(&l->c, "name");
    int64_t where = l->c.size;
    crate_put_words(&l->c, &(uint64_t){1}, 1);
    crate_put_ints(&l->c, &key, 1);
    crate_put_words(&l->c, (uint64_t[]){8, crate_inline(CRATE_STRING, (uint32_t)told)}, 2);
    return crate_value(CRATE_DICTIONARY, where);
}

// Times, then values; before each stands how far it is away.
static uint64_t put_samples(layer* l)
{
    crate_align(&l->c);
    int64_t times = l->c.size;
    crate_put_words(&l->c, &(uint64_t){(uint64_t)l->sample_count}, 1);
    crate_put_doubles(&l->c, l->code, l->sample_count);
    int64_t where = l->c.size;
    crate_put_words(&l->c, (uint64_t[]){8, crate_value(CRATE_DOUBLE_VECTOR, times), 8, (uint64_t)l->sample_count}, 4);
    crate_put_words(&l->c, l->sample, l->sample_count);
    return crate_value(CRATE_TIME_SAMPLES, where);
}

// ---- attributes

static void crate_attribute(void* to, const usd_attribute* attribute)
{
    layer* l = to;
    l->attribute = *attribute;
    l->has_value = false;
    l->sample_count = 0;
}

static void crate_default(void* to, const usd_value* value)
{
    layer* l = to;
    l->value = put_value(l, value);
    l->has_value = true;
}

static void crate_sample(void* to, int code, const usd_value* value)
{
    layer* l = to;
    int count = l->sample_count + 1;
    if (!mem_grow((void**)&l->code, &l->code_capacity, count, sizeof(double)) ||
        !mem_grow((void**)&l->sample, &l->sample_capacity, count, sizeof(uint64_t)))
    {
        l->c.no_memory = true;
        return;
    }
    l->code[count - 1] = code;
    l->sample[count - 1] = put_value(l, value);
    l->sample_count = count;
}

// The path of a property of the prim that is being written.
static int add_property(layer* l, const char* name)
{
    open_prim* prim = &l->open[l->depth];
    crate_push(&l->c, &prim->properties, crate_token(&l->c, name));
    return crate_child(&l->c, prim->path, name, true);
}

static void crate_attribute_end(void* to)
{
    layer* l = to;
    const usd_attribute* a = &l->attribute;
    int path = add_property(l, a->name);
    crate_field(&l->c, "typeName", token_value(l, a->type));
    if (a->uniform)
    {
        crate_field(&l->c, "variability", crate_inline(CRATE_VARIABILITY, 1));
    }
    if (a->interpolation)
    {
        crate_field(&l->c, "interpolation", token_value(l, a->interpolation));
    }
    if (l->has_value)
    {
        crate_field(&l->c, "default", l->value);
    }
    if (l->sample_count > 0)
    {
        crate_field(&l->c, "timeSamples", put_samples(l));
    }
    crate_spec(&l->c, path, CRATE_ATTRIBUTE);
}

static void crate_relation(void* to, const char* name, const char* looks, const char* look)
{
    layer* l = to;
    int path = add_property(l, name), run = l->open[1].path;
    int target = crate_child(&l->c, crate_child(&l->c, run, looks, false), look, false);
    crate_field(&l->c, "variability", crate_inline(CRATE_VARIABILITY, 1));
    crate_field(&l->c, "targetPaths", put_list(l, CRATE_PATH_LIST, EXPLICIT, target));
    crate_spec(&l->c, path, CRATE_RELATIONSHIP);
}

// ---- prims

static void put_children(layer* l, open_prim* prim)
{
    if (prim->properties.count > 0)
    {
        crate_field(&l->c, "properties", put_token_vector(l, &prim->properties));
    }
    if (prim->children.count > 0)
    {
        crate_field(&l->c, "primChildren", put_token_vector(l, &prim->children));
    }
    prim->properties.count = prim->children.count = 0;
}

static void crate_prim(void* to, const usd_prim* prim)
{
    layer* l = to;
    WEFT_ASSERT(l->depth + 1 < DEPTH);
    open_prim *up = &l->open[l->depth], *own = &l->open[++l->depth];
    crate_push(&l->c, &up->children, crate_token(&l->c, prim->name));
    own->path = crate_child(&l->c, up->path, prim->name, false);
    own->type = crate_token(&l->c, prim->type);
    own->told = prim->told ? crate_string(&l->c, prim->told) : -1;
    own->schema = prim->schema ? crate_token(&l->c, prim->schema) : -1;
}

static void crate_prim_end(void* to)
{
    layer* l = to;
    open_prim* prim = &l->open[l->depth--];
    crate_field(&l->c, "specifier", crate_inline(CRATE_SPECIFIER, 0));
    crate_field(&l->c, "typeName", crate_inline(CRATE_TOKEN, (uint32_t)prim->type));
    if (prim->schema >= 0)
    {
        crate_field(&l->c, "apiSchemas", put_list(l, CRATE_TOKEN_LIST, PREPENDED, prim->schema));
    }
    if (prim->told >= 0)
    {
        crate_field(&l->c, "customData", put_told(l, prim->told));
    }
    put_children(l, prim);
    crate_spec(&l->c, prim->path, CRATE_PRIM);
}

// The first token is the name of a field, as the negative of none could name a property.
static void crate_head(void* to, const usd_head* head)
{
    layer* l = to;
    crate* c = &l->c;
    crate_field(c, "defaultPrim", token_value(l, head->prim));
    l->open[0].path = crate_child(c, 0, "", false);
    crate_field(c, "documentation", crate_inline(CRATE_STRING, (uint32_t)crate_string(c, head->doc)));
    crate_field(c, "endTimeCode", put_double(l, head->last));
    crate_field(c, "framesPerSecond", put_double(l, head->rate));
    crate_field(c, "metersPerUnit", put_double(l, head->meters));
    crate_field(c, "startTimeCode", put_double(l, head->first));
    crate_field(c, "timeCodesPerSecond", put_double(l, head->rate));
    crate_field(c, "upAxis", token_value(l, head->up));
    put_children(l, &(open_prim){.children = {.at = (int[]){crate_token(c, head->prim)}, .count = 1}});
    crate_spec(c, l->open[0].path, CRATE_ROOT);
}

static const usd_encoding crate_encoding = {crate_head,    crate_prim,   crate_prim_end,      crate_attribute,
                                            crate_default, crate_sample, crate_attribute_end, crate_relation};

static void layer_finish(layer* l)
{
    for (int k = 0; k < DEPTH; k++)
    {
        crate_list_finish(&l->open[k].properties);
        crate_list_finish(&l->open[k].children);
    }
    mem_free(l->code);
    mem_free(l->sample);
    crate_finish(&l->c);
}

weft_status usdc_write(export_job* job, whole_file* file, int64_t start, const char* target, weft_error* error)
{
    layer l = {0};
    crate_begin(&l.c, file, start);
    weft_status status = usd_write(job, &crate_encoding, &l, error);
    status = status == WEFT_OK ? crate_end(&l.c, target, error) : status;
    layer_finish(&l);
    return status;
}

weft_status export_usdc(export_job* job, const char* target, weft_error* error)
{
    whole_file file;
    TRY(whole_file_open(&file, target, error));
    weft_status status = usdc_write(job, &file, 0, target, error);
    if (status != WEFT_OK)
    {
        whole_file_abandon(&file);
        return status;
    }
    return whole_file_close(&file, error);
}
