// PC2 files: round trip, files cut at every byte, order of writing, failing and interrupted writes, damaged headers;
// and the reader of a run's folder.
#define _GNU_SOURCE
#include "common.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mesh/pc2_file.h"
#include "weft/cache.h"

enum
{
    POINTS = 5,
    SAMPLES = 3,
    HEADER = 32,
    SAMPLE_BYTES = 12 * POINTS
};

// ---- a pwrite that can go wrong on request, in place of the C library's
static struct
{
    int fail_at;    // which call fails, counted from 1; 0: none
    int fail_with;  // errno
    bool interrupt; // every other call is interrupted
    bool dribble;   // no more than 7 bytes a call
    int calls;
    off_t offsets[64]; // of the first calls
} fault;

ssize_t pwrite(int file, const void* bytes, size_t size, off_t offset)
{
    fault.calls++;
    if (fault.calls <= 64)
    {
        fault.offsets[fault.calls - 1] = offset;
    }
    if (fault.calls == fault.fail_at)
    {
        errno = fault.fail_with;
        return -1;
    }
    if (fault.interrupt && fault.calls % 2 == 1)
    {
        errno = EINTR;
        return -1;
    }
    return syscall(SYS_pwrite64, file, bytes, fault.dribble && size > 7 ? 7 : size, offset);
}

// ---- a folder for each test

static char folder[256];
static char file_path[512];

static int make_folder(void** state)
{
    (void)state;
    memset(&fault, 0, sizeof(fault));
    if (!test_folder(folder))
    {
        return -1;
    }
    snprintf(file_path, sizeof(file_path), "%s/sheet.pc2", folder);
    return 0;
}

static const char* in_folder(const char* name)
{
    static char path[512];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static int remove_folder(void** state)
{
    (void)state;
    static const char* const names[] = {"sheet.pc2", "sheet.obj", "a.obj",    "a.pc2",
                                        "b.obj",     "b.pc2",     "lone.pc2", "scene.json"};
    for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
    {
        unlink(in_folder(names[k]));
    }
    return rmdir(folder);
}

// ---- samples

static vec3 point_at(int sample, int point)
{
    return v3(sample + 0.25 * point, -1.5 * point, 0.125 * sample * point);
}

static void fill_sample(int sample, vec3* out)
{
    for (int k = 0; k < POINTS; k++)
    {
        out[k] = point_at(sample, k);
    }
}

static void write_samples(int count)
{
    pc2* cache;
    vec3 sample[POINTS];
    assert_int_equal(pc2_create(file_path, POINTS, 0.0f, &cache, NULL), WEFT_OK);
    for (int k = 0; k < count; k++)
    {
        fill_sample(k, sample);
        assert_int_equal(pc2_append(cache, sample, NULL), WEFT_OK);
    }
    assert_int_equal(pc2_sample_count(cache), count);
    assert_int_equal(pc2_close(cache, NULL), WEFT_OK);
}

static void check_samples(const pc2* cache, int count)
{
    assert_int_equal(pc2_point_count(cache), POINTS);
    assert_int_equal(pc2_sample_count(cache), count);
    vec3 sample[POINTS];
    for (int k = 0; k < count; k++)
    {
        assert_int_equal(pc2_read(cache, k, sample, NULL), WEFT_OK);
        for (int p = 0; p < POINTS; p++)
        {
            vec3 expected = point_at(k, p);
            assert_memory_equal(&sample[p], &expected, sizeof(vec3)); // all of them are floats
        }
    }
}

static void check_file(int count)
{
    pc2* cache;
    assert_int_equal(pc2_open(file_path, &cache, NULL), WEFT_OK);
    check_samples(cache, count);
    assert_int_equal(pc2_close(cache, NULL), WEFT_OK);
}

static long file_size(void)
{
    struct stat info;
    assert_int_equal(stat(file_path, &info), 0);
    return (long)info.st_size;
}

static void put_bytes(long offset, const void* bytes, size_t size)
{
    int file = open(file_path, O_WRONLY);
    assert_true(file >= 0);
    assert_int_equal(syscall(SYS_pwrite64, file, bytes, size, (off_t)offset), (long)size);
    close(file);
}

// ---- tests

static void test_round_trip(void** state)
{
    (void)state;
    write_samples(SAMPLES);
    check_file(SAMPLES);
}

static void test_layout(void** state)
{
    (void)state;
    write_samples(2);
    const unsigned char expected[HEADER] = {'P', 'O', 'I', 'N', 'T',  'C',    'A', 'C', 'H', 'E', '2',
                                            0,   1,   0,   0,   0,    POINTS, 0,   0,   0,   0,   0,
                                            0,   0,   0,   0,   0x80, 0x3f,   2,   0,   0,   0};
    unsigned char header[HEADER], one[4];
    int file = open(file_path, O_RDONLY);
    assert_int_equal(pread(file, header, HEADER, 0), HEADER);
    assert_memory_equal(header, expected, HEADER);
    assert_int_equal(pread(file, one, 4, HEADER + SAMPLE_BYTES), 4); // x of point 0 of sample 1: 1.0f
    assert_memory_equal(one, "\0\0\x80\x3f", 4);
    close(file);
    assert_int_equal(file_size(), HEADER + 2 * SAMPLE_BYTES);
}

static void test_many_points(void** state)
{
    (void)state;
    enum
    {
        MANY = 10000 // more than one chunk
    };
    vec3* sample = calloc(MANY, sizeof(vec3));
    vec3* back = calloc(MANY, sizeof(vec3));
    for (int k = 0; k < MANY; k++)
    {
        sample[k] = v3(k, 0.5 * k, -k);
    }
    pc2* cache;
    assert_int_equal(pc2_create(file_path, MANY, 0.0f, &cache, NULL), WEFT_OK);
    assert_int_equal(pc2_append(cache, sample, NULL), WEFT_OK);
    assert_int_equal(pc2_read(cache, 0, back, NULL), WEFT_OK);
    assert_memory_equal(sample, back, MANY * sizeof(vec3));
    assert_int_equal(pc2_close(cache, NULL), WEFT_OK);
    free(sample);
    free(back);
}

// At every length, reading finds exactly the whole samples, and appending goes on from there.
static void test_cut_at_every_byte(void** state)
{
    (void)state;
    for (long length = HEADER + SAMPLES * SAMPLE_BYTES; length >= 0; length--)
    {
        write_samples(SAMPLES);
        assert_int_equal(truncate(file_path, length), 0);
        pc2* cache;
        if (length < HEADER)
        {
            weft_error error;
            assert_int_equal(pc2_open(file_path, &cache, &error), WEFT_BAD_INPUT);
            assert_string_equal(error.file, file_path);
            assert_int_equal(pc2_open_append(file_path, POINTS, &cache, NULL), WEFT_BAD_INPUT);
            continue;
        }
        int whole = (int)((length - HEADER) / SAMPLE_BYTES);
        check_file(whole);

        vec3 sample[POINTS];
        assert_int_equal(pc2_open_append(file_path, POINTS, &cache, NULL), WEFT_OK);
        assert_int_equal(pc2_sample_count(cache), whole);
        fill_sample(whole, sample);
        assert_int_equal(pc2_append(cache, sample, NULL), WEFT_OK);
        assert_int_equal(pc2_close(cache, NULL), WEFT_OK);
        check_file(whole + 1);
        assert_int_equal(file_size(), HEADER + (whole + 1) * SAMPLE_BYTES);
    }
}

static void test_count_follows_sample(void** state)
{
    (void)state;
    pc2* cache;
    vec3 sample[POINTS];
    assert_int_equal(pc2_create(file_path, POINTS, 0.0f, &cache, NULL), WEFT_OK);
    fill_sample(0, sample);
    memset(&fault, 0, sizeof(fault));
    assert_int_equal(pc2_append(cache, sample, NULL), WEFT_OK);
    assert_int_equal(fault.calls, 2);
    assert_int_equal(fault.offsets[0], HEADER);
    assert_int_equal(fault.offsets[1], 28);
    pc2_close(cache, NULL);
}

// Bytes of a sample that the header does not count yet are not there for a reader.
static void test_uncounted_sample(void** state)
{
    (void)state;
    write_samples(SAMPLES);
    const unsigned char two[4] = {2, 0, 0, 0};
    put_bytes(28, two, 4);
    check_file(2);
}

static void test_cut_and_append(void** state)
{
    (void)state;
    write_samples(SAMPLES);
    pc2* cache;
    assert_int_equal(pc2_open_append(file_path, POINTS, &cache, NULL), WEFT_OK);
    assert_int_equal(pc2_cut(cache, 1, NULL), WEFT_OK);
    assert_int_equal(file_size(), HEADER + SAMPLE_BYTES);
    check_file(1);
    vec3 sample[POINTS];
    fill_sample(1, sample);
    assert_int_equal(pc2_append(cache, sample, NULL), WEFT_OK);
    check_samples(cache, 2);
    assert_int_equal(pc2_cut(cache, 0, NULL), WEFT_OK);
    assert_int_equal(pc2_close(cache, NULL), WEFT_OK);
    check_file(0);
}

static void test_disk_full(void** state)
{
    (void)state;
    for (int call = 1; call <= 2; call++) // in the sample, in the count
    {
        write_samples(2);
        pc2* cache;
        vec3 sample[POINTS];
        fill_sample(2, sample);
        assert_int_equal(pc2_open_append(file_path, POINTS, &cache, NULL), WEFT_OK);
        memset(&fault, 0, sizeof(fault));
        fault.fail_at = call;
        fault.fail_with = ENOSPC;
        weft_error error;
        assert_int_equal(pc2_append(cache, sample, &error), WEFT_DISK_FULL);
        assert_string_equal(error.file, file_path);
        check_file(2);
        assert_int_equal(file_size(), HEADER + 2 * SAMPLE_BYTES);
        // Room again: it goes on.
        assert_int_equal(pc2_append(cache, sample, NULL), WEFT_OK);
        pc2_close(cache, NULL);
        check_file(3);
    }
}

static void test_other_failures(void** state)
{
    (void)state;
    pc2* cache;
    fault.fail_at = 1;
    fault.fail_with = EIO;
    assert_int_equal(pc2_create(file_path, POINTS, 0.0f, &cache, NULL), WEFT_IO);
    assert_int_equal(pc2_create("/nonexistent-folder/x.pc2", POINTS, 0.0f, &cache, NULL), WEFT_NOT_FOUND);
    assert_int_equal(pc2_open("/nonexistent-folder/x.pc2", &cache, NULL), WEFT_NOT_FOUND);
    assert_int_equal(pc2_open(folder, &cache, NULL), WEFT_BAD_INPUT);
    assert_int_equal(pc2_close(NULL, NULL), WEFT_OK);
}

static void test_short_and_interrupted_writes(void** state)
{
    (void)state;
    fault.dribble = true;
    fault.interrupt = true;
    write_samples(SAMPLES);
    check_file(SAMPLES);
}

static void test_garbage_header(void** state)
{
    (void)state;
    static const struct
    {
        long offset;
        unsigned char bytes[4];
    } damages[] = {
        {0, {'X', 'O', 'I', 'N'}},
        {8, {0, 0, 0, 0}},
        {12, {2, 0, 0, 0}}, // magic, version
        {16, {0, 0, 0, 0}},
        {16, {0xff, 0xff, 0xff, 0xff}}, // points
        {28, {0xff, 0xff, 0xff, 0xff}}, // samples
    };
    for (size_t k = 0; k < sizeof(damages) / sizeof(damages[0]); k++)
    {
        write_samples(1);
        put_bytes(damages[k].offset, damages[k].bytes, 4);
        pc2* cache;
        assert_int_equal(pc2_open(file_path, &cache, NULL), WEFT_BAD_INPUT);
        assert_int_equal(pc2_open_append(file_path, POINTS, &cache, NULL), WEFT_BAD_INPUT);
    }
    // Counts are shown as the signed numbers that they look like, with a remedy.
    weft_error error = {0};
    pc2* damaged;
    write_samples(1);
    put_bytes(28, (const unsigned char[4]){0xfb, 0xff, 0xff, 0xff}, 4);
    assert_int_equal(pc2_open(file_path, &damaged, &error), WEFT_BAD_INPUT);
    assert_non_null(strstr(error.message, "damaged"));
    assert_non_null(strstr(error.message, "-5 samples; export it"));
    // More points or samples than the file holds: none are there.
    write_samples(1);
    put_bytes(16, (const unsigned char[4]){0xff, 0xff, 0xff, 0x7f}, 4);
    pc2* cache;
    assert_int_equal(pc2_open(file_path, &cache, NULL), WEFT_OK);
    assert_int_equal(pc2_sample_count(cache), 0);
    pc2_close(cache, NULL);
    assert_int_equal(pc2_open_append(file_path, POINTS, &cache, NULL), WEFT_BAD_INPUT);
}

// ---- the run's folder

static void write_text(const char* name, const char* text)
{
    FILE* file = fopen(in_folder(name), "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void write_body(const char* name, int samples)
{
    char with_ending[64];
    snprintf(with_ending, sizeof(with_ending), "%s.obj", name);
    write_text(with_ending, "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 2 0 0\nf 1 2 3 4\nf 2 5 3\n");
    snprintf(with_ending, sizeof(with_ending), "%s.pc2", name);
    snprintf(file_path, sizeof(file_path), "%s/%s", folder, with_ending);
    write_samples(samples);
}

static void test_reader(void** state)
{
    (void)state;
    write_body("a", 3);
    write_body("b", 2); // still being written
    write_text("lone.pc2", "not a body, since it has no mesh");
    write_text("scene.json", "{\"time_step\": 0.005, \"steps_per_frame\": 10,"
                             " \"cloth\": [{\"name\": \"b\"}, {\"name\": \"../x\"}, {\"name\": \"a\"}]}");
    weft_cache* cache;
    assert_int_equal(weft_cache_open(folder, &cache, NULL), WEFT_OK);
    assert_int_equal(weft_cache_body_count(cache), 2);
    assert_int_equal(weft_cache_frame_count(cache), 2);
    assert_true(fabs(weft_cache_frame_rate(cache) - 20.0) < 1e-9);
    const weft_cache_body* body = weft_cache_body_at(cache, 0);
    assert_string_equal(body->name, "b");
    assert_string_equal(weft_cache_body_at(cache, 1)->name, "a");
    assert_int_equal(body->vertex_count, POINTS);
    assert_int_equal(body->face_count, 2);
    assert_int_equal(body->triangle_count, 3);
    vec3 positions[POINTS], expected[POINTS];
    assert_int_equal(weft_cache_read_frame(cache, 1, 1, positions, NULL), WEFT_OK);
    fill_sample(1, expected);
    assert_memory_equal(positions, expected, sizeof(expected));
    assert_int_equal(weft_cache_read_frame(cache, 1, 2, positions, NULL), WEFT_NOT_FOUND);
    weft_cache_close(cache);
}

static void test_reader_without_scene(void** state)
{
    (void)state;
    write_body("b", 1);
    write_body("a", 1);
    write_text("scene.json", "{ cut short");
    weft_cache* cache;
    assert_int_equal(weft_cache_open(folder, &cache, NULL), WEFT_OK);
    assert_string_equal(weft_cache_body_at(cache, 0)->name, "a");
    assert_true(weft_cache_frame_rate(cache) == 25.0);
    weft_cache_close(cache);
}

static void test_reader_refuses(void** state)
{
    (void)state;
    weft_cache* cache;
    weft_error error;
    assert_int_equal(weft_cache_open("/nonexistent-folder", &cache, &error), WEFT_NOT_FOUND);
    assert_int_equal(weft_cache_open(folder, &cache, &error), WEFT_BAD_INPUT);
    assert_non_null(strstr(error.message, "weft run"));
    write_body("a", 1);
    write_text("a.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nf 1 2 3\n"); // of another run
    assert_int_equal(weft_cache_open(folder, &cache, &error), WEFT_BAD_INPUT);
    write_body("a", 1);
    write_text("a.obj", "v 0 0\nf 1 2 9\n");
    assert_int_equal(weft_cache_open(folder, &cache, &error), WEFT_BAD_INPUT);
    weft_cache_close(NULL);
}

// A sparse file: of 400 samples of a million points only the last are there.
static void test_beyond_four_gigabytes(void** state)
{
    (void)state;
    enum
    {
        MANY = 1 << 20,
        LAST = 400
    };
    const off_t sample_bytes = 12 * (off_t)MANY;
    vec3* x = calloc(MANY, sizeof(vec3));
    pc2* cache;
    int32_t count = LAST;
    assert_int_equal(pc2_create(file_path, MANY, 0.0f, &cache, NULL), WEFT_OK);
    assert_int_equal(pc2_close(cache, NULL), WEFT_OK);
    assert_int_equal(truncate(file_path, HEADER + LAST * sample_bytes), 0);
    int file = open(file_path, O_WRONLY);
    assert_int_equal(pwrite(file, &count, sizeof(count), 28), sizeof(count));
    close(file);
    x[MANY - 1] = v3(1, 2, 3);
    assert_int_equal(pc2_open_append(file_path, MANY, &cache, NULL), WEFT_OK);
    assert_int_equal(pc2_sample_count(cache), LAST);
    assert_int_equal(pc2_append(cache, x, NULL), WEFT_OK);
    assert_int_equal(pc2_close(cache, NULL), WEFT_OK);
    struct stat info;
    assert_int_equal(stat(file_path, &info), 0);
    assert_true(info.st_size == HEADER + (LAST + 1) * sample_bytes && info.st_size > (off_t)1 << 32);
    vec3 end[2];
    assert_int_equal(pc2_open(file_path, &cache, NULL), WEFT_OK);
    assert_int_equal(pc2_read_points(cache, LAST, MANY - 2, 2, end, NULL), WEFT_OK);
    assert_true(end[0].x == 0 && end[1].x == 1 && end[1].y == 2 && end[1].z == 3);
    assert_int_equal(pc2_read_points(cache, LAST - 1, MANY - 2, 2, end, NULL), WEFT_OK);
    assert_true(end[1].x == 0);
    assert_int_equal(pc2_close(cache, NULL), WEFT_OK);
    assert_int_equal(pc2_open_append(file_path, MANY, &cache, NULL), WEFT_OK);
    assert_int_equal(pc2_cut(cache, LAST - 1, NULL), WEFT_OK);
    assert_int_equal(pc2_close(cache, NULL), WEFT_OK);
    assert_int_equal(stat(file_path, &info), 0);
    assert_true(info.st_size == HEADER + (LAST - 1) * sample_bytes);
    free(x);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        TEST(test_round_trip),
        TEST(test_layout),
        TEST(test_many_points),
        TEST(test_cut_at_every_byte),
        TEST(test_count_follows_sample),
        TEST(test_uncounted_sample),
        TEST(test_cut_and_append),
        TEST(test_disk_full),
        TEST(test_other_failures),
        TEST(test_short_and_interrupted_writes),
        TEST(test_garbage_header),
        TEST(test_reader),
        TEST(test_reader_without_scene),
        TEST(test_reader_refuses),
        TEST(test_beyond_four_gigabytes),
    };
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
