// Wind and drag on a triangle: u = wind - mean velocity of the vertices,
//
//     f = area density / 2 (drag |u_n| u_n n + (friction |u_t| + slip |u_n|) u_t)
//
// a third for each vertex, with u_n = u . n and u_t the rest of u. With slip = drag and friction 0 it is what Boxerman
// 2003 means by (3.17), printed as 1/2 rho c_w A (n . v) v with v = -u: along v it would drive the cloth on, and the
// sign of n, which is anyone's choice, would turn it round. -1/2 rho c_w A |n . v| v is meant.
//
// df/dv of the normal part is exact; of the tangential part its factor is kept. Both are semidefinite. The dependence
// on position (normal, area, place in a gust) is left out of A. In `newton` the force is linear in v with normal and
// factors frozen at the start of the step, so that it has a potential.
#include "material/material.h"
#include "math/wide_vec.h"

typedef struct panel
{
    wvec n;
    wvec force;              // at velocity v0
    wide normal, tangential; // -df/dv = normal n n^T + tangential (I - n n^T)
    wvec v0;
} panel;

WIDE_INLINE wvec wv_set(vec3 a)
{
    return (wvec){wide_set(a.x), wide_set(a.y), wide_set(a.z)};
}

WIDE_INLINE void corners_of(const vec3* array, const int* vertices, const int* elements, wvec* out)
{
    for (int a = 0; a < 3; a++)
    {
        out[a] = wv_gather(array, vertices, 3, a, elements);
    }
}

WIDE_INLINE wvec mean_of(const wvec* corner)
{
    return wv_scale(wide_set(1.0 / 3.0), wv_add(corner[0], wv_add(corner[1], corner[2])));
}

WIDE_INLINE wvec mean_velocity(const element_context* ctx, const vec3* v, const int* elements)
{
    wvec corner[3];
    corners_of(v, ctx->group->vertices, elements, corner);
    return mean_of(corner);
}

// A triangle without area has no direction.
WIDE_INLINE wvec wv_normalize(wvec a)
{
    wide length = wide_sqrt(wv_dot(a, a));
    wide_mask is_long = length > 0.0;
    return wv_scale(wide_select(is_long, 1.0 / wide_select(is_long, length, wide_set(1.0)), wide_set(1.0)), a);
}

// The wind at a place: gusts swell and fade along its own direction as they travel. Sideways gusts are horizontal and
// half as strong.
WIDE_INLINE wvec wind_of(const weft_air* air, wvec center, double time)
{
    double speed = v3_length(air->wind), t = time / air->gust_period;
    if (air->gust == 0.0 || speed == 0.0)
    {
        return wv_set(air->wind);
    }
    wide along = wv_dot(center, wv_set(air->wind)) / (speed * air->gust_length);
    wide swell = 0.6 * wide_sin_turns(t - along) + 0.4 * wide_sin_turns(1.7 * t - 2.3 * along + 0.5 / PI);
    wide side = 0.7 * wide_sin_turns(0.8 * t - 1.3 * along + 1.0 / PI) + 0.3 * wide_sin_turns(2.1 * t - 1.9 * along);
    vec3 across = v3_normalize(v3_cross(v3(0, 1, 0), air->wind));
    wvec wind = wv_scale(1.0 + air->gust * swell, wv_set(air->wind));
    return wv_madd(wind, 0.5 * air->gust * speed * side, wv_set(across));
}

WIDE_INLINE panel panel_at(const element_context* ctx, const vec3* x, const vec3* v, const int* elements)
{
    const weft_air* air = &ctx->group->air;
    wvec corner[3];
    panel p;
    corners_of(x, ctx->group->vertices, elements, corner);
    p.n = wv_normalize(wv_cross(wv_sub(corner[1], corner[0]), wv_sub(corner[2], corner[0])));
    p.v0 = mean_velocity(ctx, v, elements);
    wvec u = wv_sub(wind_of(air, mean_of(corner), ctx->motion->time), p.v0);
    wide un = wv_dot(u, p.n), s = 0.5 * air->density * wide_gather(ctx->group->rest, 1, 0, elements);
    wvec ut = wv_madd(u, -un, p.n);
    p.tangential = s * air->friction * wide_sqrt(wv_dot(ut, ut)) + s * air->slip * wide_abs(un);
    p.normal = 2.0 * s * air->drag * wide_abs(un);
    p.force = wv_madd(wv_scale(p.tangential, ut), s * air->drag * wide_abs(un) * un, p.n);
    return p;
}

WIDE_INLINE panel panel_of(const element_context* ctx, const int* elements)
{
    const element_motion* m = ctx->motion;
    return panel_at(ctx, m->x_last ? m->x_last : m->x, m->v_last ? m->v_last : m->v, elements);
}

WIDE_INLINE wvec panel_resist(const panel* p, wvec dv)
{
    wide n = wv_dot(dv, p->n);
    return wv_madd(wv_scale(p->tangential, dv), (p->normal - p->tangential) * n, p->n);
}

static void force(const void* context, const int* elements, double (*out)[3][BATCH])
{
    // The force at present velocities: nothing is frozen.
    const element_context* ctx = context;
    panel p = panel_at(ctx, ctx->motion->x, ctx->motion->v, elements);
    for (int a = 0; a < 3; a++)
    {
        wide_store(out[a][0], p.force.x / 3.0);
        wide_store(out[a][1], p.force.y / 3.0);
        wide_store(out[a][2], p.force.z / 3.0);
    }
}

static void evaluate(const void* context, const int* elements, element_batch* out)
{
    const element_context* ctx = context;
    double h = ctx->motion->h;
    panel p = panel_of(ctx, elements);
    wvec f = p.force;
    if (ctx->motion->x_last)
    {
        f = wv_sub(f, panel_resist(&p, wv_sub(mean_velocity(ctx, ctx->motion->v, elements), p.v0)));
    }
    for (int a = 0; a < 3; a++)
    {
        wide_store(out->rhs[a][0], h / 3.0 * f.x);
        wide_store(out->rhs[a][1], h / 3.0 * f.y);
        wide_store(out->rhs[a][2], h / 3.0 * f.z);
    }
    const wide n[3] = {p.n.x, p.n.y, p.n.z};
    for (int k = 0; k < 9; k++)
    {
        wide isotropic = k % 4 == 0 ? p.tangential : wide_set(0.0);
        wide_store(out->block[0][k], h / 9.0 * ((p.normal - p.tangential) * n[k / 3] * n[k % 3] + isotropic));
    }
}

// Sums over elements, one after the other.
WIDE_INLINE double sum_in_order(double sum, wide a, int count)
{
    for (int k = 0; k < count; k++)
    {
        sum += a[k];
    }
    return sum;
}

WIDE_INLINE int lanes_from(int first, int end, int* elements)
{
    for (int k = 0; k < WIDE; k++)
    {
        elements[k] = int_min(first + k, end - 1);
    }
    return int_min(WIDE, end - first);
}

// The potential h (-f0 . v + 1/2 (v - v0) R (v - v0)) of the frozen force.
static void energy(const element_context* ctx, int begin, int end, energy_sums* sums)
{
    if (!ctx->motion->x_last)
    {
        return;
    }
    for (int first = begin, elements[WIDE]; first < end; first += WIDE)
    {
        int count = lanes_from(first, end, elements);
        panel p = panel_of(ctx, elements);
        wvec v = mean_velocity(ctx, ctx->motion->v, elements), dv = wv_sub(v, p.v0);
        wide potential = ctx->motion->h * (0.5 * wv_dot(dv, panel_resist(&p, dv)) - wv_dot(p.force, v));
        sums->dissipation = sum_in_order(sums->dissipation, potential, count);
    }
}

static double work(const element_context* start, int begin, int end, const vec3* v_end)
{
    double sum = 0.0;
    for (int first = begin, elements[WIDE]; first < end; first += WIDE)
    {
        int count = lanes_from(first, end, elements);
        panel p = panel_of(start, elements);
        wvec v = mean_velocity(start, v_end, elements);
        wvec f = wv_sub(p.force, panel_resist(&p, wv_sub(v, p.v0)));
        sum = sum_in_order(sum, start->motion->h * wv_dot(f, v), count);
    }
    return sum;
}

extern const element_kernels KERNEL_NAME(air_kernels);
const element_kernels KERNEL_NAME(air_kernels) = {evaluate, energy, force, work};
