// The scenes that ship with contact, by the inspector: each starts without a crossing at its own size and when it is
// fine or irregular; the short form of `weft bench contact-scenes` finds none. drop-vertical gives the same bits on 1,
// 2, 3 and 8 threads and after a kill.
#define _GNU_SOURCE
#include "common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/contact_run.h"

#include "common_run.h"
#include "common_scene.h"

static const char* const scenes[] = {"drop-horizontal", "drop-vertical", "sphere", "table", "slope",
                                     "stack",           "ring",          "twist",  "skirt", "ball"};

enum
{
    SCENE_COUNT = sizeof(scenes) / sizeof(scenes[0])
};

// Exit status of a script in the scene's folder; what it prints is in out.txt and err.txt.
static int shell(const char* script)
{
    char line[4096];
    snprintf(line, sizeof(line), "{ %s ; } > out.txt 2> err.txt", script);
    return test_shell(scene_folder, line);
}

// ---- starts

static contact_totals start_of(const char* scene, int cells, const char* tessellation)
{
    contact_case c = {.scene = scene,
                      .cells = cells,
                      .tessellation = tessellation,
                      .frames = 0,
                      .friction = -1.0,
                      .threads = 1,
                      .inspect = true};
    contact_totals t;
    assert_int_equal(contact_run(&c, NULL, NULL, &t), WEFT_OK);
    return t;
}

static void every_start_is_clean(void** unused)
{
    (void)unused;
    static const struct
    {
        int cells;
        const char* tessellation;
    } forms[] = {{0, NULL}, {13, NULL}, {61, NULL}, {30, "irregular"}};
    for (int k = 0; k < SCENE_COUNT * 4; k++)
    {
        contact_totals t = start_of(scenes[k / 4], forms[k % 4].cells, forms[k % 4].tessellation);
        if (t.crossings != 0)
        {
            fail_msg("%s starts with %lld crossings with %d cells", scenes[k / 4], (long long)t.crossings,
                     forms[k % 4].cells);
        }
    }
}

// The watch itself: a sheet that is put through the box is seen.
static void a_crossing_is_seen(void** unused)
{
    (void)unused;
    static const char* const sets[] = {"cloth.0.transform.translate=[0,0.03,0]",
                                       "contact.exclude=[{\"pair\":[\"sheet\",\"box\"]}]"};
    contact_case c = {.scene = "drop-horizontal",
                      .sets = sets,
                      .set_count = 2,
                      .cells = 20,
                      .frames = 1,
                      .friction = -1.0,
                      .threads = 1,
                      .inspect = true};
    contact_totals t;
    assert_int_equal(contact_run(&c, NULL, NULL, &t), WEFT_OK);
    assert_true(t.crossings > 0);
    assert_int_equal(t.crossing_frame, 0);
}

// What bodies close on is counted apart, crossings and cloth that ends inside alike.
static void squeezed_is_apart(void** unused)
{
    (void)unused;
    scene_write_bytes(scene_path("press.json"), scene_press, strlen(scene_press));
    contact_case c = {.scene = scene_path("press.json"), .frames = 5, .friction = -1.0, .threads = 1, .inspect = true};
    contact_totals t;
    assert_int_equal(contact_run(&c, NULL, NULL, &t), WEFT_OK);
    assert_true(t.completed);
    assert_int_equal(t.crossings, 0);
    assert_int_equal(t.crossing_frame, -1);
    assert_true(t.squeezed > 0);
    assert_true(t.squeezed_crossings > 3); // in several frames
}

// Jitter is of the size that it says, and another for another seed.
static void starts_are_jittered(void** unused)
{
    (void)unused;
    vec3 center[3];
    for (int k = 0; k < 3; k++)
    {
        contact_case c = {.scene = "sphere", .cells = 8, .start = k, .jitter = 1e-6, .friction = -1.0, .threads = 1};
        contact_totals t;
        assert_int_equal(contact_run(&c, NULL, NULL, &t), WEFT_OK);
        center[k] = t.start_center;
    }
    for (int k = 0; k < 3; k++)
    {
        double apart = v3_length(v3_sub(center[k], center[(k + 1) % 3]));
        assert_true(apart > 1e-9 && apart < 1e-6); // of the mean of 81 vertices
    }
}

// ---- runs

static void short_form_is_clean(void** unused)
{
    (void)unused;
    int status = shell("\"$WEFT\" bench contact-scenes --short --json > short.json");
    char path[512];
    size_t size;
    snprintf(path, sizeof(path), "%s/short.json", scene_folder);
    char* text = test_file_read(path, &size);
    int rows = 0, completed = 0;
    for (const char* at = text; (at = strstr(at, "\"key\":")); at++)
    {
        rows++;
    }
    for (const char* at = text; (at = strstr(at, "\"completed\":1")); at++)
    {
        completed++;
    }
    if (status != 0 || !strstr(text, "\"failures\":0}"))
    {
        fail_msg("exit status %d, %s", status, text);
    }
    assert_int_equal(rows, 5 * SCENE_COUNT);
    assert_int_equal(completed, rows);
    free(text);
    // Finished runs are not done again.
    assert_int_equal(shell("cp weft-bench-contact-scenes.jsonl before && \"$WEFT\" bench contact-scenes --short "
                           "&& cmp before weft-bench-contact-scenes.jsonl"),
                     0);
}

// The other two benchmarks on tiny sheets: they end, say what they measured, and refuse what they cannot measure.
static void benchmarks_of_contact(void** unused)
{
    (void)unused;
    assert_int_equal(
        shell("\"$WEFT\" bench drop --cells 8 --frames 2 --json > drop.json && grep -c '\"solver\":' drop.json > count"
              " && [ $(cat count) = 12 ] && grep -q '\"failures\":0}' drop.json"),
        0);
    assert_int_equal(
        shell("\"$WEFT\" bench contact --coarse 10 --cells 20 --sizes 10,20,40 --from 2 --steps 2 --sphere-cells 10 "
              "--sphere-frames 3 --json > contact.json && grep -q '\"ratio\"' contact.json && "
              "grep -q '\"contact_ms\"' contact.json && grep -q '\"vertices\":1681.*\"growth\"' contact.json"),
        0);
    // Without --frames and --short: the scene's own.
    assert_int_equal(
        shell("\"$WEFT\" bench contact-scenes --scenes twist --cells 6 --starts 0 --log own.jsonl --json > own.json && "
              "[ $(grep -c '\"frames\":75,\"steps\":600,' own.json) = 3 ]"),
        0);
    assert_int_equal(shell("\"$WEFT\" bench contact --coarse 30 --cells 40"), 2);
    assert_int_equal(shell("\"$WEFT\" bench drop --solvers nonsense"), 2);
    assert_int_equal(shell("\"$WEFT\" bench contact-scenes --scenes pinned"), 2);
}

#define DROP "run drop-vertical --set cells=20 --frames 12 -o "
#define SAME(run) "cmp one/sheet.pc2 " run "/sheet.pc2 && cmp one/checkpoint.weft " run "/checkpoint.weft"

static void same_bits(void** unused)
{
    (void)unused;
    assert_int_equal(shell("\"$WEFT\" " DROP "one --threads 1"), 0);
    assert_int_equal(
        shell("for n in 2 3 8; do \"$WEFT\" " DROP "many --threads $n --force && " SAME("many") " || exit 9; done"), 0);
}

// Killed in the middle, when cloth lies on cloth; then a frame boundary is far and near.
static void same_bits_after_a_kill(void** unused)
{
    (void)unused;
    assert_int_equal(
        shell("for steps in 45 139 161 200; do rm -rf killed; \"$WEFT\" " DROP "killed --threads 1 & p=$!; "
              "while kill -0 $p && [ \"$(cat killed/stats.jsonl | wc -l)\" -lt $steps ]; do sleep 0.01; done; "
              "kill -9 $p; wait $p; \"$WEFT\" " DROP
              "killed --resume --threads 2 && " SAME("killed") " || exit 9; done"),
        0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_start_is_clean),
        cmocka_unit_test(a_crossing_is_seen),
        cmocka_unit_test(squeezed_is_apart),
        cmocka_unit_test(starts_are_jittered),
        cmocka_unit_test(short_form_is_clean),
        cmocka_unit_test(benchmarks_of_contact),
        cmocka_unit_test(same_bits),
        cmocka_unit_test(same_bits_after_a_kill),
    };
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
