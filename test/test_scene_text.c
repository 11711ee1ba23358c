// The canonical text of a scene, which loads as the scene itself, and the scenes that ship.
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

#include "common_scene.h"
#include "scene/embedded.h"
#include "scene/scene_data.h"
#include "scene/scene_list.h"

// ---- canonical text

static void write_obj(const scene_cloth* cloth)
{
    char name[128];
    snprintf(name, sizeof(name), "%s.obj", cloth->name);
    FILE* file = fopen(scene_path(name), "w");
    assert_non_null(file);
    const mesh* m = &cloth->mesh;
    for (int k = 0; k < (m->weld ? m->given_count : m->vertex_count); k++)
    {
        vec3 x = m->position[m->weld ? m->weld[k] : k];
        fprintf(file, "v %.17g %.17g %.17g\n", x.x, x.y, x.z);
        int first = 0;
        for (; m->weld && m->weld[first] != m->weld[k]; first++)
        {
        }
        m->weld && first < k ? (void)fprintf(file, "#weft one %d %d\n", first + 1, k + 1) : (void)0;
    }
    for (int k = 0; k < m->texcoord_count; k++)
    {
        fprintf(file, "vt %.17g %.17g\n", m->texcoord[k].x, m->texcoord[k].y);
    }
    for (int face = 0; face < m->face_count; face++)
    {
        fprintf(file, m->form == MESH_LINES ? "l" : "f");
        for (int k = m->face_start[face]; k < m->face_start[face + 1]; k++)
        {
            fprintf(file, " %d", (m->face_given ? m->face_given[k] : m->face_vertex[k]) + 1);
            if (m->face_texcoord && m->face_texcoord[k] >= 0)
            {
                fprintf(file, "/%d", m->face_texcoord[k] + 1);
            }
        }
        fprintf(file, "\n");
    }
    assert_int_equal(fclose(file), 0);
}

static void write_ele(const scene_cloth* cloth)
{
    char name[128];
    snprintf(name, sizeof(name), "%s.ele", cloth->name);
    FILE* file = fopen(scene_path(name), "w");
    assert_non_null(file);
    fprintf(file, "%d 4 0\n", cloth->mesh.tetrahedron_count);
    for (int t = 0; t < cloth->mesh.tetrahedron_count; t++)
    {
        const int* v = cloth->mesh.tetrahedron + 4 * t;
        fprintf(file, "%d %d %d %d %d\n", t, v[0], v[1], v[2], v[3]);
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
    assert_int_equal(a->mesh.tetrahedron_count, b->mesh.tetrahedron_count);
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
        scene_assert_vertices(b->pins[k].vertices, b->pins[k].vertex_count, a->pins[k].vertices,
                              a->pins[k].vertex_count);
        assert_memory_equal(a->pins[k].motion.keys, b->pins[k].motion.keys,
                            sizeof(scene_key) * (size_t)a->pins[k].motion.key_count);
    }
}

// Loading the canonical text from a scene_folder with the meshes builds the same, and writes the same text.
static void assert_round_trip(const weft_scene* first)
{
    for (int k = 0; k < first->cloth_count; k++)
    {
        if (!first->cloths[k].is_grid)
        {
            write_obj(&first->cloths[k]);
        }
        if (first->cloths[k].mesh.tetrahedron)
        {
            write_ele(&first->cloths[k]);
        }
    }
    weft_scene* again = scene_load_text(weft_scene_json(first), NULL, 0);
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
    weft_scene* scene = scene_load_text(
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
    scene_write_bytes(scene_path("square.obj"), scene_square_obj, strlen(scene_square_obj));
    weft_scene* scene = scene_load_text(
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
    weft_scene* scene = scene_load_cloth("\"uv_scale\": 0.125");
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
            bool as_shipped = variant == 0, has_grid = strstr(weft_scene_text(name), "\"grid\"");
            bool has_cells = has_grid || strstr(weft_scene_text(name), "\"solid\"");
            weft_scene* scene = NULL;
            weft_error error = {0};
            weft_status status =
                weft_scene_load(name, overrides, as_shipped ? 0 : has_cells + has_grid, &scene, &error);
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
    scene_assert_vertices(cloth->pins[0].vertices, cloth->pins[0].vertex_count, corners, 4);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip_of_values),         cmocka_unit_test(test_round_trip_of_obj),
        cmocka_unit_test(test_round_trip_in_another_locale), cmocka_unit_test(test_shipped_scenes),
        cmocka_unit_test(test_every_shipped_file_has_a_row), cmocka_unit_test(test_shipped_values),
    };
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
