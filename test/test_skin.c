// Regions of a body: friction and thickness by object, box and face, linear between vertices, with methods that have a
// matrix and those that have none; through a run's copy of the scene; what is wrong with them. Selections by object.
#define _GNU_SOURCE
#include "common.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common_scene.h"
#include "scene/scene_data.h"
#include "weft/weft.h"

// Two sides of a slope that share no vertex, and a patch of cloth upon each.
static const char ramp[] =
    "o rough\nv -2 0 -2\nv -2 0 2\nv -0.01 0 2\nv -0.01 0 -2\nf 1 2 3 4\no smooth\nv 0.01 0 -2\nv "
    "0.01 0 2\nv 2 0 2\nv 2 0 -2\nf 5 6 7 8\n";

#define PATCH(name, x, y)                                                                                              \
    "{\"name\": \"" name "\", \"mesh\": {\"grid\": {\"size\": 0.2, \"cells\": 3}}, \"transform\": {\"translate\": [" x \
    ", " y ", 0]}}"
#define SLOPE(method, regions)                                                                                         \
    "{\"time_step\": 0.004, \"steps_per_frame\": 5, \"frames\": 10, \"gravity\": [0, -9, 3.6], \"method\": \"" method  \
    "\", \"air\": {\"density\": 0}, \"cloth\": [" PATCH("a", "-1", "0.001") ", " PATCH(                                \
        "b", "1", "0.001") "], "                                                                                       \
                           "\"obstacles\": [{\"name\": \"ramp\", \"mesh\": {\"obj\": \"ramp.obj\"}, \"friction\": "    \
                           "0.9, \"regions\": [" regions "]}]}"

static vec3 middle(weft_sim* sim, int cloth)
{
    vec3 x[16], sum = {0};
    weft_sim_positions(sim, cloth, x);
    for (int k = 0; k < 16; k++)
    {
        sum = v3_add(sum, v3_scale(1.0 / 16.0, x[k]));
    }
    return sum;
}

static void run(weft_sim* sim, int steps)
{
    weft_error error;
    for (int k = 0; k < steps; k++)
    {
        assert_int_equal(weft_sim_step(sim, NULL, &error), WEFT_OK);
    }
}

// The slope is 0.4: with friction 0.9 a patch stays, with 0.1 it slides by (3.6 - 0.1 9) t^2 / 2.
static void test_friction(void** unused)
{
    (void)unused;
    static const char* const scenes[] = {
        SLOPE("implicit-euler", "{\"object\": \"smooth\", \"friction\": 0.1}"),
        SLOPE("implicit-euler",
              "{\"where\": {\"box\": {\"min\": [0, -1, -9], \"max\": [9, 1, 9]}}, \"friction\": 0.1}"),
        SLOPE("implicit-euler", "{\"faces\": [0, 1], \"friction\": 0.1}, {\"faces\": [0], \"friction\": 0.9}"),
        SLOPE("pbd", "{\"object\": \"smooth\", \"friction\": 0.1}"),
        SLOPE("newton", "{\"object\": \"smooth\", \"friction\": {\"static\": 0.2, \"kinetic\": 0.1}}"),
    };
    scene_write_bytes(scene_path("ramp.obj"), ramp, strlen(ramp));
    for (size_t k = 0; k < sizeof(scenes) / sizeof(scenes[0]); k++)
    {
        weft_sim* sim = scene_sim_text(scenes[k], 1);
        run(sim, 50);
        double t = 0.2, slid = 0.5 * (3.6 - 0.1 * 9.0) * t * t;
        double a = middle(sim, 0).z, b = middle(sim, 1).z;
        if (fabs(a) > 1e-3 || fabs(b - slid) > 0.06 * slid)
        {
            fail_msg("scene %d: %g where it stays, %g where it slides by %g", (int)k, a, b, slid);
        }
        weft_sim_destroy(sim);
    }
}

// Cloth comes to rest at 1 mm over one side and at 6 mm over the other.
static void test_thickness(void** unused)
{
    (void)unused;
    scene_write_bytes(scene_path("ramp.obj"), ramp, strlen(ramp));
    weft_sim* sim = scene_sim_text(
        "{\"time_step\": 0.004, \"air\": {\"density\": 0}, \"cloth\": [" PATCH("a", "-1", "0.008") ", " PATCH(
            "b", "1",
            "0.008") "], \"obstacles\": [{\"mesh\": {\"obj\": \"ramp.obj\"}, \"regions\": [{\"object\": \"smooth\", "
                     "\"thickness\": 0.006}]}]}",
        1);
    run(sim, 100);
    assert_true(fabs(middle(sim, 0).y - 0.001) < 1e-4);
    assert_true(fabs(middle(sim, 1).y - 0.006) < 2e-4);
    weft_sim_destroy(sim);
}

// From vertex to vertex it is linear: half-way along a face from 2 to 10 mm it is 6.
static void test_linear(void** unused)
{
    (void)unused;
    scene_write_bytes(scene_path("ramp.obj"), ramp, strlen(ramp));
    weft_scene* scene = scene_load_text(
        "{\"cloth\": [" PATCH("a", "1.005", "0.02") "], \"contact\": {\"thickness\": 0.002}, "
                                                    "\"obstacles\": [{\"mesh\": {\"obj\": \"ramp.obj\"}}]}",
        NULL, 0);
    weft_sim* sim = NULL;
    weft_error error;
    const vec3 x[] = {{-2, 0, -2}, {-2, 0, 2}, {2, 0, 2}, {2, 0, -2}, {-1, 0.02, 0}};
    const int faces[] = {0, 1, 2, 0, 2, 3};
    const double thickness[] = {0.002, 0.002, 0.010, 0.010};
    weft_sim_def settings = *weft_scene_sim_def(scene);
    assert_int_equal(weft_sim_create(&settings, &sim, &error), WEFT_OK);
    weft_obstacle_def body = weft_obstacle_def_default();
    body.positions = x, body.vertex_count = 4, body.face_vertices = faces, body.face_count = 2;
    body.vertex_thickness = thickness;
    assert_int_equal(weft_sim_add_obstacle(sim, &body, NULL, &error), WEFT_OK);
    for (int k = 0; k < 3; k++) // three small triangles, at -1, 0 and 1
    {
        const vec3 own[] = {{k - 1.01, 0.012, -0.01}, {k - 1.0, 0.012, 0.01}, {k - 0.99, 0.012, -0.01}};
        const int corners[] = {0, 1, 2};
        weft_cloth_def def = weft_cloth_def_default();
        def.positions = own, def.vertex_count = 3, def.face_vertices = corners, def.face_count = 1;
        assert_int_equal(weft_sim_add_cloth(sim, &def, NULL, &error), WEFT_OK);
    }
    run(sim, 300);
    for (int k = 0; k < 3; k++)
    {
        vec3 at[3];
        weft_sim_positions(sim, k, at);
        if (fabs(at[1].y - (0.004 + 0.002 * k)) > 3e-4)
        {
            fail_msg("triangle %d rests at %g", k, at[1].y);
        }
    }
    const double none[] = {0.002, 0.0, 0.01, 0.01};
    body.vertex_thickness = none;
    assert_int_equal(weft_sim_add_obstacle(sim, &body, NULL, &error), WEFT_BAD_INPUT);
    assert_non_null(strstr(error.message, "vertex_thickness"));
    weft_sim_destroy(sim);
    weft_scene_destroy(scene);
}

static void test_copy(void** unused)
{
    (void)unused;
    const char* text = SLOPE("implicit-euler", "{\"object\": \"smooth\", \"friction\": 0.1, \"thickness\": 0.002}");
    scene_write_bytes(scene_path("ramp.obj"), ramp, strlen(ramp));
    scene_write_bytes(scene_path("slope.json"), text, strlen(text));
    assert_int_equal(test_shell(scene_folder,
                                "\"$WEFT\" run slope.json -o one >log 2>&1 && \"$WEFT\" run one/scene.json "
                                "-o two >log 2>&1 && cmp one/b.pc2 two/b.pc2 && cmp one/a.pc2 two/a.pc2"),
                     0);
    assert_int_equal(test_shell(scene_folder, "\"$WEFT\" run slope.json --frames 3 -o part >log 2>&1 && \"$WEFT\" run "
                                              "slope.json -o part --resume >log 2>&1 && cmp one/b.pc2 part/b.pc2"),
                     0);
}

static void test_wrong(void** unused)
{
    (void)unused;
    scene_write_bytes(scene_path("ramp.obj"), ramp, strlen(ramp));
    scene_refused(SLOPE("implicit-euler", "{\"object\": \"smooth\"}"), "needs \"friction\" or \"thickness\"");
    scene_refused(SLOPE("implicit-euler", "{\"object\": \"smoth\", \"friction\": 0.1}"), "did you mean `smooth`?");
    scene_refused(SLOPE("implicit-euler", "{\"friction\": 0.1}"), "a region needs one of");
    scene_refused(SLOPE("implicit-euler", "{\"faces\": [7], \"friction\": 0.1}"), "obstacles.0.regions.0.faces.0");
    scene_refused(SLOPE("implicit-euler", "{\"faces\": [0], \"thickness\": 0}"), "thickness");
}

// Pins of a group of the garment's file.
static void test_selection(void** unused)
{
    (void)unused;
    static const char obj[] =
        "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 2 0 0\nv 2 1 0\ng cuff\nf 1 2 3 4\ng sleeve\nf 2 5 6 3\n";
    static const int expected[] = {0, 1, 2, 3};
    scene_write_bytes(scene_path("groups.obj"), obj, strlen(obj));
    weft_scene* scene =
        scene_load_text("{\"cloth\": [{\"mesh\": {\"obj\": \"groups.obj\"}, \"pins\": [{\"where\": {\"object\": "
                        "\"cuff\"}}, {\"where\": {\"object\": [\"cuff\", \"sleeve\"]}}]}]}",
                        NULL, 0);
    const scene_cloth* cloth = &scene->cloths[0];
    scene_assert_vertices(cloth->pins[0].vertices, cloth->pins[0].vertex_count, expected, 4);
    assert_int_equal(cloth->pins[1].vertex_count, 6);
    weft_scene_destroy(scene);
    scene_refused(
        "{\"cloth\": [{\"mesh\": {\"obj\": \"groups.obj\"}, \"pins\": [{\"where\": {\"object\": \"cuf\"}}]}]}",
        "did you mean `cuff`?");
    scene_refused("{\"cloth\": [{\"mesh\": {\"grid\": {}}, \"pins\": [{\"where\": {\"object\": \"a\"}}]}]}",
                  "has no objects or groups");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_friction), cmocka_unit_test(test_thickness), cmocka_unit_test(test_linear),
        cmocka_unit_test(test_copy),     cmocka_unit_test(test_wrong),     cmocka_unit_test(test_selection),
    };
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
