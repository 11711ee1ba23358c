// Bodies as people have them: with a hole, faces twice, loose faces and eyes inside a head; and legs that go through
// each other with cloth between them, which is let go as squeezed and comes back. What `weft inspect` finds is the
// judge.
#define _GNU_SOURCE
#include "common.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common_scene.h"
#include "weft/weft.h"

typedef struct obj
{
    char text[200000];
    size_t size;
    int vertex_count;
} obj;

static void say(obj* o, const char* format, ...) __attribute__((format(printf, 2, 3)));
static void say(obj* o, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(o->text + o->size, sizeof(o->text) - o->size, format, arguments);
    va_end(arguments);
    assert_true(length > 0 && (size_t)length < sizeof(o->text) - o->size);
    o->size += (size_t)length;
}

// A ball of rings and slices; twice: every face a second time, the other way round; rows from `open` on are missing.
static void add_ball(obj* o, vec3 center, double radius, bool twice, int open)
{
    enum
    {
        RINGS = 12,
        SLICES = 20
    };
    for (int r = 0; r <= RINGS; r++)
    {
        for (int s = 0; s < SLICES; s++)
        {
            double polar = PI * (r + 0.5) / (RINGS + 1), around = 2.0 * PI * s / SLICES;
            say(o, "v %.9g %.9g %.9g\n", center.x + radius * sin(polar) * cos(around), center.y + radius * cos(polar),
                center.z - radius * sin(polar) * sin(around));
        }
    }
    for (int s = 1; s < SLICES - 1; s++) // the cap on top
    {
        say(o, "f %d %d %d\n", o->vertex_count + 1, o->vertex_count + 1 + s, o->vertex_count + 2 + s);
    }
    for (int r = 0; r < RINGS && r < open; r++)
    {
        for (int s = 0; s < SLICES; s++)
        {
            int a = o->vertex_count + 1 + SLICES * r + s, b = o->vertex_count + 1 + SLICES * r + (s + 1) % SLICES;
            say(o, "f %d %d %d %d\n", a, a + SLICES, b + SLICES, b);
            twice ? say(o, "f %d %d %d %d\n", a, b, b + SLICES, a + SLICES) : (void)0;
        }
    }
    o->vertex_count += (RINGS + 1) * SLICES;
}

static void write_obj(const obj* o, const char* name)
{
    scene_write_bytes(scene_path(name), o->text, o->size);
}

// A head with a hole below and every face twice, two eyes in it, one of which looks out, and a loose triangle.
static void test_head(void** unused)
{
    (void)unused;
    static obj head;
    head = (obj){0};
    add_ball(&head, v3(0, 0, 0), 0.2, true, 10);
    add_ball(&head, v3(0.05, 0.05, 0.1), 0.03, false, 12);
    add_ball(&head, v3(-0.06, 0.08, 0.165), 0.03, false, 12); // through the wall
    say(&head, "v -0.05 0 0\nv 0.05 0 0\nv 0 0 0.05\nf %d %d %d\n", head.vertex_count + 1, head.vertex_count + 2,
        head.vertex_count + 3);
    write_obj(&head, "head.obj");
    static const char scene[] = "{\"time_step\": 0.005, \"steps_per_frame\": 4, \"frames\": 25, \"cloth\": [{\"name\": "
                                "\"veil\", \"mesh\": {\"grid\": "
                                "{\"cells\": 24, \"size\": 0.7}}, \"transform\": {\"translate\": [0, 0.24, 0.02]}}], "
                                "\"obstacles\": [{\"name\": "
                                "\"head\", \"mesh\": {\"obj\": \"head.obj\"}, \"thickness\": 0.003}]}";
    scene_write_bytes(scene_path("veil.json"), scene, strlen(scene));
    assert_int_equal(test_shell(scene_folder, "\"$WEFT\" run veil.json -o veil >veil.log 2>&1"), 0);
    assert_int_equal(test_shell(scene_folder, "\"$WEFT\" inspect veil >veil.txt 2>&1"), 0);
    // It lies on the head: none of it is squeezed, and none of it fell through.
    assert_int_equal(test_shell(scene_folder, "grep -q 'clean: no crossing in 26 frames' veil.txt"), 0);
    assert_int_not_equal(test_shell(scene_folder, "grep -q 'squeezed pairs' veil.txt"), 0);
}

// A box as two loose parts of one body: legs, `gap` apart.
static void write_legs(const char* name, double gap)
{
    static obj legs;
    legs = (obj){0};
    for (int side = -1; side <= 1; side += 2)
    {
        double inner = side * 0.5 * gap, outer = inner + side * 0.1, low = fmin(inner, outer),
               high = fmax(inner, outer);
        for (int k = 0; k < 8; k++)
        {
            say(&legs, "v %.9g %.9g %.9g\n", k & 1 ? high : low, k & 2 ? 0.2 : -0.2, k & 4 ? 0.2 : -0.2);
        }
        static const int faces[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                        {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
        for (int f = 0; f < 6; f++)
        {
            const int* c = faces[f];
            int b = legs.vertex_count + 1;
            say(&legs, "f %d %d %d %d\n", b + c[0], b + c[1], b + c[2], b + c[3]);
        }
        legs.vertex_count += 8;
    }
    write_obj(&legs, name);
}

// Legs close until they are 3 cm inside each other, stay for a moment and open again; a strip hangs between them.
static void test_legs(void** unused)
{
    (void)unused;
    static const double gaps[] = {0.08, 0.02, -0.03, -0.03, 0.02, 0.08, 0.08, 0.08};
    for (int k = 0; k < 8; k++)
    {
        char name[32];
        snprintf(name, sizeof(name), "legs_%d.obj", k);
        write_legs(name, gaps[k]);
    }
    static const char scene[] = "{\"time_step\": 0.005, \"cloth\": [{\"name\": \"strip\", \"mesh\": {\"grid\": "
                                "{\"cells\": [10, 20], \"size\": [0.15, "
                                "0.3], \"plane\": \"xy\"}}, \"transform\": {\"translate\": [0, 0.12, 0], \"rotate\": "
                                "[0, 90, 0]}, \"pins\": [{\"where\": "
                                "{\"edge\": \"top\"}}]}], \"obstacles\": [{\"name\": \"legs\", \"mesh\": {\"obj\": "
                                "\"legs_0.obj\"}, \"deform\": "
                                "{\"obj_sequence\": \"legs_%d.obj\", \"first\": 0, \"last\": 7, \"rate\": 10}}], "
                                "\"steps_per_frame\": 10, \"frames\": "
                                "20}";
    scene_write_bytes(scene_path("legs.json"), scene, strlen(scene));
    weft_sim* sim = scene_sim_text(scene, 1);
    int most = 0, last = 0;
    for (int k = 0; k < 180; k++)
    {
        weft_step_stats stats;
        weft_error error;
        assert_int_equal(weft_sim_step(sim, &stats, &error), WEFT_OK);
        most = stats.squeezed > most ? stats.squeezed : most;
        last = stats.squeezed;
    }
    assert_true(most > 0);
    assert_int_equal(last, 0);
    vec3 x[11 * 21];
    weft_sim_positions(sim, 0, x);
    for (int v = 0; v < 11 * 21; v++) // between the legs again
    {
        assert_true(fabs(x[v].x) < 0.04);
    }
    weft_sim_destroy(sim);
    assert_int_equal(test_shell(scene_folder,
                                "\"$WEFT\" run legs.json -o legs >legs.log 2>&1 && \"$WEFT\" inspect legs "
                                ">legs.txt 2>&1"),
                     0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_head), cmocka_unit_test(test_legs)};
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
