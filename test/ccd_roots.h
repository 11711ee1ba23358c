// Polynomials of degree 3 and less with whole coefficients of any size (GMP), and their real roots in (0, 1] as
// algebraic numbers at which the sign of any other such polynomial is known exactly. For the oracle of continuous
// collision alone: GMP is under the LGPL and never in the library or the command.
#ifndef WEFT_TEST_CCD_ROOTS_H
#define WEFT_TEST_CCD_ROOTS_H

#include <gmp.h>
#include <stdbool.h>

typedef struct zpoly
{
    int degree; // -1: the zero polynomial
    mpz_t c[4]; // coefficients of 1, t, t^2, t^3; those above the degree are 0
} zpoly;

void zpoly_init(zpoly* p);
void zpoly_clear(zpoly* p);
void zpoly_trim(zpoly* p); // sets the degree from the coefficients
// out may not be an argument.
void zpoly_subtract(zpoly* out, const zpoly* a, const zpoly* b);
void zpoly_multiply(zpoly* out, const zpoly* a, const zpoly* b);          // degrees add up to 3 at most
void zpoly_multiply_add(zpoly* out, const zpoly* a, const zpoly* b);      // out += a b
void zpoly_multiply_subtract(zpoly* out, const zpoly* a, const zpoly* b); // out -= a b
// The sign of p at n / 2^k.
int zpoly_sign(const zpoly* p, const mpz_t n, unsigned long k);
// The sign of p on the whole of [n / 2^k, (n + 1) / 2^k], 0 when a simple test cannot tell.
int zpoly_sign_on(const zpoly* p, const mpz_t n, unsigned long k);

// A number: n / 2^k itself, or the one root of p in the open interval from n / 2^k to (n + 1) / 2^k.
typedef struct zroot
{
    zpoly p; // square-free
    mpz_t n;
    unsigned long k;
    bool exact;
    int sign_left; // of p between the left end and the root
} zroot;

void zroot_init(zroot* r);
void zroot_clear(zroot* r);
void zroot_set_zero(zroot* r); // the number 0
// The distinct roots of p, which is not zero, in (0, 1] in rising order; how many.
int zpoly_roots(const zpoly* p, zroot out[3]);
// Halves intervals until k is at least this.
void zroot_refine(zroot* r, unsigned long k);
// The sign of q at the number, 0 only where it is exactly 0. May refine r.
int zroot_sign(zroot* r, const zpoly* q);
// Whether the number is below x, exactly. x is finite.
bool zroot_is_below(const zroot* r, double x);
// The interval in doubles, rounded outward; wider than 2^-k by at most two times 2^-53.
void zroot_bounds(const zroot* r, double* low, double* high);

#endif
