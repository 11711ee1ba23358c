// Every method of the table on one dirty scene: an OBJ mesh of irregular triangles whose sizes differ by ten, hence
// vertices whose masses do by a hundred, with a third that is softer and heavier and a corner that is stiffer
// (regions), hangs by a pin that moves and drapes over a sphere with friction; a heavier, stiffer patch falls onto it,
// so that cloth meets cloth. Strain is bounded, so
// that steps are thrown away and halved. A run on one thread and a run on eight that was killed and resumed have the
// same bytes, and nothing crosses.
#define _GNU_SOURCE
#include "common.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common_command.h"
#include "common_run.h"
#include "common_scene.h"
#include "material/spring.h"
#include "sim/sim.h"
#include "step/march.h"

enum
{
    SIDE = 13, // vertices
    FRAMES = 4,
    FRAME_STEPS = 10
};

static const char scene_text[] =
    "{\"time_step\": %g, \"steps_per_frame\": %d, \"frames\": 4, \"model\": \"hooke\", \"method\": \"%s\","
    " \"solver\": \"diag-ppcg\", \"step_control\": {\"max_strain\": 0.1, \"max_halvings\": 2},"
    " \"contact\": {\"friction\": 0.4, \"thickness\": 0.002}, \"cloth\": ["
    "{\"name\": \"sheet\", \"mesh\": {\"obj\": \"graded.obj\"}, \"transform\": {\"translate\": [0.01, 0.2035, 0.02]},"
    " \"material\": {\"density\": 0.2, \"stretch_warp\": 60, \"stretch_weft\": 40, \"shear\": 15, \"bending\": 1e-6,"
    " \"damping\": 0.0001},"
    " \"regions\": [{\"where\": {\"box\": {\"min\": [-1, -1, -1], \"max\": [-0.05, 1, 1]}}, \"material\": "
    "{\"density\": 0.4, \"stretch_warp\": 30, \"stretch_weft\": 30}}, {\"where\": {\"box\": {\"min\": [0, -1, 0], "
    "\"max\": [1, 1, 1]}}, \"material\": {\"stretch_warp\": 120, \"bending\": 1e-5}}],"
    " \"pins\": [{\"where\": {\"vertices\": [0]}, \"path\": [{\"time\": 0}, {\"time\": 0.1, \"offset\": [0.01, 0.02, "
    "0]}]}]},"
    "{\"name\": \"patch\", \"mesh\": {\"grid\": {\"size\": [0.12, 0.1], \"cells\": 4}},"
    " \"transform\": {\"rotate\": [3, 30, 0], \"translate\": [0, 0.209, 0]},"
    " \"material\": {\"density\": 0.6, \"stretch_warp\": 300, \"stretch_weft\": 300, \"shear\": 60, \"bending\": 1e-5,"
    " \"damping\": 0.0001}}],"
    " \"obstacles\": [{\"name\": \"sphere\", \"shape\": {\"sphere\": {\"radius\": 0.2, \"segments\": 24}}}]}";

// A grid whose lines come closer to each other by the factor ten, shaken, with diagonals this way and that.
static void write_mesh(void)
{
    char text[32768];
    int at = 0;
    uint64_t n = 3;
    for (int k = 0; k < SIDE * SIDE; k++)
    {
        double u = k % SIDE / (double)(SIDE - 1), v = k / SIDE / (double)(SIDE - 1);
        double x = 0.4 * (pow(10.0, u) - 1.0) / 9.0 - 0.2, z = 0.4 * v - 0.2;
        double shake = 0.15 * 0.4 * pow(10.0, u) * log(10.0) / 9.0 / (SIDE - 1);
        vec3 r = test_random_vec(&n, 1.0);
        at += snprintf(text + at, sizeof(text) - (size_t)at, "v %.6f 0 %.6f\n", x + shake * r.x, z + 0.005 * r.z);
    }
    for (int k = 0; k < (SIDE - 1) * (SIDE - 1); k++)
    {
        int a = k / (SIDE - 1) * SIDE + k % (SIDE - 1) + 1, b = a + 1, c = a + SIDE, d = c + 1;
        bool turned = test_random(&n, 0, 1) < 0.5;
        at += turned ? snprintf(text + at, sizeof(text) - (size_t)at, "f %d %d %d\nf %d %d %d\n", a, c, d, a, d, b)
                     : snprintf(text + at, sizeof(text) - (size_t)at, "f %d %d %d\nf %d %d %d\n", a, c, b, b, c, d);
    }
    scene_write_bytes(scene_path("graded.obj"), text, (size_t)at);
}

static void write_scene(const char* method)
{
    char text[4096];
    bool fine = strcmp(method, "explicit") == 0; // which has no other way to be stable
    int size =
        snprintf(text, sizeof(text), scene_text, fine ? 2e-4 : 2e-3, fine ? 10 * FRAME_STEPS : FRAME_STEPS, method);
    scene_write_bytes(scene_path("scene.json"), text, (size_t)size);
}

static int lines_of(const char* path)
{
    FILE* f = fopen(path, "r");
    int lines = 0;
    for (int c; f && (c = fgetc(f)) != EOF;)
    {
        lines += c == '\n';
    }
    f ? fclose(f) : 0;
    return lines;
}

// Eight threads, killed by signal 9 after some steps.
static bool run_and_kill(const char* scene, const char* dir, int steps)
{
    char stats[512];
    snprintf(stats, sizeof(stats), "%s/stats.jsonl", dir);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
    {
        execl(WEFT_COMMAND, "weft", "run", scene, "-o", dir, "--threads", "8", "--json", (char*)NULL);
        _exit(127);
    }
    int status = 0;
    while (lines_of(stats) < steps && waitpid(pid, &status, WNOHANG) == 0)
    {
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    kill(pid, SIGKILL);
    return waitpid(pid, &status, 0) == pid && WIFSIGNALED(status);
}

static double largest_of(const char* dir, const char* key)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/stats.jsonl", dir);
    size_t size;
    char* text = test_file_read(scene_path(path), &size);
    double largest = 0.0;
    for (char* at = text; (at = strstr(at, key)) != NULL;)
    {
        at += strlen(key) + 1;
        largest = fmax(largest, strtod(at, NULL));
    }
    free(text);
    return largest;
}

static void test_table(void** unused)
{
    (void)unused;
    write_mesh();
    for (const method_row* row = method_table; row->method; row++)
    {
        char scene[512], dir[512];
        write_scene(row->method->name);
        command_succeeds(WEFT_COMMAND, "check scene.json");
        command_succeeds(WEFT_COMMAND, "run scene.json -o whole --threads 1 --force --json");
        snprintf(scene, sizeof(scene), "%s", scene_path("scene.json"));
        snprintf(dir, sizeof(dir), "%s", scene_path("pieces"));
        command_succeeds("rm", "-rf pieces");
        bool killed = run_and_kill(scene, dir, FRAMES * FRAME_STEPS / 2 + 2);
        command_succeeds(WEFT_COMMAND, "run pieces/scene.json --resume --threads 8 --json");
        assert_same_file("whole", "pieces", "sheet.pc2");
        assert_same_file("whole", "pieces", "patch.pc2");
        assert_same_file("whole", "pieces", "checkpoint.weft");
        command_succeeds(WEFT_COMMAND, "inspect whole");
        print_message("%-14s %s, %g contacts, %g rejected, %g forced, stretch %.3f\n", row->method->name,
                      killed ? "killed" : "ended before the kill", largest_of("whole", "\"contacts\""),
                      largest_of("whole", "\"rejected\""), largest_of("whole", "\"forced\""),
                      largest_of("whole", "\"max_stretch\""));
        assert_true(largest_of("whole", "\"contacts\"") > 20);
        assert_true(largest_of("whole", "\"max_stretch\"") < 1.5);
    }
}

// ---- the split

static const march_data* march_of(const weft_sim* sim)
{
    return sim->world.method.data;
}

// In one step of aimex springs of stretch are explicit where vertices are heavy and implicit where they are light.
static void test_split_in_space(void** unused)
{
    (void)unused;
    write_mesh();
    write_scene("aimex");
    weft_scene* scene = NULL;
    weft_error error = {0};
    weft_sim* sim = NULL;
    assert_int_equal(weft_scene_load(scene_path("scene.json"), NULL, 0, &scene, &error), WEFT_OK);
    assert_int_equal(weft_scene_create_sim(scene, 1, &sim, &error), WEFT_OK);
    weft_step_stats stats;
    for (int k = 0; k < 5; k++)
    {
        assert_int_equal(weft_sim_step(sim, &stats, &error), WEFT_OK);
    }
    int count[2] = {0};
    const march_data* d = march_of(sim);
    for (int g = 0; d && g < sim->model.groups.count; g++)
    {
        const element_group* group = &sim->model.groups.list[g];
        for (int e = 0; e < group->count; e++)
        {
            bool stretch = group->kind == &kind_spring && role_of_element(group, e) == ROLE_STRETCH;
            count[0] += stretch && d->split.flags[g][e] == ELEMENT_IMPLICIT;
            count[1] += stretch && d->split.flags[g][e] == ELEMENT_EXPLICIT;
        }
    }
    print_message("aimex: %d springs of stretch implicit, %d explicit\n", count[0], count[1]);
    assert_true(count[0] > 10 && count[1] > 10);
    weft_sim_destroy(sim);
    weft_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_split_in_space),
    };
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
