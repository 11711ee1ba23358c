// A collider of cloth that has torn, mended in place. A cut changes a few faces and edges: these are looked up, all else
// keeps its place in the trees. Numbers of edges and of what comes behind the new vertices move up, which are passes over
// numbers. Cells of flat bodies stay as they are but for those that the cut goes through: torn off vertices lie at rest
// where they were.
//
// Left out: trees with a window, which hold little and are made anew often. They are built by the next update.
#include <stdlib.h>
#include <string.h>

#include "collide/broad.h"

typedef struct side
{
    int low, high; // vertices
} side;

typedef struct side_list
{
    side* item;
    int count, capacity;
} side_list;

typedef struct tearer
{
    weft_collider* c;
    const torn_vertices* torn;
    side_list was, is; // of faces, with an end at the cut: before it and after it; ascending, each once
    int* edge_now;     // [edges before] -1: gone
    int* added;        // [2 * added_count] edges that are new, and those before that they were torn off from
    int added_count, edges_before;
    int shift; // of vertices that come behind the new ones, 0: there are none
} tearer;

// ---- vertices

// What a vertex was before the tear.
static int vertex_was(const torn_vertices* t, int v)
{
    return v < t->first ? v : v < t->first + t->count ? t->from[v - t->first] : v - t->count;
}

static int vertex_now(const torn_vertices* t, int v)
{
    return v < t->first ? v : v + t->count;
}

// Vertices at the cut, while sides are listed.
static void mark_cut(const tearer* t, uint8_t mark)
{
    for (int k = 0; k < t->torn->count; k++)
    {
        t->c->extender.moved[t->torn->from[k]] = t->c->extender.moved[t->torn->first + k] = mark;
    }
}

// ---- sides

static int compare_sides(const void* a, const void* b)
{
    const side *x = a, *y = b;
    return x->low != y->low ? (x->low > y->low) - (x->low < y->low) : (x->high > y->high) - (x->high < y->high);
}

static void sides_unique(side_list* list)
{
    int kept = 0;
    list->count > 0 ? qsort(list->item, (size_t)list->count, sizeof(side), compare_sides) : (void)0;
    for (int k = 0; k < list->count; k++)
    {
        if (kept == 0 || compare_sides(&list->item[kept - 1], &list->item[k]) != 0)
        {
            list->item[kept++] = list->item[k];
        }
    }
    list->count = kept;
}

// Of all faces that were around what has torn, as they are at the moment.
static weft_status list_sides(const tearer* t, side_list* out)
{
    const feature_star* star = &t->c->extender.star[1];
    const uint8_t* at_cut = t->c->extender.moved;
    for (int k = 0; k < t->torn->count; k++)
    {
        int v = t->torn->from[k];
        for (int f = star->start[v]; f < star->start[v + 1]; f++)
        {
            const int* face = t->c->corner[FEATURE_FACE] + 3 * (size_t)star->feature[f];
            if (!mem_grow((void**)&out->item, &out->capacity, out->count + 3, sizeof(side)))
            {
                return WEFT_NO_MEMORY;
            }
            for (int corner = 0; corner < 3; corner++)
            {
                int a = face[corner], b = face[(corner + 1) % 3];
                if (at_cut[a] || at_cut[b])
                {
                    out->item[out->count++] = (side){int_min(a, b), int_max(a, b)};
                }
            }
        }
    }
    sides_unique(out);
    return WEFT_OK;
}

// Both lists are left with what the other has not.
static void sides_differ(side_list* a, side_list* b)
{
    int j = 0, k = 0, only_a = 0, only_b = 0;
    while (j < a->count || k < b->count)
    {
        int order = j == a->count ? 1 : k == b->count ? -1 : compare_sides(&a->item[j], &b->item[k]);
        order < 0 ? (void)(a->item[only_a++] = a->item[j]) : (void)0;
        order > 0 ? (void)(b->item[only_b++] = b->item[k]) : (void)0;
        j += order <= 0;
        k += order >= 0;
    }
    a->count = only_a;
    b->count = only_b;
}

// ---- edges

// -1: there is none. Edges are sorted by both ends.
static int find_edge(const int* edge, int count, side s)
{
    int low = 0, high = count;
    while (low < high)
    {
        int middle = low + (high - low) / 2;
        side at = {edge[2 * (size_t)middle], edge[2 * (size_t)middle + 1]};
        bool less = compare_sides(&at, &s) < 0;
        low = less ? middle + 1 : low;
        high = less ? high : middle;
    }
    bool found = low < count && edge[2 * (size_t)low] == s.low && edge[2 * (size_t)low + 1] == s.high;
    return found ? low : -1;
}

// Numbers of what stays grow alike, so that both lists are walked once. gone and come are those of `was` and `is`.
static weft_status merge_edges(tearer* t, int* to)
{
    const int* from = t->c->corner[FEATURE_EDGE];
    const side_list *gone = &t->was, *come = &t->is;
    int at = 0, g = 0, k = 0;
    for (int e = 0; e <= t->edges_before; e++)
    {
        bool end = e == t->edges_before;
        side own = end ? (side){0} : (side){from[2 * (size_t)e], from[2 * (size_t)e + 1]};
        side now = {vertex_now(t->torn, own.low), vertex_now(t->torn, own.high)};
        for (; k < come->count && (end || compare_sides(&come->item[k], &now) < 0); k++, at++)
        {
            side s = come->item[k], source = {vertex_was(t->torn, s.low), vertex_was(t->torn, s.high)};
            source = (side){int_min(source.low, source.high), int_max(source.low, source.high)};
            int behind = find_edge(from, t->edges_before, source);
            if (behind < 0)
            {
                return WEFT_NOT_FOUND;
            }
            to[2 * (size_t)at] = s.low;
            to[2 * (size_t)at + 1] = s.high;
            t->added[2 * t->added_count] = at;
            t->added[2 * t->added_count++ + 1] = behind;
        }
        if (end)
        {
            break;
        }
        bool goes = g < gone->count && compare_sides(&gone->item[g], &own) == 0;
        g += goes;
        t->edge_now[e] = goes ? -1 : at;
        to[2 * (size_t)at] = now.low;
        to[2 * (size_t)at + 1] = now.high;
        at += !goes;
    }
    return g == gone->count ? WEFT_OK : WEFT_NOT_FOUND;
}

static weft_status mend_edges(tearer* t)
{
    weft_collider* c = t->c;
    t->edges_before = c->tree[FEATURE_EDGE].count;
    sides_differ(&t->was, &t->is);
    int count = t->edges_before - t->was.count + t->is.count;
    int* edge = mem_raw(2 * (size_t)count + 2, sizeof(int));
    t->edge_now = mem_raw((size_t)t->edges_before + 1, sizeof(int));
    t->added = MEM_NEW(2 * t->is.count + 1, int);
    weft_status status = edge && t->edge_now && t->added ? merge_edges(t, edge) : WEFT_NO_MEMORY;
    if (status != WEFT_OK)
    {
        mem_free(edge);
        return status;
    }
    mem_free(c->corner[FEATURE_EDGE]);
    c->corner[FEATURE_EDGE] = edge;
    return WEFT_OK;
}

// ---- faces

static bool is_as_said(const weft_collider* c, const torn_vertices* torn)
{
    bool fits = true;
    for (int k = 0; k < torn->corner_count && fits; k++)
    {
        const torn_corner* t = &torn->corner[k];
        fits = t->face < c->tree[FEATURE_FACE].count && t->to >= torn->first && t->to < torn->first + torn->count &&
               c->corner[FEATURE_FACE][3 * (size_t)t->face + (size_t)t->corner] == torn->from[t->to - torn->first];
    }
    return fits;
}

static void move_corners(const tearer* t)
{
    weft_collider* c = t->c;
    int* corner = c->corner[FEATURE_FACE];
    for (int k = 0; t->shift > 0 && k < 3 * c->tree[FEATURE_FACE].count; k++)
    {
        corner[k] = vertex_now(t->torn, corner[k]);
    }
    for (int k = 0; k < t->torn->corner_count; k++)
    {
        corner[3 * (size_t)t->torn->corner[k].face + (size_t)t->torn->corner[k].corner] = t->torn->corner[k].to;
    }
}

static weft_status mend_faces(tearer* t)
{
    if (!is_as_said(t->c, t->torn))
    {
        return WEFT_NOT_FOUND;
    }
    mark_cut(t, 1);
    weft_status status = list_sides(t, &t->was);
    move_corners(t);
    status = status == WEFT_OK ? list_sides(t, &t->is) : status;
    mark_cut(t, 0);
    return status;
}

// ---- what vertices have

static weft_status mend_vertices(tearer* t)
{
    weft_collider* c = t->c;
    size_t n = (size_t)c->vertex_count, first = (size_t)t->torn->first, more = (size_t)t->torn->count;
    near_window* w = &c->window;
    smooth_map* m = &c->smooth;
    bool ok = array_grow((void**)&c->corner[FEATURE_VERTEX], n, n + more, sizeof(int)) &&
              array_grow((void**)&c->start, n + 1, n + more + 1, sizeof(vec3)) &&
              array_grow((void**)&c->end, n + 1, n + more + 1, sizeof(vec3)) &&
              array_grow((void**)&c->boxes, n, n + more, sizeof(vertex_box)) &&
              (!c->ends || array_grow((void**)&c->ends, n, n + more, sizeof(vertex_box))) &&
              (!c->rules.body || array_insert((void**)&c->rules.body, first, more, n, sizeof(int))) &&
              (!w->used || (array_grow((void**)&w->chosen_at, n, n + more, sizeof(vec3)) &&
                            array_grow((void**)&w->marked, n, n + more, sizeof(uint8_t)) &&
                            array_grow((void**)&w->vertex, n, n + more, sizeof(int)))) &&
              array_insert((void**)&m->grid_of, first, more, n, sizeof(int)) &&
              array_insert((void**)&m->at, first, more, n, sizeof(vec2));
    for (size_t k = 0; k < more && ok; k++)
    {
        int from = t->torn->from[k];
        c->corner[FEATURE_VERTEX][n + k] = (int)(n + k);
        c->rules.body ? (void)(c->rules.body[first + k] = c->rules.body[from]) : (void)0;
        m->grid_of[first + k] = m->grid_of[from];
        m->at[first + k] = m->at[from];
    }
    c->vertex_count += ok ? (int)more : 0;
    c->ready = m->valid = w->valid = false;
    return ok ? WEFT_OK : WEFT_NO_MEMORY;
}

// ---- trees

static weft_status mend_vertex_tree(const tearer* t)
{
    weft_collider* c = t->c;
    int before = c->tree[FEATURE_VERTEX].count, more = t->torn->count, first = t->torn->first;
    int *now = MEM_NEW(before, int), *added = MEM_NEW(2 * more, int);
    feature_change change = {before, t->shift > 0 ? now : NULL, added, more, NULL, 0, t->shift, first};
    for (int v = 0; v < before && now && t->shift > 0; v++)
    {
        now[v] = vertex_now(t->torn, v);
    }
    for (int k = 0; k < more && added; k++)
    {
        added[2 * k] = first + k;
        added[2 * k + 1] = t->torn->from[k];
    }
    weft_status status = now && added ? bvh_mend(&c->tree[FEATURE_VERTEX], &c->rules, c->corner[FEATURE_VERTEX],
                                                 before + more, &change)
                                      : WEFT_NO_MEMORY;
    mem_free(now);
    mem_free(added);
    return status;
}

static weft_status mend_face_tree(const tearer* t)
{
    bvh* tree = &t->c->tree[FEATURE_FACE];
    int* changed = MEM_NEW(t->torn->corner_count, int);
    feature_change change = {tree->count, NULL, NULL, 0, changed, t->torn->corner_count, t->shift, t->torn->first};
    for (int k = 0; k < t->torn->corner_count && changed; k++)
    {
        changed[k] = t->torn->corner[k].face;
    }
    weft_status status =
        changed ? bvh_mend(tree, &t->c->rules, t->c->corner[FEATURE_FACE], tree->count, &change) : WEFT_NO_MEMORY;
    mem_free(changed);
    return status;
}

static weft_status mend_trees(const tearer* t, int edge_count)
{
    weft_collider* c = t->c;
    feature_change edges = {t->edges_before, t->edge_now, t->added, t->added_count, NULL, 0, t->shift, t->torn->first};
    if (!c->window.used && c->build_count > 0)
    {
        TRY(mend_vertex_tree(t));
        TRY(bvh_mend(&c->tree[FEATURE_EDGE], &c->rules, c->corner[FEATURE_EDGE], edge_count, &edges));
        return mend_face_tree(t);
    }
    const int count[FEATURE_KINDS] = {c->vertex_count, edge_count, c->tree[FEATURE_FACE].count};
    for (int kind = 0; kind < FEATURE_KINDS; kind++)
    {
        TRY(bvh_extend(&c->tree[kind], c->corner[kind], count[kind]));
    }
    c->build_count = 0;
    return WEFT_OK;
}

// ---- cells

// Edges at a vertex that one face has.
static void spoil_at(weft_collider* c, int v)
{
    const feature_star* star = &c->extender.star[1];
    const int* face = c->corner[FEATURE_FACE];
    for (int k = star->start[v]; k < star->start[v + 1]; k++)
    {
        for (int corner = 0; corner < 3; corner++)
        {
            int edge[2] = {v, face[3 * (size_t)star->feature[k] + (size_t)corner]}, faces = 0;
            for (int j = star->start[v]; j < star->start[v + 1]; j++)
            {
                const int* other = face + 3 * (size_t)star->feature[j];
                faces += other[0] == edge[1] || other[1] == edge[1] || other[2] == edge[1];
            }
            edge[1] != v && faces == 1 ? smooth_spoil(&c->smooth, edge) : (void)0;
        }
    }
}

static void mend_cells(const tearer* t)
{
    smooth_map* m = &t->c->smooth;
    for (int f = 0, packed = 0; f < t->c->tree[FEATURE_FACE].count && m->face_count > 0; f++)
    {
        const int* v = t->c->corner[FEATURE_FACE] + 3 * (size_t)f;
        m->grid_of[v[0]] >= 0 ? memcpy(m->corner + 3 * (size_t)packed++, v, 3 * sizeof(int)) : NULL;
    }
    for (int k = 0; k < t->torn->count; k++)
    {
        spoil_at(t->c, t->torn->from[k]);
        spoil_at(t->c, t->torn->first + k);
    }
}

// ---- the whole

static void drop_lists(weft_collider* c)
{
    for (int k = 0; k < 2; k++)
    {
        c->candidates[k].count = c->sifted[k].count = c->doubted[k].count = 0;
    }
    c->near.count = c->impacts.count = c->vertex_face.count = c->edge_edge.count = 0;
}

static weft_status tear(tearer* t)
{
    weft_collider* c = t->c;
    size_t n = (size_t)c->vertex_count;
    bool known = !c->rules.seam && !c->rules.vertex_start && c->extender.star[1].start && c->smooth.grid_of;
    TRY(known ? WEFT_OK : WEFT_NOT_FOUND);
    bool ok = array_grow((void**)&c->extender.moved, n, n + (size_t)t->torn->count, sizeof(uint8_t));
    TRY(ok ? WEFT_OK : WEFT_NO_MEMORY);
    TRY(mend_faces(t));
    TRY(mend_edges(t));
    TRY(mend_vertices(t));
    TRY(mend_trees(t, t->edges_before - t->was.count + t->is.count));
    TRY(extender_renew(c));
    mend_cells(t);
    drop_lists(c);
    return WEFT_OK;
}

weft_status collider_tear(weft_collider* c, const torn_vertices* torn)
{
    tearer t = {.c = c, .torn = torn, .shift = torn->first < c->vertex_count ? torn->count : 0};
    weft_status status = tear(&t);
    mem_free(t.was.item);
    mem_free(t.is.item);
    mem_free(t.edge_now);
    mem_free(t.added);
    return status;
}
