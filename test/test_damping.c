// Damping of local-global from outside: drag decays exactly, damping of shape keeps what rigid motion has.
#include "common.h"

#include <string.h>

#include "common_scene.h"
#include "sim/sim.h"
#include "step/shape_damping.h"

typedef struct momenta
{
    vec3 linear, angular;
} momenta;

static momenta momenta_of(const int* vertex, int count, const double* mass, const vec3* x, const vec3* v)
{
    momenta m = {{0, 0, 0}, {0, 0, 0}};
    for (int k = 0; k < count; k++)
    {
        int i = vertex ? vertex[k] : k;
        m.linear = v3_madd(m.linear, mass[i], v[i]);
        m.angular = v3_madd(m.angular, mass[i], v3_cross(x[i], v[i]));
    }
    return m;
}

// A scene of a sheet, straight strands and a solid, nothing of which touches.
static weft_sim* pieces(void)
{
    weft_sim* sim = scene_sim_text(
        "{\"time_step\": 0.02, \"model\": \"hooke\", \"method\": \"local-global\", \"contact\": {\"enabled\": false},"
        " \"cloth\": [{\"name\": \"sheet\", \"mesh\": {\"grid\": {\"size\": 1, \"cells\": 4}}}],"
        " \"strands\": [{\"name\": \"hair\", \"mesh\": {\"brush\": {\"count\": [2, 2], \"vertices\": 6,"
        " \"length\": 0.3}}, \"transform\": {\"translate\": [3, 0, 0]}}],"
        " \"volumes\": [{\"name\": \"box\", \"mesh\": {\"solid\": {\"box\": {\"size\": 0.3, \"cells\": 2}}},"
        " \"transform\": {\"translate\": [0, 3, 0]}}]}",
        1);
    assert_int_equal(sim_build(sim, NULL), WEFT_OK);
    return sim;
}

// Pieces are what elements join; each keeps its momenta and fades otherwise: rigid velocities stay as they are.
static void test_pieces_keep_their_momenta(void** unused)
{
    (void)unused;
    enum
    {
        MOST = 200
    };
    weft_sim* sim = pieces();
    const model* m = &sim->model;
    const vec3* x = sim->world.state.x;
    shape_damping s = {0};
    vec3 v[MOST], start[MOST], rigid[MOST];
    uint64_t n = 3;
    assert_true(m->vertex_count <= MOST);
    assert_int_equal(shape_damping_create(&s, &m->assembler.pattern), WEFT_OK);
    assert_int_equal(s.piece_count, 1 + 4 + 1);
    assert_int_equal(s.start[s.piece_count], m->vertex_count);
    for (int i = 0; i < m->vertex_count; i++)
    {
        start[i] = v[i] = test_random_vec(&n, 2.0);
        rigid[i] = v3_add(v3(1, 2, 3), v3_cross(v3(0.5, -2, 1), x[i]));
    }
    shape_damping_apply(&s, NULL, m->mass, x, 0.25, v);
    for (int p = 0; p < s.piece_count; p++)
    {
        const int* vertex = s.vertex + s.start[p];
        int count = s.start[p + 1] - s.start[p];
        momenta before = momenta_of(vertex, count, m->mass, x, start), after = momenta_of(vertex, count, m->mass, x, v);
        double mass = 0.0;
        for (int k = 0; k < count; k++)
        {
            mass += m->mass[vertex[k]];
        }
        assert_true(v3_length(v3_sub(before.linear, after.linear)) < 1e-14 * 2.0 * mass);
        assert_true(v3_length(v3_sub(before.angular, after.angular)) < 1e-13 * 2.0 * mass);
    }
    // What is taken away is three quarters of all that ever will be.
    vec3 none[MOST];
    memcpy(none, start, sizeof(none));
    shape_damping_apply(&s, NULL, m->mass, x, 0.0, none);
    vec3 kept[MOST];
    memcpy(kept, rigid, sizeof(kept));
    shape_damping_apply(&s, NULL, m->mass, x, 0.0, kept);
    for (int i = 0; i < m->vertex_count; i++)
    {
        vec3 wanted = v3_madd(none[i], 0.25, v3_sub(start[i], none[i]));
        assert_true(v3_length(v3_sub(v[i], wanted)) < 1e-13);
        assert_true(v3_length(v3_sub(kept[i], rigid[i])) < 1e-11);
    }
    shape_damping_finish(&s);
    weft_sim_destroy(sim);
}

#define FREE_SHEET                                                                                                     \
    "{\"time_step\": %.17g, \"model\": \"hooke\", \"method\": \"local-global\", \"gravity\": [0, 0, 0],"               \
    " \"local-global\": {%s}, \"contact\": {\"enabled\": false},"                                                      \
    " \"cloth\": [{\"name\": \"sheet\", \"mesh\": {\"grid\": {\"size\": 1, \"cells\": 8}}%s}]}"

static weft_sim* free_sheet(double h, const char* settings, int workers)
{
    char text[700];
    snprintf(text, sizeof(text), FREE_SHEET, h, settings, ", \"material\": {\"base\": \"cotton\", \"damping\": 0}");
    weft_sim* sim = scene_sim_text(text, workers);
    assert_int_equal(sim_build(sim, NULL), WEFT_OK);
    return sim;
}

static void take_steps(weft_sim* sim, int count)
{
    for (int k = 0; k < count; k++)
    {
        assert_int_equal(weft_sim_step(sim, NULL, NULL), WEFT_OK);
    }
}

// After a second velocities are exp(-drag) of what they were, whatever the step is.
static void test_drag_decays_exactly(void** unused)
{
    (void)unused;
    static const int steps[] = {30, 60, 250};
    for (int k = 0; k < 3; k++)
    {
        weft_sim* sim = free_sheet(1.0 / steps[k], "\"drag\": 1.7", 1);
        vec3 v[81];
        for (int i = 0; i < 81; i++)
        {
            v[i] = v3(1, -2, 0.5);
        }
        assert_int_equal(weft_sim_set_state(sim, 0, NULL, v), WEFT_OK);
        take_steps(sim, steps[k]);
        weft_sim_velocities(sim, 0, v);
        for (int i = 0; i < 81; i++)
        {
            assert_true(v3_length(v3_sub(v[i], v3_scale(exp(-1.7), v3(1, -2, 0.5)))) < 1e-12);
        }
        weft_sim_destroy(sim);
    }
}

// Kinetic energy without that of rigid motion, J.
static double wobble(const weft_sim* sim, vec3* momentum)
{
    const model* m = &sim->model;
    const state* now = &sim->world.state;
    shape_damping s = {0};
    vec3 rigid[81];
    double sum = 0.0;
    memcpy(rigid, now->v, sizeof(rigid));
    assert_int_equal(shape_damping_create(&s, &m->assembler.pattern), WEFT_OK);
    shape_damping_apply(&s, NULL, m->mass, now->x, 0.0, rigid);
    shape_damping_finish(&s);
    *momentum = v3(0, 0, 0);
    for (int i = 0; i < 81; i++)
    {
        vec3 d = v3_sub(now->v[i], rigid[i]);
        *momentum = v3_madd(*momentum, m->mass[i], now->v[i]);
        sum += 0.5 * m->mass[i] * v3_dot(d, d);
    }
    return sum;
}

// A sheet that flies and wobbles flies on as fast and wobbles less; the same on any number of threads.
static void test_wobbling_dies_alone(void** unused)
{
    (void)unused;
    static const char* const settings[] = {"\"damping\": 0", "\"damping\": 8", "\"damping\": 8"};
    double left[3];
    vec3 end[3][81];
    for (int k = 0; k < 3; k++)
    {
        weft_sim* sim = free_sheet(0.01, settings[k], k == 2 ? 3 : 1);
        vec3 v[81], first, last;
        uint64_t n = 9;
        for (int i = 0; i < 81; i++)
        {
            v[i] = v3_add(v3(2, 0, 1), test_random_vec(&n, 0.3));
        }
        assert_int_equal(weft_sim_set_state(sim, 0, NULL, v), WEFT_OK);
        wobble(sim, &first);
        take_steps(sim, 50);
        left[k] = wobble(sim, &last);
        assert_true(v3_length(v3_sub(first, last)) < 1e-12);
        weft_sim_positions(sim, 0, end[k]);
        weft_sim_destroy(sim);
    }
    assert_true(left[0] > 1e-5 && left[1] < 0.01 * left[0]);
    assert_memory_equal(end[1], end[2], sizeof(end[1]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces_keep_their_momenta),
        cmocka_unit_test(test_drag_decays_exactly),
        cmocka_unit_test(test_wobbling_dies_alone),
    };
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
