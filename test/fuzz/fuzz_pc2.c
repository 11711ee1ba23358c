// PC2 files: read, cut, written on.
#include "fuzz/fuzz.h"
#include "mesh/pc2_file.h"

static void read_all(const pc2* cache)
{
    int points = pc2_point_count(cache), samples = pc2_sample_count(cache);
    vec3* x = points <= 4096 ? MEM_NEW(points, vec3) : NULL; // clearing more would only take time
    weft_error error;
    for (int k = 0; k < samples && k < 8 && x; k++)
    {
        pc2_read(cache, k, x, &error);
        pc2_read_points(cache, k, points / 2, points - points / 2, x, &error);
    }
    mem_free(x);
}

int fuzz_pc2(const uint8_t* data, size_t size)
{
    const char* path = fuzz_put("a.pc2", data, size);
    fuzz_begin();
    pc2* cache = NULL;
    weft_error error;
    int points = 0;
    if (pc2_open(path, &cache, &error) == WEFT_OK)
    {
        points = pc2_point_count(cache);
        read_all(cache);
        pc2_close(cache, &error);
    }
    vec3* sample = points > 0 && points < 4096 ? MEM_NEW(points, vec3) : NULL;
    if (sample && pc2_open_append(path, points, &cache, &error) == WEFT_OK)
    {
        pc2_append(cache, sample, &error);
        pc2_cut(cache, pc2_sample_count(cache) / 2, &error);
        pc2_close(cache, &error);
    }
    mem_free(sample);
    fuzz_end();
    return 0;
}
