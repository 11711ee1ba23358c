// Obstacles that are far from all that moves are in no tree, and no pair is lost for that: small cloths over a large
// floor, held against loops over everything.
#include "common.h"

#include <stdlib.h>
#include <string.h>

#include "collide/broad.h"
#include "common_collide.h"
#include "common_scene.h"
#include "sim/cluster.h"

enum
{
    FLOOR_CELLS = 16,
    UPDATES = 16
};

// A floor of many triangles, of body 1, under a cloth of few, which moves by d.
static test_scene* floor_scene(vec3 d)
{
    test_scene* s = test_scene_create();
    test_scene_sheet(s, 3, v3(0, 0.02, 0), v3(0.2, 0, 0), v3(0, 0.01, 0.2), d, 0);
    test_scene_sheet(s, FLOOR_CELLS, v3(-2, 0, -2), v3(4, 0, 0), v3(0, 0, 4), v3(0, 0, 0), 1);
    s->passive[1] = 1;
    s->margin = 0.03;
    return s;
}

static void move(test_scene* s, bool passive, vec3 start, vec3 end)
{
    for (int v = 0; v < s->def.vertex_count; v++)
    {
        if (s->passive[s->body[v]] == passive)
        {
            s->start[v] = v3_add(s->start[v], start);
            s->end[v] = v3_add(s->start[v], end);
        }
    }
}

static int held(const weft_collider* c)
{
    return c->tree[FEATURE_VERTEX].held + c->tree[FEATURE_EDGE].held + c->tree[FEATURE_FACE].held;
}

static int all(const weft_collider* c)
{
    return c->tree[FEATURE_VERTEX].count + c->tree[FEATURE_EDGE].count + c->tree[FEATURE_FACE].count;
}

// The cloth goes over the floor, which shakes, and at times jumps by many of its cells.
static void check_walk(int threads, bool split)
{
    test_scene* s = floor_scene(v3(0.01, -0.03, 0));
    weft_collider* c = test_collider_create(s, threads, "auto");
    uint64_t random = 7;
    int most = 0, pairs = 0;
    for (int k = 0; k < UPDATES; k++)
    {
        s->split = split;
        assert_int_equal(collider_split_boxes(c, split), WEFT_OK);
        test_check_step(s, c);
        pairs += c->vertex_face.count;
        most = int_max(most, held(c));
        vec3 jump = k % 6 == 2 ? v3(0.9, 0, 0.9) : k % 6 == 5 ? v3(-0.9, 0, -0.9) : v3(0, 0, 0);
        move(s, false, v3_add(v3(0.1, 0, 0.04), test_random_vec(&random, 0.005)), test_random_vec(&random, 0.03));
        move(s, true, v3_add(jump, test_random_vec(&random, 0.002)), test_random_vec(&random, 0.01));
    }
    assert_true(c->window.used);
    print_message("at most %d of %d features in the trees, %d builds in %d updates\n", most, all(c), c->build_count,
                  UPDATES);
    assert_true(most < all(c) / 2 && c->build_count > 4 && c->build_count <= UPDATES / 2 && pairs > 100);
    weft_collider_destroy(c);
    free(s);
}

static void test_walk(void** unused)
{
    (void)unused;
    check_walk(1, false);
    check_walk(3, true);
}

// A search with a wider margin than the update's sees farther.
static void test_wider_search(void** unused)
{
    (void)unused;
    test_scene* s = floor_scene(v3(0, 0, 0));
    weft_collider* c = test_collider_create(s, 1, "auto");
    test_check_step(s, c);
    int before = held(c);
    pair_list found = {0};
    weft_error error = {0};
    s->margin = 1.0;
    test_brute b = test_brute_find(s);
    assert_int_equal(collider_find(c, WEFT_VERTEX_FACE, s->margin, &found, &error), WEFT_OK);
    test_assert_pairs(found.pair, found.count, b.vertex_face, b.vertex_face_count);
    assert_int_equal(collider_find(c, WEFT_EDGE_EDGE, s->margin, &found, &error), WEFT_OK);
    test_assert_pairs(found.pair, found.count, b.edge_edge, b.edge_edge_count);
    assert_true(held(c) > before);
    test_brute_finish(&b);
    mem_free(found.pair);
    weft_collider_destroy(c);
    free(s);
}

// What is around a box far from the cloth is found, too.
static void test_around_elsewhere(void** unused)
{
    (void)unused;
    test_scene* s = floor_scene(v3(0, 0, 0));
    weft_collider* c = test_collider_create(s, 1, "auto");
    test_check_step(s, c);
    around_list around = {0};
    const double_box corner = {{1.9, -0.1, 1.9}, {2.1, 0.1, 2.1}};
    assert_int_equal(collider_around(c, FEATURE_FACE, &corner, 0.0, &around), WEFT_OK);
    assert_int_equal(around.count, 2); // of one cell
    mem_free(around.feature);
    weft_collider_destroy(c);
    free(s);
}

// An obstacle that is not finite is refused wherever it is, and nothing is lost for the next update.
static void test_not_finite(void** unused)
{
    (void)unused;
    test_scene* s = floor_scene(v3(0, 0, 0));
    weft_collider* c = test_collider_create(s, 1, "auto");
    test_check_step(s, c);
    int last = s->def.vertex_count - 1; // in the floor's far corner
    vec3 kept = s->end[last];
    s->end[last].y = NAN;
    weft_error error = {0};
    assert_int_equal(weft_collider_update(c, s->start, s->end, s->margin, &error), WEFT_NOT_FINITE);
    assert_non_null(strstr(error.message, "not finite"));
    s->end[last] = kept;
    test_check_step(s, c);
    weft_collider_destroy(c);
    free(s);
}

#define SMALL(x, z)                                                                                                    \
    "{\"mesh\": {\"grid\": {\"cells\": 3, \"size\": 0.05}}, \"transform\": {\"translate\": [" x ", 0.53, " z "]}}"

// Clusters of small cloths over a large body: together their trees hold less of it than one tree of all did.
static void test_clusters_share_a_body(void** unused)
{
    (void)unused;
    static const char text[] = "{\"time_step\": 0.005, \"cloth\": [" SMALL("0.15", "0.15") "," SMALL(
        "-0.15", "0.15") "," SMALL("0.15", "-0.15") "," SMALL("-0.15", "-0.15") "], \"obstacles\": [{\"name\": "
                                                                                "\"ball\", \"shape\": {\"sphere\": "
                                                                                "{\"center\": [0, 0, 0], \"radius\": "
                                                                                "0.5, \"segments\": 12}}}]}";
    weft_sim* sim = scene_sim_text(text, 1);
    int builds = 0, in_trees = 0;
    for (int k = 0; k < 12; k++)
    {
        weft_step_stats stats;
        assert_int_equal(weft_sim_step(sim, &stats, NULL), WEFT_OK);
    }
    assert_int_equal(sim->clusters.count, 4);
    for (int k = 0; k < 4; k++)
    {
        const weft_collider* c = sim->clusters.list[k]->sim.world.contact->collider;
        builds += c->build_count;
        in_trees += held(c);
    }
    int whole = all(sim->clusters.list[0]->sim.world.contact->collider);
    print_message("%d of %d features in four clusters, %d builds\n", in_trees, whole, builds);
    assert_true(in_trees < whole && builds <= 12);
    weft_sim_destroy(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_walk),
        cmocka_unit_test(test_wider_search),
        cmocka_unit_test(test_around_elsewhere),
        cmocka_unit_test(test_not_finite),
        cmocka_unit_test(test_clusters_share_a_body),
    };
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
