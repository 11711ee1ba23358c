// OBJ files, as sheets, as lines, as either, welded and not.
#include "fuzz/fuzz.h"
#include "mesh/mesh.h"

int fuzz_obj(const uint8_t* data, size_t size)
{
    if (size < 1)
    {
        return 0;
    }
    obj_options options = {.form = data[0] & 1 ? MESH_LINES : MESH_SHEET,
                           .any_form = (data[0] >> 1) & 1,
                           .keep_given = (data[0] >> 2) & 1,
                           .weld = data[0] & 8 ? 1e-3 : 0.0};
    const char* path = fuzz_put("a.obj", data + 1, size - 1);
    fuzz_begin();
    mesh m = {0};
    weft_error error;
    if (mesh_from_obj(path, &options, &m, &error) == WEFT_OK && m.form == MESH_SHEET)
    {
        mesh_triangulate(&m, &error);
    }
    mesh_finish(&m);
    fuzz_end();
    return 0;
}
