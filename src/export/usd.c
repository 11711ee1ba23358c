// What a USD layer says of a run: metres, an Xform `run` with a Mesh for each body, or linear BasisCurves for one of
// lines, whose points stand curve by curve. Points and extent are sampled at every frame; time codes are the numbers of
// the run's frames. Faces as given; vt as primvars:st by corner. Where the topology changes, faces and texture
// coordinates have samples at the frames of the changes, which readers hold until the next.
#include "export/usd.h"

#include <string.h>

typedef struct stage
{
    export_job* job;
    const usd_encoding* encoding;
    void* to;
    char** name;       // [body_count] of prims
    vec3* extent;      // [2 * frame_count] smallest, largest
    vec3* more;        // [vertices of the largest body] normals, velocities, fields
    int* ints;         // [corners or faces of the body that has most]
    vec3* wide;        // [corners, or texture coordinates and one, of the body that has most]
    export_pose* pose; // [frame_count] of the body that is being written; NULL: it is no rigid one
    int field;         // that is being written
    usd_looks looks;
} stage;

// ---- values

static usd_value points_value(const vec3* x, int count)
{
    return (usd_value){USD_FLOAT3S, count, x};
}

// The points of curves are their own: one that two share is there twice.
static usd_value curve_points_value(const stage* s, const vec3* x, const weft_cache_body* body)
{
    int count = body->face_start[body->face_count];
    for (int k = 0; k < count; k++)
    {
        s->wide[k] = x[body->face_vertices[k]];
    }
    return points_value(s->wide, count);
}

static usd_value body_points_value(const stage* s, const vec3* x, const weft_cache_body* body)
{
    return body->lines ? curve_points_value(s, x, body) : points_value(x, body->vertex_count);
}

typedef usd_value topology_fn(const stage* s, const weft_cache_body* body);

static usd_value counts_value(const stage* s, const weft_cache_body* body)
{
    for (int face = 0; face < body->face_count; face++)
    {
        s->ints[face] = body->face_start[face + 1] - body->face_start[face];
    }
    return (usd_value){USD_INTS, body->face_count, s->ints};
}

static usd_value indices_value(const stage* s, const weft_cache_body* body)
{
    (void)s;
    return (usd_value){USD_INTS, body->face_start[body->face_count], body->face_vertices};
}

// A last one, 0 0, is for corners that have none.
static usd_value texcoords_value(const stage* s, const weft_cache_body* body)
{
    double* values = &s->wide->x;
    size_t count = 2 * (size_t)body->texcoord_count;
    count > 0 ? (void)memcpy(values, body->texcoords, count * sizeof(double)) : (void)0;
    values[count] = values[count + 1] = 0.0;
    return (usd_value){USD_FLOAT2S, body->texcoord_count + 1, values};
}

static usd_value texcoord_indices_value(const stage* s, const weft_cache_body* body)
{
    int count = body->face_start[body->face_count];
    for (int k = 0; k < count; k++)
    {
        bool has = body->face_texcoords && body->face_texcoords[k] >= 0;
        s->ints[k] = has ? body->face_texcoords[k] : body->texcoord_count;
    }
    return (usd_value){USD_INTS, count, s->ints};
}

// ---- attributes

static void put_once(const stage* s, const char* type, const char* name, bool uniform, usd_value value)
{
    s->encoding->attribute(s->to, &(usd_attribute){type, name, NULL, uniform});
    s->encoding->value(s->to, &value);
    s->encoding->attribute_end(s->to);
}

static void put_constant(const stage* s, const char* type, const char* name, usd_value value)
{
    s->encoding->attribute(s->to, &(usd_attribute){type, name, "constant", false});
    s->encoding->value(s->to, &value);
    s->encoding->attribute_end(s->to);
}

static void put_token(const stage* s, const char* name, const char* token)
{
    put_once(s, "token", name, true, (usd_value){USD_TOKEN, 1, &token});
}

// One value, or samples at the start and at each change; what has an interpolation has a value beside them.
static void put_of_topology(const stage* s, int body, usd_attribute a, topology_fn* find)
{
    const export_job* job = s->job;
    bool changes = export_changes(job, body);
    s->encoding->attribute(s->to, &a);
    if (!changes || a.interpolation)
    {
        usd_value value = find(s, export_topology(job, body, 0));
        s->encoding->value(s->to, &value);
    }
    for (int k = 0; k < job->frame_count && changes; k++)
    {
        if (export_changes_at(job, body, k))
        {
            usd_value value = find(s, export_topology(job, body, k));
            s->encoding->sample(s->to, export_number(job, k), &value);
        }
    }
    s->encoding->attribute_end(s->to);
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

static void put_topology(const stage* s, int body)
{
    put_of_topology(s, body, (usd_attribute){"int[]", "faceVertexCounts", NULL, false}, counts_value);
    put_of_topology(s, body, (usd_attribute){"int[]", "faceVertexIndices", NULL, false}, indices_value);
    if (has_texcoords(s->job, body))
    {
        usd_attribute st = {"texCoord2f[]", "primvars:st", "faceVarying", false};
        put_of_topology(s, body, st, texcoords_value);
        put_of_topology(s, body, (usd_attribute){"int[]", "primvars:st:indices", NULL, false}, texcoord_indices_value);
    }
}

// As thick as the run says.
static void put_curves(const stage* s, int body)
{
    const double width = s->job->def->scale * export_last_topology(s->job, body)->thickness;
    put_token(s, "type", "linear");
    put_token(s, "wrap", "nonperiodic");
    put_constant(s, "float[]", "widths", (usd_value){USD_FLOATS, 1, &width});
    put_of_topology(s, body, (usd_attribute){"int[]", "curveVertexCounts", NULL, false}, counts_value);
}

// ---- frames

typedef weft_status frame_fn(const stage* s, int body, int k, usd_value* out, weft_error* error);

// One value, or a sample of each frame; what has an interpolation has the value of the first beside them.
static weft_status put_frames(const stage* s, int body, usd_attribute a, bool once, frame_fn* find, weft_error* error)
{
    usd_value value;
    s->encoding->attribute(s->to, &a);
    if (once || a.interpolation)
    {
        TRY(find(s, body, 0, &value, error));
        s->encoding->value(s->to, &value);
    }
    for (int k = 0; k < s->job->frame_count && !once; k++)
    {
        TRY(find(s, body, k, &value, error));
        s->encoding->sample(s->to, export_number(s->job, k), &value);
    }
    s->encoding->attribute_end(s->to);
    return WEFT_OK;
}

static void find_extent(const vec3* x, int count, vec3 extent[2])
{
    extent[0] = extent[1] = count > 0 ? x[0] : v3(0, 0, 0);
    for (int v = 1; v < count; v++)
    {
        extent[0] = export_lower(extent[0], x[v]);
        extent[1] = export_upper(extent[1], x[v]);
    }
}

// Positions of frame k, or of a rigid body's rest shape.
static weft_status read_shape(const stage* s, int body, int k, weft_error* error)
{
    export_job* job = s->job;
    const weft_cache_body* shape = export_topology(job, body, k);
    for (int v = 0; v < shape->vertex_count && s->pose; v++)
    {
        job->positions[v] = export_place(job, shape->rest[v]);
    }
    return s->pose ? WEFT_OK : export_positions(job, body, k, job->positions, error);
}

static weft_status find_points(const stage* s, int body, int k, usd_value* out, weft_error* error)
{
    export_job* job = s->job;
    const weft_cache_body* shape = export_topology(job, body, k);
    TRY(read_shape(s, body, k, error));
    *out = body_points_value(s, job->positions, shape);
    find_extent(job->positions, shape->vertex_count, s->extent + 2 * k);
    export_progress(job, body * job->frame_count + k + 1, job->body_count * job->frame_count);
    return WEFT_OK;
}

static weft_status find_extent_value(const stage* s, int body, int k, usd_value* out, weft_error* error)
{
    (void)body, (void)error;
    *out = points_value(s->extent + 2 * k, 2);
    return WEFT_OK;
}

static weft_status find_normals(const stage* s, int body, int k, usd_value* out, weft_error* error)
{
    const weft_cache_body* shape = export_topology(s->job, body, k);
    TRY(read_shape(s, body, k, error));
    export_normals(s->job, shape, s->job->positions, s->more);
    *out = points_value(s->more, shape->vertex_count);
    return WEFT_OK;
}

static weft_status find_velocities(const stage* s, int body, int k, usd_value* out, weft_error* error)
{
    TRY(export_velocities(s->job, body, k, s->more, error));
    *out = body_points_value(s, s->more, export_topology(s->job, body, k));
    return WEFT_OK;
}

static weft_status find_field(const stage* s, int body, int k, usd_value* out, weft_error* error)
{
    export_job* job = s->job;
    double* values = &s->more->x;
    TRY(export_positions(job, body, k, job->positions, error));
    TRY(export_field(job, body, k, s->field, job->positions, values, error));
    *out = (usd_value){USD_FLOATS, export_topology(job, body, k)->vertex_count, values};
    return WEFT_OK;
}

static weft_status put_fields(stage* s, int body, weft_error* error)
{
    bool lines = export_last_topology(s->job, body)->lines != 0;
    for (s->field = 0; s->field < export_field_count(s->job, body) && !lines; s->field++)
    {
        char name[160], word[FIELD_NAME];
        snprintf(name, sizeof(name), "primvars:%s", export_field_word(s->job, body, s->field, word));
        TRY(put_frames(s, body, (usd_attribute){"float[]", name, "vertex", false}, false, find_field, error));
    }
    return WEFT_OK;
}

static weft_status put_motion(const stage* s, int body, weft_error* error)
{
    bool still = export_is_still(s->job, body) || s->pose, lines = export_last_topology(s->job, body)->lines != 0;
    TRY(put_frames(s, body, (usd_attribute){"point3f[]", "points", NULL, false}, still, find_points, error));
    TRY(put_frames(s, body, (usd_attribute){"float3[]", "extent", NULL, false}, still, find_extent_value, error));
    if (s->job->def->plain)
    {
        return WEFT_OK;
    }
    if (!lines)
    {
        usd_attribute normals = {"normal3f[]", "normals", "vertex", false};
        TRY(put_frames(s, body, normals, still, find_normals, error));
    }
    usd_attribute velocities = {"vector3f[]", "velocities", NULL, false};
    return still ? WEFT_OK : put_frames(s, body, velocities, false, find_velocities, error);
}

// Row vectors: the last row is the translation.
static void put_poses(const stage* s)
{
    static const char* const order = "xformOp:transform";
    s->encoding->attribute(s->to, &(usd_attribute){"matrix4d", order, NULL, false});
    for (int k = 0; k < s->job->frame_count; k++)
    {
        export_pose turn = s->pose[k];
        turn.t = v3(0, 0, 0);
        const vec3 x = export_pose_apply(&turn, v3(1, 0, 0)), y = export_pose_apply(&turn, v3(0, 1, 0)),
                   z = export_pose_apply(&turn, v3(0, 0, 1)), t = s->pose[k].t;
        const double rows[16] = {x.x, x.y, x.z, 0, y.x, y.y, y.z, 0, z.x, z.y, z.z, 0, t.x, t.y, t.z, 1};
        s->encoding->sample(s->to, export_number(s->job, k), &(usd_value){USD_MATRIX, 1, rows});
    }
    s->encoding->attribute_end(s->to);
    put_once(s, "token[]", "xformOpOrder", true, (usd_value){USD_TOKENS, 1, &order});
}

// A body that comes or goes is invisible where it is not there.
static void put_visibility(const stage* s, int body)
{
    static const char* const words[2] = {"invisible", "inherited"};
    bool any = false, before = true;
    for (int k = 0; k < s->job->frame_count; k++)
    {
        bool present = export_present(s->job, body, k);
        if (present == before)
        {
            continue;
        }
        if (!any)
        {
            s->encoding->attribute(s->to, &(usd_attribute){"token", "visibility", NULL, false});
            k > 0 ? s->encoding->sample(s->to, export_number(s->job, 0), &(usd_value){USD_TOKEN, 1, &words[1]})
                  : (void)0;
        }
        s->encoding->sample(s->to, export_number(s->job, k), &(usd_value){USD_TOKEN, 1, &words[present]});
        any = true;
        before = present;
    }
    any ? s->encoding->attribute_end(s->to) : (void)0;
}

// ---- the stage

static void put_head(const stage* s)
{
    const export_job* job = s->job;
    char doc[80];
    snprintf(doc, sizeof(doc), "Made by Weft %s", weft_version());
    s->encoding->head(s->to, &(usd_head){.doc = doc,
                                         .prim = "run",
                                         .up = job->def->up == 'z' ? "Z" : "Y",
                                         .rate = export_code_rate(job),
                                         .meters = 1.0 / job->def->scale,
                                         .first = export_number(job, 0),
                                         .last = export_number(job, job->frame_count - 1)});
}

static void put_color(const stage* s, int body)
{
    float c[3];
    export_color(s->job, body, c);
    const vec3 color = v3((double)c[0], (double)c[1], (double)c[2]);
    put_constant(s, "color3f[]", "primvars:displayColor", points_value(&color, 1));
}

static weft_status put_body(stage* s, int body, weft_error* error)
{
    const char* name = export_body_name(s->job, body);
    bool lines = export_last_topology(s->job, body)->lines;
    const char* told = strcmp(name, s->name[body]) != 0 ? name : NULL;
    s->encoding->prim(s->to, &(usd_prim){lines ? "BasisCurves" : "Mesh", s->name[body], told, NULL});
    lines ? (void)0 : put_once(s, "bool", "doubleSided", true, (usd_value){USD_BOOL, 1, &(int){1}});
    put_visibility(s, body);
    lines ? put_curves(s, body) : put_topology(s, body);
    put_color(s, body);
    TRY(export_rigid(s->job, body, &s->pose, error));
    weft_status status = put_motion(s, body, error);
    s->pose ? put_poses(s) : (void)0;
    mem_free(s->pose);
    s->pose = NULL;
    TRY(status);
    TRY(put_fields(s, body, error));
    lines ? (void)0 : put_token(s, "subdivisionScheme", "none");
    TRY(usd_put_subsets(s->job, body, &s->looks, s->encoding, s->to, error));
    s->encoding->prim_end(s->to);
    return WEFT_OK;
}

static weft_status put_stage(stage* s, weft_error* error)
{
    put_head(s);
    s->encoding->prim(s->to, &(usd_prim){"Xform", "run", NULL, NULL});
    for (int body = 0; body < s->job->body_count; body++)
    {
        TRY(put_body(s, body, error));
    }
    usd_put_looks(&s->looks, s->encoding, s->to);
    s->encoding->prim_end(s->to);
    return WEFT_OK;
}

// The most of a list that a topology of a body needs.
static int most_of(const export_job* job)
{
    int most = 1;
    for (int body = 0; body < job->body_count; body++)
    {
        for (int k = 0; k < job->frame_count; k++)
        {
            const weft_cache_body* b = export_topology(job, body, k);
            int corners = export_changes_at(job, body, k) ? b->face_start[b->face_count] : 0;
            most = int_max(most, int_max(corners, int_max(b->face_count, b->texcoord_count + 1)));
        }
    }
    return most;
}

static weft_status stage_start(stage* s, weft_error* error)
{
    export_job* job = s->job;
    int most = most_of(job);
    s->name = MEM_NEW((size_t)job->body_count + 1, char*);
    s->extent = MEM_NEW(2 * (size_t)job->frame_count, vec3);
    s->more = mem_raw((size_t)job->most, sizeof(vec3));
    s->ints = mem_raw((size_t)most, sizeof(int));
    s->wide = mem_raw((size_t)most, sizeof(vec3));
    bool room = s->name && s->extent && s->more && s->ints && s->wide && usd_looks_find(job, &s->looks);
    // No body has the name of the materials' scope.
    static char looks[] = "Looks";
    for (int body = 0; body < job->body_count && room; body++)
    {
        s->name[body] = looks;
        s->name[body] = usd_identifier(s->name, body + 1, export_body_name(job, body));
        room = s->name[body] != NULL;
    }
    return room ? WEFT_OK : error_set(error, WEFT_NO_MEMORY, NULL, 0, "no memory to write the file");
}

static void stage_finish(stage* s)
{
    for (int body = 0; body < s->job->body_count && s->name; body++)
    {
        mem_free(s->name[body]);
    }
    usd_looks_finish(&s->looks);
    mem_free(s->name);
    mem_free(s->extent);
    mem_free(s->more);
    mem_free(s->ints);
    mem_free(s->wide);
}

weft_status usd_write(export_job* job, const usd_encoding* encoding, void* to, weft_error* error)
{
    stage s = {.job = job, .encoding = encoding, .to = to};
    weft_status status = stage_start(&s, error);
    status = status == WEFT_OK ? put_stage(&s, error) : status;
    stage_finish(&s);
    return status;
}
