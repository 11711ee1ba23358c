// What brings apart a start that crosses gives way to cloth that it has stretched far: where two places are drawn to
// sides that the cloth between them does not reach, nothing is gained by more, and the pull would have no end. Sides of
// triangles count by their length, all around a vertex together, so that a sliver, which any push makes many times as
// long, says no more than it weighs.
#include <string.h>

#include "step/step.h"

// Mean length of the sides around a vertex, over that at rest: from the first on less is pushed, from the second on
// nothing.
static const double yields_from = 1.5, yields_until = 3.0;

static weft_status reserve(world* w)
{
    int count = w->model->vertex_count;
    return mem_grow((void**)&w->yielding, &w->yielding_capacity, 2 * count, sizeof(double)) ? WEFT_OK : WEFT_NO_MEMORY;
}

weft_status world_find_yielding(world* w, const double** out)
{
    const model* m = w->model;
    const vec3* x = w->state.x;
    *out = NULL;
    if (w->state.contact.marks.count == 0)
    {
        return WEFT_OK;
    }
    TRY(reserve(w));
    double *length = w->yielding, *rest = w->yielding + m->vertex_count;
    memset(length, 0, 2 * (size_t)m->vertex_count * sizeof(double));
    for (int t = 0; t < m->triangle_count; t++)
    {
        const int* v = m->triangle + 3 * (size_t)t;
        const vec2* r = m->triangle_rest + 3 * (size_t)t;
        for (int k = 0; k < 3; k++)
        {
            int a = v[k], b = v[(k + 1) % 3];
            vec2 p = r[k], q = r[(k + 1) % 3];
            double now = v3_length(v3_sub(x[a], x[b])), once = hypot(p.x - q.x, p.y - q.y);
            length[a] += now;
            length[b] += now;
            rest[a] += once;
            rest[b] += once;
        }
    }
    for (int i = 0; i < m->vertex_count; i++)
    {
        double stretch = rest[i] > 0.0 ? length[i] / rest[i] : 1.0;
        length[i] = fmin(fmax((yields_until - stretch) / (yields_until - yields_from), 0.0), 1.0);
    }
    *out = length;
    return WEFT_OK;
}
