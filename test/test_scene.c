// Scene files: defaults, materials, meshes, selections, overrides. The canonical text and the scenes that ship are in
// test_scene_text.c; errors and hostile input have files of their own.
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common_scene.h"
#include "scene/embedded.h"
#include "scene/scene_data.h"
#include "scene/scene_list.h"

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

static tree_node* parse_schema(tree* t)
{
    char* text = scene_schema();
    tree_node* schema = parse_copy(t, text);
    free(text);
    return schema;
}

// scenes/schema.json is what editors read: what `weft check --schema` prints, with the settings that methods declare.
static void test_schema_file_is_up_to_date(void** state)
{
    (void)state;
    char* text = scene_schema();
    const embedded_file* file = embedded_files;
    while (strcmp(file->name, "schema.json") != 0)
    {
        file++;
    }
    if (strcmp(text, file->text) != 0)
    {
        fail_msg("scenes/schema.json is old: build/weft check --schema > FILE, and put it there");
    }
    char part[16];
    assert_int_equal(weft_scene_schema(part, sizeof(part)), strlen(text));
    assert_int_equal(strlen(part), sizeof(part) - 1);
    assert_memory_equal(part, text, sizeof(part) - 1);
    free(text);
}

static void test_defaults_are_those_of_the_schema(void** state)
{
    (void)state;
    tree t = {0};
    tree_node* schema = parse_schema(&t);
    weft_scene* scene = scene_load_text(
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

// The same for obstacles: each shape with as few keys as it can have.
static void test_defaults_of_obstacles(void** state)
{
    (void)state;
    static const char* const shapes[] = {"\"plane\": {}",
                                         "\"sphere\": {\"radius\": 1}",
                                         "\"box\": {\"size\": 1}",
                                         "\"cylinder\": {\"from\": [0, 0, 0], \"to\": [0, 1, 0], \"radius\": 1}",
                                         "\"capsule\": {\"from\": [0, 0, 0], \"to\": [0, 1, 0], \"radius\": 1}",
                                         "\"torus\": {\"radius\": 1, \"tube\": 0.5}"};
    static const int own[] = {
        4, 2, 4,
        1, 1, 3}; // defaults of the shape; motion has three, friction and regions one each, thickness is the scene's
    for (int k = 0; k < 6; k++)
    {
        char text[500];
        tree t = {0};
        snprintf(text, sizeof(text), "{\"cloth\": [{\"mesh\": {\"grid\": {}}}], \"obstacles\": [{\"shape\": {%s}}]}",
                 shapes[k]);
        tree_node* schema = parse_schema(&t);
        weft_scene* scene = scene_load_text(text, NULL, 0);
        tree_node* obstacle = tree_member(parse_copy(&t, weft_scene_json(scene)), "obstacles")->first;
        tree_node* defs = tree_member(schema, "$defs");
        assert_int_equal(compare_defaults(schema, tree_member(defs, "obstacle"), obstacle), 5 + own[k]);
        weft_scene_destroy(scene);
        tree_finish(&t);
    }
}

static void test_catalogue_is_in_the_schema(void** state)
{
    (void)state;
    tree t = {0};
    tree_node* schema = parse_schema(&t);
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
    weft_scene* scene =
        scene_load_text("{\"time_step\": 0.01, \"steps_per_frame\": 4, \"frames\": 7,\n"
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
    assert_true(weft_sim_def_get(&scene->def, "newton", "tolerance") == 1e-7);
    assert_true(weft_sim_def_get(&scene->def, "newton", "iterations") == 3.0);
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
    weft_scene* scene = scene_load_cloth("\"material\": {\"base\": \"denim\", \"bending\": 0.25}");
    weft_material denim;
    assert_int_equal(weft_material_find("denim", &denim, NULL), WEFT_OK);
    assert_true(scene->cloths[0].material.bending == 0.25);
    assert_true(scene->cloths[0].material.density == denim.density);
    assert_null(weft_scene_warning(scene, 0));
    weft_scene_destroy(scene);

    scene = scene_load_cloth("\"material\": {\"young_modulus\": 1e6, \"poisson_ratio\": 0.25, \"thickness\": 0.001,"
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
    scene = scene_load_cloth("\"material\": {\"young_modulus\": 1e6, \"poisson_ratio\": 0.25, \"thickness\": 0.001,"
                             " \"density\": 0.7, \"bending\": 1e-5}");
    assert_true(scene->cloths[0].material.density == 0.7 && scene->cloths[0].material.bending == 1e-5);
    weft_scene_destroy(scene);
}

// ---- meshes

static void test_grids(void** state)
{
    (void)state;
    weft_scene* scene = scene_load_text("{\"cloth\": [{\"mesh\": {\"grid\": {\"size\": [2, 1], \"cells\": 6}}},\n"
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
    weft_scene* scene =
        scene_load_cloth("\"transform\": {\"rotate\": [90, 0, 90], \"translate\": [0, 0, 5], \"scale\": 2}");
    // Corner (-1/2, 0, 1/2): twice as large, about x (y, z) -> (-z, y), then about z (x, y) -> (-y, x).
    vec3 corner = scene->cloths[0].mesh.position[0];
    assert_true(corner.x == 1.0 && corner.y == -1.0 && corner.z == 5.0);
    vec3 warp = scene->cloths[0].world_warp;
    assert_true(warp.x == 0.0 && warp.y == 1.0 && warp.z == 0.0);
    weft_scene_destroy(scene);

    scene = scene_load_cloth("\"transform\": {\"rotate\": [0, -30, 0]}, \"warp\": [0, 0, 2]");
    warp = scene->cloths[0].world_warp;
    assert_true(fabs(warp.x + 1.0) < 1e-15 && fabs(warp.z - sqrt(3.0)) < 1e-15);
    weft_scene_destroy(scene);
}

static void test_obj(void** state)
{
    (void)state;
    scene_write_bytes(scene_path("square.obj"), scene_square_obj, strlen(scene_square_obj));
    weft_scene* scene =
        scene_load_text("{\"cloth\": [{\"mesh\": {\"obj\": \"square.obj\", \"scale\": 0.01, \"weld\": 1e-6},\n"
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
        weft_scene* scene = scene_load_cloth(keys);
        scene_assert_vertices(scene->cloths[0].forces[0].vertices, scene->cloths[0].forces[0].vertex_count,
                              cases[k].vertices, cases[k].count);
        weft_scene_destroy(scene);
    }
}

static void test_selection_of_the_cutout(void** state)
{
    (void)state;
    weft_scene* scene = scene_load_text("{\"cloth\": [{\"mesh\": {\"grid\": {\"cells\": 4, \"shape\": \"l\"}},\n"
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
    weft_scene* scene = scene_load_cloth(
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
    assert_int_equal(pins[2].motion.key_count, 2);
    assert_true(pins[2].motion.keys[1].time == 2.0 && pins[2].motion.keys[1].angle == 90.0 &&
                pins[2].motion.keys[1].offset.y == 1.0);
    assert_true(pins[2].motion.axis.y == 1.0 && pins[2].motion.center.x == 1.0);
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
        {"solver.tolerance=1e-9",
         "\"name\": \"mpcg\",\n    \"preconditioner\": null,\n    \"variant\": null,\n    \"tolerance\": 1e-09"},
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
        weft_scene* scene = scene_load_text(override_scene, &cases[k].override, 1);
        if (!strstr(weft_scene_json(scene), cases[k].fragment))
        {
            fail_msg("override %s: no %s in %s", cases[k].override, cases[k].fragment, weft_scene_json(scene));
        }
        weft_scene_destroy(scene);
    }
    // The last one wins.
    const char* twice[] = {"frames=3", "frames=4"};
    weft_scene* scene = scene_load_text(override_scene, twice, 2);
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
    scene_write_bytes(scene_path("scene.json"), override_scene, strlen(override_scene));
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++)
    {
        weft_scene* scene = NULL;
        weft_error error = {0};
        weft_status status = weft_scene_load(scene_path("scene.json"), &cases[k].override, 1, &scene, &error);
        if (status != WEFT_BAD_INPUT || !strstr(error.message, cases[k].fragment) ||
            !strstr(error.message, cases[k].override))
        {
            fail_msg("override %s gave %d: %s", cases[k].override, status, error.message);
        }
    }
    const char* text = "{\"cloth\": [{\"mesh\": {\"obj\": \"square.obj\"}}]}";
    scene_write_bytes(scene_path("scene.json"), text, strlen(text));
    weft_scene* scene = NULL;
    weft_error error = {0};
    const char* cells = "cells=3";
    assert_int_equal(weft_scene_load(scene_path("scene.json"), &cells, 1, &scene, &error), WEFT_BAD_INPUT);
    assert_non_null(strstr(error.message, "the scene has no grid"));
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

// A scene that names no model runs with every method; what one is asked for is kept, and refused with what would do.
static void test_every_method_has_a_model(void** state)
{
    (void)state;
    const char* name;
    for (int k = 0; weft_list(WEFT_LIST_METHODS, k, &name, NULL) == WEFT_OK; k++)
    {
        char text[256];
        snprintf(text, sizeof(text),
                 "{\"method\": \"%s\", " CLOTH "}, {\"mesh\": {\"grid\": {\"cells\": 3}},"
                 " \"transform\": {\"translate\": [0, 1, 0]}}]}",
                 name);
        weft_sim_destroy(scene_sim_text(text, 1));
    }
    weft_scene* scene = scene_load_text("{\"method\": \"local-global\", \"model\": \"hooke\", " CLOTH "}]}", NULL, 0);
    assert_string_equal(scene->cloths[0].model, "hooke");
    weft_scene_destroy(scene);
    scene = scene_load_text("{\"method\": \"local-global\", \"model\": \"baraff-witkin\", " CLOTH "}]}", NULL, 0);
    weft_sim* sim = NULL;
    weft_error error = {0};
    assert_int_equal(weft_scene_create_sim(scene, 1, &sim, &error), WEFT_UNSUPPORTED);
    assert_non_null(strstr(error.message, "models that it can move: hooke, corotated"));
    weft_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults_of_obstacles),
        cmocka_unit_test(test_schema_file_is_up_to_date),
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
        cmocka_unit_test(test_overrides),
        cmocka_unit_test(test_bad_overrides_are_named),
        cmocka_unit_test(test_sim_from_a_scene),
        cmocka_unit_test(test_every_method_has_a_model),
    };
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
