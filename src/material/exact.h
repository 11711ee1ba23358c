// Exact elastic forces and Jacobians of single elements, in plain scalar code that shares nothing with the kernels.
#ifndef WEFT_EXACT_H
#define WEFT_EXACT_H

#include "math/vec.h"

void membrane_exact(const double* rest, const vec3* x, double* force, double* jacobian);
void taut_exact(const double* rest, const vec3* x, double* force, double* jacobian);
void hinge_exact(const double* rest, const vec3* x, double* force, double* jacobian);
void beyond_exact(const double* rest, const vec3* x, double* force, double* jacobian);
void curvature_exact(const double* rest, const vec3* x, double* force, double* jacobian);

#endif
