// What a substep leaves squeezed: its list, and the marks of the next state.
//
// The edges and faces around marked vertices are tested for crossings, exactly, on positions rounded to float; what
// crosses is listed, and a vertex around which nothing crosses any more, and which is not inside the body, is as any
// other again. Of lines it is the segments at marked vertices.
//
// A body can also go over a small cloth whole, so that nothing crosses at the end of the step; and two lines cross only
// for an instant, as what has no area has no inside. What was let pass and then has no crossing around it is listed for
// that step as well: otherwise nothing would tell of it.
//
// Costs, with m marks and k faces of which one has a marked vertex: k walks of the collider's tree, which end at what
// is near each of them; sorting what they list; one look at the faces of each body that has vertices which were let
// through and have nothing around them that crosses, and for each of these the logarithm of that body's faces
// (collide/winding.c). Nothing is asked of all pairs of anything.
#include <stdlib.h>
#include <string.h>

#include "collide/ccd.h"
#include "contact/find.h"

// Above it a vertex is inside: the winding number is 1 inside, 0 outside, less in open surfaces.
static const double winding_inside = 0.75;

typedef struct triangle
{
    const int* v; // [3]
    vec3 x[3];
    double_box box;
} triangle;

static triangle triangle_at(const contact* c, int face)
{
    triangle t = {.v = c->collider->corner[FEATURE_FACE] + 3 * (size_t)face};
    for (int k = 0; k < 3; k++)
    {
        t.x[k] = v3_round(c->looked[t.v[k]]);
    }
    t.box = feature_box(t.x, t.x, (const int[3]){0, 1, 2}, 3);
    return t;
}

static bool holds(const triangle* t, int vertex)
{
    return t->v[0] == vertex || t->v[1] == vertex || t->v[2] == vertex;
}

static weft_status list_edges(contact* c, const triangle* a, const triangle* b)
{
    for (int k = 0; k < 3; k++)
    {
        int from = a->v[k], to = a->v[(k + 1) % 3];
        if (holds(b, from) || holds(b, to) || !ccd_pierces(a->x[k], a->x[(k + 1) % 3], b->x))
        {
            continue;
        }
        squeezed_pair pair = {{int_min(from, to), int_max(from, to)}, {b->v[0], b->v[1], b->v[2]}, 0};
        TRY(squeezed_pairs_add(&c->squeezed, &c->squeezed_count, &c->squeezed_capacity, &pair));
    }
    return WEFT_OK;
}

// The boxes of the last search are without the frame, and hold the ends up to half of the reach (find.c).
static weft_status find_around(contact* c, double_box box)
{
    const double frame[3] = {c->frame.x, c->frame.y, c->frame.z};
    for (int k = 0; k < 3 && c->looked == c->end; k++)
    {
        box.low[k] -= frame[k];
        box.high[k] -= frame[k];
    }
    return collider_around(c->collider, FEATURE_FACE, &box, 0.5 * c->reach + 4.0 * c->ulp, &c->around);
}

static weft_status list_faces(contact* c, const triangle* a, int other)
{
    triangle b = triangle_at(c, other);
    if (boxes_near(&a->box, &b.box, 0.0))
    {
        TRY(list_edges(c, a, &b));
        TRY(list_edges(c, &b, a));
    }
    return WEFT_OK;
}

static weft_status list_around(contact* c, int face)
{
    triangle a = triangle_at(c, face);
    TRY(find_around(c, a.box));
    for (int k = 0; k < c->around.count; k++)
    {
        int other = c->around.feature[k];
        const int* v = c->collider->corner[FEATURE_FACE] + 3 * (size_t)other;
        c->squeeze_tests++;
        if (other == face || !squeeze_holds(c, a.v, 3, c->body[v[0]], false))
        {
            continue;
        }
        TRY(list_faces(c, &a, other));
    }
    return WEFT_OK;
}

weft_status squeeze_list_faces(contact* c, int face, int other)
{
    triangle a = triangle_at(c, face);
    return list_faces(c, &a, other);
}

static weft_status list_segment(contact* c, int edge)
{
    const int* v = c->collider->corner[FEATURE_EDGE] + 2 * (size_t)edge;
    const vec3 x[2] = {v3_round(c->looked[v[0]]), v3_round(c->looked[v[1]])};
    double_box box = feature_box(x, x, (const int[2]){0, 1}, 2);
    TRY(find_around(c, box));
    for (int k = 0; k < c->around.count; k++)
    {
        triangle b = triangle_at(c, c->around.feature[k]);
        c->squeeze_tests++;
        if (boxes_near(&box, &b.box, 0.0) && squeeze_holds(c, v, 2, c->body[b.v[0]], false) &&
            ccd_pierces(x[0], x[1], b.x))
        {
            squeezed_pair pair = {{int_min(v[0], v[1]), int_max(v[0], v[1])}, {b.v[0], b.v[1], b.v[2]}, 0};
            TRY(squeezed_pairs_add(&c->squeezed, &c->squeezed_count, &c->squeezed_capacity, &pair));
        }
    }
    return WEFT_OK;
}

// Whether the vertex is the first of the face's marked ones: a face that has several is looked at once.
static bool is_first_marked(const contact* c, int face, int vertex)
{
    const int* v = c->collider->corner[FEATURE_FACE] + 3 * (size_t)face;
    int first = vertex;
    for (int k = 0; k < 3; k++)
    {
        first = c->marked[v[k]] ? int_min(first, v[k]) : first;
    }
    return first == vertex;
}

static int compare_pairs(const void* a, const void* b)
{
    return memcmp(a, b, sizeof(squeezed_pair)); // any order, the same everywhere
}

// Pairs that two marked faces have both found, or an edge of two faces.
void squeeze_drop_copies(squeezed_pair* pairs, int* count)
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

weft_status squeeze_list_crossings(contact* c, const vec3* x)
{
    c->looked = x;
    c->squeezed_count = 0;
    for (int m = 0; m < c->marks.count; m++)
    {
        int vertex = c->marks.item[m].vertex;
        if (m > 0 && c->marks.item[m - 1].vertex == vertex)
        {
            continue;
        }
        for (int k = c->fan->start[vertex]; k < c->fan->start[vertex + 1]; k++)
        {
            TRY(is_first_marked(c, c->fan->feature[k], vertex) ? list_around(c, c->fan->feature[k]) : WEFT_OK);
        }
        for (int k = c->lists.line_start[vertex]; k < c->lists.line_start[vertex + 1]; k++)
        {
            TRY(list_segment(c, c->lists.line_edge[k]));
        }
    }
    squeeze_drop_copies(c->squeezed, &c->squeezed_count);
    return WEFT_OK;
}

// ---- the next marks

// What the pair's vertices, two of the edge or three of the face, say of the other's body: the mark of `vertex` itself,
// or else of one beside it. A pair without any of the start's is squeezed.
static squeeze_mark next_mark(const contact* c, const squeezed_pair* p, int a)
{
    const int* own = a < 2 ? p->edge : p->face;
    int vertex = own[a < 2 ? a : a - 2], body = c->body[a < 2 ? p->face[0] : p->edge[0]];
    const squeeze_mark* mark = c->marked[vertex] ? marks_find(&c->marks, vertex, body) : NULL;
    if (mark && mark->kind != MARK_SQUEEZED)
    {
        return *mark;
    }
    squeeze_mark next = {.vertex = vertex, .body = body, .kind = p->start ? MARK_FREE : MARK_SQUEEZED};
    for (int k = 0; k < (a < 2 ? 2 : 3) && p->start; k++)
    {
        mark = c->marked[own[k]] ? marks_find(&c->marks, own[k], body) : NULL;
        if (mark && mark->kind != MARK_SQUEEZED && mark->kind != MARK_FREE)
        {
            next.kind = mark->kind == MARK_BEHIND ? MARK_INSIDE : mark->kind;
            next.side = mark->side;
        }
    }
    next.through = next.kind == MARK_FREE;
    return next;
}

// What crosses, as marks of the edges and faces at its vertices.
static weft_status mark_crossings(contact* c)
{
    c->crossed.count = 0;
    for (int k = 0; k < c->squeezed_count; k++)
    {
        squeezed_pair* p = &c->squeezed[k];
        p->start = unsettled_holds(c, p);
        for (int a = 0; a < 5; a++)
        {
            int vertex = a < 2 ? p->edge[a] : p->face[a - 2];
            TRY(vertex < c->cloth_count ? marks_add(&c->crossed, next_mark(c, p, a)) : WEFT_OK);
        }
    }
    marks_sort(&c->crossed);
    return WEFT_OK;
}

// Whether a vertex of the pair has a crossing with the other's body, which is then listed.
static bool is_listed(const contact* c, const squeezed_pair* p)
{
    for (int a = 0; a < 5; a++)
    {
        int vertex = a < 2 ? p->edge[a] : p->face[a - 2], body = c->body[a < 2 ? p->face[0] : p->edge[0]];
        if (marks_find(&c->crossed, vertex, body))
        {
            return true;
        }
    }
    return false;
}

static void keep_passed(contact* c)
{
    int kept = 0;
    for (int k = 0; k < c->passed_count; k++)
    {
        if (!is_listed(c, &c->passed[k]))
        {
            c->passed[kept++] = c->passed[k];
        }
    }
    c->passed_count = kept;
    squeeze_drop_copies(c->passed, &c->passed_count);
}

// Vertices that were let through stay so while anything around them crosses. The marks of the others remain in `marks`.
static void keep_through(contact* c)
{
    int alone = 0;
    for (int k = 0; k < c->marks.count; k++)
    {
        const squeeze_mark* old = &c->marks.item[k];
        bool squeezed = old->kind == MARK_SQUEEZED && old->through;
        squeeze_mark* mark = squeezed ? marks_find(&c->crossed, old->vertex, old->body) : NULL;
        if (mark)
        {
            mark->through = 1;
            mark->side = old->side;
        }
        else if (squeezed || old->stays)
        {
            c->marks.item[alone++] = *old;
        }
    }
    c->marks.count = alone;
}

static int compare_bodies(const void* left, const void* right)
{
    const squeeze_mark *a = left, *b = right;
    return a->body != b->body ? (a->body > b->body) - (a->body < b->body)
                              : (a->vertex > b->vertex) - (a->vertex < b->vertex);
}

// False as well for a body that there is not, which a checkpoint may name.
bool squeeze_is_obstacle(const contact* c, int body)
{
    int first = body < c->lists.body_count ? c->lists.body_face[body] : 0;
    int last = body < c->lists.body_count ? c->lists.body_face[body + 1] : 0;
    return first < last && c->collider->corner[FEATURE_FACE][3 * (size_t)first] >= c->cloth_count;
}

// The faces of an obstacle as they are at the end.
static weft_status solid_at_end(contact* c, int body, winding_tree** out)
{
    winding_tree* t = *out = &c->lists.solid[body];
    const int* range = c->lists.body_face + body;
    const int* corner = c->collider->corner[FEATURE_FACE] + 3 * (size_t)range[0];
    TRY(t->node ? WEFT_OK : winding_create(t, corner, range[1] - range[0], c->end));
    winding_update(t, c->end);
    c->squeeze_tests += t->count;
    return WEFT_OK;
}

// A vertex that was let through and has nothing around it that crosses keeps its mark while it is inside the body, or
// the body would take it along when it leaves.
static weft_status keep_inside(contact* c)
{
    mark_list* alone = &c->marks;
    winding_tree* solid = NULL;
    int last = -1;
    if (alone->count > 1)
    {
        qsort(alone->item, (size_t)alone->count, sizeof(squeeze_mark), compare_bodies);
    }
    for (int k = 0; k < alone->count; k++)
    {
        squeeze_mark* mark = &alone->item[k];
        if (mark->stays)
        {
            mark->stays = 0;
            TRY(marks_add(&c->crossed, *mark));
            continue;
        }
        if (!squeeze_is_obstacle(c, mark->body))
        {
            continue; // a cloth has no inside
        }
        if (!solid || last != mark->body)
        {
            last = mark->body;
            TRY(solid_at_end(c, mark->body, &solid));
        }
        long long before = solid->tests;
        TRY(winding_exceeds(solid, c->end[mark->vertex], winding_inside) ? marks_add(&c->crossed, *mark) : WEFT_OK);
        c->squeeze_tests += solid->tests - before;
    }
    marks_sort(&c->crossed);
    return WEFT_OK;
}

weft_status contact_settle(contact* c)
{
    c->next.marks.count = 0;
    if (c->marks.count == 0)
    {
        c->squeezed_count = 0;
        return grown_list(c);
    }
    TRY(squeeze_prepare(c));
    // What crossed at the end of the last substep, and does not at the end of this one, has passed within the step.
    for (int k = 0; k < c->squeezed_count; k++)
    {
        TRY(c->squeezed[k].start
                ? WEFT_OK
                : squeezed_pairs_add(&c->passed, &c->passed_count, &c->passed_capacity, &c->squeezed[k]));
    }
    long long before = c->around.tests;
    TRY(squeeze_list_crossings(c, c->end));
    c->squeeze_tests += c->around.tests - before;
    TRY(mark_crossings(c));
    TRY(unsettled_keep(c));
    keep_passed(c);
    keep_through(c);
    TRY(keep_inside(c));
    marks_swap(&c->next.marks, &c->crossed);
    return grown_list(c);
}
