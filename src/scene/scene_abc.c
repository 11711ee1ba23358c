// Obstacles from Alembic archives: {"mesh": {"abc": "FILE"}, "deform": {"abc": "FILE"}}. Times of samples are the
// file's, counted from its first; where they are uneven the samples are taken at four a frame, linear between the
// file's own.
#include <string.h>

#include "mesh/abc_file.h"
#include "scene/scene_data.h"

enum
{
    SAMPLES_A_FRAME = 4,
    SAMPLES_MAX = 1000000
};

// What is missing was named by the scene; what is wrong inside the file stands there.
static weft_status open_error(const scene_reader* r, const gltf_nodes* nodes, const char* file, weft_status status,
                              weft_error* reason)
{
    if (status != WEFT_NOT_FOUND)
    {
        return mesh_error(r, nodes->file, status, reason);
    }
    bool no_file = strncmp(reason->message, "cannot", 6) == 0;
    char message[sizeof(reason->message)];
    snprintf(message, sizeof(message), "%.300s: %.500s%s", file, reason->message,
             no_file ? "; paths are relative to the scene file" : "");
    *reason = (weft_error){.status = status};
    snprintf(reason->message, sizeof(reason->message), "%s", message);
    return mesh_error(r, no_file || !nodes->object ? nodes->file : nodes->object, status, reason);
}

static weft_status open_named(const weft_scene* scene, const char* file, const char* object, abc_body** out,
                              weft_error* error)
{
    char* path = scene_file_path(scene, file);
    weft_status status = path ? abc_body_open(path, object, out, error)
                              : error_set(error, WEFT_NO_MEMORY, NULL, 0, "there is no memory to read `%s`", file);
    mem_free(path);
    return status;
}

static weft_status mesh_take(const weft_scene* scene, abc_body* body, scene_obstacle* o, weft_error* error)
{
    char* path = scene_file_path(scene, o->obj.file);
    weft_status status = path ? abc_body_mesh(body, path, &o->mesh, error) : WEFT_NO_MEMORY;
    mem_free(path);
    return status;
}

weft_status abc_obstacle_read(const scene_reader* r, const gltf_nodes* nodes, scene_obstacle* o)
{
    weft_error reason = {0};
    abc_body* body = NULL;
    weft_status status = open_named(r->scene, o->obj.file, o->obj.object, &body, &reason);
    status = status == WEFT_OK ? mesh_take(r->scene, body, o, &reason) : status;
    int samples = status == WEFT_OK ? abc_body_sample_count(body) : 0;
    abc_body_destroy(body);
    if (status != WEFT_OK)
    {
        return open_error(r, nodes, o->obj.file, status, &reason);
    }
    scene_place place = place_make(&o->transform, o->obj.scale);
    place_mesh(&place, &o->mesh);
    bool noted = samples <= 1 || o->deforms ||
                 scene_warn(r->scene,
                            "obstacle `%s` stands still, and its file has %d samples: \"deform\": {\"abc\": \"%s\"} "
                            "moves it",
                            o->name, samples, o->obj.file) == WEFT_OK;
    return noted ? WEFT_OK : read_no_memory(r);
}

weft_status abc_deform_open(const weft_scene* scene, const scene_obstacle* o, abc_body** out, weft_error* error)
{
    abc_body* body = NULL;
    TRY(open_named(scene, o->deform.abc, o->is_abc ? o->obj.object : NULL, &body, error));
    int points = abc_body_vertex_count(body);
    if (points != o->mesh.vertex_count)
    {
        abc_body_destroy(body);
        return error_set(error, WEFT_BAD_INPUT, o->deform.abc, 0,
                         "%d points where the mesh %s has %d vertices; export both from the same object", points,
                         o->obj.file, o->mesh.vertex_count);
    }
    *out = body;
    return WEFT_OK;
}

static weft_status samples_count(const scene_reader* r, const tree_node* node, const abc_body* body, scene_deform* d)
{
    double own = abc_body_rate(body), length = abc_body_length(body);
    d->rate = own > 0.0 ? own : SAMPLES_A_FRAME * weft_scene_frame_rate(r->scene) / d->speed;
    double count = own > 0.0 ? abc_body_sample_count(body) : ceil(length * d->rate * (1.0 - 1e-6)) + 1.0;
    d->sample_count = (int)fmin(count, SAMPLES_MAX + 1.0);
    d->clip_step = 1.0 / d->rate;
    return d->sample_count <= SAMPLES_MAX
               ? WEFT_OK
               : read_error(r, node, "would take %.3g samples; at most %d are allowed", count, SAMPLES_MAX);
}

weft_status abc_deform_read(const scene_reader* r, const tree_node* node, scene_obstacle* o)
{
    weft_error reason = {0};
    abc_body* body = NULL;
    gltf_nodes nodes = {node, NULL, NULL};
    TRY(read_string(r, node, &o->deform.abc));
    weft_status status = abc_deform_open(r->scene, o, &body, &reason);
    if (status != WEFT_OK)
    {
        return open_error(r, &nodes, o->deform.abc, status, &reason);
    }
    status = samples_count(r, node, body, &o->deform);
    abc_body_destroy(body);
    return status;
}
