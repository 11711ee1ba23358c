// The real command and its manners when something is wrong: a wrong command line, scene or mesh gets a sentence and
// exit 2; a simulation that goes wrong exit 1 with step and vertex; a full disk exit 3 with the finished frames intact;
// --json prints one object and nothing else; a closed or full output is no crash. test_manners_success.c has what
// succeeds.
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

// ---- wrong command lines

static void test_command_lines(void** unused)
{
    (void)unused;
    static const char* const lines[][2] = {
        {"frobnicate", "no command `frobnicate`"},
        {"help frobnicate", "no command `frobnicate`"},
        {"run", "which scene"},
        {"run hang two-corners", "one scene at a time"},
        {"run hang --frames", "--frames"},
        {"run hang --frames x", "`x`"},
        {"run hang --frames -1", "`-1`"},
        {"run hang --frames 1.5", "`1.5`"},
        {"run hang --frames 99999999999999999999", "--frames"},
        {"run hang --threads many", "`many`"},
        {"run hang --threads -2", "`-2`"},
        {"run hang --threads 257", "no value for --threads: it takes a whole number from 0 (one a core) to 256"},
        {"run hang --bogus", "--bogus"},
        {"run hang --bogus=3", "--bogus"},
        {"run hang -o", "-o"},
        {"run hang -x", "-x"},
        {"run hang --resume --force", "take one"},
        {"run hang --set", "--set"},
        {"run hang --set cells", "PATH=VALUE"},
        {"run hang --set cells=many", "whole number"},
        {"run hang --set cells=0", "cells"},
        {"run hang --set time_step=-1", "time_step"},
        {"run hang --set time_stp=1", "time_step"},
        {"run hang --set cloth.7.name=x", "cloth"},
        {"run hang --set material=cotton", "material"},
        {"run hang --method newtn", "newton"},
        {"run hang --solver mpgc", "mpcg"},
        {"run hang --set kernels=sse", "kernels"},
        {"check", "which scene"},
        {"check hang --bogus", "--bogus"},
        {"check hang two-corners", "one scene at a time"},
        {"list", "methods"},
        {"list fabrics", "materials"},
        {"list scenes more", "methods"},
        {"system", "-o PREFIX"},
        {"system hang", "-o PREFIX"},
        {"system hang -o x --step 0", "`--step 0`: it takes numbers of steps from 1 on"},
        {"system hang -o x --step 4:2,9", "where A is at most B"},
        {"system hang -o x --threads 999", "`--threads 999`: it takes 0 (all cores) to 256"},
        {"system hang -o x --bogus", "--bogus"},
        {"solve", "PREFIX"},
        {"solve nowhere --solver mpcg", "nowhere"},
        {"solve nowhere --bogus", "--bogus"},
        {"solve nowhere --solver mpcg --tolerance small", "small"},
        {"render", "run"},
        {"render nowhere", "nowhere"},
        {"render nowhere --bogus", "--bogus"},
        {"bench frobnicate", "frobnicate"},
        {"bench sa-speed --cells x", "--cells `x`"},
        {"bench sa-speed --cells=30,,40", "--cells `30,,40`"},
        {"bench sa-speed --cells", "--cells takes a value"},
        {"bench sa-speed --plane-cells 4x", "--plane-cells `4x`"},
        {"bench sa-speed --rounds 0", "--rounds `0`"},
        {"bench sa-speed --tolerance small", "--tolerance `small`"},
        {"bench sa-speed --solvers sa-ppgc", "sa-ppcg"},
        {"bench sa-speed --set sa.theta=wide", "sa.theta=wide"},
        {"bench sa-speed --bogus 3", "`--bogus`"},
        {"bench kernels --threads many", "--threads `many`"},
        {"bench direct 200", "`200`"},
    };
    for (size_t k = 0; k < sizeof(lines) / sizeof(lines[0]); k++)
    {
        manners_refuses(lines[k][0], 2, lines[k][1]);
    }
    assert_false(manners_exists("hang-run"));
}

static void test_json_refusals(void** unused)
{
    (void)unused;
    manners_put("wrong.json", "{\n  \"time_stp\": 0.001,\n  \"cloth\": [{\"mesh\": {\"grid\": {}}}]\n}\n");
    static const char* const lines[][2] = {
        {"run hnag --json", "`hang`"},
        {"run hang --json --frames x", "`x`"},
        {"run --json", "which scene"},
        {"run hang --bogus --json", "--bogus"},
        {"run wrong.json --json", "\"file\":\"wrong.json\",\"line\":2"},
        {"check wrong.json --json", "\"file\":\"wrong.json\",\"line\":2"},
        {"check --json", "which scene"},
        {"solve nowhere --solver mpcg --json", "nowhere"},
        {"bench frobnicate --json", "frobnicate"},
        {"bench sa-box --json --cells \"x", "--cells `\\\"x`"},
    };
    for (size_t k = 0; k < sizeof(lines) / sizeof(lines[0]); k++)
    {
        manners_refuses_json(lines[k][0], 2, lines[k][1]);
    }
}

// ---- scenes and meshes that are none

static void test_unknown_scene(void** unused)
{
    (void)unused;
    manners_refuses("run hnag", 2, "did you mean `hang`");
    manners_refuses("check two-corner", 2, "did you mean `two-corners`");
    manners_refuses("system zzzzzzzzzz -o x", 2, "weft list scenes");
    manners_refuses("run nowhere.json", 2, "nowhere.json");
    manners_refuses("run nowhere/at/all.json", 2, "nowhere/at/all.json");
}

// A folder, a pipe, a device, nothing, half a file, ten million lines, deep nesting, bytes.
static void put_odd_files(void)
{
    char path[PATH_BYTES];
    mkdir(manners_path("folder", path), 0777);
    assert_int_equal(mkfifo(manners_path("pipe", path), 0666), 0);
    manners_put("empty", "");
    manners_put("blank", " \n\t\n");
    size_t size = 10000000;
    char* long_file = malloc(size);
    memset(long_file, '\n', size);
    manners_put_bytes("long", long_file, size);
    memset(long_file, '[', size);
    manners_put_bytes("deep", long_file, 1000000);
    for (size_t k = 0; k < 4096; k++)
    {
        long_file[k] = (char)(random_bits(7, k) & 0xff);
    }
    manners_put_bytes("bytes", long_file, 4096);
    memset(long_file, 0, 4096);
    manners_put_bytes("zeros", long_file, 4096);
    free(long_file);
}

static void test_odd_scenes(void** unused)
{
    (void)unused;
    put_odd_files();
    manners_put("cut", "{\"time_step\": 0.002,\n \"cloth\": [{\"mesh\": {\"gri");
    manners_put("list", "[1, 2, 3]");
    manners_put("trailing", "{\"cloth\": [{\"mesh\": {\"grid\": {}}}]} {}");
    manners_put("twice", "{\"frames\": 1, \"frames\": 2, \"cloth\": [{\"mesh\": {\"grid\": {}}}]}");
    manners_put("no-cloth", "{\"cloth\": []}");
    static const char* const scenes[][2] = {
        {"folder", "folder"}, {"pipe", "pipe"},      {"/dev/null", "device"}, {"empty", "empty"},
        {"blank", "blank"},   {"long", "long"},      {"deep", "deep"},        {"bytes", "bytes"},
        {"zeros", "zeros"},   {"cut", "cut:2:"},     {"list", "list:1:"},     {"trailing", "trailing:1:"},
        {"twice", "frames"},  {"no-cloth", "cloth"},
    };
    for (size_t k = 0; k < sizeof(scenes) / sizeof(scenes[0]); k++)
    {
        char line[128];
        snprintf(line, sizeof(line), "check %s", scenes[k][0]);
        manners_refuses(line, 2, scenes[k][1]);
        snprintf(line, sizeof(line), "run %s -o never", scenes[k][0]);
        manners_refuses(line, 2, scenes[k][1]);
        assert_false(manners_exists("never"));
    }
}

static void test_odd_meshes(void** unused)
{
    (void)unused;
    manners_put("cut.obj", "v 0 0 0\nv 1 0 0\nv 0 1");
    manners_put("far.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 7\n");
    manners_put("nan.obj", "v 0 0 0\nv 1 0 0\nv 0 nan 0\nf 1 2 3\n");
    static const char* const meshes[][2] = {
        {"nowhere.obj", "nowhere.obj"},
        {"folder", "folder"},
        {"pipe", "pipe"},
        {"empty", "empty"},
        {"long", "long"},
        {"bytes", "bytes"},
        {"zeros", "zeros"},
        {"cut.obj", "cut.obj:3"},
        {"far.obj", "far.obj:4"},
        {"nan.obj", "nan.obj:3"},
        {"/dev/null", "/dev/null"},
    };
    for (size_t k = 0; k < sizeof(meshes) / sizeof(meshes[0]); k++)
    {
        char text[256];
        snprintf(text, sizeof(text), "{\"cloth\": [{\"mesh\": {\"obj\": \"%s\"}}]}", meshes[k][0]);
        manners_put("mesh.json", text);
        manners_refuses("run mesh.json -o never", 2, meshes[k][1]);
        assert_false(manners_exists("never"));
    }
}

static void test_unreadable_scene(void** unused)
{
    (void)unused;
    char path[PATH_BYTES];
    manners_put("secret.json", "{\"cloth\": [{\"mesh\": {\"grid\": {}}}]}");
    assert_int_equal(chmod(manners_path("secret.json", path), 0), 0);
    if (access(path, R_OK) == 0)
    {
        skip(); // root reads everything
    }
    manners_run("run secret.json -o never");
    assert_true(manners_last.code == 2 || manners_last.code == 3);
    manners_assert_says("run secret.json", manners_last.err, "secret.json");
    assert_false(manners_exists("never"));
}

// ---- where to write

static void test_unwritable(void** unused)
{
    (void)unused;
    manners_put("file", "not a folder");
    manners_refuses("run hang --set cells=4 --frames 1 -o file/sub", 3, "file/sub");
    manners_refuses("run hang --set cells=4 --frames 1 -o file", 3, "file");
    manners_refuses("run hang --set cells=4 --frames 1 -o /proc/nowhere", 3, "/proc/nowhere");
    manners_refuses_json("run hang --set cells=4 --frames 1 -o file/sub --json", 3, "file/sub");
    manners_refuses("system hang --set cells=4 -o file/sub", 3, "file/sub");
    assert_int_equal(manners_run("run hang --set cells=4 --frames 1 -o new/deep/folder"), 0);
    assert_int_equal(manners_check_run("new/deep/folder"), 2);
}

// A target that exists and is no file stays what it is.
static void test_odd_targets(void** unused)
{
    (void)unused;
    char path[PATH_BYTES];
    struct stat info;
    assert_int_equal(manners_run("system hang --set cells=4 -o tiny"), 0);
    assert_int_equal(mkfifo(manners_path("target.mtx", path), 0666), 0);
    manners_refuses("system hang --set cells=4 -o target", 3, "target.mtx: cannot write: this is a pipe");
    manners_refuses("solve tiny --solver mpcg -o target.mtx", 3, "this is a pipe");
    assert_true(lstat(path, &info) == 0 && S_ISFIFO(info.st_mode));
    assert_int_equal(symlink("target.mtx", manners_path("link.mtx", path)), 0);
    manners_refuses("solve tiny --solver mpcg -o link.mtx", 3, "this is a pipe");
    assert_int_equal(mkdir(manners_path("inner", path), 0777), 0);
    manners_refuses("solve tiny --solver mpcg -o inner", 3, "this is a folder");
    assert_int_equal(symlink("old.mtx", manners_path("to-file.mtx", path)), 0);
    manners_put("old.mtx", "old");
    assert_int_equal(manners_run("solve tiny --solver mpcg -o to-file.mtx"), 0);
    assert_true(manners_exists("to-file.mtx"));
    manners_assert_no_temporaries("");
}

// Each limit lets another file hit the wall first: topology, checkpoint, samples, stats.
static void test_disk_full(void** unused)
{
    (void)unused;
    const char* scene = "run hang --set cells=12 --set steps_per_frame=2 --frames 20 --threads 1 -o";
    char line[256];
    snprintf(line, sizeof(line), "%s whole", scene);
    assert_int_equal(manners_run(line), 0);
    assert_int_equal(manners_check_run("whole"), 21);
    const long limits[] = {512, 2000, 6000, 13000, 15000, 18000, 21001, 24000, 30000, 40000};
    int most = 0;
    for (size_t k = 0; k < sizeof(limits) / sizeof(limits[0]); k++)
    {
        char path[PATH_BYTES];
        test_folder_remove(manners_path("full", path));
        snprintf(line, sizeof(line), "%s full", scene);
        manners_run_with((setting){.file_limit = limits[k]}, line);
        manners_assert_code(line, 3);
        manners_assert_says(line, manners_last.err, "full/");
        manners_assert_no_temporaries("full");
        int frames = manners_exists("full/checkpoint.weft") ? manners_check_run("full") : 0;
        most = frames > most ? frames : most;

        // With room again the run goes on, and is as if nothing had happened.
        snprintf(line, sizeof(line), "%s full %s", scene, manners_exists("full/scene.json") ? "--resume" : "--force");
        manners_run(line);
        manners_assert_code(line, 0);
        assert_int_equal(manners_check_run("full"), 21);
        char first[PATH_BYTES], second[PATH_BYTES], bytes[2][64];
        FILE* files[2] = {fopen(manners_path("whole/sheet.pc2", first), "rb"),
                          fopen(manners_path("full/sheet.pc2", second), "rb")};
        for (size_t got = 64; got == 64;)
        {
            got = fread(bytes[0], 1, 64, files[0]);
            assert_int_equal(fread(bytes[1], 1, 64, files[1]), got);
            assert_memory_equal(bytes[0], bytes[1], got);
        }
        fclose(files[0]);
        fclose(files[1]);
    }
    print_message("          up to %d frames finished before the disk was full\n", most);
    assert_true(most > 5);
}

static void test_disk_full_json(void** unused)
{
    (void)unused;
    const char* line = "run hang --set cells=12 --set steps_per_frame=2 --frames 20 --json -o full-json";
    manners_run_with((setting){.file_limit = 18000}, line);
    manners_assert_code(line, 3);
    assert_true(strncmp(manners_last.out, "{\"error\":{\"file\":\"full-json/", 28) == 0);
    assert_string_equal(manners_last.err, "");
}

// ---- values that are not finite

static void expect_blow_up(const char* line, const char* run, int frames)
{
    manners_run(line);
    manners_assert_code(line, 1);
    manners_assert_says(line, manners_last.err, "step ");
    manners_assert_says(line, manners_last.err, "vertex ");
    assert_true(manners_check_run(run) >= frames);
}

static void test_absurd_numbers(void** unused)
{
    (void)unused;
    expect_blow_up("run hang --set cells=4 --frames 2 -o absurd-1 --set cloth.0.velocity=[1e200,0,0]", "absurd-1", 1);
    manners_assert_says("run hang", manners_last.err, "not finite");
    expect_blow_up("run hang --set cells=4 --frames 2 -o absurd-2 --set gravity=[0,1e308,0]", "absurd-2", 1);
    manners_assert_says("run hang", manners_last.err, "not finite");
}

// A pin that leaves for infinity after the third frame: what was finished stays, and says so.
static void test_blow_up_later(void** unused)
{
    (void)unused;
    manners_put("leaving.json",
                "{\"time_step\": 0.002, \"steps_per_frame\": 1, \"frames\": 10,\n"
                " \"cloth\": [{\"name\": \"sheet\", \"mesh\": {\"grid\": {\"cells\": 6, \"plane\": \"xy\"}},\n"
                "  \"pins\": [{\"where\": {\"edge\": \"top\"},\n"
                "   \"path\": [{\"time\": 0}, {\"time\": 0.006}, {\"time\": 0.007, \"offset\": [1e300, 0, 0]}]}]}]}\n");
    static const char* const choices[] = {"--method implicit-euler --solver mpcg",
                                          "--method implicit-euler --solver cholesky", "--method newton --solver mpcg"};
    for (int k = 0; k < 3; k++)
    {
        char line[256], run[32];
        snprintf(run, sizeof(run), "leaving-%d", k);
        snprintf(line, sizeof(line), "run leaving.json -o %s %s", run, choices[k]);
        expect_blow_up(line, run, 4);
    }
}

// With --json the failure is an object too.
static void test_blow_up_json(void** unused)
{
    (void)unused;
    manners_refuses_json("run hang --set cells=4 --frames 2 -o absurd-3 --set gravity=[0,1e308,0] --json", 1, "step 1");
}

// ---- outputs that are gone

static void test_output_gone(void** unused)
{
    (void)unused;
    static const char* const lines[] = {"help", "list scenes", "--version", "check hang",
                                        "run hang --set cells=4 --frames 1 --force -o gone --json"};
    for (size_t k = 0; k < sizeof(lines) / sizeof(lines[0]); k++)
    {
        for (int out = OUTLET_CLOSED; out <= OUTLET_FULL; out++)
        {
            manners_run_with((setting){.out = (outlet)out}, lines[k]);
            if (manners_last.code != 3)
            {
                fail_msg("`weft %s`, output %d: exit %d, `%s`", lines[k], out, manners_last.code, manners_last.err);
            }
            if (out == OUTLET_BROKEN_PIPE) // as `| head -1` leaves it: nothing went wrong
            {
                assert_string_equal(manners_last.err, "");
            }
            else
            {
                manners_assert_says(lines[k], manners_last.err, "cannot write");
            }
        }
    }
    assert_int_equal(manners_check_run("gone"), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_command_lines),  cmocka_unit_test(test_json_refusals),
        cmocka_unit_test(test_unknown_scene),  cmocka_unit_test(test_odd_scenes),
        cmocka_unit_test(test_odd_meshes),     cmocka_unit_test(test_unreadable_scene),
        cmocka_unit_test(test_unwritable),     cmocka_unit_test(test_odd_targets),
        cmocka_unit_test(test_disk_full),      cmocka_unit_test(test_disk_full_json),
        cmocka_unit_test(test_absurd_numbers), cmocka_unit_test(test_blow_up_later),
        cmocka_unit_test(test_blow_up_json),   cmocka_unit_test(test_output_gone),
    };
    return cmocka_run_group_tests(tests, manners_make_folder, manners_remove_folder);
}
