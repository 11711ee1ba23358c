// glTF 2.0 in one binary file (GLB): a node and a mesh for each body, triangles or lines, and one morph target for each
// frame behind the first, which holds how far the vertices are from their places in the first. One animation moves all
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

#include "export/gltf.h"

enum
{
    HEAD_SIZE = 20, // header of the file and of the first chunk
    PIECE = 4096    // triangles or vertices that are written at once
};

static const uint64_t file_max = UINT32_MAX; // lengths in a GLB have 32 bits
static const double smallest = 1e-30;        // below it numbers are written as zero, in the data as in the bounds

// ---- vertices, split at seams

// Gives every vertex the first of its texture coordinates. True where one has another.
static bool find_seams(gltf_mesh* m)
{
    const weft_cache_body* body = m->body;
    bool seams = false;
    memset(m->texcoord, -1, (size_t)body->vertex_count * sizeof(int));
    for (int k = 0; k < body->face_start[body->face_count]; k++)
    {
        int t = body->face_texcoords[k], *own = &m->texcoord[body->face_vertices[k]];
        if (*own < 0)
        {
            *own = t;
        }
        else if (*own != t && t >= 0)
        {
            seams = seams || !export_same_place(body, *own, t);
        }
    }
    return seams;
}

// The copy of vertex v with texture coordinate t; where there is none yet, a new one.
static int find_copy(gltf_mesh* m, int* next, int v, int t)
{
    int last = v;
    for (int g = v; g >= 0; g = next[g])
    {
        if (t < 0 || export_same_place(m->body, m->texcoord[g], t))
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
    int* next = mem_raw((size_t)body->vertex_count + (size_t)corners, sizeof(int));
    m->source = mem_raw((size_t)body->vertex_count + (size_t)corners, sizeof(int));
    m->corner = mem_raw((size_t)corners, sizeof(int));
    if (!next || !m->source || !m->corner)
    {
        mem_free(next);
        return error_set(error, WEFT_NO_MEMORY, NULL, 0, "no memory for the vertices of `%.100s`", body->name);
    }
    for (int v = 0; v < body->vertex_count; v++)
    {
        m->source[v] = v;
        next[v] = -1;
    }
    for (int k = 0; k < corners; k++)
    {
        m->corner[k] = find_copy(m, next, body->face_vertices[k], body->face_texcoords[k]);
    }
    mem_free(next);
    return WEFT_OK;
}

static weft_status set_vertices(gltf_mesh* m, weft_error* error)
{
    const weft_cache_body* body = m->body;
    m->vertex_count = body->vertex_count;
    if (!body->face_texcoords)
    {
        return WEFT_OK;
    }
    size_t most = (size_t)body->vertex_count + (size_t)body->face_start[body->face_count];
    m->texcoord = mem_raw(most, sizeof(int)); // what no copy needs is never touched
    if (!m->texcoord)
    {
        return error_set(error, WEFT_NO_MEMORY, NULL, 0, "no memory for the vertices of `%.100s`", body->name);
    }
    return find_seams(m) ? split_vertices(m, error) : WEFT_OK;
}

// A primitive for each set of faces.
static weft_status set_sets(gltf* g, gltf_mesh* m, weft_error* error)
{
    const weft_cache_body* body = m->body;
    TRY(export_sets_make(body, &m->sets, error));
    weft_names all = {.count = m->sets.count, .faces = m->sets.face};
    TRY(export_faces_make(&all, body->face_count, &m->faces, error));
    m->set_indices = MEM_NEW((size_t)m->sets.count + 1, int);
    m->material = MEM_NEW((size_t)body->materials.count + 1, int);
    if (!m->set_indices || !m->material)
    {
        return error_set(error, WEFT_NO_MEMORY, NULL, 0, "no memory for the faces of `%.100s`", body->name);
    }
    for (int face = 0; face < body->face_count; face++)
    {
        int corners = body->face_start[face + 1] - body->face_start[face];
        int set = m->sets.face ? m->sets.face[face] : 0;
        m->set_indices[set + 1] += body->lines ? 2 * (corners - 1) : 3 * (corners - 2);
    }
    memset(m->material, -1, ((size_t)body->materials.count + 1) * sizeof(int));
    for (int set = 0; set < m->sets.count; set++)
    {
        int name = m->sets.set[set].name[LAYER_MATERIAL];
        int* material = &m->material[name >= 0 ? name : body->materials.count];
        *material = *material < 0 ? g->material_count++ : *material;
        m->set_indices[set + 1] += m->set_indices[set];
    }
    return WEFT_OK;
}

// ---- where everything lies

static weft_status mesh_start(gltf* g, int body, weft_error* error)
{
    gltf_mesh* m = &g->mesh[body];
    m->body = export_last_topology(g->job, body);
    TRY(export_rigid(g->job, body, &m->pose, error));
    m->normals = !m->body->lines && !g->job->def->plain;
    m->target_count = export_is_still(g->job, body) || m->pose ? 0 : g->frame_count - 1;
    TRY(set_vertices(m, error));
    m->ranges = MEM_NEW(1 + (size_t)m->target_count, range);
    if (!m->ranges)
    {
        return error_set(error, WEFT_NO_MEMORY, NULL, 0, "no memory for %d frames", g->frame_count);
    }
    TRY(set_sets(g, m, error));
    m->offset = g->size;
    m->view = g->view_count;
    m->accessor = g->accessor_count;
    g->size += gltf_index_bytes(m) + gltf_texcoord_bytes(m) + (m->normals ? 2 : 1) * gltf_frames_bytes(m);
    g->view_count += (m->texcoord ? 3 : 2) + (m->normals ? 1 : 0);
    g->accessor_count = (m->normals ? gltf_normals(m) : gltf_positions(m)) + 1 + m->target_count;
    g->morphs = g->morphs || m->target_count > 0;
    g->moves = g->moves || m->target_count > 0 || m->pose;
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
        most = g->mesh[body].target_count > 0 ? int_max(most, g->mesh[body].vertex_count) : most;
    }
    g->animation = g->size;
    uint64_t frames = (uint64_t)g->frame_count;
    g->size += (g->moves ? 4 * frames : 0) + (g->morphs ? 4 * frames * (frames - 1) : 0); // times, weights of targets
    for (int body = 0; body < g->job->body_count; body++)
    {
        g->size += g->mesh[body].pose ? (12 + 16) * frames : 0; // where it is and how it is turned
    }
    if (g->size > file_max)
    {
        return too_large(g, target, error);
    }
    g->first = mem_raw(3 * (size_t)most, sizeof(float));
    g->normals = mem_raw((size_t)g->job->most, sizeof(vec3));
    return g->first && g->normals ? WEFT_OK : error_set(error, WEFT_NO_MEMORY, target, 0, "no memory for %d vertices", most);
}

static void gltf_finish(gltf* g)
{
    for (int body = 0; body < g->job->body_count && g->mesh; body++)
    {
        mem_free(g->mesh[body].source);
        mem_free(g->mesh[body].texcoord);
        mem_free(g->mesh[body].corner);
        mem_free(g->mesh[body].ranges);
        mem_free(g->mesh[body].pose);
        mem_free(g->mesh[body].set_indices);
        mem_free(g->mesh[body].material);
        export_sets_finish(&g->mesh[body].sets);
        export_faces_finish(&g->mesh[body].faces);
    }
    mem_free(g->mesh);
    mem_free(g->first);
    mem_free(g->normals);
    mem_free(g->text);
}

// ---- data

// Numbers on their way to the file.
typedef struct int_piece
{
    whole_file* file;
    int item[PIECE], used;
} int_piece;

static void piece_add(int_piece* p, int value)
{
    if (p->used == PIECE)
    {
        export_put_ints(p->file, p->item, p->used);
        p->used = 0;
    }
    p->item[p->used++] = value;
}

// Triangles and segments lie in the order of the faces and lines that they were cut from: of each as many as it has
// corners, less two or one.
static void put_face(int_piece* out, const gltf_mesh* m, int face)
{
    const weft_cache_body* body = m->body;
    int begin = body->face_start[face], corners = body->face_start[face + 1] - begin;
    if (body->lines)
    {
        for (int k = 2 * (begin - face); k < 2 * (begin - face + corners - 1); k++)
        {
            piece_add(out, body->segments[k]);
        }
        return;
    }
    for (int k = 3 * (begin - 2 * face); k < 3 * (begin - 2 * face + corners - 2); k++)
    {
        int corner = body->triangle_corners ? body->triangle_corners[k] : k;
        piece_add(out, m->corner ? m->corner[corner] : body->face_vertices[corner]);
    }
}

// Set by set.
static void put_indices(const gltf* g, const gltf_mesh* m)
{
    int_piece out = {.file = g->file};
    for (int k = 0; k < m->body->face_count; k++)
    {
        put_face(&out, m, m->faces.face ? m->faces.face[k] : k);
    }
    export_put_ints(g->file, out.item, out.used);
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

// Numbers of the frame that is being written.
typedef struct frame
{
    gltf* g;
    const gltf_mesh* m;
    float* first; // NULL: there are no targets
    bool target;  // a morph target: what is written is how far the points are from the first frame's
    range bounds;
} frame;

static double as_float(double value)
{
    float narrow = (float)value;
    return fabs((double)narrow) < smallest ? 0.0 : (double)narrow;
}

static void put_vertices(frame* f, vec3* x, int begin, int count)
{
    range r = f->bounds;
    for (int v = 0; v < count; v++)
    {
        vec3 p = v3(as_float(x[v].x), as_float(x[v].y), as_float(x[v].z));
        float* first = f->first ? f->first + 3 * (size_t)(begin + v) : NULL;
        if (f->target)
        {
            p = v3(as_float(p.x - first[0]), as_float(p.y - first[1]), as_float(p.z - first[2]));
        }
        else if (first)
        {
            first[0] = (float)p.x, first[1] = (float)p.y, first[2] = (float)p.z;
        }
        r.low = export_lower(r.low, p);
        r.high = export_upper(r.high, p);
        x[v] = p;
    }
    f->bounds = r;
    export_put_floats(f->g->file, export_flat(x), 3 * (int64_t)count);
}

static void put_piece(void* context, const vec3* x, int begin, int count)
{
    vec3 piece[PIECE];
    for (int done = 0; done < count; done += PIECE)
    {
        int size = int_min(PIECE, count - done);
        memcpy(piece, x + done, (size_t)size * sizeof(vec3));
        put_vertices(context, piece, begin + done, size);
    }
}

// Points of all vertices: copies lie anywhere in the mesh.
static void put_all(frame* f, const vec3* x)
{
    vec3 piece[PIECE];
    for (int begin = 0; begin < f->m->vertex_count; begin += PIECE)
    {
        int size = int_min(PIECE, f->m->vertex_count - begin);
        for (int v = 0; v < size; v++)
        {
            piece[v] = x[f->m->source ? f->m->source[begin + v] : begin + v];
        }
        put_vertices(f, piece, begin, size);
    }
}

// The positions of a frame, or the rest shape of a body whose node moves.
static weft_status read_shape(gltf* g, int body, int k, weft_error* error)
{
    const gltf_mesh* m = &g->mesh[body];
    for (int v = 0; v < m->body->vertex_count && m->pose; v++)
    {
        g->job->positions[v] = export_place(g->job, m->body->rest[v]);
    }
    return m->pose ? WEFT_OK : export_positions_last(g->job, body, k, g->job->positions, error);
}

static weft_status put_frames(gltf* g, int body, weft_error* error)
{
    gltf_mesh* m = &g->mesh[body];
    export_job* job = g->job;
    for (int pass = 0; pass < (m->normals ? 2 : 1); pass++)
    {
        for (int k = 0; k <= m->target_count; k++)
        {
            frame f = {.g = g, .m = m, .first = m->target_count > 0 ? g->first : NULL, .target = k > 0};
            f.bounds = (range){v3(INFINITY, INFINITY, INFINITY), v3(-INFINITY, -INFINITY, -INFINITY)};
            if (pass == 0 && !m->source && !m->pose)
            {
                TRY(export_pieces_last(job, body, k, put_piece, &f, error));
            }
            else
            {
                TRY(read_shape(g, body, k, error));
                pass > 0 ? export_normals(job, m->body, job->positions, g->normals) : (void)0;
                put_all(&f, pass > 0 ? g->normals : job->positions);
            }
            pass == 0 ? (void)(m->ranges[k] = f.bounds) : (void)0;
            export_progress(job, body * job->frame_count + k + 1, job->body_count * job->frame_count);
        }
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
    for (int k = 0; k < g->frame_count && g->morphs; k++)
    {
        for (int t = 1; t < g->frame_count; t++)
        {
            double weight = t == k ? 1.0 : 0.0;
            export_put_floats(g->file, &weight, 1);
        }
    }
    for (int body = 0; body < g->job->body_count; body++)
    {
        const export_pose* pose = g->mesh[body].pose;
        for (int k = 0; k < g->frame_count && pose; k++)
        {
            export_put_floats(g->file, &pose[k].t.x, 3);
        }
        for (int k = 0; k < g->frame_count && pose; k++)
        {
            const double q[4] = {pose[k].q[1], pose[k].q[2], pose[k].q[3], pose[k].q[0]};
            export_put_floats(g->file, q, 4);
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
    gltf_put_accessors(g);
    gltf_put_rest(g);
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
    gltf_put_accessors(g);
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
