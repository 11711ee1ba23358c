// Where an edge of one surface pierces a face of another, their intersection passes. Such piercings, linked over the
// pairs of triangles that have two of them, are contours, and each contour is a curve on either surface (in global
// intersection analysis, Baraff, Witkin and Kass 2003, the two paths of a contour). Cutting all pierced edges leaves
// pieces of cloth. A curve that ends inside cloth, under a border of the other surface, can be prolonged in the plane
// of the border's triangle, as if that surface went on.
#include <stdlib.h>
#include <string.h>

#include "start/untangle_sheets.h"

enum
{
    PIERCED_STALL = 2 // rounds without fewer crossings before what pierces cloth from a solid is shortened
};

// ---- piercings

static double volume(vec3 a, vec3 b, vec3 c, vec3 p)
{
    return v3_dot(v3_sub(p, a), v3_cross(v3_sub(b, a), v3_sub(c, a)));
}

static bool pierce(const tangle* t, int a, int b, int face, piercing* out)
{
    const int* c = t->triangle + 3 * (size_t)face;
    vec3 p = t->x[a], q = t->x[b], u = t->x[c[0]], v = t->x[c[1]], w = t->x[c[2]];
    if (a == c[0] || a == c[1] || a == c[2] || b == c[0] || b == c[1] || b == c[2])
    {
        return false;
    }
    double from = volume(u, v, w, p), to = volume(u, v, w, q);
    if ((from >= 0.0) == (to >= 0.0))
    {
        return false;
    }
    double first = volume(p, q, u, v), second = volume(p, q, v, w), third = volume(p, q, w, u);
    bool left = first >= 0.0 && second >= 0.0 && third >= 0.0, right = first <= 0.0 && second <= 0.0 && third <= 0.0;
    double sum = first + second + third;
    if (!(left || right) || sum == 0.0)
    {
        return false;
    }
    out->along = from / (from - to);
    out->weight[0] = second / sum;
    out->weight[1] = third / sum;
    out->weight[2] = first / sum;
    out->at = v3_madd(v3_scale(1.0 - out->along, p), out->along, q);
    return true;
}

static int compare_piercings(const void* left, const void* right)
{
    const piercing *a = left, *b = right;
    const int x[] = {a->edge[0], a->edge[1], a->face, a->pair}, y[] = {b->edge[0], b->edge[1], b->face, b->pair};
    for (int k = 0; k < 4; k++)
    {
        if (x[k] != y[k])
        {
            return x[k] < y[k] ? -1 : 1;
        }
    }
    return 0;
}

static bool same_place(const piercing* a, const piercing* b)
{
    return a->edge[0] == b->edge[0] && a->edge[1] == b->edge[1] && a->face == b->face;
}

static void find_piercings(sheets* s)
{
    for (int k = 0; k < s->pair_count; k++)
    {
        for (int j = 0; j < 6; j++)
        {
            int slot = j / 3; // of the face
            int owner = s->pairs[k].triangle[1 - slot];
            const int* c = s->t->triangle + 3 * (size_t)owner;
            int a = c[(j + 1) % 3], b = c[(j + 2) % 3];
            piercing* p = &s->piercings[s->piercing_count];
            *p = (piercing){.edge = {int_min(a, b), int_max(a, b)},
                            .side = 3 * owner + j % 3,
                            .face = s->pairs[k].triangle[slot],
                            .pair = k,
                            .slot = slot};
            s->piercing_count += pierce(s->t, p->edge[0], p->edge[1], p->face, p);
        }
    }
    if (s->piercing_count > 0)
    {
        qsort(s->piercings, (size_t)s->piercing_count, sizeof(piercing), compare_piercings);
    }
}

// ---- contours

static void list_by_pair(sheets* s)
{
    for (int k = 0; k < s->piercing_count; k++)
    {
        s->start[s->piercings[k].pair + 1]++;
        s->pairs[s->piercings[k].pair].pierced++;
    }
    for (int k = 0; k < s->pair_count; k++)
    {
        s->start[k + 1] += s->start[k];
    }
    for (int k = s->piercing_count - 1; k >= 0; k--)
    {
        int pair = s->piercings[k].pair;
        s->list[s->start[pair] + --s->pairs[pair].pierced] = k;
    }
    for (int k = 0; k < s->pair_count; k++)
    {
        s->pairs[k].pierced = s->start[k + 1] - s->start[k];
    }
}

// The pairs that share a piercing with pair k; the face has one slot of the contour in all of them.
static void reach_pairs(sheets* s, int k, int* count)
{
    for (int j = s->start[k]; j < s->start[k + 1]; j++)
    {
        int at = s->list[j], first = at;
        const piercing* p = &s->piercings[at];
        while (first > 0 && same_place(p, &s->piercings[first - 1]))
        {
            first--;
        }
        for (int m = first; m < s->piercing_count && same_place(p, &s->piercings[m]); m++)
        {
            crossing* other = &s->pairs[s->piercings[m].pair];
            if (other->contour < 0)
            {
                other->contour = s->pairs[k].contour;
                other->flip = s->piercings[m].slot ^ p->slot ^ s->pairs[k].flip;
                s->queue[(*count)++] = s->piercings[m].pair;
            }
        }
    }
}

static void link_contours(sheets* s)
{
    for (int k = 0; k < s->pair_count; k++)
    {
        if (s->pairs[k].contour >= 0 || s->pairs[k].pierced == 0)
        {
            continue;
        }
        int count = 0;
        s->pairs[k].contour = s->contour_count++;
        s->queue[count++] = k;
        for (int j = 0; j < count; j++)
        {
            reach_pairs(s, s->queue[j], &count);
        }
    }
}

static void list_by_contour(sheets* s)
{
    for (int k = 0; k < s->piercing_count; k++)
    {
        s->contour_start[s->pairs[s->piercings[k].pair].contour + 2]++;
    }
    for (int k = 0; k < s->contour_count; k++)
    {
        s->contour_start[k + 2] += s->contour_start[k + 1];
    }
    for (int k = 0; k < s->piercing_count; k++)
    {
        s->by_contour[s->contour_start[s->pairs[s->piercings[k].pair].contour + 1]++] = k;
    }
}

// ---- pieces

static void cut(sheets* s, int slot)
{
    const int other = s->t->mate[slot];
    if (slot < 3 * s->t->cloth_triangles)
    {
        s->cut[slot] = 1;
        other >= 0 ? (void)(s->cut[other] = 1) : (void)0;
    }
}

void sheets_flood(sheets* s)
{
    const tangle* t = s->t;
    int filled = 0;
    s->piece_count = 0;
    memset(s->piece, -1, (size_t)t->cloth_count * sizeof(int));
    memset(s->area, 0, (size_t)t->cloth_count * sizeof(double));
    memset(s->spoiled, 0, 2 * (size_t)t->cloth_count * sizeof(int));
    for (int i = 0; i < t->cloth_count; i++)
    {
        if (s->piece[i] >= 0)
        {
            continue;
        }
        int piece = s->piece_count++;
        s->piece_start[piece] = filled;
        s->piece[i] = piece;
        s->piece_vertex[filled++] = i;
        for (int j = s->piece_start[piece]; j < filled; j++)
        {
            int v = s->piece_vertex[j];
            s->area[piece] += t->held[v] ? INFINITY : t->size[v] * t->size[v];
            for (int k = t->near_start[v]; k < t->near_start[v + 1]; k++)
            {
                if (s->piece[t->near[k]] < 0 && !s->cut[t->near_slot[k]])
                {
                    s->piece[t->near[k]] = piece;
                    s->piece_vertex[filled++] = t->near[k];
                }
            }
        }
        s->piece_start[piece + 1] = filled;
    }
}

// ---- curves that end inside

const piercing* piercing_other(const sheets* s, const piercing* p)
{
    int first = s->start[p->pair];
    const piercing *a = &s->piercings[s->list[first]], *b = &s->piercings[s->list[first + 1]];
    return s->pairs[p->pair].pierced != 2 ? NULL : a == p ? b : a;
}

// The side of the triangle, not `entry`, that crosses the plane, from `at` on along `ahead`; -1: none.
static int next_side(const tangle* t, int triangle, int entry, vec3 at, vec3 normal, vec3 ahead)
{
    for (int k = 0; k < 3; k++)
    {
        vec3 a = t->x[t->triangle[3 * triangle + (k + 1) % 3]], b = t->x[t->triangle[3 * triangle + (k + 2) % 3]];
        double from = v3_dot(v3_sub(a, at), normal), to = v3_dot(v3_sub(b, at), normal);
        if ((from >= 0.0) == (to >= 0.0) || 3 * triangle + k == entry)
        {
            continue;
        }
        vec3 point = v3_madd(a, from / (from - to), v3_sub(b, a));
        if (entry >= 0 || v3_dot(v3_sub(point, at), ahead) > 0.0)
        {
            return 3 * triangle + k;
        }
    }
    return -1;
}

// Not farther than the contour is long: a short one is no reason to part a sheet.
void sheets_prolong(sheets* s, const piercing* p)
{
    const tangle* t = s->t;
    const piercing* other = piercing_other(s, p);
    if (!other || t->mate[p->side] >= 0 || p->face >= t->cloth_triangles)
    {
        return;
    }
    vec3 normal = tangle_face_normal(t, p->side / 3), ahead = v3_sub(p->at, other->at);
    int contour = s->pairs[p->pair].contour, count = 0;
    int most = int_min(s->contour_start[contour + 1] - s->contour_start[contour], s->pair_count);
    int slot = next_side(t, p->face, -1, p->at, normal, ahead);
    while (slot >= 0 && !s->cut[slot] && count < most)
    {
        s->queue[count++] = slot;
        slot = t->mate[slot] < 0 ? -1 : next_side(t, t->mate[slot] / 3, t->mate[slot], p->at, normal, ahead);
    }
    for (int k = 0; k < count && (slot < 0 || s->cut[slot]); k++)
    {
        cut(s, s->queue[k]);
    }
}

int piercing_curve(const sheets* s, const piercing* p)
{
    return 1 - (p->slot ^ s->pairs[p->pair].flip);
}

// ---- the whole

void sheets_find(sheets* s)
{
    find_piercings(s);
    list_by_pair(s);
    link_contours(s);
    list_by_contour(s);
    for (int k = 0; k < s->piercing_count; k++)
    {
        cut(s, s->piercings[k].side);
    }
    sheets_flood(s);
}

void sheets_finish(sheets* s)
{
    void* const arrays[] = {s->pairs,         s->piercings, s->start,       s->list,         s->queue, s->by_contour,
                            s->contour_start, s->piece,     s->piece_start, s->piece_vertex, s->area,  s->spoiled,
                            s->ring,          s->done,      s->cut,         s->settled};
    for (size_t k = 0; k < sizeof(arrays) / sizeof(arrays[0]); k++)
    {
        mem_free(arrays[k]);
    }
}

weft_status sheets_create(sheets* s, tangle* t)
{
    size_t pairs = (size_t)t->look->pair_count, cloth = (size_t)t->cloth_count;
    *s = (sheets){.t = t};
    s->pairs = MEM_NEW(pairs, crossing);
    s->piercings = MEM_NEW(6 * pairs + 1, piercing);
    s->start = MEM_NEW(pairs + 1, int);
    s->list = MEM_NEW(6 * pairs, int);
    s->queue = MEM_NEW(pairs + cloth, int);
    s->by_contour = MEM_NEW(6 * pairs, int);
    s->contour_start = MEM_NEW(pairs + 3, int);
    s->piece = MEM_NEW(cloth, int);
    s->piece_start = MEM_NEW(cloth + 1, int);
    s->piece_vertex = MEM_NEW(cloth, int);
    s->area = MEM_NEW(cloth, double);
    s->spoiled = MEM_NEW(2 * cloth, int);
    s->ring = MEM_NEW(cloth, int);
    s->cut = MEM_NEW(3 * (size_t)t->cloth_triangles, unsigned char);
    s->settled = MEM_NEW(pairs, unsigned char);
    bool ok = s->pairs && s->piercings && s->start && s->list && s->queue && s->by_contour && s->contour_start &&
              s->piece && s->piece_start && s->piece_vertex && s->area && s->spoiled && s->ring && s->cut && s->settled;
    for (size_t k = 0; k < pairs && ok; k++)
    {
        const weft_crossing* c = &t->look->pairs[k];
        // What stays in a solid although its corners are out is pierced.
        if ((!t->solid[c->body[1]] || t->stall >= PIERCED_STALL) && c->kind != WEFT_CROSSING_NESTED)
        {
            s->pairs[s->pair_count++] =
                (crossing){.triangle = {tangle_triangle(t, c, 0), tangle_triangle(t, c, 1)}, .contour = -1};
        }
    }
    return ok ? WEFT_OK : WEFT_NO_MEMORY;
}
