// `aimex` and `aimex2` are stable where their criterion says so: on thousands of random small meshes of springs and
// triangles, with pins and masses that differ by 1e4, the matrix inequalities of docs/time.md hold and no eigenvalue of
// the step's matrix leaves the unit disc. Dense matrices by plain loops; of the library only the elements' blocks and
// the split are taken.
#include "common.h"

#include <stdlib.h>
#include <string.h>

#include "material/membrane.h"
#include "material/spring.h"
#include "step/split.h"

extern const time_method method_aimex, method_aimex2;

enum
{
    VERTICES_MAX = 5,
    N_MAX = 3 * VERTICES_MAX,
    STATE_MAX = 3 * N_MAX,
    MESHES = 10000
};

// A small mesh with its matrices over the free coordinates.
typedef struct small_mesh
{
    model m;
    double mass[VERTICES_MAX];
    vec3 x[VERTICES_MAX], v[VERTICES_MAX];
    bool pinned[VERTICES_MAX];
    int n;                                                   // free coordinates
    double M[N_MAX], K[2][N_MAX][N_MAX], D[2][N_MAX][N_MAX]; // implicit, explicit
} small_mesh;

static double between(uint64_t* n, double low, double high)
{
    return low * exp(test_random(n, 0, 1) * log(high / low));
}

static int choose(uint64_t* n, int count)
{
    return int_min((int)(test_random(n, 0, 1) * count), count - 1);
}

static void add_springs(small_mesh* s, element_group* g, uint64_t* n)
{
    int count = 2 + choose(n, 8);
    assert_int_equal(element_group_reserve(g, &kind_spring, count), WEFT_OK);
    double k = between(n, 1, 1e4), spread = test_random(n, 0, 1) < 0.5 ? 1.0 : 1e3;
    for (int e = 0; e < count; e++)
    {
        int a = choose(n, s->m.vertex_count), b = (a + 1 + choose(n, s->m.vertex_count - 1)) % s->m.vertex_count;
        double damping = test_random(n, 0, 1) < 0.3 ? 0.0 : between(n, 1e-5, 1e-1);
        spring_add(g, a, b, between(n, k, k * spread), between(n, 0.5, 1.2), damping, (spring_role)choose(n, 3));
    }
}

static void add_triangles(small_mesh* s, element_group* g, uint64_t* n)
{
    int count = 1 + choose(n, 3);
    assert_int_equal(element_group_reserve(g, &kind_membrane, count), WEFT_OK);
    for (int e = 0; e < count; e++)
    {
        int first = choose(n, s->m.vertex_count);
        double* rest = g->rest + MEMBRANE_STRIDE * e;
        vec2 corner[3] = {{0, 0}, {between(n, 0.3, 1), 0}, {test_random(n, 0, 1), between(n, 0.3, 1)}};
        for (int a = 0; a < 3; a++)
        {
            g->vertices[3 * e + a] = (first + a) % s->m.vertex_count;
        }
        triangle_rest_inverse(corner, rest);
        for (int c = 0; c < 3; c++)
        {
            rest[4 + c] = between(n, 1, 1e4) * triangle_rest_area(corner);
        }
        rest[7] = test_random(n, 0, 1) < 0.3 ? 0.0 : between(n, 1e-5, 1e-1);
    }
    g->count = count;
}

static void small_mesh_make(small_mesh* s, uint64_t* n)
{
    memset(s, 0, sizeof(*s));
    s->m.vertex_count = 3 + choose(n, VERTICES_MAX - 2);
    s->m.mass = s->mass;
    double heavy = test_random(n, 0, 1) < 0.3 ? 1.0 : 1e4;
    for (int i = 0; i < s->m.vertex_count; i++)
    {
        s->mass[i] = between(n, 1e-3, 1e-3 * heavy);
        s->x[i] = test_random_vec(n, 1.0);
        s->v[i] = test_random_vec(n, 1.0);
        s->pinned[i] = i > 0 && test_random(n, 0, 1) < 0.2;
        s->n += s->pinned[i] ? 0 : 3;
    }
    assert_int_equal(element_groups_add(&s->m.groups, &kind_spring), WEFT_OK);
    assert_int_equal(element_groups_add(&s->m.groups, &kind_membrane), WEFT_OK);
    add_springs(s, &s->m.groups.list[0], n);
    add_triangles(s, &s->m.groups.list[1], n);
}

// ---- matrices

static int coordinate(const small_mesh* s, int vertex, int axis)
{
    int at = 0;
    for (int i = 0; i < vertex; i++)
    {
        at += s->pinned[i] ? 0 : 3;
    }
    return s->pinned[vertex] ? -1 : at + axis;
}

// K and D from what the kernel hands out for h = 1 and h = 2: K + D and 4 K + 2 D.
static void add_element(small_mesh* s, const element_group* g, int e, int part)
{
    static element_batch one, two;
    int elements[BATCH];
    for (int lane = 0; lane < BATCH; lane++)
    {
        elements[lane] = e;
    }
    element_motion motion = {.x = s->x, .v = s->v, .h = 1.0};
    element_context context = {g, &motion};
    g->kind->kernels[CPU_BASE]->evaluate(&context, elements, &one);
    motion.h = 2.0;
    g->kind->kernels[CPU_BASE]->evaluate(&context, elements, &two);
    int arity = g->kind->arity;
    for (int p = 0; p < 3 * arity; p++)
    {
        for (int q = 0; q < 3 * arity; q++)
        {
            int a = p / 3, b = q / 3, r = p % 3, c = q % 3;
            int block = a <= b ? pair_index(arity, a, b) : pair_index(arity, b, a), at = a <= b ? 3 * r + c : 3 * c + r;
            double k = 0.5 * (two.block[block][at][0] - 2.0 * one.block[block][at][0]);
            int row = coordinate(s, g->vertices[arity * e + a], r),
                column = coordinate(s, g->vertices[arity * e + b], c);
            if (row >= 0 && column >= 0)
            {
                s->K[part][row][column] += k;
                s->D[part][row][column] += one.block[block][at][0] - k;
            }
        }
    }
}

// What is free drifts: a double eigenvalue 1, which rounding of large K moves by the root of its size. So every vertex
// hangs on a spring to the ground, implicit and soft: h^2 k = 1e-6 m.
static void small_mesh_matrices(small_mesh* s, const split* flags, double h)
{
    memset(s->K, 0, sizeof(s->K));
    memset(s->D, 0, sizeof(s->D));
    for (int i = 0; i < s->m.vertex_count; i++)
    {
        for (int axis = 0; axis < 3 && !s->pinned[i]; axis++)
        {
            int at = coordinate(s, i, axis);
            s->M[at] = s->mass[i];
            s->K[0][at][at] = 1e-6 / (h * h) * s->mass[i];
        }
    }
    for (int g = 0; g < 2; g++)
    {
        for (int e = 0; e < s->m.groups.list[g].count; e++)
        {
            add_element(s, &s->m.groups.list[g], e, flags->flags[g][e] == ELEMENT_EXPLICIT);
        }
    }
}

// The largest eigenvalue of B^-1 A, B definite, both symmetric: Cholesky's factor of B, then Jacobi's rotations.
static double largest_eigenvalue(double A[N_MAX][N_MAX], double B[N_MAX][N_MAX], int n)
{
    double L[N_MAX][N_MAX] = {{0}};
    for (int j = 0; j < n; j++)
    {
        for (int i = j; i < n; i++)
        {
            double sum = B[i][j];
            for (int k = 0; k < j; k++)
            {
                sum -= L[i][k] * L[j][k];
            }
            assert_true(i != j || sum > 0.0);
            L[i][j] = i == j ? sqrt(sum) : sum / L[j][j];
        }
    }
    for (int side = 0; side < 2; side++) // A <- L^-1 A, twice with a transposition
    {
        for (int c = 0; c < n; c++)
        {
            for (int i = 0; i < n; i++)
            {
                for (int k = 0; k < i; k++)
                {
                    A[i][c] -= L[i][k] * A[k][c];
                }
                A[i][c] /= L[i][i];
            }
        }
        for (int i = 0; i < n; i++)
        {
            for (int j = 0; j < i; j++)
            {
                double swap = A[i][j];
                A[i][j] = A[j][i];
                A[j][i] = swap;
            }
        }
    }
    for (int sweep = 0; sweep < 12; sweep++)
    {
        for (int p = 0; p < n; p++)
        {
            for (int q = p + 1; q < n; q++)
            {
                if (fabs(A[p][q]) < 1e-300)
                {
                    continue;
                }
                double tau = (A[q][q] - A[p][p]) / (2.0 * A[p][q]);
                double t = (tau >= 0.0 ? 1.0 : -1.0) / (fabs(tau) + sqrt(1.0 + tau * tau));
                double c = 1.0 / sqrt(1.0 + t * t), sn = t * c;
                for (int k = 0; k < n; k++)
                {
                    double kp = A[k][p], kq = A[k][q];
                    A[k][p] = c * kp - sn * kq;
                    A[k][q] = sn * kp + c * kq;
                }
                for (int k = 0; k < n; k++)
                {
                    double pk = A[p][k], qk = A[q][k];
                    A[p][k] = c * pk - sn * qk;
                    A[q][k] = sn * pk + c * qk;
                }
            }
        }
    }
    double largest = -INFINITY;
    for (int i = 0; i < n; i++)
    {
        largest = fmax(largest, A[i][i]);
    }
    return largest;
}

// ---- the two inequalities

// How much of M and the implicit part the explicit part takes: at most 1. `which`: 0: 4 M + h^2 K_i + 2 h D_i >=
// h^2 K_x + 2 h D_x, 1: 2 M + h^2 K_i + h D_i >= h D_x, 2: aimex2's, 4 M >= h^2 K_x + 4 h D_x.
static double inequality(const small_mesh* s, double h, int which)
{
    static const double mass[] = {4, 2, 4}, stiff_i[] = {1, 1, 0}, damp_i[] = {2, 1, 0}, stiff_x[] = {1, 0, 1},
                        damp_x[] = {2, 1, 4};
    double A[N_MAX][N_MAX], B[N_MAX][N_MAX];
    for (int i = 0; i < s->n; i++)
    {
        for (int j = 0; j < s->n; j++)
        {
            A[i][j] = stiff_x[which] * h * h * s->K[1][i][j] + damp_x[which] * h * s->D[1][i][j];
            B[i][j] = stiff_i[which] * h * h * s->K[0][i][j] + damp_i[which] * h * s->D[0][i][j] +
                      (i == j ? mass[which] * s->M[i] : 0.0);
        }
    }
    return largest_eigenvalue(A, B, s->n);
}

// ---- amplification

// Solves (M + k D_i + k^2 K_i) X = R in place, R [n][columns].
static void solve_implicit(const small_mesh* s, double k, double (*R)[STATE_MAX], int columns)
{
    int n = s->n;
    double A[N_MAX][N_MAX];
    for (int i = 0; i < n; i++)
    {
        for (int j = 0; j < n; j++)
        {
            A[i][j] = k * s->D[0][i][j] + k * k * s->K[0][i][j] + (i == j ? s->M[i] : 0.0);
        }
    }
    for (int p = 0; p < n; p++) // definite: no pivots
    {
        for (int i = 0; i < n; i++)
        {
            double factor = A[i][p] / A[p][p];
            for (int j = p; j < n && i != p; j++)
            {
                A[i][j] -= factor * A[p][j];
            }
            for (int c = 0; c < columns && i != p; c++)
            {
                R[i][c] -= factor * R[p][c];
            }
        }
    }
    for (int i = 0; i < n; i++)
    {
        for (int c = 0; c < columns; c++)
        {
            R[i][c] /= A[i][i];
        }
    }
}

// The step's matrix over (x / h, v): A v' = (M - h D_x) v - h (K_i + K_x) x, x' = x + h v'. Returns its size.
static int step_matrix(const small_mesh* s, double h, double (*G)[STATE_MAX])
{
    int n = s->n;
    double R[N_MAX][STATE_MAX] = {{0}};
    for (int i = 0; i < n; i++)
    {
        for (int j = 0; j < n; j++)
        {
            R[i][j] = -h * h * (s->K[0][i][j] + s->K[1][i][j]);
            R[i][n + j] = (i == j ? s->M[i] : 0.0) - h * s->D[1][i][j];
        }
    }
    solve_implicit(s, h, R, 2 * n);
    for (int i = 0; i < n; i++)
    {
        for (int j = 0; j < 2 * n; j++)
        {
            G[n + i][j] = R[i][j];
            G[i][j] = R[i][j] + (i == j ? 1.0 : 0.0);
        }
    }
    return 2 * n;
}

// Of aimex2 over (x / h, v, v of the step before).
static int step_matrix2(const small_mesh* s, double h, double (*G)[STATE_MAX])
{
    int n = s->n;
    double k = 0.5 * h, R[N_MAX][STATE_MAX] = {{0}};
    for (int i = 0; i < n; i++)
    {
        for (int j = 0; j < n; j++)
        {
            R[i][j] = -k * h * (s->K[0][i][j] + s->K[1][i][j]);
            R[i][n + j] = (i == j ? s->M[i] : 0.0) - k * k * s->K[1][i][j] - 1.5 * k * s->D[1][i][j];
            R[i][2 * n + j] = 0.5 * k * s->D[1][i][j];
        }
    }
    solve_implicit(s, k, R, 3 * n);
    for (int i = 0; i < n; i++)
    {
        for (int j = 0; j < 3 * n; j++)
        {
            G[i][j] = R[i][j] + (i == j ? 1.0 : 0.0);
            G[n + i][j] = 2.0 * R[i][j] - (n + i == j ? 1.0 : 0.0);
            G[2 * n + i][j] = n + i == j ? 1.0 : 0.0;
        }
    }
    return 3 * n;
}

// To coordinates times sqrt(M), in which G is nearly normal.
static void balance(const small_mesh* s, double (*G)[STATE_MAX], int size)
{
    for (int i = 0; i < size; i++)
    {
        for (int j = 0; j < size; j++)
        {
            G[i][j] *= sqrt(s->M[i % s->n] / s->M[j % s->n]);
        }
    }
}

// |G^N|^(1/N) for N = 2^30 by squaring: the largest eigenvalue's size up to 1e-7, also where eigenvalues are defective.
static double radius(double (*G)[STATE_MAX], int size)
{
    static double square[STATE_MAX][STATE_MAX];
    double log_norm = 0.0;
    for (int p = 0; p < 30; p++)
    {
        double largest = 0.0;
        for (int i = 0; i < size; i++)
        {
            for (int j = 0; j < size; j++)
            {
                largest = fmax(largest, fabs(G[i][j]));
            }
        }
        log_norm += log(largest) / (double)(1 << p);
        for (int i = 0; i < size; i++)
        {
            memset(square[i], 0, sizeof(square[i]));
            for (int k = 0; k < size; k++)
            {
                double factor = G[i][k] / largest / largest;
                for (int j = 0; j < size; j++)
                {
                    square[i][j] += factor * G[k][j];
                }
            }
        }
        memcpy(G, square, sizeof(square));
    }
    return exp(log_norm);
}

// ----

typedef struct found
{
    double inequality[3], radius;
    int mixed; // meshes with both
} found;

// The needs at a vertex up to a size, and those that are explicit.
static double needs_at(const model* m, const split* flags, int vertex, double most, bool taken)
{
    double sum = 0.0;
    for (int g = 0; g < m->groups.count; g++)
    {
        const element_group* group = &m->groups.list[g];
        for (int k = 0; k < group->count * group->kind->arity; k++)
        {
            int e = k / group->kind->arity;
            bool counts = taken ? flags->flags[g][e] == ELEMENT_EXPLICIT : flags->need[g][e] <= most;
            sum += group->vertices[k] == vertex && counts ? fmax(flags->need[g][e], 0.0) : 0.0;
        }
    }
    return sum;
}

// Explicit needs fit at every vertex, and no room is wasted: what is implicit would not fit at one of its vertices, in
// the company of all that are smaller or within a factor of two.
static void check_room(const small_mesh* s, const split* flags, double whole)
{
    for (int i = 0; i < s->m.vertex_count; i++)
    {
        assert_true(needs_at(&s->m, flags, i, 0.0, true) <= whole * (1 + 1e-5));
    }
    for (int g = 0; g < s->m.groups.count; g++)
    {
        const element_group* group = &s->m.groups.list[g];
        for (int e = 0; e < group->count; e++)
        {
            double need = flags->need[g][e], top = whole;
            while (top >= 2.0 * need && top > whole * 0x1p-14)
            {
                top *= 0.5;
            }
            bool full = need > whole;
            for (int a = 0; a < group->kind->arity; a++)
            {
                int vertex = group->vertices[group->kind->arity * e + a];
                full = full || needs_at(&s->m, flags, vertex, top, false) > whole * (1 - 1e-5);
            }
            assert_true(flags->flags[g][e] != ELEMENT_IMPLICIT || full);
        }
    }
}

static void look_at(small_mesh* s, const time_method* method, double c, double h, bool amplify, found* out)
{
    static double G[STATE_MAX][STATE_MAX];
    bool second = method == &method_aimex2;
    world w = {.model = &s->m, .h = h, .running = method, .cpu = CPU_BASE};
    w.settings.method[method_setting_find(method->name, "criterion")] = c;
    split flags = {.rule = SPLIT_CRITERION, .damping = second ? 4.0 : 2.0};
    element_motion motion = {.x = s->x, .v = s->v, .h = h};
    assert_int_equal(split_create(&flags, &w), WEFT_OK);
    split_decide(&flags, &w, &motion);
    check_room(s, &flags, 8.0 * c);
    small_mesh_matrices(s, &flags, h);
    out->mixed += flags.implicit > 0 && flags.explicit > 0;
    for (int which = second ? 2 : 0; which < (second ? 3 : 2); which++)
    {
        out->inequality[which] = fmax(out->inequality[which], inequality(s, h, which));
    }
    if (amplify)
    {
        int size = second ? step_matrix2(s, h, G) : step_matrix(s, h, G);
        balance(s, G, size);
        out->radius = fmax(out->radius, radius(G, size));
    }
    split_finish(&flags);
}

static found look_at_many(const time_method* method, double c, int count, uint64_t seed)
{
    found all = {.radius = 0.0};
    uint64_t n = seed;
    for (int k = 0; k < count; k++)
    {
        small_mesh s;
        small_mesh_make(&s, &n);
        double h = between(&n, 1e-5, 3e-2);
        look_at(&s, method, c, h, true, &all);
        element_groups_finish(&s.m.groups);
    }
    print_message("%s, c = %g, %d meshes: inequalities %.4f %.4f %.4f, radius 1 + %.1e, %d with both\n", method->name,
                  c, count, all.inequality[0], all.inequality[1], all.inequality[2], all.radius - 1.0, all.mixed);
    return all;
}

static void test_aimex(void** unused)
{
    (void)unused;
    for (int sharp = 0; sharp < 2; sharp++)
    {
        found all = look_at_many(&method_aimex, sharp ? 0.5 : 0.2, MESHES / 2, 17 + (uint64_t)sharp);
        assert_true(all.inequality[0] <= 1.0 + 1e-6 && all.inequality[1] <= 1.0 + 1e-6);
        assert_true(all.radius <= 1.0 + 1e-6 && all.mixed > MESHES / 20);
    }
}

static void test_aimex2(void** unused)
{
    (void)unused;
    found all = look_at_many(&method_aimex2, 0.5, MESHES / 4, 5);
    assert_true(all.inequality[2] <= 1.0 + 1e-6 && all.radius <= 1.0 + 1e-6 && all.mixed > MESHES / 40);
}

// Beyond the criterion both fail: the test sees what it looks for.
static void test_beyond(void** unused)
{
    (void)unused;
    found all = look_at_many(&method_aimex, 3.0, 500, 23);
    assert_true(all.inequality[0] > 1.0 && all.radius > 1.001);
    all = look_at_many(&method_aimex2, 3.0, 500, 29);
    assert_true(all.inequality[2] > 1.0 && all.radius > 1.001);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_aimex),
        cmocka_unit_test(test_aimex2),
        cmocka_unit_test(test_beyond),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
