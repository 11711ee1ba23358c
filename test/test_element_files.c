// NAME.connections.elements: what `weft run --fields` tells of the elements of a method that splits, or of a model
// whose elements go slack, is what the simulation says, to the byte across --resume and threads; files that are damaged
// are refused with a reason, and a tear ends it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "common_command.h"
#include "common_run.h"
#include "common_scene.h"
#include "weft/cache.h"
#include "weft/scene.h"

static const char split_scene[] =
    "{\"time_step\": 0.0005, \"steps_per_frame\": 30, \"frames\": 6, \"method\": \"aimex\", \"model\": \"choi-ko\","
    " \"cloth\": [{\"name\": \"sheet\", \"mesh\": {\"grid\": {\"size\": 1, \"cells\": 10%s}},"
    " \"material\": {\"base\": \"cotton\", \"damping\": 0},"
    " \"pins\": [{\"where\": {\"corner\": [\"top-left\", \"top-right\"]}}]}]}";

static void command(const char* arguments)
{
    command_succeeds(WEFT_COMMAND, arguments);
}

static void write_scene(const char* name, const char* tessellation)
{
    char text[1024];
    int length = snprintf(text, sizeof(text), split_scene, tessellation);
    scene_write_bytes(scene_path(name), text, (size_t)length);
}

static weft_cache* open_run(const char* dir)
{
    weft_cache* cache = NULL;
    weft_error error = {0};
    if (weft_cache_open(scene_path(dir), &cache, &error) != WEFT_OK)
    {
        fail_msg("%s", error.message);
    }
    return cache;
}

// The last frame against a simulation of the same scene, which nothing was written of.
static void check_last(const char* scene_name, const char* dir, int vertices_each)
{
    weft_scene* scene = NULL;
    weft_sim* sim = NULL;
    weft_error error = {0};
    assert_int_equal(weft_scene_load(scene_path(scene_name), NULL, 0, &scene, &error), WEFT_OK);
    assert_int_equal(weft_scene_create_sim(scene, 1, &sim, &error), WEFT_OK);
    for (int k = 0; k < 6 * 30; k++)
    {
        assert_int_equal(weft_sim_step(sim, NULL, &error), WEFT_OK);
    }
    int count = weft_sim_elements(sim, NULL, 0), told = 0, seen[4] = {0};
    weft_element* all = calloc((size_t)count, sizeof(*all));
    weft_sim_elements(sim, all, count);
    weft_cache* cache = open_run(dir);
    const weft_cache_elements* elements = weft_cache_elements_of(cache, 0);
    assert_non_null(elements);
    unsigned char* states = malloc((size_t)elements->count);
    assert_int_equal(weft_cache_read_elements(cache, 0, 6, states, &error), WEFT_OK);
    for (int k = 0; k < count; k++)
    {
        if (all[k].role != WEFT_ELEMENT_STRETCH && all[k].role != WEFT_ELEMENT_SHEAR)
        {
            continue;
        }
        const int* v = elements->vertices + 3 * told;
        assert_int_equal(all[k].vertex_count, vertices_each);
        assert_memory_equal(v, all[k].vertices, (size_t)vertices_each * sizeof(int));
        assert_true((vertices_each == 2) == (v[2] == -1) && elements->turns[told] <= 2);
        seen[states[told]]++;
        assert_int_equal(states[told++], all[k].state);
    }
    assert_int_equal(told, elements->count);
    assert_true(seen[WEFT_ELEMENT_EXPLICIT] > 0 && seen[WEFT_ELEMENT_SLACK] > 0 && seen[3] == 0);
    assert_int_equal(weft_cache_read_elements(cache, 0, 0, states, &error), WEFT_OK); // before the first step
    assert_true(states[0] == WEFT_CACHE_ELEMENT_UNKNOWN);
    free(states);
    free(all);
    weft_cache_close(cache);
    weft_sim_destroy(sim);
    weft_scene_destroy(scene);
}

static void test_split(void** unused)
{
    (void)unused;
    write_scene("grid.json", "");
    command("run grid.json -o whole --fields --threads 1");
    command("run grid.json -o parts --fields --frames 3 --threads 2");
    command("run grid.json -o parts --resume --threads 2");
    assert_same_file("whole", "parts", "sheet.connections.elements");
    check_last("grid.json", "whole", 2);
    write_scene("triangles.json", ", \"tessellation\": \"irregular\"");
    command("run triangles.json -o triangles --fields");
    check_last("triangles.json", "triangles", 3);
    command("view triangles -o page.html");
    command("run grid.json -o whole --force"); // what an earlier run has made goes with it
    weft_cache* cache = open_run("whole");
    assert_null(weft_cache_elements_of(cache, 0));
    weft_cache_close(cache);
}

static void test_damaged(void** unused)
{
    (void)unused;
    write_scene("short.json", "");
    command("run short.json -o hurt --fields --frames 2");
    test_file_cut(scene_path("hurt"), "sheet.connections.elements", 1);
    command_fails(WEFT_COMMAND, "view hurt", "sheet.connections.elements");
    command("run short.json -o hurt --fields --frames 2 --force");
    size_t size;
    char* bytes = test_file_read(scene_path("hurt/sheet.connections.elements"), &size);
    memset(bytes + 32, 0x7f, 4); // a vertex that is not there
    test_file_write(scene_path("hurt"), "sheet.connections.elements", bytes, size);
    command_fails(WEFT_COMMAND, "view hurt", "cut or damaged");
    free(bytes);
}

// A cloth that tears has other elements from there on.
static void test_torn(void** unused)
{
    (void)unused;
    command("run torn -o torn --method implicit-euler --set model=choi-ko --set cells=10 --frames 40 --fields");
    weft_cache* cache = open_run("torn");
    weft_error error;
    int last = weft_cache_frame_count(cache) - 1, index = weft_cache_body_at(cache, 0)->obstacle ? 1 : 0;
    const weft_cache_elements* elements = weft_cache_elements_of(cache, index);
    assert_non_null(elements);
    unsigned char* states = malloc((size_t)elements->count);
    int start = weft_cache_topology_count(cache, index) > 1 ? weft_cache_topology_start(cache, index, 1) : last + 1;
    assert_true(start > 1 && start <= last);
    assert_int_equal(weft_cache_read_elements(cache, index, start - 1, states, &error), WEFT_OK);
    assert_true(states[0] != WEFT_CACHE_ELEMENT_UNKNOWN);
    assert_int_equal(weft_cache_read_elements(cache, index, last, states, &error), WEFT_OK);
    assert_true(states[0] == WEFT_CACHE_ELEMENT_UNKNOWN);
    free(states);
    weft_cache_close(cache);
    command("view torn -o torn.html");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_split),
        cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_torn),
    };
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
