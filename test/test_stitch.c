// Sewing: gaps close, vertices of a seam become one with the mass of all and bend together; the same bits on any number
// of threads, and across a checkpoint before, in the middle of and after it.
#include "common.h"

#include <string.h>

#include "cache/checkpoint.h"
#include "common_run.h"
#include "common_scene.h"
#include "sim/sim.h"

// Two squares of 20 cm face each other, 10 cm apart, around a ball; their left and right sides and tops are sewn.
static const char bag[] =
    "{\"pattern\": {\"panels\": {"
    "\"front\": {\"translation\": [-10, 0, 5], \"vertices\": [[0, 0], [20, 0], [20, 20], [0, 20]], \"edges\": "
    "[{\"endpoints\": [0, 1]}, {\"endpoints\": [1, 2]}, {\"endpoints\": [2, 3]}, {\"endpoints\": [3, 0]}]},\n"
    "\"back\": {\"translation\": [10, 0, -5], \"rotation\": [0, 180, 0], \"vertices\": [[0, 0], [20, 0], [20, 20], [0, "
    "20]], \"edges\": [{\"endpoints\": [0, 1]}, {\"endpoints\": [1, 2]}, {\"endpoints\": [2, 3]}, {\"endpoints\": [3, "
    "0]}]}},\n"
    "\"stitches\": [[{\"panel\": \"front\", \"edge\": 1}, {\"panel\": \"back\", \"edge\": 3}], [{\"panel\": \"front\", "
    "\"edge\": 2}, {\"panel\": \"back\", \"edge\": 2}], [{\"panel\": \"front\", \"edge\": 3}, {\"panel\": \"back\", "
    "\"edge\": 1}]]}}";

// Likewise, the front half as wide again, and the bottom is sewn, too.
static const char gathered[] =
    "{\"pattern\": {\"panels\": {"
    "\"front\": {\"translation\": [-15, 0, 5], \"vertices\": [[0, 0], [30, 0], [30, 20], [0, 20]], \"edges\": "
    "[{\"endpoints\": [0, 1]}, {\"endpoints\": [1, 2]}, {\"endpoints\": [2, 3]}, {\"endpoints\": [3, 0]}]},\n"
    "\"back\": {\"translation\": [10, 0, -5], \"rotation\": [0, 180, 0], \"vertices\": [[0, 0], [20, 0], [20, 20], [0, "
    "20]], \"edges\": [{\"endpoints\": [0, 1]}, {\"endpoints\": [1, 2]}, {\"endpoints\": [2, 3]}, {\"endpoints\": [3, "
    "0]}]}},\n"
    "\"stitches\": [[{\"panel\": \"front\", \"edge\": 1}, {\"panel\": \"back\", \"edge\": 3}], [{\"panel\": \"front\", "
    "\"edge\": 2}, {\"panel\": \"back\", \"edge\": 2}], [{\"panel\": \"front\", \"edge\": 3}, {\"panel\": \"back\", "
    "\"edge\": 1}], [{\"panel\": \"front\", \"edge\": 0}, {\"panel\": \"back\", \"edge\": 0}]]}}";

static const char gathered_scene[] =
    "{\"time_step\": 0.005, \"steps_per_frame\": 1, \"frames\": 120, \"cloth\": [{\"name\": \"bag\", \"mesh\": "
    "{\"pattern\": \"gathered.json\", \"edge\": 0.025}, \"stitch\": {\"close\": 0.3}}], \"obstacles\": [{\"name\": "
    "\"ball\", \"shape\": {\"sphere\": {\"center\": [0, 0.12, 0], \"radius\": 0.045, \"segments\": 12}}}]}";

static const char sewn[] =
    "{\"time_step\": 0.005, \"steps_per_frame\": 1, \"cloth\": [{\"name\": \"bag\", \"mesh\": {\"pattern\": "
    "\"bag.json\", \"edge\": 0.04}, \"stitch\": {\"close\": 0.3}}], \"obstacles\": [{\"name\": \"ball\", \"shape\": "
    "{\"sphere\": {\"center\": [0, 0.12, 0], \"radius\": 0.04, \"segments\": 6}}}]}";

enum
{
    STEPS = 72 // the seams are one before that
};

static weft_sim* bag_sim(int workers)
{
    test_text_write(scene_folder, "bag.json", bag);
    return scene_sim_text(sewn, workers);
}

static weft_sim* gathered_sim(void)
{
    test_text_write(scene_folder, "gathered.json", gathered);
    return scene_sim_text(gathered_scene, 1);
}

static void run(weft_sim* sim, int steps)
{
    for (int k = 0; k < steps; k++)
    {
        weft_error error = {0};
        weft_status status = weft_sim_step(sim, NULL, &error);
        if (status != WEFT_OK)
        {
            fail_msg("step %d: %s", k, error.message);
        }
    }
}

static int positions(const weft_sim* sim, weft_vec3* out)
{
    weft_sim_positions(sim, 0, out);
    return weft_sim_vertex_count(sim, 0);
}

static double gap_max(const weft_sim* sim)
{
    const body* b = &sim->bodies[0];
    weft_vec3 x[1000];
    double most = 0.0;
    assert_true(positions(sim, x) < 1000);
    for (int k = 0; k < b->stitch_count; k++)
    {
        most = fmax(most, v3_length(v3_sub(x[b->stitch[2 * k]], x[b->stitch[2 * k + 1]])));
    }
    return most;
}

static void test_bag(void** unused)
{
    (void)unused;
    weft_sim* sim = bag_sim(1);
    const body* b = &sim->bodies[0];
    run(sim, 1);
    int before = sim->model.vertex_count, outputs = weft_sim_vertex_count(sim, 0);
    double mass = sim->model.total_mass;
    assert_int_equal(b->stitch_count, 3 * 5 + 1);
    assert_true(b->lifted && gap_max(sim) > 0.099);
    run(sim, 29); // half of the time: half of the gap, or less where threads hang loose
    assert_true(gap_max(sim) < 0.051 && gap_max(sim) > 0.02);
    run(sim, STEPS - 30);
    // One vertex for each pair; positions of both outputs are the same to the bit.
    assert_true(b->joined == b->stitch_count && !b->lifted);
    assert_true(gap_max(sim) == 0.0);
    assert_int_equal(sim->model.vertex_count, before - b->stitch_count);
    assert_int_equal(weft_sim_vertex_count(sim, 0), outputs);
    assert_true(fabs(sim->model.total_mass / mass - 1.0) < 1e-12);
    assert_int_equal(sim->model.ties.count, 0);
    // It hangs on the ball, which it is drawn over, and does not fall.
    run(sim, 60);
    weft_vec3 x[1000];
    int count = positions(sim, x);
    double low = INFINITY;
    for (int k = 0; k < count; k++)
    {
        low = fmin(low, x[k].y);
    }
    assert_true(low > -0.1 && low < 0.05);
    weft_sim_destroy(sim);
}

static void test_threads(void** unused)
{
    (void)unused;
    weft_sim *one = bag_sim(1), *three = bag_sim(3);
    weft_vec3 x[1000], y[1000];
    run(one, STEPS);
    run(three, STEPS);
    int count = positions(one, x);
    positions(three, y);
    assert_true(one->bodies[0].joined);
    assert_memory_equal(x, y, (size_t)count * sizeof(x[0]));
    weft_sim_destroy(one);
    weft_sim_destroy(three);
}

// Before the first pair is one, when some are, and when all are.
static void test_resume(void** unused)
{
    (void)unused;
    static const int moments[] = {40, 60, STEPS};
    for (int k = 0; k < 3; k++)
    {
        int at = moments[k];
        weft_sim *sim = k == 1 ? gathered_sim() : bag_sim(1), *other = k == 1 ? gathered_sim() : bag_sim(1);
        weft_vec3 x[1000], y[1000];
        weft_error error = {0};
        run(sim, at);
        int joined = sim->bodies[0].joined, all = sim->bodies[0].stitch_count;
        assert_true(k == 0 ? joined == 0 : k == 1 ? joined > 0 && joined < all : joined == all);
        weft_sim_checkpoint(sim);
        assert_int_equal(checkpoint_write(scene_path("sewn.weft"), sim, 1, &error), WEFT_OK);
        assert_int_equal(sim_build(other, &error), WEFT_OK);
        weft_status status = checkpoint_read(scene_path("sewn.weft"), other, 1, &error);
        if (status != WEFT_OK)
        {
            fail_msg("%s", error.message);
        }
        assert_int_equal(other->bodies[0].joined, sim->bodies[0].joined);
        run(sim, 40);
        run(other, 40);
        int count = positions(sim, x);
        positions(other, y);
        assert_int_equal(sim->bodies[0].joined, all);
        assert_memory_equal(x, y, (size_t)count * sizeof(x[0]));
        weft_sim_destroy(sim);
        weft_sim_destroy(other);
    }
}

// A strip is rolled into a ring by sewing its ends: bending is then all around, and nothing of the seam is straight.
static void test_bending(void** unused)
{
    (void)unused;
    static const char strip[] =
        "{\"time_step\": 0.005, \"steps_per_frame\": 1, \"gravity\": [0, 0, 0], \"contact\": {\"enabled\": false}, "
        "\"cloth\": [{\"mesh\": {\"grid\": {\"size\": [0.4, 0.04], \"cells\": [20, 2]}}, \"material\": {\"bending\": "
        "1e-3, \"damping\": 0.01}, \"stitch\": {\"close\": 0.5, \"pairs\": [[0, 20], [21, 41], [42, 62]]}, \"forces\": "
        "[{\"where\": {\"vertices\": [31]}, \"force\": [0, 1e-3, 0]}]}]}";
    weft_sim* sim = scene_sim_text(strip, 1);
    run(sim, 1);
    int before = sim->model.groups.count > 0 ? sim->model.vertex_count : 0;
    run(sim, 600);
    assert_true(sim->bodies[0].joined);
    assert_int_equal(sim->model.vertex_count, before - 3);
    weft_vec3 x[63];
    positions(sim, x);
    // The angle at the seam is like that elsewhere: a ring of 20 sides turns by 18 degrees at each.
    vec3 a = v3_normalize(v3_sub(x[21 + 20], x[21 + 19])), b = v3_normalize(v3_sub(x[21 + 1], x[21 + 0]));
    double turn = acos(fmin(1.0, v3_dot(a, b))) * 180.0 / PI;
    assert_true(turn > 9.0 && turn < 30.0);
    weft_sim_destroy(sim);
}

// A bag that is gathered along two edges and closes around a ball: no step ends with a crossing, by an inspector that
// shares no code with contact, and every pair becomes one.
static void test_no_crossings(void** unused)
{
    (void)unused;
    test_text_write(scene_folder, "gathered-scene.json", gathered_scene);
    test_text_write(scene_folder, "gathered.json", gathered);
    assert_int_equal(test_shell(scene_folder, "\"$WEFT\" run gathered-scene.json --force -o gathered > /dev/null 2>&1"),
                     0);
    assert_int_equal(test_shell(scene_folder, "\"$WEFT\" inspect gathered > table || { tail -1 table; false; }"), 0);
    weft_sim* sim = gathered_sim();
    run(sim, 120);
    const body* b = &sim->bodies[0];
    assert_int_equal(b->stitch_count, 40);
    assert_int_equal(b->joined, b->stitch_count);
    assert_int_equal(sim->model.ties.count, 0);
    weft_sim_destroy(sim);
}

// Two panels before and behind a wall that is higher than they are, sewn along their tops: straight threads go through
// the wall and would draw the panels against it. They go over it instead.
static void test_over_wall(void** unused)
{
    (void)unused;
    static const char text[] =
        "{\"time_step\": 0.005, \"steps_per_frame\": 1, \"frames\": 140, \"cloth\": [{\"name\": \"strap\", \"mesh\": "
        "{\"pattern\": \"strap.json\", \"edge\": 0.03}, \"stitch\": {\"close\": 0.5}}], \"obstacles\": [{\"name\": "
        "\"wall\", \"shape\": {\"box\": {\"center\": [0, -0.1, 0], \"size\": [0.3, 0.24, 0.08]}}}]}";
    char strap[1024];
    snprintf(strap, sizeof(strap), "%s", bag);
    char* first = strstr(strap, "\"stitches\"");
    strcpy(first, "\"stitches\": [[{\"panel\": \"front\", \"edge\": 2}, {\"panel\": \"back\", \"edge\": 2}]]}}");
    memcpy(strstr(strap, "[-10, 0, 5]"), "[-10,-20,7]", 11);
    memcpy(strstr(strap, "[10, 0, -5]"), "[10,-20,-7]", 11);
    test_text_write(scene_folder, "strap.json", strap);
    weft_sim* sim = scene_sim_text(text, 1);
    run(sim, 140);
    const body* b = &sim->bodies[0];
    assert_int_equal(b->joined, b->stitch_count);
    weft_vec3 x[1000];
    positions(sim, x);
    for (int k = 0; k < 2 * b->stitch_count; k++)
    {
        assert_true(x[b->stitch[k]].y > 0.02);
    }
    weft_sim_destroy(sim);
}

// What cannot be one surface stays tied: three edges in one seam.
static void test_crowded(void** unused)
{
    (void)unused;
    static const char text[] =
        "{\"time_step\": 0.005, \"steps_per_frame\": 1, \"contact\": {\"enabled\": false}, \"cloth\": [{\"mesh\": "
        "{\"grid\": {\"size\": [0.4, 0.2], \"cells\": [4, 2]}}, \"stitch\": {\"close\": 0.1, \"pairs\": [[0, 4], [5, "
        "9], [2, 4], [7, 9]]}}]}";
    weft_sim* sim = scene_sim_text(text, 1);
    run(sim, 80);
    assert_int_equal(sim->bodies[0].joined, 0);
    assert_true(gap_max(sim) < 1.3e-3); // contact leaves them that
    weft_sim_destroy(sim);
}

// Codim-IPC's lines.
static void test_obj(void** unused)
{
    (void)unused;
    static const char text[] = "{\"time_step\": 0.005, \"steps_per_frame\": 1, \"contact\": {\"enabled\": false}, "
                               "\"cloth\": [{\"mesh\": {\"obj\": \"sewn.obj\"}, \"stitch\": {\"close\": 0.1}}]}";
    static const char obj[] = "v 0 0 0\nv 0.1 0 0\nv 0 0 0.1\nv 0.1 0 0.1\nv 0 0.02 0.2\nv 0.1 0.02 0.2\n"
                              "v 0 0.02 0.3\nv 0.1 0.02 0.3\nf 1 3 4 2\nf 5 7 8 6\n";
    char file[1024];
    snprintf(file, sizeof(file), "%sstitch 2 4 5 0\nstitch 3 4 5 1\n", obj);
    test_text_write(scene_folder, "sewn.obj", file);
    weft_sim* sim = scene_sim_text(text, 1);
    run(sim, 40);
    assert_true(sim->bodies[0].joined);
    assert_int_equal(sim->model.vertex_count, 6);
    weft_sim_destroy(sim);
    static const struct
    {
        const char *line, *word;
    } wrong[] = {{"stitch 2 8 5 0\n", "names vertex 8"},
                 {"stitch 2 4 5 1.5\n", "ratio is from 0 to 1"},
                 {"stitch 2.5 4\n", "whole number"},
                 {"stitch 2\n", ""},
                 {"stitch 3 3\n", "itself"}};
    for (size_t k = 0; k < sizeof(wrong) / sizeof(wrong[0]); k++)
    {
        weft_scene* scene = NULL;
        weft_error error = {0};
        snprintf(file, sizeof(file), "%s%s", obj, wrong[k].line);
        test_text_write(scene_folder, "sewn.obj", file);
        weft_status status = scene_load_bytes(text, strlen(text), &scene, &error);
        if (status == WEFT_OK || !strstr(error.message, wrong[k].word) || error.line != 11)
        {
            fail_msg("%zu: status %d, line %d, `%s`", k, status, error.line, error.message);
        }
    }
}

// Points of edges stay apart by what contact leaves them, and no farther: from a scene and from an OBJ file alike.
static void test_points_of_edges(void** unused)
{
    (void)unused;
    static const char obj[] = "v 0 0 0\nv 0.1 0 0\nv 0.025 0 0.1\nv 0.075 0 0.1\nv 0 0.02 0.2\nv 0.1 0.02 0.2\n"
                              "v 0 0.02 0.3\nv 0.1 0.02 0.3\nf 1 3 4 2\nf 5 7 8 6\n";
    static const char text[] = "{\"time_step\": 0.005, \"steps_per_frame\": 1, \"cloth\": [{\"name\": \"c\", \"mesh\": "
                               "{\"obj\": \"points.obj\"}, \"stitch\": {\"close\": 0.2%s}}]}";
    static const char* const files[] = {"", "stitch 2 4 5 0.25\nstitch 3 4 5 0.75\n"};
    static const char* const pairs[] = {", \"pairs\": [[2, [4, 5, 0.25]], [[5, 4, 0.25], 3]]", ""};
    weft_vec3 x[2][8];
    for (int k = 0; k < 2; k++)
    {
        char file[1024], scene[1024];
        snprintf(file, sizeof(file), "%s%s", obj, files[k]);
        snprintf(scene, sizeof(scene), text, pairs[k]);
        test_text_write(scene_folder, "points.obj", file);
        weft_sim* sim = scene_sim_text(scene, 1);
        run(sim, 80);
        assert_int_equal(sim->bodies[0].thread_count, 2);
        positions(sim, x[k]);
        double thickness = sim->bodies[0].thickness;
        for (int v = 0; v < 2; v++)
        {
            vec3 point = v3_madd(x[k][4], v == 0 ? 0.25 : 0.75, v3_sub(x[k][5], x[k][4]));
            double gap = v3_length(v3_sub(x[k][2 + v], point));
            assert_true(gap < 1.3 * thickness && gap > 0.9 * thickness);
        }
        weft_sim_destroy(sim);
    }
    for (int v = 0; v < 8; v++)
    {
        assert_true(v3_length(v3_sub(x[0][v], x[1][v])) < 1e-9);
    }
}

// What is wrong with pairs of a scene is a sentence with their line.
static void test_wrong_pairs(void** unused)
{
    (void)unused;
    static const struct
    {
        const char *pairs, *word;
    } wrong[] = {{"[[0, 25]]", "no vertex 25"},    {"[[0, [3, 25, 0.5]]]", "no vertex 25"},
                 {"[[0, [3, 4, 1.5]]]", "1"},      {"[[0, [3, 4]]]", "[a, b, ratio]"},
                 {"[[0, [3, 3, 0.5]]]", "itself"}, {"[[0, [0, 3, 0.5]]]", "itself"},
                 {"[[2, 2]]", "itself"},           {"[[0, 1, 2]]", "pair"},
                 {"[]", "nothing is sewn"}};
    for (size_t k = 0; k < sizeof(wrong) / sizeof(wrong[0]); k++)
    {
        char text[512];
        weft_scene* scene = NULL;
        weft_error error = {0};
        snprintf(text, sizeof(text),
                 "{\"cloth\": [{\"mesh\": {\"grid\": {\"cells\": 4}},\n\"stitch\": {\"pairs\": %s}}]}", wrong[k].pairs);
        weft_status status = scene_load_bytes(text, strlen(text), &scene, &error);
        if (status == WEFT_OK || !strstr(error.message, wrong[k].word) || error.line != 2)
        {
            fail_msg("%s: status %d, line %d, `%s`", wrong[k].pairs, status, error.line, error.message);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bag),          cmocka_unit_test(test_threads),   cmocka_unit_test(test_resume),
        cmocka_unit_test(test_bending),      cmocka_unit_test(test_crowded),   cmocka_unit_test(test_obj),
        cmocka_unit_test(test_no_crossings), cmocka_unit_test(test_over_wall), cmocka_unit_test(test_points_of_edges),
        cmocka_unit_test(test_wrong_pairs),
    };
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
