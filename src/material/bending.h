// Layout of the bending kinds' rest data.
#ifndef WEFT_BENDING_H
#define WEFT_BENDING_H

#include <math.h>

enum
{
    HINGE_STRIDE = 3,      // stiffness (N m), rest angle, damping
    CURVATURE_STRIDE = 11, // Cholesky factor L of the stiffness (6, row by row), rest folds (3), damping, wings
    BEYOND_STRIDE = 13,    // of kind beyond: that, the root of twice the energy at which the law changes, share from there on
};

// Curvature elements measure an angle by its fold f(theta) = (1 - s) theta + s 2 tan(theta / 2), s = FOLD_SHARE: theta
// but for sharp folds, and without bound at 180 degrees. A hinge that could fold through itself would make the energy
// jump, because the sign of one of three coupled angles would flip.
#define FOLD_SHARE 0.05
#define FOLD_SINE_MIN 1e-4 // the tangent is cut off at the fold where the sine falls to this

static inline double fold_of_angle(double angle)
{
    return (1.0 - FOLD_SHARE) * angle + 2.0 * FOLD_SHARE * tan(0.5 * angle);
}

// Curvature elements have vertices 0, 1, 2 of a triangle and 3, 4, 5 of the wings opposite to corners 0, 1, 2. The
// last rest number has bit k set when wing k exists; a missing wing repeats corner k and its angle counts as zero.

// How many rows of Y = L^T G are not zero at each vertex: L is triangular, and a wing turns one angle alone.
#define CURVATURE_FACTORS                                                                                              \
    {                                                                                                                  \
        3, 3, 3, 1, 2, 3                                                                                               \
    }

#endif
