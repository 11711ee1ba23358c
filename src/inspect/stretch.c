// The largest strain of cloth: the largest principal stretch of a triangle against its rest shape, less 1. With the
// rest edges as coordinates (1, 0) and (0, 1), G0 and G the metrics at rest and now, the squares of the principal
// stretches are the eigenvalues of G0^-1 G. Triangles without area at rest are left out. Lengths are scaled by powers
// of two, so that nothing overflows.
#include "inspect/frame.h"

typedef struct metric
{
    double aa, ab, bb;
} metric;

static metric metric_of(const vec3* x, const int* c, double scale)
{
    vec3 a = v3_scale(scale, v3_sub(x[c[1]], x[c[0]])), b = v3_scale(scale, v3_sub(x[c[2]], x[c[0]]));
    return (metric){v3_dot(a, a), v3_dot(a, b), v3_dot(b, b)};
}

// -1 without area at rest.
static double principal_stretch(metric rest, metric now)
{
    double det0 = rest.aa * rest.bb - rest.ab * rest.ab;
    if (!(det0 > 1e-15 * rest.aa * rest.bb) || !isfinite(det0))
    {
        return -1.0;
    }
    double det = now.aa * now.bb - now.ab * now.ab;
    double half_trace = 0.5 * (rest.bb * now.aa - 2.0 * rest.ab * now.ab + rest.aa * now.bb) / det0;
    return sqrt(fmax(half_trace, 0.0) + sqrt(fmax(half_trace * half_trace - det / det0, 0.0)));
}

double max_strain_find(const inspect_frame* f)
{
    const inspect_model* m = f->model;
    double largest = -1.0;
    for (int t = 0; t < m->triangle_count; t++)
    {
        if (f->left_out[t] || triangle_is_obstacle(m, t) || !m->has_rest[m->body_of[t]])
        {
            continue;
        }
        const int* c = m->triangles + 3 * (size_t)t;
        metric rest = metric_of(m->rest, c, m->rest_scale), now = metric_of(f->x, c, f->scale);
        largest = fmax(largest, principal_stretch(rest, now));
    }
    return largest < 0.0 ? NAN : largest * (m->rest_scale / f->scale) - 1.0;
}
