// Sewing patterns: panels as triangles that cover them, and nothing else; curves of all kinds; stitches with as many
// points on both sides; what is wrong gets a sentence with its line.
#include "common.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common_run.h"
#include "common_scene.h"
#include "mesh/panel.h"
#include "scene/pattern_read.h"

static double area_of(vec2 a, vec2 b, vec2 c)
{
    return 0.5 * ((b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x));
}

static double angle_at(vec2 a, vec2 b, vec2 c)
{
    double u[2] = {b.x - a.x, b.y - a.y}, v[2] = {c.x - a.x, c.y - a.y};
    return acos((u[0] * v[0] + u[1] * v[1]) / (hypot(u[0], u[1]) * hypot(v[0], v[1]))) * 180.0 / PI;
}

// A star with rounded, random arms: concave, with points at even distances.
static int star_make(uint64_t* random, double edge, vec2* out)
{
    enum
    {
        ARMS = 9
    };
    double radius[ARMS];
    vec2 corner[ARMS];
    int count = 0;
    for (int k = 0; k < ARMS; k++)
    {
        radius[k] = test_random(random, 0.15, 0.5);
        corner[k] = (vec2){radius[k] * cos(2.0 * PI * k / ARMS), radius[k] * sin(2.0 * PI * k / ARMS)};
    }
    for (int k = 0; k < ARMS; k++)
    {
        vec2 a = corner[k], b = corner[(k + 1) % ARMS];
        int parts = (int)fmax(1.0, round(hypot(b.x - a.x, b.y - a.y) / edge));
        for (int i = 0; i < parts; i++)
        {
            double t = (double)i / parts;
            out[count++] = (vec2){a.x + t * (b.x - a.x), a.y + t * (b.y - a.y)};
        }
    }
    return count;
}

static double outline_area(const vec2* x, int count)
{
    double sum = 0.0;
    for (int k = 0; k < count; k++)
    {
        sum += area_of((vec2){0, 0}, x[k], x[(k + 1) % count]);
    }
    return sum;
}

static void test_panels(void** unused)
{
    (void)unused;
    uint64_t random = 5;
    for (int turn = 0; turn < 30; turn++)
    {
        vec2 outline[2000];
        double edge = test_random(&random, 0.008, 0.06), sum = 0.0, least = 180.0, length = 0.0;
        int count = star_make(&random, edge, outline), small = 0;
        panel_mesh m;
        panel_crossing crossing;
        assert_int_equal(panel_triangulate(outline, count, edge, &m, &crossing), WEFT_OK);
        for (int t = 0; t < m.triangle_count; t++)
        {
            const int* v = m.triangle + 3 * t;
            double area = area_of(m.point[v[0]], m.point[v[1]], m.point[v[2]]);
            assert_true(area > 0.0);
            sum += area;
            for (int k = 0; k < 3; k++)
            {
                vec2 a = m.point[v[k]], b = m.point[v[(k + 1) % 3]];
                double angle = angle_at(a, b, m.point[v[(k + 2) % 3]]);
                least = fmin(least, angle);
                small += angle < 25.0;
                length += hypot(a.x - b.x, a.y - b.y);
            }
        }
        // Euler: a disc of n points, b of them on its border, has 2 n - 2 - b triangles.
        assert_int_equal(m.triangle_count, 2 * m.point_count - 2 - count);
        assert_true(fabs(sum - outline_area(outline, count)) < 1e-6 * sum);
        // Corners of the star may be sharp; elsewhere triangles are well-shaped and of the size asked for.
        assert_true(small <= 18);
        assert_true(fabs(length / (3 * m.triangle_count) / edge - 1.0) < 0.15);
        panel_mesh_finish(&m);
    }
}

static void test_crossing(void** unused)
{
    (void)unused;
    const vec2 bow[4] = {{0, 0}, {1, 1}, {1, 0}, {0, 1}};
    const vec2 spike[5] = {{0, 0}, {1, 0}, {1, 1}, {2, 1}, {0.5, 1}}; // goes back on its own side
    const vec2 touch[5] = {{0, 0}, {1, 0}, {1, 1}, {0.5, 0}, {0, 1}};
    panel_mesh m;
    panel_crossing at;
    assert_int_equal(panel_triangulate(bow, 4, 0.1, &m, &at), WEFT_BAD_INPUT);
    assert_true(at.first == 0 && at.second == 2);
    assert_int_equal(panel_triangulate(spike, 5, 0.1, &m, &at), WEFT_BAD_INPUT);
    assert_int_equal(panel_triangulate(touch, 5, 0.1, &m, &at), WEFT_BAD_INPUT);
}

// ---- files

#define HALF_DISC                                                                                                      \
    "{\"pattern\": {\"panels\": {\"disc\": {\"vertices\": [[-10, 0], [10, 0]], \"edges\": [{\"endpoints\": [0, 1]}, "  \
    "{\"endpoints\": [1, 0], \"curvature\": {\"type\": \"circle\", \"params\": [10, 0, 1]}}]}}}}"

static mesh mesh_of(const char* text, double edge, stitch_pairs* pairs)
{
    sewing_pattern p;
    mesh m = {0};
    weft_error error = {0};
    test_text_write(scene_folder, "pattern.json", text);
    weft_status status = pattern_read(scene_path("pattern.json"), &p, &error);
    status = status == WEFT_OK ? mesh_from_pattern(&p, edge, &m, pairs, &error) : status;
    if (status != WEFT_OK)
    {
        fail_msg("%s", error.message);
    }
    pattern_finish(&p);
    return m;
}

static double mesh_area(const mesh* m)
{
    double sum = 0.0;
    for (int f = 0; f < m->face_count; f++)
    {
        const int* v = m->face_vertex + 3 * f;
        vec3 a = m->position[v[0]];
        sum += 0.5 * v3_length(v3_cross(v3_sub(m->position[v[1]], a), v3_sub(m->position[v[2]], a)));
    }
    return sum;
}

// A chord counter-clockwise around the bulge: the arc turns to the left, and is above the diameter.
static void test_curves(void** unused)
{
    (void)unused;
    stitch_pairs pairs;
    mesh m = mesh_of(HALF_DISC, 0.004, &pairs);
    assert_true(fabs(mesh_area(&m) - 0.5 * PI * 0.01) < 2e-5);
    double top = 0.0;
    for (int i = 0; i < m.vertex_count; i++)
    {
        top = fmax(top, m.position[i].y);
    }
    assert_true(fabs(top - 0.1) < 1e-4);
    mesh_finish(&m);
    m = mesh_of("{\"pattern\": {\"panels\": {\"p\": {\"vertices\": [[0, 0], [0, 20], [-30, 20], [-30, 0]], \"edges\": "
                "[{\"endpoints\": [0, 1], \"curvature\": {\"type\": \"quadratic\", \"params\": [[0.5, -0.5]]}}, "
                "{\"endpoints\": [1, 2]}, {\"endpoints\": [2, 3], \"curvature\": {\"type\": \"cubic\", \"params\": "
                "[[0, -0.5], [1, -0.5]]}}, {\"endpoints\": [3, 0]}]}}}}",
                0.004, &pairs);
    // Control points h = 0.1 m off sides of L = 0.2 m: the curves take L h / 3 and 3 L h / 5.
    assert_true(fabs(mesh_area(&m) - (0.06 + 0.02 / 3.0 + 0.02 * 0.6)) < 1e-4);
    mesh_finish(&m);
}

// Two panels face each other: sides of unequal length are sewn with as many points, one of them point by point.
static void test_stitches(void** unused)
{
    (void)unused;
    stitch_pairs pairs;
    mesh m = mesh_of("{\"pattern\": {\"panels\": {"
                     "\"front\": {\"translation\": [0, 0, 10], \"vertices\": [[0, 0], [20, 0], [20, 30], [0, 30]], "
                     "\"edges\": [{\"endpoints\": [0, 1]}, {\"endpoints\": [1, 2]}, {\"endpoints\": [2, 3]}, "
                     "{\"endpoints\": [3, 0]}]}, "
                     "\"back\": {\"translation\": [0, 0, -10], \"rotation\": [0, 180, 0], \"vertices\": [[0, 0], [20, "
                     "0], [20, 45], [0, 30]], \"edges\": [{\"endpoints\": [0, 1]}, {\"endpoints\": [1, 2]}, "
                     "{\"endpoints\": [2, 3]}, {\"endpoints\": [3, 0]}]}}, "
                     "\"stitches\": [[{\"panel\": \"front\", \"edge\": 3}, {\"panel\": \"back\", \"edge\": 1}]]}}",
                     0.02, &pairs);
    assert_int_equal(m.object_count, 2);
    assert_int_equal(pairs.count, 23 + 1); // 45 cm in parts of 2 cm
    for (int k = 0; k < pairs.count; k++)
    {
        vec3 a = m.position[pairs.vertex[2 * k]], b = m.position[pairs.vertex[2 * k + 1]];
        assert_true(fabs(a.y / 0.3 - b.y / 0.45) < 1e-6); // one runs up, the other down
        assert_true(a.z == 0.1 && fabs(b.z + 0.1) < 1e-12);
    }
    mesh_finish(&m);
    mem_free(pairs.vertex);
}

#define PANEL(edges)                                                                                                   \
    "{\"pattern\": {\"panels\": {\"p\": {\"vertices\": [[0, 0], [20, 0], [20, 20], [0, 20]], \"edges\": [" edges "]}}"
#define SIDES "{\"endpoints\": [0, 1]}, {\"endpoints\": [1, 2]}, {\"endpoints\": [2, 3]}, {\"endpoints\": [3, 0]}"

static void test_mistakes(void** unused)
{
    (void)unused;
    static const struct
    {
        const char *text, *word;
    } wrong[] = {
        {"{}", "pattern"},
        {PANEL(
             "{\"endpoints\": [0, 2]}, {\"endpoints\": [2, 1]}, {\"endpoints\": [1, 3]}, {\"endpoints\": [3, 0]}") "}}",
         "crosses"},
        {PANEL("{\"endpoints\": [0, 1]}, {\"endpoints\": [2, 3]}") "}}", "closed loop"},
        {PANEL("{\"endpoints\": [0, 7]}, {\"endpoints\": [7, 0]}") "}}", "no such vertex"},
        {PANEL("{\"endpoints\": [0, 1], \"curvature\": {\"type\": \"spiral\", \"params\": []}}, {\"endpoints\": [1, "
               "0]}") "}}",
         "spiral"},
        {PANEL("{\"endpoints\": [0, 1], \"curvature\": {\"type\": \"circle\", \"params\": [5, 0, 1]}}, {\"endpoints\": "
               "[1, 0]}") "}}",
         "reach"},
        {PANEL(SIDES) ", \"stitches\": [[{\"panel\": \"q\", \"edge\": 0}, {\"panel\": \"p\", \"edge\": 1}]]}}",
         "does not have"},
        {PANEL(SIDES) ", \"stitches\": [[{\"panel\": \"p\", \"edge\": 9}, {\"panel\": \"p\", \"edge\": 1}]]}}",
         "run from 0 to 3"},
        {PANEL(SIDES) ", \"stitches\": [[{\"panel\": \"p\", \"edge\": 1}, {\"panel\": \"p\", \"edge\": 1}]]}}",
         "itself"},
        {PANEL(SIDES) "}, \"properties\": {\"units_in_meter\": 0}}", "units_in_meter"},
        {PANEL(SIDES) "}, \"properties\": {\"units_in_meter\": 0.001}}", "units_in_meter"},
    };
    static const char scene[] = "{\"cloth\": [{\"mesh\": {\"pattern\": \"pattern.json\"}}]}";
    for (size_t k = 0; k < sizeof(wrong) / sizeof(wrong[0]); k++)
    {
        weft_scene* loaded = NULL;
        weft_error error = {0};
        test_text_write(scene_folder, "pattern.json", wrong[k].text);
        weft_status status = scene_load_bytes(scene, strlen(scene), &loaded, &error);
        if (status == WEFT_OK || !strstr(error.message, wrong[k].word) || !strstr(error.file, "pattern.json") ||
            error.line != 1)
        {
            fail_msg("%zu: status %d, %s:%d `%s` instead of `%s`", k, status, error.file, error.line, error.message,
                     wrong[k].word);
        }
    }
    scene_refused("{" CLOTH ", \"stitch\": {\"pairs\": [[0, 99]]}}]}", "no vertex 99");
    scene_refused("{" CLOTH ", \"stitch\": {\"pairs\": [[3, 3]]}}]}", "itself");
    scene_refused("{" CLOTH ", \"stitch\": {}}]}", "nothing is sewn");
    scene_refused("{" CLOTH ", \"stitch\": {\"close\": 0}}]}", "close");
}

// Real ones, where they are there.
static void test_data(void** unused)
{
    (void)unused;
    const char* data = getenv("WEFT_TEST_DATA");
    static const struct
    {
        const char* name;
        int panels, stitches;
    } files[] = {{"shirt", 8, 18}, {"dress_pencil", 6, 23}};
    for (int k = 0; k < 2; k++)
    {
        char path[2048];
        snprintf(path, sizeof(path), "%s/patterns/%s.json", data ? data : WEFT_SOURCE_DIR "/../shared/data",
                 files[k].name);
        FILE* there = fopen(path, "r");
        if (!there)
        {
            print_message("skipped: %s is not there\n", path);
            skip();
        }
        fclose(there);
        sewing_pattern p;
        mesh m;
        stitch_pairs pairs;
        weft_error error = {0};
        assert_int_equal(pattern_read(path, &p, &error), WEFT_OK);
        assert_int_equal(p.panel_count, files[k].panels);
        assert_int_equal(p.stitch_count, files[k].stitches);
        assert_int_equal(mesh_from_pattern(&p, 0.015, &m, &pairs, &error), WEFT_OK);
        assert_int_equal(m.object_count, files[k].panels);
        assert_true(pairs.count > 150 && m.vertex_count > 3000);
        pattern_finish(&p);
        mesh_finish(&m);
        mem_free(pairs.vertex);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_panels),   cmocka_unit_test(test_crossing), cmocka_unit_test(test_curves),
        cmocka_unit_test(test_stitches), cmocka_unit_test(test_mistakes), cmocka_unit_test(test_data),
    };
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
