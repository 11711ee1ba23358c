// Roots by Sturm's theorem and bisection; signs at a root by bounds on its interval, and where these stay open, by the
// greatest common divisor: q(root) = 0 exactly when gcd(p, q) has a root in the isolating interval. Nothing here is
// rounded. The chains and divisors use pseudo-division that multiplies by positive numbers alone, so that signs stay.
#include "ccd_roots.h"

#include <math.h>

// ---- polynomials

void zpoly_init(zpoly* p)
{
    p->degree = -1;
    for (int i = 0; i < 4; i++)
    {
        mpz_init(p->c[i]);
    }
}

void zpoly_clear(zpoly* p)
{
    for (int i = 0; i < 4; i++)
    {
        mpz_clear(p->c[i]);
    }
}

void zpoly_trim(zpoly* p)
{
    p->degree = 3;
    while (p->degree >= 0 && mpz_sgn(p->c[p->degree]) == 0)
    {
        p->degree--;
    }
}

static void zpoly_set(zpoly* out, const zpoly* a)
{
    out->degree = a->degree;
    for (int i = 0; i < 4; i++)
    {
        mpz_set(out->c[i], a->c[i]);
    }
}

static void zpoly_set_zero(zpoly* out)
{
    out->degree = -1;
    for (int i = 0; i < 4; i++)
    {
        mpz_set_ui(out->c[i], 0);
    }
}

void zpoly_subtract(zpoly* out, const zpoly* a, const zpoly* b)
{
    for (int i = 0; i < 4; i++)
    {
        mpz_sub(out->c[i], a->c[i], b->c[i]);
    }
    zpoly_trim(out);
}

void zpoly_multiply_add(zpoly* out, const zpoly* a, const zpoly* b)
{
    for (int i = 0; i <= a->degree; i++)
    {
        for (int j = 0; j <= b->degree; j++)
        {
            mpz_addmul(out->c[i + j], a->c[i], b->c[j]);
        }
    }
    zpoly_trim(out);
}

void zpoly_multiply_subtract(zpoly* out, const zpoly* a, const zpoly* b)
{
    for (int i = 0; i <= a->degree; i++)
    {
        for (int j = 0; j <= b->degree; j++)
        {
            mpz_submul(out->c[i + j], a->c[i], b->c[j]);
        }
    }
    zpoly_trim(out);
}

void zpoly_multiply(zpoly* out, const zpoly* a, const zpoly* b)
{
    zpoly_set_zero(out);
    zpoly_multiply_add(out, a, b);
}

// Divides by the greatest common divisor of the coefficients, which is positive.
static void zpoly_make_primitive(zpoly* p)
{
    mpz_t content;
    mpz_init(content);
    for (int i = 0; i <= p->degree; i++)
    {
        mpz_gcd(content, content, p->c[i]);
    }
    for (int i = 0; i <= p->degree; i++)
    {
        mpz_divexact(p->c[i], p->c[i], content);
    }
    mpz_clear(content);
}

static void zpoly_derive(zpoly* out, const zpoly* a)
{
    for (int i = 0; i < 3; i++)
    {
        mpz_mul_ui(out->c[i], a->c[i + 1], (unsigned long)i + 1);
    }
    mpz_set_ui(out->c[3], 0);
    zpoly_trim(out);
}

// a becomes a positive multiple of the remainder of a by b; quotient (may be NULL) that of the quotient.
static void zpoly_reduce(zpoly* a, const zpoly* b, zpoly* quotient)
{
    mpz_t lead, factor;
    mpz_init(lead);
    mpz_init(factor);
    mpz_abs(lead, b->c[b->degree]);
    while (a->degree >= b->degree)
    {
        // |lead(b)| a - sign lead(a) t^shift b has a smaller degree.
        int shift = a->degree - b->degree;
        mpz_set(factor, a->c[a->degree]);
        if (mpz_sgn(b->c[b->degree]) < 0)
        {
            mpz_neg(factor, factor);
        }
        for (int i = 0; i <= a->degree; i++)
        {
            mpz_mul(a->c[i], a->c[i], lead);
        }
        for (int i = 0; i <= b->degree; i++)
        {
            mpz_submul(a->c[i + shift], factor, b->c[i]);
        }
        for (int i = 0; quotient && i < 4; i++)
        {
            mpz_mul(quotient->c[i], quotient->c[i], lead);
        }
        if (quotient)
        {
            mpz_add(quotient->c[shift], quotient->c[shift], factor);
        }
        zpoly_trim(a);
    }
    mpz_clear(lead);
    mpz_clear(factor);
}

int zpoly_sign(const zpoly* p, const mpz_t n, unsigned long k)
{
    if (p->degree <= 0)
    {
        return p->degree < 0 ? 0 : mpz_sgn(p->c[0]);
    }
    mpz_t sum, term;
    mpz_init_set(sum, p->c[p->degree]);
    mpz_init(term);
    for (int i = p->degree - 1; i >= 0; i--)
    {
        mpz_mul(sum, sum, n);
        mpz_mul_2exp(term, p->c[i], k * (unsigned long)(p->degree - i));
        mpz_add(sum, sum, term);
    }
    int sign = mpz_sgn(sum);
    mpz_clear(sum);
    mpz_clear(term);
    return sign;
}

// With t = (n + s) / 2^k the polynomial in s has Bernstein coefficients on [0, 1] whose hull holds its values.
int zpoly_sign_on(const zpoly* p, const mpz_t n, unsigned long k)
{
    static const unsigned long weights[4][4][4] = {
        {{1}},
        {{1}, {1, 1}},
        {{1}, {2, 1}, {1, 1, 1}},
        {{1}, {3, 1}, {3, 2, 1}, {1, 1, 1, 1}},
    };
    int degree = p->degree;
    if (degree <= 0)
    {
        return degree < 0 ? 0 : mpz_sgn(p->c[0]);
    }
    mpz_t a[4], sum;
    mpz_init(sum);
    for (int i = 0; i <= degree; i++)
    {
        mpz_init(a[i]);
        mpz_mul_2exp(a[i], p->c[i], k * (unsigned long)(degree - i));
    }
    for (int pass = 0; pass < degree; pass++)
    {
        for (int i = degree - 1; i >= pass; i--)
        {
            mpz_addmul(a[i], a[i + 1], n);
        }
    }
    int sign = mpz_sgn(a[0]);
    for (int j = 1; j <= degree && sign != 0; j++)
    {
        mpz_set_ui(sum, 0);
        for (int i = 0; i <= j; i++)
        {
            mpz_addmul_ui(sum, a[i], weights[degree][j][i]);
        }
        sign = mpz_sgn(sum) == sign ? sign : 0;
    }
    for (int i = 0; i <= degree; i++)
    {
        mpz_clear(a[i]);
    }
    mpz_clear(sum);
    return sign;
}

// ---- Sturm chains

typedef struct sturm
{
    zpoly of[4];
    int count;
} sturm;

static void sturm_build(sturm* chain, const zpoly* p)
{
    zpoly_set(&chain->of[0], p);
    zpoly_derive(&chain->of[1], p);
    chain->count = chain->of[1].degree >= 0 ? 2 : 1;
    while (chain->count >= 2 && chain->count < 4 && chain->of[chain->count - 1].degree > 0)
    {
        zpoly* next = &chain->of[chain->count];
        zpoly_set(next, &chain->of[chain->count - 2]);
        zpoly_reduce(next, &chain->of[chain->count - 1], NULL);
        if (next->degree < 0)
        {
            break;
        }
        zpoly_make_primitive(next);
        for (int i = 0; i <= next->degree; i++)
        {
            mpz_neg(next->c[i], next->c[i]);
        }
        chain->count++;
    }
}

// Changes of sign along the chain at n / 2^k.
static int sturm_changes(const sturm* chain, const mpz_t n, unsigned long k)
{
    int changes = 0, last = 0;
    for (int i = 0; i < chain->count; i++)
    {
        int sign = zpoly_sign(&chain->of[i], n, k);
        changes += sign * last < 0;
        last = sign != 0 ? sign : last;
    }
    return changes;
}

// ---- roots

void zroot_init(zroot* r)
{
    zpoly_init(&r->p);
    mpz_init(r->n);
    zroot_set_zero(r);
}

void zroot_clear(zroot* r)
{
    zpoly_clear(&r->p);
    mpz_clear(r->n);
}

void zroot_set_zero(zroot* r)
{
    mpz_set_ui(r->n, 0);
    r->k = 0;
    r->exact = true;
}

// The one root in (n / 2^k, (n + 1) / 2^k].
static void zroot_set(zroot* r, const sturm* chain, const mpz_t n, unsigned long k)
{
    zpoly_set(&r->p, &chain->of[0]);
    r->k = k;
    mpz_add_ui(r->n, n, 1);
    r->exact = zpoly_sign(&r->p, r->n, k) == 0;
    if (!r->exact)
    {
        mpz_set(r->n, n);
        // Where the left end is another root, the slope there tells the sign beside it.
        int sign = zpoly_sign(&r->p, n, k);
        r->sign_left = sign != 0 ? sign : zpoly_sign(&chain->of[1], n, k);
    }
}

// Splits (n / 2^k, (n + 1) / 2^k] until each part has one root; left and right are the sign changes at its ends.
static int isolate(const sturm* chain, const mpz_t n, unsigned long k, int left, int right, zroot* out)
{
    if (left == right)
    {
        return 0;
    }
    if (left - right == 1)
    {
        zroot_set(out, chain, n, k);
        return 1;
    }
    mpz_t half;
    mpz_init(half);
    mpz_mul_2exp(half, n, 1);
    mpz_add_ui(half, half, 1);
    int middle = sturm_changes(chain, half, k + 1);
    mpz_sub_ui(half, half, 1);
    int count = isolate(chain, half, k + 1, left, middle, out);
    mpz_add_ui(half, half, 1);
    count += isolate(chain, half, k + 1, middle, right, out + count);
    mpz_clear(half);
    return count;
}

// Divides p by its last Sturm polynomial, the divisor that p shares with its derivative.
static void make_square_free(sturm* chain)
{
    zpoly* shared = &chain->of[chain->count - 1];
    if (shared->degree <= 0)
    {
        return;
    }
    zpoly quotient, rest;
    zpoly_init(&quotient);
    zpoly_init(&rest);
    zpoly_set(&rest, &chain->of[0]);
    zpoly_reduce(&rest, shared, &quotient);
    zpoly_trim(&quotient);
    zpoly_make_primitive(&quotient);
    sturm_build(chain, &quotient);
    zpoly_clear(&quotient);
    zpoly_clear(&rest);
}

int zpoly_roots(const zpoly* p, zroot out[3])
{
    mpz_t zero, one;
    mpz_init(zero);
    int count = 0;
    if (p->degree > 0 && zpoly_sign_on(p, zero, 0) == 0)
    {
        sturm chain;
        mpz_init_set_ui(one, 1);
        for (int i = 0; i < 4; i++)
        {
            zpoly_init(&chain.of[i]);
        }
        sturm_build(&chain, p);
        make_square_free(&chain);
        count = isolate(&chain, zero, 0, sturm_changes(&chain, zero, 0), sturm_changes(&chain, one, 0), out);
        for (int i = 0; i < 4; i++)
        {
            zpoly_clear(&chain.of[i]);
        }
        mpz_clear(one);
    }
    mpz_clear(zero);
    return count;
}

static void halve(zroot* r)
{
    mpz_mul_2exp(r->n, r->n, 1);
    mpz_add_ui(r->n, r->n, 1);
    r->k++;
    int sign = zpoly_sign(&r->p, r->n, r->k);
    r->exact = sign == 0;
    if (sign == -r->sign_left)
    {
        mpz_sub_ui(r->n, r->n, 1);
    }
}

void zroot_refine(zroot* r, unsigned long k)
{
    while (!r->exact && r->k < k)
    {
        halve(r);
    }
}

// Whether p and q share the root: whether their greatest common divisor has one in the interval.
static bool is_shared(const zroot* r, const zpoly* q)
{
    zpoly a, b;
    zpoly_init(&a);
    zpoly_init(&b);
    zpoly_set(&a, &r->p);
    zpoly_set(&b, q);
    zpoly *high = &a, *low = &b;
    while (low->degree >= 0)
    {
        zpoly_reduce(high, low, NULL);
        zpoly_make_primitive(high);
        zpoly* swap = high;
        high = low;
        low = swap;
    }
    bool shared = false;
    if (high->degree > 0)
    {
        // It divides the square-free p: its roots are simple, and none but the root lies inside. Where p has roots at
        // the ends they must not mislead: narrow the interval until it has none.
        zroot inside;
        zroot_init(&inside);
        zpoly_set(&inside.p, &r->p);
        mpz_set(inside.n, r->n);
        inside.k = r->k;
        inside.exact = r->exact;
        inside.sign_left = r->sign_left;
        mpz_t right;
        mpz_init(right);
        for (;; halve(&inside))
        {
            mpz_add_ui(right, inside.n, 1);
            if (inside.exact || (zpoly_sign(&inside.p, inside.n, inside.k) && zpoly_sign(&inside.p, right, inside.k)))
            {
                break;
            }
        }
        shared = inside.exact ? zpoly_sign(high, inside.n, inside.k) == 0
                              : zpoly_sign(high, inside.n, inside.k) * zpoly_sign(high, right, inside.k) < 0;
        mpz_clear(right);
        zroot_clear(&inside);
    }
    zpoly_clear(&a);
    zpoly_clear(&b);
    return shared;
}

int zroot_sign(zroot* r, const zpoly* q)
{
    enum
    {
        EASY = 24 // bits of the interval up to which bounds are tried before the divisor
    };
    if (q->degree < 0)
    {
        return 0;
    }
    bool divisor_known = false;
    while (!r->exact)
    {
        int sign = zpoly_sign_on(q, r->n, r->k);
        if (sign != 0)
        {
            return sign;
        }
        if (r->k >= EASY && !divisor_known)
        {
            if (is_shared(r, q))
            {
                return 0;
            }
            divisor_known = true;
        }
        zroot_refine(r, r->k + 4);
    }
    return zpoly_sign(q, r->n, r->k);
}

bool zroot_is_below(const zroot* r, double x)
{
    if (x <= 0.0)
    {
        return false;
    }
    // x = whole / 2^shift
    int exponent;
    mpz_t whole, own;
    mpz_init_set_d(whole, ldexp(frexp(x, &exponent), 53));
    mpz_init(own);
    long shift = 53 - (long)exponent;
    if (shift < 0)
    {
        mpz_mul_2exp(whole, whole, (unsigned long)-shift);
        shift = 0;
    }
    // Both over the larger of the denominators.
    unsigned long k = r->k > (unsigned long)shift ? r->k : (unsigned long)shift;
    mpz_mul_2exp(whole, whole, k - (unsigned long)shift);
    mpz_mul_2exp(own, r->n, k - r->k);
    bool below = mpz_cmp(own, whole) < 0;
    if (!r->exact && below)
    {
        mpz_add_ui(own, r->n, 1);
        mpz_mul_2exp(own, own, k - r->k);
        below = mpz_cmp(own, whole) <= 0 || zpoly_sign(&r->p, whole, k) == -r->sign_left;
    }
    mpz_clear(whole);
    mpz_clear(own);
    return below;
}

void zroot_bounds(const zroot* r, double* low, double* high)
{
    mpz_t n;
    mpz_init_set(n, r->n);
    unsigned long over = r->k > 53 ? r->k - 53 : 0;
    long k = (long)(r->k - over);
    mpz_fdiv_q_2exp(n, r->n, over);
    *low = ldexp(mpz_get_d(n), (int)-k);
    mpz_add_ui(n, r->n, r->exact ? 0 : 1);
    mpz_cdiv_q_2exp(n, n, over);
    *high = ldexp(mpz_get_d(n), (int)-k);
    mpz_clear(n);
}
