// Motion along keys, as pins and obstacles have it.
#ifndef WEFT_MOTION_H
#define WEFT_MOTION_H

#include "core/core.h"
#include "math/vec.h"
#include "weft/weft.h"

typedef struct motion
{
    weft_pin_key* keys; // [key_count]; none: still
    int key_count;
    vec3 axis; // unit, or zero
    vec3 center;
} motion;

weft_status motion_init(motion* m, const weft_pin_key* keys, int key_count, vec3 axis, vec3 center);
void motion_finish(motion* m); // zeroed is fine
// What is wrong with a user's keys, as a sentence; NULL: nothing.
const char* motion_check(const weft_pin_key* keys, int key_count, vec3 axis, vec3 center);

// Where a motion has got to.
typedef struct placement
{
    bool turns;
    double cosine, sine; // of the angle
    vec3 axis, center, offset;
} placement;

placement motion_at(const motion* m, double time);
vec3 placement_apply(const placement* p, vec3 start);

#endif
