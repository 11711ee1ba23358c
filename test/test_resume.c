// The real command, killed: a run of 30 steps is stopped by signal 9 at every step, in its first instants, and again
// and again; after each kill all complete frames are readable, and after --resume the folder is that of a run that was
// never stopped, to the bit (but for times). Then what --resume and --force accept and refuse.
#define _GNU_SOURCE
#include "common.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/core.h"
#include "weft/cache.h"

enum
{
    FRAMES = 10,
    STEPS_A_FRAME = 3,
    STEPS = FRAMES * STEPS_A_FRAME,
    ARGUMENTS_MAX = 32,
    PATH_BYTES = 512,
    WAIT_LIMIT_S = 120
};

static char folder[256], reference[PATH_BYTES], work[PATH_BYTES], messages[PATH_BYTES];

// ---- files

static char* path_of(const char* dir, const char* name, char* path)
{
    int length = snprintf(path, PATH_BYTES, "%s/%s", dir, name);
    assert_true(length < PATH_BYTES);
    return path;
}

static bool exists(const char* path)
{
    struct stat info;
    return lstat(path, &info) == 0;
}

// The whole file with a zero behind it, NULL when there is none; freed by the caller.
static char* slurp(const char* path, size_t* size)
{
    FILE* f = fopen(path, "rb");
    *size = 0;
    if (!f)
    {
        return NULL;
    }
    size_t capacity = 1 << 16;
    char* data = malloc(capacity + 1);
    for (size_t got; (got = fread(data + *size, 1, capacity - *size, f)) > 0;)
    {
        *size += got;
        if (*size == capacity)
        {
            capacity *= 2;
            data = realloc(data, capacity + 1);
        }
    }
    fclose(f);
    data[*size] = 0;
    return data;
}

static int count_lines(const char* path)
{
    size_t size;
    char* text = slurp(path, &size);
    int lines = 0;
    for (size_t k = 0; k < size; k++)
    {
        lines += text[k] == '\n';
    }
    free(text);
    return lines;
}

// Takes the times out of each line of stats, in place: from "setup_s" up to "energy".
static void strip_times(char* text)
{
    char* out = text;
    for (char* in = text; *in;)
    {
        char* from = strstr(in, "\"setup_s\"");
        char* to = from ? strstr(from, "\"energy\"") : NULL;
        size_t keep = to ? (size_t)(from - in) : strlen(in);
        memmove(out, in, keep);
        out += keep;
        in = to ? to : in + keep;
    }
    *out = 0;
}

static void assert_same_file(const char* name, const char* a, const char* b)
{
    char path[PATH_BYTES];
    size_t sizes[2];
    char* data[2] = {slurp(path_of(a, name, path), &sizes[0]), slurp(path_of(b, name, path), &sizes[1])};
    assert_non_null(data[0]);
    assert_non_null(data[1]);
    if (strcmp(name, "stats.jsonl") == 0)
    {
        for (int k = 0; k < 2; k++)
        {
            strip_times(data[k]);
            sizes[k] = strlen(data[k]);
        }
    }
    if (sizes[0] != sizes[1] || memcmp(data[0], data[1], sizes[0]) != 0)
    {
        fail_msg("%s differs: %zu and %zu bytes", name, sizes[0], sizes[1]);
    }
    free(data[0]);
    free(data[1]);
}

// Same files with the same contents; nothing else lies around.
static void assert_same_run(const char* dir, const char* expected)
{
    static const char* const names[] = {"scene.json", "sheet.obj", "sheet.pc2", "checkpoint.weft", "stats.jsonl"};
    for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
    {
        assert_same_file(names[k], dir, expected);
    }
    DIR* d = opendir(dir);
    int count = 0;
    while (readdir(d))
    {
        count++;
    }
    closedir(d);
    assert_int_equal(count, 2 + 5 + 1); // with . and .., and run.lock
}

// ---- the command

static pid_t start(const char* const* arguments)
{
    const char* argv[ARGUMENTS_MAX + 2] = {WEFT_COMMAND};
    int count = 1;
    for (; arguments[count - 1]; count++)
    {
        assert_true(count < ARGUMENTS_MAX);
        argv[count] = arguments[count - 1];
    }
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
    {
        int out = open(messages, O_WRONLY | O_CREAT | O_TRUNC, 0666);
        dup2(out, STDOUT_FILENO);
        dup2(out, STDERR_FILENO);
        execv(WEFT_COMMAND, (char* const*)argv);
        _exit(127);
    }
    return pid;
}

static int finish(pid_t pid)
{
    int status;
    assert_true(waitpid(pid, &status, 0) == pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

// The run that all tests are about, into `dir`, with more arguments. An iterating solver: its first guess is part of
// the state, too.
#define RUN(dir, ...)                                                                                                  \
    (const char* const[])                                                                                              \
    {                                                                                                                  \
        "run", "two-corners", "-o", (dir), "--set", "cells=20", "--set", "steps_per_frame=3", "--set",                 \
            "solver=diag-pcg", __VA_ARGS__, NULL                                                                       \
    }

static void assert_exit(pid_t pid, int expected)
{
    int code = finish(pid);
    if (code != expected)
    {
        size_t size;
        char* text = slurp(messages, &size);
        fail_msg("exit %d instead of %d: %s", code, expected, text ? text : "");
    }
}

static void assert_says(const char* word)
{
    size_t size;
    char* text = slurp(messages, &size);
    if (!text || !strstr(text, word))
    {
        fail_msg("`%s` does not hold `%s`", text ? text : "", word);
    }
    free(text);
}

typedef bool reached_fn(const char* dir, int goal);

static bool reached_lines(const char* dir, int goal)
{
    char path[PATH_BYTES];
    return count_lines(path_of(dir, "stats.jsonl", path)) >= goal;
}

static const char* const first_things[] = {".",         "run.lock",    "scene.json",     "sheet.obj",
                                           "sheet.pc2", "stats.jsonl", "checkpoint.weft"};

static bool reached_file(const char* dir, int goal)
{
    char path[PATH_BYTES];
    return exists(path_of(dir, first_things[goal], path));
}

// Kills the child with signal 9 once the goal is reached. Returns whether it was alive then.
static bool kill_at(pid_t pid, reached_fn* reached, const char* dir, int goal)
{
    time_t limit = time(NULL) + WAIT_LIMIT_S;
    siginfo_t ended = {0};
    while (!reached(dir, goal) && time(NULL) < limit)
    {
        waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOHANG | WNOWAIT);
        if (ended.si_pid == pid)
        {
            break;
        }
        nanosleep(&(struct timespec){0, 50000}, NULL);
    }
    kill(pid, SIGKILL);
    return finish(pid) == -SIGKILL;
}

// ---- frames

// What a stranger reads from the PC2 of a run that was killed: header, count, samples, all as in the reference.
static int check_frames(const char* dir)
{
    char path[PATH_BYTES];
    size_t size, reference_size;
    char* data = slurp(path_of(dir, "sheet.pc2", path), &size);
    char* expected = slurp(path_of(reference, "sheet.pc2", path), &reference_size);
    assert_non_null(expected);
    int32_t points = 0, samples = 0;
    if (data && size >= 32)
    {
        memcpy(&points, data + 16, 4);
        memcpy(&samples, data + 28, 4);
        assert_memory_equal(data, expected, 28);
        assert_true(samples >= 0 && size >= 32 + (size_t)samples * 12 * (size_t)points);
        assert_memory_equal(data + 32, expected + 32, (size_t)samples * 12 * (size_t)points);
    }
    free(data);
    free(expected);
    return samples;
}

// And what Weft itself reads.
static void check_reader(const char* dir, int samples)
{
    weft_cache* cache;
    weft_error error;
    if (weft_cache_open(dir, &cache, &error) != WEFT_OK)
    {
        fail_msg("%s", error.message);
    }
    assert_int_equal(weft_cache_frame_count(cache), samples);
    int n = weft_cache_body_at(cache, 0)->vertex_count;
    weft_vec3* x = malloc((size_t)n * sizeof(weft_vec3));
    for (int frame = 0; frame < samples; frame++)
    {
        assert_int_equal(weft_cache_read_frame(cache, 0, frame, x, &error), WEFT_OK);
    }
    free(x);
    weft_cache_close(cache);
}

static void clear(void)
{
    test_folder_remove(work);
}

// ---- tests

static int make_reference(void** unused)
{
    (void)unused;
    if (!test_folder(folder))
    {
        return -1;
    }
    path_of(folder, "reference", reference);
    path_of(folder, "work", work);
    path_of(folder, "messages", messages);
    return finish(start(RUN(reference, "--frames", "10", "--threads", "1")));
}

static int remove_all(void** unused)
{
    (void)unused;
    test_folder_remove(folder);
    return 0;
}

static void test_two_runs_are_equal(void** unused)
{
    (void)unused;
    assert_int_equal(check_frames(reference), FRAMES + 1);
    char path[PATH_BYTES];
    assert_int_equal(count_lines(path_of(reference, "stats.jsonl", path)), STEPS);
    clear();
    assert_exit(start(RUN(work, "--frames", "10", "--threads", "3")), 0);
    assert_same_run(work, reference);
}

static void test_killed_at_every_step(void** unused)
{
    (void)unused;
    int struck = 0, sharp = 0;
    for (int step = 1; step <= STEPS; step++)
    {
        clear();
        pid_t pid = start(RUN(work, "--frames", "10", "--threads", "1"));
        bool alive = kill_at(pid, reached_lines, work, step);
        char path[PATH_BYTES];
        int lines = count_lines(path_of(work, "stats.jsonl", path));
        struck += alive;
        sharp += alive && lines == step;
        assert_true(lines >= step);

        // A frame follows the line of its last step; every frame before that one is there.
        int samples = check_frames(work);
        assert_true(samples >= 1 + (lines - 1) / STEPS_A_FRAME);
        check_reader(work, samples);

        const char* threads[] = {"1", "2", "3"};
        assert_exit(start(RUN(work, "--frames", "10", "--resume", "--threads", threads[step % 3])), 0);
        assert_same_run(work, reference);
    }
    print_message("          %d of %d kills met a living run, %d of them within the next step\n", struck, STEPS, sharp);
    assert_true(struck >= STEPS * 2 / 3);
}

// What other solvers and methods remember must not show either: factors, choices, the length of a substep.
static void test_other_solvers(void** unused)
{
    (void)unused;
    static const char* const choices[][2] = {
        {"solver=auto", "method=implicit-euler"},    {"solver=cholesky", "method=implicit-euler"},
        {"solver=diag-pcg", "method=newton"},        {"solver=sa-ppcg", "solver.sa.coarsest=60"},
        {"solver=sa-pcg", "method=newton"},          {"solver=diag-pcg", "step_control.max_stretch=1.0001"},
        {"solver=decomposed:auto", "method=newton"}, {"solver=mpcg", "solver.preconditioner=ic"}};
    char whole[PATH_BYTES];
    path_of(folder, "whole", whole);
    for (size_t k = 0; k < sizeof(choices) / sizeof(choices[0]); k++)
    {
        test_folder_remove(whole);
        assert_exit(start(RUN(whole, "--frames", "5", "--set", choices[k][0], "--set", choices[k][1])), 0);
        for (int lines = 2; lines < 15; lines += 5)
        {
            clear();
            pid_t pid = start(RUN(work, "--frames", "5", "--set", choices[k][0], "--set", choices[k][1]));
            kill_at(pid, reached_lines, work, lines);
            assert_exit(start(RUN(work, "--frames", "5", "--resume", "--set", choices[k][0], "--set", choices[k][1])),
                        0);
            assert_same_run(work, whole);
        }
    }
    test_folder_remove(whole);
}

// `auto` on a sheet that is large enough for multigrid, killed at every step: what it has learnt and what multigrid
// keeps must not show.
static void test_auto_at_every_step(void** unused)
{
    (void)unused;
    char whole[PATH_BYTES], path[PATH_BYTES];
    path_of(folder, "whole", whole);
    test_folder_remove(whole);
#define AUTO(dir, ...) RUN(dir, "--set", "solver=auto", "--set", "cells=50", "--frames", "10", __VA_ARGS__)
    assert_exit(start(AUTO(whole, "--threads", "2")), 0);
    size_t size;
    char* stats = slurp(path_of(whole, "stats.jsonl", path), &size);
    assert_non_null(strstr(stats, "sa-ppcg"));
    free(stats);
    for (int step = 1; step <= STEPS; step++)
    {
        clear();
        kill_at(start(AUTO(work, "--threads", "1")), reached_lines, work, step);
        const char* threads[] = {"1", "2", "16"};
        assert_exit(start(AUTO(work, "--resume", "--threads", threads[step % 3])), 0);
        assert_same_run(work, whole);
    }
#undef AUTO
    test_folder_remove(whole);
}

// A partition: numbers from 0, each in use, on most vertices; none before the first step.
static void assert_aggregates(const char* dir)
{
    weft_cache* cache;
    assert_int_equal(weft_cache_open(dir, &cache, NULL), WEFT_OK);
    assert_int_equal(weft_cache_field_count(cache, 0), 2);
    assert_string_equal(weft_cache_field_at(cache, 0, 0)->name, "aggregate");
    assert_string_equal(weft_cache_field_at(cache, 0, 1)->name, "contact");
    int count = weft_cache_body_at(cache, 0)->vertex_count, free_count = 0;
    float* value = calloc((size_t)count, sizeof(float));
    bool* used = calloc((size_t)count, sizeof(bool));
    assert_true(value && used);
    for (int frame = 0; frame < weft_cache_frame_count(cache); frame++)
    {
        int largest = -1;
        free_count = 0;
        memset(used, 0, (size_t)count * sizeof(bool));
        assert_int_equal(weft_cache_read_field(cache, 0, 0, frame, value, NULL), WEFT_OK);
        for (int k = 0; k < count; k++)
        {
            int a = (int)value[k];
            assert_true(a == value[k] && a >= -1 && a < count);
            free_count += a >= 0;
            largest = a > largest ? a : largest;
            a >= 0 ? (void)(used[a] = true) : (void)0;
        }
        for (int a = 0; a <= largest; a++)
        {
            assert_true(used[a]);
        }
        assert_true(frame == 0 ? free_count == 0 : free_count > count / 2 && largest > 2 && largest < count / 4);
    }
    weft_cache_close(cache);
    free(value);
    free(used);
}

// Fields go on after a kill with the same bytes, whether or not they are asked for again.
static void test_fields(void** unused)
{
    (void)unused;
    char whole[PATH_BYTES];
    path_of(folder, "whole", whole);
    test_folder_remove(whole);
#define FIELDS(dir, ...) RUN(dir, "--set", "solver=sa-ppcg", "--set", "cells=40", "--frames", "5", __VA_ARGS__)
    assert_exit(start(FIELDS(whole, "--fields")), 0);
    assert_aggregates(whole);
    for (int step = 1; step <= STEPS / 2; step += 3)
    {
        clear();
        kill_at(start(FIELDS(work, "--fields", "--threads", "1")), reached_lines, work, step);
        assert_exit(start(FIELDS(work, "--resume", step % 2 ? "--fields" : "--resume")), 0);
        assert_same_file("sheet.aggregate.field", work, whole);
        assert_same_file("sheet.contact.field", work, whole);
        assert_same_file("sheet.pc2", work, whole);
    }
    clear();
    assert_exit(start(FIELDS(work, "--threads", "1")), 0);
    assert_exit(
        start(RUN(work, "--set", "solver=sa-ppcg", "--set", "cells=40", "--frames", "6", "--resume", "--fields")), 2);
    assert_says("without --fields");
#undef FIELDS
    test_folder_remove(whole);
}

// Settings of multigrid are part of a run with multigrid, and of no other.
static void test_other_multigrid(void** unused)
{
    (void)unused;
    clear();
    assert_exit(start(RUN(work, "--frames", "2", "--set", "solver=sa-ppcg")), 0);
    assert_exit(start(RUN(work, "--frames", "3", "--resume", "--set", "solver=sa-ppcg", "--set", "solver.sa.degree=3")),
                2);
    assert_says("another scene");
    assert_exit(start(RUN(work, "--frames", "3", "--resume", "--set", "solver=sa-ppcg")), 0);
    clear();
    assert_exit(start(RUN(work, "--frames", "2")), 0);
    assert_exit(start(RUN(work, "--frames", "10", "--resume", "--set", "solver.sa.degree=3")), 0);
    char path[PATH_BYTES];
    assert_int_equal(count_lines(path_of(work, "stats.jsonl", path)), STEPS);
}

// Before the first checkpoint there may be nothing to resume; then the run simply starts.
static void test_killed_at_the_start(void** unused)
{
    (void)unused;
    for (size_t k = 0; k < sizeof(first_things) / sizeof(first_things[0]); k++)
    {
        clear();
        pid_t pid = start(RUN(work, "--frames", "10", "--threads", "1"));
        kill_at(pid, reached_file, work, (int)k);
        check_frames(work);
        char path[PATH_BYTES];
        bool holds_run = exists(path_of(work, "run.lock", path));
        int code = finish(start(RUN(work, "--frames", "10", "--resume")));
        assert_int_equal(code, holds_run ? 0 : 2);
        if (!holds_run)
        {
            assert_exit(start(RUN(work, "--frames", "10")), 0);
        }
        assert_same_run(work, reference);
    }
}

// Killed, resumed, killed: also in the instants in which --resume cuts the files back.
static void test_killed_again_and_again(void** unused)
{
    (void)unused;
    clear();
    kill_at(start(RUN(work, "--frames", "10", "--threads", "1")), reached_lines, work, 2);
    for (int lines = 5; lines < STEPS; lines += 4)
    {
        kill_at(start(RUN(work, "--frames", "10", "--resume", "--threads", "2")), reached_lines, work, lines);
        check_reader(work, check_frames(work));
        for (int early = 0; early < 3; early++)
        {
            pid_t pid = start(RUN(work, "--frames", "10", "--resume", "--threads", "1"));
            nanosleep(&(struct timespec){0, 1500000 * (early + 1) + 100000 * lines}, NULL);
            kill(pid, SIGKILL);
            finish(pid);
            check_reader(work, check_frames(work));
        }
    }
    assert_exit(start(RUN(work, "--frames", "10", "--resume")), 0);
    assert_same_run(work, reference);
}

// A polite stop says how to go on.
static void test_stopped_by_request(void** unused)
{
    (void)unused;
    const int signals[] = {SIGINT, SIGTERM};
    for (int k = 0; k < 2; k++)
    {
        clear();
        pid_t pid = start(RUN(work, "--frames", "10", "--threads", "1"));
        time_t limit = time(NULL) + WAIT_LIMIT_S;
        while (!reached_lines(work, 4) && time(NULL) < limit)
        {
            nanosleep(&(struct timespec){0, 100000}, NULL);
        }
        kill(pid, signals[k]);
        int code = finish(pid);
        assert_true(code == 1 || code == 0); // 0: it was done before the signal came
        if (code == 1)
        {
            assert_says("--resume");
        }
        assert_exit(start(RUN(work, "--frames", "10", "--resume")), 0);
        assert_same_run(work, reference);
    }
}

static void test_more_frames(void** unused)
{
    (void)unused;
    clear();
    assert_exit(start(RUN(work, "--frames", "4", "--threads", "2")), 0);
    assert_int_equal(check_frames(work), 5);
    assert_exit(start(RUN(work, "--frames", "10", "--resume")), 0);
    assert_same_run(work, reference);

    // Resuming what is done changes nothing, and neither does asking for fewer frames than are there.
    assert_exit(start(RUN(work, "--frames", "10", "--resume")), 0);
    assert_same_run(work, reference);
    assert_exit(start(RUN(work, "--frames", "3", "--resume")), 0);
    assert_same_file("sheet.pc2", work, reference);
    assert_same_file("stats.jsonl", work, reference);
    assert_exit(start(RUN(work, "--frames", "10", "--resume")), 0);
    assert_same_run(work, reference);
}

// The scene as run, started from its folder, gives the same bits.
static void test_scene_as_run(void** unused)
{
    (void)unused;
    char scene[PATH_BYTES];
    clear();
    const char* const again[] = {"run", path_of(reference, "scene.json", scene), "-o", work, NULL};
    assert_exit(start(again), 0);
    assert_same_run(work, reference);
    kill_at(start(RUN(work, "--frames", "10", "--force", "--threads", "1")), reached_lines, work, 7);
    const char* const onward[] = {"run", path_of(work, "scene.json", scene), "-o", work, "--resume", NULL};
    assert_exit(start(onward), 0);
    assert_same_run(work, reference);
}

static void test_refusals(void** unused)
{
    (void)unused;
    clear();
    assert_exit(start(RUN(work, "--frames", "10", "--resume")), 2);
    assert_says("no run to resume");
    assert_false(exists(work));
    assert_exit(start(RUN(work, "--frames", "10")), 0);

    // A folder that holds a run, without a word what to do with it; then other scenes, other settings.
    assert_exit(start(RUN(work, "--frames", "10")), 2);
    assert_says("--resume");
    assert_says("--force");
    assert_exit(start(RUN(work, "--frames", "10", "--resume", "--force")), 2);
    static const char* const changes[] = {"time_step=0.004",       "cells=21",
                                          "gravity=[0,-9.8,0]",    "cloth.0.material.bending=2e-5",
                                          "cloth.0.pins=[]",       "solver=cholesky",
                                          "solver.tolerance=1e-6", "method=newton",
                                          "steps_per_frame=6",     "contact.enabled=false",
                                          "cloth.0.friction=0.9",  "cloth.0.thickness=0.002"};
    for (size_t k = 0; k < sizeof(changes) / sizeof(changes[0]); k++)
    {
        assert_exit(start(RUN(work, "--frames", "12", "--resume", "--set", changes[k])), 2);
        assert_says("another scene");
        assert_same_run(work, reference);
    }
    if (cpu_best() != CPU_BASE)
    {
        assert_exit(start(RUN(work, "--frames", "12", "--resume", "--set", "kernels=base")), 2);
        assert_says("--set kernels=");
        assert_same_run(work, reference);
    }
}

static void write_file(const char* path, const char* data, size_t size)
{
    FILE* f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, size, f), size);
    fclose(f);
}

// A checkpoint, stats or cache that was cut or spoilt is refused with a remedy, and --force puts things right.
static void test_damaged(void** unused)
{
    (void)unused;
    static const char* const names[] = {"checkpoint.weft", "sheet.pc2", "stats.jsonl"};
    for (size_t k = 0; k < 4; k++)
    {
        clear();
        assert_exit(start(RUN(work, "--frames", "4")), 0);
        char path[PATH_BYTES];
        size_t size;
        path_of(work, names[k % 3], path);
        char* data = slurp(path, &size);
        if (k == 3)
        {
            data[size / 2] ^= 1; // one bit of the checkpoint
            write_file(path, data, size);
        }
        else
        {
            write_file(path, data, size / 2);
        }
        free(data);
        assert_exit(start(RUN(work, "--frames", "10", "--resume")), 2);
        assert_says("--force");
        assert_exit(start(RUN(work, "--frames", "10", "--force")), 0);
        assert_same_run(work, reference);
    }
}

// --force replaces another run and leaves what is not a run's alone.
static void test_force(void** unused)
{
    (void)unused;
    clear();
    const char* const other[] = {
        "run", "hang", "-o", work, "--frames", "1", "--set", "cells=4", "--set", "cloth.0.name=other", NULL};
    assert_exit(start(other), 0);
    char path[PATH_BYTES];
    assert_true(exists(path_of(work, "other.pc2", path)));
    write_file(path_of(work, "notes.txt", path), "keep", 4);
    assert_exit(start(RUN(work, "--frames", "10", "--force")), 0);
    assert_false(exists(path_of(work, "other.pc2", path)));
    assert_false(exists(path_of(work, "other.obj", path)));
    assert_true(exists(path_of(work, "notes.txt", path)));
    assert_int_equal(remove(path), 0);
    assert_same_run(work, reference);
}

#define SYSTEM(prefix, ...)                                                                                            \
    (const char* const[])                                                                                              \
    {                                                                                                                  \
        "system", "two-corners", "-o", (prefix), "--set", "cells=20", "--set", "steps_per_frame=3", "--set",           \
            "solver=diag-pcg", __VA_ARGS__, NULL                                                                       \
    }

// `weft system --from DIR` writes the system of the step in which the run would go on, and leaves the folder as it is.
static void test_system_from_a_run(void** unused)
{
    (void)unused;
    clear();
    char whole[PATH_BYTES], next[PATH_BYTES], seventh[PATH_BYTES];
    path_of(folder, "whole", whole);
    path_of(folder, "next", next);
    path_of(folder, "seventh", seventh);
    assert_exit(start(RUN(work, "--frames", "2")), 0);
    assert_exit(start(SYSTEM(next, "--binary", "--from", work)), 0);
    assert_exit(start(SYSTEM(seventh, "--binary", "--from", work, "--step", "7")), 0);
    assert_exit(start(SYSTEM(whole, "--binary", "--step", "7")), 0);
    char name[2][PATH_BYTES];
    snprintf(name[0], sizeof(name[0]), "%s/next.weftsys", folder);
    const char* const others[] = {"whole", "seventh"};
    for (int k = 0; k < 2; k++)
    {
        size_t sizes[2];
        snprintf(name[1], sizeof(name[1]), "%s/%s.weftsys", folder, others[k]);
        char* data[2] = {slurp(name[0], &sizes[0]), slurp(name[1], &sizes[1])};
        assert_non_null(data[0]);
        assert_non_null(data[1]);
        assert_int_equal(sizes[0], sizes[1]);
        assert_memory_equal(data[0], data[1], sizes[0]);
        free(data[0]);
        free(data[1]);
    }
    assert_exit(start(SYSTEM(next, "--from", work, "--step", "6")), 2);
    assert_says("goes on with step 7");
    assert_exit(start(SYSTEM(next, "--from", folder)), 2);
    assert_says("no checkpoint.weft");
    assert_exit(start(RUN(work, "--frames", "10", "--resume")), 0);
    assert_same_run(work, reference);
}

// One writer a folder: a second one is refused, whatever it wants, and the first is not disturbed.
static void test_lock(void** unused)
{
    (void)unused;
    char path[PATH_BYTES];
    assert_exit(start(RUN(work, "--frames", "2", "--force")), 0);
    int lock = open(path_of(work, "run.lock", path), O_RDWR);
    assert_int_equal(flock(lock, LOCK_EX | LOCK_NB), 0);
    assert_exit(start(RUN(work, "--frames", "3", "--resume")), 2);
    assert_says("going on");
    assert_exit(start(RUN(work, "--frames", "3", "--force")), 2);
    assert_says("going on");
    close(lock);
    assert_exit(start(RUN(work, "--frames", "3", "--resume")), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_runs_are_equal),
        cmocka_unit_test(test_killed_at_every_step),
        cmocka_unit_test(test_killed_at_the_start),
        cmocka_unit_test(test_killed_again_and_again),
        cmocka_unit_test(test_other_solvers),
        cmocka_unit_test(test_auto_at_every_step),
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_other_multigrid),
        cmocka_unit_test(test_stopped_by_request),
        cmocka_unit_test(test_more_frames),
        cmocka_unit_test(test_scene_as_run),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_force),
        cmocka_unit_test(test_system_from_a_run),
        cmocka_unit_test(test_lock),
    };
    return cmocka_run_group_tests(tests, make_reference, remove_all);
}
