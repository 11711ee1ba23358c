// What bodies weigh before there is a model: as after it; and how much memory a scene takes that is only looked at.
#include "common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common_scene.h"

static weft_sim* sim_of(const weft_scene* scene)
{
    weft_error error = {0};
    weft_sim* sim = NULL;
    if (weft_scene_build_sim(scene, 1, &sim, &error) != WEFT_OK)
    {
        fail_msg("%s", error.message);
    }
    return sim;
}

// Twice the kinetic energy at 1 m/s of the first `of_body` vertices.
static double moved_mass(weft_sim* sim, int body, int of_body)
{
    for (int k = 0; k < weft_sim_cloth_count(sim); k++)
    {
        int count = weft_sim_vertex_count(sim, k);
        weft_vec3* v = calloc((size_t)count, sizeof(*v));
        assert_non_null(v);
        for (int i = 0; i < count; i++)
        {
            v[i].x = k == body && i < of_body ? 1.0 : 0.0;
        }
        assert_int_equal(weft_sim_set_state(sim, k, NULL, v), WEFT_OK);
        free(v);
    }
    return 2.0 * weft_sim_energy(sim).kinetic;
}

static void bodies_weigh_what_moves(void** state)
{
    (void)state;
    static const char* const scenes[] = {
        "{\"cloth\": [{\"mesh\": {\"grid\": {\"cells\": 6}}}]}",
        "{\"cloth\": [{\"mesh\": {\"grid\": {\"cells\": 6, \"tessellation\": \"irregular\"}}, \"material\": \"denim\"},"
        " {\"mesh\": {\"grid\": {\"cells\": 3}}, \"vertex_mass\": 0.2, \"transform\": {\"translate\": [0, 2, 0]}}]}",
        "{\"model\": \"hooke\", \"strands\": [{\"mesh\": {\"brush\": {\"count\": [2, 2]}}}],"
        " \"volumes\": [{\"mesh\": {\"solid\": {\"box\": {\"size\": 0.2, \"cells\": [2, 2, 2]}}}, \"transform\": "
        "{\"translate\": [0, 3, 0]}}]}",
        // Vertices that no triangle uses weigh nothing.
        "{\"cloth\": [{\"mesh\": {\"obj\": \"stray.obj\"}}, {\"mesh\": {\"grid\": {\"cells\": 3}}}],"
        " \"contact\": {\"enabled\": false}}",
    };
    static const char stray[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 5 5 5\nv 6 5 5\nf 1 2 3\n";
    scene_write_bytes(scene_path("stray.obj"), stray, strlen(stray));
    for (size_t s = 0; s < sizeof(scenes) / sizeof(scenes[0]); s++)
    {
        weft_scene* scene = scene_load_text(scenes[s], NULL, 0);
        weft_sim* sim = sim_of(scene);
        double mass[2] = {0};
        int count = weft_sim_cloth_count(sim);
        for (int k = 0; k < count; k++)
        {
            assert_int_equal(weft_sim_mass(sim, k, &mass[k]), WEFT_OK);
        }
        for (int k = 0; k < count; k++)
        {
            double after, moved = moved_mass(sim, k, s == 3 && k == 0 ? 3 : 1000);
            assert_true(mass[k] > 0.0 && fabs(mass[k] - moved) < 1e-9 * moved);
            assert_int_equal(weft_sim_mass(sim, k, &after), WEFT_OK);
            assert_true(after == mass[k]);
        }
        weft_sim_destroy(sim);
        weft_scene_destroy(scene);
    }
}

// Vertices that no triangle uses stay where they are and touch nothing, those of bodies alike: one lies on the floor, one in
// the way of the cloth, and one of the body is above it.
static void what_lies_around_stays(void** state)
{
    (void)state;
    static const char stray[] = "v 0 1 0\nv 1 1 0\nv 0 1 1\nv 0.3 0 0.3\nv 0.2 0.98 0.2\nf 1 3 2\n";
    static const char body[] = "v -9 0 -9\nv 9 0 -9\nv -9 0 9\nv 0.4 0.99 0.3\nf 1 3 2\n";
    scene_write_bytes(scene_path("stray.obj"), stray, strlen(stray));
    scene_write_bytes(scene_path("body.obj"), body, strlen(body));
    static const char* const methods[] = {"implicit-euler", "pbd", "bdf2", "explicit", "local-global"};
    for (size_t m = 0; m < sizeof(methods) / sizeof(methods[0]); m++)
    {
        char text[400];
        snprintf(text, sizeof(text),
                 "{\"method\": \"%s\", \"model\": \"%s\", \"time_step\": 0.005, \"cloth\": [{\"mesh\": {\"obj\": \"stray.obj\"}}],"
                 " \"obstacles\": [{\"mesh\": {\"obj\": \"body.obj\"}}]}",
                 methods[m], m == 4 ? "hooke" : "baraff-witkin");
        weft_scene* scene = scene_load_text(text, NULL, 0);
        weft_sim* sim = sim_of(scene);
        weft_vec3 x[5];
        for (int k = 0; k < 40; k++)
        {
            weft_step_stats stats;
            weft_error error = {0};
            assert_int_equal(weft_sim_step(sim, &stats, &error), WEFT_OK);
            assert_int_equal(stats.contacts, 0);
        }
        weft_sim_positions(sim, 0, x);
        assert_true(x[3].x == 0.3 && x[3].y == 0.0 && x[3].z == 0.3);
        assert_true(x[4].x == 0.2 && x[4].y == 0.98 && x[4].z == 0.2);
        assert_true(x[0].y < 0.82 && x[0].y > 0.78); // 0.2 s of falling
        weft_sim_destroy(sim);
        weft_scene_destroy(scene);
    }
}

// All that `weft check` does: a scan of a million vertices must not take what its simulation would. A vertex of a grid
// is 24 bytes and 2 triangles of 12, and has its share of faces, in the scene and in the simulation; trees of boxes for
// contact are the rest. Of large meshes it is 1,150; with the simulation made it was 4,800.
static void looking_takes_little_memory(void** state)
{
    (void)state;
    const int vertices = 101 * 101;
    test_ledger ledger = {0};
    test_ledger_open(&ledger);
    weft_scene* scene = scene_load_text("{\"cloth\": [{\"mesh\": {\"grid\": {\"cells\": 100}}}]}", NULL, 0);
    weft_sim* sim = sim_of(scene);
    weft_error error = {0};
    double mass = 0.0;
    assert_int_equal(weft_scene_start(scene, sim, NULL, &error), WEFT_OK);
    assert_int_equal(weft_sim_mass(sim, 0, &mass), WEFT_OK);
    weft_sim_destroy(sim);
    weft_scene_destroy(scene);
    test_ledger_close();
    double each = (double)ledger.bytes_most / vertices;
    print_message("%.0f bytes a vertex\n", each);
    assert_true(mass > 0.0 && each < 2000.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_weigh_what_moves),
        cmocka_unit_test(what_lies_around_stays),
        cmocka_unit_test(looking_takes_little_memory),
    };
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
