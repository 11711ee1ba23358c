// Seams of a cloth whose vertices are sewn to each other: while their gaps close they are ties (constraint/tie.c); once
// all are closed, vertices of a seam become one vertex of the scene, by a new generation: with the mass of all, and
// with bending across. Outputs stay as they are, and show the one at several places.
//
//     join.c        what is sewn, and when it becomes one
//     join_save.c   in a checkpoint: a section of its own, where something is joined
#ifndef WEFT_JOIN_H
#define WEFT_JOIN_H

#include "core/sections.h"
#include "sim/sim.h"

// The body gets copies of what joining changes: triangles, and rest positions, which become `at` ([rest.vertex_count]);
// `before` keeps what it had, for body_tear_undo or body_tear_keep.
weft_status body_join(body* b, const vec3* at, body* before);

weft_status stitches_build(weft_sim* sim); // ties of the model, of seams that are open
// Before a step: cloth whose gaps close weighs nothing and slides without friction, so that its pieces stay where they
// were put, and go around a body as they are drawn together.
weft_status sim_lift(weft_sim* sim, weft_error* error);
void sim_see_seams(void* user); // a simulation: before contact looks for what is near
// After a step: cloths whose gaps are closed are joined.
weft_status sim_join(weft_sim* sim, weft_error* error);

weft_status joins_save(const weft_sim* sim, section_writer* out, weft_error* error);
weft_status joins_load(weft_sim* sim, sections* from, weft_error* error); // bodies alone; before is kept by edits.c

#endif
