// Shortest ways along a surface (graph.h), from near to far as Dijkstra has it. Over a triangle whose corners a and b
// are measured from one source, that source is unfolded into its plane beyond the side ab, and corner c is as far as
// the straight line to it is long, if that passes between a and b; else along a side. What gets shorter later is looked
// at again: behind obtuse corners the nearest do not come first.
#include "step/graph.h"

#include <string.h>

weft_status geodesic_create(geodesic* d, const graph* g)
{
    *d = (geodesic){.g = g, .target = -1};
    d->distance = MEM_NEW(g->vertex_count, double);
    d->source = MEM_NEW(g->vertex_count, int);
    d->reached = MEM_NEW(g->vertex_count, int);
    if (!d->distance || !d->source || !d->reached)
    {
        return WEFT_NO_MEMORY;
    }
    for (int i = 0; i < g->vertex_count; i++)
    {
        d->distance[i] = INFINITY;
    }
    return WEFT_OK;
}

void geodesic_finish(geodesic* d)
{
    mem_free(d->distance);
    mem_free(d->source);
    mem_free(d->reached);
    way_heap_finish(&d->heap);
    *d = (geodesic){0};
}

// ---- distances

static weft_status reach(geodesic* d, int vertex, double distance, int source, double radius)
{
    const double gain = 1e-12;
    if (!(distance <= radius) || !(distance < d->distance[vertex] * (1.0 - gain)))
    {
        return WEFT_OK;
    }
    if (d->target >= 0 && distance + v3_length(v3_sub(d->g->rest[d->target], d->g->rest[vertex])) > radius)
    {
        return WEFT_OK;
    }
    if (isinf(d->distance[vertex]))
    {
        d->reached[d->reached_count++] = vertex;
    }
    d->distance[vertex] = distance;
    d->source[vertex] = source;
    return way_heap_push(&d->heap, (way){distance, vertex});
}

// The distance of corner c over the side ab of length ab, with bc and ca the other sides; infinite: the straight line
// does not pass between a and b.
static double unfolded(double to_a, double to_b, double ab, double bc, double ca)
{
    double sx = (to_a * to_a - to_b * to_b + ab * ab) / (2.0 * ab), sy_sq = to_a * to_a - sx * sx;
    double cx = (ca * ca - bc * bc + ab * ab) / (2.0 * ab), cy_sq = ca * ca - cx * cx;
    if (!(sy_sq >= 0.0) || !(cy_sq > 0.0))
    {
        return INFINITY;
    }
    double sy = sqrt(sy_sq), cy = sqrt(cy_sq), at = (sx * cy + cx * sy) / (sy + cy);
    return at >= 0.0 && at <= ab ? hypot(cx - sx, cy + sy) : INFINITY;
}

// From the corner `from` over the triangle to both others.
static weft_status cross_triangle(geodesic* d, int t, int from, double radius)
{
    const int* v = d->g->triangle + 3 * t;
    int k = v[0] == from ? 0 : v[1] == from ? 1 : 2, source = d->source[from];
    for (int turn = 0; turn < 2; turn++)
    {
        int b = v[(k + 1 + turn) % 3], c = v[(k + 2 - turn) % 3];
        if (isinf(d->distance[b]) || d->source[b] != source)
        {
            continue;
        }
        double ab = graph_length(d->g, from, b);
        if (d->distance[c] <= 0.5 * (d->distance[from] + d->distance[b] - ab))
        {
            continue; // no point of the side is nearer than that
        }
        double bc = graph_length(d->g, b, c), ca = graph_length(d->g, c, from);
        TRY(reach(d, c, unfolded(d->distance[from], d->distance[b], ab, bc, ca), source, radius));
    }
    return WEFT_OK;
}

static weft_status leave(geodesic* d, int a, double radius)
{
    const graph* g = d->g;
    for (int k = g->start[a]; k < g->start[a + 1]; k++)
    {
        TRY(reach(d, g->other[k], d->distance[a] + g->length[k], d->source[a], radius));
    }
    for (int k = g->fan_start[a]; k < g->fan_start[a + 1]; k++)
    {
        TRY(cross_triangle(d, g->fan[k], a, radius));
    }
    return WEFT_OK;
}

weft_status geodesic_run(geodesic* d, const int* sources, int count, double radius)
{
    for (int k = 0; k < d->reached_count; k++)
    {
        d->distance[d->reached[k]] = INFINITY;
    }
    d->reached_count = d->heap.count = 0;
    for (int k = 0; k < count; k++)
    {
        TRY(reach(d, sources[k], 0.0, sources[k], radius));
    }
    while (d->heap.count > 0)
    {
        way next = way_heap_pop(&d->heap);
        // Triangles that the way to a target passes over have their corners within an edge of it.
        double found = d->target >= 0 ? d->distance[d->target] + 2.0 * d->g->longest : INFINITY;
        radius = fmin(radius, found);
        if (next.distance == d->distance[next.vertex]) // else it was reached on a shorter way
        {
            TRY(leave(d, next.vertex, radius));
        }
    }
    return WEFT_OK;
}

weft_status geodesic_between(geodesic* d, int a, int b, double most, double* out)
{
    d->target = b;
    weft_status status = geodesic_run(d, &a, 1, most + 2.0 * d->g->longest);
    d->target = -1;
    *out = d->distance[b] <= most ? d->distance[b] : INFINITY;
    return status;
}
