// `choi-ko` on triangles that follow no threads (weave_kernel.c): elongation and shear are the material's whatever the
// mesh, its shape, its directions and whether its width is held; dampers, slack, the criterion, and what is left out.
#include "common.h"

#include <stdlib.h>
#include <string.h>

#include "common_dense.h"
#include "common_sim.h"
#include "material/weave.h"
#include "sim/sim.h"

// ---- sheets

typedef struct sheet
{
    double width, height; // m
    int cells;
    double shear; // N/m
} sheet;

// Elongation of an irregular sheet that hangs from its upper edge, over rho g L^2 / (2 k).
static double hang_ratio(const sheet* of)
{
    grid_options grid = {.size_u = of->width,
                         .size_v = of->height,
                         .cells_u = (int)(of->cells * of->width / of->height),
                         .cells_v = of->cells,
                         .upright = true,
                         .irregular = true,
                         .seed = 3};
    mesh probe = {0}, m = {0};
    assert_int_equal(mesh_from_grid(&grid, &probe, NULL), WEFT_OK);
    int* top = calloc((size_t)probe.vertex_count, sizeof(int));
    int* bottom = calloc((size_t)probe.vertex_count, sizeof(int));
    weft_pin pin = {.vertices = top, .vertex_count = test_edge_vertices(&probe, EDGE_TOP, top), .release = INFINITY};
    int bottom_count = test_edge_vertices(&probe, EDGE_BOTTOM, bottom);
    weft_cloth_def cloth = weft_cloth_def_default();
    cloth.model = "choi-ko";
    cloth.material.shear = of->shear;
    cloth.pins = &pin;
    cloth.pin_count = 1;
    weft_sim_def def = test_statics_def();
    def.contact = 0;
    weft_sim* sim = test_grid_sim(&def, &grid, &cloth, &m);
    weft_error error = {0};
    for (int k = 0; k < 2; k++)
    {
        assert_int_equal(weft_sim_step(sim, NULL, &error), WEFT_OK);
    }
    weft_vec3* x = calloc((size_t)m.vertex_count, sizeof(vec3));
    weft_sim_positions(sim, 0, x);
    double mean = 0;
    for (int b = 0; b < bottom_count; b++)
    {
        mean += (m.position[bottom[b]].y - x[bottom[b]].y) / bottom_count;
    }
    free(x);
    free(top);
    free(bottom);
    mesh_finish(&probe);
    mesh_finish(&m);
    weft_sim_destroy(sim);
    return mean / (0.15 * 9.81 * of->height * of->height / (2 * 5000));
}

// What connections between vertices cannot have together: wide sheets, whose width is held, and strips; soft and stiff
// shear.
static void test_hang(void** unused)
{
    (void)unused;
    static const sheet sheets[] = {
        {1, 1, 20, 500}, {2, 1, 20, 500}, {0.25, 1, 40, 500}, {1, 1, 20, 100}, {1, 1, 20, 1500}, {0.5, 1, 10, 500},
    };
    for (size_t k = 0; k < sizeof(sheets) / sizeof(sheets[0]); k++)
    {
        double ratio = hang_ratio(&sheets[k]);
        print_message("hang, %g x %g m, %d cells, shear %g N/m: %.4f of the closed form\n", sheets[k].width,
                      sheets[k].height, sheets[k].cells, sheets[k].shear, ratio);
        assert_true(fabs(ratio - 1) < 0.02);
    }
}

// ---- one element

typedef struct specimen
{
    element_group group;
    int vertices[3];
    double rest[SKEW_STRIDE];
    vec3 x[3], v[3], x_last[3];
} specimen;

static double* coordinate(vec3* x, int p)
{
    return &x[p / 3].x + p % 3;
}

// A triangle of the wanted kind and damper.
static void make(specimen* s, uint64_t* n, bool skew, damper_form form)
{
    vec2 p[3] = {{0, 0}, {test_random(n, 0.6, 1.2), test_random(n, -0.3, 0.3)}, {0, 0}};
    p[2] = (vec2){test_random(n, -0.3, 0.3), test_random(n, 0.6, 1.2)};
    const int triangle[3] = {0, 1, 2};
    cloth_shape shape = {.triangle_count = 1,
                         .triangle = triangle,
                         .rest = p,
                         .material = {.stretch_warp = 7, .stretch_weft = 9, .shear = 5, .damping = 0.2},
                         .connections = {form, -1, -1, -1}};
    element_groups groups = {0};
    assert_int_equal(element_groups_add(&groups, &kind_thread), WEFT_OK);
    assert_int_equal(element_groups_add(&groups, &kind_skew), WEFT_OK);
    assert_int_equal(weave_append(&groups, &shape), WEFT_OK);
    const element_group* made = element_groups_find(&groups, skew ? &kind_skew : &kind_thread);
    *s = (specimen){.group = {.kind = made->kind, .count = 1}, .vertices = {0, 1, 2}};
    memcpy(s->rest, made->rest, (size_t)made->kind->rest_stride * sizeof(double));
    element_groups_finish(&groups);
    double stretch = test_random(n, 0.8, 1.4), shear = test_random(n, -1.0, 1.0);
    for (int k = 0; k < 3; k++)
    {
        s->x[k] = v3_add(v3(stretch * p[k].x + shear * p[k].y, p[k].y * test_random(n, 0.9, 1.3), 0),
                         test_random_vec(n, 0.05));
        s->x_last[k] = v3_add(s->x[k], test_random_vec(n, 0.05));
        s->v[k] = test_random_vec(n, 1.0);
    }
}

// After it has been returned by value the pointers are wrong.
static void bind_specimen(specimen* s)
{
    s->group.vertices = s->vertices;
    s->group.rest = s->rest;
}

static void force_of(const specimen* s, const element_motion* m, double* out)
{
    element_context context = {&s->group, m};
    int elements[BATCH] = {0};
    double force[ARITY_MAX][3][BATCH];
    element_kernels_for(s->group.kind, cpu_best())->force(&context, elements, force);
    for (int q = 0; q < 9; q++)
    {
        out[q] = force[q / 3][q % 3][0];
    }
}

static void blocks_of(const specimen* s, const element_motion* m, double* K, double* rhs)
{
    element_context context = {&s->group, m};
    int elements[BATCH] = {0};
    element_batch batch;
    memset(&batch, 0, sizeof(batch));
    element_kernels_for(s->group.kind, cpu_best())->evaluate(&context, elements, &batch);
    for (int q = 0; q < 81; q++)
    {
        int r = q / 9, c = q % 9, a = r / 3, b = c / 3;
        K[q] = a <= b ? batch.block[pair_index(3, a, b)][3 * (r % 3) + c % 3][0]
                      : batch.block[pair_index(3, b, a)][3 * (c % 3) + r % 3][0];
    }
    for (int q = 0; q < 9; q++)
    {
        rhs[q] = batch.rhs[q / 3][q % 3][0];
    }
}

// The damper's block is minus the derivative of the force by velocity; with none, or slack, or shrinking, there is
// none.
static void test_damper_jacobian(void** unused)
{
    (void)unused;
    uint64_t n = 3;
    int without = 0, with = 0;
    for (int turn = 0; turn < 800; turn++)
    {
        specimen s;
        damper_form form = (damper_form)(turn / 2 % 4);
        make(&s, &n, turn % 2, form);
        bind_specimen(&s);
        vec3 still[3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
        element_motion moving = {.x = s.x, .v = s.v, .h = 1e-4}, rest = {.x = s.x, .v = still, .h = 1e-4};
        double K[81], bare[81], rhs[9], largest = 0;
        blocks_of(&s, &moving, K, rhs);
        s.rest[turn % 2 ? (int)SKEW_FORM : (int)THREAD_FORM] = DAMPER_NONE;
        blocks_of(&s, &rest, bare, rhs);
        s.rest[turn % 2 ? (int)SKEW_FORM : (int)THREAD_FORM] = form;
        for (int q = 0; q < 9; q++)
        {
            double up[9], down[9];
            *coordinate(s.v, q) += 1e-6;
            force_of(&s, &moving, up);
            *coordinate(s.v, q) -= 2e-6;
            force_of(&s, &moving, down);
            *coordinate(s.v, q) += 1e-6;
            for (int p = 0; p < 9; p++)
            {
                double D = (K[9 * p + q] - bare[9 * p + q]) / 1e-4;
                largest = fmax(largest, fabs(D));
                assert_true(fabs((up[p] - down[p]) / 2e-6 + D) < 1e-5);
            }
        }
        assert_true(form != DAMPER_NONE || largest == 0);
        without += largest == 0;
        with += largest > 0;
    }
    assert_true(without > 200 && with > 200);
}

// With a last state damping has a potential, of which the force is the gradient.
static void test_damper_potential(void** unused)
{
    (void)unused;
    uint64_t n = 9;
    for (int turn = 0; turn < 800; turn++)
    {
        specimen s;
        make(&s, &n, turn % 2, (damper_form)(turn / 2 % 4));
        bind_specimen(&s);
        element_motion m = {.x = s.x, .v = s.v, .x_last = s.x_last, .v_last = s.v, .h = 0.1};
        element_context context = {&s.group, &m};
        double force[9];
        force_of(&s, &m, force);
        for (int q = 0; q < 9; q++)
        {
            energy_sums up = {0}, down = {0};
            *coordinate(s.x, q) += 1e-6;
            element_kernels_for(s.group.kind, cpu_best())->energy(&context, 0, 1, &up);
            *coordinate(s.x, q) -= 2e-6;
            element_kernels_for(s.group.kind, cpu_best())->energy(&context, 0, 1, &down);
            *coordinate(s.x, q) += 1e-6;
            double rise = up.stretch + up.shear + up.dissipation - down.stretch - down.shear - down.dissipation;
            assert_true(fabs(-rise / 2e-6 - force[q]) < 1e-4 * (1 + fabs(force[q])));
        }
    }
}

// The criterion bounds the eigenvalues of M_e^-1 (K_e + D_e); that of threads is sharp.
static void test_criterion(void** unused)
{
    (void)unused;
    uint64_t n = 21;
    int slack_count = 0;
    for (int turn = 0; turn < 400; turn++)
    {
        specimen s;
        make(&s, &n, turn % 2, turn % 4 < 2 ? DAMPER_TWO_SIDED : DAMPER_PLAIN);
        bind_specimen(&s);
        const double mass[3] = {test_random(&n, 0.1, 1), test_random(&n, 1, 100), test_random(&n, 0.1, 1)};
        element_motion m = {.x = s.x, .v = s.v, .h = 1};
        element_context context = {&s.group, &m};
        double out[1][2], K[81], rhs[9], values[9], largest = 0;
        uint8_t slack;
        s.group.kind->explicit_criterion(&context, mass, 0, 1, out);
        s.group.kind->slack(&context, 0, 1, &slack);
        blocks_of(&s, &m, K, rhs);
        for (int q = 0; q < 81; q++)
        {
            assert_true(!slack || K[q] == 0.0);
            K[q] /= sqrt(mass[q / 27] * mass[q % 9 / 3]);
        }
        test_eigenvalues(K, 9, values);
        for (int q = 0; q < 9; q++)
        {
            largest = fmax(largest, values[q]);
        }
        double bound = out[0][0] + out[0][1];
        slack_count += slack;
        assert_true(largest <= bound * (1 + 1e-9));
        assert_true(turn % 2 || largest >= bound * (1 - 1e-9));
    }
    assert_true(slack_count > 20 && slack_count < 380);
}

// What is slack and will clearly be taut at the end of a linear step has its block in it, what will not has zeros; and
// the flags agree with the kernel.
static void test_ahead(void** unused)
{
    (void)unused;
    uint64_t n = 5;
    int taken = 0;
    for (int turn = 0; turn < 800; turn++)
    {
        specimen s;
        make(&s, &n, turn % 2, DAMPER_NONE);
        bind_specimen(&s);
        element_motion now = {.x = s.x, .v = s.v, .h = 0.1}, ahead = {.x = s.x, .v = s.v, .h = 0.1, .ahead = true};
        element_context a = {&s.group, &now}, b = {&s.group, &ahead};
        uint8_t was, is;
        s.group.kind->slack(&a, 0, 1, &was);
        s.group.kind->slack(&b, 0, 1, &is);
        double K[81], rhs[9], sum = 0;
        blocks_of(&s, &ahead, K, rhs);
        for (int q = 0; q < 81; q++)
        {
            sum += fabs(K[q]) + fabs(rhs[q % 9]);
        }
        assert_true(is == (sum == 0.0) && is <= was);
        taken += was && !is;
    }
    assert_true(taken > 20);
}

// Shear between taut threads is Baraff and Witkin's; what is compressed turns freely until its diagonal is as long as
// at rest; no stretch, held or free, has any.
static void test_shear_alone(void** unused)
{
    (void)unused;
    uint64_t n = 8;
    for (int turn = 0; turn < 200; turn++)
    {
        double u = test_random(&n, 0.5, 1.5), v = test_random(&n, 0.5, 1.5), turned = test_random(&n, -1.2, 1.2);
        vec3 wu = v3(u, 0, 0), wv = v3(v * sin(turned), v * cos(turned), 0);
        skew_strain straight = skew_of(wu, v3(0, v, 0)), s = skew_of(wu, wv);
        assert_true(straight.s <= 0.0);
        double c = fabs(v3_dot(wu, wv));
        assert_true(u < 1 || v < 1 || fabs(s.s - c) < 1e-12);
        double diagonal = v3_length(v3_madd(wu, s.sign, wv)), longest = hypot(fmax(u, 1), fmax(v, 1));
        assert_true((s.s > 1e-9) == (diagonal * diagonal - longest * longest > 2e-9));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hang),
        cmocka_unit_test(test_damper_jacobian),
        cmocka_unit_test(test_damper_potential),
        cmocka_unit_test(test_criterion),
        cmocka_unit_test(test_ahead),
        cmocka_unit_test(test_shear_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
