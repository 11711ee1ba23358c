// What benchmarks share: options, a built simulation of a shipped scene, the machine's bandwidth.
#ifndef WEFT_BENCH_COMMON_H
#define WEFT_BENCH_COMMON_H

#include <stdbool.h>

#include "sim/sim.h"
#include "weft/scene.h"

// The value of "--name VALUE" or "--name=VALUE" as a whole number, or the fallback.
int bench_option(int argc, char** argv, const char* name, int fallback);
// Likewise as text (a pointer into argv, or the fallback), as a number, and as a flag without a value.
const char* bench_text(int argc, char** argv, const char* name, const char* fallback);
double bench_number(int argc, char** argv, const char* name, double fallback);
bool bench_flag(int argc, char** argv, const char* name);
// The values of an option that may be repeated; returns how many, at most `most`.
int bench_texts(int argc, char** argv, const char* name, const char** out, int most);
// Whole numbers "30,100,200"; returns how many, at most `most`.
int bench_list(const char* text, int* out, int most);
// Whether `word` is one of the words of "pinned,plane".
bool bench_has(const char* list, const char* word);

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

// Bytes that a block product and a whole diag-pcg iteration cannot do without, for `rows` vertices.
double floor_product(double rows, double blocks);
double floor_iteration(double rows, double blocks);

int bench_failed(const char* name, weft_status status);

#endif
