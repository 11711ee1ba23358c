#include "common_collide.h"

#include "core/core.h"

#include <stdlib.h>
#include <string.h>

test_scene* test_scene_create(void)
{
    test_scene* s = calloc(1, sizeof(test_scene));
    assert_non_null(s);
    s->def = weft_collider_def_default();
    s->def.triangles = s->triangles;
    s->def.edges = s->edges;
    s->def.body = s->body;
    s->def.passive = s->passive;
    s->def.excluded_bodies = s->excluded_bodies;
    s->def.excluded_vertices = s->excluded_vertices;
    return s;
}

int test_scene_vertex(test_scene* s, vec3 start, vec3 end, int body)
{
    int v = s->def.vertex_count++;
    assert_true(v < SCENE_VERTICES && body < SCENE_BODIES);
    s->start[v] = start;
    s->end[v] = end;
    s->body[v] = body;
    s->def.body_count = body + 1 > s->def.body_count ? body + 1 : s->def.body_count;
    return v;
}

void test_scene_triangle(test_scene* s, int a, int b, int c)
{
    int* corner = s->triangles + 3 * s->def.triangle_count++;
    assert_true(s->def.triangle_count <= SCENE_FACES);
    corner[0] = a;
    corner[1] = b;
    corner[2] = c;
}

void test_scene_edge(test_scene* s, int a, int b)
{
    int* corner = s->edges + 2 * s->def.edge_count++;
    assert_true(s->def.edge_count <= SCENE_EDGES);
    corner[0] = a;
    corner[1] = b;
}

void test_scene_exclude_bodies(test_scene* s, int a, int b)
{
    int* entry = s->excluded_bodies + 2 * s->def.excluded_body_count++;
    assert_true(s->def.excluded_body_count <= SCENE_EXCLUDED);
    entry[0] = a;
    entry[1] = b;
}

void test_scene_exclude_vertex(test_scene* s, int vertex, int body)
{
    int* entry = s->excluded_vertices + 2 * s->def.excluded_vertex_count++;
    assert_true(s->def.excluded_vertex_count <= SCENE_EXCLUDED);
    entry[0] = vertex;
    entry[1] = body;
}

void test_scene_sheet(test_scene* s, int cells, vec3 o, vec3 u, vec3 v, vec3 d, int body)
{
    int first = s->def.vertex_count, row = cells + 1;
    for (int k = 0; k < row * row; k++)
    {
        vec3 x = v3_madd(v3_madd(o, (double)(k % row) / cells, u), (double)(k / row) / cells, v);
        test_scene_vertex(s, x, v3_add(x, d), body);
    }
    for (int k = 0; k < cells * cells; k++)
    {
        int a = first + k / cells * row + k % cells;
        test_scene_triangle(s, a, a + 1, a + row);
        test_scene_triangle(s, a + 1, a + row + 1, a + row);
    }
}

static int pick(uint64_t* counter, int count)
{
    return (int)test_random(counter, 0.0, count);
}

// Coordinates are often multiples of an eighth, so that boxes touch and margins are met to the last bit.
static vec3 random_point(uint64_t* counter, double grain)
{
    vec3 x = test_random_vec(counter, 1.0);
    return grain > 0.0 ? v3(grain * floor(x.x / grain), grain * floor(x.y / grain), grain * floor(x.z / grain)) : x;
}

void test_scene_random(test_scene* s, uint64_t seed)
{
    uint64_t counter = 1000003 * (seed + 1);
    int bodies = 1 + pick(&counter, 4);
    double grain = seed % 3 == 0 ? 0.125 : 0.0, motion = seed % 4 == 0 ? 0.0 : 0.2;
    s->margin = seed % 3 == 0 ? 0.125 * pick(&counter, 3) : test_random(&counter, 0.0, 0.3) * (double)(seed % 2);
    for (int b = 0; b < bodies; b++)
    {
        int first = s->def.vertex_count, count = 5 + pick(&counter, 60);
        vec3 center = random_point(&counter, grain);
        double size = test_random(&counter, 0.1, 1.0);
        for (int k = 0; k < count; k++)
        {
            vec3 x = v3_madd(center, grain > 0.0 ? 1.0 : size, random_point(&counter, grain));
            test_scene_vertex(s, x, v3_madd(x, motion, random_point(&counter, grain)), b);
        }
        for (int k = pick(&counter, 2 * count); k > 0; k--)
        {
            int a = pick(&counter, count), step = 1 + pick(&counter, 3);
            test_scene_triangle(s, first + a, first + (a + step) % count, first + (a + step + 1) % count);
        }
        for (int k = pick(&counter, count); k > 0; k--)
        {
            int a = pick(&counter, count);
            test_scene_edge(s, first + a, first + (a + 1 + pick(&counter, count - 1)) % count);
        }
        s->passive[b] = pick(&counter, 4) == 0;
    }
    for (int k = pick(&counter, 3); k > 0; k--)
    {
        test_scene_exclude_bodies(s, pick(&counter, bodies), pick(&counter, bodies));
    }
    for (int k = pick(&counter, 5); k > 0; k--)
    {
        test_scene_exclude_vertex(s, pick(&counter, s->def.vertex_count), pick(&counter, bodies));
    }
}

// ---- brute force

static int compare_edges(const void* a, const void* b)
{
    const int *x = a, *y = b;
    return x[0] != y[0] ? (x[0] > y[0]) - (x[0] < y[0]) : (x[1] > y[1]) - (x[1] < y[1]);
}

int* test_scene_edges(const test_scene* s, int* count)
{
    int sides = 3 * s->def.triangle_count + s->def.edge_count;
    int* out = malloc(2 * sizeof(int) * (size_t)(sides + 1));
    for (int k = 0; k < sides; k++)
    {
        const int* t = s->triangles + 3 * (k / 3);
        const int* e = s->edges + 2 * (k - 3 * s->def.triangle_count);
        int a = k < 3 * s->def.triangle_count ? t[k % 3] : e[0];
        int b = k < 3 * s->def.triangle_count ? t[(k + 1) % 3] : e[1];
        out[2 * k] = a < b ? a : b;
        out[2 * k + 1] = a < b ? b : a;
    }
    qsort(out, (size_t)sides, 2 * sizeof(int), compare_edges);
    *count = 0;
    for (int k = 0; k < sides; k++)
    {
        if (k == 0 || compare_edges(out + 2 * k, out + 2 * (*count - 1)) != 0)
        {
            memmove(out + 2 * (*count)++, out + 2 * k, 2 * sizeof(int));
        }
    }
    return out;
}

static int vertex_ignores(const test_scene* s, const int* a, int a_count, int body)
{
    for (int k = 0; k < s->def.excluded_vertex_count; k++)
    {
        for (int c = 0; c < a_count; c++)
        {
            if (s->excluded_vertices[2 * k] == a[c] && s->excluded_vertices[2 * k + 1] == body)
            {
                return 1;
            }
        }
    }
    return 0;
}

int test_scene_wants(const test_scene* s, const int* a, int a_count, const int* b, int b_count)
{
    int body_a = s->body[a[0]], body_b = s->body[b[0]];
    for (int i = 0; i < a_count; i++)
    {
        for (int j = 0; j < b_count; j++)
        {
            if (a[i] == b[j])
            {
                return 0;
            }
        }
    }
    for (int k = 0; k < s->def.excluded_body_count; k++)
    {
        int x = s->excluded_bodies[2 * k], y = s->excluded_bodies[2 * k + 1];
        if ((x == body_a && y == body_b) || (x == body_b && y == body_a))
        {
            return 0;
        }
    }
    return !(s->passive[body_a] && s->passive[body_b]) && !vertex_ignores(s, a, a_count, body_b) &&
           !vertex_ignores(s, b, b_count, body_a);
}

// Gaps of two boxes along one axis, on both sides, as the definition evaluates them: from the positions at the start,
// at the end, or swept over both.
static void gaps(const vec3* from, const vec3* to, const int* a, int a_count, const int* b, int b_count, int axis,
                 double out[2])
{
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (int side = 0; side < 2; side++)
    {
        for (int c = 0; c < (side ? b_count : a_count); c++)
        {
            int v = side ? b[c] : a[c];
            double x = (&from[v].x)[axis], y = (&to[v].x)[axis];
            low[side] = fmin(low[side], fmin(x, y));
            high[side] = fmax(high[side], fmax(x, y));
        }
    }
    out[0] = low[1] - high[0];
    out[1] = low[0] - high[1];
}

static int apart(const test_scene* s, const int* a, int a_count, const int* b, int b_count, int axis)
{
    double first[2], last[2];
    gaps(s->start, s->split ? s->start : s->end, a, a_count, b, b_count, axis, first);
    gaps(s->split ? s->end : s->start, s->end, a, a_count, b, b_count, axis, last);
    return (first[0] > s->margin && last[0] > s->margin) || (first[1] > s->margin && last[1] > s->margin);
}

weft_pair* test_scene_pairs(const test_scene* s, weft_pair_kind kind, int* count)
{
    int edge_count, capacity = 1024, ee = kind == WEFT_EDGE_EDGE;
    int* edges = test_scene_edges(s, &edge_count);
    weft_pair* out = malloc((size_t)capacity * sizeof(weft_pair));
    int first_count = ee ? edge_count : s->def.vertex_count, second_count = ee ? edge_count : s->def.triangle_count;
    *count = 0;
    for (int i = 0; i < first_count; i++)
    {
        for (int j = ee ? i + 1 : 0; j < second_count; j++)
        {
            const int *a = ee ? edges + 2 * i : &i, *b = ee ? edges + 2 * j : s->triangles + 3 * j;
            int a_count = ee ? 2 : 1, b_count = ee ? 2 : 3, near = 1;
            for (int axis = 0; axis < 3 && near; axis++)
            {
                near = !apart(s, a, a_count, b, b_count, axis);
            }
            if (near && test_scene_wants(s, a, a_count, b, b_count))
            {
                if (*count == capacity)
                {
                    capacity *= 2;
                    out = realloc(out, (size_t)capacity * sizeof(weft_pair));
                }
                out[(*count)++] = (weft_pair){i, j};
            }
        }
    }
    free(edges);
    return out;
}

// ---- scenes that several tests take

void test_scene_sheets(test_scene* s)
{
    for (int k = 0; k < 8; k++)
    {
        double y = 0.01 * k;
        vec3 d = v3(0, k % 2 ? 0.02 : -0.02, 0);
        test_scene_sheet(s, 8, v3(0, y, k % 2 ? 0 : 0.3), v3(1, 0, 0), v3(0, 0, 1), d, k % 2);
    }
    s->margin = 0.005;
}

void test_scene_mixed(test_scene* s)
{
    uint64_t counter = 19;
    test_scene_sheet(s, 12, v3(0, 0, 0), v3(1, 0, 0), v3(0, 0, 1), v3(0, -0.03, 0), 0);
    test_scene_sheet(s, 10, v3(0, -0.02, 0), v3(1, 0, 0), v3(0, 0, 1), v3(0, 0, 0), 1);
    test_scene_sheet(s, 10, v3(0, -0.03, 0), v3(1, 0, 0), v3(0, 0, 1), v3(0, 0, 0), 2);
    for (int strand = 0; strand < 12; strand++)
    {
        for (int k = 0; k < 10; k++)
        {
            vec3 x = v3_add(v3(0.08 * strand, 0.1 - 0.02 * k, 0.5), test_random_vec(&counter, 0.02));
            int v = test_scene_vertex(s, x, v3_add(x, test_random_vec(&counter, 0.01)), 3 + strand % 2);
            if (k > 0)
            {
                test_scene_edge(s, v - 1, v);
            }
        }
    }
    test_scene_vertex(s, v3(0.5, 0, 0.5), v3(0.5, 0.1, 0.5), 0); // of no triangle and no strand
    s->passive[1] = s->passive[2] = 1;
    test_scene_exclude_bodies(s, 3, 3);
    test_scene_exclude_bodies(s, 4, 0);
    for (int k = 0; k < 13; k++)
    {
        test_scene_exclude_vertex(s, k, 1);
    }
    s->margin = 0.004;
}

// ---- a collider held against the loops

weft_collider* test_collider_create(const test_scene* s, int threads, const char* kernels)
{
    weft_collider_def def = s->def;
    weft_collider* c = NULL;
    weft_error error = {0};
    cpu_kind cpu;
    def.worker_count = threads;
    def.kernels = cpu_kind_parse(kernels, &cpu) ? kernels : "auto";
    if (weft_collider_create(&def, &c, &error) != WEFT_OK)
    {
        fail_msg("%s", error.message);
    }
    return c;
}

void test_assert_pairs(const weft_pair* a, int a_count, const weft_pair* b, int b_count)
{
    for (int k = 0; k < a_count && k < b_count; k++)
    {
        if (a[k].first != b[k].first || a[k].second != b[k].second)
        {
            fail_msg("pair %d is %d %d, should be %d %d", k, a[k].first, a[k].second, b[k].first, b[k].second);
        }
    }
    assert_int_equal(a_count, b_count);
}

test_brute test_brute_find(const test_scene* s)
{
    test_brute b;
    b.vertex_face = test_scene_pairs(s, WEFT_VERTEX_FACE, &b.vertex_face_count);
    b.edge_edge = test_scene_pairs(s, WEFT_EDGE_EDGE, &b.edge_edge_count);
    return b;
}

int test_brute_finish(test_brute* b)
{
    free(b->vertex_face);
    free(b->edge_edge);
    return b->vertex_face_count + b->edge_edge_count;
}

void test_check_update(const test_scene* s, weft_collider* c, const test_brute* b)
{
    weft_pairs pairs;
    weft_error error = {0};
    if (weft_collider_update(c, s->start, s->end, s->margin, &error) != WEFT_OK ||
        weft_collider_pairs(c, &pairs, &error) != WEFT_OK)
    {
        fail_msg("%s", error.message);
    }
    test_assert_pairs(pairs.vertex_face, pairs.vertex_face_count, b->vertex_face, b->vertex_face_count);
    test_assert_pairs(pairs.edge_edge, pairs.edge_edge_count, b->edge_edge, b->edge_edge_count);
}

// One update and its pairs, held against the loops.
void test_check_step(const test_scene* s, weft_collider* c)
{
    test_brute b = test_brute_find(s);
    test_check_update(s, c, &b);
    test_brute_finish(&b);
}

void test_scene_strip(test_scene* s, int count)
{
    for (int k = 0; k < count; k++)
    {
        vec3 o = v3(0.1 * k, 0, 0);
        int a = test_scene_vertex(s, o, o, 0), b = test_scene_vertex(s, v3(o.x + 0.09, 0, 0), v3(o.x + 0.09, 0, 0), 0);
        test_scene_triangle(s, a, b, test_scene_vertex(s, v3(o.x, 0.09, 0), v3(o.x, 0.09, 0), 0));
    }
}
