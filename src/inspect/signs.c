// Signs of determinants of coordinate differences: in floating point where an error bound decides, else by integers.
//
// The bound. e = 2^-53, each operation returns (exact)(1 + d) + n with |d| <= e; n = 0 for sums and differences (a sum
// that underflows is exact), |n| <= 2^-1075 for products. Coordinates are at most 1e100, so that nothing overflows:
// differences are below 2.1e100, products of three below 1e301.
//
//   volume = sum over i of w_i (u_j v_k - u_k v_j), u = b - a, v = c - a, w = d - a.
//   Each of its six terms is a product of three differences (3 factors 1 + d), rounded as an inner product (1), in an
//   inner difference (1), an outer product (1) and at most two sums (2): 8 factors. So without n the computed value
//   differs from the exact one by at most ((1 + e)^8 - 1) P, where P is the sum of the six absolute terms. The computed
//   P' takes the same 8 roundings a term, so P <= P' / (1 - e)^8. Together: at most 8.0001 e P' < 10 e P'; the last
//   rounding of the bound itself is in the difference.
//   Underflow: six inner n, each times |w| <= 2.1e100, three outer n, once more for P': below 1e-221 < 1e-200.
//
//   cross = u_j v_k - u_k v_j: 2 differences, a product, a difference: 4 factors, at most 4.0001 e P' < 5 e P'.
//   Underflow: two n, once more for P': below 1e-322 < 1e-300.
//
// Determinants below those constants, whatever the coordinates, are left to the integers.
#include "inspect/bigint.h"
#include "inspect/predicates.h"

#define EPSILON 0x1p-53

static const double volume_relative = 10.0 * EPSILON, volume_absolute = 1e-200;
static const double cross_relative = 5.0 * EPSILON, cross_absolute = 1e-300;

static double component(vec3 a, int axis)
{
    return axis == 0 ? a.x : axis == 1 ? a.y : a.z;
}

// ---- by integers

static int lowest_bit(const double* x, int count)
{
    int lowest = INT32_MAX;
    for (int k = 0; k < count; k++)
    {
        lowest = int_min(lowest, double_lowest_bit(x[k]));
    }
    return lowest == INT32_MAX ? 0 : lowest; // all are zero
}

// (x - y) / 2^exponent
static void difference(double x, double y, int exponent, bigint* out)
{
    bigint a, b;
    bigint_from_double(x, exponent, &a);
    bigint_from_double(y, exponent, &b);
    bigint_sub(&a, &b, out);
}

// a d - b c
static void determinant2(const bigint* a, const bigint* b, const bigint* c, const bigint* d, bigint* out)
{
    bigint ad, bc;
    bigint_mul(a, d, &ad);
    bigint_mul(b, c, &bc);
    bigint_sub(&ad, &bc, out);
}

// Adds the determinant of the rows of m to sum.
static void add_determinant3(bigint m[3][3], bigint* sum)
{
    for (int k = 0; k < 3; k++)
    {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        bigint minor, term;
        determinant2(&m[0][i], &m[0][j], &m[1][i], &m[1][j], &minor);
        bigint_mul(&minor, &m[2][k], &term);
        bigint_add(sum, &term, sum);
    }
}

int sign_volume_exact(vec3 a, vec3 b, vec3 c, vec3 d)
{
    const double x[12] = {a.x, a.y, a.z, b.x, b.y, b.z, c.x, c.y, c.z, d.x, d.y, d.z};
    int exponent = lowest_bit(x, 12);
    bigint m[3][3], sum = {0};
    for (int k = 0; k < 9; k++)
    {
        difference(x[3 + k], x[k % 3], exponent, &m[k / 3][k % 3]);
    }
    add_determinant3(m, &sum);
    return sum.sign;
}

int sign_cross_exact(int axis, vec3 a, vec3 b, vec3 c, vec3 d)
{
    int i = (axis + 1) % 3, j = (axis + 2) % 3;
    const double x[8] = {component(a, i), component(a, j), component(b, i), component(b, j),
                         component(c, i), component(c, j), component(d, i), component(d, j)};
    int exponent = lowest_bit(x, 8);
    bigint u[2], v[2], out;
    for (int k = 0; k < 2; k++)
    {
        difference(x[2 + k], x[k], exponent, &u[k]);
        difference(x[6 + k], x[4 + k], exponent, &v[k]);
    }
    determinant2(&u[0], &u[1], &v[0], &v[1], &out);
    return out.sign;
}

// ---- by floating point first

// Cases that are zero at a glance and common: two equal points, all four in a plane across an axis.
static bool volume_is_plainly_zero(vec3 a, vec3 b, vec3 c, vec3 d)
{
    return v3_same(a, b) || v3_same(a, c) || v3_same(a, d) || v3_same(b, c) || v3_same(b, d) || v3_same(c, d) ||
           (a.x == b.x && a.x == c.x && a.x == d.x) || (a.y == b.y && a.y == c.y && a.y == d.y) ||
           (a.z == b.z && a.z == c.z && a.z == d.z);
}

int sign_volume(vec3 a, vec3 b, vec3 c, vec3 d)
{
    vec3 u = v3_sub(b, a), v = v3_sub(c, a), w = v3_sub(d, a);
    double xy = u.x * v.y, yx = u.y * v.x, yz = u.y * v.z, zy = u.z * v.y, zx = u.z * v.x, xz = u.x * v.z;
    double value = w.x * (yz - zy) + w.y * (zx - xz) + w.z * (xy - yx);
    double size =
        fabs(w.x) * (fabs(yz) + fabs(zy)) + fabs(w.y) * (fabs(zx) + fabs(xz)) + fabs(w.z) * (fabs(xy) + fabs(yx));
    double bound = volume_relative * size + volume_absolute;
    if (value > bound || value < -bound)
    {
        return value > 0.0 ? 1 : -1;
    }
    return volume_is_plainly_zero(a, b, c, d) ? 0 : sign_volume_exact(a, b, c, d);
}

// An edge without length, edges along one axis, or one edge twice.
static bool cross_is_plainly_zero(const double* a, const double* b, const double* c, const double* d)
{
    bool along_axis = (a[0] == b[0] && c[0] == d[0]) || (a[1] == b[1] && c[1] == d[1]);
    bool no_length = (a[0] == b[0] && a[1] == b[1]) || (c[0] == d[0] && c[1] == d[1]);
    bool same = a[0] == c[0] && a[1] == c[1] && b[0] == d[0] && b[1] == d[1];
    bool reversed = a[0] == d[0] && a[1] == d[1] && b[0] == c[0] && b[1] == c[1];
    return along_axis || no_length || same || reversed;
}

int sign_cross(int axis, vec3 a, vec3 b, vec3 c, vec3 d)
{
    int i = (axis + 1) % 3, j = (axis + 2) % 3;
    const double p[2] = {component(a, i), component(a, j)}, q[2] = {component(b, i), component(b, j)};
    const double r[2] = {component(c, i), component(c, j)}, s[2] = {component(d, i), component(d, j)};
    double ij = (q[0] - p[0]) * (s[1] - r[1]), ji = (q[1] - p[1]) * (s[0] - r[0]), value = ij - ji;
    double bound = cross_relative * (fabs(ij) + fabs(ji)) + cross_absolute;
    if (value > bound || value < -bound)
    {
        return value > 0.0 ? 1 : -1;
    }
    return cross_is_plainly_zero(p, q, r, s) ? 0 : sign_cross_exact(axis, a, b, c, d);
}

// ---- sums

static int enclosed_exact(const vec3* x, const int* triangles, const int* chosen, int count)
{
    int exponent = INT32_MAX;
    for (int k = 0; k < 3 * count; k++)
    {
        vec3 p = x[triangles[3 * (size_t)chosen[k / 3] + k % 3]];
        for (int i = 0; i < 3; i++)
        {
            exponent = int_min(exponent, double_lowest_bit(component(p, i)));
        }
    }
    bigint m[3][3], sum = {0};
    for (int k = 0; k < count; k++)
    {
        for (int i = 0; i < 9; i++)
        {
            vec3 p = x[triangles[3 * (size_t)chosen[k] + i / 3]];
            bigint_from_double(component(p, i % 3), exponent, &m[i / 3][i % 3]);
        }
        add_determinant3(m, &sum);
    }
    return sum.sign;
}

// As for the volume above, from a corner of the first triangle. Adding up takes count more roundings of partial sums
// that are at most the sum of sizes.
int sign_enclosed(const vec3* x, const int* triangles, const int* chosen, int count)
{
    vec3 origin = count > 0 ? x[triangles[3 * (size_t)chosen[0]]] : v3(0, 0, 0);
    double sum = 0.0, size = 0.0;
    for (int k = 0; k < count; k++)
    {
        const int* t = triangles + 3 * (size_t)chosen[k];
        vec3 u = v3_sub(x[t[0]], origin), v = v3_sub(x[t[1]], origin), w = v3_sub(x[t[2]], origin);
        sum += v3_dot(w, v3_cross(u, v));
        size += fabs(w.x) * (fabs(u.y * v.z) + fabs(u.z * v.y)) + fabs(w.y) * (fabs(u.z * v.x) + fabs(u.x * v.z)) +
                fabs(w.z) * (fabs(u.x * v.y) + fabs(u.y * v.x));
    }
    double bound = (2.0 * count * EPSILON + volume_relative) * size + count * volume_absolute;
    if (sum > bound || sum < -bound)
    {
        return sum > 0.0 ? 1 : -1;
    }
    return enclosed_exact(x, triangles, chosen, count);
}
