// What the files of contact share.
#ifndef WEFT_SWEEP_H
#define WEFT_SWEEP_H

#include "step/step.h"

vec3 sweep_flush(vec3 x);
weft_status sweep_load(world* w);         // positions of the substep, its end as velocities have it
weft_status sweep_search(contact* c);     // candidates around start and end
weft_status sweep_near(contact* c);       // fills near
weft_status sweep_collisions(contact* c); // fills found, for what is awake

bool touch_take(contact* c, const near_pair* near); // false: it is none of a vertex and an obstacle's face
void spring_take(world* w, const near_pair* near);
spring spring_rub(const world* w, const touch* t); // kinetic friction of a vertex that slides
coupling spring_coupling(const world* w, const spring* s);
void springs_rub(world* w); // friction of what was taken
void springs_remember(world* w);
weft_status springs_couple(world* w);
weft_status touch_constrain(world* w);

void squeeze_begin(contact* c);                               // a step: nothing is listed yet
weft_status squeeze_load(contact* c, const mark_list* marks); // those of the state
// A pair of a vertex and a body that squeezes it.
bool squeeze_ignores(const contact* c, const int vertex[4], int first);
// Whether one of these vertices is squeezed by the body: itself, or edges and faces at it.
bool squeeze_holds(const contact* c, const int* vertex, int count, int body, bool itself);
weft_status squeeze_let(contact* c, const collision* hit); // marks what takes part: then squeeze_settle
void squeeze_settle(contact* c);
weft_status squeeze_give_up(contact* c); // all that still collides
weft_status squeeze_list(contact* c);    // what crosses at the end; the marks of the next state
weft_status squeeze_prepare(contact* c); // lists of the topology
weft_status squeezed_pairs_add(squeezed_pair** list, int* count, int* capacity, const squeezed_pair* pair);
void squeeze_finish(contact* c);

#endif
