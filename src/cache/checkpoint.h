// The last state of a run, to the bit.
#ifndef WEFT_CHECKPOINT_H
#define WEFT_CHECKPOINT_H

#include "sim/sim.h"

weft_status checkpoint_write(const char* path, const weft_sim* sim, weft_error* error);
// Puts the simulation (built, of the same scene) into the saved state.
weft_status checkpoint_read(const char* path, weft_sim* sim, weft_error* error);

#endif
