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
#include "export/abc.h"

#include <string.h>

enum
{
    LAYOUT_VERSION = 0,
    LIBRARY_VERSION = 10800 // 1.8.0: whose layout this is
};
// ---- objects

// Linear, with ends, of no basis, which stands there twice; one width for all.
static void put_curves_object(abc* a, abc_mesh* m, object* o, double width)
{
    property* members[6] = {&m->bounds, &m->positions, &m->topology[FACE_COUNTS], &m->basis, &m->width, &m->velocities};
    property geometry = abc_property(".geom", COMPOUND, POD_BOOL, 0, META_CURVES, 0);
    const unsigned char linear[4] = {1, 0, 0, 0};
    abc_store_value(a, &m->basis, linear, sizeof(linear));
    abc_store_float(a, &m->width, width);
    tree_put_members(&a->tree, &geometry, members, m->rich && m->positions.sample_count > 1 ? 6 : 5);
    tree_set_schema(&a->tree, o, &geometry);
    ogawa_list_finish(&geometry.stored);
}
static weft_status put_mesh_object(abc* a, abc_mesh* m, object* o, int body, const weft_cache_body* names,
                                   weft_error* error)
{
    property parameters = abc_constant(".arbGeomParams", COMPOUND, POD_BOOL, META_NONE);
    property* members[8] = {&m->bounds, &m->positions, &m->topology[FACE_INDICES], &m->topology[FACE_COUNTS]};
    property* uv[2] = {&m->topology[UV_VALUES], &m->topology[UV_INDICES]};
    property geometry = abc_property(".geom", COMPOUND, POD_BOOL, 0, META_MESH, 0);
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
    weft_status status = abc_put_parameters(a, &parameters, m, body, names, error);
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
    property bounds = abc_property(".childBnds", SCALAR, POD_DOUBLE, 6, META_BOX, samples);
    bounds.first = samples > 1 ? 1 : 0;
    bounds.last = samples - 1;
    for (int k = 0; k < samples; k++)
    {
        abc_store_bounds(a, &bounds, box[2 * k], box[2 * k + 1]);
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
    abc_store_value(a, p, value, sizeof(value));
}

// Without operations, or one: a matrix. It moves with what is above it.
static void put_xform_schema(abc* a, object* o, const abc_mesh* m)
{
    static const unsigned char yes = 1, matrix = 3 << 4;
    int samples = m->pose ? a->job->frame_count : 1;
    bool still = m->positions.sample_count == 1 && !m->pose;
    property bounds = put_child_bounds(a, m->box, still ? 1 : a->job->frame_count);
    property inherits = abc_property(".inherits", SCALAR, POD_BOOL, 1, META_NONE, samples);
    property operations = abc_property(".ops", SCALAR, POD_UINT8, 1, META_NONE, samples);
    property values = abc_property(".vals", SCALAR, POD_DOUBLE, 16, META_NONE, samples);
    property moves = abc_constant("isNotConstantIdentity", SCALAR, POD_BOOL, META_NONE);
    property channels = abc_constant(".animChans", ARRAY, POD_UINT32, META_NONE);
    property* members[6] = {&bounds, &inherits, &operations, &values, &moves, &channels};
    property xform = abc_property(".xform", COMPOUND, POD_BOOL, 0, META_XFORM, 0);
    inherits.sampling = m->pose ? ABC_SAMPLING : 0;
    values.first = samples > 1 ? 1 : 0;
    values.last = samples - 1;
    abc_store_value(a, &inherits, &yes, 1);
    if (m->pose)
    {
        int all[16];
        for (int k = 0; k < 16; k++)
        {
            all[k] = k;
        }
        abc_store_value(a, &operations, &matrix, 1);
        abc_store_value(a, &moves, &yes, 1);
        abc_store_ints(a, &channels, all, 16, 0);
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
    abc_mesh m = {0};
    weft_status status = abc_mesh_start(&m, a->job, body, error);
    object shape = {.name = name, .ending = "Shape", .meta = m.lines ? META_CURVES_OBJECT : META_MESH_OBJECT};
    const weft_cache_body* names = export_names_for_all(a->job, body);
    status = status == WEFT_OK ? abc_mesh_put_frames(a, &m, body, error) : status;
    if (status == WEFT_OK)
    {
        double width = a->job->def->scale * export_last_topology(a->job, body)->thickness;
        m.lines ? put_curves_object(a, &m, &shape, width) : (void)0;
        status = m.lines ? WEFT_OK : put_mesh_object(a, &m, &shape, body, names, error);
        status = status == WEFT_OK && !m.lines && names ? abc_put_face_sets(a, &shape, names, error) : status;
        put_xform_schema(a, &xform, &m);
        object_add(&xform, &shape, tree_put_object(&a->tree, &shape));
        object_add(top, &xform, tree_put_object(&a->tree, &xform));
    }
    abc_mesh_finish(&m);
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
