// Bending `exact`: directors on edges that minimise the energy. Closed forms on jittered meshes, where other forms are
// off by percents; force and energy belong together; the same bits on any number of threads; what it refuses.
#include "common.h"

#include <stdlib.h>
#include <string.h>

#include "common_sim.h"
#include "sim/sim.h"

static weft_sim* sheet(const weft_sim_def* def, int cells, bool irregular, int seed, const char* bending, mesh* m)
{
    grid_options grid = {
        .size_u = 1, .size_v = 1, .cells_u = cells, .cells_v = cells, .irregular = irregular, .seed = (uint64_t)seed};
    weft_cloth_def cloth = weft_cloth_def_default();
    cloth.bending = bending;
    return test_grid_sim(def, &grid, &cloth, m);
}

// Bending energy of a sheet rolled about an axis at `degrees` in its plane, over B / (2 R^2) times its area.
static double rolled_ratio(const char* bending, bool irregular, int cells, double degrees)
{
    weft_sim_def def = weft_sim_def_default();
    mesh m = {0};
    weft_sim* sim = sheet(&def, cells, irregular, 5, bending, &m);
    double c = cos(degrees * PI / 180), s = sin(degrees * PI / 180);
    weft_vec3* x = calloc((size_t)m.vertex_count, sizeof(vec3));
    for (int i = 0; i < m.vertex_count; i++)
    {
        double a = c * m.position[i].x + s * m.position[i].z, b = -s * m.position[i].x + c * m.position[i].z;
        x[i] = v3(c * a - s * sin(b), 1 - cos(b), s * a + c * sin(b));
    }
    assert_int_equal(weft_sim_set_state(sim, 0, x, NULL), WEFT_OK);
    double ratio = weft_sim_energy(sim).bend / (0.5 * weft_cloth_def_default().material.bending);
    free(x);
    mesh_finish(&m);
    weft_sim_destroy(sim);
    return ratio;
}

// What is missing is a border half a cell wide: there directors are free, while rolling wants moments at the borders.
static void rolled_sheets_have_their_energy(void** state)
{
    (void)state;
    double worst[2] = {0.0, 0.0}, other = 0.0;
    for (double degrees = 0; degrees < 180; degrees += 30)
    {
        for (int irregular = 0; irregular < 2; irregular++)
        {
            double ratio = rolled_ratio("exact", irregular, 80, degrees);
            worst[irregular] = fmax(worst[irregular], fabs(ratio - 1.0));
        }
        other = fmax(other, fabs(rolled_ratio("curvature", true, 80, degrees) - 1.0));
    }
    print_message("rolled, 80 cells: regular %.2f %%, irregular %.2f %%; `curvature` irregular %.2f %%\n",
                  100 * worst[0], 100 * worst[1], 100 * other);
    assert_true(worst[0] < 0.02 && worst[1] < 0.02);
    assert_true(worst[1] < other);
}

// A jittered strip, clamped by three columns, sinks by rho g L^4 / (8 B): L runs from the middle of the last held cell.
static double cantilever_ratio(const char* bending, int cells)
{
    double length = 1.0, step = length / (cells + 0.5);
    grid_options grid = {.size_u = (cells + 2) * step,
                         .size_v = 0.25,
                         .cells_u = cells + 2,
                         .cells_v = cells / 4,
                         .irregular = true,
                         .seed = 7};
    int columns = cells + 3, rows = cells / 4 + 1, count = 0;
    int* held = calloc((size_t)(3 * rows), sizeof(int));
    for (int i = 0; i < columns * rows; i++)
    {
        if (i % columns < 3)
        {
            held[count++] = i;
        }
    }
    weft_pin pin = {.vertices = held, .vertex_count = count, .release = INFINITY};
    weft_cloth_def cloth = weft_cloth_def_default();
    cloth.material.bending = 1e-2;
    cloth.bending = bending;
    cloth.pins = &pin;
    cloth.pin_count = 1;
    weft_sim_def def = test_statics_def();
    def.gravity = v3(0, -0.002, 0);
    mesh m = {0};
    weft_sim* sim = test_grid_sim(&def, &grid, &cloth, &m);
    weft_error error = {0};
    for (int k = 0; k < 3; k++)
    {
        assert_int_equal(weft_sim_step(sim, NULL, &error), WEFT_OK);
    }
    weft_vec3* x = calloc((size_t)m.vertex_count, sizeof(vec3));
    weft_sim_positions(sim, 0, x);
    double tip = 0;
    for (int row = 0; row < rows; row++)
    {
        tip -= x[row * columns + columns - 1].y / rows;
    }
    free(x);
    free(held);
    mesh_finish(&m);
    weft_sim_destroy(sim);
    return tip / (0.15 * 0.002 / (8 * 1e-2));
}

static void jittered_strips_sink_as_they_should(void** state)
{
    (void)state;
    double exact = cantilever_ratio("exact", 40), curvature = cantilever_ratio("curvature", 40);
    print_message("jittered cantilever, 40 cells: exact %.4f, curvature %.4f\n", exact, curvature);
    assert_true(fabs(exact - 1.0) < 0.015);
    assert_true(fabs(exact - 1.0) < fabs(curvature - 1.0));
}

// ---- force and energy

static void crumple(const mesh* m, double amplitude, weft_vec3* x)
{
    uint64_t random = 11;
    for (int i = 0; i < m->vertex_count; i++)
    {
        x[i] = v3(m->position[i].x + test_random(&random, -0.1, 0.1) * amplitude,
                  m->position[i].y + test_random(&random, -1, 1) * amplitude,
                  m->position[i].z + test_random(&random, -0.1, 0.1) * amplitude);
    }
}

static double elastic(weft_sim* sim, const weft_vec3* x)
{
    assert_int_equal(weft_sim_set_state(sim, 0, x, NULL), WEFT_OK);
    weft_energy e = weft_sim_energy(sim);
    return e.stretch + e.shear + e.bend;
}

// The force with directors held is the derivative of the energy with directors that follow.
static void force_is_the_gradient(void** state)
{
    (void)state;
    weft_sim_def def = weft_sim_def_default();
    def.gravity = v3(0, 0, 0);
    mesh m = {0};
    weft_cloth_def cloth = weft_cloth_def_default();
    cloth.bending = "exact";
    // Bending as strong as the membrane at this size, so that it decides the sum.
    cloth.material.bending = 10.0;
    grid_options grid = {.size_u = 1, .size_v = 1, .cells_u = 6, .cells_v = 6, .irregular = true, .seed = 3};
    weft_sim* sim = test_grid_sim(&def, &grid, &cloth, &m);
    int n = m.vertex_count;
    weft_vec3 *x = calloc((size_t)n, sizeof(vec3)), *y = calloc((size_t)n, sizeof(vec3));
    vec3 *force = calloc((size_t)n, sizeof(vec3)), *zero = calloc((size_t)n, sizeof(vec3));
    crumple(&m, 0.04, x);
    elastic(sim, x);
    element_motion motion = {.x = sim->world.state.x, .v = zero, .h = 0.01};
    world_forces(&sim->world, &motion, ELEMENT_INACTIVE, 0, zero, force);
    for (int k = 0; k < 30; k++)
    {
        int i = (k * 7) % n, axis = k % 3;
        double epsilon = 1e-5, energy[2];
        for (int s = 0; s < 2; s++)
        {
            memcpy(y, x, (size_t)n * sizeof(vec3));
            double d = s ? -epsilon : epsilon;
            y[i] = v3_add(y[i], v3(axis == 0 ? d : 0, axis == 1 ? d : 0, axis == 2 ? d : 0));
            energy[s] = elastic(sim, y);
        }
        double slope = (energy[0] - energy[1]) / (2 * epsilon);
        vec3 f = force[sim->bodies[0].scene_vertex[i]];
        double along = axis == 0 ? f.x : axis == 1 ? f.y : f.z;
        if (!(fabs(slope + along) < 1e-4 * (1.0 + fabs(slope))))
        {
            fail_msg("vertex %d axis %d: slope %.9g, force %.9g", i, axis, slope, along);
        }
    }
    free(x);
    free(y);
    free(force);
    free(zero);
    mesh_finish(&m);
    weft_sim_destroy(sim);
}

// ---- bits and refusals

static void bits_do_not_depend_on_threads(void** state)
{
    (void)state;
    weft_vec3* ends[2];
    int n = 0;
    for (int k = 0; k < 2; k++)
    {
        weft_sim_def def = weft_sim_def_default();
        def.worker_count = k == 0 ? 1 : 3;
        mesh m = {0};
        weft_sim* sim = sheet(&def, 40, true, 3, "exact", &m);
        n = m.vertex_count;
        ends[k] = calloc((size_t)n, sizeof(vec3));
        crumple(&m, 0.002, ends[k]);
        assert_int_equal(weft_sim_set_state(sim, 0, ends[k], NULL), WEFT_OK);
        for (int step = 0; step < 5; step++)
        {
            assert_int_equal(weft_sim_step(sim, NULL, NULL), WEFT_OK);
        }
        weft_sim_positions(sim, 0, ends[k]);
        mesh_finish(&m);
        weft_sim_destroy(sim);
    }
    assert_memory_equal(ends[0], ends[1], (size_t)n * sizeof(vec3));
    free(ends[0]);
    free(ends[1]);
}

static void what_it_cannot_do_is_refused(void** state)
{
    (void)state;
    static const char* const methods[] = {"pbd", "hpbd", "local-global", "implicit-euler"};
    for (int k = 0; k < 4; k++)
    {
        weft_sim_def def = weft_sim_def_default();
        def.method = methods[k];
        weft_sim* sim = NULL;
        weft_error error = {0};
        weft_cloth_id id;
        const weft_vec3 x[4] = {{0, 0, 0}, {1, 0, 0}, {0, 0, -1}, {1, 0, -1}};
        const int faces[6] = {0, 1, 2, 1, 3, 2};
        assert_int_equal(weft_sim_create(&def, &sim, NULL), WEFT_OK);
        weft_cloth_def cloth = weft_cloth_def_default();
        cloth.positions = x;
        cloth.vertex_count = 4;
        cloth.face_vertices = faces;
        cloth.face_count = 2;
        cloth.bending = "exact";
        cloth.tear = k == 3 ? 100.0 : 0.0;
        assert_int_not_equal(weft_sim_add_cloth(sim, &cloth, &id, &error), WEFT_OK);
        assert_non_null(strstr(error.message, k == 3 ? "tear" : methods[k]));
        cloth.tear = 0.0;
        assert_true(k < 3 || weft_sim_add_cloth(sim, &cloth, &id, &error) == WEFT_OK);
        weft_sim_destroy(sim);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rolled_sheets_have_their_energy), cmocka_unit_test(jittered_strips_sink_as_they_should),
        cmocka_unit_test(force_is_the_gradient),           cmocka_unit_test(bits_do_not_depend_on_threads),
        cmocka_unit_test(what_it_cannot_do_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
