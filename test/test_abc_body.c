// Bodies from Alembic archives: the file of the reference library against its closed form, our own exports read back,
// an archive put together here with transforms that move against matrices by hand, uneven times, scenes, and files that
// are wrong, cut short or damaged.
#define _GNU_SOURCE
#include "common.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common_scene.h"
#include "mesh/abc_file.h"
#include "mesh/pc2_file.h"
#include "weft/weft.h"

static const char* reference(void)
{
    static char path[512];
    const char* data = getenv("WEFT_TEST_DATA");
    snprintf(path, sizeof(path), "%s/abc/reference.abc", data ? data : WEFT_SOURCE_DIR "/../shared/data");
    return access(path, R_OK) == 0 ? path : NULL;
}

static abc_body* open_body(const char* path, const char* object)
{
    abc_body* body = NULL;
    weft_error error = {0};
    if (abc_body_open(path, object, &body, &error) != WEFT_OK)
    {
        fail_msg("%s: %s", error.file, error.message);
    }
    return body;
}

static void assert_near(vec3 x, double a, double b, double c)
{
    if (!(v3_length(v3_sub(x, v3(a, b, c))) < 1e-6))
    {
        fail_msg("(%.9g, %.9g, %.9g) where (%.9g, %.9g, %.9g) is expected", x.x, x.y, x.z, a, b, c);
    }
}

// Vertex v at (0.1 (v mod 9), 0.1 (v div 9), 0.05 k sin(3x + 2y) + 0.01 k) in sample k, 24 a second.
static void test_reference(void** unused)
{
    (void)unused;
    const char* path = reference();
    if (!path)
    {
        print_message("skipped: reference.abc is not there\n");
        skip();
    }
    abc_body* body = open_body(path, NULL);
    weft_error error = {0};
    vec3 x[63];
    assert_int_equal(abc_body_vertex_count(body), 63);
    assert_int_equal(abc_body_sample_count(body), 12);
    assert_true(fabs(abc_body_rate(body) - 24.0) < 1e-9);
    for (int k = 0; k < 23; k++) // half-way between samples, too
    {
        double s = 0.5 * k;
        assert_int_equal(abc_body_pose(body, s / 24.0, x, &error), WEFT_OK);
        for (int v = 0; v < 63; v++)
        {
            double a = 0.1 * (v % 9), b = 0.1 * (v / 9);
            assert_near(x[v], a, b, 0.05 * s * sin(3.0 * a + 2.0 * b) + 0.01 * s);
        }
    }
    mesh m;
    assert_int_equal(abc_body_mesh(body, path, &m, &error), WEFT_OK);
    assert_int_equal(m.face_count, 96);
    const int first[] = {0, 1, 10}; // q+10 q+1 q in the file, turned round
    assert_memory_equal(m.face_vertex, first, sizeof(first));
    mesh_finish(&m);
    abc_body_destroy(body);
}

// What the exporter writes, the reader reads: every frame of every body.
static void test_own_export(void** unused)
{
    (void)unused;
    assert_int_equal(test_shell(scene_folder,
                                "\"$WEFT\" run sphere --set cells=6 --frames 4 -o ball >log 2>&1 && \"$WEFT\" "
                                "export ball --to abc -o ball.abc >log 2>&1"),
                     0);
    abc_body* body = open_body(scene_path("ball.abc"), "sheet");
    pc2* cache = NULL;
    weft_error error = {0};
    assert_int_equal(pc2_open(scene_path("ball/sheet.pc2"), &cache, &error), WEFT_OK);
    int n = abc_body_vertex_count(body);
    assert_int_equal(n, pc2_point_count(cache));
    assert_int_equal(abc_body_sample_count(body), 5);
    vec3 *x = malloc((size_t)n * sizeof(vec3)), *y = malloc((size_t)n * sizeof(vec3));
    for (int k = 0; k < 5; k++)
    {
        assert_int_equal(abc_body_pose(body, k / abc_body_rate(body), x, &error), WEFT_OK);
        assert_int_equal(pc2_read(cache, k, y, &error), WEFT_OK);
        assert_memory_equal(x, y, (size_t)n * sizeof(vec3));
    }
    free(x);
    free(y);
    pc2_close(cache, NULL);
    abc_body_destroy(body);
    body = open_body(scene_path("ball.abc"), NULL); // all of them
    assert_true(abc_body_vertex_count(body) > n);
    abc_body_destroy(body);
}

// ---- an archive by hand

typedef struct writer
{
    unsigned char bytes[65536];
    size_t size;
} writer;

static writer out;

static void put(const void* data, size_t size)
{
    memcpy(out.bytes + out.size, data, size);
    out.size += size;
}

static void put_number(uint64_t value, size_t size)
{
    put(&value, size);
}

static uint64_t put_data(const void* data, size_t size)
{
    uint64_t place = out.size;
    put_number(size, 8);
    put(data, size);
    return place | (uint64_t)1 << 63;
}

// A sample: a key that nobody looks at, and its bytes.
static uint64_t put_sample(const void* data, size_t size)
{
    unsigned char all[4096] = {0};
    memcpy(all + 16, data, size);
    return put_data(all, size + 16);
}

static uint64_t put_group(const uint64_t* child, int count)
{
    uint64_t place = out.size;
    put_number((uint64_t)count, 8);
    put(child, 8 * (size_t)count);
    return place;
}

typedef struct text
{
    unsigned char bytes[1024];
    size_t size;
} text;

static void add(text* t, const void* data, size_t size)
{
    memcpy(t->bytes + t->size, data, size);
    t->size += size;
}

static void add_number(text* t, uint64_t value, size_t size)
{
    add(t, &value, size);
}

// kind 0: a compound, 1: a scalar, 2: an array; sampling 1. Samples all differ, or there is one.
static void add_property(text* t, const char* name, int kind, int pod, int extent, int samples)
{
    uint64_t info = (uint64_t)kind | (uint64_t)pod << 4 | (uint64_t)extent << 12;
    info |= kind ? 0x100 | (samples == 1 ? 0x800 : 0) : 0;
    add_number(t, info, 4);
    if (kind)
    {
        add_number(t, (uint64_t)samples, 1);
        add_number(t, 1, 1);
    }
    add_number(t, strlen(name), 1);
    add(t, name, strlen(name));
}

static void add_child(text* t, const char* name, int meta)
{
    add_number(t, strlen(name), 4);
    add(t, name, strlen(name));
    add_number(t, (uint64_t)meta, 1);
}

// An object of one compound, and one child or none.
static uint64_t put_object(const char* schema, uint64_t members, const text* children, uint64_t child)
{
    text header = {0}, keys = {0};
    uint64_t compound[2], whole[3];
    if (schema)
    {
        add_property(&header, schema, 0, 0, 0, 0);
        compound[0] = members;
        compound[1] = put_data(header.bytes, header.size);
    }
    children ? add(&keys, children->bytes, children->size) : (void)0;
    const unsigned char zeros[32] = {0};
    add(&keys, zeros, 32);
    whole[0] = schema ? put_group(compound, 2) : 0;
    whole[1] = child;
    whole[child ? 2 : 1] = put_data(keys.bytes, keys.size);
    return put_group(whole, child ? 3 : 2);
}

// A triangle below a transform: moved by (1, 2, 3), turned by 90 degrees about z, and scaled by 2, at the second sample
// by 4. times: of both samples, or NULL: 10 a second.
static size_t write_moved(const char* name, const double* times, int face_samples)
{
    static const float points[] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    static const int indices[] = {2, 1, 0}, counts[] = {3};
    static const unsigned char ops[] = {0x10, 0x60, 0x00};
    static const double values[2][7] = {{1, 2, 3, 90, 2, 2, 2}, {1, 2, 3, 90, 4, 4, 4}};
    out.size = 0;
    put("Ogawa\xff\0\1", 8);
    put_number(0, 8);
    uint64_t none = (uint64_t)1 << 63, pair[4];
    text header = {0};
    uint64_t members[4];
    pair[0] = put_sample(points, sizeof(points)), pair[1] = none;
    members[0] = put_group(pair, 2);
    add_property(&header, "P", 2, 10, 3, 1);
    pair[0] = put_sample(indices, sizeof(indices)), pair[1] = none, pair[2] = pair[0], pair[3] = none;
    members[1] = put_group(pair, 2 * face_samples);
    add_property(&header, ".faceIndices", 2, 6, 1, face_samples);
    pair[0] = put_sample(counts, sizeof(counts)), pair[1] = none;
    members[2] = put_group(pair, 2);
    add_property(&header, ".faceCounts", 2, 6, 1, 1);
    members[3] = put_data(header.bytes, header.size);
    uint64_t shape = put_object(".geom", put_group(members, 4), NULL, 0);
    header.size = 0;
    pair[0] = put_sample(ops, sizeof(ops));
    members[0] = put_group(pair, 1);
    add_property(&header, ".ops", 1, 1, 3, 1);
    pair[0] = put_sample(values[0], sizeof(values[0])), pair[1] = put_sample(values[1], sizeof(values[1]));
    members[1] = put_group(pair, 2);
    add_property(&header, ".vals", 1, 11, 7, 2);
    members[2] = put_data(header.bytes, header.size);
    uint64_t properties = put_group(members, 3);
    text child = {0};
    add_child(&child, "bodyShape", 2);
    uint64_t xform = put_object(".xform", properties, &child, shape);
    child.size = 0;
    add_child(&child, "body", 1);
    uint64_t top = put_object(NULL, 0, &child, xform);
    // Samplings: the default one, and that of all properties.
    text samplings = {0};
    const double step = 0.1, one = 1.0, zero = 0.0, acyclic = 1e300;
    add_number(&samplings, 1, 4), add(&samplings, &one, 8), add_number(&samplings, 1, 4), add(&samplings, &zero, 8);
    add_number(&samplings, 2, 4), add(&samplings, times ? &acyclic : &step, 8);
    add_number(&samplings, times ? 2 : 1, 4), add(&samplings, times ? times : &zero, times ? 16 : 8);
    text table = {0};
    static const char* const meta[] = {"schema=AbcGeom_Xform_v3", "a=b;schema=AbcGeom_PolyMesh_v1;z=y"};
    for (int k = 0; k < 2; k++)
    {
        add_number(&table, strlen(meta[k]), 1);
        add(&table, meta[k], strlen(meta[k]));
    }
    const int version = 0;
    uint64_t root[6] = {put_data(&version, 4),
                        put_data(&version, 4),
                        top,
                        none,
                        put_data(samplings.bytes, samplings.size),
                        put_data(table.bytes, table.size)};
    uint64_t place = put_group(root, 6);
    memcpy(out.bytes + 8, &place, 8);
    scene_write_bytes(scene_path(name), (const char*)out.bytes, out.size);
    return out.size;
}

static void test_transforms(void** unused)
{
    (void)unused;
    weft_error error;
    vec3 x[3];
    write_moved("moved.abc", NULL, 1);
    abc_body* body = open_body(scene_path("moved.abc"), "body");
    assert_int_equal(abc_body_sample_count(body), 2); // of the transform
    for (int k = 0; k < 3; k++)
    {
        double scale = 2.0 + k;
        assert_int_equal(abc_body_pose(body, 0.05 * k, x, &error), WEFT_OK);
        assert_near(x[0], 1, 2, 3);
        assert_near(x[1], 1, 2 + scale, 3);
        assert_near(x[2], 1 - scale, 2, 3);
    }
    abc_body_destroy(body);
    // Times that the file lists, the first of which is the body's 0.
    const double times[] = {5.0, 5.4};
    write_moved("uneven.abc", times, 1);
    body = open_body(scene_path("uneven.abc"), NULL);
    assert_true(abc_body_rate(body) == 0.0 && fabs(abc_body_length(body) - 0.4) < 1e-9);
    assert_int_equal(abc_body_pose(body, 0.1, x, &error), WEFT_OK);
    assert_near(x[1], 1, 4.5, 3);
    abc_body_destroy(body);
}

// ---- scenes

#define SCENE_WITH(mesh, deform)                                                                                       \
    "{\"time_step\": 0.01, \"steps_per_frame\": 4, \"frames\": 2, \"cloth\": [{\"mesh\": {\"grid\": {\"cells\": 2}}, " \
    "\"transform\": {\"translate\": [0, 50, 0]}}], \"obstacles\": [{\"name\": \"body\", \"mesh\": {" mesh "}" deform   \
    "}]}"

static void test_scenes(void** unused)
{
    (void)unused;
    const double times[] = {5.0, 5.4};
    weft_error error;
    vec3 x[3];
    write_moved("moved.abc", NULL, 1);
    write_moved("uneven.abc", times, 1);
    weft_sim* sim = scene_sim_text(SCENE_WITH("\"abc\": \"moved.abc\", \"scale\": 0.5",
                                              ", \"deform\": {\"abc\": \"moved.abc\", \"speed\": 0.5, \"start\": 1}"),
                                   1);
    assert_int_equal(weft_sim_obstacle_positions(sim, 0, 1.05, x, &error), WEFT_OK);
    assert_near(x[1], 0.5, 0.5 * 4.5, 1.5);
    weft_sim_destroy(sim);
    sim = scene_sim_text(SCENE_WITH("\"abc\": \"uneven.abc\"", ", \"deform\": {\"abc\": \"uneven.abc\"}"), 1);
    assert_int_equal(weft_sim_obstacle_positions(sim, 0, 0.2, x, &error), WEFT_OK);
    assert_near(x[1], 1, 5, 3);
    weft_sim_destroy(sim);
    static const struct
    {
        const char *scene, *word;
    } wrong[] = {
        {SCENE_WITH("\"abc\": \"none.abc\"", ""), "paths are relative to the scene file"},
        {SCENE_WITH("\"abc\": \"moved.abc\", \"object\": \"x\"", ""), "no mesh below an object named `x`"},
        {SCENE_WITH("\"abc\": \"moved.abc\", \"weld\": 1", ""), "remove this key"},
        {SCENE_WITH("\"abc\": \"moved.abc\"", ", \"deform\": {\"abc\": \"moved.abc\", \"rate\": 9}"),
         "times of its own"},
        {SCENE_WITH("\"abc\": \"moved.abc\"", ", \"deform\": {\"animation\": 0}"), "only a mesh from a glTF file"},
        {SCENE_WITH("\"obj\": \"square.obj\"", ", \"deform\": {\"abc\": \"moved.abc\"}"), "3 points where the mesh"},
        {SCENE_WITH("\"abc\": \"changing.abc\"", ""), "change from sample to sample"},
        {SCENE_WITH("\"abc\": \"text.abc\"", ""), "does not begin with Ogawa"},
        {SCENE_WITH("\"abc\": \"old.abc\"", ""), "HDF5; export it as Ogawa"},
        {SCENE_WITH("\"abc\": \"half.abc\"", ""), "did not come to the end"},
    };
    write_moved("changing.abc", NULL, 2);
    scene_write_bytes(scene_path("square.obj"), scene_square_obj, strlen(scene_square_obj));
    scene_write_bytes(scene_path("text.abc"), "v 0 0 0 and more", 16);
    scene_write_bytes(scene_path("old.abc"), "\x89HDF\r\n\x1a\n........", 16);
    out.bytes[5] = 0;
    scene_write_bytes(scene_path("half.abc"), (const char*)out.bytes, out.size);
    for (size_t k = 0; k < sizeof(wrong) / sizeof(wrong[0]); k++)
    {
        scene_refused(wrong[k].scene, wrong[k].word);
    }
}

// ---- damage

static void read_anything(const char* name, bool must_fail)
{
    abc_body* body = NULL;
    weft_error error = {0};
    weft_status status = abc_body_open(scene_path(name), NULL, &body, &error);
    mesh m = {0};
    status = status == WEFT_OK ? abc_body_mesh(body, name, &m, &error) : status;
    vec3* x = status == WEFT_OK ? malloc((size_t)abc_body_vertex_count(body) * sizeof(vec3)) : NULL;
    status = status == WEFT_OK ? abc_body_pose(body, 0.07, x, &error) : status;
    assert_true(status == WEFT_OK || error.message[0] != '\0');
    assert_false(must_fail && status == WEFT_OK);
    free(x);
    mesh_finish(&m);
    abc_body_destroy(body);
}

static void test_damage(void** unused)
{
    (void)unused;
    static char bytes[65536], spoilt[65536];
    const char* rounds_text = getenv("WEFT_TEST_ROUNDS");
    int rounds = rounds_text ? atoi(rounds_text) : 3000;
    size_t size = write_moved("moved.abc", NULL, 1);
    memcpy(bytes, out.bytes, size);
    for (size_t k = 0; k < size; k++)
    {
        scene_write_bytes(scene_path("cut.abc"), bytes, k);
        read_anything("cut.abc", true);
    }
    uint64_t counter = 5;
    for (int k = 0; k < rounds; k++)
    {
        memcpy(spoilt, bytes, size);
        for (int n = 1 + k % 5; n > 0; n--)
        {
            spoilt[(size_t)test_random(&counter, 0.0, (double)size)] = (char)test_random(&counter, 0.0, 256.0);
        }
        scene_write_bytes(scene_path("spoilt.abc"), spoilt, size);
        read_anything("spoilt.abc", false);
    }
}

// Each allocation fails in turn, until none is left to fail: nothing leaks, and the status says why.
static void test_no_memory(void** unused)
{
    (void)unused;
    write_moved("moved.abc", NULL, 1);
    bool done = false;
    for (int k = 1; !done; k++)
    {
        test_ledger ledger = {.fail_at = k};
        abc_body* body = NULL;
        weft_error error = {0};
        mesh m = {0};
        test_ledger_open(&ledger);
        weft_status status = abc_body_open(scene_path("moved.abc"), NULL, &body, &error);
        status = status == WEFT_OK ? abc_body_mesh(body, "moved.abc", &m, &error) : status;
        mesh_finish(&m);
        abc_body_destroy(body);
        done = ledger.made < k;
        int live = ledger.live;
        test_ledger_close();
        assert_int_equal(live, 0);
        assert_int_equal(status, done ? WEFT_OK : WEFT_NO_MEMORY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference), cmocka_unit_test(test_own_export), cmocka_unit_test(test_transforms),
        cmocka_unit_test(test_scenes),    cmocka_unit_test(test_damage),     cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
