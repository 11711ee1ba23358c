// Solids: tetrahedra over the vertices of a mesh, and the surface that they have: the sides of one tetrahedron alone,
// seen from outside. Files of tetrahedra are those of TetGen (.ele): a line with their number, the number of vertices
// of each (4) and of attributes, then a line for each: its number, its vertices, attributes. Numbers count from that of
// the first tetrahedron, 0 or 1. Beside FILE.ele stands FILE.obj with the vertices.
#include <stdlib.h>
#include <string.h>

#include "mesh/mesh_inside.h"

static const double volume_min = 1e-12; // of the longest edge's cube: below it there is no inside

// ---- reading

typedef struct ele_reader
{
    text_lines lines;
    weft_error* error;
    mesh* m;
    int base; // number of the first vertex; -1: as tetrahedra count
} ele_reader;

static weft_status ele_refuse(const ele_reader* r, const char* what)
{
    return error_set(r->error, WEFT_BAD_INPUT, r->lines.path, r->lines.line_number,
                     "%s; a file of tetrahedra has `COUNT 4 0` first, then `NUMBER V1 V2 V3 V4` for each", what);
}

// The next line with something on it; *out is NULL at the end.
static weft_status ele_next(ele_reader* r, char** out)
{
    do
    {
        TRY(text_lines_next(&r->lines, out, r->error));
        if (*out)
        {
            (*out)[strcspn(*out, "#")] = 0;
            *out += strspn(*out, " \t\r");
        }
    } while (*out && **out == 0);
    return WEFT_OK;
}

// Whole numbers at the start of a line; returns how many of `count` there are.
static int scan_numbers(char* line, int count, int64_t* out)
{
    for (int k = 0; k < count; k++)
    {
        char* end;
        out[k] = strtoll(line, &end, 10);
        if (end == line || !(*end == 0 || strchr(" \t\r", *end)))
        {
            return k;
        }
        line = end;
    }
    return count;
}

static weft_status ele_read_one(ele_reader* r, int index)
{
    char* line;
    int64_t n[5];
    TRY(ele_next(r, &line));
    if (!line || scan_numbers(line, 5, n) < 5)
    {
        return ele_refuse(r,
                          line ? "five whole numbers were expected here" : "the file ends before its last tetrahedron");
    }
    r->base = r->base >= 0 ? r->base : n[0] != 0;
    for (int k = 0; k < 4; k++)
    {
        int64_t v = n[1 + k] - r->base;
        if (v < 0 || v >= r->m->vertex_count)
        {
            return error_set(r->error, WEFT_BAD_INPUT, r->lines.path, r->lines.line_number,
                             "tetrahedron %lld uses vertex %lld, and the file beside it has %d, counted from %d",
                             (long long)n[0], (long long)n[1 + k], r->m->vertex_count, r->base);
        }
        r->m->tetrahedron[4 * (size_t)index + (size_t)k] = (int)v;
    }
    return WEFT_OK;
}

static weft_status ele_read(ele_reader* r)
{
    char* line;
    int64_t n[2];
    TRY(ele_next(r, &line));
    if (!line || scan_numbers(line, 2, n) < 2 || n[0] < 1 || n[0] > COUNT_MAX / 4 || n[1] != 4)
    {
        return ele_refuse(r, "the number of tetrahedra and a 4 were expected here");
    }
    int_list grown = {0}, from = {0}; // as far as the file has them: a count alone takes no memory
    weft_status status = WEFT_OK;
    for (int t = 0; t < (int)n[0] && status == WEFT_OK; t++)
    {
        bool room = int_list_fill(&grown, 4 * (t + 1), 0);
        r->m->tetrahedron = grown.item;
        status = room ? ele_read_one(r, t) : mesh_no_memory(r->m, r->error);
        room = status != WEFT_OK || int_list_push(&from, r->lines.line_number);
        status = room ? status : mesh_no_memory(r->m, r->error);
    }
    r->m->tetrahedron_line = from.item;
    r->m->tetrahedron_count = status == WEFT_OK ? (int)n[0] : 0;
    return status;
}

weft_status mesh_read_ele(const char* path, int base, mesh* m, weft_error* error)
{
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
    size_t length = strlen(path), stem = dot && (!slash || dot > slash) ? (size_t)(dot - path) : length;
    m->form = MESH_SOLID;
    m->tetrahedron_file = mem_alloc(length + 5, 1);
    if (!m->tetrahedron_file)
    {
        return mesh_no_memory(m, error);
    }
    memcpy(m->tetrahedron_file, path, stem);
    memcpy(m->tetrahedron_file + stem, ".ele", 5);
    ele_reader r = {.error = error, .m = m, .base = base};
    weft_status status = text_lines_open(m->tetrahedron_file, &r.lines, error);
    status = status == WEFT_OK ? ele_read(&r) : status;
    text_lines_close(&r.lines);
    return status;
}

// ---- the surface

// An error about one of them, with its place in the file where it has one.
static weft_status refuse_tetrahedron(const mesh* m, int t, const char* what, weft_error* error)
{
    return error_set(error, WEFT_BAD_INPUT, m->tetrahedron_file ? m->tetrahedron_file : m->file,
                     m->tetrahedron_line ? m->tetrahedron_line[t] : 0, "tetrahedron %d (counted from 0) %s", t, what);
}

// Volume over the cube of the longest edge.
static double relative_volume(const mesh* m, int t)
{
    const int* v = m->tetrahedron + 4 * (size_t)t;
    vec3 e[3], a = m->position[v[0]];
    double longest = 0.0;
    for (int k = 0; k < 6; k++)
    {
        static const int ends[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
        longest = fmax(longest, v3_length(v3_sub(m->position[v[ends[k][1]]], m->position[v[ends[k][0]]])));
    }
    for (int k = 0; k < 3; k++)
    {
        e[k] = v3_sub(m->position[v[1 + k]], a);
    }
    return v3_dot(e[0], v3_cross(e[1], e[2])) / 6.0 / (longest * longest * longest);
}

static weft_status check_volume(const mesh* m, int t, weft_error* error)
{
    double volume = relative_volume(m, t);
    if (volume > volume_min)
    {
        return WEFT_OK;
    }
    bool flat = !(volume < -volume_min);
    return refuse_tetrahedron(
        m, t,
        flat ? "has no volume: remove it or mesh the body again"
             : "is inside out: its fourth vertex lies on the wrong side of the first three; swap two of them",
        error);
}

void mesh_turn_tetrahedra(mesh* m)
{
    for (int t = 0; t < m->tetrahedron_count; t++)
    {
        if (!(relative_volume(m, t) < -volume_min))
        {
            return;
        }
    }
    for (int t = 0; t < m->tetrahedron_count; t++)
    {
        int* v = m->tetrahedron + 4 * (size_t)t;
        int third = v[2];
        v[2] = v[3];
        v[3] = third;
    }
}

// Side k of a tetrahedron, seen from outside.
static const int side_corner[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};

typedef struct tetra_side
{
    int vertex[3]; // ascending
    int slot;      // 4 t + k
} tetra_side;

static int compare_sides(const void* left, const void* right)
{
    const tetra_side *a = left, *b = right;
    for (int k = 0; k < 3; k++)
    {
        if (a->vertex[k] != b->vertex[k])
        {
            return a->vertex[k] < b->vertex[k] ? -1 : 1;
        }
    }
    return (a->slot > b->slot) - (a->slot < b->slot);
}

static bool same_side(const tetra_side* a, const tetra_side* b)
{
    return memcmp(a->vertex, b->vertex, sizeof(a->vertex)) == 0;
}

static void list_sides(const mesh* m, tetra_side* sides)
{
    for (int slot = 0; slot < 4 * m->tetrahedron_count; slot++)
    {
        const int* v = m->tetrahedron + (slot - slot % 4);
        const int* c = side_corner[slot % 4];
        int x = v[c[0]], y = v[c[1]], z = v[c[2]];
        int low = int_min(x, int_min(y, z)), high = int_max(x, int_max(y, z));
        sides[slot] = (tetra_side){{low, (int)((int64_t)x + y + z - low - high), high}, slot};
    }
    qsort(sides, 4 * (size_t)m->tetrahedron_count, sizeof(tetra_side), compare_sides);
}

// open is [4 * tetrahedron_count]: 1 for sides that no other tetrahedron has.
static weft_status find_open(const mesh* m, const tetra_side* sides, unsigned char* open, weft_error* error)
{
    int count = 4 * m->tetrahedron_count;
    for (int k = 0; k < count; k++)
    {
        bool before = k > 0 && same_side(&sides[k], &sides[k - 1]),
             after = k + 1 < count && same_side(&sides[k], &sides[k + 1]);
        if (before && after)
        {
            return refuse_tetrahedron(m, sides[k].slot / 4,
                                      "has a side that two others have, too: they overlap; mesh the body again", error);
        }
        open[sides[k].slot] = !before && !after;
    }
    return WEFT_OK;
}

// Faces become the open sides, in the order of the tetrahedra; what was given of a surface goes.
static weft_status take_surface(mesh* m, const unsigned char* open, weft_error* error)
{
    int count = 0;
    for (int slot = 0; slot < 4 * m->tetrahedron_count; slot++)
    {
        count += open[slot];
    }
    int *start = MEM_NEW(count + 1, int), *vertex = MEM_NEW(3 * (size_t)count, int);
    void* const old[] = {m->face_start, m->face_vertex, m->face_line, m->face_object, m->face_texcoord, m->texcoord};
    for (int k = 0; k < 6; k++)
    {
        mem_free(old[k]);
    }
    mesh_drop_labels(m);
    m->face_line = m->face_object = m->face_texcoord = NULL;
    m->texcoord = NULL;
    m->texcoord_count = m->face_count = 0;
    m->face_start = start;
    m->face_vertex = vertex;
    if (!start || !vertex)
    {
        return mesh_no_memory(m, error);
    }
    for (int slot = 0; slot < 4 * m->tetrahedron_count; slot++)
    {
        for (int k = 0; k < 3 && open[slot]; k++)
        {
            vertex[3 * m->face_count + k] = m->tetrahedron[slot - slot % 4 + side_corner[slot % 4][k]];
        }
        m->face_count += open[slot];
        start[m->face_count] = 3 * m->face_count;
    }
    return WEFT_OK;
}

weft_status mesh_surface(mesh* m, weft_error* error)
{
    WEFT_ASSERT(m && m->form == MESH_SOLID);
    TRY(mesh_check_positions(m, error));
    for (int t = 0; t < m->tetrahedron_count; t++)
    {
        TRY(check_volume(m, t, error));
    }
    tetra_side* sides = MEM_NEW(4 * (size_t)m->tetrahedron_count, tetra_side);
    unsigned char* open = MEM_NEW(4 * (size_t)m->tetrahedron_count, unsigned char);
    weft_status status = sides && open ? WEFT_OK : mesh_no_memory(m, error);
    if (status == WEFT_OK)
    {
        list_sides(m, sides);
        status = find_open(m, sides, open, error);
        status = status == WEFT_OK ? take_surface(m, open, error) : status;
    }
    mem_free(sides);
    mem_free(open);
    return status == WEFT_OK ? mesh_split(m, error) : status;
}

weft_status mesh_solid_from_arrays(const vec3* position, int vertex_count, const int* tetrahedron,
                                   int tetrahedron_count, mesh* out, weft_error* error)
{
    *out = (mesh){.form = MESH_SOLID};
    if (!position || !tetrahedron || vertex_count < 4 || tetrahedron_count < 1 || vertex_count > COUNT_MAX ||
        tetrahedron_count > COUNT_MAX / 4)
    {
        return error_set(error, WEFT_BAD_INPUT, NULL, 0,
                         "a solid needs positions and tetrahedra: 4 to %d vertices (given: %d), 1 to %d tetrahedra "
                         "(given: %d)",
                         COUNT_MAX, vertex_count, COUNT_MAX / 4, tetrahedron ? tetrahedron_count : 0);
    }
    for (int k = 0; k < 4 * tetrahedron_count; k++)
    {
        if (tetrahedron[k] < 0 || tetrahedron[k] >= vertex_count)
        {
            return error_set(error, WEFT_BAD_INPUT, NULL, 0,
                             "tetrahedron %d (counted from 0) uses vertex %d, and there are %d vertices", k / 4,
                             tetrahedron[k], vertex_count);
        }
    }
    out->vertex_count = vertex_count;
    out->tetrahedron_count = tetrahedron_count;
    out->position = MEM_NEW(vertex_count, vec3);
    out->tetrahedron = MEM_NEW(4 * (size_t)tetrahedron_count, int);
    if (!out->position || !out->tetrahedron)
    {
        weft_status status = mesh_no_memory(out, error);
        mesh_finish(out);
        return status;
    }
    memcpy(out->position, position, (size_t)vertex_count * sizeof(vec3));
    memcpy(out->tetrahedron, tetrahedron, 4 * (size_t)tetrahedron_count * sizeof(int));
    return WEFT_OK;
}
