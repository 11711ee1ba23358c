// What the bending "auto", the default, stands for: `exact` where method and cloth can have it, else `curvature`; with
// edits and checkpoints; and that slivers, of which `curvature` makes cloth stiff, do not stop it.
#include <string.h>

#include "common.h"
#include "common_edits.h"
#include "common_scene.h"

static void assert_bends_by(const char* text, const char* word)
{
    weft_sim* sim = scene_sim_text(text, 1);
    const char* found = weft_sim_cloth_bending(sim, 0);
    if (found ? !word || strcmp(found, word) != 0 : word != NULL)
    {
        fail_msg("%s, not %s: %s", found ? found : "none", word ? word : "none", text);
    }
    weft_sim_destroy(sim);
}

#define SCENE "{%s" CLOTH "%s}]}"

static void it_is_exact_where_that_can_be(void** state)
{
    (void)state;
    static const struct
    {
        const char *of_scene, *of_cloth, *word;
    } cases[] = {
        {"", "", "exact"},
        {"\"method\": \"newton\", ", "", "exact"},
        {"\"method\": \"bdf2\", ", "", "exact"},
        {"\"method\": \"aimex\", ", "", "exact"},
        {"\"method\": \"imex2\", ", "", "exact"},
        {"\"method\": \"explicit\", ", "", "exact"},
        {"\"method\": \"pbd\", ", "", "curvature"},
        {"\"method\": \"hpbd\", ", "", "curvature"},
        {"\"method\": \"local-global\", ", "", NULL}, // of another model
        {"", ", \"tear\": 500", "curvature"},
        {"", ", \"material\": {\"crease\": {\"curvature\": 50}}", "exact"},
        {"", ", \"material\": {\"strain_limit\": 0.1}", "exact"},
        {"", ", \"material\": {\"bending\": {\"warp\": 1e-5, \"weft\": 2e-5}}", "exact"},
        {"", ", \"material\": {\"bending\": {\"warp\": 1e-5, \"curvature\": 20, \"beyond\": 0.5}}", "curvature"},
        {"",
         ", \"regions\": [{\"where\": {\"box\": {\"min\": [-9, -9, -9], \"max\": [9, 9, 9]}}, \"material\": "
         "{\"bending\": {\"warp\": 1e-5, \"curvature\": 20, \"beyond\": 0.5}}}]",
         "curvature"},
        {"", ", \"model\": {\"bending\": \"auto\"}", "exact"},
        {"", ", \"model\": {\"bending\": \"curvature\"}", "curvature"},
        {"", ", \"model\": {\"bending\": \"hinge\"}", "hinge"},
        {"", ", \"model\": \"hooke\"", NULL},
    };
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++)
    {
        char text[600];
        snprintf(text, sizeof(text), SCENE, cases[k].of_scene, cases[k].of_cloth);
        assert_bends_by(text, cases[k].word);
    }
}

// Who asks for a form has it or a reason.
static void what_is_asked_for_is_not_exchanged(void** state)
{
    (void)state;
    char text[600];
    snprintf(text, sizeof(text), SCENE, "", ", \"model\": {\"bending\": \"exact\"}, \"tear\": 500");
    weft_scene* scene = scene_load_text(text, NULL, 0);
    weft_sim* sim = NULL;
    weft_error error = {0};
    assert_int_not_equal(weft_scene_create_sim(scene, 1, &sim, &error), WEFT_OK);
    assert_non_null(strstr(error.message, "tear"));
    weft_sim_destroy(sim);
    weft_scene_destroy(scene);
}

// ---- a material that changes while it runs

static weft_material beyond(void)
{
    weft_material m;
    assert_int_equal(weft_material_find("cotton", &m, NULL), WEFT_OK);
    m.bending_curvature = 20.0;
    m.bending_beyond = 0.5;
    return m;
}

static void it_follows_the_material(void** state)
{
    (void)state;
    weft_sim* sim = scene_sim_text(edits_busy, 1);
    weft_material kinked = beyond(), straight = kinked;
    straight.bending_curvature = straight.bending_beyond = 0.0;
    edits_run(sim, 2);
    assert_string_equal(weft_sim_cloth_bending(sim, 0), "exact");
    assert_int_equal(weft_sim_set_material(sim, 0, &kinked, NULL), WEFT_OK);
    assert_string_equal(weft_sim_cloth_bending(sim, 0), "curvature");
    assert_string_equal(weft_sim_cloth_bending(sim, 1), "exact");
    edits_run(sim, 2);
    edits_assert_resumes(sim, edits_busy);
    assert_int_equal(weft_sim_set_material(sim, 0, &straight, NULL), WEFT_OK);
    assert_string_equal(weft_sim_cloth_bending(sim, 0), "exact");
    edits_run(sim, 2);
    edits_assert_resumes(sim, edits_busy);
    weft_sim_destroy(sim);
}

static void an_asked_one_refuses_the_material(void** state)
{
    (void)state;
    char text[600];
    snprintf(text, sizeof(text), SCENE, "", ", \"model\": {\"bending\": \"exact\"}");
    weft_sim* sim = scene_sim_text(text, 1);
    weft_material kinked = beyond();
    weft_error error = {0};
    edits_run(sim, 1);
    assert_int_equal(weft_sim_set_material(sim, 0, &kinked, &error), WEFT_UNSUPPORTED);
    assert_non_null(strstr(error.message, "curvature"));
    assert_string_equal(weft_sim_cloth_bending(sim, 0), "exact");
    edits_run(sim, 1);
    weft_sim_destroy(sim);
}

// ---- slivers

enum
{
    CELLS = 20,
    ACROSS = 4,
    CORNERS = (CELLS + 1) * (ACROSS + 1),
    VERTICES = CORNERS + 2 * CELLS * ACROSS
};

// A strip, clamped at one end; in each third triangle a vertex lies `height` edges above the middle of its first edge.
typedef struct strip
{
    vec3 x[VERTICES];
    int triangles[3 * 6 * CELLS * ACROSS];
    int vertex_count, triangle_count;
} strip;

static void strip_add(strip* s, int a, int b, int c)
{
    const int t[3] = {a, b, c};
    memcpy(s->triangles + 3 * s->triangle_count++, t, sizeof(t));
}

static strip strip_make(double height)
{
    strip s = {.vertex_count = CORNERS};
    for (int i = 0; i < CORNERS; i++)
    {
        s.x[i] = v3(0.01 * (i % (CELLS + 1)), 0, 0.01 * (i / (CELLS + 1)));
    }
    for (int k = 0; k < 2 * CELLS * ACROSS; k++)
    {
        int i = k / 2 % CELLS, j = k / 2 / CELLS, a = j * (CELLS + 1) + i, b = a + 1, c = a + CELLS + 1, d = c + 1;
        const int corners[2][2][3] = {{{a, b, c}, {b, d, c}}, {{a, b, d}, {a, d, c}}};
        const int* t = corners[(i + j) % 2][k % 2];
        if (height == 0.0 || k % 3 != 0)
        {
            strip_add(&s, t[0], t[1], t[2]);
            continue;
        }
        vec3 middle = v3_scale(0.5, v3_add(s.x[t[0]], s.x[t[1]])), up = v3_sub(s.x[t[2]], middle);
        double edge = v3_length(v3_sub(s.x[t[1]], s.x[t[0]]));
        int p = s.vertex_count++;
        s.x[p] = v3_madd(middle, height * edge / v3_length(up), up);
        strip_add(&s, t[0], t[1], p);
        strip_add(&s, t[1], t[2], p);
        strip_add(&s, t[2], t[0], p);
    }
    return s;
}

// What "auto" stands for with vertices so high.
static void assert_chosen(double height, const char* word)
{
    strip s = strip_make(height);
    weft_sim* sim = NULL;
    weft_sim_def def = weft_sim_def_default();
    weft_cloth_def cloth = weft_cloth_def_default();
    cloth.positions = s.x;
    cloth.vertex_count = s.vertex_count;
    cloth.face_vertices = s.triangles;
    cloth.face_count = s.triangle_count;
    assert_int_equal(weft_sim_create(&def, &sim, NULL), WEFT_OK);
    assert_int_equal(weft_sim_add_cloth(sim, &cloth, NULL, NULL), WEFT_OK);
    assert_string_equal(weft_sim_cloth_bending(sim, 0), word);
    weft_sim_destroy(sim);
}

static void flat_triangles_have_curvature(void** state)
{
    (void)state;
    assert_chosen(0.0, "exact");
    assert_chosen(0.025, "exact");
    assert_chosen(0.015, "curvature");
    assert_chosen(1e-6, "curvature");
}

// How far the tip's middle sinks in 0.25 s, m.
static double strip_sinks(double height, int* substeps)
{
    strip s = strip_make(height);
    int held[2 * (ACROSS + 1)];
    for (int k = 0; k < 2 * (ACROSS + 1); k++)
    {
        held[k] = k / 2 * (CELLS + 1) + k % 2;
    }
    weft_sim* sim = NULL;
    weft_sim_def def = weft_sim_def_default();
    def.time_step = 0.005;
    assert_int_equal(weft_sim_create(&def, &sim, NULL), WEFT_OK);
    weft_pin pin = weft_pin_default();
    pin.vertices = held;
    pin.vertex_count = 2 * (ACROSS + 1);
    weft_cloth_def cloth = weft_cloth_def_default();
    cloth.positions = s.x;
    cloth.vertex_count = s.vertex_count;
    cloth.face_vertices = s.triangles;
    cloth.face_count = s.triangle_count;
    cloth.pins = &pin;
    cloth.pin_count = 1;
    cloth.bending = "exact";
    assert_int_equal(weft_sim_add_cloth(sim, &cloth, NULL, NULL), WEFT_OK);
    *substeps = 0;
    for (int k = 0; k < 50; k++)
    {
        weft_step_stats stats;
        assert_int_equal(weft_sim_step(sim, &stats, NULL), WEFT_OK);
        *substeps += stats.substeps + stats.rejected;
    }
    static vec3 x[VERTICES];
    weft_sim_positions(sim, 0, x);
    weft_sim_destroy(sim);
    return -x[ACROSS / 2 * (CELLS + 1) + CELLS].y;
}

// Vertices a hundredth and a thousandth of an edge above it, in a third of all triangles. By `curvature`, the default
// before, the second kept the strip from sinking at all, in a thousand substeps a step.
static void slivers_do_not_hold_it(void** state)
{
    (void)state;
    static const double heights[] = {1e-2, 1e-3};
    int few, many;
    double expected = strip_sinks(0.0, &few);
    for (int k = 0; k < 2; k++)
    {
        double found = strip_sinks(heights[k], &many);
        print_message("slivers of %g: sinks by %.4f m, without %.4f; %d substeps, %d\n", heights[k], found, expected,
                      many, few);
        assert_true(fabs(found / expected - 1.0) < 0.02);
        assert_true(many < 2 * few);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flat_triangles_have_curvature),      cmocka_unit_test(it_is_exact_where_that_can_be),
        cmocka_unit_test(what_is_asked_for_is_not_exchanged), cmocka_unit_test(it_follows_the_material),
        cmocka_unit_test(an_asked_one_refuses_the_material),  cmocka_unit_test(slivers_do_not_hold_it),
    };
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
