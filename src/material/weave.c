// The kinds `thread` and `skew` (weave_kernel.c): how triangles get them, exact forces for tests, which are slack, and
// what may be explicit.
#include "material/weave.h"

#include <string.h>

#include "material/criterion.h"

KERNELS_DECLARE(element_kernels, thread_kernels);
KERNELS_DECLARE(element_kernels, skew_kernels);

// ---- shear

skew_strain skew_of(vec3 wu, vec3 wv)
{
    double c = v3_dot(wu, wv), left[2] = {1.0 - v3_dot(wu, wu), 1.0 - v3_dot(wv, wv)};
    skew_strain out = {.sign = c < 0.0 ? -1.0 : 1.0, .slack = {left[0] > 0.0, left[1] > 0.0}};
    out.s = out.sign * c - 0.5 * (fmax(left[0], 0.0) + fmax(left[1], 0.0));
    out.gradient[0] = v3_madd(v3_scale(out.sign, wv), out.slack[0], wu);
    out.gradient[1] = v3_madd(v3_scale(out.sign, wu), out.slack[1], wv);
    return out;
}

static vec3 column_at(const double* map, const vec3* x)
{
    return v3_madd(v3_scale(map[0], v3_sub(x[1], x[0])), map[1], v3_sub(x[2], x[0]));
}

// Coefficients of the three vertices in a column.
static void shares_of(const double* map, double* out)
{
    out[0] = -map[0] - map[1];
    out[1] = map[0];
    out[2] = map[1];
}

// ---- exact, for tests

static void thread_exact(const double* rest, const vec3* x, double* force, double* jacobian)
{
    vec3 w = column_at(rest + THREAD_B1, x);
    double l = v3_length(w), k = l > 1.0 ? rest[THREAD_STIFFNESS] : 0.0, b[3];
    const double n[3] = {w.x / l, w.y / l, w.z / l};
    shares_of(rest + THREAD_B1, b);
    for (int r = 0; r < 9; r++)
    {
        force[r] = -k * (l - 1.0) * b[r / 3] * n[r % 3];
        for (int c = 0; c < 9; c++)
        {
            double nn = n[r % 3] * n[c % 3], one = r % 3 == c % 3;
            jacobian[9 * r + c] = -k * b[r / 3] * b[c / 3] * (nn + (1.0 - 1.0 / l) * (one - nn));
        }
    }
}

static void skew_exact(const double* rest, const vec3* x, double* force, double* jacobian)
{
    double b[2][3];
    shares_of(rest + SKEW_MAP, b[0]);
    shares_of(rest + SKEW_MAP + 2, b[1]);
    skew_strain at = skew_of(column_at(rest + SKEW_MAP, x), column_at(rest + SKEW_MAP + 2, x));
    double k = at.s > 0.0 ? rest[SKEW_STIFFNESS] : 0.0, g[9];
    const double H[2][2] = {{at.slack[0], at.sign}, {at.sign, at.slack[1]}};
    for (int r = 0; r < 9; r++)
    {
        g[r] = b[0][r / 3] * (&at.gradient[0].x)[r % 3] + b[1][r / 3] * (&at.gradient[1].x)[r % 3];
        force[r] = -k * at.s * g[r];
    }
    for (int q = 0; q < 81; q++)
    {
        int r = q / 9, c = q % 9;
        double bent = 0.0;
        for (int p = 0; p < 4; p++)
        {
            bent += H[p / 2][p % 2] * b[p / 2][r / 3] * b[p % 2][c / 3];
        }
        jacobian[q] = -k * (g[r] * g[c] + (r % 3 == c % 3 ? at.s * bent : 0.0));
    }
}

// ---- what is slack

static void corners_of(const element_context* context, int e, const vec3* from, vec3 out[3])
{
    const int* v = context->group->vertices + 3 * (size_t)e;
    for (int k = 0; k < 3; k++)
    {
        out[k] = from[v[k]];
    }
}

static bool thread_is_slack(const element_context* context, int e)
{
    const element_motion* m = context->motion;
    const double* rest = context->group->rest + THREAD_STRIDE * (size_t)e;
    vec3 x[3], v[3];
    corners_of(context, e, m->x, x);
    vec3 w = column_at(rest + THREAD_B1, x);
    double l = v3_length(w);
    if (l > LENGTH_ROUNDED || !m->ahead || m->x_last)
    {
        return !(l > LENGTH_ROUNDED);
    }
    corners_of(context, e, m->v, v);
    double rate = l > 0.0 ? v3_dot(w, column_at(rest + THREAD_B1, v)) / l : 0.0;
    return !(l + m->h * rate > AHEAD_STRETCH);
}

static bool skew_is_slack(const element_context* context, int e, skew_strain* at)
{
    const element_motion* m = context->motion;
    const double* rest = context->group->rest + SKEW_STRIDE * (size_t)e;
    vec3 x[3], v[3];
    corners_of(context, e, m->x, x);
    *at = skew_of(column_at(rest + SKEW_MAP, x), column_at(rest + SKEW_MAP + 2, x));
    if (at->s > -SKEW_ROUNDED || !m->ahead || m->x_last)
    {
        return !(at->s > -SKEW_ROUNDED);
    }
    corners_of(context, e, m->v, v);
    double rate = v3_dot(at->gradient[0], column_at(rest + SKEW_MAP, v)) +
                  v3_dot(at->gradient[1], column_at(rest + SKEW_MAP + 2, v));
    return !(at->s + m->h * rate > SKEW_AHEAD);
}

static void thread_slack(const element_context* context, int begin, int end, uint8_t* out)
{
    for (int e = begin; e < end; e++)
    {
        out[e - begin] = thread_is_slack(context, e);
    }
}

static void skew_slack(const element_context* context, int begin, int end, uint8_t* out)
{
    for (int e = begin; e < end; e++)
    {
        skew_strain at;
        out[e - begin] = skew_is_slack(context, e, &at);
    }
}

// ---- what may be explicit: eigenvalues of B M^-1 B^T, 2 x 2 as every axis has the same

static void thread_criterion(const element_context* context, const double* mass, int begin, int end, double (*out)[2])
{
    for (int e = begin; e < end; e++)
    {
        const double* rest = context->group->rest + THREAD_STRIDE * (size_t)e;
        const int* v = context->group->vertices + 3 * (size_t)e;
        double b[3], w = 0.0;
        shares_of(rest + THREAD_B1, b);
        for (int a = 0; a < 3 && !thread_is_slack(context, e); a++)
        {
            w += b[a] * b[a] / mass[v[a]];
        }
        out[e - begin][0] = rest[THREAD_STIFFNESS] * w;
        out[e - begin][1] = (int)rest[THREAD_FORM] == DAMPER_NONE ? 0.0 : rest[THREAD_DAMPING] * w;
    }
}

// k (g^T G g + s times the eigenvalue of H+, 2 at most, times that of G), G = B M^-1 B^T.
static void skew_bounds(const double* rest, const int* v, const double* mass, const skew_strain* at, double out[2])
{
    double b[2][3], uu = 0.0, uv = 0.0, vv = 0.0;
    shares_of(rest + SKEW_MAP, b[0]);
    shares_of(rest + SKEW_MAP + 2, b[1]);
    for (int a = 0; a < 3; a++)
    {
        double inv = 1.0 / mass[v[a]];
        uu += inv * b[0][a] * b[0][a];
        uv += inv * b[0][a] * b[1][a];
        vv += inv * b[1][a] * b[1][a];
    }
    double along = uu * v3_dot(at->gradient[0], at->gradient[0]) + 2.0 * uv * v3_dot(at->gradient[0], at->gradient[1]) +
                   vv * v3_dot(at->gradient[1], at->gradient[1]);
    double half = 0.5 * (uu - vv), largest = 0.5 * (uu + vv) + sqrt(half * half + uv * uv);
    double diagonal = 2.0 * (uu + vv + 2.0 * at->sign * uv);
    bool plain = (int)rest[SKEW_FORM] == DAMPER_PLAIN, none = (int)rest[SKEW_FORM] == DAMPER_NONE;
    out[0] = rest[SKEW_STIFFNESS] * (along + 2.0 * fmax(at->s, 0.0) * largest);
    out[1] = none ? 0.0 : rest[SKEW_DAMPING] * (plain ? diagonal : along);
}

static void skew_criterion(const element_context* context, const double* mass, int begin, int end, double (*out)[2])
{
    for (int e = begin; e < end; e++)
    {
        skew_strain at;
        const double* rest = context->group->rest + SKEW_STRIDE * (size_t)e;
        out[e - begin][0] = out[e - begin][1] = 0.0;
        if (!skew_is_slack(context, e, &at))
        {
            skew_bounds(rest, context->group->vertices + 3 * (size_t)e, mass, &at, out[e - begin]);
        }
    }
}

// ---- kinds

const element_kind kind_thread = {
    .name = "thread",
    .arity = 3,
    .rest_stride = THREAD_STRIDE,
    .kernels = KERNELS_OF(thread_kernels),
    .exact = thread_exact,
    .explicit_criterion = thread_criterion,
    .slack = thread_slack,
};

const element_kind kind_skew = {
    .name = "skew",
    .arity = 3,
    .rest_stride = SKEW_STRIDE,
    .kernels = KERNELS_OF(skew_kernels),
    .exact = skew_exact,
    .explicit_criterion = skew_criterion,
    .slack = skew_slack,
    .role = ROLE_SHEAR,
};

// ---- triangles

// Dampers that are chosen are of connections of a grid: a cell of length l has one of each thread, whose length grows
// by l times the strain, and two triangles of l^2 / 2; and of two diagonals one that grows by l / sqrt(2) times the
// shear.
static double damping_of(const cloth_shape* shape, double own, double chosen, double area)
{
    const connection_options* o = &shape->connections;
    return o->damper == DAMPER_NONE ? 0.0 : chosen >= 0.0 ? chosen * area : own;
}

static void add_thread(element_group* group, const cloth_shape* shape, int t, const double* map, double k)
{
    double area = triangle_rest_area(shape->rest + 3 * t), *rest = group->rest + THREAD_STRIDE * (size_t)group->count;
    memcpy(group->vertices + 3 * (size_t)group->count++, shape->triangle + 3 * t, 3 * sizeof(int));
    rest[THREAD_B1] = map[0];
    rest[THREAD_B2] = map[1];
    rest[THREAD_STIFFNESS] = k * area;
    double own = triangle_material(shape, t)->damping * k * area;
    rest[THREAD_DAMPING] = damping_of(shape, own, shape->connections.stretch_damping, area);
    rest[THREAD_FORM] = shape->connections.damper;
}

static void add_skew(element_group* group, const cloth_shape* shape, int t, const double* map)
{
    double area = triangle_rest_area(shape->rest + 3 * t), *rest = group->rest + SKEW_STRIDE * (size_t)group->count;
    memcpy(group->vertices + 3 * (size_t)group->count++, shape->triangle + 3 * t, 3 * sizeof(int));
    memcpy(rest + SKEW_MAP, map, 4 * sizeof(double));
    const weft_material* m = triangle_material(shape, t);
    rest[SKEW_STIFFNESS] = m->shear * area;
    rest[SKEW_DAMPING] = damping_of(shape, m->damping * m->shear * area, shape->connections.shear_damping, 0.5 * area);
    rest[SKEW_FORM] = shape->connections.damper;
}

weft_status weave_append(element_groups* groups, const cloth_shape* shape)
{
    element_group *threads = element_groups_find(groups, &kind_thread),
                  *skews = element_groups_find(groups, &kind_skew);
    TRY(element_group_reserve(threads, &kind_thread, threads->count + 2 * shape->triangle_count));
    TRY(element_group_reserve(skews, &kind_skew, skews->count + shape->triangle_count));
    for (int t = 0; t < shape->triangle_count; t++)
    {
        double map[4];
        triangle_rest_inverse(shape->rest + 3 * t, map);
        add_thread(threads, shape, t, map, triangle_material(shape, t)->stretch_warp);
        add_thread(threads, shape, t, map + 2, triangle_material(shape, t)->stretch_weft);
        add_skew(skews, shape, t, map);
    }
    return WEFT_OK;
}
