// Reads what the method did with the elements of bodies: element_format.h. element_files.c writes.
#define _POSIX_C_SOURCE 200809L
#include <sys/stat.h>

#include "cache/element_format.h"
#include "cache/reader.h"

static weft_status damaged(const char* path, weft_error* error)
{
    return error_set(
        error, WEFT_BAD_INPUT, path, 0,
        "this is no list of a run's elements, or it is cut or damaged; run again with --fields, or move it "
        "away");
}

static weft_status read_list(FILE* file, const char* path, body* b, weft_error* error)
{
    unsigned char header[ELEMENTS_HEADER] = {0}, bytes[4 * ELEMENTS_RECORD];
    struct stat info;
    bool good = fread(header, 1, sizeof(header), file) == sizeof(header) &&
                memcmp(header, elements_magic, sizeof(elements_magic)) == 0 && fstat(fileno(file), &info) == 0;
    uint32_t vertices = elements_get(header + 12), samples = elements_get(header + 16),
             count = elements_get(header + 20);
    int points = b->topologies[0].mesh.vertex_count;
    good = good && vertices == (uint32_t)points && samples >= 1 && samples <= INT32_MAX && count <= INT32_MAX / 8;
    int64_t room = good ? (int64_t)info.st_size - ELEMENTS_HEADER - (int64_t)(4 * ELEMENTS_RECORD) * count : -1;
    good = good && room >= 0 && (count == 0 || room / count >= (int64_t)samples);
    TRY(good ? WEFT_OK : damaged(path, error));
    b->elements = (weft_cache_elements){.count = (int)count};
    b->element_vertices = MEM_NEW(3 * ((size_t)count + 1), int);
    b->element_turn = MEM_NEW(count + 1, unsigned char);
    b->element_samples = (int)samples;
    TRY(b->element_vertices && b->element_turn ? WEFT_OK : WEFT_NO_MEMORY);
    for (uint32_t e = 0; e < count && good; e++)
    {
        good = fread(bytes, 1, sizeof(bytes), file) == sizeof(bytes);
        for (int a = 0; a < 3; a++)
        {
            int v = (int)elements_get(bytes + 4 * a);
            good = good && v >= (a == 2 ? -1 : 0) && v < points;
            b->element_vertices[3 * (size_t)e + (size_t)a] = v;
        }
        b->element_turn[e] = bytes[12];
        good = good && elements_get(bytes + 12) <= ELEMENTS_TURN_MAX;
    }
    b->elements.vertices = b->element_vertices;
    b->elements.turns = b->element_turn;
    return good ? WEFT_OK : damaged(path, error);
}

weft_status elements_load(weft_cache* cache, weft_error* error)
{
    weft_status status = WEFT_OK;
    for (int k = 0; k < cache->body_count && status == WEFT_OK; k++)
    {
        body* b = &cache->bodies[k];
        char* path = elements_path(cache->dir, b->name);
        TRY(path ? WEFT_OK : reader_no_memory(cache->dir, error));
        struct stat info;
        FILE* file = stat(path, &info) == 0 ? file_stream(path, FILE_TO_READ) : NULL;
        status = file ? read_list(file, path, b, error) : WEFT_OK;
        file ? (void)fclose(file) : (void)0;
        status = status == WEFT_NO_MEMORY ? reader_no_memory(cache->dir, error) : status;
        mem_free(path);
    }
    return status;
}

void elements_finish(body* b)
{
    mem_free(b->element_vertices);
    mem_free(b->element_turn);
}

const weft_cache_elements* weft_cache_elements_of(const weft_cache* cache, int body)
{
    WEFT_ASSERT(cache && body >= 0 && body < cache->body_count);
    return cache->bodies[body].elements.count > 0 ? &cache->bodies[body].elements : NULL;
}

weft_status weft_cache_read_elements(weft_cache* cache, int index, int frame, unsigned char* out, weft_error* error)
{
    WEFT_ASSERT(cache && index >= 0 && index < cache->body_count && out && frame >= 0);
    const body* b = &cache->bodies[index];
    size_t n = (size_t)b->elements.count;
    int sample = body_clamp(b, frame) - b->from;
    memset(out, WEFT_CACHE_ELEMENT_UNKNOWN, n);
    if (n == 0 || sample >= b->element_samples)
    {
        return WEFT_OK;
    }
    char* path = elements_path(cache->dir, b->name);
    TRY(path ? WEFT_OK : reader_no_memory(cache->dir, error));
    FILE* file = file_stream(path, FILE_TO_READ);
    off_t at = ELEMENTS_HEADER + (off_t)(4 * ELEMENTS_RECORD * n) + (off_t)n * sample;
    bool good = file && fseeko(file, at, SEEK_SET) == 0 && fread(out, 1, n, file) == n;
    for (size_t e = 0; e < n; e++)
    {
        out[e] = out[e] > WEFT_CACHE_ELEMENT_UNKNOWN ? WEFT_CACHE_ELEMENT_UNKNOWN : out[e];
    }
    file ? (void)fclose(file) : (void)0;
    weft_status status =
        good ? WEFT_OK : error_set(error, WEFT_IO, path, 0, "the file was cut short while it was read");
    mem_free(path);
    return status;
}
