// What benchmarks share: options, a built simulation of a shipped scene, the machine's bandwidth.
#ifndef WEFT_BENCH_COMMON_H
#define WEFT_BENCH_COMMON_H

#include <stdbool.h>

#include "sim/sim.h"
#include "weft/scene.h"

// Options are "--name VALUE" or "--name=VALUE". A value that is not of the kind asked for ends the command with exit
// status 2 and a sentence that names the option, the value and what it takes; with --json that is the error object.
void bench_refuse(int argc, char** argv, const char* format, ...) __attribute__((format(printf, 3, 4), noreturn));
// Refuses whatever is not in `known`, names apart by single blanks, those with a value ending in "=": "--cells=
// --fresh".
// --json is always known.
void bench_known(int argc, char** argv, const char* known);

// The value as a whole number from 0, or the fallback; likewise from 1.
int bench_option(int argc, char** argv, const char* name, int fallback);
int bench_count(int argc, char** argv, const char* name, int fallback);
// Likewise as text (a pointer into argv, or the fallback), as a number, and as a flag without a value.
const char* bench_text(int argc, char** argv, const char* name, const char* fallback);
double bench_number(int argc, char** argv, const char* name, double fallback);
bool bench_flag(int argc, char** argv, const char* name);
// The values of an option that may be repeated; returns how many, at most `most`.
int bench_texts(int argc, char** argv, const char* name, const char** out, int most);
// Whole numbers "30,100,200"; returns how many, at most `most`. bench_list cannot name the option in its refusal.
int bench_numbers(int argc, char** argv, const char* name, const char* fallback, int* out, int most);
int bench_list(const char* text, int* out, int most);
// Text that is made of words of `known`, "pinned,plane,random".
const char* bench_words(int argc, char** argv, const char* name, const char* fallback, const char* known);
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
