// Sewing patterns: read, and their panels triangulated and sewn.
#include "fuzz/fuzz.h"
#include "mesh/sewing_pattern.h"
#include "scene/pattern_read.h"

int fuzz_pattern(const uint8_t* data, size_t size)
{
    const char* path = fuzz_put("a.json", data, size);
    fuzz_begin();
    sewing_pattern p = {0};
    mesh m = {0};
    stitch_pairs pairs = {0};
    weft_error error;
    if (pattern_read(path, &p, &error) == WEFT_OK)
    {
        mesh_from_pattern(&p, 0.1, &m, &pairs, &error);
    }
    mem_free(pairs.vertex);
    mesh_finish(&m);
    pattern_finish(&p);
    fuzz_end();
    return 0;
}
