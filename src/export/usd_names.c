// Names that faces have in USD: objects, groups and materials are GeomSubsets of the Mesh; those of materials are bound
// to the Materials of /run/Looks, which say no more than a name.
#include <string.h>

#include "export/usd.h"

// ---- identifiers

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_taken(char* const* name, int count, const char* wanted)
{
    for (int k = 0; k < count; k++)
    {
        if (strcmp(name[k], wanted) == 0)
        {
            return true;
        }
    }
    return false;
}

char* usd_identifier(char* const* others, int count, const char* words)
{
    size_t size = strlen(words) + 16;
    char* name = MEM_NEW(size, char);
    if (!name)
    {
        return NULL;
    }
    size_t length = 0;
    if (words[0] == '\0' || is_digit(words[0]))
    {
        name[length++] = '_';
    }
    for (const char* c = words; *c; c++)
    {
        if (((unsigned char)*c & 0xc0) != 0x80) // characters of several bytes become one
        {
            name[length++] = is_letter(*c) || is_digit(*c) ? *c : '_';
        }
    }
    for (int k = 2; is_taken(others, count, name); k++)
    {
        snprintf(name + length, size - length, "_%d", k);
    }
    return name;
}

// ---- materials

static int look_of(const usd_looks* looks, const char* material)
{
    int k = 0;
    while (k < looks->count && strcmp(looks->material[k], material) != 0)
    {
        k++;
    }
    return k;
}

bool usd_looks_find(const export_job* job, usd_looks* out)
{
    int capacity = 0;
    *out = (usd_looks){0};
    for (int body = 0; body < job->body_count; body++)
    {
        const weft_names* names = &export_topology(job, body, 0)->materials;
        for (int k = 0; k < names->count && names->faces; k++)
        {
            if (look_of(out, names->names[k]) < out->count)
            {
                continue;
            }
            if (!mem_grow((void**)&out->material, &capacity, out->count + 1, sizeof(char*)))
            {
                return false;
            }
            out->material[out->count++] = names->names[k];
        }
    }
    out->prim = MEM_NEW(int_max(out->count, 1), char*);
    bool room = out->prim != NULL;
    for (int k = 0; k < out->count && room; k++)
    {
        out->prim[k] = usd_identifier(out->prim, k, out->material[k]);
        room = out->prim[k] != NULL;
    }
    return room;
}

void usd_looks_finish(usd_looks* looks)
{
    for (int k = 0; k < looks->count && looks->prim; k++)
    {
        mem_free(looks->prim[k]);
    }
    mem_free(looks->prim);
    mem_free(looks->material);
}

static const char* told(const char* name, const char* prim)
{
    return strcmp(name, prim) != 0 ? name : NULL;
}

void usd_put_looks(const usd_looks* looks, const usd_encoding* encoding, void* to)
{
    if (looks->count == 0)
    {
        return;
    }
    encoding->prim(to, &(usd_prim){"Scope", "Looks", NULL, NULL});
    for (int k = 0; k < looks->count; k++)
    {
        const char* prim = looks->prim[k];
        encoding->prim(to, &(usd_prim){"Material", prim, told(looks->material[k], prim), NULL});
        encoding->prim_end(to);
    }
    encoding->prim_end(to);
}

// ---- faces

typedef struct subset_writer
{
    const usd_looks* looks;
    const usd_encoding* encoding;
    void* to;
    char** prims; // [names of all layers] made so far
    int made;
} subset_writer;

static void put_token(const subset_writer* w, const char* name, const char* token)
{
    const usd_attribute a = {.type = "token", .name = name, .uniform = true};
    w->encoding->attribute(w->to, &a);
    w->encoding->value(w->to, &(usd_value){USD_TOKEN, 1, &token});
    w->encoding->attribute_end(w->to);
}

static void put_subset(const subset_writer* w, int layer, const char* name, const char* prim, const int* face,
                       int count)
{
    bool bound = layer == LAYER_MATERIAL;
    w->encoding->prim(w->to, &(usd_prim){"GeomSubset", prim, told(name, prim), bound ? "MaterialBindingAPI" : NULL});
    put_token(w, "elementType", "face");
    put_token(w, "familyName", bound ? "materialBind" : export_layer_word[layer]);
    w->encoding->attribute(w->to, &(usd_attribute){.type = "int[]", .name = "indices"});
    w->encoding->value(w->to, &(usd_value){USD_INTS, count, face});
    w->encoding->attribute_end(w->to);
    if (bound)
    {
        w->encoding->relation(w->to, "material:binding", "Looks", w->looks->prim[look_of(w->looks, name)]);
    }
    w->encoding->prim_end(w->to);
}

static weft_status put_layer(subset_writer* w, const weft_cache_body* body, int layer, weft_error* error)
{
    const weft_names* names = export_layer(body, layer);
    export_faces faces;
    TRY(export_faces_make(names, body->face_count, &faces, error));
    bool room = true;
    for (int k = 0; k < names->count && faces.face && room; k++)
    {
        int count = faces.start[k + 1] - faces.start[k];
        if (count > 0)
        {
            char* prim = usd_identifier(w->prims, w->made, names->names[k]);
            room = prim != NULL;
            w->prims[w->made] = prim;
            w->made += room;
            room ? put_subset(w, layer, names->names[k], prim, faces.face + faces.start[k], count) : (void)0;
        }
    }
    export_faces_finish(&faces);
    return room ? WEFT_OK : error_set(error, WEFT_NO_MEMORY, NULL, 0, "no memory for the names of faces");
}

// Faces keep their numbers where cloth tears.
weft_status usd_put_subsets(const export_job* job, int body, const usd_looks* looks, const usd_encoding* encoding,
                            void* to, weft_error* error)
{
    const weft_cache_body* shape = export_names_for_all(job, body);
    int count = shape ? shape->objects.count + shape->groups.count + shape->materials.count : 0;
    if (count == 0 || shape->lines)
    {
        return WEFT_OK;
    }
    subset_writer w = {looks, encoding, to, MEM_NEW(count, char*), 0};
    weft_status status =
        w.prims ? WEFT_OK : error_set(error, WEFT_NO_MEMORY, NULL, 0, "no memory for the names of faces");
    for (int layer = 0; layer < LAYER_COUNT && status == WEFT_OK; layer++)
    {
        status = put_layer(&w, shape, layer, error);
    }
    for (int k = 0; k < w.made; k++)
    {
        mem_free(w.prims[k]);
    }
    mem_free(w.prims);
    return status;
}
