// Shapes as triangles: closed, manifold, outward, with the Euler number of the shape; volume, area and distance against
// closed forms; float coordinates; sizes that cannot be built.
#include "common.h"

#include <string.h>

#include "common_mesh.h"
#include "mesh/mesh.h"

static mesh shape_mesh(const shape_options* o)
{
    mesh m;
    weft_error error = {0};
    if (mesh_from_shape(o, &m, &error) != WEFT_OK)
    {
        fail_msg("%s: %s", shape_name(o->kind), error.message);
    }
    return m;
}

// One of each, askew and off the origin; kind SHAPE_KIND_COUNT is the box with a hole.
static shape_options example(int kind)
{
    shape_options o = shape_default(kind == SHAPE_KIND_COUNT ? SHAPE_BOX : (shape_kind)kind);
    o.center = v3(0.3, -0.2, 0.5);
    o.axis = v3(0.3, 2.0, -0.4);
    o.from = v3(-0.2, 0.1, 0.0);
    o.to = v3(0.4, 0.9, -0.3);
    o.size = v3(0.9, 0.2, 0.7);
    o.hole = kind == SHAPE_KIND_COUNT ? 0.35 : 0.0;
    o.radius = 0.3;
    o.tube = 0.1;
    return o;
}

static double volume(const mesh* m)
{
    double sum = 0.0;
    for (int t = 0; t < m->triangle_count; t++)
    {
        const int* v = m->triangle + 3 * t;
        sum += v3_dot(m->position[v[0]], v3_cross(m->position[v[1]], m->position[v[2]])) / 6.0;
    }
    return sum;
}

// Closed forms of volume (0 for the plane) and area.
static void measures(const shape_options* o, double* out_volume, double* out_area)
{
    double r = o->radius, t = o->tube, length = v3_length(v3_sub(o->to, o->from));
    vec3 s = o->size;
    switch (o->kind)
    {
    case SHAPE_PLANE:
        *out_volume = 0.0, *out_area = s.x * s.x;
        return;
    case SHAPE_SPHERE:
        *out_volume = 4.0 / 3.0 * PI * r * r * r, *out_area = 4.0 * PI * r * r;
        return;
    case SHAPE_BOX:
        *out_volume = s.x * s.y * s.z - o->hole * o->hole * s.y;
        *out_area = 2.0 * (s.x * s.y + s.y * s.z + s.z * s.x) + o->hole * (4.0 * s.y - 2.0 * o->hole);
        return;
    case SHAPE_CYLINDER:
        *out_volume = PI * r * r * length, *out_area = 2.0 * PI * r * (r + length);
        return;
    case SHAPE_CAPSULE:
        *out_volume = PI * r * r * (length + 4.0 / 3.0 * r), *out_area = 2.0 * PI * r * (2.0 * r + length);
        return;
    default:
        *out_volume = 2.0 * PI * PI * r * t * t, *out_area = 4.0 * PI * PI * r * t;
        return;
    }
}

// Signed distance of a point to the shape's surface, positive outside. Of curved shapes only.
static double distance(const shape_options* o, vec3 x)
{
    if (o->kind == SHAPE_SPHERE)
    {
        return v3_length(v3_sub(x, o->center)) - o->radius;
    }
    if (o->kind == SHAPE_TORUS)
    {
        vec3 axis = v3_normalize(o->axis), d = v3_sub(x, o->center);
        double height = v3_dot(d, axis), flat = v3_length(v3_madd(d, -height, axis)) - o->radius;
        return sqrt(flat * flat + height * height) - o->tube;
    }
    vec3 along = v3_sub(o->to, o->from), d = v3_sub(x, o->from);
    double length = v3_length(along), at = v3_dot(d, along) / length;
    double from_axis = v3_length(v3_madd(d, -at / length, along));
    if (o->kind == SHAPE_CYLINDER)
    {
        return fmax(from_axis - o->radius, fmax(-at, at - length));
    }
    double beyond = fmax(0.0, fmax(-at, at - length));
    return sqrt(from_axis * from_axis + beyond * beyond) - o->radius;
}

static void test_surfaces_are_closed_and_outward(void** state)
{
    (void)state;
    static const int segments[] = {0, 1, 2, 3, 4, 5, 7, 12, 31};
    static const int euler[] = {[SHAPE_PLANE] = 1,   [SHAPE_SPHERE] = 2, [SHAPE_BOX] = 2,       [SHAPE_CYLINDER] = 2,
                                [SHAPE_CAPSULE] = 2, [SHAPE_TORUS] = 0,  [SHAPE_KIND_COUNT] = 0};
    for (int kind = 0; kind <= SHAPE_KIND_COUNT; kind++)
    {
        for (size_t k = 0; k < sizeof(segments) / sizeof(segments[0]); k++)
        {
            shape_options o = example(kind);
            o.segments = segments[k] == 0 ? o.segments : int_max(segments[k], shape_segments_min(o.kind));
            mesh m = shape_mesh(&o);
            mesh_defects d;
            assert_int_equal(mesh_find_defects(&m, &d), WEFT_OK);
            assert_int_equal(d.flat, 0);
            assert_int_equal(d.repeated, 0);
            assert_int_equal(d.crowded, 0);
            assert_int_equal(d.disagreeing, 0);
            assert_int_equal(d.open_edges, kind == SHAPE_PLANE ? 4 * o.segments : 0);
            assert_int_equal(test_mesh_euler(&m), euler[kind]);
            assert_int_equal(m.triangle_count, (int)shape_triangle_count(&o));
            assert_true(kind == SHAPE_PLANE || volume(&m) > 0.0);
            weft_error error = {0};
            assert_int_equal(mesh_triangulate(&m, &error), WEFT_OK); // what cloth asks for holds too
            mesh_finish(&m);
        }
    }
}

static void test_plane_faces_its_normal(void** state)
{
    (void)state;
    shape_options o = example(SHAPE_PLANE);
    o.segments = 5;
    mesh m = shape_mesh(&o);
    for (int t = 0; t < m.triangle_count; t++)
    {
        vec3 n = v3_normalize(test_area_vector(&m, t));
        assert_true(v3_dot(n, v3_normalize(o.axis)) > 1.0 - 1e-9);
    }
    mesh_finish(&m);
    o = shape_default(SHAPE_PLANE);
    m = shape_mesh(&o);
    for (int v = 0; v < m.vertex_count; v++)
    {
        assert_true(m.position[v].y == 0.0 && fabs(m.position[v].x) == 5.0 && fabs(m.position[v].z) == 5.0);
    }
    mesh_finish(&m);
}

// Flat shapes are exact to rounding; the others lose a part that shrinks with the square of the segments.
static void test_volume_and_area_converge(void** state)
{
    (void)state;
    for (int kind = 0; kind <= SHAPE_KIND_COUNT; kind++)
    {
        shape_options o = example(kind);
        bool flat = kind == SHAPE_PLANE || kind == SHAPE_BOX || kind == SHAPE_KIND_COUNT;
        double expected_volume, expected_area, lost_volume[2], lost_area[2];
        measures(&o, &expected_volume, &expected_area);
        for (int pass = 0; pass < 2; pass++)
        {
            o.segments = flat ? 1 + 2 * pass : (kind == SHAPE_SPHERE ? 8 : 48) << pass;
            mesh m = shape_mesh(&o);
            lost_volume[pass] = kind == SHAPE_PLANE ? 0.0 : 1.0 - volume(&m) / expected_volume;
            lost_area[pass] = 1.0 - test_mesh_area(&m) / expected_area;
            mesh_finish(&m);
        }
        if (flat)
        {
            assert_true(fabs(lost_volume[0]) < 1e-6 && fabs(lost_area[0]) < 1e-6);
            assert_true(fabs(lost_volume[1]) < 1e-6 && fabs(lost_area[1]) < 1e-6);
            continue;
        }
        assert_true(lost_volume[0] > 0.0 && lost_volume[0] < 0.03 && lost_area[0] > 0.0 && lost_area[0] < 0.02);
        assert_in_range((int)(100.0 * lost_volume[0] / lost_volume[1]), 340, 460);
        assert_in_range((int)(100.0 * lost_area[0] / lost_area[1]), 340, 460);
    }
}

// The largest |distance| of points of the mesh, sampled on its triangles.
static double largest_distance(const shape_options* o, const mesh* m, bool* out_inside)
{
    enum
    {
        STEPS = 6
    };
    double largest = 0.0;
    *out_inside = true;
    for (int t = 0; t < m->triangle_count; t++)
    {
        const int* v = m->triangle + 3 * t;
        for (int i = 0; i <= STEPS; i++)
        {
            for (int j = 0; i + j <= STEPS; j++)
            {
                vec3 x = v3_scale((double)(STEPS - i - j) / STEPS, m->position[v[0]]);
                x = v3_madd(v3_madd(x, (double)i / STEPS, m->position[v[1]]), (double)j / STEPS, m->position[v[2]]);
                double d = distance(o, x);
                largest = fmax(largest, o->kind == SHAPE_CYLINDER && d < 0.0 ? 0.0 : fabs(d));
                *out_inside = *out_inside && d < 1e-6;
            }
        }
    }
    return largest;
}

// Distance of the cylinder's side alone: points of the side, seen from the axis.
static double side_distance(const shape_options* o, const mesh* m)
{
    vec3 along = v3_normalize(v3_sub(o->to, o->from));
    double largest = 0.0;
    for (int t = 0; t < m->triangle_count; t++)
    {
        const int* v = m->triangle + 3 * t;
        if (fabs(v3_dot(v3_normalize(test_area_vector(m, t)), along)) > 0.5)
        {
            continue; // of a cap
        }
        for (int k = 0; k < 3; k++)
        {
            vec3 x = v3_scale(0.5, v3_add(m->position[v[k]], m->position[v[(k + 1) % 3]]));
            vec3 d = v3_sub(x, o->from);
            largest = fmax(largest, o->radius - v3_length(v3_madd(d, -v3_dot(d, along), along)));
        }
    }
    return largest;
}

static void test_distance_is_as_stated(void** state)
{
    (void)state;
    static const int segments[] = {8, 12, 13, 24, 48, 50, 97};
    for (int kind = SHAPE_SPHERE; kind <= SHAPE_TORUS; kind++)
    {
        for (size_t k = 0; k < sizeof(segments) / sizeof(segments[0]) && kind != SHAPE_BOX; k++)
        {
            shape_options o = example(kind);
            o.segments = segments[k] > 24 && kind == SHAPE_SPHERE ? 24 : segments[k];
            mesh m = shape_mesh(&o);
            bool inside;
            double stated = shape_deviation(&o), found = largest_distance(&o, &m, &inside);
            found = kind == SHAPE_CYLINDER ? side_distance(&o, &m) : found;
            if (found > stated + 1e-6)
            {
                fail_msg("%s of %d segments: %g where %g is stated", shape_name(o.kind), o.segments, found, stated);
            }
            assert_true(found > 0.6 * stated);
            assert_true(inside || kind == SHAPE_TORUS);
            mesh_finish(&m);
        }
    }
}

static void test_default_sizes(void** state)
{
    (void)state;
    for (int kind = SHAPE_SPHERE; kind <= SHAPE_TORUS; kind++)
    {
        shape_options o = example(kind);
        mesh m = shape_mesh(&o);
        if (kind != SHAPE_BOX)
        {
            assert_in_range(m.triangle_count, 2000, 4500);
            assert_true(shape_deviation(&o) < 0.006 * o.radius);
        }
        mesh_finish(&m);
    }
    shape_options box = example(SHAPE_BOX), holed = example(SHAPE_KIND_COUNT);
    assert_int_equal((int)shape_triangle_count(&box), 12);
    assert_int_equal((int)shape_triangle_count(&holed), 32);
}

// The sphere's triangles: sides within a third of each other.
static void test_sphere_is_even(void** state)
{
    (void)state;
    shape_options o = example(SHAPE_SPHERE);
    mesh m = shape_mesh(&o);
    double least = 1e9, most = 0.0;
    for (int t = 0; t < m.triangle_count; t++)
    {
        double area = v3_length(test_area_vector(&m, t));
        least = fmin(least, area);
        most = fmax(most, area);
    }
    assert_true(most < 2.05 * least);
    mesh_finish(&m);
}

static void test_coordinates_are_floats(void** state)
{
    (void)state;
    for (int kind = 0; kind <= SHAPE_KIND_COUNT; kind++)
    {
        shape_options o = example(kind);
        mesh m = shape_mesh(&o);
        for (int v = 0; v < m.vertex_count; v++)
        {
            vec3 x = m.position[v];
            assert_true(x.x == (float)x.x && x.y == (float)x.y && x.z == (float)x.z);
        }
        mesh_finish(&m);
    }
}

static void expect_refused(const shape_options* o, const char* word)
{
    mesh m;
    weft_error error = {0};
    assert_int_equal(mesh_from_shape(o, &m, &error), WEFT_BAD_INPUT);
    assert_non_null(strstr(error.message, word));
    mesh_finish(&m);
}

static void test_what_cannot_be_built(void** state)
{
    (void)state;
    shape_options o = example(SHAPE_SPHERE);
    o.segments = 1000;
    expect_refused(&o, "take fewer segments");
    o = example(SHAPE_SPHERE);
    o.radius = 1e-9; // beside 0.3 m a float does not see it
    expect_refused(&o, "single precision");
    o = example(SHAPE_TORUS);
    o.center = v3(1e8, 0, 0);
    expect_refused(&o, "single precision");
    o = example(SHAPE_BOX);
    o.size.y = 1e-30;
    o.center = v3(0, 1, 0);
    expect_refused(&o, "single precision");
    o = example(SHAPE_SPHERE);
    o.radius = 1e13;
    expect_refused(&o, "below 1e+12");
}

static void test_failing_memory(void** state)
{
    (void)state;
    shape_options o = example(SHAPE_CAPSULE);
    bool done = false;
    for (int k = 1; !done; k++)
    {
        test_ledger ledger = {.fail_at = k};
        test_ledger_open(&ledger);
        mesh m;
        weft_error error;
        weft_status status = mesh_from_shape(&o, &m, &error);
        done = status == WEFT_OK;
        assert_true(done || status == WEFT_NO_MEMORY);
        mesh_finish(&m);
        assert_int_equal(ledger.live, 0);
        test_ledger_close();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_surfaces_are_closed_and_outward),
        cmocka_unit_test(test_plane_faces_its_normal),
        cmocka_unit_test(test_volume_and_area_converge),
        cmocka_unit_test(test_distance_is_as_stated),
        cmocka_unit_test(test_default_sizes),
        cmocka_unit_test(test_sphere_is_even),
        cmocka_unit_test(test_coordinates_are_floats),
        cmocka_unit_test(test_what_cannot_be_built),
        cmocka_unit_test(test_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
