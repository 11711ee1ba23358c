// Meshes of Alembic archives, sample by sample: faces and uv of each topology, then positions, bounds, normals,
// velocities and fields of every frame. Samples before the first change and behind the last are not repeated.
#include <string.h>

#include "export/abc.h"

// ---- samples

static void flush(abc* a)
{
    ogawa_sample_add(&a->tree.archive, a->piece, 4 * (size_t)a->used);
    a->used = 0;
}

// Where the next few numbers go.
static inline unsigned char* room(abc* a, int count)
{
    if (a->used + count > ABC_PIECE)
    {
        flush(a);
    }
    unsigned char* out = a->piece + 4 * (size_t)a->used;
    a->used += count;
    return out;
}

static inline void pack_float(unsigned char* out, double value)
{
    float narrow = (float)value;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof(bits));
    ogawa_put32(out, bits);
}

static ogawa_child end_sample(abc* a, ogawa_key* key)
{
    flush(a);
    return ogawa_sample_end(&a->tree.archive, key);
}

// A sample that is small and whole.
void abc_store_value(abc* a, property* p, const unsigned char* value, size_t size)
{
    ogawa_key key;
    property_count(p, 1);
    ogawa_child sample = ogawa_sample(&a->tree.archive, value, size, &key);
    property_store(p, sample, key);
}

typedef struct frame
{
    abc* a;
    vec3 low, high;
} frame;

static void put_piece(void* context, const vec3* x, int begin, int count)
{
    frame* f = context;
    vec3 low = begin == 0 ? x[0] : f->low, high = begin == 0 ? x[0] : f->high;
    for (int v = 0; v < count; v++)
    {
        unsigned char* out = room(f->a, 3);
        pack_float(out, x[v].x);
        pack_float(out + 4, x[v].y);
        pack_float(out + 8, x[v].z);
        low = export_lower(low, x[v]);
        high = export_upper(high, x[v]);
    }
    f->low = low;
    f->high = high;
}

void abc_store_bounds(abc* a, property* p, vec3 low, vec3 high)
{
    const double box[6] = {low.x, low.y, low.z, high.x, high.y, high.z};
    unsigned char value[sizeof(box)];
    for (int k = 0; k < 6; k++)
    {
        uint64_t bits;
        memcpy(&bits, &box[k], sizeof(bits));
        ogawa_put64(value + 8 * k, bits);
    }
    abc_store_value(a, p, value, sizeof(value));
}
void abc_store_float(abc* a, property* p, double value)
{
    unsigned char bytes[4];
    pack_float(bytes, value);
    abc_store_value(a, p, bytes, sizeof(bytes));
}

// ---- topology

// What the faces of the current topology are, as stored.
typedef struct faces
{
    ogawa_child sample[TOPOLOGY_COUNT];
    ogawa_key key[TOPOLOGY_COUNT];
} faces;

// A value of each corner, every face backwards. Faces are small, so that room is looked for once for each.
static void pack_corners(abc* a, const weft_cache_body* body, const int* values, int missing)
{
    for (int face = 0; face < body->face_count; face++)
    {
        int begin = body->face_start[face], end = body->face_start[face + 1];
        while (end > begin)
        {
            int size = int_min(end - begin, ABC_PIECE);
            unsigned char* out = room(a, size);
            for (int k = end - 1; k >= end - size; k--, out += 4)
            {
                int value = values ? values[k] : missing;
                ogawa_put32(out, (uint32_t)(value >= 0 ? value : missing));
            }
            end -= size;
        }
    }
}

static void pack_counts(abc* a, const weft_cache_body* body)
{
    for (int face = 0; face < body->face_count; face++)
    {
        ogawa_put32(room(a, 1), (uint32_t)(body->face_start[face + 1] - body->face_start[face]));
    }
}

// The last one, 0 0, is for corners that have none.
static void pack_texcoords(abc* a, const weft_cache_body* body)
{
    for (int t = 0; t <= body->texcoord_count; t++)
    {
        unsigned char* out = room(a, 2);
        pack_float(out, t < body->texcoord_count ? body->texcoords[2 * (size_t)t] : 0.0);
        pack_float(out + 4, t < body->texcoord_count ? body->texcoords[2 * (size_t)t + 1] : 0.0);
    }
}

static void begin_sample(abc* a, property* p, int64_t items)
{
    property_count(p, items);
    ogawa_sample_begin(&a->tree.archive, 4 * (uint64_t)p->extent * (uint64_t)items);
}

static void put_faces(abc* a, property p[TOPOLOGY_COUNT], const weft_cache_body* body, bool uv, faces* f)
{
    int corners = body->face_start[body->face_count];
    if (!body->lines)
    {
        begin_sample(a, &p[FACE_INDICES], corners);
        pack_corners(a, body, body->face_vertices, 0);
        f->sample[FACE_INDICES] = end_sample(a, &f->key[FACE_INDICES]);
    }
    begin_sample(a, &p[FACE_COUNTS], body->face_count);
    pack_counts(a, body);
    f->sample[FACE_COUNTS] = end_sample(a, &f->key[FACE_COUNTS]);
    if (uv)
    {
        begin_sample(a, &p[UV_VALUES], body->texcoord_count + 1);
        pack_texcoords(a, body);
        f->sample[UV_VALUES] = end_sample(a, &f->key[UV_VALUES]);
        begin_sample(a, &p[UV_INDICES], corners);
        pack_corners(a, body, body->face_texcoords, body->texcoord_count);
        f->sample[UV_INDICES] = end_sample(a, &f->key[UV_INDICES]);
    }
}

static bool has_texcoords(const export_job* job, int body)
{
    for (int k = 0; k < job->frame_count; k++)
    {
        if (export_changes_at(job, body, k) && export_topology(job, body, k)->face_texcoords)
        {
            return true;
        }
    }
    return false;
}

// ---- a mesh

property abc_property(const char* name, property_kind kind, pod pod, int extent, int meta, int samples)
{
    return (property){.name = name,
                      .kind = kind,
                      .pod = pod,
                      .extent = extent,
                      .meta = meta,
                      .sampling = kind == COMPOUND ? 0 : ABC_SAMPLING,
                      .sample_count = samples,
                      .items = -1};
}

// A property that says the same at all times.
property abc_constant(const char* name, property_kind kind, pod pod, int meta)
{
    property p = abc_property(name, kind, pod, 1, meta, kind == COMPOUND ? 0 : 1);
    p.sampling = 0;
    return p;
}
weft_status abc_mesh_start(abc_mesh* m, export_job* job, int body, weft_error* error)
{
    TRY(export_rigid(job, body, &m->pose, error));
    bool once = export_is_still(job, body) || m->pose;
    int samples = once ? 1 : job->frame_count;
    m->rich = !job->def->plain;
    m->box = MEM_NEW(2 * (size_t)job->frame_count, vec3);
    m->field_count = export_last_topology(job, body)->lines ? 0 : export_field_count(job, body);
    m->fields = MEM_NEW(int_max(m->field_count, 1), property);
    if (!m->box || !m->fields)
    {
        m->field_count = 0;
        return error_set(error, WEFT_NO_MEMORY, NULL, 0, "no memory for %d frames", job->frame_count);
    }
    for (int k = 0; k < m->field_count; k++)
    {
        m->fields[k] = abc_property(export_field_name(job, body, k), ARRAY, POD_FLOAT, 1, META_FLOAT_VERTEX, samples);
        m->fields[k].first = samples > 1 ? 1 : 0;
        m->fields[k].last = samples - 1;
    }
    m->normals = abc_property("N", ARRAY, POD_FLOAT, 3, META_NORMAL, samples);
    m->velocities = abc_property(".velocities", ARRAY, POD_FLOAT, 3, META_VELOCITY, samples);
    m->normals.first = m->velocities.first = samples > 1 ? 1 : 0;
    m->normals.last = m->velocities.last = samples - 1;
    m->lines = export_last_topology(job, body)->lines;
    m->has_uv = !m->lines && has_texcoords(job, body);
    m->basis = abc_property("curveBasisAndType", SCALAR, POD_UINT8, 4, META_NONE, samples);
    m->width = abc_property("width", ARRAY, POD_FLOAT, 1, META_WIDTH, samples);
    m->bounds = abc_property(".selfBnds", SCALAR, POD_DOUBLE, 6, META_BOX, samples);
    m->positions = abc_property("P", ARRAY, POD_FLOAT, 3, META_POINT, samples);
    m->bounds.first = m->positions.first = samples > 1 ? 1 : 0;
    m->bounds.last = m->positions.last = samples - 1;
    m->topology[FACE_INDICES] = abc_property(".faceIndices", ARRAY, POD_INT32, 1, META_NONE, samples);
    const char* counts = m->lines ? "nVertices" : ".faceCounts";
    m->topology[FACE_COUNTS] = abc_property(counts, ARRAY, POD_INT32, 1, META_NONE, samples);
    m->topology[UV_VALUES] = abc_property(".vals", ARRAY, POD_FLOAT, 2, META_UV, samples);
    m->topology[UV_INDICES] = abc_property(".indices", ARRAY, POD_UINT32, 1, META_NONE, samples);
    m->uv = abc_property("uv", COMPOUND, POD_BOOL, 0, META_UV, 0);
    for (int k = 1; k < samples; k++)
    {
        for (int p = 0; p < TOPOLOGY_COUNT && export_changes_at(job, body, k); p++)
        {
            m->topology[p].first = m->topology[p].first ? m->topology[p].first : k;
            m->topology[p].last = k;
        }
    }
    return WEFT_OK;
}

void abc_mesh_finish(abc_mesh* m)
{
    ogawa_list_finish(&m->bounds.stored);
    ogawa_list_finish(&m->positions.stored);
    ogawa_list_finish(&m->uv.stored);
    ogawa_list_finish(&m->basis.stored);
    ogawa_list_finish(&m->width.stored);
    ogawa_list_finish(&m->normals.stored);
    ogawa_list_finish(&m->velocities.stored);
    for (int k = 0; k < m->field_count; k++)
    {
        ogawa_list_finish(&m->fields[k].stored);
    }
    mem_free(m->fields);
    mem_free(m->pose);
    mem_free(m->box);
    for (int p = 0; p < TOPOLOGY_COUNT; p++)
    {
        ogawa_list_finish(&m->topology[p].stored);
    }
}

// Stored are the first sample and those from the first change to the last, also where they repeat.
static void store_faces(abc_mesh* m, const faces* f, int k)
{
    for (int p = m->lines ? FACE_COUNTS : 0; p < (m->has_uv ? TOPOLOGY_COUNT : UV_VALUES); p++)
    {
        property* one = &m->topology[p];
        if (k == 0 || (one->first > 0 && k >= one->first && k <= one->last))
        {
            property_store(one, f->sample[p], f->key[p]);
        }
    }
}

void abc_store_vectors(abc* a, property* p, const vec3* x, int count)
{
    ogawa_key key;
    frame unused = {.a = a};
    begin_sample(a, p, count);
    put_piece(&unused, x, 0, count);
    ogawa_child sample = end_sample(a, &key);
    property_store(p, sample, key);
}

// The vectors of vertices, or of lines point by point.
static void store_of_points(abc* a, property* p, const weft_cache_body* shape, const vec3* x)
{
    if (!shape->lines)
    {
        abc_store_vectors(a, p, x, shape->vertex_count);
        return;
    }
    ogawa_key key;
    frame unused = {.a = a};
    begin_sample(a, p, shape->face_start[shape->face_count]);
    for (int corner = 0; corner < shape->face_start[shape->face_count]; corner++)
    {
        put_piece(&unused, &x[shape->face_vertices[corner]], corner, 1);
    }
    ogawa_child sample = end_sample(a, &key);
    property_store(p, sample, key);
}

// Normals, velocities, fields; the job's positions are those of the frame.
static weft_status put_rich(abc* a, abc_mesh* m, int body, int k, weft_error* error)
{
    export_job* job = a->job;
    const weft_cache_body* shape = export_topology(job, body, k);
    double* values = &a->more->x;
    if (!m->lines)
    {
        export_normals(job, shape, job->positions, a->more);
        abc_store_vectors(a, &m->normals, a->more, shape->vertex_count);
    }
    for (int field = 0; field < m->field_count; field++)
    {
        ogawa_key key;
        TRY(export_field(job, body, k, field, job->positions, values, error));
        begin_sample(a, &m->fields[field], shape->vertex_count);
        for (int v = 0; v < shape->vertex_count; v++)
        {
            pack_float(room(a, 1), values[v]);
        }
        ogawa_child sample = end_sample(a, &key);
        property_store(&m->fields[field], sample, key);
    }
    if (m->positions.sample_count > 1)
    {
        TRY(export_velocities(job, body, k, a->more, error));
        store_of_points(a, &m->velocities, shape, a->more);
    }
    return WEFT_OK;
}

static void box_of(const vec3* x, int count, vec3 box[2])
{
    box[0] = box[1] = count > 0 ? x[0] : v3(0, 0, 0);
    for (int v = 1; v < count; v++)
    {
        box[0] = export_lower(box[0], x[v]);
        box[1] = export_upper(box[1], x[v]);
    }
}

// Where the body is in every frame, also one that stands still or is moved by its Xform.
static weft_status put_boxes(abc* a, abc_mesh* m, int body, weft_error* error)
{
    export_job* job = a->job;
    for (int k = 0; k < job->frame_count; k++)
    {
        if (m->positions.sample_count == 1 && !m->pose)
        {
            memcpy(m->box + 2 * k, m->box, 2 * sizeof(vec3));
        }
        else if (m->pose)
        {
            TRY(export_positions(job, body, k, job->positions, error));
            box_of(job->positions, export_topology(job, body, k)->vertex_count, m->box + 2 * k);
        }
        bool first = body == 0;
        a->bounds[2 * k] = first ? m->box[2 * k] : export_lower(a->bounds[2 * k], m->box[2 * k]);
        a->bounds[2 * k + 1] = first ? m->box[2 * k + 1] : export_upper(a->bounds[2 * k + 1], m->box[2 * k + 1]);
    }
    return WEFT_OK;
}

static weft_status put_frame(abc* a, abc_mesh* m, int body, int k, weft_error* error)
{
    export_job* job = a->job;
    const weft_cache_body* shape = export_topology(job, body, k);
    TRY(m->pose ? WEFT_OK : export_positions(job, body, k, job->positions, error));
    for (int v = 0; v < shape->vertex_count && m->pose; v++)
    {
        job->positions[v] = export_place(job, shape->rest[v]);
    }
    vec3* box = m->box + 2 * k;
    box_of(job->positions, shape->vertex_count, box);
    store_of_points(a, &m->positions, shape, job->positions);
    abc_store_bounds(a, &m->bounds, box[0], box[1]);
    return m->rich ? put_rich(a, m, body, k, error) : WEFT_OK;
}

weft_status abc_mesh_put_frames(abc* a, abc_mesh* m, int body, weft_error* error)
{
    export_job* job = a->job;
    faces f = {0};
    for (int k = 0; k < m->positions.sample_count; k++)
    {
        if (export_changes_at(job, body, k))
        {
            put_faces(a, m->topology, export_topology(job, body, k), m->has_uv, &f);
        }
        store_faces(m, &f, k);
        TRY(put_frame(a, m, body, k, error));
        export_progress(job, body * job->frame_count + k + 1, job->body_count * job->frame_count);
    }
    return put_boxes(a, m, body, error);
}

void abc_store_ints(abc* a, property* p, const int* values, int count, int missing)
{
    ogawa_key key;
    begin_sample(a, p, count);
    for (int k = 0; k < count; k++)
    {
        ogawa_put32(room(a, 1), (uint32_t)(values[k] >= 0 ? values[k] : missing));
    }
    ogawa_child sample = end_sample(a, &key);
    property_store(p, sample, key);
}
