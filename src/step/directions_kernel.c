// Passes over kept directions (directions.h), compiled once for each CPU kind.
#include "math/wide_lanes.h"
#include "step/directions.h"

static void dots(vec3* const* each, int count, const double* v, int begin, int end, double* sums)
{
    wide sum[DIRECTIONS_KEPT];
    for (int k = 0; k < count; k++)
    {
        sum[k] = wide_set(0.0);
    }
    for (int at = begin; at < end; at += WIDE)
    {
        wide here = lanes_take(v, at, end - at);
        for (int k = 0; k < count; k++)
        {
            sum[k] += lanes_take(&each[k]->x, at, end - at) * here;
        }
    }
    for (int k = 0; k < count; k++)
    {
        sums[k] = wide_sum(sum[k]);
    }
}

static void without(vec3* const* each, int count, const double* share, const double* from, double* to, int begin,
                    int end)
{
    for (int at = begin; at < end; at += WIDE)
    {
        wide left = lanes_take(from, at, end - at);
        for (int k = 0; k < count; k++)
        {
            left -= share[k] * lanes_take(&each[k]->x, at, end - at);
        }
        lanes_give(to, at, end - at, left);
    }
}

static double dot(const double* a, const double* b, int begin, int end)
{
    wide sum = wide_set(0.0);
    for (int at = begin; at < end; at += WIDE)
    {
        sum += lanes_take(a, at, end - at) * lanes_take(b, at, end - at);
    }
    return wide_sum(sum);
}

static void add(double share, const double* from, double* to, int begin, int end)
{
    for (int at = begin; at < end; at += WIDE)
    {
        lanes_give(to, at, end - at, lanes_take(to, at, end - at) + share * lanes_take(from, at, end - at));
    }
}

extern const directions_kernels KERNEL_NAME(directions_kernels);
const directions_kernels KERNEL_NAME(directions_kernels) = {dots, without, dot, add};
