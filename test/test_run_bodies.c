// Folders of runs whose bodies come, go and tear: what the writer makes of them, what readers and commands see in each
// frame, and that a run which is resumed from any of its checkpoints ends with the same files.
#define _GNU_SOURCE
#include "common.h"
#include "common_edits.h"
#include "common_run.h"
#include "common_scene.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mesh/pc2_file.h"
#include "weft/cache.h"

enum
{
    FRAMES = 7,
    STEPS = 2, // a frame
    POINTS_MAX = 64
};

// What happens after a step; the simulation has taken so many.
typedef void act_fn(weft_sim* sim, int step);

static char dir[512];

// ---- a cloth that tears: a toy, as no method does yet

// One more vertex is shown, where another is; nothing of the simulation changes.
static void toy_tear(weft_sim* sim, int from)
{
    body* b = &sim->bodies[0];
    int count = b->output_count;
    int* outputs = mem_alloc((size_t)count + 1, sizeof(int));
    int* torn = mem_alloc((size_t)b->torn_count + 1, sizeof(int));
    assert_true(outputs && torn);
    for (int k = 0; k < count; k++)
    {
        outputs[k] = b->outputs ? b->outputs[k] : k;
    }
    b->torn_count > 0 ? memcpy(torn, b->torn_from, (size_t)b->torn_count * sizeof(int)) : NULL;
    outputs[count] = outputs[from];
    torn[b->torn_count++] = from;
    mem_free(b->outputs);
    mem_free(b->torn_from);
    b->outputs = outputs;
    b->torn_from = torn;
    b->output_count++;
    b->topology++;
}

// Two tears before frame 2, where the second follows the first; one before frame 5; one that adds nothing before 6.
static void tear(weft_sim* sim, int step)
{
    if (step == 2)
    {
        toy_tear(sim, 3);
    }
    if (step == 3)
    {
        toy_tear(sim, 16);
    }
    if (step == 9)
    {
        toy_tear(sim, 5);
    }
    sim->bodies[0].topology += step == 10;
}

// ---- bodies that come and go

// `late` and `board` come within frame 2, the scene's `patch` goes with frame 4 and the first `late` with frame 5;
// another `late` comes with frame 5; `brief` lives between two frames. `still` is an obstacle that does not move.
static void come_and_go(weft_sim* sim, int step)
{
    vec3 x[4];
    weft_obstacle_def still = weft_obstacle_def_default();
    edits_square_at(v3(1, 0, 0), 0.2, x);
    still.name = "still", still.positions = x, still.vertex_count = 4;
    still.face_vertices = edits_square_faces, still.face_count = 2;
    if (step == 3)
    {
        assert_int_equal(edits_add_square(sim, "late", v3(0, 0.2, 0), NULL, NULL), WEFT_OK);
        assert_int_equal(edits_add_floor(sim, "board", v3(0, -0.5, 0), NULL, NULL), WEFT_OK);
        assert_int_equal(weft_sim_add_obstacle(sim, &still, NULL, NULL), WEFT_OK);
    }
    if (step == 6)
    {
        assert_int_equal(weft_sim_remove_cloth(sim, 1, NULL), WEFT_OK);
        assert_int_equal(edits_add_square(sim, "brief", v3(0, 0.4, 0), NULL, NULL), WEFT_OK);
    }
    if (step == 7)
    {
        assert_int_equal(weft_sim_remove_cloth(sim, 3, NULL), WEFT_OK);
    }
    if (step == 8)
    {
        assert_int_equal(weft_sim_remove_cloth(sim, 2, NULL), WEFT_OK);
        assert_int_equal(edits_add_square(sim, "late", v3(0, 0.3, 0), NULL, NULL), WEFT_OK);
        assert_int_equal(weft_sim_remove_obstacle(sim, 2, NULL), WEFT_OK);
    }
}

static void do_nothing(weft_sim* sim, int step)
{
    (void)sim;
    (void)step;
}

// ---- runs

static weft_cache_writer* writer_of(weft_sim* sim, weft_cache_mode mode)
{
    weft_cache_writer* writer = NULL;
    weft_error error = {0};
    if (weft_cache_writer_create(dir, mode, edits_busy, STEPS, sim, &writer, &error) != WEFT_OK)
    {
        fail_msg("%s: %s", error.file, error.message);
    }
    return writer;
}

static void shell(const char* format, ...)
{
    char line[1024];
    va_list words;
    va_start(words, format);
    vsnprintf(line, sizeof(line), format, words);
    va_end(words);
    if (test_shell(scene_folder, line) != 0)
    {
        fail_msg("%s", line);
    }
}

// Goes on to the last frame; keeps the checkpoint of each frame.
static void play(weft_sim* sim, weft_cache_writer* writer, act_fn* act, bool keep)
{
    weft_step_stats stats;
    weft_error error = {0};
    keep ? shell("cp run/checkpoint.weft run/checkpoint.0") : (void)0;
    for (int step = (int)weft_sim_step_count(sim); step < STEPS * (FRAMES - 1); step++)
    {
        act(sim, step);
        assert_int_equal(weft_sim_step(sim, &stats, NULL), WEFT_OK);
        if (weft_cache_writer_step(writer, sim, &stats, &error) != WEFT_OK)
        {
            fail_msg("%s: %s", error.file, error.message);
        }
        keep && (step + 1) % STEPS == 0 ? shell("cp run/checkpoint.weft run/checkpoint.%d", (step + 1) / STEPS)
                                        : (void)0;
    }
    assert_int_equal(weft_cache_writer_destroy(writer, NULL), WEFT_OK);
}

static void run_whole(act_fn* act)
{
    snprintf(dir, sizeof(dir), "%s", scene_path("run"));
    shell("rm -rf run");
    weft_sim* sim = scene_sim_text(edits_busy, 1);
    play(sim, writer_of(sim, WEFT_CACHE_NEW), act, true);
    weft_sim_destroy(sim);
}

// From the checkpoint of each frame, with the files as they were at the end.
static void resumes_alike(act_fn* act, act_fn* before)
{
    run_whole(act);
    for (int frame = 0; frame < FRAMES; frame++)
    {
        shell("rm -rf whole && cp -r run whole && cp whole/checkpoint.%d run/checkpoint.weft", frame);
        weft_sim* sim = scene_sim_text(edits_busy, 1);
        for (int step = 0; step < STEPS * frame && before; step++)
        {
            before(sim, step);
        }
        weft_cache_writer* writer = writer_of(sim, WEFT_CACHE_RESUME);
        assert_int_equal(weft_sim_step_count(sim), STEPS * frame);
        play(sim, writer, act, false);
        weft_sim_destroy(sim);
        shell("diff -r -x stats.jsonl -x run.lock run whole"); // stats have times
    }
}

static weft_cache* open_well(void)
{
    weft_cache* cache = NULL;
    weft_error error = {0};
    if (weft_cache_open(dir, &cache, &error) != WEFT_OK)
    {
        fail_msg("%s:%d: %s", error.file, error.line, error.message);
    }
    assert_int_equal(weft_cache_check_bodies(dir, cache, NULL), WEFT_OK);
    assert_int_equal(weft_cache_check_samples(dir, cache, NULL), WEFT_OK);
    assert_int_equal(weft_cache_frame_count(cache), FRAMES);
    return cache;
}

// ---- what is there

static void each_frame_has_its_bodies(void** unused)
{
    (void)unused;
    static const struct
    {
        const char* name;
        int obstacle, still, from, until;
    } wanted[] = {{"sheet", 0, 0, 0, INT32_MAX}, {"patch", 0, 0, 0, 4},         {"ball", 1, 1, 0, INT32_MAX},
                  {"late", 0, 0, 2, 5},          {"board", 1, 0, 2, INT32_MAX}, {"still", 1, 1, 2, 5},
                  {"late-2", 0, 0, 5, INT32_MAX}};
    run_whole(come_and_go);
    weft_cache* cache = open_well();
    assert_int_equal(weft_cache_body_count(cache), 7);
    for (int b = 0; b < 7; b++)
    {
        const weft_cache_body* body = weft_cache_body_at(cache, b);
        assert_string_equal(body->name, wanted[b].name);
        assert_int_equal(body->obstacle, wanted[b].obstacle);
        assert_int_equal(body->still, wanted[b].still);
        assert_int_equal(body->from, wanted[b].from);
        assert_int_equal(body->until, wanted[b].until);
        assert_true(body->from == 0 || body->thickness > 0.0); // the scene as written by hand says nothing
        for (int frame = 0; frame < FRAMES; frame++)
        {
            assert_int_equal(weft_cache_present(cache, b, frame), frame >= body->from && frame < body->until);
        }
    }
    weft_cache_close(cache);
}

// Positions are the simulation's; where a body is not there, those of the nearest frame.
static void positions_are_the_simulations(void** unused)
{
    (void)unused;
    run_whole(come_and_go);
    weft_cache* cache = open_well();
    weft_sim* sim = scene_sim_text(edits_busy, 1);
    vec3 x[POINTS_MAX], y[POINTS_MAX], first[4] = {{0, 0, 0}}, last[4] = {{0, 0, 0}};
    for (int frame = 0; frame < FRAMES; frame++)
    {
        const int ids[] = {0, 1, -1, 2, -1, -1, 4};
        for (int b = 0; b < 7; b++)
        {
            if (ids[b] < 0 || !weft_cache_present(cache, b, frame))
            {
                continue;
            }
            weft_sim_positions(sim, ids[b], x);
            assert_int_equal(weft_cache_read_frame(cache, b, frame, y, NULL), WEFT_OK);
            for (int v = 0; v < weft_sim_output_count(sim, ids[b]); v++)
            {
                assert_true((float)x[v].x == (float)y[v].x && (float)x[v].y == (float)y[v].y);
            }
            b == 3 && frame == 2 ? memcpy(first, y, sizeof(first)) : NULL;
            b == 3 && frame == 4 ? memcpy(last, y, sizeof(last)) : NULL;
        }
        for (int step = STEPS * frame; step < STEPS * (frame + 1); step++)
        {
            come_and_go(sim, step);
            weft_sim_checkpoint(sim);
            edits_run(sim, 1);
        }
    }
    assert_int_equal(weft_cache_read_frame(cache, 3, 0, y, NULL), WEFT_OK);
    assert_memory_equal(y, first, sizeof(first));
    assert_int_equal(weft_cache_read_frame(cache, 3, 6, y, NULL), WEFT_OK);
    assert_memory_equal(y, last, sizeof(last));
    weft_sim_destroy(sim);
    weft_cache_close(cache);
}

static void topologies_have_their_copies(void** unused)
{
    (void)unused;
    run_whole(tear);
    weft_cache* cache = open_well();
    assert_int_equal(weft_cache_topology_count(cache, 0), 4);
    static const int starts[] = {0, 2, 5, 6}, counts[] = {16, 18, 19, 19};
    for (int g = 0; g < 4; g++)
    {
        assert_int_equal(weft_cache_topology_start(cache, 0, g), starts[g]);
        assert_int_equal(weft_cache_topology_at(cache, 0, g)->vertex_count, counts[g]);
    }
    // The second tear took its vertex from the first one's, which is in no file before.
    const int* origin = weft_cache_topology_at(cache, 0, 1)->origin;
    assert_true(origin[16] == 3 && origin[17] == 3 && origin[15] == 15);
    assert_int_equal(weft_cache_topology_at(cache, 0, 2)->origin[18], 5);
    vec3 x[POINTS_MAX];
    assert_int_equal(weft_cache_read_frame(cache, 0, 6, x, NULL), WEFT_OK);
    assert_memory_equal(&x[3], &x[17], sizeof(vec3));
    weft_cache_close(cache);
}

// ---- resuming

static void test_resume_come_and_go(void** unused)
{
    (void)unused;
    resumes_alike(come_and_go, NULL);
}

// The toy is in no checkpoint: it is done again by hand.
static void test_resume_tear(void** unused)
{
    (void)unused;
    resumes_alike(tear, tear);
}

static void disagreement_is_refused(void** unused)
{
    (void)unused;
    run_whole(come_and_go);
    shell("cp run/checkpoint.2 run/checkpoint.weft && sed -i /late/d run/frames.jsonl");
    weft_sim* sim = scene_sim_text(edits_busy, 1);
    weft_cache_writer* writer;
    weft_error error = {0};
    assert_int_equal(weft_cache_writer_create(dir, WEFT_CACHE_RESUME, edits_busy, STEPS, sim, &writer, &error),
                     WEFT_BAD_INPUT);
    assert_non_null(strstr(error.message, "do not agree on the body `late`"));
    weft_sim_destroy(sim);
}

// ---- what is in the way

// Files that a killed run has left behind are taken; the user's are not.
static void leftovers_are_taken_and_files_of_others_are_not(void** unused)
{
    (void)unused;
    for (int others = 0; others < 2; others++)
    {
        snprintf(dir, sizeof(dir), "%s", scene_path("run"));
        shell("rm -rf run");
        weft_sim* sim = scene_sim_text(edits_busy, 1);
        weft_cache_writer* writer = writer_of(sim, WEFT_CACHE_NEW);
        test_text_write(dir, "late.obj", others ? "v 0 0 0\n" : "# rest shape of late, metres; made by Weft\nv 0 0");
        test_pc2_write(dir, "late.pc2", 4, 1.0f, 0);
        weft_cache* cache = NULL;
        assert_int_equal(weft_cache_open(dir, &cache, NULL), WEFT_OK);
        assert_int_equal(weft_cache_body_count(cache), 3);
        assert_int_equal(weft_cache_frame_count(cache), 1);
        weft_cache_close(cache);
        assert_int_equal(edits_add_square(sim, "late", v3(0, 0.2, 0), NULL, NULL), WEFT_OK);
        weft_step_stats stats;
        weft_error error = {0};
        weft_status status = WEFT_OK;
        for (int step = 0; step < STEPS && status == WEFT_OK; step++)
        {
            assert_int_equal(weft_sim_step(sim, &stats, NULL), WEFT_OK);
            status = weft_cache_writer_step(writer, sim, &stats, &error);
        }
        assert_int_equal(status, others ? WEFT_EXISTS : WEFT_OK);
        assert_true(!others || strstr(error.message, "no run made it"));
        weft_cache_writer_destroy(writer, NULL);
        weft_sim_destroy(sim);
    }
}

static bool is_there(const char* name)
{
    char path[700];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    return access(path, F_OK) == 0;
}

// A run that replaces another leaves nothing of it; what was edited before it starts is in it from frame 0 on.
static void force_starts_with_what_is_there(void** unused)
{
    (void)unused;
    run_whole(come_and_go);
    assert_true(is_there("late-2.pc2") && is_there("still.obj"));
    weft_sim* sim = scene_sim_text(edits_busy, 1);
    assert_int_equal(weft_sim_remove_cloth(sim, 1, NULL), WEFT_OK);
    assert_int_equal(edits_add_square(sim, "patch", v3(0, 0.2, 0), NULL, NULL), WEFT_OK);
    play(sim, writer_of(sim, WEFT_CACHE_FORCE), do_nothing, false);
    assert_false(is_there("late-2.pc2") || is_there("still.obj") || is_there("late.obj") || is_there("patch.obj"));
    weft_cache* cache = open_well();
    assert_int_equal(weft_cache_body_count(cache), 3);
    const weft_cache_body* body = weft_cache_body_at(cache, 2);
    assert_string_equal(body->name, "patch-2");
    assert_true(body->from == 0 && body->until == INT32_MAX);
    weft_cache_close(cache);
    weft_sim_destroy(sim);
}

// ---- commands

static int weft(const char* words)
{
    char line[1200];
    snprintf(line, sizeof(line), "\"$WEFT\" %s > .out 2> .err", words);
    return test_shell(scene_folder, line);
}

static void commands_follow_the_bodies(void** unused)
{
    (void)unused;
    run_whole(come_and_go);
    assert_int_equal(weft("inspect run --json"), 0);
    assert_int_equal(weft("render run --frame 0 --size 64x64 -o k0.png"), 0);
    assert_int_equal(weft("render run --frame 6 --show strain --edges --size 64x64 -o k6.png"), 0);
    assert_int_equal(weft("view run -o page.html"), 0);
    shell("grep -q '\"from\": *2' page.html && grep -q '\"until\": *5' page.html");
    assert_int_equal(weft("export run --to obj -o o"), 0);
    shell("test ! -e o/late.0001.obj -a -e o/late.0002.obj -a -e o/late.0004.obj -a ! -e o/late.0005.obj");
    shell("test -e o/late-2.0006.obj -a -e o/patch.0003.obj -a ! -e o/patch.0004.obj -a -e o/still.obj");
    assert_int_equal(weft("export run --to vtp -o v"), 0);
    shell("test $(grep -c late-2 v/run.pvd) = 2 -a $(grep -c 'name=\"still\"' v/run.pvd) = 3");
    assert_int_equal(weft("export run --to usda -o u.usda"), 0);
    shell("test $(grep -c invisible u.usda) = 7");
    assert_int_equal(weft("export run --to pc2 -o p"), 0);
    for (const char* const* format = (const char* const[]){"mdd", "ply", "abc", "gltf", NULL}; *format; format++)
    {
        char words[64];
        snprintf(words, sizeof(words), "export run --to %s", *format);
        assert_int_equal(weft(words), 0);
    }
    assert_int_equal(weft("export run --to obj --frames 6 --body patch -o x.obj"), 2);
    shell("grep -q 'in frames 0 to 3' .err");
    assert_int_equal(weft("render run --show strength -o s.png"), 2);
    shell("grep -q 'was added or removed' .err");
    run_whole(tear);
    assert_int_equal(weft("inspect run"), 0);
    assert_int_equal(weft("view run -o page.html"), 0);
}

static void write_square(const char* name, vec3 center, float start, int samples, bool upright)
{
    char path[700];
    vec3 x[4];
    pc2* cache = NULL;
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    edits_square_at(v3(0, 0, 0), 0.1, x);
    for (int v = 0; v < 4; v++)
    {
        x[v] = v3_add(center, upright ? v3(x[v].x, x[v].z, 0.3 * x[v].x) : x[v]);
    }
    assert_int_equal(pc2_create(path, 4, start, &cache, NULL), WEFT_OK);
    for (int k = 0; k < samples; k++)
    {
        assert_int_equal(pc2_append(cache, x, NULL), WEFT_OK);
    }
    pc2_close(cache, NULL);
}

// A crossing of a body that is not there any more is none: `late` and `late-2` are at one place.
static void inspection_looks_at_what_is_there(void** unused)
{
    (void)unused;
    run_whole(come_and_go);
    write_square("late-2.pc2", v3(0.01, 5, 0.01), 5.0f, 2, true);
    write_square("late.pc2", v3(0, 5, 0), 2.0f, 3, false);
    assert_int_equal(weft("inspect run"), 0);
    shell("sed -i 's/\"frame\": 5, \"body\": \"late\"/\"frame\": 6, \"body\": \"late\"/' run/frames.jsonl");
    write_square("late.pc2", v3(0, 5, 0), 2.0f, 4, false);
    assert_int_equal(weft("inspect run"), 1);
    shell("grep -q 'in 1 of 7 frames' .out");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_frame_has_its_bodies),
        cmocka_unit_test(positions_are_the_simulations),
        cmocka_unit_test(topologies_have_their_copies),
        cmocka_unit_test(test_resume_come_and_go),
        cmocka_unit_test(test_resume_tear),
        cmocka_unit_test(disagreement_is_refused),
        cmocka_unit_test(leftovers_are_taken_and_files_of_others_are_not),
        cmocka_unit_test(force_starts_with_what_is_there),
        cmocka_unit_test(commands_follow_the_bodies),
        cmocka_unit_test(inspection_looks_at_what_is_there),
    };
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
