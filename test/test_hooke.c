// The model `hooke` on irregular triangles, where springs follow crooked edges: strains that are imposed cost what the
// material says, warp and weft within 2 %; why shear and a sheet that hangs do not. docs/springs.md has the figures.
#include "common.h"
#include <math.h>
#include <stdlib.h>

#include "common_sim.h"
#include "sim/sim.h"

static const int cells[] = {10, 20, 40, 80};

static grid_options grid_of(int count)
{
    return (grid_options){
        .size_u = 1, .size_v = 1, .cells_u = count, .cells_v = count, .upright = true, .irregular = true, .seed = 9};
}

// Energy of x = (1 + e_u) u + g v, y = (1 + e_v) v over that of the material.
static double imposed_ratio(int count, double e_u, double e_v, double g, double wanted)
{
    grid_options grid = grid_of(count);
    weft_sim_def def = weft_sim_def_default();
    weft_cloth_def cloth = weft_cloth_def_default();
    cloth.model = "hooke";
    cloth.material.bending = 0;
    mesh m = {0};
    weft_sim* sim = test_grid_sim(&def, &grid, &cloth, &m);
    weft_vec3* x = calloc((size_t)m.vertex_count, sizeof(vec3));
    for (int i = 0; i < m.vertex_count; i++)
    {
        vec3 p = m.position[i];
        x[i] = v3((1 + e_u) * p.x + g * p.y, (1 + e_v) * p.y, 0);
    }
    assert_int_equal(weft_sim_set_state(sim, 0, x, NULL), WEFT_OK);
    weft_energy e = weft_sim_energy(sim);
    free(x);
    mesh_finish(&m);
    weft_sim_destroy(sim);
    return (e.stretch + e.shear) / (0.5 * wanted * 1e-8);
}

static void test_imposed(void** unused)
{
    (void)unused;
    for (int k = 0; k < 4; k++)
    {
        double warp = imposed_ratio(cells[k], 1e-4, 0, 0, 5000), weft = imposed_ratio(cells[k], 0, 1e-4, 0, 5000);
        double shear = imposed_ratio(cells[k], 0, 0, 1e-4, 500), both = imposed_ratio(cells[k], 1e-4, -1e-4, 0, 10000);
        print_message("hooke, irregular, %d cells, imposed: warp %.4f, weft %.4f, shear %.4f of the material; stretch "
                      "one way and as much less the other %.4f\n",
                      cells[k], warp, weft, shear, both);
        assert_true(fabs(warp - 1) < 0.02 && fabs(weft - 1) < 0.02);
        assert_true(both < 1.0); // springs couple the two by their shear: Cauchy's relation
    }
}

// The least shear that springs along the sides of a triangle can have which pull along warp and weft as they should,
// over that stretch: two of the three springs, none of which pushes when it is pulled. INFINITY: there are none.
static double least_shear(const vec2* x)
{
    double rows[3][3], least = INFINITY;
    for (int e = 0; e < 3; e++)
    {
        double u = x[(e + 1) % 3].x - x[e].x, v = x[(e + 1) % 3].y - x[e].y, l2 = u * u + v * v;
        rows[e][0] = u * u * u * u / l2;
        rows[e][1] = v * v * v * v / l2;
        rows[e][2] = u * u * v * v / l2;
    }
    for (int e = 0; e < 3; e++)
    {
        const double *a = rows[e], *b = rows[(e + 1) % 3];
        double det = a[0] * b[1] - a[1] * b[0], ka = (b[1] - b[0]) / det, kb = (a[0] - a[1]) / det;
        least = ka >= 0.0 && kb >= 0.0 ? fmin(least, ka * a[2] + kb * b[2]) : least;
    }
    return least;
}

static void test_least_shear(void** unused)
{
    (void)unused;
    for (int k = 0; k < 4; k++)
    {
        grid_options grid = grid_of(cells[k]);
        mesh m = {0};
        assert_int_equal(mesh_from_grid(&grid, &m, NULL), WEFT_OK);
        assert_int_equal(mesh_triangulate(&m, NULL), WEFT_OK);
        int above = 0;
        double sum = 0.0;
        for (int t = 0; t < m.triangle_count; t++)
        {
            vec2 x[3];
            for (int a = 0; a < 3; a++)
            {
                vec3 p = m.position[m.triangle[3 * t + a]];
                x[a] = (vec2){p.x, p.y};
            }
            double least = least_shear(x);
            assert_true(isfinite(least));
            above += least > 0.1; // cotton's
            sum += least / m.triangle_count;
        }
        print_message("hooke, irregular, %d cells: %.2f of the triangles shear harder than a tenth of their stretch "
                      "whatever their springs; the least of all together %.3f\n",
                      cells[k], (double)above / m.triangle_count, sum);
        assert_true(above > 0.2 * m.triangle_count);
        mesh_finish(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_imposed),
        cmocka_unit_test(test_least_shear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
