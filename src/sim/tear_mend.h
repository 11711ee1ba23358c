// A tear mends the model and what follows from it where the cut is, in place of a new generation.
//
//     mend_patch.c   which elements go and come: those around the cut, made before and after it
//     mend.c         the rest of the model, state, world, contact, solver
//
// Masses and the setup of the linear solver are made anew; the order of vertices is that of a rebuild, with
// what is torn off at the end of its body.
#ifndef WEFT_TEAR_MEND_H
#define WEFT_TEAR_MEND_H

#include "sim/tear.h"
#include "step/mend.h"

// A corner of a triangle of the model that goes to another vertex.
typedef struct moved_corner
{
    int triangle, corner; // of the model
    int to;               // scene vertex
} moved_corner;

typedef struct moved_corners
{
    moved_corner* item;
    int count, capacity;
} moved_corners;

// Elements of one kind, as bytes: [count] vertices and rest data.
typedef struct element_list_change
{
    int* place; // [gone_count] in the group, ascending
    int gone_count;
    int* vertices; // [come_count * arity] of those that come
    double* rest;  // [come_count * rest_stride]
    int come_count;
} element_list_change;

// Of each group of the model what goes and comes. *found: the model has all that goes; else it cannot be mended.
weft_status patch_compare(const weft_sim* sim, const body* b, const moved_corners* moved, element_list_change* out,
                          bool* found);
void element_list_change_finish(element_list_change* c); // zeroed is fine

// Mends the simulation for tears of the body; not *done: it cannot be, and all is as it was. On failure it is stale.
weft_status sim_mend(weft_sim* sim, body* b, const tear_list* tears, bool* done, weft_error* error);

#endif
