// The smallest distance between a triangle of cloth and any triangle with which it has no vertex in common. Two
// triangles that do not cross are nearest in a corner and a face or in two edges. Each triangle walks the tree, nearest
// boxes first, and leaves out what is farther than the nearest pair known.
//
// Distances are doubles, good to some 1e-15 of the triangles' size; where one is below 1e-12 of it, the exact
// predicates say whether the triangles touch, and only then it is zero. Chunks start from what the waves before them
// found, so that the result does not depend on the number of threads.
#include <float.h>

#include "inspect/frame.h"

// ---- two triangles

static double clamp_unit(double x)
{
    return x < 0.0 ? 0.0 : x > 1.0 ? 1.0 : x;
}

// Squared distance of the segments p + s u and q + t v, s and t in [0, 1] (Ericson, Real-Time Collision Detection,
// section 5.1.9). Segments may be points.
static double segments_distance_sq(vec3 p, vec3 u, vec3 q, vec3 v)
{
    vec3 r = v3_sub(p, q);
    double a = v3_dot(u, u), e = v3_dot(v, v), f = v3_dot(v, r), c = v3_dot(u, r), b = v3_dot(u, v);
    double denominator = a * e - b * b;
    double s = denominator > 0.0 ? clamp_unit((b * f - c * e) / denominator) : 0.0;
    double t = e > 0.0 ? (b * s + f) / e : 0.0;
    if (t < 0.0 || t > 1.0 || e <= 0.0)
    {
        t = clamp_unit(t);
        s = a > 0.0 ? clamp_unit((b * t - c) / a) : 0.0;
    }
    vec3 d = v3_sub(v3_madd(r, s, u), v3_scale(t, v));
    return v3_dot(d, d);
}

// Of p from the plane of a triangle at a with edges u, v, where its foot is in the triangle; infinity elsewhere: edges
// are nearer there.
static double face_distance_sq(vec3 p, vec3 a, vec3 u, vec3 v)
{
    vec3 n = v3_cross(u, v), w = v3_sub(p, a);
    double nn = v3_dot(n, n);
    double beta = v3_dot(v3_cross(w, v), n), gamma = v3_dot(v3_cross(u, w), n), height = v3_dot(w, n);
    bool inside = nn > 0.0 && beta >= 0.0 && gamma >= 0.0 && beta + gamma <= nn;
    return inside ? height * height / nn : INFINITY;
}

static double triangles_distance_sq(const vec3* a, const vec3* b)
{
    vec3 edge_a[3], edge_b[3];
    for (int k = 0; k < 3; k++)
    {
        edge_a[k] = v3_sub(a[(k + 1) % 3], a[k]);
        edge_b[k] = v3_sub(b[(k + 1) % 3], b[k]);
    }
    double best = INFINITY;
    for (int i = 0; i < 3; i++)
    {
        best = smaller(best, face_distance_sq(a[i], b[0], edge_b[0], v3_scale(-1.0, edge_b[2])));
        best = smaller(best, face_distance_sq(b[i], a[0], edge_a[0], v3_scale(-1.0, edge_a[2])));
        for (int j = 0; j < 3; j++)
        {
            best = smaller(best, segments_distance_sq(a[i], edge_a[i], b[j], edge_b[j]));
        }
    }
    return best;
}

// The largest extent of both.
static double pair_size(const box* a, const box* b)
{
    box c = box_join(a, b);
    return larger(c.max.x - c.min.x, larger(c.max.y - c.min.y, c.max.z - c.min.z));
}

// Computed at the pair's own scale, a power of two: beside something 1e50 times its size, fourth powers of what is small
// would vanish.
static double pair_distance_sq(const inspect_frame* f, int a, int b)
{
    int exponent;
    frexp(fmax(pair_size(&f->hull[a], &f->hull[b]), DBL_MIN), &exponent);
    double own = ldexp(1.0, -exponent), to_frame = f->scale / own;
    vec3 x[6];
    for (int k = 0; k < 6; k++)
    {
        x[k] = v3_scale(own, f->x[f->model->triangles[3 * (size_t)(k < 3 ? a : b) + k % 3]]);
    }
    double distance_sq = triangles_distance_sq(x, x + 3);
    if (distance_sq > 1e-24)
    {
        return distance_sq * to_frame * to_frame;
    }
    flat flat_a = frame_flat(f, a), flat_b = frame_flat(f, b);
    return flat_touch(&flat_a, &flat_b) ? 0.0 : fmax(distance_sq * to_frame * to_frame, DBL_MIN);
}

// ---- the walk

// Squared and scaled.
static double box_gap_sq(const inspect_frame* f, const box* a, const box* b)
{
    double x = larger(0.0, larger(a->min.x - b->max.x, b->min.x - a->max.x)) * f->scale;
    double y = larger(0.0, larger(a->min.y - b->max.y, b->min.y - a->max.y)) * f->scale;
    double z = larger(0.0, larger(a->min.z - b->max.z, b->min.z - a->max.z)) * f->scale;
    return x * x + y * y + z * z;
}

typedef struct distance_search
{
    const inspect_frame* frame;
    double best; // squared and scaled
    int64_t tests, tests_max;
    bool stopped; // before the end
} distance_search;

static void search_leaf(distance_search* s, int a, int leaf)
{
    const inspect_frame* f = s->frame;
    int end = hull_tree_leaf_begin(&f->tree, leaf + 1);
    for (int k = hull_tree_leaf_begin(&f->tree, leaf); k < end && !s->stopped; k++)
    {
        int b = f->tree.item[k];
        if ((b > a || (b != a && triangle_is_obstacle(f->model, b))) &&
            box_gap_sq(f, &f->hull[a], &f->hull[b]) < s->best)
        {
            s->stopped = ++s->tests > s->tests_max;
            s->best = triangles_share_vertex(f->model, a, b) ? s->best : smaller(s->best, pair_distance_sq(f, a, b));
        }
    }
}

typedef struct stacked
{
    int node;
    double gap_sq;
} stacked;

static void search_triangle(distance_search* s, int a)
{
    const inspect_frame* f = s->frame;
    const hull_tree* tree = &f->tree;
    stacked stack[HULL_DEPTH];
    int depth = 0;
    stack[depth++] = (stacked){1, box_gap_sq(f, &f->hull[a], &tree->node[1])};
    while (depth > 0 && !s->stopped)
    {
        stacked at = stack[--depth];
        if (!(at.gap_sq < s->best))
        {
            continue;
        }
        if (at.node >= tree->leaf_count)
        {
            search_leaf(s, a, at.node - tree->leaf_count);
            continue;
        }
        int left = 2 * at.node;
        double gap_left = box_gap_sq(f, &f->hull[a], &tree->node[left]);
        double gap_right = box_gap_sq(f, &f->hull[a], &tree->node[left + 1]);
        bool left_first = gap_left <= gap_right;
        stack[depth++] = left_first ? (stacked){left + 1, gap_right} : (stacked){left, gap_left};
        stack[depth++] = left_first ? (stacked){left, gap_left} : (stacked){left + 1, gap_right};
    }
}

static void search_chunk(distance_search* s, int chunk)
{
    const inspect_frame* f = s->frame;
    int end = int_min(f->model->triangle_count, (chunk + 1) * CHUNK);
    for (int t = chunk * CHUNK; t < end && !s->stopped && s->best > 0.0; t++)
    {
        if (!f->left_out[t] && !triangle_is_obstacle(f->model, t))
        {
            search_triangle(s, t);
        }
    }
}

// ---- waves

typedef struct distance_wave
{
    distance_search search[WAVE_CHUNKS];
    int first; // chunk
} distance_wave;

static void wave_search(void* context, int begin, int end)
{
    distance_wave* w = context;
    for (int k = begin; k < end; k++)
    {
        search_chunk(&w->search[k], w->first + k);
    }
}

// A chunk that was stopped is done again on its own; *best falls to what it found.
static void wave_gather(inspect_frame* f, distance_search* s, int chunk, double* best)
{
    if (s->stopped)
    {
        *s = (distance_search){.frame = f, .best = *best, .tests_max = f->tests_left};
        search_chunk(s, chunk);
    }
    f->tests_left -= s->tests;
    *best = smaller(*best, s->best);
}

double min_distance_find(inspect_frame* f, bool* truncated)
{
    distance_wave wave;
    double best = INFINITY;
    int chunks = f->model->triangle_count / CHUNK + 1;
    for (wave.first = 0; wave.first < chunks && f->tests_left > 0 && best > 0.0; wave.first += WAVE_CHUNKS)
    {
        int count = int_min(WAVE_CHUNKS, chunks - wave.first);
        for (int k = 0; k < count; k++)
        {
            wave.search[k] = (distance_search){.frame = f, .best = best, .tests_max = CHUNK_TESTS};
        }
        parallel_for(f->pool, count, 1, wave_search, &wave);
        for (int k = 0; k < count && f->tests_left > 0; k++)
        {
            wave_gather(f, &wave.search[k], wave.first + k, &best);
        }
    }
    *truncated |= f->tests_left <= 0;
    return sqrt(best) / f->scale;
}
