// What the files of untangling share: all bodies in one array, as an inspector sees them, with the cloth in motion.
#ifndef WEFT_UNTANGLE_H
#define WEFT_UNTANGLE_H

#include "collide/triangle_tree.h"
#include "start/start.h"

// ---- the bodies
typedef struct tangle
{
    start_look* look;
    int vertex_count, cloth_count; // vertices; those of cloths come first
    int triangle_count, cloth_triangles;
    int* first_triangle;   // [body_count + 1]
    int* triangle;         // [3 * triangle_count]
    int* body_of;          // [triangle_count]
    int* mate;             // [3 * triangle_count] slot 3 t + k is the side opposite to corner k: the other slot, or -1
    int* home;             // [vertex_count] body
    vec3 *from, *x;        // [vertex_count] at first and now, always floats
    vec3* scratch;         // [vertex_count]
    vec3* normal;          // [vertex_count] unit, of x when it was inspected
    unsigned char* held;   // [vertex_count] pinned, or of an obstacle
    unsigned char* hard;   // [vertex_count] was pushed: smoothing leaves it
    int* near_start;       // [cloth_count + 1] neighbours of the vertices of cloth
    int *near, *near_slot; // [6 * cloth_triangles] and over which side
    double* size;          // [cloth_count] m, mean length of a vertex's edges
    double* lift; // [cloth_count] m, distance that a push out of a solid aims at beyond thickness; grows with need
    unsigned char* age;    // [vertex_count] rounds in a row in which a triangle of the vertex crosses an open surface
    int* queue;            // [cloth_count] scratch
    unsigned char* inside; // [cloth_count] scratch: in the solid at hand
    bool eager;            // flattens soon where bodies lie on each other
    bool layered;          // and some do
    int stall;             // rounds since crossings became fewer
    triangle_tree* trees;  // [body_count]
    unsigned char* solid;  // [body_count] an obstacle that is closed and looks outward
} tangle;

// To floats that collision detection takes: none is tiny.
static inline vec3 tangle_round(vec3 x)
{
    const double least = 1e-25;
    return v3_round(v3(fabs(x.x) < least ? 0.0 : x.x, fabs(x.y) < least ? 0.0 : x.y, fabs(x.z) < least ? 0.0 : x.z));
}

// Moves a free vertex; it stays a float.
static inline void tangle_push(tangle* t, int vertex, vec3 delta)
{
    if (!t->held[vertex])
    {
        t->x[vertex] = tangle_round(v3_add(t->x[vertex], delta));
        t->hard[vertex] = 1;
    }
}

double tangle_gap(const tangle* t, int vertex, int body); // m, that a vertex of cloth is to keep from a body at least
int tangle_triangle(const tangle* t, const weft_crossing* c, int side);
bool tangle_excluded(const tangle* t, int vertex, int body);
vec3 tangle_face_normal(const tangle* t, int triangle); // not normalised

// The bodies of a look, their meshes' topology and trees. Zeroed or half made is fine for the end.
weft_status tangle_create(tangle* t, start_look* look);
void tangle_finish(tangle* t);
void tangle_measure(tangle* t); // normals and trees of x

// A vertex of cloth that crosses a body, or belongs to a piece that has to pass it. side: of the body's normals, 0: not
// known; wrong: it is not there yet.
typedef weft_status tangle_side_fn(void* user, int vertex, int body, int side, bool wrong);
weft_status tangle_sides(tangle* t, tangle_side_fn* take, void* user); // of the crossings of open surfaces

weft_status tangle_leave_solids(tangle* t);             // one round for crossings of closed obstacles
weft_status tangle_part_sheets(tangle* t);              // one round for crossings of open surfaces
weft_status tangle_relax(tangle* t, weft_error* error); // less strain, still without crossings
double tangle_strain(const tangle* t);                  // of the side of a triangle that is stretched most

#endif
