// Bodies from glTF: the same body from .gltf with a .bin, from a data: URI and from a .glb; every kind of number;
// strips, fans, nodes, skins, morph targets and animations against closed forms; welding; samples, loops and their
// error; files that are wrong, cut short or damaged.
#define _GNU_SOURCE
#include "common.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common_gltf.h"
#include "common_scene.h"
#include "core/core.h"
#include "weft/weft.h"

static void assert_near(vec3 x, double a, double b, double c)
{
    double apart = v3_length(v3_sub(x, v3(a, b, c)));
    if (!(apart < 1e-6))
    {
        fail_msg("(%.9g, %.9g, %.9g) where (%.9g, %.9g, %.9g) is expected", x.x, x.y, x.z, a, b, c);
    }
}

static const float triangle[] = {0, 0, 0, 1, 0, 0, 0, 1, 0};

#define ONE_NODE "\"scenes\": [{\"nodes\": [0]}], \"scene\": 0, \"nodes\": [{\"mesh\": 0, \"name\": \"skin\"}]"
#define ONE_MESH "\"meshes\": [{\"primitives\": [{\"attributes\": {\"POSITION\": 0}}]}]"

// ---- where bytes are

static void assert_triangle(gltf_body* body)
{
    vec3 x[3];
    assert_int_equal(body->vertex_count, 3);
    gltf_pose(body, 0.0, x);
    assert_near(x[0], 0, 0, 0);
    assert_near(x[1], 1, 0, 0);
    assert_near(x[2], 0, 1, 0);
    gltf_body_destroy(body);
}

static void test_sources(void** unused)
{
    (void)unused;
    static char glb[70000];
    gltf_begin();
    gltf_add_floats(triangle, 3, "VEC3", 3);
    assert_triangle(gltf_make(ONE_NODE ", " ONE_MESH, NULL));
    gltf_write_data_uri("data.gltf", ONE_NODE ", " ONE_MESH);
    assert_triangle(gltf_read("data.gltf", NULL));
    size_t size = gltf_glb(ONE_NODE ", " ONE_MESH, glb);
    scene_write_bytes(scene_path("made.glb"), glb, size);
    assert_triangle(gltf_read("made.glb", NULL));
    // A name that URIs cannot have as it is.
    scene_write_bytes(scene_path("a b.bin"), (const char*)made.bytes, (size_t)made.size);
    const char* text = gltf_json(ONE_NODE ", " ONE_MESH, "\"a%20b.bin\"");
    scene_write_bytes(scene_path("blank.gltf"), text, strlen(text));
    assert_triangle(gltf_read("blank.gltf", NULL));
}

// Every kind of component, normalised and not, with a stride, and sparse ones over a view and over nothing.
static void test_numbers(void** unused)
{
    (void)unused;
    static const int8_t bytes[] = {0, 0, 0, 9, 127, 0, 0, 9, 0, -128, 0, 9};
    static const uint8_t unsigned_bytes[] = {0, 0, 0, 255, 0, 0, 0, 51, 0};
    static const int16_t shorts[] = {0, 0, 0, 32767, 0, 0, 0, -16384, 0};
    static const uint16_t unsigned_shorts[] = {0, 0, 0, 7, 0, 0, 0, 65535, 0};
    static const uint32_t integers[] = {0, 0, 0, 70000, 0, 0, 0, 5, 0};
    struct
    {
        const void* data;
        int size, component, stride;
        const char* more;
        double x, y; // of vertices 1 and 2
    } kinds[] = {
        {bytes, 12, 5120, 4, ", \"normalized\": true", 1.0, -1.0},
        {bytes, 12, 5120, 4, "", 127.0, -128.0},
        {unsigned_bytes, 9, 5121, 0, ", \"normalized\": true", 1.0, 0.2},
        {shorts, 18, 5122, 0, ", \"normalized\": true", 1.0, -16384.0 / 32767.0},
        {unsigned_shorts, 18, 5123, 0, "", 7.0, 65535.0},
        {integers, 36, 5125, 0, "", 70000.0, 5.0},
        {triangle, 36, 5126, 0, "", 1.0, 1.0},
    };
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
    {
        gltf_begin();
        gltf_add_bytes(kinds[k].data, kinds[k].size, kinds[k].component, 3, "VEC3", kinds[k].stride, kinds[k].more);
        gltf_body* body = gltf_make(ONE_NODE ", " ONE_MESH, NULL);
        vec3 x[3];
        gltf_pose(body, 0.0, x);
        assert_near(x[1], kinds[k].x, 0, 0);
        assert_near(x[2], 0, kinds[k].y, 0);
        gltf_body_destroy(body);
    }
    static const uint16_t places[] = {1, 2};
    static const float values[] = {4, 0, 0, 0, 5, 0};
    for (int over_nothing = 0; over_nothing < 2; over_nothing++)
    {
        gltf_begin();
        gltf_add_shorts(places, 2);
        gltf_add_floats(values, 2, "VEC3", 3);
        int view = gltf_add_floats(triangle, 3, "VEC3", 3);
        gltf_append(
            made.accessors, sizeof(made.accessors),
            ", {\"componentType\": 5126, \"count\": 3, \"type\": \"VEC3\", \"sparse\": {\"count\": 2, \"indices\": "
            "{\"bufferView\": 0, \"componentType\": 5123}, \"values\": {\"bufferView\": 1}}");
        if (!over_nothing)
        {
            gltf_append(made.accessors, sizeof(made.accessors), ", \"bufferView\": %d", view);
        }
        gltf_append(made.accessors, sizeof(made.accessors), "}");
        gltf_body* body =
            gltf_make(ONE_NODE ", \"meshes\": [{\"primitives\": [{\"attributes\": {\"POSITION\": 3}}]}]", NULL);
        vec3 x[3];
        gltf_pose(body, 0.0, x);
        assert_near(x[0], 0, 0, 0);
        assert_near(x[1], 4, 0, 0);
        assert_near(x[2], 0, 5, 0);
        gltf_body_destroy(body);
    }
}

// ---- triangles

// A strip and a fan over a square have the triangles of the list, and look to its side.
static void test_modes(void** unused)
{
    (void)unused;
    static const float square[] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0};
    static const uint16_t list[] = {0, 1, 2, 0, 2, 3}, strip[] = {3, 0, 2, 1, 1}, fan[] = {0, 1, 2, 3};
    const uint16_t* indices[] = {list, strip, fan};
    int counts[] = {6, 5, 4};
    for (int mode = 4; mode <= 6; mode++)
    {
        char rest[400];
        gltf_begin();
        gltf_add_floats(square, 4, "VEC3", 3);
        gltf_add_shorts(indices[mode - 4], counts[mode - 4]);
        snprintf(rest, sizeof(rest),
                 ONE_NODE
                 ", \"meshes\": [{\"primitives\": [{\"mode\": %d, \"indices\": 1, \"attributes\": {\"POSITION\": "
                 "0}}]}]",
                 mode);
        gltf_body* body = gltf_make(rest, NULL);
        mesh m;
        weft_error error;
        assert_int_equal(gltf_mesh(body, "made.gltf", 0.0, &m, &error), WEFT_OK);
        assert_int_equal(m.face_count, 2);
        assert_int_equal(body->notes.dropped, mode == 5); // the strip ends with a corner twice
        for (int f = 0; f < 2; f++)
        {
            const int* c = m.face_vertex + 3 * f;
            vec3 n = v3_cross(v3_sub(m.position[c[1]], m.position[c[0]]), v3_sub(m.position[c[2]], m.position[c[0]]));
            assert_near(n, 0, 0, 1);
        }
        mesh_finish(&m);
        gltf_body_destroy(body);
    }
}

// A cube of six faces with vertices of their own, as files with normals have it, is closed; the mirrored one looks
// outwards as well.
static void test_weld(void** unused)
{
    (void)unused;
    float x[72];
    uint16_t index[36];
    for (int face = 0; face < 6; face++)
    {
        for (int k = 0; k < 4; k++)
        {
            int axis = face / 2, side = face % 2, u = k == 1 || k == 2, v = k >= 2;
            float* p = x + 3 * (4 * face + k);
            p[axis] = (float)side;
            p[(axis + 1) % 3] = (float)(side ? u : v);
            p[(axis + 2) % 3] = (float)(side ? v : u);
            p[axis] = p[axis] == 0.0f && k == 3 ? -0.0f : p[axis];
        }
        const uint16_t two[] = {0, 1, 2, 0, 2, 3};
        for (int k = 0; k < 6; k++)
        {
            index[6 * face + k] = (uint16_t)(4 * face + two[k]);
        }
    }
    for (int mirrored = 0; mirrored < 2; mirrored++)
    {
        gltf_begin();
        gltf_add_floats(x, 24, "VEC3", 3);
        gltf_add_shorts(index, 36);
        char rest[400];
        snprintf(rest, sizeof(rest),
                 "\"nodes\": [{\"mesh\": 0, \"scale\": [%d, 1, 1]}], \"meshes\": [{\"primitives\": [{\"indices\": 1, "
                 "\"attributes\": {\"POSITION\": 0}}]}]",
                 mirrored ? -1 : 1);
        gltf_body* body = gltf_make(rest, NULL);
        mesh m;
        weft_error error;
        assert_int_equal(gltf_mesh(body, "made.gltf", 0.0, &m, &error), WEFT_OK);
        assert_int_equal(m.vertex_count, 8);
        assert_int_equal(body->notes.welded, 16);
        assert_int_equal(mesh_split(&m, &error), WEFT_OK);
        mesh_defects defects;
        assert_int_equal(mesh_find_defects(&m, &defects), WEFT_OK);
        assert_true(defects_are_closed(&defects));
        double volume = 0.0;
        for (int t = 0; t < m.triangle_count; t++)
        {
            const int* c = m.triangle + 3 * t;
            volume += v3_dot(m.position[c[0]], v3_cross(m.position[c[1]], m.position[c[2]])) / 6.0;
        }
        assert_true(fabs(volume - 1.0) < 1e-6);
        mesh_finish(&m);
        gltf_body_destroy(body);
    }
}

// ---- nodes, skins, targets

// M T R S of three nodes, one of them by a matrix; two nodes share a mesh, a third is in no scene.
static void test_nodes(void** unused)
{
    (void)unused;
    gltf_begin();
    gltf_add_floats(triangle, 3, "VEC3", 3);
    gltf_body* body = gltf_make("\"scenes\": [{\"nodes\": []}, {\"nodes\": [0, 4]}], \"scene\": 1, \"nodes\": "
                                "[{\"children\": [1], \"translation\": "
                                "[10, 0, 0]}, {\"children\": [2], \"rotation\": [0, 0, 0.70710678, 0.70710678], "
                                "\"scale\": [2, 3, 1]}, {\"mesh\": 0, "
                                "\"matrix\": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 5, 1]}, {\"mesh\": 0}, "
                                "{\"mesh\": 0, \"name\": \"b\"}], " ONE_MESH,
                                NULL);
    vec3 x[6];
    assert_int_equal(body->part_count, 2);
    gltf_pose(body, 0.0, x);
    assert_near(x[0], 10, 0, 5);
    assert_near(x[1], 10, 2, 5);
    assert_near(x[2], 7, 0, 5);
    assert_near(x[4], 1, 0, 0);
    gltf_body_destroy(body);
    gltf_options options = {"b", NULL, -1};
    weft_error error;
    assert_int_equal(gltf_body_read(scene_path("made.gltf"), &options, &body, &error), WEFT_OK);
    assert_int_equal(body->vertex_count, 3);
    gltf_body_destroy(body);
}

// Two joints with inverse bind matrices; the second turns by 90 degrees about (1, 0, 0). The node of the mesh is far
// away, which does not count. Vertex 2 hangs on both through a second set of four, with weights that add up to 1.6.
static void test_skin(void** unused)
{
    (void)unused;
    static const uint8_t joints0[] = {0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0};
    static const float weights0[] = {1, 0, 0, 0, 1, 0, 0, 0, 0.8f, 0, 0, 0};
    static const uint16_t joints1[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    static const float weights1[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.8f};
    static const float x[] = {0, 0, 0, 2, 0, 0, 1, 1, 0};
    static const float binds[] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0,  0, 0, 1,
                                  1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, -1, 0, 0, 1};
    gltf_begin();
    gltf_add_floats(x, 3, "VEC3", 3);
    gltf_add_bytes(joints0, 12, 5121, 3, "VEC4", 0, "");
    gltf_add_floats(weights0, 3, "VEC4", 4);
    gltf_add_bytes(joints1, 24, 5123, 3, "VEC4", 0, "");
    gltf_add_floats(weights1, 3, "VEC4", 4);
    gltf_add_floats(binds, 2, "MAT4", 16);
    gltf_body* body = gltf_make(
        "\"nodes\": [{\"mesh\": 0, \"skin\": 0, \"translation\": [99, 0, 0]}, {\"children\": [2]}, {\"translation\": "
        "[1, 0, "
        "0], \"rotation\": [0, 0, 0.70710678, 0.70710678]}], \"skins\": [{\"joints\": [1, 2], \"inverseBindMatrices\": "
        "5}], "
        "\"meshes\": [{\"primitives\": [{\"attributes\": {\"POSITION\": 0, \"JOINTS_0\": 1, \"WEIGHTS_0\": 2, "
        "\"JOINTS_1\": 3, \"WEIGHTS_1\": 4}}]}]",
        NULL);
    vec3 at[3];
    gltf_pose(body, 0.0, at);
    assert_near(at[0], 0, 0, 0);
    assert_near(at[1], 1, 1, 0);
    assert_near(at[2], 0.5 * (1 + 0), 0.5 * (1 + 0), 0); // half where it is, half turned: (0, 0)
    assert_int_equal(body->notes.uneven_count, 1);
    assert_true(fabs(body->notes.uneven_worst - 1.6) < 1e-6);
    gltf_body_destroy(body);
}

#define MORPH_MESH                                                                                                     \
    "\"meshes\": [{\"weights\": [0.5, 0], \"primitives\": [{\"attributes\": {\"POSITION\": 0}, \"targets\": "          \
    "[{\"POSITION\": 1}, {\"POSITION\": 2}]}]}]"

static void add_morph(void)
{
    static const float up[] = {0, 2, 0, 0, 2, 0, 0, 2, 0}, right[] = {4, 0, 0, 4, 0, 0, 4, 0, 0};
    static const float times[] = {1, 2}, weights[] = {0.5f, 0, 1, 1};
    gltf_begin();
    gltf_add_floats(triangle, 3, "VEC3", 3);
    gltf_add_floats(up, 3, "VEC3", 3);
    gltf_add_floats(right, 3, "VEC3", 3);
    gltf_add_floats(times, 2, "SCALAR", 1);
    gltf_add_floats(weights, 4, "SCALAR", 1);
}

static void test_morph(void** unused)
{
    (void)unused;
    static const char motion[] =
        ", \"animations\": [{\"name\": \"grow\", \"channels\": [{\"sampler\": 0, \"target\": "
        "{\"node\": 0, \"path\": \"weights\"}}], \"samplers\": [{\"input\": 3, \"output\": 4}]}]";
    char rest[1200];
    vec3 x[3];
    add_morph();
    snprintf(rest, sizeof(rest), ONE_NODE ", " MORPH_MESH "%s", motion);
    gltf_body* body = gltf_make(rest, NULL);
    gltf_pose(body, 0.0, x);
    assert_near(x[0], 0, 1, 0);
    gltf_body_destroy(body);
    body = gltf_read("made.gltf", "grow");
    assert_true(body->begin == 1.0 && body->end == 2.0);
    gltf_pose(body, 1.75, x);
    assert_near(x[0], 4 * 0.75, 2 * 0.875, 0);
    gltf_pose(body, 9.0, x);
    assert_near(x[1], 5, 2, 0);
    gltf_body_destroy(body);
    // The node's own weights come before the mesh's.
    snprintf(rest, sizeof(rest), "\"nodes\": [{\"mesh\": 0, \"weights\": [0, 1]}], " MORPH_MESH "%s", motion);
    body = gltf_make(rest, NULL);
    gltf_pose(body, 0.0, x);
    assert_near(x[0], 4, 0, 0);
    gltf_body_destroy(body);
}

// ---- keys

static gltf_body* keyed_body(const char* path, const char* interpolation, const float* values, int count, int width)
{
    static const float times[] = {0, 2};
    char rest[900];
    gltf_begin();
    gltf_add_floats(triangle, 3, "VEC3", 3);
    gltf_add_floats(times, 2, "SCALAR", 1);
    gltf_add_floats(values, count, width == 4 ? "VEC4" : "VEC3", width);
    snprintf(rest, sizeof(rest),
             ONE_NODE ", " ONE_MESH ", \"animations\": [{\"name\": \"a\", \"channels\": [{\"sampler\": 0, \"target\": "
                      "{\"node\": 0, \"path\": \"%s\"}}], \"samplers\": [{\"input\": 1, \"output\": 2, "
                      "\"interpolation\": \"%s\"}]}]",
             path, interpolation);
    return gltf_make(rest, "a");
}

static void test_keys(void** unused)
{
    (void)unused;
    static const float moves[] = {0, 0, 0, 8, 0, 4};
    vec3 x[3];
    gltf_body* body = keyed_body("translation", "LINEAR", moves, 2, 3);
    gltf_pose(body, 0.5, x);
    assert_near(x[0], 2, 0, 1);
    gltf_body_destroy(body);
    body = keyed_body("translation", "STEP", moves, 2, 3);
    gltf_pose(body, 1.999, x);
    assert_near(x[0], 0, 0, 0);
    gltf_pose(body, 2.0, x);
    assert_near(x[0], 8, 0, 4);
    gltf_body_destroy(body);
    // From 0 to 120 degrees about z; the second key has the other sign, which is the same rotation: the short way.
    double s = sin(PI / 3.0), c = cos(PI / 3.0);
    const float turns[] = {0, 0, 0, 1, 0, 0, (float)-s, (float)-c};
    body = keyed_body("rotation", "LINEAR", turns, 2, 4);
    for (int k = 0; k <= 4; k++)
    {
        double angle = 2.0 * PI / 3.0 * k / 4.0;
        gltf_pose(body, 0.5 * k, x);
        assert_near(x[1], cos(angle), sin(angle), 0);
    }
    gltf_body_destroy(body);
    // Hermite's cubic over two seconds: t^3 - t + 3 has the values and slopes 3, -1 and 9, 11.
    const float cubic[] = {0, 0, 0, 3, 0, 0, -1, 0, 0, 11, 0, 0, 9, 0, 0, 0, 0, 0};
    body = keyed_body("scale", "CUBICSPLINE", cubic, 6, 3);
    for (int k = 0; k <= 8; k++)
    {
        double t = 0.25 * k;
        gltf_pose(body, t, x);
        assert_near(x[1], t * t * t - t + 3.0, 0, 0);
    }
    gltf_body_destroy(body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sources), cmocka_unit_test(test_numbers), cmocka_unit_test(test_modes),
        cmocka_unit_test(test_weld),    cmocka_unit_test(test_nodes),   cmocka_unit_test(test_skin),
        cmocka_unit_test(test_morph),   cmocka_unit_test(test_keys),
    };
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
