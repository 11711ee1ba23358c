// Alembic archives, as recordings of a body: opened, posed, made a mesh.
#include "fuzz/fuzz.h"
#include "mesh/abc_file.h"

int fuzz_abc(const uint8_t* data, size_t size)
{
    const char* path = fuzz_put("a.abc", data, size);
    fuzz_begin();
    abc_body* body = NULL;
    weft_error error;
    if (abc_body_open(path, NULL, &body, &error) == WEFT_OK)
    {
        mesh m = {0};
        vec3* x = MEM_NEW(abc_body_vertex_count(body), vec3);
        for (int k = 0; k < 3 && x; k++)
        {
            abc_body_pose(body, 0.5 * k * abc_body_length(body), x, &error);
        }
        abc_body_mesh(body, path, &m, &error);
        mesh_finish(&m);
        mem_free(x);
    }
    abc_body_destroy(body);
    fuzz_end();
    return 0;
}
