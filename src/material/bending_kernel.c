// Bending by dihedral angles theta, in three kinds.
//
// hinge: E = c/2 (theta - theta_0)^2 an interior edge, c = 3 k_b e^2 / (A_1 + A_2). What the SA paper's tables use. It
// is not a material property: on a cylinder it stores 3 to 9 times B / (2 R^2), depending on the mesh.
//
// curvature: E = 1/2 phi^T Q phi a triangle, phi the three folds f(theta) of its edges less those at rest (bending.h; f
// is theta but for sharp folds): the bending energy B/2 |shape operator|^2 of a sheet, with the shape operator of the
// triangle taken from its three angles (see cloth_elements.c). A material property on regular meshes,
// within a few percent on irregular ones. Q = L L^T comes from
// setting up.
//
// beyond: the same with a law that changes where the cloth is bent so far that q = |L^T phi| is q_1:
//
//     E(q) = q^2 / 2 up to q_1, then q_1^2 / 2 + q_1 (q - q_1) + share / 2 (q - q_1)^2,
//
// so that moments are continuous. Bent along warp q is sqrt(B area) times the curvature. Its Hessian in L^T phi is E'' along it and
// E' / q across, the last of which is less where share > 1; the larger of both stands for all directions, an upper bound.
//
// K is Gauss-Newton (the second derivative of theta is dropped), hence semidefinite by construction.
// Theta by atan2 of the normals; gradients as in Tamstorf and Grinspun 2013.
#include "material/bending.h"
#include "material/material.h"
#include "math/wide_vec.h"

typedef struct angle
{
    wide sine, cosine; // of theta, times a common positive factor
    wvec g[4];         // gradient by edge vertices 0, 1, left apex 2, right apex 3
} angle;

WIDE_INLINE angle angle_only(wvec x0, wvec x1, wvec x2, wvec x3)
{
    angle a;
    wvec e = wv_sub(x1, x0);
    wvec n1 = wv_cross(e, wv_sub(x2, x0)), n2 = wv_cross(wv_sub(x3, x0), e);
    a.sine = wv_dot(wv_cross(n2, n1), e);
    a.cosine = wv_dot(n1, n2) * wide_sqrt(wv_dot(e, e));
    return a;
}

WIDE_INLINE angle angle_of(wvec x0, wvec x1, wvec x2, wvec x3)
{
    angle a;
    wvec e = wv_sub(x1, x0);
    wvec n1 = wv_cross(e, wv_sub(x2, x0)), n2 = wv_cross(wv_sub(x3, x0), e);
    wide length = wide_sqrt(wv_dot(e, e));
    a.sine = wv_dot(wv_cross(n2, n1), e);
    a.cosine = wv_dot(n1, n2) * length;
    wide inverse = wide_safe_inverse(length);
    // A wing that collapses onto its edge would turn by any angle at no distance: its height counts as a thousandth of
    // the edge at least, which bounds the gradient and keeps A definite.
    wide edge_sq = wv_dot(e, e), least = 1e-6 * edge_sq * edge_sq;
    wvec a1 = wv_scale(wide_safe_inverse(wide_max(wv_dot(n1, n1), least)), n1);
    wvec a2 = wv_scale(wide_safe_inverse(wide_max(wv_dot(n2, n2), least)), n2);
    a.g[2] = wv_scale(length, a1);
    a.g[3] = wv_scale(length, a2);
    a.g[0] =
        wv_add(wv_scale(wv_dot(wv_sub(x2, x1), e) * inverse, a1), wv_scale(wv_dot(wv_sub(x3, x1), e) * inverse, a2));
    // The gradients add up to nothing: a translation does not bend.
    a.g[1] = wv_scale(wide_set(-1.0), wv_add(wv_add(a.g[0], a.g[2]), a.g[3]));
    return a;
}

WIDE_INLINE wide angle_theta(const angle* a)
{
    return wide_atan2(a->sine, a->cosine);
}

// tan(theta / 2) by the form that does not cancel, cut off near 180 degrees.
WIDE_INLINE wide angle_half_tangent(const angle* a)
{
    wide norm = wide_sqrt(a->sine * a->sine + a->cosine * a->cosine);
    wide sine = wide_max(wide_abs(a->sine), FOLD_SINE_MIN * norm);
    wide_mask is_flat = a->cosine >= 0.0;
    wide above = wide_select(is_flat, wide_abs(a->sine), norm - a->cosine);
    wide t = above * wide_safe_inverse(wide_select(is_flat, norm + a->cosine, sine));
    return wide_select(a->sine < 0.0, -t, t);
}

WIDE_INLINE wide angle_fold(const angle* a)
{
    return (1.0 - FOLD_SHARE) * angle_theta(a) + 2.0 * FOLD_SHARE * angle_half_tangent(a);
}

// theta - rest in (-pi, pi]
WIDE_INLINE wide angle_difference(wide theta, wide rest)
{
    wide d = theta - rest;
    d = wide_select(d > PI, d - 2.0 * PI, d);
    return wide_select(d < -PI, d + 2.0 * PI, d);
}

WIDE_INLINE void put_vector(double (*out)[BATCH], wvec a)
{
    wide_store(out[0], a.x);
    wide_store(out[1], a.y);
    wide_store(out[2], a.z);
}

WIDE_INLINE void put_scaled(double (*out)[BATCH], wide s, wvec a)
{
    put_vector(out, wv_scale(s, a));
}

WIDE_INLINE wide lane_counts(int first, int end, int* elements)
{
    wide counted;
    for (int k = 0; k < WIDE; k++)
    {
        elements[k] = int_min(first + k, end - 1);
        counted[k] = first + k < end ? 1.0 : 0.0;
    }
    return counted;
}

// ---- hinge

// The angle of a hinge with its gradient.
WIDE_INLINE angle hinge_of(const element_group* group, const vec3* positions, const int* elements)
{
    wvec x[4];
    for (int a = 0; a < 4; a++)
    {
        x[a] = wv_gather(positions, group->vertices, 4, a, elements);
    }
    return angle_of(x[0], x[1], x[2], x[3]);
}

// d theta / dt
WIDE_INLINE wide hinge_rate(const angle* t, const element_group* group, const vec3* v, const int* elements)
{
    wide rate = wide_set(0.0);
    for (int a = 0; a < 4; a++)
    {
        rate += wv_dot(t->g[a], wv_gather(v, group->vertices, 4, a, elements));
    }
    return rate;
}

static void hinge_force(const void* context, const int* elements, double (*out)[3][BATCH])
{
    const element_context* ctx = context;
    const double* rest = ctx->group->rest;
    angle t = hinge_of(ctx->group, ctx->motion->x, elements);
    wide bend = angle_difference(angle_theta(&t), wide_gather(rest, HINGE_STRIDE, 1, elements));
    wide rate = hinge_rate(&t, ctx->group, ctx->motion->v, elements);
    wide s =
        -wide_gather(rest, HINGE_STRIDE, 0, elements) * (bend + wide_gather(rest, HINGE_STRIDE, 2, elements) * rate);
    for (int a = 0; a < 4; a++)
    {
        put_scaled(out[a], s, t.g[a]);
    }
}

static void hinge_evaluate(const void* context, const int* elements, element_batch* out)
{
    const element_context* ctx = context;
    const element_motion* motion = ctx->motion;
    const int* vertices = ctx->group->vertices;
    angle t = hinge_of(ctx->group, motion->x, elements);
    wide theta = angle_theta(&t);
    wide stiffness = wide_gather(ctx->group->rest, HINGE_STRIDE, 0, elements);
    wide rest = wide_gather(ctx->group->rest, HINGE_STRIDE, 1, elements);
    wide damping = wide_gather(ctx->group->rest, HINGE_STRIDE, 2, elements);

    // The rate of the angle; h K v = c g (g . v) h adds h to the damping's time.
    wide rate = wide_set(0.0), time = damping;
    if (motion->x_last)
    {
        wvec y[4];
        for (int a = 0; a < 4; a++)
        {
            y[a] = wv_gather(motion->x_last, vertices, 4, a, elements);
        }
        angle last = angle_only(y[0], y[1], y[2], y[3]);
        rate = angle_difference(theta, angle_theta(&last)) * wide_set(1.0 / motion->h);
    }
    else
    {
        rate = hinge_rate(&t, ctx->group, motion->v, elements);
        time += motion->h;
    }
    wide s = -motion->h * stiffness * (angle_difference(theta, rest) + time * rate);
    wide k = stiffness * (motion->h * motion->h + motion->h * damping);
    wide_store(out->weight, k);
    for (int a = 0; a < 4; a++)
    {
        put_scaled(out->rhs[a], s, t.g[a]);
        put_vector(out->factor[a][0], t.g[a]);
    }
}

static void hinge_energy(const element_context* context, int begin, int end, energy_sums* sums)
{
    const element_motion* motion = context->motion;
    for (int first = begin; first < end; first += WIDE)
    {
        int elements[WIDE];
        wide counted = lane_counts(first, end, elements);
        wide theta[2] = {wide_set(0.0), wide_set(0.0)};
        for (int k = 0; k < (motion->x_last ? 2 : 1); k++)
        {
            wvec x[4];
            for (int a = 0; a < 4; a++)
            {
                x[a] = wv_gather(k == 0 ? motion->x : motion->x_last, context->group->vertices, 4, a, elements);
            }
            angle a = angle_only(x[0], x[1], x[2], x[3]);
            theta[k] = angle_theta(&a);
        }
        wide stiffness = counted * wide_gather(context->group->rest, HINGE_STRIDE, 0, elements);
        wide bend = angle_difference(theta[0], wide_gather(context->group->rest, HINGE_STRIDE, 1, elements));
        sums->bend += wide_sum(0.5 * stiffness * bend * bend);
        if (motion->x_last)
        {
            wide moved = angle_difference(theta[0], theta[1]);
            wide damping = wide_gather(context->group->rest, HINGE_STRIDE, 2, elements);
            sums->dissipation += wide_sum((0.5 / motion->h) * damping * stiffness * moved * moved);
        }
    }
}

extern const element_kernels KERNEL_NAME(hinge_kernels);
const element_kernels KERNEL_NAME(hinge_kernels) = {hinge_evaluate, hinge_energy, hinge_force, NULL};

// ---- curvature

// What a triangle is at rest.
typedef struct bow_rest
{
    wide L[6], fold[3], damping;
    wide_mask there[3]; // wings
} bow_rest;

WIDE_INLINE void bow_rest_load(const element_group* group, const int* elements, bow_rest* r)
{
    wide rest[WIDE];
    int stride = group->kind->rest_stride;
    wide_gather_rows(group->rest, stride, elements, rest);
    memcpy(r->L, rest, sizeof(r->L));
    r->fold[0] = rest[6];
    r->fold[1] = rest[7];
    r->fold[2] = wide_gather(group->rest, stride, 8, elements);
    r->damping = wide_gather(group->rest, stride, 9, elements);
    for (int k = 0; k < 3 && group->shift; k++)
    {
        r->fold[k] += wide_gather(group->shift, 3, k, elements);
    }
    // The whole number stands in the last bits of the sum.
    wide_mask bits = (wide_mask)(wide_gather(group->rest, stride, 10, elements) + 0x1p52);
    for (int k = 0; k < 3; k++)
    {
        r->there[k] = (bits & ((int64_t)1 << k)) != 0;
    }
}

// A missing wing lies where the triangle's reflection would: flat, with well-defined normals.
WIDE_INLINE void wings_of(const element_group* group, const vec3* array, const int* elements, const bow_rest* r,
                          wvec* x)
{
    for (int a = 0; a < 6; a++)
    {
        x[a] = wv_gather(array, group->vertices, 6, a, elements);
    }
    for (int k = 0; k < 3; k++)
    {
        wvec mirrored = wv_sub(wv_add(x[(k + 1) % 3], x[(k + 2) % 3]), x[k]);
        x[3 + k].x = wide_select(r->there[k], x[3 + k].x, mirrored.x);
        x[3 + k].y = wide_select(r->there[k], x[3 + k].y, mirrored.y);
        x[3 + k].z = wide_select(r->there[k], x[3 + k].z, mirrored.z);
    }
}

// Nothing for a missing wing.
WIDE_INLINE wide where_there(const bow_rest* r, int k, wide a)
{
    return wide_select(r->there[k], wide_set(1.0), wide_set(0.0)) * a;
}

// y = L^T phi
WIDE_INLINE void factor_apply(const wide* L, const wide* phi, wide* y)
{
    y[0] = L[0] * phi[0] + L[1] * phi[1] + L[3] * phi[2];
    y[1] = L[2] * phi[1] + L[4] * phi[2];
    y[2] = L[5] * phi[2];
}

static const int factor_count[6] = CURVATURE_FACTORS;

// The three folds, and their gradients by the six vertices combined to Y = L^T G, where it is not zero.
WIDE_INLINE void combined_gradients(const bow_rest* r, const wvec* x, wide* fold, wvec (*Y)[6])
{
    wvec g[3][3], wing[3];
    const wide* L = r->L;
#pragma GCC unroll 3
    for (int k = 0; k < 3; k++)
    {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        angle a = angle_of(x[i], x[j], x[k], x[3 + k]);
        wide tangent = angle_half_tangent(&a);
        wide slope = where_there(r, k, (1.0 - FOLD_SHARE) + FOLD_SHARE * (1.0 + tangent * tangent));
        fold[k] = where_there(r, k, (1.0 - FOLD_SHARE) * angle_theta(&a) + 2.0 * FOLD_SHARE * tangent);
        g[k][i] = wv_scale(slope, a.g[0]);
        g[k][j] = wv_scale(slope, a.g[1]);
        g[k][k] = wv_scale(slope, a.g[2]);
        wing[k] = wv_scale(slope, a.g[3]);
    }
    for (int v = 0; v < 3; v++)
    {
        Y[0][v] = wv_add(wv_add(wv_scale(L[0], g[0][v]), wv_scale(L[1], g[1][v])), wv_scale(L[3], g[2][v]));
        Y[1][v] = wv_add(wv_scale(L[2], g[1][v]), wv_scale(L[4], g[2][v]));
        Y[2][v] = wv_scale(L[5], g[2][v]);
    }
    Y[0][3] = wv_scale(L[0], wing[0]);
    Y[0][4] = wv_scale(L[1], wing[1]);
    Y[1][4] = wv_scale(L[2], wing[1]);
    Y[0][5] = wv_scale(L[3], wing[2]);
    Y[1][5] = wv_scale(L[4], wing[2]);
    Y[2][5] = wv_scale(L[5], wing[2]);
}

WIDE_INLINE void folds_only(const element_group* group, const vec3* array, const int* elements, const bow_rest* r,
                            wide* fold)
{
    wvec x[6];
    wings_of(group, array, elements, r, x);
#pragma GCC unroll 3
    for (int k = 0; k < 3; k++)
    {
        angle a = angle_only(x[(k + 1) % 3], x[(k + 2) % 3], x[k], x[3 + k]);
        fold[k] = where_there(r, k, angle_fold(&a));
    }
}

// A bent triangle: its folds, y = L^T (fold - rest) and Y = dy/dx.
typedef struct bow
{
    bow_rest rest;
    wide fold[3], y[3];
    wvec Y[3][6];
} bow;

WIDE_INLINE void bow_of(const element_group* group, const vec3* x, const int* elements, bow* b)
{
    wide phi[3];
    wvec at[6];
    bow_rest_load(group, elements, &b->rest);
    wings_of(group, x, elements, &b->rest, at);
    combined_gradients(&b->rest, at, b->fold, b->Y);
    for (int k = 0; k < 3; k++)
    {
        phi[k] = b->fold[k] - b->rest.fold[k];
    }
    factor_apply(b->rest.L, phi, b->y);
}

// dy/dt
WIDE_INLINE void bow_rates(const bow* b, const element_group* group, const vec3* v, const int* elements, wide* rate)
{
#pragma GCC unroll 6
    for (int a = 0; a < 6; a++)
    {
        wvec velocity = wv_gather(v, group->vertices, 6, a, elements);
        for (int m = 0; m < factor_count[a]; m++)
        {
            rate[m] += wv_dot(b->Y[m][a], velocity);
        }
    }
}

// Y^T s to the six vertices.
WIDE_INLINE void put_bow(const bow* b, const wide* s, double (*out)[3][BATCH])
{
#pragma GCC unroll 6
    for (int a = 0; a < 6; a++)
    {
        wvec f = wv_scale(s[0], b->Y[0][a]);
        for (int m = 1; m < factor_count[a]; m++)
        {
            f = wv_madd(f, s[m], b->Y[m][a]);
        }
        put_vector(out[a], f);
    }
}

// How moments go on: E' / q, what stands for the Hessian, and E.
typedef struct bend_law
{
    wide secant, tangent, energy;
} bend_law;

WIDE_INLINE bend_law law_of(const element_group* group, const int* elements, const wide* y)
{
    wide q_sq = y[0] * y[0] + y[1] * y[1] + y[2] * y[2], q = wide_sqrt(q_sq), one = wide_set(1.0);
    wide first = wide_gather(group->rest, BEYOND_STRIDE, 11, elements);
    wide share = wide_gather(group->rest, BEYOND_STRIDE, 12, elements), over = q - first;
    wide_mask beyond = q > first;
    bend_law law;
    law.secant = wide_select(beyond, (first + share * over) * wide_safe_inverse(q), one);
    law.tangent = wide_select(beyond, wide_max(law.secant, share), one);
    law.energy = wide_select(beyond, 0.5 * first * first + over * (first + 0.5 * share * over), 0.5 * q_sq);
    return law;
}

static void beyond_force(const void* context, const int* elements, double (*out)[3][BATCH])
{
    const element_context* ctx = context;
    bow b;
    bow_of(ctx->group, ctx->motion->x, elements, &b);
    bend_law law = law_of(ctx->group, elements, b.y);
    wide rate[3] = {wide_set(0), wide_set(0), wide_set(0)}, s[3];
    bow_rates(&b, ctx->group, ctx->motion->v, elements, rate);
    for (int m = 0; m < 3; m++)
    {
        s[m] = -(law.secant * b.y[m] + b.rest.damping * rate[m]);
    }
    put_bow(&b, s, out);
}

static void curvature_force(const void* context, const int* elements, double (*out)[3][BATCH])
{
    const element_context* ctx = context;
    bow b;
    bow_of(ctx->group, ctx->motion->x, elements, &b);
    wide rate[3] = {wide_set(0), wide_set(0), wide_set(0)}, s[3];
    bow_rates(&b, ctx->group, ctx->motion->v, elements, rate);
    for (int m = 0; m < 3; m++)
    {
        s[m] = -(b.y[m] + b.rest.damping * rate[m]);
    }
    put_bow(&b, s, out);
}

// `changes`: by law_of, else linear.
WIDE_INLINE void evaluate_bow(const void* context, const int* elements, element_batch* out, bool changes)
{
    const element_context* ctx = context;
    const element_motion* motion = ctx->motion;
    const element_group* group = ctx->group;
    bow b;
    bow_of(group, motion->x, elements, &b);

    bend_law law;
    if (changes)
    {
        law = law_of(group, elements, b.y);
    }

    // Rates of L^T fold; h K v = h Y^T (Y v) adds h to the damping's time.
    wide damping = b.rest.damping;
    wide rate[3] = {wide_set(0), wide_set(0), wide_set(0)}, time = damping;
    if (motion->x_last)
    {
        wide before[3], moved[3];
        folds_only(group, motion->x_last, elements, &b.rest, before);
        for (int k = 0; k < 3; k++)
        {
            moved[k] = (b.fold[k] - before[k]) * wide_set(1.0 / motion->h);
        }
        factor_apply(b.rest.L, moved, rate);
    }
    else
    {
        bow_rates(&b, group, motion->v, elements, rate);
        time += changes ? motion->h * law.tangent : wide_set(motion->h);
    }
    wide s[3];
    for (int m = 0; m < 3; m++)
    {
        s[m] = -motion->h * ((changes ? law.secant * b.y[m] : b.y[m]) + time * rate[m]);
    }
    put_bow(&b, s, out->rhs);
    wide square = wide_set(motion->h * motion->h);
    wide_store(out->weight, (changes ? law.tangent * square : square) + motion->h * damping);
#pragma GCC unroll 6
    for (int a = 0; a < 6; a++)
    {
        for (int m = 0; m < factor_count[a]; m++)
        {
            put_vector(out->factor[a][m], b.Y[m][a]);
        }
    }
}

WIDE_INLINE void energy_of_bows(const element_context* context, int begin, int end, energy_sums* sums, bool changes)
{
    const element_motion* motion = context->motion;
    const element_group* group = context->group;
    for (int first = begin; first < end; first += WIDE)
    {
        int elements[WIDE];
        wide counted = lane_counts(first, end, elements);
        bow_rest rest;
        wide fold[3], phi[3], y[3];
        bow_rest_load(group, elements, &rest);
        folds_only(group, motion->x, elements, &rest, fold);
        for (int k = 0; k < 3; k++)
        {
            phi[k] = fold[k] - rest.fold[k];
        }
        factor_apply(rest.L, phi, y);
        sums->bend += wide_sum(changes ? counted * law_of(group, elements, y).energy
                                       : counted * 0.5 * (y[0] * y[0] + y[1] * y[1] + y[2] * y[2]));
        if (motion->x_last)
        {
            wide before[3];
            folds_only(group, motion->x_last, elements, &rest, before);
            for (int k = 0; k < 3; k++)
            {
                phi[k] = fold[k] - before[k];
            }
            factor_apply(rest.L, phi, y);
            wide damping = counted * rest.damping;
            sums->dissipation += wide_sum((0.5 / motion->h) * damping * (y[0] * y[0] + y[1] * y[1] + y[2] * y[2]));
        }
    }
}

static void curvature_evaluate(const void* context, const int* elements, element_batch* out)
{
    evaluate_bow(context, elements, out, false);
}

static void beyond_evaluate(const void* context, const int* elements, element_batch* out)
{
    evaluate_bow(context, elements, out, true);
}

static void curvature_energy(const element_context* context, int begin, int end, energy_sums* sums)
{
    energy_of_bows(context, begin, end, sums, false);
}

static void beyond_energy(const element_context* context, int begin, int end, energy_sums* sums)
{
    energy_of_bows(context, begin, end, sums, true);
}

extern const element_kernels KERNEL_NAME(curvature_kernels), KERNEL_NAME(beyond_kernels);
const element_kernels KERNEL_NAME(beyond_kernels) = {beyond_evaluate, beyond_energy, beyond_force, NULL};
const element_kernels KERNEL_NAME(curvature_kernels) = {curvature_evaluate, curvature_energy, curvature_force, NULL};
