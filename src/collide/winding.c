// How often a surface goes round a point: the sum of the solid angles of its triangles over 4 pi. 1 inside of a closed
// surface, 0 outside, and in between where a surface is open (Jacobson, Kavan and Sorkine-Hornung 2013).
//
// Triangles that are far away act as one: with A the sum of their areas' vectors and m their middle,
//
//     sum over triangles of their angle / 4 pi  =  A . (m - p) / (4 pi |m - p|^3)  +- error
//
// (Barill, Dickson, Schmidt, Levin and Jacobson 2018, without the higher terms). A tree of such sums answers with some
// hundred of them. The gradient of x / |x|^3 is at most 2 / |x|^3, so with a the sum of the areas and r the radius of
// the group, error <= a r / (2 pi (|m - p| - r)^3). Errors are added up: where they leave the answer open, the point is
// asked again more finely, at last triangle by triangle in their order. So the answer does not depend on the tree: the
// order of triangles is chosen once, where they were first, and may grow worse. An update costs one look at each
// triangle, a point about the logarithm of their number.
#include "collide/broad.h"
#include "mesh/mesh.h"

static const double pi = 3.14159265358979323846;
static const double first_error = 2e-3, least_error = 1e-6; // a group may have: the whole, at first and at last

// The solid angle of a triangle seen from p, in 4 pi (van Oosterom and Strackee 1983).
static double share_of_sky(const winding_tree* t, int face, vec3 p)
{
    vec3 x[3];
    for (int k = 0; k < 3; k++)
    {
        x[k] = v3_sub(t->x[t->corner[3 * (size_t)face + (size_t)k]], p);
    }
    double r[3] = {v3_length(x[0]), v3_length(x[1]), v3_length(x[2])};
    double volume = v3_dot(x[0], v3_cross(x[1], x[2]));
    double rest =
        r[0] * r[1] * r[2] + v3_dot(x[0], x[1]) * r[2] + v3_dot(x[1], x[2]) * r[0] + v3_dot(x[2], x[0]) * r[1];
    return atan2(volume, rest) / (2.0 * pi);
}

// ---- the tree

weft_status winding_create(winding_tree* t, const int* corner, int count, const vec3* x)
{
    *t = (winding_tree){.corner = corner, .count = count};
    int nodes = 0;
    for (int size = count; size > 0 && (t->level_count == 0 || size > 1);)
    {
        size = (size - 1) / BVH_WIDTH + 1;
        t->level_start[t->level_count] = nodes;
        t->level_size[t->level_count++] = size;
        nodes += size;
    }
    t->node = MEM_NEW(nodes, winding_node);
    t->order = MEM_NEW(count, int);
    vec3* middle = mem_raw((size_t)count, sizeof(vec3));
    int* place_of = mem_raw((size_t)count, sizeof(int));
    bool room = t->node && t->order && middle && place_of;
    for (int k = 0; k < count && room; k++)
    {
        const int* v = corner + 3 * (size_t)k;
        middle[k] = v3_add(v3_add(x[v[0]], x[v[1]]), x[v[2]]);
    }
    weft_status status = room ? mesh_order(middle, count, place_of) : WEFT_NO_MEMORY;
    for (int k = 0; k < count && status == WEFT_OK; k++)
    {
        t->order[place_of[k]] = k;
    }
    mem_free(middle);
    mem_free(place_of);
    return status;
}

void winding_finish(winding_tree* t)
{
    mem_free(t->order);
    mem_free(t->node);
    *t = (winding_tree){0};
}

static winding_node node_of_face(const winding_tree* t, int face)
{
    const int* v = t->corner + 3 * (size_t)face;
    vec3 a = t->x[v[0]], b = t->x[v[1]], c = t->x[v[2]];
    winding_node n = {.middle = v3_scale(1.0 / 3.0, v3_add(v3_add(a, b), c))};
    n.area = v3_scale(0.5, v3_cross(v3_sub(b, a), v3_sub(c, a)));
    n.size = v3_length(n.area);
    n.radius =
        fmax(v3_length(v3_sub(a, n.middle)), fmax(v3_length(v3_sub(b, n.middle)), v3_length(v3_sub(c, n.middle))));
    return n;
}

// Several nodes as one: the middle by their areas, or of all alike where they have none.
static winding_node join_nodes(const winding_node* part, int count)
{
    winding_node n = {0};
    double weight = 0.0;
    for (int k = 0; k < count; k++)
    {
        n.area = v3_add(n.area, part[k].area);
        n.size += part[k].size;
    }
    for (int k = 0; k < count; k++)
    {
        double share = n.size > 0.0 ? part[k].size : 1.0;
        n.middle = v3_madd(n.middle, share, part[k].middle);
        weight += share;
    }
    n.middle = v3_scale(1.0 / weight, n.middle);
    for (int k = 0; k < count; k++)
    {
        n.radius = fmax(n.radius, part[k].radius + v3_length(v3_sub(part[k].middle, n.middle)));
    }
    return n;
}

void winding_update(winding_tree* t, const vec3* x)
{
    t->x = x;
    for (int level = 0; level < t->level_count; level++)
    {
        int below = level > 0 ? t->level_size[level - 1] : t->count;
        for (int n = 0; n < t->level_size[level]; n++)
        {
            int first = n * BVH_WIDTH, lanes = int_min(BVH_WIDTH, below - first);
            winding_node part[BVH_WIDTH];
            for (int k = 0; k < lanes; k++)
            {
                part[k] =
                    level > 0 ? t->node[t->level_start[level - 1] + first + k] : node_of_face(t, t->order[first + k]);
            }
            t->node[t->level_start[level] + n] = join_nodes(part, lanes);
        }
    }
}

// ---- a point

typedef struct winding_sum
{
    vec3 p;
    double most;       // error of a group
    double sum, error; // so far
    long long* tests;
} winding_sum;

static void add_node(const winding_tree* t, winding_sum* s, int level, int n)
{
    const winding_node* node = &t->node[t->level_start[level] + n];
    vec3 d = v3_sub(node->middle, s->p);
    double distance = v3_length(d), clear = distance - node->radius;
    double error = clear > 0.0 ? node->size * node->radius / (2.0 * pi * clear * clear * clear) : INFINITY;
    ++*s->tests;
    if (error <= s->most)
    {
        s->sum += v3_dot(node->area, d) / (4.0 * pi * distance * distance * distance);
        s->error += error;
        return;
    }
    int below = level > 0 ? t->level_size[level - 1] : t->count;
    for (int k = n * BVH_WIDTH; k < int_min(below, (n + 1) * BVH_WIDTH); k++)
    {
        if (level > 0)
        {
            add_node(t, s, level - 1, k);
            continue;
        }
        s->sum += share_of_sky(t, t->order[k], s->p);
        ++*s->tests;
    }
}

bool winding_exceeds(winding_tree* t, vec3 p, double limit)
{
    for (double most = first_error; most > least_error && t->level_count > 0; most /= 8.0)
    {
        winding_sum s = {.p = p, .most = most, .tests = &t->tests};
        add_node(t, &s, t->level_count - 1, 0);
        // Far more than rounding may add.
        if (fabs(fabs(s.sum) - limit) > s.error + 1e-6)
        {
            return fabs(s.sum) > limit;
        }
    }
    double sum = 0.0;
    for (int face = 0; face < t->count; face++)
    {
        sum += share_of_sky(t, face, p);
    }
    t->tests += t->count;
    return fabs(sum) > limit;
}
