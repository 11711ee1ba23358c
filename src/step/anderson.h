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
    int count;                 // of unknowns
    int filled, newest;        // of the window
    vec3* dF[ANDERSON_WINDOW]; // differences of residuals
    vec3* dG[ANDERSON_WINDOW]; // and of what the map gave
    double gram[ANDERSON_WINDOW][ANDERSON_WINDOW];
    vec3 *F, *G; // the last ones
    bool started;
} anderson;

weft_status anderson_create(anderson* a, int count);
void anderson_finish(anderson* a); // zeroed or half-built is fine
void anderson_clear(anderson* a);  // nothing came before
// v is the iterate and F its residual: v becomes the next one. weight is [count] kg: the metric.
void anderson_mix(anderson* a, workers* pool, const double* weight, const vec3* F, vec3* v);

#endif
