// Edits of a simulation: what has changed since the scene was given. The scene as given is what there was at the first
// step or the first edit. A checkpoint has the scene's fingerprint and what edits have made of it: a simulation of the
// same scene that reads it is edited alike.
//
//     generation.c        a new model and world of the bodies as they are now, with the state carried over
//     edits.c             what edits have made of the scene, in a checkpoint
//     edit_pack.c         pins and bodies as bytes
//     edit_ties.c         exclusions and ties that were edits, in a checkpoint
//     sim_edit.c          public edits: gravity, air, materials, forces
//     sim_edit_pins.c     public edits: pins
//     sim_edit_bodies.c   public edits: bodies
//     sew.c, exclusion.c  ties and exclusions, before the first step and as edits
#ifndef WEFT_EDITS_H
#define WEFT_EDITS_H

#include "core/pack.h"
#include "core/sections.h"
#include "sim/cluster.h"

// ---- generations

// Where a cloth's vertices are in the scene.
typedef struct body_order
{
    int first;
    int *scene_vertex, *user_vertex;
} body_order;

// A model and a world, put aside.
typedef struct generation
{
    model model;
    world world;
    body_order* orders; // [count] of the cloths
    int count;
    cluster** list; // [cluster_count]
    int cluster_count;
    int mend_count; // of mend_log
    bool stale;
} generation;

// Builds model and world of the bodies as they are now, at their start; the present ones are put aside. On failure all
// is as it was. Then one of the two below is due.
weft_status generation_begin(weft_sim* sim, generation* old, weft_error* error);
void generation_undo(weft_sim* sim, generation* old); // puts it back
void generation_keep(generation* old);                // drops it
// The next generation goes on where this one is. With other bodies, what contact knows of pairs of features and what
// methods know of earlier states is forgotten: features are numbered anew, and new cloth has no past.
weft_status generation_next(weft_sim* sim, bool same_bodies, weft_error* error);

// ---- edits

// Due before anything of the simulation changes: builds it, and takes down what it was.
weft_status edits_begin(weft_sim* sim, weft_error* error);
weft_status edit_error(weft_status status, weft_error* error); // says so where memory is short
// NOT_FOUND where there is none, or it was removed.
weft_status edit_find_cloth(const weft_sim* sim, weft_cloth_id id, body** out, weft_error* error);

// A body without vertices takes its place; the name stays with both.
body body_bury(body* b);
obstacle obstacle_bury(obstacle* o);
// Frees what was buried, but for its name.
void body_forget(body* b);
void obstacle_forget(obstacle* o);

// ---- in a checkpoint

void pack_pin(packer* p, weft_pin* pin);
void pack_force(packer* p, weft_force* force);
void pack_material(packer* p, weft_material* material);
// Defs; what is read lends arrays from the bytes, but for pins, forces and lists of names, which the finish functions
// free.
void pack_cloth(packer* p, weft_cloth_def* def);
void pack_cloth_finish(weft_cloth_def* def);
void pack_obstacle(packer* p, weft_obstacle_def* def);
void pack_obstacle_finish(weft_obstacle_def* def);

// A simulation as it was before a checkpoint was read, until it is known whether that succeeds.
typedef struct edits_before
{
    bool any; // the file has edits
    generation generation;
    weft_sim_def def;
    body* bodies;        // [body_count]
    obstacle* obstacles; // [obstacle_count]
    int body_count, obstacle_count, pin_ids;
} edits_before;

// Creases in a checkpoint: nothing where no cloth creases. Loading lends what the section has, which is taken at last.
weft_status creases_save(const weft_sim* sim, section_writer* out, weft_error* error);
weft_status creases_load(const weft_sim* sim, const struct crease** out, sections* from, weft_error* error);
void creases_take(weft_sim* sim, const struct crease* all);
weft_status edits_save(const weft_sim* sim, section_writer* out, weft_error* error); // nothing where there are none
// Edits the simulation, which must not have been, as the file says. Then one of the two below is due.
weft_status edits_load(weft_sim* sim, edits_before* before, sections* from, weft_error* error);
void edits_load_undo(weft_sim* sim, edits_before* before);
void edits_load_keep(weft_sim* sim, edits_before* before);

// Parts of the three above: what came as an edit of exclusions and ties. What fails half-way is to be undone, too.
weft_status edit_ties_save(const weft_sim* sim, section_writer* out, weft_error* error);
weft_status edit_ties_load(weft_sim* sim, sections* from, weft_error* error);
void edit_ties_undo(weft_sim* sim);

#endif
