// What a checkpoint must agree with: everything that changes results, but not the number of frames or threads.
#ifndef WEFT_FINGERPRINT_H
#define WEFT_FINGERPRINT_H

#include "sim/sim.h"

uint64_t sim_fingerprint(const weft_sim* sim); // of a built simulation, as it was before edits

#endif
