// Straight ways over flat cloth with a cut in it, against plane geometry: free lines are as long as they are, those
// that a slit crosses go round one of its ends. And the order of a factor after a tear: its solves are those of a new
// one.
#include "common.h"

#include <stdlib.h>
#include <string.h>

#include "common_scene.h"
#include "sim/sim.h"
#include "sim/tear_mend.h"
#include "step/graph.h"
#include "step/local_global.h"

#define SHEET                                                                                                          \
    "{\"method\": \"%s\", \"model\": \"hooke\", \"contact\": {\"enabled\": false}, \"cloth\": [{\"tear\": 1e6, "       \
    "\"mesh\": {\"grid\": {\"size\": [1, 1.2], \"cells\": [20, 24], \"plane\": \"xy\", \"tessellation\": \"%s\"}}, "   \
    "\"pins\": [{\"where\": {\"corner\": \"top-left\"}}]}]}"

static weft_sim* sheet(const char* method, const char* tessellation)
{
    char text[1000];
    snprintf(text, sizeof(text), SHEET, method, tessellation);
    weft_sim* sim = scene_sim_text(text, 1);
    assert_int_equal(sim_build(sim, NULL), WEFT_OK);
    return sim;
}

static int middle_vertex(const weft_sim* sim)
{
    const mesh* m = &sim->bodies[0].rest;
    int best = 0;
    for (int i = 1; i < m->vertex_count; i++)
    {
        best = v3_length(m->position[i]) < v3_length(m->position[best]) ? i : best;
    }
    return best;
}

// Faces above the vertex go with a new one: a slit of two edges.
static void slit(weft_sim* sim, int vertex)
{
    body* b = &sim->bodies[0];
    const mesh* m = &b->rest;
    tear_list list = {0};
    assert_int_equal(tears_add(&list, vertex), WEFT_OK);
    for (int t = 0; t < m->triangle_count; t++)
    {
        const int* v = m->triangle + 3 * t;
        vec3 middle = v3_scale(1.0 / 3.0, v3_add(m->position[v[0]], v3_add(m->position[v[1]], m->position[v[2]])));
        bool around = v[0] == vertex || v[1] == vertex || v[2] == vertex;
        around&& middle.y > m->position[vertex].y ? assert_int_equal(tears_take(&list, m->triangle_face[t]), WEFT_OK)
                                                  : (void)0;
    }
    bool done;
    assert_int_equal(sim_mend(sim, b, &list, &done, NULL), WEFT_OK);
    assert_true(done);
    tears_finish(&list);
}

// How far b is to the left of the line from p to q, times its length.
static double turn(vec3 p, vec3 q, vec3 b)
{
    return (q.x - p.x) * (b.y - p.y) - (q.y - p.y) * (b.x - p.x);
}

static bool cross(vec3 a, vec3 b, vec3 p, vec3 q, double eps, bool* touch)
{
    double s[4] = {turn(a, b, p), turn(a, b, q), turn(p, q, a), turn(p, q, b)};
    for (int k = 0; k < 4; k++)
    {
        *touch = *touch || fabs(s[k]) < eps;
    }
    return s[0] * s[1] < 0.0 && s[2] * s[3] < 0.0;
}

static void check_ways(const char* tessellation)
{
    weft_sim* sim = sheet("pbd", tessellation);
    int before = sim->model.vertex_count, split = sim->bodies[0].scene_vertex[middle_vertex(sim)];
    slit(sim, middle_vertex(sim));
    graph g;
    assert_int_equal(graph_create(&g, &sim->model), WEFT_OK);
    // The ends of the slit: neighbours of both sides.
    int end[2], ends = 0;
    for (int k = g.start[split]; k < g.start[split + 1]; k++)
    {
        bool both = graph_length(&g, before, g.other[k]) > 0.0;
        end[ends < 2 ? ends : 0] = both ? g.other[k] : end[ends < 2 ? ends : 0];
        ends += both;
    }
    assert_int_equal(ends, 2);
    uint64_t counter = 1;
    int free_ways = 0, round = 0, told = 0, tries = 4000;
    for (int turn_ = 0; turn_ < tries; turn_++)
    {
        int a = (int)test_random(&counter, 0, before), b = (int)test_random(&counter, 0, before);
        vec3 p = g.rest[a], q = g.rest[b], v = g.rest[split];
        bool touch = a == b || a == split || b == split;
        bool hit = cross(p, q, g.rest[end[0]], v, 1e-9, &touch);
        hit = cross(p, q, g.rest[end[1]], v, 1e-9, &touch) || hit;
        double out, straight = v3_length(v3_sub(q, p));
        if (touch)
        {
            continue;
        }
        bool known = straight_way(&g, a, b, INFINITY, &out) != WAY_UNKNOWN && out < INFINITY;
        told += known;
        assert_true(known || hit); // what is free is always told
        if (!hit)
        {
            assert_true(fabs(out - straight) < 1e-12);
            free_ways++;
            continue;
        }
        double shortest = INFINITY;
        for (int k = 0; k < 2; k++)
        {
            vec3 e = g.rest[end[k]];
            shortest = fmin(shortest, v3_length(v3_sub(e, p)) + v3_length(v3_sub(q, e)));
        }
        // Where the slit is bent its middle may be in the way, too.
        assert_true(!known || (out > straight && out > shortest - 1e-12 && out < 1.1 * shortest));
        round += known;
    }
    printf("%s: %d free, %d round the slit, %d of them all told\n", tessellation, free_ways, round, told);
    assert_true(free_ways > tries / 3 && round > 10);
    graph_finish(&g);
    weft_sim_destroy(sim);
}

static void test_ways(void** unused)
{
    (void)unused;
    check_ways("regular");
    check_ways("irregular");
}

// A tube is not flat: nothing is told but what lies along its straight lines.
static void test_tube(void** unused)
{
    (void)unused;
    weft_sim* sim = scene_sim_text("{\"model\": \"hooke\", \"cloth\": [{\"mesh\": {\"grid\": {\"size\": [1, 1], "
                                   "\"cells\": 12, \"shape\": \"tube\"}}}]}",
                                   1);
    assert_int_equal(sim_build(sim, NULL), WEFT_OK);
    graph g;
    assert_int_equal(graph_create(&g, &sim->model), WEFT_OK);
    uint64_t counter = 7;
    for (int k = 0; k < 500; k++)
    {
        int a = (int)test_random(&counter, 0, g.vertex_count), b = (int)test_random(&counter, 0, g.vertex_count);
        double out, way;
        geodesic ways;
        if (a != b && straight_way(&g, a, b, INFINITY, &out) != WAY_UNKNOWN && out < INFINITY)
        {
            assert_int_equal(geodesic_create(&ways, &g), WEFT_OK);
            assert_int_equal(geodesic_between(&ways, a, b, 10.0, &way), WEFT_OK);
            assert_true(fabs(way - out) < 1e-9);
            geodesic_finish(&ways);
        }
    }
    graph_finish(&g);
    weft_sim_destroy(sim);
}

static void test_order_of_factor(void** unused)
{
    (void)unused;
    weft_sim* sim = sheet("local-global", "irregular");
    int vertex = middle_vertex(sim);
    assert_int_equal(weft_sim_step(sim, NULL, NULL), WEFT_OK);
    slit(sim, vertex);
    slit(sim, vertex + 40);
    assert_int_equal(weft_sim_step(sim, NULL, NULL), WEFT_OK);
    world* w = &sim->world;
    global_step *mended = &((local_global_data*)w->method.data)->global, fresh = {0};
    int n = sim->model.vertex_count;
    assert_int_equal(mended->symbolic.vertex_count, n);
    uint8_t* seen = calloc((size_t)n, 1);
    for (int k = 0; k < n; k++)
    {
        assert_false(seen[mended->symbolic.order[k]]++);
    }
    free(seen);
    // Of the same matrix as one that is dissected anew.
    vec3 *b = malloc((size_t)n * sizeof(vec3)), *x = malloc((size_t)n * sizeof(vec3)),
         *y = malloc((size_t)n * sizeof(vec3));
    uint64_t counter = 3;
    for (int i = 0; i < n; i++)
    {
        b[i] = test_random_vec(&counter, 1.0);
    }
    bool made;
    int updates;
    w->h = w->settings.time_step;
    assert_int_equal(global_step_create(&fresh, &sim->model), WEFT_OK);
    memcpy(fresh.held, mended->held, (size_t)n);
    global_step_rebase(&fresh);
    assert_int_equal(global_step_factor(&fresh, w, &made, &updates), WEFT_OK);
    assert_int_equal(global_step_factor(mended, w, &made, &updates), WEFT_OK);
    global_step_solve(&fresh, w, b, x);
    global_step_solve(mended, w, b, y);
    for (int i = 0; i < n; i++)
    {
        assert_true(v3_length(v3_sub(x[i], y[i])) < 1e-9 * (1.0 + v3_length(x[i])));
    }
    printf("flops %.3g, dissected anew %.3g\n", mended->symbolic.flops, fresh.symbolic.flops);
    assert_true(mended->symbolic.flops < 1.5 * fresh.symbolic.flops);
    free(b);
    free(x);
    free(y);
    global_step_finish(&fresh);
    weft_sim_destroy(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ways),
        cmocka_unit_test(test_tube),
        cmocka_unit_test(test_order_of_factor),
    };
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
