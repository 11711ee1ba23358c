#define _POSIX_C_SOURCE 200809L
#include "common_scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

const char scene_press[] = "{\"frames\": 5, \"steps_per_frame\": 5, \"cloth\": [{\"name\": \"chip\", \"mesh\": "
                           "{\"grid\": {\"cells\": 2, \"size\": "
                           "0.02}}}], \"obstacles\": [{\"name\": \"floor\", \"shape\": {\"box\": {\"center\": [0, "
                           "-0.06, 0], \"size\": [0.4, 0.1, "
                           "0.4]}}}, {\"name\": \"press\", \"shape\": {\"box\": {\"center\": [0, 0.06, 0], \"size\": "
                           "[0.2, 0.1, 0.2]}}, \"motion\": "
                           "{\"path\": [{\"time\": 0}, {\"time\": 0.05, \"offset\": [0, -0.05, 0]}]}}]}";

char scene_folder[256];

const char* scene_path(const char* name)
{
    static char path[512];
    snprintf(path, sizeof(path), "%s/%s", scene_folder, name);
    return path;
}

void scene_write_bytes(const char* path, const char* text, size_t size)
{
    FILE* file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

weft_status scene_load_bytes(const char* text, size_t size, weft_scene** out, weft_error* error)
{
    *error = (weft_error){0};
    scene_write_bytes(scene_path("scene.json"), text, size);
    return weft_scene_load(scene_path("scene.json"), NULL, 0, out, error);
}

weft_scene* scene_load_text(const char* text, const char* const* overrides, int override_count)
{
    weft_error error = {0};
    weft_scene* scene = NULL;
    scene_write_bytes(scene_path("scene.json"), text, strlen(text));
    weft_status status = weft_scene_load(scene_path("scene.json"), overrides, override_count, &scene, &error);
    if (status != WEFT_OK)
    {
        fail_msg("%s:%d:%d: %s", error.file, error.line, error.column, error.message);
    }
    return scene;
}

int scene_folder_make(void** state)
{
    (void)state;
    return test_folder(scene_folder) ? 0 : -1;
}

int scene_folder_remove(void** state)
{
    (void)state;
    test_folder_remove(scene_folder);
    return 0;
}

weft_sim* scene_sim_text(const char* text, int workers)
{
    weft_scene* scene = scene_load_text(text, NULL, 0);
    weft_sim* sim = NULL;
    weft_error error = {0};
    if (weft_scene_create_sim(scene, workers, &sim, &error) != WEFT_OK)
    {
        fail_msg("%s", error.message);
    }
    weft_scene_destroy(scene);
    return sim;
}

void scene_refused(const char* text, const char* word)
{
    weft_scene* scene = NULL;
    weft_error error = {0};
    weft_status status = scene_load_bytes(text, strlen(text), &scene, &error);
    weft_scene_destroy(scene);
    if (status == WEFT_OK || !strstr(error.message, word))
    {
        fail_msg("%s: %s", text, status == WEFT_OK ? "accepted" : error.message);
    }
}

char* scene_schema(void)
{
    size_t size = weft_scene_schema(NULL, 0) + 1;
    char* text = malloc(size);
    assert_non_null(text);
    assert_int_equal(weft_scene_schema(text, size), size - 1);
    return text;
}

const char scene_square_obj[] = "v 0 0 0\nv 100 0 0\nv 100 100 0\nv 0 100 0\nv 100 0 0.00001\nv 200 0 0\nv 200 100 0\n"
                                "vt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\nvt 3 0\nvt 3 1\n"
                                "f 1/1 2/2 3/3 4/4\nf 5/2 6/5 7/6 3/3\n";

weft_scene* scene_load_cloth(const char* keys)
{
    char text[2048];
    snprintf(text, sizeof(text), "{\"cloth\": [{\"mesh\": {\"grid\": {\"cells\": 4}}%s%s}]}", keys[0] ? ", " : "",
             keys);
    return scene_load_text(text, NULL, 0);
}

void scene_assert_vertices(const int* vertices, int count, const int* expected, int expected_count)
{
    assert_int_equal(count, expected_count);
    for (int k = 0; k < count; k++)
    {
        assert_int_equal(vertices[k], expected[k]);
    }
}
