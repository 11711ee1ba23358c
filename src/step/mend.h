// What a tear has changed (sim/mend.c), for those who keep something of the topology: a method mends that, or prepares
// anew.
#ifndef WEFT_MEND_H
#define WEFT_MEND_H

#include "step/step.h"

// Of one group of elements.
typedef struct group_change
{
    int before;   // elements that there were
    int* element; // [count] ascending: places of other elements than before, of gone ones (from the group's count on)
                  // and of new ones (from `before` on)
    int* was;     // [count * arity] vertices that the element there had; of new ones zero
    double* was_rest; // [count * rest_stride] likewise
    int count;
} group_change;

struct mend
{
    int before;                 // vertices that there were
    const int* from;            // [count] the vertex that each of the following was torn off from
    int count;                  // torn off: vertices from `before` on
    const group_change* groups; // [groups of the model]
};

// Before the model changes: methods make all that follows from the topology so far.
weft_status world_settle(world* w);
// The state has the new vertices, each as what it was torn off from; x, v and so on have room for them.
weft_status state_mend(state* s, int count, const int* from);
// After model and state were mended: scratch, and what methods keep.
weft_status world_mend(world* w, const mend* m);

#endif
