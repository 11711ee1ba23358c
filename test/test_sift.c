// The sieve before narrow tests (collide/sift_kernel.c): what it leaves out is what they would refuse. Random pairs of
// all sizes and attitudes, apart, sliding over each other, passing through, in one plane, slivers, points and
// parallels, against exact detection and closest points; and it does leave out most of what slides by.
#include <stdlib.h>
#include <string.h>

#include "collide/broad.h"
#include "collide/ccd.h"
#include "common.h"

enum
{
    PAIRS = 4000,
    VERTICES = 4 * PAIRS
};

static const double least = 1.0e-3 * 1.001, reach = 1.0e-3, ulp = 0x1p-24;

typedef struct batch
{
    vec3 start[VERTICES], end[VERTICES];
    int vertex[VERTICES], edge[4 * PAIRS], face[3 * PAIRS]; // pair k has the vertices 4 k to 4 k + 3
    weft_pair pair[PAIRS], kept[PAIRS];
} batch;

static double draw(uint64_t seed, uint64_t k)
{
    return 2.0 * random_unit(seed, k) - 1.0;
}

static vec3 draw_point(uint64_t seed, uint64_t k)
{
    return v3(draw(seed, 3 * k), draw(seed, 3 * k + 1), draw(seed, 3 * k + 2));
}

// How pairs lie and move.
typedef enum manner
{
    ANYHOW,   // all points at random, and so their ways
    SLIDING,  // the first one above the second by little more or less than the reach, moving along it
    COPLANAR, // all in one plane, at all times
    SLIVERS,  // two points of a feature nearly coincide, or both edges are nearly parallel
    MANNERS
} manner;

static void make_pair(batch* b, int k, manner how, uint64_t seed)
{
    vec3 *x = b->start + 4 * k, *y = b->end + 4 * k;
    double size = pow(10.0, -2.0 + draw(seed, 900)), height = reach * (1.0 + 0.3 * draw(seed, 901));
    vec3 slide = v3_scale(size, draw_point(seed, 302));
    for (int v = 0; v < 4; v++)
    {
        x[v] = v3_scale(size, draw_point(seed, (uint64_t)v));
        y[v] = v3_madd(x[v], 0.5 * size, draw_point(seed, 10 + (uint64_t)v));
        bool first = b->pair[k].first == 4 * k ? v == 0 : v < 2; // as a vertex and a face, and as two edges
        if (how == SLIDING)
        {
            x[v].y = first ? height : 0.0;
            y[v] = v3(x[v].x + (first ? slide.x : 0.0), first ? height + 0.1 * slide.y : 0.0, x[v].z);
        }
        x[v].y = how == COPLANAR ? 0.0 : x[v].y;
        y[v].y = how == COPLANAR ? 0.0 : y[v].y;
    }
    if (how == SLIVERS)
    {
        double little = size * pow(10.0, -9.0 + 4.0 * draw(seed, 902));
        int a = (int)(4.0 * random_unit(seed, 903)) % 4, c = a ^ 1;
        bool parallel = random_unit(seed, 904) < 0.5;
        x[c] = v3_madd(x[a], little, draw_point(seed, 20));
        y[c] = v3_madd(y[a], little, draw_point(seed, 21));
        if (parallel)
        {
            vec3 d = v3_scale(size, draw_point(seed, 22)), way = v3_scale(2.0 * reach, draw_point(seed, 26));
            x[1] = v3_add(x[0], d);
            x[2] = v3_add(v3_madd(x[0], 0.3, d), v3_scale(reach, draw_point(seed, 24)));
            x[3] = v3_madd(v3_add(x[2], d), little, draw_point(seed, 23));
            for (int v = 0; v < 4; v++)
            {
                y[v] = v < 2 ? x[v] : v3_madd(v3_add(x[v], way), little, draw_point(seed, 30 + (uint64_t)v));
            }
        }
    }
}

static batch* make(weft_pair_kind kind, manner how, uint64_t seed)
{
    batch* b = calloc(1, sizeof(*b));
    assert_non_null(b);
    for (int k = 0; k < PAIRS; k++)
    {
        bool edges = kind == WEFT_EDGE_EDGE;
        b->pair[k] = edges ? (weft_pair){2 * k, 2 * k + 1} : (weft_pair){4 * k, k};
        for (int v = 0; v < 4; v++)
        {
            b->vertex[4 * k + v] = b->edge[4 * k + v] = 4 * k + v;
        }
        for (int v = 0; v < 3; v++)
        {
            b->face[3 * k + v] = 4 * k + 1 + v;
        }
        make_pair(b, k, how, seed + (uint64_t)k);
    }
    return b;
}

static int sift(batch* b, weft_pair_kind kind, sift_fn* rule, double by)
{
    bool edges = kind == WEFT_EDGE_EDGE;
    sift_job job = {.kind = kind,
                    .start = b->start,
                    .end = b->end,
                    .corner = edges ? b->edge : b->face,
                    .first_corner = edges ? b->edge : b->vertex,
                    .least = by,
                    .obstacles = VERTICES};
    return rule(&job, b->pair, PAIRS, b->kept);
}

// Along d, how far the first feature lies beyond the second, m.
static double gap(weft_pair_kind kind, vec3 d, const vec3* x)
{
    double p[4];
    for (int k = 0; k < 4; k++)
    {
        p[k] = v3_dot(v3_normalize(d), x[k]);
    }
    double far = fmax(p[2], p[3]);
    return kind == WEFT_EDGE_EDGE ? fmin(p[0], p[1]) - far : p[0] - fmax(p[1], far);
}

// As contact/find.c has it: apart along one direction it is none.
static bool is_row(weft_pair_kind kind, const vec3* start, const vec3* end)
{
    closest at = kind == WEFT_VERTEX_FACE ? closest_vertex_face(start) : closest_edge_edge(start);
    vec3 there = v3(0, 0, 0);
    bool inside = true;
    for (int k = 0; k < 4; k++)
    {
        there = v3_madd(there, at.weight[k], end[k]);
        inside = inside && at.weight[k] != 0.0;
    }
    vec3 d = kind == WEFT_EDGE_EDGE ? v3_sub(v3_add(start[0], start[1]), v3_add(start[2], start[3]))
                                    : v3_sub(v3_scale(3.0, start[0]), v3_add(start[1], v3_add(start[2], start[3])));
    if (gap(kind, d, start) > reach && gap(kind, d, end) > reach)
    {
        return false;
    }
    double nearest = fmin(at.distance, v3_dot(at.normal, there));
    return nearest <= reach && (inside || (kind == WEFT_VERTEX_FACE && at.distance <= reach));
}

static bool collides(weft_pair_kind kind, const vec3* start, const vec3* end)
{
    vec3 rounded[4];
    for (int k = 0; k < 4; k++)
    {
        rounded[k] = v3((double)(float)end[k].x, (double)(float)end[k].y, (double)(float)end[k].z);
    }
    return ccd_decide(kind, start, end).collides || ccd_decide(kind, end, rounded).collides;
}

typedef bool passes_fn(weft_pair_kind kind, const vec3* start, const vec3* end);

// All that pass the test are kept, in order; returns how many more are.
static int check(batch* b, weft_pair_kind kind, int kept, passes_fn* passes, int* passed)
{
    int at = 0;
    for (int k = 0; k < PAIRS; k++)
    {
        bool in = at < kept && b->kept[at].first == b->pair[k].first && b->kept[at].second == b->pair[k].second;
        bool wanted = passes(kind, b->start + 4 * k, b->end + 4 * k);
        assert_true(in || !wanted);
        at += in;
        *passed += wanted;
    }
    assert_int_equal(at, kept);
    return kept - *passed;
}

static void test_nothing_is_lost(void** unused)
{
    (void)unused;
    const sift_kernels* rules = sift_kernels_for(cpu_best());
    for (int kind = 0; kind < 2; kind++)
    {
        for (int how = 0; how < MANNERS; how++)
        {
            int rows = 0, hits = 0;
            batch* b = make((weft_pair_kind)kind, (manner)how, 7000 + 10 * (uint64_t)how);
            int more = check(b, (weft_pair_kind)kind, sift(b, (weft_pair_kind)kind, rules->near, least), is_row, &rows);
            int doubt = check(b, (weft_pair_kind)kind, sift(b, (weft_pair_kind)kind, rules->collision, 8.0 * ulp),
                              collides, &hits);
            print_message("kind %d, manner %d: %d rows and %d in doubt, %d hits and %d in doubt of %d\n", kind, how,
                          rows, more, hits, doubt, PAIRS);
            assert_true(how == COPLANAR || (how == SLIVERS && kind == WEFT_EDGE_EDGE) || (rows > 10 && hits > 10));
            // Of what slides above, boxes of most meet: hardly any may be left to exact tests.
            assert_true(how != SLIDING || (more < PAIRS / 3 && doubt < PAIRS / 10));
            assert_true(how != ANYHOW || doubt < PAIRS / 2);
            free(b);
        }
    }
}

// What one direction keeps apart, of all rules the first: never what comes closer than `least`.
static void test_apart(void** unused)
{
    (void)unused;
    int left_out = 0;
    for (int kind = 0; kind < 2; kind++)
    {
        batch* b = make((weft_pair_kind)kind, ANYHOW, 31);
        int kept = sift(b, (weft_pair_kind)kind, sift_kernels_for(cpu_best())->apart, least), at = 0;
        for (int k = 0; k < PAIRS; k++)
        {
            bool in = at < kept && b->kept[at].first == b->pair[k].first;
            at += in;
            left_out += !in;
            for (int step = 0; step <= 4 && !in; step++)
            {
                vec3 x[4];
                for (int v = 0; v < 4; v++)
                {
                    x[v] = v3_madd(b->start[4 * k + v], 0.25 * step, v3_sub(b->end[4 * k + v], b->start[4 * k + v]));
                }
                closest near = kind == WEFT_VERTEX_FACE ? closest_vertex_face(x) : closest_edge_edge(x);
                assert_true(near.distance > reach);
            }
        }
        free(b);
    }
    assert_true(left_out > PAIRS / 4);
}

static bool is_kept(const batch* b, int kept, int k)
{
    bool found = false;
    for (int at = 0; at < kept; at++)
    {
        found = found || (b->kept[at].first == b->pair[k].first && b->kept[at].second == b->pair[k].second);
    }
    return found;
}

// Edges and corners of obstacles have a reach of their own, their faces that of all others.
static void test_borders_of_obstacles(void** unused)
{
    (void)unused;
    sift_fn* near = sift_kernels_for(cpu_best())->near;
    for (int kind = 0; kind < 2; kind++)
    {
        bool edges = kind == WEFT_EDGE_EDGE, wide[PAIRS], narrow[PAIRS];
        batch* b = make((weft_pair_kind)kind, SLIDING, 53);
        const double far = 1.2 * least, close = 0.9 * least;
        int obstacles = VERTICES / 2 + (edges ? 2 : 1), differ = 0; // of one pair only the second is theirs
        int kept = sift(b, (weft_pair_kind)kind, near, far);
        for (int k = 0; k < PAIRS; k++)
        {
            wide[k] = is_kept(b, kept, k);
        }
        kept = sift(b, (weft_pair_kind)kind, near, close);
        for (int k = 0; k < PAIRS; k++)
        {
            narrow[k] = is_kept(b, kept, k);
        }
        sift_job job = {.kind = (weft_pair_kind)kind,
                        .start = b->start,
                        .end = b->end,
                        .corner = edges ? b->edge : b->face,
                        .first_corner = edges ? b->edge : b->vertex,
                        .least = far,
                        .border_least = close,
                        .obstacles = obstacles};
        kept = near(&job, b->pair, PAIRS, b->kept);
        for (int k = 0; k < PAIRS; k++)
        {
            bool border = 4 * k >= obstacles || (edges && 4 * k + 2 >= obstacles);
            assert_int_equal(is_kept(b, kept, k), border ? narrow[k] : wide[k]);
            differ += wide[k] != narrow[k];
        }
        print_message("%d of %d pairs lie between both\n", differ, PAIRS);
        assert_true(differ > 20);
        free(b);
    }
}

// Every kind of CPU keeps the same.
static void test_kernels_agree(void** unused)
{
    (void)unused;
    batch* other = calloc(1, sizeof(*other));
    assert_non_null(other);
    for (int k = 0; k < 2 * MANNERS; k++)
    {
        weft_pair_kind kind = k % 2 ? WEFT_EDGE_EDGE : WEFT_VERTEX_FACE;
        batch* b = make(kind, (manner)(k / 2), 99);
        for (int rule = 0; rule < 3; rule++)
        {
            int base = -1;
            for (int cpu = 0; cpu <= (int)cpu_best(); cpu++)
            {
                const sift_kernels* s = sift_kernels_for((cpu_kind)cpu);
                sift_fn* const fn[3] = {s->apart, s->near, s->collision};
                int kept = sift(b, kind, fn[rule], rule == 2 ? 8.0 * ulp : least);
                cpu == 0 ? memcpy(other->kept, b->kept, sizeof(b->kept)) : (void*)0;
                base = cpu == 0 ? kept : base;
                assert_int_equal(kept, base);
                assert_memory_equal(b->kept, other->kept, (size_t)kept * sizeof(weft_pair));
            }
        }
        free(b);
    }
    free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_is_lost),
        cmocka_unit_test(test_apart),
        cmocka_unit_test(test_borders_of_obstacles),
        cmocka_unit_test(test_kernels_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
