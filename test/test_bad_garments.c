// What is wrong in a garment or a body is said by the command with the file, the line where there is one, and what to
// do; nothing runs, and the exit status is 2.
#define _POSIX_C_SOURCE 200809L
#include "common.h"

#include <stdio.h>
#include <string.h>

#include "common_scene.h"

#define SQUARE "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3\nf 1 3 4\n"
#define SCENE(cloth, rest) "{\"cloth\": [{\"name\": \"a\",\n \"mesh\": " cloth "}]" rest "}"
#define OBJ(name) "{\"obj\": \"" name "\"}"
#define BODY(name) ",\n\"obstacles\": [{\"name\": \"body\",\n \"mesh\": " OBJ(name) "}]"
#define PANEL(edges, stitches)                                                                                         \
    "{\"pattern\":\n {\"panels\": {\"front\":\n {\"vertices\": [[0, 0], [20, 0], [20, 20], [0, 20]],\n \"edges\": "    \
    "[" edges "]}},\n \"stitches\": [" stitches "]}}"
#define SIDES "{\"endpoints\": [0, 1]}, {\"endpoints\": [1, 2]}, {\"endpoints\": [2, 3]}, {\"endpoints\": [3, 0]}"
#define BOW "{\"endpoints\": [0, 2]}, {\"endpoints\": [2, 1]}, {\"endpoints\": [1, 3]}, {\"endpoints\": [3, 0]}"
#define PATTERN SCENE("{\"pattern\": \"made.json\"}", "")

typedef struct bad_input
{
    const char *scene, *file, *text; // another file that the scene names, and what is in it
    const char *place, *words;       // what the message begins with, and what it says
} bad_input;

static const bad_input cases[] = {
    // stitches
    {SCENE(OBJ("made.obj"), ""), "made.obj", SQUARE "stitch 0 99\n", "made.obj:7:", "vertex 99; there are 4"},
    {SCENE(OBJ("made.obj"), ""), "made.obj", SQUARE "stitch 2 2\n", "made.obj:7:", "sewn to itself"},
    {SCENE(OBJ("made.obj"), ""), "made.obj", SQUARE "stitch 0 1 2 1.5\n", "made.obj:7:", "from 0 to 1"},
    {SCENE(OBJ("made.obj"), ""), "made.obj", SQUARE "stitch 0\n", "made.obj:7:", "at least 2 numbers"},
    {SCENE(OBJ("made.obj") ",\n \"stitch\": {\"pairs\":\n [[0, 99]]}", ""), "made.obj", SQUARE,
     "bad.json:4:", "no vertex 99"},
    {SCENE(OBJ("made.obj") ",\n \"stitch\": {\"pairs\":\n [[3, 3]]}", ""), "made.obj", SQUARE, "bad.json:4:", "itself"},
    {PATTERN, "made.json", PANEL(SIDES, "\n[{\"panel\": \"back\", \"edge\": 0}, {\"panel\": \"front\", \"edge\": 1}]"),
     "made.json:6:", "back"},
    {PATTERN, "made.json", PANEL(SIDES, "\n[{\"panel\": \"front\", \"edge\": 9}, {\"panel\": \"front\", \"edge\": 1}]"),
     "made.json:6:", "from 0 to 3"},
    // panels
    {PATTERN, "made.json", PANEL(BOW, ""), "made.json:4:", "crosses"},
    {PATTERN, "made.json", PANEL("{\"endpoints\": [0, 1]}, {\"endpoints\": [2, 3]}", ""),
     "made.json:4:", "closed loop"},
    // bodies
    {SCENE("{\"grid\": {\"cells\": 2}}", BODY("made.obj")), "made.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\n",
     "made.obj:", "no faces"},
    {SCENE("{\"grid\": {\"cells\": 2}}", BODY("made.obj")), "made.obj", "v 0 0 0\nv 1 0 0\nl 1 2\n",
     "made.obj:", "no faces"},
    {SCENE("{\"grid\": {\"cells\": 2}}", BODY("made.obj")), "made.obj", "v 0 0 0\nv 1 nan 0\nv 0 1 0\nf 1 2 3\n",
     "made.obj:2:", "not finite"},
    {SCENE("{\"grid\": {\"cells\": 2}}", BODY("none.obj")), "made.obj", "", "bad.json:4:", "cannot be opened"},
};

static void bad_input_gets_a_place_and_a_sentence(void** state)
{
    (void)state;
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++)
    {
        const bad_input* b = &cases[k];
        char line[512];
        scene_write_bytes(scene_path(b->file), b->text, strlen(b->text));
        scene_write_bytes(scene_path("bad.json"), b->scene, strlen(b->scene));
        snprintf(line, sizeof(line),
                 "\"$WEFT\" check bad.json > out 2> err; test $? = 2 && grep '%s' err | grep -q -e '%s'", b->place,
                 b->words);
        if (test_shell(scene_folder, line) != 0)
        {
            test_shell(scene_folder, "cat err");
            fail_msg("%zu: expected `%s ... %s`", k, b->place, b->words);
        }
        assert_int_equal(test_shell(scene_folder, "\"$WEFT\" run bad.json -o none > out 2> err; test $? = 2 && ! "
                                                  "test -e none"),
                         0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bad_input_gets_a_place_and_a_sentence)};
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
