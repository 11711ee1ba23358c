// Baraff and Witkin's stretch and shear on a triangle of rest area a, with deformation gradient columns w_u, w_v:
//
//     E = a/2 (k_u (|w_u| - 1)^2 + k_v (|w_v| - 1)^2 + k_s (w_u . w_v)^2)
//
// Stiffness in N/m, so the energy does not depend on the mesh (Baraff and Witkin 1998, section 4; scaling: FACTS of
// the field, "no further scaling"). Stretch Hessian k a (n n^T + max(0, 1 - 1/|w|)(I - n n^T)). Shear Hessian
// k_s a (p p^T + c J) with p = (w_v; w_u), c = w_u . w_v, J swapping the halves: in the eigenspaces of J it falls
// apart into c (twice), -c (twice) and m +- sqrt(m^2 + 3 c^2) with m = (|w_u|^2 + |w_v|^2) / 2, so clamping is
// analytic (after Kim 2020).
#include "material/membrane.h"
#include "material/triangle_lanes.h"

typedef struct membrane
{
    triangle_map map;
    wide ku, kv, ks; // stiffness times area, N m
    wide damping;    // s
} membrane;

WIDE_INLINE membrane membrane_load(const element_group* group, const int* elements)
{
    wide rest[WIDE];
    wide_gather_rows(group->rest, MEMBRANE_STRIDE, elements, rest);
    return (membrane){{rest[0], rest[1], rest[2], rest[3]}, rest[4], rest[5], rest[6], rest[7]};
}

// The clamped shear Hessian in the eigenspaces of J, for unit stiffness: plus/minus are unit vectors (or zero).
typedef struct shear_modes
{
    wide c;               // w_u . w_v
    wide c_plus, c_minus; // max(c, 0), max(-c, 0)
    wvec plus, minus;     // directions of (w_u + w_v) and (w_v - w_u)
    wide pp, mm, pm;      // lambda y y^T in the plane of (plus, minus)
} shear_modes;

WIDE_INLINE shear_modes shear_modes_of(gradient w)
{
    shear_modes s;
    wide zero = wide_set(0.0);
    s.c = wv_dot(w.u, w.v);
    s.c_plus = wide_max(s.c, zero);
    s.c_minus = wide_max(-s.c, zero);
    wvec sum = wv_add(w.u, w.v), difference = wv_sub(w.v, w.u);
    s.plus = wv_scale(wide_safe_inverse(wide_sqrt(wv_dot(sum, sum))), sum);
    s.minus = wv_scale(wide_safe_inverse(wide_sqrt(wv_dot(difference, difference))), difference);
    wide m = 0.5 * (wv_dot(w.u, w.u) + wv_dot(w.v, w.v));
    wide root = wide_sqrt(m * m + 3.0 * s.c * s.c);
    wide off = wide_sqrt(wide_max(m * m - s.c * s.c, zero));
    // Two forms of the same eigenvector; the one without cancellation is taken.
    wide y1 = wide_select(s.c >= 0.0, root + 2.0 * s.c, off);
    wide y2 = wide_select(s.c >= 0.0, off, root - 2.0 * s.c);
    wide scale = (m + root) * wide_safe_inverse(y1 * y1 + y2 * y2);
    s.pp = scale * y1 * y1;
    s.mm = scale * y2 * y2;
    s.pm = scale * y1 * y2;
    return s;
}

// The clamped shear Hessian times (du; dv).
WIDE_INLINE gradient shear_multiply(const shear_modes* s, gradient d)
{
    wvec dp = wv_add(d.u, d.v), dm = wv_sub(d.u, d.v); // twice the halves; the 1/2 comes at the end
    wide p = wv_dot(s->plus, dp), m = wv_dot(s->minus, dm);
    wvec rp = wv_madd(wv_scale(s->c_plus, dp), s->pp * p + s->pm * m - s->c_plus * p, s->plus);
    wvec rm = wv_madd(wv_scale(s->c_minus, dm), s->mm * m + s->pm * p - s->c_minus * m, s->minus);
    return (gradient){wv_scale(wide_set(0.5), wv_add(rp, rm)), wv_scale(wide_set(0.5), wv_sub(rp, rm))};
}

// One thread direction: unit vector, clamped share of the tangential stiffness.
typedef struct thread
{
    wide length;
    wvec n;
    wide t; // max(0, 1 - 1/length)
} thread;

WIDE_INLINE thread thread_of(wvec w)
{
    thread a;
    a.length = wide_sqrt(wv_dot(w, w));
    wide inverse = wide_safe_inverse(a.length);
    a.n = wv_scale(inverse, w);
    a.t = wide_select(a.length > 1.0, 1.0 - inverse, wide_set(0.0));
    return a;
}

typedef struct rates
{
    wide u, v, s; // of |w_u|, |w_v|, w_u . w_v
} rates;

WIDE_INLINE rates rates_from_velocity(gradient w, const thread* tu, const thread* tv, gradient rate)
{
    return (rates){wv_dot(tu->n, rate.u), wv_dot(tv->n, rate.v), wv_dot(w.u, rate.v) + wv_dot(w.v, rate.u)};
}

WIDE_INLINE rates rates_from_last(gradient w, const thread* tu, const thread* tv, gradient last, double h)
{
    wide inv_h = wide_set(1.0 / h);
    return (rates){(tu->length - wide_sqrt(wv_dot(last.u, last.u))) * inv_h,
                   (tv->length - wide_sqrt(wv_dot(last.v, last.v))) * inv_h,
                   (wv_dot(w.u, w.v) - wv_dot(last.u, last.v)) * inv_h};
}

// dE/dw of stretch and shear, and what damping adds.
WIDE_INLINE gradient stress_of(const membrane* e, gradient w, const thread* tu, const thread* tv, rates rate)
{
    wide su = e->ku * (tu->length - 1.0 + e->damping * rate.u);
    wide sv = e->kv * (tv->length - 1.0 + e->damping * rate.v);
    wide ss = e->ks * (wv_dot(w.u, w.v) + e->damping * rate.s);
    return (gradient){wv_madd(wv_scale(su, tu->n), ss, w.v), wv_madd(wv_scale(sv, tv->n), ss, w.u)};
}

static void force(const void* context, const int* elements, double (*out)[3][BATCH])
{
    const element_context* ctx = context;
    const int* vertices = ctx->group->vertices;
    membrane e = membrane_load(ctx->group, elements);
    gradient w = gradient_of(&e.map, ctx->motion->x, vertices, elements);
    thread tu = thread_of(w.u), tv = thread_of(w.v);
    rates rate = rates_from_velocity(w, &tu, &tv, gradient_of(&e.map, ctx->motion->v, vertices, elements));
    gradient g = stress_of(&e, w, &tu, &tv, rate);
    wide minus = wide_set(-1.0);
    put_forces(&e.map, (gradient){wv_scale(minus, g.u), wv_scale(minus, g.v)}, out);
}

WIDE_INLINE void put_hessian(const membrane* e, gradient w, const thread* tu, const thread* tv, const shear_modes* s,
                             double h, element_batch* out)
{
    wide h2 = wide_set(h * h), hd = h * e->damping;
    wide nu = e->ku * (h2 * (1.0 - tu->t) + hd), du = e->ku * h2 * tu->t;
    wide nv = e->kv * (h2 * (1.0 - tv->t) + hd), dv = e->kv * h2 * tv->t;
    wide k = 0.5 * e->ks * h2, kd = e->ks * hd;
    wide pp = k * (s->pp - s->c_plus), mm = k * (s->mm - s->c_minus), pm = k * s->pm;
    wide diagonal = k * (s->c_plus + s->c_minus), cross = k * s->c;
    const wide wu[3] = {w.u.x, w.u.y, w.u.z}, wv[3] = {w.v.x, w.v.y, w.v.z};
    const wide a[3] = {tu->n.x, tu->n.y, tu->n.z}, b[3] = {tv->n.x, tv->n.y, tv->n.z};
    const wide p[3] = {s->plus.x, s->plus.y, s->plus.z}, m[3] = {s->minus.x, s->minus.y, s->minus.z};
    wide uu[9], uv[9], vv[9];
    for (int r = 0; r < 3; r++)
    {
        for (int c = 0; c < 3; c++)
        {
            wide plus = pp * p[r] * p[c], minus = mm * m[r] * m[c];
            wide mixed = pm * p[r] * m[c], dexim = pm * m[r] * p[c];
            int i = 3 * r + c;
            uu[i] = nu * a[r] * a[c] + kd * wv[r] * wv[c] + (plus + minus + (mixed + dexim));
            vv[i] = nv * b[r] * b[c] + kd * wu[r] * wu[c] + (plus + minus - (mixed + dexim));
            uv[i] = kd * wv[r] * wu[c] + (plus - minus - mixed + dexim);
            if (r == c)
            {
                uu[i] += du + diagonal;
                vv[i] += dv + diagonal;
                uv[i] += cross;
            }
        }
    }
    put_blocks(&e->map, uu, uv, vv, out);
}

// Nothing clamped, and with the share that damping has in the stress: the Hessian of energy and dissipation.
static void put_exact(const membrane* e, gradient w, const thread* tu, const thread* tv, rates rate, double h,
                      element_batch* out)
{
    wide h2 = wide_set(h * h), whole = h2 + h * e->damping;
    wide du = e->ku * h2 * (tu->length - 1.0 + e->damping * rate.u) * wide_safe_inverse(tu->length);
    wide dv = e->kv * h2 * (tv->length - 1.0 + e->damping * rate.v) * wide_safe_inverse(tv->length);
    wide nu = e->ku * whole - du, nv = e->kv * whole - dv, ns = e->ks * whole;
    wide cross = e->ks * h2 * (wv_dot(w.u, w.v) + e->damping * rate.s);
    const wide wu[3] = {w.u.x, w.u.y, w.u.z}, wv[3] = {w.v.x, w.v.y, w.v.z};
    const wide a[3] = {tu->n.x, tu->n.y, tu->n.z}, b[3] = {tv->n.x, tv->n.y, tv->n.z};
    wide uu[9], uv[9], vv[9];
    for (int i = 0; i < 9; i++)
    {
        int r = i / 3, c = i % 3;
        uu[i] = nu * a[r] * a[c] + ns * wv[r] * wv[c];
        vv[i] = nv * b[r] * b[c] + ns * wu[r] * wu[c];
        uv[i] = ns * wv[r] * wu[c];
    }
    for (int i = 0; i < 9; i += 4)
    {
        uu[i] += du;
        vv[i] += dv;
        uv[i] += cross;
    }
    put_blocks(&e->map, uu, uv, vv, out);
}

static void evaluate(const void* context, const int* elements, element_batch* out)
{
    const element_context* ctx = context;
    const element_motion* motion = ctx->motion;
    const int* vertices = ctx->group->vertices;
    membrane e = membrane_load(ctx->group, elements);
    gradient w = gradient_of(&e.map, motion->x, vertices, elements);
    thread tu = thread_of(w.u), tv = thread_of(w.v);
    shear_modes s = shear_modes_of(w);

    rates rate;
    gradient stiff = {{wide_set(0), wide_set(0), wide_set(0)}, {wide_set(0), wide_set(0), wide_set(0)}};
    if (motion->x_last)
    {
        rate = rates_from_last(w, &tu, &tv, gradient_of(&e.map, motion->x_last, vertices, elements), motion->h);
    }
    else
    {
        // h K v, with the clamped K
        gradient dw = gradient_of(&e.map, motion->v, vertices, elements);
        rate = rates_from_velocity(w, &tu, &tv, dw);
        stiff = shear_multiply(&s, dw);
        stiff.u = wv_scale(motion->h * e.ks, stiff.u);
        stiff.v = wv_scale(motion->h * e.ks, stiff.v);
        stiff.u = wv_madd(stiff.u, motion->h * e.ku * (1.0 - tu.t) * rate.u, tu.n);
        stiff.u = wv_madd(stiff.u, motion->h * e.ku * tu.t, dw.u);
        stiff.v = wv_madd(stiff.v, motion->h * e.kv * (1.0 - tv.t) * rate.v, tv.n);
        stiff.v = wv_madd(stiff.v, motion->h * e.kv * tv.t, dw.v);
    }
    gradient g = stress_of(&e, w, &tu, &tv, rate);
    wvec gu = wv_add(g.u, stiff.u), gv = wv_add(g.v, stiff.v);
    put_forces(&e.map, (gradient){wv_scale(wide_set(-motion->h), gu), wv_scale(wide_set(-motion->h), gv)}, out->rhs);
    if (motion->exact)
    {
        put_exact(&e, w, &tu, &tv, rate, motion->h, out);
        return;
    }
    put_hessian(&e, w, &tu, &tv, &s, motion->h, out);
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
        membrane e = membrane_load(context->group, elements);
        gradient w = gradient_of(&e.map, motion->x, vertices, elements);
        thread tu = thread_of(w.u), tv = thread_of(w.v);
        wide cu = tu.length - 1.0, cv = tv.length - 1.0, cs = wv_dot(w.u, w.v);
        sums->stretch += wide_sum(counted * (0.5 * (e.ku * cu * cu + e.kv * cv * cv)));
        sums->shear += wide_sum(counted * (0.5 * e.ks * cs * cs));
        wide longest = wide_max(tu.length, tv.length);
        for (int k = 0; k < WIDE; k++)
        {
            sums->max_stretch = longest[k] > sums->max_stretch ? longest[k] : sums->max_stretch;
        }
        if (motion->x_last)
        {
            gradient last = gradient_of(&e.map, motion->x_last, vertices, elements);
            rates r = rates_from_last(w, &tu, &tv, last, motion->h);
            wide power = e.ku * r.u * r.u + e.kv * r.v * r.v + e.ks * r.s * r.s;
            sums->dissipation += wide_sum(counted * (0.5 * motion->h * e.damping * power));
        }
    }
}

extern const element_kernels KERNEL_NAME(membrane_kernels);
const element_kernels KERNEL_NAME(membrane_kernels) = {evaluate, energy, force, NULL};
