// Constraint forms of element kinds (material.h), in plain scalar code.
#ifndef WEFT_CONSTRAINTS_H
#define WEFT_CONSTRAINTS_H

#include "material/material.h"

element_constraint_fn spring_constraint, membrane_constraint, taut_constraint, hinge_constraint, curvature_constraint;

#endif
