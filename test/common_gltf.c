// Small glTF files that a test puts together: accessors over bytes of their own, written as .gltf with a .bin, with a
// data: URI, or as .glb into the test's scene folder.
#define _GNU_SOURCE
#include "common_gltf.h"

#include "common.h"

#include <stdio.h>
#include <string.h>

#include "common_scene.h"

gltf_builder made;

void gltf_append(char* text, size_t size, const char* format, ...)
{
    size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text + used, size - used, format, arguments);
    va_end(arguments);
    assert_true(length >= 0 && (size_t)length < size - used);
}

int gltf_add_bytes(const void* data, int size, int component, int count, const char* type, int stride, const char* more)
{
    memcpy(made.bytes + made.size, data, (size_t)size);
    const char* comma = made.accessor_count > 0 ? ", " : "";
    gltf_append(made.views, sizeof(made.views), "%s{\"buffer\": 0, \"byteOffset\": %d, \"byteLength\": %d", comma,
                made.size, size);
    gltf_append(made.views, sizeof(made.views), stride ? ", \"byteStride\": %d}" : "%.0d}", stride);
    gltf_append(made.accessors, sizeof(made.accessors),
                "%s{\"bufferView\": %d, \"componentType\": %d, \"count\": %d, \"type\": \"%s\"%s}", comma,
                made.accessor_count, component, count, type, more);
    made.size = (made.size + size + 3) / 4 * 4;
    return made.accessor_count++;
}

int gltf_add_floats(const float* x, int count, const char* type, int width)
{
    return gltf_add_bytes(x, 4 * count * width, 5126, count, type, 0, "");
}

int gltf_add_shorts(const uint16_t* x, int count)
{
    return gltf_add_bytes(x, 2 * count, 5123, count, "SCALAR", 0, "");
}

void gltf_begin(void)
{
    made = (gltf_builder){0};
}

const char* gltf_json(const char* rest, const char* uri)
{
    static char text[65536];
    text[0] = '\0';
    gltf_append(text, sizeof(text), "{\"asset\": {\"version\": \"2.0\"},\n%s,\n", rest);
    gltf_append(text, sizeof(text), "\"bufferViews\": [%s],\n\"accessors\": [%s],\n\"buffers\": [{\"byteLength\": %d",
                made.views, made.accessors, made.size);
    gltf_append(text, sizeof(text), uri ? ", \"uri\": %s}]}\n" : "%.0s}]}\n", uri ? uri : "");
    return text;
}

void gltf_write(const char* name, const char* rest)
{
    scene_write_bytes(scene_path("made.bin"), (const char*)made.bytes, (size_t)made.size);
    const char* text = gltf_json(rest, "\"made.bin\"");
    scene_write_bytes(scene_path(name), text, strlen(text));
}

static void put_word(char* at, uint32_t value)
{
    memcpy(at, &value, sizeof(value));
}

size_t gltf_glb(const char* rest, char* out)
{
    const char* text = gltf_json(rest, NULL);
    size_t length = strlen(text), padded = (length + 3) / 4 * 4;
    memcpy(out, "glTF", 4);
    put_word(out + 4, 2);
    put_word(out + 12, (uint32_t)padded);
    memcpy(out + 16, "JSON", 4);
    memset(out + 20, ' ', padded);
    memcpy(out + 20, text, length);
    put_word(out + 20 + padded, (uint32_t)made.size);
    memcpy(out + 24 + padded, "BIN\0", 4);
    memcpy(out + 28 + padded, made.bytes, (size_t)made.size);
    put_word(out + 8, (uint32_t)(28 + padded) + (uint32_t)made.size);
    return 28 + padded + (size_t)made.size;
}

void gltf_write_data_uri(const char* name, const char* rest)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    static char uri[16384];
    char* to = uri + sprintf(uri, "\"data:application/octet-stream;base64,");
    for (int k = 0; k < made.size; k += 3)
    {
        unsigned bits = (unsigned)made.bytes[k] << 16 | (unsigned)made.bytes[k + 1] << 8 | made.bytes[k + 2];
        for (int i = 0; i < 4; i++)
        {
            *to++ = k * 8 + 6 * i < 8 * made.size ? digits[bits >> (18 - 6 * i) & 63] : '=';
        }
    }
    strcpy(to, "\"");
    const char* text = gltf_json(rest, uri);
    scene_write_bytes(scene_path(name), text, strlen(text));
}

gltf_body* gltf_read(const char* name, const char* animation)
{
    gltf_body* body = NULL;
    weft_error error = {0};
    gltf_options options = {NULL, animation, -1};
    if (gltf_body_read(scene_path(name), &options, &body, &error) != WEFT_OK)
    {
        fail_msg("%s", error.message);
    }
    return body;
}

gltf_body* gltf_make(const char* rest, const char* animation)
{
    gltf_write("made.gltf", rest);
    return gltf_read("made.gltf", animation);
}
