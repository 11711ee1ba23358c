// How stiff an element is against the masses of its vertices: bounds of the eigenvalues of M_e^-1 K_e and M_e^-1 D_e,
// for methods that take some elements explicitly (element_criterion_fn). K_e is bounded as it is in A, with what
// clamping leaves; where it is a sum of parts, by the sum of their bounds.
#include "material/criterion.h"

#include "material/bending.h"
#include "material/corotated.h"
#include "material/membrane.h"
#include "material/spring.h"

// ---- springs: k (1/m_0 + 1/m_1), whatever their length: across its direction a spring is softer

element_role element_role_of_spring(spring_role role)
{
    switch (role)
    {
    case SPRING_SHEAR:
        return ROLE_SHEAR;
    case SPRING_BEND:
        return ROLE_BEND;
    default:
        return ROLE_STRETCH;
    }
}

element_role spring_role_of(const element_group* group, int e)
{
    return element_role_of_spring((spring_role)group->rest[SPRING_STRIDE * (size_t)e + SPRING_ROLE]);
}

void spring_criterion(const element_context* context, const double* mass, int begin, int end, double (*out)[2])
{
    const element_group* group = context->group;
    for (int e = begin; e < end; e++)
    {
        const int* v = group->vertices + 2 * (size_t)e;
        const double* rest = group->rest + SPRING_STRIDE * (size_t)e;
        double k = rest[SPRING_STIFFNESS] * (1.0 / mass[v[0]] + 1.0 / mass[v[1]]);
        out[e - begin][0] = k;
        out[e - begin][1] = k * rest[SPRING_DAMPING];
    }
}

// ---- triangles
//
// w = (w_u, w_v) = B x. With G = B M_e^-1 B^T, 2 x 2 as every axis has the same, the stretch of both threads has at
// most the larger eigenvalue of diag(k) G, and shear k_s times that of its Hessian by w times that of G.

typedef struct mass_gradient
{
    double uu, uv, vv; // 1/(kg m^2)
} mass_gradient;

static double larger_eigenvalue(double a, double b, double c)
{
    double mean = 0.5 * (a + c), half = 0.5 * (a - c);
    return mean + sqrt(half * half + b * b);
}

static mass_gradient mass_gradient_of(const double* rest, const int* v, const double* mass)
{
    const double u[3] = {-rest[0] - rest[1], rest[0], rest[1]}, w[3] = {-rest[2] - rest[3], rest[2], rest[3]};
    mass_gradient g = {0};
    for (int a = 0; a < 3; a++)
    {
        double inv = 1.0 / mass[v[a]];
        g.uu += inv * u[a] * u[a];
        g.uv += inv * u[a] * w[a];
        g.vv += inv * w[a] * w[a];
    }
    return g;
}

static void membrane_bounds(const double* rest, const vec3* x, const int* v, mass_gradient g, double* out)
{
    vec3 e1 = v3_sub(x[v[1]], x[v[0]]), e2 = v3_sub(x[v[2]], x[v[0]]);
    vec3 wu = v3_add(v3_scale(rest[0], e1), v3_scale(rest[1], e2));
    vec3 wv = v3_add(v3_scale(rest[2], e1), v3_scale(rest[3], e2));
    double ku = rest[4], kv = rest[5], ks = rest[6], damping = rest[7];
    double stretch = larger_eigenvalue(ku * g.uu, sqrt(ku * kv) * g.uv, kv * g.vv);
    double uu = v3_dot(wu, wu), vv = v3_dot(wv, wv), c = v3_dot(wu, wv), m = 0.5 * (uu + vv);
    double shear = ks * (m + sqrt(m * m + 3.0 * c * c)) * larger_eigenvalue(g.uu, g.uv, g.vv);
    double rate = ks * (g.uu * vv + 2.0 * g.uv * c + g.vv * uu); // of rank one, p = (w_v, w_u)
    out[0] = stretch + shear;
    out[1] = damping * (stretch + rate);
}

void membrane_criterion(const element_context* context, const double* mass, int begin, int end, double (*out)[2])
{
    const element_group* group = context->group;
    for (int e = begin; e < end; e++)
    {
        const int* v = group->vertices + 3 * (size_t)e;
        const double* rest = group->rest + MEMBRANE_STRIDE * (size_t)e;
        membrane_bounds(rest, context->motion->x, v, mass_gradient_of(rest, v, mass), out[e - begin]);
    }
}

// Of threads beyond their knees; before them there is nothing.
void taut_criterion(const element_context* context, const double* mass, int begin, int end, double (*out)[2])
{
    const element_group* group = context->group;
    for (int e = begin; e < end; e++)
    {
        const int* v = group->vertices + 3 * (size_t)e;
        const double* rest = group->rest + TAUT_STRIDE * (size_t)e;
        mass_gradient g = mass_gradient_of(rest, v, mass);
        double k = larger_eigenvalue(rest[6] * g.uu, sqrt(rest[6] * rest[7]) * g.uv, rest[7] * g.vv);
        out[e - begin][0] = k;
        out[e - begin][1] = rest[8] * k;
    }
}

// ---- bending in factors: K = weight Y^T Y, so that the eigenvalue is that of Y M_e^-1 Y^T, here its trace

// What the kernel hands out for h = 1 is K + D, D = damping K.
static double damping_of(const element_group* group, int e)
{
    bool hinge = group->kind->rest_stride == HINGE_STRIDE;
    return group->rest[(size_t)e * (size_t)group->kind->rest_stride + (hinge ? 2 : 9)];
}

static double factor_trace(const element_group* group, const element_batch* batch, int e, int lane, const double* mass)
{
    double sum = 0.0;
    int arity = group->kind->arity;
    for (int a = 0; a < arity; a++)
    {
        double square = 0.0;
        for (int m = 0; m < group->kind->shape.factor_count[a]; m++)
        {
            for (int axis = 0; axis < 3; axis++)
            {
                square += batch->factor[a][m][axis][lane] * batch->factor[a][m][axis][lane];
            }
        }
        sum += square / mass[group->vertices[arity * e + a]];
    }
    return sum;
}

// Elements [first, first + count), the last one again in the lanes that are left.
static int lanes_of(int first, int end, int elements[BATCH])
{
    for (int lane = 0; lane < BATCH; lane++)
    {
        elements[lane] = int_min(first + lane, end - 1);
    }
    return int_min(BATCH, end - first);
}

static element_context for_one_second(const element_context* context, element_motion* motion)
{
    *motion = *context->motion;
    motion->h = 1.0;
    motion->x_last = motion->v_last = NULL;
    return (element_context){context->group, motion};
}

void factor_criterion(const element_context* context, const double* mass, int begin, int end, double (*out)[2])
{
    const element_group* group = context->group;
    element_motion motion;
    element_context one = for_one_second(context, &motion);
    for (int first = begin; first < end; first += BATCH)
    {
        int elements[BATCH], count = lanes_of(first, end, elements);
        element_batch batch;
        group->kind->kernels[CPU_BASE]->evaluate(&one, elements, &batch);
        for (int lane = 0; lane < count; lane++)
        {
            int e = first + lane;
            double damping = damping_of(group, e), both = batch.weight[lane];
            double k = both / (1.0 + damping) * factor_trace(group, &batch, e, lane, mass);
            out[e - begin][0] = k;
            out[e - begin][1] = damping * k;
        }
    }
}

// ---- folds: a spring between weighted sums

void fold_criterion(const element_context* context, const double* mass, int begin, int end, double (*out)[2])
{
    const element_group* group = context->group;
    for (int e = begin; e < end; e++)
    {
        const double* rest = group->rest + FOLD_STRIDE * (size_t)e;
        double k = 0.0;
        for (int a = 0; a < 4; a++)
        {
            k += rest[FOLD_STIFFNESS] * rest[FOLD_ROW + a] * rest[FOLD_ROW + a] / mass[group->vertices[4 * e + a]];
        }
        out[e - begin][0] = k;
        out[e - begin][1] = k * rest[FOLD_DAMPING];
    }
}

// ---- air: each corner has a third of the force of the mean velocity, so that all nine blocks are one

void air_criterion(const element_context* context, const double* mass, int begin, int end, double (*out)[2])
{
    const element_group* group = context->group;
    element_motion motion;
    element_context one = for_one_second(context, &motion);
    for (int first = begin; first < end; first += BATCH)
    {
        int elements[BATCH], count = lanes_of(first, end, elements);
        element_batch batch;
        group->kind->kernels[CPU_BASE]->evaluate(&one, elements, &batch);
        for (int lane = 0; lane < count; lane++)
        {
            const int* v = group->vertices + 3 * (size_t)(first + lane);
            double trace = batch.block[0][0][lane] + batch.block[0][4][lane] + batch.block[0][8][lane];
            out[first + lane - begin][0] = 0.0;
            out[first + lane - begin][1] = trace * (1.0 / mass[v[0]] + 1.0 / mass[v[1]] + 1.0 / mass[v[2]]);
        }
    }
}
