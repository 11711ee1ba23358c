// Sheets as they are measured: bending by warp, weft and bias, bending that changes at a curvature, stretch with a knee. Closed
// forms of plates and strips; what numbers cannot be; which models take what.
#include "common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common_scene.h"
#include "common_sim.h"
#include "material/material.h"
#include "sim/sim.h"

static const double plenty = 1e-2; // N m: a strip of a metre that hardly sinks

// ---- rolled sheets: what a plate stores

// Bending energy of a square metre rolled to radius 1 about an axis at `degrees` to warp.
static double rolled_energy(const weft_material* material, const char* bending, bool irregular, double degrees)
{
    weft_sim_def def = weft_sim_def_default();
    grid_options grid = {.size_u = 1, .size_v = 1, .cells_u = 60, .cells_v = 60, .irregular = irregular, .seed = 5};
    weft_cloth_def cloth = weft_cloth_def_default();
    cloth.material = *material;
    cloth.bending = bending;
    mesh m = {0};
    weft_sim* sim = test_grid_sim(&def, &grid, &cloth, &m);
    double c = cos(degrees * PI / 180), s = sin(degrees * PI / 180);
    weft_vec3* x = calloc((size_t)m.vertex_count, sizeof(vec3));
    for (int i = 0; i < m.vertex_count; i++)
    {
        double a = c * m.position[i].x + s * m.position[i].z, b = -s * m.position[i].x + c * m.position[i].z;
        x[i] = v3(c * a - s * sin(b), 1 - cos(b), s * a + c * sin(b));
    }
    assert_int_equal(weft_sim_set_state(sim, 0, x, NULL), WEFT_OK);
    double energy = weft_sim_energy(sim).bend;
    free(x);
    mesh_finish(&m);
    weft_sim_destroy(sim);
    return energy;
}

static weft_material woven(double warp, double weft, double bias)
{
    weft_material m = weft_cloth_def_default().material;
    m.bending = warp;
    m.bending_weft = weft;
    m.bending_bias = bias;
    return m;
}

// D11 p^4 + 4 D66 p^2 q^2 + D22 q^4 along (p, q), with 1 / D66 = 4 / bias - 1 / warp - 1 / weft.
static void rolled_sheets_have_the_plate(void** state)
{
    (void)state;
    weft_material m = woven(1.0, 0.25, 0.3);
    double D66 = 1.0 / (4.0 / 0.3 - 1.0 - 4.0), worst[2][2] = {{0}};
    for (double degrees = 0; degrees < 180; degrees += 22.5)
    {
        double p = sin(degrees * PI / 180), q = cos(degrees * PI / 180);
        double plate = pow(p, 4) + 4 * D66 * p * p * q * q + 0.25 * pow(q, 4);
        assert_true(fabs(bending_along(&m, p, q) / plate - 1.0) < 1e-12);
        for (int k = 0; k < 4; k++)
        {
            double own = rolled_energy(&m, k / 2 ? "exact" : "curvature", k % 2, degrees);
            worst[k / 2][k % 2] = fmax(worst[k / 2][k % 2], fabs(own / (0.5 * plate) - 1.0));
        }
    }
    print_message("rolled, 60 cells, any direction: curvature %.2f %%, irregular %.2f %%; exact %.2f %%, irregular %.2f %%\n",
                  100 * worst[0][0], 100 * worst[0][1], 100 * worst[1][0], 100 * worst[1][1]);
    assert_true(worst[0][0] < 0.002 && worst[0][1] < 0.07);
    assert_true(worst[1][0] < 0.03 && worst[1][1] < 0.03);
}

// One number, or the same one three times: the same bits.
static void one_number_is_all_three(void** state)
{
    (void)state;
    weft_material one = woven(1e-5, 0, 0), three = woven(1e-5, 1e-5, 1e-5);
    const char* const forms[] = {"curvature", "exact", "hinge"};
    for (int k = 0; k < 3; k++)
    {
        assert_true(rolled_energy(&one, forms[k], true, 30) == rolled_energy(&three, forms[k], true, 30));
    }
}

// Moments go on by another share: B (k1^2 / 2 + k1 (k - k1) + share / 2 (k - k1)^2) with k = 1/m.
static void bending_changes_at_a_curvature(void** state)
{
    (void)state;
    for (int k = 0; k < 2; k++)
    {
        weft_material m = woven(1.0, 0, 0);
        double first = m.bending_curvature = 0.6, share = m.bending_beyond = k == 0 ? 0.25 : 4.0, over = 1.0 - first;
        double closed = 0.5 * first * first + first * over + 0.5 * share * over * over;
        double own = rolled_energy(&m, "curvature", false, 90);
        print_message("beyond 0.6/m times %g: %.4f of the closed form\n", share, own / closed);
        assert_true(fabs(own / closed - 1.0) < 0.005);
        m.bending_curvature = 2.0;
        assert_true(fabs(rolled_energy(&m, "curvature", false, 90) / 0.5 - 1.0) < 0.002);
    }
}

// ---- strips: what is measured

// A strip clamped by three columns sinks by rho g L^4 / (8 B): L runs from the middle of the last held cell.
static double strip_ratio(const weft_material* material, const char* bending, double degrees, double B)
{
    enum
    {
        CELLS = 60,
        ACROSS = 4
    };
    double step = 1.0 / (CELLS + 0.5);
    grid_options grid = {.size_u = (CELLS + 2) * step, .size_v = ACROSS * step, .cells_u = CELLS + 2, .cells_v = ACROSS};
    int columns = CELLS + 3, rows = ACROSS + 1, held[3 * (ACROSS + 1)], count = 0;
    for (int i = 0; i < columns * rows; i++)
    {
        if (i % columns < 3)
        {
            held[count++] = i;
        }
    }
    mesh flat = {0};
    assert_int_equal(mesh_from_grid(&grid, &flat, NULL), WEFT_OK);
    double c = cos(degrees * PI / 180), s = sin(degrees * PI / 180);
    weft_vec2* uv = calloc((size_t)(3 * flat.face_count), sizeof(*uv));
    for (int k = 0; k < 3 * flat.face_count; k++)
    {
        vec3 p = flat.position[flat.face_vertex[k]];
        uv[k] = (weft_vec2){c * p.x - s * -p.z, s * p.x + c * -p.z};
    }
    weft_pin pin = {.vertices = held, .vertex_count = count, .release = INFINITY};
    weft_cloth_def cloth = weft_cloth_def_default();
    cloth.positions = flat.position;
    cloth.vertex_count = flat.vertex_count;
    cloth.face_vertices = flat.face_vertex;
    cloth.face_count = flat.face_count;
    cloth.rest_uv = uv;
    cloth.material = *material;
    cloth.bending = bending;
    cloth.pins = &pin;
    cloth.pin_count = 1;
    weft_sim_def def = test_statics_def();
    def.gravity = v3(0, -0.002, 0);
    weft_sim* sim = NULL;
    weft_error error = {0};
    assert_int_equal(weft_sim_create(&def, &sim, &error), WEFT_OK);
    assert_int_equal(weft_sim_add_cloth(sim, &cloth, NULL, &error), WEFT_OK);
    for (int k = 0; k < 3; k++)
    {
        assert_int_equal(weft_sim_step(sim, NULL, &error), WEFT_OK);
    }
    weft_vec3* x = calloc((size_t)flat.vertex_count, sizeof(vec3));
    weft_sim_positions(sim, 0, x);
    double tip = 0;
    for (int row = 0; row < rows; row++)
    {
        tip -= x[row * columns + columns - 1].y / rows;
    }
    free(x);
    free(uv);
    mesh_finish(&flat);
    weft_sim_destroy(sim);
    return tip / (0.15 * 0.002 / (8 * B));
}

static void strips_give_their_numbers_back(void** state)
{
    (void)state;
    weft_material m = woven(plenty, 0.25 * plenty, 0.3 * plenty), even = woven(plenty, plenty, 0.5 * plenty);
    for (int k = 0; k < 2; k++)
    {
        const char* form = k == 0 ? "curvature" : "exact";
        double warp = strip_ratio(&m, form, 0, plenty), weft = strip_ratio(&m, form, 90, 0.25 * plenty);
        double bias = strip_ratio(&even, form, 45, 0.5 * plenty), twisted = strip_ratio(&m, form, 45, 0.3 * plenty);
        print_message("%s strips, 60 cells: warp %.4f, weft %.4f, bias %.4f, with another weft %.4f of the closed form\n", form,
                      warp, weft, bias, twisted);
        assert_true(fabs(warp - 1.0) < 0.03 && fabs(weft - 1.0) < 0.03);
        assert_true(fabs(bias - 1.0) < 0.06 && fabs(twisted - 1.0) < 0.08);
    }
}

// ---- stretch with a knee

// A strip that hangs with a weight at its lower end, without weight of its own: strain of the middle.
static double pulled_strain(double force)
{
    char text[900];
    snprintf(text, sizeof(text),
             "{\"method\": \"newton\", \"time_step\": 10, \"gravity\": [0, 0, 0], \"frames\": 1, \"steps_per_frame\": 1, \"cloth\": "
             "[{\"mesh\": {\"grid\": {\"size\": [1, 0.2], \"cells\": [20, 4]}}, \"material\": {\"stretch_warp\": {\"soft\": 500, "
             "\"knee\": 0.02, \"stiff\": 5000}}, \"pins\": [{\"where\": {\"edge\": \"left\"}}], \"forces\": [{\"where\": {\"edge\": "
             "\"right\"}, \"force\": [%.17g, 0, 0]}]}]}",
             force / 5);
    weft_sim* sim = scene_sim_text(text, 1);
    weft_error error = {0};
    for (int k = 0; k < 6; k++)
    {
        assert_int_equal(weft_sim_step(sim, NULL, &error), WEFT_OK);
    }
    int count = weft_sim_vertex_count(sim, 0);
    weft_vec3* x = calloc((size_t)count, sizeof(*x));
    weft_sim_positions(sim, 0, x);
    double strain = (x[2 * 21 + 15].x - x[2 * 21 + 5].x) / 0.5 - 1.0;
    free(x);
    weft_sim_destroy(sim);
    return strain;
}

static void knees_bend_the_curve(void** state)
{
    (void)state;
    // N/m over 0.2 m: half-way to the knee, and beyond it by a strain of 0.01
    double before = pulled_strain(0.2 * 500 * 0.01), beyond = pulled_strain(0.2 * (500 * 0.02 + 5000 * 0.01));
    print_message("knee: strain %.5f for 0.01, %.5f for 0.03\n", before, beyond);
    assert_true(fabs(before - 0.01) < 2e-4 && fabs(beyond - 0.03) < 5e-4);
}

// ---- what cannot be, and who takes what

#define SHEET(material) "{\"cloth\": [{\"mesh\": {\"grid\": {\"cells\": 3}},\n\"material\": {" material "}}]}"

static void wrong_numbers_are_refused(void** state)
{
    (void)state;
    static const struct
    {
        const char *text, *word;
    } cases[] = {
        {SHEET("\"bending\": {\"warp\": 1e-5, \"weft\": 1e-5, \"bias\": 2e-5}"), "not positive definite"},
        {SHEET("\"bending\": {\"warp\": 1e-5, \"weft\": 1e-7, \"bias\": 1e-5}"), "less than"},
        {SHEET("\"bending\": {\"warp\": -1e-5}"), "positive"},
        {SHEET("\"bending\": {\"warp\": 1e-5, \"curvature\": 100}"), "beyond"},
        {SHEET("\"bending\": {\"wrap\": 1e-5}"), "did you mean `warp`"},
        {SHEET("\"bending\": [1e-5, 1e-5]"), "expected"},
        {SHEET("\"stretch_warp\": {\"soft\": 5000, \"knee\": 0.02, \"stiff\": 500}"), "wrong order"},
        {SHEET("\"stretch_weft\": {\"soft\": 5000, \"knee\": 0.02}"), "stiff"},
        {SHEET("\"stretch_weft\": {\"soft\": 500, \"knee\": -0.02, \"stiff\": 5000}"), "positive"},
        {SHEET("\"strain_limit\": -0.05"), "positive"},
        {SHEET("\"strain_limit\": 0"), "positive"},
        {SHEET("\"crease\": 50"), "expected a crease"},
        {SHEET("\"crease\": {\"share\": 0.5}"), "curvature"},
        {SHEET("\"crease\": {\"curvature\": -50}"), "positive"},
        {SHEET("\"crease\": {\"curvature\": 50, \"share\": 1.5}"), "at most 1"},
    };
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++)
    {
        weft_scene* scene = NULL;
        weft_error error = {0};
        assert_int_equal(scene_load_bytes(cases[k].text, strlen(cases[k].text), &scene, &error), WEFT_BAD_INPUT);
        assert_int_equal(error.line, 2);
        if (!strstr(error.message, cases[k].word))
        {
            fail_msg("`%s` does not say `%s`", error.message, cases[k].word);
        }
    }
}

// The reason, or NULL where the simulation starts.
static const char* start(const char* head, const char* material)
{
    static weft_error error;
    char text[600];
    error = (weft_error){0};
    snprintf(text, sizeof(text), "{%s \"cloth\": [{\"mesh\": {\"grid\": {\"cells\": 3}}, \"material\": {%s}}]}", head, material);
    weft_scene* scene = scene_load_text(text, NULL, 0);
    weft_sim* sim = NULL;
    weft_status status = weft_scene_create_sim(scene, 1, &sim, &error);
    status = status == WEFT_OK ? weft_sim_step(sim, NULL, &error) : status;
    weft_sim_destroy(sim);
    weft_scene_destroy(scene);
    return status == WEFT_OK ? NULL : error.message;
}

static void models_take_what_they_can(void** state)
{
    (void)state;
    static const struct
    {
        const char *head, *material, *reason; // NULL: it runs
    } cases[] = {
        {"", "\"bending\": {\"warp\": 2e-5, \"weft\": 1e-5, \"bias\": 1e-5, \"curvature\": 50, \"beyond\": 0.5}", NULL},
        {"\"model\": \"choi-ko\",", "\"bending\": {\"warp\": 2e-5, \"weft\": 1e-5, \"bias\": 1e-5}", NULL},
        {"\"model\": \"hooke\",", "\"bending\": {\"warp\": 2e-5, \"weft\": 1e-5}", NULL},
        {"\"model\": \"hooke\",", "\"bending\": {\"warp\": 2e-5, \"bias\": 1e-5}", "leave `bias` out"},
        {"\"model\": \"choi-ko\",", "\"bending\": {\"warp\": 2e-5, \"curvature\": 50, \"beyond\": 0.5}", "linear"},
        {"\"method\": \"local-global\",", "\"bending\": {\"warp\": 2e-5, \"weft\": 1e-5, \"bias\": 1e-5}", NULL},
        {"\"method\": \"pbd\",", "\"bending\": {\"warp\": 2e-5, \"weft\": 1e-5, \"bias\": 1e-5}", NULL},
        {"\"method\": \"pbd\",", "\"stretch_warp\": {\"soft\": 500, \"knee\": 0.02, \"stiff\": 5000}", NULL},
        {"\"method\": \"pbd\",", "\"bending\": {\"warp\": 2e-5, \"curvature\": 50, \"beyond\": 0.5}", "needs a constraint"},
        {"\"model\": {\"name\": \"baraff-witkin\", \"bending\": \"exact\"},", "\"bending\": {\"warp\": 2e-5, \"weft\": 1e-5}", NULL},
        {"\"model\": {\"name\": \"baraff-witkin\", \"bending\": \"exact\"},", "\"bending\": {\"curvature\": 50, \"beyond\": 0.5}",
         "curvature"},
        {"\"model\": \"hooke\",", "\"stretch_warp\": {\"soft\": 500, \"knee\": 0.02, \"stiff\": 5000}", "baraff-witkin"},
        {"\"method\": \"newton\",", "\"strain_limit\": 0.05", "implicit-euler"},
        {"\"model\": \"choi-ko\",", "\"strain_limit\": 0.05", "baraff-witkin"},
    };
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++)
    {
        const char* reason = start(cases[k].head, cases[k].material);
        if (!cases[k].reason != !reason || (reason && !strstr(reason, cases[k].reason)))
        {
            fail_msg("%s %s: `%s`", cases[k].head, cases[k].material, reason ? reason : "runs");
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rolled_sheets_have_the_plate),   cmocka_unit_test(one_number_is_all_three),
        cmocka_unit_test(bending_changes_at_a_curvature), cmocka_unit_test(strips_give_their_numbers_back),
        cmocka_unit_test(knees_bend_the_curve),           cmocka_unit_test(wrong_numbers_are_refused),
        cmocka_unit_test(models_take_what_they_can),
    };
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
