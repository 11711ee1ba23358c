// The largest strain of cloth: the largest principal stretch of a triangle against its rest shape, less 1. Triangles
// without area at rest are left out. Lengths are scaled by powers of two, so that nothing overflows.
#include "inspect/frame.h"
#include "math/metric.h"

static metric triangle_metric(const vec3* x, const int* c, double scale)
{
    return metric_of(v3_scale(scale, v3_sub(x[c[1]], x[c[0]])), v3_scale(scale, v3_sub(x[c[2]], x[c[0]])));
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
        metric rest = triangle_metric(m->rest, c, m->rest_scale), now = triangle_metric(f->x, c, f->scale);
        largest = fmax(largest, metric_stretch(rest, now));
    }
    return largest < 0.0 ? NAN : largest * (m->rest_scale / f->scale) - 1.0;
}
