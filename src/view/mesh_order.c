// The way through a mesh that packing and unpacking share: triangles in breadth, each reached over an edge of one that
// came before. A vertex v that a triangle brings in over the edge (a, b) of the triangle (a, b, c) is guessed as the
// fourth corner of a parallelogram, a + b - c (Touma and Gotsman 1998). viewer/src/unpack.js walks the same way: the
// two must change together.
#include "view/packing.h"

enum
{
    FAN_MAX = 64 // triangles around a vertex that are looked at: bounds the walk on meshes that are no surfaces
};

typedef struct walk
{
    mesh_order* order;
    const int* triangles;
    int *start, *around; // triangles around each vertex
    int* queue;          // triangles that were reached
    int head, tail;
    uint8_t *seen, *reached; // vertices, triangles
} walk;

void mesh_order_finish(mesh_order* order)
{
    mem_free(order->vertex);
    mem_free(order->parents);
    *order = (mesh_order){0};
}

static void walk_add(walk* w, int vertex, int a, int b, int c)
{
    mesh_order* o = w->order;
    int* parents = o->parents + 3 * (size_t)o->count;
    parents[0] = a;
    parents[1] = b;
    parents[2] = c;
    o->vertex[o->count++] = vertex;
    w->seen[vertex] = 1;
}

// A vertex without neighbours before it follows the last one.
static void walk_add_alone(walk* w, int vertex)
{
    int last = w->order->count > 0 ? w->order->vertex[w->order->count - 1] : -1;
    walk_add(w, vertex, last, last, last);
}

static void walk_reach(walk* w, int triangle)
{
    w->reached[triangle] = 1;
    w->queue[w->tail++] = triangle;
}

// The corner of a triangle besides p and q, -1: it does not have both.
static int third_corner(const int* t, int p, int q)
{
    for (int k = 0; k < 3; k++)
    {
        int u = t[k], v = t[(k + 1) % 3];
        if ((u == p && v == q) || (u == q && v == p))
        {
            return t[(k + 2) % 3];
        }
    }
    return -1;
}

static void walk_cross(walk* w, int p, int q, int apex)
{
    int fan_p = w->start[p + 1] - w->start[p], fan_q = w->start[q + 1] - w->start[q];
    int hub = fan_q < fan_p ? q : p;
    int end = int_min(w->start[hub + 1], w->start[hub] + FAN_MAX);
    for (int i = w->start[hub]; i < end; i++)
    {
        int t = w->around[i];
        int third = w->reached[t] ? -1 : third_corner(w->triangles + 3 * (size_t)t, p, q);
        if (third < 0)
        {
            continue;
        }
        if (!w->seen[third])
        {
            walk_add(w, third, p, q, apex);
        }
        walk_reach(w, t);
    }
}

static void walk_from(walk* w, int triangle)
{
    const int* seed = w->triangles + 3 * (size_t)triangle;
    for (int k = 0; k < 3; k++)
    {
        if (!w->seen[seed[k]])
        {
            walk_add_alone(w, seed[k]);
        }
    }
    walk_reach(w, triangle);
    while (w->head < w->tail)
    {
        const int* t = w->triangles + 3 * (size_t)w->queue[w->head++];
        for (int k = 0; k < 3; k++)
        {
            walk_cross(w, t[k], t[(k + 1) % 3], t[(k + 2) % 3]);
        }
    }
}

static void walk_list_fans(walk* w, int vertex_count, int triangle_count)
{
    for (int i = 0; i < 3 * triangle_count; i++)
    {
        w->start[w->triangles[i] + 1]++;
    }
    for (int v = 0; v < vertex_count; v++)
    {
        w->start[v + 1] += w->start[v];
    }
    // Filling moves each start to its end; shifting by one moves them back.
    for (int i = 0; i < 3 * triangle_count; i++)
    {
        w->around[w->start[w->triangles[i]]++] = i / 3;
    }
    for (int v = vertex_count; v > 0; v--)
    {
        w->start[v] = w->start[v - 1];
    }
    w->start[0] = 0;
}

static void walk_all(walk* w, int vertex_count, int triangle_count)
{
    walk_list_fans(w, vertex_count, triangle_count);
    for (int t = 0; t < triangle_count; t++)
    {
        if (!w->reached[t])
        {
            walk_from(w, t);
        }
    }
    for (int v = 0; v < vertex_count; v++)
    {
        if (!w->seen[v])
        {
            walk_add_alone(w, v);
        }
    }
}

weft_status mesh_order_make(int vertex_count, const int* triangles, int triangle_count, mesh_order* out)
{
    *out = (mesh_order){.vertex = MEM_NEW(vertex_count, int), .parents = MEM_NEW(3 * (size_t)vertex_count, int)};
    walk w = {.order = out,
              .triangles = triangles,
              .start = MEM_NEW((size_t)vertex_count + 1, int),
              .around = MEM_NEW(3 * (size_t)triangle_count, int),
              .queue = MEM_NEW(triangle_count, int),
              .seen = MEM_NEW(vertex_count, uint8_t),
              .reached = MEM_NEW(triangle_count, uint8_t)};
    bool ok = out->vertex && out->parents && w.start && w.around && w.queue && w.seen && w.reached;
    if (ok)
    {
        walk_all(&w, vertex_count, triangle_count);
    }
    else
    {
        mesh_order_finish(out);
    }
    mem_free(w.start);
    mem_free(w.around);
    mem_free(w.queue);
    mem_free(w.seen);
    mem_free(w.reached);
    return ok ? WEFT_OK : WEFT_NO_MEMORY;
}
