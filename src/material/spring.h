// Layout of the spring kind's rest data, and springs as models add them.
#ifndef WEFT_SPRING_H
#define WEFT_SPRING_H

#include "material/material.h"

enum
{
    SPRING_STIFFNESS, // N/m
    SPRING_LENGTH,    // m, zero is legal
    SPRING_DAMPING,   // s, times the stiffness
    SPRING_ROLE,      // spring_role, for energies by name
    SPRING_STRIDE
};

typedef enum spring_role
{
    SPRING_STRETCH,
    SPRING_SHEAR,
    SPRING_BEND
} spring_role;

extern const element_kind kind_spring;

// There is room for it.
void spring_add(element_group* group, int a, int b, double stiffness, double length, double damping, spring_role role);

// Stiffness of a spring over two edges of lengths s1 and s2 that fold by `fold` at rest, N/m: with it the spring and a
// bending rigidity (N m^2) have one energy when the fold grows by half a radian.
double spring_bending(double rigidity, double s1, double s2, double fold);

// The parts of the model `hooke` that are not about sheets.
weft_status hooke_append_lines(element_group* group, const cloth_shape* shape);
weft_status hooke_append_solid(element_group* group, const cloth_shape* shape);

#endif
