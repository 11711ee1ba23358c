// Runs that are stopped at an awkward moment, just before something changes that a factor or a list was made for, and
// resumed: every step has the same energy, to the last bit, as in a run that was not.
#include "common.h"

#include <stdio.h>
#include <string.h>

#include "common_scene.h"

static void expect_same(const char* scene, int stop, int frames)
{
    char line[1024];
    scene_write_bytes(scene_path("scene.json"), scene, strlen(scene));
    snprintf(line, sizeof(line),
             "\"$WEFT\" run scene.json --force -o a --frames %d > said 2>&1 && "
             "\"$WEFT\" run scene.json --force -o b --frames %d > said 2>&1 && "
             "\"$WEFT\" run scene.json --resume -o b --frames %d > said 2>&1 && "
             "grep -o '\"energy\":{[^}]*}' a/stats.jsonl > ea && grep -o '\"energy\":{[^}]*}' b/stats.jsonl > eb && "
             "cmp ea eb > said 2>&1",
             frames, stop, frames);
    if (test_shell(scene_folder, line) != 0)
    {
        test_shell(scene_folder, "cat said");
        fail_msg("stopped at frame %d it goes on to other bits", stop);
    }
}

// The factor of local-global was kept over a checkpoint, and put right when the pin was released in the next step; the
// run that went on from there made a new one without the pin.
static void a_pin_is_released_in_the_next_step(void** unused)
{
    (void)unused;
    static const char scene[] = "{\"time_step\": 0.01, \"steps_per_frame\": 1, \"method\": \"local-global\", "
                                "\"contact\": {\"enabled\": false}, "
                                "\"cloth\": [{\"mesh\": {\"grid\": {\"cells\": 8, \"plane\": \"xy\"}}, "
                                "\"pins\": [{\"where\": {\"corner\": \"top-left\"}}, {\"where\": {\"corner\": "
                                "\"top-right\"}, \"release\": 0.031}]}]}";
    for (int stop = 2; stop <= 4; stop++)
    {
        expect_same(scene, stop, 7);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_pin_is_released_in_the_next_step)};
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
