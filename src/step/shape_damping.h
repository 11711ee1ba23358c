// Damping that keeps rigid motion (Mueller, Heidelberger, Hennix and Ratcliff 2007, section 3.5): of each piece, the
// vertices that elements join, what is left of the velocities without its mean and its rotation fades. Momentum and
// angular momentum of every piece stay what they are.
#ifndef WEFT_SHAPE_DAMPING_H
#define WEFT_SHAPE_DAMPING_H

#include "core/core.h"
#include "math/vec.h"
#include "sparse/sparse.h"

typedef struct shape_damping
{
    int piece_count;
    int* start;  // [piece_count + 1]
    int* vertex; // [vertices] by piece
} shape_damping;

weft_status shape_damping_create(shape_damping* s, const bsr_pattern* pattern);
void shape_damping_finish(shape_damping* s); // zeroed is fine, and so is one whose creation failed
// v keeps the share `fade` of what is not rigid motion. mass and x are [vertices], kg and m.
void shape_damping_apply(const shape_damping* s, workers* pool, const double* mass, const vec3* x, double fade,
                         vec3* v);

#endif
