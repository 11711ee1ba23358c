// The passes of quasi-Newton acceleration over its vectors (quasi_newton.h), compiled once for each CPU kind.
#include "math/wide_lanes.h"
#include "step/quasi_newton.h"

// Places of the window that hold nothing yet give sums that nobody looks at: their number is a constant, so that the
// sums stay in registers.
static void remember(const quasi_newton* q, const double* r, const double* F, const double* v, int begin, int end,
                     quasi_sums* sums)
{
    wide sr[QUASI_WINDOW], zr[QUASI_WINDOW], sy[QUASI_WINDOW], zy[QUASI_WINDOW], Fr = wide_set(0.0);
    for (int k = 0; k < QUASI_WINDOW; k++)
    {
        sr[k] = zr[k] = sy[k] = zy[k] = wide_set(0.0);
    }
    for (int at = begin; at < end; at += WIDE)
    {
        int count = end - at;
        wide force = lanes_take(r, at, count), f = lanes_take(F, at, count), here = lanes_take(v, at, count);
        wide y = lanes_take(&q->r->x, at, count) - force;
        lanes_give(&q->s[q->newest]->x, at, count, here - lanes_take(&q->v->x, at, count));
        lanes_give(&q->z[q->newest]->x, at, count, lanes_take(&q->F->x, at, count) - f);
        lanes_give(&q->v->x, at, count, here);
        lanes_give(&q->F->x, at, count, f);
        lanes_give(&q->r->x, at, count, force);
        Fr += f * force;
        for (int k = 0; k < QUASI_WINDOW; k++)
        {
            wide s = lanes_take(&q->s[k]->x, at, count), z = lanes_take(&q->z[k]->x, at, count);
            sr[k] += s * force;
            zr[k] += z * force;
            sy[k] += s * y;
            zy[k] += z * y;
        }
    }
    for (int k = 0; k < QUASI_WINDOW; k++)
    {
        sums->sr[k] = wide_sum(sr[k]);
        sums->zr[k] = wide_sum(zr[k]);
        sums->sy[k] = wide_sum(sy[k]);
        sums->zy[k] = wide_sum(zy[k]);
    }
    sums->Fr = wide_sum(Fr);
}

static void combine(const quasi_newton* q, const quasi_mix* mix, double* v, int begin, int end)
{
    for (int at = begin; at < end; at += WIDE)
    {
        int count = end - at;
        wide next = lanes_take(v, at, count) + mix->F * lanes_take(&q->F->x, at, count);
        for (int k = 0; k < QUASI_WINDOW; k++)
        {
            if (q->usable[k])
            {
                next += mix->s[k] * lanes_take(&q->s[k]->x, at, count);
                next += mix->z[k] * lanes_take(&q->z[k]->x, at, count);
            }
        }
        lanes_give(v, at, count, next);
    }
}

static double along(const quasi_newton* q, const double* r, const double* v, int begin, int end)
{
    wide sum = wide_set(0.0);
    for (int at = begin; at < end; at += WIDE)
    {
        int count = end - at;
        sum += lanes_take(r, at, count) * (lanes_take(v, at, count) - lanes_take(&q->v->x, at, count));
    }
    return wide_sum(sum);
}

extern const quasi_newton_kernels KERNEL_NAME(quasi_newton_kernels);
const quasi_newton_kernels KERNEL_NAME(quasi_newton_kernels) = {remember, combine, along};
