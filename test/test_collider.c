// The collider as an object: its limits, memory, bad input, what lasts until when, edges; and impacts against loops
// over everything. The search for pairs itself is in test_broad.c.
#include "common.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "collide/broad.h"
#include "common_collide.h"

// ---- limits, memory, bad input

static void test_pair_limit(void** unused)
{
    (void)unused;
    enum
    {
        COUNT = 100000
    };
    int* triangles = malloc(3 * COUNT * sizeof(int));
    vec3* x = malloc(3 * COUNT * sizeof(vec3));
    for (int v = 0; v < 3 * COUNT; v++)
    {
        triangles[v] = v;
        x[v] = v3(v % 3 == 1, v % 3 == 2, 0);
    }
    weft_collider_def def = weft_collider_def_default();
    def.vertex_count = 3 * COUNT;
    def.triangles = triangles;
    def.triangle_count = COUNT;
    def.pair_limit = 1000000;
    test_ledger l = {0};
    for (int threads = 1; threads < 3; threads++)
    {
        weft_collider* c;
        weft_pairs pairs;
        weft_error error = {0};
        def.worker_count = threads;
        test_ledger_open(&l);
        assert_int_equal(weft_collider_create(&def, &c, NULL), WEFT_OK);
        assert_int_equal(weft_collider_update(c, x, x, 0.0, NULL), WEFT_OK);
        assert_int_equal(weft_collider_pairs(c, &pairs, &error), WEFT_BAD_INPUT);
        assert_non_null(strstr(error.message, "pair_limit"));
        assert_int_equal(pairs.vertex_face_count, 0);
        weft_collider_destroy(c);
        test_ledger_close();
        assert_int_equal(l.live, 0);
        assert_true(l.bytes_most < 200u << 20);
    }
    free(triangles);
    free(x);
}

// The limit is that of pairs to the last one, on any number of threads.
static void test_exact_limit(void** unused)
{
    (void)unused;
    test_scene* s = test_scene_create();
    test_scene_sheets(s);
    weft_collider* c = test_collider_create(s, 1, "auto");
    weft_pairs pairs;
    assert_int_equal(weft_collider_update(c, s->start, s->end, s->margin, NULL), WEFT_OK);
    assert_int_equal(weft_collider_pairs(c, &pairs, NULL), WEFT_OK);
    int most = int_max(pairs.vertex_face_count, pairs.edge_edge_count);
    weft_collider_destroy(c);
    for (int k = 0; k < 6; k++)
    {
        s->def.pair_limit = most - k % 2;
        c = test_collider_create(s, 1 + k / 2, "auto");
        assert_int_equal(weft_collider_update(c, s->start, s->end, s->margin, NULL), WEFT_OK);
        assert_int_equal(weft_collider_pairs(c, &pairs, NULL), k % 2 ? WEFT_BAD_INPUT : WEFT_OK);
        weft_collider_destroy(c);
    }
    free(s);
}

// Many tests and no pair: strands that all start at one vertex.
static void test_star(void** unused)
{
    (void)unused;
    enum
    {
        COUNT = 30000
    };
    int* edges = malloc(2 * COUNT * sizeof(int));
    vec3* x = calloc(COUNT + 1, sizeof(vec3));
    for (int k = 0; k < COUNT; k++)
    {
        edges[2 * k] = 0;
        edges[2 * k + 1] = k + 1;
        x[k + 1] = v3(1, 1, 1);
    }
    weft_collider_def def = weft_collider_def_default();
    def.vertex_count = COUNT + 1;
    def.edges = edges;
    def.edge_count = COUNT;
    def.pair_limit = 1000;
    weft_collider* c;
    weft_pairs pairs;
    assert_int_equal(weft_collider_create(&def, &c, NULL), WEFT_OK);
    assert_int_equal(weft_collider_update(c, x, x, 0.0, NULL), WEFT_OK);
    assert_int_equal(weft_collider_pairs(c, &pairs, NULL), WEFT_BAD_INPUT);
    weft_collider_destroy(c);
    free(edges);
    free(x);
}

static weft_status use(const test_scene* s, int steps, int* made_after_two, test_ledger* l)
{
    weft_collider* c = NULL;
    weft_status status = weft_collider_create(&s->def, &c, NULL);
    int made = 0;
    for (int k = 0; k < steps && status == WEFT_OK; k++)
    {
        weft_pairs pairs;
        const weft_near* near;
        const weft_impact* impacts;
        int count;
        made = k == 2 ? l->made : made;
        status = weft_collider_update(c, s->start, s->end, s->margin, NULL);
        status = status == WEFT_OK ? weft_collider_pairs(c, &pairs, NULL) : status;
        status = status == WEFT_OK ? weft_collider_near(c, s->margin, &near, &count, NULL) : status;
        status = status == WEFT_OK ? weft_collider_impacts(c, &impacts, &count, NULL) : status;
    }
    *made_after_two = l->made - made;
    weft_collider_destroy(c);
    return status;
}

static void test_memory(void** unused)
{
    (void)unused;
    test_scene* s = test_scene_create();
    test_scene_mixed(s);
    weft_status status = WEFT_NO_MEMORY;
    int made, tried = 0;
    test_ledger steady = {0};
    test_ledger_open(&steady);
    assert_int_equal(use(s, 10, &made, &steady), WEFT_OK);
    test_ledger_close();
    assert_int_equal(made, 0);
    assert_int_equal(steady.live, 0);
    for (int fail_at = 1; status != WEFT_OK; fail_at++, tried++)
    {
        test_ledger l = {.fail_at = fail_at};
        test_ledger_open(&l);
        status = use(s, 2, &made, &l);
        test_ledger_close();
        assert_true(status == WEFT_OK || status == WEFT_NO_MEMORY);
        assert_int_equal(l.live, 0);
    }
    assert_true(tried > 20);
    free(s);
}

// An update that fails for want of memory does not leave a tree that is half of the old and half of the new.
static void test_failed_rebuild(void** unused)
{
    (void)unused;
    test_scene* s = test_scene_create();
    test_scene_strip(s, 600);
    test_scene* moved = malloc(sizeof(test_scene));
    *moved = *s;
    for (int v = 0; v < s->def.vertex_count; v++)
    {
        moved->start[v].x = moved->end[v].x = s->start[v].x + 0.1 * (v / 3 * 7 % 600 - v / 3);
    }
    test_brute before = test_brute_find(s), after = test_brute_find(moved);
    for (int fail_at = 1, status = WEFT_NO_MEMORY; status != WEFT_OK; fail_at++)
    {
        test_ledger l = {0};
        test_ledger_open(&l);
        weft_collider* c = test_collider_create(s, 1, "auto");
        test_check_update(s, c, &before);
        l.fail_at = l.made + fail_at;
        status = weft_collider_update(c, moved->start, moved->end, 0.0, NULL);
        l.fail_at = 0;
        test_check_update(moved, c, &after);
        test_check_update(s, c, &before);
        weft_collider_destroy(c);
        test_ledger_close();
        assert_true(status == WEFT_NO_MEMORY || (status == WEFT_OK && fail_at > 1));
    }
    test_brute_finish(&before);
    test_brute_finish(&after);
    free(moved);
    free(s);
}

static void expect_refusal(const weft_collider_def* def, const char* words)
{
    weft_collider* c = NULL;
    weft_error error = {0};
    assert_int_not_equal(weft_collider_create(def, &c, &error), WEFT_OK);
    assert_null(c);
    if (!strstr(error.message, words))
    {
        fail_msg("`%s` does not say `%s`", error.message, words);
    }
}

static void test_bad_input(void** unused)
{
    (void)unused;
    const int triangles[] = {0, 1, 2}, out_of_range[] = {0, 1, 7}, twice[] = {0, 1, 0}, edge[] = {1, 1};
    const int bodies[] = {0, 0, 1}, wrong_bodies[] = {0, 5, 0};
    weft_collider_def def = weft_collider_def_default();
    def.vertex_count = 3;
    def.triangle_count = 1;
    def.triangles = out_of_range;
    expect_refusal(&def, "triangle 0 has vertex 7");
    def.triangles = twice;
    expect_refusal(&def, "twice");
    def.triangles = triangles;
    def.edges = edge;
    def.edge_count = 1;
    expect_refusal(&def, "edge 0");
    def.edge_count = 0;
    def.body = wrong_bodies;
    expect_refusal(&def, "vertex 1 is of body 5");
    def.body = bodies;
    def.body_count = 2;
    expect_refusal(&def, "joins the bodies");
    def.body = NULL;
    def.excluded_bodies = wrong_bodies;
    def.excluded_body_count = 1;
    expect_refusal(&def, "excluded_bodies 0");
    def.excluded_body_count = 0;
    def.excluded_vertices = out_of_range + 1;
    def.excluded_vertex_count = 1;
    expect_refusal(&def, "excluded_vertices 0");
    def.excluded_vertex_count = 0;
    def.kernels = "abacus";
    expect_refusal(&def, "abacus");
    def.kernels = "auto";
    def.pair_limit = 0;
    expect_refusal(&def, "pair_limit");
    def.pair_limit = 100;
    def.vertex_count = -1;
    expect_refusal(&def, "between 0 and");
}

static void test_bad_positions(void** unused)
{
    (void)unused;
    test_scene* s = test_scene_create();
    test_scene_sheet(s, 80, v3(0, 0, 0), v3(1, 0, 0), v3(0, 0, 1), v3(0, 0, 0), 0);
    s->def.triangle_count = 100;
    weft_collider* c = test_collider_create(s, 3, "auto");
    weft_pairs pairs;
    weft_error error = {0};
    assert_int_equal(weft_collider_pairs(c, &pairs, &error), WEFT_BAD_INPUT);
    assert_non_null(strstr(error.message, "weft_collider_update"));
    s->end[6000].y = INFINITY;
    s->start[4500].z = NAN;
    assert_int_equal(weft_collider_update(c, s->start, s->end, 0.0, &error), WEFT_NOT_FINITE);
    assert_non_null(strstr(error.message, "vertex 4500"));
    assert_int_equal(weft_collider_pairs(c, &pairs, &error), WEFT_BAD_INPUT);
    s->start[4500].z = 0.0;
    s->end[6000].y = 0.0;
    assert_int_equal(weft_collider_update(c, s->start, s->end, -1.0, &error), WEFT_BAD_INPUT);
    assert_int_equal(weft_collider_update(c, s->start, s->end, NAN, &error), WEFT_BAD_INPUT);
    test_check_step(s, c);
    weft_collider_destroy(c);
    free(s);
}

// What each of the three calls hands out outlives the other two and an update; after a failure there is nothing.
static void test_what_lasts(void** unused)
{
    (void)unused;
    test_scene* s = test_scene_create();
    test_scene_sheet(s, 8, v3(0, 0, 0), v3(1, 0, 0), v3(0, 0, 1), v3(0, 0, 0), 0);
    test_scene_sheet(s, 8, v3(0.01, 0.02, 0.03), v3(1, 0, 0), v3(0, 0, 1), v3(0, -0.025, 0), 0);
    weft_collider* c = test_collider_create(s, 1, "auto");
    weft_pairs pairs, later;
    const weft_near* near;
    const weft_impact* impacts;
    int near_count, impact_count;
    assert_int_equal(weft_collider_update(c, s->start, s->end, 0.01, NULL), WEFT_OK);
    assert_int_equal(weft_collider_update(c, s->start, s->end, -1.0, NULL), WEFT_BAD_INPUT); // the last one stays
    assert_int_equal(weft_collider_pairs(c, &pairs, NULL), WEFT_OK);
    size_t faces_size = (size_t)pairs.vertex_face_count * sizeof(weft_pair);
    size_t edges_size = (size_t)pairs.edge_edge_count * sizeof(weft_pair);
    void* kept[3] = {malloc(faces_size), malloc(edges_size), NULL};
    memcpy(kept[0], pairs.vertex_face, faces_size);
    memcpy(kept[1], pairs.edge_edge, edges_size);
    assert_int_equal(weft_collider_impacts(c, &impacts, &impact_count, NULL), WEFT_OK);
    assert_true(pairs.vertex_face_count > 0 && pairs.edge_edge_count > 0 && impact_count > 0);
    size_t impacts_size = (size_t)impact_count * sizeof(weft_impact);
    kept[2] = malloc(impacts_size);
    memcpy(kept[2], impacts, impacts_size);
    // Fewer candidates than pairs has, then more.
    assert_int_equal(weft_collider_near(c, 0.001, &near, &near_count, NULL), WEFT_OK);
    assert_memory_equal(kept[0], pairs.vertex_face, faces_size);
    assert_int_equal(weft_collider_near(c, 0.5, &near, &near_count, NULL), WEFT_OK);
    assert_true(near_count > pairs.vertex_face_count);
    weft_vec3 first = s->end[0];
    s->end[0].x = NAN;
    assert_int_equal(weft_collider_update(c, s->start, s->end, 0.01, NULL), WEFT_NOT_FINITE);
    assert_int_equal(weft_collider_near(c, 0.5, &near, &near_count, NULL), WEFT_BAD_INPUT);
    assert_true(near == NULL && near_count == 0);
    assert_memory_equal(kept[0], pairs.vertex_face, faces_size);
    assert_memory_equal(kept[1], pairs.edge_edge, edges_size);
    assert_memory_equal(kept[2], impacts, impacts_size);
    assert_int_equal(weft_collider_pairs(c, &later, NULL), WEFT_BAD_INPUT);
    assert_true(!later.vertex_face && !later.edge_edge && later.vertex_face_count + later.edge_edge_count == 0);
    assert_int_equal(weft_collider_impacts(c, &impacts, &impact_count, NULL), WEFT_BAD_INPUT);
    assert_true(impacts == NULL && impact_count == 0);
    s->end[0] = first;
    assert_int_equal(weft_collider_update(c, s->start, s->end, 0.01, NULL), WEFT_OK);
    assert_int_equal(weft_collider_impacts(c, &impacts, &impact_count, NULL), WEFT_OK);
    assert_memory_equal(kept[2], impacts, impacts_size);
    for (int k = 0; k < 3; k++)
    {
        free(kept[k]);
    }
    weft_collider_destroy(c);
    free(s);
}

static void test_edges(void** unused)
{
    (void)unused;
    test_scene* s = test_scene_create();
    test_scene_random(s, 1);
    weft_collider* c = test_collider_create(s, 1, "auto");
    int count, expected;
    const int* edges = weft_collider_edges(c, &count);
    int* brute = test_scene_edges(s, &expected);
    assert_int_equal(count, expected);
    assert_memory_equal(edges, brute, 2 * sizeof(int) * (size_t)count);
    free(brute);
    weft_collider_destroy(c);
    free(s);
}

// ---- impacts

static int next_impact(const test_scene* s, const weft_impact* impacts, int count, int at, weft_pair_kind kind,
                       weft_pair pair, const int v[4])
{
    vec3 start[4], end[4];
    weft_ccd ccd;
    for (int k = 0; k < 4; k++)
    {
        start[k] = s->start[v[k]];
        end[k] = s->end[v[k]];
    }
    assert_int_equal(weft_ccd_query(kind, start, end, &ccd), WEFT_OK);
    if (!ccd.collides)
    {
        return at;
    }
    assert_true(at < count);
    assert_int_equal(impacts[at].kind, kind);
    assert_int_equal(impacts[at].first, pair.first);
    assert_int_equal(impacts[at].second, pair.second);
    assert_memory_equal(impacts[at].vertex, v, 4 * sizeof(int));
    assert_true(impacts[at].time == ccd.time && impacts[at].exact == ccd.exact);
    return at + 1;
}

// Every pair of the scene, whatever its boxes.
static void check_impacts(const test_scene* s, int threads)
{
    weft_collider* c = test_collider_create(s, threads, "auto");
    const weft_impact* impacts;
    weft_error error = {0};
    int count, edge_count, at = 0;
    assert_int_equal(weft_collider_update(c, s->start, s->end, s->margin, NULL), WEFT_OK);
    if (weft_collider_impacts(c, &impacts, &count, &error) != WEFT_OK)
    {
        fail_msg("%s", error.message);
    }
    const int* edges = weft_collider_edges(c, &edge_count);
    for (int i = 0; i < s->def.vertex_count; i++)
    {
        for (int j = 0; j < s->def.triangle_count; j++)
        {
            const int *t = s->triangles + 3 * j, v[4] = {i, t[0], t[1], t[2]};
            at = test_scene_wants(s, &i, 1, t, 3)
                     ? next_impact(s, impacts, count, at, WEFT_VERTEX_FACE, (weft_pair){i, j}, v)
                     : at;
        }
    }
    for (int i = 0; i < edge_count; i++)
    {
        for (int j = i + 1; j < edge_count; j++)
        {
            const int *a = edges + 2 * i, *b = edges + 2 * j, v[4] = {a[0], a[1], b[0], b[1]};
            at = test_scene_wants(s, a, 2, b, 2)
                     ? next_impact(s, impacts, count, at, WEFT_EDGE_EDGE, (weft_pair){i, j}, v)
                     : at;
        }
    }
    assert_int_equal(at, count);
    assert_true(count > 0);
    weft_collider_destroy(c);
}

static void test_impacts(void** unused)
{
    (void)unused;
    test_scene* s = test_scene_create();
    test_scene_sheet(s, 6, v3(0, 0.05, 0), v3(1, 0, 0.1), v3(0, 0.02, 1), v3(0.01, -0.1, 0), 0);
    test_scene_sheet(s, 5, v3(0, 0, 0), v3(1, 0, 0), v3(0, 0, 1), v3(0, 0.01, 0), 1);
    check_impacts(s, 1);
    check_impacts(s, 3);
    free(s);
    s = test_scene_create();
    test_scene_random(s, 3); // with ties: touching counts
    check_impacts(s, 2);
    // A pair with a coordinate that is too small is named.
    weft_collider* c = test_collider_create(s, 2, "auto");
    const weft_impact* impacts;
    weft_error error = {0};
    int count;
    for (int v = 0; v < s->def.vertex_count; v++)
    {
        s->start[v] = s->end[v] = v3(1e-31, 0, 0);
    }
    assert_int_equal(weft_collider_update(c, s->start, s->end, 0.0, NULL), WEFT_OK);
    assert_int_equal(weft_collider_impacts(c, &impacts, &count, &error), WEFT_BAD_INPUT);
    assert_non_null(strstr(error.message, "1e-30"));
    assert_int_equal(count, 0);
    weft_collider_destroy(c);
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pair_limit),    cmocka_unit_test(test_exact_limit),    cmocka_unit_test(test_star),
        cmocka_unit_test(test_memory),        cmocka_unit_test(test_failed_rebuild), cmocka_unit_test(test_bad_input),
        cmocka_unit_test(test_bad_positions), cmocka_unit_test(test_what_lasts),     cmocka_unit_test(test_edges),
        cmocka_unit_test(test_impacts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
