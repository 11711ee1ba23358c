// Crossings as weft_inspector_frame counts them, against an oracle in GMP (inspect_oracle.h): determinants of random
// and extreme points, planted crossings of every kind in 10,000 placements, nested bodies. Where a placement keeps what
// was planted exactly, the planted answer is checked too, so that the oracle is tested as well.
#include "common.h"

#include <stdio.h>

#ifndef WEFT_GMP

static void test_skipped(void** state)
{
    (void)state;
    print_message("GMP is not there: the exact oracle of inspections is skipped\n");
    skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_skipped)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

#include "inspect/predicates.h"
#include "inspect_oracle.h"
#include "weft/inspect.h"

// ---- determinants

// A coordinate of some kind: small integers, doubles, floats, badly scaled, extreme, equal ones.
static double random_coordinate(uint64_t* n, int kind)
{
    double unit = test_random(n, -1.0, 1.0);
    switch (kind)
    {
    case 0:
        return floor(4.0 * unit);
    case 1:
        return unit;
    case 2:
        return (float)(1e5 + unit);
    case 3:
        return ldexp(unit, (int)test_random(n, -1070.0, 332.0));
    case 4:
        return ldexp(floor(8.0 * unit), -1074); // smallest of all
    case 5:
        return 1e100 * unit;
    default:
        return (float)ldexp(unit, (int)test_random(n, -30.0, 30.0));
    }
}

// Often on the plane or line of the others, or off it by the last bit.
static void random_points(uint64_t* n, vec3* p)
{
    int kind = (int)test_random(n, 0.0, 7.0);
    for (int k = 0; k < 4; k++)
    {
        p[k].x = random_coordinate(n, kind);
        p[k].y = random_coordinate(n, kind);
        p[k].z = random_coordinate(n, kind);
    }
    double s = test_random(n, -1.0, 2.0), t = test_random(n, -1.0, 2.0);
    int way = (int)test_random(n, 0.0, 4.0);
    if (way == 1)
    {
        p[3] = v3_madd(v3_madd(v3_scale(1.0 - s - t, p[0]), s, p[1]), t, p[2]);
    }
    if (way == 2)
    {
        p[2] = v3_madd(v3_scale(1.0 - s, p[0]), s, p[1]);
    }
    for (int k = 0; k < 4; k++)
    {
        p[k].x = fmin(fmax(p[k].x, -1e100), 1e100);
        p[k].y = fmin(fmax(p[k].y, -1e100), 1e100);
        p[k].z = fmin(fmax(p[k].z, -1e100), 1e100);
    }
}

static void test_signs(void** state)
{
    (void)state;
    uint64_t n = 0;
    int zeros = 0;
    for (int k = 0; k < 100000; k++)
    {
        vec3 p[4];
        random_points(&n, p);
        int volume = oracle_volume(p[0], p[1], p[2], p[3]), axis = k % 3;
        zeros += volume == 0;
        assert_int_equal(sign_volume(p[0], p[1], p[2], p[3]), volume);
        assert_int_equal(sign_volume_exact(p[0], p[1], p[2], p[3]), volume);
        int cross = oracle_cross(axis, p[0], p[1], p[2], p[3]);
        assert_int_equal(sign_cross(axis, p[0], p[1], p[2], p[3]), cross);
        assert_int_equal(sign_cross_exact(axis, p[0], p[1], p[2], p[3]), cross);
        cross = oracle_cross(axis, p[0], p[1], p[0], p[2]);
        assert_int_equal(sign_cross(axis, p[0], p[1], p[0], p[2]), cross);
    }
    assert_true(zeros > 5000);
}

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

static part part_of_triangles(const vec3* x, int count)
{
    part p = {.vertex_count = 3 * count, .triangle_count = count};
    memcpy(p.x, x, 3 * (size_t)count * sizeof(vec3));
    for (int k = 0; k < 3 * count; k++)
    {
        p.triangle[k] = k;
    }
    return p;
}

static int64_t scene_inspect(const small_scene* s, weft_inspection* out)
{
    weft_inspect_body bodies[2];
    const weft_vec3* positions[2];
    for (int b = 0; b < 2; b++)
    {
        const part* p = &s->body[b];
        bodies[b] = (weft_inspect_body){p->obstacle, p->vertex_count, NULL, p->triangle_count, p->triangle};
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

static void part_corners(const part* p, int t, vec3* out)
{
    for (int k = 0; k < 3; k++)
    {
        out[k] = p->x[p->triangle[3 * t + k]];
    }
}

// The only other triangle on the edge opposite to corner k; -1.
static int part_neighbour(const part* p, int t, int k, int* corner)
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

static bool oracle_edge_rule(const part* p, int t, const vec3* face)
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
        bool touch;
        if (side * side_other < 0 && oracle_meet(edge, 2, face, 3, &touch))
        {
            return true;
        }
    }
    return false;
}

static bool boxes_apart(const vec3* a, const vec3* b)
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

static bool oracle_crosses(const part* p, int s, const part* q, int t, bool* touch)
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
static int oracle_pairs(const small_scene* s, bool* touch)
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

static mat3 random_rotation(uint64_t* n)
{
    vec3 a = v3_normalize(test_random_vec(n, 1.0)), b = v3_normalize(v3_cross(a, test_random_vec(n, 1.0)));
    vec3 c = v3_cross(a, b);
    return (mat3){{a.x, a.y, a.z, b.x, b.y, b.z, c.x, c.y, c.z}};
}

static mat3 random_integer_map(uint64_t* n)
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

static double as_float(double x)
{
    return (float)x;
}

static void place(small_scene* s, placement way, uint64_t* n)
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

// ---- what is planted. Face A is (0,0,0) (12,0,0) (0,12,0); integer points inside have x, y > 0 and x + y < 12.

static double whole(uint64_t* n, int low, int high)
{
    return floor(test_random(n, low, high + 1));
}

static vec3 inside_point(uint64_t* n)
{
    double x = whole(n, 1, 10);
    return v3(x, whole(n, 1, 11 - (int)x), 0.0);
}

static vec3 free_point(uint64_t* n, int z_low, int z_high)
{
    double x = whole(n, -15, 25), y = whole(n, -15, 25);
    return v3(x, y, whole(n, z_low, z_high));
}

static const vec3 face_a[3] = {{0, 0, 0}, {12, 0, 0}, {0, 12, 0}};

static small_scene scene_of(const vec3* b, int triangles_b, int expected)
{
    small_scene s = {{part_of_triangles(face_a, 1), part_of_triangles(b, triangles_b)}, expected};
    return s;
}

static small_scene plant_through(uint64_t* n)
{
    vec3 inside = inside_point(n), step = free_point(n, 1, 6);
    const vec3 b[3] = {v3_sub(inside, step), v3_add(inside, step), free_point(n, -6, 6)};
    return scene_of(b, 1, 1);
}

static small_scene plant_coplanar(uint64_t* n)
{
    double k = whole(n, -12, 12), l = whole(n, -12, 12);
    const vec3 shift = v3(k, l, 0);
    const vec3 b[3] = {v3_add(face_a[0], shift), v3_add(face_a[1], shift), v3_add(face_a[2], shift)};
    return scene_of(b, 1, fmax(fabs(k), fmax(fabs(l), fabs(k + l))) < 12.0); // open triangles of one shape
}

static small_scene plant_vertex_through(uint64_t* n)
{
    const vec3 b[3] = {inside_point(n), free_point(n, 1, 9), free_point(n, -9, -1)};
    return scene_of(b, 1, 1);
}

static small_scene plant_vertex_touching(uint64_t* n)
{
    const vec3 b[3] = {inside_point(n), free_point(n, 1, 9), free_point(n, 0, 9)};
    return scene_of(b, 1, b[2].z > 0.0 ? 0 : -1);
}

// A third vertex in the plane too: an edge that lies in it, the triangle on one side.
static small_scene plant_edge_lying(uint64_t* n)
{
    const vec3 b[3] = {inside_point(n), free_point(n, 0, 0), free_point(n, 1, 9)};
    return scene_of(b, 1, 0);
}

// One body, common vertex 0.
static small_scene plant_shared_vertex(uint64_t* n)
{
    bool through = test_random(n, 0, 1) < 0.5;
    double k = (through ? 1.0 : -1.0) * whole(n, 1, 8);
    small_scene s = {.expected = through};
    s.body[0] = (part){.x = {face_a[0], face_a[1], face_a[2], {k, k, whole(n, 1, 5)}, {k, k, -whole(n, 1, 5)}},
                       .vertex_count = 5,
                       .triangle = {0, 1, 2, 0, 3, 4},
                       .triangle_count = 2};
    return s;
}

// One body, common edge 0 - 1; folded flat onto each other, flat open, or at an angle.
static small_scene plant_shared_edge(uint64_t* n)
{
    vec3 tip = free_point(n, -1, 1);
    small_scene s = {.expected = tip.z == 0.0 && tip.y > 0.0};
    s.body[0] = (part){.x = {face_a[0], face_a[1], face_a[2], tip},
                       .vertex_count = 4,
                       .triangle = {0, 1, 2, 1, 0, 3},
                       .triangle_count = 2};
    s.expected = tip.z == 0.0 && tip.y == 0.0 ? -1 : s.expected; // without area
    return s;
}

// Two triangles with a common edge in A's plane, one on each side or both on one; the common edge by index, or not.
static small_scene plant_edge_between(uint64_t* n)
{
    bool connected = test_random(n, 0, 1) < 0.75, both = test_random(n, 0, 1) < 0.3;
    vec3 from = inside_point(n), to = free_point(n, 0, 0);
    const vec3 b[6] = {from, to, free_point(n, 1, 9), to, from, free_point(n, both ? 1 : -9, both ? 9 : -1)};
    small_scene s = scene_of(b, 2, connected && !both ? 2 : 0);
    s.body[1].triangle[3] = connected ? 1 : 3;
    s.body[1].triangle[4] = connected ? 0 : 4;
    bool point = v3_same(from, to), overlap = both && oracle_volume(b[0], b[1], b[2], b[5]) == 0;
    s.expected = point || overlap ? -1 : s.expected;
    return s;
}

// The same along an edge of A: what the rule does not see.
static small_scene plant_edge_on_edge(uint64_t* n)
{
    double k = whole(n, -3, 8);
    vec3 from = v3(k, 0, 0), to = v3(k + whole(n, 1, 9), 0, 0);
    const vec3 b[6] = {from, to, free_point(n, 1, 9), to, from, free_point(n, -9, -1)};
    small_scene s = scene_of(b, 2, -1);
    s.body[1].triangle[3] = 1;
    s.body[1].triangle[4] = 0;
    return s;
}

// Segments and points as triangles.
static small_scene plant_degenerate(uint64_t* n)
{
    vec3 p = inside_point(n), q = free_point(n, -2, 2), r = v3_sub(v3_scale(2.0, p), q);
    bool point = test_random(n, 0, 1) < 0.3;
    const vec3 b[3] = {point ? p : q, p, point ? p : r};
    small_scene s = scene_of(b, 1, 1);
    s.body[0].triangle_count = test_random(n, 0, 1) < 0.8;
    if (s.body[0].triangle_count == 0) // two of them
    {
        s.body[0] = part_of_triangles((const vec3[3]){p, p, test_random(n, 0, 1) < 0.5 ? p : free_point(n, -2, 2)}, 1);
        s.expected = -1;
    }
    return s;
}

// Corners on corners and edges on edges, from a coarse lattice.
static small_scene plant_lattice(uint64_t* n)
{
    vec3 b[6];
    for (int k = 0; k < 6; k++)
    {
        b[k] = v3(4 * whole(n, -1, 4), 4 * whole(n, -1, 4), 4 * whole(n, -1, 1));
    }
    small_scene s = scene_of(b, 2, -1);
    bool connected = test_random(n, 0, 1) < 0.5;
    s.body[1].triangle[3] = connected ? 1 : 3;
    s.body[1].triangle[4] = connected ? 0 : 4;
    return s;
}

typedef small_scene plant_fn(uint64_t* n);

static plant_fn* const plants[] = {plant_through,      plant_coplanar,      plant_vertex_through, plant_vertex_touching,
                                   plant_edge_lying,   plant_shared_vertex, plant_shared_edge,    plant_edge_between,
                                   plant_edge_on_edge, plant_degenerate,    plant_lattice};

enum
{
    PLANT_COUNT = sizeof(plants) / sizeof(plants[0]),
    PLACEMENTS = 10000
};

static void scene_check(const small_scene* s, int number)
{
    bool touch;
    weft_inspection found;
    int expected = oracle_pairs(s, &touch);
    int64_t crossings = scene_inspect(s, &found) - found.nested;
    if (crossings != expected || (s->expected >= 0 && expected != s->expected))
    {
        fail_msg("placement %d: inspected %d, oracle %d, planted %d", number, (int)crossings, expected, s->expected);
    }
    if (touch != (found.min_distance == 0.0))
    {
        fail_msg("placement %d: touching is %d, distance %g", number, touch, found.min_distance);
    }
}

static void test_planted(void** state)
{
    (void)state;
    uint64_t n = 1000000;
    int crossing[PLANT_COUNT] = {0}, clean[PLANT_COUNT] = {0};
    for (int k = 0; k < PLACEMENTS; k++)
    {
        int plant = k % PLANT_COUNT;
        small_scene s = plants[plant](&n);
        s.body[1].obstacle = test_random(&n, 0, 1) < 0.3;
        place(&s, (placement)(k / PLANT_COUNT % PLACE_COUNT), &n);
        scene_check(&s, k);
        weft_inspection found;
        scene_inspect(&s, &found);
        crossing[plant] += found.crossings > 0;
        clean[plant] += found.crossings == 0;
    }
    // Each kind was seen: most of them both ways, once floats have rounded them.
    for (int p = 0; p < PLANT_COUNT; p++)
    {
        assert_true(crossing[p] > 50 || plants[p] == plant_edge_lying || plants[p] == plant_edge_on_edge);
        assert_true(clean[p] > 50 || plants[p] == plant_through || plants[p] == plant_vertex_through ||
                    plants[p] == plant_degenerate);
    }
}

// ---- nested bodies

static void part_append(part* p, const vec3* x, int vertices, const int* triangles, int count, bool inward)
{
    for (int k = 0; k < 3 * count; k++)
    {
        int corner = inward ? k - k % 3 + 2 - k % 3 : k;
        p->triangle[3 * p->triangle_count + k] = p->vertex_count + triangles[corner];
    }
    memcpy(p->x + p->vertex_count, x, (size_t)vertices * sizeof(vec3));
    p->vertex_count += vertices;
    p->triangle_count += count;
}

// Corners of a box, a tetrahedron, an octahedron; a sheet of two triangles. Faces look outward.
static void part_append_shape(part* p, int shape, vec3 center, double size, bool inward)
{
    static const vec3 box[8] = {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1},
                                {-1, -1, 1},  {1, -1, 1},  {1, 1, 1},  {-1, 1, 1}};
    static const int box_faces[36] = {0, 2, 1, 0, 3, 2, 4, 5, 6, 4, 6, 7, 0, 1, 5, 0, 5, 4,
                                      1, 2, 6, 1, 6, 5, 2, 3, 7, 2, 7, 6, 3, 0, 4, 3, 4, 7};
    static const vec3 tetrahedron[4] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
    static const int tetrahedron_faces[12] = {0, 1, 2, 0, 2, 3, 0, 3, 1, 1, 3, 2};
    static const vec3 octahedron[6] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
    static const int octahedron_faces[24] = {0, 2, 4, 2, 1, 4, 1, 3, 4, 3, 0, 4, 2, 0, 5, 1, 2, 5, 3, 1, 5, 0, 3, 5};
    static const vec3 sheet[4] = {{-1, -1, 0}, {1, -1, 0}, {1, 1, 0}, {-1, 1, 0}};
    static const int sheet_faces[6] = {0, 1, 2, 0, 2, 3};
    static const struct
    {
        const vec3* x;
        int vertices;
        const int* faces;
        int count;
    } shapes[4] = {{box, 8, box_faces, 12},
                   {tetrahedron, 4, tetrahedron_faces, 4},
                   {octahedron, 6, octahedron_faces, 8},
                   {sheet, 4, sheet_faces, 2}};
    vec3 x[8];
    for (int k = 0; k < shapes[shape].vertices; k++)
    {
        x[k] = v3_madd(center, size, shapes[shape].x[k]);
    }
    part_append(p, x, shapes[shape].vertices, shapes[shape].faces, shapes[shape].count, inward);
}

// Pieces of a part: number of each triangle, by flooding.
static int part_pieces(const part* p, int* piece)
{
    int count = 0;
    for (int t = 0; t < p->triangle_count; t++)
    {
        piece[t] = -1;
    }
    for (int t = 0; t < p->triangle_count; t++)
    {
        if (piece[t] >= 0)
        {
            continue;
        }
        piece[t] = count++;
        for (bool grown = true; grown;)
        {
            grown = false;
            for (int k = 0; k < 9 * p->triangle_count * p->triangle_count; k++)
            {
                int i = k / 9 / p->triangle_count, j = k / 9 % p->triangle_count;
                if (piece[i] == piece[t] && piece[j] < 0 &&
                    p->triangle[3 * i + k % 9 / 3] == p->triangle[3 * j + k % 3])
                {
                    piece[j] = piece[t];
                    grown = true;
                }
            }
        }
    }
    return count;
}

static bool piece_is_closed(const part* p, const int* piece, int number)
{
    for (int s = 0; s < 3 * p->triangle_count; s++)
    {
        const int* c = p->triangle + s - s % 3;
        int a = c[(s + 1) % 3], b = c[(s + 2) % 3], same = 0, opposite = 0;
        for (int r = 0; r < 3 * p->triangle_count && piece[s / 3] == number; r++)
        {
            const int* d = p->triangle + r - r % 3;
            same += d[(r + 1) % 3] == a && d[(r + 2) % 3] == b;
            opposite += d[(r + 1) % 3] == b && d[(r + 2) % 3] == a;
        }
        if (piece[s / 3] == number && (same != 1 || opposite != 1))
        {
            return false;
        }
    }
    return true;
}

// Volumes of these solids are far from zero, so that long doubles are enough for the oracle.
static bool piece_looks_outward(const part* p, const int* piece, int number)
{
    long double sum = 0.0L;
    vec3 o = p->x[0];
    for (int t = 0; t < p->triangle_count; t++)
    {
        vec3 x[3];
        part_corners(p, t, x);
        sum += piece[t] == number ? v3_dot(v3_sub(x[0], o), v3_cross(v3_sub(x[1], o), v3_sub(x[2], o))) : 0.0;
    }
    return sum > 0.0L;
}

// 1, 0, -1: how the ray from p towards q passes a triangle; 2: it meets an edge.
static int oracle_ray(vec3 p, vec3 q, const vec3* t)
{
    int s[3];
    for (int k = 0; k < 3; k++)
    {
        s[k] = oracle_volume(p, q, t[k], t[(k + 1) % 3]);
    }
    int end = oracle_volume(t[0], t[1], t[2], q), start = oracle_volume(t[0], t[1], t[2], p);
    if (start * end >= 0)
    {
        return start != 0 && end == 0 ? 2 : 0; // q is farther than anything, p on no triangle
    }
    if (s[0] == s[1] && s[1] == s[2] && s[0] != 0)
    {
        return end > 0 ? 1 : -1;
    }
    return (s[0] >= 0 && s[1] >= 0 && s[2] >= 0) || (s[0] <= 0 && s[1] <= 0 && s[2] <= 0) ? 2 : 0;
}

typedef struct solids
{
    int piece[TRIANGLES_MAX], count;
    bool closed[TRIANGLES_MAX], solid[TRIANGLES_MAX];
} solids;

static solids part_solids(const part* p)
{
    solids s;
    s.count = part_pieces(p, s.piece);
    for (int k = 0; k < s.count; k++)
    {
        s.closed[k] = piece_is_closed(p, s.piece, k);
        s.solid[k] = s.closed[k] && piece_looks_outward(p, s.piece, k);
    }
    return s;
}

// Winding numbers of a piece and of its whole body; false: the ray was no good.
static bool oracle_winding(const part* p, const solids* s, int number, int except, vec3 from, vec3 to, int* of_piece,
                           int* of_body)
{
    *of_piece = *of_body = 0;
    for (int t = 0; t < p->triangle_count; t++)
    {
        if (!s->closed[s->piece[t]] || s->piece[t] == except)
        {
            continue;
        }
        vec3 x[3];
        part_corners(p, t, x);
        int ray = oracle_ray(from, to, x);
        if (ray == 2)
        {
            return false;
        }
        *of_body += ray;
        *of_piece += s->piece[t] == number ? ray : 0;
    }
    return true;
}

static bool oracle_on_surface(const part* p, const solids* s, int except, vec3 v)
{
    for (int t = 0; t < p->triangle_count; t++)
    {
        vec3 x[3];
        bool touch = false;
        part_corners(p, t, x);
        if (s->closed[s->piece[t]] && s->piece[t] != except)
        {
            oracle_meet(&v, 1, x, 3, &touch);
        }
        if (touch)
        {
            return true;
        }
    }
    return false;
}

static bool oracle_inside(const part* p, const solids* s, int number, int except, vec3 v, uint64_t* n)
{
    if (oracle_on_surface(p, s, except, v))
    {
        return false;
    }
    double far = 0.0;
    for (int k = 0; k < p->vertex_count; k++)
    {
        far = fmax(far, v3_length(v3_sub(p->x[k], v)));
    }
    for (int tries = 0; tries < 1000; tries++)
    {
        vec3 d = v3_normalize(test_random_vec(n, 1.0));
        int of_piece, of_body;
        if (oracle_winding(p, s, number, except, v, v3_madd(v, 64.0 * far, d), &of_piece, &of_body))
        {
            return of_piece > 0 && of_body > 0;
        }
    }
    fail_msg("no ray is good");
    return false;
}

// Pieces of `inner` nested in pieces of `outer`, which may be the same part.
static int oracle_nested(const part* inner, const part* outer, uint64_t* n)
{
    solids in = part_solids(inner), out = part_solids(outer);
    int count = 0;
    for (int k = 0; k < in.count * out.count && !inner->obstacle; k++)
    {
        int i = k / out.count, j = k % out.count;
        bool may_be = out.solid[j] && (inner != outer || i != j) && (outer->obstacle || in.solid[i]);
        bool crosses = false, inside = false, touch;
        for (int s = 0; s < inner->triangle_count && may_be; s++)
        {
            for (int t = 0; t < outer->triangle_count && in.piece[s] == i; t++)
            {
                crosses |= out.piece[t] == j && oracle_crosses(inner, s, outer, t, &touch);
            }
        }
        for (int c = 0; c < 3 * inner->triangle_count && may_be && !crosses && !inside; c++)
        {
            inside |= in.piece[c / 3] == i &&
                      oracle_inside(outer, &out, j, inner == outer ? i : -1, inner->x[inner->triangle[c]], n);
        }
        count += inside;
    }
    return count;
}

static small_scene plant_nested(uint64_t* n)
{
    small_scene s = {.expected = -1};
    part *in = &s.body[0], *out = &s.body[1];
    int shape = (int)whole(n, 0, 3);
    bool inward = test_random(n, 0, 1) < 0.15;
    vec3 off = v3(whole(n, -12, 12), whole(n, -12, 12), whole(n, -12, 12));
    off = test_random(n, 0, 1) < 0.4 ? v3_scale(0.25, off) : off;
    out->obstacle = test_random(n, 0, 1) < 0.6;
    part_append_shape(out, (int)whole(n, 0, 2), v3(0, 0, 0), 12.0, test_random(n, 0, 1) < 0.15);
    if (test_random(n, 0, 1) < 0.3) // a hollow body
    {
        part_append_shape(out, 0, v3(0, 0, 0), 3.0, true);
        shape = 1;
    }
    part_append_shape(in, shape, off, whole(n, 1, 3), inward);
    if (test_random(n, 0, 1) < 0.3) // a second piece of the same body
    {
        part_append_shape(in, 2, off, test_random(n, 0, 1) < 0.5 ? 8.0 : 0.25, false);
    }
    return s;
}

static void test_nested(void** state)
{
    (void)state;
    uint64_t n = 2000000;
    int nested = 0, clean = 0, same_body = 0;
    for (int k = 0; k < 1000; k++)
    {
        small_scene s = plant_nested(&n);
        place(&s, (placement)(k % PLACE_COUNT), &n);
        const part *in = &s.body[0], *out = &s.body[1];
        int own = oracle_nested(in, in, &n) + oracle_nested(out, out, &n);
        int expected = oracle_nested(in, out, &n) + oracle_nested(out, in, &n) + own;
        weft_inspection found;
        scene_inspect(&s, &found);
        if (found.nested != expected)
        {
            fail_msg("placement %d: %d nested, oracle %d", k, (int)found.nested, expected);
        }
        nested += expected > 0;
        clean += found.crossings == 0;
        same_body += own > 0;
    }
    assert_true(nested > 200 && clean > 200 && same_body > 20);
}

// Rays through corners, along edges and in faces of a lattice: a point is inside or not, whatever the ray meets.
static void test_nested_lattice(void** state)
{
    (void)state;
    uint64_t n = 3000000;
    int nested = 0;
    for (int k = 0; k < 1000; k++)
    {
        small_scene s = {.expected = -1};
        s.body[1].obstacle = 1;
        part_append_shape(&s.body[1], k % 3, v3(0, 0, 0), 2.0, false);
        vec3 p = v3(whole(&n, -3, 3), whole(&n, -3, 3), whole(&n, -3, 3));
        vec3 q = v3(whole(&n, -1, 1), whole(&n, -1, 1), whole(&n, -1, 1));
        vec3 r = v3(whole(&n, -1, 1), whole(&n, -1, 1), whole(&n, -1, 1));
        const vec3 x[3] = {p, v3_madd(p, 0.25, q), v3_madd(p, 0.25, r)}; // inside, outside, through, or touching
        s.body[0] = part_of_triangles(x, 1);
        weft_inspection found;
        scene_inspect(&s, &found);
        int expected = oracle_nested(&s.body[0], &s.body[1], &n);
        assert_int_equal(found.nested, expected);
        nested += expected;
    }
    assert_true(nested > 10);
}

static int open_oracle(void** state)
{
    (void)state;
    oracle_open();
    return 0;
}

static int close_oracle(void** state)
{
    (void)state;
    oracle_close();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_signs),
        cmocka_unit_test(test_planted),
        cmocka_unit_test(test_nested),
        cmocka_unit_test(test_nested_lattice),
    };
    return cmocka_run_group_tests(tests, open_oracle, close_oracle);
}

#endif
