// Triangles of the model `corotated`. With F the 3 x 2 deformation gradient of columns w_u and w_v, and R the matrix of
// orthonormal columns that is nearest to it, a triangle of rest area a has
//
//     E = a/2 (k_u (|w_u| - 1)^2 + k_v (|w_v| - 1)^2 + k |F - R|^2)
//
// Each term is the squared distance from a set, and so is a least over d of |S x - d|^2: what methods with a constant
// matrix want. |F - R|^2 is the sum of squares of both singular values less 1, which stands for e_u^2 + e_v^2 + g^2 / 2
// of a small strain.
//
// R needs no iteration: with n the unit normal and t = sqrt(|w_u|^2 + |w_v|^2 + 2 |w_u x w_v|), the sum of the singular
// values, its columns are (w_u + w_v x n) / t and (w_v + n x w_u) / t. (The closed form of the 2 x 2 root of F^T F,
// brought through F, so that nothing is divided by the area of a triangle that collapses.)
//
// Damping over a step is that of springs: the rate of |w_u|, |w_v|, and of the stretch C = R^T F. With a last state
// both terms of the latter together are a distance again, from the rotations of C' = (h + beta C_last) / (h + beta).
//
// The Hessian of |F - R|^2 / 2 has the eigenvalues 1, but for turning in the plane 1 - 2 / t, and for tilting the
// singular directions 1 - 1 / sigma: those are clamped.
#include "material/corotated.h"
#include "material/triangle_lanes.h"

typedef struct strain
{
    triangle_map map;
    wide ku, kv, k; // stiffness times area, N m
    wide damping;   // s
} strain;

WIDE_INLINE strain strain_load(const element_group* group, const int* elements)
{
    const double* rest = group->rest;
    return (strain){
        triangle_load(rest, STRAIN_STRIDE, elements),  wide_gather(rest, STRAIN_STRIDE, 4, elements),
        wide_gather(rest, STRAIN_STRIDE, 5, elements), wide_gather(rest, STRAIN_STRIDE, 6, elements),
        wide_gather(rest, STRAIN_STRIDE, 7, elements),
    };
}

// ---- R and C

typedef struct symmetric2
{
    wide uu, uv, vv;
} symmetric2;

typedef struct polar
{
    gradient R;
    wvec n;
    wide t; // trace of C
} polar;

// A triangle without area has any normal across its longer column.
WIDE_INLINE polar polar_of(gradient w)
{
    polar p;
    wvec normal = wv_cross(w.u, w.v);
    wide uu = wv_dot(w.u, w.u), vv = wv_dot(w.v, w.v), s = wide_sqrt(wv_dot(normal, normal));
    wvec any = wv_across(wv_select(uu > vv, w.u, w.v));
    p.n = wv_select(s > 1e-150, wv_scale(wide_safe_inverse(s), normal), any);
    p.t = wide_sqrt(uu + vv + 2.0 * s);
    wide inverse = wide_safe_inverse(p.t);
    p.R.u = wv_scale(inverse, wv_add(w.u, wv_cross(w.v, p.n)));
    p.R.v = wv_scale(inverse, wv_add(w.v, wv_cross(p.n, w.u)));
    return p;
}

WIDE_INLINE symmetric2 stretch_of(const polar* p, gradient w)
{
    return (symmetric2){wv_dot(p->R.u, w.u), 0.5 * (wv_dot(p->R.u, w.v) + wv_dot(p->R.v, w.u)), wv_dot(p->R.v, w.v)};
}

WIDE_INLINE gradient gradient_times(gradient w, symmetric2 c)
{
    return (gradient){wv_madd(wv_scale(c.uu, w.u), c.uv, w.v), wv_madd(wv_scale(c.uv, w.u), c.vv, w.v)};
}

WIDE_INLINE gradient gradient_less(gradient a, gradient b)
{
    return (gradient){wv_sub(a.u, b.u), wv_sub(a.v, b.v)};
}

WIDE_INLINE wide gradient_square(gradient a)
{
    return wv_dot(a.u, a.u) + wv_dot(a.v, a.v);
}

// ---- one triangle

typedef struct thread
{
    wide length, last; // now and at the start of the step
    wvec n;
} thread;

typedef struct sample
{
    gradient w;
    polar p;
    thread u, v;
    gradient stress; // dE/dw, with damping
} sample;

WIDE_INLINE thread thread_of(wvec w)
{
    thread a;
    a.length = a.last = wide_sqrt(wv_dot(w, w));
    a.n = wv_scale(wide_safe_inverse(a.length), w);
    return a;
}

WIDE_INLINE void add_threads(const strain* e, sample* s, wide rate_u, wide rate_v)
{
    s->stress.u = wv_madd(s->stress.u, e->ku * (s->u.length - 1.0 + e->damping * rate_u), s->u.n);
    s->stress.v = wv_madd(s->stress.v, e->kv * (s->v.length - 1.0 + e->damping * rate_v), s->v.n);
}

// C' of the last state: what both elasticity and damping are distances from, but for a rotation.
WIDE_INLINE symmetric2 target_of(const strain* e, gradient last, wide h)
{
    polar p = polar_of(last);
    symmetric2 c = stretch_of(&p, last);
    wide inverse = 1.0 / (h + e->damping);
    return (symmetric2){(h + e->damping * c.uu) * inverse, e->damping * c.uv * inverse,
                        (h + e->damping * c.vv) * inverse};
}

WIDE_INLINE void sample_from_last(const strain* e, sample* s, gradient last, double h)
{
    wide inv_h = wide_set(1.0 / h);
    symmetric2 target = target_of(e, last, wide_set(h));
    polar p = polar_of(gradient_times(s->w, target));
    gradient away = gradient_less(s->w, gradient_times(p.R, target));
    wide k = e->k * (1.0 + e->damping * inv_h);
    s->stress = (gradient){wv_scale(k, away.u), wv_scale(k, away.v)};
    s->u.last = wide_sqrt(wv_dot(last.u, last.u));
    s->v.last = wide_sqrt(wv_dot(last.v, last.v));
    add_threads(e, s, (s->u.length - s->u.last) * inv_h, (s->v.length - s->v.last) * inv_h);
}

// R times the rate of C, from that of F.
WIDE_INLINE gradient stretch_rate(const sample* s, gradient rate)
{
    symmetric2 c = stretch_of(&s->p, s->w);
    wide uu = wv_dot(s->p.R.u, rate.u), uv = wv_dot(s->p.R.u, rate.v);
    wide vu = wv_dot(s->p.R.v, rate.u), vv = wv_dot(s->p.R.v, rate.v);
    wide turn = (vu - uv) * wide_safe_inverse(s->p.t);
    return gradient_times(s->p.R, (symmetric2){uu + turn * c.uv, uv + turn * c.vv, vv - turn * c.uv});
}

WIDE_INLINE void sample_from_velocity(const strain* e, sample* s, gradient rate)
{
    gradient away = gradient_less(s->w, s->p.R), faster = stretch_rate(s, rate);
    s->stress.u = wv_scale(e->k, wv_madd(away.u, e->damping, faster.u));
    s->stress.v = wv_scale(e->k, wv_madd(away.v, e->damping, faster.v));
    add_threads(e, s, wv_dot(s->u.n, rate.u), wv_dot(s->v.n, rate.v));
}

WIDE_INLINE sample sample_of(const strain* e, const element_context* ctx, const int* elements, gradient* rate)
{
    const element_motion* m = ctx->motion;
    const int* vertices = ctx->group->vertices;
    sample s = {.w = gradient_of(&e->map, m->x, vertices, elements)};
    s.p = polar_of(s.w);
    s.u = thread_of(s.w.u);
    s.v = thread_of(s.w.v);
    if (m->x_last)
    {
        sample_from_last(e, &s, gradient_of(&e->map, m->x_last, vertices, elements), m->h);
        return s;
    }
    *rate = gradient_of(&e->map, m->v, vertices, elements);
    sample_from_velocity(e, &s, *rate);
    return s;
}

static void force(const void* context, const int* elements, double (*out)[3][BATCH])
{
    const element_context* ctx = context;
    strain e = strain_load(ctx->group, elements);
    gradient rate = {0};
    sample s = sample_of(&e, ctx, elements, &rate);
    wide minus = wide_set(-1.0);
    put_forces(&e.map, (gradient){wv_scale(minus, s.stress.u), wv_scale(minus, s.stress.v)}, out);
}

// ---- the clamped Hessian

typedef struct modes
{
    wide turn;       // 1/2 min(1, 2 / t)
    symmetric2 tilt; // min(1, 1 / sigma) in the singular directions
    wide tu, tv;     // max(0, 1 - 1 / length) of the threads
} modes;

WIDE_INLINE wide at_most_one(wide a)
{
    return 1.0 / wide_max(a, wide_set(1.0));
}

WIDE_INLINE modes modes_of(const sample* s)
{
    symmetric2 c = stretch_of(&s->p, s->w);
    wide half = 0.5 * (c.uu - c.vv), root = wide_sqrt(half * half + c.uv * c.uv), mean = 0.5 * (c.uu + c.vv);
    wide low = at_most_one(mean - root), high = at_most_one(mean + root);
    wide slope = (high - low) * wide_safe_inverse(2.0 * root), least = mean - root;
    return (modes){.turn = 0.5 * at_most_one(0.5 * s->p.t),
                   .tilt = {low + slope * (c.uu - least), slope * c.uv, low + slope * (c.vv - least)},
                   .tu = 1.0 - at_most_one(s->u.length),
                   .tv = 1.0 - at_most_one(s->v.length)};
}

WIDE_INLINE wvec thread_multiply(const thread* a, wide t, wvec d)
{
    return wv_madd(wv_scale(t, d), (1.0 - t) * wv_dot(a->n, d), a->n);
}

// K times a change of F.
WIDE_INLINE gradient hessian_multiply(const strain* e, const sample* s, const modes* m, gradient d)
{
    const gradient* R = &s->p.R;
    wide turn = m->turn * (wv_dot(R->u, d.v) - wv_dot(R->v, d.u));
    wide nu = wv_dot(s->p.n, d.u), nv = wv_dot(s->p.n, d.v);
    gradient out = {wv_madd(d.u, turn, R->v), wv_madd(d.v, -turn, R->u)};
    out.u = wv_madd(out.u, -(m->tilt.uu * nu + m->tilt.uv * nv), s->p.n);
    out.v = wv_madd(out.v, -(m->tilt.uv * nu + m->tilt.vv * nv), s->p.n);
    out.u = wv_madd(wv_scale(e->k, out.u), e->ku, thread_multiply(&s->u, m->tu, d.u));
    out.v = wv_madd(wv_scale(e->k, out.v), e->kv, thread_multiply(&s->v, m->tv, d.v));
    return out;
}

// Damping counts along threads, and for changes of C alone.
WIDE_INLINE void put_hessian(const strain* e, const sample* s, const modes* m, double h, element_batch* out)
{
    wide h2 = wide_set(h * h), hd = h * e->damping;
    wide nu = e->ku * (h2 * (1.0 - m->tu) + hd), nv = e->kv * (h2 * (1.0 - m->tv) + hd);
    wide k = h2 * e->k, kd = hd * e->k, turn = k * m->turn + 0.5 * kd;
    wide tilt[3] = {k * m->tilt.uu + kd, k * m->tilt.uv, k * m->tilt.vv + kd};
    wide du = k + kd + h2 * e->ku * m->tu, dv = k + kd + h2 * e->kv * m->tv;
    const gradient* R = &s->p.R;
    const wide ru[3] = {R->u.x, R->u.y, R->u.z}, rv[3] = {R->v.x, R->v.y, R->v.z};
    const wide n[3] = {s->p.n.x, s->p.n.y, s->p.n.z};
    const wide a[3] = {s->u.n.x, s->u.n.y, s->u.n.z}, b[3] = {s->v.n.x, s->v.n.y, s->v.n.z};
    wide uu[9], uv[9], vv[9];
    for (int r = 0; r < 3; r++)
    {
        for (int c = 0; c < 3; c++)
        {
            int i = 3 * r + c;
            wide nn = n[r] * n[c];
            uu[i] = nu * a[r] * a[c] - turn * rv[r] * rv[c] - tilt[0] * nn;
            vv[i] = nv * b[r] * b[c] - turn * ru[r] * ru[c] - tilt[2] * nn;
            uv[i] = turn * rv[r] * ru[c] - tilt[1] * nn;
            if (r == c)
            {
                uu[i] += du;
                vv[i] += dv;
            }
        }
    }
    put_blocks(&e->map, uu, uv, vv, out);
}

static void evaluate(const void* context, const int* elements, element_batch* out)
{
    const element_context* ctx = context;
    const element_motion* motion = ctx->motion;
    strain e = strain_load(ctx->group, elements);
    gradient rate = {0}, g;
    sample s = sample_of(&e, ctx, elements, &rate);
    modes m = modes_of(&s);
    g = s.stress;
    if (!motion->x_last)
    {
        gradient stiff = hessian_multiply(&e, &s, &m, rate); // h K v, with the clamped K
        g.u = wv_madd(g.u, wide_set(motion->h), stiff.u);
        g.v = wv_madd(g.v, wide_set(motion->h), stiff.v);
    }
    put_forces(&e.map, (gradient){wv_scale(wide_set(-motion->h), g.u), wv_scale(wide_set(-motion->h), g.v)}, out->rhs);
    put_hessian(&e, &s, &m, motion->h, out);
}

// ---- energies

// What the damping of a step adds to the elastic energy: both at the rotation that is best for their sum.
WIDE_INLINE wide dissipation_of(const strain* e, const sample* s, gradient last, double h)
{
    wide share = e->damping * wide_set(1.0 / h);
    polar start = polar_of(last);
    symmetric2 c = stretch_of(&start, last);
    polar p = polar_of(gradient_times(s->w, target_of(e, last, wide_set(h))));
    gradient away = gradient_less(s->w, p.R), best = gradient_less(s->w, s->p.R);
    gradient moved = gradient_less(s->w, gradient_times(p.R, c));
    wide u = s->u.length - wide_sqrt(wv_dot(last.u, last.u)), v = s->v.length - wide_sqrt(wv_dot(last.v, last.v));
    wide threads = share * (e->ku * u * u + e->kv * v * v);
    return 0.5 * (threads + e->k * (gradient_square(away) - gradient_square(best) + share * gradient_square(moved)));
}

// Lanes past the end repeat the last element and count nothing.
static void energy(const element_context* context, int begin, int end, energy_sums* sums)
{
    const element_motion* motion = context->motion;
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
        strain e = strain_load(context->group, elements);
        sample s = {.w = gradient_of(&e.map, motion->x, vertices, elements)};
        s.p = polar_of(s.w);
        s.u = thread_of(s.w.u);
        s.v = thread_of(s.w.v);
        wide cu = s.u.length - 1.0, cv = s.v.length - 1.0;
        sums->stretch += wide_sum(counted * (0.5 * (e.ku * cu * cu + e.kv * cv * cv)));
        sums->shear += wide_sum(counted * (0.5 * e.k * gradient_square(gradient_less(s.w, s.p.R))));
        wide longest = wide_max(s.u.length, s.v.length);
        for (int k = 0; k < WIDE; k++)
        {
            sums->max_stretch = longest[k] > sums->max_stretch ? longest[k] : sums->max_stretch;
        }
        if (motion->x_last)
        {
            gradient last = gradient_of(&e.map, motion->x_last, vertices, elements);
            sums->dissipation += wide_sum(counted * dissipation_of(&e, &s, last, motion->h));
        }
    }
}

extern const element_kernels KERNEL_NAME(strain_kernels);
const element_kernels KERNEL_NAME(strain_kernels) = {evaluate, energy, force, NULL};
