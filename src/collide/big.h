// Integers of any length, and polynomials over them: the exact arithmetic behind continuous collision detection.
//
// A big is a value that never changes: every operation makes a new one, whose digits come from a pool that the caller
// gives and takes back by a mark. Sizes here are small (3 to 12 digits of 64 bits as a rule, some 300 at worst), so the
// products are those of school.
#ifndef WEFT_BIG_H
#define WEFT_BIG_H

#include <stdbool.h>
#include <stdint.h>

#include "core/core.h"

// Digits are handed out from [used, capacity). Setting `used` back to an earlier value takes back what came after it.
typedef struct big_pool
{
    uint64_t* digits; // [capacity]
    int used, capacity;
    int most; // largest `used` so far
} big_pool;

typedef struct big
{
    int sign;               // -1, 0, 1
    int size;               // digits, the last one not zero; 0 for zero
    const uint64_t* digits; // least significant first
} big;

big big_from_double(big_pool* pool, double value, int exponent); // value * 2^-exponent, which must be whole
big big_from_uint(big_pool* pool, uint64_t value);
big big_negate(big a);
big big_add(big_pool* pool, big a, big b);
big big_sub(big_pool* pool, big a, big b);
big big_mul(big_pool* pool, big a, big b);
big big_shift_up(big_pool* pool, big a, int bits);   // a * 2^bits
big big_shift_down(big_pool* pool, big a, int bits); // a / 2^bits, cut towards zero
int big_trailing_zeros(big a);                       // bits; a is not zero
double big_to_double(big a);                         // a >= 0, below 2^53: exact

// ---- polynomials

enum
{
    POLY_TERMS = 6
};

// sum of c[i] t^i, i <= degree; degree -1: zero. c[degree] is not zero.
typedef struct poly
{
    int degree;
    big c[POLY_TERMS];
} poly;

poly poly_linear(big constant, big slope);
poly poly_negate(const poly* a);
poly poly_add(big_pool* pool, const poly* a, const poly* b);
poly poly_sub(big_pool* pool, const poly* a, const poly* b);
poly poly_mul(big_pool* pool, const poly* a, const poly* b);

// The number numerator / 2^shift.
typedef struct dyadic
{
    big numerator;
    int shift;
} dyadic;

dyadic big_keep(big_pool* pool, int mark, dyadic point); // moves its digits down to the mark and takes all others back
int poly_sign(big_pool* pool, const poly* a, dyadic at);
// a without its root `at`, as often as it is one; numerator odd, or shift 0. Up to a positive factor.
poly poly_deflate(big_pool* pool, const poly* a, dyadic at);

// ---- signs at roots (Tarski's query)

// The signed remainders of F and F' G. Between two points that are no roots of F, the loss of sign changes is the sum
// of the signs of G at the roots of F there, each root counted once, multiple or not (Basu, Pollack, Roy, "Algorithms
// in Real Algebraic Geometry", theorem 2.73). G = 1 counts the roots: Sturm's theorem.
typedef struct poly_chain
{
    poly item[POLY_TERMS];
    int count;
} poly_chain;

// G NULL: 1. F is not constant.
poly_chain poly_chain_make(big_pool* pool, const poly* F, const poly* G);
int poly_chain_changes(big_pool* pool, const poly_chain* chain, dyadic at);

#endif
