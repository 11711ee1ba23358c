// Layout of the bending kinds' rest data.
#ifndef WEFT_BENDING_H
#define WEFT_BENDING_H

enum
{
    HINGE_STRIDE = 3,      // stiffness (N m), rest angle, damping
    CURVATURE_STRIDE = 11, // Cholesky factor L of the stiffness (6, row by row), rest angles (3), damping, wings
};

// Curvature elements have vertices 0, 1, 2 of a triangle and 3, 4, 5 of the wings opposite to corners 0, 1, 2. The
// last rest number has bit k set when wing k exists; a missing wing repeats corner k and its angle counts as zero.

#endif
