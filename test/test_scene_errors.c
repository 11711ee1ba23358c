// The text of scene files: comments and marks, and errors that name their place.
#define _POSIX_C_SOURCE 200809L
#include "common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common_scene.h"
#include "scene/scene_data.h"

// ---- text

static void test_comments_and_marks(void** state)
{
    (void)state;
    weft_scene* scene = scene_load_text("\xEF\xBB\xBF// first\r\n{ /* \" { */ \"frames\": 3, // } , \"\r\n"
                                        "\"description\": \"no // comment /* here */ \\\" // nor here\",\r\n"
                                        "\"cloth\" /* \xC3\xA9 */: [{\"mesh\": {\"grid\": {\"cells\": 2}}}] } // last",
                                        NULL, 0);
    assert_int_equal(weft_scene_frames(scene), 3);
    assert_string_equal(scene->description, "no // comment /* here */ \" // nor here");
    weft_scene_destroy(scene);
}

#define PLANE "\"shape\": {\"plane\": {}}"
#define SHAPE(text) "{" CLOTH "}], \"obstacles\": [{\"shape\": {" text "}}]}"

typedef struct error_case
{
    const char* text;
    int line, column; // column 0: not looked at
    const char* fragment;
} error_case;

static const error_case error_cases[] = {
    // Grammar.
    {"", 1, 0, "empty"},
    {" \n// nothing\n", 1, 0, "empty"},
    {"{\n\"frames\": 3,\n}", 3, 0, "comma stands before the closing bracket"},
    {"{\n\"frames\": 3\n\"time_step\": 1}", 3, 0, "'}' expected"},
    {"{\"frames\": 3,\n\"frames\": 4}", 2, 0, "duplicate"},
    {"{\n\n/* open", 3, 1, "comment does not end"},
    {"{\"a\": \"b\n\"}", 1, 0, "newline"},
    {"{\"description\": \"\\u0000\"}", 1, 0, "\\u0000"},
    {"{\n\"description\": \"\xFF\"}", 2, 0, "0xff"},
    {"{\"frames\": 1e999}", 1, 0, "overflow"},
    {"{\"frames\": NaN}", 1, 0, "invalid token"},
    {"{\n'cloth': 3}", 2, 0, "JSON takes double quotes"},
    {"{\"method\":\n 'newton'}", 2, 0, "JSON takes double quotes"},
    {"{} {}", 1, 0, "end of file expected"},
    {"[1, 2]", 1, 1, "expected an object {...}, found a list"},
    {"17", 1, 0, "'[' or '{' expected"},
    // Keys and kinds.
    {"{\n  \"time_stp\": 1}", 2, 3, "unknown key `time_stp`, did you mean `time_step`?"},
    {"{\n  \"xylophone\": 1}", 2, 3, "keys here: $schema, description, time_step"},
    {"{\n /* a */ \"time_step\": \"fast\"}", 2, 23, "time_step: expected a number, found a string"},
    {"{\"time_step\":\n 0}", 2, 2, "must be positive"},
    {"{\"time_step\":\n -1}", 2, 2, "must be positive, not -1"},
    {"{\"time_step\":\n 1e-320}", 2, 2, "too small"},
    {"{\"steps_per_frame\":\n 0}", 2, 2, "at least 1"},
    {"{\"frames\":\n 1.5}", 2, 2, "must be a whole number, not 1.5"},
    {"{\"frames\":\n 1e10}", 2, 2, "at most 10000000, not 10000000000"},
    {"{\"gravity\":\n [1, 2]}", 2, 2, "expected three numbers [x, y, z], found 2"},
    {"{\"gravity\": [1,\n 2,\n null]}", 3, 2, "gravity.2: expected a number, found null"},
    {"{\"gravity\": 9.81}", 1, 13, "expected a list of three numbers"},
    {"{\"description\": 3}", 1, 17, "expected a string, found a number"},
    {"{\"method\":\n \"implicit-eular\"}", 2, 2, "did you mean `implicit-euler`?"},
    {"{\"solver\": \"cholski\"}", 1, 0, "did you mean `cholesky`?"},
    {"{\"solver\": {\"name\": \"cholski\"}}", 1, 0, "solver.name: unknown name"},
    {"{\"solver\": 3}", 1, 0, "expected a name or an object"},
    {"{\"solver\": {\"tolerance\": 0}}", 1, 0, "above 0"},
    {"{\"solver\": {\"tolerence\": 0}}", 1, 13, "did you mean `tolerance`"},
    {"{\"solver\": {\"sa\":\n 3}}", 2, 2, "solver.sa: expected an object {...}, found a number"},
    {"{\"solver\": {\"sa\": {\n\"thetta\": 0.3}}}", 2, 1, "unknown key `thetta`, did you mean `theta`?"},
    {"{\"solver\": {\"sa\": {\n\"xylophone\": 1}}}", 2, 1, "keys here: theta, "},
    {"{\"solver\": {\"sa\": {\"theta\":\n \"0.3\"}}}", 2, 2, "solver.sa.theta: expected a number, found a string"},
    {"{\"solver\": {\"sa\": {\"theta\":\n 2}}}", 2, 2, "sa.theta is 2; it must be a number, 0 to "},
    {"{\"solver\": {\"sa\": {\"degree\":\n 2.5}}}", 2, 2, "it must be a whole number, 1 to "},
    {"{\"solver\": {\"sa\": {\"precision\":\n 48}}}", 2, 2, "sa.precision must be 16, 32 or 64"},
    {"{\"newton\": {\"iterations\": 0}}", 1, 0, "at least 1"},
    {"{\"step_control\": {\"max_halvings\": 11}}", 1, 0, "at most 10"},
    {"{\"step_control\": {\"max_stretch\": 1}}", 1, 0, "above 1"},
    {"{\"air\": {\"drag\": -1}}", 1, 0, "must not be negative"},
    {"{\"air\": []}", 1, 9, "expected an object"},
    {"{\"model\": \"barraf-witkin\"}", 1, 0, "did you mean `baraff-witkin`?"},
    {"{\"model\": {\"bending\": \"hing\"}}", 1, 0, "did you mean `hinge`?"},
    {"{\"kernels\": \"sse\"}", 1, 0, "known: auto, base, avx2, avx512"},
    // Obstacles.
    {"{" CLOTH "}], \"obstacles\": {}}", 1, 0, "put [ ] around it"},
    {"{" CLOTH "}], \"obstacles\": [\n{}]}", 2, 1, "either a \"shape\""},
    {"{" CLOTH "}], \"obstacles\": [\n{\"shape\": {\"plane\": {}}, \"mesh\": {\"obj\": \"a\"}}]}", 2, 1, "not both"},
    {"{" CLOTH "}], \"obstacles\": [{" PLANE ",\n\"frction\": 1}]}", 2, 1, "did you mean `friction`?"},
    {"{" CLOTH "}], \"obstacles\": [{" PLANE ", \"friction\":\n -1}]}", 2, 2, "must not be negative"},
    {"{" CLOTH "}], \"obstacles\": [{" PLANE ", \"thickness\":\n -1}]}", 2, 2, "must be positive"},
    {"{" CLOTH "}], \"obstacles\": [{" PLANE ", \"name\":\n \"cloth1\"}]}", 2, 2, "a cloth of the name `cloth1`"},
    {"{" CLOTH "}], \"obstacles\": [{" PLANE ", \"name\":\n \"a b\"}]}", 2, 2, "becomes a file name"},
    {"{" CLOTH "}], \"obstacles\": [{" PLANE ", \"name\": \"a\"},\n{" PLANE ", \"name\": \"a\"}]}", 2, 0,
     "an obstacle of the name `a`"},
    {"{" CLOTH ", \"name\": \"obstacle1\"}], \"obstacles\": [\n{" PLANE "}]}", 2, 1, "is taken"},
    {"{" CLOTH "}], \"obstacles\": [{" PLANE ",\n\"transform\": {}}]}", 2, 1, "only a \"mesh\" has this key"},
    {"{" CLOTH "}], \"obstacles\": [{" PLANE ",\n\"deform\": {}}]}", 2, 1, "only a \"mesh\" has this key"},
    {"{" CLOTH "}], \"obstacles\": [{\"shape\":\n 3}]}", 2, 2, "{\"sphere\": {\"radius\": 0.3}}"},
    {"{" CLOTH "}], \"obstacles\": [{\"shape\":\n {}}]}", 2, 2, "exactly one of plane, sphere"},
    {"{" CLOTH "}], \"obstacles\": [{\"shape\": {\n\"shpere\": {}}}]}", 2, 1, "did you mean `sphere`?"},
    {SHAPE("\"plane\": {\n\"normal\": [0, 0, 0]}"), 2, 11, "must be a direction"},
    {SHAPE("\"plane\": {\"size\":\n 0}"), 2, 2, "must be positive"},
    {SHAPE("\"plane\": {\n\"center\": [0, 0, 0]}"), 2, 1, "unknown key `center`"},
    {SHAPE("\"sphere\":\n {}"), 2, 2, "a sphere needs \"radius\""},
    {SHAPE("\"sphere\": {\"radius\":\n 0}"), 2, 2, "must be positive, not 0"},
    {SHAPE("\"sphere\": {\"radius\":\n -1}"), 2, 2, "must be positive, not -1"},
    {SHAPE("\"sphere\": {\"radius\":\n \"1\"}"), 2, 2, "expected a number"},
    {SHAPE("\"sphere\": {\"radius\": 1, \"segments\":\n -3}"), 2, 2, "at least 1 and at most 10000, not -3"},
    {SHAPE("\"sphere\": {\"radius\": 1, \"segments\":\n 2.5}"), 2, 2, "whole number"},
    {SHAPE("\"sphere\": {\"radius\": 1, \"segments\":\n 100000}"), 2, 2, "at most 10000"},
    {SHAPE("\n\"sphere\": {\"radius\": 1, \"segments\": 1000}"), 1, 0, "20000000 triangles; at most 2000000"},
    {SHAPE("\n\"sphere\": {\"radius\": 1e-6, \"center\": [100, 0, 0]}"), 1, 0, "in single precision"},
    {SHAPE("\n\"sphere\": {\"radius\": 1, \"center\": [1e300, 0, 0]}"), 1, 0, "below 1e+12 m"},
    {SHAPE("\"box\":\n {}"), 2, 2, "a box needs \"size\""},
    {SHAPE("\"box\": {\"size\": [1,\n 0, 1]}"), 2, 2, "must be positive"},
    {SHAPE("\"box\": {\"size\": 1, \"hole\":\n 1}"), 2, 2, "must be smaller than the box"},
    {SHAPE("\"box\": {\"size\": 1, \"hole\":\n -0.1}"), 2, 2, "must not be negative"},
    {SHAPE("\"cylinder\":\n {\"from\": [0, 0, 0], \"radius\": 1}"), 2, 2, "a cylinder needs \"to\""},
    {SHAPE("\"cylinder\": {\"from\": [0, 0, 0], \"radius\": 1, \"to\":\n [0, 0, 0]}"), 2, 2, "same point as \"from\""},
    {SHAPE("\"cylinder\": {\"from\": [0, 0, 0], \"to\": [0, 1, 0], \"radius\": 1, \"segments\":\n 2}"), 2, 2,
     "at least 3"},
    {SHAPE("\"capsule\": {\"from\": [0, 0, 0], \"radius\": 1, \"to\":\n [0, 0, 0]}"), 2, 2, "or take a sphere"},
    {SHAPE("\"torus\": {\"radius\": 1, \"tube\":\n 1}"), 2, 2, "must be smaller than the radius 1"},
    {SHAPE("\"torus\": {\"radius\": 1, \"tube\": 0.1, \"axis\":\n [0, 0, 0]}"), 2, 2, "must be a direction"},
    {"{" CLOTH "}], \"obstacles\": [{" PLANE ", \"motion\": {\n\"pth\": []}}]}", 2, 1, "did you mean `path`?"},
    {"{" CLOTH "}], \"obstacles\": [{" PLANE ", \"motion\": {\"path\":\n [{\"time\": 0, \"angle\": 1}]}}]}", 2, 2,
     "axis"},
    {"{" CLOTH "}], \"obstacles\": [{" PLANE ", \"motion\": {\"path\": [{\"time\": 1}, {\"time\":\n 1}]}}]}", 2, 2,
     "must increase"},
    {"{" CLOTH "}], \"obstacles\": [{\"mesh\": {\n\"grid\": {}}}]}", 2, 1, "an obstacle's mesh is an OBJ file"},
    {"{" CLOTH "}], \"obstacles\": [{\"mesh\":\n {}}]}", 2, 2, "expected \"obj\""},
    {"{" CLOTH "}], \"obstacles\": [{\"mesh\": {\"obj\":\n \"none.obj\"}}]}", 2, 2, "none.obj"},
    // Exclusions.
    {"{" CLOTH "}], \"contact\":\n 3}", 2, 2,
     "expected an object {...}, found a number; for example {\"friction\": 0.3"},
    {"{" CLOTH "}], \"contact\": {\"thickness\":\n \"1mm\"}}", 2, 2, "found a string; for example 0.001 (m)"},
    {"{" CLOTH "}], \"contact\": {\"exclude\": [\n\"a\"]}}", 2, 1, "for example {\"pair\": [\"sheet\", \"ball\"]}"},
    {"{" CLOTH "}], \"initial_contact\":\n true}", 2, 2, "found true or false; for example \"resolve\""},
    {"{" CLOTH "}], \"ties\":\n 3}", 2, 2, "for example [{\"cloth\": \"patch\", \"to\": \"sheet\"}]"},
    {"{" CLOTH "}], \"ties\": [\n{}]}", 2, 1, "for example {\"cloth\": \"patch\", \"to\": \"sheet\"}"},
    {"{" CLOTH "}], \"ties\": [{\"cloth\": \"cloth1\", \"to\":\n \"x\"}]}", 2, 2,
     "there is no cloth `x`; there is cloth1"},
    {"{" CLOTH "}], \"contact\": {\"exclude\": [{\"pair\": [\"cloth1\",\n\"x\"]}]}}", 2, 1,
     "there is no cloth or obstacle `x`; there is cloth1"},
    {"{" CLOTH "}], \"contact\": {\n\"exclud\": []}}", 2, 1, "did you mean `exclude`?"},
    {"{" CLOTH "}], \"contact\": {\"exclude\": [\n{}]}}", 2, 1, "an exclusion needs \"pair\""},
    {"{" CLOTH "}], \"contact\": {\"exclude\": [{\"pair\":\n [\"cloth1\"]}]}}", 2, 2, "an exclusion needs \"pair\""},
    {"{" CLOTH "}], \"contact\": {\"exclude\": [{\"pair\": [\"cloth1\",\n \"clotg1\"]}]}}", 2, 2,
     "did you mean `cloth1`?"},
    {"{" CLOTH "}], \"obstacles\": [{" PLANE
     "}], \"contact\": {\"exclude\": [{\"pair\":\n [\"obstacle1\", \"obstacle1\"]}]}}",
     2, 2, "a pair needs a cloth"},
    {"{" CLOTH "}], \"contact\": {\"exclude\": [{\"pair\": [\"cloth1\", \"cloth1\"],\n \"edge\": \"top\"}]}}", 2, 2,
     "{\"where\": {\"edge\": ...}}"},
    {"{" CLOTH
     "}], \"contact\": {\"exclude\": [{\"pair\": [\"cloth1\", \"cloth1\"], \"where\": {\"vertices\": [\n99]}}]}}",
     2, 0, "there is no vertex 99"},
    // Cloth.
    {"{}", 1, 1, "a scene needs \"cloth\""},
    {"{\"cloth\": {}}", 1, 0, "expected a list [...], found an object: put [ ] around it"},
    {"{\"cloth\": 3}", 1, 0, "expected a list [...], found a number"},
    {"{\"cloth\": []}", 1, 11, "at least one cloth"},
    {"{\"cloth\": [\n {}]}", 2, 2, "cloth.0: a cloth needs a \"mesh\""},
    {"{\"cloth\": [\n 3]}", 2, 2, "expected an object"},
    {"{" CLOTH ",\n \"colour\": 1}]}", 2, 2, "unknown key `colour`"},
    {"{" CLOTH ",\n \"name\": \"a/b\"}]}", 2, 10, "becomes a file name"},
    {"{" CLOTH ",\n \"name\": \"\"}]}", 2, 10, "becomes a file name"},
    {"{" CLOTH ", \"name\": \"a\"},\n {\"mesh\": {\"grid\": {\"cells\": 1}}, \"name\": \"a\"}]}", 2, 0, "already"},
    {"{" CLOTH ", \"name\": \"cloth2\"},\n {\"mesh\": {\"grid\": {\"cells\": 1}}}]}", 2, 2, "is taken"},
    {"{" CLOTH ", \"rest\": \"uw\"}]}", 1, 0, "unknown name `uw`; known: shape, uv"},
    {"{" CLOTH ",\n \"rest\": \"uv\"}]}", 1, 0, "needs a mesh with vt coordinates"},
    {"{" CLOTH ", \"warp\": [0, 0, 0]}]}", 1, 0, "must be a direction"},
    {"{" CLOTH ", \"uv_scale\": 0}]}", 1, 0, "must be positive"},
    {"{" CLOTH ", \"vertex_mass\": -1}]}", 1, 0, "must not be negative"},
    {"{" CLOTH ", \"transform\": {\"scale\": 0}}]}", 1, 0, "must be positive"},
    {"{" CLOTH ", \"transform\": {\"rotat\": [0, 0, 0]}}]}", 1, 0, "did you mean `rotate`?"},
    // Meshes.
    {"{\"cloth\": [{\"mesh\":\n {}}]}", 2, 2, "either \"grid\" or \"obj\""},
    {"{\"cloth\": [{\"mesh\":\n {\"grid\": {}, \"obj\": \"a\"}}]}", 2, 2, "not both"},
    {"{\"cloth\": [{\"mesh\": {\"grid\": {},\n \"weld\": 1}}]}", 2, 2, "only meshes from OBJ files"},
    {"{\"cloth\": [{\"mesh\": {\"obj\":\n \"\"}}]}", 2, 2, "expected the name of an OBJ file"},
    {"{\"cloth\": [{\"mesh\": {\"obj\": \"a\",\n \"scale\": -1}}]}", 2, 11, "must be positive"},
    {"{\"cloth\": [{\"mesh\": {\"grid\": {\"cells\":\n 0}}}]}", 2, 2, "at least 1"},
    {"{\"cloth\": [{\"mesh\": {\"grid\": {\"cells\":\n [3]}}}]}", 2, 2, "expected one number or two, found 1"},
    {"{\"cloth\": [{\"mesh\": {\"grid\": {\"cells\":\n 100000}}}]}", 2, 2, "at most 16000000"},
    {"{\"cloth\": [{\"mesh\": {\"grid\": {\"cells\":\n 3, \"shape\": \"l\"}}}]}", 2, 2, "even number of cells"},
    {"{\"cloth\": [{\"mesh\": {\"grid\": {\"size\":\n [1, -1]}}}]}", 2, 6, "must be positive"},
    {"{\"cloth\": [{\"mesh\": {\"grid\": {\"size\":\n \"1\"}}}]}", 2, 2, "expected a number or a list of two"},
    {"{\"cloth\": [{\"mesh\": {\"grid\": {\"plane\":\n \"yz\"}}}]}", 2, 2, "known: xz, xy"},
    {"{\"cloth\": [{\"mesh\": {\"grid\": {\"seed\":\n 1.5}}}]}", 2, 2, "whole number"},
    // Materials.
    {"{" CLOTH ",\n \"material\": \"coton\"}]}", 2, 14, "did you mean `cotton`?"},
    {"{" CLOTH ",\n \"material\": {\"base\": \"zzzzzz\"}}]}", 2, 0, "weft list materials"},
    {"{" CLOTH ",\n \"material\": {\"shear\": -1}}]}", 2, 0, "cloth.0.material.shear: must not be negative"},
    {"{" CLOTH ",\n \"material\": {\"density\": 0}}]}", 2, 0, "must be positive"},
    {"{" CLOTH ",\n \"material\": {\"young_modulus\": 1}}]}", 2, 14, "needs young_modulus (Pa), poisson_ratio"},
    {"{" CLOTH
     ",\n \"material\": {\"young_modulus\": 1, \"thickness\": 1, \"density\": 1,\n \"poisson_ratio\": 0.6}}]}",
     3, 0, "above -1 and at most 0.5"},
    // Pins and forces.
    {"{" CLOTH ", \"pins\": {}}]}", 1, 0, "put [ ] around it"},
    {"{" CLOTH ", \"pins\": [\n{\"corner\": \"top-left\"}]}]}", 2, 2, "{\"where\": {\"corner\": ...}}"},
    {"{" CLOTH ", \"forces\": [\n{\"box\": {}, \"force\": [0, 1, 0]}]}]}", 2, 2, "{\"where\": {\"box\": ...}}"},
    {"{" CLOTH ", \"pins\": [\n{}]}]}", 2, 1, "a pin needs \"where\""},
    {"{" CLOTH ", \"pins\": [{\"where\":\n {}}]}]}", 2, 2, "exactly one of vertices, box"},
    {"{" CLOTH ", \"pins\": [{\"where\":\n {\"edge\": \"top\", \"vertices\": [1]}}]}]}", 2, 2, "found 2"},
    {"{" CLOTH ", \"pins\": [{\"where\": {\"edge\":\n \"tpo\"}}]}]}", 2, 2, "did you mean `top`?"},
    {"{" CLOTH ", \"pins\": [{\"where\":\n {\"edge\": \"cutout\"}}]}]}", 2, 2, "selects no vertex"},
    {"{" CLOTH ", \"pins\": [{\"where\":\n {\"edge\": []}}]}]}", 2, 2, "selects no vertex"},
    {"{" CLOTH ", \"pins\": [{\"where\": {\"vertices\": [3,\n 25]}}]}]}", 2, 2, "has 25 vertices, counted from 0"},
    {"{" CLOTH ", \"pins\": [{\"where\": {\"vertices\": [3,\n -1]}}]}]}", 2, 2, "there is no vertex -1"},
    {"{" CLOTH ", \"pins\": [{\"where\": {\"vertices\": [3,\n 1.5]}}]}]}", 2, 2, "whole number"},
    {"{" CLOTH ", \"pins\": [{\"where\": {\"box\":\n {\"min\": [0, 0, 0]}}}]}]}", 2, 2, "a box needs"},
    {"{" CLOTH ", \"pins\": [{\"where\": {\"box\":\n {\"min\": [1, 0, 0], \"max\": [0, 0, 0]}}}]}]}", 2, 2,
     "above \"max\""},
    {"{" CLOTH ", \"pins\": [{\"where\":\n {\"box\": {\"min\": [8, 8, 8], \"max\": [9, 9, 9]}}}]}]}", 2, 2,
     "spans [-0.5, 0, -0.5] to [0.5, 0, 0.5]"},
    {"{" CLOTH ", \"pins\": [{\"where\": {\"edge\": \"top\"}, \"fix\":\n \"pont\"}]}]}", 2, 2, "did you mean `point`?"},
    {"{" CLOTH ", \"pins\": [{\"where\": {\"edge\": \"top\"}, \"fix\":\n {}}]}]}", 2, 2, "either \"line\""},
    {"{" CLOTH ", \"pins\": [{\"where\": {\"edge\": \"top\"}, \"fix\":\n {\"line\": [0, 0, 0]}}]}]}", 2, 11,
     "direction"},
    {"{" CLOTH ", \"pins\": [{\"where\": {\"edge\": \"top\"}, \"path\": [\n{}]}]}]}", 2, 1, "needs its \"time\""},
    {"{" CLOTH ", \"pins\": [{\"where\": {\"edge\": \"top\"}, \"path\": [{\"time\": 1},\n{\"time\": 1}]}]}]}", 2, 10,
     "times of a path must increase"},
    {"{" CLOTH ", \"pins\": [{\"where\": {\"edge\": \"top\"}, \"path\":\n [{\"time\": 1, \"angle\": 5}]}]}]}", 2, 2,
     "needs an \"axis\""},
    {"{" CLOTH ", \"pins\": [{\"where\": {\"edge\": \"top\"},\n \"release\": -1}]}]}", 2, 13, "must not be negative"},
    {"{" CLOTH ", \"forces\": [\n{\"where\": {\"edge\": \"top\"}}]}]}", 2, 1, "a force needs"},
};

static void test_errors_name_their_place(void** state)
{
    (void)state;
    for (size_t k = 0; k < sizeof(error_cases) / sizeof(error_cases[0]); k++)
    {
        const error_case* c = &error_cases[k];
        weft_scene* scene = NULL;
        weft_error error;
        weft_status status = scene_load_bytes(c->text, strlen(c->text), &scene, &error);
        bool good = status != WEFT_OK && !scene && error.status == status && strstr(error.message, c->fragment) &&
                    error.line == c->line && (c->column == 0 || error.column == c->column) &&
                    strcmp(error.file, scene_path("scene.json")) == 0;
        if (!good)
        {
            fail_msg("case %d, %s\ngave %d, %s:%d:%d: %s\nexpected :%d:%d: ...%s...", (int)k, c->text, status,
                     error.file, error.line, error.column, error.message, c->line, c->column, c->fragment);
        }
    }
}

// ---- examples

// Every row of examples.c has a place here that its pattern names.
static const char example_scene[] =
    "{\"gravity\": [0, 0, 0], \"solver\": {\"name\": \"mpcg\"}, \"newton\": {}, "
    "\"step_control\": {}, \"air\": {}, \"model\": "
    "{\"name\": \"baraff-witkin\"}, \"cloth\": [{\"name\": \"sheet\", \"mesh\": "
    "{\"grid\": {\"cells\": 4}}, \"transform\": {}, "
    "\"pins\": [{\"where\": {\"edge\": \"top\"}, \"axis\": [0, 1, 0], \"center\": [0, "
    "0, 0], \"path\": [{\"time\": 0}]}], "
    "\"forces\": [{\"where\": {\"edge\": \"top\"}, \"force\": [0, 0, 0]}], "
    "\"bands\": [{\"where\": {\"edge\": \"top\"}, \"rest_scale\": 0.9, \"stiffness\": 10}], "
    "\"folds\": [{\"where\": {\"edge\": \"top\"}, \"rest_angle\": 10}]}, {\"name\": "
    "\"patch\", \"mesh\": {\"grid\": {\"cells\": "
    "2, \"size\": 0.1}}}], \"strands\": [{\"mesh\": {\"brush\": {}}}], "
    "\"volumes\": [{\"mesh\": {\"solid\": {\"ball\": {\"radius\": 1}}}}], "
    "\"obstacles\": [{\"name\": \"ball\", \"shape\": "
    "{\"sphere\": {\"radius\": 0.1}}, \"motion\": {\"path\": [{\"time\": "
    "0}]}}], \"contact\": {\"exclude\": [{\"pair\": [\"sheet\", \"ball\"]}]}, "
    "\"ties\": [{\"cloth\": \"patch\", \"to\": "
    "\"sheet\"}]}";

// "cloth[].pins[].fix" is cloth.0.pins.0.fix; what may stand anywhere is looked for at the first cloth's pin.
static void example_path(const char* pattern, char out[128])
{
    const char* begin = strncmp(pattern, "*model", 6) == 0         ? ""
                        : strncmp(pattern, "*.transform", 11) == 0 ? "cloth.0"
                        : pattern[0] == '*'                        ? "cloth.0.pins.0"
                                                                   : "";
    size_t used = (size_t)snprintf(out, 128, "%s", begin);
    for (const char* at = pattern + (pattern[0] == '*'); *at; at++)
    {
        if (at[0] == '[')
        {
            used += (size_t)snprintf(out + used, 128 - used, ".0");
            at++;
            continue;
        }
        out[used++] = *at;
    }
    out[used] = '\0';
}

static weft_status load_with(const char* override, weft_error* error)
{
    scene_write_bytes(scene_path("scene.json"), example_scene, strlen(example_scene));
    weft_scene* scene = NULL;
    *error = (weft_error){0};
    weft_status status = weft_scene_load(scene_path("scene.json"), &override, 1, &scene, error);
    weft_scene_destroy(scene);
    return status;
}

// A value of the wrong kind gets the example of its key, and no example is of the wrong kind itself.
static void test_examples(void** state)
{
    (void)state;
    int count;
    const example_row* rows = example_rows(&count);
    weft_error error;
    if (load_with("frames=3", &error) != WEFT_OK)
    {
        fail_msg("the scene itself: %s", error.message);
    }
    for (int k = 0; k < count; k++)
    {
        char path[128], wrong[256], right[512], says[300];
        example_path(rows[k].pattern, path);
        const char* inside = strstr(path, "where.");
        if (inside) // a "where" has one key only
        {
            bool element = strstr(inside, ".0") != NULL;
            char key[32];
            snprintf(key, sizeof(key), "%.*s", (int)strcspn(inside + 6, "."), inside + 6);
            path[inside - path + 5] = '\0';
            snprintf(wrong, sizeof(wrong), "%s={\"%s\": %s}", path, key, element ? "[false]" : "false");
            snprintf(right, sizeof(right), "%s={\"%s\": %s%s%s}", path, key, element ? "[" : "", rows[k].example,
                     element ? "]" : "");
        }
        else
        {
            snprintf(wrong, sizeof(wrong), "%s=%s", path, strcmp(path, "contact.enabled") == 0 ? "null" : "false");
            snprintf(right, sizeof(right), "%s=%s", path, rows[k].example);
        }
        snprintf(says, sizeof(says), "; for example %s%s", rows[k].example, rows[k].unit ? " (" : "");
        weft_status status = load_with(wrong, &error);
        if (status == WEFT_OK || !strstr(error.message, "expected") || !strstr(error.message, says))
        {
            fail_msg("%s gave: %s", wrong, error.message);
        }
        status = load_with(right, &error);
        if (status != WEFT_OK && (strstr(error.message, "expected") || strstr(error.message, "unknown")))
        {
            fail_msg("%s gave: %s", right, error.message);
        }
    }
}

static void test_suggestions(void** state)
{
    (void)state;
    static const char* const names[] = {"a", "air", "ball", "friction"};
    assert_null(suggest_name("b", names, 4)); // any letter is one letter away from any other
    assert_null(suggest_name("", names, 4));
    assert_null(suggest_name("gr", names, 4));
    assert_null(suggest_name("abc", names, 1)); // two off a name of one
    assert_string_equal(suggest_name("ari", names, 4), "air");
    assert_string_equal(suggest_name("bal", names, 4), "ball");
    assert_string_equal(suggest_name("frction", names, 4), "friction");
}

static void test_mesh_errors_name_the_mesh(void** state)
{
    (void)state;
    weft_scene* scene = NULL;
    weft_error error;
    const char* text = "{\"cloth\": [{\"mesh\": {\"obj\": \"bad.obj\"}}]}";
    scene_write_bytes(scene_path("bad.obj"), "v 0 0 0\nv 1 0 0\nf 1 2 9\n", 24);
    assert_int_equal(scene_load_bytes(text, strlen(text), &scene, &error), WEFT_BAD_INPUT);
    assert_string_equal(error.file, scene_path("bad.obj"));
    assert_int_equal(error.line, 3);

    text = "{\"cloth\": [{\"mesh\": {\"obj\": \"missing.obj\"}}]}";
    assert_int_not_equal(scene_load_bytes(text, strlen(text), &scene, &error), WEFT_OK);
    assert_string_equal(error.file, scene_path("scene.json"));
    assert_int_equal(error.line, 1);
    assert_non_null(strstr(error.message, scene_path("missing.obj")));
    assert_non_null(strstr(error.message, "paths are relative to the scene file"));

    const char* named = "o skirt\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    scene_write_bytes(scene_path("named.obj"), named, strlen(named));
    text = "{\"cloth\": [{\"mesh\": {\"obj\": \"named.obj\",\n \"object\": \"skrt\"}}]}";
    assert_int_equal(scene_load_bytes(text, strlen(text), &scene, &error), WEFT_NOT_FOUND);
    assert_string_equal(error.file, scene_path("scene.json"));
    assert_int_equal(error.line, 2);
    assert_non_null(strstr(error.message, "did you mean 'skirt'?"));

    // A corner without vt, where the rest shape is the vt map.
    const char* obj = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nvt 0 0\nvt 1 0\nvt 0 1\nf 1/1 2/2 3/3\nf 2 4 3\n";
    scene_write_bytes(scene_path("half.obj"), obj, strlen(obj));
    text = "{\"cloth\": [{\"mesh\": {\"obj\": \"half.obj\"}, \"rest\": \"uv\"}]}";
    assert_int_equal(scene_load_bytes(text, strlen(text), &scene, &error), WEFT_BAD_INPUT);
    assert_int_equal(error.line, 9);
    assert_non_null(strstr(error.message, "without vt"));

    // A face without area in the vt map.
    obj = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nvt 0 0\nvt 1 0\nvt 0 1\nf 1/1 2/2 3/3\nf 2/1 4/2 3/2\n";
    scene_write_bytes(scene_path("flat.obj"), obj, strlen(obj));
    text = "{\"cloth\": [{\"mesh\": {\"obj\": \"flat.obj\"}, \"rest\": \"uv\"}]}";
    assert_int_equal(scene_load_bytes(text, strlen(text), &scene, &error), WEFT_BAD_INPUT);
    assert_string_equal(error.file, scene_path("flat.obj"));
    assert_int_equal(error.line, 9);
    assert_non_null(strstr(error.message, "face 2 on line 9 has no area in the vt map"));
    assert_non_null(strstr(error.message, "\"rest\": \"shape\""));
}

typedef struct heard_warnings
{
    int count;
    char last[512];
} heard_warnings;

static void hear_warning(const char* message, void* user)
{
    heard_warnings* heard = user;
    heard->count++;
    snprintf(heard->last, sizeof(heard->last), "%s", message);
}

static void test_loose_vertices_are_warned_of_once(void** state)
{
    (void)state;
    const char* obj = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 7 7 7\nf 1 2 3\n";
    scene_write_bytes(scene_path("loose.obj"), obj, strlen(obj));
    heard_warnings heard = {0};
    weft_set_log(hear_warning, &heard);
    weft_scene* scene = scene_load_text("{\"cloth\": [{\"mesh\": {\"obj\": \"loose.obj\"}}]}", NULL, 0);
    weft_sim* sim = NULL;
    weft_error error = {0};
    assert_int_equal(weft_scene_create_sim(scene, 1, &sim, &error), WEFT_OK);
    weft_set_log(NULL, NULL);
    assert_int_equal(heard.count, 1);
    assert_non_null(strstr(heard.last, "loose.obj: 1 of 4 vertices belong to no face (the first is vertex 4)"));
    weft_sim_destroy(sim);
    weft_scene_destroy(scene);
}

static void test_doubtful_units_are_noted(void** state)
{
    (void)state;
    weft_scene* scene = scene_load_text("{\"time_step\": 0.1, \"cloth\": [\n"
                                        " {\"name\": \"far\", \"mesh\": {\"grid\": {\"size\": 170, \"cells\": 2}}},\n"
                                        " {\"name\": \"good\", \"mesh\": {\"grid\": {\"cells\": 2}}},\n"
                                        " {\"name\": \"tiny\", \"mesh\": {\"grid\": {\"size\": 0.005, \"cells\": 2}},\n"
                                        "  \"material\": {\"density\": 150}}]}",
                                        NULL, 0);
    static const char* const fragments[] = {
        "time_step is 0.1 s: is this in seconds?", "cloth `far` is 170 m long: is this in metres?",
        "cloth `tiny` is 0.005 m long: is this in metres?", "cloth `tiny` weighs 150 kg/m^2"};
    for (int k = 0; k < 4; k++)
    {
        assert_non_null(weft_scene_warning(scene, k));
        assert_non_null(strstr(weft_scene_warning(scene, k), fragments[k]));
    }
    assert_null(weft_scene_warning(scene, 4));
    weft_scene_destroy(scene);
}

// What exporters and maps bring: a sheet of two faces that share no vertex, and one at the coordinates of a town.
static void test_doubtful_places_are_noted(void** state)
{
    (void)state;
    static const char split[] = "v 0 0 0\nv 1 0 0\nv 0 0 1\nv 1 0 0\nv 1 0 1\nv 0 0 1\nf 1 2 3\nf 4 5 6\n";
    scene_write_bytes(scene_path("split.obj"), split, strlen(split));
    weft_scene* scene = scene_load_text("{\"cloth\": [\n"
                                        " {\"name\": \"split\", \"mesh\": {\"obj\": \"split.obj\"}},\n"
                                        " {\"name\": \"whole\", \"mesh\": {\"obj\": \"split.obj\", \"weld\": 1e-5}},\n"
                                        " {\"name\": \"far\", \"mesh\": {\"grid\": {\"cells\": 2}},\n"
                                        "  \"transform\": {\"translate\": [0, 5e5, 0]}}]}",
                                        NULL, 0);
    assert_non_null(strstr(weft_scene_warning(scene, 0), "cloth `split`: 4 of its 6 vertices lie exactly upon others"));
    assert_non_null(strstr(weft_scene_warning(scene, 1), "cloth `far` lies 5e+05 m from the origin"));
    assert_non_null(strstr(weft_scene_warning(scene, 2), "cloth `whole` has 4 vertices exactly where cloth `split` has some"));
    assert_null(weft_scene_warning(scene, 3));
    weft_scene_destroy(scene);
}

// A pattern in another unit, and one with a face drawn out 18 times: the cloth would snap, and nothing else says why.
static void assert_pattern_noted(const char* vt, double uv_scale, const char* fragment)
{
    char obj[512], text[512];
    snprintf(obj, sizeof(obj), "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 1 2 0\n%sf 1/1 2/2 3/3 4/4\nf 4/4 3/3 5/5\n", vt);
    scene_write_bytes(scene_path("pattern.obj"), obj, strlen(obj));
    snprintf(text, sizeof(text),
             "{\"cloth\": [{\"mesh\": {\"obj\": \"pattern.obj\"}, \"rest\": \"uv\", \"uv_scale\": %.17g}]}", uv_scale);
    weft_scene* scene = scene_load_text(text, NULL, 0);
    const char* note = weft_scene_warning(scene, 0);
    assert_int_equal(note != NULL, fragment != NULL);
    assert_true(!fragment || strstr(note, fragment));
    assert_null(weft_scene_warning(scene, 1));
    weft_scene_destroy(scene);
}

static void test_doubtful_patterns_are_noted(void** state)
{
    (void)state;
    const char* true_size = "vt 0 0\nvt 100 0\nvt 100 100\nvt 0 100\nvt 100 200\n";
    assert_pattern_noted(true_size, 0.01, NULL);
    assert_pattern_noted(true_size, 1.0, "starts 0.01 times as long as its rest shape");
    assert_pattern_noted(true_size, 1.0, "\"uv_scale\": 0.01 fits the start");
    assert_pattern_noted(true_size, 0.0001, "starts 100 times as long as its rest shape");
    const char* flat = "vt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\nvt 1 1.0555556\n";
    assert_pattern_noted(flat, 1.0, "starts stretched 18 times against its vt in face 2 (line 12 of ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_comments_and_marks),
        cmocka_unit_test(test_errors_name_their_place),
        cmocka_unit_test(test_examples),
        cmocka_unit_test(test_suggestions),
        cmocka_unit_test(test_mesh_errors_name_the_mesh),
        cmocka_unit_test(test_loose_vertices_are_warned_of_once),
        cmocka_unit_test(test_doubtful_units_are_noted),
        cmocka_unit_test(test_doubtful_places_are_noted),
        cmocka_unit_test(test_doubtful_patterns_are_noted),
    };
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
