// Cloth tears after the step that lists what crosses: what crosses at a cut is listed by the name that it has then, so
// that an inspector, which shares no code with it, finds no other crossing. At short and long steps, which go in parts,
// and with several steps to a frame.
#include "common.h"

#include <stdio.h>
#include <string.h>

#include "common_scene.h"

static const char sheet[] = "{\"name\": \"a\", \"tear\": 20, \"mesh\": {\"grid\": {\"cells\": 12, \"tessellation\": "
                            "\"irregular\"}}, \"transform\": {\"translate\": [0, %s, 0]}, \"pins\": [{\"where\": "
                            "{\"edge\": \"top\"}}, {\"where\": {\"edge\": \"bottom\"}}]}";

// A body that the sheet crosses at the start, and that goes on through it.
static const char start[] =
    "\"initial_contact\": \"settle\", \"obstacles\": [{\"shape\": {\"sphere\": {\"radius\": 0.25}}, "
    "\"motion\": {\"path\": [{\"time\": 0}, {\"time\": 0.2, \"offset\": [0, 0.3, 0]}]}}]";

// Two bodies that close on it and then part it.
static const char squeezed[] =
    "\"obstacles\": [{\"name\": \"u\", \"shape\": {\"sphere\": {\"center\": [0, 0.25, 0], \"radius\": 0.2}}, "
    "\"motion\": {\"path\": [{\"time\": 0}, {\"time\": 0.15, \"offset\": [0, -0.3, 0]}, "
    "{\"time\": 0.3, \"offset\": [0.3, -0.3, 0]}]}}, "
    "{\"name\": \"d\", \"shape\": {\"sphere\": {\"center\": [0, -0.25, 0], \"radius\": 0.2}}, "
    "\"motion\": {\"path\": [{\"time\": 0}, {\"time\": 0.15, \"offset\": [0, 0.3, 0]}, "
    "{\"time\": 0.3, \"offset\": [-0.3, 0.3, 0]}]}}]";

static int shell(const char* line)
{
    return test_shell(scene_folder, line);
}

static void expect_listed(const char* head, const char* height, const char* rest, const char* method)
{
    char text[4096], line[256];
    int used = snprintf(text, sizeof(text), "{%s, \"method\": \"%s\", \"cloth\": [", head, method);
    used += snprintf(text + used, sizeof(text) - (size_t)used, sheet, height);
    snprintf(text + used, sizeof(text) - (size_t)used, "], %s}", rest);
    scene_write_bytes(scene_path("scene.json"), text, strlen(text));
    snprintf(line, sizeof(line), "\"$WEFT\" run scene.json --force -o run --threads 1 > out 2> err");
    assert_int_equal(shell(line), 0);
    assert_int_equal(shell("test $(wc -l < run/frames.jsonl) -ge 1"), 0); // it does tear
    if (shell("\"$WEFT\" inspect run > table") != 0 || shell("tail -1 table | grep -q '[1-9][0-9]* .*apart in'") != 0)
    {
        shell("tail -1 table");
        fail_msg("%s, %s: crosses, and is not listed", method, head);
    }
    assert_int_equal(shell("rm -rf run out err table"), 0);
}

static const char* const methods[] = {"implicit-euler", "pbd", "hpbd"};
enum
{
    METHODS = sizeof(methods) / sizeof(methods[0])
};

static void test_what_is_left_of_the_start(void** state)
{
    (void)state;
    static const char* const heads[] = {"\"time_step\": 0.00833333, \"steps_per_frame\": 1, \"frames\": 4",
                                        "\"time_step\": 0.00833333, \"steps_per_frame\": 1, \"frames\": 4",
                                        "\"time_step\": 0.00833333, \"steps_per_frame\": 2, \"frames\": 3"};
    for (int k = 0; k < METHODS; k++)
    {
        expect_listed(heads[k], "0.2", start, methods[k]);
    }
}

static void test_what_is_squeezed(void** state)
{
    (void)state;
    for (int k = 0; k < METHODS; k++)
    {
        expect_listed("\"time_step\": 0.0333333, \"steps_per_frame\": 1, \"frames\": 2", "0", squeezed, methods[k]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_left_of_the_start),
        cmocka_unit_test(test_what_is_squeezed),
    };
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
