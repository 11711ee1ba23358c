// The broad phase against loops over everything: random and adversarial scenes, any number of threads, every CPU kind,
// after deformations that spoil the tree and after a rebuild.
#include "common.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "collide/broad.h"
#include "common_collide.h"

static const struct
{
    int threads;
    const char* kernels;
} ways[] = {{1, "auto"}, {2, "auto"}, {3, "auto"}, {8, "auto"}, {1, "base"}, {2, "avx2"}, {1, "avx512"}};

enum
{
    WAY_COUNT = sizeof(ways) / sizeof(ways[0])
};

// The same in all ways, with swept boxes, with those of start and end apart, and with swept ones again. Returns the
// number of pairs.
static int check_scene(test_scene* s)
{
    test_brute b[2];
    for (int split = 0; split < 2; split++)
    {
        s->split = split;
        b[split] = test_brute_find(s);
    }
    for (int k = 0; k < WAY_COUNT; k++)
    {
        weft_collider* c = test_collider_create(s, ways[k].threads, ways[k].kernels);
        for (int turn = 0; turn < 3; turn++)
        {
            assert_int_equal(collider_split_boxes(c, turn % 2), WEFT_OK);
            test_check_update(s, c, &b[turn % 2]);
        }
        weft_collider_destroy(c);
    }
    s->split = 0;
    assert_true(test_brute_finish(&b[1]) <= b[0].vertex_face_count + b[0].edge_edge_count);
    return test_brute_finish(&b[0]);
}

static void test_random_scenes(void** unused)
{
    (void)unused;
    int total = 0;
    for (uint64_t seed = 0; seed < 100; seed++)
    {
        test_scene* s = test_scene_create();
        test_scene_random(s, seed);
        total += check_scene(s);
        free(s);
    }
    assert_true(total > 100000);
    print_message("%d pairs\n", total);
}

// ---- adversarial scenes

static void coincident(test_scene* s) // every feature on top of every other
{
    for (int k = 0; k < 120; k++)
    {
        int a = test_scene_vertex(s, v3(1, 2, 3), v3(1, 2, 3), 0),
            b = test_scene_vertex(s, v3(2, 2, 3), v3(2, 2, 3), 0);
        int c = test_scene_vertex(s, v3(1, 3, 3), v3(1, 3, 3), 0);
        test_scene_triangle(s, a, b, c);
    }
}

static void sliver(test_scene* s) // one long thin triangle through a cloud of small ones
{
    uint64_t counter = 7;
    int a = test_scene_vertex(s, v3(-10, -10, -10), v3(-10, -10, -10), 0);
    int b = test_scene_vertex(s, v3(10, 10, 10), v3(10, 10, 10), 0);
    test_scene_triangle(s, a, b, test_scene_vertex(s, v3(10, 10.001, 10), v3(10, 10.001, 10), 0));
    for (int k = 0; k < 300; k++)
    {
        vec3 o = test_random_vec(&counter, 10.0);
        int v = 0;
        for (int j = 0; j < 3; j++)
        {
            vec3 x = v3_add(o, test_random_vec(&counter, 0.3));
            v = test_scene_vertex(s, x, x, 0);
        }
        test_scene_triangle(s, v - 2, v - 1, v);
    }
    s->margin = 0.01;
}

static void giant(test_scene* s) // a triangle that covers hundreds
{
    int a = test_scene_vertex(s, v3(-100, 0, -100), v3(-100, 0, -100), 1);
    int b = test_scene_vertex(s, v3(100, 0, -100), v3(100, 0, -100), 1);
    test_scene_triangle(s, a, b, test_scene_vertex(s, v3(0, 0, 100), v3(0, 0, 100), 1));
    test_scene_sheet(s, 24, v3(-1, 0, -1), v3(2, 0, 0), v3(0, 0, 2), v3(0, 0, 0), 0);
    s->passive[1] = 1;
}

static void far_away(test_scene* s) // triangles of a micrometre a million kilometres from the origin, and a few at it
{
    uint64_t counter = 11;
    for (int k = 0; k < 150; k++)
    {
        vec3 o = k < 140 ? v3(1e9, -1e9, 1e9) : v3(0, 0, 0);
        int v = 0;
        for (int j = 0; j < 3; j++)
        {
            vec3 x = v3_add(o, test_random_vec(&counter, 1e-6));
            v = test_scene_vertex(s, x, v3_add(x, test_random_vec(&counter, 2e-7)), 0);
        }
        test_scene_triangle(s, v - 2, v - 1, v);
    }
    s->margin = 1e-7;
}

static void limits(test_scene* s) // beyond the largest float, below the smallest, and at both
{
    static const double size[] = {0.0, 1e-320, 1e-45, -1e-40, 1e-38, 1.0, 3e38, FLT_MAX, -3.3e38, 1e39, -1e300, 8e307};
    uint64_t counter = 13;
    for (int k = 0; k < 120; k++)
    {
        int v = 0;
        for (int j = 0; j < 3; j++)
        {
            vec3 x;
            for (int axis = 0; axis < 3; axis++)
            {
                (&x.x)[axis] = size[(int)test_random(&counter, 0.0, 12.0)];
            }
            v = test_scene_vertex(s, x, k % 2 ? x : v3(x.y, x.x, x.z), 0);
        }
        test_scene_triangle(s, v - 2, v - 1, v);
    }
}

static void wide_margin(test_scene* s) // the same with a margin that no float holds
{
    limits(s);
    s->margin = 1e300;
}

// The number itself, or one of its neighbours.
static double pick_next(double x, int which)
{
    return which == 0 ? x : nextafter(x, which == 1 ? INFINITY : -INFINITY);
}

// Sums that cancel to nothing: low - high is exactly the margin, or next to it.
static void ties(test_scene* s)
{
    uint64_t counter = 17;
    s->margin = 0.001;
    for (int k = 0; k < 200; k++)
    {
        double o[3];
        for (int axis = 0; axis < 3; axis++)
        {
            static const double at[] = {-0.001, 0.0, 1e-20, -1e-20, 0.001, 0.002, 1.0, 1.001};
            o[axis] = at[(int)test_random(&counter, 0.0, 8.0)];
            o[axis] = pick_next(o[axis], (int)test_random(&counter, 0.0, 3.0));
        }
        test_scene_vertex(s, v3(o[0], o[1], o[2]), v3(o[0], o[1], o[2]), 0);
    }
    for (int k = 0; k + 2 < 200; k += 3)
    {
        test_scene_triangle(s, k, k + 1, k + 2);
    }
}

static void empty(test_scene* s)
{
    (void)s;
}

static void no_features(test_scene* s)
{
    test_scene_vertex(s, v3(1, 2, 3), v3(1, 2, 3), 0);
}

static void one_triangle(test_scene* s)
{
    test_scene_sheet(s, 1, v3(0, 0, 0), v3(1, 0, 0), v3(0, 0, 1), v3(0, 0, 0), 0);
    s->def.triangle_count = 1;
}

static void test_adversarial_scenes(void** unused)
{
    (void)unused;
    static const struct
    {
        const char* name;
        void (*make)(test_scene* s);
    } cases[] = {{"coincident", coincident},    {"sliver", sliver},
                 {"sheets", test_scene_sheets}, {"giant", giant},
                 {"far away", far_away},        {"limits of float", limits},
                 {"wide margin", wide_margin},  {"ties", ties},
                 {"mixed", test_scene_mixed},   {"empty", empty},
                 {"no features", no_features},  {"one triangle", one_triangle}};
    for (int k = 0; k < (int)(sizeof(cases) / sizeof(cases[0])); k++)
    {
        test_scene* s = test_scene_create();
        cases[k].make(s);
        int count = check_scene(s);
        print_message("%s: %d pairs\n", cases[k].name, count);
        assert_true(count > 0 || k >= 9);
        free(s);
    }
}

// Enough for many chunks, and a triangle whose edges reach more groups than a chunk has room for at first.
static void test_many_chunks(void** unused)
{
    (void)unused;
    uint64_t counter = 29;
    test_scene* s = test_scene_create();
    int a = test_scene_vertex(s, v3(-1, -1, -1), v3(-1, -1, -1), 1),
        b = test_scene_vertex(s, v3(2, 2, 2), v3(2, 2, 2), 1);
    test_scene_triangle(s, a, b, test_scene_vertex(s, v3(2, -1, 2), v3(2, -1, 2.5), 1));
    test_scene_sheet(s, 56, v3(0, 0, 0), v3(1, 0, 0), v3(0, 0, 1), v3(0, 0, 0), 0);
    for (int v = 3; v < s->def.vertex_count; v++)
    {
        s->end[v] = v3_add(s->start[v], test_random_vec(&counter, 0.02));
    }
    s->passive[1] = 1;
    s->margin = 0.002;
    assert_true(check_scene(s) > 50000);
    free(s);
}

// ---- trees that degrade

static vec3 scattered(uint64_t* counter, vec3 x, double amount)
{
    return v3_add(x, test_random_vec(counter, amount));
}

static void test_refit_and_rebuild(void** unused)
{
    (void)unused;
    uint64_t counter = 23;
    test_scene* s = test_scene_create();
    test_scene_sheet(s, 20, v3(0, 0, 0), v3(1, 0, 0), v3(0, 0, 1), v3(0, 0.01, 0), 0);
    test_scene_sheet(s, 10, v3(0, 0.02, 0), v3(1, 0, 0), v3(0, 0, 1), v3(0, 0, 0), 1);
    s->passive[1] = 1;
    s->margin = 0.01;
    weft_collider* c = test_collider_create(s, 2, "auto");
    test_check_step(s, c);
    assert_int_equal(c->build_count, 1);
    // A little: the order stays. The obstacle stays where it is, then it moves.
    for (int step = 0; step < 3; step++)
    {
        for (int v = 0; v < s->def.vertex_count; v++)
        {
            bool still = s->body[v] == 1 && step < 2;
            s->start[v] = still ? s->start[v] : scattered(&counter, s->start[v], 0.01);
            s->end[v] = still ? s->end[v] : scattered(&counter, s->start[v], 0.01);
        }
        test_check_step(s, c);
        assert_int_equal(c->build_count, 1);
    }
    // All of it to other places: neighbours in the tree are so no more.
    for (int v = 0; v < s->def.vertex_count; v++)
    {
        s->start[v] = test_random_vec(&counter, 0.5);
        s->end[v] = s->start[v];
    }
    for (int v = 0; v < s->def.vertex_count; v += 441 / 7)
    {
        s->end[v] = scattered(&counter, s->start[v], 0.3);
    }
    test_check_step(s, c);
    // Far off, where the old origin would leave no digits.
    int builds = c->build_count;
    for (int v = 0; v < s->def.vertex_count; v++)
    {
        s->start[v] = v3_add(s->start[v], v3(1e7, 0, 0));
        s->end[v] = v3_add(s->end[v], v3(1e7, 0, 0));
    }
    test_check_step(s, c);
    assert_int_equal(c->build_count, builds + 1);
    test_check_step(s, c);
    assert_int_equal(c->build_count, builds + 1);
    weft_collider_destroy(c);
    free(s);
}

// A strip whose cells change places: every group of eight is spread over the whole.
static void test_rebuild_when_degraded(void** unused)
{
    (void)unused;
    test_scene* s = test_scene_create();
    test_scene_strip(s, 600);
    s->margin = 0.02;
    weft_collider* c = test_collider_create(s, 1, "auto");
    test_check_step(s, c);
    for (int v = 0; v < s->def.vertex_count; v++)
    {
        int k = v / 3;
        double shift = 0.1 * (k * 7 % 600 - k);
        s->start[v].x += shift;
        s->end[v].x += shift;
    }
    test_check_step(s, c);
    assert_int_equal(c->build_count, 2);
    weft_collider_destroy(c);
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_scenes),         cmocka_unit_test(test_adversarial_scenes),
        cmocka_unit_test(test_many_chunks),           cmocka_unit_test(test_refit_and_rebuild),
        cmocka_unit_test(test_rebuild_when_degraded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
