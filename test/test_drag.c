// Dragging, as a game does it: a pin that is led somewhere else before each step. It is where it was told to be, and in
// a later round of a motion neither moves nor steps ask for memory. And what a game draws: triangles and segments.
#include "common.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "weft/scene.h"

enum
{
    ROUND = 40, // steps
    SIDE = 17   // vertices
};

#define SHEET(name, at)                                                                                                \
    "{\"name\": \"" name                                                                                               \
    "\", \"mesh\": {\"grid\": {\"size\": 0.5, \"cells\": 16, \"plane\": \"xy\"}}, \"transform\": "                     \
    "{\"translate\": [" at ", 0.6, 0]}, \"pins\": [{\"where\": {\"corner\": [\"top-left\", \"top-right\"]}}]}"

static const char settings[] = "{\"time_step\": 0.016666666666666666, \"model\": \"hooke\", \"cloth\": [";
static const char one[] = SHEET("a", "0") "]}";
static const char apart[] = SHEET("a", "0") ", " SHEET("b", "3") "]}";
static const char over_floor[] = SHEET("a", "0") "], \"obstacles\": [{\"shape\": {\"plane\": {\"size\": 4}}}]}";

static weft_sim* start(const char* rest, const char* method, bool contact)
{
    char text[2048], method_is[64];
    const char* overrides[] = {method_is, contact ? "contact.enabled=true" : "contact.enabled=false"};
    weft_scene* scene = NULL;
    weft_sim* sim = NULL;
    weft_error error = {0};
    snprintf(text, sizeof(text), "%s%s", settings, rest);
    snprintf(method_is, sizeof(method_is), "method=%s", method);
    weft_status status = weft_scene_parse("drag.json", text, overrides, 2, &scene, &error);
    status = status ? status : weft_scene_create_sim(scene, 1, &sim, &error);
    weft_scene_destroy(scene);
    if (status != WEFT_OK)
    {
        fail_msg("%s", error.message);
    }
    return sim;
}

static vec3 way(vec3 from, int step)
{
    double angle = 2.0 * 3.14159265358979 * step / ROUND;
    return v3_add(from, v3(0.05 * (1.0 - cos(angle)), 0.02 * (1.0 - cos(angle)), 0.1 * sin(angle)));
}

static weft_pin_id take(weft_sim* sim, const int* vertex, vec3* at)
{
    vec3 x[SIDE * SIDE];
    weft_pin_id grip = 0;
    weft_pin pin = weft_pin_default();
    pin.vertices = vertex, pin.vertex_count = 1;
    weft_sim_positions(sim, 0, x);
    *at = x[*vertex];
    assert_int_equal(weft_sim_pin(sim, 0, &pin, &grip, NULL), WEFT_OK);
    return grip;
}

// Leads a vertex of the hem around; the vertex is at its target after each step. Allocations of the last round.
static int drag_rounds(weft_sim* sim, int rounds, const test_ledger* l)
{
    const int vertex = SIDE / 2;
    vec3 from, x[SIDE * SIDE];
    weft_pin_id grip = take(sim, &vertex, &from);
    int made = 0;
    for (int k = 1; k <= rounds * ROUND; k++)
    {
        vec3 to = way(from, k);
        made = k == (rounds - 1) * ROUND + 1 ? l->made : made;
        assert_int_equal(weft_sim_move(sim, grip, &to, NULL), WEFT_OK);
        assert_int_equal(weft_sim_step(sim, NULL, NULL), WEFT_OK);
        weft_sim_positions(sim, 0, x);
        assert_true(v3_length(v3_sub(x[vertex], to)) < 1e-12);
    }
    made = l->made - made;
    assert_int_equal(weft_sim_unpin(sim, grip, NULL), WEFT_OK);
    return made;
}

// Cloth alone, cloths in clusters of their own, and with an obstacle. newton lets folds touch in this motion, and
// contact that has not been there before may ask for memory: that is not what is looked at here.
static void test_dragging_allocates_nothing(void** unused)
{
    (void)unused;
    const char* const scenes[] = {one, apart, over_floor};
    const char* const methods[] = {"local-global", "implicit-euler", "newton"};
    for (int k = 0; k < 9; k++)
    {
        test_ledger l = {0};
        test_ledger_open(&l);
        weft_sim* sim = start(scenes[k % 3], methods[k / 3], k < 6);
        int made = drag_rounds(sim, 2, &l);
        weft_sim_destroy(sim);
        test_ledger_close();
        assert_int_equal(made, 0);
        assert_int_equal(l.live, 0);
    }
}

// A pin that is moved twice before a step goes where the second move says, from where it is.
static void test_the_last_move_counts(void** unused)
{
    (void)unused;
    const int vertex = 0;
    vec3 from, x[SIDE * SIDE];
    weft_sim* sim = start(apart, "local-global", true);
    weft_pin_id grip = take(sim, &vertex, &from);
    for (int k = 1; k < 8; k++)
    {
        vec3 astray = v3(5, 5, 5), to = way(from, k);
        assert_int_equal(weft_sim_move(sim, grip, k % 2 ? &astray : &to, NULL), WEFT_OK);
        assert_int_equal(weft_sim_move(sim, grip, &to, NULL), WEFT_OK);
        assert_int_equal(weft_sim_step(sim, NULL, NULL), WEFT_OK);
        weft_sim_positions(sim, 0, x);
        assert_true(v3_length(v3_sub(x[vertex], to)) < 1e-12);
    }
    weft_step_stats stats;
    assert_int_equal(weft_sim_step(sim, &stats, NULL), WEFT_OK); // nobody moves it: it stays
    weft_sim_positions(sim, 0, x);
    assert_true(v3_length(v3_sub(x[vertex], way(from, 7))) < 1e-12);
    weft_sim_destroy(sim);
}

static const char bodies[] =
    SHEET("sheet", "0") "], \"strands\": [{\"mesh\": {\"brush\": {\"count\": [2, 1], \"vertices\": 3, \"length\": "
                        "0.1, \"size\": [0.1, 0.1]}}, \"transform\": {\"translate\": [2, 1, 0]}}], \"volumes\": "
                        "[{\"mesh\": {\"solid\": {\"box\": {\"size\": 0.2, \"cells\": [1, 1, 1]}}}, \"transform\": "
                        "{\"translate\": [4, 1, 0]}}]}";

// All that is drawn of a sheet, strands and a solid: of a box of one cell twelve triangles around it.
static void test_what_is_drawn(void** unused)
{
    (void)unused;
    static const int triangle_counts[] = {2 * 16 * 16, 0, 12}, segment_counts[] = {0, 4, 0};
    weft_sim* sim = start(bodies, "local-global", true);
    int items[6 * 16 * 16];
    vec3 x[SIDE * SIDE];
    double volume = 0.0, area = 0.0;
    for (int b = 0; b < 3; b++)
    {
        assert_int_equal(weft_sim_triangle_count(sim, b), triangle_counts[b]);
        assert_int_equal(weft_sim_segment_count(sim, b), segment_counts[b]);
        weft_sim_positions(sim, b, x);
        weft_sim_triangles(sim, b, items);
        for (int t = 0; t < triangle_counts[b]; t++)
        {
            vec3 a = x[items[3 * t]], n = v3_cross(v3_sub(x[items[3 * t + 1]], a), v3_sub(x[items[3 * t + 2]], a));
            area += b == 0 ? 0.5 * v3_length(n) : 0.0;
            volume += b == 2 ? v3_dot(a, n) / 6.0 : 0.0;
        }
    }
    assert_true(fabs(area - 0.25) < 1e-12);
    assert_true(fabs(volume - 0.008) < 1e-12); // it looks outwards
    weft_sim_segments(sim, 1, items);
    assert_memory_equal(items, ((const int[]){0, 1, 1, 2, 3, 4, 4, 5}), 8 * sizeof(int));
    weft_sim_destroy(sim);
}

// A scene from memory is that of a file: its name stands in messages.
static void test_scenes_from_memory(void** unused)
{
    (void)unused;
    weft_scene* scene = NULL;
    weft_error error = {0};
    assert_int_equal(weft_scene_parse("level1.pak", "{\n\"cloth\": [{\"mesh\": 7}]}", NULL, 0, &scene, &error),
                     WEFT_BAD_INPUT);
    assert_null(scene);
    assert_string_equal(error.file, "level1.pak");
    assert_int_equal(error.line, 2);
    assert_int_equal(weft_scene_parse("pinned", weft_scene_text("curtain"), NULL, 0, &scene, &error), WEFT_OK);
    assert_string_equal(weft_scene_sim_def(scene)->method, "local-global"); // the text counts, not the name
    weft_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dragging_allocates_nothing),
        cmocka_unit_test(test_the_last_move_counts),
        cmocka_unit_test(test_what_is_drawn),
        cmocka_unit_test(test_scenes_from_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
