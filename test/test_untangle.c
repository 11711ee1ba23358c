// Starts that cross: refused with the pairs, or untangled. Whatever the way, the inspector, which shares no code with
// it, finds no crossing on floats; pins stay, cloth is not torn, the bits are the same on any number of threads, a run
// from its own scene.json and one that was resumed have them too. What cannot be untangled is refused, soon.
#define _POSIX_C_SOURCE 200809L
#include "common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common_scene.h"
#include "sim/sim.h"
#include "weft/inspect.h"

// ---- simulations from formulas

typedef vec3 place_fn(double u, double v, int index); // u, v in metres on the flat sheet

typedef struct sheet
{
    const char* name;
    int cells_u, cells_v;
    double size_u, size_v;
    place_fn* place;
    const int* pinned;
    int pinned_count;
} sheet;

static void add_sheet(weft_sim* sim, const sheet* s)
{
    int n = s->cells_u + 1, m = s->cells_v + 1, count = 0;
    vec3 *rest = MEM_NEW(n * m, vec3), *x = MEM_NEW(n * m, vec3);
    int* faces = MEM_NEW(6 * s->cells_u * s->cells_v, int);
    for (int k = 0; k < n * m; k++)
    {
        double u = s->size_u * (k % n) / s->cells_u, v = s->size_v * (k / n) / s->cells_v;
        rest[k] = v3(u, 0.0, -v);
        x[k] = s->place(u, v, k);
    }
    for (int k = 0; k < s->cells_u * s->cells_v; k++)
    {
        int a = k / s->cells_u * n + k % s->cells_u, turn = (k % s->cells_u + k / s->cells_u) % 2;
        const int corners[2][6] = {{a, a + 1, a + n, a + 1, a + n + 1, a + n},
                                   {a, a + 1, a + n + 1, a, a + n + 1, a + n}};
        memcpy(faces + 6 * k, corners[turn], sizeof(corners[turn]));
        count += 2;
    }
    weft_pin pin = weft_pin_default();
    pin.vertices = s->pinned;
    pin.vertex_count = s->pinned_count;
    weft_cloth_def def = weft_cloth_def_default();
    def.name = s->name;
    def.positions = x;
    def.rest_positions = rest;
    def.vertex_count = n * m;
    def.face_vertices = faces;
    def.face_count = count;
    def.pins = &pin;
    def.pin_count = s->pinned_count > 0;
    weft_error error = {0};
    if (weft_sim_add_cloth(sim, &def, NULL, &error) != WEFT_OK)
    {
        fail_msg("%s", error.message);
    }
    mem_free(rest);
    mem_free(x);
    mem_free(faces);
}

static void add_shape(weft_sim* sim, const shape_options* shape)
{
    mesh m = {0};
    assert_int_equal(mesh_from_shape(shape, &m, NULL), WEFT_OK);
    weft_obstacle_def def = weft_obstacle_def_default();
    def.positions = m.position;
    def.vertex_count = m.vertex_count;
    def.face_start = m.face_start;
    def.face_vertices = m.face_vertex;
    def.face_count = m.face_count;
    assert_int_equal(weft_sim_add_obstacle(sim, &def, NULL, NULL), WEFT_OK);
    mesh_finish(&m);
}

static weft_sim* new_sim(int workers)
{
    weft_sim_def def = weft_sim_def_default();
    def.worker_count = workers;
    weft_sim* sim = NULL;
    assert_int_equal(weft_sim_create(&def, &sim, NULL), WEFT_OK);
    return sim;
}

// ---- the inspector

static int64_t count_crossings(weft_sim* sim)
{
    enum
    {
        BODIES_MAX = 6
    };
    weft_inspect_body bodies[BODIES_MAX] = {0};
    const vec3* positions[BODIES_MAX];
    vec3* x = MEM_NEW(weft_sim_collider_vertex_count(sim), vec3);
    assert_int_equal(weft_sim_collider_positions(sim, x, NULL), WEFT_OK);
    int count = sim->body_count + sim->obstacle_count, first = 0;
    assert_true(count <= BODIES_MAX);
    for (int k = 0; k < count; k++)
    {
        bool cloth = k < sim->body_count;
        const mesh* m = cloth ? &sim->bodies[k].rest : &sim->obstacles[k - sim->body_count].mesh;
        bodies[k] = (weft_inspect_body){.obstacle = !cloth,
                                        .vertex_count = m->vertex_count,
                                        .triangle_count = m->triangle_count,
                                        .triangles = m->triangle};
        positions[k] = x + first;
        first += m->vertex_count;
    }
    for (int i = 0; i < first; i++)
    {
        x[i] = v3_round(x[i]);
    }
    weft_inspect_def def = weft_inspect_def_default();
    weft_inspector* inspector = NULL;
    weft_inspection found;
    assert_int_equal(weft_inspector_create(&def, bodies, count, &inspector, NULL), WEFT_OK);
    assert_int_equal(weft_inspector_frame(inspector, positions, &found, NULL), WEFT_OK);
    weft_inspector_destroy(inspector);
    mem_free(x);
    return found.crossings;
}

// ---- cases

static vec3 flat_at(double u, double v, double y)
{
    return v3(u - 0.5, y, 0.5 - v);
}

static vec3 place_low(double u, double v, int k)
{
    (void)k;
    return v3_add(flat_at(u, v, 0.18), v3(0.01, 0.0, 0.02));
}

static vec3 place_slanting(double u, double v, int k)
{
    (void)k;
    return v3((u - 0.5) * 0.8 + 0.3, (0.5 - u) * 0.6, 0.6 - v);
}

static vec3 place_flat(double u, double v, int k)
{
    (void)k;
    return flat_at(u, v, 0.0);
}

static vec3 place_crossing(double u, double v, int k)
{
    (void)k;
    return v3((u - 0.48) * cos(0.5), 0.02 + (u - 0.48) * sin(0.5), 0.47 - v + 0.1 * u);
}

static vec3 place_dome(double u, double v, int k)
{
    (void)k;
    double r_sq = (u - 0.5) * (u - 0.5) + (v - 0.5) * (v - 0.5);
    return v3_add(flat_at(u, v, 0.02 - 0.15 * r_sq), v3(0.01, 0.0, 0.02));
}

// Straight, three quarters of a circle, and straight through the first part.
static vec3 place_fold(double u, double v, int k)
{
    (void)k;
    double r = 0.12, begin = 0.35, end = begin + 1.5 * PI * r;
    double angle = (fmin(fmax(u, begin), end) - begin) / r, rest = fmax(u - end, 0.0);
    return v3(r * sin(angle) + rest * cos(angle) + fmin(u - begin, 0.0), r - r * cos(angle) + rest * sin(angle), v);
}

static vec3 jitter(double u, double v, int k, int layer)
{
    uint64_t seed = 77 + (uint64_t)layer, i = 3 * (uint64_t)k;
    vec3 random = v3(random_unit(seed, i) - 0.5, random_unit(seed, i + 1) - 0.5, random_unit(seed, i + 2) - 0.5);
    return v3_madd(flat_at(u, v, 0.004 * layer), 0.006, random); // 3 mm either way
}

static vec3 place_layer0(double u, double v, int k)
{
    return jitter(u, v, k, 0);
}

static vec3 place_layer1(double u, double v, int k)
{
    return jitter(u, v, k, 1);
}

static vec3 place_layer2(double u, double v, int k)
{
    return jitter(u, v, k, 2);
}

static vec3 place_layer3(double u, double v, int k)
{
    return jitter(u, v, k, 3);
}

static vec3 place_layer4(double u, double v, int k)
{
    return jitter(u, v, k, 4);
}

// Nearly closed around an axis; the seam stays open.
static vec3 place_tube(double u, double v, int k)
{
    (void)k;
    double angle = u / 0.1;
    return v3(0.1 * cos(angle), v - 0.15, -0.1 * sin(angle));
}

static void make_sphere(weft_sim* sim)
{
    add_sheet(sim, &(sheet){"sheet", 20, 20, 1, 1, place_low, NULL, 0});
    shape_options ball = shape_default(SHAPE_SPHERE);
    ball.radius = 0.2;
    ball.segments = 6;
    add_shape(sim, &ball);
}

static void make_box(weft_sim* sim)
{
    add_sheet(sim, &(sheet){"sheet", 24, 24, 1, 1, place_slanting, NULL, 0});
    shape_options box = shape_default(SHAPE_BOX);
    box.size = v3(0.6, 0.3, 0.6);
    box.center = v3(0.0, -0.11, 0.0);
    add_shape(sim, &box);
}

static void make_angle(weft_sim* sim)
{
    add_sheet(sim, &(sheet){"first", 16, 16, 1, 1, place_flat, NULL, 0});
    add_sheet(sim, &(sheet){"second", 14, 14, 1, 1, place_crossing, NULL, 0});
}

static void make_corners(weft_sim* sim)
{
    static const int pinned[] = {0, 16};
    add_sheet(sim, &(sheet){"first", 16, 16, 1, 1, place_flat, pinned, 2});
    add_sheet(sim, &(sheet){"second", 14, 14, 1, 1, place_dome, NULL, 0});
}

static void make_fold(weft_sim* sim)
{
    add_sheet(sim, &(sheet){"fold", 40, 8, 1.2, 0.24, place_fold, NULL, 0});
}

static void make_layers(weft_sim* sim)
{
    place_fn* const places[] = {place_layer0, place_layer1, place_layer2, place_layer3, place_layer4};
    for (int k = 0; k < 5; k++)
    {
        add_sheet(sim, &(sheet){NULL, 14, 14, 1, 1, places[k], NULL, 0});
    }
}

static void make_tube(weft_sim* sim)
{
    add_sheet(sim, &(sheet){"tube", 36, 16, 0.2 * PI - 0.004, 0.3, place_tube, NULL, 0});
    shape_options capsule = shape_default(SHAPE_CAPSULE);
    capsule.from = v3(0, -0.3, 0);
    capsule.to = v3(0, 0.3, 0);
    capsule.radius = 0.104;
    capsule.segments = 24;
    add_shape(sim, &capsule);
}

typedef struct start_case
{
    const char* name;
    void (*make)(weft_sim* sim);
    double farthest_most; // m
    double strain_most;
} start_case;

static const start_case cases[] = {
    {"sphere", make_sphere, 0.03, 0.08},   {"box", make_box, 0.15, 0.25},   {"angle", make_angle, 0.35, 0.1},
    {"corners", make_corners, 0.05, 0.05}, {"fold", make_fold, 0.35, 0.08}, {"layers", make_layers, 0.05, 0.08},
    {"tube", make_tube, 0.012, 0.12},
};

enum
{
    CASE_COUNT = sizeof(cases) / sizeof(cases[0])
};

static void starts_are_untangled(void** state)
{
    (void)state;
    for (int k = 0; k < CASE_COUNT; k++)
    {
        weft_sim* sim = new_sim(2);
        cases[k].make(sim);
        assert_true(count_crossings(sim) > 0);
        weft_untangling done;
        weft_error error = {0};
        if (weft_sim_untangle(sim, &done, &error) != WEFT_OK)
        {
            fail_msg("%s: %s", cases[k].name, error.message);
        }
        print_message("%s: %d crossings, %d rounds, farthest %.3g m, strain %.3g\n", cases[k].name, done.crossings,
                      done.rounds, done.farthest, done.max_strain);
        assert_int_equal(count_crossings(sim), 0);
        assert_true(done.crossings > 0 && done.farthest > 0.0 && done.farthest < cases[k].farthest_most);
        assert_true(done.max_strain < cases[k].strain_most);
        // There is nothing left to do, and steps go on from there.
        assert_int_equal(weft_sim_untangle(sim, &done, &error), WEFT_OK);
        assert_int_equal(done.crossings, 0);
        for (int n = 0; n < 5; n++)
        {
            assert_int_equal(weft_sim_step(sim, NULL, &error), WEFT_OK);
            assert_int_equal(count_crossings(sim), 0);
        }
        weft_sim_destroy(sim);
    }
}

static void pins_stay(void** state)
{
    (void)state;
    weft_sim* sim = new_sim(1);
    make_corners(sim);
    vec3 before[17 * 17], after[17 * 17];
    weft_sim_positions(sim, 0, before);
    assert_int_equal(weft_sim_untangle(sim, NULL, NULL), WEFT_OK);
    weft_sim_positions(sim, 0, after);
    assert_memory_equal(&before[0], &after[0], sizeof(vec3));
    assert_memory_equal(&before[16], &after[16], sizeof(vec3));
    weft_sim_destroy(sim);
}

static void bits_do_not_depend_on_threads(void** state)
{
    (void)state;
    void (*const makes[])(weft_sim*) = {make_box, make_layers, make_fold};
    for (int k = 0; k < 3; k++)
    {
        weft_sim* first = NULL;
        const int workers[] = {1, 2, 3, 8};
        for (int j = 0; j < 4; j++)
        {
            weft_sim* sim = new_sim(workers[j]);
            makes[k](sim);
            assert_int_equal(weft_sim_untangle(sim, NULL, NULL), WEFT_OK);
            first = first ? first : sim;
            assert_memory_equal(first->world.state.x, sim->world.state.x,
                                (size_t)sim->model.vertex_count * sizeof(vec3));
            sim != first ? weft_sim_destroy(sim) : (void)0;
        }
        weft_sim_destroy(first);
    }
}

// ---- what cannot be

static vec3 place_across(double u, double v, int k)
{
    (void)k;
    return v3(u - 0.5, v - 0.5, 0.011);
}

static void expect_refused(weft_sim* sim, const char* word)
{
    weft_error error = {0};
    vec3* before = MEM_NEW(weft_sim_collider_vertex_count(sim), vec3);
    vec3* after = MEM_NEW(weft_sim_collider_vertex_count(sim), vec3);
    assert_int_equal(weft_sim_collider_positions(sim, before, NULL), WEFT_OK);
    assert_int_equal(weft_sim_untangle(sim, NULL, &error), WEFT_BAD_INPUT);
    print_message("%s\n", error.message);
    assert_non_null(strstr(error.message, word));
    assert_non_null(strstr(error.message, "triangle "));
    assert_int_equal(weft_sim_collider_positions(sim, after, NULL), WEFT_OK);
    assert_memory_equal(before, after, (size_t)weft_sim_collider_vertex_count(sim) * sizeof(vec3));
    mem_free(before);
    mem_free(after);
    weft_sim_destroy(sim);
}

static void what_cannot_be_untangled_is_refused(void** state)
{
    (void)state;
    // A closed ring through a sheet whose ends are pinned.
    int ends[34];
    for (int k = 0; k < 17; k++)
    {
        ends[2 * k] = 17 * k;
        ends[2 * k + 1] = 17 * k + 16;
    }
    weft_sim* sim = new_sim(1);
    add_sheet(sim, &(sheet){"sheet", 16, 16, 1, 1, place_flat, ends, 34});
    shape_options ring = shape_default(SHAPE_TORUS);
    ring.radius = 0.2;
    ring.tube = 0.04;
    ring.axis = v3(1, 0, 0);
    ring.segments = 24;
    add_shape(sim, &ring);
    expect_refused(sim, "could not be untangled");
    // Two sheets whose pins cross.
    int all[49];
    for (int k = 0; k < 49; k++)
    {
        all[k] = k;
    }
    sim = new_sim(1);
    add_sheet(sim, &(sheet){"first", 6, 6, 1, 1, place_flat, all, 49});
    add_sheet(sim, &(sheet){"second", 6, 6, 1, 1, place_across, all, 49});
    expect_refused(sim, "every vertex is pinned");
}

// ---- scenes

#define TWO_SHEETS                                                                                                     \
    "{\"frames\": 2, \"steps_per_frame\": 3, \"cloth\": [{\"name\": \"a\", \"mesh\": {\"grid\": {\"cells\": 8}}}, "    \
    "{\"name\": \"b\", \"mesh\": {\"grid\": {\"cells\": 7}}, \"transform\": {\"rotate\": [0, 10, 25], \"translate\": " \
    "[0.02, 0.01, 0.03]}}]"

static weft_status start_scene(const char* text, weft_sim** sim, weft_error* error)
{
    weft_scene* scene = scene_load_text(text, NULL, 0);
    *error = (weft_error){0};
    weft_status status = weft_scene_create_sim(scene, 1, sim, error);
    weft_scene_destroy(scene);
    return status;
}

static void scenes_refuse_or_resolve(void** state)
{
    (void)state;
    weft_sim* sim = NULL;
    weft_error error;
    // Cloth with cloth, and cloth with itself.
    assert_int_equal(start_scene(TWO_SHEETS "}", &sim, &error), WEFT_BAD_INPUT);
    assert_non_null(strstr(error.message, "starts with crossings: triangle "));
    assert_non_null(strstr(error.message, "of `a` with "));
    assert_null(sim);
    assert_int_equal(start_scene(TWO_SHEETS ", \"initial_contact\": \"refuse\"}", &sim, &error), WEFT_BAD_INPUT);
    // Contact that is off, or leaves the pair alone, may start so.
    static const char* const fine[] = {
        TWO_SHEETS ", \"contact\": {\"enabled\": false}}",
        TWO_SHEETS ", \"contact\": {\"exclude\": [{\"pair\": [\"b\", \"a\"]}]}}",
    };
    for (int k = 0; k < 2; k++)
    {
        assert_int_equal(start_scene(fine[k], &sim, &error), WEFT_OK);
        assert_true(count_crossings(sim) > 0);
        weft_sim_destroy(sim);
    }
    assert_int_equal(start_scene(TWO_SHEETS ", \"initial_contact\": \"resolve\"}", &sim, &error), WEFT_OK);
    assert_int_equal(count_crossings(sim), 0);
    weft_sim_destroy(sim);
    weft_scene* scene = NULL;
    static const char wrong[] = TWO_SHEETS ", \"initial_contact\": \"ignore\"}";
    assert_int_equal(scene_load_bytes(wrong, strlen(wrong), &scene, &error), WEFT_BAD_INPUT);
    assert_non_null(strstr(error.message, "resolve"));
}

// Features with an excluded vertex are left alone, the others are not.
static void excluded_vertices_stay(void** state)
{
    (void)state;
    weft_sim* sim = NULL;
    weft_error error;
    char text[2048];
    int used = snprintf(text, sizeof(text), "%s",
                        TWO_SHEETS ", \"contact\": {\"exclude\": [{\"pair\": [\"a\", \"b\"], "
                                   "\"where\": {\"vertices\": [");
    for (int k = 0; k < 80; k++)
    {
        used += snprintf(text + used, sizeof(text) - (size_t)used, "%d, ", k);
    }
    snprintf(text + used, sizeof(text) - (size_t)used, "80]}}]}}");
    assert_int_equal(start_scene(text, &sim, &error), WEFT_OK);
    weft_sim_destroy(sim);
    snprintf(text + used, sizeof(text) - (size_t)used, "79]}}]}}");
    assert_int_equal(start_scene(text, &sim, &error), WEFT_OK); // corner 80 is far from the other sheet
    weft_sim_destroy(sim);
    assert_int_equal(start_scene(TWO_SHEETS ", \"contact\": {\"exclude\": [{\"pair\": [\"a\", \"b\"], \"where\": "
                                            "{\"vertices\": [0]}}]}}",
                                 &sim, &error),
                     WEFT_BAD_INPUT);
}

static int shell(const char* line)
{
    return test_shell(scene_folder, line);
}

static void runs_repeat_and_resume(void** state)
{
    (void)state;
    static const char text[] = TWO_SHEETS ", \"initial_contact\": \"resolve\"}";
    scene_write_bytes(scene_path("scene.json"), text, strlen(text));
    assert_int_equal(shell("\"$WEFT\" run scene.json -o one > out 2> err && grep -q 'crossings, untangled in' err"), 0);
    assert_int_equal(shell("grep -q '\"initial_contact\": \"resolve\"' one/scene.json"), 0);
    assert_int_equal(shell("\"$WEFT\" inspect one --frame 0 > out"), 0);
    assert_int_equal(shell("\"$WEFT\" run one/scene.json -o two --threads 3 > out 2> err"), 0);
    assert_int_equal(shell("cmp one/a.pc2 two/a.pc2 && cmp one/b.pc2 two/b.pc2"), 0);
    assert_int_equal(shell("\"$WEFT\" run scene.json --frames 1 -o three > out 2> err"), 0);
    // A checkpoint has the state: nothing is untangled again.
    assert_int_equal(
        shell("\"$WEFT\" run scene.json --frames 2 --resume -o three > out 2> err && ! grep -q untangled err"), 0);
    assert_int_equal(shell("cmp one/a.pc2 three/a.pc2 && cmp one/b.pc2 three/b.pc2"), 0);
    assert_int_equal(shell("rm -rf one two three out err"), 0);
}

// ---- memory

static void no_failing_allocation_brings_it_down(void** state)
{
    (void)state;
    weft_status status = WEFT_NO_MEMORY;
    int tried = 0;
    for (int fail_at = 1; status != WEFT_OK; fail_at += 1 + fail_at / 40)
    {
        test_ledger l = {.fail_at = fail_at};
        weft_sim* sim = new_sim(1);
        add_sheet(sim, &(sheet){"first", 5, 5, 1, 1, place_flat, NULL, 0});
        add_sheet(sim, &(sheet){"second", 4, 4, 1, 1, place_crossing, NULL, 0});
        test_ledger_open(&l);
        status = weft_sim_untangle(sim, NULL, NULL);
        assert_true(status == WEFT_OK || status == WEFT_NO_MEMORY);
        weft_sim_destroy(sim);
        test_ledger_close();
        tried++;
    }
    print_message("%d failing allocations\n", tried);
    assert_true(tried > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starts_are_untangled),          cmocka_unit_test(pins_stay),
        cmocka_unit_test(bits_do_not_depend_on_threads), cmocka_unit_test(what_cannot_be_untangled_is_refused),
        cmocka_unit_test(scenes_refuse_or_resolve),      cmocka_unit_test(excluded_vertices_stay),
        cmocka_unit_test(runs_repeat_and_resume),        cmocka_unit_test(no_failing_allocation_brings_it_down),
    };
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
