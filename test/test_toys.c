// Methods and models are rows of tables: two toy methods and a toy model, each of one file (toy_*.c) and one row
// (toy_tables.c), go through scene file, schema, simulation, contact, checkpoint, resume, fields, stats and page, and a
// method that a model cannot serve is refused with the reason.
#include "common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common_command.h"
#include "common_edits.h"
#include "common_scene.h"
#include "common_settings.h"
#include "sim/sim.h"

#define SHEET                                                                                                          \
    "\"cloth\": [{\"name\": \"sheet\", \"mesh\": {\"grid\": {\"size\": [0.5, 0.5], \"cells\": 5}},"                    \
    " \"transform\": {\"translate\": [0, 0.006, 0]}, \"material\": {\"base\": \"cotton\", \"stretch_warp\": 200,"      \
    " \"stretch_weft\": 200, \"shear\": 50}"

// Falls onto a floor within 32 ms.
static const char falling[] =
    "{\"time_step\": 0.0002, \"steps_per_frame\": 25, \"frames\": 10, \"method\": \"%s\", \"solver\": \"cholesky\","
    " \"model\": \"%s\", " SHEET "}],"
    " \"obstacles\": [{\"name\": \"floor\", \"shape\": {\"plane\": {\"size\": 2}}}]}";

// Hangs from an edge and swings.
static const char hanging[] =
    "{\"time_step\": 0.0002, \"method\": \"%s\", \"solver\": \"cholesky\", \"model\": \"%s\", " SHEET
    ", \"pins\": [{\"where\": {\"edge\": \"top\"}}]}]}";

static weft_sim* sim_of(const char* pattern, const char* method, const char* model)
{
    char text[1024];
    snprintf(text, sizeof(text), pattern, method, model);
    return scene_sim_text(text, 1);
}

static weft_step_stats run_steps(weft_sim* sim, int count)
{
    weft_step_stats stats = {0};
    weft_error error = {0};
    for (int k = 0; k < count; k++)
    {
        if (weft_sim_step(sim, &stats, &error) != WEFT_OK)
        {
            fail_msg("%s", error.message);
        }
    }
    return stats;
}

static bool is_listed(weft_list_kind kind, const char* wanted)
{
    const char *name, *summary;
    bool found = false;
    for (int k = 0; weft_list(kind, k, &name, &summary) == WEFT_OK; k++)
    {
        found = found || strcmp(name, wanted) == 0;
    }
    return found;
}

static void test_lists(void** unused)
{
    (void)unused;
    assert_true(is_listed(WEFT_LIST_METHODS, "toy-verlet") && is_listed(WEFT_LIST_METHODS, "toy-positions"));
    assert_true(is_listed(WEFT_LIST_MODELS, "toy-springs") && is_listed(WEFT_LIST_MODELS, "baraff-witkin"));
    assert_false(is_listed(WEFT_LIST_MODELS, "toy-verlet"));
}

// Every pair that suits ends on the floor, with its counter counted and no crossing: all heights are the thickness's.
static void test_contact(void** unused)
{
    (void)unused;
    static const char* const cases[][3] = {
        {"toy-verlet", "toy-springs", "force_evaluations"}, {"toy-verlet", "baraff-witkin", "force_evaluations"},
        {"toy-positions", "toy-springs", "projections"},    {"implicit-euler", "toy-springs", "newton_iterations"},
        {"newton", "toy-springs", "newton_iterations"},
    };
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++)
    {
        weft_sim* sim = sim_of(falling, cases[k][0], cases[k][1]);
        weft_step_stats stats = run_steps(sim, 250);
        weft_vec3 x[36];
        assert_int_equal(weft_sim_vertex_count(sim, 0), 36);
        weft_sim_positions(sim, 0, x);
        assert_true(stats.contacts > 0 && stats.squeezed == 0);
        for (int i = 0; i < 36; i++)
        {
            assert_true(x[i].y > 0.9e-3 && x[i].y < 1.2e-3);
        }
        bool counts_newton = strcmp(cases[k][2], "newton_iterations") == 0; // it counts corrected Hessians, too
        assert_int_equal(stats.counter_count, counts_newton ? 2 : 1);
        assert_string_equal(stats.counters[0].name, cases[k][2]);
        assert_true(stats.counters[0].value == weft_step_counter(&stats, cases[k][2]));
        assert_true(strcmp(cases[k][0], "implicit-euler") == 0 || stats.counters[0].value >= 1.0);
        weft_sim_destroy(sim);
    }
}

// Three methods move springs alike: force, energy, blocks and constraint are of one spring.
static void test_methods_agree(void** unused)
{
    (void)unused;
    static const char* const methods[] = {"newton", "toy-verlet", "toy-positions", "implicit-euler"};
    weft_vec3 start[36], x[4][36];
    for (int k = 0; k < 4; k++)
    {
        weft_sim* sim = sim_of(hanging, methods[k], "toy-springs");
        weft_sim_positions(sim, 0, start);
        run_steps(sim, 500);
        weft_sim_positions(sim, 0, x[k]);
        weft_sim_destroy(sim);
    }
    double way = 0.0;
    for (int i = 0; i < 36; i++)
    {
        way = fmax(way, v3_length(v3_sub(x[0][i], start[i])));
        assert_true(v3_length(v3_sub(x[1][i], x[0][i])) < 1e-3);
        assert_true(v3_length(v3_sub(x[2][i], x[0][i])) < 1e-3);
        assert_true(v3_length(v3_sub(x[3][i], x[0][i])) < 1e-3);
    }
    assert_true(way > 0.03);
}

static void test_refused(void** unused)
{
    (void)unused;
    char text[1024];
    snprintf(text, sizeof(text), falling, "toy-positions", "corotated");
    weft_scene* scene = scene_load_text(text, NULL, 0);
    weft_sim* sim = NULL;
    weft_error error = {0};
    assert_int_equal(weft_scene_create_sim(scene, 1, &sim, &error), WEFT_UNSUPPORTED);
    static const char* const words[] = {"`sheet`",  "`toy-positions`", "a constraint",
                                        "`strain`", "`corotated`",     "implicit-euler, newton, toy-verlet"};
    for (size_t k = 0; k < sizeof(words) / sizeof(words[0]); k++)
    {
        assert_non_null(strstr(error.message, words[k]));
    }
    assert_int_equal(error.line, 1);
    assert_null(sim);
    weft_scene_destroy(scene);

    // A model without a choice of bending; a method without a system.
    const char* override = "model={\"name\": \"toy-springs\", \"bending\": \"hinge\"}";
    assert_int_equal(weft_scene_load(scene_path("scene.json"), &override, 1, &scene, &error), WEFT_BAD_INPUT);
    assert_non_null(strstr(error.message, "no choice of bending"));
    sim = sim_of(falling, "toy-verlet", "toy-springs");
    weft_system* system = NULL;
    assert_int_equal(weft_sim_system(sim, &system, &error), WEFT_UNSUPPORTED);
    assert_non_null(strstr(error.message, "`toy-verlet`"));
    assert_null(system);
    weft_sim_destroy(sim);
}

// ---- settings

// What a method declares is read, checked, written, in the schema, and changes what it does.
static void test_settings(void** unused)
{
    (void)unused;
    char text[1200];
    size_t used = (size_t)snprintf(text, sizeof(text), "{\"toy-verlet\": {\"drag\": 40, \"times\": 2}, ");
    snprintf(text + used, sizeof(text) - used, hanging + 1, "toy-verlet", "toy-springs");
    weft_scene* scene = scene_load_text(text, NULL, 0);
    const weft_sim_def* def = weft_scene_sim_def(scene);
    assert_true(weft_sim_def_get(def, "toy-verlet", "drag") == 40.0);
    assert_true(weft_sim_def_get(def, "toy-verlet", "times") == 2.0);
    assert_true(weft_sim_def_get(def, "newton", "tolerance") == 1e-6);
    assert_true(isnan(weft_sim_def_get(def, "toy-verlet", "iterations")));
    assert_non_null(strstr(weft_scene_json(scene), "\"toy-verlet\": {\n    \"drag\": 40,\n    \"times\": 2\n"));
    weft_scene_destroy(scene);
    weft_sim *slow = scene_sim_text(text, 1), *fast = sim_of(hanging, "toy-verlet", "toy-springs");
    run_steps(slow, 100);
    run_steps(fast, 100);
    assert_true(weft_sim_energy(slow).kinetic < 0.3 * weft_sim_energy(fast).kinetic);
    weft_sim_destroy(slow);
    weft_sim_destroy(fast);

    static const struct
    {
        const char *override, *says;
    } wrong[] = {
        {"toy-verlet.drag=-1", "must not be negative"}, {"toy-verlet.times=10", "9"},
        {"toy-verlet.times=1.5", "whole number"},       {"toy-verlet.dragg=1", "did you mean `drag`"},
        {"toy-verlet=3", "for example {\"drag\": 0}"},  {"toy-verlet.drag=fast", "for example 0 (1/s)"},
    };
    for (size_t k = 0; k < sizeof(wrong) / sizeof(wrong[0]); k++)
    {
        weft_error error = {0};
        assert_int_equal(weft_scene_load(scene_path("scene.json"), &wrong[k].override, 1, &scene, &error),
                         WEFT_BAD_INPUT);
        if (!strstr(error.message, wrong[k].says))
        {
            fail_msg("%s: %s", wrong[k].override, error.message);
        }
    }
    char* schema = scene_schema();
    assert_non_null(strstr(schema, "\"toy-verlet\": {\"$ref\": \"#/$defs/toy-verlet\"}"));
    assert_non_null(
        strstr(schema, "\"times\": {\"type\": \"integer\", \"minimum\": 1, \"maximum\": 9, \"default\": 1"));
    free(schema);
}

// From arrays: by name, or by index.
static void test_settings_of_a_def(void** unused)
{
    (void)unused;
    weft_sim_def def = weft_sim_def_default();
    weft_sim* sim = NULL;
    weft_error error = {0};
    assert_int_equal(weft_sim_def_set(&def, "toy-verlet", "drag", 3.0, &error), WEFT_OK);
    assert_int_equal(weft_sim_def_set(&def, "toy-verlet", "lift", 3.0, &error), WEFT_NOT_FOUND);
    assert_int_equal(weft_sim_def_set(&def, "toy-verlet", "times", 2.5, &error), WEFT_BAD_INPUT);
    assert_non_null(strstr(error.message, "a whole number"));
    assert_true(weft_sim_def_get(&def, "toy-verlet", "drag") == 3.0);
    def.settings[0] = -1.0;
    assert_int_equal(weft_sim_create(&def, &sim, &error), WEFT_BAD_INPUT);
    assert_non_null(strstr(error.message, "tolerance of the method newton is -1: it is above 0, m"));
}

static void test_settings_resume(void** unused)
{
    (void)unused;
    char text[1024];
    snprintf(text, sizeof(text), hanging, "toy-verlet", "toy-springs");
    assert_true(settings_resume(text) >= 8); // newton's and the toy's, and what local-global has
}

// ---- what a method keeps

static void test_history(void** unused)
{
    (void)unused;
    vec3 x = v3(0, 0, 0), v = v3(0, 0, 0);
    state s = {.vertex_count = 1, .x = &x, .v = &v}, copy = {.vertex_count = 1};
    assert_int_equal(history_create(&s, 3), WEFT_OK);
    assert_int_equal(history_create(&copy, 3), WEFT_OK);
    for (int k = 1; k <= 5; k++)
    {
        x.x = k;
        v.y = 10 * k;
        history_push(&s, 0.1 * k);
        assert_int_equal(s.history_filled, int_min(k, 3));
        for (int back = 0; back < s.history_filled; back++)
        {
            assert_true(s.history[back].x->x == k - back && s.history[back].v->y == 10 * (k - back));
            assert_true(s.history[back].h == 0.1 * (k - back));
        }
        k == 2 ? history_copy(&copy, &s) : (void)0;
    }
    history_copy(&s, &copy);
    assert_int_equal(s.history_filled, 2);
    assert_true(s.history[0].x->x == 2 && s.history[1].x->x == 1 && s.history[1].h == 0.1);
    history_finish(&s);
    history_finish(&copy);
}

// A state that is set from outside has no past: the next step starts with its velocity.
static void test_set_state(void** unused)
{
    (void)unused;
    weft_sim* sim = sim_of(falling, "toy-verlet", "toy-springs");
    run_steps(sim, 5);
    assert_int_equal(sim->world.state.history_filled, 1);
    weft_vec3 x[36], v[36], after[36];
    weft_sim_positions(sim, 0, x);
    for (int i = 0; i < 36; i++)
    {
        v[i] = v3(3, 2, 1);
    }
    assert_int_equal(weft_sim_set_state(sim, 0, x, v), WEFT_OK);
    run_steps(sim, 1);
    weft_sim_positions(sim, 0, after);
    for (int i = 0; i < 36; i++)
    {
        vec3 expected = v3_madd(x[i], 2e-4, v3(3, 2 - 9.81 * 2e-4, 1));
        assert_true(v3_length(v3_sub(after[i], expected)) < 1e-9);
    }
    weft_sim_destroy(sim);
}

// What it looks back on is of each cloth: one that is far from another goes its way as if it were alone, through
// checkpoints, too.
static void test_history_of_clusters(void** unused)
{
    (void)unused;
    static const char pair[] =
        "{\"time_step\": 0.0002, \"steps_per_frame\": 25, \"frames\": 10, \"method\": \"%s\", \"solver\": "
        "\"cholesky\", \"model\": \"%s\", " SHEET "}, {\"name\": \"far\", \"mesh\": {\"grid\": {\"size\": 0.5, "
        "\"cells\": 3}}, \"transform\": {\"translate\": [5, 0.3, 0]}, \"material\": {\"base\": \"cotton\", "
        "\"stretch_warp\": 100, \"stretch_weft\": 100, \"shear\": 20}, \"pins\": [{\"where\": {\"corner\": "
        "\"top-left\"}}]}], \"obstacles\": [{\"name\": \"floor\", \"shape\": {\"plane\": {\"size\": 2}}}]}";
    char text[1024];
    snprintf(text, sizeof(text), pair, "toy-verlet", "toy-springs");
    weft_sim *alone = sim_of(falling, "toy-verlet", "toy-springs"), *sim = scene_sim_text(text, 1);
    for (int n = 0; n < 10; n++)
    {
        weft_vec3 x[2][36];
        run_steps(alone, 25);
        run_steps(sim, 25);
        weft_sim_positions(alone, 0, x[0]);
        weft_sim_positions(sim, 0, x[1]);
        assert_memory_equal(x[0], x[1], sizeof(x[0]));
        assert_int_equal(sim->clusters.count, 2);
        weft_sim_checkpoint(sim);
        weft_sim* resumed = edits_made_anew(sim, text, 2);
        weft_sim_destroy(sim);
        sim = resumed;
    }
    weft_sim_destroy(alone);
    weft_sim_destroy(sim);
}

static void test_field(void** unused)
{
    (void)unused;
    weft_sim* sim = sim_of(falling, "toy-verlet", "toy-springs");
    run_steps(sim, 10);
    float values[36];
    assert_int_equal(weft_sim_field_count(sim), 1);
    assert_string_equal(weft_sim_field_at(sim, 0)->name, "fastest");
    assert_int_equal(weft_sim_field_values(sim, 0, 0, values), WEFT_OK);
    for (int i = 0; i < 36; i++)
    {
        assert_true(fabs(values[i] - 10 * 2e-4 * 9.81) < 1e-4);
    }
    weft_sim_checkpoint(sim); // which a method forgets at
    assert_int_equal(weft_sim_field_values(sim, 0, 0, values), WEFT_OK);
    assert_true(values[0] == 0.0f);
    weft_sim_destroy(sim);
}

// A steady scene allocates nothing, all goes back, and no allocation that fails brings it down.
static weft_status run_ledger(test_ledger* ledger, int* made_late)
{
    const weft_vec3 positions[] = {{0, 0, 0}, {1, 0, 0}, {0, 0, -1}, {1, 0, -1}};
    const int faces[] = {0, 1, 2, 1, 3, 2};
    weft_sim_def def = weft_sim_def_default();
    def.method = "toy-verlet";
    def.time_step = 1e-5;
    def.contact = 0;
    weft_cloth_def cloth = weft_cloth_def_default();
    cloth.model = "toy-springs";
    cloth.positions = positions;
    cloth.vertex_count = 4;
    cloth.face_vertices = faces;
    cloth.face_count = 2;
    weft_sim* sim = NULL;
    weft_status status = weft_sim_create(&def, &sim, NULL);
    status = status == WEFT_OK ? weft_sim_add_cloth(sim, &cloth, NULL, NULL) : status;
    int made = 0;
    for (int k = 0; k < 6 && status == WEFT_OK; k++)
    {
        made = k == 2 ? ledger->made : made;
        status = weft_sim_step(sim, NULL, NULL);
    }
    *made_late = ledger->made - made;
    weft_sim_destroy(sim);
    return status;
}

static void test_memory(void** unused)
{
    (void)unused;
    weft_status status = WEFT_NO_MEMORY;
    int late = -1;
    for (int fail_at = 1; status != WEFT_OK; fail_at++)
    {
        test_ledger ledger = {.fail_at = fail_at};
        test_ledger_open(&ledger);
        status = run_ledger(&ledger, &late);
        test_ledger_close();
        assert_true(status == WEFT_OK || status == WEFT_NO_MEMORY);
        assert_int_equal(ledger.live, 0);
    }
    assert_int_equal(late, 0);
}

// ---- the command

static void command(const char* arguments)
{
    command_succeeds(WEFT_TOYS, arguments);
}

// Run, resume and threads: the same bits in positions, fields and the last state; a page with counter and field.
static void test_command(void** unused)
{
    (void)unused;
    char text[1024];
    snprintf(text, sizeof(text), falling, "toy-verlet", "toy-springs");
    scene_write_bytes(scene_path("toy.json"), text, strlen(text));
    command("check toy.json");
    command("run toy.json -o whole --fields");
    command("run toy.json -o parts --fields --frames 4");
    command("run toy.json -o parts --resume --threads 3");
    assert_same_file("whole", "parts", "sheet.pc2");
    assert_same_file("whole", "parts", "sheet.fastest.field");
    assert_same_file("whole", "parts", "checkpoint.weft");
    command("run whole/scene.json -o again"); // what the run wrote is a scene
    assert_same_file("whole", "again", "sheet.pc2");
    command("inspect whole");
    command("view whole -o page.html");
    assert_file_has("page.html", "force_evaluations");
    assert_file_has("page.html", "fastest");
    assert_file_has("whole/stats.jsonl", "\"force_evaluations\":1,");
    assert_file_has("whole/scene.json", "\"toy-springs\"");
    command("list methods");
    assert_file_has("output", "toy-verlet\texplicit, of two steps\n");
    command("list models");
    assert_file_has("output", "toy-springs\ta spring along every edge\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists),           cmocka_unit_test(test_contact),
        cmocka_unit_test(test_methods_agree),   cmocka_unit_test(test_refused),
        cmocka_unit_test(test_settings),        cmocka_unit_test(test_settings_of_a_def),
        cmocka_unit_test(test_settings_resume), cmocka_unit_test(test_history),
        cmocka_unit_test(test_set_state),       cmocka_unit_test(test_history_of_clusters),
        cmocka_unit_test(test_field),           cmocka_unit_test(test_memory),
        cmocka_unit_test(test_command),
    };
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
