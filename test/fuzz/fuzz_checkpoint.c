// Checkpoints: the first byte says of which run. Its fingerprint and hash are put right, so that what is behind them is
// reached: a stranger can do that as well. What is accepted must be a state that steps.
#include "fuzz/fuzz.h"

#include <stdio.h>
#include <string.h>

#include "cache/checkpoint.h"
#include "sim/fingerprint.h"
#include "weft/scene.h"

enum
{
    SCENES = 4, // test/fuzz/corpus/scene/state-K.json; make-corpus runs them
    HEADER = 64,
    FINGERPRINT = 16
};

static int stop(void* user, const weft_progress* p)
{
    int* looks = user;
    (void)p;
    return ++*looks > 40;
}

static weft_sim* make(int which, weft_scene** scene)
{
    weft_sim* sim = NULL;
    weft_error error;
    char path[512];
    snprintf(path, sizeof(path), WEFT_SOURCE_DIR "/test/fuzz/corpus/scene/state-%d.json", which);
    const char* kernels[] = {"kernels=base"};
    if (weft_scene_load(path, kernels, 1, scene, &error) == WEFT_OK)
    {
        weft_scene_build_sim(*scene, 1, &sim, &error);
    }
    WEFT_ASSERT(sim && sim_build(sim, &error) == WEFT_OK);
    return sim;
}

static void resume(uint8_t* bytes, size_t size, int which)
{
    weft_scene* scene = NULL;
    weft_sim* sim = make(which, &scene);
    uint64_t print = sim_fingerprint(sim);
    memcpy(bytes + FINGERPRINT, &print, sizeof(print));
    uint64_t hash = hash_bytes(0, bytes, size - sizeof(hash));
    memcpy(bytes + size - sizeof(hash), &hash, sizeof(hash));
    weft_error error;
    if (checkpoint_parse(bytes, size, "checkpoint.weft", sim, weft_scene_steps_per_frame(scene), &error) == WEFT_OK)
    {
        int looks = 0;
        weft_sim_watch(sim, stop, &looks);
        weft_sim_step(sim, NULL, &error);
    }
    weft_sim_destroy(sim);
    weft_scene_destroy(scene);
}

int fuzz_checkpoint(const uint8_t* data, size_t size)
{
    if (size < 1 + HEADER + 8)
    {
        return 0;
    }
    size_t rounded = (size - 1) / 8 * 8;
    fuzz_begin();
    uint8_t* bytes = mem_alloc(rounded, 1);
    memcpy(bytes, data + 1, rounded);
    resume(bytes, rounded, data[0] % SCENES);
    mem_free(bytes);
    fuzz_end();
    return 0;
}
