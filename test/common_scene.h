// Scene files of a test: written into a folder of the process's own, loaded, removed at the end.
#ifndef WEFT_TEST_COMMON_SCENE_H
#define WEFT_TEST_COMMON_SCENE_H

#include "weft/scene.h"

// Begins a scene of one small cloth.
#define CLOTH "\"cloth\": [{\"mesh\": {\"grid\": {\"cells\": 4}}"

// A press closes on a floor with a sheet of 9 vertices, `chip`, between them, and stays closed.
extern const char scene_press[];

extern char scene_folder[256]; // of this process, removed at the end

// Setup and teardown of a group of tests.
int scene_folder_make(void** state);
int scene_folder_remove(void** state);

const char* scene_path(const char* name); // in the folder; until the next call
void scene_write_bytes(const char* path, const char* text, size_t size);
weft_status scene_load_bytes(const char* text, size_t size, weft_scene** out, weft_error* error);
weft_scene* scene_load_text(const char* text, const char* const* overrides, int override_count); // must load

// A scene of one small cloth with more keys in it.
weft_scene* scene_load_cloth(const char* keys);
void scene_assert_vertices(const int* vertices, int count, const int* expected, int expected_count);
extern const char scene_square_obj[]; // two faces of four corners, side by side, with a seam

void scene_refused(const char* text, const char* word); // must not load, for a reason with this word

char* scene_schema(void);                                // free()
weft_sim* scene_sim_text(const char* text, int workers); // must load and start

#endif
