// weft inspect as a command: runs of Weft and caches of other programs, the table, the JSON, exit statuses, and input
// that is cut, wrong, empty, unreadable or not finite: a sentence and exit status 2 (1 for values that are not finite).
#define _GNU_SOURCE
#include "common.h"

#include <fcntl.h>
#include <jansson.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "weft/cache.h"

#include "common_scene.h"

enum
{
    TEXT_BYTES = 1 << 18,
    PATIENCE_S = 900,  // a command that takes longer hangs, however busy the machine is
    MAY_NOT_OBEY = 126 // the exit status where root cannot give up its rights
};

static char folder[256];
static char out[TEXT_BYTES], err[TEXT_BYTES];

static int make_folder(void** state)
{
    (void)state;
    return test_folder(folder) ? chdir(folder) : -1;
}

static int remove_folder(void** state)
{
    (void)state;
    test_folder_remove(folder);
    return chdir("/");
}

// ---- running

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

// Root enters and reads what its mode forbids; from here on not, nor does what the process executes. It stays root, so
// that it still may execute a command that only root may, as after a build with umask 077.
static bool obey_modes(void)
{
    return geteuid() != 0 ||
           (prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE) == 0 && prctl(PR_CAPBSET_DROP, CAP_DAC_READ_SEARCH) == 0);
}

static void become_weft(char* const* argv, bool obedient)
{
    alarm(PATIENCE_S);
    // Opened before rights are given up: folders above the command may be closed to all but root (a user's home).
    int command = open(WEFT_COMMAND, O_RDONLY | O_CLOEXEC);
    int streams[2] = {open(".out", O_WRONLY | O_CREAT | O_TRUNC, 0666),
                      open(".err", O_WRONLY | O_CREAT | O_TRUNC, 0666)};
    dup2(streams[0], STDOUT_FILENO);
    dup2(streams[1], STDERR_FILENO);
    if (obedient && !obey_modes())
    {
        _exit(MAY_NOT_OBEY);
    }
    fexecve(command, argv, environ);
    _exit(127);
}

static int weft_with(const char* line, bool obedient)
{
    char words[2048], *argv[40] = {(char*)"weft"};
    int count = 1, status = 0;
    strcpy(words, line);
    for (char* word = strtok(words, " "); word; word = strtok(NULL, " "))
    {
        argv[count++] = word;
    }
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
    {
        become_weft(argv, obedient);
    }
    waitpid(pid, &status, 0);
    read_text(".out", out);
    read_text(".err", err);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static int weft(const char* line)
{
    return weft_with(line, false);
}

// Exit status 2 with a sentence that holds `word`, as text and as JSON.
static void refused(const char* line, const char* word)
{
    assert_int_equal(weft(line), 2);
    assert_non_null(strstr(err, word));
    char with_json[2048];
    snprintf(with_json, sizeof(with_json), "%s --json", line);
    assert_int_equal(weft(with_json), 2);
    assert_string_equal(err, "");
    json_t* answer = json_loads(out, 0, NULL);
    const char* message = json_string_value(json_object_get(json_object_get(answer, "error"), "message"));
    assert_non_null(message);
    assert_non_null(strstr(message, word));
    json_decref(answer);
}

// ---- files of other programs

static void write_text(const char* path, const char* text)
{
    FILE* f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

// `stated` samples in the header, `count` of `points` points in the file.
static void write_pc2(const char* path, int points, int stated, int count, const float* samples)
{
    FILE* f = fopen(path, "wb");
    assert_non_null(f);
    int32_t numbers[2] = {1, points}, last = stated;
    float frames[2] = {0.0f, 1.0f};
    fwrite("POINTCACHE2", 1, 12, f);
    fwrite(numbers, 4, 2, f);
    fwrite(frames, 4, 2, f);
    fwrite(&last, 4, 1, f);
    fwrite(samples, 12, (size_t)count * (size_t)points, f);
    fclose(f);
}

static const char* const square_obj = "v 0 0 0\nv 1 0 0\nv 1 0 1\nv 0 0 1\nf 1 2 3\nf 1 3 4\n";
static const float square[24] = {0, 0, 0, 1, 0, 0, 1, 0, 1, 0, 0, 1,      // flat
                                 0, 0, 0, 1, 0, 0, 1, 0, 1, 1, 0, 0.25f}; // folded onto itself
static const char* const blade_obj = "v 0.5 -1 0.25\nv 0.5 1 0.25\nv 3 0 0.25\nf 1 2 3\n";
static const float blade[18] = {5.5f, -1, 0.25f, 5.5f, 1, 0.25f, 8, 0, 0.25f,  // away
                                0.5f, -1, 0.25f, 0.5f, 1, 0.25f, 3, 0, 0.25f}; // through the square

static void write_foreign(void)
{
    mkdir("cache", 0777);
    write_text("cache/cloth.obj", square_obj);
    write_pc2("cache/cloth.pc2", 4, 2, 2, square);
    write_text("cache/blade.obj", blade_obj);
    write_pc2("cache/blade.pc2", 3, 2, 2, blade);
}

// ---- what it says

static json_t* frame_at(const json_t* answer, size_t k)
{
    json_t* frame = json_array_get(json_object_get(answer, "frames"), k);
    assert_non_null(frame);
    return frame;
}

static void test_run(void** state)
{
    (void)state;
    assert_int_equal(weft("run hang --set cells=10 --frames 2 -o run"), 0);
    assert_int_equal(weft("inspect run"), 0);
    assert_non_null(strstr(out, "clean: no crossing in 3 frames\n"));
    assert_string_equal(err, "");
    assert_int_equal(weft("inspect run --json"), 0);
    json_t* answer = json_loads(out, 0, NULL);
    assert_non_null(answer);
    assert_int_equal(json_array_size(json_object_get(answer, "frames")), 3);
    assert_int_equal(json_integer_value(json_object_get(answer, "crossings")), 0);
    for (size_t k = 0; k < 3; k++)
    {
        json_t* frame = frame_at(answer, k);
        assert_int_equal(json_integer_value(json_object_get(frame, "frame")), (int)k);
        assert_true(json_is_integer(json_object_get(frame, "crossings")));
        assert_true(json_is_array(json_object_get(frame, "pairs")));
        assert_true(fabs(json_number_value(json_object_get(frame, "min_distance")) - 0.1 * sqrt(0.5)) < 0.01);
        assert_true(json_number_value(json_object_get(frame, "max_strain")) < 0.01);
        assert_true(json_is_number(json_object_get(frame, "energy"))); // frame 0 too: the scene is there
        assert_int_equal(json_integer_value(json_object_get(frame, "nonfinite")), 0);
    }
    // The energy is that of the last step of the frame.
    char stats[TEXT_BYTES], *line = stats, *end;
    read_text("run/stats.jsonl", stats);
    for (; (end = strchr(line, '\n')) && end[1]; line = end + 1)
    {
    }
    json_t* last = json_loads(line, JSON_DISABLE_EOF_CHECK, NULL);
    double total = json_number_value(json_object_get(json_object_get(last, "energy"), "total"));
    assert_true(json_number_value(json_object_get(frame_at(answer, 2), "energy")) == total);
    json_decref(last);
    json_decref(answer);
}

static void test_foreign(void** state)
{
    (void)state;
    write_foreign();
    assert_int_equal(weft("inspect cache --frame 0"), 0);
    assert_int_equal(weft("inspect cache --threads 2"), 1);
    assert_non_null(strstr(out, "crossings in 1 of 2 frames; the first: frame 1"));
    char first[TEXT_BYTES];
    strcpy(first, out);
    assert_int_equal(weft("inspect cache --threads 1"), 1);
    assert_string_equal(first, out);
    assert_int_equal(weft("inspect cache --json"), 1);
    json_t *answer = json_loads(out, 0, NULL), *frame = frame_at(answer, 1);
    json_t* pairs = json_object_get(frame, "pairs");
    // The blade through both triangles, and the fold.
    assert_int_equal(json_integer_value(json_object_get(frame, "crossings")), 3);
    assert_int_equal(json_array_size(pairs), 3);
    json_t* pair = json_array_get(pairs, 2);
    assert_true(json_is_string(json_array_get(json_object_get(pair, "bodies"), 1)));
    assert_int_equal(json_integer_value(json_array_get(json_object_get(pair, "triangles"), 0)), 0);
    assert_string_equal(json_string_value(json_object_get(pair, "kind")), "overlap");
    assert_true(json_number_value(json_object_get(frame, "min_distance")) == 0.0);
    assert_true(json_is_null(json_object_get(frame, "energy")));
    json_decref(answer);
    assert_int_equal(weft("inspect cache --json --pairs 1 --frame 1..1"), 1);
    answer = json_loads(out, 0, NULL);
    assert_int_equal(json_array_size(json_object_get(frame_at(answer, 0), "pairs")), 1);
    assert_int_equal(json_integer_value(json_object_get(answer, "crossings")), 3);
    json_decref(answer);
}

// As an obstacle the square does not cross itself, and has no strain.
static void test_obstacle(void** state)
{
    (void)state;
    write_foreign();
    assert_int_equal(weft("inspect cache --json --obstacle cloth"), 1);
    json_t* answer = json_loads(out, 0, NULL);
    assert_int_equal(json_integer_value(json_object_get(answer, "crossings")), 2);
    json_decref(answer);
    assert_int_equal(weft("inspect cache --obstacle cloth --obstacle blade"), 0);
    refused("inspect cache --obstacle clth", "no body `clth`");
}

// ---- bad input

static void test_command_line(void** state)
{
    (void)state;
    write_foreign();
    refused("inspect", "which folder");
    refused("inspect cache cache", "one folder");
    refused("inspect cache --frame x", "no value for --frame");
    refused("inspect cache --frame 3..1", "no value for --frame: it takes a frame K from 0, or frames A..B");
    refused("inspect cache --frame 1..", "no value for --frame: it takes a frame K");
    refused("inspect cache --threads 100000", "from 0 (one a core) to 256");
    refused("inspect cache --pairs -1", "from 0 to 1000000");
    refused("inspect cache --frame 2", "frames 0..1");
    refused("inspect cache --what 3", "unknown option");
    refused("inspect nowhere", "cannot be opened");
    write_text("file", "");
    refused("inspect file", "cannot be opened");
    mkdir("empty", 0777);
    refused("inspect empty", "holds no run");
}

static void test_cut_pc2(void** state)
{
    (void)state;
    write_foreign();
    assert_int_equal(truncate("cache/cloth.pc2", 32 + 48 + 20), 0);
    refused("inspect cache", "the file is cut: its header counts 2 samples, and it holds 1");
    assert_int_equal(weft("inspect cache --frame 0"), 0);
    assert_int_equal(truncate("cache/cloth.pc2", 32 + 20), 0);
    refused("inspect cache", "holds 0");
    refused("inspect cache --frame 0", "no body has a whole frame");
    assert_int_equal(truncate("cache/cloth.pc2", 20), 0);
    refused("inspect cache", "cut short");
    write_pc2("cache/cloth.pc2", 4, 2000000000, 2, square);
    refused("inspect cache", "counts 2000000000 samples");
}

static void test_wrong_files(void** state)
{
    (void)state;
    write_foreign();
    write_pc2("cache/cloth.pc2", 3, 1, 1, square);
    refused("inspect cache", "3 points where cloth.obj has 4");
    write_foreign();
    write_text("cache/cloth.obj", "");
    refused("inspect cache", "is empty");
    write_text("cache/cloth.obj", "v 0 0 0\nv 1 0 0\nv 1 0 1\nv 0 0 1\n");
    refused("inspect cache", "has no faces");
    write_text("cache/cloth.obj", "v 0 0 0\nv 1 0 0\nv 1 0 nan\nv 0 0 1\nf 1 2 3\n");
    refused("inspect cache", "not finite");
    write_text("cache/cloth.obj", "v 0 0 0\nv 1 0 0\nv 1 0 1\nv 0 0 1\nf 1 2 9\n");
    refused("inspect cache", "9");
}

// What scene.json names must be there, with as many samples as the rest: else a crossing could hide in what is not.
static void test_missing_bodies(void** state)
{
    (void)state;
    write_text(
        "scene.json",
        "{\"frames\": 3, \"steps_per_frame\": 1, \"cloth\": [{\"name\": \"sheet\", \"mesh\": {\"grid\": {\"cells\": "
        "3}}}],"
        " \"obstacles\": [{\"name\": \"ball\", \"shape\": {\"sphere\": {\"radius\": 0.1, \"center\": [0, -1, 0]}},"
        " \"motion\": {\"path\": [{\"time\": 0}, {\"time\": 1, \"offset\": [1, 0, 0]}]}},"
        " {\"name\": \"table\", \"shape\": {\"box\": {\"size\": [1, 1, 1], \"center\": [0, -3, 0]}}}]}");
    const char* const files[] = {"sheet.pc2", "sheet.obj", "ball.pc2", "ball.obj", "table.obj"};
    for (size_t k = 0; k < sizeof(files) / sizeof(files[0]); k++)
    {
        assert_int_equal(weft("run scene.json -o run --force"), 0);
        assert_int_equal(weft("inspect run"), 0);
        char path[64], name[16];
        snprintf(path, sizeof(path), "run/%s", files[k]);
        snprintf(name, sizeof(name), "`%.*s`", (int)strcspn(files[k], "."), files[k]);
        assert_int_equal(remove(path), 0);
        refused("inspect run", name);
        refused("inspect run --frame 0", name);
    }
    assert_int_equal(weft("run scene.json -o run --force"), 0);
    write_text("run/scene.json", "{");
    refused("inspect run", "no scene of a run");
}

static void test_different_samples(void** state)
{
    (void)state;
    write_foreign();
    write_pc2("cache/cloth.pc2", 4, 1, 1, square);
    refused("inspect cache", "cloth.pc2 has 1 samples and blade.pc2 has 2");
    assert_int_equal(weft("inspect cache --frame 0"), 0);
}

static void test_stray_obj(void** state)
{
    (void)state;
    write_foreign();
    write_text("cache/note.obj", "# nothing\n");
    refused("inspect cache", "counts as an obstacle");
}

// The verdict cannot be written: the machine failed, whatever the verdict is.
static void test_full_disk(void** state)
{
    (void)state;
    write_foreign();
    for (int frame = 0; frame < 2; frame++)
    {
        char line[512];
        snprintf(line, sizeof(line), "\"$WEFT\" inspect cache --frame %d > /dev/full 2> .err", frame);
        assert_int_equal(test_shell(NULL, line), 3);
    }
}

static void test_nonfinite(void** state)
{
    (void)state;
    write_foreign();
    float samples[24];
    memcpy(samples, square, sizeof(samples));
    samples[2] = NAN;
    samples[4] = INFINITY;
    write_pc2("cache/cloth.pc2", 4, 2, 2, samples);
    assert_int_equal(weft("inspect cache --json --frame 0"), 1);
    json_t* answer = json_loads(out, 0, NULL);
    assert_int_equal(json_integer_value(json_object_get(frame_at(answer, 0), "nonfinite")), 2);
    assert_true(json_is_null(json_object_get(frame_at(answer, 0), "min_distance"))); // only the blade is left
    json_decref(answer);
    assert_int_equal(weft("inspect cache"), 1);
    assert_non_null(strstr(out, "values that are not finite in 1 of 2 frames"));
}

static void test_no_permission(void** state)
{
    (void)state;
    write_foreign();
    chmod("cache/cloth.pc2", 0);
    int status = weft_with("inspect cache", true);
    if (status == MAY_NOT_OBEY)
    {
        skip();
    }
    assert_int_equal(status, 2);
    assert_non_null(strstr(err, "ermission denied"));
    chmod("cache/cloth.pc2", 0666);
    chmod("cache/cloth.obj", 0);
    assert_int_equal(weft_with("inspect cache", true), 2);
    assert_non_null(strstr(err, "ermission denied"));
    chmod("cache", 0);
    assert_int_equal(weft_with("inspect cache", true), 2);
    assert_non_null(strstr(err, "ermission denied"));
    chmod("cache", 0777);
}

// Many triangles in one place, each with corners of its own; and one triangle repeated.
static void test_many_in_one_place(void** state)
{
    (void)state;
    enum
    {
        MANY = 50000
    };
    mkdir("cache", 0777);
    FILE* f = fopen("cache/cloth.obj", "w");
    float* sample = calloc(9 * MANY, sizeof(float));
    for (int t = 0; t < MANY; t++)
    {
        fprintf(f, "v %d 0 0\nv %d 0 0\nv %d 1 0\nf %d %d %d\n", t, t + 1, t, 3 * t + 1, 3 * t + 2, 3 * t + 3);
        sample[9 * t + 3] = sample[9 * t + 7] = 1.0f;
    }
    fclose(f);
    write_pc2("cache/cloth.pc2", 3 * MANY, 1, 1, sample);
    free(sample);
    assert_int_equal(weft("inspect cache --json --pairs 3"), 1);
    json_t* answer = json_loads(out, 0, NULL);
    assert_int_equal(json_integer_value(json_object_get(answer, "crossings")), 1000000);
    assert_true(json_is_true(json_object_get(frame_at(answer, 0), "truncated")));
    json_decref(answer);
    f = fopen("cache/cloth.obj", "w");
    fputs("v 0 0 0\nv 1 0 0\nv 0 1 0\n", f);
    for (int t = 0; t < MANY; t++)
    {
        fputs("f 1 2 3\n", f);
    }
    fclose(f);
    const float corners[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    write_pc2("cache/cloth.pc2", 3, 1, 1, corners);
    assert_int_equal(weft("inspect cache --json --pairs 3"), 1);
    answer = json_loads(out, 0, NULL);
    assert_true(json_is_true(json_object_get(frame_at(answer, 0), "truncated")));
    json_decref(answer);
}

// ---- squeezed pairs

#define LINE(step, frame, list) "{\"step\": " step ", \"frame\": " frame ", \"squeezed\": " list "}\n"
#define PAIR(bodies, edge, face) "{\"step\": 2, \"bodies\": " bodies ", \"edge\": " edge ", \"face\": " face "}"
#define BLADE_FIRST PAIR("[\"blade\", \"cloth\"]", "[0, 1]", "[0, 1, 2]")
#define BLADE_SECOND PAIR("[\"blade\", \"cloth\"]", "[1, 0]", "[3, 0, 2]")
#define FOLD PAIR("[\"cloth\", \"cloth\"]", "[2, 3]", "[2, 0, 1]")

static int64_t count_of(const json_t* answer, const char* key)
{
    assert_true(json_is_integer(json_object_get(answer, key)));
    return json_integer_value(json_object_get(answer, key));
}

// What frame 1 has of the three crossings with these stats.
static void expect_squeezed(const char* stats, int crossings, int squeezed, bool noted)
{
    write_text("cache/stats.jsonl", stats);
    assert_int_equal(weft("inspect cache --json"), crossings > 0);
    json_t *answer = json_loads(out, 0, NULL), *frame = frame_at(answer, 1);
    assert_int_equal(count_of(answer, "crossings"), crossings);
    assert_int_equal(count_of(answer, "squeezed"), squeezed);
    assert_int_equal(count_of(frame, "crossings"), crossings);
    assert_int_equal(count_of(frame, "squeezed"), squeezed);
    assert_int_equal(json_array_size(json_object_get(frame, "pairs")), crossings);
    assert_int_equal(json_is_string(json_object_get(answer, "note")), noted);
    json_decref(answer);
    assert_int_equal(weft("inspect cache"), crossings > 0);
    assert_int_equal(strstr(out, "note: ") != NULL, noted);
    assert_int_equal(strstr(out, " apart in 1 of 2 frames") != NULL, squeezed > 0);
}

static void test_squeezed(void** state)
{
    (void)state;
    write_foreign();
    expect_squeezed(LINE("1", "1", "[]") LINE("2", "1", "[" BLADE_FIRST "]"), 2, 1, false);
    expect_squeezed(LINE("2", "1", "[" BLADE_FIRST "," BLADE_SECOND "]"), 1, 2, false);
    expect_squeezed(LINE("2", "1", "[" FOLD "," BLADE_FIRST "," BLADE_SECOND "]"), 0, 3, false);
    // The last step of the frame counts, and only that frame.
    expect_squeezed(LINE("2", "1", "[" BLADE_FIRST "]") LINE("3", "1", "[]"), 3, 0, false);
    expect_squeezed(LINE("2", "0", "[" BLADE_FIRST "]"), 3, 0, false);
    expect_squeezed(LINE("2", "7", "[" BLADE_FIRST "]"), 3, 0, false);
    // Frames out of order: each has its own.
    expect_squeezed(LINE("2", "1", "[" BLADE_FIRST "]") LINE("2", "0", "[" FOLD "]") LINE("2", "1", "[" FOLD "]"), 2, 1,
                    false);
    // Other triangles explain nothing; a half-written last line is none.
    expect_squeezed(LINE("2", "1", "[" PAIR("[\"blade\", \"cloth\"]", "[0, 1]", "[1, 2, 3]") "]"), 3, 0, false);
    expect_squeezed(LINE("2", "1", "[" PAIR("[\"cloth\", \"blade\"]", "[0, 3]", "[0, 1, 2]") "]"), 2, 1, false);
    expect_squeezed(LINE("2", "1", "[" BLADE_FIRST "]") "{\"step\": 3, \"fra", 2, 1, false);
    // More than --pairs lists.
    write_text("cache/stats.jsonl", LINE("2", "1", "[" FOLD "," BLADE_FIRST "," BLADE_SECOND "]"));
    assert_int_equal(weft("inspect cache --pairs 0"), 0);
    assert_non_null(strstr(out, "clean: no crossing in 2 frames; 3 squeezed pairs apart in 1 of 2 frames\n"));
}

// Two panels with a seam: the run lists the smallest of the vertices that it shows at one place. A seam that is open
// has none.
static void expect_seam(float gap, int crossings)
{
    const float panels[36] = {0, 0, 0, 1, 0, 0, 1, 0, 1, 0, 0,    1,     0, 0,   0, 1, 0,   1,
                              0, 0, 0, 1, 0, 0, 1, 0, 1, 1, 0.5F, 0.25F, 0, gap, 0, 1, gap, 1};
    write_text("cache/cloth.obj", "v 0 0 0\nv 1 0 0\nv 1 0 1\nv 0 0 1\nv 0 0 0\nv 1 0 1\nf 1 2 3\nf 5 6 4\n");
    write_pc2("cache/cloth.pc2", 6, 2, 2, panels);
    expect_squeezed(LINE("2", "1", "[" BLADE_FIRST "," BLADE_SECOND "]"), crossings, 2 - crossings, false);
}

static void test_squeezed_at_seam(void** state)
{
    (void)state;
    write_foreign();
    expect_seam(0.0F, 0);
    expect_seam(0.001F, 1);
}

// ---- squeezed bodies inside others

static const char* const cube_obj =
    "v -1 -1 -1\nv 1 -1 -1\nv 1 1 -1\nv -1 1 -1\nv -1 -1 1\nv 1 -1 1\nv 1 1 1\nv -1 1 1\n"
    "f 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 3 4 8 7\nf 1 5 8 4\nf 2 3 7 6\n";
#define INTO_CUBE PAIR("[\"cube\", \"chip\"]", "[0, 1]", "[0, 1, 2]")
#define INTO_FLAP PAIR("[\"chip\", \"flap\"]", "[0, 1]", "[0, 1, 2]")

// A chip that is outside in frame 0 and inside the cube in frames 1 and 2; a flap that is never near.
static void write_swallowed(void)
{
    static const float chip[27] = {5, 0, 0,    5.1f, 0, 0, 5, 0.1f, 0, 0, 0, 0,    0.1f, 0,
                                   0, 0, 0.1f, 0,    0, 0, 0, 0.1f, 0, 0, 0, 0.1f, 0};
    static const float flap[27] = {9, 0, 0,    9.1f, 0, 0, 9, 0.1f, 0, 9, 0, 0,    9.1f, 0,
                                   0, 9, 0.1f, 0,    9, 0, 0, 9.1f, 0, 0, 9, 0.1f, 0};
    mkdir("cache", 0777);
    write_text("cache/cube.obj", cube_obj);
    write_text("cache/chip.obj", "v 5 0 0\nv 5.1 0 0\nv 5 0.1 0\nf 1 2 3\n");
    write_pc2("cache/chip.pc2", 3, 3, 3, chip);
    write_text("cache/flap.obj", "v 9 0 0\nv 9.1 0 0\nv 9 0.1 0\nf 1 2 3\n");
    write_pc2("cache/flap.pc2", 3, 3, 3, flap);
}

static void expect_swallowed(const char* stats, const char* options, int crossings, int squeezed)
{
    char line[128];
    write_text("cache/stats.jsonl", stats);
    snprintf(line, sizeof(line), "inspect cache --json %s", options);
    assert_int_equal(weft(line), crossings > 0);
    json_t* answer = json_loads(out, 0, NULL);
    assert_int_equal(count_of(answer, "crossings"), crossings);
    assert_int_equal(count_of(answer, "squeezed"), squeezed);
    int64_t nested = 0, pairs = 0;
    for (size_t k = 0; k < json_array_size(json_object_get(answer, "frames")); k++)
    {
        nested += count_of(frame_at(answer, k), "nested");
        pairs += (int64_t)json_array_size(json_object_get(frame_at(answer, k), "pairs"));
    }
    assert_int_equal(nested, crossings);
    assert_int_equal(pairs, crossings);
    json_decref(answer);
}

static void test_squeezed_inside(void** state)
{
    (void)state;
    write_swallowed();
    expect_swallowed(LINE("1", "1", "[]"), "", 2, 0);
    // Since the frame that lists the two; any step of it will do, and the order of bodies does not matter.
    expect_swallowed(LINE("2", "1", "[" INTO_CUBE "]"), "", 0, 2);
    expect_swallowed(LINE("2", "1", "[" INTO_CUBE "]") LINE("3", "1", "[]") LINE("4", "2", "[]"), "", 0, 2);
    expect_swallowed(LINE("2", "1", "[" PAIR("[\"chip\", \"cube\"]", "[0, 1]", "[0, 1, 2]") "]"), "", 0, 2);
    expect_swallowed(LINE("2", "0", "[" INTO_CUBE "]"), "", 0, 2);
    // Not before it, and not of other bodies.
    expect_swallowed(LINE("2", "2", "[" INTO_CUBE "]"), "", 1, 1);
    expect_swallowed(LINE("2", "1", "[" INTO_FLAP "]"), "", 2, 0);
    expect_swallowed(LINE("2", "2", "[" INTO_CUBE "]") LINE("2", "1", "[" INTO_FLAP "]"), "", 1, 1);
    // Frames out of order: the earliest counts. A frame alone knows what was before it.
    expect_swallowed(LINE("2", "2", "[" INTO_CUBE "]") LINE("2", "1", "[" INTO_CUBE "]"), "", 0, 2);
    expect_swallowed(LINE("2", "1", "[" INTO_CUBE "]"), "--frame 2", 0, 1);
    expect_swallowed(LINE("2", "2", "[" INTO_CUBE "]"), "--frame 1", 1, 0);
}

// Two bodies that close on a small sheet, as a run: it ends inside of them, and that is no crossing.
static void test_run_squeezed_inside(void** state)
{
    (void)state;
    write_text("scene.json", scene_press);
    static const char* const gravities[] = {"[0,-9.81,0]", "[0,0,0]"}; // it is pushed in, and it is passed whole
    for (size_t k = 0; k < 2; k++)
    {
        char line[128];
        snprintf(line, sizeof(line), "run scene.json --set gravity=%s -o run --force", gravities[k]);
        assert_int_equal(weft(line), 0);
        assert_int_equal(weft("inspect run --json"), 0);
        json_t* answer = json_loads(out, 0, NULL);
        assert_int_equal(count_of(answer, "crossings"), 0);
        assert_true(count_of(frame_at(answer, 5), "squeezed") > 0);
        json_decref(answer);
        assert_int_equal(remove("run/stats.jsonl"), 0);
        assert_int_equal(weft("inspect run --frame 5"), 1);
        assert_non_null(strstr(out, "(nested)"));
    }
}

static void test_damaged_stats(void** state)
{
    (void)state;
    write_foreign();
    assert_int_equal(weft("inspect cache"), 1);
    assert_non_null(strstr(out, "note: stats.jsonl is missing: no crossing is explained"));
    assert_int_equal(weft("inspect cache --frame 0"), 0);
    assert_null(strstr(out, "note"));
    const char* const lines[] = {
        "\n",
        "{}\n",
        "[]\n",
        "nonsense\n",
        "{\"step\": 2\n",
        "\x01\xff\xfe\n",
        LINE("2", "1", "3"),
        LINE("2", "1", "null"),
        LINE("2", "1", "{\"step\": 2}"),
        LINE("2", "1", "[1, 2]"),
        LINE("2", "1", "[[]]"),
        LINE("2", "1e99", "[" BLADE_FIRST "]"),
        LINE("2", "-1", "[" BLADE_FIRST "]"),
        LINE("2", "99999999999999999999", "[" BLADE_FIRST "]"),
        LINE("2", "\"1\"", "[" BLADE_FIRST "]"),
        LINE("1.5", "1", "[" BLADE_FIRST "]"),
        LINE("3", "1", "[" BLADE_FIRST "]"), // of another step
        LINE("2", "1", "[" BLADE_FIRST ", 7]"),
        LINE("2", "1", "[" PAIR("[\"blade\"]", "[0, 1]", "[0, 1, 2]") "]"),
        LINE("2", "1", "[" PAIR("[\"blade\", \"nobody\"]", "[0, 1]", "[0, 1, 2]") "]"),
        LINE("2", "1", "[" PAIR("[\"blade\", 4]", "[0, 1]", "[0, 1, 2]") "]"),
        LINE("2", "1", "[" PAIR("\"blade\"", "[0, 1]", "[0, 1, 2]") "]"),
        LINE("2", "1", "[" PAIR("[\"blade\", \"cloth\"]", "[0, 3]", "[0, 1, 2]") "]"),
        LINE("2", "1", "[" PAIR("[\"blade\", \"cloth\"]", "[0, -1]", "[0, 1, 2]") "]"),
        LINE("2", "1", "[" PAIR("[\"blade\", \"cloth\"]", "[0, 0]", "[0, 1, 2]") "]"),
        LINE("2", "1", "[" PAIR("[\"blade\", \"cloth\"]", "[0, 1]", "[0, 1, 4294967298]") "]"),
        LINE("2", "1", "[" PAIR("[\"blade\", \"cloth\"]", "[0, 1]", "[0, 1, 1e300]") "]"),
        LINE("2", "1", "[" PAIR("[\"blade\", \"cloth\"]", "[0, 1]", "[0, 1, 2, 3]") "]"),
        LINE("2", "1", "[" PAIR("[\"blade\", \"cloth\"]", "[0, 1]", "{}") "]"),
    };
    for (size_t k = 0; k < sizeof(lines) / sizeof(lines[0]); k++)
    {
        expect_squeezed(lines[k], 3, 0, true);
    }
    // A damaged line takes nothing from the others.
    expect_squeezed("nonsense\n" LINE("2", "1", "[" BLADE_FIRST "]"), 2, 1, true);
    // Deep nesting, and a line beyond any buffer.
    FILE* f = fopen("cache/stats.jsonl", "w");
    for (int k = 0; k < 1000000; k++)
    {
        fputc('[', f);
    }
    fprintf(f, "\n{\"step\":2,\"frame\":1,\"energy\":{\"total\":7},\"squeezed\":[");
    for (int k = 0; k < 5000; k++)
    {
        fputs(FOLD ",", f);
    }
    fputs(BLADE_FIRST "]}\n", f);
    fclose(f);
    assert_int_equal(weft("inspect cache --json"), 1);
    json_t* answer = json_loads(out, 0, NULL);
    assert_int_equal(count_of(answer, "crossings"), 1);
    assert_int_equal(count_of(answer, "squeezed"), 2);
    assert_true(json_number_value(json_object_get(frame_at(answer, 1), "energy")) == 7.0);
    json_decref(answer);
    assert_int_equal(remove("cache/stats.jsonl"), 0);
    mkdir("cache/stats.jsonl", 0777);
    assert_int_equal(weft("inspect cache"), 1);
    assert_non_null(strstr(out, "note: stats.jsonl is not readable"));
}

// What a step lists comes out of the folder again.
static void test_written_squeezed(void** state)
{
    (void)state;
    write_text("scene.json", "{\"steps_per_frame\": 1, \"cloth\": [{\"name\": \"a-b\", \"mesh\": {\"grid\": "
                             "{\"cells\": 3}}}, {\"name\": \"c\", \"mesh\": {\"grid\": {\"cells\": 3}},"
                             " \"transform\": {\"translate\": [0, 1, 0]}}]}");
    weft_scene* scene = NULL;
    weft_sim* sim = NULL;
    weft_cache_writer* writer = NULL;
    assert_int_equal(weft_scene_load("scene.json", NULL, 0, &scene, NULL), WEFT_OK);
    assert_int_equal(weft_scene_create_sim(scene, 1, &sim, NULL), WEFT_OK);
    assert_int_equal(weft_cache_writer_create("run", WEFT_CACHE_NEW, weft_scene_json(scene), 1, sim, &writer, NULL),
                     WEFT_OK);
    const weft_squeezed pairs[2] = {{{0, 1}, {3, 2}, {4, 5, 9}}, {{1, 0}, {0, 1}, {8, 2, 1}}};
    weft_step_stats stats;
    assert_int_equal(weft_sim_step(sim, &stats, NULL), WEFT_OK);
    stats.squeezed = 2;
    stats.squeezed_pairs = pairs;
    assert_int_equal(weft_cache_writer_step(writer, sim, &stats, NULL), WEFT_OK);
    assert_int_equal(weft_sim_step(sim, &stats, NULL), WEFT_OK);
    assert_int_equal(weft_cache_writer_step(writer, sim, &stats, NULL), WEFT_OK);
    assert_int_equal(weft_cache_writer_destroy(writer, NULL), WEFT_OK);
    weft_cache* cache = NULL;
    weft_cache_squeezed* squeezed = NULL;
    const weft_squeezed* read = NULL;
    assert_int_equal(weft_cache_open("run", &cache, NULL), WEFT_OK);
    assert_int_equal(weft_cache_squeezed_read("run", cache, &squeezed, NULL), WEFT_OK);
    assert_null(weft_cache_squeezed_note(squeezed));
    assert_int_equal(weft_cache_squeezed_at(squeezed, 0, &read), 0);
    assert_int_equal(weft_cache_squeezed_at(squeezed, 2, &read), 0);
    assert_int_equal(weft_cache_squeezed_at(squeezed, 1, &read), 2);
    assert_memory_equal(read, pairs, sizeof(pairs));
    weft_cache_squeezed_destroy(squeezed);
    weft_cache_close(cache);
    weft_sim_destroy(sim);
    weft_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_run, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_foreign, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_obstacle, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_command_line, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_cut_pc2, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_wrong_files, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_missing_bodies, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_different_samples, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_stray_obj, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_full_disk, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_nonfinite, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_no_permission, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_many_in_one_place, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_squeezed, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_squeezed_at_seam, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_squeezed_inside, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_run_squeezed_inside, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_damaged_stats, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_written_squeezed, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
