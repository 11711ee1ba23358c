// Garments that do not fit yet are put on bodies: what comes out starts without crossings, by an inspector that shares
// no code with it, around the body and not beside it, in the order of the layers; with the vertices, groups and maps of
// the files; with the same bits on any number of threads. What cannot be put on is named, and its folder shows it.
#define _POSIX_C_SOURCE 200809L
#include "common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common_garments.h"
#include "common_scene.h"
#include "start/dress.h"

static int shell(const char* line)
{
    return test_shell(scene_folder, line);
}

static void expect_dressed(const char* arguments)
{
    char line[2560];
    snprintf(line, sizeof(line), "\"$WEFT\" dress %s -o worn --force --threads 2 > out 2> err", arguments);
    if (shell(line) != 0)
    {
        shell("cat out err");
        fail_msg("%s: not dressed", arguments);
    }
    assert_int_equal(
        shell("\"$WEFT\" check worn/scene.json > table && grep -q 'initial_contact.*refuse' worn/scene.json"), 0);
    assert_int_equal(shell("\"$WEFT\" inspect worn > table"), 0);
    assert_int_equal(shell("\"$WEFT\" run worn/scene.json -o run --frames 1 --force --set steps_per_frame=2 > table"),
                     0);
}

// ---- the core of a body

// Of a long tube all vertices go to its axis, and its ends stay where they are but for two radii.
static void core_is_the_middle(void** state)
{
    (void)state;
    maker* m = maker_create();
    maker_tube(m, v3(0, -0.5, 0), v3(0, 0.5, 0), 0.05, 16, 60, true);
    vec3* core = calloc((size_t)m->vertex_count, sizeof(vec3));
    assert_int_equal(core_find(m->triangle, m->triangle_count, m->x, m->vertex_count, core), WEFT_OK);
    double low = 0.0, high = 0.0;
    for (int i = 0; i < m->vertex_count; i++)
    {
        assert_true(hypot(core[i].x, core[i].z) < 0.15 * 0.05);
        assert_true(fabs(core[i].y - m->x[i].y) < 2.0 * 0.05);
        low = fmin(low, core[i].y);
        high = fmax(high, core[i].y);
    }
    assert_true(low < -0.4 && high > 0.4);
    free(core);
    free(m);
}

// Vertices that are split along a seam stay together, and a surface that is turned inside out has no other core.
static void splits_do_not_matter(void** state)
{
    (void)state;
    maker *m = maker_create(), *split = maker_create();
    maker_tube(m, v3(0, -0.3, 0), v3(0, 0.3, 0), 0.05, 12, 30, true);
    for (int t = 0; t < 3 * m->triangle_count; t++)
    {
        split->triangle[t] = maker_vertex(split, m->x[m->triangle[t]]);
    }
    split->triangle_count = m->triangle_count;
    vec3 *one = calloc((size_t)m->vertex_count, sizeof(vec3)),
         *other = calloc((size_t)split->vertex_count, sizeof(vec3));
    assert_int_equal(core_find(m->triangle, m->triangle_count, m->x, m->vertex_count, one), WEFT_OK);
    assert_int_equal(core_find(split->triangle, split->triangle_count, split->x, split->vertex_count, other), WEFT_OK);
    for (int t = 0; t < 3 * m->triangle_count; t++)
    {
        assert_true(v3_length(v3_sub(one[m->triangle[t]], other[t])) < 1e-4);
    }
    free(one);
    free(other);
    free(m);
    free(split);
}

// ---- dressing

// A tube that is narrower than the body stretches, and is around it in the end.
static void tube_on_a_trunk(void** state)
{
    (void)state;
    maker *body = maker_create(), *tube = maker_create();
    maker_tube(body, v3(0, -0.3, 0), v3(0, 0.3, 0), 0.1, 24, 30, true);
    maker_tube(tube, v3(0.01, -0.12, 0.015), v3(-0.01, 0.12, 0.01), 0.095, 30, 14, false);
    maker_write(body, "body.obj");
    maker_write(tube, "tube.obj");
    expect_dressed("tube.obj --body body.obj");
    assert_int_equal(shell("grep -q 'body began' out && grep -q '^0 garment' out; test $? = 1"), 0);
    assert_int_equal(
        shell("awk '/^v / {r = sqrt($2 * $2 + $4 * $4); if (r < 0.098 || r > 0.12) bad++} END {exit bad > 0}' "
              "worn/tube.start.obj"),
        0);
}

static void shirt_on_two_arms(void** state)
{
    (void)state;
    write_body("body.obj", 20.0);
    write_shirt("shirt.obj", v3(0.02, 0.03, 0.01), 1.0, 0.03);
    expect_dressed("shirt.obj --body body.obj");
    // The trunk is inside of it: cloth before and behind.
    assert_int_equal(
        shell("awk '/^v / && $3 > 0.1 && $3 < 0.2 {if ($4 > 0.1) front++; if ($4 < -0.1) back++} END {exit "
              "!(front > 5 && back > 5)}' worn/shirt.start.obj"),
        0);
}

// A body without arms in a shirt: sleeves stay empty.
static void sleeves_stay_empty(void** state)
{
    (void)state;
    maker* m = maker_create();
    maker_tube(m, v3(0, -0.2, 0), v3(0, 0.3, 0), 0.06, 20, 24, true);
    maker_write(m, "body.obj");
    write_shirt("shirt.obj", v3(0, 0.0, 0), 1.0, 0.03);
    expect_dressed("shirt.obj --body body.obj");
}

static void layers_in_their_order(void** state)
{
    (void)state;
    write_body("body.obj", 12.0);
    write_shirt("shirt.obj", v3(0, 0.03, 0), 1.0, 0.04);
    write_shirt("jacket.obj", v3(0, 0.02, 0), 1.08, 0.03); // it lies inside of the shirt
    expect_dressed("shirt.obj jacket.obj --body body.obj");
    assert_int_equal(shell("grep -q '2 garments put on' out"), 0);
    // In front of the trunk's middle the jacket is farther out than the shirt.
    assert_int_equal(
        shell("for n in shirt jacket; do awk '/^v / && $2 * $2 < 0.0016 && $3 > 0.1 && $3 < 0.25 && $4 > 0 "
              "{s += $4; n++} END {print s / n}' worn/$n.start.obj; done > depths; awk 'NR == 1 {a = $1} NR "
              "== 2 {exit !($1 > a + 0.0005)}' depths"),
        0);
}

// From a pose that the shirt fits to another.
static void body_moves_to_its_pose(void** state)
{
    (void)state;
    write_body("stands.obj", 10.0);
    write_body("body.obj", 40.0);
    write_shirt("shirt.obj", v3(0, 0.03, 0), 1.0, 0.05);
    expect_dressed("shirt.obj --body body.obj --pose stands.obj");
    assert_int_equal(
        shell("\"$WEFT\" dress shirt.obj --body body.obj --pose shirt.obj -o none > out 2> err; test $? = 2 && "
              "grep -q 'pose has' err"),
        0);
}

static void files_keep_what_they_say(void** state)
{
    (void)state;
    maker* body = maker_create();
    maker_tube(body, v3(0, -0.3, 0), v3(0, 0.3, 0), 0.1, 24, 30, true);
    maker_write(body, "body.obj");
    maker* tube = maker_create();
    maker_tube(tube, v3(0, -0.1, 0), v3(0, 0.1, 0), 0.095, 30, 12, false);
    maker_write(tube, "plain.obj");
    assert_int_equal(
        shell("awk 'BEGIN {print \"o tube\\nvt 0 0\\nvt 1 0\\nvt 0 1\\nvn 0 0 1\\nusemtl red\"} /^f/ {print "
              "\"f \" $2 \"/1/1 \" $3 \"/2/1 \" $4 \"/3/1\"; next} {print}' plain.obj > rich.obj"),
        0);
    expect_dressed("rich.obj --body body.obj");
    assert_int_equal(
        shell("grep -v '^v' rich.obj | sed 's,/1 ,/ ,g; s,/1$,/,; s,/\\( \\|$\\),\\1,g' > want; grep -v '^v' "
              "worn/rich.start.obj > got; cmp want got"),
        0);
    assert_int_equal(shell("grep '^vt' rich.obj > want; grep '^vt' worn/rich.start.obj > got; cmp want got; test "
                           "$(grep -c '^v ' rich.obj) = $(grep -c '^v ' worn/rich.start.obj)"),
                     0);
}

static void bits_repeat(void** state)
{
    (void)state;
    write_body("body.obj", 20.0);
    write_shirt("shirt.obj", v3(0.01, 0.03, 0.01), 1.0, 0.03);
    assert_int_equal(shell("\"$WEFT\" dress shirt.obj --body body.obj -o one --threads 1 > out 2> err"), 0);
    assert_int_equal(shell("\"$WEFT\" dress shirt.obj --body body.obj -o two --threads 3 > out 2> err"), 0);
    assert_int_equal(shell("cmp one/shirt.pc2 two/shirt.pc2 && cmp one/shirt.start.obj two/shirt.start.obj"), 0);
    assert_int_equal(shell("\"$WEFT\" dress shirt.obj --body body.obj -o two > out 2> err; test $? = 2"),
                     0); // it is there
    assert_int_equal(shell("rm -rf one two"), 0);
}

// A scene that settles: the body is thin at first and grows into the shirt, whose front and back start inside of it.
// Nothing that is new crosses, all is apart within half a second, and in front of the trunk and behind it there is
// cloth.
static void body_grows_in_a_run(void** state)
{
    (void)state;
    write_body("body.obj", 0.0);
    write_shirt("shirt.obj", v3(0.01, 0.03, 0.01), 1.0, 0.05);
    static const char scene[] =
        "{\"time_step\": 0.005, \"steps_per_frame\": 10, \"frames\": 12, \"initial_contact\": \"settle\", "
        "\"cloth\": [{\"name\": \"shirt\", \"mesh\": {\"obj\": \"shirt.obj\"}}], "
        "\"obstacles\": [{\"name\": \"body\", \"mesh\": {\"obj\": \"body.obj\"}}]}";
    scene_write_bytes(scene_path("grow.json"), scene, strlen(scene));
    bool clean = shell("\"$WEFT\" run grow.json -o one --threads 1 > out 2> err && \"$WEFT\" inspect one > table") == 0;
    shell("cat err; tail -2 table");
    assert_true(clean);
    assert_int_equal(
        shell("sed -n 's/.*is apart since step \\([0-9]*\\).*/\\1/p' err > step; test $(cat step) -gt 1 && "
              "test $(cat step) -le 100"),
        0);
    assert_int_equal(shell("\"$WEFT\" export one --to obj -o objs > out 2> err"), 0);
    assert_int_equal(
        shell(
            "awk '/^v / && $2 * $2 < 0.0016 && $3 > 0.1 && $3 < 0.25 {front += $4 > 0.1; back += $4 < -0.1} END {exit "
            "!(front > 5 && back > 5)}' $(ls objs/shirt.*.obj | tail -1)"),
        0);
    // The same bits on other threads, and when it is stopped while the body grows.
    assert_int_equal(shell("\"$WEFT\" run grow.json -o two --threads 3 --frames 2 > out 2> err"), 0);
    assert_int_equal(shell("tail -1 two/stats.jsonl | grep -q unsettled"), 0);
    assert_int_equal(shell("\"$WEFT\" run grow.json -o two --threads 3 --resume > out 2> err"), 0);
    assert_int_equal(shell("cmp one/shirt.pc2 two/shirt.pc2"), 0);
    assert_int_equal(shell("rm -rf one two objs out err table step"), 0);
}

// A T-shirt of the public data on a standing body of 47,500 triangles.
static void public_garment(void** state)
{
    (void)state;
    const char* data = getenv("WEFT_TEST_DATA");
    data = data ? data : WEFT_SOURCE_DIR "/../shared/data";
    char line[2048];
    snprintf(line, sizeof(line), "test -r '%s/garments/tshirt1900.obj' && test -r '%s/patterns/body.obj'", data, data);
    if (shell(line) != 0)
    {
        print_message("skipped: %s has no garments\n", data);
        skip();
    }
    snprintf(line, sizeof(line),
             "'%s/garments/tshirt1900.obj' --body '%s/patterns/body.obj' --set cloth.0.mesh.scale=0.068 --set "
             "cloth.0.transform.translate=[0.0017,0.6319,-0.0184]",
             data, data);
    expect_dressed(line);
    assert_int_equal(shell("grep -q ' [1-9][0-9]* crossings at the start, 0 in the end' out"), 0);
}

// ---- what goes wrong

static void wrong_input_gets_a_sentence(void** state)
{
    (void)state;
    static const struct
    {
        const char *arguments, *words;
    } cases[] = {
        {"", "which garments"},
        {"shirt.obj", "on which body"},
        {"shirt.obj --body none.obj", "none.obj"},
        {"none.obj --body body.obj", "none.obj"},
        {"shirt.obj --body body.obj --pose none.obj", "none.obj"},
        {"shirt.obj --body body.obj --colour red", "unknown option"},
        {"shirt.obj --body body.obj --threads many", "whole number"},
        {"shirt.obj --body", "missing"},
        {"shirt.obj --body empty.obj", "empty.obj"},
    };
    write_body("body.obj", 20.0);
    write_shirt("shirt.obj", v3(0, 0.03, 0), 1.0, 0.03);
    scene_write_bytes(scene_path("empty.obj"), "v 0 0 0\n", 8);
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++)
    {
        char line[512];
        snprintf(line, sizeof(line), "\"$WEFT\" dress -o none %s > out 2> err; test $? = 2 && grep -q '%s' err",
                 cases[k].arguments, cases[k].words);
        if (shell(line) != 0)
        {
            shell("cat err");
            fail_msg("%s", cases[k].arguments);
        }
        assert_int_not_equal(shell("test -e none"), 0);
    }
}

// What is in another unit, or somewhere else, crosses nothing either, and is told.
static void what_is_not_around_the_body_is_told(void** state)
{
    (void)state;
    write_body("body.obj", 20.0);
    write_shirt("shirt.obj", v3(0, 0.03, 0), 1.0, 0.03);
    assert_int_equal(shell("\"$WEFT\" dress shirt.obj --body body.obj --force -o far --set "
                           "cloth.0.transform.translate=[9,0,0] > out 2> err && grep -q 'beside the body' err"),
                     0);
    assert_int_equal(shell("\"$WEFT\" dress shirt.obj --body body.obj --force -o far --set cloth.0.mesh.scale=100 "
                           "--set cloth.0.transform.translate=[900,0,0] > out 2> err && grep -q 'another unit' err"),
                     0);
}

// ---- a start that is not the rest shape

static void start_is_not_rest(void** state)
{
    (void)state;
    static const char text[] =
        "{\"frames\": 1, \"steps_per_frame\": 1, \"gravity\": [0, 0, 0], \"cloth\": [{\"name\": \"a\", \"mesh\": "
        "{\"grid\": {\"cells\": 2}}, \"start\": {\"obj\": \"moved.obj\", \"scale\": 0.01}}]}";
    static const char few[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    scene_write_bytes(scene_path("scene.json"), text, strlen(text));
    // The grid as OBJ, in centimetres, 10 % larger.
    assert_int_equal(
        shell("echo '{\"frames\": 0, \"cloth\": [{\"name\": \"a\", \"mesh\": {\"grid\": {\"cells\": 2}}}]}' > "
              "flat.json && \"$WEFT\" run flat.json --force -o flat > out && awk '/^v / {print \"v\", 110 * $2, "
              "110 * $3, 110 * $4; next} {print}' flat/a.obj > moved.obj"),
        0);
    assert_int_equal(
        shell("\"$WEFT\" run scene.json --force -o run > out 2> err && \"$WEFT\" run run/scene.json --force -o "
              "again > out 2> err && cmp run/a.pc2 again/a.pc2"),
        0);
    assert_int_equal(shell("cmp flat/a.obj run/a.obj"), 0); // the rest shape stays
    assert_int_equal(shell("\"$WEFT\" inspect run --frame 0 --json | grep -q '\"max_strain\":0.1000'"), 0);
    scene_write_bytes(scene_path("moved.obj"), few, strlen(few));
    assert_int_equal(
        shell("\"$WEFT\" check scene.json > out 2> err; test $? = 2 && grep -q 'start has 3 vertices' err"), 0);
    assert_int_equal(
        shell("rm -f moved.obj; \"$WEFT\" check scene.json > out 2> err; test $? = 2 && grep -q moved.obj err"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(core_is_the_middle),
        cmocka_unit_test(splits_do_not_matter),
        cmocka_unit_test(tube_on_a_trunk),
        cmocka_unit_test(shirt_on_two_arms),
        cmocka_unit_test(body_grows_in_a_run),
        cmocka_unit_test(sleeves_stay_empty),
        cmocka_unit_test(layers_in_their_order),
        cmocka_unit_test(body_moves_to_its_pose),
        cmocka_unit_test(files_keep_what_they_say),
        cmocka_unit_test(bits_repeat),
        cmocka_unit_test(public_garment),
        cmocka_unit_test(wrong_input_gets_a_sentence),
        cmocka_unit_test(what_is_not_around_the_body_is_told),
        cmocka_unit_test(start_is_not_rest),
    };
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
