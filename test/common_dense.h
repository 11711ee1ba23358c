// Dense matrices in long double, row by row, by plain loops: truths of tests that share no code with the library.
#ifndef WEFT_TEST_COMMON_DENSE_H
#define WEFT_TEST_COMMON_DENSE_H

void test_dense_apply(const long double* m, long double* x, int size); // x <- m x
void test_dense_product(const long double* a, const long double* b, long double* out, int size);
// y <- a^-1 y by elimination; a is destroyed. With row pivots, none of which may be zero.
void test_dense_solve(long double* a, long double* y, int size);
// Without pivots: a is positive definite, and the test fails where it is not.
void test_dense_solve_definite(long double* a, long double* y, int size);

#endif
