// What the files of this room share and nobody else sees: lists, text lines, numbers, names, triangle sides, polygons.
#ifndef WEFT_MESH_INSIDE_H
#define WEFT_MESH_INSIDE_H

#include "mesh/mesh.h"

#define COORDINATE_MAX 1e12 // m; beyond it differences of neighbours lose the digits that a simulation needs
#define AREA_MIN 1e-12      // of the longest edge squared; a triangle below it counts as degenerate

enum
{
    COUNT_MAX = INT32_MAX / 3, // vertices, faces, corners or triangles, so that 3 * count is still an int
    POLYGON_MAX = 4096,        // corners of a face: ear clipping takes the square of it
    LABEL_SIZE = 64
};

// ---- messages
// "face 12 on line 40" (from 1, as OBJ counts) or "face 11 (counted from 0)" for meshes without lines.
const char* mesh_face_label(const mesh* m, int face, char label[LABEL_SIZE]);
int mesh_face_line(const mesh* m, int face); // 0 when unknown
weft_status mesh_no_memory(const mesh* m, weft_error* error);

// Every corner is a vertex of the mesh, and no face has too few corners or one twice; lines may close.
weft_status mesh_check_faces(const mesh* m, weft_error* error);

// Of a face: polygons have three corners, lines two.
static inline int form_corners_min(mesh_form form)
{
    return form == MESH_LINES ? 2 : 3;
}

static inline const char* form_face_word(mesh_form form)
{
    return form == MESH_LINES ? "line" : "face";
}

// Whether this vertex, as corner k of a face, is there already: among all corners before, which mark ([vertex_count])
// has as face + 1; of lines, which may meet themselves, only as the corner before.
static inline bool mesh_corner_repeats(const mesh* m, int face, int k, const int* mark, int vertex)
{
    return m->form == MESH_LINES ? k > m->face_start[face] && m->face_vertex[k - 1] == vertex
                                 : mark[vertex] == face + 1;
}

weft_status mesh_check_positions(const mesh* m, weft_error* error); // finite and below COORDINATE_MAX
weft_status mesh_make_segments(mesh* m, weft_error* error);         // of lines; at least one
// From FILE.ele beside FILE.obj or FILE.node (path), of which the mesh has the vertices; makes it a solid. base: number
// of the first vertex; -1: that of the first tetrahedron.
weft_status mesh_read_ele(const char* path, int base, mesh* m, weft_error* error);
void mesh_turn_tetrahedra(mesh* m); // all of them, where all are inside out

// ---- growing list of integers
typedef struct int_list
{
    int* item; // [capacity], [0, count) in use
    int count, capacity;
} int_list;

static inline bool int_list_push(int_list* list, int value)
{
    void* item = list->item;
    if (list->count >= COUNT_MAX || !mem_grow(&item, &list->capacity, list->count + 1, sizeof(int)))
    {
        return false;
    }
    list->item = item;
    list->item[list->count++] = value;
    return true;
}

// Appends `value` until the list has `count` items.
static inline bool int_list_fill(int_list* list, int count, int value)
{
    while (list->count < count)
    {
        if (!int_list_push(list, value))
        {
            return false;
        }
    }
    return true;
}

// ---- text files, line by line
// Lines end in LF, CR LF or (where the file has no LF at its start) CR. A backslash at the end of a line that is no
// comment joins it with the next. The text is zero-terminated and holds no zero byte.
typedef struct text_lines
{
    const char* path;
    int descriptor; // -1: not open
    char* buffer;   // [capacity], [begin, end) is read but not handed out
    int capacity, begin, end;
    int line_number; // where the line handed out last starts, from 1; stays at INT32_MAX
    int next_number; // where the next one starts
    char terminator;
    bool at_end; // nothing is left to read from the file
} text_lines;

weft_status text_lines_open(const char* path, text_lines* out, weft_error* error);
// *out is NULL after the last line, else a line that may be written to and is valid until the next call.
weft_status text_lines_next(text_lines* lines, char** out, weft_error* error);
void text_lines_close(text_lines* lines); // zeroed with descriptor -1 is fine

// ---- names: each once, numbered in order of arrival
typedef struct name_table
{
    char** name; // [count]
    int count, capacity;
    int* slot;      // [slot_count] hash table of indices, -1 where free
    int slot_count; // zero or a power of two
} name_table;

weft_status name_table_add(name_table* table, const char* name, int* out_index); // finds or adds
void name_table_finish(name_table* table);

// ---- selection and welding of a mesh that has no triangles yet
weft_status mesh_select(mesh* m, const char* object, weft_error* error);
weft_status mesh_weld(mesh* m, double tolerance, weft_error* error);
weft_status mesh_weld_same(mesh* m, weft_error* error); // those that m->same says are one

// ---- triangle sides
// A side of a triangle. Slot 3 t + k is the side opposite to corner k of triangle t, from corner k + 1 to corner k + 2.
typedef struct side
{
    int low, high; // vertices, low < high
    int slot;
} side;

// All 3 * triangle_count sides, sorted by (low, high, slot). *out is mem_free'd by the caller.
weft_status sides_build(const int* triangle, int triangle_count, int vertex_count, side** out);

// The number of sides from `begin` on that lie on the same edge as it.
static inline int sides_on_edge(const side* sides, int begin, int end)
{
    int k = begin + 1;
    while (k < end && sides[k].low == sides[begin].low && sides[k].high == sides[begin].high)
    {
        k++;
    }
    return k - begin;
}

// Whether the triangle runs this side from its low to its high vertex.
static inline bool side_runs_up(const int* triangle, side s)
{
    int t = s.slot / 3, k = s.slot % 3;
    return triangle[3 * t + (k + 1) % 3] == s.low;
}

// Every edge in at most two triangles, no triangle twice, and opposite directions on every shared edge: faces that run
// against their neighbours are turned over with a warning, and a surface where that cannot succeed is refused.
weft_status mesh_check_topology(mesh* m, weft_error* error);

// ---- polygons
typedef struct polygon polygon; // scratch for one face

polygon* polygon_create(void); // NULL when there is no memory
void polygon_destroy(polygon* p);
// Splits a face of 4 to POLYGON_MAX corners into count - 2 triangles of corner numbers, in the sense of the face. False
// when one would have to be turned over: the face crosses itself or is folded.
bool polygon_split(polygon* p, const vec3* position, const int* vertex, int count, int* out);

#endif
