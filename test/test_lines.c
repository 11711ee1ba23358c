// Elastic bands and pressed folds along edges: their shortening and their angles against closed forms, on seams as
// well, and pleats, darts, gathers.
#include "common.h"

#include <string.h>

#include "common_run.h"
#include "common_scene.h"
#include "material/spring.h"
#include "sim/sim.h"

enum
{
    MOST = 2048
};

static vec3 places[MOST];

static weft_sim* ran(const char* text, int steps)
{
    weft_sim* sim = scene_sim_text(text, 1);
    for (int k = 0; k < steps; k++)
    {
        weft_error error = {0};
        if (weft_sim_step(sim, NULL, &error) != WEFT_OK)
        {
            fail_msg("step %d: %s", k, error.message);
        }
    }
    assert_true(weft_sim_vertex_count(sim, 0) <= MOST);
    weft_sim_positions(sim, 0, places);
    return sim;
}

static const element_group* springs_of(const weft_sim* sim)
{
    return element_groups_find(&sim->model.groups, &kind_spring);
}

// A strip with bands along both long edges: its length is where their tension and the cloth's pressure are equal,
// 2 E (l / s - 1) + k w (l - 1) = 0.
static void test_band(void** unused)
{
    (void)unused;
    static const char* const methods[] = {"newton", "implicit-euler", "local-global", "pbd", "bdf2"};
    double band = 20.0, scale = 0.8, stretch = 5000.0, width = 0.04;
    double wanted = (2.0 * band + stretch * width) / (2.0 * band / scale + stretch * width);
    for (int k = 0; k < 5; k++)
    {
        char text[1024];
        snprintf(
            text, sizeof(text),
            "{\"method\": \"%s\", \"time_step\": 0.005, \"gravity\": [0, 0, 0], \"contact\": {\"enabled\": false}, "
            "\"pbd\": {\"iterations\": 100}, \"cloth\": [{\"mesh\": {\"grid\": {\"cells\": [24, 2], \"size\": [0.48, "
            "0.04]}}, \"bands\": "
            "[{\"where\": {\"edge\": [\"top\", \"bottom\"]}, \"rest_scale\": 0.8}]}]}",
            methods[k]);
        weft_sim* sim = ran(text, 120);
        assert_int_equal(springs_of(sim)->count, 48);
        // Row 1 of three, away from its ends.
        double found = v3_length(v3_sub(places[25 + 18], places[25 + 6])) / (12 * 0.02);
        if (fabs(found - wanted) > 0.05 * (1.0 - wanted))
        {
            fail_msg("%s: %.6g of its length, not %.6g", methods[k], found, wanted);
        }
        weft_sim_destroy(sim);
    }
}

static double angle_between(const int* left, const int* right)
{
    vec3 a = v3_cross(v3_sub(places[left[1]], places[left[0]]), v3_sub(places[left[2]], places[left[0]]));
    vec3 b = v3_cross(v3_sub(places[right[1]], places[right[0]]), v3_sub(places[right[2]], places[right[0]]));
    return acos(v3_dot(a, b) / (v3_length(a) * v3_length(b))) * 180.0 / PI;
}

// A strip that is folded along its middle, free in space: it takes the angle, and both halves stay flat.
static void test_fold(void** unused)
{
    (void)unused;
    static const char* const bendings[] = {"curvature", "hinge", "exact"};
    for (int k = 0; k < 6; k++)
    {
        char text[1024];
        double angle = k < 3 ? 60.0 : -100.0;
        snprintf(text, sizeof(text),
                 "{\"time_step\": 0.01, \"gravity\": [0, 0, 0], \"contact\": {\"enabled\": false}, \"cloth\": "
                 "[{\"mesh\": {\"grid\": {\"cells\": [8, 2], \"size\": [0.08, 0.02]}}, \"model\": {\"bending\": "
                 "\"%s\"}, \"material\": {\"bending\": 1e-3}, \"folds\": [{\"where\": {\"box\": {\"min\": [-1e-6, -1, "
                 "-1], \"max\": [1e-6, 1, 1]}}, \"rest_angle\": %g}]}]}",
                 bendings[k % 3], angle);
        weft_sim* sim = ran(text, 100);
        const int left[3] = {0, 3, 18}, right[3] = {5, 8, 23};
        double found = angle_between(left, right);
        // Both wings lean towards the normal, +y: the ends are above the middle.
        bool up = places[9].y + places[17].y > 2.0 * places[13].y;
        if (fabs(found - fabs(angle)) > 1.0 || up != (angle > 0.0))
        {
            fail_msg("%s: an angle of %g degrees, %s, not %g", bendings[k % 3], found, up ? "up" : "down", angle);
        }
        weft_sim_destroy(sim);
    }
}

// Knife by knife: folds to and fro make a sheet as narrow as cos(angle / 2) of its width.
static void test_pleats(void** unused)
{
    (void)unused;
    char folds[2048] = "";
    for (int k = 1; k < 8; k++)
    {
        size_t used = strlen(folds);
        double x = -0.16 + 0.04 * k;
        snprintf(folds + used, sizeof(folds) - used,
                 "%s{\"where\": {\"box\": {\"min\": [%g, -1, -1], \"max\": [%g, 1, 1]}}, \"rest_angle\": %d}",
                 k > 1 ? ", " : "", x - 1e-6, x + 1e-6, k % 2 ? 100 : -100);
    }
    char text[4096];
    snprintf(text, sizeof(text),
             "{\"time_step\": 0.01, \"gravity\": [0, 0, 0], \"cloth\": [{\"mesh\": {\"grid\": {\"cells\": [16, 4], "
             "\"size\": [0.32, 0.08]}}, \"material\": {\"bending\": 1e-3}, \"folds\": [%s]}]}",
             folds);
    weft_sim* sim = ran(text, 200);
    double found = v3_length(v3_sub(places[2 * 17 + 14], places[2 * 17 + 2])) / 0.24, wanted = cos(50.0 * PI / 180.0);
    if (fabs(found - wanted) > 0.02)
    {
        fail_msg("%g of its width, not %g", found, wanted);
    }
    weft_sim_destroy(sim);
}

// Two squares with a band along their seam: it is there before the seam is one and after, on both sides.
static void test_seam(void** unused)
{
    (void)unused;
    test_text_write(
        scene_folder, "squares.json",
        "{\"pattern\": {\"panels\": {\"a\": {\"vertices\": [[0, 0], [20, 0], [20, 20], [0, 20]], \"edges\": "
        "[{\"endpoints\": [0, 1]}, {\"endpoints\": [1, 2]}, {\"endpoints\": [2, 3]}, {\"endpoints\": [3, 0]}], "
        "\"translation\": [0, 0, 0], \"rotation\": [0, 0, 0]}, \"b\": {\"vertices\": [[0, 0], [20, 0], [20, 20], [0, "
        "20]], \"edges\": [{\"endpoints\": [0, 1]}, {\"endpoints\": [1, 2]}, {\"endpoints\": [2, 3]}, {\"endpoints\": "
        "[3, 0]}], \"translation\": [22, 0, 0], \"rotation\": [0, 0, 0]}}, \"stitches\": [[{\"panel\": \"a\", "
        "\"edge\": "
        "1}, {\"panel\": \"b\", \"edge\": 3}]]}, \"properties\": {\"units_in_meter\": 100}}");
    static const char text[] =
        "{\"time_step\": 0.01, \"gravity\": [0, 0, 0], \"cloth\": [{\"mesh\": {\"pattern\": \"squares.json\", "
        "\"edge\": "
        "0.05}, \"stitch\": {\"close\": 0.3}, \"bands\": [{\"where\": {\"seam\": 0}, \"rest_scale\": 0.7, "
        "\"stiffness\": 50}]}]}";
    weft_sim* sim = ran(text, 1);
    assert_int_equal(springs_of(sim)->count, 8);
    weft_sim_destroy(sim);
    sim = ran(text, 80);
    const body* b = &sim->bodies[0];
    assert_int_equal(b->joined, b->stitch_count);
    // One edge of the mesh has one band by now: its spring is that of the seam.
    assert_int_equal(springs_of(sim)->count, 4);
    double length = 0.0;
    for (int k = 0; k < 4; k++)
    {
        const int* v = springs_of(sim)->vertices + 2 * k;
        length += v3_length(v3_sub(sim->world.state.x[v[0]], sim->world.state.x[v[1]]));
    }
    assert_true(length < 0.195 && length > 0.14);
    weft_sim_destroy(sim);
}

static void test_mistakes(void** unused)
{
    (void)unused;
    static const struct
    {
        const char *keys, *word;
    } wrong[] = {
        {"\"bands\": [{\"where\": {\"edge\": \"top\"}}]", "rest_scale"},
        {"\"bands\": [{\"where\": {\"nearest\": [0, 0, 0]}, \"rest_scale\": 1}]", "no edge"},
        {"\"bands\": [{\"where\": {\"edge\": \"top\"}, \"rest_scale\": 0}]", "rest_scale"},
        {"\"bands\": [{\"where\": {\"seam\": 0}, \"rest_scale\": 1}]", "only sewing patterns"},
        {"\"folds\": [{\"where\": {\"edge\": \"top\"}, \"rest_angle\": 180}]", "170"},
        {"\"folds\": [{\"where\": {\"edge\": \"top\"}}]", "rest_angle"},
    };
    for (size_t k = 0; k < sizeof(wrong) / sizeof(wrong[0]); k++)
    {
        char text[1024];
        snprintf(text, sizeof(text), "{" CLOTH ", %s}]}", wrong[k].keys);
        weft_scene* scene = NULL;
        weft_error error = {0};
        weft_status status = scene_load_bytes(text, strlen(text), &scene, &error);
        if (status == WEFT_OK || !strstr(error.message, wrong[k].word) || error.line != 1)
        {
            fail_msg("%zu: status %d, `%s` instead of `%s`", k, status, error.message, wrong[k].word);
        }
    }
    static const struct
    {
        const char *keys, *word;
    } refused[] = {
        {"\"bands\": [{\"where\": {\"vertices\": [0, 24]}, \"rest_scale\": 1}]", "has no edge"},
        {"\"tear\": 100, \"bands\": [{\"where\": {\"edge\": \"top\"}, \"rest_scale\": 1}]", "do not tear"},
        {"\"model\": \"choi-ko\", \"folds\": [{\"where\": {\"edge\": \"all\"}, \"rest_angle\": 1}]", "rest angles"},
    };
    for (size_t k = 0; k < sizeof(refused) / sizeof(refused[0]); k++)
    {
        char text[1024];
        snprintf(text, sizeof(text), "{" CLOTH ", %s}]}", refused[k].keys);
        weft_scene* scene = scene_load_text(text, NULL, 0);
        weft_sim* sim = NULL;
        weft_error error = {0};
        weft_status status = weft_scene_create_sim(scene, 1, &sim, &error);
        if (status == WEFT_OK || !strstr(error.message, refused[k].word))
        {
            fail_msg("%zu: status %d, `%s` instead of `%s`", k, status, error.message, refused[k].word);
        }
        weft_sim_destroy(sim);
        weft_scene_destroy(scene);
    }
}

// A dart: three quarters of a disc, whose cut is sewn, are a cone whose rim is three quarters as wide. It starts as
// flat as its pattern but for a little, which says to which side.
static void test_dart(void** unused)
{
    (void)unused;
    enum
    {
        RINGS = 8,
        AROUND = 27
    };
    static char obj[65536];
    const double radius = 0.2, share = 0.75;
    size_t used = 0;
    for (int k = 0; k < RINGS * (AROUND + 1); k++)
    {
        double r = radius * (k / (AROUND + 1) + 1) / RINGS, a = 2.0 * PI * share * (k % (AROUND + 1)) / AROUND;
        used += (size_t)snprintf(obj + used, sizeof(obj) - used, "v %.9g %.9g %.9g\nvt %.9g %.9g\n", r * cos(a),
                                 -0.1 * r, r * sin(a), r * cos(a), r * sin(a));
    }
    used += (size_t)snprintf(obj + used, sizeof(obj) - used, "v 0 0 0\nvt 0 0\n");
    int tip = RINGS * (AROUND + 1) + 1;
    char pairs[1024] = "";
    for (int ring = 0; ring < RINGS; ring++)
    {
        int first = ring * (AROUND + 1) + 1;
        size_t at = strlen(pairs);
        snprintf(pairs + at, sizeof(pairs) - at, "%s[%d, %d]", ring > 0 ? ", " : "", first - 1, first - 1 + AROUND);
        for (int k = 0; k < AROUND; k++)
        {
            int a = first + k, b = a + 1, c = ring > 0 ? a - AROUND - 1 : tip, d = c + 1;
            used += (size_t)snprintf(obj + used, sizeof(obj) - used, "f %d/%d %d/%d %d/%d\n", a, a, c, c, b, b);
            used += ring > 0
                        ? (size_t)snprintf(obj + used, sizeof(obj) - used, "f %d/%d %d/%d %d/%d\n", b, b, c, c, d, d)
                        : 0;
        }
    }
    scene_write_bytes(scene_path("dart.obj"), obj, used);
    char text[2048];
    snprintf(text, sizeof(text),
             "{\"time_step\": 0.01, \"gravity\": [0, 0, 0], \"cloth\": [{\"mesh\": {\"obj\": \"%s\"}, \"rest\": "
             "\"uv\", \"material\": {\"bending\": 1e-6}, \"stitch\": {\"close\": 0.5, \"pairs\": [%s]}}]}",
             scene_path("dart.obj"), pairs);
    weft_sim* sim = ran(text, 150);
    double height = 0.0, rim = 0.0;
    vec3 middle = v3(0, 0, 0);
    const vec3* outer = places + (RINGS - 1) * (AROUND + 1);
    for (int k = 0; k < AROUND; k++)
    {
        middle = v3_madd(middle, 1.0 / AROUND, outer[k]);
    }
    for (int k = 0; k < AROUND; k++)
    {
        rim += v3_length(v3_sub(outer[k], middle)) / AROUND;
    }
    height = v3_length(v3_sub(places[tip - 1], middle));
    double wanted = radius * sqrt(1.0 - share * share);
    for (int ring = 0; ring < RINGS; ring++)
    {
        const vec3* one = places + ring * (AROUND + 1);
        assert_true(v3_length(v3_sub(one[0], one[AROUND])) == 0.0); // one vertex
    }
    if (fabs(height - wanted) > 0.03 * wanted || fabs(rim - share * radius) > 0.03 * share * radius)
    {
        fail_msg("a cone of %g, %g wide, not of %g, %g wide", height, rim, wanted, share * radius);
    }
    weft_sim_destroy(sim);
}

// A strip of 45 cm sewn to one of 30 cm is gathered: all of the seam, and with it the upper edge of the strip, is
// between the two long, nearer to the shorter where that is the stiffer; both edges have the same places.
static void test_gathers(void** unused)
{
    (void)unused;
    static const char pattern[] =
        "{\"pattern\": {\"panels\": {"
        "\"band\": {\"translation\": [0, 21, 0], \"vertices\": [[0, 0], [30, 0], [30, 6], [0, 6]], \"edges\": "
        "[{\"endpoints\": [0, 1]}, {\"endpoints\": [1, 2]}, {\"endpoints\": [2, 3]}, {\"endpoints\": [3, 0]}]}, "
        "\"skirt\": {\"translation\": [-7.5, 0, 0], \"vertices\": [[0, 0], [45, 0], [45, 20], [0, 20]], \"edges\": "
        "[{\"endpoints\": [0, 1]}, {\"endpoints\": [1, 2]}, {\"endpoints\": [2, 3]}, {\"endpoints\": [3, 0]}]}}, "
        "\"stitches\": [[{\"panel\": \"band\", \"edge\": 0}, {\"panel\": \"skirt\", \"edge\": 2}]]}}";
    scene_write_bytes(scene_path("gathers.json"), pattern, strlen(pattern));
    char text[1024];
    snprintf(text, sizeof(text),
             "{\"time_step\": 0.01, \"gravity\": [0, 0, 0], \"contact\": {\"enabled\": false}, \"cloth\": "
             "[{\"mesh\": {\"pattern\": \"%s\", \"edge\": 0.025}, \"stitch\": {\"close\": 0.5}}]}",
             scene_path("gathers.json"));
    weft_sim* sim = ran(text, 150);
    const body* b = &sim->bodies[0];
    int same = 0;
    double length = 0.0;
    assert_true(b->stitch_count > 10 && b->joined == b->stitch_count);
    for (int k = 0; k < b->stitch_count; k++)
    {
        same += v3_length(v3_sub(places[b->stitch[2 * k]], places[b->stitch[2 * k + 1]])) == 0.0;
        length += k > 0 ? v3_length(v3_sub(places[b->stitch[2 * k]], places[b->stitch[2 * k - 2]])) : 0.0;
    }
    assert_int_equal(same, b->stitch_count);
    assert_true(length > 0.29 && length < 0.45);
    weft_sim_destroy(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_band),     cmocka_unit_test(test_fold),    cmocka_unit_test(test_pleats),
        cmocka_unit_test(test_dart),     cmocka_unit_test(test_gathers), cmocka_unit_test(test_seam),
        cmocka_unit_test(test_mistakes),
    };
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
