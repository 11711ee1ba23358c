// newton where cloth folds: how many iterations its steps take, and that the exact Hessian of membranes leads to the
// same end as the clamped one.
#include <stdio.h>

#include "common.h"

#include "common_scene.h"

// A sheet falls off the middle of a ball and wrinkles on it.
#define FOLDS                                                                                                          \
    "{\"time_step\": 0.016666666666666667, \"method\": \"newton\", \"air\": {}, "                                        \
    "\"cloth\": [{\"mesh\": {\"grid\": {\"size\": 1, \"cells\": 14}}, "                                                    \
    "\"transform\": {\"rotate\": [0, 20, 0], \"translate\": [0.04, 0.27, 0.02]}}], "                                     \
    "\"obstacles\": [{\"shape\": {\"sphere\": {\"radius\": 0.25}}}]}"

// Moves that stop at the whole step of a Hessian that is ten times too stiff along growing folds took 2,036
// iterations here, and every contact that pulled was looked for to five digits.
static void test_folds_take_few_iterations(void** unused)
{
    (void)unused;
    weft_sim* sim = scene_sim_text(FOLDS, 1);
    double sum = 0.0;
    int rejected = 0;
    for (int k = 0; k < 30; k++)
    {
        weft_step_stats stats = {0};
        assert_int_equal(weft_sim_step(sim, &stats, NULL), WEFT_OK);
        sum += weft_step_counter(&stats, "newton_iterations");
        rejected += stats.rejected;
    }
    print_message("%g iterations in 30 steps, %d substeps rejected\n", sum, rejected);
    assert_true(sum < 1300.0);
    weft_sim_destroy(sim);
}

// A strip that is pressed together along its length, tilted a little: it buckles. By `curvature`: what `exact` gives for
// its Hessian is an upper bound, with which the exact one of membranes gains nothing.
#define PRESSED                                                                                                        \
    "{\"time_step\": 0.01, \"method\": \"newton\", \"newton\": {\"tolerance\": 1e-10, \"hessian\": %d}, "                  \
    "\"contact\": {\"enabled\": false}, \"step_control\": {\"max_halvings\": 0}, \"model\": {\"bending\": \"%s\"}, \"cloth\": [{\"mesh\": {\"grid\": {\"size\": [0.4, 0.1], \"cells\": 20}}, "                       \
    "\"transform\": {\"rotate\": [3, 0, 2]}, \"pins\": [{\"where\": {\"edge\": \"left\"}}, "                               \
    "{\"where\": {\"edge\": \"right\"}, \"path\": [{\"time\": 0}, {\"time\": 0.2, \"offset\": [-0.04, 0, 0]}]}]}]}"

static double press(const char* bending, int hessian, vec3* x, int* count)
{
    char text[900];
    snprintf(text, sizeof(text), PRESSED, hessian, bending);
    weft_sim* sim = scene_sim_text(text, 1);
    double sum = 0.0;
    for (int k = 0; k < 10; k++)
    {
        weft_step_stats stats = {0};
        assert_int_equal(weft_sim_step(sim, &stats, NULL), WEFT_OK);
        sum += weft_step_counter(&stats, "newton_iterations");
    }
    *count = weft_sim_vertex_count(sim, 0);
    weft_sim_positions(sim, 0, x);
    weft_sim_destroy(sim);
    return sum;
}

static void test_exact_hessian_ends_sooner(void** unused)
{
    (void)unused;
    static vec3 clamped[2000], exact[2000];
    int count;
    print_message("by `exact`: %g iterations clamped, %g exact\n", press("exact", 0, clamped, &count),
                  press("exact", 1, exact, &count));
    double slow = press("curvature", 0, clamped, &count), fast = press("curvature", 1, exact, &count), apart = 0.0;
    for (int i = 0; i < count; i++)
    {
        apart = fmax(apart, v3_length(v3_sub(clamped[i], exact[i])));
    }
    print_message("%g iterations clamped, %g exact, ends %.2g m apart\n", slow, fast, apart);
    assert_true(fast < 0.8 * slow);
    assert_true(apart < 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_folds_take_few_iterations),
        cmocka_unit_test(test_exact_hessian_ends_sooner),
    };
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
