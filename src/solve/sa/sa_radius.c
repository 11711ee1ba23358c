// The spectral radius of D^-1 A on a level: by Lanczos, or by a bound where one is proved (section 7).
#include <math.h>
#include <string.h>

#include "solve/sa/sa.h"

enum
{
    LANCZOS_SEED = 20150811,
    LANCZOS_DEFAULT = 10
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

// Generalised Lanczos for A v = lambda D v (section 7): the largest Ritz value times the margin. v is D-orthonormal,
// p = D v; what is left of A v becomes the next p. No reorthogonalisation: lost orthogonality repeats eigenvalues that
// are found already.
static void lanczos(sa_hierarchy* h, sa_level* l, int limit)
{
    const sa_kernels* kernels = sa_passes_for(h, l);
    enum
    {
        LANCZOS_MAX = 100,
        SCALAR_GRAIN = 4096
    };
    double diagonal[LANCZOS_MAX], off[LANCZOS_MAX];
    int unknowns = l->rows * l->block, grain = l->block == 3 ? ROW_GRAIN : ROW_GRAIN / 4, count = 0;
    void *v = l->x, *p = l->y, *last = l->b, *w = l->r, *z = l->d;
    real_fill fill = {w, NULL, 0.0, h->precision};
    parallel_for(h->pool, unknowns, SCALAR_GRAIN, fill_random, &fill);
    memset(p, 0, (size_t)unknowns * sa_real_size(h));
    sa_pass pass = {.level = l, .b = p, .y = w, .d = z};
    double beta = sqrt(parallel_sum(h->pool, l->rows, grain, kernels->lanczos_scale, &pass));
    while (count < limit && beta > 0.0 && isfinite(beta))
    {
        real_fill to_v = {v, z, 1.0 / beta, h->precision}, to_p = {last, w, 1.0 / beta, h->precision};
        parallel_for(h->pool, unknowns, SCALAR_GRAIN, fill_scaled, &to_v);
        parallel_for(h->pool, unknowns, SCALAR_GRAIN, fill_scaled, &to_p);
        void* previous = p;
        p = last;
        last = previous;
        pass = (sa_pass){.level = l, .x = v, .b = last, .y = w, .c1 = count > 0 ? beta : 0.0};
        double alpha = parallel_sum(h->pool, l->rows, grain, kernels->lanczos_multiply, &pass);
        pass = (sa_pass){.level = l, .b = p, .y = w, .d = z, .c1 = alpha};
        double next = parallel_sum(h->pool, l->rows, grain, kernels->lanczos_scale, &pass);
        if (count > 0)
        {
            off[count - 1] = beta;
        }
        diagonal[count++] = alpha;
        // A remainder at rounding level means that all of the spectrum has been seen.
        beta = next > 1e-10 * alpha * alpha ? sqrt(next) : 0.0;
    }
    l->radius = count > 0 ? h->settings.margin * sa_tridiagonal_max(diagonal, off, count) : NAN;
}

// For a sum of semidefinite elements A_e with the block diagonals D_e, x^T A_e x <= m x^T D_e x, m being the number of
// vertices of e (Cauchy-Schwarz): so m bounds the radius on the finest level, and prefiltering keeps that. Coarse
// matrices are no such sums.
void sa_find_radius(sa_hierarchy* h, sa_level* l)
{
    bool bound = h->settings.lanczos == 0 && l == h->levels && h->element_vertices > 0;
    if (bound)
    {
        l->radius = h->element_vertices;
        return;
    }
    lanczos(h, l, h->settings.lanczos > 0 ? h->settings.lanczos : LANCZOS_DEFAULT);
}
