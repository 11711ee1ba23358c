// glTF 2.0 as a file: JSON in a .gltf with buffers beside it or in data: URIs, or both in a .glb. Buffers are read when
// an accessor first asks for them, so that pictures need not be there.
//
//     GLB: "glTF", version, length; then chunks: length, type ("JSON", then "BIN\0"), bytes; all little-endian
#include "scene/gltf_file.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum
{
    GLB_HEADER = 12,
    CHUNK_HEADER = 8,
    CHUNK_JSON = 0x4E4F534A,
    CHUNK_BINARY = 0x004E4942
};

static const double values_max = 134217728.0; // numbers read from all accessors of a file: 1 GiB of them

weft_status gltf_wrong(const gltf_file* f, const tree_node* node, const char* format, ...)
{
    char message[600], path[200] = "";
    va_list arguments;
    va_start(arguments, format);
    print_text_list(message, sizeof(message), format, arguments);
    va_end(arguments);
    if (node)
    {
        tree_path(node, path, sizeof(path));
    }
    // The JSON inside a GLB has no lines that anybody sees.
    return error_set(f->error, WEFT_BAD_INPUT, f->path, node && !f->raw ? node->line : 0, "%s%s%s", path,
                     path[0] ? ": " : "", message);
}

weft_status gltf_no_memory(const gltf_file* f)
{
    return error_set(f->error, WEFT_NO_MEMORY, f->path, 0, "there is no memory to read the file");
}

// ---- values

weft_status gltf_get(const gltf_file* f, const tree_node* owner, const char* key, tree_kind kind, const tree_node** out)
{
    *out = tree_member(owner, key);
    return !*out || (*out)->kind == kind ? WEFT_OK
                                         : gltf_wrong(f, *out, "expected %s, found %s; export the file again",
                                                      tree_kind_text(kind), tree_kind_text((*out)->kind));
}

weft_status gltf_index_of(const gltf_file* f, const tree_node* node, const char* what, int count, int* out)
{
    if (!node || node->kind != TREE_NUMBER)
    {
        return gltf_wrong(f, node, "expected the number of one of the file's %s", what);
    }
    if (!(node->number >= 0.0 && node->number < count) || (double)(int)node->number != node->number)
    {
        return gltf_wrong(f, node, "there is no %g in the file's %d %s, counted from 0; export the file again",
                          node->number, count, what);
    }
    *out = (int)node->number;
    return WEFT_OK;
}

weft_status gltf_index(const gltf_file* f, const tree_node* owner, const char* key, int count, int* out)
{
    const tree_node* node = tree_member(owner, key);
    *out = -1;
    return node ? gltf_index_of(f, node, key, count, out) : WEFT_OK;
}

weft_status gltf_numbers(const gltf_file* f, const tree_node* owner, const char* key, int count, double* out,
                         bool* found)
{
    const tree_node* node = tree_member(owner, key);
    *found = node != NULL;
    if (!node)
    {
        return WEFT_OK;
    }
    if (node->kind != TREE_ARRAY || node->child_count != count)
    {
        return gltf_wrong(f, node, "expected a list of %d numbers", count);
    }
    for (const tree_node* child = node->first; child; child = child->next)
    {
        if (child->kind != TREE_NUMBER || !isfinite(child->number))
        {
            return gltf_wrong(f, child, "expected a number, found %s", tree_kind_text(child->kind));
        }
        *out++ = child->number;
    }
    return WEFT_OK;
}

const char* gltf_name(const tree_node* node)
{
    const tree_node* name = node && node->kind == TREE_OBJECT ? tree_member(node, "name") : NULL;
    return name && name->kind == TREE_STRING && name->string[0] ? name->string : NULL;
}

// A list at the top, of objects; as an array, since it is looked into by number.
static weft_status list_read(const gltf_file* f, const char* key, gltf_list* out)
{
    const tree_node* node;
    TRY(gltf_get(f, f->root, key, TREE_ARRAY, &node));
    if (!node || node->child_count == 0)
    {
        return WEFT_OK;
    }
    out->item = MEM_NEW(node->child_count, const tree_node*);
    if (!out->item)
    {
        return gltf_no_memory(f);
    }
    for (const tree_node* child = node->first; child; child = child->next)
    {
        if (child->kind != TREE_OBJECT)
        {
            return gltf_wrong(f, child, "expected an object, found %s", tree_kind_text(child->kind));
        }
        out->item[out->count++] = child;
    }
    return WEFT_OK;
}

// ---- buffers

static int base64_digit(char c)
{
    return c >= 'A' && c <= 'Z'   ? c - 'A'
           : c >= 'a' && c <= 'z' ? c - 'a' + 26
           : c >= '0' && c <= '9' ? c - '0' + 52
           : c == '+' || c == '-' ? 62
           : c == '/' || c == '_' ? 63
                                  : -1;
}

static weft_status data_uri_read(const gltf_file* f, const tree_node* uri, gltf_bytes* out)
{
    const char* comma = strchr(uri->string, ',');
    if (!comma || comma - uri->string < 7 || strncmp(comma - 7, ";base64", 7) != 0)
    {
        return gltf_wrong(f, uri, "a data: URI of a buffer is in base64, \"data:...;base64,...\"");
    }
    const char* at = comma + 1;
    out->owned = mem_raw(strlen(at) / 4 * 3 + 3, 1);
    if (!out->owned)
    {
        return gltf_no_memory(f);
    }
    unsigned bits = 0, held = 0;
    for (; *at && *at != '='; at++)
    {
        int digit = base64_digit(*at);
        if (digit < 0)
        {
            return gltf_wrong(f, uri,
                              "the data: URI has a character that is no base64 after %ld; export the file again",
                              (long)(at - comma - 1));
        }
        bits = (bits << 6 | (unsigned)digit) & 0xFFFFFF;
        held += 6;
        if (held >= 8)
        {
            held -= 8;
            out->owned[out->size++] = (unsigned char)(bits >> held);
        }
    }
    return WEFT_OK;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

// The file beside this one that a URI names, %20 and its like decoded. mem_free'd by the caller; NULL: no memory.
static char* uri_path(const char* path, const char* uri)
{
    const char* slash = strrchr(path, '/');
    size_t folder = slash && uri[0] != '/' ? (size_t)(slash - path) + 1 : 0;
    char* out = mem_alloc(folder + strlen(uri) + 1, 1);
    if (!out)
    {
        return NULL;
    }
    memcpy(out, path, folder);
    char* to = out + folder;
    while (*uri)
    {
        bool coded = uri[0] == '%' && hex_digit(uri[1]) >= 0 && hex_digit(uri[2]) >= 0;
        *to++ = coded ? (char)(16 * hex_digit(uri[1]) + hex_digit(uri[2])) : *uri;
        uri += coded ? 3 : 1;
    }
    return out;
}

static weft_status file_uri_read(const gltf_file* f, const tree_node* uri, gltf_bytes* out)
{
    if (strstr(uri->string, "://"))
    {
        return gltf_wrong(f, uri, "the buffer is at `%.200s`; put it beside the file and name it there", uri->string);
    }
    char* path = uri_path(f->path, uri->string);
    if (!path)
    {
        return gltf_no_memory(f);
    }
    weft_error reason = {0};
    void* bytes = NULL;
    weft_status status = file_read(path, &bytes, &out->size, &reason);
    out->owned = bytes;
    mem_free(path);
    return status == WEFT_OK          ? WEFT_OK
           : status == WEFT_NO_MEMORY ? gltf_no_memory(f)
                                      : gltf_wrong(f, uri, "the buffer `%.200s`, which belongs beside the file: %.200s",
                                                   uri->string, reason.message);
}

static weft_status buffer_load(gltf_file* f, const tree_node* node, int index, gltf_bytes* out)
{
    const tree_node *uri, *length;
    TRY(gltf_get(f, node, "uri", TREE_STRING, &uri));
    TRY(gltf_get(f, node, "byteLength", TREE_NUMBER, &length));
    if (uri)
    {
        TRY(strncmp(uri->string, "data:", 5) == 0 ? data_uri_read(f, uri, out) : file_uri_read(f, uri, out));
        out->data = out->owned;
    }
    else if (index > 0 || !f->chunk)
    {
        return gltf_wrong(f, node, "the buffer has no \"uri\"%s; export the file again",
                          f->raw ? " and the file no binary chunk" : "");
    }
    else
    {
        out->data = f->chunk;
        out->size = f->chunk_size;
    }
    if (!length || !(length->number >= 0.0) || length->number > (double)out->size)
    {
        return gltf_wrong(
            f, length ? length : node,
            "the buffer is to have %.17g bytes, and %zu are there: it is cut short; export the file again",
            length ? length->number : 0.0, out->size);
    }
    out->size = (size_t)length->number;
    return WEFT_OK;
}

weft_status gltf_buffer(gltf_file* f, int index, const gltf_bytes** out)
{
    gltf_bytes* b = &f->buffers[index];
    if (!b->loaded)
    {
        TRY(buffer_load(f, f->buffer_list.item[index], index, b));
        b->loaded = true;
    }
    *out = b;
    return WEFT_OK;
}

// ---- the whole

static uint32_t word_at(const unsigned char* at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

// The JSON chunk of a GLB as text of its own, and where the binary one is.
static weft_status glb_split(gltf_file* f, size_t size, char** text, size_t* text_size)
{
    if (size < GLB_HEADER + CHUNK_HEADER || word_at(f->raw + 8) > size)
    {
        return gltf_wrong(f, NULL,
                          "the GLB is cut short: its header states %u bytes, it has %zu; export or copy it again",
                          size >= GLB_HEADER ? word_at(f->raw + 8) : 0, size);
    }
    if (word_at(f->raw + 4) != 2)
    {
        return gltf_wrong(f, NULL, "this is GLB version %u; version 2 is read: export it as glTF 2.0",
                          word_at(f->raw + 4));
    }
    size_t end = word_at(f->raw + 8), at = GLB_HEADER;
    while (at + CHUNK_HEADER <= end)
    {
        size_t length = word_at(f->raw + at), from = at + CHUNK_HEADER;
        uint32_t type = word_at(f->raw + at + 4);
        if (length > end - from)
        {
            return gltf_wrong(f, NULL,
                              "the GLB is cut short: a chunk states %zu bytes where %zu are left; export it again",
                              length, end - from);
        }
        if (type == CHUNK_JSON && !*text)
        {
            *text = mem_raw(length + 1, 1);
            if (!*text)
            {
                return gltf_no_memory(f);
            }
            memcpy(*text, f->raw + from, length);
            (*text)[length] = '\0';
            *text_size = length;
        }
        else if (type == CHUNK_BINARY && !f->chunk)
        {
            f->chunk = f->raw + from;
            f->chunk_size = length;
        }
        at = from + (length + 3) / 4 * 4;
    }
    return *text ? WEFT_OK : gltf_wrong(f, NULL, "the GLB has no JSON chunk; export it again");
}

static weft_status text_of(gltf_file* f, char** text, size_t* size)
{
    void* bytes = NULL;
    size_t count = 0;
    TRY(file_read(f->path, &bytes, &count, f->error));
    if (count >= 4 && memcmp(bytes, "glTF", 4) == 0)
    {
        f->raw = bytes;
        return glb_split(f, count, text, size);
    }
    *text = mem_raw(count + 1, 1);
    if (*text)
    {
        memcpy(*text, bytes, count);
        (*text)[count] = '\0';
        *size = count;
    }
    mem_free(bytes);
    return *text ? WEFT_OK : gltf_no_memory(f);
}

// What changes where vertices are and is not read here.
static weft_status extensions_check(const gltf_file* f)
{
    static const char* const refused[] = {"KHR_draco_mesh_compression", "EXT_meshopt_compression"};
    const tree_node* list;
    TRY(gltf_get(f, f->root, "extensionsRequired", TREE_ARRAY, &list));
    for (const tree_node* item = list ? list->first : NULL; item; item = item->next)
    {
        for (int k = 0; k < 2 && item->kind == TREE_STRING; k++)
        {
            if (strcmp(item->string, refused[k]) == 0)
            {
                return gltf_wrong(f, item,
                                  "the file is compressed by %s, which is not read; export it without compression",
                                  refused[k]);
            }
        }
    }
    return WEFT_OK;
}

static weft_status version_check(const gltf_file* f)
{
    const tree_node *asset, *version = NULL;
    TRY(gltf_get(f, f->root, "asset", TREE_OBJECT, &asset));
    TRY(asset ? gltf_get(f, asset, "version", TREE_STRING, &version) : WEFT_OK);
    return version && strncmp(version->string, "2.", 2) == 0
               ? WEFT_OK
               : gltf_wrong(f, version ? version : asset, "this is %s%.20s; glTF 2.0 is read",
                            version ? "glTF version " : "no glTF: \"asset\": {\"version\": \"2.0\"} is missing",
                            version ? version->string : "");
}

static weft_status root_read(gltf_file* f)
{
    if (f->root->kind != TREE_OBJECT)
    {
        return gltf_wrong(f, NULL, "a glTF file is an object, {\"asset\": ...}; this is %s",
                          tree_kind_text(f->root->kind));
    }
    TRY(version_check(f));
    TRY(extensions_check(f));
    TRY(list_read(f, "nodes", &f->nodes));
    TRY(list_read(f, "meshes", &f->meshes));
    TRY(list_read(f, "accessors", &f->accessors));
    TRY(list_read(f, "bufferViews", &f->views));
    TRY(list_read(f, "buffers", &f->buffer_list));
    TRY(list_read(f, "skins", &f->skins));
    TRY(list_read(f, "animations", &f->animations));
    TRY(list_read(f, "scenes", &f->scenes));
    f->buffers = MEM_NEW(int_max(f->buffer_list.count, 1), gltf_bytes);
    return f->buffers ? WEFT_OK : gltf_no_memory(f);
}

weft_status gltf_open(const char* path, gltf_file* out, weft_error* error)
{
    *out = (gltf_file){.path = path, .error = error, .values_left = values_max};
    char* text = NULL;
    size_t size = 0;
    tree_node* root = NULL;
    weft_status status = text_of(out, &text, &size);
    if (status == WEFT_OK && strspn(text, " \t\r\n") == size)
    {
        status = gltf_wrong(out, NULL, "the file is empty; export it again");
    }
    status = status == WEFT_OK ? tree_parse(&out->tree, path, text, size, &root, error) : status;
    mem_free(text);
    out->root = root;
    return status == WEFT_OK ? root_read(out) : status;
}

void gltf_close(gltf_file* f)
{
    for (int k = 0; k < f->buffer_list.count && f->buffers; k++)
    {
        mem_free(f->buffers[k].owned);
    }
    gltf_list* const lists[] = {&f->nodes,       &f->meshes, &f->accessors,  &f->views,
                                &f->buffer_list, &f->skins,  &f->animations, &f->scenes};
    for (int k = 0; k < 8; k++)
    {
        mem_free((void*)lists[k]->item);
    }
    mem_free(f->buffers);
    mem_free(f->raw);
    tree_finish(&f->tree);
    *f = (gltf_file){0};
}
