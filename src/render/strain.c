// Stretch of a mesh against its rest shape, as one number a vertex: the largest principal stretch of each triangle less
// one, averaged over the triangles around a vertex. It does not depend on how the mesh is cut into triangles.
#include "math/metric.h"
#include "render/picture.h"

// A triangle without area at rest counts as unstretched.
static double largest_stretch(const vec3* rest, const vec3* x, const int* c)
{
    metric at_rest = metric_of(v3_sub(rest[c[1]], rest[c[0]]), v3_sub(rest[c[2]], rest[c[0]]));
    double stretch = metric_stretch(at_rest, metric_of(v3_sub(x[c[1]], x[c[0]]), v3_sub(x[c[2]], x[c[0]])));
    return stretch < 0.0 ? 1.0 : stretch;
}

weft_status weft_render_strain(const weft_vec3* rest, const weft_vec3* positions, int vertex_count,
                               const int* triangles, int triangle_count, double* out)
{
    WEFT_ASSERT(vertex_count >= 0 && triangle_count >= 0);
    WEFT_ASSERT((rest && positions && out) || vertex_count == 0);
    int* count = MEM_NEW(vertex_count, int);
    if (!count)
    {
        return WEFT_NO_MEMORY;
    }
    for (int v = 0; v < vertex_count; v++)
    {
        out[v] = 0.0;
    }
    for (int t = 0; t < triangle_count; t++)
    {
        const int* c = triangles + 3 * (size_t)t;
        double stretch = largest_stretch(rest, positions, c);
        for (int k = 0; k < 3; k++)
        {
            out[c[k]] += stretch - 1.0;
            count[c[k]]++;
        }
    }
    for (int v = 0; v < vertex_count; v++)
    {
        out[v] = count[v] > 0 ? out[v] / count[v] : 0.0;
    }
    mem_free(count);
    return WEFT_OK;
}
