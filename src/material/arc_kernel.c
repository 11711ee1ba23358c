// Bend springs of Choi and Ko (Boxerman 2003, section 3.2). A compressed spring of rest length L stands for a circular
// arc of that length: with curvature kappa, theta = kappa L / 2 and s = l / L = sin(theta) / theta,
//
//     E = k kappa^2 L / 2 = 2 k theta^2 / L,    force on vertex 0: (dE/dl) n = (4 k / L^2) F(s) n,
//     F = theta^2 / (cos theta - sin(theta) / theta),    F(1) = -3
//
// with k in N m^2: it pushes, and its size does not vanish as l comes to L (it is the load of buckling). What the
// thesis prints, and what is meant:
//
//     (3.8)   f(|x| / L) k_s x / |x|              k_s is no stiffness but a force in N: 4 k / L^2
//     (3.9)   "a fifth-order polynomial"          of degree 4: it fits F on 0 <= s <= 1 within 1.6 %, f(1) = -3.03
//     (3.10)  df/d|x| x x^T / x^T x               (k_s / L) f'(s) n n^T: without k_s its unit is wrong. f' > 0, so it
//                                                 is semidefinite; what is left out, k_s f(s) / l (I - n n^T), is not
//     note 2  a linear part for small deformations     c_b (l - L) n, until it reaches k_s f(s); c_b is not given
//
// c_b is a parameter of its own: it takes part in the energy and in the criterion, and where the motion says so
// (bending is explicit) it is capped by the masses. Springs that are as long as L or longer do nothing.
//
// Damping is that of connections (connection_kernel.c), with c = beta times the stiffness along the spring, where it is
// compressed; with a last state, the stiffness there.
#include "material/connection.h"
#include "math/wide_vec.h"

typedef struct bow
{
    wide length, rest;
    wvec n, d, drift;
    wide pull;  // N, along n
    wide along; // N/m, d pull / d length
    wide c;     // N s/m
    wide gap;   // m/s
    wide_mask bent, damped, plain;
} bow;

WIDE_INLINE wvec ends_apart(const vec3* x, const int* vertices, const int* elements)
{
    return wv_sub(wv_gather(x, vertices, 2, 1, elements), wv_gather(x, vertices, 2, 0, elements));
}

WIDE_INLINE wide wv_length(wvec a)
{
    return wide_sqrt(wv_dot(a, a));
}

// The two parts of the curve.
typedef struct curve
{
    wide force, rest, start, turn;
} curve;

WIDE_INLINE curve curve_load(const element_context* ctx, const int* elements)
{
    const double* rest = ctx->group->rest;
    curve u = {wide_gather(rest, ARC_STRIDE, ARC_FORCE, elements), wide_gather(rest, ARC_STRIDE, ARC_LENGTH, elements),
               wide_gather(rest, ARC_STRIDE, ARC_START, elements), wide_gather(rest, ARC_STRIDE, ARC_TURN, elements)};
    for (int lane = 0; lane < WIDE && ctx->motion->cap_mass; lane++)
    {
        size_t e = (size_t)elements[lane];
        const double* own = rest + ARC_STRIDE * e;
        u.start[lane] = arc_start_of(own, ctx->group->vertices + 2 * e, ctx->motion);
        u.turn[lane] = arc_turn_of(own, u.start[lane]);
    }
    return u;
}

WIDE_INLINE wide curve_pull(const curve* u, wide length)
{
    wide s = length / u->rest;
    wide f = (((-11.541 * s + 34.193) * s - 39.083) * s + 23.116) * s - 9.713;
    return wide_select(s < u->turn, u->force * f, u->start * (length - u->rest));
}

WIDE_INLINE wide curve_stiffness(const curve* u, wide length)
{
    wide s = length / u->rest;
    wide slope = ((-46.164 * s + 102.579) * s - 78.166) * s + 23.116;
    return wide_select(s < u->turn, u->force / u->rest * slope, u->start);
}

WIDE_INLINE void bow_since(bow* s, const element_motion* m, const int* vertices, const int* elements, const curve* u)
{
    wvec last = ends_apart(m->x_last, vertices, elements);
    wide was = wv_length(last), inv_h = wide_set(1.0 / m->h);
    s->n = wv_select(s->length > 1e-150, s->n, wv_scale(wide_safe_inverse(was), last));
    s->gap = (wide_min(s->length, s->rest) - wide_min(was, s->rest)) * inv_h;
    s->drift = wv_scale(inv_h, wv_sub(s->d, last));
    s->c = curve_stiffness(u, was);
    s->damped = (was < LENGTH_ROUNDED * s->rest) & (s->plain | s->bent);
}

WIDE_INLINE bow bow_load(const element_context* ctx, const int* elements)
{
    const element_motion* m = ctx->motion;
    const int* vertices = ctx->group->vertices;
    const double* rest = ctx->group->rest;
    wide form = wide_gather(rest, ARC_STRIDE, ARC_FORM, elements), zero = wide_set(0.0);
    curve u = curve_load(ctx, elements);
    bow s = {.rest = u.rest, .plain = form == (double)DAMPER_PLAIN};
    s.d = ends_apart(m->x, vertices, elements);
    s.length = wv_length(s.d);
    s.n = wv_scale(wide_safe_inverse(s.length), s.d);
    s.bent = s.length < LENGTH_ROUNDED * s.rest;
    s.pull = wide_select(s.bent, curve_pull(&u, s.length), zero);
    s.along = wide_select(s.bent, curve_stiffness(&u, s.length), zero);
    if (m->x_last)
    {
        bow_since(&s, m, vertices, elements, &u);
    }
    else
    {
        s.drift = ends_apart(m->v, vertices, elements);
        s.gap = wv_dot(s.n, s.drift);
        s.c = s.along;
        s.damped = s.bent;
    }
    s.damped &= (form != (double)DAMPER_NONE) & ((form != (double)DAMPER_PROJECTED) | (s.gap > 0.0));
    s.c = wide_select(s.damped, s.c * wide_gather(rest, ARC_STRIDE, ARC_DAMPING, elements), zero);
    return s;
}

WIDE_INLINE wvec bow_pull(const bow* s)
{
    wide zero = wide_set(0.0), along = s->pull + wide_select(s->plain, zero, s->c * s->gap);
    return wv_madd(wv_scale(along, s->n), wide_select(s->plain, s->c, zero), s->drift);
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
    bow s = bow_load(context, elements);
    put_pair(out, bow_pull(&s));
}

static void evaluate(const void* context, const int* elements, element_batch* out)
{
    const element_motion* m = ((const element_context*)context)->motion;
    bow s = bow_load(context, elements);
    wide zero = wide_set(0.0), h = wide_set(m->h), h2 = wide_set(m->h * m->h);
    wide across = m->exact ? s.pull * wide_safe_inverse(s.length) : zero, along = s.along - across;
    wvec f = wv_scale(h, bow_pull(&s));
    if (!m->x_last)
    {
        f = wv_madd(wv_madd(f, h2 * across, s.drift), h2 * along * s.gap, s.n);
    }
    put_pair(out->rhs, f);
    wide outer = h2 * along + wide_select(s.plain, zero, h * s.c);
    wide equal = h2 * across + wide_select(s.plain, h * s.c, zero);
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

// Of the springs with the linear part as the motion has it.
typedef struct arc_now
{
    const double* rest;
    double start, turn;
} arc_now;

static double arc_energy(const arc_now* a, double s)
{
    double L = a->rest[ARC_LENGTH], at = fmax(s, a->turn);
    double linear = 0.5 * a->start * L * L * (1.0 - at) * (1.0 - at);
    return s < a->turn ? linear + a->rest[ARC_FORCE] * L * (arc_integral(s) - arc_integral(a->turn)) : linear;
}

static double arc_dissipation(const element_motion* m, const int* v, const arc_now* a, vec3 d)
{
    vec3 last = v3_sub(m->x_last[v[1]], m->x_last[v[0]]);
    double was = v3_length(last), L = a->rest[ARC_LENGTH];
    int form = (int)a->rest[ARC_FORM];
    if (form == DAMPER_NONE || !(was < LENGTH_ROUNDED * L))
    {
        return 0.0;
    }
    double along = was / L < a->turn ? a->rest[ARC_FORCE] / L * arc_slope(was / L) : a->start;
    double gap = fmin(v3_length(d), L) - was;
    vec3 moved = v3_sub(d, last);
    double sq = form == DAMPER_PLAIN ? v3_dot(moved, moved) : form == DAMPER_PROJECTED && gap < 0.0 ? 0.0 : gap * gap;
    return 0.5 / m->h * a->rest[ARC_DAMPING] * along * sq;
}

static void energy(const element_context* ctx, int begin, int end, energy_sums* sums)
{
    const element_motion* m = ctx->motion;
    for (int e = begin; e < end; e++)
    {
        const int* v = ctx->group->vertices + 2 * (size_t)e;
        const double* rest = ctx->group->rest + ARC_STRIDE * (size_t)e;
        vec3 d = v3_sub(m->x[v[1]], m->x[v[0]]);
        double s = v3_length(d) / rest[ARC_LENGTH];
        if (!(s < 1.0) && !m->x_last)
        {
            continue; // longer than its arc, as most of flat cloth are
        }
        arc_now a = {rest, arc_start_of(rest, v, m), rest[ARC_TURN]};
        a.turn = arc_turn_of(rest, a.start);
        sums->bend += s < 1.0 ? arc_energy(&a, s) : 0.0;
        sums->dissipation += m->x_last ? arc_dissipation(m, v, &a, d) : 0.0;
    }
}

extern const element_kernels KERNEL_NAME(arc_kernels);
const element_kernels KERNEL_NAME(arc_kernels) = {evaluate, energy, force, NULL};
