// Parts of `weft bench hpbd`.
#ifndef WEFT_BENCH_HPBD_H
#define WEFT_BENCH_HPBD_H

#include <stdbool.h>

#include "bench/common.h"

typedef struct bench_place
{
    int threads, steps;
    int cells;  // at most, of hang and banner
    int from;   // likewise, at least
    int sweeps; // of these alone; 0: 1, 4 and 16
    const char* method; // of tears, alone; NULL: all
    bool edge, json;
    const char* plot; // of against; NULL: none
    int* printed;     // rows of JSON so far
} bench_place;

const char* comma(const bench_place* at); // between rows of JSON; what goes before the next one

weft_status bench_hpbd_hang(const bench_place* at);    // hpbd_strength.c
weft_status bench_hpbd_banner(const bench_place* at, bool holds);  // likewise
weft_status bench_hpbd_tears(const bench_place* at);   // hpbd_tears.c
weft_status bench_hpbd_against(const bench_place* at); // hpbd_against.c

#endif
