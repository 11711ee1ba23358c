// What the files of contact share.
#ifndef WEFT_SWEEP_H
#define WEFT_SWEEP_H

#include "step/step.h"

vec3 sweep_flush(vec3 x);
weft_status sweep_load(world* w);         // positions of the substep, its end as velocities have it
weft_status sweep_search(contact* c);     // candidates around start and end
bool sweep_covers(const contact* c);      // whether the candidates hold for these ends
weft_status sweep_near(contact* c);       // fills near
weft_status sweep_collisions(contact* c); // fills found, for what is awake

bool touch_take(contact* c, const near_pair* near); // false: it is none of a vertex and an obstacle's face
void spring_take(world* w, const near_pair* near);
weft_status springs_couple(world* w);
void springs_push(const world* w, const vec3* v, vec3* rhs);
double springs_potential(const world* w, const vec3* v);
double springs_work(const world* w, const vec3* v);

#endif
