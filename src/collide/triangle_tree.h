// A tree of boxes over some triangles of an array: the nearest point, and whether closed surfaces hold a point.
#ifndef WEFT_TRIANGLE_TREE_H
#define WEFT_TRIANGLE_TREE_H

#include "core/core.h"
#include "math/vec.h"

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

typedef struct surface_point
{
    int triangle;     // -1: none within reach
    double weight[3]; // of its corners
    vec3 point;
    double distance;
} surface_point;

surface_point triangle_tree_nearest(const triangle_tree* tree, const vec3* x, vec3 p, double reach);
// Of the nearest points of each triangle those that are not behind p, seen along a vector; zero: all.
surface_point triangle_tree_nearest_ahead(const triangle_tree* tree, const vec3* x, vec3 p, vec3 along, double reach);
// Of closed surfaces that look outward: whether their winding number around p is positive.
bool triangle_tree_holds(const triangle_tree* tree, const vec3* x, vec3 p);
// How far from p along the unit vector d it is no longer; p is inside.
double triangle_tree_exit(const triangle_tree* tree, const vec3* x, vec3 p, vec3 d);

// The triangles whose boxes meet that of another triangle, one after the other.
typedef struct triangle_tree_walk
{
    const triangle_tree* tree;
    vec3 low, high;
    int stack[64], depth; // nodes
    int at, end;          // of the leaf under way
} triangle_tree_walk;

triangle_tree_walk triangle_tree_begin(const triangle_tree* tree, const vec3* x, const int corner[3]);
int triangle_tree_next(triangle_tree_walk* walk); // a triangle near it, -1: there are no more

#endif
