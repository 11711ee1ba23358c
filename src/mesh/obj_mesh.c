// What was read of an OBJ file as a mesh: arrays, names of faces, vertices that are one, objects as parts.
#include <string.h>

#include "mesh/obj_reader.h"

// Hands names to the mesh; faces before the first such line have none.
static weft_status obj_move_scope(obj_reader* r, obj_scope* scope, int face_count, mesh_names* out)
{
    if (!scope->seen || scope->table.count == 0)
    {
        return WEFT_OK;
    }
    if (!int_list_fill(&scope->face, face_count, -1))
    {
        return obj_no_room(r);
    }
    *out = (mesh_names){scope->table.name, scope->table.count, scope->face.item};
    scope->face.item = NULL;
    scope->table.name = NULL;
    scope->table.count = 0;
    return WEFT_OK;
}

// The first vertex that each is one with. A vertex may be in several sets: they are one, then.
static weft_status obj_move_one(obj_reader* r, mesh* m)
{
    if (r->one.count == 0)
    {
        return WEFT_OK;
    }
    m->same = MEM_NEW(int_max(m->vertex_count, 1), int);
    if (!m->same)
    {
        return obj_no_room(r);
    }
    for (int v = 0; v < m->vertex_count; v++)
    {
        m->same[v] = v;
    }
    for (int k = 0; k < r->one.count; k += r->one.item[k] + 1)
    {
        for (int i = k + 1; i <= k + r->one.item[k]; i++)
        {
            int a = r->one.item[k + 1], b = r->one.item[i];
            if (a >= m->vertex_count || b >= m->vertex_count)
            {
                return error_set(r->error, WEFT_BAD_INPUT, r->lines.path, r->one_line,
                                 "`#weft one` names vertex %d, and there are %d; remove the line if none are one",
                                 int_max(a, b) + 1, m->vertex_count);
            }
            while (m->same[a] != a)
            {
                a = m->same[a];
            }
            while (m->same[b] != b)
            {
                b = m->same[b];
            }
            m->same[int_max(a, b)] = int_min(a, b);
        }
    }
    for (int v = 0; v < m->vertex_count; v++)
    {
        m->same[v] = m->same[m->same[v]]; // those before are roots or name one
    }
    return WEFT_OK;
}

// Hands the faces' objects to the mesh: `o` where the file has such lines, else `g`, else none.
static weft_status obj_move_objects(obj_reader* r, mesh* m)
{
    m->objects_are_groups = !r->object.seen && r->group.seen;
    obj_scope* scope = r->object.seen ? &r->object : &r->group;
    if (!scope->seen)
    {
        return WEFT_OK;
    }
    if (!int_list_fill(&scope->face, m->face_count, -1))
    {
        return obj_no_room(r);
    }
    for (int face = 0; face < m->face_count; face++)
    {
        // Faces before the first name belong to what the format calls the default.
        int* index = &scope->face.item[face];
        if (*index < 0 && name_table_add(&scope->table, "default", index) != WEFT_OK)
        {
            return obj_no_room(r);
        }
    }
    m->face_object = scope->face.item;
    m->object_name = scope->table.name;
    m->object_count = scope->table.count;
    scope->face.item = NULL;
    scope->table.name = NULL;
    scope->table.count = 0;
    return WEFT_OK;
}

static weft_status obj_move_names(obj_reader* r, mesh* m)
{
    TRY(obj_move_objects(r, m));
    TRY(m->objects_are_groups ? WEFT_OK : obj_move_scope(r, &r->group, m->face_count, &m->group));
    TRY(obj_move_scope(r, &r->material, m->face_count, &m->material));
    m->library = r->libraries.name;
    m->library_count = r->libraries.count;
    r->libraries.name = NULL;
    r->libraries.count = 0;
    return obj_move_one(r, m);
}

// The reader's arrays become the mesh's.
weft_status obj_move_arrays(obj_reader* r, mesh* m)
{
    m->form = r->form;
    m->face_count = r->start.count;
    if (!int_list_push(&r->start, r->corner.count))
    {
        return obj_no_room(r);
    }
    m->vertex_count = r->vertex_count;
    m->position = r->position;
    m->face_start = r->start.item;
    m->face_vertex = r->corner.item;
    m->face_line = r->line.item;
    r->position = NULL;
    r->start.item = r->corner.item = r->line.item = NULL;
    if (r->has_mapped)
    {
        m->texcoord_count = r->texcoord_count;
        m->texcoord = r->texcoord;
        m->face_texcoord = r->mapped.item;
        r->texcoord = NULL;
        r->mapped.item = NULL;
    }
    int last = -1;
    for (int k = 0; k < r->stitch.count; k++)
    {
        last = int_max(last, r->stitch.item[k]);
    }
    for (int k = 0; k < 4 * r->thread_count; k++)
    {
        last = int_max(last, r->thread[k / 4].vertex[k % 4 / 2][k % 2]);
    }
    if (last >= m->vertex_count)
    {
        return error_set(r->error, WEFT_BAD_INPUT, r->lines.path, r->stitch_line,
                         "a stitch names vertex %d; there are %d, counted from 0", last, m->vertex_count);
    }
    m->thread = r->thread;
    m->thread_count = r->thread_count;
    r->thread = NULL;
    m->stitch = r->stitch.item;
    m->stitch_count = r->stitch.count / 2;
    r->stitch.item = NULL;
    m->file = mem_strdup(r->lines.path);
    return m->file ? obj_move_names(r, m) : obj_no_room(r);
}
