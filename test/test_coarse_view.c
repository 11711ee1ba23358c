// Runs at a coarser level of detail: a grid becomes a coarser grid, any mesh stays a mesh of the same topology,
// vertices stay where they are in every frame; torn cloth has the mesh of its end, each copy following its origin.
#include "common.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common_scene.h"
#include "weft/cache.h"
#include "weft/export.h"

static weft_cache* run(const char* text, int frames)
{
    weft_scene* scene = scene_load_text(text, NULL, 0);
    weft_sim* sim;
    weft_cache_writer* writer;
    weft_cache* cache;
    assert_int_equal(weft_scene_build_sim(scene, 1, &sim, NULL), WEFT_OK);
    assert_int_equal(
        weft_cache_writer_create(scene_path("run"), WEFT_CACHE_FORCE, weft_scene_json(scene), 1, sim, &writer, NULL),
        WEFT_OK);
    for (int k = 0; k < frames; k++)
    {
        weft_step_stats stats;
        assert_int_equal(weft_sim_step(sim, &stats, NULL), WEFT_OK);
        assert_int_equal(weft_cache_writer_step(writer, sim, &stats, NULL), WEFT_OK);
    }
    assert_int_equal(weft_cache_writer_destroy(writer, NULL), WEFT_OK);
    weft_sim_destroy(sim);
    weft_scene_destroy(scene);
    assert_int_equal(weft_cache_open(scene_path("run"), &cache, NULL), WEFT_OK);
    return cache;
}

#define SHEET                                                                                                          \
    "{\"time_step\": 0.01, \"method\": \"pbd\", \"model\": \"hooke\", \"cloth\": [{\"name\": \"sheet\", \"mesh\": "    \
    "{\"grid\": {\"size\": [1, 1.5], \"cells\": [%d, %d], \"tessellation\": \"%s\", \"shape\": \"%s\"}}, \"pins\": "   \
    "[{\"where\": {\"edge\": \"top\"}}]}], \"obstacles\": [{\"name\": \"ball\", \"shape\": {\"sphere\": {\"center\": " \
    "[0, -3, 0], \"radius\": 0.1}}}]}"

static int compare(const void* a, const void* b)
{
    const int *p = a, *q = b;
    return p[0] != q[0] ? (p[0] > q[0]) - (p[0] < q[0]) : (p[1] > q[1]) - (p[1] < q[1]);
}

// V - E + F. Each side of a triangle is that of another, in the opposite direction, or of none.
static int check_mesh(const weft_cache_body* b, int* open)
{
    int sides = 3 * b->triangle_count, edges = 0;
    int(*side)[2] = malloc((size_t)sides * sizeof(*side));
    for (int k = 0; k < sides; k++)
    {
        side[k][0] = b->triangles[k];
        side[k][1] = b->triangles[3 * (k / 3) + (k + 1) % 3];
        assert_true(side[k][0] >= 0 && side[k][0] < b->vertex_count && side[k][0] != side[k][1]);
    }
    qsort(side, (size_t)sides, sizeof(*side), compare);
    *open = 0;
    for (int k = 0; k < sides; k++)
    {
        const int back[2] = {side[k][1], side[k][0]};
        assert_true(k == 0 || compare(side[k - 1], side[k]) != 0);
        bool inner = bsearch(back, side, (size_t)sides, sizeof(*side), compare) != NULL;
        edges += !inner || side[k][0] < side[k][1];
        *open += !inner;
    }
    free(side);
    return b->vertex_count - edges + b->triangle_count;
}

static double area(const weft_cache_body* b)
{
    double sum = 0.0;
    for (int t = 0; t < b->triangle_count; t++)
    {
        const int* v = b->triangles + 3 * t;
        weft_vec3 p = b->rest[v[0]], q = b->rest[v[1]], r = b->rest[v[2]];
        weft_vec3 e = {q.x - p.x, q.y - p.y, q.z - p.z}, f = {r.x - p.x, r.y - p.y, r.z - p.z};
        weft_vec3 n = {e.y * f.z - e.z * f.y, e.z * f.x - e.x * f.z, e.x * f.y - e.y * f.x};
        sum += 0.5 * sqrt(n.x * n.x + n.y * n.y + n.z * n.z);
    }
    return sum;
}

static void test_grid(void** unused)
{
    (void)unused;
    char text[1000];
    snprintf(text, sizeof(text), SHEET, 8, 12, "regular", "rectangle");
    weft_cache* cache = run(text, 2);
    int levels = 0, open;
    assert_int_equal(weft_cache_coarsen(cache, 0, &levels, NULL), WEFT_OK);
    assert_true(levels >= 3);
    const int columns[] = {9, 5, 3, 2}, rows[] = {13, 7, 4, 3};
    for (int l = 0; l < 4; l++)
    {
        assert_int_equal(weft_cache_coarsen(cache, l, NULL, NULL), WEFT_OK);
        const weft_cache_body* b = weft_cache_body_at(cache, 0);
        assert_int_equal(b->vertex_count, columns[l] * rows[l]);
        assert_int_equal(b->triangle_count, 2 * (columns[l] - 1) * (rows[l] - 1));
        assert_int_equal(check_mesh(b, &open), 1);
        assert_true(fabs(area(b) - 1.5) < 1e-6);
        assert_int_equal(b->face_texcoords != NULL, weft_cache_body_at(cache, 0)->texcoords != NULL);
    }
    assert_true(weft_cache_body_at(cache, 1)->obstacle && weft_cache_body_at(cache, 1)->vertex_count > 100);
    weft_error error = {0};
    assert_int_equal(weft_cache_coarsen(cache, levels + 1, NULL, &error), WEFT_BAD_INPUT);
    assert_non_null(strstr(error.message, "coarse levels 1 to"));
    assert_int_equal(weft_cache_body_at(cache, 0)->vertex_count, 9 * 13);
    weft_cache_close(cache);
}

// Every coarse vertex is where a vertex of the run is, in every frame, and at rest the same one.
static void check_places(weft_cache* cache, const weft_vec3* rest, const weft_vec3* fine, int count, int frame)
{
    const weft_cache_body* b = weft_cache_body_at(cache, 0);
    weft_vec3* x = malloc((size_t)b->vertex_count * sizeof(*x));
    assert_int_equal(weft_cache_read_frame(cache, 0, frame, x, NULL), WEFT_OK);
    for (int k = 0; k < b->vertex_count; k++)
    {
        bool found = false;
        for (int i = 0; i < count && !found; i++)
        {
            found = memcmp(&rest[i], &b->rest[k], sizeof(weft_vec3)) == 0 && memcmp(&fine[i], &x[k], sizeof(*x)) == 0;
        }
        assert_true(found);
    }
    weft_vec3 part[3];
    assert_int_equal(weft_cache_read_points(cache, 0, frame, 1, 3, part, NULL), WEFT_OK);
    assert_memory_equal(part, x + 1, sizeof(part));
    free(x);
}

static void check_irregular(const char* shape, int euler, double least)
{
    char text[1000];
    snprintf(text, sizeof(text), SHEET, 20, 30, "irregular", shape);
    weft_cache* cache = run(text, 3);
    const weft_cache_body* b = weft_cache_body_at(cache, 0);
    int count = b->vertex_count, levels, open;
    double whole = area(b);
    weft_vec3 *rest = malloc((size_t)count * sizeof(*rest)), *x = malloc((size_t)count * sizeof(*x));
    memcpy(rest, b->rest, (size_t)count * sizeof(*rest));
    assert_int_equal(weft_cache_read_frame(cache, 0, 3, x, NULL), WEFT_OK);
    assert_int_equal(weft_cache_coarsen(cache, 0, &levels, NULL), WEFT_OK);
    assert_true(levels >= 4);
    for (int l = 1; l <= 3; l++)
    {
        int before = weft_cache_body_at(cache, 0)->vertex_count;
        assert_int_equal(weft_cache_coarsen(cache, l, NULL, NULL), WEFT_OK);
        b = weft_cache_body_at(cache, 0);
        assert_true(b->vertex_count < before / 2);
        assert_int_equal(check_mesh(b, &open), euler);
        assert_true(area(b) > least * whole);
        check_places(cache, rest, x, count, 3);
    }
    free(rest);
    free(x);
    weft_cache_close(cache);
}

static void test_irregular(void** unused)
{
    (void)unused;
    check_irregular("rectangle", 1, 0.85);
    check_irregular("tube", 0, 0.6);
}

#define THROWN                                                                                                         \
    "{\"time_step\": 0.005, \"method\": \"pbd\", \"model\": \"hooke\", \"gravity\": [0, 0, 0],"                        \
    " \"cloth\": [{\"name\": \"sheet\", \"tear\": 30, \"mesh\": {\"grid\": {\"size\": 1, \"cells\": 16, "              \
    "\"tessellation\": \"irregular\"}}, \"pins\": [{\"where\": {\"edge\": \"all\"}}]}],"                               \
    " \"obstacles\": [{\"name\": \"ball\", \"shape\": {\"sphere\": {\"center\": [0, -0.2, 0], \"radius\": 0.15}}, "    \
    "\"motion\": {\"path\": [{\"time\": 0}, {\"time\": 0.3, \"offset\": [0, 0.7, 0]}]}}]}"

static void test_torn(void** unused)
{
    (void)unused;
    weft_cache* cache = run(THROWN, 50);
    int topologies = weft_cache_topology_count(cache, 0), open;
    assert_true(topologies > 2);
    assert_int_equal(weft_cache_coarsen(cache, 1, NULL, NULL), WEFT_OK);
    const weft_cache_body* b = weft_cache_body_at(cache, 0);
    assert_int_equal(weft_cache_topology_count(cache, 0), 1);
    assert_int_equal(weft_cache_topology_of(cache, 0, 50), 0);
    int euler = check_mesh(b, &open);
    assert_true(euler <= 1 || open > 0);
    // Before anything is torn, copies are upon their origins: positions that occur twice at the start do so at rest.
    weft_vec3* x = malloc((size_t)b->vertex_count * sizeof(*x));
    int copies = 0, apart = 0;
    for (int turn = 0; turn < 2; turn++)
    {
        assert_int_equal(weft_cache_read_frame(cache, 0, turn == 0 ? 0 : 50, x, NULL), WEFT_OK);
        for (int i = 0; i < b->vertex_count; i++)
        {
            for (int j = 0; j < i; j++)
            {
                bool copy = memcmp(&b->rest[i], &b->rest[j], sizeof(*x)) == 0;
                bool same = memcmp(&x[i], &x[j], sizeof(*x)) == 0;
                copies += turn == 0 && copy;
                apart += turn == 1 && copy && !same;
                assert_true(turn == 1 || copy == same);
            }
        }
    }
    assert_true(copies > 0 && apart == copies);
    free(x);

    weft_export_def def = weft_export_def_default();
    weft_export_stats stats;
    def.format = "pc2";
    def.force = 1;
    assert_int_equal(weft_export(cache, &def, scene_path("coarse"), &stats, NULL), WEFT_OK);
    assert_true(stats.frames == 51 && stats.bytes > 0);
    weft_cache_close(cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grid),
        cmocka_unit_test(test_irregular),
        cmocka_unit_test(test_torn),
    };
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
