// What tests share: cmocka with its headers, random numbers, a dense symmetric eigenvalue solver, temporary folders,
// the shell, a ledger of allocations.
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

// A new empty folder in $TMPDIR, whose name has blanks and an umlaut as users' folders have; removed with
// test_folder_remove.
const char* test_folder(char* path /* [256] */);
void test_folder_remove(const char* path);

// Exit status of a line of the shell that runs in the folder (NULL: where the test is), or minus the signal. There
// "$WEFT" is the command: paths do not become part of the line, which would read their blanks and quotes.
int test_shell(const char* folder, const char* line);

// Counts allocations from test_ledger_open on, and lets one of them fail.
typedef struct test_ledger
{
    int made, live;
    size_t bytes, bytes_most; // live ones, and the most there were
    int fail_at;              // the number of the allocation that fails; 0: none
    int fail_on;              // not 0: all that follow it fail too
} test_ledger;

void test_ledger_open(test_ledger* ledger); // sets the allocator
void test_ledger_close(void);               // sets it back

#endif
