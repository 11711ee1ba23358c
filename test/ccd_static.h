// Whether two primitives touch at one rational time, by a method that has nothing in common with the oracle's.
#ifndef WEFT_TEST_CCD_STATIC_H
#define WEFT_TEST_CCD_STATIC_H

#include <stdbool.h>

#include "weft/collide.h"

// At time numerator / denominator, exactly.
bool ccd_touches_at(weft_pair_kind kind, const weft_vec3 start[4], const weft_vec3 end[4], long numerator,
                    unsigned long denominator);

#endif
