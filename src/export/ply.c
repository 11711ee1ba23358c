// PLY files, binary little endian: one for each body and frame, faces as given, lines as edges. A vt map becomes s and
// t of the vertices where each vertex has one place in it (0, 0 where no face has the vertex); a map with seams has no
// place in a PLY file. Each frame has its own topology.
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

static bool has_large_face(const weft_cache_body* body)
{
    bool large = false;
    for (int face = 0; face < body->face_count; face++)
    {
        large = large || body->face_start[face + 1] - body->face_start[face] > 255;
    }
    return large;
}

static void put_header(export_text* text, const weft_cache_body* body, bool mapped, bool large)
{
    export_text_put(text, "ply\nformat binary_little_endian 1.0\ncomment made by Weft ");
    export_text_put(text, weft_version());
    export_text_put(text, "\ncomment object ");
    export_text_name(text, body->name);
    export_text_put(text, "\nelement vertex ");
    export_text_int(text, body->vertex_count);
    export_text_put(text, "\nproperty float x\nproperty float y\nproperty float z\n");
    export_text_put(text, mapped ? "property float s\nproperty float t\n" : "");
    export_text_put(text, body->lines ? "element edge " : "element face ");
    export_text_int(text, body->lines ? body->segment_count : body->face_count);
    export_text_put(text, body->lines ? "\nproperty int vertex1\nproperty int vertex2\nend_header\n"
                          : large     ? "\nproperty list int int vertex_indices\nend_header\n"
                                      : "\nproperty list uchar int vertex_indices\nend_header\n");
    export_text_flush(text);
}

typedef struct ply_points
{
    whole_file* file;
    const weft_cache_body* body;
    const int* map; // [vertex_count], -1: no face has the vertex; or NULL
} ply_points;

static void put_piece(void* context, const vec3* x, int begin, int count)
{
    const ply_points* p = context;
    double rows[5 * ROWS];
    for (int done = 0; done < count && p->map; done += ROWS)
    {
        int size = int_min(ROWS, count - done);
        for (int v = 0; v < size; v++)
        {
            static const double unused[2] = {0.0, 0.0};
            int t = p->map[begin + done + v];
            const double* st = t >= 0 ? p->body->texcoords + 2 * (size_t)t : unused;
            const double row[5] = {x[done + v].x, x[done + v].y, x[done + v].z, st[0], st[1]};
            memcpy(rows + 5 * v, row, sizeof(row));
        }
        export_put_floats(p->file, rows, 5 * (int64_t)size);
    }
    if (!p->map)
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

static void put_faces(whole_file* file, const weft_cache_body* body, bool large)
{
    unsigned char piece[PIECE], *at = piece;
    for (int face = 0; face < body->face_count; face++)
    {
        int begin = body->face_start[face], corners = body->face_start[face + 1] - begin;
        WEFT_ASSERT(corners <= CORNERS_MAX);
        if (at + 4 * (corners + 1) > piece + PIECE)
        {
            whole_file_write(file, piece, (size_t)(at - piece));
            at = piece;
        }
        if (large)
        {
            at = pack_int(at, corners);
        }
        else
        {
            *at++ = (unsigned char)corners;
        }
        for (int k = 0; k < corners; k++)
        {
            at = pack_int(at, body->face_vertices[begin + k]);
        }
    }
    whole_file_write(file, piece, (size_t)(at - piece));
}

static weft_status put_ply(export_job* job, int body, int k, const int* map, whole_file* file, weft_error* error)
{
    const weft_cache_body* topology = export_topology(job, body, k);
    export_text* text = MEM_NEW(1, export_text);
    if (!text)
    {
        return error_set(error, WEFT_NO_MEMORY, NULL, 0, "no memory to write a file");
    }
    text->file = file;
    bool large = has_large_face(topology);
    put_header(text, topology, map != NULL, large);
    mem_free(text);
    ply_points points = {file, topology, map};
    TRY(export_pieces(job, body, k, put_piece, &points, error));
    if (topology->lines)
    {
        export_put_ints(file, topology->segments, 2 * (int64_t)topology->segment_count);
        return WEFT_OK;
    }
    put_faces(file, topology, large);
    return WEFT_OK;
}

static weft_status write_ply(export_job* job, int body, int k, const int* map, const char* path, weft_error* error)
{
    whole_file file;
    TRY(whole_file_open(&file, path, error));
    weft_status status = put_ply(job, body, k, map, &file, error);
    if (status != WEFT_OK)
    {
        whole_file_abandon(&file);
        return status;
    }
    return whole_file_close(&file, error);
}

static weft_status write_frame(export_job* job, int body, int k, const char* path, weft_error* error)
{
    int* map = NULL;
    TRY(find_map(export_topology(job, body, k), &map, error));
    weft_status status = write_ply(job, body, k, map, path, error);
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
