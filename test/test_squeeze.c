// What bodies close on: marks of any number of bodies, that go back with a step that fails and through checkpoints;
// searches against ones that look at everything, and how their work grows.
#include "common.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache/checkpoint.h"
#include "collide/ccd.h"
#include "common_scene.h"
#include "core/core.h"
#include "sim/sim.h"
#include "contact/find.h"

static void assert_moved_less(const vec3* before, const vec3* after, int count, double most)
{
    for (int i = 0; i < count; i++)
    {
        assert_true(v3_length(v3_sub(after[i], before[i])) < most);
    }
}

// ---- marks

// Random marks against a table that has one place for each vertex and body.
static void marks_are_found(void** state)
{
    (void)state;
    enum
    {
        VERTICES = 40,
        BODIES = 70
    };
    uint64_t random = 1;
    int table[VERTICES][BODIES] = {0}, there = 0; // 1: edges and faces, 2: the vertex too
    mark_list list = {0}, copy = {0};
    for (int k = 0; k < 3000; k++)
    {
        squeeze_mark mark = {.vertex = (int)test_random(&random, 0, VERTICES),
                             .body = (int)test_random(&random, 0, BODIES)};
        mark.through = test_random(&random, 0, 1) < 0.2;
        int* place = &table[mark.vertex][mark.body];
        there += *place == 0;
        *place = int_max(*place, 1 + mark.through);
        assert_int_equal(marks_add(&list, mark), WEFT_OK);
        k % 500 == 499 ? marks_sort(&list) : (void)0;
    }
    assert_int_equal(list.count, there);
    assert_int_equal(marks_copy(&copy, &list), WEFT_OK);
    marks_finish(&list);
    marks_swap(&list, &copy);
    for (int k = 0; k < VERTICES * BODIES; k++)
    {
        const squeeze_mark* found = marks_find(&list, k / BODIES, k % BODIES);
        assert_int_equal(table[k / BODIES][k % BODIES], found ? 1 + found->through : 0);
    }
    marks_finish(&list);
}

// A press closes on a floor with a chip of cloth between them, and goes through the chip. Then a hammer comes up
// through the floor: nothing has squeezed the chip against it, so that the chip has to ride on it, in the press. The
// hammer is the 25th body after the press, with which it once shared its marks.
static void bodies_have_their_own_marks(void** state)
{
    (void)state;
    char text[8192];
    int size = snprintf(
        text, sizeof(text),
        "{\"gravity\": [0, 0, 0], \"cloth\": [{\"name\": \"chip\", \"mesh\": {\"grid\": {\"cells\": 2, \"size\": "
        "0.02}}}], "
        "\"obstacles\": [{\"name\": \"floor\", \"shape\": {\"box\": {\"center\": [0, -0.06, 0], \"size\": [0.4, 0.1, "
        "0.4]}}}, {\"name\": \"press\", \"shape\": {\"box\": {\"center\": [0, 0.06, 0], \"size\": [0.2, 0.1, 0.2]}}, "
        "\"motion\": {\"path\": [{\"time\": 0}, {\"time\": 0.05, \"offset\": [0, -0.05, 0]}]}}");
    for (int k = 0; k < 24; k++)
    {
        size +=
            snprintf(text + size, sizeof(text) - (size_t)size,
                     ", {\"name\": \"far-%d\", \"shape\": {\"box\": {\"center\": [%d, 5, 0], \"size\": 0.1}}}", k, k);
    }
    snprintf(text + size, sizeof(text) - (size_t)size,
             ", {\"name\": \"hammer\", \"shape\": {\"box\": {\"center\": [0, -0.2, 0], \"size\": [0.1, 0.1, 0.1]}}, "
             "\"motion\": {\"path\": [{\"time\": 0.06}, {\"time\": 0.3, \"offset\": [0, 0.16, 0]}]}}]}");
    weft_sim* sim = scene_sim_text(text, 1);
    weft_error error = {0};
    int listed = 0;
    for (int n = 0; n < 160; n++)
    {
        weft_step_stats stats;
        assert_int_equal(weft_sim_step(sim, &stats, &error), WEFT_OK);
        listed += stats.squeezed > 0;
        for (int k = 0; k < stats.squeezed; k++)
        {
            assert_true(stats.squeezed_pairs[k].body[0] != 27 && stats.squeezed_pairs[k].body[1] != 27);
        }
    }
    assert_true(listed > 0);
    vec3 chip[9];
    weft_sim_positions(sim, 0, chip);
    for (int i = 0; i < 9; i++)
    {
        assert_true(chip[i].y > 0.01); // the hammer's top
    }
    weft_sim_destroy(sim);
}

// ---- what undoes and keeps marks

typedef struct toll
{
    obstacles_fn* pass;
    void* user;
    int calls, fail_at;
} toll;

static weft_status toll_at(void* user, double time, vec3* out, weft_error* error)
{
    toll* t = user;
    return ++t->calls == t->fail_at ? WEFT_IO : t->pass(t->user, time, out, error);
}

static void toll_put(toll* t, contact* c)
{
    *t = (toll){.pass = c->obstacles_at, .user = c->user};
    c->obstacles_at = toll_at;
    c->user = t;
}

static void same_state(const weft_sim* a, const weft_sim* b)
{
    const struct state *s = &a->world.state, *t = &b->world.state;
    assert_memory_equal(s->x, t->x, (size_t)a->model.vertex_count * sizeof(vec3));
    assert_int_equal(s->contact.marks.count, t->contact.marks.count);
    assert_memory_equal(s->contact.marks.item, t->contact.marks.item,
                        (size_t)s->contact.marks.count * sizeof(squeeze_mark));
}

// Two simulations of one press; the second fails in the last substep of the steps in which marks come or go. It is then
// where it was, and goes on as the first.
static void marks_go_back_with_a_step(void** state)
{
    (void)state;
    char text[1024];
    // Marks come in the midst of a step; the solver remembers nothing of a step that fails.
    snprintf(text, sizeof(text), "{\"time_step\": 0.008, \"solver\": \"diag-ppcg\", %s", scene_press + 1);
    weft_sim* sims[2] = {scene_sim_text(text, 1), scene_sim_text(text, 1)};
    toll tolls[2] = {0};
    mark_list before = {0};
    int changed = 0;
    weft_error error;
    for (int n = 0; n < 8; n++)
    {
        const mark_list *now = &sims[0]->world.state.contact.marks, *undone = &sims[1]->world.state.contact.marks;
        int calls = tolls[0].calls;
        assert_int_equal(marks_copy(&before, now), WEFT_OK);
        assert_int_equal(weft_sim_step(sims[0], NULL, &error), WEFT_OK);
        changed += now->count != before.count;
        if (now->count != before.count)
        {
            tolls[1].fail_at = tolls[1].calls + tolls[0].calls - calls;
            assert_int_equal(weft_sim_step(sims[1], NULL, &error), WEFT_IO);
            assert_int_equal(undone->count, before.count);
            assert_memory_equal(undone->item, before.item, (size_t)before.count * sizeof(squeeze_mark));
        }
        assert_int_equal(weft_sim_step(sims[1], NULL, &error), WEFT_OK);
        same_state(sims[0], sims[1]);
        for (int k = 0; k < 2 && n == 0; k++)
        {
            toll_put(&tolls[k], sims[k]->world.contact);
        }
    }
    assert_true(changed > 0);
    marks_finish(&before);
    weft_sim_destroy(sims[0]);
    weft_sim_destroy(sims[1]);
}

static void marks_go_through_checkpoints(void** state)
{
    (void)state;
    weft_sim *sim = scene_sim_text(scene_press, 1), *other = scene_sim_text(scene_press, 1);
    weft_error error;
    while (sim->world.state.contact.marks.count == 0)
    {
        assert_int_equal(weft_sim_step(sim, NULL, &error), WEFT_OK);
        assert_true(sim->world.state.step_count < 25);
    }
    solver_object_drop(&sim->world.solver); // as a run does at each checkpoint
    const char* path = scene_path("press.weft");
    assert_int_equal(checkpoint_write(path, sim, 1, &error), WEFT_OK);
    assert_int_equal(sim_build(other, &error), WEFT_OK);
    assert_int_equal(checkpoint_read(path, other, 1, &error), WEFT_OK);
    for (int n = 0; n < 10; n++)
    {
        same_state(sim, other);
        assert_int_equal(weft_sim_step(sim, NULL, &error), WEFT_OK);
        assert_int_equal(weft_sim_step(other, NULL, &error), WEFT_OK);
    }
    remove(path);
    weft_sim_destroy(sim);
    weft_sim_destroy(other);
}

// ---- searches

// A sheet of `cells` lies in a box that ends inside of it, and whose faces are as small; all its vertices are marked.
static weft_sim* sheet_in_box(int cells)
{
    char text[512];
    snprintf(text, sizeof(text),
             "{\"gravity\": [0, 0, 0], \"cloth\": [{\"name\": \"sheet\", \"mesh\": {\"grid\": {\"cells\": %d}}}], "
             "\"obstacles\": [{\"name\": \"box\", \"shape\": {\"box\": {\"center\": [0, 0.31, 0], \"size\": [0.6, 0.6, "
             "0.6], \"segments\": %d}}}]}",
             cells, cells);
    weft_sim* sim = scene_sim_text(text, 1);
    weft_error error;
    assert_int_equal(weft_sim_step(sim, NULL, &error), WEFT_OK);
    contact* c = sim->world.contact;
    for (int i = 0; i < c->vertex_count; i++)
    {
        bool sheet = i < c->cloth_count;
        c->end[i] = v3_add(c->end[i], sheet ? v3(0, 0.3 + 0.02 * sin(9.0 * c->end[i].x), 0) : v3(0.003, 0.002, 0.001));
        c->start[i] = c->end[i];
    }
    assert_int_equal(find_search(c), WEFT_OK);
    mark_list marks = {0};
    for (int i = 0; i < c->cloth_count; i++)
    {
        assert_int_equal(marks_add(&marks, (squeeze_mark){.vertex = i, .body = 1, .through = 1}), WEFT_OK);
    }
    assert_int_equal(squeeze_load(c, &marks), WEFT_OK);
    marks_finish(&marks);
    return sim;
}

static bool edge_meets_face(const contact* c, const int* edge, const int* face)
{
    vec3 from[4], to[4];
    for (int k = 0; k < 4; k++)
    {
        from[k] = v3_round(c->end[k == 0 ? edge[0] : face[k - 1]]);
        to[k] = v3_round(c->end[k == 0 ? edge[1] : face[k - 1]]);
    }
    return ccd_decide(WEFT_VERTEX_FACE, from, to).collides;
}

// All edges against all faces of the other body: what crosses is listed, once, and nothing else. Vertices that are
// outside of the box and have nothing around them that crosses lose their marks.
static void all_that_crosses_is_listed(void** state)
{
    (void)state;
    weft_sim* sim = sheet_in_box(12);
    contact* c = sim->world.contact;
    assert_int_equal(contact_settle(c), WEFT_OK);
    int crossings = 0, edges, faces = c->collider->tree[FEATURE_FACE].count;
    const int *edge = weft_collider_edges(c->collider, &edges), *face = c->collider->corner[FEATURE_FACE];
    uint8_t* crossed = calloc((size_t)c->vertex_count, 1);
    for (int64_t k = 0; k < (int64_t)edges * faces; k++)
    {
        const int *e = edge + 2 * (k / faces), *f = face + 3 * (k % faces);
        if (c->body[e[0]] != c->body[f[0]] && edge_meets_face(c, e, f))
        {
            crossed[e[0]] = crossed[e[1]] = crossed[f[0]] = crossed[f[1]] = crossed[f[2]] = 1;
            crossings++;
        }
    }
    assert_true(crossings > 50);
    assert_int_equal(c->squeezed_count, crossings);
    int inside = 0, outside = 0;
    for (int i = 0; i < c->cloth_count; i++)
    {
        vec3 x = v3_sub(c->end[i], v3(0.003, 0.312, 0.001));
        bool within = fmax(fabs(x.x), fmax(fabs(x.y), fabs(x.z))) < 0.3;
        const squeeze_mark* mark = marks_find(&c->next.marks, i, 1);
        assert_true((mark != NULL) == (within || crossed[i]));
        assert_true(!mark || mark->through);
        inside += within && !crossed[i];
        outside += !within && !crossed[i];
    }
    assert_true(inside > 10 && outside > 10);
    free(crossed);
    weft_sim_destroy(sim);
}

// Four times the vertices and faces: little more than four times the work, where all pairs would be sixteen times it.
static void work_grows_with_the_scene(void** state)
{
    (void)state;
    long long tests[2];
    for (int k = 0; k < 2; k++)
    {
        weft_sim* sim = sheet_in_box(20 << k);
        contact* c = sim->world.contact;
        assert_int_equal(contact_settle(c), WEFT_OK);
        tests[k] = c->squeeze_tests;
        weft_sim_destroy(sim);
    }
    print_message("%lld and %lld tests: %.2f times\n", tests[0], tests[1], (double)tests[1] / (double)tests[0]);
    assert_true(tests[1] < 6 * tests[0]);
}

// Two plates close on a sheet: what the dearest step costs, in pairs that are looked at and rows that are visited.
static double dearest_step_between_plates(int cells)
{
    static const char scene[] =
        "{\"time_step\": 0.01, \"gravity\": [0, 0, 0], \"cloth\": [{\"mesh\": {\"grid\": {\"cells\": %d}}}], "
        "\"obstacles\": ["
        "{\"shape\": {\"box\": {\"center\": [0, 0.06, 0], \"size\": [0.6, 0.1, 0.6], \"segments\": 8}}, "
        "\"motion\": {\"path\": [{\"time\": 0}, {\"time\": 0.05, \"offset\": [0, -0.02, 0]}]}}, "
        "{\"shape\": {\"box\": {\"center\": [0, -0.06, 0], \"size\": [0.6, 0.1, 0.6], \"segments\": 8}}, "
        "\"motion\": {\"path\": [{\"time\": 0}, {\"time\": 0.05, \"offset\": [0, 0.02, 0]}]}}]}";
    char text[1024];
    snprintf(text, sizeof(text), scene, cells);
    weft_sim* sim = scene_sim_text(text, 1);
    double most = 0.0;
    int squeezed = 0;
    for (int step = 0; step < 4; step++)
    {
        weft_step_stats stats;
        assert_int_equal(weft_sim_step(sim, &stats, NULL), WEFT_OK);
        squeezed = int_max(squeezed, stats.squeezed);
        most = fmax(most, sim->world.contact->effort);
    }
    assert_true(squeezed > 0);
    weft_sim_destroy(sim);
    return most;
}

static void plates_that_meet_cost_by_the_vertex(void** state)
{
    (void)state;
    double few = dearest_step_between_plates(10), many = dearest_step_between_plates(20);
    print_message("%.0f and %.0f pairs and rows: %.2f times for four times the vertices\n", few, many, many / few);
    assert_true(many < 6.0 * few);
}

// What is around a box, against the boxes of all faces; boxes swept, and of the end alone.
static void features_around_a_box_are_found(void** state)
{
    (void)state;
    enum
    {
        FACES = 700,
        BOXES = 200
    };
    uint64_t random = 3;
    static vec3 start[3 * FACES], end[3 * FACES];
    static int corner[3 * FACES];
    for (int k = 0; k < 3 * FACES; k++)
    {
        corner[k] = k;
        start[k] = k % 3 ? v3_add(start[k - 1], test_random_vec(&random, 0.1)) : test_random_vec(&random, 1.0);
        end[k] = v3_add(start[k], test_random_vec(&random, 0.2));
    }
    weft_collider_def def = weft_collider_def_default();
    def.vertex_count = 3 * FACES;
    def.triangles = corner;
    def.triangle_count = FACES;
    weft_collider* collider;
    assert_int_equal(weft_collider_create(&def, &collider, NULL), WEFT_OK);
    around_list around = {0};
    int found = 0;
    for (int k = 0; k < BOXES; k++)
    {
        bool apart = k % 2;
        assert_int_equal(collider_split_boxes(collider, apart), WEFT_OK);
        assert_int_equal(weft_collider_update(collider, start, end, 0.0, NULL), WEFT_OK);
        vec3 x[2] = {test_random_vec(&random, 1.0)};
        x[1] = v3_add(x[0], test_random_vec(&random, 0.3));
        double_box box = feature_box(x, x, (const int[2]){0, 1}, 2);
        double margin = test_random(&random, 0, 0.1);
        assert_int_equal(collider_around(collider, FEATURE_FACE, &box, margin, &around), WEFT_OK);
        uint8_t there[FACES] = {0};
        for (int a = 0; a < around.count; a++)
        {
            there[around.feature[a]]++;
        }
        for (int f = 0; f < FACES; f++)
        {
            double_box own = feature_box(apart ? end : start, end, corner + 3 * f, 3);
            bool near = boxes_near(&own, &box, margin), about = boxes_near(&own, &box, margin + 1e-5);
            assert_true(there[f] <= 1 && (there[f] || !near) && (!there[f] || about));
            found += near;
        }
    }
    assert_true(found > 1000);
    mem_free(around.feature);
    weft_collider_destroy(collider);
}

// A chip lies nearer to the one of two planes, closer than both want and not parallel, as in an armpit. It goes towards
// the middle and the open side, no faster than out of any layer, however short the step is. The planes come in either
// order.
static void between_planes_nothing_jumps(void** state)
{
    (void)state;
    const double h = 1e-5;
    const char* plane[2] = {
        "{\"thickness\": 0.003, \"shape\": {\"plane\": {\"point\": [0, 0, 0], \"normal\": [0, 1, 0]}}}",
        "{\"thickness\": 0.003, \"shape\": {\"plane\": {\"point\": [0, 0.003, 0], \"normal\": [0.5, -0.866, 0]}}}"};
    for (int turned = 0; turned < 2; turned++)
    {
        char text[1024];
        snprintf(
            text, sizeof(text),
            "{\"time_step\": %g, \"gravity\": [0, 0, 0], \"obstacles\": [%s, %s], \"cloth\": [{\"mesh\": {\"grid\": "
            "{\"cells\": 2, \"size\": 0.001}}, \"transform\": {\"translate\": [0, 0.0008, 0]}}]}",
            h, plane[turned], plane[!turned]);
        weft_sim* sim = scene_sim_text(text, 1);
        vec3 before[9], after[9];
        weft_sim_positions(sim, 0, before);
        for (int n = 0; n < 20; n++)
        {
            weft_error error = {0};
            assert_int_equal(weft_sim_step(sim, NULL, &error), WEFT_OK);
            weft_sim_positions(sim, 0, after);
            assert_moved_less(before, after, 9, 2.0 * h);
            memcpy(before, after, sizeof(after));
        }
        weft_sim_destroy(sim);
    }
}

// A chip was pinched in a very short substep, by something that is gone: faces that it could only reach by what that
// has pushed with do not take it: two that are not parallel, one near and one far, would together throw it aside.
static void what_pinched_leads_nowhere(void** state)
{
    (void)state;
    const double h = 1e-3, hard = 3e5; // m/s^2
    weft_sim* sim =
        scene_sim_text("{\"time_step\": 0.001, \"gravity\": [0, 0, 0], \"cloth\": [{\"mesh\": {\"grid\": {\"cells\": "
                       "2, \"size\": 0.001}}, "
                       "\"transform\": {\"translate\": [0.013, 0, 0.031]}}], "
                       "\"obstacles\": [{\"shape\": {\"plane\": {\"point\": [0, -0.0015, 0], \"normal\": [0, 1, 0]}}}, "
                       "{\"shape\": {\"plane\": {\"point\": [0, -0.1, 0], \"normal\": [-0.5, 0.866, 0]}}}]}",
                       1);
    weft_error error = {0};
    assert_int_equal(weft_sim_step(sim, NULL, &error), WEFT_OK);
    vec3 before[9], after[9];
    weft_sim_positions(sim, 0, before);
    for (int i = 0; i < 9; i++)
    {
        sim->world.state.contact.memory[i].push = v3(0, hard * sim->model.mass[i], 0);
    }
    weft_step_stats stats;
    assert_int_equal(weft_sim_step(sim, &stats, &error), WEFT_OK);
    assert_int_equal(stats.rejected, 0);
    weft_sim_positions(sim, 0, after);
    assert_moved_less(before, after, 9, h * 0.1);
    weft_sim_destroy(sim);
}

// A chip in a corner is pressed hard on the floor and pulled from the wall: what the floor pushes is nothing that a
// rough solve has left along the wall, which lets go.
static void a_wall_lets_go_above_a_floor(void** state)
{
    (void)state;
    const double h = 1e-4, pull = 3000.0; // m/s^2
    weft_sim* sim = scene_sim_text(
        "{\"time_step\": 1e-4, \"gravity\": [0, -30000, -3000], \"contact\": {\"friction\": 0}, \"cloth\": [{\"mesh\": "
        "{\"grid\": "
        "{\"cells\": 1, \"size\": 0.01, \"plane\": \"xy\"}}, \"transform\": {\"translate\": [0.013, 0.006, 0.001]}}], "
        "\"obstacles\": [{\"shape\": {\"plane\": {\"point\": [0, 0, 0], \"normal\": [0, 1, 0]}}}, "
        "{\"shape\": {\"plane\": {\"point\": [0, 0, 0], \"normal\": [0, 0, 1]}}}]}",
        1);
    weft_error error = {0};
    vec3 before[4], after[4];
    assert_int_equal(weft_sim_step(sim, NULL, &error), WEFT_OK);
    assert_int_equal(weft_sim_step(sim, NULL, &error), WEFT_OK);
    weft_sim_positions(sim, 0, before);
    for (int i = 0; i < 4; i++)
    {
        sim->model.external[i].z *= -1.0;
    }
    assert_int_equal(weft_sim_step(sim, NULL, &error), WEFT_OK);
    weft_sim_positions(sim, 0, after);
    for (int i = 0; i < 4; i++)
    {
        assert_true(after[i].z - before[i].z > 0.9 * pull * h * h);
    }
    weft_sim_destroy(sim);
}

// A chip that was squeezed is inside of a block, nearer to its side than to its top, and nothing pulls at it: it comes
// out at the top, where it came from, at its leisure, and is as any other again.
static void what_was_squeezed_comes_out(void** state)
{
    (void)state;
    weft_sim* sim = scene_sim_text("{\"time_step\": 0.005, \"gravity\": [0, 0, 0], \"contact\": {\"friction\": 0}, "
                                   "\"cloth\": [{\"mesh\": {\"grid\": {\"cells\": 2, "
                                   "\"size\": 0.01}}, \"transform\": {\"translate\": [0.02, 0.05, 0]}}], "
                                   "\"obstacles\": [{\"shape\": {\"box\": {\"center\": "
                                   "[0, 0, 0], \"size\": 0.06}}}]}",
                                   1);
    weft_error error = {0};
    weft_step_stats stats;
    assert_int_equal(weft_sim_step(sim, &stats, &error), WEFT_OK);
    for (int i = 0; i < 9; i++)
    {
        sim->world.state.x[i].y = 0.018;
        sim->world.state.v[i] = v3(0, 0, 0);
        squeeze_mark mark = {.vertex = i, .body = 1, .through = 1, .side = 1};
        assert_int_equal(marks_add(&sim->world.state.contact.marks, mark), WEFT_OK);
    }
    vec3 before[9], after[9];
    weft_sim_positions(sim, 0, before);
    for (int step = 0; step < 20; step++)
    {
        assert_int_equal(weft_sim_step(sim, &stats, &error), WEFT_OK);
        weft_sim_positions(sim, 0, after);
        assert_moved_less(before, after, 9, 1.2 * 0.005);
        memcpy(before, after, sizeof(after));
    }
    assert_int_equal(sim->world.state.contact.marks.count, 0);
    for (int i = 0; i < 9; i++)
    {
        assert_true(after[i].y > 0.0305);
    }
    weft_sim_destroy(sim);
}

// A checkpoint may name a body that there is not: it squeezes nothing, and its mark goes.
static void bodies_that_are_not_there_squeeze_nothing(void** state)
{
    (void)state;
    weft_sim* sim = sheet_in_box(4);
    contact* c = sim->world.contact;
    mark_list marks = {0};
    assert_int_equal(marks_add(&marks, (squeeze_mark){.body = INT32_MAX, .through = 1}), WEFT_OK);
    assert_int_equal(squeeze_load(c, &marks), WEFT_OK);
    marks_finish(&marks);
    assert_int_equal(contact_settle(c), WEFT_OK);
    assert_int_equal(c->next.marks.count, 0);
    weft_sim_destroy(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(marks_are_found),
        cmocka_unit_test(bodies_have_their_own_marks),
        cmocka_unit_test(marks_go_back_with_a_step),
        cmocka_unit_test(marks_go_through_checkpoints),
        cmocka_unit_test(all_that_crosses_is_listed),
        cmocka_unit_test(work_grows_with_the_scene),
        cmocka_unit_test(plates_that_meet_cost_by_the_vertex),
        cmocka_unit_test(features_around_a_box_are_found),
        cmocka_unit_test(between_planes_nothing_jumps),
        cmocka_unit_test(what_pinched_leads_nowhere),
        cmocka_unit_test(a_wall_lets_go_above_a_floor),
        cmocka_unit_test(what_was_squeezed_comes_out),
        cmocka_unit_test(bodies_that_are_not_there_squeeze_nothing),
    };
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
