// What the files of the method local-global share.
#ifndef WEFT_LOCAL_GLOBAL_H
#define WEFT_LOCAL_GLOBAL_H

#include "material/spring_net.h"
#include "solve/cg/cg.h"
#include "solve/ties/tied.h"
#include "step/global_filtered.h"
#include "step/global_step.h"
#include "step/shape_damping.h"
#include "step/turns.h"

typedef struct local_global_data
{
    global_step global;
    spring_net springs;       // all zero: there are none
    bool has_others;          // inner forces of other kinds
    vec3 *fading, *loads;     // [vertex_count] m/s: v_n less damping from outside; N, that do not depend on x
    shape_damping shapes;     // all zero: it was not asked for yet
    global_filtered filtered; // global steps with contact, and with pins that hold in part; all zero: there were none
    bool constrained;         // it does not know the filter yet
    bool again;               // turns are taken again: with care
    bool solves_contact;      // what touches is in the global step, although the scene leaves it to the projection
    bool begins;              // the substep's first turn is next
    cg cg;                    // those with ties
    tied* tied;               // likewise; NULL: there were none yet
    vec3* before;             // [vertex_count] m/s, of Newton's end: the iterate before
    turns turns;              // what is remembered of them, for acceleration
    const world* w;           // whose step is under way
} local_global_data;

element_motion local_global_motion(const world* w); // at the iterate
// rhs = -grad g / h, N s, at the iterate v_next. Returns g / h^2 up to a constant, J.
double local_global_descend(world* w);
weft_status local_global_constrain(world* w);      // constraints for the substep, and the iterate that keeps them
bool local_global_projects(const world* w);        // contact is left to the projection after each turn
vec3 local_global_reaction(const world* w, int i); // N, of constraints: what the gradient leaves
bool local_global_rises(world* w);    // the iterate has energy from nowhere, although constraints stand in its way
bool local_global_crumples(world* w); // moving out has stretched what it moved
// Newton iterations from the iterate, whose rhs and value stand, as many as the scene allows.
weft_status local_global_newton(world* w, double value);

#endif
