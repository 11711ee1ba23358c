// See big.h.
#include "collide/big.h"

#include <math.h>
#include <string.h>

static uint64_t* pool_take(big_pool* pool, int count)
{
    // The callers' bound on sizes is what keeps this true (ccd_exact.c).
    WEFT_ASSERT(count <= pool->capacity - pool->used);
    uint64_t* digits = pool->digits + pool->used;
    pool->used += count;
    pool->most = int_max(pool->most, pool->used);
    return digits;
}

// The number of `size` digits just taken from the pool, without leading zeros; what they took goes back.
static big big_finish(big_pool* pool, int sign, uint64_t* digits, int size)
{
    while (size > 0 && digits[size - 1] == 0)
    {
        size--;
    }
    pool->used = (int)(digits - pool->digits) + size;
    return (big){size ? sign : 0, size, digits};
}

big big_from_uint(big_pool* pool, uint64_t value)
{
    uint64_t* digits = pool_take(pool, 1);
    digits[0] = value;
    return big_finish(pool, 1, digits, 1);
}

big big_from_double(big_pool* pool, double value, int exponent)
{
    if (value == 0.0)
    {
        return (big){0};
    }
    int own;
    uint64_t mantissa = (uint64_t)ldexp(frexp(fabs(value), &own), 53);
    int shift = own - 53 - exponent;
    big whole = big_from_uint(pool, mantissa);
    whole = shift >= 0 ? big_shift_up(pool, whole, shift) : big_shift_down(pool, whole, -shift);
    return value < 0.0 ? big_negate(whole) : whole;
}

big big_negate(big a)
{
    a.sign = -a.sign;
    return a;
}

// ---- sums

static int compare_size(big a, big b)
{
    if (a.size != b.size)
    {
        return a.size < b.size ? -1 : 1;
    }
    for (int k = a.size - 1; k >= 0; k--)
    {
        if (a.digits[k] != b.digits[k])
        {
            return a.digits[k] < b.digits[k] ? -1 : 1;
        }
    }
    return 0;
}

// |a| + |b| with that sign; a has at least the digits of b.
static big add_sizes(big_pool* pool, int sign, big a, big b)
{
    uint64_t* out = pool_take(pool, a.size + 1);
    unsigned char carry = 0;
    for (int k = 0; k < a.size; k++)
    {
        unsigned __int128 sum = (unsigned __int128)a.digits[k] + (k < b.size ? b.digits[k] : 0) + carry;
        out[k] = (uint64_t)sum;
        carry = (unsigned char)(sum >> 64);
    }
    out[a.size] = carry;
    return big_finish(pool, sign, out, a.size + 1);
}

// |a| - |b| with that sign; |a| > |b|.
static big sub_sizes(big_pool* pool, int sign, big a, big b)
{
    uint64_t* out = pool_take(pool, a.size);
    unsigned char borrow = 0;
    for (int k = 0; k < a.size; k++)
    {
        unsigned __int128 difference = (unsigned __int128)a.digits[k] - (k < b.size ? b.digits[k] : 0) - borrow;
        out[k] = (uint64_t)difference;
        borrow = (difference >> 64) != 0;
    }
    return big_finish(pool, sign, out, a.size);
}

big big_add(big_pool* pool, big a, big b)
{
    if (a.sign == 0 || b.sign == 0)
    {
        return a.sign == 0 ? b : a;
    }
    int order = compare_size(a, b);
    if (a.sign == b.sign)
    {
        return order >= 0 ? add_sizes(pool, a.sign, a, b) : add_sizes(pool, a.sign, b, a);
    }
    if (order == 0)
    {
        return (big){0};
    }
    return order > 0 ? sub_sizes(pool, a.sign, a, b) : sub_sizes(pool, b.sign, b, a);
}

big big_sub(big_pool* pool, big a, big b)
{
    return big_add(pool, a, big_negate(b));
}

// ---- products and shifts

big big_mul(big_pool* pool, big a, big b)
{
    if (a.sign == 0 || b.sign == 0)
    {
        return (big){0};
    }
    int size = a.size + b.size;
    uint64_t* out = pool_take(pool, size);
    memset(out, 0, (size_t)size * sizeof(uint64_t));
    for (int i = 0; i < a.size; i++)
    {
        uint64_t carry = 0;
        for (int k = 0; k < b.size; k++)
        {
            unsigned __int128 sum = (unsigned __int128)a.digits[i] * b.digits[k] + out[i + k] + carry;
            out[i + k] = (uint64_t)sum;
            carry = (uint64_t)(sum >> 64);
        }
        out[i + b.size] = carry;
    }
    return big_finish(pool, a.sign * b.sign, out, size);
}

big big_shift_up(big_pool* pool, big a, int bits)
{
    if (a.sign == 0 || bits == 0)
    {
        return a;
    }
    int whole = bits / 64, part = bits % 64, size = a.size + whole + 1;
    uint64_t* out = pool_take(pool, size);
    memset(out, 0, (size_t)size * sizeof(uint64_t));
    for (int k = 0; k < a.size; k++)
    {
        out[k + whole] |= a.digits[k] << part;
        out[k + whole + 1] = part ? a.digits[k] >> (64 - part) : 0;
    }
    return big_finish(pool, a.sign, out, size);
}

big big_shift_down(big_pool* pool, big a, int bits)
{
    int whole = bits / 64, part = bits % 64, size = a.size - whole;
    if (bits == 0 || size <= 0)
    {
        return size <= 0 ? (big){0} : a;
    }
    uint64_t* out = pool_take(pool, size);
    for (int k = 0; k < size; k++)
    {
        uint64_t above = k + whole + 1 < a.size ? a.digits[k + whole + 1] : 0;
        out[k] = a.digits[k + whole] >> part | (part ? above << (64 - part) : 0);
    }
    return big_finish(pool, a.sign, out, size);
}

int big_trailing_zeros(big a)
{
    int k = 0;
    while (a.digits[k] == 0)
    {
        k++;
    }
    return 64 * k + __builtin_ctzll(a.digits[k]);
}

double big_to_double(big a)
{
    WEFT_ASSERT(a.sign >= 0 && a.size <= 1);
    return a.sign == 0 ? 0.0 : (double)a.digits[0];
}

// ---- polynomials

static void poly_trim(poly* a)
{
    while (a->degree >= 0 && a->c[a->degree].sign == 0)
    {
        a->degree--;
    }
}

poly poly_linear(big constant, big slope)
{
    poly a = {.degree = 1, .c = {constant, slope}};
    poly_trim(&a);
    return a;
}

poly poly_negate(const poly* a)
{
    poly out = *a;
    for (int i = 0; i <= a->degree; i++)
    {
        out.c[i] = big_negate(a->c[i]);
    }
    return out;
}

poly poly_add(big_pool* pool, const poly* a, const poly* b)
{
    poly out = {.degree = int_max(a->degree, b->degree)};
    for (int i = 0; i <= out.degree; i++)
    {
        big left = i <= a->degree ? a->c[i] : (big){0};
        big right = i <= b->degree ? b->c[i] : (big){0};
        out.c[i] = big_add(pool, left, right);
    }
    poly_trim(&out);
    return out;
}

poly poly_sub(big_pool* pool, const poly* a, const poly* b)
{
    poly minus = poly_negate(b);
    return poly_add(pool, a, &minus);
}

poly poly_mul(big_pool* pool, const poly* a, const poly* b)
{
    poly out = {.degree = -1};
    if (a->degree < 0 || b->degree < 0)
    {
        return out;
    }
    out.degree = a->degree + b->degree;
    WEFT_ASSERT(out.degree < POLY_TERMS);
    for (int i = 0; i <= a->degree; i++)
    {
        for (int k = 0; k <= b->degree; k++)
        {
            out.c[i + k] = big_add(pool, out.c[i + k], big_mul(pool, a->c[i], b->c[k]));
        }
    }
    return out;
}

dyadic big_keep(big_pool* pool, int mark, dyadic point)
{
    uint64_t* digits = pool->digits + mark;
    if (point.numerator.size > 0)
    {
        memmove(digits, point.numerator.digits, (size_t)point.numerator.size * sizeof(uint64_t));
    }
    pool->used = mark + point.numerator.size;
    point.numerator.digits = digits;
    return point;
}

int poly_sign(big_pool* pool, const poly* a, dyadic at)
{
    if (a->degree < 0)
    {
        return 0;
    }
    // Horner's rule on 2^(shift degree) a(at).
    int mark = pool->used;
    big sum = a->c[a->degree];
    for (int i = a->degree - 1; i >= 0; i--)
    {
        big next = big_shift_up(pool, a->c[i], at.shift * (a->degree - i));
        sum = big_add(pool, big_mul(pool, sum, at.numerator), next);
    }
    pool->used = mark;
    return sum.sign;
}

// One division by 2^shift t - numerator, which leaves no remainder. The quotient of a whole polynomial by a primitive
// one is whole (Gauss), so that the shifts down lose nothing.
static poly poly_divide(big_pool* pool, const poly* a, dyadic root)
{
    poly out = {.degree = a->degree - 1};
    big above = {0};
    for (int i = a->degree; i >= 1; i--)
    {
        big sum = big_add(pool, a->c[i], big_mul(pool, root.numerator, above));
        above = big_shift_down(pool, sum, root.shift);
        out.c[i - 1] = above;
    }
    return out;
}

poly poly_deflate(big_pool* pool, const poly* a, dyadic at)
{
    poly out = *a;
    while (out.degree > 0 && poly_sign(pool, &out, at) == 0)
    {
        out = poly_divide(pool, &out, at);
    }
    return out;
}

// ---- chains

static poly poly_derivative(big_pool* pool, const poly* a)
{
    poly out = {.degree = a->degree - 1};
    for (int i = 1; i <= a->degree; i++)
    {
        out.c[i - 1] = big_mul(pool, a->c[i], big_from_uint(pool, (uint64_t)i));
    }
    return out;
}

// Takes out the power of two that all coefficients share.
static poly poly_reduce(big_pool* pool, const poly* a)
{
    int shared = INT32_MAX;
    for (int i = 0; i <= a->degree; i++)
    {
        if (a->c[i].sign != 0)
        {
            shared = int_min(shared, big_trailing_zeros(a->c[i]));
        }
    }
    poly out = *a;
    for (int i = 0; i <= a->degree; i++)
    {
        out.c[i] = big_shift_down(pool, a->c[i], a->c[i].sign ? shared : 0);
    }
    return out;
}

// a modulo b, times a positive number: each step multiplies by |lead of b|, so that signs stay.
static poly poly_remainder(big_pool* pool, const poly* a, const poly* b)
{
    poly rest = *a;
    big lead = b->c[b->degree];
    while (rest.degree >= b->degree)
    {
        int shift = rest.degree - b->degree;
        big top = lead.sign > 0 ? rest.c[rest.degree] : big_negate(rest.c[rest.degree]);
        for (int i = 0; i < rest.degree; i++)
        {
            big scaled = big_mul(pool, rest.c[i], lead.sign > 0 ? lead : big_negate(lead));
            big taken = i >= shift ? big_mul(pool, top, b->c[i - shift]) : (big){0};
            rest.c[i] = big_sub(pool, scaled, taken);
        }
        rest.degree--;
        poly_trim(&rest);
    }
    return poly_reduce(pool, &rest);
}

poly_chain poly_chain_make(big_pool* pool, const poly* F, const poly* G)
{
    WEFT_ASSERT(F->degree > 0);
    poly_chain chain = {.count = 1, .item = {*F}};
    poly next = poly_derivative(pool, F);
    if (G)
    {
        // Only G modulo F counts, and likewise F' G: fewer terms, smaller numbers.
        poly reduced = poly_remainder(pool, G, F);
        next = poly_mul(pool, &next, &reduced);
        next = poly_remainder(pool, &next, F);
    }
    while (next.degree >= 0)
    {
        chain.item[chain.count++] = next;
        if (next.degree == 0)
        {
            break;
        }
        poly rest = poly_remainder(pool, &chain.item[chain.count - 2], &next);
        next = poly_negate(&rest);
    }
    return chain;
}

int poly_chain_changes(big_pool* pool, const poly_chain* chain, dyadic at)
{
    int changes = 0, last = 0;
    for (int k = 0; k < chain->count; k++)
    {
        int sign = poly_sign(pool, &chain->item[k], at);
        changes += sign * last < 0;
        last = sign ? sign : last;
    }
    return changes;
}
