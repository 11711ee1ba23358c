// A simulation of a shipped scene with the inspector beside it, and what its steps add up to: for the benchmarks of
// contact.
#ifndef WEFT_BENCH_CONTACT_RUN_H
#define WEFT_BENCH_CONTACT_RUN_H

#include <stdint.h>

#include "bench/common.h"

enum
{
    CONTACT_TEXT = 256
};

// Everything that the result depends on.
typedef struct contact_case
{
    const char* scene;
    const char* solver;       // NULL: the scene's
    const char* tessellation; // NULL: the scene's
    const char* const* sets;  // [set_count] more overrides
    int set_count;
    int cells;       // of all grids; 0: the scene's
    int frames;      // negative: the scene's; 0: the start alone
    double friction; // of all bodies; negative: the scene's
    int start;       // 0: as the scene has it; else the seed of a jitter
    double jitter;   // m, the largest in each coordinate
    int threads;
    bool checkpoints; // forgets at each frame what `weft run` forgets
    bool inspect;     // every frame
    double seconds;   // s, where above 0, in place of frames: whole frames, at least one
    vec3** end;       // NULL, or receives positions at the end, of all cloths; mem_free
} contact_case;

typedef struct contact_totals
{
    int vertices, obstacle_triangles, frames, steps; // as far as it came
    int64_t crossings;                               // of all frames, less the squeezed ones
    int64_t squeezed_crossings;                      // of all frames: those that the steps list as squeezed
    int crossing_frame;                              // the first with one; -1: none
    int64_t squeezed, last_resort, rejected;
    int64_t iterations;
    int full_setups;                  // steps whose last solve made all of the multigrid hierarchy anew
    double seconds, step_s;           // of the whole, and of the steps alone
    double solve_s;                   // setup and solve
    double contact_s;                 // stages detect, constrain and respond
    double max_stretch;               // of all steps
    weft_energy start_energy, energy; // at the start and at the end
    vec3 start_center, center;        // of mass, m
    vec3 half_center;                 // after half of the frames
    bool completed;
    char message[CONTACT_TEXT]; // why not
} contact_totals;

// After each step, with its stats; may be NULL.
typedef void contact_step(void* context, const weft_step_stats* stats);

// BAD_INPUT when the scene cannot be loaded, NO_MEMORY; a simulation that breaks down is a result, not a failure.
weft_status contact_run(const contact_case* c, contact_step* each, void* context, contact_totals* out);

// Seconds of the stages that are contact's alone.
double contact_seconds(const weft_step_stats* stats);

// Names all that the case depends on, for logs.
void contact_key(const contact_case* c, char* out, size_t size);

#endif
