// The two passes of Anderson's mixing over its vectors (anderson.h), compiled once for each CPU kind.
#include "math/wide_lanes.h"
#include "step/anderson.h"

// Places of the window that are not filled yet give sums that nobody looks at: their number is a constant, so that the
// sums stay in registers.
static void remember(const anderson* a, const double* F, const double* v, int begin, int end,
                     double (*sums)[ANDERSON_WINDOW])
{
    wide gram[ANDERSON_WINDOW], theta[ANDERSON_WINDOW];
    for (int k = 0; k < ANDERSON_WINDOW; k++)
    {
        gram[k] = theta[k] = wide_set(0.0);
    }
    for (int at = begin; at < end; at += WIDE)
    {
        int count = end - at;
        wide f = lanes_take(F, at, count), image = lanes_take(v, at, count) + f, w = lanes_take(a->weight, at, count);
        wide moved = f - lanes_take(&a->F->x, at, count);
        if (a->newest >= 0)
        {
            lanes_give(&a->dF[a->newest]->x, at, count, moved);
            lanes_give(&a->dG[a->newest]->x, at, count, image - lanes_take(&a->G->x, at, count));
        }
        lanes_give(&a->F->x, at, count, f);
        lanes_give(&a->G->x, at, count, image);
        f *= w;
        moved *= w;
        for (int k = 0; k < ANDERSON_WINDOW; k++)
        {
            wide dF = lanes_take(&a->dF[k]->x, at, count);
            gram[k] += dF * moved;
            theta[k] += dF * f;
        }
    }
    for (int k = 0; k < ANDERSON_WINDOW; k++)
    {
        sums[0][k] = wide_sum(gram[k]);
        sums[1][k] = wide_sum(theta[k]);
    }
}

static void combine(const anderson* a, const double* theta, double* v, int begin, int end)
{
    for (int at = begin; at < end; at += WIDE)
    {
        wide mixed = lanes_take(&a->G->x, at, end - at);
        for (int k = 0; k < a->filled; k++)
        {
            mixed -= theta[k] * lanes_take(&a->dG[k]->x, at, end - at);
        }
        lanes_give(v, at, end - at, mixed);
    }
}

extern const anderson_kernels KERNEL_NAME(anderson_kernels);
const anderson_kernels KERNEL_NAME(anderson_kernels) = {remember, combine};
