// The equivalent of Choi and Ko's connections on triangle meshes whose edges follow no threads: strains of each
// triangle in the directions of its material, one-sided as connections are. With rest area a and w_u, w_v the columns
// of the deformation gradient:
//
// *Threads* (warp and weft). E = a k/2 (|w| - 1)^2 where |w| >= 1, else nothing: a connection along w, of length 1,
// whose ends are weighted sums of three vertices (connection_lanes.h). However the edges lie, pulled threads have
// nothing to straighten.
//
// *Shear.* On a grid it lengthens a diagonal, which is slack below its length. A diagonal would also lengthen with the
// threads, and add to the stretch of cloth whose width is held, but not where it is free. Here its length at rest grows
// with those threads that are taut, so that it knows shear alone: it acts where
//
//     |w_u +- w_v|^2 >= max(1, |w_u|)^2 + max(1, |w_v|)^2
//
// and half of the difference is its strain, for the sign of c = w_u . w_v (for the other it is never above zero):
//
//     s = |c| - ((1 - |w_u|^2)+ + (1 - |w_v|^2)+) / 2,    E = a k/2 s^2 where s >= 0
//
// Between taut threads that is Baraff and Witkin's c^2; what is compressed may turn until its diagonal is as long as at
// rest. Gradient g = (sign w_v + [u slack] w_u; sign w_u + [v slack] w_v), Hessian of s: H (x) I, H = [[u slack, sign],
// [sign, v slack]]. K = a k (g g^T + s H+ (x) I) with H+ the positive part of H, so that it is semidefinite; left out
// is s (H - H+).
//
// Dampers work on the rates of |w| and s as on lengths of connections; plain is of w, and for shear of the diagonal
// w_u + sign w_v, twice, as s is half of a square of length 2.
#include "material/connection_lanes.h"
#include "material/triangle_lanes.h"
#include "material/weave.h"

// ---- threads

typedef struct thread_map
{
    wide b1, b2;
} thread_map;

WIDE_INLINE wvec thread_along(const thread_map* e, const vec3* x, const int* vertices, const int* elements)
{
    wvec x0 = wv_gather(x, vertices, 3, 0, elements);
    wvec d1 = wv_sub(wv_gather(x, vertices, 3, 1, elements), x0);
    wvec d2 = wv_sub(wv_gather(x, vertices, 3, 2, elements), x0);
    return wv_madd(wv_scale(e->b1, d1), e->b2, d2);
}

WIDE_INLINE link thread_load(const element_context* ctx, const int* elements, thread_map* e)
{
    const element_motion* m = ctx->motion;
    const int* vertices = ctx->group->vertices;
    const double* rest = ctx->group->rest;
    *e = (thread_map){wide_gather(rest, THREAD_STRIDE, THREAD_B1, elements),
                      wide_gather(rest, THREAD_STRIDE, THREAD_B2, elements)};
    wide one = wide_set(1.0);
    link_rest r = {.k = wide_gather(rest, THREAD_STRIDE, THREAD_STIFFNESS, elements),
                   .length = one,
                   .c = wide_gather(rest, THREAD_STRIDE, THREAD_DAMPING, elements),
                   .form = wide_gather(rest, THREAD_STRIDE, THREAD_FORM, elements),
                   .slack = one > 0.5};
    return link_of(&r, m, thread_along(e, m->x, vertices, elements),
                   thread_along(e, m->x_last ? m->x_last : m->v, vertices, elements));
}

// Minus what pulls w, to the three vertices.
WIDE_INLINE void put_thread(const thread_map* e, wvec f, double (*out)[3][BATCH])
{
    put_vector(out[0], wv_scale(e->b1 + e->b2, f));
    put_vector(out[1], wv_scale(-e->b1, f));
    put_vector(out[2], wv_scale(-e->b2, f));
}

static void thread_force(const void* context, const int* elements, double (*out)[3][BATCH])
{
    thread_map e;
    link s = thread_load(context, elements, &e);
    put_thread(&e, link_pull(&s), out);
}

static void thread_evaluate(const void* context, const int* elements, element_batch* out)
{
    thread_map e;
    link s = thread_load(context, elements, &e);
    link_part part = link_evaluate(&s, ((const element_context*)context)->motion);
    put_thread(&e, part.rhs, out->rhs);
    const wide n[3] = {s.n.x, s.n.y, s.n.z}, b[3] = {-(e.b1 + e.b2), e.b1, e.b2};
    for (int q = 0; q < 9; q++)
    {
        wide value = part.outer * n[q / 3] * n[q % 3];
        value = q % 4 == 0 ? value + part.equal : value;
        for (int i = 0; i < 3; i++)
        {
            for (int j = i; j < 3; j++)
            {
                wide_store(out->block[pair_index(3, i, j)][q], b[i] * b[j] * value);
            }
        }
    }
}

static vec3 thread_at(const double* rest, const int* v, const vec3* x)
{
    vec3 w = v3_scale(rest[THREAD_B1], v3_sub(x[v[1]], x[v[0]]));
    return v3_madd(w, rest[THREAD_B2], v3_sub(x[v[2]], x[v[0]]));
}

static void thread_energy(const element_context* ctx, int begin, int end, energy_sums* sums)
{
    const element_motion* m = ctx->motion;
    for (int e = begin; e < end; e++)
    {
        const int* v = ctx->group->vertices + 3 * (size_t)e;
        const double* rest = ctx->group->rest + THREAD_STRIDE * (size_t)e;
        vec3 w = thread_at(rest, v, m->x);
        double l = v3_length(w), extension = fmax(l - 1.0, 0.0);
        sums->stretch += 0.5 * rest[THREAD_STIFFNESS] * extension * extension;
        sums->max_stretch = fmax(sums->max_stretch, l);
        if (m->x_last)
        {
            vec3 last = thread_at(rest, v, m->x_last), moved = v3_sub(w, last);
            const double length[2] = {v3_length(last), l};
            sums->dissipation += link_dissipation((damper_form)(int)rest[THREAD_FORM], true,
                                                  0.5 / m->h * rest[THREAD_DAMPING], length, 1.0, v3_dot(moved, moved));
        }
    }
}

extern const element_kernels KERNEL_NAME(thread_kernels);
const element_kernels KERNEL_NAME(thread_kernels) = {thread_evaluate, thread_energy, thread_force, NULL};

// ---- shear

typedef struct skew
{
    triangle_map map;
    wide k, c;
    wide s, sign;
    gradient g;             // of s
    wide slack_u, slack_v;  // 1 or 0
    wide_mask acts, pushes; // there is a block; there is a force though s is below zero
    wide_mask damped, plain;
    wide gap;       // 1/s, rate of s
    gradient drift; // 1/s, of w; over a step where there is a last state
    wide way;       // sign of the diagonal that plain damping is of
} skew;

typedef struct skew_state
{
    wide s, sign, slack_u, slack_v;
} skew_state;

WIDE_INLINE skew_state skew_at(gradient w)
{
    wide zero = wide_set(0.0), one = wide_set(1.0), c = wv_dot(w.u, w.v);
    wide left_u = 1.0 - wv_dot(w.u, w.u), left_v = 1.0 - wv_dot(w.v, w.v);
    skew_state s = {.sign = wide_select(c < 0.0, -one, one),
                    .slack_u = wide_select(left_u > 0.0, one, zero),
                    .slack_v = wide_select(left_v > 0.0, one, zero)};
    s.s = s.sign * c - 0.5 * (s.slack_u * left_u + s.slack_v * left_v);
    return s;
}

WIDE_INLINE void skew_since(skew* e, const element_motion* m, gradient w, gradient last)
{
    skew_state was = skew_at(last);
    wide inv_h = wide_set(1.0 / m->h), zero = wide_set(0.0);
    e->gap = (wide_max(e->s, zero) - wide_max(was.s, zero)) * inv_h;
    e->drift = (gradient){wv_scale(inv_h, wv_sub(w.u, last.u)), wv_scale(inv_h, wv_sub(w.v, last.v))};
    e->way = was.sign;
    e->damped = (e->plain & (was.s > -SKEW_ROUNDED)) | (~e->plain & e->acts);
}

WIDE_INLINE void skew_moves(skew* e, const element_motion* m, gradient rate)
{
    e->drift = rate;
    e->gap = wv_dot(e->g.u, rate.u) + wv_dot(e->g.v, rate.v);
    e->way = e->sign;
    if (m->ahead)
    {
        e->pushes = ~e->acts & (e->s + m->h * e->gap > SKEW_AHEAD);
        e->acts |= e->pushes;
    }
    e->damped = e->acts;
}

WIDE_INLINE skew skew_load(const element_context* ctx, const int* elements)
{
    const element_motion* m = ctx->motion;
    const int* vertices = ctx->group->vertices;
    const double* rest = ctx->group->rest;
    skew e = {.map = triangle_load(rest, SKEW_STRIDE, elements),
              .k = wide_gather(rest, SKEW_STRIDE, SKEW_STIFFNESS, elements),
              .c = wide_gather(rest, SKEW_STRIDE, SKEW_DAMPING, elements)};
    wide form = wide_gather(rest, SKEW_STRIDE, SKEW_FORM, elements);
    gradient w = gradient_of(&e.map, m->x, vertices, elements);
    skew_state now = skew_at(w);
    e.s = now.s, e.sign = now.sign, e.slack_u = now.slack_u, e.slack_v = now.slack_v;
    e.g.u = wv_madd(wv_scale(e.sign, w.v), e.slack_u, w.u);
    e.g.v = wv_madd(wv_scale(e.sign, w.u), e.slack_v, w.v);
    e.acts = e.s > -SKEW_ROUNDED;
    e.pushes = e.s > 2.0 * wide_abs(e.s) + 1.0; // none
    e.plain = form == (double)DAMPER_PLAIN;
    gradient moved = gradient_of(&e.map, m->x_last ? m->x_last : m->v, vertices, elements);
    m->x_last ? skew_since(&e, m, w, moved) : skew_moves(&e, m, moved);
    e.damped &= (form != (double)DAMPER_NONE) & ((form != (double)DAMPER_PROJECTED) | (e.gap > 0.0));
    return e;
}

// dE/dw, and what damping adds.
WIDE_INLINE gradient skew_stress(const skew* e)
{
    wide zero = wide_set(0.0), c = wide_select(e->damped, e->c, zero);
    wide strain = wide_select(e->pushes, e->s, wide_max(e->s, zero));
    wide along = e->k * strain + wide_select(e->plain, zero, c * e->gap), twice = wide_select(e->plain, 2.0 * c, zero);
    wvec way = wv_scale(twice, wv_madd(e->drift.u, e->way, e->drift.v));
    return (gradient){wv_madd(way, along, e->g.u), wv_madd(wv_scale(e->way, way), along, e->g.v)};
}

static void skew_force(const void* context, const int* elements, double (*out)[3][BATCH])
{
    skew e = skew_load(context, elements);
    gradient g = skew_stress(&e);
    wide minus = wide_set(-1.0);
    put_forces(&e.map, (gradient){wv_scale(minus, g.u), wv_scale(minus, g.v)}, out);
}

// The positive part of [[slack_u, sign], [sign, slack_v]]: with one of the two slack its eigenvalue is the golden
// ratio f, along (f, sign).
typedef struct positive_part
{
    wide uu, uv, vv;
} positive_part;

WIDE_INLINE positive_part hessian_part(const skew* e)
{
    const double f = 1.6180339887498949, share = f / (f * f + 1.0);
    wide both = e->slack_u * e->slack_v, none = (1.0 - e->slack_u) * (1.0 - e->slack_v);
    wide only_u = e->slack_u - both, only_v = e->slack_v - both;
    return (positive_part){both + 0.5 * none + share * (f * f * only_u + only_v),
                           e->sign * (both + 0.5 * none + share * f * (only_u + only_v)),
                           both + 0.5 * none + share * (only_u + f * f * only_v)};
}

static void skew_evaluate(const void* context, const int* elements, element_batch* out)
{
    const element_motion* m = ((const element_context*)context)->motion;
    skew e = skew_load(context, elements);
    wide zero = wide_set(0.0), h2 = wide_set(m->h * m->h);
    wide k = h2 * wide_select(e.acts, e.k, zero), bent = k * wide_max(e.s, zero);
    wide c = m->h * wide_select(e.damped, e.c, zero), plain = wide_select(e.plain, 2.0 * c, zero);
    wide outer = k + wide_select(e.plain, zero, c);
    positive_part H = hessian_part(&e);
    gradient stress = skew_stress(&e);
    wvec fu = wv_scale(wide_set(m->h), stress.u), fv = wv_scale(wide_set(m->h), stress.v);
    if (!m->x_last)
    {
        wide along = k * e.gap;
        fu = wv_madd(wv_madd(wv_madd(fu, along, e.g.u), bent * H.uu, e.drift.u), bent * H.uv, e.drift.v);
        fv = wv_madd(wv_madd(wv_madd(fv, along, e.g.v), bent * H.uv, e.drift.u), bent * H.vv, e.drift.v);
    }
    wide minus = wide_set(-1.0);
    put_forces(&e.map, (gradient){wv_scale(minus, fu), wv_scale(minus, fv)}, out->rhs);
    const wide u[3] = {e.g.u.x, e.g.u.y, e.g.u.z}, v[3] = {e.g.v.x, e.g.v.y, e.g.v.z};
    wide uu[9], uv[9], vv[9];
    for (int q = 0; q < 9; q++)
    {
        uu[q] = outer * u[q / 3] * u[q % 3];
        uv[q] = outer * u[q / 3] * v[q % 3];
        vv[q] = outer * v[q / 3] * v[q % 3];
        if (q % 4 == 0)
        {
            uu[q] += bent * H.uu + plain;
            uv[q] += bent * H.uv + e.way * plain;
            vv[q] += bent * H.vv + plain;
        }
    }
    put_blocks(&e.map, uu, uv, vv, out);
}

static void columns_at(const double* map, const int* v, const vec3* x, vec3 w[2])
{
    vec3 e1 = v3_sub(x[v[1]], x[v[0]]), e2 = v3_sub(x[v[2]], x[v[0]]);
    w[0] = v3_madd(v3_scale(map[0], e1), map[1], e2);
    w[1] = v3_madd(v3_scale(map[2], e1), map[3], e2);
}

static void skew_energy(const element_context* ctx, int begin, int end, energy_sums* sums)
{
    const element_motion* m = ctx->motion;
    for (int e = begin; e < end; e++)
    {
        const int* v = ctx->group->vertices + 3 * (size_t)e;
        const double* rest = ctx->group->rest + SKEW_STRIDE * (size_t)e;
        vec3 w[2], last[2];
        columns_at(rest, v, m->x, w);
        skew_strain now = skew_of(w[0], w[1]);
        double s = fmax(now.s, 0.0);
        sums->shear += 0.5 * rest[SKEW_STIFFNESS] * s * s;
        if (m->x_last)
        {
            columns_at(rest, v, m->x_last, last);
            skew_strain was = skew_of(last[0], last[1]);
            vec3 moved = v3_madd(v3_sub(w[0], last[0]), was.sign, v3_sub(w[1], last[1]));
            // As a length of 1 + s, which is slack below 1.
            const double length[2] = {1.0 + was.s, 1.0 + now.s};
            sums->dissipation +=
                link_dissipation((damper_form)(int)rest[SKEW_FORM], true, 0.5 / m->h * rest[SKEW_DAMPING], length, 1.0,
                                 2.0 * v3_dot(moved, moved));
        }
    }
}

extern const element_kernels KERNEL_NAME(skew_kernels);
const element_kernels KERNEL_NAME(skew_kernels) = {skew_evaluate, skew_energy, skew_force, NULL};
