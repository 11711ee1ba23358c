// Bending of the model `corotated`: two triangles that share an edge, with a row c of numbers such that
//
//     p = sum over the four vertices of c_a x_a
//
// is zero where they lie in a plane as at rest, and 2 sin(angle / 2) long where they are folded without being strained
// (Bergou et al. 2006; the row is that of the linear angle, so that p is the difference of the ways to both tips). The
// energy is k/2 (|p| - l)^2: a spring between two weighted sums. Where the rest shape is flat, l = 0, it is quadratic
// in x and its Hessian constant; else it knows how far the cloth is folded, but not to which side.
#include "material/corotated.h"
#include "math/wide_vec.h"

typedef struct fold
{
    wide c[4];
    wide k, rest, damping;
    wide length;
    wvec n;
    wide rate; // 1/s
} fold;

WIDE_INLINE wvec row_of(const fold* f, const vec3* x, const int* vertices, const int* elements)
{
    wvec x0 = wv_gather(x, vertices, 4, 0, elements), p = {wide_set(0), wide_set(0), wide_set(0)};
    for (int a = 1; a < 4; a++)
    {
        p = wv_madd(p, f->c[a], wv_sub(wv_gather(x, vertices, 4, a, elements), x0));
    }
    return p;
}

WIDE_INLINE fold fold_load(const element_context* ctx, const int* elements)
{
    const element_motion* m = ctx->motion;
    const double* rest = ctx->group->rest;
    const int* vertices = ctx->group->vertices;
    fold f = {.k = wide_gather(rest, FOLD_STRIDE, FOLD_STIFFNESS, elements),
              .rest = wide_gather(rest, FOLD_STRIDE, FOLD_LENGTH, elements),
              .damping = wide_gather(rest, FOLD_STRIDE, FOLD_DAMPING, elements)};
    for (int a = 0; a < 4; a++)
    {
        f.c[a] = wide_gather(rest, FOLD_STRIDE, FOLD_ROW + a, elements);
    }
    wvec p = row_of(&f, m->x, vertices, elements);
    f.length = wide_sqrt(wv_dot(p, p));
    f.n = wv_scale(wide_safe_inverse(f.length), p);
    if (m->x_last)
    {
        wvec last = row_of(&f, m->x_last, vertices, elements);
        f.rate = (f.length - wide_sqrt(wv_dot(last, last))) * wide_set(1.0 / m->h);
    }
    else
    {
        f.rate = wv_dot(f.n, row_of(&f, m->v, vertices, elements));
    }
    return f;
}

// To each vertex its share of what pulls p back; the shares add up to nothing.
WIDE_INLINE void put_row(const fold* f, wvec pull, double (*out)[3][BATCH])
{
    wvec sum = {wide_set(0), wide_set(0), wide_set(0)};
    for (int a = 3; a >= 0; a--)
    {
        wvec share = a > 0 ? wv_scale(-f->c[a], pull) : wv_scale(wide_set(-1.0), sum);
        sum = wv_add(sum, share);
        wide_store(out[a][0], share.x);
        wide_store(out[a][1], share.y);
        wide_store(out[a][2], share.z);
    }
}

static void force(const void* context, const int* elements, double (*out)[3][BATCH])
{
    fold f = fold_load(context, elements);
    put_row(&f, wv_scale(f.k * (f.length - f.rest + f.damping * f.rate), f.n), out);
}

static void evaluate(const void* context, const int* elements, element_batch* out)
{
    const element_context* ctx = context;
    const element_motion* m = ctx->motion;
    fold f = fold_load(ctx, elements);
    wide h = wide_set(m->h), h2 = wide_set(m->h * m->h);
    wide share = 1.0 - f.rest * wide_safe_inverse(f.length);
    wide across = f.k * wide_select(share > 0.0, share, wide_set(0.0));
    wide along = h2 * (f.k - across) + h * f.k * f.damping;
    wvec pull = wv_scale(h * f.k * (f.length - f.rest + f.damping * f.rate), f.n);
    if (!m->x_last)
    {
        wvec dv = row_of(&f, m->v, ctx->group->vertices, elements);
        pull = wv_madd(wv_madd(pull, h2 * across, dv), h2 * (f.k - across) * f.rate, f.n);
    }
    put_row(&f, pull, out->rhs);
    const wide n[3] = {f.n.x, f.n.y, f.n.z};
    for (int k = 0; k < 9; k++)
    {
        wide value = along * n[k / 3] * n[k % 3];
        value = k / 3 == k % 3 ? value + h2 * across : value;
        for (int a = 0; a < 4; a++)
        {
            for (int b = a; b < 4; b++)
            {
                wide_store(out->block[pair_index(4, a, b)][k], f.c[a] * f.c[b] * value);
            }
        }
    }
}

static void energy(const element_context* ctx, int begin, int end, energy_sums* sums)
{
    const element_motion* m = ctx->motion;
    for (int first = begin; first < end; first += WIDE)
    {
        int elements[WIDE];
        wide counted;
        for (int k = 0; k < WIDE; k++)
        {
            elements[k] = int_min(first + k, end - 1);
            counted[k] = first + k < end ? 1.0 : 0.0;
        }
        fold f = fold_load(ctx, elements);
        wide away = f.length - f.rest;
        sums->bend += wide_sum(counted * (0.5 * f.k * away * away));
        if (m->x_last)
        {
            sums->dissipation += wide_sum(counted * (0.5 * m->h * f.damping * f.k * f.rate * f.rate));
        }
    }
}

extern const element_kernels KERNEL_NAME(fold_kernels);
const element_kernels KERNEL_NAME(fold_kernels) = {evaluate, energy, force, NULL};
