// Small glTF files that a test puts together: see common_gltf.c.
#ifndef WEFT_TEST_COMMON_GLTF_H
#define WEFT_TEST_COMMON_GLTF_H

#include "scene/gltf_file.h"

typedef struct gltf_builder
{
    unsigned char bytes[8192];
    int size;
    char views[4096], accessors[8192]; // without their brackets
    int accessor_count;
} gltf_builder;

extern gltf_builder made;

void gltf_begin(void);
void gltf_append(char* text, size_t size, const char* format, ...) __attribute__((format(printf, 3, 4)));
// An accessor over bytes of its own, and its number; more: keys of the accessor, with a comma before them.
int gltf_add_bytes(const void* data, int size, int component, int count, const char* type, int stride,
                   const char* more);
int gltf_add_floats(const float* x, int count, const char* type, int width);
int gltf_add_shorts(const uint16_t* x, int count);
// The JSON of what was added; rest: scenes, nodes, meshes and so on. uri: with its quotes, or NULL.
const char* gltf_json(const char* rest, const char* uri);
void gltf_write(const char* name, const char* rest); // with made.bin
void gltf_write_data_uri(const char* name, const char* rest);
size_t gltf_glb(const char* rest, char* out);                  // the size of what it writes there
gltf_body* gltf_read(const char* name, const char* animation); // must succeed
gltf_body* gltf_make(const char* rest, const char* animation); // writes and reads

#endif
