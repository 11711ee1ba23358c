// The V-cycle: z = M^-1 r. Chebyshev smoothing down, a direct solve of the coarsest level, Chebyshev smoothing up. The
// same polynomial before and after makes M symmetric; it is positive definite as long as the smoother converges, which
// holds for eigenvalues of D^-1 A below upper + lower end of the interval (an even polynomial mirrors its value 1 at
// 0).
#include <math.h>

#include "math/denormals.h"
#include "solve/sa/sa.h"

KERNELS_DECLARE(sa_kernels, sa_kernels_float);
KERNELS_DECLARE(sa_kernels, sa_kernels_double);
KERNELS_DECLARE(sa_kernels, sa_kernels_packed);

const sa_kernels* sa_kernels_for(cpu_kind cpu, int precision)
{
    static const sa_kernels* const table[2][CPU_KIND_COUNT] = {KERNELS_OF(sa_kernels_float),
                                                               KERNELS_OF(sa_kernels_double)};
    return table[precision == 64][cpu];
}

const sa_kernels* sa_passes_for(const sa_hierarchy* h, const sa_level* l)
{
    static const sa_kernels* const packed[CPU_KIND_COUNT] = KERNELS_OF(sa_kernels_packed);
    return l->packed ? packed[h->cpu] : sa_kernels_for(h->cpu, h->precision);
}

KERNELS_CHOICE(sa_incomplete_kernels)

// A pass with denormals off: of a sheet that falls flat all residuals but one component are noise.
typedef struct quiet_pass
{
    parallel_fn* pass;
    void* context;
} quiet_pass;

static void quiet_chunk(void* context, int begin, int end)
{
    const quiet_pass* q = context;
    unsigned before = flush_denormals();
    q->pass(q->context, begin, end);
    restore_denormals(before);
}

void sa_run_pass(workers* pool, int count, int grain, parallel_fn* pass, void* context)
{
    quiet_pass q = {pass, context};
    parallel_for(pool, count, grain, quiet_chunk, &q);
}

static void swap(void** a, void** b)
{
    void* t = *a;
    *a = *b;
    *b = t;
}

// The numbers of the Chebyshev recurrence on [lower * radius, radius].
typedef struct chebyshev
{
    double theta, delta, rho;
} chebyshev;

static chebyshev chebyshev_start(const sa_hierarchy* h, const sa_level* l)
{
    double upper = l->radius, lower = h->settings.lower * upper;
    return (chebyshev){0.5 * (upper + lower), 0.5 * (upper - lower), (upper - lower) / (upper + lower)};
}

static void chebyshev_next(chebyshev* c, sa_pass* pass)
{
    double next = 1.0 / (2.0 * c->theta / c->delta - c->rho);
    pass->c1 = next * c->rho;
    pass->c2 = 2.0 * next / c->delta;
    c->rho = next;
}

static void find_residual(const sa_hierarchy* h, sa_level* l)
{
    double clock = sa_clock(h);
    sa_pass pass = {.level = l, .b = l->b, .x = l->x, .y = l->r};
    sa_run_pass(h->pool, l->rows, sa_grain(l->block), sa_passes_for(h, l)->residual, &pass);
    sa_lap(h, l, SA_RESIDUAL, &clock);
}

// x += omega M^-1 (b - A x), which converges while omega times the radius is below 2.
static void smooth_incompletely(const sa_hierarchy* h, sa_level* l, bool from_zero)
{
    for (int k = 0; k < (h->settings.degree + 1) / 2; k++) // one sweep costs as much as degree 2
    {
        bool first = k == 0 && from_zero;
        first ? (void)0 : find_residual(h, l);
        double clock = sa_clock(h);
        sa_sweep sweep = {.level = l, .b = first ? l->b : l->r, .to = l->x, .add = !first};
        sweep.omega = fmin(1.0, SA_DAMPED / l->incomplete_radius);
        sa_incomplete_sweep(h, &sweep);
        sa_lap(h, l, first ? SA_FIRST : SA_STEP, &clock);
    }
}

// Smooths A x = b on a level; from_zero: x is taken as zero, which saves a product.
static void smooth(const sa_hierarchy* h, sa_level* l, bool from_zero)
{
    if (l->incomplete)
    {
        smooth_incompletely(h, l, from_zero);
        return;
    }
    const sa_kernels* kernels = sa_passes_for(h, l);
    // Beside the factor of the finest level coarse ones are what a cycle waits for, and cost little.
    int degree = h->folded && l != h->levels ? h->settings.degree + 2 : h->settings.degree;
    chebyshev c = chebyshev_start(h, l);
    sa_pass pass = {.level = l, .b = l->b, .d = l->d, .c2 = 1.0 / c.theta};
    double clock = sa_clock(h);
    for (int k = 0; k < degree; k++)
    {
        if (k > 0)
        {
            chebyshev_next(&c, &pass);
        }
        pass.x = l->x;
        pass.y = k == 0 && from_zero ? l->x : l->y;
        sa_run_pass(h->pool, l->rows, sa_grain(l->block), k == 0 && from_zero ? kernels->first : kernels->step, &pass);
        if (pass.y == l->y)
        {
            swap(&l->x, &l->y);
        }
        sa_lap(h, l, k == 0 && from_zero ? SA_FIRST : SA_STEP, &clock);
    }
}

static void solve_direct(sa_hierarchy* h, sa_level* l)
{
    int count = l->rows * l->block;
    double* x = h->direct_x;
    for (int k = 0; k < count; k++)
    {
        x[k] = h->precision == 32 ? (double)((const float*)l->b)[k] : ((const double*)l->b)[k];
    }
    chol_engine engine = {h->pool, dense_kernels_for(h->cpu)};
    chol_solve(&h->symbolic, &h->numeric, &engine, x, x);
    for (int k = 0; k < count; k++)
    {
        if (h->precision == 32)
        {
            ((float*)l->x)[k] = (float)x[k];
        }
        else
        {
            ((double*)l->x)[k] = x[k];
        }
    }
}

// x of the last level.
static void solve_last(sa_hierarchy* h, sa_level* l)
{
    if (h->direct)
    {
        solve_direct(h, l);
        return;
    }
    sa_pass pass = {.level = l, .b = l->b, .y = l->x, .d = l->d, .c2 = 1.0};
    sa_run_pass(h->pool, l->rows, sa_grain(l->block), sa_passes_for(h, l)->first, &pass);
}

typedef struct convert_context
{
    const vec3* from;
    vec3* to;
    void* real;
    int precision;
    double scale;
    const float* root; // of a packed level, else NULL
} convert_context;

// R v of vertex i.
static inline vec3 scaled_by_root(const float* root, int i, vec3 v)
{
    const float* m = root + 9 * (size_t)i;
    return v3((double)m[0] * v.x + (double)m[1] * v.y + (double)m[2] * v.z,
              (double)m[3] * v.x + (double)m[4] * v.y + (double)m[5] * v.z,
              (double)m[6] * v.x + (double)m[7] * v.y + (double)m[8] * v.z);
}

static void to_real(void* context, int begin, int end)
{
    convert_context* c = context;
    const double* from = &c->from[0].x;
    for (int i = begin; i < end && c->root; i++)
    {
        vec3 v = scaled_by_root(c->root, i, v3_scale(c->scale, c->from[i]));
        float* to = (float*)c->real + 3 * (size_t)i;
        to[0] = (float)v.x;
        to[1] = (float)v.y;
        to[2] = (float)v.z;
    }
    if (c->root)
    {
        return;
    }
    for (size_t k = 3 * (size_t)begin; k < 3 * (size_t)end; k++)
    {
        if (c->precision == 32)
        {
            ((float*)c->real)[k] = (float)(c->scale * from[k]);
        }
        else
        {
            ((double*)c->real)[k] = c->scale * from[k];
        }
    }
}

static void from_real(void* context, int begin, int end)
{
    convert_context* c = context;
    double* to = &c->to[0].x;
    for (int i = begin; i < end && c->root; i++)
    {
        const float* from = (const float*)c->real + 3 * (size_t)i;
        c->to[i] = v3_scale(c->scale, scaled_by_root(c->root, i, v3(from[0], from[1], from[2])));
    }
    if (c->root)
    {
        return;
    }
    for (size_t k = 3 * (size_t)begin; k < 3 * (size_t)end; k++)
    {
        to[k] = c->scale * (c->precision == 32 ? (double)((const float*)c->real)[k] : ((const double*)c->real)[k]);
    }
}

// The power of two next below a positive number; 1 for what has none.
double sa_power_of_two(double value)
{
    int exponent = 0;
    if (!(value > 0.0) || !isfinite(value))
    {
        return 1.0;
    }
    frexp(value, &exponent);
    return ldexp(1.0, exponent - 1);
}

static double square_pass(void* context, int begin, int end)
{
    const vec3* r = context;
    double sum = 0.0;
    for (int i = begin; i < end; i++)
    {
        sum += v3_dot(r[i], r[i]);
    }
    return sum;
}

void sa_start(sa_hierarchy* h, const vec3* r)
{
    int rows = h->levels[0].rows;
    h->vector_scale = 1.0 / sa_power_of_two(sqrt(parallel_sum(h->pool, rows, ROW_GRAIN, square_pass, (void*)r) / rows));
}

void sa_cycle(sa_hierarchy* h, const vec3* r, vec3* z)
{
    sa_level* finest = &h->levels[0];
    double clock = sa_clock(h);
    convert_context convert = {r, z, finest->b, h->precision, h->vector_scale, finest->packed ? finest->root : NULL};
    sa_run_pass(h->pool, finest->rows, ROW_GRAIN, to_real, &convert);
    sa_lap(h, finest, SA_CONVERT, &clock);
    int last = h->level_count - 1;
    for (int k = 0; k < last; k++)
    {
        sa_level *l = &h->levels[k], *coarse = l + 1;
        const sa_kernels* kernels = sa_passes_for(h, l);
        smooth(h, l, true);
        find_residual(h, l);
        clock = sa_clock(h);
        sa_pass down = {.level = l, .x = l->r, .y = coarse->b};
        sa_run_pass(h->pool, coarse->rows, ROW_GRAIN / 8, kernels->restrict_to, &down);
        sa_lap(h, l, SA_RESTRICT, &clock);
    }
    clock = sa_clock(h);
    solve_last(h, &h->levels[last]);
    sa_lap(h, &h->levels[last], SA_DIRECT, &clock);
    for (int k = last - 1; k >= 0; k--)
    {
        sa_level* l = &h->levels[k];
        sa_pass up = {.level = l, .x = l[1].x, .y = l->x};
        sa_run_pass(h->pool, l->rows, sa_grain(l->block), sa_passes_for(h, l)->prolong, &up);
        sa_lap(h, l, SA_PROLONG, &clock);
        smooth(h, l, false);
        clock = sa_clock(h);
    }
    convert.real = finest->x;
    convert.scale = h->matrix_scale / h->vector_scale;
    sa_run_pass(h->pool, finest->rows, ROW_GRAIN, from_real, &convert);
    sa_lap(h, finest, SA_CONVERT, &clock);
}
