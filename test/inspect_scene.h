// Small scenes of two bodies for tests of inspections: the inspection itself, an oracle by brute force over all rules
// of docs/inspect.md but that of nested bodies, and placements in the world.
#ifndef WEFT_TEST_INSPECT_SCENE_H
#define WEFT_TEST_INSPECT_SCENE_H

#include "common.h"

#include "inspect/predicates.h"
#include "inspect_oracle.h"
#include "weft/inspect.h"

// ---- a small scene: two bodies

enum
{
    POINTS_MAX = 40,
    TRIANGLES_MAX = 60
};

typedef struct part
{
    vec3 x[POINTS_MAX];
    int vertex_count;
    int triangle[3 * TRIANGLES_MAX];
    int triangle_count;
    int obstacle;
} part;

typedef struct small_scene
{
    part body[2];
    int expected; // crossings that were planted; -1: not known
} small_scene;

static inline part part_of_triangles(const vec3* x, int count)
{
    part p = {.vertex_count = 3 * count, .triangle_count = count};
    memcpy(p.x, x, 3 * (size_t)count * sizeof(vec3));
    for (int k = 0; k < 3 * count; k++)
    {
        p.triangle[k] = k;
    }
    return p;
}

static inline int64_t scene_inspect(const small_scene* s, weft_inspection* out)
{
    weft_inspect_body bodies[2];
    const weft_vec3* positions[2];
    for (int b = 0; b < 2; b++)
    {
        const part* p = &s->body[b];
        bodies[b] = (weft_inspect_body){.obstacle = p->obstacle,
                                        .vertex_count = p->vertex_count,
                                        .triangle_count = p->triangle_count,
                                        .triangles = p->triangle};
        positions[b] = p->x;
    }
    weft_inspect_def def = weft_inspect_def_default();
    weft_inspector* inspector;
    assert_int_equal(weft_inspector_create(&def, bodies, 2, &inspector, NULL), WEFT_OK);
    assert_int_equal(weft_inspector_frame(inspector, positions, out, NULL), WEFT_OK);
    assert_false(out->truncated);
    assert_int_equal(out->pair_count, out->crossings);
    weft_inspector_destroy(inspector);
    return out->crossings;
}

// ---- the oracle for a scene: every rule of docs/inspect.md, by brute force

static inline void part_corners(const part* p, int t, vec3* out)
{
    for (int k = 0; k < 3; k++)
    {
        out[k] = p->x[p->triangle[3 * t + k]];
    }
}

// The only other triangle on the edge opposite to corner k; -1.
static inline int part_neighbour(const part* p, int t, int k, int* corner)
{
    int a = p->triangle[3 * t + (k + 1) % 3], b = p->triangle[3 * t + (k + 2) % 3], found = -1, count = 0;
    for (int s = 0; s < 3 * p->triangle_count; s++)
    {
        const int* c = p->triangle + s - s % 3;
        int i = c[(s + 1) % 3], j = c[(s + 2) % 3];
        if (s / 3 != t && ((i == a && j == b) || (i == b && j == a)))
        {
            found = s / 3;
            *corner = s % 3;
            count++;
        }
    }
    return count == 1 && a != b ? found : -1;
}

static inline bool oracle_edge_rule(const part* p, int t, const vec3* face)
{
    vec3 x[3], other[3];
    part_corners(p, t, x);
    for (int k = 0; k < 3; k++)
    {
        int corner = 0, neighbour = part_neighbour(p, t, k, &corner);
        if (neighbour < 0 || oracle_volume(face[0], face[1], face[2], x[(k + 1) % 3]) != 0 ||
            oracle_volume(face[0], face[1], face[2], x[(k + 2) % 3]) != 0)
        {
            continue;
        }
        part_corners(p, neighbour, other);
        int side = oracle_volume(face[0], face[1], face[2], x[k]);
        int side_other = oracle_volume(face[0], face[1], face[2], other[corner]);
        const vec3 edge[2] = {x[(k + 1) % 3], x[(k + 2) % 3]};
        bool touch = false;
        if (side * side_other < 0 && oracle_meet(edge, 2, face, 3, &touch))
        {
            return true;
        }
    }
    return false;
}

static inline bool boxes_apart(const vec3* a, const vec3* b)
{
    for (int axis = 0; axis < 3; axis++)
    {
        double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
        for (int k = 0; k < 6; k++)
        {
            const vec3* v = k < 3 ? &a[k] : &b[k - 3];
            double c = axis == 0 ? v->x : axis == 1 ? v->y : v->z;
            low[k / 3] = fmin(low[k / 3], c);
            high[k / 3] = fmax(high[k / 3], c);
        }
        if (low[0] > high[1] || low[1] > high[0])
        {
            return true;
        }
    }
    return false;
}

static inline bool oracle_crosses(const part* p, int s, const part* q, int t, bool* touch)
{
    vec3 a[3], b[3];
    part_corners(p, s, a);
    part_corners(q, t, b);
    if (boxes_apart(a, b))
    {
        return false;
    }
    bool closed = false, meet = oracle_meet(a, 3, b, 3, &closed);
    *touch |= closed;
    return meet || (closed && (oracle_edge_rule(p, s, b) || oracle_edge_rule(q, t, a)));
}

// Number of crossing pairs; *touch: two closed triangles that have no vertex in common have a common point.
static inline int oracle_pairs(const small_scene* s, bool* touch)
{
    int count = 0;
    *touch = false;
    for (int p = 0; p < 2; p++)
    {
        for (int q = p; q < 2; q++)
        {
            const part *a = &s->body[p], *b = &s->body[q];
            for (int i = 0; i < a->triangle_count && !(a->obstacle && b->obstacle); i++)
            {
                for (int j = p == q ? i + 1 : 0; j < b->triangle_count; j++)
                {
                    bool here = false, share = false;
                    count += oracle_crosses(a, i, b, j, &here);
                    for (int k = 0; k < 9 && p == q; k++)
                    {
                        share |= a->triangle[3 * i + k / 3] == a->triangle[3 * j + k % 3];
                    }
                    *touch |= here && !share;
                }
            }
        }
    }
    return count;
}

// ---- placements: how planted points, small integers, are put into the world

typedef enum placement
{
    PLACE_INTEGER, // an integer map of determinant not 0: keeps what was planted
    PLACE_DYADIC,  // the same times a power of two, with an offset that is a multiple of it
    PLACE_FLOAT,   // rotated, scaled, rounded to float
    PLACE_SCALED,  // 1e-9 .. 1e9, offset 1e5, rounded to float or double
    PLACE_COUNT
} placement;

static inline mat3 random_rotation(uint64_t* n)
{
    vec3 a = v3_normalize(test_random_vec(n, 1.0)), b = v3_normalize(v3_cross(a, test_random_vec(n, 1.0)));
    vec3 c = v3_cross(a, b);
    return (mat3){{a.x, a.y, a.z, b.x, b.y, b.z, c.x, c.y, c.z}};
}

static inline mat3 random_integer_map(uint64_t* n)
{
    mat3 m;
    do
    {
        for (int k = 0; k < 9; k++)
        {
            m.m[k] = floor(test_random(n, -3.0, 4.0));
        }
    } while (m3_determinant(m.m) == 0.0);
    return m;
}

static inline double as_float(double x)
{
    return (float)x;
}

static inline void place(small_scene* s, placement way, uint64_t* n)
{
    bool exact = way == PLACE_INTEGER || way == PLACE_DYADIC;
    mat3 map = exact ? random_integer_map(n) : random_rotation(n);
    vec3 offset = v3(floor(test_random(n, -20, 20)), floor(test_random(n, -20, 20)), floor(test_random(n, -20, 20)));
    double scale = 1.0;
    bool to_float = way == PLACE_FLOAT || (way == PLACE_SCALED && test_random(n, 0, 1) < 0.5);
    if (way == PLACE_DYADIC)
    {
        scale = ldexp(1.0, (int)test_random(n, -200.0, 200.0));
        offset = v3_scale(test_random(n, 0, 1) < 0.5 ? 100000.0 : 1.0, offset);
    }
    if (way == PLACE_SCALED)
    {
        scale = pow(10.0, test_random(n, -9.0, 9.0));
        offset = test_random(n, 0, 1) < 0.5 ? v3(1e5 / scale, -1e5 / scale, 1e5 / scale) : v3(0, 0, 0);
    }
    for (int k = 0; k < s->body[0].vertex_count + s->body[1].vertex_count; k++)
    {
        vec3* x = k < s->body[0].vertex_count ? &s->body[0].x[k] : &s->body[1].x[k - s->body[0].vertex_count];
        vec3 y = v3_scale(scale, v3_add(m3_mul_v(map.m, *x), offset));
        *x = to_float ? v3(as_float(y.x), as_float(y.y), as_float(y.z)) : y;
    }
    s->expected = exact ? s->expected : -1;
}

// A whole number in [low, high].
static inline double whole(uint64_t* n, int low, int high)
{
    return floor(test_random(n, low, high + 1));
}

// Group setup and teardown.
static inline int open_oracle(void** state)
{
    (void)state;
    oracle_open();
    return 0;
}

static inline int close_oracle(void** state)
{
    (void)state;
    oracle_close();
    return 0;
}

#endif
