// Faces of more than three corners as triangles.
//
// Quads are split along their shorter diagonal, unless that turns a triangle over or leaves next to nothing of it.
// Larger polygons lose ears (Meisters 1975), the best-shaped first, in the plane across their area vector (Newell's sum
// of cross products): only corners of at least 180 degrees can lie in an ear, so only those are tested. Points on an
// ear's border block it; where that leaves no ear (holes bridged to the outline, rounding) only points inside do.
#include "mesh/mesh_inside.h"

#define FLAT_CORNER 1e-10   // sine-like measure below which a corner counts as 180 degrees
#define DIAGONAL_TIE 1e-9   // relative difference of squared lengths that counts as equal
#define DIAGONAL_SHARE 0.01 // least area of the shorter diagonal's worse triangle, relative to the longer one's

struct polygon
{
    int count; // corners that are left
    int next[POLYGON_MAX];
    int previous[POLYGON_MAX];
    vec2 point[POLYGON_MAX]; // in the polygon's plane, counter-clockwise
    double ear[POLYGON_MAX]; // shape of the ear at a corner, the larger the better; -1: no ear
};

polygon* polygon_create(void)
{
    return MEM_NEW(1, polygon);
}

void polygon_destroy(polygon* p)
{
    mem_free(p);
}

static double cross_2d(vec2 a, vec2 b, vec2 c)
{
    return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

static double distance_sq_2d(vec2 a, vec2 b)
{
    return (a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y);
}

// Newell's area vector: twice the area, along the normal. Relative to the first corner, so that a polygon far from the
// origin keeps its digits.
static vec3 polygon_area(const vec3* position, const int* vertex, int count)
{
    vec3 sum = {0};
    for (int k = 1; k + 1 < count; k++)
    {
        vec3 a = v3_sub(position[vertex[k]], position[vertex[0]]);
        vec3 b = v3_sub(position[vertex[k + 1]], position[vertex[0]]);
        sum = v3_add(sum, v3_cross(a, b));
    }
    return sum;
}

// Twice the area of a triangle as seen along the normal.
static double seen_area(const vec3* position, int a, int b, int c, vec3 normal)
{
    return v3_dot(normal, v3_cross(v3_sub(position[b], position[a]), v3_sub(position[c], position[a])));
}

static double quad_diagonal_sq(const vec3* position, int a, int b)
{
    vec3 d = v3_sub(position[a], position[b]);
    return v3_dot(d, d);
}

static bool quad_split(const vec3* position, const int* v, int* out)
{
    static const int splits[2][6] = {{0, 1, 2, 0, 2, 3}, {0, 1, 3, 1, 2, 3}};
    vec3 normal = v3_normalize(polygon_area(position, v, 4));
    double length[2] = {quad_diagonal_sq(position, v[0], v[2]), quad_diagonal_sq(position, v[1], v[3])};
    double area[2];
    for (int s = 0; s < 2; s++)
    {
        const int* c = splits[s];
        area[s] = fmin(seen_area(position, v[c[0]], v[c[1]], v[c[2]], normal),
                       seen_area(position, v[c[3]], v[c[4]], v[c[5]], normal));
    }
    // The shorter; a tie goes to the diagonal with the lowest vertex, so that equal cells are split alike.
    bool tie = fabs(length[0] - length[1]) <= DIAGONAL_TIE * fmax(length[0], length[1]);
    bool lowest_second = int_min(v[1], v[3]) < int_min(v[0], v[2]);
    int chosen = tie ? lowest_second : length[1] < length[0];
    if (area[chosen] < DIAGONAL_SHARE * area[1 - chosen])
    {
        chosen = 1 - chosen;
    }
    for (int k = 0; k < 6; k++)
    {
        out[k] = splits[chosen][k];
    }
    return area[chosen] > 0.0;
}

// Two unit vectors across the normal, in the sense of the polygon.
static void plane_axes(vec3 normal, vec3* u, vec3* w)
{
    vec3 helper = fabs(normal.x) < 0.6 ? v3(1, 0, 0) : v3(0, 1, 0);
    *u = v3_normalize(v3_cross(helper, normal));
    *w = v3_cross(normal, *u);
}

static void polygon_project(polygon* p, const vec3* position, const int* vertex, int count, vec3 normal)
{
    vec3 u, w;
    plane_axes(normal, &u, &w);
    p->count = count;
    for (int k = 0; k < count; k++)
    {
        vec3 d = v3_sub(position[vertex[k]], position[vertex[0]]);
        p->point[k] = (vec2){v3_dot(d, u), v3_dot(d, w)};
        p->next[k] = k + 1 < count ? k + 1 : 0;
        p->previous[k] = k > 0 ? k - 1 : count - 1;
    }
}

// Whether segments a - b and c - d cross in points inside both, by more than rounding.
static bool segments_cross(vec2 a, vec2 b, vec2 c, vec2 d)
{
    double margin = FLAT_CORNER * fmax(distance_sq_2d(a, b), distance_sq_2d(c, d));
    double at_c = cross_2d(a, b, c), at_d = cross_2d(a, b, d), at_a = cross_2d(c, d, a), at_b = cross_2d(c, d, b);
    bool parted = fmax(at_c, at_d) > margin && fmin(at_c, at_d) < -margin;
    return parted && fmax(at_a, at_b) > margin && fmin(at_a, at_b) < -margin;
}

// Ears alone do not tell: some stars have nothing but ears. Touching is allowed.
static bool polygon_crosses_itself(const polygon* p)
{
    for (int i = 0; i + 2 < p->count; i++)
    {
        for (int j = i + 2; j < p->count; j++)
        {
            if (segments_cross(p->point[i], p->point[i + 1], p->point[j], p->point[p->next[j]]))
            {
                return true;
            }
        }
    }
    return false;
}

// Height over longest side squared, as an area ratio: 0 is flat, negative is a corner of more than 180 degrees.
static double corner_shape(const polygon* p, int k)
{
    vec2 a = p->point[p->previous[k]], b = p->point[k], c = p->point[p->next[k]];
    double longest_sq = fmax(distance_sq_2d(a, b), fmax(distance_sq_2d(b, c), distance_sq_2d(c, a)));
    return longest_sq > 0.0 ? cross_2d(a, b, c) / longest_sq : 0.0;
}

static bool same_point(vec2 a, vec2 b)
{
    return a.x == b.x && a.y == b.y;
}

// Whether another corner lies in the triangle at corner k; on its border counts when `closed`.
static bool ear_is_blocked(const polygon* p, int k, bool closed)
{
    vec2 a = p->point[p->previous[k]], b = p->point[k], c = p->point[p->next[k]];
    double margin = closed ? 0.0 : FLAT_CORNER * cross_2d(a, b, c);
    int end = p->previous[k];
    for (int other = p->next[p->next[k]]; other != end; other = p->next[other])
    {
        vec2 q = p->point[other];
        double least = fmin(cross_2d(a, b, q), fmin(cross_2d(b, c, q), cross_2d(c, a, q)));
        bool inside = closed ? least >= 0.0 : least > margin;
        if (inside && !same_point(q, a) && !same_point(q, b) && !same_point(q, c) &&
            corner_shape(p, other) <= FLAT_CORNER)
        {
            return true;
        }
    }
    return false;
}

static void ear_update(polygon* p, int k, bool closed)
{
    double shape = corner_shape(p, k);
    p->ear[k] = shape > FLAT_CORNER && !ear_is_blocked(p, k, closed) ? shape : -1.0;
}

// The best ear among the corners that are left, -1 when none is known.
static int ear_best(const polygon* p, int start)
{
    int best = -1, k = start;
    for (int n = 0; n < p->count; n++, k = p->next[k])
    {
        if (p->ear[k] >= 0.0 && (best < 0 || p->ear[k] > p->ear[best]))
        {
            best = k;
        }
    }
    return best;
}

// An ear by ever weaker rules; the last resort is the widest corner, whatever lies in it.
static int ear_find(polygon* p, int start)
{
    int best = ear_best(p, start);
    for (int rule = 0; rule < 2 && best < 0; rule++)
    {
        int k = start;
        for (int n = 0; n < p->count; n++, k = p->next[k])
        {
            ear_update(p, k, rule == 0);
        }
        best = ear_best(p, start);
    }
    if (best < 0)
    {
        best = start;
        int k = start;
        for (int n = 0; n < p->count; n++, k = p->next[k])
        {
            best = corner_shape(p, k) > corner_shape(p, best) ? k : best;
        }
    }
    return best;
}

// Cuts corner k off into three corner numbers; false when that triangle is turned over or flat.
static bool ear_cut(polygon* p, int k, int* out)
{
    int a = p->previous[k], c = p->next[k];
    bool good = corner_shape(p, k) > 0.0;
    out[0] = a, out[1] = k, out[2] = c;
    p->next[a] = c;
    p->previous[c] = a;
    p->count--;
    ear_update(p, a, true);
    ear_update(p, c, true);
    return good;
}

bool polygon_split(polygon* p, const vec3* position, const int* vertex, int count, int* out)
{
    WEFT_ASSERT(count >= 4 && count <= POLYGON_MAX);
    if (count == 4)
    {
        return quad_split(position, vertex, out);
    }
    vec3 area = polygon_area(position, vertex, count);
    polygon_project(p, position, vertex, count, v3_normalize(area));
    bool good = !polygon_crosses_itself(p);
    for (int k = 0; k < count; k++)
    {
        ear_update(p, k, true);
    }
    int start = 0;
    for (int t = 0; t < count - 2; t++)
    {
        int k = ear_find(p, start);
        good &= ear_cut(p, k, out + 3 * t);
        start = p->next[k];
    }
    return good;
}
