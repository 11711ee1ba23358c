// What nothing can part: bodies or pins that close on the cloth by themselves.
//
// When the shortest substep ends with collisions that neither impulses nor zones can avoid, the body that moves most is
// let through the cloth, then the next, at last everything that still collides. The vertices that take part are marked
// as squeezed by that body. From then on their collisions with it do not count: they could not leave it again if they
// did. A mark has two bits for a body: the first is for edges and faces at the vertex, the second for the vertex
// itself, once it was let through a face. A vertex beside a pinch has the first alone and stays on its side: otherwise
// all of a sheet would follow the part that was squeezed through a floor. At the end of each substep the edges and
// faces around marked vertices are tested for crossings, exactly, on positions rounded to float; what crosses is
// listed, and a vertex around which nothing crosses any more, and which is not inside the body, is as any other again.
// Marks are the last number of the state's memory of contact.
//
// A body can also go over a small cloth whole, so that nothing crosses at the end of the step. What was let pass and
// then has no crossing around it is listed for that step as well: otherwise nothing would tell of it.
#include <stdlib.h>
#include <string.h>

#include "collide/ccd.h"
#include "contact/find.h"

enum
{
    MARK_BITS = 25 // bodies beyond share them
};

static const uint64_t vertex_marks = (((uint64_t)1 << MARK_BITS) - 1) << MARK_BITS; // the second bits

static uint64_t squeeze_mark(int body)
{
    return (uint64_t)1 << (body % MARK_BITS);
}

static uint64_t vertex_mark(int body)
{
    return squeeze_mark(body) << MARK_BITS;
}

void squeeze_load(contact* c)
{
    c->any_mark = false;
    for (int i = 0; i < c->cloth_count; i++)
    {
        c->mark[i] = c->now.last->mark[i];
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
    int other = c->body[vertex[first]];
    return (side[0] & (first == 1 ? vertex_mark(other) : squeeze_mark(other))) ||
           (side[1] & squeeze_mark(c->body[vertex[0]]));
}

// ---- what is let pass

static weft_status add_pair(squeezed_pair** list, int* count, int* capacity, const squeezed_pair* pair)
{
    void* grown = *list;
    if (!mem_grow(&grown, capacity, *count + 1, sizeof(squeezed_pair)))
    {
        return WEFT_NO_MEMORY;
    }
    *list = grown;
    (*list)[(*count)++] = *pair;
    return WEFT_OK;
}

// The first edge or face with all of these vertices; NULL: there is none.
static const int* feature_with(const contact* c, int kind, const int* vertex, int count)
{
    int arity = kind == FEATURE_FACE ? 3 : 2;
    for (int k = 0; k < c->collider->tree[kind].count; k++)
    {
        const int* corner = c->collider->corner[kind] + (size_t)arity * (size_t)k;
        int held = 0;
        for (int a = 0; a < arity * count; a++)
        {
            held += corner[a / count] == vertex[a % count];
        }
        if (held == count)
        {
            return corner;
        }
    }
    return NULL;
}

// A collision as an edge and a face: an edge at the vertex, a face at the second edge.
static weft_status let_pass(contact* c, const collision* hit)
{
    const int* v = hit->vertex;
    bool vertex_face = hit->kind == WEFT_VERTEX_FACE;
    const int* edge = vertex_face ? feature_with(c, FEATURE_EDGE, v, 1) : v;
    const int* face = vertex_face ? v + 1 : feature_with(c, FEATURE_FACE, v + 2, 2);
    if (!edge || !face)
    {
        return WEFT_OK;
    }
    squeezed_pair pair = {{int_min(edge[0], edge[1]), int_max(edge[0], edge[1])}, {face[0], face[1], face[2]}};
    return add_pair(&c->passed, &c->passed_count, &c->passed_capacity, &pair);
}

weft_status squeeze_let(contact* c, const collision* hit)
{
    const int* v = hit->vertex;
    int first = hit->kind == WEFT_VERTEX_FACE ? 1 : 2;
    for (int a = 0; a < 4; a++)
    {
        if (v[a] < c->cloth_count)
        {
            int other = c->body[a < first ? v[first] : v[0]];
            c->mark[v[a]] |= squeeze_mark(other) | (a < first && first == 1 ? vertex_mark(other) : 0);
        }
    }
    c->any_mark = true;
    return let_pass(c, hit);
}

weft_status squeeze_give_up(contact* c)
{
    for (int k = 0; k < c->found.count; k++)
    {
        TRY(squeeze_let(c, (const collision*)c->found.item + k));
    }
    return WEFT_OK;
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
        squeezed_pair pair = {{int_min(from, to), int_max(from, to)}, {b->v[0], b->v[1], b->v[2]}};
        TRY(add_pair(&c->squeezed, &c->squeezed_count, &c->squeezed_capacity, &pair));
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
static void drop_copies(squeezed_pair* pairs, int* count)
{
    int kept = 0;
    if (*count > 1)
    {
        qsort(pairs, (size_t)*count, sizeof(squeezed_pair), compare_pairs);
    }
    for (int k = 0; k < *count; k++)
    {
        if (kept == 0 || compare_pairs(&pairs[kept - 1], &pairs[k]) != 0)
        {
            pairs[kept++] = pairs[k];
        }
    }
    *count = kept;
}

// The first bits follow from what crosses; keep_inside sees to the second ones.
static void mark_again(contact* c)
{
    for (int i = 0; i < c->cloth_count; i++)
    {
        c->mark[i] &= vertex_marks;
    }
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

// The solid angle of a triangle seen from the origin, in 4 pi.
static double share_of_sky(const vec3 x[3])
{
    double r[3] = {v3_length(x[0]), v3_length(x[1]), v3_length(x[2])};
    double volume = v3_dot(x[0], v3_cross(x[1], x[2]));
    double rest =
        r[0] * r[1] * r[2] + v3_dot(x[0], x[1]) * r[2] + v3_dot(x[1], x[2]) * r[0] + v3_dot(x[2], x[0]) * r[1];
    return atan2(volume, rest) / (2.0 * 3.14159265358979323846);
}

// Of the bodies in `marks` (first bits), the closed obstacles that the vertex is inside of.
static uint64_t marks_inside(const contact* c, int i, uint64_t marks)
{
    double sky[MARK_BITS] = {0};
    for (int face = 0; face < c->collider->tree[FEATURE_FACE].count; face++)
    {
        const int* v = c->collider->corner[FEATURE_FACE] + 3 * (size_t)face;
        if (v[0] >= c->cloth_count && (marks & squeeze_mark(c->body[v[0]])))
        {
            vec3 x[3];
            for (int k = 0; k < 3; k++)
            {
                x[k] = v3_sub(c->end[v[k]], c->end[i]);
            }
            sky[c->body[v[0]] % MARK_BITS] += share_of_sky(x);
        }
    }
    uint64_t inside = 0;
    for (int k = 0; k < MARK_BITS; k++)
    {
        inside |= fabs(sky[k]) > 0.75 ? (uint64_t)1 << k : 0; // 1 inside, 0 outside, less in open surfaces
    }
    return inside;
}

// A vertex that was let through and has nothing around it that crosses keeps its mark while it is inside the body, or
// the body would take it along when it leaves.
static void keep_inside(contact* c)
{
    for (int i = 0; i < c->cloth_count; i++)
    {
        uint64_t crossed = c->mark[i] & ~vertex_marks, through = c->mark[i] >> MARK_BITS;
        uint64_t alone = through & ~crossed;
        crossed |= alone ? marks_inside(c, i, alone) : 0;
        c->mark[i] = crossed | (through & crossed) << MARK_BITS;
    }
}

// Whether a vertex of the pair is still marked: its body then has crossings that are listed.
static bool is_marked(const contact* c, const squeezed_pair* p)
{
    uint64_t marks[2] = {0, 0}; // of the edge, of the face
    for (int a = 0; a < 5; a++)
    {
        int vertex = a < 2 ? p->edge[a] : p->face[a - 2];
        marks[a >= 2] |= vertex < c->cloth_count ? c->mark[vertex] : 0;
    }
    return (marks[0] & squeeze_mark(c->body[p->face[0]])) || (marks[1] & squeeze_mark(c->body[p->edge[0]]));
}

static void keep_passed(contact* c)
{
    int kept = 0;
    for (int k = 0; k < c->passed_count; k++)
    {
        if (!is_marked(c, &c->passed[k]))
        {
            c->passed[kept++] = c->passed[k];
        }
    }
    c->passed_count = kept;
    drop_copies(c->passed, &c->passed_count);
}

weft_status squeeze_list(contact* c)
{
    memcpy(c->next.mark, c->mark, (size_t)c->cloth_count * sizeof(uint64_t));
    if (!c->any_mark)
    {
        return WEFT_OK;
    }
    // What crossed at the end of the last substep, and does not at the end of this one, has passed within the step.
    for (int k = 0; k < c->squeezed_count; k++)
    {
        TRY(add_pair(&c->passed, &c->passed_count, &c->passed_capacity, &c->squeezed[k]));
    }
    c->squeezed_count = 0;
    for (int face = 0; face < c->collider->tree[FEATURE_FACE].count; face++)
    {
        triangle t = triangle_at(c, face);
        uint64_t marks = marks_of(c, &t);
        TRY(marks ? list_around(c, face, &t, marks) : WEFT_OK);
    }
    drop_copies(c->squeezed, &c->squeezed_count);
    mark_again(c);
    keep_passed(c);
    keep_inside(c);
    memcpy(c->next.mark, c->mark, (size_t)c->cloth_count * sizeof(uint64_t));
    return WEFT_OK;
}
