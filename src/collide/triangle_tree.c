// A tree of boxes over triangles, balanced over a Hilbert curve: the nearest point, and whether closed surfaces hold a
// point.
#include "collide/triangle_tree.h"

#include <math.h>
#include <stdlib.h>

#include "collide/broad.h"
#include "mesh/mesh.h"

enum
{
    LEAF = 4,   // triangles in a leaf, at most
    DEPTH = 64, // nodes that a walk has on its stack, at most
    HITS = 256  // triangles that a ray meets, at most
};

static int leaf_begin(const triangle_tree* tree, int leaf)
{
    return (int)((int64_t)leaf * tree->count / tree->leaf_count);
}

static weft_status order_items(triangle_tree* tree, const int* items, const vec3* x)
{
    vec3* middle = MEM_NEW(tree->count, vec3);
    int* rank = MEM_NEW(tree->count, int);
    weft_status status = middle && rank ? WEFT_OK : WEFT_NO_MEMORY;
    for (int k = 0; k < tree->count && status == WEFT_OK; k++)
    {
        const int* c = tree->corner + 3 * (size_t)items[k];
        middle[k] = v3_scale(1.0 / 3.0, v3_add(v3_add(x[c[0]], x[c[1]]), x[c[2]]));
    }
    status = status == WEFT_OK ? mesh_order(middle, tree->count, rank) : status;
    for (int k = 0; k < tree->count && status == WEFT_OK; k++)
    {
        tree->item[rank[k]] = items[k];
    }
    mem_free(middle);
    mem_free(rank);
    return status;
}

weft_status triangle_tree_create(triangle_tree* tree, const int* corner, const int* items, int count, const vec3* x)
{
    *tree = (triangle_tree){.corner = corner, .count = count, .leaf_count = 1};
    while (tree->leaf_count * LEAF < count)
    {
        tree->leaf_count *= 2;
    }
    tree->item = MEM_NEW(int_max(count, 1), int);
    tree->low = MEM_NEW(2 * tree->leaf_count, vec3);
    tree->high = MEM_NEW(2 * tree->leaf_count, vec3);
    if (!tree->item || !tree->low || !tree->high || order_items(tree, items, x) != WEFT_OK)
    {
        triangle_tree_finish(tree);
        return WEFT_NO_MEMORY;
    }
    triangle_tree_refit(tree, x);
    return WEFT_OK;
}

void triangle_tree_finish(triangle_tree* tree)
{
    mem_free(tree->item);
    mem_free(tree->low);
    mem_free(tree->high);
    *tree = (triangle_tree){0};
}

static void grow_box(vec3* low, vec3* high, vec3 a, vec3 b)
{
    *low = v3(fmin(low->x, a.x), fmin(low->y, a.y), fmin(low->z, a.z));
    *high = v3(fmax(high->x, b.x), fmax(high->y, b.y), fmax(high->z, b.z));
}

void triangle_tree_refit(triangle_tree* tree, const vec3* x)
{
    for (int node = 2 * tree->leaf_count - 1; node >= 1; node--)
    {
        vec3 low = v3(INFINITY, INFINITY, INFINITY), high = v3(-INFINITY, -INFINITY, -INFINITY);
        if (node < tree->leaf_count)
        {
            grow_box(&low, &high, tree->low[2 * node], tree->high[2 * node]);
            grow_box(&low, &high, tree->low[2 * node + 1], tree->high[2 * node + 1]);
        }
        else
        {
            int end = leaf_begin(tree, node - tree->leaf_count + 1);
            for (int k = 3 * leaf_begin(tree, node - tree->leaf_count); k < 3 * end; k++)
            {
                vec3 p = x[tree->corner[3 * (size_t)tree->item[k / 3] + (size_t)(k % 3)]];
                grow_box(&low, &high, p, p);
            }
        }
        tree->low[node] = low;
        tree->high[node] = high;
    }
}

// ---- the nearest point

static double outside(double low, double high, double p)
{
    return fmax(0.0, fmax(low - p, p - high));
}

static double box_distance_sq(const triangle_tree* tree, int node, vec3 p)
{
    vec3 d =
        v3(outside(tree->low[node].x, tree->high[node].x, p.x), outside(tree->low[node].y, tree->high[node].y, p.y),
           outside(tree->low[node].z, tree->high[node].z, p.z));
    return v3_dot(d, d);
}

static void nearest_in_leaf(const triangle_tree* tree, int leaf, const vec3* x, vec3 p, vec3 along, surface_point* best)
{
    int end = leaf_begin(tree, leaf + 1);
    for (int k = leaf_begin(tree, leaf); k < end; k++)
    {
        const int* c = tree->corner + 3 * (size_t)tree->item[k];
        const vec3 points[4] = {p, x[c[0]], x[c[1]], x[c[2]]};
        closest found = closest_vertex_face(points);
        bool lower = found.distance == best->distance && best->triangle >= 0 && tree->item[k] < best->triangle;
        if ((found.distance < best->distance || lower) && v3_dot(found.normal, along) <= 0.0)
        {
            *best = (surface_point){
                tree->item[k], {-found.weight[1], -found.weight[2], -found.weight[3]}, p, found.distance};
            best->point = v3_madd(p, -found.distance, found.normal);
        }
    }
}

// Of triangles that share the nearest point the one with the lowest number, whatever the order of the tree is: a tree
// that was made elsewhere and followed must answer as a new one. The margin is for the rounding of distances.
surface_point triangle_tree_nearest_ahead(const triangle_tree* tree, const vec3* x, vec3 p, vec3 along, double reach)
{
    surface_point best = {.triangle = -1, .distance = reach};
    int stack[DEPTH], depth = 0;
    stack[depth++] = 1;
    while (depth > 0 && tree->count > 0)
    {
        int node = stack[--depth];
        if (box_distance_sq(tree, node, p) > (1.0 + 1e-9) * best.distance * best.distance)
        {
            continue;
        }
        if (node >= tree->leaf_count)
        {
            nearest_in_leaf(tree, node - tree->leaf_count, x, p, along, &best);
            continue;
        }
        bool left_first = box_distance_sq(tree, 2 * node, p) <= box_distance_sq(tree, 2 * node + 1, p);
        stack[depth++] = 2 * node + left_first;
        stack[depth++] = 2 * node + !left_first;
    }
    return best;
}

surface_point triangle_tree_nearest(const triangle_tree* tree, const vec3* x, vec3 p, double reach)
{
    return triangle_tree_nearest_ahead(tree, x, p, v3(0, 0, 0), reach);
}

// ---- inside

// 1: the ray from p along d leaves through the triangle, -1: it enters, 0: it passes.
static int ray_crossing(vec3 a, vec3 b, vec3 c, vec3 p, vec3 d)
{
    vec3 u = v3_sub(a, p), v = v3_sub(b, p), w = v3_sub(c, p);
    double first = v3_dot(d, v3_cross(u, v)), second = v3_dot(d, v3_cross(v, w)), third = v3_dot(d, v3_cross(w, u));
    bool leaves = first > 0.0 && second > 0.0 && third > 0.0, enters = first < 0.0 && second < 0.0 && third < 0.0;
    double volume = v3_dot(u, v3_cross(v, w));
    return leaves && volume > 0.0 ? 1 : enters && volume < 0.0 ? -1 : 0;
}

static bool ray_meets_box(vec3 low, vec3 high, vec3 p, vec3 d)
{
    const double l[3] = {low.x, low.y, low.z}, h[3] = {high.x, high.y, high.z};
    const double o[3] = {p.x, p.y, p.z}, r[3] = {d.x, d.y, d.z};
    double begin = 0.0, end = INFINITY;
    for (int k = 0; k < 3; k++)
    {
        if (r[k] == 0.0)
        {
            begin = l[k] <= o[k] && o[k] <= h[k] ? begin : INFINITY;
            continue;
        }
        double s = (l[k] - o[k]) / r[k], t = (h[k] - o[k]) / r[k];
        begin = fmax(begin, fmin(s, t));
        end = fmin(end, fmax(s, t));
    }
    return begin <= end * (1.0 + 1e-12) + 1e-300;
}

typedef struct ray_hit
{
    double at; // along the ray
    int sign;
} ray_hit;

// What the ray meets, up to HITS, in no order; returns their number.
static int ray_hits(const triangle_tree* tree, const vec3* x, vec3 p, vec3 d, ray_hit* hits)
{
    int stack[DEPTH], depth = 0, count = 0;
    stack[depth++] = 1;
    while (depth > 0 && tree->count > 0)
    {
        int node = stack[--depth];
        if (!ray_meets_box(tree->low[node], tree->high[node], p, d))
        {
            continue;
        }
        if (node < tree->leaf_count)
        {
            stack[depth++] = 2 * node;
            stack[depth++] = 2 * node + 1;
            continue;
        }
        int end = leaf_begin(tree, node - tree->leaf_count + 1);
        for (int k = leaf_begin(tree, node - tree->leaf_count); k < end && count < HITS; k++)
        {
            const int* c = tree->corner + 3 * (size_t)tree->item[k];
            int sign = ray_crossing(x[c[0]], x[c[1]], x[c[2]], p, d);
            if (sign != 0)
            {
                vec3 n = v3_cross(v3_sub(x[c[1]], x[c[0]]), v3_sub(x[c[2]], x[c[0]]));
                hits[count++] = (ray_hit){v3_dot(v3_sub(x[c[0]], p), n) / v3_dot(d, n), sign};
            }
        }
    }
    return count;
}

static int winding(const ray_hit* hits, int count)
{
    int sum = 0;
    for (int k = 0; k < count; k++)
    {
        sum += hits[k].sign;
    }
    return sum;
}

// A ray can slip through an edge by rounding, and then only one of three does.
bool triangle_tree_holds(const triangle_tree* tree, const vec3* x, vec3 p)
{
    static const vec3 rays[3] = {{0.8017, 0.5345, 0.2671}, {-0.3713, 0.5571, 0.7428}, {0.4243, -0.8485, 0.3162}};
    if (tree->count == 0 || box_distance_sq(tree, 1, p) > 0.0)
    {
        return false;
    }
    int inside = 0;
    for (int k = 0; k < 3; k++)
    {
        ray_hit hits[HITS];
        inside += winding(hits, ray_hits(tree, x, p, rays[k], hits)) > 0;
    }
    return inside >= 2;
}

static int compare_hits(const void* left, const void* right)
{
    const ray_hit *a = left, *b = right;
    return a->at < b->at ? -1 : a->at > b->at ? 1 : a->sign - b->sign;
}

double triangle_tree_exit(const triangle_tree* tree, const vec3* x, vec3 p, vec3 d)
{
    ray_hit hits[HITS];
    int count = ray_hits(tree, x, p, d, hits), inside = winding(hits, count);
    qsort(hits, (size_t)count, sizeof(ray_hit), compare_hits);
    for (int k = 0; k < count; k++)
    {
        inside -= hits[k].sign;
        if (inside <= 0)
        {
            return hits[k].at;
        }
    }
    return INFINITY;
}

// ---- what is near a triangle

static bool boxes_apart(vec3 low, vec3 high, vec3 other_low, vec3 other_high)
{
    return low.x > other_high.x || low.y > other_high.y || low.z > other_high.z || high.x < other_low.x ||
           high.y < other_low.y || high.z < other_low.z;
}

triangle_tree_walk triangle_tree_begin(const triangle_tree* tree, const vec3* x, const int corner[3])
{
    triangle_tree_walk walk = {.tree = tree, .low = x[corner[0]], .high = x[corner[0]]};
    for (int k = 1; k < 3; k++)
    {
        grow_box(&walk.low, &walk.high, x[corner[k]], x[corner[k]]);
    }
    walk.stack[0] = 1;
    walk.depth = tree->count > 0;
    return walk;
}

int triangle_tree_next(triangle_tree_walk* walk)
{
    const triangle_tree* tree = walk->tree;
    while (walk->at == walk->end && walk->depth > 0)
    {
        int node = walk->stack[--walk->depth];
        if (boxes_apart(walk->low, walk->high, tree->low[node], tree->high[node]))
        {
            continue;
        }
        if (node < tree->leaf_count)
        {
            walk->stack[walk->depth++] = 2 * node + 1;
            walk->stack[walk->depth++] = 2 * node;
            continue;
        }
        walk->at = leaf_begin(tree, node - tree->leaf_count);
        walk->end = leaf_begin(tree, node - tree->leaf_count + 1);
    }
    return walk->at < walk->end ? tree->item[walk->at++] : -1;
}
