// Pictures: known meshes land on the expected pixels in the expected colours; PNG files hold the pixels; what cannot be
// written is a status.
#define _GNU_SOURCE
#include "common.h"

#include <math.h>
#include <png.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "render/picture.h"

// The driver keeps what it made once for the process; only its leaks are forgiven.
const char* __lsan_default_suppressions(void);
const char* __lsan_default_suppressions(void)
{
    return "leak:libEGL\nleak:libGLES\nleak:libgallium\nleak:swrast_dri\nleak:libLLVM\nleak:libGLdispatch\n";
}

enum
{
    WIDTH = 96,
    HEIGHT = 64,
    SIZE = 3 * WIDTH * HEIGHT
};

static weft_renderer* renderer;
static uint8_t rgb[SIZE], background[SIZE];

// A unit square in the plane z = 0, counter-clockwise seen from +z.
static const weft_vec3 square[4] = {{-0.5, -0.5, 0}, {0.5, -0.5, 0}, {0.5, 0.5, 0}, {-0.5, 0.5, 0}};
static const int square_triangles[6] = {0, 1, 2, 0, 2, 3};
static const int square_face[4] = {0, 1, 2, 3};
static const int square_start[2] = {0, 4};

static weft_render_mesh square_mesh(void)
{
    weft_render_mesh mesh = weft_render_mesh_default();
    mesh.positions = square;
    mesh.vertex_count = 4;
    mesh.triangles = square_triangles;
    mesh.triangle_count = 2;
    return mesh;
}

// From straight ahead; the square's sides lie at half the picture's height, each way from the middle.
static weft_view front_view(void)
{
    weft_view view = weft_view_default();
    view.eye = (weft_vec3){0, 0, 2};
    view.target = (weft_vec3){0, 0, 0};
    view.fov = 2.0 * atan(0.5);
    view.light = (weft_vec3){0, 0, 1};
    view.ground = 0;
    return view;
}

static void draw(const weft_view* view, const weft_render_mesh* meshes, int count)
{
    weft_error error = {0};
    weft_status status = weft_renderer_draw(renderer, view, meshes, count, rgb, &error);
    if (status != WEFT_OK)
    {
        fail_msg("%s", error.message);
    }
}

static const uint8_t* pixel(int x, int y)
{
    return rgb + 3 * (y * WIDTH + x);
}

// Pixels that differ from another picture by more than the grain that hides gradients' steps.
static int differing(const uint8_t* other)
{
    int count = 0;
    for (int k = 0; k < WIDTH * HEIGHT; k++)
    {
        int most = 0;
        for (int c = 0; c < 3; c++)
        {
            int d = abs(rgb[3 * k + c] - other[3 * k + c]);
            most = d > most ? d : most;
        }
        count += most > 2;
    }
    return count;
}

static int set_up(void** state)
{
    (void)state;
    weft_error error = {0};
    if (weft_renderer_create(WIDTH, HEIGHT, 1, &renderer, &error) != WEFT_OK)
    {
        print_error("%s\n", error.message);
        return -1;
    }
    weft_view view = front_view();
    draw(&view, NULL, 0);
    memcpy(background, rgb, SIZE);
    return 0;
}

static int tear_down(void** state)
{
    (void)state;
    weft_renderer_destroy(renderer);
    weft_renderer_destroy(NULL);
    return 0;
}

// ---- drawing

static void test_empty(void** state)
{
    (void)state;
    // Light everywhere, and no step between neighbours: nothing but a gradient.
    for (int y = 0; y < HEIGHT; y++)
    {
        for (int x = 0; x < WIDTH; x++)
        {
            const uint8_t* p = background + 3 * (y * WIDTH + x);
            assert_true(p[0] > 130 && p[1] > 130 && p[2] > 130);
            assert_true(x == 0 || abs(p[0] - p[-3]) <= 4);
        }
    }
    // A ground without meshes changes little: it has no shadow.
    weft_view view = front_view();
    view.ground = 1;
    view.ground_height = -0.4;
    draw(&view, NULL, 0);
    for (int k = 0; k < SIZE; k++)
    {
        assert_true(abs(rgb[k] - background[k]) < 40);
    }
}

static void test_square_covers_its_pixels(void** state)
{
    (void)state;
    weft_view view = front_view();
    weft_render_mesh mesh = square_mesh();
    mesh.front = (weft_color){0.1f, 0.6f, 0.2f};
    mesh.role = WEFT_MESH_OBSTACLE;
    draw(&view, &mesh, 1);
    int left = WIDTH / 2 - HEIGHT / 4, right = WIDTH / 2 + HEIGHT / 4, top = HEIGHT / 4, bottom = 3 * HEIGHT / 4;
    for (int y = 0; y < HEIGHT; y++)
    {
        for (int x = 0; x < WIDTH; x++)
        {
            bool inside = x >= left && x < right && y >= top && y < bottom;
            const uint8_t* p = pixel(x, y);
            bool green = p[1] > 100 && p[1] > 2 * p[0] && p[1] > 2 * p[2];
            assert_int_equal(green, inside);
        }
    }
}

static void test_back_differs_from_front(void** state)
{
    (void)state;
    weft_view view = front_view();
    weft_render_mesh mesh = square_mesh();
    mesh.front = (weft_color){0.7f, 0.1f, 0.1f};
    mesh.back = (weft_color){0.1f, 0.1f, 0.7f};
    draw(&view, &mesh, 1);
    const uint8_t* middle = pixel(WIDTH / 2, HEIGHT / 2);
    assert_true(middle[0] > 2 * middle[2]);
    view.eye.z = -2.0;
    draw(&view, &mesh, 1);
    assert_true(middle[2] > 2 * middle[0]);
}

static void test_back_light_is_darker(void** state)
{
    (void)state;
    weft_view view = front_view();
    weft_render_mesh mesh = square_mesh();
    draw(&view, &mesh, 1);
    int lit = pixel(WIDTH / 2, HEIGHT / 2)[0];
    view.light.z = -1.0;
    draw(&view, &mesh, 1);
    assert_true(pixel(WIDTH / 2, HEIGHT / 2)[0] < lit - 30);
}

static void test_nearer_hides_farther(void** state)
{
    (void)state;
    weft_view view = front_view();
    weft_vec3 nearer[4];
    for (int k = 0; k < 4; k++)
    {
        nearer[k] = (weft_vec3){0.5 * square[k].x, 0.5 * square[k].y, 0.3};
    }
    weft_render_mesh meshes[2] = {square_mesh(), square_mesh()};
    meshes[0].front = (weft_color){0.7f, 0.1f, 0.1f};
    meshes[1].positions = nearer;
    meshes[1].front = (weft_color){0.1f, 0.1f, 0.7f};
    for (int order = 0; order < 2; order++)
    {
        draw(&view, meshes, 2);
        const uint8_t* middle = pixel(WIDTH / 2, HEIGHT / 2);
        const uint8_t* rim = pixel(WIDTH / 2 - HEIGHT / 4 + 2, HEIGHT / 2);
        assert_true(middle[2] > 2 * middle[0]);
        assert_true(rim[0] > 2 * rim[2]);
        weft_render_mesh first = meshes[0];
        meshes[0] = meshes[1];
        meshes[1] = first;
    }
}

// A roof whose ridge two faces share: an obstacle shows the ridge, cloth bends over it. A blunt one is smooth on both.
static void test_obstacles_have_creases(void** state)
{
    (void)state;
    weft_view view = front_view();
    view.light = (weft_vec3){-1, 0, 1};
    const int triangles[] = {0, 1, 4, 0, 4, 3, 1, 2, 5, 1, 5, 4};
    int step[2][2]; // brightness across the ridge: by role, then steep or blunt
    for (int k = 0; k < 4; k++)
    {
        double height = k % 2 == 0 ? 0.5 : 0.05;
        const weft_vec3 roof[] = {{-0.5, -0.5, 0}, {0, -0.5, height}, {0.5, -0.5, 0},
                                  {-0.5, 0.5, 0},  {0, 0.5, height},  {0.5, 0.5, 0}};
        weft_render_mesh mesh = weft_render_mesh_default();
        mesh.role = k < 2 ? WEFT_MESH_CLOTH : WEFT_MESH_OBSTACLE;
        mesh.positions = roof;
        mesh.vertex_count = 6;
        mesh.triangles = triangles;
        mesh.triangle_count = 4;
        draw(&view, &mesh, 1);
        step[k / 2][k % 2] = abs(pixel(WIDTH / 2 - 2, HEIGHT / 2)[0] - pixel(WIDTH / 2 + 1, HEIGHT / 2)[0]);
    }
    assert_true(step[1][0] > 60);
    assert_true(step[0][0] < step[1][0] / 2);
    assert_true(step[0][1] < 12 && step[1][1] < 12);
}

// A floor of many metres behind the cloth takes nothing from the shadow that falls on it.
static void test_backdrops_keep_shadows(void** state)
{
    (void)state;
    weft_view view = front_view();
    view.light = (weft_vec3){1, 0, 1};
    weft_vec3 wall[4];
    for (int k = 0; k < 4; k++)
    {
        wall[k] = (weft_vec3){100.0 * square[k].x, 100.0 * square[k].y, -0.4};
    }
    weft_render_mesh meshes[2] = {square_mesh(), square_mesh()};
    meshes[1].role = WEFT_MESH_OBSTACLE;
    meshes[1].positions = wall;
    draw(&view, meshes, 2);
    // The light comes from the right: the shadow reaches from the square's side, a quarter of the height left of the
    // middle, to three eighths of it.
    int beside = WIDTH / 2 - 5 * HEIGHT / 16;
    assert_true(pixel(beside, HEIGHT / 2)[1] + 15 < pixel(2, HEIGHT / 2)[1]);
}

static void test_scalars_vary(void** state)
{
    (void)state;
    weft_view view = front_view();
    weft_render_mesh mesh = square_mesh();
    const double scalars[4] = {0.0, 0.2, 0.2, 0.0};
    mesh.scalars = scalars;
    view.scalar_max = 0.2;
    draw(&view, &mesh, 1);
    uint8_t low[3], high[3];
    memcpy(low, pixel(WIDTH / 2 - HEIGHT / 4 + 1, HEIGHT / 2), 3);
    memcpy(high, pixel(WIDTH / 2 + HEIGHT / 4 - 2, HEIGHT / 2), 3);
    assert_true(low[2] > low[1] + 30);                             // violet
    assert_true(high[1] > high[2] + 60 && high[0] > high[2] + 60); // yellow
    // A legend leaves the middle alone and marks the left rim.
    uint8_t without[SIZE];
    memcpy(without, rgb, SIZE);
    view.legend = "STRAIN %";
    view.legend_scale = 100.0;
    draw(&view, &mesh, 1);
    assert_true(differing(without) > 20);
    for (int y = 0; y < HEIGHT; y++)
    {
        assert_memory_equal(pixel(WIDTH / 2, y), without + 3 * (y * WIDTH + WIDTH / 2), 3);
    }
}

static void test_colors_are_crisp(void** state)
{
    (void)state;
    weft_view view = front_view();
    weft_render_mesh mesh = square_mesh();
    const weft_color red = {0.8f, 0.1f, 0.1f}, green = {0.1f, 0.7f, 0.1f};
    const weft_color colors[4] = {red, green, green, red};
    mesh.colors = colors;
    draw(&view, &mesh, 1);
    // Left half red, right half green, along every row; between them a border of a pixel or two, no gradient.
    int left = WIDTH / 2 - HEIGHT / 4, right = WIDTH / 2 + HEIGHT / 4, mixed = 0;
    for (int y = HEIGHT / 4 + 1; y < 3 * HEIGHT / 4 - 1; y++)
    {
        for (int x = left + 1; x < right - 1; x++)
        {
            const uint8_t* p = pixel(x, y);
            bool is_red = p[0] > 3 * p[1], is_green = p[1] > 3 * p[0];
            mixed += !is_red && !is_green;
            assert_false(x < left + HEIGHT / 8 && is_green);
            assert_false(x > right - HEIGHT / 8 && is_red);
        }
    }
    assert_true(mixed < 3 * HEIGHT / 2);
    // The back shows the same, and edges are still drawn.
    uint8_t plain[SIZE];
    memcpy(plain, rgb, SIZE);
    mesh.face_start = square_start;
    mesh.face_vertices = square_face;
    mesh.face_count = 1;
    draw(&view, &mesh, 1);
    assert_true(differing(plain) > HEIGHT / 2);
    view.eye.z = -2.0;
    draw(&view, &mesh, 1);
    assert_true(pixel(left + 3, HEIGHT / 2)[1] > 2 * pixel(left + 3, HEIGHT / 2)[0]);
}

static void test_camera_moves_the_picture(void** state)
{
    (void)state;
    weft_view view = front_view();
    weft_render_mesh mesh = square_mesh();
    uint8_t before[SIZE];
    draw(&view, &mesh, 1);
    memcpy(before, rgb, SIZE);
    draw(&view, &mesh, 1);
    assert_memory_equal(before, rgb, SIZE); // the same picture twice is the same
    view.eye = (weft_vec3){1.0, 0.5, 1.5};
    draw(&view, &mesh, 1);
    assert_true(differing(before) > 100);
}

static void test_framing(void** state)
{
    (void)state;
    // Boxes of all shapes, sizes and places: the mesh fills much of the picture and none of it is cut off.
    static const weft_vec3 sizes[] = {{1, 1, 0.01}, {1, 0.01, 1},  {0.01, 1, 1},
                                      {1, 1, 1},    {3, 0.2, 0.2}, {0.1, 2, 0.1}};
    for (size_t k = 0; k < 4 * sizeof(sizes) / sizeof(sizes[0]); k++)
    {
        const double scale = (const double[]){1.0, 0.001, 100.0, 1.0}[k % 4];
        weft_vec3 s = sizes[k / 4], corners[8], shift = {k % 4 == 3 ? 1000.0 : 0.0, 5.0 * scale, 0.0};
        int triangles[3 * 56], count = 0;
        for (int c = 0; c < 8; c++)
        {
            corners[c] = (weft_vec3){shift.x + scale * s.x * (c & 1), shift.y + scale * s.y * (c >> 1 & 1),
                                     shift.z + scale * s.z * (c >> 2)};
        }
        for (int a = 0; a < 8; a++)
        {
            for (int b = a + 1; b < 8; b++)
            {
                for (int c = b + 1; c < 8; c++)
                {
                    memcpy(triangles + 3 * count++, (int[3]){a, b, c}, 3 * sizeof(int)); // the hull, and more inside
                }
            }
        }
        weft_box box = weft_box_empty();
        weft_box_add(&box, corners, 8);
        weft_view view = weft_view_default();
        weft_view_frame(&view, &box, (double)WIDTH / HEIGHT);
        view.ground = 0;
        weft_render_mesh mesh = square_mesh();
        mesh.positions = corners;
        mesh.vertex_count = 8;
        mesh.triangles = triangles;
        mesh.triangle_count = count;
        draw(&view, &mesh, 1);
        assert_true(differing(background) > WIDTH * HEIGHT / 50);
        for (int x = 0; x < WIDTH; x++)
        {
            assert_true(abs(pixel(x, 0)[0] - background[3 * x]) <= 2);
            int last = 3 * ((HEIGHT - 1) * WIDTH + x);
            assert_true(abs(rgb[last] - background[last]) <= 2);
        }
    }
}

static void test_framing_points(void** state)
{
    (void)state;
    // An octahedron leaves the corners of its box empty: framed by its points it is seen larger, and none of it is cut
    // off. A point that is no number changes nothing, no point at all is the unit cube.
    const weft_vec3 points[7] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}, {NAN, 9, 9}};
    static const int triangles[24] = {0, 2, 4, 2, 1, 4, 1, 3, 4, 3, 0, 4, 2, 0, 5, 1, 2, 5, 3, 1, 5, 0, 3, 5};
    weft_render_mesh mesh = square_mesh();
    mesh.positions = points;
    mesh.vertex_count = 6;
    mesh.triangles = triangles;
    mesh.triangle_count = 8;
    weft_box box = weft_box_empty();
    weft_box_add(&box, points, 6);
    weft_view by_box = weft_view_default(), by_points = by_box;
    weft_view_frame(&by_box, &box, (double)WIDTH / HEIGHT);
    weft_view_frame_points(&by_points, points, 7, (double)WIDTH / HEIGHT);
    by_box.ground = by_points.ground = 0;
    draw(&by_box, &mesh, 1);
    int small = differing(background);
    draw(&by_points, &mesh, 1);
    assert_true(differing(background) > small + small / 3);
    for (int x = 0; x < WIDTH; x++)
    {
        int last = 3 * ((HEIGHT - 1) * WIDTH + x);
        assert_true(abs(rgb[3 * x] - background[3 * x]) <= 2 && abs(rgb[last] - background[last]) <= 2);
    }
    weft_view none = weft_view_default(), cube = none;
    weft_view_frame_points(&none, NULL, 0, 1.0);
    weft_view_frame(&cube, &(weft_box){{-0.5, -0.5, -0.5}, {0.5, 0.5, 0.5}}, 1.0);
    assert_memory_equal(&none.eye, &cube.eye, sizeof(weft_vec3));
}

static void test_shadow_on_the_ground(void** state)
{
    (void)state;
    weft_vec3 flat[4];
    for (int k = 0; k < 4; k++)
    {
        flat[k] = (weft_vec3){square[k].x, 0.3, -square[k].y};
    }
    weft_view view = front_view();
    view.eye = (weft_vec3){0, 0.8, 1.8};
    view.light = (weft_vec3){0, 1, 0};
    view.ground = 1;
    view.ground_height = 0.0;
    view.target.y = 0.15;
    weft_render_mesh mesh = square_mesh();
    mesh.positions = flat;
    draw(&view, &mesh, 1);
    // Below the sheet in the picture: darker with a ground than without.
    uint8_t shaded[SIZE];
    memcpy(shaded, rgb, SIZE);
    view.ground = 0;
    draw(&view, &mesh, 1);
    int darker = 0;
    for (int k = 0; k < WIDTH * HEIGHT; k++)
    {
        darker += shaded[3 * k] < rgb[3 * k] - 40;
    }
    assert_true(darker > 50);
}

static void test_edges_show_polygons(void** state)
{
    (void)state;
    weft_view view = front_view();
    weft_render_mesh mesh = square_mesh();
    uint8_t plain[SIZE];
    draw(&view, &mesh, 1);
    memcpy(plain, rgb, SIZE);
    mesh.face_start = square_start;
    mesh.face_vertices = square_face;
    mesh.face_count = 1;
    draw(&view, &mesh, 1);
    assert_true(differing(plain) > HEIGHT); // its four sides
    // The diagonal that splits the quad is no edge of it.
    int middle = 3 * (HEIGHT / 2 * WIDTH + WIDTH / 2);
    assert_memory_equal(rgb + middle, plain + middle, 3);
    mesh.face_start = NULL;
    mesh.face_vertices = square_triangles;
    mesh.face_count = 2;
    draw(&view, &mesh, 1);
    assert_true(rgb[middle] < plain[middle] - 10 || rgb[middle - 3] < plain[middle - 3] - 10);
}

static void test_non_finite_is_left_out(void** state)
{
    (void)state;
    weft_view view = front_view();
    weft_vec3 broken[5];
    memcpy(broken, square, sizeof(square));
    broken[4] = (weft_vec3){NAN, INFINITY, 0};
    const int triangles[9] = {0, 1, 2, 0, 2, 3, 0, 1, 4};
    const double scalars[5] = {NAN, 0, 0, 0, 0};
    weft_render_mesh mesh = square_mesh();
    mesh.positions = broken;
    mesh.vertex_count = 5;
    mesh.triangles = triangles;
    mesh.triangle_count = 3;
    mesh.face_vertices = triangles;
    mesh.face_count = 3;
    draw(&view, &mesh, 1);
    assert_true(differing(background) > 500);
    mesh.scalars = scalars;
    draw(&view, &mesh, 1);
    // Nothing but what is not finite, and nothing at all.
    mesh.triangles = triangles + 6;
    mesh.triangle_count = 1;
    mesh.face_count = 0;
    draw(&view, &mesh, 1);
    assert_int_equal(differing(background), 0);
    mesh.vertex_count = mesh.triangle_count = 0;
    draw(&view, &mesh, 1);
    assert_int_equal(differing(background), 0);
}

static void test_supersampling_keeps_the_picture(void** state)
{
    (void)state;
    weft_view view = front_view();
    weft_render_mesh mesh = square_mesh();
    draw(&view, &mesh, 1);
    uint8_t fine[SIZE];
    weft_renderer* second;
    assert_int_equal(weft_renderer_create(WIDTH, HEIGHT, 2, &second, NULL), WEFT_OK);
    assert_int_equal(weft_renderer_draw(second, &view, &mesh, 1, fine, NULL), WEFT_OK);
    weft_renderer_destroy(second);
    assert_true(differing(fine) < 20);
    draw(&view, &mesh, 1); // the first one still works
}

static void test_large_mesh(void** state)
{
    (void)state;
    enum
    {
        SIDE = 301 // enough for the path of fine meshes
    };
    weft_vec3* positions = malloc(sizeof(weft_vec3) * SIDE * SIDE);
    int* triangles = malloc(sizeof(int) * 6 * SIDE * SIDE);
    int count = 0;
    for (int j = 0; j < SIDE; j++)
    {
        for (int i = 0; i < SIDE; i++)
        {
            int a = j * SIDE + i;
            positions[a] = (weft_vec3){i / (SIDE - 1.0) - 0.5, j / (SIDE - 1.0) - 0.5, 0};
            if (i + 1 < SIDE && j + 1 < SIDE)
            {
                const int two[6] = {a, a + 1, a + SIDE + 1, a, a + SIDE + 1, a + SIDE};
                memcpy(triangles + 3 * count, two, sizeof(two));
                count += 2;
            }
        }
    }
    weft_view view = front_view();
    weft_render_mesh mesh = square_mesh();
    draw(&view, &mesh, 1);
    uint8_t coarse[SIZE];
    memcpy(coarse, rgb, SIZE);
    mesh.positions = positions;
    mesh.vertex_count = SIDE * SIDE;
    mesh.triangles = triangles;
    mesh.triangle_count = count;
    draw(&view, &mesh, 1);
    for (int k = 0; k < SIZE; k++)
    {
        assert_true(abs(rgb[k] - coarse[k]) < 16); // the same square
    }
    free(positions);
    free(triangles);
}

// A heap of triangles at the same points is drawn once, whichever corner they begin with, whichever way they run,
// whoever their vertices are: a rasteriser would fill each of them. What differs in the last bit stays.
static void test_repeats_are_drawn_once(void** state)
{
    (void)state;
    enum
    {
        COPIES = 600 // of each of the two triangles
    };
    static const int turns[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}, {1, 0, 2}, {0, 2, 1}};
    weft_vec3 positions[9];
    static int triangles[3 * (2 * COPIES + 1)];
    for (int v = 0; v < 8; v++)
    {
        positions[v] = square[v % 4];
        positions[v].z = v < 4 ? 0.0 : -0.0;
    }
    positions[8] = (weft_vec3){nextafter(square[2].x, 1.0), square[2].y, square[2].z};
    for (int k = 0; k < 2 * COPIES; k++)
    {
        for (int c = 0; c < 3; c++)
        {
            triangles[3 * k + c] = square_triangles[3 * (k % 2) + turns[k / 2 % 6][c]] + (k / 12 % 2 == 1 ? 4 : 0);
        }
    }
    weft_view view = front_view();
    weft_render_mesh mesh = square_mesh();
    draw(&view, &mesh, 1);
    uint8_t once[SIZE];
    memcpy(once, rgb, SIZE);
    mesh.positions = positions;
    mesh.vertex_count = 9;
    mesh.triangles = triangles;
    mesh.triangle_count = 2 * COPIES;
    draw(&view, &mesh, 1);
    assert_memory_equal(rgb, once, SIZE);
    memcpy(triangles + 6 * COPIES, (int[]){0, 1, 8}, 3 * sizeof(int));
    for (int more = 0; more < 2; more++)
    {
        surface s;
        mesh.triangle_count = 2 * COPIES + more;
        assert_int_equal(surface_build(&mesh, (weft_vec3){0, 0, 0}, 0.0, 1.0, &s), WEFT_OK);
        assert_int_equal(s.triangle_count, 2 + more);
        surface_finish(&s);
    }
}

// ---- helpers

static void test_strain(void** state)
{
    (void)state;
    weft_vec3 stretched[5];
    double strain[5];
    weft_vec3 rest[5];
    memcpy(rest, square, sizeof(square));
    rest[4] = (weft_vec3){9, 9, 9};
    assert_int_equal(weft_render_strain(rest, rest, 5, square_triangles, 2, strain), WEFT_OK);
    for (int k = 0; k < 5; k++)
    {
        assert_true(strain[k] == 0.0);
        stretched[k] = (weft_vec3){1.5 * rest[k].x, rest[k].y, rest[k].z};
    }
    assert_int_equal(weft_render_strain(rest, stretched, 5, square_triangles, 2, strain), WEFT_OK);
    for (int k = 0; k < 4; k++)
    {
        assert_true(fabs(strain[k] - 0.5) < 1e-12);
    }
    assert_true(strain[4] == 0.0);
}

static void test_color_map(void** state)
{
    (void)state;
    float last = -1.0f;
    for (int k = 0; k <= 20; k++)
    {
        weft_color c = weft_color_map(k / 20.0);
        float luma = 0.2126f * c.r + 0.7152f * c.g + 0.0722f * c.b;
        assert_true(luma > last);
        last = luma;
    }
    weft_color low = weft_color_map(-3.0), zero = weft_color_map(0.0), none = weft_color_map(NAN);
    assert_memory_equal(&low, &zero, sizeof(low));
    assert_memory_equal(&none, &zero, sizeof(none));
}

// ---- PNG

static void test_png_round_trip(void** state)
{
    (void)state;
    char folder[256], path[300];
    assert_non_null(test_folder(folder));
    snprintf(path, sizeof(path), "%s/picture.png", folder);
    for (int k = 0; k < SIZE; k++)
    {
        rgb[k] = (uint8_t)(k * 37 + k / 7);
    }
    for (int pass = 0; pass < 2; pass++) // the second replaces the first
    {
        rgb[0] = (uint8_t)pass;
        assert_int_equal(weft_png_write(path, rgb, WIDTH, HEIGHT, NULL), WEFT_OK);
        png_image image = {.version = PNG_IMAGE_VERSION};
        uint8_t back[SIZE];
        assert_true(png_image_begin_read_from_file(&image, path));
        assert_int_equal(image.width, WIDTH);
        assert_int_equal(image.height, HEIGHT);
        image.format = PNG_FORMAT_RGB;
        assert_true(png_image_finish_read(&image, NULL, back, 0, NULL));
        assert_memory_equal(back, rgb, SIZE);
    }
    FILE* file = fopen(path, "rb");
    unsigned char signature[8];
    assert_int_equal(fread(signature, 1, 8, file), 8);
    fclose(file);
    assert_memory_equal(signature, "\x89PNG\r\n\x1a\n", 8);
    unlink(path);
    assert_int_equal(rmdir(folder), 0); // nothing else was left in it
}

static void test_png_unwritable(void** state)
{
    (void)state;
    weft_error error = {0};
    assert_int_equal(weft_png_write("/nonexistent-folder/picture.png", background, WIDTH, HEIGHT, &error), WEFT_IO);
    assert_string_equal(error.file, "/nonexistent-folder/picture.png");
    assert_true(strlen(error.message) > 10);
    // A folder in the way stays, and no temporary file is left beside it.
    char folder[256], path[300];
    assert_non_null(test_folder(folder));
    snprintf(path, sizeof(path), "%s/taken.png", folder);
    assert_int_equal(mkdir(path, 0777), 0);
    assert_int_equal(weft_png_write(path, background, WIDTH, HEIGHT, NULL), WEFT_IO);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_square_covers_its_pixels),
        cmocka_unit_test(test_back_differs_from_front),
        cmocka_unit_test(test_back_light_is_darker),
        cmocka_unit_test(test_nearer_hides_farther),
        cmocka_unit_test(test_obstacles_have_creases),
        cmocka_unit_test(test_backdrops_keep_shadows),
        cmocka_unit_test(test_scalars_vary),
        cmocka_unit_test(test_colors_are_crisp),
        cmocka_unit_test(test_camera_moves_the_picture),
        cmocka_unit_test(test_framing),
        cmocka_unit_test(test_framing_points),
        cmocka_unit_test(test_shadow_on_the_ground),
        cmocka_unit_test(test_edges_show_polygons),
        cmocka_unit_test(test_non_finite_is_left_out),
        cmocka_unit_test(test_supersampling_keeps_the_picture),
        cmocka_unit_test(test_large_mesh),
        cmocka_unit_test(test_repeats_are_drawn_once),
        cmocka_unit_test(test_strain),
        cmocka_unit_test(test_color_map),
        cmocka_unit_test(test_png_round_trip),
        cmocka_unit_test(test_png_unwritable),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
