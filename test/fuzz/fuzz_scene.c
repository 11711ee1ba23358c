// Scene files: parsed, and where they are sound and small, built, and of every fourth, by its bytes, a step taken.
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "core/core.h"
#include "weft/scene.h"

enum
{
    VERTICES = 200 // beyond it nothing is stepped, which would only take time
};

static int stop(void* user, const weft_progress* p)
{
    int* looks = user;
    (void)p;
    return ++*looks > 40;
}

static void build(const weft_scene* scene, int stepped)
{
    weft_sim* sim = NULL;
    weft_error error;
    if (weft_scene_build_sim(scene, 1, &sim, &error) == WEFT_OK && stepped &&
        weft_sim_vertex_count(sim, -1) <= VERTICES)
    {
        int looks = 0;
        weft_sim_watch(sim, stop, &looks);
        weft_scene_start(scene, sim, NULL, &error) == WEFT_OK ? (void)weft_sim_step(sim, NULL, &error) : (void)0;
    }
    weft_sim_destroy(sim);
}

int fuzz_scene(const uint8_t* data, size_t size)
{
    static const char square[] = "v 0 0 0\nv 1 0 0\nv 1 0 1\nv 0 0 1\nf 1 2 3 4\n";
    char path[512];
    strcpy(path, fuzz_put("a.obj", square, sizeof(square) - 1));
    strcpy(path + strlen(path) - 5, "s.json"); // meshes are looked for beside it
    char* text = malloc(size + 1);
    memcpy(text, data, size);
    text[size] = 0;
    fuzz_begin();
    weft_scene* scene = NULL;
    weft_error error;
    if (weft_scene_parse(path, text, NULL, 0, &scene, &error) == WEFT_OK)
    {
        build(scene, hash_bytes(0, data, size) % 4 == 0);
    }
    weft_scene_destroy(scene);
    fuzz_end();
    free(text);
    return 0;
}
