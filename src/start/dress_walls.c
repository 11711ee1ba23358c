// Garments as walls: their triangles, and lids on their borders. A winding number with lids on says what is inside, as
// that of Jacobson, Kavan and Sorkine-Hornung 2013 does without, but to the very border.
#include "start/dress_walls.h"

#include <stdlib.h>
#include <string.h>

static const double narrow = 0.6; // of the girth of a limb: so long a border does not let it through

typedef struct border
{
    int a, b; // as its triangle runs
} border;

typedef struct wall_list
{
    int opening_capacity;
    int* place;
    border* borders; // [border_count]
    int border_count;
    unsigned char* done; // [border_count]
} wall_list;

static void add_triangle(walls* w, int a, int b, int c, int opening)
{
    const int corner[3] = {a, b, c};
    memcpy(w->triangle + 3 * (size_t)w->triangle_count, corner, sizeof(corner));
    w->opening_of[w->triangle_count++] = opening;
}

// ---- borders

static int by_ends(const void* p, const void* q)
{
    const border *a = p, *b = q;
    int low_a = int_min(a->a, a->b), low_b = int_min(b->a, b->b), high_a = int_max(a->a, a->b),
        high_b = int_max(b->a, b->b);
    return low_a != low_b ? (low_a > low_b) - (low_a < low_b) : (high_a > high_b) - (high_a < high_b);
}

static int by_begin(const void* p, const void* q)
{
    const border *a = p, *b = q;
    return a->a != b->a ? (a->a > b->a) - (a->a < b->a) : (a->b > b->b) - (a->b < b->b);
}

// Edges of one triangle alone, sorted by where they begin.
static weft_status find_borders(walls* w, wall_list* list, int first_triangle)
{
    int count = 0, total = 3 * (w->triangle_count - first_triangle);
    border* all = MEM_NEW(int_max(total, 1), border);
    if (!all)
    {
        return WEFT_NO_MEMORY;
    }
    for (int k = 0; k < total; k++)
    {
        const int* c = w->triangle + 3 * (size_t)(first_triangle + k / 3);
        all[k] = (border){c[k % 3], c[(k + 1) % 3]};
    }
    qsort(all, (size_t)total, sizeof(border), by_ends);
    for (int k = 0, end = 0; k < total; k = end)
    {
        for (end = k + 1; end < total && by_ends(&all[k], &all[end]) == 0;)
        {
            end++;
        }
        all[count] = all[k];
        count += end == k + 1 && all[k].a != all[k].b;
    }
    qsort(all, (size_t)count, sizeof(border), by_begin);
    list->borders = all;
    list->border_count = count;
    list->done = MEM_NEW(int_max(count, 1), unsigned char);
    return list->done ? WEFT_OK : WEFT_NO_MEMORY;
}

// A border that begins at a vertex and was not gone along; -1: none.
static int border_from(const wall_list* list, int vertex)
{
    int low = 0, high = list->border_count;
    while (low < high)
    {
        int middle = (low + high) / 2;
        list->borders[middle].a < vertex ? (low = middle + 1) : (high = middle);
    }
    while (low < list->border_count && list->borders[low].a == vertex && list->done[low])
    {
        low++;
    }
    return low < list->border_count && list->borders[low].a == vertex ? low : -1;
}

// ---- openings

static weft_status close_border(walls* w, wall_list* list, const int* edges, int count, int garment)
{
    vec3 sum = v3(0, 0, 0), area = v3(0, 0, 0);
    double length = 0.0;
    for (int k = 0; k < count; k++)
    {
        vec3 a = w->x[list->borders[edges[k]].a], b = w->x[list->borders[edges[k]].b];
        double l = v3_length(v3_sub(b, a));
        sum = v3_madd(sum, 0.5 * l, v3_add(a, b));
        length += l;
    }
    if (!(length > 0.0))
    {
        return WEFT_OK;
    }
    vec3 middle = v3_scale(1.0 / length, sum);
    int number = w->opening_count, vertex = w->vertex_count;
    w->x[w->vertex_count++] = middle;
    for (int k = 0; k < count; k++)
    {
        border e = list->borders[edges[k]];
        area = v3_add(area, v3_cross(v3_sub(w->x[e.b], middle), v3_sub(w->x[e.a], middle)));
        add_triangle(w, e.b, e.a, vertex, number);
    }
    TRY(mem_grow((void**)&w->openings, &list->opening_capacity, number + 1, sizeof(opening)) ? WEFT_OK
                                                                                             : WEFT_NO_MEMORY);
    w->openings[w->opening_count++] =
        (opening){.garment = garment, .length = length, .middle = middle, .out = v3_normalize(area)};
    return WEFT_OK;
}

static weft_status close_borders(walls* w, wall_list* list, int garment)
{
    int* edges = MEM_NEW(int_max(list->border_count, 1), int);
    weft_status status = edges ? WEFT_OK : WEFT_NO_MEMORY;
    for (int k = 0; k < list->border_count && status == WEFT_OK; k++)
    {
        int count = 0;
        for (int e = list->done[k] ? -1 : k; e >= 0; e = border_from(list, list->borders[e].b))
        {
            list->done[e] = 1;
            edges[count++] = e;
        }
        status = count > 2 ? close_border(w, list, edges, count, garment) : WEFT_OK;
    }
    mem_free(edges);
    return status;
}

static weft_status add_garment(walls* w, wall_list* list, const dress_cloth* cloth, int garment)
{
    const mesh* m = cloth->mesh;
    int first = w->vertex_count, first_triangle = w->triangle_count;
    w->first[garment] = first_triangle;
    list->place = MEM_NEW(int_max(m->vertex_count, 1), int);
    TRY(list->place ? core_weld(cloth->x, m->vertex_count, list->place) : WEFT_NO_MEMORY);
    memcpy(w->x + first, cloth->x, (size_t)m->vertex_count * sizeof(vec3));
    w->vertex_count += m->vertex_count;
    for (int t = 0; t < m->triangle_count; t++)
    {
        const int* c = m->triangle + 3 * (size_t)t;
        add_triangle(w, first + list->place[c[0]], first + list->place[c[1]], first + list->place[c[2]], -1);
    }
    TRY(find_borders(w, list, first_triangle));
    TRY(close_borders(w, list, garment));
    w->first[garment + 1] = w->triangle_count;
    return WEFT_OK;
}

// ---- trees

static weft_status make_tree(walls* w, triangle_tree* tree, bool lids)
{
    int* items = MEM_NEW(int_max(w->triangle_count, 1), int);
    int count = 0;
    for (int t = 0; t < w->triangle_count && items; t++)
    {
        items[count] = t;
        count += (w->opening_of[t] >= 0) == lids;
    }
    weft_status status = items ? triangle_tree_create(tree, w->triangle, items, count, w->x) : WEFT_NO_MEMORY;
    mem_free(items);
    return status;
}

static weft_status make_trees(walls* w)
{
    TRY(make_tree(w, &w->cloth, false));
    TRY(make_tree(w, &w->lids, true));
    w->inside = MEM_NEW(w->garment_count, winding_tree);
    TRY(w->inside ? WEFT_OK : WEFT_NO_MEMORY);
    for (int g = 0; g < w->garment_count; g++)
    {
        int count = w->first[g + 1] - w->first[g];
        TRY(winding_create(&w->inside[g], w->triangle + 3 * (size_t)w->first[g], count, w->x));
        winding_update(&w->inside[g], w->x);
    }
    // Normals may look inward: then lids do, too.
    for (int k = 0; k < w->opening_count; k++)
    {
        opening* o = &w->openings[k];
        double step = 0.02 * o->length;
        bool before = walls_hold(w, o->garment, v3_madd(o->middle, step, o->out));
        bool behind = walls_hold(w, o->garment, v3_madd(o->middle, -step, o->out));
        o->out = before && !behind ? v3_scale(-1.0, o->out) : o->out;
    }
    w->low = w->cloth.low[1];
    w->high = w->cloth.high[1];
    return WEFT_OK;
}

weft_status walls_create(walls* w, const dress_cloth* cloths, int count)
{
    int vertices = 2, triangles = 0;
    for (int k = 0; k < count; k++)
    {
        triangles += cloths[k].mesh->triangle_count;
        vertices += cloths[k].mesh->vertex_count + cloths[k].mesh->triangle_count; // borders are no more than these
    }
    *w = (walls){.garment_count = count};
    w->x = MEM_NEW(vertices, vec3);
    w->first = MEM_NEW(count + 1, int);
    w->triangle = MEM_NEW(12 * (size_t)triangles + 1, int); // each has three borders at most
    w->opening_of = MEM_NEW(4 * (size_t)triangles + 1, int);
    wall_list list = {0};
    weft_status status = w->x && w->first && w->triangle && w->opening_of ? WEFT_OK : WEFT_NO_MEMORY;
    for (int k = 0; k < count && status == WEFT_OK; k++)
    {
        status = add_garment(w, &list, &cloths[k], k);
        mem_free(list.place);
        mem_free(list.borders);
        mem_free(list.done);
        list.place = NULL;
        list.borders = NULL;
        list.done = NULL;
    }
    return status == WEFT_OK ? make_trees(w) : status;
}

void walls_finish(walls* w)
{
    for (int g = 0; g < w->garment_count && w->inside; g++)
    {
        winding_finish(&w->inside[g]);
    }
    triangle_tree_finish(&w->cloth);
    triangle_tree_finish(&w->lids);
    void* const arrays[] = {w->x, w->triangle, w->opening_of, w->first, w->openings, w->inside};
    for (size_t k = 0; k < sizeof(arrays) / sizeof(arrays[0]); k++)
    {
        mem_free(arrays[k]);
    }
    *w = (walls){0};
}

// ---- asked

bool walls_hold(walls* w, int garment, vec3 p)
{
    return winding_exceeds(&w->inside[garment], p, 0.5);
}

static bool segment_meets(vec3 a, vec3 b, vec3 p, vec3 q, vec3 r)
{
    vec3 d = v3_sub(b, a), u = v3_sub(p, a), v = v3_sub(q, a), t = v3_sub(r, a);
    double first = v3_dot(d, v3_cross(u, v)), second = v3_dot(d, v3_cross(v, t)), third = v3_dot(d, v3_cross(t, u));
    bool through = (first >= 0.0 && second >= 0.0 && third >= 0.0) || (first <= 0.0 && second <= 0.0 && third <= 0.0);
    vec3 n = v3_cross(v3_sub(q, p), v3_sub(r, p));
    double along = v3_dot(d, n), at = v3_dot(u, n);
    return through && along != 0.0 && at / along >= 0.0 && at / along <= 1.0;
}

bool opening_admits(const opening* o, double radius)
{
    return o->length >= narrow * 2.0 * PI * radius;
}

// A triangle between two points that a limb of that radius does not get through, or a lid of these garments; -1: none.
static int meets(walls* w, const triangle_tree* tree, vec3 a, vec3 b, double radius, const unsigned char* of)
{
    int n = w->vertex_count;
    const int ends[3] = {n, n + 1, n + 1};
    w->x[n] = a;
    w->x[n + 1] = b;
    triangle_tree_walk walk = triangle_tree_begin(tree, w->x, ends);
    for (int t = triangle_tree_next(&walk); t >= 0; t = triangle_tree_next(&walk))
    {
        const int* c = w->triangle + 3 * (size_t)t;
        const opening* o = w->opening_of[t] >= 0 ? &w->openings[w->opening_of[t]] : NULL;
        bool wall = !o || (of ? of[o->garment] : !opening_admits(o, radius));
        if (wall && segment_meets(a, b, w->x[c[0]], w->x[c[1]], w->x[c[2]]))
        {
            return t;
        }
    }
    return -1;
}

bool walls_hit(walls* w, vec3 a, vec3 b)
{
    return meets(w, &w->cloth, a, b, 0.0, NULL) >= 0;
}

int walls_opening(walls* w, vec3 a, vec3 b)
{
    int t = meets(w, &w->lids, a, b, INFINITY, NULL);
    return t >= 0 ? w->opening_of[t] : -1;
}

bool walls_left(walls* w, vec3 a, vec3 b, const unsigned char* of)
{
    return meets(w, &w->lids, a, b, 0.0, of) >= 0;
}

bool walls_bar(walls* w, vec3 a, vec3 b, double radius)
{
    return walls_hit(w, a, b) || meets(w, &w->lids, a, b, radius, NULL) >= 0;
}
