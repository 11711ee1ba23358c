// The last state of a run, to the bit.
#ifndef WEFT_CHECKPOINT_H
#define WEFT_CHECKPOINT_H

#include "sim/sim.h"

weft_status checkpoint_write(const char* path, const weft_sim* sim, int steps_per_frame, weft_error* error);
// Puts the simulation (built, of the same scene) into the saved state; on failure it stays as it is.
weft_status checkpoint_read(const char* path, weft_sim* sim, int steps_per_frame, weft_error* error);
// The same from the bytes of such a file, aligned to 8.
weft_status checkpoint_parse(const void* bytes, size_t size, const char* path, weft_sim* sim, int steps_per_frame,
                             weft_error* error);

#endif
