// Obstacles of a simulation: where they are at a time against closed forms, samples from arrays and callbacks, floats,
// meshes that cloth could not have, names, exclusions, failing memory; and that cloth does not feel them yet.
#include "common.h"

#include <string.h>

#include "common_sim.h"
#include "sim/fingerprint.h"
#include "sim/sim.h"

static const vec3 tetra_x[] = {{0.1, 0.2, 0.3}, {1.1, 0.2, 0.3}, {0.1, 1.2, 0.3}, {0.1, 0.2, 1.3}};
static const int tetra_faces[] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};

static weft_obstacle_def tetra(void)
{
    weft_obstacle_def def = weft_obstacle_def_default();
    def.positions = tetra_x;
    def.vertex_count = 4;
    def.face_vertices = tetra_faces;
    def.face_count = 4;
    return def;
}

// One cloth of a triangle.
static weft_sim* new_sim(void)
{
    static const vec3 x[] = {{0, 1, 0}, {1, 1, 0}, {0, 1, 1}};
    static const int face[] = {0, 2, 1};
    weft_sim_def def = weft_sim_def_default();
    weft_sim* sim = NULL;
    assert_int_equal(weft_sim_create(&def, &sim, NULL), WEFT_OK);
    weft_cloth_def cloth = weft_cloth_def_default();
    cloth.name = "sheet";
    cloth.positions = x;
    cloth.vertex_count = 3;
    cloth.face_vertices = face;
    cloth.face_count = 1;
    assert_int_equal(weft_sim_add_cloth(sim, &cloth, NULL, NULL), WEFT_OK);
    return sim;
}

static weft_obstacle_id add(weft_sim* sim, const weft_obstacle_def* def)
{
    weft_obstacle_id id = -1;
    weft_error error = {0};
    if (weft_sim_add_obstacle(sim, def, &id, &error) != WEFT_OK)
    {
        fail_msg("%s", error.message);
    }
    return id;
}

static void assert_floats(vec3 found, vec3 expected)
{
    vec3 rounded = v3_round(found);
    assert_memory_equal(&rounded, &found, sizeof(vec3));
    assert_true(v3_length(v3_sub(found, expected)) < 1e-6);
}

static void place(weft_sim* sim, weft_obstacle_id id, double time, vec3* out)
{
    assert_int_equal(weft_sim_obstacle_positions(sim, id, time, out, NULL), WEFT_OK);
}

// ---- motion

static void test_still_obstacles(void** state)
{
    (void)state;
    weft_sim* sim = new_sim();
    weft_obstacle_def def = tetra();
    weft_obstacle_id id = add(sim, &def);
    vec3 x[4];
    for (int k = 0; k < 3; k++)
    {
        place(sim, id, 0.7 * k, x);
        for (int v = 0; v < 4; v++)
        {
            vec3 rounded = v3_round(tetra_x[v]);
            assert_memory_equal(&x[v], &rounded, sizeof(vec3));
        }
    }
    assert_int_equal(weft_sim_obstacle_count(sim), 1);
    assert_string_equal(weft_sim_obstacle_name(sim, id), "obstacle1");
    assert_int_equal(weft_sim_obstacle_vertex_count(sim, id), 4);
    assert_int_equal(weft_sim_obstacle_is_still(sim, id), 1);
    int triangles[12];
    assert_int_equal(weft_sim_obstacle_triangle_count(sim, id), 4);
    weft_sim_obstacle_triangles(sim, id, triangles);
    assert_memory_equal(triangles, tetra_faces, sizeof(triangles));
    weft_sim_destroy(sim);
}

// A turn about the y axis through (1, 0, 0) and a way along z, written out.
static void test_keys_against_closed_form(void** state)
{
    (void)state;
    weft_sim* sim = new_sim();
    const weft_pin_key keys[] = {{0.5, {0, 0, 0}, 0.0}, {1.5, {0, 0, 2}, PI}};
    weft_obstacle_def def = tetra();
    def.keys = keys;
    def.key_count = 2;
    def.axis = v3(0, 3, 0);
    def.center = v3(1, 0, 0);
    weft_obstacle_id id = add(sim, &def);
    assert_int_equal(weft_sim_obstacle_is_still(sim, id), 0);
    for (double t = 0.0; t < 2.05; t += 0.125)
    {
        double s = fmin(fmax(t - 0.5, 0.0), 1.0), angle = PI * s;
        vec3 x[4];
        place(sim, id, t, x);
        for (int v = 0; v < 4; v++)
        {
            vec3 p = v3_round(tetra_x[v]);
            double dx = p.x - 1.0, dz = p.z;
            assert_floats(
                x[v], v3(1.0 + cos(angle) * dx + sin(angle) * dz, p.y, -sin(angle) * dx + cos(angle) * dz + 2.0 * s));
        }
    }
    weft_sim_destroy(sim);
}

// ---- samples

enum
{
    SAMPLES = 7
};

static vec3 sample_value(int sample, int vertex)
{
    return v3(tetra_x[vertex].x + 0.3 * sample, tetra_x[vertex].y * (1.0 + sample), 0.1 * sample * sample * vertex);
}

typedef struct reader
{
    int calls, released, fail_at; // fail_at: the call that fails; 0: none
    int nan_sample;               // -1: none
} reader;

static weft_status read_sample(void* user, int sample, weft_vec3* out, weft_error* error)
{
    reader* r = user;
    if (++r->calls == r->fail_at)
    {
        snprintf(error->message, sizeof(error->message), "sample %d is gone", sample);
        return error->status = WEFT_BAD_INPUT;
    }
    for (int v = 0; v < 4; v++)
    {
        out[v] = sample_value(sample, v);
    }
    out[2].y = sample == r->nan_sample ? NAN : out[2].y;
    return WEFT_OK;
}

static void release(void* user)
{
    ((reader*)user)->released++;
}

static vec3 sample_expected(double time, double rate, double start, int v)
{
    double at = fmin(fmax((time - start) * rate, 0.0), SAMPLES - 1.0);
    int k = (int)fmin(floor(at), SAMPLES - 2.0);
    vec3 a = v3_round(sample_value(k, v)), b = v3_round(sample_value(k + 1, v));
    return v3_madd(a, at - k, v3_sub(b, a));
}

static void test_samples_are_interpolated(void** state)
{
    (void)state;
    vec3 samples[4 * SAMPLES];
    for (int k = 0; k < 4 * SAMPLES; k++)
    {
        samples[k] = sample_value(k / 4, k % 4);
    }
    reader r = {.nan_sample = -1};
    weft_sim* sim = new_sim();
    weft_obstacle_def def = tetra();
    def.sample_count = SAMPLES;
    def.sample_rate = 20.0;
    def.sample_start = 0.1;
    def.samples = samples;
    weft_obstacle_id array = add(sim, &def);
    def.samples = NULL;
    def.read_sample = read_sample;
    def.user = &r;
    def.release = release;
    weft_obstacle_id called = add(sim, &def);
    assert_int_equal(r.calls, SAMPLES); // each once, to be checked
    for (double t = -0.2; t < 0.6; t += 0.0125)
    {
        vec3 x[4], y[4];
        place(sim, array, t, x);
        place(sim, called, t, y);
        assert_memory_equal(x, y, sizeof(x));
        for (int v = 0; v < 4; v++)
        {
            assert_floats(x[v], sample_expected(t, 20.0, 0.1, v));
        }
    }
    assert_int_equal(r.calls, 2 * SAMPLES); // two are kept: going forwards reads each once more
    // A sample's own time gives the sample, to the bit.
    for (int k = 0; k < SAMPLES; k++)
    {
        vec3 x[4];
        place(sim, called, 0.1 + k / 20.0, x);
        for (int v = 0; v < 4; v++)
        {
            vec3 rounded = v3_round(sample_value(k, v));
            assert_memory_equal(&x[v], &rounded, sizeof(vec3));
        }
    }
    weft_sim_destroy(sim);
    assert_int_equal(r.released, 1);
}

static void test_keys_move_what_samples_give(void** state)
{
    (void)state;
    const weft_pin_key keys[] = {{0.0, {0, 0, 0}, 0.0}, {1.0, {5, 0, 0}, 0.0}};
    reader r = {.nan_sample = -1};
    weft_sim* sim = new_sim();
    weft_obstacle_def def = tetra();
    def.sample_count = SAMPLES;
    def.sample_rate = 10.0;
    def.read_sample = read_sample;
    def.user = &r;
    def.keys = keys;
    def.key_count = 2;
    weft_obstacle_id id = add(sim, &def);
    vec3 x[4];
    place(sim, id, 0.25, x);
    for (int v = 0; v < 4; v++)
    {
        vec3 expected = v3_add(sample_expected(0.25, 10.0, 0.0, v), v3(1.25, 0, 0));
        assert_floats(x[v], expected);
    }
    weft_sim_destroy(sim);
}

static void test_bad_samples(void** state)
{
    (void)state;
    weft_sim* sim = new_sim();
    weft_obstacle_def def = tetra();
    def.sample_count = SAMPLES;
    def.read_sample = read_sample;
    def.release = release;
    weft_error error = {0};
    reader nan = {.nan_sample = 5};
    def.user = &nan;
    assert_int_equal(weft_sim_add_obstacle(sim, &def, NULL, &error), WEFT_BAD_INPUT);
    assert_non_null(strstr(error.message, "sample 5"));
    assert_non_null(strstr(error.message, "vertex 2"));
    assert_int_equal(nan.released, 1);
    reader gone = {.nan_sample = -1, .fail_at = 3};
    def.user = &gone;
    assert_int_equal(weft_sim_add_obstacle(sim, &def, NULL, &error), WEFT_BAD_INPUT);
    assert_string_equal(error.message, "sample 2 is gone");
    assert_int_equal(gone.released, 1);
    // One that fails later leaves the others readable.
    reader late = {.nan_sample = -1, .fail_at = SAMPLES + 2};
    def.user = &late;
    weft_obstacle_id id = add(sim, &def);
    vec3 x[4];
    place(sim, id, 0.0, x);
    assert_int_equal(weft_sim_obstacle_positions(sim, id, 1.01 / 25.0, x, &error), WEFT_BAD_INPUT);
    place(sim, id, 1.01 / 25.0, x);
    assert_floats(x[1], sample_expected(1.01 / 25.0, 25.0, 0.0, 1));
    def.sample_rate = 0.0;
    def.user = NULL;
    def.release = NULL;
    assert_int_equal(weft_sim_add_obstacle(sim, &def, NULL, &error), WEFT_BAD_INPUT);
    assert_non_null(strstr(error.message, "sample_rate"));
    weft_sim_destroy(sim);
}

// ---- meshes that cloth could not have

static void test_forgiving_meshes(void** state)
{
    (void)state;
    const vec3 x[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {2, 0, 0}, {3, 0, 0}};
    // Three triangles on one edge, one of them twice; one without area; a quad that crosses itself.
    const int start[] = {0, 3, 6, 9, 12, 15, 19};
    const int faces[] = {0, 1, 2, 0, 1, 3, 0, 1, 4, 0, 1, 2, 1, 5, 6, 2, 3, 1, 4};
    weft_sim* sim = new_sim();
    weft_obstacle_def def = weft_obstacle_def_default();
    def.positions = x;
    def.vertex_count = 7;
    def.face_start = start;
    def.face_vertices = faces;
    def.face_count = 6;
    weft_obstacle_id id = add(sim, &def);
    assert_int_equal(weft_sim_obstacle_triangle_count(sim, id), 7);
    mesh_defects d;
    assert_int_equal(mesh_find_defects(&sim->obstacles[id].mesh, &d), WEFT_OK);
    assert_int_equal(d.flat, 1);
    assert_int_equal(d.first_flat, 4);
    assert_int_equal(d.repeated, 1);
    assert_int_equal(d.crowded, 2); // of vertices 0 and 1, 1 and 2
    assert_true(d.open_edges > 0);
    // No triangle, a missing vertex, a coordinate that is no number: these are errors.
    weft_error error = {0};
    const int wrong[] = {0, 1, 9};
    def.face_start = NULL;
    def.face_vertices = wrong;
    def.face_count = 1;
    assert_int_equal(weft_sim_add_obstacle(sim, &def, NULL, &error), WEFT_BAD_INPUT);
    assert_non_null(strstr(error.message, "vertex 9"));
    def.face_count = 0;
    assert_int_equal(weft_sim_add_obstacle(sim, &def, NULL, &error), WEFT_BAD_INPUT);
    weft_obstacle_def bad = tetra();
    vec3 nan[4];
    memcpy(nan, tetra_x, sizeof(nan));
    nan[3].z = NAN;
    bad.positions = nan;
    assert_int_equal(weft_sim_add_obstacle(sim, &bad, NULL, &error), WEFT_BAD_INPUT);
    assert_non_null(strstr(error.message, "vertex 3"));
    weft_sim_destroy(sim);
}

static void test_names_and_numbers(void** state)
{
    (void)state;
    weft_sim* sim = new_sim();
    weft_obstacle_def def = tetra();
    weft_error error = {0};
    static const char* const names[] = {"sheet", "a/b", "", ".a", "a.motion"};
    for (int k = 0; k < 5; k++)
    {
        def.name = names[k];
        assert_int_equal(weft_sim_add_obstacle(sim, &def, NULL, &error), WEFT_BAD_INPUT);
        assert_non_null(strstr(error.message, k == 0 ? "another body" : "file name"));
    }
    def.name = "body";
    add(sim, &def);
    assert_int_equal(weft_sim_add_obstacle(sim, &def, NULL, &error), WEFT_BAD_INPUT);
    def.name = NULL;
    def.friction = NAN;
    assert_int_equal(weft_sim_add_obstacle(sim, &def, NULL, &error), WEFT_BAD_INPUT);
    def.friction = 0.3;
    def.static_friction = 0.2; // less than in motion
    assert_int_equal(weft_sim_add_obstacle(sim, &def, NULL, &error), WEFT_BAD_INPUT);
    def.static_friction = -1.0;
    def.thickness = NAN;
    assert_int_equal(weft_sim_add_obstacle(sim, &def, NULL, &error), WEFT_BAD_INPUT);
    def.thickness = 1e-3;
    const weft_pin_key turn = {.angle = 1.0};
    def.keys = &turn;
    def.key_count = 1;
    assert_int_equal(weft_sim_add_obstacle(sim, &def, NULL, &error), WEFT_BAD_INPUT);
    assert_non_null(strstr(error.message, "axis"));
    const weft_pin_key away = {.offset = {0, 1e30, 0}};
    def.keys = &away;
    assert_int_equal(weft_sim_add_obstacle(sim, &def, NULL, &error), WEFT_BAD_INPUT);
    assert_non_null(strstr(error.message, "below 1e12 m"));
    assert_int_equal(weft_sim_obstacle_count(sim), 1);
    weft_sim_destroy(sim);
}

// ---- the whole scene

// One range after the other, as contact will want them.
static void test_all_at_once(void** state)
{
    (void)state;
    weft_sim* sim = new_sim();
    weft_obstacle_def def = tetra();
    const weft_pin_key keys[] = {{0.0, {0, 0, 0}, 0.0}, {1.0, {5, 0, 0}, 0.0}};
    add(sim, &def);
    def.keys = keys;
    def.key_count = 2;
    add(sim, &def);
    assert_int_equal(sim->obstacle_vertices, 8);
    vec3 all[8], own[4];
    assert_int_equal(obstacles_at(sim, 0.5, all, NULL), WEFT_OK);
    for (int k = 0; k < 2; k++)
    {
        place(sim, k, 0.5, own);
        assert_memory_equal(all + sim->obstacles[k].first, own, sizeof(own));
    }
    weft_sim_destroy(sim);
}

static void test_exclusions(void** state)
{
    (void)state;
    weft_sim* sim = new_sim();
    weft_obstacle_def def = tetra();
    def.name = "ball";
    add(sim, &def);
    def.name = "box";
    add(sim, &def);
    int vertices[] = {0, 2};
    weft_error error = {0};
    assert_int_equal(weft_sim_exclude(sim, &(weft_exclusion){"sheet", "ball", vertices, 2}, &error), WEFT_OK);
    assert_int_equal(weft_sim_exclude(sim, &(weft_exclusion){.first = "sheet", .second = "sheet"}, &error), WEFT_OK);
    vertices[0] = vertices[1] = 77; // copied
    assert_int_equal(weft_sim_exclusion_count(sim), 2);
    weft_exclusion e = weft_sim_exclusion_at(sim, 0);
    assert_string_equal(e.first, "sheet");
    assert_string_equal(e.second, "ball");
    assert_int_equal(e.vertex_count, 2);
    assert_true(e.vertices[0] == 0 && e.vertices[1] == 2);
    assert_null(weft_sim_exclusion_at(sim, 1).vertices);
    assert_int_equal(weft_sim_exclude(sim, &(weft_exclusion){.first = "sheet", .second = "bal"}, &error),
                     WEFT_NOT_FOUND);
    assert_non_null(strstr(error.message, "did you mean `ball`?"));
    assert_int_equal(weft_sim_exclude(sim, &(weft_exclusion){.first = "ball", .second = "box"}, &error),
                     WEFT_BAD_INPUT);
    assert_int_equal(weft_sim_exclude(sim, &(weft_exclusion){"sheet", "ball", vertices, 2}, &error), WEFT_BAD_INPUT);
    assert_non_null(strstr(error.message, "vertex 77"));
    weft_sim_destroy(sim);
}

// Cloth goes its way as if obstacles were not there; the linear system has its vertices alone.
static void test_cloth_does_not_feel_them(void** state)
{
    (void)state;
    vec3 x[2][3];
    for (int pass = 0; pass < 2; pass++)
    {
        weft_sim* sim = new_sim();
        weft_obstacle_def def = tetra();
        if (pass == 1)
        {
            add(sim, &def);
        }
        for (int k = 0; k < 5; k++)
        {
            assert_int_equal(weft_sim_step(sim, NULL, NULL), WEFT_OK);
        }
        weft_system* system = NULL;
        assert_int_equal(weft_sim_system(sim, &system, NULL), WEFT_OK);
        assert_int_equal(weft_system_vertex_count(system), 3);
        weft_system_destroy(system);
        weft_sim_positions(sim, 0, x[pass]);
        weft_sim_destroy(sim);
    }
    assert_memory_equal(x[0], x[1], sizeof(x[0]));
}

static uint64_t fingerprint_with(const weft_obstacle_def* def, const weft_exclusion* exclusion)
{
    weft_sim* sim = new_sim();
    if (def)
    {
        add(sim, def);
    }
    if (exclusion)
    {
        assert_int_equal(weft_sim_exclude(sim, exclusion, NULL), WEFT_OK);
    }
    assert_int_equal(sim_build(sim, NULL), WEFT_OK);
    uint64_t value = sim_fingerprint(sim);
    weft_sim_destroy(sim);
    return value;
}

// Whatever changes an obstacle changes the fingerprint that checkpoints must agree with.
static void test_fingerprint_knows_obstacles(void** state)
{
    (void)state;
    enum
    {
        KINDS = 9
    };
    weft_obstacle_def base = tetra(), def[KINDS];
    const weft_pin_key keys[] = {{0.0, {0, 0, 0}, 0.0}, {1.0, {5, 0, 0}, 0.0}};
    vec3 moved[4], samples[2][8];
    memcpy(moved, tetra_x, sizeof(moved));
    moved[1].x += 1e-3;
    for (int k = 0; k < 8; k++)
    {
        samples[0][k] = samples[1][k] = sample_value(k / 4, k % 4);
    }
    samples[1][7].z += 1e-3;
    for (int k = 0; k < KINDS; k++)
    {
        def[k] = base;
    }
    def[1].friction = 0.2;
    def[2].thickness = 2e-3;
    def[3].positions = moved;
    def[4].name = "other";
    def[5].keys = keys, def[5].key_count = 2;
    def[6].samples = samples[0], def[6].sample_count = 2;
    def[7].samples = samples[1], def[7].sample_count = 2;
    def[8].samples = samples[0], def[8].sample_count = 2, def[8].sample_start = 1.0;
    uint64_t hash[KINDS + 2];
    for (int k = 0; k < KINDS; k++)
    {
        hash[k] = fingerprint_with(&def[k], NULL);
    }
    hash[KINDS] = fingerprint_with(NULL, NULL);
    hash[KINDS + 1] = fingerprint_with(&base, &(weft_exclusion){.first = "sheet", .second = "obstacle1"});
    for (int a = 0; a < KINDS + 2; a++)
    {
        for (int b = 0; b < a; b++)
        {
            assert_true(hash[a] != hash[b]);
        }
    }
    assert_true(hash[0] == fingerprint_with(&base, NULL));
}

static void test_failing_memory(void** state)
{
    (void)state;
    const weft_pin_key keys[] = {{0.0, {0, 0, 0}, 0.0}, {1.0, {5, 0, 0}, 0.0}};
    bool done = false;
    for (int k = 1; !done; k++)
    {
        test_ledger ledger = {.fail_at = 0};
        test_ledger_open(&ledger);
        reader r = {.nan_sample = -1};
        weft_sim* sim = new_sim();
        weft_obstacle_def def = tetra();
        def.sample_count = SAMPLES;
        def.read_sample = read_sample;
        def.user = &r;
        def.release = release;
        def.keys = keys;
        def.key_count = 2;
        ledger.fail_at = ledger.made + k;
        weft_error error;
        weft_status status = weft_sim_add_obstacle(sim, &def, NULL, &error);
        weft_exclusion e = {"sheet", "obstacle1", (const int[]){1}, 1};
        status = status == WEFT_OK ? weft_sim_exclude(sim, &e, &error) : status;
        done = status == WEFT_OK;
        assert_true(done || status == WEFT_NO_MEMORY);
        weft_sim_destroy(sim);
        assert_int_equal(r.released, 1);
        assert_int_equal(ledger.live, 0);
        test_ledger_close();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_still_obstacles),
        cmocka_unit_test(test_keys_against_closed_form),
        cmocka_unit_test(test_samples_are_interpolated),
        cmocka_unit_test(test_keys_move_what_samples_give),
        cmocka_unit_test(test_bad_samples),
        cmocka_unit_test(test_forgiving_meshes),
        cmocka_unit_test(test_names_and_numbers),
        cmocka_unit_test(test_all_at_once),
        cmocka_unit_test(test_exclusions),
        cmocka_unit_test(test_cloth_does_not_feel_them),
        cmocka_unit_test(test_fingerprint_knows_obstacles),
        cmocka_unit_test(test_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
