// `weft bench sa-table1`, `sa-map` and `wrinkled` on tiny sheets: they measure what they say, go on where they were
// killed without measuring twice, write their files whole, and refuse what they do not understand.
#define _GNU_SOURCE
#include "common.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum
{
    TEXT_BYTES = 1 << 18
};

static char folder[256], text[TEXT_BYTES];

static int make_folder(void** unused)
{
    (void)unused;
    return test_folder(folder) ? 0 : -1;
}

static int remove_folder(void** unused)
{
    (void)unused;
    test_folder_remove(folder);
    return 0;
}

// The file's content in `text`; "" when there is none.
static size_t read_file(const char* name)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE* f = fopen(path, "rb");
    size_t size = f ? fread(text, 1, TEXT_BYTES - 1, f) : 0;
    text[size] = 0;
    if (f)
    {
        fclose(f);
    }
    return size;
}

// Exit status; standard output is in `text`.
static int bench(const char* arguments)
{
    char line[2048];
    snprintf(line, sizeof(line), "\"$WEFT\" bench %s > out.txt 2> err.txt", arguments);
    int status = test_shell(folder, line);
    read_file("out.txt");
    return status;
}

static int line_count(const char* name)
{
    int count = 0;
    read_file(name);
    for (const char* c = text; *c; c++)
    {
        count += *c == '\n';
    }
    return count;
}

static void assert_file_says(const char* name, const char* word)
{
    read_file(name);
    if (!strstr(text, word))
    {
        fail_msg("%s does not say `%s`", name, word);
    }
}

// A number of the log's line whose key holds both words.
static double number_of(const char* first, const char* second, const char* field)
{
    read_file("t.jsonl");
    for (char* line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
    {
        char name[64];
        snprintf(name, sizeof(name), "\"%s\":", field);
        char* at = strstr(line, name);
        if (strstr(line, first) && strstr(line, second) && at)
        {
            return strtod(at + strlen(name), NULL);
        }
    }
    return -1.0;
}

static const char table[] = "sa-table1 --cells 10,14 --steps 4 --scenes pinned,plane --tessellation irregular "
                            "--solvers sa-ppcg,diag-pcg,cholesky,auto --diag-every 2 --log t.jsonl";

static void test_table(void** unused)
{
    (void)unused;
    char line[1024];
    snprintf(line, sizeof(line), "%s --out page", table);
    assert_int_equal(bench(line), 0);
    assert_non_null(strstr(text, "pinned, irregular"));
    assert_non_null(strstr(text, "diag-pcg at 2 of 4"));
    assert_file_says("page/index.html", "</html>");
    assert_file_says("page/figure-6-irregular.svg", "</svg>");
    assert_file_says("page/figure-7-irregular.svg", "</svg>");
    assert_file_says("page/figure-8-irregular.svg", "plane");
    assert_file_says("page/figure-9-pinned-irregular.svg", "</svg>");
    // Two scenes, two sizes, four steps; per step three warm solvers and a cold one, diag-pcg at every second.
    assert_int_equal(line_count("page/table1.csv"), 1 + 2 * 2 * (4 * 4 + 2));
    // The traced solve passes its own stop at the iteration at which the timed one ends.
    double timed = number_of("pinned irregular cells=14 step=13 ", "as diag-pcg\"", "iterations");
    assert_true(timed > 0.0);
    assert_true(number_of("pinned irregular cells=14 step=13 ", "as trace\"", "diag_own") == timed);
    assert_true(number_of("pinned irregular cells=14 step=13 ", "as trace\"", "diag_energy") > 0.0);
}

// Cut in the middle of a line, as a kill leaves it: what is missing is measured, with the same iterations.
static void test_resume(void** unused)
{
    (void)unused;
    int lines = line_count("t.jsonl");
    double before = number_of("plane irregular cells=14 step=13 ", "as sa-ppcg from", "iterations");
    assert_int_equal(bench(table), 0);
    assert_int_equal(line_count("t.jsonl"), lines);
    char path[512];
    snprintf(path, sizeof(path), "%s/t.jsonl", folder);
    assert_int_equal(truncate(path, (long)read_file("t.jsonl") / 2), 0);
    assert_int_equal(bench(table), 0);
    assert_int_equal(line_count("t.jsonl"), lines + 1); // with the one that was cut
    assert_true(number_of("plane irregular cells=14 step=13 ", "as sa-ppcg from", "iterations") == before);
    char line[1024];
    snprintf(line, sizeof(line), "%s --json", table);
    assert_int_equal(bench(line), 0);
    assert_true(strncmp(text, "{\"benchmark\":\"sa-table1\"", 24) == 0);
    assert_null(strstr(text, "nan"));
}

static void test_map(void** unused)
{
    (void)unused;
    static const char map[] = "sa-map --cells 8,12 --steps 3 --parameters h,tolerance --out map";
    assert_int_equal(bench(map), 0);
    assert_non_null(strstr(text, "tolerance 1e-08"));
    assert_file_says("map/index.html", "</html>");
    assert_file_says("map/map.svg", "</svg>");
    assert_file_says("map/map-sizes.svg", "</svg>");
    assert_int_equal(line_count("map/map.csv"), 1 + 2 * (1 + 4 + 5));
    int lines = line_count("weft-bench-sa-map.jsonl");
    assert_int_equal(bench("sa-map --cells 8,12 --steps 3 --parameters h,tolerance --json"), 0);
    assert_true(strncmp(text, "{\"benchmark\":\"sa-map\"", 21) == 0);
    assert_int_equal(line_count("weft-bench-sa-map.jsonl"), lines);
}

static void test_wrinkled(void** unused)
{
    (void)unused;
    static const char some[] = "wrinkled --cells 12 --scenes twist --time-steps 5 --rounds 1";
    assert_int_equal(bench(some), 0);
    assert_non_null(strstr(text, "iterations: mean"));
    assert_int_equal(line_count("weft-bench-wrinkled.jsonl"), 9); // three moments, three solvers
    char line[256];
    snprintf(line, sizeof(line), "%s --json", some);
    assert_int_equal(bench(line), 0);
    assert_true(strncmp(text, "{\"benchmark\":\"wrinkled\"", 23) == 0);
    assert_null(strstr(text, "nan"));
    assert_int_equal(line_count("weft-bench-wrinkled.jsonl"), 9);
}

// A tube of 8 x 5 vertices, in decimetres.
static void write_tube(const char* name)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE* out = fopen(path, "w");
    assert_non_null(out);
    for (int k = 0; k < 40; k++)
    {
        double angle = 0.25 * 3.14159265358979 * (k % 8);
        fprintf(out, "v %.6f %d %.6f\n", 2.0 + 3.0 * cos(angle), 2 * (k / 8), 3.0 * sin(angle));
    }
    for (int k = 0; k < 32; k++)
    {
        int a = k + 1, b = k / 8 * 8 + (k + 1) % 8 + 1;
        fprintf(out, "f %d/1 %d/2 %d\nf %d %d %d\n", a, b, b + 8, a, b + 8, a + 8);
    }
    assert_int_equal(fclose(out), 0);
}

// Refined with each edge in three: 40 corners, 2 a side of 104, one in each of 64 triangles.
static void test_garment(void** unused)
{
    (void)unused;
    write_tube("tshirt1900.obj");
    assert_int_equal(bench("wrinkled --cells 12 --scenes tshirt --garments . --write --log garment.jsonl"), 0);
    assert_string_equal(text, "tshirt-12.json\n");
    assert_int_equal(line_count("garment.jsonl"), 0);
    assert_int_equal(
        bench("wrinkled --cells 12 --scenes tshirt --garments . --bendings hinge --time-steps 5 --rounds 1 "
              "--log garment.jsonl"),
        0);
    assert_non_null(strstr(text, "tshirt         hinge"));
    assert_non_null(strstr(text, "     312 "));
    assert_int_equal(line_count("garment.jsonl"), 9);
    assert_int_equal(line_count("tshirt-12.obj"), 312 + 9 * 64);
}

static void test_refusals(void** unused)
{
    (void)unused;
    static const char* const lines[][2] = {
        {"sa-table1 --cells x", "--cells"},
        {"wrinkled --scenes dress", "--garments"},
        {"sa-table1 --cells 1", "--cells"},
        {"sa-table1 --scenes nowhere", "nowhere"},
        {"sa-table1 --keep x", "--keep"},
        {"sa-table1 --set sa.theta=7", "theta"},
        {"sa-map --cells 20,10", "grow"},
        {"sa-map --steps 1", "--steps"},
        {"sa-map --scene pinned,drooping", "one scene"},
        {"sa-map --parameters h,mass", "--parameters"},
    };
    for (size_t k = 0; k < sizeof(lines) / sizeof(lines[0]); k++)
    {
        int code = bench(lines[k][0]);
        assert_string_equal(text, "");
        read_file("err.txt");
        if (code != 2 || !strstr(text, lines[k][1]))
        {
            fail_msg("`weft bench %s`: exit %d, `%s`", lines[k][0], code, text);
        }
    }
    // Files that cannot be written are a failure, not a crash.
    assert_int_equal(bench("sa-map --cells 8,12 --steps 3 --parameters h,tolerance --out out.txt/x"), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_table),    cmocka_unit_test(test_resume),
                                       cmocka_unit_test(test_wrinkled), cmocka_unit_test(test_garment),
                                       cmocka_unit_test(test_map),      cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
