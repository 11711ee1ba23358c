// The real command and its manners: a wrong command line, scene or mesh gets a sentence and exit 2; a simulation that
// goes wrong exit 1 with step and vertex; a full disk exit 3 with the finished frames intact; --json prints one object
// and nothing else; a closed or full output is no crash.
#define _GNU_SOURCE
#include "common.h"
#include "common_run.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "weft/cache.h"

enum
{
    ARGUMENTS_MAX = 40,
    PATH_BYTES = 512,
    TEXT_BYTES = 1 << 16,
    PATIENCE_S = 60 // a command that takes longer hangs
};

static char folder[256];

// ---- running

typedef enum outlet
{
    OUTLET_FILE,
    OUTLET_CLOSED,      // standard output is closed
    OUTLET_BROKEN_PIPE, // its reader is gone
    OUTLET_FULL         // /dev/full
} outlet;

typedef struct setting
{
    outlet out;
    long file_limit; // bytes a file may have; 0: no limit
} setting;

typedef struct answer
{
    int code; // exit status, or minus the signal
    char out[TEXT_BYTES], err[TEXT_BYTES];
} answer;

static answer last;

static void read_text(const char* path, char* text)
{
    FILE* f = fopen(path, "rb");
    size_t size = f ? fread(text, 1, TEXT_BYTES - 1, f) : 0;
    text[size] = 0;
    if (f)
    {
        fclose(f);
    }
}

static void redirect(const char* path, int target)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    dup2(file, target);
    close(file);
}

// In the child, with the folder as the current one.
static void become_weft(const setting* s, char* const* argv)
{
    if (chdir(folder) != 0)
    {
        _exit(126);
    }
    alarm(PATIENCE_S);
    redirect(".err", STDERR_FILENO);
    redirect(s->out == OUTLET_FULL ? "/dev/full" : ".out", STDOUT_FILENO);
    int ends[2];
    if (s->out == OUTLET_BROKEN_PIPE && pipe(ends) == 0)
    {
        close(ends[0]);
        dup2(ends[1], STDOUT_FILENO);
    }
    if (s->out == OUTLET_CLOSED)
    {
        close(STDOUT_FILENO);
    }
    if (s->file_limit > 0)
    {
        // As on a full disk, write fails; without this it would be a signal.
        signal(SIGXFSZ, SIG_IGN);
        struct rlimit limit = {(rlim_t)s->file_limit, (rlim_t)s->file_limit};
        setrlimit(RLIMIT_FSIZE, &limit);
    }
    execv(WEFT_COMMAND, argv);
    _exit(127);
}

// Words apart by single blanks; a word may hold none.
static int weft_with(setting s, const char* line)
{
    char words[2048];
    char* argv[ARGUMENTS_MAX + 1] = {(char*)"weft"};
    assert_true(strlen(line) < sizeof(words));
    strcpy(words, line);
    int count = 1;
    for (char* word = strtok(words, " "); word; word = strtok(NULL, " "))
    {
        assert_true(count < ARGUMENTS_MAX);
        argv[count++] = word;
    }
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
    {
        become_weft(&s, argv);
    }
    int status;
    char path[PATH_BYTES];
    assert_true(waitpid(pid, &status, 0) == pid);
    last.code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    snprintf(path, sizeof(path), "%s/.out", folder);
    read_text(path, last.out);
    snprintf(path, sizeof(path), "%s/.err", folder);
    read_text(path, last.err);
    return last.code;
}

static int weft(const char* line)
{
    return weft_with((setting){0}, line);
}

// ---- judging

static void assert_code(const char* line, int expected)
{
    if (last.code != expected)
    {
        fail_msg("`weft %s`: exit %d instead of %d\n%s%s", line, last.code, expected, last.out, last.err);
    }
}

static void assert_says(const char* line, const char* text, const char* word)
{
    if (!strstr(text, word))
    {
        fail_msg("`weft %s` does not say `%s` but `%s`", line, word, text);
    }
}

// The last line on standard error is a sentence with `word` in it; nothing is on standard output.
static void expect_refusal(const char* line, int code, const char* word)
{
    weft(line);
    assert_code(line, code);
    assert_string_equal(last.out, "");
    assert_true(strncmp(last.err, "weft", 4) == 0);
    size_t length = strlen(last.err);
    assert_true(length > 20 && last.err[length - 1] == '\n');
    assert_says(line, last.err, word);
}

// One object {"error":{"file","line","message"}} and nothing else.
static void expect_json_refusal(const char* line, int code, const char* word)
{
    weft(line);
    assert_code(line, code);
    size_t length = strlen(last.out);
    const char* start = "{\"error\":{\"file\":\"";
    assert_true(strncmp(last.out, start, strlen(start)) == 0);
    assert_true(length > 3 && strcmp(last.out + length - 3, "}}\n") == 0);
    assert_true(strchr(last.out, '\n') == last.out + length - 1);
    assert_says(line, last.out, "\"line\":");
    assert_says(line, last.out, "\"message\":\"");
    assert_says(line, last.out, word);
    assert_string_equal(last.err, "");
}

static char* path_of(const char* name, char* path)
{
    int length = snprintf(path, PATH_BYTES, "%s/%s", folder, name);
    assert_true(length < PATH_BYTES);
    return path;
}

static bool exists(const char* name)
{
    char path[PATH_BYTES];
    struct stat info;
    return lstat(path_of(name, path), &info) == 0;
}

static void put_bytes(const char* name, const char* text, size_t size)
{
    char path[PATH_BYTES];
    FILE* f = fopen(path_of(name, path), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, size, f), size);
    fclose(f);
}

static void put_text(const char* name, const char* text)
{
    put_bytes(name, text, strlen(text));
}

static void assert_no_temporaries(const char* name)
{
    char path[PATH_BYTES];
    DIR* dir = opendir(path_of(name, path));
    assert_non_null(dir);
    for (struct dirent* entry; (entry = readdir(dir));)
    {
        assert_null(strstr(entry->d_name, ".tmp"));
    }
    closedir(dir);
}

// Complete frames of a run, all readable and finite; no temporary file beside them.
static int check_run(const char* name)
{
    char path[PATH_BYTES];
    path_of(name, path);
    assert_no_temporaries(name);
    weft_cache* cache;
    weft_error error;
    if (weft_cache_open(path, &cache, &error) != WEFT_OK)
    {
        fail_msg("%s: %s", name, error.message);
    }
    int frames = weft_cache_frame_count(cache), n = weft_cache_body_at(cache, 0)->vertex_count;
    weft_vec3* x = malloc((size_t)n * sizeof(weft_vec3));
    for (int frame = 0; frame < frames; frame++)
    {
        assert_int_equal(weft_cache_read_frame(cache, 0, frame, x, &error), WEFT_OK);
        for (int i = 0; i < n; i++)
        {
            assert_true(v3_is_finite(x[i]));
        }
    }
    free(x);
    weft_cache_close(cache);
    return frames;
}

static int make_folder(void** unused)
{
    (void)unused;
    return test_folder(folder) ? 0 : -1;
}

static int remove_folder(void** unused)
{
    (void)unused;
    test_folder_remove(folder);
    return 0;
}

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
            assert_int_equal(weft(line), 0);
            assert_says(line, last.out, usage);
            assert_string_equal(last.err, "");
        }
        weft("help");
        assert_says("help", last.out, usage);
    }
    assert_int_equal(weft("--help"), 0);
    assert_int_equal(weft("--version"), 0);
    char version[64];
    snprintf(version, sizeof(version), "weft %s\n", weft_version());
    assert_string_equal(last.out, version);
    assert_int_equal(weft(""), 2);
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
        assert_int_equal(weft(line), 0);
        assert_says(line, last.out, lists[k][1]);
        for (char* row = strtok(last.out, "\n"); row; row = strtok(NULL, "\n"))
        {
            char* tab = strchr(row, '\t');
            assert_true(tab && tab > row && tab[1] && !strchr(tab + 1, '\t'));
        }
    }
}

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
        {"system hang -o x --step 0", "--step"},
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
        expect_refusal(lines[k][0], 2, lines[k][1]);
    }
    assert_false(exists("hang-run"));
}

static void test_json_refusals(void** unused)
{
    (void)unused;
    put_text("wrong.json", "{\n  \"time_stp\": 0.001,\n  \"cloth\": [{\"mesh\": {\"grid\": {}}}]\n}\n");
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
        expect_json_refusal(lines[k][0], 2, lines[k][1]);
    }
}

// ---- scenes and meshes that are none

static void test_unknown_scene(void** unused)
{
    (void)unused;
    expect_refusal("run hnag", 2, "did you mean `hang`");
    expect_refusal("check two-corner", 2, "did you mean `two-corners`");
    expect_refusal("system zzzzzzzzzz -o x", 2, "weft list scenes");
    expect_refusal("run nowhere.json", 2, "nowhere.json");
    expect_refusal("run nowhere/at/all.json", 2, "nowhere/at/all.json");
}

// A folder, a pipe, a device, nothing, half a file, ten million lines, deep nesting, bytes.
static void put_odd_files(void)
{
    char path[PATH_BYTES];
    mkdir(path_of("folder", path), 0777);
    assert_int_equal(mkfifo(path_of("pipe", path), 0666), 0);
    put_text("empty", "");
    put_text("blank", " \n\t\n");
    size_t size = 10000000;
    char* long_file = malloc(size);
    memset(long_file, '\n', size);
    put_bytes("long", long_file, size);
    memset(long_file, '[', size);
    put_bytes("deep", long_file, 1000000);
    for (size_t k = 0; k < 4096; k++)
    {
        long_file[k] = (char)(random_bits(7, k) & 0xff);
    }
    put_bytes("bytes", long_file, 4096);
    memset(long_file, 0, 4096);
    put_bytes("zeros", long_file, 4096);
    free(long_file);
}

static void test_odd_scenes(void** unused)
{
    (void)unused;
    put_odd_files();
    put_text("cut", "{\"time_step\": 0.002,\n \"cloth\": [{\"mesh\": {\"gri");
    put_text("list", "[1, 2, 3]");
    put_text("trailing", "{\"cloth\": [{\"mesh\": {\"grid\": {}}}]} {}");
    put_text("twice", "{\"frames\": 1, \"frames\": 2, \"cloth\": [{\"mesh\": {\"grid\": {}}}]}");
    put_text("no-cloth", "{\"cloth\": []}");
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
        expect_refusal(line, 2, scenes[k][1]);
        snprintf(line, sizeof(line), "run %s -o never", scenes[k][0]);
        expect_refusal(line, 2, scenes[k][1]);
        assert_false(exists("never"));
    }
}

static void test_odd_meshes(void** unused)
{
    (void)unused;
    put_text("cut.obj", "v 0 0 0\nv 1 0 0\nv 0 1");
    put_text("far.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 7\n");
    put_text("nan.obj", "v 0 0 0\nv 1 0 0\nv 0 nan 0\nf 1 2 3\n");
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
        put_text("mesh.json", text);
        expect_refusal("run mesh.json -o never", 2, meshes[k][1]);
        assert_false(exists("never"));
    }
}

static void test_unreadable_scene(void** unused)
{
    (void)unused;
    char path[PATH_BYTES];
    put_text("secret.json", "{\"cloth\": [{\"mesh\": {\"grid\": {}}}]}");
    assert_int_equal(chmod(path_of("secret.json", path), 0), 0);
    if (access(path, R_OK) == 0)
    {
        skip(); // root reads everything
    }
    weft("run secret.json -o never");
    assert_true(last.code == 2 || last.code == 3);
    assert_says("run secret.json", last.err, "secret.json");
    assert_false(exists("never"));
}

// ---- where to write

static void test_unwritable(void** unused)
{
    (void)unused;
    put_text("file", "not a folder");
    expect_refusal("run hang --set cells=4 --frames 1 -o file/sub", 3, "file/sub");
    expect_refusal("run hang --set cells=4 --frames 1 -o file", 3, "file");
    expect_refusal("run hang --set cells=4 --frames 1 -o /proc/nowhere", 3, "/proc/nowhere");
    expect_json_refusal("run hang --set cells=4 --frames 1 -o file/sub --json", 3, "file/sub");
    expect_refusal("system hang --set cells=4 -o file/sub", 3, "file/sub");
    assert_int_equal(weft("run hang --set cells=4 --frames 1 -o new/deep/folder"), 0);
    assert_int_equal(check_run("new/deep/folder"), 2);
}

// A target that exists and is no file stays what it is.
static void test_odd_targets(void** unused)
{
    (void)unused;
    char path[PATH_BYTES];
    struct stat info;
    assert_int_equal(weft("system hang --set cells=4 -o tiny"), 0);
    assert_int_equal(mkfifo(path_of("target.mtx", path), 0666), 0);
    expect_refusal("system hang --set cells=4 -o target", 3, "target.mtx: cannot write: this is a pipe");
    expect_refusal("solve tiny --solver mpcg -o target.mtx", 3, "this is a pipe");
    assert_true(lstat(path, &info) == 0 && S_ISFIFO(info.st_mode));
    assert_int_equal(symlink("target.mtx", path_of("link.mtx", path)), 0);
    expect_refusal("solve tiny --solver mpcg -o link.mtx", 3, "this is a pipe");
    assert_int_equal(mkdir(path_of("inner", path), 0777), 0);
    expect_refusal("solve tiny --solver mpcg -o inner", 3, "this is a folder");
    assert_int_equal(symlink("old.mtx", path_of("to-file.mtx", path)), 0);
    put_text("old.mtx", "old");
    assert_int_equal(weft("solve tiny --solver mpcg -o to-file.mtx"), 0);
    assert_true(exists("to-file.mtx"));
    assert_no_temporaries("");
}

// Each limit lets another file hit the wall first: topology, checkpoint, samples, stats.
static void test_disk_full(void** unused)
{
    (void)unused;
    const char* scene = "run hang --set cells=12 --set steps_per_frame=2 --frames 20 --threads 1 -o";
    char line[256];
    snprintf(line, sizeof(line), "%s whole", scene);
    assert_int_equal(weft(line), 0);
    assert_int_equal(check_run("whole"), 21);
    const long limits[] = {512, 2000, 6000, 13000, 15000, 18000, 21001, 24000, 30000};
    int most = 0;
    for (size_t k = 0; k < sizeof(limits) / sizeof(limits[0]); k++)
    {
        char path[PATH_BYTES];
        test_folder_remove(path_of("full", path));
        snprintf(line, sizeof(line), "%s full", scene);
        weft_with((setting){.file_limit = limits[k]}, line);
        assert_code(line, 3);
        assert_says(line, last.err, "full/");
        assert_no_temporaries("full");
        int frames = exists("full/checkpoint.weft") ? check_run("full") : 0;
        most = frames > most ? frames : most;

        // With room again the run goes on, and is as if nothing had happened.
        snprintf(line, sizeof(line), "%s full %s", scene, exists("full/scene.json") ? "--resume" : "--force");
        weft(line);
        assert_code(line, 0);
        assert_int_equal(check_run("full"), 21);
        char first[PATH_BYTES], second[PATH_BYTES], bytes[2][64];
        FILE* files[2] = {fopen(path_of("whole/sheet.pc2", first), "rb"),
                          fopen(path_of("full/sheet.pc2", second), "rb")};
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
    weft_with((setting){.file_limit = 18000}, line);
    assert_code(line, 3);
    assert_true(strncmp(last.out, "{\"error\":{\"file\":\"full-json/", 28) == 0);
    assert_string_equal(last.err, "");
}

// ---- values that are not finite

static void expect_blow_up(const char* line, const char* run, int frames)
{
    weft(line);
    assert_code(line, 1);
    assert_says(line, last.err, "step ");
    assert_says(line, last.err, "vertex ");
    assert_true(check_run(run) >= frames);
}

static void test_absurd_numbers(void** unused)
{
    (void)unused;
    expect_blow_up("run hang --set cells=4 --frames 2 -o absurd-1 --set cloth.0.velocity=[1e200,0,0]", "absurd-1", 1);
    assert_says("run hang", last.err, "not finite");
    expect_blow_up("run hang --set cells=4 --frames 2 -o absurd-2 --set gravity=[0,1e308,0]", "absurd-2", 1);
    assert_says("run hang", last.err, "not finite");
}

// A pin that leaves for infinity after the third frame: what was finished stays, and says so.
static void test_blow_up_later(void** unused)
{
    (void)unused;
    put_text("leaving.json",
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
    expect_json_refusal("run hang --set cells=4 --frames 2 -o absurd-3 --set gravity=[0,1e308,0] --json", 1, "step 1");
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
            weft_with((setting){.out = (outlet)out}, lines[k]);
            if (last.code != 3)
            {
                fail_msg("`weft %s`, output %d: exit %d, `%s`", lines[k], out, last.code, last.err);
            }
            if (out == OUTLET_BROKEN_PIPE) // as `| head -1` leaves it: nothing went wrong
            {
                assert_string_equal(last.err, "");
            }
            else
            {
                assert_says(lines[k], last.err, "cannot write");
            }
        }
    }
    assert_int_equal(check_run("gone"), 2);
}

// ---- what succeeds says so in one object

// Systems of several steps of one run are those of as many runs: looking at one changes nothing that follows.
static void test_systems_of_several_steps(void** unused)
{
    (void)unused;
    char line[200], path[PATH_BYTES];
    assert_int_equal(weft("system hang --set cells=4 --step 2:6:2 --threads 2 --binary -o range"), 0);
    for (int step = 2; step <= 6; step += 2)
    {
        size_t sizes[2];
        snprintf(line, sizeof(line), "system hang --set cells=4 --step %d --binary -o one", step);
        assert_int_equal(weft(line), 0);
        char* one = test_file_read(path_of("one.weftsys", path), &sizes[0]);
        snprintf(line, sizeof(line), "range-%d.weftsys", step);
        char* of_range = test_file_read(path_of(line, path), &sizes[1]);
        assert_int_equal(sizes[0], sizes[1]);
        assert_memory_equal(one, of_range, sizes[0]);
        free(one);
        free(of_range);
    }
    assert_int_not_equal(access(path_of("range-3.weftsys", path), F_OK), 0);
    static const char* const wrong[] = {"2:", ":3", "0", "4:2", "1:2:0", "1:2:3:4", "many"};
    for (size_t k = 0; k < sizeof(wrong) / sizeof(wrong[0]); k++)
    {
        snprintf(line, sizeof(line), "system hang --set cells=4 --step %s -o range", wrong[k]);
        expect_refusal(line, 2, "--step");
    }
}

static void test_json_success(void** unused)
{
    (void)unused;
    assert_int_equal(weft("run hang --set cells=4 --frames 2 -o fine --json"), 0);
    assert_true(last.out[0] == '{' && strchr(last.out, '\n') == last.out + strlen(last.out) - 1);
    assert_says("run", last.out, "\"frames\":2");
    assert_string_equal(last.err, "");
    assert_int_equal(weft("system hang --set cells=4 --step 3 -o system"), 0);
    assert_int_equal(weft("solve system --solver mpcg --json"), 0);
    assert_true(last.out[0] == '{');
    assert_says("solve", last.out, "\"converged\":true");
    // An iteration that is cut off: exit 1, and the object is still printed.
    assert_int_equal(weft("solve system --solver mpcg --max-iterations 1 --json"), 1);
    assert_says("solve", last.out, "\"converged\":false");
    assert_int_equal(weft("check hang --json"), 0);
    assert_true(last.out[0] == '{');
}

// Every key that `weft run --json` prints is in the documentation.
static void test_json_keys_are_documented(void** unused)
{
    (void)unused;
    static char page[TEXT_BYTES];
    read_text(WEFT_SOURCE_DIR "/docs/run-folder.md", page);
    const char* list = strstr(page, "`weft run --json` prints");
    assert_non_null(list);
    assert_int_equal(weft("run hang --set cells=4 --frames 1 -o keys --json"), 0);
    int count = 0;
    for (char *at = last.out, *end; (end = strstr(at, "\":")); at = end + 2, count++)
    {
        char word[64];
        *end = '\0';
        snprintf(word, sizeof(word), "`%s`", strrchr(at, '"') + 1);
        assert_says("run --json", list, word);
    }
    assert_true(count >= 13);
}

// `weft check` says where obstacles lie at time 0.
static void test_check_places_obstacles(void** unused)
{
    (void)unused;
    put_text("placed.json",
             "{\"cloth\": [{\"mesh\": {\"grid\": {\"cells\": 2}}, \"transform\": {\"translate\": [0, 9, 0]}}], "
             "\"obstacles\": [{\"shape\": {\"box\": {\"center\": "
             "[0, 0.5, 0], \"size\": [1, 2, 4]}}}, {\"shape\": {\"box\": {\"size\": 1}}, \"motion\": {\"path\": "
             "[{\"time\": 0, \"offset\": [3, 0, 0]}, {\"time\": 1}]}}]}");
    assert_int_equal(weft("check placed.json"), 0);
    assert_says("check", last.out, "from [-0.5, -0.5, -2] to [0.5, 1.5, 2] m");
    assert_says("check", last.out, "from [2.5, -0.5, -0.5] to [3.5, 0.5, 0.5] m");
    assert_int_equal(weft("check placed.json --json"), 0);
    assert_says("check", last.out, "\"min\":[-0.5,-0.5,-2],\"max\":[0.5,1.5,2]");
    assert_says("check", last.out, "\"min\":[2.5,-0.5,-0.5],\"max\":[3.5,0.5,0.5]");
}

// `weft check` says what contact and ties come to, and when the meshes are too fine for a thickness.
static void test_check_shows_contact(void** unused)
{
    (void)unused;
    put_text("patch.json",
             "{\"contact\": {\"thickness\": 0.004, \"friction\": 0.25}, \"cloth\": [{\"name\": \"sheet\", \"mesh\": "
             "{\"grid\": {\"cells\": 10}}}, {\"name\": \"patch\", \"mesh\": {\"grid\": {\"size\": 0.2, \"cells\": 2}}, "
             "\"friction\": 0.5, \"thickness\": 0.002, \"transform\": {\"translate\": [0, 0.002, 0]}}], \"ties\": "
             "[{\"cloth\": \"patch\", \"to\": \"sheet\"}, {\"cloth\": \"patch\", \"to\": \"sheet\", \"where\": "
             "{\"vertices\": [0, 1, 2]}, \"by\": \"edges\"}], \"obstacles\": [{\"name\": \"ball\", \"shape\": "
             "{\"sphere\": {\"center\": [0, -1, 0], \"radius\": 0.1}}}]}");
    assert_int_equal(weft("check patch.json"), 0);
    assert_says("check", last.out, "friction of what it touches (else 0.25), thickness 0.004 m\ncloth patch");
    assert_says("check", last.out, "friction 0.5, thickness 0.002 m\n");
    assert_says("check", last.out, "friction of what it touches (else 0.25), thickness 0.004 m, triangles within");
    assert_says("check", last.out, "tie of patch to sheet: 9 vertices, 0.002 to 0.002 m away\n");
    assert_says("check", last.out, "tie of patch to sheet: 2 points of edges, 0.002 to 0.002 m away");
    assert_null(strstr(last.out, "note: "));
    assert_int_equal(weft("check patch.json --json"), 0);
    assert_says("check", last.out, "\"friction\":0.5,\"static_friction\":0.5,\"mass\":");
    assert_says("check", last.out, "\"thickness\":0.002");
    assert_says("check", last.out,
                "{\"cloth\":\"patch\",\"to\":\"sheet\",\"by\":\"vertices\",\"points\":9,\"near\":0,");
    assert_says("check", last.out, "\"by\":\"edges\",\"points\":2,");
    // A patch upon the sheet whose middle is loose gets a note, unless the pair is excluded.
#define UPON "check patch.json --set cloth.1.transform.translate=[0,0.00001,0]"
    assert_int_equal(weft(UPON), 0);
    assert_says("check", last.out, "tie of patch to sheet: 9 vertices, 1e-05 to 1e-05 m away; contact leaves 9 alone");
#define BORDER UPON " --set ties=[{\"cloth\":\"patch\",\"to\":\"sheet\",\"where\":{\"edge\":\"all\"}}]"
    assert_int_equal(weft(BORDER), 0);
    assert_says("check", last.out, "contact leaves 8 alone");
    assert_says("check", last.out, "note: 1 vertices of `patch` are not tied and start closer than 0.003 m to `sheet`");
    assert_int_equal(weft(BORDER " --json"), 0);
    assert_says("check", last.out, "\"loose\":1,");
    assert_says("check", last.out, "\"warnings\":[\"1 vertices of `patch` are not tied");
    assert_int_equal(weft(BORDER " --set contact.exclude=[{\"pair\":[\"sheet\",\"patch\"]}]"), 0);
    assert_null(strstr(last.out, "note: "));
    // The mean edge of the sheet is 0.11 m.
    assert_int_equal(weft("check patch.json --set cloth.0.thickness=0.1"), 0);
    assert_null(strstr(last.out, "note: "));
    assert_int_equal(weft("check patch.json --set cloth.0.thickness=0.13"), 0);
    assert_says("check", last.out, "note: cloth `sheet` keeps a distance of 0.13 m, more than the mean edge");
    assert_int_equal(weft("check patch.json --set cloth.1.thickness=0.13"), 0);
    assert_says("check", last.out, "note: cloth `patch` keeps a distance of 0.13 m, more than the mean edge");
    assert_int_equal(weft("check patch.json --set obstacles.0.thickness=0.13 --json"), 0);
    assert_says("check", last.out,
                "\"warnings\":[\"obstacle `ball` keeps a distance of 0.13 m, more than the mean edge");
    assert_int_equal(weft("check patch.json --set cloth.1.thickness=0.13 --set contact.enabled=false"), 0);
    assert_null(strstr(last.out, "note: "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_help),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_command_lines),
        cmocka_unit_test(test_json_refusals),
        cmocka_unit_test(test_unknown_scene),
        cmocka_unit_test(test_odd_scenes),
        cmocka_unit_test(test_odd_meshes),
        cmocka_unit_test(test_unreadable_scene),
        cmocka_unit_test(test_unwritable),
        cmocka_unit_test(test_odd_targets),
        cmocka_unit_test(test_disk_full),
        cmocka_unit_test(test_disk_full_json),
        cmocka_unit_test(test_absurd_numbers),
        cmocka_unit_test(test_blow_up_later),
        cmocka_unit_test(test_blow_up_json),
        cmocka_unit_test(test_output_gone),
        cmocka_unit_test(test_systems_of_several_steps),
        cmocka_unit_test(test_json_success),
        cmocka_unit_test(test_json_keys_are_documented),
        cmocka_unit_test(test_check_places_obstacles),
        cmocka_unit_test(test_check_shows_contact),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
