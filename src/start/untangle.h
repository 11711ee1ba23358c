// What the files of untangling share: all bodies in one array, as an inspector sees them, with the cloth in motion.
#ifndef WEFT_UNTANGLE_H
#define WEFT_UNTANGLE_H

#include "start/start.h"

// ---- a tree of boxes over some triangles
typedef struct triangle_tree
{
    const int* corner; // [3 * all triangles]
    int count;
    int* item;        // [count] triangles in the order of a curve
    int leaf_count;   // a power of two
    vec3 *low, *high; // [2 * leaf_count] 1 is the root, 2 k and 2 k + 1 are below k
} triangle_tree;

// items is [count]; the order is that of the positions at this time, tree_refit follows them.
weft_status triangle_tree_create(triangle_tree* tree, const int* corner, const int* items, int count, const vec3* x);
void triangle_tree_refit(triangle_tree* tree, const vec3* x);
void triangle_tree_finish(triangle_tree* tree); // zeroed is fine

typedef struct nearest
{
    int triangle;     // -1: none within reach
    double weight[3]; // of its corners
    vec3 point;
    double distance;
} nearest;

nearest triangle_tree_nearest(const triangle_tree* tree, const vec3* x, vec3 p, double reach);
// Of closed surfaces that look outward: whether their winding number around p is positive.
bool triangle_tree_holds(const triangle_tree* tree, const vec3* x, vec3 p);
// How far from p along the unit vector d it is no longer; p is inside.
double triangle_tree_exit(const triangle_tree* tree, const vec3* x, vec3 p, vec3 d);

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

weft_status tangle_leave_solids(tangle* t);             // one round for crossings of closed obstacles
weft_status tangle_part_sheets(tangle* t);              // one round for crossings of open surfaces
weft_status tangle_relax(tangle* t, weft_error* error); // less strain, still without crossings
double tangle_strain(const tangle* t);                  // of the side of a triangle that is stretched most

#endif
