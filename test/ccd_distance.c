// Distances of moving primitives in long double, to judge by how much an answer is wrong: never to decide one.
//
// The smallest over the step by branch and bound: no point moves, relative to the others, faster than L, so the
// distance over [a, b] is at least (d(a) + d(b) - L (b - a)) / 2.
#include "ccd_oracle.h"

#include <math.h>

typedef struct vec
{
    long double x[3];
} vec;

static vec sub(vec a, vec b)
{
    return (vec){{a.x[0] - b.x[0], a.x[1] - b.x[1], a.x[2] - b.x[2]}};
}

static vec add_scaled(vec a, long double s, vec b)
{
    return (vec){{a.x[0] + s * b.x[0], a.x[1] + s * b.x[1], a.x[2] + s * b.x[2]}};
}

static long double dot(vec a, vec b)
{
    return a.x[0] * b.x[0] + a.x[1] * b.x[1] + a.x[2] * b.x[2];
}

static vec cross(vec a, vec b)
{
    return (vec){
        {a.x[1] * b.x[2] - a.x[2] * b.x[1], a.x[2] * b.x[0] - a.x[0] * b.x[2], a.x[0] * b.x[1] - a.x[1] * b.x[0]}};
}

static long double length(vec a)
{
    return sqrtl(dot(a, a));
}

static vec at_time(const weft_vec3* start, const weft_vec3* end, long double t)
{
    return (vec){{start->x + t * ((long double)end->x - start->x), start->y + t * ((long double)end->y - start->y),
                  start->z + t * ((long double)end->z - start->z)}};
}

static long double point_segment(vec p, vec a, vec b)
{
    vec ab = sub(b, a), ap = sub(p, a);
    long double square = dot(ab, ab);
    long double s = square > 0.0L ? dot(ap, ab) / square : 0.0L;
    s = fminl(1.0L, fmaxl(0.0L, s));
    return length(sub(ap, add_scaled((vec){{0}}, s, ab)));
}

static long double vertex_face(const vec p[4])
{
    long double least =
        fminl(point_segment(p[0], p[1], p[2]), fminl(point_segment(p[0], p[2], p[3]), point_segment(p[0], p[3], p[1])));
    vec a = sub(p[1], p[0]), b = sub(p[2], p[0]), c = sub(p[3], p[0]);
    vec n = cross(sub(b, a), sub(c, a));
    bool inside = dot(cross(b, c), n) >= 0.0L && dot(cross(c, a), n) >= 0.0L && dot(cross(a, b), n) >= 0.0L;
    return inside && length(n) > 0.0L ? fminl(least, fabsl(dot(a, n)) / length(n)) : least;
}

static long double edge_edge(const vec p[4])
{
    long double least = fminl(fminl(point_segment(p[0], p[2], p[3]), point_segment(p[1], p[2], p[3])),
                              fminl(point_segment(p[2], p[0], p[1]), point_segment(p[3], p[0], p[1])));
    vec d = sub(p[1], p[0]), e = sub(p[3], p[2]), w = sub(p[0], p[2]);
    vec n = cross(d, e);
    long double square = dot(n, n);
    long double s = dot(cross(e, w), n), r = dot(cross(d, w), n);
    bool inside = square > 0.0L && s >= 0.0L && s <= square && r >= 0.0L && r <= square;
    return inside ? fminl(least, fabsl(dot(w, n)) / sqrtl(square)) : least;
}

static long double distance(weft_pair_kind kind, const weft_vec3 start[4], const weft_vec3 end[4], long double t)
{
    vec p[4];
    for (int i = 0; i < 4; i++)
    {
        p[i] = at_time(&start[i], &end[i], t);
    }
    return kind == WEFT_VERTEX_FACE ? vertex_face(p) : edge_edge(p);
}

double ccd_distance_at(weft_pair_kind kind, const weft_vec3 start[4], const weft_vec3 end[4], double time)
{
    return (double)distance(kind, start, end, time);
}

// The largest speed of a point of one primitive against one of the other.
static long double relative_speed(weft_pair_kind kind, const weft_vec3 start[4], const weft_vec3 end[4])
{
    int first = kind == WEFT_VERTEX_FACE ? 1 : 2;
    long double most = 0.0L;
    for (int i = 0; i < first; i++)
    {
        vec moved = sub(at_time(&start[i], &end[i], 1.0L), at_time(&start[i], &end[i], 0.0L));
        for (int j = first; j < 4; j++)
        {
            vec other = sub(at_time(&start[j], &end[j], 1.0L), at_time(&start[j], &end[j], 0.0L));
            most = fmaxl(most, length(sub(moved, other)));
        }
    }
    return most;
}

typedef struct piece
{
    long double a, b, at_a, at_b;
    long double bound; // no distance in [a, b] is smaller
} piece;

static piece make_piece(long double a, long double b, long double at_a, long double at_b, long double speed)
{
    return (piece){a, b, at_a, at_b, fmaxl(0.0L, 0.5L * (at_a + at_b - speed * (b - a)))};
}

static int smallest_bound(const piece* pieces, int count)
{
    int best = 0;
    for (int k = 1; k < count; k++)
    {
        best = pieces[k].bound < pieces[best].bound ? k : best;
    }
    return best;
}

ccd_gap ccd_smallest_distance(weft_pair_kind kind, const weft_vec3 start[4], const weft_vec3 end[4])
{
    enum
    {
        PIECES = 2000
    };
    piece pieces[PIECES];
    long double speed = relative_speed(kind, start, end);
    long double at_start = distance(kind, start, end, 0.0L), at_end = distance(kind, start, end, 1.0L);
    long double high = fminl(at_start, at_end);
    int count = 1, worst = 0;
    pieces[0] = make_piece(0.0L, 1.0L, at_start, at_end, speed);
    // Halves the piece with the smallest bound until it is near enough to the smallest distance seen.
    while (count < PIECES && pieces[worst].bound < 0.999999L * high && pieces[worst].b - pieces[worst].a > 1e-18L)
    {
        piece now = pieces[worst];
        long double middle = 0.5L * (now.a + now.b), at_middle = distance(kind, start, end, middle);
        high = fminl(high, at_middle);
        pieces[worst] = make_piece(now.a, middle, now.at_a, at_middle, speed);
        pieces[count++] = make_piece(middle, now.b, at_middle, now.at_b, speed);
        worst = smallest_bound(pieces, count);
    }
    return (ccd_gap){.low = (double)fminl(pieces[worst].bound, high), .high = (double)high};
}
