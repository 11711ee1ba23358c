// Stitches: two vertices and a thread between them that is drawn in. The thread's length goes from what it is at the
// start to nothing on a polynomial whose ends are flat, so that nothing is jerked. While it is longer than the vertices
// are apart it hangs loose; else one row of J along it draws them together, and leaves it free to turn: three rows
// would hold them apart in the direction in which they started, around a body's corner. Where something is in the way,
// the thread does not pull harder than the path does at its fastest.
#include "constraint/constraint.h"

static const double together = 2e-3; // m: closer than that they are drawn into one place
static const double haste = 2.0;     // of the path's largest speed, at most, where a pair is behind

tie tie_of_stitch(const vec3* x, int a, int b, double begin, double close)
{
    return (tie){.point = {a, -1},
                 .share = {1.0, 0.0},
                 .face = {b, b, b}, // without area: no offset turns with it
                 .weight = {1.0, 0.0, 0.0},
                 .gap = v3_length(v3_sub(x[a], x[b])),
                 .begin = begin,
                 .close = close};
}

double stitch_gap(const tie* t, double time)
{
    double u = fmin(fmax((time - t->begin) / t->close, 0.0), 1.0);
    return t->gap * (1.0 - u * u * (3.0 - 2.0 * u));
}

stitch_state stitch_look(const tie* t, const tie_moment* now, vec3* along, double* speed)
{
    int a = t->point[0], b = t->face[0];
    vec3 apart = v3_sub(now->x[a], now->x[b]);
    double length = v3_length(apart), goal = stitch_gap(t, now->time + now->h);
    *along = length > 0.0 ? v3_scale(1.0 / length, apart) : v3(0, 0, 0);
    *speed = fmax((goal - length) / now->h, -haste * 1.5 * fmax(t->gap, together) / t->close);
    if (length < together)
    {
        return STITCH_CLOSED;
    }
    double parting = v3_dot(*along, v3_sub(now->v[a], now->v[b]));
    return length + now->h * parting < goal ? STITCH_LOOSE : STITCH_DRAWN;
}
