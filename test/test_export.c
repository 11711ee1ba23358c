// weft export: files are read back by small readers of their own, for every choice of frames, bodies and axes, with
// quads, vt and topologies that change.
#define _GNU_SOURCE
#include "common.h"
#include "common_export.h"
#include "common_run.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "export/export.h"

static void point_caches_follow_the_last_topology(void** state)
{
    (void)state;
    export_well("run --to pc2");
    assert_true(said(".out", "run-pc2: 5 frames of 2 bodies, 3 files, "));
    same_pc2("run-pc2/sheet.pc2", export_all);
    export_well("run --to mdd -o m");
    same_mdd("m/sheet.mdd", export_all, 20.0);
    const char* const meshes[] = {"run-pc2/sheet.obj", "m/sheet.obj"};
    for (int k = 0; k < 2; k++)
    {
        shape mesh = read_obj(meshes[k]);
        assert_int_equal(mesh.points, 9);
        assert_int_equal(mesh.faces, 3);
        assert_int_equal(mesh.corners[0], 4);
        assert_string_equal(mesh.objects, "sheet ");
    }
    // The ball stands still: the mesh says where, and there is no cache.
    shape ball = read_obj("run-pc2/ball.obj");
    assert_int_equal(ball.points, 4);
    assert_true(ball.x[3][1] == -1.0);
    assert_false(exists("run-pc2/ball.pc2"));
    // What was exported is a folder that Weft reads.
    assert_int_equal(test_shell(NULL, "\"$WEFT\" inspect run-pc2 > .out"), 0);
}

static void sequences_have_each_frames_topology(void** state)
{
    (void)state;
    export_well("run --to obj -o o");
    export_well("run --to ply -o p");
    for (int frame = 0; frame < TORN_FRAMES; frame++)
    {
        char path[64];
        snprintf(path, sizeof(path), "o/sheet.%04d.obj", frame);
        shape s = read_obj(path);
        same_frame(&s, frame, false);
        assert_int_equal(s.maps, 8);
        assert_true(s.st[6][0] == 1.0 && s.st[6][1] == 1.0);
        assert_int_equal(s.map[0][2], 3);
        assert_int_equal(s.map[1][0], 5);
        assert_string_equal(s.objects, "sheet ");
        snprintf(path, sizeof(path), "p/sheet.%04d.ply", frame);
        s = read_ply(path);
        same_frame(&s, frame, false);
        assert_int_equal(s.maps, frame < TORN_FIRST ? 0 : 8 + (frame >= TORN_SECOND)); // the seam is gone with the tear
        assert_string_equal(s.objects, "sheet");
    }
    assert_int_equal(read_obj("o/ball.obj").faces, 4);
    assert_int_equal(read_ply("p/ball.ply").faces, 4);
    assert_int_equal(read_ply("p/ball.ply").maps, 0);
}

static void ply_has_the_map_of_vertices(void** state)
{
    (void)state;
    export_well("run --to ply -o p");
    shape s = read_ply("p/sheet.0002.ply");
    const double wanted[8][2] = {{0, 0}, {0.5, 0}, {1, 0.5}, {0, 0.5}, {0.5, 0.5}, {1, 1}, {0.5, 0.5}, {0.5, 1}};
    assert_memory_equal(s.st, wanted, sizeof(wanted));
}

static void a_vertex_without_faces_leaves_the_map_of_the_others(void** state)
{
    (void)state;
    assert_int_equal(mkdir("loose", 0777), 0);
    test_text_write("loose", "sheet.obj",
                    "v 0 0 0\nv 9 9 9\nv 1 0 0\nv 1 1 0\nvt 0.25 0.25\nvt 1 0.25\nvt 1 1\nf 1/1 3/2 4/3\n");
    test_pc2_write("loose", "sheet.pc2", 4, 0.0f, 2);
    export_well("loose --to ply -o p");
    shape s = read_ply("p/sheet.0001.ply");
    const double wanted[4][2] = {{0.25, 0.25}, {0, 0}, {1, 0.25}, {1, 1}};
    assert_int_equal(s.maps, 4);
    assert_memory_equal(s.st, wanted, sizeof(wanted));
}

static void frames_rate_and_axes_are_chosen(void** state)
{
    (void)state;
    export_well("run --to mdd --frames 0:4 --every 2 -o a --body sheet");
    same_mdd("a/sheet.mdd", (choice){0, 2, 3, false}, 10.0);
    export_well("run --to mdd --frames 1:2 --fps 24 --up z -o b --body sheet");
    same_mdd("b/sheet.mdd", (choice){1, 1, 2, true}, 24.0);
    export_well("run --to pc2 --frames 3: -o c --up=z --body=sheet");
    same_pc2("c/sheet.pc2", (choice){3, 1, 2, true});
    export_well("run --to pc2 --frames :1 -o d.pc2 --body sheet");
    same_pc2("d.pc2", (choice){0, 1, 2, false});
    export_well("run --to obj --frames 1:4 --every 2 --up z -o e");
    shape s = read_obj("e/sheet.0003.obj");
    same_frame(&s, 3, true);
    assert_true(exists("e/sheet.0001.obj") && !exists("e/sheet.0002.obj") && !exists("e/sheet.0004.obj"));
    s = read_obj("e/ball.obj");
    same_point(s.x[3], (weft_vec3){0.25, -1, 0.25}, true);
    export_well("run --to ply --frames 2 --up z --body sheet -o f.ply");
    s = read_ply("f.ply");
    same_frame(&s, 2, true);
}

static void bodies_are_chosen(void** state)
{
    (void)state;
    export_well("run --to obj --body ball -o a");
    assert_true(exists("a/ball.obj") && !exists("a/sheet.0000.obj"));
    export_well("run --to pc2 --body ball --body sheet --body ball -o b");
    assert_true(said(".out", "of 2 bodies"));
    refused(2, "run --to obj --body shet -o c", "did you mean `sheet`");
    refused(2, "run --to pc2 -o c.pc2", "choose it with --body");
    refused(2, "run --to obj --body sheet -o c.obj", "--frames K:K");
    assert_false(exists("c") || exists("c.pc2") || exists("c.obj"));
}

// The bytes of a file; free()d by the caller.
static char* file_bytes(const char* path, size_t* size)
{
    FILE* file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *size = (size_t)ftell(file);
    rewind(file);
    char* bytes = malloc(*size + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    fclose(file);
    return bytes;
}

// The files of one frame, or the samples of a cache, are those of the whole, wherever the run is cut.
static void parts_are_the_whole(void** state)
{
    (void)state;
    static const char* const formats[] = {"obj", "ply", "vtp"};
    for (size_t f = 0; f < sizeof(formats) / sizeof(formats[0]); f++)
    {
        char words[128], a[64], b[64];
        static const char* const frames[] = {"0:4", "0:1", "2:4"};
        for (int part = 0; part < 3; part++)
        {
            snprintf(words, sizeof(words), "run --to %s --frames %s -o %s%d", formats[f], frames[part], formats[f], part);
            export_well(words);
        }
        for (int frame = 0; frame <= 4; frame++)
        {
            size_t size[2];
            snprintf(a, sizeof(a), "%s0/sheet.%04d.%s", formats[f], frame, formats[f]);
            snprintf(b, sizeof(b), "%s%d/sheet.%04d.%s", formats[f], frame < 2 ? 1 : 2, frame, formats[f]);
            char *whole = file_bytes(a, &size[0]), *piece = file_bytes(b, &size[1]);
            assert_int_equal(size[0], size[1]);
            assert_memory_equal(whole, piece, size[0]);
            free(whole);
            free(piece);
        }
    }
    assert_int_equal(mkdir("two", 0777), 0);
    test_text_write("two", "coat.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    test_pc2_write("two", "coat.pc2", 3, 0.0f, 5);
    export_well("two --to pc2 -o all.pc2");
    export_well("two --to pc2 --frames 0:2 -o left.pc2");
    export_well("two --to pc2 --frames 3: -o right.pc2");
    size_t size[3];
    char *all = file_bytes("all.pc2", &size[0]), *left = file_bytes("left.pc2", &size[1]),
         *right = file_bytes("right.pc2", &size[2]);
    const size_t head = 32;
    assert_int_equal(size[0] - head, size[1] - head + size[2] - head);
    assert_memory_equal(all + head, left + head, size[1] - head);
    assert_memory_equal(all + size[1], right + head, size[2] - head);
    free(all);
    free(left);
    free(right);
}

static void objects_keep_their_names(void** state)
{
    (void)state;
    assert_int_equal(mkdir("two", 0777), 0);
    test_text_write("two", "coat.obj",
                    "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nv 2 1 0\nv 2 2 0\no left sleeve\nf 1 2 3\no right\nf 4 5 6\n");
    test_pc2_write("two", "coat.pc2", 6, 0.0f, 2);
    export_well("two --to obj -o out");
    assert_string_equal(read_obj("out/coat.0001.obj").objects, "left sleeve right ");
    export_well("two --to pc2 -o cache");
    assert_string_equal(read_obj("cache/coat.obj").objects, "coat ");
}

// Text of numbers against the C library's.
static void numbers_come_back(void** state)
{
    (void)state;
    whole_file file;
    uint64_t counter = 0;
    static double values[40000];
    static export_text text;
    text.file = &file;
    assert_int_equal(whole_file_open(&file, "numbers", NULL), WEFT_OK);
    int count = 0;
    const double fixed[] = {0.0, -0.0, 1.0,   -1.0,  0.1,   9.99999999999, 0.99999999999, 1e-5,  9.9999999999e-6,
                            1e9, 1e10, 123.0, 1e-29, 1e-31, 3.4e38,        -2.5,          1e-30, 999999999.6};
    for (size_t k = 0; k < sizeof(fixed) / sizeof(fixed[0]); k++)
    {
        values[count++] = fixed[k];
    }
    while (count < 40000)
    {
        double size = pow(10.0, test_random(&counter, -12.0, 12.0));
        values[count++] = (double)(float)(test_random(&counter, -1.0, 1.0) * size);
    }
    for (int k = 0; k < count; k++)
    {
        export_text_number(&text, values[k]);
        export_text_put(&text, "\n");
    }
    export_text_flush(&text);
    assert_int_equal(whole_file_close(&file, NULL), WEFT_OK);
    FILE* in = fopen("numbers", "r");
    for (int k = 0; k < count; k++)
    {
        char line[64];
        assert_non_null(fgets(line, sizeof(line), in));
        double got = strtod(line, NULL), wanted = fabs(values[k]) < 1e-30 ? 0.0 : values[k];
        if (fabs(got - wanted) > 5.1e-9 * fabs(wanted) || ((float)wanted == wanted && (float)got != (float)wanted))
        {
            fail_msg("%.17g became %s", values[k], line);
        }
    }
    fclose(in);
}

static void benchmark_measures_every_binary_format(void** state)
{
    (void)state;
    assert_int_equal(test_shell(NULL, "\"$WEFT\" bench export --cells 10 --rounds 1 --json > .out"), 0);
    for (int k = 0; export_format_at(k); k++)
    {
        char words[64];
        snprintf(words, sizeof(words), "{\"format\":\"%s\",\"target\":", export_format_at(k)->name);
        assert_true(said(".out", words) == export_format_at(k)->binary);
    }
    assert_true(said(".out", "\"vertices\":121,"));
    assert_int_equal(test_shell(NULL, "ls | grep -q weft-bench"), 1);
    assert_int_equal(test_shell(NULL, "\"$WEFT\" bench export --dir none > .out 2> .err"), 3);
    assert_true(said(".err", "folder exists"));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, export_folder_make, export_folder_remove)
    const struct CMUnitTest tests[] = {
        T(point_caches_follow_the_last_topology),
        T(sequences_have_each_frames_topology),
        T(ply_has_the_map_of_vertices),
        T(a_vertex_without_faces_leaves_the_map_of_the_others),
        T(frames_rate_and_axes_are_chosen),
        T(bodies_are_chosen),
        T(parts_are_the_whole),
        T(objects_keep_their_names),
        T(numbers_come_back),
        T(benchmark_measures_every_binary_format),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
