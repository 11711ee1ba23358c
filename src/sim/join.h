// Seams of a cloth whose vertices are sewn to each other: threads are drawn in (constraint/stitch.c), and contact goes
// on beside them. What has come together becomes one vertex of the scene, pair by pair, by a new generation: with the
// mass of all, and with bending across. Outputs stay as they are, and show the one at several places.
//
//     join.c         what is sewn, and what can be one surface
//     join_close.c   while gaps close, and when vertices become one
//     join_route.c   threads that go around obstacles
//     join_save.c    in a checkpoint: a section of its own, where something is joined
#ifndef WEFT_JOIN_H
#define WEFT_JOIN_H

#include "core/sections.h"
#include "sim/sim.h"

// Vertices of closed stitches as `one` has them, from `sewing`.
void seams_unite(const body* b, const uint8_t* sewing, int* one);
// The body gets copies of what joining changes: `sewing` and what follows from it, triangles, and rest positions, which
// become `at` ([rest.vertex_count]); `before` keeps what it had, for body_tear_undo or body_tear_keep.
weft_status body_join(body* b, const uint8_t* sewing, const vec3* at, body* before);
double body_closes_at(const body* b); // m: gaps below that are closed

weft_status stitches_build(weft_sim* sim); // ties of the model, of seams that are open
// Before a step: cloth whose gaps close weighs nothing and slides without friction, so that its pieces stay where they
// were put, and go around a body as they are drawn together.
weft_status sim_lift(weft_sim* sim, weft_error* error);
weft_status sim_route(void* user); // a simulation, before each substep: which way its threads go
void routes_drop(weft_sim* sim);
weft_status sim_join_first(weft_sim* sim, weft_error* error); // before the first step: what lies upon each other
weft_status sim_join(weft_sim* sim, weft_error* error);       // after a step: what has come together

weft_status joins_save(const weft_sim* sim, section_writer* out, weft_error* error);
weft_status joins_load(weft_sim* sim, sections* from, weft_error* error); // bodies alone; before is kept by edits.c

#endif
