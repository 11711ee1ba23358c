// glTF 2.0 in one binary file (GLB): a node and a mesh for each body, triangles, and one morph target for each frame
// behind the first, which holds how far the vertices are from their places in the first. One animation moves all
// weights, linear between frames: at frame k the weight of target k - 1 is one and the others are zero.
//
// A glTF vertex has one texture coordinate: a vertex at a seam becomes several. The first of them keep the user's
// numbers, the others follow; extras.weft_index of a mesh is the user's vertex of each. v runs down in glTF. One
// topology, the last.
//
// The JSON stands before the data, of which it must know the bounds: room is left for these, and they are put in at the
// end, so that every frame is read once.
#define _POSIX_C_SOURCE 200809L
#include <string.h>
#include <sys/types.h>

#include "export/export.h"

enum
{
    NUMBER_WIDTH = 16,   // characters of a bound; nine digits, sign, point and exponent fit
    VIEW_VERTEX = 34962, // ARRAY_BUFFER
    VIEW_INDEX = 34963,  // ELEMENT_ARRAY_BUFFER
    TYPE_UINT = 5125,
    TYPE_FLOAT = 5126,
    HEAD_SIZE = 20, // header of the file and of the first chunk
    PIECE = 4096    // triangles or vertices that are written at once
};

static const uint64_t file_max = UINT32_MAX; // lengths in a GLB have 32 bits
static const double smallest = 1e-30;        // below it numbers are written as zero, in the data as in the bounds

typedef struct range
{
    vec3 low, high;
} range;

typedef struct gltf_mesh
{
    const weft_cache_body* body;
    int vertex_count;
    int* source;        // [vertex_count] the user's vertex
    int* texcoord;      // [vertex_count] -1: none; NULL: no vertex has one
    int* corner;        // [corners of all faces] glTF vertex; NULL: the user's
    int target_count;   // morph targets
    range* ranges;      // [1 + target_count] of the positions of the first frame, and of the targets
    uint64_t offset;    // of its data
    int view, accessor; // its first ones
} gltf_mesh;

typedef struct gltf
{
    export_job* job;
    whole_file* file;
    export_text* text;
    gltf_mesh* mesh; // [body_count]
    int frame_count;
    int view_count, accessor_count; // of all meshes; those of the animation follow
    uint64_t animation, size;       // offset of the animation's data, and bytes of all data
    bool moves;                     // there is an animation
    vec3* first;                    // [glTF vertices of the largest mesh] positions in the first frame, as floats
    vec3* out;                      // likewise: what is written
} gltf;

// ---- vertices, split at seams

// The copy of vertex v with texture coordinate t; where there is none yet, the vertex itself or a new copy becomes it.
static int find_copy(gltf_mesh* m, int* next, int v, int t)
{
    if (m->texcoord[v] < 0)
    {
        m->texcoord[v] = t;
    }
    int last = v;
    for (int g = v; g >= 0; g = next[g])
    {
        if (m->texcoord[g] == t || t < 0)
        {
            return g;
        }
        last = g;
    }
    int g = m->vertex_count++;
    m->source[g] = v;
    m->texcoord[g] = t;
    next[g] = -1;
    next[last] = g;
    return g;
}

static weft_status split_vertices(gltf_mesh* m, weft_error* error)
{
    const weft_cache_body* body = m->body;
    int corners = body->face_start[body->face_count];
    bool split = body->face_texcoords != NULL;
    size_t most = (size_t)body->vertex_count + (split ? (size_t)corners : 0);
    m->source = mem_raw(most, sizeof(int));
    m->texcoord = split ? mem_raw(most, sizeof(int)) : NULL;
    m->corner = split ? mem_raw((size_t)corners, sizeof(int)) : NULL;
    int* next = split ? mem_raw(most, sizeof(int)) : NULL;
    if (!m->source || (split && !(m->texcoord && m->corner && next)))
    {
        mem_free(next);
        return error_set(error, WEFT_NO_MEMORY, NULL, 0, "no memory for the vertices of %s", body->name);
    }
    m->vertex_count = body->vertex_count;
    for (int v = 0; v < body->vertex_count; v++)
    {
        m->source[v] = v;
        if (split)
        {
            m->texcoord[v] = next[v] = -1;
        }
    }
    for (int k = 0; k < corners && split; k++)
    {
        m->corner[k] = find_copy(m, next, body->face_vertices[k], body->face_texcoords[k]);
    }
    mem_free(next);
    return WEFT_OK;
}

// ---- where everything lies

static uint64_t index_bytes(const gltf_mesh* m)
{
    return 12 * (uint64_t)m->body->triangle_count;
}

static uint64_t texcoord_bytes(const gltf_mesh* m)
{
    return m->texcoord ? 8 * (uint64_t)m->vertex_count : 0;
}

static uint64_t frame_bytes(const gltf_mesh* m)
{
    return 12 * (uint64_t)m->vertex_count;
}

static weft_status mesh_start(gltf* g, int body, weft_error* error)
{
    gltf_mesh* m = &g->mesh[body];
    m->body = export_last_topology(g->job, body);
    m->target_count = export_is_still(g->job, body) ? 0 : g->frame_count - 1;
    TRY(split_vertices(m, error));
    m->ranges = MEM_NEW(1 + (size_t)m->target_count, range);
    if (!m->ranges)
    {
        return error_set(error, WEFT_NO_MEMORY, NULL, 0, "no memory for %d frames", g->frame_count);
    }
    m->offset = g->size;
    m->view = g->view_count;
    m->accessor = g->accessor_count;
    g->size += index_bytes(m) + texcoord_bytes(m) + (1 + (uint64_t)m->target_count) * frame_bytes(m);
    g->view_count += m->texcoord ? 3 : 2;
    g->accessor_count += (m->texcoord ? 3 : 2) + m->target_count;
    g->moves = g->moves || m->target_count > 0;
    return WEFT_OK;
}

static weft_status too_large(const gltf* g, const char* target, weft_error* error)
{
    return error_set(
        error, WEFT_UNSUPPORTED, target, 0,
        "this would be %.3g GB, and a GLB file holds 4.29 at most; choose fewer frames (--frames, --every) or "
        "bodies (--body), or another format",
        (double)g->size * 1e-9);
}

static weft_status gltf_start(gltf* g, const char* target, weft_error* error)
{
    g->mesh = MEM_NEW(g->job->body_count, gltf_mesh);
    g->text = MEM_NEW(1, export_text);
    if (!g->mesh || !g->text)
    {
        return error_set(error, WEFT_NO_MEMORY, target, 0, "no memory to write the file");
    }
    int most = 1;
    for (int body = 0; body < g->job->body_count; body++)
    {
        TRY(mesh_start(g, body, error));
        most = int_max(most, g->mesh[body].vertex_count);
    }
    g->animation = g->size;
    g->size +=
        g->moves ? 4 * (uint64_t)g->frame_count * (uint64_t)g->frame_count : 0; // times, and weights of F - 1 targets
    if (g->size > file_max)
    {
        return too_large(g, target, error);
    }
    g->first = mem_raw((size_t)most, sizeof(vec3));
    g->out = mem_raw((size_t)most, sizeof(vec3));
    return g->first && g->out ? WEFT_OK
                              : error_set(error, WEFT_NO_MEMORY, target, 0, "no memory for %d vertices", most);
}

static void gltf_finish(gltf* g)
{
    for (int body = 0; body < g->job->body_count && g->mesh; body++)
    {
        mem_free(g->mesh[body].source);
        mem_free(g->mesh[body].texcoord);
        mem_free(g->mesh[body].corner);
        mem_free(g->mesh[body].ranges);
    }
    mem_free(g->mesh);
    mem_free(g->first);
    mem_free(g->out);
    mem_free(g->text);
}

// ---- JSON

static void put(const gltf* g, const char* words)
{
    export_text_put(g->text, words);
}

static void put_int(const gltf* g, const char* words, int64_t value)
{
    char digits[32];
    snprintf(digits, sizeof(digits), "%lld", (long long)value);
    export_text_put(g->text, words);
    export_text_put(g->text, digits);
}

// Always as wide, so that another value can take its place.
static void put_bound(const gltf* g, double value)
{
    if (g->text->used + 2 * NUMBER_WIDTH > (int)sizeof(g->text->buffer))
    {
        export_text_flush(g->text);
    }
    int begin = g->text->used;
    export_text_number(g->text, value);
    while (g->text->used < begin + NUMBER_WIDTH)
    {
        put(g, " ");
    }
}

static void put_bounds(const gltf* g, const char* name, vec3 x)
{
    put(g, name);
    put_bound(g, x.x);
    put(g, ",");
    put_bound(g, x.y);
    put(g, ",");
    put_bound(g, x.z);
    put(g, "]");
}

static void put_accessor(const gltf* g, int view, uint64_t offset, int type, const char* shape, int64_t count)
{
    put_int(g, "{\"bufferView\":", view);
    put_int(g, ",\"byteOffset\":", (int64_t)offset);
    put_int(g, ",\"componentType\":", type);
    put_int(g, ",\"count\":", count);
    put(g, ",\"type\":\"");
    put(g, shape);
    put(g, "\"");
}

static void put_mesh_accessors(const gltf* g, const gltf_mesh* m)
{
    put_accessor(g, m->view, 0, TYPE_UINT, "SCALAR", 3 * (int64_t)m->body->triangle_count);
    put(g, "},\n");
    if (m->texcoord)
    {
        put_accessor(g, m->view + 1, 0, TYPE_FLOAT, "VEC2", m->vertex_count);
        put(g, "},\n");
    }
    int view = m->view + (m->texcoord ? 2 : 1);
    for (int t = 0; t <= m->target_count; t++)
    {
        put_accessor(g, view, (uint64_t)t * frame_bytes(m), TYPE_FLOAT, "VEC3", m->vertex_count);
        put_bounds(g, ",\"min\":[", m->ranges[t].low);
        put_bounds(g, ",\"max\":[", m->ranges[t].high);
        put(g, t < m->target_count ? "},\n" : "}");
    }
}

// The part of the JSON that changes when the data are written: it comes first and is written twice.
static void put_accessors(const gltf* g)
{
    put(g, "{\"asset\":{\"version\":\"2.0\",\"generator\":\"Weft ");
    put(g, weft_version());
    put(g, "\"},\n\"accessors\":[\n");
    for (int body = 0; body < g->job->body_count; body++)
    {
        put_mesh_accessors(g, &g->mesh[body]);
        put(g, body + 1 < g->job->body_count || g->moves ? ",\n" : "\n");
    }
    if (g->moves)
    {
        put_accessor(g, g->view_count, 0, TYPE_FLOAT, "SCALAR", g->frame_count);
        put(g, ",\"min\":[0],\"max\":[");
        put_bound(g, (float)export_time(g->job, g->frame_count - 1));
        put(g, "]},\n");
        put_accessor(g, g->view_count, 4 * (uint64_t)g->frame_count, TYPE_FLOAT, "SCALAR",
                     (int64_t)g->frame_count * (g->frame_count - 1));
        put(g, "}\n");
    }
    put(g, "]");
}

static void put_view(const gltf* g, uint64_t offset, uint64_t size, int target, int stride)
{
    put_int(g, "{\"buffer\":0,\"byteOffset\":", (int64_t)offset);
    put_int(g, ",\"byteLength\":", (int64_t)size);
    if (target)
    {
        put_int(g, ",\"target\":", target);
    }
    if (stride)
    {
        put_int(g, ",\"byteStride\":", stride);
    }
    put(g, "}");
}

static void put_views(const gltf* g)
{
    put_int(g, ",\n\"buffers\":[{\"byteLength\":", (int64_t)g->size);
    put(g, "}],\n\"bufferViews\":[\n");
    for (int body = 0; body < g->job->body_count; body++)
    {
        const gltf_mesh* m = &g->mesh[body];
        uint64_t texcoords = m->offset + index_bytes(m), positions = texcoords + texcoord_bytes(m);
        put_view(g, m->offset, index_bytes(m), VIEW_INDEX, 0);
        put(g, ",\n");
        if (m->texcoord)
        {
            put_view(g, texcoords, texcoord_bytes(m), VIEW_VERTEX, 0);
            put(g, ",\n");
        }
        put_view(g, positions, (1 + (uint64_t)m->target_count) * frame_bytes(m), VIEW_VERTEX, 12);
        put(g, body + 1 < g->job->body_count || g->moves ? ",\n" : "\n");
    }
    if (g->moves)
    {
        put_view(g, g->animation, g->size - g->animation, 0, 0);
        put(g, "\n");
    }
    put(g, "]");
}

static void put_targets(const gltf* g, const gltf_mesh* m, int positions)
{
    if (m->target_count == 0)
    {
        return;
    }
    put(g, ",\"targets\":[");
    for (int t = 1; t <= m->target_count; t++)
    {
        put_int(g, t > 1 ? ",{\"POSITION\":" : "{\"POSITION\":", positions + t);
        put(g, "}");
    }
    put(g, "]");
}

static void put_extras(const gltf* g, const gltf_mesh* m)
{
    put(g, ",\n\"extras\":{\"weft_index\":[");
    for (int v = 0; v < m->vertex_count; v++)
    {
        put(g, v > 0 ? "," : "");
        export_text_int(g->text, m->source[v]);
    }
    put(g, "]");
    if (m->target_count > 0)
    {
        put(g, ",\"targetNames\":[");
        for (int t = 1; t <= m->target_count; t++)
        {
            put_int(g, t > 1 ? ",\"frame " : "\"frame ", export_frame(g->job, t));
            put(g, "\"");
        }
        put(g, "]");
    }
    put(g, "}");
}

static void put_mesh(const gltf* g, int body)
{
    const gltf_mesh* m = &g->mesh[body];
    int positions = m->accessor + (m->texcoord ? 2 : 1);
    put(g, "{\"name\":");
    export_text_quoted(g->text, export_body_name(g->job, body));
    put_int(g, ",\"primitives\":[{\"mode\":4,\"material\":0,\"indices\":", m->accessor);
    put_int(g, ",\"attributes\":{\"POSITION\":", positions);
    if (m->texcoord)
    {
        put_int(g, ",\"TEXCOORD_0\":", m->accessor + 1);
    }
    put(g, "}");
    put_targets(g, m, positions);
    put(g, "}]");
    put_extras(g, m);
    put(g, "}");
}

static void put_animation(const gltf* g)
{
    put_int(g, ",\n\"animations\":[{\"name\":\"run\",\"samplers\":[{\"interpolation\":\"LINEAR\",\"input\":",
            g->accessor_count);
    put_int(g, ",\"output\":", g->accessor_count + 1);
    put(g, "}],\"channels\":[");
    const char* comma = "";
    for (int body = 0; body < g->job->body_count; body++)
    {
        if (g->mesh[body].target_count > 0)
        {
            put(g, comma);
            put_int(g, "{\"sampler\":0,\"target\":{\"path\":\"weights\",\"node\":", body);
            put(g, "}}");
            comma = ",";
        }
    }
    put(g, "]}]");
}

static void put_scene(const gltf* g)
{
    // Cloth has two sides.
    put(g,
        ",\n\"materials\":[{\"name\":\"cloth\",\"doubleSided\":true,\"pbrMetallicRoughness\":{\"metallicFactor\":0}}]"
        ",\n\"meshes\":[\n");
    for (int body = 0; body < g->job->body_count; body++)
    {
        put(g, body > 0 ? ",\n" : "");
        put_mesh(g, body);
    }
    put(g, "],\n\"nodes\":[");
    for (int body = 0; body < g->job->body_count; body++)
    {
        put_int(g, body > 0 ? ",{\"mesh\":" : "{\"mesh\":", body);
        put(g, ",\"name\":");
        export_text_quoted(g->text, export_body_name(g->job, body));
        put(g, "}");
    }
    put(g, "],\n\"scene\":0,\"scenes\":[{\"name\":\"run\",\"nodes\":[");
    for (int body = 0; body < g->job->body_count; body++)
    {
        put_int(g, body > 0 ? "," : "", body);
    }
    put(g, "]}]");
}

// ---- data

// The glTF vertex of a vertex in a face.
static int cut_vertex(const gltf_mesh* m, int face, int vertex)
{
    const weft_cache_body* body = m->body;
    int k = body->face_start[face];
    while (k + 1 < body->face_start[face + 1] && body->face_vertices[k] != vertex)
    {
        k++;
    }
    return m->corner[k];
}

static void put_indices(const gltf* g, const gltf_mesh* m)
{
    const weft_cache_body* body = m->body;
    if (!m->corner)
    {
        export_put_ints(g->file, body->triangles, 3 * body->triangle_count);
        return;
    }
    // Triangles lie in the order of the faces that they were cut from: as many of each as it has corners, less two.
    int piece[3 * PIECE], used = 0;
    const int* vertex = body->triangles;
    for (int face = 0; face < body->face_count; face++)
    {
        int count = 3 * (body->face_start[face + 1] - body->face_start[face] - 2);
        for (int k = 0; k < count; k++)
        {
            piece[used++] = cut_vertex(m, face, *vertex++);
            if (used == 3 * PIECE)
            {
                export_put_ints(g->file, piece, used);
                used = 0;
            }
        }
    }
    export_put_ints(g->file, piece, used);
}

static void put_texcoords(const gltf* g, const gltf_mesh* m)
{
    double piece[2 * PIECE];
    int used = 0;
    for (int v = 0; v < m->vertex_count && m->texcoord; v++)
    {
        const double* t = m->texcoord[v] >= 0 ? m->body->texcoords + 2 * m->texcoord[v] : NULL;
        piece[used++] = t ? t[0] : 0.0;
        piece[used++] = t ? 1.0 - t[1] : 0.0;
        if (used == 2 * PIECE)
        {
            export_put_floats(g->file, piece, used);
            used = 0;
        }
    }
    export_put_floats(g->file, piece, used);
}

static double as_float(double value)
{
    float narrow = (float)value;
    return fabs((double)narrow) < smallest ? 0.0 : (double)narrow;
}

static vec3 as_floats(vec3 x)
{
    return v3(as_float(x.x), as_float(x.y), as_float(x.z));
}

static range find_range(const vec3* x, int count)
{
    range r = {x[0], x[0]};
    for (int v = 1; v < count; v++)
    {
        r.low = v3(fmin(r.low.x, x[v].x), fmin(r.low.y, x[v].y), fmin(r.low.z, x[v].z));
        r.high = v3(fmax(r.high.x, x[v].x), fmax(r.high.y, x[v].y), fmax(r.high.z, x[v].z));
    }
    return r;
}

static weft_status put_frames(gltf* g, int body, weft_error* error)
{
    gltf_mesh* m = &g->mesh[body];
    export_job* job = g->job;
    for (int k = 0; k <= m->target_count; k++)
    {
        TRY(export_positions_last(job, body, k, job->positions, error));
        for (int v = 0; v < m->vertex_count; v++)
        {
            vec3 x = as_floats(job->positions[m->source[v]]);
            g->out[v] = k == 0 ? x : as_floats(v3_sub(x, g->first[v]));
        }
        if (k == 0)
        {
            memcpy(g->first, g->out, (size_t)m->vertex_count * sizeof(vec3));
        }
        m->ranges[k] = find_range(g->out, m->vertex_count);
        export_put_floats(g->file, export_flat(g->out), 3 * (int64_t)m->vertex_count);
        export_progress(job, body * job->frame_count + k + 1, job->body_count * job->frame_count);
    }
    return WEFT_OK;
}

static void put_animation_data(const gltf* g)
{
    for (int k = 0; k < g->frame_count; k++)
    {
        double time = export_time(g->job, k);
        export_put_floats(g->file, &time, 1);
    }
    for (int k = 0; k < g->frame_count; k++)
    {
        for (int t = 1; t < g->frame_count; t++)
        {
            double weight = t == k ? 1.0 : 0.0;
            export_put_floats(g->file, &weight, 1);
        }
    }
}

static weft_status put_data(gltf* g, weft_error* error)
{
    for (int body = 0; body < g->job->body_count; body++)
    {
        put_indices(g, &g->mesh[body]);
        put_texcoords(g, &g->mesh[body]);
        TRY(put_frames(g, body, error));
    }
    if (g->moves)
    {
        put_animation_data(g);
    }
    return WEFT_OK;
}

// ---- the file

static void put_head(const gltf* g, uint32_t total, uint32_t json)
{
    const int numbers[3] = {2, (int)total, (int)json}; // the version first
    whole_file_write(g->file, "glTF", 4);
    export_put_ints(g->file, numbers, 3);
    whole_file_write(g->file, "JSON", 4);
}

// JSON, data, then the head and the bounds. Nothing of it can be written before the size of the JSON is known.
static weft_status put_file(gltf* g, const char* target, weft_error* error)
{
    put_head(g, 0, 0);
    put_accessors(g);
    put_views(g);
    put_scene(g);
    if (g->moves)
    {
        put_animation(g);
    }
    put(g, "}");
    export_text_flush(g->text);
    off_t end = ftello(g->file->stream);
    if (end < 0)
    {
        return file_error(error, target, "cannot write");
    }
    uint64_t json = (uint64_t)end - HEAD_SIZE;
    for (; json % 4 != 0; json++)
    {
        whole_file_write(g->file, " ", 1);
    }
    uint64_t total = HEAD_SIZE + json + 8 + g->size;
    if (total > file_max)
    {
        return too_large(g, target, error);
    }
    const int size = (int)(uint32_t)g->size;
    export_put_ints(g->file, &size, 1);
    whole_file_write(g->file, "BIN", 4); // with its zero
    TRY(put_data(g, error));
    if (fseeko(g->file->stream, 0, SEEK_SET) != 0)
    {
        return file_error(error, target, "cannot write");
    }
    put_head(g, (uint32_t)total, (uint32_t)json);
    put_accessors(g);
    export_text_flush(g->text);
    return WEFT_OK;
}

weft_status export_gltf(export_job* job, const char* target, weft_error* error)
{
    whole_file file;
    gltf g = {.job = job, .file = &file, .frame_count = job->frame_count};
    weft_status status = gltf_start(&g, target, error);
    if (status != WEFT_OK)
    {
        gltf_finish(&g);
        return status;
    }
    status = whole_file_open(&file, target, error);
    if (status == WEFT_OK)
    {
        g.text->file = &file;
        status = put_file(&g, target, error);
        if (status == WEFT_OK)
        {
            status = whole_file_close(&file, error);
        }
        else
        {
            whole_file_abandon(&file);
        }
    }
    gltf_finish(&g);
    return status;
}
