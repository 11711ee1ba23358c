// PLY files, binary little endian: one for each body and frame, faces as given, lines as edges. A vt map becomes s and
// t of the vertices where each vertex has one place in it (0, 0 where no face has the vertex); a map with seams becomes
// the list `texcoord` of each face, u and v of its corners. Names are comments, `comment material 0 denim`, which the
// faces' `object`, `group` and `material` are numbers of, -1 for none. Each frame has its own topology.
#include <string.h>

#include "export/export.h"

enum
{
    PIECE = 1 << 17, // bytes
    ROWS = 4096,     // vertices
    CORNERS_MAX = 4096
};

// ---- vt of vertices

// *map stays NULL where there is none; the caller frees.
static weft_status find_map(const weft_cache_body* body, int** map, weft_error* error)
{
    if (!body->texcoords || !body->face_texcoords)
    {
        return WEFT_OK;
    }
    *map = mem_raw((size_t)body->vertex_count, sizeof(int));
    if (!*map)
    {
        return error_set(error, WEFT_NO_MEMORY, NULL, 0, "no memory for the vt map of `%.100s`", body->name);
    }
    if (!export_vertex_texcoords(body, *map))
    {
        mem_free(*map);
        *map = NULL;
    }
    return WEFT_OK;
}

// ---- a file

static bool has_large_face(const weft_cache_body* body, int limit)
{
    bool large = false;
    for (int face = 0; face < body->face_count; face++)
    {
        large = large || body->face_start[face + 1] - body->face_start[face] > limit;
    }
    return large;
}

// What a file has beside the points and corners.
typedef struct ply_form
{
    const int* map; // [vertex_count] texture coordinate of each vertex, -1: no face has the vertex; or NULL
    bool corners;   // texture coordinates of corners instead
    int fields;     // numbers of vertices behind
    double* values; // [fields * vertex_count] field by field
    bool large;     // faces have more corners than a byte counts
} ply_form;

static void put_face_header(export_text* text, const weft_cache_body* body, const ply_form* form)
{
    const char* list = form->large ? "\nproperty list int " : "\nproperty list uchar ";
    export_text_put(text, list);
    export_text_put(text, "int vertex_indices");
    if (form->corners)
    {
        export_text_put(text, list);
        export_text_put(text, "float texcoord");
    }
    for (int layer = 0; layer < LAYER_COUNT; layer++)
    {
        if (export_layer(body, layer)->faces)
        {
            export_text_put(text, "\nproperty int ");
            export_text_put(text, export_layer_word[layer]);
        }
    }
}

static void put_names(export_text* text, const weft_cache_body* body)
{
    for (int layer = 0; layer < LAYER_COUNT && !body->lines; layer++)
    {
        const weft_names* names = export_layer(body, layer);
        for (int k = 0; k < names->count; k++)
        {
            export_text_put(text, "\ncomment ");
            export_text_put(text, export_layer_word[layer]);
            export_text_char(text, ' ');
            export_text_int(text, k);
            export_text_char(text, ' ');
            export_text_name(text, names->names[k]);
        }
    }
}

static void put_header(const export_job* job, int number, export_text* text, const ply_form* form, int k)
{
    const weft_cache_body* body = export_topology(job, number, k);
    export_text_put(text, "ply\nformat binary_little_endian 1.0\ncomment made by Weft ");
    export_text_put(text, weft_version());
    export_text_put(text, "\ncomment object ");
    export_text_name(text, body->name);
    put_names(text, body);
    export_text_put(text, "\nelement vertex ");
    export_text_int(text, body->vertex_count);
    export_text_put(text, "\nproperty float x\nproperty float y\nproperty float z\n");
    export_text_put(text, form->map ? "property float s\nproperty float t\n" : "");
    for (int field = 0; field < form->fields; field++)
    {
        char word[FIELD_NAME];
        export_text_put(text, "property float ");
        export_text_put(text, export_field_word(job, number, field, word));
        export_text_put(text, "\n");
    }
    export_text_put(text, body->lines ? "element edge " : "element face ");
    export_text_int(text, body->lines ? body->segment_count : body->face_count);
    body->lines ? export_text_put(text, "\nproperty int vertex1\nproperty int vertex2")
                : put_face_header(text, body, form);
    export_text_put(text, "\nend_header\n");
    export_text_flush(text);
}

typedef struct ply_points
{
    whole_file* file;
    const weft_cache_body* body;
    const ply_form* form;
} ply_points;

// x y z, s t, fields.
static void put_rows(const ply_points* p, const vec3* x, int begin, int count)
{
    const ply_form* form = p->form;
    for (int v = 0; v < count; v++)
    {
        static const double unused[2] = {0.0, 0.0};
        export_put_floats(p->file, &x[v].x, 3);
        int t = form->map ? form->map[begin + v] : -1;
        form->map ? export_put_floats(p->file, t >= 0 ? p->body->texcoords + 2 * (size_t)t : unused, 2) : (void)0;
        for (int field = 0; field < form->fields; field++)
        {
            size_t at = (size_t)field * (size_t)p->body->vertex_count + (size_t)(begin + v);
            export_put_floats(p->file, &form->values[at], 1);
        }
    }
}

static void put_mapped(const ply_points* p, const vec3* x, int begin, int count)
{
    double rows[5 * ROWS];
    for (int done = 0; done < count; done += ROWS)
    {
        int size = int_min(ROWS, count - done);
        for (int v = 0; v < size; v++)
        {
            static const double unused[2] = {0.0, 0.0};
            int t = p->form->map[begin + done + v];
            const double* st = t >= 0 ? p->body->texcoords + 2 * (size_t)t : unused;
            const double row[5] = {x[done + v].x, x[done + v].y, x[done + v].z, st[0], st[1]};
            memcpy(rows + 5 * v, row, sizeof(row));
        }
        export_put_floats(p->file, rows, 5 * (int64_t)size);
    }
}

static void put_piece(void* context, const vec3* x, int begin, int count)
{
    const ply_points* p = context;
    if (p->form->fields > 0)
    {
        put_rows(p, x, begin, count);
    }
    else if (p->form->map)
    {
        put_mapped(p, x, begin, count);
    }
    else
    {
        export_put_floats(p->file, export_flat(x), 3 * (int64_t)count);
    }
}

static unsigned char* pack_int(unsigned char* out, int value)
{
    const unsigned char bytes[4] = {(unsigned char)value, (unsigned char)(value >> 8), (unsigned char)(value >> 16),
                                    (unsigned char)(value >> 24)};
    memcpy(out, bytes, sizeof(bytes));
    return out + sizeof(bytes);
}

static unsigned char* pack_float(unsigned char* out, double value)
{
    float narrow = (float)value;
    int bits;
    memcpy(&bits, &narrow, sizeof(bits));
    return pack_int(out, bits);
}

static unsigned char* pack_count(unsigned char* out, int count, bool large)
{
    *out = (unsigned char)count;
    return large ? pack_int(out, count) : out + 1;
}

// Corners without have 0 0.
static unsigned char* pack_texcoords(unsigned char* out, const weft_cache_body* body, int begin, int corners)
{
    for (int k = begin; k < begin + corners; k++)
    {
        int t = body->face_texcoords[k];
        out = pack_float(out, t >= 0 ? body->texcoords[2 * (size_t)t] : 0.0);
        out = pack_float(out, t >= 0 ? body->texcoords[2 * (size_t)t + 1] : 0.0);
    }
    return out;
}

static void put_faces(whole_file* file, const weft_cache_body* body, const ply_form* form)
{
    unsigned char piece[PIECE], *at = piece;
    for (int face = 0; face < body->face_count; face++)
    {
        int begin = body->face_start[face], corners = body->face_start[face + 1] - begin;
        WEFT_ASSERT(corners <= CORNERS_MAX);
        if (at + 4 * (3 * corners + 2 + LAYER_COUNT) > piece + PIECE)
        {
            whole_file_write(file, piece, (size_t)(at - piece));
            at = piece;
        }
        at = pack_count(at, corners, form->large);
        for (int k = 0; k < corners; k++)
        {
            at = pack_int(at, body->face_vertices[begin + k]);
        }
        if (form->corners)
        {
            at = pack_texcoords(pack_count(at, 2 * corners, form->large), body, begin, corners);
        }
        for (int layer = 0; layer < LAYER_COUNT; layer++)
        {
            const weft_names* names = export_layer(body, layer);
            at = names->faces ? pack_int(at, names->faces[face]) : at;
        }
    }
    whole_file_write(file, piece, (size_t)(at - piece));
}

static weft_status put_ply(export_job* job, int body, int k, const ply_form* form, whole_file* file, weft_error* error)
{
    const weft_cache_body* topology = export_topology(job, body, k);
    export_text* text = MEM_NEW(1, export_text);
    if (!text)
    {
        return error_set(error, WEFT_NO_MEMORY, NULL, 0, "no memory to write a file");
    }
    text->file = file;
    put_header(job, body, text, form, k);
    mem_free(text);
    ply_points points = {file, topology, form};
    TRY(export_pieces(job, body, k, put_piece, &points, error));
    if (topology->lines)
    {
        export_put_ints(file, topology->segments, 2 * (int64_t)topology->segment_count);
        return WEFT_OK;
    }
    put_faces(file, topology, form);
    return WEFT_OK;
}

static weft_status write_ply(export_job* job, int body, int k, const ply_form* form, const char* path,
                             weft_error* error)
{
    whole_file file;
    TRY(whole_file_open(&file, path, error));
    weft_status status = put_ply(job, body, k, form, &file, error);
    if (status != WEFT_OK)
    {
        whole_file_abandon(&file);
        return status;
    }
    return whole_file_close(&file, error);
}

static weft_status read_fields(export_job* job, int body, int k, ply_form* form, weft_error* error)
{
    size_t points = (size_t)export_topology(job, body, k)->vertex_count;
    form->fields = export_field_count(job, body);
    if (form->fields == 0)
    {
        return WEFT_OK;
    }
    form->values = mem_raw((size_t)form->fields * points + 1, sizeof(double));
    TRY(form->values ? WEFT_OK : error_set(error, WEFT_NO_MEMORY, NULL, 0, "no memory for fields"));
    TRY(export_positions(job, body, k, job->positions, error));
    for (int field = 0; field < form->fields; field++)
    {
        TRY(export_field(job, body, k, field, job->positions, form->values + (size_t)field * points, error));
    }
    return WEFT_OK;
}

static weft_status write_frame(export_job* job, int body, int k, const char* path, weft_error* error)
{
    const weft_cache_body* topology = export_topology(job, body, k);
    int* map = NULL;
    TRY(find_map(topology, &map, error));
    ply_form form = {.map = map, .corners = topology->face_texcoords && !map && !topology->lines};
    form.large = has_large_face(topology, form.corners ? 127 : 255);
    weft_status status = read_fields(job, body, k, &form, error);
    status = status == WEFT_OK ? write_ply(job, body, k, &form, path, error) : status;
    mem_free(form.values);
    mem_free(map);
    return status;
}

weft_status export_ply_file(export_job* job, const char* target, weft_error* error)
{
    return write_frame(job, 0, 0, target, error);
}

weft_status export_ply(export_job* job, const char* target, weft_error* error)
{
    return export_sequence(job, target, ".ply", write_frame, error);
}
