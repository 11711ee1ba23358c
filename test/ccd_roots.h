// Polynomials of degree 3 and less with whole coefficients of any size (GMP), and their real roots in (0, 1] as
// algebraic numbers at which the sign of any other such polynomial is known exactly. For the oracle of continuous
// collision alone: GMP is under the LGPL and never in the library or the command.
#ifndef WEFT_TEST_CCD_ROOTS_H
#define WEFT_TEST_CCD_ROOTS_H

#include <gmp.h>
#include <stdbool.h>

typedef struct poly
{
    int degree; // -1: the zero polynomial
    mpz_t c[4]; // coefficients of 1, t, t^2, t^3; those above the degree are 0
} poly;

void poly_init(poly* p);
void poly_clear(poly* p);
void poly_trim(poly* p); // sets the degree from the coefficients
// out may not be an argument.
void poly_subtract(poly* out, const poly* a, const poly* b);
void poly_multiply(poly* out, const poly* a, const poly* b);          // degrees add up to 3 at most
void poly_multiply_add(poly* out, const poly* a, const poly* b);      // out += a b
void poly_multiply_subtract(poly* out, const poly* a, const poly* b); // out -= a b
// The sign of p at n / 2^k.
int poly_sign(const poly* p, const mpz_t n, unsigned long k);
// The sign of p on the whole of [n / 2^k, (n + 1) / 2^k], 0 when a simple test cannot tell.
int poly_sign_on(const poly* p, const mpz_t n, unsigned long k);

// A number: n / 2^k itself, or the one root of p in the open interval from n / 2^k to (n + 1) / 2^k.
typedef struct root
{
    poly p; // square-free
    mpz_t n;
    unsigned long k;
    bool exact;
    int sign_left; // of p between the left end and the root
} root;

void root_init(root* r);
void root_clear(root* r);
void root_set_zero(root* r); // the number 0
// The distinct roots of p, which is not zero, in (0, 1] in rising order; how many.
int poly_roots(const poly* p, root out[3]);
// Halves intervals until k is at least this.
void root_refine(root* r, unsigned long k);
// The sign of q at the number, 0 only where it is exactly 0. May refine r.
int root_sign(root* r, const poly* q);
// Whether the number is below x, exactly. x is finite.
bool root_is_below(const root* r, double x);
// The interval in doubles, rounded outward; wider than 2^-k by at most two times 2^-53.
void root_bounds(const root* r, double* low, double* high);

#endif
