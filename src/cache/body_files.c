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
    return o ? o->mesh.vertex_count : weft_sim_output_count(sim, index);
}

bool body_moves(const weft_sim* sim, int index)
{
    const obstacle* o = obstacle_of(sim, index);
    return !o || !obstacle_is_still(o);
}

// ---- topology

// The output vertex that stands for each of the user's: the first that shows it.
static int* output_of_user(const body* b)
{
    int* out = MEM_NEW(b->rest.vertex_count, int);
    for (int k = b->output_count - 1; k >= 0 && out; k--)
    {
        out[b->outputs ? b->outputs[k] : k] = k;
    }
    return out;
}

// output may be NULL: vertices are written in their order.
static void write_faces(FILE* f, const mesh* m, const int* output)
{
    int object = -1;
    for (int face = 0; face < m->face_count; face++)
    {
        if (m->face_object && m->face_object[face] != object)
        {
            object = m->face_object[face];
            fprintf(f, "o %s\n", m->object_name[object]);
        }
        fputc(m->form == MESH_LINES ? 'l' : 'f', f);
        for (int k = m->face_start[face]; k < m->face_start[face + 1]; k++)
        {
            fprintf(f, " %d", (output ? output[m->face_vertex[k]] : m->face_vertex[k]) + 1);
            if (m->face_texcoord && m->face_texcoord[k] >= 0)
            {
                fprintf(f, "/%d", m->face_texcoord[k] + 1);
            }
        }
        fputc('\n', f);
    }
}

// What an OBJ file shows of a mesh.
typedef struct obj_text
{
    const char *title, *name;
    const mesh* mesh;
    const int* shown;  // [count] vertex of the mesh that each vertex of the file shows, or NULL: all in their order
    const int* output; // vertex of the file that stands for each of the mesh, or NULL: likewise
    int count;
    const vec3* at; // [mesh->vertex_count] in place of the mesh's own positions, or NULL
} obj_text;

static weft_status obj_text_write(const char* path, const obj_text* t, weft_error* error)
{
    whole_file file;
    TRY(whole_file_open(&file, path, error));
    const mesh* m = t->mesh;
    fprintf(file.stream, "# %s of %s, metres; made by Weft %s\n", t->title, t->name, weft_version());
    for (int k = 0; k < t->count; k++)
    {
        vec3 p = (t->at ? t->at : m->position)[t->shown ? t->shown[k] : k];
        print_to(file.stream, "v %.17g %.17g %.17g\n", p.x, p.y, p.z);
    }
    for (int k = 0; k < m->texcoord_count; k++)
    {
        print_to(file.stream, "vt %.17g %.17g\n", m->texcoord[k].x, m->texcoord[k].y);
    }
    write_faces(file.stream, m, t->output);
    return whole_file_close(&file, error);
}

static weft_status cloth_obj_write(const char* path, const body* b, weft_error* error)
{
    int* output = output_of_user(b);
    if (!output)
    {
        return error_set(error, WEFT_NO_MEMORY, NULL, 0, "%s", weft_status_text(WEFT_NO_MEMORY));
    }
    obj_text text = {"rest shape", b->name, &b->rest, b->outputs, output, b->output_count, NULL};
    weft_status status = obj_text_write(path, &text, error);
    mem_free(output);
    return status;
}

bool body_starts_apart(const weft_sim* sim, int index)
{
    const body* b = &sim->bodies[index];
    size_t size = (size_t)b->rest.vertex_count * sizeof(vec3);
    return index < sim->body_count && !b->outputs && memcmp(b->start, b->rest.position, size) != 0;
}

weft_status body_start_write(const char* path, const weft_sim* sim, int index, weft_error* error)
{
    const body* b = &sim->bodies[index];
    obj_text text = {
        .title = "start", .name = b->name, .mesh = &b->rest, .count = b->rest.vertex_count, .at = b->start};
    return obj_text_write(path, &text, error);
}

weft_status body_obj_write(const char* path, const weft_sim* sim, int index, weft_error* error)
{
    const obstacle* o = obstacle_of(sim, index);
    if (!o)
    {
        return cloth_obj_write(path, &sim->bodies[index], error);
    }
    obj_text text = {.title = "obstacle", .name = o->name, .mesh = &o->mesh, .count = o->mesh.vertex_count};
    return obj_text_write(path, &text, error);
}

bool body_is_solid(const weft_sim* sim, int index)
{
    return index < sim->body_count && sim->bodies[index].kind->form == MESH_SOLID;
}

weft_status body_ele_write(const char* path, const weft_sim* sim, int index, weft_error* error)
{
    const body* b = &sim->bodies[index];
    int* output = output_of_user(b);
    whole_file file;
    weft_status status = output ? whole_file_open(&file, path, error)
                                : error_set(error, WEFT_NO_MEMORY, NULL, 0, "%s", weft_status_text(WEFT_NO_MEMORY));
    if (status == WEFT_OK)
    {
        fprintf(file.stream, "%d 4 0\n", b->rest.tetrahedron_count);
        for (int t = 0; t < b->rest.tetrahedron_count; t++)
        {
            const int* v = b->rest.tetrahedron + 4 * (size_t)t;
            fprintf(file.stream, "%d %d %d %d %d\n", t + 1, output[v[0]] + 1, output[v[1]] + 1, output[v[2]] + 1,
                    output[v[3]] + 1);
        }
        fprintf(file.stream, "# tetrahedra of %s; made by Weft %s\n", b->name, weft_version());
        status = whole_file_close(&file, error);
    }
    mem_free(output);
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
