// OBJ files: every form that is read, every error with its line, odd and malformed files, fuzz, size.
#define _GNU_SOURCE
#include "common.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mesh/mesh_inside.h"

// ---- where files go

static char folder[256];
static char path[300]; // the file that most tests write

static int folder_make(void** state)
{
    (void)state;
    if (!test_folder(folder))
    {
        return -1;
    }
    snprintf(path, sizeof(path), "%s/mesh.obj", folder);
    return 0;
}

static int folder_remove(void** state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

static void file_write(const void* text, size_t size)
{
    FILE* file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

// ---- warnings

typedef struct warnings
{
    int count;
    char first[1024], last[1024];
} warnings;

static warnings heard;

static void warnings_note(const char* message, void* user)
{
    (void)user;
    snprintf(heard.count == 0 ? heard.first : heard.last, sizeof(heard.last), "%s", message);
    heard.count++;
}

// ---- reading

static mesh read_text(const char* text, const obj_options* options)
{
    mesh m;
    weft_error error = {0};
    heard = (warnings){0};
    file_write(text, strlen(text));
    if (mesh_from_obj(path, options, &m, &error) != WEFT_OK)
    {
        fail_msg("%s:%d: %s", error.file, error.line, error.message);
    }
    return m;
}

static void expect_error_bytes(const void* text, size_t size, const obj_options* options, weft_status status, int line,
                               const char* word)
{
    mesh m;
    weft_error error = {0};
    file_write(text, size);
    weft_status got = mesh_from_obj(path, options, &m, &error);
    if (got == WEFT_OK)
    {
        got = mesh_triangulate(&m, &error);
        mesh_finish(&m);
    }
    if (got != status || error.line != line || !strstr(error.message, word) || strcmp(error.file, path) != 0)
    {
        fail_msg("status %d, %s:%d: %s (expected line %d, '%s')", got, error.file, error.line, error.message, line,
                 word);
    }
}

static void expect_error(const char* text, int line, const char* word)
{
    expect_error_bytes(text, strlen(text), NULL, WEFT_BAD_INPUT, line, word);
}

#define SQUARE "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n"

// ---- forms

static void expect_square(const char* text)
{
    mesh m = read_text(text, NULL);
    assert_int_equal(m.vertex_count, 4);
    assert_int_equal(m.face_count, 1);
    assert_int_equal(m.face_start[1], 4);
    for (int k = 0; k < 4; k++)
    {
        assert_int_equal(m.face_vertex[k], k);
        assert_float_equal(m.position[k].x, k == 1 || k == 2, 0);
        assert_float_equal(m.position[k].y, k >= 2, 0);
    }
    mesh_finish(&m);
}

static void test_forms(void** state)
{
    (void)state;
    expect_square(SQUARE "f 1 2 3 4\n");
    expect_square(SQUARE "f 1 2 3 4");
    expect_square(SQUARE "f -4 -3 -2 -1\n");
    expect_square(SQUARE "vn 0 0 1\nf 1//1 2//1 3//1 4//1\n");
    expect_square(SQUARE "vt 0 0\nf 1/1 2/1 3/1 4/1\n");
    expect_square(SQUARE "vt 0 0\nf 1/1/7 2/-1/-3 3/1/1 4/1/1\n");
    expect_square(SQUARE "f 1/ 2// 3 4\n");
    expect_square("\xef\xbb\xbf" SQUARE "f 1 2 3 4\n");
    expect_square("v 0 0 0\r\nv 1 0 0\r\nv 1 1 0\r\nv 0 1 0\r\nf 1 2 3 4\r\n");
    expect_square("v 0 0 0\rv 1 0 0\rv 1 1 0\rv 0 1 0\rf 1 2 3 4\r");
    expect_square(
        "v 0 0 0 # first\n\n  \t v\t1   0 0  \n#c\\\nv 1 1 0 1.0\nv 0 1 0 .1 .2 .3\n   # f\nf 1 2 3 4 # end\n");
    expect_square("v 0 \\\n0 0\nv 1 0 \\\r\n 0\nv 1 1 0\nv 0 1 0\nf 1 2\\\n 3 \\\n\\\n4\n");
    expect_square(SQUARE "f 1 2 3 4 \\");
    expect_square("f 1 2 3 4\n" SQUARE);
    expect_square(
        "v +0. 0e5 -0\nv 1.0e0 .0 0\nv 10e-1 0.1E+1 0\nv 0 1.000000000000000000000000000000000 0\nf 1 2 3 4\n");
    assert_int_equal(heard.count, 0);
}

static void test_lines_of_faces(void** state)
{
    (void)state;
    mesh m = read_text(SQUARE "# c\nf 1 \\\n2 3\n\nf 1 3 4\n", NULL);
    assert_int_equal(m.face_line[0], 6);
    assert_int_equal(m.face_line[1], 9);
    assert_string_equal(m.file, path);
    assert_null(m.face_object);
    assert_null(m.face_texcoord);
    mesh_finish(&m);
}

static void test_texcoords(void** state)
{
    (void)state;
    mesh m = read_text(SQUARE "vt 0 0\nvt 2 0 0\nvt 2 2\nvt 1\nf 1/1 2/2 3/3\nf 1/1 3 4/-1\n", NULL);
    int expected[] = {0, 1, 2, 0, -1, 3};
    assert_int_equal(m.texcoord_count, 4);
    assert_memory_equal(m.face_texcoord, expected, sizeof(expected));
    assert_float_equal(m.texcoord[3].x, 1.0, 0);
    assert_float_equal(m.texcoord[3].y, 0.0, 0);
    weft_error error = {0};
    vec2 rest[6];
    assert_int_equal(mesh_triangulate(&m, &error), WEFT_OK);
    assert_int_equal(mesh_rest(&m, REST_UV, v3(1, 0, 0), 1.0, rest, &error), WEFT_BAD_INPUT);
    assert_int_equal(error.line, 10);
    mesh_finish(&m);

    m = read_text(SQUARE "vt 0 0\nf 1 2 3\nf 1 3 4/1\n", NULL);
    int late[] = {-1, -1, -1, -1, -1, 0};
    assert_memory_equal(m.face_texcoord, late, sizeof(late));
    mesh_finish(&m);

    // A mirrored chart is flipped, a flat one refused, the scale applied.
    m = read_text(SQUARE "vt 0 0\nvt 2 0\nvt 2 2\nf 1/1 2/2 3/3\nf 1/2 3/1 4/3\n", NULL);
    assert_int_equal(mesh_triangulate(&m, &error), WEFT_OK);
    assert_int_equal(mesh_rest(&m, REST_UV, v3(1, 0, 0), 0.5, rest, &error), WEFT_OK);
    for (int t = 0; t < 2; t++)
    {
        vec2* r = rest + 3 * t;
        double area = (r[1].x - r[0].x) * (r[2].y - r[0].y) - (r[1].y - r[0].y) * (r[2].x - r[0].x);
        assert_float_equal(area, 1.0, 1e-15);
    }
    assert_int_equal(mesh_rest(&m, REST_UV, v3(1, 0, 0), 0.0, rest, &error), WEFT_BAD_INPUT);
    mesh_finish(&m);
    m = read_text(SQUARE "vt 0 0\nvt 1 1\nvt 2 2\nf 1/1 2/2 3/3\n", NULL);
    assert_int_equal(mesh_triangulate(&m, &error), WEFT_OK);
    assert_int_equal(mesh_rest(&m, REST_UV, v3(1, 0, 0), 1.0, rest, &error), WEFT_BAD_INPUT);
    assert_non_null(strstr(error.message, "no area in the vt map"));
    mesh_finish(&m);
}

static void test_warnings(void** state)
{
    (void)state;
    mesh m = read_text(SQUARE "s 1\nusemtl a\nmtllib b\nvp 1\nl 1 2\np 1\nl 2 3\nf 1 2 3 4\n", NULL);
    assert_int_equal(heard.count, 1);
    assert_non_null(strstr(heard.first, ":9: lines, points"));
    mesh_finish(&m);
    m = read_text("File Generated by\x1b[31m red\n" SQUARE "x 1\ny\nz\n: 5\n\xff\xff\nw\nff 1 2 3\nf 1 2 3 4\n", NULL);
    assert_int_equal(heard.count, 6);
    assert_non_null(strstr(heard.first, ":1: 'File Generated by?[31m red' is not understood"));
    assert_non_null(strstr(heard.last, "8 lines in all"));
    mesh_finish(&m);
}

// ---- objects and welding

#define TWO_OBJECTS                                                                                                    \
    "o skirt\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 9 9 9\nf 1 2 3\no top part\nv 0 0 5\nv 1 0 5\nv 0 1 5\nf 5 6 7\n"

static void test_objects(void** state)
{
    (void)state;
    mesh m = read_text(TWO_OBJECTS, NULL);
    assert_int_equal(m.vertex_count, 7);
    assert_int_equal(m.object_count, 2);
    assert_string_equal(m.object_name[1], "top part");
    assert_int_equal(m.face_object[1], 1);
    mesh_finish(&m);

    m = read_text(TWO_OBJECTS, &(obj_options){.object = "top part"});
    assert_int_equal(m.vertex_count, 3);
    assert_int_equal(m.face_count, 1);
    assert_float_equal(m.position[1].x, 1.0, 0);
    assert_float_equal(m.position[1].z, 5.0, 0);
    assert_int_equal(m.face_vertex[2], 2);
    assert_int_equal(m.face_line[0], 11);
    mesh_finish(&m);

    // Groups count only where there are no objects; a name that comes again is the same object.
    m = read_text("f 1 2 3\ng a b \nf 1 2 3\ng\nf 1 2 4\ng a b\nf 1 3 4\n" SQUARE, NULL);
    assert_int_equal(m.object_count, 2);
    assert_string_equal(m.object_name[0], "a b");
    assert_string_equal(m.object_name[1], "default");
    int expected[] = {1, 0, 1, 0};
    assert_memory_equal(m.face_object, expected, sizeof(expected));
    mesh_finish(&m);
    m = read_text("g a\no b\n" SQUARE "f 1 2 3\ng c\nf 1 3 4\n", NULL);
    assert_int_equal(m.object_count, 1);
    assert_string_equal(m.object_name[0], "b");
    mesh_finish(&m);

    m = read_text(SQUARE "f 1 2 3\nf 1 3 4\no late\n", NULL);
    assert_int_equal(m.object_count, 1);
    assert_string_equal(m.object_name[0], "default");
    assert_int_equal(m.face_object[1], 0);
    mesh_finish(&m);

    // Names of old programs are Latin-1; scenes can name them.
    m = read_text("o G\xfcrtel\x80 2\no R\xc3\xb6""ck\n" SQUARE "f 1 2 3\no G\xfcrtel\x80 2\nf 1 3 4\n",
                  &(obj_options){.object = "G\xc3\xbcrtel_ 2"});
    assert_int_equal(m.face_count, 1);
    assert_string_equal(m.object_name[0], "R\xc3\xb6""ck");
    mesh_finish(&m);

    expect_error_bytes(TWO_OBJECTS, strlen(TWO_OBJECTS), &(obj_options){.object = "skrit"}, WEFT_NOT_FOUND, 0,
                       "did you mean 'skirt'? There are 2: skirt, top part");
    expect_error_bytes(TWO_OBJECTS, strlen(TWO_OBJECTS), &(obj_options){.object = "trousers"}, WEFT_NOT_FOUND, 0,
                       "has no object 'trousers'. There are 2");
    expect_error_bytes(SQUARE "f 1 2 3", strlen(SQUARE "f 1 2 3"), &(obj_options){.object = "a"}, WEFT_NOT_FOUND, 0,
                       "has no objects");
}

static void test_weld(void** state)
{
    (void)state;
    const char* text = SQUARE "v 1 0 1e-7\nv 1 1 0\nv 2 0 0\nf 1 2 3 4\nf 7 6 5\n";
    mesh m = read_text(text, &(obj_options){.weld = 1e-6});
    int expected[] = {0, 1, 2, 3, 1, 2, 4};
    assert_int_equal(m.vertex_count, 5);
    assert_int_equal(m.given_count, 7);
    assert_memory_equal(m.weld, expected, sizeof(expected));
    assert_float_equal(m.position[4].x, 2.0, 0);
    weft_error error = {0};
    assert_int_equal(mesh_triangulate(&m, &error), WEFT_OK);
    mesh_finish(&m);

    m = read_text(text, &(obj_options){.weld = 1e-9});
    assert_int_equal(m.vertex_count, 6);
    mesh_finish(&m);
    m = read_text(SQUARE "f 1 2 3 4\n", &(obj_options){.weld = 1e-300});
    assert_null(m.weld);
    assert_int_equal(m.given_count, 0);
    mesh_finish(&m);
    const char* thin = "v 0 0 0\nv 1 0 0\nv 1 0.001 0\nf 1 2 3\n";
    expect_error_bytes(thin, strlen(thin), &(obj_options){.weld = 0.01}, WEFT_BAD_INPUT, 4, "collapses");
    expect_error_bytes(thin, strlen(thin), &(obj_options){.weld = -1.0}, WEFT_BAD_INPUT, 0, "out of range");
    expect_error_bytes(thin, strlen(thin), &(obj_options){.weld = NAN}, WEFT_BAD_INPUT, 0, "out of range");
}

// Against looking at every pair, on a cloud dense enough that chains of neighbours occur.
static void test_weld_brute(void** state)
{
    (void)state;
    enum
    {
        COUNT = 1200
    };
    static char text[COUNT * 64];
    int used = 0;
    for (int k = 0; k < COUNT; k++)
    {
        used +=
            snprintf(text + used, sizeof(text) - (size_t)used, "v %.3f %.3f %.3f\n", random_unit(8, 3 * (uint64_t)k),
                     random_unit(8, 3 * (uint64_t)k + 1), random_unit(8, 3 * (uint64_t)k + 2) * 0.1);
    }
    snprintf(text + used, sizeof(text) - (size_t)used, "v 5 5 5\nv 6 5 5\nv 5 6 5\nf -1 -2 -3\n");
    mesh given = read_text(text, NULL), m = read_text(text, &(obj_options){.weld = 0.03});
    int kept[COUNT + 3], kept_count = 0;
    for (int v = 0; v < given.vertex_count; v++)
    {
        int found = -1;
        for (int k = 0; k < kept_count && found < 0; k++)
        {
            found = v3_length(v3_sub(given.position[v], given.position[kept[k]])) < 0.03 ? k : -1;
        }
        if (found < 0)
        {
            found = kept_count;
            kept[kept_count++] = v;
        }
        assert_int_equal(m.weld[v], found);
    }
    assert_int_equal(m.vertex_count, kept_count);
    for (int k = 0; k < kept_count; k++)
    {
        assert_memory_equal(&m.position[k], &given.position[kept[k]], sizeof(vec3));
    }
    print_message("%d vertices of %d stay\n", kept_count, given.vertex_count);
    mesh_finish(&given);
    mesh_finish(&m);
}

// ---- errors

static void test_errors(void** state)
{
    (void)state;
    expect_error(SQUARE "f 1 2 5\n", 5, "uses vertex 5, but there are only 4");
    expect_error(SQUARE "f 1 2 0\n", 5, "counted from 1");
    expect_error(SQUARE "f 1 2 -5\n", 5, "out of range");
    expect_error(SQUARE "f 1 2 99999999999999999999999999\n", 5, "out of range");
    expect_error(SQUARE "f 1 2 2147483648\n", 5, "out of range");
    expect_error(SQUARE "f 1 2 2147483647\n", 5, "only 4");
    expect_error(SQUARE "f 1 2\n", 5, "face 1 has 2 corners");
    expect_error(SQUARE "f\n", 5, "face 1 has 0 corners");
    expect_error(SQUARE "f 1 2 2\n", 5, "twice");
    expect_error(SQUARE "f 1 2 3 -4\n", 5, "twice");
    expect_error(SQUARE "f 1 2 x\n", 5, "'x' is not a corner");
    expect_error(SQUARE "f 1 2 3.5\n", 5, "'3.5' is not a corner");
    expect_error(SQUARE "f 1 2 /3\n", 5, "is not a corner");
    expect_error(SQUARE "f 1/1/1/1 2 3\n", 5, "is not a corner");
    expect_error(SQUARE "f 1/1 2/1 3/1\n", 5, "only 0 (vt lines)");
    expect_error(SQUARE "f 1/-1 2 3\n", 5, "out of range");
    expect_error(SQUARE "f 1/0 2 3\n", 5, "counted from 1");
    expect_error("v 0 0\nf 1 1 1\n", 1, "2 of at least 3 numbers");
    expect_error("\nv 0 0 abc\n", 2, "'abc' is not a number");
    expect_error("v 0 0 1.5.2\n", 1, "'1.5.2' is not a number");
    expect_error("v 0 0 1,5\n", 1, "'1,5' is not a number: write coordinates as 1.5 or 2e-3, with a point and no comma");
    expect_error("v 0 0 1e\n", 1, "'1e' is not a number");
    expect_error("v 0 0 0x10\n", 1, "is not a number");
    expect_error("v nan 0 0\n", 1, "not finite");
    expect_error("v 0 -Inf 0\n", 1, "not finite");
    expect_error("v 1.#IND 0 0\n", 1, "not finite");
    expect_error("v 1e999 0 0\n", 1, "beyond");
    expect_error("v 0 0 1.1e12\n", 1, "beyond");
    expect_error("vt nan\n", 1, "not finite");
    expect_error("vt\n", 1, "0 of at least 1");
    expect_error(SQUARE, 0, "no faces");
    expect_error("# nothing\n", 0, "no faces");
    expect_error("", 0, "is empty");
    expect_error_bytes("\xff\xfev\0 \0", 6, NULL, WEFT_BAD_INPUT, 1, "UTF-8");
    expect_error_bytes("\xfe\xff\0v\0 ", 6, NULL, WEFT_BAD_INPUT, 1, "UTF-8");
    expect_error_bytes("v\0 \0"
                       "1\0",
                       6, NULL, WEFT_BAD_INPUT, 1, "UTF-8");
    expect_error_bytes("#\nabc\0def\n", 10, NULL, WEFT_BAD_INPUT, 2, "zero bytes");
}

static void test_surface_errors(void** state)
{
    (void)state;
    expect_error(SQUARE "v 2 2 0\nf 1 2 3\nf 1 3 4\nf 3 1 5\n", 8, "face 3 on line 8");
    expect_error(SQUARE "f 1 2 3\nf 2 3 1\n", 6, "face 2 on line 6 covers the same three vertices as face 1 on line 5");
    expect_error(SQUARE "v 2 0 0\nf 1 2 3\nf 1 2 5\n", 7, "face 2 on line 7 has a triangle without area");
    expect_error(SQUARE "f 1 3 2 4\n", 5, "face 1 on line 5 crosses itself");
    mesh m = read_text(SQUARE "v 2 0 0\nf 1 2 3 4\nf 2 3 5\n", NULL);
    weft_error error = {0};
    assert_int_equal(mesh_triangulate(&m, &error), WEFT_OK);
    assert_int_equal(heard.count, 1);
    assert_non_null(strstr(heard.first, "mesh.obj:7: face 2 on line 7 runs against its neighbours"));
    mesh_finish(&m);
}

static void expect_file_error(const char* name, weft_status status, const char* word)
{
    mesh m;
    weft_error error = {0};
    assert_int_equal(mesh_from_obj(name, NULL, &m, &error), status);
    assert_string_equal(error.file, name);
    if (!strstr(error.message, word))
    {
        fail_msg("'%s' does not say '%s'", error.message, word);
    }
}

static void test_no_regular_file(void** state)
{
    (void)state;
    expect_file_error(folder, WEFT_BAD_INPUT, "is a folder");
    expect_file_error("/nonexistent/a.obj", WEFT_NOT_FOUND, "No such file");
    expect_file_error("/dev/null", WEFT_BAD_INPUT, "not a regular file");
    char pipe_path[300];
    snprintf(pipe_path, sizeof(pipe_path), "%s/pipe", folder);
    assert_int_equal(mkfifo(pipe_path, 0600), 0);
    expect_file_error(pipe_path, WEFT_BAD_INPUT, "not a regular file");
    unlink(pipe_path);
    file_write("v 0 0 0\n", 8);
    chmod(path, 0);
    if (geteuid() != 0)
    {
        expect_file_error(path, WEFT_IO, "Permission denied");
    }
    chmod(path, 0600);
}

// ---- files that are cut short, mutated, or found odd by others

// Reads and prepares; a failure must say something.
static weft_status survive(const char* name, const obj_options* options, weft_error* error)
{
    mesh m;
    *error = (weft_error){0};
    weft_status status = mesh_from_obj(name, options, &m, error);
    status = status == WEFT_OK ? mesh_triangulate(&m, error) : status;
    if (status == WEFT_OK)
    {
        hinge* hinges;
        int count;
        assert_int_equal(mesh_hinges(m.triangle, m.triangle_count, m.vertex_count, &hinges, &count, NULL), WEFT_OK);
        mem_free(hinges);
    }
    else
    {
        assert_true(error->message[0] != 0 && error->status == status);
        assert_true(status == WEFT_BAD_INPUT || status == WEFT_NOT_FOUND);
    }
    mesh_finish(&m);
    return status;
}

static const char sample[] =
    "\xef\xbb\xbf# sample\r\nmtllib a.mtl\no one\nv 0 0 0\nv 1.5e0 0 0.25\nv 1 1 0 1 1 1\nv 0 1 0\n"
    "vt 0 0\nvt 1 0\nvt .5 1\nvn 0 0 1\ng grp\nusemtl m\ns off\nf 1/1/1 2/2/1 3/3/1\n"
    "f 1//1 \\\n3//1 4//1\nl 1 2\np 3\no two\nv 2 0 0\nv 3 0 0\nv 3 1 0\nv 2.5 1.5 0\nv 2 1 0\n"
    "f -5 -4 -3 -2 -1\n";

static void test_cut_short(void** state)
{
    (void)state;
    weft_error error;
    int good = 0;
    for (size_t size = 0; size < sizeof(sample); size++)
    {
        file_write(sample, size);
        good += survive(path, NULL, &error) == WEFT_OK;
    }
    assert_true(good > 0);
}

static size_t mutate(uint64_t seed, char* text, size_t size, size_t capacity)
{
    static const char* const parts[] = {
        "\n", " ",   "/",     "//", "-", "0",  "1", "99999999999", "\\\n", "\r",       "f 1 2 3\n", "f ",
        "v ", "nan", "1e400", ".",  "e", "\\", "#", "o x\n",       "g\n",  "vt 1 1\n", "v 1 2 3\n"};
    int changes = 1 + (int)(random_bits(seed, 0) % 6);
    for (int k = 0; k < changes && size > 1; k++)
    {
        uint64_t r = random_bits(seed, 10 + (uint64_t)k);
        size_t at = (size_t)(r >> 8) % size;
        const char* part = parts[(r >> 40) % (sizeof(parts) / sizeof(parts[0]))];
        size_t length = strlen(part);
        size_t gone = (size_t)(r >> 50) % 12;
        gone = at + gone > size ? size - at : gone;
        switch (r % 4)
        {
        case 0: // one byte becomes another
            text[at] = (char)(r >> 48);
            break;
        case 1: // something comes in
            length = size + length > capacity ? 0 : length;
            memmove(text + at + length, text + at, size - at);
            memcpy(text + at, part, length);
            size += length;
            break;
        case 2: // something is gone
            memmove(text + at, text + at + gone, size - at - gone);
            size -= gone;
            break;
        default: // a digit changes
            text[at] = text[at] >= '0' && text[at] <= '9' ? (char)('0' + (r >> 20) % 10) : text[at];
            break;
        }
    }
    return size;
}

static void test_fuzz(void** state)
{
    (void)state;
    weft_error error;
    int good = 0;
    enum
    {
        ROUNDS = 6000
    };
    for (uint64_t seed = 0; seed < ROUNDS; seed++)
    {
        char text[1024];
        memcpy(text, sample, sizeof(sample) - 1);
        size_t size = mutate(seed, text, sizeof(sample) - 1, sizeof(text));
        file_write(text, size);
        obj_options options = {.object = seed % 5 == 0 ? "two" : NULL, .weld = seed % 3 == 0 ? 0.3 : 0.0};
        good += survive(path, &options, &error) == WEFT_OK;
    }
    print_message("%d of %d mutations are still meshes\n", good, ROUNDS);
    assert_true(good > ROUNDS / 20 && good < ROUNDS * 19 / 20);
}

// ---- public data

static const char* data_folder(char* out, size_t size, const char* part)
{
    const char* root = getenv("WEFT_TEST_DATA");
    snprintf(out, size, "%s/%s", root ? root : WEFT_SOURCE_DIR "/../shared/data", part);
    struct stat info;
    if (stat(out, &info) != 0)
    {
        print_message("no data at %s: not tested\n", out);
        skip();
    }
    return out;
}

static int read_folder(const char* name, bool table)
{
    DIR* entries = opendir(name);
    assert_non_null(entries);
    int count = 0;
    for (struct dirent* entry; (entry = readdir(entries)) != NULL;)
    {
        size_t length = strlen(entry->d_name);
        if (length < 4 || strcmp(entry->d_name + length - 4, ".obj") != 0)
        {
            continue;
        }
        char file[1024];
        snprintf(file, sizeof(file), "%s/%s", name, entry->d_name);
        weft_error error;
        weft_status status = survive(file, NULL, &error);
        count++;
        if (table)
        {
            print_message("%-50s %s:%d %s\n", entry->d_name, status == WEFT_OK ? "read" : "refused", error.line,
                          error.message);
        }
    }
    closedir(entries);
    return count;
}

static void test_public_files(void** state)
{
    (void)state;
    static const struct
    {
        const char* name;
        int count;
    } folders[] = {{"obj/assimp", 17}, {"obj/tinyobjloader", 26}, {"obj/tinyobjloader-afl", 80}};
    for (int k = 0; k < 3; k++)
    {
        char name[900];
        int count = read_folder(data_folder(name, sizeof(name), folders[k].name), getenv("WEFT_TEST_TABLE") != NULL);
        assert_true(count >= folders[k].count);
    }
}

static void test_garments(void** state)
{
    (void)state;
    static const struct
    {
        const char* name;
        int vertices, faces;
    } garments[] = {{"garments/tshirt1900.obj", 1921, 3726}, {"garments/dress-v5k-f10k.obj", 5563, 10180}};
    for (int k = 0; k < 2; k++)
    {
        char name[900];
        mesh m;
        weft_error error = {0};
        assert_int_equal(mesh_from_obj(data_folder(name, sizeof(name), garments[k].name), NULL, &m, &error), WEFT_OK);
        assert_int_equal(mesh_triangulate(&m, &error), WEFT_OK);
        assert_int_equal(m.vertex_count, garments[k].vertices);
        assert_int_equal(m.triangle_count, garments[k].faces);
        mesh_finish(&m);
    }
}

// ---- memory and size

static void test_no_memory(void** state)
{
    (void)state;
    file_write(sample, sizeof(sample) - 1);
    obj_options options = {.object = "two", .weld = 0.01};
    weft_status status = WEFT_NO_MEMORY;
    int tried = 0;
    for (; tried < 200 && status != WEFT_OK; tried++)
    {
        test_ledger ledger = {.fail_at = tried + 1, .fail_on = 1};
        mesh m;
        weft_error error = {0};
        test_ledger_open(&ledger);
        status = mesh_from_obj(path, &options, &m, &error);
        mesh_finish(&m);
        test_ledger_close();
        assert_true(status == WEFT_OK || status == WEFT_NO_MEMORY);
        assert_true(status == WEFT_OK || error.message[0] != 0);
        assert_int_equal(ledger.live, 0);
    }
    assert_int_equal(status, WEFT_OK);
    assert_true(tried > 15);
}

// A comment of ten million bytes, a name of one million, a face of 100,000 corners, 100,000 objects.
static void test_long_lines(void** state)
{
    (void)state;
    FILE* file = fopen(path, "wb");
    assert_non_null(file);
    fputs("# ", file);
    for (int k = 0; k < 10000000; k++)
    {
        fputc('x', file);
    }
    fputs("\n" SQUARE "o ", file);
    for (int k = 0; k < 1000000; k++)
    {
        fputc('n', file);
    }
    fputs("\nf 1 2 3 4\n", file);
    for (int k = 0; k < 100000; k++)
    {
        fprintf(file, "o object %d\nf 1 2 3\n", k);
    }
    assert_int_equal(fclose(file), 0);
    mesh m;
    weft_error error = {0};
    assert_int_equal(mesh_from_obj(path, NULL, &m, &error), WEFT_OK);
    assert_int_equal(m.object_count, 100001);
    assert_int_equal(strlen(m.object_name[0]), 1000000);
    assert_string_equal(m.object_name[100000], "object 99999");
    mesh_finish(&m);
    obj_options options = {.object = "nnnn"};
    assert_int_equal(mesh_from_obj(path, &options, &m, &error), WEFT_NOT_FOUND);

    file = fopen(path, "wb");
    assert_non_null(file);
    for (int k = 0; k < 100000; k++)
    {
        fprintf(file, "v %d %d 0\n", k, k * (k % 7));
    }
    fputs("f", file);
    for (int k = 1; k <= 100000; k++)
    {
        fprintf(file, " %d%s", k, k % 10 ? "" : "\\\n");
    }
    fputs("\n", file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(survive(path, NULL, &error), WEFT_BAD_INPUT);
    assert_int_equal(error.line, 100001);
    assert_non_null(strstr(error.message, "at most 4096"));
}

// A sheet of as many lines as asked for: a third vertices, two thirds triangles.
static int sheet_write(int side)
{
    FILE* file = fopen(path, "wb");
    assert_non_null(file);
    static char buffer[1 << 20];
    setvbuf(file, buffer, _IOFBF, sizeof(buffer));
    for (int v = 0; v < side * side; v++)
    {
        fprintf(file, "v %d.%03d %d.5 -0.25\n", v % side, v % 997, v / side);
    }
    for (int c = 0; c < (side - 1) * (side - 1); c++)
    {
        int v = c / (side - 1) * side + c % (side - 1) + 1;
        fprintf(file, "f %d %d %d\nf %d %d %d\n", v, v + 1, v + side + 1, v, v + side + 1, v + side);
    }
    assert_int_equal(fclose(file), 0);
    return side * side + 2 * (side - 1) * (side - 1);
}

static void test_ten_million_lines(void** state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(WEFT_DEBUG)
    int side = 580; // a million: these builds are slow
#else
    int side = 1827;
#endif
    int lines = sheet_write(side);
    mesh m;
    weft_error error = {0};
    double start = timer_now();
    assert_int_equal(mesh_from_obj(path, NULL, &m, &error), WEFT_OK);
    print_message("%d lines read in %.2f s\n", lines, timer_now() - start);
    assert_int_equal(m.vertex_count, side * side);
    assert_int_equal(m.face_count, 2 * (side - 1) * (side - 1));
    assert_int_equal(m.face_line[m.face_count - 1], lines);
    mesh_finish(&m);
}

int main(void)
{
    weft_set_log(warnings_note, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_lines_of_faces),
        cmocka_unit_test(test_texcoords),
        cmocka_unit_test(test_warnings),
        cmocka_unit_test(test_objects),
        cmocka_unit_test(test_weld),
        cmocka_unit_test(test_weld_brute),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_surface_errors),
        cmocka_unit_test(test_no_regular_file),
        cmocka_unit_test(test_cut_short),
        cmocka_unit_test(test_fuzz),
        cmocka_unit_test(test_public_files),
        cmocka_unit_test(test_garments),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_long_lines),
        cmocka_unit_test(test_ten_million_lines),
    };
    return cmocka_run_group_tests_name("obj", tests, folder_make, folder_remove);
}
