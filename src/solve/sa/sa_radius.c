// The spectral radius of D^-1 A on a level: by Lanczos, or by a bound where one is proved (section 7).
#include <math.h>
#include <string.h>

#include "solve/sa/sa.h"

enum
{
    LANCZOS_SEED = 20150811,
    LANCZOS_DEFAULT = 10,
    LANCZOS_MAX = 100,
    SCALAR_GRAIN = 4096,
    STIFFEN_MAX = 4,
    STIFFEN_LOOK = 5 // Lanczos iterations after each, from what the last ones found
};

double sa_tridiagonal_max(const double* diagonal, const double* off, int count)
{
    double low = diagonal[0], high = diagonal[0];
    for (int k = 0; k < count; k++)
    {
        double reach = (k > 0 ? fabs(off[k - 1]) : 0.0) + (k + 1 < count ? fabs(off[k]) : 0.0);
        high = fmax(high, diagonal[k] + reach);
        low = fmax(low, diagonal[k]);
    }
    // Sturm: x is above all eigenvalues when all pivots of T - x are negative.
    for (int round = 0; round < 60 && high - low > 1e-14 * fabs(high); round++)
    {
        double x = 0.5 * (low + high), pivot = diagonal[0] - x;
        bool above = pivot < 0.0;
        for (int k = 1; k < count && above; k++)
        {
            pivot = diagonal[k] - x - off[k - 1] * off[k - 1] / pivot;
            above = pivot < 0.0;
        }
        *(above ? &high : &low) = x;
    }
    return high;
}

typedef struct real_fill
{
    void* v;
    const void* from;
    double scale;
    int precision;
} real_fill;

static void fill_random(void* context, int begin, int end)
{
    real_fill* f = context;
    for (int k = begin; k < end; k++)
    {
        double value = random_unit(LANCZOS_SEED, (uint64_t)k) - 0.5;
        f->precision == 32 ? (void)(((float*)f->v)[k] = (float)value) : (void)(((double*)f->v)[k] = value);
    }
}

// v = first a + second b
typedef struct real_mix
{
    void* v;
    const void *a, *b;
    double first, second;
    int precision;
} real_mix;

static void fill_mixed(void* context, int begin, int end)
{
    real_mix* m = context;
    for (int k = begin; k < end; k++)
    {
        if (m->precision == 32)
        {
            ((float*)m->v)[k] = (float)m->first * ((const float*)m->a)[k] + (float)m->second * ((const float*)m->b)[k];
        }
        else
        {
            ((double*)m->v)[k] = m->first * ((const double*)m->a)[k] + m->second * ((const double*)m->b)[k];
        }
    }
}

static void fill_scaled(void* context, int begin, int end)
{
    real_fill* f = context;
    for (int k = begin; k < end; k++)
    {
        if (f->precision == 32)
        {
            ((float*)f->v)[k] = (float)f->scale * ((const float*)f->from)[k];
        }
        else
        {
            ((double*)f->v)[k] = f->scale * ((const double*)f->from)[k];
        }
    }
}

// What a Lanczos step divides by: D, or M of the incomplete factor. y -= c1 b, d = M^-1 y; returns y . d.
static double scale(sa_hierarchy* h, sa_level* l, bool incomplete, sa_pass* pass)
{
    int grain = sa_grain(l->block);
    if (!incomplete)
    {
        return parallel_sum(h->pool, l->rows, grain, sa_passes_for(h, l)->lanczos_scale, pass);
    }
    const sa_incomplete_kernels* kernels = sa_incomplete_kernels_for(h->cpu);
    parallel_for(h->pool, l->rows, grain, kernels->subtract, pass);
    sa_sweep sweep = {.level = l, .b = pass->y, .to = pass->d, .omega = 1.0};
    sa_incomplete_sweep(h, &sweep);
    return parallel_sum(h->pool, l->rows, grain, kernels->dot, pass);
}

// The eigenvector of the largest eigenvalue of a tridiagonal matrix, by inverse iteration from just above it, where all
// pivots have one sign.
static void tridiagonal_top(const double* diagonal, const double* off, int count, double* y)
{
    enum
    {
        ROUNDS = 3
    };
    double above = (1.0 + 1e-10) * sa_tridiagonal_max(diagonal, off, count), pivot[LANCZOS_MAX], length = 0.0;
    for (int k = 0; k < count; k++)
    {
        pivot[k] = fmax(1e-14 * above, above - diagonal[k] - (k > 0 ? off[k - 1] * off[k - 1] / pivot[k - 1] : 0.0));
        y[k] = 1.0;
    }
    for (int round = 0; round < ROUNDS; round++)
    {
        for (int k = 1; k < count; k++)
        {
            y[k] += off[k - 1] / pivot[k - 1] * y[k - 1];
        }
        length = 0.0;
        for (int k = count - 1; k >= 0; k--)
        {
            y[k] = (y[k] + (k + 1 < count ? off[k] * y[k + 1] : 0.0)) / pivot[k];
            length += y[k] * y[k];
        }
        for (int k = 0; k < count; k++)
        {
            y[k] /= sqrt(length);
        }
    }
}

// The Ritz vector of the largest Ritz value, as p is: what the next refresh starts from. Values change little from step
// to step, so that two iterations a step follow the eigenvector as well as many would.
static void keep_top(const sa_hierarchy* h, sa_level* l, const double* weight, const void* const* p, int count)
{
    real_mix mix = {l->top, p[0], p[1], weight[0], weight[1], h->precision};
    for (int k = 1; k < count; k++)
    {
        mix.b = p[k];
        mix.second = weight[k];
        parallel_for(h->pool, l->rows * l->block, SCALAR_GRAIN, fill_mixed, &mix);
        mix.a = l->top;
        mix.first = 1.0;
    }
}

// x times the third power of the mean of D^-1: where much was eliminated much was left out, too.
static void weigh_rows(void* context, int begin, int end)
{
    const sa_level* l = context;
    for (int i = begin; i < end; i++)
    {
        const float* pivot = l->incomplete->pivot + 9 * (size_t)l->incomplete->rank[i];
        float mean = (pivot[0] + pivot[4] + pivot[8]) / 3.0F, *x = (float*)l->x + 3 * (size_t)i;
        for (int c = 0; c < 3; c++)
        {
            x[c] *= mean * mean * mean;
        }
    }
}

// What Lanczos starts from: at random, or what was found last. New contacts may spoil an incomplete factor in places
// where that is zero, so there it is both, of equal size; and A times a random vector, since M^-1 of a random one is
// little but soft modes. Weights find a radius of 2.1 in six iterations where ten are needed without.
static void first_vector(const sa_hierarchy* h, const sa_level* l, bool incomplete, bool kept, void* w)
{
    int unknowns = l->rows * l->block;
    real_fill fill = {incomplete ? l->x : w, l->top, 1.0, h->precision};
    parallel_for(h->pool, unknowns, SCALAR_GRAIN, kept && !incomplete ? fill_scaled : fill_random, &fill);
    if (incomplete)
    {
        parallel_for(h->pool, l->rows, ROW_GRAIN, weigh_rows, (void*)l);
        sa_pass pass = {.level = l, .x = l->x, .b = l->x, .y = w};
        double energy = parallel_sum(h->pool, l->rows, ROW_GRAIN, sa_passes_for(h, l)->lanczos_multiply, &pass);
        real_mix mix = {w, w, l->top, energy > 0.0 ? 1.0 / sqrt(energy) : 1.0, 1.0, h->precision};
        kept ? parallel_for(h->pool, unknowns, SCALAR_GRAIN, fill_mixed, &mix) : (void)0;
    }
}

static const void* keep_basis(const sa_level* l, int place, const void* p)
{
    size_t unknowns = 3 * (size_t)l->rows;
    return memcpy(l->incomplete->basis + (size_t)place * unknowns, p, unknowns * sizeof(float));
}

// Generalised Lanczos for A v = lambda D v (section 7), or M in place of D: the largest Ritz value. v is D-orthonormal,
// p = D v; what is left of A v becomes the next p. No reorthogonalisation: lost orthogonality repeats eigenvalues that
// are found already. kept: so many iterations from what the last ones found, 0: from nothing.
static double lanczos(sa_hierarchy* h, sa_level* l, bool incomplete, int kept)
{
    int usual = h->settings.lanczos > 0 ? h->settings.lanczos : LANCZOS_DEFAULT;
    int limit = kept ? kept : incomplete ? SA_BASIS : usual;
    const sa_kernels* kernels = sa_passes_for(h, l);
    double diagonal[LANCZOS_MAX], off[LANCZOS_MAX];
    int unknowns = l->rows * l->block, grain = sa_grain(l->block), count = 0;
    void *v = l->x, *p = l->y, *last = l->b, *w = l->r, *z = l->d;
    first_vector(h, l, incomplete, kept > 0, w);
    const void* basis[LANCZOS_MAX];
    memset(p, 0, (size_t)unknowns * sa_real_size(h));
    sa_pass pass = {.level = l, .b = p, .y = w, .d = z};
    double beta = sqrt(scale(h, l, incomplete, &pass));
    while (count < limit && beta > 0.0 && isfinite(beta))
    {
        real_fill to_v = {v, z, 1.0 / beta, h->precision}, to_p = {last, w, 1.0 / beta, h->precision};
        parallel_for(h->pool, unknowns, SCALAR_GRAIN, fill_scaled, &to_v);
        parallel_for(h->pool, unknowns, SCALAR_GRAIN, fill_scaled, &to_p);
        basis[count] = incomplete ? keep_basis(l, count, last) : last;
        void* previous = p;
        p = last;
        last = previous;
        pass = (sa_pass){.level = l, .x = v, .b = last, .y = w, .c1 = count > 0 ? beta : 0.0};
        double alpha = parallel_sum(h->pool, l->rows, grain, kernels->lanczos_multiply, &pass);
        pass = (sa_pass){.level = l, .b = p, .y = w, .d = z, .c1 = alpha};
        double next = count + 1 < limit ? scale(h, l, incomplete, &pass) : 0.0; // the last one would serve none
        if (count > 0)
        {
            off[count - 1] = beta;
        }
        diagonal[count++] = alpha;
        // A remainder at rounding level means that all of the spectrum has been seen.
        beta = next > 1e-10 * alpha * alpha ? sqrt(next) : 0.0;
    }
    if (count >= 2)
    {
        double weight[LANCZOS_MAX] = {1.0};    // without a basis a first look knows no Ritz vector: any will do
        int from = incomplete ? 0 : count - 2; // the others are written over
        incomplete || kept ? tridiagonal_top(diagonal + from, off + from, count - from, weight) : (void)0;
        keep_top(h, l, weight, basis + from, count - from);
    }
    return count > 0 ? sa_tridiagonal_max(diagonal, off, count) : NAN;
}

// For a sum of semidefinite elements A_e with the block diagonals D_e, x^T A_e x <= m x^T D_e x, m being the number of
// vertices of e (Cauchy-Schwarz): so m bounds the radius on the finest level, and prefiltering keeps that. Coarse
// matrices are no such sums.
static bool is_bounded(const sa_hierarchy* h, const sa_level* l)
{
    return h->settings.lanczos == 0 && l == h->levels && h->element_vertices > 0;
}

void sa_find_radius(sa_hierarchy* h, sa_level* l)
{
    l->radius = is_bounded(h, l) ? h->element_vertices : h->settings.margin * lanczos(h, l, false, 0);
}

// A radius above 2 comes from few places where much fill was left out: contacts mostly. It slows the smoother down
// everywhere; more shift there mends it. Where that takes too long it is the shift of all that is too small. A refresh
// does so for the next one, and once at once when the radius has leapt. What it finds is a lower bound, so the radius
// shrinks slowly.
weft_status sa_settle_factor(sa_hierarchy* h, sa_level* l, int kept)
{
    const double high = 2.0, hopeless = 4.0, leap = 1.2, shrink = 0.95;
    double clock = sa_clock(h), before = kept ? l->incomplete_radius : 0.0;
    l->incomplete_radius = fmax(shrink * before, h->settings.margin * lanczos(h, l, true, kept));
    bool leapt = l->incomplete_radius > fmax(high, leap * before);
    for (int k = 0; k < (kept ? 1 : STIFFEN_MAX) && leapt && l->incomplete_radius > high; k++)
    {
        sa_incomplete_stiffen(l, k >= STIFFEN_MAX / 2 && l->incomplete_radius > hopeless);
        TRY(sa_incomplete_repeat(h, l));
        l->incomplete_radius = h->settings.margin * lanczos(h, l, true, kept ? kept : STIFFEN_LOOK);
    }
    l->incomplete_radius > high ? sa_incomplete_stiffen(l, false) : (void)0;
    sa_lap(h, l, SA_RADIUS, &clock);
    return isfinite(l->incomplete_radius) ? WEFT_OK : WEFT_NOT_FINITE;
}

weft_status sa_distrust_factor(sa_hierarchy* h, sa_level* l)
{
    const double least = 1.2; // it was too small, or nothing would have gone wrong
    double clock = sa_clock(h), before = l->incomplete_radius;
    l->incomplete_radius = fmax(least * before, h->settings.margin * lanczos(h, l, true, SA_BASIS));
    sa_incomplete_stiffen(l, false); // for the next one
    sa_lap(h, l, SA_RADIUS, &clock);
    return isfinite(l->incomplete_radius) ? WEFT_OK : WEFT_NOT_FINITE;
}

// Other values in a kept hierarchy.
weft_status sa_renew_radius(sa_hierarchy* h, sa_level* l)
{
    double clock = sa_clock(h);
    if (!is_bounded(h, l))
    {
        double now = lanczos(h, l, false, SA_RENEWED); // found before with a margin: the same values change nothing
        l->radius = isfinite(now) ? fmax(l->radius, now) : NAN;
    }
    sa_lap(h, l, SA_RADIUS, &clock);
    return isfinite(l->radius) ? WEFT_OK : WEFT_NOT_FINITE;
}
