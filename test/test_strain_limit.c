// Strain limits: no thread of a grid is longer than allowed at the end of any step, by the lengths of its edges alone, and nothing
// crosses; the same bits on any number of threads; what pins pull apart by themselves is told.
#include "common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common_scene.h"

// The longest edge along warp or weft over its length at rest, less 1, of a regular grid of these cells.
static double longest_thread(const weft_vec3* x, int cells_u, int cells_v, double step_u, double step_v)
{
    double most = 0.0;
    for (int j = 0; j <= cells_v; j++)
    {
        for (int i = 0; i <= cells_u; i++)
        {
            const weft_vec3* p = x + j * (cells_u + 1) + i;
            for (int way = 0; way < 2; way++)
            {
                const weft_vec3* q = way == 0 ? p + 1 : p + cells_u + 1;
                if (way == 0 ? i < cells_u : j < cells_v)
                {
                    double length = sqrt((q->x - p->x) * (q->x - p->x) + (q->y - p->y) * (q->y - p->y) +
                                         (q->z - p->z) * (q->z - p->z));
                    most = fmax(most, length / (way == 0 ? step_u : step_v) - 1.0);
                }
            }
        }
    }
    return most;
}

typedef struct outcome
{
    double strain; // the most of any step
    int over;      // steps with overstretched threads
    int substeps;  // of the second half of all steps, with those that were thrown away
    weft_vec3* x;  // [count] at the end
    int count;
} outcome;

static outcome run(const char* text, int workers, int steps, int cells_u, int cells_v, double size_u, double size_v)
{
    weft_sim* sim = scene_sim_text(text, workers);
    outcome out = {.count = weft_sim_vertex_count(sim, 0)};
    out.x = calloc((size_t)out.count, sizeof(weft_vec3));
    for (int k = 0; k < steps; k++)
    {
        weft_error error = {0};
        weft_step_stats stats;
        assert_int_equal(weft_sim_step(sim, &stats, &error), WEFT_OK);
        weft_sim_positions(sim, 0, out.x);
        out.strain = fmax(out.strain, longest_thread(out.x, cells_u, cells_v, size_u / cells_u, size_v / cells_v));
        out.over += stats.overstretched > 0;
        out.substeps += 2 * k < steps ? 0 : stats.substeps + stats.rejected;
    }
    weft_sim_destroy(sim);
    return out;
}

// Limp threads that their own weight, 0.15 * 9.81 * 0.5 over 20 N/m at the top, stretches by 4 %.
static void weights_do_not_stretch(void** state)
{
    (void)state;
    static const char form[] =
        "{\"time_step\": 0.02, \"cloth\": [{\"mesh\": {\"grid\": {\"size\": 0.5, \"cells\": 12, \"plane\": \"xy\"}}, \"material\": "
        "{\"stretch_warp\": 20, \"stretch_weft\": 20%s}, \"pins\": [{\"where\": {\"edge\": \"top\"}}]}]}";
    char text[400];
    snprintf(text, sizeof(text), form, "");
    outcome free_one = run(text, 1, 50, 12, 12, 0.5, 0.5);
    snprintf(text, sizeof(text), form, ", \"strain_limit\": 0.01");
    outcome held = run(text, 1, 50, 12, 12, 0.5, 0.5), threads = run(text, 3, 50, 12, 12, 0.5, 0.5);
    print_message("hung: %.4f without, %.4f with a limit of 0.01\n", free_one.strain, held.strain);
    assert_true(free_one.strain > 0.02);
    assert_true(held.strain <= 0.01 && held.over == 0);
    assert_memory_equal(held.x, threads.x, (size_t)held.count * sizeof(weft_vec3));
    free(free_one.x);
    free(held.x);
    free(threads.x);
}

// A strip that would hang at 1.07 of its length comes to rest at its limit. Pulls that draw threads in, again in each substep, would
// bring in energy: then no substep is short enough (57 a step were taken).
static void taut_cloth_rests(void** state)
{
    (void)state;
    static const char text[] =
        "{\"time_step\": 0.005, \"solver\": \"cholesky\", \"cloth\": [{\"mesh\": {\"grid\": {\"size\": [0.2, 1], \"cells\": [4, 20], "
        "\"plane\": \"xy\", \"tessellation\": \"irregular\"}}, \"material\": {\"stretch_warp\": 20, \"stretch_weft\": 20, \"shear\": 5, "
        "\"damping\": 0.01, \"strain_limit\": 0.05}, \"pins\": [{\"where\": {\"edge\": \"top\"}}]}]}";
    outcome out = run(text, 1, 400, 0, 0, 0.2, 1.0);
    print_message("taut: %d substeps in 200 steps\n", out.substeps);
    assert_int_equal(out.over, 0);
    assert_int_equal(out.substeps, 200);
    free(out.x);
}

// A ball is pushed into a curtain whose corners are held: contact and limit together.
static void a_ball_does_not_stretch(void** state)
{
    (void)state;
    static const char form[] =
        "{\"time_step\": 0.01, \"cloth\": [{\"name\": \"c\", \"mesh\": {\"grid\": {\"size\": 0.6, \"cells\": 14, \"plane\": \"xy\"}}, "
        "\"material\": {\"stretch_warp\": 200, \"stretch_weft\": 200, \"strain_limit\": %g}, \"pins\": [{\"where\": {\"edge\": "
        "\"top\"}}]}], \"obstacles\": [{\"name\": \"ball\", \"shape\": {\"sphere\": {\"center\": [0, 0, 0.25], \"radius\": 0.15}}, "
        "\"motion\": {\"path\": [{\"time\": 0}, {\"time\": 0.5, \"offset\": [0, 0, -0.6]}]}}]}";
    for (int k = 0; k < 2; k++)
    {
        double limit = k == 0 ? 0.05 : 0.01;
        char text[700];
        snprintf(text, sizeof(text), form, limit);
        outcome out = run(text, 1, 60, 14, 14, 0.6, 0.6);
        print_message("ball: strain %.5f with a limit of %g\n", out.strain, limit);
        assert_true(out.strain <= limit && out.over == 0);
        free(out.x);
    }
}

// Both edges are held and move apart by a tenth: nothing can be done, and the threads are counted; they come back below it.
static void what_pins_pull_apart_is_told(void** state)
{
    (void)state;
    static const char text[] =
        "{\"time_step\": 0.02, \"gravity\": [0, 0, 0], \"cloth\": [{\"mesh\": {\"grid\": {\"size\": 0.5, \"cells\": 6}}, \"material\": "
        "{\"strain_limit\": 0.02}, \"pins\": [{\"where\": {\"edge\": \"left\"}}, {\"where\": {\"edge\": \"right\"}, \"path\": "
        "[{\"time\": 0}, {\"time\": 0.2, \"offset\": [0.05, 0, 0]}, {\"time\": 0.4, \"offset\": [0, 0, 0]}]}]}]}";
    outcome apart = run(text, 1, 10, 6, 6, 0.5, 0.5), back = run(text, 1, 30, 6, 6, 0.5, 0.5);
    assert_true(apart.over >= 5 && apart.strain > 0.09);
    assert_true(longest_thread(back.x, 6, 6, 0.5 / 6, 0.5 / 6) < 0.02);
    free(apart.x);
    free(back.x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_do_not_stretch),
        cmocka_unit_test(taut_cloth_rests),
        cmocka_unit_test(a_ball_does_not_stretch),
        cmocka_unit_test(what_pins_pull_apart_is_told),
    };
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
