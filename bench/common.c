#include "bench/common.h"

#include <stdlib.h>
#include <string.h>

// The value of the option at argv[k], NULL when that is another one.
static const char* value_at(int argc, char** argv, int k, const char* name)
{
    size_t length = strlen(name);
    if (strcmp(argv[k], name) == 0 && k + 1 < argc)
    {
        return argv[k + 1];
    }
    return strncmp(argv[k], name, length) == 0 && argv[k][length] == '=' ? argv[k] + length + 1 : NULL;
}

const char* bench_text(int argc, char** argv, const char* name, const char* fallback)
{
    for (int k = 1; k < argc; k++)
    {
        const char* value = value_at(argc, argv, k, name);
        if (value)
        {
            return value;
        }
    }
    return fallback;
}

int bench_option(int argc, char** argv, const char* name, int fallback)
{
    const char* value = bench_text(argc, argv, name, NULL);
    return value ? atoi(value) : fallback;
}

double bench_number(int argc, char** argv, const char* name, double fallback)
{
    const char* value = bench_text(argc, argv, name, NULL);
    return value ? strtod(value, NULL) : fallback;
}

bool bench_flag(int argc, char** argv, const char* name)
{
    for (int k = 1; k < argc; k++)
    {
        if (strcmp(argv[k], name) == 0)
        {
            return true;
        }
    }
    return false;
}

int bench_texts(int argc, char** argv, const char* name, const char** out, int most)
{
    int count = 0;
    for (int k = 1; k < argc && count < most; k++)
    {
        const char* value = value_at(argc, argv, k, name);
        if (value)
        {
            out[count++] = value;
        }
    }
    return count;
}

int bench_list(const char* text, int* out, int most)
{
    int count = 0;
    for (char* end; *text && count < most; text = *end ? end + 1 : end)
    {
        out[count] = (int)strtol(text, &end, 10);
        count += end > text;
        end = end > text ? end : end + 1;
    }
    return count;
}

bool bench_has(const char* list, const char* word)
{
    size_t length = strlen(word);
    for (const char* at = strstr(list, word); at; at = strstr(at + 1, word))
    {
        if ((at == list || at[-1] == ',') && (at[length] == ',' || at[length] == 0))
        {
            return true;
        }
    }
    return false;
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

double floor_product(double rows, double blocks)
{
    return 76.0 * blocks + 48.0 * rows; // nine doubles and a column; p and s
}

double floor_iteration(double rows, double blocks)
{
    // Product: matrix, p, s. Update: p, s, x and r twice, P^-1, h. Direction: h, p twice. Nothing read twice.
    return floor_product(rows, blocks) + rows * (24 * 7 + 48 + 24 * 3);
}
