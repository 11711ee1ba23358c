// What nothing can part: bodies or pins that close on the cloth by themselves.
//
// When the shortest substep ends with collisions that neither impulses nor zones can avoid, the body that moves most is
// let through the cloth, then the next, at last everything that still collides. The vertices that take part are marked
// as squeezed by that body. From then on their collisions with it do not count: they could not leave it again if they
// did. A mark is for edges and faces at the vertex alone, or for the vertex itself as well, once it was let through a
// face. A vertex beside a pinch has one of the first sort and stays on its side: otherwise all of a sheet would follow
// the part that was squeezed through a floor. Which marks a substep leaves, and what it lists, is in squeeze_list.c.
//
// Marks are a sorted list, which is the state's between steps. Tests of pairs ask a byte for each vertex, and where
// that is set the list: the logarithm of the number of marks. What is let pass is found in lists of the features at a
// vertex, made once a topology, so that its cost is that of sorting the marks.
#include <string.h>

#include "contact/find.h"

// ---- marks

// Pins hold a vertex and its neighbours where a body has gone through the cloth: what the pins leave free is no way out
// of the body, and pushing along it would only tear the cloth. So the body goes through all of them.
static weft_status mark_pinned_around(contact* c, squeeze_mark mark)
{
    for (int k = 3 * c->fan->start[mark.vertex]; k < 3 * c->fan->start[mark.vertex + 1]; k++)
    {
        int other = (c->collider->corner[FEATURE_FACE] + 3 * (size_t)c->fan->feature[k / 3])[k % 3];
        if (c->record[other] >= 0)
        {
            TRY(marks_add(&c->marks, (squeeze_mark){.vertex = other, .body = mark.body, .through = 1}));
        }
    }
    return WEFT_OK;
}

weft_status squeeze_load(contact* c, const mark_list* marks)
{
    memset(c->marked, 0, (size_t)c->vertex_count);
    TRY(marks_copy(&c->marks, marks));
    for (int k = 0; k < marks->count; k++)
    {
        squeeze_mark mark = marks->item[k];
        TRY(c->record[mark.vertex] >= 0 && mark.kind == MARK_SQUEEZED ? mark_pinned_around(c, mark) : WEFT_OK);
    }
    squeeze_settle(c);
    return WEFT_OK;
}

void squeeze_settle(contact* c)
{
    marks_sort(&c->marks);
    for (int k = 0; k < c->marks.count; k++)
    {
        c->marked[c->marks.item[k].vertex] = 1;
    }
}

bool squeeze_holds(const contact* c, const int* vertex, int count, int body, bool itself)
{
    for (int k = 0; k < count; k++)
    {
        const squeeze_mark* mark = c->marked[vertex[k]] ? marks_find(&c->marks, vertex[k], body) : NULL;
        if (mark && (mark->through || !itself))
        {
            return true;
        }
    }
    return false;
}

bool squeeze_ignores(const contact* c, const int vertex[4], int first)
{
    const uint8_t* marked = c->marked;
    if (!(marked[vertex[0]] | marked[vertex[1]] | marked[vertex[2]] | marked[vertex[3]]))
    {
        return false;
    }
    return squeeze_holds(c, vertex, first, c->body[vertex[first]], first == 1) ||
           squeeze_holds(c, vertex + first, 4 - first, c->body[vertex[0]], false);
}

// ---- lists of the topology

static void list_edges(squeeze_lists* l, const weft_collider* collider)
{
    const int* edge = collider->corner[FEATURE_EDGE];
    memset(l->first_edge, -1, (size_t)collider->vertex_count * sizeof(int));
    for (int k = 2 * collider->tree[FEATURE_EDGE].count - 1; k >= 0; k--)
    {
        l->first_edge[edge[k]] = k / 2;
    }
}

// Edges at vertices without faces: counts, then offsets one place on, so that filling moves each to its start.
static void list_lines(squeeze_lists* l, const contact* c)
{
    const int* edge = c->collider->corner[FEATURE_EDGE];
    int ends = 2 * c->collider->tree[FEATURE_EDGE].count;
    for (int k = 0; k < ends; k++)
    {
        l->line_start[edge[k] + 2] += c->fan->start[edge[k]] == c->fan->start[edge[k] + 1];
    }
    for (int i = 0; i < c->vertex_count; i++)
    {
        l->line_start[i + 2] += l->line_start[i + 1];
    }
    for (int k = 0; k < ends; k++)
    {
        if (c->fan->start[edge[k]] == c->fan->start[edge[k] + 1])
        {
            l->line_edge[l->line_start[edge[k] + 1]++] = k / 2;
        }
    }
}

// The collider has the faces of one body after those of another.
static void list_bodies(squeeze_lists* l, const contact* c)
{
    const int* face = c->collider->corner[FEATURE_FACE];
    for (int k = 0; k < c->collider->tree[FEATURE_FACE].count; k++)
    {
        l->body_face[c->body[face[3 * (size_t)k]] + 1] = k + 1;
    }
    for (int body = 0; body < l->body_count; body++)
    {
        l->body_face[body + 1] = int_max(l->body_face[body + 1], l->body_face[body]);
    }
}

static void lists_drop_trees(squeeze_lists* l)
{
    for (int body = 0; body < l->body_count && l->solid; body++)
    {
        winding_finish(&l->solid[body]);
        l->surface ? triangle_tree_finish(&l->surface[body]) : (void)0;
    }
}

static void lists_finish(squeeze_lists* l)
{
    lists_drop_trees(l);
    mem_free(l->solid);
    mem_free(l->surface);
    mem_free(l->fresh);
    mem_free(l->first_edge);
    mem_free(l->line_start);
    mem_free(l->line_edge);
    mem_free(l->body_face);
    *l = (squeeze_lists){0};
}

weft_status squeeze_prepare(contact* c)
{
    squeeze_lists* l = &c->lists;
    if (l->first_edge)
    {
        return WEFT_OK;
    }
    for (int i = 0; i < c->vertex_count; i++)
    {
        l->body_count = int_max(l->body_count, c->body[i] + 1);
    }
    l->first_edge = MEM_NEW(c->vertex_count, int);
    l->line_start = MEM_NEW((size_t)c->vertex_count + 2, int);
    l->line_edge = MEM_NEW(2 * (size_t)c->collider->tree[FEATURE_EDGE].count + 1, int);
    l->body_face = MEM_NEW(l->body_count + 1, int);
    l->solid = MEM_NEW(l->body_count, winding_tree);
    l->surface = MEM_NEW(l->body_count, triangle_tree);
    l->fresh = MEM_NEW(l->body_count, uint8_t);
    if (!l->first_edge || !l->line_start || !l->line_edge || !l->body_face || !l->solid || !l->surface || !l->fresh)
    {
        lists_finish(l);
        return WEFT_NO_MEMORY;
    }
    list_edges(l, c->collider);
    list_lines(l, c);
    list_bodies(l, c);
    return WEFT_OK;
}

// A tree has the order of where its body was when it was made; a run that is resumed makes it from where it is. Pairs
// that meet are the same either way, but how many are looked at is not, and a step may cost so many.
void contact_forget(contact* c)
{
    lists_drop_trees(&c->lists);
    collider_forget(c->collider);
}

void squeeze_forget(contact* c)
{
    lists_finish(&c->lists);
}

void squeeze_finish(contact* c)
{
    lists_finish(&c->lists);
    marks_finish(&c->marks);
    marks_finish(&c->crossed);
    mem_free(c->marked);
    mem_free(c->around.feature);
    mem_free(c->squeezed);
    mem_free(c->pierced);
    mem_free(c->passed);
}

// ---- what is let pass

weft_status squeezed_pairs_add(squeezed_pair** list, int* count, int* capacity, const squeezed_pair* pair)
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

// The first face with both vertices; NULL: there is none.
static const int* face_with(const contact* c, int a, int b)
{
    for (int k = c->fan->start[a]; k < c->fan->start[a + 1]; k++)
    {
        const int* v = c->collider->corner[FEATURE_FACE] + 3 * (size_t)c->fan->feature[k];
        if (v[0] == b || v[1] == b || v[2] == b)
        {
            return v;
        }
    }
    return NULL;
}

static const int* edge_with(const contact* c, int a)
{
    int edge = c->lists.first_edge[a];
    return edge < 0 ? NULL : c->collider->corner[FEATURE_EDGE] + 2 * (size_t)edge;
}

static squeezed_pair pair_of(const int* edge, const int* face)
{
    return (squeezed_pair){{int_min(edge[0], edge[1]), int_max(edge[0], edge[1])}, {face[0], face[1], face[2]}, 0};
}

// A collision of edges: one of them, and a face at the other. Segments of lines have no faces: of two of them the
// second stands for its own.
static squeezed_pair pair_of_edges(const contact* c, const int v[4])
{
    const int *second = face_with(c, v[2], v[3]), *first = second ? NULL : face_with(c, v[0], v[1]);
    const int segment[3] = {int_min(v[2], v[3]), int_max(v[2], v[3]), int_max(v[2], v[3])};
    return first ? pair_of(v + 2, first) : pair_of(v, second ? second : segment);
}

// A collision as an edge and a face: an edge at the vertex, a face at one of the edges.
static weft_status let_pass(contact* c, const collision* hit)
{
    const int* v = hit->vertex;
    bool vertex_face = hit->kind == WEFT_VERTEX_FACE;
    const int* edge = vertex_face ? edge_with(c, v[0]) : v;
    if (!edge)
    {
        return WEFT_OK;
    }
    squeezed_pair pair = vertex_face ? pair_of(edge, v + 1) : pair_of_edges(c, v);
    return squeezed_pairs_add(&c->passed, &c->passed_count, &c->passed_capacity, &pair);
}

weft_status squeeze_let(contact* c, const collision* hit)
{
    TRY(squeeze_prepare(c));
    const int* v = hit->vertex;
    int first = hit->kind == WEFT_VERTEX_FACE ? 1 : 2;
    for (int a = 0; a < 4; a++)
    {
        if (v[a] < c->cloth_count)
        {
            int other = c->body[a < first ? v[first] : v[0]];
            bool through = a < first && first == 1;
            TRY(marks_add(&c->marks, (squeeze_mark){.vertex = v[a],
                                                    .body = other,
                                                    .through = through,
                                                    .side = through ? unsettled_side(c, v) : 0}));
        }
    }
    return let_pass(c, hit);
}

weft_status squeeze_give_up(contact* c)
{
    for (int k = 0; k < c->found.count; k++)
    {
        TRY(squeeze_let(c, (const collision*)c->found.item + k));
    }
    squeeze_settle(c);
    return WEFT_OK;
}
