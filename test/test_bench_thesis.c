// `weft bench thesis-guess`, `thesis-preconditioner`, `thesis-decomposition`, `thesis-damping` and `thesis-total` on
// tiny sheets: they measure, go on where they stopped without measuring twice, write their files with seed and share in
// them, and refuse what they do not understand.
#include "common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum
{
    TEXT_BYTES = 1 << 16
};

static char folder[256], text[TEXT_BYTES];

static const char* read_file(const char* name)
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
    return text;
}

static int bench(const char* name, const char* options)
{
    char line[512];
    snprintf(line, sizeof(line),
             "\"$WEFT\" bench %s --cells-max 5 --sets 20 --share 0.1 --seconds 0.2 --rounds 1 --energy-every 3 %s > "
             "out.txt 2> err.txt",
             name, options);
    return test_shell(folder, line);
}

static void test_benchmarks(void** unused)
{
    (void)unused;
    static const char* const names[] = {"thesis-guess", "thesis-preconditioner", "thesis-decomposition"};
    test_folder(folder);
    for (int k = 0; k < 3; k++)
    {
        char file[64];
        assert_int_equal(bench(names[k], "--out o --scenes corners,ground --seed 7"), 0);
        assert_non_null(strstr(read_file("err.txt"), "ground, set 1"));
        assert_non_null(strstr(read_file("out.txt"), "ground"));
        snprintf(file, sizeof(file), "o/%s.csv", names[k]);
        assert_non_null(strstr(read_file(file), "\n7,0.1,corners,0,"));
        snprintf(file, sizeof(file), "o/%s-corners-kappa.svg", names[k]);
        assert_non_null(strstr(read_file(file), "share 0.1"));
        // The log has it all.
        assert_int_equal(bench(names[k], "--scenes corners,ground --seed 7 --json"), 0);
        assert_string_equal(read_file("err.txt"), "");
        assert_non_null(strstr(read_file("out.txt"), "\"seed\":7,\"share\":0.1"));
        assert_int_equal(bench(names[k], "--scenes corner"), 2);
        assert_int_equal(bench(names[k], "--side 99"), 2);
    }
    test_folder_remove(folder);
}

static int bench_other(const char* options)
{
    char line[512];
    snprintf(line, sizeof(line), "\"$WEFT\" bench %s > out.txt 2> err.txt", options);
    return test_shell(folder, line);
}

// Plain dampers take what the undamped sheet keeps; on eight cells, which hardly turn as they fall, they do not yet.
static void test_damping(void** unused)
{
    (void)unused;
    test_folder(folder);
    assert_int_equal(bench_other("thesis-damping --cells 20 --seconds 0.4 --out o"), 0);
    assert_non_null(strstr(read_file("err.txt"), "undamped\nplain\nprojected\n"));
    assert_non_null(strstr(read_file("o/thesis-damping.csv"), "\nplain,0.1,20,0.01,1e-06,0.4,"));
    assert_non_null(strstr(read_file("o/thesis-damping-internal.svg"), "projected"));
    assert_int_equal(bench_other("thesis-damping --cells 20 --seconds 0.4 --json"), 0);
    assert_string_equal(read_file("err.txt"), "");
    double lost[3];
    const char* at = read_file("out.txt");
    for (int k = 0; k < 3; k++)
    {
        at = strstr(at, "\"lost\":");
        assert_non_null(at);
        at += strlen("\"lost\":");
        lost[k] = strtod(at, NULL);
    }
    assert_true(lost[1] > lost[0] && lost[1] > lost[2]);
    assert_int_equal(bench_other("thesis-damping --step 0"), 2);
    assert_int_equal(bench_other("thesis-damping --plain -1"), 2);
    test_folder_remove(folder);
}

static void test_total(void** unused)
{
    (void)unused;
    static const char* const rows[] = {"original",     "+ guess", "+ constrained",  "+ aimex",
                                       "+ decomposed", "auto",    "auto, triangles"};
    test_folder(folder);
    assert_int_equal(bench_other("thesis-total --sizes 64 --seconds 0.1 --rounds 1 --out o"), 0);
    assert_non_null(strstr(read_file("err.txt"), "tube, 64 particles"));
    for (int k = 0; k < 7; k++)
    {
        assert_non_null(strstr(read_file("o/thesis-total.csv"), rows[k]));
    }
    assert_null(strstr(read_file("out.txt"), "FAILED"));
    assert_int_equal(bench_other("thesis-total --sizes 64 --seconds 0.1 --rounds 1 --json"), 0);
    assert_string_equal(read_file("err.txt"), "");
    assert_non_null(strstr(read_file("out.txt"), "\"in_all\":"));
    assert_int_equal(bench_other("thesis-total --scenes corner"), 2);
    assert_int_equal(bench_other("thesis-total --sizes 4"), 2);
    assert_int_equal(bench_other("thesis-total --tolerance 2"), 2);
    test_folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_benchmarks), cmocka_unit_test(test_damping),
                                       cmocka_unit_test(test_total)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
