// From one iterate of a local/global method to the next: plainly, or accelerated by what is remembered of earlier
// turns.
#ifndef WEFT_TURNS_H
#define WEFT_TURNS_H

#include "step/anderson.h"
#include "step/quasi_newton.h"
#include "step/step.h"

enum
{
    TURNS_PLAIN,
    TURNS_CHEBYSHEV,
    TURNS_ANDERSON,
    TURNS_QUASI_NEWTON
};

typedef struct turns
{
    int kind;           // of acceleration
    anderson anderson;  // all zero: not asked for yet; its image G serves Chebyshev, too
    quasi_newton quasi; // likewise
    vec3* before;       // [vertex_count] m/s, of Chebyshev: the iterate before
    double omega;       // likewise
    bool mixed;         // of both but the quasi-Newton: the iterate is not the image of the last one
} turns;

// Ready for the turns of a substep, with room for what this kind remembers; nothing came before.
weft_status turns_begin(turns* t, const world* w, int kind);
void turns_finish(turns* t); // zeroed or half-built is fine
void turns_clear(turns* t);  // nothing came before
// v_next is the iterate, rhs its forces and dv its plain way: v_next becomes the next one. `radius` is Chebyshev's.
void turns_mix(turns* t, world* w, double radius);
bool turns_are_mixed(const turns* t);
// The mixed iterate v_next, whose forces are in rhs, is worse than the one before: v_next goes back. The last retreat
// is to the plain image, which is not mixed.
void turns_retreat(turns* t, world* w);

#endif
