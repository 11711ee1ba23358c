// Clusters: bodies that can touch in a step, or that ties hold together. What is not in one cluster has no part in the
// other's step: each has a model, a world and contact of its own, and so its own solves, halvings, tolerances and
// fallback. A cluster is a simulation that borrows its bodies, built as if there were no others: a cloth goes the same
// way, to the bit, whether or not there is another one far off.
//
//     cluster.c         one cluster: made of bodies, brought up to date, dropped
//     cluster_state.c   the scene's state, dealt out to clusters and collected again
//     cluster_near.c    which bodies can touch
//     clusters.c        a step: clusters made, stepped, joined when they met after all
//     cluster_save.c    in a checkpoint
//
// Between steps the state of the simulation's own world is the one that counts: positions, velocities, contact memory
// in scene order. Clusters get theirs from it at the start of each step and give it back at the end, so that whoever
// reads or edits a simulation need not know of clusters. What has one value for a cluster (halvings, lengths of past
// substeps, what `auto` has learnt) is kept for each of its bodies (body_control). A scene of which all bodies can
// touch has no clusters: the simulation's own world steps.
#ifndef WEFT_CLUSTER_H
#define WEFT_CLUSTER_H

#include "core/sections.h"
#include "sim/sim.h"

// A box along the axes, m.
typedef struct box3
{
    vec3 low, high;
} box3;

typedef struct cluster
{
    weft_sim sim; // bodies, seams, exclusions and edited pins are copies of those that concern it; the rest is lent
    int* member;  // [sim.body_count] the bodies in the whole simulation, ascending
    box3* swept;  // [sim.body_count] around all ends of substeps of the last step, and its start
    int* feature_first[3]; // [bodies + 1] in its collider; NULL without contact
    weft_step_stats stats; // of the last step
    bool stepped;          // in the step under way
} cluster;

// ---- one cluster

// Of the bodies k with home[k] == id.
weft_status cluster_create(weft_sim* sim, const int* home, int id, cluster** out, weft_error* error);
void cluster_destroy(cluster* c); // NULL is fine
// What it borrows is as the simulation has it now. Pins are not: see cluster_take_pins.
void cluster_refresh(const weft_sim* sim, cluster* c);
bool cluster_is_of(const cluster* c, const int* home, int count, int id);
weft_status cluster_take_pins(const weft_sim* sim, cluster* c); // edited pins that hold its bodies; not yet the model's
cluster* cluster_of(const weft_sim* sim, int body);             // NULL: the simulation itself steps it
const body* cluster_body(const cluster* c, int body);           // as the cluster has it

// ---- the state
weft_status controls_reserve(weft_sim* sim); // an entry for each body
body_control control_of(const world* w);     // but for the cluster
void control_put(world* w, const body_control* c);
body_control control_join(const weft_sim* sim, const int* member, int count); // of all bodies with member NULL
weft_status features_count(cluster* c);
weft_status clusters_place(weft_sim* sim); // where each body, and each of its features, is to be found
weft_status clusters_deal(weft_sim* sim);  // to those that have not stepped
weft_status clusters_reserve_collect(weft_sim* sim);
void clusters_collect(weft_sim* sim); // there is room

// ---- nearness
box3 box_empty(void);
void box_add(box3* box, vec3 x);
weft_status near_reserve(weft_sim* sim); // scratch for as many bodies as there are
void near_find(weft_sim* sim);           // home: the clusters of the step that is about to begin
bool near_meet(weft_sim* sim);           // whether clusters met in the step; then home has them joined

// ---- all of them
int sim_live_count(const weft_sim* sim);                        // bodies that were not removed
weft_status clusters_prepare(weft_sim* sim, weft_error* error); // those of the next step, with the state dealt out
// A step of all bodies, or the part of one that is under way, to be collected or undone. One that fails is undone;
// *out_failed is the simulation or cluster whose step it was, or NULL: then the error says what there is to say.
weft_status clusters_step(weft_sim* sim, weft_step_stats* stats, const weft_sim** out_failed, weft_error* error);
void stats_add_counts(weft_step_stats* to, const weft_step_stats* from); // what was counted and timed
void clusters_undo(weft_sim* sim); // of clusters: the simulation's own world is undone by step_undo
void clusters_drop(weft_sim* sim); // what is built of them
void clusters_finish(clusters* all);
// After bodies have changed: what the world before knew goes on in those that there were.
void clusters_carry(weft_sim* sim, const world* before, int body_count, bool same_bodies);
void clusters_forget(weft_sim* sim); // what makes the next step differ from that of a run that begins with this state
void clusters_settle(weft_sim* sim); // likewise of one that is resumed from a checkpoint: multigrid may keep its plan
bool clusters_never_part(const weft_sim* sim); // one body: then it does
// Numbers of the models, after gravity, forces or the wind have changed; those of the simulation's own, too.
void clusters_weigh(weft_sim* sim);
void clusters_set_air(weft_sim* sim, const weft_air* air);

// ---- in a checkpoint
weft_status clusters_save(const weft_sim* sim, section_writer* out, weft_error* error); // nothing of a single body
// *out is [body_count], of all bodies in one cluster where the file does not say it; *apart: it does.
weft_status clusters_load(const weft_sim* sim, body_control** out, bool* apart, sections* from, weft_error* error);
void clusters_take(weft_sim* sim, body_control* loaded, bool apart); // it owns them from now on

#endif
