// Pins with samples in scene files: a PC2 file of the whole mesh, placed as the mesh is, or numbers; the canonical text
// builds the same; what is wrong is said at its line.
#include "common.h"

#include <string.h>

#include "common_run.h"
#include "common_scene.h"
#include "core/core.h"
#include "weft/weft.h"

// Nine vertices, turned by 90 degrees about y, twice as large and 5 m up: (x, y, z) comes to (2 z, 2 y + 5, -2 x).
#define SHEET(pin)                                                                                                     \
    "{\"time_step\": 0.01, \"steps_per_frame\": 4, \"gravity\": [0, 0, 0], \"contact\": {\"enabled\": false}, "        \
    "\"step_control\": {\"max_stretch\": 1e9}, \"cloth\": [{\"mesh\": {\"grid\": {\"cells\": 2}}, \"transform\": "     \
    "{\"rotate\": [0, 90, 0], \"scale\": 2, \"translate\": [0, 5, 0]}, \"pins\": [" pin "]}]}"

static const char by_file[] =
    SHEET("{\"where\": {\"vertices\": [7, 2]}, \"samples\": {\"pc2\": \"nine.pc2\", \"rate\": "
          "50, \"start\": 0.01}}");

static weft_vec3 placed(int sample, int vertex)
{
    weft_vec3 x = test_run_point(sample, vertex);
    return (weft_vec3){2.0 * (float)x.z, 2.0 * (float)x.y + 5.0, -2.0 * (float)x.x};
}

static int write_files(void** state)
{
    int status = scene_folder_make(state);
    test_pc2_write(scene_folder, "nine.pc2", 9, 0.0f, 3);
    test_pc2_write(scene_folder, "four.pc2", 4, 0.0f, 3);
    test_text_write(scene_folder, "sheet.obj", "v 0 0 0\nv 1 0 0\nv 1 0 1\nv 0 0 1\nf 1 2 3 4\n");
    return status;
}

static void assert_at(const weft_sim* sim, int vertex, weft_vec3 wanted)
{
    weft_vec3 x[9];
    weft_sim_positions(sim, 0, x);
    if (v3_length(v3_sub(x[vertex], wanted)) > 1e-9)
    {
        fail_msg("vertex %d is at (%g, %g, %g) and not at (%g, %g, %g)", vertex, x[vertex].x, x[vertex].y, x[vertex].z,
                 wanted.x, wanted.y, wanted.z);
    }
}

// A step ends at 0.01, where the first sample is, then half-way to the second.
static void test_file(void** unused)
{
    (void)unused;
    weft_scene* scene = scene_load_text(by_file, NULL, 0);
    weft_sim *sim, *other;
    assert_int_equal(weft_scene_build_sim(scene, 1, &sim, NULL), WEFT_OK);
    const int vertices[] = {2, 7};
    for (int step = 0; step < 7; step++)
    {
        assert_int_equal(weft_sim_step(sim, NULL, NULL), WEFT_OK);
        for (int k = 0; k < 2; k++)
        {
            double at = fmin(0.5 * step, 2.0);
            int last = (int)at, next = int_min(last + 1, 2);
            weft_vec3 a = placed(last, vertices[k]), b = placed(next, vertices[k]);
            assert_at(sim, vertices[k], v3_madd(a, at - last, v3_sub(b, a)));
        }
    }
    // The run's copy of the scene has the numbers, and needs no file.
    const char* text = weft_scene_json(scene);
    assert_non_null(strstr(text, "\"positions\": ["));
    assert_null(strstr(text, "nine.pc2"));
    weft_scene* again = scene_load_text(text, NULL, 0);
    assert_string_equal(text, weft_scene_json(again));
    assert_int_equal(weft_scene_build_sim(again, 1, &other, NULL), WEFT_OK);
    weft_vec3 x[9], y[9];
    for (int step = 0; step < 7; step++)
    {
        assert_int_equal(weft_sim_step(other, NULL, NULL), WEFT_OK);
    }
    weft_sim_positions(sim, 0, x);
    weft_sim_positions(other, 0, y);
    assert_memory_equal(x, y, sizeof(x));
    weft_sim_destroy(sim);
    weft_sim_destroy(other);
    weft_scene_destroy(again);
    weft_scene_destroy(scene);
}

// The scene's frame rate where none is given: 25 a second.
static void test_default_rate(void** unused)
{
    (void)unused;
    static const char text[] =
        SHEET("{\"where\": {\"vertices\": [0]}, \"path\": [{\"time\": 0, \"offset\": [0, 1, 0]}], "
              "\"samples\": {\"positions\": [1, 5, 1, 1, 5, 2]}}");
    weft_sim* sim = scene_sim_text(text, 1);
    for (int step = 1; step <= 5; step++)
    {
        assert_int_equal(weft_sim_step(sim, NULL, NULL), WEFT_OK);
        assert_at(sim, 0, (weft_vec3){1, 6, 1 + fmin(0.25 * step, 1.0)});
    }
    weft_sim_destroy(sim);
}

#define PINNED(samples) SHEET("{\"where\": {\"vertices\": [7, 2]}, \"samples\": " samples "}")

static void test_mistakes(void** unused)
{
    (void)unused;
    static const struct
    {
        const char *text, *word;
    } wrong[] = {
        {PINNED("{}"), "either \"pc2\" or \"positions\""},
        {PINNED("{\"pc2\": \"nine.pc2\", \"positions\": [1]}"), "not both"},
        {PINNED("{\"positions\": [1, 2, 3]}"), "multiple of 6"},
        {PINNED("{\"positions\": []}"), "multiple of 6"},
        {PINNED("{\"positions\": [1, 2, 3, 4, 5, \"6\"]}"), "number"},
        {PINNED("{\"pc2\": \"nine.pc2\", \"rate\": 0}"), "positive"},
        {PINNED("{\"pc2\": \"none.pc2\"}"), "relative to the scene file"},
        {PINNED("{\"pc2\": \"four.pc2\"}"), "4 points"},
        {PINNED("{\"pc2\": \"nine.pc2\", \"fps\": 9}"), "fps"},
        {"{\"cloth\": [{\"mesh\": {\"obj\": \"sheet.obj\", \"weld\": 0.001}, \"pins\": [{\"where\": {\"vertices\": "
         "[0]}, \"samples\": {\"pc2\": \"four.pc2\"}}]}]}",
         "weld"},
    };
    for (size_t k = 0; k < sizeof(wrong) / sizeof(wrong[0]); k++)
    {
        weft_scene* scene = NULL;
        weft_error error = {0};
        weft_status status = scene_load_bytes(wrong[k].text, strlen(wrong[k].text), &scene, &error);
        if (status == WEFT_OK || !strstr(error.message, wrong[k].word))
        {
            fail_msg("%zu: status %d, `%s` instead of `%s`", k, status, error.message, wrong[k].word);
        }
        assert_null(scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_file),
        cmocka_unit_test(test_default_rate),
        cmocka_unit_test(test_mistakes),
    };
    return cmocka_run_group_tests(tests, write_files, scene_folder_remove);
}
