// Connections of `choi-ko` on triangles that follow no threads: one-sided strains in the material's directions. Layout
// of their rest data; the equations are in weave_kernel.c.
#ifndef WEFT_WEAVE_H
#define WEFT_WEAVE_H

#include "material/connection.h"

// A thread of a triangle: w = B1 (x1 - x0) + B2 (x2 - x0), of length 1 at rest.
enum
{
    THREAD_B1, // 1/m
    THREAD_B2,
    THREAD_STIFFNESS, // N m, that of the material times area
    THREAD_DAMPING,   // N m s
    THREAD_FORM,      // damper_form
    THREAD_STRIDE
};

// The shear of a triangle between its threads w_u and w_v: both maps, as the membrane has them.
enum
{
    SKEW_MAP,           // four numbers, 1/m
    SKEW_STIFFNESS = 4, // N m
    SKEW_DAMPING,       // N m s
    SKEW_FORM,
    SKEW_STRIDE
};

// How far shear may be below what acts: rounding; and how far beyond it a linear step has to lead (AHEAD_STRETCH).
#define SKEW_ROUNDED 1e-10
#define SKEW_AHEAD (AHEAD_STRETCH - 1.0)

extern const element_kind kind_thread, kind_skew;

// Of every triangle: warp, weft and shear. Groups of both kinds are there.
weft_status weave_append(element_groups* groups, const cloth_shape* shape);

// Shear at the columns of a deformation gradient: how far it is beyond what slack threads leave free, its gradient by
// both columns, and which threads are slack.
typedef struct skew_strain
{
    double s, sign;
    bool slack[2];
    vec3 gradient[2];
} skew_strain;

skew_strain skew_of(vec3 wu, vec3 wv);

#endif
