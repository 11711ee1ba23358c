// Elements against finite differences: forces are minus the gradient of the energy, Jacobians the derivative of the
// force, clamped blocks semidefinite; damping and air derivatives; the same bits from every CPU kind.
#include "common.h"
#include "common_batch.h"

#include <stdlib.h>
#include <string.h>

#include "material/bending.h"
#include "material/connection.h"
#include "material/material.h"
#include "material/membrane.h"
#include "material/spring.h"
#include "material/weave.h"

enum
{
    TURNS = 400,
    SIZE_MAX_ = 18
};

// One element with random rest data and vertices.
typedef struct specimen
{
    element_group group;
    int vertices[ARITY_MAX];
    double rest[16];
    vec3 x[ARITY_MAX], v[ARITY_MAX];
} specimen;

static double aspect(vec2 a, vec2 b, vec2 c)
{
    double l0 = hypot(b.x - a.x, b.y - a.y), l1 = hypot(c.x - b.x, c.y - b.y), l2 = hypot(a.x - c.x, a.y - c.y);
    double area = 0.5 * fabs((b.x - a.x) * (c.y - a.y) - (c.x - a.x) * (b.y - a.y));
    double longest = fmax(l0, fmax(l1, l2));
    return longest * longest / area;
}

static void specimen_init(specimen* s, const element_kind* kind)
{
    s->group = (element_group){.kind = kind, .count = 1, .vertices = s->vertices, .rest = s->rest};
    for (int a = 0; a < kind->arity; a++)
    {
        s->vertices[a] = a;
    }
}

static void make_membrane(specimen* s, uint64_t* n)
{
    specimen_init(s, &kind_membrane);
    vec2 p[3];
    do
    {
        for (int k = 0; k < 3; k++)
        {
            p[k] = (vec2){test_random(n, -1, 1), test_random(n, -1, 1)};
        }
    } while (aspect(p[0], p[1], p[2]) > 20 || triangle_rest_area(p) <= 0);
    weft_material m = {.density = 1,
                       .stretch_warp = test_random(n, 1, 100),
                       .stretch_weft = test_random(n, 1, 100),
                       .shear = test_random(n, 1, 100),
                       .bending = 1};
    int triangle[3] = {0, 1, 2};
    cloth_shape shape = {.triangle_count = 1, .triangle = triangle, .rest = p, .material = m};
    element_group made = {0};
    assert_int_equal(membrane_append(&made, &shape), WEFT_OK);
    memcpy(s->rest, made.rest, MEMBRANE_STRIDE * sizeof(double));
    element_group_finish(&made);
    for (int k = 0; k < 3; k++)
    {
        s->x[k] = v3_add(v3(p[k].x, p[k].y, 0), test_random_vec(n, 0.4));
        s->v[k] = test_random_vec(n, 1.0);
    }
}

static double energy_of(const specimen* s, const vec3* x, cpu_kind cpu)
{
    element_motion motion = {.x = x, .v = s->v, .h = 1.0};
    element_context context = {&s->group, &motion};
    energy_sums sums = {0};
    element_kernels_for(s->group.kind, cpu)->energy(&context, 0, 1, &sums);
    return sums.stretch + sums.shear + sums.bend;
}

// Wings around an edge or triangle, folded by random angles below 150 degrees.
static void make_hinge(specimen* s, uint64_t* n)
{
    specimen_init(s, &kind_hinge);
    double l = test_random(n, 0.3, 2);
    double angle = test_random(n, -2.6, 2.6);
    double foot = test_random(n, 0.1, 0.9) * l, height = test_random(n, 0.3, 1.5);
    s->x[0] = v3(0, 0, 0);
    s->x[1] = v3(l, 0, 0);
    s->x[2] = v3(test_random(n, 0.1, 0.9) * l, test_random(n, 0.3, 1.5), 0);
    s->x[3] = v3(foot, -height * cos(angle), height * sin(angle));
    for (int k = 0; k < 4; k++)
    {
        s->v[k] = test_random_vec(n, 1.0);
    }
    s->rest[0] = test_random(n, 0.1, 10);
    s->rest[1] = test_random(n, -0.5, 0.5);
    s->rest[2] = 0.0;
}

static void make_curvature(specimen* s, uint64_t* n)
{
    specimen_init(s, &kind_curvature);
    vec2 p[3];
    do
    {
        for (int k = 0; k < 3; k++)
        {
            p[k] = (vec2){test_random(n, -1, 1), test_random(n, -1, 1)};
        }
    } while (aspect(p[0], p[1], p[2]) > 20 || triangle_rest_area(p) <= 0);
    int bits = (int)test_random(n, 1, 8);
    for (int k = 0; k < 3; k++)
    {
        s->x[k] = v3(p[k].x, p[k].y, 0);
    }
    for (int k = 0; k < 3; k++)
    {
        vec3 a = s->x[(k + 1) % 3], b = s->x[(k + 2) % 3], e = v3_sub(b, a);
        vec3 out = v3_normalize(v3(e.y, -e.x, 0));
        double height = test_random(n, 0.3, 1.0), angle = test_random(n, -2.4, 2.4);
        s->x[3 + k] = v3_madd(a, test_random(n, 0.1, 0.9), e);
        s->x[3 + k] = v3_madd(s->x[3 + k], height * cos(angle), out);
        s->x[3 + k].z += height * sin(angle);
        s->rest[6 + k] = bits >> k & 1 ? test_random(n, -0.5, 0.5) : 0.0;
    }
    for (int k = 0; k < 6; k++)
    {
        s->rest[k] = test_random(n, 0.2, 2);
        s->v[k] = test_random_vec(n, 1.0);
    }
    s->rest[9] = 0.0;
    s->rest[10] = bits;
}

// Before and beyond the curvature at which its law changes, away from it; softer and stiffer there.
static void make_beyond(specimen* s, uint64_t* n)
{
    make_curvature(s, n);
    specimen_init(s, &kind_beyond);
    s->rest[11] = 1e9;
    s->rest[12] = test_random(n, 0.2, 3.0);
    double q = sqrt(2.0 * energy_of(s, s->x, CPU_BASE)), share = test_random(n, 0.3, 1.5);
    s->rest[11] = q * (share + (share < 1.0 ? -0.15 : 0.15));
}

// Threads before and beyond their knees, away from them.
static void make_taut(specimen* s, uint64_t* n)
{
    make_membrane(s, n);
    specimen_init(s, &kind_taut);
    vec3 e1 = v3_sub(s->x[1], s->x[0]), e2 = v3_sub(s->x[2], s->x[0]);
    for (int k = 0; k < 2; k++)
    {
        double length = v3_length(v3_madd(v3_scale(s->rest[2 * k], e1), s->rest[2 * k + 1], e2));
        double share = test_random(n, 0.4, 1.4);
        s->rest[4 + k] = length * (share + (share < 1.0 ? -0.1 : 0.1));
        s->rest[6 + k] = test_random(n, 1, 100);
    }
    s->rest[8] = 0.0;
}

static void make_spring(specimen* s, uint64_t* n)
{
    specimen_init(s, &kind_spring);
    s->x[0] = test_random_vec(n, 1.0);
    s->x[1] = v3_add(s->x[0], v3_scale(test_random(n, 0.5, 1.5), v3_normalize(test_random_vec(n, 1.0))));
    s->v[0] = test_random_vec(n, 1.0);
    s->v[1] = test_random_vec(n, 1.0);
    s->rest[SPRING_STIFFNESS] = test_random(n, 1, 100);
    s->rest[SPRING_LENGTH] = test_random(n, 0.0, 1.5);
    s->rest[SPRING_DAMPING] = 0.0;
    s->rest[SPRING_ROLE] = (double)(random_bits(*n, 0) % 3);
}

// Ends at `length` from each other.
static void place_ends(specimen* s, uint64_t* n, double length)
{
    s->x[0] = test_random_vec(n, 1.0);
    s->x[1] = v3_add(s->x[0], v3_scale(length, v3_normalize(test_random_vec(n, 1.0))));
    s->v[0] = test_random_vec(n, 1.0);
    s->v[1] = test_random_vec(n, 1.0);
}

// Away from the kink at its length, on both sides of it.
static void make_connection(specimen* s, uint64_t* n)
{
    specimen_init(s, &kind_connection);
    double length = test_random(n, 0.5, 1.5), ratio = test_random(n, 0.5, 1.5);
    ratio += ratio < 1.0 ? -0.02 : 0.02;
    place_ends(s, n, length);
    s->group.count = 0;
    connection c = {.b = 1,
                    .stiffness = test_random(n, 1, 100),
                    .length = ratio * length,
                    .role = (spring_role)(random_bits(*n, 0) % 3),
                    .slack = random_bits(*n, 1) % 3 > 0};
    connection_add(&s->group, &c);
}

// Away from the kinks: in the linear part, on the curve, and longer than its arc.
static void make_arc(specimen* s, uint64_t* n)
{
    specimen_init(s, &kind_arc);
    s->group.count = 0;
    arc it = {.b = 1, .rigidity = test_random(n, 0.1, 10), .length = test_random(n, 0.6, 1.5)};
    it.start = it.rigidity / pow(it.length, 3) * test_random(n, 20, 200);
    arc_add(&s->group, &it);
    double ratio, turn = s->rest[ARC_TURN];
    do
    {
        ratio = test_random(n, 0.3, 1.1);
    } while (fabs(ratio - turn) < 0.01 || fabs(ratio - 1.0) < 0.01);
    place_ends(s, n, ratio * it.length);
}

// Of a triangle as the membrane has it: threads and shear that act and that are slack, away from the kinks.
static void make_thread(specimen* s, uint64_t* n)
{
    double length;
    do
    {
        make_membrane(s, n);
        specimen_init(s, &kind_thread);
        vec3 e1 = v3_sub(s->x[1], s->x[0]), e2 = v3_sub(s->x[2], s->x[0]);
        length = v3_length(v3_madd(v3_scale(s->rest[THREAD_B1], e1), s->rest[THREAD_B2], e2));
    } while (fabs(length - 1.0) < 0.05);
    s->rest[THREAD_STIFFNESS] = test_random(n, 1, 100);
    s->rest[THREAD_DAMPING] = 0.0;
    s->rest[THREAD_FORM] = DAMPER_NONE;
}

static void make_skew(specimen* s, uint64_t* n)
{
    skew_strain at;
    double c, uu, vv;
    do
    {
        make_membrane(s, n);
        specimen_init(s, &kind_skew);
        vec3 e1 = v3_sub(s->x[1], s->x[0]), e2 = v3_sub(s->x[2], s->x[0]);
        vec3 wu = v3_madd(v3_scale(s->rest[0], e1), s->rest[1], e2);
        vec3 wv = v3_madd(v3_scale(s->rest[2], e1), s->rest[3], e2);
        at = skew_of(wu, wv);
        c = v3_dot(wu, wv), uu = v3_dot(wu, wu), vv = v3_dot(wv, wv);
    } while (fabs(at.s) < 0.1 || fabs(c) < 0.1 || fabs(uu - 1.0) < 0.1 || fabs(vv - 1.0) < 0.1);
    s->rest[SKEW_STIFFNESS] = test_random(n, 1, 100);
    s->rest[SKEW_DAMPING] = 0.0;
    s->rest[SKEW_FORM] = DAMPER_NONE;
}

typedef void make_fn(specimen* s, uint64_t* n);
static make_fn* const makers[] = {make_membrane, make_hinge,      make_curvature, make_beyond, make_taut,
                                  make_spring,   make_connection, make_arc,       make_thread, make_skew};

static void evaluate(const specimen* s, const element_motion* motion, cpu_kind cpu, element_batch* out)
{
    element_context context = {&s->group, motion};
    int elements[BATCH] = {0};
    memset(out, 0, sizeof(*out));
    element_kernels_for(s->group.kind, cpu)->evaluate(&context, elements, out);
    test_batch_blocks(&s->group.kind->shape, s->group.kind->arity, out);
}

// Force with v = 0 and h = 1 is the right-hand side; the blocks are K.
static void force_of(const specimen* s, const vec3* x, double* force)
{
    vec3 zero[ARITY_MAX] = {{0, 0, 0}};
    element_motion motion = {.x = x, .v = zero, .h = 1.0};
    element_batch batch;
    evaluate(s, &motion, cpu_best(), &batch);
    for (int p = 0; p < 3 * s->group.kind->arity; p++)
    {
        force[p] = batch.rhs[p / 3][p % 3][0];
    }
}

static double* coordinate(vec3* x, int p)
{
    return &x[p / 3].x + p % 3;
}

static void dense_of(const element_batch* batch, int arity, double* K)
{
    int n = 3 * arity;
    for (int a = 0; a < arity; a++)
    {
        for (int b = a; b < arity; b++)
        {
            for (int c = 0; c < 9; c++)
            {
                double value = batch->block[pair_index(arity, a, b)][c][0];
                K[(3 * a + c / 3) * n + 3 * b + c % 3] = value;
                K[(3 * b + c % 3) * n + 3 * a + c / 3] = value;
            }
        }
    }
}

static double norm(const double* a, int count)
{
    double sum = 0.0;
    for (int k = 0; k < count; k++)
    {
        sum += a[k] * a[k];
    }
    return sqrt(sum);
}

static void test_force_is_gradient(void** unused)
{
    (void)unused;
    uint64_t n = 0;
    for (int turn = 0; turn < TURNS; turn++)
    {
        for (size_t k = 0; k < sizeof(makers) / sizeof(makers[0]); k++)
        {
            specimen s;
            makers[k](&s, &n);
            int size = 3 * s.group.kind->arity;
            double force[SIZE_MAX_], difference[SIZE_MAX_];
            force_of(&s, s.x, force);
            for (int p = 0; p < size; p++)
            {
                vec3 x[ARITY_MAX];
                double e[4];
                const double steps[4] = {1e-3, -1e-3, 2e-3, -2e-3}; // fourth-order difference
                for (int j = 0; j < 4; j++)
                {
                    memcpy(x, s.x, sizeof(x));
                    *coordinate(x, p) += steps[j] * 0.5;
                    e[j] = energy_of(&s, x, cpu_best());
                }
                difference[p] = -(8 * (e[0] - e[1]) - (e[2] - e[3])) / (12 * 0.5e-3) - force[p];
            }
            // Fourth-order differences with a wide step: 1e-6 of the force, and of the stiffness times length.
            double scale = norm(force, size) + norm(s.rest, 6);
            assert_true(norm(difference, size) < 1e-6 * scale);
        }
    }
}

static void test_jacobian_is_derivative(void** unused)
{
    (void)unused;
    uint64_t n = 1000000;
    for (int turn = 0; turn < TURNS; turn++)
    {
        for (size_t k = 0; k < sizeof(makers) / sizeof(makers[0]); k++)
        {
            specimen s;
            makers[k](&s, &n);
            int size = 3 * s.group.kind->arity;
            double force[SIZE_MAX_], exact_force[SIZE_MAX_], J[SIZE_MAX_ * SIZE_MAX_], D[SIZE_MAX_ * SIZE_MAX_];
            force_of(&s, s.x, force);
            s.group.kind->exact(s.rest, s.x, exact_force, J);
            for (int p = 0; p < size; p++)
            {
                assert_true(fabs(force[p] - exact_force[p]) <= 1e-12 * norm(force, size));
                vec3 x[ARITY_MAX];
                double f[4][SIZE_MAX_];
                const double steps[4] = {2e-4, -2e-4, 4e-4, -4e-4};
                for (int j = 0; j < 4; j++)
                {
                    memcpy(x, s.x, sizeof(x));
                    *coordinate(x, p) += steps[j];
                    force_of(&s, x, f[j]);
                }
                for (int q = 0; q < size; q++)
                {
                    D[q * size + p] = (8 * (f[0][q] - f[1][q]) - (f[2][q] - f[3][q])) / (12 * 2e-4) - J[q * size + p];
                }
            }
            assert_true(norm(D, size * size) <= 1e-6 * norm(J, size * size)); // a slack one has none
        }
    }
}

// Clamped K: semidefinite, symmetric, kills translations; equals the exact one where that is semidefinite.
static void test_clamped_is_semidefinite(void** unused)
{
    (void)unused;
    uint64_t n = 2000000;
    for (int turn = 0; turn < TURNS; turn++)
    {
        for (size_t k = 0; k < sizeof(makers) / sizeof(makers[0]); k++)
        {
            specimen s;
            makers[k](&s, &n);
            if (turn % 5 == 0)
            {
                for (int a = 0; a < s.group.kind->arity; a++)
                {
                    s.x[a] = v3_scale(0.1, s.x[a]); // strong compression
                }
            }
            int arity = s.group.kind->arity, size = 3 * arity;
            vec3 zero[ARITY_MAX] = {{0, 0, 0}};
            element_motion motion = {.x = s.x, .v = zero, .h = 1.0};
            element_batch batch;
            evaluate(&s, &motion, cpu_best(), &batch);
            double K[SIZE_MAX_ * SIZE_MAX_], values[SIZE_MAX_];
            dense_of(&batch, arity, K);
            double scale = norm(K, size * size);
            for (int p = 0; p < size; p++)
            {
                double sum[3] = {0};
                for (int q = 0; q < size; q++)
                {
                    sum[q % 3] += K[p * size + q];
                }
                assert_true(norm(sum, 3) <= 1e-10 * scale);
            }
            for (int a = 0; a < arity; a++)
            {
                const double(*d)[BATCH] = batch.block[pair_index(arity, a, a)];
                assert_true(fabs(d[1][0] - d[3][0]) + fabs(d[2][0] - d[6][0]) + fabs(d[5][0] - d[7][0]) <=
                            1e-12 * scale);
            }
            test_eigenvalues(K, size, values);
            for (int p = 0; p < size; p++)
            {
                assert_true(values[p] >= -1e-10 * scale);
            }
        }
    }
}

// Shear and stretch are clamped to the nearest semidefinite matrix in (w_u, w_v): on a triangle whose rest shape makes
// w = x the blocks are that matrix itself. Its eigenvalues must be those of the exact one with negatives set to zero.
static void test_membrane_clamp_is_projection(void** unused)
{
    (void)unused;
    uint64_t n = 3000000;
    for (int turn = 0; turn < TURNS; turn++)
    {
        for (int part = 0; part < 3; part++)
        {
            specimen s;
            specimen_init(&s, &kind_membrane);
            const double rest[8] = {1, 0, 0, 1, part == 0 ? 2.0 : 0.0, part == 1 ? 3.0 : 0.0, part == 2 ? 1.5 : 0.0, 0};
            memcpy(s.rest, rest, sizeof(rest));
            s.x[0] = v3(0, 0, 0);
            s.x[1] = test_random_vec(&n, 1.5);
            s.x[2] = test_random_vec(&n, 1.5);
            vec3 zero[3] = {{0, 0, 0}};
            element_motion motion = {.x = s.x, .v = zero, .h = 1.0};
            element_batch batch;
            evaluate(&s, &motion, cpu_best(), &batch);
            double K[81], J[81], f[9], clamped[36], exact[36], a[6], b[6];
            dense_of(&batch, 3, K);
            kind_membrane.exact(s.rest, s.x, f, J);
            for (int p = 0; p < 6; p++)
            {
                for (int q = 0; q < 6; q++)
                {
                    clamped[6 * p + q] = K[9 * (p + 3) + q + 3];
                    exact[6 * p + q] = -J[9 * (p + 3) + q + 3];
                }
            }
            double scale = norm(exact, 36), distance = 0.0, negative = 0.0;
            for (int p = 0; p < 36; p++)
            {
                distance += (clamped[p] - exact[p]) * (clamped[p] - exact[p]);
            }
            test_eigenvalues(exact, 6, a);
            test_eigenvalues(clamped, 6, b);
            for (int p = 0; p < 6; p++)
            {
                negative += a[p] < 0 ? a[p] * a[p] : 0.0;
                assert_true(b[p] > -1e-12 * scale);
            }
            // The nearest semidefinite matrix is at the distance of the negative eigenvalues.
            assert_true(fabs(sqrt(distance) - sqrt(negative)) < 1e-9 * scale);
        }
    }
}

// df/dv of damping by differences of the force in v, and D in A.
static void test_damping(void** unused)
{
    (void)unused;
    uint64_t n = 4000000;
    const int damping_at[] = {7, 2, 9};
    for (int turn = 0; turn < 100; turn++)
    {
        for (size_t k = 0; k < 3; k++)
        {
            specimen s;
            makers[k](&s, &n);
            int arity = s.group.kind->arity, size = 3 * arity;
            double h = 1e-3;
            element_batch with, without, moved[2];
            element_motion motion = {.x = s.x, .v = s.v, .h = h};
            evaluate(&s, &motion, cpu_best(), &without);
            s.rest[damping_at[k]] = 0.7;
            evaluate(&s, &motion, cpu_best(), &with);
            double Kd[SIZE_MAX_ * SIZE_MAX_], K0[SIZE_MAX_ * SIZE_MAX_], D[SIZE_MAX_ * SIZE_MAX_];
            dense_of(&with, arity, Kd);
            dense_of(&without, arity, K0);
            double scale = norm(Kd, size * size);
            for (int p = 0; p < size; p++)
            {
                for (int side = 0; side < 2; side++)
                {
                    vec3 v[ARITY_MAX];
                    memcpy(v, s.v, sizeof(v));
                    *coordinate(v, p) += side ? -0.01 : 0.01;
                    element_motion other = {.x = s.x, .v = v, .h = h};
                    evaluate(&s, &other, cpu_best(), &moved[side]);
                }
                // rhs = h f - h^2 K v is linear in v: its derivative is -(h D + h^2 K), which is minus the block in A.
                for (int q = 0; q < size; q++)
                {
                    double slope = (moved[0].rhs[q / 3][q % 3][0] - moved[1].rhs[q / 3][q % 3][0]) / 0.02;
                    D[q * size + p] = slope + Kd[q * size + p];
                }
            }
            assert_true(norm(D, size * size) < 1e-8 * scale);
            assert_true(scale > norm(K0, size * size));
        }
    }
}

// newton: rhs is -h times the gradient of energy and dissipation.
static void test_newton_potential(void** unused)
{
    (void)unused;
    uint64_t n = 5000000;
    const int damping_at[] = {7, 2, 9};
    for (int turn = 0; turn < 100; turn++)
    {
        for (size_t k = 0; k < 3; k++)
        {
            specimen s;
            makers[k](&s, &n);
            s.rest[damping_at[k]] = 0.3;
            int size = 3 * s.group.kind->arity;
            vec3 last[ARITY_MAX];
            for (int a = 0; a < s.group.kind->arity; a++)
            {
                last[a] = v3_add(s.x[a], test_random_vec(&n, 0.05));
            }
            double h = 0.1, difference[SIZE_MAX_], gradient[SIZE_MAX_];
            element_motion motion = {.x = s.x, .v = s.v, .x_last = last, .v_last = s.v, .h = h};
            element_batch batch;
            evaluate(&s, &motion, cpu_best(), &batch);
            for (int p = 0; p < size; p++)
            {
                double e[4];
                const double steps[4] = {5e-4, -5e-4, 1e-3, -1e-3};
                for (int j = 0; j < 4; j++)
                {
                    vec3 x[ARITY_MAX];
                    memcpy(x, s.x, sizeof(x));
                    *coordinate(x, p) += steps[j];
                    element_motion other = {.x = x, .v = s.v, .x_last = last, .v_last = s.v, .h = h};
                    element_context context = {&s.group, &other};
                    energy_sums sums = {0};
                    element_kernels_for(s.group.kind, cpu_best())->energy(&context, 0, 1, &sums);
                    e[j] = sums.stretch + sums.shear + sums.bend + sums.dissipation;
                }
                gradient[p] = (8 * (e[0] - e[1]) - (e[2] - e[3])) / (12 * 5e-4);
                difference[p] = gradient[p] + batch.rhs[p / 3][p % 3][0] / h;
            }
            assert_true(norm(difference, size) < 1e-6 * (norm(gradient, size) + norm(s.rest, 6)));
        }
    }
}

// newton's exact Hessian: the block of a membrane is -h times the derivative of rhs by x, stretched or pressed together,
// with damping and without.
static void test_exact_membrane(void** unused)
{
    (void)unused;
    uint64_t n = 7700000;
    for (int turn = 0; turn < 100; turn++)
    {
        specimen s;
        makers[0](&s, &n);
        s.rest[7] = turn % 2 ? 0.3 : 0.0;
        vec3 last[3];
        for (int a = 0; a < 3; a++)
        {
            s.x[a] = v3_scale(turn % 4 < 2 ? 0.6 : 1.3, s.x[a]);
            last[a] = v3_add(s.x[a], test_random_vec(&n, 0.05));
        }
        double h = 0.1, K[81], difference[81];
        element_motion motion = {.x = s.x, .v = s.v, .x_last = last, .v_last = s.v, .h = h, .exact = true};
        element_batch batch;
        evaluate(&s, &motion, cpu_best(), &batch);
        dense_of(&batch, 3, K);
        for (int p = 0; p < 9; p++)
        {
            element_batch moved[2];
            for (int side = 0; side < 2; side++)
            {
                vec3 x[3];
                memcpy(x, s.x, sizeof(x));
                *coordinate(x, p) += side ? -1e-5 : 1e-5;
                element_motion other = motion;
                other.x = x;
                evaluate(&s, &other, cpu_best(), &moved[side]);
            }
            for (int q = 0; q < 9; q++)
            {
                double slope = (moved[0].rhs[q / 3][q % 3][0] - moved[1].rhs[q / 3][q % 3][0]) / 2e-5;
                difference[9 * q + p] = K[9 * q + p] + h * slope;
            }
        }
        assert_true(norm(difference, 81) < 1e-6 * norm(K, 81));
    }
}

// Air: df/dv of the normal part exact; the whole block semidefinite; a plate in its own wind feels nothing.
static void test_air(void** unused)
{
    (void)unused;
    uint64_t n = 6000000;
    for (int turn = 0; turn < 100; turn++)
    {
        specimen s;
        specimen_init(&s, &kind_air);
        s.group.air =
            (weft_air){.density = 1.2, .drag = 1.1, .wind = test_random_vec(&n, 3), .gust_period = 1, .gust_length = 1};
        s.rest[0] = 0.5;
        for (int a = 0; a < 3; a++)
        {
            s.x[a] = test_random_vec(&n, 1);
            s.v[a] = s.group.air.wind;
        }
        double h = 0.01;
        element_motion motion = {.x = s.x, .v = s.v, .h = h};
        element_batch batch, moved[2];
        evaluate(&s, &motion, cpu_best(), &batch);
        for (int p = 0; p < 9; p++)
        {
            assert_true(fabs(batch.rhs[p / 3][p % 3][0]) < 1e-12);
        }
        for (int a = 0; a < 3; a++)
        {
            s.v[a] = test_random_vec(&n, 1);
        }
        evaluate(&s, &motion, cpu_best(), &batch);
        double K[81], D[81], values[9];
        dense_of(&batch, 3, K);
        for (int p = 0; p < 9; p++)
        {
            for (int side = 0; side < 2; side++)
            {
                vec3 v[3];
                memcpy(v, s.v, sizeof(v));
                *coordinate(v, p) += side ? -1e-5 : 1e-5;
                element_motion other = {.x = s.x, .v = v, .h = h};
                evaluate(&s, &other, cpu_best(), &moved[side]);
            }
            for (int q = 0; q < 9; q++)
            {
                double slope = (moved[0].rhs[q / 3][q % 3][0] - moved[1].rhs[q / 3][q % 3][0]) / 2e-5;
                D[q * 9 + p] = slope + K[q * 9 + p];
            }
        }
        double scale = norm(K, 81);
        assert_true(norm(D, 81) < 1e-6 * scale + 1e-12);
        test_eigenvalues(K, 9, values);
        for (int p = 0; p < 9; p++)
        {
            assert_true(values[p] > -1e-10 * scale);
        }
    }
}

static void make_air(specimen* s, uint64_t* n)
{
    specimen_init(s, &kind_air);
    s->group.air = (weft_air){.density = 1.2,
                              .drag = 1.1,
                              .friction = 0.3,
                              .wind = test_random_vec(n, 3),
                              .gust = 0.5,
                              .gust_period = 1,
                              .gust_length = 1};
    s->rest[0] = test_random(n, 0.1, 1);
    for (int a = 0; a < 3; a++)
    {
        s->x[a] = test_random_vec(n, 1);
        s->v[a] = test_random_vec(n, 1);
    }
}

static void force_kernel(const specimen* s, const element_motion* motion, cpu_kind cpu, double out[][3][BATCH])
{
    element_context context = {&s->group, motion};
    int elements[BATCH] = {0};
    memset(out, 0, ARITY_MAX * sizeof(*out));
    element_kernels_for(s->group.kind, cpu)->force(&context, elements, out);
}

// Wind with gusts as sums of sines of the mathematical library.
static vec3 gusty_wind(const weft_air* air, vec3 x, double time)
{
    double speed = v3_length(air->wind), t = time / air->gust_period;
    double along = v3_dot(x, air->wind) / (speed * air->gust_length);
    double swell = 0.6 * sin(2 * PI * (t - along)) + 0.4 * sin(2 * PI * (1.7 * t - 2.3 * along) + 1.0);
    double side = 0.7 * sin(2 * PI * (0.8 * t - 1.3 * along) + 2.0) + 0.3 * sin(2 * PI * (2.1 * t - 1.9 * along));
    vec3 across = v3_normalize(v3_cross(v3(0, 1, 0), air->wind));
    return v3_madd(v3_scale(1.0 + air->gust * swell, air->wind), 0.5 * air->gust * speed * side, across);
}

static void test_gusts(void** unused)
{
    (void)unused;
    uint64_t n = 8500000;
    for (int turn = 0; turn < TURNS; turn++)
    {
        specimen s;
        make_air(&s, &n);
        s.group.air.friction = 0.0;
        vec3 zero[ARITY_MAX] = {{0, 0, 0}};
        double out[ARITY_MAX][3][BATCH], time = test_random(&n, -50, 50);
        element_motion motion = {.x = s.x, .v = zero, .h = 0.25, .time = time};
        force_kernel(&s, &motion, cpu_best(), out);
        vec3 center = v3_scale(1.0 / 3.0, v3_add(s.x[0], v3_add(s.x[1], s.x[2])));
        vec3 normal = v3_normalize(v3_cross(v3_sub(s.x[1], s.x[0]), v3_sub(s.x[2], s.x[0])));
        double un = v3_dot(gusty_wind(&s.group.air, center, time), normal);
        double force = 0.5 * s.group.air.density * s.group.air.drag * s.rest[0] * fabs(un) * un / 3.0;
        vec3 error = v3_sub(v3(out[0][0][0], out[0][1][0], out[0][2][0]), v3_scale(force, normal));
        assert_true(v3_length(error) < 1e-11);
    }
}

// The kernel without blocks: at rest the very force of the implicit step (which is h f - h^2 K v), in motion its limit
// for short steps, damping and air included. The last state and the step do not matter. The same bits on every CPU.
static void test_force_kernel(void** unused)
{
    (void)unused;
    make_fn* const kinds[] = {make_membrane, make_hinge, make_curvature, make_air};
    const int damping_at[] = {7, 2, 9, -1};
    uint64_t n = 8000000;
    for (int turn = 0; turn < TURNS; turn++)
    {
        for (int k = 0; k < 4; k++)
        {
            specimen s;
            kinds[k](&s, &n);
            if (damping_at[k] >= 0)
            {
                s.rest[damping_at[k]] = 0.2;
            }
            vec3 zero[ARITY_MAX] = {{0, 0, 0}};
            int size = 3 * s.group.kind->arity;
            double still[ARITY_MAX][3][BATCH], moving[ARITY_MAX][3][BATCH], other[ARITY_MAX][3][BATCH];
            double f[SIZE_MAX_], difference[SIZE_MAX_];
            element_batch whole, half, doubled;

            element_motion at_rest = {.x = s.x, .v = zero, .h = 0.25};
            evaluate(&s, &at_rest, cpu_best(), &whole);
            force_kernel(&s, &at_rest, cpu_best(), still);
            element_motion slow = {.x = s.x, .v = s.v, .h = 0.25}, fast = {.x = s.x, .v = s.v, .h = 0.5};
            evaluate(&s, &slow, cpu_best(), &half);
            evaluate(&s, &fast, cpu_best(), &doubled);
            element_motion odd = {.x = s.x, .v = s.v, .x_last = zero, .v_last = zero, .h = 3.0};
            force_kernel(&s, &odd, cpu_best(), moving);
            for (int p = 0; p < size; p++)
            {
                int a = p / 3, r = p % 3;
                assert_true(k == 3 || still[a][r][0] == whole.rhs[a][r][0] / 0.25);
                f[p] = moving[a][r][0];
                // rhs / h is linear in h.
                double limit = 2.0 * half.rhs[a][r][0] / 0.25 - doubled.rhs[a][r][0] / 0.5;
                difference[p] = f[p] - limit;
            }
            assert_true(norm(f, size) > 0.0);
            assert_true(norm(difference, size) <= 1e-12 * (norm(f, size) + 1e3));
            for (int cpu = CPU_BASE; cpu <= (int)cpu_best(); cpu++)
            {
                force_kernel(&s, &odd, (cpu_kind)cpu, other);
                assert_memory_equal(moving, other, sizeof(moving));
            }
        }
    }
}

// The same force as minus the gradient of the energy.
static void test_force_kernel_is_gradient(void** unused)
{
    (void)unused;
    uint64_t n = 9000000;
    for (int turn = 0; turn < 100; turn++)
    {
        for (size_t k = 0; k < sizeof(makers) / sizeof(makers[0]); k++)
        {
            specimen s;
            makers[k](&s, &n);
            int size = 3 * s.group.kind->arity;
            double force[ARITY_MAX][3][BATCH], difference[SIZE_MAX_];
            element_motion motion = {.x = s.x, .v = s.v, .h = 1.0}; // undamped: velocities do not matter
            force_kernel(&s, &motion, cpu_best(), force);
            double length = 0.0;
            for (int p = 0; p < size; p++)
            {
                vec3 x[ARITY_MAX];
                double e[4];
                const double steps[4] = {5e-4, -5e-4, 1e-3, -1e-3};
                for (int j = 0; j < 4; j++)
                {
                    memcpy(x, s.x, sizeof(x));
                    *coordinate(x, p) += steps[j];
                    e[j] = energy_of(&s, x, cpu_best());
                }
                double f = force[p / 3][p % 3][0];
                difference[p] = -(8 * (e[0] - e[1]) - (e[2] - e[3])) / (12 * 5e-4) - f;
                length += f * f;
            }
            assert_true(norm(difference, size) < 1e-6 * (sqrt(length) + norm(s.rest, 6)));
        }
    }
}

// Every CPU kind gives the same bits.
static void test_same_bits(void** unused)
{
    (void)unused;
    uint64_t n = 7000000;
    for (int turn = 0; turn < 50; turn++)
    {
        for (size_t k = 0; k < 3; k++)
        {
            specimen s;
            makers[k](&s, &n);
            element_motion motion = {.x = s.x, .v = s.v, .h = 0.01};
            element_batch first, other;
            evaluate(&s, &motion, CPU_BASE, &first);
            double energy = energy_of(&s, s.x, CPU_BASE);
            for (int cpu = CPU_BASE + 1; cpu <= (int)cpu_best(); cpu++)
            {
                evaluate(&s, &motion, (cpu_kind)cpu, &other);
                assert_memory_equal(&first, &other, sizeof(first));
                double e = energy_of(&s, s.x, (cpu_kind)cpu);
                assert_memory_equal(&energy, &e, sizeof(e));
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_force_is_gradient),
        cmocka_unit_test(test_jacobian_is_derivative),
        cmocka_unit_test(test_clamped_is_semidefinite),
        cmocka_unit_test(test_membrane_clamp_is_projection),
        cmocka_unit_test(test_damping),
        cmocka_unit_test(test_newton_potential),
        cmocka_unit_test(test_exact_membrane),
        cmocka_unit_test(test_air),
        cmocka_unit_test(test_force_kernel),
        cmocka_unit_test(test_gusts),
        cmocka_unit_test(test_force_kernel_is_gradient),
        cmocka_unit_test(test_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
