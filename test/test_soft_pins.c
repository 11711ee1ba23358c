// Pins that hold in part: springs to places that move, in every method. Their sag, their way home and their following
// are those of the closed forms; weight 1 is a pin to the bit, and weight 0 nothing.
#include "common.h"

#include <string.h>

#include "cache/checkpoint.h"
#include "common_run.h"
#include "common_scene.h"
#include "sim/sim.h"
#include "step/step.h"

// A free triangle pair, soft in itself and far from anything; contact is off.
#define SHEET(settings, velocity, pins)                                                                                \
    "{" settings ", \"contact\": {\"enabled\": false}, \"cloth\": [{\"mesh\": {\"grid\": {\"cells\": 1, \"size\": "    \
    "0.1}}, \"velocity\": [0, 0, " velocity                                                                            \
    "], \"material\": {\"stretch_warp\": 5, \"stretch_weft\": 5, \"shear\": 1}, \"pins\": [" pins "]}]}"

static vec3 at_vertex(const weft_sim* sim, int vertex)
{
    weft_vec3 x[64];
    weft_sim_positions(sim, 0, x);
    return x[vertex];
}

static void run(weft_sim* sim, int steps)
{
    for (int k = 0; k < steps; k++)
    {
        weft_error error = {0};
        if (weft_sim_step(sim, NULL, &error) != WEFT_OK)
        {
            fail_msg("step %d: %s", k, error.message);
        }
    }
}

static weft_sim* with_method(const char* format, const char* method)
{
    char text[2048];
    snprintf(text, sizeof(text), format, method);
    return scene_sim_text(text, 1);
}

// All vertices have the weight 1/2: they sag by g / stiffness, whatever the method and its step.
static void test_sag(void** unused)
{
    (void)unused;
    for (const method_row* row = method_table; row->method; row++)
    {
        weft_sim* sim = with_method(SHEET("\"method\": \"%s\", \"time_step\": 0.002", "0",
                                          "{\"where\": {\"edge\": \"all\"}, \"weights\": 0.5, \"stiffness\": 400}"),
                                    row->method->name);
        double start = at_vertex(sim, 0).y;
        run(sim, 400); // 16 of the spring's times
        double sag = start - at_vertex(sim, 0).y, wanted = 9.81 / 400.0;
        if (fabs(sag - wanted) > 1e-3 * wanted)
        {
            fail_msg("%s: a sag of %.9g m, not %.9g", row->method->name, sag, wanted);
        }
        weft_sim_destroy(sim);
    }
}

// Places that move on at a constant speed are followed without a lag: dampers go against their motion.
static void test_following(void** unused)
{
    (void)unused;
    for (const method_row* row = method_table; row->method; row++)
    {
        weft_sim* sim = with_method(
            SHEET("\"method\": \"%s\", \"time_step\": 0.002, \"gravity\": [0, 0, 0]", "0",
                  "{\"where\": {\"edge\": \"all\"}, \"weights\": [0.5, 0.5, 0.5, 0.5], \"stiffness\": 400, \"path\": "
                  "[{\"time\": 0}, {\"time\": 10, \"offset\": [5, 0, 0]}]}"),
            row->method->name);
        double start = at_vertex(sim, 3).x;
        run(sim, 400);
        double way = at_vertex(sim, 3).x - start, wanted = 0.5 * 0.8;
        if (fabs(way - wanted) > 1e-5)
        {
            fail_msg("%s: it has come %.9g m, not %.9g", row->method->name, way, wanted);
        }
        weft_sim_destroy(sim);
    }
}

// The way home of a critically damped spring that starts with the speed 1: t exp(-w t), which is 1 / (w e) at most.
static void test_way_home(void** unused)
{
    (void)unused;
    static const struct
    {
        const char* method;
        double error; // times 1 / w: order 1 and order 2
    } expected[] = {{"implicit-euler", 0.01}, {"newton", 0.01}, {"local-global", 0.01}, {"imex", 0.01}, {"pbd", 0.01},
                    {"explicit", 0.01},       {"bdf2", 1e-3},   {"imex2", 1e-3},        {"hpbd", 0.01}};
    for (size_t k = 0; k < sizeof(expected) / sizeof(expected[0]); k++)
    {
        weft_sim* sim = with_method(SHEET("\"method\": \"%s\", \"time_step\": 0.001, \"gravity\": [0, 0, 0]", "1",
                                          "{\"where\": {\"edge\": \"all\"}, \"weights\": 0.5, \"stiffness\": 400}"),
                                    expected[k].method);
        double start = at_vertex(sim, 0).z, worst = 0.0;
        for (int step = 1; step <= 200; step++)
        {
            run(sim, 1);
            double t = 0.001 * step, away = 20.0 * t * exp(-20.0 * t);
            worst = fmax(worst, fabs((at_vertex(sim, 0).z - start) / 0.05 - away));
        }
        if (worst > expected[k].error)
        {
            fail_msg("%s: off by %.3g", expected[k].method, worst);
        }
        weft_sim_destroy(sim);
    }
}

// Weight 1 is a pin and weight 0 nothing, to the bit.
static void test_ends(void** unused)
{
    (void)unused;
    static const char* const pairs[][2] = {
        {"{\"where\": {\"vertices\": [0, 1]}}", "{\"where\": {\"vertices\": [0, 1]}, \"weights\": 1}"},
        {"{\"where\": {\"vertices\": [0]}}", "{\"where\": {\"vertices\": [0, 1]}, \"weights\": [1, 0]}"}};
    for (int k = 0; k < 2; k++)
    {
        weft_sim* sims[2];
        for (int side = 0; side < 2; side++)
        {
            char text[1024];
            snprintf(text, sizeof(text), SHEET("\"time_step\": 0.004", "0", "%s"), pairs[k][side]);
            sims[side] = scene_sim_text(text, 1);
            run(sims[side], 10);
        }
        assert_memory_equal(sims[0]->world.state.x, sims[1]->world.state.x, 4 * sizeof(vec3));
        weft_sim_destroy(sims[0]);
        weft_sim_destroy(sims[1]);
    }
}

// What a line or a plane leaves free stays so.
static void test_directions(void** unused)
{
    (void)unused;
    static const char* const methods[] = {"implicit-euler", "newton", "local-global", "pbd", "explicit"};
    for (int k = 0; k < 5; k++)
    {
        weft_sim* sim = with_method(
            SHEET("\"method\": \"%s\", \"time_step\": 0.002, \"gravity\": [0, -1, 0]", "0",
                  "{\"where\": {\"edge\": \"all\"}, \"weights\": 0.5, \"stiffness\": 400, \"fix\": {\"line\": [0, 1, "
                  "0]}, \"path\": [{\"time\": 0}, {\"time\": 1e-6, \"offset\": [0.01, 0.3, 0]}]}"),
            methods[k]);
        vec3 start = at_vertex(sim, 0);
        run(sim, 200);
        vec3 way = v3_sub(at_vertex(sim, 0), start);
        if (fabs(way.x - 0.01) > 1e-4 || fabs(way.y + 0.08) > 1e-3)
        {
            fail_msg("%s: it went (%g, %g), not (0.01, -0.08)", methods[k], way.x, way.y);
        }
        weft_sim_destroy(sim);
    }
}

// A banner held by its top edge with weights that fade over 0.1 m, refined: the sag of its lower edge stays.
static void test_refined(void** unused)
{
    (void)unused;
    double low[2];
    for (int k = 0; k < 2; k++)
    {
        char text[1024];
        snprintf(text, sizeof(text),
                 "{\"method\": \"newton\", \"time_step\": 0.05, \"contact\": {\"enabled\": false}, \"cloth\": "
                 "[{\"mesh\": {\"grid\": {\"cells\": [1, %d], \"size\": [0.1, 0.4], \"plane\": \"xy\"}}, \"pins\": "
                 "[{\"where\": {\"edge\": \"top\"}, \"weights\": 0.9, \"fade\": 0.1, \"stiffness\": 1000}]}]}",
                 k == 0 ? 32 : 64);
        weft_sim* sim = scene_sim_text(text, 1);
        int count = weft_sim_vertex_count(sim, 0);
        weft_vec3 x[256];
        run(sim, 40);
        weft_sim_positions(sim, 0, x);
        low[k] = INFINITY;
        for (int i = 0; i < count; i++)
        {
            low[k] = fmin(low[k], x[i].y);
        }
        weft_sim_destroy(sim);
    }
    double sag[2] = {-0.2 - low[0], -0.2 - low[1]};
    if (!(sag[0] > 0.005) || fabs(sag[0] - sag[1]) > 0.02 * sag[1])
    {
        fail_msg("sags of %.6g and %.6g m", sag[0], sag[1]);
    }
}

// Following a box that turns, beside held ones, with contact: through a checkpoint, and on more threads, the same bits;
// made anew by an edit it is another pin.
static void test_same_bits(void** unused)
{
    (void)unused;
    static const char text[] =
        "{\"time_step\": 0.01, \"cloth\": [{\"mesh\": {\"grid\": {\"cells\": 6, \"size\": 0.4}}, \"transform\": "
        "{\"translate\": [0, 0.52, 0]}, \"pins\": [{\"where\": {\"edge\": \"top\"}, \"fade\": 0.2, \"follow\": "
        "\"crate\"}]}], \"obstacles\": [{\"name\": \"crate\", \"shape\": {\"box\": {\"size\": 1}}, \"motion\": "
        "{\"path\": [{\"time\": 0}, {\"time\": 1, \"offset\": [0.1, 0.4, 0], \"angle\": 50}], \"axis\": [0, 1, 0]}}]}";
    weft_sim *sim = scene_sim_text(text, 1), *wide = scene_sim_text(text, 3), *other = scene_sim_text(text, 1);
    assert_int_equal(sim_build(sim, NULL), WEFT_OK);
    assert_true(sim->model.pins.soft_count > 0 && sim->model.pins.soft_follow);
    run(sim, 5);
    weft_sim_checkpoint(sim);
    assert_int_equal(checkpoint_write(scene_path("soft.weft"), sim, 1, NULL), WEFT_OK);
    assert_int_equal(sim_build(other, NULL), WEFT_OK);
    assert_int_equal(checkpoint_read(scene_path("soft.weft"), other, 1, NULL), WEFT_OK);
    run(wide, 5);
    weft_sim_checkpoint(wide);
    run(sim, 5);
    run(other, 5);
    run(wide, 5);
    assert_memory_equal(sim->world.state.x, other->world.state.x, 49 * sizeof(vec3));
    assert_memory_equal(sim->world.state.x, wide->world.state.x, 49 * sizeof(vec3));
    // An edit, and its checkpoint.
    const int vertices[] = {40, 41};
    const double weights[] = {0.9, 0.3};
    weft_pin pin = weft_pin_default();
    pin.vertices = vertices, pin.vertex_count = 2, pin.weights = weights;
    weft_pin_id id;
    assert_int_equal(weft_sim_pin(sim, 0, &pin, &id, NULL), WEFT_OK);
    run(sim, 2);
    weft_sim_checkpoint(sim);
    assert_int_equal(checkpoint_write(scene_path("soft.weft"), sim, 1, NULL), WEFT_OK);
    weft_sim* edited = scene_sim_text(text, 1);
    assert_int_equal(sim_build(edited, NULL), WEFT_OK);
    assert_int_equal(checkpoint_read(scene_path("soft.weft"), edited, 1, NULL), WEFT_OK);
    run(sim, 2);
    run(edited, 2);
    assert_memory_equal(sim->world.state.x, edited->world.state.x, 49 * sizeof(vec3));
    const double bad[] = {0.9, 1.5};
    weft_error error = {0};
    pin.weights = bad;
    assert_int_equal(weft_sim_pin(sim, 0, &pin, &id, &error), WEFT_BAD_INPUT);
    assert_non_null(strstr(error.message, "vertex 41 the weight 1.5"));
    weft_sim_destroy(sim);
    weft_sim_destroy(other);
    weft_sim_destroy(wide);
    weft_sim_destroy(edited);
}

static void test_mistakes(void** unused)
{
    (void)unused;
    static const struct
    {
        const char *pin, *word;
    } wrong[] = {
        {"{\"where\": {\"vertices\": [0, 1]}, \"weights\": [1]}", "2 selected vertices"},
        {"{\"where\": {\"vertices\": [0, 1]}, \"weights\": [1, 2]}", "at most 1"},
        {"{\"where\": {\"vertices\": [0, 1]}, \"weights\": \"soft\"}", "number from 0 to 1"},
        {"{\"where\": {\"vertices\": [0]}, \"fade\": 0}", "fade"},
        {"{\"where\": {\"vertices\": [0]}, \"weights\": 0.5, \"stiffness\": -1}", "stiffness"},
    };
    for (size_t k = 0; k < sizeof(wrong) / sizeof(wrong[0]); k++)
    {
        char text[1024];
        snprintf(text, sizeof(text), "{" CLOTH ", \"pins\": [%s]}]}", wrong[k].pin);
        weft_scene* scene = NULL;
        weft_error error = {0};
        weft_status status = scene_load_bytes(text, strlen(text), &scene, &error);
        if (status == WEFT_OK || !strstr(error.message, wrong[k].word) || error.line != 1)
        {
            fail_msg("%zu: status %d, `%s` instead of `%s`", k, status, error.message, wrong[k].word);
        }
    }
    // Written out, a pin that fades is its vertices and their weights.
    weft_scene* scene =
        scene_load_text("{" CLOTH ", \"pins\": [{\"where\": {\"vertices\": [0]}, \"fade\": 10}]}]}", NULL, 0);
    assert_non_null(strstr(weft_scene_json(scene), "\"weights\": [1"));
    weft_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sag),       cmocka_unit_test(test_following),  cmocka_unit_test(test_way_home),
        cmocka_unit_test(test_ends),      cmocka_unit_test(test_directions), cmocka_unit_test(test_refined),
        cmocka_unit_test(test_same_bits), cmocka_unit_test(test_mistakes),
    };
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
