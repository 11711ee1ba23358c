// What tests share: cmocka with its headers, random numbers, a dense symmetric eigenvalue solver, temporary folders.
#ifndef WEFT_TEST_COMMON_H
#define WEFT_TEST_COMMON_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "math/vec.h"

// Uniform in [low, high) from a counter that the test owns.
double test_random(uint64_t* counter, double low, double high);
vec3 test_random_vec(uint64_t* counter, double size);

// Eigenvalues of a symmetric n x n matrix by Jacobi rotations (the matrix is destroyed).
void test_eigenvalues(double* a, int n, double* values);

// A new empty folder; removed with test_folder_remove.
const char* test_folder(char* path /* [256] */);
void test_folder_remove(const char* path);

#endif
