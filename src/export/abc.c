// Alembic in an Ogawa container: for each body an Xform of its name, which moves nothing, and in it the PolyMesh
// NAMEShape with P and bounds at every frame, faces as given, and vt as uv by corner. Alembic's faces run clockwise:
// every face is turned round. Where the topology changes, faces and uv are sampled too: a heterogeneous mesh. Bodies of
// lines are linear Curves, points curve by curve, as wide as the strands are thick. Materials are FaceSets of the mesh,
// objects and groups strings of the faces. Normals, velocities and fields of vertices are sampled as P is; an obstacle
// that does not change its shape has one P, and its Xform a matrix at every frame.
//
// An archive is a group of six: int32 version of the layout, 0; int32 version of the library; the top object; its
// metadata; the time samplings; the table of metadata. An object is a group: its properties, its children, and the
// headers of the children with 32 bytes of keys. Properties are a group: one for each and their headers. A property is
// a group of its samples; an array has the dimensions after each, which are empty where the size says them. Samples
// before the first change and behind the last are not repeated.
//
// The date is left out, so that the same run gives the same bytes.
#include <string.h>

#include "export/abc_tree.h"
#include "export/export.h"

enum
{
    LAYOUT_VERSION = 0,
    LIBRARY_VERSION = 10800, // 1.8.0: whose layout this is
    SAMPLING = 1,            // the time sampling of all meshes; 0 is the default one
    PIECE = 1 << 14          // numbers that are written at once
};

typedef struct abc
{
    export_job* job;
    abc_tree tree;
    vec3* more;                     // [vertices of the largest body] normals, velocities, fields
    vec3* bounds;                   // [2 * frame_count] of all bodies, smallest and largest
    int used;                       // numbers in the piece
    unsigned char piece[4 * PIECE]; // of the sample that is being written
} abc;

// ---- samples

static void flush(abc* a)
{
    ogawa_sample_add(&a->tree.archive, a->piece, 4 * (size_t)a->used);
    a->used = 0;
}

// Where the next few numbers go.
static inline unsigned char* room(abc* a, int count)
{
    if (a->used + count > PIECE)
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
static void store_value(abc* a, property* p, const unsigned char* value, size_t size)
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

static void store_bounds(abc* a, property* p, vec3 low, vec3 high)
{
    const double box[6] = {low.x, low.y, low.z, high.x, high.y, high.z};
    unsigned char value[sizeof(box)];
    for (int k = 0; k < 6; k++)
    {
        uint64_t bits;
        memcpy(&bits, &box[k], sizeof(bits));
        ogawa_put64(value + 8 * k, bits);
    }
    store_value(a, p, value, sizeof(value));
}

// ---- topology

enum
{
    FACE_INDICES,
    FACE_COUNTS,
    UV_VALUES,
    UV_INDICES,
    TOPOLOGY_COUNT
};

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
            int size = int_min(end - begin, PIECE);
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

typedef struct mesh_properties
{
    property bounds, positions, uv;
    property topology[TOPOLOGY_COUNT];
    property basis, width; // of lines
    property normals, velocities;
    property* fields; // [field_count]
    int field_count;
    export_pose* pose; // [frame_count] of one that does not change its shape, else NULL
    vec3* box;         // [2 * frame_count] of its places
    bool has_uv, lines, rich;
} mesh_properties;

static property property_make(const char* name, property_kind kind, pod pod, int extent, int meta, int samples)
{
    return (property){.name = name,
                      .kind = kind,
                      .pod = pod,
                      .extent = extent,
                      .meta = meta,
                      .sampling = kind == COMPOUND ? 0 : SAMPLING,
                      .sample_count = samples,
                      .items = -1};
}

static weft_status mesh_start(mesh_properties* m, export_job* job, int body, weft_error* error)
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
        m->fields[k] =
            property_make(export_field_name(job, body, k), ARRAY, POD_FLOAT, 1, META_FLOAT_VERTEX, samples);
        m->fields[k].first = samples > 1 ? 1 : 0;
        m->fields[k].last = samples - 1;
    }
    m->normals = property_make("N", ARRAY, POD_FLOAT, 3, META_NORMAL, samples);
    m->velocities = property_make(".velocities", ARRAY, POD_FLOAT, 3, META_VELOCITY, samples);
    m->normals.first = m->velocities.first = samples > 1 ? 1 : 0;
    m->normals.last = m->velocities.last = samples - 1;
    m->lines = export_last_topology(job, body)->lines;
    m->has_uv = !m->lines && has_texcoords(job, body);
    m->basis = property_make("curveBasisAndType", SCALAR, POD_UINT8, 4, META_NONE, samples);
    m->width = property_make("width", ARRAY, POD_FLOAT, 1, META_WIDTH, samples);
    m->bounds = property_make(".selfBnds", SCALAR, POD_DOUBLE, 6, META_BOX, samples);
    m->positions = property_make("P", ARRAY, POD_FLOAT, 3, META_POINT, samples);
    m->bounds.first = m->positions.first = samples > 1 ? 1 : 0;
    m->bounds.last = m->positions.last = samples - 1;
    m->topology[FACE_INDICES] = property_make(".faceIndices", ARRAY, POD_INT32, 1, META_NONE, samples);
    const char* counts = m->lines ? "nVertices" : ".faceCounts";
    m->topology[FACE_COUNTS] = property_make(counts, ARRAY, POD_INT32, 1, META_NONE, samples);
    m->topology[UV_VALUES] = property_make(".vals", ARRAY, POD_FLOAT, 2, META_UV, samples);
    m->topology[UV_INDICES] = property_make(".indices", ARRAY, POD_UINT32, 1, META_NONE, samples);
    m->uv = property_make("uv", COMPOUND, POD_BOOL, 0, META_UV, 0);
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

static void mesh_finish_properties(mesh_properties* m)
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
static void store_faces(mesh_properties* m, const faces* f, int k)
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

static void store_vectors(abc* a, property* p, const vec3* x, int count)
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
        store_vectors(a, p, x, shape->vertex_count);
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
static weft_status put_rich(abc* a, mesh_properties* m, int body, int k, weft_error* error)
{
    export_job* job = a->job;
    const weft_cache_body* shape = export_topology(job, body, k);
    double* values = &a->more->x;
    if (!m->lines)
    {
        export_normals(job, shape, job->positions, a->more);
        store_vectors(a, &m->normals, a->more, shape->vertex_count);
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
static weft_status put_boxes(abc* a, mesh_properties* m, int body, weft_error* error)
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

static weft_status put_frame(abc* a, mesh_properties* m, int body, int k, weft_error* error)
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
    store_bounds(a, &m->bounds, box[0], box[1]);
    return m->rich ? put_rich(a, m, body, k, error) : WEFT_OK;
}

static weft_status put_frames(abc* a, mesh_properties* m, int body, weft_error* error)
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

// Linear, with ends, of no basis, which stands there twice; one width for all.
static void put_curves_object(abc* a, mesh_properties* m, object* o, double width)
{
    property* members[6] = {&m->bounds, &m->positions, &m->topology[FACE_COUNTS], &m->basis, &m->width, &m->velocities};
    property geometry = property_make(".geom", COMPOUND, POD_BOOL, 0, META_CURVES, 0);
    const unsigned char linear[4] = {1, 0, 0, 0};
    unsigned char wide[4];
    pack_float(wide, width);
    store_value(a, &m->basis, linear, sizeof(linear));
    store_value(a, &m->width, wide, sizeof(wide));
    tree_put_members(&a->tree, &geometry, members, m->rich && m->positions.sample_count > 1 ? 6 : 5);
    tree_set_schema(&a->tree, o, &geometry);
    ogawa_list_finish(&geometry.stored);
}

// ---- names of faces

// A property that says the same at all times.
static property constant_make(const char* name, property_kind kind, pod pod, int meta)
{
    property p = property_make(name, kind, pod, 1, meta, kind == COMPOUND ? 0 : 1);
    p.sampling = 0;
    return p;
}

static void store_ints(abc* a, property* p, const int* values, int count, int missing)
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

// Each with its zero; the last one, empty, is for faces that have none.
static void store_names(abc* a, property* p, const weft_names* names)
{
    static const unsigned char zero = 0;
    ogawa_key key;
    bytes text = {0};
    for (int k = 0; k < names->count; k++)
    {
        bytes_add_text(&text, names->names[k]);
        bytes_add(&text, &zero, 1);
    }
    bytes_add(&text, &zero, 1);
    a->tree.failed = a->tree.failed || text.failed;
    property_count(p, names->count + 1);
    ogawa_child sample = ogawa_sample(&a->tree.archive, text.data, (size_t)text.count, &key);
    unsigned char dimensions[4];
    ogawa_put32(dimensions, (uint32_t)names->count + 1);
    property_store_sized(p, sample, ogawa_data(&a->tree.archive, dimensions, 4), key);
    mem_free(text.data);
}

// A string of each face: names, and the number of each face's.
static void put_face_strings(abc* a, property* compound, const weft_names* names, int face_count)
{
    property values = constant_make(".vals", ARRAY, POD_STRING, META_STRING_UNIFORM);
    property indices = constant_make(".indices", ARRAY, POD_UINT32, META_NONE);
    property* members[2] = {&values, &indices};
    store_names(a, &values, names);
    store_ints(a, &indices, names->faces, face_count, names->count);
    tree_put_members(&a->tree, compound, members, 2);
    ogawa_list_finish(&values.stored);
    ogawa_list_finish(&indices.stored);
}

// One colour for all, as pictures have it.
static void store_color(abc* a, property* p, int body)
{
    float c[3];
    export_color(a->job, body, c);
    vec3 color = v3((double)c[0], (double)c[1], (double)c[2]);
    *p = constant_make("Cd", ARRAY, POD_FLOAT, META_COLOR);
    p->extent = 3;
    store_vectors(a, p, &color, 1);
}

// Colour, fields, and with names objects and groups.
static weft_status put_parameters(abc* a, property* all, mesh_properties* m, int body, const weft_cache_body* names,
                                  weft_error* error)
{
    property own[3];
    property** members = MEM_NEW((size_t)m->field_count + 3, property*);
    int count = 1;
    if (!members)
    {
        return error_set(error, WEFT_NO_MEMORY, NULL, 0, "no memory for fields");
    }
    store_color(a, &own[0], body);
    members[0] = &own[0];
    for (int layer = LAYER_OBJECT; layer <= LAYER_GROUP && names; layer++)
    {
        if (export_layer(names, layer)->faces)
        {
            own[count] = constant_make(export_layer_word[layer], COMPOUND, POD_BOOL, META_STRING_UNIFORM);
            put_face_strings(a, &own[count], export_layer(names, layer), names->face_count);
            members[count] = &own[count];
            count++;
        }
    }
    for (int k = 0; k < m->field_count; k++)
    {
        members[count + k] = &m->fields[k];
    }
    tree_put_members(&a->tree, all, members, count + m->field_count);
    for (int k = 0; k < count; k++)
    {
        ogawa_list_finish(&own[k].stored);
    }
    mem_free(members);
    return WEFT_OK;
}

static void put_face_set(abc* a, object* mesh, const char* name, const int* face, int count)
{
    object set = {.name = name, .ending = "", .meta = META_FACE_SET_OBJECT};
    property faces = constant_make(".faces", ARRAY, POD_INT32, META_NONE);
    property exclusive = constant_make(".facesExclusive", SCALAR, POD_UINT32, META_NONE);
    property* members[2] = {&faces, &exclusive};
    property schema = constant_make(".faceset", COMPOUND, POD_BOOL, META_FACE_SET);
    unsigned char yes[4];
    ogawa_put32(yes, 1); // no face is in two
    store_ints(a, &faces, face, count, 0);
    store_value(a, &exclusive, yes, sizeof(yes));
    tree_put_members(&a->tree, &schema, members, 2);
    tree_set_schema(&a->tree, &set, &schema);
    object_add(mesh, &set, tree_put_object(&a->tree, &set));
    ogawa_list_finish(&faces.stored);
    ogawa_list_finish(&exclusive.stored);
    ogawa_list_finish(&schema.stored);
    object_finish(&set);
}

// Of materials. Faces keep their numbers where cloth tears.
static weft_status put_face_sets(abc* a, object* mesh, const weft_cache_body* body, weft_error* error)
{
    export_faces faces;
    TRY(export_faces_make(&body->materials, body->face_count, &faces, error));
    for (int k = 0; k < body->materials.count && faces.face; k++)
    {
        int count = faces.start[k + 1] - faces.start[k];
        if (count > 0)
        {
            put_face_set(a, mesh, body->materials.names[k], faces.face + faces.start[k], count);
        }
    }
    export_faces_finish(&faces);
    return WEFT_OK;
}

static weft_status put_mesh_object(abc* a, mesh_properties* m, object* o, int body, const weft_cache_body* names,
                                   weft_error* error)
{
    property parameters = constant_make(".arbGeomParams", COMPOUND, POD_BOOL, META_NONE);
    property* members[8] = {&m->bounds, &m->positions, &m->topology[FACE_INDICES], &m->topology[FACE_COUNTS]};
    property* uv[2] = {&m->topology[UV_VALUES], &m->topology[UV_INDICES]};
    property geometry = property_make(".geom", COMPOUND, POD_BOOL, 0, META_MESH, 0);
    int count = 4;
    if (m->has_uv)
    {
        tree_put_members(&a->tree, &m->uv, uv, 2);
        members[count++] = &m->uv;
    }
    if (m->rich)
    {
        members[count++] = &m->normals;
    }
    if (m->rich && m->positions.sample_count > 1)
    {
        members[count++] = &m->velocities;
    }
    weft_status status = put_parameters(a, &parameters, m, body, names, error);
    members[count++] = &parameters;
    tree_put_members(&a->tree, &geometry, members, count);
    tree_set_schema(&a->tree, o, &geometry);
    ogawa_list_finish(&geometry.stored);
    ogawa_list_finish(&parameters.stored);
    return status;
}

// Bounds in every frame.
static property put_child_bounds(abc* a, const vec3* box, int samples)
{
    property bounds = property_make(".childBnds", SCALAR, POD_DOUBLE, 6, META_BOX, samples);
    bounds.first = samples > 1 ? 1 : 0;
    bounds.last = samples - 1;
    for (int k = 0; k < samples; k++)
    {
        store_bounds(a, &bounds, box[2 * k], box[2 * k + 1]);
    }
    return bounds;
}

// Row vectors: the last row is the translation.
static void store_matrix(abc* a, property* p, const export_pose* pose)
{
    export_pose turn = *pose;
    turn.t = v3(0, 0, 0);
    const vec3 rows[4] = {export_pose_apply(&turn, v3(1, 0, 0)), export_pose_apply(&turn, v3(0, 1, 0)),
                          export_pose_apply(&turn, v3(0, 0, 1)), pose->t};
    unsigned char value[16 * 8];
    for (int k = 0; k < 16; k++)
    {
        const double row[4] = {rows[k / 4].x, rows[k / 4].y, rows[k / 4].z, k / 4 == 3 ? 1.0 : 0.0};
        uint64_t bits;
        memcpy(&bits, &row[k % 4], sizeof(bits));
        ogawa_put64(value + 8 * k, bits);
    }
    store_value(a, p, value, sizeof(value));
}

// Without operations, or one: a matrix. It moves with what is above it.
static void put_xform_schema(abc* a, object* o, const mesh_properties* m)
{
    static const unsigned char yes = 1, matrix = 3 << 4;
    int samples = m->pose ? a->job->frame_count : 1;
    bool still = m->positions.sample_count == 1 && !m->pose;
    property bounds = put_child_bounds(a, m->box, still ? 1 : a->job->frame_count);
    property inherits = property_make(".inherits", SCALAR, POD_BOOL, 1, META_NONE, samples);
    property operations = property_make(".ops", SCALAR, POD_UINT8, 1, META_NONE, samples);
    property values = property_make(".vals", SCALAR, POD_DOUBLE, 16, META_NONE, samples);
    property moves = constant_make("isNotConstantIdentity", SCALAR, POD_BOOL, META_NONE);
    property channels = constant_make(".animChans", ARRAY, POD_UINT32, META_NONE);
    property* members[6] = {&bounds, &inherits, &operations, &values, &moves, &channels};
    property xform = property_make(".xform", COMPOUND, POD_BOOL, 0, META_XFORM, 0);
    inherits.sampling = m->pose ? SAMPLING : 0;
    values.first = samples > 1 ? 1 : 0;
    values.last = samples - 1;
    store_value(a, &inherits, &yes, 1);
    if (m->pose)
    {
        int all[16];
        for (int k = 0; k < 16; k++)
        {
            all[k] = k;
        }
        store_value(a, &operations, &matrix, 1);
        store_value(a, &moves, &yes, 1);
        store_ints(a, &channels, all, 16, 0);
        for (int k = 0; k < samples; k++)
        {
            store_matrix(a, &values, &m->pose[k]);
        }
    }
    tree_put_members(&a->tree, &xform, members, m->pose ? 6 : 2);
    tree_set_schema(&a->tree, o, &xform);
    for (int k = 0; k < 6; k++)
    {
        ogawa_list_finish(&members[k]->stored);
    }
    ogawa_list_finish(&xform.stored);
}

static weft_status put_body(abc* a, object* top, int body, weft_error* error)
{
    const char* name = export_body_name(a->job, body);
    object xform = {.name = name, .ending = "", .meta = META_XFORM_OBJECT};
    mesh_properties m = {0};
    weft_status status = mesh_start(&m, a->job, body, error);
    object shape = {.name = name, .ending = "Shape", .meta = m.lines ? META_CURVES_OBJECT : META_MESH_OBJECT};
    const weft_cache_body* names = export_names_for_all(a->job, body);
    status = status == WEFT_OK ? put_frames(a, &m, body, error) : status;
    if (status == WEFT_OK)
    {
        double width = a->job->def->scale * export_last_topology(a->job, body)->thickness;
        m.lines ? put_curves_object(a, &m, &shape, width) : (void)0;
        status = m.lines ? WEFT_OK : put_mesh_object(a, &m, &shape, body, names, error);
        status = status == WEFT_OK && !m.lines && names ? put_face_sets(a, &shape, names, error) : status;
        put_xform_schema(a, &xform, &m);
        object_add(&xform, &shape, tree_put_object(&a->tree, &shape));
        object_add(top, &xform, tree_put_object(&a->tree, &xform));
    }
    mesh_finish_properties(&m);
    object_finish(&shape);
    object_finish(&xform);
    return status;
}

// ---- the archive

static ogawa_child put_metadata(abc* a)
{
    char rate[64];
    print_text(rate, sizeof(rate), "%.9g", export_code_rate(a->job));
    bytes_add_text(&a->tree.header, "FramesPerTimeUnit=");
    bytes_add_text(&a->tree.header, rate);
    bytes_add_text(&a->tree.header, ";_ai_AlembicVersion=Alembic 1.8.0 (Weft's own writer);_ai_Application=Weft ");
    bytes_add_text(&a->tree.header, weft_version());
    return tree_put_bytes(&a->tree, &a->tree.header);
}

// The most samples, seconds a cycle, samples a cycle, and the time of each.
static ogawa_child put_samplings(abc* a)
{
    bytes_add_number(&a->tree.header, 1, 4);
    bytes_add_double(&a->tree.header, 1.0);
    bytes_add_number(&a->tree.header, 1, 4);
    bytes_add_double(&a->tree.header, 0.0);
    bytes_add_number(&a->tree.header, (uint32_t)a->job->frame_count, 4);
    bytes_add_double(&a->tree.header, 1.0 / a->job->frame_rate);
    bytes_add_number(&a->tree.header, 1, 4);
    bytes_add_double(&a->tree.header, export_time(a->job, 0));
    return tree_put_bytes(&a->tree, &a->tree.header);
}

static ogawa_child put_meta_table(abc* a)
{
    for (int k = 1; k < META_COUNT; k++)
    {
        bytes_add_number(&a->tree.header, (uint32_t)strlen(abc_meta_text[k]), 1);
        bytes_add_text(&a->tree.header, abc_meta_text[k]);
    }
    return tree_put_bytes(&a->tree, &a->tree.header);
}

static ogawa_child put_version(abc* a, uint32_t version)
{
    bytes_add_number(&a->tree.header, version, 4);
    return tree_put_bytes(&a->tree, &a->tree.header);
}

static weft_status put_archive(abc* a, object* top, weft_error* error)
{
    ogawa_list_add(&top->group, OGAWA_NO_GROUP); // its properties, which need those of the bodies
    for (int body = 0; body < a->job->body_count; body++)
    {
        TRY(put_body(a, top, body, error));
    }
    property bounds = put_child_bounds(a, a->bounds, a->job->frame_count);
    top->group.failed ? (void)0 : (void)(top->group.child[0] = tree_put_properties(&a->tree, top, &bounds));
    ogawa_list_finish(&bounds.stored);
    ogawa_child part[6];
    part[0] = put_version(a, LAYOUT_VERSION);
    part[1] = put_version(a, LIBRARY_VERSION);
    part[2] = tree_put_object(&a->tree, top);
    part[3] = put_metadata(a);
    part[4] = put_samplings(a);
    part[5] = put_meta_table(a);
    if (a->tree.failed)
    {
        return error_set(error, WEFT_NO_MEMORY, a->tree.archive.file->path, 0, "no memory to write the file");
    }
    return ogawa_end(&a->tree.archive, ogawa_group(&a->tree.archive, part, 6), error);
}

weft_status export_abc(export_job* job, const char* target, weft_error* error)
{
    whole_file file;
    object top = {.name = "ABC", .ending = ""};
    abc* a = MEM_NEW(1, abc);
    if (!a)
    {
        return error_set(error, WEFT_NO_MEMORY, target, 0, "no memory to write the file");
    }
    a->job = job;
    a->more = mem_raw((size_t)job->most, sizeof(vec3));
    a->bounds = MEM_NEW(2 * (size_t)job->frame_count, vec3);
    weft_status status = a->more && a->bounds
                             ? whole_file_open(&file, target, error)
                             : error_set(error, WEFT_NO_MEMORY, target, 0, "no memory to write the file");
    if (status == WEFT_OK)
    {
        ogawa_begin(&a->tree.archive, &file);
        status = put_archive(a, &top, error);
        if (status == WEFT_OK)
        {
            status = whole_file_close(&file, error);
        }
        else
        {
            whole_file_abandon(&file);
        }
    }
    object_finish(&top);
    mem_free(a->tree.header.data);
    mem_free(a->more);
    mem_free(a->bounds);
    mem_free(a);
    return status;
}
