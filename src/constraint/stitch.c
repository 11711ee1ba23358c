// Stitches: two points and a thread between them that is drawn in. The thread's length goes from what it is at the
// start to `least`, which contact leaves them, on a polynomial whose ends are flat, so that nothing is jerked. While it
// is longer than the points are apart it hangs loose; else one row of J along it draws them together, and leaves it
// free to turn: three rows would hold them apart in the direction in which they started, around a body's corner. What
// is near, late, or would turn far in one substep is held in all three: tension would swing it from side to side for
// ever, as a row along the thread knows nothing of the way across. What something is in the way of is behind its path,
// and is not snatched after it.
#include "constraint/constraint.h"

static const double haste = 2.0; // of the path's speed, at most, where a pair is behind
static const double slow = 0.1;  // m/s, and not less than that
static const double late = 4.0;  // 1/s, and as much of the length more
static const double near = 2e-3; // m: pairs below that do not turn
static const double most = 0.1;  // of the gap, likewise
static const double turn = 0.25; // of the length: likewise pairs that would go so far across in one substep

tie tie_of_stitch(const stitch_ends* ends, double gap, const stitch_path* path)
{
    tie t = {.point = {ends->point[0], ends->point[1]},
             .share = {ends->share[0], 1.0 - ends->share[0]},
             .face = {ends->to[0], ends->to[1] >= 0 ? ends->to[1] : ends->to[0], ends->to[0]}, // without area
             .weight = {ends->share[1], 1.0 - ends->share[1], 0.0},
             .gap = gap,
             .least = path->least,
             .begin = path->begin,
             .close = path->close,
             .way_face = -1};
    return t;
}

static double share_of(const tie* t, double time)
{
    return fmin(fmax((time - t->begin) / t->close, 0.0), 1.0);
}

double stitch_gap(const tie* t, double time)
{
    double u = share_of(t, time);
    return fmax(t->gap * (1.0 - u * u * (3.0 - 2.0 * u)), t->least);
}

vec3 stitch_to(const tie* t, const vec3* x)
{
    vec3 b = x[t->face[0]];
    return t->weight[1] != 0.0 ? v3_madd(v3_scale(t->weight[0], b), t->weight[1], x[t->face[1]]) : b;
}

static vec3 direction(vec3 from, vec3 to, double* length)
{
    vec3 d = v3_sub(to, from);
    *length = v3_length(d);
    return *length > 0.0 ? v3_scale(1.0 / *length, d) : v3(0, 0, 0);
}

// The thread's length, and how each end makes it longer.
static double lie(const tie* t, const vec3* x, vec3 along[2])
{
    vec3 a = tie_point(t, x), b = stitch_to(t, x);
    double first, second;
    if (!t->bent)
    {
        along[0] = direction(b, a, &first);
        along[1] = v3_scale(-1.0, along[0]);
        return first;
    }
    along[0] = direction(t->way, a, &first);
    along[1] = direction(t->way, b, &second);
    return first + second;
}

thread_state stitch_look(const tie* t, const tie_moment* now, vec3 along[2], double* speed)
{
    double length = lie(t, now->x, along), goal = stitch_gap(t, now->time + now->h);
    double u = share_of(t, now->time + now->h), path = 6.0 * u * (1.0 - u) * t->gap / t->close;
    *speed = fmax((goal - length) / now->h, -fmax(haste * path, slow + late * length));
    vec3 v = tie_point(t, now->v), w = stitch_to(t, now->v);
    double growing = v3_dot(along[0], v) + v3_dot(along[1], w);
    double across = t->bent ? 0.0 : v3_length(v3_madd(v3_sub(v, w), -growing, along[0]));
    bool stiff = length < fmax(near, most * t->gap) || u >= 1.0 || across * now->h > turn * length;
    if (stiff && !t->bent)
    {
        return THREAD_STIFF;
    }
    return length + now->h * growing < goal ? THREAD_LOOSE : THREAD_DRAWN;
}
