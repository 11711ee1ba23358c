// Principal stretches of a triangle. With its rest edges as coordinates (1, 0) and (0, 1), G0 and G the metrics at rest
// and now, their squares are the eigenvalues of G0^-1 G. They do not depend on how a sheet is cut into triangles.
#ifndef WEFT_METRIC_H
#define WEFT_METRIC_H

#include "math/vec.h"

typedef struct metric
{
    double aa, ab, bb; // of the edges a and b that leave one corner
} metric;

static inline metric metric_of(vec3 a, vec3 b)
{
    return (metric){v3_dot(a, a), v3_dot(a, b), v3_dot(b, b)};
}

// The largest one; -1 without area at rest.
static inline double metric_stretch(metric rest, metric now)
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

#endif
