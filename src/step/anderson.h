// Anderson acceleration of a fixed-point iteration v <- v + F(v) (Anderson 1965; Peng et al. 2018): the next iterate is
// the mix of the last ones whose residuals F, mixed alike, are least. For a linear map it is GMRES.
#ifndef WEFT_ANDERSON_H
#define WEFT_ANDERSON_H

#include "core/core.h"
#include "math/vec.h"

enum
{
    ANDERSON_WINDOW = 6
};

typedef struct anderson
{
    int count;                 // of unknowns, three numbers each
    int filled, newest;        // of the window
    double* weight;            // [3 * count] kg: the metric
    vec3* dF[ANDERSON_WINDOW]; // differences of residuals
    vec3* dG[ANDERSON_WINDOW]; // and of what the map gave
    double gram[ANDERSON_WINDOW][ANDERSON_WINDOW];
    vec3 *F, *G;                           // the last ones
    double (*partial)[2][ANDERSON_WINDOW]; // [chunks]
    bool started;
} anderson;

weft_status anderson_create(anderson* a, int count, const double* mass /* [count] */);
void anderson_finish(anderson* a); // zeroed or half-built is fine
void anderson_clear(anderson* a);  // nothing came before
// v is the iterate and F its residual: v becomes the next one.
void anderson_mix(anderson* a, workers* pool, cpu_kind cpu, const vec3* F, vec3* v);

// Compiled for each CPU kind; ranges are of numbers, three a vertex. Each pass reads what it needs once.
typedef struct anderson_kernels
{
    // F and the image v + F take the place of the last ones, their differences to those the place `newest` in the
    // window. sums are the products of each dF with the newest and with F.
    void (*remember)(const anderson* a, const double* F, const double* v, int begin, int end,
                     double (*sums)[ANDERSON_WINDOW]);
    // v = G - sum of theta dG
    void (*combine)(const anderson* a, const double* theta, double* v, int begin, int end);
} anderson_kernels;

const anderson_kernels* anderson_kernels_for(cpu_kind cpu);

#endif
