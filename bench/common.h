// What benchmarks share: options, a built simulation of a shipped scene, the machine's bandwidth.
#ifndef WEFT_BENCH_COMMON_H
#define WEFT_BENCH_COMMON_H

#include <stdbool.h>

#include "sim/sim.h"
#include "weft/scene.h"

// The value of "--name VALUE" or "--name=VALUE" as a whole number, or the fallback.
int bench_option(int argc, char** argv, const char* name, int fallback);

// Loads a shipped scene with overrides and builds its world; prints the error and returns NULL on failure.
weft_sim* bench_sim(const char* scene, const char* const* overrides, int override_count, int threads);

// Best bandwidth of a triad loop a[i] = b[i] + s c[i] on these workers, 24 bytes an element, in bytes a second.
typedef struct triad
{
    double *a, *b, *c;
    int count;
} triad;

weft_status triad_init(triad* t);
double triad_seconds(triad* t, workers* pool); // one pass
double triad_bytes(const triad* t);
void triad_finish(triad* t);

int bench_failed(const char* name, weft_status status);

#endif
