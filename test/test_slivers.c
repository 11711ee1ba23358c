// Sides and triangles that are far smaller than those around them, by methods that move positions: clipped along a line
// that nearly meets vertices of a grid, and in a public garment that crosses itself as it comes.
#define _POSIX_C_SOURCE 200809L
#include "common.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common_scene.h"
#include "weft/scene.h"

enum
{
    CELLS = 8
};

// A sheet of squares of 1/8 m; with `near`, m, two in three of them have a vertex that far from a corner and from the
// diagonal, from which four triangles go out.
static void write_sheet(const char* name, double near)
{
    FILE* out = fopen(scene_path(name), "w");
    for (int k = 0; k < (CELLS + 1) * (CELLS + 1); k++)
    {
        fprintf(out, "v %.9g %.9g 0\n", (double)(k % (CELLS + 1)) / CELLS, (double)(k / (CELLS + 1)) / CELLS);
    }
    for (int c = 0, next = (CELLS + 1) * (CELLS + 1) + 1; c < CELLS * CELLS; c++)
    {
        int a = c / CELLS * (CELLS + 1) + c % CELLS + 1, b = a + 1, d = a + CELLS + 1, e = d + 1;
        if (near > 0.0 && c % 3 != 0)
        {
            double x = (double)(c % CELLS) / CELLS + near, y = (double)(c / CELLS) / CELLS + 0.7 * near;
            fprintf(out, "v %.9g %.9g 0\nf %d %d %d\nf %d %d %d\nf %d %d %d\nf %d %d %d\n", x, y, a, b, next, b, e,
                    next, e, d, next, d, a, next);
            next++;
        }
        else
        {
            fprintf(out, "f %d %d %d\nf %d %d %d\n", a, b, e, a, e, d);
        }
    }
    fclose(out);
}

// Hung from two corners that are shaken, its largest stretch in one second.
static double shaken(const char* mesh, const char* method, const char* model)
{
    char text[1024];
    snprintf(
        text, sizeof(text),
        "{\"time_step\": 0.0166666666666667, \"method\": \"%s\", \"model\": \"%s\", \"air\": {}, "
        "\"step_control\": {\"max_halvings\": 0}, \"cloth\": [{\"mesh\": {\"obj\": \"%s\"}, \"pins\": "
        "[{\"where\": {\"vertices\": [72, 80]}, \"path\": [{\"time\": 0}, {\"time\": 0.25, \"offset\": [0, 0, 0.2]}, "
        "{\"time\": 0.5}, {\"time\": 0.75, \"offset\": [0.1, 0, -0.2]}, {\"time\": 1}]}]}]}",
        method, model, scene_path(mesh));
    weft_sim* sim = scene_sim_text(text, 1);
    double most = 0.0;
    for (int k = 0; k < 60; k++)
    {
        weft_step_stats stats;
        assert_int_equal(weft_sim_step(sim, &stats, NULL), WEFT_OK);
        most = fmax(most, stats.max_stretch);
    }
    weft_sim_destroy(sim);
    return most;
}

static void test_they_stretch_as_what_is_around(void** unused)
{
    (void)unused;
    static const struct
    {
        const char *method, *model;
    } cases[] = {{"pbd", "baraff-witkin"}, {"hpbd", "baraff-witkin"}, {"pbd", "hooke"}, {"hpbd", "hooke"}};
    write_sheet("even.obj", 0.0);
    write_sheet("slivers.obj", 5e-4);
    for (int k = 0; k < 4; k++)
    {
        double even = shaken("even.obj", cases[k].method, cases[k].model);
        double with = shaken("slivers.obj", cases[k].method, cases[k].model);
        print_message("%s, %s: %.3f, with sides of 0.6 mm %.3f\n", cases[k].method, cases[k].model, even, with);
        assert_true(with < 3.5 * even); // triangles: 15 and 34
    }
}

// The dress has sides of 0.6 mm beside some of 90 mm at this size, and crosses itself 319 times. What settles pushed
// its vertices away from their neighbours, to 60 to 130 times their length, and most substeps were forced.
static void test_a_garment_settles(void** unused)
{
    (void)unused;
    const char* data = getenv("WEFT_TEST_DATA");
    char path[2048], text[4096];
    snprintf(path, sizeof(path), "%s/garments/dress-v5k-f10k.obj", data ? data : WEFT_SOURCE_DIR "/../shared/data");
    if (access(path, R_OK) != 0)
    {
        print_message("skipped: %s is not there\n", path);
        skip();
    }
    snprintf(text, sizeof(text),
             "{\"time_step\": 0.0166666666666667, \"method\": \"hpbd\", \"initial_contact\": \"settle\", \"cloth\": "
             "[{\"mesh\": {\"obj\": \"%s\", \"scale\": 0.1}}]}",
             path);
    weft_sim* sim = scene_sim_text(text, 1);
    double most = 0.0;
    int forced = 0, first = 0;
    weft_step_stats stats;
    for (int k = 0; k < 12; k++)
    {
        assert_int_equal(weft_sim_step(sim, &stats, NULL), WEFT_OK);
        most = fmax(most, stats.max_stretch);
        forced += stats.forced;
        first = k == 0 ? stats.unsettled : first;
    }
    print_message("stretch at most %.2f, %d substeps forced, %d crossings left of %d after the first step\n", most,
                  forced, stats.unsettled, first);
    assert_true(most < 6.0 && forced <= 6 && 3 * stats.unsettled < 2 * first);
    weft_sim_destroy(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_they_stretch_as_what_is_around),
                                       cmocka_unit_test(test_a_garment_settles)};
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
