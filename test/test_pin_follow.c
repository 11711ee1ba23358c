// Pins that follow an obstacle: vertices move as if they were part of it, whether keys move it or samples deform it;
// they may be pinned while it moves, and a checkpoint has them.
#include "common.h"

#include <string.h>

#include "cache/checkpoint.h"
#include "common_run.h"
#include "common_scene.h"
#include "sim/sim.h"

// A box that rises and turns about an upright axis, with a sheet beside it; contact off: pins decide alone.
static const char turning[] =
    "{\"time_step\": 0.02, \"steps_per_frame\": 1, \"contact\": {\"enabled\": false}, \"cloth\": [{\"mesh\": "
    "{\"grid\": "
    "{\"cells\": 2, \"size\": 0.4}}, \"transform\": {\"translate\": [0.3, 0.55, 0.1]}, \"pins\": [{\"where\": "
    "{\"vertices\": [0, 4]}, \"follow\": \"crate\"}]}], \"obstacles\": [{\"name\": \"crate\", \"shape\": {\"box\": "
    "{\"size\": 1}}, \"motion\": {\"path\": [{\"time\": 0}, {\"time\": 1, \"offset\": [0.1, 0.4, 0], \"angle\": 50}], "
    "\"axis\": [0, 1, 0], \"center\": [0.2, 0, 0]}}]}";

static vec3 at_vertex(const weft_sim* sim, int vertex)
{
    weft_vec3 x[9];
    weft_sim_positions(sim, 0, x);
    return x[vertex];
}

// Where the crate takes a point that is there at time 0.
static vec3 taken(vec3 x, double time)
{
    double angle = 50.0 * time * PI / 180.0, c = cos(angle), s = sin(angle);
    vec3 r = v3_sub(x, v3(0.2, 0, 0));
    return v3_add(v3(c * r.x + s * r.z, r.y, -s * r.x + c * r.z), v3(0.2 + 0.1 * time, 0.4 * time, 0));
}

// Coordinates of obstacles are floats.
static void assert_near(vec3 a, vec3 b)
{
    if (v3_length(v3_sub(a, b)) > 1e-6)
    {
        fail_msg("(%.9g, %.9g, %.9g) is not (%.9g, %.9g, %.9g)", a.x, a.y, a.z, b.x, b.y, b.z);
    }
}

static void run(weft_sim* sim, int steps)
{
    for (int k = 0; k < steps; k++)
    {
        assert_int_equal(weft_sim_step(sim, NULL, NULL), WEFT_OK);
    }
}

static void test_turning(void** unused)
{
    (void)unused;
    weft_sim* sim = scene_sim_text(turning, 1);
    vec3 first = at_vertex(sim, 0), second = at_vertex(sim, 4);
    for (int step = 1; step <= 6; step++)
    {
        run(sim, 1);
        assert_near(at_vertex(sim, 0), taken(first, 0.02 * step));
        assert_near(at_vertex(sim, 4), taken(second, 0.02 * step));
    }
    weft_sim_destroy(sim);
}

// Pinned while it moves, from where the vertex is then; through a checkpoint with the same bits.
static void test_later(void** unused)
{
    (void)unused;
    weft_sim *sim = scene_sim_text(turning, 1), *other = scene_sim_text(turning, 1);
    weft_error error = {0};
    run(sim, 3);
    double now = weft_sim_time(sim);
    const int vertex = 8;
    vec3 held = at_vertex(sim, 8);
    weft_pin pin = weft_pin_default();
    pin.vertices = &vertex, pin.vertex_count = 1, pin.follow = "crate";
    weft_pin_id id;
    assert_int_equal(weft_sim_pin(sim, 0, &pin, &id, NULL), WEFT_OK);
    // Back to time 0 as the crate would have brought it from there.
    double angle = -50.0 * now * PI / 180.0, c = cos(angle), s = sin(angle);
    vec3 r = v3_sub(held, v3(0.2 + 0.1 * now, 0.4 * now, 0));
    vec3 home = v3_add(v3(c * r.x + s * r.z, r.y, -s * r.x + c * r.z), v3(0.2, 0, 0));
    run(sim, 2);
    assert_near(at_vertex(sim, 8), taken(home, weft_sim_time(sim)));
    assert_int_equal(weft_sim_remove_obstacle(sim, 0, &error), WEFT_BAD_INPUT);
    assert_non_null(strstr(error.message, "follows"));
    weft_sim_checkpoint(sim);
    assert_int_equal(checkpoint_write(scene_path("follow.weft"), sim, 1, NULL), WEFT_OK);
    assert_int_equal(sim_build(other, NULL), WEFT_OK);
    assert_int_equal(checkpoint_read(scene_path("follow.weft"), other, 1, NULL), WEFT_OK);
    run(sim, 3);
    run(other, 3);
    assert_memory_equal(sim->world.state.x, other->world.state.x, 9 * sizeof(vec3));
    assert_near(at_vertex(sim, 8), taken(home, weft_sim_time(sim)));
    // Moved by hand it follows no more.
    vec3 target = v3_add(at_vertex(sim, 8), v3(0, 0.001, 0));
    assert_int_equal(weft_sim_move(sim, id, &target, NULL), WEFT_OK);
    run(sim, 2);
    assert_near(at_vertex(sim, 8), target);
    weft_sim_destroy(sim);
    weft_sim_destroy(other);
}

// The corners of a triangle that deforms: weights of a face, whatever becomes of it.
static void test_deforming(void** unused)
{
    (void)unused;
    test_text_write(scene_folder, "face.obj", "v 0 0 0\nv 1 0 0\nv 0 0 1\nf 1 3 2\n");
    test_pc2_write(scene_folder, "face.pc2", 3, 0.0f, 3);
    static const char text[] =
        "{\"time_step\": 0.02, \"contact\": {\"enabled\": false}, \"step_control\": {\"max_stretch\": 1e9}, \"cloth\": "
        "[{\"mesh\": {\"grid\": {\"cells\": 1, \"size\": 0.1}}, \"pins\": [{\"where\": {\"edge\": \"all\"}, "
        "\"follow\": \"face\"}]}], \"obstacles\": [{\"name\": \"face\", \"mesh\": {\"obj\": \"face.obj\"}, \"deform\": "
        "{\"pc2\": \"face.pc2\", \"rate\": 10}}]}";
    weft_sim* sim = scene_sim_text(text, 1);
    weft_vec3 face[3];
    run(sim, 1);
    const pin_set* pins = &sim->model.pins;
    assert_int_equal(pins->count, 4);
    for (int step = 0; step < 5; step++)
    {
        assert_int_equal(weft_sim_obstacle_positions(sim, 0, weft_sim_time(sim), face, NULL), WEFT_OK);
        vec3 normal = v3_normalize(v3_cross(v3_sub(face[2], face[0]), v3_sub(face[1], face[0])));
        for (int k = 0; k < 4; k++)
        {
            const pin_follow* f = &pins->motions[pins->pins[k].motion].follow[pins->pins[k].place];
            vec3 wanted = v3_scale(f->offset, normal);
            for (int c = 0; c < 3; c++)
            {
                wanted = v3_madd(wanted, f->weight[c], face[f->face[c]]);
            }
            assert_near(sim->world.state.x[pins->pins[k].vertex], wanted);
        }
        run(sim, 1);
    }
    weft_sim_destroy(sim);
}

static void test_mistakes(void** unused)
{
    (void)unused;
    static const struct
    {
        const char *text, *word;
    } wrong[] = {
        {"{" CLOTH ", \"pins\": [{\"where\": {\"edge\": \"top\"}, \"follow\": \"crate\"}]}]}", "crate"},
        {"{" CLOTH ", \"pins\": [{\"where\": {\"edge\": \"top\"}, \"follow\": \"bal\"}]}], \"obstacles\": [{\"name\": "
         "\"ball\", \"shape\": {\"sphere\": {\"radius\": 1}}}]}",
         "ball"},
        {"{" CLOTH ", \"pins\": [{\"where\": {\"vertices\": [0]}, \"follow\": \"floor\", \"samples\": {\"positions\": "
         "[0, 0, 0]}}]}], \"obstacles\": [{\"name\": \"floor\", \"shape\": {\"plane\": {}}}]}",
         "not both"},
    };
    for (size_t k = 0; k < sizeof(wrong) / sizeof(wrong[0]); k++)
    {
        weft_scene* scene = NULL;
        weft_error error = {0};
        weft_status status = scene_load_bytes(wrong[k].text, strlen(wrong[k].text), &scene, &error);
        if (status == WEFT_OK || !strstr(error.message, wrong[k].word) || error.line != 1)
        {
            fail_msg("%zu: status %d, `%s` instead of `%s`", k, status, error.message, wrong[k].word);
        }
    }
    weft_scene* scene = scene_load_text(turning, NULL, 0);
    assert_non_null(strstr(weft_scene_json(scene), "\"follow\": \"crate\""));
    weft_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_turning),
        cmocka_unit_test(test_later),
        cmocka_unit_test(test_deforming),
        cmocka_unit_test(test_mistakes),
    };
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
