// Closest points against a search that shares no formula with them, degenerate features among them; what is near in
// whole scenes against loops over everything.
#include "common.h"

#include <stdlib.h>
#include <string.h>

#include "collide/broad.h"
#include "common_collide.h"

// ---- the oracle: distance to a convex set of points a + s d + t e as the minimum over t of the minimum over s. Both
// are convex; the inner one has a closed form, the outer one is searched by thirds.

typedef struct ld3
{
    long double x, y, z;
} ld3;

static ld3 ld_of(vec3 a)
{
    return (ld3){a.x, a.y, a.z};
}

static ld3 ld_madd(ld3 a, long double s, ld3 b)
{
    return (ld3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

static long double ld_dot(ld3 a, ld3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

// Squared distance of the origin to a + s d, s in [0, most].
static long double line_distance_sq(ld3 a, ld3 d, long double most)
{
    long double length_sq = ld_dot(d, d), s = length_sq > 0 ? -ld_dot(a, d) / length_sq : 0;
    s = s < 0 ? 0 : s > most ? most : s;
    ld3 x = ld_madd(a, s, d);
    return ld_dot(x, x);
}

// triangle: s <= 1 - t, else s <= 1.
static double oracle(ld3 a, ld3 d, ld3 e, int triangle)
{
    long double low = 0, high = 1;
    for (int k = 0; k < 130; k++)
    {
        long double t1 = low + (high - low) / 3, t2 = high - (high - low) / 3;
        long double f1 = line_distance_sq(ld_madd(a, t1, e), d, triangle ? 1 - t1 : 1);
        long double f2 = line_distance_sq(ld_madd(a, t2, e), d, triangle ? 1 - t2 : 1);
        *(f1 < f2 ? &high : &low) = f1 < f2 ? t2 : t1;
    }
    long double best = INFINITY;
    for (int k = 0; k < 3; k++)
    {
        long double t = k == 0 ? 0.5L * (low + high) : k - 1,
                    f = line_distance_sq(ld_madd(a, t, e), d, triangle ? 1 - t : 1);
        best = f < best ? f : best;
    }
    return (double)sqrtl(best);
}

static double oracle_distance(weft_pair_kind kind, const vec3 x[4])
{
    ld3 p[4];
    for (int k = 0; k < 4; k++)
    {
        p[k] = ld_of(x[k]);
    }
    if (kind == WEFT_VERTEX_FACE)
    {
        return oracle(ld_madd(p[1], -1, p[0]), ld_madd(p[2], -1, p[1]), ld_madd(p[3], -1, p[1]), 1);
    }
    return oracle(ld_madd(p[0], -1, p[2]), ld_madd(p[1], -1, p[0]), ld_madd(p[2], -1, p[3]), 0);
}

static double spread(const vec3 x[4])
{
    double size = 0.0;
    for (int k = 1; k < 4; k++)
    {
        size = fmax(size, v3_length(v3_sub(x[k], x[0])));
    }
    return size;
}

static void check_closest(weft_pair_kind kind, const vec3 x[4], const double w[4], vec3 normal, double distance)
{
    double size = spread(x), offset = fmax(fabs(x[0].x), fmax(fabs(x[0].y), fabs(x[0].z)));
    double exact = oracle_distance(kind, x);
    // The search by thirds finds the place to some 1e-10 only, where the distance is zero that is what it reports.
    if (fabs(distance - exact) > 1e-9 * size)
    {
        fail_msg("kind %d: distance %.17g, should be %.17g (size %g)", kind, distance, exact, size);
    }
    assert_true(distance <= exact + 1e-12 * size);
    // Weights of two points of the features.
    double first = kind == WEFT_VERTEX_FACE ? w[0] : w[0] + w[1];
    assert_true(fabs(first - 1.0) < 1e-12 && fabs(w[0] + w[1] + w[2] + w[3]) < 1e-12);
    for (int k = 0; k < 4; k++)
    {
        bool of_first = k == 0 || (kind == WEFT_EDGE_EDGE && k == 1);
        assert_true(of_first ? w[k] >= 0.0 && w[k] <= 1.0 : w[k] <= 0.0 && w[k] >= -1.0);
    }
    // Their difference is distance times normal.
    vec3 sum = v3(0, 0, 0);
    for (int k = 1; k < 4; k++)
    {
        sum = v3_madd(sum, w[k], v3_sub(x[k], x[0]));
    }
    vec3 rest = v3_madd(sum, -distance, normal);
    assert_true(fabs(v3_length(normal) - 1.0) < 1e-12);
    assert_true(v3_length(rest) <= 1e-12 * size + 4e-16 * offset);
}

static void check_points(const vec3 x[4])
{
    for (int kind = 0; kind < 2; kind++)
    {
        closest c = kind == WEFT_VERTEX_FACE ? closest_vertex_face(x) : closest_edge_edge(x);
        check_closest((weft_pair_kind)kind, x, c.weight, c.normal, c.distance);
    }
}

static void test_random_points(void** unused)
{
    (void)unused;
    uint64_t counter = 31;
    for (int k = 0; k < 4000; k++)
    {
        vec3 x[4];
        double size = pow(10.0, test_random(&counter, -6.0, 6.0));
        vec3 offset = test_random_vec(&counter, k % 3 ? 0.0 : 1e3 * size);
        for (int j = 0; j < 4; j++)
        {
            x[j] = v3_add(offset, test_random_vec(&counter, size));
        }
        check_points(x);
        x[0].y = offset.y + 1e-6 * x[0].y; // near the plane of nothing in particular
        check_points(x);
    }
}

// Four points out of few places: coincident points, zero-length edges, parallel and crossing ones, slivers, points on
// sides.
static void test_degenerate_points(void** unused)
{
    (void)unused;
    static const double at[] = {0.0, 1.0, 0.5, 1.0 + 1e-14};
    uint64_t counter = 37;
    for (int k = 0; k < 6000; k++)
    {
        vec3 x[4];
        for (int j = 0; j < 4; j++)
        {
            x[j] = v3(at[(int)test_random(&counter, 0, 4)], at[(int)test_random(&counter, 0, 4)],
                      k % 2 ? 0.0 : at[(int)test_random(&counter, 0, 4)]);
        }
        check_points(x);
        for (int j = 0; j < 4 && k % 5 == 0; j++)
        {
            x[j] = v3(1e-9 * x[j].x, x[j].y, 1e-5 * x[j].z); // flat in two ways
        }
        check_points(x);
    }
}

static void test_scale(void** unused)
{
    (void)unused;
    // Neither tiny nor huge coordinates change the answer.
    const vec3 x[4] = {{0.2, 0.3, 0.5}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    static const double scales[] = {0x1p-1060, 0x1p-600, 0x1p600, 0x1p1020};
    for (int k = 0; k < 4; k++)
    {
        vec3 y[4];
        for (int j = 0; j < 4; j++)
        {
            y[j] = v3_scale(scales[k], x[j]);
        }
        closest c = closest_vertex_face(y);
        assert_true(fabs(c.distance / (0.5 * scales[k]) - 1.0) < 1e-4); // 2^-1060 keeps few digits
        assert_true(fabs(c.normal.z - 1.0) < 1e-6);
    }
    const vec3 wide[4] = {{1.7e308, 0, 0}, {-1.7e308, 0, 0}, {-1.7e308, 1, 0}, {-1.7e308, 0, 1}};
    closest c = closest_vertex_face(wide);
    assert_true(c.normal.x == 1.0 && c.distance == INFINITY);
}

// At distance zero: the normal of the face, or of both edges, or one that is perpendicular to the longest edge.
static void test_normals_at_zero(void** unused)
{
    (void)unused;
    const vec3 on_face[4] = {{0.25, 0.25, 0}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    closest c = closest_vertex_face(on_face);
    assert_true(c.distance == 0.0 && fabs(fabs(c.normal.z) - 1.0) < 1e-15);
    const vec3 crossing[4] = {{-1, 0, 0}, {1, 0, 0}, {0, -1, 0}, {0, 1, 0}};
    c = closest_edge_edge(crossing);
    assert_true(c.distance == 0.0 && fabs(fabs(c.normal.z) - 1.0) < 1e-15);
    const vec3 overlapping[4] = {{0, 0, 0}, {1, 1, 1}, {0, 0, 0}, {2, 2, 2}};
    c = closest_edge_edge(overlapping);
    assert_true(c.distance == 0.0 && fabs(c.normal.x + c.normal.y + c.normal.z) < 1e-15);
    c = closest_vertex_face(overlapping);
    assert_true(c.distance == 0.0 && fabs(c.normal.x + c.normal.y + c.normal.z) < 1e-15);
    const vec3 point[4] = {{5, 5, 5}, {5, 5, 5}, {5, 5, 5}, {5, 5, 5}};
    c = closest_vertex_face(point);
    assert_true(c.distance == 0.0 && fabs(v3_length(c.normal) - 1.0) < 1e-15);
}

// ---- whole scenes

static void pair_points(const test_scene* s, const int v[4], vec3 x[4])
{
    for (int k = 0; k < 4; k++)
    {
        x[k] = s->end[v[k]];
    }
}

// Goes on in the list when the pair is in it; it must be when it is clearly nearer, and must not when it is clearly
// farther.
static int next_near(const test_scene* s, const weft_near* near, int count, int at, double distance,
                     weft_pair_kind kind, weft_pair pair, const int v[4])
{
    vec3 x[4];
    pair_points(s, v, x);
    double exact = oracle_distance(kind, x);
    bool here = at < count && near[at].kind == kind && near[at].first == pair.first && near[at].second == pair.second;
    if (here != (exact <= distance) && fabs(exact - distance) > 1e-9)
    {
        fail_msg("pair %d %d of kind %d is %g apart and %s", pair.first, pair.second, kind, exact,
                 here ? "reported" : "missing");
    }
    if (here)
    {
        assert_memory_equal(near[at].vertex, v, 4 * sizeof(int));
        check_closest(kind, x, near[at].weight, near[at].normal, near[at].distance);
    }
    return at + here;
}

static int check_all(const test_scene* s, const weft_near* near, int count, double distance)
{
    int at = 0, edge_count;
    int* edges = test_scene_edges(s, &edge_count);
    for (int i = 0; i < s->def.vertex_count; i++)
    {
        for (int j = 0; j < s->def.triangle_count; j++)
        {
            const int *t = s->triangles + 3 * j, v[4] = {i, t[0], t[1], t[2]};
            at = test_scene_wants(s, &i, 1, t, 3)
                     ? next_near(s, near, count, at, distance, WEFT_VERTEX_FACE, (weft_pair){i, j}, v)
                     : at;
        }
    }
    for (int i = 0; i < edge_count; i++)
    {
        for (int j = i + 1; j < edge_count; j++)
        {
            const int *a = edges + 2 * i, *b = edges + 2 * j, v[4] = {a[0], a[1], b[0], b[1]};
            at = test_scene_wants(s, a, 2, b, 2)
                     ? next_near(s, near, count, at, distance, WEFT_EDGE_EDGE, (weft_pair){i, j}, v)
                     : at;
        }
    }
    free(edges);
    return at;
}

static weft_collider* near_of(const test_scene* s, int threads, const char* kernels, double distance,
                              const weft_near** near, int* count)
{
    weft_collider_def def = s->def;
    weft_collider* c;
    cpu_kind cpu;
    def.worker_count = threads;
    def.kernels = cpu_kind_parse(kernels, &cpu) ? kernels : "auto";
    assert_int_equal(weft_collider_create(&def, &c, NULL), WEFT_OK);
    assert_int_equal(weft_collider_update(c, s->start, s->end, s->margin, NULL), WEFT_OK);
    assert_int_equal(weft_collider_near(c, distance, near, count, NULL), WEFT_OK);
    return c;
}

static int check_scene(const test_scene* s, double distance)
{
    static const char* const kernels[] = {"auto", "base", "avx2", "avx512"};
    const weft_near *near, *again;
    int count, again_count;
    weft_collider* c = near_of(s, 1, "auto", distance, &near, &count);
    assert_int_equal(check_all(s, near, count, distance), count);
    for (int k = 0; k < 4; k++)
    {
        weft_collider* other = near_of(s, 2 + 2 * k, kernels[k], distance, &again, &again_count);
        assert_int_equal(again_count, count);
        for (int j = 0; j < count; j++)
        {
            assert_int_equal(again[j].kind, near[j].kind);
            assert_memory_equal(again[j].vertex, near[j].vertex, sizeof(near[j].vertex));
            assert_memory_equal(again[j].weight, near[j].weight, sizeof(near[j].weight));
            assert_memory_equal(&again[j].normal, &near[j].normal, sizeof(vec3));
            assert_true(again[j].distance == near[j].distance);
        }
        weft_collider_destroy(other);
    }
    weft_collider_destroy(c);
    return count;
}

static void test_scenes(void** unused)
{
    (void)unused;
    int total = 0;
    for (uint64_t seed = 0; seed < 12; seed++)
    {
        test_scene* s = test_scene_create();
        test_scene_random(s, seed);
        total += check_scene(s, seed % 4 == 3 ? 0.0 : 0.05 * (double)(1 + seed % 3));
        free(s);
    }
    assert_true(total > 1000);
    // Cloth over an obstacle with a strand, farther than the margin of the update.
    test_scene* s = test_scene_create();
    test_scene_sheet(s, 6, v3(0, 0, 0), v3(1, 0, 0), v3(0, 0.1, 1), v3(0, -0.03, 0), 0);
    test_scene_sheet(s, 5, v3(0, -0.05, 0), v3(1, 0, 0), v3(0, 0, 1), v3(0, 0, 0), 1);
    for (int k = 0; k < 8; k++)
    {
        int v = test_scene_vertex(s, v3(0.3, 0.2 - 0.05 * k, 0.4), v3(0.31, 0.2 - 0.05 * k, 0.4), 2);
        if (k > 0)
        {
            test_scene_edge(s, v - 1, v);
        }
    }
    s->passive[1] = 1;
    assert_true(check_scene(s, 0.08) > 100);
    free(s);
}

static void test_bad_distance(void** unused)
{
    (void)unused;
    test_scene* s = test_scene_create();
    test_scene_random(s, 2);
    const weft_near* near;
    int count;
    weft_error error = {0};
    weft_collider* c = near_of(s, 1, "auto", 0.1, &near, &count);
    assert_int_equal(weft_collider_near(c, -1.0, &near, &count, &error), WEFT_BAD_INPUT);
    assert_int_equal(weft_collider_near(c, NAN, &near, &count, &error), WEFT_BAD_INPUT);
    assert_non_null(strstr(error.message, "distance"));
    weft_collider_destroy(c);
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_points), cmocka_unit_test(test_degenerate_points),
        cmocka_unit_test(test_scale),         cmocka_unit_test(test_normals_at_zero),
        cmocka_unit_test(test_scenes),        cmocka_unit_test(test_bad_distance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
