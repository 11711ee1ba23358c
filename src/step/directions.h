// Directions p that conjugate gradients took, each with q = M p of their matrix M, kept for what the same matrix is
// solved for next: a solve that begins with what they give, and makes each new direction conjugate to all of them, goes
// on where the last one ended, however few iterations that had.
#ifndef WEFT_DIRECTIONS_H
#define WEFT_DIRECTIONS_H

#include "math/vec.h"
#include "step/step.h"

enum
{
    DIRECTIONS_KEPT = 16
};

typedef struct directions
{
    int count;                                     // of unknowns, three numbers each
    int kept;                                      // places that hold one
    int next;                                      // place of the next one: when all are taken, the oldest goes
    vec3 *p[DIRECTIONS_KEPT], *q[DIRECTIONS_KEPT]; // [count]
    double curvature[DIRECTIONS_KEPT];             // p . q, above zero
    double* partial;                               // [chunks][DIRECTIONS_KEPT]
} directions;

weft_status directions_create(directions* d, int count);
void directions_finish(directions* d); // zeroed or half-built is fine
void directions_clear(directions* d);  // the matrix is another one

// x = 0 becomes the best answer to M x = r among what they span, and r what it leaves. Returns by how much that lowers
// twice the quadratic form.
double directions_begin(const directions* d, workers* pool, cpu_kind cpu, vec3* r, vec3* x);
// Takes z, with s = M z, without its shares of those that are kept, and goes along it as far as lowers the form most.
// Returns as above; 0: nothing curves upwards along it, and nothing is kept.
double directions_advance(directions* d, workers* pool, cpu_kind cpu, const vec3* z, const vec3* s, vec3* r, vec3* x);

// Compiled for each CPU kind; ranges are of numbers, three an unknown.
typedef struct directions_kernels
{
    // sums[k] = v . each[k]
    void (*dots)(vec3* const* each, int count, const double* v, int begin, int end, double* sums);
    // to = from - sum of share[k] each[k]
    void (*without)(vec3* const* each, int count, const double* share, const double* from, double* to, int begin,
                    int end);
    // a . b
    double (*dot)(const double* a, const double* b, int begin, int end);
    // to += share from
    void (*add)(double share, const double* from, double* to, int begin, int end);
} directions_kernels;

const directions_kernels* directions_kernels_for(cpu_kind cpu);

#endif
