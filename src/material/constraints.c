// The kinds of Baraff and Witkin's cloth, and springs, as constraints for methods that move positions: the energy of an
// element is the sum over its rows of C^2 / (2 compliance).
//
//     spring      C = |x1 - x0| - L
//     membrane    |w_u| - 1, |w_v| - 1, w_u . w_v
//     taut        max(0, |w_u| - l_u), max(0, |w_v| - l_v)
//     hinge       theta - theta_0
//     curvature   L^T phi with Q = L L^T: three rows of unit stiffness, each of several folds
//
// Plain scalar code: springs, which have to be fast, have a form of their own in step/links.h.
#include <string.h>

#include "material/bending.h"
#include "material/constraints.h"
#include "material/membrane.h"
#include "material/spring.h"

static void put(constraint_batch* out, int lane, int vertex, vec3 g)
{
    out->gradient[vertex][0][lane] = g.x;
    out->gradient[vertex][1][lane] = g.y;
    out->gradient[vertex][2][lane] = g.z;
}

void spring_constraint(const void* context, const int* elements, constraint_batch* out)
{
    const element_context* c = context;
    for (int k = 0; k < BATCH; k++)
    {
        const int* v = c->group->vertices + 2 * (size_t)elements[k];
        const double* rest = c->group->rest + SPRING_STRIDE * (size_t)elements[k];
        vec3 d = v3_sub(c->motion->x[v[1]], c->motion->x[v[0]]);
        double length = v3_length(d);
        vec3 n = length > 0.0 ? v3_scale(1.0 / length, d) : v3(0, 0, 0);
        out->value[k] = length - rest[SPRING_LENGTH];
        out->compliance[k] = 1.0 / rest[SPRING_STIFFNESS];
        put(out, k, 0, v3_scale(-1.0, n));
        put(out, k, 1, n);
    }
}

// ---- membrane

static void membrane_lane(const double* rest, const vec3* x, int lane, constraint_batch* out)
{
    const double b[3][2] = {{-rest[0] - rest[1], -rest[2] - rest[3]}, {rest[0], rest[2]}, {rest[1], rest[3]}};
    vec3 w[2];
    for (int s = 0; s < 2; s++)
    {
        w[s] = v3_add(v3_scale(b[0][s], x[0]), v3_add(v3_scale(b[1][s], x[1]), v3_scale(b[2][s], x[2])));
        double length = v3_length(w[s]);
        vec3 n = length > 0.0 ? v3_scale(1.0 / length, w[s]) : v3(0, 0, 0);
        out[s].value[lane] = length - 1.0;
        out[s].compliance[lane] = 1.0 / rest[4 + s];
        for (int a = 0; a < 3; a++)
        {
            put(&out[s], lane, a, v3_scale(b[a][s], n));
        }
    }
    out[2].value[lane] = v3_dot(w[0], w[1]);
    out[2].compliance[lane] = 1.0 / rest[6];
    for (int a = 0; a < 3; a++)
    {
        put(&out[2], lane, a, v3_add(v3_scale(b[a][0], w[1]), v3_scale(b[a][1], w[0])));
    }
}

void membrane_constraint(const void* context, const int* elements, constraint_batch* out)
{
    const element_context* c = context;
    for (int k = 0; k < BATCH; k++)
    {
        const int* v = c->group->vertices + 3 * (size_t)elements[k];
        const vec3 x[3] = {c->motion->x[v[0]], c->motion->x[v[1]], c->motion->x[v[2]]};
        membrane_lane(c->group->rest + MEMBRANE_STRIDE * (size_t)elements[k], x, k, out);
    }
}

// Threads beyond their knees; before them nothing is to be met.
void taut_constraint(const void* context, const int* elements, constraint_batch* out)
{
    const element_context* c = context;
    for (int k = 0; k < BATCH; k++)
    {
        const int* v = c->group->vertices + 3 * (size_t)elements[k];
        const double* rest = c->group->rest + TAUT_STRIDE * (size_t)elements[k];
        const double b[3][2] = {{-rest[0] - rest[1], -rest[2] - rest[3]}, {rest[0], rest[2]}, {rest[1], rest[3]}};
        for (int s = 0; s < 2; s++)
        {
            vec3 w = v3(0, 0, 0);
            for (int a = 0; a < 3; a++)
            {
                w = v3_madd(w, b[a][s], c->motion->x[v[a]]);
            }
            double length = v3_length(w), over = fmax(length - rest[4 + s], 0.0);
            vec3 n = over > 0.0 ? v3_scale(1.0 / length, w) : v3(0, 0, 0);
            out[s].value[k] = over;
            out[s].compliance[k] = 1.0 / fmax(rest[6 + s], 1e-12); // one thread may have no knee
            for (int a = 0; a < 3; a++)
            {
                put(&out[s], k, a, v3_scale(b[a][s], n));
            }
        }
    }
}

// ---- bending

// The angle and its gradient by the four vertices; folded flat upon itself it has none.
static double angle_of(const vec3* x, vec3* gradient)
{
    vec3 e = v3_sub(x[1], x[0]);
    double length = v3_length(e);
    memset(gradient, 0, 4 * sizeof(vec3));
    for (int side = 0; side < 2; side++)
    {
        vec3 from0 = v3_sub(x[2 + side], x[0]), from1 = v3_sub(x[2 + side], x[1]);
        vec3 n = side == 0 ? v3_cross(e, from0) : v3_cross(from0, e);
        double norm_sq = v3_dot(n, n);
        if (!(norm_sq > 0.0) || !(length > 0.0))
        {
            continue;
        }
        vec3 a = v3_scale(1.0 / norm_sq, n);
        gradient[2 + side] = v3_scale(length, a);
        gradient[0] = v3_madd(gradient[0], v3_dot(from1, e) / length, a);
        gradient[1] = v3_madd(gradient[1], -v3_dot(from0, e) / length, a);
    }
    return hinge_angle(x);
}

static double wrap(double angle)
{
    return angle > PI ? angle - 2.0 * PI : angle < -PI ? angle + 2.0 * PI : angle;
}

void hinge_constraint(const void* context, const int* elements, constraint_batch* out)
{
    const element_context* c = context;
    for (int k = 0; k < BATCH; k++)
    {
        const int* v = c->group->vertices + 4 * (size_t)elements[k];
        const double* rest = c->group->rest + HINGE_STRIDE * (size_t)elements[k];
        const vec3* all = c->motion->x;
        const vec3 x[4] = {all[v[0]], all[v[1]], all[v[2]], all[v[3]]};
        vec3 gradient[4];
        out->value[k] = wrap(angle_of(x, gradient) - rest[1]);
        out->compliance[k] = 1.0 / rest[0];
        for (int a = 0; a < 4; a++)
        {
            put(out, k, a, gradient[a]);
        }
    }
}

// Fold k of a curvature element: its value less that at rest and its shift, and its gradient by the six vertices.
static double fold_of(const double* rest, const double* shift, const vec3* x, int k, vec3* gradient)
{
    memset(gradient, 0, 6 * sizeof(vec3));
    if (!((int)rest[10] >> k & 1))
    {
        return 0.0;
    }
    const int vertex[4] = {(k + 1) % 3, (k + 2) % 3, k, 3 + k};
    const vec3 y[4] = {x[vertex[0]], x[vertex[1]], x[vertex[2]], x[vertex[3]]};
    vec3 g[4];
    double theta = angle_of(y, g), tangent = sin(theta) / fmax(1.0 + cos(theta), FOLD_SINE_MIN);
    double slope = (1.0 - FOLD_SHARE) + FOLD_SHARE * (1.0 + tangent * tangent);
    for (int a = 0; a < 4; a++)
    {
        gradient[vertex[a]] = v3_scale(slope, g[a]);
    }
    return (1.0 - FOLD_SHARE) * theta + 2.0 * FOLD_SHARE * tangent - rest[6 + k] - (shift ? shift[k] : 0.0);
}

void curvature_constraint(const void* context, const int* elements, constraint_batch* out)
{
    const element_context* c = context;
    for (int lane = 0; lane < BATCH; lane++)
    {
        const int* v = c->group->vertices + 6 * (size_t)elements[lane];
        const double* rest = c->group->rest + CURVATURE_STRIDE * (size_t)elements[lane];
        const double L[3][3] = {{rest[0], 0, 0}, {rest[1], rest[2], 0}, {rest[3], rest[4], rest[5]}};
        vec3 x[6], gradient[3][6];
        for (int a = 0; a < 6; a++)
        {
            x[a] = c->motion->x[v[a]];
        }
        const double* shift = c->group->shift ? c->group->shift + 3 * (size_t)elements[lane] : NULL;
        const double phi[3] = {fold_of(rest, shift, x, 0, gradient[0]), fold_of(rest, shift, x, 1, gradient[1]),
                               fold_of(rest, shift, x, 2, gradient[2])};
        for (int r = 0; r < 3; r++)
        {
            out[r].value[lane] = L[0][r] * phi[0] + L[1][r] * phi[1] + L[2][r] * phi[2];
            out[r].compliance[lane] = 1.0;
            for (int a = 0; a < 6; a++)
            {
                vec3 g = v3_scale(L[0][r], gradient[0][a]);
                put(&out[r], lane, a, v3_madd(v3_madd(g, L[1][r], gradient[1][a]), L[2][r], gradient[2][a]));
            }
        }
    }
}
