// Step control: what the stats say of a step that falls back on another method, and a step that fails for want of
// memory, wherever that happens: the state is that before the step, and the same step tried again gives the same bits.
#include "common.h"

#include <stdlib.h>
#include <string.h>

#include "common_scene.h"
#include "core/core.h"
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stages_go_by_name),
    };
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
