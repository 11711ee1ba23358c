// Alembic in an Ogawa container: for each body an Xform of its name, which moves nothing, and in it the PolyMesh
// NAMEShape with P and bounds at every frame, faces as given, and vt as uv by corner. Alembic's faces run clockwise:
// every face is turned round. Where the topology changes, faces and uv are sampled too: a heterogeneous mesh.
//
// An archive is a group of six: int32 version of the layout, 0; int32 version of the library; the top object; its
// metadata; the time samplings; the table of metadata. An object is a group: its properties, its children, and the
// headers of the children with 32 bytes of keys. Properties are a group: one for each and their headers. A property is
// a group of its samples; an array has the dimensions after each, which are empty where the size says them. Samples
// before the first change and behind the last are not repeated.
//
// The date is left out, so that the same run gives the same bytes.
#include <string.h>

#include "export/export.h"
#include "export/ogawa.h"

enum
{
    LAYOUT_VERSION = 0,
    LIBRARY_VERSION = 10800, // 1.8.0: whose layout this is
    SAMPLING = 1             // the time sampling of all meshes; 0 is the default one
};

// Metadata by index, from 1; 0 is none.
enum
{
    META_NONE,
    META_XFORM_OBJECT,
    META_XFORM,
    META_MESH_OBJECT,
    META_MESH,
    META_BOX,
    META_POINT,
    META_UV,
    META_COUNT
};

static const char* const meta_text[META_COUNT] = {
    [META_XFORM_OBJECT] = "schema=AbcGeom_Xform_v3;schemaObjTitle=AbcGeom_Xform_v3:.xform",
    [META_XFORM] = "schema=AbcGeom_Xform_v3",
    [META_MESH_OBJECT] = "schema=AbcGeom_PolyMesh_v1;schemaBaseType=AbcGeom_GeomBase_v1;"
                         "schemaObjTitle=AbcGeom_PolyMesh_v1:.geom",
    [META_MESH] = "schema=AbcGeom_PolyMesh_v1;schemaBaseType=AbcGeom_GeomBase_v1",
    [META_BOX] = "interpretation=box",
    [META_POINT] = "geoScope=vtx;interpretation=point",
    [META_UV] = "arrayExtent=1;geoScope=fvr;interpretation=vector;isGeomParam=true;podExtent=2;podName=float32_t",
};

typedef enum property_kind
{
    COMPOUND = 0,
    SCALAR = 1,
    ARRAY = 2
} property_kind;

typedef enum pod
{
    POD_BOOL = 0,
    POD_UINT32 = 5,
    POD_INT32 = 6,
    POD_FLOAT = 10,
    POD_DOUBLE = 11
} pod;

typedef struct property
{
    const char* name;
    property_kind kind;
    pod pod;
    int extent; // numbers of an item
    int meta;
    int sampling;

    int sample_count; // that readers see
    int first, last;  // samples that differ from the one before: the first of them and the last; 0 0: none
    ogawa_list stored;
    ogawa_key key;       // of all that is stored
    int64_t items;       // of the last sample; -1: none yet
    bool single, varies; // every sample has one item; the number of items changes
} property;

// Bytes that grow.
typedef struct bytes
{
    unsigned char* data;
    int count, capacity;
    bool failed;
} bytes;

typedef struct abc
{
    export_job* job;
    ogawa archive;
    unsigned char* packed; // the largest sample
    bytes header;          // of what is being written
    bool failed;           // no memory
} abc;

// ---- bytes

static void add(bytes* b, const void* data, int size)
{
    if (size == 0)
    {
        return;
    }
    if (!mem_grow((void**)&b->data, &b->capacity, b->count + size, 1))
    {
        b->failed = true;
        return;
    }
    memcpy(b->data + b->count, data, (size_t)size);
    b->count += size;
}

static void add_number(bytes* b, uint32_t value, int size)
{
    unsigned char four[4];
    ogawa_put32(four, value);
    add(b, four, size);
}

static void add_double(bytes* b, double value)
{
    unsigned char eight[8];
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    ogawa_put64(eight, bits);
    add(b, eight, 8);
}

static void add_text(bytes* b, const char* text)
{
    add(b, text, (int)strlen(text));
}

static ogawa_child put_bytes(abc* a, bytes* b)
{
    ogawa_child child = ogawa_data(&a->archive, b->data, (size_t)b->count);
    a->failed = a->failed || b->failed;
    b->count = 0;
    return child;
}

// ---- properties

static void property_store(property* p, ogawa_child sample, ogawa_key key)
{
    ogawa_list_add(&p->stored, sample);
    if (p->kind == ARRAY)
    {
        ogawa_list_add(&p->stored, OGAWA_NO_DATA); // dimensions: the size says them
    }
    p->key = ogawa_key_join(p->key, key);
}

static void property_count(property* p, int64_t items)
{
    p->varies = p->varies || (p->items >= 0 && p->items != items);
    p->single = (p->items < 0 || p->single) && items == 1;
    p->items = items;
}

// One, two or four bytes for each number, as the largest needs.
static int number_size(const property* p)
{
    size_t largest = strlen(p->name);
    if (p->meta != META_NONE && strlen(meta_text[p->meta]) > largest)
    {
        largest = strlen(meta_text[p->meta]);
    }
    if ((size_t)p->sample_count > largest)
    {
        largest = (size_t)p->sample_count;
    }
    return largest < 256 ? 1 : largest < 65536 ? 2 : 4;
}

static void add_property_header(bytes* b, const property* p)
{
    int size = number_size(p);
    bool constant = p->first == 0 && p->last == 0;
    bool each = p->first == 1 && p->last == p->sample_count - 1;
    uint32_t info = (uint32_t)p->kind | (size == 1 ? 0u : size == 2 ? 1u : 2u) << 2 | (uint32_t)p->meta << 20;
    if (p->kind != COMPOUND)
    {
        info |= p->single ? 1u : 0u;
        info |= (uint32_t)p->pod << 4 | (uint32_t)p->extent << 12;
        info |= p->sampling != 0 ? 0x100u : 0u;
        info |= !constant && !each ? 0x200u : 0u;
        info |= p->varies ? 0u : 0x400u;
        info |= constant ? 0x800u : 0u;
    }
    add_number(b, info, 4);
    if (p->kind != COMPOUND)
    {
        add_number(b, (uint32_t)p->sample_count, size);
        if (!constant && !each)
        {
            add_number(b, (uint32_t)p->first, size);
            add_number(b, (uint32_t)p->last, size);
        }
        if (p->sampling != 0)
        {
            add_number(b, (uint32_t)p->sampling, size);
        }
    }
    add_number(b, (uint32_t)strlen(p->name), size);
    add_text(b, p->name);
}

// The group of a property that has all its samples.
static ogawa_child put_property(abc* a, property* p)
{
    a->failed = a->failed || p->stored.failed;
    return ogawa_group(&a->archive, p->stored.child, p->stored.count);
}

// The members' groups and headers; the key of all goes into the compound's.
static void put_members(abc* a, property* compound, property* const* member, int count)
{
    for (int k = 0; k < count; k++)
    {
        ogawa_list_add(&compound->stored, put_property(a, member[k]));
        add_property_header(&a->header, member[k]);
        compound->key = ogawa_key_join(compound->key, member[k]->key);
    }
    compound->key = ogawa_key_join(compound->key, ogawa_key_of(a->header.data, (size_t)a->header.count));
    ogawa_list_add(&compound->stored, put_bytes(a, &a->header));
}

// ---- objects

typedef struct object
{
    const char *name, *ending; // the name is both
    int meta;
    ogawa_list group;     // properties, then children
    ogawa_key properties; // keys
    ogawa_key children;
    bytes headers; // of the children
} object;

static void object_add(object* parent, const object* child, ogawa_child group)
{
    size_t length = strlen(child->name) + strlen(child->ending);
    ogawa_list_add(&parent->group, group);
    add_number(&parent->headers, (uint32_t)length, 4);
    add_text(&parent->headers, child->name);
    add_text(&parent->headers, child->ending);
    add_number(&parent->headers, (uint32_t)child->meta, 1);
    parent->children = ogawa_key_join(parent->children, ogawa_key_join(child->properties, child->children));
}

static ogawa_child put_object(abc* a, object* o)
{
    add(&o->headers, o->properties.bytes, 16);
    add(&o->headers, o->children.bytes, 16);
    ogawa_list_add(&o->group, put_bytes(a, &o->headers));
    a->failed = a->failed || o->group.failed;
    return ogawa_group(&a->archive, o->group.child, o->group.count);
}

static void object_finish(object* o)
{
    ogawa_list_finish(&o->group);
    mem_free(o->headers.data);
    o->headers = (bytes){0};
}

// An object's properties are one compound: its schema.
static void object_set_schema(abc* a, object* o, property* schema)
{
    property all = {.name = "", .kind = COMPOUND};
    put_members(a, &all, &schema, 1);
    ogawa_list_add(&o->group, put_property(a, &all));
    o->properties = all.key;
    ogawa_list_finish(&all.stored);
}

// ---- samples

static ogawa_child put_packed(abc* a, property* p, int64_t items, size_t size, ogawa_key* key)
{
    property_count(p, items);
    return ogawa_sample(&a->archive, a->packed, size, key);
}

static void pack_float(unsigned char* out, double value)
{
    float narrow = (float)value;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof(bits));
    ogawa_put32(out, bits);
}

static void put_positions(abc* a, property* p, const vec3* x, int count)
{
    const double* flat = export_flat(x);
    for (int64_t k = 0; k < 3 * (int64_t)count; k++)
    {
        pack_float(a->packed + 4 * k, flat[k]);
    }
    ogawa_key key;
    ogawa_child sample = put_packed(a, p, count, 12 * (size_t)count, &key);
    property_store(p, sample, key);
}

static void put_bounds(abc* a, property* p, const vec3* x, int count)
{
    vec3 low = count > 0 ? x[0] : v3(0, 0, 0), high = low;
    for (int v = 1; v < count; v++)
    {
        low = v3(fmin(low.x, x[v].x), fmin(low.y, x[v].y), fmin(low.z, x[v].z));
        high = v3(fmax(high.x, x[v].x), fmax(high.y, x[v].y), fmax(high.z, x[v].z));
    }
    const double box[6] = {low.x, low.y, low.z, high.x, high.y, high.z};
    for (int k = 0; k < 6; k++)
    {
        uint64_t bits;
        memcpy(&bits, &box[k], sizeof(bits));
        ogawa_put64(a->packed + 8 * k, bits);
    }
    ogawa_key key;
    ogawa_child sample = put_packed(a, p, 1, sizeof(box), &key);
    property_store(p, sample, key);
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

// A value of each corner, every face backwards.
static void pack_corners(abc* a, const weft_cache_body* body, const int* values, int missing)
{
    unsigned char* out = a->packed;
    for (int face = 0; face < body->face_count; face++)
    {
        for (int k = body->face_start[face + 1] - 1; k >= body->face_start[face]; k--, out += 4)
        {
            int value = values ? values[k] : missing;
            ogawa_put32(out, (uint32_t)(value >= 0 ? value : missing));
        }
    }
}

static void pack_counts(abc* a, const weft_cache_body* body)
{
    for (int face = 0; face < body->face_count; face++)
    {
        ogawa_put32(a->packed + 4 * (size_t)face, (uint32_t)(body->face_start[face + 1] - body->face_start[face]));
    }
}

// The last one, 0 0, is for corners that have none.
static void pack_texcoords(abc* a, const weft_cache_body* body)
{
    int count = 2 * body->texcoord_count;
    for (int k = 0; k < count; k++)
    {
        pack_float(a->packed + 4 * (size_t)k, body->texcoords[k]);
    }
    memset(a->packed + 4 * (size_t)count, 0, 8);
}

static void put_faces(abc* a, property p[TOPOLOGY_COUNT], const weft_cache_body* body, bool uv, faces* f)
{
    int corners = body->face_start[body->face_count];
    pack_corners(a, body, body->face_vertices, 0);
    f->sample[FACE_INDICES] = put_packed(a, &p[FACE_INDICES], corners, 4 * (size_t)corners, &f->key[FACE_INDICES]);
    pack_counts(a, body);
    f->sample[FACE_COUNTS] =
        put_packed(a, &p[FACE_COUNTS], body->face_count, 4 * (size_t)body->face_count, &f->key[FACE_COUNTS]);
    if (uv)
    {
        int values = body->texcoord_count + 1;
        pack_texcoords(a, body);
        f->sample[UV_VALUES] = put_packed(a, &p[UV_VALUES], values, 8 * (size_t)values, &f->key[UV_VALUES]);
        pack_corners(a, body, body->face_texcoords, body->texcoord_count);
        f->sample[UV_INDICES] = put_packed(a, &p[UV_INDICES], corners, 4 * (size_t)corners, &f->key[UV_INDICES]);
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
    bool has_uv;
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

static void mesh_start(mesh_properties* m, const export_job* job, int body)
{
    int samples = export_is_still(job, body) ? 1 : job->frame_count;
    m->has_uv = has_texcoords(job, body);
    m->bounds = property_make(".selfBnds", SCALAR, POD_DOUBLE, 6, META_BOX, samples);
    m->positions = property_make("P", ARRAY, POD_FLOAT, 3, META_POINT, samples);
    m->bounds.first = m->positions.first = samples > 1 ? 1 : 0;
    m->bounds.last = m->positions.last = samples - 1;
    m->topology[FACE_INDICES] = property_make(".faceIndices", ARRAY, POD_INT32, 1, META_NONE, samples);
    m->topology[FACE_COUNTS] = property_make(".faceCounts", ARRAY, POD_INT32, 1, META_NONE, samples);
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
}

static void mesh_finish_properties(mesh_properties* m)
{
    ogawa_list_finish(&m->bounds.stored);
    ogawa_list_finish(&m->positions.stored);
    ogawa_list_finish(&m->uv.stored);
    for (int p = 0; p < TOPOLOGY_COUNT; p++)
    {
        ogawa_list_finish(&m->topology[p].stored);
    }
}

// Stored are the first sample and those from the first change to the last, also where they repeat.
static void store_faces(mesh_properties* m, const faces* f, int k)
{
    for (int p = 0; p < (m->has_uv ? TOPOLOGY_COUNT : UV_VALUES); p++)
    {
        property* one = &m->topology[p];
        if (k == 0 || (one->first > 0 && k >= one->first && k <= one->last))
        {
            property_store(one, f->sample[p], f->key[p]);
        }
    }
}

static weft_status put_frames(abc* a, mesh_properties* m, int body, weft_error* error)
{
    export_job* job = a->job;
    faces f = {0};
    for (int k = 0; k < m->positions.sample_count; k++)
    {
        const weft_cache_body* topology = export_topology(job, body, k);
        TRY(export_positions(job, body, k, job->positions, error));
        if (export_changes_at(job, body, k))
        {
            put_faces(a, m->topology, topology, m->has_uv, &f);
        }
        store_faces(m, &f, k);
        put_positions(a, &m->positions, job->positions, topology->vertex_count);
        put_bounds(a, &m->bounds, job->positions, topology->vertex_count);
        export_progress(job, body * job->frame_count + k + 1, job->body_count * job->frame_count);
    }
    return WEFT_OK;
}

static void put_mesh_object(abc* a, mesh_properties* m, object* o)
{
    property* members[5] = {&m->bounds, &m->positions, &m->topology[FACE_INDICES], &m->topology[FACE_COUNTS], &m->uv};
    property* uv[2] = {&m->topology[UV_VALUES], &m->topology[UV_INDICES]};
    property geometry = property_make(".geom", COMPOUND, POD_BOOL, 0, META_MESH, 0);
    if (m->has_uv)
    {
        put_members(a, &m->uv, uv, 2);
    }
    put_members(a, &geometry, members, m->has_uv ? 5 : 4);
    object_set_schema(a, o, &geometry);
    ogawa_list_finish(&geometry.stored);
}

// An Xform without operations; its one value says that it moves with what is above it.
static void put_xform_schema(abc* a, object* o)
{
    property inherits = property_make(".inherits", SCALAR, POD_BOOL, 1, META_NONE, 1);
    property* members[1] = {&inherits};
    property xform = property_make(".xform", COMPOUND, POD_BOOL, 0, META_XFORM, 0);
    inherits.sampling = 0;
    a->packed[0] = 1;
    ogawa_key key;
    ogawa_child sample = put_packed(a, &inherits, 1, 1, &key);
    property_store(&inherits, sample, key);
    put_members(a, &xform, members, 1);
    object_set_schema(a, o, &xform);
    ogawa_list_finish(&inherits.stored);
    ogawa_list_finish(&xform.stored);
}

static weft_status put_body(abc* a, object* top, int body, weft_error* error)
{
    const char* name = export_body_name(a->job, body);
    object xform = {.name = name, .ending = "", .meta = META_XFORM_OBJECT};
    object shape = {.name = name, .ending = "Shape", .meta = META_MESH_OBJECT};
    mesh_properties m = {0};
    mesh_start(&m, a->job, body);
    weft_status status = put_frames(a, &m, body, error);
    if (status == WEFT_OK)
    {
        put_mesh_object(a, &m, &shape);
        put_xform_schema(a, &xform);
        object_add(&xform, &shape, put_object(a, &shape));
        object_add(top, &xform, put_object(a, &xform));
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
    snprintf(rate, sizeof(rate), "%.9g", a->job->frame_rate);
    char* comma = strchr(rate, ','); // of the locale
    if (comma)
    {
        *comma = '.';
    }
    add_text(&a->header, "FramesPerTimeUnit=");
    add_text(&a->header, rate);
    add_text(&a->header, ";_ai_AlembicVersion=Alembic 1.8.0 (Weft's own writer);_ai_Application=Weft ");
    add_text(&a->header, weft_version());
    return put_bytes(a, &a->header);
}

// The most samples, seconds a cycle, samples a cycle, and the time of each.
static ogawa_child put_samplings(abc* a)
{
    add_number(&a->header, 1, 4);
    add_double(&a->header, 1.0);
    add_number(&a->header, 1, 4);
    add_double(&a->header, 0.0);
    add_number(&a->header, (uint32_t)a->job->frame_count, 4);
    add_double(&a->header, 1.0 / a->job->frame_rate);
    add_number(&a->header, 1, 4);
    add_double(&a->header, 0.0);
    return put_bytes(a, &a->header);
}

static ogawa_child put_meta_table(abc* a)
{
    for (int k = 1; k < META_COUNT; k++)
    {
        add_number(&a->header, (uint32_t)strlen(meta_text[k]), 1);
        add_text(&a->header, meta_text[k]);
    }
    return put_bytes(a, &a->header);
}

static ogawa_child put_version(abc* a, uint32_t version)
{
    add_number(&a->header, version, 4);
    return put_bytes(a, &a->header);
}

static weft_status put_archive(abc* a, object* top, weft_error* error)
{
    ogawa_list_add(&top->group, OGAWA_NO_GROUP); // it has no properties
    for (int body = 0; body < a->job->body_count; body++)
    {
        TRY(put_body(a, top, body, error));
    }
    ogawa_child part[6];
    part[0] = put_version(a, LAYOUT_VERSION);
    part[1] = put_version(a, LIBRARY_VERSION);
    part[2] = put_object(a, top);
    part[3] = put_metadata(a);
    part[4] = put_samplings(a);
    part[5] = put_meta_table(a);
    if (a->failed)
    {
        return error_set(error, WEFT_NO_MEMORY, a->archive.file->path, 0, "no memory to write the file");
    }
    return ogawa_end(&a->archive, ogawa_group(&a->archive, part, 6), error);
}

// Bytes of the largest sample.
static size_t largest_sample(const export_job* job)
{
    size_t most = 64;
    for (int body = 0; body < job->body_count; body++)
    {
        for (int k = 0; k < job->frame_count; k++)
        {
            const weft_cache_body* b = export_topology(job, body, k);
            size_t sizes[4] = {12 * (size_t)b->vertex_count, 4 * (size_t)b->face_start[b->face_count],
                               8 * ((size_t)b->texcoord_count + 1), 4 * (size_t)b->face_count};
            for (int s = 0; s < 4; s++)
            {
                most = sizes[s] > most ? sizes[s] : most;
            }
        }
    }
    return most;
}

weft_status export_abc(export_job* job, const char* target, weft_error* error)
{
    whole_file file;
    abc a = {.job = job};
    object top = {.name = "ABC", .ending = ""};
    a.packed = mem_raw(largest_sample(job), 1);
    if (!a.packed)
    {
        return error_set(error, WEFT_NO_MEMORY, target, 0, "no memory for a frame");
    }
    weft_status status = whole_file_open(&file, target, error);
    if (status == WEFT_OK)
    {
        ogawa_begin(&a.archive, &file);
        status = put_archive(&a, &top, error);
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
    mem_free(a.header.data);
    mem_free(a.packed);
    return status;
}
