// The inspector's tree, limits and measures: crossings and distances equal brute force over all pairs; mirrored, turned
// and reordered input gives the same; so does any number of threads; a million triangles in one place are answered in
// bounded memory; values that are not finite are left out; failing allocations lose nothing.
#include "common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/predicates.h"
#include "weft/inspect.h"

enum
{
    SOUP = 120 // triangles
};

typedef struct soup
{
    vec3* x;
    int vertex_count;
    int* triangle;
    int triangle_count;
    int obstacle;
} soup;

static soup soup_new(int vertices, int triangles)
{
    soup s = {calloc((size_t)vertices + 1, sizeof(vec3)), vertices, calloc(3 * (size_t)triangles + 1, sizeof(int)),
              triangles, 0};
    return s;
}

static void soup_free(soup* s)
{
    free(s->x);
    free(s->triangle);
}

// Triangles that hang together at random: vertices are used more than once.
static soup soup_random(uint64_t* n, int triangles, double size, bool lattice)
{
    soup s = soup_new(2 * triangles, triangles);
    for (int v = 0; v < s.vertex_count; v++)
    {
        vec3 center = v3_scale(4.0, v3(random_unit(7, (uint64_t)v / 8), random_unit(8, (uint64_t)v / 8), 0.0));
        vec3 p = v3_add(center, test_random_vec(n, size));
        s.x[v] = lattice ? v3(floor(3 * p.x), floor(3 * p.y), floor(3 * p.z)) : p;
    }
    for (int k = 0; k < 3 * triangles; k++)
    {
        int near = k / 3 * 2 + (int)test_random(n, -4, 5);
        s.triangle[k] = near < 0 ? 0 : near >= s.vertex_count ? s.vertex_count - 1 : near;
    }
    return s;
}

// Small ones with room between them.
static soup soup_sparse(uint64_t* n, int triangles)
{
    soup s = soup_new(3 * triangles, triangles);
    for (int v = 0; v < 3 * triangles; v++)
    {
        s.x[v] = v3_add(v % 3 ? s.x[v - v % 3] : test_random_vec(n, 3.0), test_random_vec(n, 0.3));
        s.triangle[v] = v;
    }
    return s;
}

// A grid of triangles with heights that cross when it is folded.
static soup soup_sheet(uint64_t* n, int cells, double rough)
{
    soup s = soup_new((cells + 1) * (cells + 1), 2 * cells * cells);
    for (int v = 0; v < s.vertex_count; v++)
    {
        double u = v % (cells + 1), w = v / (cells + 1);
        s.x[v] = v3_add(v3(u, 0.0, w), test_random_vec(n, rough));
    }
    for (int c = 0; c < cells * cells; c++)
    {
        int a = c / cells * (cells + 1) + c % cells, *t = s.triangle + 6 * c;
        t[0] = a, t[1] = a + cells + 1, t[2] = a + 1;
        t[3] = a + 1, t[4] = a + cells + 1, t[5] = a + cells + 2;
    }
    return s;
}

// ---- inspecting

static weft_status inspect_with(const weft_inspect_def* def, const soup* s, int count, weft_inspector** inspector,
                                weft_inspection* out)
{
    weft_inspect_body bodies[4];
    const weft_vec3* positions[4];
    for (int b = 0; b < count; b++)
    {
        bodies[b] = (weft_inspect_body){.obstacle = s[b].obstacle,
                                        .vertex_count = s[b].vertex_count,
                                        .triangle_count = s[b].triangle_count,
                                        .triangles = s[b].triangle};
        positions[b] = s[b].x;
    }
    weft_status status = weft_inspector_create(def, bodies, count, inspector, NULL);
    if (status == WEFT_OK)
    {
        status = weft_inspector_frame(*inspector, positions, out, NULL);
    }
    return status;
}

// The list is gone afterwards.
static weft_inspection inspect(const soup* s, int count)
{
    weft_inspect_def def = weft_inspect_def_default();
    weft_inspector* inspector = NULL;
    weft_inspection found;
    assert_int_equal(inspect_with(&def, s, count, &inspector, &found), WEFT_OK);
    weft_inspector_destroy(inspector);
    found.pairs = NULL;
    return found;
}

// ---- brute force

static flat soup_flat(const soup* s, int t)
{
    const int* c = s->triangle + 3 * t;
    return flat_make(s->x[c[0]], s->x[c[1]], s->x[c[2]]);
}

static bool soup_share(const soup* s, int i, int j)
{
    bool share = false;
    for (int k = 0; k < 9; k++)
    {
        share |= s->triangle[3 * i + k / 3] == s->triangle[3 * j + k % 3];
    }
    return share;
}

static double brute_distance(const soup* a, int i, const soup* b, int j)
{
    soup pair = soup_new(6, 2);
    for (int k = 0; k < 3; k++)
    {
        pair.x[k] = a->x[a->triangle[3 * i + k]];
        pair.x[3 + k] = b->x[b->triangle[3 * j + k]];
        pair.triangle[k] = k;
        pair.triangle[3 + k] = 3 + k;
    }
    double distance = inspect(&pair, 1).min_distance;
    soup_free(&pair);
    return distance;
}

// Without the rule for edges, which soups in general position do not need.
static void brute_force(const soup* s, int count, int64_t* crossings, double* distance)
{
    *crossings = 0;
    *distance = INFINITY;
    for (int p = 0; p < count; p++)
    {
        for (int q = p; q < count; q++)
        {
            for (int i = 0; i < s[p].triangle_count && !(s[p].obstacle && s[q].obstacle); i++)
            {
                for (int j = p == q ? i + 1 : 0; j < s[q].triangle_count; j++)
                {
                    flat a = soup_flat(&s[p], i), b = soup_flat(&s[q], j);
                    *crossings += flat_meet(&a, &b);
                    bool share = p == q && soup_share(&s[p], i, j);
                    if (!share && *distance > 0.0)
                    {
                        *distance = fmin(*distance, brute_distance(&s[p], i, &s[q], j));
                    }
                }
            }
        }
    }
}

static void test_brute_force(void** state)
{
    (void)state;
    uint64_t n = 0;
    int64_t all = 0;
    int apart = 0;
    for (int k = 0; k < 20; k++)
    {
        bool lattice = k % 5 > 2;
        soup s[2] = {soup_random(&n, SOUP / 2, k % 4 == 0 ? 0.2 : 0.8, lattice),
                     soup_random(&n, SOUP / 2, 0.4, lattice)};
        s[1].obstacle = k % 2;
        for (int b = 0; b < 2 && k % 5 == 0; b++)
        {
            soup_free(&s[b]);
            s[b] = soup_sparse(&n, 25 + 10 * b);
            s[b].obstacle = b;
        }
        int64_t crossings;
        double distance;
        brute_force(s, 2, &crossings, &distance);
        weft_inspection found = inspect(s, 2);
        int64_t along_edges = found.crossings - found.nested - crossings; // come on top, on a lattice only
        assert_true(lattice ? along_edges >= 0 : along_edges == 0);
        assert_true(found.min_distance == distance);
        all += crossings;
        apart += distance > 0.0;
        soup_free(&s[0]);
        soup_free(&s[1]);
    }
    assert_true(all > 1000);
    assert_true(apart > 0);
}

static void test_brute_distance(void** state)
{
    (void)state;
    uint64_t n = 40000;
    for (int k = 0; k < 150; k++)
    {
        soup s = soup_sparse(&n, 25);
        int64_t crossings;
        double distance;
        brute_force(&s, 1, &crossings, &distance);
        assert_true(inspect(&s, 1).min_distance == distance);
        soup_free(&s);
    }
}

// Against points spread over both triangles.
static void test_distance(void** state)
{
    (void)state;
    uint64_t n = 500;
    for (int k = 0; k < 300; k++)
    {
        soup s = soup_new(6, 2);
        double scale = ldexp(1.0, k % 5 == 0 ? 300 : k % 5 == 1 ? -300 : 0), best = INFINITY;
        for (int v = 0; v < 6; v++)
        {
            s.x[v] = v3_scale(scale, v3_add(v3(v / 3 * 1.2, 0, 0), test_random_vec(&n, 1.0)));
            s.triangle[v] = v;
        }
        enum
        {
            STEPS = 16
        };
        for (int a = 0; a < STEPS * STEPS * STEPS * STEPS; a++)
        {
            double u = (double)(a % STEPS) / (STEPS - 1), v = (double)(a / STEPS % STEPS) / (STEPS - 1);
            double p = (double)(a / STEPS / STEPS % STEPS) / (STEPS - 1),
                   q = (double)(a / STEPS / STEPS / STEPS) / (STEPS - 1);
            if (u + v <= 1.0 && p + q <= 1.0)
            {
                vec3 x = v3_madd(v3_madd(v3_scale(1 - u - v, s.x[0]), u, s.x[1]), v, s.x[2]);
                vec3 y = v3_madd(v3_madd(v3_scale(1 - p - q, s.x[3]), p, s.x[4]), q, s.x[5]);
                best = fmin(best, v3_length(v3_scale(1.0 / scale, v3_sub(x, y))));
            }
        }
        weft_inspection found = inspect(&s, 1);
        double distance = found.min_distance / scale;
        assert_true(distance <= best * (1.0 + 1e-12));
        assert_true(distance >= best - 3.0 * sqrt(3.0) / (STEPS - 1)); // sides are at most 2 sqrt(3)
        assert_true((distance == 0.0) == (found.crossings > 0) || distance > 0.0);
        soup_free(&s);
    }
}

// Two small triangles, one above the other, beside one that is 1e58 times as large.
static void test_distance_beside_the_huge(void** state)
{
    (void)state;
    const vec3 x[9] = {{0, 0, 0},         {1e-20, 0, 0},       {0, 1e-20, 0}, {0, 0, 3e-21},  {1e-20, 0, 3e-21},
                       {0, 1e-20, 3e-21}, {1e38, 1e38, -1e38}, {1e38, 0, 0},  {1e38, 0, 1e38}};
    soup s = soup_new(9, 3);
    for (int v = 0; v < 9; v++)
    {
        s.x[v] = x[v];
        s.triangle[v] = v;
    }
    double distance = inspect(&s, 1).min_distance;
    assert_true(fabs(distance - 3e-21) < 1e-30);
    soup_free(&s);
}

// ---- the same in other words

static void soup_turn(soup* s, int way)
{
    for (int v = 0; v < s->vertex_count; v++)
    {
        vec3 p = s->x[v];
        s->x[v] = way == 0 ? v3(-p.x, p.y, p.z) : way == 1 ? v3(p.y, p.z, p.x) : v3(-p.z, p.y, -p.x);
    }
}

// Vertices and triangles in another order, triangles starting with another corner or turned over.
static soup soup_reordered(const soup* s)
{
    soup r = soup_new(s->vertex_count, s->triangle_count);
    int step = s->vertex_count % 7 ? 7 : 5, skip = s->triangle_count % 11 ? 11 : 13;
    for (int v = 0; v < s->vertex_count; v++)
    {
        r.x[(int64_t)v * step % s->vertex_count] = s->x[v];
    }
    for (int t = 0; t < s->triangle_count; t++)
    {
        int to = (int)((int64_t)t * skip % s->triangle_count);
        for (int k = 0; k < 3; k++)
        {
            int corner = t % 2 ? (k + t) % 3 : (2 * k + t) % 3;
            r.triangle[3 * to + k] = (int)((int64_t)s->triangle[3 * t + corner] * step % s->vertex_count);
        }
    }
    r.obstacle = s->obstacle;
    return r;
}

static void test_same_in_other_words(void** state)
{
    (void)state;
    uint64_t n = 9000;
    for (int k = 0; k < 12; k++)
    {
        soup s[2] = {k % 2 ? soup_random(&n, 211, 0.5, k % 4 == 1) : soup_sheet(&n, 12, k % 4 ? 0.9 : 0.3),
                     soup_sheet(&n, 12, 0.7)};
        s[1].obstacle = k % 3 == 0;
        weft_inspection found = inspect(s, 2);
        assert_true(found.crossings > 10);
        for (int way = 0; way < 4; way++)
        {
            soup other[2] = {soup_reordered(&s[way % 2]), soup_reordered(&s[1 - way % 2])};
            for (int b = 0; b < 2 && way < 3; b++)
            {
                soup_turn(&other[b], way);
            }
            weft_inspection again = inspect(other, 2);
            assert_int_equal(again.crossings, found.crossings);
            assert_int_equal(again.degenerate, found.degenerate);
            assert_true(fabs(again.min_distance - found.min_distance) <= 1e-12);
            soup_free(&other[0]);
            soup_free(&other[1]);
        }
        soup_free(&s[0]);
        soup_free(&s[1]);
    }
}

// ---- threads

static void test_threads(void** state)
{
    (void)state;
    uint64_t n = 77;
    soup crossing = soup_sheet(&n, 130, 0.6), smooth = soup_sheet(&n, 130, 0.05);
    const soup* soups[2] = {&crossing, &smooth};
    for (int k = 0; k < 2; k++)
    {
        weft_inspection first = {0};
        weft_crossing* pairs = NULL;
        for (int threads = 1; threads < 8; threads += 3)
        {
            weft_inspect_def def = weft_inspect_def_default();
            def.worker_count = threads;
            def.pair_limit = 1500;
            weft_inspector* inspector = NULL;
            weft_inspection found;
            assert_int_equal(inspect_with(&def, soups[k], 1, &inspector, &found), WEFT_OK);
            if (threads == 1)
            {
                first = found;
                pairs = malloc((size_t)found.pair_count * sizeof(*pairs) + 1);
                if (found.pair_count > 0)
                {
                    memcpy(pairs, found.pairs, (size_t)found.pair_count * sizeof(*pairs));
                }
            }
            assert_int_equal(found.crossings, first.crossings);
            assert_memory_equal(&found.min_distance, &first.min_distance, sizeof(double));
            assert_int_equal(found.pair_count, first.pair_count);
            assert_true(found.pair_count == 0 ||
                        memcmp(found.pairs, pairs, (size_t)found.pair_count * sizeof(*pairs)) == 0);
            weft_inspector_destroy(inspector);
        }
        assert_int_equal(first.pair_count, k == 0 ? 1500 : 0);
        free(pairs);
    }
    soup_free(&crossing);
    soup_free(&smooth);
}

// ---- limits

static void test_million_in_one_place(void** state)
{
    (void)state;
    enum
    {
        MANY = 1000000
    };
    soup s = soup_new(3 * MANY, MANY);
    for (int v = 0; v < 3 * MANY; v++)
    {
        s.x[v] = v3(v % 3 == 1, v % 3 == 2, 0.0);
        s.triangle[v] = v;
    }
    test_ledger ledger = {0};
    test_ledger_open(&ledger);
    weft_inspection found = inspect(&s, 1);
    assert_int_equal(found.crossings, 1000000);
    assert_true(found.truncated);
    assert_int_equal(found.pair_count, 1000);
    assert_true(found.min_distance == 0.0);
    for (int v = 0; v < 3 * MANY; v++)
    {
        s.x[v] = v3(1.0, 2.0, 3.0); // a sheet that has fallen into a point
    }
    found = inspect(&s, 1);
    assert_int_equal(found.crossings, 1000000);
    assert_int_equal(found.degenerate, MANY);
    test_ledger_close();
    assert_int_equal(ledger.live, 0);
    assert_true(ledger.bytes_most < (size_t)600 << 20);
    soup_free(&s);
}

// Many triangles around one edge: every pair must be looked at, none crosses.
static void test_fan(void** state)
{
    (void)state;
    enum
    {
        FAN = 2000
    };
    soup s = soup_new(FAN + 2, FAN);
    s.x[0] = v3(0, 0, -1);
    s.x[1] = v3(0, 0, 1);
    for (int t = 0; t < FAN; t++)
    {
        s.x[t + 2] = v3(cos(0.003 * t), sin(0.003 * t), 0.0);
        s.triangle[3 * t + 1] = 1;
        s.triangle[3 * t + 2] = t + 2;
    }
    weft_inspect_def def = weft_inspect_def_default();
    weft_inspector* inspector = NULL;
    weft_inspection found;
    assert_int_equal(inspect_with(&def, &s, 1, &inspector, &found), WEFT_OK);
    assert_int_equal(found.crossings, 0);
    assert_false(found.truncated);
    assert_true(isinf(found.min_distance)); // all have a vertex in common
    weft_inspector_destroy(inspector);
    def.test_limit = 100000;
    assert_int_equal(inspect_with(&def, &s, 1, &inspector, &found), WEFT_OK);
    assert_true(found.truncated);
    weft_inspector_destroy(inspector);
    soup_free(&s);
}

// ---- values that are not finite, strain, bad arrays, nothing at all

static void test_nonfinite(void** state)
{
    (void)state;
    uint64_t n = 3;
    soup s = soup_sheet(&n, 6, 0.0);
    weft_inspection clean = inspect(&s, 1);
    assert_int_equal(clean.crossings, 0);
    s.x[0] = v3(NAN, INFINITY, 0.0);
    s.x[1].y = -1e101;
    s.x[20].y = 1e99; // far, and taken as it is
    weft_inspection found = inspect(&s, 1);
    assert_int_equal(found.nonfinite, 3);
    assert_int_equal(found.crossings, 0);
    assert_true(found.min_distance > 0.0 && found.min_distance <= 1.0);
    for (int v = 0; v < s.vertex_count; v++)
    {
        s.x[v].z = NAN;
    }
    found = inspect(&s, 1);
    assert_int_equal(found.nonfinite, s.vertex_count + 3);
    assert_true(isinf(found.min_distance) && isnan(found.max_strain));
    soup_free(&s);
}

// A hole in an obstacle is no solid: nothing can be inside.
static void test_nonfinite_solid(void** state)
{
    (void)state;
    static const vec3 corners[4] = {{4, 4, 4}, {4, -4, -4}, {-4, 4, -4}, {-4, -4, 4}};
    static const int faces[12] = {0, 1, 2, 0, 2, 3, 0, 3, 1, 1, 3, 2};
    soup s[2] = {soup_new(3, 1), soup_new(4, 4)};
    memcpy(s[1].x, corners, sizeof(corners));
    memcpy(s[1].triangle, faces, sizeof(faces));
    for (int k = 0; k < 3; k++)
    {
        s[0].x[k] = v3(0.1 * k, 0.1 * k * k, 0.0);
        s[0].triangle[k] = k;
    }
    s[1].obstacle = 1;
    weft_inspection found = inspect(s, 2);
    assert_int_equal(found.nested, 1);
    assert_int_equal(found.crossings, 1);
    s[1].x[3].x = NAN;
    found = inspect(s, 2);
    assert_int_equal(found.crossings, 0);
    assert_int_equal(found.nonfinite, 1);
    soup_free(&s[0]);
    soup_free(&s[1]);
}

static void test_strain(void** state)
{
    (void)state;
    uint64_t n = 12;
    for (int k = 0; k < 100; k++)
    {
        vec3 rest[4], x[4];
        const int triangle[6] = {0, 1, 2, 3, 3, 3}; // the second has no area at rest
        double s = test_random(&n, 0.5, 1.5), t = test_random(&n, 0.5, 1.5);
        vec3 u = v3_normalize(test_random_vec(&n, 1.0)), w = v3_normalize(v3_cross(u, test_random_vec(&n, 1.0)));
        double size = k % 3 == 0 ? 1e80 : 1.0;
        for (int v = 0; v < 4; v++)
        {
            rest[v] = v3(test_random(&n, -1, 1) + 2 * (v == 1), test_random(&n, -1, 1) + 2 * (v == 2), 0.0);
            x[v] = v3_scale(size, v3_add(v3_scale(s * rest[v].x, u), v3_scale(t * rest[v].y, w)));
        }
        weft_inspect_body body = {.vertex_count = 4, .rest = rest, .triangle_count = 2, .triangles = triangle};
        const weft_vec3* positions[1] = {x};
        weft_inspect_def def = weft_inspect_def_default();
        weft_inspector* inspector;
        weft_inspection found;
        assert_int_equal(weft_inspector_create(&def, &body, 1, &inspector, NULL), WEFT_OK);
        assert_int_equal(weft_inspector_frame(inspector, positions, &found, NULL), WEFT_OK);
        weft_inspector_destroy(inspector);
        assert_true(fabs(found.max_strain + 1.0 - size * fmax(s, t)) < 1e-9 * size);
        assert_int_equal(found.degenerate, 1);
    }
}

static void test_arrays(void** state)
{
    (void)state;
    weft_inspect_def def = weft_inspect_def_default();
    weft_inspector* inspector = NULL;
    weft_inspection found;
    weft_error error = {0};
    assert_int_equal(weft_inspector_create(&def, NULL, 0, &inspector, &error), WEFT_OK);
    assert_int_equal(weft_inspector_frame(inspector, NULL, &found, &error), WEFT_OK);
    assert_true(isinf(found.min_distance) && isnan(found.max_strain) && found.crossings == 0);
    weft_inspector_destroy(inspector);
    const int beyond[3] = {0, 1, 3};
    weft_inspect_body body = {.vertex_count = 3, .triangle_count = 1, .triangles = beyond};
    assert_int_equal(weft_inspector_create(&def, &body, 1, &inspector, &error), WEFT_BAD_INPUT);
    assert_non_null(strstr(error.message, "vertex 3"));
    assert_null(inspector);
    weft_inspector_destroy(NULL);
    // A corner twice is a triangle without area.
    const int twice[3] = {0, 1, 1};
    const weft_vec3 x[3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    const weft_vec3* positions[1] = {x};
    body.triangles = twice;
    assert_int_equal(weft_inspector_create(&def, &body, 1, &inspector, &error), WEFT_OK);
    assert_int_equal(weft_inspector_frame(inspector, positions, &found, &error), WEFT_OK);
    assert_true(found.degenerate == 1 && found.crossings == 0);
    weft_inspector_destroy(inspector);
}

// ---- memory

static void test_failing_allocations(void** state)
{
    (void)state;
    uint64_t n = 5;
    soup s[2] = {soup_sheet(&n, 10, 0.8), soup_random(&n, 50, 0.5, false)};
    int fail_at = 1;
    for (;; fail_at++)
    {
        test_ledger ledger = {.fail_at = fail_at};
        weft_inspect_def def = weft_inspect_def_default();
        weft_inspector* inspector = NULL;
        weft_inspection found;
        test_ledger_open(&ledger);
        weft_status status = inspect_with(&def, s, 2, &inspector, &found);
        weft_inspector_destroy(inspector);
        test_ledger_close();
        assert_int_equal(ledger.live, 0);
        if (ledger.made < fail_at)
        {
            assert_int_equal(status, WEFT_OK);
            break;
        }
        assert_int_equal(status, WEFT_NO_MEMORY);
    }
    assert_true(fail_at > 20);
    soup_free(&s[0]);
    soup_free(&s[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_brute_force),
        cmocka_unit_test(test_brute_distance),
        cmocka_unit_test(test_distance),
        cmocka_unit_test(test_distance_beside_the_huge),
        cmocka_unit_test(test_same_in_other_words),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_million_in_one_place),
        cmocka_unit_test(test_fan),
        cmocka_unit_test(test_nonfinite),
        cmocka_unit_test(test_nonfinite_solid),
        cmocka_unit_test(test_strain),
        cmocka_unit_test(test_arrays),
        cmocka_unit_test(test_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
