// Directors of a sheet's inner edges, for the bending `exact` (directors.c). They belong to a group of elements and are
// made with it; where they stand follows from positions alone.
#ifndef WEFT_DIRECTORS_H
#define WEFT_DIRECTORS_H

#include "material/material.h"

weft_status exact_append(element_group* group, const cloth_shape* shape);
// Finds where the directors stand at the motion's positions, and leaves in group->shift what the kernels take for rest
// folds beside those of the material.
void directors_prepare(const element_group* group, const element_motion* motion, workers* pool);
void directors_forget(directors* d); // they are found anew, as what elements keep has changed. NULL is fine
void directors_finish(directors* d); // NULL is fine

#endif
