// Stretch of a mesh against its rest shape, as one number a vertex: the largest principal stretch of each triangle less
// one, averaged over the triangles around a vertex. It does not depend on how the mesh is cut into triangles.
#include "render/picture.h"

// With rest edges as coordinates (1, 0) and (0, 1), G0 and G the metrics at rest and now, the squares of the principal
// stretches are the eigenvalues of G0^-1 G. A triangle without area at rest counts as unstretched.
static double largest_stretch(const vec3* rest, const vec3* x, const int* c)
{
    vec3 a0 = v3_sub(rest[c[1]], rest[c[0]]), b0 = v3_sub(rest[c[2]], rest[c[0]]);
    vec3 a = v3_sub(x[c[1]], x[c[0]]), b = v3_sub(x[c[2]], x[c[0]]);
    double aa0 = v3_dot(a0, a0), ab0 = v3_dot(a0, b0), bb0 = v3_dot(b0, b0), det0 = aa0 * bb0 - ab0 * ab0;
    double aa = v3_dot(a, a), ab = v3_dot(a, b), bb = v3_dot(b, b), det = aa * bb - ab * ab;
    if (!(det0 > 0.0))
    {
        return 1.0;
    }
    double half_trace = 0.5 * (bb0 * aa - 2.0 * ab0 * ab + aa0 * bb) / det0;
    return sqrt(half_trace + sqrt(fmax(half_trace * half_trace - det / det0, 0.0)));
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
