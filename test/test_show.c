// Pictures of matrices: which connections are strong, what a simulation that is put into a frame knows, lines and
// letters on plain pixels, and the pictures of the real command.
#define _GNU_SOURCE
#include "common.h"

#include <png.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common_sim.h"
#include "weft/render.h"
#include "weft/weft.h"

// The driver keeps what it made once for the process; only its leaks are forgiven.
const char* __lsan_default_suppressions(void);
const char* __lsan_default_suppressions(void)
{
    return "leak:libEGL\nleak:libGLES\nleak:libgallium\nleak:swrast_dri\nleak:libLLVM\nleak:libGLdispatch\n";
}

// ---- strong connections

enum
{
    DENSE = 4,
    PAIRS_MAX = DENSE * DENSE
};

// A system with three full matrices, one an unknown, and nothing between unknowns.
static weft_system* dense_system(double entries[3][DENSE][DENSE])
{
    int row_start[DENSE + 1], column[DENSE * DENSE];
    double values[9 * DENSE * DENSE] = {0};
    for (int i = 0; i < DENSE; i++)
    {
        row_start[i] = DENSE * i;
        for (int j = 0; j < DENSE; j++)
        {
            column[DENSE * i + j] = j;
            for (int d = 0; d < 3; d++)
            {
                values[9 * (DENSE * i + j) + 4 * d] = entries[d][i][j];
            }
        }
    }
    row_start[DENSE] = DENSE * DENSE;
    weft_system_def def = {.vertex_count = DENSE, .row_start = row_start, .column = column, .values = values};
    weft_system* system = NULL;
    weft_error error = {0};
    if (weft_system_create(&def, &system, &error) != WEFT_OK)
    {
        fail_msg("%s", error.message);
    }
    return system;
}

static void assert_pairs(const weft_system* system, int unknown, double theta, const weft_connection* expected,
                         int expected_count)
{
    weft_connection found[PAIRS_MAX];
    int count = -1;
    assert_int_equal(weft_system_strength(system, unknown, theta, found, PAIRS_MAX, &count), WEFT_OK);
    assert_int_equal(count, expected_count);
    for (int k = 0; k < count; k++)
    {
        assert_int_equal(found[k].i, expected[k].i);
        assert_int_equal(found[k].j, expected[k].j);
        assert_true(fabs(found[k].strength - expected[k].strength) < 1e-15);
    }
}

static void test_strong_pairs(void** state)
{
    (void)state;
    // x: a path 0 - 1 - 2 - 3 whose last link is positive. 1 - 2 is weak by row 1 (0.3 of 0.8) and by row 2 (0.3 of
    // 0.7); 1 - 3 is weak by both, 0.1. y: the diagonal differs, so that only scaled entries compare. z: strong from
    // one side.
    double entries[3][DENSE][DENSE] = {
        {{1, -0.8, 0, 0}, {-0.8, 1, -0.3, 0.1}, {0, -0.3, 1, 0.7}, {0, 0.1, 0.7, 1}},
        {{100, -4, 0, 0}, {-4, 1, -0.5, 0}, {0, -0.5, 1, 0}, {0, 0, 0, 1}},
        {{1, -0.9, 0, 0}, {-0.9, 1, -0.2, 0}, {0, -0.2, 1, 0}, {0, 0, 0, 1}},
    };
    weft_system* system = dense_system(entries);
    assert_pairs(system, 0, 0.48, (weft_connection[]){{0, 1, -0.8}, {2, 3, 0.7}}, 2);
    assert_pairs(system, 0, 0.4, (weft_connection[]){{0, 1, -0.8}, {1, 2, -0.3}, {2, 3, 0.7}}, 3);
    assert_pairs(system, 0, 0.0, (weft_connection[]){{0, 1, -0.8}, {1, 2, -0.3}, {1, 3, 0.1}, {2, 3, 0.7}}, 4);
    assert_pairs(system, 1, 0.48, (weft_connection[]){{0, 1, -0.4}, {1, 2, -0.5}}, 2);
    assert_pairs(system, 2, 0.48, (weft_connection[]){{0, 1, -0.9}, {1, 2, -0.2}}, 2); // row 2 has nothing else

    // The count is that of all, also without room for them.
    weft_connection first = {-1, -1, 0};
    int count = 0;
    assert_int_equal(weft_system_strength(system, 0, 0.4, &first, 1, &count), WEFT_OK);
    assert_int_equal(count, 3);
    assert_int_equal(first.j, 1);
    assert_int_equal(weft_system_strength(system, 0, 0.4, NULL, 0, &count), WEFT_OK);
    assert_int_equal(count, 3);
    weft_system_destroy(system);
}

// The system of a level sheet's first step.
static weft_system* sheet_system(int cells, mesh* m)
{
    weft_sim_def def = weft_sim_def_default();
    weft_cloth_def cloth = weft_cloth_def_default();
    grid_options grid = {.size_u = 1.0, .size_v = 1.0, .cells_u = cells, .cells_v = cells};
    weft_sim* sim = test_grid_sim(&def, &grid, &cloth, m);
    weft_system* system = NULL;
    assert_int_equal(weft_sim_system(sim, &system, NULL), WEFT_OK);
    weft_sim_destroy(sim);
    return system;
}

static void test_sheet_at_rest(void** state)
{
    (void)state;
    // As the paper's figure 2 says: x and z are anisotropic, in different directions. All links of the grid along the
    // unknown's own axis are strong and negative, and no others.
    enum
    {
        CELLS = 8,
        LINKS = CELLS * (CELLS + 1)
    };
    mesh m;
    weft_system* system = sheet_system(CELLS, &m);
    weft_connection found[4 * LINKS];
    for (int unknown = 0; unknown < 3; unknown += 2)
    {
        int count = 0;
        assert_int_equal(weft_system_strength(system, unknown, 0.48, found, 4 * LINKS, &count), WEFT_OK);
        assert_int_equal(count, LINKS);
        for (int k = 0; k < count; k++)
        {
            vec3 d = v3_sub(m.position[found[k].j], m.position[found[k].i]);
            double along = unknown == 0 ? d.x : d.z, across = unknown == 0 ? d.z : d.x;
            assert_true(found[k].strength < 0.0);
            assert_true(fabs(fabs(along) - 1.0 / CELLS) < 1e-12 && fabs(across) < 1e-12);
        }
    }
    weft_system_destroy(system);
    mesh_finish(&m);
}

// ---- a simulation that is put into a frame

static void test_clock(void** state)
{
    (void)state;
    weft_sim_def def = weft_sim_def_default();
    weft_cloth_def cloth = weft_cloth_def_default();
    grid_options grid = {.size_u = 1.0, .size_v = 1.0, .cells_u = 3, .cells_v = 3};
    const int held[2] = {0, 3};
    weft_pin pin = weft_pin_default();
    pin.vertices = held;
    pin.vertex_count = 2;
    pin.release = 0.1;
    cloth.pins = &pin;
    cloth.pin_count = 1;
    mesh m;
    weft_sim* sim = test_grid_sim(&def, &grid, &cloth, &m);
    weft_step_stats stats;
    assert_int_equal(weft_sim_step(sim, &stats, NULL), WEFT_OK);
    assert_int_equal(stats.constraints, 2);
    assert_int_equal(weft_sim_set_step_count(sim, 100), WEFT_OK); // 0.2 s: the pin is gone
    assert_true(fabs(weft_sim_time(sim) - 0.2) < 1e-12);
    assert_int_equal(weft_sim_step(sim, &stats, NULL), WEFT_OK);
    assert_int_equal(stats.constraints, 0);
    assert_int_equal(stats.step, 101);
    assert_int_equal(weft_sim_set_step_count(sim, 0), WEFT_OK);
    assert_int_equal(weft_sim_step(sim, &stats, NULL), WEFT_OK);
    assert_int_equal(stats.constraints, 2);
    weft_sim_destroy(sim);
    mesh_finish(&m);
}

static void test_output_vertices(void** state)
{
    (void)state;
    weft_sim_def def = weft_sim_def_default();
    weft_cloth_def cloth = weft_cloth_def_default();
    grid_options grid = {.size_u = 1.0, .size_v = 1.0, .cells_u = 1, .cells_v = 1};
    const int shown[6] = {3, 0, 1, 2, 0, 3};
    cloth.outputs = shown;
    cloth.output_count = 6;
    mesh m;
    weft_sim* sim = test_grid_sim(&def, &grid, &cloth, &m);
    int found[6];
    weft_sim_output_vertices(sim, 0, found);
    assert_memory_equal(found, shown, sizeof(shown));
    weft_sim_destroy(sim);
    mesh_finish(&m);
}

// ---- flat drawings

static void test_canvas(void** state)
{
    (void)state;
    enum
    {
        WIDTH = 60,
        HEIGHT = 40
    };
    uint8_t rgb[3 * WIDTH * HEIGHT];
    weft_canvas canvas = {rgb, WIDTH, HEIGHT};
    const weft_color white = {1, 1, 1}, black = {0, 0, 0};
    // The ink of a line is its length times its width, whatever its direction; the round ends add a little.
    const weft_vec2 ends[4][2] = {{{10, 20}, {50, 20}}, {{30, 5}, {30, 35}}, {{10, 5}, {50, 35}}, {{50, 5}, {12, 33}}};
    for (int k = 0; k < 8; k++)
    {
        double width = k < 4 ? 3.0 : 0.5, sum = 0.0;
        weft_canvas_fill(&canvas, white);
        weft_canvas_line(&canvas, ends[k % 4][0], ends[k % 4][1], width, black);
        for (int p = 0; p < WIDTH * HEIGHT; p++)
        {
            sum += 1.0 - rgb[3 * p] / 255.0;
        }
        double length = hypot(ends[k % 4][1].x - ends[k % 4][0].x, ends[k % 4][1].y - ends[k % 4][0].y);
        assert_true(sum > 0.9 * length * width && sum < 1.25 * length * width + 8.0);
    }
    // What lies outside is cut off, and what is no number leaves no mark.
    weft_canvas_fill(&canvas, white);
    weft_canvas_line(&canvas, (weft_vec2){-1e9, 10}, (weft_vec2){-1e8, 30}, 2.0, black);
    weft_canvas_line(&canvas, (weft_vec2){NAN, 10}, (weft_vec2){20, 30}, 2.0, black);
    weft_canvas_text(&canvas, "OUT", (weft_vec2){200, 20}, 10.0, black);
    for (int k = 0; k < 3 * WIDTH * HEIGHT; k++)
    {
        assert_int_equal(rgb[k], 255);
    }
    weft_canvas_line(&canvas, (weft_vec2){-1e6, 20}, (weft_vec2){1e6, 20}, 2.0, black);
    assert_int_equal(rgb[3 * (20 * WIDTH)], 0);
    assert_int_equal(rgb[3 * (20 * WIDTH + WIDTH - 1)], 0);
    // Letters stand on the baseline and are as wide as they say.
    weft_canvas_fill(&canvas, white);
    weft_canvas_text(&canvas, "H1", (weft_vec2){10, 30}, 12.0, black);
    double right = 10.0 + weft_canvas_text_width("H1", 12.0);
    int marks = 0;
    for (int y = 0; y < HEIGHT; y++)
    {
        for (int x = 0; x < WIDTH; x++)
        {
            bool marked = rgb[3 * (y * WIDTH + x)] < 128;
            assert_true(!marked || (x >= 9 && x <= right && y >= 16 && y <= 31));
            marks += marked;
        }
    }
    assert_true(marks > 40);
}

// ---- the command

static char folder[256];

// Exit status of `weft ARGUMENTS` in the folder; what it prints is in the files out and err there.
static int weft_with(const char* before, const char* arguments)
{
    char line[8000];
    snprintf(line, sizeof(line), "%s \"$WEFT\" %s >out 2>err", before, arguments);
    return test_shell(folder, line);
}

static int weft(const char* arguments)
{
    return weft_with("", arguments);
}

static void assert_refused(const char* arguments, const char* word)
{
    assert_int_equal(weft(arguments), 2);
    char path[512], text[2048];
    snprintf(path, sizeof(path), "%s/err", folder);
    FILE* file = fopen(path, "rb");
    size_t size = fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    text[size] = 0;
    if (!strstr(text, word))
    {
        fail_msg("`weft %s` does not say `%s` but `%s`", arguments, word, text);
    }
}

typedef struct pixels
{
    uint8_t* rgb;
    int width, height;
} pixels;

static pixels read_png(const char* name)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    png_image image = {.version = PNG_IMAGE_VERSION};
    assert_true(png_image_begin_read_from_file(&image, path));
    image.format = PNG_FORMAT_RGB;
    pixels p = {malloc(PNG_IMAGE_SIZE(image)), (int)image.width, (int)image.height};
    assert_true(png_image_finish_read(&image, NULL, p.rgb, 0, NULL));
    return p;
}

static bool is_blue(const uint8_t* p)
{
    return p[2] > p[0] + 80 && p[2] > p[1] + 40;
}

// Starts of blue runs, longer than a line is wide, to the right (or down) within a panel.
static int blue_runs(const pixels* p, int column, int row, bool right)
{
    enum
    {
        RUN = 6
    };
    int count = 0, wide = p->width / 3, tall = p->height / 2;
    size_t step = right ? 3 : 3 * (size_t)p->width;
    for (int y = row * tall; y < (row + 1) * tall - RUN; y++)
    {
        for (int x = column * wide; x < (column + 1) * wide - RUN; x++)
        {
            const uint8_t* here = p->rgb + 3 * ((size_t)y * (size_t)p->width + (size_t)x);
            int length = 0;
            while (length < RUN && is_blue(here + (size_t)length * step))
            {
                length++;
            }
            count += length == RUN;
        }
    }
    return count;
}

static int make_run(void** state)
{
    (void)state;
    test_folder(folder);
    return weft("run drooping --set cells=24 --frames 2 --threads 1 -o run");
}

static int drop_run(void** state)
{
    (void)state;
    test_folder_remove(folder);
    return 0;
}

static void test_strength_picture(void** state)
{
    (void)state;
    assert_int_equal(weft("render run --show strength --size 900x600"), 0);
    pixels p = read_png("run/strength-0002.png");
    assert_int_equal(p.width, 900);
    assert_int_equal(p.height, 600);
    // At rest x has lines across and z lines down.
    assert_true(blue_runs(&p, 0, 0, true) > 5 * blue_runs(&p, 0, 0, false));
    assert_true(blue_runs(&p, 2, 0, false) > 5 * blue_runs(&p, 2, 0, true));
    assert_true(blue_runs(&p, 0, 1, true) > 1000);
    free(p.rgb);
    // One row for the first frame alone.
    assert_int_equal(weft("render run --show strength --frame 0 -o first.png"), 0);
    p = read_png("first.png");
    assert_true(p.height < p.width / 2);
    free(p.rgb);
}

// Hues that cover much of a picture, in steps of 10 degrees; pale and dark pixels, as the background's, do not count.
static int hues(const pixels* p)
{
    int bins[36] = {0}, count = 0;
    for (int k = 0; k < p->width * p->height; k++)
    {
        const uint8_t* c = p->rgb + 3 * (size_t)k;
        int most = c[0] > c[1] ? c[0] : c[1], least = c[0] < c[1] ? c[0] : c[1];
        most = c[2] > most ? c[2] : most;
        least = c[2] < least ? c[2] : least;
        if (most - least > 60)
        {
            double angle = atan2(sqrt(3.0) * (c[1] - c[2]), 2.0 * c[0] - c[1] - c[2]) * 180.0 / PI + 360.0;
            bins[(int)(angle / 10.0) % 36]++;
        }
    }
    for (int k = 0; k < 36; k++)
    {
        count += bins[k] > p->width * p->height / 1000;
    }
    return count;
}

static void test_aggregates_picture(void** state)
{
    (void)state;
    assert_int_equal(weft("render run --frame 2 --no-ground --size 320x240 -o plain.png"), 0);
    pixels plain = read_png("plain.png");
    assert_true(hues(&plain) <= 3); // one cloth of one colour
    free(plain.rgb);
    assert_int_equal(weft("render run --show aggregates --level 0 --no-ground --size 320x240 -o level.png"), 0);
    pixels p = read_png("level.png");
    assert_int_equal(p.width, 320);
    assert_int_equal(p.height, 240);
    assert_true(hues(&p) >= 6);
    free(p.rgb);
    // All levels, panels beside each other.
    assert_int_equal(weft("render run --show aggregates"), 0);
    p = read_png("run/aggregates-0002.png");
    assert_true(hues(&p) >= 6);
    free(p.rgb);
}

// ---- connections

// What the method has counted in a step of one substep, by state; and every spring between vertices that its mesh
// joins.
static void test_elements(void** state)
{
    (void)state;
    grid_options grid = {.size_u = 1, .size_v = 1, .cells_u = 12, .cells_v = 12};
    weft_sim_def def = weft_sim_def_default();
    def.method = "aimex";
    def.time_step = 2e-4; // stretch implicit, the rest not
    weft_cloth_def cloth = weft_cloth_def_default();
    cloth.model = "choi-ko";
    cloth.material.damping = 0;
    mesh m = {0};
    weft_sim* sim = test_grid_sim(&def, &grid, &cloth, &m);
    weft_step_stats stats = {0};
    assert_int_equal(weft_sim_elements(sim, NULL, 0), 0); // nothing was built yet
    assert_int_equal(weft_sim_step(sim, &stats, NULL), WEFT_OK);
    assert_int_equal(stats.substeps, 1);
    int count = weft_sim_elements(sim, NULL, 0), states[3] = {0};
    weft_element* list = calloc((size_t)count, sizeof(weft_element));
    assert_int_equal(weft_sim_elements(sim, list, count), count);
    for (int k = 0; k < count; k++)
    {
        states[list[k].state]++;
        assert_int_equal(list[k].vertex_count, 2);
        int a = list[k].vertices[0], b = list[k].vertices[1], far = list[k].role == WEFT_ELEMENT_BEND ? 2 : 1;
        assert_true(abs(a % 13 - b % 13) <= far && abs(a / 13 - b / 13) <= far); // the user's order
    }
    assert_int_equal(states[WEFT_ELEMENT_IMPLICIT], (int)weft_step_counter(&stats, "implicit_elements"));
    assert_int_equal(states[WEFT_ELEMENT_EXPLICIT], (int)weft_step_counter(&stats, "explicit_elements"));
    assert_int_equal(states[WEFT_ELEMENT_SLACK], (int)weft_step_counter(&stats, "inactive_elements"));
    print_message("%d elements: %d implicit, %d explicit, %d slack\n", count, states[0], states[1], states[2]);
    assert_true(states[1] > 0 && states[0] + states[2] > 0);
    free(list);
    mesh_finish(&m);
    weft_sim_destroy(sim);
}

static void test_connections_picture(void** state)
{
    (void)state;
    assert_int_equal(
        weft("run two-corners --set model=choi-ko --set method=aimex --set cells=10 --set time_step=0.001 "
             "--set steps_per_frame=200 --set cloth.0.material.damping=0 --set cloth.0.material.shear=100 --frames 2 "
             "--threads 1 -o split"),
        0);
    assert_int_equal(weft("render split --show connections --no-ground --size 640x480"), 0);
    pixels p = read_png("split/connections-0002.png");
    int orange = 0, dark = 0;
    for (int k = 0; k < p.width * p.height; k++)
    {
        const uint8_t* c = p.rgb + 3 * (size_t)k;
        orange += c[0] > c[2] + 80;
        dark += c[0] < 80 && c[2] < 110;
    }
    print_message("%d pixels of explicit connections, %d of implicit ones\n", orange, dark);
    assert_true(orange > 500 && dark > 500);
    free(p.rgb);
}

// Pixels of the first cloth's red.
static int cloth_pixels(const char* file)
{
    pixels p = read_png(file);
    int count = 0;
    for (int k = 0; k < p.width * p.height; k++)
    {
        const uint8_t* c = p.rgb + 3 * k;
        count += c[0] > c[1] + 50 && c[0] > c[2] + 50;
    }
    free(p.rgb);
    return count;
}

// A floor of ten metres does not make the cloth small; a ball beside it is taken in; pictures of matrices pass
// obstacles by.
static void test_obstacles_in_pictures(void** state)
{
    (void)state;
    static const char* const obstacles[] = {"", "{\"shape\": {\"plane\": {\"point\": [0, -0.1, 0]}}}",
                                            "{\"shape\": {\"plane\": {\"normal\": [0.3, 1, 0]}}}",
                                            "{\"shape\": {\"sphere\": {\"center\": [1.5, 0, 0], \"radius\": 0.3}}}"};
    int count[4];
    for (int k = 0; k < 4; k++)
    {
        char path[512];
        snprintf(path, sizeof(path), "%s/body%d.json", folder, k);
        FILE* f = fopen(path, "w");
        assert_non_null(f);
        fprintf(f,
                "{\"frames\": 1, \"steps_per_frame\": 2, \"cloth\": [{\"mesh\": {\"grid\": {\"cells\": 24}}, \"pins\": "
                "[{\"where\": {\"edge\": \"left\"}}]}], \"obstacles\": [%s]%s}",
                obstacles[k], k > 0 ? ", \"contact\": {\"exclude\": [{\"pair\": [\"cloth1\", \"obstacle1\"]}]}" : "");
        fclose(f);
        char command[256];
        snprintf(command, sizeof(command), "run body%d.json --threads 1 -o body%d", k, k);
        assert_int_equal(weft(command), 0);
        snprintf(command, sizeof(command), "render body%d --size 320x240 -o body%d.png", k, k);
        assert_int_equal(weft(command), 0);
        snprintf(command, sizeof(command), "body%d.png", k);
        count[k] = cloth_pixels(command);
    }
    assert_true(count[0] > 5000);
    assert_true(count[1] > count[0] / 2 && count[2] > count[0] / 2);
    assert_true(count[3] > 500 && count[3] < count[0]);
    assert_int_equal(weft("render body3 --show strength --size 320x240 -o strength.png"), 0);
    assert_int_equal(weft("render body3 --show strain --size 320x240 -o strain.png"), 0);
    assert_int_equal(weft("render body3 --show aggregates --size 320x240 -o aggregates.png"), 0);
}

static void draw_with(const char* name, const char* obstacles)
{
    char path[512], command[512];
    snprintf(path, sizeof(path), "%s/%s.json", folder, name);
    FILE* f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f,
            "{\"frames\": 1, \"steps_per_frame\": 2, \"cloth\": [{\"mesh\": {\"grid\": {\"cells\": 12}}}], "
            "\"obstacles\": [%s], \"contact\": {\"exclude\": [{\"pair\": [\"cloth1\", \"obstacle1\"]}]}}",
            obstacles);
    fclose(f);
    snprintf(command, sizeof(command), "run %s.json --threads 1 -o %s", name, name);
    assert_int_equal(weft(command), 0);
    snprintf(command, sizeof(command), "render %s --size 320x240 --no-ground -o %s.png", name, name);
    assert_int_equal(weft(command), 0);
}

// Pixels in which two pictures of one size differ.
static int differing(const char* first, const char* second)
{
    pixels a = read_png(first), b = read_png(second);
    assert_true(a.width == b.width && a.height == b.height);
    int count = 0;
    for (int k = 0; k < a.width * a.height; k++)
    {
        count += memcmp(a.rgb + 3 * k, b.rgb + 3 * k, 3) != 0;
    }
    free(a.rgb);
    free(b.rgb);
    return count;
}

// A wall before the cloth and a box around it are left out where they hide it, unless the user places the camera; the
// wall behind it and the ball beside it stay.
static void test_obstacles_are_cut_open(void** state)
{
    (void)state;
    const char* ball = "{\"shape\": {\"sphere\": {\"center\": [0.9, 0, 0.5], \"radius\": 0.2}}}";
    const char* wall = "{\"shape\": {\"plane\": {\"point\": [0, 0, %d], \"normal\": [0, 0, %d], \"size\": 40}}}";
    char front[200], back[200], both[500];
    snprintf(front, sizeof(front), wall, 1, 1);
    snprintf(back, sizeof(back), wall, -4, -1);
    draw_with("free", ball);
    snprintf(both, sizeof(both), "%s, %s", ball, front);
    draw_with("before", both);
    assert_true(cloth_pixels("free.png") > 1000);
    assert_true(differing("free.png", "before.png") == 0);
    snprintf(both, sizeof(both), "%s, %s", ball, back);
    draw_with("behind", both);
    assert_true(cloth_pixels("behind.png") > 1000);
    assert_true(differing("free.png", "behind.png") > 20000);
    draw_with("around", "{\"shape\": {\"box\": {\"size\": 1.5}}}");
    assert_true(cloth_pixels("around.png") > 300);
    assert_int_equal(weft("render around --camera 2,2,4 --size 320x240 --no-ground -o placed.png"), 0);
    assert_int_equal(cloth_pixels("placed.png"), 0);
}

// A sheet that leans to the left is seen from the left, so that as much of it is seen as of one that leans to the
// right.
static void test_leaning_sheets(void** state)
{
    (void)state;
    int count[2];
    for (int k = 0; k < 2; k++)
    {
        char path[512], command[256];
        snprintf(path, sizeof(path), "%s/lean.json", folder);
        FILE* f = fopen(path, "w");
        assert_non_null(f);
        fprintf(f,
                "{\"frames\": 0, \"cloth\": [{\"mesh\": {\"grid\": {\"cells\": 4}}, \"transform\": {\"rotate\": [0, 0, "
                "%d]}}]}",
                k == 0 ? -40 : 40);
        fclose(f);
        snprintf(command, sizeof(command), "run lean.json --threads 1 -o lean%d", k);
        assert_int_equal(weft(command), 0);
        snprintf(command, sizeof(command), "render lean%d --size 160x120 --no-ground -o lean.png", k);
        assert_int_equal(weft(command), 0);
        count[k] = cloth_pixels("lean.png");
    }
    assert_true(count[0] > 1000);
    assert_true(abs(count[1] - count[0]) < count[0] / 10);
}

// A sheet that sags a little between its edges stays above the ground.
static void test_sagging_sheet(void** state)
{
    (void)state;
    assert_int_equal(weft("run pinned --set cells=16 --frames 2 --threads 1 -o sag"), 0);
    assert_int_equal(weft("render sag --size 320x240 -o ground.png"), 0);
    assert_int_equal(weft("render sag --size 320x240 --no-ground -o air.png"), 0);
    int above = cloth_pixels("ground.png"), all = cloth_pixels("air.png");
    assert_true(all > 10000 && above > all - all / 50);
}

enum
{
    PANEL_WIDTH = 160,
    PANEL_HEIGHT = 120,
    LABEL_ROWS = 20 // at the bottom of a panel, which the label may touch
};

// Pixels in which a panel of a sheet differs from a picture of its size, in rows [begin, end).
static int panel_differs(const pixels* sheet, int column, int row, const char* single, int begin, int end)
{
    pixels p = read_png(single);
    assert_true(p.width == PANEL_WIDTH && p.height == PANEL_HEIGHT);
    int count = 0;
    for (int y = begin; y < end; y++)
    {
        size_t at = (size_t)(row * PANEL_HEIGHT + y) * (size_t)sheet->width + (size_t)(column * PANEL_WIDTH);
        for (int x = 0; x < PANEL_WIDTH; x++)
        {
            count += memcmp(sheet->rgb + 3 * (at + (size_t)x), p.rgb + 3 * (y * PANEL_WIDTH + x), 3) != 0;
        }
    }
    free(p.rgb);
    return count;
}

// A sheet of stills, beside each other, is what the frames are one by one, but for the labels.
static void assert_stills(const char* arguments, const int* frames, int count)
{
    char command[256];
    snprintf(command, sizeof(command), "render run --stills %d %s --size %dx%d -o sheet.png", count, arguments,
             count * PANEL_WIDTH, PANEL_HEIGHT);
    assert_int_equal(weft(command), 0);
    pixels sheet = read_png("sheet.png");
    assert_true(sheet.width == count * PANEL_WIDTH && sheet.height == PANEL_HEIGHT);
    const int label = PANEL_HEIGHT - LABEL_ROWS;
    for (int k = 0; k < count; k++)
    {
        snprintf(command, sizeof(command), "render run --frame %d %s --size %dx%d -o single.png", frames[k], arguments,
                 PANEL_WIDTH, PANEL_HEIGHT);
        assert_int_equal(weft(command), 0);
        assert_int_equal(panel_differs(&sheet, k, 0, "single.png", 0, label), 0);
        assert_true(panel_differs(&sheet, k, 0, "single.png", label, PANEL_HEIGHT) > 20);
        int other = k > 0 ? k - 1 : 1;
        assert_true(panel_differs(&sheet, other, 0, "single.png", 0, label) > 100); // the cloth has moved
    }
    free(sheet.rgb);
}

static void test_stills(void** state)
{
    (void)state;
    assert_stills("", (const int[]){0, 1, 2}, 3);
    assert_stills("--edges --no-ground --camera 2,2,4 --fov 30", (const int[]){0, 2}, 2); // the ends of the run
}

// More stills than frames: all frames, and a word about it; the sheet's own name and size.
static void test_stills_of_a_short_run(void** state)
{
    (void)state;
    assert_int_equal(weft("render run --stills 9 --show strain"), 0);
    assert_int_equal(weft("render run --stills 9"), 0);
    char path[512], text[512] = "";
    snprintf(path, sizeof(path), "%s/err", folder);
    FILE* file = fopen(path, "rb");
    assert_non_null(file);
    assert_true(fread(text, 1, sizeof(text) - 1, file) > 0);
    fclose(file);
    assert_non_null(strstr(text, "has 3 frames, so 3 stills"));
    pixels p = read_png("run/stills.png");
    assert_true(p.width == 3 * 480 && p.height == 360);
    free(p.rgb);
}

// ---- films

// Exit status of a film by an `ffmpeg` that ends well and writes these bytes, as the shell's printf has them.
static int film_of(const char* bytes)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/ffmpeg", folder);
    FILE* script = fopen(path, "wb");
    fprintf(script, "#!/bin/sh\nfor last; do :; done\ncat >/dev/null\nprintf '%s' >\"${last#file:}\"\n", bytes);
    fclose(script);
    assert_int_equal(chmod(path, 0755), 0);
    return weft_with("PATH=\"$PWD:$PATH\"", "render run --size 64x48 -o film.mp4");
}

static long film_size(void)
{
    char path[512];
    struct stat info;
    snprintf(path, sizeof(path), "%s/film.mp4", folder);
    return stat(path, &info) == 0 ? (long)info.st_size : -1;
}

static bool leftover(void)
{
    return test_shell(folder, "ls film.mp4.* >/dev/null 2>&1") == 0;
}

// ffmpeg may end well on a full disk: what is no whole film does not replace the one that is there.
static void test_cut_films(void** state)
{
    (void)state;
#define FTYP "\\000\\000\\000\\014ftypisom"
#define MOOV "\\000\\000\\000\\012moov12"
    assert_int_equal(film_of(FTYP MOOV "\\000\\000\\000\\001mdat\\000\\000\\000\\000\\000\\000\\000\\0211"), 0);
    assert_int_equal(film_size(), 39);
    static const char* const cut[] = {
        "",                                        // nothing
        FTYP "\\000\\000\\000\\012mdat12",         // no moov
        FTYP MOOV "\\000\\000\\001\\000mdat1234",  // a box that is cut
        FTYP MOOV "\\000\\000",                    // a head that is cut
        FTYP MOOV "\\000\\000\\000\\001mdat\\000", // the same with 64 bits
        FTYP MOOV "\\000\\000\\000\\004mdat",      // a size below that of the head
    };
    for (size_t k = 0; k < sizeof(cut) / sizeof(cut[0]); k++)
    {
        assert_int_equal(film_of(cut[k]), 3);
        assert_int_equal(film_size(), 39);
        assert_false(leftover());
    }
    // What a killed film has left goes.
    char path[512];
    snprintf(path, sizeof(path), "%s/film.mp4.tmp", folder);
    fclose(fopen(path, "wb"));
    assert_int_equal(film_of(FTYP MOOV "\\000\\000\\000\\000mdat123"), 0); // to the end
    assert_int_equal(film_size(), 33);
    assert_false(leftover());
}

static void test_refusals(void** state)
{
    (void)state;
    assert_refused("render run --show stress", "`aggregates`");
    assert_refused("render run --show strength --frame 9", "0 to 2");
    assert_refused("render run --show aggregates --frame 9", "0 to 2");
    assert_refused("render run --show aggregates --level 99", "levels 0 to");
    assert_refused("render run --show aggregates --level -1", "--level needs");
    assert_refused("render run --show strength --level 0", "--level goes with");
    assert_refused("render run --show levels --level 99", "coarse levels");
    assert_refused("render run --show strain --theta 0.3", "--theta goes with");
    assert_refused("render run --show strength --theta 1", "--theta needs");
    assert_refused("render run --show strength -o film.mp4", ".png");
    assert_refused("render run --stills 0", "from 1 to 400");
    assert_refused("render run --stills 401", "from 1 to 400");
    assert_refused("render run --stills 2 --frame 1", "--frame one of a single frame");
    assert_refused("render run --stills 2 -o film.mp4", "a film of all");
    assert_refused("render run --stills 2 --show aggregates", "--show strain");
    assert_refused("render run --stills 9 --size 40x40", "too small for 3 panels");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_strong_pairs),
        cmocka_unit_test(test_sheet_at_rest),
        cmocka_unit_test(test_clock),
        cmocka_unit_test(test_output_vertices),
        cmocka_unit_test(test_canvas),
        cmocka_unit_test(test_strength_picture),
        cmocka_unit_test(test_aggregates_picture),
        cmocka_unit_test(test_elements),
        cmocka_unit_test(test_connections_picture),
        cmocka_unit_test(test_obstacles_in_pictures),
        cmocka_unit_test(test_obstacles_are_cut_open),
        cmocka_unit_test(test_leaning_sheets),
        cmocka_unit_test(test_sagging_sheet),
        cmocka_unit_test(test_stills),
        cmocka_unit_test(test_stills_of_a_short_run),
        cmocka_unit_test(test_cut_films),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, make_run, drop_run);
}
