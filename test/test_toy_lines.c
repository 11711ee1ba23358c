// Lines that pins take through each other, or through a sheet: what passed is listed in the step in which it did.
#include "common.h"

#include <stdio.h>
#include <string.h>

#include "common_scene.h"
#include "sim/sim.h"
#include "weft/cache.h"

#define LINE(name, file, translate)                                                                                    \
    "{\"name\": \"" name "\", \"mesh\": {\"obj\": \"" file                                                             \
    "\"}, \"thickness\": 0.002, \"transform\": {\"translate\": " translate "}, \"material\": {\"density\": 0.01, "     \
    "\"stretch_warp\": 200, \"stretch_weft\": 1, \"shear\": 1, \"damping\": 0.01}, \"pins\": [{\"where\": "            \
    "{\"vertices\": [0, 1, 2]}"

#define WORLD "{\"time_step\": 0.005, \"gravity\": [0, 0, 0], \"solver\": \"cholesky\", \"steps_per_frame\": 2, "

// The second goes down through the first, which is held.
static const char two_lines[] = WORLD "\"toy-threads\": [" LINE("still", "x.obj", "[0, 0, 0]") "}]}, " LINE(
    "moving", "z.obj",
    "[0.013, 0.02, 0.007]") ", \"path\": [{\"time\": 0}, {\"time\": 0.1, \"offset\": [0, -0.04, 0]}]}]}]}";

// Likewise across the border of a sheet that is held: two of its edges are met, and no face by a vertex.
static const char line_and_sheet[] =
    WORLD "\"cloth\": [{\"name\": \"sheet\", \"mesh\": {\"grid\": {\"size\": 0.04, \"cells\": 1}}, \"pins\": "
          "[{\"where\": {\"edge\": "
          "[\"left\", \"right\"]}}]}], \"toy-threads\": [" LINE(
              "moving", "z.obj", "[0.013, 0.02, 0.007]") ", \"path\": [{\"time\": "
                                                         "0}, {\"time\": 0.1, \"offset\": [0, -0.04, 0]}]}]}]}";

static int setup(void** state)
{
    int made = scene_folder_make(state);
    static const char along_x[] = "v -0.1 0 0\nv 0 0 0\nv 0.1 0 0\nl 1 2 3\n";
    static const char along_z[] = "v 0 0 -0.1\nv 0 0 0\nv 0 0 0.1\nl 1 2 3\n";
    scene_write_bytes(scene_path("x.obj"), along_x, sizeof(along_x) - 1);
    scene_write_bytes(scene_path("z.obj"), along_z, sizeof(along_z) - 1);
    return made;
}

// The height of the moving line over what is held.
static double height(const weft_sim* sim)
{
    weft_vec3 x[3];
    weft_sim_positions(sim, 1, x);
    return x[1].y;
}

static bool passes_in_step(weft_sim* sim, weft_step_stats* stats)
{
    double before = height(sim);
    assert_int_equal(weft_sim_step(sim, stats, NULL), WEFT_OK);
    return before > 0.0 && height(sim) <= 0.0;
}

// It is listed in the one step in which it passes, and in no other.
static void test_two_lines(void** unused)
{
    (void)unused;
    weft_sim* sim = scene_sim_text(two_lines, 1);
    int listed = 0;
    for (int k = 0; k < 24; k++)
    {
        weft_step_stats stats;
        bool passed = passes_in_step(sim, &stats);
        assert_int_equal(stats.squeezed, passed);
        if (passed)
        {
            const weft_squeezed* p = stats.squeezed_pairs;
            listed++;
            // The still one from 0 to its end, the other with the half that is at z = 0.
            assert_true(p->body[0] == 0 && p->edge[0] == 1 && p->edge[1] == 2);
            assert_true(p->body[1] == 1 && p->face[0] == 0 && p->face[1] == 1 && p->face[2] == 1);
        }
    }
    assert_int_equal(listed, 1);
    weft_sim_destroy(sim);
}

static void test_line_and_sheet(void** unused)
{
    (void)unused;
    weft_sim* sim = scene_sim_text(line_and_sheet, 1);
    int listed = 0;
    for (int k = 0; k < 24; k++)
    {
        weft_step_stats stats;
        bool passed = passes_in_step(sim, &stats);
        for (int p = 0; p < stats.squeezed; p++)
        {
            const weft_squeezed* pair = &stats.squeezed_pairs[p];
            assert_true(pair->body[0] == 1 && pair->body[1] == 0 && pair->face[1] != pair->face[2]);
        }
        assert_true(passed == (stats.squeezed > 0));
        listed += passed;
    }
    assert_int_equal(listed, 1);
    weft_sim_destroy(sim);
}

// The list of a run's folder has it, and is read again.
static void test_run_folder(void** unused)
{
    (void)unused;
    weft_sim* sim = scene_sim_text(two_lines, 1);
    char dir[512];
    snprintf(dir, sizeof(dir), "%s", scene_path("run"));
    weft_cache_writer* writer;
    assert_int_equal(weft_cache_writer_create(dir, WEFT_CACHE_NEW, two_lines, 2, sim, &writer, NULL), WEFT_OK);
    for (int k = 0; k < 24; k++)
    {
        weft_step_stats stats;
        assert_int_equal(weft_sim_step(sim, &stats, NULL), WEFT_OK);
        assert_int_equal(weft_cache_writer_step(writer, sim, &stats, NULL), WEFT_OK);
    }
    assert_int_equal(weft_cache_writer_destroy(writer, NULL), WEFT_OK);
    weft_cache* cache;
    weft_cache_squeezed* squeezed;
    assert_int_equal(weft_cache_open(dir, &cache, NULL), WEFT_OK);
    assert_int_equal(weft_cache_squeezed_read(dir, cache, &squeezed, NULL), WEFT_OK);
    const weft_squeezed* pairs;
    assert_null(weft_cache_squeezed_note(squeezed));
    assert_int_equal(weft_cache_squeezed_until(squeezed, 12, &pairs), 1);
    assert_int_equal(pairs[0].face[1], pairs[0].face[2]);
    weft_cache_squeezed_destroy(squeezed);
    weft_cache_close(cache);
    weft_sim_destroy(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_lines),
        cmocka_unit_test(test_line_and_sheet),
        cmocka_unit_test(test_run_folder),
    };
    return cmocka_run_group_tests(tests, setup, scene_folder_remove);
}
