// Topology of bodies and obstacles as OBJ, with f or l lines, samples of deforming obstacles as PC2.
#include "cache/body_files.h"

#include <stdio.h>
#include <string.h>

#include "mesh/pc2_file.h"

// ---- bodies: cloths, then obstacles

int body_total(const weft_sim* sim)
{
    return sim->body_count + sim->obstacle_count;
}

obstacle* obstacle_of(const weft_sim* sim, int index)
{
    return index < sim->body_count ? NULL : &sim->obstacles[index - sim->body_count];
}

const char* body_name(const weft_sim* sim, int index)
{
    const obstacle* o = obstacle_of(sim, index);
    return o ? o->name : sim->bodies[index].name;
}

int body_points(const weft_sim* sim, int index)
{
    const obstacle* o = obstacle_of(sim, index);
    return !o            ? weft_sim_output_count(sim, index)
           : o->mesh.weld ? o->mesh.given_count
                          : o->mesh.vertex_count;
}

bool body_moves(const weft_sim* sim, int index)
{
    const obstacle* o = obstacle_of(sim, index);
    return !o || !obstacle_is_still(o);
}

// ---- topology

// The vertices of a file: those of the mesh, or the outputs that show them.
typedef struct file_vertices
{
    const int* shown; // [count] vertex of the mesh that each shows, or NULL: all in their order
    int count;
    int* first; // [mesh->vertex_count] the first that shows each, or NULL: likewise
} file_vertices;

static weft_status vertices_make(const mesh* m, const int* shown, int count, file_vertices* out, weft_error* error)
{
    *out = (file_vertices){shown, shown ? count : m->vertex_count, NULL};
    out->first = shown ? MEM_NEW(int_max(m->vertex_count, 1), int) : NULL;
    if (shown && !out->first)
    {
        return error_set(error, WEFT_NO_MEMORY, NULL, 0, "%s", weft_status_text(WEFT_NO_MEMORY));
    }
    for (int k = count - 1; k >= 0 && shown; k--)
    {
        out->first[shown[k]] = k;
    }
    return WEFT_OK;
}

// The vertex of the file at a corner: the one that was given there, unless the corner was torn off since.
static int corner_vertex(const mesh* m, const file_vertices* v, int k)
{
    int vertex = m->face_vertex[k], given = m->face_given ? m->face_given[k] : -1;
    return !v->shown                                                 ? vertex
           : given >= 0 && given < v->count && v->shown[given] == vertex ? given
                                                                        : v->first[vertex];
}

// ---- names

static void put_name(FILE* f, const char* word, const char* name)
{
    fprintf(f, "%s %s\n", word, name);
}

// What a face says that the one before did not. An object begins anew: programs read each by itself.
static void write_names(FILE* f, const mesh* m, int face)
{
    int object = m->face_object ? m->face_object[face] : -1;
    int before = face > 0 && m->face_object ? m->face_object[face - 1] : -1;
    bool anew = object != before;
    if (anew)
    {
        put_name(f, m->objects_are_groups ? "g" : "o", m->object_name[object]);
    }
    const mesh_names* layers[2] = {&m->group, &m->material};
    for (int k = 0; k < 2; k++)
    {
        int own = layers[k]->face ? layers[k]->face[face] : -1;
        if (own >= 0 && (anew || face == 0 || own != layers[k]->face[face - 1]))
        {
            put_name(f, k == 0 ? "g" : "usemtl", layers[k]->name[own]);
        }
    }
}

static void write_faces(FILE* f, const mesh* m, const file_vertices* v)
{
    for (int face = 0; face < m->face_count; face++)
    {
        write_names(f, m, face);
        fputc(m->form == MESH_LINES ? 'l' : 'f', f);
        for (int k = m->face_start[face]; k < m->face_start[face + 1]; k++)
        {
            fprintf(f, " %d", corner_vertex(m, v, k) + 1);
            if (m->face_texcoord && m->face_texcoord[k] >= 0)
            {
                fprintf(f, "/%d", m->face_texcoord[k] + 1);
            }
        }
        fputc('\n', f);
    }
}

// Vertices that were welded, for readers that have to know: `#weft one 3 17`.
static weft_status write_welds(FILE* f, const mesh* m, const file_vertices* v, weft_error* error)
{
    int *next = MEM_NEW(int_max(v->count, 1), int), *last = MEM_NEW(int_max(m->vertex_count, 1), int);
    weft_status status = next && last
                             ? WEFT_OK
                             : error_set(error, WEFT_NO_MEMORY, NULL, 0, "%s", weft_status_text(WEFT_NO_MEMORY));
    for (int k = 0; k < v->count && status == WEFT_OK; k++)
    {
        int vertex = v->shown[k];
        next[k] = -1;
        v->first[vertex] < k ? next[last[vertex]] = k : 0;
        last[vertex] = k;
    }
    for (int k = 0; k < v->count && status == WEFT_OK; k++)
    {
        if (v->first[v->shown[k]] != k || next[k] < 0)
        {
            continue;
        }
        fputs("#weft one", f);
        for (int i = k; i >= 0; i = next[i])
        {
            fprintf(f, " %d", i + 1);
        }
        fputc('\n', f);
    }
    mem_free(next);
    mem_free(last);
    return status;
}

// What an OBJ file shows of a mesh.
typedef struct obj_text
{
    const char *title, *name;
    const mesh* mesh;
    const int* shown; // [count] outputs, or NULL: vertices in their order
    int count;
    const vec3* at; // [mesh->vertex_count] in place of the mesh's own positions, or NULL
} obj_text;

static weft_status text_put(FILE* f, const obj_text* t, const file_vertices* v, weft_error* error)
{
    const mesh* m = t->mesh;
    fprintf(f, "# %s of %s, metres; made by Weft %s\n", t->title, t->name, weft_version());
    for (int k = 0; k < m->library_count; k++)
    {
        put_name(f, "mtllib", m->library[k]);
    }
    for (int k = 0; k < v->count; k++)
    {
        vec3 p = (t->at ? t->at : m->position)[v->shown ? v->shown[k] : k];
        print_to(f, "v %.17g %.17g %.17g\n", p.x, p.y, p.z);
    }
    TRY(v->shown ? write_welds(f, m, v, error) : WEFT_OK);
    for (int k = 0; k < m->texcoord_count; k++)
    {
        print_to(f, "vt %.17g %.17g\n", m->texcoord[k].x, m->texcoord[k].y);
    }
    write_faces(f, m, v);
    return WEFT_OK;
}

static weft_status obj_text_write(const char* path, const obj_text* t, weft_error* error)
{
    whole_file file;
    file_vertices v;
    TRY(vertices_make(t->mesh, t->shown, t->count, &v, error));
    weft_status status = whole_file_open(&file, path, error);
    if (status == WEFT_OK)
    {
        status = text_put(file.stream, t, &v, error);
        status == WEFT_OK ? (void)0 : whole_file_abandon(&file);
        status = status == WEFT_OK ? whole_file_close(&file, error) : status;
    }
    mem_free(v.first);
    return status;
}

bool body_starts_apart(const weft_sim* sim, int index)
{
    const body* b = &sim->bodies[index];
    size_t size = (size_t)b->rest.vertex_count * sizeof(vec3);
    return index < sim->body_count && memcmp(b->start, b->rest.position, size) != 0;
}

weft_status body_start_write(const char* path, const weft_sim* sim, int index, weft_error* error)
{
    const body* b = &sim->bodies[index];
    obj_text text = {"start", b->name, &b->rest, b->outputs, b->output_count, b->start};
    return obj_text_write(path, &text, error);
}

weft_status body_obj_write(const char* path, const weft_sim* sim, int index, weft_error* error)
{
    const obstacle* o = obstacle_of(sim, index);
    const body* b = o ? NULL : &sim->bodies[index];
    obj_text text = o ? (obj_text){"obstacle", o->name, &o->mesh, o->mesh.weld, o->mesh.given_count, NULL}
                      : (obj_text){"rest shape", b->name, &b->rest, b->outputs, b->output_count, NULL};
    return obj_text_write(path, &text, error);
}

int body_shown_by(const weft_sim* sim, int index, int vertex)
{
    const obstacle* o = obstacle_of(sim, index);
    const body* b = o ? NULL : &sim->bodies[index];
    const int* shown = o ? o->mesh.weld : b->outputs;
    int count = o ? o->mesh.given_count : b->output_count, k = 0;
    while (shown && k < count && shown[k] != vertex)
    {
        k++;
    }
    return shown && k < count ? k : vertex;
}

void body_show(const mesh* m, vec3* points)
{
    // Backwards: no vertex is read after it was written over, as each shows one of a lower number or its own.
    for (int k = m->given_count - 1; k >= 0 && m->weld; k--)
    {
        points[k] = points[m->weld[k]];
    }
}

bool body_is_solid(const weft_sim* sim, int index)
{
    return index < sim->body_count && sim->bodies[index].kind->form == MESH_SOLID;
}

weft_status body_ele_write(const char* path, const weft_sim* sim, int index, weft_error* error)
{
    const body* b = &sim->bodies[index];
    file_vertices vertices;
    whole_file file;
    TRY(vertices_make(&b->rest, b->outputs, b->output_count, &vertices, error));
    const int* output = vertices.first;
    weft_status status = whole_file_open(&file, path, error);
    if (status == WEFT_OK)
    {
        fprintf(file.stream, "%d 4 0\n", b->rest.tetrahedron_count);
        for (int t = 0; t < b->rest.tetrahedron_count; t++)
        {
            const int* v = b->rest.tetrahedron + 4 * (size_t)t;
            fprintf(file.stream, "%d", t + 1);
            for (int k = 0; k < 4; k++)
            {
                fprintf(file.stream, k < 3 ? " %d" : " %d\n", (output ? output[v[k]] : v[k]) + 1);
            }
        }
        fprintf(file.stream, "# tetrahedra of %s; made by Weft %s\n", b->name, weft_version());
        status = whole_file_close(&file, error);
    }
    mem_free(vertices.first);
    return status;
}

// ---- samples

// To another name first: a run in its own folder reads the very file that it replaces.
weft_status motion_file_write(const char* path, obstacle* o, weft_error* error)
{
    char temporary[4200];
    snprintf(temporary, sizeof(temporary), "%s.tmp", path);
    pc2* copy = NULL;
    vec3* sample = MEM_NEW(o->mesh.vertex_count, vec3);
    weft_status status = sample ? pc2_create(temporary, o->mesh.vertex_count, 0.0f, &copy, error)
                                : error_set(error, WEFT_NO_MEMORY, NULL, 0, "%s", weft_status_text(WEFT_NO_MEMORY));
    for (int k = 0; k < o->sample_count && status == WEFT_OK; k++)
    {
        status = obstacle_sample(o, k, sample, error);
        status = status == WEFT_OK ? pc2_append(copy, sample, error) : status;
    }
    mem_free(sample);
    weft_status closed = pc2_close(copy, status == WEFT_OK ? error : NULL);
    status = status == WEFT_OK ? closed : status;
    if (status == WEFT_OK && rename(temporary, path) != 0)
    {
        status = file_error(error, path, "cannot write");
    }
    if (status != WEFT_OK)
    {
        remove(temporary);
    }
    return status;
}
