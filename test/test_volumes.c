// Volumes: masses, the lattices that are made here, Young's modulus of the springs under a homogeneous strain, a block
// that hangs, keys of scene files, and the command.
#include "common.h"

#include <string.h>

#include "common_command.h"
#include "common_scene.h"
#include "material/spring.h"
#include "sim/sim.h"

static weft_sim* sim_of(const char* text)
{
    weft_sim* sim = scene_sim_text(text, 1);
    assert_int_equal(sim_build(sim, NULL), WEFT_OK);
    return sim;
}

static weft_sim* solid(const char* shape)
{
    char text[400];
    snprintf(text, sizeof(text),
             "{\"volumes\": [{\"name\": \"block\", \"mesh\": {\"solid\": %s}, \"material\": {\"density\": 500, "
             "\"young_modulus\": 1e4}}]}",
             shape);
    return sim_of(text);
}

static const element_group* springs_of(const weft_sim* sim)
{
    return element_groups_find(&sim->model.groups, &kind_spring);
}

// The energy of springs, over the volume, to second order in a strain along the axes and a shear of x and y.
static double energy_density(const weft_sim* sim, const double strain[4], double volume)
{
    const element_group* g = springs_of(sim);
    double sum = 0.0;
    for (int e = 0; e < g->count; e++)
    {
        const vec3* x = sim->world.state.x;
        vec3 d = v3_sub(x[g->vertices[2 * e + 1]], x[g->vertices[2 * e]]);
        double l = v3_length(d);
        double longer =
            (strain[0] * d.x * d.x + strain[1] * d.y * d.y + strain[2] * d.z * d.z + strain[3] * d.x * d.y) / l;
        sum += 0.5 * g->rest[SPRING_STRIDE * e + SPRING_STIFFNESS] * longer * longer;
    }
    return sum / volume;
}

// Tension along an axis with the sides free: the least energy over both strains across, by Newton on a quadratic.
static double young(const weft_sim* sim, int axis, double volume)
{
    int b = (axis + 1) % 3, c = (axis + 2) % 3;
    double w[3][3];
    for (int i = 0; i < 3; i++)
    {
        for (int j = 0; j < 3; j++)
        {
            double strain[4] = {0}, other[4] = {0}, both[4] = {0};
            strain[i] += 1.0;
            other[j] += 1.0;
            both[i] += 1.0;
            both[j] += 1.0;
            w[i][j] = energy_density(sim, both, volume) - energy_density(sim, strain, volume) -
                      energy_density(sim, other, volume);
        }
    }
    double det = w[b][b] * w[c][c] - w[b][c] * w[b][c];
    double eb = (w[b][c] * w[axis][c] - w[c][c] * w[axis][b]) / det;
    double ec = (w[b][c] * w[axis][b] - w[b][b] * w[axis][c]) / det;
    return w[axis][axis] + eb * w[axis][b] + ec * w[axis][c];
}

static void test_young_modulus(void** unused)
{
    (void)unused;
    static const char* const shapes[] = {
        "{\"box\": {\"size\": [0.4, 0.4, 0.2], \"cells\": [8, 8, 4]}}",
        "{\"box\": {\"size\": [0.3, 0.3, 0.3], \"cells\": 5}}",
        "{\"bar\": {\"size\": [1, 0.1], \"cells\": [20, 2]}}",
        "{\"ball\": {\"radius\": 0.2, \"cells\": 6}}",
    };
    static const double rough[] = {0.05, 0.05, 0.05, 0.16};
    for (int k = 0; k < 4; k++)
    {
        weft_sim* sim = solid(shapes[k]);
        double volume = sim->model.total_mass / 500.0;
        for (int axis = 0; axis < 3; axis++)
        {
            double found = young(sim, axis, volume) / 1e4;
            print_message("%s axis %d: %.4f of Young's modulus\n", shapes[k], axis, found);
            assert_true(fabs(found - 1.0) < rough[k]);
        }
        double shear = energy_density(sim, (const double[]){0, 0, 0, 1.0}, volume) / (0.5 * 0.4 * 1e4);
        print_message("    %.4f of the shear modulus\n", shear);
        assert_true(fabs(shear - 1.0) < rough[k]);
        weft_sim_destroy(sim);
    }
}

// As it hangs from its top a block grows by rho g h^2 / (2 E).
static void test_hanging(void** unused)
{
    (void)unused;
    weft_sim* sim = sim_of(
        "{\"time_step\": 0.05, \"solver\": \"cholesky\", \"volumes\": [{\"mesh\": {\"solid\": {\"box\": {\"size\": "
        "[0.1, 0.4, 0.1], \"cells\": [2, 8, 2]}}}, \"material\": {\"density\": 1000, "
        "\"young_modulus\": 1e5, \"damping\": 0.02}, \"pins\": [{\"where\": {\"box\": {\"min\": [-1, "
        "0.2, -1], \"max\": [1, 1, 1]}}, \"fix\": {\"plane\": [0, 1, 0]}}, {\"where\": {\"nearest\": "
        "[0, 0.2, 0]}}]}]}");
    for (int k = 0; k < 200; k++)
    {
        assert_int_equal(weft_sim_step(sim, NULL, NULL), WEFT_OK);
    }
    vec3 x[81];
    weft_sim_positions(sim, 0, x);
    double longer = 0.0;
    for (int i = 0; i < 81; i++)
    {
        longer = fmax(longer, -0.2 - x[i].y);
    }
    print_message("longer by %.5f m\n", longer);
    assert_true(fabs(longer / (1000 * 9.81 * 0.16 / 2e5) - 1.0) < 0.08);
    weft_sim_destroy(sim);
}

// The bar of 580 x 7 x 7 vertices has one spring an edge: 146,607.
static void test_counts(void** unused)
{
    (void)unused;
    weft_sim* sim = solid("{\"bar\": {\"size\": [5.79, 0.06], \"cells\": [579, 6]}}");
    assert_int_equal(sim->bodies[0].rest.vertex_count, 28420);
    assert_int_equal(springs_of(sim)->count, 146607);
    assert_true(fabs(sim->model.total_mass / (500 * 5.79 * 0.06 * 0.06) - 1.0) < 1e-9);
    weft_sim_destroy(sim);
    sim = solid("{\"ball\": {\"radius\": 0.5, \"cells\": 4}}");
    const mesh* m = &sim->bodies[0].rest;
    assert_int_equal(m->vertex_count, 129);
    assert_int_equal(m->tetrahedron_count, 512);
    assert_int_equal(m->triangle_count, 128);
    for (int k = 0; k < 3 * m->triangle_count; k++)
    {
        assert_true(fabs(v3_length(m->position[m->triangle[k]]) - 0.5) < 1e-12);
    }
    double volume = sim->model.total_mass / 500.0;
    assert_true(volume > 0.9 * 4.0 / 3.0 * PI * 0.125 && volume < 4.0 / 3.0 * PI * 0.125);
    mesh_defects defects;
    assert_int_equal(mesh_find_defects(m, &defects), WEFT_OK);
    assert_true(defects_are_closed(&defects));
    weft_sim_destroy(sim);
}

static void test_refused(void** unused)
{
    (void)unused;
#define BOX "{\"volumes\": [{\"mesh\": {\"solid\": {\"box\": {\"size\": 0.1, \"cells\": 2}}}"
    scene_refused(BOX ", \"material\": {\"bending\": 1}}]}", "volumes have no `bending`");
    scene_refused(BOX ", \"material\": {\"density\": 0}}]}", "density");
    scene_refused(BOX ", \"radius\": 1}]}", "only strands have a radius");
    scene_refused(BOX ", \"rest\": \"uv\"}]}", "only sheets have this key");
    scene_refused("{\"volumes\": [{\"mesh\": {\"solid\": {}}}]}", "exactly one of box, bar, ball");
    scene_refused("{\"volumes\": [{\"mesh\": {\"solid\": {\"bar\": {}}}}]}", "a bar needs a \"size\"");
    scene_refused("{\"volumes\": [{\"mesh\": {\"solid\": {\"ball\": {}}}}]}", "a ball needs a \"radius\"");
    scene_refused("{\"volumes\": [{\"mesh\": {\"solid\": {\"ball\": {\"radius\": 1, \"cells\": 5000}}}}]}",
                  "vertices; at most");
    scene_refused("{\"volumes\": [{\"mesh\": {\"solid\": {\"box\": {\"size\": 1, \"cells\": [9, 9]}}}}]}",
                  "a list of 3");
    scene_refused("{\"volumes\": [{\"mesh\": {\"solid\": {\"box\": {\"size\": 1}}, \"scale\": 2}}]}",
                  "only meshes from");
    scene_refused("{\"volumes\": [{\"mesh\": {\"grid\": {}}}]}", "volumes are solids: their mesh is {\"solid\"");
    scene_refused("{\"obstacles\": [{\"mesh\": {\"solid\": {}}}], \"cloth\": [{\"mesh\": {\"grid\": {}}}]}",
                  "OBJ file");
    scene_refused(BOX ", \"model\": \"nothing\"}]}", "hooke");
}

static void test_command(void** unused)
{
    (void)unused;
    static const char text[] =
        "{\"time_step\": 0.01, \"steps_per_frame\": 4, \"frames\": 6, \"method\": \"local-global\", \"volumes\": "
        "[{\"name\": \"foam\", \"mesh\": {\"solid\": {\"ball\": {\"radius\": 0.05, \"cells\": 3}}}, \"transform\": "
        "{\"translate\": [0, 0.1, 0]}}], \"obstacles\": [{\"shape\": {\"plane\": {\"size\": 1}}}]}";
    scene_write_bytes(scene_path("foam.json"), text, strlen(text));
    command_succeeds(WEFT_COMMAND, "check foam.json");
    assert_file_has("output", "volumes foam (ball): vertices 63, faces 72, triangles 72");
    assert_file_has("output", "the surface of 216 tetrahedra");
    assert_file_has("output", "hooke: density 30 kg/m^3, young_modulus 50000 Pa, damping 0.005 s");
    command_succeeds(WEFT_COMMAND, "run foam.json -o whole");
    command_succeeds(WEFT_COMMAND, "run foam.json -o parts --frames 2");
    command_succeeds(WEFT_COMMAND, "run foam.json -o parts --resume --threads 3");
    command_succeeds(WEFT_COMMAND, "run whole/scene.json -o again");
    assert_same_file("whole", "parts", "foam.pc2");
    assert_same_file("whole", "again", "foam.pc2");
    assert_file_has("whole/foam.ele", "216 4 0\n");
    command_succeeds(WEFT_COMMAND, "inspect whole");
    assert_file_has("output", "foam (solid, 72 triangles)");
    assert_file_has("output", "clean: no crossing in 7 frames");
    command_succeeds(WEFT_COMMAND, "export whole --to gltf -o foam.glb");
    command_succeeds(WEFT_COMMAND, "view whole -o page.html");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_young_modulus), cmocka_unit_test(test_hanging), cmocka_unit_test(test_counts),
        cmocka_unit_test(test_refused),       cmocka_unit_test(test_command),
    };
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
