// How often a surface goes round a point: the sum of the solid angles of its triangles over 4 pi. 1 inside of a closed
// surface, 0 outside, and in between where a surface is open (Jacobson, Kavan and Sorkine-Hornung 2013).
//
// Triangles that are far away act as one. With x(y) = y / |y|^3, their areas' vectors A_k at the middles m_k, and
// m their common middle,
//
//     4 pi w = sum over k of A_k . x(m_k - p) = A . x(m - p) + Dx(m - p) : T + error,
//     A = sum of A_k,  T = sum of (m_k - m) (x) A_k,  Dx(y) = (1 - 3 y y^T / |y|^2) / |y|^3
//
// (Barill, Dickson, Schmidt, Levin and Jacobson 2018). Second derivatives of x are at most 6 / |y|^4, so with r the
// radius of the group and S the integral of |y - m|^2 over it, |error| <= 3 S / (|m - p| - r)^4. A tree of such groups
// is asked coarsely first. Errors are added up, and where they leave the answer open it is asked more finely, at last
// triangle by triangle in their order. So the answer does not depend on the tree: the order of triangles is chosen
// once, where they were first, and may grow worse. An update costs one look at each triangle, a point about the
// logarithm of their number.
#include "collide/broad.h"
#include "mesh/mesh.h"

static const double pi = 3.14159265358979323846;
static const double first_error = 0.1, least_error = 1e-5; // of a group, at first and at last

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

void winding_finish(winding_tree* t)
{
    mem_free(t->order);
    mem_free(t->node);
    *t = (winding_tree){0};
}

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
    status == WEFT_OK ? (void)0 : winding_finish(t);
    return status;
}

static winding_node node_of_face(const winding_tree* t, int face)
{
    const int* v = t->corner + 3 * (size_t)face;
    vec3 a = t->x[v[0]], b = t->x[v[1]], c = t->x[v[2]];
    winding_node n = {.middle = v3_scale(1.0 / 3.0, v3_add(v3_add(a, b), c))};
    n.area = v3_scale(0.5, v3_cross(v3_sub(b, a), v3_sub(c, a)));
    n.size = v3_length(n.area);
    double r_sq[3];
    for (int k = 0; k < 3; k++)
    {
        vec3 d = v3_sub(t->x[v[k]], n.middle);
        r_sq[k] = v3_dot(d, d);
    }
    n.radius = sqrt(fmax(r_sq[0], fmax(r_sq[1], r_sq[2])));
    n.spread = n.size * (r_sq[0] + r_sq[1] + r_sq[2]) / 12.0;
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
        vec3 away = v3_sub(part[k].middle, n.middle);
        n.radius = fmax(n.radius, part[k].radius + v3_length(away));
        n.spread += part[k].spread + part[k].size * v3_dot(away, away);
        mat3 bend = m3_outer(away, part[k].area);
        for (int i = 0; i < 9; i++)
        {
            n.bend.m[i] += part[k].bend.m[i] + bend.m[i];
        }
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
    double error = clear > 0.0 ? 3.0 * node->spread / (4.0 * pi * clear * clear * clear * clear) : INFINITY;
    ++*s->tests;
    if (error <= s->most)
    {
        vec3 along = v3_scale(1.0 / distance, d);
        const double* m = node->bend.m;
        double bend = m[0] + m[4] + m[8] - 3.0 * v3_dot(along, m3_mul_v(m, along));
        s->sum += (v3_dot(node->area, d) + bend) / (4.0 * pi * distance * distance * distance);
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
    for (double most = first_error; most > least_error && t->level_count > 0; most /= 4.0)
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
