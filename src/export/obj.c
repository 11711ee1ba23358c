// OBJ files: one for each body and frame, with faces or lines as given, vt, groups, materials and the objects of the
// run's mesh, or the body's name where it has none. Each frame has its own topology.
#include "export/export.h"

static void put_vertices(export_text* text, const vec3* x, int count)
{
    for (int v = 0; v < count; v++)
    {
        export_text_put(text, "v ");
        export_text_number(text, x[v].x);
        export_text_char(text, ' ');
        export_text_number(text, x[v].y);
        export_text_char(text, ' ');
        export_text_number(text, x[v].z);
        export_text_char(text, '\n');
    }
}

static void put_texcoords(export_text* text, const weft_cache_body* body)
{
    for (int t = 0; t < body->texcoord_count && body->texcoords; t++)
    {
        export_text_put(text, "vt ");
        export_text_number(text, body->texcoords[2 * t]);
        export_text_char(text, ' ');
        export_text_number(text, body->texcoords[2 * t + 1]);
        export_text_char(text, '\n');
    }
}

static void put_name(export_text* text, const char* word, const char* name)
{
    export_text_put(text, word);
    export_text_char(text, ' ');
    export_text_name(text, name);
    export_text_char(text, '\n');
}

// What a face says that the one before did not. Programs read each object by itself, so that it says all anew.
static void put_names(export_text* text, const weft_cache_body* body, int face, bool objects)
{
    static const char* const words[LAYER_COUNT] = {"o", "g", "usemtl"};
    bool anew = face == 0;
    for (int layer = objects ? LAYER_OBJECT : LAYER_GROUP; layer < LAYER_COUNT; layer++)
    {
        const weft_names* names = export_layer(body, layer);
        int own = names->faces ? names->faces[face] : -1;
        bool other = anew || (names->faces && own != names->faces[face - 1]);
        if (own >= 0 && other)
        {
            put_name(text, words[layer], names->names[own]);
        }
        anew = anew || (layer == LAYER_OBJECT && other);
    }
}

static void put_faces(export_text* text, const weft_cache_body* body, bool objects)
{
    for (int face = 0; face < body->face_count; face++)
    {
        put_names(text, body, face, objects);
        export_text_char(text, body->lines ? 'l' : 'f');
        for (int k = body->face_start[face]; k < body->face_start[face + 1]; k++)
        {
            export_text_char(text, ' ');
            export_text_int(text, body->face_vertices[k] + 1);
            if (body->face_texcoords && body->face_texcoords[k] >= 0)
            {
                export_text_char(text, '/');
                export_text_int(text, body->face_texcoords[k] + 1);
            }
        }
        export_text_char(text, '\n');
    }
}

static weft_status write_obj(const weft_cache_body* body, const vec3* positions, bool objects, const char* path,
                             weft_error* error)
{
    whole_file file;
    TRY(whole_file_open(&file, path, error));
    export_text* text = MEM_NEW(1, export_text);
    if (!text)
    {
        whole_file_abandon(&file);
        return error_set(error, WEFT_NO_MEMORY, path, 0, "no memory to write the file");
    }
    text->file = &file;
    export_text_put(text, "# made by Weft ");
    export_text_put(text, weft_version());
    export_text_char(text, '\n');
    for (int k = 0; k < body->library_count; k++)
    {
        put_name(text, "mtllib", body->libraries[k]);
    }
    if (!objects)
    {
        put_name(text, "o", body->name);
    }
    put_vertices(text, positions, body->vertex_count);
    put_texcoords(text, body);
    put_faces(text, body, objects);
    export_text_flush(text);
    mem_free(text);
    return whole_file_close(&file, error);
}

weft_status export_mesh_write(export_job* job, int body, const char* path, weft_error* error)
{
    const weft_cache_body* last = export_last_topology(job, body);
    for (int v = 0; v < last->vertex_count; v++)
    {
        job->positions[v] = export_place(job, last->rest[v]);
    }
    return write_obj(last, job->positions, false, path, error);
}

static weft_status write_frame(export_job* job, int body, int k, const char* path, weft_error* error)
{
    TRY(export_positions(job, body, k, job->positions, error));
    const weft_cache_body* topology = export_topology(job, body, k);
    return write_obj(topology, job->positions, topology->objects.faces != NULL, path, error);
}

weft_status export_obj_file(export_job* job, const char* target, weft_error* error)
{
    return write_frame(job, 0, 0, target, error);
}

weft_status export_obj(export_job* job, const char* target, weft_error* error)
{
    return export_sequence(job, target, ".obj", write_frame, error);
}
