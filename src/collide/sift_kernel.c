// Of candidates, those that are in doubt: what is certainly apart, not near, or not colliding is told eight pairs at a
// time, for one CPU kind. Narrow tests then look at the rest, and find what they would find among all: only what they
// refuse is left out.
//
// All rules ask first whether one direction keeps the pair apart by more than `least`, at the start and at the end, and
// so in between, as points move on straight lines: that from the middle of the second to that of the first at the
// start. Neighbours in a sheet, of which boxes meet, are mostly told apart by that. Sums are in another order than
// elsewhere: `least` has to be larger by more than rounding than what must not be lost. Next comes the pair's normal,
// of the face or across both edges. Then
//
//   near (find.c, row_of)  two edges count only where their common perpendicular meets both inside, at the start; a
//                          vertex and a face where its foot lies inside, or closer than `least` to the border;
//   collisions (ccd.c)     f of one sign, or some g_k negative, over the whole step, as in ccd_filter.c, which has the
//                          bounds of rounding: the same operations in the same order. Positions are then rounded to
//                          float; that no pair passes through itself thereby takes a direction that keeps the ends
//                          apart by `least`, which is more than the rounding moves.
//
// Rounding of the near rule. With R the sum of the lengths of the sides that take part, all differences of coordinates
// are right to 2^-52 R here and in proximity.c, whose points are seen from the first; products of four of them to some
// tens of 2^-52 R^4. 1e-12 R^4 is far above, and slivers, whose products are below it, stay in doubt. The direction of
// a normal is right to 1e-15 R^2 / |n|: where |n| > 1e-5 R^2 the gap along it differs from that along the closest
// points' by less than 1e-10 R, and `least` is larger by a thousandth than the reach that counts.
#include "collide/broad.h"
#include "math/wide_vec.h"

// The points of eight pairs. Of a vertex and a face the first is the vertex.
typedef struct eight
{
    wvec start[4], end[4];
} eight;

WIDE_INLINE eight eight_load(const sift_job* job, const weft_pair* pair, int count, bool edges)
{
    int first[WIDE], second[WIDE];
    eight e;
    for (int k = 0; k < WIDE; k++)
    {
        const weft_pair* p = &pair[k < count ? k : count - 1];
        first[k] = p->first;
        second[k] = p->second;
    }
    int own = edges ? 2 : 1;
    for (int k = 0; k < 4; k++)
    {
        bool of_first = k < own;
        const int* corner = of_first ? job->first_corner : job->corner;
        int arity = of_first || edges ? own : 3, place = of_first ? k : k - own;
        e.start[k] = wv_gather(job->start, corner, arity, place, of_first ? first : second);
        e.end[k] = wv_gather(job->end, corner, arity, place, of_first ? first : second);
    }
    return e;
}

// Along d, how far the first feature is beyond the second, and the second beyond the first.
typedef struct gaps
{
    wide ahead, behind;
} gaps;

WIDE_INLINE gaps gaps_along(wvec d, const wvec x[4], bool edges)
{
    wide p0 = wv_dot(d, x[0]), p1 = wv_dot(d, x[1]), p2 = wv_dot(d, x[2]), p3 = wv_dot(d, x[3]);
    wide low = wide_min(p2, p3), high = wide_max(p2, p3);
    if (edges)
    {
        return (gaps){wide_min(p0, p1) - high, low - wide_max(p0, p1)};
    }
    return (gaps){p0 - wide_max(p1, high), wide_min(p1, low) - p0};
}

// Whether a gap along d is more than the root of least_sq. Differences to a d that is zero are zero: not apart.
WIDE_INLINE wide_mask is_more(wide gap, wvec d, wide least_sq)
{
    return (gap > wide_set(0.0)) & (gap * gap > least_sq * wv_dot(d, d));
}

// Apart along d at the start and at the end, on one side; *ends: at the end.
WIDE_INLINE wide_mask apart_along(wvec d, const eight* e, wide least_sq, bool edges, wide_mask* ends)
{
    gaps from = gaps_along(d, e->start, edges), to = gaps_along(d, e->end, edges);
    wide_mask ahead = is_more(to.ahead, d, least_sq), behind = is_more(to.behind, d, least_sq);
    *ends |= ahead | behind;
    return (ahead & is_more(from.ahead, d, least_sq)) | (behind & is_more(from.behind, d, least_sq));
}

WIDE_INLINE wvec middle_direction(const wvec x[4], bool edges)
{
    if (edges)
    {
        return wv_sub(wv_add(x[0], x[1]), wv_add(x[2], x[3]));
    }
    return wv_sub(wv_scale(wide_set(3.0), x[0]), wv_add(wv_add(x[1], x[2]), x[3]));
}

WIDE_INLINE bool is_all(wide_mask m)
{
    int64_t all = -1;
    for (int k = 0; k < WIDE; k++)
    {
        all &= m[k];
    }
    return all != 0;
}

WIDE_INLINE wide wv_length(wvec a)
{
    return wide_sqrt(wv_dot(a, a));
}

WIDE_INLINE wide_mask stays_apart(const sift_job* job, const weft_pair* pair, int count, bool edges)
{
    eight e = eight_load(job, pair, count, edges);
    wide_mask ends = {0};
    return apart_along(middle_direction(e.start, edges), &e, wide_set(job->least * job->least), edges, &ends);
}

// ---- near

static const double doubt_share = 1e-12, thin_share = 1e-10;

// Edges whose common perpendicular misses one of them.
WIDE_INLINE wide_mask misses_edges(wvec n, wide n_sq, wvec d1, wvec d2, wvec r, wide error)
{
    wide s = wv_dot(wv_cross(r, d2), n), t = wv_dot(wv_cross(r, d1), n), most = n_sq + error;
    return (s < -error) | (s > most) | (t < -error) | (t > most);
}

// A vertex beyond a side of the face, and farther than `least` from it. The part of its distance that lies in the
// face's plane is at least that from the side's line.
WIDE_INLINE wide_mask misses_face(wvec n, wide n_sq, const wvec x[4], wide size, wide least_sq)
{
    wide error = doubt_share * (size * size * size * size), zero = wide_set(0.0);
    wide height = wide_max(zero, wide_abs(wv_dot(wv_sub(x[0], x[1]), n)) - doubt_share * (size * size * size));
    wide wanted = least_sq * (n_sq + error);
    wide_mask far = n_sq != n_sq; // none
    for (int k = 0; k < 3; k++)
    {
        wvec a = x[1 + k], side = wv_sub(x[1 + (k + 1) % 3], a);
        wide beyond = wv_dot(wv_cross(wv_sub(x[0], a), side), n) - error;
        wide length_sq = wv_dot(side, side);
        far |= (beyond > zero) & (beyond * beyond > (wanted - height * height) * length_sq);
    }
    return far;
}

// What counts of each pair: edges and corners of obstacles are met from nearer by.
WIDE_INLINE wide near_least(const sift_job* job, const weft_pair* pair, int count, bool edges)
{
    double least[WIDE];
    for (int k = 0; k < WIDE; k++)
    {
        const weft_pair* p = &pair[k < count ? k : count - 1];
        int a = job->first_corner[(edges ? 2 : 1) * (size_t)p->first],
            b = edges ? job->corner[2 * (size_t)p->second] : 0;
        least[k] = a >= job->obstacles || b >= job->obstacles ? job->border_least : job->least;
    }
    return wide_load(least);
}

// Lanes that are no rows.
WIDE_INLINE wide_mask never_near(const sift_job* job, const weft_pair* pair, int count, bool edges)
{
    eight e = eight_load(job, pair, count, edges);
    const wvec* x = e.start;
    wide least = near_least(job, pair, count, edges), least_sq = least * least;
    wide_mask ends = (wide_mask){0};
    wide_mask out = apart_along(middle_direction(x, edges), &e, least_sq, edges, &ends);
    if (is_all(out))
    {
        return out;
    }
    wvec d1 = edges ? wv_sub(x[1], x[0]) : wv_sub(x[2], x[1]), d2 = edges ? wv_sub(x[3], x[2]) : wv_sub(x[3], x[1]);
    wvec r = edges ? wv_sub(x[2], x[0]) : wv_sub(x[0], x[1]), n = wv_cross(d1, d2);
    wide n_sq = wv_dot(n, n), size = wv_length(d1) + wv_length(d2) + wv_length(r), square = size * size;
    out |= apart_along(n, &e, least_sq, edges, &ends) & (n_sq > thin_share * (square * square));
    return out | (edges ? misses_edges(n, n_sq, d1, d2, r, doubt_share * (square * square))
                        : misses_face(n, n_sq, x, size, least_sq));
}

// ---- collisions

typedef struct wide_quadratic
{
    wvec c[3], bound;
} wide_quadratic;

WIDE_INLINE wvec size_max(wvec a, wvec b)
{
    return (wvec){wide_max(wide_abs(a.x), wide_abs(b.x)), wide_max(wide_abs(a.y), wide_abs(b.y)),
                  wide_max(wide_abs(a.z), wide_abs(b.z))};
}

WIDE_INLINE wide_quadratic cross_moving(const wvec a[2], const wvec b[2])
{
    wvec p = size_max(a[0], a[1]), q = size_max(b[0], b[1]);
    wvec middle = wv_add(wv_cross(a[0], b[1]), wv_cross(a[1], b[0]));
    return (wide_quadratic){
        .c = {wv_cross(a[0], b[0]), wv_scale(wide_set(0.5), middle), wv_cross(a[1], b[1])},
        .bound = {p.y * q.z + p.z * q.y, p.z * q.x + p.x * q.z, p.x * q.y + p.y * q.x},
    };
}

static const double error_factor = 0x1p-46; // ccd_filter.c

WIDE_INLINE wide_mask f_has_sign(const wvec q[2], const wide_quadratic* n)
{
    wide f[4] = {wv_dot(q[0], n->c[0]), (2.0 * wv_dot(q[0], n->c[1]) + wv_dot(q[1], n->c[0])) / 3.0,
                 (wv_dot(q[0], n->c[2]) + 2.0 * wv_dot(q[1], n->c[1])) / 3.0, wv_dot(q[1], n->c[2])};
    wide error = error_factor * wv_dot(size_max(q[0], q[1]), n->bound);
    wide low = wide_min(wide_min(f[0], f[1]), wide_min(f[2], f[3]));
    wide high = wide_max(wide_max(f[0], f[1]), wide_max(f[2], f[3]));
    return (low > error) | (high < -error);
}

WIDE_INLINE wide_mask g_is_negative(const wvec q[2], const wvec next[2], const wide_quadratic* n)
{
    wide_quadratic c = cross_moving(q, next);
    wide g[5] = {wv_dot(c.c[0], n->c[0]), 0.5 * (wv_dot(c.c[0], n->c[1]) + wv_dot(c.c[1], n->c[0])),
                 (wv_dot(c.c[0], n->c[2]) + 4.0 * wv_dot(c.c[1], n->c[1]) + wv_dot(c.c[2], n->c[0])) / 6.0,
                 0.5 * (wv_dot(c.c[1], n->c[2]) + wv_dot(c.c[2], n->c[1])), wv_dot(c.c[2], n->c[2])};
    wide error = error_factor * wv_dot(c.bound, n->bound);
    return wide_max(wide_max(wide_max(g[0], g[1]), wide_max(g[2], g[3])), g[4]) < -error;
}

// Corners and sides of the polygon of ccd.c at one end of the step.
WIDE_INLINE void polygon_at(const wvec x[4], bool edges, int end, wvec q[4][2], wvec E[2], wvec H[2])
{
    if (edges)
    {
        q[0][end] = wv_sub(x[0], x[2]);
        q[1][end] = wv_sub(x[1], x[2]);
        q[2][end] = wv_sub(x[1], x[3]);
        q[3][end] = wv_sub(x[0], x[3]);
        E[end] = wv_sub(x[1], x[0]);
        H[end] = wv_sub(x[2], x[3]);
        return;
    }
    for (int k = 0; k < 3; k++)
    {
        q[k][end] = wv_sub(x[k + 1], x[0]);
    }
    E[end] = wv_sub(x[2], x[1]);
    H[end] = wv_sub(x[3], x[1]);
}

// Lanes that do not collide.
WIDE_INLINE wide_mask never_collide(const sift_job* job, const weft_pair* pair, int count, bool edges)
{
    eight e = eight_load(job, pair, count, edges);
    wide least_sq = wide_set(job->least * job->least);
    wide_mask ends = (wide_mask){0};
    wide_mask out = apart_along(middle_direction(e.start, edges), &e, least_sq, edges, &ends);
    if (is_all(out))
    {
        return out;
    }
    wvec q[4][2], E[2], H[2];
    polygon_at(e.start, edges, 0, q, E, H);
    polygon_at(e.end, edges, 1, q, E, H);
    wide_quadratic n = cross_moving(E, H);
    out |= apart_along(n.c[0], &e, least_sq, edges, &ends);
    out |= apart_along(n.c[2], &e, least_sq, edges, &ends);
    if (is_all(out))
    {
        return out;
    }
    apart_along(middle_direction(e.end, edges), &e, least_sq, edges, &ends);
    wide_mask never = f_has_sign(q[0], &n);
    int corners = edges ? 4 : 3;
    for (int k = 0; k < corners; k++)
    {
        never |= g_is_negative(q[k], q[(k + 1) % corners], &n);
    }
    return out | (never & ends);
}

// ---- lists

typedef wide_mask refuse_fn(const sift_job* job, const weft_pair* pair, int count, bool edges);

// Packs what is not refused.
WIDE_INLINE int keep(const sift_job* job, const weft_pair* pair, int count, weft_pair* out, bool edges,
                     refuse_fn* refuse)
{
    int kept = 0;
    for (int at = 0; at < count; at += WIDE)
    {
        int lanes = count - at < WIDE ? count - at : WIDE;
        wide_mask none = refuse(job, pair + at, lanes, edges);
        for (int k = 0; k < lanes; k++)
        {
            out[kept] = pair[at + k];
            kept += none[k] == 0;
        }
    }
    return kept;
}

WIDE_INLINE int keep_kind(const sift_job* job, const weft_pair* pair, int count, weft_pair* out, refuse_fn* refuse)
{
    return job->kind == WEFT_EDGE_EDGE ? keep(job, pair, count, out, true, refuse)
                                       : keep(job, pair, count, out, false, refuse);
}

static int apart(const sift_job* job, const weft_pair* pair, int count, weft_pair* out)
{
    return keep_kind(job, pair, count, out, stays_apart);
}

static int near(const sift_job* job, const weft_pair* pair, int count, weft_pair* out)
{
    return keep_kind(job, pair, count, out, never_near);
}

static int collision(const sift_job* job, const weft_pair* pair, int count, weft_pair* out)
{
    return keep_kind(job, pair, count, out, never_collide);
}

extern const sift_kernels KERNEL_NAME(sift_kernels);
const sift_kernels KERNEL_NAME(sift_kernels) = {apart, near, collision};
