// Stretch and shear connections (Boxerman 2003, section 3.2) with dampers along them (3.3). With d = x1 - x0, l = |d|,
// n = d / l a connection that goes slack has, for l >= L,
//
//     E = k/2 (l - L)^2,    force on vertex 0: k (l - L) n,    K = k (n n^T + (1 - L / l) (I - n n^T))
//
// and nothing, not even damping, for l < L. The thesis prints (3.6) as k_s |x - L| x / |x|, a bar too far to the
// right: (|x| - L) is meant, and |x| >= L in its condition, so that the Jacobian (3.7) is its derivative and
// semidefinite. A connection that also pushes takes max(0, 1 - L / l), as spring_kernel.c.
//
// Dampers, force on vertex 0, with dv = v1 - v0:
//
//     plain      (3.12)  c dv                 D = c I
//     projected  (3.14)  c (n . dv) n         D = c n n^T (3.15), while the connection lengthens
//     two-sided          the same, always
//
// The derivative of (3.14) by position, (3.16), is dropped. With dv = r n + w, w across n, its symmetric part is
//
//     c / l (r (I - n n^T) + (n w^T + w n^T) / 2)
//
// which in the plane of n and w is c / l [[0, |w| / 2], [|w| / 2, r]]: its determinant is negative wherever the
// connection turns, whatever the sign of r. So the thesis's filter, r >= 0, cannot make it semidefinite.
//
// With a last state the damper works on the length, that of a slack connection being L: force c / h (l' - l'_last) n
// with l' = max(l, L), the gradient of c / (2 h) (l' - l'_last)^2, where projected takes only what is longer. Plain is
// c / h (d - d_last), for connections that were taut at the start of the step.
//
// A single linear step (`ahead`) has to know which connections will be taut at its end: one that is slack now and has
// no block may be pulled far beyond L in it, against nothing. So what is slack with l + h n . dv > L, clearly, is
// linearised on the other side of the kink, force k (l - L) n (which pushes now) and K = k n n^T: at the end the force
// is k (l' - L) with l' the new length along n, as it ought to be. Such a step never adds energy where l' >= L:
//
//     k/2 (l' - L)^2 - k (l' - L) (l' - l) <= -k/2 (l' - L)^2, for l <= L
//
// and where other forces keep it slack after all, it adds k/4 (L - l)^2 at most. That is why it has to be clear: cloth
// that comes to rest has connections about L by the thousand, and with any that might be taut it would never rest.
#include "material/connection.h"
#include "math/wide_vec.h"

typedef struct link
{
    wide k, rest, c;
    wide length;
    wvec n, d;
    wide_mask taut;   // the spring acts
    wide_mask pushes; // it never goes slack
    wide_mask damped; // the damper acts
    wide_mask plain;
    wide gap;   // m/s, rate at which the length grows
    wvec drift; // m/s, of one end against the other
} link;

WIDE_INLINE wvec ends_apart(const vec3* x, const int* vertices, const int* elements)
{
    return wv_sub(wv_gather(x, vertices, 2, 1, elements), wv_gather(x, vertices, 2, 0, elements));
}

WIDE_INLINE wide wv_length(wvec a)
{
    return wide_sqrt(wv_dot(a, a));
}

// What the damper sees over a step from a last state.
WIDE_INLINE void link_since(link* s, const element_motion* m, const int* vertices, const int* elements, wide_mask slack)
{
    wvec last = ends_apart(m->x_last, vertices, elements);
    wide was = wv_length(last), inv_h = wide_set(1.0 / m->h);
    s->n = wv_select(s->length > 1e-150, s->n, wv_scale(wide_safe_inverse(was), last));
    wide now = wide_select(slack, wide_max(s->length, s->rest), s->length);
    wide then = wide_select(slack, wide_max(was, s->rest), was);
    s->gap = (now - then) * inv_h;
    s->drift = wv_scale(inv_h, wv_sub(s->d, last));
    s->damped = (s->plain & ((was > LENGTH_ROUNDED * s->rest) | ~slack)) | (~s->plain & s->taut);
}

WIDE_INLINE void link_ahead(link* s, double h)
{
    s->pushes |= ~s->taut & (s->length + h * s->gap > AHEAD_STRETCH * s->rest);
    s->taut |= s->pushes;
}

WIDE_INLINE link link_load(const element_context* ctx, const int* elements)
{
    const element_motion* m = ctx->motion;
    const int* vertices = ctx->group->vertices;
    const double* rest = ctx->group->rest;
    link s = {.k = wide_gather(rest, CONNECTION_STRIDE, CONNECTION_STIFFNESS, elements),
              .rest = wide_gather(rest, CONNECTION_STRIDE, CONNECTION_LENGTH, elements),
              .c = wide_gather(rest, CONNECTION_STRIDE, CONNECTION_DAMPING, elements)};
    wide form = wide_gather(rest, CONNECTION_STRIDE, CONNECTION_FORM, elements);
    wide_mask slack = wide_gather(rest, CONNECTION_STRIDE, CONNECTION_SLACK, elements) > 0.5;
    s.plain = form == (double)DAMPER_PLAIN;
    s.d = ends_apart(m->x, vertices, elements);
    s.length = wv_length(s.d);
    s.n = wv_scale(wide_safe_inverse(s.length), s.d);
    s.taut = (s.length > LENGTH_ROUNDED * s.rest) | ~slack;
    s.pushes = ~slack;
    if (m->x_last)
    {
        link_since(&s, m, vertices, elements, slack);
    }
    else
    {
        s.drift = ends_apart(m->v, vertices, elements);
        s.gap = wv_dot(s.n, s.drift);
        m->ahead ? link_ahead(&s, m->h) : (void)0;
        s.damped = s.taut;
    }
    s.damped &= (form != (double)DAMPER_NONE) & ((form != (double)DAMPER_PROJECTED) | (s.gap > 0.0));
    return s;
}

// Force on vertex 0.
WIDE_INLINE wvec link_pull(const link* s)
{
    wide zero = wide_set(0.0), c = wide_select(s->damped, s->c, zero);
    wide extension = s->length - s->rest;
    extension = wide_select((extension > 0.0) | s->pushes, extension, zero);
    wide along = s->k * extension + wide_select(s->plain, zero, c * s->gap);
    return wv_madd(wv_scale(along, s->n), wide_select(s->plain, c, zero), s->drift);
}

WIDE_INLINE void put_pair(double (*out)[3][BATCH], wvec f)
{
    wide_store(out[0][0], f.x);
    wide_store(out[0][1], f.y);
    wide_store(out[0][2], f.z);
    wide_store(out[1][0], -f.x);
    wide_store(out[1][1], -f.y);
    wide_store(out[1][2], -f.z);
}

static void force(const void* context, const int* elements, double (*out)[3][BATCH])
{
    link s = link_load(context, elements);
    put_pair(out, link_pull(&s));
}

static void evaluate(const void* context, const int* elements, element_batch* out)
{
    const element_motion* m = ((const element_context*)context)->motion;
    link s = link_load(context, elements);
    wide zero = wide_set(0.0), h = wide_set(m->h), h2 = wide_set(m->h * m->h);
    wide share = 1.0 - s.rest * wide_safe_inverse(s.length);
    wide k = wide_select(s.taut, s.k, zero), c = wide_select(s.damped, s.c, zero);
    wide across = k * (m->exact ? share : wide_max(share, zero)), along = k - across;
    wvec f = wv_scale(h, link_pull(&s));
    if (!m->x_last)
    {
        f = wv_madd(wv_madd(f, h2 * across, s.drift), h2 * along * s.gap, s.n);
    }
    put_pair(out->rhs, f);
    wide outer = h2 * along + wide_select(s.plain, zero, h * c),
         equal = h2 * across + wide_select(s.plain, h * c, zero);
    const wide n[3] = {s.n.x, s.n.y, s.n.z};
    for (int q = 0; q < 9; q++)
    {
        wide value = outer * n[q / 3] * n[q % 3];
        value = q % 4 == 0 ? value + equal : value;
        wide_store(out->block[pair_index(2, 0, 0)][q], value);
        wide_store(out->block[pair_index(2, 0, 1)][q], -value);
        wide_store(out->block[pair_index(2, 1, 1)][q], value);
    }
}

// The potential of the damper over a step from a last state, J.
static double dissipation(const element_motion* m, const int* v, const double* rest, vec3 d)
{
    vec3 last = v3_sub(m->x_last[v[1]], m->x_last[v[0]]);
    double was = v3_length(last), now = v3_length(d), L = rest[CONNECTION_LENGTH];
    bool slack = rest[CONNECTION_SLACK] > 0.5;
    int form = (int)rest[CONNECTION_FORM];
    if (form == DAMPER_PLAIN)
    {
        vec3 moved = v3_sub(d, last);
        return slack && !(was > LENGTH_ROUNDED * L) ? 0.0
                                                    : 0.5 / m->h * rest[CONNECTION_DAMPING] * v3_dot(moved, moved);
    }
    double gap = slack ? fmax(now, L) - fmax(was, L) : now - was;
    gap = form == DAMPER_PROJECTED ? fmax(gap, 0.0) : form == DAMPER_NONE ? 0.0 : gap;
    return 0.5 / m->h * rest[CONNECTION_DAMPING] * gap * gap;
}

// One after the other: it is wanted once a substep, and sums have an order of their own.
static void energy(const element_context* ctx, int begin, int end, energy_sums* sums)
{
    const element_motion* m = ctx->motion;
    for (int e = begin; e < end; e++)
    {
        const int* v = ctx->group->vertices + 2 * (size_t)e;
        const double* rest = ctx->group->rest + CONNECTION_STRIDE * (size_t)e;
        vec3 d = v3_sub(m->x[v[1]], m->x[v[0]]);
        double length = v3_length(d), extension = length - rest[CONNECTION_LENGTH];
        extension = rest[CONNECTION_SLACK] > 0.5 ? fmax(extension, 0.0) : extension;
        int role = (int)rest[CONNECTION_ROLE];
        *(role == SPRING_STRETCH ? &sums->stretch
          : role == SPRING_SHEAR ? &sums->shear
                                 : &sums->bend) += 0.5 * rest[CONNECTION_STIFFNESS] * extension * extension;
        if (role == SPRING_STRETCH && rest[CONNECTION_LENGTH] > 0.0)
        {
            sums->max_stretch = fmax(sums->max_stretch, length / rest[CONNECTION_LENGTH]);
        }
        sums->dissipation += m->x_last ? dissipation(m, v, rest, d) : 0.0;
    }
}

extern const element_kernels KERNEL_NAME(connection_kernels);
const element_kernels KERNEL_NAME(connection_kernels) = {evaluate, energy, force, NULL};
