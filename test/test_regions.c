// Materials by region: every model makes of a sheet whose faces all name one material what it makes of a sheet of that
// material; halves have the masses and energies of their own; what is selected is what was meant; wrong ones are
// refused with what to do; a run's own scene.json says the same.
#include "common.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common_scene.h"
#include "core/core.h"
#include "sim/sim.h"
#include "weft/scene.h"

#define SHEET(cells, tessellation, model, more)                                                                        \
    "{\"model\": \"" model "\", \"cloth\": [{\"name\": \"a\", \"mesh\": {\"grid\": {\"size\": 1, \"cells\": " #cells   \
    ", \"tessellation\": \"" tessellation "\"}}, " more "}]}"
#define ALL "\"box\": {\"min\": [-9, -9, -9], \"max\": [9, 9, 9]}"
#define HALF "\"box\": {\"min\": [-9, -9, -9], \"max\": [0.001, 9, 9]}"

static weft_sim* built(const char* text)
{
    weft_sim* sim = scene_sim_text(text, 1);
    assert_int_equal(sim_build(sim, NULL), WEFT_OK);
    return sim;
}

static void assert_near(const double* a, const double* b, size_t count)
{
    for (size_t k = 0; k < count; k++)
    {
        assert_true(fabs(a[k] - b[k]) <= 1e-12 * fabs(b[k]));
    }
}

// Elements and masses of the first are those of the second, up to what means of equal numbers round.
static void assert_same(const char* first, const char* second)
{
    weft_sim *a = built(first), *b = built(second);
    assert_int_equal(a->model.groups.count, b->model.groups.count);
    assert_near(a->model.mass, b->model.mass, (size_t)a->model.vertex_count);
    for (int g = 0; g < a->model.groups.count; g++)
    {
        const element_group *x = &a->model.groups.list[g], *y = &b->model.groups.list[g];
        assert_true(x->kind == y->kind && x->count == y->count);
        assert_near(x->rest, y->rest, (size_t)x->count * (size_t)x->kind->rest_stride);
    }
    weft_sim_destroy(a);
    weft_sim_destroy(b);
}

#define CASE(tessellation, model)                                                                                      \
    {                                                                                                                  \
        SHEET(6, tessellation, model,                                                                                  \
              "\"material\": \"silk\", \"regions\": [{\"where\": {" ALL "}, \"material\": \"denim\"}]"),               \
            SHEET(6, tessellation, model, "\"material\": \"denim\"")                                                   \
    }

static void one_region_is_one_material(void** state)
{
    (void)state;
    static const char* const cases[][2] = {
        CASE("regular", "baraff-witkin"), CASE("irregular", "baraff-witkin"), CASE("regular", "hooke"),
        CASE("irregular", "hooke"),       CASE("regular", "choi-ko"),         CASE("irregular", "choi-ko"),
        CASE("regular", "corotated"),     CASE("irregular", "corotated"),
    };
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++)
    {
        assert_same(cases[k][0], cases[k][1]);
    }
}

// Stretched by the same strain everywhere, with energies and masses of two halves.
static void halves_have_their_own(void** state)
{
    (void)state;
    static const char* const models[] = {
        SHEET(8, "irregular", "baraff-witkin",
              "\"material\": {\"density\": 0.2, \"stretch_warp\": 100}, \"regions\": "
              "[{\"where\": {" HALF "}, \"material\": {\"density\": 0.6, "
              "\"stretch_warp\": 300}}]"),
        SHEET(8, "irregular", "choi-ko",
              "\"material\": {\"density\": 0.2, \"stretch_warp\": 100}, \"regions\": "
              "[{\"where\": {" HALF "}, \"material\": {\"density\": 0.6, "
              "\"stretch_warp\": 300}}]"),
    };
    for (int m = 0; m < 2; m++)
    {
        weft_sim* sim = built(models[m]);
        const body* b = &sim->bodies[0];
        double share = 0.0; // of the area: faces across the middle belong to no half
        for (int t = 0; t < b->rest.triangle_count; t++)
        {
            share += b->triangle_region[t] >= 0 ? body_rest_area(b, t) : 0.0;
        }
        assert_true(share > 0.35 && share < 0.55);
        assert_true(fabs(sim->model.total_mass - (0.2 + 0.4 * share)) < 1e-9);
        vec3 x[81];
        for (int i = 0; i < 81; i++)
        {
            x[i] = v3(1.01 * b->rest.position[i].x, b->rest.position[i].y, b->rest.position[i].z);
        }
        assert_int_equal(weft_sim_set_state(sim, 0, x, NULL), WEFT_OK);
        double wanted = 0.5 * 1e-4 * (100 + 200 * share);
        assert_true(fabs(weft_sim_energy(sim).stretch / wanted - 1) < 1e-6);
        weft_sim_destroy(sim);
    }
}

// Objects of a file, numbers, and the last that names a face.
static void faces_are_those_meant(void** state)
{
    (void)state;
    static const char obj[] =
        "v 0 0 0\nv 1 0 0\nv 1 0 1\nv 0 0 1\nv 2 0 0\nv 2 0 1\no left\nf 1 4 3\nf 1 3 2\no right\nf "
        "2 3 6\nf 2 6 5\n";
    scene_write_bytes(scene_path("two.obj"), obj, sizeof(obj) - 1);
    static const char text[] =
        "{\"cloth\": [{\"name\": \"a\", \"mesh\": {\"obj\": \"two.obj\"}, \"regions\": [{\"object\": \"right\", "
        "\"material\": \"denim\"}, {\"faces\": [3], \"material\": {\"density\": 2}}]}]}";
    weft_scene* scene = scene_load_text(text, NULL, 0);
    weft_sim* sim = NULL;
    assert_int_equal(weft_scene_create_sim(scene, 1, &sim, NULL), WEFT_OK);
    static const int wanted[] = {-1, -1, 0, 1};
    assert_memory_equal(sim->bodies[0].triangle_region, wanted, sizeof(wanted));
    weft_material denim, cotton;
    assert_int_equal(weft_material_find("denim", &denim, NULL), WEFT_OK);
    assert_int_equal(weft_material_find("cotton", &cotton, NULL), WEFT_OK);
    assert_memory_equal(body_material(&sim->bodies[0], 2), &denim, sizeof(denim));
    cotton.density = 2;
    assert_memory_equal(body_material(&sim->bodies[0], 3), &cotton, sizeof(cotton)); // the rest is the cloth's
    // An edit of the material is of what no region names.
    assert_int_equal(weft_sim_set_material(sim, 0, &denim, NULL), WEFT_OK);
    assert_memory_equal(body_material(&sim->bodies[0], 0), &denim, sizeof(denim));
    assert_true(body_material(&sim->bodies[0], 3)->density == 2);
    weft_sim_destroy(sim);
    weft_scene_destroy(scene);
}

static void wrong_ones_are_refused(void** state)
{
    (void)state;
    scene_refused(
        SHEET(4, "regular", "hooke", "\"regions\": [{\"where\": {\"edge\": \"top\"}, \"material\": \"silk\"}]"),
        "select more of them");
    scene_refused(SHEET(4, "regular", "hooke", "\"regions\": [{\"material\": \"silk\"}]"), "a region needs");
    scene_refused(SHEET(4, "regular", "hooke", "\"regions\": [{\"faces\": [32], \"material\": \"silk\"}]"), "31");
    scene_refused(SHEET(4, "regular", "hooke", "\"regions\": [{\"object\": \"x\", \"material\": \"silk\"}]"),
                  "no objects");
    scene_refused(SHEET(4, "regular", "hooke", "\"regions\": [{\"faces\": [1], \"material\": \"silky\"}]"), "silk");
    scene_refused("{\"strands\": [{\"mesh\": {\"brush\": {}}, \"regions\": []}]}", "only sheets");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_region_is_one_material),
        cmocka_unit_test(halves_have_their_own),
        cmocka_unit_test(faces_are_those_meant),
        cmocka_unit_test(wrong_ones_are_refused),
    };
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
