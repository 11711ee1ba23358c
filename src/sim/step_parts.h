// A step in parts, between which cloth tears (step_parts.c).
#ifndef WEFT_STEP_PARTS_H
#define WEFT_STEP_PARTS_H

#include "sim/sim.h"

// Steps what is between part_from and part_until; stats has the pairs that parts before it have listed.
typedef weft_status part_step(weft_sim* sim, weft_step_stats* stats, weft_error* error);
// All parts of a step, with the tears in it; stats is empty.
weft_status step_parts(weft_sim* sim, part_step* step, weft_step_stats* stats, weft_error* error);

#endif
