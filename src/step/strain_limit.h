// Threads that must not be longer than a limit at the end of a substep (strain_limit.c).
#ifndef WEFT_STRAIN_LIMIT_H
#define WEFT_STRAIN_LIMIT_H

#include "core/core.h"
#include "math/vec.h"

struct model;
struct world;

// A thread of a triangle: warp or weft.
typedef struct limited_thread
{
    int vertex[3];
    double b[3];      // its vector is w = sum of b_a x_a; 1 long at rest
    double limit;     // most that it may be long
    double stiffness; // N m, of the penalty: times area
} limited_thread;

typedef struct strain_limit
{
    limited_thread* threads; // [count]
    int count;
    vec3* n;         // [count] the direction in which a thread is held, in this substep
    double* pull;    // [count] N m, what holds it: the multiplier
    double* aim;     // [count] how long the solve would have a thread at most
    double* most;    // [count] how long it may be without another turn
    double* allowed; // [count] the limit, or where the substep starts beyond it how long the thread is then
    double* laid_pull; // [count] N m, the pulls that the last solution was found with
    uint8_t* held;   // [count] whether it is held in this substep
    int held_count;
    double* values; // [value_capacity] of the matrix without what holds threads
    int value_capacity;
    vec3* rhs;      // [vertices] likewise
    int* record;    // [vertices] of world.pins; -1: not pinned
    bool laid;      // what holds threads is in matrix and right side
} strain_limit;

weft_status strain_limit_create(struct world* w); // nothing where no sheet has a limit
void strain_limit_finish(strain_limit* l);        // zeroed is fine
void strain_limit_begin(struct world* w);         // of a substep
// What is too long at v_next is held, what need not be is let go; false: nothing is to be solved again.
bool strain_limit_update(struct world* w);
weft_status strain_limit_lay(struct world* w); // into matrix and right side
void strain_limit_lift(struct world* w);       // out of them again
double strain_limit_work(const struct world* w); // J, that pulls do on the way to v_next
// After response: threads that it has made too long are drawn in, and it looks again; NOT_CONVERGED: they are still too long.
weft_status strain_limit_settle(struct world* w, bool may_halve, bool* changed);
int strain_limit_count_over(const struct world* w); // threads of the state that are beyond their limit

#endif
