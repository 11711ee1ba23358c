// Obstacles from glTF in scenes: samples, speed, offset, loops and their error against closed forms; the copy in a
// run's folder gives the same bytes; what is wrong with a file is said with its file, its place and a remedy; files
// that are cut short or damaged anywhere neither crash nor hang; a walking human.
#define _GNU_SOURCE
#include "common.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common_gltf.h"
#include "common_run.h"
#include "common_scene.h"
#include "core/core.h"
#include "scene/scene_data.h"
#include "weft/weft.h"

static const float triangle[] = {0, 0, 0, 1, 0, 0, 0, 1, 0};

#define ONE_NODE "\"scenes\": [{\"nodes\": [0]}], \"nodes\": [{\"mesh\": 0, \"name\": \"skin\"}]"
#define ONE_MESH "\"meshes\": [{\"primitives\": [{\"attributes\": {\"POSITION\": 0}}]}]"
#define TURN                                                                                                           \
    "\"animations\": [{\"name\": \"turn\", \"channels\": [{\"sampler\": 0, \"target\": {\"node\": 0, \"path\": "       \
    "\"rotation\"}}], \"samplers\": [{\"input\": 1, \"output\": 2}]}, {\"name\": \"rise\", \"channels\": "             \
    "[{\"sampler\": 0, \"target\": {\"node\": 0, \"path\": \"translation\"}}], \"samplers\": [{\"input\": 3, "         \
    "\"output\": 4}]}]"

// A triangle that turns about z by 90 degrees in a second, or rises from 0.1 to 0.4 s and comes down again.
static void write_turning(const char* name)
{
    const float times[] = {0, 1}, turns[] = {0, 0, 0, 1, 0, 0, (float)sqrt(0.5), (float)sqrt(0.5)};
    const float when[] = {0.1f, 0.2f, 0.3f, 0.4f}, moves[] = {0, 0, 0, 0, 1, 0, 0, 2, 0, 0, 1, 0};
    gltf_begin();
    gltf_add_floats(triangle, 3, "VEC3", 3);
    gltf_add_floats(times, 2, "SCALAR", 1);
    gltf_add_floats(turns, 2, "VEC4", 4);
    gltf_add_floats(when, 4, "SCALAR", 1);
    gltf_add_floats(moves, 4, "VEC3", 3);
    gltf_write(name, ONE_NODE ", " ONE_MESH ", " TURN);
}

// Frames of 0.04 s, one cloth far away.
#define SCENE_WITH(mesh, deform)                                                                                       \
    "{\"time_step\": 0.01, \"steps_per_frame\": 4, \"frames\": 2, \"cloth\": [{\"mesh\": {\"grid\": {\"cells\": 2}}, " \
    "\"transform\": {\"translate\": [0, 50, 0]}}], \"obstacles\": [{\"name\": \"body\", \"mesh\": {" mesh "}" deform   \
    "}]}"

static vec3 corner_at(weft_sim* sim, double time, int vertex)
{
    vec3 x[8];
    weft_error error;
    assert_int_equal(weft_sim_obstacle_positions(sim, 0, time, x, &error), WEFT_OK);
    return x[vertex];
}

static void assert_near(vec3 x, double a, double b, double c, double tolerance)
{
    double apart = v3_length(v3_sub(x, v3(a, b, c)));
    if (!(apart <= tolerance))
    {
        fail_msg("(%.9g, %.9g, %.9g) where (%.9g, %.9g, %.9g) is expected", x.x, x.y, x.z, a, b, c);
    }
}

// ---- samples

// At samples a turning point is on its circle, half-way between them on the chord: off by the sagitta r (1 - cos(angle
// / 2)), which the scene states.
static void test_error(void** unused)
{
    (void)unused;
    write_turning("turn.gltf");
    weft_scene* scene = scene_load_text(
        SCENE_WITH("\"gltf\": \"turn.gltf\", \"scale\": 2", ", \"deform\": {\"animation\": \"turn\"}"), NULL, 0);
    weft_scene_obstacle info;
    assert_int_equal(weft_scene_obstacle_at(scene, 0, &info), WEFT_OK);
    assert_int_equal(info.sample_count, 101); // four a frame of 0.04 s
    assert_true(fabs(info.deform_rate - 100.0) < 1e-9);
    double angle = PI / 2.0 / 100.0, sagitta = 2.0 * (1.0 - cos(0.5 * angle));
    assert_true(fabs(info.deform_error - sagitta) < 1e-3 * sagitta);
    weft_sim* sim = NULL;
    weft_error error;
    assert_int_equal(weft_scene_build_sim(scene, 1, &sim, &error), WEFT_OK);
    assert_near(corner_at(sim, 0.37, 1), 2.0 * cos(37 * angle), 2.0 * sin(37 * angle), 0.0, 1e-6);
    double off = 2.0 - v3_length(corner_at(sim, 0.375, 1));
    assert_true(fabs(off - sagitta) < 1e-6);
    assert_near(corner_at(sim, 7.0, 1), 0.0, 2.0, 0.0, 1e-6);
    weft_sim_destroy(sim);
    weft_scene_destroy(scene);
}

// The animation from 0.1 to 0.4 s: twice as fast, from half a second of the scene on, 0.05 s into it.
static void test_speed_and_offset(void** unused)
{
    (void)unused;
    write_turning("turn.gltf");
    weft_sim* sim =
        scene_sim_text(SCENE_WITH("\"gltf\": \"turn.gltf\"",
                                  ", \"deform\": {\"animation\": 1, \"speed\": 2, \"offset\": 0.05, \"start\": "
                                  "0.5, \"rate\": 400}"),
                       1);
    assert_near(corner_at(sim, 0.0, 0), 0, 0.5, 0, 1e-6);
    assert_near(corner_at(sim, 0.5, 0), 0, 0.5, 0, 1e-6);
    assert_near(corner_at(sim, 0.55, 0), 0, 1.5, 0, 1e-5);
    assert_near(corner_at(sim, 0.6, 0), 0, 1.5, 0, 1e-5);
    assert_near(corner_at(sim, 2.0, 0), 0, 1.0, 0, 1e-6);
    weft_sim_destroy(sim);
}

// Keys begin one step after 0, so the way back from the last to the first takes that step: the period is 0.4 s.
static void test_loop(void** unused)
{
    (void)unused;
    static const double heights[] = {0, 1, 2, 1};
    write_turning("turn.gltf");
    weft_scene* scene = scene_load_text(
        SCENE_WITH("\"gltf\": \"turn.gltf\"", ", \"deform\": {\"animation\": \"rise\", \"loop\": true}"), NULL, 0);
    weft_sim* sim = NULL;
    weft_error error;
    assert_int_equal(weft_scene_build_sim(scene, 1, &sim, &error), WEFT_OK);
    for (int k = 0; k < 40; k++)
    {
        double t = 0.05 * k, at = fmod(t / 0.1, 4.0), f = at - floor(at);
        double height = (1.0 - f) * heights[(int)at % 4] + f * heights[((int)at + 1) % 4];
        assert_near(corner_at(sim, t, 0), 0, height, 0, 1e-5);
    }
    weft_sim_destroy(sim);
    weft_scene_destroy(scene);
    // Without such a step a note tells of the jump.
    scene = scene_load_text(
        SCENE_WITH("\"gltf\": \"turn.gltf\"", ", \"deform\": {\"animation\": \"turn\", \"loop\": true}"), NULL, 0);
    bool told = false;
    for (int k = 0; weft_scene_warning(scene, k); k++)
    {
        told = told || strstr(weft_scene_warning(scene, k), "1.41 m from the first");
    }
    assert_true(told);
    weft_scene_destroy(scene);
}

// Samples of a file have the same keys: three of them, at 10 a second.
static void test_loop_of_files(void** unused)
{
    (void)unused;
    static const char* const names[] = {"step_0.obj", "step_1.obj", "step_2.obj", "step_3.obj"};
    static const double heights[] = {0, 1, 3, 0}; // the last is the first once more
    for (int k = 0; k < 4; k++)
    {
        char text[200];
        int size =
            snprintf(text, sizeof(text), "v 0 %g 0\nv 1 %g 0\nv 0 %g 1\nf 1 2 3\n", heights[k], heights[k], heights[k]);
        scene_write_bytes(scene_path(names[k]), text, (size_t)size);
    }
    weft_sim* sim =
        scene_sim_text(SCENE_WITH("\"obj\": \"step_0.obj\"",
                                  ", \"deform\": {\"obj_sequence\": \"step_%d.obj\", \"first\": 0, \"last\": "
                                  "3, \"rate\": 10, \"loop\": true, \"speed\": 2, \"offset\": 0.1}"),
                       1);
    assert_near(corner_at(sim, 0.0, 0), 0, 1, 0, 1e-6);
    assert_near(corner_at(sim, 0.05, 0), 0, 3, 0, 1e-6);
    assert_near(corner_at(sim, 0.10, 0), 0, 0, 0, 1e-6);
    assert_near(corner_at(sim, 0.15, 0), 0, 1, 0, 1e-6);
    assert_near(corner_at(sim, 1.525, 0), 0, 2, 0, 1e-5);
    weft_sim_destroy(sim);
    // As many as the scene says.
    sim = scene_sim_text(SCENE_WITH("\"obj\": \"step_0.obj\"",
                                    ", \"deform\": {\"obj_sequence\": \"step_%d.obj\", \"first\": 0, \"last\": 3, "
                                    "\"rate\": 10, \"loop\": 2}"),
                         1);
    assert_near(corner_at(sim, 0.3, 0), 0, 1, 0, 1e-6);
    assert_near(corner_at(sim, 0.4, 0), 0, 0, 0, 1e-6);
    weft_sim_destroy(sim);
}

// The run's copy of a body that repeats, run again, gives the same bytes; so does a run that stops and goes on.
static void test_copy(void** unused)
{
    (void)unused;
    write_turning("turn.gltf");
    const char* text = SCENE_WITH("\"gltf\": \"turn.gltf\"", ", \"deform\": {\"animation\": \"rise\", \"loop\": true, "
                                                             "\"offset\": 0.05}");
    scene_write_bytes(scene_path("loop.json"), text, strlen(text));
    assert_int_equal(test_shell(scene_folder, "\"$WEFT\" run loop.json --frames 20 -o one >one.log 2>&1"), 0);
    assert_int_equal(test_shell(scene_folder, "\"$WEFT\" run one/scene.json --frames 20 -o two >two.log 2>&1"), 0);
    assert_int_equal(test_shell(scene_folder, "\"$WEFT\" run loop.json --frames 7 -o part >part.log 2>&1"), 0);
    assert_int_equal(test_shell(scene_folder, "\"$WEFT\" run loop.json --frames 20 -o part --resume >more.log 2>&1"),
                     0);
    assert_int_equal(test_shell(scene_folder, "cmp one/body.pc2 two/body.pc2 && cmp one/body.pc2 part/body.pc2 && cmp "
                                              "one/body.motion.pc2 two/body.motion.pc2"),
                     0);
    assert_int_equal(test_shell(scene_folder, "grep -q 'at most' one.log"), 0);
}

// ---- what is wrong

typedef struct wrong_file
{
    const char* from; // text of the good file
    const char* to;
    const char* word; // of the message
} wrong_file;

static const wrong_file wrongs[] = {
    {"\"version\": \"2.0\"", "\"version\": \"1.0\"", "asset.version: this is glTF version 1.0; glTF 2.0 is read"},
    {"made.bin", "lost.bin", "buffers.0.uri: the buffer `lost.bin`, which belongs beside the file"},
    {"made.bin", "https://example.org/made.bin", "put it beside the file"},
    {"\"uri\": \"made.bin\"", "\"name\": \"x\"", "buffers.0: the buffer has no \"uri\""},
    {"made.bin", "data:application/octet-stream;base64,AAAA", "are there: it is cut short"},
    {"made.bin", "data:application/octet-stream;base64,A?AA", "no base64"},
    {"\"POSITION\": 0", "\"NORMAL\": 0", "meshes.0.primitives.0: the primitive has no POSITION"},
    {"\"POSITION\": 0", "\"POSITION\": 77", "there is no 77 in the file's 5 accessors"},
    {"\"primitives\": [{", "\"primitives\": [{\"mode\": 1, ", "no triangle in its scene"},
    {"\"mesh\": 0", "\"camera\": 0", "no triangle in its scene"},
    {"\"mesh\": 0", "\"mesh\": 0, \"children\": [0]", "their own ancestors"},
    {"\"mesh\": 0", "\"mesh\": 0, \"skin\": 0", "there is no 0 in the file's 0 skin"},
    {"\"mesh\": 0", "\"mesh\": 0, \"matrix\": [1]", "a list of 16 numbers"},
    {"\"mesh\": 0", "\"mesh\": 0, \"matrix\": [1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1]", "placed by a \"matrix\""},
    {"\"count\": 3", "\"count\": 3000", "export the file again"},
    {"\"count\": 3", "\"count\": -1", "make it coarser"},
    {"\"componentType\": 5126, \"count\": 3", "\"componentType\": 5127, \"count\": 3", "from 5120 to 5126"},
    {"\"type\": \"VEC3\"", "\"type\": \"VEC4\"", "expected 3 numbers an element here, found 4"},
    {"\"interpolation\": \"LINEAR\"", "\"interpolation\": \"WAVY\"", "LINEAR, STEP and CUBICSPLINE"},
    {"\"interpolation\": \"LINEAR\"", "\"interpolation\": \"CUBICSPLINE\"", "2 values where 2 keys need 6"},
    {"\"path\": \"rotation\"", "\"path\": \"scale\"", "expected 3 numbers an element here, found 4"},
    {"\"input\": 1", "\"input\": 2", "expected 1 numbers an element"},
    {"\"asset\"", "\"extensionsRequired\": [\"KHR_draco_mesh_compression\"], \"asset\"",
     "export it without compression"},
    {"\"asset\"", "\"animations\": [], \"asset\"", "JSON"},
    {"{\"asset\"", "[", "JSON"},
};

// The text with its first `from` as `to`.
static void spoil(const char* text, const wrong_file* w, char* out, size_t size)
{
    const char* at = strstr(text, w->from);
    assert_non_null(at);
    int length = snprintf(out, size, "%.*s%s%s", (int)(at - text), text, w->to, at + strlen(w->from));
    assert_true(length > 0 && (size_t)length < size);
}

static void test_wrong_files(void** unused)
{
    (void)unused;
    static char good[20000], bad[20000];
    write_turning("turn.gltf");
    const char* with_word = gltf_json(ONE_NODE ", " ONE_MESH ", " TURN, "\"made.bin\"");
    const wrong_file named = {"\"output\": 2}", "\"output\": 2, \"interpolation\": \"LINEAR\"}", ""};
    spoil(with_word, &named, good, sizeof(good));
    for (size_t k = 0; k < sizeof(wrongs) / sizeof(wrongs[0]); k++)
    {
        spoil(good, &wrongs[k], bad, sizeof(bad));
        scene_write_bytes(scene_path("bad.gltf"), bad, strlen(bad));
        gltf_options options = {NULL, "turn", -1};
        gltf_body* body = NULL;
        weft_error error = {0};
        weft_status status = gltf_body_read(scene_path("bad.gltf"), &options, &body, &error);
        if (status != WEFT_BAD_INPUT || !strstr(error.message, wrongs[k].word) || !strstr(error.file, "bad.gltf"))
        {
            fail_msg("%s -> %s: status %d, %s", wrongs[k].from, wrongs[k].to, status, error.message);
        }
    }
}

// Weights that are missing, negative, of joints that are not there, or all zero.
static void test_wrong_weights(void** unused)
{
    (void)unused;
    static const struct
    {
        float weight;
        uint8_t joint;
        const char* word;
    } cases[] = {
        {0.0f, 0, "add up to 0: it hangs on no joint"},
        {-0.5f, 0, "by the weight -0.5"},
        {1.0f, 7, "hangs on joint 7 of 1"},
    };
    for (int k = 0; k < 3; k++)
    {
        const float weights[] = {1, 0, 0, 0, cases[k].weight, 0, 0, 0, 1, 0, 0, 0};
        const uint8_t joints[] = {0, 0, 0, 0, cases[k].joint, 0, 0, 0, 0, 0, 0, 0};
        gltf_begin();
        gltf_add_floats(triangle, 3, "VEC3", 3);
        gltf_add_bytes(joints, 12, 5121, 3, "VEC4", 0, "");
        gltf_add_floats(weights, 3, "VEC4", 4);
        gltf_write("skin.gltf", "\"nodes\": [{\"mesh\": 0, \"skin\": 0}], \"skins\": [{\"joints\": [0]}], \"meshes\": "
                                "[{\"primitives\": [{\"attributes\": {\"POSITION\": 0, \"JOINTS_0\": 1, \"WEIGHTS_0\": "
                                "2}}]}]");
        scene_refused(SCENE_WITH("\"gltf\": \"skin.gltf\"", ""), cases[k].word);
        scene_refused(SCENE_WITH("\"gltf\": \"skin.gltf\"", ""), "vertex 1 (counted from 0)");
    }
}

static void test_wrong_scenes(void** unused)
{
    (void)unused;
    static const struct
    {
        const char *text, *word;
    } cases[] = {
        {SCENE_WITH("\"gltf\": \"none.glb\"", ""), "paths are relative to the scene file"},
        {SCENE_WITH("\"gltf\": \"turn.gltf\", \"object\": \"skim\"", ""), "did you mean `skin`?"},
        {SCENE_WITH("\"gltf\": \"turn.gltf\", \"weld\": 0.1", ""), "one anyway; remove this key"},
        {SCENE_WITH("\"gltf\": \"turn.gltf\", \"obj\": \"a.obj\"", ""), "not both"},
        {SCENE_WITH("\"gltf\": \"turn.gltf\"", ", \"deform\": {\"animation\": \"trun\"}"),
         "deform.animation: turn.gltf: there is no animation `trun` in the file; it has 0 `turn`, 1 `rise`"},
        {SCENE_WITH("\"gltf\": \"turn.gltf\"", ", \"deform\": {\"animation\": 5}"), "there is no animation 5"},
        {SCENE_WITH("\"gltf\": \"turn.gltf\"", ", \"deform\": {\"animation\": 0, \"rate\": 30}"),
         "is below 100, four samples a frame"},
        {SCENE_WITH("\"gltf\": \"turn.gltf\"", ", \"deform\": {\"animation\": 0, \"rate\": 1e9}"), "at most 1000000"},
        {SCENE_WITH("\"gltf\": \"turn.gltf\"", ", \"deform\": {\"animation\": 0, \"offset\": 3}"),
         "lies behind the end"},
        {SCENE_WITH("\"gltf\": \"turn.gltf\"", ", \"deform\": {\"animation\": 0, \"pc2\": \"a.pc2\"}"), "one of them"},
        {"{\"cloth\": [{\"mesh\": {\"gltf\": \"turn.gltf\"}}]}", "only an obstacle's mesh is a glTF file"},
    };
    write_turning("turn.gltf");
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++)
    {
        scene_refused(cases[k].text, cases[k].word);
    }
}

// ---- damage

// Reads it whatever it is; a body that comes of it can be posed. What reading may take is bounded by the sanitizers'
// and the test's time limits.
static void read_anything(const char* name)
{
    gltf_options options = {NULL, NULL, 0};
    gltf_body* body = NULL;
    weft_error error = {0};
    weft_status status = gltf_body_read(scene_path(name), &options, &body, &error);
    if (status != WEFT_OK)
    {
        assert_true(error.message[0] != '\0');
        return;
    }
    vec3* x = malloc((size_t)body->vertex_count * sizeof(vec3) + 1);
    gltf_pose(body, 0.3, x);
    mesh m = {0};
    assert_int_equal(gltf_mesh(body, name, 0.7, &m, &error), WEFT_OK);
    mesh_split(&m, &error);
    mesh_finish(&m);
    free(x);
    gltf_body_destroy(body);
}

// A GLB that is cut at every byte, and one with bytes, digits and marks changed here and there.
static void test_damage(void** unused)
{
    (void)unused;
    static char glb[70000], spoilt[70000];
    const char* rounds_text = getenv("WEFT_TEST_ROUNDS");
    int rounds = rounds_text ? atoi(rounds_text) : 2000;
    write_turning("turn.gltf");
    size_t size = gltf_glb(ONE_NODE ", " ONE_MESH ", " TURN, glb);
    for (size_t k = 0; k < size; k++)
    {
        scene_write_bytes(scene_path("cut.glb"), glb, k);
        gltf_options options = {NULL, NULL, 0};
        gltf_body* body = NULL;
        weft_error error = {0};
        assert_int_not_equal(gltf_body_read(scene_path("cut.glb"), &options, &body, &error), WEFT_OK);
    }
    uint64_t counter = 7;
    for (int k = 0; k < rounds; k++)
    {
        static const char digits[] = "0123456789-.e[]{},:\"";
        memcpy(spoilt, glb, size);
        for (int n = 1 + k % 4; n > 0; n--)
        {
            size_t at = (size_t)test_random(&counter, 0.0, (double)size);
            spoilt[at] = k % 2 ? (char)test_random(&counter, 0.0, 256.0)
                               : digits[(int)test_random(&counter, 0.0, sizeof(digits) - 1.0)];
        }
        scene_write_bytes(scene_path("spoilt.glb"), spoilt, size);
        read_anything("spoilt.glb");
    }
}

// Each allocation fails in turn, until none is left to fail: nothing leaks, and the status says why.
static void test_no_memory(void** unused)
{
    (void)unused;
    write_turning("turn.gltf");
    bool done = false;
    for (int k = 1; !done; k++)
    {
        test_ledger ledger = {.fail_at = k};
        gltf_options options = {NULL, "rise", -1};
        gltf_body* body = NULL;
        weft_error error = {0};
        mesh m = {0};
        test_ledger_open(&ledger);
        weft_status status = gltf_body_read(scene_path("turn.gltf"), &options, &body, &error);
        status = status == WEFT_OK ? gltf_mesh(body, "turn.gltf", 0.0, &m, &error) : status;
        mesh_finish(&m);
        gltf_body_destroy(body);
        done = ledger.made < k;
        int live = ledger.live;
        test_ledger_close();
        assert_int_equal(live, 0);
        assert_int_equal(status, done ? WEFT_OK : WEFT_NO_MEMORY);
    }
}

// ---- a human

static char* slurp(const char* path, size_t* size)
{
    void* bytes = NULL;
    weft_error error;
    char* copy = NULL;
    if (file_read(path, &bytes, size, &error) == WEFT_OK)
    {
        copy = malloc(*size + 1);
        memcpy(copy, bytes, *size);
        copy[*size] = '\0';
        mem_free(bytes);
    }
    return copy;
}

static const char* human(void)
{
    static char path[512];
    const char* data = getenv("WEFT_TEST_DATA");
    snprintf(path, sizeof(path), "%s/body/CesiumMan.gltf", data ? data : WEFT_SOURCE_DIR "/../shared/data");
    return access(path, R_OK) == 0 ? path : NULL;
}

// CesiumMan: closed when welded, upright, on its feet at all times, arms and legs moving.
static void test_human(void** unused)
{
    (void)unused;
    const char* path = human();
    if (!path)
    {
        print_message("skipped: CesiumMan.gltf is not there\n");
        skip();
    }
    gltf_options options = {NULL, NULL, 0};
    gltf_body* body = NULL;
    weft_error error = {0};
    assert_int_equal(gltf_body_read(path, &options, &body, &error), WEFT_OK);
    assert_int_equal(body->vertex_count, 2338);
    assert_int_equal(body->notes.welded, 3273 - 2338);
    assert_int_equal(body->notes.uneven_count, 0);
    vec3 first[2338], x[2338];
    double travelled = 0.0;
    gltf_pose(body, body->begin, first);
    for (int k = 0; k <= 48; k++)
    {
        double low = HUGE_VAL, high = -HUGE_VAL;
        gltf_pose(body, k / 24.0, x);
        for (int v = 0; v < body->vertex_count; v++)
        {
            low = fmin(low, x[v].y);
            high = fmax(high, x[v].y);
            travelled = fmax(travelled, v3_length(v3_sub(x[v], first[v])));
        }
        assert_true(low > -0.08 && low < 0.15 && high > 1.35 && high < 1.65);
    }
    assert_true(travelled > 0.4);
    mesh m;
    assert_int_equal(gltf_mesh(body, path, 0.5, &m, &error), WEFT_OK);
    assert_int_equal(mesh_split(&m, &error), WEFT_OK);
    mesh_defects defects;
    assert_int_equal(mesh_find_defects(&m, &defects), WEFT_OK);
    assert_true(defects_are_closed(&defects));
    assert_string_equal(m.object_name[0], "Cesium_Man");
    mesh_finish(&m);
    gltf_body_destroy(body);
}

// Its JSON with characters changed, its buffer with bytes changed.
static void test_damaged_human(void** unused)
{
    (void)unused;
    const char* path = human();
    const char* rounds_text = getenv("WEFT_TEST_ROUNDS");
    int rounds = rounds_text ? atoi(rounds_text) / 4 : 60;
    size_t json_size, bin_size;
    char bin_path[600];
    if (!path)
    {
        print_message("skipped: CesiumMan.gltf is not there\n");
        skip();
    }
    char* json = slurp(path, &json_size);
    snprintf(bin_path, sizeof(bin_path), "%.*sCesiumMan_data.bin", (int)(strrchr(path, '/') - path) + 1, path);
    char* bin = slurp(bin_path, &bin_size);
    assert_true(json && bin);
    uint64_t counter = 11;
    for (int k = 0; k < rounds; k++)
    {
        static const char digits[] = "0123456789";
        char* text = k % 3 == 0 ? bin : json;
        size_t size = k % 3 == 0 ? bin_size : json_size, place[8];
        char before[8];
        for (int n = 0; n < 8; n++)
        {
            place[n] = (size_t)test_random(&counter, 0.0, (double)size);
            before[n] = text[place[n]];
            // In the JSON a digit for a digit, so that it stays one.
            bool is_digit = before[n] >= '0' && before[n] <= '9';
            text[place[n]] = k % 3 == 0   ? (char)test_random(&counter, 0.0, 256.0)
                             : is_digit   ? digits[(int)test_random(&counter, 0.0, 10.0)]
                             : k % 3 == 1 ? before[n]
                                          : (char)test_random(&counter, 32.0, 127.0);
        }
        scene_write_bytes(scene_path("CesiumMan_data.bin"), bin, bin_size);
        scene_write_bytes(scene_path("man.gltf"), json, json_size);
        read_anything("man.gltf");
        for (int n = 7; n >= 0; n--)
        {
            text[place[n]] = before[n];
        }
    }
    free(json);
    free(bin);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_error),         cmocka_unit_test(test_speed_and_offset),
        cmocka_unit_test(test_loop),          cmocka_unit_test(test_loop_of_files),
        cmocka_unit_test(test_copy),          cmocka_unit_test(test_wrong_files),
        cmocka_unit_test(test_wrong_weights), cmocka_unit_test(test_wrong_scenes),
        cmocka_unit_test(test_damage),        cmocka_unit_test(test_human),
        cmocka_unit_test(test_damaged_human), cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
