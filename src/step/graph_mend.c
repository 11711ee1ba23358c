// A graph after vertices were torn off (graph.h): rows and fans of these, of what they were torn off from and of the
// neighbours of both are made from the triangles around them; all others are copied.
#include <stdlib.h>
#include <string.h>

#include "step/graph.h"

enum
{
    ROW_MAX = 512 // sides of the triangles around a vertex, both ends
};

typedef struct side
{
    int other;
    double length;
} side;

typedef struct mender
{
    graph* g;
    const model* m;
    int before; // vertices
    int* row;   // [row_count] ascending: vertices whose rows are made anew
    int row_count, row_capacity;
    uint8_t* is_row; // [vertex_count]
    graph fresh;
} mender;

static int compare_ints(const void* a, const void* b)
{
    int p = *(const int*)a, q = *(const int*)b;
    return (p > q) - (p < q);
}

static int compare_sides(const void* a, const void* b)
{
    const side *p = a, *q = b;
    int order = (p->other > q->other) - (p->other < q->other);
    return order ? order : (p->length > q->length) - (p->length < q->length);
}

static weft_status mark(mender* d, int vertex)
{
    if (d->is_row[vertex])
    {
        return WEFT_OK;
    }
    d->is_row[vertex] = 1;
    if (!mem_grow((void**)&d->row, &d->row_capacity, d->row_count + 1, sizeof(int)))
    {
        return WEFT_NO_MEMORY;
    }
    d->row[d->row_count++] = vertex;
    return WEFT_OK;
}

static weft_status mark_all(mender* d, const int* from)
{
    const graph* g = d->g;
    for (int k = 0; k < d->fresh.vertex_count - d->before; k++)
    {
        TRY(mark(d, d->before + k));
        TRY(mark(d, from[k]));
        for (int e = g->start[from[k]]; e < g->start[from[k] + 1]; e++)
        {
            TRY(mark(d, g->other[e]));
        }
    }
    qsort(d->row, (size_t)d->row_count, sizeof(int), compare_ints);
    return WEFT_OK;
}

// ---- fans

// Triangles that had vertex i, or what it was torn off from, and have i now.
static int fan_of(const mender* d, int i, const int* from, int* out)
{
    const graph* g = d->g;
    int was = i < d->before ? i : from[i - d->before], count = 0;
    for (int k = g->fan_start[was]; k < g->fan_start[was + 1]; k++)
    {
        const int* v = d->m->triangle + 3 * (size_t)g->fan[k];
        if (v[0] == i || v[1] == i || v[2] == i)
        {
            out[count++] = g->fan[k];
        }
    }
    return count;
}

static void make_fans(mender* d, const int* from)
{
    const graph* g = d->g;
    graph* to = &d->fresh;
    int at = 0, next = 0;
    for (int k = 0; k < d->row_count; k++)
    {
        int row = d->row[k], copied = int_min(row, d->before), first = g->fan_start[int_min(next, d->before)];
        memcpy(to->fan + at, g->fan + first, (size_t)(g->fan_start[copied] - first) * sizeof(int));
        for (; next < row; next++)
        {
            to->fan_start[next] = at + g->fan_start[next] - first;
        }
        at += g->fan_start[copied] - first;
        to->fan_start[row] = at;
        at += fan_of(d, row, from, to->fan + at);
        next = row + 1;
    }
    int first = g->fan_start[int_min(next, d->before)];
    memcpy(to->fan + at, g->fan + first, (size_t)(g->fan_start[d->before] - first) * sizeof(int));
    for (; next <= to->vertex_count; next++)
    {
        to->fan_start[next] = at + g->fan_start[int_min(next, d->before)] - first;
    }
}

// ---- rows

static int row_of(const mender* d, int i, int* other, double* length, uint8_t* border)
{
    const graph* g = &d->fresh;
    side all[ROW_MAX];
    int count = 0, kept = 0;
    for (int k = g->fan_start[i]; k < g->fan_start[i + 1] && count + 2 <= ROW_MAX; k++)
    {
        const int* v = d->m->triangle + 3 * (size_t)g->fan[k];
        const vec2* rest = d->m->triangle_rest + 3 * (size_t)g->fan[k];
        int c = v[0] == i ? 0 : v[1] == i ? 1 : 2;
        for (int turn = 1; turn < 3; turn++)
        {
            // As graph_create measures it, from the first corner to the next.
            int p = turn == 1 ? c : (c + 2) % 3, q = (p + 1) % 3;
            all[count++] = (side){v[(c + turn) % 3], hypot(rest[q].x - rest[p].x, rest[q].y - rest[p].y)};
        }
    }
    qsort(all, (size_t)count, sizeof(side), compare_sides);
    *border = 0;
    for (int k = 0, next; k < count; k = next)
    {
        double sum = 0.0;
        for (next = k; next < count && all[next].other == all[k].other; next++)
        {
            sum += all[next].length;
        }
        other[kept] = all[k].other;
        length[kept++] = sum / (next - k);
        *border |= next - k == 1;
    }
    return kept;
}

static void make_rows(mender* d)
{
    const graph* g = d->g;
    graph* to = &d->fresh;
    int at = 0, next = 0;
    for (int k = 0; k <= d->row_count; k++)
    {
        int row = k < d->row_count ? d->row[k] : to->vertex_count, copied = int_min(row, d->before);
        int first = g->start[int_min(next, d->before)], count = g->start[copied] - first;
        memcpy(to->other + at, g->other + first, (size_t)count * sizeof(int));
        memcpy(to->length + at, g->length + first, (size_t)count * sizeof(double));
        for (; next < row; next++)
        {
            to->start[next] = at + g->start[next] - first;
        }
        at += count;
        to->start[row] = at;
        at += k < d->row_count ? row_of(d, row, to->other + at, to->length + at, &to->border[row]) : 0;
        next = row + 1;
    }
}

static weft_status make(mender* d, const int* from)
{
    graph* to = &d->fresh;
    int n = to->vertex_count, edges = d->g->start[d->before];
    to->start = MEM_NEW(n + 1, int);
    to->fan_start = MEM_NEW(n + 1, int);
    to->fan = MEM_NEW(3 * (size_t)to->triangle_count, int);
    to->border = MEM_NEW(n, uint8_t);
    to->component = MEM_NEW(n, int);
    d->is_row = MEM_NEW(n, uint8_t);
    TRY(d->is_row ? mark_all(d, from) : WEFT_NO_MEMORY);
    // A cut doubles edges of what was split; two rows have each.
    for (int k = 0; k < d->row_count; k++)
    {
        int was = d->row[k] < d->before ? d->row[k] : from[d->row[k] - d->before];
        edges += 2 * (d->g->start[was + 1] - d->g->start[was]) + 8;
    }
    to->other = mem_raw((size_t)edges, sizeof(int));
    to->length = mem_raw((size_t)edges, sizeof(double));
    if (!to->start || !to->fan_start || !to->fan || !to->border || !to->component || !to->other || !to->length)
    {
        return WEFT_NO_MEMORY;
    }
    memcpy(to->border, d->g->border, (size_t)d->before);
    make_fans(d, from);
    make_rows(d);
    return WEFT_OK;
}

weft_status graph_mend(graph* g, const model* m, int before, const int* from)
{
    mender d = {.g = g, .m = m, .before = before};
    d.fresh = (graph){.vertex_count = m->vertex_count,
                      .triangle_count = m->triangle_count,
                      .triangle = m->triangle,
                      .rest = m->rest,
                      .longest = g->longest};
    weft_status status = make(&d, from);
    graph drop = status == WEFT_OK ? *g : d.fresh;
    *g = status == WEFT_OK ? d.fresh : *g;
    graph_finish(&drop);
    mem_free(d.row);
    mem_free(d.is_row);
    return status;
}
