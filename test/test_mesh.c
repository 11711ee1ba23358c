// Grids, checks of the surface, rest shapes, hinges, order, outline; and what happens when memory runs out.
#include "common.h"

#include <stdlib.h>
#include <string.h>

#include "common_mesh.h"

// ---- the last warning and their number

typedef struct warnings
{
    int count;
    char last[1024];
} warnings;

static void warnings_note(const char* message, void* user)
{
    warnings* w = user;
    w->count++;
    snprintf(w->last, sizeof(w->last), "%s", message);
}

// ---- helpers

static grid_options square(int cells)
{
    return (grid_options){.size_u = 2.0, .size_v = 1.0, .cells_u = cells, .cells_v = cells, .seed = 1};
}

static mesh grid_make(grid_options options)
{
    mesh m;
    weft_error error = {0};
    assert_int_equal(mesh_from_grid(&options, &m, &error), WEFT_OK);
    assert_int_equal(mesh_triangulate(&m, &error), WEFT_OK);
    return m;
}

static double triangle_least_angle(const mesh* m, int t)
{
    double least = PI;
    for (int k = 0; k < 3; k++)
    {
        vec3 x = m->position[m->triangle[3 * t + k]];
        vec3 a = v3_sub(m->position[m->triangle[3 * t + (k + 1) % 3]], x);
        vec3 b = v3_sub(m->position[m->triangle[3 * t + (k + 2) % 3]], x);
        least = fmin(least, atan2(v3_length(v3_cross(a, b)), v3_dot(a, b)));
    }
    return least;
}

// ---- grids

static void test_grid_counts(void** state)
{
    (void)state;
    for (int variant = 0; variant < 16; variant++)
    {
        grid_options o = square(8);
        o.cells_v = 6;
        o.irregular = variant & 1, o.quads = variant & 2, o.l_shape = variant & 4, o.upright = variant & 8;
        mesh m = grid_make(o);
        int cells = 48 - (o.l_shape ? 12 : 0);
        assert_int_equal(m.vertex_count, 63 - (o.l_shape ? 12 : 0));
        assert_int_equal(m.face_count, o.quads ? cells : 2 * cells);
        assert_int_equal(m.triangle_count, 2 * cells);
        assert_int_equal(test_mesh_euler(&m), 1);
        assert_float_equal(test_mesh_area(&m), o.l_shape ? 1.5 : 2.0, 1e-12);
        for (int t = 0; t < m.triangle_count; t++)
        {
            vec3 a = test_area_vector(&m, t);
            assert_true((o.upright ? a.z : a.y) > 0.0);
        }
        mesh_finish(&m);
    }
}

static void test_grid_places(void** state)
{
    (void)state;
    grid_options o = square(4);
    mesh m = grid_make(o);
    assert_float_equal(m.position[0].x, -1.0, 1e-15);
    assert_float_equal(m.position[0].z, 0.5, 1e-15);
    assert_float_equal(m.position[1].x, -0.5, 1e-15);
    assert_float_equal(m.position[24].x, 1.0, 1e-15);
    assert_float_equal(m.position[24].z, -0.5, 1e-15);
    assert_int_equal(m.edge_mask[0], EDGE_LEFT | EDGE_BOTTOM);
    assert_int_equal(m.edge_mask[24], EDGE_RIGHT | EDGE_TOP);
    assert_int_equal(m.edge_mask[12], 0);
    mesh_finish(&m);

    o.upright = true;
    m = grid_make(o);
    assert_float_equal(m.position[24].y, 0.5, 1e-15);
    assert_float_equal(m.position[24].z, 0.0, 1e-15);
    mesh_finish(&m);
}

static void test_grid_cutout(void** state)
{
    (void)state;
    grid_options o = square(4);
    o.l_shape = true;
    o.irregular = true;
    mesh m = grid_make(o);
    int on_cutout = 0;
    for (int v = 0; v < m.vertex_count; v++)
    {
        vec3 x = m.position[v];
        bool expected = (x.x == 0.0 && -x.z >= 0.0) || (x.z == 0.0 && x.x >= 0.0);
        assert_int_equal((m.edge_mask[v] & EDGE_CUTOUT) != 0, expected);
        assert_false(x.x > 0.0 && -x.z > 0.0);
        on_cutout += expected;
    }
    assert_int_equal(on_cutout, 5);
    mesh_finish(&m);
}

// A closed band of the area of its flat form, less what chords take, that looks outwards, with two borders.
static void test_grid_tube(void** state)
{
    (void)state;
    for (int variant = 0; variant < 8; variant++)
    {
        grid_options o = square(40);
        o.cells_v = 20;
        o.tube = true;
        o.irregular = variant & 1, o.quads = variant & 2, o.upright = variant & 4;
        mesh m = grid_make(o);
        assert_int_equal(m.vertex_count, 40 * 21);
        assert_int_equal(m.triangle_count, 2 * 40 * 20);
        assert_int_equal(test_mesh_euler(&m), 0);
        assert_float_equal(test_mesh_area(&m), 2.0, 2.0 * 4e-3);
        unsigned char* border = MEM_NEW(m.vertex_count, unsigned char);
        assert_int_equal(mesh_boundary(&m, border), WEFT_OK);
        for (int v = 0; v < m.vertex_count; v++)
        {
            vec3 x = m.position[v];
            assert_float_equal(hypot(x.x, o.upright ? x.z : x.y), 1.0 / PI, 1e-12);
            double along = o.upright ? x.y : -x.z;
            int mask = along < -0.4999 ? EDGE_BOTTOM : along > 0.4999 ? EDGE_TOP : 0;
            assert_int_equal(m.edge_mask[v], mask);
            assert_int_equal(border[v], mask != 0);
        }
        mem_free(border);
        for (int t = 0; t < m.triangle_count; t++)
        {
            vec3 x = m.position[m.triangle[3 * t]];
            x = o.upright ? v3(x.x, 0, x.z) : v3(x.x, x.y, 0);
            assert_true(v3_dot(test_area_vector(&m, t), x) > 0.0);
            assert_true(triangle_least_angle(&m, t) > 0.2);
        }
        mesh_finish(&m);
    }
}

static void test_grid_outline(void** state)
{
    (void)state;
    grid_options o = square(10);
    o.l_shape = o.irregular = true;
    mesh m = grid_make(o);
    unsigned char* flags = MEM_NEW(m.vertex_count, unsigned char);
    assert_int_equal(mesh_boundary(&m, flags), WEFT_OK);
    for (int v = 0; v < m.vertex_count; v++)
    {
        assert_int_equal(flags[v], m.edge_mask[v] != 0);
    }
    mem_free(flags);
    mesh_finish(&m);
}

static void test_grid_irregular(void** state)
{
    (void)state;
    grid_options o = square(60);
    o.size_u = o.size_v = 1.0;
    o.irregular = true;
    mesh a = grid_make(o), b = grid_make(o);
    o.seed = 2;
    mesh c = grid_make(o);
    assert_memory_equal(a.position, b.position, (size_t)a.vertex_count * sizeof(vec3));
    assert_memory_equal(a.triangle, b.triangle, (size_t)a.triangle_count * 3 * sizeof(int));
    assert_memory_not_equal(a.position, c.position, (size_t)a.vertex_count * sizeof(vec3));
    double moved = 0.0, least = PI;
    int rising = 0;
    for (int v = 0; v < a.vertex_count; v++)
    {
        double i = 60.0 * (a.position[v].x + 0.5);
        moved = fmax(moved, fabs(i - v % 61));
    }
    for (int t = 0; t < a.triangle_count; t++)
    {
        least = fmin(least, triangle_least_angle(&a, t));
        rising += t % 2 == 0 && a.triangle[3 * t + 2] == a.triangle[3 * t + 1] + 61;
    }
    assert_true(moved > 0.24 && moved < 0.26);
    assert_true(least > 12.0 * PI / 180.0);
    assert_true(rising > 3600 * 4 / 10 && rising < 3600 * 6 / 10);
    mesh_finish(&a);
    mesh_finish(&b);
    mesh_finish(&c);
}

// A grid of quads is split as the grid of triangles is, and an L is a part of its square.
static void test_grid_consistent(void** state)
{
    (void)state;
    grid_options o = square(7);
    mesh triangles = grid_make(o);
    o.quads = true;
    mesh quads = grid_make(o);
    assert_memory_equal(triangles.triangle, quads.triangle, (size_t)quads.triangle_count * 3 * sizeof(int));
    mesh_finish(&triangles);
    mesh_finish(&quads);

    grid_options whole = square(6);
    whole.irregular = true;
    grid_options part = whole;
    part.l_shape = true;
    mesh a = grid_make(whole), b = grid_make(part);
    for (int v = 0; v < 3 * 7; v++)
    {
        assert_memory_equal(&a.position[v], &b.position[v], sizeof(vec3));
    }
    mesh_finish(&a);
    mesh_finish(&b);
}

static void grid_expect_refused(grid_options o, const char* word)
{
    mesh m;
    weft_error error = {0};
    assert_int_equal(mesh_from_grid(&o, &m, &error), WEFT_BAD_INPUT);
    assert_non_null(strstr(error.message, word));
    assert_null(m.position);
}

static void test_grid_refused(void** state)
{
    (void)state;
    int cells[] = {0, -3, 32768, INT32_MAX, INT32_MIN};
    for (int k = 0; k < 5; k++)
    {
        grid_expect_refused(square(cells[k]), "cells a side");
    }
    double sizes[] = {0.0, -1.0, NAN, INFINITY, 1e13, 1e-10};
    for (int k = 0; k < 6; k++)
    {
        grid_options o = square(4);
        o.size_v = sizes[k];
        grid_expect_refused(o, "size");
    }
    grid_options odd = square(5);
    odd.l_shape = true;
    grid_expect_refused(odd, "even");
    grid_expect_refused(square(10000), "in all");
}

// ---- from arrays

static const vec3 corners[] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {2, 0, 0}, {2, 1, 0}, {0, 0, 1}};

static void test_arrays(void** state)
{
    (void)state;
    mesh m;
    weft_error error;
    int two[] = {0, 1, 2, 0, 2, 3};
    assert_int_equal(test_triangulate(corners, 4, NULL, two, 2, &m, &error), WEFT_OK);
    assert_memory_equal(m.triangle, two, sizeof(two));
    mesh_transform(&m, (double[9]){0, -1, 0, 1, 0, 0, 0, 0, 1}, 2.0, v3(10, 20, 30));
    assert_float_equal(m.position[1].x, 10.0, 1e-15);
    assert_float_equal(m.position[1].y, 22.0, 1e-15);
    assert_float_equal(m.position[2].x, 8.0, 1e-15);
    assert_float_equal(m.position[2].z, 30.0, 1e-15);
    mesh_finish(&m);
    mesh_finish(&m);
}

static void test_arrays_refused(void** state)
{
    (void)state;
    int good[] = {0, 1, 2};
    test_expect_refused(NULL, 3, NULL, good, 1, "at least three vertices");
    test_expect_refused(corners, 3, NULL, NULL, 1, "one face");
    test_expect_refused(corners, 2, NULL, good, 1, "three vertices");
    test_expect_refused(corners, -1, NULL, good, 1, "three vertices");
    test_expect_refused(corners, 3, NULL, good, 0, "one face");
    test_expect_refused(corners, 3, NULL, good, INT32_MAX, "at most");
    test_expect_refused(corners, 3, NULL, (int[]){0, 1, 3}, 1, "only 3 vertices");
    test_expect_refused(corners, 3, NULL, (int[]){0, 1, -1}, 1, "only 3 vertices");
    test_expect_refused(corners, 3, NULL, (int[]){0, 1, INT32_MAX}, 1, "only 3 vertices");
    test_expect_refused(corners, 3, NULL, (int[]){0, 1, 1}, 1, "twice");
    test_expect_refused(corners, 3, (int[]){1, 3}, good, 1, "must be 0");
    test_expect_refused(corners, 3, (int[]){0, 3, 2}, good, 2, "must not decrease");
    test_expect_refused(corners, 3, (int[]){0, 2}, good, 1, "at least three");
    test_expect_refused((vec3[]){{0, 0, 0}, {1, 0, 0}, {0, NAN, 0}}, 3, NULL, good, 1, "finite");
    test_expect_refused((vec3[]){{0, 0, 0}, {1, 0, 0}, {0, 2e12, 0}}, 3, NULL, good, 1, "below");
}

// ---- checks of the surface

static void test_degenerate(void** state)
{
    (void)state;
    int face[] = {0, 1, 2};
    test_expect_refused((vec3[]){{0, 0, 0}, {1, 0, 0}, {2, 0, 0}}, 3, NULL, face, 1, "without area");
    test_expect_refused((vec3[]){{0, 0, 0}, {1, 0, 0}, {0, 0, 0}}, 3, NULL, face, 1, "without area");
    test_expect_refused((vec3[]){{0, 0, 0}, {1, 0, 0}, {0.5, 1e-12, 0}}, 3, NULL, face, 1, "without area");
    mesh m;
    weft_error error;
    vec3 thin[] = {{0, 0, 0}, {1, 0, 0}, {0.5, 1e-11, 0}};
    assert_int_equal(test_triangulate(thin, 3, NULL, face, 1, &m, &error), WEFT_OK);
    mesh_finish(&m);
}

static void test_crowded_edge(void** state)
{
    (void)state;
    vec3 x[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}};
    test_expect_refused(x, 5, NULL, (int[]){0, 1, 2, 1, 0, 3, 0, 1, 4}, 3, "3 triangles");
    test_expect_refused(x, 5, NULL, (int[]){0, 1, 2, 0, 1, 2}, 2, "same three vertices");
    test_expect_refused(x, 5, NULL, (int[]){0, 1, 2, 2, 1, 0}, 2, "same three vertices");
}

static void test_bow_tie_vertex(void** state)
{
    (void)state;
    vec3 x[] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {-1, 0, 0}, {-1, -1, 0}, {7, 7, 7}};
    warnings w = {0};
    weft_set_log(warnings_note, &w);
    mesh m;
    weft_error error;
    assert_int_equal(test_triangulate(x, 6, NULL, (int[]){0, 1, 2, 0, 3, 4}, 2, &m, &error), WEFT_OK);
    assert_int_equal(w.count, 0);
    assert_int_equal(mesh_warn_unused(&m, &error), WEFT_OK);
    assert_int_equal(w.count, 1);
    assert_non_null(strstr(w.last, "1 of 6 vertices belong to no face"));
    weft_set_log(NULL, NULL);
    mesh_finish(&m);
}

static bool triangles_agree(const mesh* m)
{
    hinge* hinges;
    int count;
    weft_status status = mesh_hinges(m->triangle, m->triangle_count, m->vertex_count, &hinges, &count, NULL);
    mem_free(hinges);
    return status == WEFT_OK;
}

// Random faces of a grid turned over are found and turned back, with the texture coordinates of their corners.
static void test_orientation_repaired(void** state)
{
    (void)state;
    for (int quads = 0; quads < 2; quads++)
    {
        grid_options o = square(12);
        o.quads = quads;
        mesh whole = grid_make(o), m;
        weft_error error = {0};
        assert_int_equal(mesh_from_grid(&o, &m, &error), WEFT_OK);
        int corner_count = m.face_start[m.face_count];
        m.face_texcoord = MEM_NEW(corner_count, int);
        int turned = 0;
        for (int f = 0; f < m.face_count; f++)
        {
            int* first = &m.face_vertex[m.face_start[f] + 1];
            int* last = &m.face_vertex[m.face_start[f + 1] - 1];
            if (f == 0 || random_unit(3, (uint64_t)f) < 0.3)
            {
                int kept = *first;
                *first = *last, *last = kept;
                turned++;
            }
        }
        memcpy(m.face_texcoord, m.face_vertex, (size_t)corner_count * sizeof(int));
        warnings w = {0};
        weft_set_log(warnings_note, &w);
        assert_int_equal(mesh_triangulate(&m, &error), WEFT_OK);
        weft_set_log(NULL, NULL);
        assert_int_equal(w.count, 1);
        char expected[64];
        snprintf(expected, sizeof(expected), "%d of %d faces were turned over", turned, m.face_count);
        assert_non_null(strstr(w.last, expected));
        assert_true(triangles_agree(&m));
        assert_memory_equal(m.face_vertex, whole.face_vertex, (size_t)corner_count * sizeof(int));
        assert_memory_equal(m.face_vertex, m.face_texcoord, (size_t)corner_count * sizeof(int));
        for (int k = 0; k < 3 * m.triangle_count; k++)
        {
            assert_int_equal(m.triangle[k], m.face_vertex[m.triangle_corner[k]]);
        }
        mesh_finish(&whole);
        mesh_finish(&m);
    }
}

static void test_moebius_refused(void** state)
{
    (void)state;
    enum
    {
        COUNT = 12
    };
    vec3 x[2 * COUNT];
    int face[4 * COUNT], start[COUNT + 1] = {0};
    for (int k = 0; k < COUNT; k++)
    {
        double a = 2.0 * PI * k / COUNT;
        for (int s = 0; s < 2; s++)
        {
            double r = 1.0 + (s - 0.5) * 0.5 * cos(0.5 * a);
            x[2 * k + s] = v3(r * cos(a), r * sin(a), (s - 0.5) * 0.5 * sin(0.5 * a));
        }
        int next = (k + 1) % COUNT, twist = k + 1 == COUNT;
        face[4 * k] = 2 * k, face[4 * k + 1] = 2 * next + twist;
        face[4 * k + 2] = 2 * next + 1 - twist, face[4 * k + 3] = 2 * k + 1;
        start[k + 1] = 4 * (k + 1);
    }
    test_expect_refused(x, 2 * COUNT, start, face, COUNT, "one-sided");
    // The same ring without its last face is a strip.
    mesh m;
    weft_error error;
    assert_int_equal(test_triangulate(x, 2 * COUNT, start, face, COUNT - 1, &m, &error), WEFT_OK);
    assert_int_equal(test_mesh_euler(&m), 1);
    mesh_finish(&m);
}

// ---- rest shape

static void test_rest_shape(void** state)
{
    (void)state;
    grid_options o = square(9);
    o.irregular = true;
    mesh m = grid_make(o);
    vec2* rest = MEM_NEW(3 * m.triangle_count, vec2);
    weft_error error = {0};
    assert_int_equal(mesh_rest(&m, REST_SHAPE, v3(1, 0, 0), 1.0, rest, &error), WEFT_OK);
    for (int t = 0; t < m.triangle_count; t++)
    {
        for (int k = 1; k < 3; k++)
        {
            vec3 d = v3_sub(m.position[m.triangle[3 * t + k]], m.position[m.triangle[3 * t]]);
            assert_float_equal(rest[3 * t + k].x - rest[3 * t].x, d.x, 1e-15);
            assert_float_equal(rest[3 * t + k].y - rest[3 * t].y, -d.z, 1e-15);
        }
    }
    // Any rotation keeps lengths and gives positive area; a warp along the normal gives way to z, then to x.
    vec3 warps[] = {{0.3, -0.7, 0.2}, {0, 1, 0}, {0, 0, 1}, {0, 0, 0}};
    for (int k = 0; k < 4; k++)
    {
        assert_int_equal(mesh_rest(&m, REST_SHAPE, warps[k], 1.0, rest, &error), WEFT_OK);
        for (int t = 0; t < m.triangle_count; t++)
        {
            vec2 a = rest[3 * t + 1], b = rest[3 * t + 2];
            assert_float_equal(0.5 * (a.x * b.y - a.y * b.x), v3_length(test_area_vector(&m, t)), 1e-15);
        }
    }
    mem_free(rest);
    mesh_finish(&m);
    vec3 upright[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    vec2 r[3];
    assert_int_equal(mesh_from_arrays(upright, 3, NULL, (int[]){0, 1, 2}, 1, &m, &error), WEFT_OK);
    assert_int_equal(mesh_triangulate(&m, &error), WEFT_OK);
    assert_int_equal(mesh_rest(&m, REST_SHAPE, v3(0, 0, 1), 1.0, r, &error), WEFT_OK);
    assert_float_equal(r[1].x, 1.0, 1e-15);
    assert_float_equal(r[2].y, 1.0, 1e-15);
    assert_int_equal(mesh_rest(&m, REST_UV, v3(0, 0, 1), 1.0, r, &error), WEFT_BAD_INPUT);
    mesh_finish(&m);
}

// ---- hinges

typedef struct side_found
{
    int triangle, opposite, slot;
    bool up;
} side_found;

// All triangles at edge a - b, by looking at every one.
static int find_sides(const mesh* m, int a, int b, side_found* out)
{
    int count = 0;
    for (int slot = 0; slot < 3 * m->triangle_count; slot++)
    {
        int t = slot / 3, k = slot % 3;
        int from = m->triangle[3 * t + (k + 1) % 3], to = m->triangle[3 * t + (k + 2) % 3];
        if ((from == a && to == b) || (from == b && to == a))
        {
            out[count++] = (side_found){t, m->triangle[slot], slot, from == a};
        }
    }
    return count;
}

static void test_hinges(void** state)
{
    (void)state;
    grid_options o = square(6);
    o.irregular = o.l_shape = true;
    mesh m = grid_make(o);
    int* of_triangle = MEM_NEW(3 * m.triangle_count, int);
    hinge* hinges;
    int count, expected = 0;
    assert_int_equal(mesh_hinges(m.triangle, m.triangle_count, m.vertex_count, &hinges, &count, of_triangle), WEFT_OK);
    for (int a = 0; a < m.vertex_count; a++)
    {
        for (int b = a + 1; b < m.vertex_count; b++)
        {
            side_found found[8];
            int sides = find_sides(&m, a, b, found);
            if (sides == 1)
            {
                assert_int_equal(of_triangle[found[0].slot], -1);
            }
            if (sides != 2)
            {
                continue;
            }
            int left = found[0].up ? 0 : 1;
            assert_true(expected < count);
            hinge h = hinges[expected];
            assert_int_equal(h.vertex[0], a);
            assert_int_equal(h.vertex[1], b);
            assert_int_equal(h.vertex[2], found[left].opposite);
            assert_int_equal(h.vertex[3], found[1 - left].opposite);
            assert_int_equal(h.left, found[left].triangle);
            assert_int_equal(h.right, found[1 - left].triangle);
            assert_int_equal(of_triangle[found[0].slot], expected);
            assert_int_equal(of_triangle[found[1].slot], expected);
            expected++;
        }
    }
    assert_int_equal(count, expected);
    mem_free(hinges);
    mem_free(of_triangle);
    // Bad input is refused, not read beyond.
    assert_int_equal(mesh_hinges((int[]){0, 1, 2, 0, 1, 3}, 2, 4, &hinges, &count, NULL), WEFT_BAD_INPUT);
    assert_int_equal(mesh_hinges((int[]){0, 1, 2, 1, 0, 3, 0, 1, 4}, 3, 5, &hinges, &count, NULL), WEFT_BAD_INPUT);
    mesh_finish(&m);
}

// ---- order

static double mean_distance(const mesh* m, const int* number)
{
    double sum = 0.0;
    for (int slot = 0; slot < 3 * m->triangle_count; slot++)
    {
        int t = slot / 3, k = slot % 3;
        sum += abs(number[m->triangle[slot]] - number[m->triangle[3 * t + (k + 1) % 3]]);
    }
    return sum / (3.0 * m->triangle_count);
}

static void test_order_locality(void** state)
{
    (void)state;
    grid_options o = square(100);
    o.irregular = true;
    mesh m = grid_make(o);
    int n = m.vertex_count;
    int *number = MEM_NEW(n, int), *again = MEM_NEW(n, int), *shuffled = MEM_NEW(n, int);
    unsigned char* seen = MEM_NEW(n, unsigned char);
    assert_int_equal(mesh_order(m.position, n, number), WEFT_OK);
    assert_int_equal(mesh_order(m.position, n, again), WEFT_OK);
    assert_memory_equal(number, again, (size_t)n * sizeof(int));
    for (int v = 0; v < n; v++)
    {
        assert_true(number[v] >= 0 && number[v] < n && !seen[number[v]]);
        seen[number[v]] = 1;
        shuffled[v] = v;
    }
    for (int v = n - 1; v > 0; v--)
    {
        int other = (int)(random_unit(9, (uint64_t)v) * (v + 1)), kept = shuffled[v];
        shuffled[v] = shuffled[other], shuffled[other] = kept;
    }
    double ordered = mean_distance(&m, number), random = mean_distance(&m, shuffled);
    print_message("mean distance of neighbours in memory: %.0f ordered, %.0f shuffled\n", ordered, random);
    assert_true(ordered < 0.1 * random);
    mem_free(number), mem_free(again), mem_free(shuffled), mem_free(seen);
    mesh_finish(&m);
}

// On a full lattice the curve steps from neighbour to neighbour.
static void test_order_hilbert(void** state)
{
    (void)state;
    vec3 x[512];
    int number[512], old_of_new[512];
    for (int v = 0; v < 512; v++)
    {
        x[v] = v3(v % 8 - 3.0, v / 8 % 8 * 1.0 + 5.0, v / 64 * 1.0);
    }
    assert_int_equal(mesh_order(x, 512, number), WEFT_OK);
    for (int v = 0; v < 512; v++)
    {
        old_of_new[number[v]] = v;
    }
    for (int k = 1; k < 512; k++)
    {
        vec3 step = v3_sub(x[old_of_new[k]], x[old_of_new[k - 1]]);
        assert_float_equal(v3_length(step), 1.0, 1e-12);
    }
    // Points on one another keep their order, and nothing breaks on what is no number.
    vec3 same[4] = {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}};
    assert_int_equal(mesh_order(same, 4, number), WEFT_OK);
    assert_int_equal(number[3], 3);
    same[2].y = NAN, same[1].x = INFINITY;
    assert_int_equal(mesh_order(same, 4, number), WEFT_OK);
    assert_int_equal(mesh_order(NULL, 0, NULL), WEFT_OK);
}

// ---- memory

// Everything from the grid to the order, with a turned face so that orientation is repaired as well.
static weft_status whole_chain(void)
{
    grid_options o = square(6);
    mesh m;
    weft_error error;
    hinge* hinges = NULL;
    int count, number[49];
    unsigned char flags[49];
    weft_status status = mesh_from_grid(&o, &m, &error);
    if (status == WEFT_OK)
    {
        m.face_vertex[1] = 8, m.face_vertex[2] = 1;
        status = mesh_triangulate(&m, &error);
    }
    status =
        status != WEFT_OK ? status : mesh_hinges(m.triangle, m.triangle_count, m.vertex_count, &hinges, &count, NULL);
    status = status != WEFT_OK ? status : mesh_order(m.position, m.vertex_count, number);
    status = status != WEFT_OK ? status : mesh_boundary(&m, flags);
    mem_free(hinges);
    mesh copy = {0};
    if (status == WEFT_OK)
    {
        status = mesh_from_arrays(m.position, m.vertex_count, NULL, m.triangle, m.triangle_count, &copy, &error);
    }
    mesh_finish(&copy);
    mesh_finish(&m);
    return status;
}

static void test_no_memory(void** state)
{
    (void)state;
    weft_status status = WEFT_NO_MEMORY;
    int tried = 0;
    for (; tried < 200 && status != WEFT_OK; tried++)
    {
        test_ledger ledger = {.fail_at = tried + 1, .fail_on = 1};
        test_ledger_open(&ledger);
        status = whole_chain();
        test_ledger_close();
        assert_true(status == WEFT_OK || status == WEFT_NO_MEMORY);
        assert_int_equal(ledger.live, 0);
    }
    assert_int_equal(status, WEFT_OK);
    assert_true(tried > 20);
}

// ---- a million vertices

static void test_million(void** state)
{
    (void)state;
    grid_options o = square(1000);
    o.irregular = true;
    mesh m;
    hinge* hinges;
    int count;
    double start = timer_now();
    assert_int_equal(mesh_from_grid(&o, &m, NULL), WEFT_OK);
    double made = timer_now();
    assert_int_equal(mesh_triangulate(&m, NULL), WEFT_OK);
    double split = timer_now();
    assert_int_equal(mesh_hinges(m.triangle, m.triangle_count, m.vertex_count, &hinges, &count, NULL), WEFT_OK);
    double hinged = timer_now();
    int* number = MEM_NEW(m.vertex_count, int);
    assert_int_equal(mesh_order(m.position, m.vertex_count, number), WEFT_OK);
    double ordered = timer_now();
    assert_int_equal(count, 3 * 1000 * 1000 - 2 * 1000);
    print_message("1,002,001 vertices: grid %.2f s, triangulate %.2f s, hinges %.2f s, order %.2f s\n", made - start,
                  split - made, hinged - split, ordered - hinged);
    mem_free(number);
    mem_free(hinges);
    mesh_finish(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grid_counts),     cmocka_unit_test(test_grid_places),
        cmocka_unit_test(test_grid_cutout),     cmocka_unit_test(test_grid_tube),
        cmocka_unit_test(test_grid_outline),    cmocka_unit_test(test_grid_irregular),
        cmocka_unit_test(test_grid_consistent), cmocka_unit_test(test_grid_refused),
        cmocka_unit_test(test_arrays),          cmocka_unit_test(test_arrays_refused),
        cmocka_unit_test(test_degenerate),      cmocka_unit_test(test_crowded_edge),
        cmocka_unit_test(test_bow_tie_vertex),  cmocka_unit_test(test_orientation_repaired),
        cmocka_unit_test(test_moebius_refused), cmocka_unit_test(test_rest_shape),
        cmocka_unit_test(test_hinges),          cmocka_unit_test(test_order_locality),
        cmocka_unit_test(test_order_hilbert),   cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_million),
    };
    return cmocka_run_group_tests_name("mesh", tests, NULL, NULL);
}
