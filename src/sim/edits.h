// Edits of a simulation: what has changed since the scene was given. The scene as given is what there was at the first
// step or the first edit. A checkpoint has the scene's fingerprint and what edits have made of it: a simulation of the
// same scene that reads it is edited alike.
#ifndef WEFT_EDITS_H
#define WEFT_EDITS_H

#include "core/sections.h"
#include "sim/sim.h"

// Due before anything of the simulation changes: builds it, and takes down what it was.
weft_status edits_begin(weft_sim* sim, weft_error* error);

weft_status edit_error(weft_status status, weft_error* error); // says so where memory is short

// What the checkpoint was of before a load, until it is known whether that succeeds.
typedef struct edits_before
{
    bool any; // the file has edits
    weft_vec3 gravity;
} edits_before;

weft_status edits_save(const weft_sim* sim, section_writer* out, weft_error* error); // nothing where there are none
// Edits the simulation, which must not have been, as the file says. Then one of the two below is due.
weft_status edits_load(weft_sim* sim, edits_before* before, sections* from, weft_error* error);
void edits_load_undo(weft_sim* sim, edits_before* before);
void edits_load_keep(weft_sim* sim, edits_before* before);

#endif
