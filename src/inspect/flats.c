// Whether the relative interiors of two points, segments or triangles meet, by signs of determinants alone.
//
// Two convex sets have disjoint relative interiors exactly when a plane separates them properly: each lies on its
// closed side, and not both lie in it. The cases below are that theorem with the few planes that need to be tried.
//
// Triangles in different planes (after Guigue and Devillers, Fast and robust triangle-triangle overlap test using
// orientation predicates, 2003, with strict signs): a plane of one that does not cut the other's relative interior
// separates. Otherwise each triangle's relative interior cuts the common line of the planes in an open interval,
// between two edges that leave the corner which is alone on its side; two volumes compare the ends. With P the point of
// a line from a0 to a1 on the common line and Q that from b0 to b1, volume(a0, a1, b0, b1) is PQ times a factor of
// known sign, since a0 is off the plane of b; it is zero only for P = Q. So the comparison holds for corners in the
// plane too.
//
// In one plane: sets of which one has an area are separated by a line along an edge of one of them, if at all (the
// edges of the Minkowski difference run along those).
#include "inspect/predicates.h"

// Sign of the area of abc seen along an axis.
static int sign_area(int axis, vec3 a, vec3 b, vec3 c)
{
    return sign_cross(axis, a, b, a, c);
}

// By x, then y, then z: on a line the same order as along it, or the reverse.
static int compare_points(vec3 a, vec3 b)
{
    if (a.x != b.x)
    {
        return a.x < b.x ? -1 : 1;
    }
    if (a.y != b.y)
    {
        return a.y < b.y ? -1 : 1;
    }
    return a.z < b.z ? -1 : a.z > b.z;
}

// An axis along which abc has an area; -1: it has none. The largest component is tried first, since floating point then
// decides.
static int area_axis(vec3 a, vec3 b, vec3 c)
{
    vec3 n = v3_cross(v3_sub(b, a), v3_sub(c, a));
    double x = fabs(n.x), y = fabs(n.y), z = fabs(n.z);
    int first = x >= y && x >= z ? 0 : y >= z ? 1 : 2;
    for (int k = 0; k < 3; k++)
    {
        if (sign_area((first + k) % 3, a, b, c) != 0)
        {
            return (first + k) % 3;
        }
    }
    return -1;
}

flat flat_make(vec3 a, vec3 b, vec3 c)
{
    if (area_axis(a, b, c) >= 0)
    {
        return (flat){{a, b, c}, 3};
    }
    vec3 low = compare_points(a, b) < 0 ? a : b, high = compare_points(a, b) < 0 ? b : a;
    low = compare_points(c, low) < 0 ? c : low;
    high = compare_points(c, high) > 0 ? c : high;
    return (flat){{low, high, high}, compare_points(low, high) == 0 ? 1 : 2};
}

// ---- in one plane, seen along an axis along which it is not on edge

// All of b lies on the line from p to q or on its side away from `inner`, the sign of the other set's points.
static bool line_separates(int axis, vec3 p, vec3 q, int inner, const flat* b)
{
    for (int k = 0; k < b->count; k++)
    {
        if (sign_area(axis, p, q, b->p[k]) * inner > 0)
        {
            return false;
        }
    }
    return true;
}

// Some edge line of the triangle has all of b on its outer side.
static bool edges_separate(int axis, const flat* triangle, const flat* b)
{
    const vec3* t = triangle->p;
    int inner = sign_area(axis, t[0], t[1], t[2]);
    return line_separates(axis, t[0], t[1], inner, b) || line_separates(axis, t[1], t[2], inner, b) ||
           line_separates(axis, t[2], t[0], inner, b);
}

// ---- with a point

static bool point_in_segment(vec3 p, const flat* s)
{
    for (int axis = 0; axis < 3; axis++)
    {
        if (sign_area(axis, s->p[0], s->p[1], p) != 0)
        {
            return false;
        }
    }
    return compare_points(s->p[0], p) * compare_points(p, s->p[1]) > 0;
}

// p is in the triangle's plane.
static bool planar_point_in_triangle(int axis, vec3 p, const flat* t)
{
    int inner = sign_area(axis, t->p[0], t->p[1], t->p[2]);
    return sign_area(axis, t->p[0], t->p[1], p) == inner && sign_area(axis, t->p[1], t->p[2], p) == inner &&
           sign_area(axis, t->p[2], t->p[0], p) == inner;
}

static bool point_in_triangle(vec3 p, const flat* t)
{
    return sign_volume(t->p[0], t->p[1], t->p[2], p) == 0 &&
           planar_point_in_triangle(area_axis(t->p[0], t->p[1], t->p[2]), p, t);
}

// ---- two segments

static bool segments_overlap_on_line(const flat* a, const flat* b)
{
    vec3 a0 = a->p[0], a1 = a->p[1], b0 = b->p[0], b1 = b->p[1];
    bool up_a = compare_points(a0, a1) < 0, up_b = compare_points(b0, b1) < 0;
    vec3 low_a = up_a ? a0 : a1, high_a = up_a ? a1 : a0, low_b = up_b ? b0 : b1, high_b = up_b ? b1 : b0;
    return compare_points(low_a, high_b) < 0 && compare_points(low_b, high_a) < 0;
}

static bool segment_meets_segment(const flat* a, const flat* b)
{
    vec3 a0 = a->p[0], a1 = a->p[1], b0 = b->p[0], b1 = b->p[1];
    if (sign_volume(a0, a1, b0, b1) != 0)
    {
        return false;
    }
    for (int axis = 0; axis < 3; axis++)
    {
        if (sign_cross(axis, a0, a1, b0, b1) != 0)
        {
            return sign_area(axis, a0, a1, b0) * sign_area(axis, a0, a1, b1) < 0 &&
                   sign_area(axis, b0, b1, a0) * sign_area(axis, b0, b1, a1) < 0;
        }
    }
    return area_axis(a0, a1, b0) < 0 && segments_overlap_on_line(a, b);
}

// ---- segment and triangle

// The segment is in the triangle's plane: an edge of the triangle separates, or the segment's own line, or nothing.
static bool planar_segment_meets_triangle(const flat* s, const flat* t)
{
    int axis = area_axis(t->p[0], t->p[1], t->p[2]);
    return !edges_separate(axis, t, s) && !line_separates(axis, s->p[0], s->p[1], 1, t) &&
           !line_separates(axis, s->p[0], s->p[1], -1, t);
}

static bool segment_meets_triangle(const flat* s, const flat* t)
{
    const vec3 *p = t->p, a = s->p[0], b = s->p[1];
    int side_a = sign_volume(p[0], p[1], p[2], a), side_b = sign_volume(p[0], p[1], p[2], b);
    if (side_a == 0 && side_b == 0)
    {
        return planar_segment_meets_triangle(s, t);
    }
    if (side_a * side_b >= 0)
    {
        return false;
    }
    int turn = sign_volume(a, b, p[0], p[1]);
    return turn != 0 && sign_volume(a, b, p[1], p[2]) == turn && sign_volume(a, b, p[2], p[0]) == turn;
}

// ---- two triangles

typedef struct sides
{
    int sign[3];           // of each corner against the other's plane
    int plus, zero, minus; // how many of each
} sides;

static sides sides_find(const flat* plane, const flat* t)
{
    sides s = {{0}, 0, 0, 0};
    for (int k = 0; k < 3; k++)
    {
        s.sign[k] = sign_volume(plane->p[0], plane->p[1], plane->p[2], t->p[k]);
        s.plus += s.sign[k] > 0;
        s.zero += s.sign[k] == 0;
        s.minus += s.sign[k] < 0;
    }
    return s;
}

// The corner that is alone on its open side of a plane which cuts the triangle's relative interior.
static int lone_corner(const sides* s)
{
    int side = s->plus == 1 ? 1 : -1;
    return s->sign[0] == side ? 0 : s->sign[1] == side ? 1 : 2;
}

static bool intervals_overlap(const flat* a, const sides* on_a, const flat* b, const sides* on_b)
{
    int i = lone_corner(on_a), j = lone_corner(on_b);
    // Turned so that the lone corner of each is above the other.
    int turn_a = on_b->sign[j] > 0 ? 1 : 2, turn_b = on_a->sign[i] > 0 ? 1 : 2;
    vec3 a0 = a->p[i], a1 = a->p[(i + turn_a) % 3], a2 = a->p[(i + 3 - turn_a) % 3];
    vec3 b0 = b->p[j], b1 = b->p[(j + turn_b) % 3], b2 = b->p[(j + 3 - turn_b) % 3];
    return sign_volume(a0, a1, b0, b1) < 0 && sign_volume(a0, a2, b2, b0) < 0;
}

// One side of a plane holds the whole triangle, and two corners are in it.
static flat_cross leans(const sides* s, int leaning)
{
    flat_cross out = {.kind = CROSS_NONE, .leaning = leaning};
    if (s->zero == 2)
    {
        out.kind = CROSS_LEANS;
        out.corner = s->sign[0] ? 0 : s->sign[1] ? 1 : 2;
        out.side = s->sign[out.corner];
    }
    return out;
}

flat_cross flat_cross_find(const flat* a, const flat* b)
{
    sides on_b = sides_find(a, b);
    if (on_b.zero == 3)
    {
        int axis = area_axis(a->p[0], a->p[1], a->p[2]);
        bool apart = edges_separate(axis, a, b) || edges_separate(axis, b, a);
        return (flat_cross){.kind = apart ? CROSS_NONE : CROSS_OVERLAP};
    }
    if (on_b.plus == 0 || on_b.minus == 0)
    {
        return leans(&on_b, 1);
    }
    sides on_a = sides_find(b, a);
    if (on_a.plus == 0 || on_a.minus == 0)
    {
        return leans(&on_a, 0);
    }
    return (flat_cross){.kind = intervals_overlap(a, &on_a, b, &on_b) ? CROSS_THROUGH : CROSS_NONE};
}

// ---- any two

bool flat_meet(const flat* a, const flat* b)
{
    const flat *low = a->count <= b->count ? a : b, *high = low == a ? b : a;
    if (low->count == 1)
    {
        vec3 p = low->p[0];
        return high->count == 1   ? v3_same(p, high->p[0])
               : high->count == 2 ? point_in_segment(p, high)
                                  : point_in_triangle(p, high);
    }
    if (low->count == 2)
    {
        return high->count == 2 ? segment_meets_segment(low, high) : segment_meets_triangle(low, high);
    }
    int kind = flat_cross_find(a, b).kind;
    return kind == CROSS_THROUGH || kind == CROSS_OVERLAP;
}

// The k-th of the faces of which the closed set is made: itself, edges, corners. False past the end.
static bool flat_face(const flat* a, int k, flat* out)
{
    int edges = a->count == 3 ? 3 : 0;
    if (k == 0)
    {
        *out = *a;
    }
    else if (k <= edges)
    {
        *out = (flat){{a->p[k - 1], a->p[k % 3]}, 2};
    }
    else if (a->count > 1 && k <= edges + a->count)
    {
        *out = (flat){{a->p[k - edges - 1]}, 1};
    }
    else
    {
        return false;
    }
    return true;
}

// A closed set is the union of the relative interiors of its faces.
bool flat_touch(const flat* a, const flat* b)
{
    flat face_a, face_b;
    for (int i = 0; flat_face(a, i, &face_a); i++)
    {
        for (int j = 0; flat_face(b, j, &face_b); j++)
        {
            if (flat_meet(&face_a, &face_b))
            {
                return true;
            }
        }
    }
    return false;
}
