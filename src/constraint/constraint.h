// Constraints from pins: which directions of which vertices are prescribed, and what they are to do in a step.
#ifndef WEFT_CONSTRAINT_H
#define WEFT_CONSTRAINT_H

#include "constraint/motion.h"
#include "solve/solve.h"
#include "weft/weft.h"

// A pin's motion, shared by its vertices.
typedef struct pin_motion
{
    weft_fix fix;
    vec3 direction;
    motion motion;
    double release; // s
} pin_motion;

// One pinned vertex.
typedef struct pin
{
    int vertex;
    int motion; // index into motions
    vec3 start; // position at time 0
} pin;

typedef struct pin_set
{
    pin_motion* motions; // [motion_count]
    int motion_count, motion_capacity;
    pin* pins; // [count] sorted by (vertex, motion) after pin_set_sort
    int count, capacity;
} pin_set;

weft_status pin_set_add_motion(pin_set* set, const weft_pin* def, int* out);
weft_status pin_set_add(pin_set* set, int vertex, int motion, vec3 start);
void pin_set_sort(pin_set* set);
void pin_set_finish(pin_set* set);

// Where a pinned vertex that starts at `start` is to be at `time`.
vec3 pin_target(const pin_motion* motion, vec3 start, double time);

// Filter records for a step that ends at `time` after h, and z, the change of velocity that takes each constrained
// direction to its target: (v + z) . d = (target - x) . d / h. records has room for set->count; z is [vertices],
// written at constrained vertices only. Returns the number of records.
int pin_set_constrain(const pin_set* set, double time, double h, const vec3* x, const vec3* v, filter_record* records,
                      vec3* z);

// ---- prescribed directions of one vertex, from pins and contacts
typedef struct prescription
{
    int count;
    vec3 d[3];       // orthonormal
    double value[3]; // change of velocity along each
} prescription;

void prescription_add(prescription* p, vec3 direction, double value); // what is prescribed already stays
vec3 prescription_value(const prescription* p);

#endif
