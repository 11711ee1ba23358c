// Files of tetrahedra: the first byte says of which mesher; TetGen's two files are apart by a line "%%%".
#define _GNU_SOURCE
#include "fuzz/fuzz.h"

#include <string.h>

#include "mesh/mesh.h"

int fuzz_tets(const uint8_t* data, size_t size)
{
    if (size < 1)
    {
        return 0;
    }
    const uint8_t *text = data + 1, *end = data + size;
    const char* path;
    if (data[0] == 'm' || data[0] == 'v')
    {
        path = fuzz_put(data[0] == 'm' ? "a.msh" : "a.vtk", text, (size_t)(end - text));
    }
    else
    {
        const uint8_t* cut = memmem(text, (size_t)(end - text), "\n%%%\n", 5);
        fuzz_put("a.ele", cut ? cut + 5 : end, cut ? (size_t)(end - cut) - 5 : 0);
        path = fuzz_put("a.node", text, (size_t)((cut ? cut + 1 : end) - text));
    }
    fuzz_begin();
    mesh m = {0};
    weft_error error;
    mesh_from_tets(path, &m, &error);
    mesh_finish(&m);
    fuzz_end();
    return 0;
}
