// weft render --show crossings: what crosses at the start of a run that settles is orange, what a run does not list is
// red, and a clean run shows neither.
#define _POSIX_C_SOURCE 200809L
#include "common.h"

#include <png.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common_scene.h"

static const char text[] =
    "{\"time_step\": 0.004, \"steps_per_frame\": 5, \"frames\": 1, \"initial_contact\": \"settle\", \"cloth\": "
    "[{\"name\": "
    "\"a\", \"mesh\": {\"grid\": {\"cells\": 16}}, \"transform\": {\"translate\": [0, 0.2, 0]}}], \"obstacles\": "
    "[{\"name\": \"ball\", \"shape\": {\"sphere\": {\"center\": [0, 0, 0], \"radius\": 0.25}}}]}";

static int shell(const char* line)
{
    return test_shell(scene_folder, line);
}

// Pixels of the two colours, above the label.
static void count_colours(const char* name, int* red, int* orange)
{
    png_image image = {.version = PNG_IMAGE_VERSION};
    assert_true(png_image_begin_read_from_file(&image, scene_path(name)));
    image.format = PNG_FORMAT_RGB;
    uint8_t* rgb = malloc(PNG_IMAGE_SIZE(image));
    assert_true(rgb && png_image_finish_read(&image, NULL, rgb, 0, NULL));
    *red = *orange = 0;
    for (size_t k = 0; k < (size_t)image.width * image.height; k++)
    {
        const uint8_t* c = rgb + 3 * k;
        bool warm = c[0] > 120 && c[0] > 2 * c[2];
        *red += warm && c[1] < c[0] / 3;
        *orange += warm && c[1] >= c[0] / 3;
    }
    free(rgb);
}

static void crossings_have_colours(void** state)
{
    (void)state;
    int red, orange;
    scene_write_bytes(scene_path("scene.json"), text, strlen(text));
    assert_int_equal(shell("\"$WEFT\" run scene.json -o run > out 2> err"), 0);
    assert_int_equal(shell("\"$WEFT\" render run --frame 0 --show crossings --size 480x360 -o start.png > out"), 0);
    count_colours("start.png", &red, &orange);
    print_message("the start: %d pixels red, %d orange\n", red, orange);
    assert_true(red == 0 && orange > 200);

    // A crossing that nothing explains is new.
    assert_int_equal(
        shell("sed -i 's/\"settle\"/\"refuse\"/' run/scene.json && rm -f run/stats.jsonl && \"$WEFT\" render "
              "run --frame 0 --show crossings --size 480x360 > out && mv run/crossings-0000.png new.png"),
        0);
    count_colours("new.png", &red, &orange);
    print_message("without a list: %d pixels red, %d orange\n", red, orange);
    assert_true(red > 200 && orange < red / 10);

    assert_int_equal(
        shell("\"$WEFT\" run scene.json --set cloth.0.transform.translate=[0,0.3,0] --force -o run > out 2> err "
              "&& \"$WEFT\" render run --show crossings --size 480x360 -o clean.png > out"),
        0);
    count_colours("clean.png", &red, &orange);
    assert_true(red == 0 && orange == 0);
    assert_int_equal(shell("\"$WEFT\" render run --show crossings -o film.mp4 > out 2> err; test $? = 2"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crossings_have_colours),
    };
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
