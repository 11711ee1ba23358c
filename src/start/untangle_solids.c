// Out of closed obstacles. Cloth that is inside, by winding number, goes out by the obstacle's thickness: a patch along
// its own normals, to one side, or each vertex from the nearest point of the surface. Vertices that are outside and yet
// corners of a triangle that crosses, as over the edge of a box, are lifted a little farther each round.
#include <string.h>

#include "start/untangle.h"

static const double detour = 4.0; // by which a way out along the normal may be longer than the shortest

// Corners that were pushed out of a solid and whose triangles cross it all the same are pushed farther.
static void lift_corners(tangle* t)
{
    for (int k = 0; k < t->look->pair_count; k++)
    {
        for (int j = 0; j < 3 && t->solid[t->look->pairs[k].body[1]]; j++)
        {
            int i = t->triangle[3 * (size_t)tangle_triangle(t, &t->look->pairs[k], 0) + (size_t)j];
            if (t->hard[i] == 1)
            {
                t->lift[i] = fmin(fmax(1.4 * t->lift[i], 0.05 * t->size[i]), t->size[i]);
                t->hard[i] = 2; // once a round
            }
        }
    }
    for (int i = 0; i < t->cloth_count; i++)
    {
        t->hard[i] = t->hard[i] > 0;
    }
}

// To the nearest point of the surface, and beyond.
static void leave_nearest(tangle* t, int i, int body)
{
    double gap = tangle_gap(t, i, body) + t->lift[i];
    surface_point n = triangle_tree_nearest(&t->trees[body], t->x, t->x[i], t->inside[i] ? INFINITY : gap);
    if (n.triangle >= 0)
    {
        vec3 out = v3_sub(t->inside[i] ? n.point : t->x[i], t->inside[i] ? t->x[i] : n.point);
        bool thin = n.distance < 1e-9 * t->size[i];
        vec3 direction = v3_normalize(thin ? tangle_face_normal(t, n.triangle) : out);
        tangle_push(t, i, v3_sub(v3_madd(n.point, gap, direction), t->x[i]));
    }
}

// How far the vertices of a patch go at most: to the nearest point, along their normals, against them.
typedef struct ways
{
    double nearest, ahead, back;
} ways;

static ways measure_patch(const tangle* t, int body, int count)
{
    const triangle_tree* tree = &t->trees[body];
    ways w = {0};
    for (int k = 0; k < count; k++)
    {
        int i = t->queue[k];
        w.nearest = fmax(w.nearest, triangle_tree_nearest(tree, t->x, t->x[i], INFINITY).distance);
        w.ahead = fmax(w.ahead, triangle_tree_exit(tree, t->x, t->x[i], t->normal[i]));
        w.back = fmax(w.back, triangle_tree_exit(tree, t->x, t->x[i], v3_scale(-1.0, t->normal[i])));
    }
    return w;
}

// The vertices inside that hang together with `first`; they are marked 2.
static int collect_patch(tangle* t, int first)
{
    int count = 0;
    t->inside[first] = 2;
    t->queue[count++] = first;
    for (int k = 0; k < count; k++)
    {
        for (int j = t->near_start[t->queue[k]]; j < t->near_start[t->queue[k] + 1]; j++)
        {
            if (t->inside[t->near[j]] == 1)
            {
                t->inside[t->near[j]] = 2;
                t->queue[count++] = t->near[j];
            }
        }
    }
    return count;
}

// A patch of cloth inside leaves along its normals, to one side, when that is not much farther: what pokes through it
// then lifts it like a tent, where the nearest points would draw it apart.
static void leave_patch(tangle* t, int body, int first)
{
    int count = collect_patch(t, first);
    ways w = measure_patch(t, body, count);
    double side = w.ahead <= w.back ? 1.0 : -1.0, way = fmin(w.ahead, w.back);
    for (int k = 0; k < count; k++)
    {
        int i = t->queue[k];
        vec3 d = v3_scale(side, t->normal[i]);
        if (way <= detour * w.nearest)
        {
            double exit = triangle_tree_exit(&t->trees[body], t->x, t->x[i], d);
            tangle_push(t, i, v3_scale(exit + tangle_gap(t, i, body) + t->lift[i], d));
        }
        else
        {
            leave_nearest(t, i, body);
        }
    }
}

// Out of one closed obstacle; `crosses` marks corners of triangles that cross it.
static void leave_solid(tangle* t, int body, const unsigned char* crosses)
{
    for (int i = 0; i < t->cloth_count; i++)
    {
        bool free = !t->held[i] && !tangle_excluded(t, i, body);
        t->inside[i] = free && triangle_tree_holds(&t->trees[body], t->x, t->x[i]);
        free&& crosses[i] && !t->inside[i] ? leave_nearest(t, i, body) : (void)0;
    }
    for (int i = 0; i < t->cloth_count; i++)
    {
        t->inside[i] == 1 ? leave_patch(t, body, i) : (void)0;
    }
}

weft_status tangle_leave_solids(tangle* t)
{
    lift_corners(t);
    unsigned char* crosses = MEM_NEW(t->vertex_count, unsigned char);
    if (!crosses)
    {
        return WEFT_NO_MEMORY;
    }
    for (int body = t->look->sim->body_count; body < t->look->body_count; body++)
    {
        memset(crosses, 0, (size_t)t->vertex_count);
        for (int k = 0; k < t->look->pair_count; k++)
        {
            const int* c = t->triangle + 3 * (size_t)tangle_triangle(t, &t->look->pairs[k], 0);
            for (int j = 0; j < 3 && t->look->pairs[k].body[1] == body; j++)
            {
                crosses[c[j]] = 1;
            }
        }
        t->solid[body] ? leave_solid(t, body, crosses) : (void)0;
    }
    mem_free(crosses);
    return WEFT_OK;
}
