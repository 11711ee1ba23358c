// Step control: what the stats say of a step that falls back on another method, and a step that fails for want of
// memory, wherever that happens: the state is that before the step, and the same step tried again gives the same bits.
#include "common.h"

#include <string.h>

#include "common_scene.h"
#include "contact/contact.h"
#include "core/core.h"
#include "sim/sim.h"
#include "step/step.h"
#include "weft/weft.h"

// ---- stages

#define HANGING(time_step)                                                                                             \
    "{\"time_step\": " time_step                                                                                       \
    ", \"step_control\": {\"max_halvings\": 0}, \"cloth\": [{\"mesh\": {\"grid\": {\"cells\": 8}}, \"pins\": "         \
    "[{\"where\": {\"corner\": [\"top-left\", \"top-right\"]}}]}]}"

static double stage_time(const weft_step_stats* s, const char* name, int* count)
{
    double time = 0.0;
    *count = 0;
    for (int k = 0; k < s->stage_count; k++)
    {
        if (strcmp(s->stage_name[k], name) == 0)
        {
            time += s->stage_s[k];
            ++*count;
        }
    }
    return time;
}

// Every stage once, those of the fallback only where it ran, and together no longer than the step.
static void test_stages_go_by_name(void** unused)
{
    (void)unused;
    int fallbacks = 0;
    weft_sim* sim = NULL;
    static const char* const every[] = {"detect", "constrain", "assemble", "solve", "advance", "judge", "respond"};
    static const char* const scenes[] = {HANGING("0.002"), HANGING("0.05")};
    for (int turn = 0; turn < 24; turn++)
    {
        sim = turn % 12 == 0 ? (weft_sim_destroy(sim), scene_sim_text(scenes[turn / 12], 1)) : sim;
        weft_step_stats s;
        weft_error error;
        assert_int_equal(weft_sim_step(sim, &s, &error), WEFT_OK);
        bool fell_back = weft_step_counter(&s, "newton_iterations") > 0.0;
        double sum = 0.0;
        int count;
        fallbacks += fell_back;
        for (size_t k = 0; k < sizeof(every) / sizeof(every[0]); k++)
        {
            sum += stage_time(&s, every[k], &count);
            assert_true(count <= 1);
        }
        sum += stage_time(&s, "minimise", &count);
        assert_int_equal(count, fell_back);
        stage_time(&s, "solve", &count);
        assert_int_equal(count, 1);
        assert_true(s.stage_count <= (int)(sizeof(every) / sizeof(every[0])) + fell_back);
        assert_true(sum > 0.0 && sum <= s.step_s);
    }
    weft_sim_destroy(sim);
    assert_true(fallbacks > 0 && fallbacks < 24);
}

// ---- no memory

// Contact that begins after some steps, with obstacles and with cloth; ties; a press that closes on the cloth, so that
// pairs are listed after the step was accepted; both methods, solvers of every family.
static const struct
{
    const char* name;
    const char* text;
    int steps;
} memory_scenes[] = {
    {"hanging", "{\"air\": {}, " CLOTH ", \"pins\": [{\"where\": {\"edge\": \"top\"}}]}]}", 3},
    {"no contact", "{\"contact\": {\"enabled\": false}, " CLOTH "}]}", 3},
    {"newton", "{\"method\": \"newton\", " CLOTH ", \"pins\": [{\"where\": {\"edge\": \"top\"}}]}]}", 3},
    {"falling",
     "{\"time_step\": 0.005, \"solver\": \"diag-ppcg\", \"cloth\": [{\"mesh\": {\"grid\": {\"cells\": 3, \"size\": "
     "0.1}}, \"transform\": {\"translate\": [0, 0.0012, 0]}, \"velocity\": [0, -0.05, 0]}, {\"mesh\": {\"grid\": "
     "{\"cells\": 2, \"size\": 0.06}}, \"transform\": {\"translate\": [0, 0.004, 0]}, \"velocity\": [0, -0.3, 0]}], "
     "\"obstacles\": [{\"shape\": {\"plane\": {}}}]}",
     5},
    {"falling by newton",
     "{\"time_step\": 0.005, \"method\": \"newton\", \"solver\": \"cholesky\", \"cloth\": [{\"mesh\": {\"grid\": "
     "{\"cells\": 3, \"size\": 0.1}}, \"transform\": {\"translate\": [0, 0.0012, 0]}, \"velocity\": [0, -0.05, 0]}], "
     "\"obstacles\": [{\"shape\": {\"sphere\": {\"center\": [0, -0.1, 0], \"radius\": 0.1, \"segments\": 2}}}]}",
     4},
    {"ties",
     "{\"cloth\": [{\"name\": \"a\", \"mesh\": {\"grid\": {\"cells\": 3}}, \"pins\": [{\"where\": {\"edge\": "
     "\"top\"}}]}, {\"name\": \"b\", \"mesh\": {\"grid\": {\"cells\": 2, \"size\": 0.2}}, \"transform\": "
     "{\"translate\": [0, 0.01, 0]}}], \"ties\": [{\"cloth\": \"b\", \"to\": \"a\"}]}",
     3},
    {"multigrid", "{\"solver\": {\"name\": \"sa-ppcg\", \"sa\": {\"coarsest\": 12}}, " CLOTH "}]}", 1},
    {"press", scene_press, 10},
};

enum
{
    SCENE_COUNT = sizeof(memory_scenes) / sizeof(memory_scenes[0]),
    STEPS_MAX = 16,
    POINTS_MAX = 64
};

// Where a simulation is.
typedef struct snapshot
{
    int64_t step;
    int squeezed;
    vec3 x[POINTS_MAX], v[POINTS_MAX];
} snapshot;

static snapshot look(const weft_sim* sim)
{
    snapshot s = {.step = weft_sim_step_count(sim)};
    int at = 0;
    for (int k = 0; k < weft_sim_cloth_count(sim); k++)
    {
        weft_sim_positions(sim, k, s.x + at);
        weft_sim_velocities(sim, k, s.v + at);
        at += weft_sim_output_count(sim, k);
        assert_true(at <= POINTS_MAX);
    }
    return s;
}

static void assert_same(const snapshot* a, const snapshot* b, const char* name, int fail_at)
{
    if (memcmp(a, b, sizeof(*a)) != 0)
    {
        fail_msg("%s: other bits where allocation %d fails, step %d", name, fail_at, (int)a->step);
    }
}

static weft_status step(weft_sim* sim, snapshot* after)
{
    weft_step_stats stats;
    weft_error error;
    weft_status status = weft_sim_step(sim, &stats, &error);
    *after = look(sim);
    after->squeezed = status == WEFT_OK ? stats.squeezed : 0;
    return status;
}

// Runs with one allocation of step `bad` that fails; the step is then tried again, and one more made. Returns whether
// it failed.
static bool run_failing(const weft_scene* scene, test_ledger* l, int bad, int nth, const snapshot* expected,
                        int scene_at)
{
    const char* name = memory_scenes[scene_at].name;
    bool failed = false;
    weft_sim* sim;
    snapshot now;
    assert_int_equal(weft_scene_build_sim(scene, 1, &sim, NULL), WEFT_OK);
    for (int k = 0; k < int_min(bad + 2, memory_scenes[scene_at].steps); k++)
    {
        snapshot before = look(sim);
        l->fail_at = k == bad ? l->made + nth : 0;
        weft_status status = step(sim, &now);
        l->fail_at = 0;
        if (k == bad && status != WEFT_OK)
        {
            failed = true;
            assert_int_equal(status, WEFT_NO_MEMORY);
            assert_same(&now, &before, name, nth);
            status = step(sim, &now);
        }
        if (status != WEFT_OK)
        {
            fail_msg("%s: step %d after allocation %d: %s", name, k + 1, nth, weft_status_text(status));
        }
        assert_same(&now, &expected[k], name, nth);
    }
    weft_sim_destroy(sim);
    return failed;
}

static void test_no_memory_is_undone(void** unused)
{
    (void)unused;
    int failed = 0, late = 0, squeezed = 0;
    const char* quick = "step_control.max_halvings=2"; // what closes takes the shortest substeps
    for (int k = 0; k < SCENE_COUNT; k++)
    {
        test_ledger l = {0};
        test_ledger_open(&l);
        weft_scene* scene = scene_load_text(memory_scenes[k].text, &quick, 1);
        static snapshot expected[STEPS_MAX];
        int made[STEPS_MAX];
        weft_sim* sim;
        assert_int_equal(weft_scene_build_sim(scene, 1, &sim, NULL), WEFT_OK);
        for (int n = 0; n < memory_scenes[k].steps; n++)
        {
            int before = l.made;
            assert_int_equal(step(sim, &expected[n]), WEFT_OK);
            made[n] = l.made - before;
            squeezed += expected[n].squeezed;
        }
        weft_sim_destroy(sim);
        for (int n = 0; n < memory_scenes[k].steps; n++)
        {
            for (int nth = 1; nth <= made[n]; nth++)
            {
                bool did = run_failing(scene, &l, n, nth, expected, k);
                failed += did;
                late += did && n > 0;
            }
        }
        weft_scene_destroy(scene);
        test_ledger_close();
        assert_int_equal(l.live, 0);
    }
    print_message("%d steps failed and were tried again, %d of them later than the first\n", failed, late);
    assert_true(failed > 300 && late > 20 && squeezed > 0);
}

// Where nothing else helps cloth stands still, and on a body that does so, too, it stays in the layer as deep as it was:
// to lead it out stretched slivers to 13 times the energy that there was.
static void test_what_stands_still_is_led_nowhere(void** unused)
{
    (void)unused;
    weft_sim* sim = scene_sim_text("{\"time_step\": 0.01, \"contact\": {\"thickness\": 0.004}, "
                                   "\"cloth\": [{\"mesh\": {\"grid\": {\"cells\": 4}}, \"transform\": {\"translate\": "
                                   "[0, 0.0041, 0]}}], \"obstacles\": [{\"shape\": {\"plane\": {\"size\": 3}}}]}",
                                   1);
    weft_step_stats stats = {0};
    assert_int_equal(weft_sim_step(sim, &stats, NULL), WEFT_OK);
    world* w = &sim->world;
    int count = w->model->vertex_count;
    for (int i = 0; i < count; i++)
    {
        w->state.x[i].y = 0.002;
        w->state.v[i] = v3(0, -0.1, 0);
    }
    w->running = &method_stand_still;
    w->stats = &stats;
    w->h = 0.01;
    for (const stage* s = method_stand_still.stages; strcmp(s->name, "judge") != 0; s++)
    {
        assert_int_equal(s->run(w), WEFT_OK);
    }
    assert_true(w->contact->touch_count == count);
    for (int i = 0; i < count; i++)
    {
        assert_true(v3_length(v3_sub(w->x_next[i], w->state.x[i])) == 0.0 && v3_length(w->v_next[i]) == 0.0);
    }
    weft_sim_destroy(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stages_go_by_name),
        cmocka_unit_test(test_no_memory_is_undone),
        cmocka_unit_test(test_what_stands_still_is_led_nowhere),
    };
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
