// The methods of Boxerman's thesis, chapter 4: orders of convergence, energy of the explicit one, the split.
#include "common.h"

#include <stdlib.h>
#include <string.h>

#include "common_sim.h"
#include "sim/sim.h"

enum
{
    CELLS = 5,
    COUNT = (CELLS + 1) * (CELLS + 1)
};

static void set(weft_sim_def* def, const char* method, const char* name, double value)
{
    assert_int_equal(weft_sim_def_set(def, method, name, value, NULL), WEFT_OK);
}

// ---- orders

// A sheet of springs that is held at its border, stretched by a fifth in both directions and plucked: every spring
// stays in tension, but for those of bending.
static weft_sim* drum(const char* method, double h, double damping)
{
    weft_sim_def def = weft_sim_def_default();
    def.method = method;
    def.solver = "cholesky";
    def.time_step = h;
    def.tolerance = 1e-12;
    def.contact = 0;
    def.max_halvings = 0;
    def.max_stretch = 1e9;
    // The same split for every h: connections of shear, and of stretch at heavy vertices, are explicit.
    // All have one damping, so that what the criterion compares goes with h^2 + 2 h damping, and 4 h for aimex2.
    set(&def, "aimex", "criterion", 5e3 * h * (h + 2 * damping));
    set(&def, "aimex2", "criterion", 5e3 * h * (h + 4 * damping));
    grid_options grid = {.size_u = 1, .size_v = 1, .cells_u = CELLS, .cells_v = CELLS};
    mesh m = {0};
    assert_int_equal(mesh_from_grid(&grid, &m, NULL), WEFT_OK);
    weft_vec3 position[COUNT], velocity[COUNT];
    int border[COUNT], border_count = test_edge_vertices(&m, 15, border);
    for (int i = 0; i < COUNT; i++)
    {
        vec3 p = m.position[i];
        bool inner = m.edge_mask[i] == 0;
        position[i] = v3_scale(1.2, p);
        velocity[i] = inner ? v3(0.2 * sin(3 * p.z), 0.5 * cos(2 * p.x) + 0.3 * p.z, 0.3 * cos(5 * p.x)) : v3(0, 0, 0);
    }
    mesh_finish(&m);
    weft_pin pin = {.vertices = border, .vertex_count = border_count, .release = INFINITY};
    weft_cloth_def cloth = weft_cloth_def_default();
    cloth.model = "hooke";
    cloth.material = (weft_material){
        .density = 0.3, .stretch_warp = 60, .stretch_weft = 40, .shear = 10, .bending = 1e-5, .damping = damping};
    cloth.positions = position;
    cloth.velocities = velocity;
    cloth.pins = &pin;
    cloth.pin_count = 1;
    weft_sim* sim = test_grid_sim(&def, &grid, &cloth, &m);
    mesh_finish(&m);
    return sim;
}

static void run_drum(const char* method, double h, double damping, weft_vec3* out, weft_step_stats* stats)
{
    weft_sim* sim = drum(method, h, damping);
    weft_error error = {0};
    int steps = (int)lround(0.064 / h);
    for (int k = 0; k < steps; k++)
    {
        if (weft_sim_step(sim, stats, &error) != WEFT_OK)
        {
            fail_msg("%s: %s", method, error.message);
        }
    }
    weft_sim_positions(sim, 0, out);
    weft_sim_destroy(sim);
}

static double apart(const weft_vec3* a, const weft_vec3* b)
{
    double most = 0.0;
    for (int i = 0; i < COUNT; i++)
    {
        most = fmax(most, v3_length(v3_sub(a[i], b[i])));
    }
    return most;
}

static void test_orders(void** unused)
{
    (void)unused;
    static const struct
    {
        const char* method;
        int order;
    } rows[] = {{"explicit", 1}, {"implicit-euler", 1}, {"bdf2", 2},  {"imex", 1},
                {"imex2", 2},    {"aimex", 1},          {"aimex2", 2}};
    const double damping = 2e-3, h = 1e-3;
    weft_vec3 exact[COUNT], other[COUNT], x[COUNT];
    weft_step_stats stats;
    run_drum("aimex2", h / 64, damping, exact, &stats);
    run_drum("bdf2", h / 64, damping, other, &stats);
    print_message("references of aimex2 and bdf2: %.2e m apart\n", apart(exact, other));
    assert_true(apart(exact, other) < 2e-6);
    for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++)
    {
        double error[3], implicit = 0.0, explicit = 0.0;
        for (int k = 0; k < 3; k++)
        {
            run_drum(rows[r].method, h / (1 << (k + 1)), damping, x, &stats);
            error[k] = apart(x, exact);
            assert_true(k == 0 || implicit == weft_step_counter(&stats, "implicit_elements"));
            implicit = weft_step_counter(&stats, "implicit_elements");
            explicit = weft_step_counter(&stats, "explicit_elements");
        }
        double order = log2(error[1] / error[2]);
        print_message("%-14s errors %.2e %.2e %.2e m, order %.2f; %g implicit, %g explicit\n", rows[r].method, error[0],
                      error[1], error[2], order, implicit, explicit);
        assert_true(fabs(order - rows[r].order) < 0.15);
        if (strstr(rows[r].method, "imex"))
        {
            assert_true(implicit > 0 && explicit > 0);
        }
    }
}

// ---- energy of the explicit method

typedef struct sway
{
    double off, drop, spread, trend; // J
} sway;

// A sheet of springs without damping swings from two corners, at kappa = h^2 k / m of the stiffest thread.
static sway swing(const char* model, double kappa, int steps)
{
    grid_options grid = {.size_u = 1, .size_v = 1, .cells_u = CELLS, .cells_v = CELLS};
    const double stretch = 50, density = 0.2, mass = density / (CELLS * CELLS);
    weft_sim_def def = weft_sim_def_default();
    def.method = "explicit";
    def.time_step = sqrt(kappa * mass / stretch);
    def.contact = 0;
    def.max_halvings = 0;
    def.max_stretch = 1e9;
    int corners[2] = {0, CELLS};
    weft_pin pin = {.vertices = corners, .vertex_count = 2, .release = INFINITY};
    weft_cloth_def cloth = weft_cloth_def_default();
    cloth.model = model;
    cloth.material = (weft_material){
        .density = density, .stretch_warp = stretch, .stretch_weft = stretch, .shear = 10, .bending = 1e-6};
    cloth.pins = &pin;
    cloth.pin_count = 1;
    mesh m = {0};
    weft_sim* sim = test_grid_sim(&def, &grid, &cloth, &m);
    weft_step_stats stats = {0};
    weft_error error = {0};
    sway s = {0};
    double start = 0.0, part[10] = {0};
    for (int k = 0; k < steps; k++)
    {
        assert_int_equal(weft_sim_step(sim, &stats, &error), WEFT_OK);
        start = k == 0 ? stats.energy.total : start;
        s.drop = fmax(s.drop, -stats.energy.gravity);
        s.off = fmax(s.off, fabs(stats.energy.total - start));
        part[10 * (long long)k / steps] += stats.energy.total * 10 / steps;
    }
    for (int k = 0; k < 10; k++)
    {
        s.trend += part[k] * (k - 4.5) / 82.5 * 9.0; // of the line through the tenths, over all of them
        s.spread = fmax(s.spread, fabs(part[k] - part[0]));
    }
    mesh_finish(&m);
    weft_sim_destroy(sim);
    return s;
}

// Forward-backward Euler is symplectic, so that the energy sways and does not drift.
static void test_explicit_energy(void** unused)
{
    (void)unused;
    const int steps = 100000;
    sway s = swing("hooke", 0.1, steps);
    print_message("explicit, kappa 0.1, %d steps: energy off by %.4f of the drop %.3f J, tenths by %.4f, trend %.4f\n",
                  steps, s.off / s.drop, s.drop, s.spread / s.drop, s.trend / s.drop);
    assert_true(s.off < 0.1 * s.drop && fabs(s.trend) < 0.01 * s.drop);
}

// Connections that go slack have a kink, at which it is not: the energy of Choi-Ko springs drifts, over the same time
// the less the shorter the step.
static void test_explicit_drift(void** unused)
{
    (void)unused;
    const int steps = 10000;
    double last = INFINITY;
    for (int k = 0; k < 4; k++)
    {
        double share = pow(0.5, k), kappa = 0.1 * share * share;
        sway s = swing("choi-ko", kappa, steps << k);
        print_message("explicit, choi-ko, kappa %.4g: trend %.4f of the drop, off by %.4f\n", kappa, s.trend / s.drop,
                      s.off / s.drop);
        assert_true(fabs(s.trend / s.drop) < fmax(0.7 * last, 1e-3));
        last = fabs(s.trend / s.drop);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orders),
        cmocka_unit_test(test_explicit_energy),
        cmocka_unit_test(test_explicit_drift),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
