// Exact elastic forces and Jacobians, before any clamping: what the clamped blocks of the kernels are derived from and
// checked against. Plain scalar code.
#include "material/exact.h"

#include <stdbool.h>
#include <string.h>

#include "material/bending.h"
#include "material/membrane.h"

// The energy of a membrane element by w = (w_u, w_v): gradient [6] and Hessian [6][6].
static void membrane_in_gradient(const double* rest, const double* w, double* gradient, double hessian[6][6])
{
    memset(gradient, 0, 6 * sizeof(double));
    memset(hessian, 0, 36 * sizeof(double));
    for (int s = 0; s < 2; s++)
    {
        const double* a = w + 3 * s;
        double k = rest[4 + s], length = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]), t = 1.0 - 1.0 / length;
        for (int r = 0; r < 3; r++)
        {
            gradient[3 * s + r] += k * t * a[r];
            for (int c = 0; c < 3; c++)
            {
                hessian[3 * s + r][3 * s + c] += k * ((1.0 - t) * a[r] * a[c] / (length * length) + (r == c ? t : 0.0));
            }
        }
    }
    double k = rest[6], c = w[0] * w[3] + w[1] * w[4] + w[2] * w[5];
    for (int r = 0; r < 6; r++)
    {
        gradient[r] += k * c * w[(r + 3) % 6];
        for (int q = 0; q < 6; q++)
        {
            hessian[r][q] += k * (w[(r + 3) % 6] * w[(q + 3) % 6] + (q == (r + 3) % 6 ? c : 0.0));
        }
    }
}

// Of the part beyond the knees.
static void taut_in_gradient(const double* rest, const double* w, double* gradient, double hessian[6][6])
{
    memset(gradient, 0, 6 * sizeof(double));
    memset(hessian, 0, 36 * sizeof(double));
    for (int s = 0; s < 2; s++)
    {
        const double* a = w + 3 * s;
        double k = rest[6 + s], length = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]), t = 1.0 - rest[4 + s] / length;
        for (int r = 0; r < 3 && t > 0.0; r++)
        {
            gradient[3 * s + r] = k * t * a[r];
            for (int c = 0; c < 3; c++)
            {
                hessian[3 * s + r][3 * s + c] = k * ((1.0 - t) * a[r] * a[c] / (length * length) + (r == c ? t : 0.0));
            }
        }
    }
}

typedef void in_gradient_fn(const double* rest, const double* w, double* gradient, double hessian[6][6]);

static void triangle_exact(in_gradient_fn* energy, const double* rest, const vec3* x, double* force, double* jacobian)
{
    // w = B x with coefficients b[vertex][column]
    double b[3][2] = {{-rest[0] - rest[1], -rest[2] - rest[3]}, {rest[0], rest[2]}, {rest[1], rest[3]}};
    double w[6] = {0}, gradient[6], hessian[6][6];
    for (int i = 0; i < 3; i++)
    {
        for (int s = 0; s < 2; s++)
        {
            w[3 * s] += b[i][s] * x[i].x;
            w[3 * s + 1] += b[i][s] * x[i].y;
            w[3 * s + 2] += b[i][s] * x[i].z;
        }
    }
    energy(rest, w, gradient, hessian);
    for (int p = 0; p < 9; p++)
    {
        force[p] = -(b[p / 3][0] * gradient[p % 3] + b[p / 3][1] * gradient[3 + p % 3]);
        for (int q = 0; q < 9; q++)
        {
            double sum = 0.0;
            for (int s = 0; s < 2; s++)
            {
                for (int t = 0; t < 2; t++)
                {
                    sum += b[p / 3][s] * b[q / 3][t] * hessian[3 * s + p % 3][3 * t + q % 3];
                }
            }
            jacobian[9 * p + q] = -sum;
        }
    }
}

void taut_exact(const double* rest, const vec3* x, double* force, double* jacobian)
{
    triangle_exact(taut_in_gradient, rest, x, force, jacobian);
}

void membrane_exact(const double* rest, const vec3* x, double* force, double* jacobian)
{
    triangle_exact(membrane_in_gradient, rest, x, force, jacobian);
}

// ---- the dihedral angle with first and second derivatives

// A three-vector that depends on the 12 coordinates of a hinge, with its derivative.
typedef struct dvec
{
    double a[3];
    double d[3][12];
} dvec;

typedef struct dnum
{
    double a;
    double d[12];
} dnum;

static dvec dvec_vertex(const vec3* x, int i)
{
    dvec p = {.a = {x[i].x, x[i].y, x[i].z}};
    for (int r = 0; r < 3; r++)
    {
        p.d[r][3 * i + r] = 1.0;
    }
    return p;
}

static dvec dvec_sub(const dvec* p, const dvec* q)
{
    dvec s;
    for (int r = 0; r < 3; r++)
    {
        s.a[r] = p->a[r] - q->a[r];
        for (int k = 0; k < 12; k++)
        {
            s.d[r][k] = p->d[r][k] - q->d[r][k];
        }
    }
    return s;
}

static dvec dvec_cross(const dvec* p, const dvec* q)
{
    dvec s;
    for (int r = 0; r < 3; r++)
    {
        int i = (r + 1) % 3, j = (r + 2) % 3;
        s.a[r] = p->a[i] * q->a[j] - p->a[j] * q->a[i];
        for (int k = 0; k < 12; k++)
        {
            s.d[r][k] = p->d[i][k] * q->a[j] + p->a[i] * q->d[j][k] - p->d[j][k] * q->a[i] - p->a[j] * q->d[i][k];
        }
    }
    return s;
}

static dnum dvec_dot(const dvec* p, const dvec* q)
{
    dnum s = {0};
    for (int r = 0; r < 3; r++)
    {
        s.a += p->a[r] * q->a[r];
        for (int k = 0; k < 12; k++)
        {
            s.d[k] += p->d[r][k] * q->a[r] + p->a[r] * q->d[r][k];
        }
    }
    return s;
}

static dvec dvec_scale(const dnum* s, const dvec* p)
{
    dvec t;
    for (int r = 0; r < 3; r++)
    {
        t.a[r] = s->a * p->a[r];
        for (int k = 0; k < 12; k++)
        {
            t.d[r][k] = s->d[k] * p->a[r] + s->a * p->d[r][k];
        }
    }
    return t;
}

// s^power
static dnum dnum_power(const dnum* s, double power)
{
    dnum t = {.a = pow(s->a, power)};
    for (int k = 0; k < 12; k++)
    {
        t.d[k] = power * pow(s->a, power - 1.0) * s->d[k];
    }
    return t;
}

static dnum dnum_multiply(const dnum* s, const dnum* t)
{
    dnum p = {.a = s->a * t->a};
    for (int k = 0; k < 12; k++)
    {
        p.d[k] = s->d[k] * t->a + s->a * t->d[k];
    }
    return p;
}

static void accumulate(const dvec* g, int vertex, double sign, double* gradient, double hessian[12][12])
{
    for (int r = 0; r < 3; r++)
    {
        gradient[3 * vertex + r] += sign * g->a[r];
        for (int k = 0; k < 12; k++)
        {
            hessian[3 * vertex + r][k] += sign * g->d[r][k];
        }
    }
}

// theta, its gradient and its Hessian by the four vertices of a hinge: the gradient's closed form, differentiated.
static double angle_exact(const vec3* x, double* gradient, double hessian[12][12])
{
    dvec p[4];
    for (int i = 0; i < 4; i++)
    {
        p[i] = dvec_vertex(x, i);
    }
    dvec e = dvec_sub(&p[1], &p[0]), to2 = dvec_sub(&p[2], &p[0]), to3 = dvec_sub(&p[3], &p[0]);
    dnum length_sq = dvec_dot(&e, &e), length = dnum_power(&length_sq, 0.5), inverse = dnum_power(&length_sq, -0.5);
    dvec normal[2] = {dvec_cross(&e, &to2), dvec_cross(&to3, &e)};
    memset(gradient, 0, 12 * sizeof(double));
    memset(hessian, 0, 144 * sizeof(double));
    for (int side = 0; side < 2; side++)
    {
        dnum norm_sq = dvec_dot(&normal[side], &normal[side]), inv_sq = dnum_power(&norm_sq, -1.0);
        dvec a = dvec_scale(&inv_sq, &normal[side]);
        dvec from0 = dvec_sub(&p[2 + side], &p[0]), from1 = dvec_sub(&p[2 + side], &p[1]);
        dnum dot0 = dvec_dot(&from0, &e), dot1 = dvec_dot(&from1, &e);
        dnum s0 = dnum_multiply(&dot1, &inverse), s1 = dnum_multiply(&dot0, &inverse);
        dvec g2 = dvec_scale(&length, &a), g0 = dvec_scale(&s0, &a), g1 = dvec_scale(&s1, &a);
        accumulate(&g2, 2 + side, 1.0, gradient, hessian);
        accumulate(&g0, 0, 1.0, gradient, hessian);
        accumulate(&g1, 1, -1.0, gradient, hessian);
    }
    vec3 ev = v3_sub(x[1], x[0]);
    vec3 n1 = v3_cross(ev, v3_sub(x[2], x[0])), n2 = v3_cross(v3_sub(x[3], x[0]), ev);
    return atan2(v3_dot(v3_cross(n2, n1), ev), v3_dot(n1, n2) * v3_length(ev));
}

static double wrap(double angle)
{
    return angle > PI ? angle - 2.0 * PI : angle < -PI ? angle + 2.0 * PI : angle;
}

void hinge_exact(const double* rest, const vec3* x, double* force, double* jacobian)
{
    double gradient[12], hessian[12][12];
    double bend = wrap(angle_exact(x, gradient, hessian) - rest[1]);
    for (int p = 0; p < 12; p++)
    {
        force[p] = -rest[0] * bend * gradient[p];
        for (int q = 0; q < 12; q++)
        {
            jacobian[12 * p + q] = -rest[0] * (gradient[p] * gradient[q] + bend * hessian[p][q]);
        }
    }
}

// Energies of q = sqrt(phi^T Q phi): E' / q takes the place of 1 in the gradient Q phi, and E'' does along it.
static void change_law(const double* rest, const double* phi, double* stress, double Q[3][3])
{
    double q = sqrt(fmax(phi[0] * stress[0] + phi[1] * stress[1] + phi[2] * stress[2], 0.0));
    if (!(q > rest[11]))
    {
        return;
    }
    double secant = (rest[11] + rest[12] * (q - rest[11])) / q, along = (rest[12] - secant) / (q * q);
    for (int i = 0; i < 3; i++)
    {
        for (int j = 0; j < 3; j++)
        {
            Q[i][j] = secant * Q[i][j] + along * stress[i] * stress[j];
        }
    }
    for (int i = 0; i < 3; i++)
    {
        stress[i] *= secant;
    }
}

static void bow_exact(const double* rest, const vec3* x, double* force, double* jacobian, bool changes)
{
    const double L[3][3] = {{rest[0], 0, 0}, {rest[1], rest[2], 0}, {rest[3], rest[4], rest[5]}};
    double phi[3] = {0}, gradient[3][18] = {{0}}, stress[3] = {0}, Q[3][3];
    memset(jacobian, 0, 18 * 18 * sizeof(double));
    memset(force, 0, 18 * sizeof(double));
    double hessian[3][12][12] = {{{0}}};
    int map[3][12];
    for (int k = 0; k < 3; k++)
    {
        const int vertex[4] = {(k + 1) % 3, (k + 2) % 3, k, 3 + k};
        for (int q = 0; q < 12; q++)
        {
            map[k][q] = 3 * vertex[q / 3] + q % 3;
        }
        if (!((int)rest[10] >> k & 1))
        {
            continue;
        }
        vec3 y[4] = {x[vertex[0]], x[vertex[1]], x[vertex[2]], x[vertex[3]]};
        double g[12];
        double theta = angle_exact(y, g, hessian[k]), tangent = tan(0.5 * theta), sec_sq = 1.0 + tangent * tangent;
        double slope = (1.0 - FOLD_SHARE) + FOLD_SHARE * sec_sq, bow = FOLD_SHARE * sec_sq * tangent;
        phi[k] = (1.0 - FOLD_SHARE) * theta + 2.0 * FOLD_SHARE * tangent - rest[6 + k];
        // Derivatives of the fold: f' g, and f' times the Hessian of theta plus f'' g g^T.
        for (int q = 0; q < 144; q++)
        {
            hessian[k][q / 12][q % 12] = slope * hessian[k][q / 12][q % 12] + bow * g[q / 12] * g[q % 12];
        }
        for (int q = 0; q < 12; q++)
        {
            gradient[k][map[k][q]] = slope * g[q];
        }
    }
    for (int i = 0; i < 3; i++)
    {
        for (int j = 0; j < 3; j++)
        {
            Q[i][j] = L[i][0] * L[j][0] + L[i][1] * L[j][1] + L[i][2] * L[j][2];
            stress[i] += Q[i][j] * phi[j];
        }
    }
    if (changes)
    {
        change_law(rest, phi, stress, Q);
    }
    for (int i = 0; i < 3; i++)
    {
        for (int p = 0; p < 18; p++)
        {
            force[p] -= stress[i] * gradient[i][p];
            for (int q = 0; q < 18; q++)
            {
                for (int j = 0; j < 3; j++)
                {
                    jacobian[18 * p + q] -= Q[i][j] * gradient[i][p] * gradient[j][q];
                }
            }
        }
        for (int p = 0; p < 12; p++)
        {
            for (int q = 0; q < 12; q++)
            {
                jacobian[18 * map[i][p] + map[i][q]] -= stress[i] * hessian[i][p][q];
            }
        }
    }
}

void curvature_exact(const double* rest, const vec3* x, double* force, double* jacobian)
{
    bow_exact(rest, x, force, jacobian, false);
}

void beyond_exact(const double* rest, const vec3* x, double* force, double* jacobian)
{
    bow_exact(rest, x, force, jacobian, true);
}
