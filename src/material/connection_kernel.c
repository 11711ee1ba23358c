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
#include "material/connection_lanes.h"

WIDE_INLINE wvec ends_apart(const vec3* x, const int* vertices, const int* elements)
{
    return wv_sub(wv_gather(x, vertices, 2, 1, elements), wv_gather(x, vertices, 2, 0, elements));
}

WIDE_INLINE link link_load(const element_context* ctx, const int* elements)
{
    const element_motion* m = ctx->motion;
    const int* vertices = ctx->group->vertices;
    const double* rest = ctx->group->rest;
    link_rest r = {.k = wide_gather(rest, CONNECTION_STRIDE, CONNECTION_STIFFNESS, elements),
                   .length = wide_gather(rest, CONNECTION_STRIDE, CONNECTION_LENGTH, elements),
                   .c = wide_gather(rest, CONNECTION_STRIDE, CONNECTION_DAMPING, elements),
                   .form = wide_gather(rest, CONNECTION_STRIDE, CONNECTION_FORM, elements),
                   .slack = wide_gather(rest, CONNECTION_STRIDE, CONNECTION_SLACK, elements) > 0.5};
    return link_of(&r, m, ends_apart(m->x, vertices, elements),
                   ends_apart(m->x_last ? m->x_last : m->v, vertices, elements));
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
    link_part part = link_evaluate(&s, m);
    put_pair(out->rhs, part.rhs);
    const wide n[3] = {s.n.x, s.n.y, s.n.z};
    for (int q = 0; q < 9; q++)
    {
        wide value = part.outer * n[q / 3] * n[q % 3];
        value = q % 4 == 0 ? value + part.equal : value;
        wide_store(out->block[pair_index(2, 0, 0)][q], value);
        wide_store(out->block[pair_index(2, 0, 1)][q], -value);
        wide_store(out->block[pair_index(2, 1, 1)][q], value);
    }
}

static double dissipation(const element_motion* m, const int* v, const double* rest, vec3 d)
{
    vec3 last = v3_sub(m->x_last[v[1]], m->x_last[v[0]]), moved = v3_sub(d, last);
    const double length[2] = {v3_length(last), v3_length(d)};
    return link_dissipation((damper_form)(int)rest[CONNECTION_FORM], rest[CONNECTION_SLACK] > 0.5,
                            0.5 / m->h * rest[CONNECTION_DAMPING], length, rest[CONNECTION_LENGTH],
                            v3_dot(moved, moved));
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
