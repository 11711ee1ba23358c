// A kind of bodies is a row of a table: threads, polylines of one file (toy_threads.c) and one row (toy_tables.c), and
// blocks of tetrahedra (toy_blocks.c), go through scene file, simulation, contact with a floor, a sheet and each other,
// checkpoint, resume, run folder, inspection, page, picture and exports; where a room cannot take them, it says so.
#include "common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common_command.h"
#include "common_scene.h"
#include "mesh/mesh.h"
#include "sim/sim.h"
#include "weft/inspect.h"
#include "weft/render.h"

// Three threads over each other, of nine vertices each, 5 cm apart: along x, along z, along x.
static void write_threads(void)
{
    char text[4096];
    size_t used = 0;
    for (int k = 0; k < 27; k++)
    {
        int thread = k / 9;
        double along = -0.2 + 0.05 * (k % 9), height = 0.01 + 0.008 * thread, aside = 0.03 * thread - 0.03;
        used += (size_t)snprintf(text + used, sizeof(text) - used, "v %g %g %g\n", thread == 1 ? 0.013 : along, height,
                                 thread == 1 ? along : aside);
    }
    for (int k = 0; k < 27; k++)
    {
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s %d%s", k % 9 == 0 ? "l" : "", k + 1,
                                 k % 9 == 8 ? "\n" : "");
    }
    scene_write_bytes(scene_path("threads.obj"), text, used);
}

#define THREADS                                                                                                        \
    "\"toy-threads\": [{\"name\": \"threads\", \"mesh\": {\"obj\": \"threads.obj\"}, \"thickness\": 0.004,"            \
    " \"material\": {\"density\": 0.01, \"stretch_warp\": 200, \"stretch_weft\": 1, \"shear\": 1, \"damping\": 0.01}"

#define SHEET                                                                                                          \
    "\"cloth\": [{\"name\": \"sheet\", \"mesh\": {\"grid\": {\"size\": 0.6, \"cells\": 6}},"                           \
    " \"pins\": [{\"where\": {\"edge\": [\"left\", \"right\", \"top\", \"bottom\"]}}]}]"

static const char over_sheet[] =
    "{\"time_step\": 0.001, \"steps_per_frame\": 20, \"frames\": 8, \"solver\": \"cholesky\"," SHEET ", " THREADS "}]}";
static const char over_floor[] = "{\"time_step\": 0.001, \"solver\": \"cholesky\", " THREADS "}],"
                                 " \"obstacles\": [{\"shape\": {\"plane\": {\"size\": 2}}}]}";

static int setup(void** state)
{
    int made = scene_folder_make(state);
    write_threads();
    return made;
}

static weft_sim* sim_after(const char* text, int steps)
{
    weft_sim* sim = scene_sim_text(text, 1);
    weft_error error = {0};
    for (int k = 0; k < steps; k++)
    {
        if (weft_sim_step(sim, NULL, &error) != WEFT_OK)
        {
            fail_msg("%s", error.message);
        }
    }
    return sim;
}

// ---- meshes of lines

static weft_status read_obj(const char* text, const obj_options* options, mesh* out, weft_error* error)
{
    scene_write_bytes(scene_path("lines.obj"), text, strlen(text));
    *error = (weft_error){0};
    return mesh_from_obj(scene_path("lines.obj"), options, out, error);
}

#define FOUR "v 0 0 0\nv 1 0 0\nv 2 0 0\nv 2 0 0\n"

static void test_lines(void** unused)
{
    (void)unused;
    weft_error error;
    mesh m;
    const obj_options lines = {.form = MESH_LINES}, any = {.any_form = true}, weld = {.form = MESH_LINES, .weld = 0.1};
    // A closed line is one; f lines are not looked at.
    assert_int_equal(read_obj(FOUR "o a\nl 1 2 3 1\nf 1 2 3\nl -2 -4\n", &lines, &m, &error), WEFT_OK);
    assert_int_equal(mesh_split(&m, &error), WEFT_OK);
    const int segments[] = {0, 1, 1, 2, 2, 0, 2, 0};
    assert_int_equal(m.face_count, 2);
    assert_int_equal(m.segment_count, 4);
    assert_memory_equal(m.segment, segments, sizeof(segments));
    assert_int_equal(m.triangle_count, 0);
    // Simulated, a segment stands once.
    assert_int_equal(mesh_segment(&m, &error), WEFT_BAD_INPUT);
    assert_non_null(strstr(error.message, "joined already"));
    assert_int_equal(error.line, 8);
    mesh_finish(&m);

    assert_int_equal(read_obj(FOUR "l 1 2 3 4\n", &lines, &m, &error), WEFT_OK);
    assert_int_equal(mesh_segment(&m, &error), WEFT_BAD_INPUT);
    assert_non_null(strstr(error.message, "without length"));
    mesh_finish(&m);
    assert_int_equal(read_obj(FOUR "l 1 2 3\nl 1 4\n", &weld, &m, &error), WEFT_OK);
    assert_int_equal(m.vertex_count, 3);
    mesh_finish(&m);
    assert_int_equal(read_obj(FOUR "l 1 2 3 4\n", &weld, &m, &error), WEFT_BAD_INPUT);
    assert_non_null(strstr(error.message, "line 1 on line 5 collapses"));

    // A folder may hold either form.
    assert_int_equal(read_obj(FOUR "l 1 2 3\n", &any, &m, &error), WEFT_OK);
    assert_int_equal(m.form, MESH_LINES);
    mesh_finish(&m);
    assert_int_equal(read_obj("v 0 0 0\nv 1 0 0\nv 0 1 0\nl 1 2\nf 1 2 3\n", &any, &m, &error), WEFT_OK);
    assert_int_equal(m.form, MESH_SHEET);
    mesh_finish(&m);

    static const struct
    {
        const char *text, *word;
        int line;
    } wrong[] = {
        {FOUR "l 1\n", "line 1 has 1 corner", 5},     {FOUR "l 1 9\n", "only 4 vertices", 5},
        {FOUR "l 1 1\n", "as a corner twice", 5},     {FOUR "l 0 1\n", "index 0 in line 1", 5},
        {FOUR "f 1 2 3\n", "polylines (l lines)", 0},
    };
    for (size_t k = 0; k < sizeof(wrong) / sizeof(wrong[0]); k++)
    {
        assert_int_equal(read_obj(wrong[k].text, &lines, &m, &error), WEFT_BAD_INPUT);
        assert_int_equal(error.line, wrong[k].line);
        assert_non_null(strstr(error.message, wrong[k].word));
    }
    assert_int_equal(read_obj(FOUR "l 1 2\n", NULL, &m, &error), WEFT_BAD_INPUT);
    assert_non_null(strstr(error.message, "no faces"));
}

// ---- simulation

// Density is of length here: 1.2 m of 0.01 kg/m, of which the inner vertices have a twenty-fourth each.
static void test_masses(void** unused)
{
    (void)unused;
    weft_sim* sim = sim_after(over_floor, 1);
    assert_true(fabs(sim->model.total_mass - 0.012) < 1e-12);
    assert_true(fabs(sim->model.mass[sim->bodies[0].scene_vertex[4]] - 5e-4) < 1e-12);
    assert_true(fabs(sim->model.mass[sim->bodies[0].scene_vertex[0]] - 2.5e-4) < 1e-12);
    assert_string_equal(sim->bodies[0].model->name, "toy-springs"); // the default makes nothing of lines
    weft_sim_destroy(sim);
}

static double distance_of(const weft_vec3* x, int a, int b)
{
    vec3 pair[4] = {x[a], x[a + 1], x[b], x[b + 1]};
    double best = INFINITY; // by sampling: shares nothing with contact
    for (int i = 0; i <= 200; i++)
    {
        for (int j = 0; j <= 200; j++)
        {
            vec3 p = v3_madd(pair[0], i / 200.0, v3_sub(pair[1], pair[0]));
            vec3 q = v3_madd(pair[2], j / 200.0, v3_sub(pair[3], pair[2]));
            best = fmin(best, v3_length(v3_sub(p, q)));
        }
    }
    return best;
}

// On the floor: one thread lies on it, the next two over it, apart by twice their radius, where edge meets edge.
static void test_contact(void** unused)
{
    (void)unused;
    weft_sim* sim = sim_after(over_floor, 400);
    weft_vec3 x[27];
    weft_sim_positions(sim, 0, x);
    for (int i = 0; i < 27; i++)
    {
        assert_true(x[i].y > 2.3e-3 && x[i].y < 0.02);
    }
    assert_true(x[0].y < 2.8e-3);
    // The second crosses the first and the third between their vertices 4 and 5.
    double low = distance_of(x, 4, 9 + 3), high = distance_of(x, 18 + 4, 9 + 4);
    assert_true(low > 0.0037 && low < 0.0045);
    assert_true(high > 0.0037 && high < 0.0045);
    weft_sim_destroy(sim);
}

// Threads of half that thickness lie on the floor as cloth does; thick ones keep their radius and half of the floor's.
static void test_radius(void** unused)
{
    (void)unused;
    static const double thickness[] = {0.0005, 0.001, 0.004}, height[] = {0.001, 0.001, 0.0025};
    for (int k = 0; k < 3; k++)
    {
        char text[1024];
        snprintf(text, sizeof(text),
                 "{\"time_step\": 0.001, \"solver\": \"cholesky\", \"toy-threads\": [{\"mesh\": {\"obj\": "
                 "\"threads.obj\"}, \"thickness\": %g, \"material\": {\"density\": 0.01, \"stretch_warp\": 200, "
                 "\"stretch_weft\": 1, \"shear\": 1, \"damping\": 0.01}}], \"obstacles\": [{\"thickness\": 0.001, "
                 "\"shape\": {\"plane\": {\"size\": 2}}}]}",
                 thickness[k]);
        weft_sim* sim = sim_after(text, 300);
        weft_vec3 x[27];
        weft_sim_positions(sim, 0, x);
        for (int i = 0; i < 9; i++)
        {
            assert_true(x[i].y > 0.9 * height[k] && x[i].y < 1.15 * height[k] + 1e-4);
        }
        weft_sim_destroy(sim);
    }
}

// Threads hang over the edge of a box: the edge, too, keeps the radius from what is between their vertices.
static void test_radius_over_an_edge(void** unused)
{
    (void)unused;
    weft_sim* sim = sim_after("{\"time_step\": 0.001, \"solver\": \"cholesky\", " THREADS
                              "}], \"obstacles\": [{\"thickness\": 0.001, \"shape\": {\"box\": {\"center\": [-0.425, "
                              "-0.05, 0], \"size\": [0.8, 0.1, 1]}}}]}",
                              150);
    weft_vec3 x[27];
    weft_sim_positions(sim, 0, x);
    assert_true(x[8].y < -0.005); // it does hang
    double nearest = INFINITY;
    for (int i = 0; i < 8; i++)
    {
        for (int k = 0; k <= 100; k++)
        {
            vec3 p = v3_madd(x[i], k / 100.0, v3_sub(x[i + 1], x[i]));
            nearest = fmin(nearest, hypot(p.x + 0.025, p.y));
        }
    }
    assert_true(nearest > 0.0018 && nearest < 0.0035);
    weft_sim_destroy(sim);
}

// A plate goes through threads that pins hold: at the end of each step the segments that cross it are those listed.
static void test_squeezed(void** unused)
{
    (void)unused;
    weft_sim* sim =
        scene_sim_text("{\"time_step\": 0.002, \"solver\": \"cholesky\", " THREADS
                       ", \"pins\": [{\"where\": {\"vertices\": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, "
                       "16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26]}}]}], \"obstacles\": [{\"shape\": {\"box\": "
                       "{\"center\": [0.011, 0.3, 0.007], \"size\": [0.07, 0.4, 0.09]}}, \"motion\": {\"path\": "
                       "[{\"time\": 0}, {\"time\": 0.1, \"offset\": [0, -0.12, 0]}]}}]}",
                       1);
    const mesh* lines = &sim->bodies[0].rest;
    weft_inspect_body bodies[2] = {
        {.vertex_count = 27, .segment_count = lines->segment_count, .segments = lines->segment},
        {.obstacle = 1,
         .vertex_count = sim->obstacles[0].mesh.vertex_count,
         .triangle_count = sim->obstacles[0].mesh.triangle_count,
         .triangles = sim->obstacles[0].mesh.triangle}};
    weft_inspect_def def = weft_inspect_def_default();
    weft_inspector* inspector = NULL;
    assert_int_equal(weft_inspector_create(&def, bodies, 2, &inspector, NULL), WEFT_OK);
    int crossed = 0;
    for (int step = 0; step < 60; step++)
    {
        weft_step_stats stats;
        weft_vec3 x[27], y[64];
        weft_inspection found;
        assert_int_equal(weft_sim_step(sim, &stats, NULL), WEFT_OK);
        weft_sim_positions(sim, 0, x);
        assert_int_equal(weft_sim_obstacle_positions(sim, 0, weft_sim_time(sim), y, NULL), WEFT_OK);
        assert_int_equal(weft_inspector_frame(inspector, (const weft_vec3* const[2]){x, y}, &found, NULL), WEFT_OK);
        for (int k = 0; k < found.pair_count; k++)
        {
            bool listed = false;
            const int* v = lines->segment + 2 * found.pairs[k].triangle[0];
            for (int s = 0; s < stats.squeezed; s++)
            {
                const int* edge = stats.squeezed_pairs[s].edge;
                listed = listed || (edge[0] + edge[1] == v[0] + v[1] && (edge[0] == v[0] || edge[0] == v[1]));
            }
            assert_true(listed);
        }
        crossed += found.pair_count;
    }
    assert_true(crossed > 20);
    weft_inspector_destroy(inspector);
    weft_sim_destroy(sim);
}

// On a sheet they keep the mean of both thicknesses.
static void test_sheet(void** unused)
{
    (void)unused;
    weft_sim* sim = sim_after(over_sheet, 200);
    weft_vec3 sheet[49], x[27];
    weft_sim_positions(sim, 0, sheet);
    weft_sim_positions(sim, 1, x);
    const int segments[] = {0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8};
    weft_inspect_body bodies[2] = {{.vertex_count = 49,
                                    .triangle_count = sim->bodies[0].rest.triangle_count,
                                    .triangles = sim->bodies[0].rest.triangle},
                                   {.vertex_count = 27, .segment_count = 8, .segments = segments}};
    weft_inspect_def def = weft_inspect_def_default();
    weft_inspector* inspector = NULL;
    weft_inspection found;
    assert_int_equal(weft_inspector_create(&def, bodies, 2, &inspector, NULL), WEFT_OK);
    const weft_vec3* positions[2] = {sheet, x};
    assert_int_equal(weft_inspector_frame(inspector, positions, &found, NULL), WEFT_OK);
    assert_int_equal(found.crossings, 0);
    assert_int_equal(found.degenerate, 0);
    assert_true(found.min_distance > 0.0022 && found.min_distance < 0.003);
    // Pushed through, the pairs are found: which segment, which triangle.
    for (int i = 0; i < 4; i++)
    {
        x[i].y -= 0.1;
    }
    assert_int_equal(weft_inspector_frame(inspector, positions, &found, NULL), WEFT_OK);
    assert_int_equal(found.crossings, 1);
    assert_int_equal(found.pairs[0].kind, WEFT_CROSSING_THROUGH);
    assert_int_equal(found.pairs[0].body[1], 1);
    assert_int_equal(found.pairs[0].triangle[1], 3);
    weft_inspector_destroy(inspector);
    weft_sim_destroy(sim);
}

// ---- what is refused, with the reason

static void expect_refusal(const char* text, weft_status status, const char* word)
{
    weft_scene* scene = NULL;
    weft_sim* sim = NULL;
    weft_error error = {0};
    weft_status found = scene_load_bytes(text, strlen(text), &scene, &error);
    found = found == WEFT_OK ? weft_scene_create_sim(scene, 1, &sim, &error) : found;
    if (found != status || !strstr(error.message, word))
    {
        fail_msg("%d: %s", found, error.message);
    }
    weft_scene_destroy(scene);
}

static void test_refused(void** unused)
{
    (void)unused;
    expect_refusal("{" THREADS ", \"model\": \"baraff-witkin\"}]}", WEFT_UNSUPPORTED,
                   "toy-threads `threads`: the model `baraff-witkin` makes no elements of lines; take `toy-springs`");
    expect_refusal("{" THREADS ", \"rest\": \"uv\"}]}", WEFT_BAD_INPUT, "only sheets have");
    expect_refusal("{\"toy-threads\": [{\"mesh\": {\"grid\": {}}}]}", WEFT_BAD_INPUT, "an OBJ file with l lines");
    expect_refusal("{\"toy-threads\": [{}]}", WEFT_BAD_INPUT, "toy-threads needs a \"mesh\"");
    expect_refusal("{\"toy-threads\": []}", WEFT_BAD_INPUT, "the list is empty");
    expect_refusal("{\"toy-thread\": []}", WEFT_BAD_INPUT, "toy-threads");
    expect_refusal("{" SHEET ", " THREADS "}], \"ties\": [{\"cloth\": \"sheet\", \"to\": \"threads\"}]}",
                   WEFT_UNSUPPORTED, "`threads` is made of lines, and a tie holds to a face");
    // They start crossed.
    expect_refusal("{" SHEET ", " THREADS ", \"transform\": {\"translate\": [0, -0.01, 0], \"rotate\": [0, 0, 20]}}]}",
                   WEFT_BAD_INPUT, "with segment 19 of `threads`");
    expect_refusal("{\"initial_contact\": \"resolve\", " SHEET ", " THREADS
                   ", \"transform\": {\"translate\": [0, -0.01, 0], \"rotate\": [0, 0, 20]}}]}",
                   WEFT_BAD_INPUT, "is not untangled yet");
}

// Lines can be tied to a sheet, by vertices and by segments.
static void test_ties(void** unused)
{
    (void)unused;
    weft_sim* sim = sim_after("{\"time_step\": 0.001, \"solver\": \"cholesky\", " SHEET ", " THREADS
                              "}], \"ties\": [{\"cloth\": \"threads\", \"to\": \"sheet\", \"by\": \"edges\"}]}",
                              20);
    assert_int_equal(weft_sim_tie_at(sim, 0).point_count, 24);
    weft_sim_destroy(sim);
}

// ---- solids

// A bar of n cubes along x, each of six tetrahedra around its diagonal, with its lowest corner at the origin.
static void write_block(const char* obj, const char* ele, int n, double size)
{
    static const int paths[6][2] = {{1, 3}, {3, 2}, {2, 6}, {6, 4}, {4, 5}, {5, 1}}; // corners of a cube: bits x, y, z
    char text[8192];
    size_t used = 0;
    for (int v = 0; v < 4 * (n + 1); v++)
    {
        used += (size_t)snprintf(text + used, sizeof(text) - used, "v %g %g %g\n", v / 4 * size, v % 2 * size,
                                 v / 2 % 2 * size);
    }
    used += (size_t)snprintf(text + used, sizeof(text) - used, "f 1 2 3\n"); // not looked at: the surface follows
    scene_write_bytes(scene_path(obj), text, used);
    used = (size_t)snprintf(text, sizeof(text), "# a bar\n%d 4 0\n", 6 * n);
    for (int t = 0; t < 6 * n; t++)
    {
        const int corner[4] = {0, paths[t % 6][0], paths[t % 6][1], 7};
        int v[4];
        for (int k = 0; k < 4; k++)
        {
            v[k] = 4 * (t / 6 + corner[k] % 2) + corner[k] / 2 % 2 + 2 * (corner[k] / 4);
        }
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%d %d %d %d %d\n", t, v[0], v[1], v[2], v[3]);
    }
    scene_write_bytes(scene_path(ele), text, used);
}

#define BLOCK                                                                                                          \
    "\"toy-blocks\": [{\"name\": \"bar\", \"mesh\": {\"obj\": \"bar.obj\"}, \"material\": {\"density\": 100,"          \
    " \"stretch_warp\": 500, \"stretch_weft\": 1, \"shear\": 1, \"damping\": 0.01},"                                   \
    " \"transform\": {\"translate\": [0, 0.005, 0]}}]"

static const char bar_falls[] =
    "{\"time_step\": 0.001, \"steps_per_frame\": 20, \"frames\": 5, \"solver\": \"cholesky\", " BLOCK
    ", \"obstacles\": [{\"shape\": {\"plane\": {\"size\": 2}}}]}";

// Volume makes the mass, the surface is closed and looks outward, and it comes to lie on the floor.
static void test_solid(void** unused)
{
    (void)unused;
    write_block("bar.obj", "bar.ele", 3, 0.05);
    weft_sim* sim = sim_after(bar_falls, 200);
    const mesh* m = &sim->bodies[0].rest;
    assert_true(fabs(sim->model.total_mass - 100 * 3 * 1.25e-4) < 1e-12);
    assert_int_equal(m->tetrahedron_count, 18);
    assert_int_equal(m->triangle_count, 28); // two for each of the bar's 14 squares
    mesh_defects defects;
    assert_int_equal(mesh_find_defects(m, &defects), WEFT_OK);
    assert_true(defects_are_closed(&defects));
    double volume = 0.0;
    for (int t = 0; t < m->triangle_count; t++)
    {
        const int* c = m->triangle + 3 * t;
        volume += v3_dot(m->position[c[0]], v3_cross(m->position[c[1]], m->position[c[2]])) / 6.0;
    }
    assert_true(fabs(volume - 3 * 1.25e-4) < 1e-12);
    weft_vec3 x[16];
    weft_sim_positions(sim, 0, x);
    for (int i = 0; i < 16; i++)
    {
        assert_true(x[i].y > (i % 2 ? 0.049 : 0.9e-3) && x[i].y < (i % 2 ? 0.053 : 1.3e-3));
    }
    weft_sim_destroy(sim);
}

static void test_solid_refused(void** unused)
{
    (void)unused;
    write_block("bar.obj", "bar.ele", 1, 0.05);
    static const char* const wrong[][2] = {
        {"1 4 0\n1 1 2 3 9\n", "uses vertex 9"},
        {"1 4 0\n0 0 2 1 4\n", "inside out"},
        {"1 4 0\n0 0 1 2 3\n", "has no volume"},
        {"2 4 0\n0 0 1 2 4\n", "ends before its last"},
        {"1 10 0\n", "the number of tetrahedra and a 4"},
        {"1 4 0\n0 0 1 2 x\n", "five whole numbers"},
        {"3 4 0\n0 0 1 2 4\n1 0 1 2 4\n2 0 1 2 4\n", "they overlap"},
    };
    for (size_t k = 0; k < sizeof(wrong) / sizeof(wrong[0]); k++)
    {
        scene_write_bytes(scene_path("bar.ele"), wrong[k][0], strlen(wrong[k][0]));
        expect_refusal(bar_falls, WEFT_BAD_INPUT, wrong[k][1]);
    }
    remove(scene_path("bar.ele"));
    expect_refusal(bar_falls, WEFT_NOT_FOUND, "bar.ele");
    expect_refusal("{\"toy-blocks\": [{\"mesh\": {\"grid\": {}}}]}", WEFT_BAD_INPUT, "FILE.ele beside it");
    expect_refusal("{\"toy-blocks\": [{\"mesh\": {\"obj\": \"bar.obj\", \"weld\": 1}}]}", WEFT_UNSUPPORTED,
                   "nor welding");
}

// ---- arrays, and allocations that fail

static weft_status run_ledger(void)
{
    const weft_vec3 line[] = {{0, 0.1, 0}, {0.1, 0.1, 0}, {0.2, 0.1, 0}};
    const weft_vec3 corners[] = {{0, 0, 0}, {0.1, 0, 0}, {0, 0, -0.1}, {0, 0.05, 0}};
    const int starts[] = {0, 3}, vertices[] = {0, 1, 2}, tetrahedron[] = {0, 1, 2, 3};
    weft_sim_def def = weft_sim_def_default();
    weft_cloth_def threads = weft_cloth_def_default(), block = weft_cloth_def_default();
    threads.kind = "toy-threads";
    threads.positions = line;
    threads.vertex_count = 3;
    threads.face_start = starts;
    threads.face_vertices = vertices;
    threads.face_count = 1;
    block.kind = "toy-blocks";
    block.positions = corners;
    block.vertex_count = 4;
    block.tetrahedra = tetrahedron;
    block.tetrahedron_count = 1;
    threads.model = block.model = "toy-springs";
    weft_sim* sim = NULL;
    weft_status status = weft_sim_create(&def, &sim, NULL);
    status = status == WEFT_OK ? weft_sim_add_cloth(sim, &threads, NULL, NULL) : status;
    status = status == WEFT_OK ? weft_sim_add_cloth(sim, &block, NULL, NULL) : status;
    status = status == WEFT_OK ? weft_sim_step(sim, NULL, NULL) : status;
    weft_sim_destroy(sim);
    return status;
}

static void test_memory(void** unused)
{
    (void)unused;
    weft_status status = WEFT_NO_MEMORY;
    for (int fail_at = 1; status != WEFT_OK; fail_at++)
    {
        test_ledger ledger = {.fail_at = fail_at};
        test_ledger_open(&ledger);
        status = run_ledger();
        test_ledger_close();
        assert_true(status == WEFT_OK || status == WEFT_NO_MEMORY);
        assert_int_equal(ledger.live, 0);
    }
}

// ---- the command

static void command(const char* arguments)
{
    command_succeeds(WEFT_TOYS, arguments);
}

static void test_command(void** unused)
{
    (void)unused;
    scene_write_bytes(scene_path("over.json"), over_sheet, strlen(over_sheet));
    command("check over.json");
    assert_file_has("output", "toy-threads threads (threads.obj): vertices 27, lines 3, segments 24");
    assert_file_has("output", "0.01 kg/m,");
    command("run over.json -o whole");
    command("run over.json -o parts --frames 3");
    command("run over.json -o parts --resume --threads 3");
    assert_same_file("whole", "parts", "threads.pc2");
    assert_same_file("whole", "parts", "sheet.pc2");
    assert_same_file("whole", "parts", "checkpoint.weft");
    assert_file_has("whole/threads.obj", "\nl 1 2 3 4 5 6 7 8 9\nl 10 11 12 13 14 15 16 17 18\n");
    command("run whole/scene.json -o again"); // what the run wrote is a scene
    assert_same_file("whole", "again", "threads.pc2");
    command("run over.json -o thicker --frames 3");
    command_fails(WEFT_TOYS, "run over.json -o thicker --resume --set toy-threads.0.thickness=0.003", "scene");
    command("inspect whole");
    assert_file_has("output", "threads (lines, 24 segments)");
    assert_file_has("output", "clean: no crossing in 9 frames");
    command("view whole -o page.html");
    assert_file_has("page.html", "\"segments\": 24");
    command("list bodies");
    assert_file_has("output", "cloth\tsheets of triangles\ntoy-threads\tpolylines\ntoy-blocks\ttetrahedra\n");
}

static void test_export(void** unused)
{
    (void)unused;
    command("run over.json -o carried --frames 2");
    static const char* const formats[] = {"obj", "ply", "vtp", "pc2", "mdd"};
    for (size_t k = 0; k < sizeof(formats) / sizeof(formats[0]); k++)
    {
        char line[64];
        snprintf(line, sizeof(line), "export carried --to %s -o %s", formats[k], formats[k]);
        command(line);
    }
    assert_file_has("obj/threads.0002.obj", "\nl 19 20 21 22 23 24 25 26 27\n");
    assert_file_has("pc2/threads.obj", "\nl 19 20 21 22 23 24 25 26 27\n");
    assert_same_file("carried", "pc2", "threads.pc2");
    assert_file_has("ply/threads.0002.ply",
                    "element edge 24\nproperty int vertex1\nproperty int vertex2\nend_header\n");
    assert_file_has("vtp/threads.0002.vtp", "NumberOfLines=\"3\" NumberOfStrips=\"0\" NumberOfPolys=\"0\"");
    command("export carried --to abc -o run.abc");
    assert_file_has("run.abc", "schema=AbcGeom_Curve_v2");
    command("export carried --to gltf -o run.glb");
    assert_file_has("run.glb", "\"name\":\"threads\",\"primitives\":[{\"mode\":1,");
    command("export carried --to usda -o run.usda");
    assert_file_has("run.usda", "def BasisCurves \"threads\"\n    {\n        uniform token type = \"linear\"");
    assert_file_has("run.usda", "int[] curveVertexCounts = [9, 9, 9]\n");
    command_fails(WEFT_TOYS, "render carried --show aggregates", "`threads` is made of lines");
}

// A surface in NAME.obj and tetrahedra in NAME.ele, from which it runs again; every room takes the surface.
static void test_solid_command(void** unused)
{
    (void)unused;
    write_block("bar.obj", "bar.ele", 3, 0.05);
    scene_write_bytes(scene_path("bar.json"), bar_falls, strlen(bar_falls));
    command("check bar.json");
    assert_file_has("output", "the surface of 18 tetrahedra");
    command("run bar.json -o bar-whole");
    command("run bar.json -o bar-parts --frames 2");
    command("run bar.json -o bar-parts --resume --threads 3");
    command("run bar-whole/scene.json -o bar-again");
    assert_same_file("bar-whole", "bar-parts", "bar.pc2");
    assert_same_file("bar-whole", "bar-parts", "checkpoint.weft");
    assert_same_file("bar-whole", "bar-again", "bar.pc2");
    assert_same_file("bar-whole", "bar-again", "bar.obj");
    assert_same_file("bar-whole", "bar-again", "bar.ele");
    assert_file_has("bar-whole/bar.ele", "18 4 0\n1 1 5 6 8\n");
    command("inspect bar-whole");
    assert_file_has("output", "bar (solid, 28 triangles)");
    assert_file_has("output", "clean: no crossing in 6 frames");
    command("view bar-whole -o bar.html");
    command("export bar-whole --to abc -o bar.abc");
    // Another scene in the folder takes the tetrahedra away with the rest.
    command("run over.json -o bar-again --force --frames 0");
    command_fails("ls", "bar-again/bar.ele", "bar.ele");
}

// A tube is as far from its line as its radius, all around, and looks outward.
static void test_tubes(void** unused)
{
    (void)unused;
    const weft_vec3 line[] = {{0, 0, 0}, {0, 2, 0}, {1, 2, 1}};
    const int segments[] = {0, 1, 1, 2};
    weft_vec3 x[2 * WEFT_TUBE_VERTICES];
    int triangles[2 * 3 * WEFT_TUBE_TRIANGLES];
    weft_render_tubes(line, segments, 2, 0.1, x, triangles);
    double volume = 0.0;
    for (int t = 0; t < 2 * WEFT_TUBE_TRIANGLES; t++)
    {
        const int* c = triangles + 3 * t;
        volume += v3_dot(x[c[0]], v3_cross(x[c[1]], x[c[2]])) / 6.0;
    }
    // Hexagons of radius 0.1 along 2 and sqrt(2), and four pyramids of that height.
    double hexagon = 1.5 * sqrt(3.0) * 0.01;
    assert_true(fabs(volume - hexagon * (2.0 + sqrt(2.0) + 4.0 * 0.1 / 3.0)) < 1e-12);
    for (int v = 0; v < 12; v++)
    {
        assert_true(fabs(hypot(x[v].x, x[v].z) - 0.1) < 1e-15);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_masses),
        cmocka_unit_test(test_contact),
        cmocka_unit_test(test_radius),
        cmocka_unit_test(test_radius_over_an_edge),
        cmocka_unit_test(test_squeezed),
        cmocka_unit_test(test_sheet),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_ties),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_command),
        cmocka_unit_test(test_export),
        cmocka_unit_test(test_tubes),
        cmocka_unit_test(test_solid),
        cmocka_unit_test(test_solid_refused),
        cmocka_unit_test(test_solid_command),
    };
    return cmocka_run_group_tests(tests, setup, scene_folder_remove);
}
