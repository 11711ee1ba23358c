// Obstacles from a scene file to a run's folder and back: which files there are and what they hold, the same bytes from
// the scene that a run wrote, --resume and --force, folders that others wrote, files that are cut, damaged or missing.
#define _GNU_SOURCE
#include "common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mesh/pc2_file.h"
#include "scene/scene_data.h"
#include "weft/cache.h"

enum
{
    PATH_BYTES = 600,
    SAMPLES = 9,
    STEPS_A_FRAME = 2
};

static char folder[256];

static const char* path_of(const char* name, char* path)
{
    snprintf(path, PATH_BYTES, "%s/%s", folder, name);
    return path;
}

static void write_file(const char* name, const char* text)
{
    char path[PATH_BYTES];
    FILE* f = fopen(path_of(name, path), "wb");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static bool there(const char* name)
{
    char path[PATH_BYTES];
    struct stat info;
    return stat(path_of(name, path), &info) == 0;
}

static char* slurp(const char* name, size_t* size)
{
    char path[PATH_BYTES];
    FILE* f = fopen(path_of(name, path), "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    *size = (size_t)ftell(f);
    rewind(f);
    char* bytes = malloc(*size + 1);
    assert_int_equal(fread(bytes, 1, *size, f), *size);
    bytes[*size] = '\0';
    fclose(f);
    return bytes;
}

static void assert_same(const char* a, const char* b)
{
    size_t sizes[2];
    char *left = slurp(a, &sizes[0]), *right = slurp(b, &sizes[1]);
    if (sizes[0] != sizes[1] || memcmp(left, right, sizes[0]) != 0)
    {
        fail_msg("%s and %s differ", a, b);
    }
    free(left);
    free(right);
}

// ---- a body of four vertices that deforms

static vec3 body_vertex(int sample, int v)
{
    static const vec3 x[] = {{10, 20, 30}, {110, 20, 30}, {10, 120, 30}, {10, 20, 130}};
    return v3(x[v].x + 7.3 * sample, x[v].y * (1.0 + 0.1 * sample), x[v].z - 3.1 * sample * v);
}

static void write_body_obj(const char* name, int sample, const char* faces)
{
    char text[4000];
    int used = 0;
    for (int v = 0; v < 4; v++)
    {
        vec3 x = body_vertex(sample, v);
        used += snprintf(text + used, sizeof(text) - (size_t)used, "v %.17g %.17g %.17g\n", x.x, x.y, x.z);
    }
    snprintf(text + used, sizeof(text) - (size_t)used, "%s", faces);
    write_file(name, text);
}

#define TETRA "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"

static void write_body_pc2(const char* name, int points, int samples)
{
    char path[PATH_BYTES];
    pc2* cache = NULL;
    assert_int_equal(pc2_create(path_of(name, path), points, 0.0f, &cache, NULL), WEFT_OK);
    for (int k = 0; k < samples; k++)
    {
        vec3 x[8] = {{0}};
        for (int v = 0; v < points; v++)
        {
            x[v] = v < 4 ? body_vertex(k, v) : v3(0, 0, 0);
        }
        assert_int_equal(pc2_append(cache, x, NULL), WEFT_OK);
    }
    assert_int_equal(pc2_close(cache, NULL), WEFT_OK);
}

static void write_inputs(void)
{
    write_body_obj("body.obj", 0, TETRA);
    write_body_pc2("body.pc2", 4, SAMPLES);
    for (int k = 0; k < SAMPLES; k++)
    {
        char name[64];
        snprintf(name, sizeof(name), "body_%03d.obj", k + 5);
        write_body_obj(name, k, TETRA);
    }
}

#define HEAD                                                                                                           \
    "{\"frames\": 4, \"steps_per_frame\": 2, \"time_step\": 0.005, \"cloth\": [{\"name\": \"sheet\", \"mesh\": "       \
    "{\"grid\": {\"cells\": 3}}, \"transform\": {\"translate\": [0, 5, 0]}}],\n\"obstacles\": ["
#define DEFORMING(how)                                                                                                 \
    "{\"name\": \"body\", \"mesh\": {\"obj\": \"body.obj\", \"scale\": 0.01}, \"transform\": {\"rotate\": [0, 30, "    \
    "0], "                                                                                                             \
    "\"translate\": [0, 1, 0]},\n\"deform\": {" how "}}"
#define BY_PC2 "\"pc2\": \"body.pc2\", \"rate\": 150, \"start\": 0.005"
#define BY_OBJ "\"obj_sequence\": \"body_%03d.obj\", \"first\": 5, \"last\": 13, \"rate\": 150, \"start\": 0.005"

static const char whole_scene[] = HEAD
    "{\"name\": \"floor\", \"shape\": {\"plane\": {\"point\": [0, -1, 0]}}},\n"
    "{\"name\": \"ball\", \"shape\": {\"sphere\": {\"center\": [0.1, 0.2, 0.3], \"radius\": 0.3, \"segments\": 3}},\n"
    " \"motion\": {\"path\": [{\"time\": 0.01}, {\"time\": 0.03, \"offset\": [1, 0, 0], \"angle\": 45}], \"axis\": "
    "[0, 0, 1]}},\n"
    "{\"name\": \"table\", \"friction\": 0.7, \"thickness\": 0.002, \"shape\": {\"box\": {\"size\": [1, 0.1, 1], "
    "\"hole\": 0.3, \"rotate\": [10, 20, 30]}}},\n"
    "{\"name\": \"rod\", \"shape\": {\"cylinder\": {\"from\": [0, 0, 0], \"to\": [0, 1, 0], \"radius\": 0.1, "
    "\"segments\": 7}}},\n"
    "{\"name\": \"pill\", \"shape\": {\"capsule\": {\"from\": [0, 0, 0], \"to\": [0, 1, 0], \"radius\": 0.1, "
    "\"segments\": 7}}},\n"
    "{\"name\": \"ring\", \"shape\": {\"torus\": {\"radius\": 0.3, \"tube\": 0.1, \"axis\": [1, 1, 0], \"segments\": "
    "9}}},\n" DEFORMING(
        BY_PC2) "],\n"
                "\"contact\": {\"exclude\": [{\"pair\": [\"sheet\", \"ball\"], \"where\": {\"edge\": \"top\"}}, "
                "{\"pair\": "
                "[\"sheet\", \"sheet\"]}, {\"pair\": [\"body\", \"sheet\"], \"where\": {\"vertices\": [1]}}]}}";

// ---- running

static weft_status run(const char* scene_name, const char* dir, weft_cache_mode mode, int frames, weft_error* error)
{
    char path[PATH_BYTES], out[PATH_BYTES];
    weft_scene* scene = NULL;
    weft_sim* sim = NULL;
    weft_cache_writer* writer = NULL;
    *error = (weft_error){0};
    weft_status status = weft_scene_load(path_of(scene_name, path), NULL, 0, &scene, error);
    status = status == WEFT_OK ? weft_scene_create_sim(scene, 1, &sim, error) : status;
    if (status == WEFT_OK)
    {
        status = weft_cache_writer_create(path_of(dir, out), mode, weft_scene_json(scene),
                                          weft_scene_steps_per_frame(scene), sim, &writer, error);
    }
    while (status == WEFT_OK && weft_sim_step_count(sim) < (int64_t)frames * STEPS_A_FRAME)
    {
        weft_step_stats stats;
        status = weft_sim_step(sim, &stats, error);
        status = status == WEFT_OK ? weft_cache_writer_step(writer, sim, &stats, error) : status;
    }
    weft_cache_writer_destroy(writer, NULL);
    weft_sim_destroy(sim);
    weft_scene_destroy(scene);
    return status;
}

static void run_well(const char* scene_name, const char* dir, weft_cache_mode mode, int frames)
{
    weft_error error;
    if (run(scene_name, dir, mode, frames, &error) != WEFT_OK)
    {
        fail_msg("%s: %s:%d: %s", scene_name, error.file, error.line, error.message);
    }
}

static weft_cache* open_run(const char* dir)
{
    char path[PATH_BYTES];
    weft_cache* cache = NULL;
    weft_error error = {0};
    if (weft_cache_open(path_of(dir, path), &cache, &error) != WEFT_OK)
    {
        fail_msg("%s: %s", error.file, error.message);
    }
    return cache;
}

static const char* const moving[] = {"sheet", "ball", "body"};
static const char* const bodies[] = {"sheet", "floor", "ball", "table", "rod", "pill", "ring", "body"};

enum
{
    BODIES = sizeof(bodies) / sizeof(bodies[0])
};

static int setup(void** state)
{
    (void)state;
    assert_non_null(test_folder(folder));
    write_inputs();
    write_file("whole.json", whole_scene);
    run_well("whole.json", "first", WEFT_CACHE_NEW, 4);
    return 0;
}

static int teardown(void** state)
{
    (void)state;
    test_folder_remove(folder);
    return 0;
}

// ---- the folder

static void test_files_of_a_run(void** state)
{
    (void)state;
    for (int k = 0; k < BODIES; k++)
    {
        char name[64];
        bool moves =
            strcmp(bodies[k], "sheet") == 0 || strcmp(bodies[k], "ball") == 0 || strcmp(bodies[k], "body") == 0;
        snprintf(name, sizeof(name), "first/%s.obj", bodies[k]);
        assert_true(there(name));
        snprintf(name, sizeof(name), "first/%s.pc2", bodies[k]);
        assert_true(there(name) == moves);
        snprintf(name, sizeof(name), "first/%s.motion.pc2", bodies[k]);
        assert_true(there(name) == (strcmp(bodies[k], "body") == 0));
    }
}

// The reader's bodies are the simulation's: kinds, triangles and every frame, to the bit.
static void test_reader_knows_obstacles(void** state)
{
    (void)state;
    char path[PATH_BYTES];
    weft_scene* scene = NULL;
    weft_sim* sim = NULL;
    assert_int_equal(weft_scene_load(path_of("whole.json", path), NULL, 0, &scene, NULL), WEFT_OK);
    assert_int_equal(weft_scene_create_sim(scene, 1, &sim, NULL), WEFT_OK);
    weft_scene_destroy(scene); // the simulation does without it
    weft_cache* cache = open_run("first");
    assert_int_equal(weft_cache_body_count(cache), BODIES);
    assert_int_equal(weft_cache_frame_count(cache), 5);
    for (int k = 0; k < BODIES; k++)
    {
        const weft_cache_body* b = weft_cache_body_at(cache, k);
        assert_string_equal(b->name, bodies[k]);
        assert_int_equal(b->obstacle, k > 0);
        if (k == 0)
        {
            assert_int_equal(b->still, 0);
            continue;
        }
        assert_int_equal(b->still, weft_sim_obstacle_is_still(sim, k - 1));
        assert_int_equal(b->triangle_count, weft_sim_obstacle_triangle_count(sim, k - 1));
        int* triangles = malloc(3 * sizeof(int) * (size_t)b->triangle_count);
        weft_sim_obstacle_triangles(sim, k - 1, triangles);
        assert_memory_equal(triangles, b->triangles, 3 * sizeof(int) * (size_t)b->triangle_count);
        free(triangles);
        vec3* x = malloc(2 * sizeof(vec3) * (size_t)b->vertex_count);
        for (int frame = 0; frame < 5; frame++)
        {
            assert_int_equal(weft_cache_read_frame(cache, k, frame, x, NULL), WEFT_OK);
            double time = 0.005 * STEPS_A_FRAME * frame;
            assert_int_equal(weft_sim_obstacle_positions(sim, k - 1, time, x + b->vertex_count, NULL), WEFT_OK);
            assert_memory_equal(x, x + b->vertex_count, sizeof(vec3) * (size_t)b->vertex_count);
        }
        assert_int_equal(weft_cache_read_frame(cache, k, 5, x, NULL), WEFT_NOT_FOUND);
        free(x);
    }
    weft_cache_close(cache);
    weft_sim_destroy(sim);
}

// scene.json of the run gives the same scene.json, meshes and positions.
static void test_a_run_runs_again(void** state)
{
    (void)state;
    run_well("first/scene.json", "again", WEFT_CACHE_NEW, 4);
    assert_same("first/scene.json", "again/scene.json");
    for (int k = 0; k < BODIES; k++)
    {
        char a[64], b[64];
        snprintf(a, sizeof(a), "first/%s.obj", bodies[k]);
        snprintf(b, sizeof(b), "again/%s.obj", bodies[k]);
        assert_same(a, b);
    }
    for (int k = 0; k < 3; k++)
    {
        char a[64], b[64];
        snprintf(a, sizeof(a), "first/%s.pc2", moving[k]);
        snprintf(b, sizeof(b), "again/%s.pc2", moving[k]);
        assert_same(a, b);
    }
    assert_same("first/body.motion.pc2", "again/body.motion.pc2");
}

// In its own folder a run reads the very file that it replaces.
static void test_a_run_replaces_itself(void** state)
{
    (void)state;
    run_well("first/scene.json", "self", WEFT_CACHE_NEW, 4);
    run_well("self/scene.json", "self", WEFT_CACHE_FORCE, 4);
    assert_same("first/body.pc2", "self/body.pc2");
    assert_same("first/body.motion.pc2", "self/body.motion.pc2");
    assert_same("first/ball.pc2", "self/ball.pc2");
    assert_false(there("self/body.motion.pc2.tmp"));
    // Another scene takes all of it away.
    write_file("bare.json",
               "{\"frames\": 1, \"steps_per_frame\": 2, \"cloth\": [{\"name\": \"sheet\", \"mesh\": {\"grid\": "
               "{\"cells\": 2}}}]}");
    run_well("bare.json", "self", WEFT_CACHE_FORCE, 1);
    for (int k = 1; k < BODIES; k++)
    {
        char name[64];
        snprintf(name, sizeof(name), "self/%s.obj", bodies[k]);
        assert_false(there(name));
    }
    assert_false(there("self/ball.pc2"));
    assert_false(there("self/body.pc2"));
    assert_false(there("self/body.motion.pc2"));
}

static void test_resume(void** state)
{
    (void)state;
    run_well("whole.json", "half", WEFT_CACHE_NEW, 2);
    // As if it had been killed between an obstacle's sample and the checkpoint.
    char path[PATH_BYTES];
    pc2* cache = NULL;
    vec3 x[4] = {{0}};
    assert_int_equal(pc2_open_append(path_of("half/body.pc2", path), 4, &cache, NULL), WEFT_OK);
    pc2_append(cache, x, NULL);
    pc2_close(cache, NULL);
    run_well("whole.json", "half", WEFT_CACHE_RESUME, 4);
    for (int k = 0; k < 3; k++)
    {
        char a[64], b[64];
        snprintf(a, sizeof(a), "first/%s.pc2", moving[k]);
        snprintf(b, sizeof(b), "half/%s.pc2", moving[k]);
        assert_same(a, b);
    }
    // Another motion, another body, other samples of the same length: refused.
    weft_error error;
    size_t size;
    char* text = slurp("whole.json", &size);
    memcpy(strstr(text, "\"friction\": 0.7"), "\"friction\": 0.6", 15);
    write_file("other.json", text);
    free(text);
    assert_int_equal(run("other.json", "half", WEFT_CACHE_RESUME, 5, &error), WEFT_BAD_INPUT);
    assert_int_equal(pc2_open_append(path_of("body.pc2", path), 4, &cache, NULL), WEFT_OK);
    pc2_cut(cache, SAMPLES - 1, NULL);
    pc2_append(cache, x, NULL);
    pc2_close(cache, NULL);
    weft_status status = run("whole.json", "half", WEFT_CACHE_RESUME, 5, &error);
    write_body_pc2("body.pc2", 4, SAMPLES);
    assert_int_equal(status, WEFT_BAD_INPUT);
    assert_non_null(strstr(error.message, "another scene"));
    assert_non_null(strstr(error.message, "a file that the scene names"));
    // The run's own copy still goes on.
    run_well("half/scene.json", "half", WEFT_CACHE_RESUME, 5);
}

static void test_foreign_files_stay(void** state)
{
    (void)state;
    char path[PATH_BYTES];
    weft_error error;
    mkdir(path_of("mine", path), 0777);
    write_file("mine/body.motion.pc2", "mine");
    assert_int_equal(run("whole.json", "mine", WEFT_CACHE_NEW, 1, &error), WEFT_EXISTS);
    assert_non_null(strstr(error.file, "body.motion.pc2"));
    remove(path_of("mine/body.motion.pc2", path));
    write_file("mine/floor.obj", "mine");
    assert_int_equal(run("whole.json", "mine", WEFT_CACHE_NEW, 1, &error), WEFT_EXISTS);
}

// ---- deforming

static vec3 expected_place(vec3 x)
{
    double c = cos(PI / 6.0), s = sin(PI / 6.0);
    x = v3_scale(0.01, v3_round(x));
    return v3(c * x.x + s * x.z, x.y + 1.0, -s * x.x + c * x.z);
}

// Samples of the copy are the file's, scaled, turned, moved and rounded.
static void test_samples_in_place(void** state)
{
    (void)state;
    char path[PATH_BYTES];
    pc2* cache = NULL;
    assert_int_equal(pc2_open(path_of("first/body.motion.pc2", path), &cache, NULL), WEFT_OK);
    assert_int_equal(pc2_sample_count(cache), SAMPLES);
    for (int k = 0; k < SAMPLES; k++)
    {
        vec3 x[4];
        assert_int_equal(pc2_read(cache, k, x, NULL), WEFT_OK);
        for (int v = 0; v < 4; v++)
        {
            assert_true(v3_length(v3_sub(x[v], expected_place(body_vertex(k, v)))) < 3e-7);
        }
    }
    pc2_close(cache, NULL);
}

static void test_sequence_is_as_pc2(void** state)
{
    (void)state;
    write_file("pc2.json", HEAD DEFORMING(BY_PC2) "]}");
    write_file("seq.json", HEAD DEFORMING(BY_OBJ) "]}");
    run_well("pc2.json", "by-pc2", WEFT_CACHE_NEW, 4);
    run_well("seq.json", "by-seq", WEFT_CACHE_NEW, 4);
    // The PC2 file rounds before the place is applied, the OBJ files do not: near, not equal.
    weft_cache *a = open_run("by-pc2"), *b = open_run("by-seq");
    for (int frame = 0; frame < 5; frame++)
    {
        vec3 x[4], y[4];
        assert_int_equal(weft_cache_read_frame(a, 1, frame, x, NULL), WEFT_OK);
        assert_int_equal(weft_cache_read_frame(b, 1, frame, y, NULL), WEFT_OK);
        // Time 0.01 frame, samples at 0.005 + k / 150.
        double at = fmax((0.01 * frame - 0.005) * 150.0, 0.0);
        int k = (int)at;
        for (int v = 0; v < 4; v++)
        {
            vec3 low = expected_place(body_vertex(k, v)), high = expected_place(body_vertex(k + 1, v));
            vec3 expected = v3_madd(low, at - k, v3_sub(high, low));
            assert_true(v3_length(v3_sub(x[v], expected)) < 3e-7 && v3_length(v3_sub(y[v], expected)) < 3e-7);
        }
    }
    weft_cache_close(a);
    weft_cache_close(b);
    run_well("by-seq/scene.json", "by-copy", WEFT_CACHE_NEW, 4);
    assert_same("by-seq/body.pc2", "by-copy/body.pc2");
}

// A folder whose name looks like a pattern.
static void test_percent_in_the_folder(void** state)
{
    (void)state;
    char path[PATH_BYTES];
    mkdir(path_of("odd%d", path), 0777);
    write_body_obj("odd%d/body.obj", 0, TETRA);
    for (int k = 0; k < SAMPLES; k++)
    {
        char name[64];
        snprintf(name, sizeof(name), "odd%%d/body_%03d.obj", k + 5);
        write_body_obj(name, k, TETRA);
    }
    write_file("odd%d/scene.json", HEAD DEFORMING(BY_OBJ) "]}");
    run_well("odd%d/scene.json", "odd-run", WEFT_CACHE_NEW, 1);
}

// ---- damage

// A scene that must fail with a message that holds both words; everything is known before a folder is made.
static void expect_refused(const char* text, const char* file, const char* word)
{
    weft_error error;
    write_file("bad.json", text);
    weft_status status = run("bad.json", "never", WEFT_CACHE_NEW, 1, &error);
    if (status == WEFT_OK || !strstr(error.file, file) || !strstr(error.message, word))
    {
        fail_msg("%s\ngave %d, %s:%d: %s", text, status, error.file, error.line, error.message);
    }
    assert_true(status == WEFT_BAD_INPUT || status == WEFT_NOT_FOUND);
    assert_false(there("never"));
}

static void damage(const char* name, long at, const void* bytes, size_t size)
{
    char path[PATH_BYTES];
    FILE* f = fopen(path_of(name, path), "r+b");
    assert_non_null(f);
    fseek(f, at, SEEK_SET);
    fwrite(bytes, 1, size, f);
    fclose(f);
}

static void test_bad_pc2(void** state)
{
    (void)state;
    char path[PATH_BYTES];
    expect_refused(HEAD DEFORMING("\"pc2\": \"none.pc2\"") "]}", "bad.json", "none.pc2");
    expect_refused(HEAD DEFORMING("\"pc2\": \"body.obj\"") "]}", "body.obj", "not a PC2 file");
    write_body_pc2("five.pc2", 5, 3);
    expect_refused(HEAD DEFORMING("\"pc2\": \"five.pc2\"") "]}", "five.pc2", "5 points where the mesh body.obj has 4");
    write_body_pc2("empty.pc2", 4, 0);
    expect_refused(HEAD DEFORMING("\"pc2\": \"empty.pc2\"") "]}", "empty.pc2", "no sample");
    write_body_pc2("cut.pc2", 4, 6);
    assert_int_equal(truncate(path_of("cut.pc2", path), 32 + 48 * 4 + 20), 0);
    expect_refused(HEAD DEFORMING("\"pc2\": \"cut.pc2\"") "]}", "cut.pc2", "states 6 samples, it holds 4");
    write_body_pc2("nan.pc2", 4, 6);
    float nan = NAN;
    damage("nan.pc2", 32 + 48 * 4 + 12 * 2, &nan, sizeof(nan));
    expect_refused(HEAD DEFORMING("\"pc2\": \"nan.pc2\"") "]}", "nan.pc2", "sample 4 (counted from 0): vertex 2");
    float huge = 1e30f;
    write_body_pc2("huge.pc2", 4, 6);
    damage("huge.pc2", 32 + 48 * 3, &huge, sizeof(huge));
    expect_refused(HEAD DEFORMING("\"pc2\": \"huge.pc2\"") "]}", "bad.json", "sample 3");
}

static void test_bad_sequence(void** state)
{
    (void)state;
    char path[PATH_BYTES];
#define SEQUENCE(pattern, first, last)                                                                                 \
    HEAD DEFORMING("\"obj_sequence\": \"" pattern "\", \"first\": " first ", \"last\": " last) "]}"
    expect_refused(SEQUENCE("body.obj", "1", "2"), "bad.json", "one number in the name");
    expect_refused(SEQUENCE("%d%d.obj", "1", "2"), "bad.json", "one number in the name");
    expect_refused(SEQUENCE("%s.obj", "1", "2"), "bad.json", "one number in the name");
    expect_refused(SEQUENCE("%0999d.obj", "1", "2"), "bad.json", "one number in the name");
    expect_refused(SEQUENCE("%n.obj", "1", "2"), "bad.json", "one number in the name");
    expect_refused(SEQUENCE("body_%03d.obj", "9", "5"), "bad.json", "must be from first (9) on");
    expect_refused(SEQUENCE("body_%03d.obj", "0", "99999999"), "bad.json", "at most 1000000 files");
    expect_refused(SEQUENCE("body_%03d.obj", "-1", "5"), "bad.json", "at least 0");
    expect_refused(SEQUENCE("body_%03d.obj", "5", "14"), "body_014.obj", "is missing");
    expect_refused(HEAD DEFORMING("\"obj_sequence\": \"body_%03d.obj\"") "]}", "bad.json", "\"first\" and \"last\"");
    expect_refused(HEAD DEFORMING("\"pc2\": \"body.pc2\", \"first\": 1") "]}", "bad.json", "only an \"obj_sequence\"");
    expect_refused(HEAD DEFORMING("") "]}", "bad.json", "either \"pc2\" or \"obj_sequence\"");
    expect_refused(HEAD DEFORMING(BY_PC2 ", \"rat\": 3") "]}", "bad.json", "did you mean `rate`?");
    expect_refused(HEAD DEFORMING("\"pc2\": \"body.pc2\", \"rate\": 0") "]}", "bad.json", "must be positive");
    write_body_obj("odd_1.obj", 0, "f 1 3 2\nf 1 2 4\nf 1 4 3\n");
    expect_refused(SEQUENCE("odd_%d.obj", "1", "1"), "odd_1.obj", "4 vertices and 3 faces");
    write_body_obj("odd_1.obj", 0, "f 1 3 2\nf 1 2 4\nf 1 3 4\nf 2 3 4\n");
    expect_refused(SEQUENCE("odd_%d.obj", "1", "1"), "odd_1.obj", "face 3 is not that of the obstacle's mesh");
    write_body_obj("odd_1.obj", 0, "f 1 3 2\nf 1 2 9\n");
    expect_refused(SEQUENCE("odd_%d.obj", "1", "1"), "odd_1.obj", "9");
    remove(path_of("odd_1.obj", path));
    expect_refused(HEAD "{\"mesh\": {\"obj\": \"body.obj\", \"weld\": 0.1},\n\"deform\": {" BY_PC2 "}}]}", "bad.json",
                   "welded cannot deform");
}

// A file that goes bad while the run goes on: the frames before stay, and the error names file and sample.
static void test_damage_on_the_way(void** state)
{
    (void)state;
    char path[PATH_BYTES], out[PATH_BYTES];
    write_body_pc2("late.pc2", 4, SAMPLES);
    write_file("late.json", HEAD DEFORMING("\"pc2\": \"late.pc2\"") "]}");
    weft_scene* scene = NULL;
    weft_sim* sim = NULL;
    weft_cache_writer* writer = NULL;
    weft_error error = {0};
    assert_int_equal(weft_scene_load(path_of("late.json", path), NULL, 0, &scene, &error), WEFT_OK);
    assert_int_equal(weft_scene_create_sim(scene, 1, &sim, &error), WEFT_OK);
    assert_int_equal(weft_cache_writer_create(path_of("late", out), WEFT_CACHE_NEW, weft_scene_json(scene),
                                              STEPS_A_FRAME, sim, &writer, &error),
                     WEFT_OK);
    float nan = NAN;
    damage("late.pc2", 32 + 48 * 3, &nan, sizeof(nan));
    weft_status status = WEFT_OK;
    while (status == WEFT_OK && weft_sim_step_count(sim) < 4 * STEPS_A_FRAME)
    {
        weft_step_stats stats;
        status = weft_sim_step(sim, &stats, &error);
        status = status == WEFT_OK ? weft_cache_writer_step(writer, sim, &stats, &error) : status;
    }
    assert_int_equal(status, WEFT_BAD_INPUT);
    assert_non_null(strstr(error.file, "late.pc2"));
    assert_non_null(strstr(error.message, "sample 3"));
    weft_cache_writer_destroy(writer, NULL);
    weft_sim_destroy(sim);
    weft_scene_destroy(scene);
    weft_cache* cache = open_run("late");
    assert_int_equal(weft_cache_frame_count(cache), 3); // frames 0, 1, 2
    weft_cache_close(cache);
}

// ---- folders that others wrote

static void test_folder_without_scene(void** state)
{
    (void)state;
    char path[PATH_BYTES];
    mkdir(path_of("foreign", path), 0777);
    write_body_obj("foreign/cloth.obj", 0, TETRA);
    write_body_obj("foreign/alone.obj", 0, "f 1 2 3\nf 1 2 4\nf 2 1 3\n"); // cloth could not be like this
    weft_cache* cache = NULL;
    weft_error error = {0};
    assert_int_equal(weft_cache_open(path_of("foreign", path), &cache, &error), WEFT_BAD_INPUT);
    assert_non_null(strstr(error.message, "holds no run"));
    write_body_pc2("foreign/cloth.pc2", 4, 3);
    cache = open_run("foreign");
    assert_int_equal(weft_cache_body_count(cache), 2);
    assert_int_equal(weft_cache_frame_count(cache), 3);
    const weft_cache_body *cloth = weft_cache_body_at(cache, 0), *alone = weft_cache_body_at(cache, 1);
    assert_string_equal(cloth->name, "cloth");
    assert_true(!cloth->obstacle && !cloth->still);
    assert_string_equal(alone->name, "alone");
    assert_true(alone->obstacle && alone->still && alone->triangle_count == 3);
    vec3 x[4];
    assert_int_equal(weft_cache_read_frame(cache, 1, 2, x, NULL), WEFT_OK);
    vec3 first = body_vertex(0, 0);
    assert_memory_equal(&x[0], &first, sizeof(vec3));
    weft_cache_close(cache);
}

// A run's folder with a stray OBJ: scene.json does not name it.
static void test_strays_are_left_alone(void** state)
{
    (void)state;
    char path[PATH_BYTES];
    write_file("first/stray.obj", "this is no mesh\n");
    weft_cache* cache = open_run("first");
    assert_int_equal(weft_cache_body_count(cache), BODIES);
    weft_cache_close(cache);
    remove(path_of("first/stray.obj", path));
}

// ---- scenes

static void test_meshes_of_obstacles(void** state)
{
    (void)state;
    char path[PATH_BYTES];
    write_file("rough.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 -1 0\nv 0 0 1\nv 2 0 0\nv 3 0 0\nv 9 9 9\n"
                            "o first\nf 1 2 3\nf 1 2 4\nf 1 2 5\no second\nf 2 6 7\n");
    write_file("rough.json",
               HEAD "{\"mesh\": {\"obj\": \"rough.obj\"}}, {\"mesh\": {\"obj\": \"rough.obj\", \"object\": "
                    "\"first\"}}]}");
    weft_scene* scene = NULL;
    weft_error error = {0};
    assert_int_equal(weft_scene_load(path_of("rough.json", path), NULL, 0, &scene, &error), WEFT_OK);
    weft_scene_obstacle o;
    assert_int_equal(weft_scene_obstacle_at(scene, 0, &o), WEFT_OK);
    assert_string_equal(o.name, "obstacle1");
    assert_string_equal(o.obj, "rough.obj");
    assert_null(o.shape);
    assert_true(o.triangle_count == 4 && o.vertex_count == 8 && !o.is_closed && o.key_count == 0 &&
                o.sample_count == 0);
    assert_int_equal(weft_scene_obstacle_at(scene, 1, &o), WEFT_OK);
    assert_int_equal(o.triangle_count, 3);
    assert_int_equal(weft_scene_obstacle_at(scene, 2, &o), WEFT_NOT_FOUND);
    assert_null(weft_scene_warning(scene, 0));
    weft_scene_destroy(scene);
    run_well("rough.json", "rough", WEFT_CACHE_NEW, 1);
    weft_cache_close(open_run("rough"));
    write_file("empty.obj", "v 0 0 0\n");
    expect_refused(HEAD "{\"mesh\": {\"obj\": \"empty.obj\"}}]}", "empty.obj", "");
}

static void log_keep(const char* message, void* user)
{
    char* text = user;
    size_t used = strlen(text);
    snprintf(text + used, 2000 - used, "%s\n", message);
}

// An obstacle of these faces over four vertices: whether it is closed, and what was warned of.
static bool closed_with(const char* faces, char* warnings)
{
    char path[PATH_BYTES];
    weft_scene* scene = NULL;
    weft_scene_obstacle o;
    write_body_obj("heap.obj", 0, faces);
    write_file("heap.json", HEAD "{\"mesh\": {\"obj\": \"heap.obj\", \"scale\": 0.01}}]}");
    warnings[0] = '\0';
    weft_set_log(log_keep, warnings);
    weft_status status = weft_scene_load(path_of("heap.json", path), NULL, 0, &scene, NULL);
    weft_set_log(NULL, NULL);
    assert_int_equal(status, WEFT_OK);
    assert_int_equal(weft_scene_obstacle_at(scene, 0, &o), WEFT_OK);
    weft_scene_destroy(scene);
    return o.is_closed;
}

// Closed: exactly two triangles at every edge, in opposite directions. A heap of coincident ones is not, however many.
static void test_closed(void** state)
{
    (void)state;
    enum
    {
        COPIES = 200
    };
    char heap[8 * COPIES + 1] = "", warnings[2000];
    for (int k = 0; k < COPIES; k++)
    {
        memcpy(heap + 8 * k, "f 1 2 3\n", 9);
    }
    assert_true(closed_with(TETRA, warnings));
    assert_null(strstr(warnings, "cover"));
    assert_false(closed_with("f 1 3 2\nf 1 2 4\nf 1 4 3\n", warnings));          // a face is missing
    assert_false(closed_with("f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 4 3\n", warnings)); // one looks inwards
    assert_false(closed_with("f 1 2 3\nf 1 2 3\n", warnings));
    assert_non_null(strstr(warnings, "1 triangles cover the vertices of another"));
    assert_false(closed_with(heap, warnings));
    assert_non_null(strstr(warnings, "199 triangles cover the vertices of another"));
}

// A motion without keys moves nothing: a note says so, but not of what a run wrote itself.
static void test_motion_without_path(void** state)
{
    (void)state;
    static const char* const motions[] = {"{}", "{\"axis\": [0, 1, 0]}", "{\"center\": [0, 1, 0]}", "{\"path\": []}",
                                          "{\"path\": [{\"time\": 0}]}"};
    for (int k = 0; k < 5; k++)
    {
        char text[600], path[PATH_BYTES];
        snprintf(text, sizeof(text), HEAD "{\"shape\": {\"sphere\": {\"radius\": 0.3}}, \"motion\": %s}]}", motions[k]);
        write_file("still.json", text);
        weft_scene* scene = NULL;
        assert_int_equal(weft_scene_load(path_of("still.json", path), NULL, 0, &scene, NULL), WEFT_OK);
        const char* warning = weft_scene_warning(scene, 0);
        assert_int_equal(warning && strstr(warning, "has no \"path\""), k < 3);
        write_file("again.json", weft_scene_json(scene));
        weft_scene_destroy(scene);
        assert_int_equal(weft_scene_load(path_of("again.json", path), NULL, 0, &scene, NULL), WEFT_OK);
        assert_null(weft_scene_warning(scene, 0));
        weft_scene_destroy(scene);
    }
}

static void test_overrides(void** state)
{
    (void)state;
    char path[PATH_BYTES];
    const char* const overrides[] = {"obstacles.1.friction=0.9", "obstacles.1.shape.sphere.radius=0.5"};
    weft_scene* scene = NULL;
    assert_int_equal(weft_scene_load(path_of("whole.json", path), overrides, 2, &scene, NULL), WEFT_OK);
    assert_true(scene->obstacles[1].friction.kinetic == 0.9 && scene->obstacles[1].shape.radius == 0.5);
    assert_int_equal(scene->exclusion_count, 3);
    assert_int_equal(scene->exclusions[0].vertex_count, 4);
    assert_null(scene->exclusions[1].vertices);
    assert_true(scene->exclusions[2].vertex_count == 1 && scene->exclusions[2].vertices[0] == 1);
    weft_sim* sim = NULL;
    assert_int_equal(weft_scene_create_sim(scene, 1, &sim, NULL), WEFT_OK);
    assert_int_equal(weft_sim_exclusion_count(sim), 3);
    weft_sim_destroy(sim);
    weft_scene_destroy(scene);
}

// Every allocation of loading and building fails once.
static void test_failing_memory(void** state)
{
    (void)state;
    char path[PATH_BYTES];
    write_file(
        "small.json", HEAD
        "{\"name\": \"ball\", \"shape\": {\"sphere\": {\"radius\": 0.3, \"segments\": 1}}, \"motion\": "
        "{\"path\": [{\"time\": 0}]}},\n" DEFORMING(BY_OBJ) ", {\"name\": \"other\", \"mesh\": {\"obj\": "
                                                            "\"body.obj\"}, \"deform\": {\"pc2\": \"body.pc2\"}}], "
                                                            "\"contact\": {\"exclude\": [{\"pair\": [\"sheet\", "
                                                            "\"ball\"], \"where\": {\"vertices\": [1]}}]}}");
    path_of("small.json", path);
    bool done = false;
    for (int k = 1; !done; k++)
    {
        test_ledger ledger = {.fail_at = k};
        test_ledger_open(&ledger);
        weft_scene* scene = NULL;
        weft_sim* sim = NULL;
        weft_error error = {0};
        weft_status status = weft_scene_load(path, NULL, 0, &scene, &error);
        status = status == WEFT_OK ? weft_scene_create_sim(scene, 1, &sim, &error) : status;
        done = status == WEFT_OK && ledger.made < k;
        if (status != WEFT_OK && status != WEFT_NO_MEMORY)
        {
            fail_msg("allocation %d: %d, %s: %s", k, status, error.file, error.message);
        }
        weft_sim_destroy(sim);
        weft_scene_destroy(scene);
        assert_int_equal(ledger.live, 0);
        test_ledger_close();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files_of_a_run),
        cmocka_unit_test(test_reader_knows_obstacles),
        cmocka_unit_test(test_a_run_runs_again),
        cmocka_unit_test(test_a_run_replaces_itself),
        cmocka_unit_test(test_resume),
        cmocka_unit_test(test_foreign_files_stay),
        cmocka_unit_test(test_samples_in_place),
        cmocka_unit_test(test_sequence_is_as_pc2),
        cmocka_unit_test(test_percent_in_the_folder),
        cmocka_unit_test(test_bad_pc2),
        cmocka_unit_test(test_bad_sequence),
        cmocka_unit_test(test_damage_on_the_way),
        cmocka_unit_test(test_folder_without_scene),
        cmocka_unit_test(test_strays_are_left_alone),
        cmocka_unit_test(test_meshes_of_obstacles),
        cmocka_unit_test(test_closed),
        cmocka_unit_test(test_motion_without_path),
        cmocka_unit_test(test_overrides),
        cmocka_unit_test(test_failing_memory),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
