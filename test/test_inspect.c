// Crossings as weft_inspector_frame counts them, against an oracle in GMP (inspect_oracle.h): determinants of random
// and extreme points, planted crossings of every kind in 10,000 placements. Where a placement keeps what
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

#include "inspect_scene.h"

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

// ---- what is planted. Face A is (0,0,0) (12,0,0) (0,12,0); integer points inside have x, y > 0 and x + y < 12.

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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_signs), cmocka_unit_test(test_planted)};
    return cmocka_run_group_tests(tests, open_oracle, close_oracle);
}

#endif
