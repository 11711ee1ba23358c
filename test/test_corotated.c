// The model `corotated`: energies are distances from what costs nothing, forces their gradients, Hessians right where
// nothing is clamped; a constant matrix bounds them, so that local-global never raises g and ends where Newton does.
#include "common.h"

#include <string.h>

#include "common_scene.h"
#include "material/corotated.h"
#include "sim/sim.h"
#include "step/global_step.h"

enum
{
    TURNS = 300,
    SIZE = 3 * ARITY_MAX
};

extern const cloth_model model_corotated;

// One element of a kind with its rest shape, and random states around it.
typedef struct specimen
{
    element_groups groups;
    const element_group* group;
    vec3 rest[4], x[4], last[4], v[4];
} specimen;

static void make(specimen* s, const element_kind* kind, double damping, double size, uint64_t* n)
{
    static const int triangle[] = {0, 1, 2, 1, 0, 3}, sides[] = {-1, -1, 0, -1, -1, 0}, tetrahedron[] = {0, 1, 2, 3};
    static const hinge hinges[] = {{{0, 1, 2, 3}, 0, 1}};
    double l = test_random(n, 0.5, 1.5), a = test_random(n, 0.1, 0.9) * l, b = test_random(n, 0.1, 0.9) * l;
    double p = test_random(n, 0.4, 1.2), q = test_random(n, 0.4, 1.2);
    vec2 rest[6] = {{0, 0}, {l, 0}, {a, p}, {l, 0}, {0, 0}, {b, -q}};
    bool solid = kind == &kind_block;
    *s = (specimen){.rest = {{0, 0, 0}, {l, 0, 0}, {a, p, 0}, {b, solid ? 0.3 : -q, solid ? q : 0}}};
    cloth_shape shape = {
        .triangle_count = solid ? 0 : 2,
        .triangle = triangle,
        .rest = rest,
        .hinge_count = solid ? 0 : 1,
        .hinges = hinges,
        .triangle_hinge = sides,
        .tetrahedron_count = solid,
        .tetrahedron = tetrahedron,
        .tetrahedron_rest = s->rest,
        .material = {.density = 1,
                     .stretch_warp = test_random(n, 10, 100),
                     .stretch_weft = test_random(n, 10, 100),
                     .shear = test_random(n, 0, 60),
                     .bending = 2,
                     .damping = damping}};
    for (const element_kind* const* k = model_corotated.kinds; *k; k++)
    {
        assert_int_equal(element_groups_add(&s->groups, *k), WEFT_OK);
    }
    assert_int_equal(model_corotated.append(&s->groups, &shape), WEFT_OK);
    s->group = element_groups_find(&s->groups, kind);
    for (int k = 0; k < 4; k++)
    {
        s->x[k] = v3_add(s->rest[k], test_random_vec(n, size));
        s->last[k] = v3_add(s->x[k], test_random_vec(n, 0.3 * size));
        s->v[k] = test_random_vec(n, 1.0);
    }
}

static element_motion motion_of(const specimen* s, const vec3* x, bool with_last)
{
    return (element_motion){.x = x, .v = s->v, .x_last = with_last ? s->last : NULL, .h = 0.05};
}

// Energy and what damping adds, of element 0.
static double energy_of(const specimen* s, const vec3* x, bool with_last)
{
    element_motion motion = motion_of(s, x, with_last);
    element_context context = {s->group, &motion};
    energy_sums sums = {0};
    element_kernels_for(s->group->kind, cpu_best())->energy(&context, 0, 1, &sums);
    return sums.stretch + sums.shear + sums.bend + sums.dissipation;
}

static void force_of(const specimen* s, const vec3* x, bool with_last, vec3* out)
{
    element_motion motion = motion_of(s, x, with_last);
    element_context context = {s->group, &motion};
    const int elements[BATCH] = {0};
    double lanes[ARITY_MAX][3][BATCH];
    element_kernels_for(s->group->kind, cpu_best())->force(&context, elements, lanes);
    for (int a = 0; a < s->group->kind->arity; a++)
    {
        out[a] = v3(lanes[a][0][0], lanes[a][1][0], lanes[a][2][0]);
    }
}

static double norm(const vec3* a, int count)
{
    double sum = 0.0;
    for (int k = 0; k < count; k++)
    {
        sum += v3_dot(a[k], a[k]);
    }
    return sqrt(sum);
}

static const element_kind* const kinds[] = {&kind_strain, &kind_fold, &kind_block};

static void test_force_is_gradient(void** unused)
{
    (void)unused;
    uint64_t n = 0;
    for (int turn = 0; turn < 3 * TURNS; turn++)
    {
        specimen s;
        make(&s, kinds[turn % 3], turn % 2 ? 0.02 : 0.0, 0.2, &n);
        int arity = s.group->kind->arity;
        vec3 f[4], difference[4];
        force_of(&s, s.x, true, f);
        for (int p = 0; p < 3 * arity; p++)
        {
            static const double steps[4] = {1e-4, -1e-4, 2e-4, -2e-4};
            double e[4];
            for (int j = 0; j < 4; j++)
            {
                vec3 x[4];
                memcpy(x, s.x, sizeof(x));
                (&x[p / 3].x)[p % 3] += steps[j];
                e[j] = energy_of(&s, x, true);
            }
            (&difference[p / 3].x)[p % 3] = -(8 * (e[0] - e[1]) - (e[2] - e[3])) / 12e-4 - (&f[p / 3].x)[p % 3];
        }
        assert_true(norm(difference, arity) < 1e-6 * (norm(f, arity) + 10.0));
        element_groups_finish(&s.groups);
    }
}

// E(y) <= E(x) - f . (y - x) + 1/2 sum of weight |S (y - x)|^2 / h^2 however far y is, which is what makes turns
// descend.
static void test_matrix_bounds_the_energy(void** unused)
{
    (void)unused;
    uint64_t n = 100000;
    for (int turn = 0; turn < 3 * TURNS; turn++)
    {
        specimen s;
        make(&s, kinds[turn % 3], turn % 2 ? 0.02 : 0.0, turn % 5 ? 0.3 : 2.0, &n);
        int arity = s.group->kind->arity;
        vec3 f[4], y[4];
        double weight[ROWS_MAX], S[ROWS_MAX * ARITY_MAX], h = 0.05;
        force_of(&s, s.x, true, f);
        s.group->kind->projection->rows(s.group, 0, h, weight, S);
        double bound = energy_of(&s, s.x, true);
        for (int a = 0; a < 4; a++)
        {
            y[a] = v3_add(s.x[a], test_random_vec(&n, turn % 7 ? 0.2 : 3.0));
            bound -= a < arity ? v3_dot(f[a], v3_sub(y[a], s.x[a])) : 0.0;
        }
        for (int r = 0; r < s.group->kind->projection->row_count; r++)
        {
            vec3 sum = v3(0, 0, 0);
            for (int a = 0; a < arity; a++)
            {
                sum = v3_madd(sum, S[arity * r + a], v3_sub(y[a], s.x[a]));
            }
            bound += 0.5 * weight[r] * v3_dot(sum, sum) / (h * h);
        }
        double value = energy_of(&s, y, true);
        assert_true(value <= bound + 1e-12 * fabs(bound));
        element_groups_finish(&s.groups);
    }
}

// Orthonormal columns at random; near the last ones where there were some.
static void turn_frame(vec3* r, double size, uint64_t* n)
{
    vec3 a = v3_normalize(v3_add(r[0], test_random_vec(n, size)));
    vec3 b = v3_add(r[1], test_random_vec(n, size));
    b = v3_normalize(v3_madd(b, -v3_dot(a, b), a));
    r[0] = a;
    r[1] = b;
    r[2] = v3_cross(a, b);
}

static double distance_sq(const vec3* F, const vec3* R, int columns)
{
    double sum = 0.0;
    for (int k = 0; k < columns; k++)
    {
        vec3 d = v3_sub(F[k], R[k]);
        sum += v3_dot(d, d);
    }
    return sum;
}

// The distance from rotations against a search at random that closes in on the best.
static double searched(const vec3* F, int columns, uint64_t* n)
{
    double best = INFINITY;
    for (int start = 0; start < 4; start++)
    {
        vec3 r[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
        turn_frame(r, 3.0, n);
        double found = distance_sq(F, r, columns), size = 1.0;
        for (int k = 0; k < 1500; k++)
        {
            vec3 other[3] = {r[0], r[1], r[2]};
            turn_frame(other, size, n);
            double value = distance_sq(F, other, columns);
            size = value < found ? 1.2 * size : 0.97 * size;
            if (value < found)
            {
                found = value;
                memcpy(r, other, sizeof(r));
            }
            size = fmax(size, 1e-7);
        }
        best = fmin(best, found);
    }
    return best;
}

static void test_rotation_is_the_nearest(void** unused)
{
    (void)unused;
    uint64_t n = 200000;
    for (int turn = 0; turn < 40; turn++)
    {
        bool solid = turn % 2 == 0;
        specimen s;
        make(&s, solid ? &kind_block : &kind_strain, 0.0, turn % 3 ? 0.3 : 1.5, &n); // some are inside out
        double* rest = s.group->rest;
        double weight[ROWS_MAX], S[ROWS_MAX * ARITY_MAX];
        s.group->kind->projection->rows(s.group, 0, 1.0, weight, S);
        int arity = s.group->kind->arity, columns = solid ? 3 : 2;
        const double* row = solid ? S : S + 2 * arity;
        vec3 F[3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
        for (int k = 0; k < columns * arity; k++)
        {
            F[k / arity] = v3_madd(F[k / arity], row[k], s.x[k % arity]);
        }
        solid ? (void)0 : (void)(rest[4] = rest[5] = 0.0); // without the threads
        double value = 2.0 * energy_of(&s, s.x, false) / (solid ? rest[BLOCK_STIFFNESS] : rest[6]);
        double found = searched(F, columns, &n);
        assert_true(value <= found * (1.0 + 1e-12));
        assert_true(found <= value + 1e-5);
        element_groups_finish(&s.groups);
    }
}

// Blocks of one element as a matrix; v is zero, h is 1.
static void dense_of(const specimen* s, const vec3* x, double* K)
{
    vec3 zero[4] = {{0, 0, 0}};
    element_motion motion = {.x = x, .v = zero, .h = 1.0};
    element_context context = {s->group, &motion};
    const int elements[BATCH] = {0};
    static element_batch batch;
    element_kernels_for(s->group->kind, cpu_best())->evaluate(&context, elements, &batch);
    int arity = s->group->kind->arity, size = 3 * arity;
    for (int a = 0; a < arity; a++)
    {
        for (int b = a; b < arity; b++)
        {
            for (int c = 0; c < 9; c++)
            {
                double value = batch.block[pair_index(arity, a, b)][c][0];
                K[(3 * a + c / 3) * size + 3 * b + c % 3] = value;
                K[(3 * b + c % 3) * size + 3 * a + c / 3] = value;
            }
        }
    }
}

// Stretched in all directions nothing is clamped, and K is minus the derivative of the force; pressed together K is
// semidefinite.
static void test_hessian(void** unused)
{
    (void)unused;
    uint64_t n = 300000;
    for (int turn = 0; turn < 3 * 100; turn++)
    {
        specimen s;
        make(&s, kinds[turn % 3], 0.0, 0.05, &n);
        int arity = s.group->kind->arity, size = 3 * arity;
        double K[SIZE * SIZE], values[SIZE], scale = 0.0, worst = 0.0;
        vec3 x[4];
        for (int a = 0; a < 4; a++)
        {
            x[a] = v3_scale(1.6, s.x[a]);
        }
        memset(s.v, 0, sizeof(s.v));
        dense_of(&s, x, K);
        for (int p = 0; p < size; p++)
        {
            vec3 f[2][4];
            for (int j = 0; j < 2; j++)
            {
                vec3 moved[4];
                memcpy(moved, x, sizeof(moved));
                (&moved[p / 3].x)[p % 3] += j == 0 ? 1e-5 : -1e-5;
                force_of(&s, moved, false, f[j]);
            }
            for (int q = 0; q < size; q++)
            {
                double wanted = -((&f[0][q / 3].x)[q % 3] - (&f[1][q / 3].x)[q % 3]) / 2e-5;
                worst = fmax(worst, fabs(wanted - K[p * size + q]));
                scale = fmax(scale, fabs(wanted));
            }
        }
        assert_true(worst < 1e-7 * scale);
        for (int a = 0; a < 4; a++)
        {
            x[a] = v3_add(v3_scale(0.3, s.x[a]), test_random_vec(&n, 0.2));
        }
        dense_of(&s, x, K);
        test_eigenvalues(K, size, values);
        for (int p = 0; p < size; p++)
        {
            assert_true(values[p] > -1e-10 * scale);
        }
        element_groups_finish(&s.groups);
    }
}

// Rigid motion costs nothing and is not damped; tetrahedra without volume, and triangles without area, have a finite
// force.
static void test_special_states(void** unused)
{
    (void)unused;
    uint64_t n = 400000;
    for (int turn = 0; turn < 60; turn++)
    {
        specimen s;
        make(&s, kinds[turn % 3], 0.02, 0.2, &n);
        int arity = s.group->kind->arity;
        vec3 r[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, x[4], f[4], last[4];
        memcpy(last, s.last, sizeof(last));
        turn_frame(r, 2.0, &n);
        for (int a = 0; a < 4; a++)
        {
            x[a] = v3_add(v3_madd(v3_madd(v3_scale(s.rest[a].x, r[0]), s.rest[a].y, r[1]), s.rest[a].z, r[2]),
                          v3(1, 2, 3));
            s.last[a] = s.rest[a];
        }
        assert_true(energy_of(&s, x, true) < 1e-25);
        force_of(&s, x, true, f);
        assert_true(norm(f, arity) < 1e-10);
        // The last state turned: strained, but no more than before.
        double still = energy_of(&s, last, false);
        for (int a = 0; a < 4; a++)
        {
            x[a] = v3_madd(v3_madd(v3_scale(last[a].x, r[0]), last[a].y, r[1]), last[a].z, r[2]);
            s.last[a] = last[a];
        }
        assert_true(fabs(energy_of(&s, x, true) - still) < 1e-12 * (1.0 + still));
        for (int a = 0; a < 4; a++)
        {
            x[a] = turn % 2 ? v3(0.1 * a, 0, 0) : v3(1, 1, 1);
        }
        force_of(&s, x, true, f);
        assert_true(isfinite(energy_of(&s, x, true)) && isfinite(norm(f, arity)));
        element_groups_finish(&s.groups);
    }
}

// Tetrahedra of known stretches s along turned axes, from far to inside out: the largest is told, and the energy is
// that of s with the least negative where it is turned inside out.
static void test_known_stretches(void** unused)
{
    (void)unused;
    static const double stretches[][3] = {{1, 1, 1},        {1.2, 1, 1},  {1, 1, 0.8},       {1.3, 0.9, 0.7},
                                          {3, 1.5, 0.2},    {30, 20, 10}, {1, 1, 1e-3},      {0.5, 0.4, 0},
                                          {1.1, 0.9, -0.3}, {0.2, 0, 0},  {1e-3, 1e-3, 1e-3}};
    uint64_t n = 450000;
    for (size_t turn = 0; turn < 20 * sizeof(stretches) / sizeof(stretches[0]); turn++)
    {
        const double* d = stretches[turn / 20];
        specimen s;
        make(&s, &kind_block, 0.0, 0.2, &n);
        vec3 u[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, v[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, x[4];
        turn_frame(u, 2.0, &n);
        turn_frame(v, 2.0, &n);
        for (int a = 0; a < 4; a++)
        {
            x[a] = v3(0, 0, 0);
            for (int k = 0; k < 3; k++)
            {
                x[a] = v3_madd(x[a], d[k] * v3_dot(v[k], s.rest[a]), u[k]);
            }
        }
        element_motion motion = motion_of(&s, x, false);
        element_context context = {s.group, &motion};
        energy_sums sums = {0};
        element_kernels_for(s.group->kind, cpu_best())->energy(&context, 0, 1, &sums);
        double k = s.group->rest[BLOCK_STIFFNESS], energy = 0.0;
        for (int j = 0; j < 3; j++)
        {
            energy += 0.5 * k * (d[j] - 1.0) * (d[j] - 1.0);
        }
        assert_true(fabs(sums.max_stretch - d[0]) < 1e-8 * d[0]);
        assert_true(fabs(sums.stretch - energy) <= 1e-12 * (energy + k));
        element_groups_finish(&s.groups);
    }
}

static void test_cpu_kinds_agree(void** unused)
{
    (void)unused;
    uint64_t n = 500000;
    for (int turn = 0; turn < 60; turn++)
    {
        specimen s;
        make(&s, kinds[turn % 3], 0.02, 0.3, &n);
        static element_batch batch[2];
        for (int cpu = 0; cpu <= (int)cpu_best(); cpu++)
        {
            element_motion motion = motion_of(&s, s.x, turn % 2);
            element_context context = {s.group, &motion};
            const int elements[BATCH] = {0};
            memset(&batch[cpu > 0], 0, sizeof(batch[0]));
            element_kernels_for(s.group->kind, (cpu_kind)cpu)->evaluate(&context, elements, &batch[cpu > 0]);
            assert_memory_equal(&batch[cpu > 0], &batch[0], sizeof(batch[0]));
        }
        element_groups_finish(&s.groups);
    }
}

// ---- scenes

#define SHEET                                                                                                          \
    " \"cloth\": [{\"name\": \"sheet\", \"mesh\": {\"grid\": {\"size\": 1, \"cells\": 12}},"                           \
    " \"material\": {\"base\": \"cotton\", \"stretch_warp\": 7, \"stretch_weft\": 5, \"shear\": 1.5, \"damping\": "    \
    "%g},"                                                                                                             \
    " \"pins\": [{\"where\": {\"vertices\": [0, 12]}}]}]"
#define BOX                                                                                                            \
    " \"volumes\": [{\"name\": \"box\", \"mesh\": {\"solid\": {\"box\": {\"size\": [0.8, 0.2, 0.2], \"cells\": [8, "   \
    "2, 2]}}},"                                                                                                        \
    " \"material\": {\"density\": 40, \"young_modulus\": 3000, \"damping\": %g},"                                      \
    " \"pins\": [{\"where\": {\"box\": {\"min\": [-1, -1, -1], \"max\": [-0.39, 1, 1]}}}]}]"

static weft_sim* scene_of(bool solid, double damping, const char* method, int workers)
{
    char body[500], text[1000];
    snprintf(body, sizeof(body), solid ? BOX : SHEET, damping);
    snprintf(text, sizeof(text),
             "{\"time_step\": 0.0333333333333, \"model\": \"corotated\", \"solver\": {\"name\": \"cholesky\"}, %s,"
             " \"contact\": {\"enabled\": false}, %s}",
             method, body);
    weft_sim* sim = scene_sim_text(text, workers);
    assert_int_equal(sim_build(sim, NULL), WEFT_OK);
    return sim;
}

static void take_steps(weft_sim* sim, int count)
{
    for (int k = 0; k < count; k++)
    {
        weft_error error = {0};
        if (weft_sim_step(sim, NULL, &error) != WEFT_OK)
        {
            fail_msg("%s", error.message);
        }
    }
}

#define TURNS_OF "\"method\": \"local-global\", \"local-global\": {\"iterations\": %d, \"acceleration\": %d}"

// g of the end of the second step, by energies alone.
static double end_value(const weft_sim* sim, const vec3* x0, const vec3* v0)
{
    world* w = (world*)&sim->world;
    double h = 0.0333333333333;
    element_motion motion = {.x = w->state.x, .v = w->state.v, .x_last = x0, .v_last = v0, .h = h};
    energy_sums sums = world_elements(w, &motion);
    double value = h * h * (sums.stretch + sums.shear + sums.bend + sums.dissipation);
    for (int i = 0; i < w->model->vertex_count; i++)
    {
        vec3 away = v3_sub(w->state.x[i], v3_madd(x0[i], h, v0[i]));
        value += 0.5 * w->model->mass[i] * v3_dot(away, away) -
                 h * h * v3_dot(w->model->external[i], v3_sub(w->state.x[i], x0[i]));
    }
    return value;
}

static void test_turns_never_raise_g(void** unused)
{
    (void)unused;
    for (int kind = 0; kind < 4; kind++)
    {
        double last = INFINITY;
        for (int turns = 1; turns <= 25; turns++)
        {
            char method[200];
            snprintf(method, sizeof(method), TURNS_OF, turns, kind / 2 * 2);
            weft_sim* sim = scene_of(kind % 2, 0.005, method, 1);
            int count = sim->model.vertex_count;
            vec3 x0[400], v0[400];
            uint64_t n = 3;
            assert_true(count <= 400);
            memcpy(x0, sim->world.state.x, (size_t)count * sizeof(vec3));
            for (int i = 0; i < count; i++)
            {
                v0[i] = v3_add(v3_scale(3.0, x0[i]), test_random_vec(&n, 1.0));
            }
            memcpy(sim->world.state.v, v0, (size_t)count * sizeof(vec3));
            take_steps(sim, 1);
            double value = end_value(sim, x0, v0);
            assert_true(value <= last + 1e-13 * fabs(last));
            last = value;
            weft_sim_destroy(sim);
        }
    }
}

static void test_turns_end_at_newton(void** unused)
{
    (void)unused;
    for (int kind = 0; kind < 4; kind++)
    {
        vec3 x[2][400];
        int count = 0;
        for (int k = 0; k < 2; k++)
        {
            char method[200];
            snprintf(method, sizeof(method), TURNS_OF, 600, 2);
            weft_sim* sim = scene_of(kind % 2, kind / 2 * 0.01,
                                     k == 0 ? "\"method\": \"newton\", \"newton\": {\"tolerance\": 1e-8}" : method, 1);
            take_steps(sim, 4);
            count = weft_sim_vertex_count(sim, 0);
            weft_sim_positions(sim, 0, x[k]);
            weft_sim_destroy(sim);
        }
        double farthest = 0.0;
        for (int i = 0; i < count; i++)
        {
            farthest = fmax(farthest, v3_length(v3_sub(x[0][i], x[1][i])));
        }
        assert_true(farthest < 1e-5);
    }
}

static void test_threads_agree(void** unused)
{
    (void)unused;
    for (int solid = 0; solid < 2; solid++)
    {
        vec3 x[2][400];
        memset(x, 0, sizeof(x));
        for (int k = 0; k < 2; k++)
        {
            weft_sim* sim = scene_of(solid, 0.005, "\"method\": \"local-global\"", 1 + 3 * k);
            take_steps(sim, 5);
            weft_sim_positions(sim, 0, x[k]);
            weft_sim_destroy(sim);
        }
        assert_memory_equal(x[0], x[1], sizeof(x[0]));
    }
}

// Small strains of a sheet cost what the material says; of a solid E e^2 / 2 along an axis, and E g^2 / 4 for shear.
static void test_small_strains(void** unused)
{
    (void)unused;
    static const double e = 1e-5;
    // warp, weft, shear of the sheet; stretch and shear of the box, J a unit of e^2
    const double wanted[] = {0.5 * 7, 0.5 * 5, 0.5 * 1.5, 0.5 * 3000 * 0.032, 0.25 * 3000 * 0.032};
    for (int k = 0; k < 5; k++)
    {
        weft_sim* sim = scene_of(k >= 3, 0.0, "\"method\": \"local-global\"", 1);
        vec3* x = sim->world.state.x;
        for (int i = 0; i < sim->model.vertex_count; i++)
        {
            // the sheet's warp is x, its weft z
            x[i].x += k == 0 || k == 3 ? e * x[i].x : 0.0;
            x[i].z += k == 1 ? e * x[i].z : 0.0;
            x[i].z += k == 2 || k == 4 ? e * x[i].x : 0.0;
        }
        weft_energy energy = weft_sim_energy(sim);
        double share = (energy.stretch + energy.shear) / (e * e * wanted[k]);
        assert_true(fabs(share - 1.0) < 1e-3);
        weft_sim_destroy(sim);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_force_is_gradient),       cmocka_unit_test(test_matrix_bounds_the_energy),
        cmocka_unit_test(test_rotation_is_the_nearest), cmocka_unit_test(test_hessian),
        cmocka_unit_test(test_special_states),          cmocka_unit_test(test_known_stretches),
        cmocka_unit_test(test_cpu_kinds_agree),         cmocka_unit_test(test_turns_never_raise_g),
        cmocka_unit_test(test_turns_end_at_newton),     cmocka_unit_test(test_threads_agree),
        cmocka_unit_test(test_small_strains),
    };
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
