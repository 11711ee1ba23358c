// Hookean springs with dampers along them. With d = x1 - x0, l = |d|, n = d / l
//
//     E = k/2 (l - L)^2,    force on vertex 0: k (l - L + beta dl/dt) n
//     K = k (n n^T + max(0, 1 - L / l) (I - n n^T)),    D = beta k n n^T
//
// (without the max where the motion asks for the exact Hessian).
//
// With a last state the rate is (l - l_last) / h, in evaluate and in force: damping is then the gradient of
// k beta / (2 h) (l - l_last)^2, which is a spring with the last length at rest, and rigid motion costs nothing. Ends
// that coincide have the last direction, or none.
#include "material/spring.h"
#include "math/wide_vec.h"

typedef struct spring
{
    wide k, rest, damping;
    wide length, last;
    wvec n;
    wide rate; // m/s
} spring;

WIDE_INLINE wvec ends_apart(const vec3* x, const int* vertices, const int* elements)
{
    return wv_sub(wv_gather(x, vertices, 2, 1, elements), wv_gather(x, vertices, 2, 0, elements));
}

WIDE_INLINE wide wv_length(wvec a)
{
    return wide_sqrt(wv_dot(a, a));
}

WIDE_INLINE spring spring_load(const element_context* ctx, const int* elements)
{
    const element_motion* m = ctx->motion;
    const int* vertices = ctx->group->vertices;
    const double* rest = ctx->group->rest;
    spring s = {.k = wide_gather(rest, SPRING_STRIDE, SPRING_STIFFNESS, elements),
                .rest = wide_gather(rest, SPRING_STRIDE, SPRING_LENGTH, elements),
                .damping = wide_gather(rest, SPRING_STRIDE, SPRING_DAMPING, elements)};
    wvec d = ends_apart(m->x, vertices, elements);
    s.length = wv_length(d);
    s.n = wv_scale(wide_safe_inverse(s.length), d);
    if (m->x_last)
    {
        wvec last = ends_apart(m->x_last, vertices, elements);
        s.last = wv_length(last);
        s.n = wv_select(s.length > 1e-150, s.n, wv_scale(wide_safe_inverse(s.last), last));
        s.rate = (s.length - s.last) * wide_set(1.0 / m->h);
    }
    else
    {
        s.last = s.length;
        s.rate = wv_dot(s.n, ends_apart(m->v, vertices, elements));
    }
    return s;
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
    spring s = spring_load(context, elements);
    put_pair(out, wv_scale(s.k * (s.length - s.rest + s.damping * s.rate), s.n));
}

static void evaluate(const void* context, const int* elements, element_batch* out)
{
    const element_context* ctx = context;
    const element_motion* m = ctx->motion;
    spring s = spring_load(ctx, elements);
    wide h = wide_set(m->h), h2 = wide_set(m->h * m->h);
    wide share = 1.0 - s.rest * wide_safe_inverse(s.length);
    wide across = s.k * (m->exact ? share : wide_select(share > 0.0, share, wide_set(0.0)));
    wide along = h2 * (s.k - across) + h * s.k * s.damping;
    wvec f = wv_scale(h * s.k * (s.length - s.rest + s.damping * s.rate), s.n);
    if (!m->x_last)
    {
        wvec dv = ends_apart(m->v, ctx->group->vertices, elements);
        f = wv_madd(wv_madd(f, h2 * across, dv), h2 * (s.k - across) * s.rate, s.n);
    }
    put_pair(out->rhs, f);
    const wide n[3] = {s.n.x, s.n.y, s.n.z};
    for (int r = 0; r < 3; r++)
    {
        for (int c = 0; c < 3; c++)
        {
            wide value = along * n[r] * n[c];
            value = r == c ? value + h2 * across : value;
            wide_store(out->block[pair_index(2, 0, 0)][3 * r + c], value);
            wide_store(out->block[pair_index(2, 0, 1)][3 * r + c], -value);
            wide_store(out->block[pair_index(2, 1, 1)][3 * r + c], value);
        }
    }
}

// One after the other: it is wanted once a substep, and sums have an order of their own.
static void energy(const element_context* ctx, int begin, int end, energy_sums* sums)
{
    const element_motion* m = ctx->motion;
    for (int e = begin; e < end; e++)
    {
        const int* v = ctx->group->vertices + 2 * (size_t)e;
        const double* rest = ctx->group->rest + SPRING_STRIDE * (size_t)e;
        double k = rest[SPRING_STIFFNESS], length = v3_length(v3_sub(m->x[v[1]], m->x[v[0]]));
        double extension = length - rest[SPRING_LENGTH], value = 0.5 * k * extension * extension;
        int role = (int)rest[SPRING_ROLE];
        *(role == SPRING_STRETCH ? &sums->stretch : role == SPRING_SHEAR ? &sums->shear : &sums->bend) += value;
        if (role == SPRING_STRETCH && rest[SPRING_LENGTH] > 0.0)
        {
            sums->max_stretch = fmax(sums->max_stretch, length / rest[SPRING_LENGTH]);
        }
        if (m->x_last)
        {
            double moved = length - v3_length(v3_sub(m->x_last[v[1]], m->x_last[v[0]]));
            sums->dissipation += 0.5 / m->h * rest[SPRING_DAMPING] * k * moved * moved;
        }
    }
}

extern const element_kernels KERNEL_NAME(spring_kernels);
const element_kernels KERNEL_NAME(spring_kernels) = {evaluate, energy, force, NULL};
