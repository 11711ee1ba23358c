#include "bench/common.h"

#include <stdlib.h>
#include <string.h>

int bench_option(int argc, char** argv, const char* name, int fallback)
{
    size_t length = strlen(name);
    for (int k = 1; k < argc; k++)
    {
        if (strcmp(argv[k], name) == 0 && k + 1 < argc)
        {
            return atoi(argv[k + 1]);
        }
        if (strncmp(argv[k], name, length) == 0 && argv[k][length] == '=')
        {
            return atoi(argv[k] + length + 1);
        }
    }
    return fallback;
}

int bench_failed(const char* name, weft_status status)
{
    fprintf(stderr, "weft bench %s: %s\n", name, weft_status_text(status));
    return status == WEFT_NO_MEMORY ? 3 : 1;
}

weft_sim* bench_sim(const char* scene_name, const char* const* overrides, int override_count, int threads)
{
    weft_error error = {0};
    weft_scene* scene = NULL;
    weft_sim* sim = NULL;
    weft_status status = weft_scene_load(scene_name, overrides, override_count, &scene, &error);
    if (status == WEFT_OK)
    {
        status = weft_scene_create_sim(scene, threads, &sim, &error);
    }
    if (status == WEFT_OK)
    {
        status = sim_build(sim, &error);
    }
    weft_scene_destroy(scene);
    if (status != WEFT_OK)
    {
        fprintf(stderr, "weft bench: %s\n", error.message);
        weft_sim_destroy(sim);
        return NULL;
    }
    return sim;
}

weft_status triad_init(triad* t)
{
    t->count = 8 << 20; // 3 x 64 MiB: far beyond the caches
    t->a = MEM_NEW(t->count, double);
    t->b = MEM_NEW(t->count, double);
    t->c = MEM_NEW(t->count, double);
    return t->a && t->b && t->c ? WEFT_OK : WEFT_NO_MEMORY;
}

static void triad_chunk(void* context, int begin, int end)
{
    triad* t = context;
    double* restrict a = t->a, * restrict b = t->b, * restrict c = t->c;
    for (int i = begin; i < end; i++)
    {
        a[i] = b[i] + 3.0 * c[i];
    }
}

double triad_seconds(triad* t, workers* pool)
{
    double start = timer_now();
    parallel_for(pool, t->count, 1 << 16, triad_chunk, t);
    return timer_now() - start;
}

double triad_bytes(const triad* t)
{
    return 24.0 * t->count;
}

void triad_finish(triad* t)
{
    mem_free(t->a);
    mem_free(t->b);
    mem_free(t->c);
}
