// The graph of a model (graph.h).
#include "step/graph.h"

#include <stdlib.h>
#include <string.h>

#include "material/spring.h"

typedef struct edge
{
    int a, b;
    double length;
} edge;

static int compare_edges(const void* p, const void* q)
{
    const edge *e = p, *f = q;
    int order = e->a != f->a ? (e->a > f->a) - (e->a < f->a) : (e->b > f->b) - (e->b < f->b);
    return order ? order : (e->length > f->length) - (e->length < f->length);
}

static int side_length(const model* m, int corner, edge* out)
{
    int t = corner / 3, next = 3 * t + (corner + 1) % 3;
    vec2 p = m->triangle_rest[corner], q = m->triangle_rest[next];
    int a = m->triangle[corner], b = m->triangle[next];
    double length = hypot(q.x - p.x, q.y - p.y);
    out[0] = (edge){a, b, length};
    out[1] = (edge){b, a, length};
    return 2;
}

// Both ways, sorted, each pair once: where two triangles disagree on a length, across a seam of a uv map, the mean
// counts.
static int edges_unique(edge* all, int count)
{
    qsort(all, (size_t)count, sizeof(edge), compare_edges);
    int kept = 0;
    for (int k = 0; k < count;)
    {
        int next = k;
        double sum = 0.0;
        while (next < count && all[next].a == all[k].a && all[next].b == all[k].b)
        {
            sum += all[next++].length;
        }
        all[kept++] = (edge){all[k].a, all[k].b, sum / (next - k)};
        k = next;
    }
    return kept;
}

static weft_status take_edges(graph* g, const model* m)
{
    const element_group* springs = element_groups_find(&m->groups, &kind_spring);
    int room = 6 * m->triangle_count + (springs ? 2 * springs->count : 0), count = 0;
    edge* all = MEM_NEW(room, edge);
    if (!all)
    {
        return WEFT_NO_MEMORY;
    }
    for (int c = 0; c < 3 * m->triangle_count; c++)
    {
        count += side_length(m, c, all + count);
    }
    for (int e = 0; springs && e < springs->count; e++)
    {
        const double* rest = springs->rest + SPRING_STRIDE * (size_t)e;
        int a = springs->vertices[2 * e], b = springs->vertices[2 * e + 1];
        if ((int)rest[SPRING_ROLE] != SPRING_BEND && g->fan_start[a] == g->fan_start[a + 1])
        {
            all[count++] = (edge){a, b, rest[SPRING_LENGTH]};
            all[count++] = (edge){b, a, rest[SPRING_LENGTH]};
        }
    }
    count = edges_unique(all, count);
    g->other = MEM_NEW(count, int);
    g->length = MEM_NEW(count, double);
    bool ok = g->other && g->length;
    for (int k = 0; k < count && ok; k++)
    {
        g->start[all[k].a + 1] = k + 1;
        g->other[k] = all[k].b;
        g->length[k] = all[k].length;
        g->longest = fmax(g->longest, all[k].length);
    }
    for (int i = 0; i < m->vertex_count; i++)
    {
        g->start[i + 1] = int_max(g->start[i + 1], g->start[i]);
    }
    mem_free(all);
    return ok ? WEFT_OK : WEFT_NO_MEMORY;
}

static void take_fans(graph* g)
{
    for (int c = 0; c < 3 * g->triangle_count; c++)
    {
        g->fan_start[g->triangle[c] + 1]++;
    }
    for (int i = 0; i < g->vertex_count; i++)
    {
        g->fan_start[i + 1] += g->fan_start[i];
    }
    for (int c = 0; c < 3 * g->triangle_count; c++)
    {
        g->fan[g->fan_start[g->triangle[c]]++] = c / 3;
    }
    for (int i = g->vertex_count; i > 0; i--)
    {
        g->fan_start[i] = g->fan_start[i - 1];
    }
    g->fan_start[0] = 0;
}

static bool triangle_has(const graph* g, int t, int vertex)
{
    const int* v = g->triangle + 3 * t;
    return v[0] == vertex || v[1] == vertex || v[2] == vertex;
}

// A side with one triangle is of the border.
static void mark_borders(graph* g)
{
    for (int c = 0; c < 3 * g->triangle_count; c++)
    {
        int a = g->triangle[c], b = g->triangle[3 * (c / 3) + (c + 1) % 3], shared = 0;
        for (int k = g->fan_start[a]; k < g->fan_start[a + 1]; k++)
        {
            shared += triangle_has(g, g->fan[k], b);
        }
        g->border[a] |= shared == 1;
        g->border[b] |= shared == 1;
    }
}

weft_status graph_components(graph* g)
{
    g->component_count = 0;
    int *stack = MEM_NEW(g->vertex_count, int), top = 0;
    if (!stack)
    {
        return WEFT_NO_MEMORY;
    }
    memset(g->component, -1, (size_t)g->vertex_count * sizeof(int));
    for (int i = 0; i < g->vertex_count; i++)
    {
        if (g->component[i] >= 0)
        {
            continue;
        }
        g->component[i] = g->component_count;
        stack[top++] = i;
        while (top > 0)
        {
            int a = stack[--top];
            for (int k = g->start[a]; k < g->start[a + 1]; k++)
            {
                int b = g->other[k];
                if (g->component[b] < 0)
                {
                    g->component[b] = g->component_count;
                    stack[top++] = b;
                }
            }
        }
        g->component_count++;
    }
    mem_free(stack);
    return WEFT_OK;
}

weft_status graph_create(graph* g, const model* m)
{
    int n = m->vertex_count;
    *g = (graph){.vertex_count = n, .triangle_count = m->triangle_count, .triangle = m->triangle, .rest = m->rest};
    g->start = MEM_NEW(n + 1, int);
    g->fan_start = MEM_NEW(n + 1, int);
    g->fan = MEM_NEW(3 * (size_t)m->triangle_count, int);
    g->border = MEM_NEW(n, uint8_t);
    g->component = MEM_NEW(n, int);
    if (!g->start || !g->fan_start || !g->fan || !g->border || !g->component)
    {
        return WEFT_NO_MEMORY;
    }
    take_fans(g);
    TRY(take_edges(g, m));
    mark_borders(g);
    return graph_components(g);
}

void graph_finish(graph* g)
{
    mem_free(g->start);
    mem_free(g->other);
    mem_free(g->length);
    mem_free(g->fan_start);
    mem_free(g->fan);
    mem_free(g->border);
    mem_free(g->component);
    *g = (graph){0};
}

double graph_length(const graph* g, int a, int b)
{
    for (int k = g->start[a]; k < g->start[a + 1]; k++)
    {
        if (g->other[k] == b)
        {
            return g->length[k];
        }
    }
    return -1.0;
}

void graph_anchors(const model* m, int* out)
{
    memset(out, -1, (size_t)m->vertex_count * sizeof(int));
    for (int k = 0; k < m->pins.count; k++)
    {
        const pin* p = &m->pins.pins[k];
        bool point = m->pins.motions[p->motion].fix == WEFT_FIX_POINT;
        out[p->vertex] = point && out[p->vertex] < 0 ? p->motion : out[p->vertex];
    }
}

// All that edges join with an anchor and that the same motion holds.
static void group_fill(const graph* g, const int* anchors, int number, int* stack, int* out)
{
    int top = 1;
    while (top > 0)
    {
        int a = stack[--top];
        for (int k = g->start[a]; k < g->start[a + 1]; k++)
        {
            int b = g->other[k];
            if (anchors[b] == anchors[a] && out[b] < 0)
            {
                out[b] = number;
                stack[top++] = b;
            }
        }
    }
}

int graph_groups(const graph* g, const int* anchors, int* out)
{
    int count = 0, *stack = MEM_NEW(g->vertex_count, int);
    memset(out, -1, (size_t)g->vertex_count * sizeof(int));
    for (int i = 0; i < g->vertex_count && stack; i++)
    {
        if (anchors[i] >= 0 && out[i] < 0)
        {
            stack[0] = i;
            out[i] = count;
            group_fill(g, anchors, count++, stack, out);
        }
    }
    bool ok = stack != NULL;
    mem_free(stack);
    return ok ? count : -1;
}
