// weft export, the manners of every format in the table: wrong words and endings, targets that are there, full disk, no
// folder, cut caches, killed and stopped exports leave nothing half under the final name.
#define _GNU_SOURCE
#include "common.h"
#include "common_export.h"
#include "common_run.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "export/export.h"

enum
{
    MANY_FRAMES = 3000
};

static void wrong_words_are_answered(void** state)
{
    (void)state;
    refused(2, "run --to pc3", "pc2");
    refused(2, "run", "--to");
    refused(2, "--to pc2", "folder of a run");
    refused(2, "run --to pc2 --frames 3:2", "--frames");
    refused(2, "run --to pc2 --frames 2:9", "no frame 9");
    refused(2, "run --to pc2 --frames 7:", "no frame 7");
    refused(2, "run --to pc2 --every 0", "--every");
    refused(2, "run --to pc2 --fps -1", "--fps");
    refused(2, "run --to pc2 --fps 0", "--fps");
    refused(2, "run --to pc2 --up x", "y or z");
    refused(2, "run --to pc2 --colour red", "no option `--colour`");
    refused(2, "run --to pc2 -o", "lacks its value");
    refused(2, "run --to pc2 -o --force", "-o lacks its value");
    assert_false(exists("--force"));
    refused(2, "run --to glb", "did you mean `--to gltf`?");
    refused(2, "run --to alembic", "`--to abc`");
    refused(2, "run --to usd", "`--to usda`");
    refused(2, "run --to VTK", "`--to vtp`");
    refused(2, "run --to PC2", "`--to pc2`");
    refused(2, "run other --to pc2", "one folder at a time");
    refused(2, "nothing --to pc2", "nothing");
    assert_int_equal(export_with("", "run --to pc2 --frames 2:9 --json"), 2);
    assert_true(said(".out", "{\"error\":{\"file\":\"run\",\"line\":0,\"message\":\"there is no frame 9"));
    assert_false(exists("run-pc2"));
    export_well("run --to pc2 --json");
    assert_true(
        said(".out", "{\"target\":\"run-pc2\",\"format\":\"pc2\",\"frames\":5,\"bodies\":2,\"files\":3,\"bytes\":"));
    assert_int_equal(test_shell(NULL, "\"$WEFT\" list formats > .out"), 0);
    assert_true(said(".out", "mdd\texport: "));
    assert_int_equal(test_shell(NULL, "\"$WEFT\" export --help > .out"), 0);
    assert_true(said(".out", "weft export hang-run --to "));
}

// ---- targets

static void targets_are_not_lost(void** state)
{
    (void)state;
    export_well("run --to pc2 -o t");
    refused(2, "run --to pc2 -o t", "--force");
    export_well("run --to obj -o t --force");
    assert_true(exists("t/sheet.0000.obj") && !exists("t/sheet.pc2"));
    assert_false(exists("t.weft-tmp") || exists("t.weft-old"));
    test_text_write("t", "notes.txt", "mine");
    refused(2, "run --to pc2 -o t/ --force", "notes.txt");
    assert_true(exists("t/notes.txt") && exists("t/sheet.0000.obj"));
    // Folders and files that no export made.
    assert_int_equal(mkdir("empty", 0777), 0);
    export_well("run --to pc2 -o empty/");
    same_pc2("empty/sheet.pc2", export_all);
    refused(2, "run --to pc2 -o run --force", "folder of a run");
    refused(2, "run --to pc2 --body sheet -o run/sheet.pc2", "folder of a run");
    test_text_write(".", "file", "mine");
    refused(2, "run --to pc2 -o file --force", "no folder");
    assert_true(said("file", "mine"));
    // A file is replaced.
    test_text_write(".", "old.pc2", "older");
    export_well("run --to pc2 --body sheet -o old.pc2");
    same_pc2("old.pc2", export_all);
}

static void endings_fit_the_format(void** state)
{
    (void)state;
    static const char* const wrong[][2] = {
        {"run --to usda -o x.glb", "ends in .usda, not in .glb: give another name, or --to gltf"},
        {"run --to gltf -o x.gltf", "ends in .glb, not in .gltf"},
        {"run --to abc -o x.JSON", "ends in .abc"},
        {"run --to usda -o x.usdc", "ends in .usda, not in .usdc: give another name, or --to usdc"},
        {"run --to pc2 -o x.glb", "writes a folder: give the name of one, without .glb, or --to gltf"},
        {"run --to pc2 -o x.Obj", "without .Obj, or --to obj"},
        {"run --to vtp -o run.pvd", "without .pvd"},
        {"run --to obj --body sheet --frames 1 -o x.ply", "or --to ply"},
    };
    for (size_t k = 0; k < sizeof(wrong) / sizeof(wrong[0]); k++)
    {
        refused(2, wrong[k][0], wrong[k][1]);
    }
    assert_int_equal(test_shell(NULL, "ls | grep -q '^x\\.\\|pvd'"), 1);
    export_well("run --to pc2 --body sheet -o sheet.PC2");
    same_pc2("sheet.PC2", export_all);
    export_well("run --to gltf -o x.GLB");
    export_well("run --to usda -o x.usd");
    export_well("run --to usda -o v1.2");
    export_well("run --to obj -o v1.3");
    // A folder may be called anything.
    assert_int_equal(mkdir("x.ply", 0777), 0);
    export_well("run --to obj -o x.ply");
    assert_true(exists("x.ply/sheet.0000.obj"));
}

// Whichever run it is: the one that is exported, or another.
static void files_of_runs_are_not_replaced(void** state)
{
    (void)state;
    assert_int_equal(mkdir("other", 0777), 0);
    test_text_write("other", "run.lock", "");
    static const char* const held[] = {"coat.obj", "coat.pc2", "coat.PC2", "notes"};
    for (size_t k = 0; k < sizeof(held) / sizeof(held[0]); k++)
    {
        test_text_write("other", held[k], "mine");
    }
    refused(2, "run --to obj --frames 1 --body sheet -o other/coat.obj", "choose another name");
    refused(2, "run --to pc2 --body sheet -o other/coat.pc2", "choose another name");
    refused(2, "run --to pc2 --body sheet -o other/../other/coat.PC2", "choose another name");
    refused(2, "run --to gltf -o other/notes", "choose another name");
    assert_int_equal(export_with("cd other &&", "../run --to pc2 --body sheet -o coat.pc2"), 2);
    for (size_t k = 0; k < sizeof(held) / sizeof(held[0]); k++)
    {
        char path[64];
        snprintf(path, sizeof(path), "other/%s", held[k]);
        assert_true(said(path, "mine"));
    }
    refused(2, "run --to pc2 -o other", "folder of a run");
    refused(2, "run --to pc2 -o other --force", "folder of a run");
    // An earlier export may lie there.
    export_well("run --to gltf -o other/x.glb");
    export_well("run --to gltf -o other/x.glb");
    export_well("run --to gltf -o run/x.glb");
    export_well("run --to gltf -o run/x.glb");
}

static void leftovers_of_a_kill_are_replaced(void** state)
{
    (void)state;
    assert_int_equal(mkdir("t.weft-tmp", 0777), 0);
    test_text_write("t.weft-tmp", "sheet.pc2.tmp", "half");
    export_well("run --to pc2 -o t");
    assert_false(exists("t.weft-tmp") || exists("t/sheet.pc2.tmp"));
}

// ---- manners of every format

static const char* target_of(int format, char out[64])
{
    bool is_folder = weft_export_format_is_folder(format) != 0;
    snprintf(out, 64, "target%s", is_folder ? "" : weft_export_format_ending(format));
    return out;
}

// Nothing of the target's name, half or whole.
static void nothing_left(const char* format)
{
    DIR* here = opendir(".");
    for (struct dirent* entry = readdir(here); entry; entry = readdir(here))
    {
        if (strncmp(entry->d_name, "target", 6) == 0)
        {
            fail_msg("%s leaves %s", format, entry->d_name);
        }
    }
    closedir(here);
}

static void no_disk_no_target(void** state)
{
    (void)state;
    for (int k = 0; weft_export_format_name(k); k++)
    {
        char words[256], target[64];
        const char* format = weft_export_format_name(k);
        snprintf(words, sizeof(words), "run --to %s -o %s", format, target_of(k, target));
        // As on a full disk, writes fail beyond some bytes.
        assert_int_equal(export_with("ulimit -f 0;", words), 3);
        nothing_left(format);
        snprintf(words, sizeof(words), "run --to %s -o none/%s", format, target);
        refused(3, words, "folder exists and may be written to");
        snprintf(words, sizeof(words), "run --to %s -o /proc/%s", format, target);
        refused(3, words, "/proc/target");
    }
}

// A real full file system, where tests may mount one.
static void full_file_system(void** state)
{
    (void)state;
    assert_int_equal(mkdir("disk", 0777), 0);
    if (test_shell(NULL, "unshare -rm mount -t tmpfs -o size=16k none disk 2> .err") != 0)
    {
        skip();
    }
    test_pc2_write(export_run, "sheet.2.pc2", 9, (float)TORN_SECOND, 2000);
    for (int k = 0; weft_export_format_name(k); k++)
    {
        char line[2048], target[64];
        snprintf(line, sizeof(line),
                 "unshare -rm sh -c 'mount -t tmpfs -o size=16k none disk; \"$WEFT\" export run --to %s -o disk/%s > "
                 ".out 2> .err; "
                 "echo $? > .code; ls disk > .left'",
                 weft_export_format_name(k), target_of(k, target));
        assert_int_equal(test_shell(NULL, line), 0);
        assert_true(said(".code", "3\n"));
        assert_true(said(".err", "No space left on device"));
        assert_false(said(".left", "target"));
    }
}

static void earlier_targets_survive_a_full_disk(void** state)
{
    (void)state;
    export_well("run --to pc2 --body sheet -o target.pc2");
    export_well("run --to obj -o target");
    assert_int_equal(export_with("ulimit -f 0;", "run --to pc2 --body sheet --up z -o target.pc2"), 3);
    assert_int_equal(export_with("ulimit -f 0;", "run --to obj --up z --force -o target"), 3);
    same_pc2("target.pc2", export_all);
    shape s = read_obj("target/sheet.0001.obj");
    same_frame(&s, 1, false);
    assert_false(exists("target.weft-tmp") || exists("target.pc2.tmp"));
}

static void folders_that_may_not_be_written(void** state)
{
    (void)state;
    if (geteuid() == 0)
    {
        skip();
    }
    assert_int_equal(mkdir("locked", 0555), 0);
    for (int k = 0; weft_export_format_name(k); k++)
    {
        char words[256], target[64];
        snprintf(words, sizeof(words), "run --to %s -o locked/%s", weft_export_format_name(k), target_of(k, target));
        refused(3, words, "Permission denied");
    }
}

static void cut_caches_are_refused(void** state)
{
    (void)state;
    test_file_cut(export_run, "sheet.2.pc2", 5);
    for (int k = 0; weft_export_format_name(k); k++)
    {
        char words[256], target[64];
        const char* format = weft_export_format_name(k);
        snprintf(words, sizeof(words), "run --to %s -o %s", format, target_of(k, target));
        refused(2, words, "sheet.2.pc2: the file is cut");
        nothing_left(format);
        // What is there can be had.
        snprintf(words, sizeof(words), "run --to %s -o %s --frames :3", format, target);
        export_well(words);
        test_folder_remove(target);
    }
}

static void values_that_are_not_finite_are_refused(void** state)
{
    (void)state;
    char path[600];
    snprintf(path, sizeof(path), "%s/sheet.1.pc2", export_run);
    FILE* file = fopen(path, "r+b");
    const unsigned char nan_bytes[4] = {0, 0, 0xc0, 0x7f};
    fseek(file, 32 + 12 * 3 + 4, SEEK_SET);
    fwrite(nan_bytes, 1, 4, file);
    fclose(file);
    for (int k = 0; weft_export_format_name(k); k++)
    {
        char words[256], target[64];
        const char* format = weft_export_format_name(k);
        snprintf(words, sizeof(words), "run --to %s -o %s", format, target_of(k, target));
        refused(2, words, "vertex 3 of `sheet` is not finite in frame 2");
        nothing_left(format);
    }
}

static void write_long_run(void)
{
    assert_int_equal(mkdir("long", 0777), 0);
    test_text_write("long", "sheet.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    test_pc2_write("long", "sheet.pc2", 3, 0.0f, MANY_FRAMES);
}

// Starts an export of many frames and sends the signal as soon as something is under way. Its exit status, minus a
// signal.
static int interrupted(int format, int signal_number)
{
    char target[64], half[80];
    target_of(format, target);
    snprintf(half, sizeof(half), "%s%s", target, weft_export_format_is_folder(format) ? ".weft-tmp" : ".tmp");
    pid_t child = fork();
    if (child == 0)
    {
        int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, STDERR_FILENO);
        dup2(nowhere, STDOUT_FILENO);
        execl(WEFT_COMMAND, "weft", "export", "long", "--to", weft_export_format_name(format), "-o", target,
              (char*)NULL);
        _exit(127);
    }
    int status = 0;
    while (!exists(half) && waitpid(child, &status, WNOHANG) == 0)
    {
    }
    kill(child, signal_number);
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void killed_exports_leave_no_target(void** state)
{
    (void)state;
    write_long_run();
    for (int k = 0; weft_export_format_name(k); k++)
    {
        char target[64], words[256];
        const char* format = weft_export_format_name(k);
        target_of(k, target);
        int code = interrupted(k, SIGKILL);
        if (code == 0)
        {
            print_message("%s was done before it was killed\n", format);
        }
        else
        {
            assert_int_equal(code, -SIGKILL);
            assert_false(exists(target));
        }
        snprintf(words, sizeof(words), "long --to %s -o %s --frames :9 --force", format, target);
        export_well(words);
        test_folder_remove(target);
        nothing_left(format);
        code = interrupted(k, SIGINT);
        if (code != 0)
        {
            assert_int_equal(code, 1);
            nothing_left(format);
        }
        test_folder_remove(target);
    }
}

// ---- the library

static int count_calls(void* context, int done, int total)
{
    assert_true(done >= 1 && done <= total);
    return ++*(int*)context >= 3;
}

static void progress_may_stop_it(void** state)
{
    (void)state;
    weft_cache* cache = NULL;
    assert_int_equal(weft_cache_open(export_run, &cache, NULL), WEFT_OK);
    for (int k = 0; weft_export_format_name(k); k++)
    {
        char target[64];
        int calls = 0;
        weft_export_def def = weft_export_def_default();
        def.format = weft_export_format_name(k);
        def.progress = count_calls;
        def.progress_context = &calls;
        assert_int_equal(weft_export(cache, &def, target_of(k, target), NULL, NULL), WEFT_CANCELLED);
        assert_int_equal(calls, 3);
        nothing_left(def.format);
    }
    weft_cache_close(cache);
}

static void memory_may_end_anywhere(void** state)
{
    (void)state;
    weft_cache* cache = NULL;
    assert_int_equal(weft_cache_open(export_run, &cache, NULL), WEFT_OK);
    for (int k = 0; weft_export_format_name(k); k++)
    {
        char target[64];
        weft_status status = WEFT_NO_MEMORY;
        for (int at = 1; status == WEFT_NO_MEMORY; at++)
        {
            test_ledger ledger = {.fail_at = at, .fail_on = 1};
            weft_export_def def = weft_export_def_default();
            def.format = weft_export_format_name(k);
            def.force = 1;
            test_ledger_open(&ledger);
            status = weft_export(cache, &def, target_of(k, target), NULL, NULL);
            test_ledger_close();
            // The point cache that is open belongs to the reader.
            assert_true(ledger.live <= 2);
            assert_true(status == WEFT_OK || (status == WEFT_NO_MEMORY && !exists(target)));
        }
        test_folder_remove(target);
    }
    test_ledger ledger = {0};
    test_ledger_open(&ledger);
    weft_cache_close(cache);
    test_ledger_close();
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, export_folder_make, export_folder_remove)
    const struct CMUnitTest tests[] = {
        T(wrong_words_are_answered),
        T(targets_are_not_lost),
        T(endings_fit_the_format),
        T(files_of_runs_are_not_replaced),
        T(leftovers_of_a_kill_are_replaced),
        T(no_disk_no_target),
        T(full_file_system),
        T(earlier_targets_survive_a_full_disk),
        T(folders_that_may_not_be_written),
        T(cut_caches_are_refused),
        T(values_that_are_not_finite_are_refused),
        T(killed_exports_leave_no_target),
        T(progress_may_stop_it),
        T(memory_may_end_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
