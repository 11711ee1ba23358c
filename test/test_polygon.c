// Faces of four and more corners as triangles: quads, random, bridged, crossing and large polygons.
#include "common.h"

#include <string.h>

#include "common_mesh.h"

static void test_quad_diagonals(void** state)
{
    (void)state;
    mesh m;
    weft_error error;
    // The shorter diagonal, whatever corner the face starts with.
    vec3 kite[] = {{0, 0, 0}, {1, -0.2, 0}, {3, 0, 0}, {1, 0.2, 0}};
    for (int turn = 0; turn < 4; turn++)
    {
        int face[] = {turn, (turn + 1) % 4, (turn + 2) % 4, (turn + 3) % 4};
        assert_int_equal(test_triangulate(kite, 4, (int[]){0, 4}, face, 1, &m, &error), WEFT_OK);
        hinge* hinges;
        int count;
        assert_int_equal(mesh_hinges(m.triangle, 2, 4, &hinges, &count, NULL), WEFT_OK);
        assert_int_equal(count, 1);
        assert_int_equal(hinges[0].vertex[0], 1);
        assert_int_equal(hinges[0].vertex[1], 3);
        mem_free(hinges);
        mesh_finish(&m);
    }
    // A dart: the shorter diagonal lies outside.
    vec3 dart[] = {{0, 0, 0}, {3, 1, 0}, {1, 0, 0}, {3, -1, 0}};
    assert_int_equal(test_triangulate(dart, 4, (int[]){0, 4}, (int[]){3, 2, 1, 0}, 1, &m, &error), WEFT_OK);
    for (int t = 0; t < 2; t++)
    {
        assert_true(test_area_vector(&m, t).z > 0.0);
    }
    mesh_finish(&m);
    // A corner in the middle of a side.
    vec3 flat[] = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {1, 1, 0}};
    assert_int_equal(test_triangulate(flat, 4, (int[]){0, 4}, (int[]){0, 1, 2, 3}, 1, &m, &error), WEFT_OK);
    mesh_finish(&m);
    // An eight has no split.
    test_expect_refused((vec3[]){{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}}, 4, (int[]){0, 4}, (int[]){0, 2, 1, 3}, 1,
                   "crosses itself");
}

// A random star-shaped polygon in a random plane, a little off it.
static int random_polygon(uint64_t seed, double noise, vec3* out, double* out_area)
{
    int count = 5 + (int)(random_unit(seed, 0) * 40.0);
    double yaw = 6.0 * random_unit(seed, 1), pitch = 6.0 * random_unit(seed, 2);
    double area = 0.0;
    double px = 0.0, py = 0.0, first_x = 0.0, first_y = 0.0;
    for (int k = 0; k < count; k++)
    {
        double angle = 2.0 * PI * (k + 0.5 * random_unit(seed, 10 + 3 * (uint64_t)k)) / count;
        double radius = 0.1 + 0.9 * random_unit(seed, 11 + 3 * (uint64_t)k);
        double x = radius * cos(angle), y = radius * sin(angle);
        double z = noise * (random_unit(seed, 12 + 3 * (uint64_t)k) - 0.5);
        area += k > 0 ? 0.5 * (px * y - py * x) : 0.0;
        first_x = k == 0 ? x : first_x, first_y = k == 0 ? y : first_y;
        px = x, py = y;
        double x1 = x * cos(yaw) - y * sin(yaw), y1 = x * sin(yaw) + y * cos(yaw);
        out[k] = v3(x1 + 100.0, y1 * cos(pitch) - z * sin(pitch), y1 * sin(pitch) + z * cos(pitch));
    }
    *out_area = area + 0.5 * (px * first_y - py * first_x);
    return count;
}

static void test_polygons(void** state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 300; seed++)
    {
        vec3 x[64];
        double area;
        double noise = seed % 2 ? 0.0 : 0.02;
        int count = random_polygon(seed, noise, x, &area), face[64];
        for (int k = 0; k < count; k++)
        {
            face[k] = k;
        }
        mesh m;
        weft_error error;
        assert_int_equal(test_triangulate(x, count, (int[]){0, count}, face, 1, &m, &error), WEFT_OK);
        assert_int_equal(m.triangle_count, count - 2);
        assert_int_equal(test_mesh_euler(&m), 1);
        if (noise == 0.0)
        {
            assert_float_equal(test_mesh_area(&m), area, 1e-12);
        }
        mesh_finish(&m);
    }
}

// A random ring: an outline and a hole inside it, bridged by two edges on one another.
static void test_polygons_bridged(void** state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 300; seed++)
    {
        int outer = 3 + (int)(random_unit(seed, 0) * 30.0), inner = 3 + (int)(random_unit(seed, 1) * 30.0);
        vec3 x[80];
        int face[80], count = 0;
        double area = 0.0;
        for (int k = 0; k <= outer + inner + 1; k++, count++)
        {
            int on_inner = k > outer, n = on_inner ? inner : outer, j = on_inner ? k - outer - 1 : k;
            double radius = on_inner ? 0.1 + 0.3 * random_unit(seed, 100 + (uint64_t)(j % n))
                                     : 2.0 + random_unit(seed, 200 + (uint64_t)(j % n));
            double angle = (on_inner ? -2.0 : 2.0) * PI * (j % n) / n;
            x[count] = v3(radius * cos(angle), radius * sin(angle), 0.0);
            face[count] = count;
            area += j > 0 ? 0.5 * v3_cross(x[count - 1], x[count]).z : 0.0;
        }
        mesh m;
        weft_error error;
        assert_int_equal(test_triangulate(x, count, (int[]){0, count}, face, 1, &m, &error), WEFT_OK);
        assert_float_equal(test_mesh_area(&m), area, 1e-12);
        mesh_finish(&m);
    }
}

static double turn(vec3 a, vec3 b, vec3 c)
{
    return v3_cross(v3_sub(b, a), v3_sub(c, a)).z;
}

static bool polygon_crosses(const vec3* x, int count)
{
    for (int i = 0; i < count; i++)
    {
        for (int j = 0; j < count; j++)
        {
            vec3 a = x[i], b = x[(i + 1) % count], c = x[j], d = x[(j + 1) % count];
            if (turn(a, b, c) * turn(a, b, d) < 0.0 && turn(c, d, a) * turn(c, d, b) < 0.0)
            {
                return true;
            }
        }
    }
    return false;
}

// Random corners in random order: what crosses itself is refused, what does not is split. On a coarse lattice corners
// touch, coincide and run back; then either answer will do, but a split has the right area.
static void test_polygons_random(void** state)
{
    (void)state;
    int split = 0, refused = 0;
    for (uint64_t seed = 0; seed < 20000; seed++)
    {
        bool lattice = seed % 2;
        vec3 x[16], sum = {0};
        int face[16], count = 4 + (int)(random_bits(seed, 0) % (seed % 3 ? 2 : 12));
        for (int k = 0; k < count; k++)
        {
            double u = random_unit(seed, 1 + 2 * (uint64_t)k), v = random_unit(seed, 2 + 2 * (uint64_t)k);
            x[k] = lattice ? v3(floor(4.0 * u), floor(4.0 * v), 0.0) : v3(u, v, 0.0);
            face[k] = k;
            sum = k > 0 ? v3_add(sum, v3_cross(x[k - 1], x[k])) : sum;
        }
        sum = v3_add(sum, v3_cross(x[count - 1], x[0]));
        mesh m;
        weft_error error;
        weft_status status = test_triangulate(x, count, (int[]){0, count}, face, 1, &m, &error);
        if (!lattice)
        {
            assert_int_equal(status, polygon_crosses(x, count) ? WEFT_BAD_INPUT : WEFT_OK);
        }
        if (status == WEFT_OK)
        {
            assert_float_equal(test_mesh_area(&m), 0.5 * v3_length(sum), 1e-12);
        }
        split += status == WEFT_OK;
        refused += status != WEFT_OK;
        mesh_finish(&m);
    }
    print_message("%d random polygons were split, %d refused\n", split, refused);
    assert_true(split > 2000 && refused > 2000);
}

static void test_polygons_odd(void** state)
{
    (void)state;
    mesh m;
    weft_error error;
    // Corners in the middle of a square's sides.
    vec3 ring[] = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {2, 1, 0}, {2, 2, 0}, {1, 2, 0}, {0, 2, 0}, {0, 1, 0}};
    int eight[] = {0, 1, 2, 3, 4, 5, 6, 7};
    assert_int_equal(test_triangulate(ring, 8, (int[]){0, 8}, eight, 1, &m, &error), WEFT_OK);
    assert_float_equal(test_mesh_area(&m), 4.0, 1e-15);
    mesh_finish(&m);
    // A hole, bridged to the outline by two edges on one another.
    vec3 hole[] = {{0, 0, 0}, {3, 0, 0}, {3, 3, 0}, {0, 3, 0}, {0, 0, 0},
                   {1, 1, 0}, {1, 2, 0}, {2, 2, 0}, {2, 1, 0}, {1, 1, 0}};
    int ten[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    assert_int_equal(test_triangulate(hole, 10, (int[]){0, 10}, ten, 1, &m, &error), WEFT_OK);
    assert_float_equal(test_mesh_area(&m), 8.0, 1e-12);
    mesh_finish(&m);
    // Stars drawn in one stroke.
    for (int points = 5; points <= 13; points += 2)
    {
        vec3 star[13];
        int face[13];
        for (int k = 0; k < points; k++)
        {
            star[k] = v3(cos(4.0 * PI * k / points), sin(4.0 * PI * k / points), 0.0);
            face[k] = k;
        }
        test_expect_refused(star, points, (int[]){0, points}, face, 1, "crosses itself");
    }
    // All corners on a line.
    vec3 line[] = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {3, 0, 0}, {4, 0, 0}};
    test_expect_refused(line, 5, (int[]){0, 5}, eight, 1, "no area");
}

// A comb has as many wide corners as others; the largest allowed takes no noticeable time.
static void test_polygons_large(void** state)
{
    (void)state;
    static vec3 x[4098];
    static int face[4098];
    for (int k = 0; k < 4094; k++)
    {
        x[k] = v3(4094 - k, k % 2 ? 1.0 : 100.0, 0.0);
    }
    x[4094] = v3(0, 0, 0), x[4095] = v3(4095, 0, 0), x[4096] = v3(5000, 50, 0);
    for (int k = 0; k < 4097; k++)
    {
        face[k] = k;
    }
    mesh m;
    weft_error error;
    double start = timer_now();
    assert_int_equal(test_triangulate(x, 4096, (int[]){0, 4096}, face, 1, &m, &error), WEFT_OK);
    print_message("a comb of 4096 corners took %.3f s\n", timer_now() - start);
    mesh_finish(&m);
    test_expect_refused(x, 4097, (int[]){0, 4097}, face, 1, "at most 4096");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quad_diagonals),   cmocka_unit_test(test_polygons),
        cmocka_unit_test(test_polygons_bridged), cmocka_unit_test(test_polygons_random),
        cmocka_unit_test(test_polygons_odd),     cmocka_unit_test(test_polygons_large),
    };
    return cmocka_run_group_tests_name("polygon", tests, NULL, NULL);
}
