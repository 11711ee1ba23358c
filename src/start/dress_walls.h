// Garments as walls with openings, and ways between them, for dress_thread.c.
#ifndef WEFT_DRESS_WALLS_H
#define WEFT_DRESS_WALLS_H

#include "collide/broad.h"
#include "collide/triangle_tree.h"
#include "start/dress.h"

// An opening: a border of a garment, closed by triangles to its middle.
typedef struct opening
{
    int garment;
    double length; // m, of the border
    vec3 middle;
    vec3 out; // unit, away from the garment
} opening;

typedef struct walls
{
    int garment_count, vertex_count, triangle_count, opening_count;
    vec3* x;           // [vertex_count + 2] m; the last two are scratch
    int* triangle;     // [3 * triangle_count] of each garment its own, then those of its openings
    int* opening_of;   // [triangle_count] -1: cloth
    int* first;        // [garment_count + 1] triangles
    opening* openings; // [opening_count]
    triangle_tree cloth, lids;
    winding_tree* inside; // [garment_count]
    vec3 low, high;
} walls;

weft_status walls_create(walls* w, const dress_cloth* cloths, int count);
void walls_finish(walls* w); // zeroed or half-built is fine
bool walls_hold(walls* w, int garment, vec3 p);
bool walls_hit(walls* w, vec3 a, vec3 b);                           // cloth between two points
int walls_opening(walls* w, vec3 a, vec3 b);                        // whose lid is between two points; -1: none
bool walls_left(walls* w, vec3 a, vec3 b, const unsigned char* of); // a lid of these garments, [garment_count]
bool opening_admits(const opening* o, double radius);               // a limb of that radius
// Likewise, or an opening that is narrower than a limb of that radius.
bool walls_bar(walls* w, vec3 a, vec3 b, double radius);

// A line of points.
typedef struct thread_way
{
    vec3* point; // [count]
    int count, capacity;
} thread_way;

weft_status thread_add(thread_way* way, vec3 point);

// Adds to a way that ends somewhere inside of garments the shortest way to the middle of an opening, far from cloth
// where there is room. inside: [garment_count], whether it has to stay in each of them. *found: there is one.
weft_status walls_find_way(walls* w, const opening* to, const unsigned char* inside, thread_way* way, bool* found);

#endif
