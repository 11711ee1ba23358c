// What a mesh has for other programs: objects, groups, materials, texture coordinates, the vertices before welding. It
// passes from files to simulations and from there to the files of a run; nothing that is simulated depends on it.
#include <string.h>

#include "mesh/mesh_inside.h"

static weft_names names_view(char* const* name, int count, const int* face)
{
    return face ? (weft_names){(const char* const*)name, count, face} : (weft_names){0};
}

weft_labels mesh_labels(const mesh* m)
{
    weft_names objects = names_view(m->object_name, m->object_count, m->face_object);
    return (weft_labels){
        .objects = m->objects_are_groups ? (weft_names){0} : objects,
        .groups = m->objects_are_groups ? objects : names_view(m->group.name, m->group.count, m->group.face),
        .materials = names_view(m->material.name, m->material.count, m->material.face),
        .libraries = (const char* const*)m->library,
        .library_count = m->library_count,
        .texcoords = m->face_texcoord ? m->texcoord : NULL,
        .texcoord_count = m->face_texcoord ? m->texcoord_count : 0,
        .face_texcoords = m->face_texcoord,
        .face_outputs = m->face_given,
    };
}

// ---- taking them

static weft_status wrong(weft_error* error, const char* what)
{
    return error_set(error, WEFT_BAD_INPUT, NULL, 0, "%s", what);
}

// A line feed in a name would end its line in the files of a run.
static char* name_copy(const char* name)
{
    char* copy = mem_strdup(name ? name : "");
    for (char* c = copy; c && *c; c++)
    {
        *c = *c == '\n' || *c == '\r' ? ' ' : *c;
    }
    return copy;
}

static weft_status list_take(const char* const* names, int count, char*** out, int* out_count)
{
    *out = MEM_NEW(int_max(count, 1), char*);
    if (!*out)
    {
        return WEFT_NO_MEMORY;
    }
    while (*out_count < count)
    {
        char* copy = name_copy(names[*out_count]);
        if (!copy)
        {
            return WEFT_NO_MEMORY;
        }
        (*out)[(*out_count)++] = copy;
    }
    return WEFT_OK;
}

static weft_status names_take(const weft_names* names, int face_count, mesh_names* out, weft_error* error)
{
    if (!names->faces || names->count <= 0)
    {
        return WEFT_OK;
    }
    out->face = MEM_NEW(int_max(face_count, 1), int);
    if (!out->face)
    {
        return WEFT_NO_MEMORY;
    }
    for (int f = 0; f < face_count; f++)
    {
        if (names->faces[f] < -1 || names->faces[f] >= names->count)
        {
            return wrong(error, "names of faces are numbers from 0 to count - 1, or -1");
        }
        out->face[f] = names->faces[f];
    }
    return list_take(names->names, names->count, &out->name, &out->count);
}

// Faces without an object, which the readers' meshes do not have, are of the object "default", as in OBJ files.
static weft_status objects_take(const weft_names* names, mesh* m, weft_error* error)
{
    mesh_names taken = {0};
    weft_status status = names_take(names, m->face_count, &taken, error);
    bool missing = false;
    for (int f = 0; f < m->face_count && status == WEFT_OK && taken.face; f++)
    {
        missing = missing || taken.face[f] < 0;
        taken.face[f] = taken.face[f] < 0 ? taken.count : taken.face[f];
    }
    int capacity = taken.count;
    if (missing && !mem_grow((void**)&taken.name, &capacity, taken.count + 1, sizeof(char*)))
    {
        status = WEFT_NO_MEMORY;
    }
    else if (missing)
    {
        taken.name[taken.count] = mem_strdup("default");
        status = taken.name[taken.count++] ? WEFT_OK : WEFT_NO_MEMORY;
    }
    m->face_object = taken.face;
    m->object_name = taken.name;
    m->object_count = taken.count;
    return status;
}

static weft_status corners_take(const int* values, const int* corner, int corners, int** out, weft_error* error,
                                int limit)
{
    *out = MEM_NEW(int_max(corners, 1), int);
    if (!*out)
    {
        return WEFT_NO_MEMORY;
    }
    for (int k = 0; k < corners; k++)
    {
        int value = values[corner ? corner[k] : k];
        if (value < -1 || value >= limit)
        {
            return wrong(error, "a corner's texture coordinate or output is not there");
        }
        (*out)[k] = value;
    }
    return WEFT_OK;
}

static weft_status texcoords_take(mesh* m, const weft_labels* labels, const int* corner, int corners, weft_error* error)
{
    if (!labels->texcoords || !labels->face_texcoords)
    {
        return WEFT_OK;
    }
    mem_free(m->texcoord);
    mem_free(m->face_texcoord);
    m->face_texcoord = NULL;
    m->texcoord_count = labels->texcoord_count;
    m->texcoord = MEM_NEW(int_max(m->texcoord_count, 1), vec2);
    if (!m->texcoord)
    {
        return WEFT_NO_MEMORY;
    }
    memcpy(m->texcoord, labels->texcoords, (size_t)m->texcoord_count * sizeof(vec2));
    for (int t = 0; t < m->texcoord_count; t++)
    {
        if (!isfinite(m->texcoord[t].x) || !isfinite(m->texcoord[t].y))
        {
            return wrong(error, "a texture coordinate is not finite");
        }
    }
    return corners_take(labels->face_texcoords, corner, corners, &m->face_texcoord, error, m->texcoord_count);
}

weft_status mesh_take_labels(mesh* m, const weft_labels* labels, const int* corner, int output_count, weft_error* error)
{
    int corners = m->face_start[m->face_count];
    TRY(texcoords_take(m, labels, corner, corners, error));
    TRY(labels->face_outputs && output_count > 0
            ? corners_take(labels->face_outputs, corner, corners, &m->face_given, error, output_count)
            : WEFT_OK);
    m->objects_are_groups = labels->groups.faces && !labels->objects.faces;
    TRY(objects_take(m->objects_are_groups ? &labels->groups : &labels->objects, m, error));
    TRY(m->objects_are_groups ? WEFT_OK : names_take(&labels->groups, m->face_count, &m->group, error));
    TRY(names_take(&labels->materials, m->face_count, &m->material, error));
    return list_take(labels->libraries, labels->library_count, &m->library, &m->library_count);
}

// ---- dropping them

static void list_drop(char*** names, int* count)
{
    for (int k = 0; k < *count && *names; k++)
    {
        mem_free((*names)[k]);
    }
    mem_free(*names);
    *names = NULL;
    *count = 0;
}

void mesh_drop_labels(mesh* m)
{
    list_drop(&m->group.name, &m->group.count);
    list_drop(&m->material.name, &m->material.count);
    list_drop(&m->library, &m->library_count);
    mem_free(m->group.face);
    mem_free(m->material.face);
    mem_free(m->face_given);
    m->group.face = m->material.face = m->face_given = NULL;
}
