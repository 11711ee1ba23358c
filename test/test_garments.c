// Public garments load and hang: from an OBJ file through a scene to a settled shape, with pins at the top. The dress
// crosses itself as it comes, and is untangled.
#include "common.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "weft/scene.h"

static void hang_garment(const char* file)
{
    const char* data = getenv("WEFT_TEST_DATA");
    char path[2048], scene_path[512], folder[256], text[4096];
    snprintf(path, sizeof(path), "%s/garments/%s", data ? data : WEFT_SOURCE_DIR "/../shared/data", file);
    if (access(path, R_OK) != 0)
    {
        print_message("skipped: %s is not there\n", path);
        skip();
    }
    // The scale and the pins follow from the file itself: a garment 0.7 m tall, held in its top five percent.
    double low = INFINITY, high = -INFINITY;
    FILE* obj = fopen(path, "r");
    while (fgets(text, sizeof(text), obj))
    {
        double x, y, z;
        if (sscanf(text, "v %lf %lf %lf", &x, &y, &z) == 3)
        {
            low = fmin(low, y);
            high = fmax(high, y);
        }
    }
    fclose(obj);
    double scale = 0.7 / (high - low), from = scale * (high - 0.05 * (high - low));
    test_folder(folder);
    snprintf(scene_path, sizeof(scene_path), "%s/scene.json", folder);
    FILE* scene_file = fopen(scene_path, "w");
    fprintf(scene_file,
            "{\"time_step\": 0.005, \"steps_per_frame\": 8, \"initial_contact\": \"resolve\", \"cloth\": [{\"name\": "
            "\"garment\", \"mesh\": {\"obj\": "
            "\"%s\", \"scale\": %.9g},\n"
            " \"pins\": [{\"where\": {\"box\": {\"min\": [-100, %.9g, -100], \"max\": [100, 100, 100]}}}]}]}\n",
            path, scale, from);
    fclose(scene_file);

    weft_error error = {0};
    weft_scene* scene = NULL;
    weft_sim* sim = NULL;
    if (weft_scene_load(scene_path, NULL, 0, &scene, &error) != WEFT_OK ||
        weft_scene_create_sim(scene, 2, &sim, &error) != WEFT_OK)
    {
        fail_msg("%s", error.message);
    }
    weft_step_stats stats = {0};
    double largest = 0.0;
    for (int k = 0; k < 40; k++)
    {
        if (weft_sim_step(sim, &stats, &error) != WEFT_OK)
        {
            fail_msg("%s", error.message);
        }
        largest = fmax(largest, stats.max_stretch);
    }
    print_message(
        "%s: %d vertices, %d pinned, 0.2 s: stretch %.3f, at most %.3f, kinetic energy %.2e J, %d substeps in the "
        "last step\n",
        file, weft_sim_vertex_count(sim, 0), stats.constraints, stats.max_stretch, largest, stats.energy.kinetic,
        stats.substeps);
    assert_true(stats.constraints > 0);
    // Slivers of a garment that was untangled are stretched at first.
    assert_true(isfinite(stats.energy.total) && stats.max_stretch < 1.4 && largest < 2.0);
    weft_sim_destroy(sim);
    weft_scene_destroy(scene);
    test_folder_remove(folder);
}

static void test_tshirt(void** unused)
{
    (void)unused;
    hang_garment("tshirt1900.obj");
}

static void test_dress(void** unused)
{
    (void)unused;
    hang_garment("dress-v5k-f10k.obj");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tshirt), cmocka_unit_test(test_dress)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
