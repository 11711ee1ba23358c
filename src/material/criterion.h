// Bounds of eigenvalues for methods that take elements explicitly; see element_criterion_fn.
#ifndef WEFT_CRITERION_H
#define WEFT_CRITERION_H

#include "material/material.h"
#include "material/spring.h"

element_criterion_fn spring_criterion, membrane_criterion, taut_criterion, factor_criterion, fold_criterion, air_criterion;
element_role_fn spring_role_of;
element_role element_role_of_spring(spring_role role);

#endif
