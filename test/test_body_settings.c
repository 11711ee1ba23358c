// Settings of methods that a body has of its own: away from others it goes the way of a scene that has them, to the
// bit; bodies that touch have the largest of each; they survive scene.json, a resume, an edit; what is wrong is
// refused.
#include "common.h"

#include <string.h>

#include "common_edits.h"
#include "common_scene.h"
#include "sim/sim.h"
#include "weft/cache.h"

#define HEAD                                                                                                           \
    "{\"time_step\": 0.01, \"steps_per_frame\": 2, \"frames\": 3, \"method\": \"hpbd\", \"model\": \"hooke\", "        \
    "\"hpbd\": {\"iterations\": %d, \"levels\": %d}, \"cloth\": ["
#define SHEET                                                                                                          \
    "{\"name\": \"%s\", \"mesh\": {\"grid\": {\"size\": [0.5, 0.5], \"cells\": 12, \"plane\": \"xy\"}},"               \
    " \"transform\": {\"translate\": [%g, 0, %g]}, \"pins\": [{\"where\": {\"corner\": [\"top-left\"]}}]%s}"

static weft_sim* alone(int iterations, int levels, double x)
{
    char text[2000];
    snprintf(text, sizeof(text), HEAD SHEET "]}", iterations, levels, "one", x, 0.0, "");
    return scene_sim_text(text, 1);
}

static const char* both(double x, double z)
{
    static char text[3000];
    snprintf(text, sizeof(text), HEAD SHEET "," SHEET "]}", 2, 1, "plain", 0.0, 0.0, "", "own", x, z,
             ", \"settings\": {\"hpbd\": {\"iterations\": 7, \"levels\": 0}}");
    return text;
}

static void step(weft_sim* sim, int count)
{
    for (int k = 0; k < count; k++)
    {
        assert_int_equal(weft_sim_step(sim, NULL, NULL), WEFT_OK);
    }
}

static void assert_same(weft_sim* a, int body, weft_sim* b, bool same)
{
    int n = weft_sim_vertex_count(a, body);
    weft_vec3 x[400], y[400];
    assert_true(n <= 400 && n == weft_sim_vertex_count(b, 0));
    weft_sim_positions(a, body, x);
    weft_sim_positions(b, 0, y);
    assert_int_equal(memcmp(x, y, (size_t)n * sizeof(weft_vec3)) == 0, same);
}

static void test_each_goes_its_way(void** unused)
{
    (void)unused;
    weft_sim* sim = scene_sim_text(both(3.0, 0.0), 1);
    weft_sim *plain = alone(2, 1, 0.0), *own = alone(7, 0, 3.0), *other = alone(2, 1, 3.0);
    step(sim, 8);
    step(plain, 8);
    step(own, 8);
    step(other, 8);
    assert_same(sim, 0, plain, true);
    assert_same(sim, 1, own, true);
    assert_same(sim, 1, other, false); // the settings have an effect
    weft_sim_destroy(sim);
    weft_sim_destroy(plain);
    weft_sim_destroy(own);
    weft_sim_destroy(other);
}

// Sheets that touch step together: 7 iterations and all levels.
static void test_together_the_largest_counts(void** unused)
{
    (void)unused;
    weft_sim *near = scene_sim_text(both(0.0, 0.003), 1), *far = scene_sim_text(both(3.0, 0.0), 1);
    step(near, 1);
    step(far, 1);
    assert_int_equal(near->clusters.count, 0);
    assert_int_equal(far->clusters.count, 2);
    double levels = near->world.settings.method[method_setting_find("hpbd", "levels")];
    double iterations = near->world.settings.method[method_setting_find("hpbd", "iterations")];
    assert_true(levels == 0.0 && iterations == 7.0);
    weft_sim_destroy(near);
    weft_sim_destroy(far);
}

static weft_sim* run(const weft_scene* scene, weft_cache_mode mode, int steps)
{
    weft_sim* sim;
    weft_cache_writer* writer;
    assert_int_equal(weft_scene_build_sim(scene, 1, &sim, NULL), WEFT_OK);
    assert_int_equal(weft_cache_writer_create(scene_path("run"), mode, weft_scene_json(scene),
                                              weft_scene_steps_per_frame(scene), sim, &writer, NULL),
                     WEFT_OK);
    for (int k = 0; k < steps; k++)
    {
        weft_step_stats stats;
        assert_int_equal(weft_sim_step(sim, &stats, NULL), WEFT_OK);
        assert_int_equal(weft_cache_writer_step(writer, sim, &stats, NULL), WEFT_OK);
    }
    weft_cache_writer_destroy(writer, NULL);
    return sim;
}

static void test_written_and_resumed(void** unused)
{
    (void)unused;
    weft_scene* scene = scene_load_text(both(3.0, 0.0), NULL, 0);
    const char* json = weft_scene_json(scene);
    assert_non_null(strstr(json, "\"settings\""));
    weft_scene* again = scene_load_text(json, NULL, 0);
    assert_string_equal(weft_scene_json(again), json);
    weft_sim* whole = scene_sim_text(both(3.0, 0.0), 1);
    step(whole, 6);
    weft_sim_destroy(run(again, WEFT_CACHE_NEW, 4));
    weft_sim* resumed = run(scene, WEFT_CACHE_RESUME, 2);
    size_t size = (size_t)whole->model.vertex_count * sizeof(vec3);
    assert_memory_equal(resumed->world.state.x, whole->world.state.x, size);
    weft_sim_destroy(whole);
    weft_sim_destroy(resumed);

    // Another value does not go on, of whichever body.
    for (int k = 0; k < 2; k++)
    {
        const char* other[] = {"cloth.0.settings={\"hpbd\": {\"levels\": 3}}", "cloth.1.settings.hpbd.iterations=6"};
        weft_scene* changed = scene_load_text(both(3.0, 0.0), &other[k], 1);
        weft_sim* sim;
        weft_cache_writer* writer = NULL;
        assert_int_equal(weft_scene_build_sim(changed, 1, &sim, NULL), WEFT_OK);
        assert_int_not_equal(weft_cache_writer_create(scene_path("run"), WEFT_CACHE_RESUME, weft_scene_json(changed), 2,
                                                      sim, &writer, NULL),
                             WEFT_OK);
        weft_sim_destroy(sim);
        weft_scene_destroy(changed);
    }
    weft_scene_destroy(scene);
    weft_scene_destroy(again);
}

// A cloth that comes while the scene runs brings its settings along, through a checkpoint, too.
static void test_comes_with_its_own(void** unused)
{
    (void)unused;
    weft_choice choice = {"hpbd", "iterations", 9.0};
    weft_vec3 corner[4];
    edits_square_at((vec3){4, 0, 0}, 0.5, corner);
    const int faces[] = {0, 1, 2, 0, 2, 3};
    weft_cloth_def def = weft_cloth_def_default();
    def.name = "late";
    def.model = "hooke";
    def.positions = corner;
    def.vertex_count = 4;
    def.face_vertices = faces;
    def.face_count = 2;
    def.settings = &choice;
    def.setting_count = 1;
    weft_sim* sim = alone(2, 1, 0.0);
    step(sim, 1);
    assert_int_equal(weft_sim_add_cloth(sim, &def, NULL, NULL), WEFT_OK);
    step(sim, 1);
    assert_true(body_setting(sim, &sim->bodies[1], method_setting_find("hpbd", "iterations")) == 9.0);
    assert_true(body_setting(sim, &sim->bodies[0], method_setting_find("hpbd", "iterations")) == 2.0);
    choice.value = 0.5;
    def.name = "later";
    weft_error error = {0};
    assert_int_equal(weft_sim_add_cloth(sim, &def, NULL, &error), WEFT_BAD_INPUT);
    assert_non_null(strstr(error.message, "iterations"));
    weft_sim_destroy(sim);
}

static void test_refused(void** unused)
{
    (void)unused;
    scene_refused("{" CLOTH ", \"settings\": {\"hpbd\": {\"iterations\": 0}}}]}", "iterations");
    scene_refused("{" CLOTH ", \"settings\": {\"hpbd\": {\"iteration\": 2}}}]}", "iterations");
    scene_refused("{" CLOTH ", \"settings\": {\"hpdb\": {}}}]}", "hpbd");
    scene_refused("{" CLOTH ", \"settings\": 3}]}", "settings");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_goes_its_way),
        cmocka_unit_test(test_together_the_largest_counts),
        cmocka_unit_test(test_written_and_resumed),
        cmocka_unit_test(test_comes_with_its_own),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
