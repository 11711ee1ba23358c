// Reads a run's folder: every pair NAME.obj + NAME.pc2 is a body. scene.json, where it is there and readable, gives the
// order of the bodies and the frame rate, and says which are obstacles; those of them without a NAME.pc2 stand still. A
// folder without it is still read: bodies by name, 25 frames a second, every pair is cloth, and every NAME.obj alone is
// an obstacle that stands still.
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "mesh/pc2.h"
#include "cache/scene_file.h"
#include "mesh/mesh.h"
#include "weft/cache.h"

typedef struct body
{
    char* name;
    int rank;  // place in scene.json; bodies that it does not name come last
    bool obstacle;
    mesh mesh;
    pc2* samples; // NULL: stands still
    weft_cache_body view;
} body;

struct weft_cache
{
    char* dir;
    body* bodies; // [body_count]
    int body_count, body_capacity;
    int frame_count;
    double frame_rate;
};

static const double default_frame_rate = 25.0;

// "DIR/NAME + ending"; the caller frees. NULL: no memory.
static char* path_join(const char* dir, const char* name, const char* ending)
{
    size_t size = strlen(dir) + strlen(name) + strlen(ending) + 2;
    char* path = mem_alloc(size, 1);
    if (path)
    {
        snprintf(path, size, "%s/%s%s", dir, name, ending);
    }
    return path;
}

// ---- bodies in the folder

static bool has_file(const char* dir, const char* name, const char* ending)
{
    char* path = path_join(dir, name, ending);
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

// A file of the folder may be that of a body: every .pc2 with its .obj, and an .obj alone where it may stand still.
static weft_status cache_add_file(weft_cache* cache, const scene_file* scene, const char* file)
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
        return WEFT_NO_MEMORY;
    }
    name[length - 4] = '\0';
    int rank = scene_file_find(scene, name);
    bool may_stand = scene->name_count == 0 || rank >= scene->cloth_count;
    bool is_body = pc2_file ? has_file(cache->dir, name, ".obj")
                            : may_stand && !has_file(cache->dir, name, ".pc2");
    weft_status status = is_body ? cache_add_name(cache, name, length - 4) : WEFT_OK;
    if (is_body && status == WEFT_OK)
    {
        body* b = &cache->bodies[cache->body_count - 1];
        b->rank = rank >= 0 ? rank : INT32_MAX;
        b->obstacle = obj_file || rank >= scene->cloth_count;
        b->view.still = obj_file;
    }
    mem_free(name);
    return status;
}

static weft_status cache_find_bodies(weft_cache* cache, const scene_file* scene, weft_error* error)
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
        status = cache_add_file(cache, scene, entry->d_name);
    }
    closedir(folder);
    if (status != WEFT_OK)
    {
        return error_set(error, status, cache->dir, 0, "no memory to list the folder");
    }
    int moving = 0;
    for (int k = 0; k < cache->body_count; k++)
    {
        moving += !cache->bodies[k].view.still;
    }
    if (moving == 0)
    {
        return error_set(error, WEFT_BAD_INPUT, cache->dir, 0,
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
    char* path = path_join(cache->dir, "scene", ".json");
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

// ---- one body

static weft_status body_load_mesh(body* b, const char* dir, weft_error* error)
{
    char* path = path_join(dir, b->name, ".obj");
    if (!path)
    {
        return error_set(error, WEFT_NO_MEMORY, dir, 0, "no memory to read the run");
    }
    obj_options options = {0};
    weft_status status = mesh_from_obj(path, &options, &b->mesh, error);
    if (status == WEFT_OK)
    {
        // Whoever simulated it found it good enough: inspection and pictures take what cloth could not have, too.
        status = mesh_split(&b->mesh, error);
    }
    mem_free(path);
    return status;
}

static weft_status body_load_samples(body* b, const char* dir, weft_error* error)
{
    char* path = path_join(dir, b->name, ".pc2");
    if (!path)
    {
        return error_set(error, WEFT_NO_MEMORY, dir, 0, "no memory to read the run");
    }
    weft_status status = pc2_open(path, &b->samples, error);
    if (status == WEFT_OK && pc2_point_count(b->samples) != b->mesh.vertex_count)
    {
        status = error_set(error, WEFT_BAD_INPUT, path, 0,
                           "%d points where %s.obj has %d vertices: the files are not of one mesh; write both again, "
                           "of one run or in one export",
                           pc2_point_count(b->samples), b->name, b->mesh.vertex_count);
    }
    mem_free(path);
    return status;
}

static weft_status body_load(body* b, const char* dir, weft_error* error)
{
    TRY(body_load_mesh(b, dir, error));
    bool still = b->view.still;
    if (!still)
    {
        TRY(body_load_samples(b, dir, error));
    }
    b->view = (weft_cache_body){
        .name = b->name,
        .obstacle = b->obstacle,
        .still = still,
        .vertex_count = b->mesh.vertex_count,
        .rest = b->mesh.position,
        .face_count = b->mesh.face_count,
        .face_start = b->mesh.face_start,
        .face_vertices = b->mesh.face_vertex,
        .triangle_count = b->mesh.triangle_count,
        .triangles = b->mesh.triangle,
        .texcoord_count = b->mesh.texcoord_count,
        .texcoords = b->mesh.texcoord ? &b->mesh.texcoord->x : NULL,
        .face_texcoords = b->mesh.face_texcoord,
    };
    return WEFT_OK;
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

static weft_status cache_load(weft_cache* cache, weft_error* error)
{
    scene_file scene = cache_read_scene(cache);
    weft_status status = cache_find_bodies(cache, &scene, error);
    bool foreign = scene.name_count == 0;
    scene_file_finish(&scene);
    TRY(status);
    qsort(cache->bodies, (size_t)cache->body_count, sizeof(body), compare_bodies);
    cache->frame_count = INT32_MAX;
    for (int k = 0; k < cache->body_count; k++)
    {
        status = body_load(&cache->bodies[k], cache->dir, error);
        if (status != WEFT_OK && foreign && cache->bodies[k].view.still)
        {
            error_add(error, "; an OBJ file without PC2 counts as an obstacle that stands still: move it away if it is none");
        }
        TRY(status);
        if (!cache->bodies[k].view.still)
        {
            cache->frame_count = int_min(cache->frame_count, pc2_sample_count(cache->bodies[k].samples));
        }
    }
    return WEFT_OK;
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
        mesh_finish(&b->mesh);
        pc2_close(b->samples, NULL);
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
    return &cache->bodies[body].view;
}

weft_status weft_cache_read_frame(weft_cache* cache, int body, int frame, weft_vec3* out, weft_error* error)
{
    WEFT_ASSERT(cache && out && body >= 0 && body < cache->body_count);
    if (frame < 0 || frame >= cache->frame_count)
    {
        return error_set(error, WEFT_NOT_FOUND, cache->dir, 0, "there is no frame %d: the run has %d frames", frame,
                         cache->frame_count);
    }
    if (cache->bodies[body].view.still)
    {
        const mesh* m = &cache->bodies[body].mesh;
        memcpy(out, m->position, (size_t)m->vertex_count * sizeof(vec3));
        return WEFT_OK;
    }
    return pc2_read(cache->bodies[body].samples, frame, out, error);
}

double weft_cache_frame_rate(const weft_cache* cache)
{
    WEFT_ASSERT(cache);
    return cache->frame_rate;
}

int weft_cache_topology_count(const weft_cache* cache, int body)
{
    WEFT_ASSERT(cache && body >= 0 && body < cache->body_count);
    return 1;
}

const weft_cache_body* weft_cache_topology_at(const weft_cache* cache, int body, int topology)
{
    WEFT_ASSERT(topology == 0);
    return weft_cache_body_at(cache, body);
}

int weft_cache_topology_of(const weft_cache* cache, int body, int frame)
{
    WEFT_ASSERT(cache && body >= 0 && body < cache->body_count && frame >= 0);
    return 0;
}
