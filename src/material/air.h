// What the air's kernels share.
#ifndef WEFT_AIR_H
#define WEFT_AIR_H

#include "material/material.h"

// The wind at a place: gusts swell and fade along its own direction as they travel.
vec3 air_wind(const weft_air* air, vec3 x, double time);

#endif
