// Integers of variable length, just enough for the signs of determinants of coordinates.
#ifndef WEFT_BIGINT_H
#define WEFT_BIGINT_H

#include "core/core.h"

enum
{
    // Coordinates are at most 1e100 < 2^333 and multiples of 2^-1074: scaled to integers they have 1407 bits. A product
    // of three differences has 3 * 1408, a sum of 2^33 of them 33 more: 4257 bits, 134 limbs.
    BIGINT_LIMBS = 136
};

// sign * sum of limb[k] 2^(32 k). Zero has sign 0 and count 0; otherwise the highest limb is not zero.
typedef struct bigint
{
    int sign;
    int count;
    uint32_t limb[BIGINT_LIMBS];
} bigint;

// The exponent of the lowest bit of a finite double; INT32_MAX for zero.
int double_lowest_bit(double x);
// x / 2^exponent, where exponent is at most double_lowest_bit(x).
void bigint_from_double(double x, int exponent, bigint* out);
void bigint_add(const bigint* a, const bigint* b, bigint* out); // out may be a or b
void bigint_sub(const bigint* a, const bigint* b, bigint* out); // out may be a or b
void bigint_mul(const bigint* a, const bigint* b, bigint* out); // out is neither a nor b

#endif
