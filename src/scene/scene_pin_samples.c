// Samples of pins: where pinned vertices are to be, from a PC2 file of the whole mesh, in its units and its place, or
// as numbers in the scene file itself, which is how a run's copy of the scene has them.
#include "mesh/pc2_file.h"
#include "scene/scene_data.h"

typedef struct sample_keys
{
    const tree_node *pc2, *positions, *rate, *start;
} sample_keys;

static const field sample_fields[] = {
    {"pc2", FIELD_NODE, offsetof(sample_keys, pc2), ANY_NUMBER},
    {"positions", FIELD_NODE, offsetof(sample_keys, positions), ANY_NUMBER},
    {"rate", FIELD_NODE, offsetof(sample_keys, rate), ANY_NUMBER},
    {"start", FIELD_NODE, offsetof(sample_keys, start), ANY_NUMBER},
};

static const field rate_limits = {"", FIELD_NUMBER, 0, POSITIVE};
static const field any_limits = {.key = ""};

static weft_status positions_read(const scene_reader* r, const tree_node* node, scene_pin* pin)
{
    TRY(read_array(r, node));
    int a_sample = 3 * pin->vertex_count;
    if (node->child_count == 0 || a_sample == 0 || node->child_count % a_sample != 0)
    {
        return read_error(r, node,
                          "expected x, y, z of each of the %d pinned vertices, sample after sample: a multiple of %d "
                          "numbers; there are %d",
                          pin->vertex_count, a_sample, node->child_count);
    }
    pin->sample_count = node->child_count / a_sample;
    pin->samples = MEM_NEW(node->child_count / 3, vec3);
    if (!pin->samples)
    {
        return read_no_memory(r);
    }
    double* to = &pin->samples[0].x;
    for (const tree_node* child = node->first; child; child = child->next)
    {
        TRY(read_number(r, child, &any_limits, to++));
    }
    return WEFT_OK;
}

// All samples of the whole mesh, of which the pinned vertices are kept; all is the room for one.
static weft_status take_samples(const pc2* cache, const scene_place* place, vec3* all, scene_pin* pin,
                                weft_error* error)
{
    mesh view = {.vertex_count = pc2_point_count(cache), .position = all};
    vec3* to = pin->samples;
    for (int k = 0; k < pin->sample_count; k++)
    {
        TRY(pc2_read(cache, k, all, error));
        place_mesh(place, &view);
        for (int i = 0; i < pin->vertex_count; i++)
        {
            *to++ = all[pin->vertices[i]];
        }
    }
    return WEFT_OK;
}

static weft_status cache_read(const pc2* cache, const char* path, const scene_cloth* cloth, scene_pin* pin,
                              weft_error* error)
{
    int n = cloth->mesh.vertex_count;
    TRY(sample_file_check(cache, path, cloth->is_grid ? "of the cloth" : cloth->obj.file, n, error));
    pin->sample_count = pc2_sample_count(cache);
    pin->samples = MEM_NEW((size_t)pin->sample_count * (size_t)pin->vertex_count, vec3);
    vec3* all = MEM_NEW(n, vec3);
    scene_place place = place_make(&cloth->transform, cloth->is_grid ? 1.0 : cloth->obj.scale);
    weft_status status = pin->samples && all
                             ? take_samples(cache, &place, all, pin, error)
                             : error_set(error, WEFT_NO_MEMORY, path, 0, "there is no memory for its samples");
    mem_free(all);
    return status;
}

static weft_status file_samples_read(const scene_reader* r, const tree_node* node, const scene_cloth* cloth,
                                     scene_pin* pin)
{
    const char* file;
    TRY(read_string(r, node, &file));
    if (!cloth->is_grid && cloth->obj.weld > 0.0)
    {
        return read_error(r, node,
                          "a file has samples of the mesh as it is: set \"weld\": 0, or give \"positions\" instead");
    }
    char* path = scene_file_path(r->scene, file);
    if (!path)
    {
        return read_no_memory(r);
    }
    pc2* cache = NULL;
    weft_error reason = {0};
    weft_status status = pc2_open(path, &cache, &reason);
    status = status == WEFT_OK ? cache_read(cache, path, cloth, pin, &reason) : status;
    pc2_close(cache, NULL);
    mem_free(path);
    return status == WEFT_OK ? WEFT_OK : sample_file_error(r, node, status, &reason);
}

weft_status pin_samples_read(const scene_reader* r, const tree_node* node, const scene_cloth* cloth, scene_pin* pin)
{
    sample_keys keys = {0};
    pin->sample_rate = weft_scene_frame_rate(r->scene);
    TRY(read_fields(r, node, sample_fields, FIELD_COUNT(sample_fields), &keys));
    if (!keys.pc2 == !keys.positions)
    {
        return read_error(r, node, "expected either \"pc2\" or \"positions\" here%s", keys.pc2 ? ", not both" : "");
    }
    if (keys.rate)
    {
        TRY(read_number(r, keys.rate, &rate_limits, &pin->sample_rate));
    }
    if (keys.start)
    {
        TRY(read_number(r, keys.start, &any_limits, &pin->sample_start));
    }
    return keys.pc2 ? file_samples_read(r, keys.pc2, cloth, pin) : positions_read(r, keys.positions, pin);
}
