// Bounds of eigenvalues for methods that take elements explicitly; see element_criterion_fn.
#ifndef WEFT_CRITERION_H
#define WEFT_CRITERION_H

#include "material/material.h"

element_criterion_fn spring_criterion, membrane_criterion, factor_criterion, fold_criterion, air_criterion;
connection_fn spring_connection;

#endif
