// Tearing. After a step, where the largest principal value of the membrane force at a vertex exceeds the cloth's
// strength, the vertex is split along the plane across it.
//
//     tear.c        forces, and what splits
//     tear_room.c   whether the sides of a cut may part
//     tear_told.c   what a step lists as squeezed or unsettled, by the names after it
//     tear_body.c   a body with more vertices, and tears in a checkpoint
//
// Each new vertex is torn off an earlier one and takes some of its faces along. That list is all that a checkpoint
// needs: the same tears of the same mesh make the same mesh.
#ifndef WEFT_TEAR_H
#define WEFT_TEAR_H

#include "core/sections.h"
#include "sim/sim.h"

typedef struct tear_list
{
    int* from;       // [count] vertex of the user that each new one is torn off
    int* face_start; // [count + 1]
    int* face;       // faces that it takes along
    int count, capacity;
    int face_count, face_capacity;
} tear_list;

weft_status tears_add(tear_list* list, int from);  // a new vertex, without faces yet
weft_status tears_take(tear_list* list, int face); // of the last one
void tears_finish(tear_list* list);                // zeroed is fine

// The body gets copies of all that tears change; `before` keeps what it had, for one of the two below.
weft_status body_tear(body* b, const tear_list* list, body* before);
void body_tear_undo(body* b, const body* before);
void body_tear_keep(const body* b, body* before); // frees what b has no more

// The vertex that one was, `count` vertices ago at least: itself where it is older.
int body_torn_from(const body* b, int vertex, int count);

// Whether nothing crosses once the parts of a vertex have gone by `gap` towards their faces; side is [faces], of those
// around the vertex.
bool tear_has_room(const weft_sim* sim, const body* b, int vertex, const int* side, int parts, double gap);

// A side of a cut goes a little towards its faces.
void tear_open(weft_sim* sim, body* b, int vertex);
void tear_scratch_finish(tear_scratch* s); // zeroed is fine
// Whether a vertex that can split is loaded with more than a tenth above the cloth's strength.
weft_status tear_is_due(weft_sim* sim, body* b, bool* due, weft_error* error);
// After a step, or a part of one: *torn vertices were split. Of a whole step stats has the pairs that it tells of.
weft_status sim_tear(weft_sim* sim, weft_step_stats* stats, int* torn, weft_error* error);
// The pairs that the step tells of and that cross at what has torn, by the names that it has now.
weft_status tear_tell(weft_sim* sim, const body* b, const tear_list* tears, weft_step_stats* stats, weft_error* error);

// ---- in a checkpoint: a section of its own, where something is torn
weft_status tears_save(const weft_sim* sim, section_writer* out, weft_error* error);
// Tears that came after the model was built, one mend after the other: done again, they make the same bits.
typedef struct tear_replay
{
    int body;  // -1: none
    int* size; // [count] of each mend
    int count;
    tear_list tears;
    int topology; // of the body in the end
} tear_replay;

// Bodies as they were when the model was built; before is kept by edits.c.
weft_status tears_load(weft_sim* sim, tear_replay* later, sections* from, weft_error* error);
weft_status tears_replay(weft_sim* sim, const tear_replay* later, sections* from,
                         weft_error* error); // once it is built
void tear_replay_finish(tear_replay* r);     // zeroed is fine

#endif
