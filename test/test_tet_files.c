// Files of tetrahedra: the same two of them in every format that is read, what is wrong in a file with its line, and
// files that are cut off or damaged, of which none may do more than be refused.
#include "common.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common_scene.h"
#include "mesh/mesh.h"

static const char node[] = "# two tetrahedra\n5 3 1 0\n1 0 0 0 7\n2 1 0 0 7\n3 0 1 0 7 # x\n4 0 0 1 7\n5 1 1 1 7\n";
static const char ele[] = "2 4 0\n1 1 2 3 4\n2 5 4 3 2\n";

static const char msh2[] =
    "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n3 1 \"all of it\"\n"
    "$EndPhysicalNames\n$Nodes\n6\n10 0 0 0\n4 1 0 0\n7 0 1 0\n1 0 0 1\n99 9 9 9\n3 1 1 1\n$EndNodes\n"
    "$Elements\n4\n1 15 2 0 1 99\n2 2 2 0 1 10 4 7\n3 4 2 0 1 10 4 7 1\n4 4 2 0 1 3 1 7 4\n$EndElements\n";

static const char msh4[] =
    "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Entities\n0 0 0 1\n1 0 0 0 1 1 1 0 0\n$EndEntities\n$Nodes\n2 5 1 10\n"
    "2 1 1 2\n10\n4\n0 0 0 0.5 0.5\n1 0 0 0.5 0.5\n3 1 0 3\n7\n1\n3\n0 1 0\n0 0 1\n1 1 1\n$EndNodes\n$Elements\n2 3 1 "
    "3\n"
    "2 1 2 1\n1 10 4 7\n3 1 4 2\n2 10 4 7 1\n3 3 1 7 4\n$EndElements\n";

static const char vtk4[] =
    "# vtk DataFile Version 3.0\na title\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 5 double\n"
    "0 0 0 1 0 0 0 1 0\n0 0 1\n1 1 1\nCELLS 3 14\n3 0 1 2\n4 0 1 2 3\n4 4 3 2 1\nCELL_TYPES 3\n5\n10\n10\n"
    "CELL_DATA 3\nSCALARS a int\n";

static const char vtk5[] =
    "# vtk DataFile Version 5.1\n\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 5 float\n0 0 0 1 0 0 0 1 0 0 0 1 1 1 1\n"
    "METADATA\nINFORMATION 0\n\nCELLS 3 8\nOFFSETS vtktypeint64\n0 4 8\nCONNECTIVITY vtktypeint64\n0 1 2 3\n4 3 2 1\n"
    "CELL_TYPES 2\n10 10\n";

typedef struct format
{
    const char *name, *text;
} format;

static const format formats[] = {
    {"two.node", node}, {"two2.msh", msh2}, {"two4.msh", msh4}, {"two4.vtk", vtk4}, {"two5.vtk", vtk5}};

enum
{
    FORMAT_COUNT = sizeof(formats) / sizeof(formats[0])
};

static void write_text(const char* name, const char* text)
{
    scene_write_bytes(scene_path(name), text, strlen(text));
}

static weft_status load(const char* name, mesh* out, weft_error* error)
{
    weft_status status = mesh_from_tets(scene_path(name), out, error);
    status = status == WEFT_OK ? mesh_surface(out, error) : status;
    return status;
}

static void test_formats(void** unused)
{
    (void)unused;
    write_text("two.ele", ele);
    static const vec3 points[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}};
    static const int corners[] = {0, 1, 2, 3, 4, 3, 2, 1};
    for (int k = 0; k < FORMAT_COUNT; k++)
    {
        mesh m;
        weft_error error = {0};
        write_text(formats[k].name, formats[k].text);
        if (load(formats[k].name, &m, &error) != WEFT_OK)
        {
            fail_msg("%s: %s", formats[k].name, error.message);
        }
        assert_int_equal(m.vertex_count, 5);
        assert_int_equal(m.tetrahedron_count, 2);
        assert_memory_equal(m.position, points, sizeof(points));
        assert_memory_equal(m.tetrahedron, corners, sizeof(corners));
        assert_int_equal(m.triangle_count, 6);
        mesh_finish(&m);
    }
    mesh m;
    assert_int_equal(load("two.ele", &m, NULL), WEFT_OK); // either of both names
    assert_int_equal(m.vertex_count, 5);
    mesh_finish(&m);
}

// A format whose tetrahedra all turn the other way.
static void test_turned(void** unused)
{
    (void)unused;
    mesh m;
    write_text("two.node", node);
    write_text("two.ele", "2 4 0\n1 2 1 3 4\n2 4 5 3 2\n");
    assert_int_equal(load("two.node", &m, NULL), WEFT_OK);
    mesh_finish(&m);
}

typedef struct fault
{
    const char *name, *text, *word;
    int line; // -1: any
} fault;

static void test_refused(void** unused)
{
    (void)unused;
    static const fault faults[] = {
        {"two.ele", "2 4 0\n1 1 2 3 4\n2 4 5 3 2\n", "is inside out", 3},
        {"two.ele", "1 4 0\n1 1 2 3 3\n", "has no volume", 2},
        {"two.ele", "2 4 0\n1 1 2 3 4\n2 1 2 3 6\n", "uses vertex 6", 3},
        {"two.ele", "2 4 0\n1 1 2 3 4\n2 1 2 3 0\n", "uses vertex 0", 3},
        {"two.ele", "2 4 0\n1 1 2 3 4\n", "ends before", -1},
        {"a.node", "4 2 0 0\n", "the number of coordinates", 1},
        {"a.node", "4 3 0 0\n7 0 0 0\n", "the vertex's number", 2},
        {"a.node", "4 3 0 0\n1 0 0 0\n2 0 nan 0\n", "expected a coordinate", 3},
        {"a.node", "4 3 0 0\n1 0 0 0\n", "the file ends", -1},
        {"a.node", "2000000000 3 0 0\n", "the number of vertices", 1},
        {"a.msh", "$MeshFormat\n2.2 1 8\n", "binary", 2},
        {"a.msh", "$MeshFormat\n4.0 0 8\n", "another version", 2},
        {"a.msh", "solid\n", "starts with $MeshFormat", 1},
        {"a.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n1\n1 0 0 0\n$EndNodes\n$Elements\n1\n1 4 0 1 1 1 2\n",
         "vertex 2, which the file does not have", 10},
        {"a.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n2\n1 0 0 0\n1 0 0 0\n$EndNodes\n", "two vertices 1",
         -1},
        {"a.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n0\n$EndNodes\n$Elements\n0\n", "no tetrahedra", -1},
        {"a.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n0\n$EndNodes\n$Elements\n1\n1 11 0\n", "ten vertices",
         9},
        {"a.msh", "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 900000000 1 900000000\n3 1 0 900000000\n1\n",
         "the number of", -1},
        {"a.vtk", "# vtk DataFile Version 3.0\nx\nBINARY\n", "binary", 3},
        {"a.vtk", "# vtk DataFile Version 3.0\nx\nASCII\nDATASET POLYDATA\n", "UNSTRUCTURED_GRID", 4},
        {"a.vtk",
         "# vtk DataFile Version 3.0\nx\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 1 float\n0 0 0\nCELLS 1 5\n4 0 0 0 "
         "1\n"
         "CELL_TYPES 1\n10\n",
         "uses vertex 1, and there are 1", 8},
        {"a.vtk",
         "# vtk DataFile Version 3.0\nx\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 1 float\n0 0 0\nCELLS 1 4\n3 0 0 0\n"
         "CELL_TYPES 1\n10\n",
         "another number of vertices than 4", 10},
        {"a.vtk",
         "# vtk DataFile Version 3.0\nx\nASCII\nDATASET UNSTRUCTURED_GRID\nCELLS 1 5\n4 0 0 0 0\nCELL_TYPES 2\n10\n",
         "another number of cells", 7},
        {"a.stl", "solid\n", "FILE.node", 0},
    };
    write_text("two.node", node);
    for (size_t k = 0; k < sizeof(faults) / sizeof(faults[0]); k++)
    {
        const fault* f = &faults[k];
        mesh m;
        weft_error error = {0};
        write_text(f->name, f->text);
        weft_status status = load(f->name, &m, &error);
        mesh_finish(&m);
        if (status != WEFT_BAD_INPUT || !strstr(error.message, f->word) || (f->line >= 0 && error.line != f->line))
        {
            fail_msg("fault %d: status %d, line %d: %s", (int)k, status, error.line, error.message);
        }
    }
    mesh m;
    weft_error error = {0};
    assert_int_equal(load("none.msh", &m, &error), WEFT_NOT_FOUND);
}

// Cut after every byte, and with bytes changed by a counter.
static void test_damaged(void** unused)
{
    (void)unused;
    uint64_t random = 1;
    write_text("two.ele", ele);
    for (int k = 0; k < FORMAT_COUNT; k++)
    {
        size_t size = strlen(formats[k].text);
        char* text = malloc(size + 1);
        for (size_t turn = 0; turn < 2 * size + 600; turn++)
        {
            memcpy(text, formats[k].text, size + 1);
            size_t length = turn < size ? turn : size;
            for (int change = 0; turn >= size && change < 3; change++)
            {
                random = random * 6364136223846793005u + 1442695040888963407u;
                text[(random >> 33) % size] = "0123456789 -\n.$e"[(random >> 29) % 16];
            }
            mesh m;
            scene_write_bytes(scene_path(formats[k].name), text, length);
            weft_status status = load(formats[k].name, &m, NULL);
            assert_true(status == WEFT_OK || status == WEFT_BAD_INPUT);
            mesh_finish(&m);
        }
        free(text);
    }
}

static void test_memory(void** unused)
{
    (void)unused;
    write_text("two.ele", ele);
    for (int k = 0; k < FORMAT_COUNT; k++)
    {
        write_text(formats[k].name, formats[k].text);
        weft_status status = WEFT_NO_MEMORY;
        for (int fail_at = 1; status != WEFT_OK; fail_at++)
        {
            test_ledger ledger = {.fail_at = fail_at};
            test_ledger_open(&ledger);
            mesh m;
            status = load(formats[k].name, &m, NULL);
            mesh_finish(&m);
            test_ledger_close();
            assert_true(status == WEFT_OK || status == WEFT_NO_MEMORY);
            assert_int_equal(ledger.live, 0);
        }
    }
}

// Meshes of others, where they are there.
static void test_data(void** unused)
{
    (void)unused;
    static const char* const names[] = {"bunny_2250", "torus"};
    static const int counts[][3] = {{2665, 9752, 4238}, {798, 4130, 0}};
    for (int k = 0; k < 2; k++)
    {
        char path[512];
        snprintf(path, sizeof(path), "%s/../shared/data/tets/%s.node", WEFT_SOURCE_DIR, names[k]);
        if (access(path, R_OK) != 0)
        {
            skip();
        }
        mesh m;
        weft_error error = {0};
        assert_int_equal(mesh_from_tets(path, &m, &error), WEFT_OK);
        assert_int_equal(mesh_surface(&m, &error), WEFT_OK);
        assert_int_equal(m.vertex_count, counts[k][0]);
        assert_int_equal(m.tetrahedron_count, counts[k][1]);
        assert_true(counts[k][2] == 0 || m.triangle_count == counts[k][2]);
        mesh_finish(&m);
    }
}

// Scenes name them, with a scale.
static void test_scene(void** unused)
{
    (void)unused;
    write_text("two2.msh", msh2);
    weft_scene* scene =
        scene_load_text("{\"volumes\": [{\"mesh\": {\"tets\": \"two2.msh\", \"scale\": 0.1}}]}", NULL, 0);
    weft_scene_cloth cloth;
    assert_int_equal(weft_scene_cloth_at(scene, 0, &cloth), WEFT_OK);
    assert_int_equal(cloth.tetrahedron_count, 2);
    assert_string_equal(cloth.source, "two2.msh");
    weft_scene_destroy(scene);
    weft_error error = {0};
    static const char missing[] = "{\"volumes\": [{\"mesh\": {\"tets\": \"no.vtk\"}}]}";
    assert_int_equal(scene_load_bytes(missing, strlen(missing), &scene, &error), WEFT_NOT_FOUND);
    assert_non_null(strstr(error.message, "paths are relative to the scene file"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formats), cmocka_unit_test(test_turned), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_damaged), cmocka_unit_test(test_memory), cmocka_unit_test(test_data),
        cmocka_unit_test(test_scene),
    };
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
