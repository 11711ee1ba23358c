// Position based dynamics: what the methods `pbd` and `hpbd` share (pbd.c has the equations).
#ifndef WEFT_PBD_H
#define WEFT_PBD_H

#include "step/hierarchy.h"
#include "step/limits.h"
#include "step/links.h"
#include "step/mend.h"
#include "step/slivers.h"
#include "step/softness.h"
#include "step/step.h"

// ---- elements that are no springs (pbd_elements.c)

typedef struct element_sweep
{
    const element_group* group;
    int rows; // constraints an element
    int colour_count;
    int *colour, *order; // [colour_count + 1], [group->count] elements by colour
    double* lambda;      // [rows * group->count] of the substep
    int capacity, colour_capacity, lambda_capacity;
    const uint8_t* slender; // [vertex_count] vertices around which triangles are nearly flat, or NULL
} element_sweep;

weft_status element_sweep_create(element_sweep* s, const element_group* group, int vertex_count);
void element_sweep_finish(element_sweep* s); // zeroed or half-built is fine
weft_status element_sweep_mend(element_sweep* s, const group_change* change, int vertex_count);
void element_sweep_begin(element_sweep* s);
void element_sweep_run(element_sweep* s, const link_sweep* how, const link_rule* rule, const double* inv_mass, vec3* x);

void element_sweep_damp(element_sweep* s, const link_sweep* how, const link_rule* rule, const double* inv_mass, vec3* x,
                        vec3* v); // nothing without dampers

// ---- what holds cloth from afar (pbd_reach.c): limits and levels, made anew when the set of pins changes

// Which ways sides in contact face: a sum of n n^T.
typedef struct facing
{
    double xx, yy, zz, xy, yz, zx;
} facing;

typedef struct pbd_reach
{
    int* anchors;  // [vertex_count] of graph_anchors, of which the rest was made
    int* now;      // [vertex_count] likewise, of this step; scratch
    bool made;     // they are
    graph graph;   // of which they were
    limits limits; // nothing without the setting
    hierarchy levels;
    bool compliant; // coarse links give way
    softness soft;  // nothing where they do not
    facing* facing; // [vertex_count] scratch of pbd_wrap.c
    int facing_capacity;
    bool resting; // some links may be
    vec3* q;      // [vertex_count] m, before the coarse levels; of a V [level_count * vertex_count], before each
} pbd_reach;

// ---- a method's data

typedef struct pbd_data
{
    links springs;
    element_sweep sweeps[GROUP_MAX];
    int sweep_count;
    slivers slivers;
    double* inv_mass; // [vertex_count] 1/kg; 0: held in all directions
    double* held;     // [vertex_count] scratch
    bool has_partly;  // some are held in one or two directions, or tied
    vec3* from;       // [vertex_count] m, at the start of the substep
    vec3* loads;      // [vertex_count] N
    vec3* mean;       // [vertex_count] m/s, scratch
    double fastest;     // 1/s^2, largest k / m of all elements
    double fastest_max; // 1/s^2, what they may ask substeps for
    link_rule rule;   // of the step
    pbd_reach reach;
    bool has_levels; // of hpbd
} pbd_data;

// ---- what both methods have

extern const char* const pbd_counters[];
extern const stage pbd_stages[];

// Rows of their settings.
#define PBD_SWITCH(name_, summary_)                                                                                    \
    {                                                                                                                  \
        .name = name_, .summary = summary_, .value = 0, .maximum = 1, .whole = true                                    \
    }
#define PBD_COUNT(name_, summary_, value_, minimum_)                                                                   \
    {                                                                                                                  \
        .name = name_, .summary = summary_, .value = value_, .minimum = minimum_, .maximum = 1e6, .whole = true        \
    }
#define PBD_SETTINGS(iterations_, substeps_)                                                                           \
    PBD_COUNT("iterations", "Sweeps in a substep", iterations_, 1),                                                    \
        {.name = "substeps",                                                                                           \
         .summary = "In a time step; 0: as many as the material's stiffness wants",                                    \
         .value = substeps_,                                                                                           \
         .maximum = 1e6,                                                                                               \
         .whole = true,                                                                                                \
         .zero_is_most = true},                                                                                        \
        PBD_SWITCH("slack", "1: springs along edges are upper limits of length, 0: they hold both ways"),              \
        PBD_SWITCH("legacy", "1: stiffness is k and k_bend, and grows with iterations; 0: it is the material's"),      \
        {.name = "k",                                                                                                  \
         .summary = "With legacy: the share of a stretch or shear that one projection takes",                          \
         .value = 1,                                                                                                   \
         .maximum = 1},                                                                                                \
        {.name = "k_bend",                                                                                             \
         .summary = "With legacy: the share of a fold that one projection takes",                                      \
         .value = 0.1,                                                                                                 \
         .maximum = 1},                                                                                                \
        PBD_SWITCH("limits", "1: no vertex is farther from a pinned one than the way along the cloth at rest"),        \
    {                                                                                                                  \
        .name = "drag", .summary = "Velocities fade by exp(-drag t)", .unit = "1/s", .maximum = HUGE_VAL               \
    }

// A substep of the method, from its start to now.
typedef struct pbd_moment
{
    double h;                  // s
    double begin, end;         // shares of the step
    int iteration, iterations; // the sweep under way
    double projections;        // on coarse levels, so far
} pbd_moment;

weft_status pbd_reach_make(world* w, pbd_data* d);                    // before a step
void pbd_reach_finish(pbd_reach* r);                                  // zeroed or half-built is fine
weft_status pbd_wrap(world* w, pbd_data* d);                          // before a substep (pbd_wrap.c)
void pbd_reach_hold(world* w, pbd_data* d);                           // inv_mass has changed
double pbd_reach_cycle(world* w, pbd_data* d, const pbd_moment* now); // of the coarse levels: how many projections

bool pbd_spring_link(const world* w, const int* vertex, const double* rest, link_def* out); // false: it has none
void pbd_fastest(const world* w, pbd_data* d, const uint8_t* among); // of all, or after a tear at these vertices
weft_status pbd_slivers_make(world* w, pbd_data* d);
weft_status pbd_prepare(world* w, void* data);
weft_status pbd_settle(world* w, void* data);
weft_status pbd_mend(world* w, void* data, const mend* m);
weft_status pbd_reach_mend(world* w, pbd_data* d, const mend* m);
void pbd_finish(void* data);
weft_status pbd_stage_predict(world* w);
weft_status pbd_stage_iterate(world* w);
weft_status pbd_stage_advance(world* w);

#endif
