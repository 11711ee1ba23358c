// A simulation's bodies in one collider: who is near whom, with and without what the scene excludes; vertices in the
// documented order, also after steps, when obstacles have moved.
#include "common.h"

#include <stdio.h>
#include <string.h>

#include "common_scene.h"
#include "core/core.h"
#include "weft/collide.h"

enum
{
    BODIES = 3 // sheet, patch, ball
};

// A patch 2 mm above a sheet, and a ball whose top is 3 mm below it and that rises by 1 m/s.
static const char scene_text[] =
    "{\"gravity\": [0, 0, 0], \"cloth\": ["
    "{\"name\": \"sheet\", \"mesh\": {\"grid\": {\"size\": [1, 1], \"cells\": 8, \"plane\": \"xz\"}}},"
    "{\"name\": \"patch\", \"mesh\": {\"grid\": {\"size\": [0.5, 0.5], \"cells\": 4, \"plane\": \"xz\"}},"
    " \"transform\": {\"translate\": [0.03, 0.002, 0.04]}}],"
    "\"obstacles\": [{\"name\": \"ball\", \"shape\": {\"sphere\": {\"center\": [0, -0.203, 0], \"radius\": 0.2}},"
    " \"motion\": {\"path\": [{\"time\": 0}, {\"time\": 1, \"offset\": [0, 1, 0]}]}}]";

static weft_sim* new_sim(const char* more)
{
    char text[2048];
    snprintf(text, sizeof(text), "%s%s}", scene_text, more);
    weft_scene* scene = scene_load_text(text, NULL, 0);
    weft_sim* sim = NULL;
    weft_error error = {0};
    if (weft_scene_create_sim(scene, 1, &sim, &error) != WEFT_OK)
    {
        fail_msg("%s", error.message);
    }
    weft_scene_destroy(scene);
    return sim;
}

static int body_of(const weft_sim* sim, int vertex)
{
    int first = 0;
    for (int k = 0; k < weft_sim_cloth_count(sim); k++)
    {
        first += weft_sim_vertex_count(sim, k);
        if (vertex < first)
        {
            return k;
        }
    }
    return weft_sim_cloth_count(sim);
}

// Pairs within 5 mm by the bodies of both sides.
static void count_near(weft_sim* sim, int count[BODIES][BODIES])
{
    weft_collider* collider = NULL;
    assert_int_equal(weft_sim_create_collider(sim, &collider, NULL), WEFT_OK);
    int n = weft_sim_collider_vertex_count(sim), near_count;
    vec3* x = MEM_NEW(n, vec3);
    assert_int_equal(weft_sim_collider_positions(sim, x, NULL), WEFT_OK);
    assert_int_equal(weft_collider_update(collider, x, x, 0.0, NULL), WEFT_OK);
    const weft_near* near;
    assert_int_equal(weft_collider_near(collider, 0.005, &near, &near_count, NULL), WEFT_OK);
    memset(count, 0, sizeof(int) * BODIES * BODIES);
    for (int k = 0; k < near_count; k++)
    {
        int a = body_of(sim, near[k].vertex[0]), b = body_of(sim, near[k].vertex[3]);
        count[a < b ? a : b][a < b ? b : a]++;
    }
    mem_free(x);
    weft_collider_destroy(collider);
}

static void bodies_meet(void** state)
{
    (void)state;
    weft_sim* sim = new_sim("");
    int count[BODIES][BODIES];
    count_near(sim, count);
    assert_true(count[0][1] > 20); // sheet and patch
    assert_true(count[0][2] > 0);  // sheet and ball
    assert_int_equal(count[2][2], 0);
    assert_int_equal(count[0][0] + count[1][1], 0);
    weft_sim_destroy(sim);
}

static void excluded_bodies_do_not(void** state)
{
    (void)state;
    int all[BODIES][BODIES], count[BODIES][BODIES];
    weft_sim* sim = new_sim("");
    count_near(sim, all);
    weft_sim_destroy(sim);
    sim = new_sim(", \"contact\": {\"exclude\": [{\"pair\": [\"sheet\", \"ball\"]}]}");
    count_near(sim, count);
    assert_int_equal(count[0][2], 0);
    assert_int_equal(count[0][1], all[0][1]);
    assert_int_equal(count[1][2], all[1][2]);
    weft_sim_destroy(sim);
}

// Without the left half of the sheet, what is left of its pairs with the patch is less, and not nothing.
static void excluded_vertices_do_not(void** state)
{
    (void)state;
    int all[BODIES][BODIES], count[BODIES][BODIES];
    weft_sim* sim = new_sim("");
    count_near(sim, all);
    weft_sim_destroy(sim);
    sim = new_sim(", \"contact\": {\"exclude\": [{\"pair\": [\"sheet\", \"patch\"], "
                  "\"where\": {\"box\": {\"min\": [-1, -1, -1], \"max\": [0.01, 1, 1]}}}]}");
    count_near(sim, count);
    assert_true(count[0][1] > 0 && count[0][1] < all[0][1]);
    assert_int_equal(count[0][2], all[0][2]);
    weft_sim_destroy(sim);
}

static void positions_are_in_the_documented_order(void** state)
{
    (void)state;
    weft_sim* sim = new_sim("");
    for (int step = 0; step < 3; step++)
    {
        int n = weft_sim_collider_vertex_count(sim), first = 0;
        vec3 *x = MEM_NEW(n, vec3), *own = MEM_NEW(n, vec3);
        assert_int_equal(weft_sim_collider_positions(sim, x, NULL), WEFT_OK);
        for (int k = 0; k < weft_sim_cloth_count(sim); k++)
        {
            weft_sim_positions(sim, k, own);
            assert_memory_equal(x + first, own, sizeof(vec3) * (size_t)weft_sim_vertex_count(sim, k));
            first += weft_sim_vertex_count(sim, k);
        }
        assert_int_equal(weft_sim_obstacle_positions(sim, 0, weft_sim_time(sim), own, NULL), WEFT_OK);
        assert_memory_equal(x + first, own, sizeof(vec3) * (size_t)weft_sim_obstacle_vertex_count(sim, 0));
        assert_int_equal(first + weft_sim_obstacle_vertex_count(sim, 0), n);
        mem_free(x);
        mem_free(own);
        assert_int_equal(weft_sim_step(sim, NULL, NULL), WEFT_OK);
    }
    weft_sim_destroy(sim);
}

// 20 steps of 2 ms bring the ball 4 cm up, against a sheet 3 mm away: no sweep of a step hits, and the sheet has given way.
static void a_rising_ball_lifts_the_sheet(void** state)
{
    (void)state;
    weft_sim* sim = new_sim("");
    weft_collider* collider = NULL;
    assert_int_equal(weft_sim_create_collider(sim, &collider, NULL), WEFT_OK);
    int n = weft_sim_collider_vertex_count(sim);
    vec3 *start = MEM_NEW(n, vec3), *end = MEM_NEW(n, vec3);
    double highest = 0.0;
    for (int step = 1; step <= 20; step++)
    {
        assert_int_equal(weft_sim_collider_positions(sim, start, NULL), WEFT_OK);
        assert_int_equal(weft_sim_step(sim, NULL, NULL), WEFT_OK);
        assert_int_equal(weft_sim_collider_positions(sim, end, NULL), WEFT_OK);
        assert_int_equal(weft_collider_update(collider, start, end, 0.0, NULL), WEFT_OK);
        const weft_impact* impacts;
        int count;
        assert_int_equal(weft_collider_impacts(collider, &impacts, &count, NULL), WEFT_OK);
        assert_int_equal(count, 0);
    }
    for (int i = 0; i < weft_sim_vertex_count(sim, 0); i++)
    {
        highest = fmax(highest, end[i].y);
    }
    assert_true(highest > 0.03);
    mem_free(start);
    mem_free(end);
    weft_collider_destroy(collider);
    weft_sim_destroy(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_meet),
        cmocka_unit_test(excluded_bodies_do_not),
        cmocka_unit_test(excluded_vertices_do_not),
        cmocka_unit_test(positions_are_in_the_documented_order),
        cmocka_unit_test(a_rising_ball_lifts_the_sheet),
    };
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
