// Exact signs of determinants, and whether two triangles cross. Coordinates are finite and at most 1e100 in size.
#ifndef WEFT_PREDICATES_H
#define WEFT_PREDICATES_H

#include "core/core.h"
#include "math/vec.h"

// Sign of ((b - a) x (c - a)) . (d - a): 1 when d is on the side of abc from which abc runs counter-clockwise.
int sign_volume(vec3 a, vec3 b, vec3 c, vec3 d);
// Sign of the component `axis` (0, 1, 2) of (b - a) x (d - c).
int sign_cross(int axis, vec3 a, vec3 b, vec3 c, vec3 d);
// The same by integers alone: what the two above fall back to.
int sign_volume_exact(vec3 a, vec3 b, vec3 c, vec3 d);
int sign_cross_exact(int axis, vec3 a, vec3 b, vec3 c, vec3 d);
// Sign of the sum of a . (b x c) over triangles: the side to which a closed surface looks.
int sign_enclosed(const vec3* x, const int* triangles, const int* chosen, int count);

static inline bool v3_same(vec3 a, vec3 b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

// A convex hull of one, two or three points in general position.
typedef struct flat
{
    vec3 p[3];
    int count; // 1: a point, 2: a segment, 3: a triangle with area
} flat;

flat flat_make(vec3 a, vec3 b, vec3 c); // the hull of any three points
// Whether the relative interiors (of a point: itself) have a point in common.
bool flat_meet(const flat* a, const flat* b);
// Whether the closed sets have one.
bool flat_touch(const flat* a, const flat* b);

typedef struct flat_cross
{
    enum
    {
        CROSS_NONE,
        CROSS_THROUGH, // relative interiors meet, planes differ
        CROSS_OVERLAP, // relative interiors meet, planes are the same
        CROSS_LEANS    // they do not meet, but an edge of one lies in the other's plane, and the rest off it
    } kind;
    int leaning; // 0 or 1: the one whose edge it is
    int corner;  // its corner that is off the plane, as in flat.p
    int side;    // of that corner: 1 or -1
} flat_cross;

// Two triangles with area.
flat_cross flat_cross_find(const flat* a, const flat* b);

#endif
