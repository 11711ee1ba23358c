// See common_command.h.
#define _GNU_SOURCE
#include "common_command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "common_run.h"
#include "common_scene.h"

static int run(const char* program, const char* arguments)
{
    char line[2048];
    snprintf(line, sizeof(line), "cd \"%s\" && \"%s\" %s >output 2>&1", scene_folder, program, arguments);
    return system(line);
}

void command_succeeds(const char* program, const char* arguments)
{
    if (run(program, arguments) != 0)
    {
        fail_msg("weft %s: %s", arguments, test_file_read(scene_path("output"), &(size_t){0}));
    }
}

void command_fails(const char* program, const char* arguments, const char* word)
{
    assert_int_not_equal(run(program, arguments), 0);
    assert_file_has("output", word);
}

void assert_same_file(const char* a, const char* b, const char* file)
{
    char path[512];
    size_t sizes[2];
    snprintf(path, sizeof(path), "%s/%s", a, file);
    char* first = test_file_read(scene_path(path), &sizes[0]);
    snprintf(path, sizeof(path), "%s/%s", b, file);
    char* second = test_file_read(scene_path(path), &sizes[1]);
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(first, second, sizes[0]);
    free(first);
    free(second);
}

void assert_file_has(const char* file, const char* word)
{
    size_t size;
    char* text = test_file_read(scene_path(file), &size);
    if (!memmem(text, size, word, strlen(word)))
    {
        fail_msg("%s has no %s: %.1000s", file, word, size < 4096 ? text : "");
    }
    free(text);
}
