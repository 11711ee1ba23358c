// Checkpoints: the first byte says of which run. Its fingerprint and hash are put right, so that what is behind them is
// reached: a stranger can do that as well. What is accepted must be a state that steps: of every 64th, by its bytes, a step
// is taken.
#include "fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache/checkpoint.h"
#include "sim/fingerprint.h"
#include "weft/scene.h"

enum
{
    SCENES = 4, // test/fuzz/corpus/scene/state-K.json, of $WEFT_TREE or the source; make-corpus runs them
    HEADER = 64,
    FINGERPRINT = 16
};

static int stop(void* user, const weft_progress* p)
{
    int* looks = user;
    (void)p;
    return ++*looks > 40;
}

// Simulations are kept from input to input while they are as they were made: what is refused must leave them so.
static struct
{
    weft_scene* scene;
    weft_sim* sim;
    uint64_t print;
} kept[SCENES];

static void drop(int which)
{
    weft_sim_destroy(kept[which].sim);
    weft_scene_destroy(kept[which].scene);
    memset(&kept[which], 0, sizeof(kept[which]));
}

static void make(int which)
{
    weft_error error;
    char path[512];
    const char* tree = getenv("WEFT_TREE");
    snprintf(path, sizeof(path), "%s/test/fuzz/corpus/scene/state-%d.json", tree ? tree : WEFT_SOURCE_DIR, which);
    const char* kernels[] = {"kernels=base"};
    if (weft_scene_load(path, kernels, 1, &kept[which].scene, &error) == WEFT_OK)
    {
        weft_scene_build_sim(kept[which].scene, 1, &kept[which].sim, &error);
    }
    WEFT_ASSERT(kept[which].sim && sim_build(kept[which].sim, &error) == WEFT_OK);
    kept[which].print = sim_fingerprint(kept[which].sim);
}

static void resume(uint8_t* bytes, size_t size, int which)
{
    memcpy(bytes + FINGERPRINT, &kept[which].print, sizeof(kept[which].print));
    uint64_t hash = hash_bytes(0, bytes, size - sizeof(hash));
    memcpy(bytes + size - sizeof(hash), &hash, sizeof(hash));
    weft_error error;
    weft_sim* sim = kept[which].sim;
    if (checkpoint_parse(bytes, size, "checkpoint.weft", sim, weft_scene_steps_per_frame(kept[which].scene), &error) ==
        WEFT_OK)
    {
        int looks = 0;
        weft_sim_watch(sim, stop, &looks);
        hash % 64 == 0 ? (void)weft_sim_step(sim, NULL, &error) : (void)0;
        drop(which);
    }
}

int fuzz_checkpoint(const uint8_t* data, size_t size)
{
    if (size < 1 + HEADER + 8)
    {
        return 0;
    }
    size_t rounded = (size - 1) / 8 * 8;
    int which = data[0] % SCENES;
    fuzz_begin();
    if (!kept[which].sim)
    {
        make(which);
        fuzz_keep();
    }
    uint8_t* bytes = mem_alloc(rounded, 1);
    memcpy(bytes, data + 1, rounded);
    resume(bytes, rounded, which);
    mem_free(bytes);
    fuzz_end();
    return 0;
}
