// Scene files that are none, huge, cut, scrambled; and memory that runs out while one is read.
#define _POSIX_C_SOURCE 200809L
#include "common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common_scene.h"
#include "scene/scene_data.h"

// ---- hostile files

static void test_files_that_are_no_scenes(void** state)
{
    (void)state;
    weft_scene* scene = NULL;
    weft_error error = {0};
    assert_int_equal(weft_scene_load(scene_folder, NULL, 0, &scene, &error), WEFT_BAD_INPUT);
    assert_non_null(strstr(error.message, "folder"));

    assert_int_equal(mkfifo(scene_path("pipe"), 0600), 0);
    assert_int_equal(weft_scene_load(scene_path("pipe"), NULL, 0, &scene, &error), WEFT_BAD_INPUT);
    assert_non_null(strstr(error.message, "pipe"));
    assert_int_equal(weft_scene_load("/dev/zero", NULL, 0, &scene, &error), WEFT_BAD_INPUT);

    assert_int_equal(weft_scene_load(scene_path("none.json"), NULL, 0, &scene, &error), WEFT_NOT_FOUND);
    assert_int_equal(weft_scene_load("", NULL, 0, &scene, &error), WEFT_NOT_FOUND);

    scene_write_bytes(scene_path("shirt.obj"), "v 0 0 0\n", 8);
    assert_int_equal(weft_scene_load(scene_path("shirt.obj"), NULL, 0, &scene, &error), WEFT_BAD_INPUT);
    assert_non_null(strstr(error.message, "looks like an OBJ file"));
    assert_non_null(strstr(error.message, "{\"cloth\": [{\"mesh\": {\"obj\": \"shirt.obj\"}}]}"));

    scene_write_bytes(scene_path("locked.json"), "{}", 2);
    assert_int_equal(chmod(scene_path("locked.json"), 0), 0);
    if (access(scene_path("locked.json"), R_OK) != 0)
    {
        assert_int_equal(weft_scene_load(scene_path("locked.json"), NULL, 0, &scene, &error), WEFT_BAD_INPUT);
        assert_non_null(strstr(error.message, "cannot open"));
    }
    assert_null(scene);
}

static void test_huge_files(void** state)
{
    (void)state;
    weft_scene* scene = NULL;
    weft_error error = {0};
    scene_write_bytes(scene_path("huge.json"), "{", 1);
    assert_int_equal(truncate(scene_path("huge.json"), (off_t)SCENE_BYTES_MAX + 1), 0);
    assert_int_equal(weft_scene_load(scene_path("huge.json"), NULL, 0, &scene, &error), WEFT_BAD_INPUT);
    assert_non_null(strstr(error.message, "larger than 64 MiB"));
    unlink(scene_path("huge.json"));

    // Few bytes, but many values.
    size_t size = 2 * (size_t)SCENE_VALUES_MAX + 16;
    char* text = malloc(size);
    memset(text, ',', size);
    text[0] = '[';
    assert_int_equal(scene_load_bytes(text, size, &scene, &error), WEFT_BAD_INPUT);
    assert_non_null(strstr(error.message, "more than 4000000 values"));

    // Brackets without end.
    memset(text, '[', 100000);
    assert_int_equal(scene_load_bytes(text, 100000, &scene, &error), WEFT_BAD_INPUT);
    assert_non_null(strstr(error.message, "depth"));
    free(text);

    // Depth that the parser takes.
    char deep[4096] = "{\"solver\": ";
    size_t used = strlen(deep);
    memset(deep + used, '[', 1500);
    memset(deep + used + 1500, ']', 1500);
    deep[used + 3000] = '}';
    assert_int_equal(scene_load_bytes(deep, used + 3001, &scene, &error), WEFT_BAD_INPUT);
    assert_non_null(strstr(error.message, "expected a name or an object"));
    assert_null(scene);
}

static const char small_scene[] =
    "// small\n{\"frames\": 2, \"solver\": {\"name\": \"mpcg\", \"tolerance\": 1e-6}, \"kernels\": \"base\",\n"
    " \"air\": {\"wind\": [1, 0, 0]}, /* two */ \"cloth\": [{\"name\": \"a\",\n"
    "  \"mesh\": {\"grid\": {\"size\": [1, 2], \"cells\": [2, 2], \"plane\": \"xy\"}},\n"
    "  \"material\": {\"base\": \"silk\", \"shear\": 3}, \"transform\": {\"rotate\": [0, 90, 1]},\n"
    "  \"pins\": [{\"where\": {\"edge\": [\"top\"]}, \"fix\": {\"line\": [0, 1, 0]},\n"
    "   \"path\": [{\"time\": 0}, {\"time\": 1, \"offset\": [0, 1, 0]}]}],\n"
    "  \"forces\": [{\"where\": {\"vertices\": [1, 2]}, \"force\": [0, 0, 1]}]}]}";

static void test_cut_at_every_byte(void** state)
{
    (void)state;
    size_t size = strlen(small_scene);
    for (size_t cut = 0; cut <= size; cut++)
    {
        weft_scene* scene = NULL;
        weft_error error;
        weft_status status = scene_load_bytes(small_scene, cut, &scene, &error);
        assert_int_equal(status, cut == size ? WEFT_OK : WEFT_BAD_INPUT);
        assert_true(cut == size || (error.line > 0 && error.message[0] != '\0'));
        weft_scene_destroy(scene);
    }
}

static uint64_t pick(uint64_t* counter, uint64_t below)
{
    return random_bits(20, (*counter)++) % below;
}

// Changes, removes, doubles or inserts a few bytes.
static size_t mutate(char* text, size_t size, uint64_t* counter)
{
    static const char alphabet[] = "{}[]\",:0123456789.eE-+/*\\ \n\tntfu\x80\xFF";
    int changes = 1 + (int)pick(counter, 2);
    for (int k = 0; k < changes && size > 2; k++)
    {
        size_t at = (size_t)pick(counter, size), length = 1 + (size_t)pick(counter, 8);
        char letter = alphabet[pick(counter, sizeof(alphabet))];
        switch (pick(counter, 4))
        {
        case 0:
            text[at] = letter;
            break;
        case 1:
            length = at + length > size ? size - at : length;
            memmove(text + at, text + at + length, size - at - length);
            size -= length;
            break;
        case 2:
            memmove(text + at + 1, text + at, size - at);
            text[at] = letter;
            size++;
            break;
        default:
            length = at + length > size ? size - at : length;
            memmove(text + at + length, text + at, size - at);
            size += length;
            break;
        }
    }
    return size;
}

static void test_random_mutations(void** state)
{
    (void)state;
    uint64_t counter = 0;
    int loaded = 0;
    const char* small = "cells=[2, 2]"; // a digit more must not cost minutes
    for (int round = 0; round < 5000; round++)
    {
        char text[2048];
        size_t size = strlen(small_scene);
        memcpy(text, small_scene, size);
        size = mutate(text, size, &counter);
        scene_write_bytes(scene_path("scene.json"), text, size);
        weft_scene* scene = NULL;
        weft_error error = {0};
        weft_status status = weft_scene_load(scene_path("scene.json"), &small, 1, &scene, &error);
        assert_true(status == WEFT_OK ? scene != NULL : scene == NULL && error.message[0] != '\0');
        loaded += status == WEFT_OK;
        if (status == WEFT_OK)
        {
            char* json = mem_strdup(weft_scene_json(scene));
            weft_scene_destroy(scene);
            weft_scene_destroy(scene_load_text(json, NULL, 0)); // whatever loads writes what loads
            mem_free(json);
        }
    }
    assert_true(loaded > 100);
}

// ---- memory

static void test_every_allocation_may_fail(void** state)
{
    (void)state;
    scene_write_bytes(scene_path("scene.json"), small_scene, strlen(small_scene));
    weft_status status = WEFT_NO_MEMORY;
    int failures = 0;
    for (; status != WEFT_OK; failures++)
    {
        test_ledger memory = {.fail_at = failures + 1};
        test_ledger_open(&memory);
        const char* overrides[] = {"solver.tolerance=1e-3", "cloth.0.material.bending=2"};
        weft_scene* scene = NULL;
        weft_error error = {0};
        status = weft_scene_load(scene_path("scene.json"), overrides, 2, &scene, &error);
        weft_scene_destroy(scene);
        test_ledger_close();
        assert_true(status == WEFT_OK || status == WEFT_NO_MEMORY);
        assert_int_equal(memory.live, 0);
        assert_true(failures < 10000);
    }
    assert_true(failures > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files_that_are_no_scenes),  cmocka_unit_test(test_huge_files),
        cmocka_unit_test(test_cut_at_every_byte),         cmocka_unit_test(test_random_mutations),
        cmocka_unit_test(test_every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
