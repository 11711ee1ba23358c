// Meshes that deform: samples of a PC2 file, of a sequence of OBJ files or of an animation, in the units and the place
// of the mesh, rounded to float as they are read, so that a copy as PC2 holds exactly what was used.
//
// PC2 files are read a sample at a time. OBJ files are slow to read: their samples are kept as floats while all of them
// together are small, and read again when needed otherwise.
#include <string.h>

#include "mesh/abc_file.h"
#include "mesh/pc2_file.h"
#include "scene/gltf_file.h"
#include "scene/scene_data.h"

enum
{
    SEQUENCE_MAX = 1000000,
    NUMBER_MAX = 999999999,
    DIGITS_MAX = 9
};

static const double kept_bytes_max = 256.0 * 1024.0 * 1024.0; // of a sequence's samples

// ---- names of a sequence

// "body_%04d.obj" in parts; digits 0: %d.
typedef struct pattern
{
    size_t before; // characters in front of the %
    int digits;
    const char* after;
} pattern;

static bool pattern_parse(const char* text, pattern* out)
{
    const char* percent = strchr(text, '%');
    if (!percent)
    {
        return false;
    }
    const char* at = percent + 1;
    *out = (pattern){.before = (size_t)(percent - text)};
    if (at[0] == '0' && at[1] >= '1' && at[1] <= '0' + DIGITS_MAX)
    {
        out->digits = at[1] - '0';
        at += 2;
    }
    out->after = at + 1;
    return at[0] == 'd' && !strchr(at, '%');
}

// mem_free'd by the caller; NULL: no memory. The first `folder` characters of the path are no part of the pattern.
static char* pattern_name(const char* path, size_t folder, int number)
{
    pattern p;
    bool good = pattern_parse(path + folder, &p);
    WEFT_ASSERT(good);
    size_t size = strlen(path) + 16;
    char* name = mem_alloc(size, 1);
    if (name)
    {
        snprintf(name, size, "%.*s%0*d%s", (int)(folder + p.before), path, p.digits, number, p.after);
    }
    return name;
}

// ---- reading the scene

typedef struct deform_keys
{
    const tree_node *pc2, *sequence, *animation, *abc, *first, *last, *rate, *start, *speed, *offset, *loop;
} deform_keys;

static const field deform_fields[] = {
    {"pc2", FIELD_NODE, offsetof(deform_keys, pc2), ANY_NUMBER},
    {"obj_sequence", FIELD_NODE, offsetof(deform_keys, sequence), ANY_NUMBER},
    {"animation", FIELD_NODE, offsetof(deform_keys, animation), ANY_NUMBER},
    {"abc", FIELD_NODE, offsetof(deform_keys, abc), ANY_NUMBER},
    {"first", FIELD_NODE, offsetof(deform_keys, first), ANY_NUMBER},
    {"last", FIELD_NODE, offsetof(deform_keys, last), ANY_NUMBER},
    {"rate", FIELD_NODE, offsetof(deform_keys, rate), ANY_NUMBER},
    {"start", FIELD_NODE, offsetof(deform_keys, start), ANY_NUMBER},
    {"speed", FIELD_NODE, offsetof(deform_keys, speed), ANY_NUMBER},
    {"offset", FIELD_NODE, offsetof(deform_keys, offset), ANY_NUMBER},
    {"loop", FIELD_NODE, offsetof(deform_keys, loop), ANY_NUMBER},
};

static const field number_limits = {"", FIELD_INT, 0, 0.0, NUMBER_MAX, false};
static const field rate_limits = {"", FIELD_NUMBER, 0, POSITIVE};
static const field start_limits = {.key = ""};
static const field offset_limits = {"", FIELD_NUMBER, 0, NOT_NEGATIVE};
static const double same_pose = 1e-5; // m

static weft_status sequence_read(const scene_reader* r, const tree_node* node, const deform_keys* keys, scene_deform* d)
{
    TRY(read_string(r, keys->sequence, &d->sequence));
    pattern p;
    if (!pattern_parse(d->sequence, &p))
    {
        return read_error(r, keys->sequence,
                          "expected one number in the name, %%d or %%04d (with 1 to 9 digits), and no "
                          "other %%: \"body_%%04d.obj\"");
    }
    if (!keys->first || !keys->last)
    {
        return read_error(r, node, "a sequence needs \"first\" and \"last\", the numbers of its files");
    }
    TRY(read_int(r, keys->first, &number_limits, &d->first));
    TRY(read_int(r, keys->last, &number_limits, &d->last));
    if (d->last < d->first || d->last - d->first >= SEQUENCE_MAX)
    {
        return read_error(r, keys->last, "must be from first (%d) on, and at most %d files are allowed; it is %d",
                          d->first, SEQUENCE_MAX, d->last);
    }
    d->sample_count = d->last - d->first + 1;
    return WEFT_OK;
}

weft_status sample_file_error(const scene_reader* r, const tree_node* node, weft_status status,
                              const weft_error* reason)
{
    if (status != WEFT_NOT_FOUND)
    {
        return mesh_error(r, node, status, reason);
    }
    read_error(r, node, "%.300s: %.300s; paths are relative to the scene file", reason->file, reason->message);
    if (r->error)
    {
        r->error->status = status;
    }
    return status;
}

weft_status sample_file_check(const pc2* cache, const char* path, const char* mesh, int vertex_count, weft_error* error)
{
    if (pc2_point_count(cache) != vertex_count)
    {
        return error_set(error, WEFT_BAD_INPUT, path, 0,
                         "%d points where the mesh %s has %d vertices; export both from the same object",
                         pc2_point_count(cache), mesh, vertex_count);
    }
    if (pc2_sample_count(cache) < pc2_stated_count(cache))
    {
        return error_set(error, WEFT_BAD_INPUT, path, 0,
                         "the file is cut short: its header states %d samples, it holds %d; export it again",
                         pc2_stated_count(cache), pc2_sample_count(cache));
    }
    return pc2_sample_count(cache) > 0
               ? WEFT_OK
               : error_set(error, WEFT_BAD_INPUT, path, 0, "the file holds no sample; export it again");
}

static weft_status pc2_read_keys(const scene_reader* r, const deform_keys* keys, scene_obstacle* o)
{
    TRY(read_string(r, keys->pc2, &o->deform.pc2));
    char* path = scene_file_path(r->scene, o->deform.pc2);
    if (!path)
    {
        return read_no_memory(r);
    }
    pc2* cache = NULL;
    weft_error reason = {0};
    weft_status status = pc2_open(path, &cache, &reason);
    if (status == WEFT_OK)
    {
        status = sample_file_check(cache, path, o->obj.file, o->mesh.vertex_count, &reason);
        o->deform.sample_count = pc2_sample_count(cache);
    }
    pc2_close(cache, NULL);
    mem_free(path);
    return status == WEFT_OK ? WEFT_OK : sample_file_error(r, keys->pc2, status, &reason);
}

// true, or how many samples of a file make a period.
static weft_status loop_read(const scene_reader* r, const deform_keys* keys, scene_deform* d)
{
    static const field count_limits = {"", FIELD_INT, 0, 1.0, NUMBER_MAX, false};
    int loop = 1;
    if (keys->loop->kind == TREE_NUMBER && !keys->animation)
    {
        TRY(read_int(r, keys->loop, &count_limits, &d->loop_count));
    }
    else
    {
        TRY(read_truth(r, keys->loop, &loop));
    }
    d->loop = loop;
    return WEFT_OK;
}

weft_status deform_read_keys(const scene_reader* r, const tree_node* node, scene_obstacle* o)
{
    scene_deform* d = &o->deform;
    deform_keys keys = {0};
    o->deform_node = node;
    o->deforms = true;
    d->speed = 1.0;
    d->rate = weft_scene_frame_rate(r->scene);
    TRY(read_fields(r, node, deform_fields, FIELD_COUNT(deform_fields), &keys));
    if (!!keys.pc2 + !!keys.sequence + !!keys.animation + !!keys.abc != 1)
    {
        return read_error(r, node,
                          "expected either \"pc2\" or \"obj_sequence\" or \"animation\" or \"abc\" here, one of them");
    }
    if (!keys.sequence && (keys.first || keys.last))
    {
        return read_error_key(r, keys.first ? keys.first : keys.last,
                              "only an \"obj_sequence\" has this key; remove it");
    }
    TRY(keys.rate ? read_number(r, keys.rate, &rate_limits, &d->rate) : WEFT_OK);
    TRY(keys.start ? read_number(r, keys.start, &start_limits, &d->start) : WEFT_OK);
    TRY(keys.speed ? read_number(r, keys.speed, &rate_limits, &d->speed) : WEFT_OK);
    TRY(keys.offset ? read_number(r, keys.offset, &offset_limits, &d->offset) : WEFT_OK);
    TRY(keys.loop ? loop_read(r, &keys, d) : WEFT_OK);
    return keys.animation ? animation_read(r, keys.animation, d) : WEFT_OK;
}

// ---- loops of files

// The first and the last sample, as far as they are from each other.
static weft_status ends_compare(const weft_scene* scene, const scene_obstacle* o, double* out, weft_error* error)
{
    deform_source* source = NULL;
    int n = o->mesh.vertex_count;
    vec3* x = MEM_NEW(2 * (size_t)n, vec3);
    weft_status status =
        x ? deform_source_create(scene, o, &source, error)
          : error_set(error, WEFT_NO_MEMORY, NULL, 0, "there is no memory for the motion of obstacle `%s`", o->name);
    status = status == WEFT_OK ? deform_source_read(source, 0, x, error) : status;
    status = status == WEFT_OK ? deform_source_read(source, o->deform.sample_count - 1, x + n, error) : status;
    *out = 0.0;
    for (int v = 0; v < n && status == WEFT_OK; v++)
    {
        *out = fmax(*out, v3_length(v3_sub(x[v], x[n + v])));
    }
    deform_source_destroy(source);
    mem_free(x);
    return status;
}

// Files often end with the pose that they begin with: it would be there twice in a loop.
static weft_status loop_close(const scene_reader* r, const tree_node* node, scene_obstacle* o)
{
    double apart = 0.0;
    if (o->deform.loop_count > o->deform.sample_count)
    {
        return read_error(r, tree_member(node, "loop"), "there are %d samples; %d cannot repeat",
                          o->deform.sample_count, o->deform.loop_count);
    }
    if (o->deform.loop_count > 0)
    {
        o->deform.sample_count = o->deform.loop_count;
        return WEFT_OK;
    }
    weft_error reason = {0};
    weft_status status = ends_compare(r->scene, o, &apart, &reason);
    if (status != WEFT_OK)
    {
        return sample_file_error(r, node, status, &reason);
    }
    o->deform.sample_count -= o->deform.sample_count > 1 && apart < same_pose;
    return WEFT_OK;
}

static weft_status check_offset(const scene_reader* r, const tree_node* node, scene_deform* d)
{
    double end = (d->sample_count - 1) / d->rate;
    return d->loop || d->offset / d->speed <= end * (1.0 + 1e-9)
               ? WEFT_OK
               : read_error(r, node, "lies behind the end: the samples are of %.4g s; take less, or \"loop\": true",
                            end * d->speed);
}

weft_status deform_read(const scene_reader* r, const tree_node* node, scene_obstacle* o, gltf_body* body)
{
    scene_deform* d = &o->deform;
    deform_keys keys = {0};
    TRY(read_fields(r, node, deform_fields, FIELD_COUNT(deform_fields), &keys));
    d->error = -1.0;
    if (keys.animation && !body)
    {
        return read_error_key(r, keys.animation,
                              "only a mesh from a glTF file has animations; name \"pc2\" or "
                              "\"obj_sequence\" here");
    }
    if (keys.animation)
    {
        TRY(animation_sample(r, keys.rate, o, body));
        return check_offset(r, keys.offset, d);
    }
    if (o->obj.weld > 0.0)
    {
        return read_error(r, node,
                          "a mesh that is welded cannot deform by files; set \"weld\": 0 or weld all the files");
    }
    if (keys.abc && keys.rate)
    {
        return read_error_key(r, keys.rate,
                              "an Alembic archive has times of its own; remove this key, or take \"speed\"");
    }
    TRY(keys.pc2   ? pc2_read_keys(r, &keys, o)
        : keys.abc ? abc_deform_read(r, keys.abc, o)
                   : sequence_read(r, node, &keys, d));
    d->rate *= d->speed;
    TRY(d->loop ? loop_close(r, node, o) : WEFT_OK);
    return check_offset(r, keys.offset, d);
}

// ---- reading samples

struct deform_source
{
    int vertex_count, sample_count;
    scene_place place;
    char* path;    // of the PC2 file, or the sequence's pattern
    size_t folder; // characters of the path that the scene did not name
    pc2* cache;    // NULL: a sequence
    int first;     // number of a sequence's first file
    char* object;
    int face_count;
    int *face_start, *face_vertex; // of the mesh, which every file of a sequence must have
    float** kept;                  // [sample_count] samples of a sequence that were read, or NULL: none are kept
    gltf_body* body;               // NULL: no animation
    abc_body* abc;                 // NULL: no archive
    scene_deform deform;           // of the body's animation; its names are the scene's and not looked at
};

void deform_source_destroy(void* source)
{
    deform_source* s = source;
    if (!s)
    {
        return;
    }
    for (int k = 0; k < s->sample_count && s->kept; k++)
    {
        mem_free(s->kept[k]);
    }
    pc2_close(s->cache, NULL);
    gltf_body_destroy(s->body);
    abc_body_destroy(s->abc);
    mem_free(s->kept);
    mem_free(s->path);
    mem_free(s->object);
    mem_free(s->face_start);
    mem_free(s->face_vertex);
    mem_free(s);
}

// The faces are copied, as the source may outlive the scene.
static weft_status source_take_faces(deform_source* s, const scene_obstacle* o)
{
    const mesh* m = &o->mesh;
    size_t corners = (size_t)m->face_start[m->face_count];
    s->first = o->deform.first;
    s->face_count = m->face_count;
    s->face_start = MEM_NEW(m->face_count + 1, int);
    s->face_vertex = MEM_NEW(corners, int);
    s->object = o->obj.object ? mem_strdup(o->obj.object) : NULL;
    double bytes = 3.0 * sizeof(float) * s->vertex_count * (double)s->sample_count;
    bool keep = bytes <= kept_bytes_max;
    s->kept = keep ? MEM_NEW(s->sample_count, float*) : NULL;
    if (!s->face_start || !s->face_vertex || (o->obj.object && !s->object) || (keep && !s->kept))
    {
        return WEFT_NO_MEMORY;
    }
    memcpy(s->face_start, m->face_start, ((size_t)m->face_count + 1) * sizeof(int));
    memcpy(s->face_vertex, m->face_vertex, corners * sizeof(int));
    return WEFT_OK;
}

static weft_status changed_error(const deform_source* s, weft_error* error)
{
    return error_set(error, WEFT_BAD_INPUT, s->path, 0, "the file changed while it was read; try again");
}

static weft_status source_open(deform_source* s, const weft_scene* scene, const scene_obstacle* o, weft_error* error)
{
    s->vertex_count = o->mesh.vertex_count;
    s->sample_count = o->deform.sample_count;
    s->place = place_make(&o->transform, o->obj.scale);
    const scene_deform* d = &o->deform;
    const char* file = d->pc2 ? d->pc2 : d->sequence ? d->sequence : d->abc ? d->abc : o->obj.file;
    s->path = scene_file_path(scene, file);
    if (!s->path)
    {
        return WEFT_NO_MEMORY;
    }
    s->folder = strlen(s->path) - strlen(file);
    if (o->deform.animates)
    {
        s->deform = o->deform;
        TRY(gltf_obstacle_open(scene, o, &s->body, error));
        return s->body->vertex_count == s->vertex_count ? WEFT_OK : changed_error(s, error);
    }
    if (o->deform.abc)
    {
        s->deform = o->deform;
        return abc_deform_open(scene, o, &s->abc, error);
    }
    if (!o->deform.pc2)
    {
        return source_take_faces(s, o);
    }
    TRY(pc2_open(s->path, &s->cache, error));
    TRY(sample_file_check(s->cache, s->path, o->obj.file, s->vertex_count, error));
    return pc2_sample_count(s->cache) >= s->sample_count ? WEFT_OK : changed_error(s, error);
}

weft_status deform_source_create(const weft_scene* scene, const scene_obstacle* o, deform_source** out,
                                 weft_error* error)
{
    deform_source* s = MEM_NEW(1, deform_source);
    weft_status status = s ? source_open(s, scene, o, error) : WEFT_NO_MEMORY;
    if (status == WEFT_NO_MEMORY)
    {
        error_set(error, status, NULL, 0, "there is no memory for the motion of obstacle `%s`", o->name);
    }
    if (status != WEFT_OK)
    {
        deform_source_destroy(s);
        return status;
    }
    *out = s;
    return WEFT_OK;
}

static weft_status check_finite(const char* file, int sample, const vec3* x, int count, weft_error* error)
{
    for (int v = 0; v < count; v++)
    {
        if (!v3_is_finite(x[v]))
        {
            return error_set(error, WEFT_BAD_INPUT, file, 0,
                             "sample %d (counted from 0): vertex %d (counted from 0) is at (%g, %g, %g), which is not "
                             "finite; export the file again",
                             sample, v, x[v].x, x[v].y, x[v].z);
        }
    }
    return WEFT_OK;
}

// A file of the sequence has the vertices and faces of the mesh.
static weft_status check_same(const deform_source* s, const char* file, const mesh* m, weft_error* error)
{
    if (m->vertex_count != s->vertex_count || m->face_count != s->face_count)
    {
        return error_set(
            error, WEFT_BAD_INPUT, file, 0,
            "%d vertices and %d faces where the obstacle's mesh has %d and %d; every file of a sequence must "
            "have the same",
            m->vertex_count, m->face_count, s->vertex_count, s->face_count);
    }
    for (int face = 0; face < m->face_count; face++)
    {
        int begin = m->face_start[face], corners = m->face_start[face + 1] - begin;
        if (begin != s->face_start[face] || corners != s->face_start[face + 1] - begin ||
            memcmp(m->face_vertex + begin, s->face_vertex + begin, (size_t)corners * sizeof(int)) != 0)
        {
            return error_set(error, WEFT_BAD_INPUT, file, m->face_line ? m->face_line[face] : 0,
                             "face %d is not that of the obstacle's mesh; every file of a sequence must have the same "
                             "faces in the same order",
                             face + 1);
        }
    }
    return WEFT_OK;
}

static weft_status sequence_load(deform_source* s, int sample, vec3* out, weft_error* error)
{
    char* file = pattern_name(s->path, s->folder, s->first + sample);
    if (!file)
    {
        return error_set(error, WEFT_NO_MEMORY, s->path, 0, "there is no memory to read the sequence");
    }
    mesh m = {0};
    obj_options options = {.object = s->object};
    weft_error reason = {0};
    weft_status status = mesh_from_obj(file, &options, &m, &reason);
    if (status == WEFT_NOT_FOUND && strncmp(reason.message, "cannot be opened", 16) == 0)
    {
        error_set(
            &reason, status, file, 0,
            "this file of the sequence is missing: its numbers run from %d to %d; add it, or correct \"first\" and "
            "\"last\"",
            s->first, s->first + s->sample_count - 1);
    }
    if (status != WEFT_OK && error)
    {
        *error = reason;
    }
    status = status == WEFT_OK ? check_same(s, file, &m, error) : status;
    if (status == WEFT_OK)
    {
        memcpy(out, m.position, (size_t)s->vertex_count * sizeof(vec3));
    }
    mesh_finish(&m);
    mem_free(file);
    return status;
}

static void sequence_keep(deform_source* s, int sample, const vec3* x)
{
    float* kept = s->kept ? mem_raw(3 * (size_t)s->vertex_count, sizeof(float)) : NULL;
    for (int v = 0; v < s->vertex_count && kept; v++)
    {
        kept[3 * v] = (float)x[v].x;
        kept[3 * v + 1] = (float)x[v].y;
        kept[3 * v + 2] = (float)x[v].z;
    }
    if (kept)
    {
        s->kept[sample] = kept; // without memory it is read again
    }
}

weft_status deform_source_read(void* source, int sample, weft_vec3* out, weft_error* error)
{
    deform_source* s = source;
    if (s->kept && s->kept[sample])
    {
        const float* x = s->kept[sample];
        for (int v = 0; v < s->vertex_count; v++, x += 3)
        {
            out[v] = v3(x[0], x[1], x[2]);
        }
        return WEFT_OK;
    }
    if (s->abc)
    {
        TRY(abc_body_pose(s->abc, sample * s->deform.clip_step, out, error));
    }
    else if (s->body)
    {
        animation_pose(s->body, &s->deform, sample, out);
    }
    else
    {
        TRY(s->cache ? pc2_read(s->cache, sample, out, error) : sequence_load(s, sample, out, error));
    }
    TRY(check_finite(s->path, sample, out, s->vertex_count, error));
    mesh view = {.vertex_count = s->vertex_count, .position = out};
    place_mesh(&s->place, &view);
    mesh_round(&view);
    if (!s->cache && !s->body && !s->abc)
    {
        sequence_keep(s, sample, out);
    }
    return WEFT_OK;
}
