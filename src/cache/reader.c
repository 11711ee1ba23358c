// Reads a run's folder: every pair NAME.obj + NAME.pc2 is a body. scene.json, where it is there and readable, gives the
// order of the bodies and the frame rate, and says which are obstacles; those of them without a NAME.pc2 stand still. A
// folder without it is still read: bodies by name, 25 frames a second, every pair is cloth, and every NAME.obj alone is
// an obstacle that stands still. frames.jsonl, where it is there, lists the topologies of cloths that tear, and the
// bodies that come and go: those are none of scene.json, and follow its bodies in the order in which they come.
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cache/reader.h"
#include "cache/scene_file.h"

static const double default_frame_rate = 25.0;

weft_status reader_no_memory(const char* dir, weft_error* error)
{
    return error_set(error, WEFT_NO_MEMORY, dir, 0, "no memory to read the run");
}

// ---- bodies in the folder

static bool has_file(const char* dir, const char* name, const char* ending)
{
    char* path = topology_path(dir, name, 0, ending);
    struct stat info;
    bool found = path && stat(path, &info) == 0;
    mem_free(path);
    return found;
}

static weft_status cache_add_name(weft_cache* cache, const char* name, size_t length)
{
    if (!mem_grow((void**)&cache->bodies, &cache->body_capacity, cache->body_count + 1, sizeof(body)))
    {
        return WEFT_NO_MEMORY;
    }
    body* b = &cache->bodies[cache->body_count];
    memset(b, 0, sizeof(*b));
    b->name = mem_alloc(length + 1, 1);
    if (!b->name)
    {
        return WEFT_NO_MEMORY;
    }
    memcpy(b->name, name, length);
    b->rank = INT32_MAX;
    cache->body_count++;
    return WEFT_OK;
}

// What is known of a folder before its bodies.
typedef struct listing
{
    scene_file scene;
    topology_changes changes;
} listing;

static bool is_known(const listing* known, const char* name)
{
    return scene_file_find(&known->scene, name) >= 0 || topology_changes_coming(&known->changes, name);
}

// NAME.G, where the run has NAME and no NAME.G: files of a topology.
static bool is_topology_of_run(const listing* known, char* name)
{
    char* dot = strrchr(name, '.');
    bool number = dot && dot[1] && dot[1] != '0' && strspn(dot + 1, "0123456789") == strlen(dot + 1);
    if (!number || is_known(known, name))
    {
        return false;
    }
    *dot = 0;
    bool found = is_known(known, name);
    *dot = '.';
    return found;
}

// NAME.pc2 of a body that comes, which is not known, in a run's folder: its header starts at a later frame.
static bool is_later(const weft_cache* cache, const listing* known, const char* name)
{
    char* path =
        known->scene.name_count > 0 && !is_known(known, name) ? topology_path(cache->dir, name, 0, ".pc2") : NULL;
    pc2* samples = NULL;
    bool later = path && pc2_open(path, &samples, NULL) == WEFT_OK && pc2_start_frame(samples) > 0.0f;
    pc2_close(samples, NULL);
    mem_free(path);
    return later;
}

// A run lists a topology, and a body that comes, before it writes the first sample: with samples and not listed, the
// list is missing or cut.
static weft_status check_unlisted(const weft_cache* cache, const char* name, weft_error* error)
{
    char* path = topology_path(cache->dir, name, 0, ".pc2");
    pc2* samples = NULL;
    weft_status status = WEFT_OK;
    if (path && pc2_open(path, &samples, NULL) == WEFT_OK && pc2_sample_count(samples) > 0)
    {
        status =
            error_set(error, WEFT_BAD_INPUT, path, 0,
                      "a topology with frames that frames.jsonl does not list: that file is missing or cut; copy the "
                      "whole folder again, or move this file away to see the frames before");
    }
    pc2_close(samples, NULL);
    mem_free(path);
    return status;
}

// A file of the folder may be that of a body: every .pc2 with its .obj, and an .obj alone where it may stand still.
static weft_status cache_add_body(weft_cache* cache, const listing* known, const char* name, bool samples)
{
    const scene_file* scene = &known->scene;
    const topology_change* comes = topology_changes_coming(&known->changes, name);
    int rank = comes ? scene->name_count + comes->line : scene_file_find(scene, name);
    bool may_stand = scene->name_count == 0 || rank >= scene->cloth_count;
    bool is_body = samples ? has_file(cache->dir, name, ".obj") : may_stand && !has_file(cache->dir, name, ".pc2");
    if (!is_body)
    {
        return WEFT_OK;
    }
    TRY(cache_add_name(cache, name, strlen(name)));
    body* b = &cache->bodies[cache->body_count - 1];
    b->rank = rank >= 0 ? rank : INT32_MAX;
    b->obstacle = !samples || (comes ? strcmp(comes->list, change_obstacles) == 0 : rank >= scene->cloth_count);
    b->still = !samples;
    b->thickness = comes ? comes->thickness : rank >= 0 ? scene->thickness[rank] : 0.0;
    b->solid = !b->obstacle && has_file(cache->dir, name, ".ele");
    return WEFT_OK;
}

static weft_status cache_add_file(weft_cache* cache, const listing* known, const char* file, weft_error* error)
{
    size_t length = strlen(file);
    bool pc2_file = length > 4 && strcmp(file + length - 4, ".pc2") == 0;
    bool obj_file = length > 4 && strcmp(file + length - 4, ".obj") == 0;
    if (!pc2_file && !obj_file)
    {
        return WEFT_OK;
    }
    char* name = mem_strdup(file);
    if (!name)
    {
        return reader_no_memory(cache->dir, error);
    }
    name[length - 4] = '\0';
    weft_status status = WEFT_OK;
    bool listed = topology_changes_name(&known->changes, name);
    if (!listed && (is_topology_of_run(known, name) || is_later(cache, known, name)))
    {
        status = pc2_file ? check_unlisted(cache, name, error) : WEFT_OK;
    }
    else if (!listed && cache_add_body(cache, known, name, pc2_file) != WEFT_OK)
    {
        status = reader_no_memory(cache->dir, error);
    }
    mem_free(name);
    return status;
}

static weft_status cache_find_bodies(weft_cache* cache, const listing* known, weft_error* error)
{
    DIR* folder = opendir(cache->dir);
    if (!folder)
    {
        weft_status status = errno == ENOENT || errno == ENOTDIR ? WEFT_NOT_FOUND : WEFT_IO;
        return error_set(error, status, cache->dir, 0, "the folder of a run cannot be opened: %s", strerror(errno));
    }
    weft_status status = WEFT_OK;
    for (struct dirent* entry = readdir(folder); entry && status == WEFT_OK; entry = readdir(folder))
    {
        status = cache_add_file(cache, known, entry->d_name, error);
    }
    closedir(folder);
    TRY(status);
    int moving = 0;
    for (int k = 0; k < cache->body_count; k++)
    {
        moving += !cache->bodies[k].still;
    }
    if (moving == 0)
    {
        return error_set(
            error, WEFT_BAD_INPUT, cache->dir, 0,
            "this folder holds no run (no NAME.obj with NAME.pc2, endings in small letters); make one with "
            "`weft run SCENE -o DIR`, or export both files from another program");
    }
    return WEFT_OK;
}

// ---- scene.json

// A scene that cannot be read only costs the order, the frame rate and the kinds, so that pictures of a damaged run are
// possible.
static scene_file cache_read_scene(weft_cache* cache)
{
    cache->frame_rate = default_frame_rate;
    char* path = topology_path(cache->dir, "scene", 0, ".json");
    scene_file scene = path ? scene_file_read(path) : (scene_file){0};
    mem_free(path);
    cache->frame_rate = scene.frame_rate > 0.0 ? scene.frame_rate : default_frame_rate;
    return scene;
}

static int compare_bodies(const void* left, const void* right)
{
    const body* a = left;
    const body* b = right;
    if (a->rank != b->rank)
    {
        return a->rank < b->rank ? -1 : 1;
    }
    // Without a scene: cloth first, as with one.
    if (a->obstacle != b->obstacle)
    {
        return a->obstacle ? 1 : -1;
    }
    return strcmp(a->name, b->name);
}

// ---- the public interface

static void error_add(weft_error* error, const char* more)
{
    if (error)
    {
        size_t length = strlen(error->message);
        snprintf(error->message + length, sizeof(error->message) - length, "%s", more);
    }
}

// Every change is of a body.
static weft_status check_changes(const weft_cache* cache, const topology_changes* changes, weft_error* error)
{
    for (int k = 0; k < changes->count; k++)
    {
        // One that goes before the first frame has no files.
        bool found = changes->items[k].kind == CHANGE_GOES && changes->items[k].frame == 0;
        for (int b = 0; b < cache->body_count && !found; b++)
        {
            found = strcmp(cache->bodies[b].name, changes->items[k].body) == 0;
        }
        if (!found)
        {
            return error_set(
                error, WEFT_BAD_INPUT, changes->path, changes->items[k].line,
                "the folder has no body `%.100s`: no %.100s.obj with %.100s.pc2; copy the whole folder, or run "
                "the scene again",
                changes->items[k].body, changes->items[k].body, changes->items[k].body);
        }
    }
    return WEFT_OK;
}

static weft_status cache_load_bodies(weft_cache* cache, const listing* known, weft_error* error)
{
    TRY(cache_find_bodies(cache, known, error));
    TRY(check_changes(cache, &known->changes, error));
    qsort(cache->bodies, (size_t)cache->body_count, sizeof(body), compare_bodies);
    bool foreign = known->scene.name_count == 0;
    cache->frame_count = INT32_MAX;
    int until = 0; // the last frame of any, where all go
    for (int k = 0; k < cache->body_count; k++)
    {
        body* b = &cache->bodies[k];
        weft_status status = topologies_load(b, cache->dir, &known->changes, error);
        if (status != WEFT_OK && foreign && b->still)
        {
            error_add(error,
                      "; an OBJ file without PC2 counts as an obstacle that stands still: move it away if it is none");
        }
        TRY(status);
        if (!b->still)
        {
            cache->frame_count = int_min(cache->frame_count, b->frame_count);
            until = int_max(until, b->until);
        }
    }
    cache->frame_count = int_min(cache->frame_count, until);
    TRY(fields_load(cache, error));
    return elements_load(cache, error);
}

static weft_status cache_load(weft_cache* cache, weft_error* error)
{
    listing known = {.scene = cache_read_scene(cache)};
    weft_status status = topology_changes_read(cache->dir, &known.changes, error);
    status = status == WEFT_OK ? cache_load_bodies(cache, &known, error) : status;
    topology_changes_finish(&known.changes);
    scene_file_finish(&known.scene);
    return status;
}

weft_status weft_cache_open(const char* dir, weft_cache** out, weft_error* error)
{
    WEFT_ASSERT(dir && out);
    weft_cache* cache = MEM_NEW(1, weft_cache);
    if (!cache || !(cache->dir = mem_strdup(dir)))
    {
        weft_cache_close(cache);
        return error_set(error, WEFT_NO_MEMORY, dir, 0, "no memory to open the run");
    }
    weft_status status = cache_load(cache, error);
    if (status != WEFT_OK)
    {
        weft_cache_close(cache);
        return status;
    }
    *out = cache;
    return WEFT_OK;
}

void weft_cache_close(weft_cache* cache)
{
    if (!cache)
    {
        return;
    }
    for (int k = 0; k < cache->body_count; k++)
    {
        body* b = &cache->bodies[k];
        coarse_view_drop(b);
        topologies_finish(b);
        fields_finish(b);
        elements_finish(b);
        mem_free(b->name);
    }
    mem_free(cache->bodies);
    mem_free(cache->dir);
    mem_free(cache);
}

const char* weft_cache_dir(const weft_cache* cache)
{
    WEFT_ASSERT(cache);
    return cache->dir;
}

int weft_cache_frame_count(const weft_cache* cache)
{
    WEFT_ASSERT(cache);
    return cache->frame_count;
}

int weft_cache_body_count(const weft_cache* cache)
{
    WEFT_ASSERT(cache);
    return cache->body_count;
}

const weft_cache_body* weft_cache_body_at(const weft_cache* cache, int body)
{
    WEFT_ASSERT(cache && body >= 0 && body < cache->body_count);
    return weft_cache_topology_at(cache, body, 0);
}

weft_status weft_cache_read_points(weft_cache* cache, int body, int frame, int first, int count, weft_vec3* out,
                                   weft_error* error)
{
    WEFT_ASSERT(cache && out && body >= 0 && body < cache->body_count);
    if (frame < 0 || frame >= cache->frame_count)
    {
        return error_set(error, WEFT_NOT_FOUND, cache->dir, 0, "there is no frame %d: the run has %d frames", frame,
                         cache->frame_count);
    }
    struct body* b = &cache->bodies[body];
    return b->coarse ? coarse_view_read(b, cache->dir, frame, &(coarse_range){first, count, out}, error)
                     : topologies_read(b, cache->dir, frame, first, count, out, error);
}

weft_status weft_cache_read_frame(weft_cache* cache, int body, int frame, weft_vec3* out, weft_error* error)
{
    return weft_cache_read_points(cache, body, frame, 0, -1, out, error);
}

double weft_cache_frame_rate(const weft_cache* cache)
{
    WEFT_ASSERT(cache);
    return cache->frame_rate;
}
