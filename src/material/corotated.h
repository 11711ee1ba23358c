// Layouts of the rest data of the model `corotated`'s kinds.
#ifndef WEFT_COROTATED_H
#define WEFT_COROTATED_H

#include "material/material.h"

enum
{
    STRAIN_STRIDE = 8,  // b1u b2u b1v b2v, stiffness times area of warp, weft and all directions (N m), damping (s)
    FOLD_ROW = 0,       // 1/m, of each vertex
    FOLD_STIFFNESS = 4, // N m
    FOLD_LENGTH,        // of the row at rest: 2 sin(angle / 2)
    FOLD_DAMPING,       // s
    FOLD_STRIDE,
    BLOCK_INVERSE = 0,   // 1/m, of the matrix of rest edges, row by row
    BLOCK_STIFFNESS = 9, // J, Young's modulus times volume
    BLOCK_DAMPING,       // s
    BLOCK_STRIDE
};

extern const element_kind kind_strain, kind_fold, kind_block;

#endif
