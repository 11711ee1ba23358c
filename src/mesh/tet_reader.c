// Solids from the files of other meshers: words and numbers of text files, TetGen's FILE.node, and what follows for all
// formats: vertices that no tetrahedron uses go, and tetrahedra that are all inside out are turned.
//
// FILE.node: a line with the number of vertices, 3, the numbers of attributes and of markers, then a line for each
// vertex: its number (from 0 or 1), x, y, z, attributes, marker.
#include "mesh/tet_reader.h"

#include <stdlib.h>
#include <string.h>

// ---- words and numbers

static weft_status tet_next_line(tet_reader* r)
{
    TRY(text_lines_next(&r->lines, &r->at, r->error));
    if (r->at && r->comments)
    {
        r->at[strcspn(r->at, "#")] = 0;
    }
    return WEFT_OK;
}

weft_status tet_word(tet_reader* r, char** out)
{
    *out = NULL;
    while (!r->at || !*(r->at += strspn(r->at, " \t\r")))
    {
        TRY(tet_next_line(r));
        if (!r->at)
        {
            return WEFT_OK;
        }
    }
    *out = r->at;
    r->at += strcspn(r->at, " \t\r");
    if (*r->at)
    {
        *r->at++ = 0;
    }
    return WEFT_OK;
}

weft_status tet_skip_line(tet_reader* r)
{
    if (r->at)
    {
        r->at += strlen(r->at);
        return WEFT_OK;
    }
    return tet_next_line(r);
}

weft_status tet_refuse(const tet_reader* r, const char* what)
{
    return error_set(r->error, WEFT_BAD_INPUT, r->lines.path, r->lines.line_number, "%s", what);
}

weft_status tet_ends(const tet_reader* r, const char* what)
{
    return error_set(r->error, WEFT_BAD_INPUT, r->lines.path, r->lines.line_number,
                     "the file ends where %s was expected: it is cut off; export it again", what);
}

weft_status tet_whole(tet_reader* r, int64_t least, int64_t most, const char* what, int64_t* out)
{
    char *word, *end;
    TRY(tet_word(r, &word));
    if (!word)
    {
        return tet_ends(r, what);
    }
    *out = strtoll(word, &end, 10);
    return end != word && *end == 0 && *out >= least && *out <= most
               ? WEFT_OK
               : error_set(r->error, WEFT_BAD_INPUT, r->lines.path, r->lines.line_number,
                           "expected %s, a whole number from %lld to %lld, found `%.40s`", what, (long long)least,
                           (long long)most, word);
}

weft_status tet_point(tet_reader* r, vec3* out)
{
    double value[3];
    for (int k = 0; k < 3; k++)
    {
        char* word;
        TRY(tet_word(r, &word));
        if (!word)
        {
            return tet_ends(r, "a coordinate");
        }
        const char* end = word;
        if (!decimal_parse(&end, &value[k]) || *end != 0 || !isfinite(value[k]))
        {
            return error_set(r->error, WEFT_BAD_INPUT, r->lines.path, r->lines.line_number,
                             "expected a coordinate, a finite number, found `%.40s`", word);
        }
    }
    *out = v3(value[0], value[1], value[2]);
    return WEFT_OK;
}

// ---- what is collected

weft_status tet_add_vertex(tet_reader* r, vec3 x)
{
    mesh* m = r->m;
    if (m->vertex_count >= COUNT_MAX ||
        !mem_grow((void**)&m->position, &r->position_capacity, m->vertex_count + 1, sizeof(vec3)))
    {
        return mesh_no_memory(m, r->error);
    }
    m->position[m->vertex_count++] = x;
    return WEFT_OK;
}

weft_status tet_tag_vertex(tet_reader* r, int64_t tag)
{
    int index = r->m->vertex_count;
    if (index >= COUNT_MAX || !mem_grow((void**)&r->tags, &r->tag_capacity, index + 1, sizeof(vertex_tag)))
    {
        return mesh_no_memory(r->m, r->error);
    }
    r->tags[index] = (vertex_tag){tag, index};
    return WEFT_OK;
}

static int compare_tags(const void* left, const void* right)
{
    const vertex_tag *a = left, *b = right;
    return (a->tag > b->tag) - (a->tag < b->tag);
}

weft_status tet_sort_tags(tet_reader* r)
{
    int count = r->m->vertex_count;
    if (count == 0)
    {
        return WEFT_OK;
    }
    qsort(r->tags, (size_t)count, sizeof(vertex_tag), compare_tags);
    for (int k = 1; k < count; k++)
    {
        if (r->tags[k].tag == r->tags[k - 1].tag)
        {
            return error_set(r->error, WEFT_BAD_INPUT, r->lines.path, r->lines.line_number,
                             "there are two vertices %lld", (long long)r->tags[k].tag);
        }
    }
    return WEFT_OK;
}

weft_status tet_find_tag(tet_reader* r, int64_t tag, int64_t* out)
{
    vertex_tag wanted = {tag, 0}, *found = NULL;
    if (r->m->vertex_count > 0)
    {
        found = bsearch(&wanted, r->tags, (size_t)r->m->vertex_count, sizeof(vertex_tag), compare_tags);
    }
    *out = found ? found->index : -1;
    return found ? WEFT_OK
                 : error_set(r->error, WEFT_BAD_INPUT, r->lines.path, r->lines.line_number,
                             "a tetrahedron uses vertex %lld, which the file does not have", (long long)tag);
}

weft_status tet_add(tet_reader* r, const int64_t* vertex, int line)
{
    for (int k = 0; k < 4; k++)
    {
        if (vertex[k] < 0 || vertex[k] >= r->m->vertex_count)
        {
            return error_set(r->error, WEFT_BAD_INPUT, r->lines.path, line,
                             "a tetrahedron uses vertex %lld, and there are %d, counted from 0", (long long)vertex[k],
                             r->m->vertex_count);
        }
        if (r->from.count >= COUNT_MAX / 4 || !int_list_push(&r->corner, (int)vertex[k]))
        {
            return mesh_no_memory(r->m, r->error);
        }
    }
    return int_list_push(&r->from, line) ? WEFT_OK : mesh_no_memory(r->m, r->error);
}

// ---- TetGen

static weft_status node_read(tet_reader* r, int* base)
{
    int64_t count, size, number;
    TRY(tet_whole(r, 1, COUNT_MAX, "the number of vertices", &count));
    TRY(tet_whole(r, 3, 3, "the number of coordinates", &size));
    TRY(tet_skip_line(r));
    for (int64_t k = 0; k < count; k++)
    {
        vec3 x;
        int64_t least = k == 0 ? 0 : *base + k;
        TRY(tet_whole(r, least, k == 0 ? 1 : least, "the vertex's number", &number));
        *base = k == 0 ? (int)number : *base;
        TRY(tet_point(r, &x));
        TRY(tet_skip_line(r));
        TRY(tet_add_vertex(r, x));
    }
    return WEFT_OK;
}

static weft_status tetgen_read(tet_reader* r)
{
    int base = 0;
    r->comments = true;
    TRY(node_read(r, &base));
    return mesh_read_ele(r->lines.path, base, r->m, r->error);
}

// ---- all formats

static weft_status tet_finish_lists(tet_reader* r)
{
    mesh* m = r->m;
    m->form = MESH_SOLID;
    if (!m->tetrahedron)
    {
        m->tetrahedron = r->corner.item;
        m->tetrahedron_line = r->from.item;
        m->tetrahedron_count = r->from.count;
        m->tetrahedron_file = mem_strdup(r->lines.path);
        r->corner.item = r->from.item = NULL;
        TRY(m->tetrahedron_file ? WEFT_OK : mesh_no_memory(m, r->error));
    }
    return m->tetrahedron_count > 0
               ? WEFT_OK
               : error_set(r->error, WEFT_BAD_INPUT, r->lines.path, 0,
                           "has no tetrahedra of four vertices: export a mesh of the volume, of first order");
}

// Points of the construction, say: they would fall by themselves.
static weft_status tet_drop_unused(mesh* m, weft_error* error)
{
    int* place = MEM_NEW(m->vertex_count, int);
    if (!place)
    {
        return mesh_no_memory(m, error);
    }
    for (int k = 0; k < 4 * m->tetrahedron_count; k++)
    {
        place[m->tetrahedron[k]] = 1;
    }
    int kept = 0, given = m->vertex_count;
    for (int v = 0; v < given; v++)
    {
        m->position[kept] = m->position[v];
        kept += place[v];
        place[v] = kept - place[v];
    }
    for (int k = 0; k < 4 * m->tetrahedron_count; k++)
    {
        m->tetrahedron[k] = place[m->tetrahedron[k]];
    }
    mem_free(place);
    m->vertex_count = kept;
    if (kept < given)
    {
        log_warning("%s: %d of %d vertices belong to no tetrahedron and are left out", m->file, given - kept, given);
    }
    return WEFT_OK;
}

static bool ends_with(const char* path, const char* end)
{
    size_t length = strlen(path), size = strlen(end);
    return length > size && strcmp(path + length - size, end) == 0;
}

static weft_status tet_read(tet_reader* r, char* path)
{
    size_t length = strlen(path);
    if (ends_with(path, ".ele"))
    {
        memcpy(path + length - 4, ".nod", 4); // the path has room for one byte more
        memcpy(path + length, "e", 2);
    }
    bool tetgen = ends_with(path, ".node");
    if (!tetgen && !ends_with(path, ".msh") && !ends_with(path, ".vtk"))
    {
        return error_set(
            r->error, WEFT_BAD_INPUT, path, 0,
            "is none of the files of tetrahedra that are read: FILE.node (and FILE.ele), FILE.msh, FILE.vtk");
    }
    TRY(text_lines_open(path, &r->lines, r->error));
    return tetgen ? tetgen_read(r) : ends_with(path, ".msh") ? gmsh_read(r) : vtk_read(r);
}

weft_status mesh_from_tets(const char* path, mesh* out, weft_error* error)
{
    WEFT_ASSERT(path && out);
    *out = (mesh){.form = MESH_SOLID};
    tet_reader r = {.lines = {.descriptor = -1}, .error = error, .m = out};
    size_t length = strlen(path);
    out->file = mem_alloc(length + 2, 1);
    if (!out->file)
    {
        return mesh_no_memory(out, error);
    }
    memcpy(out->file, path, length + 1);
    weft_status status = tet_read(&r, out->file);
    status = status == WEFT_OK ? tet_finish_lists(&r) : status;
    status = status == WEFT_OK ? tet_drop_unused(out, error) : status;
    text_lines_close(&r.lines);
    mem_free(r.tags);
    mem_free(r.corner.item);
    mem_free(r.from.item);
    if (status != WEFT_OK)
    {
        mesh_finish(out);
        return status;
    }
    mesh_turn_tetrahedra(out);
    return WEFT_OK;
}
