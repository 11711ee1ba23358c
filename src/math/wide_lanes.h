// Numbers of an array eight at a time, where its length need be no multiple of eight. Only for files that are compiled
// for each CPU kind.
#ifndef WEFT_WIDE_LANES_H
#define WEFT_WIDE_LANES_H

#include "math/wide.h"

// Numbers [at, at + count) of an array, zeros behind them.
WIDE_INLINE wide lanes_take(const double* array, int at, int count)
{
    if (count >= WIDE)
    {
        return wide_load(array + at);
    }
    double lanes[WIDE] = {0};
    memcpy(lanes, array + at, (size_t)count * sizeof(double));
    return wide_load(lanes);
}

WIDE_INLINE void lanes_give(double* array, int at, int count, wide a)
{
    if (count >= WIDE)
    {
        wide_store(array + at, a);
        return;
    }
    double lanes[WIDE];
    wide_store(lanes, a);
    memcpy(array + at, lanes, (size_t)count * sizeof(double));
}

#endif
