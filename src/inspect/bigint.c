// Integers of variable length: sign and magnitude in limbs of 32 bits, schoolbook arithmetic. Doubles are dyadic, so
// that a common power of two makes the coordinates of any points integers, and the sign of a determinant of them is
// exact. Nothing is rounded, nothing is allocated. No division.
#include "inspect/bigint.h"

#include <math.h>
#include <string.h>

// x = mantissa * 2^exponent with an odd mantissa; x is finite and not zero.
static uint64_t double_split(double x, int* exponent)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof(bits));
    int biased = (int)(bits >> 52 & 0x7ff);
    uint64_t mantissa = (bits & 0xfffffffffffffu) | (biased > 0 ? (uint64_t)1 << 52 : 0);
    int zeros = __builtin_ctzll(mantissa);
    *exponent = (biased > 0 ? biased : 1) - 1075 + zeros;
    return mantissa >> zeros;
}

int double_lowest_bit(double x)
{
    int exponent = INT32_MAX;
    if (x != 0.0)
    {
        double_split(x, &exponent);
    }
    return exponent;
}

static void bigint_trim(bigint* a)
{
    while (a->count > 0 && a->limb[a->count - 1] == 0)
    {
        a->count--;
    }
    a->sign = a->count > 0 ? a->sign : 0;
}

void bigint_from_double(double x, int exponent, bigint* out)
{
    out->sign = out->count = 0;
    if (x == 0.0)
    {
        return;
    }
    int own;
    uint64_t mantissa = double_split(x, &own);
    int shift = own - exponent, skip = shift / 32;
    WEFT_VALIDATE(shift >= 0 && skip + 3 <= BIGINT_LIMBS);
    memset(out->limb, 0, (size_t)skip * sizeof(uint32_t));
    uint64_t low = mantissa << shift % 32; // the bits that this loses are in `high`
    uint64_t high = shift % 32 ? mantissa >> (64 - shift % 32) : 0;
    out->limb[skip] = (uint32_t)low;
    out->limb[skip + 1] = (uint32_t)(low >> 32);
    out->limb[skip + 2] = (uint32_t)high;
    out->count = skip + 3;
    out->sign = x > 0.0 ? 1 : -1;
    bigint_trim(out);
}

static int compare_magnitudes(const bigint* a, const bigint* b)
{
    if (a->count != b->count)
    {
        return a->count < b->count ? -1 : 1;
    }
    for (int k = a->count - 1; k >= 0; k--)
    {
        if (a->limb[k] != b->limb[k])
        {
            return a->limb[k] < b->limb[k] ? -1 : 1;
        }
    }
    return 0;
}

// |a| + |b| with a's sign, which must not be 0 unless both are zero.
static void add_magnitudes(const bigint* a, const bigint* b, bigint* out)
{
    int count = int_max(a->count, b->count), sign = a->sign;
    uint64_t carry = 0;
    for (int k = 0; k < count; k++)
    {
        carry += (k < a->count ? (uint64_t)a->limb[k] : 0) + (k < b->count ? (uint64_t)b->limb[k] : 0);
        out->limb[k] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry)
    {
        out->limb[count++] = (uint32_t)carry;
    }
    out->count = count;
    out->sign = sign;
}

// |a| - |b| for |a| >= |b|.
static void sub_magnitudes(const bigint* a, const bigint* b, int sign, bigint* out)
{
    int count = a->count, other = b->count;
    int64_t borrow = 0;
    for (int k = 0; k < count; k++)
    {
        int64_t digit = (int64_t)a->limb[k] - (k < other ? (int64_t)b->limb[k] : 0) + borrow;
        out->limb[k] = (uint32_t)digit;
        borrow = digit < 0 ? -1 : 0;
    }
    out->count = count;
    out->sign = sign;
    bigint_trim(out);
}

// a + sign * |b|
static void add_signed(const bigint* a, const bigint* b, int sign, bigint* out)
{
    if (sign == 0)
    {
        *out = *a;
    }
    else if (a->sign == sign)
    {
        add_magnitudes(a, b, out);
    }
    else if (compare_magnitudes(a, b) >= 0)
    {
        sub_magnitudes(a, b, a->sign, out);
    }
    else
    {
        sub_magnitudes(b, a, sign, out);
    }
}

void bigint_add(const bigint* a, const bigint* b, bigint* out)
{
    add_signed(a, b, b->sign, out);
}

void bigint_sub(const bigint* a, const bigint* b, bigint* out)
{
    add_signed(a, b, -b->sign, out);
}

void bigint_mul(const bigint* a, const bigint* b, bigint* out)
{
    WEFT_VALIDATE(a->count + b->count <= BIGINT_LIMBS);
    out->sign = a->sign * b->sign;
    out->count = out->sign ? a->count + b->count : 0;
    memset(out->limb, 0, (size_t)out->count * sizeof(uint32_t));
    for (int i = 0; i < a->count && out->sign; i++)
    {
        uint64_t carry = 0;
        for (int j = 0; j < b->count; j++)
        {
            carry += (uint64_t)a->limb[i] * b->limb[j] + out->limb[i + j];
            out->limb[i + j] = (uint32_t)carry;
            carry >>= 32;
        }
        out->limb[i + b->count] = (uint32_t)carry;
    }
    bigint_trim(out);
}
