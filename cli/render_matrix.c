// The linear system behind a frame of a run: the scene is built again and put where the frame shows it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/render.h"

// ---- the scene

static weft_status scene_of_run(const char* dir, weft_scene** out, weft_error* error)
{
    size_t size = strlen(dir) + sizeof("/scene.json");
    char* path = malloc(size);
    if (!path)
    {
        return WEFT_NO_MEMORY;
    }
    snprintf(path, size, "%s/scene.json", dir);
    // A run of another machine may name kernels that this one has not; a picture does not need the same bits.
    const char* const overrides[] = {"kernels=auto"};
    weft_status status = weft_scene_load(path, overrides, 1, out, error);
    free(path);
    return status;
}

static weft_status mismatch(const char* dir, const char* name, weft_error* error)
{
    snprintf(error->file, sizeof(error->file), "%s", dir);
    snprintf(error->message, sizeof(error->message),
             "scene.json does not describe the cloth `%s` that the run holds; run the scene again", name);
    return WEFT_BAD_INPUT;
}

// The scene describes the cloth before it tears.
static weft_status torn(const char* dir, const char* name, int frame, weft_error* error)
{
    snprintf(error->file, sizeof(error->file), "%s", dir);
    snprintf(error->message, sizeof(error->message),
             "`%s` tears at frame %d: matrices can be shown of the frames before; choose one with --frame", name,
             frame);
    return WEFT_UNSUPPORTED;
}

// The cloth of that name; -1: none.
static weft_cloth_id cloth_find(const weft_sim* sim, const char* name)
{
    for (weft_cloth_id cloth = 0; cloth < weft_sim_cloth_count(sim); cloth++)
    {
        if (strcmp(weft_sim_cloth_name(sim, cloth), name) == 0)
        {
            return cloth;
        }
    }
    return -1;
}

// It describes no cloth that comes later, and all that goes.
static weft_status comes_or_goes(const char* dir, const char* name, weft_error* error)
{
    snprintf(error->file, sizeof(error->file), "%s", dir);
    snprintf(error->message, sizeof(error->message),
             "`%s` was added or removed while the run went on: matrices can be shown of frames with the bodies of the "
             "scene, of runs to which none was added",
             name);
    return WEFT_UNSUPPORTED;
}

// ---- one cloth

typedef struct cloth_state
{
    weft_vec3 *x, *v; // [vertex_count]
    weft_vec3* saved; // [body's vertices] one frame as the run holds it
} cloth_state;

// Each vertex that the run saved shows one of the cloth's; several may show the same, where duplicates were welded.
static weft_status state_read(cloth_state* s, weft_cache* cache, int body, int frame, const int* shown,
                              weft_error* error)
{
    int count = weft_cache_body_at(cache, body)->vertex_count;
    double rate = weft_cache_frame_rate(cache);
    weft_status status = weft_cache_read_frame(cache, body, frame, s->saved, error);
    for (int k = 0; k < count && status == WEFT_OK; k++)
    {
        s->x[shown[k]] = s->saved[k];
    }
    status = status == WEFT_OK ? weft_cache_read_frame(cache, body, frame - 1, s->saved, error) : status;
    for (int k = 0; k < count && status == WEFT_OK; k++)
    {
        weft_vec3 now = s->x[shown[k]], before = s->saved[k];
        s->v[shown[k]] = (weft_vec3){rate * (now.x - before.x), rate * (now.y - before.y), rate * (now.z - before.z)};
    }
    return status;
}

static weft_status cloth_put(const frame_matrix* m, weft_cache* cache, int body, weft_cloth_id cloth, int frame,
                             weft_error* error)
{
    size_t count = (size_t)weft_sim_vertex_count(m->sim, cloth);
    size_t saved_count = (size_t)weft_cache_body_at(cache, body)->vertex_count;
    cloth_state s = {.x = calloc(count + 1, sizeof(weft_vec3)),
                     .v = calloc(count + 1, sizeof(weft_vec3)),
                     .saved = calloc(saved_count + 1, sizeof(weft_vec3))};
    weft_status status = WEFT_NO_MEMORY;
    if (s.x && s.v && s.saved)
    {
        status = state_read(&s, cache, body, frame, m->vertices[body], error);
        status = status == WEFT_OK ? weft_sim_set_state(m->sim, cloth, s.x, s.v) : status;
    }
    free(s.x);
    free(s.v);
    free(s.saved);
    return status;
}

static weft_status body_match(frame_matrix* m, const char* dir, weft_cache* cache, int body, int frame,
                              weft_error* error)
{
    const weft_cache_body* b = weft_cache_body_at(cache, body);
    int tears = weft_cache_topology_count(cache, body) > 1 ? weft_cache_topology_start(cache, body, 1) : INT32_MAX;
    if (frame >= tears)
    {
        return torn(dir, b->name, tears, error);
    }
    if (b->from > 0 || frame >= b->until)
    {
        return comes_or_goes(dir, b->name, error);
    }
    weft_cloth_id cloth = cloth_find(m->sim, b->name);
    if (cloth < 0 || weft_sim_output_count(m->sim, cloth) != b->vertex_count)
    {
        return mismatch(dir, b->name, error);
    }
    m->vertices[body] = malloc(((size_t)b->vertex_count + 1) * sizeof(int));
    if (!m->vertices[body])
    {
        return WEFT_NO_MEMORY;
    }
    weft_sim_output_vertices(m->sim, cloth, m->vertices[body]);
    // The first frame is the scene's own start, with velocities and all digits.
    weft_status status = frame > 0 ? cloth_put(m, cache, body, cloth, frame, error) : WEFT_OK;
    int first = 0; // of this cloth in the system
    for (weft_cloth_id k = 0; k < cloth; k++)
    {
        first += weft_sim_vertex_count(m->sim, k);
    }
    for (int k = 0; k < b->vertex_count; k++)
    {
        m->vertices[body][k] += first;
    }
    return status;
}

// ---- the matrix

weft_status frame_matrix_create(const char* dir, weft_cache* cache, int frame, frame_matrix* out, weft_error* error)
{
    *out = (frame_matrix){.body_count = weft_cache_body_count(cache)};
    out->vertices = calloc((size_t)out->body_count, sizeof(*out->vertices));
    weft_status status = out->vertices ? scene_of_run(dir, &out->scene, error) : WEFT_NO_MEMORY;
    if (status == WEFT_OK)
    {
        status = weft_scene_create_sim(out->scene, 0, &out->sim, error);
    }
    for (int body = 0; body < out->body_count && status == WEFT_OK; body++)
    {
        if (weft_cache_body_at(cache, body)->obstacle)
        {
            continue; // no unknowns
        }
        status = body_match(out, dir, cache, body, frame, error);
    }
    if (status == WEFT_OK)
    {
        status = weft_sim_set_step_count(out->sim, (int64_t)frame * weft_scene_steps_per_frame(out->scene));
    }
    return status == WEFT_OK ? weft_sim_system(out->sim, &out->system, error) : status;
}

void frame_matrix_finish(frame_matrix* m)
{
    for (int body = 0; body < m->body_count && m->vertices; body++)
    {
        free(m->vertices[body]);
    }
    free(m->vertices);
    weft_system_destroy(m->system);
    weft_sim_destroy(m->sim);
    weft_scene_destroy(m->scene);
    *m = (frame_matrix){0};
}
