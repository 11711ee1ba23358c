// Strands: masses, the springs that EA and EI become, a cantilever and a weight on a cord, the brush that is made here,
// radii that touch, keys of scene files, and the command.
#include "common.h"

#include <stdlib.h>
#include <string.h>

#include "common_command.h"
#include "common_run.h"
#include "common_scene.h"
#include "material/spring.h"
#include "sim/sim.h"
#include "weft/cache.h"

static weft_sim* sim_of(const char* text)
{
    weft_sim* sim = scene_sim_text(text, 1);
    assert_int_equal(sim_build(sim, NULL), WEFT_OK);
    return sim;
}

static void take_steps(weft_sim* sim, int count)
{
    weft_error error = {0};
    for (int k = 0; k < count; k++)
    {
        if (weft_sim_step(sim, NULL, &error) != WEFT_OK)
        {
            fail_msg("%s", error.message);
        }
    }
}

// 3 x 2 strands of 5 vertices, 0.4 m long.
#define BRUSH                                                                                                          \
    "\"strands\": [{\"name\": \"hair\", \"mesh\": {\"brush\": {\"size\": [0.2, 0.1], \"count\": [3, 2], "              \
    "\"vertices\": 5, \"length\": 0.4}}"

static void test_springs(void** unused)
{
    (void)unused;
    weft_sim* sim = sim_of("{" BRUSH ", \"material\": {\"density\": 0.02, \"stretch\": 30, \"bending\": 1e-4}}]}");
    const mesh* m = &sim->bodies[0].rest;
    assert_int_equal(m->vertex_count, 30);
    assert_int_equal(m->face_count, 6);
    assert_true(fabs(sim->model.total_mass - 6 * 0.4 * 0.02) < 1e-15);
    const element_group* springs = element_groups_find(&sim->model.groups, &kind_spring);
    assert_int_equal(springs->count, 6 * (4 + 3));
    for (int e = 0; e < springs->count; e++)
    {
        const double* rest = springs->rest + SPRING_STRIDE * e;
        // EA / L; 64 EI / L^3 over two segments of length L.
        bool bend = rest[SPRING_ROLE] == SPRING_BEND;
        assert_true(fabs(rest[SPRING_LENGTH] - (bend ? 0.2 : 0.1)) < 1e-12);
        assert_true(fabs(rest[SPRING_STIFFNESS] / (bend ? 6.4 : 300.0) - 1.0) < 1e-9);
    }
    weft_sim_destroy(sim);
}

// Folded by half a radian at every vertex, the springs hold what a rod with EI of that curvature does; a strand that
// is bent at rest is at rest, and half a radian more costs as much.
static void test_bending(void** unused)
{
    (void)unused;
    const double s = 0.1, rigidity = 1e-4;
    for (int bent = 0; bent < 2; bent++)
    {
        double folds[2] = {0.3 * bent, 0.3 * bent + 0.5}, length[2];
        for (int k = 0; k < 2; k++)
        {
            length[k] = 2.0 * s * cos(0.5 * folds[k]);
        }
        double k = spring_bending(rigidity, s, s, folds[0]);
        double energy = 0.5 * k * (length[1] - length[0]) * (length[1] - length[0]);
        double rod = 0.5 * rigidity * s * (0.5 / s) * (0.5 / s);
        assert_true(fabs(energy / rod - 1.0) < 0.05); // cos has more than its second order
    }
}

// A cord of four segments with weights: EA gives the length.
static void test_stretch(void** unused)
{
    (void)unused;
    weft_sim* sim =
        sim_of("{\"time_step\": 0.01, \"gravity\": [0, -10, 0], \"solver\": \"cholesky\", \"strands\": "
               "[{\"mesh\": {\"brush\": {\"count\": [1, 1], \"vertices\": 5, \"length\": 0.4}}, \"vertex_mass\": 0.1, "
               "\"material\": {\"stretch\": 40, \"bending\": 0, \"damping\": 0.05}, \"pins\": [{\"where\": "
               "{\"vertices\": [0]}}]}]}");
    take_steps(sim, 400);
    vec3 x[5];
    weft_sim_positions(sim, 0, x);
    // Segments carry 4, 3, 2 and 1 N: longer by a tenth of 0.1 m for each 4 N.
    assert_true(fabs(x[4].y + 0.4 + 0.1 * (4 + 3 + 2 + 1) / 40.0) < 1e-5);
    weft_sim_destroy(sim);
}

// Two strands cross and are drawn together: they stay two radii apart, with every method.
static void test_radius(void** unused)
{
    (void)unused;
    static const char* const methods[] = {"implicit-euler", "local-global"};
    for (int k = 0; k < 2; k++)
    {
        char text[1000];
        snprintf(text, sizeof(text),
                 "{\"time_step\": 0.01, \"method\": \"%s\", \"strands\": [{\"name\": \"low\", \"mesh\": {\"brush\": "
                 "{\"count\": [1, 1], \"vertices\": 2, \"length\": 0.4}}, \"transform\": {\"rotate\": [0, 0, 90], "
                 "\"translate\": [-0.2, 0, 0]}, \"radius\": 0.004, \"pins\": [{\"where\": {\"edge\": \"all\"}}]}, "
                 "{\"name\": \"high\", \"mesh\": {\"brush\": {\"count\": [1, 1], \"vertices\": 9, \"length\": 0.4}}, "
                 "\"transform\": {\"rotate\": [90, 0, 0], \"translate\": [0.013, 0.02, 0.2]}, \"radius\": 0.002, "
                 "\"material\": {\"density\": 0.05}}]}",
                 methods[k]);
        weft_sim* sim = sim_of(text);
        take_steps(sim, 50);
        vec3 x[9];
        weft_sim_positions(sim, 1, x);
        assert_true(x[4].y > 0.9 * 0.006 && x[4].y < 0.0075); // the strand's middle lies on the other
        assert_true(x[0].y < x[4].y && x[8].y < x[4].y);
        weft_sim_destroy(sim);
    }
}

static void test_refused(void** unused)
{
    (void)unused;
    scene_refused("{" BRUSH ", \"material\": {\"shear\": 1}}]}",
                  "strands have no `shear`; their material has density (kg/m)");
    scene_refused("{" BRUSH ", \"material\": \"denim\"}]}", "fabrics are for cloth");
    scene_refused("{" BRUSH ", \"material\": {\"density\": 0}}]}", "density");
    scene_refused("{" BRUSH ", \"thickness\": 0.01}]}", "strands have a \"radius\" instead");
    scene_refused("{" BRUSH ", \"radius\": 0}]}", "radius");
    scene_refused("{" BRUSH ", \"warp\": [1, 0, 0]}]}", "only sheets have this key");
    scene_refused("{\"cloth\": [{\"mesh\": {\"grid\": {}}, \"radius\": 0.1}]}", "only strands have a radius");
    scene_refused("{\"strands\": [{\"mesh\": {\"grid\": {}}}]}", "strands are lines: their mesh is {\"brush\"");
    scene_refused("{\"cloth\": [{\"mesh\": {\"brush\": {}}}]}", "cloth is made of sheets");
    scene_refused("{\"strands\": [{\"mesh\": {\"brush\": {\"vertices\": 1}}}]}", "vertices");
    scene_refused("{\"strands\": [{\"mesh\": {\"brush\": {\"count\": 3}}}]}", "a list of 2 numbers");
    scene_refused("{\"strands\": [{\"mesh\": {}}]}", "exactly one of obj, brush here, found 0");
    scene_write_bytes(scene_path("one.obj"), "v 0 0 0\nv 0 1 0\nl 1 2\nl 1\n", 27);
    scene_refused("{\"strands\": [{\"mesh\": {\"obj\": \"one.obj\"}}]}", "a line needs at least two");
}

static bool has_bytes(const char* file, size_t size, const void* bytes, size_t count)
{
    bool found = false;
    for (size_t at = 0; at + count <= size && !found; at++)
    {
        found = memcmp(file + at, bytes, count) == 0;
    }
    return found;
}

// Every format takes lines. Alembic's are linear curves: how many points each has, and all points of the last frame
// one behind the other.
static void check_exports(void)
{
    static const char* const formats[] = {"pc2", "mdd", "obj", "ply", "vtp", "gltf", "usda", "abc", "usdc", "usdz"};
    for (size_t k = 0; k < sizeof(formats) / sizeof(formats[0]); k++)
    {
        char words[60];
        snprintf(words, sizeof(words), "export whole --to %s", formats[k]);
        command_succeeds(WEFT_COMMAND, words);
    }
    size_t size;
    char* file = test_file_read(scene_path("whole.abc"), &size);
    static const char title[] = "schema=AbcGeom_Curve_v2;schemaBaseType=AbcGeom_GeomBase_v1;schemaObjTitle=";
    static const char basis[] = {1, 0, 0, 0};
    const int counts[6] = {5, 5, 5, 5, 5, 5};
    assert_true(has_bytes(file, size, title, strlen(title)) && has_bytes(file, size, "nVertices", 9));
    assert_true(has_bytes(file, size, counts, sizeof(counts)) && has_bytes(file, size, basis, sizeof(basis)));
    weft_cache* cache = NULL;
    vec3 x[30];
    float points[90];
    assert_int_equal(weft_cache_open(scene_path("whole"), &cache, NULL), WEFT_OK);
    assert_int_equal(weft_cache_read_frame(cache, 0, 4, x, NULL), WEFT_OK);
    weft_cache_close(cache);
    for (int k = 0; k < 90; k++)
    {
        points[k] = (float)(&x[k / 3].x)[k % 3];
    }
    assert_true(has_bytes(file, size, points, sizeof(points)));
    free(file);
}

static void test_command(void** unused)
{
    (void)unused;
    static const char text[] =
        "{\"time_step\": 0.01, \"steps_per_frame\": 2, \"frames\": 4, \"method\": \"local-global\", " BRUSH
        ", \"radius\": 0.003, \"pins\": [{\"where\": {\"box\": {\"min\": [-1, -0.05, -1], \"max\": [1, 1, 1]}}, "
        "\"path\": [{\"time\": 0}, {\"time\": 1, \"offset\": [1, 0, 0]}]}]}]}";
    scene_write_bytes(scene_path("hair.json"), text, strlen(text));
    command_succeeds(WEFT_COMMAND, "check hair.json");
    assert_file_has("output", "strands hair (brush): vertices 30, lines 6, segments 24");
    assert_file_has("output", "hooke: density 0.005 kg/m, stretch 500 N, bending 1e-05 N m^2, damping 0.001 s");
    assert_file_has("output", "radius 0.003 m");
    command_succeeds(WEFT_COMMAND, "check hair.json --json");
    assert_file_has("output", "\"material\":{\"density\":0.0050000000000000001,\"stretch\":500,");
    command_succeeds(WEFT_COMMAND, "run hair.json -o whole");
    command_succeeds(WEFT_COMMAND, "run hair.json -o parts --frames 2");
    command_succeeds(WEFT_COMMAND, "run hair.json -o parts --resume --threads 3");
    command_succeeds(WEFT_COMMAND, "run whole/scene.json -o again");
    assert_same_file("whole", "parts", "hair.pc2");
    assert_same_file("whole", "again", "hair.pc2");
    assert_file_has("whole/hair.obj", "\nl 1 2 3 4 5\nl 6 7 8 9 10\n");
    command_succeeds(WEFT_COMMAND, "inspect whole");
    assert_file_has("output", "hair (lines, 24 segments)");
    command_succeeds(WEFT_COMMAND, "view whole -o page.html");
    check_exports();
    weft_cache* cache = NULL; // what pictures draw has the radius, too
    assert_int_equal(weft_cache_open(scene_path("whole"), &cache, NULL), WEFT_OK);
    assert_true(fabs(weft_cache_body_at(cache, 0)->thickness - 0.006) < 1e-15);
    weft_cache_close(cache);
    command_succeeds(WEFT_COMMAND, "list bodies");
    assert_file_has("output", "strands\tpolylines: hair, bristles, cords\nvolumes\tsolids of tetrahedra\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_springs), cmocka_unit_test(test_bending), cmocka_unit_test(test_stretch),
        cmocka_unit_test(test_radius),  cmocka_unit_test(test_refused), cmocka_unit_test(test_command),
    };
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
