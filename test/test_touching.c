// Starts that touch exactly: cloth that stands on a floor, at a wall, on cloth, on edges and corners. No step may end
// with a crossing, excused as squeezed or not, and what is not held is parted by a few roundings to float and no more.
#include "common.h"

#include <stdio.h>
#include <string.h>

#include "common_scene.h"
#include "start/start.h"

enum
{
    STEPS = 25
};

#define UPRIGHT(cells, tessellation, more)                                                                             \
    "{\"name\": \"sheet\", \"mesh\": {\"grid\": {\"cells\": " cells                                                    \
    ", \"plane\": \"xy\", \"tessellation\": \"" tessellation "\"}}, \"velocity\": [0, -1, 0], " more "}"
#define FLAT(more) "{\"name\": \"sheet\", \"mesh\": {\"grid\": {\"cells\": 10}}, " more "}"
#define FLOOR(more) "{\"name\": \"floor\", \"shape\": {\"plane\": {\"point\": [0, 0, 0], \"size\": 4" more "}}}"
#define SCENE(cloth, obstacles) "{\"cloth\": [" cloth "], \"obstacles\": [" obstacles "]}"

static const struct
{
    const char *name, *text;
} cases[] = {
    {"edge at a wall",
     SCENE(FLAT("\"velocity\": [1, 0, 0]"),
           "{\"shape\": {\"plane\": {\"point\": [0.5, 0, 0], \"normal\": [-1, 0, 0], \"size\": 4}}}")},
    {"on a floor", SCENE(UPRIGHT("10", "regular", "\"transform\": {\"translate\": [0, 0.5, 0]}"), FLOOR(""))},
    {"fine on a floor", SCENE(UPRIGHT("20", "regular", "\"transform\": {\"translate\": [0, 0.5, 0]}"), FLOOR(""))},
    {"on a tessellated floor, vertices on its edges and corners",
     SCENE(UPRIGHT("10", "regular", "\"transform\": {\"translate\": [0, 0.5, 0]}"), FLOOR(", \"segments\": 40"))},
    {"on a tessellated floor, aslant",
     SCENE(UPRIGHT("10", "regular", "\"transform\": {\"rotate\": [0, 33, 0], \"translate\": [0.013, 0.5, 0.007]}"),
           FLOOR(", \"segments\": 57"))},
    {"irregular on a tessellated floor",
     SCENE(UPRIGHT("10", "irregular", "\"transform\": {\"translate\": [0, 0.5, 0]}"), FLOOR(", \"segments\": 40"))},
    {"a corner on a floor",
     SCENE(UPRIGHT("10", "regular",
                   "\"transform\": {\"rotate\": [0, 0, 45], \"translate\": [0, 0.70710678118654757, 0]}"),
           FLOOR(", \"segments\": 40"))},
    {"edges on the edge of a box",
     SCENE(FLAT("\"velocity\": [0, -1, 0]"),
           "{\"shape\": {\"box\": {\"center\": [0, -0.2, 0], \"size\": [0.28284271247461901, 0.28284271247461901, 2], "
           "\"rotate\": [0, 0, 45]}}}")},
    {"a face on the corner of a box",
     SCENE(FLAT("\"velocity\": [0, -1, 0]"),
           "{\"shape\": {\"box\": {\"center\": [0.03, -0.17320512, 0.01], \"size\": 0.2, \"rotate\": [45, 0, "
           "35.264389682754654]}}}")},
    {"cloth on cloth",
     SCENE(
         FLAT("\"transform\": {\"translate\": [0, 0.2, 0]}") ", {\"name\": \"other\", \"mesh\": {\"grid\": {\"cells\": "
                                                             "10, \"plane\": \"xy\"}}, \"velocity\": [0, -1, 0], "
                                                             "\"transform\": {\"translate\": [0, 0.7, 0.03]}}",
         FLOOR(""))},
    {"cloth on cloth, vertex on vertex",
     SCENE(FLAT("\"transform\": {\"translate\": [0, 1, 0]}") ", {\"name\": \"other\", \"mesh\": {\"grid\": {\"cells\": "
                                                             "10, \"plane\": \"xy\"}}, \"velocity\": [0, -1, 0], "
                                                             "\"transform\": {\"translate\": [0, 1.5, 0]}}",
           FLOOR(""))},
};

static int crossings_of(weft_sim* sim)
{
    start_look look;
    assert_int_equal(start_look_open(&look, sim, NULL), WEFT_OK);
    assert_int_equal(start_look_inspect(&look, look.x, NULL), WEFT_OK);
    int count = look.pair_count;
    start_look_close(&look);
    return count;
}

static void no_step_ends_with_a_crossing(void** unused)
{
    (void)unused;
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++)
    {
        weft_sim* sim = scene_sim_text(cases[k].text, 1);
        for (int step = 0; step < STEPS; step++)
        {
            weft_step_stats stats;
            weft_error error = {0};
            if (weft_sim_step(sim, &stats, &error) != WEFT_OK)
            {
                fail_msg("%s: %s", cases[k].name, error.message);
            }
            int crossings = crossings_of(sim);
            if (stats.squeezed > 0 || crossings > 0)
            {
                fail_msg("%s: %d squeezed and %d crossings at the end of step %d", cases[k].name, stats.squeezed,
                         crossings, step + 1);
            }
        }
        weft_sim_destroy(sim);
    }
}

// What touched has moved, by micrometres; all else is where it was.
static void little_moves(void** unused)
{
    (void)unused;
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++)
    {
        weft_sim* sim = scene_sim_text(cases[k].text, 1);
        int moved = 0, n = 0;
        for (int b = 0; b < sim->body_count; b++)
        {
            weft_vec3 x[1024];
            assert_true(weft_sim_output_count(sim, b) <= 1024);
            weft_sim_positions(sim, b, x);
            for (int i = 0; i < weft_sim_output_count(sim, b); i++)
            {
                double way = v3_length(v3_sub(x[i], sim->bodies[b].start[i]));
                moved += way > 0.0;
                if (way > 1e-5)
                {
                    fail_msg("%s: vertex %d moved by %g m", cases[k].name, i, way);
                }
            }
            n += weft_sim_output_count(sim, b);
        }
        if (moved < 1 || 3 * moved > n)
        {
            fail_msg("%s: %d of %d vertices moved", cases[k].name, moved, n);
        }
        weft_sim_destroy(sim);
    }
}

// Pins stay where they are, to the bit; nothing moves where nothing touches.
static void pins_and_others_stay(void** unused)
{
    (void)unused;
    weft_sim* sim = scene_sim_text(
        SCENE(
            UPRIGHT(
                "10", "regular",
                "\"transform\": {\"translate\": [0, 0.5, 0]}, \"pins\": [{\"where\": {\"corner\": \"bottom-left\"}}]"),
            FLOOR("")),
        1);
    weft_vec3 x[121];
    weft_sim_positions(sim, 0, x);
    const int* vertices;
    assert_int_equal(weft_sim_pin_vertices(sim, weft_sim_cloth_pin(sim, 0, 0), NULL, &vertices), 1);
    for (int i = 0; i < 121; i++)
    {
        vec3 start = sim->bodies[0].start[i];
        bool touches = start.y < 1e-9, held = i == vertices[0];
        assert_true(touches && !held ? x[i].y > start.y : memcmp(&x[i], &start, sizeof(vec3)) == 0);
    }
    weft_sim_destroy(sim);
    sim = scene_sim_text(SCENE(UPRIGHT("10", "regular", "\"transform\": {\"translate\": [0, 0.51, 0]}"), FLOOR("")), 1);
    assert_false(sim->built); // nobody has asked for it
    weft_sim_destroy(sim);
}

// A simulation from arrays starts where its caller has put it, to the bit; when asked it is parted as a scene is.
static void arrays_are_parted_when_asked(void** unused)
{
    (void)unused;
    const weft_vec3 upright[] = {{-0.05, 0, 0}, {0.05, 0, 0}, {-0.05, 0.1, 0}, {0.05, 0.1, 0}};
    const weft_vec3 floor[] = {{-1, 0, -1}, {1, 0, -1}, {-1, 0, 1}, {1, 0, 1}};
    const int faces[] = {0, 1, 2, 1, 3, 2}, upwards[] = {0, 2, 1, 1, 2, 3};
    weft_sim_def def = weft_sim_def_default();
    weft_cloth_def cloth = weft_cloth_def_default();
    weft_obstacle_def under = weft_obstacle_def_default();
    weft_sim* sim;
    cloth.positions = upright, cloth.vertex_count = 4, cloth.face_vertices = faces, cloth.face_count = 2;
    under.positions = floor, under.vertex_count = 4, under.face_vertices = upwards, under.face_count = 2;
    assert_int_equal(weft_sim_create(&def, &sim, NULL), WEFT_OK);
    assert_int_equal(weft_sim_add_cloth(sim, &cloth, NULL, NULL), WEFT_OK);
    assert_int_equal(weft_sim_add_obstacle(sim, &under, NULL, NULL), WEFT_OK);
    weft_vec3 x[4];
    weft_sim_positions(sim, 0, x);
    assert_memory_equal(x, upright, sizeof(x));
    weft_untangling done;
    assert_int_equal(weft_sim_untangle(sim, &done, NULL), WEFT_OK);
    assert_int_equal(done.crossings, 0);
    weft_sim_positions(sim, 0, x);
    for (int i = 0; i < 4; i++)
    {
        assert_true(i < 2 ? x[i].y > 0.0 && x[i].y < 1e-5 : memcmp(&x[i], &upright[i], sizeof(vec3)) == 0);
    }
    for (int k = 0; k < 10; k++)
    {
        weft_step_stats stats;
        assert_int_equal(weft_sim_step(sim, &stats, NULL), WEFT_OK);
        assert_int_equal(stats.squeezed, 0);
    }
    weft_sim_destroy(sim);
}

// Two sheets, or a sheet and a floor, in one plane have no sides: they are refused, as what crosses.
static void one_plane_is_refused(void** unused)
{
    (void)unused;
    static const char* const texts[] = {
        SCENE(FLAT("\"thickness\": 0.001") ", {\"name\": \"other\", \"mesh\": {\"grid\": {\"cells\": 7}}}", FLOOR("")),
        SCENE(FLAT("\"thickness\": 0.001"), FLOOR(", \"segments\": 5")),
    };
    for (int k = 0; k < 2; k++)
    {
        weft_scene* scene = NULL;
        weft_sim* sim = NULL;
        weft_error error = {0};
        assert_int_equal(scene_load_bytes(texts[k], strlen(texts[k]), &scene, &error), WEFT_OK);
        assert_int_equal(weft_scene_create_sim(scene, 1, &sim, &error), WEFT_BAD_INPUT);
        assert_non_null(strstr(error.message, "starts with crossings"));
        weft_scene_destroy(scene);
    }
}

static weft_status run_ledger(void)
{
    weft_scene* scene = NULL;
    weft_sim* sim = NULL;
    weft_error error;
    weft_status status = scene_load_bytes(cases[1].text, strlen(cases[1].text), &scene, &error);
    status = status == WEFT_OK ? weft_scene_create_sim(scene, 1, &sim, NULL) : status;
    weft_sim_destroy(status == WEFT_OK ? sim : NULL);
    weft_scene_destroy(scene);
    return status;
}

static void memory_may_end_anywhere(void** unused)
{
    (void)unused;
    weft_status status = WEFT_NO_MEMORY;
    for (int fail_at = 1; status != WEFT_OK; fail_at++)
    {
        test_ledger ledger = {.fail_at = fail_at, .fail_on = 1};
        test_ledger_open(&ledger);
        status = run_ledger();
        test_ledger_close();
        assert_int_equal(ledger.live, 0);
        assert_true(status == WEFT_OK || status == WEFT_NO_MEMORY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_step_ends_with_a_crossing), cmocka_unit_test(little_moves),
        cmocka_unit_test(pins_and_others_stay),         cmocka_unit_test(one_plane_is_refused),
        cmocka_unit_test(memory_may_end_anywhere),      cmocka_unit_test(arrays_are_parted_when_asked),
    };
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
