// Stretch of a mesh against its rest shape, as one number a vertex: per triangle the largest edge ratio |e| / |e0| - 1,
// averaged over the triangles around a vertex. An estimate for the eye, not the strain tensor's principal value.
#include "render/picture.h"

static double edge_ratio(const vec3* rest, const vec3* x, int a, int b)
{
    double length = v3_length(v3_sub(rest[b], rest[a]));
    return length > 0.0 ? v3_length(v3_sub(x[b], x[a])) / length : 1.0;
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
        double ratio = fmax(edge_ratio(rest, positions, c[0], c[1]),
                            fmax(edge_ratio(rest, positions, c[1], c[2]), edge_ratio(rest, positions, c[2], c[0])));
        for (int k = 0; k < 3; k++)
        {
            out[c[k]] += ratio - 1.0;
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
