// The field `contact` that `weft run --fields` writes: what lies at rest presses with its weight, by every method that
// has a matrix; nothing presses in the air; parts of a run have the bytes of the whole; exports carry it.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "common_command.h"
#include "common_run.h"
#include "common_scene.h"
#include "weft/cache.h"

enum
{
    FRAMES = 20,
    VERTICES = 81
};

static const double weight = 0.4 * 0.4 * 0.15 * 9.81; // N, of cotton

static const char scene[] =
    "{\"time_step\": 0.005, \"steps_per_frame\": 8, \"frames\": 20, \"solver\": \"diag-pcg\","
    " \"cloth\": [{\"name\": \"sheet\", \"mesh\": {\"grid\": {\"size\": 0.4, \"cells\": 8, \"plane\": \"xz\"}},"
    " \"transform\": {\"translate\": [0, 0.003, 0]}}], \"obstacles\": [{\"shape\": {\"plane\": {}}}]}";

static void command(const char* arguments)
{
    command_succeeds(WEFT_COMMAND, arguments);
}

// Of the run's only body; -1: it has none of that name.
static int find_contact(const weft_cache* cache)
{
    int field = weft_cache_field_count(cache, 0) - 1;
    while (field >= 0 && strcmp(weft_cache_field_at(cache, 0, field)->name, "contact") != 0)
    {
        field--;
    }
    return field;
}

// The field's sum in a frame.
static double pressed(const char* dir, int frame)
{
    weft_cache* cache = NULL;
    float values[VERTICES];
    double sum = 0.0;
    assert_int_equal(weft_cache_open(scene_path(dir), &cache, NULL), WEFT_OK);
    int field = find_contact(cache);
    assert_true(field >= 0);
    assert_int_equal(weft_cache_field_at(cache, 0, field)->categories, 0);
    assert_int_equal(weft_cache_read_field(cache, 0, field, frame, values, NULL), WEFT_OK);
    weft_cache_close(cache);
    for (int v = 0; v < VERTICES; v++)
    {
        assert_true(values[v] >= 0.0f);
        sum += (double)values[v];
    }
    return sum;
}

static void test_weight(void** unused)
{
    (void)unused;
    static const char* const methods[] = {"implicit-euler", "newton", "bdf2", "imex"};
    scene_write_bytes(scene_path("lies.json"), scene, sizeof(scene) - 1);
    for (size_t k = 0; k < sizeof(methods) / sizeof(methods[0]); k++)
    {
        char words[80];
        snprintf(words, sizeof(words), "run lies.json -o lies --force --fields --method %s", methods[k]);
        command(words);
        assert_true(pressed("lies", 0) == 0.0);
        assert_float_equal(pressed("lies", FRAMES), weight, 1e-3 * weight);
    }
    command("run lies.json -o air --fields --set cloth.0.transform.translate=[0,3,0] --frames 3");
    assert_true(pressed("air", 3) == 0.0);
}

static void test_parts(void** unused)
{
    (void)unused;
    size_t sizes[2];
    char* bytes[2];
    scene_write_bytes(scene_path("lies.json"), scene, sizeof(scene) - 1);
    command("run lies.json -o whole --fields --threads 1");
    command("run lies.json -o parts --fields --frames 7 --threads 2");
    command("run lies.json -o parts --resume");
    bytes[0] = test_file_read(scene_path("whole/sheet.contact.field"), &sizes[0]);
    bytes[1] = test_file_read(scene_path("parts/sheet.contact.field"), &sizes[1]);
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(bytes[0], bytes[1], sizes[0]);
    command("export whole --to usda -o whole.usda");
    char* text = test_file_read(scene_path("whole.usda"), &sizes[0]);
    assert_non_null(strstr(text, "float[] primvars:contact = ["));
    free(bytes[0]);
    free(bytes[1]);
    free(text);
}

// Methods that move what touches know of no force.
static void test_without(void** unused)
{
    (void)unused;
    scene_write_bytes(scene_path("lies.json"), scene, sizeof(scene) - 1);
    command("run lies.json -o moved --fields --method pbd --frames 1");
    weft_cache* cache = NULL;
    assert_int_equal(weft_cache_open(scene_path("moved"), &cache, NULL), WEFT_OK);
    assert_int_equal(find_contact(cache), -1);
    weft_cache_close(cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_weight, scene_folder_make, scene_folder_remove),
        cmocka_unit_test_setup_teardown(test_parts, scene_folder_make, scene_folder_remove),
        cmocka_unit_test_setup_teardown(test_without, scene_folder_make, scene_folder_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
