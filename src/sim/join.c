// See join.h. Seams are forests: of stitches that close a ring of others the last is dropped. What would make an edge
// of three triangles, or of two that run alike, is no surface: these stay threads.
#include "sim/join.h"

#include <stdlib.h>
#include <string.h>

#include "sim/tear.h"

static const double closed = 0.5;        // of the thickness: gaps below it may become one
static const double closed_least = 1e-5; // m, likewise
static const double upon = 1e-6;         // m: what is nearer at the start lies upon each other

double body_closes_at(const body* b)
{
    return fmax(closed * b->thickness, closed_least);
}

// ---- what is sewn

static weft_status wrong(weft_error* error, const body* b, const char* what)
{
    return error_set(error, WEFT_BAD_INPUT, NULL, 0, "%s `%s`: %s", b->kind->name, b->name, what);
}

static weft_status check_ends(const body* b, int stitch, const int v[2], weft_error* error)
{
    for (int k = 0; k < 2; k++)
    {
        if (v[k] < 0 || v[k] >= b->rest.vertex_count)
        {
            return error_set(error, WEFT_BAD_INPUT, NULL, 0,
                             "cloth `%s`: stitch %d names vertex %d; its vertices run from 0 to %d", b->name, stitch,
                             v[k], b->rest.vertex_count - 1);
        }
    }
    return v[0] != v[1] ? WEFT_OK
                        : error_set(error, WEFT_BAD_INPUT, NULL, 0, "cloth `%s`: stitch %d sews vertex %d to itself",
                                    b->name, stitch, v[0]);
}

static weft_status check_stitches(const weft_cloth_def* def, const body* b, weft_error* error)
{
    if (b->kind->form != MESH_SHEET)
    {
        return wrong(error, b, "only sheets are sewn; leave `stitches` out");
    }
    if (b->tear > 0.0 || b->outputs)
    {
        return wrong(error, b, "sewn cloth does not tear, and has no welded vertices: leave `tear` and `weld` out");
    }
    if (!isfinite(def->stitch_start) || !isfinite(def->stitch_close) || !(def->stitch_close > 0.0))
    {
        return wrong(error, b, "the time that stitches take to close (s) is above zero, and when they begin is finite");
    }
    for (int k = 0; k < def->stitch_count; k++)
    {
        const int* v = def->stitches + 2 * k;
        TRY(check_ends(b, k, v, error));
    }
    for (int k = 0; k < def->thread_count; k++)
    {
        const weft_thread* t = &def->threads[k];
        const int v[4] = {t->vertex[0][0], t->vertex[1][0], t->vertex[0][1], t->vertex[1][1]};
        TRY(check_ends(b, k, v, error));
        TRY(v[2] != -1 ? check_ends(b, k, (int[2]){v[0], v[2]}, error) : WEFT_OK);
        TRY(v[3] != -1 ? check_ends(b, k, (int[2]){v[1], v[3]}, error) : WEFT_OK);
        if (!(t->ratio[0] >= 0.0 && t->ratio[0] <= 1.0 && t->ratio[1] >= 0.0 && t->ratio[1] <= 1.0))
        {
            return wrong(error, b, "ratios of points on edges that are sewn are from 0 to 1");
        }
    }
    return WEFT_OK;
}

static int root(const int* seam, int v)
{
    while (seam[v] != v)
    {
        v = seam[v];
    }
    return v;
}

// False: they were one already.
static bool unite(int* seam, const int* stitch)
{
    int i = root(seam, stitch[0]), j = root(seam, stitch[1]);
    seam[int_max(i, j)] = int_min(i, j);
    return i != j;
}

static void unite_begin(const body* b, int* seam)
{
    for (int v = 0; v < b->rest.vertex_count; v++)
    {
        seam[v] = v;
    }
}

static void unite_end(const body* b, int* seam)
{
    for (int v = 0; v < b->rest.vertex_count; v++)
    {
        seam[v] = root(seam, v);
    }
}

// Stitches that close a ring of others are dropped: where four panels meet in a corner three pairs of it say all, and a
// fourth along the same line would only differ from them by roundings.
static void find_seams(body* b)
{
    int kept = 0;
    unite_begin(b, b->seam);
    for (int k = 0; k < b->stitch_count; k++)
    {
        memmove(b->stitch + 2 * kept, b->stitch + 2 * k, 2 * sizeof(int));
        kept += unite(b->seam, b->stitch + 2 * k);
    }
    b->stitch_count = kept;
    unite_end(b, b->seam);
}

void seams_unite(const body* b, const uint8_t* sewing, int* one)
{
    unite_begin(b, one);
    for (int k = 0; k < b->stitch_count; k++)
    {
        sewing[k] == STITCH_CLOSED ? (void)unite(one, b->stitch + 2 * k) : (void)0;
    }
    unite_end(b, one);
}

// Those that cannot be one, and are at one place.
static void find_upon(body* b)
{
    unite_begin(b, b->upon);
    for (int k = 0; k < b->stitch_count; k++)
    {
        const int* v = b->stitch + 2 * k;
        bool near = v3_length(v3_sub(b->start[v[0]], b->start[v[1]])) <= upon;
        near && b->sewing[k] == STITCH_HELD ? (void)unite(b->upon, v) : (void)0;
    }
    unite_end(b, b->upon);
}

// ---- what can be one surface

// An edge of a triangle of the joined surface, from its smaller to its larger vertex; `turned`: it runs the other way.
typedef struct side
{
    int low, high;
    bool turned;
} side;

static int compare_sides(const void* a, const void* b)
{
    const side *p = a, *q = b;
    return p->low != q->low     ? (p->low > q->low) - (p->low < q->low)
           : p->high != q->high ? (p->high > q->high) - (p->high < q->high)
                                : p->turned - q->turned;
}

static void list_sides(const body* b, side* out)
{
    for (int k = 0; k < 3 * b->rest.triangle_count; k++)
    {
        int next = k % 3 < 2 ? k + 1 : k - 2;
        int from = b->seam[b->rest.triangle[k]], to = b->seam[b->rest.triangle[next]];
        out[k] = (side){int_min(from, to), int_max(from, to), from > to};
    }
}

// Seams with an end of an edge that has three triangles, two that run alike, or no length. Without these all others are
// one surface: what is united less has fewer triangles an edge.
static void mark_crowded(const side* sides, int count, bool* crowded)
{
    for (int first = 0, last; first < count; first = last)
    {
        const side* s = &sides[first];
        for (last = first + 1; last < count && sides[last].low == s->low && sides[last].high == s->high; last++)
        {
        }
        bool good = last - first == 1 || (last - first == 2 && sides[last - 1].turned != s->turned);
        if (!good || s->low == s->high)
        {
            crowded[s->low] = crowded[s->high] = true;
        }
    }
}

static weft_status find_joinable(body* b)
{
    int count = 3 * b->rest.triangle_count;
    side* sides = MEM_NEW(count, side);
    bool* crowded = MEM_NEW(b->rest.vertex_count, bool);
    weft_status status = sides && crowded ? WEFT_OK : WEFT_NO_MEMORY;
    if (status == WEFT_OK)
    {
        list_sides(b, sides);
        qsort(sides, (size_t)count, sizeof(side), compare_sides);
        mark_crowded(sides, count, crowded);
    }
    for (int k = 0; k < b->stitch_count && status == WEFT_OK; k++)
    {
        b->sewing[k] = crowded[b->seam[b->stitch[2 * k]]] ? STITCH_HELD : STITCH_OPEN;
    }
    mem_free(sides);
    mem_free(crowded);
    return status;
}

weft_status body_take_stitches(const weft_cloth_def* def, body* b, weft_error* error)
{
    if (def->stitch_count + def->thread_count == 0)
    {
        return WEFT_OK;
    }
    TRY(check_stitches(def, b, error));
    b->stitch = MEM_NEW(2 * (size_t)def->stitch_count, int);
    b->thread = MEM_NEW(def->thread_count, weft_thread);
    b->sewing = MEM_NEW(def->stitch_count, uint8_t);
    b->seam = MEM_NEW(b->rest.vertex_count, int);
    b->one = MEM_NEW(b->rest.vertex_count, int);
    b->upon = MEM_NEW(b->rest.vertex_count, int);
    if (!b->stitch || !b->thread || !b->sewing || !b->seam || !b->one || !b->upon)
    {
        return WEFT_NO_MEMORY;
    }
    for (int k = 0; k < 2 * def->stitch_count; k++)
    {
        b->stitch[k] = def->stitches[k];
    }
    for (int k = 0; k < def->thread_count; k++)
    {
        b->thread[k] = def->threads[k];
    }
    b->stitch_count = def->stitch_count;
    b->thread_count = def->thread_count;
    b->stitch_start = def->stitch_start;
    b->stitch_close = def->stitch_close;
    b->flat_rest = true; // pieces are cut from flat cloth, and a seam has no angle of its own
    b->lifted = true;
    find_seams(b);
    TRY(find_joinable(b));
    seams_unite(b, b->sewing, b->one);
    find_upon(b);
    return WEFT_OK;
}

// ---- when they are closed

static int count_closed(const body* b)
{
    int count = 0;
    for (int k = 0; k < b->stitch_count; k++)
    {
        count += b->sewing[k] == STITCH_CLOSED;
    }
    return count;
}

weft_status body_join(body* b, const uint8_t* sewing, const vec3* at, body* before)
{
    *before = *b;
    int n = b->rest.vertex_count, corners = 3 * b->rest.triangle_count;
    int *triangle = MEM_NEW(corners, int), *one = MEM_NEW(n, int);
    vec3* rest = MEM_NEW(n, vec3);
    uint8_t* now = MEM_NEW(b->stitch_count, uint8_t);
    if (!triangle || !one || !rest || !now)
    {
        mem_free(triangle);
        mem_free(one);
        mem_free(rest);
        mem_free(now);
        return WEFT_NO_MEMORY;
    }
    memcpy(now, sewing, (size_t)b->stitch_count);
    memcpy(rest, at, (size_t)n * sizeof(vec3));
    seams_unite(b, now, one);
    for (int k = 0; k < corners; k++)
    {
        triangle[k] = one[b->rest.triangle[k]];
    }
    b->rest.triangle = triangle;
    b->rest.position = rest;
    b->sewing = now;
    b->one = one;
    b->joined = count_closed(b);
    return WEFT_OK;
}
