// Obstacles from glTF files: {"mesh": {"gltf": "FILE"}, "deform": {"animation": "NAME"}}.
//
// The animation runs from its first key to its last and is sampled at an even rate, four samples a frame or more; the
// simulation is linear between samples. How far that is from the file's own motion is measured half-way between
// samples, where a smooth motion is farthest off, and told.
#include <string.h>

#include "scene/gltf_file.h"
#include "scene/scene_data.h"

enum
{
    SAMPLES_A_FRAME = 4,
    SAMPLES_MAX = 1000000
};

static const double measured_max = 2e8; // vertices times samples that are looked at; of more, an even choice
static const double jump_max = 1e-3;    // m between the last and the first pose of a loop, beyond which a note tells

// ---- reading

static gltf_options options_of(const scene_obstacle* o)
{
    const scene_deform* d = &o->deform;
    return (gltf_options){o->obj.object, d->animation, d->animates && !d->animation ? d->animation_number : -1};
}

weft_status gltf_obstacle_open(const weft_scene* scene, const scene_obstacle* o, gltf_body** out, weft_error* error)
{
    char* path = scene_file_path(scene, o->obj.file);
    if (!path)
    {
        return error_set(error, WEFT_NO_MEMORY, NULL, 0, "there is no memory to read `%s`", o->obj.file);
    }
    gltf_options options = options_of(o);
    weft_status status = gltf_body_read(path, &options, out, error);
    mem_free(path);
    return status;
}

weft_status animation_read(const scene_reader* r, const tree_node* node, scene_deform* d)
{
    static const field limits = {"", FIELD_INT, 0, 0.0, 1e6, false};
    d->animates = true;
    if (node->kind == TREE_STRING)
    {
        return read_string(r, node, &d->animation);
    }
    return node->kind == TREE_NUMBER ? read_int(r, node, &limits, &d->animation_number)
                                     : read_wrong_kind(r, node, "the name of an animation of the file, or its number");
}

static weft_status notes_tell(const scene_reader* r, const scene_obstacle* o, const gltf_notes* n)
{
    weft_status status = WEFT_OK;
    if (n->uneven_count > 0)
    {
        status = scene_warn(r->scene,
                            "obstacle `%s`: the weights of %d vertices do not add up to 1 (to %.4g at worst); they are "
                            "scaled so that they do, as glTF asks exporters to",
                            o->name, n->uneven_count, n->uneven_worst);
    }
    if (n->other_modes > 0 && status == WEFT_OK)
    {
        status = scene_warn(r->scene, "obstacle `%s`: %d primitives of points or lines are left out", o->name,
                            n->other_modes);
    }
    if (n->animation_count > 0 && !o->deform.animates && !o->deforms && status == WEFT_OK)
    {
        status =
            scene_warn(r->scene,
                       "obstacle `%s` stands still, and its file has %d animation%s: \"deform\": {\"animation\": 0} "
                       "plays the first",
                       o->name, n->animation_count, n->animation_count > 1 ? "s" : "");
    }
    return status;
}

// Errors at the key that named what is not there.
static weft_status open_error(const scene_reader* r, const gltf_nodes* nodes, const scene_obstacle* o,
                              weft_status status, weft_error* reason)
{
    bool no_file = status == WEFT_NOT_FOUND && strncmp(reason->message, "cannot", 6) == 0;
    bool no_animation = status == WEFT_NOT_FOUND && strncmp(reason->message, "there is no animation", 21) == 0;
    if (status != WEFT_NOT_FOUND)
    {
        return mesh_error(r, nodes->file, status, reason);
    }
    char message[sizeof(reason->message)];
    snprintf(message, sizeof(message), "%.300s: %.500s%s", o->obj.file, reason->message,
             no_file ? "; paths are relative to the scene file" : "");
    *reason = (weft_error){.status = status};
    snprintf(reason->message, sizeof(reason->message), "%s", message);
    return mesh_error(r,
                      no_animation && nodes->animation ? nodes->animation
                      : no_file || !nodes->object      ? nodes->file
                                                       : nodes->object,
                      status, reason);
}

// ---- sampling

static double max_distance(const vec3* a, const vec3* b, const vec3* exact, int count)
{
    double most_sq = 0.0;
    for (int v = 0; v < count; v++)
    {
        vec3 d = v3_sub(v3_scale(0.5, v3_add(a[v], b[v])), exact[v]);
        most_sq = fmax(most_sq, v3_dot(d, d));
    }
    return sqrt(most_sq);
}

// Half-way between samples, in the file's unit.
static double sampling_error(gltf_body* b, const scene_deform* d, vec3* scratch /* [3 * vertex_count] */)
{
    int n = b->vertex_count, intervals = d->loop ? d->sample_count : d->sample_count - 1;
    vec3 *left = scratch, *right = scratch + n, *middle = scratch + 2 * (size_t)n;
    int stride = (int)fmax(1.0, ceil((double)n * intervals / measured_max));
    double most = 0.0;
    for (int k = 0; k < intervals; k += stride)
    {
        double at = b->begin + k * d->clip_step;
        if (k == 0 || stride > 1)
        {
            gltf_pose_loop(b, at, d->clip_gap, left);
        }
        gltf_pose_loop(b, at + 0.5 * d->clip_step, d->clip_gap, middle);
        gltf_pose_loop(b, at + d->clip_step, d->clip_gap, right);
        most = fmax(most, max_distance(left, right, middle, n));
        vec3* next = right; // the end of this interval is the beginning of the next
        right = left;
        left = next;
    }
    return most;
}

// Where keys begin one step after time 0, as exporters write frames from 1 on, that step leads from the last to the
// first.
static double loop_gap(const gltf_body* b)
{
    return b->begin <= 1.5 * b->key_step ? b->begin : 0.0;
}

static double loop_jump(gltf_body* b, vec3* scratch)
{
    gltf_pose(b, b->begin, scratch);
    gltf_pose(b, b->end, scratch + b->vertex_count);
    return max_distance(scratch, scratch, scratch + b->vertex_count, b->vertex_count);
}

static weft_status sampling_tell(const scene_reader* r, scene_obstacle* o, gltf_body* b)
{
    scene_deform* d = &o->deform;
    vec3* scratch = MEM_NEW(3 * (size_t)b->vertex_count, vec3);
    if (!scratch)
    {
        return read_no_memory(r);
    }
    double scale = o->obj.scale * o->transform.scale;
    d->error = scale * sampling_error(b, d, scratch);
    double jump = d->loop && d->clip_gap == 0.0 ? scale * loop_jump(b, scratch) : 0.0;
    mem_free(scratch);
    weft_status status = scene_warn(
        r->scene,
        "obstacle `%s`: %d samples, %.5g a second, of %.4g s of animation; between them it is at most %.2g m from it",
        o->name, d->sample_count, d->rate, b->end - b->begin, d->error);
    if (status == WEFT_OK && jump > jump_max)
    {
        status =
            scene_warn(r->scene,
                       "obstacle `%s`: the last pose of its animation is %.3g m from the first, which it goes within "
                       "one sample when it loops",
                       o->name, jump);
    }
    return status == WEFT_OK ? WEFT_OK : read_no_memory(r);
}

// Samples a second from at least four a frame; a whole number of them in a period.
weft_status animation_sample(const scene_reader* r, const tree_node* rate_node, scene_obstacle* o, gltf_body* b)
{
    scene_deform* d = &o->deform;
    double least = SAMPLES_A_FRAME * weft_scene_frame_rate(r->scene);
    if (rate_node && d->rate < least * (1.0 - 1e-9))
    {
        return read_error(r, rate_node,
                          "is below %g, four samples a frame, which an animation needs at least; it is %g", least,
                          d->rate);
    }
    d->rate = rate_node ? d->rate : least;
    double length = b->end - b->begin;
    d->clip_gap = d->loop ? loop_gap(b) : 0.0;
    double period = (length + d->clip_gap) / d->speed, intervals = fmax(ceil(period * d->rate * (1.0 - 1e-6)), 1.0);
    if (intervals >= SAMPLES_MAX)
    {
        return read_error(r, o->deform_node,
                          "would take %.3g samples, at most %d are allowed; lower \"rate\" or raise \"speed\"",
                          intervals, SAMPLES_MAX);
    }
    bool moves = length > 0.0;
    d->loop = d->loop && moves;
    d->rate = d->loop ? intervals / period : d->rate;
    d->sample_count = moves ? (int)intervals + !d->loop : 1;
    d->clip_step = d->speed / d->rate;
    return sampling_tell(r, o, b);
}

void animation_pose(gltf_body* b, const scene_deform* d, int sample, vec3* out)
{
    gltf_pose_loop(b, b->begin + sample * d->clip_step, d->clip_gap, out);
}

// ---- the obstacle

weft_status gltf_obstacle_read(const scene_reader* r, const gltf_nodes* nodes, scene_obstacle* o, gltf_body** out)
{
    weft_error reason = {0};
    weft_status status = gltf_obstacle_open(r->scene, o, out, &reason);
    if (status != WEFT_OK)
    {
        return open_error(r, nodes, o, status, &reason);
    }
    gltf_body* b = *out;
    double period = b->end - b->begin + loop_gap(b);
    double at = o->deform.loop && period > 0.0 ? fmod(o->deform.offset, period) : o->deform.offset;
    char* path = scene_file_path(r->scene, o->obj.file);
    status = path ? gltf_mesh(b, path, b->begin + at, &o->mesh, &reason) : WEFT_NO_MEMORY;
    mem_free(path);
    if (status != WEFT_OK)
    {
        return read_no_memory(r);
    }
    scene_place place = place_make(&o->transform, o->obj.scale);
    place_mesh(&place, &o->mesh);
    return notes_tell(r, o, &b->notes) == WEFT_OK ? WEFT_OK : read_no_memory(r);
}
