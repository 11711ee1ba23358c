// How a scene starts: where cloth is that does not start as it rests; with contact, what crosses before the first step
// is refused, untangled or left to settle, as the scene asks for.
#include <string.h>

#include "scene/scene_data.h"
#include "start/start.h"

// ---- where cloth starts

typedef struct start_keys
{
    const char* obj;
    double scale;
} start_keys;

static const field start_fields[] = {
    {"obj", FIELD_STRING, offsetof(start_keys, obj), ANY_NUMBER},
    {"scale", FIELD_NUMBER, offsetof(start_keys, scale), POSITIVE},
};

bool scene_cloth_start(scene_cloth* cloth, const vec3* positions)
{
    size_t size = (size_t)cloth->mesh.vertex_count * sizeof(vec3);
    if (!cloth->rest_position)
    {
        cloth->rest_position = MEM_NEW(cloth->mesh.vertex_count, vec3);
        if (!cloth->rest_position)
        {
            return false;
        }
        memcpy(cloth->rest_position, cloth->mesh.position, size);
    }
    memcpy(cloth->mesh.position, positions, size);
    return true;
}

static weft_status start_take(const scene_reader* r, const tree_node* node, const char* path, const start_keys* keys,
                              scene_cloth* cloth)
{
    mesh m = {0};
    weft_error reason = {0};
    obj_options options = {.form = cloth->kind->form == MESH_LINES ? MESH_LINES : MESH_SHEET, .keep_given = true};
    weft_status status = mesh_from_obj(path, &options, &m, &reason);
    if (status != WEFT_OK)
    {
        mesh_finish(&m);
        return sample_file_error(r, node, status, &reason);
    }
    // Welded vertices start where the first of them does.
    const mesh* to = &cloth->mesh;
    bool given = to->weld && m.vertex_count == to->given_count;
    for (int v = 0, next = 0; v < m.vertex_count && given; v++)
    {
        to->weld[v] == next ? (void)(m.position[next++] = m.position[v]) : (void)0;
    }
    m.vertex_count = given ? to->vertex_count : m.vertex_count;
    if (m.vertex_count != to->vertex_count)
    {
        status =
            read_error(r, node, "the start has %d vertices, and the mesh %d: they must be the same, in the same order",
                       m.vertex_count, to->weld ? to->given_count : to->vertex_count);
        mesh_finish(&m);
        return status;
    }
    if (keys->scale != 1.0)
    {
        mesh_transform(&m, NULL, keys->scale, v3(0, 0, 0));
    }
    status = scene_cloth_start(cloth, m.position) ? WEFT_OK : read_no_memory(r);
    mesh_finish(&m);
    return status;
}

weft_status start_read(const scene_reader* r, const tree_node* node, scene_cloth* cloth)
{
    start_keys keys = {.scale = 1.0};
    TRY(read_fields(r, node, start_fields, FIELD_COUNT(start_fields), &keys));
    if (!keys.obj)
    {
        return read_error(r, node, "expected \"obj\": the file that has the vertices where they start");
    }
    char* path = scene_file_path(r->scene, keys.obj);
    if (!path)
    {
        return read_no_memory(r);
    }
    weft_status status = start_take(r, node, path, &keys, cloth);
    mem_free(path);
    return status;
}

// ---- what crosses

weft_status weft_scene_start(const weft_scene* scene, weft_sim* sim, weft_untangling* out, weft_error* error)
{
    WEFT_ASSERT(scene && sim);
    weft_status status = WEFT_OK;
    if (scene->def.contact)
    {
        status =
            start_judge(sim, (start_way)scene->start, (start_layers){scene->layers, scene->layer_count}, out, error);
    }
    else if (out)
    {
        *out = (weft_untangling){.body = -1, .vertex = -1};
    }
    if (status != WEFT_OK)
    {
        scene_error_place(scene, scene->start_node, error);
    }
    return status;
}
