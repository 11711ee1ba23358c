// What came in goes out: names, groups, materials and texture coordinates of OBJ files reach the run's folder, for cloth
// and obstacles, with the rest shape from the positions and from the map; welded meshes come back in the vertices that
// were given; OBJ files of strangers go through a run whole.
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "common_run.h"
#include "common_scene.h"
#include "mesh/mesh.h"
#include "weft/export.h"

// Two quads, a triangle and a pentagon around a seam: vertices 3, 4 are 7, 8 once more.
static const char garment[] =
    "mtllib my cloth.mtl\nmtllib other.mtl\n"
    "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0.5 2 0\nv 2 0 0\nv 2 1 0\nv 1 0 0\nv 1 1 0\nv 1.2 2 0\nv 1.9 2 0\n"
    "vt 0 0\nvt 10 0\nvt 10 10\nvt 0 10\nvt 5 20\nvt 30.25 0\nvt 30.25 10\nvt 20.25 0\nvt 20.25 10\nvt 22 20\nvt 29 20\n"
    "o front panel\ng left sleeve\nusemtl denim blue\nf 1/1 2/2 3/3 4/4\ng top\nf 4/4 3/3 5/5\n"
    "o back\nusemtl lace\nf 8/8 6/6 7/7 9/9\nf 9/9 7/7 11/11 10/10\n";

static mesh read_mesh(const char* path, bool given)
{
    mesh m;
    weft_error error = {0};
    obj_options options = {.any_form = true, .keep_given = given};
    if (mesh_from_obj(path, &options, &m, &error) != WEFT_OK)
    {
        fail_msg("%s:%d: %s", error.file, error.line, error.message);
    }
    return m;
}

static void same_names(const weft_names* a, const weft_names* b, int faces)
{
    assert_int_equal(a->faces == NULL, b->faces == NULL);
    for (int f = 0; f < faces && a->faces; f++)
    {
        assert_int_equal(a->faces[f] < 0, b->faces[f] < 0);
        if (a->faces[f] >= 0)
        {
            assert_string_equal(a->names[a->faces[f]], b->names[b->faces[f]]);
        }
    }
}

// Everything but positions. Texture coordinates corner by corner, by their values and their numbers.
static void same_mesh(const mesh* a, const mesh* b)
{
    weft_labels la = mesh_labels(a), lb = mesh_labels(b);
    int corners = a->face_start[a->face_count];
    assert_int_equal(a->vertex_count, b->vertex_count);
    assert_int_equal(a->face_count, b->face_count);
    assert_memory_equal(a->face_start, b->face_start, ((size_t)a->face_count + 1) * sizeof(int));
    assert_memory_equal(a->face_vertex, b->face_vertex, (size_t)corners * sizeof(int));
    assert_int_equal(a->face_texcoord == NULL, b->face_texcoord == NULL);
    assert_int_equal(la.texcoord_count, lb.texcoord_count);
    if (a->face_texcoord)
    {
        assert_memory_equal(a->face_texcoord, b->face_texcoord, (size_t)corners * sizeof(int));
        assert_memory_equal(a->texcoord, b->texcoord, (size_t)a->texcoord_count * sizeof(vec2));
    }
    same_names(&la.objects, &lb.objects, a->face_count);
    same_names(&la.groups, &lb.groups, a->face_count);
    same_names(&la.materials, &lb.materials, a->face_count);
    assert_int_equal(la.library_count, lb.library_count);
    for (int k = 0; k < la.library_count; k++)
    {
        assert_string_equal(la.libraries[k], lb.libraries[k]);
    }
}

// Runs a scene into a folder of its own.
static weft_sim* run_scene(const char* text, char dir[600], int frames)
{
    static int runs = 0;
    snprintf(dir, 600, "%s", scene_path("run"));
    snprintf(dir + strlen(dir), 600 - strlen(dir), "-%d", ++runs);
    weft_scene* scene = scene_load_text(text, NULL, 0);
    weft_sim* sim = NULL;
    weft_cache_writer* writer = NULL;
    weft_error error = {0};
    if (weft_scene_create_sim(scene, 1, &sim, &error) != WEFT_OK ||
        weft_cache_writer_create(dir, WEFT_CACHE_NEW, weft_scene_json(scene), 1, sim, &writer, &error) != WEFT_OK)
    {
        fail_msg("%s", error.message);
    }
    weft_scene_destroy(scene);
    for (int k = 0; k < frames; k++)
    {
        weft_step_stats stats;
        assert_int_equal(weft_sim_step(sim, &stats, &error), WEFT_OK);
        assert_int_equal(weft_cache_writer_step(writer, sim, &stats, &error), WEFT_OK);
    }
    assert_int_equal(weft_cache_writer_destroy(writer, &error), WEFT_OK);
    return sim;
}

#define SCENE                                                                                                          \
    "{\"gravity\": [0, 0, 0], \"steps_per_frame\": 1, \"contact\": {\"enabled\": false}, \"cloth\": [{\"name\": \"cloth\", \"mesh\": "         \
    "{\"obj\": \"garment.obj\"%s}%s}], \"obstacles\": [{\"name\": \"body\", \"mesh\": {\"obj\": \"garment.obj\"%s}, "  \
    "\"transform\": {\"translate\": [0, 0, 9]}, \"motion\": {\"path\": [{\"time\": 0}, {\"time\": 1, \"offset\": [0, " \
    "1, 0]}]}}]}"

static void check_run(const char* weld, const char* rest)
{
    char text[2000], path[700], dir[600];
    scene_write_bytes(scene_path("garment.obj"), garment, strlen(garment));
    snprintf(text, sizeof(text), SCENE, weld, rest, weld);
    weft_sim* sim = run_scene(text, dir, 1);
    mesh source = read_mesh(scene_path("garment.obj"), true);
    weft_cache* cache = NULL;
    weft_error error = {0};
    if (weft_cache_open(dir, &cache, &error) != WEFT_OK) // points of the caches are as many as the vertices
    {
        fail_msg("%s", error.message);
    }
    for (int b = 0; b < 2; b++)
    {
        snprintf(path, sizeof(path), "%s/%s.obj", dir, b == 0 ? "cloth" : "body");
        mesh m = read_mesh(path, true);
        same_mesh(&source, &m);
        assert_int_equal(m.same != NULL, weld[0] != 0);
        const weft_cache_body* body = weft_cache_body_at(cache, b);
        assert_int_equal(body->vertex_count, source.vertex_count);
        assert_int_equal(body->same != NULL, weld[0] != 0);
        if (body->same)
        {
            assert_int_equal(body->same[7], 1); // where the seam was welded
            assert_int_equal(body->same[8], 2);
            assert_int_equal(body->same[6], 6);
        }
        weft_vec3 x[11];
        assert_int_equal(weft_cache_read_frame(cache, b, 1, x, &error), WEFT_OK);
        assert_true(weld[0] == 0 || memcmp(&x[1], &x[7], sizeof(x[0])) == 0);
        mesh_finish(&m);
        // As a scene's mesh the welded vertices are one again.
        m = read_mesh(path, false);
        assert_int_equal(m.vertex_count, weld[0] ? 9 : 11);
        mesh_finish(&m);
    }
    weft_cache_close(cache);
    mesh_finish(&source);
    weft_sim_destroy(sim);
}

static void test_names_and_maps(void** unused)
{
    (void)unused;
    check_run("", "");
    check_run("", ", \"rest\": \"uv\", \"uv_scale\": 0.1");
    check_run(", \"weld\": 1e-6", "");
    check_run(", \"weld\": 1e-6", ", \"rest\": \"uv\", \"uv_scale\": 0.1");
}

// One object of a file, which others stand before.
static void test_one_object(void** unused)
{
    (void)unused;
    scene_write_bytes(scene_path("garment.obj"), garment, strlen(garment));
    char dir[600], path[700];
    weft_sim* sim = run_scene("{\"cloth\": [{\"name\": \"back\", \"mesh\": {\"obj\": \"garment.obj\", \"object\": "
                              "\"back\"}}]}",
                              dir, 0);
    snprintf(path, sizeof(path), "%s/back.obj", dir);
    mesh m = read_mesh(path, true);
    weft_labels labels = mesh_labels(&m);
    assert_int_equal(m.face_count, 2);
    assert_string_equal(labels.objects.names[labels.objects.faces[0]], "back");
    assert_string_equal(labels.groups.names[labels.groups.faces[1]], "top");
    assert_string_equal(labels.materials.names[labels.materials.faces[1]], "lace");
    assert_float_equal(m.texcoord[m.face_texcoord[0]].x, 20.25, 0);
    mesh_finish(&m);
    weft_sim_destroy(sim);
}

static void test_wrong_ones(void** unused)
{
    (void)unused;
    static const char* const wrong[] = {"#weft one 1 99\n", "#weft one 1 0\n", "#weft one a\n", "#weft one 1 2\n"};
    for (int k = 0; k < 4; k++)
    {
        char text[2000];
        mesh m;
        weft_error error = {0};
        snprintf(text, sizeof(text), "%s%s", garment, wrong[k]);
        scene_write_bytes(scene_path("wrong.obj"), text, strlen(text));
        assert_int_equal(mesh_from_obj(scene_path("wrong.obj"), NULL, &m, &error), WEFT_BAD_INPUT);
        assert_true(error.line > 0 && error.message[0]);
    }
}

// ---- strangers

// 1: it went through, 0: it is refused as an obstacle.
static int carry_stranger(const char* file)
{
    char text[2000], path[900], dir[600];
    snprintf(text, sizeof(text),
             "{\"contact\": {\"enabled\": false}, \"cloth\": [{\"mesh\": {\"grid\": {\"cells\": 1}}}], \"obstacles\": "
             "[{\"name\": \"it\", \"mesh\": {\"obj\": \"%s\"}}]}",
             file);
    weft_error error = {0};
    weft_scene* scene = NULL;
    if (scene_load_bytes(text, strlen(text), &scene, &error) != WEFT_OK)
    {
        assert_true(error.message[0]);
        return 0;
    }
    weft_scene_destroy(scene);
    weft_sim_destroy(run_scene(text, dir, 0));
    mesh source = read_mesh(file, true);
    snprintf(path, sizeof(path), "%s/it.obj", dir);
    mesh m = read_mesh(path, true);
    same_mesh(&source, &m);
    mesh_finish(&m);
    mesh_finish(&source);
    return 1;
}

static void test_strangers(void** unused)
{
    (void)unused;
    static const char* const folders[] = {"obj/tinyobjloader", "obj/tinyobjloader-afl", "obj/assimp", "garments"};
    char folder[500], path[900];
    int through = 0, refused = 0;
    for (int k = 0; k < 4; k++)
    {
        const char* root = getenv("WEFT_TEST_DATA");
        snprintf(folder, sizeof(folder), "%s/%s", root ? root : WEFT_SOURCE_DIR "/../shared/data", folders[k]);
        DIR* list = opendir(folder);
        for (struct dirent* entry = list ? readdir(list) : NULL; entry; entry = readdir(list))
        {
            size_t length = strlen(entry->d_name);
            if (length > 4 && strcmp(entry->d_name + length - 4, ".obj") == 0)
            {
                snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
                carry_stranger(path) ? through++ : refused++;
            }
        }
        list ? (void)closedir(list) : (void)0;
    }
    if (through + refused == 0)
    {
        printf("no OBJ files: set WEFT_TEST_DATA\n");
        skip();
    }
    printf("%d files of strangers went through, %d are no meshes\n", through, refused);
    assert_true(through >= 20);
}

// ---- beside positions

static char* export_text(const char* dir, int first, int last, int start)
{
    weft_cache* cache = NULL;
    weft_error error = {0};
    weft_export_def def = weft_export_def_default();
    char target[600];
    snprintf(target, sizeof(target), "%s", scene_path("out.usda"));
    def.format = "usda";
    def.first = first;
    def.last = last;
    def.start = start;
    def.scale = 2.0;
    assert_int_equal(weft_cache_open(dir, &cache, &error), WEFT_OK);
    if (weft_export(cache, &def, target, NULL, &error) != WEFT_OK)
    {
        fail_msg("%s", error.message);
    }
    weft_cache_close(cache);
    size_t size;
    return test_file_read(target, &size);
}

// Lines of samples, "            12: ...", each of which must stand in another text.
static int samples_in(const char* text, const char* other)
{
    int count = 0;
    for (const char* at = text; (at = strstr(at, "\n            ")); at++)
    {
        const char *word = at + 13, *end = strchr(at + 1, '\n');
        if (*word < '0' || *word > '9')
        {
            continue;
        }
        char* line = calloc((size_t)(end - at) + 2, 1);
        memcpy(line, at, (size_t)(end - at) + 1);
        if (other && !strstr(other, line))
        {
            fail_msg("not in the whole: %.100s", line + 1);
        }
        free(line);
        count++;
    }
    return count;
}

// Parts of a run have its numbers and times, velocities at their ends among them; --start moves them.
static void test_parts_join(void** unused)
{
    (void)unused;
    char text[2000], dir[600];
    scene_write_bytes(scene_path("garment.obj"), garment, strlen(garment));
    snprintf(text, sizeof(text), SCENE, ", \"weld\": 1e-6", ", \"velocity\": [1, 2, 3]", "");
    weft_sim_destroy(run_scene(text, dir, 6));
    char *whole = export_text(dir, 0, -1, -1), *first = export_text(dir, 0, 3, -1), *rest = export_text(dir, 4, -1, -1);
    int parts = samples_in(first, whole) + samples_in(rest, whole);
    assert_int_equal(samples_in(whole, NULL), parts);
    assert_true(parts >= 7 * 5); // points, extent, normals, velocities, stretch of the cloth; matrices of the obstacle
    assert_non_null(strstr(rest, "startTimeCode = 4\n"));
    assert_non_null(strstr(rest, "metersPerUnit = 0.5\n"));
    // 2 m/s in y at this scale is 4: free flight has the same in every vertex.
    assert_non_null(strstr(whole, "vector3f[] velocities.timeSamples"));
    assert_non_null(strstr(whole, "matrix4d xformOp:transform.timeSamples"));
    free(rest);
    rest = export_text(dir, 4, -1, 101);
    assert_non_null(strstr(rest, "startTimeCode = 101\n"));
    assert_non_null(strstr(rest, "\n            103: "));
    const char* at = strstr(rest, "velocities.timeSamples = {");
    double v[3];
    assert_non_null(at);
    assert_int_equal(sscanf(strchr(at, '[') + 1, "(%lf, %lf, %lf)", &v[0], &v[1], &v[2]), 3);
    assert_true(fabs(v[0] - 2.0) < 1e-3 && fabs(v[1] - 4.0) < 1e-3 && fabs(v[2] - 6.0) < 1e-3);
    at = strstr(rest, "normals.timeSamples = {");
    assert_int_equal(sscanf(strchr(at, '[') + 1, "(%lf, %lf, %lf)", &v[0], &v[1], &v[2]), 3);
    assert_true(fabs(v[0] * v[0] + v[1] * v[1] + v[2] * v[2] - 1.0) < 1e-6 && v[2] > 0.999);
    free(whole);
    free(first);
    free(rest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_and_maps),
        cmocka_unit_test(test_one_object),
        cmocka_unit_test(test_wrong_ones),
        cmocka_unit_test(test_strangers),
        cmocka_unit_test(test_parts_join),
    };
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
