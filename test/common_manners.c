#define _GNU_SOURCE
#include "common_manners.h"

#include "common.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
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
    WORK_S = 120,    // of the processor: a command that takes longer does not come to an end
    PATIENCE_S = 900 // by the clock: one that waits for something does not either; other programs may have the machine
};

char manners_folder[256];
answer manners_last;

void manners_read(const char* path, char* text)
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
    if (chdir(manners_folder) != 0)
    {
        _exit(126);
    }
    alarm(PATIENCE_S);
    struct rlimit work = {WORK_S, WORK_S};
    setrlimit(RLIMIT_CPU, &work);
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

int manners_run_with(setting s, const char* line)
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
    manners_last.code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    snprintf(path, sizeof(path), "%s/.out", manners_folder);
    manners_read(path, manners_last.out);
    snprintf(path, sizeof(path), "%s/.err", manners_folder);
    manners_read(path, manners_last.err);
    return manners_last.code;
}

int manners_run(const char* line)
{
    return manners_run_with((setting){0}, line);
}

// ---- judging

void manners_assert_code(const char* line, int expected)
{
    if (manners_last.code != expected)
    {
        fail_msg("`weft %s`: exit %d instead of %d\n%s%s", line, manners_last.code, expected, manners_last.out,
                 manners_last.err);
    }
}

void manners_assert_says(const char* line, const char* text, const char* word)
{
    if (!strstr(text, word))
    {
        fail_msg("`weft %s` does not say `%s` but `%s`", line, word, text);
    }
}

void manners_refuses(const char* line, int code, const char* word)
{
    manners_run(line);
    manners_assert_code(line, code);
    assert_string_equal(manners_last.out, "");
    assert_true(strncmp(manners_last.err, "weft", 4) == 0);
    size_t length = strlen(manners_last.err);
    assert_true(length > 20 && manners_last.err[length - 1] == '\n');
    manners_assert_says(line, manners_last.err, word);
}

void manners_refuses_json(const char* line, int code, const char* word)
{
    manners_run(line);
    manners_assert_code(line, code);
    size_t length = strlen(manners_last.out);
    const char* start = "{\"error\":{\"file\":\"";
    assert_true(strncmp(manners_last.out, start, strlen(start)) == 0);
    assert_true(length > 3 && strcmp(manners_last.out + length - 3, "}}\n") == 0);
    assert_true(strchr(manners_last.out, '\n') == manners_last.out + length - 1);
    manners_assert_says(line, manners_last.out, "\"line\":");
    manners_assert_says(line, manners_last.out, "\"message\":\"");
    manners_assert_says(line, manners_last.out, word);
    assert_string_equal(manners_last.err, "");
}

char* manners_path(const char* name, char* path)
{
    int length = snprintf(path, PATH_BYTES, "%s/%s", manners_folder, name);
    assert_true(length < PATH_BYTES);
    return path;
}

bool manners_exists(const char* name)
{
    char path[PATH_BYTES];
    struct stat info;
    return lstat(manners_path(name, path), &info) == 0;
}

void manners_put_bytes(const char* name, const char* text, size_t size)
{
    char path[PATH_BYTES];
    FILE* f = fopen(manners_path(name, path), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, size, f), size);
    fclose(f);
}

void manners_put(const char* name, const char* text)
{
    manners_put_bytes(name, text, strlen(text));
}

void manners_assert_no_temporaries(const char* name)
{
    char path[PATH_BYTES];
    DIR* dir = opendir(manners_path(name, path));
    assert_non_null(dir);
    for (struct dirent* entry; (entry = readdir(dir));)
    {
        assert_null(strstr(entry->d_name, ".tmp"));
    }
    closedir(dir);
}

int manners_check_run(const char* name)
{
    char path[PATH_BYTES];
    manners_path(name, path);
    manners_assert_no_temporaries(name);
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

int manners_make_folder(void** unused)
{
    (void)unused;
    return test_folder(manners_folder) ? 0 : -1;
}

int manners_remove_folder(void** unused)
{
    (void)unused;
    test_folder_remove(manners_folder);
    return 0;
}
