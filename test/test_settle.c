// Starts that cross and run all the same: their steps part what crosses, for every method, and no other crossing
// appears, by an inspector that shares no code with it. Layers end in the order that the scene gives them. The same
// bits on any number of threads, and across a run that was stopped while it settled.
#define _POSIX_C_SOURCE 200809L
#include "common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common_scene.h"

#define HEAD "{\"time_step\": %s, \"steps_per_frame\": %d, \"frames\": %d, \"initial_contact\": \"settle\", "
#define SHEET(name, cells, more)                                                                                       \
    "{\"name\": \"" name "\", \"mesh\": {\"grid\": {\"cells\": " cells ", \"tessellation\": \"irregular\"}}, " more "}"
#define BALL "\"obstacles\": [{\"name\": \"ball\", \"shape\": {\"sphere\": {\"center\": [0, 0, 0], \"radius\": 0.25}}}]"
#define FLOOR "\"obstacles\": [{\"name\": \"floor\", \"shape\": {\"plane\": {\"point\": [0, 0, 0], \"size\": 4}}}]"

static const char in_ball[] =
    "\"cloth\": [" SHEET("a", "16", "\"transform\": {\"translate\": [0, 0.2, 0]}") "], " BALL "}";
static const char in_floor[] =
    "\"cloth\": [" SHEET("a", "12", "\"transform\": {\"rotate\": [7, 0, 13], \"translate\": [0, 0.05, 0]}") "], " FLOOR
                                                                                                            "}";
static const char in_sheet[] =
    "\"cloth\": [" SHEET("a", "10", "\"transform\": {\"rotate\": [7, 0, 3], \"translate\": [0, 0.3, 0]}") ", " SHEET(
        "b", "13", "\"transform\": {\"rotate\": [-9, 30, 3], \"translate\": [0.1, 0.3, 0.2]}") "], " FLOOR "}";

static int shell(const char* line)
{
    return test_shell(scene_folder, line);
}

static void write_scene(const char* step, int steps, int frames, const char* rest)
{
    char text[2048];
    int used = snprintf(text, sizeof(text), HEAD, step, steps, frames);
    snprintf(text + used, sizeof(text) - (size_t)used, "%s", rest);
    scene_write_bytes(scene_path("scene.json"), text, strlen(text));
}

// It starts with crossings, ends without, and in between nothing crosses that did not hang together with the start.
static void expect_settled(const char* options)
{
    char line[512];
    snprintf(line, sizeof(line), "\"$WEFT\" run scene.json --force -o run %s > out 2> err", options);
    if (shell(line) != 0 || shell("grep -q 'starts with [1-9][0-9]* crossing' err") != 0 ||
        shell("\"$WEFT\" inspect run > table") != 0 ||
        shell("tail -1 table | grep -q 'no new crossing.* 0 in the last'") != 0)
    {
        shell("cat err; tail -4 table");
        fail_msg("%s: does not settle", options);
    }
    assert_int_equal(shell("rm -f table out err"), 0);
}

static void one_method_parts_all(void** state)
{
    (void)state;
    static const char* const scenes[] = {in_ball, in_floor, in_sheet};
    for (int k = 0; k < 3; k++)
    {
        write_scene("0.004", 5, 25, scenes[k]);
        expect_settled("--threads 2");
    }
}

// Explicit methods at the steps that they bear.
static void every_method_settles(void** state)
{
    (void)state;
    static const char* const methods[] = {"newton", "bdf2", "imex", "imex2", "local-global --set model=hooke",
                                          "pbd",    "hpbd"};
    for (size_t k = 0; k < sizeof(methods) / sizeof(methods[0]); k++)
    {
        char options[64];
        snprintf(options, sizeof(options), "--method %s", methods[k]);
        write_scene("0.004", 5, 20, in_ball);
        expect_settled(options);
    }
}

// Two sheets of which the scene wants the lower one outside of the ball's skin: nothing crosses, and they change
// places.
static void layers_change_places(void** state)
{
    (void)state;
    static const char rest[] = "\"gravity\": [0, 0, 0], \"layers\": [\"ball\", \"a\", \"b\"], \"cloth\": [" SHEET(
        "a", "10",
        "\"transform\": {\"scale\": 0.3, \"translate\": [0, 0.28, 0]}") ", " SHEET("b", "9",
                                                                                   "\"transform\": {\"scale\": "
                                                                                   "0.3, \"translate\": [0, "
                                                                                   "0.265, 0]}") "], " BALL "}";
    write_scene("0.004", 5, 10, rest);
    assert_int_equal(shell("\"$WEFT\" run scene.json --force -o run > out 2> err && \"$WEFT\" inspect run > table"), 0);
    assert_int_equal(shell("grep -q 'since step' err"), 0);
    assert_int_equal(shell("\"$WEFT\" export run --to obj -o objs > out 2> err"), 0);
    // The mean height of either.
    assert_int_equal(
        shell("for n in a b; do awk '/^v /{s+=$3;n++} END{print s/n}' $(ls objs/$n.*.obj | tail -1); done > "
              "heights; awk 'NR==1{a=$1} NR==2{exit !($1 > a + 0.0005)}' heights"),
        0);
    assert_int_equal(shell("rm -rf out err table objs heights"), 0);
}

// Of all steps of the run, whose number is that.
static void stretch_stays_below(const char* most, int steps)
{
    char command[300];
    snprintf(command, sizeof(command),
             "sed 's/.*\"max_stretch\": *\\([0-9.e+-]*\\).*/\\1/' run/stats.jsonl > stretch; "
             "awk '$1 > %s || !($1 > 0) {bad++} END {exit bad > 0 || NR != %d}' stretch",
             most, steps);
    assert_int_equal(shell(command), 0);
}

// An arm that goes through the wall of a sleeve and moves: it cannot come out, and pulls at the cloth all the time. A
// linear step may then throw the cloth about (2.8 times its length before such steps were judged).
static void what_stays_is_calm(void** state)
{
    (void)state;
    static const char rest[] = "\"cloth\": [{\"name\": \"sleeve\", \"mesh\": {\"grid\": {\"shape\": \"tube\", "
                               "\"plane\": \"xy\", \"size\": [0.38, 0.4], "
                               "\"cells\": [24, 24]}}, \"transform\": {\"translate\": [0, -0.2, 0]}, \"pins\": "
                               "[{\"where\": {\"edge\": \"top\"}}]}], "
                               "\"obstacles\": [{\"name\": \"arm\", \"shape\": {\"capsule\": {\"from\": [-0.2, -0.3, "
                               "0], \"to\": [0.3, 0.3, 0], "
                               "\"radius\": 0.03}}, \"motion\": {\"path\": [{\"time\": 0}, {\"time\": 0.2, \"angle\": "
                               "40}, {\"time\": 0.4, \"angle\": -40}, "
                               "{\"time\": 0.6, \"angle\": 40}], \"axis\": [1, 0, 0], \"center\": [0, 0, 0]}}]}";
    write_scene("0.00833", 1, 60, rest);
    assert_int_equal(
        shell("\"$WEFT\" run scene.json --force -o run --threads 1 > out 2> err && \"$WEFT\" inspect run > table"), 0);
    assert_int_equal(shell("tail -1 table | grep -q 'no new crossing.* [1-9][0-9]* in the last'"), 0);
    stretch_stays_below("2.2", 60);
    assert_int_equal(shell("rm -rf out err table stretch"), 0);
}

// Cloth whose border is pinned deep in a body cannot come out, however far it is drawn: it is drawn to a few times its
// length (6.4 and further where nothing gave way), is left there, and comes to rest.
static void what_cannot_come_out_is_left(void** state)
{
    (void)state;
    static const char rest[] =
        "\"gravity\": [0, 0, 0], \"cloth\": [{\"name\": \"a\", \"mesh\": {\"grid\": {\"size\": 0.1, \"cells\": "
        "8, \"tessellation\": \"irregular\"}}, \"transform\": {\"translate\": [0, 0.02, 0]}, \"material\": "
        "{\"base\": \"cotton\", \"stretch_warp\": 50, \"stretch_weft\": 50, \"shear\": 5}, \"pins\": [{\"where\": "
        "{\"edge\": \"top\"}}, {\"where\": {\"edge\": \"bottom\"}}, {\"where\": {\"edge\": \"left\"}}, "
        "{\"where\": {\"edge\": \"right\"}}]}], \"obstacles\": [{\"name\": \"ball\", \"shape\": {\"sphere\": "
        "{\"center\": [0, 0, 0], \"radius\": 0.6}}}]}";
    write_scene("0.004", 5, 15, rest);
    assert_int_equal(
        shell("\"$WEFT\" run scene.json --force -o run --threads 1 > out 2> err && \"$WEFT\" inspect run > table"), 0);
    assert_int_equal(shell("tail -1 table | grep -q 'no new crossing.* 1 in the last'"), 0);
    stretch_stays_below("5", 75);
    assert_int_equal(shell("rm -rf run out err table stretch"), 0);
}

// Beside what crosses, a sheet stands on a tessellated floor, vertices on its edges, and moves down: touching exactly
// it has no side yet, and nothing may let it through.
static void what_touches_stays_on_its_side(void** state)
{
    (void)state;
    write_scene(
        "0.004", 5, 12,
        "\"cloth\": [" SHEET(
            "a", "16",
            "\"transform\": {\"translate\": [0, 0.2, 0]}") ", {\"name\": \"b\", \"mesh\": {\"grid\": {\"cells\": 10, "
                                                           "\"plane\": \"xy\", \"tessellation\": "
                                                           "\"regular\"}}, \"transform\": {\"translate\": [2, 0.5, "
                                                           "0]}, \"velocity\": [0, -1, 0]}], "
                                                           "\"obstacles\": [{\"name\": \"ball\", \"shape\": "
                                                           "{\"sphere\": {\"center\": [0, 0, 0], "
                                                           "\"radius\": 0.25}}}, {\"name\": \"floor\", \"shape\": "
                                                           "{\"plane\": {\"point\": [2, 0, 0], "
                                                           "\"size\": 2, \"segments\": 40}}}]}");
    assert_int_equal(shell("\"$WEFT\" run scene.json --force -o run > out 2> err && \"$WEFT\" inspect run > table"), 0);
    assert_int_equal(shell("tail -1 table | grep -q 'no new crossing.* 0 in the last'"), 0);
    assert_int_not_equal(shell("grep -q 'closed on the cloth' err"), 0);
    assert_int_equal(shell("rm -rf run out err table"), 0);
}

static void bits_repeat_and_resume(void** state)
{
    (void)state;
    write_scene("0.004", 2, 12, in_sheet);
    assert_int_equal(shell("\"$WEFT\" run scene.json --force -o one --threads 1 > out 2> err"), 0);
    assert_int_equal(shell("\"$WEFT\" run scene.json --force -o two --threads 3 > out 2> err"), 0);
    assert_int_equal(shell("cmp one/a.pc2 two/a.pc2 && cmp one/b.pc2 two/b.pc2"), 0);
    assert_int_equal(shell("\"$WEFT\" run scene.json --frames 4 --force -o two > out 2> err"), 0);
    assert_int_equal(shell("tail -1 two/stats.jsonl | grep -q unsettled"), 0); // it is not over yet
    assert_int_equal(shell("\"$WEFT\" run scene.json --resume -o two > out 2> err"), 0);
    assert_int_equal(shell("cmp one/a.pc2 two/a.pc2 && cmp one/b.pc2 two/b.pc2"), 0);
    assert_int_equal(shell("rm -rf one two out err"), 0);
}

// What is told apart: a crossing that a line of stats does not list is new, whatever the start was.
static void other_crossings_are_new(void** state)
{
    (void)state;
    write_scene("0.004", 1, 3, in_ball);
    assert_int_equal(shell("\"$WEFT\" run scene.json --force -o run > out 2> err && \"$WEFT\" inspect run > table"), 0);
    assert_int_equal(shell("sed -i 's/,\"unsettled\":.*$/}/' run/stats.jsonl"), 0);
    assert_int_not_equal(shell("\"$WEFT\" inspect run > table"), 0);
    assert_int_equal(shell("rm -rf run out err table"), 0);
}

// Which bodies, how many pairs, and where: after one step the sheet is still in the ball, whose top it crosses all
// round.
static void what_is_left_is_named(void** state)
{
    (void)state;
    write_scene("0.004", 1, 1, in_ball);
    assert_int_equal(shell("\"$WEFT\" run scene.json --force -o run > out 2> err"), 0);
    assert_int_equal(shell("grep -q '[0-9]* pairs of the start are not apart yet' err"), 0);
    assert_int_equal(shell("grep '^  `a` with `ball`: [1-9][0-9]* pairs\\? around (.*, 0.[0-9]*, .*)$' err > places"),
                     0);
    // All pairs are in one of the places.
    assert_int_equal(
        shell("sed 's/.*: \\([0-9]*\\) pairs\\? around.*/\\1/' places | awk '{s+=$1} END {print s}' > said; "
              "sed -n 's/^  and \\([0-9]*\\) in .*/\\1/p' err | cat - said | awk '{s+=$1} END {print s}' > sum; "
              "sed -n 's/.*warning: \\([0-9]*\\) pairs of the start.*/\\1/p' err | cmp - sum"),
        0);
    assert_int_equal(shell("rm -rf run out err places said sum"), 0);
}

static void wrong_layers_get_a_sentence(void** state)
{
    (void)state;
    write_scene("0.004", 1, 1,
                "\"layers\": [\"a\", \"coat\"], \"cloth\": [{\"name\": \"a\", \"mesh\": {\"grid\": {\"cells\": 4}}}]}");
    assert_int_equal(shell("\"$WEFT\" check scene.json > out 2> err; test $? = 2 && grep -q 'layers.*coat' err"), 0);
    write_scene("0.004", 1, 1,
                "\"layers\": [\"a\", \"a\"], \"cloth\": [{\"name\": \"a\", \"mesh\": {\"grid\": {\"cells\": 4}}}]}");
    assert_int_equal(shell("\"$WEFT\" check scene.json > out 2> err; test $? = 2 && grep -q 'in two places' err"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_method_parts_all),         cmocka_unit_test(every_method_settles),
        cmocka_unit_test(layers_change_places),         cmocka_unit_test(bits_repeat_and_resume),
        cmocka_unit_test(other_crossings_are_new),      cmocka_unit_test(wrong_layers_get_a_sentence),
        cmocka_unit_test(what_stays_is_calm),           cmocka_unit_test(what_is_left_is_named),
        cmocka_unit_test(what_cannot_come_out_is_left), cmocka_unit_test(what_touches_stays_on_its_side),
    };
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
