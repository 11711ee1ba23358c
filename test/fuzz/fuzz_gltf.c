// glTF files, .gltf or .glb by how they begin: read, posed, made a mesh.
#include "fuzz/fuzz.h"

#include <string.h>

#include "scene/gltf_file.h"

int fuzz_gltf(const uint8_t* data, size_t size)
{
    const char* path = fuzz_put(size >= 4 && memcmp(data, "glTF", 4) == 0 ? "a.glb" : "a.gltf", data, size);
    fuzz_begin();
    gltf_body* body = NULL;
    weft_error error;
    gltf_options options = {.animation_number = size & 1 ? 0 : -1};
    if (gltf_body_read(path, &options, &body, &error) == WEFT_OK)
    {
        vec3* x = MEM_NEW(body->vertex_count, vec3);
        if (x)
        {
            gltf_pose(body, 0.5 * (body->begin + body->end), x);
            gltf_pose_loop(body, body->end + 0.05, 0.1, x);
        }
        mem_free(x);
        mesh m = {0};
        gltf_mesh(body, path, body->begin, &m, &error);
        mesh_finish(&m);
    }
    gltf_body_destroy(body);
    fuzz_end();
    return 0;
}
