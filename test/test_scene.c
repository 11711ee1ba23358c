// Scene files: defaults, errors with their places, overrides, selections, the canonical text, hostile input.
#define _POSIX_C_SOURCE 200809L
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "scene/embedded.h"
#include "scene/scene_data.h"
#include "scene/scene_list.h"

static char folder[256]; // of this process, removed at the end

// ---- helpers

static const char* path_in_folder(const char* name)
{
    static char path[512];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static void write_bytes(const char* path, const char* text, size_t size)
{
    FILE* file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static weft_status load_bytes(const char* text, size_t size, weft_scene** out, weft_error* error)
{
    *error = (weft_error){0};
    write_bytes(path_in_folder("scene.json"), text, size);
    return weft_scene_load(path_in_folder("scene.json"), NULL, 0, out, error);
}

static weft_scene* load_text(const char* text, const char* const* overrides, int override_count)
{
    weft_error error = {0};
    weft_scene* scene = NULL;
    write_bytes(path_in_folder("scene.json"), text, strlen(text));
    weft_status status = weft_scene_load(path_in_folder("scene.json"), overrides, override_count, &scene, &error);
    if (status != WEFT_OK)
    {
        fail_msg("%s:%d:%d: %s", error.file, error.line, error.column, error.message);
    }
    return scene;
}

// A scene of one small cloth with more keys in it.
static weft_scene* load_cloth(const char* keys)
{
    char text[2048];
    snprintf(text, sizeof(text), "{\"cloth\": [{\"mesh\": {\"grid\": {\"cells\": 4}}%s%s}]}", keys[0] ? ", " : "",
             keys);
    return load_text(text, NULL, 0);
}

static void assert_vertices(const int* vertices, int count, const int* expected, int expected_count)
{
    assert_int_equal(count, expected_count);
    for (int k = 0; k < count; k++)
    {
        assert_int_equal(vertices[k], expected[k]);
    }
}

// ---- defaults

static tree_node* resolve(tree_node* schema, tree_node* node)
{
    tree_node* reference = tree_member(node, "$ref");
    if (!reference)
    {
        return node;
    }
    const char* name = strrchr(reference->string, '/') + 1;
    return resolve(schema, tree_member(tree_member(schema, "$defs"), name));
}

// The object form of a thing that may also be a name; of meshes the grid.
static tree_node* object_form(tree_node* schema, tree_node* node)
{
    node = resolve(schema, node);
    tree_node* choices = tree_member(node, "oneOf");
    for (tree_node* choice = choices ? choices->first : NULL; choice; choice = choice->next)
    {
        if (tree_member(choice, "properties"))
        {
            return choice;
        }
    }
    return node;
}

static void assert_same_value(const tree_node* expected, const tree_node* found)
{
    assert_non_null(found);
    assert_int_equal(expected->kind, found->kind);
    assert_int_equal(expected->child_count, found->child_count);
    if (expected->kind == TREE_NUMBER)
    {
        assert_true(expected->number == found->number);
    }
    if (expected->kind == TREE_STRING)
    {
        assert_string_equal(expected->string, found->string);
    }
    const tree_node* b = found->first;
    for (const tree_node* a = expected->first; a; a = a->next, b = b->next)
    {
        assert_same_value(a, b);
    }
}

// Every default that the schema states for an object's keys is the one that was written. Returns their number.
static int compare_defaults(tree_node* schema, tree_node* node, const tree_node* found)
{
    int count = 0;
    tree_node* properties = tree_member(object_form(schema, node), "properties");
    for (tree_node* property = properties ? properties->first : NULL; property; property = property->next)
    {
        tree_node* value = tree_member(found, property->key);
        tree_node* stated = tree_member(property, "default");
        bool depends = strcmp(property->key, "kernels") == 0; // on the CPU
        if (stated && !depends)
        {
            assert_same_value(stated, value);
            count++;
        }
        if (value && value->kind == TREE_OBJECT)
        {
            count += compare_defaults(schema, property, value);
        }
        if (value && value->kind == TREE_ARRAY && tree_member(property, "items") && value->first)
        {
            count += compare_defaults(schema, tree_member(property, "items"), value->first);
        }
    }
    return count;
}

static tree_node* parse_copy(tree* t, const char* text)
{
    char* copy = mem_strdup(text);
    tree_node* root = NULL;
    assert_int_equal(tree_parse(t, "text", copy, strlen(copy), &root, NULL), WEFT_OK);
    mem_free(copy);
    return root;
}

static void test_defaults_are_those_of_the_schema(void** state)
{
    (void)state;
    tree t = {0};
    tree_node* schema = parse_copy(&t, weft_scene_schema());
    weft_scene* scene = load_text(
        "{\"air\": {}, \"cloth\": [{\"mesh\": {\"grid\": {}}, \"pins\": [{\"where\": {\"vertices\": [0]}}]}]}", NULL,
        0);
    // The pin list is not a default; take it out of the comparison by comparing it apart.
    tree_node* root = parse_copy(&t, weft_scene_json(scene));
    tree_node* cloth = tree_member(root, "cloth")->first;
    tree_node* pin = tree_member(cloth, "pins")->first;
    tree_node* defs = tree_member(schema, "$defs");
    assert_int_equal(compare_defaults(schema, tree_member(defs, "pin"), pin), 5);
    tree_node* empty = tree_new(&t, TREE_ARRAY);
    tree_assign(tree_member(cloth, "pins"), empty);
    assert_true(compare_defaults(schema, schema, root) > 45);
    assert_string_equal(tree_member(cloth, "name")->string, "cloth1");
    weft_scene_destroy(scene);
    tree_finish(&t);
}

static void test_catalogue_is_in_the_schema(void** state)
{
    (void)state;
    tree t = {0};
    tree_node* schema = parse_copy(&t, weft_scene_schema());
    tree_node* names = tree_member(tree_member(tree_member(schema, "$defs"), "material_name"), "enum");
    for (tree_node* name = names->first; name; name = name->next)
    {
        weft_material material;
        assert_int_equal(weft_material_find(name->string, &material, NULL), WEFT_OK);
    }
    tree_finish(&t);
}

static void test_settings(void** state)
{
    (void)state;
    weft_scene* scene = load_text("{\"time_step\": 0.01, \"steps_per_frame\": 4, \"frames\": 7,\n"
                                  " \"gravity\": [1, 2, 3], \"method\": \"newton\", \"kernels\": \"base\",\n"
                                  " \"solver\": {\"name\": \"cholesky\", \"tolerance\": 1e-8, \"max_iterations\": 9,\n"
                                  "  \"sa\": {\"theta\": 0.25, \"degree\": 3, \"precision\": 64}},\n"
                                  " \"newton\": {\"tolerance\": 1e-7, \"iterations\": 3},\n"
                                  " \"step_control\": {\"max_halvings\": 2, \"max_stretch\": 1.1},\n"
                                  " \"air\": {\"wind\": [4, 0, 0]}, \"model\": {\"bending\": \"hinge\"},\n"
                                  " \"cloth\": [{\"mesh\": {\"grid\": {\"cells\": 2}}},\n"
                                  "  {\"mesh\": {\"grid\": {\"cells\": 2}}, \"model\": {\"bending\": \"curvature\"},\n"
                                  "   \"velocity\": [0, 1, 0], \"vertex_mass\": 0.5}]}",
                                  NULL, 0);
    assert_true(scene->def.time_step == 0.01);
    assert_int_equal(weft_scene_steps_per_frame(scene), 4);
    assert_int_equal(weft_scene_frames(scene), 7);
    assert_true(fabs(weft_scene_frame_rate(scene) - 25.0) < 1e-12);
    assert_string_equal(weft_scene_name(scene), "scene");
    assert_true(scene->def.gravity.z == 3.0);
    assert_string_equal(scene->def.method, "newton");
    assert_string_equal(scene->def.solver, "cholesky");
    assert_string_equal(scene->def.kernels, "base");
    assert_true(scene->def.tolerance == 1e-8 && scene->def.max_iterations == 9);
    assert_true(scene->def.sa.theta == 0.25 && scene->def.sa.degree == 3 && scene->def.sa.precision == 64);
    assert_true(scene->def.sa.lower == weft_sim_def_default().sa.lower);
    assert_true(scene->def.newton_tolerance == 1e-7 && scene->def.newton_iterations == 3);
    assert_true(scene->def.max_halvings == 2 && scene->def.max_stretch == 1.1);
    assert_true(scene->def.air.density == 1.225 && scene->def.air.wind.x == 4.0);
    assert_string_equal(scene->cloths[0].bending, "hinge");
    assert_string_equal(scene->cloths[1].bending, "curvature");
    assert_string_equal(scene->cloths[1].name, "cloth2");
    assert_true(scene->cloths[1].velocity.y == 1.0 && scene->cloths[1].vertex_mass == 0.5);
    weft_scene_destroy(scene);
}

// ---- materials

static void test_materials(void** state)
{
    (void)state;
    weft_scene* scene = load_cloth("\"material\": {\"base\": \"denim\", \"bending\": 0.25}");
    weft_material denim;
    assert_int_equal(weft_material_find("denim", &denim, NULL), WEFT_OK);
    assert_true(scene->cloths[0].material.bending == 0.25);
    assert_true(scene->cloths[0].material.density == denim.density);
    assert_null(weft_scene_warning(scene, 0));
    weft_scene_destroy(scene);

    scene = load_cloth("\"material\": {\"young_modulus\": 1e6, \"poisson_ratio\": 0.25, \"thickness\": 0.001,"
                       " \"volume_density\": 300, \"damping\": 0.5}");
    const weft_material* m = &scene->cloths[0].material;
    assert_true(fabs(m->stretch_warp - 1000.0) < 1e-9 && fabs(m->stretch_weft - 1000.0) < 1e-9);
    assert_true(fabs(m->shear - 400.0) < 1e-9 && fabs(m->density - 0.3) < 1e-12);
    assert_true(fabs(m->bending - 1e-3 / (12.0 * 0.9375)) < 1e-12 && m->damping == 0.5);
    assert_non_null(strstr(weft_scene_warning(scene, 0), "cloth.0.material converted"));
    assert_non_null(strstr(weft_scene_warning(scene, 0), "shear 400 N/m"));
    assert_null(weft_scene_warning(scene, 1));
    assert_null(weft_scene_warning(scene, -1));
    weft_scene_destroy(scene);

    // A value that is stated wins over the one that the conversion gives.
    scene = load_cloth("\"material\": {\"young_modulus\": 1e6, \"poisson_ratio\": 0.25, \"thickness\": 0.001,"
                       " \"density\": 0.7, \"bending\": 1e-5}");
    assert_true(scene->cloths[0].material.density == 0.7 && scene->cloths[0].material.bending == 1e-5);
    weft_scene_destroy(scene);
}

// ---- meshes

static void test_grids(void** state)
{
    (void)state;
    weft_scene* scene = load_text("{\"cloth\": [{\"mesh\": {\"grid\": {\"size\": [2, 1], \"cells\": 6}}},\n"
                                  " {\"mesh\": {\"grid\": {\"size\": [1, 0.01], \"cells\": 5}}},\n"
                                  " {\"mesh\": {\"grid\": {\"size\": 3, \"cells\": [2, 7], \"plane\": \"xy\","
                                  " \"faces\": \"quads\", \"seed\": 9, \"tessellation\": \"irregular\"}}},\n"
                                  " {\"mesh\": {\"grid\": {\"cells\": 4, \"shape\": \"l\"}}}]}",
                                  NULL, 0);
    assert_int_equal(scene->cloths[0].grid.cells_v, 3);
    assert_int_equal(scene->cloths[0].mesh.vertex_count, 7 * 4);
    assert_int_equal(scene->cloths[1].grid.cells_v, 1);
    const grid_options* grid = &scene->cloths[2].grid;
    assert_true(grid->size_u == 3.0 && grid->size_v == 3.0 && grid->cells_u == 2 && grid->cells_v == 7);
    assert_true(grid->upright && grid->quads && grid->irregular && grid->seed == 9);
    assert_int_equal(scene->cloths[2].mesh.face_count, 14);
    assert_int_equal(scene->cloths[3].mesh.vertex_count, 21);
    weft_scene_destroy(scene);
}

static void test_transform(void** state)
{
    (void)state;
    weft_scene* scene = load_cloth("\"transform\": {\"rotate\": [90, 0, 90], \"translate\": [0, 0, 5], \"scale\": 2}");
    // Corner (-1/2, 0, 1/2): twice as large, about x (y, z) -> (-z, y), then about z (x, y) -> (-y, x).
    vec3 corner = scene->cloths[0].mesh.position[0];
    assert_true(corner.x == 1.0 && corner.y == -1.0 && corner.z == 5.0);
    vec3 warp = scene->cloths[0].world_warp;
    assert_true(warp.x == 0.0 && warp.y == 1.0 && warp.z == 0.0);
    weft_scene_destroy(scene);

    scene = load_cloth("\"transform\": {\"rotate\": [0, -30, 0]}, \"warp\": [0, 0, 2]");
    warp = scene->cloths[0].world_warp;
    assert_true(fabs(warp.x + 1.0) < 1e-15 && fabs(warp.z - sqrt(3.0)) < 1e-15);
    weft_scene_destroy(scene);
}

static const char square_obj[] = "v 0 0 0\nv 100 0 0\nv 100 100 0\nv 0 100 0\nv 100 0 0.00001\nv 200 0 0\nv 200 100 0\n"
                                 "vt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\nvt 3 0\nvt 3 1\n"
                                 "f 1/1 2/2 3/3 4/4\nf 5/2 6/5 7/6 3/3\n";

static void test_obj(void** state)
{
    (void)state;
    write_bytes(path_in_folder("square.obj"), square_obj, strlen(square_obj));
    weft_scene* scene =
        load_text("{\"cloth\": [{\"mesh\": {\"obj\": \"square.obj\", \"scale\": 0.01, \"weld\": 1e-6},\n"
                  " \"rest\": \"uv\", \"uv_scale\": 0.5, \"transform\": {\"translate\": [1, 0, 0]},\n"
                  " \"pins\": [{\"where\": {\"vertices\": [4, 1, 6]}}]}]}",
                  NULL, 0);
    const scene_cloth* cloth = &scene->cloths[0];
    // Vertices 1 and 4 of the file became one; indices in the scene are still those of the file.
    assert_int_equal(cloth->mesh.vertex_count, 6);
    assert_true(fabs(cloth->mesh.position[1].x - 2.0) < 1e-12);
    assert_int_equal(cloth->pins[0].vertex_count, 2);
    assert_int_equal(cloth->pins[0].vertices[0], 1);
    vec3 last = cloth->mesh.position[cloth->pins[0].vertices[1]];
    assert_true(fabs(last.x - 3.0) < 1e-12 && fabs(last.y - 1.0) < 1e-12);
    assert_int_equal(cloth->mesh.face_start[2], 8);
    bool found = false;
    for (int k = 0; k < 8; k++)
    {
        found = found || (cloth->rest_uv[k].x == 1.5 && cloth->rest_uv[k].y == 0.5);
    }
    assert_true(found);
    weft_scene_destroy(scene);
}

// ---- selections

typedef struct selection_case
{
    const char* where;
    int count;
    int vertices[16];
} selection_case;

static void test_selections(void** state)
{
    (void)state;
    // 5 x 5 vertices, row by row: 0..4 is the bottom edge at z = 1/2, 20..24 the top one at z = -1/2.
    static const selection_case cases[] = {
        {"{\"vertices\": [7, 3, 3]}", 2, {3, 7}},
        {"{\"edge\": \"top\"}", 5, {20, 21, 22, 23, 24}},
        {"{\"edge\": \"bottom\"}", 5, {0, 1, 2, 3, 4}},
        {"{\"edge\": [\"left\", \"right\"]}", 10, {0, 4, 5, 9, 10, 14, 15, 19, 20, 24}},
        {"{\"edge\": \"all\"}", 16, {0, 1, 2, 3, 4, 5, 9, 10, 14, 15, 19, 20, 21, 22, 23, 24}},
        {"{\"corner\": \"top-left\"}", 1, {20}},
        {"{\"corner\": \"top-right\"}", 1, {24}},
        {"{\"corner\": [\"bottom-left\", \"bottom-right\"]}", 2, {0, 4}},
        {"{\"nearest\": [0.01, 3, 0]}", 1, {12}},
        {"{\"nearest\": [9, 9, 9]}", 1, {4}},
        {"{\"box\": {\"min\": [-0.3, -1, 0.2], \"max\": [0, 1, 0.5]}}", 4, {1, 2, 6, 7}},
    };
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++)
    {
        char keys[256];
        snprintf(keys, sizeof(keys), "\"forces\": [{\"where\": %s, \"force\": [0, 0, 1]}]", cases[k].where);
        weft_scene* scene = load_cloth(keys);
        assert_vertices(scene->cloths[0].forces[0].vertices, scene->cloths[0].forces[0].vertex_count, cases[k].vertices,
                        cases[k].count);
        weft_scene_destroy(scene);
    }
}

static void test_selection_of_the_cutout(void** state)
{
    (void)state;
    weft_scene* scene = load_text("{\"cloth\": [{\"mesh\": {\"grid\": {\"cells\": 4, \"shape\": \"l\"}},\n"
                                  " \"pins\": [{\"where\": {\"edge\": \"cutout\"}}]}]}",
                                  NULL, 0);
    const scene_pin* pin = &scene->cloths[0].pins[0];
    assert_int_equal(pin->vertex_count, 5);
    for (int k = 0; k < pin->vertex_count; k++)
    {
        vec3 p = scene->cloths[0].mesh.position[pin->vertices[k]];
        assert_true((p.x == 0.0 && p.z <= 0.0) || (p.z == 0.0 && p.x >= 0.0));
    }
    weft_scene_destroy(scene);
}

static void test_pins(void** state)
{
    (void)state;
    weft_scene* scene = load_cloth(
        "\"pins\": [{\"where\": {\"edge\": \"left\"}, \"fix\": {\"line\": [0, 2, 0]}},\n"
        " {\"where\": {\"edge\": \"right\"}, \"fix\": {\"plane\": [0, 0, 1]}, \"release\": 1.5},\n"
        " {\"where\": {\"corner\": \"top-left\"}, \"path\": [{\"time\": 0}, {\"time\": 2, \"offset\": [0, 1, 0],\n"
        "  \"angle\": 90}], \"axis\": [0, 1, 0], \"center\": [1, 0, 0]}]");
    const scene_pin* pins = scene->cloths[0].pins;
    assert_int_equal(scene->cloths[0].pin_count, 3);
    assert_int_equal(pins[0].fix, WEFT_FIX_LINE);
    assert_true(pins[0].direction.y == 2.0 && isinf(pins[0].release));
    assert_int_equal(pins[1].fix, WEFT_FIX_PLANE);
    assert_true(pins[1].release == 1.5);
    assert_int_equal(pins[2].fix, WEFT_FIX_POINT);
    assert_int_equal(pins[2].key_count, 2);
    assert_true(pins[2].keys[1].time == 2.0 && pins[2].keys[1].angle == 90.0 && pins[2].keys[1].offset.y == 1.0);
    assert_true(pins[2].axis.y == 1.0 && pins[2].center.x == 1.0);
    weft_scene_destroy(scene);
}

// ---- text

static void test_comments_and_marks(void** state)
{
    (void)state;
    weft_scene* scene = load_text("\xEF\xBB\xBF// first\r\n{ /* \" { */ \"frames\": 3, // } , \"\r\n"
                                  "\"description\": \"no // comment /* here */ \\\" // nor here\",\r\n"
                                  "\"cloth\" /* \xC3\xA9 */: [{\"mesh\": {\"grid\": {\"cells\": 2}}}] } // last",
                                  NULL, 0);
    assert_int_equal(weft_scene_frames(scene), 3);
    assert_string_equal(scene->description, "no // comment /* here */ \" // nor here");
    weft_scene_destroy(scene);
}

typedef struct error_case
{
    const char* text;
    int line, column; // column 0: not looked at
    const char* fragment;
} error_case;

#define CLOTH "\"cloth\": [{\"mesh\": {\"grid\": {\"cells\": 4}}"

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
    {"{\"solver\": {\"sa\": {\"precision\":\n 48}}}", 2, 2, "it must be 32 or 64"},
    {"{\"newton\": {\"iterations\": 0}}", 1, 0, "at least 1"},
    {"{\"step_control\": {\"max_halvings\": 11}}", 1, 0, "at most 10"},
    {"{\"step_control\": {\"max_stretch\": 1}}", 1, 0, "above 1"},
    {"{\"air\": {\"drag\": -1}}", 1, 0, "must not be negative"},
    {"{\"air\": []}", 1, 9, "expected an object"},
    {"{\"model\": \"barraf-witkin\"}", 1, 0, "did you mean `baraff-witkin`?"},
    {"{\"model\": {\"bending\": \"hing\"}}", 1, 0, "did you mean `hinge`?"},
    {"{\"kernels\": \"sse\"}", 1, 0, "known: auto, base, avx2, avx512"},
    {"{\"obstacles\": [\n{}]}", 1, 15, "contact is not in this version"},
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
    {"{" CLOTH ", \"rest\": \"uw\"}]}", 1, 0, "did you mean `uv`?"},
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
        weft_status status = load_bytes(c->text, strlen(c->text), &scene, &error);
        bool good = status != WEFT_OK && !scene && error.status == status && strstr(error.message, c->fragment) &&
                    error.line == c->line && (c->column == 0 || error.column == c->column) &&
                    strcmp(error.file, path_in_folder("scene.json")) == 0;
        if (!good)
        {
            fail_msg("case %d, %s\ngave %d, %s:%d:%d: %s\nexpected :%d:%d: ...%s...", (int)k, c->text, status,
                     error.file, error.line, error.column, error.message, c->line, c->column, c->fragment);
        }
    }
    // The status of what this version does not do is its own.
    weft_scene* scene = NULL;
    weft_error error;
    const char* text = "{" CLOTH "}], \"obstacles\": [{}]}";
    assert_int_equal(load_bytes(text, strlen(text), &scene, &error), WEFT_UNSUPPORTED);
}

static void test_mesh_errors_name_the_mesh(void** state)
{
    (void)state;
    weft_scene* scene = NULL;
    weft_error error;
    const char* text = "{\"cloth\": [{\"mesh\": {\"obj\": \"bad.obj\"}}]}";
    write_bytes(path_in_folder("bad.obj"), "v 0 0 0\nv 1 0 0\nf 1 2 9\n", 24);
    assert_int_equal(load_bytes(text, strlen(text), &scene, &error), WEFT_BAD_INPUT);
    assert_string_equal(error.file, path_in_folder("bad.obj"));
    assert_int_equal(error.line, 3);

    text = "{\"cloth\": [{\"mesh\": {\"obj\": \"missing.obj\"}}]}";
    assert_int_not_equal(load_bytes(text, strlen(text), &scene, &error), WEFT_OK);
    assert_string_equal(error.file, path_in_folder("scene.json"));
    assert_int_equal(error.line, 1);
    assert_non_null(strstr(error.message, path_in_folder("missing.obj")));
    assert_non_null(strstr(error.message, "paths are relative to the scene file"));

    const char* named = "o skirt\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    write_bytes(path_in_folder("named.obj"), named, strlen(named));
    text = "{\"cloth\": [{\"mesh\": {\"obj\": \"named.obj\",\n \"object\": \"skrt\"}}]}";
    assert_int_equal(load_bytes(text, strlen(text), &scene, &error), WEFT_NOT_FOUND);
    assert_string_equal(error.file, path_in_folder("scene.json"));
    assert_int_equal(error.line, 2);
    assert_non_null(strstr(error.message, "did you mean 'skirt'?"));

    // A corner without vt, where the rest shape is the vt map.
    const char* obj = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nvt 0 0\nvt 1 0\nvt 0 1\nf 1/1 2/2 3/3\nf 2 4 3\n";
    write_bytes(path_in_folder("half.obj"), obj, strlen(obj));
    text = "{\"cloth\": [{\"mesh\": {\"obj\": \"half.obj\"}, \"rest\": \"uv\"}]}";
    assert_int_equal(load_bytes(text, strlen(text), &scene, &error), WEFT_BAD_INPUT);
    assert_int_equal(error.line, 9);
    assert_non_null(strstr(error.message, "without vt"));

    // A face without area in the vt map.
    obj = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nvt 0 0\nvt 1 0\nvt 0 1\nf 1/1 2/2 3/3\nf 2/1 4/2 3/2\n";
    write_bytes(path_in_folder("flat.obj"), obj, strlen(obj));
    text = "{\"cloth\": [{\"mesh\": {\"obj\": \"flat.obj\"}, \"rest\": \"uv\"}]}";
    assert_int_equal(load_bytes(text, strlen(text), &scene, &error), WEFT_BAD_INPUT);
    assert_string_equal(error.file, path_in_folder("flat.obj"));
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
    write_bytes(path_in_folder("loose.obj"), obj, strlen(obj));
    heard_warnings heard = {0};
    weft_set_log(hear_warning, &heard);
    weft_scene* scene = load_text("{\"cloth\": [{\"mesh\": {\"obj\": \"loose.obj\"}}]}", NULL, 0);
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
    weft_scene* scene = load_text("{\"time_step\": 0.1, \"cloth\": [\n"
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

// ---- overrides

typedef struct override_case
{
    const char* override;
    const char* fragment; // of the canonical text, or of the error
} override_case;

static const char override_scene[] = "{\"solver\": \"mpcg\", \"model\": \"baraff-witkin\", " CLOTH
                                     ", \"material\": \"silk\", \"pins\": [{\"where\": {\"edge\": \"top\"}}]},\n"
                                     " {\"name\": \"two\", \"mesh\": {\"grid\": {\"cells\": 2}}}]}";

static void test_overrides(void** state)
{
    (void)state;
    static const override_case cases[] = {
        {"time_step=0.001", "\"time_step\": 0.001,"},
        {"frames=3", "\"frames\": 3,"},
        {"cells=7", "\"cells\": [7, 7]"},
        {"tessellation=irregular", "\"tessellation\": \"irregular\""},
        {"cloth.0.material.bending=1e-4", "\"bending\": 0.0001,"},
        {"cloth.0.material.bending=1e-4", "\"density\": 0.1,"}, // silk's, kept
        {"cloth.0.material=denim", "\"density\": 0.324,"},
        {"cloth.1.material.density=0.5", "\"density\": 0.5,"},
        {"cloth.1.mesh.grid.cells=[3, 5]", "\"cells\": [3, 5]"},
        {"cloth.0.pins.0.where.edge=left", "\"vertices\": [0, 5, 10, 15, 20]"},
        {"cloth.0.pins.0.where={\"vertices\": [11]}", "\"vertices\": [11]"},
        {"cloth.0.pins=[]", "\"pins\": []"},
        {"solver.tolerance=1e-9", "\"name\": \"mpcg\",\n    \"preconditioner\": null,\n    \"tolerance\": 1e-09"},
        {"solver=cholesky", "\"name\": \"cholesky\""},
        {"solver.sa.theta=0.3", "\"name\": \"mpcg\",\n"},
        {"solver.sa.theta=0.3", "\"sa\": {\n      \"theta\": 0.3,\n"},
        {"solver.sa={\"degree\": 7}", "\"degree\": 7,\n"},
        {"model.bending=hinge", "\"bending\": \"hinge\""},
        {"air.wind=[1, 2, 3]", "\"wind\": [1, 2, 3]"},
        {"gravity=[0, 0, 0]", "\"gravity\": [0, 0, 0]"},
        {"description=a=b // c", "\"description\": \"a=b // c\""},
        {"cloth.1.name=seven", "\"name\": \"seven\""},
        {"kernels=base", "\"kernels\": \"base\""},
    };
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++)
    {
        weft_scene* scene = load_text(override_scene, &cases[k].override, 1);
        if (!strstr(weft_scene_json(scene), cases[k].fragment))
        {
            fail_msg("override %s: no %s in %s", cases[k].override, cases[k].fragment, weft_scene_json(scene));
        }
        weft_scene_destroy(scene);
    }
    // The last one wins.
    const char* twice[] = {"frames=3", "frames=4"};
    weft_scene* scene = load_text(override_scene, twice, 2);
    assert_int_equal(weft_scene_frames(scene), 4);
    weft_scene_destroy(scene);
}

static void test_bad_overrides_are_named(void** state)
{
    (void)state;
    static const override_case cases[] = {
        {"frames", "expected PATH=VALUE"},
        {"=3", "expected PATH=VALUE"},
        {"", "expected PATH=VALUE"},
        {"solver..tolerance=3", "empty part"},
        {"frames=many", "expected a whole number, found a string"},
        {"time_step=-1", "must be positive"},
        {"cels=1", "did you mean `cells`?"},
        {"time_stp=1", "did you mean `time_step`?"},
        {"solver.tolerence=1", "did you mean `tolerance`?"},
        {"solver.name=cholski", "did you mean `cholesky`?"},
        {"solver.sa.thetta=0.3", "did you mean `theta`?"},
        {"solver.sa.theta=0.96", "sa.theta is 0.96; it must be a number, 0 to 0.95"},
        {"solver.sa.theta=high", "expected a number, found a string"},
        {"cloth.2.name=x", "`cloth` is a list of 2"},
        {"cloth.first.name=x", "found `first`"},
        {"cloth.-1.name=x", "found `-1`"},
        {"cloth.0.mesh.grid.cells.0=3", "`cloth.0.mesh.grid.cells` is a number and has no `0`"},
        {"cloth.0.material.bendng=3", "did you mean `bending`?"},
        {"cloth.0.material={\"bendng\": 3}", "did you mean `bending`?"},
        {"cells=0", "at least 1"},
        {"tessellation=hexagons", "known: regular, irregular"},
        {"description=\xFF", "not valid UTF-8"},
    };
    write_bytes(path_in_folder("scene.json"), override_scene, strlen(override_scene));
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++)
    {
        weft_scene* scene = NULL;
        weft_error error = {0};
        weft_status status = weft_scene_load(path_in_folder("scene.json"), &cases[k].override, 1, &scene, &error);
        if (status != WEFT_BAD_INPUT || !strstr(error.message, cases[k].fragment) ||
            !strstr(error.message, cases[k].override))
        {
            fail_msg("override %s gave %d: %s", cases[k].override, status, error.message);
        }
    }
    const char* text = "{\"cloth\": [{\"mesh\": {\"obj\": \"square.obj\"}}]}";
    write_bytes(path_in_folder("scene.json"), text, strlen(text));
    weft_scene* scene = NULL;
    weft_error error = {0};
    const char* cells = "cells=3";
    assert_int_equal(weft_scene_load(path_in_folder("scene.json"), &cells, 1, &scene, &error), WEFT_BAD_INPUT);
    assert_non_null(strstr(error.message, "the scene has no grid"));
}

// ---- canonical text

static void write_obj(const scene_cloth* cloth)
{
    char name[128];
    snprintf(name, sizeof(name), "%s.obj", cloth->name);
    FILE* file = fopen(path_in_folder(name), "w");
    assert_non_null(file);
    const mesh* m = &cloth->mesh;
    for (int k = 0; k < m->vertex_count; k++)
    {
        fprintf(file, "v %.17g %.17g %.17g\n", m->position[k].x, m->position[k].y, m->position[k].z);
    }
    for (int k = 0; cloth->rest_uv && k < m->face_start[m->face_count]; k++)
    {
        fprintf(file, "vt %.17g %.17g\n", cloth->rest_uv[k].x, cloth->rest_uv[k].y);
    }
    for (int face = 0; face < m->face_count; face++)
    {
        fprintf(file, "f");
        for (int k = m->face_start[face]; k < m->face_start[face + 1]; k++)
        {
            fprintf(file, " %d", m->face_vertex[k] + 1);
            if (cloth->rest_uv)
            {
                fprintf(file, "/%d", k + 1);
            }
        }
        fprintf(file, "\n");
    }
    assert_int_equal(fclose(file), 0);
}

static void assert_same_cloth(const scene_cloth* a, const scene_cloth* b)
{
    int corners = a->mesh.face_start[a->mesh.face_count];
    assert_int_equal(a->mesh.vertex_count, b->mesh.vertex_count);
    assert_int_equal(a->mesh.face_count, b->mesh.face_count);
    assert_memory_equal(a->mesh.position, b->mesh.position, sizeof(vec3) * (size_t)a->mesh.vertex_count);
    assert_memory_equal(a->mesh.face_start, b->mesh.face_start, sizeof(int) * (size_t)(a->mesh.face_count + 1));
    assert_memory_equal(a->mesh.face_vertex, b->mesh.face_vertex, sizeof(int) * (size_t)corners);
    assert_memory_equal(&a->world_warp, &b->world_warp, sizeof(vec3));
    assert_memory_equal(&a->material, &b->material, sizeof(weft_material));
    assert_int_equal(!a->rest_uv, !b->rest_uv);
    if (a->rest_uv)
    {
        assert_memory_equal(a->rest_uv, b->rest_uv, sizeof(vec2) * (size_t)corners);
    }
    assert_int_equal(a->pin_count, b->pin_count);
    for (int k = 0; k < a->pin_count; k++)
    {
        assert_vertices(b->pins[k].vertices, b->pins[k].vertex_count, a->pins[k].vertices, a->pins[k].vertex_count);
        assert_memory_equal(a->pins[k].keys, b->pins[k].keys, sizeof(scene_key) * (size_t)a->pins[k].key_count);
    }
}

// Loading the canonical text from a folder with the meshes builds the same, and writes the same text.
static void assert_round_trip(const weft_scene* first)
{
    for (int k = 0; k < first->cloth_count; k++)
    {
        if (!first->cloths[k].is_grid)
        {
            write_obj(&first->cloths[k]);
        }
    }
    weft_scene* again = load_text(weft_scene_json(first), NULL, 0);
    assert_string_equal(weft_scene_json(first), weft_scene_json(again));
    assert_int_equal(first->cloth_count, again->cloth_count);
    assert_true(first->def.time_step == again->def.time_step && first->frames == again->frames);
    for (int k = 0; k < first->cloth_count; k++)
    {
        assert_same_cloth(&first->cloths[k], &again->cloths[k]);
    }
    weft_scene_destroy(again);
}

static void test_round_trip_of_values(void** state)
{
    (void)state;
    weft_scene* scene = load_text(
        "{\"description\": \"tab\\t, quote \\\", \\u00e9, \\u0001\", \"time_step\": 0.0011111111111111111,\n"
        " \"gravity\": [-0.0, -9.8066500000000003, 1e-300], \"air\": {\"density\": 0.1, \"gust\": 0.3},\n"
        " \"solver\": {\"name\": \"mpcg\", \"preconditioner\": \"block\"}, \"cloth\": [\n"
        " {\"mesh\": {\"grid\": {\"size\": [0.7, 1.3], \"cells\": 5, \"tessellation\": \"irregular\", \"seed\": 77}},\n"
        "  \"transform\": {\"rotate\": [33.3, -12.1, 200], \"translate\": [0.1, 0.2, 0.3], \"scale\": 1.7},\n"
        "  \"material\": {\"young_modulus\": 1.3e6, \"poisson_ratio\": 0.3, \"thickness\": 0.0003,"
        " \"volume_density\": 432.1},\n"
        "  \"pins\": [{\"where\": {\"edge\": \"all\"}, \"fix\": {\"plane\": [0.1, 0.7, 0]}, \"release\": 0.3,\n"
        "   \"path\": [{\"time\": 0.1, \"angle\": 12.3}, {\"time\": 0.7, \"offset\": [1e-3, 0, 0]}], \"axis\": [0, 1, "
        "0]}]},\n"
        " {\"mesh\": {\"grid\": {\"cells\": 2, \"faces\": \"quads\"}}, \"velocity\": [0.1, 0, 0]}]}",
        NULL, 0);
    assert_non_null(strstr(weft_scene_json(scene), "\"gravity\": [-0.0, -9.80665, 1e-300]"));
    assert_round_trip(scene);
    weft_scene_destroy(scene);
}

static void test_round_trip_of_obj(void** state)
{
    (void)state;
    write_bytes(path_in_folder("square.obj"), square_obj, strlen(square_obj));
    weft_scene* scene = load_text(
        "{\"cloth\": [{\"name\": \"flat\", \"mesh\": {\"obj\": \"square.obj\", \"scale\": 0.013, \"weld\": 1e-6},\n"
        " \"rest\": \"uv\", \"uv_scale\": 0.3, \"transform\": {\"rotate\": [10, 20, 30], \"translate\": [0.1, 0, 0]},\n"
        " \"warp\": [1, 1, 0], \"pins\": [{\"where\": {\"vertices\": [6, 4]}}, {\"where\": {\"edge\": \"all\"}}]}]}",
        NULL, 0);
    assert_non_null(strstr(weft_scene_json(scene), "\"obj\": \"flat.obj\""));
    assert_round_trip(scene);
    weft_scene_destroy(scene);
}

static void test_round_trip_in_another_locale(void** state)
{
    (void)state;
    static const char* const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "nl_NL.UTF-8"};
    bool found = false;
    for (int k = 0; k < 4 && !found; k++)
    {
        found = setlocale(LC_NUMERIC, names[k]) != NULL;
    }
    weft_scene* scene = load_cloth("\"uv_scale\": 0.125");
    assert_non_null(strstr(weft_scene_json(scene), "\"uv_scale\": 0.125,"));
    assert_round_trip(scene);
    weft_scene_destroy(scene);
    setlocale(LC_NUMERIC, "C");
    if (!found)
    {
        print_message("no locale with a decimal comma is installed; tested with the default one\n");
    }
}

// ---- scenes that ship

static void test_shipped_scenes(void** state)
{
    (void)state;
    for (int k = 0; k < scene_list_count(); k++)
    {
        const char* name = scene_list_name(k);
        for (int variant = 0; variant < 2; variant++)
        {
            const char* overrides[] = {"cells=6", "tessellation=irregular"};
            bool as_shipped = variant == 0;
            weft_scene* scene = NULL;
            weft_error error = {0};
            weft_status status = weft_scene_load(name, overrides, as_shipped ? 0 : 2, &scene, &error);
            if (status != WEFT_OK)
            {
                fail_msg("%s: %s:%d: %s", name, error.file, error.line, error.message);
            }
            assert_string_equal(weft_scene_name(scene), name);
            // The summary in the table is the first sentence of the description.
            const char* summary = scene_list_summary(k);
            size_t length = strlen(summary);
            assert_int_equal(strncmp(scene->description, summary, length), 0);
            assert_true(summary[length - 1] == '.');
            assert_ptr_equal(strstr(scene->description, ". ") + 1, scene->description + length);
            assert_round_trip(scene);
            weft_scene_destroy(scene);
        }
    }
}

static void test_every_shipped_file_has_a_row(void** state)
{
    (void)state;
    int count = 0;
    for (const embedded_file* file = embedded_files; file->name; file++)
    {
        count += strcmp(file->name, "schema.json") != 0;
    }
    assert_int_equal(count, scene_list_count());
    assert_null(weft_scene_text("schema"));
    assert_null(weft_scene_text("no-such-scene"));
    assert_null(weft_scene_text("pin"));
    assert_non_null(weft_scene_text("pinned"));
    weft_scene* scene = NULL;
    weft_error error = {0};
    assert_int_equal(weft_scene_load("droping", NULL, 0, &scene, &error), WEFT_NOT_FOUND);
    assert_non_null(strstr(error.message, "did you mean `drooping`?"));
}

static void test_shipped_values(void** state)
{
    (void)state;
    weft_scene* scene = NULL;
    assert_int_equal(weft_scene_load("two-corners", NULL, 0, &scene, NULL), WEFT_OK);
    assert_int_equal(scene->cloths[0].mesh.vertex_count, 81 * 81);
    assert_true(scene->def.time_step == 1.0 / 120.0 && fabs(weft_scene_frame_rate(scene) - 24.0) < 1e-9);
    assert_int_equal(scene->cloths[0].pins[0].vertex_count, 2);
    weft_scene_destroy(scene);

    assert_int_equal(weft_scene_load("mpcg-4x4", NULL, 0, &scene, NULL), WEFT_OK);
    const scene_cloth* cloth = &scene->cloths[0];
    assert_int_equal(cloth->mesh.vertex_count, 25);
    assert_true(cloth->mesh.position[1].x - cloth->mesh.position[0].x == 1.5);
    static const int corners[] = {0, 4, 20, 24};
    assert_vertices(cloth->pins[0].vertices, cloth->pins[0].vertex_count, corners, 4);
    assert_int_equal(cloth->forces[0].vertices[0], 12);
    assert_true(cloth->forces[0].force.z == -2.0 && cloth->vertex_mass == 0.2 && cloth->material.damping == 0.0);
    weft_scene_destroy(scene);

    const char* whole = "cloth.0.mesh.grid.size=1.5";
    assert_int_equal(weft_scene_load("mpcg-4x4", &whole, 1, &scene, NULL), WEFT_OK);
    assert_true(scene->cloths[0].mesh.position[24].x == 0.75);
    weft_scene_destroy(scene);

    assert_int_equal(weft_scene_load("pinned", NULL, 0, &scene, NULL), WEFT_OK);
    assert_int_equal(scene->cloths[0].pins[0].vertex_count, 400);
    assert_string_equal(scene->cloths[0].bending, "hinge");
    assert_true(scene->def.time_step == 0.002 && scene->steps_per_frame == 20 && scene->frames == 10);
    weft_scene_destroy(scene);
}

// ---- simulations

static void test_sim_from_a_scene(void** state)
{
    (void)state;
    weft_scene* scene = NULL;
    weft_error error = {0};
    const char* cells = "cells=3";
    assert_int_equal(weft_scene_load("hang", &cells, 1, &scene, &error), WEFT_OK);
    weft_sim* sim = NULL;
    weft_status status = weft_scene_create_sim(scene, 1, &sim, &error);
    if (status != WEFT_OK)
    {
        fail_msg("%s:%d: %s", error.file, error.line, error.message);
    }
    assert_int_equal(weft_sim_cloth_count(sim), 1);
    assert_int_equal(weft_sim_vertex_count(sim, 0), 16);
    assert_string_equal(weft_sim_cloth_name(sim, 0), "sheet");
    weft_vec3 positions[16];
    weft_sim_positions(sim, 0, positions);
    assert_memory_equal(positions, scene->cloths[0].mesh.position, sizeof(positions));
    weft_sim_destroy(sim);
    weft_scene_destroy(scene);
}

// ---- hostile files

static void test_files_that_are_no_scenes(void** state)
{
    (void)state;
    weft_scene* scene = NULL;
    weft_error error = {0};
    assert_int_equal(weft_scene_load(folder, NULL, 0, &scene, &error), WEFT_BAD_INPUT);
    assert_non_null(strstr(error.message, "folder"));

    assert_int_equal(mkfifo(path_in_folder("pipe"), 0600), 0);
    assert_int_equal(weft_scene_load(path_in_folder("pipe"), NULL, 0, &scene, &error), WEFT_BAD_INPUT);
    assert_non_null(strstr(error.message, "pipe"));
    assert_int_equal(weft_scene_load("/dev/zero", NULL, 0, &scene, &error), WEFT_BAD_INPUT);

    assert_int_equal(weft_scene_load(path_in_folder("none.json"), NULL, 0, &scene, &error), WEFT_NOT_FOUND);
    assert_int_equal(weft_scene_load("", NULL, 0, &scene, &error), WEFT_NOT_FOUND);

    write_bytes(path_in_folder("shirt.obj"), "v 0 0 0\n", 8);
    assert_int_equal(weft_scene_load(path_in_folder("shirt.obj"), NULL, 0, &scene, &error), WEFT_BAD_INPUT);
    assert_non_null(strstr(error.message, "looks like an OBJ file"));
    assert_non_null(strstr(error.message, "{\"cloth\": [{\"mesh\": {\"obj\": \"shirt.obj\"}}]}"));

    write_bytes(path_in_folder("locked.json"), "{}", 2);
    assert_int_equal(chmod(path_in_folder("locked.json"), 0), 0);
    if (access(path_in_folder("locked.json"), R_OK) != 0)
    {
        assert_int_equal(weft_scene_load(path_in_folder("locked.json"), NULL, 0, &scene, &error), WEFT_BAD_INPUT);
        assert_non_null(strstr(error.message, "cannot open"));
    }
    assert_null(scene);
}

static void test_huge_files(void** state)
{
    (void)state;
    weft_scene* scene = NULL;
    weft_error error = {0};
    write_bytes(path_in_folder("huge.json"), "{", 1);
    assert_int_equal(truncate(path_in_folder("huge.json"), (off_t)SCENE_BYTES_MAX + 1), 0);
    assert_int_equal(weft_scene_load(path_in_folder("huge.json"), NULL, 0, &scene, &error), WEFT_BAD_INPUT);
    assert_non_null(strstr(error.message, "larger than 64 MiB"));
    unlink(path_in_folder("huge.json"));

    // Few bytes, but many values.
    size_t size = 2 * (size_t)SCENE_VALUES_MAX + 16;
    char* text = malloc(size);
    memset(text, ',', size);
    text[0] = '[';
    assert_int_equal(load_bytes(text, size, &scene, &error), WEFT_BAD_INPUT);
    assert_non_null(strstr(error.message, "more than 4000000 values"));

    // Brackets without end.
    memset(text, '[', 100000);
    assert_int_equal(load_bytes(text, 100000, &scene, &error), WEFT_BAD_INPUT);
    assert_non_null(strstr(error.message, "depth"));
    free(text);

    // Depth that the parser takes.
    char deep[4096] = "{\"solver\": ";
    size_t used = strlen(deep);
    memset(deep + used, '[', 1500);
    memset(deep + used + 1500, ']', 1500);
    deep[used + 3000] = '}';
    assert_int_equal(load_bytes(deep, used + 3001, &scene, &error), WEFT_BAD_INPUT);
    assert_non_null(strstr(error.message, "expected a name or an object"));
    assert_null(scene);
}

static const char small_scene[] =
    "// small\n{\"frames\": 2, \"solver\": {\"name\": \"mpcg\", \"tolerance\": 1e-6}, \"kernels\": \"base\",\n"
    " \"air\": {\"wind\": [1, 0, 0]}, /* two */ \"cloth\": [{\"name\": \"a\",\n"
    "  \"mesh\": {\"grid\": {\"size\": [1, 2], \"cells\": [2, 2], \"plane\": \"xy\"}},\n"
    "  \"material\": {\"base\": \"silk\", \"shear\": 3}, \"transform\": {\"rotate\": [0, 90, 1]},\n"
    "  \"pins\": [{\"where\": {\"edge\": [\"top\"]}, \"fix\": {\"line\": [0, 1, 0]},\n"
    "   \"path\": [{\"time\": 0}, {\"time\": 1, \"offset\": [0, 1, 0]}]}],\n"
    "  \"forces\": [{\"where\": {\"vertices\": [1, 2]}, \"force\": [0, 0, 1]}]}]}";

static void test_cut_at_every_byte(void** state)
{
    (void)state;
    size_t size = strlen(small_scene);
    for (size_t cut = 0; cut <= size; cut++)
    {
        weft_scene* scene = NULL;
        weft_error error;
        weft_status status = load_bytes(small_scene, cut, &scene, &error);
        assert_int_equal(status, cut == size ? WEFT_OK : WEFT_BAD_INPUT);
        assert_true(cut == size || (error.line > 0 && error.message[0] != '\0'));
        weft_scene_destroy(scene);
    }
}

static uint64_t pick(uint64_t* counter, uint64_t below)
{
    return random_bits(20, (*counter)++) % below;
}

// Changes, removes, doubles or inserts a few bytes.
static size_t mutate(char* text, size_t size, uint64_t* counter)
{
    static const char alphabet[] = "{}[]\",:0123456789.eE-+/*\\ \n\tntfu\x80\xFF";
    int changes = 1 + (int)pick(counter, 2);
    for (int k = 0; k < changes && size > 2; k++)
    {
        size_t at = (size_t)pick(counter, size), length = 1 + (size_t)pick(counter, 8);
        char letter = alphabet[pick(counter, sizeof(alphabet))];
        switch (pick(counter, 4))
        {
        case 0:
            text[at] = letter;
            break;
        case 1:
            length = at + length > size ? size - at : length;
            memmove(text + at, text + at + length, size - at - length);
            size -= length;
            break;
        case 2:
            memmove(text + at + 1, text + at, size - at);
            text[at] = letter;
            size++;
            break;
        default:
            length = at + length > size ? size - at : length;
            memmove(text + at + length, text + at, size - at);
            size += length;
            break;
        }
    }
    return size;
}

static void test_random_mutations(void** state)
{
    (void)state;
    uint64_t counter = 0;
    int loaded = 0;
    const char* small = "cells=[2, 2]"; // a digit more must not cost minutes
    for (int round = 0; round < 5000; round++)
    {
        char text[2048];
        size_t size = strlen(small_scene);
        memcpy(text, small_scene, size);
        size = mutate(text, size, &counter);
        write_bytes(path_in_folder("scene.json"), text, size);
        weft_scene* scene = NULL;
        weft_error error = {0};
        weft_status status = weft_scene_load(path_in_folder("scene.json"), &small, 1, &scene, &error);
        assert_true(status == WEFT_OK ? scene != NULL : scene == NULL && error.message[0] != '\0');
        loaded += status == WEFT_OK;
        if (status == WEFT_OK)
        {
            char* json = mem_strdup(weft_scene_json(scene));
            weft_scene_destroy(scene);
            weft_scene_destroy(load_text(json, NULL, 0)); // whatever loads writes what loads
            mem_free(json);
        }
    }
    assert_true(loaded > 100);
}

// ---- memory

typedef struct failing_memory
{
    int countdown; // the allocation that fails
    int live;
} failing_memory;

static void* failing_alloc(size_t size, size_t alignment, void* user)
{
    failing_memory* memory = user;
    if (memory->countdown-- == 0)
    {
        return NULL;
    }
    void* pointer = NULL;
    if (posix_memalign(&pointer, alignment, size) != 0)
    {
        return NULL;
    }
    memory->live++;
    return pointer;
}

static void failing_free(void* pointer, void* user)
{
    failing_memory* memory = user;
    memory->live--;
    free(pointer);
}

static void test_every_allocation_may_fail(void** state)
{
    (void)state;
    write_bytes(path_in_folder("scene.json"), small_scene, strlen(small_scene));
    weft_status status = WEFT_NO_MEMORY;
    int failures = 0;
    for (; status != WEFT_OK; failures++)
    {
        failing_memory memory = {failures, 0};
        weft_allocator hooks = {failing_alloc, failing_free, &memory};
        weft_set_allocator(&hooks);
        const char* overrides[] = {"solver.tolerance=1e-3", "cloth.0.material.bending=2"};
        weft_scene* scene = NULL;
        weft_error error = {0};
        status = weft_scene_load(path_in_folder("scene.json"), overrides, 2, &scene, &error);
        weft_scene_destroy(scene);
        weft_set_allocator(NULL);
        assert_true(status == WEFT_OK || status == WEFT_NO_MEMORY);
        assert_int_equal(memory.live, 0);
        assert_true(failures < 10000);
    }
    assert_true(failures > 20);
}

// ---- frame

static int make_folder(void** state)
{
    (void)state;
    const char* base = getenv("TMPDIR");
    snprintf(folder, sizeof(folder), "%.200s/weft-scene-XXXXXX", base && base[0] ? base : "/tmp");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void** state)
{
    (void)state;
    static const char* const names[] = {"scene.json", "square.obj", "bad.obj", "half.obj",    "named.obj", "flat.obj",
                                        "loose.obj",  "shirt.obj",  "pipe",    "locked.json", "huge.json"};
    for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
    {
        unlink(path_in_folder(names[k]));
    }
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults_are_those_of_the_schema),
        cmocka_unit_test(test_catalogue_is_in_the_schema),
        cmocka_unit_test(test_settings),
        cmocka_unit_test(test_materials),
        cmocka_unit_test(test_grids),
        cmocka_unit_test(test_transform),
        cmocka_unit_test(test_obj),
        cmocka_unit_test(test_selections),
        cmocka_unit_test(test_selection_of_the_cutout),
        cmocka_unit_test(test_pins),
        cmocka_unit_test(test_comments_and_marks),
        cmocka_unit_test(test_errors_name_their_place),
        cmocka_unit_test(test_mesh_errors_name_the_mesh),
        cmocka_unit_test(test_loose_vertices_are_warned_of_once),
        cmocka_unit_test(test_doubtful_units_are_noted),
        cmocka_unit_test(test_overrides),
        cmocka_unit_test(test_bad_overrides_are_named),
        cmocka_unit_test(test_round_trip_of_values),
        cmocka_unit_test(test_round_trip_of_obj),
        cmocka_unit_test(test_round_trip_in_another_locale),
        cmocka_unit_test(test_shipped_scenes),
        cmocka_unit_test(test_every_shipped_file_has_a_row),
        cmocka_unit_test(test_shipped_values),
        cmocka_unit_test(test_sim_from_a_scene),
        cmocka_unit_test(test_files_that_are_no_scenes),
        cmocka_unit_test(test_huge_files),
        cmocka_unit_test(test_cut_at_every_byte),
        cmocka_unit_test(test_random_mutations),
        cmocka_unit_test(test_every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
