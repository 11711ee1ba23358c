// Linear systems as files: round trips to the bit, defaults, exactly rounded numbers, and files that are cut, wrong or
// hostile: each gets a sentence, none a crash.
#define _GNU_SOURCE
#include "common.h"

#include <dirent.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "solve/system.h"

static char folder[256], prefix[300];

static int make_folder(void** state)
{
    (void)state;
    if (!test_folder(folder))
    {
        return -1;
    }
    snprintf(prefix, sizeof(prefix), "%s/s", folder);
    return 0;
}

static int file_count(void)
{
    int count = 0;
    DIR* d = opendir(folder);
    for (struct dirent* e; (e = readdir(d));)
    {
        count += e->d_name[0] != '.';
    }
    closedir(d);
    return count;
}

static int empty_folder(void** state)
{
    (void)state;
    DIR* d = opendir(folder);
    for (struct dirent* e; (e = readdir(d));)
    {
        char path[600];
        snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
        if (e->d_name[0] != '.')
        {
            remove(path);
        }
    }
    closedir(d);
    return 0;
}

static int remove_folder(void** state)
{
    empty_folder(state);
    return rmdir(folder);
}

static void put_bytes(const char* ending, const void* bytes, size_t size)
{
    char path[400];
    snprintf(path, sizeof(path), "%s%s", prefix, ending);
    FILE* f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    fclose(f);
}

static void put_text(const char* ending, const char* text)
{
    put_bytes(ending, text, strlen(text));
}

static char* get_bytes(const char* ending, size_t* size)
{
    char path[400];
    snprintf(path, sizeof(path), "%s%s", prefix, ending);
    FILE* f = fopen(path, "rb");
    assert_non_null(f);
    char* bytes = malloc(1 << 20);
    *size = fread(bytes, 1, 1 << 20, f);
    fclose(f);
    return bytes;
}

static double random_signed(uint64_t index)
{
    return 2.0 * random_unit(99, index) - 1.0;
}

enum
{
    N = 5
};

// A ring of five vertices with everything that a system may carry. `skew` is added to one entry only.
static weft_system* make_system(bool full, double skew)
{
    int row_start[N + 1] = {0}, column[3 * N];
    double values[27 * N], S[9 * N], kernel[3 * N * 2];
    vec3 b[N], z[N], positions[N];
    for (int i = 0; i < N; i++)
    {
        row_start[i + 1] = 3 * (i + 1);
        int neighbors[3] = {(i + 1) % N, i, (i + N - 1) % N}; // not sorted
        for (int k = 0; k < 3; k++)
        {
            int j = neighbors[k];
            column[3 * i + k] = j;
            for (int e = 0; e < 9; e++)
            {
                int r = 3 * i + e / 3, c = 3 * j + e % 3;
                double v = random_signed((uint64_t)(r < c ? 100 * c + r : 100 * r + c));
                values[9 * (3 * i + k) + e] = r == c ? 7.0 + v : v * 1e-3;
            }
        }
        b[i] = v3(random_signed(1000 + (uint64_t)i), 1e-300, -0.0);
        z[i] = v3(random_signed(2000 + (uint64_t)i), 1.0 / 3.0, 5e-324);
        positions[i] = v3(1e17 * random_signed(3000 + (uint64_t)i), i, 0.1);
        vec3 d[3] = {{random_signed(1), 0.5, (double)i}, {1, random_signed(2), 0}, {0, 0, 1}};
        filter_record record = filter_record_make(i, d, i % 4);
        memcpy(S + 9 * i, record.S, sizeof(record.S));
    }
    for (int k = 0; k < 3 * N * 2; k++)
    {
        kernel[k] = random_signed(5000 + (uint64_t)k);
    }
    values[1] += skew;
    const int tie_start[4] = {0, 3, 3, 5}, tie_unknown[5] = {7, 0, 3 * N - 1, 1, 2}; // not sorted, and an empty row
    const double tie_value[5] = {1.0, -1.0 / 3.0, 1e-300, random_signed(1), -2.0};
    weft_system_def def = {.vertex_count = N, .row_start = row_start, .column = column, .values = values};
    if (full)
    {
        def.b = b;
        def.z = z;
        def.filter = S;
        def.kernel = kernel;
        def.kernel_count = 2;
        def.positions = positions;
        def.tie_count = 3;
        def.tie_start = tie_start;
        def.tie_unknown = tie_unknown;
        def.tie_value = tie_value;
    }
    weft_system* system;
    weft_error error;
    if (weft_system_create(&def, &system, &error) != WEFT_OK)
    {
        fail_msg("%s", error.message);
    }
    return system;
}

static void assert_same_bytes(const void* a, const void* b, size_t size)
{
    assert_true((a == NULL) == (b == NULL));
    if (a)
    {
        assert_memory_equal(a, b, size);
    }
}

static void assert_same_system(const weft_system* a, const weft_system* b)
{
    assert_int_equal(a->pattern.row_count, b->pattern.row_count);
    assert_int_equal(a->pattern.block_count, b->pattern.block_count);
    size_t n = (size_t)a->pattern.row_count, blocks = (size_t)a->pattern.block_count;
    assert_same_bytes(a->pattern.row_start, b->pattern.row_start, (n + 1) * sizeof(int));
    assert_same_bytes(a->pattern.column, b->pattern.column, blocks * sizeof(int));
    assert_same_bytes(a->pattern.diagonal, b->pattern.diagonal, n * sizeof(int));
    assert_same_bytes(a->values, b->values, 9 * blocks * sizeof(double));
    assert_same_bytes(a->b, b->b, n * sizeof(vec3));
    assert_same_bytes(a->z, b->z, n * sizeof(vec3));
    assert_same_bytes(a->positions, b->positions, n * sizeof(vec3));
    assert_int_equal(a->kernel_count, b->kernel_count);
    assert_same_bytes(a->kernel, b->kernel, 3 * n * (size_t)a->kernel_count * sizeof(double));
    assert_int_equal(a->filter_count, b->filter_count);
    for (int k = 0; k < a->filter_count; k++)
    {
        assert_int_equal(a->filter[k].vertex, b->filter[k].vertex);
        assert_int_equal(a->filter[k].direction_count, b->filter[k].direction_count);
        assert_memory_equal(a->filter[k].S, b->filter[k].S, sizeof(a->filter[k].S));
    }
    assert_int_equal(weft_system_tie_count(a), weft_system_tie_count(b));
    size_t entries = a->tie_count > 0 ? (size_t)a->tie_start[a->tie_count] : 0;
    assert_same_bytes(a->tie_start, b->tie_start, ((size_t)a->tie_count + 1) * sizeof(int));
    assert_same_bytes(a->tie_unknown, b->tie_unknown, entries * sizeof(int));
    assert_same_bytes(a->tie_value, b->tie_value, entries * sizeof(double));
}

static weft_system* read_good(void)
{
    weft_system* system = NULL;
    weft_error error;
    if (weft_system_read(prefix, &system, &error) != WEFT_OK)
    {
        fail_msg("%s:%d: %s", error.file, error.line, error.message);
    }
    return system;
}

static void test_round_trips(void** state)
{
    empty_folder(state);
    for (int kind = 0; kind < 8; kind++)
    {
        // With an entry that differs from its mirror image in the last bits, the file must be a general one.
        weft_system* system = make_system(kind & 1, kind & 2 ? 1e-12 : 0.0);
        weft_error error;
        assert_int_equal(weft_system_write(system, prefix, kind & 4, &error), WEFT_OK);
        weft_system* back = read_good();
        assert_same_system(system, back);
        weft_system_destroy(system);
        weft_system_destroy(back);
        empty_folder(state);
    }
}

// Writing a system with less to say must not leave files of the one before.
static void test_rewriting_removes_what_is_gone(void** state)
{
    empty_folder(state);
    weft_system *full = make_system(true, 0.0), *bare = make_system(false, 0.0);
    assert_int_equal(weft_system_write(full, prefix, 0, NULL), WEFT_OK);
    assert_int_equal(file_count(), 7);
    assert_int_equal(weft_system_write(bare, prefix, 0, NULL), WEFT_OK);
    assert_int_equal(file_count(), 2);
    weft_system* back = read_good();
    assert_same_system(bare, back);
    weft_system_destroy(back);

    // The binary file is preferred.
    assert_int_equal(weft_system_write(full, prefix, 1, NULL), WEFT_OK);
    back = read_good();
    assert_same_system(full, back);
    weft_system_destroy(back);
    weft_system_destroy(full);
    weft_system_destroy(bare);
}

static void test_defaults_and_other_spellings(void** state)
{
    empty_folder(state);
    put_text(".mtx",
             "%%matrixmarket MATRIX Coordinate Integer GENERAL\r\n% a comment\r\n\r\n3 3 5\r\n 1 1 4\r\n2 2\t5 \r\n"
             "% in between\n3 3 6\n1 2 1\n2 1 +1.0e0");
    weft_system* system = read_good();
    assert_int_equal(weft_system_vertex_count(system), 1);
    const double expected[9] = {4, 1, 0, 1, 5, 0, 0, 0, 6};
    assert_memory_equal(system->values, expected, sizeof(expected));
    assert_true(system->b[0].x == 1.0 && system->b[0].y == 1.0 && system->b[0].z == 1.0);
    assert_null(system->z);
    assert_int_equal(system->filter_count, 0);
    weft_system_destroy(system);

    // Ties without entries say nothing.
    put_text("_ties.mtx", "%%MatrixMarket matrix coordinate real general\n0 3 0\n");
    weft_system_destroy(read_good());
}

// Numbers must be those of the C library, digit by digit and tie by tie.
static void test_numbers_are_exactly_rounded(void** state)
{
    empty_folder(state);
    enum
    {
        COUNT = 30000
    };
    const char* formats[] = {"%.17g\n", "%.16e\n", "%.3f\n", "%.25g\n", "%.0f\n", "%g\n"};
    const char* special[] = {"9007199254740993\n",
                             "9007199254740992.5\n",
                             "18446744073709551615\n",
                             "4503599627370497.5\n",
                             "4503599627370496.5\n",
                             "0.1e-26\n",
                             "1.7976931348623157e308\n",
                             "4.9e-324\n",
                             "2.2250738585072011e-308\n",
                             "00000000000000000000000000001.5\n",
                             ".5\n",
                             "5.\n",
                             "-0\n",
                             "9223372036854775808e27\n",
                             "1e-27\n"};
    char* text = malloc(COUNT * 400);
    char* end = text + sprintf(text, "%%%%MatrixMarket matrix array real general\n%d 1\n", COUNT);
    double* expected = malloc(COUNT * sizeof(double));
    for (int k = 0; k < COUNT; k++)
    {
        char word[400];
        double v = random_signed((uint64_t)k) * pow(10.0, k % 61 - 30);
        uint64_t bits = random_bits(4, (uint64_t)k);
        if (k % 7 == 0)
        {
            memcpy(&v, &bits, sizeof(v));
            v = isfinite(v) ? v : 1.0;
        }
        snprintf(word, sizeof(word), formats[k % 6], v);
        if (k < (int)(sizeof(special) / sizeof(special[0])))
        {
            strcpy(word, special[k]);
        }
        expected[k] = strtod(word, NULL);
        end += sprintf(end, "%s", word);
    }
    put_text("_b.mtx", text);
    end = text + sprintf(text, "%%%%MatrixMarket matrix coordinate real symmetric\n%d %d %d\n", COUNT, COUNT, COUNT);
    for (int k = 0; k < COUNT; k++)
    {
        end += sprintf(end, "%d %d 1\n", k + 1, k + 1);
    }
    put_text(".mtx", text);
    weft_system* system = read_good();
    for (int k = 0; k < COUNT; k++)
    {
        if (memcmp(&expected[k], &(&system->b->x)[k], sizeof(double)) != 0)
        {
            fail_msg("number %d: %.17g instead of %.17g", k, (&system->b->x)[k], expected[k]);
        }
    }
    weft_system_destroy(system);
    free(text);
    free(expected);
}

// What was written is read whatever the host's language.
static void test_foreign_locale(void** state)
{
    empty_folder(state);
    const char* names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE.utf8"};
    bool found = false;
    for (int k = 0; k < 3 && !found; k++)
    {
        found = setlocale(LC_ALL, names[k]) != NULL;
    }
    weft_system* system = make_system(true, 0.0);
    assert_int_equal(weft_system_write(system, prefix, 0, NULL), WEFT_OK);
    weft_system* back = read_good();
    assert_same_system(system, back);
    setlocale(LC_ALL, "C");
    weft_system_destroy(system);
    weft_system_destroy(back);
    if (!found)
    {
        skip();
    }
}

static void test_vector(void** state)
{
    empty_folder(state);
    vec3 x[2] = {{1.0 / 3.0, -2e-300, 3}, {4, 5, 6}};
    char path[400];
    snprintf(path, sizeof(path), "%s_x.mtx", prefix);
    assert_int_equal(weft_vector_write(x, 2, path, NULL), WEFT_OK);
    size_t size;
    char* text = get_bytes("_x.mtx", &size);
    text[size] = 0;
    double got[6];
    int rows, columns;
    assert_int_equal(sscanf(text, "%%%%MatrixMarket matrix array real general %d %d %lf %lf %lf %lf %lf %lf", &rows,
                            &columns, got, got + 1, got + 2, got + 3, got + 4, got + 5),
                     8);
    assert_int_equal(rows, 6);
    assert_int_equal(columns, 1);
    assert_memory_equal(got, x, sizeof(x));
    free(text);
}

// ---- files that are wrong

#define COORDINATE "%%MatrixMarket matrix coordinate real "
#define ARRAY "%%MatrixMarket matrix array real general\n"
#define GOOD COORDINATE "symmetric\n3 3 3\n1 1 1\n2 2 1\n3 3 1\n"

typedef struct bad_file
{
    const char* ending; // of the bad one; PREFIX.mtx is good when it is another
    const char* text;
    int line;         // 0: none is known
    const char* word; // somewhere in the message
} bad_file;

static const bad_file bad_files[] = {
    {".mtx", "", 1, "Matrix Market"},
    {".mtx", "hello\n", 1, "Matrix Market"},
    {".mtx", "%%MatrixMarket matrix coordinate complex general\n", 1, "real"},
    {".mtx", "%%MatrixMarket matrix coordinate pattern general\n", 1, "real"},
    {".mtx", "%%MatrixMarket matrix array real symmetric\n", 1, "symmetric"},
    {".mtx", ARRAY "3 3\n1\n0\n0\n0\n1\n0\n0\n0\n1\n", 2, "coordinate"},
    {".mtx", COORDINATE "general\n", 1, "ends"},
    {".mtx", COORDINATE "general\n3 3\n", 2, "three counts"},
    {".mtx", COORDINATE "general\n3 3 -1\n", 2, "three counts"},
    {".mtx", COORDINATE "general\n3 3 3 3\n", 2, "three counts"},
    {".mtx", COORDINATE "general\n3 6 3\n1 1 1\n2 2 1\n3 3 1\n", 2, "square"},
    {".mtx", COORDINATE "general\n4 4 4\n1 1 1\n2 2 1\n3 3 1\n4 4 1\n", 2, "three rows"},
    {".mtx", COORDINATE "general\n0 0 0\n", 2, "square"},
    {".mtx", COORDINATE "general\n3 3 2\n1 1 1\n2 2 1\n", 2, "diagonal"},
    {".mtx", COORDINATE "general\n3 3 999999999999\n1 1 1\n", 2, "too short"},
    {".mtx", COORDINATE "general\n2147483646 2147483646 3\n1 1 1\n2 2 1\n3 3 1\n", 2, "diagonal"},
    {".mtx", COORDINATE "general\n999999999999 999999999999 3\n1 1 1\n", 2, "too large"},
    {".mtx", COORDINATE "general\n99999999999999999999999 3 3\n1 1 1\n", 2, "three counts"},
    {".mtx", COORDINATE "general\n3 3 4\n1 1 1\n2 2 1\n3 3 1\n%a long comment that makes room\n", 6, "cut"},
    {".mtx", COORDINATE "general\n3 3 3\n1 1 1\n2 2 1\n3 3 1\n1 2 0\n", 6, "more"},
    {".mtx", COORDINATE "general\n3 3 3\n1 1 1\n2 2 1\n4 3 1\n", 5, "outside"},
    {".mtx", COORDINATE "general\n3 3 3\n1 1 1\n2 0 1\n3 3 1\n", 4, "outside"},
    {".mtx", COORDINATE "general\n3 3 3\n1 1 1\n2 2 nan\n3 3 1\n", 4, "finite"},
    {".mtx", COORDINATE "general\n3 3 3\n1 1 1\n2 2 1e999\n3 3 1\n", 4, "finite"},
    {".mtx", COORDINATE "general\n3 3 3\n1 1 1\n2 2 1x\n3 3 1\n", 4, "row column value"},
    {".mtx", COORDINATE "general\n3 3 3\n1 1 1\n2 2\n3 3 1\n         \n", 4, "row column value"},
    {".mtx", COORDINATE "general\n3 3 3\n1 1 1\n2.0 2 1\n3 3 1\n", 4, "row column value"},
    {".mtx", COORDINATE "symmetric\n3 3 4\n1 1 1\n2 2 1\n3 3 1\n1 2 1\n", 6, "above"},
    {".mtx", COORDINATE "general\n3 3 5\n1 1 1\n2 2 1\n3 3 1\n2 1 0.5\n1 2 0.25\n", 7, "not symmetric"},
    {".mtx", COORDINATE "general\n3 3 4\n1 1 1\n2 2 1\n3 3 1\n2 1 0.5\n", 0, "not symmetric"},
    {".mtx", COORDINATE "general\n3 3 4\n1 1 1\n2 2 1\n3 3 1\n2 2 1\n", 6, "twice"},
    {".mtx", COORDINATE "symmetric\n3 3 3\n1 1 1\n2 2 0\n3 3 1\n", 4, "diagonal"},
    {".mtx", COORDINATE "symmetric\n3 3 3\n1 1 1\n2 2 1\n3 3 -1\n", 5, "diagonal"},
    {".mtx", COORDINATE "symmetric\n3 3 3\n1 1 1\n2 2 1\n3 2 1\n", 0, "diagonal"},
    {"_b.mtx", ARRAY "4 1\n1\n2\n3\n4\n", 2, "3n"},
    {"_b.mtx", ARRAY "3 2\n1\n2\n3\n4\n5\n6\n", 2, "one column"},
    {"_b.mtx", ARRAY "3 1\n1\n2\n%    and here it ends\n", 5, "cut"},
    {"_b.mtx", ARRAY "3 1\n1\n2\n3\n4\n", 6, "more"},
    {"_b.mtx", ARRAY "3 1\n1 2 3 4\n", 3, "more"},
    {"_b.mtx", ARRAY "3 1\n1\ntwo\n3\n", 4, "number"},
    {"_b.mtx", ARRAY "3 1\n1\ninf\n3\n", 4, "finite"},
    {"_b.mtx", ARRAY "2147483647 2147483647\n1\n", 2, "too short"},
    {"_b.mtx", COORDINATE "general\n3 1 1\n1 1 1\n", 2, "array"},
    {"_z.mtx", ARRAY "3 1\n1\n2\nNaN\n", 5, "finite"},
    {"_filter.mtx", ARRAY "3 3\n1\n0\n0\n0\n1\n0\n0\n0\n2\n", 0, "projection"},
    {"_filter.mtx", ARRAY "3 1\n1\n0\n0\n", 2, "three columns"},
    {"_kernel.mtx", ARRAY "3 1\n1\n0\n", 4, "cut"},
    {"_kernel.mtx", ARRAY "3 0\n", 2, "columns"},
    {"_xyz.mtx", ARRAY "1 2\n1\n0\n", 2, "three columns"},
    {"_ties.mtx", ARRAY "1 3\n1\n0\n0\n", 1, "coordinate"},
    {"_ties.mtx", COORDINATE "symmetric\n3 3 1\n1 1 1\n", 1, "general"},
    {"_ties.mtx", COORDINATE "general\n1 6 1\n1 1 1\n", 2, "unknowns"},
    {"_ties.mtx", COORDINATE "general\n2147483647 3 1\n1 1 1\n", 2, "without entries"},
    {"_ties.mtx", COORDINATE "general\n1 3 2\n1 1 1\n1 4 1\n", 4, "outside"},
    {"_ties.mtx", COORDINATE "general\n2 3 3\n1 2 1\n2 1 1\n1 2 5\n", 5, "twice"},
    {"_ties.mtx", COORDINATE "general\n1 3 1\n1 1 nan\n", 3, "finite"},
    {"_ties.mtx", COORDINATE "general\n1 3 2\n1 1 1\n", 3, "cut"},
};

static void test_bad_files(void** state)
{
    for (size_t k = 0; k < sizeof(bad_files) / sizeof(bad_files[0]); k++)
    {
        const bad_file* bad = &bad_files[k];
        empty_folder(state);
        put_text(".mtx", GOOD);
        put_text(bad->ending, bad->text);
        weft_system* system;
        weft_error error = {0};
        weft_status status = weft_system_read(prefix, &system, &error);
        if (status != WEFT_BAD_INPUT || error.line != bad->line || !strstr(error.message, bad->word) ||
            !strstr(error.file, bad->ending))
        {
            fail_msg("file %zu (%s): status %d, %s:%d: %s", k, bad->text, status, error.file, error.line,
                     error.message);
        }
        assert_null(system);
        assert_int_equal(weft_system_read(prefix, &system, NULL), WEFT_BAD_INPUT);
    }
}

// Rows in any order of entries, and what they mean: x1 = 2 x0 + 5 with z = (0, 5, 0).
static void test_ties_are_read_and_kept(void** state)
{
    empty_folder(state);
    put_text(".mtx", GOOD);
    put_text("_z.mtx", ARRAY "3 1\n0\n5\n0\n");
    put_text("_ties.mtx", COORDINATE "general\n2 3 3\n2 2 1\n1 3 4\n2 1 -2\n");
    weft_system* system = read_good();
    assert_int_equal(weft_system_tie_count(system), 2);
    weft_solver_def def = weft_solver_def_default();
    weft_solver* solver = NULL;
    vec3 x;
    def.tolerance = 1e-12;
    assert_int_equal(weft_solver_create(&def, &solver, NULL), WEFT_OK);
    assert_int_equal(weft_solver_solve(solver, system, &x, NULL), WEFT_OK);
    assert_true(fabs(x.y - 2 * x.x - 5) < 1e-12 && fabs(x.z) < 1e-15);
    weft_solver_destroy(solver);
    weft_system_destroy(system);
}

static void test_missing_files(void** state)
{
    empty_folder(state);
    weft_system* system;
    weft_error error;
    assert_int_equal(weft_system_read(prefix, &system, &error), WEFT_NOT_FOUND);
    assert_non_null(strstr(error.message, ".mtx"));
    char path[400];
    snprintf(path, sizeof(path), "%s/none/x", folder);
    assert_int_equal(weft_system_read(path, &system, &error), WEFT_NOT_FOUND);
    weft_system* good = make_system(false, 0.0);
    assert_int_equal(weft_system_write(good, path, 0, &error), WEFT_IO);
    assert_int_equal(weft_system_write(good, path, 1, &error), WEFT_IO);
    weft_system_destroy(good);
    char* endless = malloc(10000);
    memset(endless, 'a', 9999);
    endless[9999] = 0;
    assert_int_equal(weft_system_read(endless, &system, &error), WEFT_BAD_INPUT);
    free(endless);
}

// A line without end, and bytes that are no text.
static void test_no_text(void** state)
{
    empty_folder(state);
    size_t size = 3 << 20;
    char* bytes = malloc(size);
    const char* start = COORDINATE "general\n3 3 3\n";
    for (int kind = 0; kind < 3; kind++)
    {
        for (size_t k = 0; k < size; k++)
        {
            bytes[k] = kind == 0 ? '1' : kind == 1 ? '\0' : (char)random_bits(8, k);
        }
        memcpy(bytes, start, kind < 2 ? strlen(start) : 0);
        put_bytes(".mtx", bytes, size);
        weft_system* system;
        assert_int_equal(weft_system_read(prefix, &system, NULL), WEFT_BAD_INPUT);
        put_bytes(".weftsys", bytes, size);
        assert_int_equal(weft_system_read(prefix, &system, NULL), WEFT_BAD_INPUT);
        empty_folder(state);
    }
    free(bytes);
}

// Each file of the set cut after every byte: refused, or (where only digits or blanks are lost) read.
static void test_cut_text_files(void** state)
{
    empty_folder(state);
    weft_system* full = make_system(true, 0.0);
    const char* endings[] = {".mtx", "_b.mtx", "_z.mtx", "_filter.mtx", "_kernel.mtx", "_xyz.mtx", "_ties.mtx"};
    for (int f = 0; f < 7; f++)
    {
        assert_int_equal(weft_system_write(full, prefix, 0, NULL), WEFT_OK);
        size_t size;
        char* bytes = get_bytes(endings[f], &size);
        size_t last_line = size - 1;
        while (bytes[last_line - 1] != '\n')
        {
            last_line--;
        }
        for (size_t cut = 0; cut < size; cut++)
        {
            put_bytes(endings[f], bytes, cut);
            weft_system* system;
            weft_error error = {0};
            weft_status status = weft_system_read(prefix, &system, &error);
            if (cut <= last_line)
            {
                assert_int_equal(status, WEFT_BAD_INPUT);
                assert_true(error.message[0] != 0);
            }
            assert_true(status == WEFT_OK || status == WEFT_BAD_INPUT);
            weft_system_destroy(system);
        }
        free(bytes);
    }
    weft_system_destroy(full);
}

static void test_cut_binary_file(void** state)
{
    empty_folder(state);
    weft_system* full = make_system(true, 0.0);
    assert_int_equal(weft_system_write(full, prefix, 1, NULL), WEFT_OK);
    size_t size;
    char* bytes = get_bytes(".weftsys", &size);
    for (size_t cut = 0; cut < size; cut++)
    {
        put_bytes(".weftsys", bytes, cut);
        weft_system* system;
        weft_error error = {0};
        assert_int_equal(weft_system_read(prefix, &system, &error), WEFT_BAD_INPUT);
        assert_true(error.message[0] != 0);
    }

    // A bit of every byte turned over: refused, or read as other numbers; never a crash.
    for (size_t k = 0; k < size; k++)
    {
        char good = bytes[k];
        bytes[k] = (char)(good ^ (1 << k % 8));
        put_bytes(".weftsys", bytes, size);
        weft_system* system;
        weft_status status = weft_system_read(prefix, &system, NULL);
        assert_true(status == WEFT_OK || status == WEFT_BAD_INPUT);
        weft_system_destroy(system);
        bytes[k] = good;
    }
    free(bytes);
    weft_system_destroy(full);
}

// When the disk gives no more room, the old file stays and no half of a new one is left.
static void test_no_room(void** state)
{
    empty_folder(state);
    weft_system *full = make_system(true, 0.0), *other = make_system(true, 1e-12);
    assert_int_equal(weft_system_write(full, prefix, 1, NULL), WEFT_OK);
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit before, small;
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 1000;
    setrlimit(RLIMIT_FSIZE, &small);
    weft_error error;
    weft_status binary = weft_system_write(other, prefix, 1, &error);
    weft_status text = weft_system_write(other, prefix, 0, &error);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, SIG_DFL);
    assert_true(binary == WEFT_DISK_FULL || binary == WEFT_IO);
    assert_true(text == WEFT_DISK_FULL || text == WEFT_IO);
    weft_system* back = read_good();
    assert_same_system(full, back);
    weft_system_destroy(full);
    weft_system_destroy(other);
    weft_system_destroy(back);
    DIR* d = opendir(folder);
    for (struct dirent* e; (e = readdir(d));)
    {
        assert_null(strstr(e->d_name, ".tmp"));
    }
    closedir(d);
}

// ---- systems from arrays

static void test_bad_arrays(void** state)
{
    (void)state;
    const double block[9] = {2, 0, 0, 0, 2, 0, 0, 0, 2};
    const double bad_filter[9] = {3, 0, 0, 0, 1, 0, 0, 0, 1};
    double values[18];
    memcpy(values, block, sizeof(block));
    memcpy(values + 9, block, sizeof(block));
    const vec3 bad_b = {0, NAN, 0};
    int too_far[3] = {0, 1 << 30, 2};
    int one[2] = {0, 1}, shifted[2] = {1, 1}, two[2] = {0, 2}, none[2] = {0, 0}, backwards[3] = {0, 2, 1};
    int column[2] = {0, 0}, outside[2] = {1, 0}, negative[2] = {-1, 0};
    const weft_system_def defs[] = {
        {.vertex_count = 0, .row_start = one, .column = column, .values = values},
        {.vertex_count = -3, .row_start = one, .column = column, .values = values},
        {.vertex_count = 1, .row_start = shifted, .column = column, .values = values},
        {.vertex_count = 1, .row_start = two, .column = column, .values = values},
        {.vertex_count = 1, .row_start = none, .column = column, .values = values},
        {.vertex_count = 2, .row_start = backwards, .column = column, .values = values},
        {.vertex_count = 1, .row_start = one, .column = outside, .values = values},
        {.vertex_count = 2, .row_start = too_far, .column = column, .values = values},
        {.vertex_count = 1, .row_start = one, .column = negative, .values = values},
        {.vertex_count = 1, .row_start = one, .column = column, .values = values, .filter = bad_filter},
        {.vertex_count = 1, .row_start = one, .column = column, .values = values, .b = &bad_b},
        {.vertex_count = 1, .row_start = one, .column = column, .values = values, .z = &bad_b},
        {.vertex_count = 1, .row_start = one, .column = column, .values = values, .positions = &bad_b},
    };
    for (size_t k = 0; k < sizeof(defs) / sizeof(defs[0]); k++)
    {
        weft_system* system;
        weft_error error = {0};
        assert_int_equal(weft_system_create(&defs[k], &system, &error), WEFT_BAD_INPUT);
        assert_true(error.message[0] != 0);
        assert_null(system);
    }
    for (int k = 0; k < 9; k++)
    {
        weft_system* system;
        double spoiled[9];
        memcpy(spoiled, block, sizeof(block));
        spoiled[k] = k % 4 == 0 ? 0.0 : 0.5;
        weft_system_def def = {.vertex_count = 1, .row_start = one, .column = column, .values = spoiled};
        assert_int_equal(weft_system_create(&def, &system, NULL), WEFT_BAD_INPUT);
        spoiled[k] = NAN;
        assert_int_equal(weft_system_create(&def, &system, NULL), WEFT_BAD_INPUT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trips),
        cmocka_unit_test(test_rewriting_removes_what_is_gone),
        cmocka_unit_test(test_defaults_and_other_spellings),
        cmocka_unit_test(test_numbers_are_exactly_rounded),
        cmocka_unit_test(test_foreign_locale),
        cmocka_unit_test(test_vector),
        cmocka_unit_test(test_bad_files),
        cmocka_unit_test(test_ties_are_read_and_kept),
        cmocka_unit_test(test_missing_files),
        cmocka_unit_test(test_no_text),
        cmocka_unit_test(test_cut_text_files),
        cmocka_unit_test(test_cut_binary_file),
        cmocka_unit_test(test_no_room),
        cmocka_unit_test(test_bad_arrays),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
