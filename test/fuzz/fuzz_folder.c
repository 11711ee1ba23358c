// A whole run's folder from a stranger: "\n%%% NAME\n" begins each file. Opened and read; some, by their
// bytes, are resumed, inspected, exported in one format, put on a page. What cannot be opened every command says alike, so that
// few of those go to all of them.
#define _GNU_SOURCE
#include "fuzz/fuzz.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "core/core.h"
#include "weft/cache.h"
#include "weft/export.h"
#include "weft/scene.h"

static const char mark[] = "\n%%% ";

// One plain name in this folder.
static int is_name(const char* name, size_t length)
{
    return length > 0 && length < 60 && name[0] != '.' &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") >= length;
}

static void unpack(const uint8_t* data, size_t size)
{
    const uint8_t *end = data + size, *at = memmem(data, size, mark, sizeof(mark) - 1);
    for (int files = 0; at && files < 32; files++)
    {
        at += sizeof(mark) - 1;
        const uint8_t* line = memchr(at, '\n', (size_t)(end - at));
        const uint8_t* next = line ? memmem(line + 1, (size_t)(end - line) - 1, mark, sizeof(mark) - 1) : NULL;
        char name[64] = {0};
        size_t length = line ? (size_t)(line - at) : 0;
        memcpy(name, at, length < sizeof(name) ? length : 0);
        is_name(name, length) ? (void)fuzz_put(name, line + 1, (size_t)((next ? next : end) - line) - 1) : (void)0;
        at = next;
    }
}

static bool read_all(const char* dir, bool coarsen)
{
    weft_cache* cache = NULL;
    weft_error error;
    if (weft_cache_open(dir, &cache, &error) != WEFT_OK)
    {
        return false;
    }
    weft_cache_squeezed* squeezed = NULL;
    weft_cache_squeezed_read(dir, cache, &squeezed, &error);
    weft_cache_squeezed_destroy(squeezed);
    weft_cache_check_bodies(dir, cache, &error);
    weft_cache_check_samples(dir, cache, &error);
    double energies[8];
    weft_cache_energies(dir, 8, energies);
    int levels;
    coarsen ? (void)weft_cache_coarsen(cache, 1, &levels, &error) : (void)0;
    weft_cache_close(cache);
    return true;
}

static void inspect(char* dir)
{
    char* line[] = {"inspect", dir, "--json"};
    fuzz_command(command_inspect, 3, line);
}

static void view(char* dir)
{
    char page[600];
    snprintf(page, sizeof(page), "%s/out.html", dir);
    char* line[] = {"view", dir, "-o", page};
    fuzz_command(command_view, 4, line);
}

static void export_as(char* dir, uint64_t which)
{
    int count = 0;
    while (weft_export_format_name(count))
    {
        count++;
    }
    const char* format = weft_export_format_name((int)(which % (uint64_t)count));
    char target[600];
    snprintf(target, sizeof(target), "%s/out.%s", dir, format);
    char* line[] = {"export", dir, "--to", (char*)format, "-o", target};
    fuzz_command(command_export, 6, line);
}

static void resume(const char* dir)
{
    char path[600];
    snprintf(path, sizeof(path), "%s/scene.json", dir);
    weft_scene* scene = NULL;
    weft_sim* sim = NULL;
    weft_cache_writer* writer = NULL;
    weft_error error;
    if (weft_scene_load(path, NULL, 0, &scene, &error) == WEFT_OK &&
        weft_scene_build_sim(scene, 1, &sim, &error) == WEFT_OK &&
        weft_cache_writer_create(dir, WEFT_CACHE_RESUME, weft_scene_json(scene), weft_scene_steps_per_frame(scene), sim,
                                 &writer, &error) == WEFT_OK)
    {
        weft_cache_writer_destroy(writer, &error);
    }
    weft_sim_destroy(sim);
    weft_scene_destroy(scene);
}

int fuzz_folder(const uint8_t* data, size_t size)
{
    uint64_t hash = hash_bytes(0, data, size);
    char dir[512];
    strcpy(dir, fuzz_folder_path());
    unpack(data, size);
    fuzz_begin();
    bool opened = read_all(dir, (hash >> 48) % 4 == 0);
    bool all = hash % 256 == 0;
    (opened && (hash >> 8) % 8 == 0) || all ? resume(dir) : (void)0;
    (opened && (hash >> 16) % 16 == 0) || all ? inspect(dir) : (void)0;
    (opened && (hash >> 24) % 16 == 0) || all ? export_as(dir, hash >> 40) : (void)0;
    (opened && (hash >> 32) % 64 == 0) || all ? view(dir) : (void)0;
    fuzz_end();
    fuzz_remove_files();
    return 0;
}
