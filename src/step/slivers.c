// Slivers (slivers.h). In their order, one after the other: there are few of them.
#include "step/slivers.h"

#include <stdlib.h>
#include <string.h>

enum
{
    PASSES_MAX = 30
};

static const double short_share = 0.18; // of the longest side around
static const double slack = 1.05;       // over the stretch of that one
static const double near = 0.01;        // what a pass may leave, of a length

// The longest side at a vertex.
typedef struct longest_side
{
    double length;
    int other;
} longest_side;

static double side_length(const model* m, int corner, int next)
{
    vec2 p = m->triangle_rest[corner], q = m->triangle_rest[next];
    return hypot(q.x - p.x, q.y - p.y);
}

static int next_corner(int corner)
{
    return 3 * (corner / 3) + (corner + 1) % 3;
}

static void take_longest(const model* m, longest_side* at)
{
    for (int c = 0; c < 3 * m->triangle_count; c++)
    {
        const int end[2] = {m->triangle[c], m->triangle[next_corner(c)]};
        double length = side_length(m, c, next_corner(c));
        for (int k = 0; k < 2; k++)
        {
            longest_side* l = &at[end[k]];
            bool longer = length > l->length || (length == l->length && end[1 - k] < l->other);
            *l = longer ? (longest_side){length, end[1 - k]} : *l;
        }
    }
}

static int compare_vertices(const void* p, const void* q)
{
    const sliver *e = p, *f = q;
    int order = memcmp(e->vertex, f->vertex, sizeof(e->vertex));
    return order ? order : (e->length > f->length) - (e->length < f->length);
}

static int compare_lengths(const void* p, const void* q)
{
    const sliver *e = p, *f = q;
    int order = (e->length < f->length) - (e->length > f->length);
    return order ? order : compare_vertices(p, q);
}

static weft_status add(slivers* s, const longest_side* at, sliver one)
{
    if (!mem_grow((void**)&s->item, &s->capacity, s->count + 1, sizeof(sliver)))
    {
        return WEFT_NO_MEMORY;
    }
    for (int k = 0; k < 3; k++)
    {
        one.far[k] = at[one.vertex[k]].other;
        one.longest[k] = at[one.vertex[k]].length;
    }
    s->item[s->count++] = one;
    return WEFT_OK;
}

static weft_status take_side(slivers* s, const model* m, const longest_side* at, int corner)
{
    int a = m->triangle[corner], b = m->triangle[next_corner(corner)];
    double length = side_length(m, corner, next_corner(corner));
    bool is_short = length < short_share * fmax(at[a].length, at[b].length);
    sliver one = {.vertex = {int_min(a, b), int_max(a, b), int_max(a, b)}, .length = length};
    return is_short ? add(s, at, one) : WEFT_OK;
}

// The height over the side that begins at the corner, if that is the triangle's longest.
static weft_status take_height(slivers* s, const model* m, const longest_side* at, int corner)
{
    int next = next_corner(corner), tip = next_corner(next);
    double length = side_length(m, corner, next), one = side_length(m, next, tip), other = side_length(m, tip, corner);
    vec2 p = m->triangle_rest[corner], q = m->triangle_rest[next], t = m->triangle_rest[tip];
    double along = (t.x - p.x) * (q.x - p.x) + (t.y - p.y) * (q.y - p.y);
    double height = fabs((q.x - p.x) * (t.y - p.y) - (q.y - p.y) * (t.x - p.x)) / length;
    bool is_longest = length >= one && length >= other, is_flat = height < short_share * length;
    // Where the foot is near an end the short side says it.
    double share = along / (length * length), end = short_share * short_share;
    sliver flat = {
        .vertex = {m->triangle[tip], m->triangle[corner], m->triangle[next]}, .share = share, .length = height};
    return is_longest && is_flat && share > end && share < 1.0 - end ? add(s, at, flat) : WEFT_OK;
}

static weft_status take_all(slivers* s, const model* m, const longest_side* at)
{
    for (int c = 0; c < 3 * m->triangle_count; c++)
    {
        TRY(take_side(s, m, at, c));
        TRY(take_height(s, m, at, c));
    }
    return WEFT_OK;
}

// Two triangles have a side; where they disagree, across a seam of a uv map, the longer counts.
static void make_unique(slivers* s)
{
    int kept = 0;
    s->count > 1 ? qsort(s->item, (size_t)s->count, sizeof(sliver), compare_vertices) : (void)0;
    for (int k = 0; k < s->count; k++)
    {
        bool same = k + 1 < s->count && memcmp(s->item[k + 1].vertex, s->item[k].vertex, 3 * sizeof(int)) == 0;
        s->item[kept] = s->item[k];
        kept += !same;
    }
    s->count = kept;
    s->count > 1 ? qsort(s->item, (size_t)s->count, sizeof(sliver), compare_lengths) : (void)0;
}

static weft_status mark(slivers* s, int vertex_count)
{
    mem_free(s->has);
    s->has = s->count > 0 ? MEM_NEW(vertex_count, uint8_t) : NULL;
    for (int k = 0; k < 3 * s->count && s->has; k++)
    {
        s->has[s->item[k / 3].vertex[k % 3]] = 1;
    }
    return s->count == 0 || s->has ? WEFT_OK : WEFT_NO_MEMORY;
}

weft_status slivers_make(slivers* s, const model* m)
{
    longest_side* at = MEM_NEW(m->vertex_count, longest_side);
    weft_status status = WEFT_NO_MEMORY;
    s->count = 0;
    if (at)
    {
        take_longest(m, at);
        status = take_all(s, m, at);
    }
    make_unique(s);
    mem_free(at);
    return status == WEFT_OK ? mark(s, m->vertex_count) : status;
}

void slivers_finish(slivers* s)
{
    mem_free(s->item);
    mem_free(s->has);
    *s = (slivers){0};
}

static double stretch_around(const sliver* s, const vec3* x)
{
    double most = 1.0;
    for (int k = 0; k < 3; k++)
    {
        most = fmax(most, v3_length(v3_sub(x[s->far[k]], x[s->vertex[k]])) / s->longest[k]);
    }
    return most;
}

// Whether it was off.
static bool project(const sliver* s, const double* inv_mass, vec3* x)
{
    const double weight[3] = {1.0, -(1.0 - s->share), -s->share};
    vec3 d = v3(0, 0, 0);
    double sum = 0.0;
    for (int k = 0; k < 3; k++)
    {
        d = v3_madd(d, weight[k], x[s->vertex[k]]);
        sum += weight[k] * weight[k] * inv_mass[s->vertex[k]];
    }
    double length_sq = v3_dot(d, d);
    if (!(length_sq > slack * slack * s->length * s->length) || !(sum > 0.0))
    {
        return false;
    }
    double share = (slack * stretch_around(s, x) * s->length / sqrt(length_sq) - 1.0) / sum;
    for (int k = 0; k < 3 && share < 0.0; k++)
    {
        vec3* to = &x[s->vertex[k]];
        *to = v3_madd(*to, share * weight[k] * inv_mass[s->vertex[k]], d);
    }
    return share * sum < -near;
}

void slivers_project(const slivers* s, const double* inv_mass, vec3* x)
{
    bool off = true;
    for (int pass = 0; pass < PASSES_MAX && off; pass++)
    {
        off = false;
        for (int k = 0; k < s->count; k++)
        {
            off = project(&s->item[k], inv_mass, x) || off;
        }
    }
}
