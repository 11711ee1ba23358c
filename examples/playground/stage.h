// What stage.c and hand.c share.
#ifndef PLAYGROUND_STAGE_H
#define PLAYGROUND_STAGE_H

#include "playground.h"

enum
{
    HANDFUL = 12 // vertices of a solid that a hand takes hold of: local-global keeps its factor up to sixteen
};

struct stage
{
    const play_scene* scene;
    int threads;
    weft_scene* loaded;
    weft_sim* sim;
    picture picture;
    weft_air air;              // when there is wind
    weft_pin_id grip;          // 0: none
    weft_vec3 offset[HANDFUL]; // of the vertices from the hand
    int held_count;
    weft_vec3 mouse;            // where the hand is to go
    double reach;               // m a step, that the hand goes at most
    weft_pin_id left[PINS_MAX]; // [picture.pin_count]
};

void stage_look_again(stage* s); // positions and time, from the simulation

#endif
