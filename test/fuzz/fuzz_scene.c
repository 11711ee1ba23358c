// Scene files: parsed, and where they are sound and small, built, and of every fourth, by its bytes, a step taken. Of large
// ones some are built: a changed number of cells is much time and nothing new.
#include "fuzz/fuzz.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/core.h"
#include "weft/scene.h"

enum
{
    VERTICES = 200,      // beyond it nothing is stepped, which would only take time
    VERTICES_BUILT = 2000 // beyond it one of 32 is built
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

static int vertex_count(const weft_scene* scene)
{
    int64_t count = 0;
    weft_scene_cloth cloth;
    for (int k = 0; weft_scene_cloth_at(scene, k, &cloth) == WEFT_OK; k++)
    {
        count += cloth.vertex_count;
    }
    weft_scene_obstacle obstacle;
    for (int k = 0; weft_scene_obstacle_at(scene, k, &obstacle) == WEFT_OK; k++)
    {
        count += obstacle.vertex_count;
    }
    return count < INT_MAX ? (int)count : INT_MAX;
}

// A scene's path, beside which meshes are looked for: there is one, which is written once.
static const char* scene_path(void)
{
    static const char square[] = "v 0 0 0\nv 1 0 0\nv 1 0 1\nv 0 0 1\nf 1 2 3 4\n";
    static char path[512];
    if (!path[0])
    {
        strcpy(path, fuzz_put("a.obj", square, sizeof(square) - 1));
        strcpy(path + strlen(path) - 5, "s.json");
    }
    return path;
}

int fuzz_scene(const uint8_t* data, size_t size)
{
    uint64_t hash = hash_bytes(0, data, size);
    char* text = malloc(size + 1);
    memcpy(text, data, size);
    text[size] = 0;
    fuzz_begin();
    weft_scene* scene = NULL;
    weft_error error;
    if (weft_scene_parse(scene_path(), text, NULL, 0, &scene, &error) == WEFT_OK)
    {
        bool small = vertex_count(scene) <= VERTICES_BUILT;
        small || hash % 32 == 0 ? build(scene, hash % 4 == 0) : (void)0;
    }
    weft_scene_destroy(scene);
    fuzz_end();
    free(text);
    return 0;
}
