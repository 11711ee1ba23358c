// Contact: every step of scenes that fall, fold and are pushed is clean by the inspector, which shares no code with
// detection; the same bits on any number of threads and across a checkpoint; a sheet on a table comes to rest at the
// thickness; friction holds on a gentle slope and lets go on a steep one.
#include "common.h"

#include <stdio.h>
#include <string.h>

#include "cache/checkpoint.h"
#include "common_scene.h"
#include "core/core.h"
#include "sim/sim.h"
#include "weft/inspect.h"

static void step(weft_sim* sim, weft_step_stats* stats)
{
    weft_error error = {0};
    if (weft_sim_step(sim, stats, &error) != WEFT_OK)
    {
        fail_msg("%s", error.message);
    }
}

// ---- the inspector beside a simulation

enum
{
    BODIES_MAX = 4
};

typedef struct watch
{
    int count;
    weft_inspector* inspector;
    vec3* x[BODIES_MAX];
    int* triangles[BODIES_MAX];
} watch;

static watch watch_open(weft_sim* sim)
{
    watch w = {.count = sim->body_count + sim->obstacle_count};
    weft_inspect_body bodies[BODIES_MAX] = {0};
    for (int k = 0; k < w.count; k++)
    {
        bool cloth = k < sim->body_count;
        const mesh* m = cloth ? &sim->bodies[k].rest : &sim->obstacles[k - sim->body_count].mesh;
        w.x[k] = MEM_NEW(m->vertex_count, vec3);
        bodies[k] = (weft_inspect_body){.obstacle = !cloth,
                                        .vertex_count = m->vertex_count,
                                        .rest = m->position,
                                        .triangle_count = m->triangle_count,
                                        .triangles = m->triangle};
    }
    weft_inspect_def def = weft_inspect_def_default();
    assert_int_equal(weft_inspector_create(&def, bodies, w.count, &w.inspector, NULL), WEFT_OK);
    return w;
}

// Positions as a cache holds them.
static weft_inspection watch_look(watch* w, weft_sim* sim)
{
    weft_inspection found;
    for (int k = 0; k < w->count; k++)
    {
        if (k < sim->body_count)
        {
            weft_sim_positions(sim, k, w->x[k]);
            for (int i = 0; i < sim->bodies[k].rest.vertex_count; i++)
            {
                w->x[k][i] = v3_round(w->x[k][i]);
            }
            continue;
        }
        assert_int_equal(weft_sim_obstacle_positions(sim, k - sim->body_count, weft_sim_time(sim), w->x[k], NULL),
                         WEFT_OK);
    }
    assert_int_equal(weft_inspector_frame(w->inspector, (const weft_vec3* const*)w->x, &found, NULL), WEFT_OK);
    return found;
}

static void watch_close(watch* w)
{
    weft_inspector_destroy(w->inspector);
    for (int k = 0; k < w->count; k++)
    {
        mem_free(w->x[k]);
    }
}

// ---- scenes

#define SHEET(cells, move)                                                                                             \
    "{\"cloth\": [{\"name\": \"sheet\", \"mesh\": {\"grid\": {\"cells\": " #cells                                      \
    "}}, \"transform\": {\"translate\": " move "}}],"
#define BALL "{\"name\": \"ball\", \"shape\": {\"sphere\": {\"center\": [0, 0, 0], \"radius\": 0.2, \"segments\": 4}}"

static const char drape[] = SHEET(16, "[0.03, 0.21, 0.02]") "\"obstacles\": [" BALL "}]}";
static const char swept[] =
    SHEET(12, "[0, 0.25, 0]") "\"obstacles\": [" BALL
                              ", \"motion\": {\"path\": [{\"time\": 0}, {\"time\": 0.2, \"offset\": [0.1, 0.4, 0], "
                              "\"angle\": 90}], \"axis\": [0, 0, 1]}}]}";
static const char edge[] =
    SHEET(12, "[0.2, 0.04, 0.1]") "\"obstacles\": [{\"name\": \"box\", \"shape\": {\"box\": {\"center\": [0, 0, 0], "
                                  "\"size\": [0.5, 0.06, 0.5], \"hole\": 0.2}}}]}";

static void every_step_is_clean(void** state)
{
    (void)state;
    const char* const scenes[] = {drape, swept, edge};
    for (int k = 0; k < 3; k++)
    {
        weft_sim* sim = scene_sim_text(scenes[k], 2);
        watch w = watch_open(sim);
        assert_int_equal(watch_look(&w, sim).crossings, 0);
        int contacts = 0, squeezed = 0;
        for (int n = 0; n < 150; n++)
        {
            weft_step_stats stats;
            step(sim, &stats);
            contacts += stats.contacts > 0;
            squeezed += stats.squeezed;
            weft_inspection found = watch_look(&w, sim);
            assert_int_equal(found.crossings, 0);
            assert_int_equal(found.nonfinite, 0);
        }
        print_message("scene %d: %d of 150 steps with contact\n", k, contacts);
        assert_true(contacts > 50);
        assert_int_equal(squeezed, 0);
        watch_close(&w);
        weft_sim_destroy(sim);
    }
}

// ---- loads

// A ball that passes a cell in a step, and one that goes a third of the sheet's size into it and stays. The cloth must
// not tear into spikes, and under load it comes to rest.
static const char hit[] =
    "{\"time_step\": 0.005, \"air\": {}, \"cloth\": [{\"name\": \"curtain\", \"material\": \"cotton\","
    "\"mesh\": {\"grid\": {\"size\": [1.2, 1], \"cells\": 20, \"plane\": \"xy\"}},"
    "\"transform\": {\"translate\": [0, 0.53, 0]}, \"pins\": [{\"where\": {\"edge\": \"top\"}}]}],"
    "\"obstacles\": [{\"name\": \"ball\", \"shape\": {\"sphere\": {\"center\": [0, 0.35, 0.6], \"radius\": 0.25}},"
    "\"motion\": {\"path\": [{\"time\": 0}, {\"time\": 0.2, \"offset\": [0.1, 0, -2]}]}}]}";
static const char pressed[] =
    "{\"time_step\": 0.005, \"air\": {}, \"cloth\": [{\"name\": \"sheet\", \"material\": \"cotton\","
    "\"mesh\": {\"grid\": {\"size\": [1, 1], \"cells\": 20}},"
    "\"pins\": [{\"where\": {\"edge\": \"top\"}}, {\"where\": {\"edge\": \"bottom\"}},"
    "{\"where\": {\"edge\": \"left\"}}, {\"where\": {\"edge\": \"right\"}}]}],"
    "\"obstacles\": [{\"name\": \"ball\", \"shape\": {\"sphere\": {\"center\": [0.02, -0.2, 0.03], \"radius\": 0.15}},"
    "\"motion\": {\"path\": [{\"time\": 0}, {\"time\": 0.4, \"offset\": [0, 0.38, 0]}]}}]}";

static void loads_do_not_tear(void** state)
{
    (void)state;
    const char* const texts[] = {hit, pressed};
    const double most[] = {1.25, 1.4};
    for (int k = 0; k < 2; k++)
    {
        weft_sim* sim = scene_sim_text(texts[k], 2);
        watch w = watch_open(sim);
        weft_step_stats stats = {0};
        double stretch = 0.0;
        for (int n = 0; n < (k == 0 ? 40 : 180); n++)
        {
            step(sim, &stats);
            stretch = fmax(stretch, stats.max_stretch);
            assert_int_equal(watch_look(&w, sim).crossings, 0);
        }
        print_message("          stretch %.3f, at the end %.3g J\n", stretch, stats.energy.kinetic);
        assert_true(stretch < most[k]);
        assert_true(k == 0 || stats.energy.kinetic < 1e-8);
        watch_close(&w);
        weft_sim_destroy(sim);
    }
}

// ---- same bits

static void bits_do_not_depend_on_threads_or_checkpoints(void** state)
{
    (void)state;
    enum
    {
        STEPS = 90
    };
    weft_sim* first = scene_sim_text(drape, 1);
    for (int n = 0; n < STEPS; n++)
    {
        step(first, NULL);
        n % 20 == 19 ? weft_sim_checkpoint(first) : (void)0;
    }
    const int workers[] = {2, 3, 8};
    size_t bytes = (size_t)first->model.vertex_count * sizeof(vec3);
    for (int k = 0; k < 3; k++)
    {
        weft_sim* sim = scene_sim_text(drape, workers[k]);
        for (int n = 0; n < STEPS; n++)
        {
            step(sim, NULL);
            if (n % 20 == 19)
            {
                // Through a file and into a new simulation.
                weft_sim_checkpoint(sim);
                assert_int_equal(checkpoint_write(scene_path("c.weft"), sim, 20, NULL), WEFT_OK);
                weft_sim_destroy(sim);
                sim = scene_sim_text(drape, workers[k]);
                assert_int_equal(weft_sim_set_step_count(sim, 0), WEFT_OK);
                assert_int_equal(checkpoint_read(scene_path("c.weft"), sim, 20, NULL), WEFT_OK);
            }
        }
        assert_memory_equal(sim->world.state.x, first->world.state.x, bytes);
        assert_memory_equal(sim->world.state.v, first->world.state.v, bytes);
        weft_sim_destroy(sim);
    }
    remove(scene_path("c.weft"));
    weft_sim_destroy(first);
}

// ---- rest and friction

static void a_sheet_rests_on_a_table(void** state)
{
    (void)state;
    weft_sim* sim =
        scene_sim_text(SHEET(10, "[0, 0.003, 0]") "\"obstacles\": [{\"name\": \"table\", \"shape\": {\"box\": "
                                                  "{\"center\": [0, -0.05, 0], \"size\": [2, 0.1, 2]}}}]}",
                       1);
    weft_step_stats stats = {0};
    for (int n = 0; n < 1000; n++)
    {
        step(sim, &stats);
    }
    double most = stats.energy.kinetic;
    for (int n = 0; n < 5000; n++)
    {
        step(sim, &stats);
        most = fmax(most, stats.energy.kinetic);
    }
    print_message("largest kinetic energy from 2 to 12 s: %g J\n", most);
    assert_true(most < 1e-9);
    double sum = 0.0;
    int count = sim->model.vertex_count, touching = 0;
    for (int i = 0; i < count; i++)
    {
        sum += sim->world.state.x[i].y;
        touching += sim->world.state.contact.memory[i].calm > 0.0;
    }
    print_message("mean gap: %g m, %d of %d vertices in contact\n", sum / count, touching, count);
    assert_true(sum / count > 0.0005 && sum / count < 0.0012);
    assert_true(touching >= 0.9 * count);
    weft_sim_destroy(sim);
}

// A sheet on a slope whose tangent is given: the way that it has slid after a second, and its mean acceleration in the
// second half of it. The frame of the slope: gravity is turned.
typedef struct slid
{
    double way, acceleration; // m, m/s^2
} slid;

static slid slide(const char* method, double tangent, double friction)
{
    const double g = 9.81, cosine = 1.0 / sqrt(1.0 + tangent * tangent);
    char text[1024];
    snprintf(text, sizeof(text),
             SHEET(6, "[0, 0.0012, 0]") "\"method\": \"%s\", \"gravity\": [%.17g, %.17g, 0], \"obstacles\": "
                                        "[{\"name\": \"plane\", \"friction\": %g,"
                                        " \"shape\": {\"plane\": {\"point\": [0, 0, 0], \"normal\": [0, 1, 0]}}}]}",
             method, g * tangent * cosine, -g * cosine, friction);
    weft_sim* sim = scene_sim_text(text, 1);
    double way = 0.0, speed[2] = {0, 0};
    int count = 0;
    for (int n = 0; n < 500; n++)
    {
        step(sim, NULL);
        count = sim->model.vertex_count;
        for (int i = 0; i < count && n % 250 == 249; i++)
        {
            speed[n / 250] += sim->world.state.v[i].x / count;
        }
    }
    for (int i = 0; i < count; i++)
    {
        way += sim->world.state.x[i].x / count;
    }
    for (int i = 0; i < count; i++)
    {
        way -= sim->bodies[0].rest.position[i].x / count;
    }
    weft_sim_destroy(sim);
    return (slid){way, (speed[1] - speed[0]) / 0.5};
}

static void friction_holds_and_lets_go(void** state)
{
    (void)state;
    static const char* const methods[] = {"implicit-euler", "newton"};
    const double friction[] = {0.1, 0.3, 0.62, 1.0};
    for (int k = 0; k < 8; k++)
    {
        const char* method = methods[k / 4];
        double mu = friction[k % 4];
        double held = slide(method, mu - 0.021, mu).way;
        for (int steep = 0; steep < 2; steep++)
        {
            double tangent = mu + (steep ? 0.4 : 0.021), cosine = 1.0 / sqrt(1.0 + tangent * tangent);
            double expected = 9.81 * cosine * (tangent - mu), found = slide(method, tangent, mu).acceleration;
            print_message("%s, friction %g, tangent %g: %g m/s^2 (%g); held at %g: %g mm\n", method, mu, tangent, found,
                          expected, mu - 0.021, 1e3 * held);
            assert_true(fabs(found / expected - 1.0) < 0.05);
        }
        assert_true(fabs(held) < 0.001);
    }
    double free = slide("implicit-euler", 0.5, 0.0).acceleration, expected = 9.81 * 0.5 / sqrt(1.25);
    assert_true(fabs(free / expected - 1.0) < 1e-3);
}

// A sheet through a ball is refused, with the pairs; a pair that the scene leaves alone may cross.
static void a_start_that_crosses_is_refused(void** state)
{
    (void)state;
    static const char wrong[] = SHEET(8, "[0, 0.1, 0]") "\"obstacles\": [" BALL "}]%s}";
    for (int excluded = 0; excluded < 2; excluded++)
    {
        char text[1024];
        snprintf(text, sizeof(text), wrong,
                 excluded ? ", \"contact\": {\"exclude\": [{\"pair\": [\"ball\", \"sheet\"]}]}" : "");
        weft_scene* scene = scene_load_text(text, NULL, 0);
        weft_sim* sim = NULL;
        weft_error error = {0};
        assert_int_equal(weft_scene_create_sim(scene, 1, &sim, &error), excluded ? WEFT_OK : WEFT_BAD_INPUT);
        assert_true(excluded || strstr(error.message, "of `sheet` with"));
        weft_sim_destroy(sim);
        weft_scene_destroy(scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_step_is_clean),
        cmocka_unit_test(loads_do_not_tear),
        cmocka_unit_test(bits_do_not_depend_on_threads_or_checkpoints),
        cmocka_unit_test(a_sheet_rests_on_a_table),
        cmocka_unit_test(friction_holds_and_lets_go),
        cmocka_unit_test(a_start_that_crosses_is_refused),
    };
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
