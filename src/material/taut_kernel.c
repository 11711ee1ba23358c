// Threads that turn stiff: what a knee adds to the membrane of a triangle of rest area a, with the lengths w_u, w_v of warp and weft,
//
//     E = a/2 (k_u max(0, |w_u| - l_u)^2 + k_v max(0, |w_v| - l_v)^2),
//
// l = 1 + the strain of the knee, k what the stiff thread has more than the soft one. Forces are continuous, so that the energy is
// C1; beyond l the Hessian k a (n n^T + (1 - l / |w|) (I - n n^T)) is semidefinite as it is, before l there is none.
#include "material/membrane.h"
#include "material/triangle_lanes.h"

typedef struct taut
{
    triangle_map map;
    wide l[2], k[2], damping;
} taut;

WIDE_INLINE taut taut_load(const element_group* group, const int* elements)
{
    const double* rest = group->rest;
    taut e = {.map = triangle_load(rest, TAUT_STRIDE, elements), .damping = wide_gather(rest, TAUT_STRIDE, 8, elements)};
    for (int s = 0; s < 2; s++)
    {
        e.l[s] = wide_gather(rest, TAUT_STRIDE, 4 + s, elements);
        e.k[s] = wide_gather(rest, TAUT_STRIDE, 6 + s, elements);
    }
    return e;
}

// A thread: how far it is beyond the knee (0: not), its direction, stiffness (0 before the knee), and what it has across.
typedef struct pulled
{
    wide over, k, across;
    wvec n;
} pulled;

WIDE_INLINE pulled pulled_of(const taut* e, int s, wvec w)
{
    wide length = wide_sqrt(wv_dot(w, w)), inverse = wide_safe_inverse(length), zero = wide_set(0.0);
    wide_mask is = length > e->l[s];
    return (pulled){.over = wide_select(is, length - e->l[s], zero),
                    .k = wide_select(is, e->k[s], zero),
                    .across = wide_select(is, 1.0 - e->l[s] * inverse, zero),
                    .n = wv_scale(inverse, w)};
}

// The rate of the length: from velocities, or from how long the thread was.
WIDE_INLINE wide rate_of(const taut* e, int s, const pulled* p, wvec rate, const wvec* last, double h)
{
    if (!last)
    {
        return wv_dot(p->n, rate);
    }
    wide before = wide_max(wide_sqrt(wv_dot(*last, *last)) - e->l[s], wide_set(0.0));
    return (p->over - before) * wide_set(1.0 / h);
}

static void force(const void* context, const int* elements, double (*out)[3][BATCH])
{
    const element_context* ctx = context;
    const int* vertices = ctx->group->vertices;
    taut e = taut_load(ctx->group, elements);
    gradient w = gradient_of(&e.map, ctx->motion->x, vertices, elements);
    gradient dw = gradient_of(&e.map, ctx->motion->v, vertices, elements);
    pulled u = pulled_of(&e, 0, w.u), v = pulled_of(&e, 1, w.v);
    wide su = -u.k * (u.over + e.damping * rate_of(&e, 0, &u, dw.u, NULL, 0.0));
    wide sv = -v.k * (v.over + e.damping * rate_of(&e, 1, &v, dw.v, NULL, 0.0));
    put_forces(&e.map, (gradient){wv_scale(su, u.n), wv_scale(sv, v.n)}, out);
}

// Force and blocks of one thread: k (h^2 ((1 - across) n n^T + across I) + h damping n n^T).
WIDE_INLINE wvec thread_system(const taut* e, int s, wvec w, wvec dw, const wvec* last, double h, wide* block)
{
    pulled p = pulled_of(e, s, w);
    wide rate = rate_of(e, s, &p, dw, last, h), h2 = wide_set(h * h);
    wide along = p.k * (h2 * (1.0 - p.across) + h * e->damping), across = p.k * h2 * p.across;
    const wide n[3] = {p.n.x, p.n.y, p.n.z};
    for (int r = 0; r < 3; r++)
    {
        for (int c = 0; c < 3; c++)
        {
            block[3 * r + c] = along * n[r] * n[c] + (r == c ? across : wide_set(0.0));
        }
    }
    wvec stress = wv_scale(p.k * (p.over + e->damping * rate), p.n);
    if (!last) // h K v
    {
        stress = wv_madd(stress, h * p.k * (1.0 - p.across) * rate, p.n);
        stress = wv_madd(stress, h * p.k * p.across, dw);
    }
    return wv_scale(wide_set(-h), stress);
}

static void evaluate(const void* context, const int* elements, element_batch* out)
{
    const element_context* ctx = context;
    const element_motion* m = ctx->motion;
    const int* vertices = ctx->group->vertices;
    taut e = taut_load(ctx->group, elements);
    gradient w = gradient_of(&e.map, m->x, vertices, elements), last = w;
    gradient dw = gradient_of(&e.map, m->x_last ? m->x_last : m->v, vertices, elements);
    if (m->x_last)
    {
        last = dw;
    }
    wide uu[9], vv[9], uv[9];
    for (int k = 0; k < 9; k++)
    {
        uv[k] = wide_set(0.0);
    }
    wvec gu = thread_system(&e, 0, w.u, dw.u, m->x_last ? &last.u : NULL, m->h, uu);
    wvec gv = thread_system(&e, 1, w.v, dw.v, m->x_last ? &last.v : NULL, m->h, vv);
    put_forces(&e.map, (gradient){gu, gv}, out->rhs);
    put_blocks(&e.map, uu, uv, vv, out);
}

static void energy(const element_context* context, int begin, int end, energy_sums* sums)
{
    const element_motion* m = context->motion;
    const int* vertices = context->group->vertices;
    for (int first = begin; first < end; first += WIDE)
    {
        int elements[WIDE];
        wide counted;
        for (int k = 0; k < WIDE; k++)
        {
            elements[k] = int_min(first + k, end - 1);
            counted[k] = first + k < end ? 1.0 : 0.0;
        }
        taut e = taut_load(context->group, elements);
        gradient w = gradient_of(&e.map, m->x, vertices, elements);
        pulled u = pulled_of(&e, 0, w.u), v = pulled_of(&e, 1, w.v);
        sums->stretch += wide_sum(counted * 0.5 * (u.k * u.over * u.over + v.k * v.over * v.over));
        if (m->x_last)
        {
            gradient last = gradient_of(&e.map, m->x_last, vertices, elements);
            wide ru = rate_of(&e, 0, &u, w.u, &last.u, m->h), rv = rate_of(&e, 1, &v, w.v, &last.v, m->h);
            sums->dissipation +=
                wide_sum(counted * (0.5 * m->h * e.damping * (e.k[0] * ru * ru + e.k[1] * rv * rv)));
        }
    }
}

extern const element_kernels KERNEL_NAME(taut_kernels);
const element_kernels KERNEL_NAME(taut_kernels) = {evaluate, energy, force, NULL};
