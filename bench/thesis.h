// Scenes of Boxerman's thesis with its own numbers: spring constants in N/m and dampers in N s/m of single connections,
// which a material does not say. Shared by `weft bench thesis-...`.
#ifndef WEFT_BENCH_THESIS_H
#define WEFT_BENCH_THESIS_H

#include <stdio.h>

#include "bench/common.h"

typedef enum thesis_scene
{
    THESIS_CORNERS, // held by two corners, released from the horizontal
    THESIS_TABLE,   // draped over a square table
    THESIS_SPHERE
} thesis_scene;

typedef struct thesis_case
{
    thesis_scene scene;
    int side;                              // particles
    double spacing;                        // m
    double density;                        // kg/m^2
    double stretch, shear;                 // N/m, of a connection; half at borders
    double bend;                           // N; 0: there are no bend springs
    double stretch_damping, shear_damping; // N s/m, projected, while a connection lengthens
    bool plain;                            // dampers are (3.12) instead
    double step;                           // s
    const char* method;
    const char* solver;
    double tolerance;
    double criterion;   // of aimex
    bool bend_explicit; // of aimex
    bool compact;       // of aimex
} thesis_case;

// Built, with the model choi-ko; NULL on failure, which is printed.
weft_sim* thesis_sim(const thesis_case* c);

// A step, and the processor seconds that it took.
typedef struct thesis_clock
{
    double whole_s;
    double contact_s; // of it what finds contacts and responds to them: its first and its last stage
    double solve_s;   // and its solve, with what follows letting contacts go
    double since;
    bool contact, solve; // what runs since then
} thesis_clock;

weft_status thesis_step(weft_sim* sim, weft_step_stats* stats, weft_error* error, thesis_clock* clock);

// max over stretch and shear of k (k_s k + 2 k_d) / m, for a step of length k: (4.8)
double thesis_kappa(const thesis_case* c, double step);

// Pictures into a folder: connections by how aimex takes them, matrices. The writer is of page.h; its context is a
// weft_sim of one of the methods of march.h, after a step.
weft_status thesis_pictures(const char* folder);
void thesis_draw_connections(const void* context, FILE* out);

// Numbers that follow from a seed alone.
typedef struct thesis_draw
{
    uint64_t seed, next;
} thesis_draw;

double thesis_choose(thesis_draw* d, const double* values, int count);
#define THESIS_CHOOSE(d, ...)                                                                                          \
    thesis_choose((d), (const double[]){__VA_ARGS__}, (int)(sizeof((double[]){__VA_ARGS__}) / sizeof(double)))

// The share p of sorted values.
double thesis_quantile(const double* sorted, int count, double p);
void thesis_sort(double* values, int count);

#endif
