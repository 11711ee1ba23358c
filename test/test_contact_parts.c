// The parts of contact that can be held against something simple: couplings against a dense sum, forces of cushions
// against finite differences of their potential, and what bodies close on.
#include "common.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common_scene.h"
#include "core/core.h"
#include "sim/sim.h"
#include "sparse/sparse.h"
#include "contact/find.h"

// ---- couplings

enum
{
    ROWS = 40,
    COUPLINGS = 60
};

// A chain of vertices, each coupled with the next.
static bsr_matrix chain(bsr_pattern* pattern, uint64_t* random)
{
    int pairs[2 * (ROWS - 1)];
    for (int i = 0; i + 1 < ROWS; i++)
    {
        pairs[2 * i] = i;
        pairs[2 * i + 1] = i + 1;
    }
    element_list list = {ROWS - 1, 2, pairs};
    assert_int_equal(bsr_pattern_create(ROWS, &list, 1, pattern), WEFT_OK);
    bsr_matrix A = {pattern, MEM_NEW(9 * (size_t)pattern->block_count, double)};
    for (int k = 0; k < 9 * pattern->block_count; k++)
    {
        A.values[k] = test_random(random, -1, 1);
    }
    return A;
}

static coupling random_coupling(uint64_t* random, bool near)
{
    coupling c = {.row = {-1, -1, -1, -1}};
    int first = (int)test_random(random, 0, ROWS - 4);
    for (int a = 0; a < 4; a++)
    {
        int row = near ? first + a % 2 : (first + a * 9) % ROWS;
        bool twice = false;
        for (int b = 0; b < a; b++)
        {
            twice = twice || c.row[b] == row;
        }
        c.row[a] = twice || test_random(random, 0, 1) < 0.2 ? -1 : row;
        c.weight[a] = test_random(random, -1, 1);
    }
    vec3 n = test_random_vec(random, 1.0);
    mat3 K = m3_outer(n, n);
    memcpy(c.K, K.m, sizeof(c.K));
    return c;
}

static void add_dense(double* dense, const bsr_matrix* A)
{
    for (int i = 0; i < ROWS; i++)
    {
        for (int s = A->pattern->row_start[i]; s < A->pattern->row_start[i + 1]; s++)
        {
            for (int k = 0; k < 9; k++)
            {
                dense[(3 * i + k / 3) * 3 * ROWS + 3 * A->pattern->column[s] + k % 3] += A->values[9 * s + k];
            }
        }
    }
}

static void couplings_are_sums(void** state)
{
    (void)state;
    static double dense[9 * ROWS * ROWS], found[9 * ROWS * ROWS];
    uint64_t random = 5;
    for (int turn = 0; turn < 40; turn++)
    {
        bsr_pattern pattern;
        bsr_matrix A = chain(&pattern, &random);
        coupling list[COUPLINGS];
        int count = (int)test_random(&random, 0, COUPLINGS);
        for (int k = 0; k < count; k++)
        {
            list[k] = random_coupling(&random, turn % 2 == 0);
        }
        memset(dense, 0, sizeof(dense));
        memset(found, 0, sizeof(found));
        add_dense(dense, &A);
        for (int k = 0; k < count * 16 * 9; k++)
        {
            const coupling* c = &list[k / 144];
            int a = k / 36 % 4, b = k / 9 % 4, e = k % 9;
            if (c->row[a] >= 0 && c->row[b] >= 0)
            {
                dense[(3 * c->row[a] + e / 3) * 3 * ROWS + 3 * c->row[b] + e % 3] +=
                    c->weight[a] * c->weight[b] * c->K[e];
            }
        }
        coupled_matrix m = {0};
        assert_int_equal(coupled_structure(&m, &pattern, list, count), WEFT_OK);
        uint64_t version = m.version;
        double* own = A.values;
        assert_int_equal(coupled_values(&m, &A, list, NULL), WEFT_OK);
        assert_int_equal(A.values == own, m.extra_start[ROWS] == 0); // in place when the pattern has it all
        assert_true(turn % 2 == 1 || A.values == own);
        add_dense(found, &A);
        for (int k = 0; k < 9 * ROWS * ROWS; k++)
        {
            assert_true(fabs(found[k] - dense[k]) < 1e-13);
        }
        for (int i = 0; i < ROWS; i++)
        {
            assert_int_equal(A.pattern->column[A.pattern->diagonal[i]], i);
        }
        // The same couplings again are no new pattern; one less is, where it added something.
        assert_int_equal(coupled_structure(&m, &pattern, list, count), WEFT_OK);
        assert_true(m.version == version);
        coupled_finish(&m);
        mem_free(own);
        bsr_pattern_finish(&pattern);
    }
}

// ---- cushions

enum
{
    POINTS = 8,
    CLOTH_POINTS = 6 // the others are an obstacle's
};

typedef struct cushion_scene
{
    contact c;
    contact_state last;
    contact_memory memory[CLOTH_POINTS];
    contact_bond bond;
    contact_row row;
    vec3 x[POINTS], v[POINTS], a[POINTS];
    double inv_mass[POINTS];
    cushion_load load[CLOTH_POINTS];
    int body[POINTS], record[CLOTH_POINTS];
    cushion room[1];
    vec3 lost[CLOTH_POINTS], glide[CLOTH_POINTS];
    bool fixed[CLOTH_POINTS], between[CLOTH_POINTS];
} cushion_scene;

// One cushion between random points, that slides or clings.
static void cushion_scene_make(cushion_scene* s, uint64_t* random, int turn)
{
    *s = (cushion_scene){0};
    bool edges = turn % 2;
    for (int i = 0; i < POINTS; i++)
    {
        s->x[i] = test_random_vec(random, 0.01);
        s->v[i] = test_random_vec(random, 0.3);
        s->a[i] = test_random_vec(random, 5.0);
        s->inv_mass[i] = i < CLOTH_POINTS ? 1.0 / test_random(random, 1e-5, 1e-4) : 0.0;
        s->body[i] = i >= CLOTH_POINTS;
    }
    s->row = (contact_row){.kind = edges ? WEFT_EDGE_EDGE : WEFT_VERTEX_FACE,
                           .vertex = {turn % 3, edges || turn % 4 < 2 ? 3 : 6, 4, turn % 4 == 3 ? 7 : 5},
                           .weight = {1, -0.2, -0.3, -0.5},
                           .normal = v3_normalize(test_random_vec(random, 1.0)),
                           .distance = test_random(random, 0, 1.2e-3),
                           .thickness = 1e-3,
                           .friction = {0.5, 0.4}};
    s->bond = (contact_bond){.kind = (int)s->row.kind, .clings = turn % 3 == 0, .drawn = test_random_vec(random, 1e-5)};
    memcpy(s->bond.vertex, s->row.vertex, sizeof(s->row.vertex));
    s->last = (contact_state){.memory = s->memory, .bonds = &s->bond, .bond_count = turn % 3 != 1};
    memset(s->record, -1, sizeof(s->record));
    s->c = (contact){.cloth_count = CLOTH_POINTS,
                     .vertex_count = POINTS,
                     .inv_mass = s->inv_mass,
                     .body = s->body,
                     .velocity = s->v,
                     .record = s->record,
                     .load = s->load,
                     .lost = s->lost,
                     .glide = s->glide,
                     .fixed = s->fixed,
                     .between = s->between,
                     .rows = {.item = &s->row, .count = 1},
                     .now = {.h = 0.004, .v = s->v, .expected = s->a, .last = &s->last},
                     .cushions = s->room};
    cushions_take(&s->c);
    rub_all(&s->c);
}

// The force is minus the gradient of the potential by velocity, and the coupling its second derivative.
static void cushion_is_gradient(cushion_scene* s)
{
    contact* c = &s->c;
    vec3 rhs[POINTS] = {{0, 0, 0}}, *v = s->v;
    cushions_push(c, v, rhs);
    coupling k = cushion_coupling(c, &c->cushions[0]);
    for (int part = 0; part < 3 * CLOTH_POINTS; part++)
    {
        int i = part / 3, axis = part % 3;
        double* changed = &v[i].x + axis;
        double keep = *changed, step = 1e-4;
        vec3 rhs_up[POINTS] = {{0, 0, 0}};
        *changed = keep + step;
        double up = cushions_potential(c, v);
        cushions_push(c, v, rhs_up);
        *changed = keep - step;
        double down = cushions_potential(c, v);
        *changed = keep;
        double gradient = (up - down) / (2 * step), scale = fabs(gradient) + 1e-9;
        assert_true(fabs(gradient + (&rhs[i].x)[axis]) < 1e-6 * scale + 1e-12);
        for (int e = 0; e < 16; e++)
        {
            int a = e / 4, b = e % 4;
            if (k.row[b] != i || k.row[a] < 0)
            {
                continue;
            }
            vec3 change = v3_scale(-1.0 / step, v3_sub(rhs_up[k.row[a]], rhs[k.row[a]]));
            for (int row = 0; row < 3; row++)
            {
                double expected = k.weight[a] * k.weight[b] * k.K[3 * row + axis];
                assert_true(fabs((&change.x)[row] - expected) < 1e-6 * fabs(expected) + 1e-7);
            }
        }
    }
}

static void cushions_are_gradients(void** state)
{
    (void)state;
    uint64_t random = 11;
    int clinging = 0, sliding = 0;
    for (int turn = 0; turn < 200; turn++)
    {
        cushion_scene s;
        cushion_scene_make(&s, &random, turn);
        if (s.c.cushion_count > 0)
        {
            clinging += s.room[0].cling > 0.0;
            sliding += s.room[0].cling == 0.0;
            cushion_is_gradient(&s);
        }
    }
    assert_true(clinging > 30 && sliding > 60);
}

// ---- projection

// A sheet that lies on a plane and would go down and aside: rows take it back to the thickness, and friction takes mu
// times that way off the other, or all of it.
static void rows_project_with_friction(void** state)
{
    (void)state;
    static const char text[] =
        "{\"cloth\": [{\"name\": \"sheet\", \"mesh\": {\"grid\": {\"size\": 0.2, \"cells\": 5}}, \"transform\": "
        "{\"translate\": [0.013, 0.001, 0.007]}}], \"obstacles\": [{\"name\": \"floor\", \"friction\": 0.4, \"shape\": "
        "{\"plane\": {}}}]}";
    const double down = 0.004, ways[] = {0.01, 0.001};
    for (int k = 0; k < 2; k++)
    {
        weft_sim* sim = scene_sim_text(text, 1);
        assert_int_equal(sim_build(sim, NULL), WEFT_OK);
        contact* c = sim->world.contact;
        int n = c->cloth_count;
        vec3 v[36], a[36] = {{0, 0, 0}}, x[36];
        for (int i = 0; i < n; i++)
        {
            v[i] = v3(ways[k] / 0.01, -down / 0.01, 0);
            x[i] = v3_madd(sim->world.state.x[i], 0.01, v[i]);
        }
        contact_substep now = {.h = 0.01,
                               .time_step = 0.01,
                               .x = sim->world.state.x,
                               .v = v,
                               .expected = a,
                               .last = &sim->world.state.contact};
        double missing;
        assert_int_equal(contact_find(c, &now), WEFT_OK);
        assert_true(c->rows.count >= n);
        assert_int_equal(contact_project(c, x, 60, &missing), WEFT_OK);
        assert_true(missing < 1e-9);
        for (int i = 0; i < n; i++)
        {
            double way = x[i].x - sim->world.state.x[i].x;
            assert_true(x[i].y > 0.001 - 1e-8 && x[i].y < 0.001 + 1e-6);
            assert_true(fabs(way - fmax(ways[k] - 0.4 * down, 0.0)) < 1e-6);
        }
        weft_sim_destroy(sim);
    }
}

// ---- squeezed

static const char press[] =
    "{\"cloth\": [{\"name\": \"sheet\", \"mesh\": {\"grid\": {\"cells\": 8, \"size\": 0.3}}}], \"obstacles\": ["
    "{\"name\": \"floor\", \"shape\": {\"box\": {\"center\": [0, -0.06, 0], \"size\": [0.4, 0.1, 0.4]}}},"
    "{\"name\": \"press\", \"shape\": {\"box\": {\"center\": [0, 0.07, 0], \"size\": [0.2, 0.1, 0.2]}}, \"motion\": "
    "{\"path\": [{\"time\": 0}, {\"time\": 0.1, \"offset\": [0, -0.05, 0]}, {\"time\": 0.2, \"offset\": [0, 0.05, "
    "0]}]}}]}";

static void bodies_that_close_are_listed_and_let_go(void** state)
{
    (void)state;
    weft_scene* scene = scene_load_text(press, NULL, 0);
    weft_sim* sim = NULL;
    weft_error error = {0};
    assert_int_equal(weft_scene_create_sim(scene, 2, &sim, &error), WEFT_OK);
    int listed = 0;
    weft_step_stats stats = {0};
    for (int n = 0; n < 150; n++)
    {
        assert_int_equal(weft_sim_step(sim, &stats, &error), WEFT_OK);
        assert_true(isfinite(stats.energy.total));
        listed += stats.squeezed > 0;
        for (int k = 0; k < stats.squeezed; k++)
        {
            const weft_squeezed* q = &stats.squeezed_pairs[k];
            assert_true((q->body[0] == 0) != (q->body[1] == 0)); // the sheet and a box
            for (int a = 0; a < 5; a++)
            {
                int vertex = a < 2 ? q->edge[a] : q->face[a - 2];
                assert_true(vertex >= 0 && vertex < (q->body[a >= 2] == 0 ? 81 : 8));
            }
        }
    }
    print_message("%d of 150 steps list squeezed pairs\n", listed);
    assert_true(listed > 10);
    assert_int_equal(stats.squeezed, 0); // the press has gone up again
    weft_sim_destroy(sim);
    weft_scene_destroy(scene);
}

// Bodies that go over a small sheet whole within a step: at the end of no step does anything cross, and still the step
// in which it happened lists the sheet with the body that it is in. Without weight, so that it goes in flat.
static void bodies_that_pass_whole_are_listed(void** state)
{
    (void)state;
    static const char* const weightless[] = {"gravity=[0,0,0]"};
    weft_scene* scene = scene_load_text(scene_press, weightless, 1);
    weft_sim* sim = NULL;
    weft_error error = {0};
    assert_int_equal(weft_scene_create_sim(scene, 1, &sim, &error), WEFT_OK);
    int listed = 0, body = 0;
    weft_step_stats stats = {0};
    for (int n = 0; n < 20; n++)
    {
        assert_int_equal(weft_sim_step(sim, &stats, &error), WEFT_OK);
        listed += stats.squeezed > 0;
        for (int k = 0; k < stats.squeezed; k++)
        {
            const int* two = stats.squeezed_pairs[k].body;
            assert_true((two[0] == 0) != (two[1] == 0));
            assert_true(body == 0 || two[0] + two[1] == body);
            body = two[0] + two[1];
        }
    }
    assert_true(listed >= 1 && listed <= 3);
    assert_int_equal(stats.squeezed, 0);
    vec3 chip[9];
    weft_sim_positions(sim, 0, chip);
    for (int i = 0; i < 9; i++)
    {
        // The floor ends at -0.01 m, the press has come down to -0.03 m.
        assert_true(body == 1 ? chip[i].y < -0.01 : chip[i].y > -0.03);
    }
    weft_sim_destroy(sim);
    weft_scene_destroy(scene);
}

// A press that comes down to the floor on a sheet, and goes up again or aside: it goes through the cloth, and nothing
// goes through the floor. A whole sheet once followed what was squeezed through.
static void squeezing_stays_where_it_is(void** state)
{
    (void)state;
    static const char text[] =
        "{\"time_step\": 0.005, \"steps_per_frame\": 8, \"frames\": 12, \"cloth\": [{\"name\": \"sheet\", \"mesh\": "
        "{\"grid\": {\"size\": [0.6, 0.6], \"cells\": 16}}, \"transform\": {\"translate\": [0, 0.01, 0]}}], "
        "\"obstacles\": [{\"name\": \"floor\", \"shape\": {\"plane\": {}}}, {\"name\": \"press\", \"shape\": {\"box\": "
        "{\"center\": [0, 0.2, 0], \"size\": [0.2, 0.2, 0.2]}}, \"motion\": {\"path\": [{\"time\": 0}, {\"time\": 0.2, "
        "\"offset\": [0, -0.1, 0]}, {\"time\": 0.4, \"offset\": [0, 0, 0]}]}}]}";
    static const char* const ways[] = {"obstacles.1.motion.path.2.offset=[0, 0, 0]",
                                       "obstacles.1.motion.path.2.offset=[0.1, -0.1, 0]"};
    enum
    {
        VERTICES = 17 * 17
    };
    for (int way = 0; way < 2; way++)
    {
        weft_scene* scene = scene_load_text(text, &ways[way], 1);
        weft_sim* sim = NULL;
        weft_error error = {0};
        assert_int_equal(weft_scene_create_sim(scene, 1, &sim, &error), WEFT_OK);
        assert_int_equal(weft_sim_vertex_count(sim, 0), VERTICES);
        int squeezed = 0;
        for (int n = 0; n < 96; n++)
        {
            weft_step_stats stats;
            vec3 x[VERTICES];
            assert_int_equal(weft_sim_step(sim, &stats, &error), WEFT_OK);
            squeezed += stats.squeezed > 0;
            weft_sim_positions(sim, 0, x);
            for (int i = 0; i < VERTICES; i++)
            {
                assert_true(x[i].y >= 0.0);
            }
        }
        print_message("way %d: squeezed in %d steps\n", way, squeezed);
        assert_true(squeezed > 0 && (way == 1 || squeezed < 20));
        weft_sim_destroy(sim);
        weft_scene_destroy(scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(couplings_are_sums),
        cmocka_unit_test(cushions_are_gradients),
        cmocka_unit_test(rows_project_with_friction),
        cmocka_unit_test(bodies_that_close_are_listed_and_let_go),
        cmocka_unit_test(bodies_that_pass_whole_are_listed),
        cmocka_unit_test(squeezing_stays_where_it_is),
    };
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
