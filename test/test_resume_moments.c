// Runs that are stopped at an awkward moment, just before something changes that a factor or a list was made for, and
// resumed: every step has the same energy, to the last bit, as in a run that was not.
#include "common.h"

#include <stdio.h>
#include <string.h>

#include "common_edits.h"
#include "common_scene.h"
#include "contact/contact.h"
#include "sim/sim.h"

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

// How many pairs contact looks at follows from the order that its trees were made in, and what a step may cost from that
// number: a run that went on had trees of long ago, one that was resumed made new ones, and after 38 frames a step of a
// crowded scene was spent in the one a substep before the other.
static void contact_costs_what_it_costs_in_a_run_that_is_resumed(void** unused)
{
    (void)unused;
    static const char scene[] =
        "{\"time_step\": 0.005, \"method\": \"pbd\", \"contact\": {\"thickness\": 0.009}, "
        "\"cloth\": [{\"mesh\": {\"grid\": {\"size\": 0.4, \"cells\": 14, \"tessellation\": \"irregular\"}}, "
        "\"transform\": {\"rotate\": [80, 30, 0], \"translate\": [0, 0.25, 0]}, \"velocity\": [0, -3, 0]}], "
        "\"obstacles\": [{\"shape\": {\"sphere\": {\"radius\": 0.05}}}, "
        "{\"shape\": {\"plane\": {\"point\": [0, -0.1, 0]}}}]}";
    weft_sim* sim = scene_sim_text(scene, 1);
    for (int k = 0; k < 60; k++)
    {
        assert_int_equal(weft_sim_step(sim, NULL, NULL), WEFT_OK);
        if (k % 6 != 5)
        {
            continue;
        }
        weft_sim_checkpoint(sim);
        weft_sim* other = edits_made_anew(sim, scene, 1);
        assert_int_equal(weft_sim_step(sim, NULL, NULL), WEFT_OK);
        assert_int_equal(weft_sim_step(other, NULL, NULL), WEFT_OK);
        if (sim->world.contact->effort != other->world.contact->effort)
        {
            fail_msg("step %d looks at %.0f pairs and rows, resumed at %.0f", k + 2, sim->world.contact->effort,
                     other->world.contact->effort);
        }
        weft_sim_destroy(other);
    }
    weft_sim_destroy(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pin_is_released_in_the_next_step),
        cmocka_unit_test(contact_costs_what_it_costs_in_a_run_that_is_resumed),
    };
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
