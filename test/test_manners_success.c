// The real command when all is well: help and lists, --json prints one object whose keys are documented, `weft check`
// says what the scene holds, `weft system` writes what it names. test_manners.c has refusals.
#define _GNU_SOURCE
#include "common.h"
#include "common_manners.h"
#include "common_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "weft/cache.h"

// ---- help

static void test_help(void** unused)
{
    (void)unused;
    static const char* const commands[] = {"run", "check", "list", "render", "system", "solve", "bench", "help"};
    for (size_t k = 0; k < sizeof(commands) / sizeof(commands[0]); k++)
    {
        char line[64], usage[64];
        snprintf(usage, sizeof(usage), "weft %s", commands[k]);
        for (int form = 0; form < 2; form++)
        {
            snprintf(line, sizeof(line), form == 0 ? "help %s" : "%s --help", commands[k]);
            assert_int_equal(manners_run(line), 0);
            manners_assert_says(line, manners_last.out, usage);
            assert_string_equal(manners_last.err, "");
        }
        manners_run("help");
        manners_assert_says("help", manners_last.out, usage);
    }
    assert_int_equal(manners_run("--help"), 0);
    assert_int_equal(manners_run("--version"), 0);
    char version[64];
    snprintf(version, sizeof(version), "weft %s\n", weft_version());
    assert_string_equal(manners_last.out, version);
    assert_int_equal(manners_run(""), 2);
}

// Lists: a name, a tab and a summary a line.
static void test_lists(void** unused)
{
    (void)unused;
    static const char* const lists[][2] = {{"methods", "implicit-euler\t"}, {"solvers", "mpcg\t"},
                                           {"models", "baraff-witkin\t"},   {"materials", "cotton\t"},
                                           {"scenes", "mpcg-4x4\t"},        {"formats", "pc2\t"}};
    for (size_t k = 0; k < sizeof(lists) / sizeof(lists[0]); k++)
    {
        char line[64];
        snprintf(line, sizeof(line), "list %s", lists[k][0]);
        assert_int_equal(manners_run(line), 0);
        manners_assert_says(line, manners_last.out, lists[k][1]);
        for (char* row = strtok(manners_last.out, "\n"); row; row = strtok(NULL, "\n"))
        {
            char* tab = strchr(row, '\t');
            assert_true(tab && tab > row && tab[1] && !strchr(tab + 1, '\t'));
        }
    }
}

// ---- what succeeds says so in one object

// Systems of several steps of one run are those of as many runs: looking at one changes nothing that follows.
static void test_systems_of_several_steps(void** unused)
{
    (void)unused;
    char line[200], path[PATH_BYTES];
    assert_int_equal(manners_run("system hang --set cells=4 --step 2:4:2,6 --threads 2 --binary -o range"), 0);
    for (int step = 2; step <= 6; step += 2)
    {
        size_t sizes[2];
        snprintf(line, sizeof(line), "system hang --set cells=4 --step %d --binary -o one", step);
        assert_int_equal(manners_run(line), 0);
        char* one = test_file_read(manners_path("one.weftsys", path), &sizes[0]);
        snprintf(line, sizeof(line), "range-%d.weftsys", step);
        char* of_range = test_file_read(manners_path(line, path), &sizes[1]);
        assert_int_equal(sizes[0], sizes[1]);
        assert_memory_equal(one, of_range, sizes[0]);
        free(one);
        free(of_range);
    }
    assert_int_not_equal(access(manners_path("range-3.weftsys", path), F_OK), 0);
    static const char* const wrong[] = {"2:", ":3", "0", "4:2", "1:2:0", "1:2:3:4", "many", "2,", ",2", "1,0", "1,,2"};
    for (size_t k = 0; k < sizeof(wrong) / sizeof(wrong[0]); k++)
    {
        snprintf(line, sizeof(line), "system hang --set cells=4 --step %s -o range", wrong[k]);
        manners_refuses(line, 2, "--step");
    }
}

static void test_json_success(void** unused)
{
    (void)unused;
    assert_int_equal(manners_run("run hang --set cells=4 --frames 2 -o fine --json"), 0);
    assert_true(manners_last.out[0] == '{' &&
                strchr(manners_last.out, '\n') == manners_last.out + strlen(manners_last.out) - 1);
    manners_assert_says("run", manners_last.out, "\"frames\":2");
    assert_string_equal(manners_last.err, "");
    assert_int_equal(manners_run("system hang --set cells=4 --step 3 -o system"), 0);
    assert_int_equal(manners_run("solve system --solver mpcg --json"), 0);
    assert_true(manners_last.out[0] == '{');
    manners_assert_says("solve", manners_last.out, "\"converged\":true");
    // An iteration that is cut off: exit 1, and the object is still printed.
    assert_int_equal(manners_run("solve system --solver mpcg --max-iterations 1 --json"), 1);
    manners_assert_says("solve", manners_last.out, "\"converged\":false");
    assert_int_equal(manners_run("check hang --json"), 0);
    assert_true(manners_last.out[0] == '{');
}

// Every key that `weft run --json` prints is in the documentation.
static void test_json_keys_are_documented(void** unused)
{
    (void)unused;
    static char page[TEXT_BYTES];
    manners_read(WEFT_SOURCE_DIR "/docs/run-folder.md", page);
    const char* list = strstr(page, "`weft run --json` prints");
    assert_non_null(list);
    assert_int_equal(manners_run("run hang --set cells=4 --frames 1 -o keys --json"), 0);
    int count = 0;
    for (char *at = manners_last.out, *end; (end = strstr(at, "\":")); at = end + 2, count++)
    {
        char word[64];
        *end = '\0';
        snprintf(word, sizeof(word), "`%s`", strrchr(at, '"') + 1);
        manners_assert_says("run --json", list, word);
    }
    assert_true(count >= 13);
}

// `weft check` says where obstacles lie at time 0.
static void test_check_places_obstacles(void** unused)
{
    (void)unused;
    manners_put("placed.json",
                "{\"cloth\": [{\"mesh\": {\"grid\": {\"cells\": 2}}, \"transform\": {\"translate\": [0, 9, 0]}}], "
                "\"obstacles\": [{\"shape\": {\"box\": {\"center\": "
                "[0, 0.5, 0], \"size\": [1, 2, 4]}}}, {\"shape\": {\"box\": {\"size\": 1}}, \"motion\": {\"path\": "
                "[{\"time\": 0, \"offset\": [3, 0, 0]}, {\"time\": 1}]}}]}");
    assert_int_equal(manners_run("check placed.json"), 0);
    manners_assert_says("check", manners_last.out, "from [-0.5, -0.5, -2] to [0.5, 1.5, 2] m");
    manners_assert_says("check", manners_last.out, "from [2.5, -0.5, -0.5] to [3.5, 0.5, 0.5] m");
    assert_int_equal(manners_run("check placed.json --json"), 0);
    manners_assert_says("check", manners_last.out, "\"min\":[-0.5,-0.5,-2],\"max\":[0.5,1.5,2]");
    manners_assert_says("check", manners_last.out, "\"min\":[2.5,-0.5,-0.5],\"max\":[3.5,0.5,0.5]");
}

// `weft check` says what contact and ties come to, and when the meshes are too fine for a thickness.
static void test_check_shows_contact(void** unused)
{
    (void)unused;
    manners_put(
        "patch.json",
        "{\"contact\": {\"thickness\": 0.004, \"friction\": 0.25}, \"cloth\": [{\"name\": \"sheet\", \"mesh\": "
        "{\"grid\": {\"cells\": 10}}}, {\"name\": \"patch\", \"mesh\": {\"grid\": {\"size\": 0.2, \"cells\": 2}}, "
        "\"friction\": 0.5, \"thickness\": 0.002, \"transform\": {\"translate\": [0, 0.002, 0]}}], \"ties\": "
        "[{\"cloth\": \"patch\", \"to\": \"sheet\"}, {\"cloth\": \"patch\", \"to\": \"sheet\", \"where\": "
        "{\"vertices\": [0, 1, 2]}, \"by\": \"edges\"}], \"obstacles\": [{\"name\": \"ball\", \"shape\": "
        "{\"sphere\": {\"center\": [0, -1, 0], \"radius\": 0.1}}}]}");
    assert_int_equal(manners_run("check patch.json"), 0);
    manners_assert_says("check", manners_last.out,
                        "friction of what it touches (else 0.25), thickness 0.004 m\ncloth patch");
    manners_assert_says("check", manners_last.out, "friction 0.5, thickness 0.002 m\n");
    manners_assert_says("check", manners_last.out,
                        "friction of what it touches (else 0.25), thickness 0.004 m, triangles within");
    manners_assert_says("check", manners_last.out, "tie of patch to sheet: 9 vertices, 0.002 to 0.002 m away\n");
    manners_assert_says("check", manners_last.out, "tie of patch to sheet: 2 points of edges, 0.002 to 0.002 m away");
    assert_null(strstr(manners_last.out, "note: "));
    assert_int_equal(manners_run("check patch.json --json"), 0);
    manners_assert_says("check", manners_last.out, "\"friction\":0.5,\"static_friction\":0.5,\"mass\":");
    manners_assert_says("check", manners_last.out, "\"thickness\":0.002");
    manners_assert_says("check", manners_last.out,
                        "{\"cloth\":\"patch\",\"to\":\"sheet\",\"by\":\"vertices\",\"points\":9,\"near\":0,");
    manners_assert_says("check", manners_last.out, "\"by\":\"edges\",\"points\":2,");
    // A patch upon the sheet whose middle is loose gets a note, unless the pair is excluded.
#define UPON "check patch.json --set cloth.1.transform.translate=[0,0.00001,0]"
    assert_int_equal(manners_run(UPON), 0);
    manners_assert_says("check", manners_last.out,
                        "tie of patch to sheet: 9 vertices, 1e-05 to 1e-05 m away; contact leaves 9 alone");
#define BORDER UPON " --set ties=[{\"cloth\":\"patch\",\"to\":\"sheet\",\"where\":{\"edge\":\"all\"}}]"
    assert_int_equal(manners_run(BORDER), 0);
    manners_assert_says("check", manners_last.out, "contact leaves 8 alone");
    manners_assert_says("check", manners_last.out,
                        "note: 1 vertices of `patch` are not tied and start closer than 0.003 m to `sheet`");
    assert_int_equal(manners_run(BORDER " --json"), 0);
    manners_assert_says("check", manners_last.out, "\"loose\":1,");
    manners_assert_says("check", manners_last.out, "\"warnings\":[\"1 vertices of `patch` are not tied");
    assert_int_equal(manners_run(BORDER " --set contact.exclude=[{\"pair\":[\"sheet\",\"patch\"]}]"), 0);
    assert_null(strstr(manners_last.out, "note: "));
    // The mean edge of the sheet is 0.11 m.
    assert_int_equal(manners_run("check patch.json --set cloth.0.thickness=0.1"), 0);
    assert_null(strstr(manners_last.out, "note: "));
    assert_int_equal(manners_run("check patch.json --set cloth.0.thickness=0.13"), 0);
    manners_assert_says("check", manners_last.out,
                        "note: cloth `sheet` keeps a distance of 0.13 m, more than the mean edge");
    assert_int_equal(manners_run("check patch.json --set cloth.1.thickness=0.13"), 0);
    manners_assert_says("check", manners_last.out,
                        "note: cloth `patch` keeps a distance of 0.13 m, more than the mean edge");
    assert_int_equal(manners_run("check patch.json --set obstacles.0.thickness=0.13 --json"), 0);
    manners_assert_says("check", manners_last.out,
                        "\"warnings\":[\"obstacle `ball` keeps a distance of 0.13 m, more than the mean edge");
    assert_int_equal(manners_run("check patch.json --set cloth.1.thickness=0.13 --set contact.enabled=false"), 0);
    assert_null(strstr(manners_last.out, "note: "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_help),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_systems_of_several_steps),
        cmocka_unit_test(test_json_success),
        cmocka_unit_test(test_json_keys_are_documented),
        cmocka_unit_test(test_check_places_obstacles),
        cmocka_unit_test(test_check_shows_contact),
    };
    return cmocka_run_group_tests(tests, manners_make_folder, manners_remove_folder);
}
