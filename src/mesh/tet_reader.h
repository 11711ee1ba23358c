// Files of tetrahedra, word by word: what the readers of their formats share. Counts that a file states are never
// trusted with memory: arrays grow as far as the file has numbers.
#ifndef WEFT_TET_READER_H
#define WEFT_TET_READER_H

#include "mesh/mesh_inside.h"

typedef struct vertex_tag
{
    int64_t tag; // as the file names the vertex
    int index;
} vertex_tag;

typedef struct tet_reader
{
    text_lines lines;
    char* at;      // what is left of the present line; NULL: none
    bool comments; // # starts one
    weft_error* error;
    mesh* m; // gets the positions at once, the rest when the file is read
    int position_capacity;
    vertex_tag* tags; // [m->vertex_count] where the format names vertices
    int tag_capacity;
    int_list corner, from; // 4 vertices of each tetrahedron, and its line
} tet_reader;

// The next word, NULL at the end of the file; valid until the line after it is asked for.
weft_status tet_word(tet_reader* r, char** out);
weft_status tet_skip_line(tet_reader* r); // the rest of it
// A number that has to come next; `what` names it in the error.
weft_status tet_whole(tet_reader* r, int64_t least, int64_t most, const char* what, int64_t* out);
weft_status tet_point(tet_reader* r, vec3* out);
weft_status tet_refuse(const tet_reader* r, const char* what); // at the present line
weft_status tet_ends(const tet_reader* r, const char* what);   // the file is over before it has that

weft_status tet_add_vertex(tet_reader* r, vec3 x);
weft_status tet_add(tet_reader* r, const int64_t* vertex /* [4] */, int line);
weft_status tet_tag_vertex(tet_reader* r, int64_t tag); // of the vertex that is added next
weft_status tet_sort_tags(tet_reader* r);               // all vertices are there
weft_status tet_find_tag(tet_reader* r, int64_t tag, int64_t* out);

weft_status gmsh_read(tet_reader* r);
weft_status vtk_read(tet_reader* r);

#endif
