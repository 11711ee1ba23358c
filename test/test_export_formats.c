// Alembic, VTK, glTF and USD files as bytes: structure, sizes, and the positions of every frame, read back by small
// readers; a cloth that tears and one that does not, both axes; no memory; what is too large. Other programs read the
// same files in integrations/check.
#include "common.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common_run.h"
#include "export/ogawa.h"
#include "weft/export.h"

static char folder[256], run[300], target[300];

static int set_up(void** unused)
{
    (void)unused;
    snprintf(run, sizeof(run), "%s/run", test_folder(folder));
    snprintf(target, sizeof(target), "%s/out", folder);
    return 0;
}

static int tear_down(void** unused)
{
    (void)unused;
    test_folder_remove(folder);
    return 0;
}

static weft_status export_run(const char* format, char up, weft_error* error)
{
    weft_cache* cache = NULL;
    weft_status status = weft_cache_open(run, &cache, error);
    if (status == WEFT_OK)
    {
        weft_export_def def = weft_export_def_default();
        def.format = format;
        def.up = up;
        def.force = 1;
        def.plain = 1; // test_carry has what is beside positions
        status = weft_export(cache, &def, target, NULL, error);
    }
    weft_cache_close(cache);
    return status;
}

static void export_must(const char* format, char up, bool torn)
{
    weft_error error = {0};
    test_run_write(run, torn);
    if (export_run(format, up, &error) != WEFT_OK)
    {
        fail_msg("%s: %s", format, error.message);
    }
}

// ---- bytes

static uint32_t read32(const char* at)
{
    uint32_t value;
    memcpy(&value, at, 4);
    return value;
}

static uint64_t read64(const char* at)
{
    uint64_t value;
    memcpy(&value, at, 8);
    return value;
}

static weft_vec3 read_point(const char* at)
{
    float x[3];
    memcpy(x, at, sizeof(x));
    return (weft_vec3){(double)x[0], (double)x[1], (double)x[2]};
}

static weft_vec3 turned(weft_vec3 x, char up)
{
    return up == 'z' ? (weft_vec3){x.x, -x.z, x.y} : x;
}

static void assert_near(double found, double wanted, double tolerance)
{
    if (!(fabs(found - wanted) <= tolerance))
    {
        fail_msg("%.9g instead of %.9g", found, wanted);
    }
}

static void assert_point(weft_vec3 found, weft_vec3 wanted, char up)
{
    weft_vec3 w = turned(wanted, up);
    assert_near(found.x, w.x, 1e-6);
    assert_near(found.y, w.y, 1e-6);
    assert_near(found.z, w.z, 1e-6);
}

// ---- faces of the sheet in a frame: how many, the corners of each, and their vertices

static int sheet_faces(int frame, bool torn, int count[3], int vertices[10])
{
    static const struct
    {
        int faces, count[3], vertices[10];
    } topologies[] = {
        {2, {4, 4}, {0, 1, 4, 3, 1, 2, 5, 4}},
        {2, {4, 4}, {0, 1, 4, 3, 6, 2, 5, 7}},
        {3, {4, 3, 3}, {0, 1, 4, 3, 6, 2, 5, 8, 5, 7}},
    };
    int k = !torn || frame < TORN_FIRST ? 0 : frame < TORN_SECOND ? 1 : 2;
    memcpy(count, topologies[k].count, sizeof(topologies[k].count));
    memcpy(vertices, topologies[k].vertices, sizeof(topologies[k].vertices));
    return topologies[k].faces;
}

// ---- VTK

static int number_after(const char* text, const char* key)
{
    const char* at = strstr(text, key);
    assert_non_null(at);
    return atoi(at + strlen(key));
}

// The next block behind *at: its bytes; the size must be as told.
static const char* vtp_block(const char** at, uint64_t size)
{
    assert_int_equal(read64(*at), size);
    const char* block = *at + 8;
    *at = block + size;
    return block;
}

static void check_vtp(const char* bytes, size_t size, int frame, bool torn)
{
    int count[3], vertices[10], corners = 0, points = test_run_vertices(frame, torn);
    int faces = sheet_faces(frame, torn, count, vertices);
    assert_int_equal(number_after(bytes, "NumberOfPoints=\""), points);
    assert_int_equal(number_after(bytes, "NumberOfPolys=\""), faces);
    const char* start = strstr(bytes, "encoding=\"raw\">\n_");
    assert_non_null(start);
    const char* at = start + strlen("encoding=\"raw\">\n_");
    for (int f = 0; f < faces; f++)
    {
        corners += count[f];
    }
    // Topology 0 has a seam; where the sheet is torn along it, every vertex has one texture coordinate.
    bool seam = !torn || frame < TORN_FIRST;
    assert_int_equal(strstr(bytes, "Name=\"vt_corners\"") != NULL, seam);
    seam ? (void)vtp_block(&at, 8 * (uint64_t)corners) : (void)0;
    const char* block = vtp_block(&at, 12 * (uint64_t)points);
    for (int v = 0; v < points; v++)
    {
        assert_point(read_point(block + 12 * v), test_run_point(frame, v), 'y');
    }
    assert_memory_equal(vtp_block(&at, 4 * (uint64_t)corners), vertices, 4 * (size_t)corners);
    block = vtp_block(&at, 4 * (uint64_t)faces);
    assert_int_equal(read32(block + 4 * (faces - 1)), corners);
    assert_int_equal(read32(block), 4);
    assert_int_equal(strstr(bytes, "TCoords=\"vt\"") == NULL, seam);
    if (!seam)
    {
        const float corner[2] = {0.5f, 0.0f};
        block = vtp_block(&at, 8 * (uint64_t)points);
        assert_memory_equal(block + 8, corner, 8);
    }
    if (strstr(bytes, "<CellData>\n<DataArray type=\"Int32\" Name=\"object\""))
    {
        block = vtp_block(&at, 4 * (uint64_t)faces);
        assert_int_equal(read32(block + 4 * (faces - 1)), 0);
    }
    assert_string_equal(at, "\n</AppendedData>\n</VTKFile>\n");
    assert_int_equal(at + strlen(at) - bytes, size);
}

static void test_vtp(void** unused)
{
    (void)unused;
    char path[400];
    size_t size;
    for (int torn = 0; torn < 2; torn++)
    {
        export_must("vtp", 'y', torn);
        for (int k = 0; k < TORN_FRAMES; k++)
        {
            snprintf(path, sizeof(path), "%s/sheet.%04d.vtp", target, k);
            char* bytes = test_file_read(path, &size);
            check_vtp(bytes, size, k, torn);
            free(bytes);
        }
    }
    snprintf(path, sizeof(path), "%s/run.pvd", target);
    char* text = test_file_read(path, &size);
    assert_non_null(strstr(text, "<DataSet timestep=\"0.2\" part=\"0\" name=\"sheet\" file=\"sheet.0004.vtp\"/>"));
    assert_non_null(strstr(text, "<DataSet timestep=\"0.2\" part=\"1\" name=\"ball\" file=\"ball.vtp\"/>"));
    free(text);
    struct stat info;
    snprintf(path, sizeof(path), "%s/ball.0000.vtp", target);
    assert_int_not_equal(stat(path, &info), 0); // it stands still
}

// ---- glTF

typedef struct glb
{
    char* bytes;
    json_t* json;
    const char* data;
} glb;

static glb glb_read(void)
{
    size_t size;
    glb g = {.bytes = test_file_read(target, &size)};
    assert_memory_equal(g.bytes, "glTF", 4);
    assert_int_equal(read32(g.bytes + 4), 2);
    assert_int_equal(read32(g.bytes + 8), size);
    uint32_t json = read32(g.bytes + 12);
    assert_int_equal(json % 4, 0);
    assert_memory_equal(g.bytes + 16, "JSON", 4);
    uint32_t data = read32(g.bytes + 20 + json);
    assert_int_equal(data % 4, 0);
    assert_memory_equal(g.bytes + 24 + json, "BIN", 4);
    assert_int_equal(28 + json + data, size);
    g.data = g.bytes + 28 + json;
    json_error_t error;
    g.json = json_loadb(g.bytes + 20, json, 0, &error);
    assert_non_null(g.json);
    assert_int_equal(
        json_integer_value(json_object_get(json_array_get(json_object_get(g.json, "buffers"), 0), "byteLength")), data);
    return g;
}

static void glb_finish(glb* g)
{
    json_decref(g->json);
    free(g->bytes);
}

static int64_t int_of(json_t* object, const char* key)
{
    assert_true(json_is_integer(json_object_get(object, key)));
    return json_integer_value(json_object_get(object, key));
}

static json_t* accessor_at(const glb* g, int64_t index)
{
    return json_array_get(json_object_get(g->json, "accessors"), (size_t)index);
}

static const char* accessor_data(const glb* g, int64_t index)
{
    json_t* accessor = accessor_at(g, index);
    json_t* view = json_array_get(json_object_get(g->json, "bufferViews"), (size_t)int_of(accessor, "bufferView"));
    return g->data + int_of(view, "byteOffset") + int_of(accessor, "byteOffset");
}

// The bounds must be those of the data, to the bit.
static void check_bounds(const glb* g, int64_t index)
{
    json_t* accessor = accessor_at(g, index);
    const char* data = accessor_data(g, index);
    for (int axis = 0; axis < 3; axis++)
    {
        float low = INFINITY, high = -INFINITY;
        for (int64_t v = 0; v < int_of(accessor, "count"); v++)
        {
            float x;
            memcpy(&x, data + 12 * v + 4 * axis, 4);
            low = x < low ? x : low;
            high = x > high ? x : high;
        }
        assert_true((float)json_number_value(json_array_get(json_object_get(accessor, "min"), (size_t)axis)) == low);
        assert_true((float)json_number_value(json_array_get(json_object_get(accessor, "max"), (size_t)axis)) == high);
    }
}

static void check_gltf_sheet(const glb* g, char up, bool torn)
{
    json_t* mesh = json_array_get(json_object_get(g->json, "meshes"), 0);
    json_t* part = json_array_get(json_object_get(mesh, "primitives"), 0);
    json_t* copies = json_object_get(json_object_get(mesh, "extras"), "weft_copies");
    json_t* targets = json_object_get(part, "targets");
    int64_t base = int_of(json_object_get(part, "attributes"), "POSITION");
    // The seam runs through vertices 1 and 4, unless it is torn.
    int vertices = torn ? 9 : 8, last = TORN_FRAMES - 1;
    int own = torn ? 9 : 6;
    assert_int_equal(json_array_size(copies), vertices - own);
    assert_int_equal(int_of(accessor_at(g, base), "count"), vertices);
    assert_int_equal(json_array_size(targets), last);
    check_bounds(g, base);
    for (int k = 0; k < TORN_FRAMES; k++)
    {
        int64_t shape = k > 0 ? int_of(json_array_get(targets, (size_t)k - 1), "POSITION") : base;
        check_bounds(g, shape);
        for (int v = 0; v < vertices; v++)
        {
            int source = v < own ? v : (int)json_integer_value(json_array_get(copies, (size_t)(v - own)));
            weft_vec3 x = read_point(accessor_data(g, base) + 12 * v);
            weft_vec3 d = k > 0 ? read_point(accessor_data(g, shape) + 12 * v) : (weft_vec3){0, 0, 0};
            int origin = torn ? test_run_origin(source, k) : source;
            assert_point((weft_vec3){x.x + d.x, x.y + d.y, x.z + d.z}, test_run_point(k, origin), up);
        }
    }
}

// Triangles of the second quad, split at the seam: its copies of vertices 1 and 4 are the last two.
static void check_gltf_seam(const glb* g)
{
    json_t* parts = json_object_get(json_array_get(json_object_get(g->json, "meshes"), 0), "primitives");
    assert_int_equal(json_array_size(parts), 1); // one for each object
    json_t* part = json_array_get(parts, 0);
    const char* corners = accessor_data(g, int_of(part, "indices"));
    const char* texcoords = accessor_data(g, int_of(json_object_get(part, "attributes"), "TEXCOORD_0"));
    assert_int_equal(int_of(accessor_at(g, int_of(part, "indices")), "count"), 12);
    assert_non_null(json_object_get(json_object_get(part, "extras"), "object"));
    bool seen[8] = {false};
    for (int k = 6; k < 12; k++)
    {
        seen[read32(corners + 4 * k)] = true;
    }
    const bool wanted[8] = {[2] = true, [5] = true, [6] = true, [7] = true};
    assert_memory_equal(seen, wanted, sizeof(seen));
    const float second[2] = {0.5f, 0.5f}, first[2] = {0.5f, 1.0f}; // v runs down
    assert_memory_equal(texcoords + 8 * 6, second, 8);
    assert_memory_equal(texcoords + 8 * 1, first, 8);
}

static void check_gltf_animation(const glb* g)
{
    json_t* animation = json_array_get(json_object_get(g->json, "animations"), 0);
    json_t* sampler = json_array_get(json_object_get(animation, "samplers"), 0);
    assert_int_equal(json_array_size(json_object_get(animation, "channels")), 1); // the ball stands still
    const char* times = accessor_data(g, int_of(sampler, "input"));
    const char* weights = accessor_data(g, int_of(sampler, "output"));
    for (int k = 0; k < TORN_FRAMES; k++)
    {
        float time;
        memcpy(&time, times + 4 * k, 4);
        assert_near(time, 0.05 * k, 1e-7);
        for (int t = 0; t < TORN_FRAMES - 1; t++)
        {
            float weight;
            memcpy(&weight, weights + 4 * (k * (TORN_FRAMES - 1) + t), 4);
            assert_true(weight == (t + 1 == k ? 1.0f : 0.0f));
        }
    }
}

static void test_gltf(void** unused)
{
    (void)unused;
    for (int k = 0; k < 4; k++)
    {
        bool torn = k / 2;
        char up = k % 2 ? 'z' : 'y';
        export_must("gltf", up, torn);
        glb g = glb_read();
        check_gltf_sheet(&g, up, torn);
        if (!torn)
        {
            check_gltf_seam(&g);
        }
        check_gltf_animation(&g);
        glb_finish(&g);
    }
}

// Several pieces of everything.
static void test_gltf_many(void** unused)
{
    (void)unused;
    enum
    {
        MANY = 20010
    };
    test_run_write(run, false);
    char path[400];
    snprintf(path, sizeof(path), "%s/many.obj", run);
    FILE* file = fopen(path, "w");
    assert_non_null(file);
    for (int v = 0; v < MANY; v++)
    {
        fprintf(file, "v %d %d 0\n", v / 2, v % 2);
    }
    for (int v = 3; v <= MANY; v++)
    {
        fprintf(file, "f %d %d %d\n", v - 2, v % 2 ? v : v - 1, v % 2 ? v - 1 : v);
    }
    fclose(file);
    test_pc2_write(run, "many.pc2", MANY, 0.0f, 2);
    assert_int_equal(export_run("gltf", 'y', NULL), WEFT_OK);
    glb g = glb_read();
    json_t* mesh = json_array_get(json_object_get(g.json, "meshes"), 2); // behind those that scene.json names
    json_t* part = json_array_get(json_object_get(mesh, "primitives"), 0);
    const char* positions = accessor_data(&g, int_of(json_object_get(part, "attributes"), "POSITION"));
    assert_string_equal(json_string_value(json_object_get(mesh, "name")), "many");
    assert_null(json_object_get(json_object_get(mesh, "extras"), "weft_copies")); // all vertices are the run's
    for (int v = 0; v < MANY; v++)
    {
        assert_point(read_point(positions + 12 * v), test_run_point(0, v), 'y');
    }
    glb_finish(&g);
}

// Weights grow with the square of the frames: 40,000 of them do not fit, however small the mesh.
static void test_gltf_too_large(void** unused)
{
    (void)unused;
    weft_error error = {0};
    struct stat info;
    test_run_write(run, false);
    test_pc2_write(run, "sheet.pc2", 6, 0.0f, 40000);
    assert_int_equal(export_run("gltf", 'y', &error), WEFT_UNSUPPORTED);
    assert_non_null(strstr(error.message, "--every"));
    assert_int_not_equal(stat(target, &info), 0);
}

// ---- USD

static void check_usda_points(const char* text, char up, bool torn)
{
    const char* at = strstr(text, "point3f[] points.timeSamples = {");
    assert_non_null(at);
    for (int k = 0; k < TORN_FRAMES; k++)
    {
        char code[16];
        snprintf(code, sizeof(code), " %d: [", k);
        at = strstr(at, code);
        assert_non_null(at);
        at += strlen(code);
        for (int v = 0; v < test_run_vertices(k, torn); v++)
        {
            weft_vec3 x;
            int used = 0;
            assert_int_equal(sscanf(at, "(%lf, %lf, %lf)%n", &x.x, &x.y, &x.z, &used), 3);
            assert_point(x, test_run_point(k, v), up);
            at += used + (at[used] == ',' ? 2 : 0);
        }
        assert_memory_equal(at, "],\n", 3);
    }
}

static void test_usda(void** unused)
{
    (void)unused;
    for (int k = 0; k < 4; k++)
    {
        bool torn = k / 2;
        char up = k % 2 ? 'z' : 'y';
        size_t size;
        export_must("usda", up, torn);
        char* text = test_file_read(target, &size);
        assert_memory_equal(text, "#usda 1.0\n(\n", 12);
        assert_non_null(strstr(text, up == 'z' ? "    upAxis = \"Z\"\n" : "    upAxis = \"Y\"\n"));
        assert_non_null(strstr(text, "    metersPerUnit = 1\n"));
        assert_non_null(strstr(text, "    timeCodesPerSecond = 20\n"));
        assert_non_null(strstr(text, "    endTimeCode = 4\n"));
        assert_non_null(strstr(text, "def Xform \"run\"\n{\n    def Mesh \"sheet\"\n"));
        assert_non_null(strstr(
            text, torn ? "int[] faceVertexCounts.timeSamples = {\n            0: [4, 4],\n            2: [4, 4],\n"
                         "            3: [4, 3, 3],\n        }\n"
                       : "int[] faceVertexCounts = [4, 4]\n"));
        assert_non_null(strstr(text, torn ? "            2: [0, 1, 4, 3, 6, 2, 5, 7],\n"
                                          : "int[] faceVertexIndices = [0, 1, 4, 3, 1, 2, 5, 4]\n"));
        assert_non_null(strstr(text, "point3f[] points = [(0, ")); // the ball's
        assert_non_null(strstr(text, torn ? "            3: [0, 1, 2, 3, 4, 5, 6, 4, 6, 7],\n"
                                          : "int[] primvars:st:indices = [0, 1, 2, 3, 4, 5, 6, 7]\n"));
        assert_non_null(
            strstr(text, "texCoord2f[] primvars:st = [(0, 0), (0.5, 0), (0.5, 0.5), (0, 0.5), (0.5, 0.5), (1, 0.5), "
                         "(1, 1), (0.5, 1), (0, 0)] (\n            interpolation = \"faceVarying\"\n        )\n"));
        check_usda_points(text, up, torn);
        free(text);
    }
}

// Names that formats cannot take as they are. In USD they become identifiers, none twice, and the name goes with them.
static void test_names(void** unused)
{
    (void)unused;
    size_t size;
    mkdir(run, 0777);
    static const char* const names[] = {"a b", "a-b", "2nd \"x\""};
    for (int k = 0; k < 3; k++)
    {
        char file[64];
        snprintf(file, sizeof(file), "%s.obj", names[k]);
        test_text_write(run, file, "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
        snprintf(file, sizeof(file), "%s.pc2", names[k]);
        test_pc2_write(run, file, 3, 0.0f, 2);
    }
    assert_int_equal(export_run("usda", 'y', NULL), WEFT_OK);
    char* text = test_file_read(target, &size);
    assert_non_null(strstr(text, "def Mesh \"a_b\" (\n        customData = {\n            string name = \"a b\"\n"));
    assert_non_null(strstr(text, "def Mesh \"a_b_2\" (\n        customData = {\n            string name = \"a-b\"\n"));
    assert_non_null(
        strstr(text, "def Mesh \"_2nd__x_\" (\n        customData = {\n            string name = \"2nd \\\"x\\\"\"\n"));
    free(text);
    assert_int_equal(export_run("gltf", 'y', NULL), WEFT_OK);
    glb g = glb_read();
    assert_string_equal(json_string_value(json_object_get(json_array_get(json_object_get(g.json, "nodes"), 0), "name")),
                        "2nd \"x\"");
    glb_finish(&g);
    remove(target);
    char path[400];
    assert_int_equal(export_run("vtp", 'y', NULL), WEFT_OK);
    snprintf(path, sizeof(path), "%s/run.pvd", target);
    text = test_file_read(path, &size);
    assert_non_null(strstr(text, "name=\"2nd &#34;x&#34;\" file=\"2nd &#34;x&#34;.0001.vtp\"/>"));
    free(text);
}

// ---- Alembic

// Data of a child of the group at `group`; *size is 0 for empty data.
static const char* abc_data(const char* file, uint64_t group, uint64_t child, uint64_t* size)
{
    assert_true(child < read64(file + group));
    uint64_t place = read64(file + group + 8 + 8 * child);
    assert_true(place >> 63);
    place &= ~((uint64_t)1 << 63);
    *size = place ? read64(file + place) : 0;
    return file + place + 8;
}

static uint64_t abc_group(const char* file, uint64_t group, uint64_t child)
{
    assert_true(child < read64(file + group));
    uint64_t place = read64(file + group + 8 + 8 * child);
    assert_false(place >> 63);
    return place;
}

// A sample behind its key, which must be that of the bytes.
static const char* abc_sample(const char* file, uint64_t group, uint64_t child, uint64_t* size)
{
    const char* data = abc_data(file, group, child, size);
    ogawa_key key = ogawa_key_of(data + 16, *size - 16);
    assert_memory_equal(key.bytes, data, 16);
    *size -= 16;
    return data + 16;
}

enum
{
    BOUNDS,
    POSITIONS,
    INDICES,
    COUNTS,
    UV
};

// The stored sample of the topology in a frame: none is repeated before the first change and behind the last.
static int stored_topology(int frame, bool torn)
{
    return !torn || frame < TORN_FIRST ? 0 : int_min(frame, TORN_SECOND) - TORN_FIRST + 1;
}

static void check_abc_faces(const char* file, uint64_t geometry, int frame, bool torn)
{
    int count[3], vertices[10], at = 0;
    uint64_t size, child = 2 * (uint64_t)stored_topology(frame, torn);
    int faces = sheet_faces(frame, torn, count, vertices);
    const char* counts = abc_sample(file, abc_group(file, geometry, COUNTS), child, &size);
    assert_int_equal(size, 4 * faces);
    assert_memory_equal(counts, count, 4 * (size_t)faces);
    const char* indices = abc_sample(file, abc_group(file, geometry, INDICES), child, &size);
    for (int f = 0; f < faces; at += count[f], f++)
    {
        for (int c = 0; c < count[f]; c++) // each face runs backwards
        {
            assert_int_equal(read32(indices + 4 * (at + c)), vertices[at + count[f] - 1 - c]);
        }
    }
    assert_int_equal(size, 4 * at);
}

static void check_abc_frame(const char* file, uint64_t geometry, int frame, char up, bool torn)
{
    uint64_t size;
    int points = test_run_vertices(frame, torn);
    const char* positions = abc_sample(file, abc_group(file, geometry, POSITIONS), 2 * (uint64_t)frame, &size);
    assert_int_equal(size, 12 * points);
    for (int v = 0; v < points; v++)
    {
        assert_point(read_point(positions + 12 * v), test_run_point(frame, v), up);
    }
    abc_data(file, abc_group(file, geometry, POSITIONS), 2 * (uint64_t)frame + 1, &size);
    assert_int_equal(size, 0); // dimensions
    double box[6];
    const char* bounds = abc_sample(file, abc_group(file, geometry, BOUNDS), (uint64_t)frame, &size);
    assert_int_equal(size, sizeof(box));
    memcpy(box, bounds, sizeof(box));
    weft_vec3 low = turned(test_run_point(frame, 0), up), high = low;
    for (int v = 1; v < points; v++)
    {
        weft_vec3 x = turned(test_run_point(frame, v), up);
        low = (weft_vec3){fmin(low.x, x.x), fmin(low.y, x.y), fmin(low.z, x.z)};
        high = (weft_vec3){fmax(high.x, x.x), fmax(high.y, x.y), fmax(high.z, x.z)};
    }
    assert_point((weft_vec3){box[0], box[1], box[2]}, low, 'y');
    assert_point((weft_vec3){box[3], box[4], box[5]}, high, 'y');
    check_abc_faces(file, geometry, frame, torn);
}

// The archive's parts, and the group of the sheet's geometry.
static uint64_t check_abc_archive(const char* file)
{
    uint64_t size, root = read64(file + 8);
    assert_memory_equal(file, "Ogawa\xff\0\1", 8);
    assert_int_equal(read64(file + root), 6);
    assert_int_equal(read32(abc_data(file, root, 0, &size)), 0);
    assert_true(read32(abc_data(file, root, 1, &size)) >= 9999);
    const char* times = abc_data(file, root, 4, &size);
    assert_int_equal(size, 48);
    double cycle;
    assert_int_equal(read32(times + 24), TORN_FRAMES);
    memcpy(&cycle, times + 28, 8);
    assert_near(cycle, 0.05, 1e-15);
    uint64_t top = abc_group(file, root, 2), sheet = abc_group(file, top, 1), shape = abc_group(file, sheet, 1);
    assert_int_equal(read64(file + top), 4); // properties, sheet, ball, headers
    const char* headers = abc_data(file, top, 3, &size);
    assert_int_equal(size, 4 + 5 + 1 + 4 + 4 + 1 + 32);
    assert_memory_equal(headers + 4, "sheet", 5);
    headers = abc_data(file, sheet, 2, &size);
    assert_memory_equal(headers + 4, "sheetShape", 10);
    return abc_group(file, abc_group(file, shape, 0), 0);
}

static void test_abc(void** unused)
{
    (void)unused;
    for (int k = 0; k < 4; k++)
    {
        bool torn = k / 2;
        char up = k % 2 ? 'z' : 'y';
        size_t size;
        export_must("abc", up, torn);
        char* file = test_file_read(target, &size);
        uint64_t geometry = check_abc_archive(file);
        // Bounds, positions, indices, counts, uv, colour and objects of faces where their number stays, headers.
        assert_int_equal(read64(file + geometry), 7);
        assert_int_equal(read64(file + abc_group(file, geometry, INDICES)), torn ? 2 * 3 : 2);
        for (int frame = 0; frame < TORN_FRAMES; frame++)
        {
            check_abc_frame(file, geometry, frame, up, torn);
        }
        uint64_t uv = abc_group(file, geometry, UV), values;
        abc_sample(file, abc_group(file, uv, 0), 0, &values);
        assert_int_equal(values, 8 * 9); // eight, and one for corners that have none
        free(file);
    }
}

// What the header of a property says: bits, samples, changes.
static void check_abc_header(const char** at, uint32_t info, const char* rest, size_t size)
{
    assert_int_equal(read32(*at), info);
    assert_memory_equal(*at + 4, rest, size);
    *at += 4 + size;
}

// Between changes that are not neighbours the samples repeat: the same data, not stored again.
static void test_abc_repeats(void** unused)
{
    (void)unused;
    size_t size;
    uint64_t header_size;
    test_run_write(run, true);
    test_pc2_write(run, "sheet.1.pc2", 8, 1.0f, 2);
    test_pc2_write(run, "sheet.2.pc2", 9, 3.0f, 2);
    test_pc2_write(run, "sheet.pc2", 6, 0.0f, 1);
    test_text_write(run, "frames.jsonl",
                    "{\"frame\": 1, \"body\": \"sheet\", \"topology\": 1, \"copies\": [1, 4]}\n"
                    "{\"frame\": 3, \"body\": \"sheet\", \"topology\": 2, \"copies\": [6]}\n");
    assert_int_equal(export_run("abc", 'y', NULL), WEFT_OK);
    char* file = test_file_read(target, &size);
    uint64_t geometry = check_abc_archive(file), indices = abc_group(file, geometry, INDICES);
    assert_int_equal(read64(file + indices), 2 * 4); // frames 0 to 3
    assert_int_equal(read64(file + indices + 8 + 8 * 2), read64(file + indices + 8 + 8 * 4));
    assert_int_not_equal(read64(file + indices + 8), read64(file + indices + 8 + 8 * 2));
    const char* at = abc_data(file, geometry, UV + 2, &header_size);
    const char* end = at + header_size;
    // Kind, type, sampling, changes, one size, constant, numbers of an item, metadata; metadata are box, point, none,
    // none, uv.
    check_abc_header(&at, 1 | 11 << 4 | 1 << 8 | 1 << 10 | 6 << 12 | 5 << 20, "\5\1\11.selfBnds", 12);
    check_abc_header(&at, 2 | 10 << 4 | 1 << 8 | 3 << 12 | 6 << 20, "\5\1\1P", 4);
    check_abc_header(&at, 2 | 6 << 4 | 1 << 8 | 1 << 9 | 1 << 12, "\5\1\3\1\14.faceIndices", 17);
    check_abc_header(&at, 2 | 6 << 4 | 1 << 8 | 1 << 9 | 1 << 12, "\5\1\3\1\13.faceCounts", 16);
    check_abc_header(&at, 7 << 20, "\2uv", 3);
    check_abc_header(&at, 0, "\16.arbGeomParams", 15);
    assert_ptr_equal(at, end);
    free(file);
}

// Published values of MurmurHash3_x64_128 with seed 0.
static void test_keys(void** unused)
{
    (void)unused;
    static const char text[] = "The quick brown fox jumps over the lazy dog";
    ogawa_key key = ogawa_key_of(text, strlen(text));
    assert_int_equal(read64((const char*)key.bytes), 0xe34bbc7bbc071b6cu);
    assert_int_equal(read64((const char*)key.bytes + 8), 0x7a433ca9c49a9347u);
    key = ogawa_key_of("hello", 5);
    assert_int_equal(read64((const char*)key.bytes), 0xcbd8a7b341bd9b02u);
    assert_int_equal(read64((const char*)key.bytes + 8), 0x5b1e906a48ae1d19u);
}

// ---- all of them

static const char* const files[] = {"abc", "gltf", "usda", "usdc", "usdz"};

// The same run gives the same bytes.
static void test_same_bytes(void** unused)
{
    (void)unused;
    for (int k = 0; k < 5; k++)
    {
        size_t first_size, second_size;
        export_must(files[k], 'y', true);
        char* first = test_file_read(target, &first_size);
        export_must(files[k], 'y', true);
        char* second = test_file_read(target, &second_size);
        assert_int_equal(first_size, second_size);
        assert_memory_equal(first, second, first_size);
        free(first);
        free(second);
    }
}

// Every allocation fails once: a status, nothing lost, no file.
static void test_no_memory(void** unused)
{
    (void)unused;
    static const char* const formats[] = {"abc", "gltf", "usda", "usdc", "usdz", "vtp"};
    test_run_write(run, true);
    for (int k = 0; k < 6; k++)
    {
        weft_status status = WEFT_NO_MEMORY;
        for (int fail_at = 1; status == WEFT_NO_MEMORY; fail_at++)
        {
            struct stat info;
            weft_error error = {0};
            test_ledger ledger = {.fail_at = fail_at};
            test_ledger_open(&ledger);
            status = export_run(formats[k], 'y', &error);
            test_ledger_close();
            assert_int_equal(ledger.live, 0);
            assert_int_equal(stat(target, &info) != 0, status != WEFT_OK);
            assert_true(fail_at < 10000);
        }
        assert_int_equal(status, WEFT_OK);
        test_folder_remove(target);
        remove(target);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_vtp, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_gltf, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_gltf_many, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_gltf_too_large, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_usda, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_names, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_abc, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_abc_repeats, set_up, tear_down),
        cmocka_unit_test(test_keys),
        cmocka_unit_test_setup_teardown(test_same_bytes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_memory, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
