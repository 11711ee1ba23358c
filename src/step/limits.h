// Long-range limits (Kim, Chentanez and Mueller 2012): no vertex is farther from a pinned one than the way along the
// cloth at rest, |x - x_anchor| <= r. They are of one moving vertex each, so that they need no colours, hold however
// long the way is, and are unilateral: cloth that is not taut does not feel them.
//
// Pins that are farther apart than the cloth between them is long leave no place within both limits. All limits of such
// a vertex are then wider by the ratio of these, so that it lies where evenly stretched cloth would have it;
// and when a pin lets go of such cloth, or a tear lengthens ways, what is far beyond comes back in a while.
#ifndef WEFT_LIMITS_H
#define WEFT_LIMITS_H

#include "step/graph.h"

enum
{
    LIMITS_MAX = 4 // of a vertex: to the nearest of so many groups of pins
};

typedef struct limits
{
    int vertex_count;
    int* count;   // [vertex_count]
    int* anchor;  // [LIMITS_MAX * vertex_count] the nearest first
    double* most; // [LIMITS_MAX * vertex_count] m
    double* wide; // [vertex_count] 1, or by what pins draw these apart; NULL: 1
    int total;
} limits;

// More than 64 groups count as one.
weft_status limits_create(limits* l, const graph* g, const int* group /* of graph_groups */);
void limits_finish(limits* l); // zeroed or half-built is fine

typedef struct limit_turn
{
    const int* list; // [count] of these vertices, or NULL: of all
    int count;
    // What is beyond two limits goes to the circle of both, not from one ball to the other. That is far, so that springs
    // have to follow it: coarse levels, whose children it would throw, and what comes after springs do without.
    bool meet;
} limit_turn;

// Of a substep: where vertices are at its start, and how long it is, s.
typedef struct limit_start
{
    const vec3* x;
    double h;
} limit_start;

// Before its projections; anchors are where x has them.
void limits_widen(limits* l, workers* pool, const double* inv_mass, const limit_start* start, const vec3* x);
// Anchors that pins have let go (inv_mass > 0) hold nothing.
void limits_project(const limits* l, workers* pool, const double* inv_mass, const limit_turn* turn, vec3* x);

#endif
