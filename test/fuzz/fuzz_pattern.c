// Sewing patterns: read, and their panels triangulated and sewn. Of most the triangles are as long as a twentieth of the
// pattern, as people choose them: a changed coordinate makes panels of kilometres, which are much time and nothing new.
#include "fuzz/fuzz.h"

#include <math.h>

#include "core/core.h"
#include "mesh/sewing_pattern.h"
#include "scene/pattern_read.h"

static double size_of(const sewing_pattern* p)
{
    double size = 0.0;
    for (int k = 0; k < p->panel_count; k++)
    {
        const pattern_panel* panel = &p->panel[k];
        for (int j = 0; j < panel->corner_count; j++)
        {
            size = fmax(size, fmax(fabs(panel->corner[j].x), fabs(panel->corner[j].y)));
        }
        for (int j = 0; j < panel->edge_count; j++)
        {
            size = fmax(size, panel->edge[j].kind == CURVE_ARC ? panel->edge[j].radius : 0.0);
        }
    }
    return size;
}

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
        double edge = hash_bytes(0, data, size) % 32 == 0 ? 0.1 : fmin(fmax(0.05 * size_of(&p), 1e-3), 1e6);
        mesh_from_pattern(&p, edge, &m, &pairs, &error);
    }
    mem_free(pairs.vertex);
    mesh_finish(&m);
    pattern_finish(&p);
    fuzz_end();
    return 0;
}
