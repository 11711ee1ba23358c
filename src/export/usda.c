// USD as text: one file, metres, an Xform `run` with a Mesh for each body, or linear BasisCurves for one of lines,
// whose points stand curve by curve. Points and extent are sampled at every frame; time codes are the numbers of
// the run's frames. Faces as given; vt as primvars:st by corner. Where the topology changes, faces and texture coordinates have
// samples at the frames of the changes, which readers hold until the next. Objects, groups and materials are
// GeomSubsets of the Mesh; those of materials are bound to the Materials of /run/Looks, which say no more than a name.
#include <string.h>

#include "export/export.h"

typedef struct stage
{
    export_job* job;
    export_text* text;
    char** name;  // [body_count] of prims
    vec3* extent; // [2 * frame_count] smallest, largest
    vec3* more;            // [vertices of the largest body] normals, velocities, fields
    export_pose* pose;     // [frame_count] of the body that is being written; NULL: it is no rigid one
    const char** material; // [material_count] names, each once
    char** look;           // [material_count] of prims
    int material_count;
} stage;

// ---- names: letters, digits and underscores, none twice

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool name_is_taken(char* const* name, int count, const char* wanted)
{
    for (int k = 0; k < count; k++)
    {
        if (strcmp(name[k], wanted) == 0)
        {
            return true;
        }
    }
    return false;
}

static char* make_name(char* const* others, int count, const char* body)
{
    size_t size = strlen(body) + 16;
    char* name = MEM_NEW(size, char);
    if (!name)
    {
        return NULL;
    }
    size_t length = 0;
    if (!is_letter(body[0]))
    {
        name[length++] = '_';
    }
    for (const char* c = body; *c; c++)
    {
        name[length++] = is_letter(*c) || (*c >= '0' && *c <= '9') ? *c : '_';
    }
    for (int k = 2; name_is_taken(others, count, name); k++)
    {
        snprintf(name + length, size - length, "_%d", k);
    }
    return name;
}

// ---- values

static void put_point(export_text* text, vec3 x)
{
    export_text_put(text, "(");
    export_text_number(text, x.x);
    export_text_put(text, ", ");
    export_text_number(text, x.y);
    export_text_put(text, ", ");
    export_text_number(text, x.z);
    export_text_put(text, ")");
}

static void put_points(export_text* text, const vec3* x, int count)
{
    export_text_put(text, "[");
    for (int v = 0; v < count; v++)
    {
        export_text_put(text, v > 0 ? ", " : "");
        put_point(text, x[v]);
    }
    export_text_put(text, "]");
}

// The points of curves are their own: one that two share is there twice.
static void put_curve_points(export_text* text, const vec3* x, const weft_cache_body* body)
{
    export_text_put(text, "[");
    for (int k = 0; k < body->face_start[body->face_count]; k++)
    {
        export_text_put(text, k > 0 ? ", " : "");
        put_point(text, x[body->face_vertices[k]]);
    }
    export_text_put(text, "]");
}

static void put_ints(export_text* text, const int* values, int count)
{
    export_text_put(text, "[");
    for (int k = 0; k < count; k++)
    {
        export_text_put(text, k > 0 ? ", " : "");
        export_text_int(text, values[k]);
    }
    export_text_put(text, "]");
}

static void put_counts(export_text* text, const weft_cache_body* body)
{
    export_text_put(text, "[");
    for (int face = 0; face < body->face_count; face++)
    {
        export_text_put(text, face > 0 ? ", " : "");
        export_text_int(text, body->face_start[face + 1] - body->face_start[face]);
    }
    export_text_put(text, "]");
}

static void put_indices(export_text* text, const weft_cache_body* body)
{
    put_ints(text, body->face_vertices, body->face_start[body->face_count]);
}

// A last one, 0 0, is for corners that have none.
static void put_texcoords(export_text* text, const weft_cache_body* body)
{
    export_text_put(text, "[");
    for (int t = 0; t < body->texcoord_count; t++)
    {
        export_text_put(text, "(");
        export_text_number(text, body->texcoords[2 * t]);
        export_text_put(text, ", ");
        export_text_number(text, body->texcoords[2 * t + 1]);
        export_text_put(text, "), ");
    }
    export_text_put(text, "(0, 0)]");
}

static void put_texcoord_indices(export_text* text, const weft_cache_body* body)
{
    export_text_put(text, "[");
    for (int k = 0; k < body->face_start[body->face_count]; k++)
    {
        bool has = body->face_texcoords && body->face_texcoords[k] >= 0;
        export_text_put(text, k > 0 ? ", " : "");
        export_text_int(text, has ? body->face_texcoords[k] : body->texcoord_count);
    }
    export_text_put(text, "]");
}

// ---- attributes

typedef void put_value(export_text* text, const weft_cache_body* body);

static void put_name(const stage* s, const char* attribute, const char* then)
{
    export_text_put(s->text, "        ");
    export_text_put(s->text, attribute);
    export_text_put(s->text, then);
}

// The start of a line of samples.
static void put_code(const stage* s, int k)
{
    export_text_put(s->text, "            ");
    export_text_int(s->text, export_number(s->job, k));
    export_text_put(s->text, ": ");
}

// At the start and at each change.
static void put_changes(const stage* s, int body, const char* attribute, put_value* put)
{
    put_name(s, attribute, ".timeSamples = {\n");
    for (int k = 0; k < s->job->frame_count; k++)
    {
        if (export_changes_at(s->job, body, k))
        {
            put_code(s, k);
            put(s->text, export_topology(s->job, body, k));
            export_text_put(s->text, ",\n");
        }
    }
    export_text_put(s->text, "        }\n");
}

static void put_first(const stage* s, int body, const char* attribute, put_value* put)
{
    put_name(s, attribute, " = ");
    put(s->text, export_topology(s->job, body, 0));
}

static void put_of_topology(const stage* s, int body, const char* attribute, put_value* put)
{
    if (export_changes(s->job, body))
    {
        put_changes(s, body, attribute, put);
        return;
    }
    put_first(s, body, attribute, put);
    export_text_put(s->text, "\n");
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
    put_of_topology(s, body, "int[] faceVertexCounts", put_counts);
    put_of_topology(s, body, "int[] faceVertexIndices", put_indices);
    if (!has_texcoords(s->job, body))
    {
        return;
    }
    // Metadata have their place behind a value, which samples then override.
    put_first(s, body, "texCoord2f[] primvars:st", put_texcoords);
    export_text_put(s->text, " (\n            interpolation = \"faceVarying\"\n        )\n");
    if (export_changes(s->job, body))
    {
        put_changes(s, body, "texCoord2f[] primvars:st", put_texcoords);
    }
    put_of_topology(s, body, "int[] primvars:st:indices", put_texcoord_indices);
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

static void put_extents(const stage* s, int samples, bool still)
{
    export_text_put(s->text, still ? "        float3[] extent = " : "        float3[] extent.timeSamples = {\n");
    for (int k = 0; k < samples; k++)
    {
        if (!still)
        {
            put_code(s, k);
        }
        put_points(s->text, s->extent + 2 * k, 2);
        export_text_put(s->text, still ? "\n" : ",\n");
    }
    export_text_put(s->text, still ? "" : "        }\n");
}

// Samples of each frame, or one value.
typedef weft_status put_frame_fn(const stage* s, int body, int k, weft_error* error);

static weft_status put_samples(const stage* s, int body, const char* attribute, bool once, put_frame_fn* put,
                               weft_error* error)
{
    put_name(s, attribute, once ? " = " : ".timeSamples = {\n");
    for (int k = 0; k < (once ? 1 : s->job->frame_count); k++)
    {
        once ? (void)0 : put_code(s, k);
        TRY(put(s, body, k, error));
        export_text_put(s->text, once ? "" : ",\n");
    }
    export_text_put(s->text, once ? "" : "        }\n");
    return WEFT_OK;
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

static weft_status put_point_sample(const stage* s, int body, int k, weft_error* error)
{
    export_job* job = s->job;
    const weft_cache_body* shape = export_topology(job, body, k);
    TRY(read_shape(s, body, k, error));
    shape->lines ? put_curve_points(s->text, job->positions, shape)
                 : put_points(s->text, job->positions, shape->vertex_count);
    find_extent(job->positions, shape->vertex_count, s->extent + 2 * k);
    export_progress(job, body * job->frame_count + k + 1, job->body_count * job->frame_count);
    return WEFT_OK;
}

static weft_status put_normal_sample(const stage* s, int body, int k, weft_error* error)
{
    const weft_cache_body* shape = export_topology(s->job, body, k);
    TRY(read_shape(s, body, k, error));
    export_normals(s->job, shape, s->job->positions, s->more);
    put_points(s->text, s->more, shape->vertex_count);
    return WEFT_OK;
}

static weft_status put_velocity_sample(const stage* s, int body, int k, weft_error* error)
{
    const weft_cache_body* shape = export_topology(s->job, body, k);
    TRY(export_velocities(s->job, body, k, s->more, error));
    shape->lines ? put_curve_points(s->text, s->more, shape) : put_points(s->text, s->more, shape->vertex_count);
    return WEFT_OK;
}

static weft_status put_field_value(const stage* s, int body, int k, int field, weft_error* error)
{
    export_job* job = s->job;
    double* values = &s->more->x;
    TRY(export_positions(job, body, k, job->positions, error));
    TRY(export_field(job, body, k, field, job->positions, values, error));
    export_text_put(s->text, "[");
    for (int v = 0; v < export_topology(job, body, k)->vertex_count; v++)
    {
        export_text_put(s->text, v > 0 ? ", " : "");
        export_text_number(s->text, values[v]);
    }
    export_text_put(s->text, "]");
    return WEFT_OK;
}

// Metadata have their place behind a value, which samples then override.
static weft_status put_field_samples(const stage* s, int body, int field, weft_error* error)
{
    char attribute[160], word[FIELD_NAME];
    snprintf(attribute, sizeof(attribute), "float[] primvars:%s", export_field_word(s->job, body, field, word));
    put_name(s, attribute, " = ");
    TRY(put_field_value(s, body, 0, field, error));
    export_text_put(s->text, " (\n            interpolation = \"vertex\"\n        )\n");
    put_name(s, attribute, ".timeSamples = {\n");
    for (int k = 0; k < s->job->frame_count; k++)
    {
        put_code(s, k);
        TRY(put_field_value(s, body, k, field, error));
        export_text_put(s->text, ",\n");
    }
    export_text_put(s->text, "        }\n");
    return WEFT_OK;
}

static weft_status put_fields(const stage* s, int body, weft_error* error)
{
    bool lines = export_last_topology(s->job, body)->lines != 0;
    for (int field = 0; field < export_field_count(s->job, body) && !lines; field++)
    {
        TRY(put_field_samples(s, body, field, error));
    }
    return WEFT_OK;
}

// Row vectors: the last row is the translation.
static void put_poses(const stage* s)
{
    put_name(s, "matrix4d xformOp:transform", ".timeSamples = {\n");
    for (int k = 0; k < s->job->frame_count; k++)
    {
        export_pose turn = s->pose[k];
        turn.t = v3(0, 0, 0);
        const vec3 rows[4] = {export_pose_apply(&turn, v3(1, 0, 0)), export_pose_apply(&turn, v3(0, 1, 0)),
                              export_pose_apply(&turn, v3(0, 0, 1)), s->pose[k].t};
        put_code(s, k);
        for (int r = 0; r < 4; r++)
        {
            const double row[3] = {rows[r].x, rows[r].y, rows[r].z};
            export_text_put(s->text, r > 0 ? ", (" : "( (");
            for (int c = 0; c < 3; c++)
            {
                char number[40];
                print_text(number, sizeof(number), "%.17g, ", row[c]);
                export_text_put(s->text, number);
            }
            export_text_put(s->text, r == 3 ? "1)" : "0)");
        }
        export_text_put(s->text, " ),\n");
    }
    export_text_put(s->text, "        }\n        uniform token[] xformOpOrder = [\"xformOp:transform\"]\n");
}

static weft_status put_frames(const stage* s, int body, weft_error* error)
{
    export_job* job = s->job;
    bool still = export_is_still(job, body) || s->pose, lines = export_last_topology(job, body)->lines != 0;
    TRY(put_samples(s, body, "point3f[] points", still, put_point_sample, error));
    export_text_put(s->text, still ? "\n" : "");
    put_extents(s, still ? 1 : job->frame_count, still);
    if (job->def->plain)
    {
        return WEFT_OK;
    }
    if (!lines)
    {
        // Metadata have their place behind a value, which samples then override.
        TRY(put_samples(s, body, "normal3f[] normals", true, put_normal_sample, error));
        export_text_put(s->text, " (\n            interpolation = \"vertex\"\n        )\n");
        TRY(still ? WEFT_OK : put_samples(s, body, "normal3f[] normals", false, put_normal_sample, error));
    }
    return still ? WEFT_OK : put_samples(s, body, "vector3f[] velocities", false, put_velocity_sample, error);
}

// A body that comes or goes is invisible where it is not there.
static void put_visibility(const stage* s, int body)
{
    bool any = false, before = true;
    for (int k = 0; k < s->job->frame_count; k++)
    {
        bool present = export_present(s->job, body, k);
        if (present == before)
        {
            continue;
        }
        export_text_put(s->text, any ? "" : "        token visibility.timeSamples = {\n");
        if (!any && k > 0)
        {
            put_code(s, 0);
            export_text_put(s->text, "\"inherited\",\n");
        }
        put_code(s, k);
        export_text_put(s->text, present ? "\"inherited\",\n" : "\"invisible\",\n");
        any = true;
        before = present;
    }
    export_text_put(s->text, any ? "        }\n" : "");
}

// ---- the stage

static void put_head(const stage* s)
{
    export_text_put(s->text, "#usda 1.0\n(\n    defaultPrim = \"run\"\n    doc = \"Made by Weft ");
    export_text_put(s->text, weft_version());
    export_text_put(s->text, "\"\n    endTimeCode = ");
    export_text_int(s->text, export_number(s->job, s->job->frame_count - 1));
    export_text_put(s->text, "\n    framesPerSecond = ");
    export_text_number(s->text, export_code_rate(s->job));
    export_text_put(s->text, "\n    metersPerUnit = ");
    export_text_number(s->text, 1.0 / s->job->def->scale);
    export_text_put(s->text, "\n    startTimeCode = ");
    export_text_int(s->text, export_number(s->job, 0));
    export_text_put(s->text, "\n    timeCodesPerSecond = ");
    export_text_number(s->text, export_code_rate(s->job));
    export_text_put(s->text, s->job->def->up == 'z' ? "\n    upAxis = \"Z\"\n)\n" : "\n    upAxis = \"Y\"\n)\n");
}

// As thick as the run says.
static void put_curves(const stage* s, int body)
{
    export_text_put(s->text, "        uniform token type = \"linear\"\n        uniform token wrap = \"nonperiodic\"\n"
                             "        float[] widths = [");
    export_text_number(s->text, s->job->def->scale * export_last_topology(s->job, body)->thickness);
    export_text_put(s->text, "] (\n            interpolation = \"constant\"\n        )\n");
    put_of_topology(s, body, "int[] curveVertexCounts", put_counts);
}

// ---- names of faces

// Braces and the name where it is another than the prim's.
static void put_custom_name(const stage* s, const char* indent, const char* name, const char* prim)
{
    if (strcmp(name, prim) != 0)
    {
        export_text_put(s->text, indent);
        export_text_put(s->text, "customData = {\n");
        export_text_put(s->text, indent);
        export_text_put(s->text, "    string name = ");
        export_text_quoted(s->text, name);
        export_text_put(s->text, "\n");
        export_text_put(s->text, indent);
        export_text_put(s->text, "}\n");
    }
}

static int look_of(const stage* s, const char* name)
{
    int k = 0;
    while (k < s->material_count && strcmp(s->material[k], name) != 0)
    {
        k++;
    }
    return k;
}

static void put_subset(const stage* s, int layer, const char* name, const char* prim, const int* face, int count)
{
    export_text_put(s->text, "\n        def GeomSubset ");
    export_text_quoted(s->text, prim);
    bool bound = layer == LAYER_MATERIAL, told = bound || strcmp(name, prim) != 0;
    export_text_put(s->text, told ? " (\n" : "\n        {\n");
    export_text_put(s->text, bound ? "            prepend apiSchemas = [\"MaterialBindingAPI\"]\n" : "");
    put_custom_name(s, "            ", name, prim);
    export_text_put(s->text, told ? "        )\n        {\n" : "");
    export_text_put(s->text, "            uniform token elementType = \"face\"\n            uniform token familyName = \"");
    export_text_put(s->text, layer == LAYER_MATERIAL ? "materialBind" : export_layer_word[layer]);
    export_text_put(s->text, "\"\n            int[] indices = ");
    put_ints(s->text, face, count);
    if (layer == LAYER_MATERIAL)
    {
        export_text_put(s->text, "\n            rel material:binding = </run/Looks/");
        export_text_put(s->text, s->look[look_of(s, name)]);
        export_text_put(s->text, ">");
    }
    export_text_put(s->text, "\n        }\n");
}

// Faces keep their numbers where cloth tears. prims: [names of all layers] made here.
static weft_status put_layers(const stage* s, const weft_cache_body* body, char** prims, weft_error* error)
{
    int made = 0;
    for (int layer = 0; layer < LAYER_COUNT; layer++)
    {
        const weft_names* names = export_layer(body, layer);
        export_faces faces;
        TRY(export_faces_make(names, body->face_count, &faces, error));
        bool room = true;
        for (int k = 0; k < names->count && faces.face && room; k++)
        {
            int count = faces.start[k + 1] - faces.start[k];
            prims[made] = count > 0 ? make_name(prims, made, names->names[k]) : NULL;
            room = prims[made] || count == 0;
            if (prims[made])
            {
                put_subset(s, layer, names->names[k], prims[made], faces.face + faces.start[k], count);
                made++;
            }
        }
        export_faces_finish(&faces);
        TRY(room ? WEFT_OK : error_set(error, WEFT_NO_MEMORY, NULL, 0, "no memory for the names of faces"));
    }
    return WEFT_OK;
}

static weft_status put_subsets(const stage* s, int body, weft_error* error)
{
    const weft_cache_body* shape = export_names_for_all(s->job, body);
    int count = shape ? shape->objects.count + shape->groups.count + shape->materials.count : 0;
    if (count == 0 || shape->lines)
    {
        return WEFT_OK;
    }
    char** prims = MEM_NEW(count, char*);
    weft_status status = prims ? put_layers(s, shape, prims, error)
                               : error_set(error, WEFT_NO_MEMORY, NULL, 0, "no memory for the names of faces");
    for (int k = 0; k < count && prims; k++)
    {
        mem_free(prims[k]);
    }
    mem_free(prims);
    return status;
}

static void put_looks(const stage* s)
{
    export_text_put(s->text, s->material_count > 0 ? "\n    def Scope \"Looks\"\n    {\n" : "");
    for (int k = 0; k < s->material_count; k++)
    {
        export_text_put(s->text, "        def Material ");
        export_text_quoted(s->text, s->look[k]);
        bool named = strcmp(s->look[k], s->material[k]) != 0;
        export_text_put(s->text, named ? " (\n" : "");
        put_custom_name(s, "            ", s->material[k], s->look[k]);
        export_text_put(s->text, named ? "        )\n        {\n        }\n" : "\n        {\n        }\n");
    }
    export_text_put(s->text, s->material_count > 0 ? "    }\n" : "");
}

static void put_color(const stage* s, int body)
{
    float c[3];
    export_color(s->job, body, c);
    export_text_put(s->text, "        color3f[] primvars:displayColor = [");
    put_point(s->text, v3((double)c[0], (double)c[1], (double)c[2]));
    export_text_put(s->text, "] (\n            interpolation = \"constant\"\n        )\n");
}

static weft_status put_body(stage* s, int body, weft_error* error)
{
    const char* name = export_body_name(s->job, body);
    bool lines = export_last_topology(s->job, body)->lines;
    export_text_put(s->text, lines ? "\n    def BasisCurves " : "\n    def Mesh ");
    export_text_quoted(s->text, s->name[body]);
    if (strcmp(name, s->name[body]) != 0)
    {
        export_text_put(s->text, " (\n        customData = {\n            string name = ");
        export_text_quoted(s->text, name);
        export_text_put(s->text, "\n        }\n    )");
    }
    export_text_put(s->text, lines ? "\n    {\n" : "\n    {\n        uniform bool doubleSided = 1\n");
    put_visibility(s, body);
    lines ? put_curves(s, body) : put_topology(s, body);
    put_color(s, body);
    TRY(export_rigid(s->job, body, &s->pose, error));
    weft_status status = put_frames(s, body, error);
    s->pose ? put_poses(s) : (void)0;
    mem_free(s->pose);
    s->pose = NULL;
    TRY(status);
    TRY(put_fields(s, body, error));
    export_text_put(s->text, lines ? "" : "        uniform token subdivisionScheme = \"none\"\n");
    TRY(put_subsets(s, body, error));
    export_text_put(s->text, "    }\n");
    return WEFT_OK;
}

static weft_status put_stage(stage* s, weft_error* error)
{
    put_head(s);
    export_text_put(s->text, "\ndef Xform \"run\"\n{");
    for (int body = 0; body < s->job->body_count; body++)
    {
        TRY(put_body(s, body, error));
    }
    put_looks(s);
    export_text_put(s->text, "}\n");
    export_text_flush(s->text);
    return WEFT_OK;
}

// The materials of all bodies, each name once.
static bool find_materials(stage* s)
{
    int capacity = 0;
    for (int body = 0; body < s->job->body_count; body++)
    {
        const weft_names* names = &export_topology(s->job, body, 0)->materials;
        for (int k = 0; k < names->count && names->faces; k++)
        {
            if (look_of(s, names->names[k]) < s->material_count)
            {
                continue;
            }
            if (!mem_grow((void**)&s->material, &capacity, s->material_count + 1, sizeof(char*)))
            {
                return false;
            }
            s->material[s->material_count++] = names->names[k];
        }
    }
    s->look = MEM_NEW(int_max(s->material_count, 1), char*);
    for (int k = 0; k < s->material_count && s->look; k++)
    {
        s->look[k] = make_name(s->look, k, s->material[k]);
        if (!s->look[k])
        {
            return false;
        }
    }
    return s->look != NULL;
}

static weft_status stage_start(stage* s, weft_error* error)
{
    export_job* job = s->job;
    s->text = MEM_NEW(1, export_text);
    s->name = MEM_NEW((size_t)job->body_count + 1, char*);
    s->extent = MEM_NEW(2 * (size_t)job->frame_count, vec3);
    s->more = mem_raw((size_t)job->most, sizeof(vec3));
    bool room = s->text && s->name && s->extent && s->more && find_materials(s);
    // No body has the name of the materials' scope.
    static char looks[] = "Looks";
    for (int body = 0; body < job->body_count && room; body++)
    {
        s->name[body] = looks;
        s->name[body] = make_name(s->name, body + 1, export_body_name(job, body));
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
    for (int k = 0; k < s->material_count && s->look; k++)
    {
        mem_free(s->look[k]);
    }
    mem_free(s->look);
    mem_free(s->material);
    mem_free(s->name);
    mem_free(s->extent);
    mem_free(s->more);
    mem_free(s->text);
}

weft_status export_usda(export_job* job, const char* target, weft_error* error)
{
    whole_file file;
    TRY(whole_file_open(&file, target, error));
    stage s = {.job = job};
    weft_status status = stage_start(&s, error);
    if (status == WEFT_OK)
    {
        s.text->file = &file;
        status = put_stage(&s, error);
    }
    stage_finish(&s);
    if (status != WEFT_OK)
    {
        whole_file_abandon(&file);
        return status;
    }
    return whole_file_close(&file, error);
}
