// What nothing can part: bodies or pins that close on the cloth by themselves.
//
// When the shortest substep ends with collisions that neither impulses nor zones can avoid, the vertices of the cloth
// that take part are marked as squeezed by the other body, and the step is accepted as it is. From then on their
// collisions with that body do not count: they could not leave it again if they did. At the end of each substep the
// edges and faces around marked vertices are tested for crossings, exactly, on positions rounded to float; what crosses
// is listed, and a vertex around which nothing crosses any more is as any other again. Marks are the last number of the
// state's memory of contact, a bit for each body.
#include <stdlib.h>
#include <string.h>

#include "collide/ccd.h"
#include "step/sweep.h"

enum
{
    MARK_BITS = 50 // bodies beyond share them
};

static uint64_t squeeze_mark(int body)
{
    return (uint64_t)1 << (body % MARK_BITS);
}

void squeeze_load(world* w)
{
    contact* c = w->contact;
    c->any_mark = false;
    for (int i = 0; i < c->cloth_count; i++)
    {
        c->mark[i] = (uint64_t)w->state.grip[i].z;
        c->any_mark = c->any_mark || c->mark[i];
    }
}

bool squeeze_ignores(const contact* c, const int vertex[4], int first)
{
    uint64_t side[2] = {0, 0};
    for (int k = 0; k < 4; k++)
    {
        side[k >= first] |= vertex[k] < c->cloth_count ? c->mark[vertex[k]] : 0;
    }
    return (side[0] & squeeze_mark(c->body[vertex[first]])) || (side[1] & squeeze_mark(c->body[vertex[0]]));
}

// The vertices of the collisions that are left.
void squeeze_give_up(contact* c)
{
    const collision* hits = c->found.item;
    for (int k = 0; k < c->found.count; k++)
    {
        const int* v = hits[k].vertex;
        int first = hits[k].kind == WEFT_VERTEX_FACE ? 1 : 2;
        for (int a = 0; a < 4; a++)
        {
            if (v[a] < c->cloth_count)
            {
                c->mark[v[a]] |= squeeze_mark(c->body[a < first ? v[first] : v[0]]);
            }
        }
    }
    c->any_mark = true;
}

// ---- what crosses

typedef struct triangle
{
    const int* v; // [3]
    vec3 x[3];
    vec3 low, high;
} triangle;

static triangle triangle_at(const contact* c, int face)
{
    triangle t = {.v = c->collider->corner[FEATURE_FACE] + 3 * (size_t)face};
    for (int k = 0; k < 3; k++)
    {
        vec3 x = t.x[k] = v3_round(c->end[t.v[k]]);
        t.low = k ? v3(fmin(t.low.x, x.x), fmin(t.low.y, x.y), fmin(t.low.z, x.z)) : x;
        t.high = k ? v3(fmax(t.high.x, x.x), fmax(t.high.y, x.y), fmax(t.high.z, x.z)) : x;
    }
    return t;
}

static bool boxes_meet(const triangle* a, const triangle* b)
{
    return a->low.x <= b->high.x && b->low.x <= a->high.x && a->low.y <= b->high.y && b->low.y <= a->high.y &&
           a->low.z <= b->high.z && b->low.z <= a->high.z;
}

static bool holds(const triangle* t, int vertex)
{
    return t->v[0] == vertex || t->v[1] == vertex || t->v[2] == vertex;
}

// A point that moves along the edge meets the face.
static bool passes(vec3 from, vec3 to, const vec3 face[3])
{
    vec3 start[4] = {from, face[0], face[1], face[2]}, end[4] = {to, face[0], face[1], face[2]};
    return ccd_decide(WEFT_VERTEX_FACE, start, end).collides;
}

static weft_status list_edges(contact* c, const triangle* a, const triangle* b)
{
    for (int k = 0; k < 3; k++)
    {
        int from = a->v[k], to = a->v[(k + 1) % 3];
        if (holds(b, from) || holds(b, to) || !passes(a->x[k], a->x[(k + 1) % 3], b->x))
        {
            continue;
        }
        if (!mem_grow((void**)&c->squeezed, &c->squeezed_capacity, c->squeezed_count + 1, sizeof(squeezed_pair)))
        {
            return WEFT_NO_MEMORY;
        }
        c->squeezed[c->squeezed_count++] =
            (squeezed_pair){{int_min(from, to), int_max(from, to)}, {b->v[0], b->v[1], b->v[2]}};
    }
    return WEFT_OK;
}

static uint64_t marks_of(const contact* c, const triangle* t)
{
    uint64_t marks = 0;
    for (int k = 0; k < 3; k++)
    {
        marks |= t->v[k] < c->cloth_count ? c->mark[t->v[k]] : 0;
    }
    return marks;
}

static weft_status list_around(contact* c, int face, const triangle* a, uint64_t marks)
{
    for (int other = 0; other < c->collider->tree[FEATURE_FACE].count; other++)
    {
        const int* v = c->collider->corner[FEATURE_FACE] + 3 * (size_t)other;
        if (other == face || !(marks & squeeze_mark(c->body[v[0]])))
        {
            continue;
        }
        triangle b = triangle_at(c, other);
        if (boxes_meet(a, &b))
        {
            TRY(list_edges(c, a, &b));
            TRY(list_edges(c, &b, a));
        }
    }
    return WEFT_OK;
}

static int compare_pairs(const void* a, const void* b)
{
    return memcmp(a, b, sizeof(squeezed_pair)); // any order, the same everywhere
}

// Pairs that two marked faces have both found, or an edge of two faces.
static void drop_copies(contact* c)
{
    qsort(c->squeezed, (size_t)c->squeezed_count, sizeof(squeezed_pair), compare_pairs);
    int kept = 0;
    for (int k = 0; k < c->squeezed_count; k++)
    {
        if (kept == 0 || compare_pairs(&c->squeezed[kept - 1], &c->squeezed[k]) != 0)
        {
            c->squeezed[kept++] = c->squeezed[k];
        }
    }
    c->squeezed_count = kept;
}

static void mark_again(contact* c)
{
    memset(c->mark, 0, (size_t)c->cloth_count * sizeof(uint64_t));
    for (int k = 0; k < c->squeezed_count; k++)
    {
        const squeezed_pair* p = &c->squeezed[k];
        for (int a = 0; a < 5; a++)
        {
            int vertex = a < 2 ? p->edge[a] : p->face[a - 2];
            if (vertex < c->cloth_count)
            {
                c->mark[vertex] |= squeeze_mark(c->body[a < 2 ? p->face[0] : p->edge[0]]);
            }
        }
    }
}

weft_status squeeze_list(world* w)
{
    contact* c = w->contact;
    c->squeezed_count = 0;
    if (!c->any_mark)
    {
        return WEFT_OK;
    }
    for (int face = 0; face < c->collider->tree[FEATURE_FACE].count; face++)
    {
        triangle t = triangle_at(c, face);
        uint64_t marks = marks_of(c, &t);
        TRY(marks ? list_around(c, face, &t, marks) : WEFT_OK);
    }
    drop_copies(c);
    mark_again(c);
    for (int i = 0; i < c->cloth_count; i++)
    {
        c->grip[i].z = (double)c->mark[i];
    }
    return WEFT_OK;
}
