// A sheet of 1 m and 1 kg that swings from two corners, all springs of one stiffness, without damping and contact, and
// single steps of it by local/global and by Newton, for errors (15) of Liu et al. 2013: (g - g*) / (g0 - g*), g0 at y,
// g* the least that Newton to convergence and 2,000 accelerated turns find.
#ifndef WEFT_BENCH_CURTAIN_H
#define WEFT_BENCH_CURTAIN_H

#include "sim/sim.h"

enum
{
    PLAIN,
    CHEBYSHEV,
    ANDERSON,
    QUASI_NEWTON,
    NEWTON_PCG,
    NEWTON_CHOLESKY,
    WAY_COUNT
};

enum
{
    TURNS_MOST = 8192
};

// A curtain; the method of its world is local-global, the fallback newton.
typedef struct curtain
{
    weft_sim* sim;
    world* w;
    double h;
    solver_object pcg, cholesky;
    double start, least; // g at y and at the solution
    bool elsewhere;      // accelerated turns end in another minimum
    weft_step_stats stats;
} curtain;

double processor_seconds(void);

weft_status curtain_create(curtain* c, int cells, double k, double h);
void curtain_finish(curtain* c);
weft_status curtain_advance(curtain* c, int frames);
// g at y, and the least. After it errors of attempts at this step are known.
weft_status curtain_reference(curtain* c);
// So many turns of the next step, and the time of its iterations; the state stays. Newton not being done is no failure.
weft_status curtain_attempt(curtain* c, int way, int turns, double* seconds);
// Error and the best time of some rounds; and the error alone.
weft_status curtain_measure(curtain* c, int way, int turns, int rounds, double* error, double* seconds);
weft_status curtain_error(curtain* c, int way, int turns, double* error);
// Turns to an error, to a tenth: g never rises. TURNS_MOST: not within these.
weft_status curtain_turns_to(curtain* c, int way, double wanted, int* turns);

#endif
