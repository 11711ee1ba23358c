// The bodies of a run's folder while it is written: files that come, go and grow, in the order that keeps every
// finished frame readable (docs/run-folder.md): the files of a topology, its line in frames.jsonl, its samples.
#ifndef WEFT_RUN_BODIES_H
#define WEFT_RUN_BODIES_H

#include "cache/changes.h"
#include "mesh/pc2_file.h"
#include "sim/sim.h"

typedef struct run_body
{
    char* name; // of its files: the body's own, or with a number where an earlier body has had that
    bool obstacle;
    int id;           // of the simulation's cloths or obstacles
    int from;         // frame in which it came
    int topology;     // of the files that grow
    int start;        // first frame of that one
    int changes;      // of the body's mesh, that the files know of
    int points;       // of a sample
    int first_points; // of one of topology 0, which fields go by
    pc2* samples;     // NULL: an obstacle that stands still, or a body that is gone
    bool gone;
} run_body;

typedef struct run_bodies
{
    const char* dir; // lent
    run_body* items; // [count] in the order in which they came
    int count, capacity;
    vec3* sample; // [sample_capacity] room for the largest
    int sample_capacity;
} run_bodies;

// Those of the scene, with files and no sample yet; those that went before are listed.
weft_status run_bodies_start(run_bodies* list, const weft_sim* sim, weft_error* error);
// Those that the folder has at a frame, with files cut back to it; what came later is removed. The simulation is in
// that frame. BAD_INPUT: folder and simulation do not agree.
weft_status run_bodies_resume(run_bodies* list, const weft_sim* sim, int frame, weft_error* error);
// Due before samples of a frame: bodies that came, went or tore since the last one.
weft_status run_bodies_follow(run_bodies* list, const weft_sim* sim, int frame, weft_error* error);
weft_status run_bodies_sample(run_bodies* list, weft_sim* sim, weft_error* error);
// The name that files and stats know a body of the simulation by; cloths, then obstacles. NULL: it has no files yet.
const char* run_bodies_name(const run_bodies* list, const weft_sim* sim, int index);
int run_body_index(const weft_sim* sim, const run_body* b); // among cloths, then obstacles
weft_status run_bodies_finish(run_bodies* list, weft_error* error);

#endif
