// A body as a tree: its limbs, trunk and head as lines that meet. Ways over its surface from the end of a limb or the
// head, whichever is nearest to everything, cut it into bands; each piece of a band that hangs together is a node, at
// its middle. Where a body branches a band falls into pieces, so that what joins an arm to the trunk is a line, too,
// and no web: the Reeb graph of the ways (Hilaga, Shinagawa, Kohmura and Kunii 2001), with bands that overlap by half,
// as in the Mapper of Singh, Memoli and Carlsson 2007, so that no band falls to pieces for coarse triangles alone.
//
// Parts that do not hang together are joined to the largest where they are nearest to it. Serial: one order of sums.
#include <stdlib.h>
#include <string.h>

#include "collide/triangle_tree.h"
#include "core/way_heap.h"
#include "start/dress.h"

enum
{
    BANDS = 160, // over the longest way, at most
    ENDS = 8     // of limbs that are looked at
};

static const double edges_a_band = 1.5;
static const double end_reach = 0.08, end_rise = 0.02; // of the longest way: where an end is the farthest

typedef struct joint
{
    int a, b;
} joint;

typedef struct tree_work
{
    const int* triangle;
    int triangle_count, vertex_count;
    const vec3* x;
    int* place;   // [vertex_count] the first vertex at the same place
    int* part;    // [vertex_count] lowest vertex of what hangs together
    double* area; // [vertex_count] m^2, a third of the triangles around; 0: no triangle uses it
    joint* edges; // [edge_count] of triangles, each from both, and joints of parts
    int edge_count;
    double edge_mean;                   // m
    int *near_start, *near;             // [vertex_count + 1], [2 * edge_count]
    double *way, *least, *first, *ways; // [vertex_count] m
    way_heap heap;
    int *label, *stack; // [vertex_count]
    double band;        // m
} tree_work;

static bool is_used(const tree_work* w, int i)
{
    return w->place[i] == i && w->area[i] > 0.0;
}

static bool work_allocate(tree_work* w)
{
    size_t n = (size_t)int_max(w->vertex_count, 1);
    w->place = MEM_NEW(n, int);
    w->part = MEM_NEW(n, int);
    w->area = MEM_NEW(n, double);
    w->edges = MEM_NEW(3 * (size_t)w->triangle_count + n, joint);
    w->near_start = MEM_NEW(n + 1, int);
    w->near = MEM_NEW(6 * (size_t)w->triangle_count + 2 * n, int);
    w->way = MEM_NEW(n, double);
    w->least = MEM_NEW(n, double);
    w->first = MEM_NEW(n, double);
    w->ways = MEM_NEW(n, double);
    w->label = MEM_NEW(n, int);
    w->stack = MEM_NEW(n, int);
    return w->place && w->part && w->area && w->edges && w->near_start && w->near && w->way && w->least && w->first &&
           w->ways && w->label && w->stack;
}

static void work_finish(tree_work* w)
{
    void* const arrays[] = {w->place, w->part,  w->area,  w->edges, w->near_start, w->near,
                            w->way,   w->least, w->first, w->ways,  w->label,      w->stack};
    for (size_t k = 0; k < sizeof(arrays) / sizeof(arrays[0]); k++)
    {
        mem_free(arrays[k]);
    }
    way_heap_finish(&w->heap);
}

// ---- parts

static int find_part(int* part, int i)
{
    while (part[i] != i)
    {
        part[i] = part[part[i]];
        i = part[i];
    }
    return i;
}

static void measure(tree_work* w)
{
    double sum = 0.0;
    for (int i = 0; i < w->vertex_count; i++)
    {
        w->part[i] = i;
    }
    for (int t = 0; t < w->triangle_count; t++)
    {
        const int* c = w->triangle + 3 * (size_t)t;
        vec3 n = v3_cross(v3_sub(w->x[c[1]], w->x[c[0]]), v3_sub(w->x[c[2]], w->x[c[0]]));
        for (int k = 0; k < 3; k++)
        {
            int a = w->place[c[k]], b = w->place[c[(k + 1) % 3]], one = find_part(w->part, a);
            w->area[a] += v3_length(n) / 6.0;
            w->edges[w->edge_count++] = (joint){a, b};
            w->part[int_max(one, find_part(w->part, b))] = int_min(one, find_part(w->part, b));
            sum += v3_length(v3_sub(w->x[a], w->x[b]));
        }
    }
    w->edge_mean = sum / int_max(w->edge_count, 1);
    for (int i = 0; i < w->vertex_count; i++)
    {
        w->part[i] = find_part(w->part, i);
    }
}

// The part with the largest area; least is scratch.
static int largest_part(tree_work* w)
{
    int best = -1;
    memset(w->least, 0, (size_t)w->vertex_count * sizeof(double));
    for (int i = 0; i < w->vertex_count; i++)
    {
        w->least[w->part[i]] += w->area[i];
    }
    for (int i = 0; i < w->vertex_count; i++)
    {
        best = best < 0 || w->least[i] > w->least[best] ? i : best;
    }
    return best;
}

// The pair of vertices over which each part is nearest to the largest: label has one end, stack the other.
static void join_to(tree_work* w, int main, const triangle_tree* tree)
{
    for (int i = 0; i < w->vertex_count; i++)
    {
        w->least[i] = INFINITY;
    }
    for (int i = 0; i < w->vertex_count; i++)
    {
        int part = w->part[i];
        surface_point at = is_used(w, i) && part != main ? triangle_tree_nearest(tree, w->x, w->x[i], w->least[part])
                                                         : (surface_point){.triangle = -1};
        if (at.triangle >= 0)
        {
            int best = at.weight[1] > at.weight[0] ? 1 : 0;
            best = at.weight[2] > at.weight[best] ? 2 : best;
            w->least[part] = at.distance;
            w->label[part] = i;
            w->stack[part] = w->place[w->triangle[3 * (size_t)at.triangle + (size_t)best]];
        }
    }
    for (int i = 0; i < w->vertex_count; i++)
    {
        isfinite(w->least[i]) ? (void)(w->edges[w->edge_count++] = (joint){w->label[i], w->stack[i]}) : (void)0;
    }
}

static weft_status join_parts(tree_work* w, int main)
{
    int* items = MEM_NEW(int_max(w->triangle_count, 1), int);
    int count = 0;
    for (int t = 0; t < w->triangle_count && items; t++)
    {
        items[count] = t;
        count += w->part[w->triangle[3 * (size_t)t]] == main;
    }
    triangle_tree tree = {0};
    weft_status status = items ? triangle_tree_create(&tree, w->triangle, items, count, w->x) : WEFT_NO_MEMORY;
    status == WEFT_OK ? join_to(w, main, &tree) : (void)0;
    triangle_tree_finish(&tree);
    mem_free(items);
    return status;
}

static void list_neighbours(tree_work* w)
{
    for (int k = 0; k < w->edge_count; k++)
    {
        w->near_start[w->edges[k].a + 1]++;
        w->near_start[w->edges[k].b + 1]++;
    }
    for (int i = 0; i < w->vertex_count; i++)
    {
        w->near_start[i + 1] += w->near_start[i];
        w->label[i] = w->near_start[i];
    }
    for (int k = 0; k < w->edge_count; k++)
    {
        w->near[w->label[w->edges[k].a]++] = w->edges[k].b;
        w->near[w->label[w->edges[k].b]++] = w->edges[k].a;
    }
}

// ---- ways over the surface

static weft_status ways_from(tree_work* w, int source, double* way_to)
{
    for (int i = 0; i < w->vertex_count; i++)
    {
        way_to[i] = INFINITY;
    }
    way_to[source] = 0.0;
    TRY(way_heap_push(&w->heap, (way){0.0, source}));
    while (w->heap.count > 0)
    {
        way now = way_heap_pop(&w->heap);
        for (int k = w->near_start[now.vertex]; k < w->near_start[now.vertex + 1] && now.distance == way_to[now.vertex];
             k++)
        {
            int j = w->near[k];
            double there = now.distance + v3_length(v3_sub(w->x[now.vertex], w->x[j]));
            if (there < way_to[j])
            {
                way_to[j] = there;
                TRY(way_heap_push(&w->heap, (way){there, j}));
            }
        }
    }
    return WEFT_OK;
}

static int farthest(const tree_work* w, const double* way_to)
{
    int best = -1;
    for (int i = 0; i < w->vertex_count; i++)
    {
        bool may = is_used(w, i) && isfinite(way_to[i]);
        best = may && (best < 0 || way_to[i] > way_to[best]) ? i : best;
    }
    return best;
}

static double mean_way(const tree_work* w)
{
    double sum = 0.0, area = 0.0;
    for (int i = 0; i < w->vertex_count; i++)
    {
        bool may = is_used(w, i) && isfinite(w->way[i]);
        sum += may ? w->area[i] * w->way[i] : 0.0;
        area += may ? w->area[i] : 0.0;
    }
    return sum / area;
}

// Whether ways from the first end are longest there; a trunk's middle is far from all ends, and is none.
static bool is_end(const tree_work* w, int i, double longest)
{
    for (int j = 0; j < w->vertex_count; j++)
    {
        if (isfinite(w->first[j]) && w->first[j] > w->first[i] + end_rise * longest &&
            v3_length(v3_sub(w->x[j], w->x[i])) < end_reach * longest)
        {
            return false;
        }
    }
    return true;
}

// Ends, each as far from those before as there is; that with the shortest ways to everything begins: way.
static weft_status choose_end(tree_work* w, int any)
{
    TRY(ways_from(w, any, w->way));
    int end = farthest(w, w->way);
    TRY(ways_from(w, end, w->first));
    double longest = w->first[farthest(w, w->first)], best = INFINITY;
    memcpy(w->least, w->first, (size_t)w->vertex_count * sizeof(double));
    for (int k = 0; k < ENDS && end >= 0; k++)
    {
        TRY(ways_from(w, end, w->way));
        double mean = k == 0 || is_end(w, end, longest) ? mean_way(w) : INFINITY;
        if (mean < best)
        {
            best = mean;
            memcpy(w->ways, w->way, (size_t)w->vertex_count * sizeof(double));
        }
        for (int i = 0; i < w->vertex_count; i++)
        {
            w->least[i] = fmin(w->least[i], w->way[i]);
        }
        end = farthest(w, w->least);
    }
    w->band = fmax(w->ways[farthest(w, w->ways)] / BANDS, edges_a_band * w->edge_mean);
    return WEFT_OK;
}

// ---- bands

static int band_of(const tree_work* w, int i)
{
    return (int)(w->ways[i] / w->band);
}

// What hangs together with a vertex of the band, within the band and half of each of its neighbours, becomes a node.
static void gather(tree_work* w, body_tree* tree, int from, int band, int mark)
{
    int depth = 0, node = tree->node_count++;
    double low = (band - 0.5) * w->band, high = (band + 1.5) * w->band, area = 0.0;
    vec3 sum = v3(0, 0, 0);
    w->stack[depth++] = from;
    w->label[from] = mark;
    for (int k = 0; k < depth; k++)
    {
        int i = w->stack[k];
        tree->node[i] = band_of(w, i) == band ? node : tree->node[i];
        sum = v3_madd(sum, w->area[i], w->x[i]);
        area += w->area[i];
        for (int n = w->near_start[i]; n < w->near_start[i + 1]; n++)
        {
            int j = w->near[n];
            if (w->label[j] != mark && w->ways[j] >= low && w->ways[j] < high)
            {
                w->label[j] = mark;
                w->stack[depth++] = j;
            }
        }
    }
    tree->place[node] = v3_scale(1.0 / area, sum);
    tree->area[node] = area;
    double far = 0.0;
    for (int k = 0; k < depth; k++)
    {
        far += w->area[w->stack[k]] * v3_length(v3_sub(w->x[w->stack[k]], tree->place[node]));
    }
    tree->radius[node] = far / area;
}

static void make_nodes(tree_work* w, body_tree* tree)
{
    for (int i = 0; i < w->vertex_count; i++)
    {
        tree->node[i] = -1;
        w->label[i] = -1;
    }
    for (int i = 0; i < w->vertex_count; i++)
    {
        bool may = is_used(w, i) && isfinite(w->ways[i]) && tree->node[i] < 0;
        may ? gather(w, tree, i, band_of(w, i), tree->node_count) : (void)0;
    }
}

static int joint_compare(const void* a, const void* b)
{
    const joint *p = a, *q = b;
    return p->a != q->a ? (p->a > q->a) - (p->a < q->a) : (p->b > q->b) - (p->b < q->b);
}

// Which nodes touch, each pair both ways.
static void make_links(tree_work* w, body_tree* tree)
{
    int count = 0;
    for (int k = 0; k < w->edge_count; k++)
    {
        int a = tree->node[w->edges[k].a], b = tree->node[w->edges[k].b];
        w->edges[count] = (joint){int_min(a, b), int_max(a, b)};
        count += a >= 0 && b >= 0 && a != b;
    }
    qsort(w->edges, (size_t)count, sizeof(joint), joint_compare);
    for (int k = 0; k < count; k++)
    {
        bool fresh = k == 0 || joint_compare(&w->edges[k], &w->edges[k - 1]) != 0;
        tree->link[2 * tree->link_count] = w->edges[k].a;
        tree->link[2 * tree->link_count + 1] = w->edges[k].b;
        tree->link_count += fresh;
    }
}

static weft_status make_tree(tree_work* w, body_tree* tree)
{
    TRY(core_weld(w->x, w->vertex_count, w->place));
    measure(w);
    int main = w->triangle_count > 0 ? largest_part(w) : -1;
    if (main < 0 || !(w->edge_mean > 0.0))
    {
        return WEFT_OK; // nothing to make a tree of
    }
    TRY(join_parts(w, main));
    list_neighbours(w);
    TRY(choose_end(w, main));
    make_nodes(w, tree);
    tree->link = MEM_NEW(2 * w->edge_count + 2, int);
    TRY(tree->link ? WEFT_OK : WEFT_NO_MEMORY);
    make_links(w, tree);
    for (int i = 0; i < w->vertex_count; i++)
    {
        tree->node[i] = tree->node[w->place[i]];
    }
    return WEFT_OK;
}

weft_status body_tree_create(body_tree* tree, const int* triangle, int triangle_count, const vec3* x, int vertex_count)
{
    tree_work w = {.triangle = triangle, .triangle_count = triangle_count, .vertex_count = vertex_count, .x = x};
    size_t n = (size_t)int_max(vertex_count, 1);
    *tree = (body_tree){
        .place = MEM_NEW(n, vec3), .area = MEM_NEW(n, double), .radius = MEM_NEW(n, double), .node = MEM_NEW(n, int)};
    bool good = tree->place && tree->area && tree->radius && tree->node && work_allocate(&w);
    weft_status status = good ? make_tree(&w, tree) : WEFT_NO_MEMORY;
    work_finish(&w);
    return status;
}

void body_tree_finish(body_tree* tree)
{
    void* const arrays[] = {tree->place, tree->area, tree->radius, tree->node, tree->link};
    for (size_t k = 0; k < sizeof(arrays) / sizeof(arrays[0]); k++)
    {
        mem_free(arrays[k]);
    }
    *tree = (body_tree){0};
}
