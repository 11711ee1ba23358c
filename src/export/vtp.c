// VTK PolyData, one file for each body and frame, NAME.0012.vtp with the number of the run's frame, and run.pvd, which
// gives each its time. Arrays are appended raw behind the XML: an underscore, then for each a 64-bit count of bytes and
// the bytes. Faces as given, as polys, or lines as lines. VTK has texture coordinates by vertex alone: they are written
// where no vertex has two; elsewhere the field `vt_corners` has those of all corners, one after the other. Names are
// the fields `objects`, `groups` and `materials`, which the cells' `object`, `group` and `material` are numbers of.
#include <string.h>

#include "export/export.h"

enum
{
    PIECE = 4096 // vertices
};

// What stays from frame to frame while the topology does.
typedef struct vtp_mesh
{
    const weft_cache_body* body;
    int* texcoord; // [vertex_count] of each vertex, -1: no face has it; NULL: none, or seams
} vtp_mesh;

static weft_status mesh_set(vtp_mesh* mesh, const weft_cache_body* body, weft_error* error)
{
    mem_free(mesh->texcoord);
    *mesh = (vtp_mesh){.body = body};
    if (!body->face_texcoords)
    {
        return WEFT_OK;
    }
    mesh->texcoord = mem_raw((size_t)body->vertex_count, sizeof(int));
    if (!mesh->texcoord)
    {
        return error_set(error, WEFT_NO_MEMORY, NULL, 0, "no memory for %d vertices", body->vertex_count);
    }
    if (!export_vertex_texcoords(body, mesh->texcoord))
    {
        mem_free(mesh->texcoord);
        mesh->texcoord = NULL;
    }
    return WEFT_OK;
}

// ---- one file

// Names the array and moves the offset behind it: its count of bytes and its bytes.
static void declare_array(FILE* out, const char* type, const char* name, int components, uint64_t size,
                          uint64_t* offset)
{
    fprintf(out, "<DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" format=\"appended\" offset=\"%llu\"/>\n",
            type, name, components, (unsigned long long)*offset);
    *offset += 8 + size;
}

static void put_size(whole_file* file, uint64_t size)
{
    const int words[2] = {(int)(uint32_t)size, (int)(uint32_t)(size >> 32)};
    export_put_ints(file, words, 2);
}

static bool has_corner_texcoords(const vtp_mesh* mesh)
{
    return mesh->body->face_texcoords && !mesh->texcoord;
}

// A string is its bytes and a zero, as numbers.
static void put_strings(FILE* out, const char* name, const weft_names* names)
{
    fprintf(out, "<Array type=\"String\" Name=\"%ss\" NumberOfTuples=\"%d\" format=\"ascii\">\n", name, names->count);
    for (int k = 0; k < names->count; k++)
    {
        for (const unsigned char* c = (const unsigned char*)names->names[k]; *c; c++)
        {
            fprintf(out, "%d ", *c);
        }
        fputs("0\n", out);
    }
    fputs("</Array>\n", out);
}

static void put_fields(FILE* out, const vtp_mesh* mesh, uint64_t* offset)
{
    const weft_cache_body* body = mesh->body;
    bool any = has_corner_texcoords(mesh);
    for (int layer = 0; layer < LAYER_COUNT; layer++)
    {
        any = any || export_layer(body, layer)->faces;
    }
    fputs(any ? "<FieldData>\n" : "", out);
    for (int layer = 0; layer < LAYER_COUNT; layer++)
    {
        const weft_names* names = export_layer(body, layer);
        names->faces ? put_strings(out, export_layer_word[layer], names) : (void)0;
    }
    if (has_corner_texcoords(mesh))
    {
        uint64_t corners = (uint64_t)body->face_start[body->face_count];
        fprintf(out,
                "<DataArray type=\"Float32\" Name=\"vt_corners\" NumberOfComponents=\"2\" NumberOfTuples=\"%llu\" "
                "format=\"appended\" offset=\"%llu\"/>\n",
                (unsigned long long)corners, (unsigned long long)*offset);
        *offset += 8 + 8 * corners;
    }
    fputs(any ? "</FieldData>\n" : "", out);
}

static void put_cell_declarations(FILE* out, const weft_cache_body* body, uint64_t* offset)
{
    if (!body->objects.faces && !body->groups.faces && !body->materials.faces)
    {
        return;
    }
    fputs("<CellData>\n", out);
    for (int layer = 0; layer < LAYER_COUNT; layer++)
    {
        if (export_layer(body, layer)->faces)
        {
            declare_array(out, "Int32", export_layer_word[layer], 1, 4 * (uint64_t)body->face_count, offset);
        }
    }
    fputs("</CellData>\n", out);
}

static void put_declarations(const export_job* job, int number, FILE* out, const vtp_mesh* mesh)
{
    const weft_cache_body* body = mesh->body;
    uint64_t offset = 0, points = (uint64_t)body->vertex_count;
    fputs("<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\" "
          "header_type=\"UInt64\">\n<PolyData>\n",
          out);
    put_fields(out, mesh, &offset);
    fprintf(
        out,
        "<Piece NumberOfPoints=\"%d\" NumberOfVerts=\"0\" NumberOfLines=\"%d\" "
        "NumberOfStrips=\"0\" NumberOfPolys=\"%d\">\n<Points>\n",
        body->vertex_count, body->lines ? body->face_count : 0, body->lines ? 0 : body->face_count);
    declare_array(out, "Float32", "Points", 3, 12 * points, &offset);
    fputs(body->lines ? "</Points>\n<Lines>\n" : "</Points>\n<Polys>\n", out);
    declare_array(out, "Int32", "connectivity", 1, 4 * (uint64_t)body->face_start[body->face_count], &offset);
    declare_array(out, "Int32", "offsets", 1, 4 * (uint64_t)body->face_count, &offset);
    fputs(body->lines ? "</Lines>\n" : "</Polys>\n", out);
    int fields = export_field_count(job, number);
    if (mesh->texcoord || fields > 0)
    {
        fputs(mesh->texcoord ? "<PointData TCoords=\"vt\">\n" : "<PointData>\n", out);
        mesh->texcoord ? declare_array(out, "Float32", "vt", 2, 8 * points, &offset) : (void)0;
        for (int k = 0; k < fields; k++)
        {
            char word[FIELD_NAME];
            declare_array(out, "Float32", export_field_word(job, number, k, word), 1, 4 * points, &offset);
        }
        fputs("</PointData>\n", out);
    }
    put_cell_declarations(out, body, &offset);
    fputs("</Piece>\n</PolyData>\n<AppendedData encoding=\"raw\">\n_", out);
}

static void put_points(void* context, const vec3* x, int begin, int count)
{
    (void)begin;
    export_put_floats(context, export_flat(x), 3 * (int64_t)count);
}

static void put_texcoords(whole_file* file, const vtp_mesh* mesh)
{
    double piece[2 * PIECE];
    for (int begin = 0; begin < mesh->body->vertex_count; begin += PIECE)
    {
        int size = int_min(PIECE, mesh->body->vertex_count - begin);
        for (int v = 0; v < size; v++)
        {
            int t = mesh->texcoord[begin + v];
            piece[2 * v] = t >= 0 ? mesh->body->texcoords[2 * (size_t)t] : 0.0;
            piece[2 * v + 1] = t >= 0 ? mesh->body->texcoords[2 * (size_t)t + 1] : 0.0;
        }
        export_put_floats(file, piece, 2 * (int64_t)size);
    }
}

// Corners without have 0 0.
static void put_corner_texcoords(whole_file* file, const vtp_mesh* mesh)
{
    const weft_cache_body* body = mesh->body;
    int corners = has_corner_texcoords(mesh) ? body->face_start[body->face_count] : 0;
    double piece[2 * PIECE];
    corners > 0 ? put_size(file, 8 * (uint64_t)corners) : (void)0;
    for (int begin = 0; begin < corners; begin += PIECE)
    {
        int size = int_min(PIECE, corners - begin);
        for (int k = 0; k < size; k++)
        {
            int t = body->face_texcoords[begin + k];
            piece[2 * k] = t >= 0 ? body->texcoords[2 * (size_t)t] : 0.0;
            piece[2 * k + 1] = t >= 0 ? body->texcoords[2 * (size_t)t + 1] : 0.0;
        }
        export_put_floats(file, piece, 2 * (int64_t)size);
    }
}

static void put_faces(whole_file* file, const weft_cache_body* body)
{
    int corners = body->face_start[body->face_count];
    put_size(file, 4 * (uint64_t)corners);
    export_put_ints(file, body->face_vertices, corners);
    put_size(file, 4 * (uint64_t)body->face_count);
    export_put_ints(file, body->face_start + 1, body->face_count);
}

static weft_status put_field_values(export_job* job, int body, int k, whole_file* file, weft_error* error)
{
    int count = export_field_count(job, body), points = export_topology(job, body, k)->vertex_count;
    double* values = count > 0 ? mem_raw((size_t)int_max(points, 1), sizeof(double)) : NULL;
    weft_status status = count == 0 || values ? WEFT_OK : error_set(error, WEFT_NO_MEMORY, NULL, 0, "no memory");
    status = status == WEFT_OK && count > 0 ? export_positions(job, body, k, job->positions, error) : status;
    for (int field = 0; field < count && status == WEFT_OK; field++)
    {
        status = export_field(job, body, k, field, job->positions, values, error);
        put_size(file, 4 * (uint64_t)points);
        status == WEFT_OK ? export_put_floats(file, values, points) : (void)0;
    }
    mem_free(values);
    return status;
}

static weft_status put_file(export_job* job, int body, int k, const vtp_mesh* mesh, whole_file* file, weft_error* error)
{
    uint64_t points = (uint64_t)mesh->body->vertex_count;
    put_declarations(job, body, file->stream, mesh);
    put_corner_texcoords(file, mesh);
    put_size(file, 12 * points);
    TRY(export_pieces(job, body, k, put_points, file, error));
    put_faces(file, mesh->body);
    if (mesh->texcoord)
    {
        put_size(file, 8 * points);
        put_texcoords(file, mesh);
    }
    TRY(put_field_values(job, body, k, file, error));
    for (int layer = 0; layer < LAYER_COUNT; layer++)
    {
        const weft_names* names = export_layer(mesh->body, layer);
        if (names->faces)
        {
            put_size(file, 4 * (uint64_t)mesh->body->face_count);
            export_put_ints(file, names->faces, mesh->body->face_count);
        }
    }
    fputs("\n</AppendedData>\n</VTKFile>\n", file->stream);
    return WEFT_OK;
}

static weft_status write_frame(export_job* job, int body, int k, vtp_mesh* mesh, const char* path, weft_error* error)
{
    if (mesh->body != export_topology(job, body, k))
    {
        TRY(mesh_set(mesh, export_topology(job, body, k), error));
    }
    whole_file file;
    TRY(whole_file_open(&file, path, error));
    weft_status status = put_file(job, body, k, mesh, &file, error);
    if (status != WEFT_OK)
    {
        whole_file_abandon(&file);
        return status;
    }
    return whole_file_close(&file, error);
}

// ---- the collection

static void put_escaped(export_text* text, const char* words)
{
    for (const char* c = words; *c; c++)
    {
        if (strchr("&<\"\t\n\r", *c)) // also what a reader would make a space of
        {
            export_text_put(text, "&#");
            export_text_int(text, *c);
            export_text_put(text, ";");
        }
        else
        {
            export_text_char(text, *c);
        }
    }
}

// A body that stands still has one file, which all frames share.
static weft_status body_path(const export_job* job, const char* folder, int body, int k, char path[EXPORT_PATH],
                             weft_error* error)
{
    return export_is_still(job, body) ? export_path(folder, export_body_name(job, body), ".vtp", path, error)
                                      : export_frame_path(job, folder, body, k, ".vtp", path, error);
}

static weft_status put_entry(const export_job* job, export_text* text, int body, int k, weft_error* error)
{
    char path[EXPORT_PATH];
    TRY(body_path(job, ".", body, k, path, error));
    export_text_put(text, "<DataSet timestep=\"");
    export_text_number(text, export_time(job, k));
    export_text_put(text, "\" part=\"");
    export_text_int(text, body);
    export_text_put(text, "\" name=\"");
    put_escaped(text, export_body_name(job, body));
    export_text_put(text, "\" file=\"");
    put_escaped(text, path + strlen("./"));
    export_text_put(text, "\"/>\n");
    return WEFT_OK;
}

static weft_status put_collection(const export_job* job, export_text* text, weft_error* error)
{
    export_text_put(text, "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" "
                          "byte_order=\"LittleEndian\">\n<Collection>\n");
    for (int k = 0; k < job->frame_count; k++)
    {
        for (int body = 0; body < job->body_count; body++)
        {
            TRY(export_present(job, body, k) ? put_entry(job, text, body, k, error) : WEFT_OK);
        }
    }
    export_text_put(text, "</Collection>\n</VTKFile>\n");
    export_text_flush(text);
    return WEFT_OK;
}

static weft_status write_collection(const export_job* job, const char* target, weft_error* error)
{
    char path[EXPORT_PATH];
    whole_file file;
    TRY(export_path(target, "run", ".pvd", path, error));
    TRY(whole_file_open(&file, path, error));
    export_text* text = MEM_NEW(1, export_text);
    weft_status status = text ? WEFT_OK : error_set(error, WEFT_NO_MEMORY, path, 0, "no memory to write the file");
    if (text)
    {
        text->file = &file;
        status = put_collection(job, text, error);
        mem_free(text);
    }
    if (status != WEFT_OK)
    {
        whole_file_abandon(&file);
        return status;
    }
    return whole_file_close(&file, error);
}

// ---- the format

weft_status export_vtp_file(export_job* job, const char* target, weft_error* error)
{
    vtp_mesh mesh = {0};
    weft_status status = write_frame(job, 0, 0, &mesh, target, error);
    export_progress(job, 1, 1);
    mem_free(mesh.texcoord);
    return status;
}

static weft_status write_body(export_job* job, int body, vtp_mesh* mesh, const char* target, weft_error* error)
{
    int files = export_is_still(job, body) ? 1 : job->frame_count;
    for (int k = 0; k < files; k++)
    {
        char path[EXPORT_PATH];
        if (files > 1 && !export_present(job, body, k))
        {
            continue;
        }
        TRY(body_path(job, target, body, k, path, error));
        TRY(write_frame(job, body, k, mesh, path, error));
        export_progress(job, body * job->frame_count + k + 1, job->body_count * job->frame_count);
    }
    return WEFT_OK;
}

weft_status export_vtp(export_job* job, const char* target, weft_error* error)
{
    vtp_mesh mesh = {0};
    weft_status status = WEFT_OK;
    for (int body = 0; body < job->body_count && status == WEFT_OK; body++)
    {
        status = write_body(job, body, &mesh, target, error);
    }
    mem_free(mesh.texcoord);
    return status == WEFT_OK ? write_collection(job, target, error) : status;
}
