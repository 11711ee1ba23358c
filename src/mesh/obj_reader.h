// What obj_reader.c, which reads the lines of an OBJ file, and obj_mesh.c, which makes a mesh of what was read, share.
#ifndef WEFT_MESH_OBJ_READER_H
#define WEFT_MESH_OBJ_READER_H

#include "mesh/mesh_inside.h"

// The `o` or `g` that faces belong to. Names enter the table with their first face.
typedef struct obj_scope
{
    bool seen;  // there was such a line
    char* name; // [capacity] of the last such line
    int capacity;
    int index; // of that name in the table; -1: no face yet
    name_table table;
    int_list face; // index of each face, -1 before the first such line; shorter while there was none
} obj_scope;

typedef struct obj_reader
{
    text_lines lines;
    weft_error* error;
    mesh_form form; // f or l are read
    bool any_form;  // it may be the other after all
    vec3* position;
    int vertex_count, vertex_capacity;
    vec2* texcoord;
    int texcoord_count, texcoord_capacity;
    int_list start, line; // of each face
    int_list corner;      // vertex of each corner
    int_list mapped;      // texture coordinate of each corner, -1 for none; shorter while no corner had one
    bool has_mapped;
    int_list stitch;     // pairs of vertices
    weft_thread* thread; // [thread_count] points of edges that are sewn
    int thread_count, thread_capacity;
    int stitch_line; // of the last one, 0: there is none
    obj_scope object, group, material;
    name_table libraries;
    int_list one;      // vertices that are one, set by set: their number, then each
    int one_line;      // of the last such line
    int unknown_count; // lines that were not understood
    int skipped_count; // points, curves and surfaces, and of f and l the other
    int skipped_lines; // of l, when f are read
} obj_reader;

weft_status obj_no_room(obj_reader* r);
// Hands what was read over to a mesh.
weft_status obj_move_arrays(obj_reader* r, mesh* m);

#endif
