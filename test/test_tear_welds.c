// Cloth whose outputs are not its vertices, and garments whose seams are welded, tear: outputs of the user stay where
// they are, what is torn off follows them, and the run's folder names it by what it was torn off from.
#include "common.h"

#include <stdlib.h>
#include <string.h>

#include "common_scene.h"
#include "common_sim.h"
#include "sim/sim.h"
#include "sim/tear.h"
#include "weft/cache.h"
#include "weft/inspect.h"

enum
{
    CELLS = 8,
    SIDE = CELLS + 1,
    VERTICES = SIDE * SIDE,
    DOUBLES = 7 // outputs that show a vertex once more, as seams have them
};

// Backwards, and some twice: the first output that shows vertex i is the one at VERTICES - 1 - i.
static void outputs_make(int* out)
{
    for (int k = 0; k < VERTICES; k++)
    {
        out[k] = VERTICES - 1 - k;
    }
    for (int k = 0; k < DOUBLES; k++)
    {
        out[VERTICES + k] = 3 * SIDE + k;
    }
}

static weft_sim* heavy_banner(const int* outputs, int count)
{
    weft_sim_def def = weft_sim_def_default();
    def.time_step = 0.005;
    def.gravity = (weft_vec3){0, -60, 0};
    weft_cloth_def cloth = weft_cloth_def_default();
    cloth.name = "banner";
    cloth.tear = 5.0;
    cloth.model = "hooke";
    cloth.outputs = outputs;
    cloth.output_count = count;
    grid_options grid = {.size_u = 1.0, .size_v = 1.0, .cells_u = CELLS, .cells_v = CELLS};
    int top[SIDE];
    for (int k = 0; k < SIDE; k++)
    {
        top[k] = k;
    }
    weft_pin pin = weft_pin_default();
    pin.vertices = top;
    pin.vertex_count = SIDE;
    cloth.pins = &pin;
    cloth.pin_count = 1;
    mesh m;
    weft_sim* sim = test_grid_sim(&def, &grid, &cloth, &m);
    mesh_finish(&m);
    return sim;
}

// Outputs as given come first; the others show what was torn off, in its order.
static void check_outputs(const weft_sim* sim, const int* given)
{
    int count = weft_sim_output_count(sim, 0), vertices = weft_sim_vertex_count(sim, 0);
    int* shown = malloc((size_t)count * sizeof(int));
    assert_int_equal(count - (VERTICES + DOUBLES), vertices - VERTICES);
    weft_sim_output_vertices(sim, 0, shown);
    assert_memory_equal(shown, given, (VERTICES + DOUBLES) * sizeof(int));
    for (int k = VERTICES + DOUBLES; k < count; k++)
    {
        assert_int_equal(shown[k], k - DOUBLES);
    }
    free(shown);
}

// The last topology of the folder: a copy lies at rest where its origin does.
static void check_folder(const char* dir, const weft_sim* sim)
{
    weft_cache* cache = NULL;
    weft_error error = {0};
    if (weft_cache_open(dir, &cache, &error) != WEFT_OK)
    {
        fail_msg("%s", error.message);
    }
    int count = weft_cache_topology_count(cache, 0);
    assert_true(count > 1);
    const weft_cache_body* last = weft_cache_topology_at(cache, 0, count - 1);
    const weft_cache_body* before = weft_cache_topology_at(cache, 0, count - 2);
    assert_int_equal(last->vertex_count, weft_sim_output_count(sim, 0));
    int doubles = 0;
    for (int i = 0; i < last->vertex_count; i++)
    {
        assert_true(last->origin[i] < before->vertex_count);
        assert_true(i >= before->vertex_count || last->origin[i] == i);
        assert_memory_equal(&last->rest[i], &before->rest[last->origin[i]], sizeof(weft_vec3));
        doubles += i >= before->vertex_count;
    }
    assert_true(doubles > 0);
    weft_cache_close(cache);
}

static void test_outputs_stay(void** unused)
{
    (void)unused;
    int given[VERTICES + DOUBLES];
    outputs_make(given);
    // Both are written: what solvers know of the past is another with a checkpoint a frame.
    char dir[2][512];
    weft_sim* sims[2] = {heavy_banner(given, VERTICES + DOUBLES), heavy_banner(NULL, 0)};
    for (int s = 0; s < 2; s++)
    {
        weft_cache_writer* writer = NULL;
        weft_error error = {0};
        const char scene[] = "{\"cloth\": [{\"name\": \"banner\"}]}";
        snprintf(dir[s], sizeof(dir[s]), "%s", scene_path(s == 0 ? "outputs" : "plain"));
        if (weft_cache_writer_create(dir[s], WEFT_CACHE_FORCE, scene, 1, sims[s], &writer, &error) != WEFT_OK)
        {
            fail_msg("%s", error.message);
        }
        for (int k = 0; k < 60; k++)
        {
            weft_step_stats stats;
            assert_int_equal(weft_sim_step(sims[s], &stats, NULL), WEFT_OK);
            assert_int_equal(weft_cache_writer_step(writer, sims[s], &stats, NULL), WEFT_OK);
        }
        weft_cache_writer_destroy(writer, NULL);
    }
    int after = weft_sim_vertex_count(sims[0], 0);
    printf("%d vertices, %d outputs\n", after, weft_sim_output_count(sims[0], 0));
    assert_true(after > VERTICES);
    check_outputs(sims[0], given);
    check_folder(dir[0], sims[0]);
    // What is shown changes nothing of what is simulated.
    assert_int_equal(weft_sim_vertex_count(sims[1], 0), after);
    assert_memory_equal(sims[0]->world.state.x, sims[1]->world.state.x, (size_t)after * sizeof(vec3));
    weft_sim_destroy(sims[0]);
    weft_sim_destroy(sims[1]);
}

static void test_hidden_vertices(void** unused)
{
    (void)unused;
    weft_sim_def def = weft_sim_def_default();
    weft_sim* sim = NULL;
    assert_int_equal(weft_sim_create(&def, &sim, NULL), WEFT_OK);
    const weft_vec3 x[3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    const int face[3] = {0, 1, 2}, shown[2] = {0, 2};
    weft_cloth_def cloth = weft_cloth_def_default();
    cloth.positions = x;
    cloth.vertex_count = 3;
    cloth.face_vertices = face;
    cloth.face_count = 1;
    cloth.outputs = shown;
    cloth.output_count = 2;
    cloth.tear = 1.0;
    weft_error error = {0};
    assert_int_equal(weft_sim_add_cloth(sim, &cloth, NULL, &error), WEFT_BAD_INPUT);
    assert_non_null(strstr(error.message, "shows vertex 1"));
    weft_sim_destroy(sim);
}

// ---- a shirt in two parts, welded

typedef struct shirt
{
    char* text; // of the OBJ file
    double* x;  // [vertices]
    int vertices;
} shirt;

static bool shirt_read(shirt* s)
{
    const char* data = getenv("WEFT_TEST_DATA");
    char path[600];
    snprintf(path, sizeof(path), "%s/garments/tshirt1900.obj", data ? data : WEFT_SOURCE_DIR "/../shared/data");
    FILE* file = fopen(path, "rb");
    if (!file)
    {
        return false;
    }
    size_t room = 2000000;
    s->text = calloc(room, 1);
    s->x = calloc(10000, sizeof(double));
    size_t size = fread(s->text, 1, room - 1, file);
    fclose(file);
    for (const char* at = s->text; size > 0 && at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL)
    {
        double x;
        if (sscanf(at, "v %lf", &x) == 1)
        {
            s->x[s->vertices++] = x;
        }
    }
    return s->vertices > 0;
}

// Every vertex twice; faces to the right of the middle take the second: a seam all the way round, which welding closes.
static void shirt_write(const shirt* s, const char* path)
{
    FILE* file = fopen(path, "wb");
    for (int turn = 0; turn < 3; turn++)
    {
        for (const char* at = s->text; at && *at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL)
        {
            int v[3];
            bool face = sscanf(at, "f %d%*[^ ] %d%*[^ ] %d", &v[0], &v[1], &v[2]) == 3;
            if (turn < 2 && strncmp(at, "v ", 2) == 0)
            {
                fprintf(file, "%.*s\n", (int)strcspn(at, "\r\n"), at);
            }
            else if (turn == 2 && face)
            {
                double middle = s->x[v[0] - 1] + s->x[v[1] - 1] + s->x[v[2] - 1];
                int more = middle > 0.0 ? s->vertices : 0;
                fprintf(file, "f %d %d %d\n", v[0] + more, v[1] + more, v[2] + more);
            }
        }
    }
    fclose(file);
}

#define PULLED                                                                                                         \
    "{\"time_step\": 0.01, \"method\": \"%s\", \"model\": \"hooke\", \"gravity\": [0, 0, 0], \"cloth\": [{\"name\": "  \
    "\"shirt\", \"mesh\": {\"obj\": \"%s\", \"scale\": 0.1, \"weld\": 1e-5}, \"tear\": 60, \"material\": {\"base\": "  \
    "\"cotton\", \"stretch_warp\": 500, \"stretch_weft\": 500, \"shear\": 50}, \"pins\": [{\"where\": {\"box\": "      \
    "{\"min\": [-9, -9, -9], \"max\": [-0.4, 9, 9]}}}, {\"where\": {\"box\": {\"min\": [0.4, -9, -9], \"max\": [9, "   \
    "9, 9]}}, \"path\": [{\"time\": 0}, {\"time\": 0.6, \"offset\": [0.6, 0, 0]}]}]}]}"

static long long crossings_of(weft_sim* sim)
{
    const body* b = &sim->bodies[0];
    weft_inspect_def def = weft_inspect_def_default();
    weft_inspect_body cloth = {.vertex_count = b->rest.vertex_count};
    cloth.triangles = b->rest.triangle;
    cloth.triangle_count = b->rest.triangle_count;
    weft_inspector* inspector = NULL;
    weft_inspection found = {0};
    int outputs = weft_sim_output_count(sim, 0);
    weft_vec3* x = calloc((size_t)b->rest.vertex_count, sizeof(weft_vec3));
    weft_vec3* all = calloc((size_t)outputs, sizeof(weft_vec3));
    int* shown = calloc((size_t)outputs, sizeof(int));
    const weft_vec3* positions[1] = {x};
    weft_sim_positions(sim, 0, all);
    weft_sim_output_vertices(sim, 0, shown);
    for (int k = 0; k < outputs; k++)
    {
        x[shown[k]] = all[k];
    }
    free(all);
    free(shown);
    assert_int_equal(weft_inspector_create(&def, &cloth, 1, &inspector, NULL), WEFT_OK);
    assert_int_equal(weft_inspector_frame(inspector, positions, &found, NULL), WEFT_OK);
    weft_inspector_destroy(inspector);
    free(x);
    return found.crossings;
}

static void pull_apart(const char* method, const char* path)
{
    char text[2000];
    snprintf(text, sizeof(text), PULLED, method, path);
    weft_sim* sim = scene_sim_text(text, 1);
    int before = weft_sim_vertex_count(sim, 0), torn = 0;
    for (int k = 0; k < 60; k++)
    {
        weft_step_stats stats;
        weft_error error = {0};
        if (weft_sim_step(sim, &stats, &error) != WEFT_OK)
        {
            fail_msg("%s", error.message);
        }
        torn = weft_sim_vertex_count(sim, 0) - before;
    }
    printf("%s: a shirt of %d vertices, %d were torn off\n", method, before, torn);
    assert_int_equal(crossings_of(sim), 0);
    assert_true(torn > 10);
    weft_sim_destroy(sim);
}

static void test_shirt_tears(void** unused)
{
    (void)unused;
    shirt s = {0};
    if (!shirt_read(&s))
    {
        printf("no garments: set WEFT_TEST_DATA\n");
        skip();
    }
    char path[600];
    snprintf(path, sizeof(path), "%s", scene_path("shirt.obj"));
    shirt_write(&s, path);
    pull_apart("implicit-euler", path);
    pull_apart("pbd", path);
    free(s.text);
    free(s.x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_outputs_stay),
        cmocka_unit_test(test_hidden_vertices),
        cmocka_unit_test(test_shirt_tears),
    };
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
